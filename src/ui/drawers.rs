//! The drawers at the foot: the ledger, the events, the cluster as a table, the files.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::ui::act::{Act, Drawer, Subject};
use crate::ui::clients;
use crate::ui::controller;
use crate::ui::files::Files;
use crate::ui::inspector::{chip, rule_note};
use crate::ui::page::Page;
use crate::ui::session::Session;
use crate::ui::view::metrics::{self, InvariantRow, MetricRow, MetricTable};
use crate::ui::view::panels::{Change, Chip, EventLine, LedgerTable, Tone};
use crate::ui::view::stage::{BrokerRow, Health, Stage};
use crate::ui::view::{clients as reading, controller as known, files, names, told};

/// Steps whose events are listed.
const EVENT_STEPS: usize = 40;

/// Properties of the drawers.
#[derive(Properties, PartialEq)]
pub struct DrawersProps {
    /// Which one is open.
    pub open: Option<Drawer>,
    /// What lies in it.
    pub children: Html,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// The tabs and the open drawer.
#[component]
pub fn Drawers(props: &DrawersProps) -> Html {
    let tabs = [
        (Drawer::Ledger, "Ledger"),
        (Drawer::Events, "Events"),
        (Drawer::Table, "Table"),
        (Drawer::Controller, "Controller"),
        (Drawer::Clients, "Clients"),
        (Drawer::Files, "Files"),
        (Drawer::Metrics, "Metrics"),
    ];
    let open = tabs.iter().find(|(drawer, _)| Some(*drawer) == props.open);
    let name = open.map_or("", |(_, name)| *name);
    html! {
        <div class="drawers">
            <div class="tabs" role="tablist" aria-label="Drawers" onkeydown={Callback::from(move_between_tabs)}>
                { for tabs.map(|(drawer, name)| {
                    let selected = props.open == Some(drawer);
                    let focusable = selected || (props.open.is_none() && drawer == Drawer::Ledger);
                    html! {
                        <button key={name} role="tab" id={format!("tab-{name}")} aria-selected={selected.to_string()} aria-controls="drawer" tabindex={if focusable { "0" } else { "-1" }}
                            onclick={props.act.reform(move |_| Act::Drawer(drawer))}>{ name }</button>
                    }
                }) }
            </div>
            if let Some(drawer) = props.open {
                // Each begins where it begins, not where the one before was scrolled to.
                <div key={name} class={classes!("drawer", (drawer == Drawer::Files).then_some("tall"))} id="drawer" role="tabpanel" tabindex="0" aria-label={name}>
                    { props.children.clone() }
                </div>
            }
        </div>
    }
}

/// Arrow keys move between tabs, as in every list of tabs.
fn move_between_tabs(event: KeyboardEvent) {
    let Some(tab) = event.target_dyn_into::<HtmlElement>() else {
        return;
    };
    let next = match event.key().as_str() {
        "ArrowRight" => tab.next_element_sibling(),
        "ArrowLeft" => tab.previous_element_sibling(),
        _ => return,
    };
    event.prevent_default();
    event.stop_propagation();
    if let Some(next) = next.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = next.focus();
    }
}

/// What lies in the drawers that the landing does not open.
pub fn content(drawer: Drawer, page: &Page, session: &Session, stage: &Rc<Stage>, act: &Callback<Act>) -> Html {
    match drawer {
        Drawer::Ledger => html! {},
        Drawer::Events => {
            let step = session.step_number();
            html! { <Events events={Rc::new(latest(session))} {step} from={step.saturating_sub(EVENT_STEPS)}/> }
        }
        Drawer::Table => html! { <ClusterTable stage={stage.clone()}/> },
        Drawer::Controller => controller::drawer(&known::known(&session.look()), page.heartbeats, act),
        Drawer::Clients => clients::drawer(&reading::clients(&session.look()), act),
        Drawer::Metrics => html! {
            <div class="known">
                { metric_table(&metrics::table(session)) }
                { invariant_table(&metrics::invariants(session)) }
            </div>
        },
        Drawer::Files => {
            html! { <Files folder={Rc::new(files::replicas(&session.look(), page.selected))}/> }
        }
    }
}

/// Properties of the ledger.
#[derive(Properties, PartialEq)]
pub struct LedgerProps {
    /// Each record a column.
    pub table: Rc<LedgerTable>,
    /// What is inspected.
    pub selected: Option<Subject>,
    /// Where acts go.
    pub act: Callback<Act>,
}

/// Each record a column: what its application was told, where its copies are, what is true.
#[component]
pub fn Ledger(props: &LedgerProps) -> Html {
    let table = &props.table;
    let node = use_node_ref();
    {
        let node = node.clone();
        let lost = table.columns.iter().find(|column| column.fate.tone == Tone::Bad);
        let lost = lost.map(|column| (column.client, column.number));
        // A loss is brought into view once and stays there; without one the style sheet keeps the latest records in view.
        use_effect_with(lost, move |_| {
            if let Some(table) = node.cast::<Element>() {
                scroll_to_news(&table);
            }
        });
    }
    if table.columns.is_empty() {
        return html! { <p class="empty">{ "No record was sent yet. Press P, or take a step." }</p> };
    }
    html! {
        <table class="ledger" ref={node} data-testid="ledger">
            <caption class="sr">{ "What became of each record" }</caption>
            <thead><tr>
                <th scope="col">{ if table.earlier > 0 { format!("{} earlier", table.earlier) } else { "record".into() } }</th>
                <>{ for table.columns.iter().map(|column| html! { <th key={column.label.to_string()} scope="col" title={column.label.to_string()}>{ column.label.to_string() }</th> }) }</>
                if table.later > 0 { <th scope="col" class="later">{ format!("+{} waiting", table.later) }</th> }
            </tr></thead>
            <tbody>
                <tr>
                    <th scope="row">{ "producer told" }</th>
                    <>{ for table.columns.iter().map(|column| {
                        let subject = Subject::Record(column.client, column.number);
                        let inspect = props.act.reform(move |_| Act::Inspect(Some(subject)));
                        html! { <td key={column.label.to_string()}><button class={classes!("lc", look(&column.told, false))} aria-pressed={(props.selected == Some(subject)).to_string()} onclick={inspect} aria-label={format!("Inspect {}: {}", column.label, column.told.text)} title={column.refused.map(String::from).or(column.waited.as_ref().map(|(words, _)| format!("after {words}")))}>
                            { glyph(&column.told) }{ column.told.text.to_string() }
                            if let Some((_, percent)) = column.waited { <i class="waited" style={format!("width:{percent}%")}></i> }
                        </button></td> }
                    }) }</>
                </tr>
                <>{ for table.brokers.iter().enumerate().map(|(at, broker)| html! {
                    <tr key={broker.to_string()}>
                        <th scope="row">{ broker.to_string() }</th>
                        <>{ for table.columns.iter().map(|column| {
                            let Some((copy, down)) = column.copies.get(at) else { return html! { <td></td> } };
                            html! { <td key={column.label.to_string()}><span class={classes!("lc", look(copy, *down))}>{ copy.text.to_string() }</span></td> }
                        }) }</>
                    </tr>
                }) }</>
                <tr>
                    <th scope="row">{ "truth" }</th>
                    <>{ for table.columns.iter().map(|column| html! { <td key={column.label.to_string()}><span class={classes!("lc", look(&column.fate, false))}>{ column.fate.text.to_string() }</span></td> }) }</>
                </tr>
            </tbody>
        </table>
    }
}

/// Scrolls the drawer, and nothing else, to the first record that is lost, or to the end, which is where its places begin.
fn scroll_to_news(table: &Element) {
    let Some(drawer) = table.parent_element() else { return };
    let side = |element: &Element| element.get_bounding_client_rect().left() as i32;
    let lost = table.query_selector("td .gone").ok().flatten();
    let left = lost.map_or(0, |lost| {
        drawer.scroll_left() + side(&lost) - side(&drawer) - drawer.client_width() / 2
    });
    drawer.set_scroll_left(left);
}

fn look(chip: &Chip, down: bool) -> Classes {
    let kind = match chip.tone {
        Tone::Ok => "ok",
        Tone::Wait | Tone::Warn => "wait",
        Tone::Bad => "gone",
        Tone::Cache => "cache",
        Tone::Disk => "disk",
        Tone::Ghost => "cut",
        Tone::Plain | Tone::No => "",
    };
    classes!(kind, down.then_some("dark"))
}

fn glyph(chip: &Chip) -> &'static str {
    match chip.tone {
        Tone::Ok => "✓ ",
        Tone::Bad => "✕ ",
        _ => "",
    }
}

/// The events of the latest steps, the latest first.
fn latest(session: &Session) -> Vec<EventLine> {
    let look = session.look();
    let position = session.position();
    let from = position
        .saturating_sub(EVENT_STEPS)
        .max(position - session.step_number());
    let mut lines = Vec::new();
    for (at, events) in session.playback().history().events(from, position).into_iter().rev() {
        for event in events.iter().filter(|event| told::weight(&event.what) > 5) {
            let change = Change {
                text: told::line_in(event, &look).into(),
                rule: event.rule,
            };
            lines.push(EventLine {
                step: session.number_of(at),
                at: names::time(event.at).into(),
                change,
            });
        }
    }
    lines
}

#[derive(Properties, PartialEq)]
struct EventsProps {
    events: Rc<Vec<EventLine>>,
    step: usize,
    /// The first step that is told of.
    from: usize,
}

/// What happened, the latest first; each line opens the rule that decided it.
#[component]
fn Events(props: &EventsProps) -> Html {
    if props.events.is_empty() {
        return html! { <p class="empty">{ "Nothing has happened yet." }</p> };
    }
    html! {
        <ol class="events" data-testid="events">
            { for props.events.iter().enumerate().map(|(at, line)| html! { <EventRow key={format!("{}/{at}", line.step)} line={line.clone()} now={line.step == props.step}/> }) }
            if props.from > 0 { <li class="earlier">{ format!("What came before is told where one goes back: step {} and earlier.", props.from) }</li> }
        </ol>
    }
}

#[derive(Properties, PartialEq)]
struct EventRowProps {
    line: EventLine,
    now: bool,
}

#[component]
fn EventRow(props: &EventRowProps) -> Html {
    let open = use_state(|| false);
    let toggle = {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(!*open))
    };
    let line = &props.line;
    html! {
        <li class={props.now.then_some("now")}>
            <span class="n">{ line.step }</span><span class="at">{ line.at.to_string() }</span>
            <span>{ line.change.text.to_string() }</span>
            <button class="link" aria-expanded={open.to_string()} onclick={toggle}>{ "Why? " }<code>{ line.change.rule.id() }</code></button>
            if *open { { rule_note(line.change.rule) } }
        </li>
    }
}

/// What an operator would watch, as it was and as it is.
fn metric_table(table: &MetricTable) -> Html {
    html! {
        <table class="plain" data-testid="metrics">
            <caption>{ format!("Before the latest moment with a mark (step {}) and now", table.since) }</caption>
            <thead><tr>{ for ["Metric", "Was", "Now", "Change"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
            <tbody>{ for table.rows.iter().map(metric_row) }</tbody>
        </table>
    }
}

/// What must hold after every step, and whether it does.
fn invariant_table(rows: &[InvariantRow]) -> Html {
    html! {
        <table class="plain" data-testid="invariants">
            <caption>{ "Invariants: what must hold after every step, and whether it does at this one" }</caption>
            <thead><tr>{ for ["Invariant", "At this step", "What breaks it"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
            <tbody>{ for rows.iter().map(|row| html! {
                <tr key={row.name}>
                    <th scope="row" class="words"><code>{ row.name }</code><small>{ row.sentence }</small></th><td>{ chip(&row.state) }</td><td class="words">{ row.why.to_string() }</td>
                </tr>
            }) }</tbody>
        </table>
    }
}

fn metric_row(row: &MetricRow) -> Html {
    let known = |value: Option<i64>| value.map_or("–".to_string(), |value| value.to_string());
    let (class, change) = match row.now.zip(row.was).map_or(0, |(now, was)| now - was) {
        0 => ("soft", "–".to_string()),
        more @ 1.. => (if row.is_bad { "bad" } else { "ok" }, format!("+{more}")),
        less => (if row.is_bad { "ok" } else { "soft" }, format!("−{}", -less)),
    };
    html! {
        <tr key={row.name.to_string()}>
            <th scope="row" class="words"><code>{ row.name.to_string() }</code><small>{ row.about }</small></th><td>{ known(row.was) }</td><td>{ known(row.now) }</td><td class={classes!("change", class)}>{ change }</td>
        </tr>
    }
}

#[derive(Properties, PartialEq)]
struct TableProps {
    stage: Rc<Stage>,
}

/// The same cluster for those who would rather read it.
#[component]
fn ClusterTable(props: &TableProps) -> Html {
    let stage = &props.stage;
    let (name, title) = names::cut(&stage.partition);
    html! {
        <table class="plain" data-testid="cluster-table">
            <caption {title}>{ format!("Partition {name}, columns {} to {}", stage.window.start, stage.window.end - 1) }</caption>
            <thead><tr>{ for ["Broker", "State", "Role", "Epoch", "Log start", "Flushed to", "Log end", "High watermark", "Now"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
            <tbody>{ for stage.brokers.iter().map(|row| table_row(row)) }</tbody>
        </table>
    }
}

fn table_row(row: &BrokerRow) -> Html {
    let state = match row.health {
        Health::Up => "up",
        other => other.word().unwrap_or("up"),
    };
    let dash = |value: Option<i64>| value.map_or("–".to_string(), |value| value.to_string());
    html! {
        <tr key={row.id}>
            <th scope="row">{ row.id }</th><td>{ state }</td><td>{ row.role.word() }</td><td>{ dash(row.epoch.map(i64::from)) }</td>
            <td>{ row.log_start }</td><td>{ row.flushed }</td><td>{ row.log_end.at }</td><td>{ dash(row.high_watermark.map(|mark| mark.at)) }</td><td>{ row.note.to_string() }</td>
        </tr>
    }
}
