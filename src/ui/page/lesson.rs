//! What each act of a person does in a lesson, as far as it is another thing than elsewhere.
//!
//! All of it belongs to the second part of the program: the page calls it through [`crate::ui::later`].

use std::rc::Rc;

use super::{Notice, Page, Place, Way};
use crate::lesson::library;
use crate::lesson::model::{self, is_act};
use crate::lesson::said;
use crate::lesson::{Answered, Fault, Lesson, Progress};
use crate::scenario::ast::Statement;
use crate::ui::act::{Act, Go};
use crate::ui::reading::{Given, Reading, Run};
use crate::ui::session::{Moved, Session};
use crate::ui::stores::play;

/// More statements and records than are played at once when somebody opens a lesson of their own.
const LONG_LESSON: u64 = 20_000;

/// More steps than anybody would watch on the way to a stop: they are gone at once.
const LONG_WAY: usize = 200;

impl Page {
    /// Begins the lesson that a text holds, where it was left.
    pub(in crate::ui) fn begin_lesson(&mut self, slug: &str, text: &str) {
        let kept = self.progress.lesson(slug);
        let is_own = library::find(slug).is_none();
        let parsed = Lesson::parse(text).map(Rc::new);
        let is_long = parsed.as_ref().is_ok_and(|lesson| lesson.effort() > LONG_LESSON);
        self.place = parsed
            .and_then(|lesson| match is_own && !is_long {
                true => lesson.replay().map(|_| lesson),
                false => Ok(lesson),
            })
            .and_then(|lesson| {
                let stop = kept.opens_at(lesson.puzzle().is_some() || lesson.design().is_some());
                self.begun(lesson, slug, stop)
            })
            .unwrap_or_else(|faults| broken(slug, faults));
        self.speed = 4;
        self.jumped();
        if is_own && is_long && !matches!(self.place, Place::Broken { .. }) {
            self.notice = Some(Notice::Unchecked);
        }
    }

    /// Plays a lesson of somebody's own from end to end, which may take a while, and says what does not keep its word.
    pub(in crate::ui) fn check_lesson(&mut self) {
        let (Place::Lesson(reading) | Place::Stores(reading, _)) = &self.place else {
            return;
        };
        match reading.lesson.replay() {
            Ok(done) => self.say(&format!(
                "The lesson keeps its word: {} checks and {} predictions.",
                done.checks,
                done.answers.len()
            )),
            Err(faults) => {
                let place = broken(&reading.slug, faults);
                self.leave();
                self.place = place;
            }
        }
    }

    /// A lesson at one of its stops, or at its beginning.
    fn begun(&mut self, lesson: Rc<Lesson>, slug: &str, stop: Option<usize>) -> Result<Place, Vec<Fault>> {
        if lesson.runs.iter().any(|run| matches!(run, model::Run::Stores(_))) {
            let (reading, session) = play::begin(lesson, slug, stop)?;
            return Ok(Place::Stores(Box::new(reading), Box::new(session)));
        }
        let (reading, session) = at(lesson, slug, stop).map_err(|why| vec![Fault::new(0, why, "correct the scene")])?;
        self.session = Some(session);
        Ok(Place::Lesson(Box::new(reading)))
    }

    /// One step on, not beyond the next stop.
    pub(in crate::ui) fn step_in_lesson(&mut self) {
        let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place) else {
            return;
        };
        let target = reading.next(session).filter(|next| !reading.changes_world(*next));
        let stop = target.or_else(|| reading.stop(session)).unwrap_or(0);
        let begins = session.at_end() && (session.step_number() == 0 || reading.stands_at_stop(session));
        // At the end of what a lesson plays by itself time goes on all the same: a puzzle needs it.
        let limit = reading.puzzle(session).is_none().then(|| reading.statements(stop));
        if let Some(next) = target.filter(|_| begins) {
            self.bring_into_view(next);
        }
        match self.step_within(limit) {
            Some(Moved::On) => {
                if let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place) {
                    self.playing &= !reading.stands_at_stop(session);
                }
                self.note_solved();
            }
            Some(Moved::AtStop) => self.at_stop(target),
            Some(moved) => self.halt_lesson(moved),
            None => {}
        }
    }

    /// The lesson does not go on by itself. Whoever reads one does not see its lines, and can go back to where it does.
    fn halt_lesson(&mut self, moved: Moved) {
        let waits = self
            .session
            .as_ref()
            .filter(|session| session.acts() > 0)
            .and_then(awaited);
        match (moved, waits) {
            (Moved::Stuck(_), Some(waits)) => {
                self.playing = false;
                self.refuse(&format!(
                    "the lesson {waits}, and this run, as you changed it, does not get there. 'This part again' goes back to where it does."
                ));
            }
            (moved, _) => self.stop_at(moved),
        }
    }

    fn at_stop(&mut self, stop: Option<usize>) {
        self.playing = false;
        if let (Some(session), Place::Lesson(reading), Some(stop)) = (&self.session, &mut self.place, stop) {
            arrive(&mut self.progress, reading, stop, session);
        }
    }

    /// Notes that the puzzle is solved, if it is.
    pub(in crate::ui) fn note_solved(&mut self) {
        if let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place)
            && reading.is_solved(session)
        {
            self.progress.solved(&reading.slug, reading.puzzle_acts(session) as u32);
            self.playing = false;
        }
    }

    /// Why a puzzle that is being solved does not allow a statement.
    pub(in crate::ui) fn puzzle_forbids(&self, statement: &Statement) -> Option<String> {
        let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place) else {
            return None;
        };
        let puzzle = reading.puzzle(session)?;
        if !is_act(statement) {
            return None;
        }
        puzzle.forbids(&statement.to_string())
    }

    /// Performs an act that is another one in a lesson than elsewhere.
    pub(in crate::ui) fn perform_in_lesson(&mut self, act: Act) {
        match act {
            Act::Answer(Given::Design(cost)) => {
                if let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place)
                    && reading.design(session).is_some()
                {
                    self.progress.solved(&reading.slug, cost);
                }
            }
            Act::Answer(given) => {
                if let (Some(session), Place::Lesson(reading)) = (&self.session, &mut self.place) {
                    answer(&mut self.progress, reading, session, given);
                    self.picked.clear();
                    self.notice = None;
                }
            }
            Act::Next => self.next_stop(),
            _ => self.restart_lesson(),
        }
    }

    /// Plays to the lesson's next stop, in a new world if it has one; at once if it is playing there already.
    fn next_stop(&mut self) {
        let (Some(session), Place::Lesson(reading)) = (&mut self.session, &mut self.place) else {
            return;
        };
        if reading.open_prediction(session).is_some() {
            return self.say("First say what you expect, or skip the question.");
        }
        let Some(next) = reading.next(session) else {
            return self.go(Go::On);
        };
        match reading.enter(next) {
            Ok(Some(fresh)) => {
                *session = fresh;
                self.selected = None;
                self.window = None;
                self.way = Way::Jumped;
            }
            Ok(None) => {}
            Err(why) => return self.refuse(&why),
        }
        // What was said at the stop that is left has been read.
        self.notice = None;
        self.version += 1;
        if std::mem::replace(&mut self.playing, true) || self.is_long_way(next) {
            return self.complete(next);
        }
        self.step_on();
    }

    /// Whether so much happens up to a stop that nobody would watch it step by step.
    fn is_long_way(&self, stop: usize) -> bool {
        let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place) else {
            return false;
        };
        reading
            .played_to(stop, session)
            .position()
            .saturating_sub(session.position())
            > LONG_WAY
    }

    /// What leads from a stop to the next one plays in the partition that the next one is about.
    fn bring_into_view(&mut self, stop: usize) {
        let (Some(session), Place::Lesson(reading)) = (&mut self.session, &self.place) else {
            return;
        };
        let view = reading.view_at(stop, &reading.played_to(stop, session), session);
        if session.show(view) {
            self.window = None;
            self.version += 1;
        }
    }

    /// Goes to the lesson's next stop at once.
    fn complete(&mut self, stop: usize) {
        let (Some(session), Place::Lesson(reading)) = (&mut self.session, &self.place) else {
            return;
        };
        let before = session.clone();
        let moved = session.play_to(reading.statements(stop));
        let view = reading.view_at(stop, session, &before);
        if session.show(view) {
            self.window = None;
        }
        self.jumped();
        match moved {
            Moved::Stuck(_) => self.halt_lesson(moved),
            Moved::On | Moved::AtStop | Moved::Quiet => self.at_stop(Some(stop)),
        }
    }

    /// The present part again, from its beginning.
    fn restart_lesson(&mut self) {
        let (Some(session), Place::Lesson(reading)) = (&self.session, &self.place) else {
            return;
        };
        let (slug, stop, lesson) = (reading.slug.clone(), reading.stop(session), reading.lesson.clone());
        self.leave();
        match at(lesson, &slug, stop) {
            Ok((reading, session)) => {
                self.place = Place::Lesson(Box::new(reading));
                self.session = Some(session);
            }
            Err(why) => self.refuse(&why),
        }
    }
}

/// What the present statement of a run waits for or does.
fn awaited(session: &Session) -> Option<String> {
    let script = session.playback().script();
    let line = session.playback().line()?;
    let present = script.lines.iter().find(|one| one.number == line)?;
    Some(match &*present.statement {
        Statement::RunUntil { condition, .. } => format!("waits until {}", said::awaited(condition)),
        act => format!("goes on with '{act}'"),
    })
}

/// A lesson that cannot be played.
fn broken(slug: &str, faults: Vec<Fault>) -> Place {
    Place::Broken {
        slug: slug.into(),
        faults: Rc::new(faults),
    }
}

/// A lesson at one of its stops, or at its beginning.
fn at(lesson: Rc<Lesson>, slug: &str, stop: Option<usize>) -> Result<(Reading, Session), String> {
    match stop {
        Some(stop) => Reading::at_stop(lesson, slug, stop),
        None => Reading::begin(lesson, slug),
    }
}

/// A lesson has come to a stop: what it settles, and how far somebody has come.
pub(in crate::ui) fn arrive(progress: &mut Progress, reading: &mut Reading, stop: usize, run: &dyn Run) {
    reading.arrive(stop, run);
    let last = reading.lesson.stops.len().saturating_sub(1);
    progress.reached(&reading.slug, stop as u32, last as u32);
    for (name, outcome) in reading.outcomes_here(run) {
        progress.answered(&reading.slug, name, outcome.answered);
    }
}

/// Answers the prediction that is open, if one is.
pub(in crate::ui) fn answer(progress: &mut Progress, reading: &mut Reading, run: &dyn Run, given: Given) {
    let Some(name) = reading.open_prediction(run).map(|prediction| prediction.name.clone()) else {
        return;
    };
    if given == Given::Skipped {
        progress.answered(&reading.slug, &name, Answered::Skipped);
    }
    reading.answer(&name, given);
}
