//! How a value of the scenario language is said to a reader: in a caption, with the words and the names of the picture.
//!
//! The language itself prints values so that they can be read back (`2ms`, `1:cache/down`); a reader is told `2 ms` and
//! `cache of broker 1 (down)`. Deliberately absent: what a value is, which is the run's affair.

use crate::cluster::settings::Micros;
use crate::cluster::{Tag, World};
use crate::scenario::ast::{
    Condition, CopyPlace, CountFact, Expectation, Host, Op, Outcome, PartitionFact, Place, ReplicaFact, Sense, Subject,
    Value,
};

/// Nothing at all.
pub const NONE: &str = "none";

/// Most pairs of an index that are told.
const PAIRS: usize = 3;

/// A value in words.
pub fn value(value: &Value) -> String {
    match value {
        Value::Duration(micros) => time(micros.0.unsigned_abs()),
        Value::Offsets(ranges) => listed(ranges.iter().map(|(from, to)| range(from, to))),
        Value::Numbers(numbers) => listed(numbers.iter().map(i64::to_string)),
        Value::Pairs(pairs) => {
            let shown = pairs.iter().take(PAIRS).map(|(a, b)| format!("{a}:{b}"));
            let rest = (pairs.len() > PAIRS).then(|| "…".to_string());
            listed(shown.chain(rest))
        }
        Value::Words(words) => listed(words.iter().cloned()),
        Value::Items(items) => listed(items.iter().map(|item| match item {
            Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            None => "null".to_string(),
        })),
        Value::Custody(copies) => match copies.iter().filter_map(copy).collect::<Vec<_>>() {
            held if held.is_empty() => "nowhere".to_string(),
            held => held.join(" and "),
        },
        Value::Result(Outcome::Acked {
            offset: Some(offset), ..
        }) => format!("acked at offset {offset}"),
        other => other.to_string(),
    }
}

/// What a run waits for, as it stands behind *until*.
pub fn awaited(condition: &Condition) -> String {
    match condition {
        Condition::Quiet => "nothing is under way any more".to_string(),
        Condition::Acked => "every record is answered".to_string(),
        Condition::Holds(expectation) => compared(expectation).unwrap_or_else(|| format!("'{expectation}' holds")),
    }
}

/// What a subject is to be, where there are words for both.
fn compared(expectation: &Expectation) -> Option<String> {
    let (op, wanted) = expectation
        .test
        .as_ref()
        .filter(|_| expectation.sense == Sense::Plain)?;
    let is = match op {
        Op::Equal => "is",
        Op::NotEqual => "is not",
        Op::Less => "is less than",
        Op::AtMost => "is at most",
        Op::More => "is more than",
        Op::AtLeast => "is at least",
    };
    Some(format!("{} {is} {}", subject(&expectation.subject)?, value(wanted)))
}

/// A subject that lessons wait for.
fn subject(subject: &Subject) -> Option<String> {
    Some(match subject {
        Subject::Partition(PartitionFact::Leader, at) => format!("the leader of {at}"),
        Subject::Partition(PartitionFact::Isr, at) => format!("the ISR of {at}"),
        Subject::Replica(fact, at) => {
            let what = match fact {
                ReplicaFact::Leo => "log end",
                ReplicaFact::Hw => "high watermark",
                ReplicaFact::Start => "log start",
                _ => return None,
            };
            format!("the {what} of {} on broker {}", at.partition, at.broker)
        }
        Subject::State(broker) => format!("broker {broker}"),
        Subject::Count(CountFact::Acked, producer, None) => format!("the number of {producer}'s acknowledged records"),
        Subject::Count(CountFact::Failed, producer, None) => format!("the number of {producer}'s failed records"),
        Subject::Assignment(consumer) => format!("the assignment of {consumer}"),
        _ => return None,
    })
}

/// Records by the names that stand in their cells.
pub fn records(tags: &[Tag], world: &World) -> String {
    let alone = is_lone_producer(world);
    let name = |tag: &Tag| record(world.settings().client(tag.client), tag.number, alone);
    let mut runs: Vec<(Tag, Tag)> = Vec::new();
    for tag in tags {
        match runs.last_mut() {
            Some((_, last)) if last.client == tag.client && last.number + 1 == tag.number => *last = *tag,
            _ => runs.push((*tag, *tag)),
        }
    }
    let words = runs.iter().map(|(first, last)| match last.number - first.number {
        0 => name(first),
        1 => format!("{}, {}", name(first), name(last)),
        _ => format!("{}–{}", name(first), name(last)),
    });
    if runs.is_empty() {
        NONE.to_string()
    } else {
        listed(words)
    }
}

/// Whether at most one producer sends, so that its records need no name before their numbers.
pub fn is_lone_producer(world: &World) -> bool {
    world.clients().filter(|(_, client)| client.is_producer()).count() < 2
}

/// A record, short enough for a cell: `#7`, or `A7` where several producers send.
pub fn record(producer: &str, number: u32, alone: bool) -> String {
    if alone {
        return format!("#{number}");
    }
    let initial: String = producer.chars().take(1).collect();
    format!("{}{number}", initial.to_ascii_uppercase())
}

/// A moment of virtual time with as many digits as say something: `850 µs`, `86 ms`, `9.14 s`, `12 min 5 s`.
pub fn time(at: Micros) -> String {
    match at {
        0..1_000 => format!("{at} µs"),
        1_000..10_000 => format!("{} ms", tenths(at, 1_000)),
        10_000..1_000_000 => format!("{} ms", at / 1_000),
        1_000_000..60_000_000 => format!("{}.{:02} s", (at + 5_000) / 1_000_000, (at + 5_000) / 10_000 % 100),
        60_000_000..3_600_000_000 => format!("{} min {} s", at / 60_000_000, at / 1_000_000 % 60),
        _ => format!("{} h {} min", at / 3_600_000_000, at / 60_000_000 % 60),
    }
}

fn tenths(at: Micros, unit: Micros) -> String {
    match at % unit * 10 / unit {
        0 => (at / unit).to_string(),
        tenth => format!("{}.{tenth}", at / unit),
    }
}

fn range(from: &i64, to: &i64) -> String {
    if from == to {
        from.to_string()
    } else {
        format!("{from}–{to}")
    }
}

/// Where a copy lies, if it is one.
fn copy(copy: &CopyPlace) -> Option<String> {
    let layer = match copy.place {
        Place::Cache => "cache",
        Place::Disk => "disk",
        Place::Absent | Place::Truncated => return None,
    };
    let down = match copy.host {
        Host::Up => "",
        Host::Down => " (down)",
    };
    Some(format!("{layer} of broker {}{down}", copy.broker))
}

fn listed(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ast::{self, Statement};
    use crate::scenario::{Names, parse_statement};

    #[test]
    fn values_are_said_in_the_words_of_the_page() {
        let copy = |broker, place, host| CopyPlace { broker, place, host };
        let cases = [
            (Value::Absent, "none"),
            (Value::Number(7), "7"),
            (Value::Duration(ast::Micros(2_000)), "2 ms"),
            (Value::Duration(ast::Micros(1_230_000_000)), "20 min 30 s"),
            (Value::Offsets(vec![(0, 3), (6, 6)]), "0–3, 6"),
            (Value::Numbers(vec![2, 3]), "2, 3"),
            (Value::Pairs(vec![(1, 2), (3, 4)]), "1:2, 3:4"),
            (Value::Pairs(vec![(1, 2), (3, 4), (5, 6), (7, 8)]), "1:2, 3:4, 5:6, …"),
            (
                Value::Custody(vec![
                    copy(1, Place::Cache, Host::Down),
                    copy(2, Place::Absent, Host::Up),
                    copy(3, Place::Disk, Host::Up),
                ]),
                "cache of broker 1 (down) and disk of broker 3",
            ),
            (Value::Custody(vec![copy(1, Place::Truncated, Host::Up)]), "nowhere"),
            (
                Value::Result(Outcome::Acked {
                    offset: Some(3),
                    partition: Some(0),
                }),
                "acked at offset 3",
            ),
            (Value::Result(Outcome::Pending), "pending"),
        ];
        for (found, said) in cases {
            assert_eq!(value(&found), said);
        }
    }

    #[test]
    fn what_lessons_wait_for_is_said_without_the_language() {
        for (text, said) in [
            ("quiet", "nothing is under way any more"),
            ("acked", "every record is answered"),
            ("leader t-0 = none", "the leader of t-0 is none"),
            ("isr t-0 = 1,2", "the ISR of t-0 is 1, 2"),
            ("leo t-0@1 = 5", "the log end of t-0 on broker 1 is 5"),
            ("hw t-0@1 >= 2", "the high watermark of t-0 on broker 1 is at least 2"),
            ("start t-0@1 = 5", "the log start of t-0 on broker 1 is 5"),
            ("state 1 = down", "broker 1 is down"),
            (
                "acked app > 30",
                "the number of app's acknowledged records is more than 30",
            ),
            ("failed app = 1", "the number of app's failed records is 1"),
            ("not leader t-0 = 1", "'not leader t-0 = 1' holds"),
        ] {
            let mut names = Names::default();
            for line in ["brokers 1", "topic t", "producer app"] {
                names.declare(&parse_statement(line, &names).expect("well-formed"));
            }
            let statement = parse_statement(&format!("run until {text}"), &names).expect("well-formed");
            let Statement::RunUntil { condition, .. } = statement else {
                panic!("{text} is waited for");
            };
            assert_eq!(awaited(&condition), said);
        }
    }

    #[test]
    fn times_are_short_and_exact_enough() {
        let cases = [
            (0, "0 µs"),
            (999, "999 µs"),
            (1_000, "1 ms"),
            (1_250, "1.2 ms"),
            (86_400, "86 ms"),
            (9_140_000, "9.14 s"),
            (65_000_000, "1 min 5 s"),
            (7_380_000_000, "2 h 3 min"),
        ];
        for (at, text) in cases {
            assert_eq!(time(at), text);
        }
    }
}
