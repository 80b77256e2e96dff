//! The header of a batch, read without its records.
//!
//! Mirrors the accessors of `DefaultRecordBatch` and the framing of `FileLogInputStream.nextBatch`. Whoever walks
//! through a file needs only this much of each batch, and needs no copy of its bytes.

use super::{
    CONTROL, CRC_START, DELETE_HORIZON, HEADER_SIZE_UP_TO_MAGIC, LOG_APPEND_TIME, LOG_OVERHEAD, Malformed,
    PAYLOAD_START, ProducerStamp, RECORD_BATCH_OVERHEAD, SMALLEST_LENGTH, TRANSACTIONAL, TimestampType, array,
    increment_sequence,
};

/// Every field of a batch's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The offset of the first record slot.
    pub base_offset: i64,
    /// The bytes behind the length field.
    pub length: i32,
    /// The epoch of the leader that appended it; −1 before an append.
    pub leader_epoch: i32,
    /// 2 in sound files.
    pub magic: i8,
    /// The checksum as stored.
    pub crc: u32,
    /// The attribute bits as stored.
    pub attributes: i16,
    /// Last offset minus base offset.
    pub last_offset_delta: i32,
    /// The timestamp of the first record, or the delete horizon where there is one.
    pub base_timestamp: i64,
    /// The greatest timestamp of its records, or the append time.
    pub max_timestamp: i64,
    /// The three producer fields as stored, −1 where there is none.
    pub producer: ProducerStamp,
    /// The number of records present.
    pub count: i32,
}

impl BatchHeader {
    /// How many bytes the batch at the front of `front` takes, when so many bytes are left in its file. `front` needs
    /// no more than the first [`HEADER_SIZE_UP_TO_MAGIC`] of them.
    pub fn frame(front: &[u8], left: u64) -> Result<u64, Malformed> {
        if left <= HEADER_SIZE_UP_TO_MAGIC as u64 || front.len() < HEADER_SIZE_UP_TO_MAGIC {
            return Err(Malformed::Incomplete);
        }
        let length = i32::from_be_bytes(array(front, 8));
        if length < SMALLEST_LENGTH {
            return Err(Malformed::BadLength(length));
        }
        let size = LOG_OVERHEAD as u64 + length as u64;
        if left < size {
            return Err(Malformed::Incomplete);
        }
        let magic = front[PAYLOAD_START] as i8;
        if magic < 2 {
            return Err(Malformed::BadMagic(magic));
        }
        if size < RECORD_BATCH_OVERHEAD as u64 {
            return Err(Malformed::ShortHeader);
        }
        Ok(size)
    }

    /// The header at the front of some bytes; `None` when there are fewer than [`RECORD_BATCH_OVERHEAD`]. Nothing is
    /// judged here: see [`frame`](Self::frame).
    pub fn read(bytes: &[u8]) -> Option<BatchHeader> {
        let bytes = bytes.get(..RECORD_BATCH_OVERHEAD)?;
        Some(BatchHeader {
            base_offset: i64::from_be_bytes(array(bytes, 0)),
            length: i32::from_be_bytes(array(bytes, 8)),
            leader_epoch: i32::from_be_bytes(array(bytes, 12)),
            magic: bytes[PAYLOAD_START] as i8,
            crc: u32::from_be_bytes(array(bytes, 17)),
            attributes: i16::from_be_bytes(array(bytes, CRC_START)),
            last_offset_delta: i32::from_be_bytes(array(bytes, 23)),
            base_timestamp: i64::from_be_bytes(array(bytes, 27)),
            max_timestamp: i64::from_be_bytes(array(bytes, 35)),
            producer: ProducerStamp {
                id: i64::from_be_bytes(array(bytes, 43)),
                epoch: i16::from_be_bytes(array(bytes, 51)),
                base_sequence: i32::from_be_bytes(array(bytes, 53)),
            },
            count: i32::from_be_bytes(array(bytes, 57)),
        })
    }

    /// All bytes of the batch, header included.
    pub fn size_in_bytes(&self) -> u32 {
        LOG_OVERHEAD as u32 + self.length as u32
    }

    /// The offset of the last record slot, whether or not a record is left in it.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// Whether the producer or the leader set the timestamps.
    pub fn timestamp_type(&self) -> TimestampType {
        match self.attributes & LOG_APPEND_TIME {
            0 => TimestampType::CreateTime,
            _ => TimestampType::LogAppendTime,
        }
    }

    /// Whether it belongs to a transaction (a marker does as well).
    pub fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    /// Whether it is a control batch: it takes an offset and no consumer sees it.
    pub fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    /// The compression code: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub fn compression(&self) -> u8 {
        (self.attributes & 0x07) as u8
    }

    /// From when on its tombstones may be removed, if a cleaner has decided that.
    pub fn delete_horizon(&self) -> Option<i64> {
        (self.attributes & DELETE_HORIZON != 0).then_some(self.base_timestamp)
    }

    /// The sequence of the last record slot, which wraps after 2147483647 to 0; −1 if none.
    pub fn last_sequence(&self) -> i32 {
        match self.producer.base_sequence {
            -1 => -1,
            base => increment_sequence(base, self.last_offset_delta),
        }
    }

    /// The sequence of the record in a slot; −1 if none.
    pub fn sequence_at(&self, offset_delta: i32) -> i32 {
        match self.producer.base_sequence {
            ..0 => -1,
            base => increment_sequence(base, offset_delta),
        }
    }

    /// The checksum that the whole batch's bytes should have.
    pub fn checksum(batch: &[u8]) -> u32 {
        crate::checksum::crc32c(batch.get(CRC_START..).unwrap_or(&[]))
    }
}
