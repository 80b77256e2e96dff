//! Designs that are known, and what becomes of them.

use super::*;

fn demand(brokers: u32, faults: u32, kinds: &[FaultKind], followers: Followers) -> Demand {
    Demand {
        brokers,
        consumers: 1,
        faults,
        kinds: kinds.to_vec(),
        followers,
    }
}

fn design(partitions: u32, replicas: u32, min_insync: u32) -> Design {
    Design {
        partitions,
        replicas,
        min_insync,
    }
}

fn tried(design: Design, demand: Demand) -> Trial {
    let mut trial = Trial::new(design, demand).expect("it can be tried");
    while trial.advance(10_000).expect("it goes on") == Going::On {}
    trial
}

/// One line for each attack that the design does not stand.
fn broken(trial: &Trial) -> Vec<String> {
    let all = trial.outcomes().iter();
    all.filter(|outcome| outcome.verdict() != Verdict::Holds)
        .map(line)
        .collect()
}

fn line(outcome: &Outcome) -> String {
    let Outcome {
        attack,
        refused,
        late,
        stuck,
        lost,
    } = outcome;
    let refused: Vec<String> = refused.iter().map(|(at, why)| format!("{at} {why}")).collect();
    let verdict = outcome.verdict();
    format!("{attack}: {verdict:?} refused {refused:?} late {late:?} stuck {stuck:?} lost {lost:?}")
}

#[test]
fn every_combination_is_tried_in_every_order() {
    let words = |demand: &Demand| attacks(demand).iter().map(Attack::to_string).collect::<Vec<_>>();
    let two = demand(2, 2, &[FaultKind::Kill], Followers::MayBeBehind);
    assert_eq!(
        words(&two),
        [
            "no fault",
            "the others behind, kill 1",
            "the others behind, kill 2",
            "the others behind, kill 1 and kill 2",
            "kill 1",
            "kill 1, then kill 2",
            "kill 2",
            "kill 2, then kill 1",
        ]
    );
    let counts = |brokers, faults, followers| attacks(&demand(brokers, faults, &FaultKind::ALL, followers)).len();
    // None, 5 × 3, and 15 × 12 in turn; 5 × 3 and 10 × 9 with the others behind.
    assert_eq!(counts(5, 2, Followers::InSync), 1 + 15 + 180);
    assert_eq!(counts(5, 2, Followers::MayBeBehind), 196 + 15 + 90);
    assert_eq!(counts(3, 0, Followers::MayBeBehind), 1);
}

#[test]
fn three_replicas_with_a_minimum_of_two_stand_any_one_fault() {
    let one = demand(3, 1, &FaultKind::ALL, Followers::MayBeBehind);
    let trial = tried(design(1, 3, 2), one);
    assert_eq!(trial.len(), 19);
    assert_eq!(broken(&trial), [""; 0]);
    assert!(trial.is_met());
}

#[test]
fn two_faults_stop_its_writers_and_take_nothing() {
    let trial = tried(design(1, 3, 2), demand(3, 2, &FaultKind::ALL, Followers::InSync));
    for outcome in trial.outcomes() {
        let refused = match outcome.attack.strikes().len() {
            2 => vec![(0, "NOT_ENOUGH_REPLICAS".to_string())],
            _ => Vec::new(),
        };
        assert_eq!(outcome.refused, refused, "{}", outcome.attack);
        assert!(outcome.verdict() <= Verdict::Refuses, "{}", line(outcome));
    }
    assert_eq!(broken(&trial).len(), 54);
    assert!(trial.is_broken() && !trial.is_met());
}

#[test]
fn a_minimum_of_one_writes_on_after_two_faults_and_is_worth_one_copy() {
    let calm = tried(design(1, 3, 1), demand(3, 2, &FaultKind::ALL, Followers::InSync));
    assert_eq!((calm.len(), broken(&calm)), (64, Vec::new()));
    let behind = tried(design(1, 3, 1), demand(3, 1, &FaultKind::ALL, Followers::MayBeBehind));
    assert_eq!(
        broken(&behind),
        [
            "the others behind, kill 1: Waits refused [\"0 REQUEST_TIMED_OUT\"] late [0] stuck [] lost []",
            "the others behind, power-off 1: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
            "the others behind, wipe 1: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
        ]
    );
}

#[test]
fn five_replicas_with_a_minimum_of_three_stand_any_two_faults() {
    let mut two = demand(5, 2, &[FaultKind::Wipe], Followers::MayBeBehind);
    two.consumers = 3;
    let trial = tried(design(3, 5, 3), two.clone());
    assert_eq!((trial.len(), broken(&trial), trial.busy()), (41, Vec::new(), Some(3)));
    let weaker = tried(design(1, 5, 2), two.clone());
    let pairs = [
        "the others behind, wipe 1 and wipe 2: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
        "the others behind, wipe 1 and wipe 3: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
        "the others behind, wipe 1 and wipe 4: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
        "the others behind, wipe 1 and wipe 5: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
    ];
    assert_eq!(broken(&weaker), pairs);
    let stricter = tried(design(1, 5, 4), two);
    let verdicts = stricter.outcomes().iter().map(|outcome| outcome.verdict());
    assert_eq!(
        verdicts.max(),
        Some(Verdict::Refuses),
        "it stops its writers and takes nothing"
    );
}

#[test]
fn power_that_goes_from_every_replica_takes_what_was_not_flushed() {
    let trial = tried(design(1, 2, 1), demand(3, 2, &[FaultKind::PowerOff], Followers::InSync));
    assert_eq!(
        broken(&trial),
        [
            "power-off 1, then power-off 2: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
            "power-off 2, then power-off 1: Loses refused [\"0 REQUEST_TIMED_OUT\"] late [] stuck [] lost [0]",
        ]
    );
    let killed = tried(design(1, 2, 1), demand(3, 2, &[FaultKind::Kill], Followers::InSync));
    let verdicts = killed.outcomes().iter().map(|outcome| outcome.verdict());
    assert_eq!(
        verdicts.max(),
        Some(Verdict::Waits),
        "killed processes keep what they have written"
    );
}

/// Partition 3 of a topic on three brokers has the replicas of partition 0.
#[test]
fn partitions_with_the_same_replicas_share_their_fate() {
    let trial = tried(design(4, 1, 1), demand(3, 1, &[FaultKind::Wipe], Followers::InSync));
    let lost: Vec<&[u32]> = trial.outcomes().iter().map(|outcome| outcome.lost.as_slice()).collect();
    assert_eq!(lost, [&[][..], &[0, 3], &[1], &[2]]);
}

#[test]
fn consumers_beyond_the_partitions_are_idle() {
    for (partitions, consumers, busy) in [(3, 5, 3), (8, 8, 8), (12, 8, 8), (1, 0, 0)] {
        let mut alone = demand(1, 0, &[], Followers::InSync);
        alone.consumers = consumers;
        let trial = tried(design(partitions, 1, 1), alone);
        assert_eq!(
            trial.busy(),
            Some(busy),
            "{partitions} partitions, {consumers} consumers"
        );
        assert_eq!(trial.is_met(), busy == consumers);
    }
}

/// A topic with fewer replicas than `min.insync.replicas` is content with those it has, so that one replica of one stands
/// more than two of two: what is compared begins where the minimum can be had.
#[test]
fn more_replicas_never_stand_fewer_kills() {
    let stood = |replicas, min_insync| {
        let trial = tried(
            design(2, replicas, min_insync),
            demand(4, 2, &[FaultKind::Kill], Followers::InSync),
        );
        let held = trial
            .outcomes()
            .iter()
            .filter(|outcome| outcome.verdict() == Verdict::Holds);
        held.count()
    };
    for min_insync in 1..=3 {
        let counts: Vec<usize> = (min_insync..=4).map(|replicas| stood(replicas, min_insync)).collect();
        assert!(counts.is_sorted(), "min.insync.replicas={min_insync}: {counts:?}");
        assert!(
            counts.first() < counts.last(),
            "min.insync.replicas={min_insync}: {counts:?}"
        );
    }
}

/// Step by step or at one go: the same comes of it, also where attacks share their beginnings.
#[test]
fn a_trial_can_be_taken_in_small_steps() {
    let asked = || demand(3, 1, &FaultKind::ALL, Followers::MayBeBehind);
    let whole = tried(design(2, 2, 1), asked());
    let mut small = Trial::new(design(2, 2, 1), asked()).expect("it can be tried");
    while small.advance(7).expect("it goes on") == Going::On {
        assert!(!small.is_done());
    }
    assert_eq!(small.outcomes(), whole.outcomes());
    assert!(broken(&whole).len() > 3);
}

/// What a trial says of an attack is what the attack's scenario shows to whoever plays it.
#[test]
fn an_attack_can_be_played_as_a_scenario() {
    let asked = demand(3, 2, &FaultKind::ALL, Followers::MayBeBehind);
    let trial = tried(design(2, 2, 1), asked.clone());
    for outcome in trial.outcomes() {
        let text = scenario(trial.design(), &asked, &outcome.attack);
        let script = crate::scenario::parse(text.as_bytes()).expect("it is a scenario");
        let mut run = crate::scenario::Run::new(script.into()).expect("its world begins");
        run.play(None, |_, _| {});
        assert_eq!(run.report().failures, [], "{text}");
        let partitions = run.world.partitions().into_iter();
        let lost = partitions.filter(|at| !run.ledger.lost(&run.world, *at).is_empty());
        assert_eq!(lost.map(|at| at.partition).collect::<Vec<_>>(), outcome.lost, "{text}");
    }
}

#[test]
fn what_cannot_be_tried_is_refused_with_the_range() {
    let asked = || demand(3, 2, &[FaultKind::Kill], Followers::InSync);
    let refused = |design, demand| Trial::new(design, demand).err();
    for (wrong, words) in [
        (design(0, 3, 2), "the number of partitions is 0; choose 1 to 12"),
        (design(1, 4, 2), "the replication factor is 4; choose 1 to 3"),
        (design(1, 3, 0), "min.insync.replicas is 0; choose 1 to 12"),
    ] {
        assert_eq!(refused(wrong, asked()).as_deref(), Some(words));
    }
    let mut too_many = asked();
    too_many.faults = 3;
    let words = "the number of faults is 3; choose 0 to 2";
    assert_eq!(refused(design(1, 3, 2), too_many).as_deref(), Some(words));
    assert_eq!(refused(design(1, 3, 2), asked()), None);
}
