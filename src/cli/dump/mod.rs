//! `highwater dump FILE…`: what real files of a broker's data directory hold.
//!
//! On the standard output stands what `kafka-dump-log` prints, line for line; so do its complaints on the standard error.
//! Behind them, also there, is said what is wrong and at which position, and the exit status says so in one number. What
//! the files mean is the business of [`crate::inspect`]; here they are found, read and printed. Mirrors
//! `DumpLogSegments.main`.
//!
//! Deliberately absent: the real tool's decoders for internal topics. Where it gives up with a stack trace, this goes on
//! with the next file.

mod explain;
mod index;
mod log;
mod small;
mod source;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::inspect::{Damage, FileKind};

use source::Unreadable;

/// What `highwater dump` is told.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Arguments {
    /// Prints the records too.
    #[arg(long)]
    pub print_data_log: bool,
    /// Prints each field with its position, its bytes and what it means.
    #[arg(long)]
    pub explain: bool,
    /// Files of a data directory, or folders that are searched for them.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// How a run ended, as an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Everything is as a broker leaves it.
    Sound = 0,
    /// Something is damaged.
    Damaged = 1,
    /// Something could not be read at all.
    Unreadable = 2,
}

/// Why a file was not dumped to its end.
#[derive(Debug)]
enum Stop {
    /// It cannot be read.
    Read(Unreadable),
    /// What was read cannot be printed.
    Write(io::Error),
}

impl From<Unreadable> for Stop {
    fn from(error: Unreadable) -> Self {
        Stop::Read(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Write(error)
    }
}

/// Dumps all files.
///
/// # Errors
/// One of writing to `out` or `err`.
pub fn run(arguments: &Arguments, out: &mut impl Write, err: &mut impl Write) -> io::Result<Status> {
    let mut dump = Dump {
        arguments,
        out,
        err,
        status: Status::Sound,
        files: 0,
    };
    for path in &arguments.paths {
        if path.is_dir() {
            dump.whole_folder(path)?;
        } else {
            dump.file(path)?;
        }
    }
    dump.out.flush()?;
    Ok(dump.status)
}

struct Dump<'a, O, E> {
    arguments: &'a Arguments,
    out: &'a mut O,
    err: &'a mut E,
    status: Status,
    /// How many files were dumped.
    files: usize,
}

impl<O: Write, E: Write> Dump<'_, O, E> {
    /// A folder that was asked for by name. One in which there is nothing to read is not as a broker leaves it.
    fn whole_folder(&mut self, path: &Path) -> io::Result<()> {
        let (files, status) = (self.files, self.status);
        self.folder(path)?;
        if self.files == files && self.status == status {
            let why = "there is nothing to read in this folder; name a broker's data directory, or a partition's folder \
                       in it";
            return self.unreadable(path, why);
        }
        Ok(())
    }

    /// The files of a folder and of its folders, in the order of their names. Links to folders are not followed.
    fn folder(&mut self, path: &Path) -> io::Result<()> {
        let entries = fs::read_dir(path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(path, error.to_string()),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match FileKind::of(&entry.file_name().to_string_lossy()) {
                _ if folder => self.folder(&path)?,
                Some(kind) => self.known(&path, kind)?,
                None => writeln!(self.err, "Ignoring unknown file {}", path.display())?,
            }
        }
        Ok(())
    }

    /// A file that was asked for by name.
    fn file(&mut self, path: &Path) -> io::Result<()> {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        match FileKind::of(&name) {
            Some(kind) => self.known(path, kind),
            None if !path.exists() => self.unreadable(path, "there is no such file or folder"),
            None => {
                let remedy = "not a file of a log by its name; give it the name that it had in the data directory, \
                              such as 00000000000000000000.log";
                self.unreadable(path, remedy)
            }
        }
    }

    fn known(&mut self, path: &Path, kind: FileKind) -> io::Result<()> {
        self.files += 1;
        writeln!(self.out, "Dumping {}", path.display())?;
        let done = match kind {
            FileKind::Log { base } => self.log(path, base),
            FileKind::OffsetIndex { base } => self.offset_index(path, base),
            FileKind::TimeIndex { base } => self.time_index(path, base),
            FileKind::TxnIndex { base } => self.txn_index(path, base),
            FileKind::Snapshot { .. } => self.snapshot(path),
            FileKind::LeaderEpochs => self.leader_epochs(path),
            FileKind::Offsets(of) => self.offsets(path, of),
            FileKind::PartitionMetadata | FileKind::MetaProperties => self.properties(kind, path),
            FileKind::CleanShutdown => self.clean_shutdown(path),
        };
        match done {
            Ok(()) => Ok(()),
            Err(Stop::Write(error)) => Err(error),
            Err(Stop::Read(Unreadable { path, why })) => self.unreadable(&path, why),
        }
    }

    /// Says what keeps a file from being read.
    fn unreadable(&mut self, path: &Path, why: impl std::fmt::Display) -> io::Result<()> {
        self.status = Status::Unreadable;
        self.out.flush()?;
        writeln!(self.err, "{}: {why}", path.display())
    }

    /// Says what is wrong with a file.
    fn damaged(&mut self, path: &Path, damage: &Damage) -> io::Result<()> {
        self.status = self.status.max(Status::Damaged);
        self.out.flush()?;
        writeln!(self.err, "{}: {damage}", path.display())
    }
}

/// A path from the root on, as the real tool writes it in its complaints.
fn absolute(path: &Path) -> String {
    std::path::absolute(path)
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}
