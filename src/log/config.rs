//! The topic settings that a log obeys.
//!
//! Mirrors `LogConfig`: the plain values, with Kafka's defaults. What a value may be, how it is written and where it
//! comes from is the business of the config room. Settings of compression and of tiered storage are absent: the log
//! stores batches as they come.

use super::batch::TimestampType;

/// What happens to old segments (`cleanup.policy`). Both may be on, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupPolicy {
    /// Whether whole segments are deleted by time and size.
    pub delete: bool,
    /// Whether the cleaner keeps the last record of each key.
    pub compact: bool,
}

impl CleanupPolicy {
    /// `delete`, the default.
    pub const DELETE: Self = Self {
        delete: true,
        compact: false,
    };
    /// The empty list.
    pub const NONE: Self = Self {
        delete: false,
        compact: false,
    };
}

/// The topic settings that a log obeys, by their Kafka names with underscores.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// `segment.bytes`: the largest size of a segment's `.log` file. Real brokers refuse less than 1 MiB; here 1 is enough.
    pub segment_bytes: i32,
    /// `segment.ms`: how much time, by the records' own clocks, a segment may span.
    pub segment_ms: i64,
    /// `segment.jitter.ms`: the most by which `segment.ms` is shortened, differently for each segment.
    pub segment_jitter_ms: i64,
    /// `segment.index.bytes`: the size that index files are given in advance.
    pub segment_index_bytes: i32,
    /// `index.interval.bytes`: how many bytes at least lie between two index entries.
    pub index_interval_bytes: i32,
    /// `flush.messages`: after how many records the log is forced to disk.
    pub flush_messages: i64,
    /// `flush.ms`: after how much time the log is forced to disk.
    pub flush_ms: i64,
    /// `retention.ms`: how old a segment may become; −1 is for ever.
    pub retention_ms: i64,
    /// `retention.bytes`: how much of the log is kept at least; −1 is no limit.
    pub retention_bytes: i64,
    /// `max.message.bytes`: the largest batch.
    pub max_message_bytes: i32,
    /// `cleanup.policy`.
    pub cleanup_policy: CleanupPolicy,
    /// `delete.retention.ms`: how long tombstones outlive their first cleaning.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`: how long a record is left alone by the cleaner.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: how long a record may wait for the cleaner.
    pub max_compaction_lag_ms: i64,
    /// `min.cleanable.dirty.ratio`: how dirty a log must be to be cleaned.
    pub min_cleanable_dirty_ratio: f64,
    /// `file.delete.delay.ms`: how long a deleted file lies around as `.deleted`.
    pub file_delete_delay_ms: i64,
    /// `message.timestamp.type`.
    pub message_timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`: how far back a record's timestamp may lie.
    pub message_timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`: how far ahead a record's timestamp may lie.
    pub message_timestamp_after_max_ms: i64,
    /// `preallocate`: whether a new segment's `.log` file is made in its full length.
    pub preallocate: bool,
    /// `producer.id.expiration.ms`, a broker's setting: how long a silent producer is remembered.
    pub producer_id_expiration_ms: i64,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            segment_bytes: 1 << 30,
            segment_ms: 7 * DAY_MS,
            segment_jitter_ms: 0,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            flush_messages: i64::MAX,
            flush_ms: i64::MAX,
            retention_ms: 7 * DAY_MS,
            retention_bytes: -1,
            max_message_bytes: (1 << 20) + 12,
            cleanup_policy: CleanupPolicy::DELETE,
            delete_retention_ms: DAY_MS,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            min_cleanable_dirty_ratio: 0.5,
            file_delete_delay_ms: 60_000,
            message_timestamp_type: TimestampType::CreateTime,
            message_timestamp_before_max_ms: i64::MAX,
            message_timestamp_after_max_ms: 60 * 60 * 1000,
            preallocate: false,
            producer_id_expiration_ms: DAY_MS,
        }
    }
}

impl LogConfig {
    /// The time a segment may span: a compacted topic rolls early enough for `max.compaction.lag.ms`
    /// (`LogConfig.maxSegmentMs`).
    pub fn max_segment_ms(&self) -> i64 {
        if self.cleanup_policy.compact && self.max_compaction_lag_ms > 0 {
            self.max_compaction_lag_ms.min(self.segment_ms)
        } else {
            self.segment_ms
        }
    }
}
