//! What is wrong with a file, and where: place, what was found, what was expected, the nearest valid word.

use crate::config::nearest;
use std::fmt;

/// A place where a file is malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: u32,
    /// The column, in characters, from 1.
    pub column: u32,
    /// What stands there.
    pub found: Found,
    /// What could stand there, in words.
    pub expected: String,
    /// The valid word that is written most like what was found.
    pub nearest: Option<String>,
}

/// What was found at the place of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A word, as it was written.
    Word(String),
    /// Nothing: the line ends.
    EndOfLine,
    /// A word of the language that this version cannot perform.
    NotYet(String),
    /// Something that has to be described.
    Described(String),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Word(word) => write!(f, "'{}'", shortened(word)),
            Found::EndOfLine => f.write_str("the end of the line"),
            Found::NotYet(word) => write!(f, "'{word}', which is not yet in this version"),
            Found::Described(text) => f.write_str(text),
        }
    }
}

/// Words of a binary or endless file would make a message that nobody can read.
fn shortened(word: &str) -> String {
    const LONGEST: usize = 60;
    let mut printable: String = word.chars().flat_map(printed).take(LONGEST + 1).collect();
    if printable.chars().count() > LONGEST {
        printable.pop();
        printable.push('…');
    }
    printable
}

/// A sign as it can be read; quotes and backslashes stand as they were written.
fn printed(sign: char) -> impl Iterator<Item = char> {
    let is_plain = matches!(sign, '"' | '\\');
    let escaped = (!is_plain).then(|| sign.escape_debug());
    is_plain
        .then_some(sign)
        .into_iter()
        .chain(escaped.into_iter().flatten())
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: found {}, expected {}",
            self.line, self.column, self.found, self.expected
        )?;
        match &self.nearest {
            Some(nearest) => write!(f, ", the nearest is '{nearest}'"),
            None => Ok(()),
        }
    }
}

/// A fault before its line is known: within one line only columns matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub column: u32,
    pub found: Found,
    pub expected: String,
    pub nearest: Option<String>,
}

impl Wrong {
    pub fn new(column: u32, found: Found, expected: impl Into<String>) -> Wrong {
        Wrong {
            column,
            found,
            expected: expected.into(),
            nearest: None,
        }
    }

    /// Names the valid word that the found one was probably meant to be.
    pub fn near<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Wrong {
        if let Found::Word(found) = &self.found {
            self.nearest = nearest(found.trim_matches('"'), words).map(str::to_string);
        }
        self
    }

    /// The same where no word is named yet.
    pub fn or_near<'a>(self, words: impl IntoIterator<Item = &'a str>) -> Wrong {
        if self.nearest.is_some() { self } else { self.near(words) }
    }

    pub fn on_line(self, line: u32) -> Fault {
        Fault {
            line,
            column: self.column,
            found: self.found,
            expected: self.expected,
            nearest: self.nearest,
        }
    }
}
