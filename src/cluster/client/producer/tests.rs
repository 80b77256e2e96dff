//! A producer driven by hand: what it sends, in which requests, and what it makes of the answers.

use std::sync::Arc;

use crate::cluster::actor::{Timer, TimerKind};
use crate::cluster::client::Client;
use crate::cluster::client::bench::{Bench, MS, image, led_by, tp};
use crate::cluster::event::{Outcome, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{Correlation, Message, ProduceResult};
use crate::log::{Batch, Errors};

/// A produce request as it is told here: receiver, number, and for each partition the records.
#[derive(Debug, PartialEq)]
struct Sent {
    to: u16,
    correlation: Correlation,
    batches: Vec<(TopicPartition, Batch)>,
}

impl Sent {
    fn records(&self) -> Vec<(u32, Vec<u32>)> {
        let tags = |batch: &Batch| batch.tags().iter().map(|&tag| tag as u32).collect();
        self.batches
            .iter()
            .map(|(tp, batch)| (tp.partition, tags(batch)))
            .collect()
    }

    /// Producer epoch and first sequence of its first batch.
    fn stamp(&self) -> (i16, i32) {
        self.batches
            .first()
            .map_or((-1, -1), |(_, batch)| (batch.producer_epoch(), batch.base_sequence()))
    }
}

fn produced(bench: &mut Bench) -> Vec<Sent> {
    let produce = |(to, message)| match message {
        Message::Produce(correlation, request) => Some(Sent {
            to,
            correlation,
            batches: request.batches.clone(),
        }),
        _ => None,
    };
    bench.sent().into_iter().filter_map(produce).collect()
}

/// The broker answers everything in a request alike.
fn answer(bench: &mut Bench, sent: &Sent, result: Result<i64, Errors>) {
    answer_with(bench, sent, result, None);
}

fn answer_with(bench: &mut Bench, sent: &Sent, result: Result<i64, Errors>, current_leader: Option<(BrokerId, i32)>) {
    let one = |&(partition, _): &(TopicPartition, Batch)| ProduceResult {
        partition,
        error: result.err(),
        base_offset: result.ok(),
        log_append_time: None,
        current_leader,
    };
    let results = sent.batches.iter().map(one).collect();
    bench.deliver(sent.to, Message::ProduceResponse(sent.correlation, results));
}

const ALONE: [(&str, &str); 2] = [("linger.ms", "0"), ("batch.size", "0")];

fn alone(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    ALONE.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn a_full_batch_leaves_and_the_next_one_lingers() {
    // Header 61, records of 107 bytes that could take 124: the third does not fit.
    let mut bench = Bench::producer(1, &[("batch.size", "300")]);
    bench.send(Some(0), 3);
    let sent = produced(&mut bench);
    assert_eq!(sent.iter().map(Sent::records).collect::<Vec<_>>(), [[(0, vec![1, 2])]]);
    let linger = Timer::on(TimerKind::Linger, tp(0));
    assert_eq!(bench.deadlines()[0], (linger, 5 * MS));
    assert_eq!(bench.fire(), linger);
    assert_eq!(produced(&mut bench)[0].records(), [(0, vec![3])]);
}

#[test]
fn a_request_takes_the_first_batch_of_every_partition_of_its_broker() {
    let mut bench = Bench::producer(3, &[("batch.size", "300")]);
    bench.send(Some(1), 1);
    bench.send(Some(2), 1);
    assert!(produced(&mut bench).is_empty());
    // Partition 0 is ready, and takes what waits for the same broker along.
    bench.send(Some(0), 3);
    let sent = produced(&mut bench);
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (sent[0].to, sent[0].records()),
        (1, vec![(0, vec![3, 4]), (2, vec![2])])
    );
}

#[test]
fn max_request_size_divides_what_one_request_takes() {
    let mut bench = Bench::producer(
        3,
        &[("max.request.size", "300"), ("linger.ms", "0"), ("batch.size", "200")],
    );
    bench.send(Some(0), 1);
    bench.send(Some(2), 1);
    let all: Vec<_> = produced(&mut bench).iter().map(Sent::records).collect();
    assert_eq!(all, [[(0, vec![1])], [(2, vec![2])]]);
    bench.send(Some(0), 1);
    let mut large = crate::cluster::input::Send {
        to: crate::cluster::input::Destination::Partition(tp(0)),
        key: crate::cluster::input::Template::Null,
        value: crate::cluster::input::Template::Bytes(vec![0; 300].into()),
        timestamp: None,
        headers: Arc::default(),
        count: 1,
        every: None,
    };
    bench.call(|client, cx| client.send(&large, cx));
    assert_eq!(bench.told(), [(4, Outcome::Failed(Errors::MessageTooLarge))]);
    large.value = crate::cluster::input::Template::Null;
    bench.call(|client, cx| client.send(&large, cx));
    assert_eq!(bench.told().len(), 1);
}

#[test]
fn five_requests_wait_for_an_answer_and_the_sixth_for_one_of_them() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.send(Some(0), 7);
    let sent = produced(&mut bench);
    let stamps: Vec<_> = sent.iter().map(Sent::stamp).collect();
    assert_eq!(stamps, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
    answer(&mut bench, &sent[0], Ok(0));
    assert_eq!(produced(&mut bench)[0].stamp(), (0, 5));
    assert_eq!(bench.told(), [(1, Outcome::Acked(0))]);
}

#[test]
fn refused_batches_come_back_in_order_with_idempotence_and_turned_round_without() {
    for (idempotence, order) in [("true", [1, 2, 3]), ("false", [3, 2, 1])] {
        let mut bench = Bench::producer(1, &alone(&[("enable.idempotence", idempotence)]));
        bench.send(Some(0), 3);
        let first = produced(&mut bench);
        for sent in &first {
            answer(&mut bench, sent, Err(Errors::NotEnoughReplicas));
        }
        assert!(produced(&mut bench).is_empty(), "each backs off first");
        let mut again = Vec::new();
        while again.len() < 3 {
            bench.fire();
            for sent in produced(&mut bench) {
                again.extend(sent.records()[0].1.clone());
                if idempotence == "true" {
                    // Only the first in line is on the wire while anything is tried again.
                    answer(&mut bench, &sent, Ok(0));
                }
            }
        }
        assert_eq!(again, order);
    }
}

#[test]
fn back_off_doubles_with_a_fifth_of_jitter() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.send(Some(0), 1);
    for plain in [100, 200, 400, 800, 1_000, 1_000] {
        let sent = produced(&mut bench);
        let from = bench.now;
        answer(&mut bench, &sent[0], Err(Errors::NotEnoughReplicas));
        assert_eq!(bench.fire(), Timer::on(TimerKind::Retry, tp(0)));
        let waited = bench.now - from;
        assert!(
            waited >= plain * MS * 8 / 10 && waited <= (plain * MS * 12 / 10).min(1_000 * MS),
            "{waited}"
        );
    }
}

#[test]
fn a_gap_that_nothing_explains_begins_a_new_epoch() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.send(Some(0), 1);
    let first = produced(&mut bench);
    answer(&mut bench, &first[0], Ok(0));
    bench.send(Some(0), 2);
    let sent = produced(&mut bench);
    assert_eq!(sent[0].stamp(), (0, 1));
    // Sequence 1 is the next after what was acknowledged, and the broker refuses it all the same.
    answer(&mut bench, &sent[0], Err(Errors::OutOfOrderSequenceNumber));
    answer(&mut bench, &sent[1], Err(Errors::OutOfOrderSequenceNumber));
    let mut stamps = Vec::new();
    while stamps.len() < 2 {
        bench.fire();
        for sent in produced(&mut bench) {
            stamps.push(sent.stamp());
            answer(&mut bench, &sent, Ok(1));
        }
    }
    assert_eq!(stamps, [(1, 0), (1, 1)]);
}

#[test]
fn a_fenced_epoch_fails_the_batch_and_the_next_one_has_a_new_epoch() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.send(Some(0), 1);
    let sent = produced(&mut bench);
    answer(&mut bench, &sent[0], Err(Errors::InvalidProducerEpoch));
    assert_eq!(bench.told(), [(1, Outcome::Failed(Errors::InvalidProducerEpoch))]);
    bench.send(Some(0), 1);
    assert_eq!(produced(&mut bench)[0].stamp(), (1, 0));
}

#[test]
fn a_duplicate_that_the_broker_no_longer_knows_counts_as_acknowledged() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.send(Some(0), 1);
    let sent = produced(&mut bench);
    answer(&mut bench, &sent[0], Err(Errors::DuplicateSequenceNumber));
    assert_eq!(bench.told(), [(1, Outcome::Acked(-1))]);
}

#[test]
fn a_leader_that_is_named_is_tried_at_once_and_one_that_is_not_is_asked_for() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.send(Some(0), 1);
    let sent = produced(&mut bench);
    answer_with(
        &mut bench,
        &sent[0],
        Err(Errors::NotLeaderOrFollower),
        Some((BrokerId(2), 1)),
    );
    let again = produced(&mut bench);
    assert_eq!((again[0].to, bench.now), (2, 0));

    answer(&mut bench, &again[0], Err(Errors::NotLeaderOrFollower));
    let asked = bench.sent();
    let [(1, Message::MetadataRequest(correlation))] = asked[..] else {
        panic!("{asked:?}")
    };
    let news = led_by(image(1, 7), 0, 1, 2);
    bench.deliver(1, Message::MetadataResponse(correlation, Arc::new(news)));
    // The leader has changed, which ends the back-off.
    assert_eq!(produced(&mut bench)[0].to, 1);
}

#[test]
fn what_is_not_decided_in_time_fails_on_the_wire_too_and_a_late_answer_falls_flat() {
    let config = alone(&[("delivery.timeout.ms", "1000"), ("request.timeout.ms", "1000")]);
    let mut bench = Bench::producer(1, &config);
    bench.send(Some(0), 1);
    let sent = produced(&mut bench);
    bench.now = 1_000 * MS;
    bench.call(|client, cx| client.on_timer(Timer::of(TimerKind::Delivery), cx));
    let told = [(1, Outcome::Failed(Errors::RequestTimedOut))];
    assert_eq!(bench.told(), told);
    answer(&mut bench, &sent[0], Ok(0));
    assert_eq!(bench.told(), told);
    assert_eq!(bench.client.undecided(), 0);
}

#[test]
fn a_request_that_times_out_closes_the_connection_and_fails_with_everything_on_it() {
    let mut bench = Bench::producer(1, &alone(&[("retries", "1")]));
    bench.send(Some(0), 2);
    produced(&mut bench);
    let timer = Timer::with(TimerKind::Request, Node::Broker(BrokerId(1)));
    assert!(bench.deadlines().contains(&(timer, 30_000 * MS)));
    assert_eq!(bench.fire(), timer);
    let again: Vec<Correlation> = bench
        .sent()
        .iter()
        .map(|(to, message)| {
            let Message::MetadataRequest(correlation) = message else {
                panic!("{message:?}")
            };
            assert_eq!(*to, 2, "the broker that has failed is not asked");
            *correlation
        })
        .collect();
    assert_eq!(again.len(), 1);
    let retries = bench
        .events
        .iter()
        .filter(|event| matches!(event.what, What::WillRetry { .. }))
        .count();
    assert_eq!(retries, 2);
}

#[test]
fn a_full_buffer_makes_the_application_wait_for_max_block_ms() {
    // Two batches of 200 bytes fit.
    let config = [
        ("linger.ms", "0"),
        ("batch.size", "200"),
        ("buffer.memory", "400"),
        ("max.block.ms", "1000"),
    ];
    let mut bench = Bench::producer(1, &config);
    bench.send(Some(0), 4);
    let sent = produced(&mut bench);
    assert_eq!(sent.len(), 2);
    assert_eq!(bench.client.undecided(), 4);
    answer(&mut bench, &sent[0], Ok(0));
    assert_eq!(produced(&mut bench)[0].records(), [(0, vec![3])]);
    assert_eq!(bench.fire(), Timer::of(TimerKind::Handover));
    assert_eq!(bench.now, 1_000 * MS);
    assert_eq!(
        bench.told(),
        [(1, Outcome::Acked(0)), (4, Outcome::Failed(Errors::RequestTimedOut))]
    );
}

#[test]
fn a_batch_that_is_too_large_is_sent_in_parts() {
    let mut bench = Bench::producer(1, &[("linger.ms", "0"), ("batch.size", "1000")]);
    bench.send(Some(0), 4);
    let mut sent = produced(&mut bench);
    assert_eq!(sent[0].records(), [(0, vec![1, 2, 3, 4])]);
    // First at batch.size, which changes nothing here, then in halves.
    answer(&mut bench, &sent[0], Err(Errors::MessageTooLarge));
    sent = produced(&mut bench);
    assert_eq!(sent[0].records(), [(0, vec![1, 2, 3, 4])]);
    answer(&mut bench, &sent[0], Err(Errors::MessageTooLarge));
    let mut halves = Vec::new();
    sent = produced(&mut bench);
    while let Some(one) = sent.pop() {
        halves.push((one.stamp(), one.records()[0].1.clone()));
        answer(&mut bench, &one, Ok(0));
        sent.extend(produced(&mut bench));
    }
    assert!(halves.len() > 1, "{halves:?}");
    let records: Vec<u32> = halves.iter().flat_map(|(_, records)| records.clone()).collect();
    assert_eq!(records, [1, 2, 3, 4]);
    assert_eq!(halves[0].0, (0, 0));
    assert_eq!(halves[1].0, (0, halves[0].1.len() as i32));
}

#[test]
fn records_without_key_stay_together_until_batch_size() {
    let mut bench = Bench::producer(8, &[("batch.size", "1000"), ("linger.ms", "1000")]);
    bench.send(None, 200);
    let mut last: Option<(u32, u32)> = None;
    let mut runs = Vec::new();
    for event in &bench.events {
        if let What::Accumulated { partition, .. } = event.what {
            last = match last {
                Some((p, run)) if p == partition.partition => Some((p, run + 1)),
                other => {
                    runs.extend(other.map(|(_, run)| run));
                    Some((partition.partition, 1))
                }
            };
        }
    }
    // 1000 bytes are 8 records of 107 and the header; 2000 end any stay. The same partition may be drawn again.
    assert!(runs.len() > 5 && runs.iter().all(|&run| run >= 8), "{runs:?}");
}

#[test]
fn state_is_the_same_number_wherever_time_began() {
    let story = |start| {
        let mut bench = Bench::producer(2, &ALONE);
        bench.now = start;
        bench.send(Some(0), 2);
        bench.send(Some(1), 2);
        let sent = produced(&mut bench);
        bench.now += 3 * MS;
        answer(&mut bench, &sent[0], Err(Errors::NotEnoughReplicas));
        bench
    };
    // The clock is in the records, so they are stamped by hand: both stories begin in the same millisecond.
    let (one, mut other) = (story(0), story(500));
    assert_eq!(one.fingerprint(), other.fingerprint());
    other.fire();
    assert_ne!(one.fingerprint(), other.fingerprint());
    assert_eq!(one.client, one.client.clone());
}

#[test]
fn nothing_is_armed_when_nothing_can_pass() {
    let mut bench = Bench::producer(1, &ALONE);
    bench.reach.nodes.clear();
    bench.send(Some(0), 1);
    assert!(bench.sent().is_empty());
    let timers: Vec<Timer> = bench.deadlines().into_iter().map(|(timer, _)| timer).collect();
    assert_eq!(timers, [Timer::of(TimerKind::Delivery)]);
    let news = bench.client.wants_news().expect("it waits for news");
    assert_eq!((news.known_offset, news.next_poll, news.every), (1, 0, 1_000 * MS));
    bench.reach.nodes.push(Node::Broker(BrokerId(1)));
    bench.now = 7 * MS;
    bench.call(|client, cx| client.on_reachable(Node::Broker(BrokerId(1)), cx));
    assert_eq!(bench.client.wants_news(), None);
    bench.fire();
    assert_eq!((produced(&mut bench).len(), bench.now), (1, 57 * MS));
    bench.call(Client::close);
}
