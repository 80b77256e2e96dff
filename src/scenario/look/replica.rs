//! Replicas: what lies in their logs, and in which layer.

use super::{listed, number, translate};
use crate::cluster::Tag;
use crate::cluster::World;
use crate::cluster::broker::ReplicaView;
use crate::cluster::ids::BrokerId;
use crate::log::{
    Batch, Entry, Extent, Files, Index, Layer, Log, OffsetEntry, RecordView, Segment, TimeEntry, base_offset_of,
    file_name, offset_ranges,
};
use crate::scenario::ast::{Replica, ReplicaFact, SegmentFact, Value};
use crate::sorted::sort_by;

/// The file in which a broker keeps the topic's id. The model knows the id otherwise, so that no log writes it.
const PARTITION_METADATA: &str = "partition.metadata";

/// What is found in a replica that exists.
pub(super) fn of(replica: &Replica, world: &World, find: impl FnOnce(ReplicaView<'_>) -> Option<Value>) -> Value {
    let found = translate::partition(&replica.partition, world)
        .ok()
        .and_then(|tp| find(world.broker(BrokerId(replica.broker))?.replica(tp)?));
    found.unwrap_or(Value::Absent)
}

/// A fact about a replica.
pub(super) fn fact(fact: ReplicaFact, replica: ReplicaView<'_>) -> Value {
    let log = replica.log();
    match fact {
        ReplicaFact::Leo => Value::Number(log.log_end_offset()),
        ReplicaFact::Hw => replica.high_watermark().map_or(Value::Unknown, Value::Number),
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
        ReplicaFact::Segments => {
            let bases = match replica.lying_files() {
                Some(files) => files.segment_bases(),
                None => log.segments().map(Segment::base_offset).collect(),
            };
            listed(bases, Value::Numbers)
        }
        ReplicaFact::Size => number(replica.lying_files().map_or_else(|| log.size(), size_of_logs)),
        ReplicaFact::Files => {
            let mut names: Vec<String> = lengths(replica).into_iter().map(|(name, _)| name).collect();
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

/// The files of the folder with their lengths. What recovery would make of them is not looked at: without a process they
/// are as they lie, a damaged segment and those behind it too.
fn lengths(replica: ReplicaView<'_>) -> Vec<(String, u64)> {
    match replica.lying_files() {
        Some(files) => files.iter().map(|(name, file)| (name.to_owned(), file.len())).collect(),
        None => {
            let files = replica.log().file_list().into_iter();
            files.map(|file| (file.name, file.length)).collect()
        }
    }
}

/// The bytes of all `.log` files of a folder.
fn size_of_logs(files: &Files) -> u64 {
    let logs = files.iter().filter(|(name, _)| base_offset_of(name, "log").is_some());
    logs.map(|(_, file)| file.len()).sum()
}

/// An index of a segment; without a process what its file holds, if there is one. The zeros of a file that was made in
/// advance are no entries yet.
fn index_of<E: Entry>(replica: ReplicaView<'_>, base: i64, kind: &str, open: &Index<E>) -> Option<Index<E>> {
    let Some(files) = replica.lying_files() else {
        return Some(open.clone());
    };
    let mut file = files.get(&file_name(base, kind))?.clone();
    if let Some(Extent::Zeros(count)) = file.extents().last() {
        file.cut(file.len() - count);
    }
    Some(Index::open(base, &file))
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

/// The records from the log start on, as far as their producers are known.
pub(super) fn records(replica: &Replica, world: &World) -> Vec<Tag> {
    let found = translate::partition(&replica.partition, world)
        .ok()
        .and_then(|tp| world.broker(BrokerId(replica.broker))?.replica(tp));
    let Some(replica) = found else {
        return Vec::new();
    };
    let log = replica.log();
    let start = log.log_start_offset();
    let batches = log.batches().filter(|batch| !batch.is_control());
    let offsets = batches.flat_map(|batch| batch.records().map(move |record| (batch, record.offset)));
    offsets
        .filter(|(_, offset)| *offset >= start)
        .filter_map(|(batch, offset)| batch.tag_of(offset).map(Tag::from_bits))
        .collect()
}

fn segment_at(log: &Log, base: i64) -> Option<&Segment> {
    log.segments().find(|segment| segment.base_offset() == base)
}

/// The entries of an index.
pub(super) fn segment(fact: SegmentFact, replica: ReplicaView<'_>, base: i64) -> Option<Value> {
    let segment = segment_at(replica.log(), base)?;
    let pairs = match fact {
        SegmentFact::Index => {
            let pair = |entry: OffsetEntry| (base + i64::from(entry.relative_offset), entry.position.into());
            let index = index_of(replica, base, "index", segment.offset_index())?;
            index.entries().map(pair).collect()
        }
        SegmentFact::TimeIndex => {
            let pair = |entry: TimeEntry| (entry.timestamp, base + i64::from(entry.relative_offset));
            let index = index_of(replica, base, "timeindex", segment.time_index())?;
            index.entries().map(pair).collect()
        }
    };
    Some(listed(pairs, Value::Pairs))
}

/// Where the index sends the search for an offset, and how many bytes are walked from there to its batch.
pub(super) fn lookup(replica: ReplicaView<'_>, offset: i64) -> Option<Value> {
    let mut segments = replica.log().segments().rev();
    let segment = segments.find(|segment| segment.base_offset() <= offset)?;
    let index = index_of(replica, segment.base_offset(), "index", segment.offset_index())?;
    let from = i64::from(index.lookup(offset));
    let found = segment.translate_offset(offset).ok()??;
    Some(Value::Lookup(from, i64::from(found.position) - from))
}

/// The bytes of a file.
pub(super) fn file_size(replica: ReplicaView<'_>, name: &str) -> Option<Value> {
    let mut files = lengths(replica).into_iter();
    files.find(|(other, _)| other == name).map(|(_, length)| number(length))
}
