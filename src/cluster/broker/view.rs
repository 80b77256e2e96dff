//! Looking at a replica: the same questions whether its process runs, is frozen, or is gone.
//!
//! Of a broker without a process what lies on its host is shown, and the high watermark is unknown.

use crate::cluster::event::Tag;
use crate::cluster::ids::BrokerId;
use crate::log::{Batch, EpochEntry, Files, Log};

use super::host::{Checkpoints, Folder, tag_of};
use super::replica::{Leading, Replica, Role};
use super::storage::flushed_end;

/// A replica, as it is seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaView<'a> {
    seen: Seen<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Seen<'a> {
    Open(&'a Replica),
    Lying(&'a Folder),
}

impl<'a> ReplicaView<'a> {
    pub(super) fn open(replica: &'a Replica) -> ReplicaView<'a> {
        ReplicaView {
            seen: Seen::Open(replica),
        }
    }

    pub(super) fn lying(folder: &'a Folder) -> ReplicaView<'a> {
        ReplicaView {
            seen: Seen::Lying(folder),
        }
    }

    /// Its log; without a process the files read as a log, up to the first batch that cannot be read.
    pub fn log(&self) -> &'a Log {
        match self.seen {
            Seen::Open(replica) => &replica.log,
            Seen::Lying(folder) => &folder.view,
        }
    }

    /// The folder as it is now.
    pub fn files(&self) -> Files {
        match self.seen {
            Seen::Open(replica) => replica.log.to_files(),
            Seen::Lying(folder) => folder.files.clone(),
        }
    }

    /// The folder of a broker without a process, as it lies on the host.
    pub fn lying_files(&self) -> Option<&'a Files> {
        match self.seen {
            Seen::Open(_) => None,
            Seen::Lying(folder) => Some(&folder.files),
        }
    }

    /// The offset of the next record.
    pub fn log_end(&self) -> i64 {
        self.log().log_end_offset()
    }

    /// The first offset a client may read.
    pub fn log_start(&self) -> i64 {
        self.log().log_start_offset()
    }

    /// The high watermark, while a process knows one.
    pub fn high_watermark(&self) -> Option<i64> {
        match self.seen {
            Seen::Open(replica) => Some(replica.log.high_watermark()),
            Seen::Lying(_) => None,
        }
    }

    /// Everything below this offset is on disk: flushed, or written back.
    pub fn flushed(&self) -> i64 {
        flushed_end(self.log())
    }

    /// What is below this offset is not read again by recovery.
    pub fn recovery_point(&self) -> i64 {
        match self.seen {
            Seen::Open(replica) => replica.log.recovery_point(),
            Seen::Lying(folder) => folder.checkpoints.recovery_point,
        }
    }

    /// What the checkpoint files on its host say.
    pub fn checkpoints(&self) -> Checkpoints {
        match self.seen {
            Seen::Open(replica) => replica.on_host,
            Seen::Lying(folder) => folder.checkpoints,
        }
    }

    /// Whether a cleaner works on it, or has worked on it.
    pub fn is_compacted(&self) -> bool {
        let by_config = match self.seen {
            Seen::Open(replica) => replica.config.cleanup_policy.compact,
            Seen::Lying(_) => false,
        };
        by_config || self.checkpoints().cleaner.is_some()
    }

    /// Its batches, from the oldest segment on, some of which may lie below the log start.
    pub fn batches(&self) -> impl Iterator<Item = &'a Batch> + use<'a> {
        self.log()
            .segments()
            .flat_map(|segment| segment.log().batches().iter())
            .map(|placed| &placed.batch)
    }

    /// The batch that holds an offset.
    pub fn batch_at(&self, offset: i64) -> Option<&'a Batch> {
        let segments = self.log().segments().rev();
        let segment = segments.into_iter().find(|segment| segment.base_offset() <= offset)?;
        let batches = segment.log().batches();
        let placed = batches.get(batches.partition_point(|placed| placed.batch.last_offset() < offset))?;
        (placed.batch.base_offset() <= offset).then_some(&placed.batch)
    }

    /// The name of the record at an offset, from the log start on.
    pub fn tag_at(&self, offset: i64) -> Option<Tag> {
        if offset < self.log_start() {
            return None;
        }
        self.batch_at(offset)?.tag_of(offset).and_then(tag_of)
    }

    /// Its leader epochs.
    pub fn epochs(&self) -> &'a [EpochEntry] {
        self.log().epochs().entries()
    }

    /// What it does, while a process knows.
    pub fn role(&self) -> Option<&'a Role> {
        match self.seen {
            Seen::Open(replica) => Some(&replica.role),
            Seen::Lying(_) => None,
        }
    }

    /// What it keeps as leader, if it takes itself for one.
    pub fn leading(&self) -> Option<&'a Leading> {
        match self.seen {
            Seen::Open(replica) => replica.leading(),
            Seen::Lying(_) => None,
        }
    }

    /// The leader epoch in which it takes itself for the leader.
    pub fn leads_in(&self) -> Option<i32> {
        match self.seen {
            Seen::Open(replica) => replica.leading().map(|_| replica.leader_epoch),
            Seen::Lying(_) => None,
        }
    }

    /// Whom it follows.
    pub fn follows(&self) -> Option<BrokerId> {
        match self.role()? {
            Role::Follower(leader) => *leader,
            _ => None,
        }
    }

    /// The leader epoch it knows.
    pub fn leader_epoch(&self) -> Option<i32> {
        match self.seen {
            Seen::Open(replica) => Some(replica.leader_epoch),
            Seen::Lying(_) => None,
        }
    }

    /// The partition epoch it knows.
    pub fn partition_epoch(&self) -> Option<i32> {
        match self.seen {
            Seen::Open(replica) => Some(replica.partition_epoch),
            Seen::Lying(_) => None,
        }
    }
}
