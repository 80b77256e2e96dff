//! The aborted transactions of a segment: what a `read_committed` reader must leave out.
//!
//! Mirrors `TransactionIndex` and `AbortedTxn`. The file comes into being with its first entry.

use std::sync::Arc;

use super::files::{Extent, File};

/// An entry of the `.txnindex` file: a transaction that was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTxn {
    /// Whose transaction it was.
    pub producer_id: i64,
    /// The offset of its first record.
    pub first_offset: i64,
    /// The offset of its marker.
    pub last_offset: i64,
    /// The last stable offset once it was gone.
    pub last_stable_offset: i64,
}

impl AbortedTxn {
    /// The bytes of one entry.
    pub const SIZE: usize = 34;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0]);
        for field in [
            self.producer_id,
            self.first_offset,
            self.last_offset,
            self.last_stable_offset,
        ] {
            out.extend_from_slice(&field.to_be_bytes());
        }
    }

    /// Reads an entry from the front of some bytes; `None` when they are too few, or of another version than 0.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let field = |index: usize| -> Option<i64> {
            Some(i64::from_be_bytes(
                bytes.get(2 + 8 * index..10 + 8 * index)?.try_into().ok()?,
            ))
        };
        let version = i16::from_be_bytes(bytes.get(..2)?.try_into().ok()?);
        (version == 0).then_some(())?;
        Some(Self {
            producer_id: field(0)?,
            first_offset: field(1)?,
            last_offset: field(2)?,
            last_stable_offset: field(3)?,
        })
    }
}

/// The `.txnindex` file of a segment; it comes into being with its first entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxnIndex {
    file: Option<TxnFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TxnFile {
    entries: Arc<Vec<AbortedTxn>>,
    /// What follows the last readable entry.
    tail: Arc<[u8]>,
    flushed: Option<u64>,
}

impl TxnFile {
    fn of(bytes: &[u8], flushed: Option<u64>) -> Self {
        let entries: Vec<_> = bytes.chunks(AbortedTxn::SIZE).map_while(AbortedTxn::read).collect();
        let tail = bytes[entries.len() * AbortedTxn::SIZE..].into();
        Self {
            entries: Arc::new(entries),
            tail,
            flushed,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.entries.iter().for_each(|entry| entry.write(&mut bytes));
        bytes.extend_from_slice(&self.tail);
        bytes
    }
}

impl TxnIndex {
    /// An index as its file has it.
    pub fn open(file: &File) -> Self {
        Self {
            file: Some(TxnFile::of(&file.to_bytes(), file.flushed())),
        }
    }

    /// The file, if there is one.
    pub fn to_file(&self, modified_ms: i64) -> Option<File> {
        let file = self.file.as_ref()?;
        let extents = vec![Extent::Bytes(file.bytes().into())];
        Some(File::new(extents, file.flushed, modified_ms))
    }

    /// The aborted transactions, in the order of their markers.
    pub fn entries(&self) -> &[AbortedTxn] {
        self.file.as_ref().map_or(&[], |file| &file.entries)
    }

    /// Whether no entry ended before this segment (`TransactionIndex.sanityCheck`). Nobody minds bytes at the end that are no
    /// whole entry; an entry of a version that Kafka does not know, with which it opens no log, is taken for damage here.
    pub fn is_sound(&self, base_offset: i64) -> bool {
        let Some(file) = &self.file else { return true };
        file.tail.len() < AbortedTxn::SIZE && file.entries.iter().all(|entry| entry.last_offset >= base_offset)
    }

    /// Adds an entry. Behind bytes that are no whole entry it becomes unreadable, and they with it.
    pub fn append(&mut self, entry: AbortedTxn) {
        let file = self.file.get_or_insert_default();
        if file.tail.is_empty() {
            Arc::make_mut(&mut file.entries).push(entry);
        } else {
            let mut bytes = file.bytes();
            entry.write(&mut bytes);
            *file = TxnFile::of(&bytes, file.flushed);
        }
    }

    /// Empties the file, if there is one.
    pub fn reset(&mut self) {
        if let Some(file) = &mut self.file {
            *file = TxnFile {
                flushed: file.flushed.map(|_| 0),
                ..TxnFile::default()
            };
        }
    }

    /// Cuts the file at the first transaction whose marker lies at or above an offset.
    pub fn truncate_to(&mut self, offset: i64) {
        let first = self.entries().iter().position(|entry| entry.last_offset >= offset);
        if let Some(first) = first
            && let Some(file) = &mut self.file
        {
            Arc::make_mut(&mut file.entries).truncate(first);
            file.tail = Arc::default();
            let length = (file.entries.len() * AbortedTxn::SIZE) as u64;
            file.flushed = file.flushed.map(|flushed| flushed.min(length));
        }
    }

    pub(crate) fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            file.flushed = Some((file.entries.len() * AbortedTxn::SIZE + file.tail.len()) as u64);
        }
    }
}
