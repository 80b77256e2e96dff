//! What each act of a person does in a lesson on the page stores.

use std::rc::Rc;

use crate::lesson::{Fault, Lesson};
use crate::ui::act::{Act, Go};
use crate::ui::page::lesson::{answer, arrive};
use crate::ui::page::{Page, Place, Way};
use crate::ui::reading::{Reading, Run};
use crate::ui::stores::StoreSession;
use crate::wal;

/// The lesson at one of its stops, or at its beginning.
///
/// # Errors
/// That one of its worlds is a cluster.
pub fn begin(lesson: Rc<Lesson>, slug: &str, stop: Option<usize>) -> Result<(Reading, StoreSession), Vec<Fault>> {
    let mixed = || {
        vec![Fault::new(
            0,
            "the lesson plays both page stores and clusters",
            "make two lessons of it",
        )]
    };
    if (0..lesson.runs.len()).any(|run| lesson.stores(run).is_none()) {
        return Err(mixed());
    }
    let mut reading = Reading::new(Rc::clone(&lesson), slug);
    let world = stop.and_then(|stop| reading.world_of(stop)).unwrap_or(0);
    let mut session = StoreSession::new(lesson.stores(world).ok_or_else(mixed)?);
    reading.turn_to(world);
    // A first stop that no act leads to is where one begins.
    let stop = stop.or_else(|| (reading.statements(0) == 0).then_some(0));
    for at in (0..=stop.unwrap_or(0)).filter(|_| stop.is_some()) {
        if reading.world_of(at) == Some(world) {
            session.play_to(reading.statements(at));
            reading.arrive(at, &session);
        }
    }
    Ok((reading, session))
}

impl Page {
    /// Performs an act in a lesson on the page stores.
    pub(in crate::ui) fn perform_on_stores(&mut self, act: Act) {
        match act {
            Act::TogglePlay => self.playing = !self.playing,
            Act::Pause => self.playing = false,
            Act::Go(Go::On) => {
                self.playing = false;
                self.step_stores();
            }
            Act::Go(go) => self.go_in_stores(go),
            Act::Speed(speed) => self.speed = speed,
            Act::Do(text) => self.do_to_stores(&text),
            Act::Answer(given) => {
                if let Place::Stores(reading, session) = &mut self.place {
                    answer(&mut self.progress, reading, &**session, given);
                    self.picked.clear();
                    self.notice = None;
                }
            }
            Act::Next => self.next_in_stores(),
            Act::Undo | Act::Dismiss => self.notice = None,
            Act::Restart => self.restart_stores(),
            // The rest belongs to clusters.
            _ => {}
        }
    }

    /// One step on: what was recorded, then what the lesson does, then, in its puzzle, one write.
    pub(in crate::ui) fn step_stores(&mut self) {
        let Place::Stores(reading, session) = &mut self.place else {
            return;
        };
        let target = reading.next(&**session).filter(|next| !reading.changes_world(*next));
        let stop = target.or_else(|| reading.stop(&**session));
        let limit = stop.map_or(0, |stop| reading.statements(stop));
        let moved = if session.position() < session.len() {
            session.seek(session.position() + 1);
            Ok(true)
        } else if reading.puzzle(&**session).is_some() {
            session.perform(wal::Act::Step(1)).map(|()| true)
        } else {
            session.step_within(limit)
        };
        self.way = Way::Stepped;
        self.version += 1;
        match moved {
            Ok(moved) => {
                let arrived = target.filter(|_| session.position() == limit);
                if let Some(stop) = arrived {
                    arrive(&mut self.progress, reading, stop, &**session);
                }
                if !moved || arrived.is_some() || reading.stands_at_stop(&**session) {
                    self.playing = false;
                }
                self.note_stores_solved();
            }
            Err(why) => {
                self.playing = false;
                self.say(&why);
            }
        }
    }

    fn go_in_stores(&mut self, go: Go) {
        let Place::Stores(_, session) = &mut self.place else {
            return;
        };
        let to = match go {
            Go::Start => 0,
            Go::Back | Go::PreviousMark => session.position().saturating_sub(1),
            Go::To(step) => step,
            Go::On | Go::NextMark | Go::End => session.len(),
        };
        session.seek(to);
        self.playing = false;
        self.notice = None;
        self.jumped();
    }

    fn do_to_stores(&mut self, text: &str) {
        let Place::Stores(reading, session) = &mut self.place else {
            return;
        };
        let puzzle = reading.puzzle(&**session);
        if let Some(why) = puzzle.and_then(|puzzle| puzzle.forbids(text)) {
            return self.refuse(&why);
        }
        let done = session.act(text);
        self.playing = false;
        self.way = Way::Stepped;
        self.version += 1;
        match done {
            Ok(()) => {
                self.notice = None;
                self.note_stores_solved();
            }
            Err(why) => self.refuse(&why),
        }
    }

    fn note_stores_solved(&mut self) {
        if let Place::Stores(reading, session) = &self.place
            && reading.is_solved(&**session)
        {
            let acts = reading.puzzle_acts(&**session) as u32;
            self.progress.solved(&reading.slug, acts);
            self.playing = false;
        }
    }

    /// Plays to the next stop, in new stores if it has them; at once if it is playing there already.
    fn next_in_stores(&mut self) {
        let Place::Stores(reading, session) = &mut self.place else {
            return;
        };
        if reading.open_prediction(&**session).is_some() {
            return self.say("First say what you expect, or skip the question.");
        }
        let Some(next) = reading.next(&**session) else {
            return self.step_stores();
        };
        if let Some(world) = reading.world_of(next).filter(|world| *world != reading.world()) {
            let lesson = Rc::clone(&reading.lesson);
            if let Some(run) = lesson.stores(world) {
                **session = StoreSession::new(run);
                reading.turn_to(world);
            }
        }
        self.notice = None;
        if std::mem::replace(&mut self.playing, true) {
            session.play_to(reading.statements(next));
            arrive(&mut self.progress, reading, next, &**session);
            self.playing = false;
            return self.jumped();
        }
        self.step_stores();
    }

    fn restart_stores(&mut self) {
        let Place::Stores(reading, session) = &self.place else {
            return;
        };
        let (lesson, slug, stop) = (
            Rc::clone(&reading.lesson),
            Rc::clone(&reading.slug),
            reading.stop(&**session),
        );
        if let Ok((reading, session)) = begin(lesson, &slug, stop) {
            self.place = Place::Stores(Box::new(reading), Box::new(session));
        }
        self.playing = false;
        self.notice = None;
        self.picked.clear();
        self.jumped();
    }
}
