//! All partitions at once, as a table; the row that is pressed is the partition in view.

use std::rc::Rc;

use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::view::names::cut;
use crate::ui::view::overview::{Line, Overview, Part};
use crate::ui::view::stage::{Health, Role};

/// From so many brokers on, a cell has no room for words.
const CROWDED: usize = 6;

#[derive(Properties, PartialEq)]
pub struct OverviewProps {
    /// All partitions.
    pub overview: Rc<Overview>,
    /// Topic id and number of the one in view.
    pub selected: (u16, u32),
    /// Where acts go.
    pub act: Callback<Act>,
}

/// Partitions as rows, brokers as columns.
#[component]
pub fn OverviewTable(props: &OverviewProps) -> Html {
    let OverviewProps {
        overview,
        selected,
        act,
    } = props;
    let open = use_state(|| false);
    let toggle = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    let row = |line: &Line| html! { <Row key={line.name.to_string()} line={line.clone()} pressed={line.id == *selected} act={act.clone()}/> };
    let crowded = (overview.brokers.len() >= CROWDED).then_some("crowded");
    html! {
        <div class={classes!("parts", crowded)} role="group" aria-label="Partitions" data-testid="overview">
            <table>
                <thead><tr><th scope="col">{ "partition" }</th>{ for overview.brokers.iter().map(|id| html! { <th scope="col">{ format!("broker {id}") }</th> }) }</tr></thead>
                <tbody>
                    { for overview.lines.iter().map(row) }
                    if let Some(own) = &overview.own {
                        <tr key="own"><th scope="rowgroup" colspan={(overview.brokers.len() + 1).to_string()}>
                            <button class="own" aria-expanded={open.to_string()} onclick={toggle}>{ icon("right") }{ own.line.to_string() }</button>
                        </th></tr>
                        { for own.all.iter().filter(|line| *open || line.id == *selected).map(row) }
                    }
                </tbody>
            </table>
            <p class="glyphs" aria-hidden="true">
                { for [("crown", "leader"), ("check", "in sync"), ("dots", "out of sync"), ("cross", "down"), ("", "−2: records it lacks")].map(|(glyph, words)| html! { <span>{ icon_of(glyph) }{ words }</span> }) }
            </p>
        </div>
    }
}

fn icon_of(glyph: &'static str) -> Html {
    if glyph.is_empty() {
        html! {}
    } else {
        icon(glyph)
    }
}

#[derive(Properties, PartialEq)]
struct RowProps {
    line: Line,
    pressed: bool,
    act: Callback<Act>,
}

/// One partition. All of its row leads to it for whoever points, the button for everybody.
#[component]
fn Row(props: &RowProps) -> Html {
    let RowProps { line, pressed, act } = props;
    let (topic, number) = line.id;
    let (name, title) = cut(&line.name);
    html! {
        <tr class={pressed.then_some("on")} onclick={act.reform(move |_| Act::Partition(topic, number))}>
            <th scope="row">
                <button class="part" {title} aria-pressed={pressed.to_string()}>{ name }</button>
                if line.is_offline { <small class="bad">{ "no leader" }</small> }
            </th>
            { for line.parts.iter().map(part) }
        </tr>
    }
}

fn part(part: &Part) -> Html {
    if part.role == Role::NoReplica {
        return html! { <td class="none"><span aria-hidden="true">{ "–" }</span><span class="sr">{ part.words() }</span></td> };
    }
    let (role, glyph) = match part.role {
        Role::Leader => ("leader", "crown"),
        Role::FormerLeader => ("former", "crown"),
        Role::OutOfSync => ("out", "dots"),
        Role::InSync | Role::NoReplica => ("", "check"),
    };
    let (health, broken) = match part.health {
        Health::Killed | Health::Dark => ("bad", "cross"),
        Health::Paused => ("bad", "pause"),
        _ => ("", ""),
    };
    let lag = part.lag.filter(|lag| *lag > 0);
    html! {
        <td class={classes!(role, health)} title={part.words()}>
            <span class="sr">{ part.words() }</span>
            <span aria-hidden="true">{ icon_of(broken) }{ icon(glyph) }<span class="w">{ part.standing() }</span>if let Some(end) = part.end { <i>{ format!("LEO {end}") }</i> }if let Some(lag) = lag { <b>{ format!("−{lag}") }</b> }</span>
        </td>
    }
}
