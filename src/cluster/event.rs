//! What happened, in the field's terms, with everything a view needs. Each event carries the rule that decided it.
//!
//! Events are told, never read back by the engine: the soak leaves them out and nothing else changes. A record is named
//! by its [`Tag`], which travels with its bytes from the producer to every replica.

use std::sync::Arc;

use crate::cluster::actor::{Timer, TimerKind};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::message::{Acks, MessageKind};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::{Batch, Errors, Remade, RemovedRecord};

/// A record's name: the client that sent it and its number, from 1 (`P#N`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// The producer.
    pub client: ClientId,
    /// Its number among the records of that producer, from 1.
    pub number: u32,
}

impl Tag {
    /// As it travels with a batch.
    pub const fn to_bits(self) -> u64 {
        (self.client.0 as u64) << 32 | self.number as u64
    }

    /// Back from a batch.
    pub const fn from_bits(bits: u64) -> Tag {
        Tag {
            client: ClientId((bits >> 32) as u16),
            number: bits as u32,
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in virtual time.
    pub at: Micros,
    /// The rule that decided it.
    pub rule: Rule,
    /// What it was.
    pub what: What,
}

/// Where a caller wants events to go.
pub trait Sink {
    /// The buffer to append to, or `None` when nobody listens.
    fn buffer(&mut self) -> Option<&mut Vec<Event>>;
}

impl Sink for Vec<Event> {
    fn buffer(&mut self) -> Option<&mut Vec<Event>> {
        Some(self)
    }
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Sink for Silent {
    fn buffer(&mut self) -> Option<&mut Vec<Event>> {
        None
    }
}

/// What a producer's application was told about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledged; the offset is unknown (-1) after a duplicate that the broker no longer remembers.
    Acked(i64),
    /// Handed to the network with `acks=0`: nothing more will be said.
    Sent,
    /// Failed with this error.
    Failed(Errors),
}

/// What a consumer's application saw go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// A broker answered with this error, and the client did not cure it by itself.
    Answered(Errors),
    /// There is no position, and `auto.offset.reset=none` (`NoOffsetForPartitionException`).
    NoOffset,
}

impl ReadError {
    /// Its name in capitals, as scenarios and recordings write it.
    pub fn name(self) -> &'static str {
        match self {
            ReadError::Answered(error) => error.name(),
            ReadError::NoOffset => "NO_OFFSET_FOR_PARTITION",
        }
    }
}

/// Why a member is in its group no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It said so.
    Left,
    /// It was not heard for a whole session.
    SessionEnded,
    /// It did not take part in a rebalance in time.
    DidNotRejoin,
    /// It did not give up its partitions in time.
    DidNotRevoke,
    /// A newer process has taken over its `group.instance.id`.
    Replaced,
}

/// Why partitions were taken from a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It gave them up in good order.
    Revoked,
    /// It is no longer a member, and others may have them already.
    Lost,
}

/// How a replica came by a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendedAs {
    /// It leads and assigned the offsets.
    Leader,
    /// It copied its leader.
    Follower,
}

/// Why a message did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostBy {
    /// The path is cut.
    Cut,
    /// The receiver is down.
    Down,
    /// A fault dropped it.
    Dropped,
}

/// What was done to a file of a broker that is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Its last batch, in this segment's log, was cut: so many of its bytes are left.
    Torn {
        /// The segment's base offset.
        segment: i64,
        /// Bytes that are left of the batch.
        left: u64,
        /// Bytes that it had.
        of: u64,
    },
    /// Nothing of its log at or above this offset is left, or half of a batch.
    Shortened {
        /// The offset.
        from: i64,
    },
    /// The byte at a position of a segment's log was inverted.
    Flipped {
        /// The segment's base offset.
        segment: i64,
        /// In bytes, from 0.
        position: u64,
    },
    /// The file of this name was removed.
    Removed(Arc<str>),
    /// What a checkpoint file said of the partition is lost.
    Checkpoint,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Killed: the page cache stays.
    Killed,
    /// The host lost power: the page cache is gone.
    PoweredOff,
    /// Controlled shutdown: everything flushed, the clean marker written.
    Stopped,
}

/// Why a segment went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// `retention.ms`.
    Time,
    /// `retention.bytes`.
    Size,
    /// Wholly below the log start offset.
    LogStart,
}

/// What a broker's process is, as the controller and the operator see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerState {
    /// No process, or no power.
    Down,
    /// The process recovers its logs and registers.
    Starting,
    /// Registered, but the controller lets it neither lead nor follow in an ISR.
    Fenced,
    /// Registered and unfenced.
    Up,
    /// The process is frozen.
    Paused,
    /// A controlled shutdown is under way.
    Stopping,
}

impl BrokerState {
    /// The state's name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            BrokerState::Down => "down",
            BrokerState::Starting => "starting",
            BrokerState::Fenced => "fenced",
            BrokerState::Up => "up",
            BrokerState::Paused => "paused",
            BrokerState::Stopping => "stopping",
        }
    }
}

/// What set a step off. The first event of every step of `Next` or `Run` is one of these.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// A message arrived.
    Delivered {
        /// The sender.
        from: Node,
        /// The receiver.
        to: Node,
        /// What it is.
        kind: MessageKind,
    },
    /// A timer fired.
    Fired {
        /// Whose.
        node: Node,
        /// Which.
        timer: Timer,
    },
}

/// What happened. Fields are named by what they hold: `broker`, `partition`, offsets `from` and `to`, record tags.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "each variant says what it is, and its fields are named by what they hold"
)]
pub enum What {
    /// Why this step happened at all.
    Step(Cause),

    // Clients.
    /// The application handed a record to its producer.
    Handed {
        tag: Tag,
        topic_partition: Option<TopicPartition>,
    },
    /// The producer chose the partition and put the record into a batch.
    Accumulated { tag: Tag, partition: TopicPartition },
    /// A produce request left; the tags are those of all its records. `attempt` counts from 1 (the highest among its batches).
    ProduceSent {
        client: ClientId,
        to: BrokerId,
        acks: Acks,
        attempt: u32,
        batches: Vec<(TopicPartition, Arc<[u64]>)>,
    },
    /// The producer will try these records again.
    WillRetry {
        client: ClientId,
        partition: TopicPartition,
        tags: Arc<[u64]>,
        error: Errors,
    },
    /// The application was told.
    Told {
        tag: Tag,
        partition: Option<TopicPartition>,
        outcome: Outcome,
    },
    /// The client knows newer metadata.
    MetadataLearnt { client: ClientId, offset: i64 },
    /// The application got records: offsets and tags in order.
    Read {
        client: ClientId,
        partition: TopicPartition,
        records: Vec<(i64, u64)>,
    },
    /// A consumer's position moved without reading (first position, seek, reset).
    Positioned {
        client: ClientId,
        partition: TopicPartition,
        offset: i64,
    },
    /// The application saw an error.
    ConsumerError {
        client: ClientId,
        partition: Option<TopicPartition>,
        error: ReadError,
    },
    /// A consumer was given partitions by its group: all that it has now.
    Assigned {
        client: ClientId,
        group: GroupId,
        generation: i32,
        partitions: Vec<TopicPartition>,
    },
    /// Partitions were taken from a consumer.
    PartitionsTaken {
        client: ClientId,
        group: GroupId,
        by: Loss,
        partitions: Vec<TopicPartition>,
    },
    /// A consumer has found its group's coordinator.
    CoordinatorFound {
        client: ClientId,
        group: GroupId,
        broker: BrokerId,
    },
    /// A consumer sent its positions to be remembered.
    CommitSent {
        client: ClientId,
        group: GroupId,
        offsets: Vec<(TopicPartition, i64)>,
    },
    /// A member's application has not polled for too long, and so the member goes.
    PollIntervalPassed { client: ClientId },
    /// A client's process ended or began.
    ClientEnded { client: ClientId },
    /// A client's process began.
    ClientStarted { client: ClientId },

    // The data plane.
    /// A batch was appended to a replica's page cache.
    Appended {
        broker: BrokerId,
        partition: TopicPartition,
        by: AppendedAs,
        batch: Batch,
    },
    /// A retry was recognised: nothing appended, the first answer is given again.
    Duplicate {
        broker: BrokerId,
        partition: TopicPartition,
        base: i64,
        last: i64,
        tags: Arc<[u64]>,
    },
    /// The broker refused a batch.
    Refused {
        broker: BrokerId,
        partition: TopicPartition,
        tags: Arc<[u64]>,
        error: Errors,
    },
    /// A write with `acks=all` waits for the high watermark to reach `required`.
    AckWaits {
        broker: BrokerId,
        partition: TopicPartition,
        required: i64,
    },
    /// The broker answered a produce request.
    Answered {
        broker: BrokerId,
        client: ClientId,
        partition: TopicPartition,
        tags: Arc<[u64]>,
        result: Result<i64, Errors>,
    },
    /// The broker closed a client's connection.
    Disconnected { broker: BrokerId, client: ClientId },
    /// A fetch was answered with records, or with news.
    FetchAnswered {
        broker: BrokerId,
        to: Node,
        partition: TopicPartition,
        from_offset: i64,
        next_offset: i64,
        high_watermark: i64,
    },
    /// A replica's high watermark changed.
    HighWatermark {
        broker: BrokerId,
        partition: TopicPartition,
        from: i64,
        to: i64,
    },
    /// A replica's log start offset changed.
    LogStart {
        broker: BrokerId,
        partition: TopicPartition,
        from: i64,
        to: i64,
    },
    /// The leader asked the controller for another ISR.
    IsrProposed {
        broker: BrokerId,
        partition: TopicPartition,
        from: Vec<BrokerId>,
        to: Vec<BrokerId>,
    },
    /// News that told the leader nothing new have replaced the ISR that it asked for and was not answered about.
    IsrForgotten {
        broker: BrokerId,
        partition: TopicPartition,
        isr: Vec<BrokerId>,
    },
    /// The controller refused it.
    IsrRefused {
        broker: BrokerId,
        partition: TopicPartition,
        error: Errors,
    },
    /// A replica took up the role of leader.
    BecameLeader {
        broker: BrokerId,
        partition: TopicPartition,
        epoch: i32,
        start: i64,
    },
    /// A replica follows.
    BecameFollower {
        broker: BrokerId,
        partition: TopicPartition,
        leader: Option<BrokerId>,
        epoch: i32,
    },
    /// A follower's fetch diverged: where the leader's epoch ends.
    Diverged {
        broker: BrokerId,
        partition: TopicPartition,
        epoch: i32,
        end: i64,
    },
    /// Records were cut off a replica's log, from offset `to` on.
    Truncated {
        broker: BrokerId,
        partition: TopicPartition,
        to: i64,
        from: i64,
        cut: Vec<(i64, u64)>,
    },

    // Groups.
    /// A member joined its group.
    MemberJoined {
        broker: BrokerId,
        group: GroupId,
        client: ClientId,
        member: Arc<str>,
    },
    /// A member is in its group no longer.
    MemberLeft {
        broker: BrokerId,
        group: GroupId,
        client: ClientId,
        why: Departure,
    },
    /// A group gathers its members anew.
    RebalanceBegun {
        broker: BrokerId,
        group: GroupId,
        generation: i32,
    },
    /// A group has gathered: this is the new generation.
    GenerationFormed {
        broker: BrokerId,
        group: GroupId,
        generation: i32,
        protocol: &'static str,
        members: Vec<ClientId>,
    },
    /// Every member of a generation has its share.
    GroupStable {
        broker: BrokerId,
        group: GroupId,
        generation: i32,
    },
    /// A group under the consumer protocol has another epoch, and wants another assignment.
    GroupEpochRaised {
        broker: BrokerId,
        group: GroupId,
        epoch: i32,
    },
    /// The coordinator has computed a target assignment.
    TargetAssigned {
        broker: BrokerId,
        group: GroupId,
        epoch: i32,
        assignor: &'static str,
    },
    /// The coordinator leads a member on towards its target.
    MemberMoved {
        broker: BrokerId,
        group: GroupId,
        client: ClientId,
        epoch: i32,
        state: &'static str,
        assigned: Vec<TopicPartition>,
        revoking: Vec<TopicPartition>,
    },
    /// A group's offsets count from now on; without an offset, they are forgotten.
    OffsetsCommitted {
        broker: BrokerId,
        group: GroupId,
        client: Option<ClientId>,
        offsets: Vec<(Arc<str>, u32, Option<i64>)>,
    },
    /// Commits of a group without members have expired.
    OffsetsExpired {
        broker: BrokerId,
        group: GroupId,
        partitions: u32,
    },
    /// A new coordinator has read its partition of `__consumer_offsets`.
    GroupsLoaded {
        broker: BrokerId,
        partition: TopicPartition,
        groups: u32,
    },

    // Storage.
    /// A new active segment began.
    Rolled {
        broker: BrokerId,
        partition: TopicPartition,
        base: i64,
    },
    /// Everything below `to` is on disk.
    Flushed {
        broker: BrokerId,
        partition: TopicPartition,
        from: i64,
        to: i64,
    },
    /// A segment's records are gone.
    SegmentDeleted {
        broker: BrokerId,
        partition: TopicPartition,
        base: i64,
        next: i64,
        by: Expiry,
    },
    /// A log was compacted from `from` to `to`: which offsets below `to` stay, as ranges; which records went, and why.
    Compacted {
        broker: BrokerId,
        partition: TopicPartition,
        from: i64,
        to: i64,
        kept: Vec<(i64, i64)>,
        gone: Vec<RemovedRecord>,
    },
    /// Files whose delay had passed were removed.
    FilesRemoved {
        broker: BrokerId,
        partition: TopicPartition,
    },
    /// A log was loaded after a start. What was dropped: the bytes behind the cut with those of the segments that went
    /// whole, which segments these are, and the records, as far as their batches' headers tell. And which segments had an
    /// index that was made anew.
    Recovered {
        broker: BrokerId,
        partition: TopicPartition,
        clean: bool,
        leo: i64,
        dropped_bytes: i64,
        dropped_segments: Vec<i64>,
        cut: Vec<(i64, u64)>,
        remade: Vec<(i64, Remade)>,
    },
    /// Checkpoints were written.
    Checkpointed { broker: BrokerId },

    // The controller.
    /// A partition's leader changed.
    LeaderElected {
        partition: TopicPartition,
        from: Option<BrokerId>,
        to: Option<BrokerId>,
        epoch: i32,
    },
    /// A partition's ISR changed.
    IsrChanged {
        partition: TopicPartition,
        from: Vec<BrokerId>,
        to: Vec<BrokerId>,
    },
    /// A partition's eligible leader replicas changed.
    ElrChanged {
        partition: TopicPartition,
        from: Vec<BrokerId>,
        to: Vec<BrokerId>,
    },
    /// A partition's assignment changed.
    Reassigned {
        partition: TopicPartition,
        from: Vec<BrokerId>,
        to: Vec<BrokerId>,
    },
    /// A broker registered.
    Registered { broker: BrokerId, epoch: i64 },
    /// A broker's new process waits for the end of the old one's session.
    RegistrationWaits { broker: BrokerId },
    /// A broker was fenced.
    Fenced { broker: BrokerId },
    /// A broker was unfenced.
    Unfenced { broker: BrokerId },
    /// A broker may shut down, or is leaving.
    ShuttingDown { broker: BrokerId },

    // Processes, hosts, wires.
    /// A broker's state as seen from outside.
    State {
        broker: BrokerId,
        from: BrokerState,
        to: BrokerState,
    },
    /// A broker's process ended. For every partition: what was in page cache only and is gone with a power loss.
    BrokerEnded {
        broker: BrokerId,
        how: Ended,
        lost: Vec<(TopicPartition, i64, i64, Vec<(i64, u64)>)>,
    },
    /// A broker's disk was lost and formatted anew. What it held, by partition.
    Wiped {
        broker: BrokerId,
        lost: Vec<(TopicPartition, Vec<(i64, u64)>)>,
    },
    /// The controller quorum went or came back.
    ControllerState { up: bool },
    /// A message will not arrive.
    MessageLost {
        from: Node,
        to: Node,
        kind: MessageKind,
        by: LostBy,
    },
    /// Paths were cut or healed.
    Links { cut: bool, pairs: Vec<(Node, Node)> },
    /// A node was slowed (1 ends it).
    Slowed { node: Node, factor: u32 },
    /// A file was damaged.
    Damaged {
        broker: BrokerId,
        partition: TopicPartition,
        damage: Damage,
    },

    // The operator.
    /// A topic was created, with its id's partitions known to everybody.
    TopicCreated { topic: Arc<str>, partitions: u32 },
    /// A topic was deleted, with these partitions.
    TopicDeleted {
        topic: Arc<str>,
        partitions: Vec<TopicPartition>,
    },
    /// A config was changed, at once and everywhere; `real` says when a real Kafka would have read it.
    Configured {
        target: String,
        name: String,
        value: String,
        real: ConfigReach,
    },
    /// What the operator's act was answered.
    Operator { act: &'static str, answer: Option<Errors> },
    /// A timer found nothing worth telling more about.
    Nothing { node: Node, timer: TimerKind },
}

/// When a real Kafka reads a config that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigReach {
    /// While it runs.
    Dynamic,
    /// Only when the process starts.
    AtStart,
}
