//! What `highwater dump` prints of small files, to the letter. `tests/dump/README.md` says how a story is written.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use highwater::cli::dump::{Arguments, run};

/// One story: files, and commands with what they should print.
struct Story {
    /// Everything up to the first command.
    given: String,
    files: Vec<(String, Vec<u8>)>,
    commands: Vec<String>,
}

impl Story {
    fn read(text: &str) -> Story {
        let start = text.find("\n$ ").map_or(text.len(), |at| at + 1);
        let (given, rest) = text.split_at(start);
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for line in given.lines().filter(|line| !line.starts_with('#')) {
            match (line.strip_prefix("file "), line.strip_prefix("text "), files.last_mut()) {
                (Some(name), ..) | (_, Some(name), _) => files.push((name.to_owned(), Vec::new())),
                (_, _, Some((_, bytes))) if line.starts_with("  ") => bytes.extend(content(&line[2..])),
                _ => assert!(line.is_empty(), "neither a file nor its content: {line}"),
            }
        }
        let commands = rest.lines().filter_map(|line| line.strip_prefix("$ highwater dump "));
        Story {
            given: given.to_owned(),
            files,
            commands: commands.map(str::to_owned).collect(),
        }
    }

    /// The story as it is told by what is printed now.
    fn told(&self, folder: &Path) -> String {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let mut text = self.given.clone();
        for command in &self.commands {
            let (out, err, status) = dumped(folder, command);
            let _ = writeln!(text, "$ highwater dump {command}\n{out}");
            err.lines().for_each(|line| {
                let _ = writeln!(text, "! {line}");
            });
            let _ = writeln!(text, "exit {status}\n");
        }
        text
    }
}

/// The bytes that a line stands for: hexadecimal, text in quotes, and `0*N` for so many zeros.
fn content(line: &str) -> Vec<u8> {
    if let Some(text) = line.strip_prefix('"') {
        return format!("{}\n", text.strip_suffix('"').expect("the closing quote")).into_bytes();
    }
    let mut bytes = Vec::new();
    for word in line.split_whitespace() {
        match word.strip_prefix("0*") {
            Some(count) => bytes.resize(bytes.len() + count.parse::<usize>().unwrap(), 0),
            None => bytes.extend(
                (0..word.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap()),
            ),
        }
    }
    bytes
}

/// Output, complaints and status of a command, the folder's own path left out.
fn dumped(folder: &Path, command: &str) -> (String, String, u8) {
    let mut arguments = Arguments::default();
    for word in command.split_whitespace() {
        match word {
            "--print-data-log" => arguments.print_data_log = true,
            "--explain" => arguments.explain = true,
            "." => arguments.paths.push(folder.to_owned()),
            path => arguments.paths.push(folder.join(path)),
        }
    }
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(&arguments, &mut out, &mut err).expect("memory can be written to");
    let shown = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("all output is text");
        text.replace(&format!("{}/", folder.display()), "")
    };
    (shown(out), shown(err), status as u8)
}

fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dump");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut stories: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "txt"))
        .collect();
    stories.sort();
    stories
}

#[test]
fn every_story_is_told_to_the_letter() {
    let rewrite = std::env::var_os("HIGHWATER_REWRITE").is_some();
    let mut differ = String::new();
    for path in stories() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = std::env::temp_dir().join(format!("highwater-dump-{}-{name}", std::process::id()));
        let text = fs::read_to_string(&path).unwrap();
        let told = Story::read(&text).told(&folder);
        let _ = fs::remove_dir_all(&folder);
        if rewrite {
            fs::write(&path, told).unwrap();
        } else if told.trim_end() != text.trim_end() {
            let _ = writeln!(differ, "{name} is told as:\n{told}");
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

#[test]
fn there_are_stories() {
    assert!(stories().len() >= 10, "{} stories", stories().len());
}

/// A segment that a real Kafka left at the end of a recording, and its name.
fn recorded_segments() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for recordings in ["storage", "storage-found"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recordings/{recordings}.jsonl.gz"));
        let mut text = String::new();
        let mut reader = flate2::read::GzDecoder::new(fs::File::open(path).unwrap());
        reader.read_to_string(&mut text).unwrap();
        for line in text.lines().filter(|line| line.starts_with(r#"{"files":"#)) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            for (name, file) in line["files"].as_object().unwrap() {
                if name.ends_with(".log") {
                    let bytes = file["base64"].as_str().unwrap();
                    let bytes = base64::engine::general_purpose::STANDARD.decode(bytes).unwrap();
                    found.push((name.clone(), bytes));
                }
            }
        }
    }
    found
}

/// The batches of a segment as the format has them, and whether something else stands behind them: where each lies, its
/// offsets, its bytes, its checksum and how many records it says that it has.
fn batches(bytes: &[u8]) -> (Vec<[i64; 6]>, bool) {
    let number = |at: usize, length: usize| {
        bytes[at..at + length]
            .iter()
            .fold(0, |value: i64, byte| (value << 8) | i64::from(*byte))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while bytes.len() >= at + 61 {
        let (base, length, magic) = (number(at, 8), number(at + 8, 4), number(at + 16, 1));
        // A magic above 2, which only damage brings about, is read as if it were 2.
        if length < 49 || !(2..128).contains(&magic) || bytes.len() < at + 12 + length as usize {
            break;
        }
        let (crc, last_delta, count) = (number(at + 17, 4), number(at + 23, 4), number(at + 57, 4));
        // Only the delta is signed: below 0 it is what a leader of another make sent.
        let last = base + i64::from(last_delta as i32);
        found.push([at as i64, base, last, length + 12, crc, count]);
        at += 12 + length as usize;
    }
    (found, at < bytes.len())
}

/// The same, from what a dump prints.
fn printed(out: &str) -> Vec<[i64; 6]> {
    let lines = out.lines().filter(|line| line.starts_with("baseOffset: "));
    let fields = lines.map(|line| {
        let field = |name: &str| {
            let (_, rest) = line.split_once(&format!("{name}: ")).unwrap();
            rest.split_whitespace().next().unwrap().parse().unwrap()
        };
        ["position", "baseOffset", "lastOffset", "size", "crc", "count"].map(field)
    });
    fields.collect()
}

#[test]
fn every_recorded_segment_shows_its_batches() {
    let folder = std::env::temp_dir().join(format!("highwater-dump-{}-recorded", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let segments = recorded_segments();
    assert!(segments.len() > 900, "{} segments", segments.len());
    let mut shown = 0;
    for (name, bytes) in &segments {
        fs::write(folder.join(name), bytes).unwrap();
        let (out, err, status) = dumped(&folder, name);
        let (expected, torn) = batches(bytes);
        assert_eq!(printed(&out), expected, "{name}:\n{out}{err}");
        let sound = !torn && !out.contains("isvalid: false") && err.is_empty();
        assert_eq!(status, u8::from(!sound), "{name}:\n{out}{err}");
        shown += expected.len();
        fs::remove_file(folder.join(name)).unwrap();
    }
    fs::remove_dir_all(folder).unwrap();
    assert!(shown > 3_000, "{shown} batches");
}
