//! Ends and beginnings of processes, epochs that part, hosts that lose their memory.

use super::rig::{CLIENT, MS, Rig};
use crate::cluster::event::{BrokerState, What};
use crate::cluster::ids::{BrokerId, Node};
use crate::cluster::input::{Keep, ReportDirectory};
use crate::cluster::message::Acks;
use crate::cluster::rules::Rule;

fn b(id: u16) -> Node {
    Node::Broker(BrokerId(id))
}

fn epochs(rig: &Rig, id: u16) -> Vec<(i32, i64)> {
    rig.replica(id)
        .epochs()
        .iter()
        .map(|entry| (entry.epoch, entry.start_offset))
        .collect()
}

/// A deposed leader cuts its tail at the end of the last common epoch and takes the new leader's records.
#[test]
fn a_deposed_leader_cuts_its_tail() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.run_to(1_000 * MS);
    rig.cut(b(1), b(2));
    rig.produce(CLIENT, 1, Acks::Leader, &["tail1", "tail2"]);
    rig.run_for(10 * MS);
    rig.act(1, |broker, cx| broker.kill(cx));
    rig.elect(2, &[2]);
    rig.run_for(5 * MS);
    rig.produce(CLIENT, 2, Acks::All, &["new"]);
    rig.run_for(5 * MS);
    assert_eq!(rig.ends(2), (2, 2));
    rig.cut.clear();
    rig.act(1, |broker, cx| broker.start(ReportDirectory::First, cx));
    rig.run_for(2_000 * MS);
    assert_eq!(rig.broker(1).state(), BrokerState::Up);
    assert_eq!(rig.values(1), ["m0", "new"]);
    assert_eq!((rig.ends(1), epochs(&rig, 1)), ((2, 2), vec![(0, 0), (1, 1)]));
    assert_eq!(
        rig.happened(|what| matches!(what, What::Truncated { to: 1, from: 3, .. })),
        1
    );
    assert_eq!(rig.replica(2).leading().unwrap().isr.len(), 2);
}

/// Before epochs a replica cut to its own high watermark on becoming follower, and lost a committed record.
#[test]
fn cutting_to_the_high_watermark_loses_a_record() {
    for (old, left) in [(true, 1), (false, 2)] {
        let mut rig = Rig::new(2, &[2, 1], &[], &[("min.insync.replicas", "1")]);
        if old {
            rig.rules = rig
                .rules
                .with(Rule::TruncateHighWatermark)
                .without(Rule::TruncateDiverging);
        }
        rig.produce(CLIENT, 2, Acks::All, &["m0"]);
        rig.run_to(2_000 * MS);
        rig.produce(CLIENT, 2, Acks::All, &["m1"]);
        rig.run_until(|rig| rig.ends(2).1 == 2);
        assert_eq!(rig.ends(1), (2, 1));
        rig.cut(b(1), b(2));
        rig.act(1, |broker, cx| broker.stop(cx));
        rig.run_for(10 * MS);
        assert_eq!(rig.broker(1).state(), BrokerState::Down);
        rig.act(1, |broker, cx| broker.start(ReportDirectory::First, cx));
        rig.run_for(100 * MS);
        assert_eq!(rig.broker(1).state(), BrokerState::Up);
        assert_eq!(rig.replica(1).log_end(), left, "old rules: {old}");
    }
}

/// A kill loses nothing that was written; a power loss loses what was not flushed, or less if so said.
#[test]
fn the_page_cache_survives_a_kill_and_dies_with_the_power() {
    let fill = || {
        let mut rig = Rig::new(1, &[1], &[], &[]);
        for value in ["m0", "m1", "m2"] {
            rig.produce(CLIENT, 1, Acks::Leader, &[value]);
        }
        rig.run_to(100 * MS);
        rig
    };
    let mut rig = fill();
    assert_eq!((rig.replica(1).log_end(), rig.replica(1).flushed()), (3, 0));
    rig.act(1, |broker, cx| broker.kill(cx));
    assert_eq!(
        (
            rig.replica(1).log_end(),
            rig.replica(1).flushed(),
            rig.replica(1).high_watermark()
        ),
        (3, 0, None)
    );
    rig.act(1, |broker, cx| broker.power_off(&Keep::Nothing, cx));
    assert_eq!(rig.replica(1).log_end(), 0);
    assert_eq!(
        rig.happened(|what| matches!(what, What::BrokerEnded { lost, .. } if lost.len() == 1 && lost[0].3.len() == 3)),
        1
    );

    let mut rig = fill();
    rig.act(1, |broker, cx| {
        broker.power_off(&Keep::Below(vec![(super::rig::TP, 2)]), cx)
    });
    assert_eq!((rig.replica(1).log_end(), rig.replica(1).flushed()), (2, 2));
    rig.act(1, |broker, cx| broker.start(ReportDirectory::First, cx));
    rig.run_for(100 * MS);
    assert_eq!(rig.values(1), ["m0", "m1"]);
}

/// A clean stop flushes everything, and the next start scans nothing.
#[test]
fn a_clean_stop_leaves_a_marker() {
    let mut rig = Rig::new(1, &[1], &[], &[]);
    rig.produce(CLIENT, 1, Acks::Leader, &["m0"]);
    rig.run_to(100 * MS);
    rig.act(1, |broker, cx| broker.stop(cx));
    assert_eq!(rig.broker(1).state(), BrokerState::Stopping);
    rig.run_for(10 * MS);
    assert_eq!(
        (rig.broker(1).state(), rig.broker(1).host().clean),
        (BrokerState::Down, Some(1))
    );
    assert_eq!(rig.replica(1).flushed(), 1);
    rig.act(1, |broker, cx| broker.start(ReportDirectory::First, cx));
    assert_eq!(
        rig.happened(|what| matches!(
            what,
            What::Recovered {
                clean: true,
                leo: 1,
                ..
            }
        )),
        1
    );
    assert_eq!(rig.broker(1).host().clean, None);
}

/// A wiped disk comes back empty and is reported before the broker is unfenced.
#[test]
fn a_wiped_follower_copies_everything() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.produce(CLIENT, 1, Acks::All, &["m0", "m1"]);
    rig.run_to(1_000 * MS);
    rig.act(2, |broker, cx| broker.kill(cx));
    rig.act(2, |broker, cx| broker.wipe(cx));
    assert!(rig.broker(2).replica(super::rig::TP).is_none());
    rig.act(2, |broker, cx| broker.start(ReportDirectory::First, cx));
    rig.run_for(2_000 * MS);
    assert_eq!(
        (rig.broker(2).state(), rig.values(2)),
        (BrokerState::Up, vec!["m0".to_owned(), "m1".to_owned()])
    );
}

/// A frozen follower gets the record for which its fetch was parked, and goes on when it runs again.
#[test]
fn a_parked_fetch_survives_a_pause() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    for at in [10_000 * MS, 10_041 * MS + 500, 10_042 * MS + 500] {
        let mut rig2 = Rig::new(2, &[1, 2], &[], &[]);
        rig2.run_to(at);
        rig2.act(2, |broker, cx| broker.pause(cx));
        rig2.act(1, |broker, cx| broker.on_lost(b(2), cx));
        rig2.run_for(2_000 * MS);
        rig2.produce(CLIENT, 1, Acks::Leader, &["m0"]);
        rig2.run_for(1_000 * MS);
        assert_eq!(rig2.replica(2).log_end(), 0, "its fetch has ended");
        rig2.act(2, |broker, cx| broker.resume(cx));
        rig2.run_for(1_000 * MS);
        assert_eq!(rig2.values(2), ["m0"], "paused at {at}");
    }
    rig.run_to(10_000 * MS);
    rig.act(2, |broker, cx| broker.pause(cx));
    rig.act(1, |broker, cx| broker.on_lost(b(2), cx));
    rig.produce(CLIENT, 1, Acks::Leader, &["m0"]);
    rig.run_for(3_000 * MS);
    rig.act(1, |broker, cx| broker.kill(cx));
    rig.act(2, |broker, cx| broker.resume(cx));
    rig.run_for(MS);
    assert_eq!(rig.values(2), ["m0"], "the answer had been sent");
}

/// A leader that freezes and goes on: its followers fetch on.
#[test]
fn a_frozen_leader_is_fetched_from_again() {
    for at in [10_000 * MS, 10_041 * MS + 500, 10_042 * MS + 500] {
        let mut rig = Rig::new(2, &[1, 2], &[], &[]);
        rig.run_to(at);
        rig.act(1, |broker, cx| broker.pause(cx));
        rig.act(2, |broker, cx| broker.on_lost(b(1), cx));
        rig.run_for(5_000 * MS);
        rig.act(1, |broker, cx| broker.resume(cx));
        rig.produce(CLIENT, 1, Acks::All, &["m0"]);
        rig.run_for(1_500 * MS);
        assert_eq!(
            (rig.answers(), rig.values(2)),
            (vec![(None, Some(0))], vec!["m0".to_owned()]),
            "frozen at {at}"
        );
    }
}

/// With flush.messages=1 the answer leaves after the fsync, of leader and follower alike.
#[test]
fn flushing_every_record_has_its_price() {
    let latency = |topic: &[(&str, &str)], acks| {
        let mut rig = Rig::new(2, &[1, 2], &[], topic);
        rig.run_to(10 * MS);
        rig.produce(CLIENT, 1, acks, &["m0"]);
        rig.run_until(|rig| !rig.answers().is_empty());
        (rig.now - 10 * MS) / MS
    };
    assert_eq!((latency(&[], Acks::Leader), latency(&[], Acks::All)), (2, 4));
    let flushed = [("flush.messages", "1")];
    assert_eq!((latency(&flushed, Acks::Leader), latency(&flushed, Acks::All)), (7, 14));
}

/// A rolled segment is flushed in the background, and checkpoints are written at their ticks.
#[test]
fn rolls_flush_and_checkpoints_follow_their_ticks() {
    let mut rig = Rig::new(1, &[1], &[], &[]);
    rig.produce(CLIENT, 1, Acks::Leader, &["m0"]);
    rig.run_to(100 * MS);
    rig.act(1, |broker, cx| broker.roll(super::rig::TP, cx));
    assert_eq!(rig.replica(1).recovery_point(), 0);
    rig.run_for(5 * MS);
    assert_eq!((rig.replica(1).recovery_point(), rig.replica(1).flushed()), (1, 1));
    rig.run_to(5_000 * MS);
    let written = rig.replica(1).checkpoints();
    assert_eq!((written.high_watermark, written.recovery_point), (1, 0));
    rig.run_to(30_000 * MS);
    assert_eq!(rig.replica(1).checkpoints().recovery_point, 1);
}

/// Old segments go at the first retention check that finds them, and their files after the delay.
#[test]
fn retention_runs_at_its_ticks() {
    let config = [
        ("retention.ms", "60000"),
        ("segment.bytes", "1"),
        ("file.delete.delay.ms", "1000"),
    ];
    let mut rig = Rig::new(1, &[1], &[("log.retention.check.interval.ms", "20000")], &config);
    rig.run_to(1);
    // segment.bytes=1 refuses every batch, so a real size is set first.
    let mut own = rig.settings.topics[&super::rig::TP.topic].clone();
    own.config.set("segment.bytes", "100").unwrap();
    own.on_broker = rig
        .settings
        .brokers
        .iter()
        .map(|broker| own.config.on(broker).unwrap())
        .collect();
    rig.settings.topics.insert(super::rig::TP.topic, own);
    rig.act(1, |broker, cx| broker.config_changed(cx));
    rig.produce(CLIENT, 1, Acks::Leader, &["m0"]);
    rig.produce(CLIENT, 1, Acks::Leader, &["m1"]);
    rig.run_to(69_999 * MS);
    assert_eq!((rig.replica(1).log_start(), rig.ends(1).0), (0, 2));
    rig.run_to(70_000 * MS);
    assert_eq!((rig.replica(1).log_start(), rig.ends(1)), (2, (2, 2)));
    let deleted = |rig: &Rig| {
        rig.replica(1)
            .files()
            .iter()
            .filter(|(name, _)| name.ends_with(".deleted"))
            .count()
    };
    assert!(deleted(&rig) > 0);
    rig.run_to(71_000 * MS);
    assert_eq!(deleted(&rig), 0);
}
