//! `cargo xtask bench`: what the engine and the page cost, as one table for the README.
//!
//! Deliberately absent: a history of figures. They depend on the machine, so they are written down with it.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};

use crate::dist::{self, Compression};
use crate::page::{self, Kind};
use crate::server::{self, Reload, Site};
use crate::tools::{self, Browser, Chromium};
use crate::workspace::{self, Workspace, ask};

/// Runs every benchmark and prints the table. Fails when a figure is over its budget.
pub fn run() -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let browser = tools::browser()?;
    let mut table = Table::default();

    let programs = ["--bench", "engine", "--bench", "log", "--bench", "dump"];
    table.gather(&mut workspace.cargo(&[&["bench", "--locked", "--no-fail-fast"][..], &programs[..]].concat()))?;

    table.gather(&mut in_a_browser(&workspace, &browser, table.native_state.as_deref())?)?;

    let program = page::build(&workspace, Kind::Page)?;
    let folder = workspace.root.join("dist");
    dist::assemble(&workspace, &program, &folder, Compression::Best)?;
    let server = server::start(server::listen(0)?, Site::load(&folder, Reload::Never)?)?;
    let chromium = Chromium::start(&workspace, &browser)?;
    let mut figures = workspace.cargo(&["run", "--locked", "--package", "page-tests", "--bin", "page-figures"]);
    figures
        .env("HIGHWATER_PAGE", &server.address)
        .env("HIGHWATER_CHROMIUM", &chromium.address);
    table.gather(&mut figures)?;

    println!("\nMeasured on {}:\n", machine());
    println!("| figure | measured | at most |\n|---|---|---|");
    table.rows.iter().for_each(|row| println!("{row}"));
    Ok(if table.all_within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What the line begins with that says how many nanoseconds a state costs natively.
const NATIVE_STATE: &str = "native-state-nanoseconds ";

/// The engine's own figure in a browser, compiled as the page is: wasm-pack knows the release profile alone, which becomes
/// the page's by what the two differ in (`profile.page` in Cargo.toml).
fn in_a_browser(workspace: &Workspace, browser: &Browser, native: Option<&str>) -> Result<Command> {
    page::add_target(workspace)?;
    tools::wasm_bindgen(workspace)?;
    tools::wasm_pack(workspace)?;
    let mut command = tools::wasm_tests(workspace, browser)?;
    command.env(
        "HIGHWATER_NATIVE_STATE",
        native.context("the engine gave no figure for a state")?,
    );
    command
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "2")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    command.args([
        "--locked",
        "--release",
        "--lib",
        "--",
        "--include-ignored",
        "--nocapture",
        "what_a_state",
    ]);
    Ok(command)
}

struct Table {
    rows: Vec<String>,
    all_within: bool,
    /// How many nanoseconds a state costs natively.
    native_state: Option<String>,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            rows: Vec::new(),
            all_within: true,
            native_state: None,
        }
    }
}

impl Table {
    /// Takes the rows that `command` prints; it fails when one of them is over its budget.
    fn gather(&mut self, command: &mut Command) -> Result<()> {
        let line = workspace::line(command);
        eprintln!("» {line}");
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{line}`"))?;
        let before = self.rows.len();
        for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
            let line = line?;
            // A test runner puts what a test prints behind spaces of its own.
            let row = line.trim();
            if row.starts_with("| ") && row.ends_with('|') {
                self.rows.push(row.to_owned());
            }
            if let Some(found) = row.strip_prefix(NATIVE_STATE) {
                self.native_state = Some(found.to_owned());
            }
        }
        self.all_within &= child.wait()?.success();
        anyhow::ensure!(self.rows.len() > before, "`{line}` gave no figure");
        Ok(())
    }
}

/// The processor and how many of it there are, as far as this system says.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map(|(_, model)| model.to_owned());
    let model = model.or_else(|| ask(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{cores} × {}, {}",
        model.as_deref().unwrap_or("an unknown processor"),
        std::env::consts::OS
    )
}
