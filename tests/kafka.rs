//! What a real Kafka says of the files that we write and read: its `DumpLogSegments` against `highwater dump`, line by line,
//! its log loader against ours, and its leader of a partition against ours. `cargo xtask test --only kafka` brings the jars and
//! says in `HIGHWATER_KAFKA` where they are.

mod dice;
#[path = "kafka/lead.rs"]
mod lead;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use dice::Dice;
use flate2::read::GzDecoder;
use highwater::cli::{dump, run};
use highwater::cluster::World;
use highwater::log::{Files, LoadArgs, Log, Shutdown};
use highwater::scenario::{Run, parse};

/// A folder that is gone when the test is.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("highwater-kafka-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// All files below, in the order of their paths.
    fn files(&self) -> Vec<PathBuf> {
        fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    collect(&path, found)
                } else {
                    found.push(path)
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.0, &mut found);
        found.sort();
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What one of the Java programs answers to some lines.
fn java(program: &str, lines: &[String]) -> Vec<u8> {
    let jars = std::env::var("HIGHWATER_KAFKA").expect("HIGHWATER_KAFKA names the class path");
    let mut child = Command::new("java")
        .args([
            "-Xmx1g",
            "-XX:TieredStopAtLevel=1",
            "-Dfile.encoding=UTF-8",
            "-cp",
            &jars,
            program,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("java can be started");
    let mut input = child.stdin.take().unwrap();
    let asked = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let mut answer = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
    writer.join().unwrap().expect("java reads all of its input");
    assert!(child.wait().unwrap().success(), "{program} failed");
    answer
}

/// What the real tool printed of one file.
struct Dumped {
    out: String,
    err: Vec<String>,
    /// The exception that ended it, if one did.
    thrown: Option<String>,
}

/// What the real tool prints of files.
fn kafka_dumps(files: &[PathBuf]) -> Vec<Dumped> {
    let commands: Vec<String> = files
        .iter()
        .map(|file| format!("--print-data-log\t--files\t{}", file.display()))
        .collect();
    let answer = java("Dump", &commands);
    let mut rest = answer.as_slice();
    let mut dumped = Vec::new();
    while let Some(line) = rest.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&rest[..line]).into_owned();
        let words: Vec<&str> = head.splitn(3, ' ').collect();
        let (out, err): (usize, usize) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        let body = &rest[line + 1..];
        let err_text = String::from_utf8_lossy(&body[out..out + err]).into_owned();
        dumped.push(Dumped {
            out: String::from_utf8_lossy(&body[..out]).into_owned(),
            err: err_text.lines().map(str::to_owned).collect(),
            thrown: (words[2].trim() != "ok").then(|| words[2].to_owned()),
        });
        rest = &body[out + err..];
    }
    assert_eq!(dumped.len(), files.len(), "an answer for each file");
    dumped
}

/// What ours prints of one file: output, the complaints that are Kafka's too, and what it says of damage.
fn our_dump(file: &Path) -> (String, Vec<String>, Vec<String>, dump::Status) {
    let arguments = dump::Arguments {
        print_data_log: true,
        paths: vec![file.to_owned()],
        ..Default::default()
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = dump::run(&arguments, &mut out, &mut err).unwrap();
    // A fault is told of the file that has it, which may be one that lies beside.
    let own = format!("{}.", file.with_extension("").display());
    let err = String::from_utf8_lossy(&err).into_owned();
    let (ours, kafkas): (Vec<String>, Vec<String>) =
        err.lines().map(str::to_owned).partition(|line| line.starts_with(&own));
    (String::from_utf8_lossy(&out).into_owned(), kafkas, ours, status)
}

/// The files that the real tool reads.
fn of_segments(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let kinds = ["log", "index", "timeindex", "txnindex", "snapshot"];
    let read = |path: &PathBuf| {
        path.extension()
            .is_some_and(|kind| kinds.iter().any(|known| kind == *known))
    };
    files.into_iter().filter(read).collect()
}

/// Compares both tools on these files. The real one is asked last: it may write to what it reads.
fn compare(files: &[PathBuf]) {
    let ours: Vec<_> = files.iter().map(|file| our_dump(file)).collect();
    let mut differ = String::new();
    for ((file, kafka), (out, err, damage, status)) in files.iter().zip(kafka_dumps(files)).zip(ours) {
        if unread(&file.with_extension("log")) {
            continue;
        }
        let same_lines = first_difference(&kafka.out, &out);
        if let Some((kafka, ours)) = same_lines {
            let _ = writeln!(differ, "{}:\n  Kafka {kafka}\n  ours  {ours}", file.display());
        }
        // A stack trace takes the place of complaints. In a log that goes back Kafka sorts the holes.
        let sorted = damage.iter().any(|line| line.contains("a batch begins at offset"));
        if kafka.thrown.is_none() && kafka.err != err && !sorted {
            let _ = writeln!(differ, "{}:\n  Kafka {:?}\n  ours  {err:?}", file.display(), kafka.err);
        }
        if let Some(thrown) = kafka.thrown.filter(|_| status == dump::Status::Sound) {
            let _ = writeln!(differ, "{}: sound for us, and Kafka ends with {thrown}", file.display());
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

/// Whether a segment holds what only the real tool reads: message formats before 2, and batches that are shorter than their
/// header, of which it shows what lies behind them.
fn unread(log: &Path) -> bool {
    let (.., damage, _) = our_dump(log);
    let unread = ["the magic is", "the length field leaves no room"];
    damage.iter().any(|line| unread.iter().any(|what| line.contains(what)))
}

fn first_difference(kafka: &str, ours: &str) -> Option<(String, String)> {
    let (mut kafka, mut ours) = (kafka.lines(), ours.lines());
    loop {
        match (kafka.next(), ours.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => return Some((a.unwrap_or("nothing").to_owned(), b.unwrap_or("nothing").to_owned())),
        }
    }
}

/// The files that each recording ends with.
fn recorded() -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let mut all = BTreeMap::new();
    for name in ["storage", "storage-found"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recordings/{name}.jsonl.gz"));
        let mut text = String::new();
        GzDecoder::new(fs::File::open(path).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        let lasts = text.lines().filter(|line| line.starts_with(r#"{"files":"#));
        for (at, line) in lasts.enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let file = |(name, file): (&String, &serde_json::Value)| {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(file["base64"].as_str().unwrap())
                    .unwrap();
                (name.clone(), bytes)
            };
            all.insert(
                format!("{name}-{at}"),
                line["files"].as_object().unwrap().iter().map(file).collect(),
            );
        }
    }
    all
}

#[test]
#[ignore = "asks a real Kafka: cargo xtask test --only kafka"]
fn recorded_files_are_dumped_alike() {
    let scratch = Scratch::new("recorded");
    let all = recorded();
    assert!(all.len() >= 270, "{} recordings", all.len());
    for (recording, files) in &all {
        let folder = scratch.0.join(recording);
        fs::create_dir_all(&folder).unwrap();
        files
            .iter()
            .for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
    }
    compare(&of_segments(scratch.files()));
}

/// Damages a file as crashes and disks do: cut, zeroed from a byte on, a bit flipped, zeros or other bytes behind it.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.below(bytes.len());
    match dice.below(5) {
        0 => bytes.truncate(at),
        1 => bytes[at..].fill(0),
        2 => bytes[at] ^= 1 << dice.below(8),
        3 => bytes.resize(bytes.len() + 1 + dice.below(60), 0),
        _ => (0..1 + dice.below(60)).for_each(|_| bytes.push(dice.below(256) as u8)),
    }
}

#[test]
#[ignore = "asks a real Kafka: cargo xtask test --only kafka"]
fn damaged_files_are_dumped_alike() {
    let scratch = Scratch::new("damaged");
    let all: Vec<_> = recorded().into_values().collect();
    let mut dice = Dice(7);
    for case in 0..400 {
        let files = &all[dice.below(all.len())];
        let (hurt, _) = &files[dice.below(files.len())];
        let folder = scratch.0.join(case.to_string());
        fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in files.iter().filter(|(name, _)| name.get(..20) == hurt.get(..20)) {
            let mut bytes = bytes.clone();
            if name == hurt && !bytes.is_empty() {
                damage(&mut bytes, &mut dice);
            }
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
    compare(&of_segments(scratch.files()));
}

/// Stories that end with disks worth reading: rolled segments, retention, holes, crashes, torn and flipped bytes.
const STORIES: [&str; 8] = [
    "c12-retention-bytes-plus-a-segment",
    "c33-sparse-index-of-a-canary",
    "c34-batches-decide-index-density",
    "c38-closing-time-entry",
    "c76-torn-batch",
    "c77-bad-early-segment",
    "s18-delete-records",
    "s22-epoch-divergence",
];

fn story(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/stories/{name}.txt"))
}

#[test]
#[ignore = "asks a real Kafka: cargo xtask test --only kafka"]
fn written_files_are_dumped_alike() {
    let scratch = Scratch::new("written");
    for name in STORIES {
        let arguments = run::Arguments {
            write_to: Some(scratch.0.join(name)),
            files: vec![story(name).display().to_string()],
            ..Default::default()
        };
        let status = run::run(
            &arguments,
            &mut std::io::empty(),
            &mut std::io::sink(),
            &mut std::io::stderr(),
        )
        .unwrap();
        assert_eq!(status, run::Status::Holds, "{name}");
    }
    let files = of_segments(scratch.files());
    assert!(files.len() > 50, "{} files", files.len());
    compare(&files);
}

/// Crashes after which every log is loaded by a real Kafka and by us. Producers, rolls and epochs come before them.
const CRASHES: [(&str, &str); 4] = [
    ("killed", "kill 1,2,3\n"),
    ("power-cut", "power-off 1\npower-off 2 keep=cache\nkill 3\n"),
    ("torn", "power-off 1 keep=cache\nkill 2\nkill 3\ntear payments-0@1\n"),
    ("stopped", "stop 1\nrun until quiet\nstop 2\nrun until quiet\nkill 3\n"),
];

const BEFORE_THE_CRASH: &str = "\
brokers 3
topic payments replicas=3 segment.bytes=2048 index.interval.bytes=200 segment.index.bytes=1024
producer app acks=all enable.idempotence=true batch.size=400 linger.ms=0
producer other acks=1 batch.size=0
send app payments value=100 count=200
run until acked
send other payments key=k value=a-longer-value-{n} count=30
run for 65s
kill 1
run until leader payments-0 = 2
start 1
run until quiet
send app payments value=90 count=90
run until acked
";

/// When the logs are loaded, in milliseconds since 1970: some minutes after the crash.
const NOW_MS: i64 = 1_700_000_600_000;

/// What our loader recovers of a partition, in the words of `Load.java`.
fn recovered(world: &World, broker: u16) -> Option<String> {
    let tp = *world.partitions().first()?;
    let broker = world.broker(highwater::cluster::BrokerId(broker))?;
    let replica = broker.replica(tp)?;
    let (files, checkpoints): (Files, _) = (replica.files(), replica.checkpoints());
    let config = highwater::log::LogConfig {
        segment_bytes: 2048,
        index_interval_bytes: 200,
        segment_index_bytes: 1024,
        ..Default::default()
    };
    let args = LoadArgs {
        shutdown: if broker.host().clean.is_some() {
            Shutdown::Clean
        } else {
            Shutdown::Unclean
        },
        recovery_point: checkpoints.recovery_point,
        log_start_offset: checkpoints.log_start,
        high_watermark: checkpoints.high_watermark,
        config: &config,
        now_ms: NOW_MS,
    };
    Some(told(&Log::load(files, &args).0))
}

fn told(log: &Log) -> String {
    let mut told = format!(
        "start={} end={} hw={} recoveryPoint={}",
        log.log_start_offset(),
        log.log_end_offset(),
        log.high_watermark(),
        log.recovery_point()
    );
    for segment in log.segments() {
        let (offsets, times) = (segment.offset_index().len(), segment.time_index().len());
        let _ = write!(
            told,
            " segment={}:{}:{}:{offsets}:{times}",
            segment.base_offset(),
            segment.size(),
            segment.max_timestamp_so_far()
        );
    }
    for epoch in log.epochs().entries() {
        let _ = write!(told, " epoch={}:{}", epoch.epoch, epoch.start_offset);
    }
    for (id, producer) in log.producers().entries() {
        let _ = write!(
            told,
            " producer={id}:{}:{}:{}",
            producer.epoch,
            producer.last_data_offset(),
            producer.batches.len()
        );
    }
    told
}

#[test]
#[ignore = "asks a real Kafka: cargo xtask test --only kafka"]
fn a_real_log_recovers_what_ours_does() {
    let scratch = Scratch::new("recovered");
    let (mut lines, mut ours) = (Vec::new(), Vec::new());
    for (name, crash) in CRASHES {
        let text = format!("{BEFORE_THE_CRASH}{crash}");
        let script = scratch.0.join(format!("{name}.txt"));
        fs::write(&script, &text).unwrap();
        let folder = scratch.0.join(name);
        let arguments = run::Arguments {
            write_to: Some(folder.clone()),
            files: vec![script.display().to_string()],
            ..Default::default()
        };
        let status = run::run(
            &arguments,
            &mut std::io::empty(),
            &mut std::io::stderr(),
            &mut std::io::stderr(),
        )
        .unwrap();
        assert_eq!(status, run::Status::Holds, "{name}");
        let mut replayed = Run::new(std::sync::Arc::new(parse(text.as_bytes()).unwrap())).unwrap();
        replayed.play(None, |_, _| {});
        for broker in 1..=3 {
            let directory = folder.join(format!("broker-{broker}"));
            let config = "internal.segment.bytes=2048\tindex.interval.bytes=200\tsegment.index.bytes=1024";
            lines.push(format!("{}\tpayments\t0\t{NOW_MS}\t{config}", directory.display()));
            ours.push((
                format!("{name}, broker {broker}"),
                recovered(&replayed.world, broker).unwrap(),
            ));
        }
    }
    let answer = String::from_utf8(java("Load", &lines)).unwrap();
    let kafka: Vec<&str> = answer.lines().filter(|line| line.starts_with("start=")).collect();
    assert_eq!(kafka.len(), ours.len(), "{answer}");
    for ((name, ours), kafka) in ours.iter().zip(kafka) {
        assert_eq!(ours, kafka, "{name}");
        assert!(
            ours.matches("segment=").count() > 1,
            "{name}: a log worth recovering, not {ours}"
        );
    }
}
