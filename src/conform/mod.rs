//! Replays recordings of a real Kafka and says where this one differs.
//!
//! A recording's first JSON value, its header, names its `kind`; every kind has a [`Replay`]. One file may hold several
//! recordings one after another. Whoever can replay another kind adds it to [`REPLAYS`].
//!
//! A replay stops at the first operation that differs, because everything after it would differ too.
//!
//! Deliberately absent: reading of files and printing, which are the command line's.

mod assignors;
mod cluster;
mod compare;
mod controller;
mod partitioner;
pub mod storage;

use serde_json::Value;
use std::fmt;

pub use compare::Difference;

/// Everything that can be replayed.
pub const REPLAYS: &[&dyn Replay] = &[
    &controller::Recorded,
    &partitioner::Murmur2,
    &partitioner::Sticky,
    &assignors::Assignors,
    &storage::Recorded,
    &cluster::Recorded,
];

/// How recordings of one kind are replayed.
pub trait Replay: Sync {
    /// The kind, as headers name it.
    fn kind(&self) -> &'static str;

    /// What the last line of every recording of this kind holds; `None` for a kind that has no lines. A recording without
    /// it was cut.
    fn ends_with(&self) -> Option<&'static str> {
        None
    }

    /// Replays one recording.
    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed>;
}

/// One recording: its header and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The header's `kind`.
    pub kind: String,
    /// The line of the text at which it begins, from 1.
    pub begins: usize,
    /// The header.
    pub header: Value,
    /// The values after the header, in order.
    pub lines: Vec<Value>,
}

/// What a replay found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replayed {
    /// Number of operations that were compared.
    pub operations: u64,
    /// Where the first operation that differs differs; empty if everything is equal.
    pub differences: Vec<Difference>,
    /// What was left out of the comparison, with the reason.
    pub skipped: Vec<String>,
    /// What no rule decides and came out in the recording otherwise than it mostly does.
    pub chance: Vec<String>,
}

/// What became of one recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It was replayed.
    Replayed(Replayed),
    /// Its kind is not replayed.
    Skipped,
}

/// One recording's line in the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The header's `kind`.
    pub kind: String,
    /// What the recording is about: the header's `title` or `case`, or else its profile and seed.
    pub title: Option<String>,
    /// What became of it.
    pub verdict: Verdict,
}

/// Why a text is no recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// Where and what.
    pub message: String,
}

impl Malformed {
    /// A complaint about a place.
    pub fn new(place: impl fmt::Display, complaint: impl fmt::Display) -> Self {
        Malformed {
            message: format!("{place}: {complaint}"),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Malformed {}

/// Replays every recording in a text.
pub fn replay(text: &str) -> Result<Vec<Report>, Malformed> {
    parse(text)?.iter().map(replay_one).collect()
}

fn replay_one(recording: &Recording) -> Result<Report, Malformed> {
    let known = REPLAYS.iter().find(|replay| replay.kind() == recording.kind);
    let verdict = match known {
        Some(replay) => {
            check_format(recording)?;
            check_end(recording, replay.ends_with())?;
            Verdict::Replayed(replay.replay(recording)?)
        }
        None => Verdict::Skipped,
    };
    let named = ["title", "case"]
        .iter()
        .find_map(|&name| recording.header.get(name)?.as_str());
    Ok(Report {
        kind: recording.kind.clone(),
        title: named.map(str::to_owned),
        verdict,
    })
}

/// The format of recordings that is known.
const FORMAT: u64 = 1;

fn check_format(recording: &Recording) -> Result<(), Malformed> {
    match recording.header.get("format") {
        Some(format) if *format != FORMAT => Err(Malformed::new(
            format!("line {}", recording.begins),
            format!("the recording's format is {format}, and only {FORMAT} is known"),
        )),
        _ => Ok(()),
    }
}

/// A text that was cut at the end of a line is sound JSON.
fn check_end(recording: &Recording, ends_with: Option<&str>) -> Result<(), Malformed> {
    let holds = |name| recording.lines.last().is_some_and(|line| line.get(name).is_some());
    match ends_with {
        Some(name) if !holds(name) => Err(Malformed::new(
            format!("line {}", recording.begins),
            format!("the recording that begins here is cut: its last line holds no {name}"),
        )),
        _ => Ok(()),
    }
}

/// Splits a text into recordings: a value with a `kind` begins one.
pub fn parse(text: &str) -> Result<Vec<Recording>, Malformed> {
    // Some editors of Windows put a mark of the encoding in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut recordings: Vec<Recording> = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (mut count, mut line, mut end) = (0, 1, 0);
    while let Some(value) = values.next() {
        count += 1;
        let value = value.map_err(|error| Malformed::new(format!("value {count}"), error))?;
        let read = &text[end..values.byte_offset()];
        let begins = line + breaks(&read[..read.len() - read.trim_start().len()]);
        (line, end) = (line + breaks(read), values.byte_offset());
        let kind = value.get("kind").and_then(Value::as_str).map(str::to_owned);
        match (kind, recordings.last_mut()) {
            (Some(kind), _) => recordings.push(Recording {
                kind,
                begins,
                header: value,
                lines: Vec::new(),
            }),
            (None, Some(current)) => current.lines.push(value),
            (None, None) => {
                return Err(Malformed::new(
                    "value 1",
                    "a recording begins with a header that names its kind",
                ));
            }
        }
    }
    if recordings.is_empty() {
        return Err(Malformed::new("value 1", "there is nothing here"));
    }
    Ok(recordings)
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_header_is_no_recording() {
        assert_eq!(parse("").unwrap_err().message, "value 1: there is nothing here");
        let complaint = parse("{\"i\":0}").unwrap_err().message;
        assert_eq!(
            complaint,
            "value 1: a recording begins with a header that names its kind"
        );
        assert!(
            parse("{\"kind\":\"x\"}\n{")
                .unwrap_err()
                .message
                .starts_with("value 2: EOF")
        );
    }

    #[test]
    fn a_header_begins_another_recording_in_the_same_text() {
        let recordings = parse("{\"kind\":\"a\"}\n{\"i\":0}\n{\"kind\":\"b\"}").unwrap();
        assert_eq!(
            recordings
                .iter()
                .map(|r| (r.kind.as_str(), r.lines.len()))
                .collect::<Vec<_>>(),
            [("a", 1), ("b", 0)]
        );
    }

    /// A few letters must not cost more than they are worth.
    #[test]
    fn numbers_that_no_recording_holds_are_malformed() {
        let assignor = r#"{"kind":"assignor","assignor":"range","steps":[{"change":"x","topics":{"t":4294967295},
            "members":[],"assignment":{}}]}"#;
        let cluster = |brokers: &str, step: &str| {
            format!(
                r#"{{"kind":"cluster","elrFeature":1,"timings":{{}},"brokers":[{brokers}]}}
                {{"i":0,"step":{{"do":"topic","name":"t","replicas":[1]}},"observed":{{}}}}
                {{"i":1,"step":{{{step}}},"observed":{{}}}}
                {{"logs":{{}}}}"#
            )
        };
        let step = |step: &str| cluster("1", step);
        let cases = [
            (
                assignor.to_owned(),
                "step 0: 4294967295 partitions, of which there can be 1000",
            ),
            (cluster("1,65535", ""), "header: broker 65535, of which there can be 10"),
            (
                step(r#""do":"send","n":18446744073709551615"#),
                "line 3: n is 18446744073709551615, and can be 1000",
            ),
            (
                step(r#""do":"send","v":["a","b"],"pad":18446744073709551615"#),
                "line 3: the records are 18446744073709551615 bytes long, and can be 4194304",
            ),
            (
                step(r#""do":"sleep","ms":18446744073709551615"#),
                "line 3: 18446744073709551615 ms are longer than the 3600000 that a step can take",
            ),
            (
                step(r#""do":"stop","b":1,"timeout":18446744073709551615"#),
                "line 3: 18446744073709551615 ms are longer than the 3600000 that a step can take",
            ),
        ];
        for (recording, complaint) in cases {
            assert_eq!(replay(&recording).unwrap_err().message, complaint);
        }
    }

    #[test]
    fn a_kind_that_nobody_replays_is_skipped_by_name() {
        let reports = replay("{\"kind\":\"weather\",\"title\":\"rain\"}").unwrap();
        let expected = Report {
            kind: "weather".into(),
            title: Some("rain".into()),
            verdict: Verdict::Skipped,
        };
        assert_eq!(reports, [expected]);
    }

    #[test]
    fn a_recording_that_was_cut_at_the_end_of_a_line_is_malformed() {
        let cases = [
            ("storage", r#"{"i":0,"op":{},"result":{},"state":{}}"#, "files"),
            ("cluster", r#"{"i":0,"step":{},"observed":{}}"#, "logs"),
            ("controller", "", "state"),
        ];
        for (kind, line, last) in cases {
            let recording = format!("{{\"kind\":\"weather\"}}\n{{\"kind\":\"{kind}\"}}\n{line}\n");
            let complaint = format!("line 2: the recording that begins here is cut: its last line holds no {last}");
            assert_eq!(replay(&recording).unwrap_err().message, complaint);
        }
    }

    #[test]
    fn a_format_that_nobody_knows_is_refused() {
        let key = r#""vectors":[]}"#;
        for format in ["2", "\"1\"", "null"] {
            let text = format!("{{\"kind\":\"murmur2\",{key}\n\n{{\"kind\":\"murmur2\",\"format\":{format},{key}");
            let complaint = format!("line 3: the recording's format is {format}, and only 1 is known");
            assert_eq!(replay(&text).unwrap_err().message, complaint);
        }
    }

    #[test]
    fn a_mark_of_the_encoding_in_front_is_no_part_of_the_text() {
        assert_eq!(parse("\u{feff}{\"kind\":\"a\"}"), parse("{\"kind\":\"a\"}"));
        assert!(parse("\u{feff}{\"kind\":\"a\"}").is_ok());
    }
}
