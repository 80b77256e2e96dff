//! A group under the classic protocol: members gather, one of them assigns, all get their share.
//!
//! A change of members makes everybody join again; the group waits for them, as long as the slowest may take, and goes on
//! without those who do not come. The generation that results fences those who have missed it. A silent member is removed
//! when its session ends. Mirrors `ClassicGroup` and the classic half of `GroupMetadataManager`.
//!
//! A static member (`group.instance.id`) keeps its place while its process is away: a newer process under its name takes it
//! over with a new id, without a rebalance, and the older one is fenced.
//!
//! Deliberately absent: `group.max.size`, upgrades to the consumer protocol while there are members.

mod joining;
pub(super) mod member;
mod sharing;

pub use member::{Contact, Member};

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::{Assignor, Slot};
use crate::cluster::event::{Departure, What};
use crate::cluster::ids::{ClientId, GroupId};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::{Encoder, Errors};
use crate::sorted::{SortedMap, SortedSet};

use super::consumer::Around;
use super::out::{Out, broker};
use super::protocol::{GroupResponse, InstanceId, JoinAnswer, MemberId, Standing};
use super::record::{CONSUMER, Entry, GroupMetadata, MemberMetadata};
use member::Awaits;

/// Where a group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has no members.
    Empty,
    /// It waits for its members to join, until `due`.
    Preparing {
        due: Micros,
        /// The group was empty: it waits for newcomers, and longer when some come, this long at most.
        first: Option<First>,
    },
    /// It waits for the leader's assignment.
    Completing,
    /// Everybody has its share.
    Stable,
}

/// The first rebalance of an empty group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct First {
    remaining: Micros,
    newcomers: bool,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicGroup {
    id: GroupId,
    state: State,
    generation: i32,
    protocol: Option<Assignor>,
    leader: Option<MemberId>,
    members: SortedMap<MemberId, Member>,
    /// Who has not asked for its share in this generation.
    unsynced: SortedSet<MemberId>,
    /// Until when that is waited for.
    sync_by: Micros,
    /// Ids that were given, and until when they are good for.
    pending: SortedMap<MemberId, Micros>,
    /// When it became empty, wall clock in milliseconds; `None` if it never had a member.
    empty_since: Option<i64>,
}

impl ClassicGroup {
    /// A group that nobody has joined.
    pub fn new(id: GroupId) -> ClassicGroup {
        ClassicGroup {
            id,
            state: State::Empty,
            generation: 0,
            protocol: None,
            leader: None,
            members: SortedMap::new(),
            unsynced: SortedSet::new(),
            sync_by: 0,
            pending: SortedMap::new(),
            empty_since: None,
        }
    }

    /// A group as its record tells. Nobody has been heard yet.
    pub fn load(id: GroupId, stored: &GroupMetadata, cx: &Cx<'_>) -> ClassicGroup {
        let client = |name: &Arc<str>| cx.settings.clients.iter().position(|known| known == name);
        let protocol = stored.protocol.as_deref().and_then(Assignor::from_name);
        let member = |stored: &MemberMetadata| {
            let session = from_millis(stored.session_ms.into());
            let member = Member {
                client: ClientId(client(&stored.client)? as u16),
                instance: stored.instance.clone(),
                session,
                rebalance: from_millis(stored.rebalance_ms.into()),
                every: session,
                protocols: protocol.into_iter().collect(),
                subscription: stored.subscription.clone(),
                assignment: stored.assignment.clone(),
                contact: Contact::Silent(cx.now + session),
                awaits: None,
                new_until: None,
            };
            Some((Arc::clone(&stored.member), member))
        };
        let members: SortedMap<MemberId, Member> = stored.members.iter().filter_map(member).collect();
        ClassicGroup {
            state: if members.is_empty() {
                State::Empty
            } else {
                State::Stable
            },
            generation: stored.generation,
            protocol,
            leader: stored.leader.clone(),
            empty_since: (members.is_empty() && stored.was_joined()).then_some(stored.since_ms),
            members,
            ..ClassicGroup::new(id)
        }
    }

    /// The members.
    pub fn members(&self) -> impl Iterator<Item = (&MemberId, &Member)> + '_ {
        self.members.iter()
    }

    /// The generation.
    pub fn generation(&self) -> i32 {
        self.generation
    }

    /// The state's name, as Kafka's tools show it.
    pub fn state(&self) -> &'static str {
        match self.state {
            State::Empty => "Empty",
            State::Preparing { .. } => "PreparingRebalance",
            State::Completing => "CompletingRebalance",
            State::Stable => "Stable",
        }
    }

    /// Whether it has no members. Somebody may have been given an id and be about to become one.
    pub fn is_empty(&self) -> bool {
        self.state == State::Empty
    }

    /// When its commits begin to age: when it became empty. Without a member ever, each commit ages by itself.
    pub fn empty_since(&self) -> Option<i64> {
        self.empty_since.filter(|_| self.is_empty())
    }

    /// Since when a commit in a topic ages, wall clock in milliseconds: since the group is empty; while everybody has its
    /// share and nobody subscribes to the topic, since it was made.
    pub fn ages_from(&self, topic: &Arc<str>, committed_ms: i64) -> Option<i64> {
        let subscribes = |member: &Member| member.subscription.topics.contains(topic);
        match self.state {
            State::Empty => Some(self.empty_since.unwrap_or(committed_ms)),
            State::Stable if !self.members.values().any(subscribes) => Some(committed_ms),
            State::Stable | State::Preparing { .. } | State::Completing => None,
        }
    }

    /// Whether a heartbeat of this member would be answered without an error, so that it need not travel.
    pub fn has_no_news_for(&self, standing: &Standing, around: &Around<'_>) -> bool {
        let Some(member) = self.members.get(&standing.member) else {
            return false;
        };
        let gathers = matches!(self.state, State::Preparing { .. }) && around.holds(Rule::GroupRebalance);
        matches!(member.contact, Contact::Heard(_)) && standing.epoch == self.generation && !gathers
    }

    /// The id of the static member of this name.
    fn static_member(&self, instance: &InstanceId) -> Option<&MemberId> {
        let named = |member: &Member| member.instance.as_ref() == Some(instance);
        self.members.iter().find(|(_, member)| named(member)).map(|(id, _)| id)
    }

    /// Whether this is a member, and under its own name the newest one.
    fn validate(&self, id: &MemberId, instance: Option<&InstanceId>) -> Result<(), Errors> {
        match instance.map(|instance| self.static_member(instance)) {
            Some(Some(newest)) if newest != id => Err(Errors::FencedInstanceId),
            Some(None) => Err(Errors::UnknownMemberId),
            _ if !self.members.contains_key(id) => Err(Errors::UnknownMemberId),
            _ => Ok(()),
        }
    }

    /// How long the slowest member may take to join again.
    fn longest_rebalance(&self) -> Micros {
        self.members.values().map(|member| member.rebalance).max().unwrap_or(0)
    }

    /// The members of which this holds.
    fn members_that(&self, holds: impl Fn(&Member) -> bool) -> Vec<MemberId> {
        let found = self.members.iter().filter(|(_, member)| holds(member));
        found.map(|(id, _)| Arc::clone(id)).collect()
    }

    /// Checks who asks: a known member of this generation.
    fn check(&self, standing: &Standing, cx: &Cx<'_>) -> Result<(), Errors> {
        self.validate(&standing.member, standing.instance.as_ref())?;
        if standing.epoch != self.generation && cx.holds(Rule::GroupGeneration) {
            return Err(Errors::IllegalGeneration);
        }
        Ok(())
    }

    /// Answers everybody who waits: this broker is no longer the coordinator.
    pub fn resign(&mut self, out: &mut Out) {
        for member in self.members.values_mut() {
            let answer = match member.awaits.take() {
                Some(Awaits::Join(id)) => (id, GroupResponse::Join(JoinAnswer::Refused(Errors::NotCoordinator))),
                Some(Awaits::Sync(id)) => (id, GroupResponse::Sync(Err(Errors::NotCoordinator))),
                None => continue,
            };
            out.reply(member.client, answer.0, answer.1);
        }
    }

    /// A member is alive.
    pub fn heartbeat(&mut self, standing: &Standing, every: Micros, cx: &Cx<'_>) -> Option<Errors> {
        let checked = self.check(standing, cx);
        let state = self.state;
        let Some(member) = self.members.get_mut(&standing.member).filter(|_| checked.is_ok()) else {
            return checked.err();
        };
        member.every = every;
        member.contact = Contact::Heard(cx.now);
        match state {
            State::Empty => Some(Errors::UnknownMemberId),
            State::Preparing { .. } if cx.holds(Rule::GroupRebalance) => Some(Errors::RebalanceInProgress),
            _ => None,
        }
    }

    /// A member goes.
    pub fn leave(&mut self, standing: &Standing, out: &mut Out, cx: &mut Cx<'_>) -> Option<Errors> {
        if self.pending.remove(&standing.member).is_some() {
            self.complete_if_all_joined(out, cx);
            return None;
        }
        if let Err(error) = self.validate(&standing.member, standing.instance.as_ref()) {
            return Some(error);
        }
        self.depart(&standing.member, Departure::Left, out, cx);
        None
    }

    /// Takes a member out, and rebalances.
    fn depart(&mut self, id: &MemberId, why: Departure, out: &mut Out, cx: &mut Cx<'_>) {
        self.answer_join(id, JoinAnswer::Refused(Errors::UnknownMemberId), out);
        self.remove(id, why, cx);
        self.gather(out, cx);
    }

    fn remove(&mut self, id: &MemberId, why: Departure, cx: &mut Cx<'_>) {
        let Some(member) = self.members.remove(id) else { return };
        self.unsynced.remove(id);
        let rule = match why {
            Departure::SessionEnded => Rule::GroupSession,
            _ => Rule::GroupRebalance,
        };
        self.say_left(rule, member.client, why, cx);
        if self.leader.as_ref() == Some(id) {
            self.leader = self.members.keys().next().cloned();
        }
    }

    fn say_left(&self, rule: Rule, client: ClientId, why: Departure, cx: &mut Cx<'_>) {
        let (broker, group) = (broker(cx), self.id);
        cx.say(rule, || What::MemberLeft {
            broker,
            group,
            client,
            why,
        });
    }

    /// Whether offsets may be committed by a member that says this of itself.
    ///
    /// # Errors
    /// Kafka's answer to those who may not.
    pub fn may_commit(&mut self, standing: &Standing, cx: &Cx<'_>) -> Result<(), Errors> {
        if standing.epoch < 0 && self.is_empty() {
            return Ok(());
        }
        if cx.holds(Rule::GroupGeneration) {
            self.check(standing, cx)?;
            if self.state == State::Completing {
                return Err(Errors::RebalanceInProgress);
            }
        }
        if let Some(member) = self.members.get_mut(&standing.member) {
            member.contact = Contact::Heard(cx.now);
        }
        Ok(())
    }

    /// A member is not heard any more.
    pub fn silence(&mut self, id: &MemberId, now: Micros) {
        if let Some(member) = self.members.get_mut(id) {
            member.contact = member.contact.lost(member.every, member.session, now);
        }
    }

    /// When the next session ends that can end: not of those who wait for an answer, unless they are new.
    pub fn session_due(&self) -> Option<Micros> {
        let members = self.members.values().filter_map(Member::ends);
        members.chain(self.pending.values().copied()).min()
    }

    /// Sessions have ended.
    pub fn end_sessions(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let now = cx.now;
        let given_up = self.pending.len();
        self.pending.retain(|_, until| *until > now);
        if self.pending.len() < given_up {
            self.complete_if_all_joined(out, cx);
        }
        if !cx.holds(Rule::GroupSession) {
            for member in self.members.values_mut() {
                (member.contact, member.new_until) = (Contact::Heard(now), None);
            }
            return;
        }
        let over = self.members_that(|member| member.ends().is_some_and(|until| until <= now));
        for id in over {
            self.depart(&id, Departure::SessionEnded, out, cx);
        }
    }

    /// Until when the group waits.
    pub fn rebalance_due(&self) -> Option<Micros> {
        match self.state {
            State::Preparing { due, .. } => Some(due),
            State::Completing | State::Stable => (!self.unsynced.is_empty()).then_some(self.sync_by),
            State::Empty => None,
        }
    }

    /// The group has waited long enough.
    pub fn end_wait(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        match self.state {
            State::Preparing {
                first:
                    Some(First {
                        remaining,
                        newcomers: true,
                    }),
                ..
            } if remaining > 0 => {
                let delay = initial_delay(cx).min(remaining);
                self.state = State::Preparing {
                    due: cx.now + delay,
                    first: Some(First {
                        remaining: remaining - delay,
                        newcomers: false,
                    }),
                };
            }
            State::Preparing { .. } => self.complete_join(out, cx),
            State::Completing | State::Stable => {
                for id in std::mem::take(&mut self.unsynced) {
                    self.remove(&id, Departure::DidNotRejoin, cx);
                }
                self.gather(out, cx);
            }
            State::Empty => {}
        }
    }

    /// The record of its state, with these shares.
    fn entry(&self, shares: &SortedMap<MemberId, SortedSet<Slot>>, cx: &Cx<'_>) -> Entry {
        let ms = |micros: Micros| i32::try_from(micros / 1_000).unwrap_or(i32::MAX);
        let member = |(id, member): (&MemberId, &Member)| MemberMetadata {
            member: Arc::clone(id),
            instance: member.instance.clone(),
            client: cx.settings.client(member.client).into(),
            rebalance_ms: ms(member.rebalance),
            session_ms: ms(member.session),
            subscription: member.subscription.clone(),
            assignment: shares.get(id).cloned().unwrap_or_default(),
        };
        let metadata = GroupMetadata {
            protocol_type: CONSUMER.into(),
            generation: self.generation,
            protocol: self.protocol.map(|protocol| protocol.name().into()),
            leader: self.leader.clone(),
            since_ms: cx.wall_ms(),
            members: self.members.iter().map(member).collect(),
        };
        Entry::Group(Arc::clone(cx.settings.group(self.id)), Some(metadata))
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.str(self.state());
        encoder.i32(self.generation);
        encoder.str(self.protocol.map_or("", Assignor::name));
        encoder.str(self.leader.as_deref().unwrap_or_default());
        encoder.len(self.members.len());
        for (id, member) in &self.members {
            encoder.str(id);
            encoder.u16(member.client.0);
            encoder.str(member.instance.as_deref().unwrap_or_default());
            encoder.u64(member.session);
            encoder.u64(member.rebalance);
            encoder.u64(member.every);
            encoder.str(&format!("{:?}{:?}", member.protocols, member.subscription));
            super::encode_slots(&member.assignment, encoder);
            encoder.u8(match member.awaits {
                None => 0,
                Some(Awaits::Join(_)) => 1,
                Some(Awaits::Sync(_)) => 2,
            });
        }
        encoder.len(self.unsynced.len());
        self.unsynced.iter().for_each(|id| encoder.str(id));
        encoder.len(self.pending.len());
        self.pending.keys().for_each(|id| encoder.str(id));
        encoder.option(self.empty_since(), Encoder::i64);
    }

    /// The part that does, relative to now.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        encoder.option(self.rebalance_due(), |encoder, due| {
            encoder.u64(due.saturating_sub(now))
        });
        if let State::Preparing { first: Some(first), .. } = self.state {
            encoder.u64(first.remaining);
            encoder.u8(u8::from(first.newcomers));
        }
        for member in self.members.values() {
            member.contact.encode(now, member.every, encoder);
            encoder.option(member.new_until, |encoder, until| {
                encoder.u64(until.saturating_sub(now))
            });
        }
        for until in self.pending.values() {
            encoder.u64(until.saturating_sub(now));
        }
    }
}

/// How long an empty group waits for more members.
fn initial_delay(cx: &Cx<'_>) -> Micros {
    if !cx.holds(Rule::GroupInitialDelay) {
        return 0;
    }
    from_millis(cx.settings.broker(broker(cx)).group_initial_rebalance_delay_ms)
}
