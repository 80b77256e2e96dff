//! Which partition a record goes to, topic by topic.
//!
//! The application's own choice, else the key's hash, else the sticky partition of the moment. The arithmetic is that of
//! [`partitioner`](crate::cluster::partitioner); here stands what a producer feeds it: how many partitions it knows, which
//! of them have a leader, and how long their queues are. Mirrors `KafkaProducer.partition` and the part of
//! `RecordAccumulator` that keeps a partitioner for each topic.

use crate::cluster::chance::Chance;
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::partitioner::{Availability, StickyPartitioner, Switching, partition_for_key};
use crate::log::Encoder;
use crate::sorted::SortedMap;

/// The sticky partitions of a producer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choice {
    topics: SortedMap<TopicId, StickyPartitioner>,
}

/// A topic's partitions as a client knows them.
fn availability(image: &Image, topic: TopicId) -> Vec<Availability> {
    let state = |leader: Option<_>| leader.map_or(Availability::Unavailable, |_| Availability::Available);
    partitions(image, topic).map(|(_, leader)| state(leader)).collect()
}

/// The partitions of a topic, with their leaders.
pub(super) fn partitions(
    image: &Image,
    topic: TopicId,
) -> impl Iterator<Item = (TopicPartition, Option<BrokerId>)> + '_ {
    let first = TopicPartition { topic, partition: 0 };
    let last = TopicPartition {
        topic,
        partition: u32::MAX,
    };
    image
        .partitions
        .range(first..=last)
        .map(|(tp, partition)| (*tp, partition.leader))
}

/// The partition of a record with this key.
pub(super) fn by_key(image: &Image, topic: TopicId, key: &[u8]) -> TopicPartition {
    let count = partitions(image, topic).count() as u32;
    TopicPartition {
        topic,
        partition: partition_for_key(key, count),
    }
}

impl Choice {
    /// The partition of the moment. If a batch is left full behind enough bytes, it changes first.
    pub(super) fn sticky(
        &mut self,
        image: &Image,
        topic: TopicId,
        batch_size: u32,
        all_full: impl Fn(TopicPartition) -> bool,
        chance: &mut Chance,
    ) -> TopicPartition {
        let known = availability(image, topic);
        let sticky = self
            .topics
            .entry(topic)
            .or_insert_with(|| StickyPartitioner::new(batch_size, &known, chance.draw()));
        if all_full(TopicPartition {
            topic,
            partition: sticky.partition(),
        }) {
            sticky.append(0, Switching::Enabled, &known, || chance.draw());
        }
        TopicPartition {
            topic,
            partition: sticky.partition(),
        }
    }

    /// Bytes went to the partition of the moment.
    pub(super) fn appended(&mut self, image: &Image, topic: TopicId, bytes: u32, last: Last, chance: &mut Chance) {
        let Some(sticky) = self.topics.get_mut(&topic) else {
            return;
        };
        let switching = match last {
            Last::Full => Switching::Enabled,
            Last::Open => Switching::Deferred,
        };
        sticky.append(bytes, switching, &availability(image, topic), || chance.draw());
    }

    /// Reports the queues: how many batches wait for each partition that ever had one. They count only once every
    /// partition is among them, and of those only the ones with a leader.
    pub(super) fn report(&mut self, image: &Image, queues: impl Fn(TopicId) -> Vec<(u32, u32)>) {
        for (&topic, sticky) in &mut self.topics {
            let queues = queues(topic);
            if queues.len() < partitions(image, topic).count() {
                sticky.load(None, 0);
                continue;
            }
            let led = |&(id, _): &(u32, u32)| image.leader(TopicPartition { topic, partition: id }).is_some();
            let (with, without): (Vec<_>, Vec<_>) = queues.into_iter().partition(led);
            let all = || with.iter().chain(&without);
            let sizes: Vec<u32> = all().map(|&(_, size)| size).collect();
            let ids: Vec<u32> = all().map(|&(id, _)| id).collect();
            sticky.load(Some((&sizes, &ids)), with.len());
        }
    }

    /// The canonical encoding.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.len(self.topics.len());
        for (topic, sticky) in &self.topics {
            encoder.u16(topic.0);
            sticky.encode(encoder);
        }
    }
}

/// Whether the batch that a record went to can take more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// It can.
    Open,
    /// It cannot.
    Full,
}
