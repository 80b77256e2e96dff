//! From statements back to text, such that reading the text again gives the same statements.
//!
//! The page uses it to put what a person did into a scenario that can be copied, saved and linked to; messages use it to
//! say what was expected and what was found.

use super::ast::{
    Act, Brokers, Condition, Configured, CopyPlace, Data, Destination, Direction, Directory, Expectation, Host, Keep,
    Layout, Micros, Node, Nodes, Outcome, Partition, PartitionFact, Polling, Process, RecordName, Replica, Replicas,
    ResetTo, Script, SeekTo, Sending, Sense, Setting, Statement, Subject, Value, WriteBack,
};
use super::later;
use crate::config::print_duration;
use std::fmt::{self, Display, Formatter};

/// The word with which a statement begins.
pub(super) fn verb(statement: &Statement) -> &'static str {
    match statement {
        Statement::Highwater => "highwater",
        Statement::Seed(_) => "seed",
        Statement::Clock(_) => "clock",
        Statement::Feature(_) => "feature",
        Statement::Rules(_) => "rules",
        Statement::Brokers { .. } => "brokers",
        Statement::Broker { .. } => "broker",
        Statement::Topic { .. } => "topic",
        Statement::Producer { .. } => "producer",
        Statement::Consumer { .. } => "consumer",
        Statement::Set { .. } | Statement::SetLink { .. } | Statement::SetDisk { .. } => "set",
        Statement::Act(act) => act_verb(act),
        Statement::Step(_) => "step",
        Statement::Deliver { .. } => "deliver",
        Statement::Fire { .. } => "fire",
        Statement::RunFor(_) | Statement::RunTo(_) | Statement::RunUntil { .. } => "run",
        Statement::Expect(_) => "expect",
    }
}

fn act_verb(act: &Act) -> &'static str {
    match act {
        Act::Send(_) => "send",
        Act::Poll { .. } => "poll",
        Act::Commit { .. } => "commit",
        Act::Seek { .. } => "seek",
        Act::Close(_) => "close",
        Act::Reset { .. } => "reset",
        Act::Elect { .. } => "elect",
        Act::Reassign { .. } => "reassign",
        Act::DeleteRecords { .. } => "delete-records",
        Act::Partitions { .. } => "partitions",
        Act::DeleteTopic(_) => "delete-topic",
        Act::CheckRetention(_) => "check",
        Act::Clean(_) => "clean",
        Act::Flush(_) => "flush",
        Act::Checkpoint(_) => "checkpoint",
        Act::Roll(_) => "roll",
        Act::Kill(_) => "kill",
        Act::Start { .. } => "start",
        Act::PowerOff { .. } => "power-off",
        Act::Stop(_) => "stop",
        Act::Wipe(_) => "wipe",
        Act::Pause(_) => "pause",
        Act::Resume(_) => "resume",
        Act::Cut { .. } => "cut",
        Act::Heal { .. } | Act::HealAll => "heal",
        Act::Slow { .. } => "slow",
        Act::Drop { .. } => "drop",
        Act::Tear { .. } => "tear",
        Act::Flip { .. } => "flip",
        Act::Remove { .. } => "remove",
    }
}

/// The word with which a subject begins.
pub(super) fn subject_word(subject: &Subject) -> &'static str {
    match subject {
        Subject::Partition(fact, _) => fact.word(),
        Subject::Replica(fact, _) => fact.word(),
        Subject::Segment(fact, ..) => fact.word(),
        Subject::Record(fact, _) => fact.word(),
        Subject::Count(fact, ..) => fact.word(),
        Subject::Group(fact, ..) => fact.word(),
        Subject::LostInAll => PartitionFact::Lost.word(),
        Subject::Lookup(..) => "lookup",
        Subject::FileSize(..) => "file-size",
        Subject::OffsetFor(..) => "offset-for",
        Subject::State(_) => "state",
        Subject::Read(..) => "read",
        Subject::Error(_) => "error",
        Subject::Answer => "answer",
        Subject::Position(..) => "position",
        Subject::Assignment(_) => "assignment",
        Subject::Members(_) => "members",
        Subject::Metric(..) => "metric",
        Subject::Time => "time",
        Subject::InFlight => "in-flight",
        Subject::Invariant(_) => "invariant",
        Subject::Events(_) => "events",
        Subject::Refused(_) => "refused",
    }
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{}", line.statement)?;
        }
        if let Some(trace) = &self.trace {
            writeln!(f, "----")?;
            for line in trace {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(verb(self))?;
        match self {
            Statement::Brokers { count, configs } => write!(f, " {count}{}", Configs(configs)),
            Statement::Topic { name, layout, configs } => {
                write!(f, " {name}{layout}{}", Configs(configs))
            }
            Statement::Producer { name, configs } => write!(f, " {name}{}", Configs(configs)),
            Statement::SetLink { a, b, latency } => write!(f, " link {a}-{b} latency={latency}"),
            Statement::Step(count) => count.map_or(Ok(()), |count| write!(f, " {count}")),
            Statement::RunFor(duration) => write!(f, " for {duration}"),
            Statement::Act(Act::Send(send)) => send.fmt(f),
            Statement::Act(Act::Kill(process)) => write!(f, " {process}"),
            other => later::get().map_or(Ok(()), |later| (later.print)(other, f)),
        }
    }
}

/// What stands behind the verb of a statement that the landing does without.
pub(super) fn rest_of_any(statement: &Statement, f: &mut Formatter<'_>) -> fmt::Result {
    match statement {
        Statement::Highwater => f.write_str(" 1"),
        Statement::Seed(seed) => write!(f, " {seed}"),
        Statement::Clock(clock) => write!(f, " {clock}"),
        Statement::Feature(version) => write!(f, " eligible.leader.replicas.version={version}"),
        Statement::Rules(rules) => write!(f, " replication={rules}"),
        Statement::Broker { brokers, configs } => write!(f, " {brokers}{}", Configs(configs)),
        Statement::Consumer { .. } => statement.consumer(f),
        Statement::Set { target, configs } => write!(f, " {target}{}", Configs(configs)),
        Statement::SetDisk {
            brokers,
            write,
            fsync,
            writeback,
        } => {
            write!(f, " disk {brokers}")?;
            optional(f, "write", write.as_ref())?;
            optional(f, "fsync", fsync.as_ref())?;
            optional(f, "writeback", writeback.as_ref())
        }
        Statement::Deliver { kind, from, to } => write!(f, " {kind} from {from} to {to}"),
        Statement::Fire { timer, node, partition } => {
            write!(f, " {timer} at {node}")?;
            then(f, partition.as_ref())
        }
        Statement::RunTo(time) => write!(f, " to {time}"),
        Statement::RunUntil { condition, within } => {
            write!(f, " until {condition}")?;
            within.map_or(Ok(()), |within| write!(f, " within {within}"))
        }
        Statement::Expect(expectation) => write!(f, " {expectation}"),
        Statement::Act(act) => act.rest(f),
        Statement::Brokers { .. }
        | Statement::Topic { .. }
        | Statement::Producer { .. }
        | Statement::SetLink { .. }
        | Statement::Step(_)
        | Statement::RunFor(_) => Ok(()),
    }
}

impl Statement {
    fn consumer(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Statement::Consumer {
            name,
            group,
            topics,
            assign,
            polling,
            configs,
        } = self
        else {
            return Ok(());
        };
        write!(f, " {name}")?;
        optional(f, "group", group.as_ref())?;
        if !topics.is_empty() {
            write!(f, " topics={}", topics.join(","))?;
        }
        if !assign.is_empty() {
            write!(f, " assign={}", joined(assign))?;
        }
        if *polling == Polling::Manual {
            f.write_str(" poll=manual")?;
        }
        Configs(configs).fmt(f)
    }
}

/// `name=value` for something that may be missing.
fn optional<T: Display>(f: &mut Formatter<'_>, name: &str, value: Option<&T>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {name}={value}"))
}

/// A further word for something that may be missing.
fn then<T: Display>(f: &mut Formatter<'_>, word: Option<&T>) -> fmt::Result {
    word.map_or(Ok(()), |word| write!(f, " {word}"))
}

fn joined<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

struct Configs<'a>(&'a [Setting]);

impl Display for Configs<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|Setting { name, value }| write!(f, " {name}={}", Quoted(value.as_bytes(), &[])))
    }
}

/// Bytes as a word: as they are if nothing in them has a meaning of its own, else in quotes. `reserved` are words that mean
/// something else at that place when they stand without quotes.
struct Quoted<'a>(&'a [u8], &'a [&'a str]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Quoted(bytes, reserved) = self;
        match std::str::from_utf8(bytes) {
            Ok(text) if is_bare(text) && !reserved.contains(&text) => f.write_str(text),
            Ok(text) => {
                f.write_str("\"")?;
                text.chars().try_for_each(|sign| quoted_char(f, sign))?;
                f.write_str("\"")
            }
            Err(_) => {
                let mut escapes = bytes.iter();
                f.write_str("\"")?;
                escapes.try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
                f.write_str("\"")
            }
        }
    }
}

fn is_bare(text: &str) -> bool {
    let has_meaning = |sign: char| sign.is_whitespace() || sign.is_control() || ",=#\"\\".contains(sign);
    !text.is_empty() && !text.starts_with("hex:") && !text.contains(has_meaning)
}

fn quoted_char(f: &mut Formatter<'_>, sign: char) -> fmt::Result {
    match sign {
        '"' => f.write_str("\\\""),
        '\\' => f.write_str("\\\\"),
        '\n' => f.write_str("\\n"),
        control if control.is_ascii_control() => write!(f, "\\x{:02x}", u32::from(control)),
        other => write!(f, "{other}"),
    }
}

impl Display for Data {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Data::Null => f.write_str("null"),
            Data::Text(bytes) => Quoted(bytes, &["null"]).fmt(f),
            Data::Hex(bytes) => {
                f.write_str("hex:")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl Display for Micros {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&print_duration(self.0))
    }
}

impl Display for Partition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.number)
    }
}

impl Display for Replica {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.partition, self.broker)
    }
}

impl Display for Replicas {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.partition, self.brokers)
    }
}

impl Display for RecordName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.producer, self.number)
    }
}

impl Display for Brokers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Brokers::List(brokers) => f.write_str(&joined(brokers)),
            Brokers::All => f.write_str("all"),
        }
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Node::Any => f.write_str("*"),
            Node::Controller => f.write_str("controller"),
            Node::Broker(broker) => broker.fmt(f),
            Node::Client(name) => f.write_str(name),
        }
    }
}

impl Display for Nodes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Nodes::List(nodes) => f.write_str(&joined(nodes)),
            Nodes::AllBrokers => f.write_str("all"),
        }
    }
}

impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Layout::Counts { partitions, replicas } => {
                optional(f, "partitions", partitions.as_ref())?;
                optional(f, "replicas", replicas.as_ref())
            }
            Layout::Assigned(partitions) => {
                let brokers: Vec<String> = partitions.iter().map(|brokers| joined(brokers)).collect();
                write!(f, " assign={}", brokers.join("/"))
            }
        }
    }
}

impl Display for Configured {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Configured::AllBrokers => f.write_str("brokers"),
            Configured::Brokers(brokers) => write!(f, "broker {brokers}"),
            Configured::Topic(name) => write!(f, "topic {name}"),
            Configured::Producer(name) => write!(f, "producer {name}"),
            Configured::Consumer(name) => write!(f, "consumer {name}"),
        }
    }
}

impl Display for WriteBack {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            WriteBack::Never => f.write_str("never"),
            WriteBack::After(age) => age.fmt(f),
        }
    }
}

impl Display for Process {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Process::Brokers(brokers) => brokers.fmt(f),
            Process::Controller => f.write_str("controller"),
            Process::Client(name) => f.write_str(name),
        }
    }
}

impl Act {
    /// What stands behind its verb.
    fn rest(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Act::Poll { consumer, max } => {
                write!(f, " {consumer}")?;
                optional(f, "max", max.as_ref())
            }
            Act::Commit { consumer, offsets } => {
                write!(f, " {consumer}")?;
                offsets
                    .iter()
                    .try_for_each(|(partition, offset)| write!(f, " {partition}={offset}"))
            }
            Act::Seek {
                consumer,
                partition,
                to,
            } => write!(f, " {consumer} {partition} {to}"),
            Act::Close(name) | Act::DeleteTopic(name) => write!(f, " {name}"),
            Act::Reset { group, partition, to } => write!(f, " {group} {partition} {to}"),
            Act::Elect { partition, kind } => write!(f, " {partition} {kind}"),
            Act::Reassign { partition, replicas } => write!(f, " {partition} {}", joined(replicas)),
            Act::DeleteRecords { partition, offset } => write!(f, " {partition} {offset}"),
            Act::Partitions { topic, count } => write!(f, " {topic} {count}"),
            Act::CheckRetention(brokers) => {
                f.write_str(" retention")?;
                then(f, brokers.as_ref())
            }
            Act::Clean(replicas) => then(f, replicas.as_ref()),
            Act::Checkpoint(brokers) => then(f, brokers.as_ref()),
            Act::Flush(replicas) | Act::Roll(replicas) => write!(f, " {replicas}"),
            _ => self.fate(f),
        }
    }

    /// The rest of the line for what fate does.
    fn fate(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Act::Start {
                process,
                directory: Directory::Early,
            } => write!(f, " {process}"),
            Act::Start {
                process,
                directory: Directory::Late,
            } => {
                write!(f, " {process} directory=late")
            }
            Act::PowerOff { brokers, keep } => {
                write!(f, " {brokers}")?;
                keep.iter().try_for_each(|keep| write!(f, " keep={keep}"))
            }
            Act::Stop(brokers) | Act::Wipe(brokers) | Act::Pause(brokers) | Act::Resume(brokers) => {
                write!(f, " {brokers}")
            }
            Act::Cut {
                a,
                b,
                direction: Direction::Both,
            }
            | Act::Heal { a, b } => {
                write!(f, " {a} {b}")
            }
            Act::Cut {
                a,
                b,
                direction: Direction::FromFirst,
            } => write!(f, " {a} from {b}"),
            Act::HealAll => f.write_str(" all"),
            Act::Slow { brokers, factor } => write!(f, " {brokers} factor={factor}"),
            Act::Drop { kind, from, to, next } => {
                write!(f, " {kind} from {from} to {to}")?;
                optional(f, "next", next.as_ref())
            }
            Act::Tear { replica, keep } => {
                write!(f, " {replica}")?;
                optional(f, "keep", keep.as_ref())
            }
            Act::Flip { replica, base, at } => write!(f, " {replica}/{base} at={at}"),
            Act::Remove { replica, name } => write!(f, " {replica}/{name}"),
            _ => Ok(()),
        }
    }
}

impl Display for Sending {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, " {} ", self.producer)?;
        match &self.to {
            Destination::Topic(topic) => f.write_str(topic)?,
            Destination::Partition(partition) => partition.fmt(f)?,
        }
        optional(f, "key", self.key.as_ref())?;
        optional(f, "value", self.value.as_ref())?;
        optional(f, "timestamp", self.timestamp.as_ref())?;
        for (name, value) in &self.headers {
            write!(f, " header.{name}={value}")?;
        }
        optional(f, "count", self.count.as_ref())?;
        optional(f, "every", self.every.as_ref())?;
        optional(f, "to", self.broker.as_ref())
    }
}

impl Display for SeekTo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SeekTo::Offset(offset) => offset.fmt(f),
            SeekTo::Beginning => f.write_str("beginning"),
            SeekTo::End => f.write_str("end"),
            SeekTo::Timestamp(time) => write!(f, "@{time}"),
        }
    }
}

impl Display for ResetTo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ResetTo::Offset(offset) => offset.fmt(f),
            ResetTo::Earliest => f.write_str("earliest"),
            ResetTo::Latest => f.write_str("latest"),
        }
    }
}

impl Display for Keep {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Keep::Cache => f.write_str("cache"),
            Keep::Below(partition, offset) => write!(f, "{partition}:{offset}"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Quiet => f.write_str("quiet"),
            Condition::Acked => f.write_str("acked"),
            Condition::Holds(expectation) => expectation.fmt(f),
        }
    }
}

impl Display for Expectation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.sense == Sense::Negated {
            f.write_str("not ")?;
        }
        self.subject.fmt(f)?;
        match &self.test {
            None => Ok(()),
            Some((op, value)) => write!(f, " {op} {value}"),
        }
    }
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(subject_word(self))?;
        match self {
            Subject::Partition(_, partition) => write!(f, " {partition}"),
            Subject::Replica(_, replica) => write!(f, " {replica}"),
            Subject::Segment(_, replica, base) => write!(f, " {replica}/{base}"),
            Subject::Record(_, record) => write!(f, " {record}"),
            Subject::Count(_, name, partition) | Subject::Read(name, partition) => {
                write!(f, " {name}")?;
                then(f, partition.as_ref())
            }
            Subject::Group(_, name, partition) | Subject::Position(name, partition) => {
                write!(f, " {name} {partition}")
            }
            Subject::Lookup(replica, offset) => write!(f, " {replica} {offset}"),
            Subject::FileSize(replica, name) => write!(f, " {replica}/{name}"),
            Subject::OffsetFor(partition, time) => write!(f, " {partition} {time}"),
            Subject::State(broker) => write!(f, " {broker}"),
            Subject::Error(name)
            | Subject::Assignment(name)
            | Subject::Members(name)
            | Subject::Invariant(name)
            | Subject::Events(name) => write!(f, " {name}"),
            Subject::Metric(metric, None) => write!(f, " {metric}"),
            Subject::Metric(metric, Some(broker)) => write!(f, " {metric}@{broker}"),
            Subject::Refused(statement) => write!(f, " {statement}"),
            Subject::LostInAll | Subject::Answer | Subject::Time | Subject::InFlight => Ok(()),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list = |f: &mut Formatter<'_>, items: Vec<String>| match items.as_slice() {
            [] => f.write_str("none"),
            items => f.write_str(&items.join(",")),
        };
        match self {
            Value::Absent => f.write_str("none"),
            Value::Unknown => f.write_str("-"),
            Value::Truth(truth) => truth.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Duration(duration) => duration.fmt(f),
            Value::Numbers(numbers) => list(f, numbers.iter().map(i64::to_string).collect()),
            Value::Offsets(ranges) => list(f, ranges.iter().map(range).collect()),
            Value::Pairs(pairs) => list(f, pairs.iter().map(|(a, b)| format!("{a}:{b}")).collect()),
            Value::Batches(batches) => list(
                f,
                batches
                    .iter()
                    .map(|(base, last, count)| format!("{base}-{last}:{count}"))
                    .collect(),
            ),
            Value::Items(items) => list(f, items.iter().map(item).collect()),
            Value::Word(word) => f.write_str(word),
            Value::Words(words) => list(
                f,
                words
                    .iter()
                    .map(|word| Quoted(word.as_bytes(), &["none"]).to_string())
                    .collect(),
            ),
            Value::Result(outcome) => outcome.fmt(f),
            Value::Lookup(position, scanned) => write!(f, "{position} {scanned}"),
            Value::Custody(copies) => list(f, copies.iter().map(CopyPlace::to_string).collect()),
            Value::NeverWithin(faults) => write!(f, "never within {faults}"),
        }
    }
}

fn range((first, last): &(i64, i64)) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}-{last}")
    }
}

fn item(item: &Option<Vec<u8>>) -> String {
    match item {
        None => "null".to_string(),
        Some(bytes) => Quoted(bytes, &["null", "none"]).to_string(),
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Pending => f.write_str("pending"),
            Outcome::Sent => f.write_str("sent"),
            Outcome::Failed(error) => f.write_str(error),
            Outcome::Acked { offset, partition } => {
                f.write_str("acked")?;
                optional(f, "offset", offset.as_ref())?;
                optional(f, "partition", partition.as_ref())
            }
        }
    }
}

impl Display for CopyPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let host = match self.host {
            Host::Up => "",
            Host::Down => "/down",
        };
        write!(f, "{}:{}{host}", self.broker, self.place)
    }
}
