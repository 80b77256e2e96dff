//! A partition's log while a process has it open.
//!
//! Mirrors the state of `UnifiedLog`, `LocalLog` and `LogSegments`; what it does stands in the files beside this one
//! (`append`, `read`, `truncate`, `retention`, `load`). Everything that lies in the folder is reachable from here, so
//! the folder is made of it when the process ends ([`Log::into_files`]).
//!
//! Background work is not done behind the caller's back: a roll or a truncation leaves [`Task`]s, and the caller
//! decides when they run. Delayed deletions wait in the same way for [`Log::remove_deleted`].
//!
//! A clone costs a handful of reference counts; what is changed afterwards is copied by the piece.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::checkpoint;
use super::config::LogConfig;
use super::epochs::{EpochCache, EpochEndOffset, EpochEntry};
use super::files::{DELETED_SUFFIX, File, Files, LEADER_EPOCH_CHECKPOINT, file_name};
use super::fingerprint::{Cached, Encoder, Fingerprint};
use super::producers::ProducerState;
use super::rebuild::ProducerFiles;
use super::segment::Segment;

/// Work that a real log hands to a background thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// After a roll: force everything below an offset to disk, the producer snapshot of that offset first.
    FlushBelow(i64),
    /// After a truncation of the epoch cache: write `leader-epoch-checkpoint` anew.
    WriteEpochs,
}

/// Files that were given up and wait for their end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deletion {
    due_ms: i64,
    names: Vec<String>,
}

/// Files marked `.deleted` and the tasks that will remove them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deleted {
    files: BTreeMap<String, File>,
    tasks: Vec<Deletion>,
}

/// The high watermark, and whether it is known as a place in a segment or as a bare offset.
///
/// A bare offset is resolved when a read needs it. If no batch begins there it then moves to the start of the batch
/// that holds it, or up to the next one over a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watermark {
    pub(crate) offset: i64,
    /// Base offset of the segment and byte position in it, once known.
    pub(crate) place: Option<(i64, u32)>,
}

impl Watermark {
    pub(crate) fn unresolved(offset: i64) -> Self {
        Self { offset, place: None }
    }
}

/// The content of `leader-epoch-checkpoint` on disk, which may lag behind the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EpochFile {
    /// Made, never written.
    Empty,
    /// Written whole and flushed.
    Written(Arc<EpochCache>),
}

/// A partition's log on one broker.
#[derive(Clone, Debug)]
pub struct Log {
    pub(crate) state: Cached<State>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    closed: Arc<Vec<Arc<Cached<Segment>>>>,
    closed_size: u64,
    pub(crate) active: Arc<Cached<Segment>>,
    pub(crate) log_start_offset: i64,
    pub(crate) log_end_offset: i64,
    pub(crate) high_watermark: Watermark,
    pub(crate) recovery_point: i64,
    pub(crate) last_flushed_ms: i64,
    pub(crate) epochs: Arc<EpochCache>,
    pub(crate) epoch_file: EpochFile,
    pub(crate) producers: ProducerFiles,
    pub(crate) first_unstable_offset: Option<i64>,
    pub(crate) deleted: Arc<Deleted>,
    /// Files in the folder that are none of the log's.
    pub(crate) strays: Arc<BTreeMap<String, File>>,
    pub(crate) tasks: Vec<Task>,
}

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
        for (name, file) in self.state.deleted.files.iter().chain(self.state.strays.iter()) {
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
                .files
                .iter()
                .chain(state.strays.iter())
                .map(|(name, content)| file(name.clone(), content)),
        );
        list.sort_by(|a, b| a.name.cmp(&b.name));
        list
    }

    /// The segments, oldest first; the last one is the active one.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment> {
        self.state.segments()
    }

    /// How many segments there are.
    pub fn segment_count(&self) -> usize {
        self.state.closed.len() + 1
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

    /// Removes the files whose delay has passed. Says how many deletions were carried out.
    pub fn remove_deleted(&mut self, now_ms: i64) -> usize {
        let due = self
            .state
            .deleted
            .tasks
            .iter()
            .filter(|task| task.due_ms <= now_ms)
            .count();
        if due > 0 {
            let deleted = Arc::make_mut(&mut self.state.deleted);
            for task in deleted.tasks.extract_if(.., |task| task.due_ms <= now_ms) {
                for name in &task.names {
                    deleted.files.remove(name);
                }
            }
        }
        due
    }

    /// When the next delayed deletion is due.
    pub fn next_deletion_ms(&self) -> Option<i64> {
        self.state.deleted.tasks.iter().map(|task| task.due_ms).min()
    }

    /// Forgets producers that were silent for `producer.id.expiration.ms`.
    pub fn expire_producers(&mut self, now_ms: i64, expiration_ms: i64) {
        if self.state.producers.state.has_expired(now_ms, expiration_ms) {
            self.state.producers.state_mut().expire(now_ms, expiration_ms);
        }
    }

    /// Closes the log as a clean stop does: a producer snapshot at the end, the active segment's indexes closed,
    /// everything flushed. What is left is a folder that needs no recovery.
    pub fn close(mut self, now_ms: i64) -> Files {
        self.flush_with_active(now_ms);
        self.state.producers.take_snapshot();
        let state = &mut *self.state;
        let active = state.active_mut();
        active.become_inactive();
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

fn segment_files(segment: &Segment) -> Vec<(String, File)> {
    let base = segment.base_offset();
    let modified = segment.log.modified_ms();
    let mut files = vec![
        (file_name(base, "log"), segment.log.to_file()),
        (file_name(base, "index"), segment.offset_index.to_file(modified)),
        (file_name(base, "timeindex"), segment.time_index.to_file(modified)),
    ];
    files.extend(
        segment
            .txn_index
            .to_file(modified)
            .map(|file| (file_name(base, "txnindex"), file)),
    );
    files
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

impl EpochFile {
    fn to_file(&self) -> File {
        let text = match self {
            EpochFile::Empty => String::new(),
            EpochFile::Written(epochs) => checkpoint::write_epochs(epochs.entries()),
        };
        File::from_bytes(text.as_bytes(), 0)
    }
}

impl State {
    pub(crate) fn with_segments(closed: Vec<Segment>, active: Segment, start: i64, now_ms: i64) -> State {
        let closed_size = closed.iter().map(|segment| u64::from(segment.size())).sum();
        let (base, size) = (active.base_offset(), active.size());
        State {
            closed: Arc::new(
                closed
                    .into_iter()
                    .map(|segment| Arc::new(Cached::new(segment)))
                    .collect(),
            ),
            closed_size,
            active: Arc::new(Cached::new(active)),
            log_start_offset: start,
            log_end_offset: start,
            high_watermark: Watermark {
                offset: start,
                place: Some((base, size)),
            },
            recovery_point: start,
            last_flushed_ms: now_ms,
            epochs: Arc::default(),
            epoch_file: EpochFile::Empty,
            producers: ProducerFiles::starting_at(start),
            first_unstable_offset: None,
            deleted: Arc::default(),
            strays: Arc::default(),
            tasks: Vec::new(),
        }
    }

    pub(crate) fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment> {
        self.closed
            .iter()
            .map(|segment| &***segment)
            .chain(std::iter::once(&**self.active))
    }

    pub(crate) fn active(&self) -> &Segment {
        &self.active
    }

    pub(crate) fn active_mut(&mut self) -> &mut Segment {
        let active: &mut Cached<Segment> = Arc::make_mut(&mut self.active);
        active
    }

    pub(crate) fn size(&self) -> u64 {
        self.closed_size + u64::from(self.active.size())
    }

    pub(crate) fn first_base_offset(&self) -> i64 {
        self.closed.first().unwrap_or(&self.active).base_offset()
    }

    /// The segment with the greatest base offset that is not above an offset.
    pub(crate) fn floor_segment(&self, offset: i64) -> Option<&Segment> {
        if self.active.base_offset() <= offset {
            return Some(&self.active);
        }
        let above = self.closed.partition_point(|segment| segment.base_offset() <= offset);
        above.checked_sub(1).map(|index| &**self.closed[index])
    }

    /// The segment after the one with this base offset.
    pub(crate) fn higher_segment(&self, base_offset: i64) -> Option<&Segment> {
        let above = self
            .closed
            .partition_point(|segment| segment.base_offset() <= base_offset);
        match self.closed.get(above) {
            Some(segment) => Some(segment),
            None => (self.active.base_offset() > base_offset).then_some(&**self.active),
        }
    }

    /// Makes a segment the active one; the one before is closed.
    pub(crate) fn push_segment(&mut self, segment: Segment) {
        let before = std::mem::replace(&mut self.active, Arc::new(Cached::new(segment)));
        self.closed_size += u64::from(before.size());
        Arc::make_mut(&mut self.closed).push(before);
    }

    /// Puts a segment in the place of the active one, which is given back.
    pub(crate) fn replace_active(&mut self, segment: Segment) -> Arc<Cached<Segment>> {
        std::mem::replace(&mut self.active, Arc::new(Cached::new(segment)))
    }

    /// Takes the oldest segments out, never the active one.
    pub(crate) fn take_oldest(&mut self, count: usize) -> Vec<Arc<Cached<Segment>>> {
        let gone: Vec<_> = Arc::make_mut(&mut self.closed).drain(..count).collect();
        self.closed_size -= gone.iter().map(|segment| u64::from(segment.size())).sum::<u64>();
        gone
    }

    /// Takes the segments out whose base lies above an offset. One with a base not above it must exist and becomes
    /// the active one.
    pub(crate) fn take_above(&mut self, offset: i64) -> Vec<Arc<Cached<Segment>>> {
        let mut gone = Vec::new();
        while self.active.base_offset() > offset {
            let Some(before) = Arc::make_mut(&mut self.closed).pop() else {
                break;
            };
            self.closed_size -= u64::from(before.size());
            gone.push(std::mem::replace(&mut self.active, before));
        }
        gone.reverse();
        gone
    }

    /// Puts a segment in the place of closed ones, which are given back.
    pub(crate) fn splice_closed(&mut self, index: usize, length: usize, segment: Segment) -> Vec<Arc<Cached<Segment>>> {
        self.closed_size += u64::from(segment.size());
        let fresh = [Arc::new(Cached::new(segment))];
        let gone: Vec<_> = Arc::make_mut(&mut self.closed)
            .splice(index..index + length, fresh)
            .collect();
        self.closed_size -= gone.iter().map(|segment| u64::from(segment.size())).sum::<u64>();
        gone
    }

    /// Takes all segments but the active one out.
    pub(crate) fn take_closed(&mut self) -> Vec<Arc<Cached<Segment>>> {
        self.take_oldest(self.closed.len())
    }

    /// Marks the files of segments as `.deleted`, to be removed after the delay.
    pub(crate) fn delete_segment_files(&mut self, segments: &[Arc<Cached<Segment>>], config: &LogConfig, now_ms: i64) {
        if segments.is_empty() {
            return;
        }
        let files = segments.iter().flat_map(|segment| segment_files(segment)).collect();
        self.delete_files(files, config, now_ms);
    }

    /// Marks the producer snapshots of segments as `.deleted`, to be removed after the delay. As in Kafka the deletion
    /// is scheduled even if there is none.
    pub(crate) fn delete_snapshots(&mut self, segments: &[Arc<Cached<Segment>>], config: &LogConfig, now_ms: i64) {
        let mut files = Vec::new();
        for segment in segments {
            if self.producers.snapshots.contains_key(&segment.base_offset())
                && let Some(snapshot) = Arc::make_mut(&mut self.producers.snapshots).remove(&segment.base_offset())
            {
                files.push((file_name(segment.base_offset(), "snapshot"), snapshot.to_file()));
            }
        }
        self.delete_files(files, config, now_ms);
    }

    fn delete_files(&mut self, files: Vec<(String, File)>, config: &LogConfig, now_ms: i64) {
        let deleted = Arc::make_mut(&mut self.deleted);
        let due_ms = now_ms.saturating_add(config.file_delete_delay_ms);
        let names = files
            .iter()
            .map(|(name, _)| format!("{name}{DELETED_SUFFIX}"))
            .collect();
        deleted.tasks.push(Deletion { due_ms, names });
        deleted.files.extend(
            files
                .into_iter()
                .map(|(name, file)| (format!("{name}{DELETED_SUFFIX}"), file)),
        );
    }

    /// Writes the epochs to their file, whole and flushed.
    pub(crate) fn write_epochs(&mut self) {
        self.epoch_file = EpochFile::Written(Arc::clone(&self.epochs));
    }

    /// Changes the epoch cache by truncation; the file follows in the background.
    pub(crate) fn truncate_epochs(&mut self, change: impl FnOnce(&mut EpochCache) -> bool) {
        let mut epochs = (*self.epochs).clone();
        if change(&mut epochs) {
            self.epochs = Arc::new(epochs);
            self.tasks.push(Task::WriteEpochs);
        }
    }

    /// Flushes the segments that hold anything between the recovery point and an offset.
    fn flush_segments(&mut self, offset: i64) {
        let from = self
            .floor_segment(self.recovery_point)
            .map_or(i64::MIN, Segment::base_offset);
        self.flush_where(|segment| segment.base_offset() >= from && segment.base_offset() < offset);
    }

    fn flush_everything(&mut self) {
        self.flush_where(|_| true);
        let offsets: Vec<i64> = self.producers.snapshots.keys().copied().collect();
        offsets
            .into_iter()
            .for_each(|offset| self.producers.flush_snapshot(offset));
    }

    fn flush_where(&mut self, wanted: impl Fn(&Segment) -> bool) {
        if self.closed.iter().any(|segment| wanted(segment)) {
            for segment in Arc::make_mut(&mut self.closed)
                .iter_mut()
                .filter(|segment| wanted(segment))
            {
                Arc::make_mut(segment).flush();
            }
        }
        if wanted(&self.active) {
            self.active_mut().flush();
        }
    }

    /// Flushes up to an offset. Says whether the recovery point moved.
    pub(crate) fn flush_to(&mut self, offset: i64, now_ms: i64) -> bool {
        if offset <= self.recovery_point {
            return false;
        }
        self.flush_segments(offset);
        self.mark_flushed(offset, now_ms);
        true
    }

    fn mark_flushed(&mut self, offset: i64, now_ms: i64) {
        if offset > self.recovery_point {
            self.recovery_point = offset;
            self.last_flushed_ms = now_ms;
        }
    }

    /// Sets the high watermark and lets transactions go that it has passed (`updateHighWatermarkMetadata`).
    pub(crate) fn take_high_watermark(&mut self, watermark: Watermark) {
        self.high_watermark = watermark;
        self.settle_transactions();
    }

    fn settle_transactions(&mut self) {
        if self.producers.state.waits_for_high_watermark() {
            self.producers.state_mut().on_high_watermark(self.high_watermark.offset);
        }
        self.refresh_first_unstable();
    }

    /// The high watermark at the log end, where its place is known.
    pub(crate) fn log_end_watermark(&self) -> Watermark {
        let place = Some((self.active.base_offset(), self.active.size()));
        Watermark {
            offset: self.log_end_offset,
            place,
        }
    }

    /// After the log end moved: a high watermark at or above it becomes it (`updateHighWatermarkWithLogEndOffset`).
    pub(crate) fn raise_to_log_end(&mut self) {
        if self.high_watermark.offset >= self.log_end_offset {
            self.take_high_watermark(self.log_end_watermark());
        }
    }

    /// Recomputes the first unstable offset (`maybeIncrementFirstUnstableOffset`).
    pub(crate) fn refresh_first_unstable(&mut self) {
        let first = self.producers.state.first_unstable_offset();
        self.first_unstable_offset =
            first.map(|offset| self.resolve_offset(offset.max(self.log_start_offset)).unwrap_or(offset));
    }
}

impl Fingerprint for State {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.closed.len());
        self.closed.iter().for_each(|segment| encoder.u128(segment.digest()));
        encoder.u128(self.active.digest());
        encoder.i64(self.log_start_offset);
        encoder.i64(self.log_end_offset);
        encoder.i64(self.high_watermark.offset);
        encoder.option(self.high_watermark.place, |encoder, (segment, position)| {
            encoder.i64(segment);
            encoder.u32(position);
        });
        encoder.i64(self.recovery_point);
        encoder.i64(self.last_flushed_ms);
        self.epochs.fingerprint(encoder);
        match &self.epoch_file {
            EpochFile::Empty => encoder.u8(0),
            EpochFile::Written(epochs) => {
                encoder.u8(1);
                epochs.fingerprint(encoder);
            }
        }
        self.producers.state.fingerprint(encoder);
        encoder.option(self.first_unstable_offset, Encoder::i64);
        encoder.len(self.producers.snapshots.len());
        for (offset, snapshot) in self.producers.snapshots.iter() {
            encoder.i64(*offset);
            encoder.bytes(&snapshot.bytes);
            encoder.u8(u8::from(snapshot.flushed));
        }
        encoder.len(self.deleted.files.len());
        for (name, file) in self.deleted.files.iter().chain(self.strays.iter()) {
            encoder.str(name);
            file.fingerprint(encoder);
        }
        for task in &self.deleted.tasks {
            encoder.i64(task.due_ms);
            task.names.iter().for_each(|name| encoder.str(name));
        }
        for task in &self.tasks {
            match task {
                Task::FlushBelow(offset) => {
                    encoder.u8(1);
                    encoder.i64(*offset);
                }
                Task::WriteEpochs => encoder.u8(2),
            }
        }
    }
}
