//! The house stands on its floors: a room uses none but those below it, by what its files import.
//!
//! Tests inside a room may use whatever they need.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every room of `src`, from the ground up, with those that it may use. All of them stand above it in this list, so that
/// there are no circles.
const ROOMS: [(&str, &[&str]); 16] = [
    ("checksum", &[]),
    ("sorted", &[]),
    ("linked", &[]),
    ("log", &["checksum", "sorted"]),
    ("wal", &["checksum"]),
    // What a log obeys of the configs is the log's own type.
    ("config", &["log", "sorted"]),
    ("cluster", &["log", "config", "linked", "sorted"]),
    ("ledger", &["log", "config", "cluster", "sorted"]),
    ("scenario", &["log", "config", "cluster", "ledger", "linked", "sorted"]),
    ("history", &["cluster", "ledger", "scenario", "sorted"]),
    (
        "lesson",
        &["wal", "config", "cluster", "ledger", "scenario", "history", "sorted"],
    ),
    ("inspect", &["log", "cluster"]),
    ("conform", &["log", "config", "cluster", "sorted"]),
    ("soak", &["cluster", "ledger", "scenario"]),
    (
        "cli",
        &["log", "cluster", "ledger", "scenario", "inspect", "conform", "soak"],
    ),
    (
        "ui",
        &[
            "log", "wal", "config", "cluster", "ledger", "scenario", "history", "lesson", "inspect", "linked", "sorted",
        ],
    ),
];

/// The text of all files of a room, without their tests.
fn text_of(path: &Path) -> String {
    if path.is_file() {
        let text = fs::read_to_string(path).unwrap();
        let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        return own
            .lines()
            .filter(|line| !is_comment(line))
            .collect::<Vec<_>>()
            .join("\n");
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.filter(|path| path.file_stem().is_none_or(|name| name != "tests"));
    let sources = kept.filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"));
    sources.map(|path| text_of(&path)).collect::<Vec<_>>().join("\n")
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// The rooms that a text names, one at a time: `crate::ROOM`.
fn named(text: &str) -> BTreeSet<String> {
    let is_letter = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let paths = text.split("crate::").skip(1);
    paths.map(|path| path.chars().take_while(is_letter).collect()).collect()
}

#[test]
fn every_room_uses_rooms_below_it_alone() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for (at, (room, below)) in ROOMS.iter().enumerate() {
        let known = |other: &&str| ROOMS[..at].iter().any(|(earlier, _)| *earlier == *other);
        assert!(below.iter().all(known), "{room} stands on what is not below it");
        let folder = source.join(room);
        let text = text_of(&if folder.is_dir() {
            folder
        } else {
            source.join(format!("{room}.rs"))
        });
        let others = named(&text)
            .into_iter()
            .filter(|other| other != room && !below.contains(&other.as_str()));
        faults.extend(others.map(|other| format!("{room} uses {other}")));
    }
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn every_room_is_in_the_table() {
    let library = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let modules = library
        .lines()
        .filter_map(|line| line.strip_suffix(';')?.split_once("mod "));
    let mut modules: Vec<&str> = modules.map(|(_, name)| name).collect();
    let mut rooms = ROOMS.map(|(room, _)| room);
    modules.sort_unstable();
    rooms.sort_unstable();
    assert_eq!(rooms.as_slice(), modules);
}

#[test]
fn a_room_is_seen_wherever_it_is_named() {
    let text = "use crate::log::{Log, Read};\nuse crate::ui;\nlet x = crate::wal::new();\nuse crate::{cluster};";
    // What stands in a list is not looked at, so no room may import like that: it would use the room without a name.
    let rooms: Vec<String> = named(text).into_iter().collect();
    assert_eq!(rooms, ["", "log", "ui", "wal"]);
}
