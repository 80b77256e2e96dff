//! Index files, held against the segment that lies beside them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use crate::inspect::words::AbortedLine;
use crate::inspect::{
    Damage, Fault, LogOfIndex, Miss, OffsetEntries, Scan, TimeEntries, TimeFound, offset_entry_fields,
    time_entry_fields, txn_entry_fields,
};
use crate::log::{AbortedTxn, Entry, OffsetEntry, TimeEntry};

use super::source::{self, FileSource, Unreadable};
use super::{Dump, Stop, absolute, explain};

/// What the real tool complains of in a time index, in its order.
#[derive(Default)]
struct TimeComplaints {
    mismatches: Vec<(i64, i64)>,
    out_of_order: Vec<(i64, i64)>,
    not_found: Vec<(i64, i64)>,
}

/// The segment that an index leads into.
fn log_beside(index: &Path) -> Result<FileSource, Unreadable> {
    FileSource::open(&index.with_extension("log"))
        .map_err(|error| error.with("an index is held against its segment, which should lie beside it"))
}

impl<O: Write, E: Write> Dump<'_, O, E> {
    pub(super) fn offset_index(&mut self, path: &Path, base: i64) -> Result<(), Stop> {
        let mut log = Scan::new(log_beside(path)?);
        let bytes = source::read(path)?;
        let mut entries = OffsetEntries::new(&bytes, base);
        let unused = entries.is_unused();
        let mut mismatches = BTreeMap::new();
        if entries.is_empty() {
            writeln!(self.out, "{} is empty.", path.display())?;
        }
        let mut gave_up = false;
        while let Some(entry) = entries.next(&mut log)? {
            gave_up = entry.miss.as_ref().is_some_and(Miss::gives_up);
            if let Some(Miss::Other { last_offset }) = entry.miss {
                mismatches.insert(entry.offset, last_offset);
            }
            if let Some(damage) = entry.damage(log.length()).filter(|_| !unused) {
                self.damaged(path, &damage)?;
            }
            if gave_up {
                break;
            }
            writeln!(self.out, "offset: {} position: {}", entry.offset, entry.at)?;
            self.explain_entry(&bytes, entry.position, |at, bytes| {
                offset_entry_fields(at, base, OffsetEntry::read(bytes))
            })?;
        }
        self.end_of_index(path, unused, bytes.len(), entries.rest().filter(|_| !gave_up))?;
        // Having given up, the real tool says no more.
        if !mismatches.is_empty() && !gave_up {
            writeln!(self.err, "Mismatches in :{}", absolute(path))?;
            for (offset, found) in mismatches.iter().rev() {
                writeln!(self.err, "  Index offset: {offset}, log offset: {found}")?;
            }
        }
        Ok(())
    }

    pub(super) fn time_index(&mut self, path: &Path, base: i64) -> Result<(), Stop> {
        let log = log_beside(path)?;
        let index = path.with_extension("index");
        // A missing index is as good as an empty one.
        let index_bytes = if index.exists() {
            source::read(&index)?
        } else {
            Vec::new()
        };
        let mut log = LogOfIndex::new(log, &index_bytes, base);
        let bytes = source::read(path)?;
        let mut entries = TimeEntries::new(&bytes, base);
        let unused = entries.is_unused();
        let mut complaints = TimeComplaints::default();
        let mut gave_up = false;
        while let Some(entry) = entries.next(&mut log)? {
            if let Some(damage) = entry.damage().filter(|_| !unused) {
                self.damaged(path, &damage)?;
            }
            // What is wrong with the offset index is told of that one.
            if let Some(damage) = entry.misled.filter(|_| !unused) {
                self.damaged(&index, &damage)?;
            }
            let (timestamp, offset) = (entry.timestamp, entry.offset);
            match entry.found {
                TimeFound::Broken(_) => gave_up = true,
                TimeFound::NotFound { last_offset } => {
                    complaints.not_found.push((offset, last_offset.unwrap_or(-1)));
                }
                TimeFound::Batch { of_records, .. } => {
                    if of_records != timestamp {
                        complaints.mismatches.push((timestamp, of_records));
                    }
                    complaints
                        .out_of_order
                        .extend(entry.goes_back.map(|before| (timestamp, before)));
                }
            }
            if gave_up {
                break;
            }
            writeln!(self.out, "timestamp: {timestamp} offset: {offset}")?;
            self.explain_entry(&bytes, entry.position, |at, bytes| {
                time_entry_fields(at, base, TimeEntry::read(bytes))
            })?;
        }
        self.end_of_index(path, unused, bytes.len(), entries.rest().filter(|_| !gave_up))?;
        if !gave_up {
            self.complain(path, &complaints)?;
        }
        Ok(())
    }

    fn complain(&mut self, path: &Path, complaints: &TimeComplaints) -> io::Result<()> {
        let path = absolute(path);
        if !complaints.mismatches.is_empty() {
            writeln!(self.err, "Found timestamp mismatch in :{path}")?;
        }
        for (index, log) in &complaints.mismatches {
            writeln!(self.err, "  Index timestamp: {index}, log timestamp: {log}")?;
        }
        if !complaints.out_of_order.is_empty() {
            writeln!(self.err, "Found out of order timestamp in :{path}")?;
        }
        for (index, before) in &complaints.out_of_order {
            writeln!(
                self.err,
                "  Index timestamp: {index}, Previously indexed timestamp: {before}"
            )?;
        }
        if !complaints.not_found.is_empty() {
            writeln!(self.err, "The following indexed offsets are not found in :{path}")?;
        }
        for (index, log) in &complaints.not_found {
            writeln!(self.err, "Indexed offset: {index}, found log offset: {log}")?;
        }
        Ok(())
    }

    /// What stands behind the entries of an index.
    fn end_of_index(&mut self, path: &Path, unused: bool, length: usize, rest: Option<Damage>) -> io::Result<()> {
        if unused {
            self.out.flush()?;
            writeln!(
                self.err,
                "{}: all {length} bytes are zero: room made in advance, and no entry yet",
                path.display()
            )?;
        }
        rest.iter().try_for_each(|damage| self.damaged(path, damage))
    }

    fn explain_entry(
        &mut self,
        bytes: &[u8],
        position: u64,
        fields: impl FnOnce(u64, &[u8]) -> Vec<crate::inspect::Field>,
    ) -> io::Result<()> {
        match bytes.get(position as usize..) {
            Some(entry) if self.arguments.explain => {
                explain::print(self.out, &fields(position, entry), position, entry)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn txn_index(&mut self, path: &Path, base: i64) -> Result<(), Stop> {
        let bytes = source::read(path)?;
        for (at, entry) in bytes.chunks(AbortedTxn::SIZE).enumerate() {
            let position = (at * AbortedTxn::SIZE) as u64;
            let fault = match AbortedTxn::read(entry) {
                Some(aborted) => {
                    writeln!(self.out, "{}", AbortedLine(&aborted))?;
                    self.explain_entry(&bytes, position, |at, _| txn_entry_fields(at, &aborted))?;
                    let last_offset = aborted.last_offset;
                    (last_offset < base).then_some(Fault::TxnBelowBase { last_offset, base })
                }
                None if entry.len() < AbortedTxn::SIZE => {
                    let (left, size) = (entry.len() as u64, AbortedTxn::SIZE as u32);
                    Some(Fault::PartEntry { left, size })
                }
                None => {
                    // The real tool gives up here.
                    let fault = Fault::TxnVersion(i16::from_be_bytes([entry[0], entry[1]]));
                    self.damaged(path, &Damage { position, fault })?;
                    return Ok(());
                }
            };
            if let Some(fault) = fault {
                self.damaged(path, &Damage { position, fault })?;
            }
        }
        Ok(())
    }
}
