//! What is remembered of one producer.
//!
//! Mirrors `ProducerStateEntry` and `BatchMetadata`.

use std::collections::VecDeque;

use super::super::batch::Batch;

/// How many batches of each producer are remembered.
const BATCHES_TO_RETAIN: usize = 5;

/// One remembered batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchMetadata {
    /// The sequence of its last record.
    pub last_sequence: i32,
    /// The offset of its last record.
    pub last_offset: i64,
    /// Last offset minus first.
    pub offset_delta: i32,
    /// Its greatest timestamp.
    pub timestamp: i64,
}

impl BatchMetadata {
    /// The sequence of its first record.
    pub fn first_sequence(&self) -> i32 {
        if self.last_sequence < self.offset_delta {
            // The sequence wrapped inside the batch.
            i32::MAX
                .wrapping_sub(self.offset_delta.wrapping_sub(self.last_sequence))
                .wrapping_add(1)
        } else {
            self.last_sequence.wrapping_sub(self.offset_delta)
        }
    }

    /// The offset of its first record.
    pub fn first_offset(&self) -> i64 {
        self.last_offset - i64::from(self.offset_delta)
    }
}

/// What is remembered of one producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerEntry {
    /// The last epoch; −1 when nothing is known yet.
    pub epoch: i16,
    /// The last batches, oldest first; none after a marker that bumped the epoch.
    pub batches: VecDeque<BatchMetadata>,
    /// The epoch of the coordinator that wrote the last marker, −1 if none did.
    pub coordinator_epoch: i32,
    /// The timestamp of the last batch or marker.
    pub last_timestamp: i64,
    /// Where the open transaction begins.
    pub txn_first_offset: Option<i64>,
}

impl ProducerEntry {
    pub(super) fn unknown() -> Self {
        Self {
            epoch: -1,
            batches: VecDeque::new(),
            coordinator_epoch: -1,
            last_timestamp: -1,
            txn_first_offset: None,
        }
    }

    /// The same producer, with no batch remembered.
    pub(super) fn without_batches(&self) -> Self {
        Self {
            batches: VecDeque::new(),
            ..*self
        }
    }

    /// Takes what an append has made of it. Batches of another epoch than the last one are forgotten, those of an epoch that
    /// was left and come back to are not.
    pub(super) fn update(&mut self, after: &ProducerEntry) {
        self.set_epoch(after.epoch);
        after.batches.iter().for_each(|batch| self.remember(*batch));
        self.coordinator_epoch = after.coordinator_epoch;
        self.last_timestamp = after.last_timestamp;
        self.txn_first_offset = after.txn_first_offset;
    }

    /// The sequence of the last record, −1 if no batch is remembered.
    pub fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(-1, |batch| batch.last_sequence)
    }

    /// The offset of the last record, −1 if no batch is remembered.
    pub fn last_data_offset(&self) -> i64 {
        self.batches.back().map_or(-1, |batch| batch.last_offset)
    }

    pub(super) fn set_epoch(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.batches.clear();
            self.epoch = epoch;
        }
    }

    pub(super) fn remember(&mut self, batch: BatchMetadata) {
        if self.batches.len() == BATCHES_TO_RETAIN {
            self.batches.pop_front();
        }
        self.batches.push_back(batch);
    }

    /// The remembered batch that this one repeats: same epoch, exactly the same sequences.
    pub(super) fn duplicate_of(&self, batch: &Batch) -> Option<BatchMetadata> {
        if batch.producer_epoch() != self.epoch {
            return None;
        }
        let sequences = (batch.base_sequence(), batch.last_sequence());
        self.batches
            .iter()
            .copied()
            .find(|known| (known.first_sequence(), known.last_sequence) == sequences)
    }
}
