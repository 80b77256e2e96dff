//! `highwater run FILE…`: runs scenarios.
//!
//! One line a file; under it what failed, with its place; at the end the totals. With `--trace` every event, with `--json`
//! all of it as JSON Lines, with `--until` the state before a line, with `--files` the brokers' files. Deliberately absent:
//! the running itself ([`crate::scenario::run`]).

use super::{files, state};
use crate::cluster::{Event, World};
use crate::scenario::{Failure, Run, parse, trace};
use serde_json::{Value as Json, json};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `highwater run` is told.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Arguments {
    /// Prints every event.
    #[arg(long)]
    pub trace: bool,
    /// Prints events and results as JSON Lines.
    #[arg(long)]
    pub json: bool,
    /// Stops before this line and prints the state of the world.
    #[arg(long, value_name = "LINE")]
    pub until: Option<u32>,
    /// Writes every broker's data directory, as it is at the end, to real files under this folder: broker-1/payments-0/…
    /// It must be empty or not exist yet.
    #[arg(long = "files", value_name = "DIR")]
    pub write_to: Option<PathBuf>,
    /// Scenarios; - is the standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
}

/// How a run ended, as an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Every expectation holds.
    Holds = 0,
    /// One does not, or a run stopped.
    Fails = 1,
    /// A file cannot be read or is malformed.
    Malformed = 2,
}

/// Runs all files.
///
/// # Errors
/// One of writing to `out` or `err`.
pub fn run(
    arguments: &Arguments,
    input: &mut impl Read,
    out: &mut impl Write,
    err: &mut impl Write,
) -> io::Result<Status> {
    if let Some(refused) = refusal(arguments) {
        writeln!(err, "--files: {refused}")?;
        return Ok(Status::Malformed);
    }
    let mut totals = Totals::default();
    for file in &arguments.files {
        let status = one(file, arguments, input, &mut totals, out, err)?;
        totals.status = totals.status.max(Some(status));
    }
    let (files, expectations, failed) = (arguments.files.len(), totals.expectations, totals.failed);
    if arguments.json {
        writeln!(
            out,
            "{}",
            json!({ "files": files, "expectations": expectations, "failed": failed })
        )?;
    } else {
        writeln!(out, "{files} files, {expectations} expectations, {failed} failed")?;
    }
    Ok(totals.status.unwrap_or(Status::Holds))
}

/// Why the folder for real files cannot be used.
fn refusal(arguments: &Arguments) -> Option<String> {
    let folder = arguments.write_to.as_deref()?;
    match arguments.files.len() {
        1 => files::prepare(folder).err().map(|refused| refused.to_string()),
        scenarios => Some(format!(
            "{scenarios} scenarios cannot share a folder; run one at a time"
        )),
    }
}

#[derive(Default)]
struct Totals {
    expectations: usize,
    failed: usize,
    status: Option<Status>,
}

fn read(file: &str, input: &mut impl Read) -> io::Result<Vec<u8>> {
    if file != "-" {
        return fs::read(file);
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn one(
    file: &str,
    arguments: &Arguments,
    input: &mut impl Read,
    totals: &mut Totals,
    out: &mut impl Write,
    err: &mut impl Write,
) -> io::Result<Status> {
    let script = match read(file, input).map(|bytes| parse(&bytes)) {
        Ok(Ok(script)) => Arc::new(script),
        Ok(Err(faults)) => {
            faults.iter().try_for_each(|fault| writeln!(err, "{file}:{fault}"))?;
            result(file, &[], 0, Status::Malformed, arguments, out)?;
            return Ok(Status::Malformed);
        }
        Err(error) => {
            writeln!(err, "{file}: cannot be read: {error}")?;
            result(file, &[], 0, Status::Malformed, arguments, out)?;
            return Ok(Status::Malformed);
        }
    };
    let mut run = match Run::new(script) {
        Ok(run) => run,
        Err(failure) => {
            totals.failed += 1;
            result(file, &[failure], 0, Status::Fails, arguments, out)?;
            return Ok(Status::Fails);
        }
    };
    let mut written = Ok(());
    run.play(arguments.until, |events, world| {
        if written.is_ok() {
            written = print_events(events, world, arguments, out);
        }
    });
    written?;
    let report = run.report();
    totals.expectations += report.expectations;
    totals.failed += report.failures.len();
    let status = if report.is_ok() { Status::Holds } else { Status::Fails };
    result(file, &report.failures, report.expectations, status, arguments, out)?;
    if arguments.until.is_some() {
        state::print(&run.world, arguments.json, out)?;
    }
    match &arguments.write_to {
        Some(folder) => write_files(&run.world, folder, arguments.json, status, out, err),
        None => Ok(status),
    }
}

/// Writes the data directories, and how that went.
fn write_files(
    world: &World,
    folder: &Path,
    as_json: bool,
    status: Status,
    out: &mut impl Write,
    err: &mut impl Write,
) -> io::Result<Status> {
    match files::write(world, folder) {
        Ok(written) if as_json => writeln!(out, "{}", json!({ "written": written, "folder": folder }))?,
        Ok(written) => writeln!(out, "wrote {written} files to {}", folder.display())?,
        Err(refused) => {
            writeln!(err, "--files: {refused}")?;
            return Ok(Status::Malformed);
        }
    }
    Ok(status)
}

fn print_events(events: &[Event], world: &World, arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    events
        .iter()
        .try_for_each(|event| match (arguments.json, arguments.trace) {
            (true, _) => writeln!(out, "{}", trace::json(event, world)),
            (false, true) => writeln!(out, "{}", trace::line(event, world)),
            (false, false) => Ok(()),
        })
}

/// The line of a file, and what failed in it.
fn result(
    file: &str,
    failures: &[Failure],
    expectations: usize,
    status: Status,
    arguments: &Arguments,
    out: &mut impl Write,
) -> io::Result<()> {
    if arguments.json {
        failures
            .iter()
            .try_for_each(|failure| writeln!(out, "{}", failure_json(file, failure)))?;
        let ok = status == Status::Holds;
        return writeln!(
            out,
            "{}",
            json!({ "file": file, "ok": ok, "expectations": expectations })
        );
    }
    match status {
        Status::Holds => writeln!(out, "ok {file} ({expectations} expectations)")?,
        Status::Fails | Status::Malformed => writeln!(out, "FAILED {file}")?,
    }
    failures
        .iter()
        .try_for_each(|failure| writeln!(out, "{file}:{failure}"))
}

fn failure_json(file: &str, failure: &Failure) -> Json {
    match failure {
        Failure::Expectation {
            line,
            expected,
            found,
            last,
        } => {
            json!({ "file": file, "line": line, "expected": expected, "found": found, "last": last })
        }
        Failure::Stopped { line, stop } => json!({ "file": file, "line": line, "stopped": stop.to_string() }),
        Failure::Trace { line, expected, found } => {
            json!({ "file": file, "line": line, "expected-event": expected, "found-event": found })
        }
    }
}
