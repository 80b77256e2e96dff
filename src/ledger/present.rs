//! Questions about the present: what the logs of a world say of the records that the ledger knows.
//!
//! The leader's log decides what is lost. Without a leader the last one's counts, wherever it lies; a disk that was wiped
//! holds nothing. Nothing is remembered here: a record that is there again is not lost.

use super::{How, Ledger, Story, Taken};
use crate::cluster::broker::ReplicaView;
use crate::cluster::event::{Outcome, Tag};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::message::Message;
use crate::cluster::world::World;
use crate::log::{Errors, Layer};
use crate::sorted::{SortedSet, sort_by};

/// What became of a record, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// On its way, or waiting to be sent (again).
    InFlight,
    /// In the leader's log, above the high watermark, and not acknowledged.
    Appended,
    /// In the leader's log, below the high watermark, and not acknowledged.
    Committed,
    /// Acknowledged, and in the leader's log.
    Acknowledged,
    /// Its sender was told an error, and no log ever held it.
    Refused,
    /// Its sender gave up, and no log ever held it.
    TimedOut,
    /// It was in a log, is gone, and nobody had been told that it was safe.
    Truncated,
    /// It was acknowledged and is gone.
    Lost,
    /// Retention removed it.
    Expired,
    /// It was deleted by request.
    Deleted,
    /// The cleaner removed it.
    Compacted,
    /// Nothing is on its way any more, and no log ever held it.
    NeverArrived,
}

impl Fate {
    /// The word in scenarios.
    pub const fn word(self) -> &'static str {
        match self {
            Fate::InFlight => "in-flight",
            Fate::Appended => "appended",
            Fate::Committed => "committed",
            Fate::Acknowledged => "acknowledged",
            Fate::Refused => "refused",
            Fate::TimedOut => "timed-out",
            Fate::Truncated => "truncated",
            Fate::Lost => "lost",
            Fate::Expired => "expired",
            Fate::Deleted => "deleted",
            Fate::Compacted => "compacted",
            Fate::NeverArrived => "never-arrived",
        }
    }
}

/// Where a broker's copy of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// It has none.
    Absent,
    /// Written and not flushed.
    Cache,
    /// Flushed.
    Disk,
    /// It had one, which was cut off.
    Truncated,
}

impl Where {
    /// The word in scenarios.
    pub const fn word(self) -> &'static str {
        match self {
            Where::Absent => "absent",
            Where::Cache => "cache",
            Where::Disk => "disk",
            Where::Truncated => "truncated",
        }
    }
}

/// Whether a broker's process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// It runs, frozen or not.
    Up,
    /// It does not; what lies on the host is there all the same.
    Down,
}

/// One broker's copy of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Custody {
    /// The broker.
    pub broker: BrokerId,
    /// Where its copy is.
    pub place: Where,
    /// Whether it runs.
    pub host: Host,
    /// The event that took the latest copy it had, if one did.
    pub taken: Option<Taken>,
}

impl Ledger {
    /// Offsets, as acknowledged, of records that the leader's log does not hold and that were not expired, compacted
    /// or deleted by request; ascending.
    pub fn lost(&self, world: &World, partition: TopicPartition) -> Vec<i64> {
        let lost = self.lost_records(world, partition).into_iter();
        let mut offsets: Vec<i64> = lost.filter_map(|tag| self.story(tag)?.offset()).collect();
        sort_by(&mut offsets, i64::cmp);
        offsets.dedup();
        offsets
    }

    /// As [`lost`](Self::lost), by name, in the order of their acknowledgement.
    pub fn lost_records(&self, world: &World, partition: TopicPartition) -> Vec<Tag> {
        if world.image().partition(partition).is_none() {
            return Vec::new();
        }
        let leader = self.leader_replica(world, partition);
        self.acknowledged(partition)
            .filter(|tag| self.is_lost(*tag, partition, leader))
            .collect()
    }

    /// How many acknowledged records are lost, over all partitions.
    pub fn lost_count(&self, world: &World) -> usize {
        let partitions = world.partitions().into_iter();
        partitions
            .map(|partition| self.lost_records(world, partition).len())
            .sum()
    }

    /// Offsets in the leader's log whose record was never acknowledged, ascending.
    pub fn unacked(&self, world: &World, partition: TopicPartition) -> Vec<i64> {
        let acknowledged = |tag: Tag| self.story(tag).is_some_and(|story| story.acknowledged().is_some());
        let records = self
            .leader_replica(world, partition)
            .map(tagged_records)
            .unwrap_or_default();
        records
            .into_iter()
            .filter(|record| !acknowledged(record.1))
            .map(|record| record.0)
            .collect()
    }

    /// Offsets in the leader's log that repeat an earlier record of the same send, ascending.
    pub fn duplicates(&self, world: &World, partition: TopicPartition) -> Vec<i64> {
        let mut seen = SortedSet::new();
        let records = self
            .leader_replica(world, partition)
            .map(tagged_records)
            .unwrap_or_default();
        records
            .into_iter()
            .filter(|record| !seen.insert(record.1))
            .map(|record| record.0)
            .collect()
    }

    /// What became of a record.
    pub fn fate(&self, world: &World, tag: Tag) -> Fate {
        let Some(story) = self.story(tag) else {
            return if has_its_client(world, tag) {
                Fate::InFlight
            } else {
                Fate::NeverArrived
            };
        };
        if let Some((partition, offset)) = self.stands_at(world, tag, story) {
            if story.acknowledged().is_some() {
                return Fate::Acknowledged;
            }
            let committed = self.leader_of(world, partition).and_then(|leader| {
                let replica = world.broker(leader)?.replica(partition)?;
                replica.high_watermark()
            });
            return if committed.is_some_and(|end| offset < end) {
                Fate::Committed
            } else {
                Fate::Appended
            };
        }
        self.fate_of_the_absent(world, tag, story)
    }

    fn fate_of_the_absent(&self, world: &World, tag: Tag, story: &Story) -> Fate {
        if story.ended(How::Expired) {
            return Fate::Expired;
        }
        if story.ended(How::Deleted) {
            return Fate::Deleted;
        }
        if story.ended(How::Compacted) {
            return Fate::Compacted;
        }
        let gone = |otherwise| {
            if story.places.is_empty() {
                otherwise
            } else {
                Fate::Truncated
            }
        };
        match story.told.map(|told| told.1) {
            Some(Outcome::Acked(_)) => Fate::Lost,
            Some(Outcome::Failed(Errors::RequestTimedOut)) => gone(Fate::TimedOut),
            Some(Outcome::Failed(_)) => gone(Fate::Refused),
            Some(Outcome::Sent) if on_the_wire(world, tag) => Fate::InFlight,
            None if on_the_wire(world, tag) || has_its_client(world, tag) => Fate::InFlight,
            Some(Outcome::Sent) | None => gone(Fate::NeverArrived),
        }
    }

    /// Where the copies of a record are: one entry for each broker of its partition, in the order of their ids.
    pub fn custody(&self, world: &World, tag: Tag) -> Vec<Custody> {
        let Some((story, partition)) = self.story(tag).and_then(|story| Some((story, story.partition?))) else {
            return Vec::new();
        };
        let image = world.image();
        let mut brokers = image
            .partition(partition)
            .map(|state| state.replicas.clone())
            .unwrap_or_default();
        sort_by(&mut brokers, BrokerId::cmp);
        brokers
            .into_iter()
            .map(|broker| custody_at(world, tag, story, partition, broker))
            .collect()
    }

    /// Who leads, or led last.
    pub(super) fn leader_of(&self, world: &World, partition: TopicPartition) -> Option<BrokerId> {
        world.image().leader(partition).or_else(|| self.last_leader(partition))
    }

    /// The replica whose log decides what is lost.
    pub(super) fn leader_replica<'w>(&self, world: &'w World, partition: TopicPartition) -> Option<ReplicaView<'w>> {
        world.broker(self.leader_of(world, partition)?)?.replica(partition)
    }

    /// Whether a record was acknowledged and neither stands in this replica's log nor was expired, compacted or deleted.
    pub(super) fn is_lost(&self, tag: Tag, partition: TopicPartition, leader: Option<ReplicaView<'_>>) -> bool {
        let Some(story) = self.story(tag).filter(|story| story.acknowledged().is_some()) else {
            return false;
        };
        let held = leader.is_some_and(|replica| stands_in(replica, tag, story, partition).is_some());
        let rightly = [How::Expired, How::Deleted, How::Compacted];
        !held && !rightly.iter().any(|how| story.ended(*how))
    }

    /// Where a record stands in its leader's log.
    fn stands_at(&self, world: &World, tag: Tag, story: &Story) -> Option<(TopicPartition, i64)> {
        let partition = story.places.last()?.partition;
        let replica = self.leader_replica(world, partition)?;
        stands_in(replica, tag, story, partition).map(|offset| (partition, offset))
    }
}

fn custody_at(world: &World, tag: Tag, story: &Story, partition: TopicPartition, broker: BrokerId) -> Custody {
    let replica = world.broker(broker).and_then(|broker| broker.replica(partition));
    let layer = replica.and_then(|replica| layer_of(replica, stands_in(replica, tag, story, partition)?));
    let taken = story.taken.iter().rev().find(|taken| taken.broker == broker).copied();
    let place = match (layer, taken.map(|taken| taken.how)) {
        (Some(Layer::Disk), _) => Where::Disk,
        (Some(Layer::Cache), _) => Where::Cache,
        (None, Some(How::Truncated | How::Dropped)) => Where::Truncated,
        (None, _) => Where::Absent,
    };
    let host = match world.broker(broker) {
        Some(broker) if broker.is_running() => Host::Up,
        _ => Host::Down,
    };
    Custody {
        broker,
        place,
        host,
        taken,
    }
}

/// The offset at which a replica's log holds a record.
pub(super) fn stands_in(replica: ReplicaView<'_>, tag: Tag, story: &Story, partition: TopicPartition) -> Option<i64> {
    let places = story.places.iter().filter(|place| place.partition == partition);
    places
        .map(|place| place.offset)
        .find(|offset| replica.tag_at(*offset) == Some(tag))
}

/// Whether the batch that holds an offset has reached the disk.
fn layer_of(replica: ReplicaView<'_>, offset: i64) -> Option<Layer> {
    let segment = replica
        .log()
        .segments()
        .rev()
        .find(|segment| segment.base_offset() <= offset)?;
    segment
        .held()
        .find(|held| held.batch.last_offset() >= offset)
        .map(|held| held.layer)
}

/// Offset and name of every record of a log that a client sent.
fn tagged_records(replica: ReplicaView<'_>) -> Vec<(i64, Tag)> {
    let records = replica.batches().flat_map(super::holdings::tagged);
    let start = replica.log_start();
    let sent = records.filter(|(offset, bits)| *offset >= start && *bits != 0);
    sent.map(|(offset, bits)| (offset, Tag::from_bits(bits))).collect()
}

/// Whether its client has it still: the process that it was given to, not one that was started after it.
fn has_its_client(world: &World, tag: Tag) -> bool {
    let producer = world.client(tag.client).and_then(|client| client.as_producer());
    producer.is_some_and(|producer| producer.holds(tag))
}

/// Whether a produce request with this record is on its way.
fn on_the_wire(world: &World, tag: Tag) -> bool {
    world.network().in_flight().any(|(_, _, flying)| match &flying.message {
        Message::Produce(_, request) => request
            .batches
            .iter()
            .any(|(_, batch)| batch.tags().contains(&tag.to_bits())),
        _ => false,
    })
}
