//! One member's next step towards the target assignment.
//!
//! First it gives up what it is not to keep, and only when it has said so its epoch moves on; then it gets what nobody else
//! holds any more, and the rest as the others let go. Nobody waits for the whole group. Mirrors `CurrentAssignmentBuilder`.
//!
//! Deliberately absent: a subscription that changes while a member is in the group (no act of a scenario does that).

use crate::cluster::ids::TopicPartition;
use crate::sorted::SortedSet;

use super::member::{Assigned, MemberState, Place};

/// Where a member is to come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The epoch of the target assignment.
    pub epoch: i32,
    /// What the member is to read.
    pub partitions: SortedSet<TopicPartition>,
}

/// The place that a member moves to. `owned` is what it says that it still reads, if it says anything; `taken` tells
/// whether somebody holds a partition.
pub fn next(
    place: &Place,
    target: &Target,
    owned: Option<&SortedSet<TopicPartition>>,
    taken: impl Fn(TopicPartition) -> bool,
) -> Place {
    let waits = match place.state {
        MemberState::Stable => place.epoch == target.epoch,
        MemberState::UnrevokedPartitions => still_owns(&place.revoking, owned),
        MemberState::UnreleasedPartitions => false,
    };
    if waits {
        return place.clone();
    }
    let (assigned, revoking): (Assigned, Assigned) = place
        .assigned
        .iter()
        .map(|(&tp, &epoch)| (tp, epoch))
        .partition(|(tp, _)| target.partitions.contains(tp));
    if !revoking.is_empty() && still_owns(&revoking, owned) {
        return Place {
            epoch: place.epoch,
            previous: place.epoch,
            state: MemberState::UnrevokedPartitions,
            assigned,
            revoking,
        };
    }
    advance(place, target, assigned, taken)
}

/// The member is at the target's epoch, with what is free of the partitions that it does not have yet.
fn advance(place: &Place, target: &Target, mut assigned: Assigned, taken: impl Fn(TopicPartition) -> bool) -> Place {
    let missing = target.partitions.iter().filter(|tp| !assigned.contains_key(tp));
    let is_free = |tp: &&TopicPartition| !taken(**tp) || place.revoking.contains_key(tp);
    let (free, held): (Vec<TopicPartition>, Vec<TopicPartition>) = missing.copied().partition(|tp| is_free(&tp));
    assigned.extend(free.into_iter().map(|tp| (tp, target.epoch)));
    Place {
        epoch: target.epoch,
        previous: place.epoch,
        state: if held.is_empty() {
            MemberState::Stable
        } else {
            MemberState::UnreleasedPartitions
        },
        assigned,
        revoking: Assigned::new(),
    }
}

/// Whether it has still to give up some of these. Who says nothing has given up nothing.
fn still_owns(revoking: &Assigned, owned: Option<&SortedSet<TopicPartition>>) -> bool {
    owned.is_none_or(|owned| owned.iter().any(|tp| revoking.contains_key(tp)))
}
