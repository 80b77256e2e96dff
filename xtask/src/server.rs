//! Serves a folder of static files on 127.0.0.1: what `cargo xtask serve` shows and what the page tests drive.
//!
//! The whole site is held in memory, in the forms that clients may ask for. Deliberately absent: everything a public
//! server needs (TLS, ranges, logs); `dist/` can be put behind any of those.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, ErrorKind};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tiny_http::{Header, Method, Request, Response, Server};

use crate::dist::packed;

/// What the page may load and do; the page itself has no inline script. Styles may be inline, since the page places
/// what it draws.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Reloads the page when its version is no longer the one it came from.
const RELOAD: &str = "(async () => {
  for (let held; ; ) {
    try {
      const version = await (await fetch('/~version' + (held ? '?held=' + held : ''))).text();
      if (held && version !== held) return location.reload();
      held = version;
    } catch {
      await new Promise((later) => setTimeout(later, 1000));
    }
  }
})();
";

/// How long a question for the version stays open, so that connections do not pile up.
const HOLD: Duration = Duration::from_secs(20);

/// Whether the page reloads itself when the site is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// The page is as published.
    Never,
    /// A script of ours is added to it.
    WhenReplaced,
}

/// The files of one build, by the path under which they are asked for.
#[derive(Default)]
pub struct Site(BTreeMap<String, File>);

struct File {
    kind: &'static str,
    tag: String,
    /// Named by its content.
    lasting: bool,
    plain: Vec<u8>,
    brotli: Option<Vec<u8>>,
    gzip: Option<Vec<u8>>,
}

impl Site {
    /// Reads a folder such as `dist/`.
    pub fn load(folder: &Path, reload: Reload) -> Result<Self> {
        let mut site = Site::default();
        site.add(folder, "", reload)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        if !site.0.contains_key("/index.html") {
            bail!("{} holds no index.html", folder.display());
        }
        Ok(site)
    }

    fn add(&mut self, folder: &Path, prefix: &str, reload: Reload) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            let url = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if path.is_dir() {
                self.add(&path, &url, reload)?;
            } else if !url.ends_with(".br") && !url.ends_with(".gz") {
                let mut plain = fs::read(&path)?;
                if reload == Reload::WhenReplaced && url == "/index.html" {
                    plain.extend_from_slice(b"<script src=\"/~reload.js\"></script>\n");
                }
                let file = File {
                    kind: content_type(&url),
                    tag: format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(&plain)),
                    lasting: is_named_by_content(&url),
                    brotli: fs::read(packed(&path, "br")).ok(),
                    gzip: fs::read(packed(&path, "gz")).ok(),
                    plain,
                };
                self.0.insert(url, file);
            }
        }
        Ok(())
    }
}

/// By the file's ending.
fn content_type(url: &str) -> &'static str {
    match url.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("md" | "txt") => "text/plain; charset=utf-8",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Whether the name holds sixteen hexadecimal digits after a dash, as this project's and Trunk's do.
fn is_named_by_content(url: &str) -> bool {
    url.split(['-', '.', '_'])
        .skip(1)
        .any(|part| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A running server. It serves until the process ends.
pub struct Running {
    /// Where the page is.
    pub address: String,
    shared: Arc<Shared>,
}

struct Shared {
    site: Mutex<(u64, Arc<Site>)>,
    replaced: Condvar,
}

impl Running {
    /// Serves `site` from now on, and lets waiting pages know.
    pub fn replace(&self, site: Site) {
        let mut held = self.shared.site.lock().expect("no holder panics");
        *held = (held.0 + 1, Arc::new(site));
        self.shared.replaced.notify_all();
    }
}

/// Takes the port, which fails before anything is built if it is not free. Port 0 is any free one.
pub fn listen(port: u16) -> Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow::anyhow!(
            "port {port} on 127.0.0.1 is taken by another program: end that one, or choose another port with `--port {}`",
            if port == u16::MAX { 8080 } else { port + 1 }
        ),
        ErrorKind::PermissionDenied => anyhow::anyhow!(
            "this user may not listen on port {port}: choose one above 1023, such as `--port 8080`"
        ),
        _ => anyhow::Error::from(error).context(format!("cannot listen on 127.0.0.1:{port}")),
    })
}

/// Serves `site` on threads of its own.
pub fn start(listener: TcpListener, site: Site) -> Result<Running> {
    let address = format!("http://{}/", listener.local_addr()?);
    let server = Server::from_listener(listener, None).map_err(|error| anyhow::anyhow!("cannot serve: {error}"))?;
    let server = Arc::new(server);
    let shared = Arc::new(Shared {
        site: Mutex::new((1, Arc::new(site))),
        replaced: Condvar::new(),
    });
    for _ in 0..4 {
        let (server, shared) = (Arc::clone(&server), Arc::clone(&shared));
        thread::spawn(move || {
            while let Ok(request) = server.recv() {
                answer(request, &shared);
            }
        });
    }
    Ok(Running { address, shared })
}

/// A client that went away is no error of ours, so the outcome of answering is not looked at.
fn answer(request: Request, shared: &Arc<Shared>) {
    let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
    if !matches!(request.method(), Method::Get | Method::Head) {
        request
            .respond(text(405, "Only GET and HEAD.").with_header(header("Allow", "GET, HEAD")))
            .ok();
        return;
    }
    match path {
        "/~version" => {
            let held = query.strip_prefix("held=").and_then(|held| held.parse().ok());
            let shared = Arc::clone(shared);
            // It may wait for long, so it must not hold one of the few threads.
            thread::spawn(move || request.respond(text(200, &version(&shared, held).to_string())).ok());
        }
        "/~reload.js" => {
            let script = text(200, RELOAD).with_header(header("Content-Type", "text/javascript"));
            request.respond(script).ok();
        }
        _ => {
            let site = Arc::clone(&shared.site.lock().expect("no holder panics").1);
            match site.0.get(if path == "/" { "/index.html" } else { path }) {
                Some(file) => respond(request, file),
                None => drop(request.respond(text(404, "There is no such file in the page."))),
            }
        }
    }
}

/// The site's version, once it is no longer `held`, or after a while.
fn version(shared: &Shared, held: Option<u64>) -> u64 {
    let site = shared.site.lock().expect("no holder panics");
    let waited = shared
        .replaced
        .wait_timeout_while(site, HOLD, |(version, _)| Some(*version) == held);
    waited.expect("no holder panics").0.0
}

fn respond(request: Request, file: &File) {
    let asked = |name: &'static str| {
        let found = request.headers().iter().find(|header| header.field.equiv(name));
        found.map(|header| header.value.as_str().to_owned()).unwrap_or_default()
    };
    let mut headers = vec![
        header("ETag", &file.tag),
        header(
            "Cache-Control",
            if file.lasting {
                "public, max-age=31536000, immutable"
            } else {
                "no-cache"
            },
        ),
        header("Vary", "Accept-Encoding"),
        header("Content-Security-Policy", POLICY),
        header("X-Content-Type-Options", "nosniff"),
        header("Referrer-Policy", "no-referrer"),
    ];
    if asked("If-None-Match").contains(&file.tag) {
        request
            .respond(Response::new(
                304.into(),
                headers,
                Cursor::new(Vec::new()),
                Some(0),
                None,
            ))
            .ok();
        return;
    }
    headers.push(header("Content-Type", file.kind));
    let encodings = asked("Accept-Encoding");
    let body = match (&file.brotli, &file.gzip) {
        (Some(brotli), _) if accepts(&encodings, "br") => {
            headers.push(header("Content-Encoding", "br"));
            brotli
        }
        (_, Some(gzip)) if accepts(&encodings, "gzip") => {
            headers.push(header("Content-Encoding", "gzip"));
            gzip
        }
        _ => &file.plain,
    };
    let length = body.len();
    let response = Response::new(200.into(), headers, Cursor::new(body.clone()), Some(length), None);
    // A body with a known length is sent with that length, not in chunks.
    request.respond(response.with_chunked_threshold(usize::MAX)).ok();
}

/// Whether the client takes `encoding`: it names it, and not with a weight of nothing.
fn accepts(encodings: &str, encoding: &str) -> bool {
    encodings.split(',').any(|offer| {
        let (name, weight) = offer.split_once(';').unwrap_or((offer, ""));
        let refused = weight.trim().strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()) == Some(0.0);
        name.trim().eq_ignore_ascii_case(encoding) && !refused
    })
}

fn text(status: u16, body: &str) -> Response<Cursor<Vec<u8>>> {
    Response::from_string(body)
        .with_status_code(status)
        .with_header(header("Cache-Control", "no-store"))
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("our own headers are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_taken_when_it_is_offered() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("br;q=0.5", "br"));
        assert!(!accepts("gzip, br;q=0", "br"));
        assert!(!accepts("brotli", "br"));
        assert!(!accepts("", "gzip"));
    }

    #[test]
    fn names_that_hold_a_hash_may_be_kept() {
        assert!(is_named_by_content("/app-0123456789abcdef.css"));
        assert!(is_named_by_content("/highwater-0123456789abcdef_bg.wasm"));
        assert!(!is_named_by_content("/index.html"));
        assert!(!is_named_by_content("/lessons/the-high-watermark.md"));
    }

    #[test]
    fn a_taken_port_is_named_with_the_remedy() {
        let held = listen(0).unwrap();
        let port = held.local_addr().unwrap().port();
        let error = listen(port).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "port {port} on 127.0.0.1 is taken by another program: end that one, or choose another port with `--port {}`",
                port + 1
            )
        );
    }
}
