//! A producer: an application that hands over records, and the client that gets them to their leaders.
//!
//! Records gather in batches by partition; a batch that is full or has waited `linger.ms` leaves for the leader together
//! with the batches of the leader's other partitions; the answer decides it, or it is sent again, until
//! `delivery.timeout.ms` has passed. What the application hands over at one instant is gathered before the first batch
//! leaves, so that the outcome does not hang on a race between two threads. Mirrors `KafkaProducer` and `Sender`.
//!
//! Deliberately absent: transactions, compression, interceptors, custom partitioners, the handshake of a connection, the
//! round trip that gives a producer its id, and `partitioner.availability.timeout.ms`. A full buffer makes the application
//! wait, and so does a topic or a partition that the client does not know yet; what still waits after `max.block.ms` fails.
//! The topics of the set-up are known from the start, to the first process of a client.

mod accumulator;
mod application;
mod batch;
mod choice;
mod drain;
mod outcome;
mod raw;
mod sequences;
#[cfg(test)]
mod tests;
mod topics;

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::chance::Chance;
use crate::cluster::event::{Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::input::{Destination, Send};
use crate::cluster::message::{Acks, Message};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::config::{ConfigError, ProducerConfig};
use crate::log::{Encoder, Errors, Fingerprint, Record};

use super::alarms::{Alarms, Deadlines, earliest};
use super::backoff::Backoff;
use super::connections::{Asked, Connections, Request};
use super::metadata::Metadata;
use super::{Life, News};

use accumulator::{Accumulator, BatchId, Batches, Waits};
use application::{Application, Handed};
use choice::{Choice, Last};
use raw::Raws;
use sequences::Sequences;
use topics::Topics;

/// What a producer asks brokers.
#[derive(Clone, Debug, PartialEq)]
enum Asks {
    /// To append these batches.
    Produce(Vec<(TopicPartition, BatchId)>),
    /// What they know of the cluster.
    Metadata,
}

impl Asked for Asks {
    fn may_wait(&self) -> bool {
        matches!(self, Asks::Produce(_))
    }
}

/// A producer's process.
#[derive(Clone, Debug, PartialEq)]
pub struct Producer {
    id: ClientId,
    name: Arc<str>,
    config: Arc<ProducerConfig>,
    life: Life,
    /// How many processes there were before this one.
    starts: u32,
    chance: Chance,
    metadata: Metadata,
    topics: Topics,
    application: Application,
    choice: Choice,
    batches: Batches,
    accumulator: Accumulator,
    sequences: Sequences,
    connections: Connections<Asks>,
    raws: Raws,
    /// Records whose application has not been told, those not yet handed over included.
    undecided: u32,
    /// Some batch waits for a leader that is not known or cannot be reached, or the application for what is not known.
    stuck: bool,
    alarms: Alarms,
}

impl Producer {
    /// A producer whose process starts now, with the cluster as it is.
    pub fn new(id: ClientId, name: Arc<str>, config: ProducerConfig, image: Arc<Image>, seed: u64) -> Producer {
        Producer {
            id,
            config: Arc::new(config),
            life: Life::Running,
            starts: 0,
            chance: Chance::of(seed, &name),
            name,
            metadata: Metadata::new(image),
            topics: Topics::OfSetUp,
            application: Application::new(id),
            choice: Choice::default(),
            batches: Batches::default(),
            accumulator: Accumulator::default(),
            sequences: Sequences::new(id, 0),
            connections: Connections::default(),
            raws: Raws::default(),
            undecided: 0,
            stuck: false,
            alarms: Alarms::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its process runs.
    pub fn is_running(&self) -> bool {
        self.life != Life::Ended
    }

    /// Whether it was told to close and has not ended yet.
    pub fn is_closing(&self) -> bool {
        self.life == Life::Closing
    }

    /// How many records its application has not been told about. Those of a killed process are pending for ever, but no
    /// longer undecided.
    pub fn undecided(&self) -> u32 {
        self.undecided
    }

    /// How many records its application was given to send, by all processes of this name, those not yet handed over
    /// included.
    pub fn numbers(&self) -> u32 {
        self.application.numbers()
    }

    /// Whether the process that runs still has this record, to be handed over, to be sent or to be answered.
    pub fn holds(&self, tag: Tag) -> bool {
        self.application.holds(tag.number) || self.batches.holds(tag) || self.raws.holds(tag)
    }

    /// Whether nothing is under way and no deadline armed.
    pub fn is_quiet(&self) -> bool {
        self.undecided == 0 && self.connections.is_idle() && self.metadata.is_idle() && self.alarms.is_empty()
    }

    /// Its configs.
    pub fn config(&self) -> &ProducerConfig {
        &self.config
    }

    /// Changes configs, all or none; they act from now on.
    ///
    /// # Errors
    /// What the config room finds wrong with it; nothing has changed then.
    pub fn set_all(&mut self, configs: &[(String, String)]) -> Result<(), ConfigError> {
        let configs = configs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Arc::make_mut(&mut self.config).set_all(configs)
    }

    /// The application hands over a run of records.
    pub fn send(&mut self, send: &Send, cx: &mut Cx) {
        self.undecided += send.count;
        self.application.begin(send, cx.now);
        self.go_on(cx);
    }

    /// The client closes: what it holds is sent at once, and when all of it is decided the process ends. What the
    /// application had not handed over yet it keeps.
    pub fn close(&mut self, cx: &mut Cx) {
        if self.life == Life::Running {
            self.life = Life::Closing;
            self.undecided -= self.application.stop();
        }
        self.go_on(cx);
    }

    /// The process ends without closing.
    pub fn kill(&mut self, cx: &mut Cx) {
        self.connections.close_all(cx);
        self.alarms.settle(Deadlines::new(), cx);
        self.application.stop();
        self.life = Life::Ended;
        self.batches = Batches::default();
        self.accumulator = Accumulator::default();
        self.choice = Choice::default();
        self.raws = Raws::default();
        self.undecided = 0;
        self.stuck = false;
    }

    /// A new process starts: another producer id, but the numbers of the records go on. It knows nothing of the cluster.
    pub fn start(&mut self, cx: &mut Cx) {
        self.starts += 1;
        self.life = Life::Running;
        self.sequences = Sequences::new(self.id, self.starts);
        self.metadata.restart(cx.now);
        self.topics = Topics::none();
        self.go_on(cx);
    }

    /// Topics were created, which everybody knows at once.
    pub fn topics_created(&mut self, new: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx) {
        self.metadata.topics_created(new);
        new.iter().for_each(|(tp, _)| self.topics.created(tp.topic));
        self.go_on(cx);
    }

    /// A message arrived at its process, which runs.
    pub fn on_message(&mut self, from: BrokerId, message: Message, cx: &mut Cx) {
        match message {
            Message::ProduceResponse(correlation, results) => match self.connections.answered(from, correlation) {
                Some(Request {
                    what: Asks::Produce(batches),
                    ..
                }) => self.on_answer(batches, results, cx),
                Some(_) => {}
                None => self.on_raw_answer(from, correlation, &results, cx),
            },
            Message::MetadataResponse(correlation, image) => {
                let asked = self.connections.answered(from, correlation);
                if asked.is_some() {
                    self.metadata.learn(self.id, &image, cx);
                    self.topics.answered();
                }
            }
            Message::Closed => self.on_closed(from, cx),
            _ => {}
        }
        self.go_on(cx);
    }

    /// A timer that this producer armed, or the world for it, has gone off.
    pub fn on_timer(&mut self, timer: Timer, cx: &mut Cx) {
        self.alarms.fired(timer);
        match (timer.kind, timer.peer) {
            (TimerKind::Refresh, _) => self.metadata.want_of_another(),
            (TimerKind::Request, Some(Node::Broker(peer))) => self.on_request_timeout(peer, cx),
            (TimerKind::Retry, Some(Node::Broker(peer))) if self.connections.is_broken(peer, cx.now) => {
                cx.close(Node::Broker(peer));
                self.on_closed(peer, cx);
            }
            (TimerKind::Retry, None) if timer.partition.is_none() && self.needs_news(cx) => self.metadata.want(None),
            // The rest is looked at anew whenever anything happens.
            _ => {}
        }
        self.go_on(cx);
    }

    /// A message between this producer and a broker was lost, or the broker has gone silent.
    pub fn on_lost(&mut self, peer: BrokerId, cx: &mut Cx) {
        self.connections.lost(peer);
        self.go_on(cx);
    }

    /// The path to a broker has come back.
    pub fn on_reachable(&mut self, peer: BrokerId, cx: &mut Cx) {
        self.connections
            .reachable(peer, from_millis(self.config.reconnect_backoff_ms), cx.now);
        self.go_on(cx);
    }

    /// What it waits for, if only news of the cluster can help it on.
    pub fn wants_news(&self) -> Option<News> {
        self.stuck.then(|| self.metadata.news(self.backoff())).flatten()
    }

    /// Its process has just started.
    pub fn begin(&mut self, cx: &mut Cx) {
        self.metadata.start(cx.now);
        self.go_on(cx);
    }

    /// When it asks for the cluster's state because of its age.
    pub fn refreshes_at(&self, now: Micros) -> Micros {
        self.metadata
            .refreshes_at(from_millis(self.config.metadata_max_age_ms), now)
    }

    /// Whether this image would tell it anything: that there are more partitions, or new leaders in a topic that it has
    /// sent to.
    pub fn would_learn(&self, image: &Image) -> bool {
        let topics = self.accumulator.topics();
        let partitions = topics.flat_map(|topic| choice::partitions(image, topic));
        self.metadata.would_learn(image, partitions.map(|(tp, _)| tp))
    }

    /// A config has changed, or anything else that its next move hangs on.
    pub fn go_on(&mut self, cx: &mut Cx) {
        if self.life == Life::Ended {
            return;
        }
        // An acks=0 request is decided when it leaves, which may let the application go on at the same instant.
        while self.hand_over(cx) | self.work(cx) {}
        if self.life == Life::Closing && self.undecided == 0 {
            self.end(cx);
            return;
        }
        self.arm(cx);
    }

    fn end(&mut self, cx: &mut Cx) {
        self.kill(cx);
        let client = self.id;
        cx.say(Rule::Act, || What::ClientEnded { client });
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(self.config.retry_backoff_ms, self.config.retry_backoff_max_ms)
    }

    fn acks(&self) -> Acks {
        self.config.acks
    }

    fn is_idempotent(&self, cx: &Cx) -> bool {
        self.config.enable_idempotence && cx.holds(Rule::Idempotence)
    }

    /// Takes over what the application has to hand over now. Says whether there was anything.
    fn hand_over(&mut self, cx: &mut Cx) -> bool {
        let mut any = false;
        if let Some((handed, since)) = self.application.unblock() {
            if cx.now >= since + from_millis(self.config.max_block_ms) {
                self.tell(
                    handed.tag,
                    None,
                    Outcome::Failed(Errors::RequestTimedOut),
                    Rule::Expire,
                    cx,
                );
            } else if let Err(handed) = self.take(handed, cx) {
                self.application.block(handed, since);
                return false;
            }
            any = true;
        }
        while let Some(handed) = self.application.next(cx) {
            any = true;
            let topic_partition = match handed.to {
                Destination::Topic(_) => None,
                Destination::Partition(tp) | Destination::Broker(tp, _) => Some(tp),
            };
            let tag = handed.tag;
            cx.say(Rule::Act, || What::Handed { tag, topic_partition });
            if let Err(handed) = self.take(handed, cx) {
                self.application.block(handed, cx.now);
            }
        }
        any
    }

    /// Takes a record over; without memory, or before the client knows where it could go, it comes back.
    fn take(&mut self, handed: Handed, cx: &mut Cx) -> Result<(), Handed> {
        if !self.knows(handed.to) {
            self.look_up(handed.to);
            return Err(handed);
        }
        let by_key = |record: &Record| record.key.clone().filter(|_| !self.config.partitioner_ignore_keys);
        let (topic, chosen) = match handed.to {
            Destination::Broker(partition, broker) => {
                self.send_raw(handed.tag, partition, broker, handed.record, cx);
                return Ok(());
            }
            Destination::Partition(tp) if cx.holds(Rule::PartitionGiven) => {
                (tp.topic, Some((tp, Rule::PartitionGiven)))
            }
            Destination::Partition(TopicPartition { topic, .. }) | Destination::Topic(topic) => {
                let keyed = by_key(&handed.record).filter(|_| cx.holds(Rule::PartitionKey));
                let tp = keyed.map(|key| choice::by_key(self.metadata.image(), topic, &key));
                (topic, tp.map(|tp| (tp, Rule::PartitionKey)))
            }
        };
        let size = batch::upper_bound(&handed.record);
        if size > bytes(self.config.max_request_size) || size > bytes(self.config.buffer_memory) {
            let failed = Outcome::Failed(Errors::MessageTooLarge);
            self.tell(handed.tag, chosen.map(|(tp, _)| tp), failed, Rule::TellFailed, cx);
            return Ok(());
        }
        let (tp, rule) = chosen.unwrap_or_else(|| {
            let all_full = |tp| self.accumulator.all_full(&self.batches, tp);
            let batch_size = bytes(self.config.batch_size).max(1) as u32;
            let image = self.metadata.image();
            (
                self.choice.sticky(image, topic, batch_size, all_full, &mut self.chance),
                Rule::PartitionSticky,
            )
        });
        let limits = (bytes(self.config.batch_size), bytes(self.config.buffer_memory));
        let Handed { tag, to, record } = handed;
        match self
            .accumulator
            .add(&mut self.batches, tp, record, tag.to_bits(), limits, cx.now)
        {
            Err(record) => Err(Handed { tag, to, record }),
            Ok(added) => {
                if rule == Rule::PartitionSticky && cx.holds(rule) {
                    let last = if self.accumulator.all_full(&self.batches, tp) {
                        Last::Full
                    } else {
                        Last::Open
                    };
                    self.choice
                        .appended(self.metadata.image(), topic, added as u32, last, &mut self.chance);
                }
                cx.say(rule, || What::Accumulated { tag, partition: tp });
                Ok(())
            }
        }
    }

    /// Whether it knows enough of the cluster to choose where a record goes.
    fn knows(&self, to: Destination) -> bool {
        let at = match to {
            Destination::Broker(..) => return true,
            Destination::Partition(tp) => tp,
            Destination::Topic(topic) => TopicPartition { topic, partition: 0 },
        };
        self.topics.knows(at.topic) && self.metadata.image().partition(at).is_some()
    }

    /// Asks for a topic of which this process has not asked before. What is not there when the answer comes it can only
    /// wait for.
    fn look_up(&mut self, to: Destination) {
        let (Destination::Topic(topic) | Destination::Partition(TopicPartition { topic, .. })) = to else {
            return;
        };
        if self.topics.seek(topic) {
            self.metadata.want_new_topics();
        }
    }

    /// Whether the application waits for memory.
    fn is_exhausted(&self) -> bool {
        self.application.blocked().is_some_and(|handed| self.knows(handed.to))
    }

    /// Tells the application about a record, once. Without the rule that has it told it goes on waiting.
    fn tell(&mut self, tag: Tag, partition: Option<TopicPartition>, outcome: Outcome, rule: Rule, cx: &mut Cx) {
        if !cx.holds(rule) {
            return;
        }
        self.undecided = self.undecided.saturating_sub(1);
        cx.say(rule, || What::Told {
            tag,
            partition,
            outcome,
        });
    }

    /// A connection is gone: what was asked on it is not answered any more, and the client looks for newer metadata.
    fn on_closed(&mut self, peer: BrokerId, cx: &mut Cx) {
        self.fail_connection(peer, Errors::NetworkException, cx);
        self.fail_raws(peer, cx);
    }

    fn on_request_timeout(&mut self, peer: BrokerId, cx: &mut Cx) {
        let timeout = from_millis(self.config.request_timeout_ms);
        self.time_out_raws(peer, timeout, cx);
        if self.connections.has_timed_out(peer, timeout, cx.now) {
            cx.close(Node::Broker(peer));
            self.fail_connection(peer, Errors::RequestTimedOut, cx);
            self.fail_raws(peer, cx);
        }
    }

    fn fail_connection(&mut self, peer: BrokerId, error: Errors, cx: &mut Cx) {
        let failed = self
            .connections
            .closed(peer, from_millis(self.config.reconnect_backoff_ms), cx.now);
        self.metadata.want(Some(peer));
        for request in failed {
            match request.what {
                Asks::Metadata => self.metadata.unanswered(peer, cx.now),
                Asks::Produce(batches) => {
                    for (tp, id) in batches {
                        self.accumulator.unmute(tp);
                        self.on_error(id, error, cx);
                    }
                }
            }
        }
    }

    /// Whether some batch waits for a leader that is not known or cannot be reached, or the application for a topic or a
    /// partition that was not there when it was asked for.
    fn needs_news(&self, cx: &Cx) -> bool {
        let absent = |handed: &Handed| !self.knows(handed.to);
        self.application.blocked().is_some_and(absent)
            || self.accumulator.heads().any(|(tp, ..)| match self.metadata.leader(tp) {
                None => true,
                Some((leader, _)) => !self.connections.is_within_reach(leader, cx),
            })
    }

    fn ask_metadata(&mut self, cx: &mut Cx) {
        let Producer {
            metadata,
            connections,
            config,
            ..
        } = self;
        let backoff = Backoff::new(config.retry_backoff_ms, config.retry_backoff_max_ms);
        if let Some(to) = metadata.ask(backoff, |broker| connections.can_send(broker, cx), cx) {
            connections.send(to, Asks::Metadata, Message::MetadataRequest, cx);
        }
    }

    /// Works out which deadlines can decide something, and arms them.
    fn arm(&mut self, cx: &mut Cx) {
        let mut deadlines = Deadlines::new();
        if let Some(due) = self.application.next_due() {
            earliest(&mut deadlines, Timer::of(TimerKind::Handover), due);
        }
        if let Some(since) = self.application.blocked_since() {
            let due = since + from_millis(self.config.max_block_ms);
            deadlines.insert(Timer::of(TimerKind::Handover), due);
        }
        if let Some((created, lifetime)) = self.batches.oldest().zip(self.lifetime(cx)) {
            earliest(&mut deadlines, Timer::of(TimerKind::Delivery), created + lifetime);
        }
        let mut wanted = Vec::new();
        for (tp, ..) in self.accumulator.heads() {
            let Some((leader, _)) = self.metadata.leader(tp) else {
                continue;
            };
            if !self.connections.is_within_reach(leader, cx) {
                continue;
            }
            wanted.push(leader);
            match self.waits(tp, cx) {
                Waits::Linger(due) => earliest(&mut deadlines, Timer::on(TimerKind::Linger, tp), due),
                Waits::Backoff(due) => earliest(&mut deadlines, Timer::on(TimerKind::Retry, tp), due),
                Waits::Ready | Waits::Muted => {}
            }
        }
        let timeout = from_millis(self.config.request_timeout_ms);
        let wants = |peer: BrokerId| self.metadata.wants_to_ask() || wanted.contains(&peer);
        self.connections.deadlines(timeout, wants, cx, &mut deadlines);
        if cx.holds(Rule::ClientTimeout) {
            self.raws.deadlines(timeout, &mut deadlines);
        }
        self.metadata.deadlines(self.backoff(), cx, &mut deadlines);
        self.stuck = self.needs_news(cx);
        self.alarms.settle(deadlines, cx);
    }

    /// The times in its state, relative to now; the rest is in its fingerprint.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        self.application.encode_times(now, encoder);
        self.batches.encode_times(now, encoder);
        self.connections.encode_times(now, encoder);
        self.raws.encode_times(now, encoder);
        self.metadata.encode_times(self.backoff(), now, encoder);
    }
}

impl Fingerprint for Producer {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u8(self.life as u8);
        encoder.u32(self.starts);
        encoder.u32(self.chance.drawn());
        self.metadata.encode(encoder);
        self.topics.encode(encoder);
        self.application.encode(encoder);
        self.choice.encode(encoder);
        self.accumulator.encode(&self.batches, encoder);
        self.sequences.encode(encoder);
        self.connections.encode(encoder, |what, encoder| match what {
            Asks::Metadata => encoder.u8(0),
            Asks::Produce(batches) => {
                encoder.u8(1);
                encoder.len(batches.len());
                for &(_, id) in batches {
                    self.batches.encode(id, encoder);
                }
            }
        });
        self.raws.encode(encoder);
        encoder.u32(self.undecided);
    }
}

/// A size from the config; what is negative counts as nothing.
fn bytes(config: i64) -> usize {
    usize::try_from(config).unwrap_or(0)
}
