//! What lies on a broker's host: the partitions' folders, the checkpoints, the marker of a clean stop.
//!
//! Mirrors `LogManager`'s directory-level files and `BrokerServer`'s `meta.properties`. While a process runs it has the
//! folders open and they stand in its replicas; when it is gone they lie here, as a kill or a power loss left them.

use crate::cluster::event::{Damage, Tag};
use crate::cluster::ids::TopicPartition;
use crate::cluster::input::{CheckpointFile, Keep};
use crate::cluster::settings::Micros;
use crate::log::{
    Batch, Encoder, Files, Fingerprint, Keep as FilesKeep, LoadArgs, Log, LogConfig, RECORD_BATCH_OVERHEAD, Rest,
    Shutdown, base_offset_of,
};
use crate::sorted::SortedMap;

/// What the checkpoint files of a data directory say of one partition; 0 where they say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoints {
    /// `recovery-point-offset-checkpoint`: nothing below is read again after a kill.
    pub recovery_point: i64,
    /// `log-start-offset-checkpoint`.
    pub log_start: i64,
    /// `replication-offset-checkpoint`.
    pub high_watermark: i64,
    /// `cleaner-offset-checkpoint`: the first offset that was never cleaned, if the log was cleaned at all.
    pub cleaner: Option<i64>,
}

impl Checkpoints {
    pub(super) fn encode(&self, out: &mut Encoder) {
        out.i64(self.recovery_point);
        out.i64(self.log_start);
        out.i64(self.high_watermark);
        out.option(self.cleaner, Encoder::i64);
    }
}

/// A partition on a host without a process.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its files.
    pub files: Files,
    /// What the checkpoints say of it.
    pub checkpoints: Checkpoints,
    /// The files read as a log, for those who look at a broker that is down.
    pub(super) view: Log,
}

/// A broker's host.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// How often its data directory was formatted anew.
    pub directory: u32,
    /// When that was done last. It decides nothing, and worlds are not compared by it.
    pub formatted: Micros,
    /// Whether the controller does not know this directory yet.
    pub(super) unreported: bool,
    /// The broker epoch in the marker of a clean stop, if there is a marker.
    pub clean: Option<i64>,
    /// How many processes were started.
    pub(super) incarnations: u64,
    /// The partitions, while no process has them open.
    pub folders: SortedMap<TopicPartition, Folder>,
}

/// What a power loss took of one partition: from which offset to which, and the records with their tags.
pub(super) type Lost = (TopicPartition, i64, i64, Vec<(i64, u64)>);

impl Folder {
    pub(super) fn new(files: Files, checkpoints: Checkpoints) -> Folder {
        let view = view_of(&files, &checkpoints);
        Folder {
            files,
            checkpoints,
            view,
        }
    }

    fn changed(&mut self) {
        self.view = view_of(&self.files, &self.checkpoints);
    }
}

/// The files as a log: batches up to the first that cannot be read.
fn view_of(files: &Files, checkpoints: &Checkpoints) -> Log {
    let config = LogConfig::default();
    let args = LoadArgs {
        shutdown: Shutdown::Unclean,
        recovery_point: checkpoints.recovery_point,
        log_start_offset: checkpoints.log_start,
        high_watermark: 0,
        config: &config,
        now_ms: 0,
    };
    Log::load(files.clone(), &args).0
}

/// The records of batches, each with its tag (0 for none).
pub(super) fn records_of<'a>(batches: impl IntoIterator<Item = &'a Batch>) -> Vec<(i64, u64)> {
    let records = |batch: &'a Batch| {
        let untagged = std::iter::repeat(0);
        let offsets = batch.records().map(|record| record.offset);
        offsets.zip(batch.tags().iter().copied().chain(untagged))
    };
    batches.into_iter().flat_map(records).collect()
}

/// The fewest bytes that a record takes: one for each of its fields.
const LEAST_RECORD: usize = 7;

/// The records of a batch with their tags, also where a damaged one can no longer be read: then as many as its header
/// tells of and its bytes have room for.
pub(super) fn told_records(batch: &Batch) -> Vec<(i64, u64)> {
    let readable = records_of([batch]);
    let room = (batch.size_in_bytes() as usize).saturating_sub(RECORD_BATCH_OVERHEAD) / LEAST_RECORD;
    let told = usize::try_from(batch.records_count()).unwrap_or(0).min(room);
    if readable.len() >= told {
        return readable;
    }
    (batch.base_offset()..).take(told).map(|offset| (offset, 0)).collect()
}

/// The records of a log from an offset on, with their tags.
pub(super) fn records_from(log: &Log, from: i64) -> Vec<(i64, u64)> {
    let batches = log
        .segments()
        .flat_map(|segment| segment.log().batches().iter())
        .map(|placed| &placed.batch);
    let mut records = records_of(batches.filter(|batch| batch.last_offset() >= from));
    records.retain(|(offset, _)| *offset >= from);
    records
}

impl Host {
    /// The host loses power: what was not flushed is gone, apart from what is kept.
    pub(super) fn lose_power(&mut self, keep: &Keep) -> Vec<Lost> {
        let mut all = Vec::new();
        for (tp, folder) in &mut self.folders {
            let before = folder.view.clone();
            folder.files.power_loss(kept(*tp, keep));
            folder.changed();
            let (from, to) = (folder.view.log_end_offset(), before.log_end_offset());
            if from < to {
                all.push((*tp, from, to, records_from(&before, from)));
            }
        }
        all
    }

    /// The data directory is lost and formatted anew. Gives what it held.
    pub(super) fn wipe(&mut self, now: Micros) -> Vec<(TopicPartition, Vec<(i64, u64)>)> {
        self.directory += 1;
        self.formatted = now;
        self.unreported = true;
        self.clean = None;
        let held = std::mem::take(&mut self.folders);
        let records = held
            .into_iter()
            .map(|(tp, folder)| (tp, records_from(&folder.view, folder.view.log_start_offset())));
        records.collect()
    }

    /// One partition's folder is lost. Gives what it held.
    pub(super) fn wipe_partition(&mut self, tp: TopicPartition) -> Result<Vec<(i64, u64)>, String> {
        let folder = self.folders.remove(&tp).ok_or("this broker has no such replica")?;
        Ok(records_from(&folder.view, folder.view.log_start_offset()))
    }

    /// A checkpoint file is lost: it says nothing of any partition.
    pub(super) fn lose_checkpoint(&mut self, file: CheckpointFile) {
        if file == CheckpointFile::CleanShutdown {
            self.clean = None;
        }
        for folder in self.folders.values_mut() {
            match file {
                CheckpointFile::HighWatermark => folder.checkpoints.high_watermark = 0,
                CheckpointFile::RecoveryPoint => folder.checkpoints.recovery_point = 0,
                CheckpointFile::LogStart => folder.checkpoints.log_start = 0,
                CheckpointFile::Cleaner => folder.checkpoints.cleaner = None,
                CheckpointFile::CleanShutdown => {}
            }
            folder.changed();
        }
    }

    /// Shortens a replica's log.
    pub(super) fn shorten(&mut self, tp: TopicPartition, offset: i64, rest: Rest) -> Result<(), String> {
        let folder = self.folders.get_mut(&tp).ok_or("this broker has no such replica")?;
        folder.files.shorten(offset, rest);
        folder.changed();
        Ok(())
    }

    /// Cuts the last batch of a replica's files; half of it stays unless told otherwise.
    pub(super) fn tear(&mut self, tp: TopicPartition, keep: Option<u32>) -> Result<Damage, String> {
        let folder = self.folders.get_mut(&tp).ok_or("this broker has no such replica")?;
        let batch = folder.files.last_batch().ok_or("its log holds no batch")?;
        let last = batch.size;
        let keep = keep.map_or(last / 2, u64::from);
        if keep >= last {
            return Err(format!(
                "the last batch has {last} bytes, so keeping {keep} would cut nothing"
            ));
        }
        folder.files.tear_last_batch(keep);
        folder.changed();
        Ok(Damage::Torn {
            segment: batch.segment,
            left: keep,
            of: last,
        })
    }

    /// Inverts a byte of a segment's log.
    pub(super) fn flip(&mut self, tp: TopicPartition, base: i64, position: u64) -> Result<(), String> {
        let folder = self.folders.get_mut(&tp).ok_or("this broker has no such replica")?;
        folder.files.flip(base, position)?;
        folder.changed();
        Ok(())
    }

    /// Removes a file that a log can be opened without: an index, or a snapshot of the producers.
    pub(super) fn remove_file(&mut self, tp: TopicPartition, name: &str) -> Result<(), String> {
        let folder = self.folders.get_mut(&tp).ok_or("this broker has no such replica")?;
        let kinds = ["index", "timeindex", "txnindex", "snapshot"];
        if !kinds.iter().any(|kind| base_offset_of(name, kind).is_some()) {
            return Err(format!("{name} is neither an index nor a snapshot"));
        }
        folder
            .files
            .remove(name)
            .ok_or_else(|| format!("there is no file {name} in its folder"))?;
        folder.changed();
        Ok(())
    }
}

/// What of a partition's files a power loss leaves.
fn kept(tp: TopicPartition, keep: &Keep) -> FilesKeep {
    match keep {
        Keep::Nothing => FilesKeep::Flushed,
        Keep::Cache => FilesKeep::Everything,
        Keep::Below(offsets) => {
            let named = offsets.iter().find(|(named, _)| *named == tp);
            named.map_or(FilesKeep::Flushed, |(_, offset)| FilesKeep::BelowOffset(*offset))
        }
    }
}

impl Fingerprint for Host {
    fn fingerprint(&self, out: &mut Encoder) {
        out.u32(self.directory);
        out.u8(u8::from(self.unreported));
        out.option(self.clean, Encoder::i64);
        out.len(self.folders.len());
        for (tp, folder) in &self.folders {
            crate::cluster::encode::partition(*tp, out);
            folder.checkpoints.encode(out);
            out.u128(folder.files.digest());
        }
    }
}

/// The tag of a record, if it was sent by a client of this world.
pub(super) fn tag_of(bits: u64) -> Option<Tag> {
    (bits != 0).then(|| Tag::from_bits(bits))
}
