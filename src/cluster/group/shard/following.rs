//! Groups under the consumer protocol, within their partition of `__consumer_offsets`.
//!
//! What such a group decides is written first and read back at once, so that it changes by its records alone; its member is
//! answered when they are replicated. Mirrors the consumer half of `GroupMetadataManager`.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::{Departure, What};
use crate::cluster::group::consumer::{Around, Change, ConsumerGroup, Decision, Place, server_name};
use crate::cluster::group::kind::GroupKind;
use crate::cluster::group::out::{Out, Then, broker};
use crate::cluster::group::protocol::{AWAY, Beaten, ConsumerBeat, GroupResponse, MemberId, Standing};
use crate::cluster::group::record::Entry;
use crate::cluster::ids::{ClientId, GroupId};
use crate::cluster::image::Image;
use crate::cluster::message::Correlation;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, Settings};
use crate::log::Errors;

use super::Shard;

impl Shard {
    /// The group's members, if they speak the consumer protocol.
    pub(super) fn consumer_mut(&mut self, id: GroupId) -> Option<&mut ConsumerGroup> {
        match &mut self.groups.get_mut(&id)?.kind {
            GroupKind::Consumer(group) => Some(group),
            GroupKind::Classic(_) | GroupKind::Gone => None,
        }
    }

    /// A member speaks the consumer protocol. A group without members takes it.
    pub(super) fn beat(
        &mut self,
        from: ClientId,
        id: Correlation,
        beat: &ConsumerBeat,
        image: &Image,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) -> Result<(), Errors> {
        let by = &beat.by;
        let around = Around::of(cx, image);
        let mut entries = Vec::new();
        let empty = ConsumerGroup::default();
        let group = match self.groups.get(&by.group).map(|group| &group.kind) {
            Some(GroupKind::Consumer(group)) => group,
            Some(kind @ GroupKind::Classic(classic)) if by.epoch == 0 && classic.is_empty() => {
                entries = kind.tombstones(cx.settings.group(by.group));
                &empty
            }
            Some(GroupKind::Gone) | None if by.epoch == 0 => &empty,
            Some(GroupKind::Classic(_) | GroupKind::Gone) | None => return Err(Errors::GroupIdNotFound),
        };
        let (decision, beaten) = if by.epoch < 0 {
            (group.leave(by, &around)?, Beaten::left(by.epoch))
        } else {
            group.beat(from, beat, &around)?
        };
        self.tell(by, group, from, &decision, cx);
        entries.extend(consumer_entries(by.group, decision.changes, cx.settings));
        let answer = Then::Beaten {
            client: from,
            id,
            by: by.clone(),
            beaten,
        };
        if entries.is_empty() {
            self.answer_now(answer, out, cx);
        } else {
            out.write(entries, answer);
        }
        Ok(())
    }

    /// Nothing had to be written: a member is answered at once.
    fn answer_now(&mut self, answer: Then, out: &mut Out, cx: &Cx<'_>) {
        self.hear(&answer, cx.now);
        if let Then::Beaten { client, id, beaten, .. } = answer {
            out.reply(client, id, GroupResponse::ConsumerBeat(Ok(beaten)));
        }
    }

    /// Who has spoken is heard.
    pub(super) fn hear(&mut self, spoken: &Then, now: Micros) {
        if let Then::Beaten { by, beaten, .. } = spoken
            && by.epoch >= 0
            && let Some(group) = self.consumer_mut(by.group)
        {
            group.hear(&by.member, beaten.every, now);
        }
    }

    /// Says what a group under the consumer protocol has decided.
    fn tell(&self, by: &Standing, before: &ConsumerGroup, client: ClientId, decision: &Decision, cx: &mut Cx<'_>) {
        let (broker, group) = (broker(cx), by.group);
        let leaves = by.epoch < 0;
        let rule = match &by.instance {
            Some(instance) if before.has_static(instance) => Rule::GroupStatic,
            _ => Rule::GroupEpoch,
        };
        let mut joins = by.epoch == 0 && (rule == Rule::GroupStatic || before.client(&by.member).is_none());
        for change in &decision.changes {
            match change {
                Change::Member(member, Some(_)) if joins => {
                    joins = false;
                    cx.say(rule, || What::MemberJoined {
                        broker,
                        group,
                        client,
                        member: Arc::clone(member),
                    });
                }
                Change::Member(member, None) => cx.say(if leaves { Rule::GroupEpoch } else { rule }, || {
                    let why = if leaves { Departure::Left } else { Departure::Replaced };
                    let client = before.client(member).unwrap_or(client);
                    What::MemberLeft {
                        broker,
                        group,
                        client,
                        why,
                    }
                }),
                Change::Epoch(Some((epoch, _))) => cx.say(Rule::GroupEpoch, || What::GroupEpochRaised {
                    broker,
                    group,
                    epoch: *epoch,
                }),
                Change::TargetEpoch(Some((epoch, _))) => {
                    if let Some(assignor) = decision.assigned_by.map(server_name) {
                        cx.say(Rule::GroupTarget, || What::TargetAssigned {
                            broker,
                            group,
                            epoch: *epoch,
                            assignor,
                        });
                    }
                }
                // On its way back, before it is led on.
                Change::Current(_, Some(place)) if place.epoch == 0 => {}
                Change::Current(_, Some(place)) => cx.say(leads(place), || What::MemberMoved {
                    broker,
                    group,
                    client,
                    epoch: place.epoch,
                    state: place.state.name(),
                    assigned: place.assigned.keys().copied().collect(),
                    revoking: place.revoking.keys().copied().collect(),
                }),
                _ => {}
            }
        }
    }

    /// A change of a group under the consumer protocol takes effect. Tombstones of what the group is no longer say nothing.
    pub(super) fn read(&mut self, id: GroupId, change: &Change, cx: &Cx<'_>) {
        if change.is_tombstone() && self.consumer_mut(id).is_none() {
            return;
        }
        if *change == Change::Epoch(None) {
            self.forget(id);
            return;
        }
        if self.consumer_mut(id).is_none() {
            self.group_mut(id).kind = GroupKind::Consumer(ConsumerGroup::default());
        }
        if let Some(group) = self.consumer_mut(id) {
            group.read(change, cx.now, cx.settings.broker(broker(cx)));
        }
    }
}

/// The rule by which a member is led to a place.
fn leads(place: &Place) -> Rule {
    match place.epoch {
        AWAY => Rule::GroupStatic,
        _ => Rule::GroupReconcile,
    }
}

/// Whether an entry takes effect when it is written: a group under the consumer protocol changes by nothing else, and a
/// group is forgotten by its tombstone. The rest of a classic group is what its record says already.
pub(super) fn is_change(entry: &Entry) -> bool {
    matches!(entry, Entry::Consumer(..) | Entry::Group(_, None))
}

/// Changes of a group as entries.
pub(super) fn consumer_entries(group: GroupId, changes: Vec<Change>, settings: &Settings) -> Vec<Entry> {
    let name = settings.group(group);
    let entry = |change| Entry::Consumer(Arc::clone(name), change);
    changes.into_iter().map(entry).collect()
}

/// Takes a member out of a group under the consumer protocol. Several are taken out one after the other.
pub(super) fn remove(
    id: GroupId,
    group: &ConsumerGroup,
    member: Option<MemberId>,
    why: Departure,
    image: &Image,
    out: &mut Out,
    cx: &mut Cx<'_>,
) {
    let Some(member) = member else { return };
    let Some(client) = group.client(&member) else { return };
    let (broker, rule) = (
        broker(cx),
        match why {
            Departure::SessionEnded => Rule::GroupSession,
            _ => Rule::GroupReconcile,
        },
    );
    cx.say(rule, || What::MemberLeft {
        broker,
        group: id,
        client,
        why,
    });
    let decision = group.fence(&member, &Around::of(cx, image));
    let epoch = group.epoch() + 1;
    cx.say(Rule::GroupEpoch, || What::GroupEpochRaised {
        broker,
        group: id,
        epoch,
    });
    let entries = consumer_entries(id, decision.changes, cx.settings);
    out.write(entries, Then::Remove(id, member));
}
