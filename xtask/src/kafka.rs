//! The real Kafka that our files are held against: its jars, brought by Maven, and the small programs that ask them.
//!
//! Deliberately absent: a broker. The tools, the log loader and the class that leads a partition are enough, and start in a second.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use crate::tools;
use crate::workspace::{self, Workspace, ask, step};

/// The oldest Java that Kafka 4.4 runs on.
const JAVA: u32 = 17;

/// The class path of the programs, compiled. The inner error says what is missing on this machine.
pub fn class_path(workspace: &Workspace) -> Result<Result<OsString, String>> {
    let folder = workspace.root.join("tests/kafka");
    programs(workspace, &folder, &[&folder.join("src")], "kafka")
}

/// The class path of programs that need what a folder's `pom.xml` says, compiled under a name of their own. The inner error
/// says what is missing on this machine.
pub fn programs(
    workspace: &Workspace,
    needs: &Path,
    sources: &[&Path],
    name: &str,
) -> Result<Result<OsString, String>> {
    for program in ["java", "javac", "mvn"] {
        if tools::on_path(program).is_none() {
            return Ok(Err(format!("there is no {program} (it needs Java {JAVA} and Maven)")));
        }
    }
    let found = ask(Command::new("javac").arg("--version")).unwrap_or_default();
    if major(&found).is_none_or(|major| major < JAVA) {
        return Ok(Err(format!("it needs Java {JAVA}, and here is '{found}'")));
    }
    let folder = workspace.target.join(name);
    let (jars, classes) = (folder.join("jars"), folder.join("classes"));
    if let Err(error) = bring_jars(&needs.join("pom.xml"), &jars) {
        return Ok(Err(format!("Maven does not bring the jars ({error:#})")));
    }
    let jars = jars.join("*");
    fs::create_dir_all(&classes)?;
    let mut files = Vec::new();
    for folder in sources {
        java_files(folder, &mut files)?;
    }
    step("Compiling the programs that ask Kafka", || {
        let mut javac = Command::new("javac");
        javac
            .args(["-nowarn", "-Xlint:none", "--release", &JAVA.to_string(), "-cp"])
            .arg(&jars)
            .arg("-d")
            .arg(&classes)
            .args(&files);
        workspace::run(&mut javac)
    })?;
    Ok(Ok(
        env::join_paths([classes, jars]).context("the target folder's path cannot stand in a class path")?
    ))
}

fn java_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            java_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "java") {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

/// Brings the jars that a `pom.xml` names, once.
fn bring_jars(pom: &Path, jars: &Path) -> Result<()> {
    let stamp = jars.join("complete");
    let wanted = fs::read_to_string(pom).with_context(|| format!("cannot read {}", pom.display()))?;
    if fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    step("Bringing Kafka's jars with Maven", || {
        let mut maven = Command::new("mvn");
        maven
            .args(["-q", "-B", "-f"])
            .arg(pom)
            .arg("dependency:copy-dependencies");
        maven.arg(format!("-DoutputDirectory={}", jars.display()));
        workspace::run(&mut maven)
    })?;
    fs::write(&stamp, wanted).context("cannot note that the jars are complete")
}

/// The 17 of `javac 17.0.15`.
fn major(version: &str) -> Option<u32> {
    version.split_whitespace().nth(1)?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_version_of_a_compiler() {
        assert_eq!(major("javac 17.0.15"), Some(17));
        assert_eq!(major("javac 21"), Some(21));
        assert_eq!(major("javac 1.8.0_402"), Some(1));
        assert_eq!(major(""), None);
    }
}
