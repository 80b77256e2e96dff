//! Elections that somebody asks for: an operator, or the controller's own clock.
//!
//! Deliberately absent: the limit of elections in one run (1000). Mirrors `ReplicationControlManager.electLeaders`,
//! `maybeBalancePartitionLeaders` and `maybeElectUncleanLeaders`.

use crate::cluster::controller::Controller;
use crate::cluster::controller::builder::Election;
use crate::cluster::controller::change::{Outcome, Record};
use crate::cluster::ids::TopicPartition;
use crate::log::Errors;

/// What an operator can ask for with `ElectLeaders`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElectionType {
    /// The first replica shall lead.
    Preferred,
    /// Whoever is alive shall lead a partition that nobody leads.
    Unclean,
}

/// The answers of an `ElectLeaders`, one a partition.
pub type ElectionAnswers = Vec<(TopicPartition, Result<(), Errors>)>;

impl Controller {
    /// Elects leaders of these partitions, or (`None`) of all that need it; those that do not are then left out of the
    /// answer.
    ///
    /// Refuses with `UNKNOWN_TOPIC_OR_PARTITION`, `ELECTION_NOT_NEEDED`, `PREFERRED_LEADER_NOT_AVAILABLE` or
    /// `ELIGIBLE_LEADERS_NOT_AVAILABLE`.
    pub fn elect_leaders(
        &mut self,
        kind: ElectionType,
        partitions: Option<&[TopicPartition]>,
    ) -> Outcome<ElectionAnswers> {
        let asked: Vec<TopicPartition> = match partitions {
            Some(partitions) => partitions.to_vec(),
            None => self.partitions().map(|(at, _)| at).collect(),
        };
        let mut answers = Vec::new();
        let mut records = Vec::new();
        for at in asked {
            let elected = self.elect_one(kind, at);
            let answer = elected.map(|record| records.push(record));
            if partitions.is_some() || answer != Err(Errors::ElectionNotNeeded) {
                answers.push((at, answer));
            }
        }
        self.commit(answers, records)
    }

    fn elect_one(&self, kind: ElectionType, at: TopicPartition) -> Result<Record, Errors> {
        let partition = self.partition(at).ok_or(Errors::UnknownTopicOrPartition)?;
        let (needed, election, failure) = match kind {
            ElectionType::Preferred => (
                !partition.has_preferred_leader(),
                Election::Preferred,
                Errors::PreferredLeaderNotAvailable,
            ),
            ElectionType::Unclean => (
                partition.leader.is_none(),
                Election::Unclean,
                Errors::EligibleLeadersNotAvailable,
            ),
        };
        if !needed {
            return Err(Errors::ElectionNotNeeded);
        }
        self.change(
            at,
            |broker| self.is_active(broker),
            |builder| builder.election(election),
        )
        .ok_or(failure)
    }

    /// Whether some partition is not led by its preferred replica; a partition without leader counts.
    pub fn is_imbalanced(&self) -> bool {
        self.partitions()
            .any(|(_, partition)| !partition.has_preferred_leader())
    }

    /// The periodic balancing (`auto.leader.rebalance.enable`): a preferred election wherever another one leads.
    pub fn balance(&mut self) -> Outcome<()> {
        let imbalanced = self
            .partitions()
            .filter(|(_, partition)| !partition.has_preferred_leader());
        let records = imbalanced
            .filter_map(|(at, _)| {
                self.change(
                    at,
                    |broker| self.is_active(broker),
                    |builder| builder.election(Election::Preferred),
                )
            })
            .collect();
        self.commit((), records)
    }

    /// The periodic unclean election of partitions without a leader, where `unclean.leader.election.enable` allows it.
    pub fn elect_unclean(&mut self) -> Outcome<()> {
        let offline = self.partitions_without_leader().into_iter();
        let allowed = offline.filter(|at| self.unclean_election_enabled(at.topic));
        let records = allowed
            .filter_map(|at| self.elect_one(ElectionType::Unclean, at).ok())
            .collect();
        self.commit((), records)
    }
}
