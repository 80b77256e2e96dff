//! Which leader epoch wrote which offsets.
//!
//! Mirrors `LeaderEpochFileCache`: an ordered list of (epoch, start offset), both strictly increasing. A follower
//! finds with it where its log and the leader's part ways, and truncates there instead of at its high watermark.
//! The file it is kept in is the business of the log; here is only the list.

use super::fingerprint::{Encoder, Fingerprint};

/// An epoch and the offset at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEntry {
    /// The leader epoch.
    pub epoch: i32,
    /// The first offset of this epoch, whether or not anything was written in it.
    pub start_offset: i64,
}

/// The answer to "where does this epoch end here?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEndOffset {
    /// The greatest epoch known here that is not above the one asked for.
    pub epoch: i32,
    /// One past its last offset.
    pub end_offset: i64,
}

/// The leader epochs of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochCache {
    entries: Vec<EpochEntry>,
}

impl EpochCache {
    /// A cache with the entries of a checkpoint file, each assigned in turn.
    pub fn from_entries(entries: impl IntoIterator<Item = EpochEntry>) -> Self {
        let mut cache = Self::default();
        for entry in entries {
            cache.put(entry);
        }
        cache
    }

    /// The entries, ascending.
    pub fn entries(&self) -> &[EpochEntry] {
        &self.entries
    }

    /// The greatest epoch.
    pub fn latest(&self) -> Option<EpochEntry> {
        self.entries.last().copied()
    }

    /// Notes that an epoch begins at an offset. Entries that contradict it are dropped from the end. Says whether
    /// anything changed.
    pub fn assign(&mut self, epoch: i32, start_offset: i64) -> bool {
        if epoch < 0 || start_offset < 0 {
            return false;
        }
        let news = self
            .latest()
            .is_none_or(|latest| epoch != latest.epoch || start_offset < latest.start_offset);
        if news {
            self.put(EpochEntry { epoch, start_offset });
        }
        news
    }

    fn put(&mut self, entry: EpochEntry) {
        while self
            .latest()
            .is_some_and(|last| last.epoch >= entry.epoch || last.start_offset >= entry.start_offset)
        {
            self.entries.pop();
        }
        self.entries.push(entry);
    }

    /// Where an epoch ends in a log with the given end; `None` when this log cannot say.
    pub fn end_offset_for(&self, epoch: i32, log_end_offset: i64) -> Option<EpochEndOffset> {
        if epoch < 0 {
            return None;
        }
        if self.latest()?.epoch == epoch {
            return Some(EpochEndOffset {
                epoch,
                end_offset: log_end_offset,
            });
        }
        let above = self.entries.partition_point(|entry| entry.epoch <= epoch);
        let end_offset = self.entries.get(above)?.start_offset;
        let floor = above.checked_sub(1).map_or(epoch, |index| self.entries[index].epoch);
        Some(EpochEndOffset {
            epoch: floor,
            end_offset,
        })
    }

    /// Drops the epochs that begin at or above an offset. Says whether anything changed.
    pub fn truncate_from_end(&mut self, end_offset: i64) -> bool {
        if end_offset < 0 || self.latest().is_none_or(|latest| latest.start_offset < end_offset) {
            return false;
        }
        self.entries.retain(|entry| entry.start_offset < end_offset);
        true
    }

    /// Lets the list begin at an offset: the epoch that holds it now starts there. Says whether anything changed.
    pub fn truncate_from_start(&mut self, start_offset: i64) -> bool {
        let below = self.entries.partition_point(|entry| entry.start_offset <= start_offset);
        let Some(last) = below.checked_sub(1) else {
            return false;
        };
        self.entries.drain(..last);
        self.entries[0].start_offset = start_offset;
        true
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

impl Fingerprint for EpochCache {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.entries.len());
        for entry in &self.entries {
            encoder.i32(entry.epoch);
            encoder.i64(entry.start_offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: &[(i32, i64)]) -> EpochCache {
        let mut cache = EpochCache::default();
        for (epoch, start_offset) in entries {
            cache.assign(*epoch, *start_offset);
        }
        cache
    }

    fn list(cache: &EpochCache) -> Vec<(i32, i64)> {
        cache
            .entries()
            .iter()
            .map(|entry| (entry.epoch, entry.start_offset))
            .collect()
    }

    #[test]
    fn end_offsets() {
        let epochs = cache(&[(0, 10), (2, 13), (4, 17)]);
        let cases = [
            (-1, None),
            (0, Some((0, 13))),
            (1, Some((0, 13))),
            (2, Some((2, 17))),
            (3, Some((2, 17))),
            (4, Some((4, 20))),
            (5, None),
        ];
        for (epoch, expected) in cases {
            let found = epochs.end_offset_for(epoch, 20).map(|end| (end.epoch, end.end_offset));
            assert_eq!(found, expected, "epoch {epoch}");
        }
        let late = cache(&[(4, 17)]);
        assert_eq!(
            late.end_offset_for(2, 20),
            Some(EpochEndOffset {
                epoch: 2,
                end_offset: 17
            })
        );
        assert_eq!(EpochCache::default().end_offset_for(0, 20), None);
    }

    #[test]
    fn assigning_drops_what_contradicts() {
        assert_eq!(list(&cache(&[(2, 9), (3, 9)])), [(3, 9)]);
        assert_eq!(list(&cache(&[(2, 6), (2, 7)])), [(2, 6)]);
        assert_eq!(list(&cache(&[(2, 6), (2, 5)])), [(2, 5)]);
        assert_eq!(list(&cache(&[(1, 1), (3, 5), (2, 8)])), [(1, 1), (2, 8)]);
    }

    #[test]
    fn truncation_from_both_ends() {
        let full = cache(&[(2, 6), (3, 8), (4, 11)]);
        let from_start = [
            (9, vec![(3, 9), (4, 11)]),
            (15, vec![(4, 15)]),
            (5, list(&full)),
            (6, list(&full)),
        ];
        for (offset, expected) in from_start {
            let mut cut = full.clone();
            cut.truncate_from_start(offset);
            assert_eq!(list(&cut), expected, "start {offset}");
        }
        let from_end = [
            (12, list(&full)),
            (11, vec![(2, 6), (3, 8)]),
            (6, vec![]),
            (-1, list(&full)),
        ];
        for (offset, expected) in from_end {
            let mut cut = full.clone();
            cut.truncate_from_end(offset);
            assert_eq!(list(&cut), expected, "end {offset}");
        }
    }
}
