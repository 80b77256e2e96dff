//! Loading a log from its folder, and recovering it after a crash.
//!
//! Mirrors `LogLoader`. After a clean stop the files are believed. After a crash every
//! segment from the recovery point on is read batch by batch: the first one that is torn or whose checksum is wrong
//! ends the log, whatever follows it; indexes and producer state are built anew.

use std::sync::Arc;

use super::batch::Batch;
use super::checkpoint;
use super::config::LogConfig;
use super::epochs::EpochCache;
use super::files::{
    CLEANED_SUFFIX, DELETED_SUFFIX, Files, LEADER_EPOCH_CHECKPOINT, SWAP_SUFFIX, base_offset_of, file_name,
};
use super::fingerprint::Cached;
use super::index::{OffsetIndex, TimeIndex};
use super::log_file::LogFile;
use super::rebuild::{ProducerFiles, Rebuild, Reload, SnapshotFile};
use super::segment::Segment;
use super::state::{EpochFile, Log, State, Watermark};
use super::txn_index::TxnIndex;

/// What a broker knows of a log beside its folder.
#[derive(Clone, Debug)]
pub struct LoadArgs<'a> {
    /// How the process ended.
    pub shutdown: Shutdown,
    /// The checkpointed recovery point, 0 if there is none.
    pub recovery_point: i64,
    /// The checkpointed log start offset, 0 if there is none.
    pub log_start_offset: i64,
    /// The checkpointed high watermark, 0 if there is none.
    pub high_watermark: i64,
    /// The topic's settings.
    pub config: &'a LogConfig,
    /// The wall clock in milliseconds.
    pub now_ms: i64,
}

/// How the process that had the log open ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// It left the marker of a clean stop.
    Clean,
    /// It was killed, or lost its power.
    Unclean,
}

/// What became of an index that loading could not take as it lay there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remade {
    /// The offset index was missing: the segment was read, and all its indexes built anew.
    Missing,
    /// The index of aborted transactions was not to be believed: the same.
    Aborted,
    /// The time index was missing: it begins anew, and empty.
    Emptied,
}

/// What loading found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// The segments that were read batch by batch, in order.
    pub recovered: Vec<i64>,
    /// The segment that was cut, with the bytes that went.
    pub truncated: Option<(i64, u32)>,
    /// The segment that was split, because an offset lay too far from its base.
    pub split: Option<i64>,
    /// The whole batches behind the first bad one, with those of segments that went: never served again.
    pub dropped: Vec<Batch>,
    /// The segments that went whole, because one before them was cut or the log ended below its start.
    pub deleted_segments: Vec<i64>,
    /// The bytes of their logs.
    pub deleted_bytes: u64,
    /// The segments whose indexes were missing or not to be believed, and what was done about it.
    pub remade: Vec<(i64, Remade)>,
    /// Files that were no part of the log any more: finished deletions, unfinished cleanings, orphaned indexes.
    pub removed_files: Vec<String>,
}

impl Log {
    /// Loads the log that lies in a folder.
    pub fn load(files: Files, args: &LoadArgs<'_>) -> (Log, RecoveryReport) {
        let mut loader = Loader::new(files, args);
        loader.finish_swaps();
        loader.load_segments();
        if args.shutdown == Shutdown::Unclean {
            loader.recover_unflushed();
        }
        loader.finish()
    }
}

/// What became of a segment that was read batch by batch.
enum Recovered {
    /// So many bytes were cut off.
    Cut(u32),
    /// An offset does not fit: it must be split and everything read again.
    Overflowed,
}

/// Segments that are deleted together.
struct GivenUp {
    segments: Vec<Arc<Cached<Segment>>>,
    /// Those whose producer snapshots go with them.
    with_snapshots: Vec<Arc<Cached<Segment>>>,
}

struct Loader<'a> {
    args: &'a LoadArgs<'a>,
    files: Files,
    report: RecoveryReport,
    segments: Vec<Segment>,
    /// Segments that loading itself gave up, to be deleted after the delay.
    given_up: Vec<GivenUp>,
    epochs: EpochCache,
    epoch_file: EpochFile,
    producers: ProducerFiles,
}

impl<'a> Loader<'a> {
    fn new(mut files: Files, args: &'a LoadArgs<'a>) -> Self {
        let epoch_text = files
            .remove(LEADER_EPOCH_CHECKPOINT)
            .map(|file| file.to_bytes())
            .unwrap_or_default();
        // Kafka gives up where the file is malformed; this log opens without what it said.
        let epochs = checkpoint::read_epochs(&String::from_utf8_lossy(&epoch_text)).unwrap_or_default();
        let epochs = EpochCache::from_entries(epochs);
        let epoch_file = match epoch_text.is_empty() {
            true => EpochFile::Empty,
            false => EpochFile::Written(Arc::new(epochs.clone())),
        };
        Self {
            args,
            files,
            report: RecoveryReport::default(),
            segments: Vec::new(),
            given_up: Vec::new(),
            epochs,
            epoch_file,
            producers: ProducerFiles::default(),
        }
    }

    fn remove(&mut self, name: &str) {
        if self.files.remove(name).is_some() {
            self.report.removed_files.push(name.to_owned());
        }
    }

    /// Clears away what deletions and cleanings left, and finishes a swap that was ready.
    fn finish_swaps(&mut self) {
        let names: Vec<String> = self.files.iter().map(|(name, _)| name.to_owned()).collect();
        let with = |suffix: &str| {
            names
                .iter()
                .filter(|name| name.ends_with(suffix))
                .cloned()
                .collect::<Vec<_>>()
        };
        let cleaned = with(CLEANED_SUFFIX);
        let first_cleaned = cleaned
            .iter()
            .filter_map(|name| leading_offset(name))
            .min()
            .unwrap_or(i64::MAX);
        let (stale, swaps): (Vec<_>, Vec<_>) = with(SWAP_SUFFIX)
            .into_iter()
            .partition(|name| leading_offset(name).is_some_and(|base| base >= first_cleaned));
        for name in with(DELETED_SUFFIX).iter().chain(&cleaned).chain(&stale) {
            self.remove(name);
        }
        let replaced: Vec<_> = swaps.iter().filter_map(|name| self.swapped_range(name)).collect();
        let range = replaced
            .into_iter()
            .reduce(|(from, to), (first, end)| (from.min(first), to.max(end)));
        if let Some((from, to)) = range {
            for name in &names {
                let offset = leading_offset(name).filter(|_| !name.ends_with(SWAP_SUFFIX));
                if offset.is_some_and(|offset| offset >= from && offset < to) {
                    self.remove(name);
                }
            }
        }
        let ready = self.files.iter().map(|(name, _)| name);
        let ready: Vec<String> = ready
            .filter(|name| name.ends_with(SWAP_SUFFIX))
            .map(str::to_owned)
            .collect();
        for name in ready {
            if let Some(file) = self.files.remove(&name) {
                self.files.insert(name.trim_end_matches(SWAP_SUFFIX), file);
            }
        }
    }

    /// The offsets that a swapped-in segment stands for. An offset index that it lacks is made by looking for its end, and
    /// stays as it is made: in full size, all zeros, each of which counts as an entry.
    fn swapped_range(&mut self, name: &str) -> Option<(i64, i64)> {
        let base = base_offset_of(name.strip_suffix(SWAP_SUFFIX)?, "log")?;
        let segment = self.open_segment(base, SWAP_SUFFIX);
        let index = format!("{}{SWAP_SUFFIX}", file_name(base, "index"));
        if self.files.get(&index).is_none() {
            self.files
                .insert(index, segment.offset_index().to_file(self.args.now_ms));
        }
        Some((base, proven_end(&segment)))
    }

    fn open_segment(&self, base: i64, suffix: &str) -> Segment {
        let file = |kind: &str| self.files.get(&format!("{}{suffix}", file_name(base, kind)));
        let config = self.args.config;
        Segment::open(
            base,
            file("log").map_or_else(|| LogFile::create(0, self.args.now_ms), LogFile::open),
            file("index").map_or_else(
                || OffsetIndex::create(base, config.segment_index_bytes),
                |file| OffsetIndex::open(base, file),
            ),
            file("timeindex").map_or_else(
                || TimeIndex::create(base, config.segment_index_bytes),
                |file| TimeIndex::open(base, file),
            ),
            file("txnindex").map_or_else(TxnIndex::default, TxnIndex::open),
            config,
            self.args.now_ms,
        )
    }

    fn load_segments(&mut self) {
        self.load_snapshots();
        for base in self.files.segment_bases() {
            let mut segment = self.open_segment(base, "");
            let index = self.files.get(&file_name(base, "index"));
            let recover = index.is_none() || !segment.txn_index().is_sound(base);
            let no_times = self.files.get(&file_name(base, "timeindex")).is_none();
            if index.is_some() && no_times {
                segment.time_index.resize(0);
            }
            let remade = match (index.is_none(), recover, no_times) {
                (true, ..) => Some(Remade::Missing),
                (_, true, _) => Some(Remade::Aborted),
                (.., true) => Some(Remade::Emptied),
                _ => None,
            };
            self.report.remade.extend(remade.map(|remade| (base, remade)));
            for kind in ["log", "index", "timeindex", "txnindex"] {
                self.files.remove(&file_name(base, kind));
            }
            let before: Vec<i64> = self.segments.iter().map(Segment::base_offset).collect();
            match recover.then(|| self.recover_segment(&mut segment, &before)) {
                Some(Recovered::Overflowed) => self.split(segment),
                _ => self.segments.push(segment),
            }
        }
        let orphans: Vec<String> = self
            .files
            .iter()
            .map(|(name, _)| name.to_owned())
            .filter(|name| {
                ["index", "timeindex", "txnindex"]
                    .iter()
                    .any(|kind| base_offset_of(name, kind).is_some())
            })
            .collect();
        orphans.iter().for_each(|name| self.remove(name));
    }

    fn load_snapshots(&mut self) {
        let found: Vec<(i64, String)> = self
            .files
            .iter()
            .filter_map(|(name, _)| Some((base_offset_of(name, "snapshot")?, name.to_owned())))
            .collect();
        for (offset, name) in found {
            if let Some(file) = self.files.remove(&name) {
                let snapshot = SnapshotFile {
                    bytes: file.to_bytes().into(),
                    flushed: file.flushed().is_some(),
                };
                Arc::make_mut(&mut self.producers.snapshots).insert(offset, snapshot);
            }
        }
    }

    /// Reads the segments from the recovery point on, up to the first that has to be cut.
    fn recover_unflushed(&mut self) {
        let mut index = self.first_unflushed();
        while index < self.segments.len() {
            let later = self.segments.split_off(index + 1);
            let Some(mut segment) = self.segments.pop() else {
                break;
            };
            let bases = self.bases_with(&segment, &later);
            match self.recover_segment(&mut segment, &bases) {
                Recovered::Cut(cut) => {
                    self.segments.push(segment);
                    if cut > 0 {
                        self.give_up(later);
                        return;
                    }
                    self.segments.extend(later);
                    index += 1;
                }
                Recovered::Overflowed => {
                    self.segments.extend(later);
                    self.split(segment);
                    index = self.first_unflushed();
                }
            }
        }
    }

    /// The bases of the segments before one, of itself, and of those after it.
    fn bases_with(&self, segment: &Segment, later: &[Segment]) -> Vec<i64> {
        let all = self.segments.iter().chain(std::iter::once(segment)).chain(later);
        all.map(Segment::base_offset).collect()
    }

    fn first_unflushed(&self) -> usize {
        let holds = |segment: &Segment| segment.base_offset() <= self.args.recovery_point;
        self.segments.iter().rposition(holds).unwrap_or(0)
    }

    /// Puts segments that can hold them in the place of one whose offsets are too far from its base.
    fn split(&mut self, segment: Segment) {
        let parts = segment.split(self.args.config, self.args.now_ms);
        self.report.split = Some(segment.base_offset());
        for part in parts {
            let at = self
                .segments
                .partition_point(|other| other.base_offset() < part.base_offset());
            match self.segments.get_mut(at) {
                Some(other) if other.base_offset() == part.base_offset() => *other = part,
                _ => self.segments.insert(at, part),
            }
        }
        let base = segment.base_offset();
        let replaced = self.segments.iter().any(|part| part.base_offset() == base);
        let segments = vec![Arc::new(Cached::new(segment))];
        let with_snapshots = if replaced { Vec::new() } else { segments.clone() };
        self.given_up.push(GivenUp {
            segments,
            with_snapshots,
        });
    }

    fn give_up(&mut self, segments: Vec<Segment>) {
        if segments.is_empty() {
            return;
        }
        for segment in &segments {
            self.report.deleted_segments.push(segment.base_offset());
            self.report.deleted_bytes += u64::from(segment.size());
            let batches = segment.log().batches().iter().map(|placed| placed.batch.clone());
            self.report.dropped.extend(batches);
        }
        let segments: Vec<_> = segments
            .into_iter()
            .map(|segment| Arc::new(Cached::new(segment)))
            .collect();
        self.given_up.push(GivenUp {
            with_snapshots: segments.clone(),
            segments,
        });
    }

    /// Recovers one segment, given those before it and the bases of all that are loaded.
    fn recover_segment(&mut self, segment: &mut Segment, bases: &[i64]) -> Recovered {
        let config = self.args.config;
        let base = segment.base_offset();
        let mut producers = ProducerFiles {
            snapshots: std::mem::take(&mut self.producers.snapshots),
            ..ProducerFiles::default()
        };
        let before: Vec<&Segment> = self.segments.iter().collect();
        let log = Rebuild {
            segments: &before,
            bases,
            log_start: self.args.log_start_offset,
            end: base,
        };
        producers.rebuild(&log, Reload::Running, config, self.args.now_ms);
        let mut epochs = std::mem::take(&mut self.epochs);
        let mut assigned = false;
        let outcome = segment.recover(config, self.args.now_ms, |segment, batch| {
            let news = epochs.latest().is_none_or(|latest| batch.leader_epoch() > latest.epoch);
            if batch.leader_epoch() >= 0 && news {
                assigned |= epochs.assign(batch.leader_epoch(), batch.base_offset());
            }
            producers.replay_recovered(segment, batch);
        });
        if assigned {
            self.epoch_file = EpochFile::Written(Arc::new(epochs.clone()));
        }
        self.epochs = epochs;
        let Some((cut, dropped)) = outcome else {
            self.producers.snapshots = producers.snapshots;
            return Recovered::Overflowed;
        };
        producers.take_snapshot();
        self.producers.snapshots = producers.snapshots;
        self.report.recovered.push(base);
        if cut > 0 {
            self.report.truncated = Some((base, cut));
        }
        self.report.dropped.extend(dropped);
        Recovered::Cut(cut)
    }

    fn finish(mut self) -> (Log, RecoveryReport) {
        let (args, config) = (self.args, self.args.config);
        let checkpointed_start = args.log_start_offset;
        let end = self.segments.last().map(proven_end);
        let end = end.filter(|end| *end >= checkpointed_start);
        if end.is_none() && !self.segments.is_empty() {
            let all = std::mem::take(&mut self.segments);
            self.give_up(all);
            self.epochs.clear();
            self.epoch_file = EpochFile::Written(Arc::default());
            self.producers = ProducerFiles::truncated_at(checkpointed_start);
        }
        let mut active = self
            .segments
            .pop()
            .unwrap_or_else(|| Segment::create(checkpointed_start, config, 0, args.now_ms));
        let next_offset = end.unwrap_or_else(|| proven_end(&active));
        active.grow_indexes();
        self.segments.iter_mut().for_each(Segment::settle_max_timestamp);
        active.settle_max_timestamp();
        let recovery_point = match args.shutdown {
            Shutdown::Clean if end.is_some() => next_offset,
            _ => args.recovery_point.min(next_offset),
        };
        let mut state = State::with_segments(self.segments, active, next_offset, args.now_ms);
        state.recovery_point = recovery_point;
        state.epochs = Arc::new(self.epochs);
        state.epoch_file = self.epoch_file;
        state.strays = Arc::new(
            self.files
                .iter()
                .map(|(name, file)| (name.to_owned(), file.clone()))
                .collect(),
        );
        state.producers = self.producers;
        for group in &self.given_up {
            state.delete_segment_files(&group.segments, config, args.now_ms);
            state.delete_snapshots(&group.with_snapshots, config, args.now_ms);
        }
        state.truncate_epochs(|epochs| epochs.truncate_from_end(next_offset));
        state.truncate_epochs(|epochs| epochs.truncate_from_start(checkpointed_start));
        let log_start_offset = checkpointed_start.max(state.first_base_offset());
        state.log_start_offset = log_start_offset;
        state
            .producers
            .remove_stray_snapshots(&state.segments().map(Segment::base_offset).collect::<Vec<_>>());
        let reload = match args.shutdown {
            Shutdown::Clean => Reload::AfterCleanStop,
            Shutdown::Unclean => Reload::Running,
        };
        state.rebuild_producers(next_offset, reload, config, args.now_ms);
        state.recovery_point = state.recovery_point.max(log_start_offset);
        state.high_watermark = Watermark::unresolved(log_start_offset);
        state.refresh_first_unstable();
        let mut log = Log {
            state: Cached::new(state),
        };
        log.set_high_watermark(args.high_watermark);
        (log, self.report)
    }
}

/// One past the last offset of a segment. Where an index leads to bytes that are no batch Kafka would not load the log at all;
/// here the batches before them count.
fn proven_end(segment: &Segment) -> i64 {
    let last = || segment.log().batches().last();
    segment
        .read_next_offset()
        .unwrap_or_else(|_| last().map_or(segment.base_offset(), |placed| placed.batch.next_offset()))
}

/// The offset at the front of a file's name, whatever its suffixes.
fn leading_offset(name: &str) -> Option<i64> {
    let digits = name
        .get(..20)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    name[20..].starts_with('.').then(|| digits.parse().ok())?
}
