//! A client on a bench: one actor, driven by hand, without a world around it.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Effect, Reach, Timer};
use crate::cluster::event::{Event, Outcome, What};
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicId, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::input::{Destination, Polls, Send, Template};
use crate::cluster::message::Message;
use crate::cluster::rules::Rules;
use crate::cluster::settings::{Micros, Settings};
use crate::config::{ConsumerConfig, ProducerConfig};
use crate::log::{Encoder, Fingerprint};

use super::Client;

/// Microseconds in a millisecond.
pub(super) const MS: Micros = 1_000;

/// A partition of the one topic.
pub(super) const fn tp(partition: u32) -> TopicPartition {
    TopicPartition {
        topic: TopicId(0),
        partition,
    }
}

/// Broker 1 leads the partitions 0, 2 …, broker 2 the others.
pub(super) fn image(partitions: u32, offset: i64) -> Image {
    let partition = |p: u32| PartitionImage {
        replicas: vec![BrokerId(1), BrokerId(2)],
        isr: vec![BrokerId(1), BrokerId(2)],
        leader: Some(BrokerId(1 + (p % 2) as u16)),
        leader_epoch: 0,
        partition_epoch: 0,
        recovering: false,
    };
    let partitions = (0..partitions).map(|p| (tp(p), Arc::new(partition(p)))).collect();
    Image {
        offset,
        partitions,
        ..Image::default()
    }
}

/// The same with another leader for a partition.
pub(super) fn led_by(mut image: Image, partition: u32, leader: u16, epoch: i32) -> Image {
    if let Some(known) = image.partitions.get_mut(&tp(partition)) {
        let known = Arc::make_mut(known);
        known.leader = Some(BrokerId(leader));
        known.leader_epoch = epoch;
    }
    image
}

/// One client and what it left.
pub(super) struct Bench {
    pub(super) client: Client,
    pub(super) now: Micros,
    pub(super) reach: Reach,
    pub(super) events: Vec<Event>,
    settings: Settings,
    effects: Vec<Effect>,
    timers: Vec<(Timer, Micros)>,
}

impl Bench {
    fn new(client: Client, now: Micros) -> Bench {
        let reach = Reach {
            nodes: vec![Node::Broker(BrokerId(1)), Node::Broker(BrokerId(2))],
        };
        let (events, effects, timers) = (Vec::new(), Vec::new(), Vec::new());
        Bench {
            client,
            now,
            reach,
            events,
            settings: Settings::default(),
            effects,
            timers,
        }
    }

    /// A producer that knows a topic with so many partitions.
    pub(super) fn producer(partitions: u32, config: &[(&str, &str)]) -> Bench {
        let mut configs = ProducerConfig::default();
        configs.set_all(config.iter().copied()).expect("a config");
        Bench::new(
            Client::producer(ClientId(0), "p".into(), configs, Arc::new(image(partitions, 1)), 0),
            0,
        )
    }

    /// A consumer of all partitions of a topic, which polls by itself.
    pub(super) fn consumer(partitions: u32, config: &[(&str, &str)]) -> Bench {
        let mut configs = ConsumerConfig::default();
        configs.set_all(config.iter().copied()).expect("a config");
        let assign = (0..partitions).map(tp).collect();
        let image = Arc::new(image(partitions, 1));
        let client = Client::consumer(
            ClientId(0),
            "c".into(),
            configs,
            assign,
            None,
            Polls::ByItself,
            image,
            0,
        );
        let mut bench = Bench::new(client, 0);
        bench.call(Client::begin);
        bench
    }

    /// Lets the client do something, and takes note of its timers.
    pub(super) fn call(&mut self, act: impl FnOnce(&mut Client, &mut Cx)) {
        let mut cx = Cx {
            me: Node::Client(ClientId(0)),
            now: self.now,
            settings: &self.settings,
            rules: Rules::default(),
            reach: &self.reach,
            effects: &mut self.effects,
            events: Some(&mut self.events),
        };
        act(&mut self.client, &mut cx);
        for effect in &self.effects {
            match effect {
                Effect::Arm(timer, due) | Effect::ArmTick(timer, due) => {
                    self.timers.retain(|(other, _)| other != timer);
                    self.timers.push((*timer, *due));
                }
                Effect::Disarm(timer) => self.timers.retain(|(other, _)| other != timer),
                Effect::Send { .. } | Effect::Close(_) | Effect::Answer(..) => {}
            }
        }
        self.effects.retain(|effect| matches!(effect, Effect::Send { .. }));
    }

    /// The application hands over records of 100 bytes without key, to a partition or to the topic.
    pub(super) fn send(&mut self, partition: Option<u32>, count: u32) {
        let to = partition.map_or(Destination::Topic(TopicId(0)), |p| Destination::Partition(tp(p)));
        let value = Template::Bytes(vec![b'x'; 100].into());
        let headers = Arc::default();
        let send = Send {
            to,
            key: Template::Null,
            value,
            timestamp: None,
            headers,
            count,
            every: None,
        };
        self.call(|client, cx| client.send(&send, cx));
    }

    /// A message arrives from a broker.
    pub(super) fn deliver(&mut self, from: u16, message: Message) {
        self.call(|client, cx| client.on_message(BrokerId(from), message, cx));
    }

    /// The earliest deadline passes.
    pub(super) fn fire(&mut self) -> Timer {
        let next = self
            .timers
            .iter()
            .enumerate()
            .min_by_key(|(_, (timer, due))| (*due, *timer));
        let (timer, due) = self.timers.remove(next.expect("a deadline").0);
        self.now = self.now.max(due);
        self.call(|client, cx| client.on_timer(timer, cx));
        timer
    }

    /// The deadlines, the earliest first.
    pub(super) fn deadlines(&self) -> Vec<(Timer, Micros)> {
        let mut all = self.timers.clone();
        all.sort_by_key(|&(timer, due)| (due, timer));
        all
    }

    /// What has left since this was asked last.
    pub(super) fn sent(&mut self) -> Vec<(u16, Message)> {
        let sent = |effect| match effect {
            Effect::Send {
                to: Node::Broker(to),
                message,
                ..
            } => Some((to.0, message)),
            _ => None,
        };
        std::mem::take(&mut self.effects).into_iter().filter_map(sent).collect()
    }

    /// What the application was told, in order.
    pub(super) fn told(&self) -> Vec<(u32, Outcome)> {
        let told = |event: &Event| match event.what {
            What::Told { tag, outcome, .. } => Some((tag.number, outcome)),
            _ => None,
        };
        self.events.iter().filter_map(told).collect()
    }

    /// The canonical encoding of the whole state.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut encoder = Encoder::new();
        encoder.u128(self.client.digest());
        self.client.encode_times(self.now, &mut encoder);
        encoder.digest()
    }
}
