//! The words of `kafka-dump-log`, line for line.
//!
//! Each type here is one line, or what stands under one heading, of what the real tool (`DumpLogSegments` of 4.4.0)
//! prints. Numbers, spaces and odd capitals are its own. Deliberately absent: its decoders for internal topics, and
//! message formats before 2.

use std::fmt;

use crate::log::snapshot::CorruptSnapshot;
use crate::log::{AbortedTxn, BatchHeader, Marker, Outcome, ProducerEntry, RecordView, TimestampType};

use super::codec::Codec;
use super::scan::Found;

/// The name of a timestamp type.
fn timestamps(kind: TimestampType) -> &'static str {
    match kind {
        TimestampType::CreateTime => "CreateTime",
        TimestampType::LogAppendTime => "LogAppendTime",
    }
}

/// Java's way of writing an optional number.
struct OptionalLong(Option<i64>);

impl fmt::Display for OptionalLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("OptionalLong.empty"),
            Some(value) => write!(f, "OptionalLong[{value}]"),
        }
    }
}

/// The line of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchLine<'a> {
    /// The batch and its place.
    pub found: &'a Found,
    /// Whether its checksum is that of its bytes.
    pub is_valid: bool,
}

impl fmt::Display for BatchLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { position, header } = self.found;
        write!(
            f,
            "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} producerId: {} producerEpoch: {} \
             partitionLeaderEpoch: {} isTransactional: {} isControl: {} deleteHorizonMs: {}",
            header.base_offset,
            header.last_offset(),
            header.count,
            header.producer.base_sequence,
            header.last_sequence(),
            header.producer.id,
            header.producer.epoch,
            header.leader_epoch,
            header.is_transactional(),
            header.is_control(),
            OptionalLong(header.delete_horizon()),
        )?;
        write!(
            f,
            " position: {position} {}: {} size: {} magic: {} compresscodec: {} crc: {} isvalid: {}",
            timestamps(header.timestamp_type()),
            header.max_timestamp,
            header.size_in_bytes(),
            header.magic,
            Codec::of(header),
            header.crc,
            self.is_valid,
        )
    }
}

/// The line of a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordLine<'a> {
    /// The batch that holds it.
    pub header: &'a BatchHeader,
    /// The record.
    pub record: &'a RecordView<'a>,
}

impl fmt::Display for RecordLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecordLine { header, record } = self;
        let delta = record.offset.wrapping_sub(header.base_offset) as i32;
        let size = |field: Option<&[u8]>| field.map_or(-1, |bytes| bytes.len() as i64);
        write!(
            f,
            "| offset: {} {}: {} keySize: {} valueSize: {} sequence: {} headerKeys: [",
            record.offset,
            timestamps(header.timestamp_type()),
            record.timestamp,
            size(record.key),
            size(record.value),
            header.sequence_at(delta),
        )?;
        for (at, header) in record.headers.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}", Text(header.key))?;
        }
        f.write_str("]")?;
        if header.is_control() {
            return write!(f, "{}", Control(record));
        }
        if let Some(key) = record.key {
            write!(f, " key: {}", Text(key))?;
        }
        match record.value {
            Some(value) => write!(f, " payload: {}", Text(value)),
            None => Ok(()),
        }
    }
}

/// Bytes as UTF-8, with U+FFFD for what is none.
struct Text<'a>(&'a [u8]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

/// What a control record says.
struct Control<'a>(&'a RecordView<'a>);

impl fmt::Display for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Marker {
            outcome,
            coordinator_epoch,
        }) = Marker::of(self.0)
        {
            let outcome = match outcome {
                Outcome::Abort => "ABORT",
                Outcome::Commit => "COMMIT",
            };
            return write!(f, " endTxnMarker: {outcome} coordinatorEpoch: {coordinator_epoch}");
        }
        match self
            .0
            .key
            .and_then(|key| Some(i16::from_be_bytes(key.get(2..4)?.try_into().ok()?)))
        {
            Some(kind) => write!(f, " controlType: {}({kind})", control_type(kind)),
            None => Ok(()),
        }
    }
}

/// The name of a control record's type (`ControlRecordType`).
fn control_type(kind: i16) -> &'static str {
    match kind {
        0 => "ABORT",
        1 => "COMMIT",
        2 => "LEADER_CHANGE",
        3 => "SNAPSHOT_HEADER",
        4 => "SNAPSHOT_FOOTER",
        5 => "KRAFT_VERSION",
        6 => "KRAFT_VOTERS",
        _ => "UNKNOWN",
    }
}

/// The line of a producer in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct ProducerLine<'a> {
    /// Its id.
    pub id: i64,
    /// What is known of it.
    pub entry: &'a ProducerEntry,
}

impl fmt::Display for ProducerLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProducerLine { id, entry } = self;
        write!(
            f,
            "producerId: {id} producerEpoch: {} coordinatorEpoch: {} currentTxnFirstOffset: {} lastTimestamp: {}",
            entry.epoch,
            entry.coordinator_epoch,
            OptionalLong(entry.txn_first_offset),
            entry.last_timestamp,
        )?;
        let Some(batch) = entry.batches.front() else {
            return Ok(());
        };
        write!(
            f,
            " firstSequence: {} lastSequence: {} lastOffset: {} offsetDelta: {} timestamp: {}",
            batch.first_sequence(),
            batch.last_sequence,
            batch.last_offset,
            batch.offset_delta,
            batch.timestamp,
        )
    }
}

/// What the real tool says of a snapshot that it does not believe.
#[derive(Clone, Copy, Debug)]
pub struct CorruptSnapshotLine {
    /// Why not.
    pub why: CorruptSnapshot,
    /// How long the file is.
    pub length: u64,
}

impl fmt::Display for CorruptSnapshotLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            CorruptSnapshot::Version(version) => write!(
                f,
                "Snapshot failed schema validation: Snapshot contained an unknown file version {version}"
            ),
            CorruptSnapshot::Checksum { stored, computed } => write!(
                f,
                "Snapshot is corrupt (CRC is no longer valid). Stored crc: {stored}. Computed crc: {computed}"
            ),
            CorruptSnapshot::Count(count) if count < 0 => f.write_str(
                "Snapshot failed schema validation: non-nullable field producerEntries was serialized as null",
            ),
            CorruptSnapshot::Count(count) => {
                let left = self.length.saturating_sub(crate::log::snapshot::HEADER as u64);
                if u64::from(count.unsigned_abs()) > left {
                    write!(
                        f,
                        "Snapshot failed schema validation: Tried to allocate a collection of size {count}, but there are \
                         only {left} bytes remaining."
                    )
                } else {
                    f.write_str("Snapshot failed schema validation: null")
                }
            }
            CorruptSnapshot::TooShort => f.write_str("Snapshot failed schema validation: null"),
        }
    }
}

/// The line of an aborted transaction.
#[derive(Clone, Copy, Debug)]
pub struct AbortedLine<'a>(pub &'a AbortedTxn);

impl fmt::Display for AbortedLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AbortedTxn {
            producer_id,
            first_offset,
            last_offset,
            last_stable_offset,
        } = self.0;
        write!(
            f,
            "version: 0 producerId: {producer_id} firstOffset: {first_offset} lastOffset: {last_offset} \
             lastStableOffset: {last_stable_offset}"
        )
    }
}
