//! Every field of a format: where it stands, what it is called, what it says and what that means.

use crate::log::snapshot::{ENTRY_SIZE, HEADER};
use crate::log::{
    AbortedTxn, BatchHeader, Marker, OffsetEntry, Outcome, ProducerEntry, RecordField, RecordPart, RecordView,
    TimeEntry, TimestampType,
};

use super::codec::Codec;
use super::scan::Found;

/// One field in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The position of its first byte.
    pub position: u64,
    /// How many bytes it takes.
    pub length: u64,
    /// Its name in Kafka's sources.
    pub name: &'static str,
    /// What it says.
    pub value: String,
    /// What that means.
    pub meaning: String,
}

/// Fields that stand one behind the other.
struct Row {
    position: u64,
    fields: Vec<Field>,
}

impl Row {
    fn at(position: u64) -> Row {
        Row {
            position,
            fields: Vec::new(),
        }
    }

    fn add(&mut self, length: u64, name: &'static str, value: impl ToString, meaning: impl Into<String>) {
        let (value, meaning) = (value.to_string(), meaning.into());
        self.fields.push(Field {
            position: self.position,
            length,
            name,
            value,
            meaning,
        });
        self.position += length;
    }
}

/// A number that stands for "none" where it is negative.
fn or_none(value: i64, meaning: &str) -> String {
    if value < 0 {
        "none".to_owned()
    } else {
        meaning.to_owned()
    }
}

/// The header of a batch.
pub fn batch_fields(found: &Found) -> Vec<Field> {
    let header = &found.header;
    let mut row = Row::at(found.position);
    row.add(
        8,
        "baseOffset",
        header.base_offset,
        "the offset of the first record slot, given by the leader",
    );
    row.add(
        4,
        "batchLength",
        header.length,
        format!("bytes behind this field; {} in all", header.size_in_bytes()),
    );
    row.add(
        4,
        "partitionLeaderEpoch",
        header.leader_epoch,
        or_none(header.leader_epoch.into(), "the epoch of the leader that appended it"),
    );
    let format = match header.magic {
        2 => "the message format",
        _ => "no message format that there is; read as if it were 2",
    };
    row.add(1, "magic", header.magic, format);
    row.add(
        4,
        "crc",
        format!("{:08x}", header.crc),
        "CRC-32C of everything behind this field",
    );
    row.add(
        2,
        "attributes",
        format!("{:016b}", header.attributes),
        attributes(header),
    );
    row.add(
        4,
        "lastOffsetDelta",
        header.last_offset_delta,
        format!("the last record slot is offset {}", header.last_offset()),
    );
    row.add(8, "baseTimestamp", header.base_timestamp, base_timestamp(header));
    row.add(8, "maxTimestamp", header.max_timestamp, max_timestamp(header));
    let producer = header.producer;
    row.add(
        8,
        "producerId",
        producer.id,
        or_none(producer.id, "the idempotent producer that sent it"),
    );
    row.add(
        2,
        "producerEpoch",
        producer.epoch,
        or_none(producer.epoch.into(), "which incarnation of that producer"),
    );
    row.add(4, "baseSequence", producer.base_sequence, base_sequence(header));
    row.add(4, "recordsCount", header.count, "records present");
    row.fields
}

fn attributes(header: &BatchHeader) -> String {
    let mut words = vec![match Codec::of(header) {
        Codec::None => "not compressed".to_owned(),
        codec => format!("compressed with {codec}"),
    }];
    words.push(
        match header.timestamp_type() {
            TimestampType::CreateTime => "CreateTime",
            TimestampType::LogAppendTime => "LogAppendTime",
        }
        .to_owned(),
    );
    let flags = [
        (header.is_transactional(), "transactional"),
        (header.is_control(), "control batch"),
        (header.delete_horizon().is_some(), "with delete horizon"),
    ];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, word)| (*word).to_owned()));
    words.join(", ")
}

fn base_timestamp(header: &BatchHeader) -> String {
    let meaning = match header.delete_horizon() {
        Some(_) => "the delete horizon: from then on tombstones and markers may go; record timestamps are told from it",
        None => "record timestamps are told from it, ms since 1970",
    };
    or_none(header.base_timestamp, meaning)
}

fn max_timestamp(header: &BatchHeader) -> String {
    let meaning = match header.timestamp_type() {
        TimestampType::CreateTime => "the greatest timestamp of its records, set by the producer, ms since 1970",
        TimestampType::LogAppendTime => "when the leader appended it: the timestamp of every record, ms since 1970",
    };
    or_none(header.max_timestamp, meaning)
}

fn base_sequence(header: &BatchHeader) -> String {
    match header.producer.base_sequence {
        -1 => "none".to_owned(),
        _ => format!(
            "the first record's sequence; the last slot's is {}",
            header.last_sequence()
        ),
    }
}

/// The record at the front of uncompressed bytes that begin at a position. `None` when the bytes make no record.
pub fn record_fields(header: &BatchHeader, position: u64, bytes: &[u8]) -> Option<Vec<Field>> {
    let mut row = Row::at(position);
    let mut input = bytes;
    let mut behind = bytes.len();
    let record = RecordView::read_telling(&mut input, |part, left| {
        let (name, value, meaning) = part_in_words(header, part);
        row.add((behind - left) as u64, name, value, meaning);
        behind = left;
    })?;
    if let Some(marker) = header.is_control().then(|| Marker::of(&record)).flatten() {
        tell_marker(&mut row.fields, marker);
    }
    Some(row.fields)
}

/// Key and value of a control record are numbers, not text.
fn tell_marker(fields: &mut [Field], marker: Marker) {
    let outcome = match marker.outcome {
        Outcome::Commit => "COMMIT",
        Outcome::Abort => "ABORT",
    };
    for field in fields {
        match field.name {
            "key" => {
                field.value = outcome.to_owned();
                field.meaning = "a transaction marker: version, then type".to_owned();
            }
            "value" => {
                field.value = format!("coordinatorEpoch {}", marker.coordinator_epoch);
                field.meaning = "version, then the epoch of the coordinator that wrote the marker".to_owned();
            }
            _ => {}
        }
    }
}

fn part_in_words(header: &BatchHeader, part: RecordPart<'_>) -> (&'static str, String, String) {
    let length_of = |field| match field {
        RecordField::Key => "keyLength",
        RecordField::Value => "valueLength",
        RecordField::HeaderKey => "headerKeyLength",
        RecordField::HeaderValue => "headerValueLength",
    };
    let bytes_of = |field| match field {
        RecordField::Key => "key",
        RecordField::Value => "value",
        RecordField::HeaderKey => "headerKey",
        RecordField::HeaderValue => "headerValue",
    };
    match part {
        RecordPart::Length(length) => (
            "length",
            length.to_string(),
            "bytes of the record behind this field".to_owned(),
        ),
        RecordPart::Attributes(bits) => ("attributes", format!("{bits:08b}"), "none is in use".to_owned()),
        RecordPart::TimestampDelta(delta) => ("timestampDelta", delta.to_string(), timestamp(header, delta)),
        RecordPart::OffsetDelta(delta) => {
            let offset = header.base_offset.wrapping_add(i64::from(delta));
            ("offsetDelta", delta.to_string(), format!("offset {offset}"))
        }
        RecordPart::LengthOf(field, length) => {
            let meaning = match (field, length < 0) {
                (RecordField::Value, true) => "null: with a key, a tombstone",
                (_, true) => "null",
                _ => "bytes that follow",
            };
            (length_of(field), length.to_string(), meaning.to_owned())
        }
        RecordPart::BytesOf(field, bytes) => (
            bytes_of(field),
            format!("{:?}", String::from_utf8_lossy(bytes)),
            String::new(),
        ),
        RecordPart::HeadersCount(count) => ("headersCount", count.to_string(), "headers that follow".to_owned()),
    }
}

fn timestamp(header: &BatchHeader, delta: i64) -> String {
    match header.timestamp_type() {
        TimestampType::CreateTime => format!("timestamp {}", header.base_timestamp.wrapping_add(delta)),
        TimestampType::LogAppendTime => {
            format!("not used: the batch was stamped {} by the leader", header.max_timestamp)
        }
    }
}

/// An entry of an offset index.
pub fn offset_entry_fields(position: u64, base: i64, entry: OffsetEntry) -> Vec<Field> {
    let offset = base.wrapping_add(i64::from(entry.relative_offset));
    let mut row = Row::at(position);
    row.add(
        4,
        "relativeOffset",
        entry.relative_offset,
        format!("the last offset of a batch, {offset}, told from {base}"),
    );
    row.add(
        4,
        "position",
        entry.position,
        "where that batch begins in the .log file",
    );
    row.fields
}

/// An entry of a time index.
pub fn time_entry_fields(position: u64, base: i64, entry: TimeEntry) -> Vec<Field> {
    let offset = base.wrapping_add(i64::from(entry.relative_offset));
    let mut row = Row::at(position);
    row.add(
        8,
        "timestamp",
        entry.timestamp,
        "the greatest timestamp so far, ms since 1970",
    );
    row.add(
        4,
        "relativeOffset",
        entry.relative_offset,
        format!("the last offset of its batch, {offset}, told from {base}"),
    );
    row.fields
}

/// An entry of an index of aborted transactions.
pub fn txn_entry_fields(position: u64, entry: &AbortedTxn) -> Vec<Field> {
    let mut row = Row::at(position);
    row.add(2, "version", 0, "of the entry's format");
    row.add(8, "producerId", entry.producer_id, "whose transaction was aborted");
    row.add(8, "firstOffset", entry.first_offset, "its first record");
    row.add(8, "lastOffset", entry.last_offset, "its marker");
    row.add(
        8,
        "lastStableOffset",
        entry.last_stable_offset,
        "the last stable offset once it was gone",
    );
    row.fields
}

/// A producer snapshot: its head, then each producer.
pub fn snapshot_fields(crc: u32, entries: &[(i64, ProducerEntry)]) -> Vec<Vec<Field>> {
    let mut head = Row::at(0);
    head.add(2, "version", 1, "of the snapshot's format");
    head.add(
        4,
        "crc",
        format!("{crc:08x}"),
        "CRC-32C of everything behind this field",
    );
    head.add(4, "producerEntries", entries.len(), "producers that follow");
    let mut all = vec![head.fields];
    for (at, (id, entry)) in entries.iter().enumerate() {
        let mut row = Row::at((HEADER + at * ENTRY_SIZE) as u64);
        let txn = entry.txn_first_offset.unwrap_or(-1);
        row.add(8, "producerId", id, "the producer");
        row.add(2, "epoch", entry.epoch, "its incarnation");
        row.add(
            4,
            "lastSequence",
            entry.last_sequence(),
            or_none(entry.last_sequence().into(), "of its last batch"),
        );
        row.add(
            8,
            "lastOffset",
            entry.last_data_offset(),
            or_none(entry.last_data_offset(), "of its last batch"),
        );
        let delta = entry.batches.back().map_or(0, |batch| batch.offset_delta);
        row.add(4, "offsetDelta", delta, "last offset of that batch minus its first");
        row.add(
            8,
            "timestamp",
            entry.last_timestamp,
            or_none(entry.last_timestamp, "of that batch, ms since 1970"),
        );
        row.add(
            4,
            "coordinatorEpoch",
            entry.coordinator_epoch,
            or_none(entry.coordinator_epoch.into(), "of its last marker"),
        );
        row.add(
            8,
            "currentTxnFirstOffset",
            txn,
            or_none(txn, "where its open transaction begins"),
        );
        all.push(row.fields);
    }
    all
}
