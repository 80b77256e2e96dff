//! What must hold at the end of every story besides its own expectations: the ledger knows what the logs hold, and an
//! invariant that was ever broken was broken by something in the story that breaks it rightly, or that the story foretells.

use highwater::cluster::{Tag, World};
use highwater::ledger::Ledger;

/// Words of a story that break invariants rightly: faults that take what was written, elections and rules that give it up.
const TAKES: &[&str] = &["power-off", "wipe", "tear", "flip", "unclean", "replication="];

/// A story with this expectation tells how a record that was promised is lost, and whatever breaks on the way.
const FORETELLS: &[&str] = &["expect invariant NoAcknowledgedRecordLost = broken"];

/// What breaks an invariant in a story with these words; `None` for those that nothing may ever break.
fn breakers(invariant: &str) -> Option<&'static [&'static str]> {
    match invariant {
        "StrongIsr" | "LogMatching" | "LeaderCompleteness" | "ConsistentRead" => Some(&[]),
        // An acknowledgement by the leader alone is no promise.
        "NoAcknowledgedRecordLost" => Some(&["acks=1"]),
        _ => None,
    }
}

/// Invariants that were broken though nothing in the story explains it.
pub fn unexplained(story: &str, ledger: &Ledger) -> Vec<String> {
    let says = |words: &[&str]| {
        let statements = story.lines().filter(|line| !line.trim_start().starts_with('#'));
        statements
            .into_iter()
            .any(|line| words.iter().any(|word| line.contains(word)))
    };
    let broken = ledger
        .verdicts()
        .filter_map(|verdict| Some((verdict.name, verdict.first?)));
    let foretold = |name: &str| says(&[&format!("expect invariant {name} = broken")]) || says(FORETELLS);
    let explained = |name: &str| breakers(name).is_some_and(|words| says(TAKES) || says(words));
    let without_cause = broken.filter(|(name, _)| !foretold(name) && !explained(name));
    without_cause
        .map(|(name, broken)| format!("{name} is broken: {}", broken.what))
        .collect()
}

/// Replicas whose log holds other records than the ledger thinks. What a fault has damaged and nobody has scanned is
/// left out: the ledger remembers it as it was written.
pub fn misremembered(world: &World, ledger: &Ledger) -> Vec<String> {
    let mut found = Vec::new();
    for tp in world.partitions() {
        for broker in world.brokers() {
            let Some(replica) = broker.replica(tp) else { continue };
            let records = replica.batches().flat_map(|batch| {
                let tags = batch.tags().iter().copied();
                batch
                    .records()
                    .map(|record| record.offset)
                    .zip(tags)
                    .collect::<Vec<_>>()
            });
            let there = records.filter(|(offset, tag)| *offset >= replica.log_start() && *tag != 0);
            let there: Vec<(i64, Tag)> = there.map(|(offset, tag)| (offset, Tag::from_bits(tag))).collect();
            let damaged = |offset: i64| {
                let mut batches = replica.batches().filter(|batch| !batch.is_valid());
                batches.any(|batch| (batch.base_offset()..=batch.last_offset()).contains(&offset))
            };
            let held = ledger.held(tp, broker.id()).filter(|(offset, _)| !damaged(*offset));
            let held: Vec<(i64, Tag)> = held.collect();
            if there != held {
                let (name, id) = (world.partition_name(tp), broker.id());
                found.push(format!(
                    "the ledger knows {} records of {name} on broker {id}, there are {}",
                    held.len(),
                    there.len()
                ));
            }
        }
    }
    found
}
