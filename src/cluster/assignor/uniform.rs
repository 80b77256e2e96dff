//! Uniform when everybody subscribes to the same topics: quotas, filled with consecutive partitions.
//!
//! Members keep what they own up to their quota; what is left over goes to those below theirs, each filled up before the
//! next one's turn. Two topics of three partitions over two members thus give each member one whole topic.
//!
//! Kafka goes through members in the order of a hash map, which is kept, and through topics in that of their random ids.
//! The recordings' ids put the last name first, and so it is here.
//! Mirrors `UniformHomogeneousAssignmentBuilder`.

use crate::cluster::assignor::{Assignment, Group, Member, Slot, java_order, slots};
use crate::sorted::{SortedMap, SortedSet, sort_by};
use std::cmp::Ordering;
use std::sync::Arc;

pub(super) fn assign(group: &Group) -> Assignment {
    let mut assignment = group.nothing_assigned();
    let topics = group.subscribed_topics();
    let members = group.members_in_map_order();
    let mut all: Vec<Slot> = slots(&topics).collect();
    sort_by(&mut all, last_topic_first);
    let owned_before: SortedSet<&Slot> = members.iter().flat_map(|member| &member.owned).collect();
    let mut unassigned: Vec<Slot> = all
        .iter()
        .filter(|slot| !owned_before.contains(slot))
        .cloned()
        .collect();
    let minimum = all.len() / members.len().max(1);
    let mut extras = all.len() % members.len().max(1);
    let mut wanting = Vec::new();
    for (place, member) in members.iter().enumerate() {
        let mut extra = usize::from(extras > 0);
        let mut kept: Vec<Slot> = member
            .owned
            .iter()
            .filter(|slot| topics.contains_key(&slot.topic))
            .cloned()
            .collect();
        let counts = counts_by_topic(member);
        sort_by(&mut kept, |a, b| last_topic_first_by_set_order(&counts, a, b));
        unassigned.extend(kept.split_off(kept.len().min(minimum + extra)));
        // One that does not need the extra partition leaves it to those behind, if there are enough of them.
        if kept.len() < minimum + extra && members.len() - place > extras {
            extra = 0;
        }
        extras -= extra.min(extras);
        wanting.push((&member.id, (minimum + extra).saturating_sub(kept.len())));
        assignment.insert(Arc::clone(&member.id), kept.into_iter().collect());
    }
    let mut rest = unassigned.into_iter();
    for (member, wanted) in wanting {
        assignment
            .entry(Arc::clone(member))
            .or_default()
            .extend(rest.by_ref().take(wanted));
    }
    assignment
}

fn last_topic_first(a: &Slot, b: &Slot) -> Ordering {
    b.topic.cmp(&a.topic).then(a.partition.cmp(&b.partition))
}

/// How many partitions of each topic a member owns.
fn counts_by_topic(member: &Member) -> SortedMap<Arc<str>, usize> {
    let mut counts = SortedMap::new();
    for slot in &member.owned {
        *counts.entry(Arc::clone(&slot.topic)).or_default() += 1;
    }
    counts
}

/// A member's partitions of one topic come in the order of a hash set, in which 16 is before 1.
fn last_topic_first_by_set_order(counts: &SortedMap<Arc<str>, usize>, a: &Slot, b: &Slot) -> Ordering {
    let of_topic = counts.get(&a.topic).copied().unwrap_or_default();
    let place = |slot: &Slot| java_order::place_of_number(slot.partition, of_topic);
    b.topic.cmp(&a.topic).then_with(|| place(a).cmp(&place(b)))
}
