//! Builds the page's program: cargo, then the split in two, then `wasm-bindgen` as a library, then `wasm-opt` where it is
//! on the path.
//!
//! The library spares the newcomer four minutes of `cargo install wasm-bindgen-cli`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

use crate::split;
use crate::workspace::{self, Workspace, step};

/// The browser, as Rust calls it.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// What the page is built for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Small and fast, as published.
    Page,
    /// Built in seconds, for whoever is changing it.
    Dev,
}

impl Kind {
    /// The cargo profile, which is also the name of its folder in the target folder.
    fn profile(self) -> &'static str {
        match self {
            Kind::Page => "page",
            Kind::Dev => "page-dev",
        }
    }
}

/// The page's program, bound for the browser.
pub struct Program {
    /// The module that loads the engine.
    pub script: Vec<u8>,
    /// The engine.
    pub wasm: Vec<u8>,
    /// The parts that the script fetches later, by the names that it knows them by.
    pub later: Vec<(String, Vec<u8>)>,
}

/// Builds the program. Says what it does meanwhile.
pub fn build(workspace: &Workspace, kind: Kind) -> Result<Program> {
    same_bindgen(workspace)?;
    add_target(workspace)?;
    let what = match kind {
        Kind::Page => "Building the page, optimised (the first time takes a minute or two)",
        Kind::Dev => "Building the page, quickly",
    };
    step(what, || {
        let common = ["rustc", "--locked", "--target", TARGET, "--bin", "highwater"];
        let own: &[&str] = match kind {
            Kind::Page => &["--profile", "page", "--features", "split", "--", split::LINK],
            Kind::Dev => &["--profile", "page-dev"],
        };
        let mut cargo = workspace.cargo(&[&common[..], own].concat());
        // Whoever builds with flags of their own has them, and only these instead of ours.
        if let Some(flags) = same_paths().filter(|_| kind == Kind::Page) {
            cargo.env("CARGO_BUILD_RUSTFLAGS", flags);
        }
        workspace::run(&mut cargo)
    })?;
    let built = workspace
        .target
        .join(TARGET)
        .join(kind.profile())
        .join("highwater.wasm");
    let bound = workspace.target.join("xtask").join(kind.profile());
    let wasm = bound.join("highwater_bg.wasm");
    // Binding and making smaller take seconds; a second run has nothing new to bind.
    let stamp = bound.join("stamp");
    let made_from = stamp_of(&built)?;
    if !std::fs::read_to_string(&stamp).is_ok_and(|held| held == made_from) {
        std::fs::create_dir_all(&bound).with_context(|| format!("cannot make {}", bound.display()))?;
        let main = match kind {
            Kind::Page => step("Splitting it in two", || split::split(&built, &bound))?,
            Kind::Dev => built.clone(),
        };
        step("Binding it for the browser", || bind(&main, &bound, kind))?;
        if kind == Kind::Page {
            split::join_scripts(&bound)?;
            optimise(&wasm)?;
        }
        std::fs::write(&stamp, made_from).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(Program {
        script: read(&bound.join(split::SCRIPT))?,
        wasm: read(&wasm)?,
        later: match kind {
            Kind::Page => split::later(&bound)?,
            Kind::Dev => Vec::new(),
        },
    })
}

/// The flags by which the places in panics' messages are named alike on every machine: a library's file by its path within
/// the registry. They are a part of the page, and so of its size. Cargo parts these flags at spaces, so a registry whose
/// own path has one is left as it is.
fn same_paths() -> Option<String> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir()?.join(".cargo"),
    };
    let registries = std::fs::read_dir(home.join("registry").join("src")).ok()?;
    let remap = |registry: std::fs::DirEntry| {
        let path = registry.path();
        let path = path.to_str().filter(|path| !path.contains(char::is_whitespace))?;
        Some(format!("--remap-path-prefix={path}="))
    };
    let flags: Vec<String> = registries.flatten().filter_map(remap).collect();
    Some(flags.join(" "))
}

/// What the bound page depends on: the program, and the tool that may make it smaller.
fn stamp_of(built: &Path) -> Result<String> {
    let hash = xxhash_rust::xxh3::xxh3_128(&read(built)?);
    Ok(format!(
        "{hash:032x} {}",
        wasm_opt().as_deref().unwrap_or("no wasm-opt")
    ))
}

/// The version of `wasm-opt`, where it is installed.
fn wasm_opt() -> Option<String> {
    workspace::ask(Command::new("wasm-opt").arg("--version"))
}

pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The two halves of wasm-bindgen talk in a format that changes with every version.
fn same_bindgen(workspace: &Workspace) -> Result<()> {
    let page = workspace.locked_version("wasm-bindgen")?;
    let ours = workspace.locked_version("wasm-bindgen-cli-support")?;
    if page != ours {
        bail!(
            "the page uses wasm-bindgen {page}, but xtask binds it with wasm-bindgen-cli-support {ours}: \
             set both to one version in Cargo.toml and xtask/Cargo.toml"
        );
    }
    Ok(())
}

/// Adds the standard library for the browser, unless this Rust has it already.
pub fn add_target(workspace: &Workspace) -> Result<()> {
    let has_target = || {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc
            .current_dir(&workspace.root)
            .args(["--print", "target-libdir", "--target", TARGET]);
        workspace::ask(&mut rustc).is_some_and(|folder| PathBuf::from(folder).is_dir())
    };
    if has_target() {
        return Ok(());
    }
    if workspace::ask(Command::new("rustup").arg("--version")).is_none() {
        bail!(
            "this Rust cannot build for the browser: its {TARGET} library is missing, and there is no rustup to add it.\n\
             Install Rust with rustup (https://rustup.rs), or your system's package of that library \
             (Debian: libstd-rust-dev-wasm32), then run this again."
        );
    }
    step(&format!("Adding {TARGET} to Rust"), || {
        workspace::run(
            Command::new("rustup")
                .current_dir(&workspace.root)
                .args(["target", "add", TARGET]),
        )
    })?;
    if !has_target() {
        bail!("rustup added {TARGET} to another Rust than the one in use: make rustup's cargo the first on the path");
    }
    Ok(())
}

fn bind(wasm: &Path, folder: &Path, kind: Kind) -> Result<()> {
    Bindgen::new()
        .input_path(wasm)
        .out_name("highwater")
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .debug(kind == Kind::Dev)
        .keep_debug(kind == Kind::Dev)
        // The second part asks the first for its memory and its functions by these names.
        .keep_lld_exports(kind == Kind::Page)
        .remove_name_section(kind == Kind::Page)
        .remove_producers_section(kind == Kind::Page)
        .generate(folder)
        .context("wasm-bindgen could not bind the page")
}

/// Makes the engine smaller, where binaryen's `wasm-opt` is installed. Without it, or with one too old for what Rust
/// emits, the page is the same and some percent larger.
fn optimise(wasm: &Path) -> Result<()> {
    let Some(version) = wasm_opt() else {
        eprintln!("» Leaving out wasm-opt, which is not installed (binaryen): the page is a little larger without it");
        return Ok(());
    };
    let smaller = wasm.with_extension("opt.wasm");
    let mut command = Command::new("wasm-opt");
    // Only what every browser of the last years runs.
    command.args([
        "-Os",
        "--enable-bulk-memory",
        "--enable-sign-ext",
        "--enable-mutable-globals",
    ]);
    command.args([
        "--enable-nontrapping-float-to-int",
        "--enable-reference-types",
        "--enable-multivalue",
    ]);
    // One that cannot read what Rust emits says so at length; what follows is told below.
    command.arg(wasm).arg("-o").arg(&smaller).stderr(Stdio::null());
    let done = step(&format!("Making it smaller with {version}"), || {
        workspace::run(&mut command)
    });
    match done {
        Ok(()) => std::fs::rename(&smaller, wasm).context("cannot replace the engine by the smaller one"),
        Err(error) => {
            eprintln!("  left as it was: {error:#} (a newer binaryen may do it)");
            Ok(())
        }
    }
}
