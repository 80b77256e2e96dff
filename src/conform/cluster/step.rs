//! The recorded script: header, lines, steps.

use crate::sorted::SortedMap;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The first line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub elr_feature: u8,
    pub timings: SortedMap<String, Value>,
    pub brokers: Vec<u16>,
}

/// A step and what was observed after it.
#[derive(Deserialize)]
pub(super) struct Line {
    pub i: u64,
    pub step: Value,
    pub observed: Value,
}

/// One value or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn all(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// Whom a step is about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Whom {
    /// This broker.
    Broker(u16),
    /// `leader`, whichever broker that is, or `controller`.
    Named(String),
}

/// Which partition a step is about: partition 0 of the first topic if it does not say.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Place {
    pub topic: Option<String>,
    #[serde(default)]
    pub p: u32,
}

/// Raw produce requests.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Send {
    #[serde(flatten)]
    pub place: Place,
    pub b: Option<Whom>,
    pub acks: Option<Value>,
    #[serde(flatten)]
    pub records: Records,
    pub batch: Option<String>,
    #[serde(default = "five_seconds")]
    pub timeout: i64,
    pub pid: Option<i64>,
    #[serde(default)]
    pub pepoch: i16,
    #[serde(default)]
    pub seq: i32,
    pub r#async: Option<String>,
}

fn five_seconds() -> i64 {
    5_000
}

/// What is sent.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Records {
    v: Option<OneOrMany<Value>>,
    k: Option<OneOrMany<Value>>,
    n: Option<u64>,
    #[serde(default)]
    from: u64,
    pad: Option<usize>,
    /// Timestamp of the first, relative to now, milliseconds.
    #[serde(default)]
    pub ts: i64,
}

/// What the records of one step can be at most: a few letters of a recording must not fill the memory.
const MOST_RECORDS: u64 = 1_000;
const MOST_BYTES: usize = 4 << 20;

impl Records {
    /// Key and value of each.
    ///
    /// # Errors
    /// They are more or larger than a recording's records can be.
    pub fn named(&self) -> Result<Vec<(Option<String>, Option<String>)>, String> {
        let padded = |value: String| {
            let missing = self.pad.unwrap_or(0).saturating_sub(value.len());
            (value != "null").then(|| value + &".".repeat(missing))
        };
        let keyed = |(key, value): (Option<String>, String)| (key, padded(value));
        Ok(self.literal()?.into_iter().map(keyed).collect())
    }

    /// Key and value of each as they are written: what the ordinary producer is given.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub fn literal(&self) -> Result<Vec<(Option<String>, String)>, String> {
        let texts = |list: &Option<OneOrMany<Value>>| -> Vec<String> {
            let all = list.as_ref().map(OneOrMany::all).unwrap_or_default();
            all.iter().map(text).collect()
        };
        let (mut values, keys) = (texts(&self.v), texts(&self.k));
        if let Some(count) = self.n {
            if count > MOST_RECORDS {
                return Err(format!("n is {count}, and can be {MOST_RECORDS}"));
            }
            let prefix = values.first().map_or("r", String::as_str);
            let value = |at: u64| format!("{prefix}{}", self.from.saturating_add(at));
            values = (0..count).map(value).collect();
        }
        let size = self.pad.unwrap_or(0).saturating_mul(values.len());
        if size > MOST_BYTES {
            return Err(format!("the records are {size} bytes long, and can be {MOST_BYTES}"));
        }
        let named = values.into_iter().enumerate();
        let both = named.map(|(at, value)| (keys.get(at % keys.len().max(1)).cloned(), value));
        Ok(both.collect())
    }
}

/// A query to one broker.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Query {
    #[serde(flatten)]
    pub place: Place,
    pub b: Option<Whom>,
    #[serde(default = "none")]
    pub current: i32,
    #[serde(default = "none")]
    pub last_epoch: i32,
}

fn none() -> i32 {
    -1
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(super) enum Step {
    Topic {
        name: Option<String>,
        replicas: Option<OneOrMany<u16>>,
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    Send(Box<Send>),
    Join {
        name: String,
    },
    Pending {
        name: String,
    },
    Producer {
        name: String,
        #[serde(flatten)]
        configs: Map<String, Value>,
    },
    Produce(Produce),
    Flush {
        name: String,
    },
    Kill {
        b: Option<Whom>,
        #[serde(flatten)]
        place: Place,
    },
    Killall {
        b: Option<OneOrMany<u16>>,
    },
    Stop {
        b: Option<Whom>,
        timeout: Option<u64>,
        #[serde(flatten)]
        place: Place,
    },
    Pause {
        b: OneOrMany<Whom>,
    },
    Resume {
        b: OneOrMany<Whom>,
    },
    Start {
        b: Option<Whom>,
        #[serde(default = "yes")]
        wait: bool,
        timeout: Option<u64>,
        #[serde(flatten)]
        place: Place,
    },
    Startall {
        b: Option<OneOrMany<u16>>,
    },
    Wipe {
        b: Option<u16>,
    },
    WipePartition {
        #[serde(flatten)]
        place: Place,
        b: Option<u16>,
    },
    ForgetCheckpoints {
        b: Option<u16>,
        files: Option<OneOrMany<String>>,
    },
    Cut {
        #[serde(flatten)]
        place: Place,
        b: Option<u16>,
        #[serde(default)]
        at: i64,
        #[serde(default)]
        torn: bool,
    },
    Config {
        topic: Option<String>,
        broker: Option<Value>,
        #[serde(flatten)]
        configs: Map<String, Value>,
    },
    Elect {
        name: Option<String>,
        #[serde(flatten)]
        place: Place,
    },
    Reassign {
        replicas: OneOrMany<u16>,
        #[serde(flatten)]
        place: Place,
    },
    DeleteRecords {
        before: Option<i64>,
        #[serde(default = "five_seconds")]
        timeout: i64,
        #[serde(flatten)]
        place: Place,
    },
    Describe {
        #[serde(flatten)]
        place: Place,
    },
    ListOffsets {
        name: Option<Value>,
        #[serde(flatten)]
        query: Query,
    },
    EpochEnd {
        #[serde(default)]
        epoch: i32,
        #[serde(flatten)]
        query: Query,
    },
    Fetch {
        #[serde(default)]
        offset: i64,
        max: Option<i32>,
        #[serde(flatten)]
        query: Query,
    },
    Disk {
        #[serde(flatten)]
        place: Place,
    },
    Await {
        #[serde(flatten)]
        place: Place,
        timeout: Option<u64>,
        #[serde(flatten)]
        conditions: Map<String, Value>,
    },
    Sleep {
        ms: Option<u64>,
    },
    Consumer {
        name: String,
        topic: Option<String>,
        group: String,
        #[serde(flatten)]
        configs: Map<String, Value>,
    },
    Assigned {
        topic: Option<String>,
        group: String,
        timeout: Option<u64>,
    },
    Consume {
        name: String,
        #[serde(default = "one")]
        n: usize,
        timeout: Option<u64>,
    },
    Position {
        name: String,
    },
    Seek {
        name: String,
        to: Option<Value>,
    },
    Commit {
        name: String,
    },
    Committed {
        topic: Option<String>,
        group: String,
    },
    Leave {
        name: String,
    },
    Crash {
        name: String,
    },
}

fn one() -> usize {
    1
}

/// Records for an ordinary producer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Produce {
    pub name: String,
    pub topic: Option<String>,
    pub p: Option<u32>,
    #[serde(flatten)]
    pub records: Records,
    #[serde(default = "yes")]
    pub wait: bool,
    #[serde(default = "yes")]
    pub one_by_one: bool,
}

fn yes() -> bool {
    true
}

/// A value as text; a list as its values with commas between.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
