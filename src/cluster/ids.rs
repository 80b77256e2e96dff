//! The names of things in a cluster: brokers, topics and their partitions, as small numbers.
//!
//! They are copied everywhere, compared in every map and enter every fingerprint, so they are fixed-width integers and
//! never strings. Their order is numeric, which is the order in which everything in the cluster is walked.
//!
//! Deliberately absent: a topic's text name (the world keeps the table from name to [`TopicId`]) and chance in Kafka's topic
//! UUIDs, of which only "the same topic or another one" matters. Mirrors `TopicIdPartition`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A broker's `node.id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BrokerId(pub u16);

/// A topic of this cluster. Numbers are given in the order of creation and never used twice, so that a topic that was
/// deleted and created again under the same name is another topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TopicId(pub u16);

impl TopicId {
    /// The id in the form of Kafka's `Uuid`: always the same for the same topic.
    pub fn uuid(self) -> [u8; 16] {
        const KIND: u64 = 3;
        xxhash_rust::xxh3::xxh3_128_with_seed(&u64::from(self.0).to_be_bytes(), KIND).to_be_bytes()
    }
}

/// One partition of one topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopicPartition {
    /// The topic it belongs to.
    pub topic: TopicId,
    /// Its number within the topic, from 0.
    pub partition: u32,
}

impl fmt::Display for BrokerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A producer or consumer, numbered in the order of declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u16);

/// A consumer group (`group.id`), numbered in the order in which groups are first named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(pub u16);

/// Whoever sends and receives messages. The order is the one in which simultaneous things happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Node {
    /// The controller quorum, which stands apart and counts as one node.
    Controller,
    /// A broker.
    Broker(BrokerId),
    /// A producer or consumer.
    Client(ClientId),
}
