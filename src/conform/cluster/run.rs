//! Performing the steps of a script on a world, and waiting as the recorder did.

use super::ask::{Ask, Inbox, put_error};
use super::state;
use super::step::{Header, OneOrMany, Place, Records, Step, Whom, text};
use crate::cluster::input::{ConfigTarget, Destination, ElectionType, Keep, Pending, ReportDirectory, Send, Template};
use crate::cluster::settings::Micros;
use crate::cluster::{
    BrokerId, ClientId, ElrFeature, Event, Input, Refused, Setup, Tag, TopicPartition, What, World, step,
};
use crate::config::{BrokerConfig, ProducerConfig, Scope};
use crate::conform::Malformed;
use crate::log::{Errors, Record};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A second in microseconds.
const SECOND: Micros = 1_000_000;
/// So long nothing has to change before a state is taken: the recorder's 1.3 s, and the time that a look at all
/// brokers and their files took it.
const QUIET: Micros = 2_000_000;
/// A state is taken at the latest after this.
const PATIENCE: Micros = 120 * SECOND;
/// After a pause: so long until the paused broker has no fetch parked at a leader.
const AFTER_PAUSE: Micros = 800_000;
/// How long conditions are waited for if the script says nothing.
const AWAIT: Micros = 15 * SECOND;
/// How long anything else is waited for.
const PATIENT: Micros = 60 * SECOND;
/// The cluster had been up for a while when a script began.
const UP: Micros = 10 * SECOND;

/// A script under way.
pub(super) struct Run {
    pub world: World,
    /// Every state of each partition that the controller wrote.
    pub history: BTreeMap<TopicPartition, Vec<Value>>,
    /// What came for the recorder's own raw requests.
    pub inbox: Inbox,
    /// What producers were told and nobody has collected.
    told: Vec<What>,
    /// Raw requests that wait in the background.
    pub(super) waiting: BTreeMap<String, Vec<Ask>>,
    /// Values of the records that each producer was given and that nobody has collected.
    pub(super) handed: BTreeMap<String, Vec<Handed>>,
    race: ReportDirectory,
    writer: &'static str,
}

/// A record given to a producer.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    number: u32,
    value: Option<String>,
    key: Option<String>,
}

/// What is said of a step: the fields beside `state`.
pub(super) type Observed = Map<String, Value>;

impl Run {
    /// A cluster as the header says.
    pub fn new(header: &Header, race: ReportDirectory) -> Result<Run, Malformed> {
        let mut config = BrokerConfig::default();
        for (name, value) in &header.timings {
            set_timing(&mut config, name, &text(value)).map_err(|error| Malformed::new("header", error))?;
        }
        let count = header.brokers.iter().copied().max().unwrap_or(0);
        let setup = Setup {
            elr: if header.elr_feature == 0 {
                ElrFeature::Off
            } else {
                ElrFeature::On
            },
            brokers: vec![config; usize::from(count)],
            ..Setup::default()
        };
        let mut run = Run {
            world: World::new(setup),
            history: BTreeMap::new(),
            inbox: Inbox::default(),
            told: Vec::new(),
            waiting: BTreeMap::new(),
            handed: BTreeMap::new(),
            race,
            writer: "",
        };
        run.wait(UP);
        Ok(run)
    }

    /// Does something to the world.
    pub(super) fn act(&mut self, input: Input) -> Result<(), Refused> {
        let mut events: Vec<Event> = Vec::new();
        step(&mut self.world, input, &mut events)?;
        let told = events.into_iter().map(|event| event.what);
        self.told.extend(told.filter(|what| matches!(what, What::Told { .. })));
        self.note_history();
        Ok(())
    }

    /// As [`act`](Self::act), where a refusal means that the script does not fit.
    fn must(&mut self, input: Input) -> Result<(), String> {
        self.act(input).map_err(|refused| refused.to_string())
    }

    fn note_history(&mut self) {
        for (tp, partition) in self.world.controller().state().partitions() {
            let entries = self.history.entry(tp).or_default();
            let known = entries.last().and_then(|last| last["partitionEpoch"].as_i64());
            if known != Some(i64::from(partition.partition_epoch)) {
                let mut entry = state::of_partition(partition);
                if let (Some(last), false) = (entries.last(), self.writer.is_empty())
                    && last["leaderEpoch"] == entry["leaderEpoch"]
                {
                    entry.insert("by".to_owned(), self.writer.into());
                }
                entries.push(Value::Object(entry));
            }
        }
    }

    /// Performs the earliest pending thing, unless it is due after `until`: then time passes up to there. Says whether
    /// there was anything.
    pub(super) fn advance(&mut self, until: Micros) -> bool {
        match self.world.next() {
            Some((due, pending)) if due <= until => {
                if let Pending::Message { from, to } = pending {
                    self.inbox.look(&self.world, from, to);
                }
                self.act(Input::Next).is_ok()
            }
            _ => {
                if self.world.now() < until {
                    let _passed = self.act(Input::Wait(until));
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

    /// Lets time pass until nothing has changed for a while.
    pub fn settle(&mut self) {
        let end = self.world.now() + PATIENCE;
        let mut seen = state::of(self);
        let mut since = self.world.now();
        while self.world.now() < end && self.advance(since + QUIET) {
            let now = state::of(self);
            if now != seen {
                seen = now;
                since = self.world.now();
            }
        }
    }

    /// A partition by its place in the script.
    pub(super) fn partition(&self, place: &Place) -> Result<TopicPartition, String> {
        let topic = self.world.topic_named(&place.topic);
        let topic = topic.ok_or_else(|| format!("there is no topic {}", place.topic))?;
        Ok(TopicPartition {
            topic,
            partition: place.p,
        })
    }

    /// Performs a step and gives what the recorder observes of it.
    pub fn perform(&mut self, step: Step) -> Result<Observed, String> {
        let mut seen = Observed::new();
        if step.is_for_admin()
            && !self
                .world
                .brokers()
                .any(|broker| broker.is_running() && !broker.is_paused())
        {
            put_error(&mut seen, Some(Errors::RequestTimedOut));
            return Ok(seen);
        }
        match step {
            Step::Topic { name, replicas, rest } => self.create(&name, replicas.as_ref(), &rest)?,
            Step::Send(send) => self.send(*send, &mut seen)?,
            Step::Join { name } => self.join(&name, &mut seen)?,
            Step::Pending { name } => {
                let asks = self.waiting.get(&name).ok_or("nothing of that name is sent")?;
                seen.insert("done".into(), self.inbox.all_done(&self.world, asks).into());
            }
            Step::Producer { name, configs } => self.add_producer(&name, &configs)?,
            Step::Produce {
                name,
                place,
                records,
                wait,
            } => self.produce(&name, &place, &records, wait, &mut seen)?,
            Step::Flush { name } => {
                let results = self.collect(&name)?;
                seen.insert("results".into(), results);
            }
            Step::Kill { b } => self.kill(b.all())?,
            Step::Stop { b, timeout } => {
                self.must(Input::Stop(BrokerId(b)))?;
                let patience = timeout.map_or(PATIENT, |ms| ms * 1_000);
                let exited = self.wait_for(patience, |run| !run.is_running(b));
                seen.insert("exitedBeforeTimeout".into(), exited.into());
            }
            Step::Pause { b } => {
                for whom in b.all() {
                    self.freeze(whom)?;
                }
                self.wait(AFTER_PAUSE);
            }
            Step::Resume { b } => {
                for whom in b.all() {
                    self.thaw(whom)?;
                }
            }
            Step::Start { b } => self.start(&[b], &mut seen)?,
            Step::Startall { b } => self.start_all(b.as_ref(), &mut seen)?,
            Step::Wipe { b } => self.must(Input::Wipe(BrokerId(b)))?,
            Step::WipePartition { place, b } => {
                let tp = self.partition(&place)?;
                self.must(Input::WipePartition(tp, BrokerId(b)))?;
            }
            Step::Cut { place, b, at, torn } => {
                let tp = self.partition(&place)?;
                let dropped = self.cut(tp, BrokerId(b), at, torn)?;
                seen.insert("droppedOffsets".into(), dropped.into());
            }
            Step::Config { topic, configs } => self.configure(&topic, &configs, &mut seen)?,
            Step::Elect { name, place } => {
                let how = match name.as_str() {
                    "preferred" => ElectionType::Preferred,
                    _ => ElectionType::Unclean,
                };
                let tp = self.partition(&place)?;
                self.must(Input::Elect(tp, how))?;
                self.answered(&mut seen);
            }
            Step::Reassign { replicas, place } => {
                let tp = self.partition(&place)?;
                let replicas = replicas.into_iter().map(BrokerId).collect();
                self.must(Input::Reassign(tp, replicas))?;
                self.answered(&mut seen);
            }
            Step::DeleteRecords { before, place } => {
                let tp = self.partition(&place)?;
                self.must(Input::DeleteRecords(tp, before))?;
                self.answered(&mut seen);
                let leader = self.world.image().leader(tp).and_then(|id| self.world.broker(id));
                if let (None, Some(replica)) = (self.world.answer(), leader.and_then(|b| b.replica(tp))) {
                    seen.insert("lowWatermark".into(), replica.log_start().into());
                }
            }
            Step::Describe { place } => {
                let tp = self.partition(&place)?;
                seen = state::describe(&self.world, tp);
            }
            Step::ListOffsets { name, query } => self.list_offsets(&name, &query, &mut seen)?,
            Step::EpochEnd { epoch, query } => self.epoch_end(epoch, &query, &mut seen)?,
            Step::Fetch { offset, query } => self.fetch(offset, &query, &mut seen)?,
            Step::Disk { place } => {
                let tp = self.partition(&place)?;
                seen.insert("files".into(), state::files(&self.world, tp));
            }
            Step::Await {
                place,
                timeout,
                conditions,
            } => {
                let tp = self.partition(&place)?;
                state::check_conditions(&conditions)?;
                let patience = timeout.map_or(AWAIT, |ms| ms * 1_000);
                let reached = self.wait_for(patience, |run| state::hold(&run.world, tp, &conditions));
                seen.insert("reached".into(), reached.into());
            }
            Step::Sleep { ms } => self.wait(ms * 1_000),
        }
        Ok(seen)
    }

    fn is_running(&self, id: u16) -> bool {
        self.world
            .broker(BrokerId(id))
            .is_some_and(|broker| broker.is_running())
    }

    fn create(
        &mut self,
        name: &str,
        replicas: Option<&OneOrMany<u16>>,
        rest: &Map<String, Value>,
    ) -> Result<(), String> {
        let ids = |list: &[u16]| list.iter().map(|&id| BrokerId(id)).collect::<Vec<_>>();
        let mut assignment: Vec<Vec<BrokerId>> = replicas.iter().map(|list| ids(list.all())).collect();
        let mut config = Vec::new();
        for (key, value) in rest {
            let partition = key.strip_prefix('p').and_then(|digits| digits.parse::<usize>().ok());
            if partition.is_some() {
                let list: OneOrMany<u16> = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
                assignment.push(ids(list.all()));
            } else {
                config.push((key.clone(), text(value)));
            }
        }
        self.must(Input::CreateTopic {
            name: name.into(),
            assignment,
            config,
        })
    }

    fn kill(&mut self, brokers: &[u16]) -> Result<(), String> {
        for &id in brokers {
            if self.is_running(id) {
                self.must(Input::Kill(BrokerId(id)))?;
            }
        }
        Ok(())
    }

    fn freeze(&mut self, whom: &Whom) -> Result<(), String> {
        match whom {
            Whom::Broker(id) => self.must(Input::Pause(BrokerId(*id))),
            Whom::Named(name) if name == "controller" => self.must(Input::KillController),
            Whom::Named(name) => Err(format!("{name} cannot be paused")),
        }
    }

    fn thaw(&mut self, whom: &Whom) -> Result<(), String> {
        match whom {
            Whom::Broker(id) => self.must(Input::Resume(BrokerId(*id))),
            Whom::Named(name) if name == "controller" => self.must(Input::StartController),
            Whom::Named(name) => Err(format!("{name} cannot be resumed")),
        }
    }

    fn start_all(&mut self, only: Option<&OneOrMany<u16>>, seen: &mut Observed) -> Result<(), String> {
        let down = self
            .world
            .broker_ids()
            .map(|id| id.0)
            .filter(|&id| !self.is_running(id));
        let all: Vec<u16> = down.collect();
        self.start(only.map_or(all.as_slice(), |list| list.all()), seen)
    }

    fn start(&mut self, brokers: &[u16], seen: &mut Observed) -> Result<(), String> {
        for &id in brokers {
            self.must(Input::Start(BrokerId(id), self.race))?;
        }
        let unfenced = self.wait_for(PATIENT, |run| {
            brokers.iter().all(|&id| {
                let known = run.world.controller().state().broker(BrokerId(id));
                run.is_running(id) && known.is_some_and(|broker| !broker.fenced) && is_registered(&run.world, id)
            })
        });
        seen.insert("unfenced".into(), unfenced.into());
        Ok(())
    }

    /// Shortens the log of a stopped broker. Gives how many offsets it lost.
    fn cut(&mut self, tp: TopicPartition, broker: BrokerId, at: i64, torn: bool) -> Result<i64, String> {
        let ends = |run: &Run| -> Vec<(TopicPartition, i64)> {
            let found = run.world.broker(broker);
            let held = found.map(|found| found.partitions()).unwrap_or_default();
            held.into_iter()
                .filter_map(|tp| Some((tp, found?.replica(tp)?.log_end())))
                .collect()
        };
        let end = |run: &Run| ends(run).into_iter().find(|(held, _)| *held == tp).map(|(_, end)| end);
        let before = end(self).ok_or("this broker has no such replica")?;
        let replica = self.world.broker(broker).and_then(|found| found.replica(tp));
        let torn_batch = replica.and_then(|replica| replica.batch_at(at).map(|batch| batch.next_offset()));
        let keep = match torn_batch.filter(|_| torn) {
            Some(next) => next,
            None => at,
        };
        let below = ends(self)
            .into_iter()
            .map(|(held, end)| (held, if held == tp { keep } else { end }))
            .collect();
        self.must(Input::PowerOff(broker, Keep::Below(below)))?;
        if torn {
            self.must(Input::Tear(tp, broker, None))?;
        }
        Ok(before - end(self).unwrap_or(0))
    }

    fn configure(&mut self, topic: &str, configs: &Map<String, Value>, seen: &mut Observed) -> Result<(), String> {
        let id = self.world.topic_named(topic).ok_or("there is no such topic")?;
        self.writer = "ClearElrRecord";
        for (name, value) in configs {
            let input = Input::Configure(ConfigTarget::Topic(id), name.clone(), text(value));
            let done = self.must(input);
            if let Err(refused) = done {
                self.writer = "";
                return Err(refused);
            }
        }
        self.writer = "";
        self.answered(seen);
        Ok(())
    }

    /// What an operator's act was answered with.
    fn answered(&self, seen: &mut Observed) {
        put_error(seen, self.world.answer());
    }

    fn add_producer(&mut self, name: &str, configs: &Map<String, Value>) -> Result<(), String> {
        let mut config = ProducerConfig::default();
        let own = [
            ("linger.ms", "0".to_owned()),
            ("request.timeout.ms", "2000".to_owned()),
            ("delivery.timeout.ms", "30000".to_owned()),
        ];
        let asked = configs.iter().map(|(name, value)| (name.as_str(), text(value)));
        let all: Vec<(&str, String)> = own.into_iter().chain(asked).collect();
        config
            .set_all(all.iter().map(|(name, value)| (*name, value.as_str())))
            .map_err(|error| error.to_string())?;
        self.must(Input::AddProducer(name.into(), Box::new(config)))
    }

    fn produce(
        &mut self,
        name: &str,
        place: &Place,
        records: &Records,
        wait: bool,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let client = self.client(name)?;
        let topic = self.partition(place)?.topic;
        let mut results = Vec::new();
        for (key, value) in named(records) {
            let bytes = |text: &Option<String>| {
                text.as_ref()
                    .map_or(Template::Null, |t| Template::Bytes(t.as_bytes().into()))
            };
            let send = Send {
                to: Destination::Topic(topic),
                key: bytes(&key),
                value: bytes(&value),
                timestamp: None,
                headers: Arc::default(),
                count: 1,
                every: None,
            };
            self.must(Input::Send(client, Box::new(send)))?;
            let handed = self.handed.entry(name.to_owned()).or_default();
            let number = handed.last().map_or(0, |last| last.number);
            let number = number.max(self.numbered(client)) + 1;
            self.handed
                .entry(name.to_owned())
                .or_default()
                .push(Handed { number, value, key });
            if wait && let Value::Array(more) = self.collect(name)? {
                results.extend(more);
            }
        }
        if wait {
            seen.insert("results".into(), results.into());
        }
        Ok(())
    }

    fn numbered(&self, client: ClientId) -> u32 {
        let numbers = self.told.iter().filter_map(|what| match what {
            What::Told { tag, .. } if tag.client == client => Some(tag.number),
            _ => None,
        });
        numbers.max().unwrap_or(0)
    }

    pub(super) fn client(&self, name: &str) -> Result<ClientId, String> {
        self.world
            .client_named(name)
            .ok_or_else(|| format!("there is no client {name}"))
    }

    /// Waits for the answers of everything a producer was given.
    fn collect(&mut self, name: &str) -> Result<Value, String> {
        let client = self.client(name)?;
        let handed = self.handed.remove(name).unwrap_or_default();
        self.wait_for(PATIENT, |run| {
            handed.iter().all(|h| run.told_of(client, h.number).is_some())
        });
        let results = handed.iter().map(|record| {
            let mut result = Map::new();
            result.insert("v".into(), json!(record.value));
            if let Some(key) = &record.key {
                result.insert("k".into(), json!(key));
            }
            state::outcome(self.told_of(client, record.number), &mut result);
            Value::Object(result)
        });
        Ok(results.collect())
    }

    fn told_of(&self, client: ClientId, number: u32) -> Option<&What> {
        let wanted = Tag { client, number };
        self.told
            .iter()
            .find(|what| matches!(what, What::Told { tag, .. } if *tag == wanted))
    }
}

/// Whether a broker's process knows itself to be unfenced, with the registration that the controller knows.
fn is_registered(world: &World, id: u16) -> bool {
    let own = world.broker(BrokerId(id)).and_then(|broker| broker.process());
    let known = world.controller().state().broker(BrokerId(id));
    own.and_then(|process| process.epoch) == known.map(|broker| broker.epoch)
}

/// Takes a timing of the header; a topic's config stands for the broker config that is its default. What concerns
/// groups or the cleaner is not taken.
fn set_timing(config: &mut BrokerConfig, name: &str, value: &str) -> Result<(), String> {
    let topic = Scope::Topic.configs().iter().find(|def| def.name == name);
    let name = topic.and_then(|def| def.synonym).unwrap_or(name);
    if name.starts_with("group.") {
        return Ok(());
    }
    config.set(name, value).map_err(|error| error.to_string())
}

/// The records of a step: key and value of each.
pub(super) fn named(records: &Records) -> Vec<(Option<String>, Option<String>)> {
    let values = records.v.all();
    let count = records.n.unwrap_or(values.len());
    let keys = records.k.as_ref().map(|keys| keys.all()).unwrap_or_default();
    let value = |at: usize| {
        let base = values.get(at % values.len().max(1)).cloned().flatten()?;
        let base = match records.n {
            Some(_) => format!("{base}{at}"),
            None => base,
        };
        let missing = records.pad.unwrap_or(0).saturating_sub(base.len());
        Some(base + &".".repeat(missing))
    };
    let key = |at: usize| keys.get(at % keys.len().max(1)).cloned().flatten();
    (0..count).map(|at| (key(at), value(at))).collect()
}

/// The same as records of a batch.
pub(super) fn record(key: Option<&str>, value: Option<&str>, timestamp: i64) -> Record {
    Record::new(key.map(str::as_bytes), value.map(str::as_bytes), timestamp)
}
