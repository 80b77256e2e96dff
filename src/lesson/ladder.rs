//! A ladder: runs of the lesson played again under each set of rules by which a replica finds where its log must end, side
//! by side.
//!
//! A column is the end of a scene and what a good rule keeps true there. Nothing is written down of how it comes out: each
//! cell is a run of its own. Deliberately absent: what the rules are; `cluster::rules` has them.

use super::blocks::Written;
use super::fault::Fault;
use super::model::{Condition, Lesson, Run};
use super::said;
use crate::history::Playback;
use crate::scenario::ast::{Expectation, Line, ReplicationRules, Script, Statement};
use crate::scenario::look::judge;

/// The rules from the oldest to today's.
pub const RULES: [ReplicationRules; 4] = [
    ReplicationRules::HwTruncation,
    ReplicationRules::Kip101,
    ReplicationRules::Kip279,
    ReplicationRules::Kip320,
];

/// How a column is written.
pub(super) const COLUMN: &str = "write 'column: SCENE | SUBJECT OP VALUE | HEADING'";

/// The block.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// What is looked at.
    pub columns: Vec<Column>,
}

/// One run, and what to look at in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its line.
    pub line: u32,
    /// What stands above it.
    pub heading: String,
    /// The stop at the end of its scene.
    pub until: usize,
    /// What a good rule keeps true.
    pub wanted: Expectation,
}

/// How a run came out under one set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// What was found.
    pub found: String,
    /// Whether it is what was wanted.
    pub holds: bool,
}

/// `column: SCENE | EXPECTATION | HEADING`: its three parts.
///
/// # Errors
/// That the line is another.
pub(super) fn parts(written: &Written) -> Result<[&str; 3], Fault> {
    let rest = written.text.trim().strip_prefix("column:").unwrap_or_default();
    let parts: Vec<&str> = rest.split('|').map(str::trim).collect();
    match parts.as_slice() {
        [scene, wanted, heading] if parts.iter().all(|part| !part.is_empty()) => Ok([scene, wanted, heading]),
        _ => Err(Fault::new(
            written.line,
            format!("'{}' is no line of a ladder", written.text.trim()),
            COLUMN,
        )),
    }
}

impl Ladder {
    /// What each set of rules comes to in each column, in the order of [`RULES`].
    pub fn climb(&self, lesson: &Lesson) -> Vec<Vec<Rung>> {
        let rungs = |rules: &ReplicationRules| {
            let columns = self.columns.iter();
            columns.map(|column| column.under(*rules, lesson)).collect()
        };
        RULES.iter().map(rungs).collect()
    }

    /// What is not so: a column that fails under today's rules, or that tells no rule from another.
    pub(super) fn faults(&self, lesson: &Lesson) -> Vec<Fault> {
        let rungs = self.climb(lesson);
        let mut faults = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let mut of_column = rungs.iter().filter_map(|rung| rung.get(at));
            let fault = |wrong: String| Fault::new(column.line, wrong, "correct the column, or the engine");
            match of_column.next_back() {
                Some(today) if !today.holds => {
                    let wrong = format!("under {} expected {}, found {}", RULES[3], column.wanted, today.found);
                    faults.push(fault(wrong));
                }
                _ if of_column.all(|rung| rung.holds) => {
                    faults.push(fault("this holds under all of the rules".to_string()));
                }
                _ => {}
            }
        }
        faults
    }
}

impl Column {
    fn under(&self, rules: ReplicationRules, lesson: &Lesson) -> Rung {
        let played = lesson.stops.get(self.until).and_then(|stop| {
            let Run::Cluster(lines) = lesson.runs.get(stop.run)? else {
                return None;
            };
            let lines = under(rules, lines.get(..stop.done)?);
            let statements = lines.len();
            let mut playback = Playback::new(Script { lines, trace: None }).ok()?;
            // Where a statement waits in vain under these rules, the run ends there, and that is how it came out.
            playback.play_to(statements);
            Some(judge(&self.wanted, playback.world(), playback.ledger()))
        });
        match played {
            Some(verdict) => Rung {
                found: said::value(&verdict.found),
                holds: verdict.holds,
            },
            None => Rung {
                found: said::NONE.to_string(),
                holds: false,
            },
        }
    }
}

/// The statements of a run, under other rules than its own.
fn under(rules: ReplicationRules, lines: &[Line]) -> Vec<Line> {
    let own = |line: &&Line| !matches!(*line.statement, Statement::Rules(_));
    let number = lines.first().map_or(0, |line| line.number);
    let first = Line::new(number, Statement::Rules(rules));
    std::iter::once(first)
        .chain(lines.iter().filter(own).cloned())
        .collect()
}

/// What must hold in a column; page stores have no rules.
pub(super) fn wanted(condition: Condition) -> Option<Expectation> {
    match condition {
        Condition::Cluster(expectation) => Some(expectation),
        Condition::Stores(_) => None,
    }
}
