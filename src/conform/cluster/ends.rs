//! The last line: what every replica's files hold at the end, and all that the controller wrote.

use super::run::Run;
use super::state::epochs;
use crate::cluster::broker::ReplicaView;
use crate::cluster::settings::Micros;
use crate::log::Batch;
use crate::sorted::{SortedMap, SortedSet};
use serde_json::{Map, Value, json};

/// What passes before the end is recorded, so that the high watermarks are checkpointed once more.
pub(super) const LAST_CHECKPOINT: Micros = 1_500_000;
/// Producer ids from here on are a script's own; those below are given by the cluster.
const OWN_PRODUCER_IDS: i64 = 1_000_000;

/// Everything at the end.
pub(super) fn of(run: &Run) -> Value {
    let world = &run.world;
    let (mut logs, mut all_segments, mut checkpoints, mut history) = (Map::new(), Map::new(), Map::new(), Map::new());
    let mut empties = Map::new();
    for tp in run.partitions() {
        let name = world.partition_name(tp);
        let (mut of_logs, mut of_segments, mut of_checkpoints) = (Map::new(), Map::new(), Map::new());
        let mut of_empties = Map::new();
        for broker in world.brokers() {
            let Some(replica) = broker.replica(tp) else { continue };
            let id = broker.id().to_string();
            let records: Vec<Value> = replica
                .batches()
                .flat_map(records)
                .map(|record| json!(record))
                .collect();
            of_logs.insert(id.clone(), records.into());
            let without_records: Vec<Value> = replica.batches().filter_map(empty).collect();
            if !without_records.is_empty() {
                of_empties.insert(id.clone(), without_records.into());
            }
            of_segments.insert(id.clone(), segments(&replica));
            of_checkpoints.insert(id, checkpoints_of(&replica));
        }
        logs.insert(name.clone(), of_logs.into());
        all_segments.insert(name.clone(), of_segments.into());
        if !of_empties.is_empty() {
            empties.insert(name.clone(), of_empties.into());
        }
        checkpoints.insert(name.clone(), of_checkpoints.into());
        history.insert(name, run.history.get(&tp).cloned().unwrap_or_default().into());
    }
    let mut line = json!({
        "logs": logs,
        "segments": all_segments,
        "checkpoints": checkpoints,
        "controllerHistory": history,
    });
    if !empties.is_empty() {
        line["emptyBatches"] = empties.into();
    }
    line
}

/// A batch that the cleaner kept without records: its first and last offset, leader epoch, producer id, base sequence.
fn empty(batch: &Batch) -> Option<Value> {
    let bare = batch.records_count() == 0;
    bare.then(|| {
        json!([
            batch.base_offset(),
            batch.last_offset(),
            batch.leader_epoch(),
            batch.producer_id(),
            batch.base_sequence()
        ])
    })
}

/// A batch's records: offset, leader epoch, key, value, producer id, sequence.
pub(super) fn records(batch: &Batch) -> Vec<[Value; 6]> {
    let text =
        |bytes: Option<&[u8]>| bytes.map_or(Value::Null, |bytes| shortened(&String::from_utf8_lossy(bytes)).into());
    let sequence = |offset: i64| match batch.base_sequence() {
        -1 => -1,
        base => i64::from(base) + offset - batch.base_offset(),
    };
    batch
        .records()
        .map(|record| {
            [
                record.offset.into(),
                batch.leader_epoch().into(),
                text(record.key),
                text(record.value),
                batch.producer_id().into(),
                sequence(record.offset).into(),
            ]
        })
        .collect()
}

/// Long values are recorded by their beginning and the number of dots they are padded with.
fn shortened(value: &str) -> String {
    if value.chars().count() <= 200 {
        return value.to_owned();
    }
    let kept = value.trim_end_matches('.');
    let dots = value.len() - kept.len();
    let begin: String = kept.chars().take(100).collect();
    format!("{begin}+{dots} dots")
}

/// The segments: base offset and bytes of batches that can be read.
fn segments(replica: &ReplicaView<'_>) -> Value {
    let all = replica.log().segments();
    all.map(|segment| json!([segment.base_offset(), segment.size()]))
        .collect()
}

fn checkpoints_of(replica: &ReplicaView<'_>) -> Value {
    let written = replica.checkpoints();
    let mut fields = Map::new();
    fields.insert("hw".into(), written.high_watermark.into());
    fields.insert("recoveryPoint".into(), written.recovery_point.into());
    if written.log_start != 0 {
        fields.insert("logStart".into(), written.log_start.into());
    }
    if let Some(first_dirty) = written.cleaner {
        fields.insert("firstDirty".into(), first_dirty.into());
    }
    fields.insert("epochs".into(), epochs(&replica.files()));
    fields.into()
}

/// Several followers that have caught up after a common event ask to join the ISR, and which of them comes first is open:
/// where two histories differ in nothing else, ours takes over the recorded order. Says where it did.
pub(super) fn settle_races(line: &Value, ours: &mut Value) -> Vec<String> {
    let mut open = Vec::new();
    let Some(partitions) = ours.get_mut("controllerHistory").and_then(Value::as_object_mut) else {
        return open;
    };
    for (name, entries) in partitions {
        let recorded = line
            .pointer(&format!("/controllerHistory/{name}"))
            .and_then(Value::as_array);
        let (Some(recorded), Some(entries)) = (recorded, entries.as_array_mut()) else {
            continue;
        };
        let mut at = 0;
        while at < entries.len().min(recorded.len()) {
            let differing = (at..entries.len().min(recorded.len())).take_while(|&i| entries[i] != recorded[i]);
            let end = at + differing.count();
            if end > at && is_order_of_joining(recorded, entries, at, end) {
                for i in at..end {
                    entries[i] = recorded[i].clone();
                    open.push(format!("end: who joins first is open in controllerHistory.{name}[{i}]"));
                }
            }
            at = end + 1;
        }
    }
    open
}

/// The file of recovery points is written shortly after a broker's start, and whether the broker has copied and flushed
/// anything by then is open: where it had not, ours takes that over. Says where it did.
pub(super) fn settle_recovery_points(line: &Value, ours: &mut Value) -> Vec<String> {
    let mut open = Vec::new();
    let partitions = ours.get_mut("checkpoints").and_then(Value::as_object_mut);
    for (name, replicas) in partitions.into_iter().flatten() {
        for (broker, fields) in replicas.as_object_mut().into_iter().flatten() {
            let recorded = line.pointer(&format!("/checkpoints/{name}/{broker}/recoveryPoint"));
            let is_early = recorded.is_some_and(|point| point.as_i64() == Some(0));
            if let Some(point) = fields.get_mut("recoveryPoint").filter(|point| is_early && **point != 0) {
                *point = 0.into();
                open.push(format!(
                    "end: whether the file was written first is open in checkpoints.{name}.{broker}.recoveryPoint"
                ));
            }
        }
    }
    open
}

/// Whether these entries differ only in the order in which followers join, and what they lead to is the same.
fn is_order_of_joining(recorded: &[Value], ours: &[Value], from: usize, to: usize) -> bool {
    let ids = |entry: &Value| -> SortedSet<u64> {
        let isr = entry.get("isr").and_then(Value::as_array);
        isr.into_iter().flatten().filter_map(Value::as_u64).collect()
    };
    let grows = |history: &[Value]| {
        (from..=to).all(
            |i| match (i.checked_sub(1).and_then(|i| history.get(i)), history.get(i)) {
                (Some(before), Some(now)) => {
                    ids(before).is_subset(&ids(now)) && ids(before).len() + 1 == ids(now).len()
                }
                _ => false,
            },
        )
    };
    let without_order = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("isr");
            fields.remove("elr");
        }
        entry
    };
    let same_besides = (from..to).all(|i| without_order(&recorded[i]) == without_order(&ours[i]));
    same_besides && recorded.get(to) == ours.get(to) && grows(recorded) && grows(ours)
}

/// Makes two last lines comparable: a checkpoint without an entry says 0, and producer ids that the cluster gave are
/// numbered in the order in which they appear.
pub(super) fn normalize(line: &mut Value) {
    if let Some(checkpoints) = line.get_mut("checkpoints").and_then(Value::as_object_mut) {
        let replicas = checkpoints.values_mut().filter_map(Value::as_object_mut);
        for replica in replicas.flat_map(|replicas| replicas.values_mut()) {
            for name in ["hw", "recoveryPoint"] {
                if let Some(null) = replica.get_mut(name).filter(|value| value.is_null()) {
                    *null = 0.into();
                }
            }
        }
    }
    let mut given: SortedMap<i64, usize> = SortedMap::new();
    for (part, at) in [("logs", 4), ("emptyBatches", 3)] {
        let partitions = line.get_mut(part).and_then(Value::as_object_mut);
        let replicas = partitions.into_iter().flat_map(|of| of.values_mut());
        let lists = replicas.filter_map(Value::as_object_mut).flat_map(|of| of.values_mut());
        for entry in lists.filter_map(Value::as_array_mut).flatten() {
            let Some(id) = entry.get_mut(at) else { continue };
            let number = id.as_i64().unwrap_or(-1);
            if (0..OWN_PRODUCER_IDS).contains(&number) {
                let next = given.len();
                *id = format!("given {}", given.entry(number).or_insert(next)).into();
            }
        }
    }
}
