//! The terms of the course, each with one sentence, and where they stand in a text.
//!
//! A lesson defines a term where it uses it first, in bold; wherever it comes again it can be clicked. Both rest on this
//! one table. Deliberately absent: how a term looks, and names of settings, which are explained where they are set.

/// A term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its name.
    pub name: &'static str,
    /// The words that stand for it, in small letters; the longest that fits is taken.
    pub forms: &'static [&'static str],
    /// What it is.
    pub sentence: &'static str,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Words that are no term.
    Plain(&'a str),
    /// Words that stand for a term.
    Term(&'a str, &'static Term),
}

const fn term(name: &'static str, forms: &'static [&'static str], sentence: &'static str) -> Term {
    Term { name, forms, sentence }
}

/// All terms.
pub const GLOSSARY: &[Term] = &[
    term(
        "log",
        &["log", "logs"],
        "A list that only grows at its end; no record in it changes its place.",
    ),
    term(
        "offset",
        &["offset", "offsets"],
        "The number of a record in its partition, counted from 0 and never given twice in one history.",
    ),
    term(
        "topic",
        &["topic", "topics"],
        "A named stream of records, cut into partitions.",
    ),
    term(
        "partition",
        &["partition", "partitions"],
        "One log of a topic, with offsets of its own; order holds within it.",
    ),
    term(
        "leader",
        &["leader", "leaders"],
        "The broker that takes a partition's records in and answers its readers.",
    ),
    term(
        "follower",
        &["follower", "followers"],
        "A broker that copies a partition from its leader.",
    ),
    term(
        "fetch",
        &["fetch", "fetches"],
        "The request for what comes next from an offset on; it also says that everything before is there.",
    ),
    term(
        "in sync",
        &["in sync", "in-sync replica", "in-sync replicas"],
        "A replica that keeps up with the leader; the controller keeps the list (ISR).",
    ),
    term(
        "high watermark",
        &["high watermark", "high watermarks"],
        "The first offset that some in-sync replica may lack; what lies below is committed and may be read.",
    ),
    term(
        "page cache",
        &["page cache"],
        "Memory of the host that holds what was written to files and not yet forced to disk; it outlives the process, not a power loss.",
    ),
    term(
        "leader epoch",
        &["leader epoch", "leader epochs"],
        "A number that grows with each new leader; every batch carries the one in which it was written.",
    ),
    term(
        "segment",
        &["segment", "segments"],
        "One file of a partition's log; records go to the last, the active one.",
    ),
    term(
        "retention",
        &["retention"],
        "The rules by which old segments are deleted.",
    ),
    term(
        "acknowledged",
        &["acknowledged", "acknowledges"],
        "The producer was told yes; what that yes is worth is what acks says.",
    ),
    term(
        "truncated",
        &["truncated"],
        "Cut off the end of a follower's log, because the leader's history is another one.",
    ),
    term(
        "consumer group",
        &["consumer group", "consumer groups"],
        "Consumers that share out a topic's partitions among them; different groups know nothing of each other.",
    ),
    term(
        "committed offset",
        &["committed offset", "committed offsets"],
        "A group's place in a partition as the brokers keep it: the next offset to read.",
    ),
];

/// Cuts a text at the terms in it; of each term only the first place counts, and none that `known` holds already.
/// The terms that were found are added to `known`.
pub fn parts<'a>(text: &'a str, known: &mut Vec<&'static str>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut plain = 0;
    while let Some((at, words, term)) = next_term(&rest[plain..], known) {
        let at = plain + at;
        if at > 0 {
            parts.push(Part::Plain(&rest[..at]));
        }
        parts.push(Part::Term(words, term));
        known.push(term.name);
        rest = &rest[at + words.len()..];
        plain = 0;
    }
    plain = rest.len();
    if plain > 0 {
        parts.push(Part::Plain(rest));
    }
    parts
}

/// The first place of a term that is not known.
fn next_term<'a>(text: &'a str, known: &[&str]) -> Option<(usize, &'a str, &'static Term)> {
    let starts = text.char_indices().map(|(at, _)| at);
    let mut starts = starts.filter(|at| begins_word(text, *at));
    starts.find_map(|at| {
        let (length, term) = longest_form(&text[at..])?;
        let is_new = !known.contains(&term.name);
        is_new.then(|| (at, &text[at..at + length], term))
    })
}

/// The longest form of a term that a text begins with, as whole words.
fn longest_form(text: &str) -> Option<(usize, &'static Term)> {
    let forms = GLOSSARY
        .iter()
        .flat_map(|term| term.forms.iter().map(move |form| (*form, term)));
    forms
        .filter(|(form, _)| {
            let begins = text
                .get(..form.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(form));
            begins && ends_word(&text[form.len()..])
        })
        .map(|(form, term)| (form.len(), term))
        .max_by_key(|(length, _)| *length)
}

fn begins_word(text: &str, at: usize) -> bool {
    let before = &text[..at];
    !before.strip_suffix('.').unwrap_or(before).ends_with(is_inner)
}

fn ends_word(rest: &str) -> bool {
    !rest.strip_prefix('.').unwrap_or(rest).starts_with(is_inner)
}

/// Whether a character goes on with a word, or with a name such as `log.dirs`. Letters beyond ASCII lie before the marks.
fn is_inner(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '\u{c0}'..'\u{2000}') || matches!(character, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::{GLOSSARY, Part, parts};
    use crate::lesson::library::LIBRARY;
    use crate::lesson::{Block, Part as LessonPart, Span};

    fn terms(text: &str) -> Vec<(&str, &str)> {
        let parts = parts(text, &mut Vec::new());
        let words: String = parts
            .iter()
            .map(|part| match part {
                Part::Plain(words) | Part::Term(words, _) => *words,
            })
            .collect();
        assert_eq!(words, text);
        let terms = parts.into_iter().filter_map(|part| match part {
            Part::Term(words, term) => Some((words, term.name)),
            Part::Plain(_) => None,
        });
        terms.collect()
    }

    #[test]
    fn the_first_place_of_each_term_is_found() {
        assert_eq!(
            terms("Followers fetch from an offset. The next offset is the follower's log end."),
            [
                ("Followers", "follower"),
                ("fetch", "fetch"),
                ("offset", "offset"),
                ("log", "log")
            ]
        );
        assert_eq!(
            terms("below the high watermark"),
            [("high watermark", "high watermark")]
        );
        assert_eq!(terms("every in-sync replica"), [("in-sync replica", "in sync")]);
    }

    #[test]
    fn a_part_of_a_word_is_no_term() {
        assert_eq!(
            terms("segment.bytes, log.retention.ms, catalog, logic, offsetting, two-topic, über-log, logé, café log"),
            [("log", "log")]
        );
        assert_eq!(terms(""), []);
    }

    #[test]
    fn what_is_known_already_is_left_alone() {
        let mut known = vec!["log"];
        assert_eq!(parts("a log", &mut known), [Part::Plain("a log")]);
        assert_eq!(parts("an offset", &mut known).len(), 2);
        assert_eq!(known, ["log", "offset"]);
    }

    #[test]
    fn every_term_is_a_sentence_and_every_form_is_written_small() {
        for term in GLOSSARY {
            assert!(term.sentence.ends_with('.'), "{}", term.name);
            assert!(
                term.forms.iter().all(|form| *form == form.to_lowercase()),
                "{}",
                term.name
            );
        }
    }

    /// Words of prose with whether they stand in bold.
    fn words(blocks: &[Block], found: &mut Vec<(String, bool)>) {
        for block in blocks {
            match block {
                Block::Paragraph(spans) => spans_of(spans, false, found),
                Block::Bullets(items) | Block::Numbered(_, items) => items.iter().for_each(|item| words(item, found)),
                Block::Quote(blocks) => words(blocks, found),
                Block::Heading(..) | Block::Code(..) | Block::Table(..) | Block::Rule => {}
            }
        }
    }

    fn spans_of(spans: &[Span], bold: bool, found: &mut Vec<(String, bool)>) {
        for span in spans {
            match span {
                Span::Text(text) => found.push((text.clone(), bold)),
                Span::Strong(inner) => spans_of(inner, true, found),
                Span::Emphasis(inner) | Span::Link(_, inner) => spans_of(inner, bold, found),
                Span::Code(_) | Span::Break => {}
            }
        }
    }

    /// The first lesson of the library is the landing scene, whose words the page has itself.
    #[test]
    fn the_course_defines_each_term_where_it_uses_it_first() {
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for source in &LIBRARY[1..] {
            let lesson = source.lesson().expect("it has no mistake");
            let mut found = Vec::new();
            for part in &lesson.parts {
                if let LessonPart::Prose(blocks) = part {
                    words(blocks, &mut found);
                }
            }
            for (text, bold) in &found {
                for part in parts(text, &mut known) {
                    if let Part::Term(words, _) = part
                        && !bold
                    {
                        missing.push(format!("{}: '{words}' in: {text}", source.slug));
                    }
                }
            }
        }
        assert!(
            missing.is_empty(),
            "put them in bold where they are defined: {missing:#?}"
        );
    }
}
