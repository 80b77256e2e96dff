//! The playground: a free scene. One begins with a cluster of one's own or with a story, does to it whatever the scenario
//! language can say, and has it written down all the while.
//!
//! `view` is what stands beside the cluster. Deliberately absent: goals, questions, stops.

#[cfg(target_arch = "wasm32")]
pub mod view;

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
    /// What is wrong with the text that was to be played last; then the run before it is still there.
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

impl Page {
    /// Plays a text from its beginning. One that cannot be played is told, line by line, and nothing changes else.
    pub(in crate::ui) fn begin_playground(&mut self, story: Option<Rc<str>>, text: &str) {
        match begun(text) {
            Ok(session) => {
                self.leave();
                self.session = Some(session);
                self.place = Place::Playground(Playground {
                    story,
                    begun_with: text.into(),
                    faults: Rc::default(),
                });
                self.speed = 4;
            }
            Err(faults) => match &mut self.place {
                Place::Playground(playground) => playground.faults = Rc::new(faults),
                _ => {
                    self.begin_playground(None, BEGINNING);
                    if let Place::Playground(playground) = &mut self.place {
                        playground.faults = Rc::new(faults);
                    }
                }
            },
        }
    }
}

fn begun(text: &str) -> Result<Session, Vec<String>> {
    let said = |faults: Vec<Fault>| faults.iter().map(ToString::to_string).collect::<Vec<_>>();
    let script = scenario::parse(text.as_bytes()).map_err(said)?;
    let session = Session::new(script).map_err(|why| vec![why])?;
    if session.playback().world().partitions().is_empty() {
        return Err(vec![
            "there is nothing to look at: add a line such as 'topic payments replicas=3' behind 'brokers'".into(),
        ]);
    }
    Ok(session)
}
