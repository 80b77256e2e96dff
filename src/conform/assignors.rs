//! Recordings of group assignors: one recording a case, one operation a step.
//!
//! In steps that are marked as sensitive to the order of Java's hash maps the exact assignment is an accident. There
//! another one will do if it is complete, as even as the recorded one when all subscriptions are equal, and leaves as
//! many partitions with their owner.

use crate::cluster::assignor::{Assignment, Assignor, Group, Member, Slot};
use crate::conform::compare::differences;
use crate::conform::{Difference, Malformed, Recording, Replay, Replayed};
use crate::sorted::{SortedMap, SortedSet};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Replays kind `assignor`.
pub struct Assignors;

/// Topic to partitions.
type Partitions = SortedMap<Arc<str>, SortedSet<u32>>;

#[derive(Deserialize)]
struct Case {
    assignor: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    change: String,
    topics: SortedMap<Arc<str>, u32>,
    members: Vec<StepMember>,
    assignment: SortedMap<Arc<str>, Partitions>,
    #[serde(default)]
    map_order_sensitive: bool,
}

#[derive(Deserialize)]
struct StepMember {
    id: Arc<str>,
    #[serde(default)]
    instance: Option<Arc<str>>,
    topics: SortedSet<Arc<str>>,
    owned: Partitions,
    #[serde(default = "new_member")]
    generation: i32,
}

fn new_member() -> i32 {
    -1
}

impl Replay for Assignors {
    fn kind(&self) -> &'static str {
        "assignor"
    }

    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed> {
        let case = Case::deserialize(&recording.header).map_err(|error| Malformed::new("case", error))?;
        let assignor = Assignor::from_name(&case.assignor)
            .ok_or_else(|| Malformed::new("case", format!("there is no assignor {}", case.assignor)))?;
        let mut replayed = Replayed::default();
        for (index, step) in case.steps.iter().enumerate() {
            check_size(step).map_err(|complaint| Malformed::new(format!("step {index}"), complaint))?;
            let operation = format!("{index} {} {}", case.assignor, step.change);
            let group = group(step);
            let ours = assignor.assign(&group);
            replayed.operations += 1;
            let kafka = recorded(step);
            replayed.differences = differences(&operation, "assignment", &by_topic(&kafka), &by_topic(&ours));
            if step.map_order_sensitive && !replayed.differences.is_empty() {
                replayed.differences = compare_properties(&operation, &group, &kafka, &ours);
            }
            if !replayed.differences.is_empty() {
                break;
            }
        }
        Ok(replayed)
    }
}

/// How many partitions all topics of a step can have: one is as much work as a word in the recording, and a number is not.
const MOST_PARTITIONS: u64 = 1_000;

fn check_size(step: &Step) -> Result<(), String> {
    let partitions: u64 = step.topics.values().copied().map(u64::from).sum();
    match partitions {
        ..=MOST_PARTITIONS => Ok(()),
        _ => Err(format!(
            "{partitions} partitions, of which there can be {MOST_PARTITIONS}"
        )),
    }
}

fn slots(partitions: &Partitions) -> impl Iterator<Item = Slot> + '_ {
    partitions.iter().flat_map(|(topic, numbers)| {
        numbers.iter().map(|&partition| Slot {
            topic: Arc::clone(topic),
            partition,
        })
    })
}

fn group(step: &Step) -> Group {
    let member = |member: &StepMember| Member {
        id: Arc::clone(&member.id),
        instance: member.instance.clone(),
        topics: member.topics.clone(),
        owned: slots(&member.owned).collect(),
        generation: member.generation,
    };
    Group {
        topics: step.topics.clone(),
        members: step.members.iter().map(member).collect(),
    }
}

/// The recorded assignment; a member that got nothing need not stand in it.
fn recorded(step: &Step) -> Assignment {
    let of = |member: &StepMember| {
        step.assignment
            .get(&member.id)
            .map(|given| slots(given).collect())
            .unwrap_or_default()
    };
    step.members
        .iter()
        .map(|member| (Arc::clone(&member.id), of(member)))
        .collect()
}

/// One object a member, so that a difference names the member and the topic.
fn by_topic(assignment: &Assignment) -> Value {
    let mut members = serde_json::Map::new();
    for (member, slots) in assignment {
        let mut topics: SortedMap<&str, Vec<u32>> = SortedMap::new();
        for slot in slots {
            topics.entry(&slot.topic).or_default().push(slot.partition);
        }
        members.insert(member.to_string(), json!(topics));
    }
    Value::Object(members)
}

fn compare_properties(operation: &str, group: &Group, kafka: &Assignment, ours: &Assignment) -> Vec<Difference> {
    let properties = |assignment: &Assignment| {
        json!({
            "assigned": assignment.values().flatten().map(|slot| format!("{}-{}", slot.topic, slot.partition))
                .collect::<SortedSet<_>>(),
            "twice": assignment.values().map(SortedSet::len).sum::<usize>()
                - assignment.values().flatten().collect::<SortedSet<_>>().len(),
            "unevenness": unevenness(group, assignment),
            "kept": kept(group, assignment),
        })
    };
    differences(operation, "properties", &properties(kafka), &properties(ours))
}

/// The largest difference between two members, if all subscribe to the same.
fn unevenness(group: &Group, assignment: &Assignment) -> Option<usize> {
    let equal = group.members.windows(2).all(|pair| pair[0].topics == pair[1].topics);
    let loads = || assignment.values().map(SortedSet::len);
    equal.then(|| loads().max().unwrap_or(0) - loads().min().unwrap_or(0))
}

/// How many partitions stay with their owner.
fn kept(group: &Group, assignment: &Assignment) -> usize {
    let stays = |member: &Member, slot: &Slot| assignment.get(&member.id).is_some_and(|given| given.contains(slot));
    group
        .members
        .iter()
        .flat_map(|member| member.owned.iter().filter(move |slot| stays(member, slot)))
        .count()
}
