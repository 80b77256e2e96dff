//! The ordinary Java producer of a script.

use super::run::{Handed, MS, Observed, Run, SECOND};
use super::step::{Produce, text};
use crate::cluster::event::Outcome;
use crate::cluster::input::{Destination, Send, Template};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::cluster::{ClientId, Event, Input, Tag, TopicPartition, What};
use crate::config::{Def, ProducerConfig, Scope};
use crate::log::Errors;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How long an answer is waited for.
const ANSWER: Micros = 60 * SECOND;
/// What passes after sending without waiting.
const AFTER_SENDING: Micros = 250 * MS;
/// The recorder's own configs of a producer. It does not linger; but its sender's thread needs a moment until it looks, and
/// what is handed over at once has come together by then.
const CONFIGS: [(&str, &str); 5] = [
    ("linger.ms", "1"),
    ("request.timeout.ms", "2000"),
    ("delivery.timeout.ms", "30000"),
    ("reconnect.backoff.max.ms", "200"),
    ("max.block.ms", "20000"),
];

impl Run {
    /// A `producer` step.
    pub(super) fn add_producer(&mut self, name: &str, configs: &Map<String, Value>) -> Result<(), String> {
        let mut config = ProducerConfig::default();
        let own = CONFIGS.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let asked = configs.iter().map(|(name, value)| (name.as_str(), text(value)));
        let known = Scope::Producer.configs().iter();
        let known: Vec<&Def> = known.filter(|def| ProducerConfig::acts_on(def)).collect();
        let asked = asked.filter(|(name, _)| known.iter().any(|def| def.name == *name));
        let all: Vec<(&str, String)> = own.chain(asked).collect();
        config
            .set_all(all.iter().map(|(name, value)| (*name, value.as_str())))
            .map_err(|error| error.to_string())?;
        self.must(Input::AddProducer(name.into(), Box::new(config)))
    }

    /// A `produce` step.
    pub(super) fn produce(&mut self, step: &Produce, seen: &mut Observed) -> Result<(), String> {
        let client = self.client(&step.name)?;
        let topic = self.topic(step.topic.as_deref())?;
        let alone = self.world.settings().topic(topic).partitions == 1;
        for (key, value) in step.records.literal()? {
            let partition = step.p.or(alone.then_some(0)).filter(|_| key.is_none());
            let to = match partition {
                Some(partition) => Destination::Partition(TopicPartition { topic, partition }),
                None => Destination::Topic(topic),
            };
            let number = self.hand(client, to, key.as_deref(), &value)?;
            let handed = self.handed.entry(step.name.clone()).or_default();
            handed.push(Handed { number, value, key });
            if step.wait && step.one_by_one {
                self.wait_for(ANSWER, |run| run.told_of(client, number).is_some());
            }
        }
        if step.wait {
            self.flush(&step.name, seen)
        } else {
            self.wait(AFTER_SENDING);
            Ok(())
        }
    }

    /// Hands a record over. Gives its number.
    fn hand(&mut self, client: ClientId, to: Destination, key: Option<&str>, value: &str) -> Result<u32, String> {
        let bytes = |text: Option<&str>| text.map_or(Template::Null, |text| Template::Bytes(text.as_bytes().into()));
        let send = Send {
            to,
            key: bytes(key),
            value: bytes(Some(value)),
            timestamp: None,
            headers: Arc::default(),
            count: 1,
            every: None,
        };
        self.must(Input::Send(client, Box::new(send)))?;
        let given = self.given.entry(client).or_default();
        *given += 1;
        Ok(*given)
    }

    /// Waits for the answers of everything a producer was given.
    pub(super) fn flush(&mut self, name: &str, seen: &mut Observed) -> Result<(), String> {
        let client = self.client(name)?;
        let handed = self.handed.remove(name).unwrap_or_default();
        self.wait_for(ANSWER, |run| {
            handed.iter().all(|h| run.told_of(client, h.number).is_some())
        });
        let results = handed.iter().map(|record| {
            let mut result = Map::new();
            result.insert("v".into(), json!(record.value));
            if let Some(key) = &record.key {
                result.insert("k".into(), json!(key));
            }
            outcome(self.told_of(client, record.number), &mut result);
            Value::Object(result)
        });
        let results: Vec<Value> = results.collect();
        seen.insert("results".into(), results.into());
        Ok(())
    }

    fn told_of(&self, client: ClientId, number: u32) -> Option<&Event> {
        let wanted = Tag { client, number };
        self.told
            .iter()
            .find(|event| matches!(event.what, What::Told { tag, .. } if tag == wanted))
    }
}

/// What a producer was told of a record.
fn outcome(event: Option<&Event>, result: &mut Map<String, Value>) {
    let Some(Event {
        rule,
        what: What::Told { partition, outcome, .. },
        ..
    }) = event
    else {
        result.insert("error".into(), "UNDECIDED".into());
        return;
    };
    let error = match outcome {
        Outcome::Failed(Errors::RequestTimedOut) if *rule == Rule::Expire && partition.is_some() => "DELIVERY_TIMEOUT",
        Outcome::Failed(error) => error.name(),
        Outcome::Acked(_) | Outcome::Sent => "NONE",
    };
    result.insert("error".into(), error.into());
    let offset = match outcome {
        Outcome::Acked(offset) => *offset,
        Outcome::Sent => -1,
        Outcome::Failed(_) => return,
    };
    result.insert("partition".into(), json!(partition.map(|tp| tp.partition)));
    result.insert("offset".into(), offset.into());
}
