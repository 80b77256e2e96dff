//! What a script can wait for.

use super::run::Run;
use super::step::text;
use crate::cluster::controller::Partition;
use crate::cluster::{BrokerId, TopicPartition};
use serde_json::{Map, Value};

/// The conditions.
const CONDITIONS: [&str; 14] = [
    "done",
    "elr",
    "epoch",
    "fenced",
    "firstseg",
    "hw",
    "isr",
    "leader",
    "leo",
    "logstart",
    "newleader",
    "replicas",
    "segments",
    "unfenced",
];

/// That every condition is one of those.
pub(super) fn check(conditions: &Map<String, Value>) -> Result<(), String> {
    match conditions.keys().find(|name| !CONDITIONS.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(format!("{name} is nothing to wait for")),
    }
}

/// Whether all conditions hold.
pub(super) fn hold(run: &Run, tp: TopicPartition, conditions: &Map<String, Value>) -> bool {
    let partition = run.world.controller().state().partition(tp);
    partition.is_some_and(|partition| {
        conditions
            .iter()
            .all(|(name, wanted)| holds(run, tp, partition, name, &text(wanted)))
    })
}

fn holds(run: &Run, tp: TopicPartition, partition: &Partition, name: &str, wanted: &str) -> bool {
    let leader = partition.leader.map_or(-1, |id| i64::from(id.0));
    let number = wanted.parse::<i64>().ok();
    match name {
        "done" => run.is_done(wanted),
        "elr" => ids(&partition.elr) == wanted,
        "isr" => ids(&partition.isr) == wanted,
        "epoch" => number.is_some_and(|epoch| i64::from(partition.leader_epoch) >= epoch),
        "leader" => leader == number.unwrap_or(-1),
        "newleader" => leader >= 0 && Some(leader) != number,
        "replicas" => in_order(&partition.replicas) == wanted && !partition.is_reassigning(),
        "fenced" | "unfenced" => wanted.split(',').all(|id| {
            let known = id.parse().ok();
            let known = known.and_then(|id| run.world.controller().state().broker(BrokerId(id)));
            known.is_some_and(|broker| broker.fenced == (name == "fenced"))
        }),
        _ => wanted.split(',').all(|at| replica_at(run, tp, name, at)),
    }
}

fn ids(ids: &[BrokerId]) -> String {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    in_order(&sorted)
}

fn in_order(ids: &[BrokerId]) -> String {
    ids.iter().map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

/// Whether a replica stands where `BROKER:NUMBER` says.
fn replica_at(run: &Run, tp: TopicPartition, what: &str, wanted: &str) -> bool {
    let parts = wanted.split_once(':').and_then(|(id, number)| {
        let number: i64 = number.parse().ok()?;
        Some((BrokerId(id.parse().ok()?), number))
    });
    let Some((id, number)) = parts else { return false };
    let broker = run.world.broker(id);
    let Some(replica) = broker.and_then(|broker| broker.replica(tp)) else {
        return false;
    };
    let asked = !run.is_paused(id);
    let found = match what {
        "hw" => replica.high_watermark().filter(|_| asked),
        "logstart" => Some(replica.log_start()).filter(|_| asked),
        "leo" => Some(replica.log_end()),
        "segments" => i64::try_from(replica.log().segment_count()).ok(),
        _ => replica.log().segments().next().map(|segment| segment.base_offset()),
    };
    found == Some(number)
}
