//! Which names a scenario has declared so far, and how many records each producer has sent.
//!
//! The parser asks it in two places: a word such as `orders-1` is a topic's whole name if a topic is declared under it
//! and else a partition, and a subject of an expectation must name something that is declared above it.
//!
//! Deliberately absent: whether an act can apply to what it names. Only the world knows that, and refuses it.

use super::ast::{Act, Layout, Statement};
use crate::sorted::{SortedMap, SortedSet};

/// The names declared so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    brokers: u16,
    /// For each topic the most partitions that it ever had.
    topics: SortedMap<String, u32>,
    /// For each producer the records sent.
    producers: SortedMap<String, u64>,
    consumers: SortedSet<String>,
    groups: SortedSet<String>,
}

/// The topic that Kafka makes by itself with the first group, and how many partitions it can have at most.
const OFFSETS_TOPIC: (&str, u32) = ("__consumer_offsets", u32::MAX);

impl Names {
    /// Learns what a statement declares.
    pub fn declare(&mut self, statement: &Statement) {
        match statement {
            Statement::Brokers { count, .. } => self.brokers = *count,
            Statement::Topic { name, layout, .. } => {
                let partitions = match layout {
                    Layout::Counts { partitions, .. } => partitions.unwrap_or(1),
                    Layout::Assigned(assigned) => u32::try_from(assigned.len()).unwrap_or(u32::MAX),
                };
                self.declare_topic(name, partitions);
            }
            Statement::Producer { name, .. } => {
                self.producers.entry(name.clone()).or_default();
            }
            Statement::Consumer { name, group, .. } => {
                self.consumers.insert(name.clone());
                if let Some(group) = group {
                    self.declare_group(group);
                }
            }
            Statement::Act(Act::Send(send)) => {
                if let Some(sent) = self.producers.get_mut(&send.producer) {
                    *sent = sent.saturating_add(send.count.unwrap_or(1));
                }
            }
            Statement::Act(Act::Partitions { topic, count }) => {
                if let Some(partitions) = self.topics.get_mut(topic) {
                    *partitions = (*partitions).max(*count);
                }
            }
            Statement::Act(Act::Reset { group, .. }) => self.declare_group(group),
            _ => {}
        }
    }

    fn declare_topic(&mut self, name: &str, partitions: u32) {
        let known = self.topics.entry(name.to_string()).or_default();
        *known = (*known).max(partitions);
    }

    fn declare_group(&mut self, name: &str) {
        self.groups.insert(name.to_string());
        self.declare_topic(OFFSETS_TOPIC.0, OFFSETS_TOPIC.1);
    }

    /// How many brokers there are; 0 before they are declared.
    pub fn brokers(&self) -> u16 {
        self.brokers
    }

    /// The most partitions that a topic ever had, if it was ever declared.
    pub fn partitions(&self, topic: &str) -> Option<u32> {
        self.topics.get(topic).copied()
    }

    /// How many records a producer has sent, if it is declared.
    pub fn sent(&self, producer: &str) -> Option<u64> {
        self.producers.get(producer).copied()
    }

    /// Whether a consumer is declared.
    pub fn has_consumer(&self, name: &str) -> bool {
        self.consumers.contains(name)
    }

    /// Whether a group is declared.
    pub fn has_group(&self, name: &str) -> bool {
        self.groups.contains(name)
    }

    /// All topics.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.topics.keys().map(String::as_str)
    }

    /// All producers.
    pub fn producers(&self) -> impl Iterator<Item = &str> {
        self.producers.keys().map(String::as_str)
    }

    /// All consumers.
    pub fn consumers(&self) -> impl Iterator<Item = &str> {
        self.consumers.iter().map(String::as_str)
    }

    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }
}

/// What a line that could not be read would have declared. Without this every later line that uses the name would be
/// called faulty too, and the one real fault would be hard to find.
impl Names {
    /// Takes it that `verb name …` declared its name, with as many partitions, records or brokers as may be asked for.
    pub(super) fn assume(&mut self, verb: &str, name: Option<&str>) {
        match (verb, name) {
            ("brokers", _) => self.brokers = u16::MAX,
            ("topic", Some(name)) => self.declare_topic(name, u32::MAX),
            ("producer" | "send", Some(name)) => {
                self.producers.insert(name.to_string(), u64::MAX);
            }
            ("consumer", Some(name)) => {
                self.consumers.insert(name.to_string());
            }
            _ => {}
        }
    }
}
