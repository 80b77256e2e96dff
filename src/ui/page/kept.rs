//! What is kept of a page, so that somebody finds it again: progress, and the run for the case that the engine stops.
//!
//! Deliberately absent: where it is kept, and the playground, which has a room of its own (`playground::aside`).

use serde::{Deserialize, Serialize};

use super::{Page, Place};
use crate::ui::later;
use crate::ui::session::Session;

/// What was stored before the page was loaded, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// How far somebody has come.
    pub progress: Option<String>,
    /// The run that was under way when the engine stopped.
    pub run: Option<String>,
}

/// What is kept of a run: the text that leads to it, and where in it one stood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The run up to the present, in the scenario language.
    pub scenario: String,
    /// The step, as it is numbered on the page.
    pub step: usize,
    /// The position in the history.
    pub position: usize,
    /// The stops of a lesson that were reached, each with its position.
    pub stops: Vec<(usize, usize)>,
}

impl Kept {
    /// Reads what [`to_text`](Self::to_text) has written.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn from_text(text: &str) -> Result<Kept, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The text to be stored.
    pub fn to_text(&self) -> String {
        // Numbers and text: nothing that cannot be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A script of more lines than this is long.
const LONG: usize = 2_000;

impl Page {
    /// Whether the run's text is so long that it is written down only when it stands still.
    pub fn is_written_later(&self) -> bool {
        let lines = |session: &Session| session.playback().script().lines.len();
        self.playing && self.session.as_ref().is_some_and(|session| lines(session) > LONG)
    }

    /// The run as it stands, for the case that the engine stops.
    pub fn kept(&self) -> Option<Kept> {
        let waits = self.kept.is_some() || self.stored.run.is_some();
        let session = self.session.as_ref().filter(|_| !waits)?;
        Some(Kept {
            scenario: session.scenario(),
            step: session.step_number(),
            position: session.position(),
            stops: match &self.place {
                Place::Lesson(reading) => later::get().map_or_else(Vec::new, |later| (later.stops_reached)(reading)),
                _ => Vec::new(),
            },
        })
    }

    /// Goes on from a run that was kept before the engine stopped; where its lesson is not there yet, as soon as it is.
    /// A text that does not lead there is told.
    pub(in crate::ui) fn resume(&mut self, kept: Kept) {
        match later::get() {
            Some(later) if !matches!(self.place, Place::Coming { .. }) => (later.go_on)(self, kept),
            _ => {
                self.playing = false;
                self.kept = Some(kept);
            }
        }
    }

    pub(in crate::ui) fn go_on(&mut self, kept: Kept) {
        let session = match &mut self.place {
            Place::Lesson(reading) => match reading.retrace(&kept.scenario, kept.position, kept.stops) {
                Some(session) => Ok(session),
                None => Session::resumed(&kept.scenario, kept.step),
            },
            Place::Landing(_) => Session::landing_resumed(&kept.scenario, kept.step),
            Place::Coming { .. }
            | Place::Lessons
            | Place::Playground(_)
            | Place::Broken { .. }
            | Place::Fidelity(_)
            | Place::Stores(..) => return,
        };
        match session {
            Ok(session) => {
                self.session = Some(session);
                self.playing = false;
                self.jumped();
            }
            Err(why) => self.cannot_resume(&why),
        }
    }

    /// Takes what was stored before the page was loaded. A run that is to be gone on with stands still until it is read.
    pub fn take_stored(&mut self, stored: Stored) {
        self.playing &= stored.run.is_none();
        self.stored = stored;
        self.read_stored();
    }

    /// Whether something was stored that only the second part of the program can read.
    pub fn waits_to_read(&self) -> bool {
        self.stored != Stored::default()
    }

    /// The progress to be stored, unless what was stored is not read yet.
    pub fn progress_to_keep(&self) -> Option<String> {
        self.stored.progress.is_none().then(|| self.progress.to_text())
    }

    pub(super) fn read_stored(&mut self) {
        let Some(later) = later::get().filter(|_| self.waits_to_read()) else {
            return;
        };
        let Stored { progress, run } = std::mem::take(&mut self.stored);
        if let Some(restored) = progress.map(|text| (later.progress)(&text)) {
            self.progress.add(restored.progress);
            if let Some(first) = restored.damages.first() {
                self.say(first);
            }
        }
        match run.map(|text| (later.run)(&text)) {
            Some(Ok(kept)) => self.resume(kept),
            Some(Err(why)) => self.cannot_resume(&why),
            None => {}
        }
    }

    /// Says that a run that was kept cannot be gone on with.
    fn cannot_resume(&mut self, why: &str) {
        self.refuse(&format!("the run before the crash cannot be replayed: {why}"));
    }
}
