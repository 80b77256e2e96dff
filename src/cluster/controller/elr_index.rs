//! The index by which the controller finds the partitions whose ELR names a broker.
//!
//! It would be no more than a shortcut, were it kept exactly: a real controller forgets to update it when it clears ELRs
//! because `min.insync.replicas` was set. Entries stay behind, a broker that enters the ELR again is listed twice, and
//! the partition is then changed twice when that broker registers after an unclean end: two records, two partition
//! epochs. Recordings show it, so the index is kept as Kafka keeps it, with the way it removes included.
//!
//! Deliberately absent: the index of ISR members, which is exact and therefore computed; and that such an entry outlives
//! its topic, on which a real controller fails with UNKNOWN_SERVER_ERROR when that broker registers after an unclean end
//! or is unregistered.
//! Mirrors `BrokersToElrs`.

use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::sorted::SortedMap;

/// For each broker and topic the partitions that are listed, repetitions included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ElrIndex {
    entries: SortedMap<(BrokerId, TopicId), Vec<u32>>,
}

impl ElrIndex {
    /// Notes that a partition's ELR has changed.
    pub fn update(&mut self, at: TopicPartition, before: &[BrokerId], after: &[BrokerId]) {
        for &broker in before.iter().filter(|broker| !after.contains(broker)) {
            self.remove(broker, at);
        }
        for &broker in after.iter().filter(|broker| !before.contains(broker)) {
            self.entries.entry((broker, at.topic)).or_default().push(at.partition);
        }
    }

    /// Kafka makes the new list one shorter and fills it with what is not the removed partition. If that was listed
    /// twice, the rest of the list keeps its zeros, which then read as partition 0.
    fn remove(&mut self, broker: BrokerId, at: TopicPartition) {
        let key = (broker, at.topic);
        let Some(listed) = self.entries.get_mut(&key) else {
            return;
        };
        let length = listed.len().saturating_sub(1);
        listed.retain(|&partition| partition != at.partition);
        listed.resize(length, 0);
        if listed.is_empty() {
            self.entries.remove(&key);
        }
    }

    /// Forgets a deleted topic.
    pub fn remove_topic(&mut self, topic: TopicId) {
        self.entries.retain(|&(_, listed), _| listed != topic);
    }

    /// The partitions listed for a broker.
    pub fn partitions(&self, broker: BrokerId) -> impl Iterator<Item = TopicPartition> + '_ {
        let range = (broker, TopicId(0))..=(broker, TopicId(u16::MAX));
        self.entries
            .range(range)
            .flat_map(|(&(_, topic), listed)| listed.iter().map(move |&partition| TopicPartition { topic, partition }))
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&(BrokerId, TopicId), &Vec<u32>)> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKER: BrokerId = BrokerId(1);

    fn at(partition: u32) -> TopicPartition {
        TopicPartition {
            topic: TopicId(0),
            partition,
        }
    }

    fn listed(index: &ElrIndex) -> Vec<u32> {
        index.partitions(BROKER).map(|at| at.partition).collect()
    }

    #[test]
    fn an_entry_goes_with_its_member() {
        let mut index = ElrIndex::default();
        index.update(at(3), &[], &[BROKER]);
        index.update(at(4), &[], &[BROKER]);
        assert_eq!(listed(&index), [3, 4]);
        index.update(at(3), &[BROKER], &[]);
        assert_eq!(listed(&index), [4]);
    }

    #[test]
    fn an_entry_that_a_clearing_left_behind_is_listed_twice_and_removed_with_a_trace() {
        let mut index = ElrIndex::default();
        index.update(at(3), &[], &[BROKER]);
        index.update(at(3), &[], &[BROKER]);
        assert_eq!(listed(&index), [3, 3]);
        index.update(at(3), &[BROKER], &[]);
        assert_eq!(listed(&index), [0]);
    }
}
