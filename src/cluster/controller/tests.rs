//! Stories that no recording tells: data directories, the session clock, rules of changes, fingerprints.

use super::*;

const ALL: [BrokerId; 3] = [BrokerId(1), BrokerId(2), BrokerId(3)];
const AT: TopicPartition = TopicPartition {
    topic: TopicId(0),
    partition: 0,
};
const OLD_DISK: DirectoryId = DirectoryId(0);
const NEW_DISK: DirectoryId = DirectoryId(1);

/// Three brokers and a topic of one partition on all of them, led by 1.
fn cluster(elr: ElrFeature, min_isr: &str) -> Controller {
    let cluster = SortedMap::from([("min.insync.replicas".to_owned(), min_isr.to_owned())]);
    let mut controller = Controller::new(Settings {
        elr,
        cluster,
        next_offset: 10,
        ..Settings::default()
    });
    for broker in ALL {
        controller.admit(broker, i64::from(broker.0), OLD_DISK, LastContact::Continuous);
    }
    assert_eq!(controller.create_topic("t", &[ALL.to_vec()]).answer, Ok(AT.topic));
    controller
}

fn state(controller: &Controller) -> &Partition {
    controller.partition(AT).unwrap()
}

/// Silence until fenced.
fn lose(controller: &mut Controller, broker: BrokerId) -> Vec<Change> {
    controller.silence(broker, 0);
    let outcome = controller.check_stale(9_001);
    assert_eq!(outcome.answer, StaleCheck::Fenced(broker));
    outcome.changes
}

/// A new process on a disk, which reads the metadata and is unfenced. Answers its epoch.
fn come_back(controller: &mut Controller, broker: BrokerId, directory: DirectoryId) -> i64 {
    let epoch = register(controller, broker, directory);
    unfence(controller, broker, epoch);
    epoch
}

fn register(controller: &mut Controller, broker: BrokerId, directory: DirectoryId) -> i64 {
    let request = RegistrationRequest {
        broker,
        incarnation: 1,
        previous_epoch: -1,
        directory,
    };
    controller.register(10_000, request).answer.unwrap()
}

fn unfence(controller: &mut Controller, broker: BrokerId, epoch: i64) {
    let request = HeartbeatRequest {
        broker,
        epoch,
        metadata_offset: controller.next_offset() - 1,
        wish: Wish::Run,
    };
    assert!(
        !controller
            .heartbeat(LastContact::Continuous, request)
            .answer
            .unwrap()
            .fenced
    );
}

fn rules_of(changes: &[Change]) -> Vec<&[Rule]> {
    let partitions = changes.iter().filter_map(|change| match change {
        Change::Partition(change) => Some(change.rules.as_slice()),
        _ => None,
    });
    partitions.collect()
}

#[test]
fn a_fenced_leader_is_replaced_and_each_change_names_its_rules() {
    let mut controller = cluster(ElrFeature::On, "3");
    let changes = lose(&mut controller, BrokerId(1));
    assert_eq!(rules_of(&changes), [[Rule::IsrFenced, Rule::ElectIsr, Rule::ElrEnter]]);
    assert_eq!(
        changes.last(),
        Some(&Change::Fenced {
            broker: BrokerId(1),
            rule: Rule::Session
        })
    );
    assert_eq!(
        (state(&controller).leader, &state(&controller).elr),
        (Some(BrokerId(2)), &vec![BrokerId(1)])
    );
}

#[test]
fn a_wiped_disk_that_is_reported_before_unfencing_makes_an_empty_leader() {
    let mut controller = cluster(ElrFeature::Off, "1");
    ALL.into_iter()
        .rev()
        .for_each(|broker| drop(lose(&mut controller, broker)));
    assert_eq!(
        (state(&controller).leader, &state(&controller).isr),
        (None, &vec![BrokerId(1)])
    );
    let epoch = register(&mut controller, BrokerId(1), NEW_DISK);
    let before = state(&controller).partition_epoch;
    let outcome = controller.assign_directory(BrokerId(1), epoch, AT, NEW_DISK);
    assert_eq!(
        (outcome.answer, rules_of(&outcome.changes)),
        (Ok(()), vec![&[Rule::Directory][..]])
    );
    assert_eq!(
        (state(&controller).leader, state(&controller).partition_epoch),
        (None, before + 1)
    );
    unfence(&mut controller, BrokerId(1), epoch);
    assert_eq!(state(&controller).leader, Some(BrokerId(1)));
}

#[test]
fn a_wiped_disk_that_is_reported_after_unfencing_leaves_the_partition_offline_until_somebody_asks() {
    let mut controller = cluster(ElrFeature::Off, "1");
    ALL.into_iter()
        .rev()
        .for_each(|broker| drop(lose(&mut controller, broker)));
    let epoch = come_back(&mut controller, BrokerId(1), NEW_DISK);
    assert_eq!(
        state(&controller).leader,
        None,
        "its data directory is not the one that the partition names"
    );
    assert_eq!(
        controller.assign_directory(BrokerId(1), epoch, AT, NEW_DISK).answer,
        Ok(())
    );
    assert_eq!(state(&controller).leader, None, "the report itself elects nobody");
    let answers = controller.elect_leaders(ElectionType::Unclean, Some(&[AT])).answer;
    assert_eq!(
        (answers, state(&controller).leader),
        (vec![(AT, Ok(()))], Some(BrokerId(1)))
    );
}

#[test]
fn a_directory_report_is_checked() {
    let mut controller = cluster(ElrFeature::On, "1");
    let elsewhere = |topic, partition| TopicPartition {
        topic: TopicId(topic),
        partition,
    };
    let mut report = |epoch, at| controller.assign_directory(BrokerId(1), epoch, at, NEW_DISK).answer;
    assert_eq!(report(7, AT), Err(Errors::StaleBrokerEpoch));
    assert_eq!(report(1, elsewhere(9, 0)), Err(Errors::UnknownTopicId));
    assert_eq!(report(1, elsewhere(0, 9)), Err(Errors::UnknownTopicOrPartition));
    controller.admit(BrokerId(4), 4, OLD_DISK, LastContact::Continuous);
    assert_eq!(
        controller.assign_directory(BrokerId(4), 4, AT, NEW_DISK).answer,
        Err(Errors::NotLeaderOrFollower)
    );
}

#[test]
fn the_session_check_comes_every_eighth_of_the_time_out() {
    let mut controller = cluster(ElrFeature::On, "1");
    assert_eq!(controller.next_session_check(), None, "everybody is heard all the time");
    controller.silence(BrokerId(2), 500);
    assert_eq!(
        controller.next_session_check(),
        Some(10_125),
        "9501 rounded up to a multiple of 1125"
    );
    assert_eq!(controller.check_stale(9_500).answer, StaleCheck::Nobody);
    assert_eq!(controller.check_stale(10_125).answer, StaleCheck::Fenced(BrokerId(2)));
    assert_eq!(controller.next_session_check(), None);
}

#[test]
fn a_new_process_waits_for_the_old_ones_session() {
    let mut controller = cluster(ElrFeature::On, "1");
    controller.silence(BrokerId(1), 1_000);
    let request = RegistrationRequest {
        broker: BrokerId(1),
        incarnation: 1,
        previous_epoch: 1,
        directory: OLD_DISK,
    };
    assert_eq!(
        controller.register(10_000, request).answer,
        Err(Errors::DuplicateBrokerRegistration)
    );
    assert_eq!(controller.register(10_001, request).answer, Ok(11 + 1));
}

#[test]
fn fingerprints_follow_the_model_and_not_the_hour() {
    let mut controller = cluster(ElrFeature::On, "2");
    let digest = |controller: &Controller, now| {
        let mut encoder = Encoder::new();
        controller.encode(now, &mut encoder);
        encoder.digest()
    };
    let copy = controller.clone();
    assert_eq!(digest(&controller, 0), digest(&copy, 500));
    controller.silence(BrokerId(1), 100);
    assert_ne!(digest(&controller, 100), digest(&copy, 100));
    let mut later = copy.clone();
    later.silence(BrokerId(1), 700);
    assert_eq!(
        digest(&controller, 200),
        digest(&later, 800),
        "both were silent for 100 ms"
    );
}
