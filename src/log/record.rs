//! One record: what a producer sends, and its bytes inside a batch.
//!
//! Mirrors `DefaultRecord`. A record on disk is a length, an attribute byte, deltas of timestamp and offset against
//! its batch, key, value and headers, most numbers as [varints](super::varint). Deliberately absent: record-level
//! compression and the formats before magic 2, which no broker has written since 4.0.

use std::sync::Arc;

use super::varint;

/// Shared bytes of a key or a value.
pub type Bytes = Arc<[u8]>;

/// No timestamp: what a record says that carries none.
pub const NO_TIMESTAMP: i64 = -1;

/// The most that framing can add to the bytes of key, value and headers (`DefaultRecord.MAX_RECORD_OVERHEAD`).
pub const MAX_RECORD_OVERHEAD: usize = 21;

/// One header of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The header's name.
    pub key: Arc<str>,
    /// The header's value; `None` is null.
    pub value: Option<Bytes>,
}

/// A record as a producer hands it over; offsets are given by the log.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// `None` is a null key.
    pub key: Option<Bytes>,
    /// `None` is a null value: with a key, a tombstone.
    pub value: Option<Bytes>,
    /// Headers in order.
    pub headers: Vec<Header>,
    /// Milliseconds since 1970, or [`NO_TIMESTAMP`].
    pub timestamp: i64,
}

impl Record {
    /// A record without headers, from anything that is bytes.
    pub fn new(key: Option<&[u8]>, value: Option<&[u8]>, timestamp: i64) -> Self {
        Self {
            key: key.map(Bytes::from),
            value: value.map(Bytes::from),
            headers: Vec::new(),
            timestamp,
        }
    }

    fn content(&self) -> RecordView<'_> {
        RecordView {
            offset: 0,
            timestamp: self.timestamp,
            key: self.key.as_deref(),
            value: self.value.as_deref(),
            headers: self
                .headers
                .iter()
                .map(|header| HeaderView {
                    key: header.key.as_bytes(),
                    value: header.value.as_deref(),
                })
                .collect(),
        }
    }

    /// The exact bytes this record takes in a batch (`DefaultRecord.sizeInBytes`).
    pub fn size_in_bytes(&self, offset_delta: i32, timestamp_delta: i64) -> usize {
        self.content().size_in_bytes(offset_delta, timestamp_delta)
    }

    /// The most bytes it can take, whatever its deltas (`DefaultRecord.recordSizeUpperBound`).
    pub fn size_upper_bound(&self) -> usize {
        MAX_RECORD_OVERHEAD + self.content().content_size()
    }

    /// Appends this record's bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>, offset_delta: i32, timestamp_delta: i64) {
        self.content().write(out, offset_delta, timestamp_delta);
    }
}

/// One header, borrowed from a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderView<'a> {
    /// The header's name, UTF-8 in sound files.
    pub key: &'a [u8],
    /// The header's value; `None` is null.
    pub value: Option<&'a [u8]>,
}

/// A record inside a batch, borrowed from the batch's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// The record's offset in the partition.
    pub offset: i64,
    /// Its timestamp; in a batch with LogAppendTime, the batch's.
    pub timestamp: i64,
    /// `None` is a null key.
    pub key: Option<&'a [u8]>,
    /// `None` is a null value.
    pub value: Option<&'a [u8]>,
    /// Headers in order.
    pub headers: Vec<HeaderView<'a>>,
}

impl<'a> RecordView<'a> {
    /// The record with bytes of its own.
    pub fn to_record(&self) -> Record {
        let headers = self.headers.iter().map(|header| Header {
            key: String::from_utf8_lossy(header.key).into(),
            value: header.value.map(Bytes::from),
        });
        Record {
            key: self.key.map(Bytes::from),
            value: self.value.map(Bytes::from),
            headers: headers.collect(),
            timestamp: self.timestamp,
        }
    }

    fn content_size(&self) -> usize {
        let headers = self
            .headers
            .iter()
            .map(|header| field_size(Some(header.key)) + field_size(header.value));
        field_size(self.key) + field_size(self.value) + varint::size(self.headers.len() as i64) + headers.sum::<usize>()
    }

    fn body_size(&self, offset_delta: i32, timestamp_delta: i64) -> usize {
        1 + varint::size(timestamp_delta) + varint::size(i64::from(offset_delta)) + self.content_size()
    }

    pub(crate) fn size_in_bytes(&self, offset_delta: i32, timestamp_delta: i64) -> usize {
        let body = self.body_size(offset_delta, timestamp_delta);
        varint::size(body as i64) + body
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, offset_delta: i32, timestamp_delta: i64) {
        varint::write(out, self.body_size(offset_delta, timestamp_delta) as i64);
        out.push(0);
        varint::write(out, timestamp_delta);
        varint::write(out, i64::from(offset_delta));
        write_field(out, self.key);
        write_field(out, self.value);
        varint::write(out, self.headers.len() as i64);
        for header in &self.headers {
            write_field(out, Some(header.key));
            write_field(out, header.value);
        }
    }

    /// Reads one record from the front of a slice and moves the slice behind it. Offset and timestamp come out as
    /// deltas. `None` when the bytes do not make a record.
    pub(crate) fn read(input: &mut &'a [u8]) -> Option<RecordView<'a>> {
        Self::read_telling(input, |_, _| ())
    }

    /// The same, telling of each part together with the number of bytes that are left behind it, for those who want
    /// to know where it stands.
    pub fn read_telling(input: &mut &'a [u8], tell: impl FnMut(RecordPart<'a>, usize)) -> Option<RecordView<'a>> {
        let mut parts = Parts {
            rest: input,
            behind: 0,
            tell,
        };
        let length = parts.int(RecordPart::Length)?;
        let (body, rest) = parts.rest.split_at_checked(usize::try_from(length).ok()?)?;
        *input = rest;
        (parts.rest, parts.behind) = (body, rest.len());
        let (attributes, body) = body.split_first()?;
        parts.rest = body;
        parts.tell(RecordPart::Attributes(*attributes));
        let timestamp = varint::read_long(&mut parts.rest)?;
        parts.tell(RecordPart::TimestampDelta(timestamp));
        let offset = i64::from(parts.int(RecordPart::OffsetDelta)?);
        let key = parts.field(RecordField::Key)?;
        let value = parts.field(RecordField::Value)?;
        let count = usize::try_from(parts.int(RecordPart::HeadersCount)?).ok()?;
        // Each header takes two bytes at least: a broken count asks for no more room than there are bytes.
        let mut headers = Vec::with_capacity(count.min(parts.rest.len() / 2));
        for _ in 0..count {
            let key = parts.field(RecordField::HeaderKey)??;
            let value = parts.field(RecordField::HeaderValue)?;
            headers.push(HeaderView { key, value });
        }
        parts.rest.is_empty().then_some(RecordView {
            offset,
            timestamp,
            key,
            value,
            headers,
        })
    }
}

/// One thing that stands in the bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordPart<'a> {
    /// The bytes of everything behind it.
    Length(i32),
    /// No bit of it is in use.
    Attributes(u8),
    /// The timestamp, told from the batch's base timestamp.
    TimestampDelta(i64),
    /// The offset, told from the batch's base offset.
    OffsetDelta(i32),
    /// The length of a field that follows; negative where it is null.
    LengthOf(RecordField, i32),
    /// A field that is not null.
    BytesOf(RecordField, &'a [u8]),
    /// How many headers follow.
    HeadersCount(i32),
}

/// The fields of a record that have lengths of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordField {
    /// The key.
    Key,
    /// The value.
    Value,
    /// A header's name.
    HeaderKey,
    /// A header's value.
    HeaderValue,
}

/// The reading of one record.
struct Parts<'a, F> {
    rest: &'a [u8],
    /// The bytes behind `rest` that are not this record's.
    behind: usize,
    tell: F,
}

impl<'a, F: FnMut(RecordPart<'a>, usize)> Parts<'a, F> {
    fn tell(&mut self, part: RecordPart<'a>) {
        (self.tell)(part, self.rest.len() + self.behind);
    }

    fn int(&mut self, part: impl FnOnce(i32) -> RecordPart<'a>) -> Option<i32> {
        let value = varint::read_int(&mut self.rest)?;
        self.tell(part(value));
        Some(value)
    }

    /// The outer option says whether the bytes make sense, the inner one whether the field is null.
    fn field(&mut self, field: RecordField) -> Option<Option<&'a [u8]>> {
        let length = self.int(|length| RecordPart::LengthOf(field, length))?;
        if length < 0 {
            return Some(None);
        }
        let (bytes, rest) = self.rest.split_at_checked(length as usize)?;
        self.rest = rest;
        self.tell(RecordPart::BytesOf(field, bytes));
        Some(Some(bytes))
    }
}

fn field_size(field: Option<&[u8]>) -> usize {
    field.map_or(1, |bytes| varint::size(bytes.len() as i64) + bytes.len())
}

fn write_field(out: &mut Vec<u8>, field: Option<&[u8]>) {
    match field {
        None => varint::write(out, -1),
        Some(bytes) => {
            varint::write(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
    }
}
