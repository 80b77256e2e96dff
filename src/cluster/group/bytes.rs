//! Kafka's encoding of messages, as far as the records of `__consumer_offsets` need it.
//!
//! Before flexible versions a text has its length as two bytes; in them lengths are varints one too large (0 is null), and
//! fields that may be missing follow at the end with a number each, a *tag*. Mirrors `ByteBufferAccessor`.

use std::sync::Arc;

/// Bytes under way.
#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn i8(&mut self, value: i8) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn i16(&mut self, value: i16) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn i32(&mut self, value: i32) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn i64(&mut self, value: i64) -> &mut Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn text(&mut self, value: &str) -> &mut Self {
        self.i16(value.len() as i16).0.extend_from_slice(value.as_bytes());
        self
    }

    pub(super) fn maybe_text(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.i16(-1),
        }
    }

    pub(super) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.i32(value.len() as i32).0.extend_from_slice(value);
        self
    }

    pub(super) fn uuid(&mut self, value: [u8; 16]) -> &mut Self {
        self.0.extend_from_slice(&value);
        self
    }

    fn varint(&mut self, mut value: u32) -> &mut Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    /// The length of an array in a flexible version.
    pub(super) fn count(&mut self, count: usize) -> &mut Self {
        self.varint(count as u32 + 1)
    }

    /// A text in a flexible version.
    pub(super) fn compact(&mut self, value: &str) -> &mut Self {
        self.count(value.len()).0.extend_from_slice(value.as_bytes());
        self
    }

    /// A text in a flexible version, or null.
    pub(super) fn compact_maybe(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.compact(value),
            None => self.varint(0),
        }
    }

    /// No tagged field.
    pub(super) fn no_tags(&mut self) -> &mut Self {
        self.varint(0)
    }

    /// The tagged field 0, and no other.
    pub(super) fn tag(&mut self, value: &[u8]) -> &mut Self {
        self.varint(1).varint(0).varint(value.len() as u32);
        self.0.extend_from_slice(value);
        self
    }

    /// The tagged field 0 as a number, left out when it is 0.
    pub(super) fn tag_i64(&mut self, value: i64) -> &mut Self {
        if value == 0 {
            self.no_tags()
        } else {
            self.tag(&value.to_be_bytes())
        }
    }
}

/// Bytes to be read; `None` where they end too early or make no sense.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn i8(&mut self) -> Option<i8> {
        self.array().map(i8::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Option<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_be_bytes)
    }

    pub(super) fn uuid(&mut self) -> Option<[u8; 16]> {
        self.array()
    }

    fn utf8(&mut self, length: usize) -> Option<Arc<str>> {
        std::str::from_utf8(self.take(length)?).ok().map(Arc::from)
    }

    pub(super) fn maybe_text(&mut self) -> Option<Option<Arc<str>>> {
        match usize::try_from(self.i16()?) {
            Ok(length) => self.utf8(length).map(Some),
            Err(_) => Some(None),
        }
    }

    pub(super) fn text(&mut self) -> Option<Arc<str>> {
        self.maybe_text()?
    }

    pub(super) fn bytes(&mut self) -> Option<Reader<'a>> {
        let length = usize::try_from(self.i32()?).unwrap_or(0);
        self.take(length).map(Reader)
    }

    fn varint(&mut self) -> Option<u32> {
        let mut value = 0;
        for shift in (0..32).step_by(7) {
            let byte = u32::from(self.take(1)?[0]);
            value |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The length of an array in a flexible version.
    pub(super) fn count(&mut self) -> Option<usize> {
        self.varint()?.checked_sub(1).map(|count| count as usize)
    }

    /// A text in a flexible version.
    pub(super) fn compact(&mut self) -> Option<Arc<str>> {
        self.compact_maybe()?
    }

    /// A text in a flexible version, or null.
    pub(super) fn compact_maybe(&mut self) -> Option<Option<Arc<str>>> {
        match self.varint()? {
            0 => Some(None),
            length => self.utf8(length as usize - 1).map(Some),
        }
    }

    /// The tagged field 0, if it is there; others are passed over.
    pub(super) fn tag(&mut self) -> Option<Option<Reader<'a>>> {
        let mut first = None;
        for _ in 0..self.varint()? {
            let (tag, length) = (self.varint()?, self.varint()?);
            let value = Reader(self.take(length as usize)?);
            if tag == 0 {
                first = Some(value);
            }
        }
        Some(first)
    }

    /// The tagged field 0 as a number, 0 when it is left out.
    pub(super) fn tag_i64(&mut self) -> Option<i64> {
        match self.tag()? {
            Some(mut value) => value.i64(),
            None => Some(0),
        }
    }
}
