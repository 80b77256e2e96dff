//! A fetch that waits at its leader, and the virtual time of one that waits in vain.
//!
//! Mirrors `DelayedFetch`. While nothing happens a real fetch is answered empty after `max.wait` and comes again one
//! round trip later, for ever. Those rounds change nothing that anybody can see, so they are not stepped through: the
//! fetch stays parked, and when something does happen the rounds that lie behind are counted off ([`ParkedFetch::renew`]).
//! Only then is a timer armed: for the end of its wait when it will carry news, or for its next arrival when what
//! happened falls between two rounds.

use std::sync::Arc;

use crate::cluster::message::{Correlation, FetchRequest};
use crate::cluster::settings::{Micros, from_millis};

/// How a parked fetch waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It would carry nothing: no timer is armed, its rounds are virtual.
    Idle,
    /// It is answered when its wait ends: the timer is armed.
    Deadline,
    /// It is on its way between two rounds and arrives at `since`, which lies ahead: the timer is armed.
    Renewing,
}

/// Where an idle fetch stands at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// At the leader.
    Waiting,
    /// On the wire: its empty answer, or the fetch that follows it.
    BetweenRounds,
}

/// A fetch that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct ParkedFetch {
    /// Numbers the request.
    pub correlation: Correlation,
    /// What is wanted.
    pub request: Arc<FetchRequest>,
    /// When it arrived, in its latest round.
    pub since: Micros,
    /// Time from one arrival to the next while nothing happens: the wait and a round trip.
    pub period: Micros,
    /// How it waits.
    pub wait: Wait,
}

impl ParkedFetch {
    /// Longest wait at the leader.
    pub fn max_wait(&self) -> Micros {
        from_millis(self.request.max_wait_ms)
    }

    /// When its wait ends, in its latest round.
    pub fn deadline(&self) -> Micros {
        self.since + self.max_wait()
    }

    /// Counts off the rounds that lie behind. Gives the last arrival, if there was one since.
    pub fn renew(&mut self, now: Micros) -> Option<Micros> {
        if self.wait != Wait::Idle || now < self.since + self.period {
            return None;
        }
        self.since += (now - self.since) / self.period * self.period;
        Some(self.since)
    }

    /// Where an idle fetch stands; its past rounds must have been counted off.
    pub fn phase(&self, now: Micros) -> Phase {
        if now < self.deadline() {
            Phase::Waiting
        } else {
            Phase::BetweenRounds
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::message::Isolation;

    fn parked() -> ParkedFetch {
        let request = FetchRequest {
            replica_epoch: None,
            max_wait_ms: 500,
            min_bytes: 1,
            max_bytes: 1,
            isolation: Isolation::LogEnd,
            partitions: Vec::new(),
        };
        ParkedFetch {
            correlation: 1,
            request: Arc::new(request),
            since: 1_000,
            period: 502_000,
            wait: Wait::Idle,
        }
    }

    #[test]
    fn rounds_are_counted_off() {
        let cases = [
            (1_000, None, 1_000, Phase::Waiting),
            (500_999, None, 1_000, Phase::Waiting),
            (501_000, None, 1_000, Phase::BetweenRounds),
            (502_999, None, 1_000, Phase::BetweenRounds),
            (503_000, Some(503_000), 503_000, Phase::Waiting),
            (5_021_000, Some(5_021_000), 5_021_000, Phase::Waiting),
            (5_522_999, Some(5_021_000), 5_021_000, Phase::BetweenRounds),
        ];
        for (now, arrival, since, phase) in cases {
            let mut fetch = parked();
            assert_eq!(fetch.renew(now), arrival, "at {now}");
            assert_eq!((fetch.since, fetch.phase(now)), (since, phase), "at {now}");
        }
    }

    #[test]
    fn a_fetch_with_a_timer_has_no_virtual_rounds() {
        for wait in [Wait::Deadline, Wait::Renewing] {
            let mut fetch = ParkedFetch { wait, ..parked() };
            assert_eq!(fetch.renew(10_000_000), None);
        }
    }
}
