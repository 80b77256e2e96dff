//! The face of a log: what it is, what lies in its folder, what is flushed, and how it ends.
//!
//! Mirrors the accessors, `flush` and `close` of `UnifiedLog`.

use std::sync::Arc;

use super::append::segment_refusal;
use super::config::LogConfig;
use super::epochs::{EpochCache, EpochEndOffset, EpochEntry};
use super::errors::Refusal;
use super::files::{File, Files, LEADER_EPOCH_CHECKPOINT, file_name};
use super::fingerprint::{Cached, Encoder, Fingerprint};
use super::producers::ProducerState;
use super::segment::Segment;
use super::state::{Log, State, Task, Watermark, segment_files};
use crate::sorted::sort_by;

impl Log {
    /// A new, empty log that starts at an offset, as on a broker that has just become a replica.
    pub fn create(start_offset: i64, config: &LogConfig, now_ms: i64) -> Log {
        let active = Segment::create(start_offset, config, 0, now_ms);
        Log {
            state: Cached::new(State::with_segments(Vec::new(), active, start_offset, now_ms)),
        }
    }

    /// Ends the process: what is left is the folder, as a kill leaves it.
    pub fn into_files(self) -> Files {
        self.to_files()
    }

    /// The folder as it is now.
    pub fn to_files(&self) -> Files {
        let mut files = Files::new();
        for segment in self.segments() {
            for (name, file) in segment_files(segment) {
                files.insert(name, file);
            }
        }
        for (offset, snapshot) in self.state.producers.snapshots.iter() {
            files.insert(file_name(*offset, "snapshot"), snapshot.to_file());
        }
        files.insert(LEADER_EPOCH_CHECKPOINT, self.state.epoch_file.to_file());
        for (name, file) in self.state.deleted.files().iter().chain(self.state.strays.iter()) {
            files.insert(name.clone(), file.clone());
        }
        files
    }

    /// The names of the files in the folder, with their lengths and how much of each the disk has, ascending.
    pub fn file_list(&self) -> Vec<FileInfo> {
        let state = &*self.state;
        let file = |name: String, file: &File| FileInfo {
            name,
            length: file.len(),
            flushed: file.flushed(),
        };
        let mut list: Vec<FileInfo> = self.segments().flat_map(segment_file_list).collect();
        for (offset, snapshot) in state.producers.snapshots.iter() {
            list.push(file(file_name(*offset, "snapshot"), &snapshot.to_file()));
        }
        list.push(file(LEADER_EPOCH_CHECKPOINT.to_owned(), &state.epoch_file.to_file()));
        list.extend(
            state
                .deleted
                .files()
                .iter()
                .chain(state.strays.iter())
                .map(|(name, content)| file(name.clone(), content)),
        );
        sort_by(&mut list, |a, b| a.name.cmp(&b.name));
        list
    }

    /// The segments, oldest first; the last one is the active one.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment> {
        self.state.segments()
    }

    /// How many segments there are.
    pub fn segment_count(&self) -> usize {
        self.state.segment_count()
    }

    /// The segment that is appended to.
    pub fn active_segment(&self) -> &Segment {
        &self.state.active
    }

    /// The first offset a client may read.
    pub fn log_start_offset(&self) -> i64 {
        self.state.log_start_offset
    }

    /// The offset the next record will get.
    pub fn log_end_offset(&self) -> i64 {
        self.state.log_end_offset
    }

    /// The high watermark: offsets below it are committed, as far as this replica knows.
    pub fn high_watermark(&self) -> i64 {
        self.state.high_watermark.offset
    }

    /// The last stable offset: what `read_committed` may read is below it.
    pub fn last_stable_offset(&self) -> i64 {
        let high_watermark = self.high_watermark();
        self.state
            .first_unstable_offset
            .filter(|first| *first < high_watermark)
            .unwrap_or(high_watermark)
    }

    /// The first offset whose transaction is open, or ended above the high watermark.
    pub fn first_unstable_offset(&self) -> Option<i64> {
        self.state.first_unstable_offset
    }

    /// Everything below this offset was forced to disk and is not read again by recovery.
    pub fn recovery_point(&self) -> i64 {
        self.state.recovery_point
    }

    /// When the recovery point last moved by a flush, in milliseconds since 1970.
    pub fn last_flushed_ms(&self) -> i64 {
        self.state.last_flushed_ms
    }

    /// The bytes of all `.log` files, indexes not counted.
    pub fn size(&self) -> u64 {
        self.state.size()
    }

    /// The leader epochs, as the process has them in memory.
    pub fn epochs(&self) -> &EpochCache {
        &self.state.epochs
    }

    /// The greatest leader epoch, which a follower sends as its last fetched epoch.
    pub fn latest_epoch(&self) -> Option<i32> {
        self.state.epochs.latest().map(|entry: EpochEntry| entry.epoch)
    }

    /// Where an epoch ends in this log; `None` when this log cannot say.
    pub fn end_offset_for_epoch(&self, epoch: i32) -> Option<EpochEndOffset> {
        self.state.epochs.end_offset_for(epoch, self.log_end_offset())
    }

    /// What is remembered of producers.
    pub fn producers(&self) -> &ProducerState {
        &self.state.producers.state
    }

    /// The offsets of the producer snapshots in the folder, ascending.
    pub fn snapshot_offsets(&self) -> impl Iterator<Item = i64> {
        self.state.producers.snapshots.keys().copied()
    }

    /// Background work that is due whenever the caller finds the time.
    pub fn tasks(&self) -> &[Task] {
        &self.state.tasks
    }

    /// Does all background work in order. Says how much there was.
    pub fn run_tasks(&mut self, now_ms: i64) -> usize {
        if self.state.tasks.is_empty() {
            return 0;
        }
        let tasks = std::mem::take(&mut self.state.tasks);
        for task in &tasks {
            match task {
                Task::FlushBelow(offset) => {
                    self.state.producers.flush_snapshot(*offset);
                    self.flush_below(*offset, now_ms);
                }
                Task::WriteEpochs => self.state.write_epochs(),
            }
        }
        tasks.len()
    }

    /// Does of the background work what waits for no disk: the file of leader epochs is written anew. Says whether it was.
    pub fn write_epochs_if_due(&mut self) -> bool {
        let due = self.state.tasks.contains(&Task::WriteEpochs);
        if due {
            self.state.tasks.retain(|task| *task != Task::WriteEpochs);
            self.state.write_epochs();
        }
        due
    }

    /// Forces everything below an offset to disk; then nothing below it is lost by a power loss. Says whether the
    /// recovery point moved.
    pub fn flush_below(&mut self, offset: i64, now_ms: i64) -> bool {
        self.state.flush_to(offset, now_ms)
    }

    /// Forces everything that was written to disk.
    pub fn flush_all(&mut self, now_ms: i64) -> bool {
        self.flush_below(self.log_end_offset(), now_ms)
    }

    /// The operating system writes all pages back by itself: everything is on disk, and the log does not know it, so
    /// that recovery reads from the same point as before.
    pub fn write_back(&mut self) {
        self.state.flush_everything();
    }

    /// As [`flush_all`](Self::flush_all), with the files of an empty active segment too, as at a clean stop.
    pub fn flush_with_active(&mut self, now_ms: i64) -> bool {
        let end = self.log_end_offset();
        if end < self.state.recovery_point {
            return false;
        }
        self.state.flush_segments(end + 1);
        self.state.mark_flushed(end, now_ms);
        true
    }

    /// Notes the beginning of a leader epoch, as a broker does on becoming leader. Written and flushed at once.
    pub fn assign_epoch(&mut self, epoch: i32, start_offset: i64) {
        let mut epochs = (*self.state.epochs).clone();
        if epochs.assign(epoch, start_offset) {
            self.state.epochs = Arc::new(epochs);
            self.state.write_epochs();
        }
    }

    /// Moves the high watermark, clamped between log start and log end. Says where it is now. It may go down.
    pub fn set_high_watermark(&mut self, offset: i64) -> i64 {
        let state = &self.state;
        let clamped = if offset < state.log_start_offset {
            Watermark::unresolved(state.log_start_offset)
        } else if offset >= state.log_end_offset {
            state.log_end_watermark()
        } else {
            Watermark::unresolved(offset)
        };
        if clamped != state.high_watermark {
            self.state.take_high_watermark(clamped);
        } else {
            self.state.settle_transactions();
        }
        clamped.offset
    }

    /// Moves the high watermark to wherever it is told, outside of the log too. Kafka never does: it is what a world without
    /// that guard shows.
    pub fn set_high_watermark_unbounded(&mut self, offset: i64) -> i64 {
        self.state.take_high_watermark(Watermark::unresolved(offset));
        offset
    }

    /// Removes the files whose delay has passed. Says how many deletions were carried out.
    pub fn remove_deleted(&mut self, now_ms: i64) -> usize {
        let due = self.state.deleted.due(now_ms);
        if due > 0 {
            Arc::make_mut(&mut self.state.deleted).remove_due(now_ms);
        }
        due
    }

    /// When the next delayed deletion is due.
    pub fn next_deletion_ms(&self) -> Option<i64> {
        self.state.deleted.next_ms()
    }

    /// Forgets producers that were silent for `producer.id.expiration.ms`.
    pub fn expire_producers(&mut self, now_ms: i64, expiration_ms: i64) {
        if self.state.producers.state.has_expired(now_ms, expiration_ms) {
            self.state.producers.state_mut().expire(now_ms, expiration_ms);
        }
    }

    /// Closes the active segment's indexes, the first thing of a clean stop (`prepareActiveSegmentForClose`). A closing entry
    /// that is refused leaves them as they are.
    pub fn prepare_for_close(&mut self, now_ms: i64) -> Result<(), Refusal> {
        let active = self.state.active_mut();
        active.become_inactive(now_ms).map_err(segment_refusal)
    }

    /// Closes the log as a clean stop does: a producer snapshot at the end, the active segment's indexes closed,
    /// everything flushed. What is left is a folder that needs no recovery.
    pub fn close(mut self, now_ms: i64) -> Files {
        self.flush_with_active(now_ms);
        self.state.producers.take_snapshot();
        // A closing entry that is refused leaves the indexes as they are, and the log is closed all the same.
        let _ = self.prepare_for_close(now_ms);
        let state = &mut *self.state;
        let end = state.log_end_offset;
        state.flush_everything();
        state.mark_flushed(end, now_ms);
        self.into_files()
    }

    /// The fingerprint of the whole log, remembered until it changes.
    pub fn digest(&self) -> u128 {
        self.state.digest()
    }
}

impl Fingerprint for Log {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u128(self.digest());
    }
}

/// A file of the folder, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// The file's name.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
    /// How many of them the disk has; `None` when a power loss may take the whole file.
    pub flushed: Option<u64>,
}

/// The files of a segment in numbers, without their contents.
fn segment_file_list(segment: &Segment) -> Vec<FileInfo> {
    let base = segment.base_offset();
    let info = |kind: &str, length: u64, flushed: Option<u64>| FileInfo {
        name: file_name(base, kind),
        length,
        flushed,
    };
    let (log, index, times) = (&segment.log, &segment.offset_index, &segment.time_index);
    let mut list = vec![
        info("log", u64::from(log.length()), log.flushed().map(u64::from)),
        info("index", u64::from(index.allocated()), index.flushed().map(u64::from)),
        info(
            "timeindex",
            u64::from(times.allocated()),
            times.flushed().map(u64::from),
        ),
    ];
    list.extend(
        segment
            .txn_index
            .to_file(0)
            .map(|file| info("txnindex", file.len(), file.flushed())),
    );
    list
}
