//! What travels between nodes: Kafka's requests and responses, cut down to the fields that decide something.
//!
//! A response carries the correlation id of its request, so that an answer to a request that was given up meanwhile is
//! told apart. Deliberately absent: sessions of incremental fetches, throttle times, request versions.

use std::sync::Arc;

use crate::cluster::group::protocol::{GroupRequest, GroupResponse};
use crate::cluster::ids::{BrokerId, GroupId, TopicPartition};
use crate::cluster::image::Image;
pub use crate::config::Acks;
use crate::log::{Batch, Errors};

/// Numbers the requests of one node to one peer (`correlation_id`).
pub type Correlation = u32;

/// `ProduceRequest`: at most one batch for each partition.
#[derive(Clone, Debug, PartialEq)]
pub struct ProduceRequest {
    /// When the broker answers.
    pub acks: Acks,
    /// How long the broker may wait for replication, milliseconds (`timeout.ms`).
    pub timeout_ms: i64,
    /// The batches, in the order in which they were drained.
    pub batches: Vec<(TopicPartition, Batch)>,
}

/// One partition's part of a `ProduceResponse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProduceResult {
    /// The partition.
    pub partition: TopicPartition,
    /// What went wrong, if anything did.
    pub error: Option<Errors>,
    /// Offset of the first record; with an error too, if that came after the append: the record stands in the log all the
    /// same.
    pub base_offset: Option<i64>,
    /// Append time, milliseconds, on topics that use it.
    pub log_append_time: Option<i64>,
    /// The leader that the broker knows of, with an error that says it is another one (KIP-951).
    pub current_leader: Option<(BrokerId, i32)>,
}

/// One partition's part of a `FetchRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchPartition {
    /// The partition.
    pub partition: TopicPartition,
    /// The next offset the sender wants; a follower has everything below it.
    pub offset: i64,
    /// Epoch of the sender's last record (`LastFetchedEpoch`), -1 for none.
    pub last_fetched_epoch: i32,
    /// The leader epoch the sender believes in (`CurrentLeaderEpoch`), -1 for none.
    pub current_leader_epoch: i32,
    /// The sender's log start offset, -1 for a consumer.
    pub log_start: i64,
    /// The sender's high watermark (`HighWatermark`), -1 for a consumer: what it has been told already is no news.
    pub high_watermark: i64,
    /// Most bytes wanted of this partition.
    pub max_bytes: i32,
}

/// `FetchRequest`, of a follower or a consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest {
    /// The follower's broker epoch; `None` for a consumer.
    pub replica_epoch: Option<i64>,
    /// Longest wait at the broker, milliseconds.
    pub max_wait_ms: i64,
    /// Fewest bytes worth an early answer.
    pub min_bytes: i32,
    /// Most bytes wanted altogether.
    pub max_bytes: i32,
    /// Whether only records of finished transactions are wanted.
    pub isolation: Isolation,
    /// What is wanted.
    pub partitions: Vec<FetchPartition>,
}

/// How far a reader may see (`isolation.level`; a follower sees the log end).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Up to the log end: followers.
    LogEnd,
    /// Up to the high watermark.
    Uncommitted,
    /// Up to the last stable offset.
    Committed,
}

/// One partition's part of a `FetchResponse`.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchResult {
    /// The partition.
    pub partition: TopicPartition,
    /// What went wrong, if anything did.
    pub error: Option<Errors>,
    /// The leader's high watermark when the log was read.
    pub high_watermark: i64,
    /// The leader's log start offset.
    pub log_start: i64,
    /// Where the sender's log leaves the leader's: epoch and its end offset (`DivergingEpoch`).
    pub diverging: Option<(i32, i64)>,
    /// The leader that the broker knows of, with an error that says it is another one.
    pub current_leader: Option<(BrokerId, i32)>,
    /// Whole batches; the first may start below the wanted offset.
    pub batches: Vec<Batch>,
}

/// `AlterPartition` for one partition: the ISR that its leader asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterPartition {
    /// The partition.
    pub partition: TopicPartition,
    /// Epoch of the leader that asks.
    pub leader_epoch: i32,
    /// Partition epoch the leader knows.
    pub partition_epoch: i32,
    /// The wanted ISR with each member's broker epoch, -1 for unknown.
    pub isr: Vec<(BrokerId, i64)>,
}

/// The controller's answer for one partition of an `AlterPartition`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterPartitionResult {
    /// Accepted; the state as it now stands.
    Ok {
        /// The leader.
        leader: Option<BrokerId>,
        /// The leader epoch.
        leader_epoch: i32,
        /// The ISR.
        isr: Vec<BrokerId>,
        /// The partition epoch.
        partition_epoch: i32,
        /// Whether the leader still counts as recovering.
        recovering: bool,
    },
    /// Refused.
    Err(Errors),
}

/// What a `ListOffsets` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The log start (-2).
    Earliest,
    /// The end as far as the isolation allows (-1).
    Latest,
    /// The record with the greatest timestamp (-3).
    MaxTimestamp,
    /// The first record at or after a time, milliseconds.
    Timestamp(i64),
}

/// Where an asked offset was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundOffset {
    /// The offset.
    pub offset: i64,
    /// The leader epoch that goes with it, where it is known.
    pub leader_epoch: Option<i32>,
}

/// Everything that travels.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Client to broker.
    Produce(Correlation, Arc<ProduceRequest>),
    /// Broker to client; none for `acks=0`.
    ProduceResponse(Correlation, Vec<ProduceResult>),
    /// Follower or consumer to leader.
    Fetch(Correlation, Arc<FetchRequest>),
    /// Leader to follower or consumer. A whole-request error (`None` partitions) cannot happen in the model.
    FetchResponse(Correlation, Vec<FetchResult>),
    /// Leader to controller, with the sender's broker epoch. One is on its way at a time.
    AlterPartition(Correlation, i64, Vec<AlterPartition>),
    /// Controller to leader; an error concerns the whole request.
    AlterPartitionResponse(Correlation, Result<Vec<(TopicPartition, AlterPartitionResult)>, Errors>),
    /// Broker to controller: a process registers. `previous_epoch` stands in the clean-shutdown marker (-1 without one).
    Register(Correlation, Registration),
    /// Controller to broker: the broker epoch.
    RegisterResponse(Correlation, Result<i64, Errors>),
    /// Broker to controller. Heartbeats that change nothing are computed and never travel.
    Heartbeat(Correlation, Heartbeat),
    /// Controller to broker.
    HeartbeatResponse(Correlation, Result<HeartbeatAnswer, Errors>),
    /// Controller to broker: the metadata log up to some offset, as an image.
    Metadata(Arc<Image>),
    /// Client to broker: what do you know?
    MetadataRequest(Correlation),
    /// Broker to client: what it knows.
    MetadataResponse(Correlation, Arc<Image>),
    /// Consumer to leader, or follower to leader after an out-of-range fetch. Partition, current leader epoch (-1 none), what.
    ListOffsets(Correlation, Isolation, Vec<(TopicPartition, i32, OffsetSpec)>),
    /// Leader to consumer or follower: offset, or `None` where no record is that young.
    ListOffsetsResponse(Correlation, Vec<(TopicPartition, Result<Option<FoundOffset>, Errors>)>),
    /// Consumer to leader: where does this epoch end? Partition, current leader epoch (-1 none), epoch asked for.
    EpochEnd(Correlation, Vec<(TopicPartition, i32, i32)>),
    /// Leader to consumer: epoch and end offset (-1, -1 for unknown).
    EpochEndResponse(Correlation, Vec<(TopicPartition, Result<(i32, i64), Errors>)>),
    /// Consumer to any broker: who coordinates this group?
    FindCoordinator(Correlation, GroupId),
    /// Broker to consumer; with the offset of the image that it knows by.
    FindCoordinatorResponse(Correlation, Result<BrokerId, Errors>, i64),
    /// Consumer to coordinator.
    Group(Correlation, Box<GroupRequest>),
    /// Coordinator to consumer.
    GroupResponse(Correlation, Box<GroupResponse>),
    /// The sender's end of the connection was closed: what it sent before stands in front of this.
    Closed,
}

/// `BrokerRegistrationRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Numbers the processes of this broker.
    pub incarnation: u64,
    /// Broker epoch found in the clean-shutdown marker, -1 without one.
    pub previous_epoch: i64,
    /// Numbers the formattings of its data directory.
    pub directory: u32,
}

/// `BrokerHeartbeatRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The sender's broker epoch.
    pub epoch: i64,
    /// Offset of the metadata log the sender has applied.
    pub metadata_offset: i64,
    /// What the sender wants.
    pub want: HeartbeatWant,
}

/// What a heartbeat asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatWant {
    /// To be, or stay, unfenced.
    Unfence,
    /// A controlled shutdown.
    ShutDown,
    /// To report a new data directory for its partitions (`AssignReplicasToDirs`, told with a heartbeat here).
    AssignDirectory(u32),
}

/// `BrokerHeartbeatResponse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatAnswer {
    /// Whether the sender is fenced.
    pub fenced: bool,
    /// Whether the sender may exit now.
    pub should_shut_down: bool,
}

/// The kinds that a scenario can name (`deliver`, `drop`), and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is the name of the message")]
pub enum MessageKind {
    Produce,
    ProduceResponse,
    Fetch,
    FetchResponse,
    AlterPartition,
    AlterPartitionResponse,
    Heartbeat,
    HeartbeatResponse,
    Metadata,
    MetadataRequest,
    Register,
    RegisterResponse,
    ListOffsets,
    ListOffsetsResponse,
    EpochEnd,
    EpochEndResponse,
    Closed,
    FindCoordinator,
    FindCoordinatorResponse,
    JoinGroup,
    JoinGroupResponse,
    SyncGroup,
    SyncGroupResponse,
    GroupHeartbeat,
    GroupHeartbeatResponse,
    LeaveGroup,
    LeaveGroupResponse,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetFetch,
    OffsetFetchResponse,
}

impl MessageKind {
    /// The kind's name in scenarios and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            MessageKind::Produce => "produce",
            MessageKind::ProduceResponse => "produce-response",
            MessageKind::Fetch => "fetch",
            MessageKind::FetchResponse => "fetch-response",
            MessageKind::AlterPartition => "alter-partition",
            MessageKind::AlterPartitionResponse => "alter-partition-response",
            MessageKind::Heartbeat => "heartbeat",
            MessageKind::HeartbeatResponse => "heartbeat-response",
            MessageKind::Metadata => "metadata",
            MessageKind::MetadataRequest => "metadata-request",
            MessageKind::Register => "register",
            MessageKind::RegisterResponse => "register-response",
            MessageKind::ListOffsets => "list-offsets",
            MessageKind::ListOffsetsResponse => "list-offsets-response",
            MessageKind::EpochEnd => "epoch-end",
            MessageKind::EpochEndResponse => "epoch-end-response",
            MessageKind::FindCoordinator => "find-coordinator",
            MessageKind::FindCoordinatorResponse => "find-coordinator-response",
            MessageKind::JoinGroup => "join-group",
            MessageKind::JoinGroupResponse => "join-group-response",
            MessageKind::SyncGroup => "sync-group",
            MessageKind::SyncGroupResponse => "sync-group-response",
            MessageKind::GroupHeartbeat => "group-heartbeat",
            MessageKind::GroupHeartbeatResponse => "group-heartbeat-response",
            MessageKind::LeaveGroup => "leave-group",
            MessageKind::LeaveGroupResponse => "leave-group-response",
            MessageKind::OffsetCommit => "offset-commit",
            MessageKind::OffsetCommitResponse => "offset-commit-response",
            MessageKind::OffsetFetch => "offset-fetch",
            MessageKind::OffsetFetchResponse => "offset-fetch-response",
            MessageKind::Closed => "closed",
        }
    }
}

impl Message {
    /// Which kind of message this is; a metadata answer to a client counts as `metadata` like the controller's news.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Message::Produce(..) => MessageKind::Produce,
            Message::ProduceResponse(..) => MessageKind::ProduceResponse,
            Message::Fetch(..) => MessageKind::Fetch,
            Message::FetchResponse(..) => MessageKind::FetchResponse,
            Message::AlterPartition(..) => MessageKind::AlterPartition,
            Message::AlterPartitionResponse(..) => MessageKind::AlterPartitionResponse,
            Message::Register(..) => MessageKind::Register,
            Message::RegisterResponse(..) => MessageKind::RegisterResponse,
            Message::Heartbeat(..) => MessageKind::Heartbeat,
            Message::HeartbeatResponse(..) => MessageKind::HeartbeatResponse,
            Message::Metadata(_) | Message::MetadataResponse(..) => MessageKind::Metadata,
            Message::MetadataRequest(_) => MessageKind::MetadataRequest,
            Message::ListOffsets(..) => MessageKind::ListOffsets,
            Message::ListOffsetsResponse(..) => MessageKind::ListOffsetsResponse,
            Message::EpochEnd(..) => MessageKind::EpochEnd,
            Message::EpochEndResponse(..) => MessageKind::EpochEndResponse,
            Message::FindCoordinator(..) => MessageKind::FindCoordinator,
            Message::FindCoordinatorResponse(..) => MessageKind::FindCoordinatorResponse,
            Message::Group(_, request) => kind_of_request(request),
            Message::GroupResponse(_, response) => kind_of_response(response),
            Message::Closed => MessageKind::Closed,
        }
    }

    /// The first partition it concerns, which orders simultaneous messages.
    pub fn partition(&self) -> Option<TopicPartition> {
        match self {
            Message::Produce(_, r) => r.batches.first().map(|b| b.0),
            Message::ProduceResponse(_, r) => r.first().map(|p| p.partition),
            Message::Fetch(_, r) => r.partitions.first().map(|p| p.partition),
            Message::FetchResponse(_, r) => r.first().map(|p| p.partition),
            Message::AlterPartition(_, _, r) => r.first().map(|p| p.partition),
            Message::ListOffsets(_, _, r) => r.first().map(|p| p.0),
            Message::ListOffsetsResponse(_, r) => r.first().map(|p| p.0),
            Message::EpochEnd(_, r) => r.first().map(|p| p.0),
            Message::EpochEndResponse(_, r) => r.first().map(|p| p.0),
            _ => None,
        }
    }
}

const fn kind_of_request(request: &GroupRequest) -> MessageKind {
    match request {
        GroupRequest::Join(_) => MessageKind::JoinGroup,
        GroupRequest::Sync(..) => MessageKind::SyncGroup,
        GroupRequest::Heartbeat(..) | GroupRequest::ConsumerBeat(_) => MessageKind::GroupHeartbeat,
        GroupRequest::Leave(_) => MessageKind::LeaveGroup,
        GroupRequest::Commit(..) => MessageKind::OffsetCommit,
        GroupRequest::FetchOffsets(..) => MessageKind::OffsetFetch,
    }
}

const fn kind_of_response(response: &GroupResponse) -> MessageKind {
    match response {
        GroupResponse::Join(_) => MessageKind::JoinGroupResponse,
        GroupResponse::Sync(_) => MessageKind::SyncGroupResponse,
        GroupResponse::Heartbeat(_) | GroupResponse::ConsumerBeat(_) => MessageKind::GroupHeartbeatResponse,
        GroupResponse::Leave(_) => MessageKind::LeaveGroupResponse,
        GroupResponse::Commit(_) => MessageKind::OffsetCommitResponse,
        GroupResponse::FetchOffsets(_) => MessageKind::OffsetFetchResponse,
    }
}
