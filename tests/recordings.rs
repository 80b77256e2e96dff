//! Replays what a real Kafka 4.4.0 did and wrote. Each file in `recordings/` holds all recordings of one kind.

use flate2::read::GzDecoder;
use highwater::conform::{self, Verdict};
use serde_json::{Value, json};
use std::io::Read;
use std::{fs, path::Path};

fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(file);
    let mut text = String::new();
    GzDecoder::new(fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// Replays a file and checks how much of it there was, so that nothing is left out unnoticed. Gives how much was skipped
/// and how much left to chance.
fn all_same(file: &str, recordings: usize, operations: u64) -> (usize, usize) {
    let reports = conform::replay(&text(file)).unwrap();
    let (mut compared, mut skipped, mut chance) = (0, 0, 0);
    for report in &reports {
        let Verdict::Replayed(replayed) = &report.verdict else {
            panic!("{report:?} was not replayed")
        };
        assert_eq!(replayed.differences, [], "{:?}", report.title);
        compared += replayed.operations;
        skipped += replayed.skipped.len();
        chance += replayed.chance.len();
    }
    assert_eq!((reports.len(), compared), (recordings, operations));
    (skipped, chance)
}

#[test]
fn the_controller_decides_as_recorded() {
    all_same("controller.jsonl.gz", 175, 5_085);
}

#[test]
fn producers_choose_partitions_as_recorded() {
    all_same("partitioner.json.gz", 2, 1_140);
}

#[test]
fn groups_share_their_partitions_as_recorded() {
    all_same("assignors.jsonl.gz", 156, 716);
}

#[test]
fn logs_are_kept_as_recorded() {
    all_same("storage.jsonl.gz", 270, 10_605);
}

/// Recordings of random operations in which this log, this controller or an assignor once differed.
#[test]
fn what_once_differed_stays_mended() {
    all_same("controller-found.jsonl.gz", 7, 48);
    all_same("assignors-found.jsonl.gz", 1, 1);
    all_same("storage-found.jsonl.gz", 64, 792);
}

#[test]
fn a_cluster_comes_through_failures_as_recorded() {
    assert_eq!(all_same("cluster.jsonl.gz", 46, 777), (8, 2));
}

/// Situations that were recorded later: some once differed, the others stand beside them.
#[test]
fn a_cluster_comes_through_other_failures_as_recorded() {
    assert_eq!(all_same("cluster-found.jsonl.gz", 42, 991), (8, 16));
}

/// The recording of a cluster whose title begins so: its lines.
fn cluster(title: &str) -> Vec<Value> {
    let text = text("cluster.jsonl.gz");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_it = |line: &Value| line["title"].as_str().is_some_and(|own| own.starts_with(title));
    let mut lines = lines.skip_while(|line| !is_it(line));
    let header = lines.next().expect("there is one with this title");
    let own = lines.take_while(|line| line.get("kind").is_none());
    std::iter::once(header).chain(own).collect()
}

/// What chance may explain is little: an observation that is not the real one's differs.
#[test]
fn another_observation_of_a_cluster_differs() {
    let healthy = "acks=0, 1 and all on a healthy partition";
    let group = "Consumer group of two";
    let consumes = |line: &Value| line.pointer("/observed/records/0").is_some();
    let first_read = cluster(group).iter().position(consumes).expect("somebody reads");
    let end = cluster(healthy).len() - 1;
    for (title, line, field, other) in [
        (healthy, 3, "/observed/results/0/offset", json!(3)),
        (healthy, 2, "/observed/state/t-0/leo/3", json!(1)),
        (healthy, 2, "/observed/state/t-0/leaderEpoch", json!(1)),
        (healthy, end, "/checkpoints/t-0/2/hw", json!(8)),
        (healthy, end, "/checkpoints/t-0/2/recoveryPoint", json!(9)),
        (healthy, end, "/logs/t-0/3/8/3", json!("d1")),
        (group, first_read, "/observed/records/0", json!(["t-0", 7])),
    ] {
        let mut recording = cluster(title);
        *recording[line].pointer_mut(field).expect("the field is there") = other;
        let text: Vec<String> = recording.iter().map(Value::to_string).collect();
        let reports = conform::replay(&text.join("\n")).unwrap();
        let Verdict::Replayed(replayed) = &reports[0].verdict else {
            panic!("{title} was not replayed")
        };
        assert_ne!(replayed.differences, [], "{title}, line {line}: {field}");
    }
}
