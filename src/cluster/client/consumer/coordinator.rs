//! How a consumer finds the coordinator of its group, asks it, and loses it.
//!
//! Any broker can say who it is. The connection to it is another than that for fetches, so that a request that waits there
//! holds up nothing else. Who can only wait for news of the cluster says so ([`News`]). Mirrors `AbstractCoordinator`
//! (`lookupCoordinator`, `markCoordinatorUnknown`) and `CoordinatorRequestManager`.
//!
//! Deliberately absent: disconnecting from an old coordinator for its own sake.

use crate::cluster::actor::Cx;
use crate::cluster::client::{Life, News};
use crate::cluster::event::What;
use crate::cluster::group::protocol::{GroupRequest, Standing};
use crate::cluster::ids::BrokerId;
use crate::cluster::message::Message;
use crate::cluster::rules::Rule;
use crate::cluster::settings::from_millis;
use crate::log::Errors;

use super::Consumer;
use super::membership::{Coordinator, GroupAsks, Stage};

impl Consumer {
    /// Whether there is anything to ask the coordinator.
    pub(super) fn needs_coordinator(&self) -> bool {
        let Some(membership) = &self.membership else {
            return false;
        };
        let member = membership.stage != Stage::Out;
        let closing = self.life == Life::Closing;
        self.is_polling() || member || closing || !membership.commits.is_empty()
    }

    pub(super) fn find_coordinator(&mut self, cx: &mut Cx) {
        let needed = self.needs_coordinator();
        let Some(membership) = self.membership.as_mut().filter(|_| needed) else {
            return;
        };
        let wanted = membership.coordinator == Coordinator::Unknown && membership.not_before <= cx.now;
        if !wanted {
            return;
        }
        let can = |broker: &BrokerId| membership.connections.can_send(*broker, cx);
        let all: Vec<BrokerId> = cx.reach.brokers().filter(can).collect();
        let after = |last: BrokerId| all.iter().copied().find(|&id| id > last);
        let next = membership.asked_last.and_then(after).or(all.first().copied());
        let Some(to) = next else { return };
        // Whoever has answered well is asked again, the others in turn.
        membership.asked_last = (membership.attempts > 0).then_some(to);
        membership.coordinator = Coordinator::Asked;
        let group = membership.group;
        let message = |correlation| Message::FindCoordinator(correlation, group);
        membership.connections.send(to, GroupAsks::FindCoordinator, message, cx);
    }

    /// Sends the coordinator a request, if it can be reached. Says whether it left.
    pub(super) fn ask_group(
        &mut self,
        what: GroupAsks,
        request: impl FnOnce(Standing) -> GroupRequest,
        cx: &mut Cx,
    ) -> bool {
        let Some(membership) = &mut self.membership else {
            return false;
        };
        let can = |broker: &BrokerId| membership.connections.can_send(*broker, cx);
        let Some(to) = membership.at().filter(can) else {
            return false;
        };
        let request = Box::new(request(membership.standing(&self.config)));
        let message = |correlation| Message::Group(correlation, request);
        membership.connections.send(to, what, message, cx);
        true
    }

    /// A broker has told who coordinates the group.
    pub(super) fn on_coordinator(&mut self, answer: Result<BrokerId, Errors>, known: i64, cx: &mut Cx) {
        let (client, backoff) = (self.id, self.backoff());
        let Some(membership) = &mut self.membership else { return };
        membership.known = known;
        match answer {
            Ok(broker) => {
                membership.coordinator = Coordinator::At(broker);
                membership.attempts = 0;
                let group = membership.group;
                cx.say(Rule::GroupCoordinator, || What::CoordinatorFound {
                    client,
                    group,
                    broker,
                });
            }
            Err(_) => {
                membership.coordinator = Coordinator::Nowhere;
                membership.not_before = cx.now + backoff.plain(membership.attempts);
                membership.attempts += 1;
            }
        }
    }

    /// Whether only news of the cluster can tell it where its coordinator is.
    pub(super) fn has_lost_coordinator(&self, cx: &Cx) -> bool {
        let Some(membership) = self.membership.as_ref().filter(|_| self.needs_coordinator()) else {
            return false;
        };
        match membership.coordinator {
            Coordinator::Nowhere => true,
            Coordinator::At(broker) => !membership.connections.is_within_reach(broker, cx),
            Coordinator::Unknown | Coordinator::Asked => false,
        }
    }

    /// There are news of the cluster: who coordinates may be told differently now.
    pub(super) fn look_for_coordinator(&mut self) {
        if let Some(membership) = &mut self.membership
            && membership.coordinator != Coordinator::Asked
        {
            membership.coordinator = Coordinator::Unknown;
        }
    }

    /// What it waits for, if only news of the cluster can tell where its coordinator is.
    pub(super) fn news_of_coordinator(&self) -> Option<News> {
        let membership = self.membership.as_ref().filter(|_| self.coordinator_lost)?;
        let backoff = self.backoff();
        Some(News {
            known_offset: membership.known,
            next_poll: membership.not_before,
            then: backoff.plain(membership.attempts),
            every: backoff.longest(),
        })
    }

    /// The connection to the coordinator is gone, or a request on it has taken too long.
    pub(super) fn on_coordinator_lost(&mut self, peer: BrokerId, cx: &mut Cx) {
        let wait = from_millis(self.config.reconnect_backoff_ms);
        let Some(membership) = &mut self.membership else { return };
        let failed = membership.connections.closed(peer, wait, cx.now);
        if membership.at() == Some(peer) {
            membership.coordinator = Coordinator::Unknown;
        }
        for request in failed {
            let Some(membership) = &mut self.membership else { return };
            match request.what {
                GroupAsks::FindCoordinator => membership.coordinator = Coordinator::Unknown,
                GroupAsks::Join(_) => membership.stage = Stage::Out,
                GroupAsks::Sync => {
                    membership.stage = Stage::Out;
                    membership.rejoin = true;
                }
                GroupAsks::Heartbeat => {}
                GroupAsks::ConsumerBeat => {
                    membership.say_everything();
                    membership.beat_now = membership.stage != Stage::Joining;
                    if membership.stage == Stage::Joining {
                        membership.stage = Stage::Out;
                    }
                }
                GroupAsks::Commit(commit) => self.on_commit_unanswered(commit, cx),
                GroupAsks::FetchOffsets(asked) => {
                    for tp in asked {
                        if self.readings.get(&tp).is_some_and(|reading| reading.asked) {
                            self.try_again(tp, cx);
                        }
                    }
                }
            }
        }
    }
}
