//! What the controller did: every operation answers with an [`Outcome`], and its changes are what a real controller
//! would have written into the metadata log, one [`Change`] a record.
//!
//! Operations first collect records from a state that nobody touches, then the records are applied in order. A second
//! record of one request therefore never sees the effect of the first, as in Kafka.
//!
//! Deliberately absent: the metadata log itself (its next offset is a counter, because offsets are broker epochs) and
//! its replication. Mirrors `ControllerResult` and the records of `org.apache.kafka.common.metadata`.

use crate::cluster::Rule;
use crate::cluster::controller::builder::ElrFeature;
use crate::cluster::controller::config::ConfigScope;
use crate::cluster::controller::partition::{DirectoryId, Partition, PartitionDelta};
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use std::sync::Arc;

/// What an operation answered and what it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "the changes are what the rest of the cluster has to hear of"]
pub struct Outcome<T> {
    /// The answer to whoever asked.
    pub answer: T,
    /// The changes, in order, one for each metadata record.
    pub changes: Vec<Change>,
}

impl<T> Outcome<T> {
    /// An answer that changed nothing.
    pub(super) fn refused(answer: T) -> Self {
        Outcome {
            answer,
            changes: Vec::new(),
        }
    }
}

/// A partition that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionChange {
    /// Which one.
    pub at: TopicPartition,
    /// As it was.
    pub before: Arc<Partition>,
    /// As it is.
    pub after: Arc<Partition>,
    /// The rules that decided it, the one that began it first.
    pub rules: Vec<Rule>,
}

/// One change of the controller's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A broker registered: a new incarnation with a new epoch and fenced, or the same one again.
    Registered {
        /// The broker.
        broker: BrokerId,
        /// Its epoch.
        epoch: i64,
    },
    /// A broker's registration was removed.
    Unregistered {
        /// The broker.
        broker: BrokerId,
    },
    /// A broker was fenced.
    Fenced {
        /// The broker.
        broker: BrokerId,
        /// Why: its session ended, or it asked for it.
        rule: Rule,
    },
    /// A broker was unfenced.
    Unfenced {
        /// The broker.
        broker: BrokerId,
    },
    /// A broker began a controlled shutdown.
    ShuttingDown {
        /// The broker.
        broker: BrokerId,
    },
    /// A topic was created; its partitions follow.
    TopicCreated {
        /// Its id.
        topic: TopicId,
        /// Its name.
        name: Arc<str>,
    },
    /// A topic was deleted with all its partitions and configs.
    TopicDeleted {
        /// Its id.
        topic: TopicId,
        /// Its name.
        name: Arc<str>,
    },
    /// A partition was created.
    PartitionCreated {
        /// Which one.
        at: TopicPartition,
        /// As it is.
        partition: Arc<Partition>,
    },
    /// A partition was changed.
    Partition(PartitionChange),
    /// A config was set, or removed (`None`).
    Configured {
        /// Whose config.
        scope: ConfigScope,
        /// Its name.
        name: Arc<str>,
        /// Its value.
        value: Option<Arc<str>>,
    },
    /// The ELR of a topic, or of all topics, was cleared because `min.insync.replicas` was set.
    ElrCleared {
        /// The partitions that had something to clear.
        partitions: Vec<PartitionChange>,
    },
    /// `eligible.leader.replicas.version` was set.
    Feature {
        /// The new version.
        elr: ElrFeature,
    },
}

/// A record on its way to being applied.
#[derive(Debug, Clone)]
pub(super) enum Record {
    Register {
        broker: BrokerId,
        incarnation: u64,
        directory: DirectoryId,
        epoch: i64,
        fencing: Fencing,
    },
    Unregister {
        broker: BrokerId,
    },
    Fence {
        broker: BrokerId,
        rule: Rule,
    },
    Unfence {
        broker: BrokerId,
    },
    ShuttingDown {
        broker: BrokerId,
    },
    Topic {
        topic: TopicId,
        name: Arc<str>,
    },
    Partition {
        at: TopicPartition,
        partition: Partition,
    },
    PartitionChange {
        at: TopicPartition,
        delta: PartitionDelta,
        rules: Vec<Rule>,
    },
    RemoveTopic {
        topic: TopicId,
    },
    Config {
        scope: ConfigScope,
        name: Arc<str>,
        value: Option<Arc<str>>,
    },
    ClearElr {
        topic: Option<TopicId>,
    },
    Feature {
        elr: ElrFeature,
    },
}

/// How a registration record leaves a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fencing {
    /// A new incarnation begins fenced.
    New,
    /// The same incarnation stays as it was.
    AsBefore,
}
