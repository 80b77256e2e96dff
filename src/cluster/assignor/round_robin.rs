//! Round robin: all partitions of all topics in turn, skipping members that do not subscribe to the topic.
//!
//! Mirrors `RoundRobinAssignor`.

use crate::cluster::assignor::{Assignment, Group, slots};
use std::sync::Arc;

pub(super) fn assign(group: &Group) -> Assignment {
    let mut assignment = group.nothing_assigned();
    let members = group.members_in_order();
    let mut turn = 0;
    for slot in slots(&group.subscribed_topics()) {
        let next = (0..members.len()).map(|step| (turn + step) % members.len());
        let taker = next.into_iter().find(|&at| members[at].topics.contains(&slot.topic));
        if let Some(at) = taker {
            assignment.entry(Arc::clone(&members[at].id)).or_default().insert(slot);
            turn = (at + 1) % members.len();
        }
    }
    assignment
}
