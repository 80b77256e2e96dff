//! Every story in `tests/stories` holds: run by the engine, with every expectation looked at.
//!
//! A story that carries a trace behind `----` is compared with it event by event; with `HIGHWATER_REWRITE=1` in the
//! environment the trace is written anew, to be reviewed as a difference.

mod laws;

use highwater::scenario::{Run, parse};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories");
    let entries = fs::read_dir(folder).expect("the folder of stories is part of the repository");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths
}

/// Runs a story; gives back how many expectations were looked at, and what does not hold.
fn tell(path: &Path) -> (usize, Vec<String>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read(path).expect("a story can be read");
    let script = match parse(&text) {
        Ok(script) => Arc::new(script),
        Err(faults) => return (0, faults.iter().map(|fault| format!("{name}:{fault}")).collect()),
    };
    let mut run = match Run::new(script) {
        Ok(run) => run,
        Err(failure) => return (0, vec![format!("{name}:{failure}")]),
    };
    run.play(None, |_, _| {});
    if let (Some(trace), Some(_)) = (run.trace(), std::env::var_os("HIGHWATER_REWRITE")) {
        rewrite(path, trace);
    }
    let report = run.report();
    let failures = report.failures.iter().map(|failure| format!("{name}:{failure}"));
    let unlawful = laws::unexplained(&String::from_utf8_lossy(&text), &run.ledger);
    let unlawful = unlawful.into_iter().chain(laws::misremembered(&run.world, &run.ledger));
    let failures = failures.chain(unlawful.map(|what| format!("{name}: {what}")));
    (report.expectations, failures.collect())
}

/// Writes the trace of a story anew.
fn rewrite(path: &Path, trace: &[String]) {
    let text = fs::read_to_string(path).expect("a story can be read");
    let statements = text.lines().take_while(|line| line.trim_end() != "----");
    let lines = statements.chain(["----"]).chain(trace.iter().map(String::as_str));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    fs::write(path, text).expect("a story can be written");
}

/// Runs all stories, on as many threads as there are processors.
fn tell_all(paths: &[PathBuf]) -> Vec<(usize, Vec<String>)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = paths.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let tellers: Vec<_> = paths
            .chunks(share)
            .map(|paths| scope.spawn(|| paths.iter().map(|path| tell(path)).collect::<Vec<_>>()))
            .collect();
        tellers
            .into_iter()
            .flat_map(|teller| teller.join().expect("no story panics"))
            .collect()
    })
}

#[test]
fn every_story_holds() {
    let told = tell_all(&stories());
    let expectations: usize = told.iter().map(|(expectations, _)| expectations).sum();
    let failures: Vec<String> = told.iter().flat_map(|(_, failures)| failures.clone()).collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(
        (told.len(), expectations),
        (121, 3304),
        "stories and their expectations"
    );
}
