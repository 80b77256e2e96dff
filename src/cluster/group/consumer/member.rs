//! A member of a group under the consumer protocol, as its coordinator keeps it.
//!
//! Mirrors `ConsumerGroupMember` and `MemberState`. Deliberately absent: racks, subscriptions by pattern, members that speak
//! the classic protocol in a group of this one.

use std::sync::Arc;

use crate::cluster::assignor::Assignor;
use crate::cluster::group::classic::Contact;
use crate::cluster::group::protocol::{AWAY, InstanceId};
use crate::cluster::ids::{ClientId, TopicPartition};
use crate::cluster::settings::Micros;
use crate::log::Encoder;
use crate::sorted::{SortedMap, SortedSet};

/// Partitions of a member, each with the group's epoch at which it got them.
pub type Assigned = SortedMap<TopicPartition, i32>;

/// How far a member is on its way to the target assignment. The numbers are Kafka's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It is where its epoch says.
    Stable = 0,
    /// It has to give up partitions first.
    UnrevokedPartitions = 1,
    /// It waits for partitions that others have not given up.
    UnreleasedPartitions = 2,
}

impl MemberState {
    /// The state of this number.
    pub fn from_number(number: i8) -> Option<MemberState> {
        let all = [
            MemberState::Stable,
            MemberState::UnrevokedPartitions,
            MemberState::UnreleasedPartitions,
        ];
        all.into_iter().find(|state| *state as i8 == number)
    }

    /// Kafka's name.
    pub const fn name(self) -> &'static str {
        match self {
            MemberState::Stable => "STABLE",
            MemberState::UnrevokedPartitions => "UNREVOKED_PARTITIONS",
            MemberState::UnreleasedPartitions => "UNRELEASED_PARTITIONS",
        }
    }
}

/// Where a member stands: its epoch and what it owns (`ConsumerGroupCurrentMemberAssignmentValue`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The member epoch.
    pub epoch: i32,
    /// The one before: the member may not have heard of the newer one.
    pub previous: i32,
    /// How far it is.
    pub state: MemberState,
    /// What it may read.
    pub assigned: Assigned,
    /// What it has to give up.
    pub revoking: Assigned,
}

impl Place {
    /// Of a member that is about to join.
    pub const NEW: Place = Place {
        epoch: 0,
        previous: 0,
        state: MemberState::Stable,
        assigned: SortedMap::new(),
        revoking: SortedMap::new(),
    };

    /// Of a static member that goes for a while: what it has is kept for it, what it had to give up is free.
    pub(super) fn away(&self) -> Place {
        Place {
            epoch: AWAY,
            assigned: self.assigned.keys().map(|tp| (*tp, 0)).collect(),
            revoking: Assigned::new(),
            ..*self
        }
    }

    /// Of a static member that has come back.
    pub(super) fn back(&self) -> Place {
        Place {
            epoch: 0,
            previous: 0,
            ..self.clone()
        }
    }

    /// Whether it has arrived at the target of this epoch.
    pub fn has_reached(&self, target: i32) -> bool {
        self.state == MemberState::Stable && self.epoch == target
    }

    /// Whether nobody else may have this partition yet.
    pub fn holds(&self, tp: TopicPartition) -> bool {
        self.assigned.contains_key(&tp) || self.revoking.contains_key(&tp)
    }

    /// At which epoch it got a partition that it holds.
    pub fn since(&self, tp: TopicPartition) -> Option<i32> {
        self.assigned.get(&tp).or_else(|| self.revoking.get(&tp)).copied()
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.epoch);
        encoder.i32(self.previous);
        encoder.u8(self.state as u8);
        for assigned in [&self.assigned, &self.revoking] {
            encoder.len(assigned.len());
            for (tp, epoch) in assigned {
                super::encode_partition(*tp, encoder);
                encoder.i32(*epoch);
            }
        }
    }
}

/// What a member has said of itself (`ConsumerGroupMemberMetadataValue`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whose process it is.
    pub client: ClientId,
    /// Its own name, if it is a static one.
    pub instance: Option<InstanceId>,
    /// How long it may take to give partitions up.
    pub rebalance: Micros,
    /// The topics that it subscribes to; they need not exist.
    pub topics: SortedSet<Arc<str>>,
    /// The assignor that it asks for.
    pub assignor: Option<Assignor>,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// What it has said of itself.
    pub told: Told,
    /// Where it stands.
    pub place: Place,
    /// Whether it is heard.
    pub contact: Contact,
    /// The interval of its heartbeats, as it was told.
    pub every: Micros,
    /// Until when it must have given up what it has to.
    pub revoke_by: Option<Micros>,
}

impl Member {
    /// If it has to give something up, it has from now on as long as it has asked for.
    pub(super) fn set_revocation(&mut self, now: Micros) {
        let revokes = self.place.state == MemberState::UnrevokedPartitions;
        self.revoke_by = revokes.then(|| now + self.told.rebalance);
    }

    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.u16(self.told.client.0);
        encoder.str(self.told.instance.as_deref().unwrap_or_default());
        encoder.u64(self.told.rebalance);
        encoder.len(self.told.topics.len());
        self.told.topics.iter().for_each(|topic| encoder.str(topic));
        encoder.str(self.told.assignor.map_or("", Assignor::name));
        self.place.encode(encoder);
    }

    pub(super) fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        self.contact.encode(now, self.every, encoder);
        encoder.option(self.revoke_by, |encoder, by| encoder.u64(by.saturating_sub(now)));
    }
}
