//! What single words can be: numbers, durations, names, partitions, brokers, nodes, bytes.

use crate::cluster::topic_name;
use crate::config::{parse_duration, parse_size};
use crate::scenario::ast::{Brokers, Data, Micros, Node, Nodes, Partition, Replica, Replicas};
use crate::scenario::fault::{Found, Wrong};
use crate::scenario::words::Word;
use std::str::FromStr;

/// What a partition looks like, for messages.
pub(super) const A_PARTITION: &str = "a partition such as orders-0";
/// What a replica looks like, for messages.
pub(super) const A_REPLICA: &str = "a replica such as orders-0@1";
/// What brokers look like, for messages.
pub(super) const BROKERS: &str = "a broker's number, a list such as 1,2 or 'all'";
/// What a duration looks like, for messages.
pub(super) const DURATION: &str = "a duration with its unit, such as 250us 500ms 10s 5m 2h 7d";
/// What a broker looks like, for messages.
const BROKER: &str = "a broker's number, from 1";
/// What a moment looks like, for messages.
pub(super) const TIMESTAMP: &str = "a time in milliseconds since 1970";

/// The latest time that a clock may begin at: the end of the year 9999, so that any run has room behind it.
const LAST_CLOCK: i64 = 253_402_300_799_999;

/// What a clock may begin at.
pub(super) fn clock(word: &Word) -> Result<i64, Wrong> {
    const CLOCK: &str = "a time in milliseconds since 1970, of a year up to 9999";
    let clock = number(word, CLOCK)?;
    let possible = (0..=LAST_CLOCK).contains(&clock);
    possible.then_some(clock).ok_or_else(|| wrong(word, CLOCK))
}

/// The timestamp of a record, which Kafka's producer refuses to be negative.
pub(super) fn timestamp(word: &Word) -> Result<i64, Wrong> {
    let timestamp = number(word, TIMESTAMP)?;
    let possible = timestamp >= 0;
    possible.then_some(timestamp).ok_or_else(|| wrong(word, TIMESTAMP))
}
/// Names that mean something else.
const RESERVED: [&str; 9] = [
    "all",
    "none",
    "beginning",
    "end",
    "controller",
    "earliest",
    "latest",
    "acked",
    "quiet",
];

/// A fault at this word.
pub(super) fn wrong(word: &Word, expected: impl Into<String>) -> Wrong {
    Wrong::new(word.column, Found::Word(word.shown()), expected)
}

/// One of the words of an enum.
pub(super) fn one_of<T: Copy>(
    word: &Word,
    what: &str,
    all: &[T],
    word_of: impl Fn(T) -> &'static str,
) -> Result<T, Wrong> {
    let found = word
        .plain()
        .and_then(|plain| all.iter().find(|item| word_of(**item) == plain));
    found.copied().ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|item| word_of(*item)).collect();
        wrong(word, format!("{what}: {}", words.join(" "))).near(words)
    })
}

/// A value as text. What has signs of this grammar in it must stand in quotes.
pub(super) fn text_value(word: &Word) -> Result<String, Wrong> {
    no_bare_signs(word)?;
    word.text().map(str::to_string).ok_or_else(|| wrong(word, "UTF-8 text"))
}

/// That `,`, `=` and `#` stand in quotes.
fn no_bare_signs(word: &Word) -> Result<(), Wrong> {
    match word.first_of(b",=#") {
        None => Ok(()),
        Some(sign) => Err(wrong(word, format!("quotes around a value with '{sign}' in it"))),
    }
}

/// The items of a list with commas.
pub(super) fn list<T>(word: &Word, read: impl Fn(&Word) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
    word.split(b',').iter().map(read).collect()
}

/// A whole number.
pub(super) fn number<T: FromStr>(word: &Word, what: &str) -> Result<T, Wrong> {
    word.plain()
        .filter(|text| !text.starts_with('+'))
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| wrong(word, what))
}

/// A whole number from 1.
pub(super) fn count(word: &Word) -> Result<u64, Wrong> {
    match number(word, "a number from 1")? {
        0 => Err(wrong(word, "a number from 1")),
        count => Ok(count),
    }
}

/// A number of partitions, or a factor.
pub(super) fn small_count(word: &Word) -> Result<u32, Wrong> {
    count(word)?.try_into().map_err(|_| wrong(word, "a smaller number"))
}

/// An offset.
pub(super) fn offset(word: &Word) -> Result<i64, Wrong> {
    match number(word, "an offset")? {
        offset @ 0.. => Ok(offset),
        _ => Err(wrong(word, "an offset, from 0")),
    }
}

/// A duration with its unit.
pub(super) fn duration(word: &Word) -> Result<Micros, Wrong> {
    let read = word.plain().and_then(parse_duration).map(Micros);
    read.ok_or_else(|| {
        wrong(
            word,
            or_less(
                word,
                |text| parse_duration(text).is_some(),
                "a shorter duration",
                DURATION,
            ),
        )
    })
}

/// What to expect of a number with its unit: less, where only its many digits are wrong with it.
fn or_less<'a>(word: &Word, is_one: impl Fn(&str) -> bool, less: &'a str, what: &'a str) -> &'a str {
    let text = word.plain().unwrap_or_default();
    let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic()).len();
    let all_digits = text[..digits].bytes().all(|byte| byte.is_ascii_digit());
    let is_much = digits > 1 && all_digits && is_one(&text[digits - 1..]);
    if is_much { less } else { what }
}

/// A size in bytes.
pub(super) fn size(word: &Word) -> Result<i64, Wrong> {
    const SIZE: &str = "a size in bytes, or such as 1KiB 1MiB";
    let read = word.plain().and_then(parse_size);
    read.ok_or_else(|| {
        wrong(
            word,
            or_less(word, |text| parse_size(text).is_some(), "a smaller size", SIZE),
        )
    })
}

/// A client's or group's name.
pub(super) fn name(word: &Word) -> Result<String, Wrong> {
    let plain = word
        .plain()
        .filter(|plain| is_name(plain))
        .ok_or_else(|| wrong(word, "a name of small letters, digits and _"))?;
    if RESERVED.contains(&plain) {
        return Err(wrong(word, "another name, because this one has a meaning of its own"));
    }
    Ok(plain.to_string())
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A topic's name.
pub(super) fn topic(word: &Word) -> Result<String, Wrong> {
    let plain = word.plain().unwrap_or_default();
    match topic_name::expected(plain) {
        None => Ok(plain.to_string()),
        Some(expected) => Err(wrong(word, expected)),
    }
}

fn is_topic(text: &str) -> bool {
    topic_name::expected(text).is_none()
}

/// The parts of `T-P`, if it is one: the number stands after the last `-`.
pub(super) fn as_partition(text: &str) -> Option<Partition> {
    let (topic, number) = text.rsplit_once('-')?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| digits)?;
    is_topic(topic).then(|| Partition {
        topic: topic.to_string(),
        number,
    })
}

/// A partition.
pub(super) fn partition(word: &Word) -> Result<Partition, Wrong> {
    word.plain()
        .and_then(as_partition)
        .ok_or_else(|| wrong(word, A_PARTITION))
}

/// A replica on one broker.
pub(super) fn replica(word: &Word) -> Result<Replica, Wrong> {
    let (left, right) = word.split_once(b'@').ok_or_else(|| wrong(word, A_REPLICA))?;
    Ok(Replica {
        partition: partition(&left)?,
        broker: broker(&right)?,
    })
}

/// Replicas on one or several brokers.
pub(super) fn replicas(word: &Word) -> Result<Replicas, Wrong> {
    let (left, right) = word.split_once(b'@').ok_or_else(|| wrong(word, A_REPLICA))?;
    Ok(Replicas {
        partition: partition(&left)?,
        brokers: brokers(&right)?,
    })
}

/// A broker's number.
pub(super) fn broker(word: &Word) -> Result<u16, Wrong> {
    match number(word, BROKER)? {
        0 => Err(wrong(word, BROKER)),
        broker => Ok(broker),
    }
}

/// Brokers: one, a list, or all.
pub(super) fn brokers(word: &Word) -> Result<Brokers, Wrong> {
    if word.plain() == Some("all") {
        return Ok(Brokers::All);
    }
    if !word.plain().is_some_and(is_number) {
        return Err(wrong(word, BROKERS).near(["all"]));
    }
    list(word, broker).map(Brokers::List)
}

/// One end of a link.
pub(super) fn node(word: &Word) -> Result<Node, Wrong> {
    match word.plain() {
        Some("*") => Ok(Node::Any),
        Some("controller") => Ok(Node::Controller),
        Some(text) if is_number(text) => broker(word).map(Node::Broker),
        _ => name(word)
            .map(Node::Client)
            .map_err(|_| wrong(word, "a broker's number, 'controller', a client's name or '*'").near(["controller"])),
    }
}

/// Whether the word begins like a broker's number.
pub(super) fn is_number(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Several nodes: a list, or all brokers.
pub(super) fn nodes(word: &Word) -> Result<Nodes, Wrong> {
    if word.plain() == Some("all") {
        return Ok(Nodes::AllBrokers);
    }
    list(word, node).map(Nodes::List)
}

/// Whether the word could be a node without a client of that name being declared.
pub(super) fn is_no_name(word: &Word) -> bool {
    word.plain().is_some_and(|text| {
        let first = text.split(',').next().unwrap_or_default();
        matches!(first, "*" | "controller" | "all") || is_number(first)
    })
}

/// The bytes of a key, a value or a header.
pub(super) fn data(word: &Word) -> Result<Data, Wrong> {
    no_bare_signs(word)?;
    if word.plain() == Some("null") {
        return Ok(Data::Null);
    }
    match word.plain().and_then(|plain| plain.strip_prefix("hex:")) {
        None => Ok(Data::Text(word.bytes().to_vec())),
        Some(digits) => hex(digits)
            .map(Data::Hex)
            .ok_or_else(|| wrong(word, "bytes in hexadecimal, two digits each, such as hex:00ff")),
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = digits
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs
        .remainder()
        .is_empty()
        .then(|| pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}
