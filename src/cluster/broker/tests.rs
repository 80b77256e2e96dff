//! Brokers driven by hand.
