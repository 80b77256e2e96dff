//! Playing a script: which input comes next.
//!
//! A [`Player`] holds a place in a script and nothing of the world. It is asked again and again what comes next, and is
//! shown the world each time; whoever asks performs the inputs. So the command line, which runs to the end, and the page,
//! which goes one step at a time and keeps every input in a history, give the world the same inputs.
//!
//! Deliberately absent: performing inputs, and printing.

use super::ast::{Condition, Line, Script, Statement};
use super::later;
use super::look::{self, Verdict};
use super::print;
use super::translate::{self, micros};
use crate::cluster::actor::Timer;
use crate::cluster::ids::Node;
use crate::cluster::input::{Input, Pending};
use crate::cluster::settings::Micros;
use crate::cluster::{Refused, Silent, World, step, within_time};
use crate::ledger::Ledger;
use std::collections::VecDeque;
use std::sync::Arc;

/// The bound of `run until` where none is given: ten minutes.
const DEFAULT_BOUND: Micros = 600_000_000;

/// A place in a script.
#[derive(Clone, Debug)]
pub struct Player {
    script: Arc<Script>,
    /// The statement that is under way, or comes next.
    at: usize,
    progress: Progress,
    /// The time of the last step, and how many there were at that very time.
    instant: (Micros, u32),
}

/// More steps at one time than anything does that will ever end: without latency and without waiting, fetches go round
/// for ever.
const STEPS_AT_ONE_TIME: u32 = 1_000_000;

/// How far a statement has got.
#[derive(Clone, Debug)]
pub(super) enum Progress {
    /// It has not begun.
    Fresh,
    /// These inputs are left of it.
    Acting(VecDeque<Input>),
    /// So many steps are left.
    Stepping(u64),
    /// Until this time.
    RunningTo(Micros),
    /// Until the condition holds, or this time.
    RunningUntil(Micros),
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This input is to be performed for the statement of this line.
    Perform(u32, Input),
    /// The expectation of this line was looked at.
    Judged(u32, Verdict),
    /// The statement of this line is done, and nothing of the next one has begun.
    Passed(u32),
    /// The run stops at this line.
    Stopped(u32, Stop),
    /// Every statement has been played.
    Finished,
}

/// Why a run stops before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A statement cannot apply.
    Refused(Refused),
    /// A condition did not come true within its bound.
    NotReached {
        /// What was waited for.
        condition: String,
        /// What was found instead, where one value says it.
        found: Option<String>,
        /// How long was waited, microseconds.
        waited: Micros,
    },
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Refused(refused) => write!(f, "refused: {}; {}", refused.reason, refused.remedy),
            Stop::NotReached {
                condition,
                found,
                waited,
            } => {
                let waited = super::ast::Micros(i64::try_from(*waited).unwrap_or(i64::MAX));
                write!(f, "not reached within {waited}: {condition}")?;
                found.as_ref().map_or(Ok(()), |found| write!(f, ", found {found}"))
            }
        }
    }
}

impl Player {
    /// At the first statement after those that [`super::setup`] has used.
    pub fn new(script: Arc<Script>, used: usize) -> Player {
        Player {
            script,
            at: used,
            progress: Progress::Fresh,
            instant: (0, 0),
        }
    }

    /// The line of the statement that is under way or comes next; `None` at the end.
    pub fn line(&self) -> Option<u32> {
        self.script.lines.get(self.at).map(|line| line.number)
    }

    /// The index of the statement that is under way or comes next.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether inputs of an act are left that belong together with the latest one.
    pub fn is_under_way(&self) -> bool {
        matches!(&self.progress, Progress::Acting(inputs) if !inputs.is_empty())
    }

    /// What is left of the statement that is under way or comes next; nothing if there is none, or it is done. A bound of
    /// waiting counts anew.
    pub fn left(&self) -> Option<Arc<Statement>> {
        let statement = &self.script.lines.get(self.at)?.statement;
        match (&self.progress, &**statement) {
            (Progress::Stepping(0), _) => None,
            (Progress::Stepping(left), _) => Some(Arc::new(Statement::Step(Some(*left)))),
            (Progress::RunningTo(target), _) => {
                let target = i64::try_from(*target).unwrap_or(i64::MAX);
                Some(Arc::new(Statement::RunTo(super::ast::Micros(target))))
            }
            (Progress::Acting(inputs), _) if inputs.is_empty() => None,
            _ => Some(Arc::clone(statement)),
        }
    }

    /// What comes next in this world. The input that is returned is to be performed before the next call.
    pub fn next(&mut self, world: &World, ledger: &Ledger) -> Next {
        self.next_before(usize::MAX, world, ledger)
    }

    /// As [`next`](Self::next), finished when the statement at this index is reached.
    pub fn next_before(&mut self, end: usize, world: &World, ledger: &Ledger) -> Next {
        let script = Arc::clone(&self.script);
        let Some(Line { number, statement }) = script.lines.get(self.at).filter(|_| self.at < end) else {
            return Next::Finished;
        };
        match self.advance(statement, world, ledger) {
            Ok(Some(Move::Input(input))) => match self.stands_still(&input, world.now()) {
                Some(refused) => Next::Stopped(*number, Stop::Refused(refused)),
                None => Next::Perform(*number, input),
            },
            Ok(Some(Move::Judged(verdict))) => {
                self.finish();
                Next::Judged(*number, verdict)
            }
            Ok(None) => {
                self.finish();
                Next::Passed(*number)
            }
            Err(stop) => Next::Stopped(*number, stop),
        }
    }

    /// Why a run does not go on in which steps follow one another for ever and time does not pass.
    fn stands_still(&mut self, input: &Input, now: Micros) -> Option<Refused> {
        if !matches!(input, Input::Next) {
            return None;
        }
        let (at, steps) = self.instant;
        self.instant = (now, if at == now { steps + 1 } else { 0 });
        (self.instant.1 >= STEPS_AT_ONE_TIME).then(|| {
            Refused::new(
                format!("{STEPS_AT_ONE_TIME} steps were made at one time, and more follow"),
                "give the links a latency, or the fetches a time to wait",
            )
        })
    }

    fn finish(&mut self) {
        self.at += 1;
        self.progress = Progress::Fresh;
    }

    /// The next move of a statement; nothing once it is done.
    fn advance(&mut self, statement: &Statement, world: &World, ledger: &Ledger) -> Result<Option<Move>, Stop> {
        if let Statement::Expect(expectation) = statement {
            let later = later::get().ok_or_else(missing)?;
            return Ok(Some(Move::Judged((later.judge)(expectation, world, ledger))));
        }
        if let Progress::Fresh = self.progress {
            self.progress = begin(statement, world).map_err(Stop::Refused)?;
        }
        let input = match &mut self.progress {
            Progress::Fresh => None,
            Progress::Acting(inputs) => inputs.pop_front(),
            Progress::Stepping(0) => None,
            Progress::Stepping(left) => {
                *left -= 1;
                Some(Input::Next)
            }
            Progress::RunningTo(target) => towards(*target, world),
            Progress::RunningUntil(bound) => {
                let later = later::get().ok_or_else(missing)?;
                return (later.until)(statement, *bound, world, ledger);
            }
        };
        Ok(input.map(Move::Input))
    }
}

/// A move of a statement.
pub(super) enum Move {
    Input(Input),
    Judged(Verdict),
}

/// The statement cannot be played yet.
fn missing() -> Stop {
    Stop::Refused(Refused::missing())
}

/// How a statement begins.
fn begin(statement: &Statement, world: &World) -> Result<Progress, Refused> {
    Ok(match statement {
        Statement::Step(count) => Progress::Stepping(count.unwrap_or(1)),
        Statement::RunFor(duration) => Progress::RunningTo(within_time(world.now() + micros(*duration))?),
        Statement::RunTo(_) | Statement::RunUntil { .. } | Statement::Deliver { .. } | Statement::Fire { .. } => {
            (later::get().ok_or_else(Refused::missing)?.begin)(statement, world)?
        }
        other => {
            let inputs = translate::inputs(other, world)?;
            if inputs.len() > 1 {
                try_all(&inputs, world)?;
            }
            acting(inputs)
        }
    })
}

/// The inputs that perform an act now; none for a statement that is none.
///
/// # Errors
/// Why it cannot be performed.
pub fn acts(statement: &Statement, world: &World) -> Result<Vec<Input>, Refused> {
    if statement.sets_up() {
        let verb = print::verb(statement);
        return Err(Refused::new(
            format!("'{verb}' sets up the world, which is there already"),
            format!("change the text of the scenario, where '{verb}' comes first, and play it"),
        ));
    }
    match begin(statement, world)? {
        Progress::Acting(inputs) => Ok(inputs.into()),
        _ => Ok(Vec::new()),
    }
}

/// How a statement begins that the landing does without.
pub(super) fn begin_any(statement: &Statement, world: &World) -> Result<Progress, Refused> {
    Ok(match statement {
        Statement::RunTo(time) if micros(*time) < world.now() => {
            let now = super::ast::Micros(i64::try_from(world.now()).unwrap_or(i64::MAX));
            return Err(Refused::new(
                format!("{time} has passed: it is {now}"),
                "name a later time, or use 'run for'",
            ));
        }
        Statement::RunTo(time) => Progress::RunningTo(within_time(micros(*time))?),
        Statement::RunUntil { within, .. } => {
            Progress::RunningUntil(world.now().saturating_add(within.map_or(DEFAULT_BOUND, micros)))
        }
        Statement::Deliver { kind, from, to } => {
            let (from, to) = (translate::node(from, world)?, translate::node(to, world)?);
            acting(vec![Input::Run(delivery(
                translate::message_kind(*kind),
                from,
                to,
                world,
            )?)])
        }
        Statement::Fire { timer, node, partition } => {
            let node = translate::node(node, world)?;
            let partition = partition
                .as_ref()
                .map(|at| translate::partition(at, world))
                .transpose()?;
            let fits = |armed: &Timer| {
                armed.kind.name() == timer.word() && partition.is_none_or(|at| armed.partition == Some(at))
            };
            acting(vec![Input::Run(firing(node, fits, world)?)])
        }
        _ => acting(Vec::new()),
    })
}

fn acting(inputs: Vec<Input>) -> Progress {
    Progress::Acting(inputs.into())
}

/// That all inputs of one statement or act can be performed: it happens as a whole or not at all.
///
/// # Errors
/// What the first that cannot is refused for.
pub(crate) fn try_all(inputs: &[Input], world: &World) -> Result<(), Refused> {
    let mut trial = world.clone();
    inputs
        .iter()
        .try_for_each(|input| step(&mut trial, input.clone(), &mut Silent))
}

/// Time passes up to a target, with everything that is due until then and at it.
fn towards(target: Micros, world: &World) -> Option<Input> {
    match world.next() {
        Some((due, _)) if due <= target => Some(Input::Next),
        _ if world.now() < target => Some(Input::Wait(target)),
        _ => None,
    }
}

/// The next move of `run until`.
pub(super) fn until(
    statement: &Statement,
    bound: Micros,
    world: &World,
    ledger: &Ledger,
) -> Result<Option<Move>, Stop> {
    let Statement::RunUntil { condition, within } = statement else {
        return Ok(None);
    };
    if holds(condition, world, ledger) {
        return Ok(None);
    }
    match world.next() {
        Some((due, _)) if due <= bound => Ok(Some(Move::Input(Input::Next))),
        _ => Err(Stop::NotReached {
            condition: condition.to_string(),
            found: match condition {
                Condition::Holds(expectation) => Some(look::judge(expectation, world, ledger).found.to_string()),
                Condition::Quiet | Condition::Acked => None,
            },
            waited: within.map_or(DEFAULT_BOUND, micros),
        }),
    }
}

fn holds(condition: &Condition, world: &World, ledger: &Ledger) -> bool {
    match condition {
        Condition::Quiet => world.is_quiet(),
        Condition::Acked => world.undecided() == 0,
        Condition::Holds(expectation) => look::judge(expectation, world, ledger).holds,
    }
}

/// The first message of that kind on a path, if it is the one that can arrive next there.
fn delivery(
    kind: crate::cluster::message::MessageKind,
    from: Node,
    to: Node,
    world: &World,
) -> Result<Pending, Refused> {
    let first = world.network().heads().find(|(a, b, _)| (*a, *b) == (from, to));
    match first {
        Some((.., head)) if head.message.kind() == kind => Ok(Pending::Message { from, to }),
        Some((.., head)) => Err(Refused::new(
            format!(
                "the next message on that path is of the kind {}",
                head.message.kind().name()
            ),
            "deliver that one first: one connection keeps its order",
        )),
        None => Err(Refused::new(
            "nothing is on the wire on that path",
            "look at what is in flight",
        )),
    }
}

/// The earliest timer of a node that fits.
fn firing(node: Node, fits: impl Fn(&Timer) -> bool, world: &World) -> Result<Pending, Refused> {
    let armed = world
        .timers()
        .iter()
        .filter(|(of, timer, _)| *of == node && fits(timer));
    armed
        .min_by_key(|(_, timer, due)| (*due, *timer))
        .map(|(_, timer, _)| Pending::Timer { node, timer })
        .ok_or_else(|| Refused::new("no such timer is armed", "look at what is pending"))
}

/// Whether a statement would be refused now.
pub(super) fn would_refuse(statement: &Statement, world: &World) -> bool {
    match begin(statement, world) {
        Err(_) => true,
        Ok(Progress::Acting(inputs)) => try_all(inputs.as_slices().0, world).is_err(),
        Ok(_) => false,
    }
}
