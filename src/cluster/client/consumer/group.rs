//! A consumer as member of its group, and what is special about the classic protocol: it joins, gets its share, and says that
//! it is alive.
//!
//! The leader of a generation assigns the topics of all; the others only ask. Under the eager protocol all partitions are
//! given up before a member joins again, under the cooperative one only those that go to somebody else. Heartbeats that
//! change nothing do not travel: the world tells a member when the next one would be news (see `contact`). Mirrors
//! `AbstractCoordinator` and `ConsumerCoordinator`.
//!
//! Deliberately absent: subscriptions by pattern, rebalance listeners (an application that gets nothing
//! done while it is called takes no time).

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::{Assignor, Group, Member, Slot};
use crate::cluster::client::Life;
use crate::cluster::event::{Loss, What};
use crate::cluster::group::protocol::{
    GroupRequest, GroupResponse, JoinAnswer, JoinGroup, Joined, JoinedMember, MemberId, Standing, Subscription,
};
use crate::cluster::ids::{BrokerId, GroupId, TopicId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::config::Strategy;
use crate::log::Errors;
use crate::sorted::{SortedMap, SortedSet};

use super::Consumer;
use super::membership::{CommitWhy, Coordinator, GroupAsks, Membership, Stage, slot};
use super::position::Reading;

/// What the JoinGroup may take beyond the rebalance itself.
const JOIN_SLACK: Micros = 5_000_000;

impl Consumer {
    /// Its group.
    pub fn group(&self) -> Option<GroupId> {
        self.membership.as_ref().map(|membership| membership.group)
    }

    /// Whom it takes for its coordinator, and its standing there, while it has an id.
    pub fn in_contact_with(&self) -> Option<(BrokerId, Standing)> {
        let membership = self.membership.as_ref().filter(|_| self.is_running())?;
        // Under the consumer protocol it keeps its id while it is no member.
        let known = !membership.member.is_empty() && (!self.follows() || membership.generation >= 0);
        let standing = |at| (at, membership.standing(&self.config));
        membership.at().filter(|_| known).map(standing)
    }

    /// When its next heartbeat leaves, if it sends heartbeats and none is under way.
    pub fn next_heartbeat(&self, now: Micros) -> Option<Micros> {
        let membership = self.membership.as_ref().filter(|_| self.life == Life::Running)?;
        let beats = match membership.stage {
            Stage::In => !membership.rejoin,
            Stage::Preparing => self.follows(),
            Stage::Joining | Stage::Assigning(_) | Stage::Syncing | Stage::Out => false,
        };
        let under_way = membership.waits(|what| matches!(what, GroupAsks::Heartbeat | GroupAsks::ConsumerBeat));
        if !beats || under_way || membership.at().is_none() {
            return None;
        }
        let every = self.heartbeat_interval();
        let ticks = now.saturating_sub(membership.joined) / every + 1;
        Some((membership.joined + ticks * every).max(membership.not_before))
    }

    /// The interval of its heartbeats.
    pub(super) fn heartbeat_interval(&self) -> Micros {
        let told = self.membership.as_ref().filter(|_| self.follows());
        let every = told.map(|membership| membership.every);
        every.unwrap_or(from_millis(self.config.heartbeat_interval_ms)).max(1)
    }

    /// Its next heartbeat leaves.
    pub(super) fn beat(&mut self, cx: &mut Cx) {
        if self.follows() {
            self.say_alive(cx);
            return;
        }
        let every = self.heartbeat_interval();
        if self
            .membership
            .as_ref()
            .is_some_and(|membership| membership.stage == Stage::In)
        {
            self.ask_group(
                GroupAsks::Heartbeat,
                |standing| GroupRequest::Heartbeat(standing, every),
                cx,
            );
        }
    }

    /// Does what there is to do about its group.
    pub(super) fn tend_group(&mut self, cx: &mut Cx) {
        if self.membership.is_none() {
            return;
        }
        self.leave_if_idle(cx);
        self.find_coordinator(cx);
        self.learn_of_loss(cx);
        if self.follows() {
            self.follow(cx);
        } else {
            self.assign_if_known(cx);
            self.notice_new_partitions(cx);
            self.join_if_needed(cx);
        }
        // What is committed before a rebalance takes the interval's place.
        self.commit_by_interval(cx);
        self.send_commits(cx);
        self.fetch_offsets(cx);
        self.finish_closing(cx);
    }

    /// The application polls.
    pub(super) fn note_poll(&mut self, now: Micros) {
        if let Some(membership) = &mut self.membership {
            membership.last_poll = now;
        }
    }

    /// The leader looks whether the group's topics have other partitions than it has assigned.
    fn notice_new_partitions(&mut self, cx: &Cx) {
        let counts = self.partition_counts(cx);
        let Some(membership) = &mut self.membership else { return };
        if membership.stage == Stage::In && membership.assigned_over.as_ref().is_some_and(|over| *over != counts) {
            membership.rejoin = true;
        }
    }

    /// How many partitions each topic that it watches has, as far as this client knows.
    fn partition_counts(&self, cx: &Cx) -> SortedMap<Arc<str>, u32> {
        let Some(membership) = &self.membership else {
            return SortedMap::new();
        };
        let count = |name: &Arc<str>| {
            let topic = self.topic(name, cx)?;
            let known = self.metadata.image().partitions.keys();
            let count = known.filter(|tp| tp.topic == topic).count() as u32;
            Some((Arc::clone(name), count))
        };
        membership.watched.iter().filter_map(count).collect()
    }

    /// The topic of this name that exists, as far as this client knows.
    pub(super) fn topic(&self, name: &Arc<str>, cx: &Cx) -> Option<TopicId> {
        let image = self.metadata.image();
        let named = cx.settings.topics.iter().rev().filter(|(_, topic)| topic.name == *name);
        let exists = |id: &TopicId| {
            let first = TopicPartition {
                topic: *id,
                partition: 0,
            };
            image.partition(first).is_some()
        };
        named.map(|(id, _)| *id).find(exists)
    }

    fn join_if_needed(&mut self, cx: &mut Cx) {
        let polls = self.is_polling() && self.life == Life::Running;
        let Some(membership) = self.membership.as_ref().filter(|_| polls) else {
            return;
        };
        if !membership.rejoin || membership.at().is_none() || membership.not_before > cx.now {
            return;
        }
        match membership.stage {
            Stage::Out => self.send_join(cx),
            Stage::In => {
                self.prepare_to_join(cx);
            }
            Stage::Preparing if membership.commits.is_empty() && !self.commits_under_way() => {
                self.give_up_before_join(cx);
                self.send_join(cx);
            }
            Stage::Preparing | Stage::Joining | Stage::Assigning(_) | Stage::Syncing => {}
        }
    }

    pub(super) fn commits_under_way(&self) -> bool {
        let membership = self.membership.as_ref();
        membership.is_some_and(|membership| membership.waits(|what| matches!(what, GroupAsks::Commit(_))))
    }

    /// Before it joins again it commits, if it commits by itself. What it is to give up it reads no longer meanwhile
    /// (`maybeMarkPartitionsPendingRevocation`).
    fn prepare_to_join(&mut self, cx: &mut Cx) {
        self.commit_by_itself(CommitWhy::Revoke, cx);
        if self.gives_up_to_join(cx) {
            self.order.clear();
            self.arrived.clear();
        }
        if let Some(membership) = &mut self.membership {
            membership.stage = Stage::Preparing;
        }
        self.send_commits(cx);
        if !self.commits_under_way() {
            self.give_up_before_join(cx);
            self.send_join(cx);
        }
    }

    /// Whether it gives up everything before it joins again.
    fn gives_up_to_join(&self, cx: &Cx) -> bool {
        self.membership.as_ref().is_some_and(Membership::is_eager) && cx.holds(Rule::GroupRevoke)
    }

    fn give_up_before_join(&mut self, cx: &mut Cx) {
        if self.gives_up_to_join(cx) {
            let all: Vec<TopicPartition> = self.readings.keys().copied().collect();
            self.give_up(&all, cx);
        }
    }

    /// It gives partitions up, so that others may have them.
    pub(super) fn give_up(&mut self, partitions: &[TopicPartition], cx: &mut Cx) {
        self.take_away(partitions, Loss::Revoked, Rule::GroupRevoke, cx);
    }

    /// Partitions are no longer read.
    pub(super) fn take_away(&mut self, partitions: &[TopicPartition], by: Loss, rule: Rule, cx: &mut Cx) {
        if partitions.is_empty() {
            return;
        }
        for tp in partitions {
            self.readings.remove(tp);
        }
        self.order.retain(|tp| !partitions.contains(tp));
        self.arrived.retain(|tp| !partitions.contains(tp));
        let Some(membership) = &mut self.membership else { return };
        membership.committed.retain(|tp, _| !partitions.contains(tp));
        let (client, group, partitions) = (self.id, membership.group, partitions.to_vec());
        cx.say(rule, || What::PartitionsTaken {
            client,
            group,
            by,
            partitions,
        });
    }

    fn send_join(&mut self, cx: &mut Cx) {
        let mut owned = self.owned(cx);
        let wanted_id = self.wanted_id();
        let is_configured = |strategy| self.config.partition_assignment_strategy.contains(&strategy);
        let remembers = is_configured(Strategy::Sticky) && !is_configured(Strategy::CooperativeSticky);
        let Some(membership) = &mut self.membership else { return };
        let mut generation = membership.generation;
        if let Some((slots, since)) = membership.remembered.as_ref().filter(|_| remembers) {
            (owned, generation) = (slots.clone(), *since);
        }
        membership.stage = Stage::Out;
        let session = from_millis(self.config.session_timeout_ms);
        let rebalance = from_millis(self.config.max_poll_interval_ms);
        let every = from_millis(self.config.heartbeat_interval_ms);
        let protocols = self
            .config
            .partition_assignment_strategy
            .iter()
            .map(|strategy| assignor(*strategy));
        let request = JoinGroup {
            group: membership.group,
            member: Arc::clone(&membership.member),
            instance: self.config.group_instance_id.clone(),
            wanted_id,
            session,
            rebalance,
            every,
            protocols: protocols.collect(),
            subscription: Subscription {
                topics: membership.topics.clone(),
                owned,
                generation,
            },
        };
        let allowance = (rebalance + JOIN_SLACK).max(from_millis(self.config.request_timeout_ms));
        if self.ask_group(GroupAsks::Join(allowance), |_| GroupRequest::Join(request), cx)
            && let Some(membership) = &mut self.membership
        {
            membership.stage = Stage::Joining;
        }
    }

    /// The id that it would like, drawn when it has none: its own name as a static member, or its client's, and a part that
    /// is left to chance.
    fn wanted_id(&mut self) -> MemberId {
        let has_id = self
            .membership
            .as_ref()
            .is_some_and(|membership| !membership.member.is_empty());
        if has_id {
            return MemberId::default();
        }
        let mut draw = || self.chance.draw();
        let (a, b, c, d, e) = (draw(), draw(), draw(), draw(), draw());
        let [b, c, d] = [b, c, d].map(|part| part & 0xffff);
        let name = self.config.group_instance_id.as_ref().unwrap_or(&self.name);
        format!("{name}-{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}").into()
    }

    /// What it owns, by name.
    fn owned(&self, cx: &Cx) -> SortedSet<Slot> {
        let by_name = |tp: &TopicPartition| slot(*tp, &cx.settings.topic(tp.topic).name);
        self.readings.keys().map(by_name).collect()
    }

    /// An answer about its group has come.
    pub(super) fn on_group_answer(&mut self, asked: GroupAsks, answer: GroupResponse, cx: &mut Cx) {
        match (asked, answer) {
            (GroupAsks::Join(_), GroupResponse::Join(answer)) => self.on_join_answer(answer, cx),
            (GroupAsks::Sync, GroupResponse::Sync(answer)) => self.on_sync_answer(answer, cx),
            (GroupAsks::Heartbeat, GroupResponse::Heartbeat(answer)) => {
                if let Some(error) = answer {
                    self.on_group_error(error, cx);
                } else if let Some(membership) = &mut self.membership {
                    membership.attempts = 0;
                }
            }
            (GroupAsks::ConsumerBeat, GroupResponse::ConsumerBeat(answer)) => self.on_beaten(answer, cx),
            (GroupAsks::Commit(commit), GroupResponse::Commit(answer)) => self.on_committed(commit, answer, cx),
            (GroupAsks::FetchOffsets(asked), GroupResponse::FetchOffsets(answer)) => {
                self.on_offsets_fetched(&asked, answer, cx);
            }
            _ => {}
        }
    }

    fn on_join_answer(&mut self, answer: JoinAnswer, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        if membership.stage != Stage::Joining {
            return;
        }
        membership.stage = Stage::Out;
        match answer {
            JoinAnswer::IdGiven(member) => membership.member = member,
            JoinAnswer::Joined(joined) => {
                membership.member = Arc::clone(&joined.member);
                membership.generation = joined.generation;
                membership.protocol = Some(joined.protocol);
                membership.rejoin = false;
                membership.joined = cx.now;
                membership.attempts = 0;
                self.prepare_to_assign(joined, cx);
            }
            JoinAnswer::Refused(error) => self.on_group_error(error, cx),
        }
    }

    /// The leader takes over everybody's topics. If there are others among them than its own it asks the cluster for those
    /// before it assigns; if it asks already it waits for the answer (`updateGroupSubscription`).
    fn prepare_to_assign(&mut self, joined: Box<Joined>, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        let leads = joined.leader == joined.member;
        let of_all = joined.members.iter().flat_map(|member| &member.subscription.topics);
        membership.watched = of_all.filter(|_| leads).cloned().collect();
        if !membership.watched.is_subset(&membership.topics) {
            self.metadata.want_new_topics();
        } else if !leads || self.metadata.is_idle() {
            return self.ask_share(&joined, cx);
        }
        membership.stage = Stage::Assigning(joined);
    }

    /// The leader assigns once the cluster has told what it asked.
    fn assign_if_known(&mut self, cx: &mut Cx) {
        let told = self.life == Life::Running && self.metadata.is_idle();
        let Some(membership) = self.membership.as_mut().filter(|_| told) else {
            return;
        };
        if let Stage::Assigning(joined) = &membership.stage {
            let joined = joined.clone();
            self.ask_share(&joined, cx);
        }
    }

    /// Asks for its share; the leader brings everybody's.
    fn ask_share(&mut self, joined: &Joined, cx: &mut Cx) {
        let leads = joined.leader == joined.member;
        let counts = self.partition_counts(cx);
        let shares = if leads && !joined.skip_assignment && cx.holds(Rule::GroupAssign) {
            assign(joined, counts.clone())
        } else {
            Vec::new()
        };
        if let Some(membership) = &mut self.membership {
            membership.stage = Stage::Syncing;
            membership.assigned_over = leads.then_some(counts);
        }
        if !self.ask_group(GroupAsks::Sync, |standing| GroupRequest::Sync(standing, shares), cx)
            && let Some(membership) = &mut self.membership
        {
            membership.stage = Stage::Out;
            membership.rejoin = true;
        }
    }

    fn on_sync_answer(&mut self, answer: Result<SortedSet<Slot>, Errors>, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        if membership.stage != Stage::Syncing {
            return;
        }
        match answer {
            Ok(share) => {
                membership.stage = Stage::In;
                if membership.protocol == Some(Assignor::Sticky) {
                    membership.remembered = Some((share.clone(), membership.generation));
                }
                membership.next_auto_commit = cx.now + from_millis(self.config.auto_commit_interval_ms);
                self.take_share(&share, cx);
            }
            Err(error) => {
                membership.stage = Stage::Out;
                membership.rejoin = true;
                self.on_group_error(error, cx);
            }
        }
    }

    /// It reads this share from now on: what it keeps goes on where it stands, what it gets begins at the group's commit.
    fn take_share(&mut self, share: &SortedSet<Slot>, cx: &mut Cx) {
        let newest = |name: &Arc<str>| {
            let mut named = cx.settings.topics.iter().rev().filter(|(_, topic)| topic.name == *name);
            named.next().map(|(id, _)| *id)
        };
        // The leader may know more of the cluster.
        let partition = |slot: &Slot| {
            let topic = self.topic(&slot.topic, cx).or_else(|| newest(&slot.topic))?;
            Some(TopicPartition {
                topic,
                partition: slot.partition,
            })
        };
        let wanted: SortedSet<TopicPartition> = share.iter().filter_map(partition).collect();
        let gone: Vec<TopicPartition> = self
            .readings
            .keys()
            .copied()
            .filter(|tp| !wanted.contains(tp))
            .collect();
        self.give_up(&gone, cx);
        for &tp in &wanted {
            if !self.readings.contains_key(&tp) {
                self.readings.insert(tp, Reading::default());
                self.order.push(tp);
            }
        }
        let Some(membership) = &mut self.membership else { return };
        // What was given up goes to somebody else only when everybody has joined again.
        if !membership.is_eager() && !gone.is_empty() {
            membership.rejoin = true;
        }
        let (client, group, generation) = (self.id, membership.group, membership.generation);
        cx.say(Rule::GroupAssign, || What::Assigned {
            client,
            group,
            generation,
            partitions: wanted.into_iter().collect(),
        });
    }

    /// The coordinator has refused something.
    pub(super) fn on_group_error(&mut self, error: Errors, cx: &mut Cx) {
        let backoff = self.backoff();
        let Some(membership) = &mut self.membership else { return };
        match error {
            Errors::RebalanceInProgress => membership.rejoin = true,
            Errors::UnknownMemberId => {
                membership.member = MemberId::default();
                self.lose_membership(Rule::GroupGeneration, cx);
            }
            Errors::IllegalGeneration => self.lose_membership(Rule::GroupGeneration, cx),
            Errors::FencedInstanceId => {
                membership.member = MemberId::default();
                self.lose_membership(Rule::GroupStatic, cx);
                self.fail_group(error, cx);
            }
            error if error.is_retriable() => {
                let wait = backoff.draw(membership.attempts, &mut self.chance);
                membership.attempts += 1;
                membership.not_before = cx.now + wait;
                membership.coordinator = Coordinator::Unknown;
                if matches!(membership.stage, Stage::Joining | Stage::Syncing) {
                    membership.stage = Stage::Out;
                }
            }
            error => self.fail_group(error, cx),
        }
    }
}

/// The assignor that a strategy names.
fn assignor(strategy: Strategy) -> Assignor {
    match strategy {
        Strategy::Range => Assignor::Range,
        Strategy::RoundRobin => Assignor::RoundRobin,
        Strategy::Sticky => Assignor::Sticky,
        Strategy::CooperativeSticky => Assignor::CooperativeSticky,
    }
}

/// Shares the partitions out among the members of a generation.
fn assign(joined: &Joined, topics: SortedMap<Arc<str>, u32>) -> Vec<(MemberId, SortedSet<Slot>)> {
    let member = |member: &JoinedMember| Member {
        id: Arc::clone(&member.id),
        instance: member.instance.clone(),
        topics: member.subscription.topics.clone(),
        owned: member.subscription.owned.iter().cloned().collect(),
        generation: member.subscription.generation,
    };
    let group = Group {
        topics,
        members: joined.members.iter().map(member).collect(),
    };
    joined.protocol.assign(&group).into_iter().collect()
}
