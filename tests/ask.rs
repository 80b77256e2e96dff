//! Random operations on a log, performed by a real Kafka and by ours. `cargo xtask ask` brings the jars, compiles the
//! programs that ask Kafka, and says how in the environment.

#[path = "ask/generator.rs"]
mod generator;
#[path = "ask/wire.rs"]
mod wire;

mod dice;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use generator::Generator;
use highwater::conform::{self, Difference, Verdict};
use serde_json::Value;

/// How many operations a recording has.
const OPERATIONS: usize = 120;

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by `cargo xtask ask`"))
}

/// Has Kafka perform what a file says and write down what it did. It may come to its own end over that.
fn ask(class_path: &str, asked: &Path, answer: &Path, scratch: &Path) -> bool {
    let status = Command::new("java")
        .args([
            "-Xss2m",
            "-Xmx1g",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            class_path,
        ])
        .arg(format!("-Doracle.tmp={}", scratch.display()))
        .args(["oracle.Main", "record"])
        .args([asked, answer])
        .stderr(Stdio::null())
        .status()
        .expect("java runs");
    status.success() && answer.is_file()
}

#[derive(Default)]
struct Counts {
    recordings: usize,
    operations: u64,
    differ: usize,
    /// Recordings that end early, or are none, because Kafka itself could not open or close the log any more.
    broken: usize,
}

/// Compares, and says whether the recording is worth keeping.
fn compare(answer: &Path, counts: &mut Counts) -> bool {
    let text = fs::read_to_string(answer).expect("Kafka has written a recording");
    let reports = conform::replay(&text).expect("Kafka's recording can be read");
    for report in &reports {
        let Verdict::Replayed(replayed) = &report.verdict else {
            panic!("{report:?} was not replayed")
        };
        counts.recordings += 1;
        counts.operations += replayed.operations;
        counts.broken += usize::from(!replayed.skipped.is_empty());
        let Some(first) = replayed.differences.first() else {
            continue;
        };
        counts.differ += 1;
        println!("{}: {}", answer.display(), first.operation);
        for Difference { field, kafka, ours, .. } in &replayed.differences {
            let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
            println!("  {field}: Kafka {:.300}, ours {:.300}", shown(kafka), shown(ours));
        }
        return true;
    }
    false
}

#[test]
#[ignore = "asks a real Kafka: cargo xtask ask"]
fn a_real_log_does_what_ours_does() {
    let class_path = variable("HIGHWATER_ORACLE");
    let folder = PathBuf::from(variable("HIGHWATER_ASKED"));
    let number = |name: &str| variable(name).parse::<u64>().expect("a number");
    let (first, recordings) = (number("HIGHWATER_SEED"), number("HIGHWATER_RECORDINGS"));
    fs::create_dir_all(&folder).unwrap();
    let mut counts = Counts::default();
    for seed in first..first + recordings {
        let asked = folder.join(format!("random-{seed}.ops"));
        let answer = folder.join(format!("random-{seed}.jsonl"));
        let text = Generator::new(seed).and_then(|generator| generator.write(OPERATIONS));
        fs::write(&asked, text.unwrap_or_else(|error| panic!("seed {seed}: {error}"))).unwrap();
        let answered = ask(&class_path, &asked, &answer, &folder.join("scratch"));
        fs::remove_file(&asked).unwrap();
        if !answered {
            counts.broken += 1;
        } else if !compare(&answer, &mut counts) {
            fs::remove_file(&answer).unwrap();
        }
    }
    let Counts {
        recordings,
        operations,
        differ,
        broken,
    } = counts;
    println!("{recordings} recordings, {operations} operations, {differ} differ, {broken} ended by Kafka");
    assert_eq!(differ, 0, "the recordings that differ are in {}", folder.display());
}
