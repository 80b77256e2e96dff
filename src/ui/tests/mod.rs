//! The page without a browser: what somebody does, and what would be drawn.

mod faults;
mod files;
mod landing;
mod lesson;
mod links;
mod playground;
mod run;
mod styles;
mod views;

use std::rc::Rc;

use crate::cluster::{BrokerId, ClientId};
use crate::config::{Acks, Scope, TopicConfig};
use crate::history::Mark;
use crate::lesson::Kind;
use crate::lesson::library::LIBRARY;
use crate::lesson::model::About;
use crate::log::Errors;
use crate::ui::act::{Act, Go, Subject, Zoom};
use crate::ui::page::{Kept, Notice, Page, Place, Stored, lesson_address};
use crate::ui::reading::{Given, Reading};
use crate::ui::session::Session;
use crate::ui::tale::{Became, Silence, Tale};
use crate::ui::view::panels::{Control, Fault, MarkKind, Tone};
use crate::ui::view::stage::{Health, Link, News, Path, Role, Row, Segment, Standing, Told, Window};
use crate::ui::view::told::{CAPTION_WORDS, broken, caption};
use crate::ui::view::{
    beliefs, clients, controller, elapsed, inspect, knobs, lanes, ledger, metrics, overview, rows, told_and_true, wire,
};

fn run(page: &Page) -> &Session {
    page.session.as_ref().expect("there is a run")
}

/// Plays until it pauses by itself.
fn play(page: &mut Page) {
    if !page.playing {
        page.perform(Act::TogglePlay);
    }
    assert!((0..5_000).any(|_| !page.tick()), "it plays on for ever");
}

fn landed(steps: usize) -> Page {
    let mut page = Page::landing();
    assert!(page.playing, "the cluster takes payments when the page opens");
    for _ in 0..steps {
        page.tick();
    }
    page
}

fn said(page: &Page) -> String {
    match &page.notice {
        Some(Notice::Refused(text) | Notice::Said(text)) => text.to_string(),
        Some(Notice::Aside) => "set aside".into(),
        Some(Notice::Unchecked) => "unchecked".into(),
        None => page
            .cut_off()
            .map_or_else(String::new, |cut| format!("{} set aside", cut.dropped)),
    }
}

/// The text of a page that stands on the playground.
fn on_playground(text: &str) -> Page {
    let mut page = Page::landing();
    page.visit("#/playground");
    assert_eq!(page.wanted().as_deref(), Some("playground"));
    page.perform(Act::Fetched("playground".into(), Ok(text.to_string())));
    page
}
