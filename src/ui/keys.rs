//! The keyboard: which key does what, and where it does not act.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::sorted::sort_by;
use crate::ui::act::{Act, Drawer, Go};
use crate::ui::browser::{Keys, window};

/// What a key asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// An act.
    Act(Act),
    /// The faults of the broker whose digit comes next.
    FaultsOf,
    /// The inspector.
    Inspector,
    /// The help.
    Help,
    /// Whatever is open is closed.
    Close,
}

/// The keys and what they do, for the help.
pub const HELP: [(&[&str], &str); 16] = [
    (&["Space"], "play, pause"),
    (&["→"], "one step"),
    (&["←"], "one step back"),
    (&["Shift", "→"], "next marked moment"),
    (&["Shift", "←"], "marked moment before"),
    (&["Home"], "to the start"),
    (&["End"], "to the end"),
    (
        &["Page Down"],
        "next stop of a lesson, or one step; Page Up: one step back",
    ),
    (&["."], "play, pause, from a presenter's remote"),
    (&["P"], "produce one record"),
    (&["X", "1–9"], "what can happen to that broker"),
    (&["C"], "what can happen between two nodes"),
    (&["I"], "to the inspector"),
    (&["T"], "transcript: the events"),
    (&["L"], "copy this scene as text, up to this step"),
    (&["?"], "this help"),
];

/// What a key asks for, unless it is typed into something or belongs to what has the focus.
pub fn asked(event: &KeyboardEvent, keys: Keys, waits_for_digit: bool) -> Option<Asked> {
    if event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() {
        return None;
    }
    let focus = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let within = |selector: &str| {
        focus
            .as_ref()
            .is_some_and(|element| element.closest(selector).ok().flatten().is_some())
    };
    if within("dialog, [role=dialog]") || within("input:not([type=range]), textarea, select, [contenteditable]") {
        return None;
    }
    let key = event.key();
    if within("input[type=range]")
        && matches!(
            key.as_str(),
            "ArrowLeft" | "ArrowRight" | "Home" | "End" | "PageUp" | "PageDown"
        )
        && !event.shift_key()
    {
        return None;
    }
    let go = |go| Some(Asked::Act(Act::Go(go)));
    let anywhere = match (key.as_str(), event.shift_key()) {
        (" ", false) if !within("button, a, summary, label") => Some(Asked::Act(Act::TogglePlay)),
        ("ArrowRight", false) => go(Go::On),
        ("ArrowLeft", false) => go(Go::Back),
        ("ArrowRight", true) => go(Go::NextMark),
        ("ArrowLeft", true) => go(Go::PreviousMark),
        ("Home", false) => go(Go::Start),
        ("End", false) => go(Go::End),
        ("PageDown", _) => Some(Asked::Act(Act::Next)),
        ("PageUp", _) => go(Go::Back),
        ("Escape", _) => Some(Asked::Close),
        _ => None,
    };
    if anywhere.is_some() || keys == Keys::Off {
        return anywhere;
    }
    let digit = key.parse::<u16>().ok().filter(|digit| (1..=9).contains(digit));
    if let Some(broker) = digit.filter(|_| waits_for_digit) {
        return Some(Asked::Act(Act::OpenFaults(broker)));
    }
    match key.to_ascii_lowercase().as_str() {
        "." => Some(Asked::Act(Act::TogglePlay)),
        "p" => Some(Asked::Act(Act::Produce)),
        "x" => Some(Asked::FaultsOf),
        "c" => Some(Asked::Act(Act::OpenLinks)),
        "i" => Some(Asked::Inspector),
        "t" => Some(Asked::Act(Act::Drawer(Drawer::Events))),
        "l" => Some(Asked::Act(Act::Copy)),
        "?" => Some(Asked::Help),
        _ => None,
    }
}

/// Moves the focus between records of the scene: along the offsets, and from row to row. Says whether it did.
pub fn walk(event: &KeyboardEvent) -> bool {
    let Some(here) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) else {
        return false;
    };
    if !here.has_attribute("data-cell") || event.shift_key() {
        return false;
    }
    let Some(row) = here.closest(".lane").ok().flatten() else {
        return false;
    };
    let next = match event.key().as_str() {
        "ArrowRight" => beside(&row, &here, 1),
        "ArrowLeft" => beside(&row, &here, -1),
        "ArrowDown" => across(&row, &here, |row| row.next_element_sibling()),
        "ArrowUp" => across(&row, &here, |row| row.previous_element_sibling()),
        _ => return false,
    };
    if let Some(next) = next {
        let _ = next.focus();
    }
    true
}

/// The records of a row, from left to right.
fn records(row: &Element) -> Vec<HtmlElement> {
    let Ok(list) = row.query_selector_all("[data-cell]") else {
        return Vec::new();
    };
    let mut found: Vec<HtmlElement> = (0..list.length())
        .filter_map(|at| list.get(at)?.dyn_into().ok())
        .collect();
    sort_by(&mut found, |a, b| a.offset_left().cmp(&b.offset_left()));
    found
}

fn beside(row: &Element, here: &HtmlElement, by: i32) -> Option<HtmlElement> {
    let all = records(row);
    let at = all.iter().position(|other| other == here)? as i32 + by;
    usize::try_from(at).ok().and_then(|at| all.get(at).cloned())
}

/// The nearest record of the next row in that direction that has any.
fn across(row: &Element, here: &HtmlElement, next: impl Fn(&Element) -> Option<Element>) -> Option<HtmlElement> {
    let mut row = next(row)?;
    loop {
        let nearest = records(&row)
            .into_iter()
            .min_by_key(|other| (other.offset_left() - here.offset_left()).abs());
        if nearest.is_some() {
            return nearest;
        }
        row = next(&row)?;
    }
}

/// The part of the page that has the focus.
pub fn region() -> Option<String> {
    let focused = window().document()?.active_element()?;
    Some(focused.closest("#pane, #main, #inspector").ok()??.id())
}

/// Gives the focus to a part of the page, if what had it there is gone.
pub fn regain(region: Option<String>) {
    let focused = window().document().and_then(|document| document.active_element());
    if let Some(region) = region.filter(|_| focused.is_none_or(|element| element.local_name() == "body")) {
        focus(&region);
    }
}

/// The same at another place, which is read from its pane on; while it is fetched, it has none.
pub fn arrive(region: Option<String>) {
    if region.is_some() {
        regain(Some("pane".into()));
        regain(Some("main".into()));
    }
}

/// Gives the focus to an element by its id.
pub fn focus(id: &str) {
    let element = window().document().and_then(|document| document.get_element_by_id(id));
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}
