//! The records that wait to be sent: batches, and for each partition a queue of them.
//!
//! Batches live in one store and are named by number; queues, requests and sequences hold the numbers. So a batch that
//! was given up while its request is on the wire is simply no longer there when the answer comes.
//!
//! Mirrors `RecordAccumulator` with its `BufferPool`. Deliberately absent: the pool's chunks (only the sum of bytes counts)
//! and `partitioner.availability.timeout.ms`.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::event::Tag;
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::cluster::settings::Micros;
use crate::log::{Encoder, Record};
use crate::sorted::{SortedMap, SortedSet};

use super::batch::ProducerBatch;

/// Names a batch within its producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchId(u32);

/// Every batch that is undecided.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Batches {
    all: SortedMap<BatchId, Arc<ProducerBatch>>,
    next: u32,
    memory: usize,
}

impl Batches {
    /// Takes a batch in.
    pub(super) fn insert(&mut self, batch: ProducerBatch) -> BatchId {
        let id = BatchId(self.next);
        self.next = self.next.wrapping_add(1);
        self.memory += batch.memory();
        self.all.insert(id, Arc::new(batch));
        id
    }

    /// Takes a batch out; `None` if it was decided before.
    pub(super) fn remove(&mut self, id: BatchId) -> Option<Arc<ProducerBatch>> {
        let batch = self.all.remove(&id)?;
        self.memory -= batch.memory();
        Some(batch)
    }

    /// A batch that is undecided.
    pub(super) fn get(&self, id: BatchId) -> Option<&ProducerBatch> {
        self.all.get(&id).map(Arc::as_ref)
    }

    /// A batch to be changed.
    pub(super) fn get_mut(&mut self, id: BatchId) -> Option<&mut ProducerBatch> {
        self.all.get_mut(&id).map(Arc::make_mut)
    }

    /// Bytes of memory that all of them take.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// When the oldest was created.
    pub(super) fn oldest(&self) -> Option<Micros> {
        self.all.values().map(|batch| batch.created).min()
    }

    /// Those created at or before a time, the oldest first.
    pub(super) fn created_by(&self, time: Micros) -> Vec<BatchId> {
        self.all
            .iter()
            .filter(|(_, batch)| batch.created <= time)
            .map(|(&id, _)| id)
            .collect()
    }

    /// Whether a record is in one of them.
    pub(super) fn holds(&self, tag: Tag) -> bool {
        let tag = tag.to_bits();
        self.all.values().any(|batch| batch.tags().contains(&tag))
    }

    /// Encodes a batch in its place.
    pub(super) fn encode(&self, id: BatchId, encoder: &mut Encoder) {
        encoder.option(self.get(id), |encoder, batch| batch.encode(encoder));
    }

    /// The times of all batches, relative to now.
    pub(super) fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        for batch in self.all.values() {
            batch.encode_times(now, encoder);
        }
    }
}

/// What a partition's first batch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Nothing: it can be sent.
    Ready,
    /// For company, until then.
    Linger(Micros),
    /// Its back-off ends then.
    Backoff(Micros),
    /// For the answer to what was sent before.
    Muted,
}

/// The queues.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Accumulator {
    queues: SortedMap<TopicPartition, VecDeque<BatchId>>,
    /// Partitions with a request in flight while only one may be.
    muted: SortedSet<TopicPartition>,
    /// Where the next request to a broker begins among the partitions that it leads.
    drain_from: SortedMap<BrokerId, u32>,
}

impl Accumulator {
    /// Adds a record to the partition's last batch or to a new one; says how many bytes that took. Without memory for a new
    /// batch the record comes back.
    pub(super) fn add(
        &mut self,
        batches: &mut Batches,
        tp: TopicPartition,
        record: Record,
        tag: u64,
        (batch_size, memory): (usize, usize),
        now: Micros,
    ) -> Result<usize, Record> {
        let queue = self.queues.entry(tp).or_default();
        let added = match queue.back().and_then(|&id| batches.get_mut(id)) {
            Some(last) => last.add(record, tag),
            None => Err(record),
        };
        let record = match added {
            Ok(bytes) => return Ok(bytes),
            Err(record) => record,
        };
        let mut batch = ProducerBatch::new(tp, batch_size, &record, now);
        if batches.memory() + batch.memory() > memory {
            return Err(record);
        }
        // The first record always fits.
        let _ = batch.add(record, tag);
        let size = batch.size();
        queue.push_back(batches.insert(batch));
        Ok(size)
    }

    /// Whether a partition's last batch, if it has one, can take nothing more.
    pub(super) fn all_full(&self, batches: &Batches, tp: TopicPartition) -> bool {
        let last = self.queues.get(&tp).and_then(|queue| queue.back());
        last.and_then(|&id| batches.get(id)).is_none_or(ProducerBatch::is_full)
    }

    /// Partitions that have batches waiting, with the first of them and how many.
    pub(super) fn heads(&self) -> impl Iterator<Item = (TopicPartition, BatchId, usize)> + '_ {
        self.queues
            .iter()
            .filter_map(|(&tp, queue)| Some((tp, *queue.front()?, queue.len())))
    }

    /// How many batches wait for each partition of a topic that ever had one, in order.
    pub(super) fn queue_sizes(&self, topic: TopicId) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first = TopicPartition { topic, partition: 0 };
        let last = TopicPartition {
            topic,
            partition: u32::MAX,
        };
        self.queues
            .range(first..=last)
            .map(|(tp, queue)| (tp.partition, queue.len() as u32))
    }

    /// The topics that ever had a batch.
    pub(super) fn topics(&self) -> impl Iterator<Item = TopicId> + '_ {
        let mut last = None;
        let topics = self.queues.keys().map(|tp| tp.topic);
        topics.filter(move |&topic| last.replace(topic) != Some(topic))
    }

    /// The partition's first batch.
    pub(super) fn first(&self, tp: TopicPartition) -> Option<BatchId> {
        self.queues.get(&tp)?.front().copied()
    }

    /// What the first batch of a partition waits for. `hurry` is `closed`, or that somebody waits for memory.
    pub(super) fn waits(
        &self,
        batches: &Batches,
        tp: TopicPartition,
        linger: Micros,
        hurry: bool,
        now: Micros,
    ) -> Waits {
        let Some(queue) = self.queues.get(&tp) else {
            return Waits::Muted;
        };
        let Some(first) = queue.front().and_then(|&id| batches.get(id)) else {
            return Waits::Muted;
        };
        if self.muted.contains(&tp) {
            return Waits::Muted;
        }
        if let Some(until) = first.backs_off_until().filter(|&until| until > now) {
            return Waits::Backoff(until);
        }
        let lingers_until = first.last_attempt + linger;
        if queue.len() > 1 || first.is_full() || lingers_until <= now || hurry {
            return Waits::Ready;
        }
        Waits::Linger(lingers_until)
    }

    /// Whether the answer to an earlier request is awaited before anything of this partition is sent.
    pub(super) fn is_muted(&self, tp: TopicPartition) -> bool {
        self.muted.contains(&tp)
    }

    /// Nothing more of this partition is sent until it is unmuted.
    pub(super) fn mute(&mut self, tp: TopicPartition) {
        self.muted.insert(tp);
    }

    /// The partition may be sent again.
    pub(super) fn unmute(&mut self, tp: TopicPartition) {
        self.muted.remove(&tp);
    }

    /// Takes the partition's first batch.
    pub(super) fn take_first(&mut self, tp: TopicPartition) -> Option<BatchId> {
        self.queues.get_mut(&tp)?.pop_front()
    }

    /// Where draining for a broker begins, as an index among so many partitions.
    pub(super) fn drain_start(&self, broker: BrokerId, partitions: usize) -> usize {
        self.drain_from.get(&broker).map_or(0, |&at| at as usize) % partitions.max(1)
    }

    /// The partition looked at last while draining for a broker.
    pub(super) fn drained_at(&mut self, broker: BrokerId, index: usize) {
        self.drain_from.insert(broker, index as u32);
    }

    /// Puts a batch back: to the front, and with sequences behind those that come before it.
    pub(super) fn put_back(&mut self, batches: &Batches, id: BatchId) {
        let Some(batch) = batches.get(id) else { return };
        let sequence = |id: &BatchId| {
            batches
                .get(*id)
                .and_then(|batch| batch.stamp)
                .map(|stamp| stamp.base_sequence)
        };
        let own = batch.stamp.map(|stamp| stamp.base_sequence);
        let queue = self.queues.entry(batch.partition).or_default();
        let before = queue
            .iter()
            .take_while(|&other| own.is_some() && sequence(other).is_some_and(|s| Some(s) < own));
        let at = before.count();
        queue.insert(at, id);
    }

    /// Takes a batch out of its queue, if it stands in one.
    pub(super) fn remove(&mut self, tp: TopicPartition, id: BatchId) {
        if let Some(queue) = self.queues.get_mut(&tp) {
            queue.retain(|&other| other != id);
        }
    }

    /// The canonical encoding with the batches in their places.
    pub(super) fn encode(&self, batches: &Batches, encoder: &mut Encoder) {
        encoder.len(self.queues.len());
        for (tp, queue) in &self.queues {
            encoder.u16(tp.topic.0);
            encoder.u32(tp.partition);
            encoder.u8(u8::from(self.muted.contains(tp)));
            encoder.len(queue.len());
            for &id in queue {
                batches.encode(id, encoder);
            }
        }
        encoder.len(self.drain_from.len());
        for (broker, &at) in &self.drain_from {
            encoder.u16(broker.0);
            encoder.u32(at);
        }
    }
}
