//! The recorded script: header, lines, steps.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The first line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub elr_feature: u8,
    pub timings: BTreeMap<String, Value>,
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
    One(T),
    Many(Vec<T>),
}

impl<T: Clone> OneOrMany<T> {
    /// All of them.
    pub fn all(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// Who is paused or resumed.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Whom {
    Broker(u16),
    Named(String),
}

/// Which partition a step is about.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Place {
    #[serde(default = "topic_t")]
    pub topic: String,
    #[serde(default)]
    pub p: u32,
}

fn topic_t() -> String {
    "t".to_owned()
}

/// Raw produce requests.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Send {
    #[serde(flatten)]
    pub place: Place,
    pub b: Option<u16>,
    pub acks: Value,
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
    pub v: OneOrMany<Option<String>>,
    pub k: Option<OneOrMany<Option<String>>>,
    pub n: Option<usize>,
    pub pad: Option<usize>,
    #[serde(default)]
    pub ts: i64,
}

/// A query to one broker.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Query {
    #[serde(flatten)]
    pub place: Place,
    pub b: Option<u16>,
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
        name: String,
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
    Produce {
        name: String,
        #[serde(flatten)]
        place: Place,
        #[serde(flatten)]
        records: Records,
        #[serde(default = "yes")]
        wait: bool,
    },
    Flush {
        name: String,
    },
    Kill {
        b: OneOrMany<u16>,
    },
    Stop {
        b: u16,
        timeout: Option<u64>,
    },
    Pause {
        b: OneOrMany<Whom>,
    },
    Resume {
        b: OneOrMany<Whom>,
    },
    Start {
        b: u16,
    },
    Startall {
        b: Option<OneOrMany<u16>>,
    },
    Wipe {
        b: u16,
    },
    WipePartition {
        #[serde(flatten)]
        place: Place,
        b: u16,
    },
    Cut {
        #[serde(flatten)]
        place: Place,
        b: u16,
        at: i64,
        #[serde(default)]
        torn: bool,
    },
    Config {
        #[serde(default = "topic_t")]
        topic: String,
        #[serde(flatten)]
        configs: Map<String, Value>,
    },
    Elect {
        name: String,
        #[serde(flatten)]
        place: Place,
    },
    Reassign {
        replicas: Vec<u16>,
        #[serde(flatten)]
        place: Place,
    },
    DeleteRecords {
        before: i64,
        #[serde(flatten)]
        place: Place,
    },
    Describe {
        #[serde(flatten)]
        place: Place,
    },
    ListOffsets {
        name: String,
        #[serde(flatten)]
        query: Query,
    },
    EpochEnd {
        epoch: i32,
        #[serde(flatten)]
        query: Query,
    },
    Fetch {
        offset: i64,
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
        ms: u64,
    },
}

fn yes() -> bool {
    true
}

impl Step {
    /// Whether an admin client does it, which needs a broker to talk to.
    pub fn is_for_admin(&self) -> bool {
        matches!(
            self,
            Step::Config { .. }
                | Step::Elect { .. }
                | Step::Reassign { .. }
                | Step::DeleteRecords { .. }
                | Step::Describe { .. }
        )
    }

    /// Whether it makes a topic whose log the cleaner would rewrite.
    pub fn is_compacted(&self) -> bool {
        let policy = |configs: &Map<String, Value>| {
            let policy = configs.get("cleanup.policy").and_then(Value::as_str);
            policy.is_some_and(|policy| policy.contains("compact"))
        };
        match self {
            Step::Topic { rest: configs, .. } | Step::Config { configs, .. } => policy(configs),
            _ => false,
        }
    }
}

/// A config's value as text.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
