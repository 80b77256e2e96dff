//! Serves a folder of static files on 127.0.0.1: what `cargo xtask serve` shows and what the page tests drive.
//!
//! The whole site is held in memory, in the forms that clients may ask for. Deliberately absent: everything a public
//! server needs (TLS, ranges, logs); `dist/` can be put behind any of those.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, http};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;

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
    plain: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
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
                    brotli: fs::read(packed(&path, "br")).ok().map(Bytes::from),
                    gzip: fs::read(packed(&path, "gz")).ok().map(Bytes::from),
                    plain: plain.into(),
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

/// A build of the page, and its number.
type Build = (u64, Arc<Site>);

/// A running server. It serves until the process ends.
pub struct Running {
    /// Where the page is.
    pub address: String,
    site: watch::Sender<Build>,
}

impl Running {
    /// Serves `site` from now on, and lets waiting pages know.
    pub fn replace(&self, site: Site) {
        self.site.send_modify(|held| *held = (held.0 + 1, Arc::new(site)));
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

/// Serves `site` on a thread of its own.
pub fn start(listener: TcpListener, site: Site) -> Result<Running> {
    let address = format!("http://{}/", listener.local_addr()?);
    listener.set_nonblocking(true)?;
    let (sender, site) = watch::channel((1, Arc::new(site)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    thread::spawn(move || runtime.block_on(accept(listener, site)));
    Ok(Running { address, site: sender })
}

/// A client that goes away is no error of ours, so the outcome of a connection is not looked at.
async fn accept(listener: tokio::net::TcpListener, site: watch::Receiver<Build>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        stream.set_nodelay(true).ok();
        let site = site.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(request, site.clone()));
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await
                .ok();
        });
    }
}

type Answer = Response<Full<Bytes>>;

async fn answer(request: Request<Incoming>, mut site: watch::Receiver<Build>) -> Result<Answer, http::Error> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let refusal = text().status(StatusCode::METHOD_NOT_ALLOWED);
        return refusal
            .header(header::ALLOW, "GET, HEAD")
            .body(Full::from("Only GET and HEAD."));
    }
    match request.uri().path() {
        "/~version" => {
            let held = request.uri().query().and_then(|query| query.strip_prefix("held="));
            let held: Option<u64> = held.and_then(|held| held.parse().ok());
            tokio::time::timeout(HOLD, site.wait_for(|(version, _)| Some(*version) != held))
                .await
                .ok();
            let version = site.borrow().0;
            text().body(Full::from(version.to_string()))
        }
        "/~reload.js" => {
            let script = Response::builder().header(header::CONTENT_TYPE, "text/javascript");
            script
                .header(header::CACHE_CONTROL, "no-store")
                .body(Full::from(RELOAD))
        }
        path => {
            let site = Arc::clone(&site.borrow().1);
            match site.0.get(if path == "/" { "/index.html" } else { path }) {
                Some(file) => respond(&request, file),
                None => text()
                    .status(StatusCode::NOT_FOUND)
                    .body(Full::from("There is no such file in the page.")),
            }
        }
    }
}

fn respond(request: &Request<Incoming>, file: &File) -> Result<Answer, http::Error> {
    let asked = |name: HeaderName| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let keep = if file.lasting {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let response = Response::builder()
        .header(header::ETAG, &file.tag)
        .header(header::CACHE_CONTROL, keep)
        .header(header::VARY, "Accept-Encoding")
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer");
    if asked(header::IF_NONE_MATCH).contains(&file.tag) {
        return response.status(StatusCode::NOT_MODIFIED).body(Full::default());
    }
    let response = response.header(header::CONTENT_TYPE, file.kind);
    let encodings = asked(header::ACCEPT_ENCODING);
    match (&file.brotli, &file.gzip) {
        (Some(brotli), _) if accepts(encodings, "br") => response
            .header(header::CONTENT_ENCODING, "br")
            .body(Full::new(brotli.clone())),
        (_, Some(gzip)) if accepts(encodings, "gzip") => response
            .header(header::CONTENT_ENCODING, "gzip")
            .body(Full::new(gzip.clone())),
        _ => response.body(Full::new(file.plain.clone())),
    }
}

/// Whether the client takes `encoding`: it names it, and not with a weight of nothing.
fn accepts(encodings: &str, encoding: &str) -> bool {
    encodings.split(',').any(|offer| {
        let (name, weight) = offer.split_once(';').unwrap_or((offer, ""));
        let refused = weight.trim().strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()) == Some(0.0);
        name.trim().eq_ignore_ascii_case(encoding) && !refused
    })
}

fn text() -> http::response::Builder {
    Response::builder()
        .header(header::CONTENT_TYPE, "text/plain")
        .header(header::CACHE_CONTROL, "no-store")
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
