//! Compaction: published cases, crashes in the middle of a swap, and a log against the plain history of its keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600_000;

/// A log of small segments with everything dirty, whose cleaner remembers where it was.
struct Cleaning {
    rig: Rig,
    checkpoint: Option<i64>,
    cleaner: CleanerConfig,
}

fn keyed(key: &str, value: Option<&str>, timestamp: i64) -> Batch {
    let record = Record::new(Some(key.as_bytes()), value.map(str::as_bytes), timestamp);
    Batch::build(&[record], None, Arc::default())
}

fn of_producer(key: &str, value: &str, id: i64, base_sequence: i32) -> Batch {
    let stamp = ProducerStamp {
        id,
        epoch: 0,
        base_sequence,
    };
    let record = Record::new(Some(key.as_bytes()), Some(value.as_bytes()), 0);
    Batch::build(&[record], Some(stamp), Arc::default())
}

impl Cleaning {
    fn new(segment_bytes: i32) -> Cleaning {
        let config = LogConfig {
            segment_bytes,
            cleanup_policy: COMPACT,
            min_cleanable_dirty_ratio: 0.0,
            ..LogConfig::default()
        };
        Cleaning {
            rig: Rig::new(config),
            checkpoint: None,
            cleaner: CleanerConfig::default(),
        }
    }

    /// A map that can take so many keys.
    fn with_slots(mut self, usable: u64) -> Cleaning {
        self.cleaner = CleanerConfig {
            map_memory: usable * 24,
            load_factor: 1.0,
            machine_clock_ms: None,
        };
        self
    }

    fn append(&mut self, batch: &Batch) {
        self.rig.append(batch);
    }

    fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.append(&keyed(key, Some("v"), self.rig.now));
        }
    }

    /// Closes the active segment; everything is committed.
    fn roll(&mut self) {
        self.rig.log.roll(&self.rig.config, self.rig.now).unwrap();
        let end = self.rig.log.log_end_offset();
        self.rig.log.set_high_watermark(end);
    }

    fn cleanable(&self) -> Cleanable {
        self.rig.log.cleanable(self.checkpoint, &self.rig.config, self.rig.now)
    }

    fn clean(&mut self) -> Cleaned {
        let cleanable = self.cleanable();
        let cleaned = self
            .rig
            .log
            .clean(&cleanable, &self.cleaner, &self.rig.config, self.rig.now)
            .expect("the log is sound");
        self.checkpoint = Some(cleaned.end_offset);
        cleaned
    }

    fn records(&self) -> Vec<(i64, String)> {
        let key = |record: &RecordView<'_>| String::from_utf8_lossy(record.key.unwrap_or(b"-")).into_owned();
        let batches = self.rig.log.batches();
        batches
            .flat_map(|batch| {
                batch
                    .records()
                    .map(|record| (record.offset, key(&record)))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    fn offsets(&self) -> Vec<i64> {
        self.records().into_iter().map(|(offset, _)| offset).collect()
    }

    /// Each batch by its last offset and how many records it holds.
    fn batches(&self) -> Vec<(i64, i32)> {
        let batches = self.rig.log.batches();
        batches
            .map(|batch| (batch.last_offset(), batch.records_count()))
            .collect()
    }
}

/// Semantics Z1.
#[test]
fn a_map_that_is_full_ends_a_pass_early() {
    let mut log = Cleaning::new(1_000).with_slots(1);
    log.keys(&["0", "1", "0", "1", "0"]);
    log.roll();
    let mut left = Vec::new();
    for dirty in 2..5 {
        log.checkpoint = Some(dirty);
        log.clean();
        left.push(
            log.records()
                .into_iter()
                .map(|(offset, key)| format!("{key}@{offset}"))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    assert_eq!(left, ["1@1 0@2 1@3 0@4", "0@2 1@3 0@4", "1@3 0@4"]);
}

/// Semantics Z3.
#[test]
fn a_map_knows_nothing_of_what_lies_outside_the_dirty_part() {
    let mut log = Cleaning::new(1_000).with_slots(2);
    log.keys(&["0", "1", "2", "3", "4"]);
    log.roll();
    log.checkpoint = Some(2);
    let cleaned = log.clean();
    assert_eq!((cleaned.map_entries, cleaned.end_offset), (2, 4));
    assert_eq!(log.offsets(), [0, 1, 2, 3, 4]);
}

/// Semantics Z4: the batch that carries a producer's last sequence stays, without its record if need be.
#[test]
fn the_last_sequence_of_a_producer_stays() {
    let mut log = Cleaning::new(1_000);
    log.append(&keyed("0", Some("0"), 0));
    log.append(&of_producer("0", "1", 1, 0));
    log.append(&of_producer("0", "2", 2, 0));
    log.append(&of_producer("0", "3", 3, 0));
    log.append(&of_producer("1", "1", 2, 1));
    log.roll();
    log.clean();
    assert_eq!(log.batches(), [(1, 0), (3, 1), (4, 1)]);
    assert_eq!(log.offsets(), [3, 4]);
}

/// Semantics Z6: a marker stays until its transaction has no data left, and then for `delete.retention.ms`.
#[test]
fn a_commit_marker_outlives_its_data_by_the_delete_retention() {
    let mut log = Cleaning::new(2_000);
    let mut sequence = 0;
    let mut data = |log: &mut Cleaning, keys: &[&str]| {
        for key in keys {
            let stamp = ProducerStamp {
                id: 1,
                epoch: 0,
                base_sequence: sequence,
            };
            sequence += 1;
            let record = Record::new(Some(key.as_bytes()), Some(b"v"), 0);
            let batch = Batch::build_transactional(&[record], stamp, Arc::default());
            let end = log.rig.log.log_end_offset();
            log.rig
                .log
                .append_as_follower(&[batch.placed(end, 0)], 0, &log.rig.config, 0)
                .expect("in sequence");
        }
    };
    let commit = |log: &mut Cleaning| {
        let marker = Marker {
            outcome: Outcome::Commit,
            coordinator_epoch: 0,
        };
        let end = log.rig.log.log_end_offset();
        let batch = Batch::build_marker(marker, 1, 0, 0).placed(end, 0);
        log.rig
            .log
            .append_as_follower(&[batch], 0, &log.rig.config, 0)
            .expect("in sequence");
    };
    data(&mut log, &["1"]);
    data(&mut log, &["2", "3"]);
    commit(&mut log);
    data(&mut log, &["2"]);
    commit(&mut log);
    log.roll();
    log.clean();
    assert_eq!(log.offsets(), [0, 2, 3, 4, 5]);
    data(&mut log, &["1", "3"]);
    commit(&mut log);
    log.roll();
    log.clean();
    assert_eq!(log.offsets(), [3, 4, 5, 6, 7, 8]);
    // A pass that finds the data gone sets the horizon, one after it removes the marker.
    log.checkpoint = None;
    log.clean();
    assert_eq!(log.offsets(), [3, 4, 5, 6, 7, 8], "its horizon has not passed");
    log.checkpoint = None;
    log.rig.now = i64::MAX;
    log.clean();
    assert_eq!(log.offsets(), [4, 5, 6, 7, 8]);
}

/// Semantics Z7: the batch that ends at the high watermark stays without records, so that the end of the log is seen.
#[test]
fn the_batch_at_the_high_watermark_stays_empty() {
    let superseded = |high_watermark: i64| {
        let mut log = Cleaning::new(150);
        log.keys(&["a", "b", "a", "b", "a", "b"]);
        log.roll();
        log.keys(&["a", "b"]);
        log.roll();
        log.rig.log.set_high_watermark(high_watermark);
        // Everything below 6 is superseded by what lies behind it.
        let cleanable = Cleanable {
            first_uncleanable_offset: 8,
            ..log.cleanable()
        };
        log.rig
            .log
            .clean(&cleanable, &log.cleaner, &log.rig.config, 0)
            .expect("the log is sound");
        log.batches()
    };
    assert_eq!(superseded(6), [(5, 0), (6, 1), (7, 1)]);
    assert_eq!(superseded(8), [(6, 1), (7, 1)]);
}

/// Semantics Z9, Z10 and Z12.
#[test]
fn what_can_be_cleaned_is_bounded_by_commit_age_and_checkpoint() {
    let mut log = Cleaning::new(150);
    log.keys(&["a"; 15]);
    log.rig.log.set_high_watermark(5);
    assert_eq!(log.cleanable().uncleanable_offset, 5);
    assert_eq!(log.cleanable().first_uncleanable_offset, 4);

    let mut log = Cleaning::new(150);
    log.rig.config.min_compaction_lag_ms = HOUR;
    log.keys(&["a"; 7]);
    let active = log.rig.log.active_segment().base_offset();
    log.rig.now = HOUR + 1;
    log.keys(&["b"; 8]);
    log.roll();
    // The segment that was active then has taken in younger records since.
    assert_eq!((active, log.cleanable().uncleanable_offset), (6, 6));

    for (checkpoint, start, first_dirty) in [(200, 0, 0), (0, 10, 10)] {
        log.rig.log.maybe_increment_log_start(start).expect("it is committed");
        log.checkpoint = Some(checkpoint);
        let cleanable = log.cleanable();
        assert_eq!(cleanable.first_dirty_offset, first_dirty);
        assert!(cleanable.checkpoint_reset);
    }
}

/// Semantics Z13: the next dirty offset lies behind a gap at a segment's end.
#[test]
fn a_gap_before_the_next_segment_is_bridged() {
    let mut log = Cleaning::new(10_000);
    log.keys(&["a"; 10]);
    log.rig.log.roll(&log.rig.config, 0).unwrap();
    let behind = keyed("a", Some("v"), 0).placed(11, 0);
    log.rig
        .log
        .append_as_follower(&[behind], 0, &log.rig.config, 0)
        .expect("a follower may leave a gap");
    log.rig.log.set_high_watermark(12);
    assert_eq!(log.clean().end_offset, log.rig.log.active_segment().base_offset());
}

/// Semantics Z15, and why each record goes.
#[test]
fn what_goes_goes_for_a_reason() {
    let mut log = Cleaning::new(10_000);
    log.rig.config.cleanup_policy = CleanupPolicy::DELETE;
    log.append(&single("no key", 0));
    log.append(&keyed("a", Some("1"), 0));
    log.append(&keyed("a", None, 0));
    log.append(&keyed("b", Some("2"), 0));
    log.append(&single("no key", 0));
    log.roll();
    log.rig.config.cleanup_policy = COMPACT;
    log.rig.config.delete_retention_ms = 10;
    log.rig.log.set_high_watermark(5);
    let reasons = |cleaned: Cleaned| {
        let removed = cleaned.removed.into_iter();
        removed.map(|record| (record.offset, record.why)).collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(log.clean()),
        [
            (0, Removal::Unkeyed),
            (1, Removal::Superseded { by: 2 }),
            (4, Removal::Unkeyed)
        ]
    );
    log.rig.now = 10;
    log.keys(&["c"]);
    log.roll();
    assert_eq!(reasons(log.clean()), [(2, Removal::Tombstone)]);
    assert_eq!(log.offsets(), [3, 5]);
}

/// Semantics Z16: segments are put together as long as their sizes before the cleaning fit into one.
#[test]
fn segments_are_grouped_by_their_size() {
    let mut log = Cleaning::new(150);
    let keys: Vec<String> = (0..20).map(|number| format!("{number:02}")).collect();
    log.keys(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    log.roll();
    assert_eq!(log.rig.bases().len(), 11);
    let size = log.rig.log.segments().next().map_or(0, Segment::size);
    log.rig.config.segment_bytes = 3 * size as i32 + 1;
    log.clean();
    assert_eq!(log.rig.bases(), [0, 6, 12, 18, 20]);
}

/// From when on a cleaner would pick a log is the first moment at which it does.
#[test]
fn a_log_can_be_cleaned_from_the_moment_it_is_eligible() {
    let mut log = Cleaning::new(150);
    assert_eq!(
        log.rig.log.cleanable_from(None, &log.rig.config),
        None,
        "nothing is closed"
    );
    log.rig.config.min_cleanable_dirty_ratio = 0.9;
    log.rig.config.min_compaction_lag_ms = HOUR;
    log.rig.config.max_compaction_lag_ms = 3 * HOUR;
    log.keys(&["a", "a"]);
    log.rig.now = HOUR;
    log.keys(&["a", "a", "a"]);
    log.rig.log.set_high_watermark(5);
    // Below 2 all is clean: the second segment alone does not outweigh it, until it has waited for too long.
    for (checkpoint, from) in [(None, HOUR), (Some(2), 4 * HOUR + 1)] {
        assert_eq!(log.rig.log.cleanable_from(checkpoint, &log.rig.config), Some(from));
        for (now, eligible) in [(from - 1, false), (from, true)] {
            let found = log.rig.log.cleanable(checkpoint, &log.rig.config, now);
            assert_eq!(
                found.is_eligible(&log.rig.config),
                eligible,
                "at {now} from {checkpoint:?}"
            );
        }
    }
}

/// The folder at every moment of a swap: new files are written as `.cleaned`, become `.swap` when all is there, then the
/// old ones become `.deleted` and the new ones take their names.
fn moments_of_a_swap(before: &Files, after: &Files) -> Vec<Files> {
    let is_new = |name: &str, file: &File| {
        let segments = ["log", "index", "timeindex"]
            .iter()
            .any(|kind| base_offset_of(name, kind).is_some());
        segments && before.get(name).is_none_or(|old| old.to_bytes() != file.to_bytes())
    };
    // A segment's files change their names one after another, the log first.
    let turn = |name: &str| {
        let kinds = ["log", "index", "timeindex", "txnindex", "snapshot"];
        let of_kind = |(turn, kind): (usize, &&str)| base_offset_of(name, kind).map(|base| (base, turn));
        kinds.iter().enumerate().find_map(of_kind)
    };
    let mut fresh: Vec<(&str, &File)> = after.iter().filter(|(name, file)| is_new(name, file)).collect();
    fresh.sort_by_key(|(name, _)| turn(name));
    let mut gone: Vec<&str> = before
        .iter()
        .map(|(name, _)| name)
        .filter(|name| {
            let deleted = format!("{name}{DELETED_SUFFIX}");
            after.get(&deleted).is_some()
        })
        .collect();
    gone.sort_by_key(|name| turn(name));
    let mut moments = vec![before.clone()];
    let mut now = before.clone();
    let mut moment = |now: &Files| moments.push(now.clone());
    for (name, file) in &fresh {
        let mut half = (*file).clone();
        half.set_length(file.len() / 2);
        now.insert(format!("{name}{CLEANED_SUFFIX}"), half);
        moment(&now);
        now.insert(format!("{name}{CLEANED_SUFFIX}"), (*file).clone());
        moment(&now);
    }
    let rename = |files: &mut Files, from: String, to: String| {
        if let Some(file) = files.remove(&from) {
            files.insert(to, file);
        }
    };
    for (name, _) in &fresh {
        rename(
            &mut now,
            format!("{name}{CLEANED_SUFFIX}"),
            format!("{name}{SWAP_SUFFIX}"),
        );
        moment(&now);
    }
    for name in gone {
        rename(&mut now, name.to_owned(), format!("{name}{DELETED_SUFFIX}"));
        moment(&now);
    }
    for (name, _) in &fresh {
        rename(&mut now, format!("{name}{SWAP_SUFFIX}"), (*name).to_owned());
        moment(&now);
    }
    moments
}

/// A folder as it is, and with each index file of it lost, or only half of it written.
fn with_indexes_hurt(files: &Files) -> Vec<Files> {
    let mut all = vec![files.clone()];
    for (name, file) in files.iter() {
        if name.contains(".index") || name.contains(".timeindex") {
            let mut lost = files.clone();
            lost.remove(name);
            let mut short = files.clone();
            let mut half = file.clone();
            half.cut(file.len() / 2);
            short.insert(name, half);
            all.extend([lost, short]);
        }
    }
    all
}

#[test]
fn a_crash_in_a_swap_loses_no_key_and_invents_nothing() {
    let mut log = Cleaning::new(160);
    log.rig.config.index_interval_bytes = 0;
    for (number, key) in ["a", "b", "a", "c", "b", "a", "d", "c"].iter().enumerate() {
        log.append(&keyed(key, Some(&number.to_string()), 0));
    }
    log.roll();
    log.rig.log.run_tasks(0);
    // Two segments become one, so that the swap has files to rename, and one to drop.
    log.rig.config.segment_bytes = 330;
    let (before, all) = (log.rig.log.to_files(), log.offsets());
    log.clean();
    let (after, kept) = (log.rig.log.to_files(), log.offsets());
    assert_eq!(kept, [4, 5, 6, 7]);
    let moments = moments_of_a_swap(&before, &after);
    assert!(moments.len() > 12, "{} moments", moments.len());
    let mut seen = Vec::new();
    let folders = moments.iter().enumerate();
    let folders =
        folders.flat_map(|(number, files)| with_indexes_hurt(files).into_iter().map(move |files| (number, files)));
    for (number, files) in folders {
        let args = LoadArgs {
            shutdown: Shutdown::Unclean,
            recovery_point: log.rig.log.recovery_point(),
            log_start_offset: 0,
            high_watermark: 8,
            config: &log.rig.config,
            now_ms: 0,
        };
        let (loaded, _) = Log::load(files, &args);
        let offsets: Vec<i64> = loaded
            .batches()
            .flat_map(|batch| batch.records().map(|record| record.offset).collect::<Vec<_>>())
            .collect();
        assert!(offsets.is_sorted_by(|a, b| a < b), "moment {number}: {offsets:?}");
        assert!(
            kept.iter().all(|offset| offsets.contains(offset)),
            "moment {number}: {offsets:?}"
        );
        assert!(
            offsets.iter().all(|offset| all.contains(offset)),
            "moment {number}: {offsets:?}"
        );
        assert_eq!(loaded.log_end_offset(), 8, "moment {number}");
        let mut names = loaded.file_list().into_iter().map(|file| file.name);
        assert!(!names.any(|name| name.ends_with(CLEANED_SUFFIX) || name.ends_with(SWAP_SUFFIX)));
        seen.push(offsets.len());
    }
    assert_eq!((seen.first(), seen.last()), (Some(&8), Some(&4)));
}

#[derive(Clone, Debug)]
enum Act {
    Append(Vec<(u8, bool)>),
    Roll,
    Flush,
    Clean,
    Sleep(i64),
    Kill,
    PowerLoss(usize),
    /// Somewhere above the high watermark.
    Truncate(usize),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => proptest::collection::vec((0..5u8, proptest::bool::weighted(0.8)), 1..4).prop_map(Act::Append),
        3 => Just(Act::Roll),
        1 => Just(Act::Flush),
        4 => Just(Act::Clean),
        2 => (1..200i64).prop_map(Act::Sleep),
        1 => Just(Act::Kill),
        1 => any::<usize>().prop_map(Act::PowerLoss),
        1 => any::<usize>().prop_map(Act::Truncate),
    ]
}

/// What was ever written and not cut off again.
type History = BTreeMap<i64, (u8, Option<String>)>;

/// The last value of each key; a deleted key has none.
fn last_values<'a>(records: impl Iterator<Item = &'a (u8, Option<String>)>) -> BTreeMap<u8, String> {
    let mut last = BTreeMap::new();
    for (key, value) in records {
        match value {
            Some(value) => last.insert(*key, value.clone()),
            None => last.remove(key),
        };
    }
    last
}

struct Compared {
    log: Cleaning,
    history: History,
    written: usize,
    slots: u64,
}

impl Compared {
    fn new(slots: u64) -> Compared {
        let mut log = Cleaning::new(400).with_slots(slots);
        log.rig.config.delete_retention_ms = 100;
        log.rig.config.index_interval_bytes = 100;
        Compared {
            log,
            history: History::new(),
            written: 0,
            slots,
        }
    }

    fn perform(&mut self, act: &Act) {
        match act {
            Act::Append(records) => self.append(records),
            Act::Roll => self.log.roll(),
            Act::Flush => _ = self.log.rig.log.flush_all(0),
            Act::Clean => self.clean(),
            Act::Sleep(ms) => self.log.rig.now += ms,
            Act::Kill => self.load(self.log.rig.log.to_files(), 0),
            Act::PowerLoss(cut) => self.power_loss(*cut),
            Act::Truncate(at) => self.truncate(*at),
        }
    }

    fn append(&mut self, records: &[(u8, bool)]) {
        let end = self.log.rig.log.log_end_offset();
        let mut batch = Vec::new();
        for (offset, (key, valued)) in (end..).zip(records) {
            self.written += 1;
            let value = valued.then(|| self.written.to_string());
            batch.push(Record::new(
                Some(&[*key]),
                value.as_deref().map(str::as_bytes),
                self.log.rig.now,
            ));
            self.history.insert(offset, (*key, value));
        }
        self.log.append(&Batch::build(&batch, None, Arc::default()));
    }

    /// Below the next dirty offset each key stands at most once, unless the map was too small to see it.
    fn clean(&mut self) {
        let end = self.log.rig.log.log_end_offset();
        let active = self.log.rig.log.active_segment().base_offset();
        self.log.rig.log.set_high_watermark(end);
        let cleanable = self.log.cleanable();
        if !cleanable.is_eligible(&self.log.rig.config) {
            return;
        }
        let untouched = |log: &Cleaning| {
            let records = log.records().into_iter();
            records.filter(|(offset, _)| *offset >= active).collect::<Vec<_>>()
        };
        let before = untouched(&self.log);
        let cleaned = self.log.clean();
        assert_eq!(untouched(&self.log), before, "the active segment was touched");
        let below: Vec<(i64, String)> = self
            .log
            .records()
            .into_iter()
            .filter(|(offset, _)| *offset < cleaned.end_offset)
            .collect();
        let keys: std::collections::BTreeSet<&String> = below.iter().map(|(_, key)| key).collect();
        assert!(
            self.slots <= 5 || keys.len() == below.len(),
            "a key stands twice: {below:?}"
        );
        assert!(self.slots <= 5 || cleaned.end_offset == active);
        assert_eq!(self.log.rig.log.log_end_offset(), end);
        assert_eq!(self.log.rig.log.active_segment().base_offset(), active);
    }

    fn load(&mut self, files: Files, recovery_point: i64) {
        let args = LoadArgs {
            shutdown: Shutdown::Unclean,
            recovery_point,
            log_start_offset: 0,
            // What was compacted was committed, and that is remembered.
            high_watermark: self.log.rig.log.high_watermark(),
            config: &self.log.rig.config,
            now_ms: self.log.rig.now,
        };
        self.log.rig.log = Log::load(files, &args).0;
    }

    /// What was flushed stays; of the rest a part, cut anywhere.
    fn power_loss(&mut self, cut: usize) {
        let recovery_point = self.log.rig.log.recovery_point();
        let mut files = self.log.rig.log.to_files();
        files.power_loss(Keep::BelowOffset(recovery_point + (cut % 10) as i64));
        self.load(files, recovery_point);
        let end = self.log.rig.log.log_end_offset();
        let flushed = self.history.range(end.min(recovery_point)..recovery_point).next();
        assert_eq!(flushed, None, "the log ends at {end}, below {recovery_point}");
        self.history.split_off(&end);
        // A checkpoint above the end is of no use, and a broker finds that out before anything is appended here.
        self.log.checkpoint = self.log.checkpoint.filter(|checkpoint| *checkpoint <= end);
    }

    fn truncate(&mut self, at: usize) {
        let log = &mut self.log.rig.log;
        // What is committed is never cut off by a sound leader.
        let (committed, end) = (log.high_watermark(), log.log_end_offset());
        let to = committed + (at % (end - committed + 1) as usize) as i64;
        let active = log.active_segment().base_offset();
        if let Some(gone) = log.truncate_to(to, &self.log.rig.config, self.log.rig.now).unwrap() {
            let first = gone.batches.iter().map(Batch::base_offset).min();
            self.history.split_off(&first.unwrap_or(to));
            if to < active {
                let active = log.active_segment().base_offset();
                self.log.checkpoint = self.log.checkpoint.map(|checkpoint| checkpoint.min(active));
            }
        }
    }

    fn check(&self) {
        let mut found: History = History::new();
        for batch in self.log.rig.log.batches() {
            assert!(batch.is_valid());
            for record in batch.records() {
                let value = record.value.map(|value| String::from_utf8_lossy(value).into_owned());
                let written = self.history.get(&record.offset);
                let read = (record.key.map_or(0, |key| key[0]), value);
                assert_eq!(Some(&read), written, "at {}", record.offset);
                assert!(
                    found.insert(record.offset, read).is_none(),
                    "{} stands twice",
                    record.offset
                );
            }
        }
        // Whoever reads the whole log ends with the same values as one who had read everything.
        assert_eq!(last_values(found.values()), last_values(self.history.values()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_compacted_log_tells_the_last_value_of_every_key(
        acts in proptest::collection::vec(act(), 1..60),
        slots in prop_oneof![Just(2u64), Just(5), Just(6)],
    ) {
        let mut compared = Compared::new(slots);
        for act in &acts {
            compared.perform(act);
            compared.check();
        }
    }
}
