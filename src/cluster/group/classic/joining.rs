//! How members of a group under the classic protocol gather, and a generation begins.
//!
//! Whoever is new, has changed or is told so joins and waits for the others; when all have, or have had their time, they are
//! told the generation, the assignor that all can run, and who assigns. Mirrors `classicGroupJoin` and
//! `completeClassicGroupJoin` of `GroupMetadataManager`.
//!
//! Deliberately absent: `group.max.size`.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Assignor;
use crate::cluster::event::{Departure, What};
use crate::cluster::group::out::{Out, Then, broker};
use crate::cluster::group::protocol::{GroupResponse, JoinAnswer, JoinGroup, Joined, JoinedMember, MemberId};
use crate::cluster::ids::ClientId;
use crate::cluster::message::Correlation;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::Errors;
use crate::sorted::{SortedMap, SortedSet};

use super::member::{Awaits, Contact, Member};
use super::{ClassicGroup, First, State, initial_delay};

/// So long a new member waits for its first generation: it sends no heartbeats meanwhile, and whether its client is still
/// there cannot be seen. Whoever is refused asks again (`CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS`).
const NEW_MEMBER_JOIN_TIMEOUT: Micros = from_millis(5 * 60 * 1_000);

impl ClassicGroup {
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

    fn add(&mut self, from: ClientId, id: Correlation, request: JoinGroup, out: &mut Out, cx: &mut Cx<'_>) {
        let name = Arc::clone(&request.member);
        self.say_joined(Rule::GroupRebalance, from, &name, cx);
        self.leader.get_or_insert_with(|| Arc::clone(&name));
        let member = Member {
            new_until: Some(cx.now + NEW_MEMBER_JOIN_TIMEOUT),
            ..Member::new(from, id, request, SortedSet::new(), cx.now)
        };
        self.members.insert(name, member);
        if let State::Preparing { first: Some(first), .. } = &mut self.state {
            first.newcomers = true;
        }
        self.gather(out, cx);
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
        let new = Arc::clone(&request.wanted_id);
        let member = Member::new(from, id, request, before.assignment.clone(), cx.now);
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
    pub(super) fn answer_join(&mut self, id: &MemberId, answer: JoinAnswer, out: &mut Out) {
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
    pub(super) fn gather(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
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

    pub(super) fn complete_if_all_joined(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let all = self.pending.is_empty() && self.members.values().all(Member::has_joined);
        if all && matches!(self.state, State::Preparing { first: None, .. }) {
            self.complete_join(out, cx);
        }
    }

    /// The group has gathered, or has waited long enough: a new generation begins with those who have come, and with the
    /// static members. One of those who have come leads it; if nobody has, the group goes on waiting.
    pub(super) fn complete_join(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
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
            member.new_until = None;
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

    /// Whether all members could run one of these assignors.
    fn can_run(&self, protocols: &[Assignor]) -> bool {
        let all = |protocol: &Assignor| self.members.values().all(|member| member.protocols.contains(protocol));
        protocols.iter().any(all)
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

    fn say_joined(&self, rule: Rule, client: ClientId, member: &MemberId, cx: &mut Cx<'_>) {
        let (broker, group, member) = (broker(cx), self.id, Arc::clone(member));
        cx.say(rule, || What::MemberJoined {
            broker,
            group,
            client,
            member,
        });
    }
}
