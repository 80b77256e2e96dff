//! The drawer of clients: producers with what they were told, groups with members, shares and lag.

use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::inspector::chip;
use crate::ui::view::clients::{Clients, GroupCard, Reader, Sender, Share};
use crate::ui::view::names::cut;

/// All clients.
pub fn drawer(clients: &Clients, act: &Callback<Act>) -> Html {
    html! {
        <div class="known" data-testid="clients">
            if clients.groups.is_empty() {
                <p class="empty">{ "Nobody reads yet. On the playground, " }<code>{ "consumer c1 group=g topics=payments" }</code>{ " adds a member to a group." }</p>
            } else {
                { for clients.groups.iter().map(|card| group(card, act)) }
            }
            if !clients.senders.is_empty() { { senders(&clients.senders) } }
        </div>
    }
}

fn group(card: &GroupCard, act: &Callback<Act>) -> Html {
    let title = card
        .name
        .as_ref()
        .map_or("Consumers without a group".to_string(), |name| format!("Group {name}"));
    html! {
        <table class="plain" key={title.clone()}>
            <caption>
                <b>{ title }</b>{ format!(": {}", card.about) }
                if let Some(lag) = card.lag { { format!(". Lag {lag}") } }
            </caption>
            <thead><tr>{ for ["Reader", "State", "Partition", "Position", "Committed", "High watermark", "Lag"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
            <tbody>
                if card.readers.is_empty() { <tr><td class="words" colspan="7">{ "It has no members, and has committed nothing." }</td></tr> }
                { for card.readers.iter().map(|one| reader(one, act)) }
            </tbody>
        </table>
    }
}

/// One row for each share, the reader's name before the first.
fn reader(reader: &Reader, act: &Callback<Act>) -> Html {
    let name = reader.name.as_ref().map_or("–".to_string(), |name| name.to_string());
    let span = reader.shares.len().max(1).to_string();
    let head = html! { <><th scope="row" rowspan={span.clone()}>{ name }</th><td rowspan={span}>{ chip(&reader.state) }</td></> };
    let Some((first, others)) = reader.shares.split_first() else {
        return html! { <tr>{ head }<td class="soft" colspan="5">{ "reads nothing" }</td></tr> };
    };
    html! {
        <>
            <tr>{ head }{ share(first, act) }</tr>
            { for others.iter().map(|other| html! { <tr>{ share(other, act) }</tr> }) }
        </>
    }
}

fn share(share: &Share, act: &Callback<Act>) -> Html {
    let dash = |value: Option<i64>| value.map_or("–".to_string(), |value| value.to_string());
    let (name, title) = cut(&share.name);
    html! {
        <>
            <td {title}>
                if let Some((topic, number)) = share.leads_to {
                    <button class="link" onclick={act.reform(move |_| Act::Partition(topic, number))}>{ name }</button>
                } else { { name } }
            </td>
            <td>{ dash(share.position) }</td><td>{ dash(share.committed) }</td><td>{ dash(share.end) }</td><td>{ dash(share.lag()) }</td>
        </>
    }
}

fn senders(senders: &[Sender]) -> Html {
    html! {
        <table class="plain">
            <caption><b>{ "Producers" }</b></caption>
            <thead><tr>{ for ["Producer", "State", "acks", "Handed over", "Acknowledged", "Failed", "Undecided", "Tries again"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
            <tbody>{ for senders.iter().map(|one| html! {
                <tr key={one.name.to_string()}>
                    <th scope="row">{ one.name.to_string() }</th><td>{ chip(&one.state) }</td><td>{ one.acks }</td>
                    { for one.counts.map(|count| html! { <td>{ count }</td> }) }
                    <td>{ one.retries.map_or("–".into(), |(attempts, error)| format!("attempt {} after {error}", attempts + 1)) }</td>
                </tr>
            }) }</tbody>
        </table>
    }
}
