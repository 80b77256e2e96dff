//! How a producer chooses a partition.
//!
//! A record with a key, even an empty one, always goes to the same partition: a hash of the key's bytes modulo the
//! number of partitions, whether they have a leader or not. Records without key stay with one partition until about
//! `batch.size` bytes went there, so that batches fill; then another is drawn, and one with a shorter queue is drawn
//! more often (KIP-794).
//!
//! Random numbers come from the caller, non-negative ones of 31 bits.
//!
//! Deliberately absent: racks, custom partitioners, and how queues are measured.
//! Mirrors `Utils.murmur2` and `BuiltInPartitioner`.

use crate::log::Encoder;

const SEED: u32 = 0x9747_b28c;
const MULTIPLIER: u32 = 0x5bd1_e995;
const SHIFT: u32 = 24;

/// The 32-bit murmur2 hash with Kafka's seed. Kafka writes it as a signed number.
pub fn murmur2(data: &[u8]) -> u32 {
    let (words, tail) = data.as_chunks::<4>();
    let mut hash = SEED ^ data.len() as u32;
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        word ^= word >> SHIFT;
        hash = hash.wrapping_mul(MULTIPLIER) ^ word.wrapping_mul(MULTIPLIER);
    }
    if !tail.is_empty() {
        for (index, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 15)
}

/// A hash with its sign bit cleared, which is not its absolute value.
pub fn to_positive(hash: u32) -> u32 {
    hash & 0x7fff_ffff
}

/// The partition of a record with this key; 0 if there is no partition at all.
pub fn partition_for_key(key: &[u8], partitions: u32) -> u32 {
    to_positive(murmur2(key)).checked_rem(partitions).unwrap_or(0)
}

/// Whether a partition has a leader that could take records now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// It has.
    Available,
    /// It has not.
    Unavailable,
}

/// Whether the partition may be changed after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switching {
    /// It may as soon as enough bytes went there.
    Enabled,
    /// An incomplete batch would be left behind, so it may only when twice as many did.
    Deferred,
}

/// Queue sizes as weights: entry `i` of `cumulative` is the sum of the weights up to the partition at `i`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LoadStats {
    partitions: Vec<u32>,
    cumulative: Vec<u64>,
}

/// The partitioner for records without key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StickyPartitioner {
    batch_size: u32,
    partition: u32,
    produced: u64,
    load: Option<LoadStats>,
}

impl StickyPartitioner {
    /// Begins with a first partition, drawn from a topic's partitions. `batch_size` in bytes.
    pub fn new(batch_size: u32, topic: &[Availability], draw: u32) -> Self {
        let mut begun = StickyPartitioner {
            batch_size,
            partition: 0,
            produced: 0,
            load: None,
        };
        begun.partition = begun.next(topic, draw);
        begun
    }

    /// The partition of the moment.
    pub fn partition(&self) -> u32 {
        self.partition
    }

    /// Notes that bytes went to the current partition. When enough did, draws another one (it can be the same) and
    /// answers true.
    pub fn append(
        &mut self,
        bytes: u32,
        switching: Switching,
        topic: &[Availability],
        draw: impl FnOnce() -> u32,
    ) -> bool {
        self.produced += u64::from(bytes);
        let batch = u64::from(self.batch_size);
        let enough = match switching {
            Switching::Enabled => self.produced >= batch,
            Switching::Deferred => self.produced >= 2 * batch,
        };
        if enough {
            self.partition = self.next(topic, draw());
            self.produced = 0;
        }
        enough
    }

    /// Notes how many batches wait for each partition; only the first `length` entries count. Nothing to compare means
    /// no statistics: no sizes, one entry or fewer, or all entries count and are equal.
    pub fn load(&mut self, queues: Option<(&[u32], &[u32])>, length: usize) {
        self.load = queues.and_then(|(sizes, partitions)| {
            let counted = sizes
                .get(..length)
                .filter(|counted| !counted.is_empty() && sizes.len() > 1)?;
            let longest = counted.iter().copied().max()?;
            if length == sizes.len() && counted.iter().all(|&size| size == longest) {
                return None;
            }
            let weights = counted.iter().scan(0, |sum, &size| {
                *sum += u64::from(longest - size) + 1;
                Some(*sum)
            });
            Some(LoadStats {
                partitions: partitions.get(..length)?.to_vec(),
                cumulative: weights.collect(),
            })
        });
    }

    /// The sum of the weights from which the next partition is drawn; `None` without statistics.
    pub fn weights(&self) -> Option<u64> {
        self.load.as_ref().and_then(|load| load.cumulative.last().copied())
    }

    /// Writes its canonical encoding.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.batch_size);
        encoder.u32(self.partition);
        encoder.u64(self.produced);
        encoder.option(self.load.as_ref(), |encoder, load| {
            encoder.len(load.partitions.len());
            for (&partition, &cumulative) in load.partitions.iter().zip(&load.cumulative) {
                encoder.u32(partition);
                encoder.u64(cumulative);
            }
        });
    }

    fn next(&self, topic: &[Availability], draw: u32) -> u32 {
        if let (Some(load), Some(sum)) = (&self.load, self.weights()) {
            let weighted = u64::from(draw) % sum;
            let at = load.cumulative.partition_point(|&up_to| up_to <= weighted);
            return load.partitions.get(at).copied().unwrap_or(0);
        }
        let available: Vec<u32> = (0..)
            .zip(topic)
            .filter(|&(_, &state)| state == Availability::Available)
            .map(|(id, _)| id)
            .collect();
        match draw.checked_rem(available.len() as u32) {
            Some(at) => available[at as usize],
            None => draw.checked_rem(topic.len() as u32).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_queues_are_weighed_too() {
        let mut sticky = StickyPartitioner::new(1, &[Availability::Available; 3], 0);
        sticky.load(Some((&[u32::MAX, 0, 0], &[0, 1, 2])), 3);
        assert_eq!(sticky.weights(), Some(1 + 2 * (u64::from(u32::MAX) + 1)));
    }
}
