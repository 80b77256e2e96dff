//! What a leader knows of one follower.
//!
//! Mirrors `Replica` and `ReplicaState`. A follower counts as caught up by *time*, never by how many records it lacks:
//! it is, while it was at the log end (as of some fetch) not longer ago than `replica.lag.time.max.ms`.

use crate::cluster::settings::Micros;
use crate::log::Encoder;

/// One follower, as its leader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The offset of its latest fetch: it has everything below. −1 until it has fetched from this leader.
    pub log_end: i64,
    /// Its log start, −1 until it has fetched from this leader.
    pub log_start: i64,
    /// The leader's log end at its latest fetch.
    pub last_fetch_leader_log_end: i64,
    /// When it fetched last; `None` is long ago.
    pub last_fetch: Option<Micros>,
    /// When it last had everything; `None` is long ago.
    pub last_caught_up: Option<Micros>,
    /// Broker epoch in its latest fetch.
    pub broker_epoch: Option<i64>,
}

impl Default for Remote {
    fn default() -> Self {
        Remote {
            log_end: -1,
            log_start: -1,
            last_fetch_leader_log_end: 0,
            last_fetch: None,
            last_caught_up: None,
            broker_epoch: None,
        }
    }
}

/// Whether a follower stands in the ISR when its leader's epoch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// It does, and so is taken for caught up.
    InIsr,
    /// It does not.
    OutOfIsr,
}

impl Remote {
    /// A fetch at `now` from `offset`, with the leader's log end as it was before the read.
    pub fn fetched(
        &mut self,
        now: Micros,
        offset: i64,
        log_start: i64,
        leader_log_end: i64,
        broker_epoch: Option<i64>,
    ) {
        if offset >= leader_log_end {
            self.last_caught_up = self.last_caught_up.max(Some(now));
        } else if offset >= self.last_fetch_leader_log_end {
            // It had reached, by now, what was the end when it fetched before: it was caught up then.
            self.last_caught_up = self.last_caught_up.max(self.last_fetch);
        }
        self.last_fetch_leader_log_end = self.last_fetch_leader_log_end.max(leader_log_end);
        self.last_fetch = Some(now);
        self.log_end = offset;
        self.log_start = log_start;
        self.broker_epoch = broker_epoch;
    }

    /// Whether it counts as caught up now.
    pub fn is_caught_up(&self, leader_log_end: i64, now: Micros, lag: Micros) -> bool {
        self.log_end == leader_log_end || self.last_caught_up.is_some_and(|at| now.saturating_sub(at) <= lag)
    }

    /// This broker begins to lead.
    pub fn reset_for_new_leader(&mut self, now: Micros, membership: Membership) {
        *self = Remote {
            last_fetch_leader_log_end: -1,
            last_caught_up: (membership == Membership::InIsr).then_some(now),
            ..Remote::default()
        };
    }

    /// This broker goes on to lead, in a new epoch.
    pub fn reset_for_new_epoch(&mut self, now: Micros, leader_log_end: i64, membership: Membership) {
        let since = (membership == Membership::InIsr).then_some(now);
        self.last_fetch_leader_log_end = leader_log_end;
        self.last_fetch = since;
        self.last_caught_up = since;
    }

    /// Encodes what does not depend on the clock.
    pub(super) fn encode(&self, out: &mut Encoder) {
        out.i64(self.log_end);
        out.i64(self.log_start);
        out.i64(self.last_fetch_leader_log_end);
        out.option(self.broker_epoch, Encoder::i64);
    }

    /// Encodes how long ago things were, as far as that can still decide something.
    pub(super) fn encode_times(&self, now: Micros, lag: Micros, out: &mut Encoder) {
        let long_ago = lag.saturating_add(1);
        for at in [self.last_fetch, self.last_caught_up] {
            out.u64(at.map_or(long_ago, |at| now.saturating_sub(at).min(long_ago)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAG: Micros = 30_000_000;

    /// Semantics R1 and R3.
    #[test]
    fn caught_up_is_a_matter_of_time() {
        let mut remote = Remote::default();
        remote.fetched(1, 5, 0, 10, None);
        assert_eq!((remote.last_caught_up, remote.last_fetch_leader_log_end), (None, 10));
        remote.fetched(2, 10, 0, 15, None);
        assert_eq!((remote.last_caught_up, remote.last_fetch_leader_log_end), (Some(1), 15));
        remote.fetched(3, 15, 0, 15, None);
        assert_eq!((remote.last_caught_up, remote.last_fetch_leader_log_end), (Some(3), 15));
        assert!(remote.is_caught_up(16, 3 + LAG, LAG));
        assert!(!remote.is_caught_up(16, 4 + LAG, LAG));
        assert!(
            remote.is_caught_up(15, 1_000 * LAG, LAG),
            "at the log end however long ago"
        );
    }

    /// Semantics R4.
    #[test]
    fn a_new_epoch_of_the_same_leader_keeps_the_log_end() {
        let fresh = Remote {
            log_end: 10,
            log_start: 1,
            ..Remote::default()
        };
        let mut inside = fresh.clone();
        inside.reset_for_new_epoch(7, 11, Membership::InIsr);
        assert_eq!(
            (inside.log_end, inside.last_fetch_leader_log_end, inside.last_caught_up),
            (10, 11, Some(7))
        );
        let mut outside = fresh;
        outside.reset_for_new_epoch(7, 11, Membership::OutOfIsr);
        assert_eq!(
            (outside.log_end, outside.last_fetch, outside.last_caught_up),
            (10, None, None)
        );
    }
}
