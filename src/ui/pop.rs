//! A menu beside the button that opened it: it takes the focus, and gives it back when it is closed.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::ui::act::Act;

/// Properties of a menu.
#[derive(Properties, PartialEq)]
pub struct PopProps {
    /// The id of the button that opened it.
    pub anchor: AttrValue,
    /// What it is, for those who hear the page.
    pub label: AttrValue,
    /// What tests name it by.
    pub name: &'static str,
    /// Where acts go.
    pub act: Callback<Act>,
    /// What lies in it; what can be chosen has the class `item`.
    pub children: Html,
}

/// The menu.
#[component]
pub fn Pop(props: &PopProps) -> Html {
    let menu = use_node_ref();
    {
        let menu = menu.clone();
        use_effect_with(props.anchor.clone(), move |anchor| {
            if let Some(element) = menu.cast::<HtmlElement>() {
                place(&element, anchor);
                let first = element.query_selector("button.item").ok().flatten();
                if let Some(first) = first.and_then(|item| item.dyn_into::<HtmlElement>().ok()) {
                    let _ = first.focus();
                }
            }
        });
    }
    let close = props.act.reform(|()| Act::Close);
    let onkeydown = {
        let (menu, close) = (menu.clone(), close.clone());
        Callback::from(move |event: KeyboardEvent| {
            event.stop_propagation();
            let Some(element) = menu.cast::<HtmlElement>() else {
                return;
            };
            let chooses = event
                .target_dyn_into::<Element>()
                .is_some_and(|at| at.local_name() == "select");
            match event.key().as_str() {
                "Escape" => close.emit(()),
                "Tab" => step(&element, if event.shift_key() { -1 } else { 1 }),
                "ArrowDown" if !chooses => step(&element, 1),
                "ArrowUp" if !chooses => step(&element, -1),
                _ => return,
            }
            event.prevent_default();
        })
    };
    html! {
        <>
            <div class="veil" onclick={close.reform(|_: MouseEvent| ())}></div>
            <div class="pop" ref={menu} role="dialog" aria-label={props.label.clone()} {onkeydown} data-testid={props.name}>
                { props.children.clone() }
            </div>
        </>
    }
}

/// Below the button if there is room, else above, always within the window.
fn place(menu: &HtmlElement, anchor: &str) {
    let Some(window) = web_sys::window() else { return };
    let size = |value: Result<wasm_bindgen::JsValue, _>| value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let (width, height) = (size(window.inner_width()), size(window.inner_height()));
    let own = menu.get_bounding_client_rect();
    let anchor = window
        .document()
        .and_then(|document| document.get_element_by_id(anchor))
        .map(|anchor| anchor.get_bounding_client_rect());
    let (left, top) = match anchor {
        Some(anchor) => {
            let below = anchor.bottom() + 6.0;
            let above = anchor.top() - 6.0 - own.height();
            let fits = below + own.height() <= height - 12.0;
            (anchor.left(), if fits { below } else { above })
        }
        None => ((width - own.width()) / 2.0, (height - own.height()) / 2.0),
    };
    let left = left.min(width - own.width() - 12.0).max(12.0);
    let top = top.min(height - own.height() - 12.0).max(12.0);
    let style = menu.style();
    let _ = style.set_property("left", &format!("{left}px"));
    let _ = style.set_property("top", &format!("{top}px"));
}

fn items(menu: &HtmlElement) -> Vec<HtmlElement> {
    let Ok(list) = menu.query_selector_all("button.item, input, select") else {
        return Vec::new();
    };
    (0..list.length())
        .filter_map(|at| list.get(at)?.dyn_into().ok())
        .collect()
}

/// Moves the focus on in the menu, round and round.
fn step(menu: &HtmlElement, by: i32) {
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
        let _ = items[((at + by + count) % count) as usize].focus();
    }
}
