//! Files as sources of bytes.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::inspect::Source;

/// The longest index, snapshot or checkpoint that is believed to be one; Kafka's default for indexes is 10 MiB.
const MOST_IN_MEMORY: u64 = 256 << 20;

/// A file that cannot be read, and why.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub path: PathBuf,
    pub why: String,
}

impl Unreadable {
    pub(super) fn new(path: &Path, error: io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        };
        Self {
            path: path.to_owned(),
            why,
        }
    }

    /// The same fault with what is to be done about it.
    pub(super) fn with(self, remedy: &str) -> Self {
        Self {
            why: format!("{}; {remedy}", self.why),
            ..self
        }
    }
}

/// An open file, as long as it was when it was opened.
#[derive(Debug)]
pub(super) struct FileSource {
    path: PathBuf,
    file: File,
    length: u64,
}

impl FileSource {
    pub(super) fn open(path: &Path) -> Result<Self, Unreadable> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|error| Unreadable::new(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
        })
    }
}

impl Source for FileSource {
    type Error = Unreadable;

    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, position: u64, into: &mut [u8]) -> Result<(), Unreadable> {
        let read = self
            .file
            .seek(SeekFrom::Start(position))
            .and_then(|_| self.file.read_exact(into));
        read.map_err(|error| Unreadable::new(&self.path, error))
    }
}

/// The whole of a file that is small by nature.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let unreadable = |error: io::Error| Unreadable::new(path, error);
    let length = fs::metadata(path).map_err(unreadable)?.len();
    if length > MOST_IN_MEMORY {
        return Err(Unreadable {
            path: path.to_owned(),
            why: format!("{length} bytes are too many for a file of this kind"),
        });
    }
    fs::read(path).map_err(unreadable)
}
