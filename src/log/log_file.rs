//! The `.log` file of a segment while a process has it open: batches back to back.
//!
//! Mirrors `FileRecords` and `FileLogInputStream`. Batches are framed one after another from position 0; whatever
//! cannot be framed any more (a torn tail, zeros, a broken length) is a loose tail that readers ignore in silence and
//! recovery cuts off. A batch whose bytes were damaged but whose framing holds stays a batch: that its checksum is
//! wrong is for the reader to see.

use std::borrow::Cow;
use std::sync::Arc;

use super::batch::{Batch, Malformed};
use super::files::{Extent, File};
use super::fingerprint::{Encoder, Fingerprint};
use super::rope::{Item, Rope};

/// A batch and where it begins in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The byte position of its first byte.
    pub position: u32,
    /// The batch.
    pub batch: Batch,
}

impl Placed {
    /// The position behind its last byte.
    pub fn end(&self) -> u32 {
        self.position + self.batch.size_in_bytes()
    }
}

impl Item for Placed {
    fn chain(&self, before: u128) -> u128 {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&before.to_le_bytes());
        bytes[16..].copy_from_slice(&self.batch.fingerprint().to_le_bytes());
        xxhash_rust::xxh3::xxh3_128(&bytes)
    }
}

/// Batches as they are read one after another.
pub type Batches<'a> = Box<dyn Iterator<Item = Cow<'a, Placed>> + 'a>;

/// The `.log` file of a segment.
#[derive(Clone, Debug)]
pub struct LogFile {
    batches: Rope<Placed>,
    /// What follows the last framed batch.
    tail: Arc<[u8]>,
    size: u32,
    /// Zeros behind `size` that belong to the file but not to the log.
    preallocated: u32,
    flushed: Option<u32>,
    modified_ms: i64,
}

impl LogFile {
    /// A new, empty file.
    pub fn create(preallocated: u32, now_ms: i64) -> Self {
        Self {
            batches: Rope::default(),
            tail: Arc::default(),
            size: 0,
            preallocated,
            flushed: None,
            modified_ms: now_ms,
        }
    }

    /// A file as it lies in the folder; all of its bytes count.
    pub fn open(file: &File) -> Self {
        let mut log = Self::create(0, file.modified_ms());
        log.flushed = file.flushed().map(|flushed| flushed as u32);
        let mut loose = Vec::new();
        for extent in file.extents() {
            match extent {
                Extent::Batch(batch) if loose.is_empty() => log.push(batch.clone()),
                Extent::Batch(batch) => batch.write_to(&mut loose),
                Extent::Bytes(bytes) => loose.extend_from_slice(bytes),
                Extent::Zeros(count) => loose.resize(loose.len() + *count as usize, 0),
            }
            log.frame(&mut loose);
        }
        log.size += loose.len() as u32;
        log.tail = loose.into();
        log
    }

    /// Moves whole batches from the front of loose bytes into the file.
    fn frame(&mut self, loose: &mut Vec<u8>) {
        let mut start = 0;
        while let Ok(batch) = Batch::parse(&loose[start..]) {
            start += batch.size_in_bytes() as usize;
            self.push(batch);
        }
        loose.drain(..start);
    }

    fn push(&mut self, batch: Batch) {
        let position = self.size;
        self.size += batch.size_in_bytes();
        self.batches.push(Placed { position, batch });
    }

    /// The file as it lies in the folder.
    pub fn to_file(&self) -> File {
        let batches = self.batches.iter().map(|placed| Extent::Batch(placed.batch.clone()));
        let tail = [
            Extent::Bytes(Arc::clone(&self.tail)),
            Extent::Zeros(u64::from(self.preallocated)),
        ];
        File::new(
            batches.chain(tail).collect(),
            self.flushed.map(u64::from),
            self.modified_ms,
        )
    }

    /// The length of the log in bytes; a preallocated rest does not count.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The length of the file, a preallocated rest included.
    pub fn length(&self) -> u32 {
        self.size + self.preallocated
    }

    /// How many bytes the disk has.
    pub fn flushed(&self) -> Option<u32> {
        self.flushed
    }

    /// When it was last written, in milliseconds since 1970.
    pub fn modified_ms(&self) -> i64 {
        self.modified_ms
    }

    /// Sets the file time, as a cleaner does.
    pub fn set_modified(&mut self, modified_ms: i64) {
        self.modified_ms = modified_ms;
    }

    /// Batches with their positions, in order.
    pub fn batches(&self) -> &Rope<Placed> {
        &self.batches
    }

    /// The batches with a sound framing, read from a position on. An index entry that does not point at a batch makes
    /// Kafka read whatever lies there as a batch, and so it does here.
    pub fn scan(&self, position: u32) -> Batches<'_> {
        let index = self.batches.partition_point(|placed| placed.position < position);
        match self.batches.get(index) {
            Some(placed) if placed.position == position => Box::new(self.batches.iter_from(index).map(Cow::Borrowed)),
            None if position >= self.size => Box::new(std::iter::empty()),
            _ => Box::new(self.misaligned(position).0.into_iter().map(Cow::Owned)),
        }
    }

    /// Whether a scan from a position comes to bytes that cannot be the front of a batch, where Kafka throws
    /// (`FileLogInputStream.nextBatch`), and does not simply end.
    pub fn scan_fails(&self, position: u32) -> bool {
        let index = self.batches.partition_point(|placed| placed.position < position);
        let fault = match self.batches.get(index) {
            Some(placed) if placed.position == position => self.tail_fault(),
            None if position >= self.size => None,
            _ => self.misaligned(position).1,
        };
        matches!(fault, Some(Malformed::BadLength(_)))
    }

    /// What is found from a position that is no batch's, and why there is no more.
    fn misaligned(&self, position: u32) -> (Vec<Placed>, Option<Malformed>) {
        let bytes = self.to_file().to_bytes();
        let mut found = Vec::new();
        let mut at = position as usize;
        while let Some(parsed) = bytes.get(at..self.size as usize).map(Batch::parse) {
            let batch = match parsed {
                Ok(batch) => batch,
                Err(fault) => return (found, Some(fault)),
            };
            let next = at + batch.size_in_bytes() as usize;
            found.push(Placed {
                position: at as u32,
                batch,
            });
            at = next;
        }
        (found, None)
    }

    /// Why no batch follows the last one; `None` at a sound end.
    pub fn tail_fault(&self) -> Option<Malformed> {
        (!self.tail.is_empty()).then(|| Batch::parse(&self.tail).err().unwrap_or(Malformed::Incomplete))
    }

    /// Adds a batch at the end.
    pub fn append(&mut self, batch: Batch, now_ms: i64) {
        let size = batch.size_in_bytes();
        self.preallocated = self.preallocated.saturating_sub(size);
        self.modified_ms = now_ms;
        if self.tail.is_empty() {
            self.push(batch);
        } else {
            let mut tail = self.tail.to_vec();
            batch.write_to(&mut tail);
            self.tail = tail.into();
            self.size += size;
        }
    }

    /// Cuts the file at a byte position. Says how many bytes went.
    pub fn truncate(&mut self, size: u32, now_ms: i64) -> u32 {
        let cut = self.size.saturating_sub(size);
        self.preallocated = 0;
        if cut == 0 {
            return 0;
        }
        let kept = self.batches.partition_point(|placed| placed.end() <= size);
        let framed = kept
            .checked_sub(1)
            .and_then(|last| self.batches.get(last))
            .map_or(0, Placed::end);
        if framed < size {
            self.tail = self.to_file().to_bytes()[framed as usize..size as usize].into();
        } else {
            self.tail = Arc::default();
        }
        self.batches.truncate(kept);
        self.size = size;
        self.flushed = self.flushed.map(|flushed| flushed.min(size));
        self.modified_ms = now_ms;
        cut
    }

    /// Drops the preallocated rest; a file that has one is changed by that.
    pub fn trim(&mut self, now_ms: i64) {
        if self.length() > self.size {
            self.modified_ms = now_ms;
        }
        self.preallocated = 0;
    }

    /// Forces the file to disk.
    pub fn flush(&mut self) {
        self.flushed = Some(self.size);
    }
}

impl Fingerprint for LogFile {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u128(self.batches.digest());
        encoder.len(self.batches.len());
        encoder.bytes(&self.tail);
        encoder.u32(self.preallocated);
        encoder.option(self.flushed, Encoder::u32);
        encoder.i64(self.modified_ms);
    }
}
