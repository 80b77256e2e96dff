//! A few brokers, a scripted controller and clients by hand, joined by wires of one millisecond.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Effect, Reach, Timer};
use crate::cluster::broker::{Broker, ReplicaView};
use crate::cluster::event::{Event, What};
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicId, TopicPartition};
use crate::cluster::image::{BrokerImage, Image, PartitionImage};
use crate::cluster::message::{
    Acks, AlterPartition, AlterPartitionResult, FetchPartition, FetchRequest, HeartbeatAnswer, HeartbeatWant,
    Isolation, Message, ProduceRequest,
};
use crate::cluster::rules::Rules;
use crate::cluster::settings::{Disk, Micros, Settings, Topic};
use crate::config::{BrokerConfig, TopicConfig};
use crate::log::{Batch, Record};
use crate::sorted::SortedMap;

/// The partition of most tests.
pub const TP: TopicPartition = TopicPartition {
    topic: TopicId(0),
    partition: 0,
};
/// The client of most tests.
pub const CLIENT: Node = Node::Client(ClientId(0));
/// A millisecond.
pub const MS: Micros = 1_000;

/// How the controller answers a wanted ISR.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alter {
    /// It accepts at once.
    Accept,
    /// The test answers by hand.
    Hold,
}

pub struct Rig {
    pub settings: Settings,
    pub rules: Rules,
    pub now: Micros,
    pub brokers: Vec<Broker>,
    pub wire: Vec<(Micros, Node, Node, Message)>,
    pub timers: SortedMap<(Node, Timer), Micros>,
    pub events: Vec<Event>,
    pub inbox: Vec<(Node, Node, Message)>,
    pub image: Image,
    pub alter: Alter,
    pub held: Vec<(Node, Message)>,
    pub cut: Vec<(Node, Node)>,
    /// What the latest operator's act was answered with.
    pub answer: Option<Option<crate::log::Errors>>,
}

impl Rig {
    /// Brokers 1..=`count` and one partition with these replicas, all of them in sync, the first leading.
    pub fn new(count: u16, replicas: &[u16], brokers: &[(&str, &str)], topic: &[(&str, &str)]) -> Rig {
        let mut config = BrokerConfig::default();
        config.set_all(brokers.iter().copied()).unwrap();
        let mut own = TopicConfig::default();
        own.set_all(topic.iter().copied()).unwrap();
        let configs = vec![config; usize::from(count)];
        let on_broker = configs.iter().map(|broker| own.on(broker).unwrap()).collect();
        let mut settings = Settings {
            clock_ms: 1_700_000_000_000,
            ..Settings::default()
        };
        settings.disks = vec![Disk::default(); usize::from(count)];
        settings.brokers = configs;
        settings.topics.insert(
            TopicId(0),
            Topic {
                name: "t".into(),
                config: own,
                on_broker,
                partitions: 1,
            },
        );
        let mut image = Image {
            offset: 10,
            ..Image::default()
        };
        for id in 1..=count {
            let registered = BrokerImage {
                epoch: i64::from(id),
                fenced: false,
                in_controlled_shutdown: false,
            };
            image.brokers.insert(BrokerId(id), registered);
        }
        let known = Arc::new(image.clone());
        let boot = |id| Broker::boot(BrokerId(id), Arc::clone(&known));
        let brokers = (1..=count).map(boot).collect();
        let mut rig = Rig {
            settings,
            rules: Rules::default(),
            now: 0,
            brokers,
            wire: Vec::new(),
            timers: SortedMap::new(),
            events: Vec::new(),
            inbox: Vec::new(),
            image,
            alter: Alter::Accept,
            held: Vec::new(),
            cut: Vec::new(),
            answer: None,
        };
        rig.create(TP, replicas);
        rig
    }

    /// Creates a partition, known to every broker at once.
    pub fn create(&mut self, tp: TopicPartition, replicas: &[u16]) {
        let ids: Vec<BrokerId> = replicas.iter().map(|id| BrokerId(*id)).collect();
        let partition = PartitionImage {
            leader: ids.first().copied(),
            isr: ids.clone(),
            replicas: ids,
            leader_epoch: 0,
            partition_epoch: 0,
            recovering: false,
        };
        let new = [(tp, Arc::new(partition))];
        self.image.partitions.extend(new.iter().cloned());
        for id in 1..=self.brokers.len() as u16 {
            self.act(id, |broker, cx| broker.topics_created(&new, cx));
        }
    }

    pub fn broker(&self, id: u16) -> &Broker {
        &self.brokers[usize::from(id) - 1]
    }

    pub fn replica(&self, id: u16) -> ReplicaView<'_> {
        self.broker(id).replica(TP).unwrap()
    }

    /// Log end and high watermark of a replica.
    pub fn ends(&self, id: u16) -> (i64, i64) {
        let replica = self.replica(id);
        (replica.log_end(), replica.high_watermark().unwrap_or(-1))
    }

    fn passes(&self, from: Node, to: Node) -> bool {
        !self.cut.contains(&(from, to))
    }

    fn reach(&self, from: Node) -> Reach {
        let connects = |to: &Node| self.passes(from, *to) && self.passes(*to, from);
        let brokers = self
            .brokers
            .iter()
            .filter(|b| b.is_running())
            .map(|b| Node::Broker(b.id()));
        Reach {
            nodes: std::iter::once(Node::Controller)
                .chain(brokers)
                .filter(connects)
                .collect(),
        }
    }

    /// Lets a broker act and does what it asks for.
    pub fn act<R>(&mut self, id: u16, act: impl FnOnce(&mut Broker, &mut Cx<'_>) -> R) -> R {
        let me = Node::Broker(BrokerId(id));
        let reach = self.reach(me);
        let mut effects = Vec::new();
        let mut cx = Cx {
            me,
            now: self.now,
            settings: &self.settings,
            rules: self.rules,
            reach: &reach,
            effects: &mut effects,
            events: Some(&mut self.events),
        };
        let done = act(&mut self.brokers[usize::from(id) - 1], &mut cx);
        for effect in effects {
            match effect {
                Effect::Send { to, message, after } => self.put(me, to, message, after),
                Effect::Arm(timer, due) => {
                    self.timers.insert((me, timer), due.max(self.now));
                }
                Effect::ArmTick(timer, due) => {
                    if self.timers.get(&(me, timer)).is_none_or(|set| *set > self.now) {
                        self.timers.insert((me, timer), due.max(self.now));
                    }
                }
                Effect::Disarm(timer) => {
                    self.timers.remove(&(me, timer));
                }
                Effect::Close(peer) => self.put(me, peer, Message::Closed, 0),
                Effect::Answer(_, answer) => self.answer = Some(answer),
            }
        }
        if !self.broker(id).is_running() {
            self.timers.retain(|(node, _), _| *node != me);
        }
        done
    }

    /// Puts a message on the wire, behind what was sent before on it.
    pub fn put(&mut self, from: Node, to: Node, message: Message, after: Micros) {
        if self.passes(from, to) {
            let due = self.now + after + self.settings.latency(from, to);
            let last = self
                .wire
                .iter()
                .filter(|(_, f, t, _)| (*f, *t) == (from, to))
                .map(|m| m.0)
                .max();
            self.wire.push((due.max(last.unwrap_or(0)), from, to, message));
        } else {
            self.lost(from, to);
            self.lost(to, from);
        }
    }

    fn lost(&mut self, node: Node, peer: Node) {
        if let Node::Broker(id) = node
            && self.broker(id.0).is_running()
        {
            self.act(id.0, |broker, cx| broker.on_lost(peer, cx));
        }
    }

    /// Cuts the paths between two nodes.
    pub fn cut(&mut self, a: Node, b: Node) {
        self.cut.extend([(a, b), (b, a)]);
        self.wire
            .retain(|(_, from, to, _)| (*from, *to) != (a, b) && (*from, *to) != (b, a));
        self.lost(a, b);
        self.lost(b, a);
    }

    /// Makes all paths whole.
    pub fn heal(&mut self) {
        for (from, to) in std::mem::take(&mut self.cut) {
            if let Node::Broker(id) = from {
                self.act(id.0, |broker, cx| broker.on_reachable(to, cx));
            }
        }
    }

    /// When the next thing is due.
    pub fn next_due(&self) -> Option<Micros> {
        let awake = |node: &Node| match node {
            Node::Broker(id) => self.broker(id.0).is_running() && !self.broker(id.0).is_paused(),
            _ => true,
        };
        let messages = self.wire.iter().filter(|m| awake(&m.2)).map(|m| m.0);
        let timers = self
            .timers
            .iter()
            .filter(|((node, _), _)| awake(node))
            .map(|(_, due)| *due);
        messages.chain(timers).min().map(|due| due.max(self.now))
    }

    /// Performs the next thing: messages before timers.
    pub fn step(&mut self) -> bool {
        let Some(due) = self.next_due() else { return false };
        self.now = due;
        let awake = |rig: &Rig, node: &Node| match node {
            Node::Broker(id) => rig.broker(id.0).is_running() && !rig.broker(id.0).is_paused(),
            _ => true,
        };
        let first = (0..self.wire.len())
            .filter(|&at| self.wire[at].0 <= due && awake(self, &self.wire[at].2))
            .min_by_key(|&at| self.wire[at].0);
        if let Some(at) = first {
            let (_, from, to, message) = self.wire.remove(at);
            self.deliver(from, to, message);
            return true;
        }
        let timer = self
            .timers
            .iter()
            .find(|((node, _), at)| **at <= due && awake(self, node))
            .map(|(key, _)| *key);
        if let Some((node, timer)) = timer {
            self.timers.remove(&(node, timer));
            if let Node::Broker(id) = node {
                self.act(id.0, |broker, cx| broker.on_timer(timer, cx));
            }
        }
        true
    }

    /// Performs everything that is due up to a time, and lets time pass to it.
    pub fn run_to(&mut self, until: Micros) {
        while self.next_due().is_some_and(|due| due <= until) {
            self.step();
        }
        self.now = until;
    }

    pub fn run_for(&mut self, time: Micros) {
        self.run_to(self.now + time);
    }

    /// Runs until something holds; at most ten thousand steps.
    pub fn run_until(&mut self, holds: impl Fn(&Rig) -> bool) {
        for _ in 0..10_000 {
            if holds(self) {
                return;
            }
            assert!(self.step(), "nothing is pending at {}", self.now);
        }
        panic!("does not come to hold");
    }

    fn deliver(&mut self, from: Node, to: Node, message: Message) {
        match to {
            Node::Broker(id) if self.broker(id.0).is_running() => {
                self.act(id.0, |broker, cx| broker.on_message(from, message, cx));
            }
            Node::Broker(_) => {}
            Node::Client(_) => self.inbox.push((to, from, message)),
            Node::Controller => self.control(from, message),
        }
    }

    fn control(&mut self, from: Node, message: Message) {
        match message {
            Message::AlterPartition(id, _, wanted) if self.alter == Alter::Accept => {
                let results = wanted
                    .iter()
                    .map(|wanted| (wanted.partition, self.accept(wanted)))
                    .collect();
                self.put(
                    Node::Controller,
                    from,
                    Message::AlterPartitionResponse(id, Ok(results)),
                    0,
                );
                self.publish();
            }
            Message::Register(id, _) => {
                let Node::Broker(broker) = from else { return };
                let epoch = self.image.offset + 1;
                let registered = BrokerImage {
                    epoch,
                    fenced: true,
                    in_controlled_shutdown: false,
                };
                self.image.brokers.insert(broker, registered);
                self.put(Node::Controller, from, Message::RegisterResponse(id, Ok(epoch)), 0);
                self.publish();
            }
            Message::Heartbeat(id, heartbeat) => {
                let Node::Broker(broker) = from else { return };
                let shuts_down = heartbeat.want == HeartbeatWant::ShutDown;
                if let Some(registered) = self.image.brokers.get_mut(&broker) {
                    registered.fenced = shuts_down;
                }
                let answer = HeartbeatAnswer {
                    fenced: false,
                    should_shut_down: shuts_down,
                };
                self.put(Node::Controller, from, Message::HeartbeatResponse(id, Ok(answer)), 0);
                self.publish();
            }
            other => self.held.push((from, other)),
        }
    }

    /// Accepts a wanted ISR.
    pub fn accept(&mut self, wanted: &AlterPartition) -> AlterPartitionResult {
        let mut new = PartitionImage::clone(&self.image.partitions[&wanted.partition]);
        new.isr = wanted.isr.iter().map(|(id, _)| *id).collect();
        new.partition_epoch += 1;
        let result = AlterPartitionResult::Ok {
            leader: new.leader,
            leader_epoch: new.leader_epoch,
            isr: new.isr.clone(),
            partition_epoch: new.partition_epoch,
            recovering: false,
        };
        self.image.partitions.insert(wanted.partition, Arc::new(new));
        result
    }

    /// Gives the partition another leader and ISR, in a new epoch.
    pub fn elect(&mut self, leader: u16, isr: &[u16]) {
        let mut new = PartitionImage::clone(&self.image.partitions[&TP]);
        new.leader = Some(BrokerId(leader));
        new.isr = isr.iter().map(|id| BrokerId(*id)).collect();
        new.leader_epoch += 1;
        new.partition_epoch += 1;
        self.image.partitions.insert(TP, Arc::new(new));
        self.publish();
    }

    /// Sends the image to every broker.
    pub fn publish(&mut self) {
        self.image.offset += 1;
        let image = Arc::new(self.image.clone());
        for id in 1..=self.brokers.len() as u16 {
            if self.broker(id).is_running() {
                self.put(
                    Node::Controller,
                    Node::Broker(BrokerId(id)),
                    Message::Metadata(Arc::clone(&image)),
                    0,
                );
            }
        }
    }

    /// A client sends one batch of records.
    pub fn produce(&mut self, client: Node, to: u16, acks: Acks, values: &[&str]) {
        let now_ms = self.settings.wall_ms(self.now);
        let records: Vec<Record> = values
            .iter()
            .map(|v| Record::new(None, Some(v.as_bytes()), now_ms))
            .collect();
        let tags: Arc<[u64]> = (1..=values.len() as u64).collect();
        let batch = Batch::build(&records, None, tags);
        let request = ProduceRequest {
            acks,
            timeout_ms: 30_000,
            batches: vec![(TP, batch)],
        };
        self.put(
            client,
            Node::Broker(BrokerId(to)),
            Message::Produce(1, Arc::new(request)),
            0,
        );
    }

    /// The answers that a client got to its writes: error and offset.
    pub fn answers(&self) -> Vec<(Option<&'static str>, Option<i64>)> {
        let responses = self.inbox.iter().filter_map(|(_, _, message)| match message {
            Message::ProduceResponse(_, results) => Some(results),
            _ => None,
        });
        responses
            .flatten()
            .map(|r| (r.error.map(|e| e.name()), r.base_offset))
            .collect()
    }

    /// The values of a replica's records, in order.
    pub fn values(&self, id: u16) -> Vec<String> {
        let mut all = Vec::new();
        for batch in self.replica(id).batches() {
            all.extend(
                batch
                    .records()
                    .map(|r| String::from_utf8_lossy(r.value.unwrap_or(b"null")).into_owned()),
            );
        }
        all
    }

    /// What happened that a test looks for.
    pub fn happened(&self, what: impl Fn(&What) -> bool) -> usize {
        self.events.iter().filter(|event| what(&event.what)).count()
    }
}

/// A follower's or consumer's fetch of one partition.
pub fn fetch(
    replica_epoch: Option<i64>,
    offset: i64,
    last_epoch: i32,
    max_wait_ms: i64,
    min_bytes: i32,
) -> FetchRequest {
    let isolation = if replica_epoch.is_some() {
        Isolation::LogEnd
    } else {
        Isolation::Uncommitted
    };
    let part = FetchPartition {
        partition: TP,
        offset,
        last_fetched_epoch: last_epoch,
        current_leader_epoch: -1,
        log_start: 0,
        high_watermark: 0,
        max_bytes: 1 << 20,
    };
    FetchRequest {
        replica_epoch,
        max_wait_ms,
        min_bytes,
        max_bytes: 1 << 20,
        isolation,
        partitions: vec![part],
    }
}
