//! The names of Kafka's errors, as an expectation may spell them.
//!
//! Those that the model gives have their meaning in [`Errors`]; the others are Kafka's all the same, so that whoever expects
//! one that never comes is told what came, and not that there is no such error.

use crate::cluster::event::ReadError;
use crate::log::Errors;

/// The names of all errors.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let given = Errors::ALL.iter().map(|error| error.name());
    given
        .chain(std::iter::once(ReadError::NoOffset.name()))
        .chain(NEVER_GIVEN.iter().copied())
}

/// Errors of parts of Kafka that the model does not have: security, quotas, share groups, streams, KRaft's own quorum.
#[rustfmt::skip] // In the order of their codes.
const NEVER_GIVEN: &[&str] = &[
    "STALE_CONTROLLER_EPOCH", "INVALID_COMMIT_OFFSET_SIZE", "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED",
    "CLUSTER_AUTHORIZATION_FAILED", "UNSUPPORTED_SASL_MECHANISM", "ILLEGAL_SASL_STATE",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "SECURITY_DISABLED",
    "SASL_AUTHENTICATION_FAILED", "DELEGATION_TOKEN_AUTH_DISABLED", "DELEGATION_TOKEN_NOT_FOUND",
    "DELEGATION_TOKEN_OWNER_MISMATCH", "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
    "DELEGATION_TOKEN_EXPIRED", "INVALID_PRINCIPAL_TYPE", "LISTENER_NOT_FOUND", "TOPIC_DELETION_DISABLED",
    "THROTTLING_QUOTA_EXCEEDED", "RESOURCE_NOT_FOUND", "UNACCEPTABLE_CREDENTIAL", "INCONSISTENT_VOTER_SET",
    "FEATURE_UPDATE_FAILED", "PRINCIPAL_DESERIALIZATION_FAILURE", "SNAPSHOT_NOT_FOUND", "POSITION_OUT_OF_RANGE",
    "INCONSISTENT_CLUSTER_ID", "TRANSACTIONAL_ID_NOT_FOUND", "FETCH_SESSION_TOPIC_ID_ERROR",
    "OFFSET_MOVED_TO_TIERED_STORAGE", "MISMATCHED_ENDPOINT_TYPE", "UNSUPPORTED_ENDPOINT_TYPE", "UNKNOWN_CONTROLLER_ID",
    "UNKNOWN_SUBSCRIPTION_ID", "TELEMETRY_TOO_LARGE", "INVALID_RECORD_STATE", "SHARE_SESSION_NOT_FOUND",
    "INVALID_SHARE_SESSION_EPOCH", "FENCED_STATE_EPOCH", "INVALID_VOTER_KEY", "DUPLICATE_VOTER", "VOTER_NOT_FOUND",
    "INVALID_REGULAR_EXPRESSION", "REBOOTSTRAP_REQUIRED", "STREAMS_INVALID_TOPOLOGY", "STREAMS_INVALID_TOPOLOGY_EPOCH",
    "STREAMS_TOPOLOGY_FENCED", "SHARE_SESSION_LIMIT_REACHED",
];
