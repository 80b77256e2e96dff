//! Where a follower cuts its log, so that it is its leader's again.
//!
//! Mirrors `AbstractFetcherThread.truncateOnFetchResponse`, `maybeTruncateToEpochEndOffsets`, `getOffsetTruncationState` and
//! `fetchOffsetAndTruncate`. Today the answer of a fetch says where two logs part (KIP-595). Before that a follower asked
//! where its last epoch ends in the leader's log and cut there, and only then fetched: by the end alone (KIP-101), or by
//! epoch and end in as many rounds as it takes (KIP-279). Both fetched without naming the leader epoch (KIP-320).

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::message::{Correlation, FoundOffset};
use crate::cluster::rules::Rule;
use crate::log::{Errors, Log};

use super::fetcher::{Asked, Fetcher, Stage, Status};
use super::host::records_of;
use super::process::Process;

/// Where a log is cut by a leader's answer.
struct Cut {
    to: i64,
    /// Whether the log is the leader's then, as far as the answer can tell.
    enough: bool,
}

/// Where a log is cut when its leader says that this epoch, the largest up to the one asked for, ends there.
fn cut(log: &Log, epoch: i32, end: i64) -> Cut {
    let log_end = log.log_end_offset();
    let (to, enough) = match log.end_offset_for_epoch(epoch) {
        _ if end < 0 => (log.high_watermark(), true),
        None => (end, true),
        Some(own) if own.epoch != epoch => (own.end_offset, false),
        Some(own) => (own.end_offset.min(end), true),
    };
    Cut {
        to: to.min(log_end),
        enough,
    }
}

impl Process {
    /// Cuts the log where a fetch's answer says that it parts from the leader's. The next fetch shows whether that was
    /// enough.
    pub(super) fn truncate_diverging(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, epoch: i32, end: i64) {
        let Some(replica) = self.replica(tp) else { return };
        let cut = cut(&replica.log, epoch, end);
        self.truncate(cx, tp, cut.to, Rule::TruncateDiverging);
    }

    /// What must be asked about epochs before anything else is: the last epoch of each log that is not compared yet.
    pub(super) fn epoch_ends_to_ask(&self, fetcher: &Fetcher) -> Option<Vec<(TopicPartition, i32)>> {
        let last = |tp| self.replica(tp).and_then(|replica| replica.log.latest_epoch());
        let asked: Vec<(TopicPartition, i32)> = fetcher
            .ready(Stage::Truncating)
            .map(|(tp, _)| (tp, last(tp).unwrap_or(-1)))
            .collect();
        (!asked.is_empty()).then_some(asked)
    }

    /// A leader has answered where epochs end in its logs. A log that was cut to an epoch that the leader does not know is
    /// compared once more.
    pub(super) fn on_epoch_ends(
        &mut self,
        cx: &mut Cx<'_>,
        leader: BrokerId,
        id: Correlation,
        answers: &[(TopicPartition, Result<(i32, i64), Errors>)],
    ) {
        let Some(Asked::EpochEnds(_)) = self.answered(cx, leader, id) else {
            return;
        };
        for &(tp, answer) in answers {
            if self.fetches(leader, tp, Stage::Truncating).is_none() {
                continue;
            }
            match answer {
                Ok((epoch, end)) => self.cut_before_fetching(cx, leader, tp, (epoch, end)),
                Err(_) => self.rest(cx, leader, tp),
            }
        }
        self.tend_fetcher(cx, leader);
    }

    fn cut_before_fetching(&mut self, cx: &mut Cx<'_>, leader: BrokerId, tp: TopicPartition, told: (i32, i64)) {
        let Some(replica) = self.replica(tp) else { return };
        let (broker, cut) = (self.id, cut(&replica.log, told.0, told.1));
        if cut.to < replica.log.log_end_offset() {
            cx.say(Rule::AskEpochEnd, || What::Diverged {
                broker,
                partition: tp,
                epoch: told.0,
                end: told.1,
            });
        }
        self.truncate(cx, tp, cut.to, Rule::AskEpochEnd);
        if cut.enough {
            self.stop_fetching(tp);
            let epoch = self.replica(tp).map_or(-1, |replica| replica.leader_epoch);
            self.start_fetching(tp, leader, epoch, Stage::Fetching);
        }
    }

    /// Cuts a log at an offset and tells what was cut.
    pub(super) fn truncate(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, to: i64, rule: Rule) {
        let (broker, now_ms) = (self.id, cx.wall_ms());
        let Some(replica) = self.replica_mut(tp) else { return };
        let config = Arc::clone(&replica.config);
        let (from, watermark) = (replica.log.log_end_offset(), replica.log.high_watermark());
        let active = replica.log.active_segment().base_offset();
        let gone = replica.log.truncate_to(to, &config, now_ms);
        replica.log.run_tasks(now_ms);
        // A refused truncation has said nothing of what it took.
        let Ok(Some(gone)) = gone else { return };
        if to < active {
            replica.lower_cleaner_checkpoint();
        }
        replica.on_host.recovery_point = replica.on_host.recovery_point.min(replica.log.recovery_point());
        let now = replica.log.high_watermark();
        cx.say(rule, || {
            let cut = records_of(&gone.batches);
            What::Truncated {
                broker,
                partition: tp,
                to,
                from,
                cut,
            }
        });
        self.high_watermark_moved(cx, tp, watermark, now, rule);
    }

    /// A leader has answered where a partition begins and ends, after a fetch outside of that.
    pub(super) fn on_ends(
        &mut self,
        cx: &mut Cx<'_>,
        leader: BrokerId,
        id: Correlation,
        answers: &[(TopicPartition, Result<Option<FoundOffset>, Errors>)],
    ) {
        let Some(Asked::Ends(tp)) = self.answered(cx, leader, id) else {
            return;
        };
        let current = self
            .fetchers
            .get(&leader)
            .and_then(|fetcher| fetcher.partitions.get(&tp))
            .copied();
        if current.is_some_and(|state| state.status == Status::OutOfRange) {
            match answers {
                _ if !cx.holds(Rule::TruncateOutOfRange) => self.set_status(leader, tp, Status::Stopped),
                [(_, Ok(Some(end))), (_, Ok(Some(start)))] => {
                    self.set_status(leader, tp, Status::Ready);
                    self.fit_into_range(cx, tp, start.offset, end.offset);
                }
                _ => self.rest(cx, leader, tp),
            }
        }
        self.tend_fetcher(cx, leader);
    }

    /// Brings the log into its leader's range: cut at the leader's end, or begun anew at the leader's start.
    fn fit_into_range(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, start: i64, end: i64) {
        let (broker, now_ms) = (self.id, cx.wall_ms());
        let Some(replica) = self.replica_mut(tp) else { return };
        let log_end = replica.log.log_end_offset();
        if end < log_end {
            self.truncate(cx, tp, end, Rule::TruncateOutOfRange);
        } else if start > log_end {
            let config = Arc::clone(&replica.config);
            let (from, watermark) = (replica.log.log_start_offset(), replica.log.high_watermark());
            let gone = replica.log.truncate_fully_and_start_at(start, None, &config, now_ms);
            replica.log.run_tasks(now_ms);
            replica.on_host.recovery_point = replica.on_host.recovery_point.min(start);
            replica.lower_cleaner_checkpoint();
            let now = replica.log.high_watermark();
            cx.say(Rule::TruncateOutOfRange, || {
                let cut = records_of(&gone.batches);
                What::Truncated {
                    broker,
                    partition: tp,
                    to: start,
                    from: log_end,
                    cut,
                }
            });
            cx.say(Rule::TruncateOutOfRange, || What::LogStart {
                broker,
                partition: tp,
                from,
                to: start,
            });
            self.high_watermark_moved(cx, tp, watermark, now, Rule::TruncateOutOfRange);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LogConfig;

    /// A log that ends here, whose epochs begin where it is said.
    fn log(epochs: &[(i32, i64)], end: i64) -> Log {
        let config = LogConfig::default();
        let mut log = Log::create(0, &config, 0);
        let _ = log.truncate_fully_and_start_at(end, None, &config, 0);
        for &(epoch, start) in epochs {
            log.assign_epoch(epoch, start);
        }
        log
    }

    /// Epochs and end of the follower, the leader's answer, where the follower cuts and whether it need not ask again.
    #[test]
    fn where_a_log_is_cut() {
        let cases: [(&[(i32, i64)], i64, (i32, i64), (i64, bool)); 7] = [
            // Both know the epoch: the smaller of both ends.
            (&[(4, 100), (5, 149)], 200, (4, 140), (140, true)),
            (&[(4, 100), (5, 149)], 200, (4, 160), (149, true)),
            // The leader's epoch is not known here: cut to what is below it, and ask for that.
            (&[(2, 100), (4, 129)], 200, (3, 130), (129, false)),
            // The end alone, as before KIP-279: never beyond the own end.
            (&[(2, 100), (4, 129)], 200, (-1, 130), (130, true)),
            (&[(2, 100), (4, 129)], 200, (-1, 230), (200, true)),
            // Nothing is known here of that epoch or a later one.
            (&[(2, 100)], 200, (3, 150), (150, true)),
            // The leader cannot say: the own high watermark.
            (&[(2, 100)], 200, (-1, -1), (200, true)),
        ];
        for (epochs, end, (epoch, told), expected) in cases {
            let found = cut(&log(epochs, end), epoch, told);
            assert_eq!(
                (found.to, found.enough),
                expected,
                "{epochs:?} to {end}, told {epoch} ends at {told}"
            );
        }
    }
}
