//! The numbers that make a retry recognisable: producer id, epoch, and a sequence for each partition.
//!
//! A batch gets its sequence when it is first drained and keeps it over all retries; the broker takes only the next one.
//! So that several requests can be in flight, the producer must know which batches are on their way, which sequence was
//! acknowledged last, and when a gap can only be closed by beginning anew under the next epoch.
//!
//! Deliberately absent: transactions, and the round trip by which a real producer gets its id (`InitProducerId`): here a
//! process is given one at its start, number `1000 × client + start`, as if each client had a broker's block of ids.
//! Mirrors `TransactionManager` and `TxnPartitionEntry` without transactions.

use crate::cluster::ids::{ClientId, TopicPartition};
use crate::log::{Encoder, Errors, ProducerStamp, increment_sequence};
use crate::sorted::{SortedMap, SortedSet, sort_by};

use super::accumulator::{BatchId, Batches};
use super::batch::ProducerBatch;

/// A client's ids come from a block of this many.
const IDS_OF_A_CLIENT: i64 = 1_000;

#[derive(Clone, Debug, PartialEq)]
struct PartitionSequences {
    /// The epoch under which its sequences count.
    epoch: i16,
    /// What the next drained batch begins with.
    next: i32,
    /// The last one acknowledged; -1 if none was.
    last_acked: i32,
    /// Batches that have sequences and are undecided, on the wire or waiting to be sent again, by first sequence.
    in_flight: Vec<(i32, BatchId)>,
    /// A batch with sequences was given up: whether its records are in the log is not known. What would follow it.
    unresolved: Option<i32>,
}

/// The sequences of a producer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sequences {
    id: i64,
    epoch: i16,
    partitions: SortedMap<TopicPartition, PartitionSequences>,
    /// Partitions that need a new epoch.
    bump: SortedSet<TopicPartition>,
}

impl Sequences {
    /// Those of a client's process; `starts` counts the processes before it.
    pub(super) fn new(client: ClientId, starts: u32) -> Sequences {
        let id = IDS_OF_A_CLIENT * i64::from(client.0) + i64::from(starts);
        Sequences {
            id,
            epoch: 0,
            partitions: SortedMap::new(),
            bump: SortedSet::new(),
        }
    }

    fn of(&mut self, tp: TopicPartition) -> &mut PartitionSequences {
        let epoch = self.epoch;
        self.partitions.entry(tp).or_insert(PartitionSequences {
            epoch,
            next: 0,
            last_acked: -1,
            in_flight: Vec::new(),
            unresolved: None,
        })
    }

    /// Whether the first batch of a queue must wait: for batches before it, or for the outcome of one that was given up.
    pub(super) fn holds_back(&self, first: &ProducerBatch) -> bool {
        let Some(partition) = self.partitions.get(&first.partition) else {
            return false;
        };
        match first.stamp {
            None => {
                let stale = partition.epoch != self.epoch && !partition.in_flight.is_empty();
                stale || partition.unresolved.is_some()
            }
            Some(stamp) => partition
                .in_flight
                .first()
                .is_some_and(|&(sequence, _)| sequence != stamp.base_sequence),
        }
    }

    /// Gives a batch that is drained for the first time its sequences.
    pub(super) fn give(&mut self, batch: &mut ProducerBatch, id: BatchId) {
        let (producer, epoch) = (self.id, self.epoch);
        let partition = self.of(batch.partition);
        if partition.epoch != epoch {
            *partition = PartitionSequences {
                epoch,
                next: 0,
                last_acked: -1,
                ..partition.clone()
            };
        }
        batch.stamp = Some(ProducerStamp {
            id: producer,
            epoch,
            base_sequence: partition.next,
        });
        partition.in_flight.push((partition.next, id));
        partition.next = increment_sequence(partition.next, batch.count() as i32);
    }

    /// A batch cut out of a larger one takes over its part of the sequences.
    pub(super) fn track(&mut self, batch: &ProducerBatch, id: BatchId) {
        let Some(stamp) = batch.stamp else { return };
        let in_flight = &mut self.of(batch.partition).in_flight;
        in_flight.push((stamp.base_sequence, id));
        sort_by(in_flight, Ord::cmp);
    }

    /// A batch was acknowledged.
    pub(super) fn acked(&mut self, batch: &ProducerBatch, id: BatchId) {
        let Some(last) = batch.last_sequence() else { return };
        let partition = self.of(batch.partition);
        partition.last_acked = partition.last_acked.max(last);
        self.forget(batch.partition, id);
    }

    /// A batch is no longer undecided.
    pub(super) fn forget(&mut self, tp: TopicPartition, id: BatchId) {
        if let Some(partition) = self.partitions.get_mut(&tp) {
            partition.in_flight.retain(|&(_, batch)| batch != id);
        }
    }

    /// Whether a refusal for its sequence can be cured by sending a batch again (`canRetry`). If the batch is the very next
    /// one there is a real gap, and the producer begins anew under the next epoch.
    pub(super) fn can_retry(&mut self, batch: &ProducerBatch, error: Errors) -> bool {
        if error != Errors::OutOfOrderSequenceNumber {
            return error.is_retriable();
        }
        let Some(stamp) = batch.stamp else { return false };
        let partition = self.of(batch.partition);
        let is_next = stamp.base_sequence.wrapping_sub(partition.last_acked) == 1;
        match partition.unresolved {
            None if batch.restamped || !is_next => {}
            Some(next) if next != stamp.base_sequence => {}
            _ => {
                self.bump.insert(batch.partition);
            }
        }
        true
    }

    /// A batch failed for good after an answer of the broker: what follows it needs a new epoch, because the broker waits
    /// for its sequence. With the retries used up nobody knows whether it was written, and nothing is changed.
    pub(super) fn failed(&mut self, batch: &ProducerBatch, error: Errors, retries_left: bool) {
        if batch.stamp.is_some() && (retries_left || error == Errors::OutOfOrderSequenceNumber) {
            self.bump.insert(batch.partition);
        }
    }

    /// A batch was given up while nobody knows whether it was written: until what was sent before is decided, nothing new
    /// is sent to its partition.
    pub(super) fn given_up(&mut self, batch: &ProducerBatch) {
        let Some(last) = batch.last_sequence().filter(|_| batch.attempts > 0) else {
            return;
        };
        let unresolved = &mut self.of(batch.partition).unresolved;
        let next = increment_sequence(last, 1);
        *unresolved = Some(unresolved.map_or(next, |known| known.max(next)));
    }

    /// Once everything sent to a partition is decided, what was given up is resolved: by a later acknowledgement, or by a
    /// new epoch. Then begins that epoch where it is needed, and renumbers what is on its way.
    pub(super) fn settle(&mut self, batches: &mut Batches) {
        for (&tp, partition) in &mut self.partitions {
            if partition.unresolved.is_some() && partition.in_flight.is_empty() {
                partition.unresolved = None;
                if partition.next.wrapping_sub(partition.last_acked) != 1 {
                    self.bump.insert(tp);
                }
            }
        }
        if self.bump.is_empty() {
            return;
        }
        match self.epoch.checked_add(1) {
            Some(epoch) => self.epoch = epoch,
            None => (self.id, self.epoch) = (self.id + 1, 0),
        }
        for tp in std::mem::take(&mut self.bump) {
            self.begin_anew(tp, batches);
        }
    }

    fn begin_anew(&mut self, tp: TopicPartition, batches: &mut Batches) {
        let (producer, epoch) = (self.id, self.epoch);
        let Some(partition) = self.partitions.get_mut(&tp) else {
            return;
        };
        let mut next = 0;
        for (sequence, id) in &mut partition.in_flight {
            if let Some(batch) = batches.get_mut(*id) {
                batch.stamp = Some(ProducerStamp {
                    id: producer,
                    epoch,
                    base_sequence: next,
                });
                batch.restamped = true;
                *sequence = next;
                next = increment_sequence(next, batch.count() as i32);
            }
        }
        partition.epoch = epoch;
        partition.next = next;
        partition.last_acked = -1;
        partition.unresolved = None;
    }

    /// The canonical encoding; batches are encoded by their owners.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.i64(self.id);
        encoder.i16(self.epoch);
        encoder.len(self.partitions.len());
        for (tp, partition) in &self.partitions {
            encoder.u16(tp.topic.0);
            encoder.u32(tp.partition);
            encoder.i16(partition.epoch);
            encoder.i32(partition.next);
            encoder.i32(partition.last_acked);
            encoder.len(partition.in_flight.len());
            encoder.option(partition.unresolved, Encoder::i32);
        }
        encoder.len(self.bump.len());
    }
}
