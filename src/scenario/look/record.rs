//! Records as the ledger knows them, and what consumers were given.

use super::{duration, listed, number, translate};
use crate::cluster::event::Outcome as Told;
use crate::cluster::{Tag, World};
use crate::ledger::present::{Custody, Host as Process, Where};
use crate::ledger::{Ledger, Story};
use crate::scenario::ast::{CopyPlace, Host, Outcome, Partition, Place, RecordFact, RecordName, Value};

/// The record of that name; nothing if no such producer runs in this world.
pub(super) fn tag(name: &RecordName, world: &World) -> Option<Tag> {
    Some(Tag {
        client: translate::client(&name.producer, world).ok()?,
        number: u32::try_from(name.number).ok()?,
    })
}

/// A fact about a record.
pub(super) fn fact(fact: RecordFact, name: &RecordName, world: &World, ledger: &Ledger) -> Value {
    let Some(tag) = tag(name, world) else {
        return Value::Absent;
    };
    let story = ledger.story(tag);
    let known = |find: fn(&Story) -> Option<Value>| story.and_then(find).unwrap_or(Value::Absent);
    match fact {
        RecordFact::Result => Value::Result(story.map_or(Outcome::Pending, result)),
        RecordFact::Partition => known(|story| story.partition.map(|tp| number(tp.partition))),
        RecordFact::Offset => known(|story| story.offset().map(Value::Number)),
        RecordFact::Latency => known(|story| story.latency().map(duration)),
        RecordFact::Attempts => number(story.map_or(0, |story| story.attempts)),
        RecordFact::Fate => Value::Word(ledger.fate(world, tag).word().to_string()),
        RecordFact::Custody => {
            let copies = ledger.custody(world, tag);
            listed(copies.iter().map(copy).collect(), Value::Custody)
        }
        // The table of what cannot be performed yet holds it back.
        RecordFact::Distance => Value::Absent,
    }
}

fn result(story: &Story) -> Outcome {
    match story.told {
        None => Outcome::Pending,
        Some((_, Told::Sent)) => Outcome::Sent,
        Some((_, Told::Failed(error))) => Outcome::Failed(error.name().to_string()),
        Some((_, Told::Acked(offset))) => Outcome::Acked {
            offset: Some(offset),
            partition: story.partition.map(|tp| tp.partition),
        },
    }
}

fn copy(copy: &Custody) -> CopyPlace {
    CopyPlace {
        broker: copy.broker.0,
        place: match copy.place {
            Where::Absent => Place::Absent,
            Where::Cache => Place::Cache,
            Where::Disk => Place::Disk,
            Where::Truncated => Place::Truncated,
        },
        host: match copy.host {
            Process::Up => Host::Up,
            Process::Down => Host::Down,
        },
    }
}

/// The values that a consumer's application got, in order.
pub(super) fn read(consumer: &str, at: Option<&Partition>, world: &World, ledger: &Ledger) -> Value {
    let tags = given(consumer, at, world, ledger).into_iter();
    listed(tags.map(|tag| ledger.value(tag).flatten()).collect(), Value::Items)
}

/// The records that a consumer's application got, in order.
pub(super) fn given(consumer: &str, at: Option<&Partition>, world: &World, ledger: &Ledger) -> Vec<Tag> {
    let Ok(client) = translate::client(consumer, world) else {
        return Vec::new();
    };
    let only = at.map(|at| translate::partition(at, world).ok());
    let seen = ledger
        .read(client)
        .filter(|seen| only.is_none_or(|only| only == Some(seen.partition)));
    seen.map(|seen| seen.tag).collect()
}
