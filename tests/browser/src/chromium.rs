//! The Chromium that all tests of a run share, and the protocol that it speaks.
//!
//! `cargo xtask` starts and ends it, so that no test has to. Each tab has a connection of its own, and whoever asks
//! waits for the answer, so there are no threads here; events are kept for whoever wants them.

use std::cell::RefCell;
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// The variables through which `cargo xtask` says where everything is.
pub mod environment {
    /// The address of the page, with a slash at its end.
    pub const PAGE: &str = "HIGHWATER_PAGE";
    /// The WebSocket address of Chromium's protocol.
    pub const CHROMIUM: &str = "HIGHWATER_CHROMIUM";
    /// The file of axe-core; without it there are no accessibility audits.
    pub const AXE: &str = "HIGHWATER_AXE";
    /// The folder for pictures.
    pub const SCREENSHOTS: &str = "HIGHWATER_SCREENSHOTS";
}

/// The value of one of the [`environment`]'s variables.
pub fn variable(name: &str) -> Result<String> {
    std::env::var(name).map_err(|_| anyhow!("{name} is not set: these tests are run by `cargo xtask test --only page`"))
}

/// How long Chromium may take to answer: longer than anything a test does.
const SILENCE: Duration = Duration::from_secs(60);

/// A connection to Chromium as a whole or to one of its tabs.
pub struct Connection(RefCell<Inner>);

struct Inner {
    socket: WebSocket<TcpStream>,
    calls: u64,
    events: Vec<Value>,
}

impl Connection {
    fn open(address: &str) -> Result<Connection> {
        let host = address.strip_prefix("ws://").and_then(|rest| rest.split('/').next());
        let host = host.with_context(|| format!("{address} is no address of Chromium's protocol"))?;
        let stream = TcpStream::connect(host).with_context(|| format!("cannot reach Chromium at {host}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        let (socket, _) = tungstenite::client(address, stream).context("Chromium does not shake hands")?;
        Ok(Connection(RefCell::new(Inner {
            socket,
            calls: 0,
            events: Vec::new(),
        })))
    }

    /// Gives a command and waits for its answer.
    pub fn call(&self, method: &str, parameters: Value) -> Result<Value> {
        let mut inner = self.0.borrow_mut();
        inner.calls += 1;
        let id = inner.calls;
        let command = json!({ "id": id, "method": method, "params": parameters });
        inner
            .socket
            .send(Message::text(command.to_string()))
            .with_context(|| format!("cannot send {method}"))?;
        loop {
            let message = inner
                .socket
                .read()
                .with_context(|| format!("Chromium does not answer {method}"))?;
            let Message::Text(text) = message else { continue };
            let mut message: Value = serde_json::from_str(text.as_str())?;
            if message["id"].as_u64() != Some(id) {
                inner.events.push(message);
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("Chromium refuses {method}: {}", error["message"]);
            }
            return Ok(message["result"].take());
        }
    }

    /// What happened until the last answer and was not taken yet.
    pub fn events(&self) -> Vec<Value> {
        std::mem::take(&mut self.0.borrow_mut().events)
    }
}

/// Opens a tab with cookies, storage and cache of its own, on no page yet.
pub fn new_tab() -> Result<Connection> {
    let address = variable(environment::CHROMIUM)?;
    let browser = Connection::open(&address)?;
    // Not disposed with this connection, which ends here, but with Chromium.
    let context = browser.call("Target.createBrowserContext", json!({ "disposeOnDetach": false }))?;
    let target = browser.call(
        "Target.createTarget",
        json!({ "url": "about:blank", "browserContextId": context["browserContextId"] }),
    )?;
    let target = target["targetId"].as_str().context("Chromium opens no tab")?;
    let host = address.split("/devtools/").next().unwrap_or(&address);
    Connection::open(&format!("{host}/devtools/page/{target}"))
}
