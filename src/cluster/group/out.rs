//! What a group's handler leaves behind: answers to members, and records to be written.
//!
//! A record counts when it is replicated; what is to be done then is written down with it. Mirrors `CoordinatorResult`.

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Slot;
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node};
use crate::cluster::message::Correlation;
use crate::sorted::{SortedMap, SortedSet};

use super::classic::member::Member;
use super::protocol::{Beaten, GroupResponse, MemberId, Standing};
use super::record::Entry;

/// What is done when a write has been replicated, or has not been in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing more.
    Nothing,
    /// A commit is answered.
    Answer(ClientId, Correlation),
    /// A heartbeat of the consumer protocol is answered.
    Beaten {
        /// Whose process it is.
        client: ClientId,
        /// The request.
        id: Correlation,
        /// Who spoke.
        by: Standing,
        /// What it is told.
        beaten: Beaten,
    },
    /// Nobody waits for the removal of this member, but it must not be forgotten.
    Remove(GroupId, MemberId),
    /// A static member that has come back is told where it is.
    Replaced {
        /// The group.
        group: GroupId,
        /// Its new id.
        member: MemberId,
        /// What it was before, with its old id.
        before: Box<(MemberId, Member)>,
    },
    /// An assignment is handed out.
    Assign {
        /// The group.
        group: GroupId,
        /// Its generation.
        generation: i32,
        /// What each member is to read.
        shares: SortedMap<MemberId, SortedSet<Slot>>,
    },
}

/// Records to be written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// What they say.
    pub entries: Vec<Entry>,
    /// What follows.
    pub then: Then,
}

/// Answers and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Out {
    /// Answers, in order.
    pub replies: Vec<(ClientId, Correlation, GroupResponse)>,
    /// Writes, in order.
    pub writes: Vec<Write>,
}

impl Out {
    /// Answers a client.
    pub fn reply(&mut self, to: ClientId, id: Correlation, answer: GroupResponse) {
        self.replies.push((to, id, answer));
    }

    /// Writes records.
    pub fn write(&mut self, entries: Vec<Entry>, then: Then) {
        self.writes.push(Write { entries, then });
    }
}

/// The broker that acts.
pub(super) fn broker(cx: &Cx<'_>) -> BrokerId {
    match cx.me {
        Node::Broker(id) => id,
        // A coordinator is always on a broker.
        Node::Controller | Node::Client(_) => BrokerId(1),
    }
}
