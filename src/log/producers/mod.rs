//! What a log remembers of each producer, to refuse duplicates and gaps.
//!
//! Mirrors `ProducerStateManager`: per producer id the epoch, the
//! last five batches and the open transaction. A batch is first *analysed* against this state and only applied when
//! the whole append has been accepted.
//!
//! Deliberately absent: transaction verification (`VerificationGuard`), which is a conversation between broker and
//! coordinator and leaves nothing in the log.

mod append;
mod entry;

use crate::sorted::{SortedMap, SortedSet, sort_by};
use std::sync::Arc;

use super::batch::Batch;
use super::errors::Refusal;
use super::fingerprint::{Cached, Encoder, Fingerprint};

pub use append::CompletedTxn;
pub(crate) use append::{Analysis, Verdict};
pub use entry::{BatchMetadata, ProducerEntry};

/// Java's first table size of a `HashMap`, which decides the order of a snapshot's entries.
const FIRST_TABLE_SIZE: u64 = 16;

/// Where an append comes from (`AppendOrigin`): how much of it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From a producer: everything is checked.
    Client,
    /// From a producer, with one check of idempotence left out, to show what it is for.
    ClientWithout(Check),
    /// From a transaction or group coordinator: epochs are checked, sequences are not.
    Coordinator(TransactionVersion),
    /// From the leader: it was checked there.
    Replication,
}

/// A check of idempotence that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Whether a batch is one of the producer's last five.
    Duplicates,
    /// Whether its sequence follows the last one.
    Sequences,
}

impl Origin {
    /// Whether a producer sent it.
    pub(crate) fn is_client(self) -> bool {
        matches!(self, Origin::Client | Origin::ClientWithout(_))
    }

    fn checks(self, check: Check) -> bool {
        self.is_client() && self != Origin::ClientWithout(check)
    }
}

/// How a coordinator numbers its markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionVersion {
    /// The marker carries the epoch of the transaction's batches.
    V1,
    /// The marker carries an epoch one higher (KIP-890).
    V2,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    entry: ProducerEntry,
    /// When this id came into the map, relative to others: Java's order within a table slot.
    arrival: u64,
}

/// The producers by id, with what decides their order in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entries {
    slots: SortedMap<i64, Slot>,
    arrivals: u64,
    table_size: u64,
}

impl Default for Entries {
    fn default() -> Self {
        Self {
            slots: SortedMap::new(),
            arrivals: 0,
            table_size: FIRST_TABLE_SIZE,
        }
    }
}

impl Entries {
    /// In the order in which Java's `HashMap` walks them.
    fn in_java_order(&self) -> Vec<(i64, &ProducerEntry)> {
        let mut all: Vec<_> = self.slots.iter().collect();
        let place = |(id, slot): &(&i64, &Slot)| {
            let bits = **id as u64;
            (
                (bits ^ (bits >> 32)) & 0xffff_ffff & (self.table_size - 1),
                slot.arrival,
            )
        };
        sort_by(&mut all, |a, b| place(a).cmp(&place(b)));
        all.into_iter().map(|(id, slot)| (*id, &slot.entry)).collect()
    }

    fn put(&mut self, id: i64, entry: ProducerEntry) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.entry = entry;
            return;
        }
        self.arrivals += 1;
        self.slots.insert(
            id,
            Slot {
                entry,
                arrival: self.arrivals,
            },
        );
        while self.slots.len() as u64 > self.table_size / 4 * 3 {
            self.table_size *= 2;
        }
    }
}

impl Fingerprint for Entries {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.slots.len());
        for (id, entry) in self.in_java_order() {
            encoder.i64(id);
            encoder.i16(entry.epoch);
            encoder.i32(entry.coordinator_epoch);
            encoder.i64(entry.last_timestamp);
            encoder.option(entry.txn_first_offset, Encoder::i64);
            encoder.len(entry.batches.len());
            for batch in &entry.batches {
                encoder.i32(batch.last_sequence);
                encoder.i64(batch.last_offset);
                encoder.i32(batch.offset_delta);
                encoder.i64(batch.timestamp);
            }
        }
        encoder.u64(self.table_size);
    }
}

/// What a log remembers of its producers.
#[derive(Clone, Debug)]
pub struct ProducerState {
    entries: Arc<Cached<Entries>>,
    /// First offset of each open transaction, with its producer.
    ongoing: SortedMap<i64, i64>,
    /// First offset of each ended transaction whose marker the high watermark has not passed, with the marker's offset.
    unreplicated: SortedMap<i64, i64>,
    /// Those first offsets whose place in the log is known from the append itself, and never looked for again.
    placed: SortedSet<i64>,
    /// One past the last offset that this state covers.
    map_end_offset: i64,
    last_snapshot_offset: i64,
}

impl Default for ProducerState {
    fn default() -> Self {
        Self::starting_at(0)
    }
}

impl ProducerState {
    /// A state that knows nothing and covers a log up to an offset.
    pub fn starting_at(offset: i64) -> Self {
        Self {
            entries: Arc::default(),
            ongoing: SortedMap::new(),
            unreplicated: SortedMap::new(),
            placed: SortedSet::new(),
            map_end_offset: offset,
            last_snapshot_offset: offset,
        }
    }

    /// A state that was emptied up to an offset, with any snapshot gone.
    pub(crate) fn truncated_at(offset: i64) -> Self {
        Self {
            last_snapshot_offset: 0,
            ..Self::starting_at(offset)
        }
    }

    /// What is known of a producer.
    pub fn entry(&self, producer_id: i64) -> Option<&ProducerEntry> {
        self.entries.slots.get(&producer_id).map(|slot| &slot.entry)
    }

    /// All producers, by id.
    pub fn entries(&self) -> impl Iterator<Item = (i64, &ProducerEntry)> {
        self.entries.slots.iter().map(|(id, slot)| (*id, &slot.entry))
    }

    /// All producers in the order in which Java's `HashMap` walks them, which is that of a snapshot file.
    pub fn entries_in_java_order(&self) -> Vec<(i64, &ProducerEntry)> {
        self.entries.in_java_order()
    }

    /// One past the last offset that this state covers.
    pub fn map_end_offset(&self) -> i64 {
        self.map_end_offset
    }

    pub(crate) fn set_map_end_offset(&mut self, offset: i64) {
        self.map_end_offset = offset;
    }

    /// Whether the state covers more than the last snapshot.
    pub(crate) fn wants_snapshot(&self) -> bool {
        self.map_end_offset > self.last_snapshot_offset
    }

    pub(crate) fn snapshot_taken(&mut self) {
        self.last_snapshot_offset = self.map_end_offset;
    }

    /// The first offset whose fate `read_committed` cannot know yet: the oldest open transaction, or the oldest
    /// ended one whose marker is not replicated.
    pub fn first_unstable_offset(&self) -> Option<i64> {
        let first = |txns: &SortedMap<i64, i64>| txns.keys().next().copied();
        match (first(&self.ongoing), first(&self.unreplicated)) {
            (Some(ongoing), Some(unreplicated)) => Some(ongoing.min(unreplicated)),
            (ongoing, unreplicated) => ongoing.or(unreplicated),
        }
    }

    /// Whether the place of a transaction's first offset is known.
    pub(crate) fn is_placed(&self, first_offset: i64) -> bool {
        self.placed.contains(&first_offset)
    }

    /// Notes that the transactions that an append has begun lie where it put them.
    pub(crate) fn place(&mut self, analysis: &Analysis) {
        let started = analysis.updates.iter().flat_map(|(_, info)| &info.started);
        self.placed.extend(started.copied());
    }

    /// The last stable offset as it would be with this transaction gone, which is what the aborted index records.
    pub(crate) fn last_stable_offset_after(&self, completed: &CompletedTxn) -> i64 {
        let others = self
            .ongoing
            .iter()
            .filter(|(_, producer)| **producer != completed.producer_id);
        others
            .map(|(first, _)| *first)
            .next()
            .unwrap_or(completed.last_offset + 1)
    }

    pub(crate) fn complete(&mut self, completed: &CompletedTxn) {
        self.ongoing.remove(&completed.first_offset);
        self.unreplicated.insert(completed.first_offset, completed.last_offset);
    }

    /// Lets go of ended transactions whose marker lies below the high watermark.
    pub(crate) fn on_high_watermark(&mut self, high_watermark: i64) {
        self.unreplicated.retain(|_, marker| *marker >= high_watermark);
        self.forget_places();
    }

    fn forget_places(&mut self) {
        let (ongoing, unreplicated) = (&self.ongoing, &self.unreplicated);
        self.placed
            .retain(|first| ongoing.contains_key(first) || unreplicated.contains_key(first));
    }

    /// Whether [`on_high_watermark`](Self::on_high_watermark) would change anything.
    pub(crate) fn waits_for_high_watermark(&self) -> bool {
        !self.unreplicated.is_empty()
    }

    /// Forgets what the log start has passed; entries of producers stay.
    pub(crate) fn on_log_start(&mut self, log_start_offset: i64, newest_snapshot: i64) {
        self.last_snapshot_offset = newest_snapshot;
        self.unreplicated.retain(|_, marker| *marker >= log_start_offset);
        self.forget_places();
        if self.map_end_offset < log_start_offset {
            self.map_end_offset = log_start_offset;
        }
    }

    /// Forgets producers that were silent for too long and have no open transaction.
    pub fn expire(&mut self, now_ms: i64, expiration_ms: i64) {
        self.entries_mut()
            .slots
            .retain(|_, slot| !is_expired(&slot.entry, now_ms, expiration_ms));
    }

    /// Whether [`expire`](Self::expire) would forget anyone.
    pub fn has_expired(&self, now_ms: i64, expiration_ms: i64) -> bool {
        self.entries
            .slots
            .values()
            .any(|slot| is_expired(&slot.entry, now_ms, expiration_ms))
    }

    /// Checks the batches of one append, without changing anything.
    pub(crate) fn analyze(&self, batches: &[Batch], origin: Origin) -> Result<Verdict, Refusal> {
        let mut analysis = Analysis::default();
        for batch in batches.iter().filter(|batch| batch.producer_id() >= 0) {
            let id = batch.producer_id();
            if origin.checks(Check::Duplicates) {
                let known = self.entry(id);
                if let Some(duplicate) = known.and_then(|entry| entry.duplicate_of(batch)) {
                    return Ok(Verdict::Duplicate(duplicate));
                }
            }
            let index = analysis.update_of(id, self);
            let completed = analysis.updates[index].1.append(batch, origin)?;
            analysis.completed.extend(completed);
        }
        Ok(Verdict::Append(analysis))
    }

    /// Applies the producers' part of an accepted append; its completed transactions are applied one by one after it.
    pub(crate) fn apply(&mut self, analysis: &Analysis) {
        // Within a slot of its table Java walks first what came in last, because `computeIfAbsent` puts it in front.
        for (id, info) in analysis.updates.iter().rev() {
            let mut entry = self.entry(*id).cloned().unwrap_or_else(ProducerEntry::unknown);
            entry.update(&info.after);
            self.put(*id, entry);
            for first in &info.started {
                self.ongoing.insert(*first, *id);
            }
        }
    }

    /// Sets what is known of a producer, also from a snapshot.
    pub(crate) fn put(&mut self, id: i64, entry: ProducerEntry) {
        self.entries_mut().put(id, entry);
    }

    fn entries_mut(&mut self) -> &mut Entries {
        let entries: &mut Cached<Entries> = Arc::make_mut(&mut self.entries);
        entries
    }

    /// Whether nothing is known of any producer or transaction.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.slots.is_empty() && self.unreplicated.is_empty()
    }

    /// Forgets every producer and transaction. The table keeps its size, as Java's does.
    pub(crate) fn clear(&mut self) {
        self.entries_mut().slots.clear();
        self.ongoing.clear();
        self.unreplicated.clear();
        self.placed.clear();
    }

    /// Takes the entries of a snapshot that have not expired; the state then covers what the snapshot does.
    pub(crate) fn load(&mut self, entries: Vec<(i64, ProducerEntry)>, offset: i64, expiration_ms: i64, now_ms: i64) {
        for (id, entry) in entries {
            if is_expired(&entry, now_ms, expiration_ms) {
                continue;
            }
            if let Some(first) = entry.txn_first_offset {
                self.ongoing.insert(first, id);
            }
            self.put(id, entry);
        }
        self.map_end_offset = offset;
        self.last_snapshot_offset = offset;
    }
}

fn is_expired(entry: &ProducerEntry, now_ms: i64, expiration_ms: i64) -> bool {
    entry.txn_first_offset.is_none() && now_ms.wrapping_sub(entry.last_timestamp) >= expiration_ms
}

impl Fingerprint for ProducerState {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u128(self.entries.digest());
        for txns in [&self.ongoing, &self.unreplicated] {
            encoder.len(txns.len());
            for (first, second) in txns {
                encoder.i64(*first);
                encoder.i64(*second);
            }
        }
        self.placed.iter().for_each(|first| encoder.i64(*first));
        encoder.i64(self.map_end_offset);
        encoder.i64(self.last_snapshot_offset);
    }
}
