//! Where the project lies on this disk, which versions it is locked to, and how its tools are started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The folders every task works with.
pub struct Workspace {
    /// The project's top folder.
    pub root: PathBuf,
    /// Where cargo builds, and where tasks keep what they make.
    pub target: PathBuf,
}

impl Workspace {
    /// Asks cargo, which knows about `CARGO_TARGET_DIR` and configuration files.
    pub fn find() -> Result<Self> {
        // At run time rather than compile time: a target folder may be shared by two clones.
        let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
            .arg(Path::new(&package).join("Cargo.toml"))
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed");
        }
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let folder = |key: &str| -> Result<PathBuf> {
            Ok(metadata[key]
                .as_str()
                .with_context(|| format!("`cargo metadata` gives no {key}"))?
                .into())
        };
        Ok(Workspace {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
        })
    }

    /// A cargo command in the project's top folder.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// The version of `package` that `Cargo.lock` holds.
    pub fn locked_version(&self, package: &str) -> Result<String> {
        let path = self.root.join("Cargo.lock");
        let lock = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        locked_version(&lock, package).with_context(|| format!("Cargo.lock does not name {package}"))
    }
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn locked_version(lock: &str, package: &str) -> Option<String> {
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{package}\""));
    let version = lines.nth(1)?.strip_prefix("version = \"")?;
    Some(version.trim_end_matches('"').to_owned())
}

/// Runs `command` with its output on ours; an error names what failed.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", name(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// What `command` prints on its standard output, trimmed; `None` when it cannot be started or fails.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let mut words = vec![name(command)];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Says what is about to be done, does it, and says how long it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("» {what}");
    let begun = Instant::now();
    let done = work()?;
    eprintln!("  done in {:.1} s", begun.elapsed().as_secs_f32());
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::locked_version;

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        let lock = "[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"registry\"\n\n\
                    [[package]]\nname = \"wasm-bindgen-shared\"\nversion = \"0.2.131\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(locked_version(lock, "wasm-bindgen-shared").as_deref(), Some("0.2.131"));
        assert_eq!(locked_version(lock, "wasm"), None);
    }
}
