//! The controller: who is alive, who leads, who is in sync.
//!
//! A pure state machine. Every operation is a method that answers and tells its changes ([`Outcome`]); time comes in as
//! an argument, in milliseconds. The same operations give the same state everywhere.
//!
//! The parts: [`brokers`] (registration, heartbeats, fencing), `session` (silence), [`topics`], [`alter_partition`]
//! (what leaders ask for), [`elect`] (what operators and the clock ask for), [`reassign`], [`config`], and [`builder`],
//! through which every change of a partition goes.
//!
//! Deliberately absent: the quorum (it is one node here, which can be down), its log and snapshots, placement of
//! replicas, quotas, ACLs and every record that has nothing to do with partitions.
//! Mirrors `QuorumController` and its managers for replication, cluster, configuration and features.

pub mod alter_partition;
pub mod brokers;
pub mod builder;
pub mod change;
pub mod config;
pub mod elect;
mod elr_index;
pub mod partition;
pub mod reassign;
mod session;
mod session_map;
pub mod topics;

#[cfg(test)]
mod tests;

pub use alter_partition::{AlterPartition, AlterPartitionAnswer};
pub use brokers::{Broker, HeartbeatReply, HeartbeatRequest, RegistrationRequest, StaleCheck, Wish};
pub use builder::{Election, ElrFeature};
pub use change::{Change, Outcome, PartitionChange};
pub use config::{ConfigScope, UpgradeType};
pub use elect::{ElectionAnswers, ElectionType};
pub use partition::{DirectoryId, LastKnownLeader, LeaderRecoveryState, Partition, PartitionDelta};
pub use reassign::ReplicationFactorChange;
pub use session::LastContact;
pub use topics::Topic;

use crate::cluster::Rule;
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::cluster::rules::Rules;
use crate::log::{Encoder, Errors, Fingerprint};
use crate::sorted::SortedMap;
use brokers::Trigger;
use builder::{ChangeBuilder, Surroundings};
use change::{Fencing, Record};
use config::Configs;
use elr_index::ElrIndex;
use session::Sessions;
use std::sync::Arc;

/// What a controller is told once, when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `broker.session.timeout.ms`; Kafka's default is 9000.
    pub session_timeout_ms: i64,
    /// When the controller started; its periodic checks are counted from here.
    pub started_ms: i64,
    /// The controller's own config file: name and value.
    pub file: SortedMap<String, String>,
    /// The dynamic cluster-wide configs at the start: name and value.
    pub cluster: SortedMap<String, String>,
    /// The next offset of the metadata log, from which broker epochs come.
    pub next_offset: i64,
    /// Whether ELR is on; it is for clusters formatted since 4.1.
    pub elr: ElrFeature,
    /// The rules in force.
    pub rules: Rules,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            session_timeout_ms: 9_000,
            started_ms: 0,
            file: SortedMap::new(),
            cluster: SortedMap::new(),
            next_offset: 0,
            elr: ElrFeature::On,
            rules: Rules::default(),
        }
    }
}

impl Settings {
    fn file(&self, name: &str) -> Option<&str> {
        // Java cuts blanks where it reads a file of properties.
        self.file.get(name).map(|value| value.trim())
    }
}

/// The controller's state. A clone shares everything until one of the two changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    settings: Arc<Settings>,
    elr: ElrFeature,
    next_offset: i64,
    next_topic: TopicId,
    brokers: Arc<SortedMap<BrokerId, Broker>>,
    sessions: Arc<Sessions>,
    topics: Arc<SortedMap<TopicId, Arc<Topic>>>,
    configs: Arc<Configs>,
    elr_index: Arc<ElrIndex>,
}

impl Controller {
    /// A controller that knows nobody.
    pub fn new(settings: Settings) -> Self {
        let mut configs = Configs::default();
        for (name, value) in &settings.cluster {
            configs.set(
                ConfigScope::Cluster,
                &name.as_str().into(),
                Some(&value.as_str().into()),
            );
        }
        Controller {
            elr: settings.elr,
            next_offset: settings.next_offset,
            settings: Arc::new(settings),
            next_topic: TopicId(0),
            brokers: Arc::default(),
            sessions: Arc::default(),
            topics: Arc::default(),
            configs: Arc::new(configs),
            elr_index: Arc::default(),
        }
    }

    /// Admits a broker that was there before the story begins: its process number 0 is registered and unfenced, and it
    /// was heard as given. Writes no record.
    pub fn admit(&mut self, broker: BrokerId, epoch: i64, directory: DirectoryId, contact: LastContact) {
        let known = Broker {
            incarnation: 0,
            epoch,
            registered_at: epoch,
            fenced: false,
            in_controlled_shutdown: false,
            directory,
            metadata_offset: -1,
            controlled_shutdown_offset: None,
        };
        Arc::make_mut(&mut self.brokers).insert(broker, known);
        Arc::make_mut(&mut self.sessions).renew((broker, epoch), contact);
    }

    /// The offset that the next metadata record will have.
    pub fn next_offset(&self) -> i64 {
        self.next_offset
    }

    /// `broker.session.timeout.ms`.
    pub fn session_timeout_ms(&self) -> i64 {
        self.settings.session_timeout_ms
    }

    /// Sets `broker.session.timeout.ms`: sessions that run end by the new one.
    pub fn set_session_timeout(&mut self, ms: i64) {
        if self.settings.session_timeout_ms != ms {
            Arc::make_mut(&mut self.settings).session_timeout_ms = ms;
        }
    }

    /// Whether ELR is on.
    pub fn elr(&self) -> ElrFeature {
        self.elr
    }

    /// The registered brokers, ascending.
    pub fn brokers(&self) -> impl Iterator<Item = (BrokerId, &Broker)> {
        self.brokers.iter().map(|(&broker, known)| (broker, known))
    }

    /// A registered broker.
    pub fn broker(&self, broker: BrokerId) -> Option<&Broker> {
        self.brokers.get(&broker)
    }

    /// Whether a broker is registered, unfenced and not shutting down.
    pub fn is_active(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(Broker::is_active)
    }

    /// The topics, in the order of their creation.
    pub fn topics(&self) -> impl Iterator<Item = (TopicId, &Topic)> {
        self.topics.iter().map(|(&topic, known)| (topic, known.as_ref()))
    }

    /// The id of the topic that has this name now.
    pub fn topic_named(&self, name: &str) -> Option<TopicId> {
        self.topics
            .iter()
            .find(|(_, topic)| *topic.name == *name)
            .map(|(&topic, _)| topic)
    }

    /// All partitions, by topic and number.
    pub fn partitions(&self) -> impl Iterator<Item = (TopicPartition, &Arc<Partition>)> {
        self.topics.iter().flat_map(|(&topic, known)| {
            known
                .partitions
                .iter()
                .map(move |(&partition, state)| (TopicPartition { topic, partition }, state))
        })
    }

    /// One partition.
    pub fn partition(&self, at: TopicPartition) -> Option<&Arc<Partition>> {
        self.topics.get(&at.topic)?.partitions.get(&at.partition)
    }

    /// Whether a rule is in force.
    fn holds(&self, rule: Rule) -> bool {
        self.settings.rules.on(rule)
    }

    fn check_epoch(&self, broker: BrokerId, epoch: i64) -> Result<(), Errors> {
        let known = self.brokers.get(&broker).is_some_and(|known| known.epoch == epoch);
        if known { Ok(()) } else { Err(Errors::StaleBrokerEpoch) }
    }

    fn directory_of(&self, broker: BrokerId) -> Option<DirectoryId> {
        self.brokers.get(&broker).map(|known| known.directory)
    }

    fn partitions_in_sync(&self, broker: BrokerId) -> Vec<TopicPartition> {
        self.partitions()
            .filter(|(_, partition)| partition.isr.contains(&broker))
            .map(|(at, _)| at)
            .collect()
    }

    fn partitions_without_leader(&self) -> Vec<TopicPartition> {
        self.partitions()
            .filter(|(_, partition)| partition.leader.is_none())
            .map(|(at, _)| at)
            .collect()
    }

    fn has_leaderships(&self, broker: BrokerId) -> bool {
        self.partitions()
            .any(|(_, partition)| partition.leader == Some(broker) && partition.isr.contains(&broker))
    }

    /// One change of one partition. `alive` says who may lead as far as brokers are concerned; on top of that, a
    /// replica's data must be in the directory that its broker registered with.
    fn change(
        &self,
        at: TopicPartition,
        alive: impl Fn(BrokerId) -> bool,
        ask: impl FnOnce(ChangeBuilder<'_>) -> ChangeBuilder<'_>,
    ) -> Option<Record> {
        let partition = self.partition(at)?;
        let acceptable = |broker: BrokerId| {
            let directory = partition.directory(broker);
            let reported = directory.is_some() && directory == self.directory_of(broker);
            alive(broker) && (reported || !self.holds(Rule::Directory))
        };
        let around = Surroundings {
            acceptable: &acceptable,
            default_directory: &|broker| self.directory_of(broker),
            min_isr: self.effective_min_isr(at.topic),
            elr: self.elr,
            rules: self.settings.rules,
        };
        let (delta, rules) = ask(ChangeBuilder::new(partition, around)).build()?;
        Some(Record::PartitionChange { at, delta, rules })
    }

    /// Looks at partitions again because a broker came or went.
    fn update_partitions(&self, partitions: Vec<TopicPartition>, trigger: Trigger) -> Vec<Record> {
        let gone = match trigger {
            Trigger::Back(_) => None,
            Trigger::Gone(broker, _) | Trigger::Unclean(broker) => Some(broker),
        };
        let alive = |broker: BrokerId| {
            let back = matches!(trigger, Trigger::Back(returned) if returned == broker);
            Some(broker) != gone && (back || self.is_active(broker))
        };
        let change = |at: TopicPartition| {
            let isr = self
                .partition(at)?
                .isr
                .iter()
                .copied()
                .filter(|&broker| Some(broker) != gone)
                .collect();
            let unclean = self.unclean_election_enabled(at.topic);
            self.change(at, alive, |builder| {
                let builder = builder.election(if unclean { Election::Unclean } else { Election::Online });
                match trigger {
                    Trigger::Back(_) => builder,
                    Trigger::Gone(_, rule) if !self.holds(rule) => builder,
                    Trigger::Gone(_, rule) => builder.isr(isr, rule),
                    Trigger::Unclean(broker) => builder.isr(isr, Rule::IsrUnclean).unclean_shutdown(broker),
                }
            })
        };
        partitions.into_iter().filter_map(change).collect()
    }

    /// Applies records in order; each takes one offset of the metadata log.
    fn commit<T>(&mut self, answer: T, records: Vec<Record>) -> Outcome<T> {
        let mut changes = Vec::with_capacity(records.len());
        for record in records {
            changes.extend(self.apply(record));
            self.next_offset += 1;
        }
        Outcome { answer, changes }
    }

    fn apply(&mut self, record: Record) -> Option<Change> {
        match record {
            Record::Register {
                broker,
                incarnation,
                directory,
                epoch,
                fencing,
            } => {
                self.apply_registration(broker, incarnation, directory, epoch, fencing);
                Some(Change::Registered { broker, epoch })
            }
            Record::Unregister { broker } => {
                Arc::make_mut(&mut self.brokers).remove(&broker);
                Some(Change::Unregistered { broker })
            }
            Record::Fence { broker, rule } => {
                let known = self.registration_changes(broker)?;
                known.fenced = true;
                known.controlled_shutdown_offset = None;
                Some(Change::Fenced { broker, rule })
            }
            Record::Unfence { broker } => {
                self.registration_changes(broker)?.fenced = false;
                Some(Change::Unfenced { broker })
            }
            Record::ShuttingDown { broker } => {
                self.registration_changes(broker)?.in_controlled_shutdown = true;
                Some(Change::ShuttingDown { broker })
            }
            Record::Topic { topic, name } => {
                let new = Topic::new(Arc::clone(&name));
                Arc::make_mut(&mut self.topics).insert(topic, Arc::new(new));
                self.next_topic = TopicId(topic.0 + 1);
                Some(Change::TopicCreated { topic, name })
            }
            Record::Partition { at, partition } => {
                let partition = Arc::new(partition);
                self.store(at, &partition);
                Some(Change::PartitionCreated { at, partition })
            }
            Record::PartitionChange { at, delta, rules } => {
                let change = self.merge(at, &delta, rules)?;
                if change.before.elr != change.after.elr {
                    Arc::make_mut(&mut self.elr_index).update(at, &change.before.elr, &change.after.elr);
                }
                Some(Change::Partition(change))
            }
            Record::RemoveTopic { topic } => {
                let known = Arc::make_mut(&mut self.topics).remove(&topic)?;
                Arc::make_mut(&mut self.configs).remove_topic(topic);
                Arc::make_mut(&mut self.elr_index).remove_topic(topic);
                Some(Change::TopicDeleted {
                    topic,
                    name: Arc::clone(&known.name),
                })
            }
            Record::Config { scope, name, value } => {
                Arc::make_mut(&mut self.configs).set(scope, &name, value.as_ref());
                Some(Change::Configured { scope, name, value })
            }
            Record::ClearElr { topic } => Some(Change::ElrCleared {
                partitions: self.clear_elrs(topic),
            }),
            Record::Feature { elr } => {
                self.elr = elr;
                Some(Change::Feature { elr })
            }
        }
    }

    fn apply_registration(
        &mut self,
        broker: BrokerId,
        incarnation: u64,
        directory: DirectoryId,
        epoch: i64,
        fencing: Fencing,
    ) {
        let before = self.brokers.get(&broker).filter(|_| fencing == Fencing::AsBefore);
        let registered = Broker {
            incarnation,
            epoch,
            registered_at: self.next_offset,
            fenced: before.map_or(self.holds(Rule::Registration), |known| known.fenced),
            in_controlled_shutdown: before.is_some_and(|known| known.in_controlled_shutdown),
            directory,
            metadata_offset: -1,
            controlled_shutdown_offset: None,
        };
        Arc::make_mut(&mut self.brokers).insert(broker, registered);
    }

    /// A registration that is about to change; what the broker had told of its metadata offset is forgotten.
    fn registration_changes(&mut self, broker: BrokerId) -> Option<&mut Broker> {
        let known = Arc::make_mut(&mut self.brokers).get_mut(&broker)?;
        known.metadata_offset = -1;
        Some(known)
    }

    fn merge(&mut self, at: TopicPartition, delta: &PartitionDelta, rules: Vec<Rule>) -> Option<PartitionChange> {
        let before = Arc::clone(self.partition(at)?);
        let after = Arc::new(before.merge(delta, self.settings.rules));
        self.store(at, &after);
        Some(PartitionChange {
            at,
            before,
            after,
            rules,
        })
    }

    fn store(&mut self, at: TopicPartition, partition: &Arc<Partition>) {
        if let Some(topic) = Arc::make_mut(&mut self.topics).get_mut(&at.topic) {
            Arc::make_mut(topic).store(at.partition, partition);
        }
    }

    fn clear_elrs(&mut self, topic: Option<TopicId>) -> Vec<PartitionChange> {
        let has_something = |partition: &Partition| {
            !partition.elr.is_empty() || partition.last_known_leader != LastKnownLeader::Unknown
        };
        let concerned: Vec<TopicPartition> = self
            .partitions()
            .filter(|(at, partition)| topic.is_none_or(|topic| topic == at.topic) && has_something(partition))
            .map(|(at, _)| at)
            .collect();
        let delta = PartitionDelta {
            elr: Some(Vec::new()),
            last_known_leader: Some(LastKnownLeader::Unknown),
            ..PartitionDelta::default()
        };
        concerned
            .into_iter()
            .filter_map(|at| self.merge(at, &delta, vec![Rule::ElrLeave]))
            .collect()
    }

    /// Writes the canonical encoding of the model, session times relative to `now_ms`.
    pub fn encode(&self, now_ms: i64, encoder: &mut Encoder) {
        encoder.u8(u8::from(self.elr == ElrFeature::On));
        encoder.i64(self.next_offset);
        encoder.u16(self.next_topic.0);
        encoder.len(self.brokers.len());
        for (id, broker) in self.brokers.iter() {
            encoder.u16(id.0);
            broker.fingerprint(encoder);
        }
        // A map that has grown stands in front of its sessions, as one of a kind that there is not.
        let grown_to = self.sessions.grown_to();
        encoder.len(self.sessions.iter().len() + usize::from(grown_to.is_some()));
        if let Some(buckets) = grown_to {
            encoder.u16(u16::MAX);
            encoder.i64(i64::from(buckets));
            encoder.u8(2);
        }
        for ((broker, epoch), last) in self.sessions.iter() {
            encoder.u16(broker.0);
            encoder.i64(epoch);
            match last {
                LastContact::Continuous => encoder.u8(0),
                LastContact::At(at) => {
                    encoder.u8(1);
                    encoder.i64(at - now_ms);
                }
            }
        }
        encoder.len(self.topics.len());
        for (id, topic) in self.topics.iter() {
            encoder.u16(id.0);
            encoder.str(&topic.name);
            encoder.len(topic.partitions.len() | usize::from(topic.has_grown()) << 31);
            for (number, partition) in &topic.partitions {
                encoder.u32(*number);
                partition.fingerprint(encoder);
            }
        }
        self.encode_rest(encoder);
    }

    fn encode_rest(&self, encoder: &mut Encoder) {
        encoder.len(self.configs.iter().len());
        for (scope, name, value) in self.configs.iter() {
            let (kind, id) = match scope {
                ConfigScope::Cluster => (0, 0),
                ConfigScope::Broker(broker) => (1, broker.0),
                ConfigScope::Topic(topic) => (2, topic.0),
            };
            encoder.u8(kind);
            encoder.u16(id);
            encoder.str(name);
            encoder.str(value);
        }
        encoder.len(self.elr_index.iter().len());
        for (&(broker, topic), listed) in self.elr_index.iter() {
            encoder.u16(broker.0);
            encoder.u16(topic.0);
            encoder.len(listed.len());
            listed.iter().for_each(|&partition| encoder.u32(partition));
        }
    }
}

impl Fingerprint for Broker {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u64(self.incarnation);
        encoder.i64(self.epoch);
        encoder.i64(self.registered_at);
        encoder.u8(u8::from(self.fenced) | u8::from(self.in_controlled_shutdown) << 1);
        encoder.u32(self.directory.0);
        encoder.i64(self.metadata_offset);
        encoder.option(self.controlled_shutdown_offset, |encoder, offset| encoder.i64(offset));
    }
}
