//! Looking at a world: the value of each subject, and whether an expectation holds.
//!
//! Nothing is computed here that a lower floor knows: the controller's state, the logs and the ledger are asked. What is
//! only absent at the moment is [`Value::Absent`]; that a name was declared at all, the parser has seen to.

pub(super) mod about;
mod group;
mod partition;
mod record;
mod replica;

use super::ast::{CountFact, Expectation, Metric, Micros, Op, Outcome, Sense, Subject, Value};
use super::{player, translate};
use crate::cluster::ids::{BrokerId, ClientId, TopicPartition};
use crate::cluster::settings::Micros as Instant;
use crate::cluster::{Rule, Tag, World};
use crate::ledger::{self, Ledger, Tally};
use std::cmp::Ordering;

/// What came of looking at an expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether it holds.
    pub holds: bool,
    /// What the subject is.
    pub found: Value,
}

impl Verdict {
    /// Whether what was found is as it is expected to be; without a test, whether it is something at all.
    pub fn of(found: Value, sense: Sense, test: Option<&(Op, Value)>) -> Verdict {
        let plain = match test {
            None => is_something(&found),
            Some((op, value)) => compare(&found, *op, value),
        };
        Verdict {
            holds: plain == (sense == Sense::Plain),
            found,
        }
    }
}

/// Looks whether an expectation holds.
pub fn judge(expectation: &Expectation, world: &World, ledger: &Ledger) -> Verdict {
    let found = look(&expectation.subject, world, ledger);
    Verdict::of(found, expectation.sense, expectation.test.as_ref())
}

/// Whether a value without a comparison counts as true.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Absent | Value::Unknown => false,
        Value::Truth(truth) => *truth,
        Value::Number(number) => *number != 0,
        Value::Word(word) => word != BROKEN,
        _ => true,
    }
}

fn compare(found: &Value, op: Op, value: &Value) -> bool {
    let order = match (found, value) {
        (Value::Number(a), Value::Number(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match op {
        Op::Equal => equal(found, value),
        Op::NotEqual => !equal(found, value),
        Op::Less => order == Some(Ordering::Less),
        Op::AtMost => order.is_some_and(Ordering::is_le),
        Op::More => order == Some(Ordering::Greater),
        Op::AtLeast => order.is_some_and(Ordering::is_ge),
    }
}

/// Whether two values are equal; what an expected result leaves out holds for any.
fn equal(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Result(found), Value::Result(expected)) => match (found, expected) {
            (
                Outcome::Acked { offset, partition },
                Outcome::Acked {
                    offset: wanted_offset,
                    partition: wanted_partition,
                },
            ) => {
                let offset_fits = wanted_offset.is_none() || wanted_offset == offset;
                offset_fits && (wanted_partition.is_none() || wanted_partition == partition)
            }
            _ => found == expected,
        },
        _ => found == expected,
    }
}

const HOLDS: &str = "holds";
const BROKEN: &str = "broken";

/// The value of a subject.
pub fn look(subject: &Subject, world: &World, ledger: &Ledger) -> Value {
    match subject {
        Subject::Partition(fact, at) => within(at, world, |tp| partition::fact(*fact, tp, world, ledger)),
        Subject::Replica(fact, at) => replica::of(at, world, |seen| Some(replica::fact(*fact, seen))),
        Subject::Segment(fact, at, base) => replica::of(at, world, |seen| replica::segment(*fact, seen, *base)),
        Subject::Lookup(at, offset) => replica::of(at, world, |seen| replica::lookup(seen, *offset)),
        Subject::FileSize(at, name) => replica::of(at, world, |seen| replica::file_size(seen, name)),
        Subject::OffsetFor(at, time) => within(at, world, |tp| partition::offset_for(tp, *time, world)),
        Subject::State(broker) => match world.broker_state(BrokerId(*broker)) {
            Some(state) => Value::Word(state.name().to_string()),
            None => Value::Absent,
        },
        Subject::Record(fact, name) => record::fact(*fact, name, world, ledger),
        Subject::Count(fact, producer, at) => count(*fact, producer, at.as_ref(), world, ledger),
        Subject::LostInAll => number(ledger.lost_count(world)),
        Subject::Read(consumer, at) => record::read(consumer, at.as_ref(), world, ledger),
        Subject::Error(consumer) => {
            let error = translate::client(consumer, world).ok().and_then(|id| ledger.error(id));
            named(error.map(|error| error.name()))
        }
        Subject::Answer => named(world.answer().map(|error| error.name())),
        Subject::Position(consumer, at) => within(at, world, |tp| {
            let consumer = world.client(translate::client(consumer, world).ok()?)?;
            consumer.position(tp).map(Value::Number)
        }),
        Subject::Metric(metric, broker) => number(count_metric(*metric, broker.map(BrokerId), world, ledger)),
        Subject::Time => duration(world.now()),
        Subject::InFlight => number(world.network().count()),
        Subject::Invariant(name) => match ledger.verdict(name) {
            Some(verdict) => Value::Word(if verdict.first.is_some() { BROKEN } else { HOLDS }.to_string()),
            None => Value::Absent,
        },
        Subject::Events(rule) => number(Rule::from_id(rule).map_or(0, |rule| ledger.events(rule))),
        Subject::Refused(statement) => Value::Truth(player::would_refuse(statement, world)),
        Subject::Group(fact, name, at) => within(at, world, |tp| group::fact(*fact, name, tp, world)),
        Subject::Assignment(consumer) => group::assignment(consumer, world),
        Subject::Members(name) => group::members(name, world),
    }
}

/// The partition that something is asked of, if it is asked of one: also of a record, where that went to one.
pub fn partition_of(subject: &Subject, world: &World, ledger: &Ledger) -> Option<TopicPartition> {
    let at = match subject {
        Subject::Record(_, name) => return ledger.story(record::tag(name, world)?)?.partition,
        Subject::Partition(_, at)
        | Subject::OffsetFor(at, _)
        | Subject::Position(_, at)
        | Subject::Group(_, _, at)
        | Subject::Count(_, _, Some(at))
        | Subject::Read(_, Some(at)) => at,
        Subject::Replica(_, at) | Subject::Segment(_, at, _) | Subject::Lookup(at, _) | Subject::FileSize(at, _) => {
            &at.partition
        }
        _ => return None,
    };
    translate::partition(at, world).ok()
}

/// The records behind a list of values: those in a replica's log, or those that a consumer's application got.
pub fn records(subject: &Subject, world: &World, ledger: &Ledger) -> Vec<Tag> {
    match subject {
        Subject::Replica(_, at) => replica::records(at, world),
        Subject::Read(consumer, at) => record::given(consumer, at.as_ref(), world, ledger),
        _ => Vec::new(),
    }
}

/// What is found of a partition that exists.
fn within(at: &super::ast::Partition, world: &World, find: impl FnOnce(TopicPartition) -> Option<Value>) -> Value {
    let found = translate::partition(at, world).ok().and_then(find);
    found.unwrap_or(Value::Absent)
}

fn number<N: TryInto<i64>>(count: N) -> Value {
    Value::Number(count.try_into().unwrap_or(i64::MAX))
}

fn duration(micros: Instant) -> Value {
    Value::Duration(Micros(i64::try_from(micros).unwrap_or(i64::MAX)))
}

fn named(name: Option<&str>) -> Value {
    name.map_or(Value::Absent, |name| Value::Word(name.to_string()))
}

/// A list, or nothing if it is empty.
fn listed<T>(items: Vec<T>, value: impl FnOnce(Vec<T>) -> Value) -> Value {
    if items.is_empty() { Value::Absent } else { value(items) }
}

/// Ascending numbers as ranges.
pub fn offsets(offsets: impl IntoIterator<Item = i64>) -> Value {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for offset in offsets {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == offset => *last = offset,
            _ => ranges.push((offset, offset)),
        }
    }
    listed(ranges, Value::Offsets)
}

fn count(fact: CountFact, producer: &str, at: Option<&super::ast::Partition>, world: &World, ledger: &Ledger) -> Value {
    let Ok(client) = translate::client(producer, world) else {
        return Value::Absent;
    };
    let tally = match at.map(|at| translate::partition(at, world)) {
        // Those that are still to be handed over are pending, too; of no partition yet.
        None => Tally {
            handed: given(world, client),
            ..ledger.tally(client)
        },
        Some(Ok(tp)) => ledger.tally_of(client, tp),
        Some(Err(_)) => return Value::Absent,
    };
    number(match fact {
        CountFact::Acked => tally.acked,
        CountFact::Failed => tally.failed,
        CountFact::Pending => tally.pending(),
    })
}

/// How many records a producer's application was given to send.
fn given(world: &World, client: ClientId) -> u32 {
    let producer = world.client(client).and_then(|client| client.as_producer());
    producer.map_or(0, |producer| producer.numbers())
}

fn count_metric(metric: Metric, broker: Option<BrokerId>, world: &World, ledger: &Ledger) -> usize {
    let counted = match metric {
        Metric::IsrShrinks => ledger::Metric::IsrShrinks,
        Metric::IsrExpands => ledger::Metric::IsrExpands,
        Metric::UncleanElections => ledger::Metric::UncleanElections,
        Metric::UnderReplicated | Metric::UnderMinIsr | Metric::AtMinIsr | Metric::Offline => {
            return partition::count_that(metric, broker, world);
        }
    };
    usize::try_from(ledger.metric(counted, broker)).unwrap_or(usize::MAX)
}
