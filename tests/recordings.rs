//! Replays what a real Kafka 4.4.0 did and wrote. Each file in `recordings/` holds all recordings of one kind.

use flate2::read::GzDecoder;
use highwater::conform::{self, Verdict};
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

/// Replays a file and checks how much of it there was, so that nothing is left out unnoticed.
fn all_same(file: &str, recordings: usize, operations: u64) {
    let reports = conform::replay(&text(file)).unwrap();
    let mut compared = 0;
    for report in &reports {
        let Verdict::Replayed(replayed) = &report.verdict else {
            panic!("{report:?} was not replayed")
        };
        assert_eq!(replayed.differences, [], "{:?}", report.title);
        compared += replayed.operations;
    }
    assert_eq!((reports.len(), compared), (recordings, operations));
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
    all_same("storage-found.jsonl.gz", 64, 268 + 229 + 14 + 93 + 79 + 78 + 22 + 7 + 2);
}

#[test]
fn a_cluster_comes_through_failures_as_recorded() {
    all_same("cluster.jsonl.gz", 46, 777);
}

/// Situations that were recorded later: some once differed, the others stand beside them.
#[test]
fn a_cluster_comes_through_other_failures_as_recorded() {
    all_same("cluster-found.jsonl.gz", 42, 991);
}
