//! The smallest and the largest values that are legal: whatever a setting says, time stays within what a number holds.

use crate::cluster::{Silent, World, step};
use crate::config::{BrokerConfig, ConsumerConfig, Def, ProducerConfig, Scope, TopicConfig, Valid};
use crate::ledger::Ledger;
use crate::scenario::ast::{Line, Script};
use crate::scenario::{Next, Player, Stop, parse, setup};
use std::sync::Arc;

/// More steps of one statement are not waited for.
const MOST_STEPS: usize = 80;

/// Where the settings go that are tried.
const BEGINNING: [(Scope, &str); 5] = [
    (Scope::Broker, "brokers 3"),
    (Scope::Topic, "topic t replicas=3"),
    (Scope::Topic, "topic c replicas=1 cleanup.policy=compact"),
    (Scope::Producer, "producer app"),
    (Scope::Consumer, "consumer reader group=g topics=t"),
];

/// Something of everything: writes, reads, a leader that dies, one that cannot be reached, and both kinds of waiting.
const LIFE: &str = "\
send app t count=6 every=300ms
send app c key=k count=3
run for 2s
roll t-0@1
roll c-0@1
send app c key=k
run for 1s
commit reader
kill 1
send app t count=2
run for 20s
start 1
cut 2 1,3,controller
run for 40s
heal all
check retention
clean
checkpoint
close reader
run for 200d
step 50
";

/// Plays a scenario; refused statements are passed over. What it was stopped by, statement for statement; nothing if it
/// cannot begin.
fn play(text: &str) -> Option<Vec<String>> {
    let script = parse(text.as_bytes()).expect("it is well formed");
    let (setup, used) = setup(&script).ok()?;
    let (mut world, ledger) = (World::new(setup), Ledger::default());
    let lines = script.lines.into_iter().skip(used);
    Some(lines.filter_map(|line| play_line(line, &mut world, &ledger)).collect())
}

fn play_line(line: Line, world: &mut World, ledger: &Ledger) -> Option<String> {
    let script = Script {
        lines: vec![line],
        trace: None,
    };
    let mut player = Player::new(Arc::new(script), 0);
    for _ in 0..MOST_STEPS {
        match player.next(world, ledger) {
            Next::Perform(_, input) => {
                if let Err(refused) = step(world, input, &mut Silent) {
                    return Some(refused.to_string());
                }
            }
            Next::Stopped(_, Stop::Refused(refused)) => return Some(refused.to_string()),
            _ => return None,
        }
    }
    None
}

/// What heartbeats and sessions of the consumer protocol can be, each held between bounds of its own.
const IN_GROUPS: [i64; 2] = [5_000, 45_000];

/// What other settings bound, so that it cannot be all that its own range allows.
const BOUND: [(Scope, &str); 10] = [
    (Scope::Broker, "group.consumer.heartbeat.interval.ms"),
    (Scope::Broker, "group.consumer.max.heartbeat.interval.ms"),
    (Scope::Broker, "group.consumer.min.heartbeat.interval.ms"),
    (Scope::Broker, "group.consumer.session.timeout.ms"),
    (Scope::Broker, "group.consumer.max.session.timeout.ms"),
    (Scope::Broker, "group.consumer.min.session.timeout.ms"),
    (Scope::Broker, "offsets.topic.num.partitions"),
    (Scope::Broker, "replica.fetch.wait.max.ms"),
    (Scope::Broker, "replica.lag.time.max.ms"),
    (Scope::Broker, "replica.socket.timeout.ms"),
];

/// Kafka's fifty partitions for the commits would make the test slow.
const FEW: (&str, &str) = (
    "offsets.topic.num.partitions",
    "broker 1 offsets.topic.num.partitions=1\n",
);

/// The least and the greatest that a number can be set to; next to each what is tried where other settings
/// exclude it.
fn extremes(def: &Def) -> [Vec<i64>; 2] {
    let Some((least, most)) = def.kind.bounds() else {
        return [vec![], vec![]];
    };
    let (low, high) = match def.accepts() {
        Valid::AtLeast(low) => (low, most),
        Valid::Between(low, high) => (low, high),
        Valid::BetweenOrMinusOne(_, high) => (-1, high),
        _ => (least, most),
    };
    [
        [&[low, -1, 0, 1][..], &IN_GROUPS].concat(),
        [&[high, i64::from(i32::MAX), 1_000][..], &IN_GROUPS].concat(),
    ]
}

/// Plays the little world with one setting of one scope.
fn with(scope: Scope, def: &Def, value: i64) -> Option<Vec<String>> {
    let beginning = BEGINNING.map(|(of, statement)| match of == scope {
        true => format!("{statement} {}={value}\n", def.name),
        false => format!("{statement}\n"),
    });
    let few = if def.name == FEW.0 { "" } else { FEW.1 };
    let [brokers, rest @ ..] = &beginning;
    play(&[brokers, few, &rest.concat(), LIFE].concat())
}

fn every_number_of(scope: Scope, acts_on: impl Fn(&Def) -> bool) {
    for def in scope.configs().iter().filter(|def| acts_on(def)) {
        for values in extremes(def) {
            let began = values.iter().find(|&&value| with(scope, def, value).is_some());
            let is_bound = BOUND.contains(&(scope, def.name));
            assert!(
                began == values.first() || is_bound && began.is_some(),
                "{}: {began:?} of {values:?}",
                def.name
            );
        }
    }
}

#[test]
fn brokers_come_through_with_the_smallest_and_the_largest_of_every_number() {
    every_number_of(Scope::Broker, BrokerConfig::acts_on);
}

#[test]
fn topics_come_through_with_the_smallest_and_the_largest_of_every_number() {
    every_number_of(Scope::Topic, TopicConfig::acts_on);
}

#[test]
fn clients_come_through_with_the_smallest_and_the_largest_of_every_number() {
    every_number_of(Scope::Producer, ProducerConfig::acts_on);
    every_number_of(Scope::Consumer, ConsumerConfig::acts_on);
}

#[test]
fn what_statements_say_of_time_is_held_against_its_end() {
    let end = "time would run beyond its end; stay within the 2932896 days that there are";
    for (statements, said) in [
        ("run for 106751991d\n".repeat(3), vec![end; 3]),
        (
            "run for 2932896d\nrun for 1d\nrun to 2932897d\n".to_string(),
            vec![end; 2],
        ),
        (
            "slow 1 factor=4294967295\nset disk 1 write=3650d\nsend app t\nrun for 10s\n".to_string(),
            vec![],
        ),
        (
            "set disk 1 write=106751991d fsync=106751991d writeback=106751991d\nsend app t\nrun for 10s\n".to_string(),
            vec![],
        ),
        (
            "set link *-* latency=106751991d\nslow 1 factor=4294967295\nsend app t\nrun for 10s\nstep 9\n".to_string(),
            vec![],
        ),
        (
            "send app t count=3 every=106751991d\nrun for 10s\nstep 30\n".to_string(),
            vec![],
        ),
        (
            "send app t timestamp=9223372036854775807\nrun for 10s\ncheck retention\n".to_string(),
            vec![],
        ),
    ] {
        let beginning = "brokers 2\ntopic t replicas=2\nproducer app\n";
        let heard = play(&format!("{beginning}{statements}")).expect("it can begin");
        let times: Vec<&String> = heard.iter().filter(|heard| heard.starts_with("time")).collect();
        assert_eq!(times, said, "{statements}");
    }
}
