//! The ISR changes that this broker wants, on their way to the controller.
//!
//! Mirrors `AlterPartitionManager`: at most one request is on its way, and each partition has at most one change
//! waiting or on its way; a second is not attempted. Errors of the transport or of the whole request are tried again.

use crate::cluster::ids::TopicPartition;
use crate::cluster::message::{AlterPartition, Correlation};
use crate::cluster::settings::Micros;
use crate::sorted::SortedMap;

/// How long a failed request rests before it is sent again.
pub(super) const RETRY: Micros = 50_000;

/// The wanted changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AlterPartitions {
    /// Waiting or on their way, until the controller has answered for them.
    wanted: SortedMap<TopicPartition, AlterPartition>,
    /// The request that is on its way.
    pub in_flight: Option<InFlight>,
}

/// A request on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InFlight {
    pub correlation: Correlation,
    pub sent: Micros,
    /// Whether it, or its answer, was lost.
    pub lost: bool,
}

impl AlterPartitions {
    /// Takes a change up; says whether it was (it is not while another of the same partition is under way).
    pub fn submit(&mut self, change: AlterPartition) -> bool {
        if self.wanted.contains_key(&change.partition) {
            return false;
        }
        self.wanted.insert(change.partition, change);
        true
    }

    /// Forgets a change that the controller has answered for.
    pub fn answered(&mut self, tp: TopicPartition) {
        self.wanted.remove(&tp);
    }

    /// What the next request carries, if there should be one.
    pub fn next_request(&self) -> Option<Vec<AlterPartition>> {
        let ready = self.in_flight.is_none() && !self.wanted.is_empty();
        ready.then(|| self.wanted.values().cloned().collect())
    }

    /// Every change that is under way.
    pub fn wanted(&self) -> impl Iterator<Item = &AlterPartition> {
        self.wanted.values()
    }
}
