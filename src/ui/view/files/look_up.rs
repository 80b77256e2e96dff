//! How Kafka finds an offset: the segment, the entry of its index, and the headers from there on.
//!
//! Mirrors `LogSegment.translateOffset`, `OffsetIndex.lookup` and `FileRecords.searchForOffsetFromPosition`.

use crate::log::RECORD_BATCH_OVERHEAD;
use crate::ui::view::files::parts::{Is, Opened, Part};

/// Headers that are told of one by one.
pub(super) const TOLD: usize = 6;

/// One step of a walk through a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkStep {
    /// What is done and found.
    pub text: String,
    /// The entry of the index that it is about, by its place in the index file.
    pub entry: Option<u64>,
    /// The batch that it is about, by its place in the log.
    pub batch: Option<u64>,
}

impl WalkStep {
    pub(super) fn new(text: String) -> WalkStep {
        WalkStep {
            text,
            entry: None,
            batch: None,
        }
    }
}

/// The steps by which an offset is found in a segment that is open.
pub fn look_up(opened: &Opened, offset: i64) -> Vec<WalkStep> {
    let name = opened.name.rsplit('/').next().unwrap_or_default();
    let mut steps = vec![WalkStep::new(format!(
        "Of all segments {name} has the greatest first offset that is not above {offset}."
    ))];
    let entry = floor(opened, offset);
    let start = match entry {
        Some((part, at)) => {
            steps.push(WalkStep {
                entry: Some(part.position),
                ..WalkStep::new(format!(
                    "Of the entries in its index, {} is the last that is not above {offset}: the search begins at byte {at}.",
                    part.label()
                ))
            });
            at
        }
        None => {
            let why = match &opened.index {
                Some(_) => format!("Its index has no entry at or below {offset}"),
                None => "It has no index".to_owned(),
            };
            steps.push(WalkStep::new(format!("{why}: the search begins at byte 0.")));
            0
        }
    };
    scan(opened, offset, start, &mut steps);
    steps
}

/// The last entry at or below an offset, and where it leads.
fn floor(opened: &Opened, offset: i64) -> Option<(&Part, u64)> {
    let entries = opened.index.as_ref()?.parts.iter();
    let mut below = entries.rev().filter_map(|part| match part.is {
        Is::Offset { offset: named, at } if named <= offset => Some((part, u64::try_from(at).ok()?)),
        _ => None,
    });
    below.next()
}

fn scan(opened: &Opened, offset: i64, start: u64, steps: &mut Vec<WalkStep>) {
    let parts = &opened.own.parts;
    let from = &parts[parts.partition_point(|part| part.position < start)..];
    let mut batches = Vec::new();
    let mut found = None;
    for part in from {
        let Is::Batch { last, .. } = part.is else { break };
        batches.push((part, last));
        if last >= offset {
            found = Some(batches.len() - 1);
            break;
        }
    }
    let passed = found.unwrap_or(batches.len());
    let shown = if passed <= TOLD { passed } else { TOLD / 2 };
    for (part, last) in &batches[..shown] {
        steps.push(WalkStep {
            batch: Some(part.position),
            ..WalkStep::new(format!(
                "The header at byte {} says that its batch ends with offset {last}: go on.",
                part.position
            ))
        });
    }
    if shown < passed {
        let more = passed - shown;
        steps.push(WalkStep {
            batch: Some(batches[passed - 1].0.position),
            ..WalkStep::new(format!("{more} more headers, none of which reaches {offset}."))
        });
    }
    match found.map(|at| batches[at]) {
        Some((part, last)) => {
            steps.push(WalkStep {
                batch: Some(part.position),
                ..WalkStep::new(format!(
                    "The header at byte {} says that its batch ends with offset {last}: this one.",
                    part.position
                ))
            });
            steps.push(WalkStep {
                batch: Some(part.position),
                ..WalkStep::new(cost(passed + 1, start, part.position))
            });
        }
        None => steps.push(WalkStep::new(format!(
            "No batch of this segment reaches {offset}: {}",
            cost(passed, start, opened.own.length)
        ))),
    }
}

/// What was read.
fn cost(headers: usize, start: u64, end: u64) -> String {
    let (word, read) = (
        if headers == 1 { "header" } else { "headers" },
        headers * RECORD_BATCH_OVERHEAD,
    );
    let passed = end - start.min(end);
    format!(
        "{headers} batch {word} read, {read} bytes; {passed} bytes of the log passed over, {start} never looked at."
    )
}
