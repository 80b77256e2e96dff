//! `highwater run FILE --files DIR`: every broker's data directory as real files.
//!
//! What lies in `DIR/broker-B` is what the broker of that id would find there if its process started now: everything
//! written, whether or not it has reached the disk. A real Kafka's tools read it, and its log loader loads it.
//!
//! Deliberately absent: the controller's metadata log.

use std::fs;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cluster::World;
use crate::inspect::{PARTITION_METADATA, directory_files, partition_metadata};
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
            put(&partition.join(PARTITION_METADATA), &partition_metadata(tp.topic))?;
            written += 1;
        }
    }
    Ok(written)
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
