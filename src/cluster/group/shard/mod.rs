//! One partition of `__consumer_offsets` at its leader: the groups that belong to it.
//!
//! What is decided takes effect at once for the group's own protocol; offsets are told to others only when their record is
//! replicated, and so is an answer to who wrote it. Mirrors `GroupCoordinatorShard` and `CoordinatorRuntime`.

mod expiry;
mod following;
mod writes;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Slot;
use crate::cluster::event::Departure;
use crate::cluster::ids::{ClientId, GroupId, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::message::Correlation;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, Settings, from_millis};
use crate::log::{Batch, Encoder, Errors, Fingerprint};
use crate::sorted::SortedMap;

use super::classic::ClassicGroup;
use super::consumer::Around;
use super::kind::GroupKind;
use super::out::{Out, Then, broker};
use super::protocol::{GroupRequest, GroupResponse, JoinGroup, MemberId, Remembered, Standing};
use super::record::{Entry, GroupMetadata, OffsetAndMetadata};
use following::remove;

/// A group with its commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its members and their protocol.
    pub kind: GroupKind,
    /// Its commits, as far as they are replicated.
    pub offsets: SortedMap<Slot, OffsetAndMetadata>,
}

/// A write that is not replicated yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pending {
    /// The offset of its last record.
    last: i64,
    /// When it has taken too long, if anybody waits for it.
    until: Option<Micros>,
    entries: Vec<Entry>,
    then: Then,
}

/// When a shard must be looked at again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// A member's session ends.
    pub session: Option<Micros>,
    /// A group has waited long enough.
    pub rebalance: Option<Micros>,
    /// A write has taken too long.
    pub write: Option<Micros>,
    /// Commits expire.
    pub expiry: Option<Micros>,
}

/// A partition's coordinator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shard {
    groups: SortedMap<GroupId, Group>,
    pending: VecDeque<Pending>,
    /// When the partition was loaded: the looks for expired commits count from here.
    loaded: Micros,
    /// What is armed for it; follows from the rest.
    pub armed: Deadlines,
}

impl Shard {
    /// A partition that no group belonged to so far.
    pub fn new(now: Micros) -> Shard {
        Shard {
            loaded: now,
            ..Shard::default()
        }
    }

    /// What the log of the partition says. What is above the high watermark is still to be replicated.
    pub fn load<'a>(batches: impl Iterator<Item = &'a Batch>, start: i64, watermark: i64, cx: &Cx<'_>) -> Shard {
        let mut shard = Shard::new(cx.now);
        for batch in batches.filter(|batch| !batch.is_control()) {
            let entries = entries(batch, start, cx.settings);
            if batch.last_offset() < watermark {
                shard.take_in(&entries, cx);
                continue;
            }
            let of_members = |entry: &&Entry| !matches!(entry, Entry::Offset(..));
            let of_members: Vec<Entry> = entries.iter().filter(of_members).cloned().collect();
            shard.take_in(&of_members, cx);
            shard.pending.push_back(Pending {
                last: batch.last_offset(),
                until: None,
                entries,
                then: Then::Nothing,
            });
        }
        for group in shard.groups.values_mut() {
            if let GroupKind::Consumer(consumer) = &mut group.kind {
                consumer.loaded(cx.now);
            }
        }
        shard
    }

    /// The group, if it is known.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &Group)> + '_ {
        self.groups.iter().map(|(id, group)| (*id, group))
    }

    /// The group; one that does not exist is made, under the classic protocol.
    fn group_mut(&mut self, id: GroupId) -> &mut Group {
        let group = self.groups.entry(id).or_insert_with(|| Group {
            kind: GroupKind::Gone,
            offsets: SortedMap::new(),
        });
        if group.kind == GroupKind::Gone {
            group.kind = GroupKind::Classic(ClassicGroup::new(id));
        }
        group
    }

    /// The group's members, if they speak the classic protocol.
    fn classic_mut(&mut self, id: GroupId) -> Option<&mut ClassicGroup> {
        match &mut self.groups.get_mut(&id)?.kind {
            GroupKind::Classic(group) => Some(group),
            GroupKind::Consumer(_) | GroupKind::Gone => None,
        }
    }

    /// Whether the group exists.
    fn knows(&self, id: GroupId) -> bool {
        self.groups.get(&id).is_some_and(|group| group.kind != GroupKind::Gone)
    }

    /// Handles a request of a member, or of somebody who may become one.
    pub fn serve(
        &mut self,
        from: ClientId,
        id: Correlation,
        request: GroupRequest,
        image: &Image,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) {
        let request = if cx.holds(Rule::GroupStatic) {
            request
        } else {
            request.unnamed()
        };
        match request {
            GroupRequest::Join(join) => {
                if let Err(error) = self.may_join(&join, cx) {
                    return out.reply(from, id, GroupRequest::Join(join).refused(error));
                }
                self.join(from, id, join, out, cx);
            }
            GroupRequest::ConsumerBeat(beat) => {
                if let Err(error) = self.beat(from, id, &beat, image, out, cx) {
                    out.reply(from, id, GroupResponse::ConsumerBeat(Err(error)));
                }
            }
            GroupRequest::Commit(standing, offsets) => match self.commit(&standing, offsets, image, cx) {
                Ok(entries) => out.write(entries, Then::Answer(from, id)),
                Err(error) => out.reply(from, id, GroupResponse::Commit(Some(error))),
            },
            GroupRequest::FetchOffsets(standing, wanted) => {
                let found = self.remembered(&standing, wanted);
                out.reply(from, id, GroupResponse::FetchOffsets(found));
            }
            other => {
                let group = other.group();
                let Some(classic) = self.classic_mut(group) else {
                    return out.reply(from, id, other.refused(Errors::UnknownMemberId));
                };
                match other {
                    GroupRequest::Sync(standing, shares) => classic.sync(id, from, &standing, shares, out, cx),
                    GroupRequest::Heartbeat(standing, every) => {
                        let answer = classic.heartbeat(&standing, every, cx);
                        out.reply(from, id, GroupResponse::Heartbeat(answer));
                    }
                    GroupRequest::Leave(standing) => {
                        let answer = classic.leave(&standing, out, cx);
                        out.reply(from, id, GroupResponse::Leave(answer));
                    }
                    _ => {}
                }
            }
        }
    }

    /// What is looked at before the group is.
    fn may_join(&self, join: &JoinGroup, cx: &Cx<'_>) -> Result<(), Errors> {
        let config = cx.settings.broker(broker(cx));
        let bounds =
            from_millis(config.group_min_session_timeout_ms)..=from_millis(config.group_max_session_timeout_ms);
        let group = self.groups.get(&join.group).map(|group| &group.kind);
        match group {
            _ if !bounds.contains(&join.session) => Err(Errors::InvalidSessionTimeout),
            Some(GroupKind::Consumer(consumer)) if !consumer.is_empty() => Err(Errors::InconsistentGroupProtocol),
            Some(GroupKind::Consumer(_) | GroupKind::Gone) | None if !join.member.is_empty() => {
                Err(Errors::UnknownMemberId)
            }
            _ => Ok(()),
        }
    }

    /// A member joins by the classic protocol. A group without members takes it; one that is new writes that it is there.
    fn join(&mut self, from: ClientId, id: Correlation, join: JoinGroup, out: &mut Out, cx: &mut Cx<'_>) {
        let (group, name) = (join.group, cx.settings.group(join.group));
        let mut entries = Vec::new();
        if let Some(Group { kind, .. }) = self.groups.get_mut(&group)
            && matches!(kind, GroupKind::Consumer(_))
        {
            entries = kind.tombstones(name);
            *kind = GroupKind::Gone;
        }
        if !self.knows(group) {
            let metadata = GroupMetadata::unjoined(cx.wall_ms());
            entries.push(Entry::Group(Arc::clone(name), Some(metadata)));
        }
        if let GroupKind::Classic(classic) = &mut self.group_mut(group).kind {
            classic.join(from, id, join, out, cx);
        }
        if !entries.is_empty() {
            out.write(entries, Then::Nothing);
        }
    }

    /// What a commit writes.
    ///
    /// # Errors
    /// Who may not commit is told why.
    pub fn commit(
        &mut self,
        standing: &Standing,
        offsets: Vec<(Slot, i64, Option<i32>)>,
        image: &Image,
        cx: &Cx<'_>,
    ) -> Result<Vec<Entry>, Errors> {
        if standing.epoch >= 0 && !self.knows(standing.group) {
            return Err(Errors::GroupIdNotFound);
        }
        match &mut self.group_mut(standing.group).kind {
            GroupKind::Gone => {}
            GroupKind::Classic(classic) => classic.may_commit(standing, cx)?,
            GroupKind::Consumer(consumer) => {
                let around = Around::of(cx, image);
                let partition = |slot: &Slot| {
                    let (topic, _) = around.topic(&slot.topic)?;
                    let partition = slot.partition;
                    Some(TopicPartition { topic, partition })
                };
                consumer.may_commit(standing, offsets.iter().map(|(slot, ..)| partition(slot)), &around)?;
            }
        }
        let name = cx.settings.group(standing.group);
        let committed_ms = cx.wall_ms();
        let entry = |(slot, offset, leader_epoch)| {
            let value = OffsetAndMetadata {
                offset,
                leader_epoch,
                committed_ms,
            };
            Entry::Offset(Arc::clone(name), slot, Some(value))
        };
        Ok(offsets.into_iter().map(entry).collect())
    }

    fn remembered(&self, standing: &Standing, wanted: Vec<Slot>) -> Result<Vec<(Slot, Remembered)>, Errors> {
        let group = self.groups.get(&standing.group);
        if let Some(GroupKind::Consumer(consumer)) = group.map(|group| &group.kind) {
            consumer.may_fetch_offsets(standing)?;
        }
        let find = |slot: Slot| {
            let found = group.and_then(|group| group.offsets.get(&slot));
            let found = found.map(|found| (found.offset, found.leader_epoch));
            (slot, found)
        };
        Ok(wanted.into_iter().map(find).collect())
    }

    /// A member is not heard any more.
    pub fn silence(&mut self, group: GroupId, member: &MemberId, cx: &Cx<'_>) {
        let config = cx.settings.broker(broker(cx));
        if let Some(group) = self.groups.get_mut(&group) {
            group.kind.silence(member, config, cx.now);
        }
    }

    /// Sessions have ended.
    pub fn end_sessions(&mut self, image: &Image, out: &mut Out, cx: &mut Cx<'_>) {
        let now = cx.now;
        for (id, group) in &mut self.groups {
            if group.kind.session_due().is_none_or(|due| due > now) {
                continue;
            }
            match &mut group.kind {
                GroupKind::Classic(classic) => classic.end_sessions(out, cx),
                GroupKind::Gone => {}
                GroupKind::Consumer(consumer) if !cx.holds(Rule::GroupSession) => consumer.hear_all(now),
                GroupKind::Consumer(consumer) => {
                    let member = consumer.overdue_session(now).cloned();
                    remove(*id, consumer, member, Departure::SessionEnded, image, out, cx);
                }
            }
        }
    }

    /// Groups have waited long enough.
    pub fn end_waits(&mut self, image: &Image, out: &mut Out, cx: &mut Cx<'_>) {
        let now = cx.now;
        for (id, group) in &mut self.groups {
            if group.kind.rebalance_due().is_none_or(|due| due > now) {
                continue;
            }
            match &mut group.kind {
                GroupKind::Gone => {}
                GroupKind::Classic(classic) => classic.end_wait(out, cx),
                GroupKind::Consumer(consumer) => {
                    let member = consumer.overdue_revocation(now).cloned();
                    remove(*id, consumer, member, Departure::DidNotRevoke, image, out, cx);
                }
            }
        }
    }

    /// Takes in what is written.
    fn take_in(&mut self, entries: &[Entry], cx: &Cx<'_>) {
        for entry in entries {
            let (Entry::Offset(name, ..) | Entry::Group(name, _) | Entry::Consumer(name, _)) = entry;
            let Some(id) = cx.settings.group_named(name) else {
                continue;
            };
            match entry {
                Entry::Offset(_, slot, Some(value)) => {
                    self.group_mut(id).offsets.insert(slot.clone(), *value);
                }
                Entry::Offset(_, slot, None) => {
                    if let Some(group) = self.groups.get_mut(&id) {
                        group.offsets.remove(slot);
                    }
                    self.drop_if_gone(id);
                }
                Entry::Group(_, Some(stored)) => {
                    self.group_mut(id).kind = GroupKind::Classic(ClassicGroup::load(id, stored, cx));
                }
                Entry::Group(_, None) => {
                    if self.classic_mut(id).is_some() {
                        self.forget(id);
                    }
                }
                Entry::Consumer(_, change) => self.read(id, change, cx),
            }
        }
    }

    /// A group exists no longer; its commits go with the records that take them away.
    fn forget(&mut self, id: GroupId) {
        if let Some(group) = self.groups.get_mut(&id) {
            group.kind = GroupKind::Gone;
        }
        self.drop_if_gone(id);
    }

    fn drop_if_gone(&mut self, id: GroupId) {
        let gone = |group: &Group| group.kind == GroupKind::Gone && group.offsets.is_empty();
        self.groups.retain(|at, group| *at != id || !gone(group));
    }

    /// When it must be looked at again.
    pub fn deadlines(&self, cx: &Cx<'_>) -> Deadlines {
        let groups = || self.groups.values();
        Deadlines {
            session: groups().filter_map(|group| group.kind.session_due()).min(),
            rebalance: groups().filter_map(|group| group.kind.rebalance_due()).min(),
            write: self.pending.iter().filter_map(|write| write.until).min(),
            expiry: self.expiry(cx),
        }
    }

    /// Adds what depends on the clock to a canonical encoding, relative to now.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        for group in self.groups.values() {
            group.kind.encode_times(now, encoder);
        }
        for write in &self.pending {
            encoder.option(write.until, |encoder, until| encoder.u64(until.saturating_sub(now)));
        }
    }
}

impl Fingerprint for Shard {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.groups.len());
        for (id, group) in &self.groups {
            encoder.u16(id.0);
            group.kind.encode(encoder);
            encoder.len(group.offsets.len());
            for (slot, value) in &group.offsets {
                encoder.str(&slot.topic);
                encoder.u32(slot.partition);
                encoder.i64(value.offset);
                encoder.option(value.leader_epoch, Encoder::i32);
                encoder.i64(value.committed_ms);
            }
        }
        encoder.len(self.pending.len());
        for write in &self.pending {
            encoder.i64(write.last);
            encoder.str(&format!("{:?}", write.entries));
            match &write.then {
                Then::Nothing => encoder.u8(0),
                Then::Answer(client, _) => {
                    encoder.u8(1);
                    encoder.u16(client.0);
                }
                Then::Assign { group, generation, .. } => {
                    encoder.u8(2);
                    encoder.u16(group.0);
                    encoder.i32(*generation);
                }
                Then::Beaten { client, beaten, .. } => {
                    encoder.u8(3);
                    encoder.u16(client.0);
                    encoder.i32(beaten.epoch);
                }
                Then::Remove(group, member) => {
                    encoder.u8(4);
                    encoder.u16(group.0);
                    encoder.str(member);
                }
                Then::Replaced { group, member, before } => {
                    encoder.u8(5);
                    encoder.u16(group.0);
                    encoder.str(member);
                    encoder.str(&before.0);
                }
            }
        }
    }
}

/// What the records of a batch say, from an offset on.
fn entries(batch: &Batch, start: i64, settings: &Settings) -> Vec<Entry> {
    let records = batch.records().filter(|record| record.offset >= start);
    records
        .filter_map(|record| Entry::parse(record.key?, record.value, settings))
        .collect()
}
