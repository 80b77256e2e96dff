//! Keeping the ISR: who lags leaves, who has caught up joins, and the controller decides.
//!
//! Mirrors `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `submitAlterPartition`, `handleAlterPartitionUpdate` and
//! `handleAlterPartitionError`. While a change is under way the high watermark already waits for who joins and still
//! waits for who leaves; a write with `acks=all` is admitted by the committed ISR.

use crate::cluster::actor::{Cx, TimerKind};
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{AlterPartition, AlterPartitionResult, Correlation, Message};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::Errors;

use super::alter::{InFlight, RETRY};
use super::lifecycle::CONTROLLER_SOCKET_TIMEOUT;
use super::process::Process;
use super::replica::{IsrChange, PendingIsr};

impl Process {
    /// A follower has fetched: it may have caught up enough to join.
    pub(super) fn expand_isr(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, follower: BrokerId) {
        let Some(replica) = self.replica(tp) else { return };
        if !cx.holds(Rule::IsrExpand) || !replica.may_join(follower, &self.image) {
            return;
        }
        let Some(leading) = replica.leading() else { return };
        let mut isr = leading.isr.clone();
        isr.push(follower);
        self.propose(cx, tp, isr, IsrChange::Expand);
    }

    /// The periodic check: followers that lag leave.
    pub(super) fn shrink_isrs(&mut self, cx: &mut Cx<'_>) {
        let led: Vec<TopicPartition> = self.led().collect();
        for tp in led {
            let kept = self
                .replica(tp)
                .and_then(|replica| replica.isr_without_laggards(&self.scene(cx, tp)));
            if let Some(kept) = kept {
                self.propose(cx, tp, kept, IsrChange::Shrink);
            }
        }
    }

    /// The partitions that this broker leads.
    pub(super) fn led(&self) -> impl Iterator<Item = TopicPartition> + '_ {
        self.replicas
            .iter()
            .filter(|(_, replica)| replica.leading().is_some())
            .map(|(tp, _)| *tp)
    }

    fn propose(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, isr: Vec<BrokerId>, change: IsrChange) {
        let Some(wanted) = self.change_request(tp, &isr) else {
            return;
        };
        if !self.alter.submit(wanted) {
            return;
        }
        let broker = self.id;
        let Some(leading) = self.replica_mut(tp).and_then(|replica| replica.leading_mut()) else {
            return;
        };
        leading.pending = Some(PendingIsr {
            isr: isr.clone(),
            change,
        });
        let from = leading.isr.clone();
        if !cx.holds(Rule::IsrCommit) {
            // What is wanted counts at once, whatever the controller will say.
            leading.isr.clone_from(&isr);
            leading.pending = None;
        }
        let rule = match change {
            IsrChange::Expand => Rule::IsrExpand,
            IsrChange::Shrink => Rule::IsrShrink,
        };
        cx.say(rule, || What::IsrProposed {
            broker,
            partition: tp,
            from,
            to: isr,
        });
        if !cx.holds(Rule::IsrCommit) {
            self.raise_high_watermark(cx, tp);
        }
    }

    fn change_request(&self, tp: TopicPartition, isr: &[BrokerId]) -> Option<AlterPartition> {
        let replica = self.replica(tp)?;
        let leading = replica.leading()?;
        let epoch_of = |id: &BrokerId| match leading.remotes.get(id) {
            None => self.epoch.unwrap_or(-1),
            Some(remote) => remote.broker_epoch.unwrap_or(-1),
        };
        Some(AlterPartition {
            partition: tp,
            leader_epoch: replica.leader_epoch,
            partition_epoch: replica.partition_epoch,
            isr: isr.iter().map(|id| (*id, epoch_of(id))).collect(),
        })
    }

    /// Sends what is wanted, if nothing is on its way and the controller can be reached.
    pub(super) fn propagate_isr_changes(&mut self, cx: &mut Cx<'_>) {
        let Some(epoch) = self.epoch else { return };
        if !cx.reach.can(Node::Controller) || self.controller.alter_retry.is_some() {
            return;
        }
        let Some(wanted) = self.alter.next_request() else {
            return;
        };
        let correlation = self.correlation();
        self.alter.in_flight = Some(InFlight {
            correlation,
            sent: cx.now,
            lost: false,
        });
        self.send(
            cx,
            Node::Controller,
            Message::AlterPartition(correlation, epoch, wanted),
        );
    }

    /// The controller has answered.
    pub(super) fn on_alter_response(
        &mut self,
        cx: &mut Cx<'_>,
        id: Correlation,
        answer: Result<Vec<(TopicPartition, AlterPartitionResult)>, Errors>,
    ) {
        if self
            .alter
            .in_flight
            .as_ref()
            .is_none_or(|request| request.correlation != id)
        {
            return;
        }
        self.alter.in_flight = None;
        self.arm_controller_timeout(cx);
        match answer {
            Ok(results) => {
                for (tp, result) in results {
                    self.alter.answered(tp);
                    self.take_alter_result(cx, tp, result);
                }
            }
            Err(_) => self.retry_isr_changes(cx),
        }
        self.tend_followers(cx);
    }

    /// Tries a failed request again after a while.
    pub(super) fn retry_isr_changes(&mut self, cx: &mut Cx<'_>) {
        self.alter.in_flight = None;
        self.controller.alter_retry = Some(cx.now + RETRY);
        self.arm_controller(cx);
    }

    fn take_alter_result(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, result: AlterPartitionResult) {
        let Some(replica) = self.replica(tp) else { return };
        if replica.leading().is_none_or(|leading| leading.pending.is_none()) {
            return;
        }
        match result {
            AlterPartitionResult::Ok {
                leader_epoch,
                isr,
                partition_epoch,
                ..
            } => {
                if leader_epoch == replica.leader_epoch && partition_epoch >= replica.partition_epoch {
                    self.commit_isr(cx, tp, isr, partition_epoch);
                }
            }
            AlterPartitionResult::Err(error) => self.isr_refused(cx, tp, error),
        }
    }

    fn commit_isr(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, isr: Vec<BrokerId>, partition_epoch: i32) {
        self.count_isr_change(tp, &isr);
        let Some(replica) = self.replica_mut(tp) else { return };
        replica.partition_epoch = partition_epoch;
        let Some(leading) = replica.leading_mut() else { return };
        leading.isr = isr;
        leading.pending = None;
        self.raise_high_watermark(cx, tp);
    }

    /// Counts a change of its own that has come true, whether the controller's answer or its metadata said so first.
    pub(super) fn count_isr_change(&mut self, tp: TopicPartition, isr: &[BrokerId]) {
        let pending = self.leading(tp).and_then(|leading| leading.pending.as_ref());
        let same = |wanted: &[BrokerId]| wanted.len() == isr.len() && wanted.iter().all(|id| isr.contains(id));
        match pending
            .filter(|pending| same(&pending.isr))
            .map(|pending| pending.change)
        {
            Some(IsrChange::Shrink) => self.isr_changes.0 += 1,
            Some(IsrChange::Expand) => self.isr_changes.1 += 1,
            None => {}
        }
    }

    fn isr_refused(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, error: Errors) {
        let broker = self.id;
        cx.say(Rule::AlterValidate, || What::IsrRefused {
            broker,
            partition: tp,
            error,
        });
        match error {
            Errors::OperationNotAttempted | Errors::IneligibleReplica => {
                if let Some(leading) = self.replica_mut(tp).and_then(|replica| replica.leading_mut()) {
                    leading.pending = None;
                }
            }
            // The metadata log will bring the new state.
            Errors::UnknownTopicOrPartition
            | Errors::UnknownTopicId
            | Errors::FencedLeaderEpoch
            | Errors::InvalidUpdateVersion
            | Errors::InvalidRequest
            | Errors::NewLeaderElected => {}
            _ => {
                let pending = self.leading(tp).and_then(|leading| leading.pending.clone());
                let again = pending.and_then(|pending| self.change_request(tp, &pending.isr));
                if let Some(again) = again {
                    self.alter.submit(again);
                }
            }
        }
    }

    /// Arms the check at which somebody in an ISR would count as lagging; nothing is armed while nobody is behind.
    pub(super) fn arm_lag(&mut self, cx: &mut Cx<'_>) {
        let lag = self.lag;
        let deadline = self
            .replicas
            .values()
            .filter_map(|replica| replica.lag_deadline(lag))
            .min();
        let due = deadline.filter(|_| cx.holds(Rule::IsrShrink)).map(|deadline| {
            let after = deadline.max(cx.now);
            Process::next_tick(self.started, lag / 2, after)
        });
        self.arm_once(cx, TimerKind::Lag, due);
    }

    /// When the lost request to change ISRs times out, if there is one.
    pub(super) fn alter_timeout(&self) -> Option<Micros> {
        let lost = self.alter.in_flight.as_ref().filter(|request| request.lost)?;
        Some(lost.sent + CONTROLLER_SOCKET_TIMEOUT)
    }

    /// A request, or its answer, was lost.
    pub(super) fn lose_alter(&mut self) {
        if let Some(request) = &mut self.alter.in_flight {
            request.lost = true;
        }
    }
}
