//! The metadata image: what the controller has decided, as one node knows it.
//!
//! Every broker holds the image it has heard of last, and so does every client; they differ while news travels, and
//! that difference is what makes a zombie. Mirrors `MetadataImage`; features, ACLs and quotas are left out.

use std::sync::Arc;

use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::sorted::SortedMap;

/// Where a partition stands, as the controller wrote it (`PartitionRegistration`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionImage {
    /// The assignment; the first is the preferred leader.
    pub replicas: Vec<BrokerId>,
    /// The committed in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// The leader, if there is one.
    pub leader: Option<BrokerId>,
    /// Grows whenever leadership is given (or taken away).
    pub leader_epoch: i32,
    /// Grows with every change.
    pub partition_epoch: i32,
    /// Whether the leader was elected uncleanly and has not reported back yet.
    pub recovering: bool,
}

/// What the image says of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerImage {
    /// The number of the registration.
    pub epoch: i64,
    /// Fenced: may neither lead nor be in an ISR.
    pub fenced: bool,
    /// On its way out: may not join an ISR.
    pub in_controlled_shutdown: bool,
}

/// A consistent picture of the cluster at one offset of the metadata log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Offset of the metadata log that the image includes.
    pub offset: i64,
    /// All partitions.
    pub partitions: SortedMap<TopicPartition, Arc<PartitionImage>>,
    /// All registered brokers.
    pub brokers: SortedMap<BrokerId, BrokerImage>,
}

impl Image {
    /// The partition, if it exists.
    pub fn partition(&self, tp: TopicPartition) -> Option<&PartitionImage> {
        self.partitions.get(&tp).map(Arc::as_ref)
    }

    /// The leader of a partition, if it has one.
    pub fn leader(&self, tp: TopicPartition) -> Option<BrokerId> {
        self.partition(tp)?.leader
    }

    /// Whether a replica may join an ISR: registered, not fenced, not shutting down (semantics of `isReplicaIsrEligible`).
    pub fn isr_eligible(&self, broker: BrokerId) -> bool {
        self.brokers
            .get(&broker)
            .is_some_and(|b| !b.fenced && !b.in_controlled_shutdown)
    }

    /// Whether a broker is registered and not fenced.
    pub fn is_alive(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(|b| !b.fenced)
    }

    /// The broker epoch of a registered broker.
    pub fn broker_epoch(&self, broker: BrokerId) -> Option<i64> {
        self.brokers.get(&broker).map(|b| b.epoch)
    }
}
