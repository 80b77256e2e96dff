//! `cargo xtask soak`: random schedules of faults, for as long as one likes, by an engine built to be fast.

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::{self, Workspace};

/// Plays schedules for so many minutes, from this seed on. What breaks is printed as a scenario.
pub fn run(minutes: u64, seed: u64) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let (minutes, seed) = (minutes.to_string(), seed.to_string());
    let build = ["run", "--locked", "--release", "--package", "highwater", "--"];
    let soak = ["soak", "--minutes", &minutes, "--seed", &seed];
    workspace::run(&mut workspace.cargo(&[&build[..], &soak[..]].concat()))?;
    Ok(ExitCode::SUCCESS)
}
