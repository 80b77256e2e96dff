//! A log against a plain model: a list of batches.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    Append { records: usize, follower: bool },
    Roll,
    Flush,
    RunTasks,
    Read { at: usize, max_bytes: u32 },
    Truncate { at: usize },
    Retain { bytes: i64 },
    StartAt { at: usize },
    Stop,
    Kill,
    PowerLoss { cut: usize, rot: Option<(usize, u8)> },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (1..4usize, any::<bool>()).prop_map(|(records, follower)| Act::Append { records, follower }),
        1 => Just(Act::Roll),
        1 => Just(Act::Flush),
        2 => Just(Act::RunTasks),
        3 => (any::<usize>(), 0..2000u32).prop_map(|(at, max_bytes)| Act::Read { at, max_bytes }),
        1 => any::<usize>().prop_map(|at| Act::Truncate { at }),
        1 => (0..3000i64).prop_map(|bytes| Act::Retain { bytes }),
        1 => any::<usize>().prop_map(|at| Act::StartAt { at }),
        1 => Just(Act::Stop),
        1 => Just(Act::Kill),
        2 => (any::<usize>(), proptest::option::of((any::<usize>(), 1..=255u8)))
            .prop_map(|(cut, rot)| Act::PowerLoss { cut, rot }),
    ]
}

/// What must be in the log: batches in order, and the offsets around them.
#[derive(Clone, Debug, Default)]
struct Model {
    batches: Vec<(i64, Vec<String>)>,
    start: i64,
    end: i64,
    /// What was really flushed: a flush that a roll had ordered may come when a truncation has taken its offsets
    /// back, and then the recovery point lies above the log end.
    safe: i64,
}

impl Model {
    fn batch_end(batch: &(i64, Vec<String>)) -> i64 {
        batch.0 + batch.1.len() as i64
    }

    fn truncate(&mut self, offset: i64) {
        self.batches.retain(|batch| Self::batch_end(batch) <= offset);
        self.end = offset;
        self.start = self.start.min(offset);
        self.safe = self.safe.min(offset);
    }
}

struct Pair {
    log: Log,
    config: LogConfig,
    model: Model,
    written: usize,
    /// Rot has changed the offset of a batch unseen: the end of what a model can follow.
    moved: bool,
}

impl Pair {
    fn new() -> Self {
        let config = LogConfig {
            segment_bytes: 500,
            index_interval_bytes: 100,
            segment_index_bytes: 200,
            ..LogConfig::default()
        };
        Self {
            log: Log::create(0, &config, 0),
            config,
            model: Model::default(),
            written: 0,
            moved: false,
        }
    }

    fn offset(&self, at: usize) -> i64 {
        let span = (self.model.end - self.model.start + 1) as usize;
        self.model.start + (at % span) as i64
    }

    fn perform(&mut self, act: &Act) {
        match act {
            Act::Append { records, follower } => self.append(*records, *follower),
            Act::Roll => drop(self.log.roll(&self.config, 0).unwrap()),
            Act::Flush => self.flushing(|log| _ = log.flush_all(0)),
            Act::RunTasks => self.flushing(|log| _ = log.run_tasks(0)),
            Act::Read { at, max_bytes } => self.read(self.offset(*at), *max_bytes),
            Act::Truncate { at } => {
                let offset = self.offset(*at);
                if self.log.truncate_to(offset, &self.config, 0).unwrap().is_some() {
                    self.model.truncate(offset);
                }
            }
            Act::Retain { bytes } => self.retain(*bytes),
            Act::StartAt { at } => {
                let offset = self.offset(*at);
                self.log.set_high_watermark(self.model.end);
                let moved = self.log.maybe_increment_log_start(offset).unwrap();
                assert_eq!(moved, offset > self.model.start);
                self.model.start = self.model.start.max(offset);
            }
            Act::Stop => {
                let last_base = self.log.active_segment().base_offset();
                let files = self.log.clone().close(0);
                self.load(files, Shutdown::Clean, self.model.end);
                self.settle_end(last_base);
            }
            Act::Kill => {
                let last_base = self.log.active_segment().base_offset();
                let recovery_point = self.log.recovery_point();
                self.load(self.log.to_files(), Shutdown::Unclean, recovery_point);
                self.settle_end(last_base);
            }
            Act::PowerLoss { cut, rot } => self.power_loss(*cut, *rot),
        }
    }

    /// Only a flush that moves the recovery point is one: below a point that was left above the log end nothing is
    /// flushed again.
    fn flushing(&mut self, flush: impl FnOnce(&mut Log)) {
        let before = self.log.recovery_point();
        flush(&mut self.log);
        if self.log.recovery_point() > before {
            self.model.safe = self.log.recovery_point().min(self.model.end);
        }
    }

    fn append(&mut self, count: usize, follower: bool) {
        let values: Vec<String> = (0..count).map(|index| format!("{}-{index}", self.written)).collect();
        let records: Vec<Record> = values.iter().map(|value| record(value, 0)).collect();
        let tags: Vec<u64> = (0..count as u64).collect();
        let batch = Batch::build(&records, None, Arc::from(tags));
        let end = self.model.end;
        let appended = match follower {
            true => self.log.append_as_follower(&[batch.placed(end, 0)], 0, &self.config, 0),
            false => self.log.append_as_leader(&batch, 0, Origin::Client, &self.config, 0),
        };
        assert_eq!(appended.unwrap().first_offset, end);
        self.written += 1;
        self.model.batches.push((end, values));
        self.model.end = end + count as i64;
    }

    fn read(&mut self, from: i64, max_bytes: u32) {
        let fetched = self
            .log
            .read(from, self.model.end, max_bytes, FirstBatch::WithinLimit)
            .unwrap();
        let size: u32 = fetched.batches.iter().map(Batch::size_in_bytes).sum();
        assert!(size <= fetched.size_in_bytes && fetched.size_in_bytes <= max_bytes);
        let whole = self
            .log
            .read(from, self.model.end, max_bytes, FirstBatch::Whole)
            .unwrap();
        let expected = self.model.batches.iter().find(|batch| Model::batch_end(batch) > from);
        assert_eq!(
            whole.batches.first().map(Batch::base_offset),
            expected.map(|batch| batch.0)
        );
        for (batch, offset) in whole.batches.iter().zip(whole.batches.iter().skip(1)) {
            assert!(batch.next_offset() <= offset.base_offset());
        }
    }

    fn retain(&mut self, bytes: i64) {
        self.log.set_high_watermark(self.model.end);
        self.config.retention_bytes = bytes;
        let before = self.log.size();
        let gone = self.log.delete_old_segments(&self.config, 0).unwrap();
        self.model.start = self.log.log_start_offset().max(self.model.start);
        let first = self.log.segments().next().unwrap().base_offset();
        self.model.batches.retain(|batch| batch.0 >= first);
        let by_size = gone.iter().any(|segment| segment.reason == DeletionReason::Size);
        assert!(
            !by_size || self.log.size() >= bytes as u64,
            "{before} bytes were cut to {}",
            self.log.size()
        );
    }

    fn load(&mut self, files: Files, shutdown: Shutdown, recovery_point: i64) -> RecoveryReport {
        let args = LoadArgs {
            shutdown,
            recovery_point,
            log_start_offset: self.model.start,
            high_watermark: 0,
            config: &self.config,
            now_ms: 0,
        };
        let (log, report) = Log::load(files, &args);
        self.log = log;
        report
    }

    /// After a restart without loss the log ends where its last batch does, or where its last segment begins. If that
    /// lies below the log start everything goes.
    fn settle_end(&mut self, last_base: i64) {
        let last = self.model.batches.last().map_or(last_base, Model::batch_end);
        self.model.end = last.max(last_base);
        self.model.safe = self.model.safe.min(self.model.end);
        if self.model.end < self.model.start {
            self.model.batches.clear();
            self.model.end = self.model.start;
        }
    }

    fn power_loss(&mut self, cut: usize, rot: Option<(usize, u8)>) {
        let recovery_point = self.log.recovery_point();
        let mut files = self.log.to_files();
        let base = self.log.active_segment().base_offset();
        let name = file_name(base, "log");
        if let Some(file) = files.get_mut(&name) {
            let flushed = file.flushed().unwrap_or(0);
            let loose = file.len() - flushed;
            if loose > 0 {
                file.cut(flushed + cut as u64 % (loose + 1));
            }
            if let Some((at, xor)) = rot.filter(|_| file.len() > flushed) {
                let at = flushed + at as u64 % (file.len() - flushed);
                file.flip(at, xor).unwrap();
            }
        }
        let before = self.model.batches.clone();
        self.load(files, Shutdown::Unclean, recovery_point);
        let bytes_kept: Vec<Batch> = self.log.batches().cloned().collect();
        assert!(
            bytes_kept.iter().all(Batch::is_valid),
            "a batch with a wrong checksum was kept"
        );
        // Offset, length, epoch and magic are not under the checksum, so rot there can show in them and nowhere else.
        let values = |batch: &Batch| batch.records().map(|record| text(&record)).collect::<Vec<_>>();
        for kept in &bytes_kept {
            let original = before.iter().find(|batch| batch.1 == values(kept));
            assert!(original.is_some(), "a batch was kept that nobody wrote");
            self.moved |= original.is_some_and(|batch| batch.0 != kept.base_offset());
        }
        if self.moved {
            return;
        }
        assert!(bytes_kept.len() <= before.len());
        // A log start that moved up took the recovery point along without any flush, so what lies below it is not safe.
        let safe =
            |batch: &&(i64, Vec<String>)| batch.0 >= self.model.start && Model::batch_end(batch) <= self.model.safe;
        for batch in before.iter().filter(safe) {
            let kept = bytes_kept.iter().any(|kept| kept.base_offset() == batch.0);
            assert!(kept, "the batch at {} was flushed and is lost", batch.0);
        }
        self.model.batches = bytes_kept
            .iter()
            .map(|batch| (batch.base_offset(), values(batch)))
            .collect();
        self.model.end = self.log.log_end_offset();
        self.model.start = self.log.log_start_offset();
        self.model.safe = self.model.safe.min(self.model.end);
    }

    fn check(&self) {
        assert_eq!(self.log.log_end_offset(), self.model.end);
        assert_eq!(self.log.log_start_offset(), self.model.start);
        let found: Vec<(i64, Vec<String>)> = self
            .log
            .batches()
            .map(|batch| {
                (
                    batch.base_offset(),
                    batch.records().map(|record| text(&record)).collect(),
                )
            })
            .collect();
        assert_eq!(found, self.model.batches);
        for batch in self.log.batches().filter(|batch| !batch.tags().is_empty()) {
            assert_eq!(batch.tags().len(), batch.records_count() as usize);
        }
        let names: Vec<(String, u64, Option<u64>)> = self
            .log
            .to_files()
            .iter()
            .map(|(name, file)| (name.to_owned(), file.len(), file.flushed()))
            .collect();
        let listed = self
            .log
            .file_list()
            .into_iter()
            .map(|file| (file.name, file.length, file.flushed));
        assert_eq!(names, listed.collect::<Vec<_>>());
    }
}

fn text(record: &RecordView<'_>) -> String {
    String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_is_a_list_of_batches(acts in proptest::collection::vec(act(), 1..60)) {
        let mut pair = Pair::new();
        for act in &acts {
            pair.perform(act);
            if pair.moved {
                break;
            }
            pair.check();
        }
    }

    #[test]
    fn what_is_a_batch_survives_the_wire(
        values in proptest::collection::vec((proptest::option::of(".{0,9}"), proptest::option::of(".{0,200}"), any::<i64>()), 1..9),
        id in proptest::option::of((0..i64::MAX, 0..i16::MAX, 0..i32::MAX)),
    ) {
        let records: Vec<Record> = values
            .iter()
            .map(|(key, value, timestamp)| {
                Record::new(key.as_deref().map(str::as_bytes), value.as_deref().map(str::as_bytes), *timestamp)
            })
            .collect();
        let stamp = id.map(|(id, epoch, base_sequence)| ProducerStamp { id, epoch, base_sequence });
        let batch = Batch::build(&records, stamp, Arc::default()).placed(77, 3);
        let parsed = Batch::parse(&batch.to_bytes()).unwrap();
        prop_assert!(parsed.is_valid() && parsed.check_records());
        prop_assert_eq!(parsed.producer(), stamp);
        prop_assert_eq!(parsed.records().map(|record| record.to_record()).collect::<Vec<_>>(), records);
        prop_assert_eq!(parsed, batch);
    }

    #[test]
    fn no_bytes_make_a_parser_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), plausible: bool) {
        if plausible && bytes.len() > 20 {
            let length = bytes.len() as u32 - 12;
            bytes[8..12].copy_from_slice(&length.to_be_bytes());
            bytes[16] = 2;
        }
        if let Ok(batch) = Batch::parse(&bytes) {
            let _ = (batch.is_valid(), batch.check_records(), batch.marker(), batch.records().count());
        }
        let _ = snapshot::read(&bytes);
        let _ = checkpoint::read_epochs(&String::from_utf8_lossy(&bytes));
        let config = LogConfig::default();
        let mut files = Files::new();
        for kind in ["log", "index", "timeindex", "txnindex", "snapshot"] {
            files.insert(file_name(0, kind), File::from_bytes(&bytes, 0));
        }
        files.insert(LEADER_EPOCH_CHECKPOINT, File::from_bytes(&bytes, 0));
        for shutdown in [Shutdown::Clean, Shutdown::Unclean] {
            let args = LoadArgs { shutdown, recovery_point: 0, log_start_offset: 0, high_watermark: 0, config: &config, now_ms: 0 };
            let (log, _) = Log::load(files.clone(), &args);
            let _ = log.read(log.log_start_offset(), log.log_end_offset(), 100, FirstBatch::Whole);
        }
    }
}
