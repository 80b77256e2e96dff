//! The order of a file's beginning: `highwater`, `seed`, `clock`, `feature`, `rules` and `brokers`, each once, come before
//! everything else, because they say in which world the rest takes place.

use crate::scenario::ast::Statement;
use crate::scenario::fault::{Found, Wrong};
use crate::scenario::print;

/// What of a file's beginning has been read.
#[derive(Default)]
pub(super) struct Header {
    seen: Vec<&'static str>,
    /// The first line with a statement that does not belong to the beginning.
    other: Option<u32>,
}

impl Header {
    /// That a statement may stand where it stands.
    pub fn check(&mut self, statement: &Statement, line: u32, text: &str) -> Result<(), Wrong> {
        let column = text.chars().take_while(|sign| sign.is_whitespace()).count() + 1;
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        let verb = text.split_ascii_whitespace().next().unwrap_or_default();
        let wrong = |expected: String| Wrong::new(column, Found::Word(verb.to_string()), expected);
        if !statement.sets_up() {
            let is_first = self.other.is_none();
            self.other.get_or_insert(line);
            if is_first && !self.seen.contains(&"brokers") {
                return Err(wrong("'brokers N' before it".to_string()));
            }
            return Ok(());
        }
        let word = print::verb(statement);
        if let Some(other) = self.other {
            return Err(wrong(format!("it at the beginning of the file, before line {other}")));
        }
        if self.seen.contains(&word) {
            return Err(wrong("it only once".to_string()));
        }
        if word == "highwater" && !self.seen.is_empty() {
            return Err(wrong("it on the first line".to_string()));
        }
        self.seen.push(word);
        Ok(())
    }

    /// Takes it that a line that could not be read was the statement that it resembles.
    pub fn assume(&mut self, verb: &str) {
        if verb == "brokers" {
            self.seen.push("brokers");
        }
    }
}
