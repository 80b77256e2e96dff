//! A message between two rows: a line with an arrow head, and a label that moves along it.
//!
//! The element spans the rows it connects, so half of its own height is the way from its middle to either end: no
//! position is ever measured. The style sheet moves it, by `transform` and `opacity` alone, once, and only after a step: an
//! effect of the component might run after the frame that shows the step, and make a second one late.

use yew::prelude::*;

use super::Motion;
use crate::ui::view::stage::{Cargo, Flight, Leg};

#[derive(Properties, PartialEq)]
pub struct FlyingProps {
    pub flight: Flight,
    pub from: usize,
    pub to: usize,
    pub lane: usize,
    pub stack: usize,
    pub motion: Motion,
}

/// One message.
#[component]
pub fn Flying(props: &FlyingProps) -> Html {
    let FlyingProps {
        flight,
        from,
        to,
        lane,
        stack,
        motion,
    } = props;
    let down = from < to;
    // An arrival is drawn where it lands and fades; without motion it is only named by the caption.
    let gone = flight.leg == Leg::Arriving && *motion == Motion::Still;
    let class = classes!(
        "flight",
        if down { "down" } else { "up" },
        match flight.cargo {
            Cargo::Records => "records",
            Cargo::Answer => "answer",
            Cargo::Talk => "talk",
        },
        match flight.leg {
            Leg::Arriving => Some("arriving"),
            Leg::Lost => Some("lost"),
            Leg::Leaving => Some("leaving"),
            Leg::OnTheWay => None,
        },
    );
    let (top, bottom) = (from.min(to), from.max(to) + 1);
    let style = format!("grid-row:{top}/{bottom};--lane:{lane};--stack:{stack};--inset-top:22px;--inset-bottom:22px");
    html! {
        if !gone {
            <div {class} {style} data-testid="flight">
                <div class="line"></div>
                <div class="mover"><span class="label" title={flight.label.to_string()}>{ flight.label.to_string() }if flight.more > 0 { <b>{ format!(" +{}", flight.more) }</b> }</span></div>
            </div>
        }
    }
}
