//! The knobs: Kafka's name, value, default, unit, range and a sentence. A value out of range is refused with the range.

use std::rc::Rc;

use web_sys::{HtmlInputElement, KeyboardEvent};
use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::view::knobs::MORE;
use crate::ui::view::panels::{Control, Knob};

/// Properties of a set of knobs.
#[derive(Properties, PartialEq)]
pub struct KnobsProps {
    /// The knobs.
    pub knobs: Rc<Vec<Knob>>,
    /// What was refused last: the knob's name and why.
    pub refused: Option<(AttrValue, AttrValue)>,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// A list of knobs: the best known, and the others of the topic on demand.
#[component]
pub fn Knobs(props: &KnobsProps) -> Html {
    let of = |group: &str| {
        let own = props.knobs.iter().filter(|knob| knob.group == group);
        let view = |knob: &Knob| {
            let wrong = props
                .refused
                .as_ref()
                .filter(|(name, _)| name.as_str() == knob.name)
                .map(|(_, why)| why.clone());
            html! { <KnobView key={knob.name} knob={knob.clone()} {wrong} act={props.act.clone()}/> }
        };
        html! { <div class="knob-list">{ for own.map(view) }</div> }
    };
    html! {
        <>
            { of("") }
            <details class="fold more">
                <summary>{ icon("right") }{ format!("{} more of the topic's settings", props.knobs.iter().filter(|knob| !knob.group.is_empty()).count()) }</summary>
                { for MORE.iter().map(|(group, _)| html! { <><h3>{ *group }</h3>{ of(group) }</> }) }
            </details>
        </>
    }
}

#[derive(Properties, PartialEq)]
pub struct KnobProps {
    pub knob: Knob,
    pub wrong: Option<AttrValue>,
    pub act: Callback<Act>,
}

/// One knob.
#[component]
pub fn KnobView(props: &KnobProps) -> Html {
    let KnobProps { knob, wrong, act } = props;
    let name = knob.name;
    let id = format!("knob-{name}");
    let about = format!("{id}-about");
    let update = use_force_update();
    // A choice that was refused is not the one that is shown: the browser has marked it already.
    let choose = |value: String| {
        let (act, update) = (act.clone(), update.clone());
        Callback::from(move |_: Event| {
            act.emit(Act::Turn(name, value.clone()));
            update.force_update();
        })
    };
    let control = match &knob.control {
        Control::Choice(words) => html! {
            <span class="seg" role="radiogroup" aria-labelledby={id.clone()} aria-describedby={about.clone()}>
                { for words.iter().map(|word| {
                    let value = word.to_string();
                    html! { <label key={value.clone()}><input type="radio" name={name} value={value.clone()} checked={*word == knob.value} onchange={choose(value)}/>{ word.to_string() }</label> }
                }) }
            </span>
        },
        Control::Text => {
            html! { <Field name={name} value={knob.value.to_string()} unit={knob.unit} about={about.clone()} wrong={wrong.is_some()} act={act.clone()}/> }
        }
    };
    // A long name may be broken behind its dots.
    let words = name.split_inclusive('.').map(|part| html! { <>{ part }<wbr/></> });
    html! {
        <div class={classes!("knob", knob.changed.then_some("set"))} data-testid={id.clone()}>
            if knob.control == Control::Text { <label class="name" id={id.clone()} for={format!("{id}-field")}>{ for words }</label> } else { <span class="name" id={id.clone()}>{ for words }</span> }
            { control }
            <div class="about" id={about}>{ knob.about }</div>
            <div class="meta">{ format!("{} · default {} · {}", knob.kind, knob.default, knob.range) }</div>
            if !knob.whose.is_empty() { <div class="about">{ knob.whose.to_string() }</div> }
            if let Some(why) = wrong { <div class="wrong" role="alert">{ why.clone() }</div> }
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct FieldProps {
    name: &'static str,
    value: String,
    unit: &'static str,
    about: String,
    wrong: bool,
    act: Callback<Act>,
}

/// A number, or a duration or size in words; it counts when Enter is pressed or the field is left.
#[component]
fn Field(props: &FieldProps) -> Html {
    let FieldProps { name, value, act, .. } = props;
    let input = use_node_ref();
    // What was refused stays to be corrected, also where the knob is drawn anew.
    let kept = use_mut_ref(|| None::<String>);
    let shown = kept.borrow().clone().filter(|_| props.wrong);
    let shown = shown.unwrap_or_else(|| value.clone());
    let commit = {
        let (input, kept, act, name, value) = (input.clone(), kept.clone(), act.clone(), *name, value.clone());
        Callback::from(move |()| {
            let Some(input) = input.cast::<HtmlInputElement>() else {
                return;
            };
            let typed = input.value();
            if typed != value {
                kept.replace(Some(typed.clone()));
                act.emit(Act::Turn(name, typed.trim().to_string()));
            }
        })
    };
    let onkeydown = {
        let (commit, input, kept, value) = (commit.clone(), input.clone(), kept, value.clone());
        Callback::from(move |event: KeyboardEvent| match event.key().as_str() {
            "Enter" => commit.emit(()),
            "Escape" => {
                kept.replace(None);
                if let Some(input) = input.cast::<HtmlInputElement>() {
                    input.set_value(&value);
                }
            }
            _ => {}
        })
    };
    html! {
        <span class="with-unit">
            <input class="field" ref={input} id={format!("knob-{name}-field")} type="text" inputmode="text" autocomplete="off" spellcheck="false" value={shown} aria-describedby={props.about.clone()} aria-invalid={props.wrong.to_string()} onchange={commit.reform(|_: Event| ())} {onkeydown}/>
            if !props.unit.is_empty() { <span class="unit">{ props.unit }</span> }
        </span>
    }
}
