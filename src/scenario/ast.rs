//! What a scenario says, as data: one [`Statement`] a line.
//!
//! The tree keeps what was written (a missing setting stays missing), so that printing and parsing are each other's
//! inverse; what a missing setting means is decided where the statement is performed. Names are plain texts here: whether
//! they are declared is known to [`super::names::Names`], whether an act can apply to them only to the world.
//!
//! Deliberately absent: comments and the layout of the file, which a printed scenario does not keep.

use std::sync::Arc;

/// Declares an enum of words of the language, each variant with its spelling.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All of them, in the order of the language's description.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// How it is written.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one that is written like that.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

mod expect;

pub use expect::*;

/// A whole file: its statements, and the trace that is expected of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// The statements, in order.
    pub lines: Vec<Line>,
    /// What stands after `----`: the expected trace, line by line.
    pub trace: Option<Vec<String>>,
}

/// A statement and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line of the file, from 1.
    pub number: u32,
    /// What stands there; shared with whoever plays it.
    pub statement: Arc<Statement>,
}

impl Line {
    /// A statement at a line of the file, from 1.
    pub fn new(number: u32, statement: Statement) -> Line {
        let statement = Arc::new(statement);
        Line { number, statement }
    }
}

/// A length of virtual time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub i64);

/// One partition, by its topic's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// The topic's name.
    pub topic: String,
    /// The partition's number, from 0.
    pub number: u32,
}

/// A partition's replica on one broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// The partition.
    pub partition: Partition,
    /// The broker.
    pub broker: u16,
}

/// A partition's replicas on some brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replicas {
    /// The partition.
    pub partition: Partition,
    /// The brokers.
    pub brokers: Brokers,
}

/// A record by the order of sending: `app#3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordName {
    /// Who sent it.
    pub producer: String,
    /// Its place among the producer's records, from 1.
    pub number: u64,
}

/// Some brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brokers {
    /// These.
    List(Vec<u16>),
    /// All that there are.
    All,
}

/// One end of a link, or any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Every node.
    Any,
    /// The controller quorum.
    Controller,
    /// A broker.
    Broker(u16),
    /// A producer or a consumer.
    Client(String),
}

/// Several nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nodes {
    /// These.
    List(Vec<Node>),
    /// All brokers.
    AllBrokers,
}

/// A setting: a config's or an option's name and its value, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name.
    pub name: String,
    /// The value, without its quotes.
    pub value: String,
}

/// The bytes of a key, a value or a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// None at all.
    Null,
    /// As written; `{n}` in it counts.
    Text(Vec<u8>),
    /// Given in hexadecimal; taken as they are.
    Hex(Vec<u8>),
}

/// Any statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `highwater 1`.
    Highwater,
    /// `seed N`.
    Seed(u64),
    /// `clock N`, milliseconds since 1970.
    Clock(i64),
    /// `feature eligible.leader.replicas.version=N`.
    Feature(ElrVersion),
    /// `rules replication=…`.
    Rules(ReplicationRules),
    /// `brokers N …`.
    Brokers {
        /// How many.
        count: u16,
        /// Their configs.
        configs: Vec<Setting>,
    },
    /// `broker B …`.
    Broker {
        /// Which.
        brokers: Brokers,
        /// Their configs.
        configs: Vec<Setting>,
    },
    /// `topic T …`.
    Topic {
        /// Its name.
        name: String,
        /// Where its replicas lie.
        layout: Layout,
        /// Its configs.
        configs: Vec<Setting>,
    },
    /// `producer P …`.
    Producer {
        /// Its name.
        name: String,
        /// Its configs.
        configs: Vec<Setting>,
    },
    /// `consumer C …`.
    Consumer {
        /// Its name.
        name: String,
        /// Its group.
        group: Option<String>,
        /// The topics that it subscribes to.
        topics: Vec<String>,
        /// The partitions that it is given.
        assign: Vec<Partition>,
        /// Who polls.
        polling: Polling,
        /// Its configs.
        configs: Vec<Setting>,
    },
    /// `set …` on something that has configs.
    Set {
        /// On what.
        target: Configured,
        /// The new values.
        configs: Vec<Setting>,
    },
    /// `set link A-B latency=…`.
    SetLink {
        /// One end.
        a: Node,
        /// The other end.
        b: Node,
        /// One way.
        latency: Micros,
    },
    /// `set disk B …`.
    SetDisk {
        /// Whose disk.
        brokers: Brokers,
        /// Of an append to the page cache.
        write: Option<Micros>,
        /// Of an fsync.
        fsync: Option<Micros>,
        /// The age at which the operating system writes a page back.
        writeback: Option<WriteBack>,
    },
    /// Something that a client, an operator or fate does.
    Act(Act),
    /// `step [N]`.
    Step(Option<u64>),
    /// `deliver KIND from A to B`.
    Deliver {
        /// What kind of message.
        kind: MessageKind,
        /// Its sender.
        from: Node,
        /// Its receiver.
        to: Node,
    },
    /// `fire TIMER at NODE [T-P]`.
    Fire {
        /// Which timer.
        timer: Timer,
        /// Whose.
        node: Node,
        /// For which partition.
        partition: Option<Partition>,
    },
    /// `run for DURATION`.
    RunFor(Micros),
    /// `run to DURATION`.
    RunTo(Micros),
    /// `run until CONDITION [within DURATION]`.
    RunUntil {
        /// What is waited for.
        condition: Condition,
        /// How long at most.
        within: Option<Micros>,
    },
    /// `expect …`.
    Expect(Expectation),
}

impl Statement {
    /// Whether it lets time pass.
    pub const fn is_time(&self) -> bool {
        matches!(
            self,
            Statement::Step(_) | Statement::RunFor(_) | Statement::RunTo(_) | Statement::RunUntil { .. }
        )
    }

    /// Whether it sets up the world, and stands at the beginning of a text only.
    pub const fn sets_up(&self) -> bool {
        matches!(
            self,
            Statement::Highwater
                | Statement::Seed(_)
                | Statement::Clock(_)
                | Statement::Feature(_)
                | Statement::Rules(_)
                | Statement::Brokers { .. }
        )
    }
}

words! {
    /// Which version of the feature `eligible.leader.replicas.version` is in force.
    pub enum ElrVersion {
        /// Without eligible leader replicas.
        Off = "0",
        /// With them.
        On = "1",
    }
}

words! {
    /// Which rules a replica follows to find where its log must end.
    pub enum ReplicationRules {
        /// Today's.
        Kip320 = "kip-320",
        /// Those of Kafka 2.0.
        Kip279 = "kip-279",
        /// Those of Kafka 0.11.
        Kip101 = "kip-101",
        /// Those before 0.11.
        HwTruncation = "hw-truncation",
    }
}

/// Where a topic's replicas lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// So many, round-robin; one where nothing is said.
    Counts {
        /// How many partitions.
        partitions: Option<u32>,
        /// How many replicas of each.
        replicas: Option<u16>,
    },
    /// Each partition's brokers, the preferred leader first.
    Assigned(Vec<Vec<u16>>),
}

/// Who asks a consumer to poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polling {
    /// It polls by itself.
    Automatic,
    /// Only `poll` does.
    Manual,
}

/// Something whose configs can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Configured {
    /// Every broker.
    AllBrokers,
    /// Some brokers.
    Brokers(Brokers),
    /// A topic.
    Topic(String),
    /// A producer.
    Producer(String),
    /// A consumer.
    Consumer(String),
}

/// When the operating system writes a page of the cache to disk by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteBack {
    /// Never: the worst case.
    Never,
    /// When it is that old.
    After(Micros),
}

/// Where a record is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// To the topic: the partitioner chooses.
    Topic(String),
    /// To this partition.
    Partition(Partition),
}

/// Something that a client, an operator or fate does.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// `send P T[-P] …`.
    Send(Sending),
    /// `poll C [max=N]`.
    Poll {
        /// Who polls.
        consumer: String,
        /// How many records at most.
        max: Option<u64>,
    },
    /// `commit C [T-P=OFFSET …]`.
    Commit {
        /// Who commits.
        consumer: String,
        /// What; nothing means the position.
        offsets: Vec<(Partition, i64)>,
    },
    /// `seek C T-P …`.
    Seek {
        /// Who seeks.
        consumer: String,
        /// In which partition.
        partition: Partition,
        /// To where.
        to: SeekTo,
    },
    /// `close P|C`.
    Close(String),
    /// `reset G T-P …`.
    Reset {
        /// Whose committed offset.
        group: String,
        /// Of which partition.
        partition: Partition,
        /// To where.
        to: ResetTo,
    },
    /// `elect T-P …`.
    Elect {
        /// A leader of which partition.
        partition: Partition,
        /// How.
        kind: Election,
    },
    /// `reassign T-P B,B,…`.
    Reassign {
        /// Which partition.
        partition: Partition,
        /// To which brokers.
        replicas: Vec<u16>,
    },
    /// `delete-records T-P OFFSET`.
    DeleteRecords {
        /// Of which partition.
        partition: Partition,
        /// Everything below this offset.
        offset: i64,
    },
    /// `partitions T N`.
    Partitions {
        /// Of which topic.
        topic: String,
        /// How many from now on.
        count: u32,
    },
    /// `delete-topic T`.
    DeleteTopic(String),
    /// `check retention [B]`.
    CheckRetention(Option<Brokers>),
    /// `clean [T-P@B]`.
    Clean(Option<Replicas>),
    /// `flush T-P@B`.
    Flush(Replicas),
    /// `checkpoint [B]`.
    Checkpoint(Option<Brokers>),
    /// `roll T-P@B`.
    Roll(Replicas),
    /// `kill …`.
    Kill(Process),
    /// `start …`.
    Start {
        /// What.
        process: Process,
        /// When a new directory is reported.
        directory: Directory,
    },
    /// `power-off B …`.
    PowerOff {
        /// Which.
        brokers: Brokers,
        /// What reached the disk all the same.
        keep: Vec<Keep>,
    },
    /// `stop B`.
    Stop(Brokers),
    /// `wipe B`.
    Wipe(Brokers),
    /// `pause B`.
    Pause(Brokers),
    /// `resume B`.
    Resume(Brokers),
    /// `cut A B` and `cut A from B`.
    Cut {
        /// One side.
        a: Nodes,
        /// The other side.
        b: Nodes,
        /// Which messages are lost.
        direction: Direction,
    },
    /// `heal A B`.
    Heal {
        /// One side.
        a: Nodes,
        /// The other side.
        b: Nodes,
    },
    /// `heal all`.
    HealAll,
    /// `slow B factor=N`.
    Slow {
        /// Which.
        brokers: Brokers,
        /// How many times as long everything takes.
        factor: u32,
    },
    /// `drop KIND from A to B [next=N]`.
    Drop {
        /// What kind of message.
        kind: DropKind,
        /// Its sender.
        from: Node,
        /// Its receiver.
        to: Node,
        /// How many.
        next: Option<u64>,
    },
    /// `tear T-P@B [keep=BYTES]`.
    Tear {
        /// Whose log.
        replica: Replica,
        /// How much of the last batch stays.
        keep: Option<u64>,
    },
    /// `flip T-P@B/BASE at=POSITION`.
    Flip {
        /// Whose log.
        replica: Replica,
        /// The segment's base offset.
        base: i64,
        /// The byte's position in the file.
        at: u64,
    },
    /// `remove T-P@B/NAME`.
    Remove {
        /// Whose folder.
        replica: Replica,
        /// The file: an index or a snapshot of the producers.
        name: String,
    },
}

/// `send P T[-P] …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// Who sends.
    pub producer: String,
    /// To where.
    pub to: Destination,
    /// The key.
    pub key: Option<Data>,
    /// The value; a missing one is the record's number.
    pub value: Option<Data>,
    /// The record's own timestamp in milliseconds since 1970.
    pub timestamp: Option<i64>,
    /// The headers, in order.
    pub headers: Vec<(String, Data)>,
    /// How many records.
    pub count: Option<u64>,
    /// At which distance.
    pub every: Option<Micros>,
    /// Straight to this broker, whoever leads.
    pub broker: Option<u16>,
}

/// Where a consumer goes on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeekTo {
    /// At this offset.
    Offset(i64),
    /// At the log start.
    Beginning,
    /// At the end.
    End,
    /// At the first record that is at least that young, milliseconds since 1970.
    Timestamp(i64),
}

/// Where a group's committed offset goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetTo {
    /// To this offset.
    Offset(i64),
    /// To the log start.
    Earliest,
    /// To the end.
    Latest,
}

words! {
    /// How a leader is chosen on request.
    pub enum Election {
        /// The first replica, if it is in sync.
        Preferred = "preferred",
        /// Any live replica.
        Unclean = "unclean",
    }
}

/// A process that can be killed and started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Process {
    /// Brokers.
    Brokers(Brokers),
    /// The controller quorum.
    Controller,
    /// A producer or a consumer.
    Client(String),
}

/// When a broker reports a directory that is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directory {
    /// Before it is unfenced.
    Early,
    /// After that.
    Late,
}

/// What of a page cache reached the disk before the power went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// All of it.
    Cache,
    /// Of this partition everything below this offset.
    Below(Partition, i64),
}

/// Which messages between two sides are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// All.
    Both,
    /// Those from the first side to the second.
    FromFirst,
}

words! {
    /// The kinds of messages that can be dropped.
    pub enum DropKind {
        /// A producer's batches.
        Produce = "produce",
        /// The answer to them.
        ProduceResponse = "produce-response",
        /// A follower's or a consumer's question for records.
        Fetch = "fetch",
        /// The answer to it.
        FetchResponse = "fetch-response",
        /// A leader's proposal of another ISR.
        AlterPartition = "alter-partition",
        /// The answer to it.
        AlterPartitionResponse = "alter-partition-response",
        /// A broker's sign of life.
        Heartbeat = "heartbeat",
        /// News from the controller.
        Metadata = "metadata",
    }
}

/// The kinds of messages that can be delivered out of turn: the same.
pub type MessageKind = DropKind;

words! {
    /// The timers that can be fired out of turn, by the cluster's own names for them.
    pub enum Timer {
        /// A silent broker, or a silent member of a group, is given up.
        Session = "session",
        /// A leader looks for followers that lag.
        Lag = "lag",
        /// A held fetch is answered.
        FetchWait = "fetch-wait",
        /// A request has had no answer.
        Request = "request",
        /// Another attempt is due.
        Retry = "retry",
        /// A batch has waited long enough.
        Linger = "linger",
        /// A broker's sign of life is due.
        Heartbeat = "heartbeat",
        /// Old segments are looked for.
        Retention = "retention",
        /// The cleaner looks for work.
        Cleaner = "cleaner",
        /// Checkpoints are due.
        Checkpoint = "checkpoint",
        /// Logs to be flushed are looked for.
        Flush = "flush",
        /// A group's members share its partitions out anew.
        Rebalance = "rebalance",
    }
}

/// What `run until` waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Nothing is under way.
    Quiet,
    /// No record is undecided.
    Acked,
    /// An expectation holds.
    Holds(Expectation),
}
