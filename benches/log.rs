//! What one partition's log costs: appending, reading, recovering, and the memory that records take. Rows as in `engine`.
//!
//! Records have values of 100 bytes and come in batches of 16 KiB. Rates are given as the time for a round number.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use highwater::cluster::input::{Destination, Send, Template};
use highwater::cluster::{BrokerId, ClientId, Input, Setup, Silent, TopicId, World, step};
use highwater::log::{Batch, FirstBatch, Isolation, LoadArgs, Log, LogConfig, Origin, Record, Shutdown};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The records of a batch of 16 KiB.
const IN_BATCH: usize = 148;

fn main() -> ExitCode {
    let config = LogConfig::default();
    let times = [
        (
            "append 1,000,000 records to a log",
            appended(&config, 1_000_000),
            Duration::from_secs(1),
        ),
        (
            "read 1,000,000 records of a log",
            read(&config, 1_000_000),
            Duration::from_millis(200),
        ),
        (
            "recover a log of 100 MB after a crash",
            recovered(&config, 100_000_000),
            Duration::from_millis(200),
        ),
    ];
    let mut over = false;
    for (what, found, budget) in times {
        over |= found > budget;
        let mark = if found > budget { " **over**" } else { "" };
        println!("| {what} | {found:.2?}{mark} | {budget:.0?} |");
    }
    let (bytes, budget) = (memory_per_record(200_000), 200);
    over |= bytes > budget;
    let mark = if bytes > budget { " **over**" } else { "" };
    println!("| memory for a record of 100 bytes on three brokers | {bytes} bytes{mark} | {budget} bytes |");
    if over { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Batches that differ, as a producer would send them.
fn batches() -> Vec<Batch> {
    let batch = |number: u8| {
        let value = [number; 100];
        let record = Record::new(None, Some(&value), 1_700_000_000_000);
        Batch::build(&vec![record; IN_BATCH], None, Arc::default())
    };
    let all: Vec<Batch> = (0..64).map(batch).collect();
    assert!(
        all.iter()
            .all(|batch| (16_200..=16_384).contains(&batch.size_in_bytes()))
    );
    all
}

/// A log of at least so many records, everything committed.
fn filled(config: &LogConfig, records: usize) -> Log {
    let batches = batches();
    let mut log = Log::create(0, config, 1_700_000_000_000);
    for batch in batches.iter().cycle().take(records.div_ceil(IN_BATCH)) {
        log.append_as_leader(batch, 0, Origin::Client, config, 1_700_000_000_000)
            .expect("the batch is sound");
    }
    log.set_high_watermark(i64::MAX);
    log
}

fn median(mut run: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..5).map(|_| run()).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn appended(config: &LogConfig, records: usize) -> Duration {
    median(|| {
        let begun = Instant::now();
        black_box(filled(config, records));
        begun.elapsed()
    })
}

/// Fetches of 1 MiB, as a consumer's, and every record of them.
fn read(config: &LogConfig, records: usize) -> Duration {
    let mut log = filled(config, records);
    median(|| {
        let begun = Instant::now();
        let (mut next, mut seen, mut bytes) = (0, 0, 0);
        while next < log.log_end_offset() {
            let fetched = log
                .fetch(next, Isolation::HighWatermark, 1 << 20, FirstBatch::Whole)
                .expect("the offset is in range");
            for batch in &fetched.batches {
                for record in batch.records() {
                    seen += 1;
                    bytes += record.value.map_or(0, <[u8]>::len);
                }
                next = batch.next_offset();
            }
        }
        assert!(seen >= records && bytes >= 100 * records);
        begun.elapsed()
    })
}

/// Everything is read again, as if no recovery point had been written.
fn recovered(config: &LogConfig, bytes: usize) -> Duration {
    let log = filled(config, bytes / 16_384 * IN_BATCH);
    let files = log.to_files();
    median(|| {
        let args = LoadArgs {
            shutdown: Shutdown::Unclean,
            recovery_point: 0,
            log_start_offset: 0,
            high_watermark: 0,
            config,
            now_ms: 1_700_000_000_000,
        };
        let files = files.clone();
        let begun = Instant::now();
        let (loaded, _) = Log::load(files, &args);
        let found = begun.elapsed();
        assert_eq!(loaded.log_end_offset(), log.log_end_offset());
        found
    })
}

/// What a world of three brokers grows by, for each record that all of them hold.
fn memory_per_record(records: u32) -> usize {
    let mut world = World::new(Setup::default());
    let topic = Input::CreateTopic {
        name: "t".into(),
        assignment: vec![(1..=3).map(BrokerId).collect()],
        config: Vec::new(),
    };
    let producer = Input::AddProducer("app".into(), Box::default());
    for input in [topic, producer] {
        step(&mut world, input, &mut Silent).expect("the set-up applies");
    }
    let before = MEMORY.current_usage();
    let send = Send {
        to: Destination::Topic(TopicId(0)),
        key: Template::Null,
        value: Template::Bytes(vec![b'x'; 100].into()),
        timestamp: None,
        headers: Arc::new([]),
        count: records,
        every: None,
    };
    step(&mut world, Input::Send(ClientId(0), Box::new(send)), &mut Silent).expect("the producer runs");
    while world.undecided() > 0 || !world.is_quiet() {
        step(&mut world, Input::Next, &mut Silent).expect("something is pending");
    }
    (MEMORY.current_usage() - before) / records as usize
}
