//! What each replica's log has held, told by events alone: which records does a truncation, a power loss or a deletion take?
//!
//! Mirrors the logs themselves; a test compares the two. Deliberately absent: layers (page cache, disk) and files, which
//! the logs know.

use super::chunked::Chunked;
use crate::log::Batch;
use crate::sorted::SortedSet;

/// The batches of one replica's log, in order of offset.
#[derive(Clone, Debug, Default)]
pub(super) struct Holdings {
    batches: Chunked<Batch>,
    /// Records below it are gone though their batch may still be there.
    log_start: i64,
    /// Offsets that a cleaner has taken out of batches that are here.
    removed: SortedSet<i64>,
}

impl Holdings {
    /// A batch was appended.
    pub fn append(&mut self, batch: Batch) {
        self.batches.push(batch);
    }

    /// Takes every batch that reaches to `from` or beyond, as a log is cut; the records come in ascending order.
    pub fn cut(&mut self, from: i64) -> Vec<(i64, u64)> {
        let mut batches = Vec::new();
        while self.batches.last().is_some_and(|batch| batch.last_offset() >= from) {
            batches.extend(self.batches.pop());
        }
        let gone = batches.iter().rev().flat_map(|batch| self.records_of(batch)).collect();
        if let Some(first) = batches.last() {
            let end = first.base_offset();
            self.removed.retain(|offset| *offset < end);
        }
        gone
    }

    /// Takes the records at these offsets out of their batches.
    pub fn remove(&mut self, offsets: impl Iterator<Item = i64>) -> Vec<(i64, u64)> {
        let mut gone = Vec::new();
        let mut at = self.batches.start();
        for offset in offsets {
            while self.batches.get(at).is_some_and(|batch| batch.last_offset() < offset) {
                at += 1;
            }
            let record = self.batches.get(at).and_then(|batch| {
                let mut records = self.records_of(batch).into_iter();
                records.find(|record| record.0 == offset)
            });
            gone.extend(record);
            self.removed.insert(offset);
        }
        gone
    }

    /// Takes the records below an offset, as log start moves.
    pub fn advance(&mut self, log_start: i64) -> Vec<(i64, u64)> {
        let mut gone = Vec::new();
        for index in self.batches.start()..self.batches.end() {
            match self.batches.get(index) {
                Some(batch) if batch.base_offset() < log_start => {
                    gone.extend(self.records_of(batch).into_iter().filter(|record| record.0 < log_start));
                }
                _ => break,
            }
        }
        self.log_start = self.log_start.max(log_start);
        let start = self.log_start;
        self.removed.retain(|offset| *offset >= start);
        while self
            .batches
            .get(self.batches.start())
            .is_some_and(|batch| batch.last_offset() < log_start)
        {
            self.batches.drop_front();
        }
        gone
    }

    /// Takes everything.
    pub fn clear(&mut self) -> Vec<(i64, u64)> {
        let gone = self.batches.iter().flat_map(|batch| self.records_of(batch)).collect();
        *self = Holdings::default();
        gone
    }

    /// Offset and tag of everything held, ascending.
    pub fn records(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.batches.iter().flat_map(|batch| self.records_of(batch))
    }

    fn records_of(&self, batch: &Batch) -> Vec<(i64, u64)> {
        tagged(batch)
            .into_iter()
            .filter(|record| record.0 >= self.log_start && !self.removed.contains(&record.0))
            .collect()
    }
}

/// Offset and tag of each record of a batch.
pub(super) fn tagged(batch: &Batch) -> Vec<(i64, u64)> {
    let tags = batch.tags();
    if tags.len() as i64 == i64::from(batch.last_offset_delta()) + 1 {
        return (batch.base_offset()..).zip(tags.iter().copied()).collect();
    }
    batch
        .records()
        .map(|record| record.offset)
        .zip(tags.iter().copied())
        .collect()
}
