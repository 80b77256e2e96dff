//! A batch on its way: records of one partition that are sent, retried and decided together.
//!
//! While it is open, records are added as long as they fit into what was allocated: `batch.size`, or the most that the first
//! record can take, if that is more. When it is drained its bytes are fixed, and from then on only its producer stamp can
//! change (after an epoch bump). Mirrors `ProducerBatch` and the sizes of `MemoryRecordsBuilder`.
//!
//! With `batch.size=0` a batch takes one record, as its documentation has it. The real one has room for a second as small as
//! a few bytes if it comes before the batch leaves, which is a race of two threads. Deliberately absent: compression and
//! its estimates.

use std::sync::Arc;

use crate::cluster::ids::TopicPartition;
use crate::cluster::settings::Micros;
use crate::log::{Batch, Encoder, ProducerStamp, RECORD_BATCH_OVERHEAD, Record};

#[derive(Clone, Debug, PartialEq)]
enum Contents {
    Open { records: Vec<Record>, tags: Vec<u64> },
    Drained { batch: Batch, tags: Arc<[u64]> },
}

/// A batch that its application has not been told about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProducerBatch {
    /// Where it goes.
    pub(super) partition: TopicPartition,
    /// When its first record was added; its delivery time-out counts from here.
    pub(super) created: Micros,
    contents: Contents,
    /// Bytes it may have, and that were allocated for it.
    limit: usize,
    /// It takes one record only: `batch.size` was 0.
    alone: bool,
    /// Bytes it has.
    size: usize,
    /// Bytes of its largest record.
    largest: usize,
    /// A record did not fit: no other is added.
    closed: bool,
    /// Cut out of a batch that was too large.
    pub(super) split: bool,
    /// Whose sequences it carries; given when it is drained.
    pub(super) stamp: Option<ProducerStamp>,
    /// The stamp was given anew after an epoch bump (`sequenceHasBeenReset`).
    pub(super) restamped: bool,
    /// How often it was put back to be sent again.
    pub(super) attempts: u32,
    /// When it was put back last; its creation before that.
    pub(super) last_attempt: Micros,
    /// How long it waits from then on.
    pub(super) backoff: Micros,
    /// The leader epoch seen when its partition was last looked at, and how many attempts there had been when it changed.
    leader_epoch: Option<i32>,
    attempts_at_change: u32,
}

impl ProducerBatch {
    /// An open batch for a first record, which always fits.
    pub(super) fn new(partition: TopicPartition, batch_size: usize, first: &Record, created: Micros) -> ProducerBatch {
        ProducerBatch {
            partition,
            created,
            contents: Contents::Open {
                records: Vec::new(),
                tags: Vec::new(),
            },
            limit: batch_size.max(upper_bound(first)),
            alone: batch_size == 0,
            size: RECORD_BATCH_OVERHEAD,
            largest: 0,
            closed: false,
            split: false,
            stamp: None,
            restamped: false,
            attempts: 0,
            last_attempt: created,
            backoff: 0,
            leader_epoch: None,
            attempts_at_change: 0,
        }
    }

    /// Adds a record if it fits, by the bytes that it takes here (`MemoryRecordsBuilder.hasRoomFor`); if not, the batch is
    /// closed and the record comes back. Says how many bytes it took.
    pub(super) fn add(&mut self, record: Record, tag: u64) -> Result<usize, Record> {
        let Contents::Open { records, tags } = &mut self.contents else {
            return Err(record);
        };
        let base = records.first().map_or(record.timestamp, |first| first.timestamp);
        let bytes = record.size_in_bytes(records.len() as i32, record.timestamp - base);
        let has_room = records.is_empty() || (!self.alone && self.size + bytes <= self.limit);
        if self.closed || !has_room {
            self.closed = true;
            return Err(record);
        }
        self.size += bytes;
        self.largest = self.largest.max(bytes);
        records.push(record);
        tags.push(tag);
        Ok(bytes)
    }

    /// Whether nothing more can be added.
    pub(super) fn is_full(&self) -> bool {
        self.closed
            || matches!(self.contents, Contents::Drained { .. })
            || (self.count() > 0 && self.size >= self.limit)
    }

    /// Bytes it has.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Bytes of `buffer.memory` it takes; what was cut out of another batch takes none.
    pub(super) fn memory(&self) -> usize {
        if self.split { 0 } else { self.limit }
    }

    /// How many records it has.
    pub(super) fn count(&self) -> usize {
        self.tags().len()
    }

    /// The names of its records.
    pub(super) fn tags(&self) -> &[u64] {
        match &self.contents {
            Contents::Open { tags, .. } => tags,
            Contents::Drained { tags, .. } => tags,
        }
    }

    /// The names of its records, shared.
    pub(super) fn shared_tags(&self) -> Arc<[u64]> {
        match &self.contents {
            Contents::Open { tags, .. } => tags.as_slice().into(),
            Contents::Drained { tags, .. } => Arc::clone(tags),
        }
    }

    /// The bytes to send. The first call fixes them; a stamp that has changed since makes them anew.
    pub(super) fn drain(&mut self) -> Batch {
        match &self.contents {
            Contents::Drained { batch, .. } if batch.producer() == self.stamp => batch.clone(),
            _ => {
                let records = self.records();
                let tags = self.shared_tags();
                let batch = Batch::build(&records, self.stamp, Arc::clone(&tags));
                self.size = batch.size_in_bytes() as usize;
                self.contents = Contents::Drained {
                    batch: batch.clone(),
                    tags,
                };
                batch
            }
        }
    }

    fn records(&self) -> Vec<Record> {
        match &self.contents {
            Contents::Open { records, .. } => records.clone(),
            Contents::Drained { batch, .. } => batch.records().map(|record| record.to_record()).collect(),
        }
    }

    /// The sequence of its last record, if it has sequences.
    pub(super) fn last_sequence(&self) -> Option<i32> {
        let stamp = self.stamp?;
        Some(crate::log::increment_sequence(
            stamp.base_sequence,
            self.count() as i32 - 1,
        ))
    }

    /// Notes the leader epoch that the producer knows: a change ends the back-off of a retry under way.
    pub(super) fn see_leader_epoch(&mut self, epoch: i32) {
        if self.leader_epoch != Some(epoch) {
            self.attempts_at_change = self.attempts;
            self.leader_epoch = Some(epoch);
        }
    }

    /// Whether [`Self::see_leader_epoch`] would change anything.
    pub(super) fn knows_leader_epoch(&self, epoch: i32) -> bool {
        self.leader_epoch == Some(epoch)
    }

    /// Until when it waits before it is sent again, if it does.
    pub(super) fn backs_off_until(&self) -> Option<Micros> {
        let leader_changed = self.attempts_at_change == self.attempts;
        (self.attempts > 0 && !leader_changed).then(|| self.last_attempt + self.backoff)
    }

    /// Smaller batches of the same records, after the broker found this one too large: at `batch.size` the first time, then
    /// in halves. Sequences go on; nothing counts as tried.
    pub(super) fn split(&self, batch_size: usize) -> Vec<ProducerBatch> {
        let target = if self.split {
            self.largest.max(self.size / 2)
        } else {
            batch_size
        };
        let mut parts: Vec<ProducerBatch> = Vec::new();
        for (record, &tag) in self.records().into_iter().zip(self.tags()) {
            let left = match parts.last_mut() {
                Some(part) => part.add(record, tag).err(),
                None => Some(record),
            };
            if let Some(record) = left {
                let mut part = ProducerBatch::new(self.partition, target, &record, self.created);
                // A batch of its own has room for any record.
                let _ = part.add(record, tag);
                parts.push(part);
            }
        }
        let mut sequence = self.stamp.map(|stamp| stamp.base_sequence);
        for part in &mut parts {
            part.split = true;
            part.closed = true;
            part.stamp = self
                .stamp
                .zip(sequence)
                .map(|(stamp, base_sequence)| ProducerStamp { base_sequence, ..stamp });
            sequence = sequence.map(|at| crate::log::increment_sequence(at, part.count() as i32));
        }
        parts
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.u16(self.partition.topic.0);
        encoder.u32(self.partition.partition);
        match &self.contents {
            Contents::Open { records, tags } => {
                encoder.u8(0);
                encoder.u128(Batch::build(records, None, tags.as_slice().into()).fingerprint());
            }
            Contents::Drained { batch, .. } => {
                encoder.u8(1);
                encoder.u128(batch.fingerprint());
            }
        }
        encoder.len(self.limit);
        let flags = [self.closed, self.split, self.restamped, self.alone];
        encoder.u8((0..).zip(flags).map(|(bit, flag)| u8::from(flag) << bit).sum());
        encoder.option(self.stamp, |encoder, stamp| {
            encoder.i64(stamp.id);
            encoder.i16(stamp.epoch);
            encoder.i32(stamp.base_sequence);
        });
        encoder.u32(self.attempts);
        encoder.u64(self.backoff);
        encoder.option(self.leader_epoch, Encoder::i32);
        encoder.u32(self.attempts_at_change);
    }

    /// The part that does, relative to now.
    pub(super) fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        encoder.u64(now - self.created);
        encoder.u64(now - self.last_attempt);
    }
}

/// The most bytes that a batch of this one record can take.
pub(super) fn upper_bound(record: &Record) -> usize {
    RECORD_BATCH_OVERHEAD + record.size_upper_bound()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ids::TopicId;

    const TP: TopicPartition = TopicPartition {
        topic: TopicId(0),
        partition: 0,
    };

    fn record(value: usize) -> Record {
        Record {
            key: None,
            value: Some(vec![b'x'; value].into()),
            headers: Vec::new(),
            timestamp: 1_000,
        }
    }

    fn filled(batch_size: usize, values: &[usize]) -> ProducerBatch {
        let mut batch = ProducerBatch::new(TP, batch_size, &record(values[0]), 0);
        for (tag, &value) in values.iter().enumerate() {
            batch.add(record(value), tag as u64).expect("it fits");
        }
        batch
    }

    /// How many records of this size and distance in time a batch takes that was opened by the first of them.
    fn taken(batch_size: usize, value: usize, every: i64) -> usize {
        let record = |index: usize| Record {
            timestamp: 1_000 + every * index as i64,
            ..record(value)
        };
        let mut batch = ProducerBatch::new(TP, batch_size, &record(0), 0);
        (0..8)
            .take_while(|&index| batch.add(record(index), index as u64).is_ok())
            .count()
    }

    #[test]
    fn room_is_judged_by_what_a_record_takes() {
        // Header 61; a record of 30 bytes takes 37, one of 10 takes 17, and 18 when its time needs a second byte.
        assert_eq!(taken(61 + 4 * 37, 30, 0), 4);
        assert_eq!(taken(61 + 4 * 37 - 1, 30, 0), 3);
        assert_eq!(taken(61 + 2 * 17, 10, 0), 2);
        assert_eq!(taken(61 + 2 * 17, 10, 100), 1);
        assert_eq!(taken(61 + 2 * 17 + 1, 10, 100), 2);
    }

    #[test]
    fn what_is_allocated_for_one_small_record_has_room_for_more() {
        // With a batch.size below that, the most that the first record can take is allocated.
        let taken = [0, 2, 6, 14, 20, 100].map(|value| taken(1, value, 0));
        assert_eq!(taken, [3, 2, 2, 1, 1, 1]);
    }

    #[test]
    fn batch_size_zero_takes_one_record() {
        assert_eq!(taken(0, 0, 0), 1);
    }

    #[test]
    fn what_found_no_room_closes_the_batch() {
        let mut batch = filled(0, &[20]);
        assert!(!batch.is_full());
        assert!(batch.add(record(20), 1).is_err());
        assert!(batch.is_full());
    }

    #[test]
    fn what_is_drained_twice_is_the_same_bytes_unless_restamped() {
        let mut batch = filled(1_000, &[10, 20]);
        let first = batch.drain();
        assert_eq!(first, batch.drain());
        assert_eq!(first.size_in_bytes() as usize, batch.size());
        batch.stamp = Some(ProducerStamp {
            id: 7,
            epoch: 1,
            base_sequence: 0,
        });
        assert_eq!(batch.drain().producer_id(), 7);
        assert_eq!(batch.drain().tags(), [0, 1]);
    }

    #[test]
    fn splits_at_batch_size_first_and_then_in_halves() {
        let mut batch = filled(1_000, &[10; 8]);
        batch.stamp = Some(ProducerStamp {
            id: 7,
            epoch: 0,
            base_sequence: 5,
        });
        batch.drain();
        let whole = batch.split(1_000);
        assert_eq!(whole.len(), 1);
        let halves = whole[0].split(1_000);
        let counts: Vec<usize> = halves.iter().map(ProducerBatch::count).collect();
        let sequences: Vec<i32> = halves
            .iter()
            .filter_map(|part| part.stamp.map(|stamp| stamp.base_sequence))
            .collect();
        assert_eq!(counts.iter().sum::<usize>(), 8);
        assert!(counts.len() > 1, "{counts:?}");
        assert_eq!(sequences[0], 5);
        assert_eq!(sequences[1], 5 + counts[0] as i32);
    }
}
