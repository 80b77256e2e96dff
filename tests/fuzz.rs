//! The harnesses of `fuzz/harness.rs` on damaged examples: the same each time, or for as long as
//! `HIGHWATER_FUZZ_SECONDS` says.

mod dice;
#[path = "fuzz/harness.rs"]
mod harness;

use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use dice::Dice;
use flate2::read::GzDecoder;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// So many bytes a harness may hold at most for inputs as small as these. Compressed batches may grow to
/// [`highwater::inspect::LARGEST_BATCH`], which damaged examples do not come near.
const MOST_BYTES: usize = 64 << 20;

/// How many damaged examples a harness gets in an ordinary test: fewer where one takes long.
fn rounds(harness: &str) -> usize {
    match harness {
        "scenario" | "recording" | "dump" => 80,
        "run" => 200,
        _ => 800,
    }
}

/// Numbers at which something happens.
const ODD: [i64; 10] = [
    0,
    1,
    -1,
    13,
    127,
    255,
    i32::MAX as i64,
    i32::MIN as i64,
    i64::MAX,
    i64::MIN,
];

/// Damages an example once.
fn damage(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(bytes.len());
    let until = (at + 1 + dice.below(24)).min(bytes.len());
    match dice.below(9) {
        _ if bytes.is_empty() => bytes.push(dice.below(256) as u8),
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = dice.below(256) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..until)),
        4 => {
            let copy = bytes[at..until].to_vec();
            bytes.splice(at..at, copy);
        }
        5 => bytes[at..until].fill(0),
        6 => {
            let number = ODD[dice.below(ODD.len())].to_be_bytes();
            let from = [0, 4, 6][dice.below(3)];
            bytes.splice(at..(at + 8 - from).min(bytes.len()), number[from..].iter().copied());
        }
        7 => odd_number(bytes, at, dice),
        _ => {
            let from = dice.below(other.len());
            let part = &other[from..(from + 1 + dice.below(40)).min(other.len())];
            bytes.splice(at..at, part.iter().copied());
        }
    }
}

/// Puts another number in the place of the decimal one that stands at or behind a position.
fn odd_number(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(from) = bytes[at..].iter().position(digit).map(|from| at + from) else {
        return;
    };
    let until = bytes[from..]
        .iter()
        .position(|byte| !digit(byte))
        .map_or(bytes.len(), |end| from + end);
    bytes.splice(from..until, ODD[dice.below(ODD.len())].to_string().bytes());
}

fn read_recordings(name: &str, lines: usize) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(name);
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text.lines().take(lines).map(str::to_owned).collect()
}

/// The files that the first recordings end with.
fn recorded_files(recorded: &[String]) -> Vec<(String, Vec<u8>)> {
    let lasts = recorded.iter().filter(|line| line.starts_with(r#"{"files":"#));
    let files = lasts.flat_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["files"].as_object().unwrap().clone().into_iter()
    });
    let bytes = |file: &serde_json::Value| {
        base64::engine::general_purpose::STANDARD
            .decode(file["base64"].as_str().unwrap())
            .unwrap()
    };
    files.map(|(name, file)| (name, bytes(&file))).collect()
}

/// The longest example. Longer ones take long and show nothing that these do not.
const LONGEST: usize = 64 << 10;

/// The files of a folder whose names end so, in the order of their names.
fn read_all(folder: &str, kind: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == kind));
    paths.sort();
    let read = paths.iter().map(|path| fs::read(path).unwrap());
    read.filter(|bytes| bytes.len() <= LONGEST).collect()
}

/// Sound examples for a harness: recorded files and recordings, stories, checkpoints.
fn corpus(harness: &str) -> Vec<Vec<u8>> {
    let recorded = read_recordings("storage.jsonl.gz", 400);
    let files = recorded_files(&recorded);
    let of_kind = |kind: &str| -> Vec<Vec<u8>> {
        let named = files.iter().filter(|(name, _)| name.ends_with(kind));
        named.map(|(_, bytes)| bytes.clone()).collect()
    };
    match harness {
        "batch" => [of_kind(".log"), vec![compressed()]].concat(),
        // Both halves of an input are as long as each other: the index over and over, then the log.
        "index" => {
            let pairs = of_kind(".index").into_iter().zip(of_kind(".log"));
            let halves = pairs.filter(|(index, log)| !index.is_empty() && !log.is_empty());
            halves
                .map(|(index, log)| [index.iter().copied().cycle().take(log.len()).collect(), log].concat())
                .collect()
        }
        "snapshot" => of_kind(".snapshot"),
        "checkpoint" => {
            let texts = [
                "0\n2\n0 0\n3 17\n",
                "0\n1\npayments 2 9\n",
                "",
                "# x\nversion=1\nnode.id=1\n",
                "version: 0\ntopic_id: a\n",
            ];
            texts.map(|text| text.as_bytes().to_vec()).to_vec()
        }
        "scenario" | "run" => read_all("tests/stories", "txt"),
        "recording" => {
            let storage = [1usize, 2, 8, 20].map(|lines| recorded[..lines].join("\n").into_bytes());
            let controller = read_recordings("controller.jsonl.gz", 12).join("\n").into_bytes();
            let cluster = read_recordings("cluster.jsonl.gz", 5).join("\n").into_bytes();
            let assignors = read_recordings("assignors.jsonl.gz", 1).join("\n").into_bytes();
            let others = [controller, cluster, assignors].into_iter().chain(partitioner());
            storage.into_iter().chain(others).collect()
        }
        _ => [
            of_kind(".log"),
            of_kind(".index"),
            of_kind(".snapshot"),
            vec![compressed()],
        ]
        .concat(),
    }
}

/// The first few entries of each recording of a producer's choice of partitions.
fn partitioner() -> Vec<Vec<u8>> {
    let text = read_recordings("partitioner.json.gz", usize::MAX).join("\n");
    let recordings = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
    let shortened = recordings.map(|recording| {
        let mut recording = recording.unwrap();
        let lists = recording.as_object_mut().unwrap().values_mut();
        lists
            .filter_map(|value| value.as_array_mut())
            .for_each(|list| list.truncate(3));
        recording.to_string().into_bytes()
    });
    shortened.collect()
}

/// Batches in all ways of compression, as Kafka's own library wrote them.
fn compressed() -> Vec<u8> {
    let story = include_str!("dump/d06-compressed.txt");
    let digits: String = story.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// Runs one input, and says what was wrong with it.
fn tried(harness: harness::Harness, bytes: &[u8]) -> Result<(), String> {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let outcome = catch_unwind(AssertUnwindSafe(|| harness(bytes)));
    let used = MEMORY.peak_usage().saturating_sub(before);
    match outcome {
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
            Err(format!("panicked: {}", said.unwrap_or_default()))
        }
        Ok(()) if used > MOST_BYTES => Err(format!("held {used} bytes")),
        Ok(()) => Ok(()),
    }
}

/// One test, since memory is measured for the whole process.
#[test]
fn no_bytes_break_a_parser() {
    let seconds = std::env::var("HIGHWATER_FUZZ_SECONDS")
        .ok()
        .and_then(|seconds| seconds.parse::<u64>().ok());
    let mut faults = String::new();
    for (name, harness) in harness::ALL {
        let corpus = corpus(name);
        assert!(corpus.len() >= 4, "{name} has {} examples", corpus.len());
        let mut dice = Dice(seconds.map_or(1, |_| std::process::id().into()));
        let begun = Instant::now();
        let mut done = 0;
        let more = |done| {
            seconds.map_or(done < rounds(name), |seconds| {
                begun.elapsed() < Duration::from_secs(seconds)
            })
        };
        while more(done) {
            let mut bytes = corpus[dice.below(corpus.len())].clone();
            let other = &corpus[dice.below(corpus.len())];
            (0..dice.below(4)).for_each(|_| damage(&mut bytes, other, &mut dice));
            if let Err(fault) = tried(harness, &bytes) {
                faults += &format!("{name}, round {done}: {fault}\n{}\n", bytes.escape_ascii());
                break;
            }
            done += 1;
        }
        println!(
            "{name}: {done} damaged examples in {:.1} s",
            begun.elapsed().as_secs_f32()
        );
    }
    let _ = fs::remove_dir_all(std::env::temp_dir().join(format!("highwater-fuzz-{}", std::process::id())));
    assert!(faults.is_empty(), "{faults}");
}
