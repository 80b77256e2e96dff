//! What is wrong with a lesson file: line, what was found, what to do.

use std::fmt;

use crate::config::nearest;

/// A mistake in a lesson file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub wrong: String,
    /// What to do about it.
    pub remedy: String,
}

impl Fault {
    /// A mistake with its remedy.
    pub fn new(line: u32, wrong: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            line,
            wrong: wrong.into(),
            remedy: remedy.into(),
        }
    }
}

/// The word that was perhaps meant, as the end of a remedy; empty if none is near.
pub(super) fn or_rather<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(word, candidates);
    near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.line, self.wrong, self.remedy)
    }
}

impl std::error::Error for Fault {}
