//! `cargo xtask ask FOLDER`: random operations on a log, performed by a real Kafka and by ours.
//!
//! The folder holds the programs that drive Kafka's log classes and write recordings (`oracle.Harness`, and `oracle.Main
//! generate` for operations of its own choice); they are no part of the project. `tests/ask` makes up the operations and
//! compares.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::kafka;
use crate::workspace::{self, Workspace};

/// Asks for so many recordings, of one seed after another. What differs is kept.
///
/// `kinds` names kinds of recording that the programs themselves can make, `all` or some with commas between; without it the
/// operations are ours.
pub fn run(oracle: &Path, recordings: u64, seed: u64, kinds: Option<&String>) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    if !oracle.join("pom.xml").is_file() {
        bail!(
            "{} holds no pom.xml: name the folder of the programs that ask a real Kafka",
            oracle.display()
        );
    }
    let ours = workspace.root.join("tests/ask/oracle");
    let class_path = match kafka::programs(&workspace, oracle, &[&oracle.join("src"), &ours], "ask")? {
        Ok(class_path) => class_path,
        Err(missing) => bail!("Kafka cannot be asked: {missing}"),
    };
    let kept = workspace.target.join("ask/recordings");
    let mut command = workspace.cargo(&[
        "test",
        "--locked",
        "--package",
        "highwater",
        "--test",
        "ask",
        "--",
        "--ignored",
        "--nocapture",
    ]);
    command
        .env("HIGHWATER_ORACLE", class_path)
        .env("HIGHWATER_ASKED", &kept)
        .env("HIGHWATER_RECORDINGS", recordings.to_string())
        .env("HIGHWATER_SEED", seed.to_string())
        .envs(kinds.map(|kinds| ("HIGHWATER_KINDS", kinds)));
    workspace::run(&mut command)?;
    Ok(ExitCode::SUCCESS)
}
