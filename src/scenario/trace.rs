//! Events as lines of text and as JSON: what a trace shows, and what a failed expectation names.
//!
//! One description of each event serves both: who, what, and the facts by name. The text of a trace is compared exactly by
//! stories that carry one, so a change here shows as a difference there.

use super::ast::Value;
use super::look;
use crate::cluster::World;
use crate::cluster::event::{
    AppendedAs, Cause, ConfigReach, Damage, Departure, Ended, Event, Expiry, Loss, LostBy, Outcome, Tag, What,
};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::message::Acks;
use crate::log::{Remade, file_name};
use serde_json::{Value as Json, json};
use std::fmt::Display;
use std::sync::Arc;

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

    fn producer(&mut self, what: &What) -> Described {
        match what {
            What::Handed { tag, topic_partition } => self
                .records(&[tag.to_bits()])
                .maybe_at(*topic_partition)
                .client(tag.client, "takes"),
            What::Accumulated { tag, partition } => self
                .records(&[tag.to_bits()])
                .at(*partition)
                .client(tag.client, "batches"),
            What::ProduceSent {
                client,
                to,
                acks,
                attempt,
                batches,
            } => {
                let acks = match acks {
                    Acks::None => "0".to_owned(),
                    Acks::Leader => "1".to_owned(),
                    Acks::All => "all".to_owned(),
                    Acks::Other(number) => number.to_string(),
                };
                self.fact("to", to).fact("acks", acks).fact("attempt", attempt);
                for (partition, tags) in batches {
                    self.at(*partition).records(tags);
                }
                self.client(*client, "sends")
            }
            What::WillRetry {
                client,
                partition,
                tags,
                error,
            } => self
                .at(*partition)
                .records(tags)
                .fact("error", error.name())
                .client(*client, "will-retry"),
            What::Told {
                tag,
                partition,
                outcome,
            } => {
                self.records(&[tag.to_bits()]).maybe_at(*partition);
                match outcome {
                    Outcome::Acked(offset) => self.fact("offset", offset).client(tag.client, "is-told-acked"),
                    Outcome::Sent => self.client(tag.client, "is-told-sent"),
                    Outcome::Failed(error) => self.fact("error", error.name()).client(tag.client, "is-told-failed"),
                }
            }
            other => self.rest(other),
        }
    }

    fn reader(&mut self, what: &What) -> Described {
        match what {
            What::MetadataLearnt { client, offset } => self.fact("offset", offset).client(*client, "learns-metadata"),
            What::Read {
                client,
                partition,
                records,
            } => {
                let offsets = offsets(records);
                self.at(*partition).fact("offsets", offsets).client(*client, "reads")
            }
            What::Positioned {
                client,
                partition,
                offset,
            } => self.at(*partition).fact("offset", offset).client(*client, "moves-to"),
            What::ConsumerError {
                client,
                partition,
                error,
            } => self
                .maybe_at(*partition)
                .fact("error", error.name())
                .client(*client, "sees-error"),
            What::ClientEnded { client } => self.client(*client, "ends"),
            What::ClientStarted { client } => self.client(*client, "starts"),
            other => self.rest(other),
        }
    }

    fn group(&mut self, group: GroupId) -> &mut Self {
        let name = Arc::clone(self.world.settings().group(group));
        self.fact("group", name)
    }

    fn partitions(&mut self, partitions: &[TopicPartition]) -> &mut Self {
        let names: Vec<String> = partitions.iter().map(|tp| self.world.partition_name(*tp)).collect();
        self.fact("partitions", list(&names))
    }

    fn member(&mut self, what: &What) -> Described {
        match what {
            What::Assigned {
                client,
                group,
                generation,
                partitions,
            } => self
                .group(*group)
                .fact("generation", generation)
                .partitions(partitions)
                .client(*client, "is-assigned"),
            What::PartitionsTaken {
                client,
                group,
                by,
                partitions,
            } => {
                let what = match by {
                    Loss::Revoked => "gives-up",
                    Loss::Lost => "loses",
                };
                self.group(*group).partitions(partitions).client(*client, what)
            }
            What::CoordinatorFound { client, group, broker } => self
                .group(*group)
                .fact("coordinator", broker)
                .client(*client, "finds-coordinator"),
            What::CommitSent { client, group, offsets } => {
                self.group(*group);
                for (partition, offset) in offsets {
                    self.at(*partition).fact("offset", offset);
                }
                self.client(*client, "commits")
            }
            What::PollIntervalPassed { client } => self.client(*client, "polls-too-late"),
            other => self.rest(other),
        }
    }

    fn coordinator(&mut self, what: &What) -> Described {
        match what {
            What::MemberJoined {
                broker,
                group,
                client,
                member,
            } => {
                let client = self.node(Node::Client(*client));
                self.group(*group)
                    .fact("member", client)
                    .fact("id", member)
                    .broker(*broker, "takes-member")
            }
            What::MemberLeft {
                broker,
                group,
                client,
                why,
            } => {
                let why = match why {
                    Departure::Left => "left",
                    Departure::SessionEnded => "session-ended",
                    Departure::DidNotRejoin => "did-not-rejoin",
                    Departure::DidNotRevoke => "did-not-revoke",
                    Departure::Replaced => "replaced",
                };
                let client = self.node(Node::Client(*client));
                self.group(*group)
                    .fact("member", client)
                    .fact("why", why)
                    .broker(*broker, "removes-member")
            }
            What::RebalanceBegun {
                broker,
                group,
                generation,
            } => self
                .group(*group)
                .fact("generation", generation)
                .broker(*broker, "begins-rebalance"),
            What::GenerationFormed {
                broker,
                group,
                generation,
                protocol,
                members,
            } => {
                let members: Vec<String> = members.iter().map(|id| self.node(Node::Client(*id))).collect();
                let protocol = if protocol.is_empty() { "none" } else { protocol };
                self.group(*group)
                    .fact("generation", generation)
                    .fact("protocol", protocol)
                    .fact("members", list(&members))
                    .broker(*broker, "forms-generation")
            }
            What::GroupStable {
                broker,
                group,
                generation,
            } => self
                .group(*group)
                .fact("generation", generation)
                .broker(*broker, "hands-out-shares"),
            What::GroupEpochRaised { broker, group, epoch } => self
                .group(*group)
                .fact("epoch", epoch)
                .broker(*broker, "raises-group-epoch"),
            What::TargetAssigned {
                broker,
                group,
                epoch,
                assignor,
            } => self
                .group(*group)
                .fact("epoch", epoch)
                .fact("assignor", assignor)
                .broker(*broker, "assigns-targets"),
            What::MemberMoved {
                broker,
                group,
                client,
                epoch,
                state,
                assigned,
                revoking,
            } => {
                let client = self.node(Node::Client(*client));
                let names =
                    |all: &[TopicPartition]| all.iter().map(|tp| self.world.partition_name(*tp)).collect::<Vec<_>>();
                let (assigned, revoking) = (names(assigned), names(revoking));
                self.group(*group)
                    .fact("member", client)
                    .fact("epoch", epoch)
                    .fact("state", state)
                    .fact("assigned", list(&assigned))
                    .fact("revoking", list(&revoking))
                    .broker(*broker, "leads-member")
            }
            What::OffsetsCommitted {
                broker, group, offsets, ..
            } => {
                self.group(*group);
                for (topic, partition, offset) in offsets {
                    self.fact("partition", format!("{topic}-{partition}"))
                        .fact("offset", maybe(offset.as_ref()));
                }
                self.broker(*broker, "remembers")
            }
            What::OffsetsExpired {
                broker,
                group,
                partitions,
            } => self
                .group(*group)
                .fact("partitions", partitions)
                .broker(*broker, "forgets"),
            What::GroupsLoaded {
                broker,
                partition,
                groups,
            } => self
                .at(*partition)
                .fact("groups", groups)
                .broker(*broker, "loads-groups"),
            other => self.rest(other),
        }
    }

    fn served(&mut self, what: &What) -> Described {
        match what {
            What::Appended {
                broker,
                partition,
                by,
                batch,
            } => {
                let range = range(batch.base_offset(), batch.last_offset());
                let by = match by {
                    AppendedAs::Leader => "leader",
                    AppendedAs::Follower => "follower",
                };
                self.at(*partition)
                    .fact("offsets", range)
                    .fact("epoch", batch.leader_epoch());
                self.fact("as", by).broker(*broker, "appends")
            }
            What::Duplicate {
                broker,
                partition,
                base,
                last,
                tags,
            } => self
                .at(*partition)
                .fact("offsets", range(*base, *last))
                .records(tags)
                .broker(*broker, "recognises"),
            What::Refused {
                broker,
                partition,
                tags,
                error,
            } => self
                .at(*partition)
                .records(tags)
                .fact("error", error.name())
                .broker(*broker, "refuses"),
            What::AckWaits {
                broker,
                partition,
                required,
            } => self
                .at(*partition)
                .fact("required", required)
                .broker(*broker, "waits-for-replicas"),
            What::Answered {
                broker,
                client,
                partition,
                tags,
                result,
            } => {
                let client = self.node(Node::Client(*client));
                self.fact("to", client).at(*partition).records(tags);
                match result {
                    Ok(offset) => self.fact("offset", offset).broker(*broker, "answers"),
                    Err(error) => self.fact("error", error.name()).broker(*broker, "answers"),
                }
            }
            What::Disconnected { broker, client } => {
                let client = self.node(Node::Client(*client));
                self.fact("from", client).broker(*broker, "disconnects")
            }
            What::FetchAnswered {
                broker,
                to,
                partition,
                from_offset,
                next_offset,
                high_watermark,
            } => {
                let to = self.node(*to);
                self.fact("to", to)
                    .at(*partition)
                    .fact("from", from_offset)
                    .fact("next", next_offset);
                self.fact("hw", high_watermark).broker(*broker, "answers-fetch")
            }
            other => self.rest(other),
        }
    }

    fn replica(&mut self, what: &What) -> Described {
        match what {
            What::HighWatermark {
                broker,
                partition,
                from,
                to,
            } => self
                .at(*partition)
                .fact("from", from)
                .fact("to", to)
                .broker(*broker, "moves-hw"),
            What::LogStart {
                broker,
                partition,
                from,
                to,
            } => self
                .at(*partition)
                .fact("from", from)
                .fact("to", to)
                .broker(*broker, "moves-log-start"),
            What::IsrProposed {
                broker,
                partition,
                from,
                to,
            } => self
                .at(*partition)
                .fact("from", brokers(from))
                .fact("to", brokers(to))
                .broker(*broker, "proposes-isr"),
            What::IsrRefused {
                broker,
                partition,
                error,
            } => self
                .at(*partition)
                .fact("error", error.name())
                .broker(*broker, "is-refused-isr"),
            What::BecameLeader {
                broker,
                partition,
                epoch,
                start,
            } => self
                .at(*partition)
                .fact("epoch", epoch)
                .fact("start", start)
                .broker(*broker, "becomes-leader"),
            What::BecameFollower {
                broker,
                partition,
                leader,
                epoch,
            } => {
                self.at(*partition)
                    .fact("leader", maybe(leader.as_ref()))
                    .fact("epoch", epoch);
                self.broker(*broker, "becomes-follower")
            }
            What::Diverged {
                broker,
                partition,
                epoch,
                end,
            } => self
                .at(*partition)
                .fact("epoch", epoch)
                .fact("end", end)
                .broker(*broker, "diverges"),
            What::Truncated {
                broker,
                partition,
                to,
                from,
                ..
            } => self
                .at(*partition)
                .fact("from", from)
                .fact("to", to)
                .broker(*broker, "truncates"),
            other => self.rest(other),
        }
    }

    fn storage(&mut self, what: &What) -> Described {
        match what {
            What::Rolled {
                broker,
                partition,
                base,
            } => self.at(*partition).fact("base", base).broker(*broker, "rolls"),
            What::Flushed {
                broker,
                partition,
                from,
                to,
            } => self
                .at(*partition)
                .fact("from", from)
                .fact("to", to)
                .broker(*broker, "flushes"),
            What::SegmentDeleted {
                broker,
                partition,
                base,
                next,
                by,
            } => {
                let by = match by {
                    Expiry::Time => "retention.ms",
                    Expiry::Size => "retention.bytes",
                    Expiry::LogStart => "log-start",
                };
                self.at(*partition)
                    .fact("offsets", range(*base, *next - 1))
                    .fact("by", by);
                self.broker(*broker, "deletes-segment")
            }
            What::Compacted {
                broker,
                partition,
                from,
                to,
                kept,
                gone,
            } => {
                let gone = look::offsets(gone.iter().map(|record| record.offset));
                let kept = match kept.is_empty() {
                    true => Value::Absent,
                    false => Value::Offsets(kept.clone()),
                };
                self.at(*partition)
                    .fact("from", from)
                    .fact("to", to)
                    .fact("gone", gone)
                    .fact("kept", kept);
                self.broker(*broker, "compacts")
            }
            What::FilesRemoved { broker, partition } => self.at(*partition).broker(*broker, "removes-files"),
            What::Recovered {
                broker,
                partition,
                clean,
                leo,
                dropped_bytes,
                dropped_segments,
                remade,
                ..
            } => {
                let after = if *clean { "stop" } else { "crash" };
                self.at(*partition)
                    .fact("after", after)
                    .fact("leo", leo)
                    .fact("dropped-bytes", dropped_bytes);
                if !dropped_segments.is_empty() {
                    let bases: Vec<String> = dropped_segments.iter().map(i64::to_string).collect();
                    self.fact("dropped-segments", bases.join(","));
                }
                if !remade.is_empty() {
                    let told = |(base, what): &(i64, Remade)| match what {
                        Remade::Missing => format!("{base}/index"),
                        Remade::Aborted => format!("{base}/txnindex"),
                        Remade::Emptied => format!("{base}/timeindex"),
                    };
                    self.fact("remade", remade.iter().map(told).collect::<Vec<_>>().join(","));
                }
                self.broker(*broker, "recovers")
            }
            What::Checkpointed { broker } => self.broker(*broker, "checkpoints"),
            What::Damaged {
                broker,
                partition,
                damage,
            } => {
                let here = self.at(*partition);
                match damage {
                    Damage::Torn { segment, left, of } => here
                        .fact("torn", file_name(*segment, "log"))
                        .fact("left", left)
                        .fact("of", of),
                    Damage::Shortened { from } => here.fact("cut-at", from),
                    Damage::Flipped { segment, position } => here
                        .fact("flipped", file_name(*segment, "log"))
                        .fact("position", position),
                    Damage::Removed(name) => here.fact("removed", name),
                    Damage::Checkpoint => here.fact("lost", "checkpoint"),
                };
                self.broker(*broker, "is-damaged")
            }
            other => self.rest(other),
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
                .at(*partition)
                .fact("from", brokers(from))
                .fact("to", brokers(to))
                .done(controller, "changes-isr"),
            What::ElrChanged { partition, from, to } => self
                .at(*partition)
                .fact("from", brokers(from))
                .fact("to", brokers(to))
                .done(controller, "changes-elr"),
            What::Reassigned { partition, from, to } => self
                .at(*partition)
                .fact("from", brokers(from))
                .fact("to", brokers(to))
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
