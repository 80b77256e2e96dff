//! Compaction: of each key the last record stays.
//!
//! Mirrors `LogCleanerManager` (what may be cleaned), `Cleaner` (how) and `MemoryRecords.filterTo` (what becomes of a
//! batch). One pass reads the dirty part into a [map](offset_map::OffsetMap) from key to last offset, then rewrites all
//! segments below it, group by group, into new ones that take their place. Offsets never change; what goes leaves holes.
//!
//! Deliberately absent: the choice between several logs and the threads (the broker's), throttling, and the growing of
//! I/O buffers, which shows in no file.

mod filter;
mod offset_map;
mod transactions;

use std::sync::Arc;

use super::batch::{Batch, Malformed};
use super::config::LogConfig;
use super::errors::{Errors, Refusal};
use super::files::{CLEANED_SUFFIX, File, file_name};
use super::fingerprint::Cached;
use super::record::RecordView;
use super::segment::{Segment, SegmentFault};
use super::state::{Log, State, segment_files};
use crate::sorted::sort_by;
use filter::{Filter, Kept};
use offset_map::OffsetMap;
use transactions::CleanedTransactions;

/// The bytes that one slot of the offset map takes: a hash of the key and an offset.
const BYTES_PER_SLOT: u64 = 24;

/// The settings of a broker's cleaner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CleanerConfig {
    /// The memory of one cleaner thread's map, in bytes (`log.cleaner.dedupe.buffer.size` over `log.cleaner.threads`).
    pub map_memory: u64,
    /// How full the map may become (`log.cleaner.io.buffer.load.factor`).
    pub load_factor: f64,
    /// What the machine's clock shows, in milliseconds since 1970, where the broker goes by another: the segments that a cleaner
    /// makes are dated by the machine's (`UnifiedLog.createNewCleanedSegment`).
    pub machine_clock_ms: Option<i64>,
}

impl Default for CleanerConfig {
    fn default() -> Self {
        Self {
            map_memory: 128 << 20,
            load_factor: 0.9,
            machine_clock_ms: None,
        }
    }
}

impl CleanerConfig {
    /// How many keys one pass can take in.
    pub fn usable_slots(&self) -> u64 {
        ((self.map_memory / BYTES_PER_SLOT) as f64 * self.load_factor) as u64
    }
}

/// What could be cleaned of a log now (`LogToClean`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleanable {
    /// The first offset that was never cleaned.
    pub first_dirty_offset: i64,
    /// The first offset that must not be cleaned, rounded to nothing yet.
    pub uncleanable_offset: i64,
    /// The base of the segment that holds it: cleaning ends here.
    pub first_uncleanable_offset: i64,
    /// The bytes of the segments that begin below the first dirty offset.
    pub clean_bytes: u64,
    /// The bytes of the segments that would be cleaned.
    pub cleanable_bytes: u64,
    /// By how much the oldest dirty record has outstayed `max.compaction.lag.ms`, 0 if it has not.
    pub max_compaction_delay_ms: i64,
    /// Whether the checkpoint was of no use and is to be set to the first dirty offset at once.
    pub checkpoint_reset: bool,
}

impl Cleanable {
    /// The dirty part of the bytes.
    pub fn ratio(&self) -> f64 {
        self.cleanable_bytes as f64 / (self.clean_bytes + self.cleanable_bytes) as f64
    }

    /// Whether a record has waited longer than `max.compaction.lag.ms`, so that the ratio does not matter.
    pub fn is_mandatory(&self) -> bool {
        self.max_compaction_delay_ms > 0
    }

    /// Whether a cleaner would pick this log.
    pub fn is_eligible(&self, config: &LogConfig) -> bool {
        let total = self.clean_bytes + self.cleanable_bytes;
        let wanted =
            (self.is_mandatory() && self.cleanable_bytes > 0) || self.ratio() > config.min_cleanable_dirty_ratio;
        total > 0 && wanted
    }
}

/// Why a pass removed a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Its key stands again at this offset.
    Superseded {
        /// The last offset of the key that the pass knows.
        by: i64,
    },
    /// It deletes a key, and its delete horizon has passed.
    Tombstone,
    /// It has no key.
    Unkeyed,
    /// Its transaction was aborted.
    Aborted,
}

/// A record that a pass removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedRecord {
    /// Its offset, which nothing will have again.
    pub offset: i64,
    /// Its tag, if it had one.
    pub tag: Option<u64>,
    /// Why it had to go.
    pub why: Removal,
}

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// The next first dirty offset: the cleaner's checkpoint.
    pub end_offset: i64,
    /// How many keys the map held.
    pub map_entries: u64,
    /// The delete horizon given to batches that got one now.
    pub new_horizon_ms: i64,
    /// The records that are gone, by offset.
    pub removed: Vec<RemovedRecord>,
}

impl Log {
    /// What could be cleaned now, given the cleaner's checkpoint for this log.
    pub fn cleanable(&self, checkpoint: Option<i64>, config: &LogConfig, now_ms: i64) -> Cleanable {
        let start = self.log_start_offset();
        let usable = checkpoint.filter(|offset| *offset >= start && *offset <= self.log_end_offset());
        let first_dirty_offset = usable.unwrap_or(start);
        let dirty = || self.state.closed_from(first_dirty_offset);
        let min_lag = config.min_compaction_lag_ms.max(0);
        let lagging = dirty()
            .find(|segment| min_lag > 0 && segment.largest_timestamp() > now_ms.wrapping_sub(min_lag))
            .map_or(i64::MAX, Segment::base_offset);
        let active = self.active_segment().base_offset();
        let uncleanable_offset = self
            .last_stable_offset()
            .min(active)
            .min(lagging)
            .max(first_dirty_offset);
        let first_uncleanable_offset = self
            .state
            .closed_from(uncleanable_offset)
            .next()
            .map_or(active, Segment::base_offset);
        let bytes = |segments: &mut dyn Iterator<Item = &Segment>| {
            segments.map(|segment| u64::from(segment.size())).sum::<u64>()
        };
        let from = first_dirty_offset.min(first_uncleanable_offset);
        let below = |offset: i64| move |segment: &&Segment| segment.base_offset() < offset;
        let oldest = dirty()
            .map(Segment::first_batch_timestamp)
            .filter(|timestamp| *timestamp > 0)
            .min();
        let clean_until = now_ms.wrapping_sub(config.max_compaction_lag_ms.max(0));
        Cleanable {
            first_dirty_offset,
            uncleanable_offset,
            first_uncleanable_offset,
            clean_bytes: bytes(&mut self.segments().filter(below(first_dirty_offset))),
            cleanable_bytes: match from == first_uncleanable_offset {
                true => 0,
                false => bytes(&mut self.state.segments_from(from).filter(below(first_uncleanable_offset))),
            },
            max_compaction_delay_ms: oldest.map_or(0, |oldest| clean_until.saturating_sub(oldest).max(0)),
            checkpoint_reset: checkpoint.is_some() && usable.is_none(),
        }
    }

    /// From when on (wall clock, milliseconds) a cleaner would pick this log, if it stays as it is; a time that has passed
    /// is now.
    pub fn cleanable_from(&self, checkpoint: Option<i64>, config: &LogConfig) -> Option<i64> {
        let start = self.log_start_offset();
        let dirty = || self.state.closed_from(checkpoint.unwrap_or(start).max(start));
        let min_lag = config.min_compaction_lag_ms.max(0);
        let old_enough = dirty().map(|segment| segment.largest_timestamp().saturating_add(min_lag));
        let outstayed = dirty().map(|segment| {
            let since = segment.first_batch_timestamp();
            since
                .saturating_add(config.max_compaction_lag_ms.max(0))
                .saturating_add(1)
        });
        let mut times: Vec<i64> = old_enough.chain(outstayed).map(|time| time.max(0)).collect();
        sort_by(&mut times, i64::cmp);
        // As time goes on more of the log can be cleaned, never less.
        let waits = |time: &i64| !self.cleanable(checkpoint, config, *time).is_eligible(config);
        times.get(times.partition_point(waits)).copied()
    }

    /// One pass of the cleaner. An error leaves the log sound, with the groups that were done replaced; of the one that failed
    /// the `.cleaned` files stay behind until the next pass or the next load.
    pub fn clean(
        &mut self,
        cleanable: &Cleanable,
        cleaner: &CleanerConfig,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Cleaned, Refusal> {
        let state = &mut *self.state;
        let map = state.build_offset_map(cleanable, cleaner)?;
        let mut cleaned = Cleaned {
            end_offset: map.latest_offset() + 1,
            map_entries: map.len(),
            new_horizon_ms: now_ms.wrapping_add(config.delete_retention_ms),
            removed: Vec::new(),
        };
        let groups = state.group_segments(cleaned.end_offset, cleanable.first_uncleanable_offset, config);
        let mut pass = Pass {
            map,
            transactions: CleanedTransactions::default(),
            config,
            now_ms,
            clock_ms: cleaner.machine_clock_ms.unwrap_or(now_ms),
        };
        for (index, length) in groups.into_iter().enumerate() {
            state.clean_group(index, length, &mut pass, &mut cleaned.removed)?;
        }
        Ok(cleaned)
    }
}

/// What a pass carries from group to group.
struct Pass<'a> {
    map: OffsetMap,
    transactions: CleanedTransactions,
    config: &'a LogConfig,
    now_ms: i64,
    /// By which the new segments are dated.
    clock_ms: i64,
}

impl State {
    /// The segments from the one that holds an offset on.
    fn segments_from(&self, offset: i64) -> impl Iterator<Item = &Segment> {
        let floor = self.floor_segment(offset).map_or(i64::MIN, Segment::base_offset);
        self.segments().filter(move |segment| segment.base_offset() >= floor)
    }

    /// As `segments_from`, without the active one; nothing from the active segment's base on.
    fn closed_from(&self, offset: i64) -> impl Iterator<Item = &Segment> {
        let active = self.active().base_offset();
        self.segments_from(offset)
            .filter(move |segment| offset < active && segment.base_offset() < active)
    }

    fn build_offset_map(&self, cleanable: &Cleanable, cleaner: &CleanerConfig) -> Result<OffsetMap, Refusal> {
        let (start, end) = (cleanable.first_dirty_offset, cleanable.first_uncleanable_offset);
        let mut map = OffsetMap::new(cleaner.usable_slots());
        if start >= end {
            return Ok(map);
        }
        let mut transactions = CleanedTransactions::default();
        transactions.add(self.collect_aborted(start, end));
        let dirty: Vec<&Segment> = self
            .segments_from(start)
            .filter(|segment| segment.base_offset() < end)
            .collect();
        for (index, segment) in dirty.iter().enumerate() {
            let next = dirty.get(index + 1).map_or(end, |next| next.base_offset());
            if map.take_segment(segment, start, &mut transactions)? == offset_map::Fill::Full {
                break;
            }
            check_readable(segment)?;
            // A gap before the next segment is bridged.
            map.set_latest_offset(next - 1);
        }
        Ok(map)
    }

    /// How many segments, from the first on, go into one each (`groupSegmentsBySize`).
    fn group_segments(&self, end_offset: i64, first_uncleanable: i64, config: &LogConfig) -> Vec<usize> {
        let segments: Vec<&Segment> = self
            .segments()
            .filter(|segment| segment.base_offset() < end_offset)
            .collect();
        let sizes = |segment: &Segment| {
            (
                i64::from(segment.size()),
                i64::from(segment.offset_index.allocated()),
                i64::from(segment.time_index.allocated()),
            )
        };
        let max_index = i64::from(config.segment_index_bytes);
        let mut groups: Vec<usize> = Vec::new();
        let mut sum = (0, 0, 0);
        let mut base = 0;
        for (index, segment) in segments.iter().enumerate() {
            let size = sizes(segment);
            let last_offset = segments
                .get(index + 1)
                .map_or(first_uncleanable, |next| next.base_offset())
                - 1;
            let fits = sum.0 + size.0 <= i64::from(config.segment_bytes)
                && sum.1 + size.1 <= max_index
                && sum.2 + size.2 <= max_index
                && (size.0 == 0 || last_offset - base <= i64::from(i32::MAX));
            match groups.last_mut() {
                Some(count) if fits => {
                    *count += 1;
                    sum = (sum.0 + size.0, sum.1 + size.1, sum.2 + size.2);
                }
                _ => {
                    groups.push(1);
                    sum = size;
                    base = segment.base_offset();
                }
            }
        }
        groups
    }

    /// Cleans `length` segments, the first at `index`, into one that takes their place.
    fn clean_group(
        &mut self,
        index: usize,
        length: usize,
        pass: &mut Pass<'_>,
        removed: &mut Vec<RemovedRecord>,
    ) -> Result<(), Refusal> {
        let config = pass.config;
        let group: Vec<&Segment> = self.segments().skip(index).take(length).collect();
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            return Ok(());
        };
        let mut fresh = Segment::create(first.base_offset(), config, 0, pass.clock_ms);
        let modified_ms = last.log.modified_ms();
        let filled = self.fill(&group, &mut fresh, pass, removed);
        for kind in ["log", "index", "timeindex", "txnindex"] {
            let left = format!("{}{CLEANED_SUFFIX}", file_name(fresh.base_offset(), kind));
            if self.strays.contains_key(&left) {
                Arc::make_mut(&mut self.strays).remove(&left);
            }
        }
        if let Err(unfinished) = filled {
            Arc::make_mut(&mut self.strays).extend(cleaned_files(&fresh, &unfinished));
            return Err(unfinished.refusal());
        }
        fresh.flush();
        fresh.log.set_modified(modified_ms);
        self.replace_segments(index, length, fresh, config, pass.now_ms);
        Ok(())
    }

    /// Writes what stays of a group's segments into one, and closes it.
    fn fill(
        &self,
        group: &[&Segment],
        fresh: &mut Segment,
        pass: &mut Pass<'_>,
        removed: &mut Vec<RemovedRecord>,
    ) -> Result<(), Unfinished> {
        for (position, segment) in group.iter().enumerate() {
            let upper = match group.get(position + 1) {
                Some(next) => next.base_offset(),
                None => segment.read_next_offset()?,
            };
            pass.transactions
                .add(self.collect_aborted(segment.base_offset(), upper));
            let (batches, largest_offset) = self.clean_segment(segment, pass, fresh, removed)?;
            check_framed(segment)?;
            if !batches.is_empty() && !fresh.can_hold(largest_offset) {
                return Err(SegmentFault::OffsetOverflow.into());
            }
            fresh.append(&batches, pass.now_ms)?;
            check_readable(segment)?;
        }
        Ok(fresh.become_inactive(pass.now_ms)?)
    }

    /// What stays of a segment, and how far it reaches by what the cleaner looks at.
    fn clean_segment(
        &self,
        segment: &Segment,
        pass: &mut Pass<'_>,
        fresh: &mut Segment,
        removed: &mut Vec<RemovedRecord>,
    ) -> Result<(Vec<Batch>, i64), Refusal> {
        let (mut kept, mut largest_offset) = (Vec::new(), -1);
        for placed in segment.log.batches().iter() {
            let filter = Filter {
                map: &pass.map,
                producers: &self.producers.state,
                high_watermark: self.high_watermark.offset,
                config: pass.config,
                now_ms: pass.now_ms,
            };
            let settled = pass.transactions.on_batch(&placed.batch, &mut fresh.txn_index)?;
            let outcome = filter.filter(&placed.batch, settled).map_err(|why| {
                let offset = placed.batch.base_offset();
                let message = format!("the batch at offset {offset} cannot be written anew: {why:?}");
                Refusal::new(Errors::UnknownServerError, message)
            })?;
            let why = |record: &RecordView<'_>| match record.key {
                _ if settled => Removal::Aborted,
                None => Removal::Unkeyed,
                Some(key) if record.offset < pass.map.get(key) => Removal::Superseded { by: pass.map.get(key) },
                Some(_) => Removal::Tombstone,
            };
            note_removed(&placed.batch, &outcome, why, removed);
            largest_offset = outcome
                .largest_offset()
                .map_or(largest_offset, |offset| largest_offset.max(offset));
            kept.extend(outcome.into_batch());
        }
        Ok((kept, largest_offset))
    }

    /// Puts a cleaned segment in the place of those it was made of, whose files are deleted after the delay.
    fn replace_segments(&mut self, index: usize, length: usize, fresh: Segment, config: &LogConfig, now_ms: i64) {
        let base = fresh.base_offset();
        let old = self.splice_closed(index, length, fresh);
        for segment in &old {
            self.delete_segment_files(std::slice::from_ref(segment), config, now_ms);
        }
        let gone: Vec<Arc<Cached<Segment>>> = old
            .into_iter()
            .filter(|segment| segment.base_offset() != base)
            .collect();
        self.delete_snapshots(&gone, config, now_ms);
    }
}

/// Why a cleaned segment was not finished.
enum Unfinished {
    /// What was to be cleaned cannot be.
    Source(Refusal),
    /// The new segment does not take it.
    Fresh(SegmentFault),
}

impl From<Refusal> for Unfinished {
    fn from(refusal: Refusal) -> Self {
        Unfinished::Source(refusal)
    }
}

impl From<SegmentFault> for Unfinished {
    fn from(fault: SegmentFault) -> Self {
        Unfinished::Fresh(fault)
    }
}

impl Unfinished {
    fn refusal(self) -> Refusal {
        match self {
            Unfinished::Source(refusal) => refusal,
            Unfinished::Fresh(fault) => {
                let message = format!("the cleaned segment cannot be written: {fault:?}");
                Refusal::new(Errors::UnknownServerError, message)
            }
        }
    }
}

/// The files of a segment that a cleaner has not finished. Kafka makes the file of an index when it first looks into it: the
/// offset index before the first batch is written, the time index behind it.
fn cleaned_files(segment: &Segment, unfinished: &Unfinished) -> impl Iterator<Item = (String, File)> {
    let written = segment.size() > 0;
    let tried = written || matches!(unfinished, Unfinished::Fresh(_));
    let there = move |name: &str| match name.rsplit('.').next() {
        Some("index") => tried,
        Some("timeindex") => written,
        _ => true,
    };
    let files = segment_files(segment).into_iter().filter(move |(name, _)| there(name));
    files.map(|(name, file)| (format!("{name}{CLEANED_SUFFIX}"), file))
}

/// Bytes that cannot even be framed are found before anything is written of what stands before them.
fn check_framed(segment: &Segment) -> Result<(), Refusal> {
    match segment.log().tail_fault() {
        Some(fault) if fault != Malformed::Incomplete => check_readable(segment),
        _ => Ok(()),
    }
}

/// What is no batch at the end of a closed segment ends a pass: Kafka's cleaner reads on, and finds that it cannot
/// (`Cleaner.growBuffersOrFail`).
fn check_readable(segment: &Segment) -> Result<(), Refusal> {
    let error = match segment.log().tail_fault() {
        None => return Ok(()),
        Some(Malformed::Incomplete) => Errors::UnknownServerError,
        Some(_) => Errors::CorruptMessage,
    };
    Err(Refusal::new(
        error,
        format!("segment {} holds bytes that are no batch", segment.base_offset()),
    ))
}

fn note_removed(
    batch: &Batch,
    outcome: &Kept,
    why: impl Fn(&RecordView<'_>) -> Removal,
    removed: &mut Vec<RemovedRecord>,
) {
    let kept = match outcome {
        Kept::Whole(_) => return,
        Kept::Rewritten(kept) => Some(kept),
        Kept::Nothing => None,
    };
    let stays = |offset: i64| kept.is_some_and(|kept| kept.records().any(|record| record.offset == offset));
    for (index, record) in batch.records().enumerate() {
        if !stays(record.offset) && !batch.is_control() {
            removed.push(RemovedRecord {
                offset: record.offset,
                tag: batch.tags().get(index).copied(),
                why: why(&record),
            });
        }
    }
}
