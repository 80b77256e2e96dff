//! What `highwater dump` prints of small files, to the letter. `tests/dump/README.md` says how a story is written.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

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
