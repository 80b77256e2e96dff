//! The few things that the page asks of its browser: storage, listening, measuring, the crash that came before.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Animation, Clipboard, DragEvent, Element, EventTarget, File, Response, Window, js_sys};
use yew::Callback;

use super::act::Act;
use super::later;
use super::own_text::text_of;
use super::playground::{self, BEGINNING};

/// Where progress is kept.
pub const PROGRESS: &str = "highwater.progress";
/// Where settings are kept.
pub const SETTINGS: &str = "highwater.settings";
/// Where the run is kept in case the engine stops.
pub const RESUME: &str = "highwater.resume";
/// Where the playground is kept for the case that the page is loaded again.
pub const PLAYGROUND: &str = "highwater.playground";

/// Ends whatever moves, where it was going to.
pub fn end_moves() {
    let Some(document) = window().document() else { return };
    for one in document.get_animations().iter() {
        if let Some(one) = one.dyn_ref::<Animation>() {
            one.cancel();
        }
    }
}

/// The window; there always is one where a page runs.
pub fn window() -> Window {
    web_sys::window().expect("the page runs in a window")
}

/// What is kept in this browser under a name; nothing if storage is forbidden.
pub fn kept(name: &str) -> Option<String> {
    window().local_storage().ok()??.get_item(name).ok()?
}

/// Names the place in the address without going there.
pub fn name_place(fragment: &str) {
    if let Ok(history) = window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(fragment));
    }
}

/// Goes to a place, as a link to it does.
pub fn go_to(fragment: &str) {
    let _ = window().location().set_hash(fragment);
}

/// Copies a text, and hands over what came of it.
pub fn copy(text: &str, then: impl FnOnce(Result<(), String>) + 'static) {
    // Begun at once: a browser allows it only while a key or a button is being pressed.
    let begun = clipboard().map(|clipboard| clipboard.write_text(text));
    spawn_local(async move {
        let copied = match begun {
            Some(begun) => JsFuture::from(begun).await.map(drop).map_err(|error| said_of(&error)),
            None => Err("this browser lets a page copy only over https or on localhost".to_string()),
        };
        then(copied);
    });
}

/// The clipboard; a page with an insecure address has none, and asking for it as if there were one ends the page.
fn clipboard() -> Option<Clipboard> {
    let clipboard = js_sys::Reflect::get(&window().navigator(), &"clipboard".into()).ok()?;
    clipboard.is_object().then(|| clipboard.unchecked_into())
}

/// What an error of the browser says.
fn said_of(error: &JsValue) -> String {
    let message = js_sys::Reflect::get(error, &"message".into()).ok();
    let message = message.and_then(|message| message.as_string());
    let message = message.map(|message| message.trim_end_matches('.').to_string());
    message
        .filter(|message| !message.is_empty())
        .unwrap_or_else(|| "the browser does not say why".to_string())
}

/// What is to be opened as a scenario.
pub const SCENARIO: &str = "a scenario, with one statement a line";

/// Reads a file of this machine as text, and hands over what came of it; nothing of it leaves the page. What is wanted is
/// said where it is no text.
pub fn read_text(file: &File, wanted: &'static str, then: impl FnOnce(Result<String, String>) + 'static) {
    let (name, coming) = (file.name(), file.array_buffer());
    spawn_local(async move {
        let bytes = JsFuture::from(coming).await;
        let bytes = bytes.map_err(|error| format!("{name} cannot be read ({}); open it again", said_of(&error)));
        let bytes = bytes.map(|bytes| js_sys::Uint8Array::new(&bytes).to_vec());
        then(bytes.and_then(|bytes| text_of(&name, bytes, wanted)));
    });
}

thread_local! {
    /// What this document has kept last under each name: writing it again would be work at every step.
    static KEPT: RefCell<BTreeMap<&'static str, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// Keeps something in this browser; where storage is forbidden, nothing is kept.
pub fn keep(name: &'static str, text: &str) {
    let is_new = KEPT.with_borrow_mut(|kept| kept.insert(name, text.to_string()).as_deref() != Some(text));
    if let (true, Ok(Some(storage))) = (is_new, window().local_storage()) {
        let _ = storage.set_item(name, text);
    }
}

/// Keeps something for as long as this tab is open.
pub fn keep_while_open(name: &str, text: &str) {
    if let Ok(Some(storage)) = window().session_storage() {
        let _ = storage.set_item(name, text);
    }
}

/// What is kept for as long as this tab is open.
pub fn kept_while_open(name: &str) -> Option<String> {
    window().session_storage().ok()??.get_item(name).ok()?
}

/// Whether something is dragged that a field of the page takes by itself: a text, no file.
pub fn is_text_for_a_field(event: &DragEvent) -> bool {
    let files = event.data_transfer().and_then(|data| data.files());
    let has_files = files.is_some_and(|files| files.length() > 0)
        || event
            .data_transfer()
            .is_some_and(|data| data.types().includes(&"Files".into(), 0));
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let is_field = target.is_some_and(|target| target.matches("textarea, input").unwrap_or(false));
    is_field && !has_files
}

/// The file that is dropped, the first if there are several.
pub fn dropped_file(event: &DragEvent) -> Option<File> {
    event.data_transfer()?.files()?.get(0)
}

/// The run that was under way when the engine stopped, if this page was loaded to recover from that.
pub fn crashed_run() -> Option<String> {
    let object = |of: &JsValue, name| get(of, name).filter(JsValue::is_object);
    let crashed = object(&object(&window().into(), "highwater")?, "crashed")?;
    let resume = object(&crashed, "resume")?;
    js_sys::JSON::stringify(&resume).ok()?.as_string()
}

/// A property of a value, if it can have one.
fn get(of: &JsValue, name: &str) -> Option<JsValue> {
    js_sys::Reflect::get(of, &name.into()).ok()
}

/// Fetches the file of a lesson or a story, which stands beside the page, and what is needed to read it; hands over what
/// came of it.
pub fn fetch_lesson(slug: Rc<str>, act: Callback<Act>) {
    let path = match slug.strip_prefix(playground::PLAYGROUND) {
        Some("") => None,
        Some(story) => Some(format!("stories{story}.txt")),
        None => Some(format!("lessons/{slug}.md")),
    };
    let coming = path.map(|path| window().fetch_with_str(&path));
    spawn_local(async move {
        let text = match coming {
            Some(coming) => fetched(coming).await,
            None => Ok(BEGINNING.to_string()),
        };
        let here = later::load().await;
        act.emit(Act::Fetched(slug, here.and(text)));
    });
}

/// Why something of the page's own did not come.
pub fn not_come() -> String {
    let online = window().navigator().on_line();
    let why = if online {
        "the server could not be reached"
    } else {
        "this device is offline"
    };
    why.to_string()
}

async fn fetched(coming: js_sys::Promise) -> Result<String, String> {
    let failed = |_| not_come();
    let response = JsFuture::from(coming).await.map_err(failed)?;
    let response: Response = response.unchecked_into();
    if !response.ok() {
        return Err(format!("the server answered {}", response.status()));
    }
    let text = JsFuture::from(response.text().map_err(failed)?).await.map_err(failed)?;
    Ok(text.as_string().unwrap_or_default())
}

/// A listener that ends when this is dropped.
pub struct Listening {
    target: EventTarget,
    event: &'static str,
    closure: Closure<dyn FnMut(web_sys::Event)>,
}

impl Listening {
    /// Listens to an event.
    pub fn to(target: EventTarget, event: &'static str, act: impl FnMut(web_sys::Event) + 'static) -> Listening {
        let closure = Closure::<dyn FnMut(web_sys::Event)>::new(act);
        let _ = target.add_event_listener_with_callback(event, closure.as_ref().unchecked_ref());
        Listening { target, event, closure }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self
            .target
            .remove_event_listener_with_callback(self.event, self.closure.as_ref().unchecked_ref());
    }
}

/// Whether a media query holds.
pub fn matches(query: &str) -> bool {
    window()
        .match_media(query)
        .ok()
        .flatten()
        .is_some_and(|list| list.matches())
}

/// Light, dark, or as the system has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// How much may move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Motion {
    /// As the system has it.
    #[default]
    System,
    /// Messages fly.
    Full,
    /// Nothing moves.
    Reduced,
}

/// Whether single keys act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// They do.
    #[default]
    On,
    /// Only keys that type nothing do.
    Off,
}

/// What somebody has set for the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Light or dark.
    pub theme: Theme,
    /// How much may move.
    pub motion: Motion,
    /// Whether single keys act.
    pub keys: Keys,
}

impl Settings {
    /// What is kept; what cannot be read counts as not set.
    pub fn kept() -> Settings {
        // By the browser itself: a reader of its own would be a tenth of what is loaded before the first sight.
        let stored = kept(SETTINGS).and_then(|text| js_sys::JSON::parse(&text).ok());
        let word = |name| get(stored.as_ref()?, name)?.as_string();
        Settings {
            theme: match word("theme").as_deref() {
                Some("light") => Theme::Light,
                Some("dark") => Theme::Dark,
                _ => Theme::System,
            },
            motion: match word("motion").as_deref() {
                Some("full") => Motion::Full,
                Some("reduced") => Motion::Reduced,
                _ => Motion::System,
            },
            keys: match word("keys").as_deref() {
                Some("off") => Keys::Off,
                _ => Keys::On,
            },
        }
    }

    /// Whether nothing may move.
    pub fn is_still(&self) -> bool {
        match self.motion {
            Motion::System => matches("(prefers-reduced-motion: reduce)"),
            Motion::Full => false,
            Motion::Reduced => true,
        }
    }

    /// Keeps the settings, and puts them on the document's root, where the styles look.
    pub fn apply(&self) {
        if let Ok(text) = serde_json::to_string(self) {
            keep(SETTINGS, &text);
        }
        let Some(root) = window().document().and_then(|document| document.document_element()) else {
            return;
        };
        let _ = match self.theme {
            Theme::System => root.remove_attribute("data-theme"),
            Theme::Light => root.set_attribute("data-theme", "light"),
            Theme::Dark => root.set_attribute("data-theme", "dark"),
        };
        let _ = root.set_attribute("data-motion", if self.is_still() { "reduced" } else { "full" });
    }
}
