//! What a leader checks in a batch before it looks at anything else.
//!
//! Mirrors `LogValidator` and `ByteBufferLogInputStream`.

use std::borrow::Cow;

use super::batch::{Batch, HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, TimestampType};
use super::config::LogConfig;
use super::errors::{Errors, RecordError, Refusal};
use super::producers::Origin;
use super::record::{NO_TIMESTAMP, RecordView};

/// Splits bytes into batches as `ByteBufferLogInputStream` does: an incomplete one at the end is ignored.
pub(crate) fn split_batches(bytes: &[u8]) -> Result<Vec<Batch>, Refusal> {
    let corrupt = |message: String| Refusal::new(Errors::CorruptMessage, message);
    let mut batches = Vec::new();
    let mut rest = bytes;
    while rest.len() >= LOG_OVERHEAD {
        let length = rest[8..12]
            .iter()
            .fold(0i32, |value, byte| (value << 8) | i32::from(*byte));
        if length < 14 {
            return Err(corrupt(format!(
                "a batch says that it has {length} bytes, less than any batch"
            )));
        }
        if rest.len() < HEADER_SIZE_UP_TO_MAGIC {
            break;
        }
        let magic = rest[HEADER_SIZE_UP_TO_MAGIC - 1] as i8;
        if magic != 2 {
            return Err(corrupt(format!("a batch has magic {magic}, expected 2")));
        }
        if rest.len() < LOG_OVERHEAD + length as usize {
            break;
        }
        let batch = Batch::parse(rest).map_err(|fault| corrupt(format!("a batch cannot be read: {fault:?}")))?;
        rest = &rest[batch.size_in_bytes() as usize..];
        batches.push(batch);
    }
    Ok(batches)
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
