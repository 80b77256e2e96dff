//! What can be wrong with a file, with its place and in words.

use std::fmt;

use crate::log::Malformed;

use super::codec::Closed;
use super::records::RecordFault;

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The position of the first byte at fault.
    pub position: u64,
    /// What it is.
    pub fault: Fault,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No batch can be read at a place where one should begin.
    Framing {
        /// The bytes from there to the end of the file.
        left: u64,
        /// The bytes that the batch would take by its length field, where the file ends before the batch does.
        claimed: Option<u64>,
        /// Why not.
        why: Malformed,
    },
    /// Zeros instead of batches, up to the end of the file.
    Zeros {
        /// How many.
        left: u64,
    },
    /// The checksum of a batch is not that of its bytes.
    Checksum {
        /// The batch's base offset.
        base_offset: i64,
        /// What the header says.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// A batch begins below the end of the one before it, or below the segment's base.
    OffsetGoesBack {
        /// Its base offset.
        base_offset: i64,
        /// The lowest offset that could stand here.
        expected: i64,
    },
    /// The records of a batch cannot be read.
    Records {
        /// The batch's base offset.
        base_offset: i64,
        /// Why not.
        why: RecordFault,
    },
    /// The records of a batch cannot be uncompressed.
    Compressed {
        /// The batch's base offset.
        base_offset: i64,
        /// Why not.
        why: Closed,
    },
    /// An index entry names the last offset of a batch, and another one begins at its position.
    IndexMismatch {
        /// The offset in the index.
        offset: i64,
        /// The position it names in the log.
        at: i32,
        /// The last offset of the batch there.
        found: i64,
    },
    /// An index entry leads to no batch.
    IndexAstray {
        /// The offset in the index.
        offset: i64,
        /// The position it names, or that the offset index gives for it.
        at: i32,
        /// How long the log is.
        log: u64,
    },
    /// The entry of an offset index does not stand behind the one before it: offsets and positions rise, for they are
    /// searched by halves.
    IndexGoesBack {
        /// The offset and the position in the index.
        entry: (i64, i32),
        /// Those of the entry before.
        previous: (i64, i32),
    },
    /// The entry of an offset index leads the look-up of an offset past the batch that ends with it.
    IndexMisleads {
        /// That offset, which the time index names.
        offset: i64,
        /// Where the entry leads.
        at: i32,
        /// Where the batch begins.
        batch: u64,
    },
    /// An entry of the time index names an offset at which no batch ends.
    TimeOffset {
        /// The offset in the index.
        offset: i64,
        /// The last offset of the batch that holds it, if one does.
        found: Option<i64>,
    },
    /// An entry of the time index names another timestamp than its batch has.
    TimeMismatch {
        /// The timestamp in the index.
        timestamp: i64,
        /// The greatest timestamp of the batch.
        found: i64,
    },
    /// The timestamp of an entry is not above the one before it.
    TimeGoesBack {
        /// The timestamp in the index.
        timestamp: i64,
        /// The one before.
        previous: i64,
    },
    /// The offset of an entry of the time index is below that of the entry before it.
    TimeOffsetGoesBack {
        /// The offset in the index.
        offset: i64,
        /// The one before.
        previous: i64,
    },
    /// Bytes at the end that make no entry.
    PartEntry {
        /// How many.
        left: u64,
        /// The bytes of an entry.
        size: u32,
    },
    /// Entries behind the zeros that end an index.
    BehindZeros,
    /// An entry of the index of aborted transactions that is none.
    TxnVersion(i16),
    /// An aborted transaction that ended before its segment began.
    TxnBelowBase {
        /// The offset of its marker.
        last_offset: i64,
        /// The segment's base offset.
        base: i64,
    },
    /// A producer snapshot that is not to be believed.
    Snapshot(crate::log::snapshot::CorruptSnapshot),
    /// A text file with a malformed line.
    Line {
        /// The line, from 1.
        line: usize,
        /// What was expected there.
        expected: &'static str,
    },
    /// An entry leads to a batch whose records cannot be read.
    UnreadableBatch {
        /// The batch's base offset.
        base_offset: i64,
    },
    /// The log that an index belongs to breaks off where the look-up needs it.
    LogBroken {
        /// Where in the log.
        at: u64,
        /// The bytes from there to the end of the log.
        left: u64,
        /// The bytes that the batch there would take by its length field, where the log ends before the batch does.
        claimed: Option<u64>,
        /// How.
        why: Malformed,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}: {}", self.position, self.fault)
    }
}

/// A framing fault in words.
fn framing(why: Malformed, claimed: Option<u64>, left: u64) -> String {
    let reason = match why {
        Malformed::Incomplete => match claimed {
            Some(size) => {
                let reason = "the file ends before the batch does, a torn tail or a wrong length";
                return format!("{reason}: by its length field it takes {size} bytes, and {left} are left");
            }
            None => "the file ends before the batch does, a torn tail".to_owned(),
        },
        Malformed::BadLength(length) => format!("the length field says {length}, and no batch is below 14"),
        Malformed::BadMagic(magic) => {
            format!("the magic is {magic}; only message format 2 is read, which every broker since 4.0 writes")
        }
        Malformed::ShortHeader => "the length field leaves no room for a batch's header of 61 bytes".to_owned(),
    };
    format!("{reason}; {left} bytes are left over")
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Framing { left, claimed, why } => {
                write!(f, "no batch begins here: {}", framing(*why, *claimed, *left))
            }
            Fault::Zeros { left: 1 } => write!(f, "1 zero byte up to the end of the file instead of batches"),
            Fault::Zeros { left } => write!(f, "{left} zero bytes up to the end of the file instead of batches"),
            Fault::Checksum {
                base_offset,
                stored,
                computed,
            } => write!(
                f,
                "the checksum of the batch at offset {base_offset} is {stored:08x}, its bytes give {computed:08x}"
            ),
            Fault::OffsetGoesBack { base_offset, expected } => write!(
                f,
                "a batch begins at offset {base_offset}, where none below {expected} can stand"
            ),
            Fault::Records { base_offset, why } => write!(f, "in the batch at offset {base_offset} {why}"),
            Fault::Compressed { base_offset, why } => write!(f, "the batch at offset {base_offset} {why}"),
            Fault::IndexMismatch { offset, at, found } => write!(
                f,
                "the entry says that the batch at position {at} of the log ends with offset {offset}, but it ends with {found}"
            ),
            Fault::IndexAstray { offset, at, log } => write!(
                f,
                "the entry for offset {offset} leads to position {at} of the log, where no batch begins; the log has {log} bytes"
            ),
            Fault::IndexGoesBack { entry, previous } => write!(
                f,
                "offset {} at position {} of the log is not above the entry before it, offset {} at position {}; an index \
                 is searched by halves, and whoever looks there may be led astray",
                entry.0, entry.1, previous.0, previous.1
            ),
            Fault::IndexMisleads { offset, at, batch } => write!(
                f,
                "the entry leads the look-up of offset {offset}, which the time index names, to position {at} of the log, \
                 and the batch begins at {batch}"
            ),
            Fault::TimeOffset { offset, found: None } => {
                write!(f, "the entry names offset {offset}, which the log does not reach")
            }
            Fault::TimeOffset {
                offset,
                found: Some(found),
            } => write!(
                f,
                "the entry names offset {offset}, but the batch that reaches it ends with offset {found}"
            ),
            Fault::TimeMismatch { timestamp, found } => write!(
                f,
                "the entry names timestamp {timestamp}, but the greatest of its batch is {found}"
            ),
            Fault::TimeGoesBack { timestamp, previous } => {
                write!(f, "timestamp {timestamp} is not above the one before it, {previous}")
            }
            Fault::TimeOffsetGoesBack { offset, previous } => write!(
                f,
                "offset {offset} is below that of the entry before it, {previous}, and a later timestamp has no earlier offset"
            ),
            Fault::PartEntry { left, size } => {
                write!(f, "{left} bytes at the end make no entry, which takes {size}")
            }
            Fault::BehindZeros => write!(f, "entries stand behind the zeros that end the index"),
            Fault::TxnVersion(version) => write!(f, "the entry's version is {version}, and only 0 is known"),
            Fault::TxnBelowBase { last_offset, base } => write!(
                f,
                "a transaction that ended at offset {last_offset}, below the segment's first offset {base}"
            ),
            Fault::Snapshot(why) => snapshot(f, *why),
            Fault::Line { line, expected } => write!(f, "line {line} should be {expected}"),
            Fault::UnreadableBatch { base_offset } => write!(
                f,
                "the entry leads to the batch at offset {base_offset}, whose records cannot be read"
            ),
            Fault::LogBroken { at, left, claimed, why } => write!(
                f,
                "the look-up ends in the log at position {at}: {}",
                framing(*why, *claimed, *left)
            ),
        }
    }
}

fn snapshot(f: &mut fmt::Formatter<'_>, why: crate::log::snapshot::CorruptSnapshot) -> fmt::Result {
    use crate::log::snapshot::CorruptSnapshot::{Checksum, Count, TooShort, Version};
    match why {
        TooShort => write!(f, "the snapshot is shorter than its header of 10 bytes"),
        Version(version) => write!(f, "the snapshot's version is {version}, and only 1 is known"),
        Checksum { stored, computed } => {
            write!(
                f,
                "the snapshot's checksum is {stored:08x}, its bytes give {computed:08x}"
            )
        }
        Count(count) => write!(
            f,
            "the snapshot says that it holds {count} producers, and has no room for them"
        ),
    }
}
