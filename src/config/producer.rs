//! What a producer is configured to do. Mirrors `ProducerConfig` with its rules between settings.

use super::def::{Def, Scope};
use super::error::ConfigError;
use super::map::{ConfigMap, FromValue, configs, reconnect_backoff};
use super::value::Value;

/// Whose copy an acknowledgement vouches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Acks {
    /// `0`: nobody's. The broker never answers.
    None,
    /// `1`: the leader's.
    Leader,
    /// `all` or `-1`: that of every in-sync replica.
    All,
    /// Any other number. No producer can be configured so; a raw request that says it is refused.
    Other(i16),
}

impl FromValue for Acks {
    fn from_value(value: &Value) -> Option<Acks> {
        match value {
            Value::Str(text) => match text.as_str() {
                "0" => Some(Acks::None),
                "1" => Some(Acks::Leader),
                "all" | "-1" => Some(Acks::All),
                _ => None,
            },
            _ => None,
        }
    }
}

configs! {
    /// A producer's settings as it acts on them: Kafka's rules between them (idempotence, the delivery timeout) are applied.
    pub struct ProducerConfig in Producer {
        /// Whose copy an acknowledgement vouches for.
        acks: Acks = "acks",
        /// Whether batches carry a producer id and sequences. Off, too, where Kafka switches the default off.
        enable_idempotence: bool = "enable.idempotence",
        /// Milliseconds that a batch waits for more records.
        linger_ms: i64 = "linger.ms",
        /// Bytes that a batch may hold; 0 sends each record alone.
        batch_size: i64 = "batch.size",
        /// How often a batch is sent again.
        retries: i64 = "retries",
        /// Milliseconds before the first retry.
        retry_backoff_ms: i64 = "retry.backoff.ms",
        /// Milliseconds before any retry, at most.
        retry_backoff_max_ms: i64 = "retry.backoff.max.ms",
        /// Milliseconds after which an unanswered request counts as failed.
        request_timeout_ms: i64 = "request.timeout.ms",
        /// Milliseconds from send to decision, at most. Raised where Kafka raises the default.
        delivery_timeout_ms: i64 = "delivery.timeout.ms",
        /// Unanswered requests to one broker, at most.
        max_in_flight_requests_per_connection: i64 = "max.in.flight.requests.per.connection",
        /// Bytes of a request, and of a record, at most.
        max_request_size: i64 = "max.request.size",
        /// Bytes of memory for records that wait.
        buffer_memory: i64 = "buffer.memory",
        /// Milliseconds that a send may wait for metadata or memory.
        max_block_ms: i64 = "max.block.ms",
        /// Whether the key is left out of the choice of a partition.
        partitioner_ignore_keys: bool = "partitioner.ignore.keys",
        /// Whether slow brokers get fewer of the records without a key.
        partitioner_adaptive_partitioning_enable: bool = "partitioner.adaptive.partitioning.enable",
        /// Milliseconds after which metadata is asked for again.
        metadata_max_age_ms: i64 = "metadata.max.age.ms",
        /// Milliseconds before a connection that ended is opened again; bounded by the limit.
        reconnect_backoff_ms: i64 = "reconnect.backoff.ms",
        /// The limit of that, where it is set.
        reconnect_backoff_max_ms: i64 = "reconnect.backoff.max.ms",
    }
}

/// More unanswered requests than this would let an idempotent producer's order slip.
const MAX_IN_FLIGHT_FOR_IDEMPOTENCE: i64 = 5;

impl ProducerConfig {
    fn finish(mut self, set: &ConfigMap) -> Result<Self, ConfigError> {
        self.reconnect_backoff_ms = reconnect_backoff(set, self.reconnect_backoff_ms, self.reconnect_backoff_max_ms);
        self.decide_idempotence(set)?;
        self.raise_delivery_timeout(set)?;
        Ok(self)
    }

    /// `postProcessAndValidateIdempotenceConfigs`: what idempotence needs is demanded if it was asked for, and quietly
    /// switches it off if it was only the default; too many requests in flight are an error either way.
    fn decide_idempotence(&mut self, set: &ConfigMap) -> Result<(), ConfigError> {
        if !self.enable_idempotence {
            return Ok(());
        }
        let missing = if self.retries == 0 {
            Some("retries above 0")
        } else if self.acks != Acks::All {
            Some("acks=all")
        } else {
            None
        };
        if let (Some(missing), Some(_)) = (missing, set.get("enable.idempotence")) {
            let reason = format!("enable.idempotence=true needs {missing}");
            return Err(ConfigError::conflict(reason, "set that, or enable.idempotence=false"));
        }
        if self.max_in_flight_requests_per_connection > MAX_IN_FLIGHT_FOR_IDEMPOTENCE {
            let reason = format!(
                "max.in.flight.requests.per.connection={} is too many for an idempotent producer",
                self.max_in_flight_requests_per_connection
            );
            let remedy = format!("set at most {MAX_IN_FLIGHT_FOR_IDEMPOTENCE}, or enable.idempotence=false");
            return Err(ConfigError::conflict(reason, remedy));
        }
        self.enable_idempotence = missing.is_none();
        Ok(())
    }

    /// `configureDeliveryTimeout`: a delivery must have time for lingering and for one request.
    fn raise_delivery_timeout(&mut self, set: &ConfigMap) -> Result<(), ConfigError> {
        let needed = self
            .linger_ms
            .saturating_add(self.request_timeout_ms)
            .min(i32::MAX.into());
        if self.delivery_timeout_ms >= needed {
            return Ok(());
        }
        if set.get("delivery.timeout.ms").is_some() {
            let reason = format!(
                "delivery.timeout.ms={} is less than linger.ms + request.timeout.ms = {needed}",
                self.delivery_timeout_ms
            );
            return Err(ConfigError::conflict(reason, "raise it, or lower one of those"));
        }
        self.delivery_timeout_ms = needed;
        Ok(())
    }
}
