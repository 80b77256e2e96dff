//! The records of one batch, opened when they are asked for.

use std::borrow::Cow;
use std::fmt;

use crate::log::{BatchHeader, RECORD_BATCH_OVERHEAD, RecordIter, RecordView};

use super::codec::{self, Closed, Codec};

/// The bytes of a batch's records, uncompressed. `batch` is the whole batch.
///
/// # Errors
/// When they are compressed and cannot be opened here.
pub fn open<'a>(header: &BatchHeader, batch: &'a [u8]) -> Result<Cow<'a, [u8]>, Closed> {
    let records = batch.get(RECORD_BATCH_OVERHEAD..).unwrap_or(&[]);
    match Codec::of(header) {
        Codec::None => Ok(Cow::Borrowed(records)),
        codec => codec::uncompress(codec, records).map(Cow::Owned),
    }
}

/// Why records cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFault {
    /// The header says that there are fewer than none.
    NegativeCount(i32),
    /// A record's bytes make no record.
    Malformed {
        /// Its place among the records of the batch, from 1.
        record: i32,
        /// How many there should be.
        count: i32,
    },
    /// Bytes are left over behind the last record.
    LeftOver {
        /// How many.
        bytes: usize,
    },
    /// The key of a control record holds no version and type.
    ControlKey {
        /// How many bytes it has; nothing where there is no key.
        bytes: Option<usize>,
    },
}

impl RecordFault {
    /// What is wrong with a record of a control batch, if Kafka cannot tell its type (`ControlRecordType.parseTypeId`).
    pub fn of_control(record: &RecordView<'_>) -> Option<RecordFault> {
        let bytes = record.key.map(<[u8]>::len);
        let version = record
            .key
            .and_then(|key| key.first_chunk::<2>())
            .map(|version| i16::from_be_bytes(*version));
        let told = bytes.is_some_and(|bytes| bytes >= 4) && version.is_some_and(|version| version >= 0);
        (!told).then_some(RecordFault::ControlKey { bytes })
    }
}

impl fmt::Display for RecordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordFault::NegativeCount(count) => write!(f, "the number of records is {count}"),
            RecordFault::Malformed { record, count } => {
                write!(f, "record {record} of {count} cannot be read")
            }
            RecordFault::LeftOver { bytes } => write!(f, "{bytes} bytes are left over behind the last record"),
            RecordFault::ControlKey { bytes: None } => f.write_str("a control record has no key, which tells its type"),
            RecordFault::ControlKey { bytes: Some(bytes) } => {
                write!(f, "the key of a control record, {bytes} bytes, does not tell its type")
            }
        }
    }
}

/// The records in the uncompressed bytes of a batch, in order, and what is wrong with them. As Kafka's iterator, it
/// keeps the last record back when something is left over behind it.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    count: i32,
    all: usize,
    rest: RecordIter<'a>,
    done: bool,
}

impl<'a> Records<'a> {
    /// The records in the bytes that [`open`] gave.
    pub fn new(header: &BatchHeader, records: &'a [u8]) -> Self {
        Self {
            count: header.count,
            all: records.len(),
            rest: RecordIter::new(header, records),
            done: header.count == 0,
        }
    }

    /// How many of the bytes were read.
    pub fn position(&self) -> usize {
        self.all - self.rest.rest().len()
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RecordView<'a>, RecordFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = match self.rest.next() {
            _ if self.count < 0 => Err(RecordFault::NegativeCount(self.count)),
            None => Err(RecordFault::Malformed {
                record: self.count - self.rest.left() + 1,
                count: self.count,
            }),
            Some(_) if self.rest.left() == 0 && !self.rest.rest().is_empty() => Err(RecordFault::LeftOver {
                bytes: self.rest.rest().len(),
            }),
            Some(record) => Ok(record),
        };
        self.done = next.is_err() || self.rest.left() == 0;
        Some(next)
    }
}
