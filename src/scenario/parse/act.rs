//! What clients and operators do, and what fate does to them.

use super::atoms::{
    self, A_PARTITION, A_REPLICA, BROKERS, as_partition, count, duration, is_number, list, number, small_count, wrong,
};
use super::cursor::Cursor;
use super::statement::{only_setting, path};
use crate::scenario::ast::{
    Act, Brokers, Destination, Direction, Directory, Election, Keep, Nodes, Process, ResetTo, SeekTo, Sending,
};
use crate::scenario::fault::Wrong;
use crate::scenario::words::Word;

/// The act that begins with this word; nothing if the word begins none.
pub(super) fn act(verb: &str, cursor: &mut Cursor) -> Result<Option<Act>, Wrong> {
    match clients_act(verb, cursor)? {
        Some(act) => Ok(Some(act)),
        None => match operators_act(verb, cursor)? {
            Some(act) => Ok(Some(act)),
            None => fates_act(verb, cursor),
        },
    }
}

fn clients_act(verb: &str, cursor: &mut Cursor) -> Result<Option<Act>, Wrong> {
    Ok(Some(match verb {
        "send" => send(cursor)?,
        "poll" => Act::Poll {
            consumer: atoms::name(cursor.next("a consumer's name")?)?,
            max: optional(cursor, "max", count)?,
        },
        "commit" => commit(cursor)?,
        "seek" => seek(cursor)?,
        "close" => Act::Close(atoms::name(cursor.next("a client's name")?)?),
        _ => return Ok(None),
    }))
}

fn operators_act(verb: &str, cursor: &mut Cursor) -> Result<Option<Act>, Wrong> {
    Ok(Some(match verb {
        "reset" => reset(cursor)?,
        "elect" => Act::Elect {
            partition: atoms::partition(cursor.next(A_PARTITION)?)?,
            kind: cursor.one_of("a kind of election", Election::ALL, Election::word)?,
        },
        "reassign" => Act::Reassign {
            partition: atoms::partition(cursor.next(A_PARTITION)?)?,
            replicas: list(cursor.next("brokers with commas between them")?, atoms::broker)?,
        },
        "delete-records" => Act::DeleteRecords {
            partition: atoms::partition(cursor.next(A_PARTITION)?)?,
            offset: offset_or_end(cursor.next("an offset")?)?,
        },
        "partitions" => Act::Partitions {
            topic: atoms::topic(cursor.next("a topic's name")?)?,
            count: small_count(cursor.next("a number of partitions")?)?,
        },
        "delete-topic" => Act::DeleteTopic(atoms::topic(cursor.next("a topic's name")?)?),
        "check" => {
            cursor.require("retention")?;
            Act::CheckRetention(cursor.take().map(atoms::brokers).transpose()?)
        }
        "clean" => Act::Clean(cursor.take().map(atoms::replicas).transpose()?),
        "flush" => Act::Flush(atoms::replicas(cursor.next(A_REPLICA)?)?),
        "checkpoint" => Act::Checkpoint(cursor.take().map(atoms::brokers).transpose()?),
        "roll" => Act::Roll(atoms::replicas(cursor.next(A_REPLICA)?)?),
        _ => return Ok(None),
    }))
}

fn fates_act(verb: &str, cursor: &mut Cursor) -> Result<Option<Act>, Wrong> {
    Ok(Some(match verb {
        "kill" => Act::Kill(process(cursor)?),
        "start" => start(cursor)?,
        "power-off" => power_off(cursor)?,
        "stop" => Act::Stop(atoms::brokers(cursor.next(BROKERS)?)?),
        "wipe" => Act::Wipe(atoms::brokers(cursor.next(BROKERS)?)?),
        "pause" => Act::Pause(atoms::brokers(cursor.next(BROKERS)?)?),
        "resume" => Act::Resume(atoms::brokers(cursor.next(BROKERS)?)?),
        "cut" => cut(cursor)?,
        "heal" => heal(cursor)?,
        "slow" => Act::Slow {
            brokers: atoms::brokers(cursor.next(BROKERS)?)?,
            factor: small_count(&only_setting(cursor, "factor")?)?,
        },
        "drop" => {
            let (kind, from, to) = path(cursor)?;
            Act::Drop {
                kind,
                from,
                to,
                next: optional(cursor, "next", count)?,
            }
        }
        "tear" => Act::Tear {
            replica: atoms::replica(cursor.next(A_REPLICA)?)?,
            keep: optional(cursor, "keep", |word| number(word, "a number of bytes"))?,
        },
        "flip" => flip(cursor)?,
        "remove" => remove(cursor)?,
        _ => return Ok(None),
    }))
}

/// The value of the only setting that an act may have.
fn optional<T>(
    cursor: &mut Cursor,
    name: &str,
    read: impl FnOnce(&Word) -> Result<T, Wrong>,
) -> Result<Option<T>, Wrong> {
    let mut settings = cursor.settings()?;
    let value = settings.read(name, read)?;
    settings.finish(&[name])?;
    Ok(value)
}

const SEND_SETTINGS: &[&str] = &["key", "value", "timestamp", "header.NAME", "count", "every", "to"];

fn send(cursor: &mut Cursor) -> Result<Act, Wrong> {
    let producer = atoms::name(cursor.next("a producer's name")?)?;
    let to = destination(cursor)?;
    let mut settings = cursor.settings()?;
    let headers = settings.take_prefixed("header.");
    let send = Sending {
        producer,
        to,
        key: settings.read("key", atoms::data)?,
        value: settings.read("value", atoms::data)?,
        timestamp: settings.read("timestamp", atoms::timestamp)?,
        headers: headers
            .into_iter()
            .map(|(name, word)| Ok((name, atoms::data(&word)?)))
            .collect::<Result<_, _>>()?,
        count: settings.read("count", count)?,
        every: settings.read("every", duration)?,
        broker: settings.read("to", atoms::broker)?,
    };
    settings.finish(SEND_SETTINGS)?;
    Ok(Act::Send(send))
}

/// A topic or a partition. Where a word could be either, a declared topic's whole name wins.
fn destination(cursor: &mut Cursor) -> Result<Destination, Wrong> {
    let name = atoms::topic(cursor.next("a topic or a partition")?)?;
    if cursor.names.partitions(&name).is_some() {
        return Ok(Destination::Topic(name));
    }
    Ok(match as_partition(&name) {
        Some(partition) => Destination::Partition(partition),
        None => Destination::Topic(name),
    })
}

fn commit(cursor: &mut Cursor) -> Result<Act, Wrong> {
    let consumer = atoms::name(cursor.next("a consumer's name")?)?;
    let mut offsets = Vec::new();
    while let Some(word) = cursor.take() {
        let (partition, offset) = word
            .split_once(b'=')
            .ok_or_else(|| wrong(word, "an offset such as orders-0=5"))?;
        offsets.push((atoms::partition(&partition)?, atoms::offset(&offset)?));
    }
    Ok(Act::Commit { consumer, offsets })
}

fn seek(cursor: &mut Cursor) -> Result<Act, Wrong> {
    const TO: &str = "an offset, 'beginning', 'end' or @TIMESTAMP";
    let consumer = atoms::name(cursor.next("a consumer's name")?)?;
    let partition = atoms::partition(cursor.next(A_PARTITION)?)?;
    let word = cursor.next(TO)?;
    let text = word.plain().unwrap_or_default();
    let to = match (text, text.strip_prefix('@')) {
        ("beginning", _) => SeekTo::Beginning,
        ("end", _) => SeekTo::End,
        (_, Some(time)) => SeekTo::Timestamp(time.parse().map_err(|_| wrong(word, TO))?),
        (_, None) => SeekTo::Offset(atoms::offset(word).map_err(|_| wrong(word, TO).near(["beginning", "end"]))?),
    };
    Ok(Act::Seek {
        consumer,
        partition,
        to,
    })
}

fn reset(cursor: &mut Cursor) -> Result<Act, Wrong> {
    const TO: &str = "an offset, 'earliest' or 'latest'";
    let group = atoms::name(cursor.next("a group's name")?)?;
    let partition = atoms::partition(cursor.next(A_PARTITION)?)?;
    let word = cursor.next(TO)?;
    let to = match word.plain() {
        Some("earliest") => ResetTo::Earliest,
        Some("latest") => ResetTo::Latest,
        _ => ResetTo::Offset(atoms::offset(word).map_err(|_| wrong(word, TO).near(["earliest", "latest"]))?),
    };
    Ok(Act::Reset { group, partition, to })
}

/// An offset, or -1, which means the high watermark as it does in Kafka.
fn offset_or_end(word: &Word) -> Result<i64, Wrong> {
    if word.plain() == Some("-1") {
        Ok(-1)
    } else {
        atoms::offset(word)
    }
}

fn process(cursor: &mut Cursor) -> Result<Process, Wrong> {
    const WHAT: &str = "brokers, 'controller' or a client's name";
    let word = cursor.next(WHAT)?;
    match word.plain() {
        Some("controller") => Ok(Process::Controller),
        Some("all") => Ok(Process::Brokers(Brokers::All)),
        Some(text) if is_number(text) => atoms::brokers(word).map(Process::Brokers),
        Some(text) if cursor.peek().is_some() && !cursor.is_declared(text) => {
            Err(wrong(word, WHAT).near(["controller", "all"]))
        }
        _ => atoms::name(word)
            .map(Process::Client)
            .map_err(|_| wrong(word, WHAT).near(["controller", "all"])),
    }
}

fn start(cursor: &mut Cursor) -> Result<Act, Wrong> {
    let process = process(cursor)?;
    let allowed: &[&str] = if matches!(process, Process::Brokers(_)) {
        &["directory"]
    } else {
        &[]
    };
    let mut settings = cursor.settings()?;
    let mut directory = Directory::Early;
    for name in allowed {
        if let Some(word) = settings.take(name)? {
            match word.plain() {
                Some("late") => directory = Directory::Late,
                _ => return Err(wrong(&word, "'late'").near(["late"])),
            }
        }
    }
    settings.finish(allowed)?;
    Ok(Act::Start { process, directory })
}

fn power_off(cursor: &mut Cursor) -> Result<Act, Wrong> {
    let brokers = atoms::brokers(cursor.next(BROKERS)?)?;
    let mut settings = cursor.settings()?;
    let keep = settings.take_all("keep").iter().map(kept).collect::<Result<_, _>>()?;
    settings.finish(&["keep"])?;
    Ok(Act::PowerOff { brokers, keep })
}

fn kept(word: &Word) -> Result<Keep, Wrong> {
    match (word.plain(), word.split_once(b':')) {
        (Some("cache"), _) => Ok(Keep::Cache),
        (_, Some((partition, offset))) => Ok(Keep::Below(atoms::partition(&partition)?, atoms::offset(&offset)?)),
        _ => Err(wrong(word, "'cache' or an offset such as orders-0:5").near(["cache"])),
    }
}

fn cut(cursor: &mut Cursor) -> Result<Act, Wrong> {
    let a = atoms::nodes(cursor.next("a node, or several")?)?;
    let direction = if cursor.skip("from") {
        Direction::FromFirst
    } else {
        Direction::Both
    };
    let expected = match direction {
        Direction::Both => "another node, or several, or 'from' before them",
        Direction::FromFirst => ANOTHER,
    };
    let b = last_nodes(cursor, expected)?;
    Ok(Act::Cut { a, b, direction })
}

fn heal(cursor: &mut Cursor) -> Result<Act, Wrong> {
    const WHAT: &str = "a node, several, or 'all'";
    let word = cursor.next(WHAT)?;
    if cursor.peek().is_none() && !is_node(word, cursor) {
        return Err(wrong(word, WHAT).near(["all"]));
    }
    let a = atoms::nodes(word)?;
    match (a, cursor.peek()) {
        (Nodes::AllBrokers, None) => Ok(Act::HealAll),
        (a, _) => Ok(Act::Heal {
            a,
            b: last_nodes(cursor, ANOTHER)?,
        }),
    }
}

const ANOTHER: &str = "another node, or several";

/// Nodes that end a line. With more behind it, a word that nobody is called was not meant as a name.
fn last_nodes(cursor: &mut Cursor, expected: &str) -> Result<Nodes, Wrong> {
    let word = cursor.next(expected)?;
    if cursor.peek().is_some() && !is_node(word, cursor) {
        let words = (expected != ANOTHER).then_some("from");
        return Err(wrong(word, expected).near(words));
    }
    atoms::nodes(word)
}

fn is_node(word: &Word, cursor: &Cursor) -> bool {
    atoms::is_no_name(word) || word.plain().is_some_and(|name| cursor.is_declared(name))
}

fn flip(cursor: &mut Cursor) -> Result<Act, Wrong> {
    const SEGMENT: &str = "a segment such as orders-0@1/0";
    let word = cursor.next(SEGMENT)?;
    let (replica, base) = word.split_once(b'/').ok_or_else(|| wrong(word, SEGMENT))?;
    Ok(Act::Flip {
        replica: atoms::replica(&replica)?,
        base: atoms::offset(&base)?,
        at: number(&only_setting(cursor, "at")?, "a position in bytes")?,
    })
}

fn remove(cursor: &mut Cursor) -> Result<Act, Wrong> {
    const FILE: &str = "a file such as orders-0@1/00000000000000000000.index";
    let word = cursor.next(FILE)?;
    let (replica, name) = word.split_once(b'/').ok_or_else(|| wrong(word, FILE))?;
    Ok(Act::Remove {
        replica: atoms::replica(&replica)?,
        name: name.plain().ok_or_else(|| wrong(&name, FILE))?.to_string(),
    })
}
