//! The entries of an index, each held against the log that it leads into.
//!
//! Mirrors `DumpLogSegments.dumpIndex` and `dumpTimeIndex`. A zero entry that is not the first ends an index: what follows
//! in the file of an active segment is room for more. Deliberately absent: `--index-sanity-check`, which only looks at
//! the last entry.

use std::collections::BTreeSet;

use crate::log::{BatchHeader, Entry, Extent, File, Malformed, OffsetEntry, OffsetIndex, TimeEntry};

use super::codec::Closed;
use super::damage::{Damage, Fault};
use super::records::{Records, open};
use super::scan::{Ending, Found, Scan, Source, Step};

/// The most bytes that the real tool reads from an entry's position (`--max-message-size`).
const MAX_MESSAGE_SIZE: u64 = 5 * 1024 * 1024;

/// Entries of one size, one behind the other, not yet held against a log.
#[derive(Debug)]
pub struct Entries<'a, E> {
    bytes: &'a [u8],
    base: i64,
    slot: usize,
    ended: bool,
    relative_offset: fn(&E) -> i32,
}

impl<'a> Entries<'a, OffsetEntry> {
    /// The entries in the bytes of an offset index.
    pub fn of_offsets(bytes: &'a [u8], base: i64) -> Self {
        Self::new(bytes, base, |entry| entry.relative_offset)
    }
}

impl<'a> Entries<'a, TimeEntry> {
    /// The entries in the bytes of a time index.
    pub fn of_times(bytes: &'a [u8], base: i64) -> Self {
        Self::new(bytes, base, |entry| entry.relative_offset)
    }
}

impl<'a, E: Entry> Entries<'a, E> {
    fn new(bytes: &'a [u8], base: i64, relative_offset: fn(&E) -> i32) -> Self {
        Self {
            bytes,
            base,
            slot: 0,
            ended: false,
            relative_offset,
        }
    }

    fn reached(&self) -> usize {
        self.slot * E::SIZE as usize
    }

    /// Whether the file holds room for entries and nothing else. It ends in whole entries then, and they are zeros.
    pub fn is_unused(&self) -> bool {
        !self.bytes.is_empty()
            && self.bytes.len().is_multiple_of(E::SIZE as usize)
            && self.bytes.iter().all(|byte| *byte == 0)
    }

    /// What is wrong with the rest of the file, once the entries have ended.
    pub fn rest(&self) -> Option<Damage> {
        let position = self.reached();
        let rest = self.bytes.get(position..).unwrap_or(&[]);
        let left = rest.len() as u64;
        let fault = if self.ended {
            rest.iter().any(|byte| *byte != 0).then_some(Fault::BehindZeros)
        } else {
            (left > 0).then_some(Fault::PartEntry { left, size: E::SIZE })
        };
        Some(Damage {
            position: position as u64,
            fault: fault?,
        })
    }
}

impl<E: Entry> Iterator for Entries<'_, E> {
    type Item = (u64, E, i64);

    /// The next entry with its position in the file and the offset it names.
    fn next(&mut self) -> Option<Self::Item> {
        let position = self.reached();
        let bytes = self
            .bytes
            .get(position..position + E::SIZE as usize)
            .filter(|_| !self.ended)?;
        let entry = E::read(bytes);
        let relative = (self.relative_offset)(&entry);
        if relative == 0 && self.slot > 0 {
            self.ended = true;
            return None;
        }
        self.slot += 1;
        Some((position as u64, entry, self.base.wrapping_add(i64::from(relative))))
    }
}

/// Where an index entry does not lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// To a batch that ends with another offset.
    Other {
        /// That offset.
        last_offset: i64,
    },
    /// To no batch: the real tool gives up here, as at all that follow.
    Nowhere,
    /// To where the log breaks off, which is not the index's fault.
    Broken(Fault),
    /// To a batch of more bytes than the real tool reads, with which nothing is wrong.
    TooLong,
}

impl Miss {
    /// Whether the real tool gives up here.
    pub fn gives_up(&self) -> bool {
        !matches!(self, Miss::Other { .. })
    }
}

/// An entry of an offset index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its position in the index file.
    pub position: u64,
    /// The offset it names.
    pub offset: i64,
    /// The position in the log that it names.
    pub at: i32,
    /// Where it does not lead.
    pub miss: Option<Miss>,
    /// Offset and position of the entry before it, if this one is not above it in both.
    pub goes_back: Option<(i64, i32)>,
}

impl Checked {
    /// What is wrong with it, in a log of this length.
    pub fn damage(&self, log: u64) -> Option<Damage> {
        let (offset, at) = (self.offset, self.at);
        let fault = match (&self.miss, self.goes_back) {
            (Some(Miss::Other { last_offset }), _) => Fault::IndexMismatch {
                offset,
                at,
                found: *last_offset,
            },
            (Some(Miss::Nowhere), _) => Fault::IndexAstray { offset, at, log },
            (Some(Miss::Broken(fault)), _) => fault.clone(),
            (Some(Miss::TooLong) | None, previous) => Fault::IndexGoesBack {
                entry: (offset, at),
                previous: previous?,
            },
        };
        Some(Damage {
            position: self.position,
            fault,
        })
    }
}

/// The entries of an offset index, in file order.
#[derive(Debug)]
pub struct OffsetEntries<'a> {
    entries: Entries<'a, OffsetEntry>,
    previous: Option<(i64, i32)>,
}

impl<'a> OffsetEntries<'a> {
    /// The entries in the bytes of an index file.
    pub fn new(bytes: &'a [u8], base: i64) -> Self {
        Self {
            entries: Entries::of_offsets(bytes, base),
            previous: None,
        }
    }

    /// Whether the file holds no entry, not even one of zeros.
    pub fn is_empty(&self) -> bool {
        self.entries.bytes.len() < OffsetEntry::SIZE as usize
    }

    /// Whether the file is room made in advance and no entry yet.
    pub fn is_unused(&self) -> bool {
        self.entries.is_unused()
    }

    /// The next entry, held against the log.
    ///
    /// # Errors
    /// What keeps the log from being read.
    pub fn next<S: Source>(&mut self, log: &mut Scan<S>) -> Result<Option<Checked>, S::Error> {
        let Some((position, entry, offset)) = self.entries.next() else {
            return Ok(None);
        };
        let at = entry.position;
        let miss = match u64::try_from(at) {
            Ok(start) if start <= log.length() => {
                log.seek(start);
                match log.step_within(start + MAX_MESSAGE_SIZE)? {
                    Step::Batch(found) if found.header.last_offset() == offset => None,
                    Step::Batch(found) => Some(Miss::Other {
                        last_offset: found.header.last_offset(),
                    }),
                    Step::End(_) => Some(nowhere(log, start)?),
                }
            }
            _ => Some(Miss::Nowhere),
        };
        let before = self.previous.replace((offset, at));
        Ok(Some(Checked {
            position,
            offset,
            at,
            miss,
            goes_back: before.filter(|&before| goes_back(before, (offset, at))),
        }))
    }

    /// What is wrong behind the last entry.
    pub fn rest(&self) -> Option<Damage> {
        self.entries.rest()
    }
}

/// Why no batch was read at a position: what a walk from the log's first byte on comes to there.
fn nowhere<S: Source>(log: &mut Scan<S>, at: u64) -> Result<Miss, S::Error> {
    log.seek(0);
    loop {
        match log.step()? {
            Step::Batch(found) if found.position == at => return Ok(Miss::TooLong),
            Step::Batch(found) if found.position > at => return Ok(Miss::Nowhere),
            Step::Batch(_) => {}
            Step::End(ending) => {
                let here = matches!(ending, Ending::Broken { position, zeros: false, .. } if position == at);
                let fault = broken(ending).filter(|_| here);
                return Ok(fault.map_or(Miss::Nowhere, |(_, fault)| Miss::Broken(fault)));
            }
        }
    }
}

/// Whether an entry of an offset index, as offset and position, does not stand above the one before it.
pub fn goes_back(before: (i64, i32), entry: (i64, i32)) -> bool {
    entry.0 <= before.0 || entry.1 <= before.1
}

/// A segment as its time index sees it: the log, and the offset index that leads into it.
#[derive(Debug)]
pub struct LogOfIndex<S> {
    scan: Scan<S>,
    index: OffsetIndex,
    /// Where batches begin that the offset index names, and how the log ends when it is read from one of those.
    sound: Option<(BTreeSet<u64>, Ending)>,
    /// The same for the last other place.
    astray: Option<(u64, Ending)>,
}

impl<S: Source> LogOfIndex<S> {
    /// A log with the bytes of its offset index; none are as good as an empty index.
    pub fn new(log: S, index: &[u8], base: i64) -> Self {
        Self {
            scan: Scan::new(log),
            index: OffsetIndex::open(base, &file_of(index)),
            sound: None,
            astray: None,
        }
    }

    /// How the log ends, read from a position on.
    fn ending(&mut self, position: u64) -> Result<Ending, S::Error> {
        if self.sound.is_none() {
            let named: BTreeSet<u64> = self
                .index
                .entries()
                .filter_map(|entry| u64::try_from(entry.position).ok())
                .chain([0])
                .collect();
            let mut begun = BTreeSet::new();
            self.scan.seek(0);
            let ending = loop {
                match self.scan.step()? {
                    Step::Batch(found) if named.contains(&found.position) => {
                        begun.insert(found.position);
                    }
                    Step::Batch(_) => {}
                    Step::End(ending) => break ending,
                }
            };
            self.sound = Some((begun, ending));
        }
        if let Some((begun, ending)) = &self.sound
            && begun.contains(&position)
        {
            return Ok(*ending);
        }
        if let Some((at, ending)) = self.astray
            && at == position
        {
            return Ok(ending);
        }
        self.scan.seek(position);
        let ending = loop {
            if let Step::End(ending) = self.scan.step()? {
                break ending;
            }
        };
        self.astray = Some((position, ending));
        Ok(ending)
    }

    /// Whether a batch begins at a position that the offset index names, when the log is read from its first byte on.
    fn begins(&mut self, position: u64) -> Result<bool, S::Error> {
        self.ending(0)?;
        Ok(self.sound.as_ref().is_some_and(|(begun, _)| begun.contains(&position)))
    }

    /// The entry of the offset index that leads to a position, as its place in that file.
    fn entry_for(&self, at: i32) -> Option<u64> {
        let slot = self.index.entries().position(|entry| entry.position == at)?;
        Some(slot as u64 * u64::from(OffsetEntry::SIZE))
    }

    /// The first batch from a position on that reaches an offset.
    fn reaching(&mut self, position: u64, offset: i64) -> Result<Option<Found>, S::Error> {
        self.scan.seek(position);
        loop {
            match self.scan.step()? {
                Step::Batch(found) if found.header.last_offset() >= offset => return Ok(Some(found)),
                Step::Batch(_) => {}
                Step::End(_) => return Ok(None),
            }
        }
    }

    /// The greatest timestamp of a batch's records, −1 if there is none; `None` if they cannot be read.
    fn greatest_timestamp(&mut self, found: &Found) -> Result<Option<i64>, S::Error> {
        let bytes = self.scan.bytes(found)?;
        let header: &BatchHeader = &found.header;
        Ok(match open(header, bytes) {
            Ok(records) => Records::new(header, &records)
                .try_fold(-1, |greatest: i64, record| Some(greatest.max(record.ok()?.timestamp))),
            Err(Closed::NotHere(_)) => Some(header.max_timestamp),
            Err(_) => None,
        })
    }
}

/// The file of an index, with the room that was made in advance as a number.
fn file_of(index: &[u8]) -> File {
    let written = index.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (written, zeros) = index.split_at(written);
    let extents = vec![Extent::Bytes(written.into()), Extent::Zeros(zeros.len() as u64)];
    File::new(extents, None, 0)
}

/// What an entry of a time index leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeFound {
    /// A batch that ends with the offset in the entry.
    Batch {
        /// The greatest timestamp of its records, −1 where a cleaner has left none.
        of_records: i64,
        /// The greatest timestamp as its header has it.
        of_header: i64,
    },
    /// No such batch: the first that reaches the offset ends with another one, or none reaches it.
    NotFound {
        /// That other offset.
        last_offset: Option<i64>,
    },
    /// The look-up fails, and the real tool gives up here: the log breaks off, or the records cannot be read.
    Broken(Fault),
}

/// An entry of a time index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedTime {
    /// Its position in the index file.
    pub position: u64,
    /// The timestamp it names.
    pub timestamp: i64,
    /// The offset it names.
    pub offset: i64,
    /// What it leads to, by way of the offset index: so the real tool looks.
    pub found: TimeFound,
    /// What it leads to in the log itself.
    pub truth: TimeFound,
    /// What is wrong with the offset index, where that keeps it from being found.
    pub misled: Option<Damage>,
    /// The timestamp of the entry before it, if this one is not above it.
    pub goes_back: Option<i64>,
    /// The offset of the entry before it, if this one is below it; the real tool does not look.
    pub offset_goes_back: Option<i64>,
}

impl CheckedTime {
    /// What is wrong with it: not what is wrong with the offset index. A batch without records still has its greatest
    /// timestamp in its header, and that is what the index was made of.
    pub fn damage(&self) -> Option<Damage> {
        let &CheckedTime {
            position,
            timestamp,
            offset,
            ref truth,
            goes_back,
            offset_goes_back,
            ..
        } = self;
        let fault = match truth {
            TimeFound::Broken(fault) => fault.clone(),
            TimeFound::NotFound { last_offset } => Fault::TimeOffset {
                offset,
                found: *last_offset,
            },
            TimeFound::Batch { of_header, .. } if *of_header != timestamp => Fault::TimeMismatch {
                timestamp,
                found: *of_header,
            },
            TimeFound::Batch { .. } => match (goes_back, offset_goes_back) {
                (Some(previous), _) => Fault::TimeGoesBack { timestamp, previous },
                (None, previous) => Fault::TimeOffsetGoesBack {
                    offset,
                    previous: previous?,
                },
            },
        };
        Some(Damage { position, fault })
    }
}

/// The entries of a time index, in file order.
#[derive(Debug)]
pub struct TimeEntries<'a> {
    entries: Entries<'a, TimeEntry>,
    /// Timestamp and offset of the entry before.
    previous: (i64, i64),
}

impl<'a> TimeEntries<'a> {
    /// The entries in the bytes of an index file.
    pub fn new(bytes: &'a [u8], base: i64) -> Self {
        Self {
            entries: Entries::of_times(bytes, base),
            previous: (-1, -1),
        }
    }

    /// Whether the file is room made in advance and no entry yet.
    pub fn is_unused(&self) -> bool {
        self.entries.is_unused()
    }

    /// The next entry, held against the log.
    ///
    /// # Errors
    /// What keeps the log from being read.
    pub fn next<S: Source>(&mut self, log: &mut LogOfIndex<S>) -> Result<Option<CheckedTime>, S::Error> {
        let Some((position, entry, offset)) = self.entries.next() else {
            return Ok(None);
        };
        let timestamp = entry.timestamp;
        let (found, at) = look_up(log, offset)?;
        let (truth, misled) = held_against(log, offset, &found, at)?;
        let before = std::mem::replace(&mut self.previous, (timestamp, offset));
        Ok(Some(CheckedTime {
            position,
            timestamp,
            offset,
            found,
            truth,
            misled,
            goes_back: (before.0 >= timestamp).then_some(before.0),
            offset_goes_back: (before.1 > offset).then_some(before.1),
        }))
    }

    /// What is wrong behind the last entry.
    pub fn rest(&self) -> Option<Damage> {
        self.entries.rest()
    }
}

/// What the real tool finds, and from which position on it looks.
fn look_up<S: Source>(log: &mut LogOfIndex<S>, offset: i64) -> Result<(TimeFound, i32), S::Error> {
    let at = log.index.lookup(offset);
    let length = log.scan.length();
    let Some(start) = u64::try_from(at).ok().filter(|start| *start <= length) else {
        let astray = Fault::IndexAstray {
            offset,
            at,
            log: length,
        };
        return Ok((TimeFound::Broken(astray), at));
    };
    // The real tool reads all batches from there on before it looks at one.
    let found = match broken(log.ending(start)?) {
        Some((why, fault)) if why != Malformed::Incomplete => TimeFound::Broken(fault),
        _ => found_from(log, start, offset)?.0,
    };
    Ok((found, at))
}

/// What is in the log itself, and what is wrong with the offset index if that hides it.
fn held_against<S: Source>(
    log: &mut LogOfIndex<S>,
    offset: i64,
    found: &TimeFound,
    at: i32,
) -> Result<(TimeFound, Option<Damage>), S::Error> {
    let led_well = match u64::try_from(at) {
        Ok(start) => log.begins(start)?,
        Err(_) => false,
    };
    match found {
        TimeFound::Batch { .. } => return Ok((found.clone(), None)),
        // The log is to blame, wherever the look-up begins.
        TimeFound::Broken(_) if led_well => return Ok((found.clone(), None)),
        _ => {}
    }
    let (truth, batch) = found_from(log, 0, offset)?;
    let truth = match (truth, broken(log.ending(0)?)) {
        (TimeFound::NotFound { last_offset: None }, Some((_, fault))) => TimeFound::Broken(fault),
        (truth, _) => truth,
    };
    let exact = matches!(
        truth,
        TimeFound::Batch { .. } | TimeFound::Broken(Fault::UnreadableBatch { .. })
    );
    let misled = batch.filter(|_| exact).and_then(|batch| {
        let position = log.entry_for(at)?;
        let fault = Fault::IndexMisleads { offset, at, batch };
        Some(Damage { position, fault })
    });
    Ok((truth, misled))
}

/// How a log breaks off, if it does.
fn broken(ending: Ending) -> Option<(Malformed, Fault)> {
    let Ending::Broken {
        position,
        left,
        claimed,
        why,
        ..
    } = ending
    else {
        return None;
    };
    let fault = Fault::LogBroken {
        at: position,
        left,
        claimed,
        why,
    };
    Some((why, fault))
}

/// What a walk from a position on finds for an offset, and where that batch begins.
fn found_from<S: Source>(
    log: &mut LogOfIndex<S>,
    start: u64,
    offset: i64,
) -> Result<(TimeFound, Option<u64>), S::Error> {
    let Some(found) = log.reaching(start, offset)? else {
        return Ok((TimeFound::NotFound { last_offset: None }, None));
    };
    let last_offset = found.header.last_offset();
    let what = if last_offset != offset {
        TimeFound::NotFound {
            last_offset: Some(last_offset),
        }
    } else {
        match log.greatest_timestamp(&found)? {
            Some(of_records) => TimeFound::Batch {
                of_records,
                of_header: found.header.max_timestamp,
            },
            None => TimeFound::Broken(Fault::UnreadableBatch {
                base_offset: found.header.base_offset,
            }),
        }
    };
    Ok((what, Some(found.position)))
}
