//! What a broker is configured to do, and the cluster-wide defaults of topic configs that are set on brokers.
//! Mirrors `KafkaConfig` with `ReplicationConfigs`, `ServerLogConfigs`, `KRaftConfigs`, `CleanerConfig`.
//!
//! In a real cluster the controllers read the session timeout and the election intervals from their own properties; here
//! they stand among the brokers' configs, and what is given to all brokers holds for the controller.

use super::def::{Def, Scope};
use super::error::ConfigError;
use super::map::{ConfigMap, configs};
use super::topic::TopicConfig;
use super::value::Value;

configs! {
    /// A broker's settings as it acts on them.
    pub struct BrokerConfig in Broker {
        /// Milliseconds after which a follower that has not caught up leaves the ISR.
        replica_lag_time_max_ms: i64 = "replica.lag.time.max.ms",
        /// Milliseconds that a follower's fetch is held while it would carry nothing.
        replica_fetch_wait_max_ms: i64 = "replica.fetch.wait.max.ms",
        /// Bytes from which on a follower's fetch is answered.
        replica_fetch_min_bytes: i64 = "replica.fetch.min.bytes",
        /// Bytes of one partition in a follower's fetch, at most, but always one batch.
        replica_fetch_max_bytes: i64 = "replica.fetch.max.bytes",
        /// Bytes of a whole fetch response, at most, but always one batch.
        replica_fetch_response_max_bytes: i64 = "replica.fetch.response.max.bytes",
        /// Milliseconds that a follower waits after a failed fetch.
        replica_fetch_backoff_ms: i64 = "replica.fetch.backoff.ms",
        /// Milliseconds that a follower waits for an answer.
        replica_socket_timeout_ms: i64 = "replica.socket.timeout.ms",
        /// Milliseconds between two checkpoints of high watermarks.
        replica_high_watermark_checkpoint_interval_ms: i64 = "replica.high.watermark.checkpoint.interval.ms",
        /// Milliseconds between two checkpoints of recovery points.
        log_flush_offset_checkpoint_interval_ms: i64 = "log.flush.offset.checkpoint.interval.ms",
        /// Milliseconds between two checkpoints of log starts.
        log_flush_start_offset_checkpoint_interval_ms: i64 = "log.flush.start.offset.checkpoint.interval.ms",
        /// Milliseconds between two looks for logs that `flush.ms` says to flush.
        log_flush_scheduler_interval_ms: i64 = "log.flush.scheduler.interval.ms",
        /// Milliseconds between two looks for segments to delete.
        log_retention_check_interval_ms: i64 = "log.retention.check.interval.ms",
        /// Milliseconds from a broker's start to its first periodic work on logs.
        log_initial_task_delay_ms: i64 = "log.initial.task.delay.ms",
        /// Whether the cleaner runs at all.
        log_cleaner_enable: bool = "log.cleaner.enable",
        /// How many threads it has, which share its memory.
        log_cleaner_threads: i64 = "log.cleaner.threads",
        /// Bytes of all threads' maps from key to last offset.
        log_cleaner_dedupe_buffer_size: i64 = "log.cleaner.dedupe.buffer.size",
        /// How full a map may become.
        log_cleaner_io_buffer_load_factor: f64 = "log.cleaner.io.buffer.load.factor",
        /// Milliseconds that the cleaner rests when there is nothing to do.
        log_cleaner_backoff_ms: i64 = "log.cleaner.backoff.ms",
        /// Milliseconds between two heartbeats to the controller.
        broker_heartbeat_interval_ms: i64 = "broker.heartbeat.interval.ms",
        /// Milliseconds of silence after which a broker is fenced.
        broker_session_timeout_ms: i64 = "broker.session.timeout.ms",
        /// Whether leadership moves before a broker that is stopped goes.
        controlled_shutdown_enable: bool = "controlled.shutdown.enable",
        /// Bytes of any fetch response, at most, but always one batch.
        fetch_max_bytes: i64 = "fetch.max.bytes",
        /// Whether leadership goes back to the first replica by itself.
        auto_leader_rebalance_enable: bool = "auto.leader.rebalance.enable",
        /// Seconds between two looks for that.
        leader_imbalance_check_interval_seconds: i64 = "leader.imbalance.check.interval.seconds",
        /// Milliseconds between two looks for partitions that an unclean election may serve.
        unclean_leader_election_interval_ms: i64 = "unclean.leader.election.interval.ms",
        /// Milliseconds that the first rebalance of an empty group waits for more members.
        group_initial_rebalance_delay_ms: i64 = "group.initial.rebalance.delay.ms",
        /// Milliseconds of a member's session timeout, at least.
        group_min_session_timeout_ms: i64 = "group.min.session.timeout.ms",
        /// Milliseconds of a member's session timeout, at most.
        group_max_session_timeout_ms: i64 = "group.max.session.timeout.ms",
        /// Milliseconds of silence after which a member under the consumer protocol is removed.
        group_consumer_session_timeout_ms: i64 = "group.consumer.session.timeout.ms",
        /// Bounds of that.
        group_consumer_min_session_timeout_ms: i64 = "group.consumer.min.session.timeout.ms",
        /// Bounds of that.
        group_consumer_max_session_timeout_ms: i64 = "group.consumer.max.session.timeout.ms",
        /// Milliseconds between the heartbeats of such a member.
        group_consumer_heartbeat_interval_ms: i64 = "group.consumer.heartbeat.interval.ms",
        /// Bounds of that.
        group_consumer_min_heartbeat_interval_ms: i64 = "group.consumer.min.heartbeat.interval.ms",
        /// Bounds of that.
        group_consumer_max_heartbeat_interval_ms: i64 = "group.consumer.max.heartbeat.interval.ms",
        /// Milliseconds between two target assignments of a group under the consumer protocol, at least.
        group_consumer_assignment_interval_ms: i64 = "group.consumer.assignment.interval.ms",
        /// Partitions of `__consumer_offsets` when it is created.
        offsets_topic_num_partitions: i64 = "offsets.topic.num.partitions",
        /// Replicas of each of them, at most.
        offsets_topic_replication_factor: i64 = "offsets.topic.replication.factor",
        /// Bytes of a segment of `__consumer_offsets`.
        offsets_topic_segment_bytes: i64 = "offsets.topic.segment.bytes",
        /// Milliseconds that a coordinator waits until a write is replicated.
        offsets_commit_timeout_ms: i64 = "offsets.commit.timeout.ms",
        /// Minutes that the commits of a group without members are kept.
        offsets_retention_minutes: i64 = "offsets.retention.minutes",
        /// Milliseconds between two looks for commits that have expired.
        offsets_retention_check_interval_ms: i64 = "offsets.retention.check.interval.ms",
        /// Milliseconds after which a silent producer is forgotten by a partition.
        producer_id_expiration_ms: i64 = "producer.id.expiration.ms",
    }
    also is_topic_default;
}

/// The broker configs that supply a topic config's default, by precedence, each with the factor to its unit.
/// Most have one, as the table of topic configs says; these have fallbacks in coarser units, and `flush.ms` one of its own.
fn sources(topic: &'static Def) -> Vec<(&'static str, i64)> {
    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 3_600_000;
    let Some(first) = topic.synonym else {
        return Vec::new();
    };
    let mut sources = vec![(first, 1)];
    sources.extend_from_slice(match topic.name {
        "retention.ms" => &[("log.retention.minutes", MINUTE), ("log.retention.hours", HOUR)],
        "segment.ms" => &[("log.roll.hours", HOUR)],
        "segment.jitter.ms" => &[("log.roll.jitter.hours", HOUR)],
        "flush.ms" => &[("log.flush.scheduler.interval.ms", 1)],
        _ => &[],
    });
    sources
}

/// Whether a broker config is the default of a topic config that the model acts on.
fn is_topic_default(broker: &Def) -> bool {
    Scope::Topic
        .configs()
        .iter()
        .filter(|topic| TopicConfig::acts_on(topic))
        .any(|topic| sources(topic).iter().any(|(name, _)| *name == broker.name))
}

impl BrokerConfig {
    fn finish(self, _set: &ConfigMap) -> Result<Self, ConfigError> {
        let wait = self.replica_fetch_wait_max_ms;
        for (name, value) in [
            ("replica.lag.time.max.ms", self.replica_lag_time_max_ms),
            ("replica.socket.timeout.ms", self.replica_socket_timeout_ms),
        ] {
            if value < wait {
                let reason = format!("{name}={value} is less than replica.fetch.wait.max.ms={wait}");
                return Err(ConfigError::conflict(
                    reason,
                    "raise it, or lower replica.fetch.wait.max.ms",
                ));
            }
        }
        self.members_within_bounds()?;
        Ok(self)
    }

    /// What members are told must lie within the bounds that are set for it.
    fn members_within_bounds(&self) -> Result<(), ConfigError> {
        let session = (
            "session.timeout.ms",
            self.group_consumer_min_session_timeout_ms,
            self.group_consumer_session_timeout_ms,
            self.group_consumer_max_session_timeout_ms,
        );
        let heartbeat = (
            "heartbeat.interval.ms",
            self.group_consumer_min_heartbeat_interval_ms,
            self.group_consumer_heartbeat_interval_ms,
            self.group_consumer_max_heartbeat_interval_ms,
        );
        for (what, least, value, most) in [session, heartbeat] {
            if least > most {
                let reason = format!("group.consumer.min.{what}={least} is more than group.consumer.max.{what}={most}");
                let remedy = format!("lower it, or raise group.consumer.max.{what}");
                return Err(ConfigError::conflict(reason, remedy));
            }
            if !(least..=most).contains(&value) {
                let reason = format!(
                    "group.consumer.{what}={value} is not between group.consumer.min.{what}={least} and \
                     group.consumer.max.{what}={most}"
                );
                return Err(ConfigError::conflict(reason, "set the bound as well"));
            }
        }
        let (interval, timeout) = (heartbeat.2, session.2);
        if interval >= timeout {
            let reason = format!(
                "group.consumer.heartbeat.interval.ms={interval} is not less than \
                 group.consumer.session.timeout.ms={timeout}"
            );
            let remedy = "lower it, or raise group.consumer.session.timeout.ms";
            return Err(ConfigError::conflict(reason, remedy));
        }
        Ok(())
    }

    /// What this broker's settings make the default of a topic config; `None` where nothing was set, so that Kafka's
    /// default holds. A value too large for its unit stands for the largest.
    pub fn topic_default(&self, topic: &'static Def) -> Option<Value> {
        let (value, factor) = sources(topic)
            .into_iter()
            .find_map(|(name, factor)| Some((self.settings.get(name)?, factor)))?;
        Some(match value {
            // Retention without a limit is -1 in every unit.
            Value::Int(-1) => Value::Int(-1),
            Value::Int(number) => Value::Int(number.saturating_mul(factor)),
            other => other.clone(),
        })
    }
}
