//! One partition of `__consumer_offsets` at its leader: the groups that belong to it.
//!
//! What is decided takes effect at once for the group's own protocol; offsets are told to others only when their record is
//! replicated, and so is an answer to who wrote it. Mirrors `GroupCoordinatorShard` and `CoordinatorRuntime`.

mod following;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Slot;
use crate::cluster::event::{Departure, What};
use crate::cluster::ids::{ClientId, GroupId, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::message::Correlation;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, Settings};
use crate::log::{Batch, Encoder, Errors, Fingerprint};
use crate::sorted::SortedMap;

use super::classic::{ClassicGroup, millis};
use super::consumer::Around;
use super::kind::GroupKind;
use super::out::{Out, Then, Write, broker};
use super::protocol::{GroupRequest, GroupResponse, JoinGroup, MemberId, Remembered, Standing};
use super::record::{Entry, GroupMetadata, OffsetAndMetadata};
use following::{is_change, remove};

/// How long after a failure the removal of a member is tried again.
const REMOVAL_BACKOFF: Micros = 500_000;

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

    /// A group's commits as they are written, replicated or not.
    fn written_offsets(&self, id: GroupId, cx: &Cx<'_>) -> SortedMap<Slot, OffsetAndMetadata> {
        let replicated = self.groups.get(&id).map(|group| &group.offsets);
        let mut offsets = replicated.cloned().unwrap_or_default();
        let name = cx.settings.group(id);
        for entry in self.pending.iter().flat_map(|write| &write.entries) {
            match entry {
                Entry::Offset(of, slot, Some(value)) if of == name => {
                    offsets.insert(slot.clone(), *value);
                }
                Entry::Offset(of, slot, None) if of == name => {
                    offsets.remove(slot);
                }
                _ => {}
            }
        }
        offsets
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
        let bounds = millis(config.group_min_session_timeout_ms)..=millis(config.group_max_session_timeout_ms);
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

    /// A write stands in the log up to this offset, and is not replicated yet.
    pub fn written(&mut self, write: Write, last: i64, cx: &Cx<'_>) {
        let timeout = cx.settings.broker(broker(cx)).offsets_commit_timeout_ms;
        let of_members: Vec<Entry> = write.entries.iter().filter(|entry| is_change(entry)).cloned().collect();
        self.take_in(&of_members, cx);
        self.hear(&write.then, cx.now);
        let awaited = !matches!(write.then, Then::Nothing | Then::Remove(..));
        self.pending.push_back(Pending {
            last,
            until: awaited.then(|| cx.now + timeout.max(0) as Micros * 1_000),
            entries: write.entries,
            then: write.then,
        });
    }

    /// A write could not be appended.
    pub fn not_written(&mut self, write: Write, error: Errors, out: &mut Out, cx: &mut Cx<'_>) {
        self.fail(write.then, coordinator_error(error), out, cx);
    }

    /// Everything below this offset is replicated.
    pub fn replicated(&mut self, watermark: i64, out: &mut Out, cx: &mut Cx<'_>) {
        while self.pending.front().is_some_and(|write| write.last < watermark) {
            let Some(write) = self.pending.pop_front() else { return };
            let offsets = |entry: &&Entry| matches!(entry, Entry::Offset(..));
            let entries: Vec<Entry> = write.entries.iter().filter(offsets).cloned().collect();
            self.take_in(&entries, cx);
            self.tell_commit(&entries, &write.then, cx);
            match write.then {
                Then::Nothing | Then::Remove(..) => {}
                Then::Answer(client, id) => out.reply(client, id, GroupResponse::Commit(None)),
                Then::Beaten { client, id, beaten, .. } => {
                    out.reply(client, id, GroupResponse::ConsumerBeat(Ok(beaten)));
                }
                Then::Replaced { group, member, .. } => {
                    if let Some(classic) = self.classic_mut(group) {
                        classic.replaced(&member, out);
                    }
                }
                Then::Assign {
                    group,
                    generation,
                    shares,
                } => {
                    if let Some(classic) = self.classic_mut(group) {
                        classic.assigned(generation, &shares, out, cx);
                    }
                }
            }
        }
    }

    fn tell_commit(&self, entries: &[Entry], then: &Then, cx: &mut Cx<'_>) {
        let Some(Entry::Offset(name, ..)) = entries.first() else {
            return;
        };
        let Some(group) = cx.settings.group_named(name) else {
            return;
        };
        let offset = |entry: &Entry| match entry {
            Entry::Offset(_, slot, value) => {
                Some((Arc::clone(&slot.topic), slot.partition, value.map(|value| value.offset)))
            }
            Entry::Group(..) | Entry::Consumer(..) => None,
        };
        let client = match then {
            Then::Answer(client, _) => Some(*client),
            _ => None,
        };
        let (broker, offsets) = (broker(cx), entries.iter().filter_map(offset).collect());
        cx.say(Rule::OffsetCommit, || What::OffsetsCommitted {
            broker,
            group,
            client,
            offsets,
        });
    }

    /// Writes that have taken too long: whoever waits is told, and the records stay.
    pub fn end_writes(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let now = cx.now;
        let mut late = Vec::new();
        for write in &mut self.pending {
            if write.until.is_some_and(|until| until <= now) {
                write.until = None;
                late.push(std::mem::replace(&mut write.then, Then::Nothing));
            }
        }
        for then in late {
            self.fail(then, Errors::CoordinatorNotAvailable, out, cx);
        }
    }

    fn fail(&mut self, then: Then, error: Errors, out: &mut Out, cx: &mut Cx<'_>) {
        match then {
            Then::Nothing => {}
            Then::Answer(client, id) => out.reply(client, id, GroupResponse::Commit(Some(error))),
            Then::Beaten { client, id, .. } => out.reply(client, id, GroupResponse::ConsumerBeat(Err(error))),
            Then::Remove(group, member) => {
                if let Some(group) = self.consumer_mut(group) {
                    group.put_off(&member, cx.now + REMOVAL_BACKOFF);
                }
            }
            Then::Replaced { group, member, before } => {
                if let Some(classic) = self.classic_mut(group) {
                    classic.not_replaced(&member, *before, error, out);
                }
            }
            Then::Assign { group, generation, .. } => {
                if let Some(classic) = self.classic_mut(group) {
                    classic.not_assigned(generation, error, out, cx);
                }
            }
        }
    }

    /// This broker does not lead the partition any more: whoever waits is sent elsewhere.
    pub fn resign(&mut self, out: &mut Out) {
        for write in self.pending.drain(..) {
            let error = Errors::NotCoordinator;
            match write.then {
                Then::Answer(client, id) => out.reply(client, id, GroupResponse::Commit(Some(error))),
                Then::Beaten { client, id, .. } => out.reply(client, id, GroupResponse::ConsumerBeat(Err(error))),
                // The group answers them itself.
                Then::Replaced { .. } | Then::Assign { .. } => {}
                Then::Nothing | Then::Remove(..) => {}
            }
        }
        for group in self.groups.values_mut() {
            if let GroupKind::Classic(classic) = &mut group.kind {
                classic.resign(out);
            }
        }
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

    /// Removes commits that have expired, and groups that nothing is left of.
    pub fn expire(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        if !cx.holds(Rule::OffsetsExpire) {
            return;
        }
        let (now_ms, retention) = (cx.wall_ms(), retention_ms(cx));
        for (id, group) in &self.groups {
            let (name, offsets) = (cx.settings.group(*id), self.written_offsets(*id, cx));
            let expired = offsets.iter().filter(|(slot, value)| {
                let from = group.kind.ages_from(&slot.topic, value.committed_ms);
                from.is_some_and(|from| now_ms - from >= retention)
            });
            let mut entries: Vec<Entry> = expired
                .map(|(slot, _)| Entry::Offset(Arc::clone(name), slot.clone(), None))
                .collect();
            let (broker, group_id, gone) = (broker(cx), *id, entries.len() as u32);
            if gone > 0 {
                cx.say(Rule::OffsetsExpire, || What::OffsetsExpired {
                    broker,
                    group: group_id,
                    partitions: gone,
                });
            }
            if entries.len() == offsets.len() && group.kind.is_empty() {
                entries.extend(group.kind.tombstones(name));
            }
            if !entries.is_empty() {
                out.write(entries, Then::Nothing);
            }
        }
    }

    /// Topics were deleted, and the commits in them with them.
    pub fn forget_topics(&mut self, topics: &[Arc<str>], out: &mut Out, cx: &Cx<'_>) {
        for id in self.groups.keys() {
            let (name, offsets) = (cx.settings.group(*id), self.written_offsets(*id, cx));
            let gone = offsets.keys().filter(|slot| topics.contains(&slot.topic));
            let entries: Vec<Entry> = gone
                .map(|slot| Entry::Offset(Arc::clone(name), slot.clone(), None))
                .collect();
            if !entries.is_empty() {
                out.write(entries, Then::Nothing);
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

    /// The first look that will find something to forget: expired commits, or a group of which nothing is left.
    fn expiry(&self, cx: &Cx<'_>) -> Option<Micros> {
        let retention = retention_ms(cx);
        let every = cx
            .settings
            .broker(broker(cx))
            .offsets_retention_check_interval_ms
            .max(1) as Micros
            * 1_000;
        let oldest = self
            .groups
            .values()
            .filter_map(|group| group.forgotten_from(retention))
            .min()?;
        let expires = virtual_time(oldest, cx.settings).max(self.loaded + every);
        let ticks = (expires - self.loaded).div_ceil(every);
        let due = self.loaded + ticks * every;
        // A look that is due now has just been taken.
        Some(if due <= cx.now {
            self.loaded + ((cx.now - self.loaded) / every + 1) * every
        } else {
            due
        })
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

impl Group {
    /// From which wall clock on, in milliseconds, a look finds something of it to forget, after commits are kept this long.
    fn forgotten_from(&self, retention: i64) -> Option<i64> {
        if self.offsets.is_empty() {
            return self.kind.is_empty().then_some(i64::MIN);
        }
        let commits = self.offsets.iter();
        let from = commits.filter_map(|(slot, value)| self.kind.ages_from(&slot.topic, value.committed_ms));
        from.min().map(|from| from.saturating_add(retention))
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

fn retention_ms(cx: &Cx<'_>) -> i64 {
    cx.settings
        .broker(broker(cx))
        .offsets_retention_minutes
        .saturating_mul(60_000)
}

/// The virtual time of a wall clock; what lies before the start is the start.
fn virtual_time(ms: i64, settings: &Settings) -> Micros {
    Micros::try_from(ms.saturating_sub(settings.clock_ms))
        .unwrap_or(0)
        .saturating_mul(1_000)
}

/// What an error of the log means to a member.
fn coordinator_error(error: Errors) -> Errors {
    match error {
        Errors::NotLeaderOrFollower | Errors::KafkaStorageError => Errors::NotCoordinator,
        Errors::UnknownTopicOrPartition | Errors::NotEnoughReplicas | Errors::RequestTimedOut => {
            Errors::CoordinatorNotAvailable
        }
        other => other,
    }
}
