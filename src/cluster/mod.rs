//! Brokers, controller, network, producers and consumers: one deterministic state machine.

pub mod ids;
