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

/// Reads a `leader-epoch-checkpoint`; an empty file has no entries. `None` when it is malformed.
pub fn read_epochs(text: &str) -> Option<Vec<EpochEntry>> {
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

/// Reads such a checkpoint; an empty file has no entries. `None` when it is malformed.
pub fn read_offsets(text: &str) -> Option<Vec<OffsetEntryLine>> {
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

fn read<T>(text: &str, entry: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let mut lines = text.lines();
    match lines.next() {
        None => return Some(Vec::new()),
        Some(version) => (version.trim() == "0").then_some(())?,
    }
    let count: usize = lines.next()?.trim().parse().ok()?;
    let entries: Vec<T> = lines.map(entry).collect::<Option<_>>()?;
    (entries.len() == count).then_some(entries)
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
        assert_eq!(read_epochs(&write_epochs(&epochs)).as_deref(), Some(epochs.as_slice()));
        let line = OffsetEntryLine {
            topic: "payments".into(),
            partition: 2,
            offset: 9,
        };
        assert_eq!(write_offsets(std::slice::from_ref(&line)), "0\n1\npayments 2 9\n");
        assert_eq!(read_offsets("0\n1\npayments 2 9\n"), Some(vec![line]));
        assert_eq!(read_epochs(""), Some(vec![]));
        for bad in ["1\n0\n", "0\n", "0\n2\n0 0\n", "0\n1\nx 0\n", "0\n-1\n"] {
            assert_eq!(read_epochs(bad), None, "{bad:?}");
        }
    }
}
