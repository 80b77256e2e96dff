//! The command line.

pub mod conform;
