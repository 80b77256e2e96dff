//! Cutting a log off at its end, and moving its start.
//!
//! Mirrors `UnifiedLog.truncateTo`, `truncateFullyAndStartAt` and
//! `maybeIncrementLogStartOffset`. A truncation cuts at the start of the batch that holds the offset, and yet the log end
//! becomes exactly the offset: the next append leaves a hole.

use std::sync::Arc;

use super::batch::Batch;
use super::config::LogConfig;
use super::errors::{Errors, Refusal};
use super::rebuild::{ProducerFiles, Rebuild, Reload};
use super::segment::Segment;
use super::state::{Log, State};

/// What a truncation took.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Truncated {
    /// The batches that are gone, in order.
    pub batches: Vec<Batch>,
    /// The segments that are gone whole.
    pub segments: Vec<i64>,
}

impl Log {
    /// Cuts the log so that its end is the offset. `None` when the offset is not below the log end: then nothing
    /// goes but epochs that begin at the log end. It may cut below the high watermark, which then follows.
    ///
    /// Refused with `UNKNOWN_SERVER_ERROR` in the middle of it where a damaged offset index names a position below 0: the bytes
    /// are gone, and the log end, epochs and producers are as before.
    pub fn truncate_to(&mut self, offset: i64, config: &LogConfig, now_ms: i64) -> Result<Option<Truncated>, Refusal> {
        if offset >= self.log_end_offset() {
            let end = self.log_end_offset();
            self.state.truncate_epochs(|epochs| epochs.truncate_from_end(end));
            return Ok(None);
        }
        if self.state.first_base_offset() > offset {
            return Ok(Some(self.truncate_fully_and_start_at(offset, None, config, now_ms)));
        }
        let state = &mut *self.state;
        let gone = state.take_above(offset);
        let mut truncated = Truncated {
            segments: gone.iter().map(|segment| segment.base_offset()).collect(),
            batches: state.batches_from(offset),
        };
        truncated
            .batches
            .extend(gone.iter().flat_map(|segment| segment_batches(segment)));
        state.delete_segment_files(&gone, config, now_ms);
        state.active_mut().truncate_to(offset, now_ms)?;
        state.log_end_offset = offset;
        state.delete_snapshots(&gone, config, now_ms);
        state.truncate_epochs(|epochs| epochs.truncate_from_end(offset));
        state.log_start_offset = state.log_start_offset.min(offset);
        state.rebuild_producers(offset, Reload::Running, config, now_ms);
        state.follow_log_end();
        state.recovery_point = state.recovery_point.min(offset);
        Ok(Some(truncated))
    }

    /// Empties the log and lets it start at an offset, as a follower does whose leader begins above its end.
    pub fn truncate_fully_and_start_at(
        &mut self,
        offset: i64,
        log_start_offset: Option<i64>,
        config: &LogConfig,
        now_ms: i64,
    ) -> Truncated {
        let state = &mut *self.state;
        let truncated = Truncated {
            batches: state.segments().flat_map(segment_batches).collect(),
            segments: state.segments().map(Segment::base_offset).collect(),
        };
        let closed = state.take_closed();
        state.delete_segment_files(&closed, config, now_ms);
        let last = state.replace_active(Segment::create(offset, config, 0, now_ms));
        state.delete_segment_files(&[last], config, now_ms);
        state.log_end_offset = offset;
        state.epochs = Arc::default();
        state.write_epochs();
        state.producers = ProducerFiles::truncated_at(offset);
        state.log_start_offset = log_start_offset.unwrap_or(offset);
        state.rebuild_producers(offset, Reload::Running, config, now_ms);
        state.log_end_position = 0;
        let end = state.log_end_watermark();
        state.take_high_watermark(end);
        state.recovery_point = state.recovery_point.min(offset);
        truncated
    }

    /// Moves the log start up, never down; segments below it go with the next retention pass. Says whether it moved.
    /// Refused with `OFFSET_OUT_OF_RANGE` above the high watermark.
    pub fn maybe_increment_log_start(&mut self, offset: i64) -> Result<bool, Refusal> {
        self.state.increment_log_start(offset)
    }
}

fn segment_batches(segment: &Segment) -> Vec<Batch> {
    segment
        .log()
        .batches()
        .iter()
        .map(|placed| placed.batch.clone())
        .collect()
}

impl State {
    /// The batches of the active segment from an offset on, the one that holds it included.
    fn batches_from(&self, offset: i64) -> Vec<Batch> {
        let batches = self.active().log().batches();
        let index = batches.partition_point(|placed| placed.batch.last_offset() < offset);
        batches.iter_from(index).map(|placed| placed.batch.clone()).collect()
    }

    pub(crate) fn increment_log_start(&mut self, offset: i64) -> Result<bool, Refusal> {
        if offset > self.high_watermark.offset {
            return Err(Refusal::new(
                Errors::OffsetOutOfRange,
                format!(
                    "the log start cannot move to {offset}, above the high watermark {}",
                    self.high_watermark.offset
                ),
            ));
        }
        if offset <= self.log_start_offset {
            return Ok(false);
        }
        self.log_start_offset = offset;
        self.recovery_point = self.recovery_point.max(offset);
        self.truncate_epochs(|epochs| epochs.truncate_from_start(offset));
        self.producers.on_log_start(offset);
        self.refresh_first_unstable();
        Ok(true)
    }

    /// Brings the producer state to a log end, from the newest usable snapshot and the batches behind it.
    pub(crate) fn rebuild_producers(&mut self, end: i64, reload: Reload, config: &LogConfig, now_ms: i64) {
        let mut producers = std::mem::take(&mut self.producers);
        let segments: Vec<&Segment> = self.segments().collect();
        let bases: Vec<i64> = segments.iter().map(|segment| segment.base_offset()).collect();
        let log = Rebuild {
            segments: &segments,
            bases: &bases,
            log_start: self.log_start_offset,
            end,
        };
        producers.rebuild(&log, reload, config, now_ms);
        self.producers = producers;
    }
}
