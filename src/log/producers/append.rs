//! What one append does to the producers, found before anything is written.
//!
//! Mirrors `ProducerAppendInfo`.

use super::super::batch::{Batch, Marker, Outcome, increment_sequence};
use super::super::errors::{Errors, Refusal};
use super::entry::{BatchMetadata, ProducerEntry};
use super::{Check, Origin, ProducerState, TransactionVersion};

/// A transaction that a marker has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedTxn {
    /// Whose transaction it was.
    pub producer_id: i64,
    /// Where it began.
    pub first_offset: i64,
    /// The offset of the marker.
    pub last_offset: i64,
    /// How it ended.
    pub outcome: Outcome,
}

/// What one append does to one producer (`ProducerAppendInfo`).
#[derive(Clone, Debug)]
pub(super) struct AppendInfo {
    before: ProducerEntry,
    /// What is then known of it, with no batches but those of the append.
    pub(super) after: ProducerEntry,
    pub(super) started: Vec<i64>,
}

impl AppendInfo {
    /// Checks a batch and notes what it changes.
    pub(super) fn append(&mut self, batch: &Batch, origin: Origin) -> Result<Option<CompletedTxn>, Refusal> {
        if !batch.is_control() {
            self.append_data(batch, origin)?;
            return Ok(None);
        }
        // An empty control batch is what a cleaner leaves of a whole transaction: nothing to note.
        let Some(record) = batch.records().next() else {
            return Ok(None);
        };
        let marker = Marker::read(&record).map_err(|error| {
            let message = format!(
                "the control record at offset {} is no transaction marker",
                record.offset
            );
            Refusal::new(error, message)
        })?;
        self.append_marker(batch, marker, record.timestamp, origin)
    }

    fn append_data(&mut self, batch: &Batch, origin: Origin) -> Result<(), Refusal> {
        if batch.producer_epoch() < self.after.epoch && origin != Origin::Replication {
            return Err(self.stale_epoch(batch));
        }
        if origin.checks(Check::Sequences) {
            self.check_sequence(batch)?;
        }
        self.after.set_epoch(batch.producer_epoch());
        self.after.remember(BatchMetadata {
            last_sequence: batch.last_sequence(),
            last_offset: batch.last_offset(),
            offset_delta: batch.last_offset_delta(),
            timestamp: batch.max_timestamp(),
        });
        self.after.last_timestamp = batch.max_timestamp();
        match (self.after.txn_first_offset, batch.is_transactional()) {
            (Some(first), false) => Err(Refusal::new(
                Errors::InvalidTxnState,
                format!(
                    "the producer's transaction that began at offset {first} is open, so only transactional batches may follow"
                ),
            )),
            (None, true) => {
                self.after.txn_first_offset = Some(batch.base_offset());
                self.started.push(batch.base_offset());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn stale_epoch(&self, batch: &Batch) -> Refusal {
        Refusal::new(
            Errors::InvalidProducerEpoch,
            format!(
                "the producer's epoch {} is older than the last seen, {}",
                batch.producer_epoch(),
                self.after.epoch
            ),
        )
    }

    fn check_sequence(&self, batch: &Batch) -> Result<(), Refusal> {
        let found = batch.base_sequence();
        // A producer nobody knows may start anywhere: its records may have been deleted.
        let expected = if batch.producer_epoch() != self.after.epoch {
            if self.after.epoch == -1 { found } else { 0 }
        } else if self.before.epoch == -1 {
            found
        } else {
            increment_sequence(self.last_sequence(), 1)
        };
        if found == expected {
            return Ok(());
        }
        Err(Refusal::new(
            Errors::OutOfOrderSequenceNumber,
            format!("the batch begins with sequence {found}, expected {expected}"),
        ))
    }

    /// The last sequence of the epoch that the append has come to, −1 if there is none.
    fn last_sequence(&self) -> i32 {
        if self.after.batches.is_empty() && self.after.epoch == self.before.epoch {
            self.before.last_sequence()
        } else {
            self.after.last_sequence()
        }
    }

    fn append_marker(
        &mut self,
        batch: &Batch,
        marker: Marker,
        timestamp: i64,
        origin: Origin,
    ) -> Result<Option<CompletedTxn>, Refusal> {
        let epoch = batch.producer_epoch();
        let fenced = match origin {
            Origin::Replication => false,
            Origin::Client | Origin::ClientWithout(_) | Origin::Coordinator(TransactionVersion::V1) => {
                epoch < self.after.epoch
            }
            // Equal is a marker that was written already: harmless once its transaction has ended.
            Origin::Coordinator(TransactionVersion::V2) => {
                epoch < self.after.epoch || (epoch == self.after.epoch && self.after.txn_first_offset.is_some())
            }
        };
        if fenced {
            return Err(self.stale_epoch(batch));
        }
        if self.after.coordinator_epoch > marker.coordinator_epoch && origin != Origin::Replication {
            return Err(Refusal::new(
                Errors::TransactionCoordinatorFenced,
                format!(
                    "the coordinator epoch {} is older than the last seen, {}",
                    marker.coordinator_epoch, self.after.coordinator_epoch
                ),
            ));
        }
        let completed = self.after.txn_first_offset.map(|first_offset| CompletedTxn {
            producer_id: batch.producer_id(),
            first_offset,
            last_offset: batch.base_offset(),
            outcome: marker.outcome,
        });
        self.after.set_epoch(epoch);
        self.after.coordinator_epoch = marker.coordinator_epoch;
        self.after.txn_first_offset = None;
        self.after.last_timestamp = timestamp;
        Ok(completed)
    }
}

/// What an append does to the producers, found before anything is written.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(super) updates: Vec<(i64, AppendInfo)>,
    pub(crate) completed: Vec<CompletedTxn>,
}

/// What an analysis says.
pub(crate) enum Verdict {
    /// Append, then apply.
    Append(Analysis),
    /// The batch is here already.
    Duplicate(BatchMetadata),
}

impl Analysis {
    /// The index of a producer's update, begun with what the log knows of it.
    pub(super) fn update_of(&mut self, id: i64, state: &ProducerState) -> usize {
        if let Some(index) = self.updates.iter().position(|(known, _)| *known == id) {
            return index;
        }
        let before = state.entry(id).cloned().unwrap_or_else(ProducerEntry::unknown);
        self.updates.push((
            id,
            AppendInfo {
                after: before.without_batches(),
                before,
                started: Vec::new(),
            },
        ));
        self.updates.len() - 1
    }
}
