//! Serving produce requests: what is checked, what is written, when it is answered.
//!
//! Mirrors `KafkaApis.handleProduceRequest`, `ReplicaManager.appendRecords`, `Partition.appendRecordsToLeader` and
//! `DelayedProduce`. Nobody counts acknowledgements: a write with `acks=all` is answered when the high watermark has
//! passed it. An error after the append does not undo the append.
//!
//! Deliberately absent: recompression, quotas, transactions' verification.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::{AppendedAs, What};
use crate::cluster::ids::{Node, TopicPartition};
use crate::cluster::message::{Acks, Correlation, Message, ProduceRequest, ProduceResult};
use crate::cluster::rules::Rule;
use crate::cluster::settings::from_millis;
use crate::log::{AppendOutcome, Appended, Batch, Check, Errors, Origin, TransactionVersion};

use super::channel::{DelayedProduce, PartState, ProducePart, Serving};
use super::process::{Process, Touch};

impl Process {
    /// Serves a produce request.
    pub(super) fn serve_produce(
        &mut self,
        cx: &mut Cx<'_>,
        from: Node,
        id: Correlation,
        request: &Arc<ProduceRequest>,
    ) {
        let mut parts = Vec::with_capacity(request.batches.len());
        for (tp, batch) in &request.batches {
            let admitted = self.admit(cx, *tp, request.acks);
            let state = match admitted.and_then(|()| self.append(cx, *tp, batch, request.acks, origin(cx))) {
                Ok(state) => state,
                Err(error) => {
                    let (broker, tp) = (self.id, *tp);
                    let rule = refusal_rule(error);
                    cx.say(rule, || What::Refused {
                        broker,
                        partition: tp,
                        tags: tags(batch),
                        error,
                    });
                    PartState::Done(self.failed(tp, error))
                }
            };
            parts.push(ProducePart {
                partition: *tp,
                batch: batch.clone(),
                state,
            });
        }
        let waits = match request.acks {
            Acks::All => cx.holds(Rule::AckAll),
            Acks::Leader => !cx.holds(Rule::AckLeader),
            Acks::None | Acks::Other(_) => false,
        };
        let waits = waits && parts.iter().any(ProducePart::is_appended);
        if waits {
            self.delay(cx, from, id, request.timeout_ms, parts);
        } else if request.acks == Acks::None {
            self.close_after_error(cx, from, &parts);
        } else {
            self.answer_produce(cx, from, id, parts, Rule::AckLeader);
        }
    }

    /// What is asked of a client's batch before anybody looks whether this broker leads.
    fn admit(&self, cx: &Cx<'_>, tp: TopicPartition, acks: Acks) -> Result<(), Errors> {
        if let Acks::Other(_) = acks {
            return Err(Errors::InvalidRequiredAcks);
        }
        if self.image.partition(tp).is_none() {
            return Err(Errors::UnknownTopicOrPartition);
        }
        // Only the coordinator writes what groups commit.
        if cx.settings.offsets_topic == Some(tp.topic) {
            return Err(Errors::InvalidTopicException);
        }
        Ok(())
    }

    /// Appends one batch as leader, or says why not.
    pub(super) fn append(
        &mut self,
        cx: &mut Cx<'_>,
        tp: TopicPartition,
        batch: &Batch,
        acks: Acks,
        origin: Origin,
    ) -> Result<PartState, Errors> {
        let replica = self
            .replica(tp)
            .filter(|replica| replica.leading().is_some() || !cx.holds(Rule::NotLeader))
            .ok_or(Errors::NotLeaderOrFollower)?;
        if !cx.holds(Rule::AppendLeader) {
            return Err(Errors::KafkaStorageError);
        }
        let too_few = acks == Acks::All && replica.is_under_min_isr(&self.scene(cx, tp));
        if too_few && cx.holds(Rule::MinIsrAdmission) {
            return Err(Errors::NotEnoughReplicas);
        }
        self.count_off_rounds(cx, tp);
        let now_ms = cx.wall_ms();
        let Some(replica) = self.replica_mut(tp) else {
            return Err(Errors::NotLeaderOrFollower);
        };
        let config = Arc::clone(&replica.config);
        let epoch = replica.leader_epoch;
        let appended = replica.log.append_as_leader(batch, epoch, origin, &config, now_ms);
        let appended = appended.map_err(|refusal| refusal.error)?;
        Ok(self.appended(cx, tp, batch, appended))
    }

    /// What follows from an append on a leader.
    fn appended(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, sent: &Batch, appended: Appended) -> PartState {
        let broker = self.id;
        let log_append_time = appended.log_append_time;
        let (base, last) = (appended.first_offset, appended.last_offset);
        if appended.outcome == AppendOutcome::Duplicate {
            cx.say(Rule::Deduplicate, || What::Duplicate {
                broker,
                partition: tp,
                base,
                last,
                tags: tags(sent),
            });
            return PartState::Appended {
                base,
                last,
                log_append_time,
            };
        }
        self.after_append(cx, tp, &appended, AppendedAs::Leader);
        self.touch(tp, Touch::Appended);
        self.raise_high_watermark(cx, tp);
        PartState::Appended {
            base,
            last,
            log_append_time,
        }
    }

    /// Keeps a write until it is replicated.
    fn delay(
        &mut self,
        cx: &mut Cx<'_>,
        from: Node,
        correlation: Correlation,
        timeout_ms: i64,
        parts: Vec<ProducePart>,
    ) {
        let deadline = cx.now + from_millis(timeout_ms);
        let mut delayed = DelayedProduce {
            correlation,
            deadline,
            parts,
        };
        if self.check(cx, &mut delayed) {
            self.answer_produce(cx, from, correlation, delayed.parts, Rule::AckAll);
            return;
        }
        for part in delayed.parts.iter() {
            if let PartState::Appended { last, .. } = part.state {
                let (broker, partition) = (self.id, part.partition);
                cx.say(Rule::AckAll, || What::AckWaits {
                    broker,
                    partition,
                    required: last + 1,
                });
            }
        }
        if cx.holds(Rule::AckTimeout) {
            cx.arm(Timer::with(TimerKind::Request, from), deadline);
        }
        self.channels.entry(from).or_default().serving = Some(Serving::Produce(delayed));
    }

    /// Decides what can be decided of a delayed write; says whether all of it is.
    fn check(&self, cx: &Cx<'_>, delayed: &mut DelayedProduce) -> bool {
        for part in &mut delayed.parts {
            let PartState::Appended {
                base,
                last,
                log_append_time,
            } = part.state
            else {
                continue;
            };
            let tp = part.partition;
            // An error takes nothing back: the answer says where the records were written all the same.
            let written = succeeded(tp, base, log_append_time);
            let led = self.replica(tp).and_then(|replica| Some((replica, replica.leading()?)));
            let result = match led {
                None => ProduceResult {
                    base_offset: written.base_offset,
                    log_append_time,
                    ..self.failed(tp, Errors::NotLeaderOrFollower)
                },
                Some((replica, _)) if replica.log.high_watermark() <= last => continue,
                Some((_, leading)) => {
                    let enough = self.scene(cx, tp).min_isr <= leading.maximal_isr().len();
                    let fails = !enough && cx.holds(Rule::MinIsrAdmission);
                    ProduceResult {
                        error: fails.then_some(Errors::NotEnoughReplicasAfterAppend),
                        ..written
                    }
                }
            };
            part.state = PartState::Done(result);
        }
        !delayed.parts.iter().any(ProducePart::is_appended)
    }

    /// Looks at a connection's delayed write again.
    pub(super) fn recheck_produce(&mut self, cx: &mut Cx<'_>, from: Node) {
        let Some(Serving::Produce(mut delayed)) = self.take_serving(from) else {
            return;
        };
        if self.check(cx, &mut delayed) {
            cx.disarm(Timer::with(TimerKind::Request, from));
            self.answer_produce(cx, from, delayed.correlation, delayed.parts, Rule::AckAll);
            self.drain(cx, from);
        } else if let Some(channel) = self.channels.get_mut(&from) {
            channel.serving = Some(Serving::Produce(delayed));
        }
    }

    /// A delayed write has waited as long as its request allows: what is not replicated is answered with an error and
    /// stays in the log.
    pub(super) fn time_out_produce(&mut self, cx: &mut Cx<'_>, from: Node) {
        let Some(Serving::Produce(mut delayed)) = self.take_serving(from) else {
            return;
        };
        for part in &mut delayed.parts {
            if let PartState::Appended {
                base, log_append_time, ..
            } = part.state
            {
                let mut result = succeeded(part.partition, base, log_append_time);
                result.error = Some(Errors::RequestTimedOut);
                part.state = PartState::Done(result);
            }
        }
        self.answer_produce(cx, from, delayed.correlation, delayed.parts, Rule::AckTimeout);
        self.drain(cx, from);
    }

    fn answer_produce(&mut self, cx: &mut Cx<'_>, to: Node, id: Correlation, parts: Vec<ProducePart>, rule: Rule) {
        let broker = self.id;
        let mut results = Vec::with_capacity(parts.len());
        for part in parts {
            let result = match part.state {
                PartState::Done(result) => result,
                PartState::Appended {
                    base, log_append_time, ..
                } => succeeded(part.partition, base, log_append_time),
            };
            if let Node::Client(client) = to {
                let outcome = match result.error {
                    Some(error) => Err(error),
                    None => Ok(result.base_offset.unwrap_or(-1)),
                };
                let rule = match result.error {
                    Some(error) if error != Errors::RequestTimedOut => refusal_rule(error),
                    _ => rule,
                };
                let partition = part.partition;
                cx.say(rule, || What::Answered {
                    broker,
                    client,
                    partition,
                    tags: tags(&part.batch),
                    result: outcome,
                });
            }
            results.push(result);
        }
        self.send(cx, to, Message::ProduceResponse(id, results));
    }

    /// Without an answer to carry an error, the broker closes the connection.
    fn close_after_error(&mut self, cx: &mut Cx<'_>, from: Node, parts: &[ProducePart]) {
        let error = parts.iter().find_map(|part| match &part.state {
            PartState::Done(result) => result.error,
            PartState::Appended { .. } => None,
        });
        if error.is_none() || !cx.holds(Rule::Acks0Close) {
            return;
        }
        if let Node::Client(client) = from {
            let broker = self.id;
            cx.say(Rule::Acks0Close, || What::Disconnected { broker, client });
        }
        self.channels.remove(&from);
        cx.close(from);
    }

    fn failed(&self, partition: TopicPartition, error: Errors) -> ProduceResult {
        let elsewhere = error == Errors::NotLeaderOrFollower;
        ProduceResult {
            partition,
            error: Some(error),
            base_offset: None,
            log_append_time: None,
            current_leader: elsewhere.then(|| self.known_leader(partition)).flatten(),
        }
    }
}

impl ProducePart {
    /// Whether it is in the log and not decided yet.
    fn is_appended(&self) -> bool {
        matches!(self.state, PartState::Appended { .. })
    }
}

fn succeeded(partition: TopicPartition, base: i64, log_append_time: Option<i64>) -> ProduceResult {
    ProduceResult {
        partition,
        error: None,
        base_offset: Some(base),
        log_append_time,
        current_leader: None,
    }
}

/// How much of a producer's batch is checked, by the rules in force.
fn origin(cx: &Cx<'_>) -> Origin {
    match (cx.holds(Rule::Deduplicate), cx.holds(Rule::Sequence)) {
        (true, true) => Origin::Client,
        (false, true) => Origin::ClientWithout(Check::Duplicates),
        (true, false) => Origin::ClientWithout(Check::Sequences),
        // What a coordinator sends is checked for neither.
        (false, false) => Origin::Coordinator(TransactionVersion::V1),
    }
}

fn tags(batch: &Batch) -> Arc<[u64]> {
    batch.tags().into()
}

/// The rule behind an error.
fn refusal_rule(error: Errors) -> Rule {
    match error {
        Errors::NotLeaderOrFollower | Errors::UnknownTopicOrPartition => Rule::NotLeader,
        Errors::NotEnoughReplicas | Errors::NotEnoughReplicasAfterAppend => Rule::MinIsrAdmission,
        Errors::OutOfOrderSequenceNumber | Errors::InvalidProducerEpoch => Rule::Sequence,
        _ => Rule::Validate,
    }
}
