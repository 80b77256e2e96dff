//! What stands beside the cluster on the playground: where to begin, what to do, and the scenario so far.

use std::cell::Cell;
use std::rc::Rc;

use web_sys::{File, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, js_sys};
use yew::prelude::*;

use super::templates::{Templates, templates};
use super::whole::Present;
use super::{BEGINNING, Playground, address, not_copied, stories};
use crate::ui::act::Act;
use crate::ui::browser;
use crate::ui::icons::icon;
use crate::ui::line::{begin_line, use_line};
use crate::ui::page::Page;
use crate::ui::session::Session;
use crate::ui::view::names;
use crate::ui::view::panels::part_of;

thread_local! {
    /// Whether a story was opened from the list, which then has the focus where the story has come.
    static OPENED: Cell<bool> = const { Cell::new(false) };
}

/// Properties of the pane.
#[derive(Properties, PartialEq)]
pub struct PlaygroundProps {
    /// What is being played.
    pub playground: Playground,
    /// The run as a text.
    pub text: Rc<str>,
    /// Where in it the present lies.
    pub present: Present,
    /// How many expectations held so far, and what the others came to.
    pub expectations: Rc<(usize, Vec<String>)>,
    /// Whether one stands at the beginning of what was begun with, and it is unchanged.
    pub fresh: bool,
    /// Lines to begin with.
    pub templates: Templates,
    /// How many lines were done.
    pub lines_done: u32,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The pane.
pub fn pane(page: &Page, playground: &Playground, session: &Session, act: &Callback<Act>) -> Html {
    let whole = session.whole();
    let fresh = session.step_number() == 0 && whole.text == playground.begun_with;
    html! { <Pane playground={playground.clone()} text={Rc::clone(&whole.text)} present={whole.present(session.position())} expectations={Rc::new(session.expectations())} {fresh} templates={templates(session)} lines_done={page.lines_done} act={act.clone()}/> }
}

#[component]
fn Pane(props: &PlaygroundProps) -> Html {
    let title = props
        .playground
        .story
        .as_deref()
        .and_then(|story| stories().find(|(slug, _)| *slug == story));
    let is_own = props.playground.story.is_none() && *props.playground.begun_with != *BEGINNING;
    let chosen = props
        .playground
        .story
        .as_deref()
        .unwrap_or(if is_own { OWN } else { CLUSTER });
    let list = use_node_ref();
    {
        let list = list.clone();
        use_effect_with((), move |()| {
            if let Some(list) = list.cast::<HtmlSelectElement>().filter(|_| OPENED.take()) {
                let _ = list.focus();
            }
        });
    }
    let picked = use_state(String::new);
    let pick = {
        let (list, picked) = (list.clone(), picked.clone());
        Callback::from(move |()| {
            if let Some(list) = list.cast::<HtmlSelectElement>() {
                picked.set(list.value());
            }
        })
    };
    // What is begun with otherwise than from the list is what the list shows.
    let picks = pick.clone();
    use_effect_with(chosen.to_string(), move |_| picks.emit(()));
    let open = {
        let (list, act, chosen) = (list.clone(), props.act.clone(), chosen.to_string());
        Callback::from(move |()| {
            let Some(list) = list.cast::<HtmlSelectElement>() else {
                return;
            };
            match list.value().as_str() {
                same if same == chosen => {}
                CLUSTER => act.emit(Act::Scenario(BEGINNING.to_string())),
                story => {
                    OPENED.set(true);
                    browser::go_to(&format!("#/{}", address(story)));
                }
            }
        })
    };
    // The list's arrow keys only choose: what was chosen is opened by Enter, or by the button.
    let onkeydown = {
        let open = open.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter" {
                event.prevent_default();
                open.emit(());
            }
        })
    };
    html! {
        <div class="playground">
            <div class="intro"><p class="eyebrow">{ "Free scene" }</p><h1>{ "Playground" }</h1></div>
            <p class="field-row"><label for="story">{ "Begin with" }</label>
                <select id="story" ref={list} onchange={pick.reform(|_: Event| ())} {onkeydown}>
                    if is_own { <option value={OWN} selected=true>{ "a text of your own" }</option> }
                    <option value={CLUSTER} selected={chosen == CLUSTER}>{ "a cluster of three" }</option>
                    { for stories().map(|(slug, title)| html! { <option key={slug} value={slug} selected={slug == chosen}>{ title }</option> }) }
                </select>
                <button type="button" class="btn small" disabled={*picked == chosen} onclick={open.reform(|_: MouseEvent| ())}>{ "Open" }</button>
            </p>
            if let Some((_, title)) = title { <p class="say">{ title }</p> }
            if !props.playground.faults.is_empty() {
                <div class="notice error" role="alert" data-testid="scenario-faults">
                    <div><p>{ "That scenario cannot be played; the run before it is still there." }</p>
                    <ul>{ for props.playground.faults.iter().take(FAULTS).map(|fault| html! { <li>{ fault.clone() }</li> }) }</ul>
                    if props.playground.faults.len() > FAULTS { <p>{ format!("and {} more", props.playground.faults.len() - FAULTS) }</p> }</div>
                </div>
            }
            <Line templates={props.templates.clone()} lines_done={props.lines_done} act={props.act.clone()}/>
            <Text text={props.text.clone()} present={props.present} expectations={props.expectations.clone()} fresh={props.fresh} draft={props.playground.draft.clone()} act={props.act.clone()}/>
        </div>
    }
}

/// Faults that are shown of a scenario with many.
const FAULTS: usize = 8;

#[derive(Properties, PartialEq)]
struct LineProps {
    templates: Templates,
    lines_done: u32,
    act: Callback<Act>,
}

/// One line of the scenario language, to be done now.
#[component]
fn Line(props: &LineProps) -> Html {
    let (field, onsubmit) = use_line(props.lines_done, &props.act);
    let template = |text: &str| {
        let (field, text) = (field.clone(), text.to_string());
        Callback::from(move |_: MouseEvent| begin_line(&field, &text))
    };
    html! {
        <form {onsubmit}>
            <label class="q" for="line">{ "Do something" }</label>
            <p class="under">{ "A line of the scenario language: an act, time, expect, or # with a comment. What sets up the world (brokers, seed, rules) is changed in the text. To begin with:" }</p>
            <p class="chips">{ for props.templates.iter().map(|(name, text)| html! { <button key={*name} type="button" class="btn small" onclick={template(text)}>{ *name }</button> }) }</p>
            <p class="line"><input id="line" class="field mono" ref={field} autocomplete="off" spellcheck="false" placeholder="kill 1"/>
                <button class="btn">{ "Do" }</button></p>
        </form>
    }
}

#[derive(Properties, PartialEq)]
struct TextProps {
    text: Rc<str>,
    present: Present,
    expectations: Rc<(usize, Vec<String>)>,
    fresh: bool,
    draft: Option<Rc<str>>,
    act: Callback<Act>,
}

/// The scenario as a whole, with a mark at the present: to be copied, saved, changed and played anew.
#[component]
fn Text(props: &TextProps) -> Html {
    let is_draft = props.draft.is_some();
    let shown = props.draft.as_ref().unwrap_or(&props.text).to_string();
    let area = use_node_ref();
    {
        let area = area.clone();
        use_effect_with((props.present, is_draft), move |&(present, is_draft)| {
            if let Some(area) = area.cast::<HtmlTextAreaElement>().filter(|_| !is_draft) {
                follow(&area, present);
            }
        });
    }
    let oninput = props.act.reform(|event: InputEvent| {
        let area = event.target_dyn_into::<HtmlTextAreaElement>();
        Act::Draft(area.map(|area| area.value()))
    });
    let play = {
        let shown = shown.clone();
        props.act.reform(move |_: MouseEvent| Act::Scenario(shown.clone()))
    };
    let copied = use_state(|| None::<(String, Result<(), String>)>);
    let copy = {
        let (area, copied, shown) = (area.clone(), copied.clone(), shown.clone());
        Callback::from(move |_: MouseEvent| {
            if let Some(area) = area.cast::<HtmlTextAreaElement>() {
                area.select();
            }
            let (copied, text) = (copied.clone(), shown.clone());
            browser::copy(&shown, move |came_of_it| copied.set(Some((text, came_of_it))));
        })
    };
    let saved = use_state(|| None::<String>);
    let save = {
        let (saved, shown) = (saved.clone(), shown.clone());
        Callback::from(move |_: MouseEvent| saved.set(Some(shown.clone())))
    };
    let href = format!(
        "data:text/plain;charset=utf-8,{}",
        String::from(js_sys::encode_uri_component(&shown))
    );
    let open = {
        let act = props.act.clone();
        Callback::from(move |event: Event| {
            let Some(input) = event.target_dyn_into::<HtmlInputElement>() else {
                return;
            };
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                read(&file, &act);
            }
            // The same file may be opened again, changed.
            input.set_value("");
        })
    };
    let copied = copied
        .as_ref()
        .filter(|(text, _)| *text == shown)
        .map(|(_, copied)| copied);
    let (is_copied, is_saved) = (matches!(copied, Some(Ok(()))), saved.as_ref() == Some(&shown));
    let (held, broken) = &*props.expectations;
    let held = match held {
        0 => String::new(),
        1 => " One expectation holds.".to_string(),
        many => format!(" {many} expectations hold."),
    };
    let (label, standing) = match is_draft {
        true => (
            "Your text, not played yet",
            "Play it: from its beginning, all of it.".to_string(),
        ),
        false => ("The scenario", props.present.words() + &held),
    };
    let mark = match is_draft {
        true => "--played:0;--under-way:0".to_string(),
        false => format!(
            "--played:{};--under-way:{}",
            props.present.played, props.present.under_way
        ),
    };
    html! {
        <section aria-label="Scenario">
            <label class="q" for="scenario">{ label }</label>
            <p class="under" id="scenario-present">{ standing }</p>
            if !is_draft && !broken.is_empty() {
                <ul class="broken" data-testid="broken">{ for broken.iter().take(FAULTS).map(|one| html! { <li>{ one }</li> }) }
                    if broken.len() > FAULTS { <li>{ format!("and {} more", broken.len() - FAULTS) }</li> }</ul>
            }
            <textarea id="scenario" class={classes!("field", "mono", (!is_draft).then_some("marked"))} ref={area} rows="12" spellcheck="false" aria-describedby="scenario-present" style={mark} value={shown} {oninput}/>
            <p class="chips">
                if is_draft {
                    <button class="btn small primary" onclick={play} data-testid="play-text">{ "Play it" }</button>
                    <button class="btn small" onclick={props.act.reform(|_: MouseEvent| Act::Draft(None))}>{ icon("undo") }{ "Discard" }</button>
                }
                <button class="btn small" onclick={copy}>{ if is_copied { "Copied" } else { "Copy" } }</button>
                <a class="btn small" download="scenario.txt" {href} onclick={save}>{ if is_saved { "Saved" } else { "Save" } }</a>
                if !is_draft {
                    <button class="btn small" disabled={props.fresh} onclick={props.act.reform(|_: MouseEvent| Act::Restart)}>{ "Begin anew" }</button>
                }
            </p>
            if let Some(Err(why)) = copied { <p class="under warn" role="alert">{ names::sentence(&not_copied(why), |_| false) }{ "." }</p> }
            <label class="q" for="scenario-file">{ "Open a scenario" }</label>
            <p class="under">{ "Or drop its file anywhere on this page." }</p>
            <input id="scenario-file" type="file" accept=".txt,text/plain" onchange={open}/>
        </section>
    }
}

/// Keeps the present in view, unless somebody writes.
fn follow(area: &HtmlTextAreaElement, present: Present) {
    let focused = browser::window()
        .document()
        .and_then(|document| document.active_element());
    if present.lines == 0 || focused.is_some_and(|focused| focused.is_same_node(Some(area))) {
        return;
    }
    let height_of = u64::try_from(area.scroll_height()).unwrap_or_default();
    let at = |line: usize| part_of(height_of, line, present.lines) as i32;
    let (top, height) = (area.scroll_top(), area.client_height());
    let (from, to) = (at(present.played), at(present.played + present.under_way.max(1)));
    if from < top || to > top + height {
        area.set_scroll_top(to - height / 2);
    }
}

/// The list's value for the cluster to begin with.
const CLUSTER: &str = "";
/// The list's value for a text of somebody's own.
const OWN: &str = "own";

fn read(file: &File, act: &Callback<Act>) {
    let act = act.clone();
    browser::read_text(file, browser::SCENARIO, move |text| {
        act.emit(text.map_or_else(Act::Unread, Act::Scenario))
    });
}
