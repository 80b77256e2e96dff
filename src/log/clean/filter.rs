//! What becomes of a batch in a cleaning.
//!
//! Mirrors `Cleaner.cleanInto`, `Cleaner.shouldRetainRecord` and `MemoryRecords.filterTo`.

use super::super::batch::{Batch, Unwritable};
use super::super::config::LogConfig;
use super::super::producers::ProducerState;
use super::super::record::RecordView;
use super::offset_map::OffsetMap;

/// What stays of a batch.
pub(super) enum Kept {
    /// The batch as it was, to the byte.
    Whole(Batch),
    /// A batch with fewer records, none, or a new delete horizon.
    Rewritten(Batch),
    /// Nothing.
    Nothing,
}

impl Kept {
    /// How far it reaches by what the cleaner looks at: of a batch that is written anew the records that are left
    /// (`MemoryRecords.FilterResult.maxOffset`).
    pub(super) fn largest_offset(&self) -> Option<i64> {
        match self {
            Kept::Rewritten(batch) if batch.records_count() > 0 => batch.records().last().map(|record| record.offset),
            Kept::Whole(batch) | Kept::Rewritten(batch) => Some(batch.last_offset()),
            Kept::Nothing => None,
        }
    }

    pub(super) fn into_batch(self) -> Option<Batch> {
        match self {
            Kept::Whole(batch) | Kept::Rewritten(batch) => Some(batch),
            Kept::Nothing => None,
        }
    }
}

/// What happens to a batch of which no record stays.
#[derive(PartialEq, Eq)]
enum Retention {
    /// Its header stays, for the sequence or the end of the log that it carries.
    RetainEmpty,
    /// It goes.
    DeleteEmpty,
    /// It goes without a look at its records.
    Delete,
}

/// The rules of one pass.
pub(super) struct Filter<'a> {
    pub(super) map: &'a OffsetMap,
    pub(super) producers: &'a ProducerState,
    pub(super) high_watermark: i64,
    pub(super) config: &'a LogConfig,
    pub(super) now_ms: i64,
}

impl Filter<'_> {
    /// Filters a batch. `settled` says whether its transaction allows it to go. Fails where what stays cannot be written.
    pub(super) fn filter(&self, batch: &Batch, settled: bool) -> Result<Kept, Unwritable> {
        let expired = batch.delete_horizon().is_some_and(|horizon| horizon <= self.now_ms);
        let discard = settled && (!batch.is_control() || expired);
        let retention = self.retention(batch, discard);
        if retention == Retention::Delete {
            return Ok(Kept::Nothing);
        }
        let stays = |record: &RecordView<'_>| !discard && (batch.is_control() || self.keeps(batch, record));
        let kept: Vec<(usize, RecordView<'_>)> = batch
            .records()
            .enumerate()
            .filter(|(_, record)| stays(record))
            .collect();
        if kept.is_empty() {
            return Ok(match retention {
                Retention::RetainEmpty => Kept::Rewritten(batch.emptied()),
                _ => Kept::Nothing,
            });
        }
        let tombstones = kept.iter().any(|(_, record)| record.value.is_none());
        let empty_transaction = settled && batch.is_control();
        let needs_horizon = (tombstones || empty_transaction) && batch.delete_horizon().is_none();
        if kept.len() as i64 == i64::from(batch.records_count()) && !needs_horizon {
            return Ok(Kept::Whole(batch.clone()));
        }
        let horizon = match needs_horizon {
            true => Some(self.now_ms.wrapping_add(self.config.delete_retention_ms)),
            false => batch.delete_horizon(),
        };
        batch.retaining(&kept, horizon).map(Kept::Rewritten)
    }

    fn retention(&self, batch: &Batch, discard: bool) -> Retention {
        let ends_log = batch.next_offset() == self.high_watermark;
        if self.is_last_of_producer(batch) || ends_log {
            Retention::RetainEmpty
        } else if discard {
            Retention::Delete
        } else {
            Retention::DeleteEmpty
        }
    }

    /// Whether the batch carries what a restart must learn of its producer: the last sequence, or the last epoch.
    fn is_last_of_producer(&self, batch: &Batch) -> bool {
        let entry = (batch.producer_id() >= 0)
            .then(|| self.producers.entry(batch.producer_id()))
            .flatten();
        entry.is_some_and(|entry| match entry.last_data_offset() {
            offset if offset >= 0 => batch.last_offset() == offset,
            _ => batch.is_control() && batch.producer_epoch() == entry.epoch,
        })
    }

    fn keeps(&self, batch: &Batch, record: &RecordView<'_>) -> bool {
        if record.offset > self.map.latest_offset() {
            return true;
        }
        let Some(key) = record.key else { return false };
        let tombstone_expired =
            record.value.is_none() && batch.delete_horizon().is_some_and(|horizon| self.now_ms >= horizon);
        record.offset >= self.map.get(key) && !tombstone_expired
    }
}
