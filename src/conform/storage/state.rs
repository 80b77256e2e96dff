//! The state after an operation, as recordings write it, and how theirs is expanded.

use crate::log::{Log, ProducerEntry, Segment};
use serde_json::{Map, Value, json};

/// The recorded state, from which each line says only what changed.
#[derive(Default)]
pub(super) struct Expected {
    state: Value,
}

impl Expected {
    pub(super) fn value(&self) -> &Value {
        &self.state
    }

    /// Takes one line's changes over.
    pub(super) fn apply(&mut self, changes: Value) {
        if !self.state.is_object() {
            self.state = Value::Object(Map::new());
        }
        let Value::Object(changes) = changes else { return };
        for (member, change) in changes {
            let before = self.state.get(&member).cloned().unwrap_or(Value::Null);
            self.state[&member] = match member.as_str() {
                "segments" => expand(change, &before, "base"),
                "producers" => expand(change, &before, "id"),
                "files" => change_names(&change, &before),
                _ => change,
            };
        }
    }
}

/// Puts elements that are only a number back to what they were before.
fn expand(list: Value, before: &Value, id: &str) -> Value {
    let Value::Array(list) = list else { return list };
    let known = |number: &Value| {
        before
            .as_array()?
            .iter()
            .find(|element| element[id] == *number)
            .cloned()
    };
    list.into_iter()
        .map(|element| {
            if element.is_number() {
                known(&element).unwrap_or(element)
            } else {
                element
            }
        })
        .collect()
}

fn change_names(change: &Value, before: &Value) -> Value {
    let names = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let gone = names(&change["del"]);
    let mut now: Vec<Value> = names(before).into_iter().filter(|name| !gone.contains(name)).collect();
    now.extend(names(&change["add"]));
    now.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    Value::Array(now)
}

/// Our state, as a recording would write it in full.
pub(super) fn state(log: &Log) -> Value {
    let epochs = log
        .epochs()
        .entries()
        .iter()
        .map(|entry| json!([entry.epoch, entry.start_offset]));
    let producers = log.producers().entries().map(|(id, entry)| producer(id, entry));
    json!({
        "leo": log.log_end_offset(),
        "hw": log.high_watermark(),
        "lso": log.last_stable_offset(),
        "logStart": log.log_start_offset(),
        "recoveryPoint": log.recovery_point(),
        "size": log.size(),
        "producerEnd": log.producers().map_end_offset(),
        "segments": log.segments().map(segment).collect::<Vec<_>>(),
        "epochs": epochs.collect::<Vec<_>>(),
        "producers": producers.collect::<Vec<_>>(),
        "snapshots": log.snapshot_offsets().collect::<Vec<_>>(),
        "files": log.file_list().into_iter().map(|file| file.name).collect::<Vec<_>>(),
    })
}

fn segment(segment: &Segment) -> Value {
    let base = segment.base_offset();
    let absolute = |relative: i32| base + i64::from(relative);
    let index = segment.offset_index().entries();
    let index = index.map(|entry| json!([absolute(entry.relative_offset), entry.position]));
    let times = segment.time_index().entries();
    let times = times.map(|entry| json!([entry.timestamp, absolute(entry.relative_offset)]));
    let (max_timestamp, max_offset) = segment.max_timestamp_and_offset();
    let mut value = json!({
        "base": base,
        "size": segment.size(),
        "maxTs": max_timestamp,
        "maxTsOffset": max_offset,
        "index": index.collect::<Vec<_>>(),
        "timeindex": times.collect::<Vec<_>>(),
    });
    if max_timestamp < 0 {
        value["mtime"] = json!(segment.log().modified_ms());
    }
    let aborted = segment.txn_index().entries();
    if !aborted.is_empty() {
        let entry = |txn: &crate::log::AbortedTxn| {
            json!([
                txn.producer_id,
                txn.first_offset,
                txn.last_offset,
                txn.last_stable_offset
            ])
        };
        value["aborted"] = aborted.iter().map(entry).collect();
    }
    value
}

fn producer(id: i64, entry: &ProducerEntry) -> Value {
    let batches = entry.batches.iter().map(|batch| {
        json!([
            batch.first_sequence(),
            batch.last_sequence,
            batch.last_offset,
            batch.offset_delta,
            batch.timestamp
        ])
    });
    json!({
        "id": id,
        "epoch": entry.epoch,
        "lastSeq": entry.last_sequence(),
        "lastOffset": entry.last_data_offset(),
        "batches": batches.collect::<Vec<_>>(),
        "lastTs": entry.last_timestamp,
        "coordEpoch": entry.coordinator_epoch,
        "txnFirst": entry.txn_first_offset,
    })
}
