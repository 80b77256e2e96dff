//! Uniform when members subscribe to different topics: fill the least loaded, then level topic by topic.
//!
//! Each member keeps what it owns of the topics it still subscribes to. What nobody owns goes to the least loaded
//! subscribers, topics with the most partitions for each subscriber first. Then each topic is levelled: the most loaded
//! subscriber that has a partition of it gives one to the least loaded, until they differ by at most one; and all topics
//! again, until a round changes nothing.
//!
//! Kafka goes through members in the order of a hash map, which is kept; ties between topics are broken by random ids
//! there and by name here. Mirrors `UniformHeterogeneousAssignmentBuilder`.

use crate::cluster::assignor::{Assignment, Group, Member, slots_of};
use crate::sorted::{SortedMap, sort_by};
use std::cmp::Ordering;
use std::sync::Arc;

/// How often all topics are gone through at most.
const MAX_ROUNDS: usize = 16;

pub(super) fn assign(group: &Group) -> Assignment {
    let mut builder = Builder::new(group);
    builder.fill();
    builder.level();
    builder.assignment(group)
}

struct Topic<'a> {
    name: &'a Arc<str>,
    /// Places of the subscribers.
    subscribers: Vec<usize>,
    /// The owner of each partition.
    owners: Vec<Option<usize>>,
}

struct Builder<'a> {
    members: Vec<&'a Member>,
    loads: Vec<usize>,
    topics: Vec<Topic<'a>>,
}

impl<'a> Builder<'a> {
    fn new(group: &'a Group) -> Self {
        let members = group.members_in_map_order();
        let mut loads = vec![0; members.len()];
        let subscribed = |topic: &Arc<str>| -> Vec<usize> {
            (0..members.len())
                .filter(|&place| members[place].topics.contains(topic))
                .collect()
        };
        let mut topics: Vec<Topic> = group
            .topics
            .iter()
            .map(|(name, &count)| Topic {
                name,
                subscribers: subscribed(name),
                owners: vec![None; count as usize],
            })
            .filter(|topic| !topic.subscribers.is_empty())
            .collect();
        for topic in &mut topics {
            for &place in &topic.subscribers {
                for slot in members[place].owned.iter().filter(|slot| slot.topic == *topic.name) {
                    if let Some(owner) = topic.owners.get_mut(slot.partition as usize) {
                        *owner = Some(place);
                        loads[place] += 1;
                    }
                }
            }
        }
        sort_by(&mut topics, compare_topics);
        Builder { members, loads, topics }
    }

    fn fill(&mut self) {
        for topic in &mut self.topics {
            let mut scale = Scale::new(&topic.subscribers, &self.loads);
            for owner in topic.owners.iter_mut().filter(|owner| owner.is_none()) {
                let place = scale.next_least(&self.loads);
                *owner = Some(place);
                self.loads[place] += 1;
            }
        }
    }

    fn level(&mut self) {
        let shared: Vec<usize> = (0..self.topics.len())
            .filter(|&at| self.topics[at].subscribers.len() >= 2)
            .collect();
        let mut last_changed = None;
        for _ in 0..MAX_ROUNDS {
            for &at in &shared {
                if last_changed == Some(at) {
                    return;
                }
                if self.level_topic(at) > 0 || last_changed.is_none() {
                    last_changed = Some(at);
                }
            }
        }
    }

    /// Levels one topic and tells how many partitions it moved.
    fn level_topic(&mut self, at: usize) -> usize {
        let topic = &mut self.topics[at];
        let mut scale = Scale::new(&topic.subscribers, &self.loads);
        if scale.imbalance(&self.loads) <= 1 {
            return 0;
        }
        let mut held: SortedMap<usize, Vec<usize>> = SortedMap::new();
        for (partition, owner) in topic.owners.iter().enumerate() {
            held.entry(owner.unwrap_or(usize::MAX)).or_default().push(partition);
        }
        let mut moved = 0;
        while !scale.is_balanced() {
            let giver = loop {
                match scale.next_most(&self.loads) {
                    Some(place) if held.get(&place).is_none_or(Vec::is_empty) => scale.exclude_most(),
                    found => break found,
                }
            };
            let Some(partition) = giver.and_then(|place| held.get_mut(&place)?.pop()) else {
                break;
            };
            let taker = scale.next_least(&self.loads);
            if scale.is_balanced() {
                break;
            }
            if let Some(owner) = topic.owners[partition].replace(taker) {
                self.loads[owner] -= 1;
            }
            self.loads[taker] += 1;
            moved += 1;
        }
        moved
    }

    fn assignment(&self, group: &Group) -> Assignment {
        let mut assignment = group.nothing_assigned();
        for topic in &self.topics {
            let slots = slots_of(topic.name, topic.owners.len() as u32);
            for (slot, owner) in slots.zip(&topic.owners) {
                if let Some(place) = *owner {
                    assignment
                        .entry(Arc::clone(&self.members[place].id))
                        .or_default()
                        .insert(slot);
                }
            }
        }
        assignment
    }
}

/// Most partitions for each subscriber first, then fewest subscribers.
fn compare_topics(a: &Topic<'_>, b: &Topic<'_>) -> Ordering {
    let (a_subscribers, b_subscribers) = (a.subscribers.len(), b.subscribers.len());
    let by_share = (b.owners.len() * a_subscribers).cmp(&(a.owners.len() * b_subscribers));
    by_share
        .then(a_subscribers.cmp(&b_subscribers))
        .then(a.name.cmp(b.name))
}

/// Subscribers by load, walked from both ends: from below, those of the lowest level in turn and then, once each got
/// one, those of the next level with them; from above alike. Whoever is named is taken to have got or given one.
struct Scale {
    places: Vec<usize>,
    least_end: usize,
    least_level: i64,
    next_least: usize,
    most_start: usize,
    most_end: usize,
    most_level: i64,
    /// The next place from above, or −1 behind the last one.
    next_most: i64,
}

impl Scale {
    fn new(subscribers: &[usize], loads: &[usize]) -> Self {
        let mut places = subscribers.to_vec();
        sort_by(&mut places, |&a, &b| (loads[a], a).cmp(&(loads[b], b)));
        let level = |place: Option<&usize>| place.map_or(0, |&place| loads[place] as i64);
        Scale {
            least_end: 0,
            least_level: level(places.first()) - 1,
            next_least: 0,
            most_start: places.len(),
            most_end: places.len(),
            most_level: level(places.last()) + 1,
            next_most: places.len() as i64 - 1,
            places,
        }
    }

    fn imbalance(&self, loads: &[usize]) -> usize {
        let load = |place: Option<&usize>| place.map_or(0, |&place| loads[place]);
        load(self.places.last()).saturating_sub(load(self.places.first()))
    }

    fn next_least(&mut self, loads: &[usize]) -> usize {
        if self.next_least >= self.least_end {
            self.least_level += 1;
            while self.least_end < self.places.len() && self.level(self.least_end, loads) == self.least_level {
                self.least_end += 1;
            }
            self.next_least = 0;
        }
        self.next_least += 1;
        self.places[self.next_least - 1]
    }

    fn next_most(&mut self, loads: &[usize]) -> Option<usize> {
        if self.next_most < self.most_start as i64 {
            let is_empty = self.most_end <= self.most_start;
            self.most_level = match self.most_start.checked_sub(1) {
                Some(below) if is_empty => self.level(below, loads),
                _ => self.most_level - 1,
            };
            while self.most_start > 0 && self.level(self.most_start - 1, loads) == self.most_level {
                self.most_start -= 1;
            }
            self.next_most = self.most_end as i64 - 1;
        }
        let at = usize::try_from(self.next_most).ok()?;
        self.next_most -= 1;
        Some(self.places[at])
    }

    /// The one that was named last from above has nothing to give: it leaves the range.
    fn exclude_most(&mut self) {
        let at = (self.next_most + 1) as usize;
        self.places.swap(at, self.most_end - 1);
        self.most_end -= 1;
    }

    fn is_balanced(&self) -> bool {
        self.most_level - self.least_level <= 1
    }

    fn level(&self, at: usize, loads: &[usize]) -> i64 {
        loads[self.places[at]] as i64
    }
}
