//! Sticky when members subscribe to different topics: moving single partitions while that helps.
//!
//! What nobody owns goes to the least loaded subscriber. Then partitions are moved, one at a time, from a member to one
//! that has at least two fewer, until no such move is left; if that did not make the whole more balanced, it is undone.
//! A partition that was moved from A to B is not followed by another from B to A: the first one goes back instead.
//!
//! Mirrors `AbstractStickyAssignor.GeneralAssignmentBuilder` and `PartitionMovements`.

use crate::cluster::assignor::sticky::{Distribution, Owned};
use crate::cluster::assignor::{Group, Slot, java_order, slots_of};
use crate::sorted::{SortedMap, SortedSet, sort_by};
use std::sync::Arc;

pub(super) fn assign(group: &Group, topics: &SortedMap<Arc<str>, u32>, owned: Owned) -> Distribution {
    let mut builder = Builder::new(group, topics);
    builder.adopt(owned);
    builder.balance();
    let by_member: Vec<Vec<Slot>> = builder
        .assigned
        .into_iter()
        .map(|slots| slots.into_iter().collect())
        .collect();
    let transferred = transferred(group, &by_member);
    Distribution { by_member, transferred }
}

/// What somebody gives up and another one gets.
fn transferred(group: &Group, by_member: &[Vec<Slot>]) -> SortedMap<Slot, usize> {
    let members = || group.members.iter().zip(by_member).enumerate();
    let lost: SortedSet<&Slot> = members()
        .flat_map(|(_, (member, new))| member.owned.iter().filter(|slot| !new.contains(slot)))
        .collect();
    members()
        .flat_map(|(place, (member, new))| {
            let gained = new
                .iter()
                .filter(|slot| !member.owned.contains(slot) && lost.contains(slot));
            gained.map(move |slot| (slot.clone(), place))
        })
        .collect()
}

struct Builder<'a> {
    group: &'a Group,
    topics: &'a SortedMap<Arc<str>, u32>,
    /// Places of a topic's subscribers.
    subscribers: SortedMap<&'a Arc<str>, Vec<usize>>,
    assigned: Vec<SortedSet<Slot>>,
    owner: SortedMap<Slot, usize>,
    /// The members that take part, least loaded first, then by id.
    by_load: SortedSet<(usize, &'a Arc<str>, usize)>,
    /// Who owned a partition in an earlier generation than the latest.
    earlier: SortedMap<Slot, (usize, i32)>,
    revocation_required: bool,
    movements: Movements,
}

impl<'a> Builder<'a> {
    fn new(group: &'a Group, topics: &'a SortedMap<Arc<str>, u32>) -> Self {
        let subscribers_of = |topic: &Arc<str>| {
            let members = group.members.iter().enumerate();
            members
                .filter(|(_, member)| member.topics.contains(topic))
                .map(|(place, _)| place)
                .collect()
        };
        Builder {
            group,
            topics,
            subscribers: topics.keys().map(|topic| (topic, subscribers_of(topic))).collect(),
            assigned: vec![SortedSet::new(); group.members.len()],
            owner: SortedMap::new(),
            by_load: SortedSet::new(),
            earlier: earlier_owners(group),
            revocation_required: false,
            movements: Movements::default(),
        }
    }

    /// Takes over who owns what, but for topics that a member does not subscribe to any more.
    fn adopt(&mut self, owned: Owned) {
        for (place, slots) in owned.by_member.into_iter().enumerate() {
            for slot in slots {
                if self.group.members[place].topics.contains(&slot.topic) {
                    self.owner.insert(slot.clone(), place);
                    self.assigned[place].insert(slot);
                } else {
                    self.revocation_required = true;
                }
            }
        }
        self.by_load = (0..self.group.members.len())
            .map(|place| self.load_key(place))
            .collect();
    }

    fn load_key(&self, place: usize) -> (usize, &'a Arc<str>, usize) {
        (self.assigned[place].len(), &self.group.members[place].id, place)
    }

    /// All partitions, those of topics with the fewest subscribers first.
    fn all_slots(&self) -> Vec<Slot> {
        let mut topics: Vec<(usize, &Arc<str>, u32)> = self
            .topics
            .iter()
            .map(|(topic, &count)| (self.subscribers[topic].len(), topic, count))
            .collect();
        sort_by(&mut topics, Ord::cmp);
        topics
            .into_iter()
            .flat_map(|(_, topic, count)| slots_of(topic, count))
            .collect()
    }

    fn balance(&mut self) {
        let began_empty = self.by_load.last().is_none_or(|&(load, ..)| load == 0);
        let mut all = self.all_slots();
        let mut unassigned: Vec<Slot> = all
            .iter()
            .filter(|slot| !self.owner.contains_key(slot))
            .cloned()
            .collect();
        for slot in &unassigned {
            self.give_to_least_loaded(slot);
        }
        let movable = |slot: &Slot| self.subscribers[&slot.topic].len() >= 2;
        all.retain(movable);
        unassigned.retain(movable);
        for place in 0..self.group.members.len() {
            if !self.can_take_part(place) {
                self.by_load.remove(&self.load_key(place));
            }
        }
        let before = (self.assigned.clone(), self.balance_score());
        if !self.revocation_required {
            self.reassign(&unassigned);
        }
        let moved = self.reassign(&all);
        if !began_empty && moved && self.balance_score() >= before.1 {
            self.assigned = before.0;
        }
    }

    fn give_to_least_loaded(&mut self, slot: &Slot) {
        let subscribed = |place: usize| self.group.members[place].topics.contains(&slot.topic);
        if let Some(&key) = self.by_load.iter().find(|&&(_, _, place)| subscribed(place)) {
            let (_, _, place) = key;
            self.by_load.remove(&key);
            self.assigned[place].insert(slot.clone());
            self.owner.insert(slot.clone(), place);
            self.by_load.insert(self.load_key(place));
        }
    }

    /// How many partitions a member could have at most.
    fn capacity(&self, place: usize) -> usize {
        let topics = &self.group.members[place].topics;
        self.topics
            .iter()
            .filter(|(topic, _)| topics.contains(*topic))
            .map(|(_, &count)| count as usize)
            .sum()
    }

    /// Whether a member could get another partition, or has one that another could have.
    fn can_take_part(&self, place: usize) -> bool {
        let assigned = &self.assigned[place];
        assigned.len() < self.capacity(place) || assigned.iter().any(|slot| self.subscribers[&slot.topic].len() >= 2)
    }

    /// The sum of the differences between every two members that take part.
    fn balance_score(&self) -> usize {
        let loads: Vec<usize> = self.by_load.iter().map(|&(load, ..)| load).collect();
        let pairs = loads
            .iter()
            .enumerate()
            .flat_map(|(at, a)| loads[at + 1..].iter().map(move |b| a.abs_diff(*b)));
        pairs.sum()
    }

    /// Whether no single move would help.
    fn is_balanced(&self) -> bool {
        let (Some(&(least, ..)), Some(&(most, ..))) = (self.by_load.first(), self.by_load.last()) else {
            return true;
        };
        most <= least + 1
            || !self
                .by_load
                .iter()
                .any(|&(load, _, place)| self.could_gain(place, load))
    }

    /// Whether a member could get a partition from one that has at least two more.
    fn could_gain(&self, place: usize, load: usize) -> bool {
        let topics = self
            .topics
            .iter()
            .filter(|(topic, _)| self.group.members[place].topics.contains(*topic));
        topics.flat_map(|(topic, &count)| slots_of(topic, count)).any(|slot| {
            let owner = self.owner.get(&slot);
            owner.is_some_and(|&owner| owner != place && load + 1 < self.assigned[owner].len())
        })
    }

    /// Goes through partitions until a pass changes nothing; whether anything was moved.
    fn reassign(&mut self, slots: &[Slot]) -> bool {
        let mut moved = false;
        loop {
            let mut again = false;
            for slot in slots {
                if self.is_balanced() {
                    break;
                }
                again |= self.reassign_one(slot);
            }
            moved |= again;
            if !again {
                return moved;
            }
        }
    }

    fn reassign_one(&mut self, slot: &Slot) -> bool {
        let Some(&owner) = self.owner.get(slot) else {
            return false;
        };
        let load = self.assigned[owner].len();
        let has_fewer = |place: usize| load > self.assigned[place].len() + 1;
        if let Some(&(earlier, _)) = self.earlier.get(slot)
            && has_fewer(earlier)
        {
            self.move_to(slot, earlier);
            return true;
        }
        if !self.subscribers[&slot.topic].iter().any(|&place| has_fewer(place)) {
            return false;
        }
        let subscribed = |place: usize| self.group.members[place].topics.contains(&slot.topic);
        let least = self
            .by_load
            .iter()
            .map(|&(_, _, place)| place)
            .find(|&place| subscribed(place));
        if let Some(place) = least {
            self.move_to(slot, place);
        }
        least.is_some()
    }

    fn move_to(&mut self, slot: &Slot, to: usize) {
        let Some(&from) = self.owner.get(slot) else { return };
        let slot = self.movements.actual(slot, from, to);
        let Some(&from) = self.owner.get(&slot) else { return };
        self.by_load.remove(&self.load_key(from));
        self.by_load.remove(&self.load_key(to));
        self.movements.note(&slot, from, to);
        self.assigned[from].remove(&slot);
        self.assigned[to].insert(slot.clone());
        self.owner.insert(slot, to);
        self.by_load.insert(self.load_key(to));
        self.by_load.insert(self.load_key(from));
    }
}

/// Claims of a generation before the latest, the latest of them for each partition.
fn earlier_owners(group: &Group) -> SortedMap<Slot, (usize, i32)> {
    let latest = group.members.iter().map(|member| member.generation).max().unwrap_or(-1);
    let mut earlier: SortedMap<Slot, (usize, i32)> = SortedMap::new();
    for (place, member) in group
        .members
        .iter()
        .enumerate()
        .filter(|(_, member)| member.generation < latest)
    {
        for slot in &member.owned {
            let known = earlier.entry(slot.clone()).or_insert((place, member.generation));
            if member.generation > known.1 {
                *known = (place, member.generation);
            }
        }
    }
    earlier
}

/// Which partitions have been moved, and between whom.
#[derive(Default)]
struct Movements {
    by_slot: SortedMap<Slot, (usize, usize)>,
    /// For a topic and a pair (from, to) the partitions in the order in which they were moved.
    by_pair: SortedMap<(Arc<str>, usize, usize), Vec<Slot>>,
}

impl Movements {
    /// The partition to move so that two members do not exchange partitions of a topic.
    fn actual(&self, slot: &Slot, from: usize, to: usize) -> Slot {
        let from = self.by_slot.get(slot).map_or(from, |&(first, _)| first);
        let reverse = self.by_pair.get(&(Arc::clone(&slot.topic), to, from));
        reverse
            .and_then(|slots| java_order::first_slot(slots))
            .unwrap_or(slot)
            .clone()
    }

    fn note(&mut self, slot: &Slot, from: usize, to: usize) {
        let first = match self.by_slot.remove(slot) {
            None => from,
            Some((first, last)) => {
                let key = (Arc::clone(&slot.topic), first, last);
                if let Some(slots) = self.by_pair.get_mut(&key) {
                    slots.retain(|moved| moved != slot);
                    if slots.is_empty() {
                        self.by_pair.remove(&key);
                    }
                }
                first
            }
        };
        if first != to {
            self.by_slot.insert(slot.clone(), (first, to));
            self.by_pair
                .entry((Arc::clone(&slot.topic), first, to))
                .or_default()
                .push(slot.clone());
        }
    }
}
