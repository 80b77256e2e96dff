//! One tab that shows the page.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use serde_json::{Value, json};

use crate::chromium::{Connection, environment, new_tab, variable};
use crate::keyboard;
use crate::view::{Contrast, Motion, Theme, View};

/// How long something may take that a person would wait for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// More often than this nobody presses Tab.
const MOST_TABS: usize = 250;

/// How often it is looked at meanwhile.
const POLL: Duration = Duration::from_millis(15);

/// Opens the page in a tab of its own, lets `body` use it, and fails when `body` does or when the page wrote an error
/// to the console that was not [expected](Page::expect_error).
///
/// `fragment` is what follows the address, such as `#lesson=acks`; `name` names the picture of a failure.
pub fn drive(name: &str, view: View, fragment: &str, body: impl FnOnce(&Page) -> Result<()>) -> Result<()> {
    let page = Page::blank(view)?;
    let outcome = page
        .open(fragment)
        .and_then(|()| body(&page))
        .and_then(|()| page.check_console());
    if outcome.is_err() {
        // The picture is a help; that it cannot be taken must not hide why it was wanted.
        page.screenshot(&format!("failed-{name}")).ok();
    }
    outcome.with_context(|| {
        format!(
            "{name} at {}×{}, {:?}, {:?}, {:?}",
            view.width, view.height, view.theme, view.motion, view.contrast
        )
    })
}

/// A tab that shows the page.
pub struct Page {
    pub(crate) tab: Connection,
    address: String,
    expected: RefCell<Vec<String>>,
}

impl Page {
    /// A tab with storage of its own, set to `view`, on no page yet.
    pub fn blank(view: View) -> Result<Page> {
        let page = Page {
            tab: new_tab()?,
            address: variable(environment::PAGE)?,
            expected: RefCell::default(),
        };
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            page.tab.call(domain, json!({}))?;
        }
        page.look(view)?;
        Ok(page)
    }

    /// Changes the window, the colour scheme, the motion preference and the processor's speed.
    pub fn look(&self, view: View) -> Result<()> {
        let phone = view.width < 600;
        self.tab.call(
            "Emulation.setDeviceMetricsOverride",
            json!({
                "width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": phone,
            }),
        )?;
        self.tab
            .call("Emulation.setTouchEmulationEnabled", json!({ "enabled": phone }))?;
        let theme = match view.theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        let motion = match view.motion {
            Motion::Full => "no-preference",
            Motion::Reduced => "reduce",
        };
        let colours = match view.contrast {
            Contrast::Own => "none",
            Contrast::Forced => "active",
        };
        self.tab.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [
                { "name": "prefers-color-scheme", "value": theme },
                { "name": "prefers-reduced-motion", "value": motion },
                { "name": "forced-colors", "value": colours },
            ]}),
        )?;
        self.tab
            .call("Emulation.setCPUThrottlingRate", json!({ "rate": view.slowdown }))?;
        // Every tab believes that it is looked at, although several are driven at once.
        self.tab
            .call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }))?;
        Ok(())
    }

    /// Loads the page and waits until its engine runs. `fragment` is empty or begins with `#`.
    pub fn open(&self, fragment: &str) -> Result<()> {
        self.begin_loading(fragment)?;
        self.wait_until_running()
    }

    /// Loads the page as somebody finds it who was here before, and left `progress` (nothing, or what the page stores
    /// as such) and an interrupted run (nothing, or what it keeps of one).
    pub fn open_after(&self, fragment: &str, progress: &str, run: &str) -> Result<()> {
        // Another fragment alone would be no other document.
        self.tab.call("Page.navigate", json!({ "url": "about:blank" }))?;
        let stored = json!({ "highwater.progress": progress });
        let kept = json!({ "highwater.resume": run });
        let script = format!(
            "for (const [store, items] of [[localStorage, {stored}], [sessionStorage, {kept}]]) {{
                 store.clear();
                 for (const [name, text] of Object.entries(items)) if (text) store.setItem(name, text);
             }}"
        );
        self.open_with(fragment, &script)
    }

    /// Loads the landing as on a first visit, and pauses it in the frame in which its cluster appears: said before the
    /// document begins, so that no machine is too busy to say it in time.
    pub fn open_paused(&self) -> Result<()> {
        self.tab.call("Page.navigate", json!({ "url": "about:blank" }))?;
        let script = "{
            localStorage.clear();
            sessionStorage.clear();
            const look = () => {
                const play = document.querySelector('[data-testid=play]');
                if (!play) return requestAnimationFrame(look);
                if (play.getAttribute('aria-label') === 'Pause') play.click();
            };
            requestAnimationFrame(look);
        }";
        self.open_with("", script)?;
        self.wait_until(
            "the cluster is shown, and stands",
            "document.querySelector('[data-testid=play]')?.getAttribute('aria-label') === 'Play'",
        )
    }

    /// Loads the page once with a script before it.
    fn open_with(&self, fragment: &str, script: &str) -> Result<()> {
        let added = self
            .tab
            .call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }))?;
        self.open(fragment)?;
        self.tab
            .call("Page.removeScriptToEvaluateOnNewDocument", added)
            .map(drop)
    }

    /// Loads the page again, as the browser's own button does.
    pub fn reload(&self) -> Result<()> {
        self.eval("window.leaving = true")?;
        self.tab.call("Page.reload", json!({}))?;
        self.wait_until(
            "the page was loaded again",
            "!window.leaving && Boolean(window.highwater && highwater.bindings)",
        )
    }

    /// Loads the page without waiting for its engine.
    pub fn begin_loading(&self, fragment: &str) -> Result<()> {
        self.tab
            .call("Page.navigate", json!({ "url": format!("{}{fragment}", self.address) }))?;
        Ok(())
    }

    /// Waits until the engine runs, as after a reload.
    pub fn wait_until_running(&self) -> Result<()> {
        self.wait_until("the engine runs", "Boolean(window.highwater && highwater.bindings)")
    }

    /// Runs `script` in every document before the document's own.
    pub fn before_each_document(&self, script: &str) -> Result<()> {
        self.tab
            .call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }))?;
        Ok(())
    }

    /// Everything that this document loaded, itself and its icon included.
    pub fn loaded(&self) -> Result<Vec<Loaded>> {
        // Not every headless browser asks for the icon, as one with tabs does. It is counted once.
        self.eval("fetch(document.querySelector('link[rel=icon]').href).then((icon) => icon.blob()).then(() => 0)")?;
        let entries = self.eval(
            "['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind)).map((entry) =>
                [entry.name, entry.transferSize, entry.encodedBodySize < entry.decodedBodySize])",
        )?;
        let loaded = entries.as_array().into_iter().flatten().map(|entry| Loaded {
            address: entry[0].as_str().unwrap_or_default().to_owned(),
            bytes: entry[1].as_u64().unwrap_or_default(),
            compressed: entry[2] == json!(true),
        });
        let mut files: Vec<Loaded> = Vec::new();
        for file in loaded {
            if !files.iter().any(|known| known.address == file.address) {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// The value of a JavaScript expression; a promise is awaited.
    pub fn eval(&self, expression: &str) -> Result<Value> {
        let answer = self.tab.call(
            "Runtime.evaluate",
            json!({
                "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
            }),
        )?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            let text = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
            bail!("`{expression}` throws {}", text.unwrap_or("something"));
        }
        Ok(answer["result"]["value"].clone())
    }

    /// Waits until a JavaScript expression is true. `what` says in words what is waited for.
    pub fn wait_until(&self, what: &str, expression: &str) -> Result<()> {
        let begun = Instant::now();
        let mut last = String::from("nothing yet");
        while begun.elapsed() < PATIENCE {
            // The document may just be going away, so an error is no verdict.
            match self.eval(expression) {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(value) => last = value.to_string(),
                Err(error) => last = format!("{error:#}"),
            }
            thread::sleep(POLL);
        }
        bail!("waited {PATIENCE:?} until {what}, in vain: `{expression}` is {last}")
    }

    /// Waits until the page shows `text` somewhere.
    pub fn wait_for_text(&self, text: &str) -> Result<()> {
        let text = json!(text);
        self.wait_until(
            &format!("the page says {text}"),
            &format!("document.body.innerText.includes({text})"),
        )
    }

    /// Waits until something matches a CSS selector: what stands in the second part of the page, or is drawn with the next
    /// frame, may come a moment later.
    fn wait_for(&self, selector: &str) -> Result<()> {
        self.wait_until(
            &format!("there is a {selector}"),
            &format!("Boolean(document.querySelector({}))", json!(selector)),
        )
    }

    /// What the first element that matches a CSS selector shows. Waits until there is one.
    pub fn text(&self, selector: &str) -> Result<String> {
        self.wait_for(selector)?;
        let text = self.eval(&format!("document.querySelector({})?.innerText", json!(selector)))?;
        text.as_str()
            .map(str::to_owned)
            .with_context(|| format!("nothing matches {selector}"))
    }

    /// The element with this role and accessible name, as assistive technology finds it. Waits until there is one.
    pub fn find(&self, role: &str, name: &str) -> Result<Element<'_>> {
        let begun = Instant::now();
        loop {
            let found = self.query(role, Some(name))?;
            if let Some(id) = found.first().and_then(|node| node["backendDOMNodeId"].as_u64()) {
                ensure!(found.len() == 1, "{} elements are a {role} named {name:?}", found.len());
                let resolved = self.tab.call("DOM.resolveNode", json!({ "backendNodeId": id }))?;
                let object = resolved["object"]["objectId"]
                    .as_str()
                    .context("the element is gone")?
                    .to_owned();
                return Ok(Element {
                    page: self,
                    what: format!("{role} {name:?}"),
                    node: id,
                    object,
                });
            }
            if begun.elapsed() > PATIENCE {
                bail!(
                    "there is no {role} named {name:?}; those there are: {:?}",
                    self.names(role)?
                );
            }
            thread::sleep(POLL);
        }
    }

    /// The accessible names of all elements with this role, in the order of the document.
    pub fn names(&self, role: &str) -> Result<Vec<String>> {
        let nodes = self.query(role, None)?;
        Ok(nodes
            .iter()
            .map(|node| node["name"]["value"].as_str().unwrap_or_default().to_owned())
            .collect())
    }

    /// The element that a JavaScript expression gives; `what` names it in errors.
    pub(crate) fn element(&self, what: &str, expression: &str) -> Result<Element<'_>> {
        let answer = self.tab.call("Runtime.evaluate", json!({ "expression": expression }))?;
        let object = answer["result"]["objectId"]
            .as_str()
            .with_context(|| format!("{what} is not there"))?
            .to_owned();
        let node = self.tab.call("DOM.describeNode", json!({ "objectId": object }))?;
        Ok(Element {
            page: self,
            what: what.to_owned(),
            node: node["node"]["backendNodeId"].as_u64().unwrap_or_default(),
            object,
        })
    }

    /// The first element that matches a CSS selector. Waits until there is one.
    pub fn select(&self, selector: &str) -> Result<Element<'_>> {
        self.wait_for(selector)?;
        self.element(selector, &format!("document.querySelector({})", json!(selector)))
    }

    fn query(&self, role: &str, name: Option<&str>) -> Result<Vec<Value>> {
        let document = self.tab.call("Runtime.evaluate", json!({ "expression": "document" }))?;
        let mut question = json!({ "objectId": document["result"]["objectId"], "role": role });
        if let Some(name) = name {
            question["accessibleName"] = json!(name);
        }
        // The document may be replaced between the two calls.
        let Ok(answer) = self.tab.call("Accessibility.queryAXTree", question) else {
            return Ok(Vec::new());
        };
        let nodes = answer["nodes"].as_array().cloned().unwrap_or_default();
        Ok(nodes
            .into_iter()
            .filter(|node| node["ignored"] != json!(true))
            .collect())
    }

    /// Clicks the element with this role and name.
    pub fn click(&self, role: &str, name: &str) -> Result<()> {
        self.find(role, name)?.click()
    }

    /// Presses a key, such as `"p"`, `"ArrowRight"`, `" "` or `"Shift+ArrowRight"`.
    pub fn press(&self, key: &str) -> Result<()> {
        for event in keyboard::press(key)? {
            self.tab.call("Input.dispatchKeyEvent", event)?;
        }
        Ok(())
    }

    /// Types a text into what has the focus.
    pub fn insert(&self, text: &str) -> Result<()> {
        self.tab.call("Input.insertText", json!({ "text": text })).map(drop)
    }

    /// Goes from control to control with Tab until one has the focus whose role and name begin so, such as
    /// `button "Kill the leader`.
    pub fn tab_to(&self, what: &str) -> Result<()> {
        let mut passed = Vec::new();
        for _ in 0..MOST_TABS {
            self.press("Tab")?;
            let focused = self.focused()?;
            if focused.starts_with(what) {
                return Ok(());
            }
            passed.push(focused);
        }
        bail!("{MOST_TABS} times Tab lead not to {what}, but to {passed:#?}")
    }

    /// The role and accessible name of what has the keyboard's focus, such as `button "Play"`.
    pub fn focused(&self) -> Result<String> {
        let active = self
            .tab
            .call("Runtime.evaluate", json!({ "expression": "document.activeElement" }))?;
        let answer = self.tab.call(
            "Accessibility.queryAXTree",
            json!({ "objectId": active["result"]["objectId"] }),
        )?;
        let node = &answer["nodes"][0];
        Ok(format!(
            "{} {}",
            node["role"]["value"].as_str().unwrap_or("none"),
            node["name"]["value"]
        ))
    }

    /// Takes a picture of what the window shows, into `NAME.png` in the folder for pictures.
    pub fn screenshot(&self, name: &str) -> Result<PathBuf> {
        let folder = PathBuf::from(variable(environment::SCREENSHOTS)?);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.png"));
        let picture = self.tab.call("Page.captureScreenshot", json!({ "format": "png" }))?;
        let picture = picture["data"].as_str().context("Chromium takes no picture")?;
        let png = base64::engine::general_purpose::STANDARD.decode(picture)?;
        fs::write(&path, png).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Lets the page write errors to the console that contain `part`.
    pub fn expect_error(&self, part: &str) {
        self.expected.borrow_mut().push(part.to_owned());
    }

    /// Fails when the page wrote an error to the console, since the last check, that was not expected.
    pub fn check_console(&self) -> Result<()> {
        // Whatever was said before this answer has arrived with it.
        self.eval("0")?;
        let expected = self.expected.borrow();
        let complaints = self.tab.events().iter().filter_map(complaint).collect::<Vec<_>>();
        let surprises = complaints
            .iter()
            .filter(|said| !expected.iter().any(|part| said.contains(part)))
            .collect::<Vec<_>>();
        ensure!(
            surprises.is_empty(),
            "the page complains on the console: {surprises:#?}"
        );
        Ok(())
    }
}

/// A file that a document loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Where it is.
    pub address: String,
    /// What went over the wire, headers included.
    pub bytes: u64,
    /// Whether that was less than the file.
    pub compressed: bool,
}

impl Drop for Page {
    fn drop(&mut self) {
        // A tab that is gone already is as good as closed.
        self.tab.call("Page.close", json!({})).ok();
    }
}

/// What a person would see as an error or a warning in the browser's console.
fn complaint(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    match event["method"].as_str()? {
        "Runtime.consoleAPICalled" if matches!(parameters["type"].as_str()?, "error" | "warning" | "assert") => {
            let said = parameters["args"]
                .as_array()?
                .iter()
                .map(|argument| match &argument["value"] {
                    Value::Null => argument["description"].as_str().unwrap_or_default().to_owned(),
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                });
            Some(said.collect::<Vec<_>>().join(" "))
        }
        "Runtime.exceptionThrown" => {
            let thrown = &parameters["exceptionDetails"];
            let text = thrown["text"].as_str().unwrap_or_default();
            Some(format!(
                "{text} {}",
                thrown["exception"]["description"].as_str().unwrap_or_default()
            ))
        }
        "Log.entryAdded" if matches!(parameters["entry"]["level"].as_str()?, "error" | "warning") => {
            let entry = &parameters["entry"];
            Some(format!(
                "{} {}",
                entry["text"].as_str()?,
                entry["url"].as_str().unwrap_or_default()
            ))
        }
        _ => None,
    }
}

/// An element of the page.
pub struct Element<'a> {
    page: &'a Page,
    what: String,
    node: u64,
    object: String,
}

impl Element<'_> {
    /// Clicks its middle, once nothing covers it, scrolling as a person would.
    pub fn click(&self) -> Result<()> {
        let begun = Instant::now();
        loop {
            self.page
                .tab
                .call("DOM.scrollIntoViewIfNeeded", json!({ "backendNodeId": self.node }))?;
            let place = self.apply(
                "function () {
                    const box = this.getBoundingClientRect();
                    const x = box.x + box.width / 2, y = box.y + box.height / 2;
                    const hit = document.elementFromPoint(x, y);
                    const label = hit && hit.closest('label');
                    const free = hit && (this.contains(hit) || hit.contains(this) || (label && label.control === this));
                    return { x, y, free: Boolean(free), disabled: Boolean(this.disabled),
                             hit: hit ? hit.outerHTML.slice(0, 120) : 'nothing' };
                }",
            )?;
            ensure!(place["disabled"] != json!(true), "{} is disabled", self.what);
            if place["free"] == json!(true) {
                let (x, y) = (
                    place["x"].as_f64().unwrap_or_default(),
                    place["y"].as_f64().unwrap_or_default(),
                );
                for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
                    let button = if kind == "mouseMoved" { "none" } else { "left" };
                    self.page.tab.call(
                        "Input.dispatchMouseEvent",
                        json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 }),
                    )?;
                }
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                bail!("{} cannot be clicked: {} is in front of it", self.what, place["hit"]);
            }
            // A bar at the window's side may lie over it: a person scrolls on.
            self.apply("function () { this.scrollIntoView({ block: 'center', behavior: 'instant' }) }")?;
            thread::sleep(POLL);
        }
    }

    /// Gives it the keyboard's focus.
    pub fn focus(&self) -> Result<()> {
        self.apply("function () { this.focus() }").map(drop)
    }

    /// Selects what stands in it, if it is a field.
    pub fn select(&self) -> Result<()> {
        self.apply("function () { this.select() }").map(drop)
    }

    /// Chooses a file of this machine, if it is a field for files.
    pub fn choose_file(&self, path: &str) -> Result<()> {
        let chosen = json!({ "files": [path], "backendNodeId": self.node });
        self.page.tab.call("DOM.setFileInputFiles", chosen).map(drop)
    }

    /// The text it shows.
    pub fn text(&self) -> Result<String> {
        Ok(self
            .apply("function () { return this.innerText }")?
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// The value it holds, if it is a field.
    pub fn value(&self) -> Result<String> {
        Ok(self
            .apply("function () { return this.value }")?
            .as_str()
            .unwrap_or_default()
            .to_owned())
    }

    /// An attribute, if it has it.
    pub fn attribute(&self, name: &str) -> Result<Option<String>> {
        let value = self.apply(&format!("function () {{ return this.getAttribute({}) }}", json!(name)))?;
        Ok(value.as_str().map(str::to_owned))
    }

    fn apply(&self, function: &str) -> Result<Value> {
        let answer = self.page.tab.call(
            "Runtime.callFunctionOn",
            json!({
                "objectId": self.object, "functionDeclaration": function, "returnByValue": true, "userGesture": true,
            }),
        )?;
        ensure!(
            answer.get("exceptionDetails").is_none(),
            "{}: {}",
            self.what,
            answer["exceptionDetails"]
        );
        Ok(answer["result"]["value"].clone())
    }
}
