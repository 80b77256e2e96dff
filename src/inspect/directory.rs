//! The small files of a simulated broker's data directory, which the model keeps as numbers: what they hold, byte for byte.
//!
//! Mirrors `MetaPropertiesEnsemble` with `PropertiesUtils.writePropertiesFile`, `CleanShutdownFileHandler`,
//! `OffsetCheckpointFile` and `PartitionMetadataFile`.
//!
//! Deliberately absent: the ids of cluster, directories and topics, which the model does not know; they are made of their
//! numbers. A clock that is not UTC.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use crate::cluster::broker::Broker;
use crate::cluster::{TopicId, TopicPartition, World};
use crate::log::File;
use crate::log::checkpoint::{OffsetEntryLine, write_offsets};

use super::kind::{CLEAN_SHUTDOWN, META_PROPERTIES, OffsetsOf};

/// The files of a data directory itself: what it is, its checkpoints, and the marker of a clean stop.
pub fn directory_files(world: &World, broker: &Broker) -> Vec<(&'static str, File)> {
    let mut files = vec![(META_PROPERTIES, text(&meta_properties(world, broker)))];
    for of in [OffsetsOf::RecoveryPoint, OffsetsOf::LogStart, OffsetsOf::HighWatermark] {
        files.push((of.file_name(), text(&write_offsets(&offsets(world, broker, of)))));
    }
    // The first cleaning makes it.
    let cleaned = offsets(world, broker, OffsetsOf::Cleaner);
    if !cleaned.is_empty() {
        files.push((OffsetsOf::Cleaner.file_name(), text(&write_offsets(&cleaned))));
    }
    if let (None, Some(broker_epoch)) = (broker.process(), broker.host().clean) {
        let marker = CleanShutdown {
            version: 0,
            broker_epoch,
        };
        let marker = serde_json::to_string(&marker).unwrap_or_default();
        files.push((CLEAN_SHUTDOWN, text(&marker)));
    }
    files
}

/// The file with the topic's id in each partition's folder.
pub fn partition_metadata(topic: TopicId) -> File {
    let id = URL_SAFE_NO_PAD.encode(topic.uuid());
    text(&format!("version: 0\ntopic_id: {id}"))
}

/// What the marker of a clean stop says, in Kafka's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CleanShutdown {
    version: i32,
    broker_epoch: i64,
}

/// Whose a data directory is. `Properties.store` writes an empty comment, the time, and what is to be said in the order of
/// its hash table.
fn meta_properties(world: &World, broker: &Broker) -> String {
    let host = broker.host();
    let (cluster, directory) = (id(Named::Cluster), id(Named::Directory(broker.id().0, host.directory)));
    let formatted = date(world.settings().wall_ms(host.formatted));
    format!(
        "#\n#{formatted}\nnode.id={}\ndirectory.id={directory}\nversion=1\ncluster.id={cluster}\n",
        broker.id()
    )
}

/// A time as Java's `Date` writes it, such as `Mon Nov 30 10:20:18 UTC 2026`. One date of this form is all that is ever
/// written, and a calendar's library would weigh more than this in the page.
fn date(ms: i64) -> String {
    const WEEK: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [(&str, i64); 12] = [
        ("Jan", 31),
        ("Feb", 28),
        ("Mar", 31),
        ("Apr", 30),
        ("May", 31),
        ("Jun", 30),
        ("Jul", 31),
        ("Aug", 31),
        ("Sep", 30),
        ("Oct", 31),
        ("Nov", 30),
        ("Dec", 31),
    ];
    let seconds = ms.max(0) / 1000;
    let days = seconds / 86_400;
    let leap = |year: i64| i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    // Whole years of 400 at once: each of these has as many days as any other.
    let mut year = 1970 + days / 146_097 * 400;
    let mut day = days % 146_097;
    while day >= 365 + leap(year) {
        day -= 365 + leap(year);
        year += 1;
    }
    let mut month = "Jan";
    for (name, length) in MONTHS {
        month = name;
        let length = length + if name == "Feb" { leap(year) } else { 0 };
        if day < length {
            break;
        }
        day -= length;
    }
    let weekday = WEEK[(days % 7) as usize];
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!(
        "{weekday} {month} {:02} {hour:02}:{minute:02}:{second:02} UTC {year}",
        day + 1
    )
}

/// What a checkpoint says of each partition. A log start is only written where it is not a segment's first offset.
fn offsets(world: &World, broker: &Broker, of: OffsetsOf) -> Vec<OffsetEntryLine> {
    let entry = |tp: TopicPartition| {
        let checkpoints = broker.replica(tp)?.checkpoints();
        let offset = match of {
            OffsetsOf::RecoveryPoint => Some(checkpoints.recovery_point),
            OffsetsOf::HighWatermark => Some(checkpoints.high_watermark),
            OffsetsOf::LogStart => Some(checkpoints.log_start).filter(|start| *start > 0),
            OffsetsOf::Cleaner => checkpoints.cleaner,
        }?;
        Some(OffsetEntryLine {
            topic: world.settings().topic(tp.topic).name.to_string(),
            partition: i32::try_from(tp.partition).ok()?,
            offset,
        })
    };
    broker.partitions().into_iter().filter_map(entry).collect()
}

/// What an id stands for.
enum Named {
    Cluster,
    Directory(u16, u32),
}

/// An id in the form of Kafka's `Uuid`: always the same for the same thing.
fn id(named: Named) -> String {
    let (kind, number) = match named {
        Named::Cluster => (1u64, 0),
        Named::Directory(broker, formatted) => (2, u64::from(broker) << 32 | u64::from(formatted)),
    };
    let bytes = xxhash_rust::xxh3::xxh3_128_with_seed(&number.to_be_bytes(), kind).to_be_bytes();
    URL_SAFE_NO_PAD.encode(bytes)
}

fn text(content: &str) -> File {
    File::from_bytes(content.as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_java_writes_it() {
        assert_eq!(date(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(date(1_700_000_000_999), "Tue Nov 14 22:13:20 UTC 2023");
        assert_eq!(date(1_709_164_799_000), "Wed Feb 28 23:59:59 UTC 2024");
        assert_eq!(date(1_709_251_199_000), "Thu Feb 29 23:59:59 UTC 2024");
        assert_eq!(date(1_735_689_599_000), "Tue Dec 31 23:59:59 UTC 2024");
        assert_eq!(date(4_107_542_400_000), "Mon Mar 01 00:00:00 UTC 2100");
        assert_eq!(date(16_725_225_600_000), "Fri Jan 01 00:00:00 UTC 2500");
    }
}
