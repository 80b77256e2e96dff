//! Kafka's protocol errors by name and code.
//!
//! Mirrors `org.apache.kafka.common.protocol.Errors`: what a broker answers and a client acts upon. `NONE` is
//! absent, because here a success is an `Ok`. Errors of security, delegation tokens and share groups are absent,
//! because nothing in this house can raise them.

use std::borrow::Cow;
use std::fmt;

macro_rules! errors {
    ($($variant:ident $name:ident $code:literal $retry:ident $sentence:literal;)*) => {
        /// A protocol error of Kafka.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Errors {
            $(#[doc = concat!("`", stringify!($name), "` (", stringify!($code), "): ", $sentence)] $variant,)*
        }

        impl Errors {
            /// Every error, in the order of the codes.
            pub const ALL: &'static [Errors] = &[$(Errors::$variant,)*];

            /// Kafka's name, in capitals.
            pub fn name(self) -> &'static str {
                match self { $(Errors::$variant => stringify!($name),)* }
            }

            /// The code on the wire.
            pub fn code(self) -> i16 {
                match self { $(Errors::$variant => $code,)* }
            }

            /// What it means, in one sentence.
            pub fn sentence(self) -> &'static str {
                match self { $(Errors::$variant => $sentence,)* }
            }

            /// Whether a client may send the same request again (`RetriableException`).
            pub fn is_retriable(self) -> bool {
                match self { $(Errors::$variant => errors!(@ $retry),)* }
            }
        }
    };
    (@ retry) => { true };
    (@ final) => { false };
}

errors! {
    UnknownServerError UNKNOWN_SERVER_ERROR -1 final "the server met something it did not expect.";
    OffsetOutOfRange OFFSET_OUT_OF_RANGE 1 final "the offset lies outside what the log holds.";
    CorruptMessage CORRUPT_MESSAGE 2 retry "the record failed its checksum or has no valid size.";
    UnknownTopicOrPartition UNKNOWN_TOPIC_OR_PARTITION 3 retry "this server does not host this topic-partition.";
    InvalidFetchSize INVALID_FETCH_SIZE 4 final "the requested fetch size is invalid.";
    LeaderNotAvailable LEADER_NOT_AVAILABLE 5 retry "there is no leader for this partition at the moment.";
    NotLeaderOrFollower NOT_LEADER_OR_FOLLOWER 6 retry "this broker is not the leader (for a fetch: not even a replica).";
    RequestTimedOut REQUEST_TIMED_OUT 7 retry "the request was not finished in its time.";
    BrokerNotAvailable BROKER_NOT_AVAILABLE 8 final "the broker is not available.";
    ReplicaNotAvailable REPLICA_NOT_AVAILABLE 9 retry "the replica is not available for this topic-partition.";
    MessageTooLarge MESSAGE_TOO_LARGE 10 final "the batch is larger than max.message.bytes.";
    OffsetMetadataTooLarge OFFSET_METADATA_TOO_LARGE 12 final "the metadata of the offset commit is too large.";
    NetworkException NETWORK_EXCEPTION 13 retry "the connection was lost before an answer came.";
    CoordinatorLoadInProgress COORDINATOR_LOAD_IN_PROGRESS 14 retry "the coordinator is loading and cannot answer yet.";
    CoordinatorNotAvailable COORDINATOR_NOT_AVAILABLE 15 retry "the coordinator is not available.";
    NotCoordinator NOT_COORDINATOR 16 retry "this broker is not the coordinator of the group.";
    InvalidTopicException INVALID_TOPIC_EXCEPTION 17 final "the request named an invalid topic.";
    RecordListTooLarge RECORD_LIST_TOO_LARGE 18 final "the batch is larger than segment.bytes.";
    NotEnoughReplicas NOT_ENOUGH_REPLICAS 19 retry "fewer replicas are in sync than min.insync.replicas asks for.";
    NotEnoughReplicasAfterAppend NOT_ENOUGH_REPLICAS_AFTER_APPEND 20 retry "written, but fewer replicas are in sync than min.insync.replicas asks for.";
    InvalidRequiredAcks INVALID_REQUIRED_ACKS 21 final "acks must be 0, 1 or all.";
    IllegalGeneration ILLEGAL_GENERATION 22 final "the group generation is not the current one.";
    InconsistentGroupProtocol INCONSISTENT_GROUP_PROTOCOL 23 final "the member's protocols do not fit those of the group.";
    InvalidGroupId INVALID_GROUP_ID 24 final "the group id is invalid.";
    UnknownMemberId UNKNOWN_MEMBER_ID 25 final "the coordinator does not know this member.";
    InvalidSessionTimeout INVALID_SESSION_TIMEOUT 26 final "the session timeout is outside the broker's range.";
    RebalanceInProgress REBALANCE_IN_PROGRESS 27 final "the group is rebalancing, so a rejoin is needed.";
    InvalidTimestamp INVALID_TIMESTAMP 32 final "the timestamp is outside what the topic accepts.";
    UnsupportedVersion UNSUPPORTED_VERSION 35 final "this version of the request is not supported.";
    TopicAlreadyExists TOPIC_ALREADY_EXISTS 36 final "a topic of this name exists.";
    InvalidPartitions INVALID_PARTITIONS 37 final "the number of partitions is not valid.";
    InvalidReplicationFactor INVALID_REPLICATION_FACTOR 38 final "the replication factor is not between 1 and the number of brokers.";
    InvalidReplicaAssignment INVALID_REPLICA_ASSIGNMENT 39 final "the replica assignment is invalid.";
    InvalidConfig INVALID_CONFIG 40 final "the configuration is invalid.";
    NotController NOT_CONTROLLER 41 retry "this is not the active controller.";
    InvalidRequest INVALID_REQUEST 42 final "the request cannot be honoured as it is.";
    PolicyViolation POLICY_VIOLATION 44 final "the request violates a policy.";
    OutOfOrderSequenceNumber OUT_OF_ORDER_SEQUENCE_NUMBER 45 final "the sequence number does not follow the producer's last one.";
    DuplicateSequenceNumber DUPLICATE_SEQUENCE_NUMBER 46 final "the sequence number was seen before.";
    InvalidProducerEpoch INVALID_PRODUCER_EPOCH 47 final "a newer epoch of this producer has been seen.";
    InvalidTxnState INVALID_TXN_STATE 48 final "the operation does not fit the state of the transaction.";
    InvalidProducerIdMapping INVALID_PRODUCER_ID_MAPPING 49 final "the producer id does not belong to this transactional id.";
    InvalidTransactionTimeout INVALID_TRANSACTION_TIMEOUT 50 final "the transaction timeout exceeds the broker's limit.";
    ConcurrentTransactions CONCURRENT_TRANSACTIONS 51 retry "the transaction before this one is not finished.";
    TransactionCoordinatorFenced TRANSACTION_COORDINATOR_FENCED 52 final "the coordinator that sent this marker has been replaced.";
    OperationNotAttempted OPERATION_NOT_ATTEMPTED 55 final "an earlier failure in the same request kept this from being tried.";
    KafkaStorageError KAFKA_STORAGE_ERROR 56 retry "the disk failed while the log was accessed.";
    LogDirNotFound LOG_DIR_NOT_FOUND 57 final "the log directory is not known.";
    UnknownProducerId UNKNOWN_PRODUCER_ID 59 final "nothing is known of this producer id.";
    ReassignmentInProgress REASSIGNMENT_IN_PROGRESS 60 final "a reassignment of this partition is in progress.";
    NonEmptyGroup NON_EMPTY_GROUP 68 final "the group is not empty.";
    GroupIdNotFound GROUP_ID_NOT_FOUND 69 final "there is no such group.";
    FetchSessionIdNotFound FETCH_SESSION_ID_NOT_FOUND 70 retry "the fetch session is not known.";
    InvalidFetchSessionEpoch INVALID_FETCH_SESSION_EPOCH 71 retry "the epoch of the fetch session is invalid.";
    FencedLeaderEpoch FENCED_LEADER_EPOCH 74 retry "the leader epoch in the request is older than the broker's.";
    UnknownLeaderEpoch UNKNOWN_LEADER_EPOCH 75 retry "the leader epoch in the request is newer than the broker's.";
    UnsupportedCompressionType UNSUPPORTED_COMPRESSION_TYPE 76 final "the compression is not supported.";
    StaleBrokerEpoch STALE_BROKER_EPOCH 77 final "the broker epoch is not that of the current registration.";
    OffsetNotAvailable OFFSET_NOT_AVAILABLE 78 retry "the new leader's high watermark has not caught up yet.";
    MemberIdRequired MEMBER_ID_REQUIRED 79 final "the member must join again with the id it was given.";
    PreferredLeaderNotAvailable PREFERRED_LEADER_NOT_AVAILABLE 80 retry "the preferred leader cannot be elected.";
    GroupMaxSizeReached GROUP_MAX_SIZE_REACHED 81 final "the group is full.";
    FencedInstanceId FENCED_INSTANCE_ID 82 final "another member took over this static instance id.";
    EligibleLeadersNotAvailable ELIGIBLE_LEADERS_NOT_AVAILABLE 83 retry "no eligible leader is available.";
    ElectionNotNeeded ELECTION_NOT_NEEDED 84 retry "the leader is already the one asked for.";
    NoReassignmentInProgress NO_REASSIGNMENT_IN_PROGRESS 85 final "no reassignment is in progress.";
    GroupSubscribedToTopic GROUP_SUBSCRIBED_TO_TOPIC 86 final "the group is subscribed to this topic.";
    InvalidRecord INVALID_RECORD 87 final "the record failed the broker's validation.";
    UnstableOffsetCommit UNSTABLE_OFFSET_COMMIT 88 retry "offsets of a transaction are waiting to be completed.";
    ProducerFenced PRODUCER_FENCED 90 final "a newer producer with this transactional id exists.";
    DuplicateResource DUPLICATE_RESOURCE 92 final "the resource stands twice in the request.";
    InvalidUpdateVersion INVALID_UPDATE_VERSION 95 final "the partition epoch in the request is not the current one.";
    UnknownTopicId UNKNOWN_TOPIC_ID 100 retry "this server does not host this topic id.";
    DuplicateBrokerRegistration DUPLICATE_BROKER_REGISTRATION 101 final "a broker of this id is registered and alive.";
    BrokerIdNotRegistered BROKER_ID_NOT_REGISTERED 102 final "no broker of this id is registered.";
    InconsistentTopicId INCONSISTENT_TOPIC_ID 103 retry "the log's topic id is not the one in the request.";
    IneligibleReplica INELIGIBLE_REPLICA 107 final "the new ISR holds a replica that may not be in it.";
    NewLeaderElected NEW_LEADER_ELECTED 108 final "the change of the partition has led to a new leader.";
    FencedMemberEpoch FENCED_MEMBER_EPOCH 110 final "the member epoch is fenced, so the member must join again.";
    UnreleasedInstanceId UNRELEASED_INSTANCE_ID 111 final "the static instance id is still in use.";
    UnsupportedAssignor UNSUPPORTED_ASSIGNOR 112 final "the assignor is not supported by the coordinator.";
    StaleMemberEpoch STALE_MEMBER_EPOCH 113 final "the member must retry with the epoch of its last heartbeat.";
    InvalidRegistration INVALID_REGISTRATION 119 final "the broker cannot be registered as it asked.";
    TransactionAbortable TRANSACTION_ABORTABLE 120 final "the transaction can only be aborted.";
}

impl Errors {
    /// The error of a name in capitals, as recordings and scenarios write it.
    pub fn from_name(name: &str) -> Option<Errors> {
        Self::ALL.iter().copied().find(|error| error.name() == name)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why one record of a batch was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The record's place in the batch, from 0.
    pub batch_index: u32,
    /// `InvalidRecord` or `InvalidTimestamp`.
    pub error: Errors,
    /// What was found and what would have been accepted.
    pub message: Cow<'static, str>,
}

/// Why the log refused to do something: an error for the client and a sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error that travels to the client.
    pub error: Errors,
    /// What was found and what was expected.
    pub message: Cow<'static, str>,
    /// The records at fault, when single ones are.
    pub record_errors: Vec<RecordError>,
}

impl Refusal {
    /// A refusal of a whole request.
    pub fn new(error: Errors, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            error,
            message: message.into(),
            record_errors: Vec::new(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.message)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for pair in Errors::ALL.windows(2) {
            assert!(pair[0].code() < pair[1].code(), "{} stands before {}", pair[0], pair[1]);
        }
        for error in Errors::ALL {
            assert_eq!(Errors::from_name(error.name()), Some(*error));
        }
        assert_eq!(Errors::from_name("NONE"), None);
    }
}
