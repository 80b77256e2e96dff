//! One line that somebody does on the playground.
//!
//! Most lines are acts or time, and are done as anywhere else. An expectation is looked at, and answered; it and a comment
//! are written down where one stands, without changing anything. Deliberately absent: what sets the world up, which has
//! happened when one can write a line.

use super::begun;
use crate::scenario::ast::{Expectation, Statement};
use crate::scenario::comment;
use crate::ui::page::Page;

impl Page {
    /// Does what a line says, or writes it down.
    pub(super) fn do_line(&mut self, text: &str) {
        let text = text.trim();
        if text.starts_with('#') {
            return self.write_down(text, "It is written down.");
        }
        let parsed = self.session.as_ref().map(|session| session.parse(text));
        match parsed {
            Some(Ok(Statement::Expect(expectation))) => {
                let answer = self.answer_to(&expectation);
                self.write_down(text, &answer);
            }
            Some(Ok(statement)) => {
                let before = self.version;
                self.do_statement(statement);
                // A comment behind an act is written down as well.
                if let Some(comment) = comment(text).filter(|_| self.version != before) {
                    let notice = self.notice.take();
                    self.write_down(comment, "It is done.");
                    self.notice = notice;
                }
            }
            _ => self.do_text(text),
        }
    }

    fn answer_to(&self, expectation: &Expectation) -> String {
        let Some(session) = &self.session else {
            return String::new();
        };
        let verdict = session.judge(expectation);
        match verdict.holds {
            true => format!("This holds: {expectation}. It is written down."),
            false => format!(
                "This does not hold: expected {expectation}, found {}. It is written down.",
                verdict.found
            ),
        }
    }

    /// Puts a line into the text where one stands. The run is the same one, read from the new text.
    fn write_down(&mut self, line: &str, answer: &str) {
        let Some(session) = &self.session else { return };
        let (whole, position, partition) = (session.in_two_parts(), session.position(), session.partition());
        let text = whole.with(position, line);
        match begun(&text, Some(session.opening(&whole))) {
            Ok(mut again) => {
                again.play_on(position);
                again.show(partition);
                self.session = Some(again);
                self.playing = false;
                self.jumped();
                self.say(answer);
            }
            Err(faults) => self.refuse(&faults.join("; ")),
        }
    }
}
