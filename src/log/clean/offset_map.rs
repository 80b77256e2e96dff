//! The last offset of each key in the dirty part of a log.
//!
//! Mirrors `SkimpyOffsetMap` and `Cleaner.buildOffsetMapForSegment`. Kafka keeps a hash of each key; here is the key
//! itself, so that no two keys are ever taken for one.

use std::collections::BTreeMap;

use super::super::errors::{Errors, Refusal};
use super::super::record::Bytes;
use super::super::segment::Segment;
use super::super::txn_index::TxnIndex;
use super::transactions::CleanedTransactions;

/// Whether the map can take more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Everything went in.
    Room,
    /// A record came when every usable slot was taken.
    Full,
}

/// A map from key to last offset.
pub(super) struct OffsetMap {
    entries: BTreeMap<Bytes, i64>,
    usable_slots: u64,
    latest_offset: i64,
}

impl OffsetMap {
    pub(super) fn new(usable_slots: u64) -> Self {
        Self {
            entries: BTreeMap::new(),
            usable_slots,
            latest_offset: -1,
        }
    }

    /// The last offset that the map speaks for, −1 before any.
    pub(super) fn latest_offset(&self) -> i64 {
        self.latest_offset
    }

    pub(super) fn set_latest_offset(&mut self, offset: i64) {
        self.latest_offset = offset;
    }

    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The last offset of a key, −1 if the dirty part does not have it.
    pub(super) fn get(&self, key: &[u8]) -> i64 {
        self.entries.get(key).copied().unwrap_or(-1)
    }

    /// Takes the keyed records of a segment in, from an offset on. It may end in the middle of a batch. Refused where the offset
    /// index names a position below 0 to begin at, or a control record has no key to know it by.
    pub(super) fn take_segment(
        &mut self,
        segment: &Segment,
        start: i64,
        transactions: &mut CleanedTransactions,
    ) -> Result<Fill, Refusal> {
        let position = segment.offset_index().lookup(start);
        let Ok(position) = u32::try_from(position) else {
            return Err(Refusal::new(
                Errors::UnknownServerError,
                format!(
                    "the offset index of segment {} names position {position}",
                    segment.base_offset()
                ),
            ));
        };
        for placed in segment.log().scan(position) {
            let batch = &placed.batch;
            let settled = transactions.on_batch(batch, &mut TxnIndex::default())?;
            if !batch.is_control() && !settled {
                for record in batch.records().filter(|record| record.offset >= start) {
                    let Some(key) = record.key else { continue };
                    if self.len() >= self.usable_slots {
                        return Ok(Fill::Full);
                    }
                    self.entries.insert(key.into(), record.offset);
                    self.latest_offset = record.offset;
                }
            }
            if batch.last_offset() >= start {
                self.latest_offset = batch.last_offset();
            }
        }
        Ok(Fill::Room)
    }
}
