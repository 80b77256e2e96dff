//! From batches to requests: which brokers something is ready for, and what goes to each.
//!
//! A broker is ready when one of the partitions that it leads has a batch that is full, has waited long enough, or must
//! leave because the client closes or its memory is full. Then the first batch of *every* partition it leads goes along, as
//! far as `max.request.size` allows. Mirrors `RecordAccumulator.ready` and `drain` and `Sender.sendProducerData`, down to
//! the `break` by which a partition that is held back for its sequences holds up the ones behind it.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::{Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{Acks, Message, ProduceRequest};
use crate::cluster::rules::Rule;
use crate::cluster::settings::from_millis;
use crate::sorted::SortedSet;

use super::accumulator::{BatchId, Waits};
use super::{Asks, Life, Producer, bytes};

impl Producer {
    /// Sends whatever can be sent now. Says whether anything was.
    pub(super) fn work(&mut self, cx: &mut Cx) -> bool {
        if self.is_idempotent(cx) {
            self.sequences.settle(&mut self.batches);
        }
        self.expire(cx);
        self.ask_metadata(cx);
        if self.config.partitioner_adaptive_partitioning_enable {
            let accumulator = &self.accumulator;
            self.choice
                .report(self.metadata.image(), |topic| accumulator.queue_sizes(topic).collect());
        }
        let mut any = false;
        let mut drained_dry = SortedSet::new();
        while let Some(to) = self.ready(cx).into_iter().find(|to| !drained_dry.contains(to)) {
            let batches = self.drain(to, cx);
            if batches.is_empty() {
                drained_dry.insert(to);
            } else {
                self.produce(to, batches, cx);
                any = true;
            }
        }
        any
    }

    /// What the first batch of a partition waits for.
    pub(super) fn waits(&self, tp: TopicPartition, cx: &Cx) -> Waits {
        let hurry = self.life == Life::Closing || self.is_exhausted();
        let linger = if cx.holds(Rule::Linger) {
            from_millis(self.config.linger_ms)
        } else {
            0
        };
        self.accumulator.waits(&self.batches, tp, linger, hurry, cx.now)
    }

    /// The brokers for which something is ready, and to which a request can leave.
    fn ready(&mut self, cx: &Cx) -> SortedSet<BrokerId> {
        let mut ready = SortedSet::new();
        let heads: Vec<(TopicPartition, BatchId)> = self.accumulator.heads().map(|(tp, id, _)| (tp, id)).collect();
        for (tp, id) in heads {
            let Some((leader, epoch)) = self.metadata.leader(tp) else {
                continue;
            };
            self.see_leader_epoch(id, epoch);
            let has_room = self.has_room(leader, cx) && self.connections.can_send(leader, cx);
            if has_room && self.waits(tp, cx) == Waits::Ready {
                ready.insert(leader);
            }
        }
        ready
    }

    fn see_leader_epoch(&mut self, id: BatchId, epoch: i32) {
        if self
            .batches
            .get(id)
            .is_some_and(|batch| !batch.knows_leader_epoch(epoch))
            && let Some(batch) = self.batches.get_mut(id)
        {
            batch.see_leader_epoch(epoch);
        }
    }

    /// Whether another request may wait for an answer of this broker.
    fn has_room(&self, to: BrokerId, cx: &Cx) -> bool {
        let most = bytes(self.config.max_in_flight_requests_per_connection);
        !cx.holds(Rule::InFlight) || self.connections.waiting(to) < most
    }

    /// Takes the first batch of every partition that this broker leads, as far as one request can hold them.
    fn drain(&mut self, to: BrokerId, cx: &Cx) -> Vec<(TopicPartition, BatchId)> {
        let idempotent = self.is_idempotent(cx);
        let led = self
            .metadata
            .image()
            .partitions
            .iter()
            .filter(|(_, partition)| partition.leader == Some(to));
        let led: Vec<(TopicPartition, i32)> = led.map(|(&tp, partition)| (tp, partition.leader_epoch)).collect();
        let start = self.accumulator.drain_start(to, led.len());
        let mut size = 0;
        let mut drained = Vec::new();
        for step in 0..led.len() {
            let at = (start + step) % led.len();
            let (tp, epoch) = led[at];
            self.accumulator.drained_at(to, at);
            let Some(id) = self.accumulator.first(tp).filter(|_| !self.accumulator.is_muted(tp)) else {
                continue;
            };
            self.see_leader_epoch(id, epoch);
            let Some(first) = self.batches.get(id) else { continue };
            if first.backs_off_until().is_some_and(|until| until > cx.now) {
                continue;
            }
            if !drained.is_empty() && size + first.size() > bytes(self.config.max_request_size) {
                break;
            }
            if idempotent && self.sequences.holds_back(first) {
                break;
            }
            size += first.size();
            self.accumulator.take_first(tp);
            drained.push((tp, id));
            if idempotent && let Some(batch) = self.batches.get_mut(id).filter(|batch| batch.stamp.is_none()) {
                self.sequences.give(batch, id);
            }
        }
        drained
    }

    /// Sends a request with these batches.
    fn produce(&mut self, to: BrokerId, batches: Vec<(TopicPartition, BatchId)>, cx: &mut Cx) {
        let mut request = ProduceRequest {
            acks: self.acks(),
            timeout_ms: self.config.request_timeout_ms,
            batches: Vec::with_capacity(batches.len()),
        };
        let mut tags: Vec<(TopicPartition, Arc<[u64]>)> = Vec::with_capacity(batches.len());
        let mut attempt = 1;
        for &(tp, id) in &batches {
            if let Some(batch) = self.batches.get_mut(id) {
                request.batches.push((tp, batch.drain()));
                tags.push((tp, batch.shared_tags()));
                attempt = attempt.max(batch.attempts + 1);
            }
            if self.config.max_in_flight_requests_per_connection == 1 && cx.holds(Rule::InFlight) {
                self.accumulator.mute(tp);
            }
        }
        let (client, acks) = (self.id, request.acks);
        let rule = match (acks, attempt) {
            (Acks::None, _) => Rule::SendAcks0,
            (_, 1) => Rule::Linger,
            _ => Rule::Retry,
        };
        cx.say(rule, || What::ProduceSent {
            client,
            to,
            acks,
            attempt,
            batches: tags,
        });
        let request = Arc::new(request);
        if acks == Acks::None {
            let correlation = self.connections.correlation();
            self.connections
                .send_only(to, Message::Produce(correlation, request), cx);
            self.sent_without_answer(batches, cx);
        } else {
            let message = |correlation| Message::Produce(correlation, request);
            self.connections.send(to, Asks::Produce(batches), message, cx);
        }
    }

    /// `acks=0`: what has left counts as sent, and nothing more is said.
    fn sent_without_answer(&mut self, batches: Vec<(TopicPartition, BatchId)>, cx: &mut Cx) {
        for (tp, id) in batches {
            self.accumulator.unmute(tp);
            let Some(batch) = self.batches.remove(id) else { continue };
            for &tag in batch.tags() {
                self.tell(Tag::from_bits(tag), Some(tp), Outcome::Sent, Rule::SendAcks0, cx);
            }
        }
    }

    /// Whether a request to this broker can leave at all.
    pub(super) fn can_send(&self, to: BrokerId, cx: &Cx) -> bool {
        self.connections.can_send(to, cx) || cx.reach.can(Node::Broker(to))
    }
}
