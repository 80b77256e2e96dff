//! The small text files of a data directory: `meta.properties`, `partition.metadata` and the marker of a clean stop.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::log::checkpoint::Fault;

/// The position at which a line, counted from 1, begins.
pub fn line_start(text: &str, line: usize) -> u64 {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    before.map(|line| line.len() as u64).sum()
}

/// A name and its value in a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Where its line begins.
    pub position: u64,
    /// The bytes of the line, its end not counted.
    pub length: u64,
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The lines `name=value` (`meta.properties`) or `name: value` (`partition.metadata`); comments and empty lines are left
/// out.
///
/// # Errors
/// The first line that is neither, or whose topic's id is none (`org.apache.kafka.common.Uuid`).
pub fn properties(text: &str) -> Result<Vec<Property>, Fault> {
    let mut position = 0;
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        if !content.trim().is_empty() && !content.starts_with('#') {
            let fault = |expected| Fault { line: at + 1, expected };
            let (name, value) = content.split_once(['=', ':']).ok_or(fault("a name and its value"))?;
            if name.trim() == "topic_id" && !is_id(value.trim()) {
                return Err(fault("a topic's id: 16 bytes as 22 characters of URL-safe base64"));
            }
            found.push(Property {
                position,
                length: content.len() as u64,
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
            });
        }
        position += line.len() as u64;
    }
    Ok(found)
}

fn is_id(text: &str) -> bool {
    URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 16)
}
