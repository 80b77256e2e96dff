//! A script under way: its world, its time, what the controller wrote meanwhile.

use super::ask::{Background, Inbox};
use super::chance::Chance;
use super::members::Member;
use super::state;
use super::step::{Header, Place, Whom, text};
use crate::cluster::input::Pending;
use crate::cluster::settings::Micros;
use crate::cluster::{
    BrokerId, ClientId, ElrFeature, Event, Input, Refused, Setup, TopicId, TopicPartition, What, World, step,
};
use crate::config::{BrokerConfig, Scope};
use crate::conform::Malformed;
use crate::sorted::SortedMap;
use serde_json::{Map, Value};

/// A second in microseconds.
pub(super) const SECOND: Micros = 1_000_000;
/// A millisecond in microseconds.
pub(super) const MS: Micros = 1_000;
/// A state is taken at the latest after this.
const PATIENCE: Micros = 20 * SECOND;
/// How often the recorder looks whether something has come true.
const LOOK: Micros = 50 * MS;
/// What the recorder's brokers say of groups besides.
const GROUPS: [(&str, &str); 6] = [
    ("group.min.session.timeout.ms", "500"),
    ("group.consumer.min.session.timeout.ms", "1000"),
    ("group.consumer.session.timeout.ms", "3000"),
    ("group.consumer.min.heartbeat.interval.ms", "300"),
    ("group.consumer.heartbeat.interval.ms", "500"),
    ("offsets.topic.num.partitions", "3"),
];
/// How many brokers a script can have.
const MOST_BROKERS: u16 = 10;
/// The cluster had been up for a while when a script began.
const UP: Micros = 10 * SECOND;

/// A script under way.
pub(super) struct Run {
    pub world: World,
    /// Every state of each partition that the controller wrote.
    pub history: SortedMap<TopicPartition, Vec<Value>>,
    /// What came for the recorder's own raw requests.
    pub inbox: Inbox,
    /// What producers were told of their records.
    pub(super) told: Vec<Event>,
    /// Raw requests that wait in the background.
    pub(super) waiting: SortedMap<String, Background>,
    /// The records that each producer was given and that nobody has collected the answers of.
    pub(super) handed: SortedMap<String, Vec<Handed>>,
    /// How many records each producer was given.
    pub(super) given: SortedMap<ClientId, u32>,
    /// The consumers of groups.
    pub(super) members: SortedMap<String, Member>,
    /// Brokers that were told to stop while they were frozen.
    pub(super) stop_when_resumed: Vec<BrokerId>,
    /// The way that chance goes.
    pub(super) chance: Chance,
    /// Whether a change of a config is under way, whose changes of partitions the recorder marks.
    pub(super) configures: bool,
}

/// A record given to a producer.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    pub number: u32,
    pub value: String,
    pub key: Option<String>,
}

/// What is observed of a step.
pub(super) type Observed = Map<String, Value>;

impl Run {
    /// A cluster as the header says.
    pub fn new(header: &Header, chance: &Chance) -> Result<Run, Malformed> {
        let mut config = BrokerConfig::default();
        let timings = header
            .timings
            .iter()
            .map(|(name, value)| (broker_config(name), text(value)));
        let groups = GROUPS.iter().map(|&(name, value)| (name, value.to_owned()));
        let all: Vec<(&str, String)> = timings.chain(groups).collect();
        config
            .set_all(all.iter().map(|(name, value)| (*name, value.as_str())))
            .map_err(|error| Malformed::new("header", error))?;
        let count = header.brokers.iter().copied().max().unwrap_or(0);
        if count > MOST_BROKERS {
            let complaint = format!("broker {count}, of which there can be {MOST_BROKERS}");
            return Err(Malformed::new("header", complaint));
        }
        let setup = Setup {
            elr: match header.elr_feature {
                0 => ElrFeature::Off,
                _ => ElrFeature::On,
            },
            brokers: vec![config.clone(); usize::from(count)],
            controller: config,
            ..Setup::default()
        };
        let mut run = Run {
            world: World::new(setup),
            history: SortedMap::new(),
            inbox: Inbox::default(),
            told: Vec::new(),
            waiting: SortedMap::new(),
            handed: SortedMap::new(),
            given: SortedMap::new(),
            members: SortedMap::new(),
            stop_when_resumed: Vec::new(),
            chance: chance.clone(),
            configures: false,
        };
        run.wait(UP);
        Ok(run)
    }

    /// Does something to the world.
    pub(super) fn act(&mut self, input: Input) -> Result<(), Refused> {
        let mut events: Vec<Event> = Vec::new();
        step(&mut self.world, input, &mut events)?;
        self.note_members(&events);
        let told = events
            .into_iter()
            .filter(|event| matches!(event.what, What::Told { .. }));
        self.told.extend(told);
        self.note_history();
        Ok(())
    }

    /// As [`act`](Self::act), of what surely can be done as things stand.
    pub(super) fn surely(&mut self, input: Input) {
        let done = self.act(input);
        debug_assert!(done.is_ok(), "{done:?}");
    }

    /// As [`act`](Self::act), where a refusal means that the script does not fit.
    pub(super) fn must(&mut self, input: Input) -> Result<(), String> {
        self.act(input).map_err(|refused| refused.to_string())
    }

    fn note_history(&mut self) {
        for (tp, partition) in self.world.controller().state().partitions() {
            let entries = self.history.entry(tp).or_default();
            let last = entries.last();
            let number = |entry: &Value, name: &str| entry[name].as_i64();
            if last.and_then(|last| number(last, "partitionEpoch")) == Some(i64::from(partition.partition_epoch)) {
                continue;
            }
            let mut entry = state::of_partition(partition);
            let same_epoch =
                last.is_some_and(|last| number(last, "leaderEpoch") == Some(i64::from(partition.leader_epoch)));
            if self.configures && same_epoch {
                entry.insert("by".to_owned(), "ClearElrRecord".into());
            }
            entries.push(Value::Object(entry));
        }
    }

    /// Performs the earliest pending thing, unless it is due after `until`: then time passes up to there. Says whether
    /// there was anything.
    pub(super) fn advance(&mut self, until: Micros) -> bool {
        self.tend_background();
        self.poll_members();
        match self.world.next() {
            Some((due, pending)) if due <= until => {
                if let Pending::Message { from, to } = pending {
                    self.inbox.look(&self.world, from, to);
                }
                self.act(Input::Next).is_ok()
            }
            _ => {
                if self.world.now() < until {
                    self.surely(Input::Wait(until));
                }
                false
            }
        }
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, time: Micros) {
        let until = self.world.now() + time;
        while self.advance(until) {}
    }

    /// Lets time pass until something holds, or the patience ends. Says whether it holds.
    pub(super) fn wait_for(&mut self, patience: Micros, holds: impl Fn(&Run) -> bool) -> bool {
        let until = self.world.now() + patience;
        loop {
            if holds(self) {
                return true;
            }
            if !self.advance(until) {
                return holds(self);
            }
        }
    }

    /// The same, looking now and then only: what holds for a moment may be missed.
    pub(super) fn look_for(&mut self, patience: Micros, holds: impl Fn(&Run) -> bool) -> bool {
        let until = self.world.now() + patience;
        loop {
            if holds(self) {
                return true;
            }
            if self.world.now() >= until {
                return false;
            }
            self.wait(LOOK);
        }
    }

    /// Lets time pass until nothing has changed for a while.
    pub fn settle(&mut self) {
        let end = self.world.now() + PATIENCE;
        let mut seen = state::of(self);
        let mut since = self.world.now();
        while self.world.now() < end && self.advance((since + self.chance.quiet).min(end)) {
            let now = state::of(self);
            if now != seen {
                seen = now;
                since = self.world.now();
            }
        }
    }

    /// A topic by its name in the script: the first if there is none.
    pub(super) fn topic(&self, name: Option<&str>) -> Result<TopicId, String> {
        match name {
            None => Ok(TopicId(0)),
            Some(name) => self
                .world
                .topic_named(name)
                .ok_or_else(|| format!("there is no topic {name}")),
        }
    }

    /// A partition by its place in the script.
    pub(super) fn partition(&self, place: &Place) -> Result<TopicPartition, String> {
        let topic = self.topic(place.topic.as_deref())?;
        let partition = place.p;
        let tp = TopicPartition { topic, partition };
        match self.world.image().partition(tp) {
            Some(_) => Ok(tp),
            None => Err(format!("there is no partition {partition}")),
        }
    }

    /// The broker somebody is meant to be: the one named, or else the leader that the controller knows, if there is one.
    pub(super) fn broker(&self, tp: TopicPartition, whom: Option<&Whom>) -> Option<BrokerId> {
        match whom {
            Some(Whom::Broker(id)) => Some(BrokerId(*id)),
            _ => self.world.image().leader(tp),
        }
    }

    /// The partitions of the script's topics.
    pub(super) fn partitions(&self) -> Vec<TopicPartition> {
        let offsets = self.world.settings().offsets_topic;
        let mut all = self.world.partitions();
        all.retain(|tp| Some(tp.topic) != offsets);
        all
    }

    pub(super) fn is_running(&self, id: BrokerId) -> bool {
        self.world.broker(id).is_some_and(|broker| broker.is_running())
    }

    pub(super) fn is_paused(&self, id: BrokerId) -> bool {
        self.world.broker(id).is_some_and(|broker| broker.is_paused())
    }

    pub(super) fn client(&self, name: &str) -> Result<ClientId, String> {
        self.world
            .client_named(name)
            .ok_or_else(|| format!("there is no client {name}"))
    }
}

/// A timing of the header as a broker config: a topic's config stands for the broker config that is its default.
fn broker_config(name: &str) -> &str {
    let topic = Scope::Topic.configs().iter().find(|def| def.name == name);
    topic.and_then(|def| def.synonym).unwrap_or(name)
}
