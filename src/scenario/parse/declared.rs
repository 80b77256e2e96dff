//! Names in subjects of expectations: what they name must be declared above. A wrong name in an expectation could
//! otherwise not be told from something that is only absent at the moment.

use super::atoms::{self, A_PARTITION, wrong};
use super::cursor::Cursor;
use crate::scenario::ast::{Op, Partition, RecordName, Replica};
use crate::scenario::fault::Wrong;
use crate::scenario::names::Names;
use crate::scenario::words::Word;

/// A declared topic's partition, as the next word.
pub(super) fn partition(cursor: &mut Cursor) -> Result<Partition, Wrong> {
    let word = cursor.next(A_PARTITION)?;
    let partition = atoms::partition(word).map_err(|wrong| match word.plain() {
        // A topic alone: one of its partitions was meant.
        Some(text) if cursor.names.partitions(text).is_some() => Wrong {
            nearest: Some(format!("{text}-0")),
            ..wrong
        },
        _ => wrong,
    })?;
    check_partition(word, &partition, cursor.names)?;
    Ok(partition)
}

/// The same, if another word comes before the operator.
pub(super) fn optional_partition(cursor: &mut Cursor) -> Result<Option<Partition>, Wrong> {
    match cursor.peek_plain() {
        Some(text) if Op::from_word(text).is_none() => partition(cursor).map(Some),
        _ => Ok(None),
    }
}

fn check_partition(word: &Word, partition: &Partition, names: &Names) -> Result<(), Wrong> {
    let topic = &partition.topic;
    match names.partitions(topic) {
        Some(partitions) if partition.number < partitions => Ok(()),
        Some(1) => Err(wrong(word, format!("{topic}-0, the only partition"))),
        Some(partitions) => Err(wrong(
            word,
            format!("a partition from {topic}-0 to {topic}-{}", partitions - 1),
        )),
        None => {
            let number = partition.number;
            let near: Vec<String> = names.topics().map(|topic| format!("{topic}-{number}")).collect();
            Err(wrong(word, "a partition of a topic that is declared above").near(near.iter().map(String::as_str)))
        }
    }
}

/// A declared topic's replica on a broker of the cluster.
pub(super) fn replica(word: &Word, names: &Names) -> Result<Replica, Wrong> {
    let replica = atoms::replica(word)?;
    check_partition(word, &replica.partition, names)?;
    check_broker(word, replica.broker, names)?;
    Ok(replica)
}

/// A broker of the cluster.
pub(super) fn broker(word: &Word, names: &Names) -> Result<u16, Wrong> {
    let broker = atoms::broker(word)?;
    check_broker(word, broker, names)?;
    Ok(broker)
}

fn check_broker(word: &Word, broker: u16, names: &Names) -> Result<(), Wrong> {
    if broker <= names.brokers() {
        return Ok(());
    }
    Err(wrong(word, format!("a broker from 1 to {}", names.brokers())))
}

/// A record that was sent above.
pub(super) fn record(word: &Word, names: &Names) -> Result<RecordName, Wrong> {
    let (producer, number) = word
        .split_once(b'#')
        .ok_or_else(|| wrong(word, "a record such as app#1"))?;
    let producer = declared_producer(&producer, names)?;
    let number = atoms::count(&number)?;
    match names.sent(&producer) {
        Some(0) => Err(wrong(word, format!("a 'send {producer}' above this line"))),
        Some(sent) if number > sent => Err(wrong(
            word,
            format!("a record sent above, from {producer}#1 to {producer}#{sent}"),
        )),
        _ => Ok(RecordName { producer, number }),
    }
}

fn declared_producer(word: &Word, names: &Names) -> Result<String, Wrong> {
    known(
        word,
        "producer",
        |name| names.sent(name).is_some(),
        || names.producers().collect(),
    )
}

/// A declared producer's name, as the next word.
pub(super) fn producer(cursor: &mut Cursor) -> Result<String, Wrong> {
    declared_producer(cursor.next("a producer's name")?, cursor.names)
}

/// A declared consumer's name, as the next word.
pub(super) fn consumer(cursor: &mut Cursor) -> Result<String, Wrong> {
    let word = cursor.next("a consumer's name")?;
    let names = cursor.names;
    known(
        word,
        "consumer",
        |name| names.has_consumer(name),
        || names.consumers().collect(),
    )
}

/// A declared group's name, as the next word.
pub(super) fn group(cursor: &mut Cursor) -> Result<String, Wrong> {
    let word = cursor.next("a group's name")?;
    let names = cursor.names;
    known(word, "group", |name| names.has_group(name), || names.groups().collect())
}

fn known<'a>(
    word: &Word,
    what: &str,
    is_known: impl Fn(&str) -> bool,
    all: impl FnOnce() -> Vec<&'a str>,
) -> Result<String, Wrong> {
    let name = atoms::name(word)?;
    if is_known(&name) {
        return Ok(name);
    }
    Err(wrong(word, format!("a {what} that is declared above")).near(all()))
}
