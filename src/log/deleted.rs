//! Files that were given up: they lie in the folder as `.deleted` until their delay has passed.
//!
//! Mirrors the delayed deletion of `LocalLog.deleteSegmentFiles` and `UnifiedLog.deleteProducerSnapshots`.

use crate::sorted::SortedMap;

use super::files::{DELETED_SUFFIX, File};
use super::fingerprint::{Encoder, Fingerprint};

/// Files that will be removed together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deletion {
    due_ms: i64,
    names: Vec<String>,
}

/// Files marked `.deleted`, and when they go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deleted {
    files: SortedMap<String, File>,
    tasks: Vec<Deletion>,
}

impl Deleted {
    /// The files by the names they have now.
    pub(crate) fn files(&self) -> &SortedMap<String, File> {
        &self.files
    }

    /// Marks files, to be removed at a time, and with them whatever then has one of the other names. As in Kafka a deletion
    /// is scheduled even if there are none.
    pub(crate) fn add(&mut self, files: Vec<(String, File)>, others: Vec<String>, due_ms: i64) {
        let marked = |name: &str| format!("{name}{DELETED_SUFFIX}");
        let names = files.iter().map(|(name, _)| name).chain(&others);
        self.tasks.push(Deletion {
            due_ms,
            names: names.map(|name| marked(name)).collect(),
        });
        self.files
            .extend(files.into_iter().map(|(name, file)| (marked(&name), file)));
    }

    /// How many deletions are due.
    pub(crate) fn due(&self, now_ms: i64) -> usize {
        self.tasks.iter().filter(|task| task.due_ms <= now_ms).count()
    }

    /// When the next deletion is due.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.tasks.iter().map(|task| task.due_ms).min()
    }

    /// Carries out the deletions that are due.
    pub(crate) fn remove_due(&mut self, now_ms: i64) {
        for task in self.tasks.extract_if(.., |task| task.due_ms <= now_ms) {
            for name in &task.names {
                self.files.remove(name);
            }
        }
    }
}

impl Fingerprint for Deleted {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.files.len());
        for (name, file) in &self.files {
            encoder.str(name);
            file.fingerprint(encoder);
        }
        encoder.len(self.tasks.len());
        for task in &self.tasks {
            encoder.i64(task.due_ms);
            encoder.len(task.names.len());
            task.names.iter().for_each(|name| encoder.str(name));
        }
    }
}
