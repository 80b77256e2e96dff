//! From text to statements, with every fault of the text at its place.
//!
//! A line is read by itself; what is declared above it is known through [`Names`]. A line that cannot be read does not
//! stop the reading, so that all faults of a file are found at once.
//!
//! Deliberately absent: performing anything, and the values of configs, which are refused where they are set.

mod act;
mod atoms;
mod cursor;
mod declared;
mod errors;
mod header;
mod statement;
mod subject;
mod value;

use super::ast::{Line, Op, Script, Statement};
use super::fault::{Fault, Found, Wrong};
use super::names::Names;
use super::version;
use super::words::{Word, words};
use crate::config::nearest;
use crate::sorted::sort_by;
use cursor::Cursor;
use header::Header;
pub(super) use statement::{CONSUMER_SETTINGS, TOPIC_SETTINGS};

/// Reads a file.
///
/// # Errors
/// Every fault of the file, in order.
pub fn parse(bytes: &[u8]) -> Result<Script, Vec<Fault>> {
    let text = std::str::from_utf8(bytes).map_err(|error| vec![not_utf8(bytes, error.valid_up_to())])?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::default();
    let mut lines = text.lines();
    let mut number = 0;
    let mut trace = None;
    while let Some(line) = lines.next() {
        number += 1;
        if line.trim_end() == "----" {
            trace = Some(lines.by_ref().map(str::to_string).collect());
        } else {
            reader.line(number, line);
        }
    }
    if reader.faults.is_empty() {
        Ok(Script {
            lines: reader.lines,
            trace,
        })
    } else {
        Err(reader.faults)
    }
}

/// Reads one statement, which may use what is declared above it.
///
/// # Errors
/// What is wrong with it, as a fault of line 1; also when there is no statement at all.
pub fn parse_statement(text: &str, names: &Names) -> Result<Statement, Fault> {
    read_line(text, names)
        .and_then(|statement| statement.ok_or_else(|| Wrong::new(1, Found::EndOfLine, "a statement")))
        .map_err(|wrong| wrong.on_line(1))
}

fn not_utf8(bytes: &[u8], at: usize) -> Fault {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count());
    let byte = bytes.get(at).copied().unwrap_or_default();
    let from_one = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    Wrong::new(
        from_one(column),
        Found::Described(format!("the byte 0x{byte:02x}")),
        "UTF-8 text",
    )
    .on_line(from_one(line))
}

/// Reads the statement of a line, if this version can perform it; nothing if the line is blank.
fn read_line(text: &str, names: &Names) -> Result<Option<Statement>, Wrong> {
    let words = words(text)?;
    if words.is_empty() {
        return Ok(None);
    }
    let statement = read_words(&words, names)?;
    match version::not_yet(&statement) {
        None => Ok(Some(statement)),
        Some(word) => Err(Wrong::new(
            column_of(word, &words),
            Found::NotYet(word.to_string()),
            "what it can perform",
        )),
    }
}

/// Reads any statement of the language.
pub(super) fn read_words(words: &[Word], names: &Names) -> Result<Statement, Wrong> {
    let end = words.last().map_or(1, |last| last.column.saturating_add(last.width()));
    statement::statement(&mut Cursor::new(words, end, names))
}

fn column_of(start: &str, words: &[Word]) -> u32 {
    let begins = |word: &&Word| word.shown().starts_with(start);
    words
        .iter()
        .find(begins)
        .or(words.first())
        .map_or(1, |word| word.column)
}

/// The setting in which this column lies, if another one can be read without it.
fn setting_at(words: &[Word], column: u32) -> Option<usize> {
    let at = words.iter().rposition(|word| word.column <= column)?;
    let (name, _) = words.get(at)?.split_once(b'=')?;
    let name = name.plain().filter(|name| !name.is_empty())?;
    // A consumer's settings are not all free: without the one another is out of place.
    let is_consumer = words.first().and_then(Word::plain) == Some("consumer");
    let needs_another = is_consumer && nearest(name, ["group", "topics", "assign"]).is_some();
    (Op::from_word(name).is_none() && !needs_another).then_some(at)
}

/// What has been read of a file so far.
#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    faults: Vec<Fault>,
    names: Names,
    header: Header,
}

impl Reader {
    fn line(&mut self, number: u32, text: &str) {
        match self.statement(number, text) {
            Ok(None) => {}
            Ok(Some(statement)) => {
                self.names.declare(&statement);
                self.lines.push(Line::new(number, statement));
            }
            Err(wrong) => {
                let mut wrongs = vec![wrong];
                self.more_of_line(text, &mut wrongs);
                sort_by(&mut wrongs, |a, b| a.column.cmp(&b.column));
                self.faults
                    .extend(wrongs.into_iter().map(|wrong| wrong.on_line(number)));
                self.assume(text);
            }
        }
    }

    /// What else is wrong with a line. Settings do not depend on one another, so the line is read again without the faulty
    /// one; what is only missing then is no fault of its own.
    fn more_of_line(&self, text: &str, wrongs: &mut Vec<Wrong>) {
        let Ok(mut words) = words(text) else { return };
        while let Some(at) = wrongs.last().and_then(|wrong| setting_at(&words, wrong.column)) {
            words.remove(at);
            match read_words(&words, &self.names) {
                Err(next) if next.found != Found::EndOfLine => wrongs.push(next),
                _ => return,
            }
        }
    }

    fn statement(&mut self, number: u32, text: &str) -> Result<Option<Statement>, Wrong> {
        let Some(statement) = read_line(text, &self.names)? else {
            return Ok(None);
        };
        self.header.check(&statement, number, text)?;
        Ok(Some(statement))
    }

    /// Takes it that a line that could not be read declared what it seems to, so that the lines below it that use the
    /// name are not called faulty too.
    fn assume(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace();
        let verb = words
            .next()
            .and_then(|verb| nearest(verb, statement::VERBS.iter().copied()));
        if let Some(verb) = verb {
            self.names.assume(verb, words.next());
            self.header.assume(verb);
        }
    }
}
