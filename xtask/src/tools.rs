//! The tools that tests need beside Rust: a browser, its driver, wasm-pack, axe-core. What can be compiled goes into
//! `target/tools`, once.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Workspace, ask, step};

const WASM_PACK: &str = "0.15.1";
const CARGO_FUZZ: &str = "0.13.1";

const CHROMIUM_NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// A browser without a window, which asks nothing of any network but ours.
const CHROMIUM_OPTIONS: [&str; 14] = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
];

/// Chromium and the program that drives it for wasm-pack.
pub struct Browser {
    pub chromium: PathBuf,
    pub driver: PathBuf,
}

/// Finds Chromium and chromedriver. On Debian, root gets what is missing; anyone else is told how to.
pub fn browser() -> Result<Browser> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    if is_root() && Path::new("/etc/debian_version").exists() {
        step("Installing Chromium with apt-get", || {
            workspace::run(Command::new("apt-get").args(["update", "-qq"]))?;
            let mut install = Command::new("apt-get");
            install
                .env("DEBIAN_FRONTEND", "noninteractive")
                .args(["install", "-y", "-qq", "--no-install-recommends"]);
            // A font, since a page without one has no sizes worth testing.
            workspace::run(
                install
                    .args(["chromium", "chromium-driver", "fonts-dejavu-core"])
                    .stdout(Stdio::null()),
            )
        })?;
    }
    find_browser().context(
        "tests in a browser need Chromium or Chrome, and chromedriver of the same version. Get them with\n  \
         Debian, Ubuntu: apt-get install chromium chromium-driver\n  \
         Fedora:         dnf install chromium chromedriver\n  \
         macOS:          brew install --cask google-chrome chromedriver\n\
         or name them in the variables CHROMIUM and CHROMEDRIVER. \
         What needs no browser runs with `cargo xtask test --only native`.",
    )
}

fn find_browser() -> Option<Browser> {
    let mac = Path::new("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    let chromium = env::var_os("CHROMIUM").map(PathBuf::from);
    let chromium = chromium.or_else(|| CHROMIUM_NAMES.iter().find_map(|name| on_path(name)));
    let chromium = chromium.or_else(|| mac.exists().then(|| mac.to_owned()))?;
    let driver = env::var_os("CHROMEDRIVER")
        .map(PathBuf::from)
        .or_else(|| on_path("chromedriver"))?;
    Some(Browser { chromium, driver })
}

/// The program of this name on the path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

fn is_root() -> bool {
    ask(Command::new("id").arg("-u")).as_deref() == Some("0")
}

/// The options for Chromium; its sandbox refuses to run as root.
fn chromium_options() -> Vec<&'static str> {
    let mut options = CHROMIUM_OPTIONS.to_vec();
    if is_root() {
        options.push("--no-sandbox");
    }
    options
}

/// wasm-pack, set to run the engine's tests in this browser. The caller adds options for cargo and the tests.
pub fn wasm_tests(workspace: &Workspace, browser: &Browser) -> Result<Command> {
    let mut command = Command::new("wasm-pack");
    command
        .current_dir(&workspace.root)
        .env("PATH", path(workspace)?)
        .env(
            "WASM_BINDGEN_TEST_WEBDRIVER_JSON",
            webdriver_settings(workspace, browser)?,
        )
        // Seconds, of which a busy machine may need a few for all stories; without it they are twenty.
        .env("WASM_BINDGEN_TEST_TIMEOUT", "180")
        .args(["test", "--headless", "--chrome", "--chromedriver"])
        .arg(&browser.driver)
        .args(["--mode", "no-install", "tests/wasm"]);
    Ok(command)
}

/// Writes what wasm-pack's test runner tells the driver about the browser, and gives the file's path.
fn webdriver_settings(workspace: &Workspace, browser: &Browser) -> Result<PathBuf> {
    let settings = serde_json::json!({
        "goog:chromeOptions": { "binary": browser.chromium, "args": chromium_options() }
    });
    let path = workspace.target.join("xtask").join("webdriver.json");
    fs::create_dir_all(path.parent().context("no folder")?)?;
    fs::write(&path, settings.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// A Chromium of ours. It ends when this is dropped.
pub struct Chromium {
    /// Where its protocol is spoken.
    pub address: String,
    process: Child,
    profile: PathBuf,
}

impl Chromium {
    /// Starts it with a profile of its own.
    pub fn start(workspace: &Workspace, browser: &Browser) -> Result<Chromium> {
        let profile = workspace
            .target
            .join("xtask")
            .join(format!("chromium-{}", std::process::id()));
        fs::create_dir_all(&profile)?;
        let mut process = Command::new(&browser.chromium)
            .args(chromium_options())
            .arg("--remote-debugging-port=0")
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", browser.chromium.display()))?;
        let mut lines = BufReader::new(process.stderr.take().context("no output")?)
            .lines()
            .map_while(Result::ok);
        let mut said = Vec::new();
        let address = lines.by_ref().find_map(|line| {
            let address = line.strip_prefix("DevTools listening on ").map(str::to_owned);
            said.push(line);
            address
        });
        let Some(address) = address else {
            process.wait().ok();
            bail!("{} ends at once:\n{}", browser.chromium.display(), said.join("\n"));
        };
        // Whatever else it says must be read, or it waits for a reader.
        thread::spawn(move || lines.for_each(drop));
        Ok(Chromium {
            address,
            process,
            profile,
        })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        fs::remove_dir_all(&self.profile).ok();
    }
}

/// The path with `target/tools/bin` first, where [`wasm_pack`] puts what it compiles.
pub fn path(workspace: &Workspace) -> Result<OsString> {
    let mut folders = vec![workspace.target.join("tools").join("bin")];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    Ok(env::join_paths(folders)?)
}

/// Compiles the test runner that matches the page's wasm-bindgen, unless it is there.
pub fn wasm_bindgen(workspace: &Workspace) -> Result<()> {
    let version = workspace.locked_version("wasm-bindgen")?;
    // Without TLS: nothing here fetches anything, and it doubles the time.
    install(
        workspace,
        "wasm-bindgen",
        "wasm-bindgen-cli",
        &version,
        &["--no-default-features"],
    )
}

/// Compiles wasm-pack, unless it is there.
pub fn wasm_pack(workspace: &Workspace) -> Result<()> {
    if on_path("wasm-pack").is_some() {
        return Ok(());
    }
    install(workspace, "wasm-pack", "wasm-pack", WASM_PACK, &[])
}

/// Makes sure that cargo-fuzz can be run.
pub fn cargo_fuzz(workspace: &Workspace) -> Result<()> {
    if on_path("cargo-fuzz").is_some() {
        return Ok(());
    }
    install(workspace, "cargo-fuzz", "cargo-fuzz", CARGO_FUZZ, &[])
}

fn install(workspace: &Workspace, program: &str, package: &str, version: &str, options: &[&str]) -> Result<()> {
    let root = workspace.target.join("tools");
    let has = |program: &Path| ask(Command::new(program).arg("--version")).is_some_and(|said| said.contains(version));
    if has(&root.join("bin").join(program)) {
        return Ok(());
    }
    step(
        &format!(
            "Compiling {package} {version} into {} (once, a minute or two)",
            root.display()
        ),
        || {
            let cargo = |locked: &[&str]| {
                // In the debug profile without debug information: it is compiled more often than it is run.
                let mut command = workspace.cargo(&["install", package, "--version", version, "--debug", "--quiet"]);
                command
                    .args(locked)
                    .args(options)
                    .arg("--root")
                    .arg(&root)
                    .arg("--target-dir")
                    .arg(root.join("build"));
                command.env("CARGO_PROFILE_DEV_DEBUG", "0");
                workspace::run(&mut command)
            };
            // A registry that lags behind may lack a version that the package's lock file names.
            cargo(&["--locked"]).or_else(|_| cargo(&[]))
        },
    )
}

/// axe-core for the accessibility audits; `None` where there is no npm.
pub fn axe(workspace: &Workspace) -> Result<Option<PathBuf>> {
    let Some(npm) = on_path("npm") else { return Ok(None) };
    let folder = workspace.target.join("xtask").join("npm");
    let axe = folder.join("node_modules/axe-core/axe.min.js");
    let wanted = fs::read(workspace.root.join("tests/browser/package-lock.json"))?;
    let lock = folder.join("package-lock.json");
    if axe.exists() && fs::read(&lock).is_ok_and(|held| held == wanted) {
        return Ok(Some(axe));
    }
    step("Getting axe-core with npm", || {
        fs::create_dir_all(&folder)?;
        fs::copy(
            workspace.root.join("tests/browser/package.json"),
            folder.join("package.json"),
        )?;
        fs::write(&lock, &wanted)?;
        let mut command = Command::new(npm);
        command
            .current_dir(&folder)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        workspace::run(&mut command)
    })?;
    Ok(Some(axe))
}
