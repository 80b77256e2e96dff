//! How a consumer ceases to be a member of its group: it goes, its application is away for too long, or it is told that it
//! is none.
//!
//! Whoever goes commits first, if it commits by itself, and then says so; a static member does not under the classic
//! protocol, and under the consumer protocol says that it will be back. Mirrors `AbstractCoordinator.maybeLeaveGroup`,
//! `ConsumerCoordinator.close` and `ConsumerMembershipManager.leaveGroupEpoch`.
//!
//! Deliberately absent: `CloseOptions`, by which an application can ask for the other way.

use crate::cluster::actor::Cx;
use crate::cluster::client::Life;
use crate::cluster::event::{Loss, ReadError, What};
use crate::cluster::group::protocol::{AWAY, ConsumerBeat, GroupRequest, LEAVES, MemberId, Standing};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::input::Polls;
use crate::cluster::message::Message;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::config::GroupProtocol;
use crate::log::Errors;

use super::Consumer;
use super::membership::{Commit, CommitWhy, Membership, Stage};

impl Consumer {
    /// A member whose application has not polled for too long goes.
    pub(super) fn leave_if_idle(&mut self, cx: &mut Cx) {
        if self.idle_due(cx).is_none_or(|due| due > cx.now) {
            return;
        }
        let client = self.id;
        cx.say(Rule::PollInterval, || What::PollIntervalPassed { client });
        self.send_leave(cx);
        self.leave_membership(cx);
    }

    /// When its application will have been away for too long.
    pub(super) fn idle_due(&self, cx: &Cx) -> Option<Micros> {
        let membership = self.membership.as_ref().filter(|_| self.life == Life::Running)?;
        let member = !membership.member.is_empty() && membership.stage != Stage::Out;
        let told = self.polls == Polls::WhenTold;
        (member && told && cx.holds(Rule::PollInterval))
            .then(|| membership.last_poll + from_millis(self.config.max_poll_interval_ms))
    }

    /// It belongs to its group no longer, by this rule: others may have its partitions. Under the classic protocol its
    /// application learns of it in its next poll (`onJoinPrepare`), and has its partitions until then.
    pub(super) fn lose_membership(&mut self, rule: Rule, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        membership.target = None;
        membership.adopted = None;
        membership.generation = -1;
        membership.stage = Stage::Out;
        membership.rejoin = true;
        membership.lost = Some(rule);
        if self.follows() || self.is_polling() {
            self.take_lost(cx);
        }
    }

    /// What it has lost is taken away.
    fn take_lost(&mut self, cx: &mut Cx) {
        let Some(rule) = self.membership.as_mut().and_then(|membership| membership.lost.take()) else {
            return;
        };
        let all: Vec<TopicPartition> = self.readings.keys().copied().collect();
        self.take_away(&all, Loss::Lost, rule, cx);
    }

    /// The application polls again, after its partitions were lost: now it learns of it, once the coordinator is known.
    pub(super) fn learn_of_loss(&mut self, cx: &mut Cx) {
        let known = self
            .membership
            .as_ref()
            .is_some_and(|membership| membership.at().is_some());
        if known && self.is_polling() {
            self.take_lost(cx);
        }
    }

    /// It has left by itself, and begins as if it had never been a member.
    fn leave_membership(&mut self, cx: &mut Cx) {
        let keeps_id = self.follows();
        if let Some(membership) = &mut self.membership {
            if !keeps_id {
                membership.member = MemberId::default();
            }
            membership.connections.forget(|_, _| true);
        }
        self.lose_membership(Rule::PollInterval, cx);
    }

    /// The application sees an error of its group, and the consumer does nothing more about it.
    pub(super) fn fail_group(&mut self, error: Errors, cx: &mut Cx) {
        let client = self.id;
        if let Some(membership) = &mut self.membership {
            membership.rejoin = false;
        }
        cx.say(refusal(error), || What::ConsumerError {
            client,
            partition: None,
            error: ReadError::Answered(error),
        });
        if self.poll.is_some() {
            self.end_poll();
        }
    }

    /// It goes: first what it commits by itself, then its word to the coordinator.
    pub(super) fn begin_closing(&mut self, cx: &mut Cx) {
        self.life = Life::Closing;
        let member = self
            .membership
            .as_ref()
            .is_some_and(|membership| membership.stage == Stage::In);
        if member {
            self.commit_by_itself(CommitWhy::Close, cx);
        }
    }

    /// Ends when nothing is left to be said, or nobody is there to hear it.
    pub(super) fn finish_closing(&mut self, cx: &mut Cx) {
        if self.life != Life::Closing {
            return;
        }
        let at = self.membership.as_ref().and_then(Membership::at);
        let heard = at.is_some_and(|at| cx.reach.can(Node::Broker(at)));
        let left = |commit: &Commit| !commit.offsets.is_empty();
        let pending = self.commits_under_way()
            || self
                .membership
                .as_ref()
                .is_some_and(|membership| membership.commits.iter().any(left));
        if pending && heard {
            return;
        }
        self.send_leave(cx);
        self.end(cx);
    }

    /// It tells its coordinator that it goes. A static member of the classic protocol does not, one of the consumer protocol
    /// says that it will be back.
    fn send_leave(&mut self, cx: &mut Cx) {
        let (follows, is_static) = (self.follows(), self.config.group_instance_id.is_some());
        if is_static && !follows {
            return;
        }
        let is_member =
            |membership: &&mut Membership| !membership.member.is_empty() && (!follows || membership.generation >= 0);
        let Some(membership) = self.membership.as_mut().filter(is_member) else {
            return;
        };
        let can = |broker: &BrokerId| membership.connections.can_send(*broker, cx);
        let Some(to) = membership.at().filter(can) else { return };
        let request = Box::new(match self.config.group_protocol {
            GroupProtocol::Classic => GroupRequest::Leave(membership.standing(&self.config)),
            GroupProtocol::Consumer => {
                let by = Standing {
                    epoch: if is_static { AWAY } else { LEAVES },
                    ..membership.standing(&self.config)
                };
                GroupRequest::ConsumerBeat(Box::new(ConsumerBeat::plain(by)))
            }
        });
        let correlation = membership.connections.correlation();
        membership
            .connections
            .send_only(to, Message::Group(correlation, request), cx);
    }
}

/// The rule by which a coordinator refuses a member for good.
pub(super) fn refusal(error: Errors) -> Rule {
    match error {
        Errors::GroupIdNotFound => Rule::GroupMemberEpoch,
        Errors::FencedInstanceId | Errors::UnreleasedInstanceId => Rule::GroupStatic,
        Errors::InconsistentGroupProtocol => Rule::GroupAssign,
        Errors::InvalidSessionTimeout => Rule::GroupSession,
        _ => Rule::GroupRebalance,
    }
}
