//! The records of a group as a real coordinator wrote them, and the steps of a member.

use proptest::prelude::*;

use super::reconcile::{Target, next};
use super::*;
use crate::cluster::group::record::Entry;
use crate::cluster::ids::TopicId;
use crate::cluster::settings::{Settings, Topic};
use crate::config::TopicConfig;

const TOPIC: TopicId = TopicId(0);

fn settings() -> Settings {
    let topic = Topic {
        name: "t-k848a".into(),
        config: TopicConfig::default(),
        on_broker: Vec::new(),
        partitions: 2,
    };
    Settings {
        topics: [(TOPIC, topic)].into(),
        clients: vec!["c1".into()],
        ..Settings::default()
    }
}

fn at(partition: u32) -> TopicPartition {
    TopicPartition {
        topic: TOPIC,
        partition,
    }
}

fn member() -> MemberId {
    "jwCfuGnwSQyBwUSAwcxvIQ".into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a real coordinator wrote when a first member joined, when it had to give one of two partitions up, and when the
/// last one had left; `ID` stands for the topic's id.
#[test]
fn records_are_written_as_a_real_coordinator_wrote_them() {
    let told = Told {
        client: ClientId(0),
        instance: None,
        rebalance: 300_000_000,
        topics: ["t-k848a".into()].into(),
        assignor: None,
    };
    let joined = Place {
        epoch: 2,
        previous: 0,
        state: MemberState::Stable,
        assigned: [(at(0), 2), (at(1), 2)].into(),
        revoking: Assigned::new(),
    };
    let gives_up = Place {
        epoch: 2,
        previous: 2,
        state: MemberState::UnrevokedPartitions,
        assigned: [(at(0), 2)].into(),
        revoking: [(at(1), 2)].into(),
    };
    let recorded = [
        (
            Change::Member(member(), Some(told)),
            "0005000867312d6b3834386100166a77436675476e775351794277555341776378764951",
            "000000000363310b2f3132372e302e302e310208742d6b3834386101000493e00001000100",
        ),
        (
            Change::Epoch(Some((2, -8_228_800_437_870_675_835))),
            "0003000867312d6b38343861",
            "0000000000020100088dcd6d998d23b885",
        ),
        (
            Change::Target(member(), Some([at(0), at(1)].into())),
            "0007000867312d6b3834386100166a77436675476e775351794277555341776378764951",
            "000002ID0300000000000000010000",
        ),
        (
            Change::TargetEpoch(Some((2, 1_796_006_089_785))),
            "0006000867312d6b38343861",
            "000000000002010008000001a22a4e1439",
        ),
        (
            Change::Current(member(), Some(joined)),
            "0008000867312d6b3834386100166a77436675476e775351794277555341776378764951",
            "000000000002000000000002ID0300000000000000010100090300000002000000020100",
        ),
        (
            Change::Current(member(), Some(gives_up)),
            "0008000867312d6b3834386100166a77436675476e775351794277555341776378764951",
            "000000000002000000020102ID020000000001000502000000\
             0202ID0200000001010005020000000200",
        ),
        (
            Change::Epoch(Some((7, 0))),
            "0003000867312d6b38343861",
            "00000000000700",
        ),
        (
            Change::TargetEpoch(Some((7, 0))),
            "0006000867312d6b38343861",
            "00000000000700",
        ),
    ];
    let settings = settings();
    for (change, key, value) in recorded {
        let entry = Entry::Consumer("g1-k848a".into(), change);
        let record = entry.to_record(0, &settings);
        let (found_key, found) = (record.key.unwrap_or_default(), record.value.unwrap_or_default());
        assert_eq!(hex(&found_key), key, "{entry:?}");
        assert_eq!(hex(&found), value.replace("ID", &hex(&TOPIC.uuid())), "{entry:?}");
        assert_eq!(Entry::parse(&found_key, Some(&found), &settings).as_ref(), Some(&entry));
        for end in 0..found.len() {
            let cut = Entry::parse(&found_key, Some(&found[..end]), &settings);
            assert_eq!(cut, None, "cut at {end}");
        }
    }
}

#[test]
fn tombstones_are_read_as_such() {
    let mut tombstones = ConsumerGroup::tombstones();
    tombstones.extend([
        Change::Member(member(), None),
        Change::Target(member(), None),
        Change::Current(member(), None),
    ]);
    for change in tombstones {
        assert!(change.is_tombstone());
        let entry = Entry::Consumer("g".into(), change);
        let record = entry.to_record(0, &settings());
        let key = record.key.unwrap_or_default();
        assert_eq!(
            (Entry::parse(&key, None, &settings()), record.value),
            (Some(entry), None)
        );
    }
}

fn target(epoch: i32, partitions: &[u32]) -> Target {
    Target {
        epoch,
        partitions: partitions.iter().copied().map(at).collect(),
    }
}

#[test]
fn a_member_gives_up_before_it_moves_on() {
    let stands = next(&Place::NEW, &target(2, &[0, 1]), None, |_| false);
    assert_eq!((stands.epoch, stands.state), (2, MemberState::Stable));

    let asked = next(&stands, &target(3, &[0]), None, |_| false);
    assert_eq!((asked.epoch, asked.state), (2, MemberState::UnrevokedPartitions));
    assert_eq!(asked.revoking, [(at(1), 2)].into());

    // As long as it says nothing, or still names the partition, nothing moves.
    let both = [at(0), at(1)].into();
    assert_eq!(next(&asked, &target(3, &[0]), None, |_| false), asked);
    assert_eq!(next(&asked, &target(3, &[0]), Some(&both), |_| false), asked);

    let done = next(&asked, &target(3, &[0]), Some(&[at(0)].into()), |_| false);
    assert_eq!((done.epoch, done.previous, done.state), (3, 2, MemberState::Stable));
    assert_eq!(done.assigned, [(at(0), 2)].into());
}

#[test]
fn a_member_waits_for_what_another_holds() {
    let waits = next(&Place::NEW, &target(3, &[0, 1]), None, |tp| tp == at(1));
    assert_eq!((waits.epoch, waits.state), (3, MemberState::UnreleasedPartitions));
    assert_eq!(waits.assigned, [(at(0), 3)].into());
    let gets = next(&waits, &target(3, &[0, 1]), None, |_| false);
    assert_eq!(gets.state, MemberState::Stable);
    assert_eq!(gets.assigned, [(at(0), 3), (at(1), 3)].into());
}

proptest! {
    /// Members that follow at their own pace, each told another target at any time: nobody is ever given what another holds,
    /// and when they are left alone everybody arrives.
    #[test]
    fn no_partition_has_two_readers(
        turns in prop::collection::vec((0_usize..3, prop::option::of(0_usize..27)), 1..80),
    ) {
        let shares = |code: usize, who: usize| -> Vec<u32> {
            (0..3_u32).filter(|at| code / 3_usize.pow(*at) % 3 == who).collect()
        };
        let mut places = [const { Place::NEW }; 3];
        let mut reads: [SortedSet<TopicPartition>; 3] = Default::default();
        let (mut epoch, mut code) = (2, 0);
        let quiet = (0..12).map(|turn| (turn % 3, None));
        for (who, another) in turns.into_iter().chain(quiet) {
            if let Some(another) = another {
                (epoch, code) = (epoch + 1, another);
            }
            let taken = |tp| (0..3).any(|other| other != who && places[other].holds(tp));
            let step = next(&places[who], &target(epoch, &shares(code, who)), Some(&reads[who]), taken);
            reads[who] = step.assigned.keys().copied().collect();
            places[who] = step;
            for tp in (0..3).map(at) {
                let readers = reads.iter().filter(|reads| reads.contains(&tp)).count();
                prop_assert!(readers <= 1, "{tp:?} has {readers} readers");
            }
        }
        for (who, place) in places.iter().enumerate() {
            prop_assert!(place.has_reached(epoch));
            prop_assert_eq!(&reads[who], &target(epoch, &shares(code, who)).partitions);
        }
    }
}

#[test]
fn a_group_that_reads_what_it_writes_comes_to_the_same() {
    let place = Place {
        epoch: 3,
        previous: 2,
        state: MemberState::UnrevokedPartitions,
        assigned: Assigned::new(),
        revoking: [(at(0), 2)].into(),
    };
    let told = Told {
        client: ClientId(0),
        instance: None,
        rebalance: 60_000_000,
        topics: ["t-k848a".into()].into(),
        assignor: Some(Assignor::ServerRange),
    };
    let changes = [
        Change::Member(member(), Some(told)),
        Change::Epoch(Some((3, 5))),
        Change::Target(member(), Some(SortedSet::new())),
        Change::TargetEpoch(Some((3, 9))),
        Change::Current(member(), Some(place)),
    ];
    let (settings, config) = (settings(), BrokerConfig::default());
    let (mut first, mut second) = (ConsumerGroup::default(), ConsumerGroup::default());
    for change in &changes {
        first.read(change, 7, &config);
        let record = Entry::Consumer("g".into(), change.clone()).to_record(0, &settings);
        let key = record.key.unwrap_or_default();
        if let Some(Entry::Consumer(_, read)) = Entry::parse(&key, record.value.as_deref(), &settings) {
            second.read(&read, 7, &config);
        }
    }
    assert_eq!(first, second);
    assert_eq!((first.epoch(), first.state()), (3, "Reconciling"));
    let (_, stored) = first.members().next().expect("it has a member");
    assert_eq!(stored.revoke_by, Some(7 + 60_000_000));
}
