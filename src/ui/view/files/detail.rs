//! One part of a file: its fields in words, its bytes beside them, and the records of a batch.

use std::fmt::Write as _;

use crate::inspect::{
    Field, FileKind, Found, Records, batch_fields, offset_entry_fields, open, record_fields, snapshot_fields,
    time_entry_fields, txn_entry_fields,
};
use crate::log::{AbortedTxn, BatchHeader, Entry, OffsetEntry, RECORD_BATCH_OVERHEAD, RecordView, TimeEntry, snapshot};
use crate::ui::view::files::parts::{Is, Part};
use crate::ui::view::names::bytes as text_of;

/// The most bytes that are shown of a part.
pub const SHOWN_BYTES: usize = 512;
/// The most records that are listed of a batch.
const LISTED: usize = 200;
/// Bytes in a row.
const ROW: u64 = 16;

/// A record of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRow {
    /// Its offset.
    pub offset: i64,
    /// Its timestamp.
    pub timestamp: i64,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// Bytes of one row that belong to one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which field.
    pub field: Option<usize>,
    /// The bytes in hexadecimal.
    pub hex: String,
}

/// A row of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HexRow {
    /// The position of its first column in the file.
    pub at: u64,
    /// Columns that belong to what stands before.
    pub indent: u64,
    /// The bytes.
    pub runs: Vec<Run>,
}

/// A part, opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// What it is and where.
    pub title: String,
    /// Its fields, in the order of their bytes.
    pub fields: Vec<Field>,
    /// Its bytes.
    pub rows: Vec<HexRow>,
    /// How many of its bytes are not shown.
    pub hidden: u64,
    /// What one should know of it.
    pub note: Option<&'static str>,
    /// Its records, or why they cannot be read; nothing where it has none.
    pub records: Option<Result<Vec<RecordRow>, String>>,
}

/// A name of Kafka's sources as words: `baseOffset` as `base offset`.
pub fn in_words(name: &str) -> String {
    if name == "crc" {
        return "checksum (CRC-32C)".to_owned();
    }
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// Opens a part. `bytes` are its own, `whole` those of a file that is small; `record` is the record that was picked.
pub fn detail(kind: FileKind, part: &Part, bytes: &[u8], whole: &[u8], record: Option<usize>) -> Detail {
    let mut detail = Detail {
        title: format!("{} · byte {}", part.words(), part.position),
        ..Detail::default()
    };
    if let (Is::Batch { .. }, Some(header)) = (part.is, BatchHeader::read(bytes)) {
        batch(&mut detail, part, &header, bytes, record);
        return detail;
    }
    detail.fields = fields(kind, part, bytes, whole);
    show(&mut detail, part.position, bytes, part.length);
    detail
}

fn fields(kind: FileKind, part: &Part, bytes: &[u8], whole: &[u8]) -> Vec<Field> {
    match (kind, part.is) {
        (FileKind::OffsetIndex { base }, Is::Offset { .. }) if bytes.len() >= OffsetEntry::SIZE as usize => {
            offset_entry_fields(part.position, base, OffsetEntry::read(bytes))
        }
        (FileKind::TimeIndex { base }, Is::Time { .. }) if bytes.len() >= TimeEntry::SIZE as usize => {
            time_entry_fields(part.position, base, TimeEntry::read(bytes))
        }
        (_, Is::Aborted(..)) => {
            AbortedTxn::read(bytes).map_or_else(Vec::new, |entry| txn_entry_fields(part.position, &entry))
        }
        (_, Is::Head | Is::Producer(_)) => {
            let crc = whole
                .get(2..6)
                .and_then(|crc| crc.try_into().ok())
                .map_or(0, u32::from_be_bytes);
            let groups = snapshot_fields(crc, &snapshot::read(whole).unwrap_or_default());
            let own = |fields: &Vec<Field>| fields.first().is_some_and(|field| field.position == part.position);
            groups.into_iter().find(own).unwrap_or_default()
        }
        (kind, Is::Text) => lines(kind, bytes),
        _ => Vec::new(),
    }
}

/// The lines of a text file as fields.
fn lines(kind: FileKind, bytes: &[u8]) -> Vec<Field> {
    let text = String::from_utf8_lossy(bytes);
    let mut fields = Vec::new();
    let mut position = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        let (name, meaning) = line_means(kind, at);
        if !content.is_empty() {
            fields.push(Field {
                position,
                length: content.len() as u64,
                name,
                value: content.to_owned(),
                meaning,
            });
        }
        position += line.len() as u64;
    }
    fields
}

fn line_means(kind: FileKind, line: usize) -> (&'static str, String) {
    match (kind, line) {
        (FileKind::LeaderEpochs | FileKind::Offsets(_), 0) => ("version", "of the format".to_owned()),
        (FileKind::LeaderEpochs | FileKind::Offsets(_), 1) => ("entries", "lines that follow".to_owned()),
        (FileKind::LeaderEpochs, _) => (
            "epochStartOffset",
            "a leader epoch, and the first offset that its leader gave".to_owned(),
        ),
        (FileKind::Offsets(of), _) => ("topicPartitionOffset", of.meaning().to_owned()),
        _ => ("line", String::new()),
    }
}

fn batch(detail: &mut Detail, part: &Part, header: &BatchHeader, bytes: &[u8], record: Option<usize>) {
    let found = Found {
        position: part.position,
        header: *header,
    };
    let opened = open(header, bytes);
    detail.records = Some(match &opened {
        Ok(records) => list(header, records),
        Err(why) => Err(format!("Its header can be read; its records cannot: the batch {why}.")),
    });
    let picked = record.and_then(|record| {
        let records = opened
            .as_ref()
            .ok()
            .filter(|records| matches!(records, std::borrow::Cow::Borrowed(_)))?;
        let mut walk = Records::new(header, records);
        walk.by_ref().take(record).for_each(drop);
        let start = walk.position();
        walk.next()?.ok()?;
        let own = records.get(start..walk.position())?;
        let position = part.position + (RECORD_BATCH_OVERHEAD + start) as u64;
        Some((record_fields(header, position, own)?, position, own))
    });
    match picked {
        Some((fields, position, own)) => {
            detail.title = format!(
                "Record {} of {} · byte {position}",
                record.unwrap_or(0) + 1,
                header.count
            );
            detail.fields = fields;
            show(detail, position, own, own.len() as u64);
        }
        None => {
            detail.fields = batch_fields(&found);
            detail.note = Some(
                "The checksum covers byte 21 of the batch to its end, so the leader may write offset and epoch without \
                 touching it.",
            );
            show(detail, part.position, bytes, part.length);
        }
    }
}

fn list(header: &BatchHeader, records: &[u8]) -> Result<Vec<RecordRow>, String> {
    let row = |record: RecordView<'_>| RecordRow {
        offset: record.offset,
        timestamp: record.timestamp,
        key: text_of(record.key),
        value: text_of(record.value),
    };
    Records::new(header, records)
        .take(LISTED)
        .map(|record| record.map(row).map_err(|why| format!("In this batch {why}.")))
        .collect()
}

/// The bytes of a part in rows, each run with the field it belongs to.
fn show(detail: &mut Detail, position: u64, bytes: &[u8], length: u64) {
    let shown = &bytes[..bytes.len().min(SHOWN_BYTES)];
    detail.hidden = length.saturating_sub(shown.len() as u64);
    let mut field = 0;
    for (at, byte) in (position..).zip(shown) {
        while detail
            .fields
            .get(field)
            .is_some_and(|field| at >= field.position + field.length)
        {
            field += 1;
        }
        let own = detail
            .fields
            .get(field)
            .filter(|field| at >= field.position)
            .map(|_| field);
        if detail.rows.is_empty() || at % ROW == 0 {
            detail.rows.push(HexRow {
                at: at - at % ROW,
                indent: at % ROW,
                runs: Vec::new(),
            });
        }
        let Some(row) = detail.rows.last_mut() else { return };
        match row.runs.last_mut() {
            Some(run) if run.field == own => {
                let _ = write!(run.hex, " {byte:02x}");
            }
            _ => row.runs.push(Run {
                field: own,
                hex: format!("{byte:02x}"),
            }),
        }
    }
}
