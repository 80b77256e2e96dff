//! The playground: a free scene. One begins with a cluster of one's own or with a story, does to it whatever the scenario
//! language can say, and has it written down all the while.
//!
//! `view` is what stands beside the cluster, `whole` the run as a text, `aside` what is kept of a playground that
//! was left, `line` one line that is done.
//! Deliberately absent: goals, questions, stops.

pub mod aside;
mod line;
pub mod templates;
#[cfg(target_arch = "wasm32")]
pub mod view;
pub mod whole;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::scenario::{self, Fault};
use crate::ui::page::{Page, Place};
use crate::ui::session::Session;

/// The fragment of the address, and what those of stories begin with.
pub const PLAYGROUND: &str = "playground";

/// The stories of the project, a line each: the name of the file, a tab, what happens. `tests/stories.rs` writes it.
pub const STORIES: &str = include_str!("stories.txt");

/// What one begins with.
pub const BEGINNING: &str = "\
brokers 3
topic payments replicas=3 min.insync.replicas=2
producer shop acks=all
consumer audit assign=payments-0
";

/// What is being played.
#[derive(Clone, Debug, PartialEq)]
pub struct Playground {
    /// The story's name; nothing for a text of one's own.
    pub story: Option<Rc<str>>,
    /// The text that was begun with.
    pub begun_with: Rc<str>,
    /// A text of somebody's own that was not played yet.
    pub draft: Option<Rc<str>>,
    /// What is wrong with it; the run before it is still there.
    pub faults: Rc<Vec<String>>,
}

/// The name and the title of every story.
pub fn stories() -> impl Iterator<Item = (&'static str, &'static str)> {
    STORIES.lines().filter_map(|line| line.split_once('\t'))
}

/// The address's fragment of a story.
pub fn address(story: &str) -> String {
    format!("{PLAYGROUND}/{story}")
}

/// What is said where a browser does not let the scenario be copied.
pub fn not_copied(why: &str) -> String {
    format!("the scenario is not copied: {why}; select its text and copy it by hand")
}

impl Playground {
    /// The address of what is played: a story's, or that of the playground.
    pub fn address(&self) -> String {
        self.story.as_deref().map_or_else(|| PLAYGROUND.to_string(), address)
    }
}

impl Page {
    /// Plays a text from its beginning. What was there is set aside. A text that cannot be played is told, line by line, and
    /// kept to be mended; nothing else changes then.
    pub(in crate::ui) fn begin_playground(&mut self, story: Option<Rc<str>>, text: &str) {
        if let Place::Playground(playground) = &mut self.place {
            // What is played now does not wait to be played any more.
            playground.draft.take_if(|draft| **draft == *text);
        }
        let before = self.present_playground();
        let is_replaced = match self.begin_text(story, text) {
            Began::Anew => true,
            Began::NotAtAll => before.as_ref().is_some_and(|before| before.draft.is_some()),
        };
        let before = before.filter(|before| before.own && is_replaced);
        if let Some(aside) = before.or_else(|| self.aside.take()) {
            self.tell_aside(aside);
        }
    }

    fn begin_text(&mut self, story: Option<Rc<str>>, text: &str) -> Began {
        let playground = |begun_with: &str| Playground {
            story,
            begun_with: begun_with.into(),
            draft: None,
            faults: Rc::default(),
        };
        match (begun(text, None), &mut self.place) {
            (Ok(session), _) => {
                self.leave();
                self.session = Some(session);
                self.place = Place::Playground(playground(text));
                self.speed = 4;
                Began::Anew
            }
            (Err(faults), Place::Playground(playground)) => {
                playground.draft = Some(text.into());
                playground.faults = Rc::new(faults);
                Began::NotAtAll
            }
            (Err(faults), _) => {
                self.leave();
                self.session = begun(BEGINNING, None).ok();
                self.place = Place::Playground(Playground {
                    story: None,
                    draft: Some(text.into()),
                    faults: Rc::new(faults),
                    ..playground(BEGINNING)
                });
                Began::Anew
            }
        }
    }
}

/// Whether something new is there.
enum Began {
    Anew,
    NotAtAll,
}

fn begun(text: &str, opening: Option<usize>) -> Result<Session, Vec<String>> {
    let said = |faults: Vec<Fault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    let script = scenario::parse(text.as_bytes()).map_err(said)?;
    let session = Session::of_text(script, text.into(), opening).map_err(|why| vec![why])?;
    if session.playback().world().partitions().is_empty() {
        return Err(vec![
            "there is nothing to look at: add a line such as 'topic payments replicas=3' behind 'brokers'".into(),
        ]);
    }
    Ok(session)
}
