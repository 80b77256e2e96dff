//! The records of groups under the consumer protocol, byte for byte.
//!
//! Five kinds, each with a key of its own, so that the newest of each key is all that counts: what a member says of itself,
//! the group's epoch, the target assignment (its epoch, and each member's part), where a member stands. A group changes by
//! reading what it writes; so a new coordinator comes to the same. Mirrors `GroupCoordinatorRecordHelpers` with the
//! `ConsumerGroup…Key/Value` messages.
//!
//! Deliberately absent: subscriptions by pattern, members that speak the classic protocol in a group of this one.

use crate::cluster::assignor::Assignor;
use crate::cluster::group::bytes::{Reader, Writer};
use crate::cluster::group::protocol::MemberId;
use crate::cluster::group::record::HOST;
use crate::cluster::ids::{ClientId, TopicId, TopicPartition};
use crate::cluster::settings::{Settings, from_millis};
use crate::sorted::{SortedMap, SortedSet};

use super::member::{Assigned, MemberState, Place, Told};

/// Kind of the key of a group's epoch.
pub const GROUP_EPOCH: i16 = 3;
/// Kind of the key of what Kafka before 4.1 kept of the topics; only its tombstone is written.
pub const PARTITION_METADATA: i16 = 4;
/// Kind of the key of what a member says of itself.
pub const MEMBER: i16 = 5;
/// Kind of the key of a target assignment's epoch.
pub const TARGET_EPOCH: i16 = 6;
/// Kind of the key of a member's target.
pub const TARGET: i16 = 7;
/// Kind of the key of where a member stands.
pub const CURRENT: i16 = 8;
/// Version of all these values.
const VERSION: i16 = 0;

/// A change of a group; no value is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// What a member says of itself; without it, it is no member.
    Member(MemberId, Option<Told>),
    /// The group's epoch and the hash of its topics.
    Epoch(Option<(i32, i64)>),
    /// What older versions kept of the topics is void.
    NoPartitionMetadata,
    /// What a member is to read in the end.
    Target(MemberId, Option<SortedSet<TopicPartition>>),
    /// The epoch of the target assignment, and when it was computed (wall clock in milliseconds, 0 for never).
    TargetEpoch(Option<(i32, i64)>),
    /// Where a member stands.
    Current(MemberId, Option<Place>),
}

impl Change {
    /// Whether it takes away and puts nothing there.
    pub fn is_tombstone(&self) -> bool {
        match self {
            Change::Member(_, told) => told.is_none(),
            Change::Epoch(epoch) | Change::TargetEpoch(epoch) => epoch.is_none(),
            Change::NoPartitionMetadata => true,
            Change::Target(_, target) => target.is_none(),
            Change::Current(_, place) => place.is_none(),
        }
    }

    /// The key of its record.
    pub fn key(&self, group: &str) -> Vec<u8> {
        let (kind, member) = match self {
            Change::Member(member, _) => (MEMBER, Some(member)),
            Change::Epoch(_) => (GROUP_EPOCH, None),
            Change::NoPartitionMetadata => (PARTITION_METADATA, None),
            Change::Target(member, _) => (TARGET, Some(member)),
            Change::TargetEpoch(_) => (TARGET_EPOCH, None),
            Change::Current(member, _) => (CURRENT, Some(member)),
        };
        let mut out = Writer::default();
        out.i16(kind).text(group);
        if let Some(member) = member {
            out.text(member);
        }
        out.0
    }

    /// The value of its record.
    pub fn value(&self, settings: &Settings) -> Option<Vec<u8>> {
        let mut out = Writer::default();
        out.i16(VERSION);
        match self {
            Change::Member(_, told) => member(told.as_ref()?, settings, &mut out),
            Change::Epoch(value) | Change::TargetEpoch(value) => {
                let (epoch, tagged) = (*value)?;
                out.i32(epoch).tag_i64(tagged);
            }
            Change::NoPartitionMetadata => return None,
            Change::Target(_, target) => partitions(target.as_ref()?, &mut out),
            Change::Current(_, place) => current(place.as_ref()?, &mut out),
        }
        Some(out.0)
    }

    /// Back from a record, of which the kind and the group were read already.
    pub(in crate::cluster::group) fn parse(
        kind: i16,
        key: &mut Reader<'_>,
        mut value: Option<Reader<'_>>,
        settings: &Settings,
    ) -> Option<Change> {
        if let Some(value) = &mut value
            && value.i16()? != VERSION
        {
            return None;
        }
        let numbers = |value: &mut Reader<'_>| Some((value.i32()?, value.tag_i64()?));
        Some(match kind {
            GROUP_EPOCH => Change::Epoch(read(value, numbers)?),
            TARGET_EPOCH => Change::TargetEpoch(read(value, numbers)?),
            PARTITION_METADATA => Change::NoPartitionMetadata,
            MEMBER => Change::Member(key.text()?, read(value, |value| told(value, settings))?),
            TARGET => {
                let target = |value: &mut Reader<'_>| {
                    let assigned = assigned(value, 0, settings)?;
                    value.tag()?;
                    Some(assigned.into_keys().collect())
                };
                Change::Target(key.text()?, read(value, target)?)
            }
            CURRENT => Change::Current(key.text()?, read(value, |value| place(value, settings))?),
            _ => return None,
        })
    }
}

/// Reads a value; a tombstone is none, and one that makes no sense is no record.
fn read<T>(value: Option<Reader<'_>>, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<Option<T>> {
    match value {
        Some(mut value) => read(&mut value).map(Some),
        None => Some(None),
    }
}

fn member(told: &Told, settings: &Settings, out: &mut Writer) {
    // No rack.
    out.compact_maybe(told.instance.as_deref()).compact_maybe(None);
    out.compact(settings.client(told.client)).compact(HOST);
    out.count(told.topics.len());
    told.topics.iter().for_each(|topic| {
        out.compact(topic);
    });
    out.compact_maybe(Some(""))
        .i32(i32::try_from(told.rebalance / 1_000).unwrap_or(i32::MAX));
    // That it does not speak the classic protocol is written, though it need not be.
    out.compact_maybe(told.assignor.map(server_name)).tag(&[0]);
}

fn told(value: &mut Reader<'_>, settings: &Settings) -> Option<Told> {
    let instance = value.compact_maybe()?;
    let _rack = value.compact_maybe()?;
    let (client, _host) = (value.compact()?, value.compact()?);
    let topics = (0..value.count()?).map(|_| value.compact()).collect::<Option<_>>()?;
    let _pattern = value.compact_maybe()?;
    let rebalance = from_millis(value.i32()?.into());
    let assignor = value.compact_maybe()?;
    let _classic = value.tag()?;
    let client = settings.clients.iter().position(|known| *known == client)?;
    Some(Told {
        client: ClientId(client as u16),
        instance,
        rebalance,
        topics,
        assignor: assignor.as_deref().and_then(server_assignor),
    })
}

/// The name of an assignor as a coordinator knows it.
pub fn server_name(assignor: Assignor) -> &'static str {
    match assignor {
        Assignor::ServerRange => "range",
        _ => "uniform",
    }
}

fn server_assignor(name: &str) -> Option<Assignor> {
    [Assignor::Uniform, Assignor::ServerRange]
        .into_iter()
        .find(|assignor| server_name(*assignor) == name)
}

/// Partitions, topic by topic.
fn by_topic<T>(partitions: impl Iterator<Item = (TopicPartition, T)>) -> SortedMap<TopicId, Vec<(u32, T)>> {
    let mut topics: SortedMap<TopicId, Vec<(u32, T)>> = SortedMap::new();
    for (tp, value) in partitions {
        topics.entry(tp.topic).or_default().push((tp.partition, value));
    }
    topics
}

fn partitions(target: &SortedSet<TopicPartition>, out: &mut Writer) {
    let topics = by_topic(target.iter().map(|tp| (*tp, ())));
    out.count(topics.len());
    for (topic, partitions) in topics {
        out.uuid(topic.uuid()).count(partitions.len());
        partitions.iter().for_each(|(partition, ())| {
            out.i32(*partition as i32);
        });
        out.no_tags();
    }
    out.no_tags();
}

fn current(place: &Place, out: &mut Writer) {
    out.i32(place.epoch).i32(place.previous).i8(place.state as i8);
    with_epochs(&place.assigned, out);
    with_epochs(&place.revoking, out);
    out.no_tags();
}

fn with_epochs(assigned: &Assigned, out: &mut Writer) {
    let topics = by_topic(assigned.iter().map(|(tp, epoch)| (*tp, *epoch)));
    out.count(topics.len());
    for (topic, partitions) in topics {
        out.uuid(topic.uuid()).count(partitions.len());
        let mut epochs = Writer::default();
        epochs.count(partitions.len());
        for (partition, epoch) in partitions {
            out.i32(partition as i32);
            epochs.i32(epoch);
        }
        out.tag(&epochs.0);
    }
}

fn place(value: &mut Reader<'_>, settings: &Settings) -> Option<Place> {
    let (epoch, previous) = (value.i32()?, value.i32()?);
    let state = MemberState::from_number(value.i8()?)?;
    let place = Place {
        epoch,
        previous,
        state,
        assigned: assigned(value, epoch, settings)?,
        revoking: assigned(value, epoch, settings)?,
    };
    value.tag()?;
    Some(place)
}

/// Partitions with their epochs; without one it is `epoch`. Topics that never were are passed over.
fn assigned(value: &mut Reader<'_>, epoch: i32, settings: &Settings) -> Option<Assigned> {
    let mut assigned = Assigned::new();
    for _ in 0..value.count()? {
        let uuid = value.uuid()?;
        let partitions: Vec<i32> = (0..value.count()?).map(|_| value.i32()).collect::<Option<_>>()?;
        let epochs = match value.tag()? {
            Some(mut tagged) => (0..tagged.count()?).map(|_| tagged.i32()).collect::<Option<_>>()?,
            None => vec![epoch; partitions.len()],
        };
        let Some(topic) = settings.topics.keys().copied().find(|topic| topic.uuid() == uuid) else {
            continue;
        };
        for (partition, epoch) in partitions.into_iter().zip(epochs) {
            let partition = u32::try_from(partition).ok()?;
            assigned.insert(TopicPartition { topic, partition }, epoch);
        }
    }
    Some(assigned)
}
