//! Committed offsets, from the consumer's side: what it remembers in its group, and where the group says to go on.
//!
//! A commit is one number a partition, the next offset to read. It says nothing of single records: whoever commits before
//! the work is done may lose some, whoever commits after it may get some twice. Mirrors `ConsumerCoordinator` (commits, the
//! look for offsets) and the callers of both in `KafkaConsumer`.
//!
//! Deliberately absent: an automatic commit that would repeat the one before it. Kafka writes it again at every interval;
//! nothing but the size of `__consumer_offsets` tells the difference.

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Slot;
use crate::cluster::client::Life;
use crate::cluster::event::{ReadError, What};
use crate::cluster::group::protocol::{GroupRequest, Remembered, Standing};
use crate::cluster::ids::TopicPartition;
use crate::cluster::input::Polls;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::Errors;

use super::Consumer;
use super::membership::{Commit, CommitWhy, GroupAsks, Membership, Stage, slot};
use super::position::{Position, State};

impl Consumer {
    /// The application commits: these offsets, or where the consumer stands. It waits for the answer.
    pub fn commit(&mut self, offsets: &[(TopicPartition, i64)], cx: &mut Cx) {
        let (stands, follows) = (self.stands(), self.follows());
        let Some(membership) = &mut self.membership else { return };
        let offsets = match offsets {
            [] => stands,
            given => given.iter().map(|&(tp, offset)| (tp, offset, None)).collect(),
        };
        if offsets.is_empty() {
            return;
        }
        // Under the classic protocol it knows by itself that it may not (`CommitFailedException`,
        // `RebalanceInProgressException`); under the consumer protocol the coordinator says so.
        let refused = match membership.stage {
            _ if follows => None,
            Stage::In => None,
            Stage::Out => Some(Errors::UnknownMemberId),
            Stage::Preparing | Stage::Joining | Stage::Assigning(_) | Stage::Syncing => {
                Some(Errors::RebalanceInProgress)
            }
        };
        match refused {
            Some(error) => self.tell_commit_failed(error, cx),
            None => membership.commits.push_back(Commit {
                offsets,
                why: CommitWhy::Asked,
            }),
        }
        self.go_on(cx);
    }

    /// Where it stands in each partition, with the epoch of what it read last.
    fn stands(&self) -> Vec<(TopicPartition, i64, Option<i32>)> {
        let readings = self.readings.iter();
        readings
            .filter_map(|(&tp, reading)| {
                let position = reading.position()?;
                Some((tp, position.offset, position.epoch))
            })
            .collect()
    }

    /// Whether it stands elsewhere than it has committed.
    fn has_to_commit(&self) -> bool {
        let Some(membership) = &self.membership else {
            return false;
        };
        let elsewhere =
            |(tp, offset, _): &(TopicPartition, i64, Option<i32>)| membership.committed.get(tp) != Some(offset);
        self.stands().iter().any(elsewhere)
    }

    /// When it commits by itself, if it does and there is something new to commit.
    pub(super) fn auto_commit_due(&self) -> Option<Micros> {
        let membership = self.membership.as_ref()?;
        let commits = self.commits_in_polls() && self.has_to_commit() && !self.commits_by_interval();
        commits.then_some(membership.next_auto_commit)
    }

    /// Whether it polls now, and looks whether its interval is over while it does.
    fn commits_in_polls(&self) -> bool {
        let is_in = |membership: &Membership| membership.stage == Stage::In;
        let member = self.life == Life::Running && self.membership.as_ref().is_some_and(is_in);
        member && self.config.enable_auto_commit && self.is_polling()
    }

    /// Whether a commit of the interval is under way.
    fn commits_by_interval(&self) -> bool {
        let Some(membership) = &self.membership else {
            return false;
        };
        let own = |commit: &Commit| commit.why == CommitWhy::Interval;
        membership.commits.iter().any(own)
            || membership.waits(|what| matches!(what, GroupAsks::Commit(commit) if own(commit)))
    }

    pub(super) fn commit_by_interval(&mut self, cx: &mut Cx) {
        let interval = from_millis(self.config.auto_commit_interval_ms).max(1);
        match self.polls {
            Polls::ByItself => self.commit_in_passing(interval, cx),
            Polls::WhenTold => self.commit_at_poll(interval, cx),
        }
    }

    /// One that polls all the time has let intervals pass in which there was nothing to commit.
    fn commit_in_passing(&mut self, interval: Micros, cx: &mut Cx) {
        let Some(due) = self.auto_commit_due().filter(|&due| due <= cx.now) else {
            return;
        };
        let passed = (cx.now - due) % interval;
        if passed == 0 {
            self.commit_by_itself(CommitWhy::Interval, cx);
        }
        if let Some(membership) = &mut self.membership {
            membership.next_auto_commit = cx.now - passed + interval;
        }
    }

    /// The interval is looked at in a poll alone, and begins anew there, whether or not there was something to commit.
    fn commit_at_poll(&mut self, interval: Micros, cx: &mut Cx) {
        if !self.commits_in_polls() || self.commits_by_interval() {
            return;
        }
        let due = self.membership.as_ref().map(|membership| membership.next_auto_commit);
        if due.is_none_or(|due| due > cx.now) {
            return;
        }
        self.commit_by_itself(CommitWhy::Interval, cx);
        if let Some(membership) = &mut self.membership {
            membership.next_auto_commit = cx.now + interval;
        }
    }

    /// Commits where it stands, if it commits by itself and stands elsewhere than it has committed.
    pub(super) fn commit_by_itself(&mut self, why: CommitWhy, cx: &Cx) {
        if !self.config.enable_auto_commit || !self.has_to_commit() || !cx.holds(Rule::AutoCommit) {
            return;
        }
        let offsets = self.stands();
        if let Some(membership) = &mut self.membership {
            membership.commits.push_back(Commit { offsets, why });
        }
    }

    /// Sends what is to be committed.
    pub(super) fn send_commits(&mut self, cx: &mut Cx) {
        while let Some(membership) = &mut self.membership {
            if membership.not_before > cx.now || membership.at().is_none() {
                return;
            }
            let Some(commit) = membership.commits.pop_front() else {
                return;
            };
            let by_name = |&(tp, offset, epoch): &(TopicPartition, i64, Option<i32>)| {
                (slot(tp, &cx.settings.topic(tp.topic).name), offset, epoch)
            };
            let offsets = commit.offsets.iter().map(by_name).collect();
            let (client, group) = (self.id, membership.group);
            let told: Vec<(TopicPartition, i64)> = commit.offsets.iter().map(|&(tp, offset, _)| (tp, offset)).collect();
            let rule = match commit.why {
                CommitWhy::Asked => Rule::Act,
                _ => Rule::AutoCommit,
            };
            let asked = GroupAsks::Commit(commit.clone());
            let request = |standing: Standing| GroupRequest::Commit(standing.to_commit(), offsets);
            if !self.ask_group(asked, request, cx) {
                if let Some(membership) = &mut self.membership {
                    membership.commits.push_front(commit);
                }
                return;
            }
            cx.say(rule, || What::CommitSent {
                client,
                group,
                offsets: told,
            });
        }
    }

    /// A commit was answered.
    pub(super) fn on_committed(&mut self, commit: Commit, answer: Option<Errors>, cx: &mut Cx) {
        let Some(membership) = &mut self.membership else { return };
        match answer {
            None => {
                membership.attempts = 0;
                for &(tp, offset, _) in &commit.offsets {
                    if self.readings.contains_key(&tp) {
                        membership.committed.insert(tp, offset);
                    }
                }
            }
            Some(error) if error.is_retriable() => {
                self.on_group_error(error, cx);
                self.on_commit_unanswered(commit, cx);
            }
            Some(error) => {
                let again = matches!(commit.why, CommitWhy::Revoke | CommitWhy::Close);
                let stale = error == Errors::StaleMemberEpoch && membership.generation > 0;
                match commit.why {
                    CommitWhy::Asked => self.tell_commit_failed(error, cx),
                    _ if again && stale => self.on_commit_unanswered(commit, cx),
                    _ => {}
                }
                // Under the consumer protocol only a heartbeat tells a member that it is none.
                if !self.follows() && concerns_membership(error) {
                    self.on_group_error(error, cx);
                }
            }
        }
    }

    /// A commit may or may not have been made: who waits for it, or goes after it, commits again; the interval's turn comes
    /// by itself.
    pub(super) fn on_commit_unanswered(&mut self, commit: Commit, _: &mut Cx) {
        if let Some(membership) = self.membership.as_mut().filter(|_| commit.why != CommitWhy::Interval) {
            membership.commits.push_back(commit);
        }
    }

    fn tell_commit_failed(&self, error: Errors, cx: &mut Cx) {
        let client = self.id;
        let rule = if self.follows() {
            Rule::GroupMemberEpoch
        } else {
            Rule::GroupGeneration
        };
        cx.say(rule, || What::ConsumerError {
            client,
            partition: None,
            error: ReadError::Answered(error),
        });
    }

    /// Asks where the group stands in the partitions that have no position.
    pub(super) fn fetch_offsets(&mut self, cx: &mut Cx) {
        let polls = self.is_polling();
        let Some(membership) = self.membership.as_ref().filter(|_| polls) else {
            return;
        };
        if membership.at().is_none() || membership.not_before > cx.now {
            return;
        }
        let unset = |tp: &&TopicPartition| {
            let reading = self.readings.get(tp);
            reading
                .is_some_and(|reading| reading.state == State::Unset && !reading.asked && reading.not_before <= cx.now)
        };
        let wanted: Vec<TopicPartition> = self.order.iter().filter(unset).copied().collect();
        if wanted.is_empty() {
            return;
        }
        if !cx.holds(Rule::OffsetFetch) {
            wanted.iter().for_each(|&tp| self.reset(tp, ReadError::NoOffset, cx));
            return;
        }
        let slots = wanted
            .iter()
            .map(|&tp| slot(tp, &cx.settings.topic(tp.topic).name))
            .collect();
        let asked = GroupAsks::FetchOffsets(wanted.clone());
        if self.ask_group(asked, |standing| GroupRequest::FetchOffsets(standing, slots), cx) {
            for tp in wanted {
                if let Some(reading) = self.readings.get_mut(&tp) {
                    reading.asked = true;
                }
            }
        }
    }

    /// The coordinator has told where the group stands.
    pub(super) fn on_offsets_fetched(
        &mut self,
        asked: &[TopicPartition],
        answer: Result<Vec<(Slot, Remembered)>, Errors>,
        cx: &mut Cx,
    ) {
        let found = match answer {
            Ok(found) => found,
            Err(error) => {
                asked.iter().for_each(|&tp| self.try_again(tp, cx));
                if !self.follows() || error.is_retriable() {
                    self.on_group_error(error, cx);
                }
                return;
            }
        };
        for (&tp, (_, remembered)) in asked.iter().zip(found) {
            let leader = self.metadata.leader(tp);
            let Some(reading) = self
                .readings
                .get_mut(&tp)
                .filter(|reading| reading.state == State::Unset)
            else {
                continue;
            };
            reading.asked = false;
            let Some((offset, epoch)) = remembered else {
                self.reset(tp, ReadError::NoOffset, cx);
                continue;
            };
            let position = Position { offset, epoch, leader };
            let validates = epoch.is_some() && cx.holds(Rule::ConsumerEpoch);
            reading.enter(if validates {
                State::Validating(position)
            } else {
                State::Fetching(position)
            });
            if let Some(membership) = &mut self.membership {
                membership.committed.insert(tp, offset);
            }
            let client = self.id;
            cx.say(Rule::OffsetFetch, || What::Positioned {
                client,
                partition: tp,
                offset,
            });
        }
    }
}

/// Whether an answer to a commit says that its sender has to join again; any other error the application sees, and no more.
fn concerns_membership(error: Errors) -> bool {
    matches!(
        error,
        Errors::RebalanceInProgress | Errors::UnknownMemberId | Errors::IllegalGeneration
    )
}
