//! Partitions as the controller knows them, and what their leader's log answers.

use super::{listed, offsets};
use crate::cluster::World;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::ledger::Ledger;
use crate::scenario::ast::{Metric, PartitionFact, Value};
use crate::sorted::sort_by;

/// A fact about a partition.
pub(super) fn fact(fact: PartitionFact, tp: TopicPartition, world: &World, ledger: &Ledger) -> Option<Value> {
    let state = world.controller().state().partition(tp)?;
    Some(match fact {
        PartitionFact::Leader => state
            .leader
            .map_or(Value::Absent, |leader| Value::Number(leader.0.into())),
        PartitionFact::Epoch => Value::Number(state.leader_epoch.into()),
        PartitionFact::PartitionEpoch => Value::Number(state.partition_epoch.into()),
        PartitionFact::Replicas => listed(numbers(&state.replicas), Value::Numbers),
        PartitionFact::Isr => set(&state.isr),
        PartitionFact::Elr => set(&state.elr),
        PartitionFact::Lost => offsets(ledger.lost(world, tp)),
        PartitionFact::Unacked => offsets(ledger.unacked(world, tp)),
        PartitionFact::Duplicates => offsets(ledger.duplicates(world, tp)),
    })
}

fn numbers(brokers: &[BrokerId]) -> Vec<i64> {
    brokers.iter().map(|broker| broker.0.into()).collect()
}

fn set(brokers: &[BrokerId]) -> Value {
    let mut numbers = numbers(brokers);
    sort_by(&mut numbers, i64::cmp);
    listed(numbers, Value::Numbers)
}

/// The first offset below the high watermark at or after a time, as the leader answers it.
pub(super) fn offset_for(tp: TopicPartition, time: i64, world: &World) -> Option<Value> {
    let leader = world.image().leader(tp)?;
    let replica = world.broker(leader)?.replica(tp)?;
    let found = replica.log().offset_for_timestamp(time).ok()??;
    (found.offset < replica.high_watermark()?).then_some(Value::Number(found.offset))
}

/// How many partitions are in a state that a metric counts, of those that a broker leads (offline: that it holds).
pub(super) fn count_that(metric: Metric, broker: Option<BrokerId>, world: &World) -> usize {
    let controller = world.controller().state();
    let counts = |tp: &TopicPartition| -> Option<()> {
        let state = controller.partition(*tp)?;
        let Some(leader) = state.leader else {
            let holds = broker.is_none_or(|broker| state.replicas.contains(&broker));
            return (metric == Metric::Offline && holds).then_some(());
        };
        if broker.is_some_and(|broker| broker != leader) {
            return None;
        }
        let minimum = world.min_isr(*tp)?;
        let counts = match metric {
            // Who is only being added by a reassignment is not missing yet (`OngoingReassignmentState.replicationFactor`).
            Metric::UnderReplicated => state.isr.len() < state.replicas.len() - state.adding.len(),
            Metric::UnderMinIsr => state.isr.len() < minimum,
            Metric::AtMinIsr => state.isr.len() == minimum,
            _ => false,
        };
        counts.then_some(())
    };
    world
        .image()
        .partitions
        .keys()
        .filter(|tp| counts(tp).is_some())
        .count()
}
