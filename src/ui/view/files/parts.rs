//! What a file is made of.

use std::rc::Rc;

use crate::inspect::{
    Codec, Damage, Ending, Entries, Fault, FileKind, Found, Scan, Source, Step, goes_back, line_start, properties,
};
use crate::log::snapshot::{self, ENTRY_SIZE, HEADER};
use crate::log::{AbortedTxn, BatchHeader, Entry, Extent, File, Files, checkpoint};
use crate::ui::view::files::folder::kind_of;

/// The largest index, snapshot or checkpoint that is read whole, and the largest batch whose checksum is computed.
pub const MOST_IN_MEMORY: u64 = 64 << 20;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// A batch of records.
    Batch {
        /// Its first offset.
        base: i64,
        /// Its last offset.
        last: i64,
        /// The greatest timestamp in its header.
        timestamp: i64,
        /// How its records are compressed.
        codec: Codec,
        /// How many records its header says it has.
        count: i32,
    },
    /// An entry of an offset index.
    Offset {
        /// The last offset of a batch.
        offset: i64,
        /// Where that batch begins.
        at: i32,
    },
    /// An entry of a time index.
    Time {
        /// The greatest timestamp so far.
        timestamp: i64,
        /// The last offset of the batch that has it.
        offset: i64,
    },
    /// An aborted transaction: its producer and its marker's offset.
    Aborted(i64, i64),
    /// The head of a snapshot.
    Head,
    /// A producer in a snapshot.
    Producer(i64),
    /// The lines of a text file.
    Text,
    /// Room for more, all zeros.
    Room,
    /// Bytes that make no part.
    Rest,
}

/// A stretch of a file that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first byte.
    pub position: u64,
    /// Its bytes.
    pub length: u64,
    /// What it is.
    pub is: Is,
    /// Whether nothing is wrong with it.
    pub sound: bool,
}

impl Part {
    /// The position behind its last byte.
    pub fn end(&self) -> u64 {
        self.position + self.length
    }

    /// Its name on the picture.
    pub fn label(&self) -> String {
        match self.is {
            Is::Batch { base, last, .. } if base == last => base.to_string(),
            Is::Batch { base, last, .. } => format!("{base}–{last}"),
            Is::Offset { offset, at } => format!("{offset} → {at}"),
            Is::Time { timestamp, offset } => format!("{timestamp} → {offset}"),
            Is::Aborted(_, last) => format!("ends at {last}"),
            Is::Head => "head".to_owned(),
            Is::Producer(id) => format!("producer {id}"),
            Is::Text => "text".to_owned(),
            Is::Room => "room".to_owned(),
            Is::Rest => "no batch".to_owned(),
        }
    }

    /// What it is, in a sentence's words.
    pub fn words(&self) -> String {
        match self.is {
            Is::Batch { codec, .. } => match codec {
                Codec::None => format!("Batch {}", self.label()),
                codec => format!("Batch {}, {codec}", self.label()),
            },
            Is::Offset { .. } | Is::Time { .. } => format!("Entry {}", self.label()),
            Is::Aborted(producer, last) => format!("Transaction of producer {producer}, ended at {last}"),
            Is::Head => "Head of the snapshot".to_owned(),
            Is::Producer(id) => format!("Producer {id}"),
            Is::Text => "Lines".to_owned(),
            Is::Room => "Room for more entries".to_owned(),
            Is::Rest => "Bytes that make no batch or entry".to_owned(),
        }
    }
}

/// The parts of a file, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The bytes of the file.
    pub length: u64,
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// What is wrong, in order.
    pub damages: Vec<Damage>,
}

impl Parts {
    /// The part that holds a byte.
    pub fn at(&self, position: u64) -> Option<&Part> {
        let behind = self.parts.partition_point(|part| part.position <= position);
        self.parts.get(behind.checked_sub(1)?)
    }

    /// The batch that begins at a byte.
    fn batch_at(&self, position: i32) -> Option<&Part> {
        let position = u64::try_from(position).ok()?;
        self.at(position)
            .filter(|part| part.position == position && matches!(part.is, Is::Batch { .. }))
    }

    /// The first batch that reaches an offset. In a sound log batches are in order, so that it can be searched for.
    pub fn reaching(&self, offset: i64) -> Option<&Part> {
        let below = |part: &Part| matches!(part.is, Is::Batch { last, .. } if last < offset);
        let part = self.parts.get(self.parts.partition_point(below))?;
        matches!(part.is, Is::Batch { .. }).then_some(part)
    }

    fn add(&mut self, position: u64, length: u64, is: Is) {
        self.parts.push(Part {
            position,
            length,
            is,
            sound: true,
        });
    }

    fn damaged(&mut self, position: u64, fault: Fault) {
        if let Some(part) = self.parts.iter_mut().rfind(|part| part.position == position) {
            part.sound = false;
        }
        self.damages.push(Damage { position, fault });
    }

    /// Where in the log an entry leads.
    pub fn leads_to<'a>(entry: &Part, batches: &'a Parts) -> Option<&'a Part> {
        match entry.is {
            Is::Offset { at, .. } => batches.batch_at(at),
            Is::Time { offset, .. } => batches.reaching(offset),
            _ => None,
        }
    }

    /// Whether its batches break off before a place within the file.
    fn breaks_off_before(&self, at: i32) -> bool {
        let rest = self.parts.last().filter(|part| part.is == Is::Rest);
        let within = |rest: &Part| u64::try_from(at).is_ok_and(|at| at > rest.position && at < rest.end());
        rest.is_some_and(within)
    }

    /// How they break off, for whoever looks there.
    fn breaks_off(&self) -> Option<Fault> {
        self.damages.iter().find_map(|damage| match damage.fault {
            Fault::Framing { left, claimed, why } => Some(Fault::LogBroken {
                at: damage.position,
                left,
                claimed,
                why,
            }),
            _ => None,
        })
    }

    /// Holds the entries of an index against the batches of its log.
    pub fn hold_against(&mut self, batches: &Parts) {
        let mut previous = (-1, -1);
        let mut before = None;
        for at in 0..self.parts.len() {
            let entry = self.parts[at];
            let found = Parts::leads_to(&entry, batches).map(|part| part.is);
            let fault = match (entry.is, found) {
                // Of what lies behind the break nothing is known here.
                (Is::Offset { at, .. }, None) if batches.breaks_off_before(at) => None,
                (Is::Offset { offset, at }, None) => Some(Fault::IndexAstray {
                    offset,
                    at,
                    log: batches.length,
                }),
                (Is::Offset { offset, at }, Some(Is::Batch { last, .. })) if last != offset => {
                    Some(Fault::IndexMismatch {
                        offset,
                        at,
                        found: last,
                    })
                }
                (Is::Offset { offset, at }, _) if before.is_some_and(|before| goes_back(before, (offset, at))) => {
                    before.map(|previous| Fault::IndexGoesBack {
                        entry: (offset, at),
                        previous,
                    })
                }
                (Is::Time { offset, .. }, None) => {
                    let unreached = Fault::TimeOffset { offset, found: None };
                    Some(batches.breaks_off().unwrap_or(unreached))
                }
                (Is::Time { offset, .. }, Some(Is::Batch { last, .. })) if last != offset => Some(Fault::TimeOffset {
                    offset,
                    found: Some(last),
                }),
                (Is::Time { timestamp, .. }, Some(Is::Batch { timestamp: found, .. })) if found != timestamp => {
                    Some(Fault::TimeMismatch { timestamp, found })
                }
                (Is::Time { timestamp, .. }, _) if previous.0 >= timestamp => Some(Fault::TimeGoesBack {
                    timestamp,
                    previous: previous.0,
                }),
                (Is::Time { offset, .. }, _) if previous.1 > offset => Some(Fault::TimeOffsetGoesBack {
                    offset,
                    previous: previous.1,
                }),
                _ => None,
            };
            match entry.is {
                Is::Time { timestamp, offset } => previous = (timestamp, offset),
                Is::Offset { offset, at } => before = Some((offset, at)),
                _ => {}
            }
            if let Some(fault) = fault {
                self.damaged(entry.position, fault);
            }
        }
    }
}

/// Bytes that a walk cannot go on without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The first of them.
    pub position: u64,
    /// How many.
    pub length: u64,
}

/// A piece of a file; what lies outside it is asked for.
#[derive(Debug)]
struct Piece {
    length: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Source for Piece {
    type Error = Wanted;

    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, position: u64, into: &mut [u8]) -> Result<(), Wanted> {
        let wanted = Wanted {
            position,
            length: into.len() as u64,
        };
        let from = position.checked_sub(self.start).ok_or(wanted)? as usize;
        let held = self.bytes.get(from..).and_then(|rest| rest.get(..into.len()));
        into.copy_from_slice(held.ok_or(wanted)?);
        Ok(())
    }
}

/// A walk through a segment whose bytes come piece by piece.
#[derive(Debug)]
pub struct LogWalk {
    scan: Scan<Piece>,
    /// The lowest offset that may come next.
    expected: i64,
    /// The batch whose checksum is still to be computed.
    pending: Option<Found>,
    /// What was found so far.
    pub found: Parts,
}

impl LogWalk {
    /// A walk from the first byte of a file on.
    pub fn new(base: i64, length: u64) -> LogWalk {
        let piece = Piece {
            length,
            start: 0,
            bytes: Vec::new(),
        };
        LogWalk {
            scan: Scan::new(piece),
            expected: base,
            pending: None,
            found: Parts {
                length,
                ..Parts::default()
            },
        }
    }

    /// Gives it the bytes that it asked for.
    pub fn hold(&mut self, start: u64, bytes: Vec<u8>) {
        let piece = self.scan.source_mut();
        piece.start = start;
        piece.bytes = bytes;
    }

    /// Goes on as far as the bytes reach. Says what it needs next; nothing once it is through.
    pub fn go(&mut self) -> Option<Wanted> {
        self.walk().err()
    }

    fn walk(&mut self) -> Result<(), Wanted> {
        loop {
            if let Some(found) = self.pending {
                let computed = match found.end() - found.position {
                    size if size <= MOST_IN_MEMORY => Some(BatchHeader::checksum(self.scan.bytes(&found)?)),
                    _ => None,
                };
                self.pending = None;
                self.batch(&found, computed);
            }
            match self.scan.step()? {
                Step::Batch(found) => self.pending = Some(found),
                Step::End(ending) => {
                    self.end(&ending);
                    return Ok(());
                }
            }
        }
    }

    fn batch(&mut self, found: &Found, computed: Option<u32>) {
        let Found { position, header } = *found;
        let is = Is::Batch {
            base: header.base_offset,
            last: header.last_offset(),
            timestamp: header.max_timestamp,
            codec: Codec::of(&header),
            count: header.count,
        };
        self.found.add(position, u64::from(header.size_in_bytes()), is);
        let (base_offset, expected) = (header.base_offset, self.expected);
        if let Some(computed) = computed.filter(|computed| *computed != header.crc) {
            let stored = header.crc;
            let fault = Fault::Checksum {
                base_offset,
                stored,
                computed,
            };
            self.found.damaged(position, fault);
        }
        if base_offset < expected {
            self.found
                .damaged(position, Fault::OffsetGoesBack { base_offset, expected });
        }
        self.expected = expected.max(header.last_offset().saturating_add(1));
    }

    fn end(&mut self, ending: &Ending) {
        if let Ending::Broken { position, left, .. } = *ending {
            self.found.add(position, left, Is::Rest);
        }
        if let Some(Damage { position, fault }) = ending.damage() {
            self.found.damaged(position, fault);
        }
    }
}

/// The parts of a file that is held whole. `length` may be greater than the bytes by zeros at its end.
pub fn parts_of(kind: FileKind, bytes: &[u8], length: u64) -> Parts {
    let mut parts = Parts {
        length,
        ..Parts::default()
    };
    match kind {
        FileKind::Log { base } => {
            let mut walk = LogWalk::new(base, bytes.len() as u64);
            walk.hold(0, bytes.to_vec());
            walk.go();
            return walk.found;
        }
        FileKind::OffsetIndex { base } => {
            entries(&mut parts, bytes, Entries::of_offsets(bytes, base), |entry, offset| {
                let at = entry.position;
                Is::Offset { offset, at }
            })
        }
        FileKind::TimeIndex { base } => entries(&mut parts, bytes, Entries::of_times(bytes, base), |entry, offset| {
            let timestamp = entry.timestamp;
            Is::Time { timestamp, offset }
        }),
        FileKind::TxnIndex { base } => aborted(&mut parts, bytes, base),
        FileKind::Snapshot { .. } => producers(&mut parts, bytes),
        _ if length > 0 => text(&mut parts, kind, bytes),
        _ => {}
    }
    parts
}

/// An index's entry as the trait of both indexes has it.
fn entries<E: Entry>(parts: &mut Parts, bytes: &[u8], mut entries: Entries<'_, E>, is: fn(&E, i64) -> Is) {
    let size = u64::from(E::SIZE);
    if !entries.is_unused() {
        for (position, entry, offset) in entries.by_ref() {
            parts.add(position, size, is(&entry, offset));
        }
    }
    let end = parts.parts.last().map_or(0, Part::end);
    let room = bytes[end as usize..].iter().all(|byte| *byte == 0);
    let damage = entries.rest().filter(|_| !room);
    if end < parts.length {
        parts.add(end, parts.length - end, if room { Is::Room } else { Is::Rest });
    }
    if let Some(Damage { position, fault }) = damage {
        parts.damaged(position, fault);
    }
}

fn aborted(parts: &mut Parts, bytes: &[u8], base: i64) {
    for (at, entry) in bytes.chunks(AbortedTxn::SIZE).enumerate() {
        let (position, length) = ((at * AbortedTxn::SIZE) as u64, entry.len() as u64);
        match AbortedTxn::read(entry) {
            Some(aborted) => {
                let last_offset = aborted.last_offset;
                parts.add(position, length, Is::Aborted(aborted.producer_id, last_offset));
                if last_offset < base {
                    parts.damaged(position, Fault::TxnBelowBase { last_offset, base });
                }
            }
            None => {
                parts.add(position, parts.length - position, Is::Rest);
                let fault = match entry.first_chunk::<2>() {
                    Some(version) if entry.len() == AbortedTxn::SIZE => Fault::TxnVersion(i16::from_be_bytes(*version)),
                    _ => Fault::PartEntry {
                        left: length,
                        size: AbortedTxn::SIZE as u32,
                    },
                };
                parts.damaged(position, fault);
                return;
            }
        }
    }
}

fn producers(parts: &mut Parts, bytes: &[u8]) {
    match snapshot::read(bytes) {
        Ok(entries) => {
            parts.add(0, HEADER as u64, Is::Head);
            for (at, (id, _)) in entries.iter().enumerate() {
                let position = HEADER + at * ENTRY_SIZE;
                parts.add(position as u64, ENTRY_SIZE as u64, Is::Producer(*id));
            }
        }
        Err(why) => {
            parts.add(0, bytes.len() as u64, Is::Rest);
            parts.damaged(0, Fault::Snapshot(why));
        }
    }
}

fn text(parts: &mut Parts, kind: FileKind, bytes: &[u8]) {
    parts.add(0, bytes.len() as u64, Is::Text);
    let text = String::from_utf8_lossy(bytes);
    let wrong = match kind {
        FileKind::LeaderEpochs => checkpoint::read_epochs(&text).err(),
        FileKind::Offsets(_) => checkpoint::read_offsets(&text).err(),
        FileKind::PartitionMetadata | FileKind::MetaProperties => properties(kind, &text).err(),
        _ => None,
    };
    if let Some(checkpoint::Fault { line, expected }) = wrong {
        parts.damaged(line_start(&text, line), Fault::Line { line, expected });
    }
}

/// One file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its name.
    pub name: Rc<str>,
    /// Its kind.
    pub kind: FileKind,
    /// What it is made of.
    pub own: Parts,
    /// Of an index: the batches of the log beside it.
    pub log: Option<Parts>,
    /// Of a log: the entries of the offset index beside it.
    pub index: Option<Parts>,
    /// Its bytes, unless it is a log.
    pub whole: Rc<[u8]>,
}

impl Opened {
    /// Puts together what was read; entries are held against the log here.
    pub fn new(name: Rc<str>, kind: FileKind, own: Parts, log: Option<Parts>, index: Option<Parts>) -> Opened {
        let mut opened = Opened {
            name,
            kind,
            own,
            log,
            index,
            whole: Rc::default(),
        };
        match (&opened.log, &mut opened.index) {
            (Some(log), None) => opened.own.hold_against(log),
            (None, Some(index)) => index.hold_against(&opened.own),
            _ => {}
        }
        opened
    }

    /// The batches that are in view: its own, or those of the log beside it.
    pub fn batches(&self) -> Option<&Parts> {
        match self.kind {
            FileKind::Log { .. } => Some(&self.own),
            _ => self.log.as_ref(),
        }
    }

    /// The entries that lead into them.
    pub fn entries(&self) -> Option<&Parts> {
        match self.kind {
            FileKind::Log { .. } => self.index.as_ref(),
            _ => Some(&self.own),
        }
    }
}

/// The bytes of a simulated file without the zeros at its end, of which a preallocated index has ten megabytes.
fn content(file: &File) -> Vec<u8> {
    let end = file
        .extents()
        .iter()
        .rposition(|extent| !matches!(extent, Extent::Zeros(_)));
    let extents = file.extents()[..end.map_or(0, |end| end + 1)].to_vec();
    File::new(extents, None, 0).to_bytes()
}

/// Opens a file of a simulated replica.
///
/// # Errors
/// Why it cannot be shown.
pub fn open(files: &Files, name: &str) -> Result<Opened, String> {
    let file = files
        .get(name)
        .ok_or_else(|| format!("there is no {name} here any more"))?;
    let kind = kind_of(name)?;
    let read = |suffix: &str| {
        let beside = name.rsplit_once('.')?.0;
        let beside = format!("{beside}.{suffix}");
        let file = files.get(&beside)?;
        Some(parts_of(kind_of(&beside).ok()?, &content(file), file.len()))
    };
    let (log, index) = match kind {
        FileKind::Log { .. } => (None, read("index")),
        FileKind::OffsetIndex { .. } | FileKind::TimeIndex { .. } => (read("log"), None),
        _ => (None, None),
    };
    let bytes = match kind {
        FileKind::OffsetIndex { .. } | FileKind::TimeIndex { .. } => content(file),
        _ => file.to_bytes(),
    };
    let own = parts_of(kind, &bytes, file.len());
    Ok(Opened {
        whole: bytes.into(),
        ..Opened::new(name.into(), kind, own, log, index)
    })
}
