//! The records of a file laid beside those of a simulated replica, aligned by offset.
//!
//! The replica's records are held whole, since a simulated log is short. The file's come batch by batch as they are
//! read, and only those are asked for that reach into the replica's offsets, so that a long file costs no more.
//! Deliberately absent: which batches the records stand in, which the row of batches shows.

use std::ops::Range;

use crate::inspect::{Records, open};
use crate::log::{BatchHeader, Files, Record};
use crate::ui::view::files::parts::{Is, Part, Parts};
use crate::ui::view::names::bytes as text_of;

/// The most records of a replica, and the most lines: more than anybody reads.
const MOST: usize = 10_000;

/// A record where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    offset: i64,
    /// The leader epoch of its batch.
    epoch: i32,
    record: Record,
}

/// How the two sides of a line compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// They are the same.
    Equal,
    /// They differ; in which fields.
    Differ(String),
    /// Only the file has a record there.
    File,
    /// Only the replica has one.
    Replica,
    /// The file's batch stays closed, and so nothing can be said; why.
    Closed(String),
}

/// One offset, or the first one of a batch that stays closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The offset.
    pub offset: i64,
    /// What the file has there.
    pub file: String,
    /// What the replica has there.
    pub replica: String,
    /// How they compare.
    pub is: Compared,
}

/// The comparison while it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    replica: Vec<Standing>,
    /// The first of them that has no line yet.
    next: usize,
    /// The lines so far, by offset.
    pub lines: Vec<Line>,
}

impl Beside {
    /// Begins with the records of a replica's files that lie in a range of offsets.
    pub fn new(files: &Files, range: Range<i64>) -> Beside {
        let batches = files.held().filter_map(|held| records(&held.batch.to_bytes()).ok());
        let replica = batches.flatten().filter(|one| range.contains(&one.offset));
        Beside {
            replica: replica.take(MOST).collect(),
            ..Beside::default()
        }
    }

    /// The offsets from the replica's first record to its last.
    fn reach(&self) -> Range<i64> {
        let ends = self.replica.first().zip(self.replica.last());
        ends.map_or(0..0, |(first, last)| first.offset..last.offset + 1)
    }

    /// The batches of a file that reach into those offsets.
    pub fn wanted(&self, parts: &Parts) -> Vec<Part> {
        let reach = self.reach();
        let reaches =
            |part: &&Part| matches!(part.is, Is::Batch { base, last, .. } if base < reach.end && last >= reach.start);
        parts.parts.iter().filter(reaches).take(MOST).copied().collect()
    }

    /// Takes the bytes of the file's next batch.
    pub fn take(&mut self, part: &Part, batch: &[u8]) {
        let Is::Batch { base, last, .. } = part.is else { return };
        let reach = self.reach();
        match records(batch) {
            Ok(records) => {
                for file in records.iter().filter(|file| reach.contains(&file.offset)) {
                    self.until(file.offset);
                    let own = self.replica.get(self.next).filter(|own| own.offset == file.offset);
                    self.next += usize::from(own.is_some());
                    let line = line(Some(file), own);
                    self.add(line);
                }
            }
            Err(why) => {
                self.until(base);
                self.next += self.replica[self.next..].partition_point(|own| own.offset <= last);
                self.add(Some(Line {
                    offset: base,
                    file: format!("{base}–{last}"),
                    replica: String::new(),
                    is: Compared::Closed(why),
                }));
            }
        }
    }

    /// The file has no more: what the replica has beyond it stands alone.
    pub fn end(&mut self) {
        self.until(i64::MAX);
    }

    /// The replica's records below an offset, beside which the file has none.
    fn until(&mut self, offset: i64) {
        while let Some(own) = self.replica.get(self.next).filter(|own| own.offset < offset) {
            let line = line(None, Some(own));
            self.add(line);
            self.next += 1;
        }
    }

    fn add(&mut self, line: Option<Line>) {
        self.lines.extend(line.filter(|_| self.lines.len() < MOST));
    }

    /// The first line from one on that is not equal.
    pub fn difference(&self, from: usize) -> Option<usize> {
        let mut rest = self.lines.iter().skip(from);
        Some(from + rest.position(|line| line.is != Compared::Equal)?)
    }

    /// How many lines compare how, in a sentence; what of the file lies outside is told of too.
    pub fn summary(&self, broker: u16, parts: &Parts) -> String {
        let reach = self.reach();
        if reach.is_empty() {
            return format!("Broker {broker} has no record among the offsets of this segment.");
        }
        let count = |is: &dyn Fn(&Compared) -> bool| self.lines.iter().filter(|line| is(&line.is)).count();
        let counts = [
            (count(&|is| *is == Compared::Equal), "equal"),
            (count(&|is| matches!(is, Compared::Differ(_))), "different"),
            (count(&|is| *is == Compared::File), "only in the file"),
            (count(&|is| *is == Compared::Replica), "only on the broker"),
            (count(&|is| matches!(is, Compared::Closed(_))), "not opened"),
        ];
        let told: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let ends = |part: &Part| match part.is {
            Is::Batch { base, last, .. } => Some((base, last)),
            _ => None,
        };
        let first = parts.parts.iter().find_map(ends).map_or(reach.start, |(base, _)| base);
        let last = parts
            .parts
            .iter()
            .rev()
            .find_map(ends)
            .map_or(reach.end - 1, |(_, last)| last);
        let outside = match (first < reach.start, last >= reach.end) {
            (false, false) => "",
            (true, false) => " The file has more before them.",
            (false, true) => " The file has more behind them.",
            (true, true) => " The file has more on either side.",
        };
        format!(
            "Broker {broker}'s offsets {} to {}: {}.{outside}",
            reach.start,
            reach.end - 1,
            told.join(", ")
        )
    }
}

/// The records of a batch, or why they stay closed.
fn records(batch: &[u8]) -> Result<Vec<Standing>, String> {
    let header = BatchHeader::read(batch).ok_or("is cut")?;
    let records = open(&header, batch).map_err(|why| why.to_string())?;
    let standing = |view: crate::log::RecordView<'_>| Standing {
        offset: view.offset,
        epoch: header.leader_epoch,
        record: view.to_record(),
    };
    Records::new(&header, &records)
        .map(|record| record.map(standing).map_err(|why| why.to_string()))
        .collect()
}

/// The line of an offset where one side has a record, or both have.
fn line(file: Option<&Standing>, replica: Option<&Standing>) -> Option<Line> {
    let is = match (file, replica) {
        (Some(file), Some(own)) => compared(file, own),
        (Some(_), None) => Compared::File,
        (None, _) => Compared::Replica,
    };
    let told = |side: &Standing| {
        let Record {
            key, value, timestamp, ..
        } = &side.record;
        let mut words = format!("{}: {}", text_of(key.as_deref()), text_of(value.as_deref()));
        if let Compared::Differ(fields) = &is {
            for (field, value) in [("timestamp", *timestamp), ("epoch", i64::from(side.epoch))] {
                if fields.contains(field) {
                    words = format!("{words}, {field} {value}");
                }
            }
        }
        words
    };
    Some(Line {
        offset: file.or(replica)?.offset,
        file: file.map(told).unwrap_or_default(),
        replica: replica.map(told).unwrap_or_default(),
        is,
    })
}

fn compared(file: &Standing, own: &Standing) -> Compared {
    let (a, b) = (&file.record, &own.record);
    let fields = [
        ("key", a.key == b.key),
        ("value", a.value == b.value),
        ("headers", a.headers == b.headers),
        ("timestamp", a.timestamp == b.timestamp),
        ("epoch", file.epoch == own.epoch),
    ];
    let differ: Vec<&str> = fields.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect();
    if differ.is_empty() {
        Compared::Equal
    } else {
        Compared::Differ(differ.join(", "))
    }
}
