//! Every story in `tests/stories` holds: run by the engine, with every expectation looked at.
//!
//! A story that carries a trace behind `----` is compared with it event by event. The world that each one ends in is
//! known by its fingerprint, `tests/fingerprints.txt`; the tests in a browser read the same list. With
//! `HIGHWATER_REWRITE=1` in the environment traces and fingerprints are written anew, to be reviewed as a difference.

mod laws;
mod told;

use highwater::scenario::Run;
use std::fs;
use std::path::Path;

/// A story that was told.
struct Told {
    name: String,
    expectations: usize,
    /// What does not hold.
    failures: Vec<String>,
    /// Of the world at its end.
    fingerprint: Option<u128>,
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(told::folder()).expect("the folder of stories is part of the repository");
    let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.strip_suffix(".txt")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// The page's list of stories says what the first line of each file says.
#[test]
fn the_list_of_stories_is_theirs() {
    let title = |name: &String| {
        let text = fs::read_to_string(told::folder().join(name).with_extension("txt")).expect("it was listed");
        let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let first = first.expect("a story begins with what happens in it");
        assert!(
            first.ends_with(['.', '?', '!']),
            "{name}: its title breaks off: {first}"
        );
        format!("{name}\t{first}\n")
    };
    let list: String = names().iter().map(title).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui/playground/stories.txt");
    if rewrites() {
        fs::write(&path, &list).expect("the list can be written");
    }
    let listed = fs::read_to_string(&path).expect("the list is part of the repository");
    assert!(
        list == listed,
        "the list is out of date: HIGHWATER_REWRITE=1 writes it anew"
    );
}

fn rewrites() -> bool {
    std::env::var_os("HIGHWATER_REWRITE").is_some()
}

/// Runs a story and looks at what came of it.
fn tell(name: &String) -> Told {
    let run = match told::run(name, |rules| rules) {
        Ok(run) => run,
        Err(failure) => {
            return Told {
                name: name.clone(),
                expectations: 0,
                failures: vec![failure],
                fingerprint: None,
            };
        }
    };
    let path = told::folder().join(name).with_extension("txt");
    if let Some(trace) = run.trace().filter(|_| rewrites()) {
        rewrite(&path, trace);
    }
    Told {
        name: name.clone(),
        expectations: run.report().expectations,
        failures: failures(name, &path, &run),
        fingerprint: Some(run.world.fingerprint()),
    }
}

fn failures(name: &str, path: &Path, run: &Run) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a story can be read");
    let report = run.report();
    let failures = report.failures.iter().map(|failure| format!("{name}:{failure}"));
    let unlawful = laws::unexplained(&text, &run.ledger);
    let unlawful = unlawful.into_iter().chain(laws::misremembered(&run.world, &run.ledger));
    let idle = (report.expectations == 0 && run.trace().is_none()).then(|| "it expects nothing".to_owned());
    let told = unlawful.chain(idle).map(|what| format!("{name}: {what}"));
    failures.chain(told).collect()
}

/// Writes the trace of a story anew.
fn rewrite(path: &Path, trace: &[String]) {
    let text = fs::read_to_string(path).expect("a story can be read");
    let statements = text.lines().take_while(|line| line.trim_end() != "----");
    let lines = statements.chain(["----"]).chain(trace.iter().map(String::as_str));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    fs::write(path, text).expect("a story can be written");
}

/// The list of fingerprints as it should be.
fn fingerprints(told: &[Told]) -> String {
    let known = told.iter().filter_map(|told| Some((&told.name, told.fingerprint?)));
    known
        .map(|(name, fingerprint)| format!("{name} {fingerprint:032x}\n"))
        .collect()
}

/// The lines of two lists that stand in one of them only.
fn difference(expected: &str, found: &str) -> Vec<String> {
    let only = |these: &str, those: &str, sign: char| -> Vec<String> {
        let missing = these.lines().filter(|line| !those.lines().any(|other| other == *line));
        missing.map(|line| format!("{sign} {line}")).collect()
    };
    [only(expected, found, '-'), only(found, expected, '+')].concat()
}

#[test]
fn every_story_holds_and_ends_where_it_always_does() {
    let told = told::each(&names(), tell);
    let failures: Vec<&str> = told
        .iter()
        .flat_map(|told| &told.failures)
        .map(String::as_str)
        .collect();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    let expectations: usize = told.iter().map(|told| told.expectations).sum();
    println!("{} stories, {expectations} expectations", told.len());
    let (list, found) = (told::folder().with_file_name("fingerprints.txt"), fingerprints(&told));
    if rewrites() {
        fs::write(&list, &found).expect("the list can be written");
    }
    let expected = fs::read_to_string(&list).unwrap_or_default();
    assert_eq!(
        difference(&expected, &found),
        Vec::<String>::new(),
        "stories end elsewhere than the list says; if they should, HIGHWATER_REWRITE=1 cargo test --test stories writes it anew"
    );
}
