//! Everything that can be done to a world. A run is a list of these and nothing else.

use std::sync::Arc;

use crate::cluster::actor::Timer;
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicId, TopicPartition};
use crate::cluster::message::{Message, MessageKind, OffsetSpec};
use crate::cluster::settings::{Endpoint, Micros};
use crate::config::{ConfigError, ConsumerConfig, ProducerConfig};
use crate::log::{Header, Rest};

/// Where a record should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The producer's partitioner decides.
    Topic(TopicId),
    /// The application has decided.
    Partition(TopicPartition),
    /// One raw produce request straight to a broker, with no metadata and no retry.
    Broker(TopicPartition, BrokerId),
}

/// Bytes of a key or value, in which `{n}` may stand for the number within one `send`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// Null.
    Null,
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Text in which `{n}` counts from 0.
    Counted(Arc<str>),
    /// The record's number, the N of `P#N`: what a missing value is.
    Number,
}

/// What an application hands to its producer: `count` records, all at once or one every so often.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    /// Where they go.
    pub to: Destination,
    /// Their keys.
    pub key: Template,
    /// Their values.
    pub value: Template,
    /// Their timestamp, milliseconds; the producer's clock if there is none.
    pub timestamp: Option<i64>,
    /// Their headers.
    pub headers: Arc<[Header]>,
    /// How many.
    pub count: u32,
    /// Time between two, microseconds; `None` is all at one instant.
    pub every: Option<Micros>,
}

/// How much of what was not flushed reached the disk all the same.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Keep {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything in the page cache.
    Cache,
    /// Of these partitions everything below an offset; of the others nothing.
    Below(Vec<(TopicPartition, i64)>),
}

/// Where a seek goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekTo {
    /// An offset, not checked until it is fetched.
    Offset(i64),
    /// What the leader answers.
    Asked(OffsetSpec),
}

/// Where an operator moves a group's committed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetTo {
    /// To this offset, or as near as the log goes.
    Offset(i64),
    /// To the log start.
    Earliest,
    /// To the end.
    Latest,
}

/// Whose config is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigTarget {
    /// Every broker; a topic config (by its broker's name) is the cluster-wide default.
    Brokers,
    /// One broker.
    Broker(BrokerId),
    /// A topic.
    Topic(TopicId),
    /// A producer or consumer.
    Client(ClientId),
}

/// How a partition's leader is elected by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionType {
    /// The preferred replica, if it is in sync.
    Preferred,
    /// Any live replica, if there is no leader.
    Unclean,
}

/// When a broker with a new data directory reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReportDirectory {
    /// Before it is unfenced.
    #[default]
    First,
    /// After it was unfenced.
    Late,
}

/// Something that is pending, named by where it stands and never by a global number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pending {
    /// The first message on the wire from one node to another.
    Message {
        /// The sender.
        from: Node,
        /// The receiver.
        to: Node,
    },
    /// A timer of a node.
    Timer {
        /// Whose.
        node: Node,
        /// Which.
        timer: Timer,
    },
}

/// Something done to a world.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    // Time.
    /// Performs the earliest pending thing.
    Next,
    /// Performs this pending thing now, out of its turn.
    Run(Pending),
    /// Lets time pass up to this instant; refused if something is due before or at it.
    Wait(Micros),

    // Set-up and operator.
    /// Creates a topic with this assignment: for each partition its replicas, the first preferred. Configs by name and text.
    CreateTopic {
        /// Its name.
        name: Arc<str>,
        /// Replicas of each partition.
        assignment: Vec<Vec<BrokerId>>,
        /// Its configs.
        config: Vec<(String, String)>,
    },
    /// A producer's process starts.
    AddProducer(Arc<str>, Box<ProducerConfig>),
    /// A consumer's process starts, reading these partitions, by itself or only when told to poll.
    AddConsumer {
        /// Its name.
        name: Arc<str>,
        /// Its configs.
        config: Box<ConsumerConfig>,
        /// The partitions placed on it by hand.
        assign: Vec<TopicPartition>,
        /// The group that it joins, and the topics that it subscribes to.
        group: Option<(Arc<str>, Vec<Arc<str>>)>,
        /// Whether it polls by itself.
        polls: Polls,
    },
    /// Changes configs, by name and value, at once and everywhere: all of them or none.
    Configure(ConfigTarget, Vec<(String, String)>),
    /// Sets the one-way latency between two nodes, both ways.
    SetLink(Endpoint, Endpoint, Micros),
    /// Sets a broker's disk latencies; `None` leaves one as it is. Write-back: `Some(None)` is never.
    SetDisk {
        /// The broker.
        broker: BrokerId,
        /// Time of an append.
        write: Option<Micros>,
        /// Time of an fsync.
        fsync: Option<Micros>,
        /// Age of write-back.
        writeback: Option<Option<Micros>>,
    },
    /// Elects a leader by hand.
    Elect(TopicPartition, ElectionType),
    /// Moves a partition to other replicas.
    Reassign(TopicPartition, Vec<BrokerId>),
    /// Adds partitions to a topic until it has so many.
    CreatePartitions(TopicId, u32),
    /// Deletes a topic, and with it what groups have committed in it.
    DeleteTopic(TopicId),
    /// Deletes the records below an offset.
    DeleteRecords(TopicPartition, i64),
    /// Runs the retention check now, on one broker or on all that are up.
    CheckRetention(Option<BrokerId>),
    /// One pass of the cleaner: over the dirtiest log of each broker that is up, or over this replica.
    Clean(Option<(TopicPartition, BrokerId)>),
    /// Flushes a replica's log.
    Flush(TopicPartition, BrokerId),
    /// Writes checkpoints now, on one broker or on all that are up.
    Checkpoint(Option<BrokerId>),
    /// Begins a new segment.
    Roll(TopicPartition, BrokerId),

    // Clients.
    /// An application hands over records.
    Send(ClientId, Box<Send>),
    /// A client's process sends one request as it stands, with none of a client's logic. Nobody waits for the answer but
    /// whoever looks at the wire.
    Request(ClientId, BrokerId, Box<Message>),
    /// One poll of a manual consumer, for at most this many records.
    Poll(ClientId, Option<u32>),
    /// Moves a consumer's position.
    Seek(ClientId, TopicPartition, SeekTo),
    /// A consumer commits for its group: these offsets, or where it stands.
    Commit(ClientId, Vec<(TopicPartition, i64)>),
    /// The operator moves a group's committed offset.
    ResetOffset(Arc<str>, TopicPartition, ResetTo),
    /// A client closes: a producer sends what it holds, a consumer goes.
    Close(ClientId),
    /// A client's process ends without closing.
    KillClient(ClientId),
    /// A client's process starts again.
    StartClient(ClientId),

    // Faults and their healing.
    /// A broker's process ends.
    Kill(BrokerId),
    /// A broker's host loses power.
    PowerOff(BrokerId, Keep),
    /// A broker shuts down in a controlled way.
    Stop(BrokerId),
    /// A broker's process starts, the host first if need be.
    Start(BrokerId, ReportDirectory),
    /// A broker's data directory is lost and formatted anew.
    Wipe(BrokerId),
    /// The folder of one replica is lost, on a broker that is down: the data directory stays what it was.
    WipePartition(TopicPartition, BrokerId),
    /// A checkpoint file is lost, on a broker that is down.
    LoseCheckpoint(BrokerId, CheckpointFile),
    /// A broker's process freezes.
    Pause(BrokerId),
    /// It goes on.
    Resume(BrokerId),
    /// No message passes from the first to the second of each pair any more.
    Cut(Vec<(Node, Node)>),
    /// Messages pass again; `None` heals every path.
    Heal(Option<Vec<(Node, Node)>>),
    /// Everything a node does takes this many times as long.
    Slow(Node, u32),
    /// The next so many messages of a kind on a path are lost.
    Drop {
        /// Which kind.
        kind: MessageKind,
        /// From here.
        from: Node,
        /// To there.
        to: Node,
        /// How many.
        next: u32,
    },
    /// The last batch of a replica's file is cut in the middle; `keep` bytes of it stay (half without).
    Tear(TopicPartition, BrokerId, Option<u32>),
    /// A replica's log is shortened, on a broker that is down, also where it had reached the disk: nothing at or above this
    /// offset stays but what is said.
    Shorten {
        /// The partition.
        partition: TopicPartition,
        /// The broker.
        broker: BrokerId,
        /// The offset.
        from: i64,
        /// What stays all the same.
        rest: Rest,
    },
    /// A byte of a segment's log is inverted: base offset of the segment, position in the file.
    Flip(TopicPartition, BrokerId, i64, u64),
    /// An index, or a snapshot of the producers, is gone from a replica's folder, on a broker that is down.
    RemoveFile(TopicPartition, BrokerId, Arc<str>),
    /// The controller quorum goes.
    KillController,
    /// The controller quorum is back.
    StartController,
    /// The controller looks and finds a broker's session over, although that broker is awake: it was frozen itself for longer
    /// than a session, and looks before it listens.
    EndSession(BrokerId),
}

/// A file at the top of a data directory, that says something of every partition in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointFile {
    /// `replication-offset-checkpoint`.
    HighWatermark,
    /// `recovery-point-offset-checkpoint`.
    RecoveryPoint,
    /// `log-start-offset-checkpoint`.
    LogStart,
    /// `cleaner-offset-checkpoint`.
    Cleaner,
    /// `.kafka_cleanshutdown`, the marker of a clean stop.
    CleanShutdown,
}

/// Whether a consumer polls by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Polls {
    /// As soon as it exists.
    #[default]
    ByItself,
    /// Only when told to.
    WhenTold,
}

/// Why an input cannot apply; the world stays as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What stands in the way.
    pub reason: String,
    /// What to do instead.
    pub remedy: String,
}

impl Refused {
    /// A refusal with its remedy.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Refused {
        Refused {
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }

    /// A part of the program would have to be there first.
    pub(crate) fn missing() -> Refused {
        let (reason, remedy) = crate::linked::MISSING;
        Refused::new(reason, remedy)
    }
}

impl From<ConfigError> for Refused {
    fn from(error: ConfigError) -> Refused {
        Refused::new(error.reason(), error.remedy())
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.reason, self.remedy)
    }
}

impl std::error::Error for Refused {}
