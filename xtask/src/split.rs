//! Splits the page's program in two: what the first sight needs, and what is fetched when it is first needed.
//!
//! `src/ui/later.rs` says where; `wasm_split_cli_support` follows from there what is needed by which part. Deliberately
//! absent: any knowledge of what lies in the parts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use wasm_encoder::{Module, RawSection};
use wasm_split_cli_support::{Options, transform};
use wasmparser::{Parser, Payload};

use crate::page::read;

/// What the linker has to leave in the program, so that it can be split.
pub const LINK: &str = "-Clink-arg=--emit-relocs";

/// The module that loads the program.
pub const SCRIPT: &str = "highwater.js";

/// The module that fetches the second part; it becomes a piece of [`SCRIPT`].
const LINKS: &str = "links.js";

/// Writes the parts of `program` into `folder`, and gives back where the first lies.
pub fn split(program: &Path, folder: &Path) -> Result<PathBuf> {
    for stale in parts(folder)? {
        std::fs::remove_file(&stale).with_context(|| format!("cannot remove {}", stale.display()))?;
    }
    let first = folder.join("first.wasm");
    let input = read(program)?;
    let mut options = Options::new(&input);
    let (links, script) = (format!("./{LINKS}"), format!("./{SCRIPT}"));
    options.output_dir = folder;
    options.main_out_path = &first;
    options.link_name = &links;
    options.main_module = &script;
    let parts = transform(options).map_err(|error| anyhow!("the page cannot be split in two: {error:#}"))?;
    if parts.split_modules.is_empty() {
        bail!("the page is not split: nothing in it says where");
    }
    Ok(first)
}

/// The parts that are fetched later, by the names that the script knows them by.
pub fn later(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let named = |path: PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).context("no name")?;
        Ok((name.to_owned(), without_names(&read(&path)?)?))
    };
    parts(folder)?.into_iter().map(named).collect()
}

/// A module without the names of its functions, which nobody reads in a page and which are an eighth of it. Nobody binds
/// this part, so nobody else leaves them out.
fn without_names(module: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.context("a part of the page is no module")?;
        if matches!(&payload, Payload::CustomSection(section) if matches!(section.name(), "name" | "producers")) {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
            let data = &module[range];
            kept.section(&RawSection { id, data });
        }
    }
    Ok(kept.finish())
}

fn parts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let paths: Vec<PathBuf> = paths.collect::<Result<_>>()?;
    let is_part = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.ends_with(".wasm") && (name.starts_with("split_") || name.starts_with("chunk_")))
    };
    Ok(paths.into_iter().filter(is_part).collect())
}

/// Puts the module of links into the script that loads the program: one request less before anything is seen.
pub fn join_scripts(folder: &Path) -> Result<()> {
    let text = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let joined = joined(&text(SCRIPT)?, &text(LINKS)?)?;
    std::fs::write(folder.join(SCRIPT), joined).context("cannot write the script")
}

fn joined(script: &str, links: &str) -> Result<String> {
    let import = format!("from \"./{LINKS}\"");
    let line = script
        .lines()
        .find(|line| line.starts_with("import") && line.contains(&import))
        .context("the bound script imports no links")?;
    let name = line
        .strip_prefix("import * as ")
        .and_then(|rest| rest.split_whitespace().next())
        .with_context(|| format!("`{line}` is not understood"))?;
    let mut exported = Vec::new();
    let mut body = String::new();
    for line in links.lines() {
        match line.strip_prefix("export const ") {
            Some(rest) => {
                exported.push(rest.split_whitespace().next().unwrap_or_default());
                body.push_str(&format!("const {rest}\n"));
            }
            None if line.starts_with("import ") => {}
            None => body.push_str(&format!("{line}\n")),
        }
    }
    let script = script.replacen(line, "", 1);
    Ok(format!(
        "{script}\n{body}const {name} = {{ {} }};\n",
        exported.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_left_with_everything_but_its_names() {
        let mut module = Module::new();
        let custom = |name: &'static str| wasm_encoder::CustomSection {
            name: name.into(),
            data: b"kept".into(),
        };
        let mut types = wasm_encoder::TypeSection::new();
        types.ty().function([], []);
        let plain = module
            .section(&types)
            .section(&custom("target_features"))
            .clone()
            .finish();
        let named = module.section(&custom("name")).clone().finish();
        assert_eq!(without_names(&named).unwrap(), plain);
    }

    #[test]
    fn two_scripts_become_one() {
        let script = "import * as import1 from \"./links.js\"\nuse(import1);\n";
        let links = "import { initSync } from \"./highwater.js\";\nexport const load = wrap(\n);\n";
        assert_eq!(
            joined(script, links).unwrap(),
            "\nuse(import1);\n\nconst load = wrap(\n);\nconst import1 = { load };\n"
        );
    }

    #[test]
    fn a_script_without_links_is_refused() {
        assert!(joined("let a;", "").is_err());
    }
}
