//! Sticky: balanced, and nobody loses a partition without need.
//!
//! First it is settled who owns what: a partition claimed twice belongs to the later generation, and to nobody if both
//! claims are of the same one. Groups in which everybody subscribes to the same topics are then divided by quotas;
//! all others by moving single partitions while that helps.
//!
//! The cooperative one does the same and then holds back what changes hands: its new owner gets it only when the old one
//! has let go, in a second step.
//!
//! Mirrors `AbstractStickyAssignor`, `StickyAssignor` and `CooperativeStickyAssignor`.

use crate::cluster::assignor::{Assignment, Group, Slot, sticky_equal, sticky_general};
use crate::sorted::{SortedMap, SortedSet};
use std::sync::Arc;

/// Who owns what, by place in the group's list of members.
pub(super) struct Owned {
    /// Each member's partitions of subscribed topics, in the order in which it named them.
    pub by_member: Vec<Vec<Slot>>,
    /// Partitions that two members of the same generation claimed.
    pub contested: SortedSet<Slot>,
}

/// An assignment by place in the group's list of members, and what changes hands in it.
pub(super) struct Distribution {
    pub by_member: Vec<Vec<Slot>>,
    pub transferred: SortedMap<Slot, usize>,
}

pub(super) fn assign(group: &Group) -> Assignment {
    named(group, distribute(group).by_member)
}

pub(super) fn assign_cooperatively(group: &Group) -> Assignment {
    let Distribution {
        mut by_member,
        transferred,
    } = distribute(group);
    for (slot, member) in &transferred {
        by_member[*member].retain(|assigned| assigned != slot);
    }
    named(group, by_member)
}

fn named(group: &Group, by_member: Vec<Vec<Slot>>) -> Assignment {
    group
        .members
        .iter()
        .zip(by_member)
        .map(|(member, slots)| (Arc::clone(&member.id), slots.into_iter().collect()))
        .collect()
}

fn distribute(group: &Group) -> Distribution {
    let topics = group.subscribed_topics();
    let owned = settle_ownership(group, &topics);
    if group.has_equal_subscriptions() {
        sticky_equal::assign(group, &topics, owned)
    } else {
        sticky_general::assign(group, &topics, owned)
    }
}

fn settle_ownership(group: &Group, topics: &SortedMap<Arc<str>, u32>) -> Owned {
    let mut owned = Owned {
        by_member: vec![Vec::new(); group.members.len()],
        contested: SortedSet::new(),
    };
    let mut owners: SortedMap<&Slot, usize> = SortedMap::new();
    for (place, member) in group.members.iter().enumerate() {
        for slot in member.owned.iter().filter(|slot| topics.contains_key(&slot.topic)) {
            let Some(&other) = owners.get(slot) else {
                owned.by_member[place].push(slot.clone());
                owners.insert(slot, place);
                continue;
            };
            let theirs = group.members[other].generation;
            if member.generation < theirs {
                continue;
            }
            owned.by_member[other].retain(|claimed| claimed != slot);
            owners.insert(slot, place);
            if member.generation == theirs {
                owned.contested.insert(slot.clone());
            } else {
                owned.by_member[place].push(slot.clone());
            }
        }
    }
    owned
}
