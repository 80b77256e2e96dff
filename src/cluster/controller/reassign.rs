//! Reassignment: moving a partition to other brokers without losing a copy.
//!
//! While it runs, the assignment holds the old and the new replicas. It is finished when everyone who is being added is
//! in sync; then those being removed go. Cancelling drops the added ones from the assignment as it stands, so the old
//! order, and with it the preferred leader, does not come back. A second reassignment during the first compares with
//! the mixed assignment, so that a broker can stand under "adding" and "removing" at once; it then never finishes.
//!
//! Deliberately absent: throttled replication and the choice of target brokers.
//! Mirrors `PartitionReassignmentReplicas` and `PartitionReassignmentRevert`.

use crate::cluster::Rule;
use crate::cluster::controller::Controller;
use crate::cluster::controller::builder::Election;
use crate::cluster::controller::change::{Outcome, Record};
use crate::cluster::controller::partition::Partition;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::log::Errors;
use crate::sorted::SortedSet;

/// Whether a reassignment may change the number of replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicationFactorChange {
    /// It may; Kafka's default.
    Allowed,
    /// It is refused with `INVALID_REPLICATION_FACTOR`.
    Refused,
}

/// An assignment with what is being added to it and removed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reassignment {
    pub replicas: Vec<BrokerId>,
    pub adding: Vec<BrokerId>,
    pub removing: Vec<BrokerId>,
}

/// What a finished reassignment leaves.
pub(super) struct Completed {
    pub replicas: Vec<BrokerId>,
    pub isr: Vec<BrokerId>,
}

impl Reassignment {
    /// The way from one assignment to another: the target first, then those to be removed in ascending order.
    fn between(current: &[BrokerId], target: &[BrokerId]) -> Self {
        let missing_in = |list: &[BrokerId], other: &[BrokerId]| -> Vec<BrokerId> {
            let unique: SortedSet<BrokerId> = list.iter().copied().filter(|broker| !other.contains(broker)).collect();
            unique.into_iter().collect()
        };
        let removing = missing_in(current, target);
        let replicas = target.iter().chain(&removing).copied().collect();
        Reassignment {
            replicas,
            adding: missing_in(target, current),
            removing,
        }
    }

    /// What is left when those to be removed go at once, whoever is in sync; nothing if no reassignment is under way.
    pub fn at_once(&self, isr: &[BrokerId]) -> Option<Completed> {
        if self.adding.is_empty() && self.removing.is_empty() {
            return None;
        }
        let staying = |list: &[BrokerId]| -> Vec<BrokerId> {
            list.iter()
                .copied()
                .filter(|broker| !self.removing.contains(broker))
                .collect()
        };
        Some(Completed {
            replicas: staying(&self.replicas),
            isr: staying(isr),
        })
    }

    /// What is left when this reassignment can finish with the given ISR, or nothing if it cannot or none is under way.
    pub fn completed(&self, isr: &[BrokerId]) -> Option<Completed> {
        let Completed { replicas, isr } = self.at_once(isr)?;
        if !self.removing.is_empty() && (isr.is_empty() || replicas.is_empty()) {
            return None;
        }
        let in_sync = |list: &[BrokerId]| list.iter().all(|broker| isr.contains(broker));
        if !in_sync(&self.adding) || (self.adding.len() < self.removing.len() && !in_sync(&replicas)) {
            return None;
        }
        Some(Completed { replicas, isr })
    }
}

impl Controller {
    /// Moves a partition to other replicas, or cancels a reassignment that is under way (`None`).
    ///
    /// Answers `UNKNOWN_TOPIC_OR_PARTITION`, `INVALID_REPLICA_ASSIGNMENT` (empty, twice the same, not registered, or
    /// cancelling would need an unclean election), `INVALID_REPLICATION_FACTOR` or `NO_REASSIGNMENT_IN_PROGRESS`.
    pub fn reassign(
        &mut self,
        at: TopicPartition,
        replicas: Option<&[BrokerId]>,
        factor: ReplicationFactorChange,
    ) -> Outcome<Result<(), Errors>> {
        let record = match (self.partition(at), replicas) {
            (None, _) => Err(Errors::UnknownTopicOrPartition),
            (Some(partition), None) => self.cancel_reassignment(at, partition),
            (Some(partition), Some(target)) => self.change_reassignment(at, partition, target, factor),
        };
        match record {
            Ok(record) => self.commit(Ok(()), record.into_iter().collect()),
            Err(error) => Outcome::refused(Err(error)),
        }
    }

    fn cancel_reassignment(&self, at: TopicPartition, partition: &Partition) -> Result<Option<Record>, Errors> {
        if !partition.is_reassigning() {
            return Err(Errors::NoReassignmentInProgress);
        }
        let without_added = |list: &[BrokerId]| -> Vec<BrokerId> {
            list.iter()
                .copied()
                .filter(|broker| !partition.adding.contains(broker))
                .collect()
        };
        let replicas = without_added(&partition.replicas);
        let mut isr = without_added(&partition.isr);
        let unclean = self.unclean_election_enabled(at.topic);
        if isr.is_empty() {
            let first = replicas
                .first()
                .filter(|_| unclean)
                .ok_or(Errors::InvalidReplicaAssignment)?;
            isr.push(*first);
        }
        let wanted = Reassignment {
            replicas,
            adding: Vec::new(),
            removing: Vec::new(),
        };
        let election = if unclean { Election::Unclean } else { Election::Online };
        Ok(self.change(
            at,
            |broker| self.is_active(broker),
            |builder| {
                builder
                    .election(election)
                    .assignment(wanted)
                    .isr(isr, Rule::Reassignment)
            },
        ))
    }

    fn change_reassignment(
        &self,
        at: TopicPartition,
        partition: &Partition,
        target: &[BrokerId],
        factor: ReplicationFactorChange,
    ) -> Result<Option<Record>, Errors> {
        self.validate_assignment(target, None)?;
        if factor == ReplicationFactorChange::Refused && replication_factor(partition) != target.len() {
            return Err(Errors::InvalidReplicationFactor);
        }
        // An empty list leaves what an earlier reassignment put there, which is how a broker gets into both lists.
        let mut wanted = Reassignment::between(&partition.replicas, target);
        if wanted.removing.is_empty() {
            wanted.removing.clone_from(&partition.removing);
        }
        if wanted.adding.is_empty() {
            wanted.adding.clone_from(&partition.adding);
        }
        Ok(self.change(
            at,
            |broker| self.is_active(broker),
            |builder| builder.assignment(wanted),
        ))
    }
}

/// How many replicas a partition has, or will have when its reassignment is finished.
fn replication_factor(partition: &Partition) -> usize {
    let mut replicas: SortedSet<BrokerId> = partition.replicas.iter().chain(&partition.adding).copied().collect();
    replicas.retain(|broker| !partition.removing.contains(broker));
    replicas.len()
}
