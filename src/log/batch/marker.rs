//! What stands in the record of a control batch.
//!
//! Mirrors `ControlRecordType` and `EndTransactionMarker`. A follower keeps whatever control batch its leader has, so that a
//! log can hold records that are none of the known ones; whoever reads them meets the errors that are told here.

use super::super::errors::Errors;
use super::super::record::RecordView;

/// The outcome that a transaction marker writes into the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The transaction's records become visible to `read_committed`.
    Commit,
    /// They never do.
    Abort,
}

/// A transaction marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Commit or abort.
    pub outcome: Outcome,
    /// The epoch of the coordinator that wrote it.
    pub coordinator_epoch: i32,
}

impl Marker {
    /// What the record of a control batch says, if it is a transaction marker.
    pub fn of(record: &RecordView<'_>) -> Option<Marker> {
        Self::read(record).ok()
    }

    /// The same, with the error of a broker that takes the record for a marker (`EndTransactionMarker.deserialize`).
    pub(crate) fn read(record: &RecordView<'_>) -> Result<Marker, Errors> {
        let outcome = ending(record)?.ok_or(Errors::UnknownServerError)?;
        let value = record.value.ok_or(Errors::UnknownServerError)?;
        check_version(value.first_chunk().ok_or(Errors::UnknownServerError)?)?;
        let epoch = value.get(2..).and_then(<[u8]>::first_chunk);
        let coordinator_epoch = i32::from_be_bytes(*epoch.ok_or(Errors::UnknownServerError)?);
        Ok(Marker {
            outcome,
            coordinator_epoch,
        })
    }
}

/// How a control record ends a transaction, as its key says; nothing where it is of another type. The error is that of
/// `ControlRecordType.parse`.
pub(crate) fn ending(record: &RecordView<'_>) -> Result<Option<Outcome>, Errors> {
    let key = record.key.ok_or(Errors::UnknownServerError)?;
    let [first, second, kind @ ..] = *key.first_chunk::<4>().ok_or(Errors::InvalidRecord)?;
    check_version(&[first, second])?;
    Ok(match i16::from_be_bytes(kind) {
        0 => Some(Outcome::Abort),
        1 => Some(Outcome::Commit),
        _ => None,
    })
}

/// A version above 0 is read as if it were 0.
fn check_version(version: &[u8; 2]) -> Result<(), Errors> {
    match i16::from_be_bytes(*version) {
        ..0 => Err(Errors::InvalidRecord),
        _ => Ok(()),
    }
}
