//! `cargo xtask fuzz`: the harnesses of `tests/fuzz` for as long as one likes.
//!
//! With a nightly compiler under libFuzzer, which learns from the paths its inputs take; without one on damaged examples.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::tools;
use crate::workspace::{self, Workspace, ask};

/// Runs each harness for so many seconds.
pub fn run(seconds: u64) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let nightly = ask(Command::new("rustup").args(["run", "nightly", "rustc", "--version"]));
    let libfuzzer = match nightly {
        None => Err("there is no nightly compiler (`rustup toolchain install nightly` brings one)".to_owned()),
        Some(_) => tools::cargo_fuzz(&workspace).map_err(|error| format!("cargo-fuzz cannot be had: {error:#}")),
    };
    match libfuzzer {
        Ok(()) => under_libfuzzer(&workspace, seconds)?,
        Err(missing) => {
            eprintln!("» On damaged examples instead of under libFuzzer: {missing}");
            let mut command = workspace.cargo(&[
                "test",
                "--locked",
                "--release",
                "--package",
                "highwater",
                "--test",
                "fuzz",
                "--",
                "--nocapture",
            ]);
            workspace::run(command.env("HIGHWATER_FUZZ_SECONDS", seconds.to_string()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn under_libfuzzer(workspace: &Workspace, seconds: u64) -> Result<()> {
    let folder = workspace.root.join("tests/fuzz");
    let mut targets: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder.join("targets"))? {
        targets.extend(
            entry?
                .path()
                .file_stem()
                .map(|name| name.to_string_lossy().into_owned()),
        );
    }
    targets.sort();
    for target in targets {
        eprintln!("» {target}, for {seconds} s");
        let corpus = workspace.target.join("fuzz/corpus").join(&target);
        fs::create_dir_all(&corpus)?;
        let mut command = Command::new("rustup");
        command
            .current_dir(&workspace.root)
            .env("PATH", tools::path(workspace)?)
            // Each harness is a program of its own: to link the whole library into each as one costs more than it gives.
            .envs([
                ("CARGO_PROFILE_RELEASE_LTO", "off"),
                ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
            ])
            .args(["run", "nightly", "cargo", "fuzz", "run", "--fuzz-dir"])
            .arg(&folder)
            .arg("--target-dir")
            .arg(workspace.target.join("fuzz"))
            .arg(&target)
            .arg(&corpus)
            .args([
                "--",
                &format!("-max_total_time={seconds}"),
                "-rss_limit_mb=1024",
                "-max_len=8192",
                "-verbosity=0",
            ]);
        workspace::run(&mut command)?;
    }
    Ok(())
}
