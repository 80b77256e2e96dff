//! Sticky when everybody subscribes to the same topics: quotas.
//!
//! With P partitions and C members everybody gets P div C, and P mod C members one more. Members keep what they own up
//! to their quota, and what is left over goes in turn to those below theirs.
//!
//! Mirrors `AbstractStickyAssignor.ConstrainedAssignmentBuilder`.

use crate::cluster::assignor::sticky::{Distribution, Owned};
use crate::cluster::assignor::{Group, Slot, java_order, slots};
use crate::sorted::{SortedMap, SortedSet, sort_by};
use std::collections::VecDeque;
use std::sync::Arc;

struct Builder {
    min_quota: usize,
    max_quota: usize,
    /// How many more members may have `max_quota` partitions, if that is another number than `min_quota`.
    extras_left: usize,
    below_min: Vec<usize>,
    exactly_min: VecDeque<usize>,
    contested: SortedSet<Slot>,
    given_up: SortedMap<Slot, usize>,
    result: Distribution,
}

pub(super) fn assign(group: &Group, topics: &SortedMap<Arc<str>, u32>, owned: Owned) -> Distribution {
    let members = group.members.len();
    let mut builder = Builder::new(slots(topics).count(), members, owned.contested);
    for place in java_order::of_texts(group.members.iter().map(|member| member.id.as_ref())) {
        builder.keep(place, &owned.by_member[place]);
    }
    let kept: SortedSet<Slot> = builder.result.by_member.iter().flatten().cloned().collect();
    let by_id = |a: &usize, b: &usize| group.members[*a].id.cmp(&group.members[*b].id);
    sort_by(&mut builder.below_min, by_id);
    sort_by(builder.exactly_min.make_contiguous(), by_id);
    builder.hand_out(slots(topics).filter(|slot| !kept.contains(slot)));
    builder.result
}

impl Builder {
    fn new(partitions: usize, members: usize, contested: SortedSet<Slot>) -> Self {
        let quota = |of: fn(usize, usize) -> usize| if members == 0 { 0 } else { of(partitions, members) };
        Builder {
            min_quota: quota(|partitions, members| partitions / members),
            max_quota: quota(usize::div_ceil),
            extras_left: quota(|partitions, members| partitions % members),
            below_min: Vec::new(),
            exactly_min: VecDeque::new(),
            contested,
            given_up: SortedMap::new(),
            result: Distribution {
                by_member: vec![Vec::new(); members],
                transferred: SortedMap::new(),
            },
        }
    }

    /// Lets a member keep what its quota allows, by number first and topic second.
    fn keep(&mut self, place: usize, owned: &[Slot]) {
        let mut owned: Vec<Slot> = owned
            .iter()
            .filter(|slot| !self.contested.contains(slot))
            .cloned()
            .collect();
        sort_by(&mut owned, |a, b| (a.partition, &a.topic).cmp(&(b.partition, &b.topic)));
        if owned.len() < self.min_quota {
            self.result.by_member[place] = owned;
            self.below_min.push(place);
            return;
        }
        let takes_extra = owned.len() >= self.max_quota && self.extras_left > 0;
        if takes_extra {
            self.extras_left -= 1;
            if self.extras_left == 0 {
                self.exactly_min.clear();
            }
        } else if self.extras_left > 0 {
            self.exactly_min.push_back(place);
        }
        let rest = owned.split_off(if takes_extra { self.max_quota } else { self.min_quota });
        self.given_up.extend(rest.into_iter().map(|slot| (slot, place)));
        self.result.by_member[place] = owned;
    }

    /// Gives what nobody kept to members below the minimum in turn, and then to those that have exactly the minimum.
    fn hand_out(&mut self, unassigned: impl Iterator<Item = Slot>) {
        let mut turn = 0;
        for slot in unassigned {
            if turn >= self.below_min.len() {
                turn = 0;
            }
            let Some(place) = self
                .below_min
                .get(turn)
                .copied()
                .or_else(|| self.exactly_min.pop_front())
            else {
                return;
            };
            self.give(slot, place);
            if self.result.by_member[place].len() != self.min_quota {
                turn += 1;
            } else if turn < self.below_min.len() {
                self.below_min.remove(turn);
                self.exactly_min.push_back(place);
            }
        }
    }

    fn give(&mut self, slot: Slot, place: usize) {
        let from_another = self.given_up.get(&slot).is_some_and(|&owner| owner != place);
        if from_another || self.contested.contains(&slot) {
            self.result.transferred.insert(slot.clone(), place);
        }
        self.result.by_member[place].push(slot);
    }
}
