//! Range: topic by topic, every subscriber gets a consecutive range, the first ones one partition more.
//!
//! Topics with the same number of partitions are divided alike, so that partition 3 of both goes to the same member;
//! the price is that the first members get more of every topic. The assignor of the coordinator divides in the same way.
//!
//! Mirrors `RangeAssignor`, both of them.

use crate::cluster::assignor::{Assignment, Group, Member, slots_of};
use std::sync::Arc;

pub(super) fn assign(group: &Group) -> Assignment {
    let mut assignment = group.nothing_assigned();
    let members = group.members_in_order();
    for (topic, &count) in &group.topics {
        let subscribers: Vec<&Member> = members
            .iter()
            .copied()
            .filter(|member| member.topics.contains(topic))
            .collect();
        let number = subscribers.len() as u32;
        let mut slots = slots_of(topic, count);
        for (place, member) in (0..).zip(subscribers) {
            let share = count / number + u32::from(place < count % number);
            let range = slots.by_ref().take(share as usize);
            assignment.entry(Arc::clone(&member.id)).or_default().extend(range);
        }
    }
    assignment
}
