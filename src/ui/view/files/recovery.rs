//! What recovery makes of a segment after an unclean end: which batches it believes, where it cuts, what goes with the cut.
//!
//! Mirrors `LogLoader.recoverLog` and `LogSegment.recover`. Told ahead, from the bytes as they lie there; the broker does it
//! when it starts.

use crate::inspect::{Fault, FileKind};
use crate::ui::view::files::look_up::{TOLD, WalkStep};
use crate::ui::view::files::parts::{Is, Opened, Part};

/// The steps by which a broker that did not stop cleanly reads a segment again. `point` is the recovery point, where it
/// is known; `bases` are the first offsets of all segments in the folder.
pub fn recovery(opened: &Opened, point: Option<i64>, bases: &[i64]) -> Vec<WalkStep> {
    let FileKind::Log { base } = opened.kind else {
        return Vec::new();
    };
    let first_read = point.and_then(|point| bases.iter().copied().filter(|base| *base <= point).max());
    if let (Some(point), Some(first)) = (point, first_read)
        && base < first
        && opened.index.is_some()
    {
        return vec![WalkStep::new(format!(
            "The recovery point is {point}: what lies below it was flushed, and reading begins with segment {first}. This \
             one is believed as it lies here."
        ))];
    }
    let why = match (point, &opened.index) {
        (_, None) => "It has no index, and so it".to_owned(),
        (Some(point), _) => format!("The recovery point is {point}: this segment"),
        (None, _) => "What was not flushed for certain".to_owned(),
    };
    let mut steps = vec![WalkStep::new(format!(
        "{why} is read once more, from byte 0, batch by batch."
    ))];
    let damages = opened.own.damages.iter();
    let bad = damages
        .filter(|damage| {
            matches!(
                damage.fault,
                Fault::Checksum { .. } | Fault::Framing { .. } | Fault::Zeros { .. }
            )
        })
        .min_by_key(|damage| damage.position);
    let end = bad.map_or(opened.own.length, |damage| damage.position);
    let sound: Vec<&Part> = opened
        .own
        .parts
        .iter()
        .filter(|part| part.position < end && matches!(part.is, Is::Batch { .. }))
        .collect();
    believed(&sound, &mut steps);
    if let Some(damage) = bad {
        steps.push(WalkStep {
            batch: Some(damage.position),
            ..WalkStep::new(format!("At byte {}: {}.", damage.position, damage.fault))
        });
    }
    let next = match sound.last().map(|part| part.is) {
        Some(Is::Batch { last, .. }) => last.saturating_add(1),
        _ => base,
    };
    let behind = bases.iter().filter(|other| **other > base).count();
    steps.push(WalkStep {
        batch: sound.last().map(|part| part.position),
        ..WalkStep::new(cut(opened.own.length, end, next, behind))
    });
    steps.push(WalkStep::new(
        "Its index and its time index are written anew, and what the log knows of producers.".to_owned(),
    ));
    steps
}

/// One step for each batch whose checksum holds; of many only the first and the last are told one by one.
fn believed(sound: &[&Part], steps: &mut Vec<WalkStep>) {
    let shown = if sound.len() <= TOLD { sound.len() } else { TOLD / 2 };
    for part in &sound[..shown] {
        steps.push(WalkStep {
            batch: Some(part.position),
            ..WalkStep::new(format!(
                "Batch {} at byte {}: the checksum in its header is that of its bytes.",
                part.label(),
                part.position
            ))
        });
    }
    if let Some(last) = sound.last().filter(|_| shown < sound.len()) {
        steps.push(WalkStep {
            batch: Some(last.position),
            ..WalkStep::new(format!(
                "{} more batches, up to {} at byte {}: the same.",
                sound.len() - shown,
                last.label(),
                last.position
            ))
        });
    }
}

/// What the scan leads to.
fn cut(length: u64, end: u64, next: i64, behind: usize) -> String {
    let gone = length - end.min(length);
    let them = if gone == 1 { "it" } else { "them" };
    let with = match behind {
        0 => String::new(),
        1 => format!(", and the segment behind it with {them}"),
        many => format!(", and the {many} segments behind it with {them}"),
    };
    match gone {
        0 => format!("Every batch is sound: nothing is cut, and the log goes on at offset {next}."),
        1 => format!("The log is cut here: 1 byte goes{with}. It goes on at offset {next}."),
        gone => format!("The log is cut here: {gone} bytes go{with}. It goes on at offset {next}."),
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn one_byte_goes_and_two_go() {
        for (length, end, behind, said) in [
            (
                9,
                9,
                0,
                "Every batch is sound: nothing is cut, and the log goes on at offset 3.",
            ),
            (9, 8, 0, "The log is cut here: 1 byte goes. It goes on at offset 3."),
            (
                9,
                8,
                2,
                "The log is cut here: 1 byte goes, and the 2 segments behind it with it. It goes on at offset 3.",
            ),
            (
                9,
                7,
                1,
                "The log is cut here: 2 bytes go, and the segment behind it with them. It goes on at offset 3.",
            ),
        ] {
            assert_eq!(cut(length, end, 3, behind), said);
        }
    }
}
