//! A consumer as member of its group, under the consumer protocol (KIP-848): it says that it is there, and follows.
//!
//! All that it sends is one kind of heartbeat, and the answer tells it what to read. What it is to read no longer it gives
//! up, after a commit if it commits by itself; then it takes what is new, and says at once what it has now. Nobody waits for
//! it but those who get what it gives up. Mirrors `ConsumerMembershipManager` and `ConsumerHeartbeatRequestManager`.
//!
//! Deliberately absent: subscriptions by pattern, rebalance listeners.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Assignor;
use crate::cluster::client::Life;
use crate::cluster::event::What;
use crate::cluster::group::protocol::{Beaten, ConsumerBeat, GroupRequest, MemberId};
use crate::cluster::ids::TopicPartition;
use crate::cluster::rules::Rule;
use crate::cluster::settings::from_millis;
use crate::config::{GroupProtocol, RemoteAssignor};
use crate::log::Errors;
use crate::sorted::SortedSet;

use super::Consumer;
use super::leaving::refusal;
use super::membership::{CommitWhy, GroupAsks, Membership, Stage};
use super::position::Reading;

/// The characters of Kafka's `Uuid` as text.
const UUID_LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// The length of that text.
const UUID_LENGTH: usize = 22;

impl Consumer {
    /// Whether it speaks the consumer protocol.
    pub(super) fn follows(&self) -> bool {
        self.config.group_protocol == GroupProtocol::Consumer
    }

    /// Does what there is to do about its group.
    pub(super) fn follow(&mut self, cx: &mut Cx) {
        let polls = self.is_polling() && self.life == Life::Running;
        let Some(membership) = self.membership.as_ref().filter(|_| self.life == Life::Running) else {
            return;
        };
        if membership.at().is_none() || membership.not_before > cx.now || membership.beats() {
            return;
        }
        match membership.stage {
            Stage::Out if polls && membership.rejoin => self.join_by_heartbeat(cx),
            Stage::Preparing if membership.commits.is_empty() && !self.commits_under_way() => self.adopt(cx),
            Stage::In if membership.beat_now => {
                self.say_alive(cx);
            }
            Stage::In if polls && self.has_to_follow(membership) => self.prepare_to_follow(cx),
            _ => {}
        }
    }

    /// It joins, or joins again after it was fenced, and says everything.
    fn join_by_heartbeat(&mut self, cx: &mut Cx) {
        let id = self.own_id();
        let Some(membership) = &mut self.membership else { return };
        membership.member = id;
        membership.generation = 0;
        membership.say_everything();
        if self.say_alive(cx)
            && let Some(membership) = &mut self.membership
        {
            membership.stage = Stage::Joining;
        }
    }

    /// Its id: the same for as long as its process lives.
    fn own_id(&mut self) -> MemberId {
        if let Some(membership) = self
            .membership
            .as_ref()
            .filter(|membership| !membership.member.is_empty())
        {
            return Arc::clone(&membership.member);
        }
        let mut letter = || UUID_LETTERS[self.chance.draw() as usize % UUID_LETTERS.len()] as char;
        (0..UUID_LENGTH).map(|_| letter()).collect::<String>().into()
    }

    /// Sends a heartbeat, with what has changed since the last one. Says whether it left.
    pub(super) fn say_alive(&mut self, cx: &mut Cx) -> bool {
        let rebalance = from_millis(self.config.max_poll_interval_ms);
        let assignor = self.config.group_remote_assignor.map(|assignor| match assignor {
            RemoteAssignor::Uniform => Assignor::Uniform,
            RemoteAssignor::Range => Assignor::ServerRange,
        });
        let Some(membership) = &mut self.membership else {
            return false;
        };
        let (everything, topics) = (membership.tells_everything, membership.topics.clone());
        let news = everything || membership.told_owned != membership.adopted;
        let told = membership.adopted.clone();
        let owned = told.clone().unwrap_or_default();
        let beat = |by| ConsumerBeat {
            by,
            rebalance: everything.then_some(rebalance),
            topics: everything.then_some(topics),
            assignor: assignor.filter(|_| everything),
            owned: news.then_some(owned),
        };
        let request = |by| GroupRequest::ConsumerBeat(Box::new(beat(by)));
        let left = self.ask_group(GroupAsks::ConsumerBeat, request, cx);
        if let Some(membership) = self.membership.as_mut().filter(|_| left) {
            membership.joined = cx.now;
            membership.beat_now = false;
            membership.tells_everything = false;
            membership.told_owned = told;
        }
        left
    }

    /// A heartbeat was answered.
    pub(super) fn on_beaten(&mut self, answer: Result<Beaten, Errors>, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        let beaten = match answer {
            Ok(beaten) => beaten,
            Err(error) => return self.on_beat_refused(error, cx),
        };
        membership.attempts = 0;
        if beaten.epoch < 0 || membership.stage == Stage::Out {
            return;
        }
        membership.generation = beaten.epoch;
        membership.every = beaten.every;
        membership.rejoin = false;
        if membership.stage == Stage::Joining {
            membership.stage = Stage::In;
        }
        if let Some(assignment) = beaten.assignment {
            let unknown = |tp: &TopicPartition| self.metadata.image().partition(*tp).is_none();
            if assignment.iter().any(unknown) {
                self.metadata.want(None);
            }
            membership.target = Some(assignment);
        }
    }

    fn on_beat_refused(&mut self, error: Errors, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        membership.say_everything();
        match error {
            Errors::FencedMemberEpoch | Errors::UnknownMemberId => self.lose_membership(Rule::GroupMemberEpoch, cx),
            error if error.is_retriable() => {
                if membership.stage == Stage::Joining {
                    membership.stage = Stage::Out;
                }
                membership.beat_now = membership.stage != Stage::Out;
                self.on_group_error(error, cx);
            }
            // Asking again would change nothing (`transitionToFatal`).
            error => {
                membership.beat_now = false;
                self.lose_membership(refusal(error), cx);
                self.fail_group(error, cx);
            }
        }
    }

    /// Whether it is to read something else than it does, as far as it knows the topics, or has just joined.
    fn has_to_follow(&self, membership: &Membership) -> bool {
        let target = membership.target.as_ref();
        target.is_some_and(|target| membership.adopted.as_ref() != Some(&self.known_of(target)))
    }

    /// Those partitions whose topic it knows, or that it has already.
    fn known_of(&self, partitions: &SortedSet<TopicPartition>) -> SortedSet<TopicPartition> {
        let has = |tp: &TopicPartition| self.readings.contains_key(tp);
        let first = |tp: &TopicPartition| TopicPartition { partition: 0, ..*tp };
        let known = |tp: &TopicPartition| self.metadata.image().partition(first(tp)).is_some();
        partitions.iter().copied().filter(|tp| has(tp) || known(tp)).collect()
    }

    /// Before it follows it commits, if it commits by itself. What it is to give up it reads no longer.
    fn prepare_to_follow(&mut self, cx: &mut Cx) {
        self.commit_by_itself(CommitWhy::Revoke, cx);
        let leaving = self.to_give_up(cx);
        self.order.retain(|tp| !leaving.contains(tp));
        self.arrived.retain(|tp| !leaving.contains(tp));
        if let Some(membership) = &mut self.membership {
            membership.stage = Stage::Preparing;
        }
        self.send_commits(cx);
        if !self.commits_under_way() {
            self.adopt(cx);
        }
    }

    /// What it reads and is not to read any longer.
    fn to_give_up(&self, cx: &Cx) -> Vec<TopicPartition> {
        if !cx.holds(Rule::GroupRevoke) {
            return Vec::new();
        }
        let target = self
            .membership
            .as_ref()
            .and_then(|membership| membership.target.as_ref());
        let stays = |tp: &TopicPartition| target.is_some_and(|target| target.contains(tp));
        self.readings.keys().copied().filter(|tp| !stays(tp)).collect()
    }

    /// It reads what it is told from now on, as far as it knows the topics, and says so.
    fn adopt(&mut self, cx: &mut Cx) {
        let gone = self.to_give_up(cx);
        self.give_up(&gone, cx);
        let target = self
            .membership
            .as_ref()
            .and_then(|membership| membership.target.clone());
        let target = target.unwrap_or_default();
        let adopted = self.known_of(&target);
        let Some(membership) = &mut self.membership else { return };
        membership.adopted = Some(adopted.clone());
        membership.stage = Stage::In;
        membership.next_auto_commit = cx.now + from_millis(self.config.auto_commit_interval_ms);
        for &tp in &adopted {
            if !self.readings.contains_key(&tp) {
                self.readings.insert(tp, Reading::default());
                self.order.push(tp);
            }
        }
        let Some(membership) = &self.membership else { return };
        let (client, group, generation) = (self.id, membership.group, membership.generation);
        cx.say(Rule::GroupReconcile, || What::Assigned {
            client,
            group,
            generation,
            partitions: adopted.into_iter().collect(),
        });
        self.say_alive(cx);
    }
}
