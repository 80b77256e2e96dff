//! All partitions at once: partitions by brokers, what each broker is to each, where its log ends and how many records it
//! lacks.
//!
//! A broker stands in the same column in every row, so that one that is down is seen as a column. The partitions of the
//! cluster's own topic, fifty as soon as there is a group, are one line until somebody wants to see them. Deliberately
//! absent: what lies in the logs; the partition in view is drawn in detail.

use std::rc::Rc;

use crate::cluster::{BrokerId, TopicPartition};
use crate::ui::view::look::Look;
use crate::ui::view::rows::{health, role_in};
use crate::ui::view::stage::{Health, Role};

/// What a broker is to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the controller has decided, or what the broker still believes.
    pub role: Role,
    /// How the broker is.
    pub health: Health,
    /// Where its log ends; a broker that is no replica has none.
    pub end: Option<i64>,
    /// How many records its log lacks of the leader's. A leader lacks none, and without one nobody can say.
    pub lag: Option<i64>,
}

impl Part {
    /// In words: `in sync, log end 4, 2 records behind`.
    pub fn words(self) -> String {
        let mut words = self.standing();
        if let Some(end) = self.end {
            words.push_str(&format!(", log end {end}"));
        }
        match self.lag {
            None | Some(0) => {}
            Some(1) => words.push_str(", 1 record behind"),
            Some(lag) => words.push_str(&format!(", {lag} records behind")),
        }
        words
    }

    /// The same without the records: `in sync`, `leader, down`.
    pub fn standing(self) -> String {
        match self.health.word() {
            Some(word) if self.role != Role::NoReplica => format!("{}, {word}", self.role.word()),
            _ => self.role.word().to_string(),
        }
    }
}

/// One partition, a part for each broker in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its name.
    pub name: Rc<str>,
    /// Topic id and partition number.
    pub id: (u16, u32),
    /// Whether nobody leads it.
    pub is_offline: bool,
    /// What each broker is to it.
    pub parts: Vec<Part>,
}

/// The partitions of the cluster's own topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded<T> {
    /// What there is to say of all of them in one line.
    pub line: Rc<str>,
    /// Each of them.
    pub all: Vec<T>,
}

impl<T> Folded<T> {
    /// Nothing if there are none.
    pub fn of(look: &Look<'_>, one: impl FnMut(TopicPartition) -> Option<T>) -> Option<Folded<T>> {
        let (own, _) = sorted(look);
        let line = summary(look, &own)?;
        Some(Folded {
            line: line.into(),
            all: own.into_iter().filter_map(one).collect(),
        })
    }
}

/// All partitions by all brokers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The brokers, ascending.
    pub brokers: Vec<u16>,
    /// The partitions of people's topics.
    pub lines: Vec<Line>,
    /// Those of the cluster's own.
    pub own: Option<Folded<Line>>,
}

/// All partitions, unless there is only the one in view.
pub fn overview(look: &Look<'_>) -> Option<Overview> {
    if look.world.partitions().len() < 2 {
        return None;
    }
    Some(Overview {
        brokers: look.world.broker_ids().map(|id| id.0).collect(),
        lines: of_people(look).into_iter().map(|at| line(look, at)).collect(),
        own: Folded::of(look, |at| Some(line(look, at))),
    })
}

/// The partitions of people's topics.
pub fn of_people(look: &Look<'_>) -> Vec<TopicPartition> {
    sorted(look).1
}

/// The partitions of the cluster's own topic, and the others.
fn sorted(look: &Look<'_>) -> (Vec<TopicPartition>, Vec<TopicPartition>) {
    let all = look.world.partitions().into_iter();
    all.partition(|at| look.names.is_of_groups(*at))
}

/// How many there are, and how many of them lack something.
fn summary(look: &Look<'_>, own: &[TopicPartition]) -> Option<String> {
    let topic = look.world.settings().topics.get(&own.first()?.topic)?;
    let image = look.world.image();
    let states = || own.iter().filter_map(|at| image.partition(*at));
    let offline = states().filter(|state| state.leader.is_none()).count();
    let lacking = states().filter(|state| state.isr.len() < state.replicas.len()).count();
    let how = match (offline, lacking) {
        (0, 0) => "each has a leader, every replica is in sync".to_string(),
        (0, lacking) => format!("each has a leader, {lacking} lack a replica in sync"),
        (offline, lacking) => format!("{offline} have no leader, {lacking} lack a replica in sync"),
    };
    Some(format!("{}: {} partitions, {how}", topic.name, own.len()))
}

fn line(look: &Look<'_>, at: TopicPartition) -> Line {
    let leader = look.world.image().leader(at);
    let end = |id: BrokerId| Some(look.world.broker(id)?.replica(at)?.log_end());
    let lag = |id: BrokerId, role: Role| {
        let lacks = end(leader?)? - end(id).unwrap_or(0);
        (role != Role::NoReplica).then_some(lacks.max(0))
    };
    let part = |id: BrokerId| {
        let role = role_in(look, at, id);
        Part {
            role,
            health: health(look, id),
            end: end(id).filter(|_| role != Role::NoReplica),
            lag: lag(id, role),
        }
    };
    Line {
        name: look.names.partition(at).into(),
        id: (at.topic.0, at.partition),
        is_offline: leader.is_none(),
        parts: look.world.broker_ids().map(part).collect(),
    }
}
