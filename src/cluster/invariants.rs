//! Named invariants over the model alone: what must hold of brokers' logs and the controller's state after every step.
//!
//! The names are those of the public TLA+ specifications of Kafka's replication where they have one. They are looked at
//! after a step, so each looks at the newest few batches where a whole log would cost too much: what lies below was
//! looked at when it was new. Some settings break some of them rightly (an unclean election, a lost disk).

use std::cmp::Ordering;

use crate::cluster::broker::ReplicaView;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::world::World;
use crate::log::{Batch, Log, RecordView};
use crate::sorted::SortedMap;

/// An invariant.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name.
    pub name: &'static str,
    /// What it says, in one sentence.
    pub sentence: &'static str,
    /// Looks at a world and says what breaks it.
    pub check: fn(&World) -> Result<(), String>,
}

/// All of them.
pub const ALL: &[Invariant] = &[
    Invariant {
        name: "LeaderInIsr",
        sentence: "A partition's leader is one of its in-sync replicas.",
        check: leader_in_isr,
    },
    Invariant {
        name: "IsrWithinReplicas",
        sentence: "Only replicas of a partition are in sync with it.",
        check: isr_within_replicas,
    },
    Invariant {
        name: "AtMostOneLeaderPerEpoch",
        sentence: "In one leader epoch at most one broker leads a partition.",
        check: at_most_one_leader_per_epoch,
    },
    Invariant {
        name: "ValidLeaderMaximalISR",
        sentence: "Whom the controller counts as in sync, the leader waits for.",
        check: valid_leader_maximal_isr,
    },
    Invariant {
        name: "HighWatermarkWithinLog",
        sentence: "Log start is at most the high watermark, and that at most the log end.",
        check: high_watermark_within_log,
    },
    Invariant {
        name: "StrongIsr",
        sentence: "What lies below the high watermark of a broker that believes it leads, every in-sync replica holds.",
        check: strong_isr,
    },
    Invariant {
        name: "LogMatching",
        sentence: "Below the high watermarks of both, two replicas hold the same records at the same offsets.",
        check: log_matching,
    },
    Invariant {
        name: "LeaderCompleteness",
        sentence: "A leader's log holds every record that lies below the high watermark of any replica.",
        check: leader_completeness,
    },
];

/// The newest batches that are compared after each step.
const NEWEST: usize = 8;

fn leader_in_isr(world: &World) -> Result<(), String> {
    let image = world.image();
    for (tp, state) in &image.partitions {
        if let Some(leader) = state.leader.filter(|leader| !state.isr.contains(leader)) {
            return Err(format!(
                "broker {leader} leads {} and is not in its ISR",
                world.partition_name(*tp)
            ));
        }
    }
    Ok(())
}

fn isr_within_replicas(world: &World) -> Result<(), String> {
    let image = world.image();
    for (tp, state) in &image.partitions {
        if let Some(stranger) = state.isr.iter().find(|member| !state.replicas.contains(member)) {
            return Err(format!(
                "broker {stranger} is in the ISR of {} and no replica",
                world.partition_name(*tp)
            ));
        }
    }
    Ok(())
}

fn at_most_one_leader_per_epoch(world: &World) -> Result<(), String> {
    for tp in world.partitions() {
        let mut leaders: SortedMap<i32, BrokerId> = SortedMap::new();
        for (broker, replica) in replicas(world, tp) {
            let Some(epoch) = replica.leads_in() else { continue };
            if let Some(other) = leaders.insert(epoch, broker) {
                let name = world.partition_name(tp);
                return Err(format!(
                    "brokers {other} and {broker} both lead {name} in epoch {epoch}"
                ));
            }
        }
    }
    Ok(())
}

/// A leader that has not heard of its successor yet is of no account here.
fn valid_leader_maximal_isr(world: &World) -> Result<(), String> {
    let image = world.image();
    for (tp, state) in &image.partitions {
        for (broker, replica) in replicas(world, *tp) {
            if replica.leads_in() != Some(state.leader_epoch) {
                continue;
            }
            let leader = world.broker(broker);
            if let Some(left_out) = leader.and_then(|leader| leader.passes_over(*tp, &state.isr, world.now())) {
                let name = world.partition_name(*tp);
                return Err(format!(
                    "broker {broker} leads {name} and does not wait for broker {left_out}, which is in its ISR"
                ));
            }
        }
    }
    Ok(())
}

fn high_watermark_within_log(world: &World) -> Result<(), String> {
    for tp in world.partitions() {
        for (broker, replica) in replicas(world, tp) {
            let Some(high_watermark) = replica.high_watermark() else {
                continue;
            };
            let log = replica.log();
            if high_watermark < log.log_start_offset() || high_watermark > log.log_end_offset() {
                let name = world.partition_name(tp);
                let (start, end) = (log.log_start_offset(), log.log_end_offset());
                return Err(format!(
                    "{name} on broker {broker} goes from {start} to {end}, its high watermark is {high_watermark}"
                ));
            }
        }
    }
    Ok(())
}

fn strong_isr(world: &World) -> Result<(), String> {
    let image = world.image();
    for (tp, state) in &image.partitions {
        let leaders = replicas(world, *tp).filter(|(_, replica)| replica.leading().is_some());
        for (leader, leading) in leaders {
            let Some(committed) = leading.high_watermark() else {
                continue;
            };
            for (member, replica) in replicas(world, *tp).filter(|(broker, _)| state.isr.contains(broker)) {
                let lacks = replica.log().log_end_offset() < committed;
                if lacks || newest_difference(&leading, &replica, committed).is_some() {
                    let name = world.partition_name(*tp);
                    return Err(format!(
                        "broker {leader} takes {committed} records of {name} for committed, broker {member} is in the ISR and does not hold all of them"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn log_matching(world: &World) -> Result<(), String> {
    for tp in world.partitions() {
        let known: Vec<_> = replicas(world, tp)
            .filter_map(|(broker, replica)| Some((broker, replica.high_watermark()?, replica)))
            .collect();
        for (at, (one, one_end, one_replica)) in known.iter().enumerate() {
            for (other, other_end, other_replica) in &known[at + 1..] {
                if let Some(offset) = newest_difference(one_replica, other_replica, *one_end.min(other_end)) {
                    let name = world.partition_name(tp);
                    return Err(format!(
                        "brokers {one} and {other} hold different records at offset {offset} of {name}"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn leader_completeness(world: &World) -> Result<(), String> {
    for tp in world.partitions() {
        let Some((leader, leading)) = current_leader(world, tp) else {
            continue;
        };
        let log = leading.log();
        for (broker, replica) in replicas(world, tp).filter(|(broker, _)| *broker != leader) {
            let Some(committed) = replica.high_watermark() else {
                continue;
            };
            let name = world.partition_name(tp);
            if committed > log.log_end_offset() {
                let end = log.log_end_offset();
                return Err(format!(
                    "broker {leader} leads {name} with log end {end}, broker {broker} knows {committed} records as committed"
                ));
            }
            if let Some(offset) = newest_difference(&leading, &replica, committed) {
                return Err(format!(
                    "broker {leader} leads {name} without the record that broker {broker} knows as committed at offset {offset}"
                ));
            }
        }
    }
    Ok(())
}

/// Replicas of a partition on brokers that run.
fn replicas(world: &World, tp: TopicPartition) -> impl Iterator<Item = (BrokerId, ReplicaView<'_>)> + '_ {
    let running = world.brokers().filter(|broker| broker.is_running());
    running.filter_map(move |broker| Some((broker.id(), broker.replica(tp)?)))
}

/// The broker that leads in the newest epoch and knows it, with its replica.
fn current_leader(world: &World, tp: TopicPartition) -> Option<(BrokerId, ReplicaView<'_>)> {
    let image = world.image();
    let state = image.partition(tp)?;
    let mut leading = replicas(world, tp).filter(|(_, replica)| replica.leads_in() == Some(state.leader_epoch));
    leading.next()
}

/// The newest offset below `end`, among the newest batches, at which two replicas hold different batches. Where a cleaner
/// may have been at work one may lack what the other holds; what both hold must still be the same. Behind the end of
/// either log there is nothing to compare: that a high watermark stands there is another invariant's affair.
fn newest_difference(one: &ReplicaView<'_>, other: &ReplicaView<'_>, end: i64) -> Option<i64> {
    let end = end.min(one.log_end()).min(other.log_end());
    if one.is_compacted() || other.is_compacted() {
        return compacted_difference(one.log(), other.log(), end);
    }
    let mut pairs = newest(one.log(), end).zip(newest(other.log(), end)).take(NEWEST);
    let place = |batch: &Batch| (batch.base_offset(), batch.leader_epoch(), batch.crc());
    pairs
        .find(|(a, b)| place(a) != place(b))
        .map(|(a, b)| a.base_offset().max(b.base_offset()))
}

fn compacted_difference(one: &Log, other: &Log, end: i64) -> Option<i64> {
    let (mut ours, mut theirs) = (
        newest(one, end).take(NEWEST).peekable(),
        newest(other, end).take(NEWEST).peekable(),
    );
    while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
        match a.base_offset().cmp(&b.base_offset()) {
            Ordering::Greater => drop(ours.next()),
            Ordering::Less => drop(theirs.next()),
            Ordering::Equal if agree(a, b) => drop((ours.next(), theirs.next())),
            Ordering::Equal => return Some(a.base_offset()),
        }
    }
    None
}

/// Whether two batches that began at one offset are of one epoch and the same in every record that both still hold.
fn agree(a: &Batch, b: &Batch) -> bool {
    let contradicts = |record: RecordView<'_>| {
        let same = b.records().find(|other| other.offset == record.offset);
        same.is_some_and(|other| (other.key, other.value) != (record.key, record.value))
    };
    a.leader_epoch() == b.leader_epoch() && (a.crc() == b.crc() || !a.records().any(contradicts))
}

/// Batches that lie wholly below an offset, the newest first.
fn newest(log: &Log, end: i64) -> impl Iterator<Item = &Batch> {
    let batches = log
        .segments()
        .rev()
        .flat_map(|segment| segment.log().batches().iter().rev());
    batches
        .map(|placed| &placed.batch)
        .skip_while(move |batch| batch.next_offset() > end)
}
