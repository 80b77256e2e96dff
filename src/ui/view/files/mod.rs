//! The files drawer: a replica's folder, and one file of it opened, byte by byte.
//!
//! A file is a row of parts (batches, entries, producers, lines), whatever its kind. Each part has a place, a length
//! and a name on the picture; its fields are read when it is picked. The same is made of a simulated replica's files and
//! of real ones, which are read piece by piece. Mirrors what `kafka-dump-log` prints.
//!
//! Deliberately absent: how bytes come out of a browser's files, and what an offset's look-up costs in time.

mod beside;
mod detail;
mod folder;
mod look_up;
mod parts;
mod recovery;
mod strip;

#[cfg(test)]
mod tests;

pub use beside::{Beside, Compared, Line};
pub use detail::{Detail, HexRow, RecordRow, Run, SHOWN_BYTES, detail, in_words};
pub use folder::{
    Chosen, Entry, Folder, Replica, Row, Stored, Walk, bases_of, folder_of, kind_of, listing, newest, recovery_point,
    replicas, segment_of, size, sizes, span_of, tree,
};
pub use look_up::{WalkStep, look_up};
pub use parts::{Is, LogWalk, MOST_IN_MEMORY, Opened, Part, Parts, Wanted, open, parts_of};
pub use recovery::recovery;
pub use strip::{Bar, Layer, Lead, Strip, leads, strip};
