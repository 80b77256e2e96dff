//! The ground floor: one partition's log on one broker's disk.
//!
//! Bytes, offsets and epochs, as `UnifiedLog` and its helpers keep them. Three layers are told apart: the *process*
//! (a [`Log`] in memory), the *page cache* (what files hold) and the *disk* (how much of each file was flushed).
//!
//! What it must not know: brokers, networks, clients, clocks, randomness. Time comes in as milliseconds since 1970.

mod append;
mod batch;
pub mod checkpoint;
mod clean;
mod config;
mod deleted;
mod epochs;
mod errors;
mod files;
mod fingerprint;
mod holdings;
mod index;
mod load;
mod log_file;
mod producers;
mod read;
mod rebuild;
mod record;
mod recover;
mod retention;
mod rope;
mod segment;
pub mod snapshot;
mod state;
mod truncate;
mod txn_index;
mod unified;
mod validate;
mod varint;

pub use append::{AppendOutcome, Appended, Rolled};
pub use batch::{
    Batch, BatchHeader, HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, Malformed, Marker, Outcome, ProducerStamp,
    RECORD_BATCH_OVERHEAD, RecordIter, TimestampType, increment_sequence,
};
pub use clean::{Cleanable, Cleaned, CleanerConfig, Removal, RemovedRecord};
pub use config::{CleanupPolicy, LogConfig};
pub use epochs::{EpochCache, EpochEndOffset, EpochEntry};
pub use errors::{Errors, RecordError, Refusal};
pub use files::{
    CLEANED_SUFFIX, DELETED_SUFFIX, Extent, File, Files, Keep, LEADER_EPOCH_CHECKPOINT, LastBatch, NoSuchByte, Rest,
    SWAP_SUFFIX, base_offset_of, file_name,
};
pub use fingerprint::{Cached, Encoder, Fingerprint};
pub use holdings::{Held, Layer, offset_ranges};
pub use index::{Entry, Index, OffsetEntry, OffsetIndex, TimeEntry, TimeIndex, WhenFull};
pub use load::{LoadArgs, RecoveryReport, Remade, Shutdown};
pub use log_file::{LogFile, Placed};
pub use producers::{BatchMetadata, Check, CompletedTxn, Origin, ProducerEntry, ProducerState, TransactionVersion};
pub use read::{Fetched, FirstBatch, Isolation, OffsetMetadata, TimestampQuery};
pub use record::{
    Bytes, Header, HeaderView, MAX_RECORD_OVERHEAD, NO_TIMESTAMP, Record, RecordField, RecordPart, RecordView,
};
pub use retention::{DeletedSegment, DeletionReason};
pub use rope::{Item, Rope};
pub use segment::{OffsetPosition, RollParams, RollReason, Segment, SegmentFault, TimestampAndOffset};
pub use state::{Log, Task};
pub use truncate::Truncated;
pub use txn_index::{AbortedTxn, TxnIndex};
pub use unified::FileInfo;

#[cfg(test)]
mod tests;
