//! A broker's menu: what can happen to it, and for each what survives, said before it is done.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::view::panels::{Fault, FaultOption};

/// Properties of the menu.
#[derive(Properties, PartialEq)]
pub struct FaultMenuProps {
    /// Whose menu it is.
    pub broker: u16,
    /// What can be done.
    pub options: Vec<FaultOption>,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The menu, beside the button that opened it.
#[component]
pub fn FaultMenu(props: &FaultMenuProps) -> Html {
    let menu = use_node_ref();
    let broker = props.broker;
    {
        let menu = menu.clone();
        use_effect_with(broker, move |&broker| {
            let element = menu.cast::<HtmlElement>();
            if let Some(element) = &element {
                place(element, &format!("faults-{broker}"));
                focus_item(element, 0);
            }
        });
    }
    let close = props.act.reform(|()| Act::Close);
    let kept = use_state(|| None::<i64>);
    let onkeydown = {
        let (menu, close) = (menu.clone(), close.clone());
        Callback::from(move |event: KeyboardEvent| {
            let Some(element) = menu.cast::<HtmlElement>() else {
                return;
            };
            match event.key().as_str() {
                "Escape" | "Tab" => close.emit(()),
                "ArrowDown" => step_item(&element, 1),
                "ArrowUp" => step_item(&element, -1),
                "Enter" | " " => return event.stop_propagation(),
                _ => return event.stop_propagation(),
            }
            event.prevent_default();
            event.stop_propagation();
        })
    };
    html! {
        <>
            <div class="veil" onclick={close.reform(|_: MouseEvent| ())}></div>
            <div class="pop" ref={menu} role="dialog" aria-label={format!("What can happen to broker {broker}")} {onkeydown} data-testid="fault-menu">
                <h2>{ format!("Broker {broker}: what would survive?") }</h2>
                { for props.options.iter().map(|option| {
                    let fault = match (option.fault, option.reach, *kept) {
                        (Fault::PowerOff, Some((flushed, _)), Some(offset)) if offset > flushed => Fault::PowerOffKeeping(offset),
                        (fault, ..) => fault,
                    };
                    html! {
                        <div key={option.title}>
                            <button class="item" onclick={props.act.reform(move |_| Act::Fault(broker, fault))}>
                                { icon(glyph(fault)) }<b>{ option.title }</b>
                                <small>{ option.survives.to_string() }{ " " }<span class="dies">{ option.dies.to_string() }</span></small>
                            </button>
                            if let Some(reach) = option.reach { { handle(reach, &kept) } }
                        </div>
                    }
                }) }
            </div>
        </>
    }
}

/// How much had reached the disk before the power went: the operating system may have written more than was flushed.
fn handle((flushed, end): (i64, i64), kept: &UseStateHandle<Option<i64>>) -> Html {
    let at = kept.unwrap_or(flushed).clamp(flushed, end);
    let said = match at - flushed {
        0 => "Nothing more than was flushed had reached the disk".to_string(),
        1 => format!("Offset {flushed} had reached the disk as well"),
        _ => format!("Offsets {flushed}–{} had reached the disk as well", at - 1),
    };
    let set = kept.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let input = event.target_dyn_into::<web_sys::HtmlInputElement>();
        set.set(input.and_then(|input| input.value().parse().ok()));
    });
    html! {
        <label class="keep">{ said.clone() }
            <input type="range" min={flushed.to_string()} max={end.to_string()} value={at.to_string()} aria-valuetext={said} {oninput}/>
        </label>
    }
}

fn glyph(fault: Fault) -> &'static str {
    match fault {
        Fault::Kill => "bolt",
        Fault::PowerOff | Fault::PowerOffKeeping(_) => "power",
        Fault::Tear | Fault::Flip => "bolt",
        Fault::RemoveIndex => "cross",
        Fault::Stop => "stop",
        Fault::Pause => "pause",
        Fault::Resume | Fault::Start => "play",
        Fault::Cut => "cut",
        Fault::Heal => "heal",
    }
}

/// Below the button if there is room, else above, always within the window.
fn place(menu: &HtmlElement, anchor: &str) {
    let Some(window) = web_sys::window() else { return };
    let size = |value: Result<wasm_bindgen::JsValue, _>| value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let (width, height) = (size(window.inner_width()), size(window.inner_height()));
    let Some(anchor) = window
        .document()
        .and_then(|document| document.get_element_by_id(anchor))
    else {
        return;
    };
    let (anchor, own) = (anchor.get_bounding_client_rect(), menu.get_bounding_client_rect());
    let left = anchor.left().min(width - own.width() - 12.0).max(12.0);
    let below = anchor.bottom() + 6.0;
    let top = if below + own.height() <= height - 12.0 {
        below
    } else {
        anchor.top() - 6.0 - own.height()
    };
    let top = top.min(height - own.height() - 12.0).max(12.0);
    let style = menu.style();
    let _ = style.set_property("left", &format!("{left}px"));
    let _ = style.set_property("top", &format!("{top}px"));
}

fn items(menu: &HtmlElement) -> Vec<HtmlElement> {
    let Ok(list) = menu.query_selector_all("button.item, .keep input") else {
        return Vec::new();
    };
    (0..list.length())
        .filter_map(|at| list.get(at)?.dyn_into().ok())
        .collect()
}

fn focus_item(menu: &HtmlElement, at: usize) {
    if let Some(item) = items(menu).get(at) {
        let _ = item.focus();
    }
}

fn step_item(menu: &HtmlElement, by: i32) {
    let items = items(menu);
    let active = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.active_element());
    let at = items
        .iter()
        .position(|item| active.as_deref() == Some(item))
        .unwrap_or(0) as i32;
    let count = items.len() as i32;
    if count > 0 {
        focus_item(menu, ((at + by + count) % count) as usize);
    }
}
