//! The configs and the feature that decide about partitions.
//!
//! Two configs matter here, `min.insync.replicas` and `unclean.leader.election.enable`; a topic's own value wins over
//! the cluster-wide dynamic one, that over the controller's config file, that over Kafka's default. Setting
//! `min.insync.replicas`, even to the value it had, clears the ELR of the topics concerned, because what was safe under
//! one minimum is not under another. With ELR on it can therefore not be set per broker, nor removed cluster-wide.
//!
//! Deliberately absent: every other config. It is stored, so that setting it twice is no change, and not validated: the
//! config table knows the others. Mirrors `ConfigurationControlManager` and `FeatureControlManager`.

use crate::cluster::Rule;
use crate::cluster::controller::Controller;
use crate::cluster::controller::builder::ElrFeature;
use crate::cluster::controller::change::{Outcome, Record};
use crate::cluster::ids::{BrokerId, TopicId};
use crate::log::Errors;
use crate::sorted::SortedMap;
use std::sync::Arc;

const MIN_ISR: &str = "min.insync.replicas";
const UNCLEAN: &str = "unclean.leader.election.enable";

/// Whose config it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigScope {
    /// The dynamic default of the whole cluster.
    Cluster,
    /// One broker's dynamic config.
    Broker(BrokerId),
    /// One topic's config.
    Topic(TopicId),
}

/// How a feature level is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpgradeType {
    /// Only upwards.
    Upgrade,
    /// Only downwards.
    Downgrade,
}

/// Dynamic configs by scope and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Configs {
    values: SortedMap<(ConfigScope, Arc<str>), Arc<str>>,
}

impl Configs {
    fn get(&self, scope: ConfigScope, name: &str) -> Option<&str> {
        self.values.get(&(scope, Arc::from(name))).map(Arc::as_ref)
    }

    pub fn set(&mut self, scope: ConfigScope, name: &Arc<str>, value: Option<&Arc<str>>) {
        let key = (scope, Arc::clone(name));
        match value {
            Some(value) => self.values.insert(key, Arc::clone(value)),
            None => self.values.remove(&key),
        };
    }

    pub fn remove_topic(&mut self, topic: TopicId) {
        self.values.retain(|(scope, _), _| *scope != ConfigScope::Topic(topic));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ConfigScope, &str, &str)> {
        self.values
            .iter()
            .map(|((scope, name), value)| (*scope, name.as_ref(), value.as_ref()))
    }
}

/// Whether a topic may have this value. A boolean is read as Kafka reads it, without regard to case.
fn is_valid_for_topic(name: &str, value: &str) -> bool {
    match name {
        MIN_ISR => value.trim().parse::<i32>().is_ok_and(|value| value >= 1),
        UNCLEAN => ["true", "false"]
            .iter()
            .any(|word| value.trim().eq_ignore_ascii_case(word)),
        _ => true,
    }
}

impl Controller {
    /// Sets a config, or removes it (`None`).
    ///
    /// Refuses with `INVALID_CONFIG` for a topic's value out of range and for what ELR forbids, with
    /// `UNKNOWN_TOPIC_OR_PARTITION` or `BROKER_ID_NOT_REGISTERED` for somebody who is not there.
    pub fn alter_config(&mut self, scope: ConfigScope, name: &str, value: Option<&str>) -> Outcome<Result<(), Errors>> {
        if let Err(error) = self.check_config(scope, name, value) {
            return Outcome::refused(Err(error));
        }
        // A topic's value that is what it was is not written again; a broker's is.
        let unchanged = matches!(scope, ConfigScope::Topic(_)) && self.configs.get(scope, name) == value;
        let mut records = Vec::new();
        if !unchanged {
            records.push(Record::Config {
                scope,
                name: name.into(),
                value: value.map(Arc::from),
            });
            if name == MIN_ISR && self.elr == ElrFeature::On && self.holds(Rule::ElrLeave) {
                let topic = if let ConfigScope::Topic(topic) = scope {
                    Some(topic)
                } else {
                    None
                };
                records.push(Record::ClearElr { topic });
            }
        }
        self.commit(Ok(()), records)
    }

    /// Whether a config may be set or removed, as [`alter_config`](Self::alter_config) has it.
    ///
    /// # Errors
    /// What that refuses it with.
    pub fn check_config(&self, scope: ConfigScope, name: &str, value: Option<&str>) -> Result<(), Errors> {
        let guarded = name == MIN_ISR && self.elr == ElrFeature::On;
        let (valid, exists) = match scope {
            ConfigScope::Cluster => (!guarded || value.is_some(), Ok(())),
            ConfigScope::Broker(broker) => (
                !guarded,
                self.brokers.get(&broker).map(drop).ok_or(Errors::BrokerIdNotRegistered),
            ),
            ConfigScope::Topic(topic) => {
                let valid = value.is_none_or(|value| is_valid_for_topic(name, value));
                (
                    valid,
                    self.topics.get(&topic).map(drop).ok_or(Errors::UnknownTopicOrPartition),
                )
            }
        };
        if valid { exists } else { Err(Errors::InvalidConfig) }
    }

    /// A config's value as it holds for a topic, unless Kafka's default does.
    fn effective(&self, topic: TopicId, name: &str) -> Option<&str> {
        let own = self.configs.get(ConfigScope::Topic(topic), name);
        own.or_else(|| self.configs.get(ConfigScope::Cluster, name))
            .or_else(|| self.settings.file(name))
    }

    /// Whether an election in this topic may choose a replica that is not in sync. A dynamic value with blanks around it
    /// is valid and yet does not mean true: Kafka cuts them only where it validates.
    pub fn unclean_election_enabled(&self, topic: TopicId) -> bool {
        self.effective(topic, UNCLEAN)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// `min.insync.replicas` as the ELR rules use it: never more than the topic's first partition has replicas. Blanks
    /// around it are cut; a real controller accepts them and then fails with every change of the topic.
    pub fn effective_min_isr(&self, topic: TopicId) -> usize {
        let configured = self
            .effective(topic, MIN_ISR)
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(1);
        let first = self.topics.get(&topic).and_then(|topic| topic.partitions.get(&0));
        first.map_or(configured, |partition| configured.min(partition.replicas.len()))
    }

    /// Sets `eligible.leader.replicas.version`, or answers `INVALID_UPDATE_VERSION` if there is no such version or the
    /// upgrade type points the other way.
    ///
    /// Switching ELR on, again or anew, writes a cluster-wide `min.insync.replicas` if there is none and removes the
    /// brokers' own ones. Switching it off leaves what stands in the partitions.
    pub fn set_elr_version(&mut self, level: u16, kind: UpgradeType) -> Outcome<Result<(), Errors>> {
        let current = u16::from(self.elr == ElrFeature::On);
        let wrong_way = match kind {
            UpgradeType::Upgrade => level < current,
            UpgradeType::Downgrade => level > current,
        };
        let elr = match level {
            0 => ElrFeature::Off,
            1 => ElrFeature::On,
            _ => return Outcome::refused(Err(Errors::InvalidUpdateVersion)),
        };
        if wrong_way {
            return Outcome::refused(Err(Errors::InvalidUpdateVersion));
        }
        let mut records = if elr == ElrFeature::On {
            self.safety_records()
        } else {
            Vec::new()
        };
        records.push(Record::Feature { elr });
        self.commit(Ok(()), records)
    }

    fn safety_records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        if self.configs.get(ConfigScope::Cluster, MIN_ISR).is_none() {
            let value = Arc::from(self.settings.file(MIN_ISR).unwrap_or("1"));
            records.push(Record::Config {
                scope: ConfigScope::Cluster,
                name: MIN_ISR.into(),
                value: Some(value),
            });
        }
        let of_brokers = self
            .configs
            .iter()
            .filter(|(scope, name, _)| matches!(scope, ConfigScope::Broker(_)) && *name == MIN_ISR);
        records.extend(of_brokers.map(|(scope, name, _)| Record::Config {
            scope,
            name: name.into(),
            value: None,
        }));
        records
    }
}
