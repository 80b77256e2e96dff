//! A walk through a segment, batch by batch, in constant memory.
//!
//! Mirrors `FileLogInputStream`. Only the framing is followed; the bytes of a batch are fetched when they are asked for.

use crate::log::{BatchHeader, HEADER_SIZE_UP_TO_MAGIC, LOG_OVERHEAD, Malformed, RECORD_BATCH_OVERHEAD};

use super::damage::{Damage, Fault};

/// How much of a source is fetched at once.
const CHUNK: u64 = 256 * 1024;

/// Bytes that can be read at any position: a slice, a file, a part of one.
pub trait Source {
    /// Why bytes could not be fetched.
    type Error;

    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `into` with the bytes from a position on. The caller stays below [`len`](Self::len).
    ///
    /// # Errors
    /// What keeps the bytes from being read.
    fn read_at(&mut self, position: u64, into: &mut [u8]) -> Result<(), Self::Error>;
}

impl Source for &[u8] {
    type Error = std::convert::Infallible;

    fn len(&self) -> u64 {
        (**self).len() as u64
    }

    fn read_at(&mut self, position: u64, into: &mut [u8]) -> Result<(), Self::Error> {
        let from = usize::try_from(position).unwrap_or(usize::MAX);
        if let Some(bytes) = self.get(from..).and_then(|rest| rest.get(..into.len())) {
            into.copy_from_slice(bytes);
        }
        Ok(())
    }
}

/// A batch in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The position of its first byte.
    pub position: u64,
    /// Its header.
    pub header: BatchHeader,
}

impl Found {
    /// The position behind its last byte.
    pub fn end(&self) -> u64 {
        self.position + u64::from(self.header.size_in_bytes())
    }
}

/// How the batches of a file end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the file.
    Whole,
    /// Before the file does.
    Broken {
        /// Where no batch could be read any more.
        position: u64,
        /// The bytes from there to the end of the file.
        left: u64,
        /// The bytes that its batch would take by its length field, where the file ends before the batch does.
        claimed: Option<u64>,
        /// Why not.
        why: Malformed,
        /// Whether all these bytes are zero.
        zeros: bool,
    },
}

impl Ending {
    /// The bytes that belong to no batch.
    pub fn bytes_left(&self) -> u64 {
        match self {
            Ending::Whole => 0,
            Ending::Broken { left, .. } => *left,
        }
    }

    /// What is wrong with them.
    pub fn damage(&self) -> Option<Damage> {
        let Ending::Broken {
            position,
            left,
            claimed,
            why,
            zeros,
        } = *self
        else {
            return None;
        };
        let fault = if zeros {
            Fault::Zeros { left }
        } else {
            Fault::Framing { left, claimed, why }
        };
        Some(Damage { position, fault })
    }

    /// Whether Kafka's reader throws here, where others end in silence.
    pub fn throws(&self) -> bool {
        matches!(self, Ending::Broken { why, .. } if *why != Malformed::Incomplete)
    }
}

/// What comes next in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A batch.
    Batch(Found),
    /// Nothing more.
    End(Ending),
}

/// Bytes that make no batch, while it is looked whether they are zeros.
#[derive(Clone, Copy, Debug)]
struct Tail {
    position: u64,
    end: u64,
    claimed: Option<u64>,
    why: Malformed,
    /// Up to where they are.
    zeros: u64,
}

/// The bytes that a batch takes by its length field, if so much of it is there.
fn claimed_size(front: &[u8]) -> Option<u64> {
    let length = front.get(LOG_OVERHEAD - 4..LOG_OVERHEAD)?;
    let length = i32::from_be_bytes(length.try_into().ok()?);
    Some(LOG_OVERHEAD as u64 + u64::try_from(length).ok()?)
}

/// A walk through a source.
#[derive(Debug)]
pub struct Scan<S> {
    source: S,
    position: u64,
    length: u64,
    /// What was fetched last, from `start` on.
    window: Vec<u8>,
    start: u64,
    /// The bytes behind the last batch, kept so that a walk which had to wait for more of them does not begin anew.
    tail: Option<Tail>,
}

impl<S: Source> Scan<S> {
    /// A walk from the first byte on.
    pub fn new(source: S) -> Self {
        let length = source.len();
        Self {
            source,
            position: 0,
            length,
            window: Vec::new(),
            start: 0,
            tail: None,
        }
    }

    /// What it walks through: one that did not have the bytes yet can be given them, and the walk goes on where it was.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// How long the source is.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Goes on from another position.
    pub fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// The next batch, or how it ends.
    ///
    /// # Errors
    /// What keeps the source from being read.
    pub fn step(&mut self) -> Result<Step, S::Error> {
        self.step_within(self.length)
    }

    /// The same, as if the file ended at `end`.
    pub(super) fn step_within(&mut self, end: u64) -> Result<Step, S::Error> {
        let (position, end) = (self.position, end.min(self.length));
        let left = end.saturating_sub(position);
        if left == 0 {
            return Ok(Step::End(Ending::Whole));
        }
        if let Some(tail) = self.tail
            && (tail.position, tail.end) == (position, end)
        {
            return self.ending(tail);
        }
        let front = self.window(position, left.min(HEADER_SIZE_UP_TO_MAGIC as u64))?;
        let framed = BatchHeader::frame(front, left);
        let claimed = (framed == Err(Malformed::Incomplete))
            .then(|| claimed_size(front))
            .flatten();
        let header = match framed {
            Ok(_) => BatchHeader::read(self.window(position, RECORD_BATCH_OVERHEAD as u64)?),
            Err(_) => None,
        };
        match (framed, header) {
            (Ok(size), Some(header)) => {
                self.position += size;
                Ok(Step::Batch(Found { position, header }))
            }
            (framed, _) => self.ending(Tail {
                position,
                end,
                claimed,
                why: framed.err().unwrap_or(Malformed::ShortHeader),
                zeros: position,
            }),
        }
    }

    /// All bytes of a batch.
    ///
    /// # Errors
    /// What keeps the source from being read.
    pub fn bytes(&mut self, found: &Found) -> Result<&[u8], S::Error> {
        self.window(found.position, u64::from(found.header.size_in_bytes()))
    }

    /// So many bytes from a position on, all of which the source has.
    fn window(&mut self, position: u64, length: u64) -> Result<&[u8], S::Error> {
        let have = self.start..=self.start + self.window.len() as u64;
        if !have.contains(&position) || !have.contains(&(position + length)) {
            let fetch = length.max(CHUNK.min(self.length - position)) as usize;
            self.window.resize(fetch, 0);
            self.start = position;
            if let Err(error) = self.source.read_at(position, &mut self.window) {
                self.window.clear();
                return Err(error);
            }
        }
        let from = (position - self.start) as usize;
        Ok(&self.window[from..from + length as usize])
    }

    /// The end of a walk in bytes that make no batch.
    fn ending(&mut self, mut tail: Tail) -> Result<Step, S::Error> {
        while tail.zeros < tail.end {
            self.tail = Some(tail);
            let part = CHUNK.min(tail.end - tail.zeros);
            if self.window(tail.zeros, part)?.iter().any(|byte| *byte != 0) {
                break;
            }
            tail.zeros += part;
        }
        self.tail = None;
        Ok(Step::End(Ending::Broken {
            position: tail.position,
            left: tail.end - tail.position,
            claimed: tail.claimed,
            why: tail.why,
            zeros: tail.zeros == tail.end,
        }))
    }
}
