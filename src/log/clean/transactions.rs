//! Which transactions a cleaner is in the middle of, and whether their data is still there.
//!
//! Mirrors `CleanedTransactionMetadata`. Data of an aborted transaction may go; a marker may go once no batch of its
//! transaction is left. Aborted transactions that keep their marker go into the new segment's aborted index.

use crate::sorted::{SortedMap, SortedSet};

use super::super::batch::{Batch, Outcome, ending};
use super::super::errors::Refusal;
use super::super::txn_index::{AbortedTxn, TxnIndex};

/// An aborted transaction whose records are being passed.
struct Ongoing {
    txn: AbortedTxn,
    seen_data: bool,
}

/// The transactions around the batch that is being passed.
#[derive(Default)]
pub(super) struct CleanedTransactions {
    committed: SortedSet<i64>,
    aborted: SortedMap<i64, Ongoing>,
    /// Aborted transactions still ahead, by first offset and arrival.
    ahead: SortedMap<(i64, u64), AbortedTxn>,
    arrivals: u64,
}

impl CleanedTransactions {
    /// Announces aborted transactions of the batches to come.
    pub(super) fn add(&mut self, txns: impl IntoIterator<Item = AbortedTxn>) {
        for txn in txns {
            self.arrivals += 1;
            self.ahead.insert((txn.first_offset, self.arrivals), txn);
        }
    }

    /// Passes a batch. Says whether its transaction allows it to go. Refused where a control record has no key to know it by.
    pub(super) fn on_batch(&mut self, batch: &Batch, cleaned: &mut TxnIndex) -> Result<bool, Refusal> {
        self.begin_up_to(batch.last_offset());
        if batch.is_control() {
            return self.on_marker(batch, cleaned);
        }
        if !batch.is_transactional() {
            return Ok(false);
        }
        Ok(match self.aborted.get_mut(&batch.producer_id()) {
            Some(ongoing) => {
                ongoing.seen_data = true;
                true
            }
            None => {
                self.committed.insert(batch.producer_id());
                false
            }
        })
    }

    fn on_marker(&mut self, batch: &Batch, cleaned: &mut TxnIndex) -> Result<bool, Refusal> {
        let Some(record) = batch.records().next() else {
            return Ok(true);
        };
        let outcome = ending(&record).map_err(|error| {
            let message = format!(
                "the control record at offset {} has no key to know it by",
                record.offset
            );
            Refusal::new(error, message)
        })?;
        Ok(match outcome {
            Some(Outcome::Abort) => match self.aborted.remove(&batch.producer_id()) {
                Some(ongoing) if ongoing.seen_data => {
                    cleaned.append(ongoing.txn);
                    false
                }
                _ => true,
            },
            Some(Outcome::Commit) => !self.committed.remove(&batch.producer_id()),
            None => false,
        })
    }

    fn begin_up_to(&mut self, offset: i64) {
        while self.ahead.first_key_value().is_some_and(|(key, _)| key.0 <= offset) {
            let Some((_, txn)) = self.ahead.pop_first() else { return };
            self.aborted
                .entry(txn.producer_id)
                .or_insert(Ongoing { txn, seen_data: false });
        }
    }
}
