//! Fingerprints: one canonical 128-bit number for a piece of the model.
//!
//! Two worlds are compared, and found again, by these numbers, so they must be the same on every
//! machine and on wasm. Therefore everything is written with a fixed width, lengths as 64 bits, and no derived
//! `Hash` (whose layout follows `usize`) takes part.
//!
//! Deliberately absent: hashing of bookkeeping, of wall-clock deadlines made relative (the caller's business), and
//! any protection against an adversary.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_128;

/// How many bytes an encoder has room for before it grows: an ordinary piece of a model.
const ROOM: usize = 512;

/// How many rooms are kept: as many as pieces lie within one another.
const KEPT: usize = 8;

/// How large a room may be that is kept.
const LARGEST: usize = 64 * 1024;

thread_local! {
    /// The rooms of encoders that are done: a state has several encoders, and each would ask for cleared memory of its own.
    static ROOMS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Collects the canonical encoding of a model, then hashes it.
///
/// A number is stored into room that is there already. Appended to a vector it would be copied by a call, which in a
/// browser costs more than all else that a fingerprint does.
#[derive(Clone, Debug)]
pub struct Encoder {
    /// What was written, and room for more after it, where anything may lie.
    bytes: Vec<u8>,
    /// How many of the bytes were written.
    written: usize,
}

macro_rules! fixed_width {
    ($($(#[$doc:meta])* $name:ident: $type:ty),* $(,)?) => {
        $($(#[$doc])* pub fn $name(&mut self, value: $type) { self.put(value.to_le_bytes()); })*
    };
}

impl Encoder {
    /// An empty encoder, with room for an ordinary piece of a model.
    pub fn new() -> Self {
        let kept = ROOMS.with_borrow_mut(Vec::pop);
        Self {
            bytes: kept.unwrap_or_else(|| vec![0; ROOM]),
            written: 0,
        }
    }

    fn put<const N: usize>(&mut self, value: [u8; N]) {
        loop {
            if let Some(room) = self.bytes[self.written..].first_chunk_mut() {
                *room = value;
                self.written += N;
                return;
            }
            self.grow(N);
        }
    }

    /// Makes room for this many bytes more, and for as many as there are, so that growing stays rare.
    #[cold]
    fn grow(&mut self, more: usize) {
        self.bytes.resize(self.bytes.len() * 2 + more, 0);
    }

    fixed_width! {
        /// Writes one byte.
        u8: u8,
        /// Writes two bytes.
        u16: u16,
        /// Writes four bytes.
        u32: u32,
        /// Writes eight bytes.
        u64: u64,
        /// Writes sixteen bytes, for example the fingerprint of a part.
        u128: u128,
        /// Writes two bytes.
        i16: i16,
        /// Writes four bytes.
        i32: i32,
        /// Writes eight bytes.
        i64: i64,
    }

    /// Writes a length in 64 bits, whatever `usize` is here.
    pub fn len(&mut self, value: usize) {
        self.u64(value as u64);
    }

    /// Writes a byte string with its length before it.
    pub fn bytes(&mut self, value: &[u8]) {
        self.len(value.len());
        let end = self.written + value.len();
        if end > self.bytes.len() {
            self.grow(value.len());
        }
        self.bytes[self.written..end].copy_from_slice(value);
        self.written = end;
    }

    /// Writes a text with its length before it.
    pub fn str(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// Writes a presence mark and, when there is one, the value.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.u8(0),
            Some(value) => {
                self.u8(1);
                write(self, value);
            }
        }
    }

    /// The fingerprint of everything written so far.
    pub fn digest(&self) -> u128 {
        xxh3_128(&self.bytes[..self.written])
    }

    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.written = 0;
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        let room = std::mem::take(&mut self.bytes);
        // A thread that ends has no place for rooms any more.
        let _ = ROOMS.try_with(|rooms| {
            let mut rooms = rooms.borrow_mut();
            if rooms.len() < KEPT && room.len() <= LARGEST {
                rooms.push(room);
            }
        });
    }
}

/// What has a canonical encoding.
pub trait Fingerprint {
    /// Writes the canonical encoding of this value.
    fn fingerprint(&self, encoder: &mut Encoder);

    /// The 128-bit fingerprint of this value alone.
    fn digest(&self) -> u128 {
        let mut encoder = Encoder::new();
        self.fingerprint(&mut encoder);
        encoder.digest()
    }
}

/// A value with its fingerprint remembered until the value is borrowed mutably.
#[derive(Clone, Debug, Default)]
pub struct Cached<T> {
    value: T,
    digest: OnceLock<u128>,
}

impl<T> Cached<T> {
    /// Wraps a value; its fingerprint is computed when first asked for.
    pub fn new(value: T) -> Self {
        Self {
            value,
            digest: OnceLock::new(),
        }
    }

    /// Gives the value back.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: Fingerprint> Cached<T> {
    /// The fingerprint of the value, computed at most once between two changes.
    pub fn digest(&self) -> u128 {
        *self.digest.get_or_init(|| self.value.digest())
    }
}

impl<T> Deref for Cached<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Cached<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.digest = OnceLock::new();
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_encoder_before_wrote_counts_for_nothing() {
        let digest = |written: &[&[u8]]| {
            let mut encoder = Encoder::new();
            written.iter().for_each(|bytes| encoder.bytes(bytes));
            encoder.digest()
        };
        let (none, one) = (digest(&[]), digest(&[b"one"]));
        assert_eq!(none, xxh3_128(&[]));
        digest(&[&[b'x'; 2 * ROOM], b"two"]);
        digest(&[&[b'x'; 2 * LARGEST]]);
        assert_eq!((digest(&[]), digest(&[b"one"])), (none, one));
    }
}
