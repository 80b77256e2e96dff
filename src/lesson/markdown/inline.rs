//! The text of a block into spans.
//!
//! Stressed text is found as CommonMark finds it: a run of `*` or `_` may open, close or do both by what stands beside
//! it, and a closing run takes the nearest run before it that opens.

use super::Span;
use crate::cluster::rules::{self, Rule};
use crate::lesson::fault::{Fault, or_rather};
use crate::lesson::library::{self, LIBRARY};

/// Reads the text of a block that begins on a line.
pub(super) fn spans(text: &str, line: u32, faults: &mut Vec<Fault>) -> Vec<Span> {
    let mut reader = Reader {
        text,
        at: 0,
        line,
        faults,
        found: Vec::new(),
    };
    while reader.at < text.len() {
        reader.next();
    }
    settle(reader.found)
}

/// What was found, some of it not settled yet.
#[derive(Clone, Debug)]
enum Found {
    Span(Span),
    /// A run of `*` or `_`.
    Run(Run),
    /// `[`, which may begin a link, or `![`, which would begin an image.
    Bracket {
        image: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct Run {
    mark: char,
    /// Marks that are not used up yet.
    left: usize,
    length: usize,
    opens: bool,
    closes: bool,
}

impl Run {
    /// A run that may open and close at once must not pair up into a multiple of three: `**a*b**` is one pair.
    fn pairs_with(&self, closing: &Run) -> bool {
        let both = self.closes || closing.opens;
        self.mark == closing.mark
            && self.opens
            && self.left > 0
            && !(both
                && (self.length + closing.length).is_multiple_of(3)
                && !(self.length.is_multiple_of(3) && closing.length.is_multiple_of(3)))
    }
}

struct Reader<'a, 'f> {
    text: &'a str,
    at: usize,
    line: u32,
    faults: &'f mut Vec<Fault>,
    found: Vec<Found>,
}

impl<'a> Reader<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push_text(&mut self, text: &str) {
        if let Some(Found::Span(Span::Text(last))) = self.found.last_mut() {
            last.push_str(text);
        } else {
            self.found.push(Found::Span(Span::Text(text.to_string())));
        }
    }

    /// Takes so many bytes as they are.
    fn take_text(&mut self, bytes: usize) {
        let text = &self.rest()[..bytes];
        self.push_text(text);
        self.at += bytes;
    }

    fn refuse(&mut self, what: &str, remedy: &str) {
        let wrong = format!("{what} is not allowed in a lesson");
        self.fault(wrong, remedy);
    }

    fn fault(&mut self, wrong: String, remedy: &str) {
        let line = self.line + self.text[..self.at].bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.faults.push(Fault::new(line, wrong, remedy));
    }

    fn next(&mut self) {
        let rest = self.rest();
        match rest.as_bytes()[0] {
            b'\\' => self.escape(),
            b'`' => self.code(),
            b'*' | b'_' => self.run(),
            b'\n' => self.line_end(),
            b'<' => self.angle(),
            b'&' => self.entity(),
            b'!' if rest.starts_with("![") => {
                self.found.push(Found::Bracket { image: true });
                self.at += 2;
            }
            b'[' => {
                self.found.push(Found::Bracket { image: false });
                self.at += 1;
            }
            b']' => self.bracket_end(),
            _ => {
                let special = |c: char| matches!(c, '\\' | '`' | '*' | '_' | '\n' | '<' | '&' | '!' | '[' | ']');
                let first = rest.chars().next().map_or(1, char::len_utf8);
                self.take_text(rest[first..].find(special).map_or(rest.len(), |at| at + first));
            }
        }
    }

    fn escape(&mut self) {
        match self.rest()[1..].chars().next() {
            Some('\n') => {
                self.found.push(Found::Span(Span::Break));
                self.at += 2;
            }
            Some(c) if c.is_ascii_punctuation() => {
                self.at += 1;
                self.take_text(1);
            }
            _ => self.take_text(1),
        }
    }

    fn line_end(&mut self) {
        let mut forced = false;
        if let Some(Found::Span(Span::Text(last))) = self.found.last_mut() {
            forced = last.ends_with("  ");
            last.truncate(last.trim_end_matches(' ').len());
        }
        if forced {
            self.found.push(Found::Span(Span::Break));
        } else {
            self.push_text(" ");
        }
        self.at += 1;
    }

    /// Between two runs of as many backticks everything is as it stands.
    fn code(&mut self) {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches('`').len();
        let mut from = length;
        while let Some(begin) = rest[from..].find('`').map(|at| at + from) {
            let run = rest[begin..].len() - rest[begin..].trim_start_matches('`').len();
            from = begin + run;
            if run == length {
                let inner = rest[length..begin].replace('\n', " ");
                let padded = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
                let inner = if padded {
                    inner[1..inner.len() - 1].to_string()
                } else {
                    inner
                };
                self.found.push(Found::Span(Span::Code(inner)));
                self.at += from;
                return;
            }
        }
        self.take_text(length);
    }

    fn run(&mut self) {
        let rest = self.rest();
        let mark = if rest.starts_with('*') { '*' } else { '_' };
        let behind = rest.trim_start_matches(mark);
        let length = rest.len() - behind.len();
        let before = self.text[..self.at].chars().next_back();
        let after = behind.chars().next();
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let is_sign = |c: Option<char>| {
            c.is_some_and(|c| c.is_ascii_punctuation() || !(c.is_alphanumeric() || c.is_whitespace()))
        };
        let left = !is_space(after) && (!is_sign(after) || is_space(before) || is_sign(before));
        let right = !is_space(before) && (!is_sign(before) || is_space(after) || is_sign(after));
        // Within a word `_` is part of the word.
        let (opens, closes) = match mark {
            '*' => (left, right),
            _ => (left && (!right || is_sign(before)), right && (!left || is_sign(after))),
        };
        self.found.push(Found::Run(Run {
            mark,
            left: length,
            length,
            opens,
            closes,
        }));
        self.at += length;
    }

    /// `<https://…>` is a link; any other mark-up is refused; a `<` alone is a `<`.
    fn angle(&mut self) {
        let rest = self.rest();
        let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
        let Some(end) = rest.find('>').filter(|_| rest[1..].starts_with(begins)) else {
            return self.take_text(1);
        };
        let inner = &rest[1..end];
        let is_address = inner.contains(':') || inner.contains('@');
        if is_address && !inner.contains(|c: char| c.is_whitespace() || c == '<' || c == '"') {
            let words = vec![Span::Text(inner.to_string())];
            let link = self.link(inner, words);
            self.found.extend(link.map(Found::Span));
            self.at += end + 1;
            return;
        }
        self.refuse("raw HTML", "write it as Markdown");
        let end = if rest.starts_with("<!--") {
            rest.find("-->").map_or(end, |at| at + 2)
        } else {
            end
        };
        self.at += end + 1;
    }

    fn entity(&mut self) {
        let rest = self.rest();
        let name = rest[1..]
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '#'))
            .next();
        let name = name.filter(|name| !name.is_empty() && rest[1 + name.len()..].starts_with(';'));
        let Some(name) = name else {
            return self.take_text(1);
        };
        let number = name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        });
        let named = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "nbsp" => Some('\u{a0}'),
            _ => number,
        };
        match named {
            Some(c) => self.push_text(c.encode_utf8(&mut [0; 4])),
            None => self.refuse(&format!("'&{name};'"), "write the character itself"),
        }
        self.at += name.len() + 2;
    }

    /// `]`: the end of a link, when `[` stands before it and an address behind.
    fn bracket_end(&mut self) {
        let is_bracket = |found: &Found| matches!(found, Found::Bracket { .. });
        let Some(begin) = self.found.iter().rposition(is_bracket) else {
            return self.take_text(1);
        };
        let Some((to, length)) = address(&self.rest()[1..]) else {
            self.found[begin] = bracket_text(&self.found[begin]);
            return self.take_text(1);
        };
        let inner = settle(self.found.split_off(begin + 1));
        if let Some(Found::Bracket { image: true }) = self.found.pop() {
            self.refuse("an image", "show it with a scene");
        } else {
            // No link stands in another.
            for found in self.found.iter_mut().filter(|found| is_bracket(found)) {
                *found = bracket_text(found);
            }
            let link = self.link(to, inner);
            self.found.extend(link.map(Found::Span));
        }
        self.at += 1 + length;
    }

    /// A link leads to the web, to a rule or to another lesson; never to a script.
    fn link(&mut self, to: &str, inner: Vec<Span>) -> Option<Span> {
        if let Some(id) = to.strip_prefix("rule:").filter(|id| Rule::from_id(id).is_none()) {
            let near = or_rather(id, rules::TABLE.iter().map(|row| row.id));
            let remedy = format!("take an id from the table of rules{near}");
            self.fault(format!("there is no rule '{id}'"), &remedy);
            return None;
        }
        let is_lesson = |slug: &&str| library::find(slug).is_some();
        if let Some(slug) = to.strip_prefix("lesson:").filter(|slug| !is_lesson(slug)) {
            let near = or_rather(slug, LIBRARY.iter().map(|lesson| lesson.slug));
            let remedy = format!("call it as its file is called, without the ending{near}");
            self.fault(format!("there is no lesson '{slug}'"), &remedy);
            return None;
        }
        let kinds = ["https://", "http://", "rule:", "lesson:"];
        if kinds.iter().any(|kind| to.starts_with(kind)) {
            return Some(Span::Link(to.to_string(), inner));
        }
        self.refuse("a link of this kind", "begin it with https://, rule: or lesson:");
        None
    }
}

fn bracket_text(bracket: &Found) -> Found {
    let text = if matches!(bracket, Found::Bracket { image: true }) {
        "!["
    } else {
        "["
    };
    Found::Span(Span::Text(text.to_string()))
}

/// `(ADDRESS)` or `(ADDRESS "title")` at the beginning: the address, and the length of it all.
fn address(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix('(')?.trim_start();
    let (to, rest) = if let Some(inner) = inner.strip_prefix('<') {
        inner.split_once('>')?
    } else {
        let mut depth = 0_i32;
        let ends = |c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0 || c.is_whitespace()
        };
        inner.split_at(inner.find(ends)?)
    };
    let mut rest = rest.trim_start();
    if let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        rest = rest[1..].split_once(quote)?.1.trim_start();
    }
    rest.starts_with(')').then(|| (to, text.len() - rest.len() + 1))
}

/// Makes stressed text of runs that pair up, and plain text of what is left of the others.
fn settle(mut found: Vec<Found>) -> Vec<Span> {
    let mut at = 0;
    while at < found.len() {
        let Found::Run(closing) = found[at] else {
            at += 1;
            continue;
        };
        let pairs = |found: &Found| matches!(found, Found::Run(run) if run.pairs_with(&closing));
        let opening = found[..at].iter().rposition(pairs);
        let (Some(begin), true) = (opening, closing.closes && closing.left > 0) else {
            at += 1;
            continue;
        };
        let inner = plain(found.drain(begin + 1..at));
        let used = match &found[begin] {
            Found::Run(run) if run.left >= 2 && closing.left >= 2 => 2,
            _ => 1,
        };
        for place in &mut found[begin..=begin + 1] {
            if let Found::Run(run) = place {
                run.left -= used;
            }
        }
        let stressed = if used == 2 {
            Span::Strong(inner)
        } else {
            Span::Emphasis(inner)
        };
        found.insert(begin + 1, Found::Span(stressed));
        at = begin + 2;
    }
    plain(found.into_iter())
}

fn plain(found: impl Iterator<Item = Found>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for one in found {
        let span = match one {
            Found::Span(span) => span,
            Found::Run(run) if run.left == 0 => continue,
            Found::Run(run) => Span::Text(run.mark.to_string().repeat(run.left)),
            bracket @ Found::Bracket { .. } => match bracket_text(&bracket) {
                Found::Span(span) => span,
                _ => continue,
            },
        };
        match (spans.last_mut(), span) {
            (Some(Span::Text(last)), Span::Text(text)) => last.push_str(&text),
            (_, Span::Text(text)) if text.is_empty() => {}
            (_, span) => spans.push(span),
        }
    }
    spans
}
