//! Leading and following: the high watermark's timeline, the ISR, delayed writes, parked fetches.

use std::sync::Arc;

use super::rig::{Alter, CLIENT, MS, Rig, TP, fetch};
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, ClientId, Node};
use crate::cluster::message::{Acks, AlterPartitionResult, Isolation, Message, OffsetSpec};
use crate::log::Errors;

fn b(id: u16) -> Node {
    Node::Broker(BrokerId(id))
}

/// The reference trace: the follower's high watermark is one fetch behind the leader's.
#[test]
fn the_high_watermark_takes_two_fetches() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.run_to(2_000 * MS);
    assert_eq!((rig.ends(1), rig.ends(2)), ((0, 0), (0, 0)));
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.run_until(|rig| rig.ends(1).0 == 1);
    assert_eq!((rig.ends(1), rig.ends(2)), ((1, 0), (0, 0)));
    rig.run_until(|rig| rig.ends(2).0 == 1);
    assert_eq!((rig.ends(1), rig.ends(2)), ((1, 0), (1, 0)));
    rig.run_until(|rig| rig.ends(1).1 == 1);
    assert_eq!((rig.answers(), rig.ends(2)), (vec![], (1, 0)));
    let raised = rig.now;
    rig.run_until(|rig| !rig.answers().is_empty());
    assert_eq!(rig.answers(), [(None, Some(0))]);
    assert_eq!(rig.now, raised + MS);
    rig.run_until(|rig| rig.ends(2).1 == 1);
    assert_eq!(rig.now, raised + 501 * MS, "by the end of the parked fetch, not before");
    rig.run_to(3_000 * MS);
    let waits: Vec<_> = rig.timers.keys().map(|(_, timer)| timer.kind.name()).collect();
    assert_eq!(
        (rig.wire.len(), waits),
        (0, vec!["retention", "checkpoint", "retention", "checkpoint"]),
        "idle is quiet"
    );
}

/// An idle cluster steps through nothing, however long; what happens then finds the follower caught up.
#[test]
fn an_idle_cluster_is_quiet_and_followers_stay_caught_up() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.run_to(10 * MS);
    assert_eq!(rig.next_due(), None);
    let tomorrow = 86_400_000 * MS + 250 * MS;
    rig.run_to(tomorrow);
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.run_until(|rig| !rig.answers().is_empty());
    assert_eq!(rig.answers(), [(None, Some(0))]);
    let last_round = rig.replica(1).leading().unwrap().remotes[&BrokerId(2)]
        .last_caught_up
        .unwrap();
    assert!(rig.now - last_round < 600 * MS);
}

/// What happens between two rounds of an idle fetch waits for its next arrival.
#[test]
fn a_record_between_two_rounds_waits_for_the_fetch() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    // Arrivals at 1, 503, 1005 … ms; the wait ends at 501, 1003 …
    rig.run_to(10 * MS);
    rig.run_to(1_000 * MS + 10 * 502 * MS + 2 * MS + 500);
    let appended = rig.now + MS;
    rig.produce(CLIENT, 1, Acks::Leader, &["m0"]);
    rig.run_to(appended);
    assert_eq!(rig.ends(1).0, 1);
    rig.run_until(|rig| rig.ends(2).0 == 1);
    assert_eq!(
        rig.now,
        12 * 502 * MS + 2 * MS,
        "arrived at {appended}, fetched at the next round"
    );
}

/// The check falls at whole multiples of half the lag limit; the strict limit decides which.
#[test]
fn a_hung_follower_leaves_at_the_first_tick_after_the_limit() {
    let mut rig = Rig::new(
        3,
        &[1, 2, 3],
        &[("replica.lag.time.max.ms", "10000")],
        &[("min.insync.replicas", "2")],
    );
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.run_to(12_000 * MS);
    rig.cut(b(1), b(3));
    rig.run_to(13_000 * MS);
    rig.produce(CLIENT, 1, Acks::All, &["m1"]);
    rig.run_to(24_999 * MS);
    assert_eq!((rig.answers().len(), rig.ends(1)), (1, (2, 1)));
    rig.run_to(25_010 * MS);
    assert_eq!(rig.answers(), [(None, Some(0)), (None, Some(1))]);
    assert_eq!(rig.replica(1).leading().unwrap().isr, [BrokerId(1), BrokerId(2)]);
    rig.heal();
    rig.run_for(2_000 * MS);
    assert_eq!(rig.replica(1).leading().unwrap().isr.len(), 3);
    assert_eq!((rig.ends(1), rig.ends(2), rig.ends(3)), ((2, 2), (2, 2), (2, 2)));
}

/// R6: an outsider that has caught up counts for the maximal ISR before the controller has accepted it.
#[test]
fn a_pending_expansion_holds_the_high_watermark_only() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.elect(1, &[1]);
    rig.alter = Alter::Hold;
    rig.run_until(|rig| !rig.held.is_empty());
    let leading = rig.replica(1).leading().unwrap();
    assert_eq!((leading.isr.len(), leading.maximal_isr().len()), (1, 2));
    let (from, Message::AlterPartition(id, _, wanted)) = rig.held.remove(0) else {
        panic!("not the request")
    };
    let accepted = rig.accept(&wanted[0]);
    let answer = Message::AlterPartitionResponse(id, Ok(vec![(TP, accepted)]));
    rig.put(Node::Controller, from, answer, 0);
    rig.run_for(5 * MS);
    assert_eq!(rig.replica(1).leading().unwrap().isr.len(), 2);
    assert_eq!(rig.broker(1).isr_changes(), (0, 1));
}

/// An ineligible member reverts the change; an outdated partition epoch leaves it pending until metadata comes.
#[test]
fn refused_changes_are_reverted_or_stay_pending() {
    for (error, pending) in [(Errors::IneligibleReplica, false), (Errors::InvalidUpdateVersion, true)] {
        let mut rig = Rig::new(2, &[1, 2], &[], &[]);
        rig.elect(1, &[1]);
        rig.alter = Alter::Hold;
        rig.run_until(|rig| !rig.held.is_empty());
        let (from, Message::AlterPartition(id, ..)) = rig.held.remove(0) else {
            panic!("not the request")
        };
        let refused = Message::AlterPartitionResponse(id, Ok(vec![(TP, AlterPartitionResult::Err(error))]));
        rig.put(Node::Controller, from, refused, 0);
        rig.run_for(2 * MS);
        assert_eq!(rig.replica(1).leading().unwrap().pending.is_some(), pending, "{error}");
    }
}

/// R12: below the minimum ISR the high watermark stands still, though everybody has everything.
#[test]
fn below_the_minimum_isr_the_high_watermark_is_frozen() {
    let mut rig = Rig::new(3, &[1, 2, 3], &[], &[("min.insync.replicas", "3")]);
    rig.run_to(100 * MS);
    rig.elect(1, &[1, 2]);
    rig.alter = Alter::Hold;
    rig.produce(CLIENT, 1, Acks::Leader, &["a", "b"]);
    rig.produce(CLIENT, 1, Acks::All, &["refused"]);
    rig.run_to(1_500 * MS);
    assert_eq!(rig.answers(), [(None, Some(0)), (Some("NOT_ENOUGH_REPLICAS"), None)]);
    assert_eq!((rig.ends(1), rig.replica(3).log_end()), ((2, 0), 2));
    let (from, Message::AlterPartition(id, _, wanted)) = rig.held.remove(0) else {
        panic!("not the request")
    };
    let accepted = rig.accept(&wanted[0]);
    rig.put(
        Node::Controller,
        from,
        Message::AlterPartitionResponse(id, Ok(vec![(TP, accepted)])),
        0,
    );
    rig.run_for(2 * MS);
    assert_eq!(rig.ends(1), (2, 2));
}

/// A write that is not replicated in time is answered with an error and its offset, and stays in the log.
#[test]
fn a_timed_out_write_stays_in_the_log() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.run_to(10 * MS);
    rig.cut(b(1), b(2));
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.alter = Alter::Hold;
    rig.run_to(30_100 * MS);
    assert_eq!(rig.answers(), [(Some("REQUEST_TIMED_OUT"), Some(0))]);
    assert_eq!(rig.ends(1), (1, 0));
}

/// Requests of one connection are served one at a time; another connection does not wait.
#[test]
fn a_waiting_write_mutes_its_own_connection() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.run_to(10 * MS);
    rig.cut(b(1), b(2));
    let other = Node::Client(ClientId(1));
    rig.produce(CLIENT, 1, Acks::All, &["first"]);
    rig.produce(CLIENT, 1, Acks::Leader, &["behind"]);
    rig.produce(other, 1, Acks::Leader, &["other"]);
    rig.run_to(100 * MS);
    assert_eq!(rig.values(1), ["first", "other"]);
    assert_eq!(rig.inbox.len(), 1);
    rig.heal();
    rig.run_to(1_000 * MS);
    assert_eq!(rig.values(1), ["first", "other", "behind"]);
    assert_eq!(rig.answers(), [(None, Some(1)), (None, Some(0)), (None, Some(2))]);
}

/// A write without an answer to carry an error: the connection is closed.
#[test]
fn acks_none_is_never_answered() {
    let mut rig = Rig::new(1, &[1], &[], &[("cleanup.policy", "compact")]);
    rig.produce(CLIENT, 1, Acks::None, &["null key"]);
    rig.run_to(10 * MS);
    assert_eq!(rig.ends(1).0, 0);
    assert!(matches!(rig.inbox.as_slice(), [(_, _, Message::Closed)]));
}

/// A broker that does not lead names the leader it knows.
#[test]
fn a_follower_refuses_a_write() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.produce(CLIENT, 2, Acks::Leader, &["m0"]);
    rig.run_to(10 * MS);
    let Some((_, _, Message::ProduceResponse(_, results))) = rig.inbox.first() else {
        panic!("no answer")
    };
    assert_eq!(
        (results[0].error, results[0].current_leader),
        (Some(Errors::NotLeaderOrFollower), Some((BrokerId(1), 0)))
    );
}

/// A consumer's long poll is answered when the high watermark passes a record, and is silent before.
#[test]
fn a_long_poll_waits_for_the_high_watermark() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    let reader = Node::Client(ClientId(1));
    rig.put(reader, b(1), Message::Fetch(7, Arc::new(fetch(None, 0, -1, 500, 1))), 0);
    rig.run_to(5_000 * MS);
    assert!(rig.inbox.is_empty(), "empty rounds are not stepped through");
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.run_until(|rig| rig.inbox.len() == 2);
    let read = rig.inbox.iter().find_map(|(to, _, message)| match message {
        Message::FetchResponse(7, results) if *to == reader => {
            Some((results[0].batches.len(), results[0].high_watermark))
        }
        _ => None,
    });
    assert_eq!(read, Some((1, 1)));
}

/// Something behind a long poll makes it end in its time.
#[test]
fn a_request_behind_a_long_poll_waits_for_its_end() {
    let mut rig = Rig::new(1, &[1], &[], &[]);
    rig.put(CLIENT, b(1), Message::Fetch(7, Arc::new(fetch(None, 0, -1, 500, 1))), 0);
    rig.run_to(100 * MS);
    let wanted = vec![(TP, -1, OffsetSpec::Latest)];
    rig.put(CLIENT, b(1), Message::ListOffsets(8, Isolation::Uncommitted, wanted), 0);
    rig.run_to(501 * MS);
    assert!(rig.inbox.is_empty());
    rig.run_to(502 * MS);
    let kinds: Vec<_> = rig.inbox.iter().map(|(_, _, message)| message.kind().name()).collect();
    assert_eq!(kinds, ["fetch-response", "list-offsets-response"]);
}

/// A new leader whose high watermark is behind does not tell an end.
#[test]
fn a_new_leader_does_not_tell_an_end_too_early() {
    let mut rig = Rig::new(3, &[1, 2, 3], &[], &[]);
    rig.produce(CLIENT, 1, Acks::Leader, &["m0"]);
    rig.run_until(|rig| rig.ends(2).0 == 1);
    rig.act(1, |broker, cx| broker.kill(cx));
    rig.cut(b(2), b(3));
    rig.elect(2, &[2, 3]);
    rig.run_for(5 * MS);
    assert_eq!(rig.ends(2), (1, 0));
    rig.inbox.clear();
    for spec in [OffsetSpec::Latest, OffsetSpec::Earliest] {
        rig.put(
            CLIENT,
            b(2),
            Message::ListOffsets(1, Isolation::Uncommitted, vec![(TP, 1, spec)]),
            0,
        );
    }
    rig.run_for(3 * MS);
    let answers = rig.inbox.iter().filter_map(|(_, _, message)| match message {
        Message::ListOffsetsResponse(_, answers) => Some(answers[0].1.map(|found| found.map(|found| found.offset))),
        _ => None,
    });
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [Err(Errors::OffsetNotAvailable), Ok(Some(0))]
    );
}

/// Topics that are created at one instant are fetched together; one created later joins with the next round.
#[test]
fn new_partitions_join_the_joint_fetch() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    let more = |partition| crate::cluster::ids::TopicPartition { partition, ..TP };
    rig.create(more(1), &[1, 2]);
    rig.run_to(10 * MS);
    let asked = |rig: &Rig, tp| rig.broker(1).replica(tp).unwrap().leading().unwrap().remotes[&BrokerId(2)].log_end;
    assert_eq!((asked(&rig, TP), asked(&rig, more(1))), (0, 0));
    rig.create(more(2), &[1, 2]);
    rig.run_to(502 * MS);
    assert_eq!(asked(&rig, more(2)), -1);
    rig.run_to(503 * MS);
    assert_eq!(asked(&rig, more(2)), 0);
    assert_eq!(rig.happened(|what| matches!(what, What::FetchAnswered { .. })), 0);
}

/// A leader that is deposed while a write waits answers with an error, and says where the records were written all the same.
#[test]
fn an_error_after_the_append_says_where_it_was() {
    let mut rig = Rig::new(2, &[1, 2], &[], &[]);
    rig.run_to(10 * MS);
    rig.cut(b(1), b(2));
    rig.produce(CLIENT, 1, Acks::All, &["m0"]);
    rig.run_for(5 * MS);
    rig.elect(2, &[2]);
    rig.run_for(5 * MS);
    assert_eq!(rig.answers(), [(Some("NOT_LEADER_OR_FOLLOWER"), Some(0))]);
    rig.produce(CLIENT, 1, Acks::All, &["m1"]);
    rig.run_for(5 * MS);
    assert_eq!(rig.answers().last(), Some(&(Some("NOT_LEADER_OR_FOLLOWER"), None)));
}
