//! What a leader checks in a batch before it looks at anything else.
//!
//! Mirrors `LogValidator` and `ByteBufferLogInputStream`.

use std::borrow::Cow;

use super::batch::{Batch, HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, TimestampType};
use super::config::LogConfig;
use super::errors::{Errors, RecordError, Refusal};
use super::producers::Origin;
use super::record::{NO_TIMESTAMP, RecordView};

/// Where in a batch the last offset delta ends.
const LAST_OFFSET_DELTA_END: i32 = 27;

/// What stands in the bytes of a request or a response.
pub(crate) struct Split {
    /// The batches at the front.
    pub(crate) batches: Vec<Batch>,
    /// Why what follows them is no batch. Kafka comes to it only when the batches before it have passed their own checks.
    pub(crate) fault: Option<SplitFault>,
}

/// Why bytes are no batch.
pub(crate) struct SplitFault {
    refusal: Refusal,
    /// What can be looked at of it before it is found that it is none.
    seen: Option<Seen>,
}

/// What is checked of a batch before its bytes are believed.
struct Seen {
    /// Only a batch of magic 2 has one that a client must leave at 0.
    base_offset: Option<i64>,
    size: i64,
}

impl SplitFault {
    /// What whoever sent it is told; `origin` is who sent it to a leader.
    pub(crate) fn refusal(self, origin: Option<Origin>, config: &LogConfig) -> Refusal {
        let (Some(seen), Some(origin)) = (self.seen, origin) else {
            return self.refusal;
        };
        match seen.base_offset.filter(|base| origin.is_client() && *base != 0) {
            Some(base) => wrong_base_offset(base),
            None if seen.size > i64::from(config.max_message_bytes) => too_large(seen.size, config),
            None => self.refusal,
        }
    }
}

/// What is said of a batch above `max.message.bytes`.
pub(crate) fn too_large(size: i64, config: &LogConfig) -> Refusal {
    Refusal::new(
        Errors::MessageTooLarge,
        format!(
            "the batch has {size} bytes, more than max.message.bytes = {}",
            config.max_message_bytes
        ),
    )
}

/// What a client is told whose batch does not begin at 0.
pub(crate) fn wrong_base_offset(base_offset: i64) -> Refusal {
    invalid_record(format!("a client's batch has base offset {base_offset}, expected 0"))
}

/// Splits bytes into batches as `ByteBufferLogInputStream` does: an incomplete one at the end is ignored.
pub(crate) fn split_batches(bytes: &[u8]) -> Split {
    let mut split = Split {
        batches: Vec::new(),
        fault: None,
    };
    let mut rest = bytes;
    loop {
        match next_batch(rest) {
            Ok(Some(batch)) => {
                rest = &rest[batch.size_in_bytes() as usize..];
                split.batches.push(batch);
            }
            Ok(None) => return split,
            Err(fault) => {
                split.fault = Some(fault);
                return split;
            }
        }
    }
}

fn next_batch(bytes: &[u8]) -> Result<Option<Batch>, SplitFault> {
    let corrupt = |message: String, seen| SplitFault {
        refusal: Refusal::new(Errors::CorruptMessage, message),
        seen,
    };
    if bytes.len() < LOG_OVERHEAD {
        return Ok(None);
    }
    let number = |from: usize, to: usize| {
        bytes[from..to]
            .iter()
            .fold(0, |value: i64, byte| (value << 8) | i64::from(*byte))
    };
    let length = number(8, 12) as i32;
    if length < 14 {
        let message = format!("a batch says that it has {length} bytes, less than any batch");
        return Err(corrupt(message, None));
    }
    if bytes.len() < HEADER_SIZE_UP_TO_MAGIC {
        return Ok(None);
    }
    let magic = bytes[HEADER_SIZE_UP_TO_MAGIC - 1] as i8;
    if !(0..=2).contains(&magic) {
        return Err(corrupt(format!("a batch has magic {magic}, expected 2"), None));
    }
    let size = LOG_OVERHEAD as i64 + i64::from(length);
    if (bytes.len() as i64) < size {
        return Ok(None);
    }
    if magic < 2 {
        let seen = Seen {
            base_offset: None,
            size,
        };
        return Err(corrupt(format!("a batch has magic {magic}, expected 2"), Some(seen)));
    }
    match Batch::parse(bytes) {
        Ok(batch) => Ok(Some(batch)),
        Err(_) => {
            let base_offset = Some(number(0, 8));
            let seen = Seen { base_offset, size };
            let mut fault = corrupt("a batch is shorter than its header".to_owned(), Some(seen));
            // Kafka looks for the last offset delta behind the batch's end, before it finds that the header is too short.
            if length < LAST_OFFSET_DELTA_END - LOG_OVERHEAD as i32 {
                fault.refusal.error = Errors::UnknownServerError;
                fault.seen = fault.seen.map(|seen| Seen { size: 0, ..seen });
            }
            Err(fault)
        }
    }
}

pub(crate) fn invalid_record(message: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::new(Errors::InvalidRecord, message)
}

/// Checks a batch for the leader and sets its timestamps (`LogValidator.validateMessagesAndAssignOffsets`).
pub(crate) fn validate(batch: &Batch, origin: Origin, config: &LogConfig, now_ms: i64) -> Result<Batch, Refusal> {
    if origin.is_client() {
        validate_client_batch(batch)?;
    }
    if batch.compression() != 0 {
        return Err(Refusal::new(
            Errors::UnsupportedCompressionType,
            "compressed batches are not taken",
        ));
    }
    let mut max_timestamp = NO_TIMESTAMP;
    let mut errors = Vec::new();
    for (index, record) in batch.records().enumerate() {
        errors.extend(validate_record(batch, &record, index as u32, config, now_ms));
        max_timestamp = max_timestamp.max(record.timestamp);
    }
    if !batch.check_records() {
        return Err(invalid_record(format!(
            "the batch's header says {} records, and its bytes do not hold exactly these",
            batch.records_count()
        )));
    }
    if let Some(first) = errors.first() {
        let timestamp = errors.iter().any(|error| error.error == Errors::InvalidTimestamp);
        let error = if timestamp {
            Errors::InvalidTimestamp
        } else {
            Errors::InvalidRecord
        };
        return Err(Refusal {
            error,
            message: first.message.clone(),
            record_errors: errors,
        });
    }
    Ok(match config.message_timestamp_type {
        TimestampType::CreateTime => batch.with_max_timestamp(TimestampType::CreateTime, max_timestamp),
        TimestampType::LogAppendTime => batch.with_max_timestamp(TimestampType::LogAppendTime, now_ms),
    })
}

fn validate_client_batch(batch: &Batch) -> Result<(), Refusal> {
    let slots = i64::from(batch.last_offset_delta()) + 1;
    let count = i64::from(batch.records_count());
    if slots <= 0 {
        return Err(invalid_record(format!(
            "the last offset delta {} is impossible",
            batch.last_offset_delta()
        )));
    }
    if count <= 0 || count != slots {
        return Err(invalid_record(format!(
            "the batch has {count} records and {slots} offsets"
        )));
    }
    if batch.is_control() {
        return Err(invalid_record("a client may not write control batches"));
    }
    if batch.producer_id() >= 0 && batch.base_sequence() < 0 {
        return Err(invalid_record("a batch with a producer id needs a sequence"));
    }
    Ok(())
}

fn validate_record(
    batch: &Batch,
    record: &RecordView<'_>,
    index: u32,
    config: &LogConfig,
    now_ms: i64,
) -> Option<RecordError> {
    let fault = |error, message: Cow<'static, str>| {
        Some(RecordError {
            batch_index: index,
            error,
            message,
        })
    };
    if config.cleanup_policy.compact && record.key.is_none() && !batch.is_control() {
        return fault(
            Errors::InvalidRecord,
            "a record of a compacted topic needs a key".into(),
        );
    }
    let create_time = config.message_timestamp_type == TimestampType::CreateTime;
    if create_time && record.timestamp != NO_TIMESTAMP {
        let age = now_ms.wrapping_sub(record.timestamp);
        let before = config.message_timestamp_before_max_ms;
        let after = config.message_timestamp_after_max_ms;
        if age > before || age.wrapping_neg() > after {
            let message = format!(
                "the timestamp {} lies outside [{}, {}]",
                record.timestamp,
                now_ms.saturating_sub(before),
                now_ms.saturating_add(after)
            );
            return fault(Errors::InvalidTimestamp, message.into());
        }
    } else if batch.timestamp_type() == TimestampType::LogAppendTime {
        return fault(Errors::InvalidTimestamp, "only a broker may set LogAppendTime".into());
    }
    None
}
