//! What a statement of time came to, told at its end: the moment of it that weighs most.

use crate::ui::session::Session;
use crate::ui::view::panels::MarkKind;
use crate::ui::view::told::{line_in, weight};

/// The weightiest marked moment of the time that has just passed, the latest of several; nothing if none was marked.
pub fn elapsed(session: &Session) -> Option<String> {
    let (statement, began) = session.playback().time_here()?;
    let (from, now) = (session.number_of(began), session.step_number());
    let marks = session.marks().into_iter();
    let within = marks.filter(|mark| mark.step > from && mark.step <= now && mark.kind != MarkKind::Acked);
    let step = within.max_by_key(|mark| (mark.kind, mark.step))?.step;
    let position = session.position() - now + step;
    let events = session.playback().history().events(position - 1, position);
    let (_, events) = events.first()?;
    let told = events.iter().max_by_key(|event| weight(&event.what))?;
    Some(format!(
        "Done: {statement}. At step {step} of it: {}",
        line_in(told, &session.look())
    ))
}
