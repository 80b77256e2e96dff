//! Raw requests: one request to exactly one broker, without a client's logic, and its answer.

use super::run::{MS, Observed, Run, SECOND};
use super::step::{Query, Send, text};
use crate::cluster::message::{
    Acks, Correlation, FetchPartition, FetchRequest, Isolation, Message, OffsetSpec, ProduceRequest,
};
use crate::cluster::settings::Micros;
use crate::cluster::{BrokerId, ClientId, Input, Node, World};
use crate::config::ProducerConfig;
use crate::log::{Batch, Errors, ProducerStamp, Record};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// How long the recorder waits for the answer of a produce request.
const PRODUCE_TIMEOUT: Micros = 90 * SECOND;
/// How long for all of those that are sent in the background.
const JOIN_TIMEOUT: Micros = 120 * SECOND;
/// How long for that of a fetch.
const FETCH_TIMEOUT: Micros = 3 * SECOND;
/// How long for that of any other request.
const QUERY_TIMEOUT: Micros = 5 * SECOND;
/// How long it looks whether a connection is closed after a request without an answer.
const AFTER_ACKS_0: Micros = 700 * MS;
/// What passes after something was sent in the background.
const AFTER_ASYNC: Micros = 250 * MS;
/// Values up to this length are noted with their results.
const SHORT: usize = 64;
/// Where its requests begin to be numbered, apart from those of the process that sends them.
const FIRST: Correlation = 1 << 20;
/// A fetch answers at most so many bytes if the script says nothing.
const ONE_MIB: i32 = 1 << 20;
/// The recorder's process.
const RECORDER: &str = "the recorder";
/// What is said without a connection.
const LOST: &str = "CONNECTION_LOST";
/// What is said when nothing comes.
const SILENT: &str = "NO_RESPONSE";

/// A request that was sent.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    to: BrokerId,
    client: ClientId,
    correlation: Correlation,
    acks: Acks,
    value: Option<String>,
    /// No connection could be made.
    refused: bool,
}

/// A produce request that is to be sent, and the value that its result is noted with.
type Parcel = (ProduceRequest, Option<String>);

/// What is sent in the background under one name: like the recorder's thread, each request when the one before it is
/// answered.
#[derive(Clone, Debug)]
pub(super) struct Background {
    client: ClientId,
    to: Option<BrokerId>,
    queue: VecDeque<Parcel>,
    /// The request that is waited for, and until when.
    asked: Option<(Ask, Micros)>,
    results: Vec<Value>,
}

impl Background {
    fn is_done(&self) -> bool {
        self.asked.is_none() && self.queue.is_empty()
    }
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
        let mut heads = world.network().heads();
        let first = heads.find(|(a, b, _)| (*a, *b) == (from, to));
        let answer = first.map(|(.., head)| (client, broker, head.message.clone()));
        self.answers.extend(answer);
    }

    fn answer(&self, ask: &Ask) -> Option<&Message> {
        let number = |message: &Message| match message {
            Message::ProduceResponse(id, _) => Some(*id),
            Message::FetchResponse(id, _) => Some(*id),
            Message::ListOffsetsResponse(id, _) => Some(*id),
            Message::EpochEndResponse(id, _) => Some(*id),
            _ => None,
        };
        let own = |(client, from, message): &&(ClientId, BrokerId, Message)| {
            (*client, *from, number(message)) == (ask.client, ask.to, Some(ask.correlation))
        };
        self.answers.iter().find(own).map(|(.., message)| message)
    }

    /// Whether the other end of a connection has closed it.
    fn is_closed(&self, ask: &Ask) -> bool {
        let closed = |(client, from, message): &(ClientId, BrokerId, Message)| {
            (*client, *from) == (ask.client, ask.to) && *message == Message::Closed
        };
        self.answers.iter().any(closed)
    }

    fn is_done(&self, world: &World, ask: &Ask) -> bool {
        ask.refused || self.answer(ask).is_some() || !world.broker(ask.to).is_some_and(|b| b.is_running())
    }
}

impl Run {
    /// The process that sends raw requests; those of the background have connections of their own.
    fn recorder(&mut self, background: Option<&str>) -> Result<ClientId, String> {
        let name = background.map_or(RECORDER.to_owned(), |name| format!("{RECORDER}, {name}"));
        if self.world.client_named(&name).is_none() {
            let config = Box::new(ProducerConfig::default());
            self.must(Input::AddProducer(name.as_str().into(), config))?;
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
            acks: Acks::All,
            value: None,
            refused,
        }
    }

    /// Sends a request and waits for its answer. Without one, says why.
    fn ask_and_wait(
        &mut self,
        to: Option<BrokerId>,
        patience: Micros,
        message: impl FnOnce(Correlation) -> Message,
    ) -> Result<Result<Message, &'static str>, String> {
        let client = self.recorder(None)?;
        let ask = self.ask(client, to, message);
        let done = self.wait_for(patience, |run| run.inbox.is_done(&run.world, &ask));
        let missing = if done { LOST } else { SILENT };
        Ok(self.inbox.answer(&ask).cloned().ok_or(missing))
    }

    /// A `send` step.
    pub(super) fn send(&mut self, send: Send, seen: &mut Observed) -> Result<(), String> {
        let tp = self.partition(&send.place)?;
        let to = self.broker(tp, send.b.as_ref());
        let acks = acks(send.acks.as_ref())?;
        let records = send.records.named()?;
        let one_batch = send.batch.as_deref() == Some("one");
        let now = self
            .world
            .settings()
            .wall_ms(self.world.now())
            .saturating_add(send.records.ts);
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().into());
        let all: Vec<Record> = (0..)
            .zip(&records)
            .map(|(later, (key, value))| Record {
                key: bytes(key),
                value: bytes(value),
                timestamp: now.saturating_add(later),
                ..Record::default()
            })
            .collect();
        let size = if one_batch { all.len().max(1) } else { 1 };
        let parcels = (0..)
            .zip(all.chunks(size))
            .zip(&records)
            .map(|((at, batch), (_, value))| {
                let stamp = send.pid.filter(|id| *id >= 0).map(|id| ProducerStamp {
                    id,
                    epoch: send.pepoch,
                    base_sequence: send.seq + at,
                });
                let request = ProduceRequest {
                    acks,
                    timeout_ms: send.timeout,
                    batches: vec![(tp, Batch::build(batch, stamp, Arc::default()))],
                };
                let value = value.clone().filter(|value| !one_batch && value.len() <= SHORT);
                (request, value)
            });
        let parcels: VecDeque<Parcel> = parcels.collect();
        let client = self.recorder(send.r#async.as_deref())?;
        if let Some(name) = send.r#async {
            let background = Background {
                client,
                to,
                queue: parcels,
                asked: None,
                results: Vec::new(),
            };
            self.waiting.insert(name, background);
            self.wait(AFTER_ASYNC);
            return Ok(());
        }
        let results: Vec<Value> = parcels
            .into_iter()
            .map(|parcel| {
                let ask = self.ask_produce(client, to, parcel);
                self.wait_for(patience(ask.acks), |run| run.is_over(&ask));
                self.result(&ask)
            })
            .collect();
        seen.insert("to".into(), to.map_or(-1, |id| i32::from(id.0)).into());
        seen.insert("results".into(), results.into());
        Ok(())
    }

    fn ask_produce(&mut self, client: ClientId, to: Option<BrokerId>, (request, value): Parcel) -> Ask {
        let acks = request.acks;
        let mut ask = self.ask(client, to, |id| Message::Produce(id, Arc::new(request)));
        (ask.acks, ask.value) = (acks, value);
        ask
    }

    /// Goes on with what is sent in the background: notes what is answered, sends what comes next.
    pub(super) fn tend_background(&mut self) {
        let names: Vec<String> = self.waiting.keys().cloned().collect();
        for name in names {
            while self.goes_on(&name) {}
        }
    }

    /// Does the next thing there is to do of what is sent under a name. Says whether there was any.
    fn goes_on(&mut self, name: &str) -> bool {
        let Some(background) = self.waiting.get(name) else {
            return false;
        };
        let (result, parcel) = match &background.asked {
            Some((ask, until)) if self.is_over(ask) || self.world.now() >= *until => (Some(self.result(ask)), None),
            Some(_) => return false,
            None => (None, background.queue.front().cloned()),
        };
        let (client, to) = (background.client, background.to);
        let sent = parcel.map(|parcel| self.ask_produce(client, to, parcel));
        let until = |ask: &Ask| self.world.now() + patience(ask.acks);
        let sent = sent.map(|ask| (ask.clone(), until(&ask)));
        let Some(background) = self.waiting.get_mut(name) else {
            return false;
        };
        if sent.is_some() {
            background.queue.pop_front();
        }
        let goes_on = result.is_some() || sent.is_some();
        background.results.extend(result);
        background.asked = sent;
        goes_on
    }

    /// Whether everything that was sent in the background under a name is answered, or never will be.
    pub(super) fn is_done(&self, name: &str) -> bool {
        self.waiting.get(name).is_some_and(Background::is_done)
    }

    /// Waits for the answers of what was sent in the background.
    pub(super) fn join(&mut self, name: &str, seen: &mut Observed) -> Result<(), String> {
        if !self.waiting.contains_key(name) {
            return Err("nothing of that name is sent".to_owned());
        }
        self.wait_for(JOIN_TIMEOUT, |run| run.is_done(name));
        let results = self.waiting.remove(name).map(|background| background.results);
        seen.insert("results".into(), results.unwrap_or_default().into());
        Ok(())
    }

    /// Whether nothing more comes of a produce request.
    fn is_over(&self, ask: &Ask) -> bool {
        match ask.acks {
            Acks::None if !ask.refused => self.inbox.is_closed(ask),
            _ => self.inbox.is_done(&self.world, ask),
        }
    }

    /// What is noted of a produce request that is not waited for any more.
    fn result(&self, ask: &Ask) -> Value {
        let mut result = Map::new();
        if let Some(value) = &ask.value {
            result.insert("v".into(), json!(value));
        }
        let over = self.is_over(ask);
        if ask.acks == Acks::None && !ask.refused {
            let state = if over { "closed by broker" } else { "open" };
            result.insert("connection".into(), state.into());
            return result.into();
        }
        match self.inbox.answer(ask) {
            Some(Message::ProduceResponse(_, parts)) => {
                let part = parts.first();
                put_error(&mut result, part.and_then(|part| part.error));
                if let Some(offset) = part.and_then(|part| part.base_offset) {
                    result.insert("offset".into(), offset.into());
                }
            }
            _ => put(&mut result, if over { LOST } else { SILENT }),
        }
        result.into()
    }

    /// A `list-offsets` step.
    pub(super) fn list_offsets(
        &mut self,
        name: Option<&Value>,
        query: &Query,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let tp = self.partition(&query.place)?;
        let to = self.broker(tp, query.b.as_ref());
        let spec = offset_spec(&name.map_or("latest".to_owned(), text))?;
        // Whether the request's version knows the offset is the first thing that a broker looks at.
        let wanted = vec![(tp, query.current, spec.unwrap_or(OffsetSpec::Earliest))];
        let ask = |id| Message::ListOffsets(id, Isolation::Uncommitted, wanted);
        match self.ask_and_wait(to, QUERY_TIMEOUT, ask)? {
            Ok(_) if spec.is_none() => put_error(seen, Some(Errors::UnsupportedVersion)),
            Ok(Message::ListOffsetsResponse(_, answers)) => {
                let answer = answers.first().map(|(_, answer)| *answer);
                put_error(seen, answer.and_then(Result::err));
                if let Some(Ok(found)) = answer {
                    let epoch = found.and_then(|found| found.leader_epoch);
                    seen.insert("offset".into(), found.map_or(-1, |found| found.offset).into());
                    seen.insert("leaderEpoch".into(), epoch.unwrap_or(-1).into());
                }
            }
            Ok(_) => put(seen, LOST),
            Err(missing) => put(seen, missing),
        }
        Ok(())
    }

    /// An `epoch-end` step.
    pub(super) fn epoch_end(&mut self, epoch: i32, query: &Query, seen: &mut Observed) -> Result<(), String> {
        let tp = self.partition(&query.place)?;
        let to = self.broker(tp, query.b.as_ref());
        let ask = |id| Message::EpochEnd(id, vec![(tp, query.current, epoch)]);
        match self.ask_and_wait(to, QUERY_TIMEOUT, ask)? {
            Ok(Message::EpochEndResponse(_, answers)) => {
                let end = answers.first().map(|(_, end)| *end);
                put_error(seen, end.and_then(Result::err));
                let (epoch, end) = end.and_then(Result::ok).unwrap_or((-1, -1));
                seen.insert("leaderEpoch".into(), epoch.into());
                seen.insert("endOffset".into(), end.into());
            }
            Ok(_) => put(seen, LOST),
            Err(missing) => put(seen, missing),
        }
        Ok(())
    }

    /// A `fetch` step.
    pub(super) fn fetch(
        &mut self,
        offset: i64,
        max: Option<i32>,
        query: &Query,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let tp = self.partition(&query.place)?;
        let to = self.broker(tp, query.b.as_ref());
        let request = FetchRequest {
            replica_epoch: None,
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: i32::MAX,
            isolation: Isolation::Uncommitted,
            partitions: vec![FetchPartition {
                partition: tp,
                offset,
                last_fetched_epoch: query.last_epoch,
                current_leader_epoch: query.current,
                log_start: -1,
                high_watermark: -1,
                max_bytes: max.unwrap_or(ONE_MIB),
            }],
        };
        let answer = self.ask_and_wait(to, FETCH_TIMEOUT, |id| Message::Fetch(id, Arc::new(request)))?;
        let result = match answer {
            Ok(Message::FetchResponse(_, mut results)) => results.pop(),
            _ => None,
        };
        let Some(result) = result else {
            put(seen, LOST);
            return Ok(());
        };
        put_error(seen, result.error);
        seen.insert("hw".into(), result.high_watermark.into());
        seen.insert("logStart".into(), result.log_start.into());
        if let Some((epoch, end)) = result.diverging {
            seen.insert("divergingEpoch".into(), json!([epoch, end]));
        }
        let records = result.batches.iter().flat_map(super::ends::records);
        let records: Vec<Value> = records
            .map(|[offset, epoch, key, value, ..]| json!([offset, epoch, key, value]))
            .collect();
        seen.insert("records".into(), records.into());
        Ok(())
    }
}

/// How long a produce request is waited for.
fn patience(acks: Acks) -> Micros {
    match acks {
        Acks::None => AFTER_ACKS_0,
        _ => PRODUCE_TIMEOUT,
    }
}

/// What a `list-offsets` asks for; nothing if the recorder's version of the request (7) does not know it.
fn offset_spec(name: &str) -> Result<Option<OffsetSpec>, String> {
    let number: i64 = match name {
        "latest" => -1,
        "earliest" => -2,
        "max-timestamp" => -3,
        "earliest-local" => -4,
        other => other.parse().map_err(|_| format!("{other} is no offset"))?,
    };
    Ok(match number {
        -1 => Some(OffsetSpec::Latest),
        -2 => Some(OffsetSpec::Earliest),
        -3 => Some(OffsetSpec::MaxTimestamp),
        ..0 => None,
        time => Some(OffsetSpec::Timestamp(time)),
    })
}

fn acks(value: Option<&Value>) -> Result<Acks, String> {
    let Some(value) = value else { return Ok(Acks::Leader) };
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
    put(seen, error.map_or("NONE", Errors::name));
}

fn put(seen: &mut Observed, error: &str) {
    seen.insert("error".into(), error.into());
}
