//! Random operations on a log, performed by a real Kafka and by ours. `cargo xtask ask` brings the jars, compiles the
//! programs that ask Kafka, and says how in the environment.

#[path = "ask/generator.rs"]
mod generator;
#[path = "ask/wire.rs"]
mod wire;

mod dice;

use std::fs;
use std::io::Write;
use std::ops::Range;
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

/// A Java that finds Kafka.
fn java(class_path: &str) -> Command {
    let mut java = Command::new("java");
    java.args(["-Xss2m", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .args(["-cp", class_path])
        .stderr(Stdio::null());
    java
}

/// Has Kafka perform what files say (`NAME.ops`) and write down what it did (`NAME.jsonl`). It may come to its own end over
/// one of them, and then there is no answer; where that takes Java along, the rest is asked of another.
fn ask(class_path: &str, names: &[PathBuf], scratch: &Path) {
    let mut rest = names;
    while !rest.is_empty() && !ask_one_java(class_path, rest, scratch) {
        let answered = rest.iter().rposition(|name| name.with_extension("jsonl").is_file());
        let next = answered.map_or(1, |last| last + 2).min(rest.len());
        rest = &rest[next..];
    }
}

/// Says whether Java has come through to the end.
fn ask_one_java(class_path: &str, names: &[PathBuf], scratch: &Path) -> bool {
    let mut asked = java(class_path)
        .arg("oracle.RecordAll")
        .arg(scratch)
        .stdin(Stdio::piped())
        .spawn()
        .expect("java runs");
    let lines: String = names.iter().map(|name| format!("{}\n", name.display())).collect();
    let mut input = asked.stdin.take().expect("the input is a pipe");
    // A Java that is gone reads no more.
    let told = input.write_all(lines.as_bytes());
    drop(input);
    asked.wait().expect("java ends").success() && told.is_ok()
}

/// Has the programs make recordings of their own kinds. Names them.
fn ask_of_kinds(class_path: &str, kinds: &str, seeds: Range<u64>, folder: &Path) -> Vec<PathBuf> {
    let status = java(class_path)
        .arg(format!("-Doracle.tmp={}", folder.join("scratch").display()))
        .args(["oracle.Main", "generate"])
        .arg(folder)
        .args([kinds.to_owned(), seeds.start.to_string(), (seeds.end - 1).to_string()])
        .status();
    assert!(
        status.expect("java runs").success(),
        "the programs know other kinds than {kinds}"
    );
    let made = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<PathBuf> = made.map(|entry| entry.expect("an entry").path()).collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "jsonl"));
    names.iter_mut().for_each(|name| _ = name.set_extension(""));
    names.sort();
    names
}

/// Makes operations up, and has Kafka perform them.
fn ask_at_random(class_path: &str, seeds: Range<u64>, folder: &Path) -> Vec<PathBuf> {
    let names: Vec<PathBuf> = seeds
        .clone()
        .map(|seed| folder.join(format!("random-{seed}")))
        .collect();
    for (seed, name) in seeds.zip(&names) {
        let text = Generator::new(seed).and_then(|generator| generator.write(OPERATIONS));
        let text = text.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        fs::write(name.with_extension("ops"), text).expect("the folder is there");
    }
    ask(class_path, &names, &folder.join("scratch"));
    for name in &names {
        fs::remove_file(name.with_extension("ops")).expect("it was written");
    }
    names
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
    // What an earlier run has kept is not this one's.
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let seeds = first..first + recordings;
    let names = match std::env::var("HIGHWATER_KINDS") {
        Ok(kinds) => ask_of_kinds(&class_path, &kinds, seeds, &folder),
        Err(_) => ask_at_random(&class_path, seeds, &folder),
    };
    let mut counts = Counts::default();
    for name in names {
        let answer = name.with_extension("jsonl");
        if !answer.is_file() {
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
