//! A consumer driven by hand: what it asks whom, and what it makes of the answers.

use std::sync::Arc;

use crate::cluster::actor::{Timer, TimerKind};
use crate::cluster::client::bench::{Bench, MS, image, led_by, tp};
use crate::cluster::event::{Event, ReadError, What};
use crate::cluster::ids::{BrokerId, Node};
use crate::cluster::input::SeekTo;
use crate::cluster::message::{Correlation, FetchRequest, FetchResult, FoundOffset, Message, OffsetSpec};
use crate::log::{Batch, Errors, Record};

/// The only fetch that has left since last asked.
fn fetch(bench: &mut Bench) -> (u16, Correlation, Arc<FetchRequest>) {
    let sent = bench.sent();
    match &sent[..] {
        [(to, Message::Fetch(correlation, request))] => (*to, *correlation, Arc::clone(request)),
        _ => panic!("one fetch was expected: {sent:?}"),
    }
}

fn offsets(request: &FetchRequest) -> Vec<(u32, i64)> {
    request
        .partitions
        .iter()
        .map(|partition| (partition.partition.partition, partition.offset))
        .collect()
}

fn result(partition: u32, batches: Vec<Batch>) -> FetchResult {
    FetchResult {
        partition: tp(partition),
        error: None,
        high_watermark: 100,
        log_start: 0,
        diverging: None,
        current_leader: None,
        batches,
    }
}

/// Records with tags equal to their offsets.
fn batch(base: i64, count: i64, epoch: i32) -> Batch {
    let records: Vec<Record> = (0..count).map(|_| Record::new(None, Some(b"v"), 0)).collect();
    let tags: Vec<u64> = (base..base + count).map(|offset| offset as u64).collect();
    Batch::build(&records, None, tags.into()).placed(base, epoch)
}

fn read(bench: &Bench) -> Vec<Vec<i64>> {
    let read = |event: &Event| match &event.what {
        What::Read { records, .. } => Some(records.iter().map(|&(offset, _)| offset).collect()),
        _ => None,
    };
    bench.events.iter().filter_map(read).collect()
}

fn errors(bench: &Bench) -> Vec<ReadError> {
    let error = |event: &Event| match event.what {
        What::ConsumerError { error, .. } => Some(error),
        _ => None,
    };
    bench.events.iter().filter_map(error).collect()
}

/// Begins at offset 0 of every partition, and takes the first fetches away.
fn begun(partitions: u32, config: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::consumer(partitions, config);
    bench.sent();
    for partition in 0..partitions {
        bench.call(|client, cx| client.seek(tp(partition), SeekTo::Offset(0), cx));
    }
    bench
}

#[test]
fn one_request_goes_to_each_leader() {
    let mut bench = Bench::consumer(3, &[("auto.offset.reset", "earliest")]);
    let sent = bench.sent();
    let [
        (1, Message::ListOffsets(first, _, one)),
        (2, Message::ListOffsets(_, _, two)),
    ] = &sent[..]
    else {
        panic!("{sent:?}")
    };
    assert_eq!(
        one[..],
        [(tp(0), 0, OffsetSpec::Earliest), (tp(2), 0, OffsetSpec::Earliest)]
    );
    assert_eq!(two[..], [(tp(1), 0, OffsetSpec::Earliest)]);
    let found = |offset| {
        Ok(Some(FoundOffset {
            offset,
            leader_epoch: Some(0),
        }))
    };
    let answers = vec![(tp(0), found(5)), (tp(2), found(7))];
    bench.deliver(1, Message::ListOffsetsResponse(*first, answers));
    let (to, _, request) = fetch(&mut bench);
    assert_eq!((to, offsets(&request)), (1, vec![(0, 5), (2, 7)]));
    assert_eq!(
        (request.min_bytes, request.max_wait_ms, request.replica_epoch),
        (1, 500, None)
    );
    assert!(bench.deadlines().is_empty(), "a parked fetch has no deadline");
}

#[test]
fn polls_hand_over_so_many_records_and_skip_those_below_the_position() {
    let mut bench = begun(1, &[("max.poll.records", "2")]);
    bench.call(|client, cx| client.seek(tp(0), SeekTo::Offset(3), cx));
    let sent = bench.sent();
    let Some((_, Message::Fetch(correlation, _))) = sent.last() else {
        panic!("{sent:?}")
    };
    bench.deliver(
        1,
        Message::FetchResponse(*correlation, vec![result(0, vec![batch(2, 3, 0), batch(5, 2, 0)])]),
    );
    assert_eq!(read(&bench), [vec![3, 4], vec![5, 6]]);
    assert_eq!(offsets(&fetch(&mut bench).2), [(0, 7)]);
}

#[test]
fn a_partition_that_joins_or_moves_replaces_the_fetch() {
    let mut bench = begun(3, &[]);
    let sent = bench.sent();
    let last = sent.iter().rev().find_map(|(to, message)| match message {
        Message::Fetch(_, request) if *to == 1 => Some(offsets(request)),
        _ => None,
    });
    assert_eq!(last, Some(vec![(0, 0), (2, 0)]));
    // The answers to the fetches that were replaced are ignored.
    let Some((_, Message::Fetch(first, _))) = sent.first() else {
        panic!("{sent:?}")
    };
    bench.deliver(1, Message::FetchResponse(*first, vec![result(0, vec![batch(0, 1, 0)])]));
    assert!(read(&bench).is_empty());
}

#[test]
fn after_a_leader_change_the_position_is_validated() {
    for (end, position) in [((0, 9), 2), ((0, 1), 1)] {
        let mut bench = begun(1, &[]);
        let (_, correlation, _) = fetch(&mut bench);
        bench.deliver(
            1,
            Message::FetchResponse(correlation, vec![result(0, vec![batch(0, 2, 0)])]),
        );
        let (_, correlation, _) = fetch(&mut bench);
        let mut moved = result(0, vec![]);
        moved.error = Some(Errors::NotLeaderOrFollower);
        moved.current_leader = Some((BrokerId(2), 1));
        bench.deliver(1, Message::FetchResponse(correlation, vec![moved]));
        let sent = bench.sent();
        let [(2, Message::EpochEnd(correlation, asked))] = &sent[..] else {
            panic!("{sent:?}")
        };
        assert_eq!(asked[..], [(tp(0), 1, 0)]);
        bench.deliver(2, Message::EpochEndResponse(*correlation, vec![(tp(0), Ok(end))]));
        let (to, _, request) = fetch(&mut bench);
        assert_eq!((to, offsets(&request)), (2, vec![(0, position)]));
        assert_eq!(request.partitions[0].current_leader_epoch, 1);
    }
}

#[test]
fn a_seek_has_no_epoch_and_is_not_validated() {
    let mut bench = begun(1, &[]);
    let (_, correlation, _) = fetch(&mut bench);
    let mut moved = result(0, vec![]);
    moved.error = Some(Errors::FencedLeaderEpoch);
    bench.deliver(1, Message::FetchResponse(correlation, vec![moved]));
    let sent = bench.sent();
    let [(1, Message::MetadataRequest(correlation))] = sent[..] else {
        panic!("{sent:?}")
    };
    let news = led_by(image(1, 5), 0, 2, 1);
    bench.deliver(1, Message::MetadataResponse(correlation, Arc::new(news)));
    let (to, _, request) = fetch(&mut bench);
    assert_eq!((to, offsets(&request)), (2, vec![(0, 0)]));
}

#[test]
fn an_epoch_without_an_end_is_for_the_policy() {
    let mut bench = begun(1, &[("auto.offset.reset", "none")]);
    let (_, correlation, _) = fetch(&mut bench);
    bench.deliver(
        1,
        Message::FetchResponse(correlation, vec![result(0, vec![batch(0, 2, 0)])]),
    );
    let (_, correlation, _) = fetch(&mut bench);
    let mut moved = result(0, vec![]);
    moved.error = Some(Errors::NotLeaderOrFollower);
    moved.current_leader = Some((BrokerId(2), 1));
    bench.deliver(1, Message::FetchResponse(correlation, vec![moved]));
    let sent = bench.sent();
    let [(2, Message::EpochEnd(correlation, _))] = &sent[..] else {
        panic!("{sent:?}")
    };
    bench.deliver(2, Message::EpochEndResponse(*correlation, vec![(tp(0), Ok((-1, -1)))]));
    assert_eq!(
        errors(&bench).last(),
        Some(&ReadError::Answered(Errors::OffsetOutOfRange))
    );
    assert!(bench.sent().is_empty(), "the application has stopped reading");
}

#[test]
fn a_leader_that_is_behind_is_asked_again_after_a_back_off() {
    let mut bench = begun(1, &[]);
    let (_, correlation, _) = fetch(&mut bench);
    let mut behind = result(0, vec![]);
    behind.error = Some(Errors::UnknownLeaderEpoch);
    bench.deliver(1, Message::FetchResponse(correlation, vec![behind]));
    assert!(bench.sent().is_empty());
    assert_eq!(bench.fire(), Timer::on(TimerKind::Retry, tp(0)));
    assert!((80 * MS..=120 * MS).contains(&bench.now), "{}", bench.now);
    fetch(&mut bench);
}

#[test]
fn a_batch_with_a_wrong_checksum_is_an_error_of_the_application() {
    let mut bench = begun(1, &[]);
    let (_, correlation, _) = fetch(&mut bench);
    let mut bytes = batch(1, 1, 0).to_bytes();
    bytes[30] ^= 1;
    let flipped = Batch::parse(&bytes).expect("its framing is whole");
    let both = vec![batch(0, 1, 0), flipped.clone()];
    bench.deliver(1, Message::FetchResponse(correlation, vec![result(0, both)]));
    assert_eq!(errors(&bench), [], "what stands before it is handed over");
    assert_eq!(bench.client.position(tp(0)), Some(1));
    let (_, correlation, _) = fetch(&mut bench);
    bench.deliver(1, Message::FetchResponse(correlation, vec![result(0, vec![flipped])]));
    assert_eq!(errors(&bench), [ReadError::Answered(Errors::CorruptMessage)]);
    assert_eq!(bench.client.position(tp(0)), Some(1));
}

#[test]
fn a_fetch_times_out_only_when_something_was_lost() {
    let mut bench = begun(1, &[]);
    fetch(&mut bench);
    let leader = Node::Broker(BrokerId(1));
    bench.call(|client, cx| client.on_lost(leader, cx));
    assert_eq!(
        bench.deadlines(),
        [(Timer::with(TimerKind::Request, leader), 30_000 * MS)]
    );
    bench.fire();
    let sent = bench.sent();
    let [(2, Message::MetadataRequest(_))] = sent[..] else {
        panic!("{sent:?}")
    };
    // And then it fetches again, over a new connection.
    assert_eq!(bench.fire(), Timer::with(TimerKind::Retry, leader));
    fetch(&mut bench);
}
