//! What a topic is configured to do, on a certain broker: its own setting, else the broker's setting under the broker's
//! name, else Kafka's default. Mirrors `LogConfig` and `ServerTopicConfigSynonyms`.

use super::broker::BrokerConfig;
use super::def::{Def, Scope};
use super::error::ConfigError;
use super::map::{ConfigMap, FromValue, configs};
use super::value::Value;
use crate::log::{CleanupPolicy, LogConfig, TimestampType};

impl FromValue for CleanupPolicy {
    fn from_value(value: &Value) -> Option<CleanupPolicy> {
        let Value::List(words) = value else {
            return None;
        };
        let has = |word: &str| words.iter().any(|other| other == word);
        Some(CleanupPolicy {
            delete: has("delete"),
            compact: has("compact"),
        })
    }
}

impl FromValue for TimestampType {
    fn from_value(value: &Value) -> Option<TimestampType> {
        match value {
            Value::Str(text) => match text.as_str() {
                "CreateTime" => Some(TimestampType::CreateTime),
                "LogAppendTime" => Some(TimestampType::LogAppendTime),
                _ => None,
            },
            _ => None,
        }
    }
}

configs! {
    /// A topic's settings. Made from the topic's own settings they hold Kafka's defaults for the rest; [`TopicConfig::on`]
    /// puts a broker's defaults between the two.
    pub struct TopicConfig in Topic {
        /// What happens to old segments.
        cleanup_policy: CleanupPolicy = "cleanup.policy",
        /// Milliseconds that a delete marker stays readable after compaction first reached it.
        delete_retention_ms: i64 = "delete.retention.ms",
        /// Milliseconds that the files of a removed segment stay on disk.
        file_delete_delay_ms: i64 = "file.delete.delay.ms",
        /// Records after which the log is forced to disk.
        flush_messages: i64 = "flush.messages",
        /// Milliseconds after which the log is forced to disk.
        flush_ms: i64 = "flush.ms",
        /// More bytes than this lie between two entries of an index.
        index_interval_bytes: i32 = "index.interval.bytes",
        /// Milliseconds that a record waits for compaction, at most.
        max_compaction_lag_ms: i64 = "max.compaction.lag.ms",
        /// Bytes of a batch, at most.
        max_message_bytes: i32 = "max.message.bytes",
        /// Milliseconds that a record's timestamp may lie ahead of the broker's clock.
        message_timestamp_after_max_ms: i64 = "message.timestamp.after.max.ms",
        /// Milliseconds that a record's timestamp may lie behind the broker's clock.
        message_timestamp_before_max_ms: i64 = "message.timestamp.before.max.ms",
        /// Whose clock stamps a record.
        message_timestamp_type: TimestampType = "message.timestamp.type",
        /// The share of a log that is not compacted yet from which on it is.
        min_cleanable_dirty_ratio: f64 = "min.cleanable.dirty.ratio",
        /// Milliseconds that a record stays untouched by compaction, at least.
        min_compaction_lag_ms: i64 = "min.compaction.lag.ms",
        /// Replicas that must be in sync for a write with acks=all, as configured; the replication factor limits it.
        min_insync_replicas: i64 = "min.insync.replicas",
        /// Whether a new segment's file has its full size from the start.
        preallocate: bool = "preallocate",
        /// Bytes of a partition's log that are kept, -1 for all.
        retention_bytes: i64 = "retention.bytes",
        /// Milliseconds that a record is kept, -1 for ever.
        retention_ms: i64 = "retention.ms",
        /// Bytes of a segment, at most.
        segment_bytes: i32 = "segment.bytes",
        /// Bytes of an index file, at most.
        segment_index_bytes: i32 = "segment.index.bytes",
        /// Milliseconds by which a segment may be closed early.
        segment_jitter_ms: i64 = "segment.jitter.ms",
        /// Milliseconds after which an append starts a new segment.
        segment_ms: i64 = "segment.ms",
        /// Whether a replica may lead that could lack acknowledged records.
        unclean_leader_election_enable: bool = "unclean.leader.election.enable",
    }
}

impl TopicConfig {
    fn finish(self, _set: &ConfigMap) -> Result<Self, ConfigError> {
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms {
            let reason = format!(
                "min.compaction.lag.ms={} is more than max.compaction.lag.ms={}",
                self.min_compaction_lag_ms, self.max_compaction_lag_ms
            );
            return Err(ConfigError::conflict(reason, "lower the first, or raise the second"));
        }
        Ok(self)
    }

    /// This topic's configs as they are in force on a broker: what the topic does not set comes from the broker.
    ///
    /// # Errors
    /// A setting of the topic and one of the broker that exclude each other.
    pub fn on(&self, broker: &BrokerConfig) -> Result<TopicConfig, ConfigError> {
        let mut map = self.settings.clone();
        for def in Scope::Topic.configs() {
            if map.get(def.name).is_none()
                && let Some(value) = broker.topic_default(def)
            {
                map.set(def.name, &value.to_string())?;
            }
        }
        Ok(TopicConfig {
            settings: self.settings.clone(),
            ..TopicConfig::from_settings(&map)?
        })
    }

    /// What of these configs, and of those of its broker, a log obeys. To be called on what [`TopicConfig::on`] gives.
    pub fn log_config(&self, broker: &BrokerConfig) -> LogConfig {
        LogConfig {
            segment_bytes: self.segment_bytes,
            segment_ms: self.segment_ms,
            segment_jitter_ms: self.segment_jitter_ms,
            segment_index_bytes: self.segment_index_bytes,
            index_interval_bytes: self.index_interval_bytes,
            flush_messages: self.flush_messages,
            flush_ms: self.flush_ms,
            retention_ms: self.retention_ms,
            retention_bytes: self.retention_bytes,
            max_message_bytes: self.max_message_bytes,
            cleanup_policy: self.cleanup_policy,
            delete_retention_ms: self.delete_retention_ms,
            min_compaction_lag_ms: self.min_compaction_lag_ms,
            max_compaction_lag_ms: self.max_compaction_lag_ms,
            min_cleanable_dirty_ratio: self.min_cleanable_dirty_ratio,
            file_delete_delay_ms: self.file_delete_delay_ms,
            message_timestamp_type: self.message_timestamp_type,
            message_timestamp_before_max_ms: self.message_timestamp_before_max_ms,
            message_timestamp_after_max_ms: self.message_timestamp_after_max_ms,
            preallocate: self.preallocate,
            producer_id_expiration_ms: broker.producer_id_expiration_ms,
        }
    }
}
