//! Which file is which, by its name.

/// A file of a broker's data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The batches of a segment.
    Log {
        /// The first offset that the segment may hold.
        base: i64,
    },
    /// From offsets to positions in the segment.
    OffsetIndex {
        /// What its offsets are told from.
        base: i64,
    },
    /// From timestamps to offsets.
    TimeIndex {
        /// What its offsets are told from.
        base: i64,
    },
    /// The aborted transactions of a segment.
    TxnIndex {
        /// The segment's base offset.
        base: i64,
    },
    /// What was known of producers at an offset.
    Snapshot {
        /// One past the last offset it covers.
        end: i64,
    },
    /// The leader epochs of a partition.
    LeaderEpochs,
    /// An offset for each partition of the directory.
    Offsets(OffsetsOf),
    /// The topic's id, in each partition's folder.
    PartitionMetadata,
    /// Whose the data directory is.
    MetaProperties,
    /// The marker of a clean stop.
    CleanShutdown,
}

/// The checkpoints of a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetsOf {
    /// `recovery-point-offset-checkpoint`
    RecoveryPoint,
    /// `log-start-offset-checkpoint`
    LogStart,
    /// `replication-offset-checkpoint`
    HighWatermark,
    /// `cleaner-offset-checkpoint`
    Cleaner,
}

impl OffsetsOf {
    /// The file's name.
    pub fn file_name(self) -> &'static str {
        match self {
            OffsetsOf::RecoveryPoint => "recovery-point-offset-checkpoint",
            OffsetsOf::LogStart => "log-start-offset-checkpoint",
            OffsetsOf::HighWatermark => "replication-offset-checkpoint",
            OffsetsOf::Cleaner => "cleaner-offset-checkpoint",
        }
    }

    /// What its offsets mean, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            OffsetsOf::RecoveryPoint => "flushed below: not read again after a crash",
            OffsetsOf::LogStart => "the first offset a client may read",
            OffsetsOf::HighWatermark => "the high watermark: committed below",
            OffsetsOf::Cleaner => "cleaned below: the next compaction begins here",
        }
    }
}

/// The name of the marker of a clean stop.
pub const CLEAN_SHUTDOWN: &str = ".kafka_cleanshutdown";
/// The name of the file that says whose a data directory is.
pub const META_PROPERTIES: &str = "meta.properties";
/// The name of the file with the topic's id.
pub const PARTITION_METADATA: &str = "partition.metadata";

impl FileKind {
    /// The kind of a file with this name (without folders); `None` for one that is no part of a log. Files that wait for
    /// deletion or belong to an unfinished compaction are none.
    pub fn of(name: &str) -> Option<FileKind> {
        match name {
            crate::log::LEADER_EPOCH_CHECKPOINT => return Some(FileKind::LeaderEpochs),
            PARTITION_METADATA => return Some(FileKind::PartitionMetadata),
            META_PROPERTIES => return Some(FileKind::MetaProperties),
            CLEAN_SHUTDOWN => return Some(FileKind::CleanShutdown),
            _ => {}
        }
        let checkpoints = [
            OffsetsOf::RecoveryPoint,
            OffsetsOf::LogStart,
            OffsetsOf::HighWatermark,
            OffsetsOf::Cleaner,
        ];
        if let Some(of) = checkpoints.into_iter().find(|of| of.file_name() == name) {
            return Some(FileKind::Offsets(of));
        }
        let (digits, suffix) = name.split_once('.')?;
        let sound = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let base: i64 = sound.then(|| digits.parse().ok())??;
        Some(match suffix {
            "log" => FileKind::Log { base },
            "index" => FileKind::OffsetIndex { base },
            "timeindex" => FileKind::TimeIndex { base },
            "txnindex" => FileKind::TxnIndex { base },
            "snapshot" => FileKind::Snapshot { end: base },
            _ => return None,
        })
    }
}
