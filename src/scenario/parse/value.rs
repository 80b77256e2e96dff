//! The value that a subject is compared with: what can stand there depends on the subject.

use super::atoms::{self, data, list, number, one_of, wrong};
use super::cursor::Cursor;
use super::errors;
use crate::scenario::ast::{
    BrokerState, CopyPlace, Data, Fate, Host, Outcome, PartitionFact, Place, RecordFact, ReplicaFact, Subject, Value,
};
use crate::scenario::fault::Wrong;
use crate::scenario::words::Word;
use crate::sorted::sort_by;

/// What kind of value a subject has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    Size,
    Duration,
    /// Numbers in order.
    Numbers,
    /// Numbers whose order does not matter.
    NumberSet,
    Offsets,
    Pairs,
    Batches,
    Items,
    /// Words in order.
    Words,
    /// Words whose order does not matter.
    WordSet,
    State,
    Fate,
    /// Kafka's name of an error.
    Error,
    Invariant,
    Result,
    Lookup,
    Custody,
    Distance,
    Truth,
}

fn shape(subject: &Subject) -> Shape {
    match subject {
        Subject::Partition(fact, _) => partition_shape(*fact),
        Subject::Replica(fact, _) => replica_shape(*fact),
        Subject::Record(fact, _) => record_shape(*fact),
        Subject::Segment(..) => Shape::Pairs,
        Subject::Lookup(..) => Shape::Lookup,
        Subject::FileSize(..) => Shape::Size,
        Subject::State(_) => Shape::State,
        Subject::Read(..) => Shape::Items,
        Subject::Error(_) | Subject::Answer => Shape::Error,
        Subject::Assignment(_) | Subject::Members(_) => Shape::WordSet,
        Subject::Time => Shape::Duration,
        Subject::Invariant(_) => Shape::Invariant,
        Subject::Refused(_) => Shape::Truth,
        Subject::OffsetFor(..)
        | Subject::Count(..)
        | Subject::LostInAll
        | Subject::Position(..)
        | Subject::Group(..)
        | Subject::Metric(..)
        | Subject::InFlight
        | Subject::Events(_) => Shape::Number,
    }
}

fn partition_shape(fact: PartitionFact) -> Shape {
    match fact {
        PartitionFact::Leader | PartitionFact::Epoch | PartitionFact::PartitionEpoch => Shape::Number,
        PartitionFact::Replicas => Shape::Numbers,
        PartitionFact::Isr | PartitionFact::Elr => Shape::NumberSet,
        PartitionFact::Lost | PartitionFact::Unacked | PartitionFact::Duplicates => Shape::Offsets,
    }
}

fn replica_shape(fact: ReplicaFact) -> Shape {
    match fact {
        ReplicaFact::Leo | ReplicaFact::Hw | ReplicaFact::Start | ReplicaFact::Flushed => Shape::Number,
        ReplicaFact::Offsets | ReplicaFact::OnDisk | ReplicaFact::InCache => Shape::Offsets,
        ReplicaFact::Keys | ReplicaFact::Values => Shape::Items,
        ReplicaFact::Epochs => Shape::Pairs,
        ReplicaFact::Segments => Shape::Numbers,
        ReplicaFact::Size => Shape::Size,
        ReplicaFact::Files => Shape::Words,
        ReplicaFact::Batches => Shape::Batches,
    }
}

fn record_shape(fact: RecordFact) -> Shape {
    match fact {
        RecordFact::Result => Shape::Result,
        RecordFact::Partition | RecordFact::Offset | RecordFact::Attempts => Shape::Number,
        RecordFact::Latency => Shape::Duration,
        RecordFact::Fate => Shape::Fate,
        RecordFact::Custody => Shape::Custody,
        RecordFact::Distance => Shape::Distance,
    }
}

/// Whether a subject's values have an order.
pub(super) fn is_ordered(subject: &Subject) -> bool {
    matches!(
        shape(subject),
        Shape::Number | Shape::Size | Shape::Duration | Shape::Distance
    )
}

/// The value after the operator.
pub(super) fn value(subject: &Subject, cursor: &mut Cursor) -> Result<Value, Wrong> {
    let word = cursor.next("a value")?;
    let shape = shape(subject);
    match (word.plain(), shape) {
        (_, Shape::Truth) => Err(wrong(word, "nothing after the statement")),
        // A text that happens to be "none" is written in quotes.
        (Some("none"), _) => Ok(Value::Absent),
        (Some("-"), Shape::Number) => Ok(Value::Unknown),
        (_, Shape::Result) => outcome(word, cursor).map(Value::Result),
        (_, Shape::Distance) => distance(word, cursor),
        (_, Shape::Lookup) => {
            let scanned = cursor.next("the bytes scanned")?;
            let position = number(word, "a position in bytes")?;
            Ok(Value::Lookup(position, number(scanned, "the bytes scanned")?))
        }
        _ => one_word(shape, word),
    }
    .map_err(|wrong| wrong.or_near(["none"]))
}

fn one_word(shape: Shape, word: &Word) -> Result<Value, Wrong> {
    Ok(match shape {
        Shape::Number => Value::Number(number(word, "a number or 'none'")?),
        Shape::Size => Value::Number(atoms::size(word)?),
        Shape::Duration => Value::Duration(atoms::duration(word)?),
        Shape::Numbers => Value::Numbers(numbers(word)?),
        Shape::NumberSet => Value::Numbers(set(numbers(word)?)),
        Shape::Offsets => Value::Offsets(offsets(word)?),
        Shape::Pairs => Value::Pairs(list(word, pair)?),
        Shape::Batches => Value::Batches(list(word, batch)?),
        Shape::Items => Value::Items(list(word, item)?),
        Shape::Words => Value::Words(list(word, atoms::text_value)?),
        Shape::WordSet => Value::Words(set(list(word, atoms::text_value)?)),
        Shape::State => enumerated(word, "a state", BrokerState::ALL, BrokerState::word)?,
        Shape::Fate => enumerated(word, "a fate", Fate::ALL, Fate::word)?,
        Shape::Error => Value::Word(error_name(word)?),
        Shape::Custody => Value::Custody(list(word, copy_place)?),
        Shape::Invariant => enumerated(word, "a verdict", &["holds", "broken"], std::convert::identity)?,
        Shape::Result | Shape::Lookup | Shape::Distance | Shape::Truth => {
            return Err(wrong(word, "several words"));
        }
    })
}

/// A set as it is found: in order, nothing twice.
fn set<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    sort_by(&mut items, T::cmp);
    items.dedup();
    items
}

fn enumerated<T: Copy>(
    word: &Word,
    what: &str,
    all: &[T],
    word_of: impl Fn(T) -> &'static str,
) -> Result<Value, Wrong> {
    one_of(word, what, all, &word_of).map(|item| Value::Word(word_of(item).to_string()))
}

fn numbers(word: &Word) -> Result<Vec<i64>, Wrong> {
    list(word, |part| number(part, "numbers with commas between them, or 'none'"))
}

/// Ranges of offsets. What touches is joined, so that `0-4,5` and `0-5` are the same.
fn offsets(word: &Word) -> Result<Vec<(i64, i64)>, Wrong> {
    const EXPECTED: &str = "ascending offsets such as 0-4,7, or 'none'";
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for part in word.split(b',') {
        let (first, last): (i64, i64) = match part.split_once(b'-') {
            Some((first, last)) => (number(&first, EXPECTED)?, number(&last, EXPECTED)?),
            None => {
                let offset = number(&part, EXPECTED)?;
                (offset, offset)
            }
        };
        let before = ranges.last().map_or(-1, |(_, last)| *last);
        if first <= before || last < first {
            return Err(wrong(&part, EXPECTED));
        }
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ => ranges.push((first, last)),
        }
    }
    Ok(ranges)
}

fn pair(word: &Word) -> Result<(i64, i64), Wrong> {
    const EXPECTED: &str = "pairs such as 0:0,2:7, or 'none'";
    let (a, b) = word.split_once(b':').ok_or_else(|| wrong(word, EXPECTED))?;
    Ok((number(&a, EXPECTED)?, number(&b, EXPECTED)?))
}

fn batch(word: &Word) -> Result<(i64, i64, i64), Wrong> {
    const EXPECTED: &str = "batches such as 0-0:1,3-3:0, or 'none'";
    let (range, records) = word.split_once(b':').ok_or_else(|| wrong(word, EXPECTED))?;
    let (base, last) = range.split_once(b'-').ok_or_else(|| wrong(word, EXPECTED))?;
    Ok((
        number(&base, EXPECTED)?,
        number(&last, EXPECTED)?,
        number(&records, EXPECTED)?,
    ))
}

/// A key or a value.
fn item(word: &Word) -> Result<Option<Vec<u8>>, Wrong> {
    Ok(match data(word)? {
        Data::Null => None,
        Data::Text(bytes) | Data::Hex(bytes) => Some(bytes),
    })
}

/// Kafka's name of an error, such as `NOT_ENOUGH_REPLICAS`.
fn error_name(word: &Word) -> Result<String, Wrong> {
    let known = word.plain().filter(|text| errors::names().any(|name| name == *text));
    known
        .map(str::to_string)
        .ok_or_else(|| wrong(word, "Kafka's name of an error, such as NOT_ENOUGH_REPLICAS").near(errors::names()))
}

fn outcome(word: &Word, cursor: &mut Cursor) -> Result<Outcome, Wrong> {
    Ok(match word.plain().unwrap_or_default() {
        "pending" => Outcome::Pending,
        "sent" => Outcome::Sent,
        "acked" => {
            let mut settings = cursor.settings()?;
            let offset = settings.read("offset", |word| number(word, "an offset"))?;
            let partition = settings.read("partition", |word| number(word, "a partition"))?;
            settings.finish(&["offset", "partition"])?;
            Outcome::Acked { offset, partition }
        }
        _ => Outcome::Failed(error_name(word).map_err(|_| {
            let words = ["pending", "acked", "sent"].into_iter().chain(errors::names());
            wrong(word, "'pending', 'acked', 'sent' or Kafka's name of an error").near(words)
        })?),
    })
}

fn copy_place(word: &Word) -> Result<CopyPlace, Wrong> {
    const EXPECTED: &str = "copies such as 1:cache/down,2:absent,3:disk";
    let (broker, place) = word.split_once(b':').ok_or_else(|| wrong(word, EXPECTED))?;
    let (place, host) = match place.split_once(b'/') {
        None => (place, Host::Up),
        Some((place, down)) if down.plain() == Some("down") => (place, Host::Down),
        Some((_, other)) => return Err(wrong(&other, "'down'").near(["down"])),
    };
    Ok(CopyPlace {
        broker: atoms::broker(&broker)?,
        place: one_of(&place, "a place", Place::ALL, Place::word)?,
        host,
    })
}

fn distance(word: &Word, cursor: &mut Cursor) -> Result<Value, Wrong> {
    const EXPECTED: &str = "a number of faults, or 'never within N'";
    if word.plain() != Some("never") {
        return number(word, EXPECTED).map(Value::Number);
    }
    cursor.require("within")?;
    number(cursor.next("a number of faults")?, EXPECTED).map(Value::NeverWithin)
}
