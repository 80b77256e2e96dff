//! The lanes of producers, consumers and the controller.

use std::rc::Rc;

use yew::prelude::*;

use super::{Frame, Ground, Spot, is_long};
use crate::ui::act::Subject;
use crate::ui::icons::icon;
use crate::ui::view::stage::{ConsumerLane, ControllerLane, ProducerLane, Sent, Told};
use crate::ui::view::stretch::{Stretch, stretches};

#[derive(Properties, PartialEq)]
pub struct ProducerProps {
    pub lane: Rc<ProducerLane>,
    pub frame: Frame,
    pub line: usize,
}

/// What one producer's application believes, over the columns where its records went.
#[component]
pub fn Producer(props: &ProducerProps) -> Html {
    let ProducerProps { lane, frame, line } = props;
    let stacked = lane.records.iter().any(|sent| sent.displaced);
    html! {
        <div class={classes!("lane", "producer", stacked.then_some("stacked"))} style={format!("grid-row:{line}")} role="group" aria-label={format!("Producer {}, acks {}", lane.name, lane.acks)} data-testid={format!("producer-{}", lane.name)}>
            <div class="who">
                <b>{ format!("producer {}", lane.name) }</b>
                <span class="conf">
                    { format!("acks={}", lane.acks) }
                    if !lane.alive { { " · down" } }
                    if lane.failed > 0 { { format!(" · {} failed", lane.failed) } }
                </span>
            </div>
            <div class="track">
                <div class="shift" style={frame.shift()}>
                    { for stretches(lane).map(|(key, records)| html! { <AllSent {key} {records} client={lane.client} ground={frame.ground.clone()}/> }) }
                </div>
            </div>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct AllSentProps {
    records: Stretch<ProducerLane>,
    client: u16,
    ground: Ground,
}

/// Some of one producer's records that follow one another.
#[component]
fn AllSent(props: &AllSentProps) -> Html {
    let AllSentProps {
        records,
        client,
        ground,
    } = props;
    let draw = |(at, sent): (usize, &Sent)| {
        let spot = ground.spot(Subject::Record(*client, sent.number), sent.column);
        html! { <SentView key={sent.number} sent={sent.clone()} client={*client} first={at == 0 && records.is_first()} {spot}/> }
    };
    html! { <>{ for records.records().iter().enumerate().map(draw) }</> }
}

#[derive(Properties, PartialEq)]
struct SentProps {
    sent: Sent,
    client: u16,
    first: bool,
    spot: Spot,
}

/// One record as its application sees it.
#[component]
fn SentView(props: &SentProps) -> Html {
    let SentProps {
        sent,
        client,
        first,
        spot,
    } = props;
    let (kind, glyph) = match &sent.told {
        Told::Held => ("held", "…"),
        Told::InFlight => ("flying", "…"),
        Told::Sent => ("sent", ""),
        Told::Acked => ("acked", "✓"),
        Told::AckedLost => ("lost", "✕"),
        Told::Failed(_) => ("failed", "✕"),
    };
    html! {
        <button class={classes!("pill", kind, is_long(&sent.label).then_some("long"), sent.displaced.then_some("up"), sent.changed.then_some("changed"))} style={spot.style()} tabindex={if *first { "0" } else { "-1" }} data-cell={format!("p{client}/{}", sent.number)}
            aria-pressed={spot.pressed.to_string()} aria-label={sent.spoken.to_string()} title={sent.spoken.to_string()} onclick={spot.click()}>
            <span>{ glyph }{ sent.label.to_string() }</span>
        </button>
    }
}

#[derive(Properties, PartialEq)]
pub struct ConsumerProps {
    pub lane: Rc<ConsumerLane>,
    pub frame: Frame,
    pub line: usize,
}

/// Where one consumer reads.
#[component]
pub fn Consumer(props: &ConsumerProps) -> Html {
    let ConsumerProps { lane, frame, line } = props;
    html! {
        <div class="lane consumer" style={format!("grid-row:{line}")} role="group" aria-label={format!("Consumer {}: {}", lane.name, lane.note)} data-testid={format!("consumer-{}", lane.name)}>
            <div class="who"><b>{ format!("consumer {}", lane.name) }</b></div>
            <div class="track">
                <div class="shift" style={frame.shift()}>
                    if let Some((at, (place, sign))) = lane.position.map(|position| (position.at, frame.window.pin(position.at))) {
                        // Its words stand on the side where there is more room.
                        <div class={classes!("reader", (at != place).then_some("off"), frame.window.is_past_middle(at).then_some("late"))} style={frame.ground.at(place)}><span>{ format!("{sign}{}", lane.note) }</span></div>
                    }
                </div>
                if lane.position.is_none() { <span class="nowhere">{ lane.note.to_string() }</span> }
            </div>
        </div>
    }
}

#[derive(Properties, PartialEq)]
pub struct ControllerProps {
    pub lane: Rc<ControllerLane>,
    pub line: usize,
    /// What stands under the lane.
    pub children: Html,
}

/// What the controller has decided, which is not always what the brokers know.
#[component]
pub fn Controller(props: &ControllerProps) -> Html {
    let lane = &props.lane;
    let list = |ids: &[u16]| match ids {
        [] => "none".to_string(),
        ids => ids.iter().map(u16::to_string).collect::<Vec<_>>().join(", "),
    };
    html! {
        <div class={classes!("lane", "controller", lane.changed.then_some("changed"))} style={format!("grid-row:{}", props.line)} role="group" aria-label="Controller" data-testid="controller">
            <div class="who"><b>{ "controller" }</b></div>
            <div class="decided">
                if lane.up {
                    <span>{ "leader " }<b>{ lane.leader.map_or("none".to_string(), |id| id.to_string()) }</b></span>
                    <span>{ "epoch " }<b>{ lane.epoch }</b></span>
                    <span>{ "in sync " }<b>{ list(&lane.isr) }</b></span>
                    if !lane.elr.is_empty() { <span>{ "eligible " }<b>{ list(&lane.elr) }</b></span> }
                } else {
                    <span class="chip bad">{ icon("cross") }{ "the quorum is gone" }</span>
                }
            </div>
            { props.children.clone() }
        </div>
    }
}
