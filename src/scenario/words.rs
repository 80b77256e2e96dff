//! From a line of text to its words: spaces, quotes with their escapes, comments.
//!
//! A word remembers which of its bytes stood in quotes, because there `=`, `,` and `#` are ordinary and `null` is a text;
//! and the column at which it begins, for messages.
//!
//! Deliberately absent: what a word means.

use super::fault::{Found, Wrong};

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its first character's column, from 1.
    pub column: u32,
    bytes: Vec<u8>,
    /// For each byte whether it stood in quotes; empty where none did, which is the usual case.
    quoted: Vec<bool>,
    /// Whether quotes opened at all: `""` is a value, though an empty one.
    has_quotes: bool,
}

impl Word {
    /// The word as text, for messages, with the quotes in which it stands: some words mean something only without them.
    pub fn shown(&self) -> String {
        if self.has_quotes && self.bytes.is_empty() {
            return "\"\"".to_string();
        }
        let mut shown = Vec::with_capacity(self.bytes.len() + 2);
        let mut is_open = false;
        for (at, byte) in self.bytes.iter().enumerate() {
            if self.is_quoted(at) != is_open {
                shown.push(b'"');
                is_open = !is_open;
            }
            shown.push(*byte);
        }
        if is_open {
            shown.push(b'"');
        }
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// The word's bytes, without its quotes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The word's text, if nothing of it stood in quotes: a word of the language, a name or a number.
    pub fn plain(&self) -> Option<&str> {
        if self.has_quotes {
            None
        } else {
            std::str::from_utf8(&self.bytes).ok()
        }
    }

    /// The word's text, quoted or not; `None` if escapes made it something else than UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// How many columns it takes, if it stands without quotes.
    pub fn width(&self) -> u32 {
        let text = String::from_utf8_lossy(&self.bytes);
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
    }

    fn is_quoted(&self, at: usize) -> bool {
        self.quoted.get(at).copied().unwrap_or(false)
    }

    fn find(&self, sign: u8) -> Option<usize> {
        (0..self.bytes.len()).find(|&at| self.bytes[at] == sign && !self.is_quoted(at))
    }

    /// The first of these signs that stands outside quotes.
    pub fn first_of(&self, signs: &[u8]) -> Option<char> {
        signs
            .iter()
            .filter_map(|&sign| self.find(sign))
            .min()
            .map(|at| char::from(self.bytes[at]))
    }

    fn slice(&self, from: usize, to: usize) -> Word {
        let before = self.bytes[..from].iter().filter(|byte| (**byte as i8) >= -64).count();
        Word {
            column: self.column + u32::try_from(before).unwrap_or(0),
            bytes: self.bytes[from..to].to_vec(),
            quoted: if self.quoted.is_empty() {
                Vec::new()
            } else {
                self.quoted[from..to].to_vec()
            },
            has_quotes: self.has_quotes && (from == to || (from..to).any(|at| self.is_quoted(at))),
        }
    }

    /// What stands before and after the first such sign outside quotes.
    pub fn split_once(&self, sign: u8) -> Option<(Word, Word)> {
        let at = self.find(sign)?;
        Some((self.slice(0, at), self.slice(at + 1, self.bytes.len())))
    }

    /// The parts between such signs outside quotes; one part if there is none.
    pub fn split(&self, sign: u8) -> Vec<Word> {
        let mut parts = Vec::new();
        let mut from = 0;
        for at in 0..self.bytes.len() {
            if self.bytes[at] == sign && !self.is_quoted(at) {
                parts.push(self.slice(from, at));
                from = at + 1;
            }
        }
        parts.push(self.slice(from, self.bytes.len()));
        parts
    }

    fn push(&mut self, byte: u8, quoted: bool) {
        if quoted && self.quoted.is_empty() {
            self.quoted = vec![false; self.bytes.len()];
        }
        if quoted || !self.quoted.is_empty() {
            self.quoted.push(quoted);
        }
        self.bytes.push(byte);
    }

    fn push_char(&mut self, sign: char, quoted: bool) {
        let mut buffer = [0; 4];
        for byte in sign.encode_utf8(&mut buffer).bytes() {
            self.push(byte, quoted);
        }
    }
}

/// The words of a line. `text` is the line without its end.
pub(super) fn words(text: &str) -> Result<Vec<Word>, Wrong> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        column: 0,
    };
    let mut words = Vec::new();
    loop {
        while reader.rest.next_if(|&sign| is_space(sign)).is_some() {
            reader.column += 1;
        }
        match reader.rest.peek() {
            None | Some('#') => return Ok(words),
            Some(_) => words.push(reader.word()?),
        }
    }
}

/// The comment of a line, with its sign; nothing if it has none, or is malformed.
pub fn comment(text: &str) -> Option<&str> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        column: 0,
    };
    loop {
        while reader.rest.next_if(|&sign| is_space(sign)).is_some() {
            reader.column += 1;
        }
        match reader.rest.peek()? {
            '#' => {
                let (at, _) = text.char_indices().nth(reader.column as usize)?;
                return text.get(at..);
            }
            _ => drop(reader.word().ok()?),
        }
    }
}

fn is_space(sign: char) -> bool {
    sign == ' ' || sign == '\t'
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    /// The column of the character read last.
    column: u32,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let sign = self.rest.next()?;
        self.column += 1;
        Some(sign)
    }

    fn word(&mut self) -> Result<Word, Wrong> {
        let mut word = Word {
            column: self.column + 1,
            bytes: Vec::new(),
            quoted: Vec::new(),
            has_quotes: false,
        };
        while let Some(&sign) = self.rest.peek() {
            if is_space(sign) {
                break;
            }
            self.next();
            if sign == '"' {
                word.has_quotes = true;
                self.quoted_part(&mut word)?;
            } else {
                word.push_char(sign, false);
            }
        }
        Ok(word)
    }

    fn quoted_part(&mut self, word: &mut Word) -> Result<(), Wrong> {
        let opened = self.column;
        loop {
            match self.next() {
                None => {
                    let found = Found::Described("a quote that is never closed".to_string());
                    return Err(Wrong::new(opened, found, "a closing '\"' on the same line"));
                }
                Some('"') => return Ok(()),
                Some('\\') => self.escape(word)?,
                Some(sign) => word.push_char(sign, true),
            }
        }
    }

    fn escape(&mut self, word: &mut Word) -> Result<(), Wrong> {
        let at = self.column;
        let wrong = |found: String| Wrong::new(at, Found::Word(found), "one of \\\" \\\\ \\n \\xHH");
        match self.next() {
            Some('"') => word.push(b'"', true),
            Some('\\') => word.push(b'\\', true),
            Some('n') => word.push(b'\n', true),
            Some('x') => {
                let digits: String = [self.next(), self.next()].into_iter().flatten().collect();
                let byte = Some(&digits)
                    .filter(|digits| digits.len() == 2 && digits.bytes().all(|d| d.is_ascii_hexdigit()))
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                    .ok_or_else(|| wrong(format!("\\x{digits}")))?;
                word.push(byte, true);
            }
            other => {
                return Err(wrong(format!("\\{}", other.map(String::from).unwrap_or_default())));
            }
        }
        Ok(())
    }
}
