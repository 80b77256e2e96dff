//! `highwater run FILE --files DIR`: every broker's data directory as real files.
//!
//! What lies in `DIR/broker-B` is what the broker of that id would find there if its process started now: everything
//! written, whether or not it has reached the disk. A real Kafka's tools read it, and its log loader loads it. Mirrors the
//! layout of `LogManager` and `MetaPropertiesEnsemble`.
//!
//! Deliberately absent: the controller's metadata log. The ids of cluster, directories and topics, which the model does
//! not know, are made of their numbers.

use std::fs;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::cluster::broker::Broker;
use crate::cluster::{TopicPartition, World};
use crate::inspect::{CLEAN_SHUTDOWN, META_PROPERTIES, OffsetsOf, PARTITION_METADATA};
use crate::log::checkpoint::{OffsetEntryLine, write_offsets};
use crate::log::{Extent, File};

/// Why nothing was written, or not everything.
#[derive(Debug)]
pub enum Refused {
    /// The folder holds something.
    NotEmpty(PathBuf),
    /// Something cannot be written.
    Unwritable(PathBuf, io::Error),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::NotEmpty(folder) => write!(
                f,
                "{} is not empty; name a folder that is, or one that does not exist yet",
                folder.display()
            ),
            Refused::Unwritable(path, error) => write!(f, "{} cannot be written: {error}", path.display()),
        }
    }
}

/// Makes sure that a folder exists and is empty, before anything is run for it.
///
/// # Errors
/// When it is not.
pub fn prepare(folder: &Path) -> Result<(), Refused> {
    let unwritable = |error| Refused::Unwritable(folder.to_owned(), error);
    fs::create_dir_all(folder).map_err(unwritable)?;
    match fs::read_dir(folder).map_err(unwritable)?.next() {
        None => Ok(()),
        Some(_) => Err(Refused::NotEmpty(folder.to_owned())),
    }
}

/// Writes the data directories of all brokers. Says how many files there are.
///
/// # Errors
/// The first file that cannot be written.
pub fn write(world: &World, folder: &Path) -> Result<usize, Refused> {
    let mut written = 0;
    for broker in world.brokers() {
        let directory = folder.join(format!("broker-{}", broker.id()));
        for (name, file) in directory_files(world, broker) {
            put(&directory.join(name), &file)?;
            written += 1;
        }
        for tp in broker.partitions() {
            let partition = directory.join(world.partition_name(tp));
            let Some(replica) = broker.replica(tp) else { continue };
            for (name, file) in replica.files().iter() {
                put(&partition.join(name), file)?;
                written += 1;
            }
            let topic = URL_SAFE_NO_PAD.encode(tp.topic.uuid());
            put(
                &partition.join(PARTITION_METADATA),
                &text(&format!("version: 0\ntopic_id: {topic}")),
            )?;
            written += 1;
        }
    }
    Ok(written)
}

/// The files of a data directory itself: what it is, its checkpoints, and the marker of a clean stop.
fn directory_files(world: &World, broker: &Broker) -> Vec<(&'static str, File)> {
    let host = broker.host();
    let (cluster, directory) = (id(Named::Cluster), id(Named::Directory(broker.id().0, host.directory)));
    let meta = format!(
        "cluster.id={cluster}\ndirectory.id={directory}\nnode.id={}\nversion=1\n",
        broker.id()
    );
    let mut files = vec![(META_PROPERTIES, text(&meta))];
    for of in [OffsetsOf::RecoveryPoint, OffsetsOf::LogStart, OffsetsOf::HighWatermark] {
        files.push((of.file_name(), text(&write_offsets(&offsets(world, broker, of)))));
    }
    // The first cleaning makes it.
    let cleaned = offsets(world, broker, OffsetsOf::Cleaner);
    if !cleaned.is_empty() {
        files.push((OffsetsOf::Cleaner.file_name(), text(&write_offsets(&cleaned))));
    }
    if let (None, Some(epoch)) = (broker.process(), host.clean) {
        let marker = serde_json::json!({ "version": 0, "brokerEpoch": epoch });
        files.push((CLEAN_SHUTDOWN, text(&marker.to_string())));
    }
    files
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
        let name = world.partition_name(tp);
        let (topic, _) = name.rsplit_once('-')?;
        Some(OffsetEntryLine {
            topic: topic.to_owned(),
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

/// Writes one file. Zeros are left out where the file system can: an index that is made in advance has ten megabytes of
/// them.
fn put(path: &Path, file: &File) -> Result<(), Refused> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut to = fs::File::create_new(path)?;
        for extent in file.extents() {
            match extent {
                Extent::Batch(batch) => to.write_all(&batch.to_bytes())?,
                Extent::Bytes(bytes) => to.write_all(bytes)?,
                Extent::Zeros(count) => {
                    to.seek_relative(i64::try_from(*count).unwrap_or(i64::MAX))?;
                }
            }
        }
        to.set_len(file.len())?;
        // A segment without timestamps is judged by the time of its file.
        match u64::try_from(file.modified_ms()) {
            Ok(ms) if ms > 0 => to.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)),
            _ => Ok(()),
        }
    };
    write().map_err(|error| Refused::Unwritable(path.to_owned(), error))
}
