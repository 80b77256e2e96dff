//! Events as lines of text and as JSON: what a trace shows, and what a failed expectation names.
//!
//! One description of each event serves both: who, what, and the facts by name. The text of a trace is compared exactly by
//! stories that carry one, so a change here shows as a difference there.

mod clients;
mod replicas;

use crate::cluster::World;
use crate::cluster::event::{Cause, ConfigReach, Ended, Event, LostBy, Tag, What};
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicPartition};
use serde_json::{Value as Json, json};
use std::fmt::Display;

/// An event in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Who did it, or to whom it happened.
    pub who: String,
    /// What happened.
    pub what: &'static str,
    /// With which facts.
    pub facts: Vec<(&'static str, String)>,
}

/// A line of a trace, without its end.
pub fn line(event: &Event, world: &World) -> String {
    let Described { who, what, facts } = describe(event, world);
    let facts: String = facts.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    format!("{} {who} {what}{facts} [{}]", time(event.at), event.rule.id())
}

/// The same as an object: time in microseconds, rule, who, what, and the facts.
pub fn json(event: &Event, world: &World) -> Json {
    let Described { who, what, facts } = describe(event, world);
    let facts: serde_json::Map<String, Json> = facts
        .into_iter()
        .map(|(name, value)| (name.to_string(), json!(value)))
        .collect();
    json!({ "at": event.at, "rule": event.rule.id(), "who": who, "what": what, "facts": facts })
}

/// A time of the run, in the unit that leaves a whole number.
pub fn time(micros: u64) -> String {
    super::ast::Micros(i64::try_from(micros).unwrap_or(i64::MAX)).to_string()
}

/// An event in words.
pub fn describe(event: &Event, world: &World) -> Described {
    Describer {
        world,
        facts: Vec::new(),
    }
    .describe(&event.what)
}

struct Describer<'a> {
    world: &'a World,
    facts: Vec<(&'static str, String)>,
}

impl Describer<'_> {
    fn fact(&mut self, name: &'static str, value: impl Display) -> &mut Self {
        self.facts.push((name, value.to_string()));
        self
    }

    fn at(&mut self, partition: TopicPartition) -> &mut Self {
        let name = self.world.partition_name(partition);
        self.fact("partition", name)
    }

    /// Where something became something else.
    fn change(&mut self, partition: TopicPartition, from: impl Display, to: impl Display) -> &mut Self {
        self.at(partition).fact("from", from).fact("to", to)
    }

    fn maybe_at(&mut self, partition: Option<TopicPartition>) -> &mut Self {
        if let Some(partition) = partition {
            self.at(partition);
        }
        self
    }

    fn records(&mut self, tags: &[u64]) -> &mut Self {
        let names = self.record_names(tags);
        self.fact("records", names)
    }

    fn done(&mut self, who: String, what: &'static str) -> Described {
        Described {
            who,
            what,
            facts: std::mem::take(&mut self.facts),
        }
    }

    fn broker(&mut self, broker: BrokerId, what: &'static str) -> Described {
        self.done(format!("broker {broker}"), what)
    }

    fn client(&mut self, client: ClientId, what: &'static str) -> Described {
        let name = self.world.node_name(Node::Client(client));
        self.done(name, what)
    }

    fn node(&self, node: Node) -> String {
        match node {
            Node::Broker(broker) => format!("broker {broker}"),
            other => self.world.node_name(other),
        }
    }

    /// `app#1-3,5` for records of one producer in order; several producers with commas between them.
    fn record_names(&self, tags: &[u64]) -> String {
        let mut ranges: Vec<(Tag, u32)> = Vec::new();
        for tag in tags.iter().map(|bits| Tag::from_bits(*bits)) {
            match ranges.last_mut() {
                Some((first, last)) if first.client == tag.client && *last + 1 == tag.number => *last = tag.number,
                _ => ranges.push((tag, tag.number)),
            }
        }
        let name = |(first, last): &(Tag, u32)| {
            let producer = self.world.node_name(Node::Client(first.client));
            match first.number == *last {
                true => format!("{producer}#{last}"),
                false => format!("{producer}#{}-{last}", first.number),
            }
        };
        ranges.iter().map(name).collect::<Vec<_>>().join(",")
    }

    fn describe(mut self, what: &What) -> Described {
        match what {
            What::Step(cause) => self.cause(cause),
            What::Handed { .. }
            | What::Accumulated { .. }
            | What::ProduceSent { .. }
            | What::WillRetry { .. }
            | What::Told { .. } => self.producer(what),
            What::MetadataLearnt { .. }
            | What::Read { .. }
            | What::Positioned { .. }
            | What::ConsumerError { .. }
            | What::ClientEnded { .. }
            | What::ClientStarted { .. } => self.reader(what),
            What::Appended { .. }
            | What::Duplicate { .. }
            | What::Refused { .. }
            | What::AckWaits { .. }
            | What::Answered { .. }
            | What::Disconnected { .. }
            | What::FetchAnswered { .. } => self.served(what),
            What::HighWatermark { .. }
            | What::LogStart { .. }
            | What::IsrProposed { .. }
            | What::IsrForgotten { .. }
            | What::IsrRefused { .. }
            | What::BecameLeader { .. }
            | What::BecameFollower { .. }
            | What::Diverged { .. }
            | What::Truncated { .. } => self.replica(what),
            What::Rolled { .. }
            | What::Flushed { .. }
            | What::SegmentDeleted { .. }
            | What::Compacted { .. }
            | What::FilesRemoved { .. }
            | What::Recovered { .. }
            | What::Checkpointed { .. }
            | What::Damaged { .. } => self.storage(what),
            What::LeaderElected { .. }
            | What::IsrChanged { .. }
            | What::ElrChanged { .. }
            | What::Reassigned { .. }
            | What::Registered { .. }
            | What::RegistrationWaits { .. }
            | What::Fenced { .. }
            | What::Unfenced { .. }
            | What::ShuttingDown { .. }
            | What::ControllerState { .. } => self.controller(what),
            What::Assigned { .. }
            | What::PartitionsTaken { .. }
            | What::CoordinatorFound { .. }
            | What::CommitSent { .. }
            | What::PollIntervalPassed { .. } => self.member(what),
            What::MemberJoined { .. }
            | What::MemberLeft { .. }
            | What::RebalanceBegun { .. }
            | What::GenerationFormed { .. }
            | What::GroupStable { .. }
            | What::GroupEpochRaised { .. }
            | What::TargetAssigned { .. }
            | What::MemberMoved { .. }
            | What::OffsetsCommitted { .. }
            | What::OffsetsExpired { .. }
            | What::GroupsLoaded { .. } => self.coordinator(what),
            What::State { .. } | What::BrokerEnded { .. } | What::Wiped { .. } => self.process(what),
            _ => self.rest(what),
        }
    }

    fn cause(&mut self, cause: &Cause) -> Described {
        match *cause {
            Cause::Delivered { from, to, kind } => {
                let (from, to) = (self.node(from), self.node(to));
                self.fact("kind", kind.name()).fact("from", from).done(to, "receives")
            }
            Cause::Fired { node, timer } => {
                let who = self.node(node);
                self.fact("timer", timer.kind.name()).maybe_at(timer.partition);
                if let Some(peer) = timer.peer {
                    let peer = self.node(peer);
                    self.fact("peer", peer);
                }
                self.done(who, "fires")
            }
        }
    }

    fn controller(&mut self, what: &What) -> Described {
        let controller = "controller".to_string();
        match what {
            What::LeaderElected {
                partition,
                from,
                to,
                epoch,
            } => {
                self.at(*partition)
                    .fact("from", maybe(from.as_ref()))
                    .fact("to", maybe(to.as_ref()));
                self.fact("epoch", epoch).done(controller, "elects")
            }
            What::IsrChanged { partition, from, to } => self
                .change(*partition, brokers(from), brokers(to))
                .done(controller, "changes-isr"),
            What::ElrChanged { partition, from, to } => self
                .change(*partition, brokers(from), brokers(to))
                .done(controller, "changes-elr"),
            What::Reassigned { partition, from, to } => self
                .change(*partition, brokers(from), brokers(to))
                .done(controller, "reassigns"),
            What::Registered { broker, epoch } => self
                .fact("broker", broker)
                .fact("epoch", epoch)
                .done(controller, "registers"),
            What::RegistrationWaits { broker } => self.fact("broker", broker).done(controller, "delays-registration"),
            What::Fenced { broker } => self.fact("broker", broker).done(controller, "fences"),
            What::Unfenced { broker } => self.fact("broker", broker).done(controller, "unfences"),
            What::ShuttingDown { broker } => self.fact("broker", broker).done(controller, "lets-go"),
            What::ControllerState { up } => self.done(controller, if *up { "is-back" } else { "is-gone" }),
            other => self.rest(other),
        }
    }

    fn process(&mut self, what: &What) -> Described {
        match what {
            What::State { broker, from, to } => self
                .fact("from", from.name())
                .fact("to", to.name())
                .broker(*broker, "is"),
            What::BrokerEnded { broker, how, lost } => {
                for (partition, from, to, _) in lost.iter().filter(|(_, from, to, _)| from < to) {
                    self.at(*partition).fact("lost", range(*from, *to - 1));
                }
                let how = match how {
                    Ended::Killed => "is-killed",
                    Ended::PoweredOff => "loses-power",
                    Ended::Stopped => "stops",
                };
                self.broker(*broker, how)
            }
            What::Wiped { broker, lost } => {
                for (partition, records) in lost {
                    self.at(*partition).fact("lost", offsets(records));
                }
                self.broker(*broker, "loses-disk")
            }
            other => self.rest(other),
        }
    }

    fn rest(&mut self, what: &What) -> Described {
        let operator = "operator".to_string();
        match what {
            What::MessageLost { from, to, kind, by } => {
                let (from, to) = (self.node(*from), self.node(*to));
                let by = match by {
                    LostBy::Cut => "cut",
                    LostBy::Down => "down",
                    LostBy::Dropped => "drop",
                };
                self.fact("kind", kind.name())
                    .fact("from", from)
                    .fact("by", by)
                    .done(to, "misses")
            }
            What::Links { cut, pairs } => {
                let paths: Vec<String> = pairs
                    .iter()
                    .map(|(from, to)| format!("{}>{}", self.world.node_name(*from), self.world.node_name(*to)))
                    .collect();
                self.fact("paths", paths.join(","))
                    .done("network".to_string(), if *cut { "is-cut" } else { "is-healed" })
            }
            What::Slowed { node, factor } => {
                let node = self.node(*node);
                self.fact("factor", factor).done(node, "is-slowed")
            }
            What::TopicCreated { topic, partitions } => self
                .fact("topic", topic)
                .fact("partitions", partitions)
                .done(operator, "creates"),
            What::TopicDeleted { topic, partitions } => self
                .fact("topic", topic)
                .fact("partitions", partitions.len())
                .done(operator, "deletes"),
            What::Configured {
                target,
                name,
                value,
                real,
            } => {
                let real = match real {
                    ConfigReach::Dynamic => "at-once",
                    ConfigReach::AtStart => "at-start-only",
                };
                self.fact("target", target)
                    .fact("name", name)
                    .fact("value", value)
                    .fact("real", real);
                self.done(operator, "sets")
            }
            What::Operator { act, answer } => {
                let answer = answer.map_or("none", |error| error.name());
                self.fact("act", act)
                    .fact("error", answer)
                    .done(operator, "is-answered")
            }
            What::Nothing { node, timer } => {
                let node = self.node(*node);
                self.fact("timer", timer.name()).done(node, "finds-nothing")
            }
            _ => self.done("world".to_string(), "changes"),
        }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_string()
    } else {
        names.join(",")
    }
}

fn brokers(brokers: &[BrokerId]) -> String {
    match brokers {
        [] => "none".to_string(),
        _ => brokers.iter().map(BrokerId::to_string).collect::<Vec<_>>().join(","),
    }
}

fn maybe<T: Display>(value: Option<&T>) -> String {
    value.map_or("none".to_string(), T::to_string)
}

fn range(first: i64, last: i64) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}-{last}")
    }
}

fn offsets(records: &[(i64, u64)]) -> String {
    match (records.first(), records.last()) {
        (Some((first, _)), Some((last, _))) => range(*first, *last),
        _ => "none".to_string(),
    }
}
