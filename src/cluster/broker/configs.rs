//! The configs that a replica's log obeys: those of its topic on its broker, as far as the rules that read them are in force.
//!
//! A rule that is switched off never finds its limit reached. So the log itself need not know of the switches, and every
//! log of a world has them alike. Mirrors `LogConfig` as `LogManager.fetchLogConfig` puts it together.
//!
//! Deliberately absent: configs that the brokers' own work reads, which asks for its rule where it is done.

use crate::cluster::actor::Cx;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, forever_at_most};
use crate::log::LogConfig;

/// What a log obeys, by the rules in force.
pub(super) fn log_config(cx: &Cx<'_>, broker: BrokerId, tp: TopicPartition) -> LogConfig {
    let own = cx.settings.broker(broker);
    let mut config = cx.settings.topic_on(tp.topic, broker).log_config(own);
    if !cx.holds(Rule::RollSize) {
        config.segment_bytes = i32::MAX;
    }
    if !cx.holds(Rule::RollTime) {
        config.segment_ms = i64::MAX;
    }
    if !cx.holds(Rule::FlushMessages) {
        config.flush_messages = i64::MAX;
    }
    if !cx.holds(Rule::RetentionTime) {
        config.retention_ms = -1;
    }
    if !cx.holds(Rule::RetentionSize) {
        config.retention_bytes = -1;
    }
    if !cx.holds(Rule::FileDelete) {
        config.file_delete_delay_ms = 0;
    }
    if !cx.holds(Rule::Validate) {
        config.max_message_bytes = i32::MAX;
        config.message_timestamp_before_max_ms = i64::MAX;
        config.message_timestamp_after_max_ms = i64::MAX;
    }
    config
}

/// The age at which the operating system writes a page of this broker's host back by itself.
pub(super) fn writeback_age(cx: &Cx<'_>, broker: BrokerId) -> Option<Micros> {
    let age = cx.settings.disk(broker).writeback.filter(|_| cx.holds(Rule::Writeback));
    age.map(forever_at_most)
}
