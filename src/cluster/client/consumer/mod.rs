//! A consumer: it gets partitions from its group or by hand, finds a position, fetches from the leaders and hands over
//! records.
//!
//! One that polls by itself always has a fetch at each leader; with nothing to read it stays parked there, and the broker
//! answers when there is news. One that polls when told asks for nothing beyond what a poll needs. Reading takes nothing
//! away and disturbs nobody. Mirrors `KafkaConsumer`, `Fetcher`, `OffsetFetcher` and `SubscriptionState`.
//!
//! Deliberately absent: transactions, preferred replicas, paused partitions. An application handles what it gets in no
//! time. A fetch that no longer asks for the right thing (after a seek, or when another partition joins) is replaced at
//! once, where Kafka waits up to `fetch.max.wait.ms` for its answer.

mod answers;
mod commits;
mod coordinator;
mod following;
mod group;
mod leaving;
mod membership;
mod position;
mod requests;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::chance::Chance;
use crate::cluster::encode::offset_spec;
use crate::cluster::event::{ReadError, What};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::input::{Polls, SeekTo};
use crate::cluster::message::{Message, OffsetSpec};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::config::{AutoOffsetReset, ConfigError, ConsumerConfig};
use crate::log::{Encoder, Fingerprint};
use crate::sorted::{SortedMap, SortedSet};

use super::alarms::{Alarms, Deadlines, earliest};
use super::backoff::Backoff;
use super::connections::{Asked, Connections};
use super::metadata::Metadata;
use super::{Life, News};

use membership::Membership;
use position::{Position, Reading, State, Why};

/// What a consumer asks brokers.
#[derive(Clone, Debug, PartialEq)]
enum Asks {
    /// For records from these offsets on, believing in these leader epochs.
    Fetch(Vec<(TopicPartition, i64, i32)>),
    /// Where to begin.
    ListOffsets(Vec<(TopicPartition, OffsetSpec)>),
    /// Where the epochs end that were read last at these offsets.
    EpochEnd(Vec<(TopicPartition, i64)>),
    /// What they know of the cluster.
    Metadata,
}

impl Asked for Asks {
    fn may_wait(&self) -> bool {
        // A parked fetch is renewed by the broker; its time-out can pass only when something was lost.
        false
    }
}

/// A poll that the application waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PollCall {
    /// Records that it hands over at most.
    max: u32,
    /// When it ends with nothing.
    until: Micros,
}

/// A consumer's process.
#[derive(Clone, Debug, PartialEq)]
pub struct Consumer {
    id: ClientId,
    name: Arc<str>,
    config: Arc<ConsumerConfig>,
    life: Life,
    polls: Polls,
    chance: Chance,
    metadata: Metadata,
    readings: SortedMap<TopicPartition, Reading>,
    /// The order in which partitions are asked for: who has just got something goes to the end.
    order: Vec<TopicPartition>,
    /// Partitions with records that were fetched and not handed over, in the order of their arrival.
    arrived: VecDeque<TopicPartition>,
    connections: Connections<Asks>,
    poll: Option<PollCall>,
    membership: Option<Membership>,
    /// Where its group's coordinator is, only news of the cluster can tell.
    coordinator_lost: bool,
    /// Some partition waits for a leader that is not known or cannot be reached.
    stuck: bool,
    alarms: Alarms,
}

impl Consumer {
    /// A consumer of these partitions, or of what its group gives it, whose process starts now, with the cluster as it is.
    #[allow(clippy::too_many_arguments, reason = "what a consumer is made of")]
    pub fn new(
        id: ClientId,
        name: Arc<str>,
        config: ConsumerConfig,
        assign: Vec<TopicPartition>,
        group: Option<(GroupId, SortedSet<Arc<str>>)>,
        polls: Polls,
        image: Arc<Image>,
        seed: u64,
    ) -> Consumer {
        Consumer {
            id,
            config: Arc::new(config),
            life: Life::Running,
            polls,
            chance: Chance::of(seed, &name),
            name,
            metadata: Metadata::new(image),
            readings: assign.iter().map(|&tp| (tp, Reading::default())).collect(),
            order: assign,
            arrived: VecDeque::new(),
            connections: Connections::default(),
            poll: None,
            membership: group.map(|(group, topics)| Membership::new(group, topics)),
            coordinator_lost: false,
            stuck: false,
            alarms: Alarms::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its configs.
    pub fn config(&self) -> &ConsumerConfig {
        &self.config
    }

    /// Whether its process runs.
    pub fn is_running(&self) -> bool {
        self.life != Life::Ended
    }

    /// Whether it was told to close and has not ended yet.
    pub fn is_closing(&self) -> bool {
        self.life == Life::Closing
    }

    /// How much its application waits for: a poll, commits.
    pub fn undecided(&self) -> u32 {
        let commits = self.membership.as_ref().map_or(0, Membership::undecided);
        u32::from(self.poll.is_some()) + commits
    }

    /// Whether its application waits for a commit.
    pub fn is_committing(&self) -> bool {
        self.membership
            .as_ref()
            .is_some_and(|membership| membership.undecided() > 0)
    }

    /// Whether nothing is under way and no deadline armed. A fetch that waits at a broker does not count.
    pub fn is_quiet(&self) -> bool {
        let only_fetches = self
            .connections
            .requests()
            .all(|(_, request)| matches!(request.what, Asks::Fetch(_)));
        let group_is_idle = self
            .membership
            .as_ref()
            .is_none_or(|membership| membership.connections.is_idle());
        self.poll.is_none() && only_fetches && group_is_idle && self.metadata.is_idle() && self.alarms.is_empty()
    }

    /// Its partitions.
    pub fn assignment(&self) -> impl Iterator<Item = TopicPartition> + '_ {
        self.readings.keys().copied()
    }

    /// Whether it reads this partition.
    pub fn reads(&self, tp: TopicPartition) -> bool {
        self.readings.contains_key(&tp)
    }

    /// The next offset it would read of a partition, if it has one.
    pub fn position(&self, tp: TopicPartition) -> Option<i64> {
        Some(self.readings.get(&tp)?.position()?.offset)
    }

    /// Changes configs, all or none; they act from now on.
    ///
    /// # Errors
    /// What the config room finds wrong with it; nothing has changed then.
    pub fn set_all(&mut self, configs: &[(String, String)]) -> Result<(), ConfigError> {
        let configs = configs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Arc::make_mut(&mut self.config).set_all(configs)
    }

    /// One poll, of a consumer that polls only when told: for at most `max` records, or `max.poll.records`. With 0 nothing is
    /// fetched, as if all partitions were paused.
    pub fn poll(&mut self, max: Option<u32>, cx: &mut Cx) {
        if self.polls_by_itself() || !self.is_running() {
            return;
        }
        let max = max.unwrap_or(u32::try_from(self.config.max_poll_records).unwrap_or(u32::MAX));
        self.poll = Some(PollCall {
            max,
            until: cx.now + from_millis(self.config.fetch_max_wait_ms),
        });
        self.note_poll(cx.now);
        // Its group comes first (`coordinator.poll`): what is due there acts on what the application has been handed so
        // far, also where this poll is served at once from what was fetched before.
        self.tend_group(cx);
        self.go_on(cx);
    }

    /// Moves the position of a partition: at once to an offset, which the next fetch will check; or to what the leader
    /// answers, for which no poll is needed.
    pub fn seek(&mut self, tp: TopicPartition, to: SeekTo, cx: &mut Cx) {
        if !cx.holds(Rule::ConsumerSeek) {
            return;
        }
        let leader = self.metadata.leader(tp);
        let Some(reading) = self.readings.get_mut(&tp) else {
            return;
        };
        match to {
            SeekTo::Offset(offset) => {
                reading.enter(State::Fetching(Position {
                    offset,
                    epoch: None,
                    leader,
                }));
                let client = self.id;
                cx.say(Rule::ConsumerSeek, || What::Positioned {
                    client,
                    partition: tp,
                    offset,
                });
            }
            SeekTo::Asked(spec) => reading.enter(State::Finding { spec, why: Why::Seek }),
        }
        self.arrived.retain(|&other| other != tp);
        self.go_on(cx);
    }

    /// The consumer goes; a member of a group says so first.
    pub fn close(&mut self, cx: &mut Cx) {
        match self.life {
            Life::Running if self.membership.is_some() => {
                self.begin_closing(cx);
                self.go_on(cx);
            }
            Life::Running => self.end(cx),
            Life::Closing | Life::Ended => {}
        }
    }

    /// It has gone.
    fn end(&mut self, cx: &mut Cx) {
        self.kill(cx);
        let client = self.id;
        cx.say(Rule::Act, || What::ClientEnded { client });
    }

    /// The process ends without closing.
    pub fn kill(&mut self, cx: &mut Cx) {
        self.connections.close_all(cx);
        self.alarms.settle(Deadlines::new(), cx);
        self.life = Life::Ended;
        if let Some(membership) = self.membership.take() {
            self.membership = Some(Membership::new(membership.group, membership.topics));
            self.readings.clear();
            self.order.clear();
        }
        self.readings
            .values_mut()
            .for_each(|reading| *reading = Reading::default());
        self.coordinator_lost = false;
        self.arrived.clear();
        self.poll = None;
        self.stuck = false;
    }

    /// A new process starts: it knows no position, and has to ask for the cluster again.
    pub fn start(&mut self, cx: &mut Cx) {
        self.life = Life::Running;
        self.metadata.restart(cx.now);
        self.go_on(cx);
    }

    /// Topics were created, which everybody knows at once.
    pub fn topics_created(&mut self, new: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx) {
        self.metadata.topics_created(new);
        self.go_on(cx);
    }

    /// A message arrived at its process, which runs.
    pub fn on_message(&mut self, from: BrokerId, message: Message, cx: &mut Cx) {
        match message {
            Message::FetchResponse(correlation, results) => {
                if let Some(Asks::Fetch(asked)) = self.answered(from, correlation) {
                    self.on_fetched(&asked, results, cx);
                }
            }
            Message::ListOffsetsResponse(correlation, answers) => {
                if let Some(Asks::ListOffsets(asked)) = self.answered(from, correlation) {
                    self.on_offsets(&asked, answers, cx);
                }
            }
            Message::EpochEndResponse(correlation, answers) => {
                if let Some(Asks::EpochEnd(asked)) = self.answered(from, correlation) {
                    self.on_epoch_ends(&asked, answers, cx);
                }
            }
            Message::MetadataResponse(correlation, image) => {
                let asked = self.answered(from, correlation);
                if asked.is_some() {
                    self.metadata.learn(self.id, &image, cx);
                }
            }
            Message::FindCoordinatorResponse(correlation, answer, known) => {
                let asked = self.group_answered(from, correlation);
                if asked.is_some() {
                    self.on_coordinator(answer, known, cx);
                }
            }
            Message::GroupResponse(correlation, answer) => {
                if let Some(asked) = self.group_answered(from, correlation) {
                    self.on_group_answer(asked, *answer, cx);
                }
            }
            Message::Closed => {
                self.on_closed(from, cx);
                self.on_coordinator_lost(from, cx);
            }
            _ => {}
        }
        self.go_on(cx);
    }

    fn answered(&mut self, from: BrokerId, correlation: u32) -> Option<Asks> {
        self.connections.answered(from, correlation).map(|request| request.what)
    }

    fn group_answered(&mut self, from: BrokerId, correlation: u32) -> Option<membership::GroupAsks> {
        let membership = self.membership.as_mut()?;
        membership
            .connections
            .answered(from, correlation)
            .map(|request| request.what)
    }

    /// A timer that this consumer armed, or the world for it, has gone off.
    pub fn on_timer(&mut self, timer: Timer, cx: &mut Cx) {
        self.alarms.fired(timer);
        match (timer.kind, timer.peer) {
            (TimerKind::Poll, _) if self.poll.is_some_and(|poll| poll.until <= cx.now) => self.end_poll(),
            (TimerKind::Heartbeat, _) => self.beat(cx),
            (TimerKind::Refresh, _) => self.metadata.want_of_another(),
            (TimerKind::Request, Some(Node::Broker(peer))) => self.on_request_timeout(peer, cx),
            (TimerKind::Retry, Some(Node::Broker(peer))) => self.on_broken(peer, cx),
            (TimerKind::Retry, None) if timer.partition.is_none() => {
                if self.stuck {
                    self.metadata.want(None);
                }
                if self.coordinator_lost {
                    self.look_for_coordinator();
                }
            }
            // The rest is looked at anew whenever anything happens.
            _ => {}
        }
        self.go_on(cx);
    }

    /// A message between this consumer and a broker was lost, or the broker has gone silent.
    pub fn on_lost(&mut self, peer: BrokerId, cx: &mut Cx) {
        self.connections.lost(peer);
        if let Some(membership) = &mut self.membership {
            membership.connections.lost(peer);
        }
        self.go_on(cx);
    }

    /// The path to a broker has come back.
    pub fn on_reachable(&mut self, peer: BrokerId, cx: &mut Cx) {
        let wait = from_millis(self.config.reconnect_backoff_ms);
        self.connections.reachable(peer, wait, cx.now);
        if let Some(membership) = &mut self.membership {
            membership.connections.reachable(peer, wait, cx.now);
        }
        self.go_on(cx);
    }

    /// What it waits for, if only news of the cluster can help it on.
    pub fn wants_news(&self) -> Option<News> {
        let of_leaders = self.stuck.then(|| self.metadata.news(self.backoff())).flatten();
        match (of_leaders, self.news_of_coordinator()) {
            (Some(a), Some(b)) => Some(News {
                known_offset: a.known_offset.min(b.known_offset),
                next_poll: a.next_poll.min(b.next_poll),
                ..a
            }),
            (one, other) => one.or(other),
        }
    }

    /// Its process has just started.
    pub fn begin(&mut self, cx: &mut Cx) {
        self.metadata.start(cx.now);
        self.go_on(cx);
    }

    /// When it asks for the cluster's state because of its age.
    pub fn refreshes_at(&self, now: Micros) -> Micros {
        self.metadata
            .refreshes_at(from_millis(self.config.metadata_max_age_ms), now)
    }

    /// Whether this image would tell it anything: that there are more partitions, or new leaders of what it reads.
    pub fn would_learn(&self, image: &Image) -> bool {
        self.metadata.would_learn(image, self.readings.keys().copied())
    }

    /// A config has changed, or anything else that its next move hangs on.
    pub fn go_on(&mut self, cx: &mut Cx) {
        if self.life == Life::Running {
            self.follow_leaders(cx);
            self.hand_over(cx);
        }
        self.tend_group(cx);
        if self.life == Life::Running {
            self.ask(cx);
        }
        if self.is_running() {
            self.arm(cx);
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(self.config.retry_backoff_ms, self.config.retry_backoff_max_ms)
    }

    /// Whether its application polls without being told.
    pub fn polls_by_itself(&self) -> bool {
        self.polls == Polls::ByItself
    }

    /// Whether it polls now.
    fn is_polling(&self) -> bool {
        self.polls_by_itself() || self.poll.is_some()
    }

    /// Polls: hands over what has arrived. One that polls by itself goes on until nothing is left.
    fn hand_over(&mut self, cx: &mut Cx) {
        match (self.polls, self.poll) {
            (Polls::ByItself, _) => {
                let max = u32::try_from(self.config.max_poll_records).unwrap_or(u32::MAX);
                while self.hand_over_at_most(max, cx) {}
            }
            (Polls::WhenTold, Some(poll)) => {
                if self.hand_over_at_most(poll.max, cx) {
                    self.end_poll();
                }
            }
            (Polls::WhenTold, None) => {}
        }
    }

    /// Hands over up to so many records, partition by partition as they arrived. Says whether there were any.
    fn hand_over_at_most(&mut self, max: u32, cx: &mut Cx) -> bool {
        let mut left = max as usize;
        while let Some(&tp) = self.arrived.front().filter(|_| left > 0) {
            let records = self
                .readings
                .get_mut(&tp)
                .map(|reading| reading.take(left))
                .unwrap_or_default();
            if self.readings.get(&tp).is_none_or(Reading::is_drained) {
                self.arrived.pop_front();
            }
            left -= records.len();
            if !records.is_empty() {
                let client = self.id;
                cx.say(Rule::ConsumerRead, || What::Read {
                    client,
                    partition: tp,
                    records,
                });
            }
        }
        left < max as usize
    }

    /// The poll is over. What was fetched for it and has not arrived is no longer of interest.
    fn end_poll(&mut self) {
        self.poll = None;
        self.connections
            .forget(|_, request| matches!(request.what, Asks::Fetch(_)));
    }

    /// The application sees an error: a poll ends with it, and one that polls by itself stops reading this partition.
    fn fail(&mut self, tp: TopicPartition, error: ReadError, cx: &mut Cx) {
        let client = self.id;
        cx.say(Rule::ConsumerReset, || What::ConsumerError {
            client,
            partition: Some(tp),
            error,
        });
        match self.polls {
            Polls::WhenTold => self.end_poll(),
            Polls::ByItself => {
                if let Some(reading) = self.readings.get_mut(&tp) {
                    reading.enter(State::Stopped(reading.position()));
                }
            }
        }
    }

    /// There is no valid position: the policy says where to begin, or the application gets an error.
    fn reset(&mut self, tp: TopicPartition, error: ReadError, cx: &mut Cx) {
        if !cx.holds(Rule::ConsumerReset) {
            // Nothing says where to read.
            if let Some(reading) = self.readings.get_mut(&tp) {
                reading.enter(State::Stopped(reading.position()));
            }
            return;
        }
        let spec = match self.config.auto_offset_reset {
            AutoOffsetReset::Latest => OffsetSpec::Latest,
            AutoOffsetReset::Earliest => OffsetSpec::Earliest,
            AutoOffsetReset::ByDuration(ms) => OffsetSpec::Timestamp(cx.wall_ms() - ms),
            AutoOffsetReset::None => {
                self.fail(tp, error, cx);
                return;
            }
        };
        if let Some(reading) = self.readings.get_mut(&tp) {
            reading.enter(State::Finding { spec, why: Why::Reset });
        }
    }

    /// A connection is gone: what was asked on it is not answered any more, and the client looks for newer metadata.
    fn on_closed(&mut self, peer: BrokerId, cx: &mut Cx) {
        let failed = self
            .connections
            .closed(peer, from_millis(self.config.reconnect_backoff_ms), cx.now);
        self.metadata.want(Some(peer));
        for request in failed {
            let questions: Vec<TopicPartition> = match request.what {
                Asks::Metadata => {
                    self.metadata.unanswered(peer, cx.now);
                    continue;
                }
                Asks::Fetch(_) => continue,
                Asks::ListOffsets(asked) => asked.into_iter().map(|(tp, _)| tp).collect(),
                Asks::EpochEnd(asked) => asked.into_iter().map(|(tp, _)| tp).collect(),
            };
            for tp in questions {
                // After a seek the question is no longer of interest.
                if self.readings.get(&tp).is_some_and(|reading| reading.asked) {
                    self.try_again(tp, cx);
                }
            }
        }
    }

    /// What was asked about a partition is asked again after a back-off.
    fn try_again(&mut self, tp: TopicPartition, cx: &Cx) {
        let backoff = self.backoff();
        if let Some(reading) = self.readings.get_mut(&tp) {
            reading.back_off(backoff.draw(reading.attempts, &mut self.chance), cx.now);
        }
    }

    fn on_request_timeout(&mut self, peer: BrokerId, cx: &mut Cx) {
        let timeout = from_millis(self.config.request_timeout_ms);
        if self.connections.has_timed_out(peer, timeout, cx.now) {
            cx.close(Node::Broker(peer));
            self.on_closed(peer, cx);
        }
        let membership = self.membership.as_ref();
        if membership.is_some_and(|membership| membership.connections.has_timed_out(peer, timeout, cx.now)) {
            self.on_coordinator_lost(peer, cx);
        }
    }

    /// The path to a broker had been interrupted: what was asked on it fails.
    fn on_broken(&mut self, peer: BrokerId, cx: &mut Cx) {
        if self.connections.is_broken(peer, cx.now) {
            cx.close(Node::Broker(peer));
            self.on_closed(peer, cx);
        }
        let membership = self.membership.as_ref();
        if membership.is_some_and(|membership| membership.connections.is_broken(peer, cx.now)) {
            self.on_coordinator_lost(peer, cx);
        }
    }

    /// Works out which deadlines can decide something, and arms them.
    fn arm(&mut self, cx: &mut Cx) {
        let mut deadlines = Deadlines::new();
        if let Some(poll) = self.poll {
            earliest(&mut deadlines, Timer::of(TimerKind::Poll), poll.until);
        }
        let mut wanted = Vec::new();
        let mut stuck = false;
        for (&tp, reading) in self.readings.iter().filter(|(_, reading)| self.acts_on(reading)) {
            let within_reach = |&(leader, _): &(BrokerId, i32)| self.connections.is_within_reach(leader, cx);
            let Some((leader, _)) = self.metadata.leader(tp).filter(within_reach) else {
                stuck = true;
                continue;
            };
            wanted.push(leader);
            if reading.not_before > cx.now {
                earliest(&mut deadlines, Timer::on(TimerKind::Retry, tp), reading.not_before);
            }
        }
        let wants = |peer: BrokerId| self.metadata.wants_to_ask() || wanted.contains(&peer);
        let timeout = from_millis(self.config.request_timeout_ms);
        self.connections.deadlines(timeout, wants, cx, &mut deadlines);
        self.metadata.deadlines(self.backoff(), cx, &mut deadlines);
        self.stuck = stuck;
        self.coordinator_lost = self.has_lost_coordinator(cx);
        self.group_deadlines(timeout, cx, &mut deadlines);
        self.alarms.settle(deadlines, cx);
    }

    /// The deadlines that its group brings with it.
    fn group_deadlines(&self, timeout: Micros, cx: &Cx, deadlines: &mut Deadlines) {
        let Some(membership) = &self.membership else { return };
        let needed = self.needs_coordinator();
        let wants = |peer: BrokerId| needed && (membership.at() == Some(peer) || membership.at().is_none());
        membership.connections.deadlines(timeout, wants, cx, deadlines);
        if membership.not_before > cx.now && needed && !self.coordinator_lost {
            let timer = Timer::with(TimerKind::Retry, Node::Client(self.id));
            earliest(deadlines, timer, membership.not_before);
        }
        if let Some(due) = self.auto_commit_due() {
            let interval = from_millis(self.config.auto_commit_interval_ms).max(1);
            let late = cx.now.saturating_sub(due).div_ceil(interval);
            earliest(deadlines, Timer::of(TimerKind::Poll), due + late * interval);
        }
        if let Some(due) = self.idle_due(cx) {
            earliest(deadlines, Timer::of(TimerKind::PollInterval), due);
        }
    }

    /// The times in its state, relative to now; the rest is in its fingerprint.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        for reading in self.readings.values() {
            encoder.u64(reading.not_before.saturating_sub(now));
        }
        encoder.option(self.poll, |encoder, poll| encoder.u64(poll.until.saturating_sub(now)));
        self.connections.encode_times(now, encoder);
        self.metadata.encode_times(self.backoff(), now, encoder);
        if let Some(membership) = &self.membership {
            membership.encode_times(now, self.heartbeat_interval(), encoder);
        }
    }
}

impl Fingerprint for Consumer {
    fn fingerprint(&self, encoder: &mut Encoder) {
        let partition = |encoder: &mut Encoder, tp: TopicPartition| {
            encoder.u16(tp.topic.0);
            encoder.u32(tp.partition);
        };
        encoder.u8(self.life as u8);
        encoder.u8(self.polls as u8);
        encoder.u32(self.chance.drawn());
        self.metadata.encode(encoder);
        encoder.len(self.readings.len());
        for (&tp, reading) in &self.readings {
            partition(encoder, tp);
            reading.encode(encoder);
        }
        for &tp in &self.order {
            partition(encoder, tp);
        }
        encoder.len(self.arrived.len());
        for &tp in &self.arrived {
            partition(encoder, tp);
        }
        self.connections.encode(encoder, |what, encoder| match what {
            Asks::Metadata => encoder.u8(0),
            Asks::Fetch(asked) => {
                encoder.u8(1);
                encoder.len(asked.len());
                for &(tp, offset, epoch) in asked {
                    partition(encoder, tp);
                    encoder.i64(offset);
                    encoder.i32(epoch);
                }
            }
            Asks::ListOffsets(asked) => {
                encoder.u8(2);
                encoder.len(asked.len());
                for &(tp, spec) in asked {
                    partition(encoder, tp);
                    offset_spec(spec, encoder);
                }
            }
            Asks::EpochEnd(asked) => {
                encoder.u8(3);
                encoder.len(asked.len());
                for &(tp, offset) in asked {
                    partition(encoder, tp);
                    encoder.i64(offset);
                }
            }
        });
        encoder.option(self.poll, |encoder, poll| encoder.u32(poll.max));
        if let Some(membership) = &self.membership {
            membership.encode(encoder);
        }
    }
}
