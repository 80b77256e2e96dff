//! Situations whose outcome Kafka's own tests publish, one row each.

use std::sync::Arc;

use super::*;

fn index_entries(segment: &Segment) -> Vec<(i64, i32)> {
    let base = segment.base_offset();
    let entries = segment.offset_index().entries();
    entries
        .map(|entry| (base + i64::from(entry.relative_offset), entry.position))
        .collect()
}

fn time_entries(segment: &Segment) -> Vec<(i64, i64)> {
    let index = segment.time_index();
    index
        .entries()
        .map(|entry| (entry.timestamp, index.offset_of(&entry)))
        .collect()
}

/// A batch as a leader would send it to a follower.
fn stored(base_offset: i64, epoch: i32, timestamps: &[i64]) -> Batch {
    let records: Vec<Record> = timestamps.iter().map(|timestamp| record("test", *timestamp)).collect();
    Batch::build(&records, None, Arc::default()).placed(base_offset, epoch)
}

/// A follower's log that takes batches as they are.
fn follower(config: &LogConfig, appends: &[&[Batch]]) -> Log {
    let mut log = Log::create(0, config, 0);
    for batches in appends {
        log.append_as_follower(batches, 100, config, 0)
            .unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    log
}

fn of_interval(index_interval_bytes: i32) -> LogConfig {
    LogConfig {
        index_interval_bytes,
        ..LogConfig::default()
    }
}

#[test]
fn a_read_begins_at_the_batch_that_holds_the_offset() {
    // (batches as base offset and number of records, offset asked for, offset found)
    type Batches<'a> = &'a [(i64, usize)];
    let cases: [(Batches, i64, i64); 4] = [
        (&[(50, 4)], 52, 50),
        (&[(50, 4)], 41, 50),
        (&[(50, 2), (60, 2)], 55, 60),
        (&[(50, 2), (60, 2)], 61, 60),
    ];
    for (batches, from, expected) in cases {
        let batches: Vec<Batch> = batches
            .iter()
            .map(|(base, count)| stored(*base, 0, &vec![0; *count]))
            .collect();
        let log = follower(&LogConfig::default(), &[&batches]);
        let fetched = log.read(from, log.log_end_offset(), 1, FirstBatch::Whole).unwrap();
        assert_eq!(
            (fetched.start.offset, fetched.batches[0].base_offset()),
            (expected, expected),
            "from {from}"
        );
    }
}

#[test]
fn an_index_entry_is_decided_batch_by_batch() {
    // (interval, bytes and timestamp of each batch, offset entries, time entries)
    type Batches<'a> = &'a [(usize, i64)];
    type Entries<'a> = (&'a [(i64, i32)], &'a [(i64, i64)]);
    let cases: [(i32, Batches, Entries); 4] = [
        (
            1,
            &[(72, 0), (72, 1), (72, 2)],
            (&[(1, 72), (2, 144)], &[(1, 1), (2, 2)]),
        ),
        (
            1,
            &[(72, 1), (72, 0), (72, 2)],
            (&[(1, 72), (2, 144)], &[(1, 0), (2, 2)]),
        ),
        (4096, &[(1500, -1); 7], (&[(3, 4500), (6, 9000)], &[])),
        (4096, &[(1024, -1); 11], (&[(5, 5120), (10, 10240)], &[])),
    ];
    for (interval, batches, (offsets, times)) in cases {
        let batches: Vec<Batch> = batches
            .iter()
            .enumerate()
            .map(|(offset, (size, timestamp))| {
                // A value of 64 bytes and more takes one byte more of length, and so does its record.
                let framing = if *size - 68 < 64 { 68 } else { 70 };
                let batch = single(&"v".repeat(*size - framing), *timestamp).placed(offset as i64, 0);
                assert_eq!(batch.size_in_bytes() as usize, *size);
                batch
            })
            .collect();
        let log = follower(&of_interval(interval), &[&batches]);
        assert_eq!(index_entries(log.active_segment()), offsets, "interval {interval}");
        assert_eq!(time_entries(log.active_segment()), times, "interval {interval}");
    }
}

#[test]
fn records_are_found_by_time() {
    let batches: Vec<Batch> = (40..50).map(|offset| stored(offset, 0, &[offset * 10])).collect();
    let log = follower(&of_interval(2 * 72 - 1), &[&batches]);
    let cases = [
        (420, Some(42)),
        (421, Some(43)),
        (430, Some(43)),
        (431, Some(44)),
        (491, None),
        (401, Some(41)),
        (399, Some(40)),
    ];
    for (timestamp, offset) in cases {
        assert_eq!(
            log.offset_for_timestamp(timestamp).unwrap().map(|found| found.offset),
            offset,
            "at {timestamp}"
        );
    }
}

#[test]
fn truncation_cuts_whole_batches_and_grows_the_indexes_back() {
    let mut log = follower(&LogConfig::default(), &[&[stored(40, 0, &[0]), stored(43, 0, &[0])]]);
    log.truncate_to(41, &LogConfig::default(), 0).unwrap();
    assert_eq!(
        (offset_ranges(log.batches()), log.log_end_offset()),
        (vec![(40, 40)], 41)
    );

    let config = LogConfig {
        segment_bytes: 720,
        index_interval_bytes: 71,
        ..LogConfig::default()
    };
    let mut rig = Rig::new(config);
    for n in 0..11 {
        rig.append(&single("test", n));
    }
    let closed = rig.log.segments().next().unwrap();
    assert_eq!(
        (closed.offset_index().len(), closed.offset_index().max_entries()),
        (9, 9)
    );
    assert_eq!((closed.time_index().len(), closed.time_index().max_entries()), (9, 9));
    rig.log.truncate_to(0, &rig.config, 0).unwrap();
    let active = rig.log.active_segment();
    assert_eq!(
        (active.offset_index().len(), active.offset_index().max_entries()),
        (0, 1310720)
    );
    assert_eq!(
        (active.time_index().len(), active.time_index().max_entries()),
        (0, 873813)
    );
}

#[test]
fn segments_roll_by_the_records_own_time_and_else_by_the_clock() {
    const HOUR: i64 = 3_600_000;
    let mut rig = Rig::new(LogConfig {
        segment_ms: HOUR,
        ..LogConfig::default()
    });
    // (clock moves by, the record's timestamp relative to the clock or none, segments afterwards)
    let steps = [
        (HOUR + 1, None, 1),
        (0, None, 2),
        (HOUR + 1, None, 3),
        (HOUR + 1, None, 4),
        (HOUR + 1, Some(0), 5),
        (0, Some(0), 5),
        (HOUR + 1, Some(-HOUR - 1), 5),
        (HOUR + 1, Some(-2 * HOUR - 2), 5),
        (0, Some(0), 6),
    ];
    for (index, (moved, timestamp, segments)) in steps.into_iter().enumerate() {
        rig.now += moved;
        let timestamp = timestamp.map_or(NO_TIMESTAMP, |delta| rig.now + delta);
        rig.append(&single("test", timestamp));
        assert_eq!(rig.log.segment_count(), segments, "step {index}");
    }
}

#[test]
fn an_empty_active_segment_is_made_anew() {
    let mut rig = Rig::new(LogConfig::default());
    assert_eq!(rig.log.roll(&rig.config, 0), Ok(0));
    assert_eq!(rig.bases(), [0]);
    rig.append(&single("test", 0));
    assert_eq!(rig.log.log_end_offset(), 1);
}

#[test]
fn the_high_watermark_stays_within_the_log() {
    let config = LogConfig::default();
    let mut log = Log::create(0, &config, 0);
    let three = Batch::build(&vec![record("test", 0); 3], None, Arc::default());
    log.append_as_leader(&three, 0, Origin::Client, &config, 0).unwrap();
    assert_eq!(log.high_watermark(), 0);
    assert_eq!([1, 5].map(|offset| log.set_high_watermark(offset)), [1, 3]);
    log.append_as_follower(&[three.placed(3, 0)], 0, &config, 0).unwrap();
    assert_eq!(log.set_high_watermark(6), 6);
    log.truncate_to(3, &config, 0).unwrap();
    assert_eq!(log.high_watermark(), 3);
}

/// Fifteen records of 72 bytes in segments of five.
fn fifteen(config: LogConfig, timestamp: i64) -> Rig {
    let mut rig = Rig::new(LogConfig {
        segment_bytes: 360,
        ..config
    });
    for _ in 0..15 {
        rig.append(&single("test", timestamp));
    }
    rig.log.set_high_watermark(15);
    rig
}

#[test]
fn retention_takes_whole_segments() {
    let policy = |cleanup_policy| LogConfig {
        cleanup_policy,
        retention_bytes: 720,
        ..LogConfig::default()
    };
    // (settings, clock, base offsets that are left, the rules that took the others)
    let cases = [
        (
            LogConfig {
                retention_bytes: 720,
                ..LogConfig::default()
            },
            0,
            vec![5, 10],
            vec![DeletionReason::Size],
        ),
        (
            LogConfig {
                retention_bytes: 1080,
                ..LogConfig::default()
            },
            0,
            vec![0, 5, 10],
            vec![],
        ),
        (
            LogConfig {
                retention_ms: 9,
                ..LogConfig::default()
            },
            20,
            vec![15],
            vec![DeletionReason::Time; 3],
        ),
        (
            LogConfig {
                retention_ms: 10,
                ..LogConfig::default()
            },
            20,
            vec![0, 5, 10],
            vec![],
        ),
        (policy(COMPACT), 0, vec![0, 5, 10], vec![]),
        (policy(CleanupPolicy::NONE), 0, vec![0, 5, 10], vec![]),
    ];
    for (config, now, bases, reasons) in cases {
        let mut rig = fifteen(
            LogConfig {
                cleanup_policy: CleanupPolicy::DELETE,
                ..config.clone()
            },
            10,
        );
        rig.config.cleanup_policy = config.cleanup_policy;
        let gone = rig.log.delete_old_segments(&rig.config, now).unwrap();
        assert_eq!(rig.bases(), bases, "{config:?}");
        assert_eq!(gone.iter().map(|segment| segment.reason).collect::<Vec<_>>(), reasons);
        assert_eq!(rig.log.log_start_offset(), bases[0]);
    }
}

#[test]
fn retention_stops_at_the_high_watermark() {
    let config = LogConfig {
        segment_bytes: 360,
        retention_ms: 1,
        ..LogConfig::default()
    };
    let mut rig = Rig::new(config);
    for _ in 0..100 {
        rig.append(&single("test", 0));
    }
    for (high_watermark, start) in [(0, 0), (24, 20), (25, 25), (29, 25), (30, 30), (100, 100)] {
        rig.log.set_high_watermark(high_watermark);
        rig.log.delete_old_segments(&rig.config, 100).unwrap();
        assert_eq!(rig.log.log_start_offset(), start, "high watermark {high_watermark}");
    }
    assert_eq!(rig.bases(), [100]);
}

#[test]
fn deleted_files_stay_for_their_delay() {
    let mut rig = fifteen(
        LogConfig {
            retention_bytes: 720,
            ..LogConfig::default()
        },
        10,
    );
    rig.log.delete_old_segments(&rig.config, 1000).unwrap();
    let deleted = |log: &Log| {
        log.file_list()
            .iter()
            .filter(|file| file.name.ends_with(DELETED_SUFFIX))
            .count()
    };
    assert_eq!((deleted(&rig.log), rig.log.next_deletion_ms()), (3, Some(61_000)));
    rig.log.remove_deleted(60_999);
    assert_eq!(deleted(&rig.log), 3);
    rig.log.remove_deleted(61_000);
    assert_eq!((deleted(&rig.log), rig.log.next_deletion_ms()), (0, None));
}

#[test]
fn headers_that_contradict_their_records_are_refused() {
    let bytes = Batch::build(&vec![record("test", 0); 3], None, Arc::default()).to_bytes();
    // (last offset delta, count, refused)
    let cases = [
        (2, 3, false),
        (0, 3, true),
        (15, 3, true),
        (-3, 3, true),
        (5, 6, true),
        (1, 2, true),
    ];
    for (delta, count, refused) in cases {
        let mut bytes = bytes.clone();
        bytes[23..27].copy_from_slice(&i32::to_be_bytes(delta));
        bytes[57..61].copy_from_slice(&i32::to_be_bytes(count));
        let crc = crc32c::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        let mut log = Log::create(0, &LogConfig::default(), 0);
        let answer = log.append_bytes_as_leader(&bytes, 0, Origin::Client, &LogConfig::default(), 0);
        assert_eq!(
            answer.err().map(|refusal| refusal.error),
            refused.then_some(Errors::InvalidRecord),
            "({delta}, {count})"
        );
    }
}

#[test]
fn a_bad_timestamp_outranks_other_faults_of_records() {
    let config = LogConfig {
        cleanup_policy: COMPACT,
        ..LogConfig::default()
    };
    let late = 3_600_000 + 300_000;
    let keyed = Record::new(Some(b"k"), Some(b"v"), late);
    let batch = Batch::build(&[record("no key", 0), keyed], None, Arc::default());
    let mut log = Log::create(0, &config, 0);
    let refusal = log.append_as_leader(&batch, 0, Origin::Client, &config, 0).unwrap_err();
    let listed: Vec<_> = refusal
        .record_errors
        .iter()
        .map(|error| (error.batch_index, error.error))
        .collect();
    assert_eq!(refusal.error, Errors::InvalidTimestamp);
    assert_eq!(listed, [(0, Errors::InvalidRecord), (1, Errors::InvalidTimestamp)]);
}

#[test]
fn sequences_are_checked_against_the_last_five_batches() {
    use Errors::{InvalidProducerEpoch, OutOfOrderSequenceNumber};
    let append = |rig: &mut Rig, epoch: i16, sequence: i32, count: usize| {
        let stamp = ProducerStamp {
            id: 1,
            epoch,
            base_sequence: sequence,
        };
        let batch = Batch::build(&vec![record("x", 0); count], Some(stamp), Arc::default());
        rig.try_append(&batch)
            .map(|done| (done.outcome, done.first_offset))
            .map_err(|refusal| refusal.error)
    };
    let new = |offset| Ok((AppendOutcome::Appended, offset));
    let old = |offset| Ok((AppendOutcome::Duplicate, offset));
    // (epoch, first sequence, records, answer)
    let story = [
        (0, 17, 1, new(0)),
        (0, 18, 2, new(1)),
        (0, 20, 1, new(3)),
        (0, 21, 1, new(4)),
        (0, 22, 1, new(5)),
        (0, 22, 1, old(5)),
        (0, 18, 2, old(1)),
        (0, 18, 1, Err(OutOfOrderSequenceNumber)),
        (0, 24, 1, Err(OutOfOrderSequenceNumber)),
        (0, 23, 1, new(6)),
        (0, 17, 1, Err(OutOfOrderSequenceNumber)),
        (1, 5, 1, Err(OutOfOrderSequenceNumber)),
        (1, 0, 1, new(7)),
        (0, 24, 1, Err(InvalidProducerEpoch)),
    ];
    let mut rig = Rig::new(LogConfig::default());
    for (index, (epoch, sequence, count, answer)) in story.into_iter().enumerate() {
        assert_eq!(append(&mut rig, epoch, sequence, count), answer, "step {index}");
    }
    let mut wrap = Rig::new(LogConfig::default());
    assert_eq!(append(&mut wrap, 0, i32::MAX, 1), new(0));
    assert_eq!(append(&mut wrap.clone_rig(), 0, 1, 1), Err(OutOfOrderSequenceNumber));
    assert_eq!(append(&mut wrap, 0, 0, 1), new(1));
}

#[test]
fn the_first_unstable_offset_follows_transactions_and_the_high_watermark() {
    let config = LogConfig::default();
    let mut log = Log::create(99, &config, 0);
    let data = |producer: i64| {
        let stamp = ProducerStamp {
            id: producer,
            epoch: 0,
            base_sequence: 0,
        };
        Batch::build_transactional(&[record("x", 0)], stamp, Arc::default())
    };
    let end = |producer: i64, outcome| {
        Batch::build_marker(
            Marker {
                outcome,
                coordinator_epoch: 0,
            },
            producer,
            0,
            0,
        )
    };
    let append = |log: &mut Log, batch: &Batch, offset: i64| {
        log.append_as_follower(&[batch.placed(offset, 0)], 0, &config, 0)
            .unwrap();
    };
    append(&mut log, &data(1), 99);
    assert_eq!(log.first_unstable_offset(), Some(99));
    append(&mut log, &data(2), 105);
    assert_eq!(log.first_unstable_offset(), Some(99));
    append(&mut log, &end(1, Outcome::Commit), 109);
    assert_eq!(log.first_unstable_offset(), Some(99));
    let after = |log: &mut Log, high_watermark: i64| {
        log.set_high_watermark(high_watermark);
        log.first_unstable_offset()
    };
    assert_eq!(after(&mut log, 100), Some(99));
    assert_eq!(after(&mut log, 110), Some(105));
    append(&mut log, &end(2, Outcome::Abort), 112);
    assert_eq!(log.first_unstable_offset(), Some(105));
    assert_eq!(after(&mut log, 113), None);
    let aborted = log.active_segment().txn_index().entries();
    assert_eq!(
        aborted
            .iter()
            .map(|txn| (txn.first_offset, txn.last_offset))
            .collect::<Vec<_>>(),
        [(105, 112)]
    );
}

#[test]
fn recovery_rebuilds_epochs_and_keeps_the_recovery_point() {
    let config = LogConfig::default();
    let log = follower(
        &config,
        &[&[stored(104, 0, &[0]), stored(106, 1, &[0]), stored(110, 2, &[0])]],
    );
    let mut files = log.to_files();
    files.remove(LEADER_EPOCH_CHECKPOINT);
    let args = LoadArgs {
        shutdown: Shutdown::Unclean,
        recovery_point: 10,
        log_start_offset: 0,
        high_watermark: 0,
        config: &config,
        now_ms: 0,
    };
    let (mut log, _) = Log::load(files, &args);
    let epochs: Vec<_> = log
        .epochs()
        .entries()
        .iter()
        .map(|entry| (entry.epoch, entry.start_offset))
        .collect();
    assert_eq!(epochs, [(0, 104), (1, 106), (2, 110)]);
    assert_eq!((log.log_end_offset(), log.recovery_point()), (111, 10));
    log.flush_all(0);
    assert_eq!(log.recovery_point(), 111);
}

#[test]
fn a_log_that_ends_below_its_checkpointed_start_begins_anew() {
    let config = LogConfig::default();
    let log = follower(&config, &[&[stored(0, 0, &[0])]]);
    let args = LoadArgs {
        shutdown: Shutdown::Unclean,
        recovery_point: 0,
        log_start_offset: 4,
        high_watermark: 0,
        config: &config,
        now_ms: 0,
    };
    let (log, report) = Log::load(log.to_files(), &args);
    assert_eq!(
        (log.log_start_offset(), log.log_end_offset(), log.segment_count()),
        (4, 4, 1)
    );
    assert_eq!(report.deleted_segments, [0]);
}
