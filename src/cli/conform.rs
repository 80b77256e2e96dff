//! `highwater conform PATH…`: replays recordings of a real Kafka.
//!
//! Prints a line a recording; where one differs, the operation, the field, Kafka's value and ours; at the end the
//! totals. Folders are searched for `.json` and `.jsonl` files, in the order of their names; both may be packed as `.gz`. A
//! folder without any is a wrong one, and nothing has been compared.
//!
//! Deliberately absent: everything about recordings but finding, reading and printing; see [`crate::conform`].

use crate::conform::{self, Difference, Replayed, Report, Verdict};
use flate2::read::GzDecoder;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// How a run ended, as an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything that was replayed is as recorded.
    Same = 0,
    /// Something differs.
    Differs = 1,
    /// Something could not be read.
    Unreadable = 2,
}

#[derive(Default)]
struct Totals {
    recordings: u64,
    operations: u64,
    differ: u64,
    skipped: u64,
}

/// Replays all recordings under the given files and folders. An error is one of writing to `out` or `err`.
pub fn run(paths: &[PathBuf], out: &mut impl Write, err: &mut impl Write) -> io::Result<Status> {
    let mut totals = Totals::default();
    let mut status = Status::Same;
    for path in paths {
        let mut files = Vec::new();
        if let Err(error) = collect(path, &mut files) {
            writeln!(err, "{}: {error}", path.display())?;
            status = Status::Unreadable;
        } else if files.is_empty() {
            writeln!(
                err,
                "{}: no recordings here; their names end in .json, .jsonl or either with .gz: name a folder that holds some",
                path.display()
            )?;
            status = Status::Unreadable;
        }
        for file in files {
            let text = read(&file).map_err(|error| error.to_string());
            match text.and_then(|text| conform::replay(&text).map_err(|error| error.to_string())) {
                Ok(reports) => reports
                    .iter()
                    .try_for_each(|report| print(&file, report, &mut totals, out))?,
                Err(complaint) => {
                    writeln!(err, "{}: {complaint}", file.display())?;
                    status = Status::Unreadable;
                }
            }
        }
    }
    let Totals {
        recordings,
        operations,
        differ,
        skipped,
    } = totals;
    writeln!(
        out,
        "{recordings} recordings, {operations} operations, {differ} differ, {skipped} skipped"
    )?;
    Ok(if differ > 0 {
        status.max(Status::Differs)
    } else {
        status
    })
}

/// The file itself, or the recordings in a folder and its folders.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        let recording = match is_packed(&entry) {
            true => entry.file_stem().map(Path::new).is_some_and(is_recording),
            false => is_recording(&entry),
        };
        if entry.is_dir() || recording {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

fn is_recording(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "json" || extension == "jsonl")
}

fn is_packed(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "gz")
}

/// The text of a recording.
fn read(file: &Path) -> io::Result<String> {
    if !is_packed(file) {
        return fs::read_to_string(file);
    }
    let mut text = String::new();
    GzDecoder::new(fs::File::open(file)?).read_to_string(&mut text)?;
    Ok(text)
}

fn print(file: &Path, report: &Report, totals: &mut Totals, out: &mut impl Write) -> io::Result<()> {
    let title = report
        .title
        .as_ref()
        .map(|title| format!(" ({title})"))
        .unwrap_or_default();
    write!(out, "{}{title}: ", file.display())?;
    totals.recordings += 1;
    match &report.verdict {
        Verdict::Skipped => {
            totals.skipped += 1;
            writeln!(out, "skipped, {} is not replayed", report.kind)
        }
        Verdict::Replayed(replayed) => {
            totals.operations += replayed.operations;
            totals.skipped += replayed.skipped.len() as u64;
            totals.differ += u64::from(!replayed.differences.is_empty());
            print_replayed(replayed, out)
        }
    }
}

fn print_replayed(replayed: &Replayed, out: &mut impl Write) -> io::Result<()> {
    match replayed.differences.first() {
        None => writeln!(out, "{} operations, same", replayed.operations)?,
        Some(first) => writeln!(out, "differs at operation {}", first.operation)?,
    }
    for Difference { field, kafka, ours, .. } in &replayed.differences {
        let shown = |value: &Option<serde_json::Value>| value.as_ref().map_or("nothing".to_owned(), |v| v.to_string());
        writeln!(out, "  {field}: Kafka {}, ours {}", shown(kafka), shown(ours))?;
    }
    for chance in &replayed.chance {
        writeln!(out, "  by chance: {chance}")?;
    }
    replayed
        .skipped
        .iter()
        .try_for_each(|reason| writeln!(out, "  skipped: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDING: &str = concat!(
        r#"{"kind":"murmur2","title":"one key","vectors":["#,
        r#"{"key":"61","murmur2":-1563381124,"positive":584102524,"partition":{"3":1}}]}"#
    );

    /// A folder of its own with these files, gone when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
            let folder = std::env::temp_dir().join(format!("highwater-conform-{name}-{}", std::process::id()));
            for (file, content) in files {
                let path = folder.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Status, output and complaints, the folder's own path left out.
    fn tried(folder: &Folder, path: &Path) -> (Status, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = run(&[path.to_owned()], &mut out, &mut err).unwrap();
        let shown = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .unwrap()
                .replace(&folder.0.display().to_string(), "F")
        };
        (status, shown(out), shown(err))
    }

    #[test]
    fn folders_are_searched_and_other_files_left_alone() {
        let weather = br#"{"kind":"weather"}"#;
        let folder = Folder::new(
            "search",
            &[
                ("b/r.json", RECORDING.as_bytes()),
                ("a.jsonl", weather),
                ("README.md", b"?"),
            ],
        );
        let expected = "F/a.jsonl: skipped, weather is not replayed\n\
                        F/b/r.json (one key): 1 operations, same\n\
                        2 recordings, 1 operations, 0 differ, 1 skipped\n";
        assert_eq!(
            tried(&folder, &folder.0),
            (Status::Same, expected.into(), String::new())
        );
    }

    #[test]
    fn a_difference_names_operation_field_and_both_values() {
        let wrong = RECORDING.replace("\"3\":1", "\"3\":2");
        let folder = Folder::new("differs", &[("r.json", wrong.as_bytes())]);
        let expected = "F/r.json (one key): differs at operation vector 0 key 61\n  \
                        vectors[0].partition.3: Kafka 2, ours 1\n\
                        1 recordings, 1 operations, 1 differ, 0 skipped\n";
        assert_eq!(
            tried(&folder, &folder.0.join("r.json")),
            (Status::Differs, expected.into(), String::new())
        );
    }

    /// So that a wrong folder is not taken for a sound one.
    #[test]
    fn a_folder_without_recordings_is_said() {
        let folder = Folder::new("empty", &[("README.md", b"?")]);
        assert_eq!(
            tried(&folder, &folder.0),
            (
                Status::Unreadable,
                "0 recordings, 0 operations, 0 differ, 0 skipped\n".into(),
                "F: no recordings here; their names end in .json, .jsonl or either with .gz: name a folder that holds some\n".into()
            )
        );
    }

    #[test]
    fn packed_recordings_are_read_as_they_are() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(RECORDING.as_bytes()).unwrap();
        let folder = Folder::new(
            "packed",
            &[("r.json.gz", &packed.finish().unwrap()), ("notes.txt.gz", b"?")],
        );
        let expected = "F/r.json.gz (one key): 1 operations, same\n\
                        1 recordings, 1 operations, 0 differ, 0 skipped\n";
        assert_eq!(
            tried(&folder, &folder.0),
            (Status::Same, expected.into(), String::new())
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_and_the_rest_goes_on() {
        let files: &[(&str, &[u8])] = &[
            ("1.json", b"\xff\xfe"),
            ("2.json", b""),
            ("3.json", br#"{"kind":"murmur2"}"#),
            ("4.json", RECORDING.as_bytes()),
        ];
        let folder = Folder::new("unreadable", files);
        let (status, out, err) = tried(&folder, &folder.0);
        assert_eq!(
            (status, out.lines().count(), err.lines().count()),
            (Status::Unreadable, 2, 3)
        );
        assert!(err.contains("F/3.json: header: vectors is missing"), "{err}");
        assert_eq!(tried(&folder, &folder.0.join("5.json")).0, Status::Unreadable);
    }
}
