//! Moments of a run that one wants to jump to.

use crate::cluster::event::{Ended, Event, Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::sorted::SortedSet;

/// Why a step is marked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A producer was told that a record is safe.
    Acknowledged(Tag),
    /// A producer was told an error, or a broker refused a record.
    Refused(Tag),
    /// Acknowledged records are gone that were there a step before.
    Lost(Vec<Tag>),
    /// A broker's process ended other than by a clean stop, or its disk was lost.
    Crash(BrokerId),
    /// A partition has another leader, or none.
    Election(TopicPartition, Option<BrokerId>),
    /// A partition's in-sync replicas changed.
    IsrChange(TopicPartition),
    /// Records were cut off a replica's log.
    Truncation(TopicPartition, BrokerId),
    /// A replica began a new segment.
    Roll(TopicPartition, BrokerId),
    /// Retention or a request removed records of a replica.
    Deletion(TopicPartition, BrokerId),
    /// A replica's log was compacted, and records of it went.
    Compaction(TopicPartition, BrokerId),
}

impl Mark {
    /// The mark of an event, if it deserves one. Losses are no events: the ledger finds them.
    pub fn of(event: &Event) -> Option<Mark> {
        match &event.what {
            What::Told {
                tag,
                outcome: Outcome::Acked(_),
                ..
            } => Some(Mark::Acknowledged(*tag)),
            What::Told {
                tag,
                outcome: Outcome::Failed(_),
                ..
            } => Some(Mark::Refused(*tag)),
            What::Refused { tags, .. } => tags.first().map(|bits| Mark::Refused(Tag::from_bits(*bits))),
            What::BrokerEnded {
                broker,
                how: Ended::Killed | Ended::PoweredOff,
                ..
            }
            | What::Wiped { broker, .. } => Some(Mark::Crash(*broker)),
            What::LeaderElected { partition, to, .. } => Some(Mark::Election(*partition, *to)),
            What::IsrChanged { partition, .. } => Some(Mark::IsrChange(*partition)),
            What::Truncated {
                broker,
                partition,
                to,
                from,
                ..
            } if to < from => Some(Mark::Truncation(*partition, *broker)),
            What::Rolled { broker, partition, .. } => Some(Mark::Roll(*partition, *broker)),
            What::SegmentDeleted { broker, partition, .. } => Some(Mark::Deletion(*partition, *broker)),
            What::Compacted {
                broker,
                partition,
                gone,
                ..
            } if !gone.is_empty() => Some(Mark::Compaction(*partition, *broker)),
            What::LogStart { broker, partition, .. } => Some(Mark::Deletion(*partition, *broker)),
            _ => None,
        }
    }

    /// All marks of one step, each once.
    pub fn all(events: &[Event], newly_lost: Vec<Tag>) -> Vec<Mark> {
        let mut marks: SortedSet<Mark> = events.iter().filter_map(Mark::of).collect();
        if !newly_lost.is_empty() {
            marks.insert(Mark::Lost(newly_lost));
        }
        marks.into_iter().collect()
    }

    /// The kind of mark in a word or two, as the page's timeline says it.
    pub const fn words(&self) -> &'static str {
        match self {
            Mark::Acknowledged(_) => "acknowledged",
            Mark::Refused(_) => "refused",
            Mark::Lost(_) => "lost",
            Mark::Crash(_) => "crash",
            Mark::Election(..) => "election",
            Mark::IsrChange(_) => "ISR change",
            Mark::Truncation(..) => "truncation",
            Mark::Roll(..) => "roll",
            Mark::Deletion(..) => "deletion",
            Mark::Compaction(..) => "compaction",
        }
    }
}
