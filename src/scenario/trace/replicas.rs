//! What brokers answered, what became of their replicas, and what their logs did.

use super::{Described, Describer, brokers, maybe, range};
use crate::cluster::event::{AppendedAs, Damage, Expiry, What};
use crate::cluster::ids::Node;
use crate::log::{Remade, file_name};
use crate::scenario::ast::Value;
use crate::scenario::look;

impl Describer<'_> {
    pub(super) fn served(&mut self, what: &What) -> Described {
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

    pub(super) fn replica(&mut self, what: &What) -> Described {
        match what {
            What::HighWatermark {
                broker,
                partition,
                from,
                to,
            } => self.change(*partition, from, to).broker(*broker, "moves-hw"),
            What::LogStart {
                broker,
                partition,
                from,
                to,
            } => self.change(*partition, from, to).broker(*broker, "moves-log-start"),
            What::IsrProposed {
                broker,
                partition,
                from,
                to,
            } => self
                .change(*partition, brokers(from), brokers(to))
                .broker(*broker, "proposes-isr"),
            What::IsrForgotten { broker, partition, isr } => self
                .at(*partition)
                .fact("isr", brokers(isr))
                .broker(*broker, "forgets-isr"),
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
            } => self.change(*partition, from, to).broker(*broker, "truncates"),
            other => self.rest(other),
        }
    }

    pub(super) fn storage(&mut self, what: &What) -> Described {
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
            } => self.change(*partition, from, to).broker(*broker, "flushes"),
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
                self.change(*partition, from, to).fact("gone", gone).fact("kept", kept);
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
}
