//! Highwater: how Apache Kafka's log keeps records, and how it loses them.
//!
//! The house, floor by floor. An upper floor may import a lower one, never the reverse.
pub mod cluster;
pub mod config;
pub mod ledger;
pub mod log;
