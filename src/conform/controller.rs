//! Recordings of the controller's partition logic, against [`Controller`].
//!
//! The clock begins at 0 with every broker of the header just heard. Broker epochs and metadata offsets are computed,
//! not taken over, so the number of records that every operation writes is compared with everything else.

use crate::cluster::controller::ConfigScope;
use crate::cluster::controller::{
    AlterPartition, Controller, DirectoryId, ElectionType, ElrFeature, HeartbeatRequest, LastContact, LastKnownLeader,
    LeaderRecoveryState, Outcome, Partition, RegistrationRequest, ReplicationFactorChange, Settings, StaleCheck,
    UpgradeType, Wish,
};
use crate::cluster::ids::{BrokerId, TopicId, TopicPartition};
use crate::conform::compare::differences;
use crate::conform::{Malformed, Recording, Replay, Replayed};
use crate::log::Errors;
use crate::sorted::SortedMap;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Replays kind `controller`.
pub struct Recorded;

/// An id that no topic has: a name that the recording uses for a topic that does not exist.
const NO_TOPIC: TopicId = TopicId(u16::MAX);

/// The data directory of every broker; recordings never change disks.
const DIRECTORY: DirectoryId = DirectoryId(0);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    features: SortedMap<String, Value>,
    configs: HeaderConfigs,
    session_timeout_ms: i64,
    next_offset: i64,
    brokers: Vec<HeaderBroker>,
}

#[derive(Deserialize)]
struct HeaderConfigs {
    r#static: SortedMap<String, String>,
    cluster: SortedMap<String, String>,
}

#[derive(Deserialize)]
struct HeaderBroker {
    id: u16,
    epoch: i64,
}

#[derive(Deserialize)]
struct Line {
    i: u64,
    op: Op,
    result: Value,
    state: Value,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Op {
    Register {
        broker: u16,
        incarnation: u64,
        previous_epoch: i64,
    },
    Heartbeat {
        broker: u16,
        epoch: i64,
        offset: i64,
        #[serde(default)]
        want_fence: bool,
        #[serde(default)]
        want_shut_down: bool,
    },
    Unfence {
        broker: u16,
    },
    Tick {
        ms: i64,
        heard: Vec<u16>,
    },
    CheckStale,
    Expire {
        broker: u16,
    },
    Unregister {
        broker: u16,
    },
    CreateTopic {
        topic: String,
        assignments: Vec<Vec<u16>>,
    },
    CreatePartitions {
        topic: String,
        count: u32,
        assignments: Vec<Vec<u16>>,
    },
    DeleteTopic {
        topic: String,
    },
    AlterPartition {
        broker: u16,
        broker_epoch: i64,
        partitions: Vec<AlterRequest>,
    },
    ElectLeaders {
        r#type: String,
        partitions: Option<Vec<(String, u32)>>,
    },
    ElectUnclean,
    Balance,
    SetConfig {
        scope: String,
        resource: Option<Value>,
        name: String,
        value: Option<String>,
    },
    Reassign {
        topic: String,
        partition: u32,
        replicas: Option<Vec<u16>>,
        #[serde(default = "allowed")]
        allow_replication_factor_change: bool,
    },
    SetFeature {
        name: String,
        level: u16,
        upgrade_type: String,
    },
}

fn allowed() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AlterRequest {
    topic: String,
    partition: u32,
    leader_epoch: i32,
    partition_epoch: i32,
    recovery: String,
    isr: Vec<(i32, i64)>,
}

impl Replay for Recorded {
    fn kind(&self) -> &'static str {
        "controller"
    }

    fn ends_with(&self) -> Option<&'static str> {
        Some("state")
    }

    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed> {
        let header: Header = read("header", &recording.header)?;
        let mut subject = Subject::new(header);
        let mut kafka_state = subject.state();
        let mut replayed = Replayed::default();
        for (index, value) in recording.lines.iter().enumerate() {
            let line: Line = read(&format!("operation {index}"), value)?;
            let operation = format!("{} {}", line.i, value.get("op").unwrap_or(&Value::Null));
            if line.state != "same" {
                kafka_state = line.state;
                sort_sets(&mut kafka_state);
            }
            let result = subject
                .perform(&line.op)
                .map_err(|complaint| Malformed::new(&operation, complaint))?;
            replayed.operations += 1;
            replayed.differences = differences(&operation, "result", &line.result, &result);
            replayed
                .differences
                .extend(differences(&operation, "state", &kafka_state, &subject.state()));
            if !replayed.differences.is_empty() {
                break;
            }
        }
        Ok(replayed)
    }
}

fn read<'de, T: Deserialize<'de>>(place: &str, value: &'de Value) -> Result<T, Malformed> {
    T::deserialize(value).map_err(|error| Malformed::new(place, error))
}

/// These lists have the order of a Java hash set, which says nothing.
fn sort_sets(state: &mut Value) {
    let Some(partitions) = state.get_mut("partitions").and_then(Value::as_array_mut) else {
        return;
    };
    for partition in partitions {
        for name in ["elr", "adding", "removing"] {
            if let Some(list) = partition.get_mut(name).and_then(Value::as_array_mut) {
                list.sort_by_key(Value::as_i64);
            }
        }
    }
}

/// The controller under test and its clock.
struct Subject {
    controller: Controller,
    now: i64,
}

/// An operation's result without the number of records; an error is the whole result.
type Answer = Result<Value, Errors>;

impl Subject {
    fn new(header: Header) -> Self {
        let elr = header
            .features
            .get("eligible.leader.replicas.version")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let mut controller = Controller::new(Settings {
            session_timeout_ms: header.session_timeout_ms,
            started_ms: 0,
            file: header.configs.r#static,
            cluster: header.configs.cluster,
            next_offset: header.next_offset,
            elr: if elr == 0 { ElrFeature::Off } else { ElrFeature::On },
            ..Settings::default()
        });
        for broker in header.brokers {
            controller.admit(BrokerId(broker.id), broker.epoch, DIRECTORY, LastContact::At(0));
        }
        Subject { controller, now: 0 }
    }

    fn perform(&mut self, op: &Op) -> Result<Value, String> {
        let before = self.controller.next_offset();
        let answer = self.answer(op)?;
        let records = self.controller.next_offset() - before;
        Ok(match answer {
            Ok(Value::Object(mut fields)) => {
                fields.insert("records".into(), json!(records));
                Value::Object(fields)
            }
            Ok(other) => other,
            Err(error) => json!({ "error": error.name() }),
        })
    }

    fn answer(&mut self, op: &Op) -> Result<Answer, String> {
        let controller = &mut self.controller;
        Ok(match op {
            Op::Register {
                broker,
                incarnation,
                previous_epoch,
            } => {
                let request = RegistrationRequest {
                    broker: BrokerId(*broker),
                    incarnation: *incarnation,
                    previous_epoch: *previous_epoch,
                    directory: DIRECTORY,
                };
                controller
                    .register(self.now, request)
                    .answer
                    .map(|epoch| json!({ "epoch": epoch }))
            }
            Op::Heartbeat {
                broker,
                epoch,
                offset,
                want_fence,
                want_shut_down,
            } => {
                let wish = match (want_fence, want_shut_down) {
                    (false, false) => Wish::Run,
                    (true, false) => Wish::Fence,
                    (false, true) => Wish::ShutDown,
                    (true, true) => Wish::FenceAndShutDown,
                };
                self.heartbeat(BrokerId(*broker), *epoch, *offset, wish)
            }
            Op::Unfence { broker } => {
                let broker = BrokerId(*broker);
                let epoch = controller.broker(broker).map_or(-1, |known| known.epoch);
                let last = controller.next_offset() - 1;
                self.heartbeat(broker, epoch, last, Wish::Run)
            }
            Op::Tick { ms, heard } => {
                self.tick(*ms, &ids(heard));
                Ok(json!({}))
            }
            Op::CheckStale => {
                let mut fenced = Vec::new();
                let again = self.check_stale(&mut fenced);
                Ok(json!({ "fenced": fenced, "again": again }))
            }
            Op::Expire { broker } => Ok(json!({ "fenced": self.expire(BrokerId(*broker)) })),
            Op::Unregister { broker } => controller.unregister(BrokerId(*broker)).answer.map(|()| json!({})),
            Op::CreateTopic { topic, assignments } => status(controller.create_topic(topic, &lists(assignments))),
            Op::CreatePartitions {
                topic,
                count,
                assignments,
            } => {
                let topic = self.topic(topic);
                status(self.controller.create_partitions(topic, *count, &lists(assignments)))
            }
            Op::DeleteTopic { topic } => {
                let topic = self.topic(topic);
                status(self.controller.delete_topic(topic))
            }
            Op::AlterPartition {
                broker,
                broker_epoch,
                partitions,
            } => self.alter_partition(BrokerId(*broker), *broker_epoch, partitions)?,
            Op::ElectLeaders { r#type, partitions } => self.elect_leaders(r#type, partitions.as_deref())?,
            Op::ElectUnclean => {
                // What it does shows in the state that is compared.
                let _ = controller.elect_unclean();
                Ok(json!({}))
            }
            Op::Balance => {
                let imbalanced = controller.is_imbalanced();
                // As above.
                let _ = controller.balance();
                Ok(json!({ "imbalancedBefore": imbalanced }))
            }
            Op::SetConfig {
                scope,
                resource,
                name,
                value,
            } => {
                let scope = self.scope(scope, resource.as_ref())?;
                status(self.controller.alter_config(scope, name, value.as_deref()))
            }
            Op::Reassign {
                topic,
                partition,
                replicas,
                allow_replication_factor_change,
            } => {
                let at = self.at(topic, *partition);
                let target = replicas.as_deref().map(ids);
                let factor = match allow_replication_factor_change {
                    true => ReplicationFactorChange::Allowed,
                    false => ReplicationFactorChange::Refused,
                };
                status(self.controller.reassign(at, target.as_deref(), factor))
            }
            Op::SetFeature {
                name,
                level,
                upgrade_type,
            } => {
                if name != "eligible.leader.replicas.version" {
                    return Err(format!("the feature {name} is not modelled"));
                }
                let kind = if upgrade_type == "UPGRADE" {
                    UpgradeType::Upgrade
                } else {
                    UpgradeType::Downgrade
                };
                status(controller.set_elr_version(*level, kind))
            }
        })
    }

    fn heartbeat(&mut self, broker: BrokerId, epoch: i64, metadata_offset: i64, wish: Wish) -> Answer {
        let request = HeartbeatRequest {
            broker,
            epoch,
            metadata_offset,
            wish,
        };
        let reply = self.controller.heartbeat(LastContact::At(self.now), request).answer?;
        Ok(json!({
            "caughtUp": reply.caught_up,
            "fenced": reply.fenced,
            "inControlledShutdown": reply.in_controlled_shutdown,
            "shouldShutDown": reply.should_shut_down,
        }))
    }

    fn tick(&mut self, ms: i64, heard: &[BrokerId]) {
        self.now += ms;
        for &broker in heard {
            self.controller.silence(broker, self.now);
        }
    }

    /// A whole session time-out in which one broker is silent, and then as many checks as find something.
    fn expire(&mut self, broker: BrokerId) -> Vec<u16> {
        let brokers = self.controller.brokers().map(|(id, _)| id);
        let heard: Vec<BrokerId> = brokers
            .filter(|&id| id != broker && self.controller.has_valid_session(id, self.now))
            .collect();
        self.tick(self.controller.session_timeout_ms() + 1, &heard);
        let mut fenced = Vec::new();
        while self.check_stale(&mut fenced) {}
        fenced.sort_unstable();
        fenced
    }

    /// One check; whether it found something. The recorded list is the difference between before and after, ascending, so
    /// a broker that was fenced already is not in it.
    fn check_stale(&mut self, fenced: &mut Vec<u16>) -> bool {
        let unfenced = |controller: &Controller, id| controller.broker(id).is_some_and(|known| !known.fenced);
        let before = self.controller.clone();
        let found = self.controller.check_stale(self.now).answer;
        if let StaleCheck::Fenced(broker) = found {
            fenced.extend(unfenced(&before, broker).then_some(broker.0));
        }
        found != StaleCheck::Nobody
    }

    fn alter_partition(&mut self, broker: BrokerId, epoch: i64, requests: &[AlterRequest]) -> Result<Answer, String> {
        let requests_in: Vec<AlterPartition> = requests
            .iter()
            .map(|request| self.alter_request(request))
            .collect::<Result<_, _>>()?;
        let outcome = self.controller.alter_partition(broker, epoch, &requests_in);
        Ok(outcome.answer.map(|answers| {
            let partitions: Vec<Value> = requests
                .iter()
                .zip(answers)
                .map(|(request, (_, answer))| altered(request, answer))
                .collect();
            json!({ "partitions": partitions })
        }))
    }

    fn alter_request(&self, request: &AlterRequest) -> Result<AlterPartition, String> {
        let recovery = LeaderRecoveryState::from_name(&request.recovery)
            .ok_or_else(|| format!("there is no recovery state {}", request.recovery))?;
        // An id that is no broker's at all stands for itself as one that is no replica's.
        let member = |id: i32| BrokerId(u16::try_from(id).unwrap_or(u16::MAX));
        Ok(AlterPartition {
            at: self.at(&request.topic, request.partition),
            leader_epoch: request.leader_epoch,
            partition_epoch: request.partition_epoch,
            recovery,
            isr: request.isr.iter().map(|&(id, epoch)| (member(id), epoch)).collect(),
        })
    }

    fn elect_leaders(&mut self, kind: &str, asked: Option<&[(String, u32)]>) -> Result<Answer, String> {
        let kind = match kind {
            "PREFERRED" => ElectionType::Preferred,
            "UNCLEAN" => ElectionType::Unclean,
            other => return Err(format!("there is no election type {other}")),
        };
        let partitions: Option<Vec<TopicPartition>> = asked.map(|asked| {
            asked
                .iter()
                .map(|(topic, partition)| self.at(topic, *partition))
                .collect()
        });
        let answers = self.controller.elect_leaders(kind, partitions.as_deref()).answer;
        let named = |index: usize, at: TopicPartition| match asked.and_then(|asked| asked.get(index)) {
            Some((topic, _)) => topic.clone(),
            None => self.name(at.topic),
        };
        let mut rows: Vec<(String, u32, &str)> = answers
            .iter()
            .enumerate()
            .map(|(index, (at, answer))| (named(index, *at), at.partition, error_name(answer)))
            .collect();
        rows.sort();
        let row = |(topic, partition, error): &(String, u32, &str)| json!({ "topic": topic, "partition": partition, "error": error });
        Ok(Ok(json!({ "partitions": rows.iter().map(row).collect::<Vec<_>>() })))
    }

    fn scope(&self, scope: &str, resource: Option<&Value>) -> Result<ConfigScope, String> {
        match (scope, resource) {
            ("cluster", _) => Ok(ConfigScope::Cluster),
            ("topic", Some(Value::String(topic))) => Ok(ConfigScope::Topic(self.topic(topic))),
            ("broker", Some(broker)) => {
                let text = broker.as_str().map_or_else(|| broker.to_string(), str::to_owned);
                text.parse()
                    .map(|id| ConfigScope::Broker(BrokerId(id)))
                    .map_err(|_| format!("{text} is no broker"))
            }
            _ => Err(format!("there is no config scope {scope}")),
        }
    }

    fn topic(&self, name: &str) -> TopicId {
        self.controller.topic_named(name).unwrap_or(NO_TOPIC)
    }

    fn at(&self, topic: &str, partition: u32) -> TopicPartition {
        TopicPartition {
            topic: self.topic(topic),
            partition,
        }
    }

    fn name(&self, topic: TopicId) -> String {
        let known = self.controller.topics().find(|(id, _)| *id == topic);
        known.map_or_else(String::new, |(_, topic)| topic.name.to_string())
    }

    fn state(&self) -> Value {
        let broker = |(id, broker): (BrokerId, &crate::cluster::controller::Broker)| {
            json!({
                "id": id.0,
                "epoch": broker.epoch,
                "fenced": broker.fenced,
                "inControlledShutdown": broker.in_controlled_shutdown,
            })
        };
        let mut topics: Vec<_> = self.controller.topics().map(|(_, topic)| topic).collect();
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        let partitions: Vec<Value> = topics
            .iter()
            .flat_map(|topic| {
                topic
                    .partitions
                    .iter()
                    .map(|(number, state)| partition(&topic.name, *number, state))
            })
            .collect();
        json!({ "brokers": self.controller.brokers().map(broker).collect::<Vec<_>>(), "partitions": partitions })
    }
}

fn partition(topic: &str, number: u32, state: &Partition) -> Value {
    let list = |brokers: &[BrokerId]| brokers.iter().map(|broker| broker.0).collect::<Vec<_>>();
    let last_known: Vec<i32> = match state.last_known_leader {
        LastKnownLeader::Unknown => Vec::new(),
        LastKnownLeader::Broker(broker) => vec![i32::from(broker.0)],
        LastKnownLeader::Nobody => vec![-1],
    };
    json!({
        "topic": topic,
        "partition": number,
        "replicas": list(&state.replicas),
        "isr": list(&state.isr),
        "elr": list(&state.elr),
        "lastKnownElr": last_known,
        "leader": leader(state),
        "leaderEpoch": state.leader_epoch,
        "partitionEpoch": state.partition_epoch,
        "leaderRecoveryState": state.recovery.name(),
        "adding": list(&state.adding),
        "removing": list(&state.removing),
    })
}

fn leader(state: &Partition) -> i32 {
    state.leader.map_or(-1, |leader| i32::from(leader.0))
}

fn altered(request: &AlterRequest, answer: Result<Arc<Partition>, Errors>) -> Value {
    match answer {
        Err(error) => {
            json!({ "topic": request.topic, "partition": request.partition, "error": error.name() })
        }
        Ok(state) => json!({
            "topic": request.topic,
            "partition": request.partition,
            "error": "NONE",
            "leader": leader(&state),
            "leaderEpoch": state.leader_epoch,
            "isr": state.isr.iter().map(|broker| broker.0).collect::<Vec<_>>(),
            "recovery": state.recovery.name(),
            "partitionEpoch": state.partition_epoch,
        }),
    }
}

fn error_name<T>(answer: &Result<T, Errors>) -> &'static str {
    answer.as_ref().map_or_else(|error| error.name(), |_| "NONE")
}

fn status<T>(outcome: Outcome<Result<T, Errors>>) -> Answer {
    Ok(json!({ "status": error_name(&outcome.answer) }))
}

fn ids(brokers: &[u16]) -> Vec<BrokerId> {
    brokers.iter().copied().map(BrokerId).collect()
}

fn lists(assignments: &[Vec<u16>]) -> Vec<Vec<BrokerId>> {
    assignments.iter().map(|replicas| ids(replicas)).collect()
}
