//! A run on the playground as a whole text: what was done and what is to come, and where the present lies in it.
//!
//! The lines of the text that was begun with stay as they are, comments and blank lines among them; what somebody does is
//! put where it happened. Deliberately absent: how the text is shown.

use std::rc::Rc;

use crate::history::{Playback, Said, Written};
use crate::scenario::ast::{Script, Statement};
use crate::scenario::comment;

/// What stands for a trace that the run is no longer expected to have.
const NO_TRACE: &str = "# A trace stood here: of the script alone, without what was done since.";

/// A run as a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// The text.
    pub text: Rc<str>,
    /// What it says, each with the number of lines up to its end.
    written: Vec<(Written, usize)>,
    lines: usize,
    /// Of which state of the run it is.
    changes: u64,
}

/// Where in the text the present lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Present {
    /// How many of its lines were played.
    pub played: usize,
    /// How many lines belong to what is under way; none if nothing is.
    pub under_way: usize,
    /// How many lines there are.
    pub lines: usize,
}

impl Present {
    /// Where it is, in words.
    pub fn words(&self) -> String {
        let Present {
            played,
            under_way,
            lines,
        } = *self;
        match under_way {
            0 if played == lines => "All of it is played.".to_string(),
            0 if played == 0 => format!("{lines} lines, nothing of them played yet."),
            0 => format!("Played to line {played} of {lines}."),
            more => format!("Line {} of {lines} is under way.", played + more),
        }
    }
}

impl Whole {
    /// The text of a run, put together from the one that its script was read from, if there is one.
    pub fn new(source: Option<&str>, playback: &Playback, split: Option<usize>) -> Whole {
        let script = playback.script();
        let mut sheet = Sheet {
            source: Source::new(source, script),
            lines: Vec::new(),
        };
        let written = playback.written(split);
        let is_script = written.iter().all(|one| matches!(one.said, Said::Script(_)));
        let ends: Vec<usize> = written.iter().map(|one| sheet.write(&one.said, script)).collect();
        sheet.end(is_script);
        let lines = sheet.lines.len();
        let mut text = sheet.lines.join("\n");
        if lines > 0 {
            text.push('\n');
        }
        Whole {
            text: text.into(),
            written: written.into_iter().zip(ends).collect(),
            lines,
            changes: playback.changes(),
        }
    }

    /// Whether it is still the text of a run.
    pub fn is_of(&self, playback: &Playback) -> bool {
        self.changes == playback.changes()
    }

    /// Whether somebody did something of their own, other than to step on.
    pub fn is_touched(&self) -> bool {
        let steps = |said: &Said| match said {
            Said::Own(statement) => matches!(**statement, Statement::Step(_) | Statement::RunTo(_)),
            _ => false,
        };
        let own = |said: &Said| matches!(said, Said::Own(_));
        self.written.iter().any(|(one, _)| own(&one.said) && !steps(&one.said))
    }

    /// How many statements lead to a position.
    pub fn statements(&self, position: usize) -> usize {
        self.written.partition_point(|(one, _)| one.is_done(position))
    }

    /// Where a position lies in the text.
    pub fn present(&self, position: usize) -> Present {
        let done = self.statements(position);
        let end = |at: usize| self.written.get(at).map(|(_, end)| *end);
        let played = match done.checked_sub(1) {
            Some(_) if done == self.written.len() => self.lines,
            Some(last) => end(last).unwrap_or_default(),
            None => 0,
        };
        let is_under_way = self.written.get(done).is_some_and(|(one, _)| one.from < position);
        Present {
            played,
            under_way: end(done)
                .filter(|_| is_under_way)
                .map_or(0, |end| end.saturating_sub(played)),
            lines: self.lines,
        }
    }

    /// The text with a line put in where a position lies.
    pub fn with(&self, position: usize, line: &str) -> String {
        let before = self.present(position).played;
        let mut lines: Vec<&str> = self.text.lines().collect();
        let rest = lines.split_off(before.min(lines.len()));
        lines.push(line);
        // What stands behind a line without a blank one between belongs to what follows.
        if rest.first().is_some_and(|next| !next.trim().is_empty()) {
            lines.push("");
        }
        lines.extend(rest);
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }
}

/// The lines of the text that was begun with.
struct Source<'a> {
    /// All but the last ones, which belong to no statement: comments, the trace.
    lines: Vec<&'a str>,
    /// How many of them were put in.
    used: usize,
    /// The number of each statement's line.
    numbers: Vec<usize>,
}

impl<'a> Source<'a> {
    fn new(source: Option<&'a str>, script: &Script) -> Source<'a> {
        let source = source.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
        Source {
            lines: source.map_or_else(Vec::new, |text| text.lines().collect()),
            used: 0,
            numbers: match source {
                Some(_) => script.lines.iter().map(|line| line.number as usize).collect(),
                None => Vec::new(),
            },
        }
    }

    /// The line of a statement.
    fn line(&self, index: usize) -> Option<&'a str> {
        self.lines.get(self.numbers.get(index)?.checked_sub(1)?).copied()
    }

    /// The comments and blank lines before a statement that were not put in yet.
    fn before(&mut self, index: usize) -> &[&'a str] {
        let Some(number) = self.numbers.get(index).copied() else {
            return &[];
        };
        let used = self.used;
        self.used = used.max(number);
        self.lines.get(used..number - 1).unwrap_or_default()
    }

    /// Those behind a statement that belong to it: up to a blank line, or to the end.
    fn behind(&mut self, index: usize) -> &[&'a str] {
        let used = self.used;
        let rest = self.lines.get(used..).unwrap_or_default();
        let between = match self.numbers.get(index + 1) {
            Some(next) => &rest[..(next - 1).saturating_sub(used).min(rest.len())],
            None => &rest[..rest.iter().position(|line| is_rule(line)).unwrap_or(rest.len())],
        };
        let own = match (
            between.iter().position(|line| line.trim().is_empty()),
            self.numbers.get(index + 1),
        ) {
            (_, None) => between.len(),
            (Some(blank), Some(_)) => blank,
            (None, Some(_)) => 0,
        };
        self.used += own;
        &between[..own]
    }
}

/// Whether a line ends the statements.
fn is_rule(line: &str) -> bool {
    line.trim_end() == "----"
}

/// A text that is being written.
struct Sheet<'a> {
    source: Source<'a>,
    lines: Vec<String>,
}

impl Sheet<'_> {
    /// Writes a statement; gives back how many lines there are then.
    fn write(&mut self, said: &Said, script: &Script) -> usize {
        match said {
            Said::Script(index) => {
                self.before(*index);
                let line = self.source.line(*index).map(str::to_string);
                let statement = || script.lines.get(*index).map(|line| line.statement.to_string());
                self.lines.extend(line.or_else(statement));
                self.behind(*index);
            }
            Said::Part(index, part) => {
                let is_first = self
                    .source
                    .numbers
                    .get(*index)
                    .is_some_and(|number| self.source.used < *number);
                self.before(*index);
                if is_first {
                    let comment = self.source.line(*index).and_then(comment);
                    self.lines.extend(comment.map(str::to_string));
                }
                self.lines.push(part.to_string());
            }
            Said::Own(statement) => self.lines.push(statement.to_string()),
        }
        self.lines.len()
    }

    fn before(&mut self, index: usize) {
        self.lines
            .extend(self.source.before(index).iter().map(|line| line.to_string()));
    }

    fn behind(&mut self, index: usize) {
        self.lines
            .extend(self.source.behind(index).iter().map(|line| line.to_string()));
    }

    /// Writes what stands at the end; a trace only where the run is the one that it was expected of.
    fn end(&mut self, is_script: bool) {
        let rest = self.source.lines.get(self.source.used..).unwrap_or_default();
        let rule = rest.iter().position(|line| is_rule(line)).unwrap_or(rest.len());
        self.lines.extend(rest[..rule].iter().map(|line| line.to_string()));
        if is_script {
            self.lines.extend(rest[rule..].iter().map(|line| line.to_string()));
        } else if rule < rest.len() {
            self.lines.push(NO_TRACE.to_string());
        }
    }
}
