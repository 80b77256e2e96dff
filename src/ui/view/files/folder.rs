//! The folder: its files with their sizes, and what somebody has chosen in it.

use std::ops::Range;
use std::rc::Rc;

use crate::cluster::BrokerId;
use crate::inspect::{FileKind, OffsetsOf, PARTITION_METADATA, directory_files, partition_metadata};
use crate::log::checkpoint::read_offsets;
use crate::log::{File, Files};
use crate::ui::act::Subject;
use crate::ui::view::look::Look;
use crate::ui::view::rows::role_said;

/// Suffixes of files that wait for deletion or belong to an unfinished compaction.
const WAITING: [&str; 3] = [".deleted", ".cleaned", ".swap"];

/// The kind of a file by its name, folders before it or not.
///
/// # Errors
/// A sentence on a name that no file of a log has.
pub fn kind_of(name: &str) -> Result<FileKind, String> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let bare = WAITING
        .iter()
        .find_map(|suffix| last.strip_suffix(suffix))
        .unwrap_or(last);
    FileKind::of(bare).ok_or_else(|| {
        format!(
            "{last} is no file of a Kafka log by its name: a segment is called after its first offset, such as \
             00000000000000000000.log, and its indexes stand beside it"
        )
    })
}

/// How many bytes, for reading.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// Where the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Of a simulated file so many are on disk, the others in page cache only.
    Flushed(u64),
    /// A real file, of which that is not known.
    Unknown,
}

/// A file in the folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: Rc<str>,
    /// The end of its name, for narrow places.
    pub short: Rc<str>,
    /// Its bytes.
    pub length: u64,
    /// Where they are.
    pub stored: Stored,
}

impl Entry {
    /// A file of a folder.
    pub fn new(name: &str, length: u64, stored: Stored) -> Entry {
        let last = name.rsplit('/').next().unwrap_or(name);
        let short = match last.find('.') {
            Some(dot) if dot == 20 && last.is_char_boundary(14) => format!("…{}", &last[14..]),
            _ => last.to_owned(),
        };
        Entry {
            name: name.into(),
            short: short.into(),
            length,
            stored,
        }
    }

    /// A folder with all that is in it.
    pub fn folder(name: &str, entries: &[Entry]) -> Entry {
        let own = entries.iter().filter(|entry| folder_of(&entry.name) == name);
        Entry::new(name, own.map(|entry| entry.length).sum(), Stored::Unknown)
    }

    /// How much of it is on disk, of a hundred.
    pub fn percent(&self) -> Option<u64> {
        match self.stored {
            Stored::Unknown => None,
            Stored::Flushed(_) if self.length == 0 => Some(100),
            Stored::Flushed(flushed) => Some(flushed * 100 / self.length),
        }
    }

    /// Its bytes in words.
    pub fn words(&self) -> String {
        let all = size(self.length);
        match self.stored {
            Stored::Unknown => all,
            Stored::Flushed(flushed) if flushed >= self.length => format!("{all}, all on disk"),
            Stored::Flushed(0) => format!("{all}, all in page cache only"),
            Stored::Flushed(flushed) => format!(
                "{all}: {} on disk, {} in page cache only",
                size(flushed),
                size(self.length - flushed)
            ),
        }
    }
}

/// Files by name, of one replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Replica {
    /// Whose they are.
    pub broker: u16,
    /// What that broker is to the partition.
    pub words: &'static str,
    /// Whether its process runs.
    pub runs: bool,
    /// The files of the partition's folder, and those of the data directory above it.
    pub files: Files,
}

/// The folders of a partition, one for each broker that has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folder {
    /// The partition's name, which is its folder's.
    pub name: Rc<str>,
    /// Whose folder is shown where nobody has chosen one.
    pub shown: Option<u16>,
    /// The replicas, by broker.
    pub replicas: Vec<Replica>,
}

impl Folder {
    /// The replica that is shown.
    pub fn replica(&self, chosen: Option<u16>) -> Option<&Replica> {
        let find = |id: u16| self.replicas.iter().find(|replica| replica.broker == id);
        chosen
            .and_then(find)
            .or_else(|| self.shown.and_then(find))
            .or_else(|| self.replicas.first())
    }
}

/// The folders of the partition in view. First comes that of the broker that is inspected, else the leader's.
pub fn replicas(look: &Look<'_>, selected: Option<Subject>) -> Folder {
    let held = |id: BrokerId| {
        let broker = look.world.broker(id)?;
        let mut files = broker.replica(look.partition)?.files();
        files.insert(PARTITION_METADATA, partition_metadata(look.partition.topic));
        for (name, file) in directory_files(look.world, broker) {
            files.insert(format!("../{name}"), file);
        }
        Some(Replica {
            broker: id.0,
            words: role_said(look, id),
            runs: broker.is_running(),
            files,
        })
    };
    let inspected = match selected {
        Some(Subject::Broker(id)) => Some(id),
        _ => None,
    };
    let leader = look.world.image().leader(look.partition);
    Folder {
        name: look.names.partition(look.partition).into(),
        shown: inspected.or(leader.map(|id| id.0)),
        replicas: look.world.broker_ids().filter_map(held).collect(),
    }
}

/// The files of a replica's folder with their sizes, those of the data directory last.
pub fn listing(files: &Files) -> Vec<Entry> {
    let entry = |(name, file): (&str, &File)| {
        let stored = Stored::Flushed(file.flushed().unwrap_or(0).min(file.len()));
        Entry::new(name, file.len(), stored)
    };
    let (above, own): (Vec<Entry>, Vec<Entry>) =
        files.iter().map(entry).partition(|entry| entry.name.starts_with("../"));
    own.into_iter().chain(above).collect()
}

/// A row of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// A file beside the folders.
    Beside(Entry),
    /// The folder that is open: its files.
    Open(Rc<str>, Vec<Entry>),
    /// A folder that is not, and its file that is opened with it.
    Closed(Entry, Rc<str>),
    /// Of a simulated replica: the data directory in which its folder lies, with its own files.
    Above(Vec<Entry>),
}

/// The tree: the folder with the file that is open in it has its files below its name, of others there is the name alone.
pub fn tree(entries: &[Entry], file: Option<&str>) -> Vec<Row> {
    let here = file.map_or("", folder_of);
    let mut rows: Vec<Row> = Vec::new();
    for entry in entries {
        let folder = folder_of(&entry.name);
        match (folder, rows.last_mut()) {
            ("", _) => rows.push(Row::Beside(entry.clone())),
            ("..", Some(Row::Above(files))) => files.push(entry.clone()),
            ("..", _) => rows.push(Row::Above(vec![entry.clone()])),
            (_, Some(Row::Open(name, files))) if **name == *folder => files.push(entry.clone()),
            (_, Some(Row::Closed(whole, _))) if *whole.name == *folder => {}
            _ if folder == here => rows.push(Row::Open(folder.into(), vec![entry.clone()])),
            _ => {
                let opens = newest(entries, folder).unwrap_or_else(|| entry.name.clone());
                rows.push(Row::Closed(Entry::folder(folder, entries), opens));
            }
        }
    }
    rows
}

/// The files of a folder and their bytes, in words.
pub fn sizes(entries: &[Entry]) -> String {
    let bytes: u64 = entries.iter().map(|entry| entry.length).sum();
    let count = entries.len();
    format!("{count} {}, {}", if count == 1 { "file" } else { "files" }, size(bytes))
}

/// The segment that may hold an offset: the one with the greatest base that is not above it.
pub fn segment_of<'a>(names: impl Iterator<Item = &'a str>, offset: i64) -> Option<&'a str> {
    let base = |name: &str| match FileKind::of(name.rsplit('/').next()?)? {
        FileKind::Log { base } => Some(base),
        _ => None,
    };
    let segments = names.filter_map(|name| Some((base(name)?, name)));
    segments
        .filter(|(base, _)| *base <= offset)
        .max_by_key(|(base, _)| *base)
        .map(|(_, name)| name)
}

/// The first offsets of the segments that lie in a folder.
pub fn bases_of(entries: &[Entry], folder: &str) -> Vec<i64> {
    let own = entries.iter().filter(|entry| folder_of(&entry.name) == folder);
    own.filter_map(|entry| match kind_of(&entry.name) {
        Ok(FileKind::Log { base }) => Some(base),
        _ => None,
    })
    .collect()
}

/// The recovery point of a partition, as the checkpoint beside its folder has it.
pub fn recovery_point(replica: &Replica, partition: &str) -> Option<i64> {
    let name = format!("../{}", OffsetsOf::RecoveryPoint.file_name());
    let bytes = replica.files.get(&name)?.to_bytes();
    let lines = read_offsets(std::str::from_utf8(&bytes).ok()?).ok()?;
    let own = lines
        .iter()
        .find(|line| format!("{}-{}", line.topic, line.partition) == partition);
    own.map(|line| line.offset)
}

/// The folder in which a file lies, which may be none.
pub fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The newest segment of a folder.
pub fn newest(entries: &[Entry], folder: &str) -> Option<Rc<str>> {
    let own = entries.iter().filter(|entry| folder_of(&entry.name) == folder);
    segment_of(own.map(|entry| &*entry.name), i64::MAX).map(Rc::from)
}

/// The offsets that a segment may hold: from its first offset, or the log's beginning, to the next segment.
pub fn span_of(entries: &[Entry], name: &str) -> Range<i64> {
    let base = |name: &str| match kind_of(name) {
        Ok(FileKind::Log { base }) => Some(base),
        _ => None,
    };
    let own = base(name).unwrap_or(0);
    let here = entries.iter().filter(|entry| folder_of(&entry.name) == folder_of(name));
    let bases: Vec<i64> = here.filter_map(|entry| base(&entry.name)).collect();
    let first = bases.iter().all(|base| *base >= own);
    let next = bases.iter().copied().filter(|base| *base > own).min();
    let start = if first { 0 } else { own };
    start..next.unwrap_or(i64::MAX)
}

/// A walk through a segment, shown step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// How an offset is found.
    LookUp(i64),
    /// What recovery would make of the segment.
    Recovery,
}

/// What somebody has chosen in the drawer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Whose folder.
    pub broker: Option<u16>,
    /// Which file; nothing stands for the newest segment.
    pub file: Option<Rc<str>>,
    /// Which part of it, by its first byte.
    pub part: Option<u64>,
    /// Which record of the batch.
    pub record: Option<usize>,
    /// Whether the records of the batch are listed.
    pub records: bool,
    /// Where the row of parts begins, when that was chosen.
    pub first: Option<usize>,
    /// Which walk is shown, and its step.
    pub walk: Option<(Walk, usize)>,
}

impl Chosen {
    /// Another folder.
    pub fn of(broker: Option<u16>) -> Chosen {
        Chosen {
            broker,
            ..Chosen::default()
        }
    }

    /// Another file of the folder.
    pub fn open(&self, file: Rc<str>) -> Chosen {
        Chosen {
            file: Some(file),
            ..Chosen::of(self.broker)
        }
    }

    /// A part of the file. What is listed stays listed.
    pub fn pick(&self, part: u64) -> Chosen {
        Chosen {
            part: Some(part),
            record: None,
            ..self.clone()
        }
    }

    /// The file that is open among those of the folder.
    pub fn file_in(&self, entries: &[Entry]) -> Option<Rc<str>> {
        let chosen = self
            .file
            .as_ref()
            .filter(|file| entries.iter().any(|entry| entry.name == **file));
        let newest = || {
            let names = entries.iter().map(|entry| &*entry.name);
            newest(entries, folder_of(names.clone().find(|name| name.ends_with(".log"))?))
        };
        let first = || entries.first().map(|entry| entry.name.clone());
        chosen.cloned().or_else(newest).or_else(first)
    }
}
