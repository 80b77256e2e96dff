//! Appending: what a leader checks and rewrites, what a follower takes as it is.
//!
//! Mirrors `UnifiedLog.append` with `LogValidator`, in Kafka's order. The order matters, because what was done before
//! a refusal stays done: an append that is refused for its sequence, or found to be a duplicate, may already have
//! rolled the segment and noted its leader epoch.
//!
//! Deliberately absent: recompression, and the request-level checks (acks, leadership, in-sync replicas), which are
//! the broker's.

use std::sync::Arc;

use super::batch::{Batch, TimestampType};
use super::config::LogConfig;
use super::errors::{Errors, Refusal};
use super::fingerprint::Cached;
use super::producers::{Origin, Verdict};
use super::record::NO_TIMESTAMP;
use super::segment::{RollParams, RollReason, Segment, SegmentFault};
use super::state::{Log, State, Task};
use super::validate::{Split, invalid_record, split_batches, too_large, validate, wrong_base_offset};

/// What an append did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of the first record; that of the original for a duplicate; −1 if there was nothing to append.
    pub first_offset: i64,
    /// The offset of the last record, in the same way.
    pub last_offset: i64,
    /// The largest timestamp of what was offered.
    pub max_timestamp: i64,
    /// The time the broker gave the records, if the topic uses LogAppendTime; for a duplicate the timestamp of the
    /// original.
    pub log_append_time: Option<i64>,
    /// Whether records were written.
    pub outcome: AppendOutcome,
    /// The new segment, if the append needed one; its [`Task::FlushBelow`] waits among the log's tasks.
    pub rolled: Option<Rolled>,
    /// Whether `flush.messages` forced the log to disk.
    pub flushed: bool,
}

/// Whether an append wrote anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The records are in the log.
    Appended,
    /// The producer had sent this batch before; nothing was written.
    Duplicate,
    /// There was no whole batch.
    Nothing,
}

/// A new segment and why it was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolled {
    /// The base offset of the new active segment.
    pub base_offset: i64,
    /// The rule that asked for it.
    pub reason: RollReason,
}

/// Where batches come from, with the epoch that goes with it.
#[derive(Clone, Copy)]
enum Source {
    /// A client or coordinator; the leader stamps its epoch on the batch.
    Leader { epoch: i32, origin: Origin },
    /// The leader; batches above the follower's own leader epoch are left out.
    Follower { epoch: i32 },
}

impl Source {
    /// As a leader gets them.
    fn leader(epoch: i32, origin: Origin) -> Source {
        Source::Leader { epoch, origin }
    }

    /// Who sent it to a leader.
    fn origin(self) -> Option<Origin> {
        match self {
            Source::Leader { origin, .. } => Some(origin),
            Source::Follower { .. } => None,
        }
    }
}

impl Log {
    /// Appends a batch that a client or a coordinator sent.
    ///
    /// The batch gets the next offsets and the leader's epoch; with LogAppendTime also its timestamp. A batch that
    /// the producer sent before is not written again: the answer names the offsets it has.
    pub fn append_as_leader(
        &mut self,
        batch: &Batch,
        leader_epoch: i32,
        origin: Origin,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        let source = Source::leader(leader_epoch, origin);
        self.state.append(whole(vec![batch.clone()]), source, config, now_ms)
    }

    /// As [`append_as_leader`](Self::append_as_leader), from the bytes of a request.
    pub fn append_bytes_as_leader(
        &mut self,
        bytes: &[u8],
        leader_epoch: i32,
        origin: Origin,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        let source = Source::leader(leader_epoch, origin);
        self.state.append(split_batches(bytes), source, config, now_ms)
    }

    /// Appends what a follower fetched from its leader, offsets and epochs as they are.
    ///
    /// `leader_epoch` is the follower's current one: a batch above it, and all after it, are left out, because a
    /// leader that has been deposed meanwhile may have sent them.
    pub fn append_as_follower(
        &mut self,
        batches: &[Batch],
        leader_epoch: i32,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        self.state.append(
            whole(batches.to_vec()),
            Source::Follower { epoch: leader_epoch },
            config,
            now_ms,
        )
    }

    /// As [`append_as_follower`](Self::append_as_follower), from the bytes of a response.
    pub fn append_bytes_as_follower(
        &mut self,
        bytes: &[u8],
        leader_epoch: i32,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        self.state.append(
            split_batches(bytes),
            Source::Follower { epoch: leader_epoch },
            config,
            now_ms,
        )
    }

    /// Begins a new segment at the log end. Says its base offset. Refused with `UNKNOWN_SERVER_ERROR` when the active segment
    /// begins at the log end and yet holds bytes: those of an append that failed for want of room in an index; and when it
    /// cannot be closed, because its time index refuses the closing entry.
    pub fn roll(&mut self, config: &LogConfig, now_ms: i64) -> Result<i64, Refusal> {
        self.state.roll(0, config, now_ms)
    }
}

/// What the structural checks found (`LogAppendInfo`).
struct Info {
    first_offset: i64,
    last_offset: i64,
    max_timestamp: i64,
}

impl State {
    fn append(
        &mut self,
        Split { mut batches, fault }: Split,
        source: Source,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Appended, Refusal> {
        let mut info = analyze(&mut batches, source, config)?;
        if let Some(fault) = fault {
            return Err(fault.refusal(source.origin(), config));
        }
        if batches.is_empty() {
            return Ok(nothing(&info));
        }
        let mut log_append_time = None;
        let origin = match source {
            Source::Leader { epoch, origin } => {
                let [batch] = batches.as_slice() else {
                    return Err(invalid_record("a request holds more than one batch for a partition"));
                };
                let placed = validate(batch, origin, config, now_ms)?.placed(self.log_end_offset, epoch);
                info = Info {
                    first_offset: self.log_end_offset,
                    last_offset: placed.last_offset(),
                    max_timestamp: placed.max_timestamp(),
                };
                log_append_time = (config.message_timestamp_type == TimestampType::LogAppendTime).then_some(now_ms);
                batches = vec![placed];
                origin
            }
            Source::Follower { .. } => {
                self.check_follower_offsets(&info)?;
                Origin::Replication
            }
        };
        self.note_epochs(&batches)?;
        let size: u64 = batches.iter().map(|batch| u64::from(batch.size_in_bytes())).sum();
        if size > config.segment_bytes.max(0) as u64 {
            return Err(Refusal::new(
                Errors::RecordListTooLarge,
                format!(
                    "the append has {size} bytes, more than segment.bytes = {}",
                    config.segment_bytes
                ),
            ));
        }
        let rolled = self.maybe_roll(&info, size as u32, config, now_ms)?;
        let analysis = match self.producers.state.analyze(&batches, origin)? {
            Verdict::Append(analysis) => analysis,
            Verdict::Duplicate(original) => {
                return Ok(Appended {
                    first_offset: original.first_offset(),
                    last_offset: original.last_offset,
                    max_timestamp: info.max_timestamp,
                    log_append_time: Some(original.timestamp),
                    outcome: AppendOutcome::Duplicate,
                    rolled,
                    flushed: false,
                });
            }
        };
        self.active_mut().append(&batches, now_ms).map_err(segment_refusal)?;
        self.log_end_offset = info.last_offset + 1;
        self.follow_log_end();
        self.producers.state_mut().apply(&analysis);
        self.producers.state_mut().place(&analysis);
        for completed in &analysis.completed {
            let active: &mut Cached<Segment> = Arc::make_mut(&mut self.active);
            self.producers.complete(active, completed);
        }
        self.producers.state_mut().set_map_end_offset(info.last_offset + 1);
        self.refresh_first_unstable();
        let flushed = self.log_end_offset - self.recovery_point >= config.flush_messages
            && self.flush_to(self.log_end_offset, now_ms);
        Ok(Appended {
            first_offset: info.first_offset,
            last_offset: info.last_offset,
            max_timestamp: info.max_timestamp,
            log_append_time,
            outcome: AppendOutcome::Appended,
            rolled,
            flushed,
        })
    }

    fn check_follower_offsets(&self, info: &Info) -> Result<(), Refusal> {
        if info.first_offset < self.log_end_offset {
            return Err(Refusal::new(
                Errors::UnknownServerError,
                format!(
                    "the batch begins at {}, below the log end {}",
                    info.first_offset, self.log_end_offset
                ),
            ));
        }
        Ok(())
    }

    fn note_epochs(&mut self, batches: &[Batch]) -> Result<(), Refusal> {
        for batch in batches {
            let (epoch, start) = (batch.leader_epoch(), batch.base_offset());
            if epoch < 0 || start < 0 {
                return Err(Refusal::new(
                    Errors::UnknownServerError,
                    format!("the batch at {start} has the leader epoch {epoch}, and neither may lie below 0"),
                ));
            }
            let latest = self.epochs.latest();
            if latest.is_none_or(|latest| epoch != latest.epoch || start < latest.start_offset) {
                Arc::make_mut(&mut self.epochs).assign(epoch, start);
                self.write_epochs();
            }
        }
        Ok(())
    }

    fn maybe_roll(
        &mut self,
        info: &Info,
        size: u32,
        config: &LogConfig,
        now_ms: i64,
    ) -> Result<Option<Rolled>, Refusal> {
        let append = RollParams {
            max_timestamp: info.max_timestamp,
            last_offset: info.last_offset,
            size,
            now_ms,
        };
        let Some(reason) = self.active().should_roll(config, &append) else {
            return Ok(None);
        };
        let base_offset = self.roll(info.first_offset, config, now_ms)?;
        Ok(Some(Rolled { base_offset, reason }))
    }

    /// Begins a new segment at the greater of an offset and the log end.
    pub(crate) fn roll(&mut self, expected_next_offset: i64, config: &LogConfig, now_ms: i64) -> Result<i64, Refusal> {
        let base = expected_next_offset.max(self.log_end_offset);
        let active = self.active();
        if active.base_offset() > base || active.base_offset() == base && active.size() > 0 {
            return Err(Refusal::new(
                Errors::UnknownServerError,
                format!(
                    "a segment cannot begin at {base}: the active one begins at {} and has {} bytes",
                    active.base_offset(),
                    active.size()
                ),
            ));
        }
        let fresh = Segment::create(base, config, self.roll_jitter(base, config), now_ms);
        if self.active().base_offset() == base {
            // Only an empty active segment can have this base: it is deleted and made anew.
            let empty = self.replace_active(fresh);
            self.delete_segment_files(&[empty], config, now_ms);
        } else {
            self.active_mut().become_inactive(now_ms).map_err(segment_refusal)?;
            self.push_segment(fresh);
        }
        self.follow_log_end();
        self.producers.state_mut().set_map_end_offset(base);
        self.producers.take_snapshot();
        self.tasks.push(Task::FlushBelow(base));
        Ok(base)
    }

    /// By how much `segment.ms` is shortened for a segment: any number below `segment.jitter.ms`, which Kafka draws
    /// at random and which here follows from the base offset, so that a run can be repeated.
    fn roll_jitter(&self, base_offset: i64, config: &LogConfig) -> i64 {
        match config.segment_jitter_ms.min(config.segment_ms) {
            most if most > 0 => (xxhash_rust::xxh3::xxh3_64(&base_offset.to_le_bytes()) >> 1) as i64 % most,
            _ => 0,
        }
    }
}

/// Batches that did not come as bytes.
fn whole(batches: Vec<Batch>) -> Split {
    Split { batches, fault: None }
}

fn nothing(info: &Info) -> Appended {
    Appended {
        first_offset: info.first_offset,
        last_offset: info.last_offset,
        max_timestamp: info.max_timestamp,
        log_append_time: None,
        outcome: AppendOutcome::Nothing,
        rolled: None,
        flushed: false,
    }
}

pub(crate) fn segment_refusal(fault: SegmentFault) -> Refusal {
    let message = match fault {
        SegmentFault::OffsetOverflow => "the last offset lies more than 2147483647 above the segment's base",
        SegmentFault::Index => "an index refused the new entry",
    };
    Refusal::new(Errors::UnknownServerError, message)
}

/// Kafka tells the offsets of all records in its message, and fails over the first batch that it cannot read.
fn out_of_order(batches: &[Batch]) -> Refusal {
    let readable = |batch: &Batch| batch.records_count() == 0 || batch.check_records();
    match batches.iter().all(readable) {
        true => Refusal::new(Errors::UnknownServerError, "the offsets of the batches do not rise"),
        false => invalid_record("the offsets of the batches do not rise, and a batch does not hold what it says"),
    }
}

/// The checks that need no more than the batches (`analyzeAndValidateRecords`). Drops what a follower must leave out.
fn analyze(batches: &mut Vec<Batch>, source: Source, config: &LogConfig) -> Result<Info, Refusal> {
    let above = match source {
        Source::Follower { epoch } => batches.iter().position(|batch| batch.leader_epoch() > epoch),
        Source::Leader { .. } => None,
    };
    let (own, _) = batches.split_at(above.unwrap_or(batches.len()));
    let mut info = Info {
        first_offset: -1,
        last_offset: -1,
        max_timestamp: NO_TIMESTAMP,
    };
    info.first_offset = own.first().map_or(-1, Batch::base_offset);
    for batch in own {
        if let Source::Leader { origin, .. } = source
            && origin.is_client()
            && batch.base_offset() != 0
        {
            return Err(wrong_base_offset(batch.base_offset()));
        }
        let rises = info.last_offset < batch.last_offset();
        info.last_offset = batch.last_offset();
        let size = batch.size_in_bytes();
        if matches!(source, Source::Leader { .. }) && i64::from(size) > i64::from(config.max_message_bytes) {
            return Err(too_large(i64::from(size), config));
        }
        if !batch.is_valid() {
            return Err(Refusal::new(
                Errors::CorruptMessage,
                "the batch's checksum is not that of its bytes",
            ));
        }
        if matches!(source, Source::Follower { .. }) && !rises {
            return Err(out_of_order(batches));
        }
        info.max_timestamp = info.max_timestamp.max(batch.max_timestamp());
    }
    let kept = own.len();
    batches.truncate(kept);
    Ok(info)
}
