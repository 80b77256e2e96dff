//! The bytes of a producer snapshot.
//!
//! Mirrors `ProducerStateManager.writeSnapshot` and `readSnapshot`: a version, a checksum over everything behind it,
//! and per producer its last batch only. So a log that is loaded from a snapshot knows one batch of each producer
//! where it knew five.

use std::collections::VecDeque;

use super::producers::{BatchMetadata, ProducerEntry, ProducerState};

/// The bytes before the first entry.
pub const HEADER: usize = 10;
/// The bytes of one entry.
pub const ENTRY_SIZE: usize = 46;

/// The file for what is known now.
pub fn write(producers: &ProducerState) -> Vec<u8> {
    let entries = producers.entries_in_java_order();
    let mut out = vec![0, 1, 0, 0, 0, 0];
    out.extend_from_slice(&(entries.len() as i32).to_be_bytes());
    for (id, entry) in entries {
        let last = entry.batches.back();
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&entry.epoch.to_be_bytes());
        out.extend_from_slice(&entry.last_sequence().to_be_bytes());
        out.extend_from_slice(&entry.last_data_offset().to_be_bytes());
        out.extend_from_slice(&last.map_or(0, |batch| batch.offset_delta).to_be_bytes());
        out.extend_from_slice(&entry.last_timestamp.to_be_bytes());
        out.extend_from_slice(&entry.coordinator_epoch.to_be_bytes());
        out.extend_from_slice(&entry.txn_first_offset.unwrap_or(-1).to_be_bytes());
    }
    let crc = crate::checksum::crc32c(&out[6..]);
    out[2..6].copy_from_slice(&crc.to_be_bytes());
    out
}

/// What is wrong with a snapshot (`CorruptSnapshotException`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorruptSnapshot {
    /// It ends before the number of entries.
    TooShort,
    /// Its version is not 1.
    Version(i16),
    /// Its checksum is not that of what follows it.
    Checksum {
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
    /// It says that it holds so many entries, and does not.
    Count(i32),
}

/// Reads a file. All of it is judged before anything is believed.
pub fn read(bytes: &[u8]) -> Result<Vec<(i64, ProducerEntry)>, CorruptSnapshot> {
    let (head, body) = bytes.split_at_checked(HEADER).ok_or(CorruptSnapshot::TooShort)?;
    let version = i16::from_be_bytes([head[0], head[1]]);
    if version != 1 {
        return Err(CorruptSnapshot::Version(version));
    }
    let stored = u32::from_be_bytes([head[2], head[3], head[4], head[5]]);
    let count = i32::from_be_bytes([head[6], head[7], head[8], head[9]]);
    let wanted = usize::try_from(count)
        .ok()
        .filter(|count| body.len() / ENTRY_SIZE >= *count)
        .ok_or(CorruptSnapshot::Count(count))?;
    let computed = crate::checksum::crc32c(&bytes[6..]);
    if computed != stored {
        return Err(CorruptSnapshot::Checksum { stored, computed });
    }
    Ok(body.chunks_exact(ENTRY_SIZE).take(wanted).map(read_entry).collect())
}

fn read_entry(bytes: &[u8]) -> (i64, ProducerEntry) {
    let long = |at: usize| {
        bytes[at..at + 8]
            .iter()
            .fold(0i64, |value, byte| (value << 8) | i64::from(*byte))
    };
    let int = |at: usize| {
        bytes[at..at + 4]
            .iter()
            .fold(0i32, |value, byte| (value << 8) | i32::from(*byte))
    };
    let epoch = i16::from_be_bytes([bytes[8], bytes[9]]);
    let last_timestamp = long(26);
    let batch = BatchMetadata {
        last_sequence: int(10),
        last_offset: long(14),
        offset_delta: int(22),
        timestamp: last_timestamp,
    };
    let entry = ProducerEntry {
        epoch,
        batches: if batch.last_offset >= 0 {
            VecDeque::from([batch])
        } else {
            VecDeque::new()
        },
        coordinator_epoch: int(34),
        last_timestamp,
        txn_first_offset: Some(long(38)).filter(|first| *first >= 0),
    };
    (long(0), entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_keeps_the_last_batch() {
        let mut producers = ProducerState::starting_at(0);
        let batch = |n: i32| BatchMetadata {
            last_sequence: n,
            last_offset: i64::from(n),
            offset_delta: 0,
            timestamp: 5,
        };
        let entry = |batches: &[i32]| ProducerEntry {
            epoch: 3,
            batches: batches.iter().map(|n| batch(*n)).collect(),
            coordinator_epoch: 7,
            last_timestamp: 5,
            txn_first_offset: Some(1),
        };
        for id in [1000, 1001, 1002, 2003] {
            producers.put(id, entry(&[1, 2]));
        }
        let bytes = write(&producers);
        assert_eq!(bytes.len(), HEADER + 4 * ENTRY_SIZE);
        let ids = [2003, 1000, 1001, 1002];
        assert_eq!(read(&bytes), Ok(ids.map(|id| (id, entry(&[2]))).to_vec()));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(read(&damaged).is_err(), "byte {at}");
            assert!(read(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}
