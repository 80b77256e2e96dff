//! A record batch of format v2: the unit in which records travel, are stored and are replicated.
//!
//! Mirrors `DefaultRecordBatch` and, for building, `MemoryRecordsBuilder`. The checksum of a batch covers everything
//! but its base offset, length, leader epoch and magic. A leader therefore gives a batch its offsets and epoch
//! without touching what it was sent, and that is how it is kept here: one shared [payload](Batch), and beside it
//! the two numbers that differ between what was sent and what is stored. Clones, replicas and snapshots share bytes.
//!
//! Deliberately absent: compression. A compressed batch read from a real file keeps its bytes and header; its
//! records are not opened here.

mod build;
mod header;
mod marker;

pub(crate) use build::Unwritable;
pub use header::BatchHeader;
pub(crate) use marker::ending;
pub use marker::{Marker, Outcome};

use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use super::record::{Record, RecordView};

/// The bytes of a batch before its records (`DefaultRecordBatch.RECORD_BATCH_OVERHEAD`).
pub const RECORD_BATCH_OVERHEAD: usize = 61;

/// Base offset and length: what must be read to know where a batch ends (`Records.LOG_OVERHEAD`).
pub const LOG_OVERHEAD: usize = 12;

/// Bytes up to and including the magic (`Records.HEADER_SIZE_UP_TO_MAGIC`).
pub const HEADER_SIZE_UP_TO_MAGIC: usize = 17;

/// The smallest length field Kafka believes (`LegacyRecord.RECORD_OVERHEAD_V0`).
const SMALLEST_LENGTH: i32 = 14;

/// Where the shared payload begins: base offset, length and leader epoch stand outside.
const PAYLOAD_START: usize = 16;

/// Where the checksummed part begins.
const CRC_START: usize = 21;

const LOG_APPEND_TIME: i16 = 0x08;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;
const DELETE_HORIZON: i16 = 0x40;
/// All bits that mean something, those of the compression among them: whoever writes attributes anew drops the others.
const KNOWN: i16 = 0x7f;

/// Who sent a batch, and its place among what that producer sent to the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerStamp {
    /// The producer id.
    pub id: i64,
    /// The producer epoch.
    pub epoch: i16,
    /// The sequence of the first record; −1 in a control batch.
    pub base_sequence: i32,
}

/// What the timestamps of a batch mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampType {
    /// Set by the producer.
    CreateTime,
    /// Set by the leader when it appended.
    LogAppendTime,
}

/// Why bytes do not make a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes end before the batch does: a torn tail, which Kafka ignores in silence.
    Incomplete,
    /// The length field is impossible.
    BadLength(i32),
    /// The magic is below 2. One above is read as if it were 2, which only damage brings about.
    BadMagic(i8),
    /// A batch of magic 2 shorter than its header.
    ShortHeader,
}

#[derive(Debug)]
struct Payload {
    /// The batch from its magic to its end.
    bytes: Box<[u8]>,
    /// As it was read or built; offset and leader epoch may be others by now.
    header: BatchHeader,
    checksum: OnceLock<bool>,
    tags: Arc<[u64]>,
    fingerprint: OnceLock<u128>,
}

/// A record batch. Clones share its bytes.
#[derive(Clone, Debug)]
pub struct Batch {
    payload: Arc<Payload>,
    base_offset: i64,
    leader_epoch: i32,
}

impl Batch {
    /// Reads the batch at the front of `bytes`; what stands behind it is left alone. Only the framing is judged
    /// here: ask [`is_valid`](Self::is_valid) for the checksum and [`check_records`](Self::check_records) for the
    /// records. Mirrors `FileLogInputStream.nextBatch`.
    pub fn parse(bytes: &[u8]) -> Result<Batch, Malformed> {
        let size = BatchHeader::frame(bytes, bytes.len() as u64)? as usize;
        let header = BatchHeader::read(bytes).ok_or(Malformed::ShortHeader)?;
        let payload = Payload {
            bytes: bytes[PAYLOAD_START..size].into(),
            header,
            checksum: OnceLock::new(),
            tags: Arc::default(),
            fingerprint: OnceLock::new(),
        };
        Ok(Batch {
            payload: Arc::new(payload),
            base_offset: header.base_offset,
            leader_epoch: header.leader_epoch,
        })
    }

    /// The header as it lies in a file.
    pub fn header(&self) -> BatchHeader {
        BatchHeader {
            base_offset: self.base_offset,
            leader_epoch: self.leader_epoch,
            ..self.payload.header
        }
    }

    /// The same batch at another offset and leader epoch; the bytes stay shared.
    pub fn placed(&self, base_offset: i64, leader_epoch: i32) -> Batch {
        Batch {
            payload: Arc::clone(&self.payload),
            base_offset,
            leader_epoch,
        }
    }

    /// The same batch with other tags. The bytes are copied, so give tags when building where that is possible.
    pub fn tagged(&self, tags: Arc<[u64]>) -> Batch {
        let payload = Payload {
            bytes: self.payload.bytes.clone(),
            header: self.payload.header,
            checksum: self.payload.checksum.clone(),
            tags,
            fingerprint: OnceLock::new(),
        };
        Batch {
            payload: Arc::new(payload),
            ..*self
        }
    }

    /// The offset of the first record slot.
    pub fn base_offset(&self) -> i64 {
        self.base_offset
    }

    /// The offset of the last record slot, whether or not a record is left in it.
    pub fn last_offset(&self) -> i64 {
        self.base_offset
            .wrapping_add(i64::from(self.payload.header.last_offset_delta))
    }

    /// One past the last offset.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// Last offset minus base offset.
    pub fn last_offset_delta(&self) -> i32 {
        self.payload.header.last_offset_delta
    }

    /// The epoch of the leader that appended it; −1 before an append.
    pub fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    /// All bytes of the batch, header included.
    pub fn size_in_bytes(&self) -> u32 {
        (PAYLOAD_START + self.payload.bytes.len()) as u32
    }

    /// The timestamp of the first record, or the delete horizon where there is one.
    pub fn base_timestamp(&self) -> i64 {
        self.payload.header.base_timestamp
    }

    /// The greatest timestamp of its records, or the append time.
    pub fn max_timestamp(&self) -> i64 {
        self.payload.header.max_timestamp
    }

    /// The attribute bits as stored.
    pub fn attributes(&self) -> i16 {
        self.payload.header.attributes
    }

    /// The magic as stored: 2 in sound files.
    pub fn magic(&self) -> i8 {
        self.payload.header.magic
    }

    /// The checksum as stored.
    pub fn crc(&self) -> u32 {
        self.payload.header.crc
    }

    /// Whether the producer or the leader set the timestamps.
    pub fn timestamp_type(&self) -> TimestampType {
        self.payload.header.timestamp_type()
    }

    /// Whether it belongs to a transaction (a marker does as well).
    pub fn is_transactional(&self) -> bool {
        self.payload.header.is_transactional()
    }

    /// Whether it is a control batch: it takes an offset and no consumer sees it.
    pub fn is_control(&self) -> bool {
        self.payload.header.is_control()
    }

    /// The compression code: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub fn compression(&self) -> u8 {
        self.payload.header.compression()
    }

    /// From when on its tombstones may be removed, if a cleaner has decided that.
    pub fn delete_horizon(&self) -> Option<i64> {
        self.payload.header.delete_horizon()
    }

    /// Who sent it; `None` without idempotence.
    pub fn producer(&self) -> Option<ProducerStamp> {
        (self.payload.header.producer.id >= 0).then_some(self.payload.header.producer)
    }

    /// The producer id, −1 if none.
    pub fn producer_id(&self) -> i64 {
        self.payload.header.producer.id
    }

    /// The producer epoch, −1 if none.
    pub fn producer_epoch(&self) -> i16 {
        self.payload.header.producer.epoch
    }

    /// The sequence of the first record slot, −1 if none.
    pub fn base_sequence(&self) -> i32 {
        self.payload.header.producer.base_sequence
    }

    /// The sequence of the last record slot, which wraps after 2147483647 to 0; −1 if none.
    pub fn last_sequence(&self) -> i32 {
        self.payload.header.last_sequence()
    }

    /// The number of records present, as the header has it.
    pub fn records_count(&self) -> i32 {
        self.payload.header.count
    }

    /// One number per record present, in order, if tags were given.
    pub fn tags(&self) -> &[u64] {
        &self.payload.tags
    }

    /// The tag of the record at an offset, if the record is there and has one.
    pub fn tag_of(&self, offset: i64) -> Option<u64> {
        if self.tags().is_empty() {
            return None;
        }
        if i64::from(self.records_count()) == i64::from(self.last_offset_delta()) + 1 {
            return self
                .tags()
                .get(usize::try_from(offset - self.base_offset).ok()?)
                .copied();
        }
        let index = self.records().position(|record| record.offset == offset)?;
        self.tags().get(index).copied()
    }

    /// The records in order. Stops at the first that is malformed, which [`check_records`](Self::check_records)
    /// reports; nothing comes out of a compressed batch.
    pub fn records(&self) -> RecordIter<'_> {
        let bytes = match self.compression() {
            0 => self.records_bytes(),
            _ => &[],
        };
        RecordIter::new(&self.header(), bytes)
    }

    /// The bytes behind the header.
    pub fn records_bytes(&self) -> &[u8] {
        &self.payload.bytes[RECORD_BATCH_OVERHEAD - PAYLOAD_START..]
    }

    /// Whether the records are as many as the header says and fill the batch exactly.
    pub fn check_records(&self) -> bool {
        let mut records = self.records();
        let found = records.by_ref().count();
        found as i64 == i64::from(self.records_count()) && records.rest.is_empty()
    }

    /// Whether the stored checksum is that of the bytes (`DefaultRecordBatch.isValid`).
    pub fn is_valid(&self) -> bool {
        *self
            .payload
            .checksum
            .get_or_init(|| crate::checksum::crc32c(&self.payload.bytes[CRC_START - PAYLOAD_START..]) == self.crc())
    }

    /// The transaction marker in a control batch.
    pub fn marker(&self) -> Option<Marker> {
        if !self.is_control() {
            return None;
        }
        Marker::of(&self.records().next()?)
    }

    /// The batch as it lies in a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size_in_bytes() as usize);
        self.write_to(&mut out);
        out
    }

    /// Appends the batch as it lies in a file.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base_offset.to_be_bytes());
        out.extend_from_slice(&(self.size_in_bytes() as i32 - LOG_OVERHEAD as i32).to_be_bytes());
        out.extend_from_slice(&self.leader_epoch.to_be_bytes());
        out.extend_from_slice(&self.payload.bytes);
    }

    /// The fingerprint of bytes and tags, offset and leader epoch included; the part over the bytes is computed once
    /// for all clones.
    pub fn fingerprint(&self) -> u128 {
        let shared = *self.payload.fingerprint.get_or_init(|| {
            let tags: Vec<u8> = self.payload.tags.iter().flat_map(|tag| tag.to_le_bytes()).collect();
            xxh3_128(&self.payload.bytes) ^ xxh3_128_with_seed(&tags, 1)
        });
        let mut own = [0u8; 28];
        own[..16].copy_from_slice(&shared.to_le_bytes());
        own[16..24].copy_from_slice(&self.base_offset.to_le_bytes());
        own[24..].copy_from_slice(&self.leader_epoch.to_le_bytes());
        xxh3_128(&own)
    }

    /// The most bytes a batch of this one record can take (`AbstractRecords.estimateSizeInBytesUpperBound`), which
    /// is what a producer compares with `batch.size` and `max.request.size`.
    pub fn size_upper_bound(record: &Record) -> usize {
        RECORD_BATCH_OVERHEAD + record.size_upper_bound()
    }
}

impl PartialEq for Batch {
    fn eq(&self, other: &Self) -> bool {
        self.base_offset == other.base_offset
            && self.leader_epoch == other.leader_epoch
            && (Arc::ptr_eq(&self.payload, &other.payload)
                || (self.payload.bytes == other.payload.bytes && self.payload.tags == other.payload.tags))
    }
}

impl Eq for Batch {}

/// The records of a batch; see [`Batch::records`].
#[derive(Clone, Debug)]
pub struct RecordIter<'a> {
    base_offset: i64,
    /// What timestamps are told from.
    base_timestamp: i64,
    /// The timestamp of every record, where the leader set it.
    append_time: Option<i64>,
    rest: &'a [u8],
    left: i32,
}

impl<'a> RecordIter<'a> {
    /// The records in the uncompressed bytes behind a header.
    pub fn new(header: &BatchHeader, records: &'a [u8]) -> Self {
        Self {
            base_offset: header.base_offset,
            base_timestamp: header.base_timestamp,
            append_time: (header.timestamp_type() == TimestampType::LogAppendTime).then_some(header.max_timestamp),
            rest: records,
            left: header.count,
        }
    }

    /// What no record has been read from yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// How many records are still to come, as the header has it.
    pub fn left(&self) -> i32 {
        self.left
    }
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = RecordView<'a>;

    fn next(&mut self) -> Option<RecordView<'a>> {
        if self.left <= 0 {
            return None;
        }
        let mut rest = self.rest;
        let mut record = RecordView::read(&mut rest)?;
        self.rest = rest;
        self.left -= 1;
        record.offset = record.offset.wrapping_add(self.base_offset);
        record.timestamp = match self.append_time {
            None => record.timestamp.wrapping_add(self.base_timestamp),
            Some(time) => time,
        };
        Some(record)
    }
}

/// A sequence further on, which wraps after 2147483647 to 0 (`DefaultRecordBatch.incrementSequence`).
pub fn increment_sequence(sequence: i32, increment: i32) -> i32 {
    if sequence > i32::MAX.wrapping_sub(increment) {
        increment.wrapping_sub(i32::MAX.wrapping_sub(sequence)).wrapping_sub(1)
    } else {
        sequence.wrapping_add(increment)
    }
}

/// `N` bytes of a slice whose length the caller has checked.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
