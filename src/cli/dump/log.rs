//! A segment's batches and records.

use std::io::{self, Write};
use std::path::Path;

use crate::inspect::words::{BatchLine, RecordLine};
use crate::inspect::{
    Codec, Damage, Fault, Found, RecordFault, Records, Scan, Step, batch_fields, open, record_fields,
};
use crate::log::{BatchHeader, RECORD_BATCH_OVERHEAD};

use super::source::FileSource;
use super::{Dump, Stop, absolute, explain};

/// Where a walk through a segment is.
struct Walk<'a> {
    path: &'a Path,
    /// The lowest offset that may come next.
    expected: i64,
    /// The last record's offset; the real tool begins with −1.
    last_record: i64,
    /// Whether a hole between records was told of.
    holes: bool,
}

impl<O: Write, E: Write> Dump<'_, O, E> {
    pub(super) fn log(&mut self, path: &Path, base: i64) -> Result<(), Stop> {
        writeln!(self.out, "Log starting offset: {base}")?;
        let mut scan = Scan::new(FileSource::open(path)?);
        let mut walk = Walk {
            path,
            expected: base,
            last_record: -1,
            holes: false,
        };
        loop {
            let found = match scan.step()? {
                Step::Batch(found) => found,
                Step::End(ending) => {
                    if ending.bytes_left() > 0 && !ending.throws() {
                        let name = path.file_name().unwrap_or_default().to_string_lossy();
                        writeln!(
                            self.out,
                            "Found {} invalid bytes at the end of {name}",
                            ending.bytes_left()
                        )?;
                    }
                    if let Some(damage) = ending.damage() {
                        self.damaged(path, &damage)?;
                    }
                    return Ok(());
                }
            };
            if !self.batch(&mut walk, &found, scan.bytes(&found)?)? {
                return Ok(());
            }
        }
    }

    /// One batch. Says whether the real tool would go on after it.
    fn batch(&mut self, walk: &mut Walk<'_>, found: &Found, bytes: &[u8]) -> io::Result<bool> {
        let Found { position, header } = found;
        let (position, base_offset) = (*position, header.base_offset);
        let computed = BatchHeader::checksum(bytes);
        let is_valid = computed == header.crc;
        writeln!(self.out, "{}", BatchLine { found, is_valid })?;
        if !is_valid {
            let fault = Fault::Checksum {
                base_offset,
                stored: header.crc,
                computed,
            };
            self.damaged(walk.path, &Damage { position, fault })?;
        }
        if base_offset < walk.expected {
            let fault = Fault::OffsetGoesBack {
                base_offset,
                expected: walk.expected,
            };
            self.damaged(walk.path, &Damage { position, fault })?;
        }
        walk.expected = walk.expected.max(header.last_offset().saturating_add(1));
        if self.arguments.explain {
            explain::print(self.out, &batch_fields(found), position, bytes)?;
        }
        match self.arguments.print_data_log {
            true => self.records(walk, found, bytes),
            false => Ok(true),
        }
    }

    fn records(&mut self, walk: &mut Walk<'_>, found: &Found, bytes: &[u8]) -> io::Result<bool> {
        let Found { position, header } = found;
        let base_offset = header.base_offset;
        let opened = match open(header, bytes) {
            Ok(opened) => opened,
            Err(why) => {
                let fault = Fault::Compressed { base_offset, why };
                self.damaged(
                    walk.path,
                    &Damage {
                        position: *position,
                        fault,
                    },
                )?;
                return Ok(false);
            }
        };
        // Kafka reads the records of a compressed batch to the last before it hands over the first.
        let compressed = Codec::of(header) != Codec::None;
        let broken = Records::new(header, &opened)
            .find_map(Result::err)
            .filter(|_| compressed);
        let mut records = Records::new(header, &opened);
        let first = position + RECORD_BATCH_OVERHEAD as u64;
        if self.arguments.explain && compressed {
            writeln!(
                self.out,
                "  positions of records are those in the uncompressed bytes of their batch"
            )?;
        }
        loop {
            let start = records.position();
            let record = match broken.map(Err).or_else(|| records.next()) {
                None => return Ok(true),
                Some(Err(why)) => {
                    let position = if compressed { *position } else { first + start as u64 };
                    let fault = Fault::Records { base_offset, why };
                    self.damaged(walk.path, &Damage { position, fault })?;
                    return Ok(false);
                }
                Some(Ok(record)) => record,
            };
            self.hole(walk, record.offset)?;
            writeln!(
                self.out,
                "{}",
                RecordLine {
                    header,
                    record: &record
                }
            )?;
            // The real tool has begun its line by then.
            if let Some(why) = RecordFault::of_control(&record).filter(|_| header.is_control()) {
                let position = if compressed { *position } else { first + start as u64 };
                let fault = Fault::Records { base_offset, why };
                self.damaged(walk.path, &Damage { position, fault })?;
                return Ok(false);
            }
            if self.arguments.explain {
                let at = if compressed { start as u64 } else { first + start as u64 };
                let bytes = opened.get(start..).unwrap_or(&[]);
                let fields = record_fields(header, at, bytes).unwrap_or_default();
                explain::print(self.out, &fields, at, bytes)?;
            }
        }
    }

    /// Tells of offsets that are missing between two records, as the real tool does, which also counts those below the
    /// segment's first.
    fn hole(&mut self, walk: &mut Walk<'_>, offset: i64) -> io::Result<()> {
        let before = std::mem::replace(&mut walk.last_record, offset);
        if offset == before.wrapping_add(1) {
            return Ok(());
        }
        if !std::mem::replace(&mut walk.holes, true) {
            writeln!(self.err, "Non-consecutive offsets in {}", absolute(walk.path))?;
        }
        writeln!(self.err, "  {before} is followed by {offset}")
    }
}
