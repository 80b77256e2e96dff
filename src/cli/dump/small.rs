//! Snapshots, checkpoints and the other small files. The real tool reads only the snapshots; the lines of the others are
//! in its manner.

use std::io::Write;
use std::path::Path;

use crate::inspect::words::{CorruptSnapshotLine, ProducerLine};
use crate::inspect::{Damage, Fault, FileKind, OffsetsOf, line_start, properties, snapshot_fields};
use crate::log::{checkpoint, snapshot};

use super::source::{self, Unreadable};
use super::{Dump, Stop, explain};

/// The text of a file; what is no UTF-8 in it is no part of any format and shows up as a fault of its line.
fn text(path: &Path) -> Result<String, Unreadable> {
    Ok(String::from_utf8_lossy(&source::read(path)?).into_owned())
}

impl<O: Write, E: Write> Dump<'_, O, E> {
    pub(super) fn snapshot(&mut self, path: &Path) -> Result<(), Stop> {
        let bytes = source::read(path)?;
        let entries = match snapshot::read(&bytes) {
            Ok(entries) => entries,
            Err(why) => {
                self.out.flush()?;
                writeln!(
                    self.err,
                    "{}",
                    CorruptSnapshotLine {
                        why,
                        length: bytes.len() as u64
                    }
                )?;
                let damage = Damage {
                    position: 0,
                    fault: Fault::Snapshot(why),
                };
                return Ok(self.damaged(path, &damage)?);
            }
        };
        let crc = bytes.get(2..6).map_or(0, |crc| {
            crc.iter().fold(0, |value, byte| (value << 8) | u32::from(*byte))
        });
        let mut fields = snapshot_fields(crc, &entries)
            .into_iter()
            .filter(|_| self.arguments.explain);
        let head = fields.next().unwrap_or_default();
        explain::print(self.out, &head, 0, &bytes)?;
        for (id, entry) in &entries {
            writeln!(self.out, "{}", ProducerLine { id: *id, entry })?;
            explain::print(self.out, &fields.next().unwrap_or_default(), 0, &bytes)?;
        }
        Ok(())
    }

    pub(super) fn leader_epochs(&mut self, path: &Path) -> Result<(), Stop> {
        let text = text(path)?;
        match checkpoint::read_epochs(&text) {
            Ok(entries) => {
                for entry in entries {
                    let meaning = self.meaning("the first offset that a leader of this epoch gave");
                    writeln!(
                        self.out,
                        "epoch: {} startOffset: {}{meaning}",
                        entry.epoch, entry.start_offset
                    )?;
                }
                Ok(())
            }
            Err(fault) => self.malformed(path, &text, fault.line, fault.expected),
        }
    }

    pub(super) fn offsets(&mut self, path: &Path, of: OffsetsOf) -> Result<(), Stop> {
        let text = text(path)?;
        match checkpoint::read_offsets(&text) {
            Ok(entries) => {
                for entry in entries {
                    let meaning = self.meaning(of.meaning());
                    writeln!(
                        self.out,
                        "topic: {} partition: {} offset: {}{meaning}",
                        entry.topic, entry.partition, entry.offset
                    )?;
                }
                Ok(())
            }
            Err(fault) => self.malformed(path, &text, fault.line, fault.expected),
        }
    }

    pub(super) fn properties(&mut self, kind: FileKind, path: &Path) -> Result<(), Stop> {
        let text = text(path)?;
        match properties(kind, &text) {
            Ok(found) => {
                let line: Vec<String> = found
                    .iter()
                    .map(|property| format!("{}: {}", property.name, property.value))
                    .collect();
                Ok(writeln!(self.out, "{}", line.join(" "))?)
            }
            Err(fault) => self.malformed(path, &text, fault.line, fault.expected),
        }
    }

    pub(super) fn clean_shutdown(&mut self, path: &Path) -> Result<(), Stop> {
        let text = text(path)?;
        let marker: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let number = |name: &str| marker.as_ref().and_then(|marker| marker.get(name)?.as_i64());
        match (number("version"), number("brokerEpoch")) {
            (Some(version), Some(epoch)) => {
                let meaning = self.meaning("the broker was stopped cleanly in this epoch: nothing needs recovery");
                Ok(writeln!(self.out, "version: {version} brokerEpoch: {epoch}{meaning}")?)
            }
            _ => self.malformed(path, &text, 1, "JSON with version and brokerEpoch"),
        }
    }

    /// What the number of a line means, when that was asked for.
    fn meaning(&self, meaning: &str) -> String {
        if self.arguments.explain {
            format!("  ({meaning})")
        } else {
            String::new()
        }
    }

    fn malformed(&mut self, path: &Path, text: &str, line: usize, expected: &'static str) -> Result<(), Stop> {
        let damage = Damage {
            position: line_start(text, line),
            fault: Fault::Line { line, expected },
        };
        Ok(self.damaged(path, &damage)?)
    }
}
