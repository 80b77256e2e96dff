//! The sparse indexes of a segment: from offset to file position, and from timestamp to offset.
//!
//! Mirrors `AbstractIndex`, `OffsetIndex` and `TimeIndex`. An index file of the active segment is made in its full
//! size in advance and cut to its entries when the segment is closed; here the unused rest is only a number. Entries
//! are kept as the file has them, relative to the base offset and in file order, because whatever bytes lie in a
//! file that is not recovered count as entries.
//!
//! Deliberately absent: the warm section of the binary search as an optimisation. It is searched first all the same,
//! because on a damaged index that decides which entry is found.

use super::files::{Extent, File};
use super::fingerprint::{Encoder, Fingerprint};
use super::rope::{Item, Rope};
use std::sync::Arc;

/// The bytes at the end of an index that are searched first.
const WARM_BYTES: usize = 8192;

/// An entry of an index file.
pub trait Entry: Item + Copy {
    /// The bytes of one entry.
    const SIZE: u32;

    /// What the entries are searched by.
    fn key(&self, base_offset: i64) -> i64;

    /// Appends the entry as the file has it.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads an entry from exactly [`SIZE`](Self::SIZE) bytes.
    fn read(bytes: &[u8]) -> Self;
}

/// An entry of the offset index: a batch's last offset and its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetEntry {
    /// The offset, relative to the segment's base.
    pub relative_offset: i32,
    /// The byte position in the `.log` file.
    pub position: i32,
}

/// An entry of the time index: the largest timestamp so far and the offset that came with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeEntry {
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// The offset, relative to the segment's base.
    pub relative_offset: i32,
}

fn mix(before: u128, words: [u64; 2]) -> u128 {
    let mut encoder = Encoder::new();
    encoder.u128(before);
    words.into_iter().for_each(|word| encoder.u64(word));
    encoder.digest()
}

impl Item for OffsetEntry {
    fn chain(&self, before: u128) -> u128 {
        mix(before, [self.relative_offset as u64, self.position as u64])
    }
}

impl Item for TimeEntry {
    fn chain(&self, before: u128) -> u128 {
        mix(before, [self.timestamp as u64, self.relative_offset as u64])
    }
}

impl Entry for OffsetEntry {
    const SIZE: u32 = 8;

    fn key(&self, base_offset: i64) -> i64 {
        base_offset + i64::from(self.relative_offset)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
        out.extend_from_slice(&self.position.to_be_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            relative_offset: int(&bytes[..4]),
            position: int(&bytes[4..8]),
        }
    }
}

impl Entry for TimeEntry {
    const SIZE: u32 = 12;

    fn key(&self, _base_offset: i64) -> i64 {
        self.timestamp
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp.to_be_bytes());
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        let timestamp = (i64::from(int(&bytes[..4])) << 32) | i64::from(int(&bytes[4..8]) as u32);
        Self {
            timestamp,
            relative_offset: int(&bytes[8..12]),
        }
    }
}

fn int(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0, |value, byte| (value << 8) | i32::from(*byte))
}

/// One index file of a segment, open.
#[derive(Clone, Debug)]
pub struct Index<E> {
    base_offset: i64,
    entries: Rope<E>,
    /// So many entries of zeros follow: what a preallocated file holds that was never cut. They count as entries.
    zeros: u32,
    /// What lies behind the entries and is not zero: entries that were truncated away, odd bytes of a damaged file.
    rest: Arc<[u8]>,
    /// The length of the file: entries, the rest, then zeros.
    allocated: u32,
    flushed: Option<u32>,
    astray: Option<Astray<E>>,
}

/// What is true of an index while the next entry would not be written right behind the last: an entry that was refused halfway
/// has moved the place, as Kafka moves the position of its buffer. Only a truncation sets that right.
#[derive(Clone, Debug)]
struct Astray<E> {
    /// Where the next entry is written to.
    position: u32,
    /// What the index takes for its last entry; its file may say something else.
    last: Option<E>,
}

impl<E: Entry> Index<E> {
    /// A new index file of the full size.
    pub fn create(base_offset: i64, max_bytes: i32) -> Self {
        let allocated = round_down::<E>(max_bytes.max(0) as u32);
        Self {
            base_offset,
            entries: Rope::default(),
            zeros: 0,
            rest: Arc::default(),
            allocated,
            flushed: None,
            astray: None,
        }
    }

    /// An index as its file has it: every whole entry counts, also one of zeros.
    pub fn open(base_offset: i64, file: &File) -> Self {
        let zeros = match file.extents().last() {
            Some(Extent::Zeros(count)) => *count,
            _ => 0,
        };
        let mut written = file.clone();
        written.cut(file.len() - zeros);
        let mut bytes = written.to_bytes();
        let padding = bytes.len().next_multiple_of(E::SIZE as usize) - bytes.len();
        bytes.resize(bytes.len() + padding.min(zeros as usize), 0);
        let whole_zeros = zeros.saturating_sub(padding as u64) / u64::from(E::SIZE);
        let entries = bytes.chunks_exact(E::SIZE as usize);
        Self {
            base_offset,
            rest: entries.remainder().into(),
            entries: entries.map(E::read).collect(),
            zeros: whole_zeros as u32,
            allocated: file.len() as u32,
            flushed: file.flushed().map(|flushed| flushed as u32),
            astray: None,
        }
    }

    /// What was written into the file: the entries, but for zeros at their end, and the rest.
    fn written(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.entries.iter().for_each(|entry| entry.write(&mut bytes));
        bytes.extend_from_slice(&self.rest);
        bytes
    }

    /// The file as it lies in the folder.
    pub fn to_file(&self, modified_ms: i64) -> File {
        let bytes = self.written();
        let zeros = u64::from(self.allocated).saturating_sub(bytes.len() as u64);
        File::new(
            vec![Extent::Bytes(bytes.into()), Extent::Zeros(zeros)],
            self.flushed.map(u64::from),
            modified_ms,
        )
    }

    /// The entries in file order.
    pub fn entries(&self) -> impl Iterator<Item = E> {
        (0..self.len()).filter_map(|slot| self.get(slot))
    }

    /// The entry in a slot.
    pub fn get(&self, slot: usize) -> Option<E> {
        let written = self.entries.get(slot).copied();
        written.or_else(|| (slot < self.len()).then(|| E::read(&[0; 16][..E::SIZE as usize])))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len() + self.zeros as usize
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries the file has room for.
    pub fn max_entries(&self) -> usize {
        (self.allocated / E::SIZE) as usize
    }

    /// The length of the file, unused room included.
    pub fn allocated(&self) -> u32 {
        self.allocated
    }

    /// The bytes that entries take.
    pub fn used(&self) -> u32 {
        self.len() as u32 * E::SIZE
    }

    /// How much of the file the disk has.
    pub fn flushed(&self) -> Option<u32> {
        self.flushed
    }

    /// The last entry, as far as the index knows.
    pub fn last(&self) -> Option<E> {
        match &self.astray {
            Some(astray) => astray.last,
            None => self.get(self.len().checked_sub(1)?),
        }
    }

    /// Forces the file to disk.
    pub fn flush(&mut self) {
        self.flushed = Some(self.allocated);
    }

    /// Cuts the file to its entries. `false` where the place of the next entry lies behind the cut: Kafka cuts, and throws.
    #[must_use]
    pub fn trim(&mut self) -> bool {
        let used = self.used();
        match &mut self.astray {
            Some(astray) if astray.position > used && used != self.allocated => {
                astray.position = 0;
                self.allocated = used;
                self.rest = Arc::default();
                self.flushed = self.flushed.map(|flushed| flushed.min(used));
                false
            }
            _ => {
                self.resize(used);
                true
            }
        }
    }

    /// Gives the file another size; entries that no longer fit are lost.
    pub fn resize(&mut self, max_bytes: u32) {
        self.allocated = round_down::<E>(max_bytes);
        self.truncate(self.max_entries());
        let room = (self.allocated - self.used()) as usize;
        if self.rest.len() > room {
            self.rest = self.rest[..room].into();
        }
        self.flushed = self.flushed.map(|flushed| flushed.min(self.allocated));
    }

    /// Empties the index and gives it its full size again.
    pub fn reset(&mut self, max_bytes: i32) {
        self.truncate(0);
        self.resize(max_bytes.max(0) as u32);
    }

    /// Puts an entry at the end; the caller has checked order and room.
    fn push(&mut self, entry: E) {
        for _ in 0..std::mem::take(&mut self.zeros) {
            self.entries.push(E::read(&[0; 16][..E::SIZE as usize]));
        }
        self.entries.push(entry);
        if !self.rest.is_empty() {
            self.rest = self.rest[self.rest.len().min(E::SIZE as usize)..].into();
        }
    }

    /// Writes a part of an entry wherever the next one goes. `false` when there is no room.
    fn write_astray(&mut self, astray: &mut Astray<E>, part: &[u8]) -> bool {
        let (from, to) = (astray.position as usize, astray.position as usize + part.len());
        if to > self.allocated as usize {
            return false;
        }
        let mut bytes = self.written();
        bytes.resize(bytes.len().max(to).max(self.used() as usize), 0);
        bytes[from..to].copy_from_slice(part);
        self.take_written(&bytes, self.len());
        astray.position = to as u32;
        true
    }

    /// Reads so many entries from what was written, and takes what is left as the rest.
    fn take_written(&mut self, bytes: &[u8], len: usize) {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().max(len * E::SIZE as usize), 0);
        let (entries, rest) = bytes.split_at(len * E::SIZE as usize);
        self.entries = entries.chunks_exact(E::SIZE as usize).map(E::read).collect();
        self.zeros = 0;
        self.rest = rest.into();
    }

    /// Drops entries from the end. The file keeps their bytes until others are written over them or it is cut.
    fn truncate(&mut self, len: usize) {
        self.astray = None;
        self.zeros = self.zeros.min(len.saturating_sub(self.entries.len()) as u32);
        if len < self.entries.len() {
            let mut rest = Vec::new();
            self.entries.iter_from(len).for_each(|entry| entry.write(&mut rest));
            rest.extend_from_slice(&self.rest);
            self.rest = rest.into();
            self.entries.truncate(len);
        }
    }

    /// The index of the last entry whose key is not above the target, as Kafka's binary search finds it.
    fn floor_slot(&self, target: i64) -> Option<usize> {
        self.floor_slot_by(target, |entry| entry.key(self.base_offset))
    }

    fn floor_slot_by(&self, target: i64, key_of: impl Fn(&E) -> i64) -> Option<usize> {
        match self.search(target, key_of)? {
            Found::AllAbove => None,
            Found::Equal(slot) | Found::Below(slot) => Some(slot),
        }
    }

    /// Kafka's binary search (`indexSlotRangeFor`); nothing in an empty index.
    fn search(&self, target: i64, key_of: impl Fn(&E) -> i64) -> Option<Found> {
        let count = self.len();
        let key = |slot: usize| self.get(slot).map_or(i64::MAX, |entry| key_of(&entry));
        let last = count.checked_sub(1)?;
        let first_warm = last.saturating_sub(WARM_BYTES / E::SIZE as usize);
        let (mut low, mut high) = if key(first_warm) < target {
            (first_warm, last)
        } else if key(0) > target {
            return Some(Found::AllAbove);
        } else {
            (0, first_warm)
        };
        while low < high {
            let middle = (low + high).div_ceil(2);
            match key(middle).cmp(&target) {
                std::cmp::Ordering::Greater => high = middle - 1,
                std::cmp::Ordering::Less => low = middle,
                std::cmp::Ordering::Equal => return Some(Found::Equal(middle)),
            }
        }
        Some(Found::Below(low))
    }

    /// An offset as an entry has it; nothing where it lies below the segment or too far above.
    fn relative(&self, offset: i64) -> Option<i32> {
        let relative = offset.checked_sub(self.base_offset)?;
        i32::try_from(relative).ok().filter(|relative| *relative >= 0)
    }

    fn floor(&self, target: i64) -> Option<E> {
        self.get(self.floor_slot(target)?)
    }
}

/// Where the search for a key ends.
enum Found {
    /// Every entry is above the target.
    AllAbove,
    /// This entry is equal to it.
    Equal(usize),
    /// This is the last entry that counts as below it. The search never looks at the entry that it starts from, so that an
    /// equal one at the very front counts as below, too.
    Below(usize),
}

fn round_down<E: Entry>(bytes: u32) -> u32 {
    bytes / E::SIZE * E::SIZE
}

/// The offset index of a segment.
pub type OffsetIndex = Index<OffsetEntry>;

/// The time index of a segment.
pub type TimeIndex = Index<TimeEntry>;

impl OffsetIndex {
    /// Whether no further entry fits.
    pub fn is_full(&self) -> bool {
        self.len() >= self.max_entries()
    }

    /// The offset at which a read that ends at a file position is over, as far as the index says: that of the first entry
    /// at or behind the position (`fetchUpperBoundOffset`).
    pub(crate) fn upper_bound(&self, position: i64) -> Option<i64> {
        let slot = match self.search(position, |entry| i64::from(entry.position))? {
            Found::AllAbove => 0,
            Found::Equal(slot) => slot,
            Found::Below(slot) => slot + 1,
        };
        Some(self.get(slot)?.key(self.base_offset))
    }

    /// The offset of the last entry, the base offset if there is none.
    pub fn last_offset(&self) -> i64 {
        self.last()
            .map_or(self.base_offset, |entry| entry.key(self.base_offset))
    }

    /// Where to begin to scan for an offset.
    pub fn lookup(&self, offset: i64) -> i32 {
        self.floor(offset).map_or(0, |entry| entry.position)
    }

    /// Notes where a batch begins. `false` when the index is full, or the offset does not lie above the last entry or lies
    /// below the segment, which Kafka refuses with an exception.
    #[must_use]
    pub fn append(&mut self, offset: i64, position: u32) -> bool {
        if self.is_full() || (!self.is_empty() && offset <= self.last_offset()) {
            return false;
        }
        let Some(relative_offset) = self.relative(offset) else {
            return false;
        };
        self.push(OffsetEntry {
            relative_offset,
            position: position as i32,
        });
        true
    }

    /// Drops the entries at or above an offset.
    pub fn truncate_to(&mut self, offset: i64) {
        let keep = match self.floor_slot(offset) {
            None => 0,
            Some(slot)
                if self
                    .get(slot)
                    .is_some_and(|entry| entry.key(self.base_offset) == offset) =>
            {
                slot
            }
            Some(slot) => slot + 1,
        };
        self.truncate(keep);
    }
}

impl TimeIndex {
    /// Whether no further entry fits: one slot is kept for the closing entry.
    pub fn is_full(&self) -> bool {
        self.len() + 1 >= self.max_entries()
    }

    /// The last entry as (timestamp, offset); (−1, base offset) if there is none.
    pub fn last_pair(&self) -> (i64, i64) {
        self.last().map_or((-1, self.base_offset), |entry| {
            (entry.timestamp, self.offset_of(&entry))
        })
    }

    /// The offset that an entry names.
    pub fn offset_of(&self, entry: &TimeEntry) -> i64 {
        self.base_offset + i64::from(entry.relative_offset)
    }

    /// The last entry at or before a timestamp as (timestamp, offset); (−1, base offset) if there is none.
    pub fn lookup(&self, timestamp: i64) -> (i64, i64) {
        self.floor(timestamp).map_or((-1, self.base_offset), |entry| {
            (entry.timestamp, self.offset_of(&entry))
        })
    }

    /// Notes a timestamp if it lies above the last one. `false` when Kafka would throw: the index is full, or
    /// timestamp or offset lie below the last entry, or the offset lies below the segment. Kafka finds the last of these only
    /// when it has written the timestamp, and from then on finds every entry out of place.
    #[must_use]
    pub fn maybe_append(&mut self, timestamp: i64, offset: i64, when_full: WhenFull) -> bool {
        if when_full == WhenFull::Refuse && self.is_full() {
            return false;
        }
        let (last_timestamp, last_offset) = self.last_pair();
        if !self.is_empty() && (offset < last_offset || timestamp < last_timestamp) {
            return false;
        }
        if timestamp > last_timestamp {
            let relative = self.relative(offset);
            match (relative, &self.astray) {
                (Some(relative_offset), None) => self.push(TimeEntry {
                    timestamp,
                    relative_offset,
                }),
                _ => return self.append_astray(timestamp, relative),
            }
        }
        true
    }

    /// Writes an entry part by part, as `TimeIndex.maybeAppend` does. `false` where it stays halfway or lands out of place.
    fn append_astray(&mut self, timestamp: i64, relative: Option<i32>) -> bool {
        let (position, last) = (self.used(), self.last());
        let mut astray = self.astray.take().unwrap_or(Astray { position, last });
        let whole = self.write_astray(&mut astray, &timestamp.to_be_bytes())
            && relative.is_some_and(|offset| self.write_astray(&mut astray, &offset.to_be_bytes()));
        if let (true, Some(relative_offset)) = (whole, relative) {
            self.take_written(&self.written(), self.len() + 1);
            astray.last = Some(TimeEntry {
                timestamp,
                relative_offset,
            });
        }
        let in_place = astray.position == self.used();
        self.astray = (!in_place).then_some(astray);
        whole && in_place
    }

    /// Drops the entries whose offset lies at or above this one.
    pub fn truncate_to(&mut self, offset: i64) {
        let keep = match self.floor_slot_by(offset, |entry| self.offset_of(entry)) {
            None => 0,
            Some(slot) if self.get(slot).is_some_and(|entry| self.offset_of(&entry) == offset) => slot,
            Some(slot) => slot + 1,
        };
        self.truncate(keep);
    }
}

/// Whether the slot kept for the closing entry may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// An ordinary entry: refused in a full index.
    Refuse,
    /// The closing entry of a segment.
    Append,
}

impl<E: Entry> Fingerprint for Index<E> {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.u128(self.entries.digest());
        encoder.len(self.entries.len());
        encoder.u32(self.zeros);
        encoder.bytes(&self.rest);
        encoder.u32(self.allocated);
        encoder.option(self.flushed, Encoder::u32);
        if let Some(astray) = &self.astray {
            encoder.u32(astray.position);
            encoder.option(astray.last, |encoder, last| encoder.u128(last.chain(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_index_truncation() {
        for (offset, last) in [(12, 9), (10, 9), (9, 8), (5, 4)] {
            let mut index = OffsetIndex::create(0, 1024);
            (1..10).for_each(|n| assert!(index.append(n, n as u32 * 10)));
            assert!(!index.append(9, 5));
            index.truncate_to(offset);
            assert_eq!(index.last_offset(), last, "truncated to {offset}");
        }
    }

    #[test]
    fn time_index_lookup_and_fullness() {
        let mut index = TimeIndex::create(45, 30 * 12);
        for n in 1..30 {
            assert!(!index.is_full());
            assert!(index.maybe_append(10 * n, 45 + 10 * n, WhenFull::Refuse));
        }
        assert!(index.is_full() && !index.maybe_append(300, 345, WhenFull::Refuse));
        assert_eq!([9, 25, 30].map(|ts| index.lookup(ts)), [(-1, 45), (20, 65), (30, 75)]);
        assert!(!index.maybe_append(280, 400, WhenFull::Append));
        assert!(
            index.maybe_append(290, 400, WhenFull::Append),
            "an equal timestamp is ignored"
        );
        assert_eq!(index.len(), 29);
        index.truncate_to(55);
        assert_eq!(index.len(), 0);
    }
}
