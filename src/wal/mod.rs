//! A tiny page store that is updated in place, with and without a write-ahead log: the idea that Kafka's log was born from.
//!
//! Accounts lie on pages, one a page, and a transfer changes two of them. A store that writes page after page leaves half
//! a transfer behind when the power goes in between. One that first writes down what it will do, and only then does it,
//! reads that again afterwards and finishes it; what was itself cut short fails its checksum and is ignored. The log holds
//! what the pages are to become, not what to add to them, so that reading it twice does no harm.
//!
//! Everything is a value: what is in memory, in the page cache and on disk, which write comes next, what recovery found.
//! Deliberately absent: pages that tear (a page is one sector, and a disk writes a sector whole or not at all), a process
//! that dies while its host goes on, several transfers at once, undoing, and checkpoints other than recovery's own.
//!
//! Mirrors no class of Kafka's; it is the textbook's redo log.

mod entry;
mod store;
mod stores;
#[cfg(test)]
mod tests;

pub use entry::{Entry, Image, SECTOR};
pub use store::{Account, Discipline, Finding, Log, MOMENTS, Outcome, Page, Refused, Store, Write};
pub use stores::{Act, Stores};
