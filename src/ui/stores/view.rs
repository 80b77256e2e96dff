//! The picture of the page stores: side by side, each with its pages and its log in memory, page cache and on disk, and
//! the writes of the transfer with the moments between them.

use std::rc::Rc;

use yew::prelude::*;

use crate::lesson::Kind;
use crate::lesson::model::About;
use crate::lesson::stores::Subject;
use crate::sorted::SortedSet;
use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::page::Page;
use crate::ui::panel;
use crate::ui::reading::{Reading, Run};
use crate::ui::stores::StoreSession;
use crate::ui::transport::Transport;
use crate::wal::{Account, Discipline, Finding, Log, Outcome, SECTOR, Store, Write};

/// How the moments of a store are picked as an answer.
struct Picking<'a> {
    picked: &'a SortedSet<i64>,
    act: &'a Callback<Act>,
}

/// The lesson, the two stores, and the transport.
pub fn lesson(page: &Page, reading: &Reading, session: &StoreSession, notice: Html, act: &Callback<Act>) -> Html {
    let step = session.position();
    let caption = reading
        .caption(session)
        .unwrap_or_else(|| said(session.stores().store(Discipline::Logged)).to_string());
    let (caption, drawn) = panel::caption(&caption);
    let spoken: Rc<str> = format!("Act {step} of {}. {caption}", session.len()).into();
    let store = |discipline: Discipline| {
        store(
            session.stores().store(discipline),
            picking(page, reading, session, discipline, act),
        )
    };
    let up = session.stores().logged.is_up();
    html! {
        <>
            <aside class="left" id="pane" tabindex="-1" aria-label="Lesson">{ panel::lesson(page, reading, session, act) }</aside>
            <div class="middle">
                <main class="mid beyond" id="main" tabindex="-1">
                    { notice }
                    <div class="caption" data-testid="caption"><span class="n" title="Act">{ step }</span><p>{ drawn }</p></div>
                    <div class="row">
                        <button class="btn danger" disabled={!up} onclick={act.reform(|_| Act::Do("crash".into()))} data-testid="crash">{ icon("power") }{ "Power off now" }</button>
                        <button class="btn" disabled={up} onclick={act.reform(|_| Act::Do("recover".into()))} data-testid="recover">{ icon("play") }{ "Start again: recover" }</button>
                    </div>
                    <div class="stores">{ store(Discipline::InPlace) }{ store(Discipline::Logged) }</div>
                </main>
            </div>
            <footer class="foot">
                <Transport {step} steps={session.len()} time={moment_words(session)} spoken={spoken.clone()} playing={page.playing} can_go_on={true} more_to_come={false} speed={page.speed} marks={Rc::new(Vec::new())} act={act.clone()}/>
            </footer>
            <div class="sr" role="status" aria-live="polite" data-testid="live">{ spoken.to_string() }</div>
        </>
    }
}

fn moment_words(session: &StoreSession) -> Rc<str> {
    format!("moment {}", session.stores().logged.moment()).into()
}

/// What stands in the caption's place between the stops.
fn said(store: &Store) -> &'static str {
    match (store.is_up(), store.moment(), store.writes().len()) {
        (false, ..) => "The power is gone: memory and page cache are empty, what is on disk stays.",
        (true, done, all) if done == all && !store.recovery().is_empty() => {
            "Started again. Below each store stands what it found on its disk."
        }
        (true, _, 0) => "Two stores at rest. Read what stands beside them, then press Next.",
        (true, done, all) if done == all => "All writes are done.",
        _ => "A transfer is under way, the same in both stores.",
    }
}

/// Whether the moments of this store are asked for just now.
fn picking<'a>(
    page: &'a Page,
    reading: &Reading,
    session: &StoreSession,
    discipline: Discipline,
    act: &'a Callback<Act>,
) -> Option<Picking<'a>> {
    let open = reading.open_prediction(session)?;
    let asked = matches!(&open.kind, Kind::Click(About::Stores(Subject::Wrong(of))) if *of == discipline);
    asked.then_some(Picking {
        picked: &page.picked,
        act,
    })
}

fn store(store: &Store, picking: Option<Picking<'_>>) -> Html {
    let (title, about) = match store.discipline() {
        Discipline::InPlace => ("Without a log", "writes page after page, each down to the disk"),
        Discipline::Logged => ("With a log", "writes down first what it will do"),
    };
    html! {
        <section class="store" aria-label={title}>
            <header class="row apart">
                <h2>{ title }<small>{ about }</small></h2>
                if store.is_up() {
                    <span class="chip no">{ format!("{} in all", store.total()) }</span>
                } else {
                    <span class="chip bad">{ "✕ no power" }</span>
                }
            </header>
            <table class="layers">
                <thead><tr><th scope="col"><span class="sr">{ "What" }</span></th><th scope="col">{ "memory" }</th><th scope="col">{ "page cache" }</th><th scope="col">{ "disk" }</th></tr></thead>
                <tbody>
                    { for store.accounts().iter().map(page_row) }
                    if store.discipline() == Discipline::Logged { { log_row(store.log()) } }
                </tbody>
            </table>
            if !store.recovery().is_empty() {
                <ul class="found">{ for store.recovery().iter().map(|finding| html! { <li>{ found(finding) }</li> }) }</ul>
            }
            if !store.writes().is_empty() { { writes(store, picking) } }
        </section>
    }
}

fn page_row(account: &Account) -> Html {
    let page = &account.page;
    let cell = |value: Option<i64>, class: &'static str| match value {
        Some(value) => html! { <td><span class={classes!("page-cell", class)}>{ value }</span></td> },
        None => html! { <td><span class="page-cell none">{ "–" }</span></td> },
    };
    html! {
        <tr><th scope="row">{ account.name.clone() }</th>{ cell(page.memory, "memory") }{ cell(page.cache, "cache") }{ cell(Some(page.disk), "disk") }</tr>
    }
}

/// The log: an entry in two halves, each there or not.
fn log_row(log: &Log) -> Html {
    let sectors = log.disk.chunks(SECTOR).map(|sector| {
        let there = sector.iter().any(|byte| *byte != 0);
        let (class, words) = if there {
            ("disk", "½ entry")
        } else {
            ("ghost", "zeros")
        };
        html! { <span class={classes!("page-cell", class)}>{ words }</span> }
    });
    let cache = match log.cache {
        Some(_) => html! { <span class="page-cell cache">{ "entry" }</span> },
        None => html! { <span class="page-cell none">{ "–" }</span> },
    };
    html! {
        <tr><th scope="row">{ "log" }</th><td><span class="page-cell none">{ "–" }</span></td><td>{ cache }</td>
            <td class="log">{ for sectors }if log.disk.is_empty() { <span class="page-cell none">{ "empty" }</span> }</td></tr>
    }
}

/// The writes of the transfer, and between them the moments at which the power may go.
fn writes(store: &Store, picking: Option<Picking<'_>>) -> Html {
    let outcomes = store.outcomes();
    let done = store.moment();
    let rows = (0..=store.writes().len()).map(|at| {
        let outcome = outcomes.get(at).copied().filter(|_| at <= done && picking.is_none());
        html! {
            <>
                { moment(at, at == done, outcome, picking.as_ref()) }
                if let Some(write) = store.writes().get(at) {
                    <li class={classes!("write", (at < done).then_some("done"), (at == done).then_some("next"))}>
                        <span aria-hidden="true">{ if at < done { "✓" } else { "○" } }</span>{ write_words(write, store) }
                        <span class="sr">{ if at < done { " (done)" } else { " (to come)" } }</span>
                    </li>
                }
            </>
        }
    });
    html! { <ol class="writes" aria-label="Writes and moments">{ for rows }</ol> }
}

fn moment(at: usize, now: bool, outcome: Option<Outcome>, picking: Option<&Picking<'_>>) -> Html {
    let class = classes!("moment", now.then_some("now"));
    if let Some(Picking { picked, act }) = picking {
        let number = at as i64;
        let pressed = picked.contains(&number);
        return html! {
            <li {class}><button class="btn small" aria-pressed={pressed.to_string()} onclick={act.reform(move |_| Act::Pick(number))} data-testid={format!("moment-{at}")}>
                { format!("{} moment {at}", if pressed { "✕" } else { "○" }) }</button></li>
        };
    }
    let (class_of, words) = match outcome {
        Some(Outcome::Before) => ("ok", "power off here: as before"),
        Some(Outcome::After) => ("ok", "power off here: all done"),
        Some(Outcome::Wrong) => ("bad", "power off here: half done"),
        None => ("", ""),
    };
    html! {
        <li {class}><span class="at">{ format!("moment {at}") }</span>if !words.is_empty() { <span class={class_of}>{ words }</span> }if now { <span class="sr">{ " (now)" }</span> }</li>
    }
}

fn write_words(write: &Write, store: &Store) -> String {
    let name = |page: u32| {
        let account = store.accounts().get(page as usize);
        account.map_or_else(|| format!("page {page}"), |account| account.name.clone())
    };
    match write {
        Write::ChangePage(image) => format!("{}'s page in memory: {}", name(image.page), image.balance),
        Write::ChangePages([giver, taker]) => format!(
            "both pages in memory: {} {}, {} {}",
            name(giver.page),
            giver.balance,
            name(taker.page),
            taker.balance
        ),
        Write::CachePage(image) => format!("{}'s page to the page cache", name(image.page)),
        Write::SyncPage(image) => format!("{}'s page to the disk", name(image.page)),
        Write::CacheEntry(_) => "the log's entry to the page cache".to_string(),
        Write::SyncSector(_, 0) => "first half of the entry to the disk".to_string(),
        Write::SyncSector(..) => "second half of the entry to the disk: yes".to_string(),
    }
}

fn found(finding: &Finding) -> String {
    match finding {
        Finding::NoLog => "No log: the pages are taken as they lie on disk.".to_string(),
        Finding::EmptyLog => "The log is empty: nothing was under way.".to_string(),
        Finding::Replayed(entry) => format!(
            "A whole entry, of transfer {}: both its pages written again.",
            entry.number
        ),
        Finding::Discarded { at, arrived } => {
            format!(
                "At byte {at} an entry of which {arrived} bytes had arrived: its checksum does not fit, so it is thrown away."
            )
        }
    }
}
