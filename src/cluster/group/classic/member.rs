//! A member of a group under the classic protocol, as its coordinator keeps it, and whether it is heard.
//!
//! Heartbeats that change nothing never travel: a member that is in contact is heard all the time, and when the contact
//! is lost its last heartbeat is worked out from its interval. Mirrors `ClassicGroupMember`.
//!
//! Deliberately absent: the client's host, which is always the same.

use crate::cluster::assignor::{Assignor, Slot};
use crate::cluster::group::protocol::{InstanceId, JoinGroup, Subscription};
use crate::cluster::ids::ClientId;
use crate::cluster::message::Correlation;
use crate::cluster::settings::Micros;
use crate::log::Encoder;
use crate::sorted::SortedSet;

/// How the coordinator stands with a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// It was heard for real at this time, and at every interval since.
    Heard(Micros),
    /// It is not heard any more; its session ends then.
    Silent(Micros),
}

impl Contact {
    /// The contact is lost: the last heartbeat came a whole number of intervals after the one heard for real.
    pub fn lost(self, every: Micros, session: Micros, now: Micros) -> Contact {
        match self {
            Contact::Heard(since) => {
                let every = every.max(1);
                Contact::Silent(since + now.saturating_sub(since) / every * every + session)
            }
            silent => silent,
        }
    }

    /// Its canonical encoding, relative to now.
    pub(in crate::cluster::group) fn encode(self, now: Micros, every: Micros, encoder: &mut Encoder) {
        match self {
            Contact::Heard(since) => encoder.u64(now.saturating_sub(since) % every.max(1)),
            Contact::Silent(until) => encoder.u64(u64::MAX - until.saturating_sub(now)),
        }
    }
}

/// What a member waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// The others, before it learns the generation.
    Join(Correlation),
    /// Its share.
    Sync(Correlation),
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Whose process it is.
    pub client: ClientId,
    pub(super) instance: Option<InstanceId>,
    pub(super) session: Micros,
    pub(super) rebalance: Micros,
    pub(super) every: Micros,
    pub(super) protocols: Vec<Assignor>,
    pub(super) subscription: Subscription,
    /// What it is to read.
    pub assignment: SortedSet<Slot>,
    /// Whether it is heard.
    pub contact: Contact,
    pub(super) awaits: Option<Awaits>,
    /// While it waits for its first generation: until when it may. Nothing is heard of it meanwhile.
    pub(super) new_until: Option<Micros>,
}

impl Member {
    /// One that has just asked to join, and waits for the others.
    pub(super) fn new(
        client: ClientId,
        id: Correlation,
        request: JoinGroup,
        assignment: SortedSet<Slot>,
        now: Micros,
    ) -> Member {
        Member {
            client,
            instance: request.instance,
            session: request.session,
            rebalance: request.rebalance,
            every: request.every,
            protocols: request.protocols,
            subscription: request.subscription,
            assignment,
            contact: Contact::Heard(now),
            awaits: Some(Awaits::Join(id)),
            new_until: None,
        }
    }

    /// When its session ends, or its patience with the others: whoever is known and waits for an answer stays.
    pub(super) fn ends(&self) -> Option<Micros> {
        let silent = || match self.contact {
            Contact::Silent(until) if self.awaits.is_none() => Some(until),
            _ => None,
        };
        self.new_until.or_else(silent)
    }

    /// Whether it waits for the others.
    pub(super) fn has_joined(&self) -> bool {
        matches!(self.awaits, Some(Awaits::Join(_)))
    }
}
