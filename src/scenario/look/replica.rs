//! Replicas: what lies in their logs, and in which layer.

use super::{listed, number, translate};
use crate::cluster::World;
use crate::cluster::ids::BrokerId;
use crate::log::{Batch, Layer, Log, OffsetEntry, RecordView, Segment, TimeEntry, offset_ranges};
use crate::scenario::ast::{Replica, ReplicaFact, SegmentFact, Value};
use crate::sorted::sort_by;

/// The file in which a broker keeps the topic's id. The model knows the id otherwise, so that no log writes it.
const PARTITION_METADATA: &str = "partition.metadata";

/// What is found in a replica that exists, by its log and its high watermark, if a process knows one.
pub(super) fn of(replica: &Replica, world: &World, find: impl FnOnce(&Log, Option<i64>) -> Option<Value>) -> Value {
    let found = translate::partition(&replica.partition, world).ok().and_then(|tp| {
        let view = world.broker(BrokerId(replica.broker))?.replica(tp)?;
        find(view.log(), view.high_watermark())
    });
    found.unwrap_or(Value::Absent)
}

/// A fact about a replica.
pub(super) fn fact(fact: ReplicaFact, log: &Log, high_watermark: Option<i64>) -> Value {
    match fact {
        ReplicaFact::Leo => Value::Number(log.log_end_offset()),
        ReplicaFact::Hw => high_watermark.map_or(Value::Unknown, Value::Number),
        ReplicaFact::Start => Value::Number(log.log_start_offset()),
        ReplicaFact::Flushed => Value::Number(flushed(log)),
        ReplicaFact::Offsets => held(log, |_| true),
        ReplicaFact::OnDisk => held(log, |layer| layer == Layer::Disk),
        ReplicaFact::InCache => held(log, |layer| layer == Layer::Cache),
        ReplicaFact::Keys => items(log, |record| record.key.map(<[u8]>::to_vec)),
        ReplicaFact::Values => items(log, |record| record.value.map(<[u8]>::to_vec)),
        ReplicaFact::Epochs => {
            let entries = log.epochs().entries().iter();
            listed(
                entries.map(|entry| (entry.epoch.into(), entry.start_offset)).collect(),
                Value::Pairs,
            )
        }
        ReplicaFact::Segments => listed(log.segments().map(Segment::base_offset).collect(), Value::Numbers),
        ReplicaFact::Size => number(log.size()),
        ReplicaFact::Files => {
            let mut names: Vec<String> = log.file_list().into_iter().map(|file| file.name).collect();
            names.push(PARTITION_METADATA.to_string());
            sort_by(&mut names, String::cmp);
            listed(names, Value::Words)
        }
        ReplicaFact::Batches => {
            let batch = |batch: &Batch| (batch.base_offset(), batch.last_offset(), batch.records_count().into());
            listed(log.batches().map(batch).collect(), Value::Batches)
        }
    }
}

/// Everything below this offset is on disk.
fn flushed(log: &Log) -> i64 {
    let on_disk = log.held().take_while(|held| held.layer == Layer::Disk).last();
    on_disk.map_or(log.log_start_offset(), |held| held.batch.next_offset())
}

/// Offsets of the records in certain layers, from the log start on.
fn held(log: &Log, wanted: impl Fn(Layer) -> bool) -> Value {
    let start = log.log_start_offset();
    let ranges = offset_ranges(log.held().filter(|held| wanted(held.layer)).map(|held| held.batch));
    let from_start = ranges.into_iter().filter(|(_, last)| *last >= start);
    listed(
        from_start.map(|(first, last)| (first.max(start), last)).collect(),
        Value::Offsets,
    )
}

/// Something of each record from the log start on.
fn items(log: &Log, item: impl Fn(&RecordView<'_>) -> Option<Vec<u8>>) -> Value {
    let start = log.log_start_offset();
    let batches = log.batches().filter(|batch| !batch.is_control());
    let records = batches
        .flat_map(|batch| batch.records())
        .filter(|record| record.offset >= start);
    listed(records.map(|record| item(&record)).collect(), Value::Items)
}

fn segment_at(log: &Log, base: i64) -> Option<&Segment> {
    log.segments().find(|segment| segment.base_offset() == base)
}

/// The entries of an index.
pub(super) fn segment(fact: SegmentFact, log: &Log, base: i64) -> Option<Value> {
    let segment = segment_at(log, base)?;
    let pairs = match fact {
        SegmentFact::Index => {
            let pair = |entry: OffsetEntry| (base + i64::from(entry.relative_offset), entry.position.into());
            segment.offset_index().entries().map(pair).collect()
        }
        SegmentFact::TimeIndex => {
            let pair = |entry: TimeEntry| (entry.timestamp, base + i64::from(entry.relative_offset));
            segment.time_index().entries().map(pair).collect()
        }
    };
    Some(listed(pairs, Value::Pairs))
}

/// Where the index sends the search for an offset, and how many bytes are walked from there to its batch.
pub(super) fn lookup(log: &Log, offset: i64) -> Option<Value> {
    let segment = log.segments().rev().find(|segment| segment.base_offset() <= offset)?;
    let from = i64::from(segment.offset_index().lookup(offset));
    let found = segment.translate_offset(offset)?;
    Some(Value::Lookup(from, i64::from(found.position) - from))
}

/// The bytes of a file.
pub(super) fn file_size(log: &Log, name: &str) -> Option<Value> {
    let files = log.file_list();
    files
        .iter()
        .find(|file| file.name == name)
        .map(|file| number(file.length))
}
