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

pub(super) mod member;

pub use member::{Contact, Member};

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::{Assignor, Slot};
use crate::cluster::event::{Departure, What};
use crate::cluster::ids::{ClientId, GroupId};
use crate::cluster::message::Correlation;
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::{Encoder, Errors};
use crate::sorted::{SortedMap, SortedSet};

use super::out::{Out, Then, broker};
use super::protocol::{GroupResponse, InstanceId, JoinAnswer, JoinGroup, Joined, JoinedMember, MemberId, Standing};
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
            let session = millis(stored.session_ms.into());
            let member = Member {
                client: ClientId(client(&stored.client)? as u16),
                instance: stored.instance.clone(),
                session,
                rebalance: millis(stored.rebalance_ms.into()),
                every: session,
                protocols: protocol.into_iter().collect(),
                subscription: stored.subscription.clone(),
                assignment: stored.assignment.clone(),
                contact: Contact::Silent(cx.now + session),
                awaits: None,
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
    pub fn has_no_news_for(&self, standing: &Standing, cx_holds_rebalance: bool) -> bool {
        let Some(member) = self.members.get(&standing.member) else {
            return false;
        };
        let gathers = matches!(self.state, State::Preparing { .. }) && cx_holds_rebalance;
        matches!(member.contact, Contact::Heard(_)) && standing.epoch == self.generation && !gathers
    }

    /// A member wants to join.
    pub fn join(&mut self, from: ClientId, id: Correlation, request: JoinGroup, out: &mut Out, cx: &mut Cx<'_>) {
        let refuse = |out: &mut Out, error| out.reply(from, id, GroupResponse::Join(JoinAnswer::Refused(error)));
        if !self.members.is_empty() && !self.can_run(&request.protocols) {
            return refuse(out, Errors::InconsistentGroupProtocol);
        }
        if let Some(instance) = request.instance.as_ref().filter(|_| request.member.is_empty()) {
            return match self.static_member(instance).cloned() {
                Some(old) => self.replace(from, id, &old, request, out, cx),
                None => {
                    let member = Arc::clone(&request.wanted_id);
                    self.add(from, id, JoinGroup { member, ..request }, out, cx);
                }
            };
        }
        if request.member.is_empty() {
            let given = Arc::clone(&request.wanted_id);
            self.pending.insert(Arc::clone(&given), cx.now + request.session);
            return out.reply(from, id, GroupResponse::Join(JoinAnswer::IdGiven(given)));
        }
        if self.pending.remove(&request.member).is_some() {
            return self.add(from, id, request, out, cx);
        }
        match self.validate(&request.member, request.instance.as_ref()) {
            Ok(()) => self.rejoin(id, request, out, cx),
            Err(error) => refuse(out, error),
        }
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

    /// Whether all members could run one of these assignors.
    fn can_run(&self, protocols: &[Assignor]) -> bool {
        let all = |protocol: &Assignor| self.members.values().all(|member| member.protocols.contains(protocol));
        protocols.iter().any(all)
    }

    fn add(&mut self, from: ClientId, id: Correlation, request: JoinGroup, out: &mut Out, cx: &mut Cx<'_>) {
        let member = Member {
            client: from,
            instance: request.instance,
            session: request.session,
            rebalance: request.rebalance,
            every: request.every,
            protocols: request.protocols,
            subscription: request.subscription,
            assignment: SortedSet::new(),
            contact: Contact::Heard(cx.now),
            awaits: Some(Awaits::Join(id)),
        };
        self.say_joined(Rule::GroupRebalance, from, &request.member, cx);
        self.leader.get_or_insert_with(|| Arc::clone(&request.member));
        self.members.insert(request.member, member);
        if let State::Preparing { first: Some(first), .. } = &mut self.state {
            first.newcomers = true;
        }
        self.gather(out, cx);
    }

    fn say_joined(&self, rule: Rule, client: ClientId, member: &MemberId, cx: &mut Cx<'_>) {
        let (broker, group, member) = (broker(cx), self.id, Arc::clone(member));
        cx.say(rule, || What::MemberJoined {
            broker,
            group,
            client,
            member,
        });
    }

    /// A static member has come back, in a process that has no id yet: it gets a new one, and the old one is good for
    /// nothing. While everybody has its share it has that of the old one, unless the group would choose another assignor.
    fn replace(
        &mut self,
        from: ClientId,
        id: Correlation,
        old: &MemberId,
        request: JoinGroup,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) {
        let Some(before) = self.members.get(old).cloned() else {
            return;
        };
        match before.awaits {
            Some(Awaits::Join(waits)) => {
                let fenced = JoinAnswer::Refused(Errors::FencedInstanceId);
                out.reply(before.client, waits, GroupResponse::Join(fenced));
            }
            Some(Awaits::Sync(waits)) => {
                out.reply(before.client, waits, GroupResponse::Sync(Err(Errors::FencedInstanceId)));
            }
            None => {}
        }
        let new = request.wanted_id;
        let member = Member {
            client: from,
            instance: request.instance,
            session: request.session,
            rebalance: request.rebalance,
            every: request.every,
            protocols: request.protocols,
            subscription: request.subscription,
            assignment: before.assignment.clone(),
            contact: Contact::Heard(cx.now),
            awaits: Some(Awaits::Join(id)),
        };
        self.swap(old, &new, member);
        self.say_left(Rule::GroupStatic, before.client, Departure::Replaced, cx);
        self.say_joined(Rule::GroupStatic, from, &new, cx);
        if self.state != State::Stable || self.vote() != self.protocol {
            return self.gather(out, cx);
        }
        let shares = self
            .members
            .iter()
            .map(|(id, member)| (Arc::clone(id), member.assignment.clone()));
        let entry = self.entry(&shares.collect(), cx);
        let before = Member { awaits: None, ..before };
        let then = Then::Replaced {
            group: self.id,
            member: new,
            before: Box::new((Arc::clone(old), before)),
        };
        out.write(vec![entry], then);
    }

    /// One member stands where another has stood.
    fn swap(&mut self, old: &MemberId, new: &MemberId, member: Member) {
        self.members.remove(old);
        self.members.insert(Arc::clone(new), member);
        if self.leader.as_ref() == Some(old) {
            self.leader = Some(Arc::clone(new));
        }
    }

    /// That a static member has come back is written and replicated: it learns its id and where the group is.
    pub fn replaced(&mut self, id: &MemberId, out: &mut Out) {
        let joined = Joined {
            skip_assignment: self.leader.as_ref() == Some(id),
            ..self.joined(id)
        };
        self.answer_join(id, JoinAnswer::Joined(Box::new(joined)), out);
    }

    /// That a static member has come back could not be replicated in time: it is as it was before.
    pub fn not_replaced(&mut self, id: &MemberId, before: (MemberId, Member), error: Errors, out: &mut Out) {
        self.answer_join(id, JoinAnswer::Refused(error), out);
        if self.members.contains_key(id) {
            let (old, member) = before;
            self.swap(id, &old, member);
        }
    }

    /// Answers a member that waits for the others.
    fn answer_join(&mut self, id: &MemberId, answer: JoinAnswer, out: &mut Out) {
        if let Some(member) = self.members.get_mut(id)
            && let Some(Awaits::Join(correlation)) = member.awaits
        {
            member.awaits = None;
            out.reply(member.client, correlation, GroupResponse::Join(answer));
        }
    }

    /// A member that is known joins again: because it was told to, because something has changed for it, or because the
    /// answer to its last join was lost.
    fn rejoin(&mut self, id: Correlation, request: JoinGroup, out: &mut Out, cx: &mut Cx<'_>) {
        let leads = self.leader.as_ref() == Some(&request.member);
        let Some(member) = self.members.get_mut(&request.member) else {
            return;
        };
        let unchanged = member.protocols == request.protocols && member.subscription == request.subscription;
        let again = match self.state {
            State::Completing => unchanged,
            State::Stable => unchanged && !leads,
            State::Empty | State::Preparing { .. } => false,
        };
        member.contact = Contact::Heard(cx.now);
        if again {
            member.awaits = None;
            let client = member.client;
            let joined = JoinAnswer::Joined(Box::new(self.joined(&request.member)));
            out.reply(client, id, GroupResponse::Join(joined));
            return;
        }
        (member.session, member.rebalance, member.every) = (request.session, request.rebalance, request.every);
        member.protocols = request.protocols;
        member.subscription = request.subscription;
        member.awaits = Some(Awaits::Join(id));
        self.gather(out, cx);
    }

    /// Begins a rebalance, or goes on with the one that is under way.
    fn gather(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let longest = self.longest_rebalance();
        match self.state {
            State::Preparing { .. } => {}
            State::Empty => {
                let delay = initial_delay(cx);
                self.prepare(
                    cx.now + delay,
                    Some(First {
                        remaining: longest.saturating_sub(delay),
                        newcomers: false,
                    }),
                    cx,
                );
            }
            State::Completing | State::Stable => {
                self.answer_syncs(&Err(Errors::RebalanceInProgress), out);
                self.prepare(cx.now + longest, None, cx);
            }
        }
        self.complete_if_all_joined(out, cx);
    }

    fn prepare(&mut self, due: Micros, first: Option<First>, cx: &mut Cx<'_>) {
        self.state = State::Preparing { due, first };
        self.unsynced.clear();
        let (broker, group, generation) = (broker(cx), self.id, self.generation);
        let rule = if first.is_some() {
            Rule::GroupInitialDelay
        } else {
            Rule::GroupRebalance
        };
        cx.say(rule, || What::RebalanceBegun {
            broker,
            group,
            generation,
        });
    }

    fn complete_if_all_joined(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let all = self.pending.is_empty() && self.members.values().all(Member::has_joined);
        if all && matches!(self.state, State::Preparing { first: None, .. }) {
            self.complete_join(out, cx);
        }
    }

    /// The group has gathered, or has waited long enough: a new generation begins with those who have come, and with the
    /// static members. One of those who have come leads it; if nobody has, the group goes on waiting.
    fn complete_join(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let late = |member: &Member| !member.has_joined() && member.instance.is_none();
        let late = self.members_that(late);
        for id in late {
            self.remove(&id, Departure::DidNotRejoin, cx);
        }
        let longest = self.longest_rebalance();
        if !self.members.is_empty() && !self.elect() {
            self.state = State::Preparing {
                due: cx.now + longest,
                first: None,
            };
            return;
        }
        self.generation += 1;
        if self.members.is_empty() {
            self.become_empty(out, cx);
            return;
        }
        self.protocol = self.vote();
        self.state = State::Completing;
        self.unsynced = self.members.keys().cloned().collect();
        self.sync_by = cx.now + longest;
        let (broker, group, generation) = (broker(cx), self.id, self.generation);
        let members: Vec<ClientId> = self.members.values().map(|member| member.client).collect();
        let protocol = self.protocol.map_or("", Assignor::name);
        cx.say(Rule::GroupRebalance, || What::GenerationFormed {
            broker,
            group,
            generation,
            protocol,
            members,
        });
        let all: Vec<MemberId> = self.members.keys().cloned().collect();
        for id in all {
            let answer = JoinAnswer::Joined(Box::new(self.joined(&id)));
            let Some(member) = self.members.get_mut(&id) else {
                continue;
            };
            member.contact = match member.contact {
                // A static member that is away: its session begins anew.
                Contact::Silent(_) if !member.has_joined() => Contact::Silent(cx.now + member.session),
                _ => Contact::Heard(cx.now),
            };
            self.answer_join(&id, answer, out);
        }
    }

    /// Sees to it that somebody who has joined leads. Says whether there is anybody.
    fn elect(&mut self) -> bool {
        let has_joined = |id: &MemberId| self.members.get(id).is_some_and(Member::has_joined);
        if !self.leader.as_ref().is_some_and(has_joined) {
            let Some(joined) = self.members.keys().find(|id| has_joined(id)) else {
                return false;
            };
            self.leader = Some(Arc::clone(joined));
        }
        true
    }

    fn become_empty(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        self.state = State::Empty;
        self.protocol = None;
        self.leader = None;
        self.empty_since = Some(cx.wall_ms());
        let (broker, group, generation) = (broker(cx), self.id, self.generation);
        cx.say(Rule::GroupRebalance, || What::GenerationFormed {
            broker,
            group,
            generation,
            protocol: "",
            members: Vec::new(),
        });
        out.write(vec![self.entry(&SortedMap::new(), cx)], Then::Nothing);
    }

    /// The assignor that most members like best, of those that all can run.
    fn vote(&self) -> Option<Assignor> {
        let all = |protocol: &Assignor| self.members.values().all(|member| member.protocols.contains(protocol));
        let mut votes: Vec<(Assignor, usize)> = Vec::new();
        for member in self.members.values() {
            let Some(best) = member.protocols.iter().copied().find(all) else {
                continue;
            };
            match votes.iter_mut().find(|(protocol, _)| *protocol == best) {
                Some((_, count)) => *count += 1,
                None => votes.push((best, 1)),
            }
        }
        let most = votes.iter().map(|(_, count)| *count).max()?;
        votes
            .into_iter()
            .find(|(_, count)| *count == most)
            .map(|(protocol, _)| protocol)
    }

    fn joined(&self, id: &MemberId) -> Joined {
        let leader = self.leader.clone().unwrap_or_default();
        let everybody = || {
            let member = |(id, member): (&MemberId, &Member)| JoinedMember {
                id: Arc::clone(id),
                instance: member.instance.clone(),
                subscription: member.subscription.clone(),
            };
            self.members.iter().map(member).collect()
        };
        Joined {
            generation: self.generation,
            protocol: self.protocol.unwrap_or(Assignor::Range),
            members: if *id == leader { everybody() } else { Vec::new() },
            leader,
            member: Arc::clone(id),
            skip_assignment: false,
        }
    }

    /// Checks who asks: a known member of this generation.
    fn check(&self, standing: &Standing, cx: &Cx<'_>) -> Result<(), Errors> {
        self.validate(&standing.member, standing.instance.as_ref())?;
        if standing.epoch != self.generation && cx.holds(Rule::GroupGeneration) {
            return Err(Errors::IllegalGeneration);
        }
        Ok(())
    }

    /// A member asks for its assignment; the leader brings everybody's.
    pub fn sync(
        &mut self,
        id: Correlation,
        from: ClientId,
        standing: &Standing,
        brought: Vec<(MemberId, SortedSet<Slot>)>,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) {
        let state = self.state;
        let checked = match (self.check(standing, cx), state) {
            (Err(error), _) => Err(error),
            (Ok(()), State::Empty) => Err(Errors::UnknownMemberId),
            (Ok(()), State::Preparing { .. }) => Err(Errors::RebalanceInProgress),
            (Ok(()), State::Completing | State::Stable) => Ok(()),
        };
        let leads = self.leader.as_ref() == Some(&standing.member);
        let member = match checked {
            Ok(()) => self.members.get_mut(&standing.member),
            Err(error) => {
                out.reply(from, id, GroupResponse::Sync(Err(error)));
                return;
            }
        };
        let Some(member) = member else { return };
        self.unsynced.remove(&standing.member);
        member.contact = Contact::Heard(cx.now);
        if state == State::Stable {
            out.reply(from, id, GroupResponse::Sync(Ok(member.assignment.clone())));
            return;
        }
        member.awaits = Some(Awaits::Sync(id));
        if leads {
            let brought: SortedMap<MemberId, SortedSet<Slot>> = brought.into_iter().collect();
            let entry = self.entry(&brought, cx);
            let (group, generation) = (self.id, self.generation);
            out.write(
                vec![entry],
                Then::Assign {
                    group,
                    generation,
                    shares: brought,
                },
            );
        }
    }

    /// The leader's assignment is written and replicated: everybody gets its share.
    pub fn assigned(
        &mut self,
        generation: i32,
        shares: &SortedMap<MemberId, SortedSet<Slot>>,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) {
        if generation != self.generation || self.state != State::Completing {
            return;
        }
        self.state = State::Stable;
        for (id, member) in &mut self.members {
            member.assignment = shares.get(id).cloned().unwrap_or_default();
            if let Some(Awaits::Sync(correlation)) = member.awaits {
                member.awaits = None;
                member.contact = Contact::Heard(cx.now);
                let share = member.assignment.clone();
                out.reply(member.client, correlation, GroupResponse::Sync(Ok(share)));
            }
        }
        let (broker, group) = (broker(cx), self.id);
        cx.say(Rule::GroupAssign, || What::GroupStable {
            broker,
            group,
            generation,
        });
    }

    /// The leader's assignment could not be replicated in time: everybody has to join again.
    pub fn not_assigned(&mut self, generation: i32, error: Errors, out: &mut Out, cx: &mut Cx<'_>) {
        if generation == self.generation && self.state == State::Completing {
            self.answer_syncs(&Err(error), out);
            self.gather(out, cx);
        }
    }

    fn answer_syncs(&mut self, answer: &Result<SortedSet<Slot>, Errors>, out: &mut Out) {
        for member in self.members.values_mut() {
            if let Some(Awaits::Sync(correlation)) = member.awaits {
                member.awaits = None;
                out.reply(member.client, correlation, GroupResponse::Sync(answer.clone()));
            }
        }
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

    /// Whether offsets may be committed by somebody who says this of himself.
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

    /// When the next session ends that can end: not of those who wait for an answer.
    pub fn session_due(&self) -> Option<Micros> {
        let silent = self.members.values().filter(|member| member.awaits.is_none());
        let silent = silent.filter_map(|member| match member.contact {
            Contact::Silent(until) => Some(until),
            Contact::Heard(_) => None,
        });
        silent.chain(self.pending.values().copied()).min()
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
            self.members
                .values_mut()
                .for_each(|member| member.contact = Contact::Heard(now));
            return;
        }
        let over = |member: &Member| {
            member.awaits.is_none() && matches!(member.contact, Contact::Silent(until) if until <= now)
        };
        let over = self.members_that(over);
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
    millis(cx.settings.broker(broker(cx)).group_initial_rebalance_delay_ms)
}

/// Milliseconds of a config as microseconds; a negative one is none.
pub(super) fn millis(ms: i64) -> Micros {
    (ms.max(0) as Micros).saturating_mul(1_000)
}
