//! Retention: whole segments go, the oldest first.
//!
//! Mirrors `UnifiedLog.deleteOldSegments`. Three rules run one after another: what lies below the log start, what
//! exceeds `retention.bytes`, what is older than `retention.ms`. None of them passes the high watermark, and the
//! first segment that a rule spares protects all behind it. If everything goes, an empty segment is begun first.

use std::sync::Arc;

use super::config::LogConfig;
use super::errors::Refusal;
use super::fingerprint::Cached;
use super::segment::Segment;
use super::state::{Log, State};

/// The rule by which a segment was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionReason {
    /// It lay below the log start offset.
    LogStartOffset,
    /// Without it the log still has `retention.bytes`.
    Size,
    /// Its newest record is older than `retention.ms`.
    Time,
}

/// A segment that retention took.
#[derive(Clone, Debug)]
pub struct DeletedSegment {
    /// Its base offset.
    pub base_offset: i64,
    /// The rule.
    pub reason: DeletionReason,
    /// The segment as it was; its files lie in the folder as `.deleted` until their delay has passed.
    pub segment: Arc<Cached<Segment>>,
}

impl Log {
    /// One pass of retention. Says which segments went, oldest first; the log start has moved to the first that is
    /// left. Refused where everything must go and no segment can be begun, see [`roll`](Log::roll); what earlier rules took is
    /// gone then.
    pub fn delete_old_segments(&mut self, config: &LogConfig, now_ms: i64) -> Result<Vec<DeletedSegment>, Refusal> {
        let state = &mut *self.state;
        let mut gone = state.delete_while(DeletionReason::LogStartOffset, config, now_ms, |state, _, next| {
            next.is_some_and(|next| next.base_offset() <= state.log_start_offset)
        })?;
        if !config.cleanup_policy.delete {
            return Ok(gone);
        }
        let size = i64::try_from(state.size()).unwrap_or(i64::MAX);
        if config.retention_bytes >= 0 && size >= config.retention_bytes {
            let mut excess = size - config.retention_bytes;
            gone.extend(
                state.delete_while(DeletionReason::Size, config, now_ms, |_, segment, _| {
                    let fits = excess - i64::from(segment.size()) >= 0;
                    if fits {
                        excess -= i64::from(segment.size());
                    }
                    fits
                })?,
            );
        }
        if config.retention_ms >= 0 {
            gone.extend(
                state.delete_while(DeletionReason::Time, config, now_ms, |_, segment, _| {
                    now_ms.wrapping_sub(segment.largest_timestamp()) > config.retention_ms
                })?,
            );
        }
        Ok(gone)
    }
}

impl State {
    /// Deletes segments from the oldest on as long as a rule agrees.
    fn delete_while(
        &mut self,
        reason: DeletionReason,
        config: &LogConfig,
        now_ms: i64,
        mut rule: impl FnMut(&State, &Segment, Option<&Segment>) -> bool,
    ) -> Result<Vec<DeletedSegment>, Refusal> {
        let mut count = 0;
        let mut segments = self.segments().peekable();
        while let Some(segment) = segments.next() {
            let next = segments.peek().copied();
            let upper = next.map_or(self.log_end_offset, Segment::base_offset);
            let wanted = self.high_watermark.offset >= upper && rule(self, segment, next);
            if !wanted || (next.is_none() && segment.size() == 0) {
                break;
            }
            count += 1;
        }
        drop(segments);
        if count == 0 {
            return Ok(Vec::new());
        }
        if count == self.segments().count() {
            // The new segment takes the place of the last one, which then is not the active one any more.
            self.roll(0, config, now_ms)?;
        }
        Ok(self.delete_oldest(count, reason, config, now_ms))
    }

    fn delete_oldest(
        &mut self,
        count: usize,
        reason: DeletionReason,
        config: &LogConfig,
        now_ms: i64,
    ) -> Vec<DeletedSegment> {
        let Some(first_kept) = self.segments().nth(count).map(Segment::base_offset) else {
            return Vec::new();
        };
        // The high watermark has reached every segment that goes, so this cannot be refused.
        let moved = self.increment_log_start(first_kept);
        debug_assert!(moved.is_ok(), "retention never passes the high watermark");
        let gone = self.take_oldest(count);
        self.delete_segment_files(&gone, config, now_ms);
        self.delete_snapshots(&gone, config, now_ms);
        gone.into_iter()
            .map(|segment| DeletedSegment {
                base_offset: segment.base_offset(),
                reason,
                segment,
            })
            .collect()
    }
}
