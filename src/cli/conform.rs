//! `highwater conform PATH…`: replays recordings of a real Kafka.
//!
//! Prints a line a recording; where one differs, the operation, the field, Kafka's value and ours; at the end the
//! totals. Folders are searched for `.json` and `.jsonl` files, in the order of their names.
//!
//! Deliberately absent: everything about recordings but finding, reading and printing; see [`crate::conform`].

use crate::conform::{self, Difference, Replayed, Report, Verdict};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a run ended, as an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything that was replayed is as recorded.
    Same = 0,
    /// Something differs.
    Differs = 1,
    /// Something could not be read.
    Unreadable = 2,
}

#[derive(Default)]
struct Totals {
    recordings: u64,
    operations: u64,
    differ: u64,
    skipped: u64,
}

/// Replays all recordings under the given files and folders. An error is one of writing to `out` or `err`.
pub fn run(paths: &[PathBuf], out: &mut impl Write, err: &mut impl Write) -> io::Result<Status> {
    let mut totals = Totals::default();
    let mut status = Status::Same;
    for path in paths {
        let mut files = Vec::new();
        if let Err(error) = collect(path, &mut files) {
            writeln!(err, "{}: {error}", path.display())?;
            status = Status::Unreadable;
        }
        for file in files {
            let text = fs::read_to_string(&file).map_err(|error| error.to_string());
            match text.and_then(|text| conform::replay(&text).map_err(|error| error.to_string())) {
                Ok(reports) => reports
                    .iter()
                    .try_for_each(|report| print(&file, report, &mut totals, out))?,
                Err(complaint) => {
                    writeln!(err, "{}: {complaint}", file.display())?;
                    status = Status::Unreadable;
                }
            }
        }
    }
    let Totals {
        recordings,
        operations,
        differ,
        skipped,
    } = totals;
    writeln!(
        out,
        "{recordings} recordings, {operations} operations, {differ} differ, {skipped} skipped"
    )?;
    Ok(if differ > 0 {
        status.max(Status::Differs)
    } else {
        status
    })
}

/// The file itself, or the recordings in a folder and its folders.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        let recording = entry
            .extension()
            .is_some_and(|extension| extension == "json" || extension == "jsonl");
        if entry.is_dir() || recording {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

fn print(file: &Path, report: &Report, totals: &mut Totals, out: &mut impl Write) -> io::Result<()> {
    let title = report
        .title
        .as_ref()
        .map(|title| format!(" ({title})"))
        .unwrap_or_default();
    write!(out, "{}{title}: ", file.display())?;
    totals.recordings += 1;
    match &report.verdict {
        Verdict::Skipped => {
            totals.skipped += 1;
            writeln!(out, "skipped, {} is not replayed", report.kind)
        }
        Verdict::Replayed(replayed) => {
            totals.operations += replayed.operations;
            totals.skipped += replayed.skipped.len() as u64;
            totals.differ += u64::from(!replayed.differences.is_empty());
            print_replayed(replayed, out)
        }
    }
}

fn print_replayed(replayed: &Replayed, out: &mut impl Write) -> io::Result<()> {
    match replayed.differences.first() {
        None => writeln!(out, "{} operations, same", replayed.operations)?,
        Some(first) => writeln!(out, "differs at operation {}", first.operation)?,
    }
    for Difference { field, kafka, ours, .. } in &replayed.differences {
        let shown = |value: &Option<serde_json::Value>| value.as_ref().map_or("nothing".to_owned(), |v| v.to_string());
        writeln!(out, "  {field}: Kafka {}, ours {}", shown(kafka), shown(ours))?;
    }
    replayed
        .skipped
        .iter()
        .try_for_each(|reason| writeln!(out, "  skipped: {reason}"))
}
