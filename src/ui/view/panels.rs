//! Everything around the stage as data: inspector, ledger, events, knobs, fault menus, marks.

use std::rc::Rc;

use crate::cluster::rules::Rule;
use crate::ui::view::power_loss::PowerLoss;

/// How something is to be taken; the components give each its hue, glyph and outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Acknowledged, safe, right.
    Ok,
    /// Undecided.
    Wait,
    /// Worth a warning.
    Warn,
    /// Failed or lost.
    Bad,
    /// In page cache only.
    Cache,
    /// On disk.
    Disk,
    /// Not there.
    No,
    /// Was there, is gone.
    Ghost,
}

/// A word with a tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// How it is to be taken.
    pub tone: Tone,
    /// The word.
    pub text: Rc<str>,
}

impl Chip {
    /// A word with a tone.
    pub fn new(tone: Tone, text: impl Into<Rc<str>>) -> Chip {
        Chip {
            tone,
            text: text.into(),
        }
    }
}

/// One thing that changed in this step.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What happened, in one line.
    pub text: Rc<str>,
    /// The rule that decided it.
    pub rule: Rule,
}

/// The inspector of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspector {
    /// What is inspected.
    pub title: Rc<str>,
    /// Its state in a word or two.
    pub chips: Vec<Chip>,
    /// What one should know first.
    pub verdict: Option<Verdict>,
    /// For each broker where its copy is.
    pub custody: Vec<(Rc<str>, Chip)>,
    /// Names and values.
    pub facts: Vec<(&'static str, Rc<str>)>,
}

/// A judgement with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it is to be taken.
    pub tone: Tone,
    /// The judgement.
    pub headline: Rc<str>,
    /// The reason.
    pub detail: Rc<str>,
}

/// A record's column in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerColumn {
    /// The producer's number.
    pub client: u16,
    /// The record's number.
    pub number: u32,
    /// The record's name.
    pub label: Rc<str>,
    /// What the application was told.
    pub told: Chip,
    /// The error of the latest attempt, while it is tried again.
    pub refused: Option<&'static str>,
    /// How long it waited for that, in words, and in percent of the longest wait in view.
    pub waited: Option<(Rc<str>, u8)>,
    /// For each broker where its copy is, and whether that broker is down.
    pub copies: Vec<(Chip, bool)>,
    /// What is true.
    pub fate: Chip,
}

/// The ledger: the records in view, and how many lie before them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerTable {
    /// The brokers, by name.
    pub brokers: Vec<Rc<str>>,
    /// The records, in the order in which they were sent.
    pub columns: Vec<LedgerColumn>,
    /// How many records lie before the first column.
    pub earlier: usize,
    /// How many wait to be sent behind the last column.
    pub later: usize,
}

/// One line of the event log.
#[derive(Clone, Debug, PartialEq)]
pub struct EventLine {
    /// The step that it belongs to.
    pub step: usize,
    /// Its virtual time.
    pub at: Rc<str>,
    /// What happened and why.
    pub change: Change,
}

/// How a knob is turned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// One of a few words.
    Choice(Vec<Rc<str>>),
    /// A number, or a duration or size in words.
    Text,
}

/// One knob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Kafka's name.
    pub name: &'static str,
    /// What it is about; nothing for those that come first.
    pub group: &'static str,
    /// The type of its value, as Kafka names it.
    pub kind: Rc<str>,
    /// The value as it stands.
    pub value: Rc<str>,
    /// Kafka's default.
    pub default: Rc<str>,
    /// Which values are allowed, in words.
    pub range: Rc<str>,
    /// What a bare number counts.
    pub unit: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// How it is turned.
    pub control: Control,
    /// Whether it differs from where this run began.
    pub changed: bool,
    /// Whose value it is where there are several, and for whom it is turned; empty where there is one.
    pub whose: Rc<str>,
}

/// Something that can be done to a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends.
    Kill,
    /// The host loses power; only what was flushed is kept.
    PowerOff,
    /// The host loses power, and what ends below this offset had reached the disk.
    PowerOffKeeping(i64),
    /// The last batch is cut in two, on a broker that is down.
    Tear,
    /// A byte of the last batch is inverted, on a broker that is down.
    Flip,
    /// The newest segment's offset index is removed, on a broker that is down.
    RemoveIndex,
    /// It hands over, flushes, and ends.
    Stop,
    /// The process freezes.
    Pause,
    /// It goes on.
    Resume,
    /// No message to or from any other node.
    Cut,
    /// Messages again.
    Heal,
    /// The process starts.
    Start,
    /// The whole data directory is lost, on a broker that is down.
    Wipe,
    /// Everything that it does takes several times as long.
    Slow,
    /// Everything takes as long as before.
    Hasten,
}

/// One entry of a broker's menu: what would happen is said before it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultOption {
    /// What is done.
    pub fault: Fault,
    /// Its name.
    pub title: &'static str,
    /// What survives.
    pub survives: Rc<str>,
    /// What dies; empty when nothing does.
    pub dies: Rc<str>,
    /// What can be chosen of a power loss: how much had reached the disk.
    pub power_loss: Option<Rc<PowerLoss>>,
}

/// What kind of moment a mark on the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A record was acknowledged.
    Acked,
    /// A segment rolled.
    Roll,
    /// The ISR changed.
    Isr,
    /// A segment was deleted.
    Deleted,
    /// A record was refused or timed out.
    Refused,
    /// A replica was truncated.
    Truncated,
    /// A leader was elected.
    Election,
    /// A partition has no leader any more.
    Offline,
    /// A broker crashed.
    Crash,
    /// An acknowledged record was lost.
    Lost,
}

impl MarkKind {
    /// The kind in words.
    pub const fn word(self) -> &'static str {
        match self {
            MarkKind::Acked => "acknowledged",
            MarkKind::Roll => "new segment",
            MarkKind::Isr => "in-sync set changed",
            MarkKind::Deleted => "segment deleted",
            MarkKind::Refused => "refused",
            MarkKind::Truncated => "truncated",
            MarkKind::Election => "election",
            MarkKind::Offline => "offline",
            MarkKind::Crash => "crash",
            MarkKind::Lost => "record lost",
        }
    }
}

/// A mark on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The step.
    pub step: usize,
    /// What happened there.
    pub kind: MarkKind,
}

/// So much of a whole as a part is of all parts. `usize` has 32 bits in the page, too few for the product.
pub fn part_of(whole: u64, part: usize, parts: usize) -> u64 {
    whole * part as u64 / (parts as u64).max(1)
}

/// At most this many marks are drawn.
const MARKS_DRAWN: usize = 48;

/// The marks to draw: of those that would fall on one another the weightiest.
pub fn thin(marks: &[Mark], steps: usize) -> Vec<Mark> {
    let mut drawn: Vec<Mark> = Vec::new();
    let apart = steps.div_ceil(MARKS_DRAWN);
    for mark in marks {
        match drawn.last_mut() {
            Some(last) if mark.step - last.step < apart.max(1) => {
                if mark.kind > last.kind {
                    *last = *mark;
                }
            }
            _ => drawn.push(*mark),
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_long_run_is_found_too() {
        let far = u32::MAX as usize;
        let cases = [
            ((10_000, 0, 0), 0),
            ((10_000, 1, 3), 3_333),
            ((10_000, 429_497, 429_497), 10_000),
            ((10_000, far / 2, far), 4_999),
            ((u64::from(u32::MAX), far, far), u64::from(u32::MAX)),
        ];
        for ((whole, part, parts), expected) in cases {
            assert_eq!(part_of(whole, part, parts), expected, "{part} of {parts}");
        }
    }

    #[test]
    fn of_marks_on_one_spot_the_weightiest_is_drawn() {
        let mark = |step, kind| Mark { step, kind };
        let few = [
            mark(3, MarkKind::Acked),
            mark(3, MarkKind::Crash),
            mark(9, MarkKind::Acked),
        ];
        assert_eq!(thin(&few, 12), [mark(3, MarkKind::Crash), mark(9, MarkKind::Acked)]);
        let many: Vec<Mark> = (0..10_000)
            .map(|step| mark(step, if step == 77 { MarkKind::Lost } else { MarkKind::Acked }))
            .collect();
        let drawn = thin(&many, 10_000);
        assert!(drawn.len() <= MARKS_DRAWN, "{}", drawn.len());
        assert!(drawn.contains(&mark(77, MarkKind::Lost)));
    }
}
