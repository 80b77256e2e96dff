//! The scene: one row a node, all on the same offset axis, messages between them.
//!
//! Each row is a component of its own, compared by content, so that a step draws only the rows it touched. Rows of a kind
//! are a list of their own (`<>…</>`): keys count only in lists where everything has one.

mod broker;
mod clients;
mod flight;

use std::rc::Rc;

use yew::prelude::*;

use crate::sorted::SortedSet;
use crate::ui::act::{Act, Subject, Zoom};
use crate::ui::icons::icon;
use crate::ui::view::names::cut;
use crate::ui::view::stage::{Flight, Leg, Link, Path, Row, Stage, Window};
use broker::{Broker, Size};
use clients::{Consumer, Controller, Producer};
use flight::Flying;

/// How the scene came to be what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// One step was taken: its messages fly, and what else changed moves at once.
    Step,
    /// Steps follow one another: everything moves about until the next.
    Flow,
    /// One went elsewhere in time: the exact state at once.
    Still,
}

impl Motion {
    /// The classes of the scene. What moves, and for how long, hangs on them in the style sheet.
    fn classes(self) -> Classes {
        match self {
            Motion::Step => classes!("moving"),
            Motion::Flow => classes!("moving", "flow"),
            Motion::Still => Classes::new(),
        }
    }
}

/// Whether a label fills a column, so that it is set smaller.
fn is_long(label: &str) -> bool {
    label.chars().count() > 4
}

/// Columns are placed from here, so that their coordinates stay small in a log of any length.
pub fn base_of(window: Window) -> i64 {
    window.start - window.start % 4096
}

/// What every row needs besides its own data.
#[derive(Clone, PartialEq)]
pub struct Frame {
    /// The columns.
    pub window: Window,
    /// What the records in them need.
    pub ground: Ground,
}

/// What the records of all rows need of the frame. It stays the same while the window moves over them, so that those that
/// did not change are not drawn again.
#[derive(Clone, PartialEq)]
pub struct Ground {
    /// The column that places are counted from, as [`base_of`] gives it.
    pub base: i64,
    /// What is inspected.
    pub selected: Option<Subject>,
    /// The offsets picked as an answer, while a question asks for them.
    pub picked: Option<Rc<SortedSet<i64>>>,
    /// Where acts go.
    pub act: Callback<Act>,
}

impl Frame {
    /// The style of a track's moving part.
    pub fn shift(&self) -> String {
        format!("--from:{}", self.window.start - self.ground.base)
    }
}

impl Ground {
    /// What the element of one record needs.
    pub fn spot(&self, subject: Subject, offset: i64) -> Spot {
        Spot {
            at: offset - self.base,
            offset,
            subject,
            pressed: match &self.picked {
                Some(picked) => picked.contains(&offset),
                None => self.selected == Some(subject),
            },
            picks: self.picked.is_some(),
            act: self.act.clone(),
        }
    }

    /// The style of something at an offset.
    pub fn at(&self, offset: i64) -> String {
        format!("--o:{}", offset - self.base)
    }
}

/// What the element of one record needs of the ground.
#[derive(Clone, PartialEq)]
pub struct Spot {
    at: i64,
    offset: i64,
    subject: Subject,
    picks: bool,
    act: Callback<Act>,
    /// Whether it is picked where a question asks for records, or else inspected.
    pub pressed: bool,
}

impl Spot {
    /// Where it stands, as a style.
    pub fn style(&self) -> String {
        format!("--o:{}", self.at)
    }

    /// What a click does: the record is inspected, or picked where a question asks for records.
    pub fn click(&self) -> Callback<MouseEvent> {
        let (picks, offset, subject) = (self.picks, self.offset, self.subject);
        self.act.reform(move |_| {
            if picks {
                Act::Pick(offset)
            } else {
                Act::Inspect(Some(subject))
            }
        })
    }
}

/// Properties of the scene.
#[derive(Properties, PartialEq)]
pub struct SceneProps {
    /// What to draw.
    pub stage: Rc<Stage>,
    /// All partitions at once, where there are several.
    pub overview: Html,
    /// What stands under some of the rows.
    pub under: Rc<Vec<(Row, Html)>>,
    /// The only broker that is shown whole, where there is room for one.
    pub detail: Option<u16>,
    /// How wide the columns are.
    pub zoom: Zoom,
    /// How it came to be what it is.
    pub motion: Motion,
    /// For how long all moves while steps follow one another, milliseconds. Everything in the scene inherits it, so that it
    /// had better stay the same.
    pub flow: u32,
    /// The frame of all rows.
    pub frame: Frame,
    /// Where the measured width goes: the first track.
    pub track: NodeRef,
}

/// The scene of one partition.
#[component]
pub fn Scene(props: &SceneProps) -> Html {
    let stage = &props.stage;
    let frame = &props.frame;
    let place = Placement::of(stage);
    let act = frame.ground.act.clone();
    let flights = stage.flights.iter().enumerate().filter_map(|(index, flight)| {
        let (from, to) = (place.line(flight.from)?, place.line(flight.to)?);
        // Labels whose middles lie near one another are set below one another.
        let middle = |flight: &Flight| Some(place.line(flight.from)? + place.line(flight.to)?);
        let mine = from + to;
        let near = |flight: &&Flight| middle(flight).is_some_and(|other| other.abs_diff(mine) <= 1);
        let (stack, lane) = (stage.flights[..index].iter().filter(near).count(), index.min(4));
        let key = format!("{}/{}", flight.key, matches!(flight.leg, Leg::Arriving));
        Some(html! { <Flying {key} flight={flight.clone()} {from} {to} {lane} {stack} motion={props.motion}/> })
    });
    let (name, title) = cut(&stage.partition);
    html! {
        <section class={classes!("scene", props.zoom.class(), props.motion.classes())} style={format!("--flow:{}ms", props.flow)} aria-label={format!("Cluster, partition {}", stage.partition)} data-testid="scene">
            <div class="scene-head">
                <h2 {title}>{ name }</h2>
                // A narrow window has no room for the layers' names at every broker.
                <span class="grow"><span class="legend">{ "page cache above disk" }</span></span>
                <Paging window={frame.window} act={act.clone()}/>
                <ZoomButtons zoom={props.zoom} act={act.clone()}/>
                { props.overview.clone() }
            </div>
            <>{ for stage.producers.iter().map(|lane| html! { <Producer key={lane.client} lane={lane.clone()} frame={frame.clone()} line={place.line(Row::Client(lane.client)).unwrap_or(1)}/> }) }</>
            <Axis frame={frame.clone()} every={props.zoom.offsets_every(frame.window.end)} track={props.track.clone()} line={place.axis}/>
            <>{ for stage.brokers.iter().map(|row| {
                let under = under(&props.under, Row::Broker(row.id));
                let size = if props.detail.is_none_or(|detail| detail == row.id) { Size::Whole } else { Size::Small };
                html! { <Broker key={row.id} row={row.clone()} frame={frame.clone()} line={place.line(Row::Broker(row.id)).unwrap_or(1)} {size} words={props.zoom.words()}>{ under }</Broker> }
            }) }</>
            <>{ for stage.consumers.iter().map(|lane| html! { <Consumer key={lane.client} lane={lane.clone()} frame={frame.clone()} line={place.line(Row::Client(lane.client)).unwrap_or(1)}/> }) }</>
            <Controller lane={stage.controller.clone()} line={place.controller}>{ under(&props.under, Row::Controller) }</Controller>
            <>{ for stage.links.iter().map(|link| html! { <LinkButton key={anchor(link)} link={link.clone()} line={place.boundary(link).unwrap_or(1)} act={act.clone()}/> }) }</>
            <>{ for flights }</>
        </section>
    }
}

/// What stands under a row.
fn under(all: &[(Row, Html)], row: Row) -> Html {
    let found = all.iter().find(|(other, _)| *other == row);
    found.map_or_else(Html::default, |(_, under)| under.clone())
}

/// Which line of the grid each row stands in; the scene's head is line 1.
struct Placement {
    producers: Vec<u16>,
    brokers: Vec<u16>,
    consumers: Vec<u16>,
    axis: usize,
    controller: usize,
}

impl Placement {
    fn of(stage: &Stage) -> Placement {
        let producers: Vec<u16> = stage.producers.iter().map(|lane| lane.client).collect();
        let brokers: Vec<u16> = stage.brokers.iter().map(|row| row.id).collect();
        let consumers: Vec<u16> = stage.consumers.iter().map(|lane| lane.client).collect();
        let axis = producers.len() + 2;
        let controller = axis + brokers.len() + consumers.len() + 1;
        Placement {
            producers,
            brokers,
            consumers,
            axis,
            controller,
        }
    }

    /// The line whose upper edge parts the ends of a path where its button stands: that of the row nearer to the foot of
    /// two neighbours, of a reader or of the controller, and for a producer the one below it.
    fn boundary(&self, link: &Link) -> Option<usize> {
        let (one, other) = (self.line(link.ends.0)?, self.line(link.ends.1)?);
        Some(if one < self.axis { one + 1 } else { one.max(other) })
    }

    fn line(&self, row: Row) -> Option<usize> {
        let find = |ids: &[u16], id: u16| ids.iter().position(|other| *other == id);
        match row {
            Row::Controller => Some(self.controller),
            Row::Broker(id) => find(&self.brokers, id).map(|at| self.axis + 1 + at),
            Row::Client(id) => find(&self.producers, id)
                .map(|at| at + 2)
                .or_else(|| find(&self.consumers, id).map(|at| self.axis + 1 + self.brokers.len() + at)),
        }
    }
}

#[derive(Properties, PartialEq)]
struct AxisProps {
    frame: Frame,
    /// From one column that has its offset written to the next.
    every: i64,
    track: NodeRef,
    line: usize,
}

/// The offsets in view.
#[component]
fn Axis(props: &AxisProps) -> Html {
    let window = props.frame.window;
    let written = (window.start..window.end).filter(|offset| offset % props.every == 0);
    html! {
        <div class="lane axis" style={format!("grid-row:{}", props.line)}>
            <div class="who">{ "offset" }</div>
            <div class="track" ref={props.track.clone()}>
                <div class="shift" style={props.frame.shift()} aria-hidden="true">
                    { for written.map(|offset| html! { <span key={offset} style={props.frame.ground.at(offset)}>{ offset }</span> }) }
                </div>
            </div>
        </div>
    }
}

fn anchor(link: &Link) -> String {
    format!("link-{}-{}", link.ends.0.id(), link.ends.1.id())
}

#[derive(Properties, PartialEq)]
struct LinkProps {
    link: Link,
    line: usize,
    act: Callback<Act>,
}

/// What can happen to the path between two rows, on the border between them.
#[component]
fn LinkButton(props: &LinkProps) -> Html {
    let link = &props.link;
    let (a, b) = link.ends;
    let (kind, glyph, words) = match link.path {
        Path::Whole => ("", "link", "whole"),
        Path::Losing => ("bad", "cross", "where a message will be lost"),
        Path::HalfCut => ("bad", "cut", "cut one way"),
        Path::Cut => ("bad", "cut", "cut"),
    };
    let label = format!("Path between {}, {words}: what can happen to it", link.names);
    html! {
        <button id={anchor(link)} class={classes!("link-button", kind)} style={format!("grid-row:{}", props.line)} aria-haspopup="dialog" aria-label={label.clone()} title={label} onclick={props.act.reform(move |_| Act::OpenLink(a, b))}>{ icon(glyph) }</button>
    }
}

#[derive(Properties, PartialEq)]
struct PagingProps {
    window: Window,
    act: Callback<Act>,
}

/// The way to records out of view, where there are any.
#[component]
fn Paging(props: &PagingProps) -> Html {
    let PagingProps { window, act } = props;
    let half = ((window.end - window.start) / 2).max(1);
    let go = |to: Option<i64>| act.reform(move |_: MouseEvent| Act::Window(to));
    html! {
        <span class="row" role="group" aria-label="Records out of view">
            if window.has_earlier() {
                <button class="btn small quiet square" onclick={go(Some((window.start - half).max(0)))} aria-label="Earlier records" title="Earlier records">{ icon("left") }</button>
            }
            if window.has_later() {
                <button class="btn small quiet square" onclick={go(Some(window.start + half))} aria-label="Later records" title="Later records">{ icon("right") }</button>
                <button class="btn small quiet square" onclick={go(None)} aria-label="Follow the log's end" title="Follow the log's end">{ icon("end") }</button>
            }
        </span>
    }
}

#[derive(Properties, PartialEq)]
struct ZoomProps {
    zoom: Zoom,
    act: Callback<Act>,
}

/// Wider and narrower columns.
#[component]
fn ZoomButtons(props: &ZoomProps) -> Html {
    let to = |zoom: Zoom| props.act.reform(move |_: MouseEvent| Act::Zoom(zoom));
    html! {
        <span class="row" role="group" aria-label="Column width">
            <button class="btn small quiet square" disabled={props.zoom == Zoom::Farthest} onclick={to(props.zoom.farther())} aria-label="Narrower columns" title="Narrower columns">{ icon("minus") }</button>
            <button class="btn small quiet square" disabled={props.zoom == Zoom::Near} onclick={to(props.zoom.nearer())} aria-label="Wider columns" title="Wider columns">{ icon("plus") }</button>
        </span>
    }
}
