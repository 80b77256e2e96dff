//! Every knob by its Kafka name: type, default, range, unit, scope, one sentence, source; and the typed structs of values
//! that the model reads.
//!
//! Names, types, defaults and validators are those of Kafka 4.4 and compared with its own definitions by a test. A config
//! that Kafka knows and the model does not act on can be named, but not changed: a setting without an effect would be a lie.
//!
//! A log is given what concerns it as [`crate::log::LogConfig`].
//!
//! Deliberately absent: who may change what and when (the scenario and the cluster), and any reading of files.
//! Mirrors `ConfigDef`, `LogConfig`, `KafkaConfig`, `ProducerConfig`, `ConsumerConfig`.

mod broker;
mod consumer;
pub mod decimal;
mod def;
mod error;
mod map;
mod producer;
mod table;
mod topic;
mod value;

pub use broker::BrokerConfig;
pub use consumer::{AutoOffsetReset, ConsumerConfig, GroupProtocol, IsolationLevel, RemoteAssignor, Strategy};
pub use def::{Def, DefaultValue, Kind, Scope, Unit, Update, Valid, Visibility};
pub use error::{ConfigError, Hint, expected, nearest};
pub use map::ConfigMap;
pub use producer::{Acks, ProducerConfig};
pub use topic::TopicConfig;
pub use value::{Value, parse_duration, parse_size, print_duration};

#[cfg(test)]
mod tests;
