//! A path's menu: what can happen between two nodes, and for each what survives, said before it is done.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::page::Menu;
use crate::ui::pop::Pop;
use crate::ui::view::links::{LinkFault, LinkMenu, LinkOption, node, talk};
use crate::ui::view::stage::Row;

/// The menu of a path, beside the button of the path that it was opened for.
pub fn menu(opened: Menu, menu: &LinkMenu, act: &Callback<Act>) -> Html {
    let (a, b) = menu.ends;
    html! {
        <Pop anchor={opened.anchor()} label={format!("What can happen between {}", menu.title)} name="link-menu" act={act.clone()}>
            <div class="ends">
                <h2>{ "Between" }</h2>
                { end("One end", a, b, menu, act.reform(move |row| Act::OpenLink(row, b))) }
                <span>{ "and" }</span>
                { end("Other end", b, a, menu, act.reform(move |row| Act::OpenLink(a, row))) }
            </div>
            { for menu.options.iter().map(|option| item(option, act)) }
        </Pop>
    }
}

/// One end of the path, to be exchanged for another.
fn end(label: &'static str, here: Row, there: Row, menu: &LinkMenu, chosen: Callback<Row>) -> Html {
    let nodes: Vec<_> = menu
        .nodes
        .iter()
        .filter(|(row, _)| talk(node(*row), node(there)))
        .cloned()
        .collect();
    let rows: Vec<Row> = nodes.iter().map(|(row, _)| *row).collect();
    let onchange = Callback::from(move |event: Event| {
        let select = event.target_dyn_into::<HtmlSelectElement>();
        let at = select.and_then(|select| usize::try_from(select.selected_index()).ok());
        if let Some(row) = at.and_then(|at| rows.get(at)) {
            chosen.emit(*row);
        }
    });
    html! {
        <select class="field" aria-label={label} {onchange}>
            { for nodes.iter().map(|(row, name)| html! { <option key={row.id()} selected={*row == here}>{ name.to_string() }</option> }) }
        </select>
    }
}

fn item(option: &LinkOption, act: &Callback<Act>) -> Html {
    let (text, act) = (option.text.clone(), act.clone());
    let onclick = Callback::from(move |_: MouseEvent| {
        act.emit(Act::Close);
        act.emit(Act::Do(text.to_string()));
    });
    let glyph = match option.fault {
        LinkFault::Cut | LinkFault::CutOneWay => "cut",
        LinkFault::Heal => "heal",
        LinkFault::Slow => "dots",
        LinkFault::Hasten => "play",
        LinkFault::Drop => "cross",
    };
    html! {
        <button key={option.title.to_string()} class="item" {onclick}>
            { icon(glyph) }<b>{ option.title.to_string() }</b>
            <small>{ option.survives.to_string() }{ " " }<span class="dies">{ option.dies.to_string() }</span></small>
        </button>
    }
}
