//! The statements that declare the world, change it, and let time pass.

use super::act;
use super::atoms::{self, BROKERS, TIMESTAMP, count, duration, list, number, one_of, small_count, wrong};
use super::cursor::Cursor;
use super::subject;
use crate::scenario::ast::{
    Condition, Configured, DropKind, ElrVersion, Expectation, Layout, MessageKind, Node, Polling, ReplicationRules,
    Statement, Timer, WriteBack,
};
use crate::scenario::fault::Wrong;
use crate::scenario::words::Word;

/// The words with which a statement begins.
#[rustfmt::skip] // As the language's description groups them.
pub(super) const VERBS: &[&str] = &[
    "highwater", "seed", "clock", "feature", "rules", "brokers", "broker", "topic", "producer", "consumer", "set",
    "send", "poll", "commit", "seek", "close", "reset", "elect", "reassign", "delete-records", "partitions",
    "delete-topic", "check", "clean", "flush", "checkpoint", "roll", "kill", "power-off", "stop", "start", "wipe",
    "pause", "resume", "cut", "heal", "slow", "drop", "tear", "flip", "remove",
    "step", "deliver", "fire", "run", "expect",
];

/// The statement of a whole line.
pub(super) fn statement(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let verb = cursor.next("a statement")?;
    let statement = match verb.plain().unwrap_or_default() {
        "highwater" => highwater(cursor)?,
        "seed" => Statement::Seed(number(cursor.next("a number")?, "a number from 0")?),
        "clock" => Statement::Clock(atoms::clock(cursor.next(TIMESTAMP)?)?),
        "feature" => feature(cursor)?,
        "rules" => rules(cursor)?,
        "brokers" => brokers(cursor)?,
        "broker" => broker(cursor)?,
        "topic" => topic(cursor)?,
        "producer" => producer(cursor)?,
        "consumer" => consumer(cursor)?,
        "set" => set(cursor)?,
        "step" => Statement::Step(cursor.take().map(count).transpose()?),
        "deliver" => {
            let (kind, from, to) = path(cursor)?;
            Statement::Deliver { kind, from, to }
        }
        "fire" => fire(cursor)?,
        "run" => run(cursor)?,
        "expect" => Statement::Expect(subject::expectation(cursor)?),
        other => match act::act(other, cursor)? {
            Some(act) => Statement::Act(act),
            None => return Err(wrong(verb, "a statement").near(VERBS.iter().copied())),
        },
    };
    cursor.end()?;
    Ok(statement)
}

fn highwater(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    const VERSION: &str = "1, the version of the language";
    let word = cursor.next(VERSION)?;
    match word.plain() {
        Some("1") => Ok(Statement::Highwater),
        _ => Err(wrong(word, VERSION)),
    }
}

/// The value of the only setting that a statement has.
pub(super) fn only_setting(cursor: &mut Cursor, name: &str) -> Result<Word, Wrong> {
    let expected = format!("{name}=");
    let word = cursor.next(&expected)?;
    match word.split_once(b'=') {
        Some((key, value)) if key.plain() == Some(name) => Ok(value),
        Some((key, _)) => Err(wrong(&key, expected).near([name])),
        None => Err(wrong(word, expected).near([name])),
    }
}

fn feature(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let value = only_setting(cursor, "eligible.leader.replicas.version")?;
    one_of(&value, "a version", ElrVersion::ALL, ElrVersion::word).map(Statement::Feature)
}

fn rules(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let value = only_setting(cursor, "replication")?;
    one_of(
        &value,
        "rules of replication",
        ReplicationRules::ALL,
        ReplicationRules::word,
    )
    .map(Statement::Rules)
}

fn brokers(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    const COUNT: &str = "a number of brokers, from 1";
    let word = cursor.next(COUNT)?;
    let count = atoms::broker(word).map_err(|_| wrong(word, COUNT))?;
    Ok(Statement::Brokers {
        count,
        configs: cursor.settings()?.configs()?,
    })
}

fn broker(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let brokers = atoms::brokers(cursor.next(BROKERS)?)?;
    Ok(Statement::Broker {
        brokers,
        configs: cursor.settings()?.some_configs()?,
    })
}

fn topic(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let name = atoms::topic(cursor.next("a topic's name")?)?;
    let mut settings = cursor.settings()?;
    let partitions = settings.read("partitions", small_count)?;
    let replicas = settings.read("replicas", atoms::broker)?;
    let layout = match settings.take("assign")? {
        None => Layout::Counts { partitions, replicas },
        Some(word) => Layout::Assigned(assigned(&word, partitions, replicas)?),
    };
    Ok(Statement::Topic {
        name,
        layout,
        configs: settings.configs()?,
    })
}

/// The brokers of each partition. The numbers of partitions and replicas are needless then; where they are given all
/// the same they must agree, so that no file says two things.
fn assigned(word: &Word, partitions: Option<u32>, replicas: Option<u16>) -> Result<Vec<Vec<u16>>, Wrong> {
    let assigned: Vec<Vec<u16>> = word
        .split(b'/')
        .iter()
        .map(|partition| list(partition, atoms::broker))
        .collect::<Result<_, _>>()?;
    if let Some(partitions) = partitions
        && u32::try_from(assigned.len()) != Ok(partitions)
    {
        return Err(wrong(
            word,
            format!("brokers for {partitions} partitions, with / between them"),
        ));
    }
    if let Some(replicas) = replicas
        && assigned.iter().any(|brokers| brokers.len() != usize::from(replicas))
    {
        return Err(wrong(word, format!("{replicas} brokers for each partition")));
    }
    Ok(assigned)
}

fn producer(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let name = atoms::name(cursor.next("a producer's name")?)?;
    Ok(Statement::Producer {
        name,
        configs: cursor.settings()?.configs()?,
    })
}

fn consumer(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let name = atoms::name(cursor.next("a consumer's name")?)?;
    let mut settings = cursor.settings()?;
    let group = settings.read("group", atoms::name)?;
    let topics = settings.take("topics")?;
    let assign = settings.take("assign")?;
    let is_whole = matches!(
        (&group, &topics, &assign),
        (Some(_), Some(_), None) | (None, None, Some(_))
    );
    if let Some(misspelt) = settings.misspelt(CONSUMER_SETTINGS).filter(|_| !is_whole) {
        return Err(misspelt);
    }
    match (&group, &topics, &assign) {
        (Some(_), Some(_), None) | (None, None, Some(_)) => {}
        (Some(_), _, Some(word)) => return Err(wrong(word, "either group= or assign=")),
        (None, Some(word), _) => return Err(wrong(word, "group= beside topics=")),
        (Some(_), None, None) => return Err(cursor.missing("topics= beside group=")),
        (None, None, None) => return Err(cursor.missing("assign=, or group= and topics=")),
    }
    let items = |word: Option<Word>| word.map(|word| word.split(b',')).unwrap_or_default();
    Ok(Statement::Consumer {
        name,
        group,
        topics: items(topics).iter().map(atoms::topic).collect::<Result<_, _>>()?,
        assign: items(assign).iter().map(atoms::partition).collect::<Result<_, _>>()?,
        polling: settings.read("poll", polling)?.unwrap_or(Polling::Automatic),
        configs: settings.configs()?,
    })
}

/// What a consumer's line may set beside its configs.
pub(in crate::scenario) const CONSUMER_SETTINGS: &[&str] = &["group", "topics", "assign", "poll"];

/// What a topic's line may set beside its configs.
pub(in crate::scenario) const TOPIC_SETTINGS: &[&str] = &["partitions", "replicas", "assign"];

fn polling(word: &Word) -> Result<Polling, Wrong> {
    match word.plain() {
        Some("manual") => Ok(Polling::Manual),
        _ => Err(wrong(word, "'manual'").near(["manual"])),
    }
}

fn set(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    const WHAT: [&str; 7] = ["brokers", "broker", "topic", "producer", "consumer", "link", "disk"];
    let word = cursor.next("what to set")?;
    let target = match word.plain().unwrap_or_default() {
        "link" => return set_link(cursor),
        "disk" => return set_disk(cursor),
        "brokers" => Configured::AllBrokers,
        "broker" => Configured::Brokers(atoms::brokers(cursor.next(BROKERS)?)?),
        "topic" => Configured::Topic(atoms::topic(cursor.next("a topic's name")?)?),
        "producer" => Configured::Producer(atoms::name(cursor.next("a producer's name")?)?),
        "consumer" => Configured::Consumer(atoms::name(cursor.next("a consumer's name")?)?),
        _ => return Err(wrong(word, format!("what to set: {}", WHAT.join(" "))).near(WHAT)),
    };
    Ok(Statement::Set {
        target,
        configs: cursor.settings()?.some_configs()?,
    })
}

fn set_link(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    const LINK: &str = "two nodes such as 1-2, app-1, *-controller or *-*";
    let word = cursor.next(LINK)?;
    let (a, b) = word.split_once(b'-').ok_or_else(|| wrong(word, LINK))?;
    let (a, b) = (atoms::node(&a)?, atoms::node(&b)?);
    let latency = duration(&only_setting(cursor, "latency")?)?;
    Ok(Statement::SetLink { a, b, latency })
}

fn set_disk(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let brokers = atoms::brokers(cursor.next(BROKERS)?)?;
    if cursor.peek().is_none() {
        return Err(cursor.missing("write=, fsync= or writeback="));
    }
    let mut settings = cursor.settings()?;
    let write = settings.read("write", duration)?;
    let fsync = settings.read("fsync", duration)?;
    let writeback = settings.read("writeback", |word| match word.plain() {
        Some("never") => Ok(WriteBack::Never),
        _ => duration(word)
            .map(WriteBack::After)
            .map_err(|wrong| wrong.near(["never"])),
    })?;
    settings.finish(&["write", "fsync", "writeback"])?;
    Ok(Statement::SetDisk {
        brokers,
        write,
        fsync,
        writeback,
    })
}

/// `KIND from A to B`.
pub(super) fn path(cursor: &mut Cursor) -> Result<(MessageKind, Node, Node), Wrong> {
    let kind = cursor.one_of("a kind of message", DropKind::ALL, DropKind::word)?;
    cursor.require("from")?;
    let from = atoms::node(cursor.next("the sender")?)?;
    cursor.require("to")?;
    let to = atoms::node(cursor.next("the receiver")?)?;
    Ok((kind, from, to))
}

fn fire(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let timer = cursor.one_of("a timer", Timer::ALL, Timer::word)?;
    cursor.require("at")?;
    let node = atoms::node(cursor.next("whose timer it is")?)?;
    let partition = cursor.take().map(atoms::partition).transpose()?;
    Ok(Statement::Fire { timer, node, partition })
}

fn run(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    const HOW: &str = "'for', 'to' or 'until'";
    let word = cursor.next(HOW)?;
    match word.plain().unwrap_or_default() {
        "for" => duration(cursor.next("a duration")?).map(Statement::RunFor),
        "to" => duration(cursor.next("a time since the start")?).map(Statement::RunTo),
        "until" => run_until(cursor),
        _ => Err(wrong(word, HOW).near(["for", "to", "until"])),
    }
}

/// An expectation where one of the two other conditions could stand as well.
fn condition(cursor: &mut Cursor) -> Result<Expectation, Wrong> {
    const CONDITION: &str = "'quiet', 'acked' or a subject";
    let word = cursor.peek().ok_or_else(|| cursor.missing(CONDITION))?;
    let words = || ["quiet", "acked"].into_iter().chain(subject::beginnings());
    if words().any(|known| word.plain() == Some(known)) {
        return subject::expectation(cursor);
    }
    Err(wrong(word, CONDITION).near(words()))
}

fn run_until(cursor: &mut Cursor) -> Result<Statement, Wrong> {
    let within = cursor.take_bound()?;
    // `acked P` is an expectation; `acked` alone is the condition that no record is undecided.
    let is_word = cursor.is_at_last();
    let condition = match cursor.peek_plain() {
        Some("quiet") if cursor.skip("quiet") => Condition::Quiet,
        Some("acked") if is_word && cursor.skip("acked") => Condition::Acked,
        _ => Condition::Holds(condition(cursor)?),
    };
    Ok(Statement::RunUntil { condition, within })
}
