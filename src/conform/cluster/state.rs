//! What the recorder sees of a cluster: its state as JSON, conditions to wait for, files.

use super::run::Run;
use crate::cluster::controller::{LastKnownLeader, LeaderRecoveryState, Partition};
use crate::cluster::event::Outcome;
use crate::cluster::{BrokerId, TopicPartition, What, World};
use crate::log::Errors;
use serde_json::{Map, Value, json};

/// The `state` of an observation.
pub(super) fn of(run: &Run) -> Value {
    let world = &run.world;
    let mut state = Map::new();
    let brokers: Map<String, Value> = world
        .broker_ids()
        .map(|id| (id.to_string(), process(world, id).into()))
        .collect();
    state.insert("brokers".into(), brokers.into());
    for (tp, partition) in world.controller().state().partitions() {
        let mut fields = of_partition(partition);
        let (mut leo, mut hw, mut log_start) = (Map::new(), Map::new(), Map::new());
        for broker in world.brokers() {
            let Some(replica) = broker.replica(tp) else { continue };
            let id = broker.id().to_string();
            leo.insert(id.clone(), replica.log_end().into());
            if broker.is_running() && !broker.is_paused() {
                hw.insert(id.clone(), replica.high_watermark().into());
                log_start.insert(id, replica.log_start().into());
            }
        }
        fields.insert("leo".into(), leo.into());
        fields.insert("hw".into(), hw.into());
        if log_start.values().any(|start| *start != 0) {
            fields.insert("logStart".into(), log_start.into());
        }
        state.insert(world.partition_name(tp), fields.into());
    }
    state.into()
}

fn process(world: &World, id: BrokerId) -> String {
    let broker = world.broker(id);
    let process = match broker {
        Some(broker) if broker.is_paused() => "paused",
        Some(broker) if broker.is_running() => "up",
        _ => "down",
    };
    let known = world.controller().state().broker(id);
    let fenced = if known.is_some_and(|broker| broker.fenced) {
        ",fenced"
    } else {
        ""
    };
    format!("{process}{fenced}")
}

fn sorted(ids: &[BrokerId]) -> Value {
    let mut ids: Vec<u16> = ids.iter().map(|id| id.0).collect();
    ids.sort_unstable();
    ids.into()
}

fn last_known(partition: &Partition) -> Value {
    match partition.last_known_leader {
        LastKnownLeader::Broker(id) => json!([id.0]),
        LastKnownLeader::Nobody => json!([-1]),
        LastKnownLeader::Unknown => json!([]),
    }
}

/// A partition as the controller has it.
pub(super) fn of_partition(partition: &Partition) -> Map<String, Value> {
    let mut fields = Map::new();
    let leader = partition.leader.map_or(-1, |id| i32::from(id.0));
    fields.insert("leader".into(), leader.into());
    fields.insert("leaderEpoch".into(), partition.leader_epoch.into());
    fields.insert("partitionEpoch".into(), partition.partition_epoch.into());
    fields.insert("isr".into(), sorted(&partition.isr));
    fields.insert("elr".into(), sorted(&partition.elr));
    fields.insert("lastKnownElr".into(), last_known(partition));
    if partition.recovery == LeaderRecoveryState::Recovering {
        fields.insert("recovering".into(), true.into());
    }
    if partition.is_reassigning() {
        fields.insert("adding".into(), sorted(&partition.adding));
        fields.insert("removing".into(), sorted(&partition.removing));
    }
    fields
}

/// What the admin client describes of a partition.
pub(super) fn describe(world: &World, tp: TopicPartition) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(partition) = world.controller().state().partition(tp) {
        let known = of_partition(partition);
        for name in ["leader", "isr", "elr", "lastKnownElr"] {
            fields.insert(name.into(), known[name].clone());
        }
        let replicas: Vec<u16> = partition.replicas.iter().map(|id| id.0).collect();
        fields.insert("replicas".into(), replicas.into());
    }
    fields
}

/// Segments and leader epochs of every replica.
pub(super) fn files(world: &World, tp: TopicPartition) -> Value {
    let mut files = Map::new();
    for broker in world.brokers() {
        if let Some(replica) = broker.replica(tp) {
            let of_one = json!({
                "segments": super::ends::segments(&replica),
                "epochs": super::ends::epochs(&replica),
            });
            files.insert(broker.id().to_string(), of_one);
        }
    }
    files.into()
}

/// What a producer was told of a record.
pub(super) fn outcome(told: Option<&What>, result: &mut Map<String, Value>) {
    let Some(What::Told { partition, outcome, .. }) = told else {
        result.insert("error".into(), "UNDECIDED".into());
        return;
    };
    let error = match outcome {
        Outcome::Failed(Errors::RequestTimedOut) => "DELIVERY_TIMEOUT",
        Outcome::Failed(error) => error.name(),
        Outcome::Acked(_) | Outcome::Sent => "NONE",
    };
    result.insert("error".into(), error.into());
    if let (Outcome::Acked(offset), Some(tp)) = (outcome, partition) {
        result.insert("partition".into(), tp.partition.into());
        result.insert("offset".into(), (*offset).into());
    }
}

/// The conditions that can be waited for.
const CONDITIONS: [&str; 10] = [
    "isr",
    "leader",
    "newleader",
    "hw",
    "leo",
    "firstseg",
    "logstart",
    "fenced",
    "unfenced",
    "replicas",
];

/// That every condition is one of those.
pub(super) fn check_conditions(conditions: &Map<String, Value>) -> Result<(), String> {
    match conditions.keys().find(|name| !CONDITIONS.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(format!("{name} is nothing to wait for")),
    }
}

/// Whether all conditions hold.
pub(super) fn hold(world: &World, tp: TopicPartition, conditions: &Map<String, Value>) -> bool {
    conditions.iter().all(|(name, wanted)| holds(world, tp, name, wanted))
}

fn holds(world: &World, tp: TopicPartition, name: &str, wanted: &Value) -> bool {
    let Some(partition) = world.controller().state().partition(tp) else {
        return false;
    };
    let leader = partition.leader.map(|id| u64::from(id.0));
    let number = |value: &Value| value.as_u64();
    let mut listed = match wanted {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    match name {
        "isr" => {
            listed.sort_by_key(Value::as_u64);
            Value::Array(listed) == sorted(&partition.isr)
        }
        "leader" => leader == number(wanted),
        "newleader" => leader.is_some() && leader != number(wanted),
        "replicas" => {
            let replicas: Vec<Value> = partition.replicas.iter().map(|id| id.0.into()).collect();
            listed == replicas && !partition.is_reassigning()
        }
        "fenced" | "unfenced" => listed.iter().all(|id| {
            let id = BrokerId(number(id).unwrap_or(0) as u16);
            let known = world.controller().state().broker(id);
            known.is_some_and(|broker| broker.fenced == (name == "fenced"))
        }),
        _ => listed
            .iter()
            .all(|at| replica_at(world, tp, name, at.as_str().unwrap_or_default())),
    }
}

/// Whether a replica stands where `BROKER:OFFSET` says.
fn replica_at(world: &World, tp: TopicPartition, what: &str, wanted: &str) -> bool {
    let parts = wanted.split_once(':').and_then(|(id, offset)| {
        let id: u16 = id.parse().ok()?;
        let offset: i64 = offset.parse().ok()?;
        Some((BrokerId(id), offset))
    });
    let Some((id, offset)) = parts else { return false };
    let Some(broker) = world.broker(id) else { return false };
    let Some(replica) = broker.replica(tp) else {
        return false;
    };
    let found = match what {
        "hw" if broker.is_paused() => None,
        "hw" => replica.high_watermark(),
        "leo" => Some(replica.log_end()),
        "firstseg" => replica.log().segments().next().map(|segment| segment.base_offset()),
        _ => Some(replica.log_start()),
    };
    found == Some(offset)
}
