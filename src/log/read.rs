//! Reading: by offset with a bound and a size, and by timestamp.
//!
//! Mirrors `UnifiedLog.read`, `LocalLog.read`, `LogSegment.read` and the look-ups by timestamp. A read begins at the
//! batch that holds the offset, stays within one segment, and gives whole batches only.

use super::batch::Batch;
use super::errors::{Errors, Refusal};
use super::segment::{Segment, TimestampAndOffset, known_epoch};
use super::state::{Log, State, Watermark};
use super::txn_index::AbortedTxn;

/// How far a reader may see (`FetchIsolation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// To the log end: followers.
    LogEnd,
    /// To the high watermark: consumers.
    HighWatermark,
    /// To the last stable offset: consumers with `read_committed`.
    TxnCommitted,
}

/// Whether the first batch comes even if it is larger than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBatch {
    /// It does, so that a reader can make progress (`minOneMessage`).
    Whole,
    /// It does not.
    WithinLimit,
}

/// An offset with its place in a segment (`LogOffsetMetadata`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetMetadata {
    /// The offset.
    pub offset: i64,
    /// The base offset of the segment.
    pub segment: i64,
    /// The byte position in its `.log` file.
    pub position: u32,
}

/// What a read found (`FetchDataInfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where it begins: the start of a batch, which may lie below the offset asked for.
    pub start: OffsetMetadata,
    /// The whole batches, in order.
    pub batches: Vec<Batch>,
    /// The bytes that Kafka would send: the batches and, cut off by the limit, the beginning of the next.
    pub size_in_bytes: u32,
    /// Whether the limit cut even the first batch.
    pub first_batch_incomplete: bool,
    /// The aborted transactions that a `read_committed` reader must leave out; `None` for other readers.
    pub aborted: Option<Vec<AbortedTxn>>,
}

/// The time that a look-up asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampQuery {
    /// The log end (−1). Its bound is the caller's.
    Latest,
    /// The log start (−2).
    Earliest,
    /// The record with the greatest timestamp (−3).
    MaxTimestamp,
    /// The first record at or after this time, in milliseconds.
    At(i64),
}

/// Where a read found itself: what is said of aborted transactions depends on it.
enum Place {
    /// At or above what may be read: of none of them.
    AtBound,
    /// In a segment, even if none of its bytes may be taken: of all that reach into what was read.
    InSegment,
    /// In a hole at the end of the last segment: nothing at all, as if nobody had asked.
    BehindAll,
}

impl Log {
    /// Reads from an offset to an upper bound (exclusive), so many bytes at most.
    ///
    /// Refused with `OFFSET_OUT_OF_RANGE` below the log start and above the log end. At or above the bound there is
    /// nothing, which is no error. Batches share their bytes with the log.
    pub fn read(&self, from: i64, upper_bound: i64, max_bytes: u32, first: FirstBatch) -> Result<Fetched, Refusal> {
        self.state.check_log_start(from)?;
        let bound = self.state.metadata_of(upper_bound.min(self.log_end_offset()))?;
        Ok(self.state.read(from, max_bytes, first, bound)?.0)
    }

    /// Reads as a client with an isolation level does. A high watermark that is known as a bare offset is resolved: inside
    /// a batch it falls to the batch's start, in a hole it rises to the next batch.
    pub fn fetch(
        &mut self,
        from: i64,
        isolation: Isolation,
        max_bytes: u32,
        first: FirstBatch,
    ) -> Result<Fetched, Refusal> {
        self.state.check_log_start(from)?;
        let bound = match isolation {
            Isolation::LogEnd => self.state.log_end_metadata(),
            Isolation::HighWatermark => self.state.resolved_high_watermark()?,
            Isolation::TxnCommitted => self.state.resolved_last_stable()?,
        };
        let (mut fetched, place) = self.state.read(from, max_bytes, first, bound)?;
        if isolation == Isolation::TxnCommitted {
            fetched.aborted = match place {
                Place::AtBound => Some(Vec::new()),
                Place::InSegment => Some(self.state.aborted_in(from, &fetched)),
                Place::BehindAll => None,
            };
        }
        Ok(fetched)
    }

    /// The first record at or after a time, `None` if there is none. Refused as
    /// [`lookup_timestamp`](Self::lookup_timestamp) is.
    pub fn offset_for_timestamp(&self, timestamp: i64) -> Result<Option<TimestampAndOffset>, Refusal> {
        self.lookup_timestamp(TimestampQuery::At(timestamp))
    }

    /// A look-up by time (`fetchOffsetByTimestamp`). Refused with `UNKNOWN_SERVER_ERROR` where a damaged offset index names a
    /// position below 0.
    pub fn lookup_timestamp(&self, query: TimestampQuery) -> Result<Option<TimestampAndOffset>, Refusal> {
        Ok(match query {
            TimestampQuery::Latest => {
                let leader_epoch = self.latest_epoch();
                Some(TimestampAndOffset {
                    timestamp: -1,
                    offset: self.log_end_offset(),
                    leader_epoch,
                })
            }
            TimestampQuery::Earliest => {
                let offset = self.log_start_offset();
                let first = self
                    .epochs()
                    .entries()
                    .first()
                    .filter(|first| first.start_offset <= offset);
                Some(TimestampAndOffset {
                    timestamp: -1,
                    offset,
                    leader_epoch: first.map(|first| first.epoch),
                })
            }
            TimestampQuery::MaxTimestamp => self.state.max_timestamp_record()?,
            TimestampQuery::At(timestamp) => {
                let mut segments = self.segments();
                match segments.find(|segment| segment.largest_timestamp() >= timestamp) {
                    Some(segment) => segment.find_offset_by_timestamp(timestamp, self.log_start_offset())?,
                    None => None,
                }
            }
        })
    }
}

impl State {
    fn check_log_start(&self, offset: i64) -> Result<(), Refusal> {
        if offset >= self.log_start_offset {
            return Ok(());
        }
        Err(out_of_range(offset, self.log_start_offset, self.log_end_offset))
    }

    pub(crate) fn log_end_metadata(&self) -> OffsetMetadata {
        OffsetMetadata {
            offset: self.log_end_offset,
            segment: self.active().base_offset(),
            position: self.log_end_position,
        }
    }

    /// The place of an offset: of the batch that holds it, or of the next one over a hole
    /// (`convertToOffsetMetadataOrThrow`).
    pub(crate) fn metadata_of(&self, offset: i64) -> Result<OffsetMetadata, Refusal> {
        Ok(self
            .read(offset, 1, FirstBatch::WithinLimit, self.log_end_metadata())?
            .0
            .start)
    }

    /// The start of the batch that holds an offset, if the log has it.
    pub(crate) fn resolve_offset(&self, offset: i64) -> Option<i64> {
        self.metadata_of(offset).ok().map(|metadata| metadata.offset)
    }

    fn resolved_high_watermark(&mut self) -> Result<OffsetMetadata, Refusal> {
        if let Some((segment, position)) = self.high_watermark.place {
            return Ok(OffsetMetadata {
                offset: self.high_watermark.offset,
                segment,
                position,
            });
        }
        let metadata = self.metadata_of(self.high_watermark.offset)?;
        let place = Some((metadata.segment, metadata.position));
        self.take_high_watermark(Watermark {
            offset: metadata.offset,
            place,
        });
        Ok(metadata)
    }

    fn resolved_last_stable(&mut self) -> Result<OffsetMetadata, Refusal> {
        let high_watermark = self.resolved_high_watermark()?;
        match self.first_unstable_offset {
            Some(first) if first < high_watermark.offset => self.metadata_of(first),
            _ => Ok(high_watermark),
        }
    }

    fn read(
        &self,
        from: i64,
        max_bytes: u32,
        first: FirstBatch,
        bound: OffsetMetadata,
    ) -> Result<(Fetched, Place), Refusal> {
        let Some(mut segment) = self.floor_segment(from).filter(|_| from <= self.log_end_offset) else {
            return Err(out_of_range(from, self.log_start_offset, self.log_end_offset));
        };
        if from == bound.offset {
            return Ok((empty(bound), Place::AtBound));
        }
        if from > bound.offset {
            return Ok((empty(self.metadata_of(from)?), Place::AtBound));
        }
        loop {
            if let Some(fetched) = read_segment(segment, from, max_bytes, first, bound)? {
                return Ok((fetched, Place::InSegment));
            }
            match self.higher_segment(segment.base_offset()) {
                Some(next) => segment = next,
                None => return Ok((empty(self.log_end_metadata()), Place::BehindAll)),
            }
        }
    }

    /// The aborted transactions that overlap what was read (`addAbortedTransactions`).
    fn aborted_in(&self, from: i64, fetched: &Fetched) -> Vec<AbortedTxn> {
        let Some(segment) = self.floor_segment(fetched.start.segment) else {
            return Vec::new();
        };
        let end = fetched.start.position.saturating_add(fetched.size_in_bytes);
        let next_segment = || self.higher_segment(segment.base_offset()).map(Segment::base_offset);
        let upper_bound = segment
            .offset_index
            .upper_bound(i64::from(end))
            .or_else(next_segment)
            .unwrap_or(self.log_end_offset);
        self.aborted_from(segment.base_offset(), from, upper_bound)
    }

    /// The aborted transactions that begin below an offset, as the cleaner asks for them (`collectAbortedTransactions`): from
    /// the index of the segment that holds an offset on, those that ended before the log start left out.
    pub(crate) fn collect_aborted(&self, from: i64, upper_bound: i64) -> Vec<AbortedTxn> {
        match self.floor_segment(from) {
            Some(segment) => self.aborted_from(segment.base_offset(), self.log_start_offset, upper_bound),
            None => Vec::new(),
        }
    }

    /// The aborted transactions that overlap a range of offsets, from a segment on. Entries that end the search do so for good:
    /// no later transaction can reach below the bound.
    fn aborted_from(&self, base: i64, from: i64, upper_bound: i64) -> Vec<AbortedTxn> {
        let mut found = Vec::new();
        for segment in self.segments().filter(|segment| segment.base_offset() >= base) {
            for txn in segment.txn_index.entries() {
                if txn.last_offset >= from && txn.first_offset < upper_bound {
                    found.push(*txn);
                }
                if txn.last_stable_offset >= upper_bound {
                    return found;
                }
            }
        }
        found
    }

    fn max_timestamp_record(&self) -> Result<Option<TimestampAndOffset>, Refusal> {
        let mut best: Option<&Segment> = None;
        for segment in self.segments() {
            if best.is_none_or(|best| segment.max_timestamp_so_far() > best.max_timestamp_so_far()) {
                best = Some(segment);
            }
        }
        let Some(segment) = best else { return Ok(None) };
        let (timestamp, offset) = segment.max_timestamp_and_offset();
        for placed in segment.scan_indexed(offset)? {
            let batch = &placed?.batch;
            if batch.max_timestamp() != timestamp {
                continue;
            }
            let record = batch.records().find(|record| record.timestamp == timestamp);
            return Ok(record.map(|record| TimestampAndOffset {
                timestamp,
                offset: record.offset,
                leader_epoch: known_epoch(batch.leader_epoch()),
            }));
        }
        Ok(None)
    }
}

fn out_of_range(offset: i64, start: i64, end: i64) -> Refusal {
    Refusal::new(
        Errors::OffsetOutOfRange,
        format!("offset {offset} lies outside the log, which holds {start} to {end}"),
    )
}

fn empty(start: OffsetMetadata) -> Fetched {
    Fetched {
        start,
        batches: Vec::new(),
        size_in_bytes: 0,
        first_batch_incomplete: false,
        aborted: None,
    }
}

/// Reads within a segment; `None` when it holds nothing at or above the offset.
fn read_segment(
    segment: &Segment,
    from: i64,
    max_bytes: u32,
    first: FirstBatch,
    bound: OffsetMetadata,
) -> Result<Option<Fetched>, Refusal> {
    let Some(found) = segment.translate_offset(from)? else {
        return Ok(None);
    };
    let start = OffsetMetadata {
        offset: found.base_offset,
        segment: segment.base_offset(),
        position: found.position,
    };
    let limit = match first {
        FirstBatch::Whole => max_bytes.max(found.size),
        FirstBatch::WithinLimit => max_bytes,
    };
    let max_position = match segment.base_offset().cmp(&bound.segment) {
        std::cmp::Ordering::Less => segment.size(),
        std::cmp::Ordering::Equal => bound.position,
        std::cmp::Ordering::Greater => return Ok(Some(empty(start))),
    };
    if limit == 0 {
        return Ok(Some(empty(start)));
    }
    let size_in_bytes = max_position.saturating_sub(found.position).min(limit);
    let batches = segment
        .slice(found.position, size_in_bytes)
        .map(|placed| placed.batch.clone())
        .collect();
    Ok(Some(Fetched {
        start,
        batches,
        size_in_bytes,
        first_batch_incomplete: limit < found.size,
        aborted: None,
    }))
}
