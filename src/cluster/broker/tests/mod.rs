//! Brokers driven by hand: the reference traces and cases of replication, without a controller's logic or real clients.

mod chaos;
mod epochs;
mod faults;
mod replication;
mod rig;
