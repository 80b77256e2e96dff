//! How things are called on the page: records, nodes, partitions, times, ranges of offsets.

use std::borrow::Borrow;
use std::iter::once;
use std::rc::Rc;

use crate::cluster::settings::Micros;
use crate::cluster::{BrokerId, ClientId, Node, Tag, TopicPartition, World};
use crate::lesson::said;
pub use crate::lesson::said::time;

/// Names of one world.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    world: &'a World,
    lone_producer: bool,
}

impl<'a> Names<'a> {
    /// How many nodes it has: brokers, clients, and the controller.
    pub fn nodes(&self) -> usize {
        self.world.broker_ids().count() + self.world.clients().count() + 1
    }

    /// The names of this world.
    pub fn of(world: &'a World) -> Names<'a> {
        Names {
            world,
            lone_producer: said::is_lone_producer(world),
        }
    }

    /// A record: `#7`, or `app#7` where several producers send.
    pub fn record(&self, tag: Tag) -> String {
        if self.lone_producer {
            format!("#{}", tag.number)
        } else {
            format!("{}#{}", self.client(tag.client), tag.number)
        }
    }

    /// A record, short enough for a cell: `#7`, or `A7` where several producers send.
    pub fn cell(&self, tag: Tag) -> Rc<str> {
        said::record(self.client(tag.client), tag.number, self.lone_producer).into()
    }

    /// A record as it is spoken of where its cell is seen: what stands in the cell comes first.
    pub fn shown(&self, tag: Tag) -> String {
        if self.lone_producer {
            self.record(tag)
        } else {
            format!("{} ({})", self.cell(tag), self.record(tag))
        }
    }

    /// Several records of one batch: `#7`, `#7–#9`.
    pub fn records(&self, tags: &[u64]) -> String {
        match tags {
            [] => "nothing".to_string(),
            [one] => self.record(Tag::from_bits(*one)),
            [first, .., last] => format!(
                "{}–#{}",
                self.record(Tag::from_bits(*first)),
                Tag::from_bits(*last).number
            ),
        }
    }

    /// Whether a partition is one of those in which the coordinators keep what concerns groups.
    pub fn is_of_groups(&self, partition: TopicPartition) -> bool {
        self.world.settings().offsets_topic == Some(partition.topic)
    }

    /// A producer's or consumer's name.
    pub fn client(&self, id: ClientId) -> &'a str {
        self.world.settings().client(id)
    }

    /// A client in a sentence: `the producer` where it is the only one, else its name.
    pub fn one(&self, id: ClientId) -> String {
        let clients: Vec<bool> = self.world.clients().map(|(_, client)| client.is_producer()).collect();
        let is_producer = clients.get(usize::from(id.0)).copied().unwrap_or(true);
        let alone = clients.iter().filter(|other| **other == is_producer).count() == 1;
        match (alone, is_producer) {
            (true, true) => "the producer".to_string(),
            (true, false) => "the consumer".to_string(),
            (false, _) => self.client(id).to_string(),
        }
    }

    /// A node, as it stands in a sentence: `broker 1`, `the producer`, `the controller`.
    pub fn node(&self, node: Node) -> String {
        match node {
            Node::Controller => "the controller".to_string(),
            Node::Broker(id) => format!("broker {id}"),
            Node::Client(id) => self.one(id),
        }
    }

    /// A node at the beginning of a sentence.
    pub fn subject(&self, node: Node) -> String {
        match node {
            Node::Client(id) if self.one(id) == self.client(id) => self.node(node),
            _ => capital(&self.node(node)),
        }
    }

    /// A partition's name.
    pub fn partition(&self, at: TopicPartition) -> String {
        match self.world.settings().topics.get(&at.topic) {
            Some(topic) => format!("{}-{}", topic.name, at.partition),
            None => "no partition".to_string(),
        }
    }
}

/// Most characters of a partition's name where it stands in a row.
const ROOM: usize = 40;

/// A partition's name that fits into a row. Of a long one the topic is cut and never the number, by which a topic's
/// partitions differ; the whole name is its title then.
pub fn cut(name: &str) -> (String, Option<String>) {
    match name.rsplit_once('-') {
        // A topic's name is ASCII alone.
        Some((topic, number)) if name.len() > ROOM => {
            let kept = topic.get(..ROOM - number.len() - 2).unwrap_or(topic);
            (format!("{kept}…-{number}"), Some(name.to_string()))
        }
        _ => (name.to_string(), None),
    }
}

/// The first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        once(first.to_ascii_uppercase()).chain(letters).collect()
    })
}

/// The first letter large, unless the text begins with something that is written as it is: a config's name, a record's, or
/// what `is_name` knows.
pub fn sentence(text: &str, is_name: impl Fn(&str) -> bool) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let word = first.trim_end_matches([',', ':', ';', '.']);
    let is_word = word.chars().all(char::is_alphabetic);
    if is_word && !is_name(word) {
        capital(text)
    } else {
        text.to_string()
    }
}

/// A span that somebody has set, which is mostly a round one: `9 s`, `2 min`, `100 ms`.
pub fn span(micros: Micros) -> String {
    match micros {
        0 => "0 s".to_string(),
        _ if micros.is_multiple_of(60_000_000) => format!("{} min", micros / 60_000_000),
        _ if micros.is_multiple_of(1_000_000) => format!("{} s", micros / 1_000_000),
        _ => time(micros),
    }
}

/// A range of offsets, its end excluded: `0–5`, `5`, or nothing at all.
pub fn offsets(from: i64, to: i64) -> Option<String> {
    match to - from {
        ..=0 => None,
        1 => Some(from.to_string()),
        _ => Some(format!("{from}–{}", to - 1)),
    }
}

/// Brokers as a list: `1, 2, 3`, or `none`.
pub fn brokers(ids: &[BrokerId]) -> String {
    if ids.is_empty() {
        return "none".to_string();
    }
    ids.iter().map(BrokerId::to_string).collect::<Vec<_>>().join(", ")
}

/// Several things in a sentence: `a`, `a and b`, `a, b and c`.
pub fn all_of<S: Borrow<str>>(words: &[S]) -> String {
    match words {
        [many @ .., last] if !many.is_empty() => format!("{} and {}", many.join(", "), last.borrow()),
        few => few.concat(),
    }
}

/// Brokers in a sentence: `broker 2`, `brokers 2 and 3`, `nobody`.
pub fn brokers_said(ids: &[BrokerId]) -> String {
    match ids {
        [] => "nobody".to_string(),
        [one] => format!("broker {one}"),
        [many @ .., last] => format!("brokers {} and {last}", brokers(many)),
    }
}

/// Bytes for a person: text as it is, anything else in hexadecimal, cut where it grows long.
pub fn bytes(bytes: Option<&[u8]>) -> String {
    const MOST: usize = 48;
    let Some(bytes) = bytes else { return "null".to_string() };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_string(),
        _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], bytes.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_topic_is_cut_and_its_partitions_are_still_told_apart() {
        for short in ["payments-0", "no partition"] {
            assert_eq!(cut(short), (short.to_string(), None));
        }
        let long = format!("{}-12", "x".repeat(249));
        let (shown, title) = cut(&long);
        assert_eq!(shown, format!("{}…-12", "x".repeat(36)));
        assert_eq!((shown.chars().count(), title), (ROOM, Some(long)));
    }

    #[test]
    fn round_spans_are_said_without_a_fraction() {
        let cases = [
            (0, "0 s"),
            (100_000, "100 ms"),
            (9_000_000, "9 s"),
            (90_000_000, "90 s"),
            (120_000_000, "2 min"),
        ];
        for (micros, text) in cases {
            assert_eq!(span(micros), text);
        }
    }

    #[test]
    fn offsets_and_brokers_read_as_in_a_sentence() {
        assert_eq!(offsets(0, 6).as_deref(), Some("0–5"));
        assert_eq!(offsets(5, 6).as_deref(), Some("5"));
        assert_eq!(offsets(5, 5), None);
        let ids = [BrokerId(1), BrokerId(2), BrokerId(3)];
        assert_eq!(brokers_said(&ids), "brokers 1, 2 and 3");
        assert_eq!(brokers_said(&ids[1..2]), "broker 2");
        assert_eq!(brokers_said(&[]), "nobody");
    }

    #[test]
    fn a_sentence_begins_with_a_large_letter_and_a_name_with_its_own() {
        let is_name = |word: &str| word == "app";
        for (text, said) in [
            ("the topic is gone", "The topic is gone"),
            ("refused: broker 1 is down", "Refused: broker 1 is down"),
            ("retention.ms=-5 is out of range", "retention.ms=-5 is out of range"),
            ("acks=5 is not a value", "acks=5 is not a value"),
            ("payments-0 has no leader", "payments-0 has no leader"),
            ("app is not running", "app is not running"),
            ("", ""),
        ] {
            assert_eq!(sentence(text, is_name), said);
        }
    }

    #[test]
    fn bytes_are_shown_as_text_where_they_are() {
        assert_eq!(bytes(None), "null");
        assert_eq!(bytes(Some(b"alice")), "alice");
        assert_eq!(bytes(Some(&[0, 255])), "00ff");
        assert_eq!(bytes(Some(&[b'x'; 50])), format!("{}… (50 bytes)", "x".repeat(48)));
    }
}
