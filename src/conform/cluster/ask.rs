//! Raw requests: one request to exactly one broker, without a client's logic, and its answer.

use super::run::{Observed, Run, named, record};
use super::step::{Query, Send};
use crate::cluster::message::{
    Acks, Correlation, FetchPartition, FetchRequest, Isolation, Message, OffsetSpec, ProduceRequest,
};
use crate::cluster::settings::Micros;
use crate::cluster::{BrokerId, ClientId, Input, Node, TopicPartition, World};
use crate::config::ProducerConfig;
use crate::log::{Batch, Errors, ProducerStamp};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The recorder's socket time-out.
const SOCKET_TIMEOUT: Micros = 30_000_000;
/// Where its requests begin to be numbered, apart from those of the process that sends them.
const FIRST: Correlation = 1 << 20;
/// A fetch answers at most so many bytes.
const ONE_MIB: i32 = 1 << 20;
/// The recorder's process.
const RECORDER: &str = "the recorder";

/// A request that was sent.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    to: BrokerId,
    client: ClientId,
    correlation: Correlation,
    value: Option<Option<String>>,
    /// No connection could be made.
    refused: bool,
}

/// Answers that have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    answers: Vec<(ClientId, BrokerId, Message)>,
    sent: Correlation,
}

impl Inbox {
    /// Notes the message that arrives next on a path, if it is for a client.
    pub fn look(&mut self, world: &World, from: Node, to: Node) {
        let (Node::Broker(broker), Node::Client(client)) = (from, to) else {
            return;
        };
        let heads = world.network().heads();
        let first = heads
            .filter(|(a, b, _)| (*a, *b) == (from, to))
            .map(|(.., m)| &m.message);
        self.answers
            .extend(first.map(|message| (client, broker, message.clone())));
    }

    fn answer(&self, ask: &Ask) -> Option<&Message> {
        let number = |message: &Message| match message {
            Message::ProduceResponse(id, _) | Message::FetchResponse(id, _) => Some(*id),
            Message::ListOffsetsResponse(id, _) => Some(*id),
            Message::EpochEndResponse(id, _) => Some(*id),
            _ => None,
        };
        self.answers
            .iter()
            .find(|(client, from, message)| {
                (*client, *from) == (ask.client, ask.to) && number(message) == Some(ask.correlation)
            })
            .map(|(.., message)| message)
    }

    /// Whether the other end of a connection has closed it.
    fn is_closed(&self, ask: &Ask) -> bool {
        self.answers
            .iter()
            .any(|(client, from, message)| (*client, *from) == (ask.client, ask.to) && *message == Message::Closed)
    }

    fn is_done(&self, world: &World, ask: &Ask) -> bool {
        ask.refused || self.answer(ask).is_some() || !world.broker(ask.to).is_some_and(|b| b.is_running())
    }

    /// Whether all of these are answered, or never will be.
    pub fn all_done(&self, world: &World, asks: &[Ask]) -> bool {
        asks.iter().all(|ask| self.is_done(world, ask))
    }
}

impl Run {
    /// The process that sends raw requests; those of the background have connections of their own.
    fn recorder(&mut self, background: Option<&str>) -> Result<ClientId, String> {
        let name = background.map_or(RECORDER.to_owned(), |name| format!("{RECORDER}, {name}"));
        if self.world.client_named(&name).is_none() {
            let config = Box::new(ProducerConfig::default());
            self.act(Input::AddProducer(name.as_str().into(), config))
                .map_err(|refused| refused.to_string())?;
        }
        self.client(&name)
    }

    /// Sends a request; without a broker to send it to there is no connection.
    fn ask(&mut self, client: ClientId, to: Option<BrokerId>, message: impl FnOnce(Correlation) -> Message) -> Ask {
        self.inbox.sent += 1;
        let correlation = FIRST + self.inbox.sent;
        let mut refused = true;
        if let Some(to) = to {
            let old = |of: &ClientId, from: &BrokerId, message: &Message| {
                (*of, *from) == (client, to) && *message == Message::Closed
            };
            self.inbox.answers.retain(|(of, from, message)| !old(of, from, message));
            let sent = self.act(Input::Request(client, to, Box::new(message(correlation))));
            refused = sent.is_err();
        }
        Ask {
            to: to.unwrap_or(BrokerId(0)),
            client,
            correlation,
            value: None,
            refused,
        }
    }

    /// Sends a request and waits for its answer; `None` without one.
    fn ask_and_wait(
        &mut self,
        to: Option<BrokerId>,
        message: impl FnOnce(Correlation) -> Message,
    ) -> Result<Option<Message>, String> {
        let client = self.recorder(None)?;
        let ask = self.ask(client, to, message);
        self.wait_for(SOCKET_TIMEOUT, |run| run.inbox.is_done(&run.world, &ask));
        Ok(self.inbox.answer(&ask).cloned())
    }

    /// The broker a request goes to: the one named, or else the leader that the controller knows, if there is one.
    fn target(&self, tp: TopicPartition, named: Option<u16>) -> Option<BrokerId> {
        named.map(BrokerId).or(self.world.image().leader(tp))
    }

    /// A `send` step.
    pub(super) fn send(&mut self, send: Send, seen: &mut Observed) -> Result<(), String> {
        let tp = self.partition(&send.place)?;
        let to = self.target(tp, send.b);
        let records = named(&send.records);
        let acks = acks(&send.acks)?;
        let one_batch = send.batch.as_deref() == Some("one");
        let now = self.world.settings().wall_ms(self.world.now());
        let all: Vec<_> = (now + send.records.ts..)
            .zip(&records)
            .map(|(timestamp, (key, value))| record(key.as_deref(), value.as_deref(), timestamp))
            .collect();
        let values: Vec<Option<Option<String>>> = match (one_batch, send.records.n, send.records.pad) {
            (true, ..) => vec![None],
            (false, Some(_), _) | (false, _, Some(_)) => vec![None; all.len()],
            (false, None, None) => records.iter().map(|(_, value)| Some(value.clone())).collect(),
        };
        let size = if one_batch { all.len().max(1) } else { 1 };
        let client = self.recorder(send.r#async.as_deref())?;
        let mut asks = Vec::new();
        let mut results = Vec::new();
        for (at, (records, value)) in all.chunks(size).zip(values).enumerate() {
            let stamp = send.pid.map(|id| ProducerStamp {
                id,
                epoch: send.pepoch,
                base_sequence: send.seq + at as i32,
            });
            let request = ProduceRequest {
                acks,
                timeout_ms: send.timeout,
                batches: vec![(tp, Batch::build(records, stamp, Arc::default()))],
            };
            let mut ask = self.ask(client, to, |id| Message::Produce(id, Arc::new(request)));
            ask.value = value;
            if send.r#async.is_none() {
                results.push(self.produced(&ask, acks));
            } else {
                asks.push(ask);
            }
        }
        match send.r#async {
            Some(name) => {
                self.waiting.insert(name, asks);
            }
            None => {
                seen.insert("to".into(), to.map_or(-1, |id| i32::from(id.0)).into());
                seen.insert("results".into(), results.into());
            }
        }
        Ok(())
    }

    /// Waits for the answers of what was sent in the background.
    pub(super) fn join(&mut self, name: &str, seen: &mut Observed) -> Result<(), String> {
        let asks = self.waiting.remove(name).ok_or("nothing of that name is sent")?;
        let results: Vec<Value> = asks.iter().map(|ask| self.produced(ask, Acks::All)).collect();
        seen.insert("results".into(), results.into());
        Ok(())
    }

    /// Waits for the answer of a produce request.
    fn produced(&mut self, ask: &Ask, acks: Acks) -> Value {
        let mut result = Map::new();
        if let Some(value) = &ask.value {
            result.insert("v".into(), json!(value));
        }
        if acks == Acks::None && !ask.refused {
            let patience = 10 * crate::cluster::settings::DEFAULT_LATENCY;
            let closed = self.wait_for(patience, |run| run.inbox.is_closed(ask));
            let state = if closed { "closed by broker" } else { "open" };
            result.insert("connection".into(), state.into());
            return result.into();
        }
        self.wait_for(SOCKET_TIMEOUT, |run| run.inbox.is_done(&run.world, ask));
        match self.inbox.answer(ask) {
            Some(Message::ProduceResponse(_, parts)) => {
                let part = parts.first();
                put_error(&mut result, part.and_then(|part| part.error));
                if let Some(offset) = part.and_then(|part| part.base_offset) {
                    result.insert("offset".into(), offset.into());
                }
            }
            _ => lost(&mut result),
        }
        result.into()
    }

    /// A `list-offsets` step.
    pub(super) fn list_offsets(&mut self, name: &str, query: &Query, seen: &mut Observed) -> Result<(), String> {
        let tp = self.partition(&query.place)?;
        let to = self.target(tp, query.b);
        let spec = match name {
            "earliest" => OffsetSpec::Earliest,
            "latest" => OffsetSpec::Latest,
            other => OffsetSpec::Timestamp(other.parse().map_err(|_| format!("{other} is no offset"))?),
        };
        let wanted = vec![(tp, query.current, spec)];
        let answer = self.ask_and_wait(to, |id| Message::ListOffsets(id, Isolation::Uncommitted, wanted))?;
        match answer {
            Some(Message::ListOffsetsResponse(_, answers)) => match answers.first().map(|(_, answer)| *answer) {
                Some(Ok(found)) => {
                    put_error(seen, None);
                    seen.insert("offset".into(), found.map_or(-1, |found| found.offset).into());
                    if let Some(epoch) = found.and_then(|found| found.leader_epoch) {
                        seen.insert("leaderEpoch".into(), epoch.into());
                    }
                }
                Some(Err(error)) => put_error(seen, Some(error)),
                None => lost(seen),
            },
            _ => lost(seen),
        }
        Ok(())
    }

    /// An `epoch-end` step.
    pub(super) fn epoch_end(&mut self, epoch: i32, query: &Query, seen: &mut Observed) -> Result<(), String> {
        let tp = self.partition(&query.place)?;
        let to = self.target(tp, query.b);
        let answer = self.ask_and_wait(to, |id| Message::EpochEnd(id, vec![(tp, query.current, epoch)]))?;
        match answer {
            Some(Message::EpochEndResponse(_, answers)) => match answers.first().map(|(_, answer)| *answer) {
                Some(Ok((epoch, end))) => {
                    put_error(seen, None);
                    seen.insert("leaderEpoch".into(), epoch.into());
                    seen.insert("endOffset".into(), end.into());
                }
                Some(Err(error)) => put_error(seen, Some(error)),
                None => lost(seen),
            },
            _ => lost(seen),
        }
        Ok(())
    }

    /// A `fetch` step.
    pub(super) fn fetch(&mut self, offset: i64, query: &Query, seen: &mut Observed) -> Result<(), String> {
        let tp = self.partition(&query.place)?;
        let to = self.target(tp, query.b);
        let request = FetchRequest {
            replica_epoch: None,
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: ONE_MIB,
            isolation: Isolation::Uncommitted,
            partitions: vec![FetchPartition {
                partition: tp,
                offset,
                last_fetched_epoch: query.last_epoch,
                current_leader_epoch: query.current,
                log_start: -1,
                high_watermark: -1,
                max_bytes: ONE_MIB,
            }],
        };
        let answer = self.ask_and_wait(to, |id| Message::Fetch(id, Arc::new(request)))?;
        let Some(Message::FetchResponse(_, mut results)) = answer else {
            lost(seen);
            return Ok(());
        };
        let Some(result) = results.pop() else {
            lost(seen);
            return Ok(());
        };
        put_error(seen, result.error);
        seen.insert("hw".into(), result.high_watermark.into());
        seen.insert("logStart".into(), result.log_start.into());
        if let Some((epoch, end)) = result.diverging {
            seen.insert("divergingEpoch".into(), json!([epoch, end]));
        }
        let records: Vec<Value> = result
            .batches
            .iter()
            .flat_map(|batch| super::ends::records(batch).into_iter())
            .map(|[offset, epoch, key, value, ..]| json!([offset, epoch, key, value]))
            .collect();
        seen.insert("records".into(), records.into());
        Ok(())
    }
}

fn acks(value: &Value) -> Result<Acks, String> {
    match (value.as_str(), value.as_i64()) {
        (Some("all"), _) | (_, Some(-1)) => Ok(Acks::All),
        (_, Some(0)) => Ok(Acks::None),
        (_, Some(1)) => Ok(Acks::Leader),
        (_, Some(other)) => i16::try_from(other).map(Acks::Other).map_err(|error| error.to_string()),
        _ => Err(format!("{value} is no acks")),
    }
}

/// Notes an error, or that there was none.
pub(super) fn put_error(seen: &mut Observed, error: Option<Errors>) {
    seen.insert("error".into(), error.map_or("NONE", Errors::name).into());
}

fn lost(seen: &mut Observed) {
    seen.insert("error".into(), "CONNECTION_LOST".into());
}
