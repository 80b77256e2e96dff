//! A group under the consumer protocol (KIP-848): the coordinator assigns, and each member moves at its own pace.
//!
//! A change of members, subscriptions or partitions raises the group's epoch; the coordinator computes a target assignment
//! for it; each member is led there by the answers to its heartbeats. So a member that keeps what it has does not stop for
//! a rebalance. The group changes by nothing but the records that it writes: a decision is a list of [`Change`]s, and
//! reading them is how they take effect, in the coordinator that wrote them and in the next. Mirrors `ConsumerGroup`,
//! `TargetAssignmentBuilder` and the consumer half of `GroupMetadataManager`.
//!
//! Heartbeats that change nothing never travel: [`ConsumerGroup::news_at`] says when one would.
//!
//! A static member (`group.instance.id`) that says that it will be back stays a member with what it has; whoever comes under
//! its name takes its place. While it has not said so, its name is taken.
//!
//! Deliberately absent: subscriptions by pattern, `group.consumer.max.size`, and groups with members of both
//! protocols: as with `group.consumer.migration.policy=disabled`, one of the other kind is refused.

mod around;
mod member;
mod reconcile;
mod record;
#[cfg(test)]
mod tests;

pub use around::Around;
pub use member::{Assigned, Member, MemberState, Place, Told};
pub use record::Change;
pub(super) use record::server_name;

use std::sync::Arc;

use crate::cluster::assignor::{self, Assignor, Slot};
use crate::cluster::ids::{ClientId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::config::BrokerConfig;
use crate::log::{Encoder, Errors};
use crate::sorted::{SortedMap, SortedSet};

use super::classic::Contact;
use super::protocol::{AWAY, Beaten, ConsumerBeat, InstanceId, MemberId, Standing};
use reconcile::{Target, next};

/// What a group decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// What it writes.
    pub changes: Vec<Change>,
    /// The assignor, if a target assignment is among that.
    pub assigned_by: Option<Assignor>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroup {
    epoch: i32,
    hash: i64,
    target_epoch: i32,
    /// When the target assignment was computed, wall clock in milliseconds; 0 for never.
    assigned_ms: i64,
    target: SortedMap<MemberId, SortedSet<TopicPartition>>,
    members: SortedMap<MemberId, Member>,
    /// Places that were read before anything else of their members: in a log that was cleaned, what a member has said of
    /// itself last may stand behind where it has come to. Empty once a log is read.
    ahead: SortedMap<MemberId, Place>,
}

impl Default for ConsumerGroup {
    fn default() -> ConsumerGroup {
        ConsumerGroup {
            epoch: 1,
            hash: 0,
            target_epoch: 1,
            assigned_ms: 0,
            target: SortedMap::new(),
            members: SortedMap::new(),
            ahead: SortedMap::new(),
        }
    }
}

impl ConsumerGroup {
    /// The members.
    pub fn members(&self) -> impl Iterator<Item = (&MemberId, &Member)> + '_ {
        self.members.iter()
    }

    /// The group's epoch.
    pub fn epoch(&self) -> i32 {
        self.epoch
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The state's name, as Kafka's tools show it.
    pub fn state(&self) -> &'static str {
        let arrived = |member: &Member| member.place.has_reached(self.target_epoch);
        if self.members.is_empty() {
            "Empty"
        } else if self.epoch > self.target_epoch {
            "Assigning"
        } else if self.members.values().all(arrived) {
            "Stable"
        } else {
            "Reconciling"
        }
    }

    /// Whether any member subscribes to a topic.
    pub fn subscribes_to(&self, topic: &Arc<str>) -> bool {
        self.members.values().any(|member| member.told.topics.contains(topic))
    }

    /// Answers a heartbeat of a member, or of one that joins.
    ///
    /// # Errors
    /// Kafka's answer to who is no member or has missed something.
    pub fn beat(&self, from: ClientId, beat: &ConsumerBeat, around: &Around<'_>) -> Result<(Decision, Beaten), Errors> {
        let named = beat
            .by
            .instance
            .as_ref()
            .and_then(|instance| self.static_member(instance));
        match named {
            Some((old, member)) if beat.by.epoch == 0 => {
                if member.place.epoch != AWAY {
                    return Err(Errors::UnreleasedInstanceId);
                }
                let changes = self.replace(old, member, &beat.by.member);
                let mut group = self.clone();
                for change in &changes {
                    group.read(change, around.now, around.config());
                }
                group.beat_as(from, beat, changes, around)
            }
            None if beat.by.epoch == 0 => self.beat_as(from, beat, Vec::new(), around),
            _ => {
                self.validate(&beat.by)?;
                self.beat_as(from, beat, Vec::new(), around)
            }
        }
    }

    /// The static member of this name.
    fn static_member(&self, instance: &InstanceId) -> Option<(&MemberId, &Member)> {
        let named = |member: &Member| member.told.instance.as_ref() == Some(instance);
        self.members.iter().find(|(_, member)| named(member))
    }

    /// Whether there is a static member of this name.
    pub fn has_static(&self, instance: &InstanceId) -> bool {
        self.static_member(instance).is_some()
    }

    /// Whether this is a member, and under its own name the one that counts.
    fn validate(&self, by: &Standing) -> Result<(), Errors> {
        match by.instance.as_ref().map(|instance| self.static_member(instance)) {
            Some(Some((id, _))) if *id != by.member => Err(Errors::FencedInstanceId),
            Some(None) => Err(Errors::UnknownMemberId),
            _ if !self.members.contains_key(&by.member) => Err(Errors::UnknownMemberId),
            _ => Ok(()),
        }
    }

    /// A static member has come back under another id: all that was kept for it is kept under that.
    fn replace(&self, old: &MemberId, member: &Member, new: &MemberId) -> Vec<Change> {
        let target = self.target.get(old).cloned().unwrap_or_default();
        let mut changes = Self::removal(old);
        changes.extend([
            Change::Member(Arc::clone(new), Some(member.told.clone())),
            Change::Target(Arc::clone(new), Some(target)),
            Change::Current(Arc::clone(new), Some(member.place.back())),
        ]);
        changes
    }

    /// A member is no longer one.
    fn removal(id: &MemberId) -> Vec<Change> {
        vec![
            Change::Current(Arc::clone(id), None),
            Change::Target(Arc::clone(id), None),
            Change::Member(Arc::clone(id), None),
        ]
    }

    /// Answers a heartbeat of a member that is who it says, or of one that joins, after these changes.
    fn beat_as(
        &self,
        from: ClientId,
        beat: &ConsumerBeat,
        changes: Vec<Change>,
        around: &Around<'_>,
    ) -> Result<(Decision, Beaten), Errors> {
        let id = &beat.by.member;
        let joins = beat.by.epoch == 0;
        let known = self.members.get(id);
        let new = Place::NEW;
        let before = known.map_or(&new, |member| &member.place);
        if !joins && around.holds(Rule::GroupMemberEpoch) {
            check_epoch(before, beat)?;
        }
        let told = told(known.map(|member| &member.told), from, beat);
        let mut decision = Decision {
            changes,
            assigned_by: None,
        };
        if known.is_none_or(|member| member.told != told) {
            decision
                .changes
                .push(Change::Member(Arc::clone(id), Some(told.clone())));
        }
        let epoch = self.raise_epoch(id, &told, around, &mut decision);
        let target = self.aim(id, &told, epoch, around, &mut decision);
        let place = self.move_on(id, before, &target, beat.owned.as_ref(), around);
        if place != *before {
            decision
                .changes
                .push(Change::Current(Arc::clone(id), Some(place.clone())));
        }
        let shown = joins || beat.is_full() || place.assigned != before.assigned;
        let beaten = Beaten {
            epoch: place.epoch,
            every: from_millis(around.config().group_consumer_heartbeat_interval_ms),
            assignment: shown.then(|| place.assigned.keys().copied().collect()),
        };
        Ok((decision, beaten))
    }

    /// The group's epoch after a member has said this of itself: it grows with every change that an assignment hangs on.
    fn raise_epoch(&self, id: &MemberId, told: &Told, around: &Around<'_>, decision: &mut Decision) -> i32 {
        let before = self.members.get(id).map(|member| &member.told);
        let topics = self.topics_with(id, Some(&told.topics));
        let hash = around.hash(&topics);
        let subscription = before.map(|before| &before.topics) != Some(&told.topics);
        let assignor = self.preferred(id, before) != self.preferred(id, Some(told));
        if !(subscription || assignor || hash != self.hash) || !around.holds(Rule::GroupEpoch) {
            return self.epoch;
        }
        decision.changes.push(Change::Epoch(Some((self.epoch + 1, hash))));
        self.epoch + 1
    }

    /// What the member is to read in the end. A new target assignment is computed for a new epoch, but not too soon after
    /// the one before.
    fn aim(&self, id: &MemberId, told: &Told, epoch: i32, around: &Around<'_>, decision: &mut Decision) -> Target {
        let may = around.holds(Rule::GroupTarget) && self.assigns_from(around) <= around.wall_ms();
        if self.target_epoch >= epoch || !may {
            return Target {
                epoch: self.target_epoch,
                partitions: self.existing(self.target.get(id).cloned().unwrap_or_default(), told, around),
            };
        }
        let assignor = self.preferred(id, Some(told)).unwrap_or(Assignor::Uniform);
        let mut target = self.assign(assignor, id, told, around);
        for (member, partitions) in &target {
            if self.target.get(member) != Some(partitions) {
                let change = Change::Target(Arc::clone(member), Some(partitions.clone()));
                decision.changes.push(change);
            }
        }
        decision
            .changes
            .push(Change::TargetEpoch(Some((epoch, around.wall_ms()))));
        decision.assigned_by = Some(assignor);
        Target {
            epoch,
            partitions: target.remove(id).unwrap_or_default(),
        }
    }

    /// The first wall clock at which the next target assignment may be computed.
    fn assigns_from(&self, around: &Around<'_>) -> i64 {
        let never = self.assigned_ms == 0 || !around.holds(Rule::GroupTargetInterval);
        let interval = around.config().group_consumer_assignment_interval_ms;
        if never { 0 } else { self.assigned_ms + interval }
    }

    /// Only partitions of topics that exist and that the member subscribes to.
    fn existing(
        &self,
        mut partitions: SortedSet<TopicPartition>,
        told: &Told,
        around: &Around<'_>,
    ) -> SortedSet<TopicPartition> {
        let topics: SortedSet<_> = told.topics.iter().filter_map(|name| around.topic(name)).collect();
        partitions.retain(|tp| topics.iter().any(|(topic, _)| *topic == tp.topic));
        partitions
    }

    /// The step that a member makes towards its target.
    fn move_on(
        &self,
        id: &MemberId,
        before: &Place,
        target: &Target,
        owned: Option<&SortedSet<TopicPartition>>,
        around: &Around<'_>,
    ) -> Place {
        let others = || self.members.iter().filter(|(other, _)| *other != id);
        let waits = around.holds(Rule::GroupReconcile);
        let taken = |tp| waits && others().any(|(_, other)| other.place.holds(tp));
        next(before, target, owned, taken)
    }

    /// Shares the partitions out among all members, one of them as it is now.
    fn assign(
        &self,
        assignor: Assignor,
        id: &MemberId,
        told: &Told,
        around: &Around<'_>,
    ) -> SortedMap<MemberId, SortedSet<TopicPartition>> {
        let mut members: SortedMap<&MemberId, &SortedSet<Arc<str>>> = SortedMap::new();
        members.extend(self.members.iter().map(|(id, member)| (id, &member.told.topics)));
        members.insert(id, &told.topics);
        let name = |tp: &TopicPartition| Slot {
            topic: Arc::clone(&around.settings.topic(tp.topic).name),
            partition: tp.partition,
        };
        let instance = |other: &MemberId| {
            let known = self.members.get(other).filter(|_| other != id);
            known.map_or(&told.instance, |member| &member.told.instance).clone()
        };
        let member = |(id, topics): (&&MemberId, &&SortedSet<Arc<str>>)| assignor::Member {
            id: Arc::clone(id),
            instance: instance(id),
            topics: (*topics).clone(),
            owned: self.target.get(*id).into_iter().flatten().map(name).collect(),
            generation: -1,
        };
        let names = self.topics_with(id, Some(&told.topics));
        let counted = |name: &Arc<str>| Some((Arc::clone(name), around.topic(name)?.1));
        let group = assignor::Group {
            topics: names.iter().filter_map(counted).collect(),
            members: members.iter().map(member).collect(),
        };
        let partition = |slot: &Slot| {
            let (topic, _) = around.topic(&slot.topic)?;
            Some(TopicPartition {
                topic,
                partition: slot.partition,
            })
        };
        let share = |(id, slots): (MemberId, SortedSet<Slot>)| (id, slots.iter().filter_map(partition).collect());
        assignor.assign(&group).into_iter().map(share).collect()
    }

    /// The topics of all members, with other ones for this member, or without it.
    fn topics_with(&self, id: &MemberId, own: Option<&SortedSet<Arc<str>>>) -> SortedSet<Arc<str>> {
        let others = self.members.iter().filter(|(other, _)| *other != id);
        let others = others.flat_map(|(_, member)| &member.told.topics);
        others.chain(own.into_iter().flatten()).cloned().collect()
    }

    /// The assignor that most members ask for, this member with what it says of itself.
    fn preferred(&self, id: &MemberId, told: Option<&Told>) -> Option<Assignor> {
        let others = self.members.iter().filter(|(other, _)| *other != id);
        let others = others.filter_map(|(_, member)| member.told.assignor);
        let all: Vec<Assignor> = others.chain(told.and_then(|told| told.assignor)).collect();
        let count = |assignor: Assignor| all.iter().filter(|other| **other == assignor).count();
        let (uniform, range) = (count(Assignor::Uniform), count(Assignor::ServerRange));
        match (uniform, range) {
            (0, 0) => None,
            _ if range > uniform => Some(Assignor::ServerRange),
            _ => Some(Assignor::Uniform),
        }
    }

    /// A member goes; a static one perhaps for a while only.
    ///
    /// # Errors
    /// It is no member, or not the one that counts under its name.
    pub fn leave(&self, by: &Standing, around: &Around<'_>) -> Result<Decision, Errors> {
        self.validate(by)?;
        match self.members.get(&by.member) {
            Some(member) if by.epoch == AWAY && by.instance.is_some() => Ok(Decision {
                changes: vec![Change::Current(Arc::clone(&by.member), Some(member.place.away()))],
                assigned_by: None,
            }),
            _ => Ok(self.fence(&by.member, around)),
        }
    }

    /// Whose process a member is.
    pub fn client(&self, id: &MemberId) -> Option<ClientId> {
        self.members.get(id).map(|member| member.told.client)
    }

    /// A member is taken out: what it held is free at once.
    pub fn fence(&self, id: &MemberId, around: &Around<'_>) -> Decision {
        let (epoch, hash) = (self.epoch + 1, around.hash(&self.topics_with(id, None)));
        let mut changes = Self::removal(id);
        changes.push(Change::Epoch(Some((epoch, hash))));
        if self.members.len() == 1 {
            changes.push(Change::TargetEpoch(Some((epoch, 0))));
        }
        Decision {
            changes,
            assigned_by: None,
        }
    }

    /// What is written when nothing is left of the group.
    pub fn tombstones() -> Vec<Change> {
        vec![
            Change::TargetEpoch(None),
            Change::NoPartitionMetadata,
            Change::Epoch(None),
        ]
    }

    /// A change takes effect. Who is new here has not been heard yet.
    pub fn read(&mut self, change: &Change, now: Micros, config: &BrokerConfig) {
        match change {
            Change::Member(id, Some(told)) => match self.members.get_mut(id) {
                Some(member) => member.told = told.clone(),
                None => {
                    let member = Member {
                        told: told.clone(),
                        place: self.ahead.remove(id).unwrap_or(Place::NEW),
                        contact: Contact::Silent(now + from_millis(config.group_consumer_session_timeout_ms)),
                        every: from_millis(config.group_consumer_heartbeat_interval_ms),
                        revoke_by: None,
                    };
                    self.members.insert(Arc::clone(id), member);
                }
            },
            Change::Member(id, None) => {
                self.members.remove(id);
            }
            Change::Epoch(value) => (self.epoch, self.hash) = value.unwrap_or((1, 0)),
            Change::NoPartitionMetadata => {}
            Change::Target(id, Some(target)) => {
                self.target.insert(Arc::clone(id), target.clone());
            }
            Change::Target(id, None) => {
                self.target.remove(id);
            }
            Change::TargetEpoch(value) => (self.target_epoch, self.assigned_ms) = value.unwrap_or((1, 0)),
            Change::Current(id, place) => match (self.members.get_mut(id), place) {
                (Some(member), place) => {
                    member.place = place.clone().unwrap_or(Place::NEW);
                    member.set_revocation(now);
                }
                (None, Some(place)) => {
                    self.ahead.insert(Arc::clone(id), place.clone());
                }
                (None, None) => {
                    self.ahead.remove(id);
                }
            },
        }
    }

    /// All that a log says of the group has been read: whoever has to give something up has all its time for that again.
    pub fn loaded(&mut self, now: Micros) {
        self.ahead.clear();
        self.members.values_mut().for_each(|member| member.set_revocation(now));
    }

    /// Whether offsets of these partitions may be committed by a member that says this of itself. An older epoch is good
    /// for what the member has had since then.
    ///
    /// # Errors
    /// Kafka's answer to those who may not.
    pub fn may_commit(
        &self,
        by: &Standing,
        partitions: impl IntoIterator<Item = Option<TopicPartition>>,
        around: &Around<'_>,
    ) -> Result<(), Errors> {
        if (by.epoch < 0 && self.is_empty()) || !around.holds(Rule::GroupMemberEpoch) {
            return Ok(());
        }
        let place = &self.members.get(&by.member).ok_or(Errors::UnknownMemberId)?.place;
        let since = |tp: Option<TopicPartition>| tp.and_then(|tp| place.since(tp));
        let fits = |tp| since(tp).is_some_and(|since| by.epoch >= since);
        if by.epoch == place.epoch || (by.epoch < place.epoch && partitions.into_iter().all(fits)) {
            Ok(())
        } else {
            Err(Errors::StaleMemberEpoch)
        }
    }

    /// Whether a member that says this of itself may learn where the group stands.
    ///
    /// # Errors
    /// Kafka's answer to those who may not.
    pub fn may_fetch_offsets(&self, by: &Standing) -> Result<(), Errors> {
        if by.member.is_empty() && by.epoch < 0 {
            return Ok(());
        }
        let member = self.members.get(&by.member).ok_or(Errors::UnknownMemberId)?;
        let current = member.place.epoch == by.epoch;
        current.then_some(()).ok_or(Errors::StaleMemberEpoch)
    }

    /// When a plain heartbeat of this member would be answered with something new, if nothing else happens.
    pub fn news_at(&self, by: &Standing, around: &Around<'_>) -> Option<Micros> {
        let now = Some(around.now);
        let Some(member) = self.members.get(&by.member) else {
            return now;
        };
        let heard = matches!(member.contact, Contact::Heard(_));
        if !heard || by.epoch != member.place.epoch {
            return now;
        }
        match self.beat(member.told.client, &ConsumerBeat::plain(by.clone()), around) {
            Ok((decision, _)) if decision.changes.is_empty() => {
                let waits = self.target_epoch < self.epoch && around.holds(Rule::GroupTarget);
                let after_ms = (self.assigns_from(around) - around.wall_ms()).max(0);
                waits.then(|| around.now + from_millis(after_ms))
            }
            _ => now,
        }
    }

    /// A member is heard for real, and is told to come again after this interval.
    pub fn hear(&mut self, id: &MemberId, every: Micros, now: Micros) {
        if let Some(member) = self.members.get_mut(id) {
            member.contact = Contact::Heard(now);
            member.every = every;
        }
    }

    /// A member is not heard any more.
    pub fn silence(&mut self, id: &MemberId, config: &BrokerConfig, now: Micros) {
        if let Some(member) = self.members.get_mut(id) {
            let session = from_millis(config.group_consumer_session_timeout_ms);
            member.contact = member.contact.lost(member.every, session, now);
        }
    }

    /// All sessions go on for ever: a world without that rule.
    pub fn hear_all(&mut self, now: Micros) {
        let silent = |member: &&mut Member| matches!(member.contact, Contact::Silent(until) if until <= now);
        for member in self.members.values_mut().filter(silent) {
            member.contact = Contact::Heard(now);
        }
    }

    /// The removal of a member could not be written: it is tried again a little later.
    pub fn put_off(&mut self, id: &MemberId, until: Micros) {
        if let Some(member) = self.members.get_mut(id) {
            member.revoke_by = member.revoke_by.map(|by| by.max(until));
            if let Contact::Silent(at) = &mut member.contact {
                *at = until.max(*at);
            }
        }
    }

    /// When the next session ends that can end.
    pub fn session_due(&self) -> Option<Micros> {
        let silent = self.members.values().filter_map(|member| match member.contact {
            Contact::Silent(until) => Some(until),
            Contact::Heard(_) => None,
        });
        silent.min()
    }

    /// When the next member has taken too long to give up partitions.
    pub fn revocation_due(&self) -> Option<Micros> {
        self.members.values().filter_map(|member| member.revoke_by).min()
    }

    /// A member whose session has ended.
    pub fn overdue_session(&self, now: Micros) -> Option<&MemberId> {
        let over = |member: &Member| matches!(member.contact, Contact::Silent(until) if until <= now);
        self.members.iter().find(|(_, member)| over(member)).map(|(id, _)| id)
    }

    /// A member that has not given up its partitions in time.
    pub fn overdue_revocation(&self, now: Micros) -> Option<&MemberId> {
        let over = |member: &Member| member.revoke_by.is_some_and(|by| by <= now);
        self.members.iter().find(|(_, member)| over(member)).map(|(id, _)| id)
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.epoch);
        encoder.i64(self.hash);
        encoder.i32(self.target_epoch);
        encoder.i64(self.assigned_ms);
        encoder.len(self.target.len());
        for (id, partitions) in &self.target {
            encoder.str(id);
            encoder.len(partitions.len());
            partitions.iter().for_each(|tp| encode_partition(*tp, encoder));
        }
        encoder.len(self.members.len());
        for (id, member) in &self.members {
            encoder.str(id);
            member.encode(encoder);
        }
    }

    /// The part that does, relative to now.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        self.members
            .values()
            .for_each(|member| member.encode_times(now, encoder));
    }
}

/// Whether a member speaks with the epoch that it was given last, or with the one before if it has heard of nothing since.
fn check_epoch(place: &Place, beat: &ConsumerBeat) -> Result<(), Errors> {
    let within = |owned: &SortedSet<TopicPartition>| owned.iter().all(|tp| place.assigned.contains_key(tp));
    let epoch = beat.by.epoch;
    let repeated = epoch == place.previous && beat.owned.as_ref().is_some_and(within);
    if epoch == place.epoch || (epoch < place.epoch && repeated) {
        Ok(())
    } else {
        Err(Errors::FencedMemberEpoch)
    }
}

/// What a member says of itself, with what it has said before.
fn told(before: Option<&Told>, client: ClientId, beat: &ConsumerBeat) -> Told {
    let before = before.cloned().unwrap_or_else(|| Told {
        client,
        instance: None,
        rebalance: 0,
        topics: SortedSet::new(),
        assignor: None,
    });
    Told {
        client,
        instance: beat.by.instance.clone().or(before.instance),
        rebalance: beat.rebalance.unwrap_or(before.rebalance),
        topics: beat.topics.clone().unwrap_or(before.topics),
        assignor: beat.assignor.or(before.assignor),
    }
}

fn encode_partition(tp: TopicPartition, encoder: &mut Encoder) {
    encoder.u16(tp.topic.0);
    encoder.u32(tp.partition);
}
