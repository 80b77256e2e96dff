//! What a consumer is configured to do. Mirrors `ConsumerConfig`.
//!
//! Deliberately absent: `group.id`, which the scenario gives beside the configs.

use std::sync::Arc;

use super::def::{Def, Scope};
use super::error::ConfigError;
use super::map::{ConfigMap, FromValue, configs, reconnect_backoff};
use super::value::Value;

/// Where reading starts when there is no valid position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AutoOffsetReset {
    /// At the log end.
    Latest,
    /// At the log start.
    Earliest,
    /// Nowhere: the application gets an error.
    None,
    /// At the first record that is at most so many milliseconds old.
    ByDuration(i64),
}

impl FromValue for AutoOffsetReset {
    fn from_value(value: &Value) -> Option<AutoOffsetReset> {
        match value {
            Value::Str(text) => AutoOffsetReset::parse(text),
            _ => None,
        }
    }
}

impl AutoOffsetReset {
    /// Reads `latest`, `earliest`, `none` or `by_duration:P1DT2H3M4.5S`.
    pub(super) fn parse(text: &str) -> Option<AutoOffsetReset> {
        match text {
            "latest" => Some(AutoOffsetReset::Latest),
            "earliest" => Some(AutoOffsetReset::Earliest),
            "none" => Some(AutoOffsetReset::None),
            _ => iso_duration(text.strip_prefix("by_duration:")?).map(AutoOffsetReset::ByDuration),
        }
    }
}

/// Milliseconds of an ISO 8601 duration of days, hours, minutes and seconds. Negative ones mean nothing here.
fn iso_duration(text: &str) -> Option<i64> {
    let body = text
        .strip_prefix('P')
        .filter(|body| !body.is_empty() && !body.ends_with('T'))?;
    let (days, time) = body.split_once('T').unwrap_or((body, ""));
    let mut total = 0_i64;
    let mut take = |part: &mut &str, letter: char, unit: f64| -> Option<()> {
        if let Some((number, rest)) = part.split_once(letter) {
            let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let number = super::decimal::parse(number).filter(|_| plain)?;
            total = total.checked_add((number * unit) as i64)?;
            *part = rest;
        }
        Some(())
    };
    let (mut days, mut time) = (days, time);
    take(&mut days, 'D', 86_400_000.0)?;
    take(&mut time, 'H', 3_600_000.0)?;
    take(&mut time, 'M', 60_000.0)?;
    take(&mut time, 'S', 1_000.0)?;
    (days.is_empty() && time.is_empty()).then_some(total)
}

/// What of transactions a consumer gets to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsolationLevel {
    /// Everything below the high watermark.
    ReadUncommitted,
    /// Only what was committed.
    ReadCommitted,
}

impl FromValue for IsolationLevel {
    fn from_value(value: &Value) -> Option<IsolationLevel> {
        match value {
            Value::Str(text) => match text.as_str() {
                "read_uncommitted" => Some(IsolationLevel::ReadUncommitted),
                "read_committed" => Some(IsolationLevel::ReadCommitted),
                _ => None,
            },
            _ => None,
        }
    }
}

/// An assignor that runs in a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// `RangeAssignor`.
    Range,
    /// `RoundRobinAssignor`.
    RoundRobin,
    /// `StickyAssignor`.
    Sticky,
    /// `CooperativeStickyAssignor`.
    CooperativeSticky,
}

impl Strategy {
    /// Reads a class name, with its package or without, or the assignor's short name.
    fn parse(text: &str) -> Option<Strategy> {
        let class = text.strip_prefix("class ").unwrap_or(text);
        match class
            .strip_prefix("org.apache.kafka.clients.consumer.")
            .unwrap_or(class)
        {
            "RangeAssignor" | "range" => Some(Strategy::Range),
            "RoundRobinAssignor" | "roundrobin" => Some(Strategy::RoundRobin),
            "StickyAssignor" | "sticky" => Some(Strategy::Sticky),
            "CooperativeStickyAssignor" | "cooperative-sticky" => Some(Strategy::CooperativeSticky),
            _ => None,
        }
    }
}

impl FromValue for Vec<Strategy> {
    fn from_value(value: &Value) -> Option<Vec<Strategy>> {
        match value {
            Value::List(names) if !names.is_empty() => names.iter().map(|name| Strategy::parse(name)).collect(),
            _ => None,
        }
    }
}

/// How the members of a group and their coordinator come to terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupProtocol {
    /// All join, one member assigns.
    Classic,
    /// The coordinator assigns, and members follow one by one (KIP-848).
    Consumer,
}

impl FromValue for GroupProtocol {
    fn from_value(value: &Value) -> Option<GroupProtocol> {
        match value {
            Value::Str(text) if text.eq_ignore_ascii_case("classic") => Some(GroupProtocol::Classic),
            Value::Str(text) if text.eq_ignore_ascii_case("consumer") => Some(GroupProtocol::Consumer),
            _ => None,
        }
    }
}

/// An assignor that runs in the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemoteAssignor {
    /// `uniform`.
    Uniform,
    /// `range`.
    Range,
}

impl FromValue for Option<RemoteAssignor> {
    fn from_value(value: &Value) -> Option<Option<RemoteAssignor>> {
        match value {
            Value::Null => Some(None),
            Value::Str(text) => match text.as_str() {
                "uniform" => Some(Some(RemoteAssignor::Uniform)),
                "range" => Some(Some(RemoteAssignor::Range)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl FromValue for Option<Arc<str>> {
    fn from_value(value: &Value) -> Option<Option<Arc<str>>> {
        match value {
            Value::Null => Some(None),
            Value::Str(text) => Some(Some(text.as_str().into())),
            _ => None,
        }
    }
}

/// What only the classic protocol leaves to the consumer; under the other one the broker says it.
const CLASSIC_ONLY: [&str; 3] = [
    "partition.assignment.strategy",
    "heartbeat.interval.ms",
    "session.timeout.ms",
];

configs! {
    /// A consumer's settings as it acts on them.
    pub struct ConsumerConfig in Consumer {
        /// Bytes from which on the broker answers a fetch.
        fetch_min_bytes: i64 = "fetch.min.bytes",
        /// Milliseconds that the broker holds a fetch that would carry less.
        fetch_max_wait_ms: i64 = "fetch.max.wait.ms",
        /// Bytes of a fetch response, at most, but always one batch.
        fetch_max_bytes: i64 = "fetch.max.bytes",
        /// Bytes of one partition in a fetch response, at most, but always one batch.
        max_partition_fetch_bytes: i64 = "max.partition.fetch.bytes",
        /// Records that one poll hands over, at most.
        max_poll_records: i64 = "max.poll.records",
        /// Where reading starts when there is no valid position.
        auto_offset_reset: AutoOffsetReset = "auto.offset.reset",
        /// What of transactions is handed over.
        isolation_level: IsolationLevel = "isolation.level",
        /// Whether the position is committed at an interval.
        enable_auto_commit: bool = "enable.auto.commit",
        /// That interval in milliseconds.
        auto_commit_interval_ms: i64 = "auto.commit.interval.ms",
        /// How its group comes to terms.
        group_protocol: GroupProtocol = "group.protocol",
        /// The name by which its group knows it, whatever its process.
        group_instance_id: Option<Arc<str>> = "group.instance.id",
        /// The assignor that the coordinator is asked to use, if it is not to choose itself.
        group_remote_assignor: Option<RemoteAssignor> = "group.remote.assignor",
        /// The assignors that this member can run, the one it likes best first.
        partition_assignment_strategy: Vec<Strategy> = "partition.assignment.strategy",
        /// Milliseconds of silence after which the group counts a member as dead.
        session_timeout_ms: i64 = "session.timeout.ms",
        /// Milliseconds between two heartbeats to the coordinator.
        heartbeat_interval_ms: i64 = "heartbeat.interval.ms",
        /// Milliseconds between two polls, at most; also how long a rebalance waits for a member.
        max_poll_interval_ms: i64 = "max.poll.interval.ms",
        /// Milliseconds after which an unanswered request counts as failed.
        request_timeout_ms: i64 = "request.timeout.ms",
        /// Milliseconds before the first retry.
        retry_backoff_ms: i64 = "retry.backoff.ms",
        /// Milliseconds before any retry, at most.
        retry_backoff_max_ms: i64 = "retry.backoff.max.ms",
        /// Milliseconds after which metadata is asked for again.
        metadata_max_age_ms: i64 = "metadata.max.age.ms",
        /// Milliseconds before a connection that ended is opened again; bounded by the limit.
        reconnect_backoff_ms: i64 = "reconnect.backoff.ms",
        /// The limit of that, where it is set.
        reconnect_backoff_max_ms: i64 = "reconnect.backoff.max.ms",
    }
}

impl ConsumerConfig {
    fn finish(mut self, set: &ConfigMap) -> Result<Self, ConfigError> {
        self.reconnect_backoff_ms = reconnect_backoff(set, self.reconnect_backoff_ms, self.reconnect_backoff_max_ms);
        let foreign = match self.group_protocol {
            GroupProtocol::Classic => &["group.remote.assignor"][..],
            GroupProtocol::Consumer => &CLASSIC_ONLY[..],
        };
        if let Some(name) = foreign.iter().find(|name| set.get(name).is_some()) {
            let (protocol, remedy) = match self.group_protocol {
                GroupProtocol::Classic => ("classic", "set group.protocol=consumer as well, or leave it out"),
                GroupProtocol::Consumer => (
                    "consumer",
                    "leave it out: the broker's group.consumer.* settings decide",
                ),
            };
            let reason = format!("{name} cannot be set with group.protocol={protocol}");
            return Err(ConfigError::conflict(reason, remedy));
        }
        let (beat, session) = (self.heartbeat_interval_ms, self.session_timeout_ms);
        if beat >= session {
            let reason = format!("heartbeat.interval.ms={beat} is not less than session.timeout.ms={session}");
            return Err(ConfigError::conflict(reason, "lower it, or raise session.timeout.ms"));
        }
        Ok(self)
    }
}
