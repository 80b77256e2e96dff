//! The inspector: what one clicked, and what this step changed.

use std::rc::Rc;

use yew::prelude::*;

use crate::cluster::rules::Rule;
use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::later::{self, Arriving};
use crate::ui::view::panels::{Change, Chip, Inspector, Tone};

/// The style class of a tone.
pub fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain | Tone::No => "no",
        Tone::Ok => "ok",
        Tone::Wait | Tone::Warn => "warn",
        Tone::Bad => "bad",
        Tone::Cache => "cache",
        Tone::Disk => "disk",
        Tone::Ghost => "ghost",
    }
}

/// A word with its tone and glyph.
pub fn chip(chip: &Chip) -> Html {
    let glyph = match chip.tone {
        Tone::Ok => "✓ ",
        Tone::Bad => "✕ ",
        _ => "",
    };
    html! { <span class={classes!("chip", tone(chip.tone))}>{ glyph }{ chip.text.to_string() }</span> }
}

/// Properties of the inspector.
#[derive(Properties, PartialEq)]
pub struct InspectorProps {
    /// What is inspected, as [`subject`] draws it.
    pub shown: Option<Html>,
    /// What this step changed.
    pub changes: Rc<Vec<Change>>,
}

/// The right pane.
#[component]
pub fn InspectorPane(props: &InspectorProps) -> Html {
    html! {
        <aside class="right" aria-label="Inspector" id="inspector" tabindex="-1">
            if let Some(shown) = &props.shown {
                { shown.clone() }
            } else {
                <section>
                    <h2>{ "Inspector" }</h2>
                    <p class="empty">{ "Select a record or a broker's name: where its copies lie, what it holds, and what one fault would do to it." }</p>
                </section>
            }
            <section>
                <h2>{ "This step" }</h2>
                <Changes changes={props.changes.clone()}/>
            </section>
        </aside>
    }
}

/// What is inspected, and what else there is to say of it.
pub fn subject(shown: &Inspector, more: Html, act: &Callback<Act>) -> Html {
    html! {
        <>
            <section data-testid="inspected">
                <h2>
                    { shown.title.to_string() }
                    <>{ for shown.chips.iter().map(chip) }</>
                    <button class="btn small quiet square" aria-label="Clear the inspector" title="Clear" onclick={act.reform(|_| Act::Inspect(None))}>{ icon("cross") }</button>
                </h2>
                if let Some(verdict) = &shown.verdict {
                    <div class={classes!("verdict", tone(verdict.tone))}>{ verdict.headline.to_string() }<small>{ verdict.detail.to_string() }</small></div>
                }
                { more }
            </section>
            if !shown.custody.is_empty() {
                <section>
                    <table class="custody">
                        <thead><tr><th scope="col">{ "Broker" }</th><th scope="col">{ "Where" }</th></tr></thead>
                        <tbody>{ for shown.custody.iter().map(|(broker, place)| html! { <tr><td>{ broker.to_string() }</td><td>{ chip(place) }</td></tr> }) }</tbody>
                    </table>
                </section>
            }
            <section>
                <dl class="facts">
                    { for shown.facts.iter().map(|(name, value)| html! { <><dt>{ *name }</dt><dd>{ for breakable(value) }</dd></> }) }
                </dl>
            </section>
        </>
    }
}

/// Words in which a long name may be broken behind its underscores.
fn breakable(words: &str) -> impl Iterator<Item = Html> + '_ {
    words
        .split_inclusive('_')
        .map(|part| html! { <>{ part.to_string() }<wbr/></> })
}

#[derive(Properties, PartialEq)]
struct ChangesProps {
    changes: Rc<Vec<Change>>,
}

/// What this step changed, each line with its rule on demand.
#[component]
fn Changes(props: &ChangesProps) -> Html {
    if props.changes.is_empty() {
        return html! { <p class="empty">{ "Nothing to tell of." }</p> };
    }
    html! {
        <ul class="changes">
            { for props.changes.iter().enumerate().map(|(at, change)| html! { <li key={at}><ChangeLine change={change.clone()}/></li> }) }
        </ul>
    }
}

#[derive(Properties, PartialEq)]
struct ChangeLineProps {
    change: Change,
}

/// One line; 'Why?' opens the rule that decided it, until another change stands there.
#[component]
fn ChangeLine(props: &ChangeLineProps) -> Html {
    let open = use_state(|| false);
    {
        let open = open.clone();
        use_effect_with(props.change.clone(), move |_| {
            if *open {
                open.set(false);
            }
        });
    }
    let toggle = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    let rule = props.change.rule;
    html! {
        <>
            <span>{ props.change.text.to_string() }</span>
            <button class="link" aria-expanded={open.to_string()} onclick={toggle}>{ "Why? " }<code>{ rule.id() }</code></button>
            if *open { <Note {rule}/> }
        </>
    }
}

#[derive(Properties, PartialEq)]
struct NoteProps {
    rule: Rule,
}

/// What a rule says, as soon as the table of all that they say is there.
#[component]
fn Note(props: &NoteProps) -> Html {
    let update = use_force_update();
    match later::get() {
        Some(here) => (here.views.rule)(props.rule),
        None => html! { <Arriving arrived={Callback::from(move |()| update.force_update())}/> },
    }
}

/// A rule's row in the table.
pub fn rule_note(rule: Rule) -> Html {
    let row = rule.row();
    html! { <span class="rule">{ row.sentence }<small class="mono">{ row.source }</small></span> }
}
