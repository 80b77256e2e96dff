//! Files of this machine: how they come into the page, and how they are read, slice by slice.
//!
//! Nothing is read before it is shown, and no more of a file is held than one slice and the places of its batches.

use std::rc::Rc;

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, File, FileList, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry, js_sys};

use crate::inspect::FileKind;
use crate::ui::view::files::{Entry, LogWalk, MOST_IN_MEMORY, Opened, Parts, Stored, Wanted, kind_of, parts_of, size};

/// The most files that are taken: a broker has far fewer in one partition's folder.
const MOST: usize = 5000;

/// Files from this machine.
pub struct Real {
    /// The folder that holds them all, if one does.
    pub folder: Option<String>,
    /// Their names and sizes, by name.
    pub entries: Vec<Entry>,
    files: Vec<File>,
}

/// What was read of a real file so far.
#[derive(Clone, Default)]
pub struct Reading {
    /// What is in it, or why it cannot be shown; nothing while it is read.
    pub opened: Option<Result<Rc<Opened>, String>>,
    /// Up to which byte it was read.
    pub reached: u64,
}

impl Real {
    /// The files that were chosen: their paths and themselves. A folder that holds them all is left out of their names.
    pub fn new(mut files: Vec<(String, File)>) -> Real {
        let top = |path: &str| path.split_once('/').map(|(top, _)| top.to_owned());
        let first = files.first().and_then(|(path, _)| top(path));
        let folder = first.filter(|first| files.iter().all(|(path, _)| top(path).as_ref() == Some(first)));
        if let Some(first) = &folder {
            files
                .iter_mut()
                .for_each(|(path, _)| *path = path.split_off(first.len() + 1));
        }
        crate::sorted::sort_by(&mut files, |(a, _), (b, _)| a.cmp(b));
        Real {
            folder,
            entries: files
                .iter()
                .map(|(name, file)| Entry::new(name, file.size() as u64, Stored::Unknown))
                .collect(),
            files: files.into_iter().map(|(_, file)| file).collect(),
        }
    }

    /// The file of this name.
    pub fn file(&self, name: &str) -> Option<&File> {
        let at = self.entries.iter().position(|entry| &*entry.name == name)?;
        self.files.get(at)
    }
}

/// The files of a list, which has those of a folder with the paths in it.
pub fn listed(list: &FileList) -> Vec<(String, File)> {
    let path = |file: &File| {
        let path = js_sys::Reflect::get(file, &"webkitRelativePath".into());
        let path = path.ok().and_then(|path| path.as_string());
        path.filter(|path| !path.is_empty()).unwrap_or_else(|| file.name())
    };
    let files = (0..list.length()).filter_map(|at| list.get(at));
    files.take(MOST).map(|file| (path(&file), file)).collect()
}

/// What was dropped. It can be asked for only while the event lasts; folders are walked through afterwards.
pub fn dropped(data: &DataTransfer) -> Vec<FileSystemEntry> {
    let items = data.items();
    let entry = |at| items.get(at)?.webkit_get_as_entry().ok()?;
    (0..items.length()).filter_map(entry).collect()
}

/// All files of what was dropped, those of folders with the paths in it.
pub async fn within(mut open: Vec<FileSystemEntry>) -> Vec<(String, File)> {
    let mut files = Vec::new();
    while let Some(entry) = open.pop()
        && files.len() < MOST
    {
        if entry.is_file() {
            let file: &FileSystemFileEntry = entry.unchecked_ref();
            if let Some(file) = asked(&|done, failed| file.file_with_callback_and_callback(done, failed)).await {
                let path = entry.full_path();
                files.push((path.trim_start_matches('/').to_owned(), file.unchecked_into()));
            }
            continue;
        }
        let reader = entry.unchecked_ref::<FileSystemDirectoryEntry>().create_reader();
        // A folder is told of piece by piece; an empty piece ends it.
        while let Some(piece) = asked(&|done, failed| {
            let _ = reader.read_entries_with_callback_and_callback(done, failed);
        })
        .await
        {
            let piece: js_sys::Array = piece.unchecked_into();
            if piece.length() == 0 {
                break;
            }
            open.extend(piece.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
        }
    }
    files
}

/// What a question with two callbacks is answered.
async fn asked(ask: &dyn Fn(&js_sys::Function, &js_sys::Function)) -> Option<JsValue> {
    let answer = js_sys::Promise::new(&mut |done, failed| ask(&done, &failed));
    JsFuture::from(answer).await.ok()
}

/// A slice of a file.
pub async fn slice(file: &File, wanted: Wanted) -> Result<Vec<u8>, String> {
    let failed = |_| "this file cannot be read any more; open it again".to_owned();
    let (from, to) = (wanted.position as f64, (wanted.position + wanted.length) as f64);
    let part = file.slice_with_f64_and_f64(from, to).map_err(failed)?;
    let buffer = JsFuture::from(part.array_buffer()).await.map_err(failed)?;
    Ok(js_sys::Uint8Array::new(&buffer).to_vec())
}

/// Reads a real file, telling from time to time how far it has come; ends when that is not wanted any more.
pub async fn read(real: &Real, name: Rc<str>, told: impl Fn(Reading) -> bool) {
    let reading = |opened| Reading {
        opened,
        ..Reading::default()
    };
    told(reading(None));
    let opened = open_real(real, &name, |reached| {
        told(Reading {
            reached,
            ..reading(None)
        })
    })
    .await;
    match opened {
        Ok(Some(opened)) => told(reading(Some(Ok(Rc::new(opened))))),
        Ok(None) => false,
        Err(why) => told(reading(Some(Err(why)))),
    };
}

async fn open_real(real: &Real, name: &Rc<str>, told: impl Fn(u64) -> bool) -> Result<Option<Opened>, String> {
    let kind = kind_of(name)?;
    let beside = |suffix: &str| format!("{}.{suffix}", name.rsplit_once('.').map_or(&**name, |(stem, _)| stem));
    let (log, small) = match kind {
        FileKind::Log { .. } => (name.to_string(), beside("index")),
        FileKind::OffsetIndex { .. } | FileKind::TimeIndex { .. } => (beside("log"), name.to_string()),
        _ => (String::new(), name.to_string()),
    };
    let batches = match (real.file(&log), kind_of(&log)) {
        (Some(file), Ok(FileKind::Log { base })) => match walk(file, base, told).await? {
            Some(found) => Some(found),
            None => return Ok(None),
        },
        _ => None,
    };
    let (whole, entries) = match real.file(&small) {
        Some(file) => {
            let length = file.size() as u64;
            if length > MOST_IN_MEMORY {
                return Err(format!("{small} has {}, too many for a file of its kind", size(length)));
            }
            let whole = slice(file, Wanted { position: 0, length }).await?;
            let parts = parts_of(kind_of(&small)?, &whole, length);
            (whole, Some(parts))
        }
        None => (Vec::new(), None),
    };
    Ok(match (kind, batches, entries) {
        (FileKind::Log { .. }, Some(own), index) => Some(Opened::new(name.clone(), kind, own, None, index)),
        (_, log, Some(own)) => Some(Opened {
            whole: whole.into(),
            ..Opened::new(name.clone(), kind, own, log, None)
        }),
        _ => None,
    })
}

/// Walks through a real segment, piece by piece.
async fn walk(file: &File, base: i64, told: impl Fn(u64) -> bool) -> Result<Option<Parts>, String> {
    let mut walk = LogWalk::new(base, file.size() as u64);
    let mut pieces = 0_u32;
    while let Some(wanted) = walk.go() {
        walk.hold(wanted.position, slice(file, wanted).await?);
        pieces += 1;
        if pieces.is_multiple_of(16) && !told(wanted.position) {
            return Ok(None);
        }
    }
    Ok(Some(walk.found))
}
