//! How batches come into being: sent by a producer, stamped by a leader, thinned out by a cleaner.
//!
//! Mirrors `MemoryRecordsBuilder` and the writing half of `DefaultRecordBatch`.

use std::sync::{Arc, OnceLock};

use super::super::record::{NO_TIMESTAMP, Record, RecordView};
use super::{
    Batch, BatchHeader, CONTROL, CRC_START, DELETE_HORIZON, KNOWN, LOG_APPEND_TIME, LOG_OVERHEAD, Marker, Outcome,
    PAYLOAD_START, Payload, ProducerStamp, RECORD_BATCH_OVERHEAD, TRANSACTIONAL, TimestampType,
};

/// Why a batch cannot be written anew. A leader does not look at everything that it is sent, so that a log can hold what
/// `MemoryRecordsBuilder` refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritable {
    /// A record's offset that does not lie above the one before.
    OffsetOrder(i64),
    /// Nothing but offsets below 0.
    NegativeOffsets,
    /// A timestamp below −1.
    Timestamp(i64),
    /// A transaction of no producer.
    NoProducer,
    /// A producer without an epoch.
    NoEpoch,
    /// A producer's records without a sequence.
    NoSequence,
}

impl Batch {
    /// The batch a producer sends: base offset 0, no leader epoch, CreateTime.
    ///
    /// `tags` are one number per record, given and read by the caller alone (who sent it): not bytes, never part of
    /// a file, but kept through append, replication, compaction and recovery. Pass an empty slice for none.
    pub fn build(records: &[Record], producer: Option<ProducerStamp>, tags: Arc<[u64]>) -> Batch {
        Self::build_with(records, producer, 0, tags)
    }

    /// As [`build`](Self::build), inside a transaction.
    pub fn build_transactional(records: &[Record], producer: ProducerStamp, tags: Arc<[u64]>) -> Batch {
        Self::build_with(records, Some(producer), TRANSACTIONAL, tags)
    }

    /// A transaction marker as its coordinator sends it.
    pub fn build_marker(marker: Marker, producer_id: i64, producer_epoch: i16, timestamp: i64) -> Batch {
        let kind: u8 = match marker.outcome {
            Outcome::Abort => 0,
            Outcome::Commit => 1,
        };
        let mut value = vec![0, 0];
        value.extend_from_slice(&marker.coordinator_epoch.to_be_bytes());
        let record = Record::new(Some(&[0, 0, 0, kind]), Some(&value), timestamp);
        let stamp = ProducerStamp {
            id: producer_id,
            epoch: producer_epoch,
            base_sequence: -1,
        };
        Self::build_with(&[record], Some(stamp), TRANSACTIONAL | CONTROL, Arc::default())
    }

    fn build_with(records: &[Record], producer: Option<ProducerStamp>, attributes: i16, tags: Arc<[u64]>) -> Batch {
        let base_timestamp = records.first().map_or(NO_TIMESTAMP, |record| record.timestamp);
        let header = BatchHeader {
            base_offset: 0,
            length: 0,
            leader_epoch: -1,
            magic: 2,
            crc: 0,
            attributes,
            last_offset_delta: records.len() as i32 - 1,
            base_timestamp,
            max_timestamp: records
                .iter()
                .map(|record| record.timestamp)
                .max()
                .unwrap_or(NO_TIMESTAMP),
            producer: producer.unwrap_or(ProducerStamp {
                id: -1,
                epoch: -1,
                base_sequence: -1,
            }),
            count: records.len() as i32,
        };
        let mut body = Vec::new();
        for (delta, record) in records.iter().enumerate() {
            record.write(&mut body, delta as i32, record.timestamp.wrapping_sub(base_timestamp));
        }
        Self::assemble(header, &body, tags)
    }

    /// Puts header and records together and computes the checksum.
    fn assemble(header: BatchHeader, records: &[u8], tags: Arc<[u64]>) -> Batch {
        let mut bytes = Vec::with_capacity(RECORD_BATCH_OVERHEAD - PAYLOAD_START + records.len());
        bytes.extend_from_slice(&[2, 0, 0, 0, 0]);
        bytes.extend_from_slice(&header.attributes.to_be_bytes());
        bytes.extend_from_slice(&header.last_offset_delta.to_be_bytes());
        bytes.extend_from_slice(&header.base_timestamp.to_be_bytes());
        bytes.extend_from_slice(&header.max_timestamp.to_be_bytes());
        bytes.extend_from_slice(&header.producer.id.to_be_bytes());
        bytes.extend_from_slice(&header.producer.epoch.to_be_bytes());
        bytes.extend_from_slice(&header.producer.base_sequence.to_be_bytes());
        bytes.extend_from_slice(&header.count.to_be_bytes());
        bytes.extend_from_slice(records);
        let crc = crate::checksum::crc32c(&bytes[CRC_START - PAYLOAD_START..]);
        bytes[1..5].copy_from_slice(&crc.to_be_bytes());
        let payload = Payload {
            header: BatchHeader {
                length: (PAYLOAD_START + bytes.len() - LOG_OVERHEAD) as i32,
                magic: 2,
                crc,
                ..header
            },
            bytes: bytes.into_boxed_slice(),
            checksum: OnceLock::from(true),
            tags,
            fingerprint: OnceLock::new(),
        };
        Batch {
            payload: Arc::new(payload),
            base_offset: header.base_offset,
            leader_epoch: header.leader_epoch,
        }
    }

    /// The batch with timestamp type and greatest timestamp as the leader decides them. Bytes are copied, and the
    /// checksum made anew, only if something really changes (`DefaultRecordBatch.setMaxTimestamp`).
    pub(crate) fn with_max_timestamp(&self, kind: TimestampType, max_timestamp: i64) -> Batch {
        if self.timestamp_type() == kind && self.max_timestamp() == max_timestamp {
            return self.clone();
        }
        let attributes = match kind {
            TimestampType::CreateTime => self.attributes() & KNOWN & !LOG_APPEND_TIME,
            TimestampType::LogAppendTime => self.attributes() & KNOWN | LOG_APPEND_TIME,
        };
        let header = BatchHeader {
            attributes,
            max_timestamp,
            ..self.header()
        };
        Self::assemble(header, self.records_bytes(), Arc::clone(&self.payload.tags))
    }

    /// The batch with only some of its records, as a cleaner writes it: slots, sequences and leader epoch stay, records
    /// keep their offsets. The timestamps begin anew with the first that is left, or with the delete horizon. A horizon below
    /// 0 is none.
    pub(crate) fn retaining(
        &self,
        kept: &[(usize, RecordView<'_>)],
        horizon: Option<i64>,
    ) -> Result<Batch, Unwritable> {
        self.check_writable(kept)?;
        let horizon = horizon.filter(|horizon| *horizon >= 0);
        let timestamps = kept.iter().map(|(_, record)| record.timestamp);
        let base_timestamp = horizon.or(timestamps.clone().next()).unwrap_or(NO_TIMESTAMP);
        let attributes = match horizon {
            Some(_) => self.attributes() & KNOWN | DELETE_HORIZON,
            None => self.attributes() & KNOWN & !DELETE_HORIZON,
        };
        let max_timestamp = match self.timestamp_type() {
            TimestampType::CreateTime => timestamps.max().unwrap_or(NO_TIMESTAMP).max(NO_TIMESTAMP),
            TimestampType::LogAppendTime => self.max_timestamp(),
        };
        let mut body = Vec::new();
        for (_, record) in kept {
            let offset_delta = record.offset.wrapping_sub(self.base_offset) as i32;
            record.write(&mut body, offset_delta, record.timestamp.wrapping_sub(base_timestamp));
        }
        let tags: Vec<u64> = kept
            .iter()
            .filter_map(|(index, _)| self.tags().get(*index).copied())
            .collect();
        let count = kept.len() as i32;
        let header = BatchHeader {
            attributes,
            base_timestamp,
            max_timestamp,
            count,
            ..self.header()
        };
        Ok(Self::assemble(header, &body, tags.into()))
    }

    /// What a builder looks at (`MemoryRecordsBuilder.appendWithOffset` and `validateProducerState`), and who asks it
    /// (`MemoryRecords.FilterResult.validateBatchMetadata`).
    fn check_writable(&self, kept: &[(usize, RecordView<'_>)]) -> Result<(), Unwritable> {
        let mut last = None;
        for (_, record) in kept {
            if last.is_some_and(|last| record.offset <= last) {
                return Err(Unwritable::OffsetOrder(record.offset));
            }
            if record.timestamp < NO_TIMESTAMP {
                return Err(Unwritable::Timestamp(record.timestamp));
            }
            last = Some(record.offset);
        }
        if last.is_some_and(|last| last < 0) {
            return Err(Unwritable::NegativeOffsets);
        }
        let producer = self.header().producer;
        match producer.id {
            -1 if self.is_transactional() => Err(Unwritable::NoProducer),
            -1 => Ok(()),
            _ if producer.epoch == -1 => Err(Unwritable::NoEpoch),
            _ if producer.base_sequence < 0 && !self.is_control() => Err(Unwritable::NoSequence),
            _ => Ok(()),
        }
    }

    /// The batch without records, as a cleaner leaves it for the sake of its header.
    pub(crate) fn emptied(&self) -> Batch {
        let header = BatchHeader {
            attributes: self.attributes() & (LOG_APPEND_TIME | TRANSACTIONAL | CONTROL),
            base_timestamp: NO_TIMESTAMP,
            count: 0,
            ..self.header()
        };
        Self::assemble(header, &[], Arc::default())
    }
}
