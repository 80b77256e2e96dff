//! What an event is about: partitions, replicas, brokers, clients, groups.
//!
//! Deliberately absent: records, which events name by their tags, and which events change the value of what.

use crate::cluster::event::{Cause, What};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};

/// What an event may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A partition, wherever its replicas are.
    Partition(TopicPartition),
    /// One replica.
    Replica(TopicPartition, BrokerId),
    /// A broker.
    Broker(BrokerId),
    /// A producer or consumer.
    Client(ClientId),
    /// A consumer group.
    Group(GroupId),
}

/// The partition that an event is about, if it is about one.
pub fn partition_of(what: &What) -> Option<TopicPartition> {
    let (mut found, mut several) = (None, false);
    about(what, |subject| {
        if let Subject::Partition(partition) = subject {
            several |= found.is_some_and(|other| other != partition);
            found = Some(partition);
        }
    });
    found.filter(|_| !several)
}

/// Calls `f` with every subject of an event, its records left out. Arrivals and idle timers are about nothing: they would
/// hide what really happened.
pub(crate) fn about(what: &What, mut f: impl FnMut(Subject)) {
    use Subject::{Broker, Client, Group, Partition, Replica};
    let mut replica = |partition, broker| {
        f(Replica(partition, broker));
        f(Partition(partition));
        f(Broker(broker));
    };
    match what {
        What::Step(Cause::Delivered { .. } | Cause::Fired { .. }) | What::Nothing { .. } => {}

        What::Appended { broker, partition, .. }
        | What::Duplicate { broker, partition, .. }
        | What::Refused { broker, partition, .. }
        | What::AckWaits { broker, partition, .. }
        | What::FetchAnswered { broker, partition, .. }
        | What::HighWatermark { broker, partition, .. }
        | What::LogStart { broker, partition, .. }
        | What::IsrProposed { broker, partition, .. }
        | What::IsrForgotten { broker, partition, .. }
        | What::IsrRefused { broker, partition, .. }
        | What::BecameLeader { broker, partition, .. }
        | What::BecameFollower { broker, partition, .. }
        | What::Diverged { broker, partition, .. }
        | What::Truncated { broker, partition, .. }
        | What::Rolled { broker, partition, .. }
        | What::Flushed { broker, partition, .. }
        | What::SegmentDeleted { broker, partition, .. }
        | What::Compacted { broker, partition, .. }
        | What::FilesRemoved { broker, partition }
        | What::Recovered { broker, partition, .. }
        | What::Damaged { broker, partition, .. } => replica(*partition, *broker),
        What::Answered {
            broker,
            partition,
            client,
            ..
        } => {
            replica(*partition, *broker);
            f(Client(*client));
        }

        What::Handed { tag, topic_partition } => {
            f(Client(tag.client));
            topic_partition.iter().for_each(|partition| f(Partition(*partition)));
        }
        What::Accumulated { tag, partition } => {
            f(Client(tag.client));
            f(Partition(*partition));
        }
        What::Told { tag, partition, .. } => {
            f(Client(tag.client));
            partition.iter().for_each(|partition| f(Partition(*partition)));
        }
        What::ProduceSent { client, .. }
        | What::MetadataLearnt { client, .. }
        | What::ClientEnded { client }
        | What::ClientStarted { client } => {
            f(Client(*client));
        }
        What::WillRetry { client, partition, .. }
        | What::Read { client, partition, .. }
        | What::Positioned { client, partition, .. } => {
            f(Client(*client));
            f(Partition(*partition));
        }
        What::ConsumerError { client, partition, .. } => {
            f(Client(*client));
            partition.iter().for_each(|partition| f(Partition(*partition)));
        }

        What::Assigned {
            client,
            group,
            partitions,
            ..
        }
        | What::PartitionsTaken {
            client,
            group,
            partitions,
            ..
        } => {
            partitions.iter().for_each(|partition| f(Partition(*partition)));
            f(Group(*group));
            f(Client(*client));
        }
        What::CoordinatorFound { client, group, .. } | What::CommitSent { client, group, .. } => {
            f(Group(*group));
            f(Client(*client));
        }
        What::PollIntervalPassed { client } => {
            f(Client(*client));
        }
        What::MemberJoined {
            broker, group, client, ..
        }
        | What::MemberLeft {
            broker, group, client, ..
        }
        | What::MemberMoved {
            broker, group, client, ..
        } => {
            f(Client(*client));
            f(Group(*group));
            f(Broker(*broker));
        }
        What::RebalanceBegun { broker, group, .. }
        | What::GenerationFormed { broker, group, .. }
        | What::GroupStable { broker, group, .. }
        | What::GroupEpochRaised { broker, group, .. }
        | What::TargetAssigned { broker, group, .. }
        | What::OffsetsCommitted { broker, group, .. }
        | What::OffsetsExpired { broker, group, .. } => {
            f(Group(*group));
            f(Broker(*broker));
        }
        What::GroupsLoaded { broker, partition, .. } => {
            f(Replica(*partition, *broker));
            f(Partition(*partition));
            f(Broker(*broker));
        }

        What::LeaderElected { partition, .. }
        | What::IsrChanged { partition, .. }
        | What::ElrChanged { partition, .. }
        | What::Reassigned { partition, .. } => {
            f(Partition(*partition));
        }

        What::Checkpointed { broker }
        | What::Registered { broker, .. }
        | What::RegistrationWaits { broker, .. }
        | What::Fenced { broker }
        | What::Unfenced { broker }
        | What::ShuttingDown { broker }
        | What::Disconnected { broker, .. }
        | What::State { broker, .. } => {
            f(Broker(*broker));
        }
        What::BrokerEnded { broker, lost, .. } => {
            lost.iter().for_each(|part| f(Replica(part.0, *broker)));
            lost.iter().for_each(|part| f(Partition(part.0)));
            f(Broker(*broker));
        }
        What::Wiped { broker, lost } => {
            lost.iter().for_each(|part| f(Replica(part.0, *broker)));
            lost.iter().for_each(|part| f(Partition(part.0)));
            f(Broker(*broker));
        }

        What::MessageLost { from, to, .. } => {
            [from, to].into_iter().for_each(|node| node_subject(*node, &mut f));
        }
        What::Slowed { node, .. } => {
            node_subject(*node, &mut f);
        }
        What::Links { pairs, .. } => {
            pairs
                .iter()
                .flat_map(|pair| [pair.0, pair.1])
                .for_each(|node| node_subject(node, &mut f));
        }
        What::ControllerState { .. }
        | What::TopicCreated { .. }
        | What::TopicDeleted { .. }
        | What::Configured { .. }
        | What::Operator { .. } => {}
    }
}

fn node_subject(node: Node, f: &mut impl FnMut(Subject)) {
    match node {
        Node::Broker(broker) => f(Subject::Broker(broker)),
        Node::Client(client) => f(Subject::Client(client)),
        Node::Controller => {}
    }
}
