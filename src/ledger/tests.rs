//! The fold, told with events by hand: what a leader's death and return leave of a record.

use std::sync::Arc;

use super::{How, Ledger, Metric, Tally};
use crate::cluster::event::{AppendedAs, Ended, Expiry};
use crate::cluster::event::{Event, Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, ClientId, TopicId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::log::{Batch, Errors, Record};

const APP: ClientId = ClientId(0);
const READER: ClientId = ClientId(1);
const T0: TopicPartition = TopicPartition {
    topic: TopicId(0),
    partition: 0,
};

fn tag(number: u32) -> Tag {
    Tag { client: APP, number }
}

fn event(at: u64, rule: Rule, what: What) -> Event {
    Event { at, rule, what }
}

/// A batch with one record of the application, as a leader has placed it.
fn batch(number: u32, offset: i64, epoch: i32) -> Batch {
    let record = Record::new(None, Some(format!("m{number}").as_bytes()), 0);
    Batch::build(&[record], None, Arc::new([tag(number).to_bits()])).placed(offset, epoch)
}

fn appended(at: u64, broker: u16, by: AppendedAs, batch: Batch) -> Event {
    let rule = match by {
        AppendedAs::Leader => Rule::AppendLeader,
        AppendedAs::Follower => Rule::AppendFollower,
    };
    event(
        at,
        rule,
        What::Appended {
            broker: BrokerId(broker),
            partition: T0,
            by,
            batch,
        },
    )
}

fn handed(at: u64, number: u32) -> Event {
    event(
        at,
        Rule::Act,
        What::Handed {
            tag: tag(number),
            topic_partition: Some(T0),
        },
    )
}

fn told(at: u64, number: u32, outcome: Outcome) -> Event {
    event(
        at,
        Rule::TellAcked,
        What::Told {
            tag: tag(number),
            partition: Some(T0),
            outcome,
        },
    )
}

/// Records 1 and 2 on brokers 1 and 2; record 3 on broker 1 alone, acknowledged.
fn three_records() -> Ledger {
    let mut ledger = Ledger::default();
    for number in 1..=3 {
        let offset = i64::from(number) - 1;
        ledger.step(&[handed(10, number)]);
        ledger.step(&[appended(20, 1, AppendedAs::Leader, batch(number, offset, 0))]);
        ledger.step(&[told(30, number, Outcome::Acked(offset))]);
        if number < 3 {
            ledger.step(&[appended(40, 2, AppendedAs::Follower, batch(number, offset, 0))]);
        }
    }
    ledger
}

fn held(ledger: &Ledger, broker: u16) -> Vec<(i64, u32)> {
    ledger
        .held(T0, BrokerId(broker))
        .map(|(offset, tag)| (offset, tag.number))
        .collect()
}

#[test]
fn a_record_is_followed_from_hand_over_to_acknowledgement() {
    let ledger = three_records();
    let story = ledger.story(tag(3)).expect("handed over");
    assert_eq!(story.latency(), Some(20));
    assert_eq!((story.acknowledged(), story.offset()), (Some(2), Some(2)));
    assert_eq!((story.places.len(), story.places[0].leader), (1, BrokerId(1)));
    assert_eq!(
        ledger.tally(APP),
        Tally {
            handed: 3,
            acked: 3,
            sent: 0,
            failed: 0
        }
    );
    assert_eq!(ledger.tally_of(APP, T0), ledger.tally(APP));
    assert_eq!(ledger.value(tag(3)), Some(Some(b"m3".to_vec())));
    assert_eq!(held(&ledger, 1), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(held(&ledger, 2), [(0, 1), (1, 2)]);
    assert_eq!(ledger.events(Rule::AppendLeader), 3);
    assert_eq!(ledger.steps(), 11);
}

#[test]
fn the_truncation_that_took_a_copy_is_named_with_its_rule_and_step() {
    let mut ledger = three_records();
    let cut = vec![(2, tag(3).to_bits())];
    let truncated = What::Truncated {
        broker: BrokerId(1),
        partition: T0,
        to: 2,
        from: 3,
        cut,
    };
    ledger.step(&[event(90, Rule::TruncateDiverging, truncated.clone())]);
    let taken = &ledger.story(tag(3)).expect("handed over").taken;
    assert_eq!(taken.len(), 1);
    assert_eq!(
        (taken[0].broker, taken[0].offset, taken[0].how),
        (BrokerId(1), 2, How::Truncated)
    );
    assert_eq!(
        (taken[0].rule, taken[0].when.at, taken[0].when.step),
        (Rule::TruncateDiverging, 90, 12)
    );
    assert_eq!(held(&ledger, 1), [(0, 1), (1, 2)]);
}

#[test]
fn a_truncation_takes_the_whole_batch_that_it_cuts_into() {
    let records: Vec<_> = (0..3).map(|_| Record::new(None, None, 0)).collect();
    let tags: Arc<[u64]> = (1..=3).map(|number| tag(number).to_bits()).collect();
    let mut ledger = Ledger::default();
    ledger.step(&[appended(
        1,
        1,
        AppendedAs::Leader,
        Batch::build(&records, None, tags).placed(5, 0),
    )]);
    assert_eq!(held(&ledger, 1), [(5, 1), (6, 2), (7, 3)]);
    ledger.step(&[event(
        2,
        Rule::TruncateDiverging,
        What::Truncated {
            broker: BrokerId(1),
            partition: T0,
            to: 6,
            from: 8,
            cut: Vec::new(),
        },
    )]);
    assert_eq!(held(&ledger, 1), []);
}

#[test]
fn power_loss_and_a_lost_disk_take_what_they_must_and_no_more() {
    let mut ledger = three_records();
    let lost = vec![(T0, 1, 3, Vec::new())];
    ledger.step(&[event(
        50,
        Rule::PowerLoss,
        What::BrokerEnded {
            broker: BrokerId(1),
            how: Ended::PoweredOff,
            lost,
        },
    )]);
    assert_eq!(held(&ledger, 1), [(0, 1)]);
    ledger.step(&[event(
        60,
        Rule::Act,
        What::Wiped {
            broker: BrokerId(1),
            lost: vec![(T0, Vec::new())],
        },
    )]);
    assert_eq!(held(&ledger, 1), []);
    assert_eq!(held(&ledger, 2).len(), 2);
    let how = |number| {
        ledger
            .story(tag(number))
            .map(|story| story.taken.iter().map(|taken| taken.how).collect::<Vec<_>>())
    };
    assert_eq!(how(1), Some(vec![How::Wiped]));
    assert_eq!(how(3), Some(vec![How::PowerLost]));
}

#[test]
fn a_followers_copies_go_as_its_leaders_went() {
    let mut ledger = three_records();
    let expired = |broker| What::SegmentDeleted {
        broker,
        partition: T0,
        base: 0,
        next: 1,
        by: Expiry::Time,
    };
    ledger.step(&[event(70, Rule::RetentionTime, expired(BrokerId(1)))]);
    let follows = What::LogStart {
        broker: BrokerId(2),
        partition: T0,
        from: 0,
        to: 1,
    };
    ledger.step(&[event(80, Rule::LogStartFollower, follows)]);
    let deleted = |broker| What::LogStart {
        broker,
        partition: T0,
        from: 1,
        to: 2,
    };
    ledger.step(&[event(90, Rule::Act, deleted(BrokerId(1)))]);
    ledger.step(&[event(95, Rule::LogStartFollower, deleted(BrokerId(2)))]);
    let how = |number| {
        ledger
            .story(tag(number))
            .map(|story| story.taken.iter().map(|taken| taken.how).collect::<Vec<_>>())
    };
    assert_eq!(how(1), Some(vec![How::Expired, How::Expired]));
    assert_eq!(how(2), Some(vec![How::Deleted, How::Deleted]));
    assert_eq!((held(&ledger, 1), held(&ledger, 2)), (vec![(2, 3)], vec![]));
}

#[test]
fn an_isr_shrink_counts_for_the_leader_that_asked_for_it_and_a_fencing_for_nobody() {
    let all = || vec![BrokerId(1), BrokerId(2), BrokerId(3)];
    let two = || vec![BrokerId(1), BrokerId(2)];
    let mut ledger = Ledger::default();
    let proposed = What::IsrProposed {
        broker: BrokerId(1),
        partition: T0,
        from: all(),
        to: two(),
    };
    ledger.step(&[event(1, Rule::IsrShrink, proposed)]);
    ledger.step(&[event(
        2,
        Rule::IsrCommit,
        What::IsrChanged {
            partition: T0,
            from: all(),
            to: two(),
        },
    )]);
    ledger.step(&[event(
        3,
        Rule::IsrFenced,
        What::IsrChanged {
            partition: T0,
            from: two(),
            to: vec![BrokerId(1)],
        },
    )]);
    assert_eq!(ledger.metric(Metric::IsrShrinks, Some(BrokerId(1))), 1);
    assert_eq!(ledger.metric(Metric::IsrShrinks, Some(BrokerId(2))), 0);
    assert_eq!(ledger.metric(Metric::IsrShrinks, None), 1);
    assert_eq!(ledger.metric(Metric::IsrExpands, None), 0);
}

#[test]
fn two_reads_of_one_offset_that_differ_are_remembered() {
    let mut ledger = three_records();
    let read = |number| What::Read {
        client: READER,
        partition: T0,
        records: vec![(2, tag(number).to_bits())],
    };
    ledger.step(&[event(50, Rule::ConsumerRead, read(3))]);
    ledger.step(&[event(51, Rule::ConsumerRead, read(3))]);
    assert_eq!(ledger.disagreement(), None);
    ledger.step(&[event(52, Rule::ConsumerRead, read(4))]);
    let found = ledger.disagreement().expect("another record at offset 2");
    assert_eq!((found.first.tag, found.then.tag, found.by), (tag(3), tag(4), READER));
    assert_eq!(
        ledger.read(READER).map(|seen| seen.tag.number).collect::<Vec<_>>(),
        [3, 3, 4]
    );
}

#[test]
fn a_clone_keeps_what_it_knew() {
    let mut ledger = three_records();
    let before = ledger.clone();
    ledger.step(&[handed(99, 4), told(99, 4, Outcome::Failed(Errors::NotEnoughReplicas))]);
    assert_eq!((before.tally(APP).failed, ledger.tally(APP).failed), (0, 1));
    assert!(before.story(tag(4)).is_none() && ledger.story(tag(4)).is_some());
}
