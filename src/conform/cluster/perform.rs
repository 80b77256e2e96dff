//! Performing a step: topics, faults, the operator's acts. Clients and raw requests stand beside this.

use super::ask::put_error;
use super::chance::Order;
use super::conditions;
use super::members::Goodbye;
use super::run::{MS, Observed, Run, SECOND};
use super::state;
use super::step::{OneOrMany, Place, Step, Whom, text};
use crate::cluster::event::BrokerState;
use crate::cluster::input::{CheckpointFile, ConfigTarget, ElectionType};
use crate::cluster::settings::{Micros, from_millis};
use crate::cluster::{BrokerId, Input, TopicId, TopicPartition};
use crate::config::{Scope, TopicConfig};
use crate::log::{Errors, Rest};
use crate::sorted::SortedMap;
use serde_json::{Map, Value};

/// The longest that a script can have something waited for, milliseconds: an hour.
const LONGEST_MS: u64 = 3_600_000;
/// After a pause: so long until the paused broker has no fetch parked at a leader.
const AFTER_PAUSE: Micros = 800 * MS;
/// How long a new topic's replicas are waited for.
const CREATED: Micros = 10 * SECOND;
/// After a change of a config.
const AFTER_CONFIG: Micros = 300 * MS;
/// How long an assignment is waited for if the script says nothing.
const ASSIGNED: Micros = 20 * SECOND;
/// How long records are waited for if the script says nothing.
const CONSUME: Micros = 15 * SECOND;
/// How long conditions are waited for if the script says nothing.
const AWAIT: Micros = 15 * SECOND;
/// How long a stopping broker is waited for if the script says nothing.
const STOPS: Micros = 20 * SECOND;
/// How long a starting broker is waited for.
const STARTS: Micros = 90 * SECOND;
/// How long the admin client tries (`default.api.timeout.ms`).
const ADMIN: Micros = 20 * SECOND;

impl Run {
    /// Performs a step and gives what the recorder observes of it.
    pub fn perform(&mut self, step: Step) -> Result<Observed, String> {
        let mut seen = Observed::new();
        match step {
            Step::Topic { name, replicas, rest } => {
                let name = name.as_deref().unwrap_or("t");
                self.create(name, replicas.as_ref(), &rest, &mut seen)?;
            }
            Step::Send(send) => self.send(*send, &mut seen)?,
            Step::Join { name } => self.join(&name, &mut seen)?,
            Step::Pending { name } => {
                seen.insert("done".into(), self.is_done(&name).into());
            }
            Step::Producer { name, configs } => self.add_producer(&name, &configs)?,
            Step::Produce(produce) => self.produce(&produce, &mut seen)?,
            Step::Flush { name } => self.flush(&name, &mut seen)?,
            Step::Pause { b } => self.pause(b.all())?,
            Step::Resume { b } => self.resume(b.all())?,
            Step::Start {
                b,
                wait,
                timeout,
                place,
            } => {
                let id = self.broker_of(&place, b.as_ref())?;
                let patience = wait.then(|| span(timeout, STARTS)).transpose()?;
                self.start(&[id.0], patience, &mut seen)?;
            }
            Step::Startall { b } => {
                let all = b.as_ref().map_or(&[1, 2, 3][..], OneOrMany::all);
                self.start(all, Some(STARTS), &mut seen)?;
            }
            Step::ListOffsets { name, query } => self.list_offsets(name.as_ref(), &query, &mut seen)?,
            Step::EpochEnd { epoch, query } => self.epoch_end(epoch, &query, &mut seen)?,
            Step::Fetch { offset, max, query } => self.fetch(offset, max, &query, &mut seen)?,
            Step::Disk { place } => {
                let tp = self.partition(&place)?;
                seen.insert("files".into(), state::files(&self.world, tp));
            }
            Step::Await {
                place,
                timeout,
                conditions,
            } => {
                let tp = self.partition(&place)?;
                conditions::check(&conditions)?;
                let patience = span(timeout, AWAIT)?;
                let reached = self.look_for(patience, |run| conditions::hold(run, tp, &conditions));
                seen.insert("reached".into(), reached.into());
            }
            Step::Sleep { ms } => self.wait(span(ms, SECOND)?),
            member @ (Step::Consumer { .. }
            | Step::Assigned { .. }
            | Step::Consume { .. }
            | Step::Position { .. }
            | Step::Seek { .. }
            | Step::Commit { .. }
            | Step::Committed { .. }
            | Step::Leave { .. }
            | Step::Crash { .. }) => self.with_member(member, &mut seen)?,
            fault @ (Step::Kill { .. }
            | Step::Killall { .. }
            | Step::Stop { .. }
            | Step::Wipe { .. }
            | Step::WipePartition { .. }
            | Step::ForgetCheckpoints { .. }
            | Step::Cut { .. }) => self.fault(fault, &mut seen)?,
            act => self.operate(act, &mut seen)?,
        }
        Ok(seen)
    }

    /// What a consumer does, and what is seen of its group.
    fn with_member(&mut self, step: Step, seen: &mut Observed) -> Result<(), String> {
        match step {
            Step::Consumer {
                name,
                topic,
                group,
                configs,
            } => self.add_member(&name, topic.as_deref(), &group, &configs),
            Step::Assigned { topic, group, timeout } => {
                self.assigned(topic.as_deref(), &group, span(timeout, ASSIGNED)?, seen)
            }
            Step::Consume { name, n, timeout } => self.consume(&name, n, span(timeout, CONSUME)?, seen),
            Step::Position { name } => self.position(&name, seen),
            Step::Seek { name, to } => self.seek(&name, to.as_ref()),
            Step::Commit { name } => self.commit(&name, seen),
            Step::Committed { topic, group } => self.committed(topic.as_deref(), &group, seen),
            Step::Leave { name } => self.end_member(&name, Goodbye::Said),
            Step::Crash { name } => self.end_member(&name, Goodbye::Unsaid),
            _ => Ok(()),
        }
    }

    /// What is done to processes and disks.
    fn fault(&mut self, step: Step, seen: &mut Observed) -> Result<(), String> {
        match step {
            Step::Kill { b, place } => {
                let tp = self.partition(&place)?;
                self.kill(self.broker(tp, b.as_ref()).as_slice())
            }
            Step::Killall { b } => {
                let all: Vec<BrokerId> = b
                    .as_ref()
                    .map_or(&[1, 2, 3][..], OneOrMany::all)
                    .iter()
                    .copied()
                    .map(BrokerId)
                    .collect();
                self.kill(&all)
            }
            Step::Stop { b, timeout, place } => {
                let tp = self.partition(&place)?;
                let id = self.broker(tp, b.as_ref()).ok_or("there is no leader to stop")?;
                match self.world.broker_state(id) {
                    Some(BrokerState::Paused) => self.stop_when_resumed.push(id),
                    Some(BrokerState::Up | BrokerState::Fenced) => self.must(Input::Stop(id))?,
                    // One that stops already, has stopped, or is not registered yet takes no notice.
                    _ => {}
                }
                let patience = span(timeout, STOPS)?;
                let exited = self.wait_for(patience, |run| !run.is_running(id));
                seen.insert("exitedBeforeTimeout".into(), exited.into());
                Ok(())
            }
            Step::Wipe { b } => self.must(Input::Wipe(one_of(b))),
            Step::WipePartition { place, b } => {
                let (tp, id) = (self.partition(&place)?, one_of(b));
                let has_folder = self.world.broker(id).is_some_and(|broker| broker.replica(tp).is_some());
                // Where there is no such folder there is none to delete.
                match has_folder {
                    true => self.must(Input::WipePartition(tp, id)),
                    false => Ok(()),
                }
            }
            Step::ForgetCheckpoints { b, files } => {
                let own = ["replication-offset-checkpoint".to_owned()];
                for name in files.as_ref().map_or(&own[..], OneOrMany::all) {
                    self.must(Input::LoseCheckpoint(one_of(b), checkpoint_file(name)?))?;
                }
                Ok(())
            }
            Step::Cut { place, b, at, torn } => {
                let rest = if torn { Rest::HalfABatch } else { Rest::Nothing };
                let tp = self.partition(&place)?;
                let dropped = self.cut(tp, one_of(b), at, rest)?;
                seen.insert("droppedOffsets".into(), dropped.into());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What the admin client does. It needs a broker to talk to.
    fn operate(&mut self, step: Step, seen: &mut Observed) -> Result<(), String> {
        let awake = |run: &Run| run.world.brokers().any(|b| b.image().is_some() && !b.is_paused());
        let asks_frozen = self.chance.asks_frozen && self.world.brokers().any(|broker| broker.is_paused());
        if asks_frozen {
            self.wait(ADMIN);
        }
        if asks_frozen || !self.look_for(ADMIN, awake) {
            put_error(seen, Some(Errors::RequestTimedOut));
            return Ok(());
        }
        match step {
            Step::Config { topic, broker, configs } => {
                let target = match broker.as_ref().map(text).as_deref() {
                    None => ConfigTarget::Topic(self.topic(topic.as_deref())?),
                    Some("all") => ConfigTarget::Brokers,
                    Some(id) => ConfigTarget::Broker(BrokerId(id.parse().map_err(|_| format!("{id} is no broker"))?)),
                };
                self.configure(target, &configs, seen);
            }
            Step::Elect { name, place } => {
                let how = match name.as_deref() {
                    Some("unclean") => ElectionType::Unclean,
                    _ => ElectionType::Preferred,
                };
                let tp = self.partition(&place)?;
                self.ask_controller(Input::Elect(tp, how), seen);
            }
            Step::Reassign { replicas, place } => {
                let tp = self.partition(&place)?;
                let replicas = replicas.all().iter().copied().map(BrokerId).collect();
                self.ask_controller(Input::Reassign(tp, replicas), seen);
            }
            Step::DeleteRecords { before, timeout, place } => {
                let tp = self.partition(&place)?;
                let patience = span(u64::try_from(timeout).ok(), 0)?;
                self.delete_records(tp, before.unwrap_or(-1), patience, seen)?;
            }
            Step::Describe { place } => {
                let tp = self.partition(&place)?;
                *seen = state::describe(&self.world, tp);
            }
            _ => {}
        }
        Ok(())
    }

    fn create(
        &mut self,
        name: &str,
        replicas: Option<&OneOrMany<u16>>,
        rest: &Map<String, Value>,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let ids = |list: &[u16]| list.iter().map(|&id| BrokerId(id)).collect::<Vec<_>>();
        let first = replicas.iter().map(|list| (0, ids(list.all())));
        let mut assignment: SortedMap<usize, Vec<BrokerId>> = first.collect();
        let mut config = Vec::new();
        for (key, value) in rest {
            let partition = key.strip_prefix('p').and_then(|digits| digits.parse::<usize>().ok());
            if let Some(partition) = partition {
                let list: OneOrMany<u16> = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
                assignment.insert(partition, ids(list.all()));
            } else if has_effect(key) {
                config.push((key.clone(), text(value)));
            }
        }
        let pairs = config.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let error = match TopicConfig::default().set_all(pairs) {
            _ if !self.world.controller().is_up() => Errors::RequestTimedOut,
            _ if self.world.topic_exists(name) => Errors::TopicAlreadyExists,
            Err(_) => Errors::InvalidConfig,
            Ok(()) => Errors::InvalidReplicaAssignment,
        };
        let made = self.act(Input::CreateTopic {
            name: name.into(),
            assignment: assignment.into_iter().map(|(_, replicas)| replicas).collect(),
            config,
        });
        if made.is_err() {
            put_error(seen, Some(error));
            return Ok(());
        }
        let id = self.topic(Some(name))?;
        self.look_for(CREATED, |run| run.is_made(id));
        Ok(())
    }

    /// Whether every replica of a topic on a broker that is up is there.
    fn is_made(&self, topic: TopicId) -> bool {
        let image = self.world.image();
        let mut own = image.partitions.iter().filter(|(tp, _)| tp.topic == topic);
        own.all(|(tp, partition)| {
            partition.replicas.iter().all(|&id| {
                let broker = self
                    .world
                    .broker(id)
                    .filter(|broker| broker.is_running() && !broker.is_paused());
                broker.is_none_or(|broker| broker.replica(*tp).is_some())
            })
        })
    }

    fn kill(&mut self, brokers: &[BrokerId]) -> Result<(), String> {
        let order = self.chance.deaths;
        for (at, id) in order.of(brokers).into_iter().enumerate() {
            self.let_pass_between(at, order);
            self.stop_when_resumed.retain(|other| *other != id);
            if self.is_running(id) {
                self.must(Input::Kill(id))?;
            }
        }
        Ok(())
    }

    /// Brokers of one step are struck in one moment, and the last heartbeats of each decide; in any other order than the
    /// usual one each is struck a heartbeat later.
    fn let_pass_between(&mut self, at: usize, order: Order) {
        let first = self.world.settings().brokers.first();
        let beat = first.map_or(0, |config| config.broker_heartbeat_interval_ms);
        if at > 0 && !order.is_usual() {
            self.wait(from_millis(beat));
        }
    }

    fn pause(&mut self, whom: &[Whom]) -> Result<(), String> {
        for one in whom {
            match one {
                Whom::Broker(id) => {
                    let id = BrokerId(*id);
                    // Signals to processes that are gone, or are frozen already, change nothing.
                    if self.is_running(id) && !self.is_paused(id) {
                        self.must(Input::Pause(id))?;
                    }
                }
                // Frozen or gone is the same to those who hear nothing of it.
                Whom::Named(_) => return self.must(Input::KillController),
            }
        }
        self.wait(AFTER_PAUSE);
        Ok(())
    }

    fn resume(&mut self, whom: &[Whom]) -> Result<(), String> {
        for one in whom {
            match one {
                Whom::Broker(id) => {
                    let id = BrokerId(*id);
                    // The same holds for those who are not frozen.
                    if self.is_paused(id) {
                        self.must(Input::Resume(id))?;
                    }
                    if self.stop_when_resumed.contains(&id) {
                        self.stop_when_resumed.retain(|other| *other != id);
                        self.must(Input::Stop(id))?;
                    }
                }
                Whom::Named(_) => {
                    self.must(Input::StartController)?;
                    if let Some(id) = self.chance.stale {
                        self.must(Input::EndSession(BrokerId(id)))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The broker named, or else broker 1.
    fn broker_of(&self, place: &Place, whom: Option<&Whom>) -> Result<BrokerId, String> {
        let Some(whom) = whom else { return Ok(BrokerId(1)) };
        let tp = self.partition(place)?;
        self.broker(tp, Some(whom))
            .ok_or_else(|| "there is no leader".to_owned())
    }

    /// Starts brokers, and waits so long until all of them are unfenced; without patience they are started in passing.
    fn start(&mut self, brokers: &[u16], patience: Option<Micros>, seen: &mut Observed) -> Result<(), String> {
        let order = self.chance.starts;
        for (at, id) in order.of(brokers).into_iter().enumerate() {
            self.let_pass_between(at, order);
            self.must(Input::Start(BrokerId(id), self.chance.directory))?;
        }
        let all_up = |run: &Run| brokers.iter().all(|&id| run.is_unfenced(BrokerId(id)));
        let unfenced = patience.is_none_or(|patience| self.look_for(patience, all_up));
        seen.insert("unfenced".into(), unfenced.into());
        Ok(())
    }

    /// Whether the controller has unfenced the process that runs now.
    fn is_unfenced(&self, id: BrokerId) -> bool {
        let process = self.world.broker(id).and_then(|broker| broker.process());
        let known = self.world.controller().state().broker(id);
        process
            .zip(known)
            .is_some_and(|(process, known)| process.epoch == Some(known.epoch) && !known.fenced)
    }

    /// Shortens the log of a stopped broker. Gives how many offsets it lost.
    fn cut(&mut self, tp: TopicPartition, id: BrokerId, at: i64, rest: Rest) -> Result<i64, String> {
        let broker = self.world.broker(id).ok_or("there is no such broker")?;
        let Some(replica) = broker.replica(tp) else {
            return Ok(0);
        };
        let lost = replica.batches().filter(|batch| batch.last_offset() >= at);
        let dropped = lost.map(|batch| batch.next_offset() - batch.base_offset()).sum();
        self.must(Input::Shorten {
            partition: tp,
            broker: id,
            from: at,
            rest,
        })?;
        Ok(dropped)
    }

    fn configure(&mut self, target: ConfigTarget, configs: &Map<String, Value>, seen: &mut Observed) {
        if !self.world.controller().is_up() {
            self.wait(ADMIN);
            put_error(seen, Some(Errors::RequestTimedOut));
            return;
        }
        self.configures = true;
        let configs = configs.iter().filter(|(name, _)| has_effect(name));
        let configs: Vec<(String, String)> = configs.map(|(name, value)| (name.clone(), text(value))).collect();
        let error = match self.act(Input::Configure(target, configs)) {
            Ok(()) => self.world.answer(),
            Err(_) => Some(Errors::InvalidConfig),
        };
        self.configures = false;
        put_error(seen, error);
        self.wait(AFTER_CONFIG);
    }

    /// Lets the controller do something; without it nobody answers.
    fn ask_controller(&mut self, input: Input, seen: &mut Observed) {
        let error = match self.act(input) {
            Ok(()) => self.world.answer(),
            Err(_) => {
                self.wait(ADMIN);
                Some(Errors::RequestTimedOut)
            }
        };
        put_error(seen, error);
    }

    fn delete_records(
        &mut self,
        tp: TopicPartition,
        before: i64,
        patience: Micros,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let serving = |run: &Run| {
            run.world
                .image()
                .leader(tp)
                .filter(|&id| run.is_running(id) && !run.is_paused(id))
        };
        if !self.look_for(patience, |run| serving(run).is_some()) {
            put_error(seen, Some(Errors::RequestTimedOut));
            return Ok(());
        }
        self.must(Input::DeleteRecords(tp, before))?;
        if !self.look_for(patience, |run| !run.world.awaits_answer()) {
            put_error(seen, Some(Errors::RequestTimedOut));
            return Ok(());
        }
        put_error(seen, self.world.answer());
        let leader = serving(self).and_then(|id| self.world.broker(id));
        if let (None, Some(replica)) = (self.world.answer(), leader.and_then(|broker| broker.replica(tp))) {
            seen.insert("lowWatermark".into(), replica.log_start().into());
        }
        Ok(())
    }
}

/// The broker named, or else broker 1.
fn one_of(b: Option<u16>) -> BrokerId {
    BrokerId(b.unwrap_or(1))
}

/// A script's milliseconds, or what holds without them.
fn span(ms: Option<u64>, otherwise: Micros) -> Result<Micros, String> {
    match ms {
        None => Ok(otherwise),
        Some(ms @ ..=LONGEST_MS) => Ok(ms * MS),
        Some(ms) => Err(format!("{ms} ms are longer than the {LONGEST_MS} that a step can take")),
    }
}

/// Whether a topic's config changes anything here, or is none: what only a real cluster acts on is taken and left alone.
fn has_effect(name: &str) -> bool {
    let known = Scope::Topic.configs().iter().find(|def| def.name == name);
    known.is_none_or(TopicConfig::acts_on)
}

fn checkpoint_file(name: &str) -> Result<CheckpointFile, String> {
    match name {
        "replication-offset-checkpoint" => Ok(CheckpointFile::HighWatermark),
        "recovery-point-offset-checkpoint" => Ok(CheckpointFile::RecoveryPoint),
        "log-start-offset-checkpoint" => Ok(CheckpointFile::LogStart),
        "cleaner-offset-checkpoint" => Ok(CheckpointFile::Cleaner),
        ".kafka_cleanshutdown" => Ok(CheckpointFile::CleanShutdown),
        other => Err(format!("{other} is no checkpoint file")),
    }
}
