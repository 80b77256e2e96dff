//! The state of a log while a process has it open.
//!
//! Mirrors the fields of `UnifiedLog`, `LocalLog` and `LogSegments` and what they do with segments; the public face is
//! in `unified`, and what a log does stands in the files beside it (`append`, `read`, `truncate`, `retention`, `load`).
//! Everything that lies in the folder is reachable from here, so the folder is made of it when the process ends.
//!
//! Background work is not done behind the caller's back: a roll or a truncation leaves [`Task`]s, and the caller
//! decides when they run. Delayed deletions wait in the same way.
//!
//! A clone costs a handful of reference counts; what is changed afterwards is copied by the piece.

use crate::sorted::SortedMap;
use std::sync::Arc;

use super::checkpoint;
use super::config::LogConfig;
use super::deleted::Deleted;
use super::epochs::EpochCache;
use super::files::{File, file_name};
use super::fingerprint::{Cached, Encoder, Fingerprint};
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
    /// Where in the active segment the log end lies. A failed append leaves bytes behind it.
    pub(crate) log_end_position: u32,
    pub(crate) high_watermark: Watermark,
    pub(crate) recovery_point: i64,
    pub(crate) last_flushed_ms: i64,
    pub(crate) epochs: Arc<EpochCache>,
    pub(crate) epoch_file: EpochFile,
    pub(crate) producers: ProducerFiles,
    pub(crate) first_unstable_offset: Option<i64>,
    pub(crate) deleted: Arc<Deleted>,
    /// Files in the folder that are none of the log's.
    pub(crate) strays: Arc<SortedMap<String, File>>,
    pub(crate) tasks: Vec<Task>,
}

pub(crate) fn segment_files(segment: &Segment) -> Vec<(String, File)> {
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

impl EpochFile {
    pub(crate) fn to_file(&self) -> File {
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
            log_end_position: size,
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

    pub(crate) fn segment_count(&self) -> usize {
        self.closed.len() + 1
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
        // An index of aborted transactions is removed by its name, whether the segment had one or not.
        let indexes = segments
            .iter()
            .map(|segment| file_name(segment.base_offset(), "txnindex"));
        self.delete_files(files, indexes.collect(), config, now_ms);
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
        self.delete_files(files, Vec::new(), config, now_ms);
    }

    fn delete_files(&mut self, files: Vec<(String, File)>, names: Vec<String>, config: &LogConfig, now_ms: i64) {
        let due_ms = now_ms.saturating_add(config.file_delete_delay_ms);
        Arc::make_mut(&mut self.deleted).add(files, names, due_ms);
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
    pub(crate) fn flush_segments(&mut self, offset: i64) {
        let from = self
            .floor_segment(self.recovery_point)
            .map_or(i64::MIN, Segment::base_offset);
        self.flush_where(|segment| segment.base_offset() >= from && segment.base_offset() < offset);
    }

    pub(crate) fn flush_everything(&mut self) {
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

    pub(crate) fn mark_flushed(&mut self, offset: i64, now_ms: i64) {
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

    pub(crate) fn settle_transactions(&mut self) {
        if self.producers.state.waits_for_high_watermark() {
            self.producers.state_mut().on_high_watermark(self.high_watermark.offset);
        }
        self.refresh_first_unstable();
    }

    /// The high watermark at the log end, where its place is known.
    pub(crate) fn log_end_watermark(&self) -> Watermark {
        let place = Some((self.active.base_offset(), self.log_end_position));
        Watermark {
            offset: self.log_end_offset,
            place,
        }
    }

    /// After the log end moved, or a new segment began at it: a high watermark at or above it becomes it
    /// (`updateHighWatermarkWithLogEndOffset`), and so does a recovery point above it (`updateLogEndOffset`).
    pub(crate) fn follow_log_end(&mut self) {
        self.recovery_point = self.recovery_point.min(self.log_end_offset);
        self.log_end_position = self.active.size();
        if self.high_watermark.offset >= self.log_end_offset {
            self.take_high_watermark(self.log_end_watermark());
        }
    }

    /// Recomputes the first unstable offset (`maybeIncrementFirstUnstableOffset`).
    pub(crate) fn refresh_first_unstable(&mut self) {
        let producers = &self.producers.state;
        self.first_unstable_offset = producers.first_unstable_offset().map(|offset| {
            if offset >= self.log_start_offset && producers.is_placed(offset) {
                return offset;
            }
            self.resolve_offset(offset.max(self.log_start_offset)).unwrap_or(offset)
        });
    }
}

impl Fingerprint for State {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.closed.len());
        self.closed.iter().for_each(|segment| encoder.u128(segment.digest()));
        encoder.u128(self.active.digest());
        encoder.i64(self.log_start_offset);
        encoder.i64(self.log_end_offset);
        // Nearly always the end of the segment, which has been encoded.
        if self.log_end_position != self.active.size() {
            encoder.u32(self.log_end_position);
        }
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
        self.deleted.fingerprint(encoder);
        encoder.len(self.strays.len());
        for (name, file) in self.strays.iter() {
            encoder.str(name);
            file.fingerprint(encoder);
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
