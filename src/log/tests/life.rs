//! The life of a log: append, roll, flush, crash, load.

use super::*;

fn load(files: Files, shutdown: Shutdown, recovery_point: i64, config: &LogConfig) -> (Log, RecoveryReport) {
    let args = LoadArgs {
        shutdown,
        recovery_point,
        log_start_offset: 0,
        high_watermark: 0,
        config,
        now_ms: 0,
    };
    Log::load(files, &args)
}

fn values(log: &Log) -> Vec<String> {
    let mut found = Vec::new();
    let mut next = log.log_start_offset();
    while next < log.log_end_offset() {
        let fetched = log.read(next, log.log_end_offset(), 1, FirstBatch::Whole).unwrap();
        for record in fetched.batches.iter().flat_map(|batch| batch.records()) {
            found.push(String::from_utf8_lossy(record.value.unwrap()).into_owned());
        }
        next = fetched.batches.last().unwrap().next_offset();
    }
    found
}

#[test]
fn five_batches_of_72_bytes_fill_a_segment_of_360() {
    let mut rig = Rig::new(LogConfig {
        segment_bytes: 360,
        ..LogConfig::default()
    });
    let rolled: Vec<_> = (0..15).filter_map(|_| rig.append(&single("test", 0)).rolled).collect();
    assert_eq!(rig.bases(), [0, 5, 10]);
    assert_eq!(
        rolled[0],
        Rolled {
            base_offset: 5,
            reason: RollReason::Size
        }
    );
    assert_eq!(rig.log.tasks(), [Task::FlushBelow(5), Task::FlushBelow(10)]);
    assert_eq!(rig.log.recovery_point(), 0);
    assert_eq!(rig.log.run_tasks(0), 2);
    assert_eq!(rig.log.recovery_point(), 10);
}

#[test]
fn a_kill_keeps_what_was_written_and_a_power_loss_what_was_flushed() {
    let mut rig = Rig::new(LogConfig {
        segment_bytes: 160,
        ..LogConfig::default()
    });
    for value in ["0", "1", "2", "3", "4"] {
        rig.append(&single(value, 0));
    }
    rig.log.run_tasks(0);
    assert_eq!((rig.bases(), rig.log.recovery_point()), (vec![0, 2, 4], 4));

    let (killed, report) = load(rig.log.to_files(), Shutdown::Unclean, 4, &rig.config);
    assert_eq!(values(&killed), ["0", "1", "2", "3", "4"]);
    assert_eq!(report.recovered, [4]);

    let mut files = rig.log.to_files();
    files.power_loss(Keep::Flushed);
    let (dark, _) = load(files, Shutdown::Unclean, 4, &rig.config);
    assert_eq!(values(&dark), ["0", "1", "2", "3"]);
    assert_eq!((dark.log_end_offset(), dark.recovery_point()), (4, 4));

    let mut files = rig.log.to_files();
    assert!(files.tear_last_batch(30));
    let (torn, report) = load(files, Shutdown::Unclean, 0, &rig.config);
    assert_eq!(values(&torn), ["0", "1", "2", "3"]);
    assert_eq!(report.truncated, Some((4, 30)));

    let mut files = rig.log.to_files();
    files.flip(2, 65).unwrap();
    let (rotten, report) = load(files, Shutdown::Unclean, 0, &rig.config);
    assert_eq!(values(&rotten), ["0", "1"]);
    assert_eq!((report.truncated, report.deleted_segments), (Some((2, 138)), vec![4]));
    assert_eq!(report.deleted_bytes, 69);
    assert_eq!(report.dropped.len(), 3);
}

#[test]
fn a_shortened_log_keeps_nothing_at_the_offset_or_half_of_the_first_batch_there() {
    let mut rig = Rig::new(LogConfig::default());
    for value in ["0", "1", "2", "3"] {
        rig.append(&single(value, 0));
    }
    let whole = rig.log.to_files();
    let shortened = |rest| {
        let mut files = whole.clone();
        files.shorten(2, rest);
        let (log, report) = load(files, Shutdown::Unclean, 0, &rig.config);
        (values(&log), report.truncated)
    };
    let kept = vec!["0".to_string(), "1".to_string()];
    assert_eq!(shortened(Rest::Nothing), (kept.clone(), None));
    let half = 69 / 2;
    assert_eq!(shortened(Rest::HalfABatch), (kept, Some((0, half))));
}

#[test]
fn what_is_torn_is_the_last_batch_though_it_is_damaged_already() {
    let mut rig = Rig::new(LogConfig::default());
    for value in ["0", "1", "2"] {
        rig.append(&single(value, 0));
    }
    let mut files = rig.log.to_files();
    let size = |files: &Files| files.get("00000000000000000000.log").map_or(0, |file| file.len());
    let whole = size(&files);
    let last = files.last_batch().expect("it has three");
    assert_eq!((last.segment, last.offset, last.position + last.size), (0, 2, whole));
    files.flip(0, last.position + 65).expect("the byte is there");
    assert_eq!(files.last_batch(), Some(last));
    assert!(files.tear_last_batch(30));
    assert_eq!(size(&files), last.position + 30);
    assert_eq!(files.last_batch().map(|last| last.offset), Some(1));
    assert_eq!(
        files.flip(7, 0),
        Err("there is no segment 7: the folder has 0".to_owned())
    );
    assert_eq!(
        files.flip(0, 999),
        Err(format!(
            "in segment 0 there is no byte 999: the file has {} bytes",
            last.position + 30
        ))
    );
}

#[test]
fn a_clean_stop_needs_no_recovery() {
    let mut rig = Rig::new(LogConfig::default());
    for value in ["0", "1", "2"] {
        rig.append(&single(value, 0));
    }
    let before = rig.log.digest();
    let mut files = rig.log.clone().close(0);
    assert_eq!(rig.log.digest(), before);
    files.power_loss(Keep::Flushed);
    let (log, report) = load(files, Shutdown::Clean, 3, &rig.config);
    assert_eq!(values(&log), ["0", "1", "2"]);
    assert_eq!((report.recovered, log.recovery_point()), (vec![], 3));
    assert_eq!(log.snapshot_offsets().collect::<Vec<_>>(), [3]);
}

#[test]
fn snapshots_of_a_log_do_not_change_with_it() {
    let mut rig = Rig::new(LogConfig {
        segment_bytes: 1000,
        ..LogConfig::default()
    });
    let mut history = vec![(rig.log.clone(), rig.log.digest())];
    for n in 0..100 {
        rig.append(&single(&n.to_string(), n));
        history.push((rig.log.clone(), rig.log.digest()));
    }
    for (n, (log, digest)) in history.iter().enumerate() {
        assert_eq!((log.log_end_offset(), log.digest()), (n as i64, *digest));
        assert_eq!(values(log).len(), n);
    }
}
