//! The story of one record: when it was handed over, where it was appended, what its sender was told, what took each copy.
//!
//! Only facts stand here. What they amount to at present (is it lost?) depends on who leads now.

use crate::cluster::event::Outcome;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::config::Acks;
use crate::log::Batch;

/// A moment of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct When {
    /// Virtual time, microseconds.
    pub at: Micros,
    /// Number of the input that the event belongs to, from 1.
    pub step: u64,
}

/// A place in a log that a leader gave to a record. A record has two when it was sent twice and not recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The partition.
    pub partition: TopicPartition,
    /// The offset.
    pub offset: i64,
    /// The epoch of the leader that gave it.
    pub epoch: i32,
    /// Who that leader was.
    pub leader: BrokerId,
    /// When.
    pub when: When,
}

/// How a copy of a record went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Its replica followed a leader that did not have it.
    Truncated,
    /// It was in page cache only when the host lost power.
    PowerLost,
    /// It lay behind damage that recovery found.
    Dropped,
    /// The disk was lost.
    Wiped,
    /// Retention removed its segment.
    Expired,
    /// It lay below the offset of a request to delete records.
    Deleted,
    /// The cleaner removed it.
    Compacted,
}

impl How {
    /// As a sentence goes on after "broker 1's copy …".
    pub const fn words(self) -> &'static str {
        match self {
            How::Truncated => "was truncated",
            How::PowerLost => "was in page cache only when the power went",
            How::Dropped => "was dropped by recovery, behind a damaged batch",
            How::Wiped => "went with the disk",
            How::Expired => "was removed by retention",
            How::Deleted => "was deleted by request",
            How::Compacted => "was compacted away",
        }
    }
}

/// An event that took one copy of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// On whose disk the copy was.
    pub broker: BrokerId,
    /// At which offset.
    pub offset: i64,
    /// How it went.
    pub how: How,
    /// The rule that decided it.
    pub rule: Rule,
    /// When.
    pub when: When,
}

/// What is known of one record.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// When the application handed it to its producer.
    pub handed: When,
    /// The partition it goes to, once that is known.
    pub partition: Option<TopicPartition>,
    /// How often it left in a produce request.
    pub attempts: u32,
    /// The `acks` of the request in which it left last: what a yes means for it.
    pub acks: Option<Acks>,
    /// Every place that a leader gave to it, in order of time.
    pub places: Vec<Place>,
    /// What the application was told, and when.
    pub told: Option<(When, Outcome)>,
    /// Every copy that went, in order of time.
    pub taken: Vec<Taken>,
    /// The batch of its first append and its index there: where its bytes are.
    pub(super) bytes: Option<(Batch, u32)>,
}

impl Story {
    /// From hand-over to decision, microseconds.
    pub fn latency(&self) -> Option<Micros> {
        self.told.map(|(when, _)| when.at - self.handed.at)
    }

    /// The offset of an acknowledgement, or else the latest that a leader gave.
    pub fn offset(&self) -> Option<i64> {
        self.acknowledged()
            .filter(|offset| *offset >= 0)
            .or(self.places.last().map(|place| place.offset))
    }

    /// The acknowledged offset, -1 if the broker no longer knew it; `None` if it was not acknowledged.
    pub fn acknowledged(&self) -> Option<i64> {
        match self.told {
            Some((_, Outcome::Acked(offset))) => Some(offset),
            _ => None,
        }
    }

    /// Whether it was handed over: numbers are given in advance to what a script is going to send.
    pub fn is_handed(&self) -> bool {
        self.handed.step > 0
    }

    /// Whether a copy went in this way.
    pub fn ended(&self, how: How) -> bool {
        self.taken.iter().any(|taken| taken.how == how)
    }
}
