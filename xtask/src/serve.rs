//! `cargo xtask serve`: from the sources to the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

use crate::dist::{self, Compression};
use crate::page::{self, Kind};
use crate::server::{self, Reload, Running, Site};
use crate::workspace::Workspace;

/// What the page is made of. A change of one of these is a new page.
const SOURCES: [&str; 5] = ["src", "static", "index.html", "Cargo.toml", "Cargo.lock"];

/// How often the sources are looked at. A poll needs no library and works on every file system.
const POLL: Duration = Duration::from_millis(300);

/// Builds the page and serves it until the process is ended.
pub fn run(port: u16, kind: Kind) -> Result<ExitCode> {
    let begun = Instant::now();
    // First, so that nobody waits for a build to hear that the port is taken.
    let listener = server::listen(port)?;
    let workspace = Workspace::find()?;
    let seen = snapshot(&workspace);
    let running = server::start(listener, make(&workspace, kind)?)?;
    eprintln!("» Ready after {:.0} s. Ctrl+C ends it.", begun.elapsed().as_secs_f32());
    println!("{}", running.address);
    match kind {
        Kind::Page => loop {
            thread::park();
        },
        Kind::Dev => watch(&workspace, &running, seen),
    }
}

/// Builds the page into `dist/` (a quick build into a folder of its own) and reads it.
pub fn make(workspace: &Workspace, kind: Kind) -> Result<Site> {
    let program = page::build(workspace, kind)?;
    let (folder, compression, reload) = match kind {
        Kind::Page => (workspace.root.join("dist"), Compression::Best, Reload::Never),
        Kind::Dev => (
            workspace.target.join("xtask").join("dist-dev"),
            Compression::None,
            Reload::WhenReplaced,
        ),
    };
    dist::assemble(workspace, &program, &folder, compression)?;
    Site::load(&folder, reload)
}

/// Builds again after each change. A build that fails leaves the last good page in place.
fn watch(workspace: &Workspace, running: &Running, mut seen: Snapshot) -> ! {
    loop {
        thread::sleep(POLL);
        let now = snapshot(workspace);
        if now == seen {
            continue;
        }
        // Editors write several files at once: wait until they are done.
        thread::sleep(POLL);
        if snapshot(workspace) != now {
            continue;
        }
        seen = now;
        match make(workspace, Kind::Dev) {
            Ok(site) => {
                running.replace(site);
                eprintln!("» The page is new.");
            }
            Err(error) => eprintln!("error: {error:#}\n» The last good page is still served."),
        }
    }
}

type Snapshot = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// When each source was last written, and how long it is.
fn snapshot(workspace: &Workspace) -> Snapshot {
    fn add(path: &Path, snapshot: &mut Snapshot) {
        if let Ok(entries) = fs::read_dir(path) {
            entries.flatten().for_each(|entry| add(&entry.path(), snapshot));
        } else if let Ok(metadata) = fs::metadata(path) {
            snapshot.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
        }
    }
    let mut snapshot = Snapshot::new();
    SOURCES
        .iter()
        .for_each(|source| add(&workspace.root.join(source), &mut snapshot));
    snapshot
}
