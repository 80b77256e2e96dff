//! What the landing does without: the part of the program that the page fetches when it is first needed, so that the
//! cluster is on the screen sooner.
//!
//! Everything in it is reached through [`Later`], a table of functions; whoever reads a line of the scenario language, a
//! lesson's file or draws more than the landing asks [`get`] for it. Where the program comes in one piece (natively,
//! and in a page that Trunk has built) the table is always there. `cargo xtask` builds the page with the feature
//! `split`: what only the table leads to becomes a second module, and `load` fetches it.

#[cfg(target_arch = "wasm32")]
mod arriving;
#[cfg(target_arch = "wasm32")]
pub mod views;

use std::rc::Rc;

use crate::cluster::{self, BrokerId};
use crate::lesson::{Block, Fault as LessonFault, Progress, Restored, markdown};
use crate::scenario::ast::{Script, Statement};
use crate::scenario::{self, Fault, Names};
use crate::ui::act::Act;
use crate::ui::page::{Kept, Page};
use crate::ui::reading::Reading;
use crate::ui::view::look::Look;
use crate::ui::view::{faults, panels};

#[cfg(target_arch = "wasm32")]
pub use arriving::{Arriving, when_here};

/// The functions of the second part.
pub struct Later {
    /// Reads a file of the scenario language.
    pub script: fn(&[u8]) -> Result<Script, Vec<Fault>>,
    /// Reads a line of the scenario language.
    pub statement: fn(&str, &Names) -> Result<Statement, Fault>,
    /// Begins the lesson of this name that a text holds.
    pub open: fn(&mut Page, &str, &str),
    /// Plays a lesson of somebody's own from end to end, and says what does not keep its word.
    pub check_lesson: fn(&mut Page),
    /// Reads prose without scenes, which begins at a line of its file.
    pub prose: fn(&str, u32, &mut Vec<LessonFault>) -> Vec<Block>,
    /// A fault as a line of the scenario language, if there is something that it can be done to.
    pub fault: fn(&Look<'_>, BrokerId, panels::Fault) -> Option<String>,
    /// Plays a text on the playground; the story that it is, if it is one.
    pub begin_playground: fn(&mut Page, Option<Rc<str>>, &str),
    /// As [`begin_playground`](Self::begin_playground), of the text that belongs to the place one has come to.
    pub arrive_on_playground: fn(&mut Page, Option<Rc<str>>, &str),
    /// Sets aside what is somebody's own on the playground.
    pub leave_playground: fn(&mut Page),
    /// The playground, to be kept over a reload.
    pub kept_playground: fn(&Page) -> Option<String>,
    /// Performs an act that is another one on the playground than elsewhere.
    pub perform_on_playground: fn(&mut Page, Act),
    /// One step of a lesson.
    pub step_in_lesson: fn(&mut Page),
    /// Performs an act that is another one in a lesson than elsewhere.
    pub perform_in_lesson: fn(&mut Page, Act),
    /// Notes that a lesson's puzzle is solved, if it is.
    pub note_solved: fn(&mut Page),
    /// Why a lesson's puzzle does not allow a statement.
    pub puzzle_forbids: fn(&Page, &Statement) -> Option<String>,
    /// The stops of the present world that were reached, each with its position.
    pub stops_reached: fn(&Reading) -> Vec<(usize, usize)>,
    /// Reads the progress that was stored.
    pub progress: fn(&str) -> Restored,
    /// Reads the run that was stored.
    pub run: fn(&str) -> Result<Kept, String>,
    /// Goes on from a run that was kept before the engine stopped.
    pub go_on: fn(&mut Page, Kept),
    /// Performs an act in a lesson on the page stores.
    pub perform_on_stores: fn(&mut Page, Act),
    /// One step of the page stores.
    pub step_stores: fn(&mut Page),
    /// Links what the rooms below do without until then.
    pub link: fn(),
    /// What is drawn besides the landing.
    #[cfg(target_arch = "wasm32")]
    pub views: views::Views,
}

static ALL: Later = Later {
    script: scenario::parse,
    statement: scenario::parse_statement,
    open: Page::begin_lesson,
    check_lesson: Page::check_lesson,
    prose: markdown::prose,
    fault: faults::statement,
    begin_playground: Page::begin_playground,
    arrive_on_playground: Page::arrive_on_playground,
    leave_playground: Page::leave_playground,
    kept_playground: Page::kept_playground,
    perform_on_playground: Page::perform_on_playground,
    step_in_lesson: Page::step_in_lesson,
    perform_in_lesson: Page::perform_in_lesson,
    note_solved: Page::note_solved,
    puzzle_forbids: Page::puzzle_forbids,
    stops_reached: Reading::stops_reached,
    progress: Progress::from_text,
    run: Kept::from_text,
    go_on: Page::go_on,
    perform_on_stores: Page::perform_on_stores,
    step_stores: Page::step_stores,
    link: || {
        cluster::later::link();
        scenario::later::link();
    },
    #[cfg(target_arch = "wasm32")]
    views: views::ALL,
};

/// What is said where the second part was needed and is not there.
pub const MISSING: &str = "a part of the page is not there yet";

/// The second part, once it is there.
#[cfg(not(all(feature = "split", target_arch = "wasm32")))]
pub fn get() -> Option<&'static Later> {
    Some(&ALL)
}

#[cfg(all(feature = "split", target_arch = "wasm32"))]
pub use split::{get, load};

/// Fetches the second part, which here is a part of the first.
///
/// # Errors
/// None.
#[cfg(all(not(feature = "split"), target_arch = "wasm32"))]
pub async fn load() -> Result<(), String> {
    Ok(())
}

#[cfg(all(feature = "split", target_arch = "wasm32"))]
mod split {
    // The macro declares the function that fetches the module, and the one that is in it.
    #![allow(unsafe_code, missing_docs)]

    use std::cell::Cell;

    use wasm_split_helpers::{SplitLoaderError, wasm_split};

    use super::{ALL, Later};
    use crate::ui::browser;

    thread_local! {
        static HERE: Cell<Option<&'static Later>> = const { Cell::new(None) };
    }

    #[wasm_split(later, fallible)]
    fn table() -> Result<&'static Later, SplitLoaderError> {
        Ok(&ALL)
    }

    /// The second part, once it is there.
    pub fn get() -> Option<&'static Later> {
        HERE.get()
    }

    /// Fetches the second part; one that is there already is not fetched again.
    ///
    /// # Errors
    /// That it did not come.
    pub async fn load() -> Result<(), String> {
        let table = table().await.map_err(|_| browser::not_come())?;
        (table.link)();
        HERE.set(Some(table));
        Ok(())
    }
}
