//! The text format of checkpoint files.
//!
//! Mirrors `CheckpointFile`, `OffsetCheckpointFile` and `LeaderEpochCheckpointFile`: a version line, a line with the
//! number of entries, then one entry a line. The checkpoints of a whole data directory belong to the broker; here is
//! only how they are written and read.

use super::epochs::EpochEntry;

/// One line of a directory-level checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetEntryLine {
    /// The topic's name.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
    /// The offset noted for it.
    pub offset: i64,
}

/// The text of a `leader-epoch-checkpoint`.
pub fn write_epochs(entries: &[EpochEntry]) -> String {
    write(
        entries
            .iter()
            .map(|entry| format!("{} {}", entry.epoch, entry.start_offset)),
    )
}

/// Reads a `leader-epoch-checkpoint`; an empty file has no entries.
pub fn read_epochs(text: &str) -> Result<Vec<EpochEntry>, Fault> {
    read(text, |line| {
        let (epoch, start_offset) = line.split_once(' ')?;
        Some(EpochEntry {
            epoch: epoch.parse().ok()?,
            start_offset: start_offset.parse().ok()?,
        })
    })
}

/// The text of a recovery-point, log-start or high-watermark checkpoint.
pub fn write_offsets(entries: &[OffsetEntryLine]) -> String {
    write(
        entries
            .iter()
            .map(|entry| format!("{} {} {}", entry.topic, entry.partition, entry.offset)),
    )
}

/// Reads such a checkpoint; an empty file has no entries.
pub fn read_offsets(text: &str) -> Result<Vec<OffsetEntryLine>, Fault> {
    read(text, |line| {
        let mut words = line.split(' ');
        let topic = words.next()?.to_owned();
        let partition = words.next()?.parse().ok()?;
        let offset = words.next()?.parse().ok()?;
        words.next().is_none().then_some(OffsetEntryLine {
            topic,
            partition,
            offset,
        })
    })
}

fn write(lines: impl ExactSizeIterator<Item = String>) -> String {
    let mut text = format!("0\n{}\n", lines.len());
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Where a checkpoint file is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// What was expected there.
    pub expected: &'static str,
}

fn read<T>(text: &str, entry: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Fault> {
    let mut lines = text.lines();
    let fault = |line, expected| Fault { line, expected };
    match lines.next() {
        None => return Ok(Vec::new()),
        Some(version) if version.trim() != "0" => return Err(fault(1, "the version, 0")),
        Some(_) => {}
    }
    let count = lines.next().and_then(|count| count.trim().parse::<usize>().ok());
    let count = count.ok_or(fault(2, "the number of entries"))?;
    let mut entries = Vec::new();
    for (at, line) in lines.enumerate() {
        let entry = entry(line).ok_or(fault(at + 3, "an entry"))?;
        entries.push(entry);
        if entries.len() > count {
            return Err(fault(at + 3, "the end of the file: all entries were there"));
        }
    }
    match entries.len() == count {
        true => Ok(entries),
        false => Err(fault(entries.len() + 3, "another entry")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let epochs = [
            EpochEntry {
                epoch: 0,
                start_offset: 0,
            },
            EpochEntry {
                epoch: 3,
                start_offset: 17,
            },
        ];
        assert_eq!(write_epochs(&epochs), "0\n2\n0 0\n3 17\n");
        assert_eq!(read_epochs(&write_epochs(&epochs)).as_deref(), Ok(epochs.as_slice()));
        let line = OffsetEntryLine {
            topic: "payments".into(),
            partition: 2,
            offset: 9,
        };
        assert_eq!(write_offsets(std::slice::from_ref(&line)), "0\n1\npayments 2 9\n");
        assert_eq!(read_offsets("0\n1\npayments 2 9\n"), Ok(vec![line]));
        assert_eq!(read_epochs(""), Ok(vec![]));
        let malformed = [
            ("1\n0\n", 1),
            ("0\n", 2),
            ("0\n-1\n", 2),
            ("0\n1\nx 0\n", 3),
            ("0\n1\n0 0\n1 1\n", 4),
            ("0\n2\n0 0\n", 4),
        ];
        for (text, line) in malformed {
            assert_eq!(read_epochs(text).map_err(|fault| fault.line), Err(line), "{text:?}");
        }
    }
}
