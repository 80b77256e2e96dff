//! What becomes of a batch: acknowledged, sent again, split, or given up.
//!
//! Mirrors `Sender.completeBatch`, `canRetry`, `failBatch` and the expiry of batches. An error answer never says that the
//! record is not in the log: the application learns a failure, the ledger the truth.

use crate::cluster::actor::Cx;
use crate::cluster::event::{Outcome, Tag, What};
use crate::cluster::ids::TopicPartition;
use crate::cluster::message::ProduceResult;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::Errors;

use super::accumulator::BatchId;
use super::batch::ProducerBatch;
use super::{Producer, bytes};

impl Producer {
    /// A produce request was answered.
    pub(super) fn on_answer(
        &mut self,
        mut batches: Vec<(TopicPartition, BatchId)>,
        results: Vec<ProduceResult>,
        cx: &mut Cx,
    ) {
        for result in results {
            let Some(at) = batches.iter().position(|&(tp, _)| tp == result.partition) else {
                continue;
            };
            let (tp, id) = batches.remove(at);
            match result.error {
                None => self.on_success(id, result.base_offset, cx),
                Some(error) => {
                    self.learn_from(tp, error, result.current_leader);
                    self.on_error(id, error, cx);
                }
            }
            self.accumulator.unmute(tp);
        }
        for (tp, id) in batches {
            self.on_error(id, Errors::UnknownServerError, cx);
            self.accumulator.unmute(tp);
        }
    }

    /// An error that says "not here": the leader that the broker named is taken over (KIP-951), or else asked for.
    fn learn_from(&mut self, tp: TopicPartition, error: Errors, leader: Option<(crate::cluster::ids::BrokerId, i32)>) {
        if !is_about_metadata(error) {
            return;
        }
        let named = leader.is_some_and(|(leader, epoch)| self.metadata.learn_leader(tp, leader, epoch));
        if !named {
            self.metadata.want(None);
        }
    }

    fn on_success(&mut self, id: BatchId, base_offset: Option<i64>, cx: &mut Cx) {
        let Some(batch) = self.batches.remove(id) else { return };
        self.sequences.acked(&batch, id);
        self.tell_acked(&batch, base_offset, cx);
    }

    fn tell_acked(&mut self, batch: &ProducerBatch, base_offset: Option<i64>, cx: &mut Cx) {
        let mut offset = base_offset;
        for &tag in batch.tags() {
            let outcome = Outcome::Acked(offset.unwrap_or(-1));
            self.tell(Tag::from_bits(tag), Some(batch.partition), outcome, Rule::TellAcked, cx);
            offset = offset.map(|offset| offset + 1);
        }
    }

    /// A batch was refused, or its request was not answered.
    pub(super) fn on_error(&mut self, id: BatchId, error: Errors, cx: &mut Cx) {
        let Some(batch) = self.batches.get(id) else { return };
        let tp = batch.partition;
        if error == Errors::MessageTooLarge && batch.count() > 1 {
            self.split(id, cx);
            return;
        }
        let created = batch.created;
        let expired = self.lifetime(cx).is_some_and(|lifetime| created + lifetime <= cx.now);
        if !expired && self.can_retry(id, error, cx) {
            self.retry(id, error, cx);
            return;
        }
        let Some(batch) = self.batches.remove(id) else { return };
        self.sequences.forget(tp, id);
        if error == Errors::DuplicateSequenceNumber {
            self.sequences.acked(&batch, id);
            self.tell_acked(&batch, None, cx);
            return;
        }
        let retries_left = bytes(self.config.retries) > batch.attempts as usize;
        self.sequences.failed(&batch, error, retries_left);
        let told = if expired { Errors::RequestTimedOut } else { error };
        self.tell_failed(&batch, told, Rule::TellFailed, cx);
    }

    fn can_retry(&mut self, id: BatchId, error: Errors, cx: &Cx) -> bool {
        let Some(batch) = self.batches.get(id) else {
            return false;
        };
        if bytes(self.config.retries) <= batch.attempts as usize || !cx.holds(Rule::Retry) {
            return false;
        }
        if batch.stamp.is_some() {
            self.sequences.can_retry(batch, error)
        } else {
            error.is_retriable()
        }
    }

    fn retry(&mut self, id: BatchId, error: Errors, cx: &mut Cx) {
        let backoff = self.backoff();
        let Some(batch) = self.batches.get_mut(id) else { return };
        batch.backoff = backoff.draw(batch.attempts, &mut self.chance);
        batch.attempts += 1;
        batch.last_attempt = cx.now;
        let (client, partition, tags) = (self.id, batch.partition, batch.shared_tags());
        self.accumulator.put_back(&self.batches, id);
        cx.say(Rule::Retry, || What::WillRetry {
            client,
            partition,
            tags,
            error,
        });
    }

    fn split(&mut self, id: BatchId, cx: &mut Cx) {
        let Some(big) = self.batches.remove(id) else { return };
        self.sequences.forget(big.partition, id);
        let (client, partition, tags) = (self.id, big.partition, big.shared_tags());
        cx.say(Rule::Retry, || What::WillRetry {
            client,
            partition,
            tags,
            error: Errors::MessageTooLarge,
        });
        for part in big.split(bytes(self.config.batch_size).max(1)).into_iter().rev() {
            let id = self.batches.insert(part);
            if let Some(part) = self.batches.get(id) {
                self.sequences.track(part, id);
            }
            self.accumulator.put_back(&self.batches, id);
        }
    }

    fn tell_failed(&mut self, batch: &ProducerBatch, error: Errors, rule: Rule, cx: &mut Cx) {
        for &tag in batch.tags() {
            self.tell(
                Tag::from_bits(tag),
                Some(batch.partition),
                Outcome::Failed(error),
                rule,
                cx,
            );
        }
    }

    /// How long a batch may take to be decided.
    pub(super) fn lifetime(&self, cx: &Cx) -> Option<Micros> {
        cx.holds(Rule::Expire)
            .then(|| from_millis(self.config.delivery_timeout_ms))
    }

    /// Gives up what was not decided within `delivery.timeout.ms`, on the wire or not.
    pub(super) fn expire(&mut self, cx: &mut Cx) {
        let Some(limit) = self.lifetime(cx).and_then(|lifetime| cx.now.checked_sub(lifetime)) else {
            return;
        };
        if self.batches.oldest().is_none_or(|created| created > limit) {
            return;
        }
        for id in self.batches.created_by(limit) {
            let Some(batch) = self.batches.remove(id) else {
                continue;
            };
            self.accumulator.remove(batch.partition, id);
            self.sequences.forget(batch.partition, id);
            self.sequences.given_up(&batch);
            self.tell_failed(&batch, Errors::RequestTimedOut, Rule::Expire, cx);
        }
    }
}

/// Errors after which a client asks for newer metadata (`InvalidMetadataException`).
fn is_about_metadata(error: Errors) -> bool {
    matches!(
        error,
        Errors::UnknownTopicOrPartition
            | Errors::LeaderNotAvailable
            | Errors::NotLeaderOrFollower
            | Errors::ReplicaNotAvailable
            | Errors::NetworkException
            | Errors::KafkaStorageError
            | Errors::FencedLeaderEpoch
            | Errors::UnknownTopicId
            | Errors::InconsistentTopicId
    )
}
