//! Serving fetches of followers and consumers.
//!
//! Mirrors `KafkaApis.handleFetchRequest`, `ReplicaManager.readFromLog`, `Partition.fetchRecords` and `DelayedFetch`. What
//! is told (high watermark, log start) is noted *before* the follower's progress is counted, so a follower learns of a
//! raised high watermark one round later; nothing wakes its parked fetch for that.
//!
//! A consumer may read a follower, up to the follower's own high watermark, but nothing here sends it there.
//!
//! Deliberately absent: fetch sessions, quotas, the choice of a preferred read replica, remote storage.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{Correlation, FetchPartition, FetchRequest, FetchResult, Isolation, Message};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::{Errors, FirstBatch};

use super::channel::Serving;
use super::parked::{ParkedFetch, Phase, Wait};
use super::process::Process;
use super::replica::{Replica, Role};

/// Why a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visit {
    /// A fetch has arrived: a follower's progress counts.
    Arrival,
    /// It was parked and is answered now: its progress was counted when it came.
    Again,
}

/// How many bytes a response may still take.
struct Budget {
    left: u32,
    first: FirstBatch,
    taken: u32,
}

impl Process {
    /// Serves a fetch that has arrived.
    pub(super) fn serve_fetch(&mut self, cx: &mut Cx<'_>, from: Node, id: Correlation, request: Arc<FetchRequest>) {
        let request = as_it_may_read(cx, from, request);
        let (results, bytes) = self.read_all(cx, from, &request, Visit::Arrival);
        let at_once = request.max_wait_ms <= 0
            || request.partitions.is_empty()
            || i64::from(bytes) >= i64::from(request.min_bytes)
            || results
                .iter()
                .any(|result| result.error.is_some() || result.diverging.is_some());
        if at_once {
            self.answer_fetch(cx, from, id, &request, results);
        } else {
            self.park(cx, from, id, request);
        }
    }

    fn park(&mut self, cx: &mut Cx<'_>, from: Node, correlation: Correlation, request: Arc<FetchRequest>) {
        let round_trip = cx.settings.latency(cx.me, from) + cx.settings.latency(from, cx.me);
        let period = from_millis(request.max_wait_ms) + round_trip.max(1);
        let parked = ParkedFetch {
            correlation,
            request,
            since: cx.now,
            period,
            wait: Wait::Idle,
        };
        self.channels.entry(from).or_default().serving = Some(Serving::Fetch(parked));
        self.tend_parked(cx, from);
    }

    /// Looks at a connection's parked fetch: answers it if there is enough for it, arms its timer if it will carry news.
    pub(super) fn tend_parked(&mut self, cx: &mut Cx<'_>, from: Node) {
        let Some(Serving::Fetch(mut parked)) = self.take_serving(from) else {
            return;
        };
        if let Some(at) = parked.renew(cx.now) {
            self.count_round(from, at, &parked.request);
        }
        let idle = parked.wait == Wait::Idle;
        let between = idle && parked.phase(cx.now) == Phase::BetweenRounds;
        if parked.wait == Wait::Renewing {
            // What happened will be seen when it arrives.
        } else if cx.holds(Rule::FetchAnswer) && self.has_enough(cx, from, &parked.request) {
            if !between {
                if !idle {
                    cx.disarm(Timer::with(TimerKind::FetchWait, from));
                }
                self.answer_parked(cx, from, &parked);
                return;
            }
            renew_later(cx, from, &mut parked);
        } else if idle && self.has_news(cx, from, &parked.request) {
            if between {
                renew_later(cx, from, &mut parked);
            } else {
                end_in_time(cx, from, &mut parked);
            }
        }
        self.put_serving(from, Serving::Fetch(parked));
    }

    /// Looks at every follower's parked fetch: what was decided about the ISR can give its next one a consequence.
    pub(super) fn tend_followers(&mut self, cx: &mut Cx<'_>) {
        let parked = self
            .channels
            .iter()
            .filter(|(peer, channel)| is_follower(**peer) && matches!(channel.serving, Some(Serving::Fetch(_))));
        let parked: Vec<Node> = parked.map(|(peer, _)| *peer).collect();
        for peer in parked {
            self.tend_parked(cx, peer);
        }
    }

    /// The timer of a parked fetch: its wait has ended, or it arrives anew.
    pub(super) fn on_fetch_wait(&mut self, cx: &mut Cx<'_>, from: Node) {
        match self.take_serving(from) {
            Some(Serving::Fetch(parked)) if parked.wait == Wait::Renewing => {
                self.serve_fetch(cx, from, parked.correlation, parked.request);
                self.drain(cx, from);
            }
            Some(Serving::Fetch(parked)) => self.answer_parked(cx, from, &parked),
            Some(other) => self.put_serving(from, other),
            None => {}
        }
    }

    fn answer_parked(&mut self, cx: &mut Cx<'_>, from: Node, parked: &ParkedFetch) {
        let (results, _) = self.read_all(cx, from, &parked.request, Visit::Again);
        self.answer_fetch(cx, from, parked.correlation, &parked.request, results);
        self.drain(cx, from);
    }

    /// Something came behind a parked fetch, so that it must really end. Says whether it is at this broker now.
    pub(super) fn end_parked(&mut self, cx: &mut Cx<'_>, from: Node) -> bool {
        let Some(Serving::Fetch(mut parked)) = self.take_serving(from) else {
            return false;
        };
        if let Some(at) = parked.renew(cx.now) {
            self.count_round(from, at, &parked.request);
        }
        if parked.wait == Wait::Idle {
            match parked.phase(cx.now) {
                Phase::Waiting => end_in_time(cx, from, &mut parked),
                Phase::BetweenRounds => renew_later(cx, from, &mut parked),
            }
        }
        let here = parked.wait != Wait::Renewing;
        self.put_serving(from, Serving::Fetch(parked));
        here
    }

    /// The sender's process froze, or the path to it does not pass any more: from now on its rounds are real.
    pub(super) fn lose_parked(&mut self, cx: &mut Cx<'_>, from: Node) {
        if !self.end_parked(cx, from) {
            let Some(Serving::Fetch(parked)) = self.take_serving(from) else {
                return;
            };
            let request_left = parked.since.saturating_sub(cx.settings.latency(from, cx.me));
            if cx.reach.can(from) && request_left <= cx.now {
                // It had left before its sender froze.
                self.put_serving(from, Serving::Fetch(parked));
            } else {
                cx.disarm(Timer::with(TimerKind::FetchWait, from));
            }
        }
    }

    /// Counts off the rounds of all parked fetches that concern a partition, before something happens to it.
    pub(super) fn count_off_rounds(&mut self, cx: &Cx<'_>, tp: TopicPartition) {
        let mut rounds = Vec::new();
        for (peer, channel) in &mut self.channels {
            let Some(Serving::Fetch(parked)) = &mut channel.serving else {
                continue;
            };
            if concerns(&parked.request, tp)
                && let Some(at) = parked.renew(cx.now)
            {
                rounds.push((*peer, at, Arc::clone(&parked.request)));
            }
        }
        for (peer, at, request) in rounds {
            self.count_round(peer, at, &request);
        }
    }

    /// A follower has fetched at `at`, and there was nothing for it.
    fn count_round(&mut self, from: Node, at: Micros, request: &FetchRequest) {
        let Node::Broker(follower) = from else { return };
        for part in &request.partitions {
            let Some(replica) = self.replica_mut(part.partition) else {
                continue;
            };
            if [replica.leader_epoch, -1].contains(&part.current_leader_epoch) {
                note_fetch(replica, follower, at, part, request.replica_epoch);
            }
        }
    }

    /// Whether a parked fetch can be answered before its wait ends (`DelayedFetch.tryComplete`).
    fn has_enough(&self, cx: &Cx<'_>, from: Node, request: &FetchRequest) -> bool {
        let mut bytes = 0;
        for part in &request.partitions {
            let Some(replica) = self.readable(cx, from, part) else {
                return true;
            };
            let log = &replica.log;
            let end = bound(replica, from, request.isolation);
            if self.diverges(replica, part) || part.offset > end {
                return true;
            }
            if part.offset == end {
                continue;
            }
            match log.read(part.offset, end, part.max_bytes.max(0) as u32, FirstBatch::Whole) {
                Err(_) => return true,
                Ok(fetched) => {
                    let older = fetched.start.segment < log.active_segment().base_offset();
                    bytes += i64::from(fetched.size_in_bytes);
                    if older && fetched.size_in_bytes > 0 {
                        return true;
                    }
                }
            }
        }
        bytes >= i64::from(request.min_bytes)
    }

    /// Whether a parked fetch would carry anything its sender has not been told, when its wait ends.
    fn has_news(&self, cx: &Cx<'_>, from: Node, request: &FetchRequest) -> bool {
        request.partitions.iter().any(|part| {
            let Some(replica) = self.readable(cx, from, part) else {
                return true;
            };
            if part.offset < bound(replica, from, request.isolation) {
                return true;
            }
            if matches!(from, Node::Broker(id) if replica.may_join(id, &self.image)) {
                // Its next fetch lets it into the ISR.
                return true;
            }
            let told = replica.log.high_watermark().min(part.offset);
            is_follower(from) && (told != part.high_watermark || replica.log.log_start_offset() > part.log_start)
        })
    }

    /// The replica that a fetch may read, in the epoch that the sender believes in: a follower reads its leader, a
    /// consumer reads any replica, and before requests named epochs the leader too.
    fn readable(&self, cx: &Cx<'_>, from: Node, part: &FetchPartition) -> Option<&Replica> {
        let replica = self.replica(part.partition)?;
        let current = part.current_leader_epoch == -1 || part.current_leader_epoch == replica.leader_epoch;
        let served = match from {
            Node::Broker(id) => replica.leading()?.remotes.contains_key(&id),
            _ if cx.holds(Rule::FetchFenced) => replica.role != Role::Unknown,
            _ => replica.leading().is_some(),
        };
        (current && served).then_some(replica)
    }

    fn diverges(&self, replica: &Replica, part: &FetchPartition) -> bool {
        part.last_fetched_epoch >= 0
            && replica
                .log
                .end_offset_for_epoch(part.last_fetched_epoch)
                .is_none_or(|end| end.epoch < part.last_fetched_epoch || end.end_offset < part.offset)
    }

    /// Reads all partitions of a fetch, in the order of the request. Gives the bytes found as well.
    fn read_all(
        &mut self,
        cx: &mut Cx<'_>,
        from: Node,
        request: &FetchRequest,
        visit: Visit,
    ) -> (Vec<FetchResult>, u32) {
        let cap = cx.settings.broker(self.id).fetch_max_bytes;
        let left = i64::from(request.max_bytes).min(cap).max(0) as u32;
        let mut budget = Budget {
            left,
            first: FirstBatch::Whole,
            taken: 0,
        };
        let results = request.partitions.iter().map(|part| {
            let found = self.read_one(cx, from, request, part, &mut budget);
            if visit == Visit::Arrival
                && let Ok(result) = &found
                && result.diverging.is_none()
                && let Node::Broker(follower) = from
            {
                self.count_fetch(cx, follower, part, request.replica_epoch, result);
            }
            found.unwrap_or_else(|error| self.failed_fetch(part.partition, error))
        });
        let results = results.collect();
        (results, budget.taken)
    }

    fn read_one(
        &self,
        cx: &Cx<'_>,
        from: Node,
        request: &FetchRequest,
        part: &FetchPartition,
        budget: &mut Budget,
    ) -> Result<FetchResult, Errors> {
        let replica = self.held_in_epoch(cx, part.partition, part.current_leader_epoch)?;
        if let Node::Broker(follower) = from {
            let leading = replica.leading().ok_or(Errors::NotLeaderOrFollower)?;
            if !leading.remotes.contains_key(&follower) {
                let epoch_sent = part.current_leader_epoch >= 0;
                return Err(if epoch_sent {
                    Errors::UnknownLeaderEpoch
                } else {
                    Errors::NotLeaderOrFollower
                });
            }
            // A fetch of an earlier process of that broker; one that is not registered yet has no epoch (−1).
            if request.replica_epoch != Some(-1) && request.replica_epoch < self.image.broker_epoch(follower) {
                return Err(Errors::NotLeaderOrFollower);
            }
        }
        if replica.leading().is_none() && !cx.holds(Rule::FetchFenced) {
            return Err(Errors::NotLeaderOrFollower);
        }
        let log = &replica.log;
        let mut result = FetchResult {
            partition: part.partition,
            error: None,
            high_watermark: log.high_watermark(),
            log_start: log.log_start_offset(),
            diverging: None,
            current_leader: None,
            batches: Vec::new(),
        };
        if part.last_fetched_epoch >= 0 {
            let end = log
                .end_offset_for_epoch(part.last_fetched_epoch)
                .ok_or(Errors::OffsetOutOfRange)?;
            if part.offset < log.log_start_offset() {
                return Err(Errors::OffsetOutOfRange);
            }
            if end.epoch < part.last_fetched_epoch || end.end_offset < part.offset {
                result.diverging = Some((end.epoch, end.end_offset));
                return Ok(result);
            }
        }
        let most = (part.max_bytes.max(0) as u32).min(budget.left);
        let end = bound(replica, from, request.isolation);
        // Without its rule what lies below the log start is passed over as if it had never been there.
        let offset = if cx.holds(Rule::OutOfRange) {
            part.offset
        } else {
            part.offset.max(log.log_start_offset())
        };
        let fetched = log
            .read(offset, end, most, budget.first)
            .map_err(|refusal| refusal.error)?;
        if fetched.size_in_bytes > 0 {
            budget.first = FirstBatch::WithinLimit;
        }
        budget.left = budget.left.saturating_sub(fetched.size_in_bytes);
        budget.taken += fetched.size_in_bytes;
        result.batches = fetched.batches;
        Ok(result)
    }

    /// The replica of a partition, if it is led here in the epoch that a request names (−1 names none).
    pub(super) fn led_in_epoch(&self, cx: &Cx<'_>, tp: TopicPartition, epoch: i32) -> Result<&Replica, Errors> {
        let replica = self.held_in_epoch(cx, tp, epoch)?;
        replica.leading().map(|_| replica).ok_or(Errors::NotLeaderOrFollower)
    }

    /// The replica of a partition, led here or not, in the epoch that a request names.
    fn held_in_epoch(&self, cx: &Cx<'_>, tp: TopicPartition, epoch: i32) -> Result<&Replica, Errors> {
        if self.image.partition(tp).is_none() {
            return Err(Errors::UnknownTopicOrPartition);
        }
        let replica = self
            .replica(tp)
            .filter(|replica| replica.role != Role::Unknown)
            .ok_or(Errors::NotLeaderOrFollower)?;
        if epoch >= 0 && cx.holds(Rule::FetchFenced) {
            if epoch < replica.leader_epoch {
                return Err(Errors::FencedLeaderEpoch);
            }
            if epoch > replica.leader_epoch {
                return Err(Errors::UnknownLeaderEpoch);
            }
        }
        Ok(replica)
    }

    /// Counts a follower's progress: it may join the ISR, and the high watermark may rise.
    fn count_fetch(
        &mut self,
        cx: &mut Cx<'_>,
        follower: BrokerId,
        part: &FetchPartition,
        epoch: Option<i64>,
        read: &FetchResult,
    ) {
        let tp = part.partition;
        let Some(replica) = self.replica_mut(tp) else { return };
        let before = replica
            .leading()
            .and_then(|leading| leading.remotes.get(&follower))
            .map(|remote| remote.log_end);
        // Over a hole the stored place is that of the batch found.
        let found = read
            .batches
            .first()
            .map_or(part.offset, |batch| batch.base_offset().max(part.offset));
        let part = FetchPartition {
            offset: found,
            ..part.clone()
        };
        note_fetch(replica, follower, cx.now, &part, epoch);
        self.expand_isr(cx, tp, follower);
        if before != Some(part.offset) {
            self.raise_high_watermark(cx, tp);
        }
        self.recheck_delete(cx, tp);
    }

    fn failed_fetch(&self, partition: TopicPartition, error: Errors) -> FetchResult {
        let elsewhere = matches!(error, Errors::NotLeaderOrFollower | Errors::FencedLeaderEpoch);
        FetchResult {
            partition,
            error: Some(error),
            high_watermark: -1,
            log_start: -1,
            diverging: None,
            current_leader: elsewhere.then(|| self.known_leader(partition)).flatten(),
            batches: Vec::new(),
        }
    }

    fn answer_fetch(
        &mut self,
        cx: &mut Cx<'_>,
        to: Node,
        id: Correlation,
        request: &FetchRequest,
        results: Vec<FetchResult>,
    ) {
        let broker = self.id;
        for (part, result) in request.partitions.iter().zip(&results) {
            let (partition, from_offset, high_watermark) = (part.partition, part.offset, result.high_watermark);
            let told = is_follower(to)
                && (high_watermark.min(from_offset) != part.high_watermark || result.log_start > part.log_start);
            if result.error.is_none() && result.diverging.is_none() && (told || !result.batches.is_empty()) {
                let next_offset = result.batches.last().map_or(from_offset, |batch| batch.next_offset());
                cx.say(Rule::FetchAnswer, || What::FetchAnswered {
                    broker,
                    to,
                    partition,
                    from_offset,
                    next_offset,
                    high_watermark,
                });
            }
        }
        self.send(cx, to, Message::FetchResponse(id, results));
    }
}

/// A consumer's fetch as its isolation has it; without the rule that bounds reading it sees all that the log holds.
fn as_it_may_read(cx: &Cx<'_>, from: Node, request: Arc<FetchRequest>) -> Arc<FetchRequest> {
    if is_follower(from) || cx.holds(Rule::ConsumerRead) {
        return request;
    }
    let mut request = Arc::unwrap_or_clone(request);
    request.isolation = Isolation::LogEnd;
    Arc::new(request)
}

/// How far a reader may see.
fn bound(replica: &Replica, from: Node, isolation: Isolation) -> i64 {
    match isolation {
        _ if is_follower(from) => replica.log.log_end_offset(),
        Isolation::LogEnd => replica.log.log_end_offset(),
        Isolation::Uncommitted => replica.log.high_watermark(),
        Isolation::Committed => replica.log.last_stable_offset(),
    }
}

fn is_follower(node: Node) -> bool {
    matches!(node, Node::Broker(_))
}

pub(super) fn concerns(request: &FetchRequest, tp: TopicPartition) -> bool {
    request.partitions.iter().any(|part| part.partition == tp)
}

fn note_fetch(replica: &mut Replica, follower: BrokerId, at: Micros, part: &FetchPartition, epoch: Option<i64>) {
    let log_end = replica.log.log_end_offset();
    if let Some(remote) = replica
        .leading_mut()
        .and_then(|leading| leading.remotes.get_mut(&follower))
    {
        remote.fetched(at, part.offset, part.log_start, log_end, epoch);
    }
}

/// The fetch is answered when its wait ends.
fn end_in_time(cx: &mut Cx<'_>, from: Node, parked: &mut ParkedFetch) {
    parked.wait = Wait::Deadline;
    cx.arm(Timer::with(TimerKind::FetchWait, from), parked.deadline());
}

/// The fetch is between two rounds and arrives anew.
fn renew_later(cx: &mut Cx<'_>, from: Node, parked: &mut ParkedFetch) {
    parked.wait = Wait::Renewing;
    parked.since += parked.period;
    cx.arm(Timer::with(TimerKind::FetchWait, from), parked.since);
}
