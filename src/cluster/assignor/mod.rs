//! Assignors: who in a consumer group reads which partition.
//!
//! Each is a pure function of the group. Four run in the leading member (`range`, `roundrobin`, `sticky`,
//! `cooperative-sticky`), two in the group's coordinator (`uniform`, `range` of the consumer protocol). The sticky ones
//! and `uniform` look at what members already own and move as little as they can.
//!
//! Where Kafka walks a hash map and the order decides, the same order is kept (see `java_order`); where the order follows
//! from random topic ids, it cannot be, and names stand in.
//!
//! Deliberately absent: racks, the encoding of user data, and the protocol around an assignment (who must give up what
//! first). Mirrors `ConsumerPartitionAssignor` and `ConsumerGroupPartitionAssignor`.

mod java_order;
mod range;
mod round_robin;
mod sticky;
mod sticky_equal;
mod sticky_general;
mod uniform;
mod uniform_general;

#[cfg(test)]
mod tests;

use crate::sorted::{SortedMap, SortedSet, sort_by};
use std::sync::Arc;

/// A partition of a topic, in the order of names and numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: u32,
}

/// A member of a group, as its assignor sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// `member.id`.
    pub id: Arc<str>,
    /// `group.instance.id` of a static member.
    pub instance: Option<Arc<str>>,
    /// The topics it subscribes to; they need not exist.
    pub topics: SortedSet<Arc<str>>,
    /// The partitions it owns going in.
    pub owned: Vec<Slot>,
    /// The generation in which it got them, −1 for a new member.
    pub generation: i32,
}

/// Everything an assignor looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The topics that exist, with their number of partitions.
    pub topics: SortedMap<Arc<str>, u32>,
    /// The members.
    pub members: Vec<Member>,
}

/// What each member is to read; every member is in it.
pub type Assignment = SortedMap<Arc<str>, SortedSet<Slot>>;

/// A rule by which partitions are given to members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assignor {
    /// Topic by topic, a consecutive range for each member (client side).
    Range,
    /// All partitions in turn (client side).
    RoundRobin,
    /// Balanced, and nothing moves without need (client side).
    Sticky,
    /// As [`Assignor::Sticky`], but what changes hands goes to nobody in the first step (client side).
    CooperativeSticky,
    /// Balanced over all topics, with little movement (server side, the default).
    Uniform,
    /// As [`Assignor::Range`] (server side).
    ServerRange,
}

impl Assignor {
    /// Every assignor.
    pub const ALL: [Assignor; 6] = [
        Assignor::Range,
        Assignor::RoundRobin,
        Assignor::Sticky,
        Assignor::CooperativeSticky,
        Assignor::Uniform,
        Assignor::ServerRange,
    ];

    /// Kafka's name, with `server-` in front of those that run in the coordinator.
    pub fn name(self) -> &'static str {
        match self {
            Assignor::Range => "range",
            Assignor::RoundRobin => "roundrobin",
            Assignor::Sticky => "sticky",
            Assignor::CooperativeSticky => "cooperative-sticky",
            Assignor::Uniform => "server-uniform",
            Assignor::ServerRange => "server-range",
        }
    }

    /// The assignor of this name.
    pub fn from_name(name: &str) -> Option<Assignor> {
        Assignor::ALL.into_iter().find(|assignor| assignor.name() == name)
    }

    /// Gives every partition of a subscribed topic to a member, but for what [`Assignor::CooperativeSticky`] holds back.
    pub fn assign(self, group: &Group) -> Assignment {
        match self {
            Assignor::Range | Assignor::ServerRange => range::assign(group),
            Assignor::RoundRobin => round_robin::assign(group),
            Assignor::Sticky => sticky::assign(group),
            Assignor::CooperativeSticky => sticky::assign_cooperatively(group),
            Assignor::Uniform if group.has_equal_subscriptions() => uniform::assign(group),
            Assignor::Uniform => uniform_general::assign(group),
        }
    }
}

impl Group {
    /// The members in the order of assignors that ignore ownership: static ones by instance id, then the others by id.
    fn members_in_order(&self) -> Vec<&Member> {
        let mut members: Vec<&Member> = self.members.iter().collect();
        let key = |member: &Member| match &member.instance {
            Some(instance) => (0, Arc::clone(instance)),
            None => (1, Arc::clone(&member.id)),
        };
        sort_by(&mut members, |a, b| key(a).cmp(&key(b)));
        members
    }

    /// The members in the order of a Java hash map of their ids.
    fn members_in_map_order(&self) -> Vec<&Member> {
        let order = java_order::of_texts(self.members.iter().map(|member| member.id.as_ref()));
        order.into_iter().map(|place| &self.members[place]).collect()
    }

    /// The topics that exist and that somebody subscribes to, with their number of partitions.
    fn subscribed_topics(&self) -> SortedMap<Arc<str>, u32> {
        let wanted = |topic: &Arc<str>| self.members.iter().any(|member| member.topics.contains(topic));
        self.topics
            .iter()
            .filter(|(topic, _)| wanted(topic))
            .map(|(topic, &count)| (Arc::clone(topic), count))
            .collect()
    }

    fn has_equal_subscriptions(&self) -> bool {
        self.members.windows(2).all(|pair| pair[0].topics == pair[1].topics)
    }

    fn nothing_assigned(&self) -> Assignment {
        self.members
            .iter()
            .map(|member| (Arc::clone(&member.id), SortedSet::new()))
            .collect()
    }
}

/// The partitions of topics, by name and number.
fn slots(topics: &SortedMap<Arc<str>, u32>) -> impl Iterator<Item = Slot> + '_ {
    topics.iter().flat_map(|(topic, &count)| slots_of(topic, count))
}

fn slots_of(topic: &Arc<str>, count: u32) -> impl Iterator<Item = Slot> + '_ {
    (0..count).map(|partition| Slot {
        topic: Arc::clone(topic),
        partition,
    })
}
