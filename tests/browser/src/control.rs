//! Every control that a person could use at this moment, found in the document itself: nobody keeps a list of them, so
//! that a new control that does nothing is found by the tests there are.
//!
//! A control is told from others by its kind, its name and the group it stands in, since the page may draw it anew at
//! any step. What using it changes is looked for in everything that a person or an assistive technology can notice.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::page::{Element, PATIENCE, Page};

/// How long a control may take to show what it did.
const ANSWER: Duration = Duration::from_secs(6);

/// How long the controls of a view must stay the same until they count as its own.
const QUIET: Duration = Duration::from_millis(80);

/// The functions that the tests ask in the document: which controls there are, and what can be noticed of the page.
const EYES: &str = r#"(() => {
    if (window.eyes) return;
    const words = (text) => (text || '').replace(/\s+/g, ' ').trim().slice(0, 80);
    const named = (element) => words(element.getAttribute('aria-label')
        || [...(element.labels || [])].map((label) => label.innerText).join(' ')
        || (element.getAttribute('aria-labelledby') || '').split(' ').map((id) => document.getElementById(id)?.innerText).join(' ')
        || element.innerText || element.placeholder || element.title || element.value);
    const kind = (element) => element.localName + (element.type && element.localName === 'input' ? ':' + element.type : '');
    const group = (element) => {
        const near = element.parentElement.closest('[data-testid], [role=group], [role=radiogroup], [role=tablist], [role=dialog], dialog, nav, section, aside, main, header, footer');
        return near ? near.dataset.testid || words(near.getAttribute('aria-label')) || near.localName : '';
    };
    const visible = (element) => {
        if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) return false;
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.height > 0 && !element.closest('[inert]') && !element.classList.contains('skip');
    };
    // What is on already, and cannot be switched off by being used: a chosen option, the place where one is.
    const rests = (element) => element.disabled || element.ariaDisabled === 'true' || element.readOnly || element.checked || element.options?.length === 1
        || (element.closest('.seg, .tree, .strip, [aria-label=Partitions]') && element.ariaPressed === 'true')
        || (element.hasAttribute('aria-current') && new URL(element.href).hash === (location.hash || '#/'));
    const controls = () => {
        const over = document.querySelector('dialog[open]') || document.querySelector('[role=dialog]');
        const found = [...(over || document.body).querySelectorAll(
            'a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=link], [role=checkbox], [role=switch]')];
        const seen = new Map();
        return found.filter(visible).map((element) => {
            const place = `${kind(element)} "${named(element)}" in ${group(element)}`;
            const again = seen.get(place) || 0;
            seen.set(place, again + 1);
            return { element, key: again ? `${place}, number ${again + 1}` : place, kind: kind(element), rests: Boolean(rests(element)) };
        });
    };
    const noticed = () => {
        const all = [...document.querySelectorAll('*')];
        return JSON.stringify([
            location.hash,
            document.documentElement.cloneNode(false).outerHTML,
            document.body.innerHTML,
            all.filter((one) => 'value' in one).map((one) => [one.value, one.checked, one.files?.length]),
            all.filter((one) => one.scrollTop || one.scrollLeft).map((one) => [one.className, one.scrollTop, one.scrollLeft]),
            all.indexOf(document.activeElement),
        ]);
    };
    window.eyes = { controls, noticed };
})()"#;

/// A control of the page, as it was when it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Kind, name and group.
    pub key: String,
    /// The element's name, and the type of an input.
    pub kind: String,
    /// Whether using it now could not change anything: it is disabled, or the option that is chosen already.
    pub rests: bool,
}

impl Page {
    /// All controls that can be seen; while a dialog is open, its own alone.
    pub fn controls(&self) -> Result<Vec<Control>> {
        self.eval(EYES)?;
        let found = self.eval("eyes.controls().map(({ key, kind, rests }) => [key, kind, rests])")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let controls = found.as_array().into_iter().flatten().map(|entry| Control {
            key: text(&entry[0]),
            kind: text(&entry[1]),
            rests: entry[2] == json!(true),
        });
        Ok(controls.collect())
    }

    /// Uses a control as a person would, and fails when nothing that can be noticed has changed.
    pub fn use_control(&self, control: &Control) -> Result<()> {
        let find = format!(
            "eyes.controls().find(({{ key }}) => key === {})?.element",
            json!(control.key)
        );
        let element = self.element(&control.key, &find)?;
        // To have the focus is no effect of its own.
        element.focus()?;
        let before = self.eval("eyes.noticed()")?;
        self.handle(control, &element)
            .with_context(|| format!("cannot use {}", control.key))?;
        let begun = Instant::now();
        while self.eval("window.eyes ? eyes.noticed() : 'another document'")? == before {
            if begun.elapsed() > ANSWER {
                bail!("{} does nothing", control.key);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn handle(&self, control: &Control, element: &Element<'_>) -> Result<()> {
        match control.kind.as_str() {
            "input:range" => {
                let (value, low) = (element.value()?, element.attribute("min")?.unwrap_or_default());
                self.press(if value == low { "ArrowRight" } else { "ArrowLeft" })
            }
            "input:number" => {
                let (value, least) = (element.value()?, element.attribute("min")?.unwrap_or_default());
                self.press(if value == least { "ArrowUp" } else { "ArrowDown" })
            }
            "select" => {
                let first = self.eval("document.activeElement.selectedIndex === 0")? == json!(true);
                self.press(if first { "ArrowDown" } else { "ArrowUp" })
            }
            "input:file" => {
                let files = concat!(env!("CARGO_MANIFEST_DIR"), "/page/files");
                element.choose_file(&match element.attribute("webkitdirectory")? {
                    Some(_) => format!("{files}/broker-1"),
                    None => format!("{files}/mistakes.md"),
                })
            }
            "textarea" => self.insert("# "),
            "input:text" => {
                element.select()?;
                self.insert("7")?;
                self.press("Enter")
            }
            _ => element.click(),
        }
    }

    /// Uses every control of this view, each once, and gives back how many. `begin` leads to the view, and is called
    /// again whenever a control has led away from others that are still to be used.
    pub fn use_every_control(&self, begin: impl Fn(&Page) -> Result<()>) -> Result<usize> {
        let begin = || {
            begin(self)?;
            self.settled()
        };
        let mut open: Vec<Control> = begin()?.into_iter().filter(|one| !one.rests).collect();
        let count = open.len();
        ensure!(count > 0, "there is nothing to use");
        while !open.is_empty() {
            let here = self.controls()?;
            let at = match usable(&open, &here) {
                Some(at) => at,
                None => {
                    begin()?;
                    self.wait_for_one_of(&open)?
                }
            };
            self.use_control(&open.remove(at))?;
            self.check_console()?;
            self.hold_still()?;
        }
        Ok(count)
    }

    /// Where the first of these controls stands that can be used, once one can.
    fn wait_for_one_of(&self, open: &[Control]) -> Result<usize> {
        let begun = Instant::now();
        loop {
            let here = self.controls()?;
            if let Some(at) = usable(open, &here) {
                return Ok(at);
            }
            ensure!(
                begun.elapsed() < PATIENCE,
                "these are gone when the view is begun again: {open:#?}; those there are: {here:#?}"
            );
            thread::sleep(QUIET / 10);
        }
    }

    /// The controls of a view that was just come to, once they stay the same for a while with nothing under the pointer:
    /// what it rests on may be shown in another way, and the last of what was asked for may still be on its way.
    fn settled(&self) -> Result<Vec<Control>> {
        self.rest_pointer()?;
        let mut controls = self.controls()?;
        let begun = Instant::now();
        let mut since = begun;
        while since.elapsed() < QUIET {
            ensure!(
                begun.elapsed() < PATIENCE,
                "the controls change all the time, now to {controls:#?}"
            );
            thread::sleep(QUIET / 10);
            let now = self.controls()?;
            if now != controls {
                (controls, since) = (now, Instant::now());
            }
        }
        Ok(controls)
    }

    /// Takes the pointer away from everything: into the corner.
    fn rest_pointer(&self) -> Result<()> {
        let corner = json!({ "type": "mouseMoved", "x": 0, "y": 0 });
        self.tab.call("Input.dispatchMouseEvent", corner).map(drop)
    }

    /// Pauses, if it plays, once the page has done what the last control asked of it.
    pub fn hold_still(&self) -> Result<()> {
        // A link changes the address at once, and what is shown only when the page hears of it. It may also lead to
        // another document: then this one does not answer.
        let _ = self
            .eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))");
        self.eval("document.querySelector('[data-testid=play][aria-label=Pause]')?.click()")?;
        let still = "!document.querySelector('[data-testid=play][aria-label=Pause]')";
        self.wait_until("it is paused", still)
    }
}

/// Where the first control stands, of those still to be used, that is here and does not rest.
fn usable(open: &[Control], here: &[Control]) -> Option<usize> {
    let usable = |wanted: &Control| here.iter().any(|now| now.key == wanted.key && !now.rests);
    open.iter().position(usable)
}
