//! Whatever a scenario does, the engine comes through: acts are performed or refused, and nothing panics.

use super::round_trip::{act, expectation, node};
use crate::cluster::{World, step};
use crate::ledger::Ledger;
use crate::scenario::ast::{Condition, Line, Micros, Script, Statement};
use crate::scenario::{Next, Player, parse, setup};
use proptest::prelude::*;
use std::sync::Arc;

/// More steps than this are not waited for.
const MOST_STEPS: usize = 3_000;

/// What stands before the statements that chance has chosen.
const BEGINNING: &str = "\
brokers 3 broker.session.timeout.ms=3000 replica.lag.time.max.ms=5000
topic orders partitions=2 replicas=3 segment.bytes=300 retention.ms=10000 min.insync.replicas=2
topic orders-1 partitions=9 replicas=2 unclean.leader.election.enable=true
producer app linger.ms=0 request.timeout.ms=2000 delivery.timeout.ms=5000
consumer reader assign=orders-0,orders-1 auto.offset.reset=earliest
send app orders count=5
";

/// Acts, with some time between them so that they have consequences.
fn statement() -> impl Strategy<Value = Statement> {
    let time = (0..4_000_i64, Just(1_000)).prop_map(|(number, unit)| Micros(number * unit));
    let latency = (0..900_i64).prop_map(|millis| Micros(millis * 1_000));
    let within = Some(Micros(20_000_000));
    prop_oneof![
        5 => act().prop_map(Statement::Act),
        4 => time.prop_map(Statement::RunFor),
        1 => Just(Statement::RunUntil { condition: Condition::Quiet, within }),
        1 => expectation().prop_map(Statement::Expect),
        1 => (node(), node(), latency).prop_map(|(a, b, latency)| Statement::SetLink { a, b, latency }),
    ]
}

/// What holds whatever happens to a cluster, disks that are lost and unclean elections included. (Kafka breaks
/// `ValidLeaderMaximalISR` for a moment when news of an ISR arrive later than the answer that told it already.)
const ALWAYS: [&str; 4] = [
    "LeaderInIsr",
    "IsrWithinReplicas",
    "AtMostOneLeaderPerEpoch",
    "HighWatermarkWithinLog",
];

/// Plays a script; refused statements are passed over.
fn play(statements: Vec<Statement>) -> (World, Ledger) {
    let beginning = parse(BEGINNING.as_bytes()).expect("it is well formed");
    let chosen = statements.into_iter().map(|statement| Line::new(99, statement));
    let lines: Vec<Line> = beginning.lines.into_iter().chain(chosen).collect();
    let (setup, used) = setup(&Script {
        lines: lines.clone(),
        trace: None,
    })
    .expect("the beginning can apply");
    let (mut world, mut ledger) = (World::new(setup), Ledger::default());
    let mut steps = 0;
    for line in lines.into_iter().skip(used) {
        let mut player = Player::new(
            Arc::new(Script {
                lines: vec![line],
                trace: None,
            }),
            0,
        );
        while let Next::Perform(_, input) = player.next(&world, &ledger) {
            let mut events = Vec::new();
            steps += 1;
            if steps > MOST_STEPS || step(&mut world, input, &mut events).is_err() {
                break;
            }
            ledger.step(&events);
            ledger.check(&world);
        }
    }
    (world, ledger)
}

/// Faults that take no disk and no page cache, writes between them, and time.
fn mild_statement() -> impl Strategy<Value = String> {
    let broker = || 1..4_u16;
    prop_oneof![
        4 => (1..4_u64).prop_map(|count| format!("send app orders-0 count={count}")),
        4 => (1..6_000_u64).prop_map(|millis| format!("run for {millis}ms")),
        2 => broker().prop_map(|id| format!("kill {id}")),
        2 => broker().prop_map(|id| format!("start {id}")),
        1 => broker().prop_map(|id| format!("stop {id}")),
        1 => broker().prop_map(|id| format!("pause {id}")),
        1 => broker().prop_map(|id| format!("resume {id}")),
        2 => (broker(), broker()).prop_map(|(a, b)| format!("cut {a} {b}")),
        1 => broker().prop_map(|id| format!("cut {id} controller")),
        1 => (broker(), broker()).prop_map(|(a, b)| format!("cut {a} from {b}")),
        2 => Just("heal all".to_string()),
        1 => (broker(), 1..500_u64).prop_map(|(id, millis)| format!("set link {id}-* latency={millis}ms")),
    ]
}

/// What holds as long as no disk, no page cache and no unclean election takes anything.
const WHILE_DISKS_LAST: [&str; 7] = [
    "LeaderInIsr",
    "IsrWithinReplicas",
    "AtMostOneLeaderPerEpoch",
    "StrongIsr",
    "LogMatching",
    "LeaderCompleteness",
    "NoAcknowledgedRecordLost",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn anything_may_happen_to_a_cluster(statements in prop::collection::vec(statement(), 1..25)) {
        let (world, ledger) = play(statements.clone());
        for name in ALWAYS {
            let verdict = ledger.verdict(name).expect("there is such an invariant");
            prop_assert!(verdict.first.is_none(), "{}: {:?}", name, verdict.first);
        }
        let (again, _) = play(statements);
        prop_assert_eq!(world.fingerprint(), again.fingerprint(), "the same inputs give the same world");
    }

    #[test]
    fn without_power_losses_acks_all_loses_nothing(lines in prop::collection::vec(mild_statement(), 5..40)) {
        let text = format!("{BEGINNING}{}\n", lines.join("\n"));
        let script = parse(text.as_bytes()).expect("it is well formed");
        let used = BEGINNING.lines().count();
        let statements = script.lines.iter().skip(used).map(|line| Statement::clone(&line.statement));
        let (_, ledger) = play(statements.collect());
        for name in WHILE_DISKS_LAST {
            let verdict = ledger.verdict(name).expect("there is such an invariant");
            prop_assert!(verdict.first.is_none(), "{}: {:?}\n{}", name, verdict.first, text);
        }
    }
}
