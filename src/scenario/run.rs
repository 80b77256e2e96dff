//! Running a script from its beginning to its end, and what came of it.
//!
//! The loop that the command line, the stories and the lessons' tests share: ask the player, perform, fold the events, note
//! what fails. Deliberately absent: files and printing; whoever wants to see events watches.

use super::ast::{Script, Statement};
use super::look::{Verdict, about};
use super::player::{Next, Player, Stop};
use super::touch::Touches;
use super::{setup, trace};
use crate::cluster::rules::Rules;
use crate::cluster::{Event, Refused, World, step};
use crate::ledger::Ledger;
use std::sync::Arc;

/// A run under way.
pub struct Run {
    /// The world as it is now.
    pub world: World,
    /// What became of each record until now.
    pub ledger: Ledger,
    touches: Touches,
    script: Arc<Script>,
    player: Player,
    /// The trace so far, if the script expects one.
    trace: Option<Vec<String>>,
    report: Report,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// How many expectations were looked at.
    pub expectations: usize,
    /// What does not hold, in order; the last one may have stopped the run.
    pub failures: Vec<Failure>,
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// An expectation.
    Expectation {
        /// Its line.
        line: u32,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
        /// The last event that touched the subject, as a line of a trace.
        last: Option<String>,
    },
    /// The run stopped.
    Stopped {
        /// At this line.
        line: u32,
        /// Why.
        stop: Stop,
    },
    /// The trace is another one.
    Trace {
        /// The line of the file at which they part.
        line: u32,
        /// What stands there, if anything does.
        expected: Option<String>,
        /// What happened there, if anything did.
        found: Option<String>,
    },
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NOTHING: &str = "the end of the trace";
        match self {
            Failure::Expectation {
                line,
                expected,
                found,
                last,
            } => {
                write!(f, "{line}: expected {expected}, found {found}")?;
                last.as_ref().map_or(Ok(()), |last| write!(f, "\n  last: {last}"))
            }
            Failure::Stopped { line, stop } => write!(f, "{line}: {stop}"),
            Failure::Trace { line, expected, found } => {
                let expected = expected.as_deref().unwrap_or(NOTHING);
                let found = found.as_deref().unwrap_or(NOTHING);
                write!(
                    f,
                    "{line}: the trace differs\n  expected {expected}\n  found    {found}"
                )
            }
        }
    }
}

impl Run {
    /// A run of this script at its beginning.
    ///
    /// # Errors
    /// A statement of the beginning that cannot apply: there is no world then.
    pub fn new(script: Arc<Script>) -> Result<Run, Failure> {
        Run::under(script, |rules| rules)
    }

    /// The same in a world with other rules than the script asks for: so a test sees what becomes of a story without one.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn under(script: Arc<Script>, change: impl FnOnce(Rules) -> Rules) -> Result<Run, Failure> {
        let (mut setup, used) = setup(&script).map_err(|(line, refused)| stopped(line, Stop::Refused(refused)))?;
        setup.rules = change(setup.rules);
        Ok(Run {
            world: World::new(setup),
            ledger: Ledger::default(),
            touches: Touches::new(&script),
            player: Player::new(Arc::clone(&script), used),
            trace: script.trace.as_ref().map(|_| Vec::new()),
            script,
            report: Report::default(),
        })
    }

    /// Runs to the end, or up to the statement that stands at this line or below. `watch` sees the events of every step
    /// and the world after it.
    pub fn play(&mut self, before: Option<u32>, mut watch: impl FnMut(&[Event], &World)) {
        let mut events = Vec::new();
        while self
            .player
            .line()
            .is_some_and(|line| before.is_none_or(|before| line < before))
        {
            match self.player.next(&self.world, &self.ledger) {
                Next::Perform(line, input) => {
                    events.clear();
                    match step(&mut self.world, input, &mut events) {
                        Ok(()) => self.happened(&events, &mut watch),
                        Err(refused) => return self.stop(line, refused),
                    }
                }
                Next::Judged(line, verdict) => self.judged(line, &verdict),
                Next::Passed(_) => {}
                Next::Stopped(line, stop) => return self.report.failures.push(stopped(line, stop)),
                Next::Finished => break,
            }
        }
        if before.is_none() {
            self.compare_traces();
        }
    }

    fn happened(&mut self, events: &[Event], watch: &mut impl FnMut(&[Event], &World)) {
        self.ledger.step(events);
        self.ledger.check(&self.world);
        self.touches.note(events, &self.world, &self.ledger);
        if let Some(lines) = &mut self.trace {
            lines.extend(events.iter().map(|event| trace::line(event, &self.world)));
        }
        watch(events, &self.world);
    }

    fn stop(&mut self, line: u32, refused: Refused) {
        self.report.failures.push(stopped(line, Stop::Refused(refused)));
    }

    fn judged(&mut self, number: u32, verdict: &Verdict) {
        self.report.expectations += 1;
        if verdict.holds {
            return;
        }
        let at = self.script.lines.partition_point(|line| line.number < number);
        let Some(Statement::Expect(expectation)) = self.script.lines.get(at).map(|line| &*line.statement) else {
            return;
        };
        let last = about::last_event(&expectation.subject, &self.touches, &self.world, &self.ledger);
        self.report.failures.push(Failure::Expectation {
            line: number,
            expected: expectation.to_string(),
            found: verdict.found.to_string(),
            last: last.map(|event| trace::line(event, &self.world)),
        });
    }

    /// Compares what happened with what the script expects, and notes where they part.
    fn compare_traces(&mut self) {
        let (Some(expected), Some(found)) = (&self.script.trace, &self.trace) else {
            return;
        };
        let same = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
        let (expected, found) = (expected.get(same), found.get(same));
        if (expected, found) != (None, None) {
            let statements = self.script.lines.last().map_or(0, |line| line.number);
            self.report.failures.push(Failure::Trace {
                line: statements + 1 + u32::try_from(same).unwrap_or(u32::MAX) + 1,
                expected: expected.cloned(),
                found: found.cloned(),
            });
        }
    }

    /// The trace, if the script expects one.
    pub fn trace(&self) -> Option<&[String]> {
        self.trace.as_deref()
    }

    /// What came of the run so far.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

fn stopped(line: u32, stop: Stop) -> Failure {
    Failure::Stopped { line, stop }
}

impl Report {
    /// Whether everything held and nothing stopped the run.
    pub fn is_ok(&self) -> bool {
        self.failures.is_empty()
    }
}
