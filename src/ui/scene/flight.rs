//! A message between two rows: a line with an arrow head, and a label that moves along it.
//!
//! The element spans the rows it connects, so half of its own height is the way from its middle to either end: no
//! position is ever measured. It moves by `transform` and `opacity` alone, once, and only after a step.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, js_sys};
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
    pub step: usize,
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
        step,
    } = props;
    let down = from < to;
    let mover = use_node_ref();
    {
        let (mover, motion, leg) = (mover.clone(), *motion, flight.leg);
        use_effect_with(*step, move |_| {
            if let (Some(millis), Some(element)) = (motion.flight(), mover.cast::<Element>()) {
                fly(&element, leg, down, millis);
            }
        });
    }
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
            Leg::Arriving => "arriving",
            Leg::Lost => "lost",
            Leg::Leaving | Leg::OnTheWay => "under-way",
        },
    );
    let (top, bottom) = (from.min(to), from.max(to) + 1);
    let style = format!("grid-row:{top}/{bottom};--lane:{lane};--stack:{stack};--inset-top:22px;--inset-bottom:22px");
    html! {
        if !gone {
            <div {class} {style} data-testid="flight">
                <div class="line"></div>
                <div class="mover" ref={mover}><span class="label" title={flight.label.to_string()}>{ flight.label.to_string() }if flight.more > 0 { <b>{ format!(" +{}", flight.more) }</b> }</span></div>
            </div>
        }
    }
}

/// From the sender to the middle, or from the middle to the receiver.
fn fly(element: &Element, leg: Leg, down: bool, millis: u32) {
    let sign = if down { 1 } else { -1 };
    let (from, to) = match leg {
        Leg::Leaving => (frame(-44 * sign, 0.0), frame(0, 1.0)),
        Leg::Arriving => (frame(0, 1.0), frame(44 * sign, 0.0)),
        Leg::Lost => (frame(0, 1.0), frame(0, 0.75)),
        Leg::OnTheWay => return,
    };
    let keyframes = js_sys::Array::of2(&from, &to);
    let options = js_sys::Object::new();
    for (name, value) in [
        ("duration", JsValue::from(millis)),
        ("easing", JsValue::from("cubic-bezier(.3,.1,.2,1)")),
        ("fill", JsValue::from("forwards")),
    ] {
        // Setting a property of a fresh plain object cannot fail.
        let _ = js_sys::Reflect::set(&options, &name.into(), &value);
    }
    let animate = js_sys::Reflect::get(element, &"animate".into());
    if let Ok(Ok(animate)) = animate.map(JsValue::dyn_into::<js_sys::Function>) {
        let _ = animate.call2(element, &keyframes, &options);
    }
}

fn frame(percent: i32, opacity: f64) -> JsValue {
    let frame = js_sys::Object::new();
    let _ = js_sys::Reflect::set(&frame, &"transform".into(), &format!("translateY({percent}%)").into());
    let _ = js_sys::Reflect::set(&frame, &"opacity".into(), &opacity.into());
    frame.into()
}
