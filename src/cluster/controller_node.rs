//! The controller as a node of the world: it hears brokers, runs its checks, and sends out what was decided.
//!
//! The logic is [`Controller`]'s; here stand the wires and the clock. Heartbeats that change nothing are computed: a
//! broker that is awake and connected is heard all the time, and when it falls silent its last heartbeat is worked out
//! from its interval. News are sent as soon as there are some, to a broker that would ask for them: one whose answer was
//! lost asks again when that has timed out. A registration that must wait for an old session is kept and tried again when
//! that has ended, in place of the broker's repeated attempts. Deliberately absent: the quorum inside (it is one node that
//! can be down).

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::controller::{
    AlterPartition as Wanted, Change, ConfigScope, Controller, DirectoryId, ElectionType as Kind, ElrFeature,
    HeartbeatRequest, LastContact, LeaderRecoveryState, Outcome, PartitionChange, RegistrationRequest,
    ReplicationFactorChange, Settings as ControllerSettings, StaleCheck, Wish,
};
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, Node, TopicId, TopicPartition};
use crate::cluster::image::{BrokerImage, Image, PartitionImage};
use crate::cluster::input::{ConfigTarget, ElectionType};
use crate::cluster::message::{
    AlterPartition, AlterPartitionResult, Correlation, Heartbeat, HeartbeatAnswer, HeartbeatWant, Message, Registration,
};
use crate::cluster::rules::{Rule, Rules};
use crate::cluster::settings::{Micros, Settings, from_millis};
use crate::config::ConfigMap;
use crate::log::{Encoder, Errors, Fingerprint};
use crate::sorted::{SortedMap, SortedSet};

/// Configs of a topic that the controller acts on.
const GUARDED: [&str; 2] = ["min.insync.replicas", "unclean.leader.election.enable"];

/// How long after a path is whole again a broker connects (`reconnect.backoff.ms`).
const RECONNECT: Micros = 50_000;

/// How long a broker waits for news before it asks again (`controller.quorum.request.timeout.ms`).
const NEWS_TIMEOUT: Micros = 2_000_000;

/// How a broker is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// It is gone, frozen or cut off: it asks for no news either.
    Gone,
    /// Its heartbeats are missing, or rare; it follows the news.
    Beatless,
}

/// The controller with its wires.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerNode {
    controller: Controller,
    up: bool,
    image: Arc<Image>,
    /// When each broker was last heard for real; its computed heartbeats follow from there.
    heard: SortedMap<BrokerId, Micros>,
    /// Brokers that are not heard all the time.
    silent: SortedMap<BrokerId, Silence>,
    /// Brokers to which news could not be sent.
    behind: SortedSet<BrokerId>,
    /// Those of them that wait for news that were lost on the way.
    timing_out: SortedSet<BrokerId>,
    /// Registrations that wait for the end of an older session.
    waiting: SortedMap<BrokerId, (Correlation, Registration)>,
}

fn millis(now: Micros) -> i64 {
    (now / 1_000) as i64
}

impl ControllerNode {
    /// A controller that has registered and unfenced these brokers before time 0.
    pub fn new(
        settings: &Settings,
        elr: ElrFeature,
        rules: Rules,
        brokers: impl Iterator<Item = BrokerId>,
    ) -> ControllerNode {
        let set = settings.controller.settings().iter();
        let guarded = set.filter(|(name, _)| GUARDED.contains(name));
        let own = ControllerSettings {
            elr,
            rules,
            session_timeout_ms: settings.controller.broker_session_timeout_ms,
            file: guarded
                .map(|(name, value)| (name.to_owned(), value.to_string()))
                .collect(),
            ..ControllerSettings::default()
        };
        let mut controller = Controller::new(own);
        let mut heard = SortedMap::new();
        for broker in brokers {
            let request = RegistrationRequest {
                broker,
                incarnation: 0,
                previous_epoch: -1,
                directory: DirectoryId(0),
            };
            if let Ok(epoch) = controller.register(0, request).answer {
                let metadata_offset = controller.next_offset() - 1;
                let request = HeartbeatRequest {
                    broker,
                    epoch,
                    metadata_offset,
                    wish: Wish::Run,
                };
                // The cluster begins with all its brokers up, and none of them waits for this answer.
                let _booted = controller.heartbeat(LastContact::Continuous, request);
            }
            heard.insert(broker, 0);
        }
        let image = Arc::new(picture(&controller));
        let (silent, behind, timing_out, waiting) = Default::default();
        ControllerNode {
            controller,
            up: true,
            image,
            heard,
            silent,
            behind,
            timing_out,
            waiting,
        }
    }

    /// Whether the quorum is there.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// The decided state.
    pub fn state(&self) -> &Controller {
        &self.controller
    }

    /// What has been decided, as everybody will hear it.
    pub fn image(&self) -> Arc<Image> {
        Arc::clone(&self.image)
    }

    /// Handles what a broker sent.
    pub fn on_message(&mut self, from: BrokerId, message: Message, cx: &mut Cx<'_>) {
        match message {
            Message::Register(id, registration) => self.register(from, id, registration, cx),
            Message::Heartbeat(id, heartbeat) => self.heartbeat(from, id, &heartbeat, cx),
            Message::AlterPartition(id, epoch, wanted) => self.alter(from, id, epoch, &wanted, cx),
            _ => {}
        }
    }

    /// Handles a timer.
    pub fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_>) {
        match (timer.kind, timer.peer) {
            (TimerKind::Session, _) => self.check_sessions(cx),
            (TimerKind::Request, Some(Node::Broker(broker))) => {
                self.timing_out.remove(&broker);
                self.bring_up_to_date(broker, cx);
            }
            (TimerKind::Controller, Some(_)) => {
                let outcome = self.controller.elect_unclean();
                self.publish(outcome, cx);
            }
            (TimerKind::Controller, None) => {
                let outcome = self.controller.balance();
                self.publish(outcome, cx);
            }
            _ => {}
        }
        self.arm_checks(cx);
    }

    fn register(&mut self, broker: BrokerId, id: Correlation, registration: Registration, cx: &mut Cx<'_>) {
        let request = RegistrationRequest {
            broker,
            incarnation: registration.incarnation,
            previous_epoch: registration.previous_epoch,
            directory: DirectoryId(registration.directory),
        };
        let outcome = self.controller.register(millis(cx.now), request);
        // Another process does not wait for what this one has asked for.
        self.wait_no_more(broker, cx);
        if outcome.answer == Err(Errors::DuplicateBrokerRegistration) {
            cx.say(Rule::DuplicateRegistration, || What::RegistrationWaits { broker });
            self.waiting.insert(broker, (id, registration));
            cx.send(Node::Broker(broker), Message::Metadata(self.image()));
            return;
        }
        cx.send(Node::Broker(broker), Message::RegisterResponse(id, outcome.answer));
        if outcome.answer.is_ok() {
            self.controller.contact(broker);
            self.hear(broker, cx);
        }
        // The broker has its answer.
        let _answer = self.publish(outcome, cx);
    }

    fn heartbeat(&mut self, broker: BrokerId, id: Correlation, heartbeat: &Heartbeat, cx: &mut Cx<'_>) {
        let wish = match heartbeat.want {
            HeartbeatWant::Unfence => Wish::Run,
            HeartbeatWant::ShutDown => Wish::ShutDown,
            HeartbeatWant::AssignDirectory(directory) => {
                self.assign_directory(broker, heartbeat.epoch, DirectoryId(directory), cx);
                // The report goes beside the heartbeats: it leaves the broker as it is.
                match self.controller.broker(broker) {
                    Some(known) if !known.fenced => Wish::Run,
                    _ => Wish::Fence,
                }
            }
        };
        let request = HeartbeatRequest {
            broker,
            epoch: heartbeat.epoch,
            metadata_offset: heartbeat.metadata_offset,
            wish,
        };
        let outcome = self.controller.heartbeat(LastContact::Continuous, request);
        if outcome.answer.is_ok() {
            self.hear(broker, cx);
        }
        let answer = self.publish(outcome, cx);
        if answer.is_ok() {
            self.bring_up_to_date(broker, cx);
        }
        let answer = answer.map(|reply| HeartbeatAnswer {
            fenced: reply.fenced,
            should_shut_down: reply.should_shut_down,
        });
        cx.send(Node::Broker(broker), Message::HeartbeatResponse(id, answer));
        self.arm_checks(cx);
    }

    /// A broker has just been heard.
    fn hear(&mut self, broker: BrokerId, cx: &Cx<'_>) {
        self.heard.insert(broker, cx.now);
        self.silent.remove(&broker);
        if cx.settings.beats_rarely(broker).is_some() {
            self.silent.insert(broker, Silence::Beatless);
            self.controller.silence(broker, millis(cx.now));
        }
    }

    /// A broker reports its data directory for each partition it holds a replica of.
    fn assign_directory(&mut self, broker: BrokerId, epoch: i64, directory: DirectoryId, cx: &mut Cx<'_>) {
        let held = self
            .controller
            .partitions()
            .filter(|(_, partition)| partition.replicas.contains(&broker));
        let held: Vec<TopicPartition> = held.map(|(at, _)| at).collect();
        for at in held {
            let outcome = self.controller.assign_directory(broker, epoch, at, directory);
            let _known = self.publish(outcome, cx);
        }
    }

    fn alter(&mut self, from: BrokerId, id: Correlation, epoch: i64, wanted: &[AlterPartition], cx: &mut Cx<'_>) {
        let requests: Vec<Wanted> = wanted
            .iter()
            .map(|part| Wanted {
                at: part.partition,
                leader_epoch: part.leader_epoch,
                partition_epoch: part.partition_epoch,
                recovery: LeaderRecoveryState::Recovered,
                isr: part.isr.clone(),
            })
            .collect();
        let outcome = self.controller.alter_partition(from, epoch, &requests);
        let answer = self.publish(outcome, cx).map(|parts| {
            let told = |answer: Result<Arc<_>, Errors>| match answer {
                Ok(partition) => accepted(&partition),
                Err(error) => AlterPartitionResult::Err(error),
            };
            parts.into_iter().map(|(at, answer)| (at, told(answer))).collect()
        });
        cx.send(Node::Broker(from), Message::AlterPartitionResponse(id, answer));
        self.arm_checks(cx);
    }

    /// One run of the stale-session check; whoever waited for the session's end registers.
    fn check_sessions(&mut self, cx: &mut Cx<'_>) {
        let outcome = self.controller.check_stale(millis(cx.now));
        let found = self.publish(outcome, cx);
        if let StaleCheck::Fenced(broker) | StaleCheck::Forgotten(broker) = found
            && let Some((id, registration)) = self.waiting.remove(&broker)
        {
            self.register(broker, id, registration, cx);
        }
    }

    /// Arms the checks that would find something: sessions that end, leaders to move back, partitions to elect for.
    fn arm_checks(&mut self, cx: &mut Cx<'_>) {
        let session = Timer::of(TimerKind::Session);
        let check = self.controller.next_session_check();
        match check.filter(|_| cx.holds(Rule::Session)) {
            Some(ms) => cx.arm(session, from_millis(ms)),
            None => cx.disarm(session),
        }
        let config = &cx.settings.controller;
        let next = |every: Micros| (cx.now / every.max(1) + 1) * every.max(1);
        let balance_due = next(from_millis(
            config.leader_imbalance_check_interval_seconds.saturating_mul(1_000),
        ));
        let unclean_due = next(from_millis(config.unclean_leader_election_interval_ms));
        let (balance, unclean) = (
            Timer::of(TimerKind::Controller),
            Timer::with(TimerKind::Controller, Node::Controller),
        );
        if config.auto_leader_rebalance_enable && self.would_balance() {
            cx.arm_tick(balance, balance_due);
        } else {
            cx.disarm(balance);
        }
        if self.would_elect_unclean() {
            cx.arm_tick(unclean, unclean_due);
        } else {
            cx.disarm(unclean);
        }
    }

    /// Whether the periodic balancing would change something now.
    fn would_balance(&self) -> bool {
        self.controller.is_imbalanced() && !self.controller.clone().balance().changes.is_empty()
    }

    /// Whether the periodic unclean election would change something now.
    fn would_elect_unclean(&self) -> bool {
        let mut partitions = self.controller.partitions();
        partitions.any(|(_, partition)| partition.leader.is_none())
            && !self.controller.clone().elect_unclean().changes.is_empty()
    }

    /// Says what was changed and sends the new image to every broker that can be reached.
    fn publish<T>(&mut self, outcome: Outcome<T>, cx: &mut Cx<'_>) -> T {
        if outcome.changes.is_empty() {
            return outcome.answer;
        }
        for change in &outcome.changes {
            tell(change, cx);
        }
        self.image = Arc::new(picture(&self.controller));
        self.spread(cx);
        self.arm_checks(cx);
        outcome.answer
    }

    fn spread(&mut self, cx: &mut Cx<'_>) {
        let known: Vec<BrokerId> = self.image.brokers.keys().copied().collect();
        for broker in known {
            self.behind.insert(broker);
            self.bring_up_to_date(broker, cx);
        }
    }

    /// Sends a broker the news that it lacks, if it asks for them. One that is frozen or cut off does not, one that waits to
    /// be registered does.
    fn bring_up_to_date(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        let gone = self.silent.get(&broker) == Some(&Silence::Gone) && !self.waiting.contains_key(&broker);
        let asks = !gone && !self.timing_out.contains(&broker) && cx.reach.can(Node::Broker(broker));
        if asks && self.behind.remove(&broker) {
            cx.send(Node::Broker(broker), Message::Metadata(self.image()));
        }
    }

    /// News to a broker were lost on the way. If the path is whole the broker asks again when its request has timed out, and
    /// hears nothing more until then.
    pub fn lose_news(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        self.behind.insert(broker);
        if cx.reach.can(Node::Broker(broker)) {
            self.timing_out.insert(broker);
            cx.arm(asks_again(broker), cx.now + NEWS_TIMEOUT);
        }
    }

    fn wait_no_more(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        if self.timing_out.remove(&broker) {
            cx.disarm(asks_again(broker));
        }
    }

    /// A broker can be reached again: it gets the news it has missed.
    pub fn on_reachable(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        self.wait_no_more(broker, cx);
        if self.behind.remove(&broker) {
            cx.send_after(Node::Broker(broker), Message::Metadata(self.image()), RECONNECT);
        }
    }

    /// When the latest heartbeat of a broker came that is heard all the time.
    fn latest_beat(&self, broker: BrokerId, settings: &Settings, now: Micros) -> Micros {
        let since = self.heard.get(&broker).copied().unwrap_or(0);
        let every = from_millis(settings.broker(broker).broker_heartbeat_interval_ms).max(1);
        since + now.saturating_sub(since) / every * every
    }

    /// When the next heartbeat leaves of a broker that is heard all the time; nothing for another.
    pub fn next_beat(&self, broker: BrokerId, settings: &Settings, now: Micros) -> Option<Micros> {
        if self.silent.contains_key(&broker) {
            return None;
        }
        self.controller.broker(broker)?;
        let travels = settings.latency(Node::Broker(broker), Node::Controller);
        let every = from_millis(settings.broker(broker).broker_heartbeat_interval_ms).max(1);
        Some(self.latest_beat(broker, settings, now + travels) + every - travels)
    }

    /// A heartbeat that a broker has just sent was lost: those count that it had sent before.
    pub fn miss_beat(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        let travels = cx.settings.latency(Node::Broker(broker), Node::Controller);
        let before = (cx.now + travels).saturating_sub(1);
        self.fall_silent(broker, Silence::Beatless, before, cx);
    }

    /// A broker's heartbeats are so rare that each is waited for.
    pub fn expect_beat(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        self.fall_silent(broker, Silence::Beatless, cx.now, cx);
    }

    /// The interval of heartbeats changes: those that were sent count as they were.
    pub fn note_beats(&mut self, cx: &Cx<'_>) {
        let brokers: Vec<BrokerId> = self.heard.keys().copied().collect();
        for broker in brokers {
            let last = self.latest_beat(broker, cx.settings, cx.now);
            self.heard.insert(broker, last);
        }
    }

    /// When a broker was heard last; nothing if it has no session.
    pub fn last_heard(&self, broker: BrokerId, settings: &Settings, now: Micros) -> Option<Micros> {
        Some(match self.controller.last_contact(broker)? {
            LastContact::Continuous => self.latest_beat(broker, settings, now),
            LastContact::At(ms) => from_millis(ms),
        })
    }

    /// A broker is not heard any more. Its last heartbeat came at a whole number of intervals after the one heard last.
    pub fn silence(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        // A broker that waits to be registered asks again by itself, and here is none to be asked.
        self.waiting.remove(&broker);
        self.fall_silent(broker, Silence::Gone, cx.now, cx);
    }

    /// A broker is silent from now on; of its heartbeats those count that have come until then. One that was silent already was
    /// heard last when it was.
    fn fall_silent(&mut self, broker: BrokerId, how: Silence, until: Micros, cx: &mut Cx<'_>) {
        let was = self.silent.get(&broker).copied();
        if was != Some(Silence::Gone) {
            self.silent.insert(broker, how);
        }
        if was.is_none() {
            let last = self.latest_beat(broker, cx.settings, until);
            self.controller.silence(broker, millis(last));
            self.arm_checks(cx);
        }
    }

    /// A broker's session is found to be over, whatever it says from now on.
    pub fn end_session(&mut self, broker: BrokerId, cx: &mut Cx<'_>) {
        self.silent.entry(broker).or_insert(Silence::Beatless);
        let session = self.controller.session_timeout_ms();
        self.controller.silence(broker, millis(cx.now) - session - 1);
        self.check_sessions(cx);
        self.arm_checks(cx);
    }

    /// These brokers are awake and connected; this is how far each has read the metadata log.
    pub fn read_so_far(&mut self, applied: &[(BrokerId, i64)]) {
        for &(broker, metadata_offset) in applied {
            let Some(known) = self.controller.broker(broker) else {
                continue;
            };
            if !known.is_active() || self.silent.contains_key(&broker) || known.metadata_offset == metadata_offset {
                continue;
            }
            let epoch = known.epoch;
            let request = HeartbeatRequest {
                broker,
                epoch,
                metadata_offset,
                wish: Wish::Run,
            };
            let _nothing_changes = self.controller.heartbeat(LastContact::Continuous, request);
        }
    }

    /// The quorum goes.
    pub fn kill(&mut self, _: &mut Cx<'_>) {
        self.up = false;
        self.waiting.clear();
        self.timing_out.clear();
    }

    /// The quorum is back: every unfenced broker gets a new session, and is taken for silent until it is heard. A fenced
    /// one has none, so that a new process of it may register at once (`ClusterControlManager.activate`).
    pub fn start(&mut self, cx: &mut Cx<'_>) {
        self.up = true;
        let unfenced = self.image.brokers.iter().filter(|(_, broker)| !broker.fenced);
        let unfenced: Vec<BrokerId> = unfenced.map(|(id, _)| *id).collect();
        for broker in unfenced {
            self.heard.insert(broker, cx.now);
            self.silent.insert(broker, Silence::Gone);
            self.controller.silence(broker, millis(cx.now));
        }
        self.arm_checks(cx);
    }

    /// Creates a topic whose settings the world has noted.
    ///
    /// # Errors
    /// What a real controller answers, for example when no broker of an assignment is active.
    pub fn create_topic(
        &mut self,
        name: &str,
        assignment: &[Vec<BrokerId>],
        config: &ConfigMap,
        cx: &mut Cx<'_>,
    ) -> Result<TopicId, Errors> {
        let created = self.controller.create_topic(name, assignment);
        let topic = self.note(created, cx)?;
        for (name, value) in config.iter().filter(|(name, _)| GUARDED.contains(name)) {
            let set = self
                .controller
                .alter_config(ConfigScope::Topic(topic), name, Some(&value.to_string()));
            self.note(set, cx)?;
        }
        Ok(topic)
    }

    /// As `publish`, for what everybody is told in another way.
    fn note<T>(&mut self, outcome: Outcome<T>, cx: &mut Cx<'_>) -> T {
        if !outcome.changes.is_empty() {
            self.image = Arc::new(picture(&self.controller));
            self.arm_checks(cx);
        }
        outcome.answer
    }

    /// The error with which a change of configs would be answered, all of it: nothing is changed then.
    pub fn would_refuse(&self, target: ConfigTarget, configs: &[(String, String)]) -> Option<Errors> {
        let scope = scope_of(target)?;
        guarded(configs).find_map(|(name, value)| self.controller.check_config(scope, name, Some(value)).err())
    }

    /// Configs were set; the controller minds those that decide elections, and how long its sessions are.
    pub fn configure(&mut self, target: ConfigTarget, configs: &[(String, String)], cx: &mut Cx<'_>) {
        self.controller
            .set_session_timeout(cx.settings.controller.broker_session_timeout_ms);
        let Some(scope) = scope_of(target) else { return };
        for (name, value) in guarded(configs) {
            let outcome = self.controller.alter_config(scope, name, Some(value));
            let _accepted = self.publish(outcome, cx);
        }
        self.arm_checks(cx);
    }

    /// Elects a leader by hand.
    pub fn elect(&mut self, at: TopicPartition, how: ElectionType, cx: &mut Cx<'_>) -> Option<Errors> {
        let kind = match how {
            ElectionType::Preferred => Kind::Preferred,
            ElectionType::Unclean => Kind::Unclean,
        };
        let outcome = self.controller.elect_leaders(kind, Some(&[at]));
        self.publish(outcome, cx)
            .into_iter()
            .find_map(|(_, answer)| answer.err())
    }

    /// Adds partitions to a topic until it has `count`, one for each list of replicas.
    pub fn create_partitions(
        &mut self,
        topic: TopicId,
        count: u32,
        assignments: &[Vec<BrokerId>],
        cx: &mut Cx<'_>,
    ) -> Option<Errors> {
        let outcome = self.controller.create_partitions(topic, count, assignments);
        self.publish(outcome, cx).err()
    }

    /// Deletes a topic.
    pub fn delete_topic(&mut self, topic: TopicId, cx: &mut Cx<'_>) -> Option<Errors> {
        let outcome = self.controller.delete_topic(topic);
        self.publish(outcome, cx).err()
    }

    /// Moves a partition to other replicas.
    pub fn reassign(&mut self, at: TopicPartition, replicas: &[BrokerId], cx: &mut Cx<'_>) -> Option<Errors> {
        let outcome = self
            .controller
            .reassign(at, Some(replicas), ReplicationFactorChange::Allowed);
        self.publish(outcome, cx).err()
    }

    /// Adds what depends on the clock to a canonical encoding: sessions that run out.
    pub(crate) fn encode_times(&self, now: Micros, out: &mut Encoder) {
        if !self.silent.is_empty() {
            self.controller.encode(millis(now), out);
        }
    }
}

impl Fingerprint for ControllerNode {
    fn fingerprint(&self, out: &mut Encoder) {
        out.u8(u8::from(self.up));
        if self.silent.is_empty() {
            self.controller.encode(0, out);
        }
        let marked = |id: &BrokerId, is_marked: bool| id.0 | u16::from(is_marked) << 15;
        out.len(self.silent.len());
        for (id, how) in &self.silent {
            out.u16(marked(id, *how == Silence::Beatless));
        }
        out.len(self.behind.len());
        for id in &self.behind {
            out.u16(marked(id, self.timing_out.contains(id)));
        }
        out.len(self.waiting.len());
        self.waiting.keys().for_each(|id| out.u16(id.0));
    }
}

/// Whose configs the controller takes them for; a client's it does not know.
fn scope_of(target: ConfigTarget) -> Option<ConfigScope> {
    match target {
        ConfigTarget::Brokers => Some(ConfigScope::Cluster),
        ConfigTarget::Broker(id) => Some(ConfigScope::Broker(id)),
        ConfigTarget::Topic(id) => Some(ConfigScope::Topic(id)),
        ConfigTarget::Client(_) => None,
    }
}

/// Those of some configs that decide elections.
fn guarded(configs: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    let all = configs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(name, _)| GUARDED.contains(name))
}

/// The timer at whose end a broker asks for news again.
const fn asks_again(broker: BrokerId) -> Timer {
    Timer::with(TimerKind::Request, Node::Broker(broker))
}

/// What an accepted `AlterPartition` is answered with.
fn accepted(partition: &crate::cluster::controller::Partition) -> AlterPartitionResult {
    AlterPartitionResult::Ok {
        leader: partition.leader,
        leader_epoch: partition.leader_epoch,
        isr: partition.isr.clone(),
        partition_epoch: partition.partition_epoch,
        recovering: partition.recovery == LeaderRecoveryState::Recovering,
    }
}

/// The image of a controller's state.
fn picture(controller: &Controller) -> Image {
    let partitions = controller.partitions().map(|(at, partition)| {
        let image = PartitionImage {
            replicas: partition.replicas.clone(),
            isr: partition.isr.clone(),
            leader: partition.leader,
            leader_epoch: partition.leader_epoch,
            partition_epoch: partition.partition_epoch,
            recovering: partition.recovery == LeaderRecoveryState::Recovering,
        };
        (at, Arc::new(image))
    });
    let brokers = controller.brokers().map(|(id, broker)| {
        let image = BrokerImage {
            epoch: broker.epoch,
            fenced: broker.fenced,
            in_controlled_shutdown: broker.in_controlled_shutdown,
        };
        (id, image)
    });
    Image {
        offset: controller.next_offset() - 1,
        partitions: partitions.collect(),
        brokers: brokers.collect(),
    }
}

/// Says what one change of the controller's state was.
fn tell(change: &Change, cx: &mut Cx<'_>) {
    match *change {
        Change::Registered { broker, epoch } => cx.say(Rule::Registration, || What::Registered { broker, epoch }),
        Change::Fenced { broker, rule } => cx.say(rule, || What::Fenced { broker }),
        Change::Unfenced { broker } => cx.say(Rule::Unfence, || What::Unfenced { broker }),
        Change::ShuttingDown { broker } => cx.say(Rule::ControlledShutdown, || What::ShuttingDown { broker }),
        Change::Partition(ref change) => tell_partition(change, cx),
        Change::ElrCleared { ref partitions } => partitions.iter().for_each(|change| tell_partition(change, cx)),
        _ => {}
    }
}

fn tell_partition(change: &PartitionChange, cx: &mut Cx<'_>) {
    let PartitionChange {
        at,
        before,
        after,
        rules,
    } = change;
    let partition = *at;
    let began = rules.first().copied().unwrap_or(Rule::Metadata);
    let rule = |prefix: &str| {
        rules
            .iter()
            .copied()
            .find(|rule| rule.id().starts_with(prefix))
            .unwrap_or(began)
    };
    if before.isr != after.isr {
        let rule = if began.id().starts_with("isr.") {
            began
        } else {
            rule("isr.")
        };
        cx.say(rule, || What::IsrChanged {
            partition,
            from: before.isr.clone(),
            to: after.isr.clone(),
        });
    }
    if before.elr != after.elr {
        cx.say(rule("elr."), || What::ElrChanged {
            partition,
            from: before.elr.clone(),
            to: after.elr.clone(),
        });
    }
    if before.replicas != after.replicas {
        let (from, to) = (before.replicas.clone(), after.replicas.clone());
        cx.say(Rule::Reassignment, || What::Reassigned { partition, from, to });
    }
    if before.leader_epoch != after.leader_epoch {
        let (from, to, epoch) = (before.leader, after.leader, after.leader_epoch);
        cx.say(rule("election."), || What::LeaderElected {
            partition,
            from,
            to,
            epoch,
        });
    }
}
