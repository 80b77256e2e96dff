//! The small text files of a data directory: `meta.properties`, `partition.metadata` and the marker of a clean stop.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::log::checkpoint::Fault;

use super::kind::FileKind;

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

/// What `partition.metadata` (`name: value`) or `meta.properties` (`name=value`) says; comments and empty lines are left
/// out.
///
/// # Errors
/// The first line that a broker does not take (`PartitionMetadataReadBuffer`, `MetaProperties.Builder`); the end of the
/// file where one is missing.
pub fn properties(kind: FileKind, text: &str) -> Result<Vec<Property>, Fault> {
    if kind == FileKind::PartitionMetadata {
        check_partition_metadata(text)?;
    }
    let found = read_properties(text)?;
    if kind == FileKind::MetaProperties {
        check_meta_properties(text, &found)?;
    }
    Ok(found)
}

fn read_properties(text: &str) -> Result<Vec<Property>, Fault> {
    let mut position = 0;
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        if !content.trim().is_empty() && !content.starts_with('#') {
            let expected = "a name and its value";
            let fault = Fault { line: at + 1, expected };
            let (name, value) = content.split_once(['=', ':']).ok_or(fault)?;
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

/// Two lines count, whatever the names in them.
fn check_partition_metadata(text: &str) -> Result<(), Fault> {
    let mut lines = text.lines();
    let mut value = || Some(lines.next()?.split_once(": ")?.1.trim_start());
    let is_version = |value: &str| value.parse::<i32>().is_ok_and(|version| version >= 0);
    let is_topic = |value: &str| id(value).is_some_and(|id| id.iter().any(|byte| *byte != 0));
    check(value().is_some_and(is_version), 1, "version: 0")?;
    let expected = "a topic's id: 16 bytes as 22 characters of URL-safe base64";
    check(value().is_some_and(is_topic), 2, expected)
}

/// Without a version it is 0, which has no `node.id`. Without a `cluster.id` it is read, but no broker starts from it.
fn check_meta_properties(text: &str, found: &[Property]) -> Result<(), Fault> {
    let last = |name: &str| found.iter().rfind(|property| property.name == name);
    let line = |property: Option<&Property>| {
        let before = property.and_then(|property| text.get(..property.position as usize));
        before.unwrap_or(text).lines().count() + 1
    };
    let number = |property: &Property| property.value.parse::<i32>().ok();
    let version = last("version");
    let known = version
        .map_or(Some(0), number)
        .filter(|version| matches!(version, 0 | 1));
    check(known.is_some(), line(version), "version=0 or version=1")?;
    let (cluster, directory) = (last("cluster.id"), last("directory.id"));
    check(
        cluster.is_some(),
        line(cluster),
        "a cluster.id, without which no broker starts",
    )?;
    if known == Some(0) {
        let broker = last("broker.id");
        let sound = broker.is_none_or(|broker| number(broker).is_some());
        check(sound, line(broker), "a number as broker.id")?;
    } else {
        let node = last("node.id");
        check(node.and_then(number).is_some(), line(node), "a number as node.id")?;
    }
    let sound = directory.is_none_or(|directory| id(&directory.value).is_some());
    let expected = "a directory's id: 16 bytes as 22 characters of URL-safe base64";
    check(sound, line(directory), expected)
}

fn check(sound: bool, line: usize, expected: &'static str) -> Result<(), Fault> {
    if sound { Ok(()) } else { Err(Fault { line, expected }) }
}

/// The bytes of an `org.apache.kafka.common.Uuid`.
fn id(text: &str) -> Option<[u8; 16]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}
