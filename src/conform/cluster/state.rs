//! What the recorder sees of a cluster: its state as JSON, what is described of a partition, files.

use super::run::Run;
use crate::cluster::broker::{Broker, ReplicaView, Role};
use crate::cluster::controller::{LastKnownLeader, LeaderRecoveryState, Partition};
use crate::cluster::{BrokerId, TopicPartition, World};
use crate::log::checkpoint::read_epochs;
use crate::log::{Errors, File, Files, LEADER_EPOCH_CHECKPOINT, file_name};
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
    let offsets = world.settings().offsets_topic;
    let partitions = world.controller().state().partitions();
    for (tp, partition) in partitions.filter(|(tp, _)| Some(tp.topic) != offsets) {
        let mut fields = of_partition(partition);
        let (mut leo, mut hw, mut log_start) = (Map::new(), Map::new(), Map::new());
        for broker in world.brokers() {
            let Some(replica) = broker.replica(tp) else { continue };
            let id = broker.id().to_string();
            leo.insert(id.clone(), replica.log_end().into());
            if !broker.is_running() || broker.is_paused() {
                continue;
            }
            match refusal(broker, tp, &replica) {
                Some(error) => {
                    hw.insert(id, error.into());
                }
                None => {
                    hw.insert(id.clone(), replica.high_watermark().into());
                    log_start.insert(id, replica.log_start().into());
                }
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

/// Why a broker would not tell a consumer the high watermark of a replica that it holds.
fn refusal(broker: &Broker, tp: TopicPartition, replica: &ReplicaView<'_>) -> Option<&'static str> {
    let known = broker.image().map(|image| image.partition(tp).is_some());
    match (known, replica.role()) {
        (None, _) => Some("CONNECTION_LOST"),
        (Some(false), _) => Some(Errors::UnknownTopicOrPartition.name()),
        (Some(true), None | Some(Role::Unknown)) => Some(Errors::NotLeaderOrFollower.name()),
        (Some(true), Some(_)) => None,
    }
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

/// Segment files and the file of leader epochs of every replica.
pub(super) fn files(world: &World, tp: TopicPartition) -> Value {
    let replicas = world
        .brokers()
        .filter_map(|broker| Some((broker.id(), broker.replica(tp)?.files())));
    let all: Map<String, Value> = replicas
        .map(|(id, files)| {
            let length = |base| files.get(&file_name(base, "log")).map_or(0, File::len);
            let segments: Vec<Value> = files
                .segment_bases()
                .into_iter()
                .map(|base| json!([base, length(base)]))
                .collect();
            (id.to_string(), json!({"segments": segments, "epochs": epochs(&files)}))
        })
        .collect();
    all.into()
}

/// The file of leader epochs: epoch and start offset.
pub(super) fn epochs(files: &Files) -> Value {
    let text = files
        .get(LEADER_EPOCH_CHECKPOINT)
        .map(|file| String::from_utf8_lossy(&file.to_bytes()).into_owned());
    let entries = text.and_then(|text| read_epochs(&text).ok()).unwrap_or_default();
    entries
        .iter()
        .map(|entry| json!([entry.epoch, entry.start_offset]))
        .collect()
}
