//! The periodic and background work on logs: flushes, checkpoints, retention, removal of deleted files.
//!
//! Mirrors the tasks of `LogManager` and `ReplicaManager.checkpointHighWatermarks`. Their ticks count from the start of the
//! process; a timer is armed only for the first tick that would find something to do.
//!
//! Deliberately absent: expiry of producer ids. The cleaner stands in a file of its own.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::{AppendedAs, Expiry, What};
use crate::cluster::ids::TopicPartition;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::{AppendOutcome, Appended, DeletionReason, Log, LogConfig, RollReason, Task};

use super::configs::{log_config, writeback_age};
use super::host::Checkpoints;
use super::process::{Process, Touch};
use super::replica::{Replica, Role};

impl Process {
    /// What an append costs and leaves to be done later.
    pub(super) fn after_append(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, appended: &Appended, by: AppendedAs) {
        let (broker, now) = (self.id, cx.now);
        if let Some(rolled) = appended.rolled {
            let rule = if rolled.reason == RollReason::Time {
                Rule::RollTime
            } else {
                Rule::RollSize
            };
            cx.say(rule, || What::Rolled {
                broker,
                partition: tp,
                base: rolled.base_offset,
            });
        }
        if appended.outcome == AppendOutcome::Appended {
            self.tell_appended(cx, tp, appended, by);
        }
        let disk = cx.settings.disk(self.id);
        let cost = disk.write + if appended.flushed { disk.fsync } else { 0 };
        self.spend(cx, tp, cost);
        let Some(replica) = self.replica_mut(tp) else { return };
        if appended.flushed {
            replica.dirty_since = None;
            let to = replica.log.recovery_point();
            let from = appended.first_offset;
            cx.say(Rule::FlushMessages, || What::Flushed {
                broker,
                partition: tp,
                from,
                to,
            });
        } else {
            replica.dirty_since = replica.dirty_since.or(Some(now));
        }
        self.arm_flush(cx, tp);
    }

    fn tell_appended(&self, cx: &mut Cx<'_>, tp: TopicPartition, appended: &Appended, by: AppendedAs) {
        if cx.events.is_none() {
            return;
        }
        let Some(replica) = self.replica(tp) else { return };
        let rule = match by {
            AppendedAs::Leader => Rule::AppendLeader,
            AppendedAs::Follower => Rule::AppendFollower,
        };
        let (first, log) = (appended.first_offset, &replica.log);
        let batches = log.active_segment().log().batches();
        let from = batches.partition_point(|placed| placed.batch.base_offset() < first);
        for placed in batches.iter_from(from) {
            let (broker, batch) = (self.id, placed.batch.clone());
            cx.say(rule, || What::Appended {
                broker,
                partition: tp,
                by,
                batch,
            });
        }
    }

    /// Arms a log's next flush: after a roll, by `flush.ms`, or the operating system's write-back.
    pub(super) fn arm_flush(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let disk = cx.settings.disk(self.id);
        let (writeback, fsync) = (writeback_age(cx, self.id), cx.settings.slowed(cx.me, disk.fsync));
        let scheduler = cx.settings.broker(self.id).log_flush_scheduler_interval_ms;
        let first_tick = self.started + from_millis(cx.settings.broker(self.id).log_initial_task_delay_ms);
        let clock = cx.settings.clock_ms;
        let ready = self.ready();
        let Some(replica) = self.replica(tp) else { return };
        let mut tasks = replica.log.tasks().iter();
        let waits = cx.holds(Rule::FlushRoll) && tasks.any(|task| matches!(task, Task::FlushBelow(_)));
        let roll = waits.then(|| replica.roll_flush.unwrap_or(ready + fsync));
        let aged = replica.dirty_since.zip(writeback).map(|(since, age)| since + age);
        let periodic = flush_ms_due(replica, scheduler, first_tick, clock, cx.now);
        let due = [roll, aged, periodic].into_iter().flatten().min();
        if (replica.flush_due, replica.roll_flush) == (due, roll) {
            return;
        }
        let armed = replica.flush_due;
        let Some(replica) = self.replica_mut(tp) else { return };
        replica.roll_flush = roll;
        replica.flush_due = due;
        if due != armed {
            let timer = Timer::on(TimerKind::Flush, tp);
            match due {
                Some(due) => cx.arm_tick(timer, due),
                None => cx.disarm(timer),
            }
        }
    }

    /// A flush is due.
    pub(super) fn on_flush_due(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let (now, now_ms, writeback) = (cx.now, cx.wall_ms(), writeback_age(cx, self.id));
        let broker = self.id;
        let Some(replica) = self.replica_mut(tp) else { return };
        replica.flush_due = None;
        if replica.roll_flush.is_some_and(|at| at <= now) {
            replica.roll_flush = None;
            let from = replica.log.recovery_point();
            replica.log.run_tasks(now_ms);
            let to = replica.log.recovery_point();
            if to > from {
                cx.say(Rule::FlushRoll, || What::Flushed {
                    broker,
                    partition: tp,
                    from,
                    to,
                });
            }
        }
        if replica
            .dirty_since
            .zip(writeback)
            .is_some_and(|(since, age)| since + age <= now)
        {
            replica.dirty_since = None;
            let (from, to) = (flushed_end(&replica.log), replica.log.log_end_offset());
            replica.log.write_back();
            cx.say(Rule::Writeback, || What::Flushed {
                broker,
                partition: tp,
                from,
                to,
            });
        }
        let flush_ms = replica.config.flush_ms;
        if now_ms.saturating_sub(replica.log.last_flushed_ms()) >= flush_ms {
            self.flush(cx, tp, Rule::FlushMs);
        }
        self.arm_flush(cx, tp);
    }

    /// Forces a log to disk, as a rule asks for it.
    pub(super) fn flush(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, rule: Rule) {
        if !cx.holds(rule) {
            return;
        }
        let (broker, now_ms) = (self.id, cx.wall_ms());
        let Some(replica) = self.replica_mut(tp) else { return };
        let from = replica.log.recovery_point();
        replica.log.flush_all(now_ms);
        replica.dirty_since = None;
        let to = replica.log.recovery_point();
        if to > from {
            cx.say(rule, || What::Flushed {
                broker,
                partition: tp,
                from,
                to,
            });
        }
    }

    /// Begins a new segment, by an operator's act.
    pub(super) fn roll(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        if !cx.holds(Rule::RollAsked) {
            return;
        }
        let (broker, now_ms) = (self.id, cx.wall_ms());
        let Some(replica) = self.replica_mut(tp) else { return };
        let config = Arc::clone(&replica.config);
        // Kafka refuses it only to itself: of an operator's acts there is none that rolls.
        let Ok(base) = replica.log.roll(&config, now_ms) else {
            return;
        };
        cx.say(Rule::RollAsked, || What::Rolled {
            broker,
            partition: tp,
            base,
        });
        self.arm_flush(cx, tp);
        self.arm_file_delete(cx, tp);
    }

    /// One run of the retention check over all logs, asked for or by the clock.
    pub(super) fn run_retention(&mut self, cx: &mut Cx<'_>, which: Retained) {
        let all: Vec<TopicPartition> = self.replicas.keys().copied().collect();
        for tp in all {
            let compacted = self
                .replica(tp)
                .is_some_and(|replica| replica.config.cleanup_policy.compact);
            let covered = match which {
                Retained::NotCompacted => !compacted,
                Retained::Compacted => compacted,
                Retained::Everything => true,
            };
            if covered {
                self.delete_old_segments(cx, tp);
            }
        }
    }

    pub(super) fn delete_old_segments(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let (broker, now_ms) = (self.id, cx.wall_ms());
        // Most passes find nothing: then the replica stays shared.
        if self
            .replica(tp)
            .is_none_or(|replica| retention_ms(&replica.log, &replica.config).is_none())
        {
            return;
        }
        // A segment that a rule spares protects all behind it.
        let spared = |replica: &Replica| begins_below_start(&replica.log) && !cx.holds(Rule::RetentionStart);
        if self.replica(tp).is_some_and(spared) {
            return;
        }
        let Some(replica) = self.replica_mut(tp) else { return };
        let config = Arc::clone(&replica.config);
        let from = replica.log.log_start_offset();
        let active = replica.log.active_segment().base_offset();
        let gone = replica.log.delete_old_segments(&config, now_ms).unwrap_or_default();
        replica.log.write_epochs_if_due();
        let base = replica.log.active_segment().base_offset();
        let to = replica.log.log_start_offset();
        let Some(last) = gone.last() else { return };
        let rule_of = |reason| match reason {
            DeletionReason::LogStartOffset => (Rule::RetentionStart, Expiry::LogStart),
            DeletionReason::Size => (Rule::RetentionSize, Expiry::Size),
            DeletionReason::Time => (Rule::RetentionTime, Expiry::Time),
        };
        if base != active {
            // Everything had to go, so an empty segment was begun first.
            cx.say(rule_of(last.reason).0, || What::Rolled {
                broker,
                partition: tp,
                base,
            });
        }
        for (at, segment) in gone.iter().enumerate() {
            let (rule, by) = rule_of(segment.reason);
            let base = segment.base_offset;
            let next = gone.get(at + 1).map_or(to.max(base), |next| next.base_offset);
            cx.say(rule, || What::SegmentDeleted {
                broker,
                partition: tp,
                base,
                next,
                by,
            });
        }
        if to > from {
            cx.say(rule_of(last.reason).0, || What::LogStart {
                broker,
                partition: tp,
                from,
                to,
            });
            self.touch(tp, Touch::LogStart);
        }
        self.arm_flush(cx, tp);
        self.arm_file_delete(cx, tp);
    }

    /// Arms the removal of files whose deletion waits.
    pub(super) fn arm_file_delete(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let clock = cx.settings.clock_ms;
        let Some(replica) = self.replica(tp) else { return };
        let due = replica.log.next_deletion_ms().map(|ms| virtual_time(ms, clock));
        if due == replica.delete_due {
            return;
        }
        if let Some(replica) = self.replica_mut(tp) {
            replica.delete_due = due;
        }
        let timer = Timer::on(TimerKind::FileDelete, tp);
        match due {
            Some(due) => cx.arm(timer, due),
            None => cx.disarm(timer),
        }
    }

    /// Removes files whose delay has passed.
    pub(super) fn remove_files(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let (broker, now_ms) = (self.id, cx.wall_ms());
        let Some(replica) = self.replica_mut(tp) else { return };
        replica.delete_due = None;
        if replica.log.remove_deleted(now_ms) > 0 {
            cx.say(Rule::FileDelete, || What::FilesRemoved { broker, partition: tp });
        }
        self.arm_file_delete(cx, tp);
    }

    /// Arms the first retention check that could find something.
    pub(super) fn arm_retention(&mut self, cx: &mut Cx<'_>) {
        let config = cx.settings.broker(self.id);
        let first = self.started + from_millis(config.log_initial_task_delay_ms);
        let interval = from_millis(config.log_retention_check_interval_ms);
        let clock = cx.settings.clock_ms;
        let logs = self
            .replicas
            .values()
            .filter(|replica| !replica.config.cleanup_policy.compact);
        let due_ms = logs
            .filter_map(|replica| retention_ms(&replica.log, &replica.config))
            .min();
        let due = due_ms.map(|ms| {
            let not_before = virtual_time(ms, clock).saturating_sub(1);
            Process::next_tick(first, interval, not_before.max(cx.now))
        });
        self.arm_once(cx, TimerKind::Retention, due);
    }

    /// Arms the next checkpoint that would write something new.
    pub(super) fn arm_checkpoint(&mut self, cx: &mut Cx<'_>) {
        let [watermarks, points, starts] = Ticks::of(self, cx).next(cx.now);
        let known = self.replicas.values().filter(|replica| replica.role != Role::Unknown);
        let due = known.flat_map(|replica| {
            let (now, written) = (checkpoints_now(&replica.log, replica.on_host), replica.on_host);
            [
                (now.high_watermark != written.high_watermark).then_some(watermarks),
                (now.recovery_point != written.recovery_point).then_some(points),
                (now.log_start != written.log_start).then_some(starts),
            ]
        });
        let due = due.flatten().min();
        self.arm_once(cx, TimerKind::Checkpoint, due);
    }

    /// The checkpoint timer: each file is written at its own ticks.
    pub(super) fn on_checkpoint_due(&mut self, cx: &mut Cx<'_>) {
        let [watermarks, points, starts] = match Ticks::of(self, cx).at(cx.now) {
            // Out of its turn everything is written.
            [false, false, false] => [true; 3],
            own => own,
        };
        self.write_checkpoints(cx, |written, now| Checkpoints {
            high_watermark: if watermarks {
                now.high_watermark
            } else {
                written.high_watermark
            },
            recovery_point: if points {
                now.recovery_point
            } else {
                written.recovery_point
            },
            log_start: if starts { now.log_start } else { written.log_start },
            cleaner: written.cleaner,
        });
    }

    /// Writes the checkpoint files.
    pub(super) fn write_checkpoints(
        &mut self,
        cx: &mut Cx<'_>,
        change: impl Fn(Checkpoints, Checkpoints) -> Checkpoints,
    ) {
        if !cx.holds(Rule::Checkpoint) {
            return;
        }
        for replica in self.replicas.values_mut() {
            let new = change(replica.on_host, checkpoints_now(&replica.log, replica.on_host));
            if new != replica.on_host {
                replica.make_mut().on_host = new;
            }
        }
        let broker = self.id;
        cx.say(Rule::Checkpoint, || What::Checkpointed { broker });
    }

    /// Takes over configs that have changed. The high watermark does not move by that.
    pub(super) fn take_configs(&mut self, cx: &mut Cx<'_>) {
        for (tp, replica) in &mut self.replicas {
            let config = log_config(cx, self.id, *tp);
            if *replica.config != config {
                replica.make_mut().config = Arc::new(config);
            }
        }
        self.cleaner.forget_dues();
        let all: Vec<TopicPartition> = self.replicas.keys().copied().collect();
        for tp in all {
            self.arm_flush(cx, tp);
        }
    }
}

/// Which logs a retention check covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retained {
    /// Those that are not compacted: the rest is the cleaner's.
    NotCompacted,
    /// The cleaner's part: those that are compacted.
    Compacted,
    /// All of them.
    Everything,
}

/// The ticks of the three checkpoint tasks, each its first and its interval: high watermarks, recovery points, log starts.
struct Ticks([(Micros, Micros); 3]);

impl Ticks {
    fn of(process: &Process, cx: &Cx<'_>) -> Ticks {
        let config = cx.settings.broker(process.id);
        let of_logs = process.started + from_millis(config.log_initial_task_delay_ms);
        let ticks = [
            (process.started, config.replica_high_watermark_checkpoint_interval_ms),
            (of_logs, config.log_flush_offset_checkpoint_interval_ms),
            (of_logs, config.log_flush_start_offset_checkpoint_interval_ms),
        ];
        Ticks(ticks.map(|(first, interval)| (first, from_millis(interval).max(1))))
    }

    /// The next of each.
    fn next(&self, now: Micros) -> [Micros; 3] {
        self.0.map(|(first, interval)| Process::next_tick(first, interval, now))
    }

    /// Which of them are now.
    fn at(&self, now: Micros) -> [bool; 3] {
        self.0
            .map(|(first, interval)| now >= first && (now - first).is_multiple_of(interval))
    }
}

/// What the checkpoint files would say now. A log start is written only where no segment begins there. The cleaner writes
/// its own at once, so it stays as it was written.
pub(super) fn checkpoints_now(log: &Log, written: Checkpoints) -> Checkpoints {
    let first = log.segments().next().map_or(0, |segment| segment.base_offset());
    let start = log.log_start_offset();
    Checkpoints {
        recovery_point: log.recovery_point(),
        log_start: if start > first { start } else { 0 },
        high_watermark: log.high_watermark(),
        cleaner: written.cleaner,
    }
}

/// Up to where everything is on disk, flushed or written back.
pub(super) fn flushed_end(log: &Log) -> i64 {
    for segment in log.segments() {
        let on_disk = segment.log().flushed().unwrap_or(0);
        let kept = segment
            .log()
            .batches()
            .partition_point(|placed| placed.end() <= on_disk);
        if let Some(first_lost) = segment.log().batches().get(kept) {
            return first_lost.batch.base_offset();
        }
    }
    log.log_end_offset()
}

/// When `flush.ms` has a log flushed: at the scheduler's first tick at which the time has passed.
fn flush_ms_due(replica: &Replica, scheduler_ms: i64, first_tick: Micros, clock: i64, now: Micros) -> Option<Micros> {
    let dirty = replica.log.recovery_point() < replica.log.log_end_offset();
    if !dirty || scheduler_ms == i64::MAX || replica.config.flush_ms == i64::MAX {
        return None;
    }
    let passed = replica.log.last_flushed_ms().saturating_add(replica.config.flush_ms);
    let not_before = virtual_time(passed, clock).saturating_sub(1).max(now);
    Some(Process::next_tick(first_tick, from_millis(scheduler_ms), not_before))
}

/// Whether the oldest segment lies wholly below the log start.
fn begins_below_start(log: &Log) -> bool {
    let second = log.segments().nth(1);
    second.is_some_and(|second| second.base_offset() <= log.log_start_offset())
}

/// From when on (wall clock, milliseconds) a retention check would delete something; a time that has passed is now.
pub(super) fn retention_ms(log: &Log, config: &LogConfig) -> Option<i64> {
    let mut segments = log.segments();
    let oldest = segments.next()?;
    let next = segments.next();
    let end = next.map_or(log.log_end_offset(), |next| next.base_offset());
    if log.high_watermark() < end || (next.is_none() && oldest.size() == 0) {
        return None;
    }
    if begins_below_start(log) {
        return Some(i64::MIN);
    }
    if !config.cleanup_policy.delete {
        return None;
    }
    let rest = log.size() as i64 - i64::from(oldest.size());
    if config.retention_bytes >= 0 && rest >= config.retention_bytes {
        return Some(i64::MIN);
    }
    let expires = oldest
        .largest_timestamp()
        .checked_add(config.retention_ms)?
        .checked_add(1);
    expires.filter(|_| config.retention_ms >= 0)
}

/// A wall-clock time as virtual time; what lies before the start is 0.
pub(super) fn virtual_time(ms: i64, clock_ms: i64) -> Micros {
    from_millis(ms.saturating_sub(clock_ms))
}
