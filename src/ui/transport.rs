//! The transport: play, pause, step, back, start, end, the timeline with its marks, the speed.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::ui::act::{Act, Go};
use crate::ui::icons::icon;
use crate::ui::view::panels::{Mark, MarkKind, part_of};

/// The speeds offered: steps a second, times two, with the label and the name of each.
pub const SPEEDS: [(u32, &str, &str); 4] = [
    (2, "1", "1 step a second"),
    (4, "2", "2 steps a second"),
    (8, "4", "4 steps a second"),
    (40, "20", "20 steps a second"),
];

/// Properties of the transport.
#[derive(Properties, PartialEq)]
pub struct TransportProps {
    /// The step one stands at.
    pub step: usize,
    /// How many were recorded.
    pub steps: usize,
    /// Virtual time, in words.
    pub time: Rc<str>,
    /// The moment in words, for the slider.
    pub spoken: Rc<str>,
    /// Whether it plays.
    pub playing: bool,
    /// Whether the run can go on from its end.
    pub can_go_on: bool,
    /// Whether the end lies beyond what was recorded.
    pub more_to_come: bool,
    /// Steps a second, times two.
    pub speed: u32,
    /// Whether a marked event lies before the present, and behind it; nothing where one does not go from mark to mark.
    #[prop_or_default]
    pub has_mark: Option<(bool, bool)>,
    /// What is marked.
    pub marks: Rc<Vec<Mark>>,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The transport bar.
#[component]
pub fn Transport(props: &TransportProps) -> Html {
    let TransportProps {
        step,
        steps,
        playing,
        act,
        ..
    } = props;
    let go = |to: Go| act.reform(move |_: MouseEvent| Act::Go(to));
    let at_end = step == steps && !props.can_go_on;
    let share = |at: usize| fraction(at, *steps);
    let seek = act.reform(|event: InputEvent| {
        let value = event
            .target_dyn_into::<HtmlInputElement>()
            .map_or(0.0, |input| input.value_as_number());
        Act::Go(Go::To(value as usize))
    });
    let mark = |disabled: bool, to: Go, name: &'static str, glyph: &'static str| {
        let key = if to == Go::NextMark { "→" } else { "←" };
        html! { <button class="t mark" {disabled} onclick={go(to)} aria-label={name} title={format!("{name} (Shift {key})")}>{ icon(glyph) }</button> }
    };
    let at = format!("--at:calc(9px + {} * (100% - 18px))", share(*step));
    html! {
        <div class="bar" role="group" aria-label="Time">
            <button class="t far" disabled={*step == 0} onclick={go(Go::Start)} aria-label="To the start" title="To the start (Home)">{ icon("start") }</button>
            <button class="t" disabled={*step == 0} onclick={go(Go::Back)} aria-label="Back one step" title="Back one step (←)">{ icon("back") }</button>
            <button class="t big" disabled={at_end && !playing} onclick={act.reform(|_| Act::TogglePlay)} aria-label={if *playing { "Pause" } else { "Play" }} title={if *playing { "Pause (Space)" } else { "Play (Space)" }} data-testid="play">
                { icon(if *playing { "pause" } else { "play" }) }
            </button>
            <button class="t" disabled={at_end} onclick={go(Go::On)} aria-label="One step" title="One step (→)">{ icon("next") }</button>
            <button class="t far" disabled={step == steps && !props.more_to_come} onclick={go(Go::End)} aria-label="To the end" title="To the end (End)">{ icon("end") }</button>
            <span class="time" data-testid="time">{ format!("step {step}") }<span class="at">{ format!(" · {}", props.time) }</span></span>
            <div class="seek">
            if let Some((before, _)) = props.has_mark { { mark(!before, Go::PreviousMark, "To the marked event before", "left") } }
            <div class="timeline">
                <div class="marks" aria-hidden="true">
                    { for props.marks.iter().map(|mark| html! { <span key={mark.step} class={class_of(mark.kind)} style={format!("--x:{}", share(mark.step))}>{ glyph(mark.kind) }</span> }) }
                </div>
                <input type="range" min="0" max={steps.to_string()} value={step.to_string()} disabled={*steps == 0} style={at} aria-label="Step" aria-valuetext={props.spoken.to_string()} oninput={seek}/>
            </div>
            if let Some((_, after)) = props.has_mark { { mark(!after, Go::NextMark, "To the marked event after", "right") } }
            </div>
            <Speed speed={props.speed} act={act.clone()}/>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct SpeedProps {
    speed: u32,
    act: Callback<Act>,
}

#[component]
fn Speed(props: &SpeedProps) -> Html {
    html! {
        <div class="speed">
            <span class="seg" role="group" aria-label="Steps a second">
                { for SPEEDS.iter().map(|&(speed, label, name)| html! {
                    <button key={label} aria-pressed={(speed == props.speed).to_string()} aria-label={name} onclick={props.act.reform(move |_| Act::Speed(speed))}>{ label }</button>
                }) }
            </span>
            <span class="unit" aria-hidden="true">{ "steps/s" }</span>
        </div>
    }
}

/// A part of a whole from 0 to 1, with four digits.
fn fraction(part: usize, whole: usize) -> String {
    let share = part_of(10_000, part, whole);
    format!("{}.{:04}", share / 10_000, share % 10_000)
}

fn class_of(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Acked => "m-acked",
        MarkKind::Roll => "m-roll",
        MarkKind::Isr => "m-isr",
        MarkKind::Deleted => "m-deleted",
        MarkKind::Refused => "m-refused",
        MarkKind::Truncated => "m-truncated",
        MarkKind::Election => "m-election",
        MarkKind::Crash | MarkKind::Offline => "m-crash",
        MarkKind::Lost => "m-lost",
    }
}

fn glyph(kind: MarkKind) -> Html {
    icon(match kind {
        MarkKind::Acked => "check",
        MarkKind::Roll | MarkKind::Deleted => "flag",
        MarkKind::Isr => "dots",
        MarkKind::Refused | MarkKind::Lost | MarkKind::Offline => "cross",
        MarkKind::Truncated => "cut",
        MarkKind::Election => "crown",
        MarkKind::Crash => "bolt",
    })
}
