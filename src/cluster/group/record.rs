//! The records of `__consumer_offsets`, byte for byte: commits and the state of classic groups. Those of groups under the
//! consumer protocol stand beside those groups.
//!
//! A key begins with the number of its kind, a value with its version; a null value is a tombstone. The newest record of
//! each key is what counts, so that the topic can be compacted. Mirrors `GroupCoordinatorRecordHelpers` with
//! `OffsetCommitKey/Value`, `GroupMetadataKey/Value`, `ConsumerProtocolSubscription` and `ConsumerProtocolAssignment`.
//!
//! Deliberately absent: older versions than those that Kafka 4.4 writes.

use std::sync::Arc;

use crate::cluster::assignor::Slot;
use crate::cluster::settings::Settings;
use crate::log::Record;
use crate::sorted::{SortedMap, SortedSet};

use super::bytes::{Reader, Writer};
use super::consumer::Change;
use super::protocol::{InstanceId, MemberId, Subscription};

/// Kind of the key of a commit.
const OFFSET_COMMIT: i16 = 1;
/// Kind of the key of a classic group's state.
const GROUP_METADATA: i16 = 2;
/// Version of a commit's value.
const OFFSET_COMMIT_VALUE: i16 = 4;
/// Version of a group's value.
const GROUP_METADATA_VALUE: i16 = 3;
/// Version of a subscription and of an assignment.
const CONSUMER_PROTOCOL: i16 = 3;
/// What members of a group of consumers have in common.
pub(super) const CONSUMER: &str = "consumer";
/// Where clients come from, as the coordinator notes it.
pub(super) const HOST: &str = "/127.0.0.1";

/// A remembered offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetAndMetadata {
    /// The next offset to read.
    pub offset: i64,
    /// Epoch of the record before it, where the committer knew it.
    pub leader_epoch: Option<i32>,
    /// When it was committed, wall clock in milliseconds.
    pub committed_ms: i64,
}

/// A classic group's state as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMetadata {
    /// What its members have in common; empty before the first one.
    pub protocol_type: Arc<str>,
    /// The generation.
    pub generation: i32,
    /// The chosen assignor's name; none without members.
    pub protocol: Option<Arc<str>>,
    /// Who assigns; nobody without members.
    pub leader: Option<MemberId>,
    /// When the state was entered, wall clock in milliseconds.
    pub since_ms: i64,
    /// The members.
    pub members: Vec<MemberMetadata>,
}

impl GroupMetadata {
    /// Of a group that somebody asks to join for the first time.
    pub fn unjoined(now_ms: i64) -> GroupMetadata {
        GroupMetadata {
            protocol_type: "".into(),
            generation: 0,
            protocol: None,
            leader: None,
            since_ms: now_ms,
            members: Vec::new(),
        }
    }

    /// Whether it ever had a member.
    pub fn was_joined(&self) -> bool {
        !self.protocol_type.is_empty()
    }
}

/// A member as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberMetadata {
    /// Its id.
    pub member: MemberId,
    /// Its own name, if it is a static one.
    pub instance: Option<InstanceId>,
    /// `client.id`.
    pub client: Arc<str>,
    /// Milliseconds.
    pub rebalance_ms: i32,
    /// Milliseconds.
    pub session_ms: i32,
    /// What it subscribes to.
    pub subscription: Subscription,
    /// What it is to read.
    pub assignment: SortedSet<Slot>,
}

/// What a record says; no value is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A group's offset in a partition.
    Offset(Arc<str>, Slot, Option<OffsetAndMetadata>),
    /// A classic group's state.
    Group(Arc<str>, Option<GroupMetadata>),
    /// A change of a group under the consumer protocol.
    Consumer(Arc<str>, Change),
}

impl Entry {
    /// As a record.
    pub fn to_record(&self, now_ms: i64, settings: &Settings) -> Record {
        let (key, value) = match self {
            Entry::Consumer(group, change) => (change.key(group), change.value(settings)),
            Entry::Offset(group, slot, value) => {
                let value = value.as_ref().map(|value| offset_value(value, slot, settings));
                (offset_key(group, slot), value)
            }
            Entry::Group(group, value) => (group_key(group), value.as_ref().map(group_value)),
        };
        Record::new(Some(&key), value.as_deref(), now_ms)
    }

    /// Back from a record; nothing if it is of another kind.
    pub fn parse(key: &[u8], value: Option<&[u8]>, settings: &Settings) -> Option<Entry> {
        let mut key = Reader(key);
        let mut value = value.map(Reader);
        match key.i16()? {
            0 | OFFSET_COMMIT => {
                let (group, topic, partition) = (key.text()?, key.text()?, key.i32()?);
                let partition = u32::try_from(partition).ok()?;
                let value = value
                    .as_mut()
                    .map(|value| value.offset())
                    .map_or(Some(None), |value| value.map(Some))?;
                Some(Entry::Offset(group, Slot { topic, partition }, value))
            }
            GROUP_METADATA => {
                let group = key.text()?;
                let value = value
                    .as_mut()
                    .map(|value| value.group())
                    .map_or(Some(None), |value| value.map(Some))?;
                Some(Entry::Group(group, value))
            }
            kind => {
                let group = key.text()?;
                let change = Change::parse(kind, &mut key, value, settings)?;
                Some(Entry::Consumer(group, change))
            }
        }
    }
}

fn offset_key(group: &str, slot: &Slot) -> Vec<u8> {
    let mut out = Writer::default();
    out.i16(OFFSET_COMMIT)
        .text(group)
        .text(&slot.topic)
        .i32(slot.partition as i32);
    out.0
}

fn offset_value(value: &OffsetAndMetadata, slot: &Slot, settings: &Settings) -> Vec<u8> {
    let mut topics = settings.topics.iter().rev();
    let topic = topics.find(|(_, topic)| topic.name == slot.topic);
    let mut out = Writer::default();
    out.i16(OFFSET_COMMIT_VALUE)
        .i64(value.offset)
        .i32(value.leader_epoch.unwrap_or(-1));
    // No metadata.
    out.compact("").i64(value.committed_ms);
    match topic {
        Some((id, _)) => out.tag(&id.uuid()),
        None => out.no_tags(),
    };
    out.0
}

fn group_key(group: &str) -> Vec<u8> {
    let mut out = Writer::default();
    out.i16(GROUP_METADATA).text(group);
    out.0
}

fn group_value(value: &GroupMetadata) -> Vec<u8> {
    let mut out = Writer::default();
    out.i16(GROUP_METADATA_VALUE)
        .text(&value.protocol_type)
        .i32(value.generation);
    out.maybe_text(value.protocol.as_deref())
        .maybe_text(value.leader.as_deref());
    out.i64(value.since_ms).i32(value.members.len() as i32);
    for member in &value.members {
        out.text(&member.member)
            .maybe_text(member.instance.as_deref())
            .text(&member.client)
            .text(HOST);
        out.i32(member.rebalance_ms).i32(member.session_ms);
        out.bytes(&subscription(&member.subscription))
            .bytes(&assignment(&member.assignment));
    }
    out.0
}

fn subscription(value: &Subscription) -> Vec<u8> {
    let mut out = Writer::default();
    out.i16(CONSUMER_PROTOCOL).i32(value.topics.len() as i32);
    value.topics.iter().for_each(|topic| {
        out.text(topic);
    });
    out.i32(-1).slots(&value.owned).i32(value.generation).maybe_text(None);
    out.0
}

fn assignment(slots: &SortedSet<Slot>) -> Vec<u8> {
    let mut out = Writer::default();
    out.i16(CONSUMER_PROTOCOL).slots(slots).i32(-1);
    out.0
}

impl Writer {
    /// Partitions, topic by topic.
    fn slots(&mut self, slots: &SortedSet<Slot>) -> &mut Self {
        let mut topics: SortedMap<&Arc<str>, Vec<u32>> = SortedMap::new();
        for slot in slots {
            topics.entry(&slot.topic).or_default().push(slot.partition);
        }
        self.i32(topics.len() as i32);
        for (topic, partitions) in topics {
            self.text(topic).i32(partitions.len() as i32);
            partitions.into_iter().for_each(|partition| {
                self.i32(partition as i32);
            });
        }
        self
    }
}

impl Reader<'_> {
    fn slots(&mut self) -> Option<SortedSet<Slot>> {
        let mut slots = SortedSet::new();
        for _ in 0..self.i32()? {
            let topic = self.text()?;
            for _ in 0..self.i32()? {
                let partition = u32::try_from(self.i32()?).ok()?;
                slots.insert(Slot {
                    topic: Arc::clone(&topic),
                    partition,
                });
            }
        }
        Some(slots)
    }

    fn offset(&mut self) -> Option<OffsetAndMetadata> {
        if self.i16()? != OFFSET_COMMIT_VALUE {
            return None;
        }
        let (offset, epoch) = (self.i64()?, self.i32()?);
        let _metadata = self.compact()?;
        let committed_ms = self.i64()?;
        let _topic = self.tag()?;
        Some(OffsetAndMetadata {
            offset,
            leader_epoch: (epoch >= 0).then_some(epoch),
            committed_ms,
        })
    }

    fn group(&mut self) -> Option<GroupMetadata> {
        let _version = self.i16()?;
        let protocol_type = self.text()?;
        let generation = self.i32()?;
        let (protocol, leader) = (self.maybe_text()?, self.maybe_text()?);
        let since_ms = self.i64()?;
        let members = (0..self.i32()?).map(|_| self.member()).collect::<Option<_>>()?;
        Some(GroupMetadata {
            protocol_type,
            generation,
            protocol,
            leader,
            since_ms,
            members,
        })
    }

    fn member(&mut self) -> Option<MemberMetadata> {
        let member = self.text()?;
        let instance = self.maybe_text()?;
        let client = self.text()?;
        let _host = self.text()?;
        let (rebalance_ms, session_ms) = (self.i32()?, self.i32()?);
        let (subscription, assignment) = (self.bytes()?.subscription()?, self.bytes()?.assignment()?);
        Some(MemberMetadata {
            member,
            instance,
            client,
            rebalance_ms,
            session_ms,
            subscription,
            assignment,
        })
    }

    fn subscription(mut self) -> Option<Subscription> {
        let _version = self.i16()?;
        let topics = (0..self.i32()?).map(|_| self.text()).collect::<Option<_>>()?;
        let _user_data = self.bytes()?;
        Some(Subscription {
            topics,
            owned: self.slots()?,
            generation: self.i32()?,
        })
    }

    fn assignment(mut self) -> Option<SortedSet<Slot>> {
        let _version = self.i16()?;
        self.slots()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ids::TopicId;
    use crate::cluster::settings::Topic;
    use crate::config::TopicConfig;

    fn slot(topic: &str, partition: u32) -> Slot {
        Slot {
            topic: topic.into(),
            partition,
        }
    }

    fn parsed(record: &Record) -> Option<Entry> {
        Entry::parse(record.key.as_deref()?, record.value.as_deref(), &Settings::default())
    }

    /// What a real coordinator wrote for a commit of offset 3, with the topic's id in the place of its own.
    #[test]
    fn a_commit_is_written_as_kafka_writes_it() {
        let topic = Topic {
            name: "t-k848a".into(),
            config: TopicConfig::default(),
            on_broker: Vec::new(),
            partitions: 2,
        };
        let settings = Settings {
            topics: [(TopicId(0), topic)].into(),
            ..Settings::default()
        };
        let value = OffsetAndMetadata {
            offset: 3,
            leader_epoch: Some(0),
            committed_ms: 1_796_006_092_669,
        };
        let entry = Entry::Offset("g1-k848a".into(), slot("t-k848a", 0), Some(value));
        let record = entry.to_record(9, &settings);
        let key = b"\x00\x01\x00\x08g1-k848a\x00\x07t-k848a\x00\x00\x00\x00";
        assert_eq!(record.key.as_deref(), Some(&key[..]));
        let mut value =
            b"\x00\x04\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x01\x00\x00\x01\xa2\x2a\x4e\x1f\x7d".to_vec();
        value.extend_from_slice(b"\x01\x00\x10");
        value.extend_from_slice(&TopicId(0).uuid());
        assert_eq!(record.value.as_deref(), Some(&value[..]));
        assert_eq!((parsed(&record), record.timestamp), (Some(entry), 9));
    }

    #[test]
    fn what_is_written_can_be_read() {
        let member = |id: &str| MemberMetadata {
            member: id.into(),
            instance: (id == "b").then(|| "i".into()),
            client: "c".into(),
            rebalance_ms: 300_000,
            session_ms: 45_000,
            subscription: Subscription {
                topics: ["t".into(), "u".into()].into(),
                owned: [slot("t", 1), slot("u", 0)].into(),
                generation: 4,
            },
            assignment: [slot("t", 0), slot("t", 1)].into(),
        };
        let group = GroupMetadata {
            protocol_type: CONSUMER.into(),
            generation: 5,
            protocol: Some("range".into()),
            leader: Some("a".into()),
            since_ms: 7,
            members: vec![member("a"), member("b")],
        };
        let entries = [
            Entry::Group("g".into(), Some(group)),
            Entry::Group("g".into(), Some(GroupMetadata::unjoined(7))),
            Entry::Group("g".into(), None),
            Entry::Offset("g".into(), slot("t", 0), None),
        ];
        for entry in entries {
            assert_eq!(parsed(&entry.to_record(0, &Settings::default())), Some(entry));
        }
    }

    #[test]
    fn bytes_that_end_too_early_are_nothing() {
        let entry = Entry::Group("g".into(), Some(GroupMetadata::unjoined(0)));
        let record = entry.to_record(0, &Settings::default());
        let (key, value) = (record.key.unwrap_or_default(), record.value.unwrap_or_default());
        for end in 0..value.len() {
            assert_eq!(
                Entry::parse(&key, Some(&value[..end]), &Settings::default()),
                None,
                "{end}"
            );
        }
        for end in 0..key.len() {
            assert_eq!(
                Entry::parse(&key[..end], Some(&value), &Settings::default()),
                None,
                "{end}"
            );
        }
    }
}
