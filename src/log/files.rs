//! A partition's folder: files as ropes of extents, each with the length that has reached the disk.
//!
//! This is what remains of a log when its process is gone. A kill leaves every file as it was written; a power loss
//! takes what was not flushed, all of it or as much as the caller says. Because a file is made of extents (shared
//! batches, loose bytes, zeros), a torn tail, a flipped byte and a preallocated index are ordinary contents, and a
//! batch keeps its shared bytes and its tags while it lies here.
//!
//! Deliberately absent: the folder's own entries as something to be flushed apart (a file that was never flushed is
//! gone with the power), reordering of writes within a file, and truncations that come undone.

use crate::sorted::SortedMap;
use std::fmt;

use super::batch::{Batch, BatchHeader};
use super::fingerprint::{Encoder, Fingerprint};
use super::record::Bytes;

/// The suffix of a file that waits for its delayed deletion.
pub const DELETED_SUFFIX: &str = ".deleted";
/// The suffix of a cleaner's unfinished output.
pub const CLEANED_SUFFIX: &str = ".cleaned";
/// The suffix of a cleaner's finished output that has not replaced its sources yet.
pub const SWAP_SUFFIX: &str = ".swap";
/// The file of leader epochs.
pub const LEADER_EPOCH_CHECKPOINT: &str = "leader-epoch-checkpoint";

/// The name of one of a segment's files: `kind` is `log`, `index`, `timeindex`, `txnindex` or `snapshot`.
pub fn file_name(base_offset: i64, kind: &str) -> String {
    format!("{base_offset:020}.{kind}")
}

/// The offset in a segment file's name, if the name is that of such a file of this kind.
pub fn base_offset_of(name: &str, kind: &str) -> Option<i64> {
    let digits = name.strip_suffix(kind)?.strip_suffix('.')?;
    (digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A batch, sharing its bytes with every other place that holds it.
    Batch(Batch),
    /// Loose bytes.
    Bytes(Bytes),
    /// So many zero bytes.
    Zeros(u64),
}

impl Extent {
    /// The bytes it takes.
    pub fn len(&self) -> u64 {
        match self {
            Extent::Batch(batch) => u64::from(batch.size_in_bytes()),
            Extent::Bytes(bytes) => bytes.len() as u64,
            Extent::Zeros(count) => *count,
        }
    }

    /// Whether it takes no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Extent::Batch(batch) => batch.write_to(out),
            Extent::Bytes(bytes) => out.extend_from_slice(bytes),
            Extent::Zeros(count) => out.resize(out.len() + *count as usize, 0),
        }
    }

    /// The first `len` bytes of it.
    fn cut(&self, len: u64) -> Extent {
        match self {
            _ if len >= self.len() => self.clone(),
            Extent::Zeros(_) => Extent::Zeros(len),
            Extent::Bytes(bytes) => Extent::Bytes(bytes[..len as usize].into()),
            Extent::Batch(batch) => Extent::Bytes(batch.to_bytes()[..len as usize].into()),
        }
    }

    /// Bits of one byte changed. A batch's checksum covers neither its base offset nor its leader epoch: changed there, it
    /// holds the records that it held.
    fn flipped(&self, at: usize, xor: u8) -> Extent {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes);
        bytes[at] ^= xor;
        if let (Extent::Batch(batch), Ok(read)) = (self, Batch::parse(&bytes)) {
            let placed = batch.placed(read.base_offset(), read.leader_epoch());
            if placed.to_bytes() == bytes {
                return Extent::Batch(placed);
            }
        }
        Extent::Bytes(bytes.into())
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct File {
    extents: Vec<Extent>,
    flushed: Option<u64>,
    modified_ms: i64,
}

impl File {
    /// A file of these extents. `flushed` is how many bytes of it the disk has for certain; `None` when not even its
    /// name has been flushed.
    pub fn new(extents: Vec<Extent>, flushed: Option<u64>, modified_ms: i64) -> Self {
        let extents = extents.into_iter().filter(|extent| !extent.is_empty()).collect();
        Self {
            extents,
            flushed,
            modified_ms,
        }
    }

    /// A file of loose bytes, all of them on disk.
    pub fn from_bytes(bytes: &[u8], modified_ms: i64) -> Self {
        Self::new(vec![Extent::Bytes(bytes.into())], Some(bytes.len() as u64), modified_ms)
    }

    /// Its extents in order, none empty.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// Its length in bytes, flushed or not.
    pub fn len(&self) -> u64 {
        self.extents.iter().map(Extent::len).sum()
    }

    /// Whether it holds no bytes.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// How many of its bytes the disk has; `None` when a power loss may take the whole file.
    pub fn flushed(&self) -> Option<u64> {
        self.flushed
    }

    /// When it was last written, in milliseconds since 1970.
    pub fn modified_ms(&self) -> i64 {
        self.modified_ms
    }

    /// Says that the file was written to now.
    pub fn touch(&mut self, now_ms: i64) {
        self.modified_ms = now_ms;
    }

    /// The file's content.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() as usize);
        self.extents.iter().for_each(|extent| extent.write_to(&mut out));
        out
    }

    /// Shortens the file.
    pub fn cut(&mut self, length: u64) {
        let mut kept = Vec::new();
        let mut left = length;
        for extent in self.extents.drain(..) {
            if left == 0 {
                break;
            }
            let part = extent.cut(left);
            left -= part.len();
            kept.push(part);
        }
        self.extents = kept;
        self.flushed = self.flushed.map(|flushed| flushed.min(length));
    }

    /// Gives the file another length: shorter, or longer with zeros at the end.
    pub fn set_length(&mut self, length: u64) {
        let missing = length.saturating_sub(self.len());
        if missing == 0 {
            self.cut(length);
        } else {
            self.extents.push(Extent::Zeros(missing));
        }
    }

    /// Turns everything from a byte on to zeros, the length staying as it is.
    pub fn zero_from(&mut self, from: u64) {
        let length = self.len();
        if from < length {
            let flushed = self.flushed;
            self.cut(from);
            self.extents.push(Extent::Zeros(length - from));
            self.flushed = flushed;
        }
    }

    /// Changes bits of one byte.
    pub fn flip(&mut self, at: u64, xor: u8) -> Result<(), NoSuchByte> {
        let mut start = 0;
        for extent in &mut self.extents {
            if at < start + extent.len() {
                *extent = extent.flipped((at - start) as usize, xor);
                return Ok(());
            }
            start += extent.len();
        }
        Err(NoSuchByte { at, length: start })
    }

    /// Adds bytes at the end.
    pub fn append(&mut self, bytes: &[u8]) {
        self.extents.push(Extent::Bytes(bytes.into()));
    }
}

impl Fingerprint for File {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.extents.len());
        for extent in &self.extents {
            match extent {
                Extent::Batch(batch) => {
                    encoder.u8(0);
                    encoder.u128(batch.fingerprint());
                }
                Extent::Bytes(bytes) => {
                    encoder.u8(1);
                    encoder.bytes(bytes);
                }
                Extent::Zeros(count) => {
                    encoder.u8(2);
                    encoder.u64(*count);
                }
            }
        }
        encoder.option(self.flushed, Encoder::u64);
        encoder.i64(self.modified_ms);
    }
}

/// A byte was to be changed where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchByte {
    /// The position asked for.
    pub at: u64,
    /// How long the file is.
    pub length: u64,
}

impl fmt::Display for NoSuchByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no byte {}: the file has {} bytes", self.at, self.length)
    }
}

impl std::error::Error for NoSuchByte {}

/// How much a power loss leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Of every file what was flushed, the least that can be left.
    Flushed,
    /// Everything, as if the operating system had written all of it in time.
    Everything,
    /// What was flushed, and of the `.log` files also the batches that end below an offset.
    BelowOffset(i64),
}

/// A partition's folder without a process that has it open.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Files {
    entries: SortedMap<String, File>,
}

impl Files {
    /// An empty folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Files by name, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &File)> {
        self.entries.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// A file by name.
    pub fn get(&self, name: &str) -> Option<&File> {
        self.entries.get(name)
    }

    /// A file by name, to damage it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut File> {
        self.entries.get_mut(name)
    }

    /// Puts a file under a name; what was there is replaced.
    pub fn insert(&mut self, name: impl Into<String>, file: File) {
        self.entries.insert(name.into(), file);
    }

    /// Takes a file away.
    pub fn remove(&mut self, name: &str) -> Option<File> {
        self.entries.remove(name)
    }

    /// Keeps the files that a test accepts.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|name, _| keep(name));
    }

    /// The base offsets of the `.log` files, ascending.
    pub fn segment_bases(&self) -> Vec<i64> {
        self.entries
            .keys()
            .filter_map(|name| base_offset_of(name, "log"))
            .collect()
    }

    /// What a power loss does. Torn tails are made with [`tear_last_batch`](Self::tear_last_batch) after it, or with
    /// [`File::cut`] on single files.
    pub fn power_loss(&mut self, keep: Keep) {
        let below = match keep {
            Keep::Everything => {
                // It reached the disk: the next power loss does not take it.
                self.entries
                    .values_mut()
                    .for_each(|file| file.flushed = Some(file.len()));
                return;
            }
            Keep::Flushed => None,
            Keep::BelowOffset(offset) => Some(offset),
        };
        self.entries.retain(|name, file| {
            let written = below.and_then(|offset| match base_offset_of(name, "log") {
                Some(base) => (base < offset).then(|| bytes_below(file, offset)),
                // What stands beside those records was written with them.
                None => ["index", "timeindex", "txnindex", "snapshot"]
                    .iter()
                    .find_map(|suffix| base_offset_of(name, suffix))
                    .is_some_and(|base| base < offset)
                    .then(|| file.len()),
            });
            let Some(length) = file.flushed.max(written) else {
                return false;
            };
            file.cut(length);
            file.flushed = Some(file.len());
            true
        });
    }

    /// Shortens the `.log` files, whatever has reached the disk: of the batches that reach this offset only `rest` is left.
    /// Every other file stays as it was.
    pub fn shorten(&mut self, offset: i64, mut rest: Rest) {
        for base in self.segment_bases() {
            let Some(file) = self.entries.get_mut(&file_name(base, "log")) else {
                continue;
            };
            let below = bytes_below(file, offset);
            let first = file.extents.iter().find_map(|extent| match extent {
                Extent::Batch(batch) if batch.last_offset() >= offset => Some(extent.len()),
                _ => None,
            });
            let Some(size) = first else { continue };
            file.cut(match rest {
                Rest::Nothing => below,
                Rest::HalfABatch => below + size / 2,
            });
            rest = Rest::Nothing;
        }
    }

    /// The last batch of the newest segment that has one, whether its checksum is right or not.
    pub fn last_batch(&self) -> Option<LastBatch> {
        self.segment_bases().into_iter().rev().find_map(|segment| {
            let (position, size, offset) = last_framed(self.entries.get(&file_name(segment, "log"))?)?;
            Some(LastBatch {
                segment,
                position,
                size,
                offset,
            })
        })
    }

    /// Leaves only the first bytes of the last batch. Says whether there was one.
    pub fn tear_last_batch(&mut self, keep_bytes: u64) -> bool {
        let Some(last) = self.last_batch() else { return false };
        if let Some(file) = self.entries.get_mut(&file_name(last.segment, "log")) {
            file.cut(last.position + keep_bytes.min(last.size));
        }
        true
    }

    /// Flips the bits of one byte of a segment's `.log` file.
    ///
    /// # Errors
    /// Which segment, or which byte of it, is not there.
    pub fn flip(&mut self, base_offset: i64, position: u64) -> Result<(), String> {
        let there: Vec<String> = self.segment_bases().iter().map(i64::to_string).collect();
        match self.entries.get_mut(&file_name(base_offset, "log")) {
            Some(file) => file
                .flip(position, 0xff)
                .map_err(|error| format!("in segment {base_offset} {error}")),
            None if there.is_empty() => Err(format!("there is no segment {base_offset}: the folder has none")),
            None => Err(format!(
                "there is no segment {base_offset}: the folder has {}",
                there.join(", ")
            )),
        }
    }
}

/// What is left of the batches that a log is shortened by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// The first half of the first of them.
    HalfABatch,
}

/// Where a folder's last batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastBatch {
    /// The base offset of its segment.
    pub segment: i64,
    /// Its first byte in the segment's `.log` file.
    pub position: u64,
    /// Its bytes.
    pub size: u64,
    /// Its base offset.
    pub offset: i64,
}

/// Position, size and base offset of a file's last batch. Bytes that were damaged still make a batch if they say how
/// long it is and reach that far.
fn last_framed(file: &File) -> Option<(u64, u64, i64)> {
    let (mut start, mut last) = (0, None);
    for extent in &file.extents {
        match extent {
            Extent::Zeros(_) => {}
            Extent::Batch(batch) => last = Some((start, extent.len(), batch.base_offset())),
            Extent::Bytes(bytes) => {
                let mut at = 0;
                while let Ok(size) = BatchHeader::frame(&bytes[at..], (bytes.len() - at) as u64) {
                    let offset = BatchHeader::read(&bytes[at..]).map_or(0, |header| header.base_offset);
                    last = Some((start + at as u64, size, offset));
                    at += size as usize;
                }
            }
        }
        start += extent.len();
    }
    last
}

/// The length of the front part that holds only batches ending below an offset.
fn bytes_below(file: &File, offset: i64) -> u64 {
    let batches = file.extents.iter().map_while(|extent| match extent {
        Extent::Batch(batch) if batch.last_offset() < offset => Some(extent.len()),
        _ => None,
    });
    batches.sum()
}

impl Fingerprint for Files {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.entries.len());
        for (name, file) in &self.entries {
            encoder.str(name);
            file.fingerprint(encoder);
        }
    }
}
