//! The second floor: bytes with their meaning, for simulated and for real files.
//!
//! What a file of a broker's data directory says, where each of its fields stands, and what is wrong with it. A segment
//! is walked batch by batch through a [`Source`], so that neither a long file nor a lying length field costs memory;
//! the records of a batch are opened when they are asked for. The command line prints what is found here and the page
//! draws it.
//!
//! What it must not know: the machine's own files and folders, the screen. The formats themselves are decoded by [`crate::log`]; here they
//! are given names, places and words. Mirrors `DumpLogSegments`, whose words stand in [`words`].

mod codec;
mod damage;
mod directory;
mod fields;
mod index;
mod kind;
mod records;
mod scan;
mod text;
pub mod words;

pub use codec::{Closed, Codec, LARGEST_BATCH};
pub use damage::{Damage, Fault};
pub use directory::{directory_files, partition_metadata};
pub use fields::{
    Field, batch_fields, offset_entry_fields, record_fields, snapshot_fields, time_entry_fields, txn_entry_fields,
};
pub use index::{Checked, CheckedTime, Entries, LogOfIndex, Miss, OffsetEntries, TimeEntries, TimeFound, goes_back};
pub use kind::{CLEAN_SHUTDOWN, FileKind, META_PROPERTIES, OffsetsOf, PARTITION_METADATA};
pub use records::{RecordFault, Records, open};
pub use scan::{Ending, Found, Scan, Source, Step};
pub use text::{Property, line_start, properties};
