//! What stands in a recording: its header, its operations.

use crate::sorted::SortedMap;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub(super) now: i64,
    pub(super) config: SortedMap<String, String>,
    pub(super) async_tasks: AsyncTasks,
    pub(super) producer_id_expiration_ms: i64,
    pub(super) cleaner: CleanerSizes,
}

/// When the background work of an operation is done.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(super) enum AsyncTasks {
    /// At its end.
    Immediate,
    /// When the recording says so.
    Held,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CleanerSizes {
    pub(super) map_memory: u64,
    pub(super) load_factor: f64,
}

#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) i: u64,
    pub(super) op: Op,
    pub(super) result: Value,
    /// Missing if Kafka itself was at its end with this log.
    pub(super) state: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct FileBytes {
    pub(super) base64: String,
}

#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Op {
    Open,
    AppendLeader {
        epoch: i32,
        records: Vec<OpRecord>,
        producer: Option<OpProducer>,
        #[serde(default)]
        transactional: bool,
    },
    AppendLeaderRaw {
        epoch: i32,
        base64: String,
    },
    EndTxn {
        epoch: i32,
        producer_id: i64,
        producer_epoch: i16,
        commit: bool,
        coord_epoch: i32,
        ts: i64,
        txn_version: u8,
    },
    AppendFollower {
        epoch: i32,
        base64: String,
    },
    AssignEpoch {
        epoch: i32,
        offset: i64,
    },
    Roll,
    Flush {
        offset: Option<i64>,
        #[serde(default)]
        including_active: bool,
    },
    UpdateHighWatermark {
        hw: i64,
    },
    IncrementLogStart {
        offset: i64,
    },
    Retention,
    Clean,
    Dump,
    Sleep {
        ms: i64,
    },
    Config {
        set: SortedMap<String, String>,
    },
    TruncateTo {
        offset: i64,
    },
    TruncateFullyAndStartAt {
        offset: i64,
        log_start: Option<i64>,
    },
    Read {
        offset: i64,
        max_bytes: u32,
        isolation: OpIsolation,
        min_one_message: bool,
    },
    LookupTimestamp {
        ts: i64,
    },
    EndOffsetForEpoch {
        epoch: i32,
    },
    ExpireProducers,
    Checkpoint,
    RunTasks,
    RunDelayed,
    Reopen {
        how: How,
        #[serde(default)]
        damage: Vec<Damage>,
        recovery_point: i64,
        log_start: i64,
        hw: i64,
        clean_shutdown: bool,
    },
}

/// More than any recording needs. A number in a text must not ask for memory.
const LONGEST_VALUE: usize = 16 << 20;

fn value_length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(length) if length > LONGEST_VALUE => Err(D::Error::custom(format!(
            "valueLen is {length}, and at most {LONGEST_VALUE} is replayed"
        ))),
        length => Ok(length),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpRecord {
    pub(super) key: Option<String>,
    pub(super) value: Option<String>,
    #[serde(default, deserialize_with = "value_length")]
    pub(super) value_len: Option<usize>,
    pub(super) ts: i64,
    #[serde(default)]
    pub(super) headers: Vec<(String, Option<String>)>,
}

#[derive(Deserialize)]
pub(super) struct OpProducer {
    pub(super) id: i64,
    pub(super) epoch: i16,
    pub(super) seq: i32,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
pub(super) enum OpIsolation {
    LogEnd,
    HighWatermark,
    ReadCommitted,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(super) enum How {
    Clean,
    Kill,
    PowerLoss,
}

#[derive(Deserialize)]
pub(super) struct Damage {
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) change: Change,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
pub(super) enum Change {
    Cut { length: u64 },
    Zero { from: u64 },
    Flip { at: u64, xor: u8 },
    Delete,
    Write { base64: String },
    Append { base64: String },
    Rename { to: String },
    Copy { to: String },
}
