//! What happened in consumer groups, in one line for each event.

use crate::cluster::event::{Departure, Loss, What};
use crate::cluster::group::protocol::AWAY;
use crate::cluster::{ClientId, Node, TopicPartition};
use crate::ui::view::names::Names;

/// What happened, if it concerns a group.
pub fn line(what: &What, names: Names<'_>) -> Option<String> {
    let client = |id: &ClientId| names.subject(Node::Client(*id));
    let all = |partitions: &[TopicPartition]| {
        let names: Vec<String> = partitions.iter().map(|tp| names.partition(*tp)).collect();
        if names.is_empty() {
            "nothing".to_string()
        } else {
            names.join(", ")
        }
    };
    Some(match what {
        What::Assigned {
            client: id, partitions, ..
        } => format!("{} reads {} from now on.", client(id), all(partitions)),
        What::PartitionsTaken {
            client: id,
            by: Loss::Revoked,
            partitions,
            ..
        } => format!("{} gives up {}.", client(id), all(partitions)),
        What::PartitionsTaken {
            client: id, partitions, ..
        } => format!("{} has lost {}: it is no longer a member.", client(id), all(partitions)),
        What::CoordinatorFound { client: id, broker, .. } => {
            format!("{} learns that broker {broker} coordinates its group.", client(id))
        }
        What::CommitSent {
            client: id, offsets, ..
        } => {
            let offsets: Vec<String> = offsets
                .iter()
                .map(|(tp, offset)| format!("{offset} in {}", names.partition(*tp)))
                .collect();
            format!("{} commits offset {}.", client(id), offsets.join(", "))
        }
        What::PollIntervalPassed { client: id } => {
            format!(
                "{}'s application has not polled for too long, and so it leaves.",
                client(id)
            )
        }
        What::MemberJoined { broker, client: id, .. } => {
            format!("Broker {broker} takes {} into the group.", names.one(*id))
        }
        What::MemberLeft {
            broker,
            client: id,
            why,
            ..
        } => {
            let why = match why {
                Departure::Left => "it said goodbye",
                Departure::SessionEnded => "it was not heard for a whole session",
                Departure::DidNotRejoin => "it did not join again in time",
                Departure::DidNotRevoke => "it did not give up its partitions in time",
                Departure::Replaced => "a newer process has its name",
            };
            format!("Broker {broker} removes {} from the group: {why}.", names.one(*id))
        }
        What::RebalanceBegun { broker, .. } => format!("Broker {broker} lets the whole group join again."),
        What::GenerationFormed {
            broker,
            generation,
            members,
            ..
        } if members.is_empty() => format!("Broker {broker} keeps an empty group, generation {generation}."),
        What::GenerationFormed {
            broker,
            generation,
            protocol,
            members,
            ..
        } => {
            let members: Vec<String> = members.iter().map(|id| names.one(*id)).collect();
            format!(
                "Broker {broker} forms generation {generation} of {}, to be assigned by {protocol}.",
                members.join(", ")
            )
        }
        What::GroupStable { broker, generation, .. } => {
            format!("Broker {broker} has handed out the shares of generation {generation}.")
        }
        What::GroupEpochRaised { broker, epoch, .. } => {
            format!("Broker {broker}: the group has changed, it is at epoch {epoch} now.")
        }
        What::TargetAssigned {
            broker,
            epoch,
            assignor,
            ..
        } => format!("Broker {broker} works out by {assignor} who is to read what at epoch {epoch}."),
        What::MemberMoved {
            broker,
            client: id,
            epoch: AWAY,
            assigned,
            ..
        } => format!(
            "Broker {broker} keeps {} for {} until it is back.",
            all(assigned),
            names.one(*id)
        ),
        What::MemberMoved {
            broker,
            client: id,
            epoch,
            assigned,
            revoking,
            ..
        } if revoking.is_empty() => format!(
            "Broker {broker} lets {} read {} at epoch {epoch}.",
            names.one(*id),
            all(assigned)
        ),
        What::MemberMoved {
            broker,
            client: id,
            revoking,
            ..
        } => format!("Broker {broker} asks {} to give up {}.", names.one(*id), all(revoking)),
        What::OffsetsCommitted { broker, offsets, .. } => {
            let offset = |(topic, partition, offset): &(std::sync::Arc<str>, u32, Option<i64>)| match offset {
                Some(offset) => format!("{offset} in {topic}-{partition}"),
                None => format!("none in {topic}-{partition}"),
            };
            let offsets: Vec<String> = offsets.iter().map(offset).collect();
            format!(
                "Broker {broker}: the group's commit counts now, {}.",
                offsets.join(", ")
            )
        }
        What::OffsetsExpired { broker, partitions, .. } => {
            format!("Broker {broker} forgets {partitions} commits of a group without members.")
        }
        What::GroupsLoaded { broker, groups, .. } => {
            format!("Broker {broker} coordinates {groups} groups from now on, as the log of their commits says.")
        }
        _ => return None,
    })
}
