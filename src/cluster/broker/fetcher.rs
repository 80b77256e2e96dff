//! The thread that copies from one leader, for all partitions of which this broker follows it.
//!
//! Mirrors `AbstractFetcherThread` and `ReplicaFetcherThread`: one joint fetch at a time. Because a fetch that waits in
//! vain at its leader is not stepped through, the fetcher computes the same virtual rounds as the leader does
//! ([`super::parked`]); a partition that joins meanwhile goes along with the next round.
//!
//! Deliberately absent: fetch sessions, several fetchers for one leader (`num.replica.fetchers` is 1).

use std::sync::Arc;

use crate::cluster::ids::TopicPartition;
use crate::cluster::message::{Correlation, FetchRequest};
use crate::cluster::settings::Micros;
use crate::sorted::SortedMap;

/// A fetcher.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fetcher {
    /// What it copies.
    pub partitions: SortedMap<TopicPartition, FetchState>,
    /// The request it waits for.
    pub outstanding: Option<Outstanding>,
    /// When it looks again by itself, if a timer is armed for that.
    pub wake: Option<Micros>,
    /// When an unanswered request is replaced: after a pause, in which a virtual answer may have been missed.
    pub renew_at: Option<Micros>,
}

/// How one partition is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FetchState {
    /// The leader epoch it is copied in.
    pub epoch: i32,
    pub stage: Stage,
    pub status: Status,
}

/// What is asked of the leader (`ReplicaState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Where this log's last epoch ends in the leader's, before anything is fetched. Only older rules have this stage.
    Truncating,
    /// Records.
    Fetching,
}

/// Whether a partition is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// With the next fetch.
    Ready,
    /// Not before this time (`replica.fetch.backoff.ms`).
    Delayed(Micros),
    /// Its offset is out of the leader's range: the leader is asked for its ends.
    OutOfRange,
    /// Not until newer metadata comes (`FENCED_LEADER_EPOCH`), or for ever in this epoch after a failure.
    Stopped,
}

/// A request without an answer yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outstanding {
    pub correlation: Correlation,
    /// When it left.
    pub sent: Micros,
    pub what: Asked,
    /// Whether it, or its answer, was lost.
    pub lost: bool,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    /// Records; with the time from one virtual round to the next.
    Fetch(Arc<FetchRequest>, Micros),
    /// The leader's ends of a partition.
    Ends(TopicPartition),
    /// Where these epochs end in the leader's logs.
    EpochEnds(Vec<(TopicPartition, i32)>),
}

impl Outstanding {
    /// When its latest virtual round left.
    pub fn last_sent(&self, now: Micros) -> Micros {
        match self.what {
            Asked::Fetch(_, period) if period > 0 && now > self.sent => self.sent + (now - self.sent) / period * period,
            _ => self.sent,
        }
    }

    /// When its next virtual round leaves.
    pub fn next_sent(&self, now: Micros) -> Micros {
        match self.what {
            Asked::Fetch(_, period) => self.last_sent(now) + period,
            Asked::Ends(_) | Asked::EpochEnds(_) => now,
        }
    }
}

impl Fetcher {
    /// Partitions of which the next request can ask this, and the leader epoch of each.
    pub fn ready(&self, stage: Stage) -> impl Iterator<Item = (TopicPartition, i32)> + '_ {
        let ready = self
            .partitions
            .iter()
            .filter(move |(_, state)| state.status == Status::Ready && state.stage == stage);
        ready.map(|(tp, state)| (*tp, state.epoch))
    }

    /// The partition whose ends must be asked for first.
    pub fn out_of_range(&self) -> Option<TopicPartition> {
        self.partitions
            .iter()
            .find(|(_, state)| state.status == Status::OutOfRange)
            .map(|(tp, _)| *tp)
    }

    /// Whether a partition is ready that the fetch under way does not carry, or carries in another epoch. A fetch that
    /// names no epoch fits any.
    pub fn has_more_to_ask(&self) -> bool {
        let Some(Outstanding {
            what: Asked::Fetch(request, _),
            ..
        }) = &self.outstanding
        else {
            return false;
        };
        let carried = |tp, epoch| {
            request
                .partitions
                .iter()
                .any(|part| part.partition == tp && [epoch, -1].contains(&part.current_leader_epoch))
        };
        self.ready(Stage::Truncating).next().is_some()
            || self.ready(Stage::Fetching).any(|(tp, epoch)| !carried(tp, epoch))
    }

    /// Ends the rest of partitions whose time has come.
    pub fn end_delays(&mut self, now: Micros) {
        for state in self.partitions.values_mut() {
            if matches!(state.status, Status::Delayed(until) if until <= now) {
                state.status = Status::Ready;
            }
        }
    }

    /// Lets all partitions that would be fetched rest until a time.
    pub fn delay_all(&mut self, until: Micros) {
        for state in self.partitions.values_mut() {
            if matches!(state.status, Status::Ready | Status::OutOfRange) {
                state.status = Status::Delayed(until);
            }
        }
    }

    /// The earliest end of a rest.
    pub fn next_delay(&self) -> Option<Micros> {
        let until = |state: &FetchState| match state.status {
            Status::Delayed(until) => Some(until),
            _ => None,
        };
        self.partitions.values().filter_map(until).min()
    }
}
