//! What a group under the consumer protocol looks at while it decides: the topics as its broker knows them, configs, time.
//!
//! Mirrors the `CoordinatorMetadataImage` that `GroupMetadataManager` is given. Deliberately absent: racks.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::cluster::actor::Cx;
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::rules::{Rule, Rules};
use crate::cluster::settings::{Micros, Settings};
use crate::config::BrokerConfig;
use crate::sorted::SortedSet;

/// What a group looks at.
pub struct Around<'a> {
    /// The cluster as the coordinator knows it.
    pub image: &'a Image,
    /// Names and configs.
    pub settings: &'a Settings,
    /// The rules in force.
    pub rules: Rules,
    /// The coordinator.
    pub broker: BrokerId,
    /// Virtual time.
    pub now: Micros,
}

impl<'a> Around<'a> {
    /// As an actor sees it.
    pub fn of(cx: &Cx<'a>, image: &'a Image) -> Around<'a> {
        Around {
            image,
            settings: cx.settings,
            rules: cx.rules,
            broker: super::super::out::broker(cx),
            now: cx.now,
        }
    }

    /// The coordinator's configs.
    pub fn config(&self) -> &'a BrokerConfig {
        self.settings.broker(self.broker)
    }

    /// Wall clock in milliseconds.
    pub fn wall_ms(&self) -> i64 {
        self.settings.wall_ms(self.now)
    }

    /// Whether a rule is in force.
    pub fn holds(&self, rule: Rule) -> bool {
        self.rules.on(rule)
    }

    /// The topic of this name and its number of partitions, if it exists.
    pub fn topic(&self, name: &str) -> Option<(TopicId, u32)> {
        let named = self.settings.topics.iter().rev();
        let named = named.filter(|(_, topic)| *topic.name == *name).map(|(id, _)| *id);
        named
            .map(|id| (id, self.partitions(id)))
            .find(|(_, partitions)| *partitions > 0)
    }

    fn partitions(&self, topic: TopicId) -> u32 {
        let at = |partition| TopicPartition { topic, partition };
        self.image.partitions.range(at(0)..=at(u32::MAX)).count() as u32
    }

    /// What tells one state of these topics from another. Kafka's own hash, over the same bytes.
    pub fn hash(&self, topics: &SortedSet<Arc<str>>) -> i64 {
        let hashes = topics.iter().filter_map(|name| {
            let (topic, partitions) = self.topic(name)?;
            Some(topic_hash(topic.uuid(), name, partitions))
        });
        let bytes: Vec<u8> = hashes.flat_map(u64::to_le_bytes).collect();
        if bytes.is_empty() { 0 } else { xxh3_64(&bytes) as i64 }
    }
}

/// `Utils.computeTopicHash`: id, name and partitions; numbers begin with their lowest byte here.
fn topic_hash(uuid: [u8; 16], name: &str, partitions: u32) -> u64 {
    let id = u128::from_be_bytes(uuid);
    let mut bytes = vec![0];
    bytes.extend_from_slice(&((id >> 64) as u64).to_le_bytes());
    bytes.extend_from_slice(&(id as u64).to_le_bytes());
    let units: Vec<u16> = name.encode_utf16().collect();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend_from_slice(&(units.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&partitions.to_le_bytes());
    bytes.extend((0..partitions).flat_map(u32::to_le_bytes));
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_has_the_hash_that_a_real_coordinator_wrote() {
        // Recorded: topic id zvxeoHXdTkK0YiV9Sy5lbg, and the group's hash over this one topic.
        let uuid = 0xcefc5ea0_75dd4e42_b462257d_4b2e656e_u128.to_be_bytes();
        let topic = topic_hash(uuid, "t-k848a", 2);
        assert_eq!(xxh3_64(&topic.to_le_bytes()) as i64, -8_228_800_437_870_675_835);
    }
}
