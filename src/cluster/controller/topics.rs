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
    /// Whether a partition has changed since the last one was added. Nothing but [`Topic::first_listed`] asks for it.
    pub(super) changed: bool,
}

impl Topic {
    /// A topic that has no partition yet.
    pub(super) fn new(name: Arc<str>) -> Self {
        Topic {
            name,
            partitions: SortedMap::new(),
            changed: false,
        }
    }

    /// Stores a partition, new or changed.
    pub(super) fn store(&mut self, partition: u32, state: &Arc<Partition>) {
        self.changed = self.partitions.insert(partition, Arc::clone(state)).is_some();
    }

    /// Whether the hash map of the partitions has grown because one of them changed. With two of them that is all the same.
    pub(super) fn has_grown(&self) -> bool {
        let partitions = self.partitions.len();
        self.changed && partitions > 2 && slot_bits(partitions + 1) > slot_bits(partitions)
    }

    /// The partition that is met first in the hash map of the partitions. A reassignment can give partitions different
    /// numbers of replicas, and a real controller asks the one that it meets first how many a new one must have.
    ///
    /// A number's slot is told by the upper bits of its product with 2⁶⁴ divided by the golden ratio. Slots are walked
    /// upwards, and each from its end. Mirrors `TimelineHashMap`.
    fn first_listed(&self) -> Option<&Arc<Partition>> {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let bits = slot_bits(self.partitions.len()) + u32::from(self.has_grown());
        let is_in_slot_0 = |number: u32| u64::from(number).wrapping_mul(GOLDEN) >> (64 - bits) == 0;
        let mut downwards = self.partitions.iter().rev();
        downwards
            .find(|(number, _)| is_in_slot_0(**number))
            .map(|(_, state)| state)
    }
}

/// How many bits tell a slot in a hash map of so many partitions: it begins with two slots, and has twice as many whenever
/// one more partition would be more than four for three of them. Storing a change counts as one more.
fn slot_bits(partitions: usize) -> u32 {
    let mut bits = 1;
    while partitions * 3 > 4 << bits {
        bits += 1;
    }
    bits
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
    /// `INVALID_REPLICA_ASSIGNMENT` for the reasons of [`Controller::create_topic`] or another number of lists. The length
    /// that they must have is that of one partition's replicas, which need not be the first one's: `Topic::first_listed`.
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
        let factor = known.first_listed().map(|partition| partition.replicas.len());
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
