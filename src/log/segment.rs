//! A segment: one stretch of a log with its files.
//!
//! Mirrors `LogSegment`. A segment knows its base offset, its `.log` file and the indexes
//! beside it, and decides when an index entry is due and when the next segment is.

use std::borrow::Cow;

use super::batch::{Batch, HEADER_SIZE_UP_TO_MAGIC};
use super::config::LogConfig;
use super::errors::{Errors, Refusal};
use super::fingerprint::{Encoder, Fingerprint};
use super::index::{OffsetIndex, TimeIndex, WhenFull};
use super::log_file::{LogFile, Placed};
use super::record::NO_TIMESTAMP;
use super::txn_index::TxnIndex;

/// Where a batch lies that a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetPosition {
    /// The batch's base offset.
    pub base_offset: i64,
    /// The byte position of its first byte.
    pub position: u32,
    /// Its bytes.
    pub size: u32,
}

impl OffsetPosition {
    fn of(placed: &Placed) -> Self {
        Self {
            base_offset: placed.batch.base_offset(),
            position: placed.position,
            size: placed.batch.size_in_bytes(),
        }
    }
}

/// A record that a look-up by time found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampAndOffset {
    /// The record's timestamp in milliseconds.
    pub timestamp: i64,
    /// The record's offset.
    pub offset: i64,
    /// The leader epoch, where it is known.
    pub leader_epoch: Option<i32>,
}

/// Why a segment could not take an append that the log had accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentFault {
    /// The last offset does not fit into 31 bits above the base (`LogSegmentOffsetOverflowException`).
    OffsetOverflow,
    /// An index refused the entry (`InvalidOffsetException`, `IllegalArgumentException`).
    Index,
}

/// A segment of a log.
#[derive(Clone, Debug)]
pub struct Segment {
    base_offset: i64,
    pub(crate) log: LogFile,
    pub(crate) offset_index: OffsetIndex,
    pub(crate) time_index: TimeIndex,
    pub(crate) txn_index: TxnIndex,
    created_ms: i64,
    roll_jitter_ms: i64,
    /// What `index.interval.bytes` was when the segment was opened: a change of it concerns later segments only.
    index_interval_bytes: i32,
    /// What `segment.index.bytes` was then: the size that a truncation gives its indexes again.
    index_bytes: i32,
    /// The largest timestamp and the last offset of the batch that brought it; unknown until read from the index.
    max_timestamp: Option<(i64, i64)>,
    bytes_since_last_index_entry: u32,
}

/// The numbers a roll is decided by (`RollParams`).
#[derive(Clone, Copy, Debug)]
pub struct RollParams {
    /// The largest timestamp of the append.
    pub max_timestamp: i64,
    /// Its last offset.
    pub last_offset: i64,
    /// Its bytes.
    pub size: u32,
    /// The wall clock.
    pub now_ms: i64,
}

/// Which of its rules asked for a new segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollReason {
    /// The append would make it larger than `segment.bytes`.
    Size,
    /// It spans more than `segment.ms`.
    Time,
    /// The offset index is full.
    OffsetIndexFull,
    /// The time index is full.
    TimeIndexFull,
    /// The last offset does not fit into the index.
    OffsetOverflow,
}

impl Segment {
    /// A new segment without records.
    pub fn create(base_offset: i64, config: &LogConfig, roll_jitter_ms: i64, now_ms: i64) -> Self {
        let preallocated = if config.preallocate {
            config.segment_bytes.max(0) as u32
        } else {
            0
        };
        Self {
            base_offset,
            log: LogFile::create(preallocated, now_ms),
            offset_index: OffsetIndex::create(base_offset, config.segment_index_bytes),
            time_index: TimeIndex::create(base_offset, config.segment_index_bytes),
            txn_index: TxnIndex::default(),
            created_ms: now_ms,
            roll_jitter_ms,
            index_interval_bytes: config.index_interval_bytes,
            index_bytes: config.segment_index_bytes,
            max_timestamp: None,
            bytes_since_last_index_entry: 0,
        }
    }

    /// A segment whose files exist already.
    pub(crate) fn open(
        base_offset: i64,
        log: LogFile,
        offset_index: OffsetIndex,
        time_index: TimeIndex,
        txn_index: TxnIndex,
        config: &LogConfig,
        now_ms: i64,
    ) -> Self {
        Self {
            base_offset,
            log,
            offset_index,
            time_index,
            txn_index,
            created_ms: now_ms,
            roll_jitter_ms: 0,
            index_interval_bytes: config.index_interval_bytes,
            index_bytes: config.segment_index_bytes,
            max_timestamp: None,
            bytes_since_last_index_entry: 0,
        }
    }

    /// The offset in its files' names.
    pub fn base_offset(&self) -> i64 {
        self.base_offset
    }

    /// The bytes of its log.
    pub fn size(&self) -> u32 {
        self.log.size()
    }

    /// Its `.log` file.
    pub fn log(&self) -> &LogFile {
        &self.log
    }

    /// Its offset index.
    pub fn offset_index(&self) -> &OffsetIndex {
        &self.offset_index
    }

    /// Its time index.
    pub fn time_index(&self) -> &TimeIndex {
        &self.time_index
    }

    /// Its aborted transactions.
    pub fn txn_index(&self) -> &TxnIndex {
        &self.txn_index
    }

    /// When the process made or opened it, in milliseconds since 1970.
    pub fn created_ms(&self) -> i64 {
        self.created_ms
    }

    /// By how much `segment.ms` is shortened for it.
    pub fn roll_jitter_ms(&self) -> i64 {
        self.roll_jitter_ms
    }

    /// The largest timestamp so far, and the last offset of the batch that brought it first; (−1, base offset)
    /// before any.
    pub fn max_timestamp_and_offset(&self) -> (i64, i64) {
        self.max_timestamp.unwrap_or_else(|| self.time_index.last_pair())
    }

    /// The largest timestamp so far, −1 if no record has one.
    pub fn max_timestamp_so_far(&self) -> i64 {
        self.max_timestamp_and_offset().0
    }

    /// What retention judges the segment by: its largest timestamp, or the file's time if no record has one.
    pub fn largest_timestamp(&self) -> i64 {
        match self.max_timestamp_so_far() {
            timestamp if timestamp >= 0 => timestamp,
            _ => self.log.modified_ms(),
        }
    }

    /// Which rule, if any, asks for a new segment before an append (`LogSegment.shouldRoll`).
    pub fn should_roll(&self, config: &LogConfig, append: &RollParams) -> Option<RollReason> {
        let size = i64::from(self.size());
        let waited_long = || self.time_waited(append) > config.max_segment_ms() - self.roll_jitter_ms;
        if size > i64::from(config.segment_bytes) - i64::from(append.size) {
            Some(RollReason::Size)
        } else if size > 0 && waited_long() {
            Some(RollReason::Time)
        } else if self.offset_index.is_full() {
            Some(RollReason::OffsetIndexFull)
        } else if self.time_index.is_full() {
            Some(RollReason::TimeIndexFull)
        } else if !self.can_hold(append.last_offset) {
            Some(RollReason::OffsetOverflow)
        } else {
            None
        }
    }

    fn time_waited(&self, append: &RollParams) -> i64 {
        match self.first_batch_timestamp() {
            first if first >= 0 => append.max_timestamp.wrapping_sub(first),
            _ => append.now_ms.wrapping_sub(self.created_ms),
        }
    }

    /// The largest timestamp of the first batch, −1 if there is none.
    pub fn first_batch_timestamp(&self) -> i64 {
        self.log
            .batches()
            .first()
            .map_or(NO_TIMESTAMP, |first| first.batch.max_timestamp())
    }

    /// Whether an offset can be stored relative to the base.
    pub fn can_hold(&self, offset: i64) -> bool {
        (0..=i64::from(i32::MAX)).contains(&offset.wrapping_sub(self.base_offset))
    }

    /// Adds batches at the end and index entries where they are due.
    pub(crate) fn append(&mut self, batches: &[Batch], now_ms: i64) -> Result<(), SegmentFault> {
        let Some(last) = batches.last() else {
            return Ok(());
        };
        if !self.can_hold(last.last_offset()) {
            return Err(SegmentFault::OffsetOverflow);
        }
        let mut position = self.size();
        for batch in batches {
            self.log.append(batch.clone(), now_ms);
        }
        for batch in batches {
            self.note_timestamp(batch);
            if self.wants_index_entry(self.bytes_since_last_index_entry) {
                // A refusal leaves everything as it is at that moment.
                if !self.offset_index.append(batch.last_offset(), position) || !self.note_time_entry(WhenFull::Refuse) {
                    return Err(SegmentFault::Index);
                }
                self.bytes_since_last_index_entry = 0;
            }
            position += batch.size_in_bytes();
            self.bytes_since_last_index_entry += batch.size_in_bytes();
        }
        Ok(())
    }

    /// Whether so many bytes without an index entry are too many.
    pub(crate) fn wants_index_entry(&self, bytes: u32) -> bool {
        i64::from(bytes) > i64::from(self.index_interval_bytes)
    }

    /// Reads the largest timestamp from the time index, once and for all.
    pub(crate) fn settle_max_timestamp(&mut self) {
        self.max_timestamp = Some(self.max_timestamp_and_offset());
    }

    /// Remembers a batch's timestamp if it is the largest so far.
    pub(crate) fn note_timestamp(&mut self, batch: &Batch) {
        if batch.max_timestamp() > self.max_timestamp_so_far() {
            self.max_timestamp = Some((batch.max_timestamp(), batch.last_offset()));
        }
    }

    /// Writes the largest timestamp so far into the time index.
    pub(crate) fn note_time_entry(&mut self, when_full: WhenFull) -> bool {
        let (timestamp, offset) = self.max_timestamp_and_offset();
        self.time_index.maybe_append(timestamp, offset, when_full)
    }

    /// Closes the segment: closing time entry, files cut to what they hold (`onBecomeInactiveSegment`). A time entry or a cut
    /// that is refused leaves it open.
    pub(crate) fn become_inactive(&mut self, now_ms: i64) -> Result<(), SegmentFault> {
        if !self.note_time_entry(WhenFull::Append) {
            return Err(SegmentFault::Index);
        }
        if !self.offset_index.trim() || !self.time_index.trim() {
            return Err(SegmentFault::Index);
        }
        self.log.trim(now_ms);
        Ok(())
    }

    /// Forces all of its files to disk.
    pub(crate) fn flush(&mut self) {
        self.log.flush();
        self.offset_index.flush();
        self.time_index.flush();
        self.txn_index.flush();
    }

    /// The first batch that ends at or above an offset, found as Kafka does: index floor, then a scan that goes by base offsets
    /// and asks only the batch before for its end (`FileRecords.searchForOffsetFromPosition`). Where offsets do not rise, that
    /// decides which one it is.
    ///
    /// Refused with `CORRUPT_MESSAGE` where the search comes to bytes that are no batch, as it does when a damaged index leads
    /// it into the middle of one.
    pub fn translate_offset(&self, offset: i64) -> Result<Option<OffsetPosition>, Refusal> {
        let start = self.offset_index.lookup(offset).max(0) as u32;
        let mut before: Option<Cow<'_, Placed>> = None;
        let mut behind = None;
        for placed in self.scan(start) {
            let placed = placed?;
            if placed.batch.base_offset() == offset {
                return Ok(Some(OffsetPosition::of(&placed)));
            }
            if placed.batch.base_offset() > offset {
                behind = Some(placed);
                break;
            }
            before = Some(placed);
        }
        let found = before.filter(|placed| placed.batch.last_offset() >= offset).or(behind);
        Ok(found.map(|placed| OffsetPosition::of(&placed)))
    }

    /// The batches from a position on. Bytes that are no batch end them with an error.
    fn scan(&self, position: u32) -> impl Iterator<Item = Result<Cow<'_, Placed>, Refusal>> {
        let fault = move || {
            self.log.scan_fails(position).then(|| {
                let message = format!(
                    "segment {} holds bytes that are no batch, read from position {position}",
                    self.base_offset
                );
                Err(Refusal::new(Errors::CorruptMessage, message))
            })
        };
        let batches = self.log.scan(position).map(Ok);
        batches.chain(std::iter::once_with(fault).flatten())
    }

    /// One past the last offset that its files prove, the base offset if they prove none (`readNextOffset`). Refused as
    /// [`translate_offset`](Self::translate_offset) is.
    pub fn read_next_offset(&self) -> Result<i64, Refusal> {
        let Some(found) = self.translate_offset(self.offset_index.last_offset())? else {
            return Ok(self.base_offset);
        };
        let mut next = self.base_offset;
        for placed in self.scan(found.position) {
            next = placed?.batch.next_offset();
        }
        Ok(next)
    }

    /// The batches from where the offset index says that an offset is to be looked for. Refused where it names a position
    /// below 0, as an index of odd bytes can: Kafka cannot read there.
    pub(crate) fn scan_indexed(
        &self,
        offset: i64,
    ) -> Result<impl Iterator<Item = Result<Cow<'_, Placed>, Refusal>>, Refusal> {
        let position = self.offset_index.lookup(offset);
        let from = match u32::try_from(position) {
            Ok(position) => Some(position),
            // Where not even the front of a batch would fit Kafka does not try.
            Err(_) if i64::from(position) >= i64::from(self.size()) - HEADER_SIZE_UP_TO_MAGIC as i64 => None,
            Err(_) => {
                return Err(Refusal::new(
                    Errors::UnknownServerError,
                    format!(
                        "the offset index of segment {} names position {position}",
                        self.base_offset
                    ),
                ));
            }
        };
        Ok(from.into_iter().flat_map(|position| self.scan(position)))
    }

    /// The first record at or after a timestamp and an offset. Refused where the offset index names no position.
    pub fn find_offset_by_timestamp(
        &self,
        timestamp: i64,
        starting_offset: i64,
    ) -> Result<Option<TimestampAndOffset>, Refusal> {
        let (_, indexed) = self.time_index.lookup(timestamp);
        for placed in self.scan_indexed(indexed.max(starting_offset))? {
            let batch = &placed?.batch;
            if batch.max_timestamp() < timestamp {
                continue;
            }
            let mut records = batch.records();
            let found = records.find(|record| record.timestamp >= timestamp && record.offset >= starting_offset);
            if let Some(found) = found {
                return Ok(Some(TimestampAndOffset {
                    timestamp: found.timestamp,
                    offset: found.offset,
                    leader_epoch: known_epoch(batch.leader_epoch()),
                }));
            }
        }
        Ok(None)
    }

    /// Cuts the segment so that nothing at or above an offset is left; a batch that straddles it goes whole. Says how
    /// many bytes went. Refused where the offset is not found for bytes that are no batch, and where the offset index names no
    /// position to look for the largest timestamp from: then the bytes are gone all the same.
    pub(crate) fn truncate_to(&mut self, offset: i64, now_ms: i64) -> Result<u32, Refusal> {
        let cut_at = self.translate_offset(offset)?.map(|found| found.position);
        self.offset_index.truncate_to(offset);
        self.time_index.truncate_to(offset);
        self.txn_index.truncate_to(offset);
        self.grow_indexes();
        let cut = cut_at.map_or(0, |position| self.log.truncate(position, now_ms));
        if self.size() == 0 {
            // By the clock that dated it before, which may be ahead.
            self.created_ms = self.created_ms.max(now_ms);
        }
        self.bytes_since_last_index_entry = 0;
        if self.max_timestamp_so_far() >= 0 {
            self.max_timestamp = Some(self.load_largest_timestamp()?);
        }
        Ok(cut)
    }

    /// Gives the index files their full size, as the active segment has them.
    pub(crate) fn grow_indexes(&mut self) {
        self.offset_index.resize(self.index_bytes.max(0) as u32);
        self.time_index.resize(self.index_bytes.max(0) as u32);
    }

    /// The largest timestamp that the time index and the batches behind its last entry prove.
    fn load_largest_timestamp(&self) -> Result<(i64, i64), Refusal> {
        let (timestamp, offset) = self.time_index.last_pair();
        let mut largest = (timestamp, offset);
        for placed in self.scan_indexed(offset)? {
            let placed = placed?;
            if placed.batch.max_timestamp() > largest.0 {
                largest = (placed.batch.max_timestamp(), placed.batch.last_offset());
            }
        }
        Ok(largest)
    }

    /// Resets what recovery builds anew.
    pub(crate) fn reset_indexes(&mut self, config: &LogConfig) {
        self.offset_index.reset(config.segment_index_bytes);
        self.time_index.reset(config.segment_index_bytes);
        self.txn_index.reset();
        self.max_timestamp = None;
    }

    /// The batches of a read: from a byte position, so many bytes at most.
    pub(crate) fn slice(&self, position: u32, length: u32) -> impl Iterator<Item = Cow<'_, Placed>> {
        let end = position.saturating_add(length).min(self.size());
        self.log.scan(position).take_while(move |placed| placed.end() <= end)
    }
}

/// A leader epoch as a batch has it, where −1 is none.
pub(crate) fn known_epoch(epoch: i32) -> Option<i32> {
    (epoch >= 0).then_some(epoch)
}

impl Fingerprint for Segment {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.i64(self.base_offset);
        self.log.fingerprint(encoder);
        self.offset_index.fingerprint(encoder);
        self.time_index.fingerprint(encoder);
        encoder.len(self.txn_index.entries().len());
        for entry in self.txn_index.entries() {
            for field in [
                entry.producer_id,
                entry.first_offset,
                entry.last_offset,
                entry.last_stable_offset,
            ] {
                encoder.i64(field);
            }
        }
        encoder.i64(self.created_ms);
        encoder.i64(self.roll_jitter_ms);
        encoder.i32(self.index_interval_bytes);
        encoder.i32(self.index_bytes);
        let (timestamp, offset) = self.max_timestamp_and_offset();
        encoder.i64(timestamp);
        encoder.i64(offset);
        encoder.u32(self.bytes_since_last_index_entry);
    }
}
