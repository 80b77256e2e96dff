//! What a consumer asks: positions, epochs and records, one joint request of each kind to each leader.
//!
//! Mirrors `AbstractFetch.prepareFetchRequests`, `OffsetFetcher.resetPositionsIfNeeded` and `validatePositionsIfNeeded`.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::ReadError;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::message::{FetchPartition, FetchRequest, Isolation, Message, OffsetSpec};
use crate::cluster::rules::Rule;
use crate::config::IsolationLevel;
use crate::sorted::SortedMap;

use super::position::{Position, Reading, State, Why};
use super::{Asks, Consumer};

/// What is asked of each leader: partitions with the leader epoch believed in, and what about them.
type ByLeader<T> = SortedMap<BrokerId, Vec<(TopicPartition, i32, T)>>;

impl Consumer {
    /// Takes note of leaders that have changed: a position with an epoch has to be validated with the new one.
    pub(super) fn follow_leaders(&mut self, cx: &Cx) {
        self.follow_topics(cx);
        let validates = cx.holds(Rule::ConsumerEpoch);
        for (&tp, reading) in &mut self.readings {
            let (State::Fetching(position) | State::Validating(position)) = reading.state else {
                continue;
            };
            let leader = self.metadata.leader(tp);
            if leader.is_none() || leader == position.leader {
                continue;
            }
            let position = Position { leader, ..position };
            reading.enter(match position.epoch {
                Some(_) if validates => State::Validating(position),
                _ => State::Fetching(position),
            });
        }
    }

    /// A topic that was deleted and made again is another one of the same name: what was read of the old one goes on in the
    /// new one, at the offset where it stood.
    fn follow_topics(&mut self, cx: &Cx) {
        let gone = |tp: &TopicPartition| self.metadata.image().partition(*tp).is_none();
        let gone: Vec<TopicPartition> = self.readings.keys().copied().filter(gone).collect();
        for tp in gone {
            let again = self.topic(&cx.settings.topic(tp.topic).name, cx);
            let Some(new) = again.map(|topic| TopicPartition { topic, ..tp }) else {
                continue;
            };
            if self.metadata.image().partition(new).is_some()
                && let Some(reading) = self.readings.remove(&tp)
            {
                self.readings.insert(new, reading.continued());
                self.order.iter_mut().filter(|at| **at == tp).for_each(|at| *at = new);
                self.arrived.retain(|at| *at != tp);
            }
        }
    }

    /// Whether anything is done about a partition now: while polling, and for a seek.
    pub(super) fn acts_on(&self, reading: &Reading) -> bool {
        match reading.state {
            State::Stopped(_) => false,
            State::Finding { why: Why::Seek, .. } => true,
            _ => self.is_polling(),
        }
    }

    /// Asks whatever there is to ask.
    pub(super) fn ask(&mut self, cx: &mut Cx) {
        self.begin_where_unset(cx);
        let Consumer {
            metadata,
            connections,
            config,
            ..
        } = self;
        let backoff = super::Backoff::new(config.retry_backoff_ms, config.retry_backoff_max_ms);
        if let Some(to) = metadata.ask(backoff, |broker| connections.can_send(broker, cx), cx) {
            connections.send(to, Asks::Metadata, Message::MetadataRequest, cx);
        }
        self.ask_offsets(cx);
        self.ask_epoch_ends(cx);
        if self.poll.is_none_or(|poll| poll.max > 0) {
            self.fetch(cx);
        }
    }

    /// Without a group there is no commit to go on at.
    fn begin_where_unset(&mut self, cx: &mut Cx) {
        if self.membership.is_some() {
            return;
        }
        for tp in self.order.clone() {
            let unset = self
                .readings
                .get(&tp)
                .is_some_and(|reading| reading.state == State::Unset);
            if unset && self.is_polling() {
                self.reset(tp, ReadError::NoOffset, cx);
            }
        }
    }

    /// What can be asked about partitions now, by leader.
    fn by_leader<T>(&self, what: impl Fn(&Reading) -> Option<T>, cx: &Cx) -> ByLeader<T> {
        let mut all = ByLeader::new();
        for &tp in &self.order {
            let Some(reading) = self.readings.get(&tp).filter(|reading| self.acts_on(reading)) else {
                continue;
            };
            if reading.asked || reading.not_before > cx.now {
                continue;
            }
            let leader = self
                .metadata
                .leader(tp)
                .filter(|&(leader, _)| self.connections.can_send(leader, cx));
            if let (Some((leader, epoch)), Some(what)) = (leader, what(reading)) {
                all.entry(leader).or_default().push((tp, epoch, what));
            }
        }
        all
    }

    fn mark_asked<T>(&mut self, partitions: &[(TopicPartition, i32, T)]) {
        for (tp, ..) in partitions {
            if let Some(reading) = self.readings.get_mut(tp) {
                reading.asked = true;
            }
        }
    }

    fn isolation(&self) -> Isolation {
        match self.config.isolation_level {
            IsolationLevel::ReadUncommitted => Isolation::Uncommitted,
            IsolationLevel::ReadCommitted => Isolation::Committed,
        }
    }

    fn ask_offsets(&mut self, cx: &mut Cx) {
        let spec = |reading: &Reading| match reading.state {
            State::Finding { spec, .. } => Some(spec),
            _ => None,
        };
        let isolation = self.isolation();
        for (leader, partitions) in self.by_leader(spec, cx) {
            self.mark_asked(&partitions);
            let asked: Vec<(TopicPartition, OffsetSpec)> = partitions.iter().map(|&(tp, _, spec)| (tp, spec)).collect();
            let wanted = partitions
                .into_iter()
                .map(|(tp, epoch, spec)| (tp, named(epoch, cx), spec));
            let wanted = wanted.collect();
            let message = |correlation| Message::ListOffsets(correlation, isolation, wanted);
            self.connections.send(leader, Asks::ListOffsets(asked), message, cx);
        }
    }

    fn ask_epoch_ends(&mut self, cx: &mut Cx) {
        let position = |reading: &Reading| match reading.state {
            State::Validating(Position {
                offset,
                epoch: Some(epoch),
                ..
            }) => Some((offset, epoch)),
            _ => None,
        };
        for (leader, partitions) in self.by_leader(position, cx) {
            self.mark_asked(&partitions);
            let asked = partitions.iter().map(|&(tp, _, (offset, _))| (tp, offset)).collect();
            let wanted = partitions
                .iter()
                .map(|&(tp, current, (_, epoch))| (tp, current, epoch))
                .collect();
            let message = |correlation| Message::EpochEnd(correlation, wanted);
            self.connections.send(leader, Asks::EpochEnd(asked), message, cx);
        }
    }

    /// Fetches from each leader whatever is wanted of it, unless the fetch that is under way there asks for all of it.
    fn fetch(&mut self, cx: &mut Cx) {
        let offset = |reading: &Reading| match reading.state {
            State::Fetching(position) if reading.is_drained() => Some(position.offset),
            _ => None,
        };
        for (leader, partitions) in self.by_leader(offset, cx) {
            let wanted: Vec<(TopicPartition, i64, i32)> = partitions
                .into_iter()
                .map(|(tp, epoch, offset)| (tp, offset, epoch))
                .collect();
            let covers = |asked: &Vec<_>| wanted.iter().all(|one| asked.contains(one));
            let under_way = self.connections.requests().any(|(at, request)| match &request.what {
                Asks::Fetch(asked) => at == leader && covers(asked),
                _ => false,
            });
            if under_way {
                continue;
            }
            self.connections
                .forget(|at, request| at == leader && matches!(request.what, Asks::Fetch(_)));
            let request = self.fetch_request(&wanted, cx);
            let message = |correlation| Message::Fetch(correlation, Arc::new(request));
            self.connections.send(leader, Asks::Fetch(wanted), message, cx);
        }
    }

    fn fetch_request(&self, wanted: &[(TopicPartition, i64, i32)], cx: &Cx) -> FetchRequest {
        let narrow = |config: i64| i32::try_from(config).unwrap_or(i32::MAX);
        let max_bytes = narrow(self.config.max_partition_fetch_bytes);
        let partition = |&(partition, offset, epoch): &(TopicPartition, i64, i32)| FetchPartition {
            partition,
            offset,
            last_fetched_epoch: -1,
            current_leader_epoch: named(epoch, cx),
            log_start: -1,
            high_watermark: -1,
            max_bytes,
        };
        FetchRequest {
            replica_epoch: None,
            max_wait_ms: self.config.fetch_max_wait_ms,
            min_bytes: narrow(self.config.fetch_min_bytes),
            max_bytes: narrow(self.config.fetch_max_bytes),
            isolation: self.isolation(),
            partitions: wanted.iter().map(partition).collect(),
        }
    }
}

/// The leader epoch believed in, as a request names it: before KIP-320 it names none.
fn named(epoch: i32, cx: &Cx) -> i32 {
    if cx.holds(Rule::FetchFenced) { epoch } else { -1 }
}
