//! What stands beside the cluster on the playground: where to begin, what to do, and the scenario so far.

use web_sys::{DragEvent, File, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, js_sys};
use yew::prelude::*;

use super::{BEGINNING, Playground, address, stories};
use crate::ui::act::Act;
use crate::ui::browser;
use crate::ui::icons::icon;
use crate::ui::session::Session;

/// Lines to begin with: what each does, and the line.
const TEMPLATES: [(&str, &str); 6] = [
    ("Topic", "topic orders partitions=2 replicas=3"),
    ("Producer", "producer desk acks=1"),
    ("Consumer", "consumer reader assign=payments-0"),
    ("Member", "consumer worker group=billing topics=payments"),
    ("Send", "send shop payments count=10 every=50ms"),
    ("Time", "run for 1s"),
];

/// Properties of the pane.
#[derive(Properties, PartialEq)]
pub struct PlaygroundProps {
    /// What is being played.
    pub playground: Playground,
    /// The scenario up to the present.
    pub scenario: String,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The pane.
pub fn pane(playground: &Playground, session: &Session, act: &Callback<Act>) -> Html {
    html! { <Pane playground={playground.clone()} scenario={session.scenario()} act={act.clone()}/> }
}

#[component]
fn Pane(props: &PlaygroundProps) -> Html {
    let title = props
        .playground
        .story
        .as_deref()
        .and_then(|story| stories().find(|(slug, _)| *slug == story));
    let onchange = Callback::from(|event: Event| {
        if let Some(select) = event.target_dyn_into::<HtmlSelectElement>() {
            let story = select.value();
            browser::go_to(&match story.as_str() {
                "" => "#/playground".to_string(),
                story => format!("#/{}", address(story)),
            });
        }
    });
    let chosen = props.playground.story.as_deref().unwrap_or_default();
    html! {
        <div class="playground" ondragover={Callback::from(|event: DragEvent| event.prevent_default())} ondrop={dropped(&props.act)}>
            <div class="intro"><p class="eyebrow">{ "Free scene" }</p><h1>{ "Playground" }</h1></div>
            <p class="field-row"><label for="story">{ "Begin with" }</label>
                <select id="story" {onchange}>
                    <option value="" selected={chosen.is_empty()}>{ "a cluster of three" }</option>
                    { for stories().map(|(slug, title)| html! { <option key={slug} value={slug} selected={slug == chosen}>{ title }</option> }) }
                </select>
            </p>
            if let Some((_, title)) = title { <p class="say">{ title }</p> }
            if !props.playground.faults.is_empty() {
                <div class="notice error" role="alert" data-testid="scenario-faults">
                    <div><p>{ "That scenario cannot be played; what was there still is." }</p>
                    <ul>{ for props.playground.faults.iter().take(FAULTS).map(|fault| html! { <li>{ fault.clone() }</li> }) }</ul>
                    if props.playground.faults.len() > FAULTS { <p>{ format!("and {} more", props.playground.faults.len() - FAULTS) }</p> }</div>
                </div>
            }
            <Line act={props.act.clone()}/>
            <Text key={props.playground.begun_with.to_string()} scenario={props.scenario.clone()} act={props.act.clone()}/>
        </div>
    }
}

/// Faults that are shown of a scenario with many.
const FAULTS: usize = 8;

#[derive(Properties, PartialEq)]
struct LineProps {
    act: Callback<Act>,
}

/// One line of the scenario language, to be done now.
#[component]
fn Line(props: &LineProps) -> Html {
    let line = use_state(String::new);
    let field = use_node_ref();
    let oninput = {
        let line = line.clone();
        Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                line.set(input.value());
            }
        })
    };
    let onsubmit = {
        let (line, act) = (line.clone(), props.act.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            if !line.trim().is_empty() {
                act.emit(Act::Do(line.trim().to_string()));
            }
        })
    };
    let template = |text: &'static str| {
        let (line, field) = (line.clone(), field.clone());
        Callback::from(move |_: MouseEvent| {
            line.set(text.to_string());
            if let Some(field) = field.cast::<HtmlInputElement>() {
                let _ = field.focus();
            }
        })
    };
    html! {
        <form {onsubmit}>
            <label class="q" for="line">{ "Do something" }</label>
            <p class="under">{ "Any line of the scenario language. These begin one:" }</p>
            <p class="chips">{ for TEMPLATES.map(|(name, text)| html! { <button key={name} type="button" class="btn small" onclick={template(text)}>{ name }</button> }) }</p>
            <p class="line"><input id="line" class="field mono" ref={field} value={(*line).clone()} {oninput} autocomplete="off" spellcheck="false" placeholder="kill 1"/>
                <button class="btn" disabled={line.trim().is_empty()}>{ "Do" }</button></p>
        </form>
    }
}

#[derive(Properties, PartialEq)]
struct TextProps {
    scenario: String,
    act: Callback<Act>,
}

/// The scenario up to the present, to be copied, saved, changed and played anew.
#[component]
fn Text(props: &TextProps) -> Html {
    let draft = use_state(|| None::<String>);
    let shown = (*draft).clone().unwrap_or_else(|| props.scenario.clone());
    let area = use_node_ref();
    let oninput = {
        let draft = draft.clone();
        Callback::from(move |event: InputEvent| {
            if let Some(area) = event.target_dyn_into::<HtmlTextAreaElement>() {
                draft.set(Some(area.value()));
            }
        })
    };
    let play = {
        let (draft, shown) = (draft.clone(), shown.clone());
        props.act.reform(move |_: MouseEvent| {
            draft.set(None);
            Act::Scenario(shown.clone())
        })
    };
    let back = {
        let draft = draft.clone();
        Callback::from(move |_: MouseEvent| draft.set(None))
    };
    let copied = use_state(|| false);
    let copy = {
        let (area, copied, shown) = (area.clone(), copied.clone(), shown.clone());
        Callback::from(move |_: MouseEvent| {
            if let Some(area) = area.cast::<HtmlTextAreaElement>() {
                area.select();
            }
            browser::copy(&shown);
            copied.set(true);
        })
    };
    let saved = use_state(|| false);
    let save = {
        let saved = saved.clone();
        Callback::from(move |_: MouseEvent| saved.set(true))
    };
    let href = format!(
        "data:text/plain;charset=utf-8,{}",
        String::from(js_sys::encode_uri_component(&shown))
    );
    let open = {
        let act = props.act.clone();
        Callback::from(move |event: Event| {
            let input = event.target_dyn_into::<HtmlInputElement>();
            if let Some(file) = input.and_then(|input| input.files()).and_then(|files| files.get(0)) {
                read(&file, &act);
            }
        })
    };
    html! {
        <section aria-label="Scenario">
            <label class="q" for="scenario">{ if draft.is_some() { "Your text, not played yet" } else { "Written down so far" } }</label>
            <textarea id="scenario" class="field mono" ref={area} rows="9" spellcheck="false" value={shown} {oninput}/>
            <p class="chips">
                if draft.is_some() {
                    <button class="btn small primary" onclick={play} data-testid="play-text">{ "Play it" }</button>
                    <button class="btn small" onclick={back}>{ icon("undo") }{ "Discard" }</button>
                } else {
                    <button class="btn small" onclick={copy}>{ if *copied { "Copied" } else { "Copy" } }</button>
                    <a class="btn small" download="scenario.txt" {href} onclick={save}>{ if *saved { "Saved" } else { "Save" } }</a>
                    <button class="btn small" disabled={props.scenario == BEGINNING} onclick={props.act.reform(|_: MouseEvent| Act::Scenario(BEGINNING.to_string()))}>{ "Begin anew" }</button>
                }
            </p>
            <label class="q" for="scenario-file">{ "Open a scenario" }</label>
            <input id="scenario-file" type="file" accept=".txt,text/plain" onchange={open}/>
        </section>
    }
}

/// A file that is dropped on the pane is played.
fn dropped(act: &Callback<Act>) -> Callback<DragEvent> {
    let act = act.clone();
    Callback::from(move |event: DragEvent| {
        event.prevent_default();
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            read(&file, &act);
        }
    })
}

fn read(file: &File, act: &Callback<Act>) {
    let act = act.clone();
    browser::read_text(file, move |text| act.emit(Act::Scenario(text)));
}
