//! A playground that somebody has left, or that something else has taken the place of: enough to bring it back as it was.
//!
//! Nothing that somebody did or wrote on the playground goes without a word: whatever takes its place sets it aside, and
//! says so. The latest one is kept, and may be written down to come back after the page was loaded again.
//! Deliberately absent: where it is written, which is the browser's.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::{BEGINNING, Playground, begun};
use crate::ui::act::{Act, Go};
use crate::ui::page::{Notice, Page, Place};
use crate::ui::session::{Moved, Session};

/// A playground as it was left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Aside {
    /// The story's name, if it is one.
    pub story: Option<String>,
    /// The text that was begun with.
    pub begun_with: String,
    /// The run as a whole.
    pub text: String,
    /// How many of its statements come before its beginning.
    pub opening: usize,
    /// The position in the history.
    pub position: usize,
    /// What was written and not played.
    pub draft: Option<String>,
    /// Whether anything of it is somebody's own.
    pub own: bool,
}

impl Aside {
    fn of(playground: &Playground, session: &Session) -> Aside {
        let whole = session.whole();
        let is_anothers = playground.story.is_some() || *playground.begun_with == *BEGINNING;
        let is_changed = whole.is_touched() || session.source() != Some(&*playground.begun_with);
        Aside {
            story: playground.story.as_deref().map(str::to_string),
            begun_with: playground.begun_with.to_string(),
            text: whole.text.to_string(),
            opening: session.opening(&whole),
            position: session.position(),
            draft: playground.draft.as_deref().map(str::to_string),
            own: playground.draft.is_some() || is_changed || !is_anothers,
        }
    }

    /// The run, where it stood.
    fn session(&self) -> Result<Session, Vec<String>> {
        let mut session = begun(&self.text, Some(self.opening))?;
        match session.play_on(self.position) {
            Moved::Stuck(why) => Err(vec![why]),
            _ => Ok(session),
        }
    }
}

impl Page {
    pub(super) fn present_playground(&self) -> Option<Aside> {
        match (&self.place, &self.session) {
            (Place::Playground(playground), Some(session)) => Some(Aside::of(playground, session)),
            _ => None,
        }
    }

    /// What somebody did on the playground, if one is on it, is set aside before one goes elsewhere.
    pub(in crate::ui) fn leave_playground(&mut self) {
        if let Some(aside) = self.present_playground().filter(|aside| aside.own) {
            self.aside = Some(aside);
        }
    }

    /// The playground as it stands, or as it was left, to be kept over a reload.
    pub(in crate::ui) fn kept_playground(&self) -> Option<String> {
        let aside = self.present_playground().or_else(|| self.aside.clone())?;
        serde_json::to_string(&aside).ok()
    }

    /// The text of a place on the playground has come. What was left there is there again; what was left elsewhere on it
    /// is said to be set aside.
    pub(in crate::ui) fn arrive_on_playground(&mut self, story: Option<Rc<str>>, text: &str) {
        if let Some(kept) = self.recalled.take() {
            self.aside = serde_json::from_str(&kept).ok();
        }
        self.begin_text(story.clone(), text);
        match self.aside.take() {
            Some(aside) if aside.story.as_deref() == story.as_deref() => {
                let words = "This is as you left it. Begin anew takes you to its beginning.";
                let own = aside.own;
                self.restore(aside);
                if own && self.notice.is_none() {
                    self.say(words);
                }
            }
            Some(aside) if aside.own => self.tell_aside(aside),
            _ => {}
        }
    }

    /// Something is set aside, which is said wherever one comes that is not it.
    pub(super) fn tell_aside(&mut self, aside: Aside) {
        self.notice.get_or_insert(Notice::Aside);
        self.aside = Some(aside);
    }

    /// Brings back what was set aside.
    fn restore(&mut self, aside: Aside) {
        let (session, faults) = match aside.session() {
            Ok(session) => (Some(session), Vec::new()),
            Err(faults) => (None, faults),
        };
        let draft = match &session {
            Some(_) => aside.draft,
            // What cannot be played is still there to read and to change.
            None => aside.draft.or(Some(aside.text)),
        };
        let session = session.or_else(|| self.session.take());
        self.leave();
        self.session = session;
        self.place = Place::Playground(Playground {
            story: aside.story.map(Into::into),
            begun_with: aside.begun_with.into(),
            draft: draft.map(Into::into),
            faults: Rc::new(faults),
        });
    }

    /// Performs an act that is another one on the playground than elsewhere.
    pub(in crate::ui) fn perform_on_playground(&mut self, act: Act) {
        match act {
            Act::Draft(text) => {
                if let Place::Playground(playground) = &mut self.place {
                    playground.draft = text.map(Into::into);
                    playground.faults = Rc::default();
                }
            }
            Act::TakeBack => {
                let Some(aside) = self.aside.take() else { return };
                let here = self.present_playground().filter(|here| here.own);
                self.restore(aside);
                if let Some(here) = here {
                    self.tell_aside(here);
                }
            }
            Act::Go(Go::End) => self.play_to_end(),
            Act::Do(text) => self.do_line(&text),
            _ => self.begin_anew(),
        }
    }

    /// What was begun with, from its beginning.
    fn begin_anew(&mut self) {
        if let Place::Playground(playground) = &self.place {
            let (story, text) = (playground.story.clone(), Rc::clone(&playground.begun_with));
            self.begin_playground(story, &text);
        }
    }

    /// Plays what is to come of the script, at once.
    fn play_to_end(&mut self) {
        let Some(session) = &mut self.session else { return };
        self.playing = false;
        self.notice = None;
        let moved = match session.has_more_to_play() {
            true => session.play_on(session.playback().history().len() + MOST_STEPS),
            false => {
                session.seek_step(session.steps());
                Moved::AtStop
            }
        };
        self.jumped();
        match moved {
            Moved::Stuck(_) => self.stop_at(moved),
            Moved::On => self.say(&format!(
                "{MOST_STEPS} steps were taken, and there are more to come: go on to the end again."
            )),
            Moved::AtStop | Moved::Quiet => {}
        }
    }
}

/// More steps than this are not taken at once.
const MOST_STEPS: usize = 20_000;
