//! Requests to delete records that wait until every replica has taken the new log start over.
//!
//! Mirrors `DelayedDeleteRecords` and `Partition.lowWatermarkIfLeader`. The leader moves its log start at once; the request
//! is answered when the low watermark, the least log start among the leader and the followers on live brokers, has reached
//! the offset, and with a time-out if that takes longer than the request may.
//!
//! Deliberately absent: an operator's client that tries again at another leader. Who stops leading answers that it did;
//! when the broker goes, the connection that the answer would come on is lost.

use crate::cluster::actor::{Cx, Effect, Timer, TimerKind};
use crate::cluster::event::What;
use crate::cluster::ids::TopicPartition;
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::Errors;
use crate::sorted::SortedMap;

use super::process::{Process, Touch};

/// How long a request waits: the admin client's `request.timeout.ms`.
const PATIENCE: Micros = 30_000_000;

/// The name of the act that these requests come from.
const ACT: &str = "delete-records";

/// What the requests that wait want, by partition; a later one for the same partition takes an earlier one's place.
pub(super) type Deletes = SortedMap<TopicPartition, i64>;

impl Process {
    /// Deletes the records below an offset (−1 is the high watermark), as leader.
    pub(super) fn delete_records(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, offset: i64) {
        match self.move_log_start(cx, tp, offset) {
            Err(error) => answer(cx, Some(error)),
            Ok(to) if self.low_watermark(tp).is_some_and(|low| low >= to) => answer(cx, None),
            Ok(to) => {
                self.deletes.insert(tp, to);
                cx.arm(Timer::on(TimerKind::Request, tp), cx.now + PATIENCE);
            }
        }
    }

    /// Moves the leader's log start, and says up to where the others must follow.
    fn move_log_start(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, offset: i64) -> Result<i64, Errors> {
        // What groups commit is deleted by compaction alone.
        if cx.settings.offsets_topic == Some(tp.topic) {
            return Err(Errors::InvalidTopicException);
        }
        let broker = self.id;
        let leads = self.replica_mut(tp).filter(|replica| replica.leading().is_some());
        let replica = leads.ok_or(Errors::NotLeaderOrFollower)?;
        let policy = replica.config.cleanup_policy;
        if policy.compact && !policy.delete {
            return Err(Errors::PolicyViolation);
        }
        let watermark = replica.log.high_watermark();
        let to = if offset == -1 { watermark } else { offset };
        if to < 0 || to > watermark {
            return Err(Errors::OffsetOutOfRange);
        }
        let from = replica.log.log_start_offset();
        let moved = replica.log.maybe_increment_log_start(to);
        if moved.map_err(|refusal| refusal.error)? {
            replica.log.write_epochs_if_due();
            cx.say(Rule::Act, || What::LogStart {
                broker,
                partition: tp,
                from,
                to,
            });
            self.touch(tp, Touch::LogStart);
        }
        Ok(to)
    }

    /// The least log start among the leader and the followers on brokers that are alive, as far as the leader knows.
    fn low_watermark(&self, tp: TopicPartition) -> Option<i64> {
        let own = self.replica(tp)?.log.log_start_offset();
        let remotes = self.leading(tp)?.remotes.iter();
        let others = remotes
            .filter(|(id, _)| self.image.is_alive(**id))
            .map(|(_, remote)| remote.log_start);
        Some(others.fold(own, i64::min))
    }

    /// Looks whether a request for this partition can be answered now.
    pub(super) fn recheck_delete(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let Some(&to) = self.deletes.get(&tp) else { return };
        match self.low_watermark(tp) {
            None => self.end_delete(cx, tp, Some(Errors::NotLeaderOrFollower)),
            Some(low) if low >= to => self.end_delete(cx, tp, None),
            Some(_) => {}
        }
    }

    /// A request has waited long enough. The log start stays where it was moved to.
    pub(super) fn time_out_delete(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        self.end_delete(cx, tp, Some(Errors::RequestTimedOut));
    }

    /// The process is gone, and with it the connections on which requests wait.
    pub(super) fn lose_deletes(&self, cx: &mut Cx<'_>) {
        if !self.deletes.is_empty() {
            answer(cx, Some(Errors::NetworkException));
        }
    }

    fn end_delete(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, error: Option<Errors>) {
        if self.deletes.remove(&tp).is_some() {
            cx.disarm(Timer::on(TimerKind::Request, tp));
            answer(cx, error);
        }
    }
}

fn answer(cx: &mut Cx<'_>, answer: Option<Errors>) {
    cx.effects.push(Effect::Answer(ACT, answer));
}
