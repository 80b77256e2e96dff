//! Recordings of one partition's log, against `Log`.
//!
//! After every operation its result and the whole state are compared; at the end every file's bytes. As the recordings
//! themselves say, exception names and the cleaner's counters are diagnostics and are left out.

mod op;
mod run;
mod session;
mod state;

pub use session::Session;

use super::{Difference, Malformed, Recording, Replay, Replayed};
use crate::conform::compare::differences;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use op::{FileBytes, Header, Line};
use run::Run;
use serde::Deserialize;
use serde_json::Value;
use state::Expected;

/// Replays kind `storage`.
pub struct Recorded;

impl Replay for Recorded {
    fn kind(&self) -> &'static str {
        "storage"
    }

    fn ends_with(&self) -> Option<&'static str> {
        Some("files")
    }

    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed> {
        let header = Header::deserialize(&recording.header).map_err(|error| Malformed::new("header", error))?;
        let mut run = Run::new(header)?;
        let mut expected = Expected::default();
        let mut replayed = Replayed::default();
        for (index, value) in recording.lines.iter().enumerate() {
            let place = format!("line {}", index + 2);
            if value.get("files").is_some() {
                replayed.differences = compare_files(value, &run)?;
                break;
            }
            let line = Line::deserialize(value).map_err(|error| Malformed::new(&place, error))?;
            let name = format!("{} {}", line.i, value["op"]["name"].as_str().unwrap_or_default());
            let ours = run.perform(line.op).map_err(|error| Malformed::new(&place, error))?;
            let Some(changes) = line.state else {
                let reason = format!("operation {name} and what follows: Kafka could not open this log");
                replayed.skipped.push(reason);
                break;
            };
            expected.apply(changes);
            replayed.operations += 1;
            let mut found = differences(&name, "result", &comparable(line.result), &comparable(ours));
            found.extend(differences(&name, "state", expected.value(), &run.state()));
            if !found.is_empty() {
                replayed.differences = found;
                break;
            }
        }
        Ok(replayed)
    }
}

/// Takes what is only a diagnostic out of a result.
fn comparable(mut result: Value) -> Value {
    const DIAGNOSTICS: [&str; 7] = [
        "exception",
        "mapRecordsRead",
        "recordsRead",
        "recordsKept",
        "recordsInvalid",
        "bytesRead",
        "bytesWritten",
    ];
    if let Some(fields) = result.as_object_mut() {
        fields.retain(|name, _| !DIAGNOSTICS.contains(&name.as_str()));
    }
    result
}

fn compare_files(line: &Value, run: &Run) -> Result<Vec<Difference>, Malformed> {
    let recorded = <crate::sorted::SortedMap<String, FileBytes>>::deserialize(&line["files"])
        .map_err(|error| Malformed::new("files", error))?;
    let ours = run.close();
    let mut found = Vec::new();
    for (name, file) in &recorded {
        let kafka = BASE64
            .decode(&file.base64)
            .map_err(|error| Malformed::new(name, error))?;
        match ours.get(name) {
            None => found.push(whole_file(name, Some("present"), None)),
            Some(file) => found.extend(first_difference(name, &kafka, &file.to_bytes())),
        }
    }
    let extra = ours.iter().filter(|(name, _)| !recorded.contains_key(*name));
    found.extend(extra.map(|(name, _)| whole_file(name, None, Some("present"))));
    Ok(found)
}

fn whole_file(name: &str, kafka: Option<&str>, ours: Option<&str>) -> Difference {
    Difference {
        operation: "files".to_owned(),
        field: name.to_owned(),
        kafka: kafka.map(Value::from),
        ours: ours.map(Value::from),
    }
}

/// The first byte in which two contents differ, with those around it.
fn first_difference(name: &str, kafka: &[u8], ours: &[u8]) -> Option<Difference> {
    if kafka == ours {
        return None;
    }
    let at = kafka.iter().zip(ours).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let window = &bytes[at.saturating_sub(8).min(bytes.len())..(at + 8).min(bytes.len())];
        let hex: String = window.iter().map(|byte| format!("{byte:02x}")).collect();
        Value::from(format!("{hex} ({} bytes)", bytes.len()))
    };
    Some(Difference {
        operation: "files".to_owned(),
        field: format!("{name}, byte {at}"),
        kafka: Some(around(kafka)),
        ours: Some(around(ours)),
    })
}
