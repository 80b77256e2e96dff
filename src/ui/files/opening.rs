//! What is open in the drawer: the files there are, the one that is opened, and the bytes of the part that was picked.
//!
//! A simulated replica's files are at hand. Real ones are read meanwhile, and whatever comes when something else was
//! opened in the meantime is left alone: it would stand in the place of what was asked for last.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::real::{Reading, Real, read, slice};
use crate::ui::view::files::{
    Entry, Is, MOST_IN_MEMORY, Opened, Part, Replica, SHOWN_BYTES, Stored, Wanted, listing, open,
};

/// Where the files come from.
pub enum Source<'a> {
    /// From this machine.
    Real(Rc<Real>),
    /// From a simulated replica.
    Simulated(&'a Replica),
    /// There are none.
    Nowhere,
}

impl Source<'_> {
    /// The files with their sizes.
    pub fn entries(&self) -> Vec<Entry> {
        match self {
            Source::Real(real) => real.entries.clone(),
            Source::Simulated(replica) => listing(&replica.files),
            Source::Nowhere => Vec::new(),
        }
    }

    /// The files of this machine, if they are that.
    pub fn real(&self) -> Option<&Rc<Real>> {
        match self {
            Source::Real(real) => Some(real),
            Source::Simulated(_) | Source::Nowhere => None,
        }
    }

    /// The simulated replica, if they are its.
    pub fn replica(&self) -> Option<&Replica> {
        match self {
            Source::Simulated(replica) => Some(replica),
            Source::Real(_) | Source::Nowhere => None,
        }
    }

    /// Where the bytes of a file are; of a real one nobody knows.
    pub fn stored(&self, entries: &[Entry], file: Option<&Rc<str>>) -> Stored {
        let entry = entries.iter().find(|entry| Some(&entry.name) == file);
        match (self.real(), entry) {
            (None, Some(entry)) => entry.stored,
            _ => Stored::Unknown,
        }
    }
}

/// One file of this machine, by which what was read is told from what is read of another.
#[derive(Clone)]
struct Which {
    real: Rc<Real>,
    name: Rc<str>,
}

impl Which {
    fn of(source: &Source<'_>, file: Option<&Rc<str>>) -> Option<Which> {
        let real = Rc::clone(source.real()?);
        let name = Rc::clone(file?);
        Some(Which { real, name })
    }
}

impl PartialEq for Which {
    fn eq(&self, other: &Which) -> bool {
        Rc::ptr_eq(&self.real, &other.real) && self.name == other.name
    }
}

/// A file that is opened.
pub struct Opening {
    /// What is in it, or why it cannot be shown; nothing while it is read.
    pub opened: Option<Result<Rc<Opened>, String>>,
    /// Up to which byte it was read.
    pub reached: u64,
}

/// Opens a file.
#[hook]
pub fn use_opened(source: &Source<'_>, file: Option<&Rc<str>>) -> Opening {
    let told = use_state(|| None::<(Which, Reading)>);
    let which = Which::of(source, file);
    {
        let told = told.setter();
        use_effect_with(which.clone(), move |which| {
            let wanted = Wish::default();
            if let Some(which) = which.clone() {
                let still = wanted.clone();
                spawn_local(async move {
                    let tell = |reading: Reading| {
                        if still.stands() {
                            told.set(Some((which.clone(), reading)));
                        }
                        still.stands()
                    };
                    read(&which.real, which.name.clone(), tell).await;
                });
            }
            move || wanted.end()
        });
    }
    let reading = match &*told {
        Some((of, reading)) if Some(of) == which.as_ref() => reading.clone(),
        _ => Reading::default(),
    };
    let at_hand = source.replica().zip(file);
    let at_hand = at_hand.map(|(replica, name)| open(&replica.files, name).map(Rc::new));
    Opening {
        opened: at_hand.or(reading.opened),
        reached: reading.reached,
    }
}

/// Reads the bytes of a part of a file; there are none as long as it is read.
///
/// # Errors
/// Why they cannot be read.
#[hook]
pub fn use_part_bytes(source: &Source<'_>, file: Option<&Rc<str>>, part: Option<Part>) -> Result<Rc<[u8]>, String> {
    let told = use_state(|| None::<(Which, Part, Result<Rc<[u8]>, String>)>);
    let which = Which::of(source, file).zip(part);
    {
        let told = told.setter();
        use_effect_with(which.clone(), move |which| {
            let wanted = Wish::default();
            if let Some((which, part)) = which.clone() {
                let still = wanted.clone();
                spawn_local(async move {
                    let bytes = bytes_of(&which, part).await;
                    if still.stands() {
                        told.set(Some((which, part, bytes)));
                    }
                });
            }
            move || wanted.end()
        });
    }
    match (source.replica(), file, part) {
        (Some(replica), Some(name), Some(part)) => {
            let all = replica.files.get(name).map(|file| file.to_bytes()).unwrap_or_default();
            let from = (part.position as usize).min(all.len());
            Ok(all[from..(part.end() as usize).min(all.len())].into())
        }
        _ => match &*told {
            Some((of, at, bytes)) if which.as_ref().is_some_and(|(which, part)| which == of && part == at) => {
                bytes.clone()
            }
            _ => Ok(Rc::default()),
        },
    }
}

/// The records of a batch can be listed; of anything else only the first bytes are shown.
async fn bytes_of(which: &Which, part: Part) -> Result<Rc<[u8]>, String> {
    let most = match part.is {
        Is::Batch { .. } => MOST_IN_MEMORY,
        _ => SHOWN_BYTES as u64,
    };
    let wanted = Wanted {
        position: part.position,
        length: part.length.min(most),
    };
    match which.real.file(&which.name) {
        Some(file) => slice(file, wanted).await.map(Into::into),
        None => Ok(Rc::default()),
    }
}

/// Whether what is read is still wanted when it comes.
#[derive(Clone)]
struct Wish(Rc<Cell<bool>>);

impl Default for Wish {
    fn default() -> Wish {
        Wish(Rc::new(Cell::new(true)))
    }
}

impl Wish {
    fn stands(&self) -> bool {
        self.0.get()
    }

    fn end(&self) {
        self.0.set(false);
    }
}
