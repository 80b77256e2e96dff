//! `AlterPartition`: a leader asks for another ISR.
//!
//! The order of the checks is part of the protocol, because a leader draws different conclusions from different
//! errors. Whatever passes goes through the [`ChangeBuilder`](super::builder), which can also finish a reassignment
//! and move the leader; then the answer is `NEW_LEADER_ELECTED` although the change was made.
//!
//! Deliberately absent: versions before 3, which send no broker epochs with the ISR.
//! Mirrors `ReplicationControlManager.alterPartition`.

use crate::cluster::Rule;
use crate::cluster::controller::Controller;
use crate::cluster::controller::builder::Election;
use crate::cluster::controller::change::{Outcome, Record};
use crate::cluster::controller::partition::{LeaderRecoveryState, Partition};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::log::Errors;
use crate::sorted::sort_by;
use std::sync::Arc;

/// What a leader asks for one of its partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterPartition {
    /// The partition.
    pub at: TopicPartition,
    /// The leader epoch that the sender knows.
    pub leader_epoch: i32,
    /// The partition epoch that the sender knows.
    pub partition_epoch: i32,
    /// Whether the leader has recovered from an unclean election.
    pub recovery: LeaderRecoveryState,
    /// The wanted ISR, with the broker epoch of each member as the leader knows it, −1 for unknown.
    pub isr: Vec<(BrokerId, i64)>,
}

/// The answer for one partition: the partition as it stands now, or why not.
pub type AlterPartitionAnswer = (TopicPartition, Result<Arc<Partition>, Errors>);

impl Controller {
    /// Handles a leader's request. The whole request is refused with `STALE_BROKER_EPOCH` if the epoch is not that of
    /// the sender's registration; otherwise each partition has its own answer.
    pub fn alter_partition(
        &mut self,
        broker: BrokerId,
        epoch: i64,
        requests: &[AlterPartition],
    ) -> Outcome<Result<Vec<AlterPartitionAnswer>, Errors>> {
        if let Err(error) = self.check_epoch(broker, epoch) {
            return Outcome::refused(Err(error));
        }
        let mut answers = Vec::with_capacity(requests.len());
        let mut records = Vec::new();
        for request in requests {
            let (answer, record) = self.alter_one(broker, request);
            answers.push((request.at, answer));
            records.extend(record);
        }
        self.commit(Ok(answers), records)
    }

    fn alter_one(
        &self,
        sender: BrokerId,
        request: &AlterPartition,
    ) -> (Result<Arc<Partition>, Errors>, Option<Record>) {
        let stored = match self.validate_alter_partition(sender, request) {
            Ok(stored) => stored,
            Err(error) => return (Err(error), None),
        };
        let unclean = self.unclean_election_enabled(request.at.topic);
        let isr = request.isr.iter().map(|&(member, _)| member).collect();
        let record = self.change(
            request.at,
            |broker| self.is_active(broker),
            |builder| {
                builder
                    .election(if unclean { Election::Unclean } else { Election::Online })
                    .isr(isr, Rule::IsrCommit)
                    .recovery(request.recovery)
            },
        );
        let Some(Record::PartitionChange { delta, .. }) = &record else {
            return (Ok(Arc::clone(stored)), record);
        };
        let moved = delta.leader.is_some_and(|leader| leader != Some(sender));
        let answer = if moved {
            Err(Errors::NewLeaderElected)
        } else {
            Ok(Arc::new(stored.merge(delta, self.settings.rules)))
        };
        (answer, record)
    }

    /// The first check that fails decides.
    fn validate_alter_partition(&self, sender: BrokerId, request: &AlterPartition) -> Result<&Arc<Partition>, Errors> {
        let topic = self.topics.get(&request.at.topic).ok_or(Errors::UnknownTopicId)?;
        let stored = topic
            .partitions
            .get(&request.at.partition)
            .ok_or(Errors::UnknownTopicOrPartition)?;
        let from_the_future =
            request.leader_epoch > stored.leader_epoch || request.partition_epoch > stored.partition_epoch;
        let failed = if from_the_future {
            Some(Errors::NotController)
        } else if request.leader_epoch < stored.leader_epoch {
            Some(Errors::FencedLeaderEpoch)
        } else if stored.leader != Some(sender) {
            Some(Errors::InvalidRequest)
        } else if request.partition_epoch < stored.partition_epoch {
            Some(Errors::InvalidUpdateVersion)
        } else if !is_valid_isr(&request.isr, stored, sender) || !is_valid_recovery(request, stored) {
            Some(Errors::InvalidRequest)
        } else if !request
            .isr
            .iter()
            .all(|&(member, epoch)| self.is_eligible(member, epoch))
        {
            Some(Errors::IneligibleReplica)
        } else {
            None
        };
        failed
            .filter(|_| self.holds(Rule::AlterValidate))
            .map_or(Ok(stored), Err)
    }

    /// Whether a broker may join an ISR: registered, active, and the registration that the leader knows.
    fn is_eligible(&self, broker: BrokerId, epoch: i64) -> bool {
        self.brokers
            .get(&broker)
            .is_some_and(|known| known.is_active() && (epoch == -1 || epoch == known.epoch))
    }
}

/// An ISR holds replicas only, each once, and the leader.
fn is_valid_isr(isr: &[(BrokerId, i64)], stored: &Partition, leader: BrokerId) -> bool {
    let mut members: Vec<BrokerId> = isr.iter().map(|&(member, _)| member).collect();
    sort_by(&mut members, BrokerId::cmp);
    members.dedup();
    members.len() == isr.len() && members.contains(&leader) && members.iter().all(|id| stored.replicas.contains(id))
}

/// While it recovers the leader is alone in the ISR, and recovery does not begin by asking for it.
fn is_valid_recovery(request: &AlterPartition, stored: &Partition) -> bool {
    match request.recovery {
        LeaderRecoveryState::Recovered => true,
        LeaderRecoveryState::Recovering => request.isr.len() <= 1 && stored.recovery == LeaderRecoveryState::Recovering,
    }
}
