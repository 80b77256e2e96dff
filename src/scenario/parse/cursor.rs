//! Walking along the words of one line, and the settings at its end.
//!
//! Deliberately absent: what single words can mean ([`super::atoms`]).

use super::atoms::{self, DURATION, as_partition, text_value, wrong};
use crate::config::{Scope, nearest};
use crate::scenario::ast::{Micros, Op, Setting};
use crate::scenario::fault::{Found, Wrong};
use crate::scenario::names::Names;
use crate::scenario::words::Word;

/// A place among the words of a line.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    words: &'a [Word],
    at: usize,
    /// The column after the last character, where a missing word would stand.
    end: u32,
    /// What is declared above the line.
    pub names: &'a Names,
}

impl<'a> Cursor<'a> {
    pub fn new(words: &'a [Word], end: u32, names: &'a Names) -> Cursor<'a> {
        Cursor {
            words,
            at: 0,
            end,
            names,
        }
    }

    /// The next word, which stays where it is.
    pub fn peek(&self) -> Option<&'a Word> {
        self.words.get(self.at)
    }

    /// The next word's text, if it is a plain one.
    pub fn peek_plain(&self) -> Option<&'a str> {
        self.peek().and_then(Word::plain)
    }

    /// Whether a client or a group of that name is declared above.
    pub fn is_declared(&self, name: &str) -> bool {
        let names = self.names;
        names.sent(name).is_some() || names.has_consumer(name) || names.has_group(name)
    }

    /// Whether exactly one word is left.
    pub fn is_at_last(&self) -> bool {
        self.at + 1 == self.words.len()
    }

    /// The next word, if there is one.
    pub fn take(&mut self) -> Option<&'a Word> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// The next word, which must be there.
    pub fn next(&mut self, expected: &str) -> Result<&'a Word, Wrong> {
        self.take().ok_or_else(|| self.missing(expected))
    }

    /// A fault at the end of the line: something should have followed.
    pub fn missing(&self, expected: &str) -> Wrong {
        Wrong::new(self.end, Found::EndOfLine, expected)
    }

    /// Passes this word if it is the next one.
    pub fn skip(&mut self, word: &str) -> bool {
        let there = self.peek_plain() == Some(word);
        self.at += usize::from(there);
        there
    }

    /// Passes this word, which must be the next one.
    pub fn require(&mut self, word: &str) -> Result<(), Wrong> {
        let expected = format!("'{word}'");
        let next = self.next(&expected)?;
        if next.plain() == Some(word) {
            return Ok(());
        }
        Err(wrong(next, expected).near([word]))
    }

    /// One of the words of an enum.
    pub fn one_of<T: Copy>(&mut self, what: &str, all: &[T], word_of: impl Fn(T) -> &'static str) -> Result<T, Wrong> {
        atoms::one_of(self.next(what)?, what, all, word_of)
    }

    /// Takes `within DURATION` away from the end of the line, and gives the duration: this bound stands behind something of
    /// any length.
    pub fn take_bound(&mut self) -> Result<Option<Micros>, Wrong> {
        let left = &self.words[self.at..];
        let Some(at) = (0..left.len()).rfind(|at| self.begins_bound(left, *at)) else {
            return self.misspelt_bound(left).map_or(Ok(None), Err);
        };
        let Some(value) = left.get(at + 1) else {
            return Err(self.missing(DURATION));
        };
        let bound = atoms::duration(value)?;
        if let Some(more) = left.get(at + 2) {
            return Err(wrong(more, "the end of the line"));
        }
        self.end = left[at].column;
        self.words = &self.words[..self.at + at];
        Ok(Some(bound))
    }

    /// The fault of a line that ends in something like `within` and a duration.
    fn misspelt_bound(&self, words: &[Word]) -> Option<Wrong> {
        let [.., name, value] = words else { return None };
        atoms::duration(value).ok()?;
        let text = name.plain().filter(|text| !self.is_declared(text))?;
        nearest(text, ["within"])?;
        Some(wrong(name, "'within' or the end of the line").near(["within"]))
    }

    /// Whether the word at this place begins a bound: it is `within`, and neither part of a value nor somebody's name.
    fn begins_bound(&self, words: &[Word], at: usize) -> bool {
        let plain = |at: usize| words.get(at).and_then(Word::plain);
        let is_operator = |word: &str| Op::from_word(word).is_some();
        let before = at.checked_sub(1).and_then(plain);
        let is_value = before.is_some_and(|before| before == "never" || is_operator(before));
        let after = plain(at + 1);
        let may_be_name = after.is_none_or(|after| is_operator(after) || as_partition(after).is_some());
        plain(at) == Some("within") && !is_value && !(may_be_name && self.is_declared("within"))
    }

    /// That nothing follows.
    pub fn end(&self) -> Result<(), Wrong> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(wrong(word, "the end of the line")),
        }
    }

    /// All further words as settings.
    pub fn settings(&mut self) -> Result<Settings, Wrong> {
        let end = self.missing("a setting key=value");
        let mut settings = Vec::new();
        while let Some(word) = self.take() {
            let split = word.split_once(b'=').and_then(|(name, value)| {
                let text = name.plain().filter(|name| !name.is_empty())?.to_string();
                Some((text, name, value))
            });
            settings.push(split.ok_or_else(|| wrong(word, "a setting key=value"))?);
        }
        Ok(Settings { settings, end })
    }
}

/// The settings at the end of a line, from which a statement takes those that are its own.
pub(super) struct Settings {
    settings: Vec<(String, Word, Word)>,
    /// The fault of having none.
    end: Wrong,
}

impl Settings {
    /// The value of this setting, at most one.
    pub fn take(&mut self, name: &str) -> Result<Option<Word>, Wrong> {
        let mut values = self.take_all(name).into_iter();
        match (values.next(), values.next()) {
            (_, Some(again)) => Err(wrong(&again, format!("{name}= only once"))),
            (value, None) => Ok(value),
        }
    }

    /// The value of this setting as `read` makes it out.
    pub fn read<T>(&mut self, name: &str, read: impl FnOnce(&Word) -> Result<T, Wrong>) -> Result<Option<T>, Wrong> {
        self.take(name)?.map(|value| read(&value)).transpose()
    }

    /// The values of this setting, which may be given several times.
    pub fn take_all(&mut self, name: &str) -> Vec<Word> {
        self.take_where(|other| other == name)
            .into_iter()
            .map(|(_, value)| value)
            .collect()
    }

    /// The settings whose names begin like this, without that beginning, in order.
    pub fn take_prefixed(&mut self, prefix: &str) -> Vec<(String, Word)> {
        self.take_where(|name| name.len() > prefix.len() && name.starts_with(prefix))
            .into_iter()
            .map(|(name, value)| (name[prefix.len()..].to_string(), value))
            .collect()
    }

    fn take_where(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<(String, Word)> {
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.settings)
            .into_iter()
            .partition(|(name, ..)| wanted(name));
        self.settings = left;
        taken.into_iter().map(|(name, _, value)| (name, value)).collect()
    }

    /// The fault of a setting that is written almost like one of these, which are the statement's own.
    pub fn misspelt(&self, own: &[&str]) -> Option<Wrong> {
        let mut near = self.settings.iter().filter(|(name, ..)| {
            let is_config = Scope::ALL.iter().any(|scope| scope.find(name).is_some());
            !is_config && nearest(name, own.iter().copied()).is_some()
        });
        let (_, word, _) = near.next()?;
        Some(wrong(word, "a setting that there is").near(own.iter().copied()))
    }

    /// What is left, as configs.
    pub fn configs(self) -> Result<Vec<Setting>, Wrong> {
        let mut configs: Vec<Setting> = Vec::with_capacity(self.settings.len());
        for (name, word, value) in self.settings {
            if configs.iter().any(|config| config.name == name) {
                return Err(wrong(&word, "each setting only once"));
            }
            configs.push(Setting {
                name,
                value: text_value(&value)?,
            });
        }
        Ok(configs)
    }

    /// What is left, as configs, of which there must be one.
    pub fn some_configs(self) -> Result<Vec<Setting>, Wrong> {
        if self.settings.is_empty() {
            return Err(self.end);
        }
        self.configs()
    }

    /// That nothing is left; `allowed` are the settings that could have been given.
    pub fn finish(self, allowed: &[&str]) -> Result<(), Wrong> {
        match self.settings.first() {
            None => Ok(()),
            Some((_, name, _)) => {
                let list: Vec<String> = allowed.iter().map(|name| format!("{name}=")).collect();
                let expected = match allowed {
                    [] => "the end of the line".to_string(),
                    _ => list.join(" "),
                };
                Err(wrong(name, expected).near(allowed.iter().copied()))
            }
        }
    }
}
