//! Highwater: how Apache Kafka's log keeps records, and how it loses them.
//!
//! The house, floor by floor. An upper floor may import a lower one, never the reverse.
pub mod checksum;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod cluster;
pub mod config;
pub mod conform;
pub mod history;
pub mod inspect;
pub mod ledger;
pub mod lesson;
pub(crate) mod linked;
pub mod log;
pub mod scenario;
#[cfg(not(target_arch = "wasm32"))]
pub mod soak;
pub mod sorted;
pub mod ui;
pub mod wal;
