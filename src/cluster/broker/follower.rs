//! Copying a leader: asking it for records, and what its answers do to the log.
//!
//! Mirrors `AbstractFetcherThread` and `ReplicaFetcherThread`: one joint fetch to each leader, and the high watermark taken
//! over as told, so that it is one round behind. Where the log is cut stands in `truncation`.
//!
//! A fetcher never gives up for good: what failed is asked again after `replica.fetch.backoff.ms`, and while its leader
//! cannot be reached it waits for the path to come back. A request that was lost ends with its time-out, which is armed
//! only when something was lost.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::{AppendedAs, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{Correlation, FetchPartition, FetchRequest, FetchResult, Isolation, Message, OffsetSpec};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::Errors;

use super::fetcher::{Asked, FetchState, Outstanding, Stage, Status};
use super::process::Process;

/// How long after a path is whole again a connection is made (`reconnect.backoff.ms`).
pub(super) const RECONNECT: Micros = 50_000;

impl Process {
    /// Begins to copy a partition from a leader.
    pub(super) fn start_fetching(&mut self, tp: TopicPartition, leader: BrokerId, epoch: i32, stage: Stage) {
        let state = FetchState {
            epoch,
            stage,
            status: Status::Ready,
        };
        self.fetchers.entry(leader).or_default().partitions.insert(tp, state);
    }

    /// Ends to copy a partition, from whomever.
    pub(super) fn stop_fetching(&mut self, tp: TopicPartition) {
        for fetcher in self.fetchers.values_mut() {
            fetcher.partitions.remove(&tp);
        }
    }

    /// Sends what there is to send and sets the fetchers' timers.
    pub(super) fn tend_fetchers(&mut self, cx: &mut Cx<'_>) {
        let leaders: Vec<BrokerId> = self.fetchers.keys().copied().collect();
        for leader in leaders {
            self.tend_fetcher(cx, leader);
        }
    }

    pub(super) fn tend_fetcher(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let Some(fetcher) = self.fetchers.get_mut(&leader) else {
            return;
        };
        if fetcher.partitions.is_empty() {
            self.end_fetcher(cx, leader);
            return;
        }
        fetcher.end_delays(cx.now);
        // What left at this very instant is replaced, so that topics created together are fetched together.
        if fetcher.has_more_to_ask() && fetcher.outstanding.as_ref().is_some_and(|asked| asked.sent == cx.now) {
            fetcher.outstanding = None;
        }
        if fetcher.outstanding.is_none() && cx.reach.can(Node::Broker(leader)) {
            self.ask(cx, leader);
        }
        self.arm_fetcher(cx, leader);
    }

    /// Sends the next request of a fetcher, if it has one.
    fn ask(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let to = Node::Broker(leader);
        let correlation = self.correlation();
        let Some(fetcher) = self.fetchers.get(&leader) else {
            return;
        };
        let (what, message) = if let Some(tp) = fetcher.out_of_range() {
            let epoch = self.replica(tp).map_or(-1, |replica| replica.leader_epoch);
            let wanted = vec![(tp, epoch, OffsetSpec::Latest), (tp, epoch, OffsetSpec::Earliest)];
            (
                Asked::Ends(tp),
                Message::ListOffsets(correlation, Isolation::LogEnd, wanted),
            )
        } else if let Some(ends) = self.epoch_ends_to_ask(fetcher) {
            let wanted = ends.iter().map(|&(tp, epoch)| (tp, -1, epoch)).collect();
            (Asked::EpochEnds(ends), Message::EpochEnd(correlation, wanted))
        } else {
            let partitions: Vec<FetchPartition> = fetcher
                .ready(Stage::Fetching)
                .filter_map(|(tp, epoch)| self.fetch_partition(cx, tp, epoch))
                .collect();
            if partitions.is_empty() {
                return;
            }
            let config = cx.settings.broker(self.id);
            let max_wait_ms = config.replica_fetch_wait_max_ms;
            let request = Arc::new(FetchRequest {
                replica_epoch: Some(self.epoch.unwrap_or(-1)),
                max_wait_ms,
                min_bytes: clamp(config.replica_fetch_min_bytes),
                max_bytes: clamp(config.replica_fetch_response_max_bytes),
                isolation: Isolation::LogEnd,
                partitions,
            });
            let period =
                from_millis(max_wait_ms) + (cx.settings.latency(cx.me, to) + cx.settings.latency(to, cx.me)).max(1);
            (
                Asked::Fetch(Arc::clone(&request), period),
                Message::Fetch(correlation, request),
            )
        };
        let sent = self.ready();
        self.send(cx, to, message);
        if let Some(fetcher) = self.fetchers.get_mut(&leader) {
            fetcher.outstanding = Some(Outstanding {
                correlation,
                sent,
                what,
                lost: false,
            });
            fetcher.renew_at = None;
        }
    }

    fn fetch_partition(&self, cx: &Cx<'_>, tp: TopicPartition, epoch: i32) -> Option<FetchPartition> {
        let log = &self.replica(tp)?.log;
        let last = log.latest_epoch().filter(|_| cx.holds(Rule::TruncateDiverging));
        Some(FetchPartition {
            partition: tp,
            offset: log.log_end_offset(),
            last_fetched_epoch: last.unwrap_or(-1),
            current_leader_epoch: if cx.holds(Rule::FetchFenced) { epoch } else { -1 },
            log_start: log.log_start_offset(),
            high_watermark: log.high_watermark(),
            max_bytes: clamp(cx.settings.broker(self.id).replica_fetch_max_bytes),
        })
    }

    /// Arms the fetcher's timer for what it does next by itself.
    fn arm_fetcher(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let Some(fetcher) = self.fetchers.get_mut(&leader) else {
            return;
        };
        let reachable = cx.reach.can(Node::Broker(leader));
        let mut due = fetcher.next_delay().filter(|_| reachable);
        if let Some(asked) = fetcher.outstanding.as_ref().filter(|asked| !asked.lost) {
            // A partition that has joined goes along with the next virtual round.
            let joins = fetcher.has_more_to_ask().then(|| asked.next_sent(cx.now));
            due = due.into_iter().chain(joins).chain(fetcher.renew_at).min();
        } else if let Some(at) = fetcher.renew_at.filter(|_| fetcher.outstanding.is_some()) {
            due = Some(due.map_or(at, |due| due.min(at)));
        }
        let timer = Timer::with(TimerKind::Retry, Node::Broker(leader));
        if due != fetcher.wake {
            fetcher.wake = due;
            match due {
                Some(due) => cx.arm(timer, due),
                None => cx.disarm(timer),
            }
        }
    }

    /// Nothing is copied from this leader any more; an answer that is on its way will not be heard.
    fn end_fetcher(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        self.forget_outstanding(cx, leader);
        let ended = self.fetchers.remove(&leader);
        if ended.is_some_and(|fetcher| fetcher.wake.is_some()) {
            cx.disarm(Timer::with(TimerKind::Retry, Node::Broker(leader)));
        }
    }

    /// The fetcher's timer: a rest has ended, a round begins anew, or the path is back.
    pub(super) fn on_fetcher_retry(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let Some(fetcher) = self.fetchers.get_mut(&leader) else {
            return;
        };
        fetcher.wake = None;
        fetcher.end_delays(cx.now);
        let renewed = fetcher.renew_at.is_some_and(|at| at <= cx.now);
        let next_round = fetcher.has_more_to_ask()
            && fetcher
                .outstanding
                .as_ref()
                .is_some_and(|asked| !asked.lost && asked.last_sent(cx.now) == cx.now);
        if renewed || next_round {
            self.forget_outstanding(cx, leader);
        }
        self.tend_fetcher(cx, leader);
    }

    /// Forgets the request a fetcher waits for; an answer that comes after all is not heard.
    fn forget_outstanding(&mut self, cx: &mut Cx<'_>, leader: BrokerId) -> Option<Outstanding> {
        let fetcher = self.fetchers.get_mut(&leader)?;
        fetcher.renew_at = None;
        let asked = fetcher.outstanding.take()?;
        if asked.lost {
            cx.disarm(Timer::with(TimerKind::Request, Node::Broker(leader)));
        }
        Some(asked)
    }

    /// Takes the request that an answer belongs to; `None` when it is not waited for any more.
    pub(super) fn answered(&mut self, cx: &mut Cx<'_>, leader: BrokerId, id: Correlation) -> Option<Asked> {
        let waited_for = self.fetchers.get(&leader)?.outstanding.as_ref()?.correlation == id;
        if !waited_for {
            return None;
        }
        Some(self.forget_outstanding(cx, leader)?.what)
    }

    /// A request, or its answer, was lost, or the leader froze: the time-out runs now.
    pub(super) fn lose_fetch(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let timeout = from_millis(cx.settings.broker(self.id).replica_socket_timeout_ms);
        let Some(fetcher) = self.fetchers.get_mut(&leader) else {
            return;
        };
        if let Some(asked) = fetcher.outstanding.as_mut().filter(|asked| !asked.lost) {
            let due = asked.last_sent(cx.now) + timeout;
            asked.lost = true;
            cx.arm(Timer::with(TimerKind::Request, Node::Broker(leader)), due);
        }
        self.arm_fetcher(cx, leader);
    }

    /// The request to a leader has failed: all its partitions rest.
    pub(super) fn fail_fetch(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        if self.forget_outstanding(cx, leader).is_none() {
            return;
        }
        let until = cx.now + from_millis(cx.settings.broker(self.id).replica_fetch_backoff_ms);
        if let Some(fetcher) = self.fetchers.get_mut(&leader) {
            fetcher.delay_all(until);
        }
        self.tend_fetcher(cx, leader);
    }

    /// The path to a leader is whole again: what was lost on it, or not even tried, is asked after the reconnection.
    pub(super) fn reach_leader(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let at = cx.now + RECONNECT;
        let Some(fetcher) = self.fetchers.get_mut(&leader) else {
            return;
        };
        match &fetcher.outstanding {
            Some(asked) if !asked.lost => return,
            Some(_) => fetcher.renew_at = Some(at),
            None => fetcher.delay_all(at),
        }
        for state in fetcher.partitions.values_mut() {
            if matches!(state.status, Status::Delayed(until) if until > at) {
                state.status = Status::Delayed(at);
            }
        }
        self.arm_fetcher(cx, leader);
    }

    /// After a pause: an answer of a virtual round may have been on its way when the process froze.
    pub(super) fn renew_after_pause(&mut self, cx: &mut Cx<'_>, leader: BrokerId) {
        let Some(fetcher) = self.fetchers.get_mut(&leader) else {
            return;
        };
        fetcher.renew_at = fetcher.renew_at.map(|at| at.max(cx.now));
        self.arm_fetcher(cx, leader);
    }

    /// Before a pause: notes when the next virtual round would begin.
    pub(super) fn note_rounds(&mut self, now: Micros) {
        for fetcher in self.fetchers.values_mut() {
            if let Some(asked) = fetcher.outstanding.as_ref().filter(|asked| !asked.lost) {
                fetcher.renew_at = Some(asked.next_sent(now));
            }
        }
    }

    /// A leader has answered a fetch.
    pub(super) fn on_fetch_response(
        &mut self,
        cx: &mut Cx<'_>,
        leader: BrokerId,
        id: Correlation,
        results: Vec<FetchResult>,
    ) {
        let Some(Asked::Fetch(request, _)) = self.answered(cx, leader, id) else {
            return;
        };
        for result in results {
            let asked = request
                .partitions
                .iter()
                .find(|part| part.partition == result.partition);
            if asked.is_some_and(|asked| self.is_still_wanted(leader, asked)) {
                self.take_result(cx, leader, result);
            }
        }
        self.tend_fetcher(cx, leader);
    }

    /// Whether an answer belongs to the fetcher's present state: same epoch, where it was named, and same offset.
    fn is_still_wanted(&self, leader: BrokerId, asked: &FetchPartition) -> bool {
        let same_epoch = |state: &FetchState| [state.epoch, -1].contains(&asked.current_leader_epoch);
        self.fetches(leader, asked.partition, Stage::Fetching)
            .is_some_and(|state| same_epoch(&state))
            && self
                .replica(asked.partition)
                .is_some_and(|replica| replica.log.log_end_offset() == asked.offset)
    }

    /// How a partition is copied, if its answers are waited for in this stage.
    pub(super) fn fetches(&self, leader: BrokerId, tp: TopicPartition, stage: Stage) -> Option<FetchState> {
        let state = self.fetchers.get(&leader)?.partitions.get(&tp)?;
        (state.status == Status::Ready && state.stage == stage).then_some(*state)
    }

    fn take_result(&mut self, cx: &mut Cx<'_>, leader: BrokerId, result: FetchResult) {
        let tp = result.partition;
        match (result.error, result.diverging) {
            (None, None) => self.take_records(cx, leader, result),
            (None, Some((epoch, end))) => {
                let broker = self.id;
                cx.say(Rule::TruncateDiverging, || What::Diverged {
                    broker,
                    partition: tp,
                    epoch,
                    end,
                });
                self.truncate_diverging(cx, tp, epoch, end);
            }
            (Some(Errors::OffsetOutOfRange), _) => self.set_status(leader, tp, Status::OutOfRange),
            // The fenced epoch is the one known here: newer metadata is on its way.
            (Some(Errors::FencedLeaderEpoch), _) => self.set_status(leader, tp, Status::Stopped),
            (Some(_), _) => self.rest(cx, leader, tp),
        }
    }

    pub(super) fn set_status(&mut self, leader: BrokerId, tp: TopicPartition, status: Status) {
        if let Some(state) = self
            .fetchers
            .get_mut(&leader)
            .and_then(|fetcher| fetcher.partitions.get_mut(&tp))
        {
            state.status = status;
        }
    }

    pub(super) fn rest(&mut self, cx: &Cx<'_>, leader: BrokerId, tp: TopicPartition) {
        let until = cx.now + from_millis(cx.settings.broker(self.id).replica_fetch_backoff_ms);
        self.set_status(leader, tp, Status::Delayed(until));
    }

    /// Appends what came, and takes over high watermark and log start.
    fn take_records(&mut self, cx: &mut Cx<'_>, leader: BrokerId, result: FetchResult) {
        let (tp, now_ms) = (result.partition, cx.wall_ms());
        let any_epoch = !cx.holds(Rule::FetchFenced);
        if !result.batches.is_empty() && !cx.holds(Rule::AppendFollower) {
            return self.set_status(leader, tp, Status::Stopped);
        }
        let Some(replica) = self.replica_mut(tp) else { return };
        if let Some(first) = result.batches.first() {
            let config = Arc::clone(&replica.config);
            let log = &mut replica.log;
            if log.log_end_offset() > first.base_offset() && log.log_start_offset() == log.log_end_offset() {
                // An empty log that would begin inside a batch begins at the batch.
                log.truncate_fully_and_start_at(first.base_offset(), Some(log.log_start_offset()), &config, now_ms);
                replica.lower_cleaner_checkpoint();
            }
            let epoch = if any_epoch { i32::MAX } else { replica.leader_epoch };
            match replica.log.append_as_follower(&result.batches, epoch, &config, now_ms) {
                Ok(appended) => self.after_append(cx, tp, &appended, AppendedAs::Follower),
                // Corrupt records are fetched again; anything else ends the copying in this epoch.
                Err(refusal) if refusal.error == Errors::CorruptMessage => return self.rest(cx, leader, tp),
                Err(_) => return self.set_status(leader, tp, Status::Stopped),
            }
        }
        self.take_high_watermark(cx, tp, result.high_watermark);
        self.take_log_start(cx, tp, result.log_start);
    }

    /// A plain set, not a maximum: a new leader's high watermark may be lower.
    fn take_high_watermark(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, told: i64) {
        if !cx.holds(Rule::HighWatermarkFollower) {
            return;
        }
        let Some(replica) = self.replica_mut(tp) else { return };
        let from = replica.log.high_watermark();
        let to = match cx.holds(Rule::HighWatermarkBounded) {
            true => replica.log.set_high_watermark(told),
            false => replica.log.set_high_watermark_unbounded(told),
        };
        self.high_watermark_moved(cx, tp, from, to, Rule::HighWatermarkFollower);
    }

    /// Tells of a high watermark that is another one than before.
    pub(super) fn high_watermark_moved(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, from: i64, to: i64, rule: Rule) {
        let broker = self.id;
        if from != to {
            cx.say(rule, || What::HighWatermark {
                broker,
                partition: tp,
                from,
                to,
            });
        }
    }

    fn take_log_start(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, told: i64) {
        let Some(replica) = self.replica(tp) else { return };
        let from = replica.log.log_start_offset();
        if told <= from || !cx.holds(Rule::LogStartFollower) {
            return;
        }
        let Some(replica) = self.replica_mut(tp) else { return };
        if let Ok(true) = replica.log.maybe_increment_log_start(told) {
            replica.log.write_epochs_if_due();
            let to = replica.log.log_start_offset();
            let broker = self.id;
            cx.say(Rule::LogStartFollower, || What::LogStart {
                broker,
                partition: tp,
                from,
                to,
            });
        }
    }
}

fn clamp(bytes: i64) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}
