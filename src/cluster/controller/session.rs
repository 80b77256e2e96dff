//! Sessions: how the controller notices that a broker is gone.
//!
//! Every heartbeat renews the session of its (broker, epoch), even if the epoch is wrong and the heartbeat is refused;
//! such a session ends later without any effect. A check runs every eighth of the time-out. It ends one session, and
//! runs again at once when it found one, so that brokers that fell silent together are still fenced one after another,
//! each seeing what the one before it left.
//!
//! A broker that is heard all the time need not be stepped through its heartbeats: its last contact is
//! [`LastContact::Continuous`] until the world says that it fell silent.
//!
//! Deliberately absent: how a heartbeat travels. Mirrors `BrokerHeartbeatTracker`.

use crate::cluster::controller::session_map::SessionMap;
use crate::cluster::ids::BrokerId;

/// When a broker was heard last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastContact {
    /// It is heard all the time.
    Continuous,
    /// At this time, in milliseconds.
    At(i64),
}

/// A session belongs to one registration of a broker.
pub(super) type SessionKey = (BrokerId, i64);

/// All sessions that have not been found to have ended, in the order in which a check looks at them (see
/// [`SessionMap`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sessions {
    contacts: SessionMap,
}

/// Whether a session that was last renewed then has ended: strictly later than its time-out.
fn has_ended(last: LastContact, timeout_ms: i64, now_ms: i64) -> bool {
    match last {
        LastContact::Continuous => false,
        LastContact::At(at) => at.saturating_add(timeout_ms) < now_ms,
    }
}

impl Sessions {
    pub fn renew(&mut self, key: SessionKey, contact: LastContact) {
        self.contacts.put(key, contact);
    }

    pub fn is_valid(&self, key: SessionKey, timeout_ms: i64, now_ms: i64) -> bool {
        let mut contacts = self.contacts.entries().iter();
        contacts.any(|&(known, last)| known == key && !has_ended(last, timeout_ms, now_ms))
    }

    /// Forgets one session that has ended and tells whose it was.
    pub fn remove_ended(&mut self, timeout_ms: i64, now_ms: i64) -> Option<SessionKey> {
        self.contacts.remove_first(|last| has_ended(last, timeout_ms, now_ms))
    }

    /// When the first silent session ends, if nobody is heard again: the first millisecond at which it is invalid.
    pub fn first_end(&self, timeout_ms: i64) -> Option<i64> {
        let silent = self.contacts.entries().iter().filter_map(|&(_, last)| match last {
            LastContact::Continuous => None,
            LastContact::At(at) => Some(at.saturating_add(timeout_ms).saturating_add(1)),
        });
        silent.min()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SessionKey, LastContact)> + '_ {
        self.contacts.entries().iter().copied()
    }

    /// How large the map is in which they are kept, once it has grown.
    pub fn grown_to(&self) -> Option<u32> {
        self.contacts.grown_to()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: i64 = 9_000;

    #[test]
    fn a_session_is_valid_at_its_time_out_and_not_a_millisecond_later() {
        let mut sessions = Sessions::default();
        sessions.renew((BrokerId(1), 5), LastContact::At(1_000));
        assert!(sessions.is_valid((BrokerId(1), 5), TIMEOUT, 10_000));
        assert_eq!(sessions.remove_ended(TIMEOUT, 10_000), None);
        assert_eq!(sessions.first_end(TIMEOUT), Some(10_001));
        assert!(!sessions.is_valid((BrokerId(1), 5), TIMEOUT, 10_001));
        assert_eq!(sessions.remove_ended(TIMEOUT, 10_001), Some((BrokerId(1), 5)));
        assert_eq!(sessions.remove_ended(TIMEOUT, 10_001), None);
    }

    #[test]
    fn a_broker_that_is_heard_all_the_time_never_ends() {
        let mut sessions = Sessions::default();
        sessions.renew((BrokerId(1), 5), LastContact::Continuous);
        assert_eq!(sessions.remove_ended(TIMEOUT, i64::MAX), None);
        assert_eq!(sessions.first_end(TIMEOUT), None);
    }

    #[test]
    fn brokers_that_fell_silent_together_end_in_the_order_in_which_they_were_first_heard() {
        let mut sessions = Sessions::default();
        // With consecutive epochs 31 · id + epoch is the same modulo 16 for all of them.
        for (broker, epoch) in [(3, 6), (1, 4), (2, 5)] {
            sessions.renew((BrokerId(broker), epoch), LastContact::At(0));
        }
        let ended: Vec<u16> = std::iter::from_fn(|| sessions.remove_ended(TIMEOUT, 9_001))
            .map(|(id, _)| id.0)
            .collect();
        assert_eq!(ended, [3, 1, 2]);
    }
}
