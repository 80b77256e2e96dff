//! Stories as tests tell them: found in their folder, and run to the end under whatever rules a test asks for.

use highwater::cluster::rules::Rules;
use highwater::scenario::{Run, parse};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of all stories.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories")
}

/// Runs the story with this name to its end.
///
/// # Errors
/// In words: that there is no such story, that it is malformed, or that its world cannot begin.
pub fn run(story: &str, change: impl FnOnce(Rules) -> Rules) -> Result<Run, String> {
    let path = folder().join(story).with_extension("txt");
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let listed = |faults: Vec<_>| {
        faults
            .iter()
            .map(|fault| format!("{story}:{fault}"))
            .collect::<Vec<_>>()
    };
    let script = parse(&text).map_err(|faults| listed(faults).join("\n"))?;
    let mut run = Run::under(Arc::new(script), change).map_err(|failure| format!("{story}:{failure}"))?;
    run.play(None, |_, _| {});
    Ok(run)
}

/// Does something with each of many things on as many threads as there are processors, and keeps their order.
pub fn each<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (share, act) = (all.len().div_ceil(threads).max(1), &act);
    std::thread::scope(|scope| {
        let shares = all.chunks(share);
        let workers: Vec<_> = shares
            .map(|share| scope.spawn(move || share.iter().map(act).collect::<Vec<_>>()))
            .collect();
        let done = workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("no story panics"));
        done.collect()
    })
}
