//! The recorder's consumers: members of a group, each on a thread that polls all the time and takes records only when the
//! script asks for some.
//!
//! Which leader's records come first is open, so that they are compared partition by partition.

use super::run::{MS, Observed, Run, SECOND};
use super::step::text;
use crate::cluster::event::ReadError;
use crate::cluster::input::{Input, Polls, SeekTo};
use crate::cluster::message::OffsetSpec;
use crate::cluster::settings::Micros;
use crate::cluster::{ClientId, Event, TopicPartition, What};
use crate::config::{ConsumerConfig, Def, Scope};
use crate::log::Errors;
use serde_json::{Map, Value, json};

/// The recorder's own configs of a consumer.
const CONFIGS: [(&str, &str); 7] = [
    ("session.timeout.ms", "3000"),
    ("heartbeat.interval.ms", "500"),
    ("enable.auto.commit", "false"),
    ("max.poll.records", "1"),
    ("fetch.max.wait.ms", "200"),
    ("reconnect.backoff.max.ms", "200"),
    ("metadata.max.age.ms", "2000"),
];
/// Those that the brokers decide under the consumer protocol.
const CLASSIC_ONLY: [&str; 2] = ["session.timeout.ms", "heartbeat.interval.ms"];
/// How long the position of a partition is waited for.
const POSITION: Micros = 5 * SECOND;
/// An assignment must not have changed for so long.
const STABLE: Micros = 2 * SECOND;
/// How often the recorder looks at assignments.
const LOOK: Micros = 100 * MS;
/// How long a commit is waited for.
const COMMIT: Micros = 8 * SECOND;
/// What passes after the last record that was asked for.
const AFTER: Micros = 150 * MS;

/// A consumer of the script.
pub(super) struct Member {
    client: ClientId,
    group: String,
    /// How many records the script still wants.
    demand: usize,
    got: Vec<(TopicPartition, i64)>,
    failure: Option<ReadError>,
}

impl Run {
    /// A `consumer` step.
    pub(super) fn add_member(
        &mut self,
        name: &str,
        topic: Option<&str>,
        group: &str,
        configs: &Map<String, Value>,
    ) -> Result<(), String> {
        let mut config = ConsumerConfig::default();
        let follows = configs.get("group.protocol").and_then(Value::as_str) == Some("consumer");
        let asked = configs.iter().map(|(name, value)| {
            let name = if name == "reset" { "auto.offset.reset" } else { name };
            (name, text(value))
        });
        let known = Scope::Consumer.configs().iter();
        let known: Vec<&Def> = known.filter(|def| ConsumerConfig::acts_on(def)).collect();
        let asked = asked.filter(|(name, _)| known.iter().any(|def| def.name == *name));
        let all: Vec<(&str, String)> = CONFIGS
            .iter()
            .filter(|(name, _)| !(follows && CLASSIC_ONLY.contains(name)))
            .map(|(name, value)| (*name, (*value).to_owned()))
            .chain(asked)
            .collect();
        config
            .set_all(all.iter().map(|(name, value)| (*name, value.as_str())))
            .map_err(|error| error.to_string())?;
        let client = ClientId(self.world.clients().count() as u16);
        let topic = self.topic(topic)?;
        let topic_name = self.world.settings().topic(topic).name.clone();
        // A script may give the name of one that has gone to another one.
        let own_name = format!("{name} {}", client.0);
        self.must(Input::AddConsumer {
            name: own_name.as_str().into(),
            config: Box::new(config),
            assign: Vec::new(),
            group: Some((group.into(), vec![topic_name])),
            polls: Polls::WhenTold,
        })?;
        let member = Member {
            client,
            group: group.to_owned(),
            demand: 0,
            got: Vec::new(),
            failure: None,
        };
        self.members.insert(name.to_owned(), member);
        Ok(())
    }

    fn member(&mut self, name: &str) -> Result<&mut Member, String> {
        self.members
            .get_mut(name)
            .ok_or_else(|| format!("there is no consumer {name}"))
    }

    /// Every consumer that does not poll begins to; one that gets something at once polls again at once.
    pub(super) fn poll_members(&mut self) {
        loop {
            let wanted = self.wanted();
            let idle: Vec<(ClientId, u32)> = self
                .members
                .values()
                .filter(|member| self.is_idle(member.client))
                .map(|member| (member.client, u32::from(member.demand > 0)))
                .collect();
            for (client, max) in idle {
                self.surely(Input::Poll(client, Some(max)));
            }
            if self.wanted() == wanted {
                return;
            }
        }
    }

    /// How many records all consumers together still want.
    fn wanted(&self) -> usize {
        self.members.values().map(|member| member.demand).sum()
    }

    fn is_idle(&self, client: ClientId) -> bool {
        let client = self.world.client(client);
        client.is_some_and(|client| client.is_running() && client.undecided() == 0)
    }

    /// Notes what members got and saw.
    pub(super) fn note_members(&mut self, events: &[Event]) {
        for event in events {
            match &event.what {
                What::Read {
                    client,
                    partition,
                    records,
                } => {
                    for member in self.members.values_mut().filter(|member| member.client == *client) {
                        member
                            .got
                            .extend(records.iter().map(|(offset, _)| (*partition, *offset)));
                        member.demand = member.demand.saturating_sub(records.len());
                    }
                }
                What::ConsumerError { client, error, .. } => {
                    for member in self.members.values_mut().filter(|member| member.client == *client) {
                        member.failure = Some(*error);
                    }
                }
                _ => {}
            }
        }
    }

    /// A `consume` step.
    pub(super) fn consume(
        &mut self,
        name: &str,
        count: usize,
        patience: Micros,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let member = self.member(name)?;
        member.got.clear();
        member.failure = None;
        member.demand = count;
        self.wait_for(patience, |run| {
            let member = run.members.get(name);
            member.is_none_or(|member| member.demand == 0 || member.failure.is_some())
        });
        self.member(name)?.demand = 0;
        self.wait(AFTER);
        let member = self.member(name)?;
        let (got, failure) = (member.got.clone(), member.failure);
        let mut records: Vec<Value> = Vec::new();
        for (tp, offset) in got {
            records.push(json!([
                self.world.partition_name(tp),
                offset,
                self.value_at(tp, offset)
            ]));
        }
        seen.insert("records".into(), records.into());
        if let Some(error) = failure {
            seen.insert("error".into(), error.name().into());
        }
        Ok(())
    }

    fn value_at(&self, tp: TopicPartition, offset: i64) -> Option<String> {
        let leader = self.world.image().leader(tp)?;
        let replica = self.world.broker(leader)?.replica(tp)?;
        let record = replica
            .batch_at(offset)?
            .records()
            .find(|record| record.offset == offset)?;
        Some(String::from_utf8_lossy(record.value?).into_owned())
    }

    /// An `assigned` step.
    pub(super) fn assigned(
        &mut self,
        topic: Option<&str>,
        group: &str,
        patience: Micros,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let want = self.world.settings().topic(self.topic(topic)?).partitions as usize;
        let end = self.world.now() + patience;
        let (mut last, mut since) = (self.shares(group), self.world.now());
        while self.world.now() < end {
            self.wait(LOOK);
            let now = self.shares(group);
            let owned: usize = now.values().filter_map(Value::as_array).map(Vec::len).sum();
            if now != last {
                (last, since) = (now, self.world.now());
            } else if owned == want && self.world.now() - since > STABLE {
                break;
            }
        }
        seen.insert("assignment".into(), last.into());
        Ok(())
    }

    /// What each consumer of a group reads.
    fn shares(&self, group: &str) -> Map<String, Value> {
        let own = self.members.iter().filter(|(_, member)| member.group == group);
        own.map(|(name, member)| {
            let consumer = self.world.client(member.client).and_then(|client| client.as_consumer());
            let numbers: Vec<u32> = consumer
                .into_iter()
                .flat_map(|c| c.assignment())
                .map(|tp| tp.partition)
                .collect();
            (name.clone(), json!(numbers))
        })
        .collect()
    }

    /// The partitions that a consumer reads.
    fn assignment(&self, client: ClientId) -> Vec<TopicPartition> {
        let consumer = self.world.client(client).and_then(|client| client.as_consumer());
        consumer
            .into_iter()
            .flat_map(|consumer| consumer.assignment())
            .collect()
    }

    /// A consumer was handed what one poll gives of each of these of its partitions when nobody had asked for any.
    pub(super) fn hand_over_early(&mut self, name: Option<&str>, partitions: &[usize]) {
        let Some(client) = name.and_then(|name| self.members.get(name)).map(|member| member.client) else {
            return;
        };
        let position = |run: &Run, tp| run.world.client(client).and_then(|client| client.position(tp));
        let assignment = self.assignment(client);
        let consumer = self.world.client(client).and_then(|client| client.as_consumer());
        let most = consumer.map_or(0, |consumer| consumer.config().max_poll_records);
        for tp in partitions.iter().filter_map(|&at| assignment.get(at).copied()) {
            self.wait_for(POSITION, |run| position(run, tp).is_some());
            let leader = self.world.image().leader(tp).and_then(|id| self.world.broker(id));
            let end = leader.and_then(|leader| leader.replica(tp)?.high_watermark());
            if let (Some(offset), Some(end)) = (position(self, tp), end) {
                let next = offset.saturating_add(most).min(end).max(offset);
                self.surely(Input::Seek(client, tp, SeekTo::Offset(next)));
            }
        }
    }

    /// A `position` step: what is not known yet is waited for, partition by partition.
    pub(super) fn position(&mut self, name: &str, seen: &mut Observed) -> Result<(), String> {
        let client = self.member(name)?.client;
        let mut positions = Map::new();
        for tp in self.assignment(client) {
            self.member(name)?.failure = None;
            let position = move |run: &Run| run.world.client(client).and_then(|client| client.position(tp));
            let failed = |run: &Run| run.members.get(name).is_some_and(|member| member.failure.is_some());
            self.wait_for(POSITION, |run| position(run).is_some() || failed(run));
            let found = match (position(self), self.member(name)?.failure) {
                (Some(offset), _) => offset.into(),
                (None, Some(ReadError::NoOffset)) => "NoOffsetForPartitionException".into(),
                (None, _) => "TimeoutException".into(),
            };
            positions.insert(self.world.partition_name(tp), found);
        }
        seen.insert("position".into(), positions.into());
        Ok(())
    }

    /// A `seek` step: in every partition that the consumer reads.
    pub(super) fn seek(&mut self, name: &str, to: Option<&Value>) -> Result<(), String> {
        let to = match to.map_or("beginning".to_owned(), text).as_str() {
            "beginning" => SeekTo::Asked(OffsetSpec::Earliest),
            "end" => SeekTo::Asked(OffsetSpec::Latest),
            offset => SeekTo::Offset(offset.parse().map_err(|_| format!("{offset} is nowhere to seek to"))?),
        };
        let client = self.member(name)?.client;
        for tp in self.assignment(client) {
            self.must(Input::Seek(client, tp, to))?;
        }
        Ok(())
    }

    /// A `commit` step.
    pub(super) fn commit(&mut self, name: &str, seen: &mut Observed) -> Result<(), String> {
        let client = self.member(name)?.client;
        self.member(name)?.failure = None;
        let done = self.commit_position(client)?;
        let error = match self.member(name)?.failure {
            None if done => "NONE",
            None => "TimeoutException",
            Some(ReadError::Answered(Errors::RebalanceInProgress)) => "RebalanceInProgressException",
            Some(ReadError::Answered(Errors::FencedInstanceId)) => "FencedInstanceIdException",
            Some(_) => "COMMIT_FAILED",
        };
        seen.insert("error".into(), error.into());
        Ok(())
    }

    /// A consumer commits where it stands. Says whether that is decided in time.
    fn commit_position(&mut self, client: ClientId) -> Result<bool, String> {
        self.must(Input::Commit(client, Vec::new()))?;
        Ok(self.wait_for(COMMIT, |run| {
            let consumer = run.world.client(client).and_then(|client| client.as_consumer());
            consumer.is_none_or(|consumer| !consumer.is_committing())
        }))
    }

    /// A `committed` step.
    pub(super) fn committed(&mut self, topic: Option<&str>, group: &str, seen: &mut Observed) -> Result<(), String> {
        let topic = self.topic(topic)?;
        let id = self.world.settings().group_named(group);
        let mut committed = Map::new();
        for partition in 0..self.world.settings().topic(topic).partitions {
            let tp = TopicPartition { topic, partition };
            if let Some(offset) = id.and_then(|id| self.world.committed(id, tp)) {
                committed.insert(self.world.partition_name(tp), offset.into());
            }
        }
        seen.insert("committed".into(), committed.into());
        Ok(())
    }

    /// A `leave` step, or a `crash`.
    pub(super) fn end_member(&mut self, name: &str, says_goodbye: Goodbye) -> Result<(), String> {
        let client = self.member(name)?.client;
        self.members.remove(name);
        match says_goodbye {
            Goodbye::Said => {
                self.must(Input::Close(client))?;
                self.wait_for(SECOND, |run| !run.world.client(client).is_some_and(|c| c.is_running()));
                Ok(())
            }
            Goodbye::Unsaid => {
                // It is closed all the same, and so commits if it does that by itself.
                let consumer = self.world.client(client).and_then(|client| client.as_consumer());
                if consumer.is_some_and(|consumer| consumer.config().enable_auto_commit) {
                    self.commit_position(client)?;
                }
                self.must(Input::KillClient(client))
            }
        }
    }
}

/// Whether a member that goes tells its coordinator.
pub(super) enum Goodbye {
    Said,
    Unsaid,
}

/// Puts the records of an observation into the order of partitions; what comes first of two leaders is open.
pub(super) fn sort_records(observed: &mut Value) {
    let Some(records) = observed.get_mut("records").and_then(Value::as_array_mut) else {
        return;
    };
    let partition = |record: &Value| record.get(0).and_then(Value::as_str).map(str::to_owned);
    if records.iter().all(|record| partition(record).is_some()) {
        records.sort_by_key(partition);
    }
}
