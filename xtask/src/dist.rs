//! Assembles `dist/`: the page as static files that any web server can serve.
//!
//! `index.html` is the list of what belongs to the page: its `data-trunk` elements are read as Trunk reads them, so
//! `trunk build` gives the same page. Files are named by their content and may be cached for ever; beside each stands
//! its brotli and gzip form. What did not change since the last run is not compressed again.
//!
//! Deliberately absent: HTML in general. The project's own `index.html` keeps each `data-trunk` element on one line,
//! and one that is not understood is an error.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::page::Program;
use crate::workspace::{Workspace, step};

/// How small the page is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Without comments, and as small as brotli and gzip go, once per content.
    Best,
    /// Not at all: the page is about to change again.
    None,
}

/// Writes the page into `folder` and removes from it what no longer belongs there.
pub fn assemble(workspace: &Workspace, program: &Program, folder: &Path, compression: Compression) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut dist = Dist {
        root: &workspace.root,
        folder,
        compression,
        written: BTreeSet::new(),
    };
    let source = workspace.root.join("index.html");
    let html = fs::read_to_string(&source).with_context(|| format!("cannot read {}", source.display()))?;
    let mut page = String::with_capacity(html.len());
    for (number, line) in html.lines().enumerate() {
        let place = || format!("index.html, line {}", number + 1);
        match element(line).with_context(place)? {
            Some(element) => page.push_str(&dist.replace(&element, program).with_context(place)?),
            None => page.push_str(line),
        }
        page.push('\n');
    }
    dist.write("index.html", page.as_bytes())?;
    if compression == Compression::Best {
        dist.compress()?;
    }
    dist.sweep()
}

struct Dist<'a> {
    root: &'a Path,
    folder: &'a Path,
    compression: Compression,
    written: BTreeSet<PathBuf>,
}

impl Dist<'_> {
    /// The HTML that stands in the page for a `data-trunk` element, after putting into `dist/` what it names.
    fn replace(&mut self, element: &Element, program: &Program) -> Result<String> {
        Ok(match (element.name, element.get("rel")) {
            ("script", _) => {
                let name = self.hashed(element.need("src")?)?;
                let defer = if element.get("defer").is_some() { " defer" } else { "" };
                format!("  <script src=\"./{name}\"{defer}></script>")
            }
            ("link", Some("css")) => {
                format!(
                    "  <link rel=\"stylesheet\" href=\"./{}\">",
                    self.hashed(element.need("href")?)?
                )
            }
            ("link", Some("icon")) => {
                let name = self.hashed(element.need("href")?)?;
                format!(
                    "  <link rel=\"icon\" href=\"./{name}\" type=\"{}\">",
                    element.need("type")?
                )
            }
            ("link", Some("copy-file")) => {
                let file = Path::new(element.need("href")?);
                self.copy(
                    &self.root.join(file),
                    Path::new(file.file_name().context("names no file")?),
                )?;
                String::new()
            }
            ("link", Some("copy-dir")) => {
                let folder = Path::new(element.need("href")?);
                self.copy(
                    &self.root.join(folder),
                    Path::new(folder.file_name().context("names no folder")?),
                )?;
                String::new()
            }
            ("link", Some("rust")) => {
                let wasm = self.write_hashed("highwater", "_bg.wasm", &program.wasm)?;
                let script = self.script(program)?;
                let script = self.write_hashed("highwater", ".js", &script)?;
                // The links that static/boot.js starts the page from. Trunk.toml writes the same two.
                format!(
                    "  <link rel=\"modulepreload\" id=\"highwater-js\" href=\"./{script}\">\n  \
                     <link rel=\"preload\" id=\"highwater-wasm\" href=\"./{wasm}\" as=\"fetch\" type=\"application/wasm\" crossorigin>"
                )
            }
            (name, rel) => bail!("`cargo xtask` does not know <{name} data-trunk rel={rel:?}>"),
        })
    }

    /// The script, which names the parts that it fetches later by their content.
    fn script(&mut self, program: &Program) -> Result<Vec<u8>> {
        let mut script = String::from_utf8(program.script.clone()).context("the script is not text")?;
        for (name, bytes) in &program.later {
            let stem = name.trim_end_matches(".wasm");
            let hashed = self.write_hashed(stem, ".wasm", bytes)?;
            script = script.replace(name.as_str(), &hashed);
        }
        Ok(script.into_bytes())
    }

    fn hashed(&mut self, path: &str) -> Result<String> {
        let bytes = fs::read(self.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        let (stem, extension) = path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .context("no extension")?;
        self.write_hashed(stem, &format!(".{extension}"), &bytes)
    }

    fn write_hashed(&mut self, stem: &str, ending: &str, bytes: &[u8]) -> Result<String> {
        let bytes = match self.compression {
            Compression::Best => &*minified(ending, bytes)?,
            Compression::None => bytes,
        };
        let name = format!("{stem}-{:016x}{ending}", xxhash_rust::xxh3::xxh3_64(bytes));
        self.write(&name, bytes)?;
        Ok(name)
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<()> {
        if from.is_dir() {
            for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
                let entry = entry?;
                self.copy(&entry.path(), &to.join(entry.file_name()))?;
            }
            return Ok(());
        }
        let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        self.write(to, &bytes)
    }

    /// Leaves a file alone that already holds `bytes`, so that its compressed forms stay valid.
    fn write(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(&name);
        if fs::read(&path).is_ok_and(|held| held == bytes) {
            self.written.insert(path);
            return Ok(());
        }
        for stale in [packed(&path, "br"), packed(&path, "gz")] {
            fs::remove_file(stale).ok();
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        self.written.insert(path);
        Ok(())
    }

    fn compress(&mut self) -> Result<()> {
        let todo: Vec<PathBuf> = self
            .written
            .iter()
            .filter(|path| !packed(path, "br").exists())
            .cloned()
            .collect();
        if !todo.is_empty() {
            step("Compressing it", || compress_all(&todo))?;
        }
        for path in self.written.clone() {
            self.written.extend([packed(&path, "br"), packed(&path, "gz")]);
        }
        Ok(())
    }

    fn sweep(&self) -> Result<()> {
        fn sweep(folder: &Path, keep: &BTreeSet<PathBuf>) -> Result<()> {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    sweep(&path, keep)?;
                } else if !keep.contains(&path) {
                    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
                }
            }
            Ok(())
        }
        sweep(self.folder, &self.written)
    }
}

/// `path` with one more extension.
pub fn packed(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// A script or a style sheet without what only its authors read; anything else as it is.
fn minified<'a>(ending: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    let text = || std::str::from_utf8(bytes).context("not text");
    let small = match ending {
        ".js" => minifier::js::minify(text()?).to_string(),
        ".css" => match minifier::css::minify(text()?) {
            Ok(small) => small.to_string(),
            Err(why) => bail!("this style sheet cannot be read: {why}"),
        },
        _ => return Ok(bytes.into()),
    };
    Ok(small.into_bytes().into())
}

/// As many files at a time as there are processors, the largest first: they take longest.
fn compress_all(paths: &[PathBuf]) -> Result<()> {
    let mut sized: Vec<(u64, &PathBuf)> = Vec::new();
    for path in paths {
        sized.push((fs::metadata(path)?.len(), path));
    }
    sized.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let todo = Mutex::new(sized.into_iter());
    let next = || todo.lock().ok()?.next();
    let work = || {
        while let Some((_, path)) = next() {
            compress(path)?;
        }
        Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let done = workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"));
        done.collect()
    })
}

/// Writes the brotli form last: it is what says that both are there.
fn compress(path: &Path) -> Result<()> {
    let bytes = fs::read(path)?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bytes)?;
    fs::write(packed(path, "gz"), gzip.finish()?)?;
    fs::write(packed(path, "br"), brotli(&bytes)?).with_context(|| format!("cannot write beside {}", path.display()))
}

/// `bytes` as brotli makes them at its best, which is what the budget of the first load is counted in.
pub fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut out, &parameters)?;
    Ok(out)
}

/// A `data-trunk` element.
#[derive(Debug, PartialEq, Eq)]
struct Element<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Element<'a> {
    fn get(&self, attribute: &str) -> Option<&'a str> {
        self.attributes
            .iter()
            .find(|(name, _)| *name == attribute)
            .map(|(_, value)| *value)
    }

    fn need(&self, attribute: &str) -> Result<&'a str> {
        self.get(attribute)
            .with_context(|| format!("<{} data-trunk> needs the attribute {attribute}", self.name))
    }
}

/// The `data-trunk` element on this line, if there is one.
fn element(line: &str) -> Result<Option<Element<'_>>> {
    let line = line.trim();
    if line.starts_with("<!--") || !line.contains("data-trunk") {
        return Ok(None);
    }
    let tag = line.strip_suffix("</script>").unwrap_or(line);
    let inner = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>'));
    let inner = inner
        .context("a data-trunk element must stand alone on its line")?
        .trim_end_matches('/');
    let (name, mut rest) = inner.split_once(' ').unwrap_or((inner, ""));
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let (attribute, after) = rest.split_at(end);
        if attribute.is_empty() {
            break;
        }
        let Some(value) = after.strip_prefix('=') else {
            attributes.push((attribute, ""));
            rest = after;
            continue;
        };
        let value = value
            .strip_prefix('"')
            .context("an attribute's value must stand in double quotes")?;
        let (value, after) = value
            .split_once('"')
            .context("an attribute's value lacks its closing quote")?;
        attributes.push((attribute, value));
        rest = after;
    }
    Ok(Some(Element { name, attributes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_trunk_element_is_read_with_its_attributes() {
        let read = element(r#"  <link data-trunk rel="css" href="static/app.css">"#)
            .unwrap()
            .unwrap();
        assert_eq!(read.name, "link");
        assert_eq!(
            read.attributes,
            [("data-trunk", ""), ("rel", "css"), ("href", "static/app.css")]
        );
        let read = element(r#"<script data-trunk src="static/boot.js" defer></script>"#)
            .unwrap()
            .unwrap();
        assert_eq!(
            read.attributes,
            [("data-trunk", ""), ("src", "static/boot.js"), ("defer", "")]
        );
    }

    #[test]
    fn other_lines_are_left_alone() {
        assert_eq!(element("<title>Highwater</title>").unwrap(), None);
        assert_eq!(element("<!-- about data-trunk elements -->").unwrap(), None);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        assert!(element(r#"<b>x</b> <link data-trunk rel="css"> y"#).is_err());
        assert!(element(r#"<link data-trunk rel=css>"#).is_err());
        assert!(element(r#"<link data-trunk rel="css>"#).is_err());
    }

    #[test]
    fn brotli_gives_back_what_it_took() {
        let text = "high water mark ".repeat(1000);
        let packed = brotli(text.as_bytes()).unwrap();
        assert!(packed.len() < 100);
        let mut out = Vec::new();
        brotli::BrotliDecompress(&mut packed.as_slice(), &mut out).unwrap();
        assert_eq!(out, text.as_bytes());
    }
}
