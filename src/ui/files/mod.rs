//! The files drawer: a replica's folder as a tree, one file of it as a row of parts, one part byte by byte.
//!
//! Real files are opened here too. They are read in slices when they are needed, and nothing of them leaves the page.

mod beside;
mod opening;
mod real;

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement};
use yew::prelude::*;

use self::beside::Beside;
use self::opening::{Source, use_opened, use_part_bytes};
use self::real::{Real, dropped, listed, within};
use crate::inspect::FileKind;
use crate::ui::icons::icon;
use crate::ui::view::files::{
    Bar, Chosen, Detail, Entry, Folder, HexRow, Is, Layer, Lead, Opened, Part, Parts, Row, Stored, Strip, Walk,
    WalkStep, bases_of, detail, folder_of, in_words, leads, look_up, recovery, recovery_point, segment_of, size, sizes,
    span_of, strip, tree,
};

/// The most faults that are listed.
const FAULTS: usize = 8;

/// Properties of the drawer.
#[derive(Properties, PartialEq)]
pub struct FilesProps {
    /// The simulated replicas' folders.
    pub folder: Rc<Folder>,
}

type Choose = Callback<Chosen>;

/// The drawer.
#[component]
pub fn Files(props: &FilesProps) -> Html {
    let chosen = use_state(Chosen::default);
    let real = use_state(|| None::<Rc<Real>>);
    let choose: Choose = {
        let chosen = chosen.clone();
        Callback::from(move |next| chosen.set(next))
    };
    let source = match (&*real, props.folder.replica(chosen.broker)) {
        (Some(real), _) => Source::Real(real.clone()),
        (None, Some(replica)) => Source::Simulated(replica),
        (None, None) => Source::Nowhere,
    };
    let entries = source.entries();
    let file = chosen.file_in(&entries);
    let opening = use_opened(&source, file.as_ref());
    let opened = opening.opened.as_ref().and_then(|opened| opened.as_ref().ok());
    let steps = opened.map_or_else(Vec::new, |opened| walked(opened, &chosen, &source, props, &entries));
    let step = chosen.walk.and_then(|(_, step)| steps.get(step));
    let part = opened.and_then(|opened| picked(opened, &chosen, step));
    let bytes = use_part_bytes(&source, file.as_ref(), part);
    let put = {
        let choose = choose.clone();
        Callback::from(move |next: Option<Rc<Real>>| {
            real.set(next);
            choose.emit(Chosen::default());
        })
    };
    let take = {
        let put = put.clone();
        Callback::from(move |files: Vec<(String, File)>| {
            if !files.is_empty() {
                put.emit(Some(Rc::new(Real::new(files))));
            }
        })
    };
    let is_read = |opened: &Rc<Opened>| {
        let stored = source.stored(&entries, file.as_ref());
        let beside = source.real().map(|real| laid_beside(real, opened, &entries, props));
        let part = part.as_ref();
        let shown = part.zip(bytes.as_ref().ok());
        let shown = shown.map(|(part, bytes)| Rc::new(detail(opened.kind, part, bytes, &opened.whole, chosen.record)));
        html! {
            <>
                <section class="pic" aria-label={format!("What is in {}", opened.name)}>
                    { asked(opened, &entries, &chosen, &choose, &steps, part) }
                    { faults(opened) }
                    { picture(opened, part, stored, step, &chosen, &choose) }
                    if let Err(why) = &bytes { <p class="notice error" role="alert" data-testid="no-bytes">{ why.clone() }</p> }
                    if let Some(shown) = &shown { { records(shown, &chosen, &choose) } }
                    { beside.unwrap_or_default() }
                </section>
                if let Some(detail) = shown { <Bytes {detail}/> }
            </>
        }
    };
    html! {
        <div class="files" data-testid="files" ondragover={Callback::from(|event: DragEvent| event.prevent_default())} ondrop={dropping(&take)}>
            <section class="tree" aria-label="Folder">
                { heading(props, &chosen, source.real().map(|real| &**real), &choose, put.reform(|_| None)) }
                { listed_tree(&entries, file.as_ref(), &chosen, &choose) }
                { opener(&take) }
            </section>
            { match (&opening.opened, &file) {
                (Some(Ok(opened)), _) => is_read(opened),
                (Some(Err(why)), _) => html! { <p class="notice error pic" role="alert" data-testid="no-segment">{ why.clone() }</p> },
                (None, Some(_)) => html! { <p class="pic soft" role="status">{ format!("Read up to byte {}.", opening.reached) }</p> },
                (None, None) => html! { <p class="pic empty">{ "There is no replica yet, and so no folder." }</p> },
            } }
        </div>
    }
}

/// Files and folders that are dropped are taken.
fn dropping(take: &Callback<Vec<(String, File)>>) -> Callback<DragEvent> {
    let take = take.clone();
    Callback::from(move |event: DragEvent| {
        event.prevent_default();
        let entries = event.data_transfer().map(|data| dropped(&data)).unwrap_or_default();
        let take = take.clone();
        spawn_local(async move { take.emit(within(entries).await) });
    })
}

/// A segment of this machine beside the simulated replicas' logs.
fn laid_beside(real: &Real, opened: &Rc<Opened>, entries: &[Entry], props: &FilesProps) -> Html {
    let file = real.file(&opened.name);
    let Some(file) = file.filter(|_| matches!(opened.kind, FileKind::Log { .. })) else {
        return html! {};
    };
    let span = span_of(entries, &opened.name);
    html! { <Beside key={opened.name.to_string()} file={file.clone()} opened={opened.clone()} folder={props.folder.clone()} {span}/> }
}

/// The part that is open: the one that was picked, or that a walk has come to, or the last.
fn picked(opened: &Opened, chosen: &Chosen, step: Option<&WalkStep>) -> Option<Part> {
    let asked = chosen.part.or_else(|| step?.batch);
    let last = || opened.own.parts.iter().rfind(|part| part.is != Is::Room);
    asked
        .and_then(|position| opened.own.at(position))
        .or_else(last)
        .copied()
}

/// All steps of the walk that is shown.
fn walked(
    opened: &Opened,
    chosen: &Chosen,
    source: &Source<'_>,
    props: &FilesProps,
    entries: &[Entry],
) -> Vec<WalkStep> {
    match (opened.kind, chosen.walk) {
        (FileKind::Log { base }, Some((Walk::LookUp(offset), _))) if base <= offset => look_up(opened, offset),
        (_, Some((Walk::LookUp(offset), _))) => vec![WalkStep {
            text: format!("No segment begins at or below {offset}: a fetch there is answered OFFSET_OUT_OF_RANGE."),
            entry: None,
            batch: None,
        }],
        (FileKind::Log { .. }, Some((Walk::Recovery, _))) => {
            let replica = source.replica();
            let point = replica.and_then(|replica| recovery_point(replica, &props.folder.name));
            recovery(opened, point, &bases_of(entries, folder_of(&opened.name)))
        }
        _ => Vec::new(),
    }
}

fn heading(
    props: &FilesProps,
    chosen: &Chosen,
    real: Option<&Real>,
    choose: &Choose,
    back: Callback<MouseEvent>,
) -> Html {
    if let Some(real) = real {
        let within = real.folder.as_ref().map(|folder| format!(": {folder}/"));
        return html! {
            <div class="row apart">
                <h2 class="eyebrow">{ "Files of this machine" }{ within.unwrap_or_default() }</h2>
                <button class="btn small" onclick={back}>{ "Back to the simulated replica" }</button>
            </div>
        };
    }
    let shown = props.folder.replica(chosen.broker).map(|replica| replica.broker);
    let onchange = choose.reform(|event: Event| {
        let value = event
            .target_dyn_into::<web_sys::HtmlSelectElement>()
            .map(|select| select.value());
        Chosen::of(value.and_then(|value| value.parse().ok()))
    });
    html! {
        <div class="row apart">
            <h2 class="eyebrow">{ props.folder.name.to_string() }{ "/" }</h2>
            <select class="field" aria-label="Whose folder" {onchange}>
                { for props.folder.replicas.iter().map(|replica| html! {
                    <option value={replica.broker.to_string()} selected={shown == Some(replica.broker)}>{ format!("broker {} · {}", replica.broker, replica.words) }</option>
                }) }
            </select>
        </div>
    }
}

/// The folder that is open, with its files; of other folders beside it only the names.
fn listed_tree(entries: &[Entry], file: Option<&Rc<str>>, chosen: &Chosen, choose: &Choose) -> Html {
    let item = |entry: &Entry, name: &Rc<str>, words: &str| {
        let next = chosen.open(name.clone());
        let pressed = (file == Some(name)).to_string();
        html! {
            <li key={entry.name.to_string()}>
                <button class="file" aria-pressed={pressed} title={format!("{}: {}", entry.name, entry.words())} onclick={choose.reform(move |_| next.clone())}>
                    <span>{ words.to_owned() }</span><small>{ size(entry.length) }</small>
                    if let Some(percent) = entry.percent() { <i class="share"><i style={format!("width:{percent}%")}></i></i> }
                </button>
            </li>
        }
    };
    let own = |entry: &Entry| item(entry, &entry.name, &entry.short);
    let below = |class: &'static str, words: String, files: &[Entry]| {
        html! { <li key={words.clone()} class={class}><span class="dir">{ words }</span><ul class="list">{ for files.iter().map(own) }</ul></li> }
    };
    let items = tree(entries, file.map(|file| &**file))
        .into_iter()
        .map(|row| match row {
            Row::Beside(entry) => own(&entry),
            Row::Closed(folder, opens) => item(&folder, &opens, &format!("{}/", folder.name)),
            Row::Open(folder, files) => below("in", format!("{folder}/"), &files),
            Row::Above(files) => below("above", "in the data directory, above this folder:".to_owned(), &files),
        });
    html! {
        <>
            <ul class="list">{ for items }</ul>
            <p class="under">{ sizes(entries) }{ ". " }
                if entries.iter().any(|entry| entry.percent().is_some()) { <span class="key disk"></span>{ "on disk " }<span class="key cache"></span>{ "page cache only" } }
            </p>
        </>
    }
}

/// Where real files are opened.
fn opener(take: &Callback<Vec<(String, File)>>) -> Html {
    let input = |id: &'static str, words: &'static str, folder: bool| {
        let take = take.clone();
        let onchange = Callback::from(move |event: Event| {
            let list = event
                .target_dyn_into::<HtmlInputElement>()
                .and_then(|input| input.files());
            if let Some(list) = list {
                take.emit(listed(&list));
            }
        });
        html! { <label class="btn small" for={id}>{ words }<input {id} type="file" multiple=true webkitdirectory={folder} {onchange}/></label> }
    };
    html! {
        <div class="opener">
            <p class="under">{ "Files of a real broker, or its whole folder: drop them here, or open them. They are read in this browser and sent nowhere." }</p>
            <div class="row">{ input("real-files", "Open files", false) }{ input("real-folder", "Open a folder", true) }</div>
        </div>
    }
}

/// The walks through a segment: which is asked for, and how far it is told.
fn asked(
    opened: &Opened,
    entries: &[Entry],
    chosen: &Chosen,
    choose: &Choose,
    steps: &[WalkStep],
    part: Option<&Part>,
) -> Html {
    let count = steps.len().max(1);
    let offset = match (chosen.walk, part.map(|part| part.is)) {
        (Some((Walk::LookUp(offset), _)), _) => offset,
        (_, Some(Is::Batch { last, .. })) => last,
        _ => 0,
    };
    let ask = {
        let (chosen, choose) = (chosen.clone(), choose.clone());
        let here = folder_of(&opened.name);
        let own = entries.iter().filter(|entry| folder_of(&entry.name) == here);
        let names: Vec<Rc<str>> = own.map(|entry| entry.name.clone()).collect();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let input = event
                .target_dyn_into::<web_sys::Element>()
                .and_then(|form| form.query_selector("input").ok()?)
                .and_then(|input| input.dyn_into::<HtmlInputElement>().ok());
            let Some(offset) = input.and_then(|input| input.value().trim().parse().ok()) else {
                return;
            };
            let segment = segment_of(names.iter().map(|name| &**name), offset).map(Rc::from);
            let file = segment.or_else(|| chosen.file.clone());
            // Asked for the same again, it goes on, and begins anew behind the last step.
            let walk = Walk::LookUp(offset);
            let step = match chosen.walk {
                Some((asked, step)) if asked == walk => (step + 1) % count,
                _ => 0,
            };
            choose.emit(Chosen {
                file,
                walk: Some((walk, step)),
                ..Chosen::of(chosen.broker)
            });
        })
    };
    let shown = chosen.walk.map_or(0, |(_, step)| (step + 1).min(steps.len()));
    let at = |walk: Option<Walk>, step: usize| {
        let next = Chosen {
            walk: walk.map(|walk| (walk, step)),
            part: None,
            first: None,
            ..chosen.clone()
        };
        choose.reform(move |_: MouseEvent| next.clone())
    };
    let to = |step: usize| at(chosen.walk.map(|(walk, _)| walk), step);
    html! {
        <>
            <form class="row ask" onsubmit={ask}>
                <label for="look-up">{ "Look up offset" }</label>
                <input id="look-up" class="field" type="text" inputmode="numeric" pattern="[0-9]+" required=true value={offset.to_string()}/>
                <button class="btn small">{ "Look up" }</button>
                if matches!(opened.kind, FileKind::Log { .. }) {
                    <button class="btn small" type="button" title="What a broker makes of this segment when it starts after an unclean end" onclick={at(Some(Walk::Recovery), 0)}>{ "Try recovery" }</button>
                }
                if !steps.is_empty() {
                    <button class="btn small" type="button" aria-disabled={(shown <= 1).then_some("true")} onclick={to(shown.saturating_sub(2))}>{ "Back" }</button>
                    <button class="btn small" type="button" aria-disabled={(shown >= steps.len()).then_some("true")} onclick={to(shown.min(steps.len().saturating_sub(1)))}>{ "Next step" }</button>
                    <span class="faint">{ format!("{shown} of {}", steps.len()) }</span>
                }
            </form>
            if !steps.is_empty() {
                <ol class="steps" aria-live="polite" data-testid="look-up-steps">
                    { for steps[..shown].iter().map(|step| html! { <li>{ step.text.clone() }</li> }) }
                </ol>
            }
        </>
    }
}

/// What is wrong with the file, each with its place.
fn faults(opened: &Opened) -> Html {
    let beside = match opened.kind {
        FileKind::Log { .. } => opened.index.as_ref(),
        _ => opened.log.as_ref(),
    };
    let other = match opened.kind {
        FileKind::Log { .. } => "its .index, ",
        _ => "its .log, ",
    };
    let beside = beside.map_or(&[][..], |parts| &parts.damages);
    let count = opened.own.damages.len() + beside.len();
    if count == 0 {
        return html! {};
    }
    let own = opened.own.damages.iter().map(|damage| ("", damage));
    let all = own.chain(beside.iter().map(|damage| (other, damage)));
    html! {
        <div class="notice error" role="status" data-testid="file-faults">
            <ul>{ for all.take(FAULTS).map(|(place, damage)| html! { <li>{ place }{ damage.to_string() }</li> }) }
                if count > FAULTS { <li>{ format!("and {} more", count - FAULTS) }</li> }
            </ul>
        </div>
    }
}

/// The row of batches with the entries that lead into it, and, of an index, the row of its entries.
fn picture(
    opened: &Opened,
    part: Option<&Part>,
    stored: Stored,
    step: Option<&WalkStep>,
    chosen: &Chosen,
    choose: &Choose,
) -> Html {
    let picked = part.map(|part| part.position);
    let own = strip(&opened.own, stored, chosen.first, picked);
    let on = |position: u64| Some(position) == picked;
    match (opened.kind, opened.batches(), opened.entries()) {
        (FileKind::Log { .. }, _, None) => row(&own, &[], None, &on, chosen, choose),
        (FileKind::Log { .. }, Some(batches), Some(entries)) => {
            let entry = step.and_then(|step| step.entry);
            row(&own, &leads(entries, batches, &own), entry, &on, chosen, choose)
        }
        (_, Some(batches), Some(entries)) => {
            let target = part
                .and_then(|part| Parts::leads_to(part, batches))
                .map(|part| part.position);
            let log = strip(batches, Stored::Unknown, None, target);
            let on_log = |position: u64| Some(position) == target;
            html! {
                <>
                    { row(&own, &[], None, &on, chosen, choose) }
                    <p class="under">{ "The log beside it, and where the entries lead:" }</p>
                    { still(&log, &leads(entries, batches, &log), picked, &on_log) }
                </>
            }
        }
        _ => row(&own, &[], None, &on, chosen, choose),
    }
}

fn row(
    strip: &Strip,
    leads: &[Lead],
    lit: Option<u64>,
    on: &dyn Fn(u64) -> bool,
    chosen: &Chosen,
    choose: &Choose,
) -> Html {
    if strip.bars.is_empty() {
        return html! { <p class="empty">{ "The file is empty." }</p> };
    }
    let page = |first: Option<usize>, words: &'static str| {
        let next = Chosen {
            first,
            ..chosen.clone()
        };
        html! { <button class="btn small" disabled={first.is_none()} onclick={choose.reform(move |_| next.clone())}>{ words }</button> }
    };
    let bar = |bar: &Bar| {
        let next = chosen.pick(bar.part.position);
        let current = on(bar.part.position);
        html! { <button class={look(bar)} aria-pressed={current.to_string()} aria-label={words(bar)} title={words(bar)} onclick={choose.reform(move |_| next.clone())}>{ bar.part.label() }</button> }
    };
    html! {
        <>
            { grid(strip, leads, lit, &bar) }
            if strip.all > strip.bars.len() {
                <div class="row">{ page(strip.earlier(), "Earlier") }{ page(strip.later(), "Later") }
                    <span class="faint">{ format!("{} to {} of {}", strip.first + 1, strip.first + strip.bars.len(), strip.all) }</span></div>
            }
        </>
    }
}

/// A row that is only looked at.
fn still(strip: &Strip, leads: &[Lead], lit: Option<u64>, on: &dyn Fn(u64) -> bool) -> Html {
    let bar = |bar: &Bar| html! { <span class={classes!(look(bar), on(bar.part.position).then_some("on"))} title={words(bar)}>{ bar.part.label() }</span> };
    grid(strip, leads, lit, &bar)
}

fn grid(strip: &Strip, leads: &[Lead], lit: Option<u64>, bar: &dyn Fn(&Bar) -> Html) -> Html {
    let columns: Vec<String> = strip
        .bars
        .iter()
        .map(|bar| format!("minmax(24px,{}fr)", bar.part.length.max(1)))
        .collect();
    html! {
        <div class="strip" style={format!("grid-template-columns:{}", columns.join(" "))}>
            { for leads.iter().map(|lead| html! {
                <span class={classes!("lead", (lit == Some(lead.entry.position)).then_some("on"), (!lead.entry.sound).then_some("bad"))} style={format!("grid-column:{}/span {}", lead.column + 1, lead.span)} title={lead.entry.words()}>{ lead.entry.label() }</span>
            }) }
            { for strip.bars.iter().map(bar) }
            { for strip.bars.iter().map(|bar| html! { <small class="at">{ bar.part.position }</small> }) }
        </div>
    }
}

fn look(bar: &Bar) -> Classes {
    let layer = match bar.layer {
        Layer::Disk => "disk",
        Layer::Cache => "cache",
        Layer::Both(_) => "both",
    };
    let kind = match bar.part.is {
        Is::Room => "room",
        _ => layer,
    };
    classes!("b", kind, (!bar.part.sound).then_some("bad"))
}

fn words(bar: &Bar) -> String {
    let layer = match bar.layer {
        Layer::Disk => String::new(),
        Layer::Cache => ", in page cache only".to_owned(),
        Layer::Both(percent) => format!(", {percent} % on disk"),
    };
    let wrong = if bar.part.sound { "" } else { ", damaged" };
    format!(
        "{}: {} bytes from byte {}{layer}{wrong}",
        bar.part.words(),
        bar.part.length,
        bar.part.position
    )
}

/// The records of a batch, on demand.
fn records(shown: &Detail, chosen: &Chosen, choose: &Choose) -> Html {
    let Some(records) = &shown.records else { return html! {} };
    let toggled = Chosen {
        records: !chosen.records,
        record: None,
        ..chosen.clone()
    };
    html! {
        <div>
            <button class="btn small" aria-expanded={chosen.records.to_string()} onclick={choose.reform(move |_| toggled.clone())}>{ icon("right") }{ "Records of this batch" }</button>
            if chosen.records {
                { match records {
                    Err(why) => html! { <p class="soft" data-testid="records-closed">{ why.clone() }</p> },
                    Ok(rows) if rows.is_empty() => html! { <p class="soft">{ "It has none left." }</p> },
                    Ok(rows) => html! {
                        <table class="plain">
                            <thead><tr>{ for ["Offset", "Timestamp", "Key", "Value"].map(|name| html! { <th scope="col">{ name }</th> }) }</tr></thead>
                            <tbody>{ for rows.iter().enumerate().map(|(at, row)| {
                                let open = chosen.record == Some(at);
                                let next = Chosen { record: (!open).then_some(at), ..chosen.clone() };
                                html! { <tr><th scope="row"><button class="link" aria-pressed={open.to_string()} onclick={choose.reform(move |_| next.clone())}>{ row.offset }</button></th><td>{ row.timestamp }</td><td>{ row.key.clone() }</td><td>{ row.value.clone() }</td></tr> }
                            }) }</tbody>
                        </table>
                    },
                } }
            }
        </div>
    }
}

/// What the field that is lit means: beside its button, whose name stays the same whether it is lit or not.
const MEANING: &str = "field-meaning";

#[derive(Properties, PartialEq)]
struct BytesProps {
    detail: Rc<Detail>,
}

/// Fields in words with their bytes beside them; each lights the other.
#[component]
fn Bytes(props: &BytesProps) -> Html {
    let pointed = use_state(|| None::<usize>);
    let pinned = use_state(|| None::<usize>);
    {
        let (pointed, pinned) = (pointed.clone(), pinned.clone());
        use_effect_with(props.detail.title.clone(), move |_| {
            pointed.set(None);
            pinned.set(None);
        });
    }
    let detail = &props.detail;
    let lit = pointed.or(*pinned);
    let point = |field: Option<usize>| {
        let pointed = pointed.clone();
        move || pointed.set(field)
    };
    let hex = |row: &HexRow| {
        let indent = "   ".repeat(row.indent as usize);
        html! {
            <div class="r"><span class="o">{ row.at }</span><span>{ indent }{ for row.runs.iter().map(|run| {
                let on = point(run.field);
                html! { <b class={(run.field.is_some() && run.field == lit).then_some("on")} onpointerenter={Callback::from(move |_: PointerEvent| on())}>{ run.hex.clone() }</b> }
            }) }</span></div>
        }
    };
    let off = point(None);
    let away = Callback::from(move |_: PointerEvent| off());
    html! {
        <>
            <section class="bytes" aria-label="Bytes" tabindex="0" onpointerleave={away.clone()}>
                <div class="hex" role="img" aria-label={format!("The bytes of {}, also given field by field", detail.title)}>{ for detail.rows.iter().map(hex) }</div>
                if detail.hidden > 0 { <p class="faint">{ format!("{} more bytes", detail.hidden) }</p> }
            </section>
            <section class="meaning" aria-label="Fields" onpointerleave={away}>
                <h2>{ detail.title.clone() }</h2>
                <ul>{ for detail.fields.iter().enumerate().map(|(at, field)| {
                    let (on, focus, gone) = (point(Some(at)), point(Some(at)), point(None));
                    let pin = { let pinned = pinned.clone(); Callback::from(move |_: MouseEvent| pinned.set((*pinned != Some(at)).then_some(at))) };
                    html! {
                        <li key={at} class={classes!("fd", (lit == Some(at)).then_some("on"), (*pinned == Some(at)).then_some("pinned"))}>
                            <button aria-pressed={(*pinned == Some(at)).to_string()} aria-describedby={(lit == Some(at)).then_some(MEANING)} onclick={pin}
                                onpointerenter={Callback::from(move |_: PointerEvent| on())} onfocus={Callback::from(move |_: FocusEvent| focus())} onblur={Callback::from(move |_: FocusEvent| gone())}>
                                <span>{ in_words(field.name) }</span><code>{ field.value.clone() }</code>
                            </button>
                            if lit == Some(at) { <small id={MEANING}>{ format!("{} B at {}. {}", field.length, field.position, field.meaning) }</small> }
                        </li>
                    }
                }) }</ul>
                if let Some(note) = detail.note { <p class="under">{ note }</p> }
            </section>
        </>
    }
}
