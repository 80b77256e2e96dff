//! Producers and consumers: the processes at the edge of the cluster.
//!
//! A client is an actor like a broker: it handles one message, timer or call of its application at a time, changes only
//! itself, and leaves effects. Its connections, its image of the cluster and its deadlines are built alike for both kinds.
//!
//! A client never steps in vain: a deadline that cannot pass is not armed, an attempt to connect to a broker that is not
//! there is not made, and who can only wait for news of the cluster says so ([`News`]) and is woken when there are some.
//!
//! Deliberately absent: transactions, the admin client (the operator's acts need no process), `client.rack`.

mod alarms;
mod backoff;
#[cfg(test)]
mod bench;
mod connections;
mod consumer;
mod metadata;
mod producer;
mod reads;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::input::{Polls, SeekTo, Send};
use crate::cluster::message::Message;
use crate::cluster::settings::Micros;
use crate::config::{ConfigError, ConsumerConfig, ProducerConfig};
use crate::log::{Encoder, Fingerprint};
use crate::sorted::SortedSet;

pub use consumer::Consumer;
pub use metadata::News;
pub use producer::Producer;
pub use reads::{Reader, Reads};

/// How far a client's process has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    /// It was told to close, and still sends what it holds.
    Closing,
    Ended,
}

/// A producer or a consumer.
#[allow(
    clippy::large_enum_variant,
    reason = "clients are few, and a snapshot shares them as they are"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Client {
    /// It sends.
    Producer(Producer),
    /// It reads.
    Consumer(Reader),
}

/// Calls the same method of whichever it is.
macro_rules! either {
    ($client:expr, $it:ident => $call:expr) => {
        match $client {
            Client::Producer($it) => $call,
            Client::Consumer($it) => $call,
        }
    };
}

impl Client {
    /// A producer whose process starts now.
    pub fn producer(id: ClientId, name: Arc<str>, config: ProducerConfig, image: Arc<Image>, seed: u64) -> Client {
        Client::Producer(Producer::new(id, name, config, image, seed))
    }

    /// A consumer of these partitions, or of what its group gives it, whose process starts now.
    #[allow(clippy::too_many_arguments, reason = "what a consumer is made of")]
    pub fn consumer(
        id: ClientId,
        name: Arc<str>,
        config: ConsumerConfig,
        assign: Vec<TopicPartition>,
        group: Option<(GroupId, SortedSet<Arc<str>>)>,
        polls: Polls,
        image: Arc<Image>,
        seed: u64,
    ) -> Client {
        let consumer = Consumer::new(id, name, config, assign, group, polls, image, seed);
        Client::Consumer(Reader::new(consumer))
    }

    /// The producer, if it is one.
    pub fn as_producer(&self) -> Option<&Producer> {
        match self {
            Client::Producer(producer) => Some(producer),
            Client::Consumer(_) => None,
        }
    }

    /// The consumer, if it is one.
    pub fn as_consumer(&self) -> Option<&Consumer> {
        match self {
            Client::Producer(_) => None,
            Client::Consumer(reader) => Some(reader.consumer()),
        }
    }

    /// Whether it is a producer.
    pub fn is_producer(&self) -> bool {
        self.as_producer().is_some()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        either!(self, it => it.name())
    }

    /// Whether its process runs; one that is closing still does.
    pub fn is_running(&self) -> bool {
        either!(self, it => it.is_running())
    }

    /// Whether it was told to close and has something to do before: a producer sends what it holds, a member of a group
    /// commits and says that it goes.
    pub fn is_closing(&self) -> bool {
        either!(self, it => it.is_closing())
    }

    /// How much its application waits for: records it was not told about, a poll, commits.
    pub fn undecided(&self) -> u32 {
        either!(self, it => it.undecided())
    }

    /// Whether nothing is under way and no deadline armed. A fetch that waits at a broker does not count.
    pub fn is_quiet(&self) -> bool {
        either!(self, it => it.is_quiet())
    }

    /// What it waits for, if only news of the cluster can help it on.
    pub fn wants_news(&self) -> Option<News> {
        either!(self, it => it.wants_news())
    }

    /// Whether it is a consumer that reads this partition.
    pub fn reads(&self, tp: TopicPartition) -> bool {
        matches!(self, Client::Consumer(reader) if reader.reads(tp))
    }

    /// The next offset that a consumer would read of a partition, if it has one.
    pub fn position(&self, tp: TopicPartition) -> Option<i64> {
        match self {
            Client::Producer(_) => None,
            Client::Consumer(reader) => reader.position(tp),
        }
    }

    /// Changes configs, all or none; [`Client::config_changed`] makes them act.
    ///
    /// # Errors
    /// What the config room finds wrong with it; nothing has changed then.
    pub fn set_all(&mut self, configs: &[(String, String)]) -> Result<(), ConfigError> {
        either!(self, it => it.set_all(configs))
    }

    /// Its process has just started: it begins to do what it does by itself.
    pub fn begin(&mut self, cx: &mut Cx) {
        either!(self, it => it.begin(cx))
    }

    /// When it asks for the cluster's state because what it knows is old.
    pub fn refreshes_at(&self, now: Micros) -> Micros {
        either!(self, it => it.refreshes_at(now))
    }

    /// Whether this image would tell it anything that it could use.
    pub fn would_learn(&self, image: &Image) -> bool {
        either!(self, it => it.would_learn(image))
    }

    /// A config has changed.
    pub fn config_changed(&mut self, cx: &mut Cx) {
        either!(self, it => it.go_on(cx))
    }

    /// Topics were created, which everybody knows at once.
    pub fn topics_created(&mut self, new: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx) {
        either!(self, it => it.topics_created(new, cx))
    }

    /// A message from a broker arrived; without a process nobody takes it.
    pub fn on_message(&mut self, from: BrokerId, message: Message, cx: &mut Cx) {
        if self.is_running() {
            either!(self, it => it.on_message(from, message, cx));
        }
    }

    /// A timer went off.
    pub fn on_timer(&mut self, timer: Timer, cx: &mut Cx) {
        either!(self, it => it.on_timer(timer, cx))
    }

    /// Something between it and a peer was lost, or the peer has gone silent.
    pub fn on_lost(&mut self, peer: Node, cx: &mut Cx) {
        if let Node::Broker(peer) = peer {
            either!(self, it => it.on_lost(peer, cx));
        }
    }

    /// The path to a peer has come back.
    pub fn on_reachable(&mut self, peer: Node, cx: &mut Cx) {
        if let Node::Broker(peer) = peer {
            either!(self, it => it.on_reachable(peer, cx));
        }
    }

    /// The application hands over records; a consumer has none.
    pub fn send(&mut self, send: &Send, cx: &mut Cx) {
        if let Client::Producer(producer) = self {
            producer.send(send, cx);
        }
    }

    /// One poll of a consumer that polls only when told.
    pub fn poll(&mut self, max: Option<u32>, cx: &mut Cx) {
        if let Client::Consumer(consumer) = self {
            consumer.poll(max, cx);
        }
    }

    /// Moves a consumer's position.
    pub fn seek(&mut self, tp: TopicPartition, to: SeekTo, cx: &mut Cx) {
        if let Client::Consumer(consumer) = self {
            consumer.seek(tp, to, cx);
        }
    }

    /// A consumer commits for its group.
    pub fn commit(&mut self, offsets: &[(TopicPartition, i64)], cx: &mut Cx) {
        if let Client::Consumer(consumer) = self {
            consumer.commit(offsets, cx);
        }
    }

    /// It closes.
    pub fn close(&mut self, cx: &mut Cx) {
        either!(self, it => it.close(cx));
    }

    /// Its process ends without closing.
    pub fn kill(&mut self, cx: &mut Cx) {
        either!(self, it => it.kill(cx));
    }

    /// A new process starts with the same configs.
    pub fn start(&mut self, cx: &mut Cx) {
        either!(self, it => it.start(cx));
    }

    /// The times in its state, relative to now; the rest is in its fingerprint.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        either!(self, it => it.encode_times(now, encoder));
    }
}

impl Fingerprint for Client {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u8(u8::from(self.is_producer()));
        either!(self, it => it.fingerprint(encoder));
    }
}
