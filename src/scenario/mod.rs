//! The scenario language: one text format for lessons, tests, links, bug reports and the command line.
//!
//! [`parse()`] reads a file into a [`ast::Script`], or lists all its faults with their places; printing a script gives text
//! that reads back as the same script.
//!
//! Deliberately absent: files and screens. A caller brings bytes and shows text.

pub mod ast;
mod fault;
pub(crate) mod later;
pub mod look;
mod names;
mod parse;
pub mod player;
mod print;
pub mod run;
mod setup;
mod touch;
pub mod trace;
mod translate;
mod version;
mod words;

pub use fault::{Fault, Found};
pub use names::Names;
pub use parse::{parse, parse_statement};
pub use player::{Next, Player, Stop};
pub use run::{Failure, Report, Run};
pub use setup::setup;
pub use translate::inputs;
pub use words::comment;

#[cfg(test)]
mod tests;
