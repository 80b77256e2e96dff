//! Every invariant can be broken, and by what: a guard is taken away, and a story breaks exactly that invariant.
//!
//! With all its rules the same story breaks none. An invariant without a row here would be one that cannot fail.

mod told;

use highwater::cluster::Rule;
use highwater::ledger::{Ledger, invariants};

/// Invariant, the rule that guards it, and the story that breaks it in a world without that rule.
const GUARDED: [(&str, Rule, &str); 10] = [
    ("LeaderInIsr", Rule::ElectNobody, "c72-kill-loses-nothing"),
    (
        "IsrWithinReplicas",
        Rule::AlterValidate,
        "i01-a-wish-overtaken-by-a-reassignment",
    ),
    (
        "AtMostOneLeaderPerEpoch",
        Rule::ElectEpoch,
        "i02-a-zombie-and-its-successor",
    ),
    (
        "ValidLeaderMaximalISR",
        Rule::IsrCommit,
        "r09-the-end-is-not-told-too-early",
    ),
    (
        "HighWatermarkWithinLog",
        Rule::HighWatermarkBounded,
        "i06-told-of-more-than-it-holds",
    ),
    ("StrongIsr", Rule::HighWatermark, "c42-two-fetches-before-the-ack"),
    (
        "LogMatching",
        Rule::TruncateDiverging,
        "i03-the-last-word-of-a-dying-leader",
    ),
    (
        "LeaderCompleteness",
        Rule::BecomeLeader,
        "i05-a-new-leader-keeps-its-log",
    ),
    (
        "NoAcknowledgedRecordLost",
        Rule::AckAll,
        "c60a-offline-with-live-replicas",
    ),
    (
        "ConsistentRead",
        Rule::ConsumerRead,
        "i04-nobody-reads-what-is-not-committed",
    ),
];

fn broken(ledger: &Ledger) -> Vec<&'static str> {
    let broken = ledger.verdicts().filter(|verdict| verdict.first.is_some());
    broken.map(|verdict| verdict.name).collect()
}

#[test]
fn each_invariant_is_broken_alone_when_its_guard_is_taken_away() {
    let wrong = told::each(&GUARDED, |&(invariant, rule, story)| {
        let whole = told::run(story, |rules| rules)?;
        let maimed = told::run(story, |rules| rules.without(rule))?;
        match (broken(&whole.ledger), broken(&maimed.ledger)) {
            (none, one) if none.is_empty() && one == [invariant] => Ok(()),
            found => Err(format!(
                "{invariant}, {story} with and without {}: {found:?}",
                rule.id()
            )),
        }
    });
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_invariant_has_a_guard() {
    let mut guarded: Vec<&str> = GUARDED.iter().map(|row| row.0).collect();
    guarded.sort_unstable();
    let mut all: Vec<&str> = invariants::names().collect();
    all.sort_unstable();
    assert_eq!(guarded, all);
}
