//! The ground floor: one partition's log on one broker's disk.
//!
//! Bytes, offsets and epochs, as `UnifiedLog` and its helpers keep them. Three layers are told apart: the *process*
//! (a [`Log`] in memory), the *page cache* (what files hold) and the *disk* (how much of each file was flushed).
//!
//! What it must not know: brokers, networks, clients, clocks, randomness. Time comes in as milliseconds since 1970.

mod batch;
mod config;
mod epochs;
mod errors;
mod fingerprint;
mod producers;
mod record;
mod rope;
mod varint;

pub use batch::{
    Batch, HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, Malformed, Marker, Outcome, ProducerStamp,
    RECORD_BATCH_OVERHEAD, RecordIter, TimestampType, increment_sequence,
};
pub use config::{CleanupPolicy, LogConfig};
pub use epochs::{EpochCache, EpochEndOffset, EpochEntry};
pub use errors::{Errors, RecordError, Refusal};
pub use fingerprint::{Cached, Encoder, Fingerprint};
pub use producers::{
    BatchMetadata, CompletedTxn, Origin, ProducerEntry, ProducerState, TransactionVersion,
};
pub use record::{
    Bytes, Header, HeaderView, MAX_RECORD_OVERHEAD, NO_TIMESTAMP, Record, RecordView,
};
pub use rope::{Item, Rope};
