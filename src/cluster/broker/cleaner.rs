//! The log cleaner: which compacted log is the dirtiest, when it would find work, and what a pass leaves behind.
//!
//! Mirrors `LogCleaner` with its threads and `LogCleanerManager`. The cleaner begins with the process and looks again
//! whenever `log.cleaner.backoff.ms` have passed; its timer is armed only for the first look that would find something.
//! Retention of compacted logs is its work too. How a log is compacted stands in [`log::clean`](crate::log).
//!
//! Deliberately absent: the time that a pass takes, throttling, and several threads at work at once (they share the memory
//! of the map, and that is seen).

use crate::cluster::actor::{Cx, TimerKind};
use crate::cluster::event::What;
use crate::cluster::ids::TopicPartition;
use crate::cluster::later;
use crate::cluster::rules::Rule;
use crate::cluster::settings::from_millis;
use crate::config::BrokerConfig;
use crate::log::{Cleanable, CleanerConfig, Encoder, Log, RemovedRecord};
use crate::sorted::{SortedMap, SortedSet, sort_by};

use super::process::Process;
use super::replica::Replica;
use super::storage::{Retained, retention_ms, virtual_time};

/// What the cleaner's thread keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Cleaner {
    /// Logs that it could not clean: left alone until the process ends.
    uncleanable: SortedSet<TopicPartition>,
    /// From when on (wall clock, milliseconds) each log could be cleaned, while what decides it stays the same.
    dues: SortedMap<TopicPartition, (Extent, Option<i64>)>,
}

/// What of a log decides when it can be cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    start: i64,
    active: i64,
    /// Up to where a pass could go at most.
    stable: i64,
    checkpoint: Option<i64>,
}

impl Extent {
    fn of(log: &Log, checkpoint: Option<i64>) -> Extent {
        let active = log.active_segment().base_offset();
        Extent {
            start: log.log_start_offset(),
            active,
            stable: log.last_stable_offset().min(active),
            checkpoint,
        }
    }
}

impl Cleaner {
    /// Configs have changed: when a log can be cleaned has to be found out anew.
    pub(super) fn forget_dues(&mut self) {
        self.dues.clear();
    }

    pub(super) fn encode(&self, out: &mut Encoder) {
        out.len(self.uncleanable.len());
        for tp in &self.uncleanable {
            crate::cluster::encode::partition(*tp, out);
        }
    }
}

impl Replica {
    /// Records that may have been cleaned were cut off: what is appended in their place is dirty. Kafka does this only while the
    /// log is compacted (`LogCleanerManager.maybeTruncateCheckpoint`).
    pub(super) fn lower_cleaner_checkpoint(&mut self) {
        if !self.config.cleanup_policy.compact {
            return;
        }
        let active = self.log.active_segment().base_offset();
        self.on_host.cleaner = self.on_host.cleaner.map(|checkpoint| checkpoint.min(active));
    }

    fn cleanable(&self, now_ms: i64) -> Option<Cleanable> {
        let compact = self.config.cleanup_policy.compact;
        compact.then(|| self.log.cleanable(self.on_host.cleaner, &self.config, now_ms))
    }
}

impl Process {
    /// Whether there is a log for the cleaner at all.
    fn has_compacted(&self) -> bool {
        let mut replicas = self.replicas.values();
        replicas.any(|replica| replica.config.cleanup_policy.compact)
    }

    /// The cleaner looks for work.
    pub(super) fn clean_what_is_due(&mut self, cx: &mut Cx<'_>) {
        if let Some(later) = later::get().filter(|_| self.has_compacted()) {
            (later.clean)(self, cx);
        }
    }

    /// The cleaner looks for work, and goes on until there is none.
    pub(in crate::cluster) fn run_cleaner(&mut self, cx: &mut Cx<'_>) {
        if !runs(cx.settings.broker(self.id)) {
            return;
        }
        loop {
            let dirtiest = self.dirtiest(cx.wall_ms());
            if let Some((tp, cleanable)) = &dirtiest {
                self.compact(cx, *tp, cleanable);
            }
            self.run_retention(cx, Retained::Compacted);
            if dirtiest.is_none() {
                return;
            }
        }
    }

    /// One pass, asked for: over this log if it is worth it, or over the dirtiest; and the retention that goes with it.
    pub(super) fn clean_once(&mut self, cx: &mut Cx<'_>, which: Option<TopicPartition>) {
        if !runs(cx.settings.broker(self.id)) {
            return;
        }
        let found = match which {
            Some(tp) => self.worth_cleaning(tp, cx.wall_ms()).map(|cleanable| (tp, cleanable)),
            None => self.dirtiest(cx.wall_ms()),
        };
        if let Some((tp, cleanable)) = found {
            self.compact(cx, tp, &cleanable);
        }
        match which {
            Some(tp) if self.is_compacted(tp) => self.delete_old_segments(cx, tp),
            Some(_) => {}
            None => self.run_retention(cx, Retained::Compacted),
        }
    }

    fn is_compacted(&self, tp: TopicPartition) -> bool {
        self.replica(tp)
            .is_some_and(|replica| replica.config.cleanup_policy.compact)
    }

    /// The log with the largest dirty part, the first of those that are equal.
    fn dirtiest(&mut self, now_ms: i64) -> Option<(TopicPartition, Cleanable)> {
        let all: Vec<TopicPartition> = self.replicas.keys().copied().collect();
        let mut best: Option<(TopicPartition, Cleanable)> = None;
        for tp in all {
            let Some(found) = self.worth_cleaning(tp, now_ms) else {
                continue;
            };
            if best.is_none_or(|(_, best)| found.ratio() > best.ratio()) {
                best = Some((tp, found));
            }
        }
        best
    }

    /// What could be cleaned of a log, if a cleaner would pick it. A checkpoint that is of no use is set right.
    fn worth_cleaning(&mut self, tp: TopicPartition, now_ms: i64) -> Option<Cleanable> {
        if self.cleaner.uncleanable.contains(&tp) {
            return None;
        }
        let replica = self.replica(tp)?;
        let found = replica.cleanable(now_ms)?;
        let eligible = found.is_eligible(&replica.config);
        if found.checkpoint_reset {
            self.replica_mut(tp)?.on_host.cleaner = Some(found.first_dirty_offset);
        }
        eligible.then_some(found)
    }

    /// Cleans a log and tells what went and what stays.
    fn compact(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, cleanable: &Cleanable) {
        if !cx.holds(Rule::Compaction) {
            self.cleaner.uncleanable.insert(tp);
            return;
        }
        let (broker, now_ms) = (self.id, cx.wall_ms());
        let cleaner = memory_of(cx.settings.broker(broker));
        let Some(replica) = self.replica_mut(tp) else { return };
        let config = std::sync::Arc::clone(&replica.config);
        let from = cleanable.first_dirty_offset;
        let cleaned = replica.log.clean(cleanable, &cleaner, &config, now_ms);
        let Some(cleaned) = cleaned.ok().filter(|cleaned| cleaned.end_offset > from) else {
            // It would fail, or come no further, time and again.
            self.cleaner.uncleanable.insert(tp);
            return;
        };
        let to = cleaned.end_offset;
        replica.on_host.cleaner = Some(to);
        let log = &replica.log;
        cx.say(Rule::Compaction, || What::Compacted {
            broker,
            partition: tp,
            from,
            to,
            kept: offsets_below(log, to),
            gone: in_order(cleaned.removed),
        });
        self.arm_flush(cx, tp);
        self.arm_file_delete(cx, tp);
    }

    /// Arms the first look of the cleaner that would find something.
    pub(super) fn arm_cleaner(&mut self, cx: &mut Cx<'_>) {
        let config = cx.settings.broker(self.id);
        let (clock, interval) = (cx.settings.clock_ms, from_millis(config.log_cleaner_backoff_ms));
        let cleans = later::get().filter(|_| runs(config) && self.has_compacted());
        let due_ms = cleans.and_then(|later| (later.next_cleaning)(self));
        let due = due_ms.map(|ms| {
            let not_before = virtual_time(ms, clock).saturating_sub(1);
            Process::next_tick(self.started, interval, not_before.max(cx.now))
        });
        self.arm_once(cx, TimerKind::Cleaner, due);
    }

    /// From when on there is something to clean, or a compacted log has segments to delete.
    pub(in crate::cluster) fn next_cleaning(&mut self) -> Option<i64> {
        let mut first: Option<i64> = None;
        for (tp, replica) in &self.replicas {
            if !replica.config.cleanup_policy.compact {
                continue;
            }
            let extent = Extent::of(&replica.log, replica.on_host.cleaner);
            let known = self.cleaner.dues.get(tp).filter(|known| known.0 == extent);
            let cleaning = match known {
                Some((_, due)) => *due,
                None => {
                    let due = replica.log.cleanable_from(extent.checkpoint, &replica.config);
                    self.cleaner.dues.insert(*tp, (extent, due));
                    due
                }
            };
            let cleaning = cleaning.filter(|_| !self.cleaner.uncleanable.contains(tp));
            let deleting = retention_ms(&replica.log, &replica.config);
            first = [first, cleaning, deleting].into_iter().flatten().min();
        }
        first
    }
}

fn runs(config: &BrokerConfig) -> bool {
    config.log_cleaner_enable && config.log_cleaner_threads > 0
}

/// The memory of one thread.
fn memory_of(config: &BrokerConfig) -> CleanerConfig {
    let shared = config.log_cleaner_dedupe_buffer_size.max(0) / config.log_cleaner_threads.max(1);
    CleanerConfig {
        map_memory: shared.unsigned_abs(),
        load_factor: config.log_cleaner_io_buffer_load_factor,
        machine_clock_ms: None,
    }
}

/// The offsets of the records below an offset, as ranges.
fn offsets_below(log: &Log, end: i64) -> Vec<(i64, i64)> {
    let batches = log.segments().flat_map(|segment| segment.log().batches().iter());
    let records = batches.flat_map(|placed| placed.batch.records().map(|record| record.offset).collect::<Vec<_>>());
    let start = log.log_start_offset();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for offset in records.filter(|offset| (start..end).contains(offset)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == offset => *last = offset,
            _ => ranges.push((offset, offset)),
        }
    }
    ranges
}

fn in_order(mut removed: Vec<RemovedRecord>) -> Vec<RemovedRecord> {
    sort_by(&mut removed, |a, b| a.offset.cmp(&b.offset));
    removed
}
