//! Expectations: their subjects and operators.

use super::atoms::{self, A_REPLICA, TIMESTAMP, number, one_of, wrong};
use super::cursor::Cursor;
use super::{declared, statement, value};
use crate::cluster::rules;
use crate::ledger::invariants;
use crate::scenario::ast::{
    CountFact, Expectation, GroupFact, Metric, Op, PartitionFact, RecordFact, Replica, ReplicaFact, SegmentFact, Sense,
    Subject,
};
use crate::scenario::fault::Wrong;
use crate::scenario::words::Word;

/// The subjects that need no enum of their own.
#[rustfmt::skip] // A list of words.
const SINGLE: &[&str] = &[
    "lookup", "file-size", "offset-for", "state", "read", "error", "answer", "position", "assignment", "members",
    "metric", "time", "in-flight", "invariant", "events", "refused",
];

/// All words with which a subject begins.
fn all_words() -> impl Iterator<Item = &'static str> {
    let facts = PartitionFact::ALL.iter().map(|fact| fact.word());
    facts
        .chain(ReplicaFact::ALL.iter().map(|fact| fact.word()))
        .chain(SegmentFact::ALL.iter().map(|fact| fact.word()))
        .chain(RecordFact::ALL.iter().map(|fact| fact.word()))
        .chain(CountFact::ALL.iter().map(|fact| fact.word()))
        .chain(GroupFact::ALL.iter().map(|fact| fact.word()))
        .chain(SINGLE.iter().copied())
}

/// All words with which an expectation begins.
pub(super) fn beginnings() -> impl Iterator<Item = &'static str> {
    std::iter::once("not").chain(all_words())
}

/// `[not] SUBJECT [OP VALUE]`.
pub(super) fn expectation(cursor: &mut Cursor) -> Result<Expectation, Wrong> {
    let sense = if cursor.skip("not") {
        Sense::Negated
    } else {
        Sense::Plain
    };
    let subject = subject(cursor).map_err(|wrong| match sense {
        Sense::Plain => wrong.or_near(["not"]),
        Sense::Negated => wrong,
    })?;
    let test = match cursor.take() {
        None => None,
        Some(word) => {
            let op = one_of(word, "an operator", Op::ALL, Op::word)?;
            if !value::is_ordered(&subject) && !matches!(op, Op::Equal | Op::NotEqual) {
                return Err(wrong(word, "'=' or '!=', because this subject has no order"));
            }
            Some((op, value::value(&subject, cursor)?))
        }
    };
    cursor.end()?;
    Ok(Expectation { sense, subject, test })
}

fn subject(cursor: &mut Cursor) -> Result<Subject, Wrong> {
    let word = cursor.next("a subject")?;
    let text = word.plain().unwrap_or_default();
    if text == PartitionFact::Lost.word() {
        return Ok(match declared::optional_partition(cursor)? {
            Some(partition) => Subject::Partition(PartitionFact::Lost, partition),
            None => Subject::LostInAll,
        });
    }
    if let Some(fact) = RecordFact::from_word(text) {
        let record = cursor.next("a record such as app#1")?;
        return Ok(Subject::Record(fact, declared::record(record, cursor.names)?));
    }
    if let Some(fact) = PartitionFact::from_word(text) {
        return Ok(Subject::Partition(fact, declared::partition(cursor)?));
    }
    if let Some(fact) = ReplicaFact::from_word(text) {
        return Ok(Subject::Replica(fact, replica(cursor)?));
    }
    if let Some(fact) = SegmentFact::from_word(text) {
        let (replica, base) = replica_and(cursor, "a segment such as orders-0@1/0")?;
        return Ok(Subject::Segment(fact, replica, atoms::offset(&base)?));
    }
    if let Some(fact) = CountFact::from_word(text) {
        let producer = declared::producer(cursor)?;
        return Ok(Subject::Count(fact, producer, declared::optional_partition(cursor)?));
    }
    if let Some(fact) = GroupFact::from_word(text) {
        let group = declared::group(cursor)?;
        return Ok(Subject::Group(fact, group, declared::partition(cursor)?));
    }
    single(word, cursor)
}

fn single(word: &Word, cursor: &mut Cursor) -> Result<Subject, Wrong> {
    Ok(match word.plain().unwrap_or_default() {
        "lookup" => {
            let replica = replica(cursor)?;
            Subject::Lookup(replica, atoms::offset(cursor.next("an offset")?)?)
        }
        "file-size" => {
            let expected = "a file such as orders-0@1/00000000000000000000.log";
            let (replica, name) = replica_and(cursor, expected)?;
            let name = name.plain().ok_or_else(|| wrong(&name, expected))?.to_string();
            Subject::FileSize(replica, name)
        }
        "offset-for" => {
            let partition = declared::partition(cursor)?;
            Subject::OffsetFor(partition, number(cursor.next(TIMESTAMP)?, TIMESTAMP)?)
        }
        "state" => Subject::State(declared::broker(cursor.next("a broker's number")?, cursor.names)?),
        "read" => Subject::Read(declared::consumer(cursor)?, declared::optional_partition(cursor)?),
        "error" => Subject::Error(declared::consumer(cursor)?),
        "answer" => Subject::Answer,
        "position" => Subject::Position(declared::consumer(cursor)?, declared::partition(cursor)?),
        "assignment" => Subject::Assignment(declared::consumer(cursor)?),
        "members" => Subject::Members(declared::group(cursor)?),
        "metric" => metric(cursor)?,
        "time" => Subject::Time,
        "in-flight" => Subject::InFlight,
        "invariant" => Subject::Invariant(one_known(
            cursor,
            &format!("an invariant: {}", invariants::names().collect::<Vec<_>>().join(" ")),
            invariants::names(),
        )?),
        "events" => Subject::Events(one_known(
            cursor,
            "the id of a rule, such as hw.leader",
            rules::ALL.iter().map(|rule| rule.id()),
        )?),
        "refused" => refused(cursor)?,
        _ => return Err(wrong(word, "a subject").near(all_words())),
    })
}

/// A statement that could stand on a line of its own here: the beginning of the file is over.
fn refused(cursor: &mut Cursor) -> Result<Subject, Wrong> {
    const STATEMENT: &str = "a statement that may stand behind the beginning of a file";
    let verb = cursor.peek().ok_or_else(|| cursor.missing(STATEMENT))?;
    let statement = statement::statement(cursor)?;
    if statement.sets_up() {
        return Err(wrong(verb, STATEMENT));
    }
    Ok(Subject::Refused(Box::new(statement)))
}

fn replica(cursor: &mut Cursor) -> Result<Replica, Wrong> {
    declared::replica(cursor.next(A_REPLICA)?, cursor.names)
}

/// `T-P@B/REST`.
fn replica_and(cursor: &mut Cursor, expected: &str) -> Result<(Replica, Word), Wrong> {
    let word = cursor.next(expected)?;
    let (replica, rest) = word.split_once(b'/').ok_or_else(|| wrong(word, expected))?;
    Ok((declared::replica(&replica, cursor.names)?, rest))
}

fn metric(cursor: &mut Cursor) -> Result<Subject, Wrong> {
    let word = cursor.next("a metric")?;
    let (name, broker) = match word.split_once(b'@') {
        Some((name, broker)) => (name, Some(declared::broker(&broker, cursor.names)?)),
        None => (word.clone(), None),
    };
    let metric = one_of(&name, "a metric", Metric::ALL, Metric::word)?;
    Ok(Subject::Metric(metric, broker))
}

/// One of the names that a lower floor gives.
fn one_known(cursor: &mut Cursor, expected: &str, names: impl Iterator<Item = &'static str>) -> Result<String, Wrong> {
    let word = cursor.next(expected)?;
    let names: Vec<&str> = names.collect();
    let known = word.plain().filter(|name| names.contains(name));
    known
        .map(str::to_string)
        .ok_or_else(|| wrong(word, expected).near(names))
}
