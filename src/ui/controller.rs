//! The controller's drawer, and under its lane what it is mistaken about.

use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::inspector::chip;
use crate::ui::view::controller::{BrokerLine, Known, PartitionLine};
use crate::ui::view::names::cut;

/// What the controller is mistaken about, a line each; nothing if it is right.
pub fn mistakes(mistakes: &[String]) -> Html {
    html! {
        <ul class="mistakes" data-testid="mistakes">
            { for mistakes.iter().map(|mistake| html! { <li>{ icon("cross") }{ mistake.clone() }</li> }) }
        </ul>
    }
}

/// Every broker and every partition as the controller has them.
pub fn drawer(known: &Known, heartbeats: bool, act: &Callback<Act>) -> Html {
    html! {
        <div class="known" data-testid="known">
            <div class="row">
                <p class={(!known.is_up).then_some("bad")}>{ known.headline.to_string() }</p>
                <button class="btn small" aria-pressed={heartbeats.to_string()} onclick={act.reform(|_| Act::Heartbeats)} data-testid="heartbeats">{ "Show heartbeats" }</button>
            </div>
            <table class="plain">
                <caption>{ "Brokers, as the controller takes them, and as they are" }</caption>
                <thead><tr>{ for ["Broker", "Taken for", "Broker epoch", "Last heard", "Session", "In truth"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
                <tbody>{ for known.brokers.iter().map(broker) }</tbody>
            </table>
            { partitions("Partitions, as decided", &known.partitions, act) }
            if let Some(own) = &known.own {
                <details class="fold">
                    <summary>{ icon("right") }{ own.line.to_string() }</summary>
                    { partitions("Partitions of the cluster's own topic, as decided", &own.all, act) }
                </details>
            }
        </div>
    }
}

fn partitions(caption: &'static str, lines: &[PartitionLine], act: &Callback<Act>) -> Html {
    html! {
        <table class="plain">
            <caption>{ caption }</caption>
            <thead><tr>{ for ["Partition", "Leader", "Leader epoch", "Partition epoch", "In sync", "Eligible"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
            <tbody>{ for lines.iter().map(|line| partition(line, act)) }</tbody>
        </table>
    }
}

fn broker(line: &BrokerLine) -> Html {
    html! {
        <tr key={line.id} class={line.is_mistaken.then_some("mistaken")}>
            <th scope="row">{ line.id }</th><td>{ chip(&line.standing) }</td><td>{ line.epoch.to_string() }</td>
            <td>{ line.heard.to_string() }</td><td>{ line.session.to_string() }</td><td>{ chip(&line.truth) }</td>
        </tr>
    }
}

fn partition(line: &PartitionLine, act: &Callback<Act>) -> Html {
    let (name, title) = cut(&line.name);
    html! {
        <tr key={line.name.to_string()}>
            <th scope="row" {title}>
                if let Some((topic, number)) = line.leads_to {
                    <button class="link" onclick={act.reform(move |_| Act::Partition(topic, number))}>{ name }</button>
                } else { { name } }
            </th>
            <td>{ line.leader.to_string() }</td><td>{ line.leader_epoch }</td><td>{ line.epoch }</td><td>{ line.isr.to_string() }</td><td>{ line.elr.to_string() }</td>
        </tr>
    }
}
