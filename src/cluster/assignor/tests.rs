//! What every assignor promises, on random groups, and the sentences that people quote.

use super::*;
use proptest::prelude::*;

const TOPICS: [&str; 3] = ["a", "b", "c"];

fn member(id: &str, topics: &[&str]) -> Member {
    let topics = topics.iter().map(|&topic| topic.into()).collect();
    Member {
        id: id.into(),
        instance: None,
        topics,
        owned: Vec::new(),
        generation: -1,
    }
}

fn group(topics: &[(&str, u32)], members: Vec<Member>) -> Group {
    Group {
        topics: topics.iter().map(|&(topic, count)| (topic.into(), count)).collect(),
        members,
    }
}

/// `a0 a1 b0` of a member.
fn of(assignment: &Assignment, member: &str) -> String {
    let slots: Vec<String> = assignment[member]
        .iter()
        .map(|slot| format!("{}{}", slot.topic, slot.partition))
        .collect();
    slots.join(" ")
}

/// The group after each member got what it was given.
fn after(group: &Group, assignment: &Assignment, generation: i32) -> Group {
    let mut next = group.clone();
    for member in &mut next.members {
        member.owned = assignment[&member.id].iter().cloned().collect();
        member.generation = generation;
    }
    next
}

#[test]
fn the_first_members_get_more_of_every_topic_by_range_and_not_in_turn() {
    let two = group(
        &[("a", 3), ("b", 3)],
        vec![member("m1", &["a", "b"]), member("m2", &["a", "b"])],
    );
    let range = Assignor::Range.assign(&two);
    assert_eq!(
        (of(&range, "m1"), of(&range, "m2")),
        ("a0 a1 b0 b1".into(), "a2 b2".into())
    );
    let turns = Assignor::RoundRobin.assign(&two);
    assert_eq!(
        (of(&turns, "m1"), of(&turns, "m2")),
        ("a0 a2 b1".into(), "a1 b0 b2".into())
    );
}

#[test]
fn what_changes_hands_cooperatively_belongs_to_nobody_for_one_step() {
    let mut one = group(&[("a", 4)], vec![member("m1", &["a"])]);
    one = after(&one, &Assignor::CooperativeSticky.assign(&one), 1);
    one.members.push(member("m2", &["a"]));
    let first = Assignor::CooperativeSticky.assign(&one);
    assert_eq!((of(&first, "m1"), of(&first, "m2")), ("a0 a1".into(), String::new()));
    let second = Assignor::CooperativeSticky.assign(&after(&one, &first, 2));
    assert_eq!((of(&second, "m1"), of(&second, "m2")), ("a0 a1".into(), "a2 a3".into()));
}

#[test]
fn a_partition_claimed_twice_belongs_to_the_later_generation() {
    let mut two = group(&[("a", 2)], vec![member("m1", &["a"]), member("m2", &["a"])]);
    let slot = |partition| Slot {
        topic: "a".into(),
        partition,
    };
    (two.members[0].owned, two.members[0].generation) = (vec![slot(0)], 3);
    (two.members[1].owned, two.members[1].generation) = (vec![slot(0)], 2);
    let assignment = Assignor::Sticky.assign(&two);
    assert_eq!(
        (of(&assignment, "m1"), of(&assignment, "m2")),
        ("a0".into(), "a1".into())
    );
}

#[test]
fn a_group_without_members_is_no_trouble() {
    for assignor in Assignor::ALL {
        assert_eq!(assignor.assign(&group(&[("a", 3)], Vec::new())), Assignment::new());
        assert_eq!(Assignor::from_name(assignor.name()), Some(assignor));
    }
}

fn groups() -> impl Strategy<Value = Group> {
    let counts = prop::collection::vec(1..7_u32, TOPICS.len());
    let subscriptions = prop::collection::vec(prop::sample::subsequence(TOPICS.to_vec(), 1..=TOPICS.len()), 1..6);
    (counts, subscriptions).prop_map(|(counts, subscriptions)| {
        let topics: Vec<(&str, u32)> = TOPICS.into_iter().zip(counts).collect();
        let members = subscriptions
            .iter()
            .enumerate()
            .map(|(at, topics)| member(&format!("m{at}"), topics));
        group(&topics, members.collect())
    })
}

fn is_complete(group: &Group, assignment: &Assignment) -> bool {
    let wanted: Vec<Slot> = slots(&group.subscribed_topics()).collect();
    let mut given: Vec<Slot> = assignment.values().flatten().cloned().collect();
    given.sort_unstable();
    let subscribed = |member: &Member| {
        assignment[&member.id]
            .iter()
            .all(|slot| member.topics.contains(&slot.topic))
    };
    given == wanted && group.members.iter().all(subscribed)
}

proptest! {
    #[test]
    fn every_partition_goes_to_one_subscriber(group in groups(), next in groups()) {
        for assignor in Assignor::ALL {
            let first = assignor.assign(&group);
            prop_assert!(is_complete(&group, &first), "{assignor:?}");
            // The same members with other subscriptions and sizes, owning what they got.
            let mut changed = after(&group, &first, 1);
            changed.topics = changed.topics.iter().map(|(topic, &count)| (Arc::clone(topic), count + 1)).collect();
            for (member, other) in changed.members.iter_mut().zip(next.members.iter().cycle()) {
                member.topics = other.topics.clone();
            }
            let second = assignor.assign(&changed);
            if assignor != Assignor::CooperativeSticky {
                prop_assert!(is_complete(&changed, &second), "{assignor:?} again");
            }
        }
    }

    #[test]
    fn equal_subscriptions_are_shared_evenly_and_stay(mut group in groups()) {
        let topics = group.members[0].topics.clone();
        group.members.iter_mut().for_each(|member| member.topics = topics.clone());
        for assignor in [Assignor::Sticky, Assignor::CooperativeSticky, Assignor::Uniform] {
            let first = assignor.assign(&group);
            let loads = || first.values().map(SortedSet::len);
            prop_assert!(loads().max() <= loads().min().map(|least| least + 1), "{assignor:?}");
            prop_assert_eq!(assignor.assign(&after(&group, &first, 1)), first);
        }
    }
}
