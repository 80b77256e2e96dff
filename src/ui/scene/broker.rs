//! A broker's row: process, page cache and disk, always in this order. A broken layer is drawn broken.

use std::rc::Rc;

use yew::prelude::*;

use super::{Frame, Ground, Spot, is_long};
use crate::ui::act::{Act, Subject};
use crate::ui::icons::icon;
use crate::ui::view::stage::{BrokerRow, Cell, Health, Layer, News, Role, Segment, Standing};
use crate::ui::view::stretch::{Stretch, stretches};

#[derive(Properties, PartialEq)]
pub struct BrokerProps {
    pub row: Rc<BrokerRow>,
    pub frame: Frame,
    pub line: usize,
    pub size: Size,
    /// How many columns the words of a mark may take.
    pub words: i64,
    /// What stands under the row.
    pub children: Html,
}

/// How much of a broker is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Everything.
    Whole,
    /// Its log as marks on the same axis, where there is room for one broker only.
    Small,
}

/// One broker.
#[component]
pub fn Broker(props: &BrokerProps) -> Html {
    let BrokerProps {
        row,
        frame,
        line,
        size,
        words,
        children,
    } = props;
    let id = row.id;
    let act = frame.ground.act.clone();
    let class = match row.health {
        Health::Killed | Health::Dark => "lane broker down",
        Health::Paused => "lane broker paused",
        _ => "lane broker",
    };
    let class = classes!(class, (*size == Size::Small).then_some("small"));
    let verb = if row.health.has_process() { "Break" } else { "Start" };
    html! {
        <div {class} style={format!("grid-row:{line}")} role="group" aria-label={spoken(row)} data-testid={format!("broker-{id}")}>
            <div class="who">
                <div class="title">
                    <button aria-pressed={(frame.ground.selected == Some(Subject::Broker(id))).to_string()} onclick={act.reform(move |_| Act::Inspect(Some(Subject::Broker(id))))}>{ format!("Broker {id}") }</button>
                    { badge(row) }
                </div>
                <div class={classes!("note", row.cells.iter().any(|cell| cell.standing == Standing::Doomed).then_some("bad"))}>{ row.note.to_string() }</div>
                <div class="act">
                    <button class="btn small" id={format!("faults-{id}")} aria-haspopup="dialog" onclick={act.reform(move |_| Act::OpenFaults(id))} aria-label={format!("{verb} broker {id}: what can happen to it")}>
                        { verb }{ icon("down") }
                    </button>
                </div>
                <span class="layer p">{ "process" }</span><span class="layer c">{ "page cache" }</span><span class="layer d">{ "disk" }</span>
            </div>
            <div class="track">
                <div class="shift" style={frame.shift()}>
                    { marks_below(row, frame) }
                    // A list of its own: among others without a key, every record would be drawn anew at each step.
                    <>{ for stretches(row).map(|(key, cells)| html! { <Cells {key} {cells} broker={id} size={*size} ground={frame.ground.clone()}/> }) }</>
                    { marks_above(row, frame, *words) }
                </div>
                // The words stand where no record does; the records that went with the page cache are drawn in it.
                if !row.health.has_process() {
                    <div class="broken process">{ if row.health == Health::Dark { "process and page cache went with the power" } else { "no process: what it knew is gone" } }</div>
                }
                if row.health == Health::Dark {
                    <div class="broken cache"></div>
                }
            </div>
            { children.clone() }
        </div>
    }
}

fn spoken(row: &BrokerRow) -> String {
    let role = badge_word(row);
    let segments: Vec<String> = row.segments.iter().map(segment_words).collect();
    let standing = match row.high_watermark {
        Some(mark) => format!(
            "Broker {}, {role}, log end {}, high watermark {}. {}",
            row.id, row.log_end.at, mark.at, row.note
        ),
        None => format!("Broker {}, {role}, log end {}. {}", row.id, row.log_end.at, row.note),
    };
    format!("{standing}. Segments: {}", segments.join("; "))
}

fn badge_word(row: &BrokerRow) -> &'static str {
    row.health.word().unwrap_or(row.role.word())
}

fn badge(row: &BrokerRow) -> Html {
    let word = badge_word(row);
    let kind = match (row.health, row.role) {
        (Health::Up, Role::Leader) => "leader",
        (Health::Up, Role::FormerLeader) => "former",
        (Health::Up, Role::InSync | Role::NoReplica) => "",
        (Health::Up, Role::OutOfSync) | (Health::Fenced | Health::Starting | Health::Stopping, _) => "out",
        (Health::Paused | Health::Killed | Health::Dark, _) => "bad",
    };
    html! {
        <>
            <span class={classes!("badge", kind, row.changed.then_some("changed"))}>
                if kind == "leader" || kind == "former" { { icon("crown") } }
                { word }
            </span>
            // Beside another badge there is room for the crown alone.
            if row.role == Role::FormerLeader && row.health != Health::Up { <span class="badge former" title={row.role.word()}>{ icon("crown") }<span class="sr">{ row.role.word() }</span></span> }
        </>
    }
}

/// What lies under the cells: the committed part, the segments.
fn marks_below(row: &BrokerRow, frame: &Frame) -> Html {
    html! {
        <>
            if let Some(mark) = row.high_watermark {
                <div class="water" style={frame.ground.at(mark.at)}></div>
            }
            <div class="segments" aria-hidden="true">
                { for row.segments.iter().filter(|segment| segment.next.max(segment.base + 1) > frame.window.start).map(|segment| {
                    let start = segment.base.max(frame.window.start);
                    let width = (segment.next.min(frame.window.end) - start).max(1);
                    let style = format!("{};--n:{width}", frame.ground.at(start));
                    let class = classes!(segment.active.then_some("active"), segment.news.map(|_| "changed"));
                    let words = segment_words(segment);
                    html! { <i key={segment.base} {class} {style} title={format!("segment {words}")}>{ words }</i> }
                }) }
            </div>
            if row.log_start > 0 && frame.window.shows(row.log_start) {
                <div class="logstart" style={frame.ground.at(row.log_start)}>
                    if row.log_start - frame.window.start >= 3 { <span>{ format!("log start {}", row.log_start) }</span> }
                </div>
            }
        </>
    }
}

/// A segment's first offset, whether it is the active one, and what this step did to it.
fn segment_words(segment: &Segment) -> String {
    let mut words = segment.base.to_string();
    for word in segment
        .active
        .then_some("active")
        .into_iter()
        .chain(segment.news.map(News::word))
    {
        words.push_str(", ");
        words.push_str(word);
    }
    words
}

/// What lies over the cells: log end and high watermark.
fn marks_above(row: &BrokerRow, frame: &Frame, words: i64) -> Html {
    // Under the words of the log's end a record may lie that is no longer in it.
    let over_ghost = |cell: &Cell| {
        cell.offset == row.log_end.at && cell.layer == Layer::Disk && matches!(cell.standing, Standing::Ghost(_))
    };
    let raised = row.cells.iter().any(over_ghost).then_some("raised");
    // A mark out of view has no line: its words alone stand at the edge.
    let pinned = |class: &'static str, name: &str, offset: i64, more: Classes| {
        let (at, sign) = frame.window.pin(offset);
        let last = (at >= frame.window.end - words).then_some("last");
        let off = (at != offset).then_some("off");
        html! { <div class={classes!(class, off, last, more)} style={frame.ground.at(at)}><span>{ format!("{sign}{name} {offset}") }</span></div> }
    };
    html! {
        <>
            if let Some(mark) = row.high_watermark {
                { pinned("hw", "HW", mark.at, classes!(mark.changed.then_some("changed"))) }
            }
            { pinned("leo", "LEO", row.log_end.at, classes!(raised)) }
        </>
    }
}

/// A record keeps its element while it stays at its offset; a ghost is another element than what took its place.
fn cell_key(cell: &Cell) -> String {
    format!("{}/{}", cell.label, cell.offset)
}

fn class_of(cell: &Cell) -> Classes {
    classes!(
        "cell",
        match (&cell.standing, cell.layer) {
            (Standing::Ghost(_), Layer::Cache) => "ghost",
            (Standing::Ghost(_), Layer::Disk) => "ghost sunk",
            (Standing::Doomed, Layer::Cache) => "doomed",
            (Standing::Doomed, Layer::Disk) => "doomed sunk",
            (_, Layer::Cache) => "cache",
            (_, Layer::Disk) => "disk",
        },
        is_long(&cell.label).then_some("long"),
        cell.changed.then_some("changed"),
        cell.fresh.then_some("fresh"),
    )
}

#[derive(Properties, PartialEq)]
struct CellsProps {
    cells: Stretch<BrokerRow>,
    broker: u16,
    size: Size,
    ground: Ground,
}

/// The records of one broker in one block of columns.
#[component]
fn Cells(props: &CellsProps) -> Html {
    let CellsProps {
        cells,
        broker,
        size,
        ground,
    } = props;
    let draw = |(at, cell): (usize, &Cell)| match size {
        Size::Small => html! { <i key={cell_key(cell)} class={class_of(cell)} style={ground.at(cell.offset)}></i> },
        Size::Whole => {
            let spot = ground.spot(Subject::Record(cell.record.0, cell.record.1), cell.offset);
            html! { <CellView key={cell_key(cell)} cell={cell.clone()} broker={*broker} first={at == 0 && cells.is_first()} {spot}/> }
        }
    };
    html! { <>{ for cells.records().iter().enumerate().map(draw) }</> }
}

#[derive(Properties, PartialEq)]
struct CellProps {
    cell: Cell,
    broker: u16,
    first: bool,
    spot: Spot,
}

/// One record on one broker.
#[component]
fn CellView(props: &CellProps) -> Html {
    let CellProps {
        cell,
        broker,
        first,
        spot,
    } = props;
    html! {
        <button class={class_of(cell)} style={spot.style()} tabindex={if *first { "0" } else { "-1" }} data-cell={format!("{broker}/{}", cell.offset)} aria-pressed={spot.pressed.to_string()} aria-label={cell.spoken.to_string()} title={cell.spoken.to_string()}
            onclick={spot.click()}>
            <span>{ cell.label.to_string() }</span>
            if let Some(epoch) = cell.epoch { <sup data-epoch={format!("e{epoch}")}></sup> }
        </button>
    }
}
