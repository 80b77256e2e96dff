//! A zombie's own view and the truth, side by side: in its row, and in the inspector.

use yew::prelude::*;

use crate::ui::icons::icon;
use crate::ui::view::beliefs::{Belief, Line};

/// Under a zombie's row: both views one above the other, so that what differs stands in one column.
pub fn under_row(belief: &Belief) -> Html {
    let row = |name: &'static str, of: fn(&Line) -> Html| {
        html! { <tr><th scope="row">{ name }</th>{ for belief.lines.iter().map(of) }</tr> }
    };
    html! {
        <div class="belief" data-testid={format!("belief-{}", belief.broker)}>
            <p>{ belief.why.to_string() }</p>
            <table>
                <thead><tr><td></td>{ for belief.lines.iter().map(|line| html! { <th scope="col">{ line.about }</th> }) }</tr></thead>
                <tbody>{ row("believes", own) }{ row("in truth", truth) }</tbody>
            </table>
        </div>
    }
}

/// In the inspector, where there is less room: both views side by side.
pub fn inspected(belief: &Belief) -> Html {
    html! {
        <section class="belief">
            <p class="verdict bad">{ "A leader in its own eyes alone" }<small>{ belief.why.to_string() }</small></p>
            <table>
                <thead><tr><td></td><th scope="col">{ "believes" }</th><th scope="col">{ "in truth" }</th></tr></thead>
                <tbody>{ for belief.lines.iter().map(|line| html! { <tr><th scope="row">{ line.about }</th>{ own(line) }{ truth(line) }</tr> }) }</tbody>
            </table>
        </section>
    }
}

fn own(line: &Line) -> Html {
    html! {
        <td class={line.is_mistaken().then_some("wrong")}>if line.is_mistaken() { { icon("cross") } }{ line.own.to_string() }</td>
    }
}

fn truth(line: &Line) -> Html {
    html! { <td>{ line.truth.as_deref().unwrap_or("–").to_string() }</td> }
}
