//! Epochs and truncation between two brokers: the worked divergence and the conformance cases that need both sides.

use std::sync::Arc;

use super::rig::{CLIENT, MS, Rig, TP, fetch};
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, Node};
use crate::cluster::input::ReportDirectory;
use crate::cluster::message::{Acks, FetchResult, Message};
use crate::log::{Batch, Record};

fn b(id: u16) -> Node {
    Node::Broker(BrokerId(id))
}

fn epochs(rig: &Rig, id: u16) -> Vec<(i32, i64)> {
    let entries = rig.replica(id).epochs().iter();
    entries.map(|entry| (entry.epoch, entry.start_offset)).collect()
}

/// Writes so many records as leader in its present epoch, one batch each.
fn fill(rig: &mut Rig, id: u16, count: usize) {
    for _ in 0..count {
        rig.produce(CLIENT, id, Acks::Leader, &["x"]);
    }
    rig.run_for(3 * MS);
}

/// Leader epochs (0,0) (1,10) (3,15), end 20; follower (0,0) (1,10) (2,13), end 18: it cuts to 13 and fetches on.
#[test]
fn the_worked_divergence() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    fill(&mut rig, 1, 10);
    rig.run_for(20 * MS);
    rig.elect(1, &[1, 2]);
    rig.run_for(1_500 * MS);
    fill(&mut rig, 1, 3);
    rig.run_for(20 * MS);
    assert_eq!((rig.ends(1).0, rig.ends(2).0), (13, 13));
    rig.cut(b(1), b(2));
    // Broker 1 goes on alone in epoch 1; broker 2 hears that it leads in epoch 2; then 1 leads in 3.
    fill(&mut rig, 1, 2);
    rig.cut(b(1), Node::Controller);
    rig.elect(2, &[2]);
    rig.run_for(3 * MS);
    fill(&mut rig, 2, 5);
    rig.cut
        .retain(|(from, to)| *from != Node::Controller && *to != Node::Controller);
    rig.elect(1, &[1]);
    rig.run_for(3 * MS);
    fill(&mut rig, 1, 5);
    assert_eq!((epochs(&rig, 1), rig.ends(1).0), (vec![(0, 0), (1, 10), (3, 15)], 20));
    assert_eq!((epochs(&rig, 2), rig.ends(2).0), (vec![(0, 0), (1, 10), (2, 13)], 18));
    rig.events.clear();
    rig.heal();
    rig.run_for(1_500 * MS);
    assert_eq!(
        rig.happened(|what| matches!(what, What::Diverged { epoch: 1, end: 15, .. })),
        1
    );
    assert_eq!(
        rig.happened(|what| matches!(
            what,
            What::Truncated {
                broker: BrokerId(2),
                to: 13,
                from: 18,
                ..
            }
        )),
        1
    );
    assert_eq!(rig.happened(|what| matches!(what, What::Truncated { .. })), 1);
    assert_eq!(epochs(&rig, 2), epochs(&rig, 1));
    assert_eq!((rig.ends(2), rig.values(2)), ((20, 20), rig.values(1)));
}

/// An epoch in which nothing was written is forgotten without cutting a record.
#[test]
fn an_epoch_without_records_is_forgotten() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    fill(&mut rig, 1, 5);
    rig.run_for(1_000 * MS);
    rig.cut(b(1), b(2));
    rig.cut(b(1), Node::Controller);
    rig.elect(2, &[2]);
    rig.run_for(3 * MS);
    rig.cut
        .retain(|(from, to)| *from != Node::Controller && *to != Node::Controller);
    rig.elect(1, &[1]);
    rig.run_for(3 * MS);
    assert_eq!(
        (epochs(&rig, 1), epochs(&rig, 2)),
        (vec![(0, 0), (2, 5)], vec![(0, 0), (1, 5)])
    );
    rig.heal();
    rig.run_for(1_500 * MS);
    assert_eq!((epochs(&rig, 2), rig.ends(2)), (vec![(0, 0)], (5, 5)));
    assert_eq!(rig.happened(|what| matches!(what, What::Truncated { .. })), 0);
}

/// E15: a follower below its leader's log start begins anew there.
#[test]
fn a_follower_below_the_log_start_begins_anew() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    fill(&mut rig, 1, 1);
    rig.run_for(1_000 * MS);
    rig.act(2, |broker, cx| broker.kill(cx));
    rig.elect(1, &[1]);
    rig.run_for(3 * MS);
    fill(&mut rig, 1, 2);
    rig.act(1, |broker, cx| broker.roll(TP, cx));
    rig.act(1, |broker, cx| broker.delete_records(TP, 2, cx));
    assert_eq!(rig.answer, None, "nothing was heard of broker 2's log start");
    rig.act(2, |broker, cx| broker.start(ReportDirectory::First, cx));
    rig.run_for(2_000 * MS);
    let replica = rig.replica(2);
    assert_eq!(
        (replica.log_start(), replica.log_end(), replica.high_watermark()),
        (2, 3, Some(3))
    );
    assert_eq!(
        rig.happened(|what| matches!(what, What::Truncated { to: 2, from: 1, .. })),
        1
    );
}

/// R16: a batch of a later epoch than the follower's, and all behind it, are left out.
#[test]
fn batches_of_a_later_epoch_are_left_out() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.elect(1, &[1, 2]);
    rig.elect(1, &[1, 2]);
    // The fetch of the new epoch is parked at the leader; its answer is made up here.
    rig.run_for(600 * MS);
    let Some(asked) = rig
        .broker(2)
        .process()
        .map(|process| process.fetchers[&BrokerId(1)].clone())
    else {
        panic!()
    };
    let correlation = asked.outstanding.map(|asked| asked.correlation).unwrap_or(0);
    let at =
        |offset, epoch| Batch::build(&[Record::new(None, Some(b"v"), 0)], None, Arc::default()).placed(offset, epoch);
    let result = FetchResult {
        partition: TP,
        error: None,
        high_watermark: 0,
        log_start: 0,
        diverging: None,
        current_leader: None,
        batches: vec![at(0, 1), at(1, 1), at(2, 2), at(3, 3)],
    };
    rig.act(2, |broker, cx| {
        broker.on_message(b(1), Message::FetchResponse(correlation, vec![result]), cx)
    });
    assert_eq!((rig.replica(2).log_end(), epochs(&rig, 2)), (3, vec![(1, 0), (2, 2)]));
}

/// R13: the answer that raises the high watermark still says the old one; the next says it when its wait ends.
#[test]
fn the_raising_fetch_hears_of_it_a_round_later() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.run_to(10 * MS);
    rig.act(2, |broker, cx| broker.kill(cx));
    rig.act(1, |broker, cx| broker.on_message(b(2), Message::Closed, cx));
    rig.produce(CLIENT, 1, Acks::All, &["a", "b"]);
    rig.run_for(2 * MS);
    let ask = |rig: &mut Rig, max_wait, min_bytes| {
        let mut request = fetch(Some(2), 2, 0, max_wait, min_bytes);
        request.partitions[0].current_leader_epoch = 0;
        rig.act(1, |broker, cx| {
            broker.on_message(b(2), Message::Fetch(9, Arc::new(request)), cx)
        });
        rig.wire.iter().rev().find_map(|(_, _, _, message)| match message {
            Message::FetchResponse(9, results) => Some(results[0].high_watermark),
            _ => None,
        })
    };
    assert_eq!(ask(&mut rig, 0, 0), Some(0));
    assert_eq!(rig.ends(1), (2, 2), "and the write is acknowledged");
    rig.wire.clear();
    assert_eq!(ask(&mut rig, 1_000, 1_000), None, "parked");
    rig.run_for(999 * MS);
    assert!(rig.wire.is_empty());
    let sent = rig.now + MS;
    rig.run_to(sent);
    assert!(
        rig.wire
            .iter()
            .any(|(_, _, _, m)| matches!(m, Message::FetchResponse(9, r) if r[0].high_watermark == 2))
    );
}
