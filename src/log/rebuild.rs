//! The producer state with its snapshots, and how it is built anew.
//!
//! Mirrors the half of `ProducerStateManager` that deals with files, and `UnifiedLog.rebuildProducerState`. After a
//! truncation or a restart the newest usable snapshot is read and the batches behind it pass through the state once
//! more. Snapshots of one batch per producer make that a lossy affair.

use crate::sorted::SortedMap;
use std::sync::Arc;

use super::batch::{Batch, Outcome};
use super::config::LogConfig;
use super::files::{Extent, File};
use super::producers::{CompletedTxn, Origin, ProducerState, Verdict};
use super::record::Bytes;
use super::segment::Segment;
use super::snapshot;
use super::txn_index::AbortedTxn;

/// A producer snapshot file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotFile {
    pub(crate) bytes: Bytes,
    pub(crate) flushed: bool,
}

impl SnapshotFile {
    pub(crate) fn to_file(&self) -> File {
        let flushed = self.flushed.then_some(self.bytes.len() as u64);
        File::new(vec![Extent::Bytes(Arc::clone(&self.bytes))], flushed, 0)
    }
}

/// Whether the state is built for a running log or after a clean stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reload {
    /// After a truncation, or after a crash.
    Running,
    /// After a clean stop: without any snapshot nothing is scanned.
    AfterCleanStop,
}

/// The log that a state is brought up to.
pub(crate) struct Rebuild<'a> {
    /// The segments to read, oldest first.
    pub(crate) segments: &'a [&'a Segment],
    /// The base offsets of all segments, also of one that is not to be read because it is being recovered.
    pub(crate) bases: &'a [i64],
    /// The log start offset.
    pub(crate) log_start: i64,
    /// The log end offset.
    pub(crate) end: i64,
}

/// What is known of producers, and the snapshots of it in the folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProducerFiles {
    pub(crate) state: Arc<ProducerState>,
    pub(crate) snapshots: Arc<SortedMap<i64, SnapshotFile>>,
}

impl ProducerFiles {
    /// Nothing known, no snapshot, from an offset on.
    pub(crate) fn starting_at(offset: i64) -> Self {
        Self {
            state: Arc::new(ProducerState::starting_at(offset)),
            snapshots: Arc::default(),
        }
    }

    /// Everything forgotten and every snapshot gone, up to an offset.
    pub(crate) fn truncated_at(offset: i64) -> Self {
        Self {
            state: Arc::new(ProducerState::truncated_at(offset)),
            snapshots: Arc::default(),
        }
    }

    pub(crate) fn state_mut(&mut self) -> &mut ProducerState {
        Arc::make_mut(&mut self.state)
    }

    /// After the log start moved: forgets what lies below it, entries of producers excepted.
    pub(crate) fn on_log_start(&mut self, log_start: i64) {
        let newest = self.snapshots.keys().next_back().copied();
        self.state_mut().on_log_start(log_start, newest.unwrap_or(log_start));
    }

    /// Writes a snapshot if there is news since the last one. It is not flushed.
    pub(crate) fn take_snapshot(&mut self) {
        if !self.state.wants_snapshot() {
            return;
        }
        let bytes = snapshot::write(&self.state).into();
        let offset = self.state.map_end_offset();
        Arc::make_mut(&mut self.snapshots).insert(offset, SnapshotFile { bytes, flushed: false });
        self.state_mut().snapshot_taken();
    }

    /// Forces a snapshot to disk, if there is one.
    pub(crate) fn flush_snapshot(&mut self, offset: i64) {
        if self.snapshots.get(&offset).is_some_and(|snapshot| !snapshot.flushed)
            && let Some(snapshot) = Arc::make_mut(&mut self.snapshots).get_mut(&offset)
        {
            snapshot.flushed = true;
        }
    }

    /// Drops the snapshots that belong to no segment, but for the newest if it lies above all of them.
    pub(crate) fn remove_stray_snapshots(&mut self, bases: &[i64]) {
        let last_base = bases.last().copied().unwrap_or(i64::MIN);
        let newest = self
            .snapshots
            .keys()
            .copied()
            .filter(|offset| !bases.contains(offset))
            .max();
        let kept = newest.filter(|offset| *offset > last_base || bases.is_empty());
        Arc::make_mut(&mut self.snapshots).retain(|offset, _| bases.contains(offset) || Some(*offset) == kept);
    }

    /// Brings the state to a log end, from the newest usable snapshot and the batches behind it.
    pub(crate) fn rebuild(&mut self, log: &Rebuild<'_>, reload: Reload, config: &LogConfig, now_ms: i64) {
        let (bases, end) = (log.bases, log.end);
        let mut snapshot_at = bases[bases.len().saturating_sub(2)..].to_vec();
        snapshot_at.push(end);
        if self.snapshots.is_empty() && reload == Reload::AfterCleanStop {
            for offset in snapshot_at {
                self.state_mut().set_map_end_offset(offset);
                self.take_snapshot();
            }
            return;
        }
        let was_empty = self.state.is_empty() && self.state.map_end_offset() >= end;
        self.truncate_and_reload(log.log_start, end, config, now_ms);
        if end > self.state.map_end_offset() && !was_empty {
            self.replay_segments(log, &snapshot_at);
        }
        self.state_mut().set_map_end_offset(end);
        self.take_snapshot();
    }

    fn truncate_and_reload(&mut self, log_start: i64, end: i64, config: &LogConfig, now_ms: i64) {
        if self
            .snapshots
            .keys()
            .any(|offset| *offset > end || *offset <= log_start)
        {
            Arc::make_mut(&mut self.snapshots).retain(|offset, _| *offset <= end && *offset > log_start);
        }
        if end == self.state.map_end_offset() {
            self.on_log_start(log_start);
            return;
        }
        self.state_mut().clear();
        while let Some((offset, file)) = self.snapshots.iter().next_back() {
            let offset = *offset;
            if let Ok(entries) = snapshot::read(&file.bytes) {
                self.state_mut()
                    .load(entries, offset, config.producer_id_expiration_ms, now_ms);
                return;
            }
            Arc::make_mut(&mut self.snapshots).remove(&offset);
        }
        self.state_mut()
            .load(Vec::new(), log_start, config.producer_id_expiration_ms, now_ms);
    }

    fn replay_segments(&mut self, log: &Rebuild<'_>, snapshot_at: &[i64]) {
        let (segments, end) = (log.segments, log.end);
        let holds_end = log.bases.iter().rfind(|base| **base <= end).copied();
        let covered = self.state.map_end_offset();
        let from = segments
            .iter()
            .rposition(|segment| segment.base_offset() <= covered)
            .unwrap_or(0);
        for segment in segments.iter().skip(from) {
            if segment.base_offset() >= end {
                break;
            }
            let start = segment
                .base_offset()
                .max(self.state.map_end_offset())
                .max(log.log_start);
            self.state_mut().set_map_end_offset(start);
            if snapshot_at.contains(&segment.base_offset()) {
                self.take_snapshot();
            }
            // Where a damaged index leads nowhere Kafka would not load such a log at all.
            let Ok(Some(found)) = segment.translate_offset(start) else {
                continue;
            };
            let limit = match segment.translate_offset(end) {
                Ok(Some(bound)) if holds_end == Some(segment.base_offset()) => bound.position,
                _ => segment.size(),
            };
            let length = limit.saturating_sub(found.position);
            let batches: Vec<Batch> = segment
                .slice(found.position, length)
                .map(|placed| placed.batch.clone())
                .collect();
            for completed in self.replay(&batches) {
                self.state_mut().complete(&completed);
            }
        }
    }

    /// Lets batches pass through the state; they were accepted once and are not judged again. Gives the transactions
    /// that they end, still to be completed.
    fn replay(&mut self, batches: &[Batch]) -> Vec<CompletedTxn> {
        match self.state.analyze(batches, Origin::Replication) {
            Ok(Verdict::Append(analysis)) => {
                self.state_mut().apply(&analysis);
                analysis.completed
            }
            // A transaction with a batch out of place: Kafka would not load such a log at all.
            _ => Vec::new(),
        }
    }

    /// Lets one recovered batch pass through the state and the aborted index.
    pub(crate) fn replay_recovered(&mut self, segment: &mut Segment, batch: &Batch) {
        for completed in self.replay(std::slice::from_ref(batch)) {
            self.complete(segment, &completed);
        }
        self.state_mut().set_map_end_offset(batch.next_offset());
    }

    /// Ends a transaction; an aborted one goes to the aborted index.
    pub(crate) fn complete(&mut self, segment: &mut Segment, completed: &CompletedTxn) {
        if completed.outcome == Outcome::Abort {
            segment.txn_index.append(AbortedTxn {
                producer_id: completed.producer_id,
                first_offset: completed.first_offset,
                last_offset: completed.last_offset,
                last_stable_offset: self.state.last_stable_offset_after(completed),
            });
        }
        self.state_mut().complete(completed);
    }
}
