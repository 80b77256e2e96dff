//! Raw sends: one produce request with one record straight to one broker, whoever leads.
//!
//! No metadata, no sequences, no retry: the answer, a lost connection or a time-out decides the record. Each stands for a
//! connection of its own, so it counts for no limit of the client's, and its time-out closes nothing else. It is how the
//! recordings of a real cluster were driven.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::{Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{Acks, Correlation, Message, ProduceRequest, ProduceResult};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::{Batch, Encoder, Errors, Record};

use super::super::alarms::{Deadlines, earliest};
use super::Producer;

#[derive(Clone, Debug, PartialEq)]
struct Raw {
    correlation: Correlation,
    to: BrokerId,
    sent: Micros,
    tag: Tag,
    partition: TopicPartition,
}

/// The raw requests that wait for an answer, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Raws(Vec<Raw>);

impl Raws {
    fn take(&mut self, which: impl Fn(&Raw) -> bool) -> Vec<Raw> {
        let (taken, left) = self.0.drain(..).partition(which);
        self.0 = left;
        taken
    }

    /// Whether the request with this record waits.
    pub(super) fn holds(&self, tag: Tag) -> bool {
        self.0.iter().any(|raw| raw.tag == tag)
    }

    /// Their time-outs.
    pub(super) fn deadlines(&self, timeout: Micros, deadlines: &mut Deadlines) {
        for raw in &self.0 {
            let timer = Timer::with(TimerKind::Request, Node::Broker(raw.to));
            earliest(deadlines, timer, raw.sent.saturating_add(timeout));
        }
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.len(self.0.len());
        for raw in &self.0 {
            encoder.u32(raw.correlation);
            encoder.u16(raw.to.0);
            encoder.u32(raw.tag.number);
            encoder.u16(raw.partition.topic.0);
            encoder.u32(raw.partition.partition);
        }
    }

    /// The part that does, relative to now.
    pub(super) fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        for raw in &self.0 {
            encoder.u64(now - raw.sent);
        }
    }
}

impl Producer {
    /// Sends one record straight to a broker. Without a way to it the record fails at once.
    pub(super) fn send_raw(&mut self, tag: Tag, tp: TopicPartition, to: BrokerId, record: Record, cx: &mut Cx) {
        if !self.can_send(to, cx) {
            self.decide_raw(tag, tp, Outcome::Failed(Errors::NetworkException), Rule::TellFailed, cx);
            return;
        }
        let acks = self.acks();
        let tags: Arc<[u64]> = Arc::new([tag.to_bits()]);
        let request = ProduceRequest {
            acks,
            timeout_ms: self.config.request_timeout_ms,
            batches: vec![(tp, Batch::build(&[record], None, Arc::clone(&tags)))],
        };
        let client = self.id;
        cx.say(Rule::Act, || What::ProduceSent {
            client,
            to,
            acks,
            attempt: 1,
            batches: vec![(tp, tags)],
        });
        let correlation = self.connections.correlation();
        self.connections
            .send_only(to, Message::Produce(correlation, Arc::new(request)), cx);
        if acks == Acks::None {
            self.decide_raw(tag, tp, Outcome::Sent, Rule::SendAcks0, cx);
        } else {
            self.raws.0.push(Raw {
                correlation,
                to,
                sent: cx.now,
                tag,
                partition: tp,
            });
        }
    }

    /// An answer that belongs to no ordinary request.
    pub(super) fn on_raw_answer(
        &mut self,
        from: BrokerId,
        correlation: Correlation,
        results: &[ProduceResult],
        cx: &mut Cx,
    ) {
        for raw in self.raws.take(|raw| raw.to == from && raw.correlation == correlation) {
            let result = results.iter().find(|result| result.partition == raw.partition);
            let (outcome, rule) = match result.map(|result| (result.error, result.base_offset)) {
                Some((None, offset)) => (Outcome::Acked(offset.unwrap_or(-1)), Rule::TellAcked),
                Some((Some(error), _)) => (Outcome::Failed(error), Rule::TellFailed),
                None => (Outcome::Failed(Errors::UnknownServerError), Rule::TellFailed),
            };
            self.decide_raw(raw.tag, raw.partition, outcome, rule, cx);
        }
    }

    /// The broker has closed the connection, or the path to it had been interrupted.
    pub(super) fn fail_raws(&mut self, peer: BrokerId, cx: &mut Cx) {
        for raw in self.raws.take(|raw| raw.to == peer) {
            let outcome = Outcome::Failed(Errors::NetworkException);
            self.decide_raw(raw.tag, raw.partition, outcome, Rule::TellFailed, cx);
        }
    }

    /// Raw requests that have waited too long.
    pub(super) fn time_out_raws(&mut self, peer: BrokerId, timeout: Micros, cx: &mut Cx) {
        let now = cx.now;
        for raw in self
            .raws
            .take(|raw| raw.to == peer && raw.sent.saturating_add(timeout) <= now)
        {
            let outcome = Outcome::Failed(Errors::RequestTimedOut);
            self.decide_raw(raw.tag, raw.partition, outcome, Rule::ClientTimeout, cx);
        }
    }

    fn decide_raw(&mut self, tag: Tag, tp: TopicPartition, outcome: Outcome, rule: Rule, cx: &mut Cx) {
        self.tell(tag, Some(tp), outcome, rule, cx);
        self.application.decided(tag.number, cx.now);
    }
}
