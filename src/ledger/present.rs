//! Questions about the present: what the logs of a world say of the records that the ledger knows.
//!
//! The leader's log decides what is lost. Without a leader the last one's counts, wherever it lies; a disk that was wiped
//! holds nothing. Nothing is remembered here: a record that is there again is not lost.

use std::collections::BTreeSet;

use super::{How, Ledger, Story, Taken};
use crate::cluster::event::{Outcome, Tag};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::message::Message;
use crate::cluster::world::World;
use crate::log::{Errors, Log};

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
    /// Offsets, as acknowledged, of records that the leader's log does not hold and that were not expired or deleted by
    /// request; ascending.
    pub fn lost(&self, world: &World, partition: TopicPartition) -> Vec<i64> {
        let lost = self.lost_records(world, partition).into_iter();
        let mut offsets: Vec<i64> = lost.filter_map(|tag| self.story(tag)?.offset()).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    /// As [`lost`](Self::lost), by name, in the order of their acknowledgement.
    pub fn lost_records(&self, world: &World, partition: TopicPartition) -> Vec<Tag> {
        let log = self.leader_log(world, partition);
        self.acknowledged(partition)
            .filter(|tag| self.is_lost(*tag, partition, log))
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
            .leader_log(world, partition)
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
        let mut seen = BTreeSet::new();
        let records = self
            .leader_log(world, partition)
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
            return Fate::InFlight;
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
            None if on_the_wire(world, tag) || world.client(tag.client).is_some_and(|client| client.is_running()) => {
                Fate::InFlight
            }
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
        brokers.sort_unstable();
        brokers
            .into_iter()
            .map(|broker| custody_at(world, tag, story, partition, broker))
            .collect()
    }

    /// Who leads, or led last.
    pub(super) fn leader_of(&self, world: &World, partition: TopicPartition) -> Option<BrokerId> {
        world.image().leader(partition).or_else(|| self.last_leader(partition))
    }

    /// The log that decides what is lost.
    pub(super) fn leader_log<'w>(&self, world: &'w World, partition: TopicPartition) -> Option<&'w Log> {
        log_of(world, partition, self.leader_of(world, partition)?)
    }

    /// Whether a record was acknowledged and neither stands in this log nor was expired or deleted.
    pub(super) fn is_lost(&self, tag: Tag, partition: TopicPartition, log: Option<&Log>) -> bool {
        let Some(story) = self.story(tag).filter(|story| story.acknowledged().is_some()) else {
            return false;
        };
        let held = log.is_some_and(|log| stands_in(log, tag, story, partition).is_some());
        !held && !story.ended(How::Expired) && !story.ended(How::Deleted)
    }

    /// Where a record stands in its leader's log.
    fn stands_at(&self, world: &World, tag: Tag, story: &Story) -> Option<(TopicPartition, i64)> {
        let partition = story.places.last()?.partition;
        let log = self.leader_log(world, partition)?;
        stands_in(log, tag, story, partition).map(|offset| (partition, offset))
    }
}

fn custody_at(world: &World, tag: Tag, story: &Story, partition: TopicPartition, broker: BrokerId) -> Custody {
    let log = log_of(world, partition, broker);
    let offset = log.and_then(|log| stands_in(log, tag, story, partition));
    let taken = story.taken.iter().rev().find(|taken| taken.broker == broker).copied();
    let place = match (log.zip(offset), taken.map(|taken| taken.how)) {
        (Some((log, offset)), _) if is_flushed(log, offset) => Where::Disk,
        (Some(_), _) => Where::Cache,
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

/// A replica's log: open in its process, or as it lies on its host.
pub(super) fn log_of(world: &World, partition: TopicPartition, broker: BrokerId) -> Option<&Log> {
    Some(world.broker(broker)?.replica(partition)?.log())
}

/// The offset at which a log holds a record.
pub(super) fn stands_in(log: &Log, tag: Tag, story: &Story, partition: TopicPartition) -> Option<i64> {
    let places = story.places.iter().filter(|place| place.partition == partition);
    places
        .map(|place| place.offset)
        .find(|offset| tag_at(log, *offset) == Some(tag))
}

/// The record at an offset of a log.
pub(super) fn tag_at(log: &Log, offset: i64) -> Option<Tag> {
    let bits = placed_at(log, offset, |placed, _| placed.batch.tag_of(offset))??;
    Some(Tag::from_bits(bits))
}

/// Whether the batch that holds an offset has reached the disk.
fn is_flushed(log: &Log, offset: i64) -> bool {
    placed_at(log, offset, |placed, flushed| placed.end() <= flushed) == Some(true)
}

/// Looks at the batch that holds an offset, and at how many bytes of its segment are on disk.
fn placed_at<R>(log: &Log, offset: i64, look: impl FnOnce(&crate::log::Placed, u32) -> R) -> Option<R> {
    if offset < log.log_start_offset() || offset >= log.log_end_offset() {
        return None;
    }
    let file = log
        .segments()
        .rev()
        .find(|segment| segment.base_offset() <= offset)?
        .log();
    let at = file
        .batches()
        .partition_point(|placed| placed.batch.last_offset() < offset);
    let placed = file.batches().get(at)?;
    Some(look(placed, file.flushed().unwrap_or_default()))
}

/// Offset and name of every record of a log that a client sent.
fn tagged_records(log: &Log) -> Vec<(i64, Tag)> {
    let batches = log.segments().flat_map(|segment| segment.log().batches().iter());
    let records = batches.flat_map(|placed| super::holdings::tagged(&placed.batch));
    let start = log.log_start_offset();
    let sent = records.filter(|(offset, bits)| *offset >= start && *bits != 0);
    sent.map(|(offset, bits)| (offset, Tag::from_bits(bits))).collect()
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
