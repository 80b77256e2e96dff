//! What an expectation says: what is looked at, how it is compared, and with what.

use super::{Micros, Partition, RecordName, Replica, Statement};

/// A statement about the world that holds or does not.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Whether it is turned around.
    pub sense: Sense,
    /// What is looked at.
    pub subject: Subject,
    /// What it is compared with; nothing means that it must be true, or not empty.
    pub test: Option<(Op, Value)>,
}

/// Whether an expectation is meant as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// As it stands.
    Plain,
    /// Turned around by `not`.
    Negated,
}

words! {
    /// How two values are compared.
    pub enum Op {
        /// Equal.
        Equal = "=",
        /// Not equal.
        NotEqual = "!=",
        /// Less.
        Less = "<",
        /// Less or equal.
        AtMost = "<=",
        /// More.
        More = ">",
        /// More or equal.
        AtLeast = ">=",
    }
}

/// What an expectation looks at.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// Something that holds for a partition as a whole.
    Partition(PartitionFact, Partition),
    /// Something that holds for one replica.
    Replica(ReplicaFact, Replica),
    /// Something that holds for one segment of a replica, by its base offset.
    Segment(SegmentFact, Replica, i64),
    /// `lookup T-P@B OFFSET`.
    Lookup(Replica, i64),
    /// `file-size T-P@B/NAME`.
    FileSize(Replica, String),
    /// `offset-for T-P TIMESTAMP`.
    OffsetFor(Partition, i64),
    /// `state B`.
    State(u16),
    /// Something that holds for one record.
    Record(RecordFact, RecordName),
    /// How many of a producer's records, of one partition or of all.
    Count(CountFact, String, Option<Partition>),
    /// `lost` over all partitions.
    LostInAll,
    /// `read C [T-P]`.
    Read(String, Option<Partition>),
    /// `error C`.
    Error(String),
    /// `answer`.
    Answer,
    /// `position C T-P`.
    Position(String, Partition),
    /// Something that holds for a group and a partition.
    Group(GroupFact, String, Partition),
    /// `assignment C`.
    Assignment(String),
    /// `members G`.
    Members(String),
    /// `metric NAME[@B]`.
    Metric(Metric, Option<u16>),
    /// `time`.
    Time,
    /// `in-flight`.
    InFlight,
    /// `invariant NAME`.
    Invariant(String),
    /// `events RULE`.
    Events(String),
    /// `refused STATEMENT`.
    Refused(Box<Statement>),
}

words! {
    /// What can be asked of a partition.
    pub enum PartitionFact {
        /// Its leader.
        Leader = "leader",
        /// Its leader epoch.
        Epoch = "epoch",
        /// Its partition epoch.
        PartitionEpoch = "partition-epoch",
        /// Its replicas.
        Replicas = "replicas",
        /// Its in-sync replicas.
        Isr = "isr",
        /// Its eligible leader replicas.
        Elr = "elr",
        /// The acknowledged records that are gone.
        Lost = "lost",
        /// The records that nobody was told of.
        Unacked = "unacked",
        /// The records that repeat an earlier one.
        Duplicates = "duplicates",
    }
}

words! {
    /// What can be asked of a replica.
    pub enum ReplicaFact {
        /// Log end offset.
        Leo = "leo",
        /// High watermark.
        Hw = "hw",
        /// Log start offset.
        Start = "start",
        /// The offset below which everything is on disk.
        Flushed = "flushed",
        /// The offsets that it holds.
        Offsets = "offsets",
        /// Those on disk.
        OnDisk = "on-disk",
        /// Those in the page cache only.
        InCache = "in-cache",
        /// The keys.
        Keys = "keys",
        /// The values.
        Values = "values",
        /// Where each leader epoch starts.
        Epochs = "epochs",
        /// The base offsets of its segments.
        Segments = "segments",
        /// The bytes of its logs.
        Size = "size",
        /// The names of its files.
        Files = "files",
        /// Its batches.
        Batches = "batches",
    }
}

words! {
    /// What can be asked of a segment.
    pub enum SegmentFact {
        /// The entries of the offset index.
        Index = "index",
        /// The entries of the time index.
        TimeIndex = "timeindex",
    }
}

words! {
    /// What can be asked of a record.
    pub enum RecordFact {
        /// What the producer was told.
        Result = "result",
        /// The partition that it went to.
        Partition = "partition",
        /// The offset that it got.
        Offset = "offset",
        /// The time from send to decision.
        Latency = "latency",
        /// How often it was sent.
        Attempts = "attempts",
        /// What became of it.
        Fate = "fate",
        /// Where its copies are.
        Custody = "custody",
        /// How many faults would lose it.
        Distance = "distance",
    }
}

words! {
    /// Which of a producer's records are counted.
    pub enum CountFact {
        /// The acknowledged ones.
        Acked = "acked",
        /// The failed ones.
        Failed = "failed",
        /// The undecided ones.
        Pending = "pending",
    }
}

words! {
    /// What can be asked of a group's place in a partition.
    pub enum GroupFact {
        /// The committed offset.
        Committed = "committed",
        /// The distance from there to the end.
        Lag = "lag",
        /// How many records lie between.
        Readable = "readable",
    }
}

words! {
    /// The metrics that can be asked for.
    pub enum Metric {
        /// Partitions with less than all replicas in sync.
        UnderReplicated = "under-replicated",
        /// Partitions with too few replicas in sync.
        UnderMinIsr = "under-min-isr",
        /// Partitions with just enough replicas in sync.
        AtMinIsr = "at-min-isr",
        /// Partitions without a leader.
        Offline = "offline",
        /// How often an ISR became smaller.
        IsrShrinks = "isr-shrinks",
        /// How often an ISR became larger.
        IsrExpands = "isr-expands",
        /// How often a leader was chosen at the price of records.
        UncleanElections = "unclean-elections",
    }
}

/// What a subject is, or is expected to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `none`: nothing, an empty list, or something that is absent at the moment.
    Absent,
    /// `-`: nobody can know it now.
    Unknown,
    /// A truth, of a subject that needs no comparison.
    Truth(bool),
    /// A number.
    Number(i64),
    /// A length of time.
    Duration(Micros),
    /// Numbers in order: replicas, segments; for a set in ascending order.
    Numbers(Vec<i64>),
    /// Ranges of offsets, both ends included, ascending and apart.
    Offsets(Vec<(i64, i64)>),
    /// Pairs `a:b`.
    Pairs(Vec<(i64, i64)>),
    /// Batches `base-last:count`.
    Batches(Vec<(i64, i64, i64)>),
    /// Keys or values in order; nothing is null.
    Items(Vec<Option<Vec<u8>>>),
    /// One word of the language, or Kafka's name of something.
    Word(String),
    /// Words in order; for a set in ascending order.
    Words(Vec<String>),
    /// What a producer was told of a record.
    Result(Outcome),
    /// `position scanned` of a look-up.
    Lookup(i64, i64),
    /// Where the copies of a record are.
    Custody(Vec<CopyPlace>),
    /// `never within N`.
    NeverWithin(u64),
}

/// What a producer was told of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Pending,
    /// It was acknowledged. An expectation that leaves a number out holds for any.
    Acked {
        /// The offset.
        offset: Option<i64>,
        /// The partition.
        partition: Option<u32>,
    },
    /// It was sent with acks=0, and nothing was told.
    Sent,
    /// It failed with the error of this name.
    Failed(String),
}

/// One broker's copy of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPlace {
    /// The broker.
    pub broker: u16,
    /// Where the copy is.
    pub place: Place,
    /// Whether the broker can be asked.
    pub host: Host,
}

words! {
    /// Where a broker's copy of a record is.
    pub enum Place {
        /// It has none.
        Absent = "absent",
        /// In the page cache only.
        Cache = "cache",
        /// On disk.
        Disk = "disk",
        /// It had one and cut it off.
        Truncated = "truncated",
    }
}

/// Whether a broker is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// It is.
    Up,
    /// It is not.
    Down,
}

words! {
    /// What a broker is doing.
    pub enum BrokerState {
        /// It serves.
        Up = "up",
        /// It does not run.
        Down = "down",
        /// It is frozen.
        Paused = "paused",
        /// It runs and the controller has shut it out.
        Fenced = "fenced",
        /// It recovers its logs or registers.
        Starting = "starting",
        /// It hands its leadership over.
        Stopping = "stopping",
    }
}

words! {
    /// What became of a record.
    pub enum Fate {
        /// It is on its way.
        InFlight = "in-flight",
        /// It stands in the leader's log.
        Appended = "appended",
        /// It is below the high watermark.
        Committed = "committed",
        /// Its producer was told that it is safe.
        Acknowledged = "acknowledged",
        /// The broker did not take it.
        Refused = "refused",
        /// Its producer gave up.
        TimedOut = "timed-out",
        /// It was cut off, and nobody had been told that it was safe.
        Truncated = "truncated",
        /// It was acknowledged and is gone.
        Lost = "lost",
        /// Retention removed it.
        Expired = "expired",
        /// A later record of its key took its place.
        Compacted = "compacted",
        /// It was deleted by request.
        Deleted = "deleted",
        /// It was sent with acks=0 and reached no log.
        NeverArrived = "never-arrived",
    }
}
