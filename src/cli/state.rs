//! The state of a world as text or JSON, for `highwater run --until`: partitions as the controller knows them, and every
//! replica's log, in the words of the scenario language.

use crate::cluster::World;
use crate::ledger::Ledger;
use crate::scenario::ast::{Partition, PartitionFact, Replica, ReplicaFact, Subject};
use crate::scenario::look::look;
use crate::scenario::trace::time;
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};

/// What is shown of a partition.
const OF_PARTITION: [PartitionFact; 5] = [
    PartitionFact::Leader,
    PartitionFact::Epoch,
    PartitionFact::Replicas,
    PartitionFact::Isr,
    PartitionFact::Elr,
];

/// What is shown of a replica.
const OF_REPLICA: [ReplicaFact; 7] = [
    ReplicaFact::Start,
    ReplicaFact::Hw,
    ReplicaFact::Leo,
    ReplicaFact::Flushed,
    ReplicaFact::Segments,
    ReplicaFact::Size,
    ReplicaFact::Epochs,
];

/// A thing and its facts by name.
type Row = (String, Vec<(&'static str, String)>);

/// Prints the state of a world.
///
/// # Errors
/// One of writing to `out`.
pub fn print(world: &World, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    for (name, facts) in rows(world) {
        if as_json {
            let facts: Map<String, Json> = facts
                .into_iter()
                .map(|(fact, value)| (fact.to_string(), json!(value)))
                .collect();
            writeln!(out, "{}", json!({ "state": name, "facts": facts }))?;
        } else {
            let facts: String = facts.iter().map(|(fact, value)| format!(" {fact}={value}")).collect();
            writeln!(out, "{name}{facts}")?;
        }
    }
    Ok(())
}

fn rows(world: &World) -> Vec<Row> {
    // No fact of these needs to know what became of records.
    let ledger = Ledger::default();
    let value = |subject: Subject| look(&subject, world, &ledger).to_string();
    let mut rows = vec![("time".to_string(), vec![("now", time(world.now()))])];
    for id in world.broker_ids() {
        rows.push((format!("broker {id}"), vec![("state", value(Subject::State(id.0)))]));
    }
    for tp in world.partitions() {
        let partition = Partition {
            topic: world.settings().topic(tp.topic).name.to_string(),
            number: tp.partition,
        };
        let facts = OF_PARTITION.map(|fact| (fact.word(), value(Subject::Partition(fact, partition.clone()))));
        rows.push((partition.to_string(), facts.to_vec()));
        let image = world.image();
        let replicas = image
            .partition(tp)
            .map(|state| state.replicas.clone())
            .unwrap_or_default();
        for broker in replicas {
            let replica = Replica {
                partition: partition.clone(),
                broker: broker.0,
            };
            let facts = OF_REPLICA.map(|fact| (fact.word(), value(Subject::Replica(fact, replica.clone()))));
            rows.push((replica.to_string(), facts.to_vec()));
        }
    }
    rows
}
