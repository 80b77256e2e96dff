//! Crashes at every boundary: after each operation of a run, with every length that the page cache may have reached the
//! disk by. What was flushed is there, what is served is what was written, in one piece from the start.

use super::*;

/// One operation of the run.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Batches of so many records.
    Append(&'static [usize]),
    Roll,
    /// The flush that a roll has ordered.
    RunTasks,
    Flush,
    Truncate(i64),
    LogStart(i64),
    Retain,
}

const RUN: &[Operation] = &[
    Operation::Append(&[1, 2]),
    Operation::Flush,
    Operation::Append(&[3, 1, 1]),
    Operation::RunTasks,
    Operation::Append(&[2]),
    Operation::Truncate(8),
    Operation::Append(&[1, 1]),
    Operation::Roll,
    Operation::Append(&[2, 2]),
    Operation::LogStart(6),
    Operation::RunTasks,
    Operation::Retain,
    Operation::Append(&[1]),
];

struct Written {
    rig: Rig,
    /// Every record that stands in the log, by offset.
    records: Vec<(i64, String)>,
    count: usize,
}

impl Written {
    fn perform(&mut self, operation: Operation) {
        let Rig { log, config, .. } = &mut self.rig;
        match operation {
            Operation::Append(batches) => batches.iter().for_each(|records| self.append(*records)),
            Operation::Roll => _ = log.roll(config, 0),
            Operation::RunTasks => _ = log.run_tasks(0),
            Operation::Flush => _ = log.flush_all(0),
            Operation::Truncate(to) => {
                let gone = log.truncate_to(to, config, 0).unwrap().expect("it is below the end");
                let first = gone.batches.iter().map(Batch::base_offset).min().unwrap_or(to);
                self.records.retain(|(offset, _)| *offset < first);
            }
            Operation::LogStart(to) => {
                log.set_high_watermark(i64::MAX);
                assert_eq!(log.maybe_increment_log_start(to), Ok(true));
            }
            Operation::Retain => {
                assert!(!log.delete_old_segments(config, 0).unwrap().is_empty());
                let first = log.segments().next().map_or(0, Segment::base_offset);
                self.records.retain(|(offset, _)| *offset >= first);
            }
        }
    }

    fn append(&mut self, count: usize) {
        let end = self.rig.log.log_end_offset();
        let values: Vec<String> = (0..count).map(|index| format!("{}.{index}", self.count)).collect();
        let records: Vec<Record> = values.iter().map(|value| record(value, 0)).collect();
        self.rig.append(&Batch::build(&records, None, Default::default()));
        self.records.extend((end..).zip(values));
        self.count += 1;
    }

    /// Loads what a crash left and looks at it: a prefix of what was written, at least all that was flushed.
    fn survives(&self, files: Files, moment: &str) -> usize {
        let found = self.served(files, moment);
        assert_eq!(found, self.records[..found.len()], "{moment}");
        found.len()
    }

    /// Loads what a crash left and looks at it: records that were written, in order, and all that were flushed. Where the
    /// system wrote a newer segment before the end of an older one, and the older one ends with a whole batch, Kafka does not
    /// see that there was more: a hole.
    fn served(&self, files: Files, moment: &str) -> Vec<(i64, String)> {
        let Rig { log, config, .. } = &self.rig;
        let args = LoadArgs {
            shutdown: Shutdown::Unclean,
            recovery_point: log.recovery_point(),
            log_start_offset: log.log_start_offset(),
            high_watermark: 0,
            config,
            now_ms: 0,
        };
        let (loaded, _) = Log::load(files, &args);
        let mut found = Vec::new();
        for batch in loaded.batches() {
            assert!(batch.is_valid(), "{moment}: a batch with a wrong checksum is served");
            found.extend(batch.records().map(|record| {
                let value = String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned();
                (record.offset, value)
            }));
        }
        assert!(found.is_sorted_by(|a, b| a.0 < b.0), "{moment}: {found:?}");
        let strange = found.iter().find(|record| !self.records.contains(record));
        assert_eq!(strange, None, "{moment}");
        let flushed = self.records.iter().filter(|(offset, _)| *offset < log.recovery_point());
        let lost: Vec<_> = flushed.filter(|record| !found.contains(record)).collect();
        assert!(lost.is_empty(), "{moment}: {lost:?} were flushed and are lost");
        let start = loaded.log_start_offset();
        let read = loaded.read(start, loaded.log_end_offset(), u32::MAX, FirstBatch::Whole);
        assert!(read.is_ok(), "{moment}: {read:?}");
        found
    }
}

/// What a power loss leaves of the segments behind the one that it cuts: the system writes pages in any order.
#[derive(Clone, Copy, Debug)]
enum Newer {
    Gone,
    Whole,
}

/// The files with the log of one segment cut at a length. Its indexes never reached the disk.
fn cut(files: &Files, base: i64, length: u64, newer_segments: Newer) -> Files {
    let mut left = files.clone();
    let kinds = ["log", "index", "timeindex", "txnindex", "snapshot"];
    left.retain(|name| {
        let newer = |kind: &str| {
            let at = base_offset_of(name, kind);
            let gone = matches!(newer_segments, Newer::Gone);
            at.is_some_and(|at| gone && at > base || at == base && kind != "log")
        };
        !kinds.iter().any(|kind| newer(kind))
    });
    if let Some(file) = left.get_mut(&file_name(base, "log")) {
        file.cut(length);
    }
    left
}

#[test]
fn a_crash_at_any_boundary_loses_nothing_flushed_and_serves_nothing_corrupt() {
    let config = LogConfig {
        segment_bytes: 300,
        index_interval_bytes: 60,
        segment_index_bytes: 200,
        retention_ms: -1,
        ..LogConfig::default()
    };
    let mut written = Written {
        rig: Rig::new(config),
        records: Vec::new(),
        count: 0,
    };
    let mut crashes = 0;
    for (number, operation) in RUN.iter().enumerate() {
        written.perform(*operation);
        let files = written.rig.log.to_files();
        let killed = written.survives(files.clone(), &format!("killed after {number} {operation:?}"));
        assert_eq!(
            killed,
            written.records.len(),
            "a kill loses nothing: {number} {operation:?}"
        );
        for base in written.rig.bases() {
            let file = files.get(&file_name(base, "log")).expect("a segment has a file");
            // Where nothing of a closed segment is lost the cut lies in a newer one.
            let until = if base == written.rig.log.active_segment().base_offset() {
                file.len() + 1
            } else {
                file.len()
            };
            for length in file.flushed().unwrap_or(0)..until {
                for newer in [Newer::Gone, Newer::Whole] {
                    let moment =
                        format!("power lost after {number} {operation:?}, {length} bytes of {base}.log, {newer:?}");
                    let left = cut(&files, base, length, newer);
                    match newer {
                        Newer::Gone => _ = written.survives(left, &moment),
                        Newer::Whole => _ = written.served(left, &moment),
                    }
                    crashes += 1;
                }
            }
        }
        for kind in ["index", "timeindex", "txnindex", "snapshot"] {
            for base in written.rig.bases() {
                let mut left = files.clone();
                if left.remove(&file_name(base, kind)).is_some() {
                    let moment = format!("{base}.{kind} lost after {number} {operation:?}");
                    assert_eq!(written.survives(left, &moment), written.records.len(), "{moment}");
                }
            }
        }
    }
    assert!(crashes > 4_000, "{crashes} crashes");
}
