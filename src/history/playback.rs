//! A script played on a history: forward one visible step at a time, back, anywhere; and somebody may act in between.
//!
//! The script's next input comes from the scenario's [`Player`], a place in the script that is kept for every position. So
//! after going back the script goes on from there as it did before, and after an act of somebody's own it goes on in the
//! world that the act has made. What was done can be printed as a scenario that leads to the same state.
//!
//! Deliberately absent: speed and clocks; whoever plays says when the next step comes.

use std::sync::Arc;

use super::{Acted, CutNotice, History};
use crate::cluster::{Input, Refused, World};
use crate::ledger::Ledger;
use crate::scenario::ast::{Line, Script, Statement};
use crate::scenario::look::Verdict;
use crate::scenario::player::{acts, try_all};
use crate::scenario::{Next, Player, Stop, setup};
use crate::sorted::SortedMap;

mod written;

use written::{Printer, Reach};

pub use written::{Said, Written};

/// Why an input was performed.
#[derive(Clone, Debug)]
enum Origin {
    /// For the statement at this index of the script.
    Script(usize),
    /// Somebody did this, as the act of this number.
    Own(usize, Arc<Statement>),
    /// The script had ended and time went on.
    Beyond,
}

impl PartialEq for Origin {
    fn eq(&self, other: &Origin) -> bool {
        match (self, other) {
            (Origin::Script(a), Origin::Script(b)) => a == b,
            // An act is known by its number.
            (Origin::Own(a, _), Origin::Own(b, _)) => a == b,
            (Origin::Beyond, Origin::Beyond) => true,
            _ => false,
        }
    }
}

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Stepped {
    /// The world has moved on.
    Moved,
    /// The script cannot go on at this line.
    Stopped(u32, Stop),
    /// Nothing is left: the script has ended and the world is quiet.
    AtRest,
}

/// What expectations came to, by the position at which each was looked at and the index of its statement.
type Judged = SortedMap<(usize, usize), Verdict>;

/// A part of a run that was cut off.
#[derive(Clone)]
struct Behind {
    places: Vec<Player>,
    origins: Vec<Origin>,
    judged: Judged,
}

/// A script on a history.
#[derive(Clone)]
pub struct Playback {
    history: History,
    script: Arc<Script>,
    /// The place in the script at every position.
    places: Vec<Player>,
    /// Why the input that leads from each position to the next was performed.
    origins: Vec<Origin>,
    /// What the script's expectations came to: where they were looked at, and which statement each is.
    judged: Judged,
    /// What lies behind the latest cut.
    cut: Option<Behind>,
    /// Acts of somebody's own so far, those that were undone among them.
    own: usize,
    /// How many inputs each of them took that let time pass to its end.
    passed: SortedMap<usize, usize>,
    /// How often the run was changed.
    changes: u64,
}

impl Playback {
    /// At the beginning of a script, after the statements that set the world up.
    ///
    /// # Errors
    /// The first statement of the beginning that cannot apply, with its line.
    pub fn new(script: Script) -> Result<Playback, (u32, Refused)> {
        let (setup, used) = setup(&script)?;
        let script = Arc::new(script);
        let first = Player::new(Arc::clone(&script), used);
        Ok(Playback {
            history: History::new(World::new(setup)),
            script,
            places: vec![first],
            origins: Vec::new(),
            judged: Judged::new(),
            cut: None,
            own: 0,
            passed: SortedMap::new(),
            changes: 0,
        })
    }

    /// The run: where it stands, its marks, its events.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The world at the present position.
    pub fn world(&self) -> &World {
        self.history.world()
    }

    /// The ledger at the present position.
    pub fn ledger(&self) -> &Ledger {
        self.history.ledger()
    }

    /// The script.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// The line of the script whose statement is under way or comes next; `None` behind its end.
    pub fn line(&self) -> Option<u32> {
        self.place().line()
    }

    /// How often the run was changed so far: while the number stays, it is [written](Self::written) down the same.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether the script says more than what was played, or a statement of it is under way.
    pub fn has_more(&self) -> bool {
        let is_last = |place: &Player| place.at() + 1 == self.script.lines.len();
        let is_done = |place: &Player| place.line().is_none() || is_last(place) && place.left().is_none();
        !self.places.last().is_none_or(is_done)
    }

    /// One visible step forward: what was done here before, or else what the script says, or else what is pending.
    pub fn step(&mut self) -> Stepped {
        if !self.history.at_end() {
            self.seek(self.history.position() + 1);
            return Stepped::Moved;
        }
        match self.advance(usize::MAX) {
            Some(stepped) => {
                self.pass();
                stepped
            }
            None if self.world().is_quiet() || self.world().next().is_none() => Stepped::AtRest,
            None => {
                let place = self.place().clone();
                self.perform(Input::Next, Origin::Beyond, place)
                    .map_or(Stepped::AtRest, |_| Stepped::Moved)
            }
        }
    }

    /// As [`step`](Self::step), but no farther than the script's first so many statements; `None` once they are done.
    pub fn step_within(&mut self, statements: usize) -> Option<Stepped> {
        if self.history.at_end() {
            return self.advance(statements);
        }
        self.seek(self.history.position() + 1);
        Some(Stepped::Moved)
    }

    /// Goes to where so many statements of the script are done, and plays as far as that if it was not played yet.
    pub fn play_to(&mut self, statements: usize) -> Stepped {
        let is_behind = |origin: &Origin| matches!(origin, Origin::Script(index) if *index >= statements);
        if self.origins.iter().any(is_behind) {
            let last = self
                .origins
                .iter()
                .rposition(|origin| matches!(origin, Origin::Script(index) if *index < statements));
            self.history.seek(last.map_or(0, |at| at + 1));
            return Stepped::Moved;
        }
        self.history.seek(self.history.len());
        loop {
            match self.advance(statements) {
                Some(Stepped::Moved) => {}
                Some(stopped) => return stopped,
                None => return Stepped::Moved,
            }
        }
    }

    /// Plays on until there are so many inputs, or the script cannot go on or is done (at rest).
    pub fn play_on(&mut self, inputs: usize) -> Stepped {
        self.history.seek(self.history.len().min(inputs));
        while self.history.position() < inputs {
            match self.advance(usize::MAX) {
                Some(Stepped::Moved) => {}
                Some(stopped) => return stopped,
                None => return Stepped::AtRest,
            }
        }
        self.pass();
        Stepped::Moved
    }

    /// Passes the statements that take no time and no input, such as expectations, at the end of what was played.
    fn pass(&mut self) {
        loop {
            let mut place = self.place().clone();
            match place.next(self.world(), self.ledger()) {
                Next::Judged(_, verdict) => self.judge(place, verdict),
                Next::Passed(_) => self.move_place(place),
                _ => return,
            }
        }
    }

    /// One step back; says whether there was one.
    pub fn back(&mut self) -> bool {
        let mut position = self.history.position();
        while position > 0 {
            position -= 1;
            if !self.is_within_an_act(position) {
                return self.history.seek(position);
            }
        }
        false
    }

    /// Goes to a position, or to the end of the act in whose middle it lies; says whether it exists.
    pub fn seek(&mut self, position: usize) -> bool {
        let mut position = position;
        while self.is_within_an_act(position) {
            position += 1;
        }
        self.history.seek(position)
    }

    /// Somebody does something of their own now. The future is cut off if there was one; the script goes on from here.
    ///
    /// # Errors
    /// A statement that cannot apply is refused as a whole, and everything stays as it was.
    pub fn act(&mut self, statement: Statement) -> Result<Acted, Refused> {
        let all = acts(&statement, self.world())?;
        if all.is_empty() {
            return Err(Refused::new(
                "this is nothing that can be done by itself",
                "use an act, such as 'kill 1'",
            ));
        }
        try_all(&all, self.world())?;
        let statement = Arc::new(statement);
        let place = self.place().clone();
        self.own += 1;
        let own = self.own;
        let mut acted = Acted { cut: None };
        for input in all {
            let done = self.perform(input, Origin::Own(own, Arc::clone(&statement)), place.clone())?;
            acted.cut = acted.cut.or(done.cut);
        }
        Ok(acted)
    }

    /// Lets time pass beyond or within the script, as a statement of time says (`run for 10s`); at rest if none had to.
    ///
    /// # Errors
    /// A statement that is no time, or time that cannot pass so.
    pub fn let_pass(&mut self, statement: Statement) -> Result<Stepped, Refused> {
        if !statement.is_time() {
            return Err(Refused::new(
                "this is no time that could pass",
                "use 'run for', 'run to', 'run until' or 'step'",
            ));
        }
        let statement = Arc::new(statement);
        let script = Script {
            lines: vec![Line {
                number: 1,
                statement: Arc::clone(&statement),
            }],
            trace: None,
        };
        let mut clock = Player::new(Arc::new(script), 0);
        let place = self.place().clone();
        self.own += 1;
        let own = self.own;
        let mut inputs = 0;
        loop {
            match clock.next(self.world(), self.ledger()) {
                Next::Perform(_, input) => {
                    self.perform(input, Origin::Own(own, Arc::clone(&statement)), place.clone())?;
                    inputs += 1;
                }
                Next::Stopped(line, stop) => return Ok(Stepped::Stopped(line, stop)),
                Next::Judged(..) | Next::Passed(_) => {}
                Next::Finished if inputs == 0 => return Ok(Stepped::AtRest),
                Next::Finished => {
                    self.passed.insert(own, inputs);
                    return Ok(Stepped::Moved);
                }
            }
        }
    }

    /// What somebody did of their own up to the present position, in order; time that they let pass is left out.
    pub fn own_acts(&self) -> Vec<&Statement> {
        let mut last = None;
        let mut acts = Vec::new();
        for origin in &self.origins[..self.history.position().min(self.origins.len())] {
            match origin {
                Origin::Own(number, statement) if last != Some(*number) && !statement.is_time() => {
                    last = Some(*number);
                    acts.push(&**statement);
                }
                _ => {}
            }
        }
        acts
    }

    /// The act that led to the present position; nothing where time did.
    pub fn act_here(&self) -> Option<&Statement> {
        self.statement_here().filter(|statement| !statement.is_time())
    }

    /// The statement of time that ends at the present position, and the position at which it began.
    pub fn time_here(&self) -> Option<(&Statement, usize)> {
        let statement = self.statement_here().filter(|statement| statement.is_time())?;
        let (past, coming) = self.origins.split_at_checked(self.history.position())?;
        let last = past.last()?;
        let inputs = past.iter().rev().take_while(|origin| *origin == last).count();
        (coming.first() != Some(last)).then_some((statement, past.len() - inputs))
    }

    /// The statement that led to the present position.
    fn statement_here(&self) -> Option<&Statement> {
        let before = self.history.position().checked_sub(1)?;
        match self.origins.get(before)? {
            Origin::Script(index) => Some(&self.script.lines.get(*index)?.statement),
            Origin::Own(_, statement) => Some(statement),
            Origin::Beyond => None,
        }
    }

    /// The latest cut that can be undone.
    pub fn cut_notice(&self) -> Option<CutNotice> {
        self.history.cut_notice()
    }

    /// Brings back the future that was cut off last; undoing again brings back what was done since.
    pub fn undo_cut(&mut self) -> bool {
        let Some(old) = self.cut.take() else {
            return false;
        };
        let Some(notice) = self.history.cut_notice() else {
            return false;
        };
        let since = self.cut_off(notice.at);
        self.places.extend(old.places);
        self.origins.extend(old.origins);
        self.judged.extend(old.judged);
        self.cut = (!since.origins.is_empty()).then_some(since);
        self.changes += 1;
        self.history.undo_cut()
    }

    /// The run up to the present position as a scenario.
    #[cfg(test)]
    pub(crate) fn to_script(&self) -> Script {
        self.script_of(self.history.position())
    }

    /// The run up to the present position as a scenario, without the [last steps beyond the script](Self::steps_beyond):
    /// replayed from the beginning it leads to the same state.
    pub fn to_script_until_beyond(&self) -> Script {
        self.script_of(self.history.position() - self.steps_beyond())
    }

    /// How many of the latest steps are time that went on behind the script's end, with no act since.
    pub fn steps_beyond(&self) -> usize {
        let done = &self.origins[..self.history.position().min(self.origins.len())];
        done.iter()
            .rev()
            .take_while(|origin| **origin == Origin::Beyond)
            .count()
    }

    /// The first so many inputs as a scenario.
    fn script_of(&self, inputs: usize) -> Script {
        let written = Printer::new(self, Reach::Until(inputs)).print(None);
        let statements = written.into_iter().filter_map(|written| match written.said {
            Said::Script(index) => self.script.lines.get(index).map(|line| Arc::clone(&line.statement)),
            Said::Part(_, statement) | Said::Own(statement) => Some(statement),
        });
        let lines = (1..).zip(statements);
        Script {
            lines: lines.map(|(number, statement)| Line { number, statement }).collect(),
            trace: None,
        }
    }

    /// The run as a whole: what was done, up to the recorded end, and what is to come of the script. Where a statement of
    /// time is to be told in two parts at a position, it is.
    pub fn written(&self, split: Option<usize>) -> Vec<Written> {
        Printer::new(self, Reach::Whole).print(split)
    }

    fn cut_off(&mut self, at: usize) -> Behind {
        Behind {
            places: self.places.split_off(at + 1),
            origins: self.origins.split_off(at),
            judged: self.judged.split_off(&(at + 1, 0)),
        }
    }

    /// What the expectations came to that were looked at on the way to the present, each with its statement's index.
    pub fn verdicts(&self) -> impl Iterator<Item = (usize, &Verdict)> {
        let past = self.judged.range(..(self.history.position() + 1, 0));
        past.map(|((_, index), verdict)| (*index, verdict))
    }

    fn place(&self) -> &Player {
        let at = self.history.position().min(self.places.len().saturating_sub(1));
        &self.places[at]
    }

    /// Whether a position lies between two inputs of one act.
    fn is_within_an_act(&self, position: usize) -> bool {
        let Some((before, behind)) = position
            .checked_sub(1)
            .and_then(|at| self.origins.get(at).zip(self.origins.get(position)))
        else {
            return false;
        };
        before == behind && !self.is_time(before)
    }

    /// Whether inputs of this origin are steps of time, which may be told apart.
    fn is_time(&self, origin: &Origin) -> bool {
        match origin {
            Origin::Script(index) => self
                .script
                .lines
                .get(*index)
                .is_some_and(|line| line.statement.is_time()),
            Origin::Own(_, statement) => statement.is_time(),
            Origin::Beyond => true,
        }
    }

    /// One visible step of the script's first so many statements: an act with all its inputs, or one step of time; `None`
    /// if they are done.
    fn advance(&mut self, statements: usize) -> Option<Stepped> {
        loop {
            let mut place = self.place().clone();
            match place.next_before(statements, self.world(), self.ledger()) {
                Next::Perform(line, input) => {
                    let origin = Origin::Script(place.at());
                    let goes_on = !self.is_time(&origin) && place.is_under_way();
                    match self.perform(input, origin, place) {
                        Ok(_) if goes_on => {}
                        Ok(_) => return Some(Stepped::Moved),
                        Err(refused) => return Some(Stepped::Stopped(line, Stop::Refused(refused))),
                    }
                }
                Next::Judged(_, verdict) => self.judge(place, verdict),
                Next::Passed(_) => self.move_place(place),
                Next::Stopped(line, stop) => return Some(Stepped::Stopped(line, stop)),
                Next::Finished => {
                    self.move_place(place);
                    return None;
                }
            }
        }
    }

    /// An expectation was looked at, and passed.
    fn judge(&mut self, place: Player, verdict: Verdict) {
        if let Some(index) = place.at().checked_sub(1) {
            self.judged.insert((self.history.position(), index), verdict);
        }
        self.move_place(place);
    }

    /// Statements that took no input were passed.
    fn move_place(&mut self, place: Player) {
        let at = self.history.position();
        if let Some(kept) = self.places.get_mut(at) {
            *kept = place;
            self.changes += 1;
        }
    }

    fn perform(&mut self, input: Input, origin: Origin, place: Player) -> Result<Acted, Refused> {
        let (at, length) = (self.history.position(), self.history.len());
        let acted = self.history.act(input)?;
        if acted.cut.is_some() {
            self.cut = Some(self.cut_off(at));
        }
        // An input that was performed here before is the same step again.
        if acted.cut.is_some() || at == length {
            self.changes += 1;
            self.places.push(place);
            self.origins.push(origin);
        }
        Ok(acted)
    }
}
