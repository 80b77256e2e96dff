//! What producers, readers and groups did.

use super::{Described, Describer, list, maybe, offsets};
use crate::cluster::event::{Departure, Loss, Outcome, What};
use crate::cluster::ids::{GroupId, Node, TopicPartition};
use crate::cluster::message::Acks;
use std::sync::Arc;

impl Describer<'_> {
    pub(super) fn producer(&mut self, what: &What) -> Described {
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

    pub(super) fn reader(&mut self, what: &What) -> Described {
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

    pub(super) fn member(&mut self, what: &What) -> Described {
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

    pub(super) fn coordinator(&mut self, what: &What) -> Described {
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
}
