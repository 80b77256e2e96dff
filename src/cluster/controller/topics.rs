//! Topics: creation, more partitions, deletion, and the report of a new data directory.
//!
//! Deliberately absent: the choice of brokers (the caller gives each partition's replicas; a real controller can also
//! place them by itself), policies and quotas. Mirrors the topic part of `ReplicationControlManager`.

use crate::cluster::controller::Controller;
use crate::cluster::controller::change::{Outcome, Record};
use crate::cluster::controller::partition::{DirectoryId, Partition};
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::log::Errors;
use crate::sorted::{SortedMap, sort_by};
use std::sync::Arc;

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: Arc<str>,
    /// Its partitions by number.
    pub partitions: SortedMap<u32, Arc<Partition>>,
}

impl Controller {
    /// Creates a topic with one partition for each list of replicas and answers its id.
    ///
    /// Refuses with `TOPIC_ALREADY_EXISTS`, `INVALID_PARTITIONS` without any list, or `INVALID_REPLICA_ASSIGNMENT` if a list
    /// is empty, names a broker twice or one that is not registered, is of another length than the first, or if none of
    /// its brokers is active.
    pub fn create_topic(&mut self, name: &str, assignments: &[Vec<BrokerId>]) -> Outcome<Result<TopicId, Errors>> {
        if self.topic_named(name).is_some() {
            return Outcome::refused(Err(Errors::TopicAlreadyExists));
        }
        if assignments.is_empty() {
            return Outcome::refused(Err(Errors::InvalidPartitions));
        }
        let topic = self.next_topic;
        let factor = assignments.first().map(Vec::len);
        match self.partition_records(topic, 0, factor, assignments) {
            Err(error) => Outcome::refused(Err(error)),
            Ok(partitions) => {
                let mut records = vec![Record::Topic {
                    topic,
                    name: name.into(),
                }];
                records.extend(partitions);
                self.commit(Ok(topic), records)
            }
        }
    }

    /// Adds partitions to a topic until it has `count`, one for each list of replicas.
    ///
    /// Refuses with `UNKNOWN_TOPIC_OR_PARTITION`, `INVALID_PARTITIONS` if that is not more than it has, or
    /// `INVALID_REPLICA_ASSIGNMENT` for the reasons of [`Controller::create_topic`] or another number of lists.
    pub fn create_partitions(
        &mut self,
        topic: TopicId,
        count: u32,
        assignments: &[Vec<BrokerId>],
    ) -> Outcome<Result<(), Errors>> {
        let Some(known) = self.topics.get(&topic) else {
            return Outcome::refused(Err(Errors::UnknownTopicOrPartition));
        };
        let existing = known.partitions.len() as u32;
        if count <= existing {
            return Outcome::refused(Err(Errors::InvalidPartitions));
        }
        if assignments.len() as u64 != u64::from(count - existing) {
            return Outcome::refused(Err(Errors::InvalidReplicaAssignment));
        }
        let factor = known
            .partitions
            .values()
            .next()
            .map(|partition| partition.replicas.len());
        match self.partition_records(topic, existing, factor, assignments) {
            Err(error) => Outcome::refused(Err(error)),
            Ok(records) => self.commit(Ok(()), records),
        }
    }

    fn partition_records(
        &self,
        topic: TopicId,
        first: u32,
        factor: Option<usize>,
        assignments: &[Vec<BrokerId>],
    ) -> Result<Vec<Record>, Errors> {
        let mut records = Vec::new();
        for (partition, replicas) in (first..).zip(assignments) {
            self.validate_assignment(replicas, factor)?;
            let active: Vec<BrokerId> = replicas
                .iter()
                .copied()
                .filter(|&broker| self.is_active(broker))
                .collect();
            if active.is_empty() {
                return Err(Errors::InvalidReplicaAssignment);
            }
            let directories = replicas
                .iter()
                .filter_map(|&broker| self.directory_of(broker))
                .collect();
            let partition_state = Partition::new(replicas.clone(), directories, active);
            records.push(Record::Partition {
                at: TopicPartition { topic, partition },
                partition: partition_state,
            });
        }
        Ok(records)
    }

    /// Checks replicas that somebody wrote down by hand.
    pub(super) fn validate_assignment(&self, replicas: &[BrokerId], factor: Option<usize>) -> Result<(), Errors> {
        let mut sorted = replicas.to_vec();
        sort_by(&mut sorted, BrokerId::cmp);
        sorted.dedup();
        let fits = !replicas.is_empty()
            && sorted.len() == replicas.len()
            && sorted.iter().all(|broker| self.brokers.contains_key(broker))
            && factor.is_none_or(|factor| factor == replicas.len());
        if fits {
            Ok(())
        } else {
            Err(Errors::InvalidReplicaAssignment)
        }
    }

    /// Deletes a topic with its configs, or answers `UNKNOWN_TOPIC_ID`.
    pub fn delete_topic(&mut self, topic: TopicId) -> Outcome<Result<(), Errors>> {
        if !self.topics.contains_key(&topic) {
            return Outcome::refused(Err(Errors::UnknownTopicId));
        }
        self.commit(Ok(()), vec![Record::RemoveTopic { topic }])
    }

    /// A broker reports in which data directory its replica of a partition stands (`AssignReplicasToDirs`).
    ///
    /// The change makes the broker acceptable as leader but elects nobody: it is judged by the directory before it.
    /// Refuses with `STALE_BROKER_EPOCH`, `UNKNOWN_TOPIC_ID`, `UNKNOWN_TOPIC_OR_PARTITION` or, if the broker holds no
    /// replica, `NOT_LEADER_OR_FOLLOWER`.
    pub fn assign_directory(
        &mut self,
        broker: BrokerId,
        epoch: i64,
        at: TopicPartition,
        directory: DirectoryId,
    ) -> Outcome<Result<(), Errors>> {
        if let Err(error) = self.check_epoch(broker, epoch) {
            return Outcome::refused(Err(error));
        }
        let Some(topic) = self.topics.get(&at.topic) else {
            return Outcome::refused(Err(Errors::UnknownTopicId));
        };
        match topic.partitions.get(&at.partition) {
            None => Outcome::refused(Err(Errors::UnknownTopicOrPartition)),
            Some(partition) if !partition.replicas.contains(&broker) => {
                Outcome::refused(Err(Errors::NotLeaderOrFollower))
            }
            Some(_) => {
                let active = |broker| self.is_active(broker);
                let record = self.change(at, active, |builder| builder.directory(broker, directory));
                self.commit(Ok(()), record.into_iter().collect())
            }
        }
    }
}
