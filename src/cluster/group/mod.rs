//! Consumer groups as their coordinator keeps them: members, who reads what, committed offsets.
//!
//! The coordinator of a group is the leader of its partition of `__consumer_offsets`; what it must not forget are records
//! there, and they count when they are replicated. A new leader reads the partition and goes on. Mirrors
//! `GroupCoordinatorShard`, `GroupMetadataManager`, `OffsetMetadataManager` and `CoordinatorRuntime`.
//!
//! This room knows no broker's process: [`Shard`] is told what arrived and leaves answers and writes ([`Out`]); the broker
//! sends and appends them. Deliberately absent: share groups, streams groups, transactional commits.

mod bytes;
mod classic;
pub mod consumer;
mod kind;
mod out;
pub mod protocol;
pub mod record;
mod shard;

pub use classic::{ClassicGroup, Contact, Member};
pub use consumer::ConsumerGroup;
pub use kind::{GroupKind, MemberView};
pub use out::{Out, Then, Write};
pub use shard::{Deadlines, Group, Shard};

use crate::cluster::assignor::Slot;
use crate::log::Encoder;
use crate::sorted::SortedSet;

/// The topic of commits.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// The partition of `__consumer_offsets` that a group belongs to: Java's hash of its name, modulo their number.
pub fn partition_for(group: &str, partitions: u32) -> u32 {
    let hash = group
        .encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    // `Utils.abs`: the smallest number has no opposite and counts as 0.
    let positive = hash.checked_abs().unwrap_or(0).unsigned_abs();
    positive % partitions.max(1)
}

/// Encodes partitions by name.
fn encode_slots(slots: &SortedSet<Slot>, encoder: &mut Encoder) {
    encoder.len(slots.len());
    for slot in slots {
        encoder.str(&slot.topic);
        encoder.u32(slot.partition);
    }
}

#[cfg(test)]
mod tests {
    use super::partition_for;

    #[test]
    fn a_group_belongs_to_the_partition_that_java_says() {
        // 'g' is 103, 'f' is 102; "group-8" hashes to a negative number.
        let cases = [
            ("g", 50, 3),
            ("f", 50, 2),
            ("", 50, 0),
            ("g1", 50, 42),
            ("polygenelubricants", 50, 0),
        ];
        for (group, partitions, expected) in cases {
            assert_eq!(partition_for(group, partitions), expected, "{group}");
        }
    }
}
