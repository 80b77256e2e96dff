//! The whole page: it holds the state, draws it, and turns keys, timers and the address into acts.
//!
//! A frame is drawn when something has changed and never otherwise: while nothing plays there is no timer, and motion is
//! the browser's affair.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_render::{AnimationFrame, request_animation_frame};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::act::{Act, Drawer, Go, Zoom};
use super::browser::{self, Listening, Settings};
use super::coming::coming;
use super::dialogs::Dialog;
use super::drawers::{Drawers, Ledger};
use super::icons::{brand, icon};
use super::inspector::InspectorPane;
use super::keys::{self, Asked};
use super::knobs::Knobs;
use super::later::views::Views;
use super::later::{self, Arriving, when_here};
use super::page::{OWN, Page, Place, Stored, Way};
use super::playground::PLAYGROUND;
use super::scene::{Frame, Ground, Motion, Scene, base_of};
use super::session::{Direction, Session};
use super::start;
use super::terms::Words;
use super::transport::Transport;
use super::view::look::Look;
use super::view::panels::thin;
use super::view::stage::{Stage, Window};
use super::view::{inspect, knobs, lanes, ledger, names, rows, told, wire};
use crate::ui::reading::Reading;

/// Columns of the ledger.
const LEDGER_COLUMNS: usize = 24;
/// The longest flight while steps follow one another, milliseconds; that of a single step is the style sheet's.
const FLIGHT: u32 = 600;
/// How much longer than to the next step moves take while it plays, milliseconds: the next step ends them.
const LINGER: u32 = 40;

/// The page.
#[component]
pub fn App() -> Html {
    let page = use_mut_ref(begin);
    let update = use_force_update();
    let settings = use_state(Settings::kept);
    let dialog = use_state(|| None::<Dialog>);
    let waits = use_mut_ref(|| false);
    let track = use_node_ref();
    let room = use_state(|| Room {
        width: 468,
        narrow: browser::matches("(max-width: 640px)"),
    });

    let dragged = use_mut_ref(|| None::<AnimationFrame>);
    let perform = {
        let (page, update) = (page.clone(), update.clone());
        use_callback((), move |act: Act, ()| {
            if matches!(act, Act::Go(Go::To(_))) {
                page.borrow_mut().perform(act);
                return draw_dragged(&dragged, &page, &update);
            }
            let closes = matches!(act, Act::Close | Act::Fault(..))
                .then(|| page.borrow().menu)
                .flatten();
            // A file of somebody's own has no address, but it stands at another place than the list.
            if matches!(act, Act::OpenLesson(..)) {
                browser::name_place(OWN);
            }
            if matches!(act, Act::Copy) {
                copy_scene(&page, &update);
            }
            let region = keys::region();
            let arrives = matches!(act, Act::Fetched(..));
            page.borrow_mut().perform(act);
            name_place(&page.borrow().place);
            if let Some(menu) = closes {
                keys::focus(&menu.anchor());
            }
            keep(&page);
            update.force_update();
            if arrives {
                keys::arrive(region);
            } else {
                keys::regain(region);
            }
        })
    };
    let act = {
        let perform = perform.clone();
        use_callback((), move |act: Act, ()| {
            if !act.needs_later() {
                return perform.emit(act);
            }
            let then = perform.clone();
            when_here(&perform, move || then.emit(act));
        })
    };

    use_effect_with(*settings, |settings| settings.apply());
    {
        // From here on a crash is one of this document, no longer the one that it was loaded to recover from.
        let page = page.clone();
        use_effect_with((), move |()| keep(&page));
    }
    use_address(page.clone(), update.clone());
    use_clock(page.clone(), update.clone());
    {
        let act = act.clone();
        use_effect_with(page.borrow().wanted(), move |wanted| {
            if let Some(slug) = wanted.clone() {
                browser::fetch_lesson(slug, act);
            }
        });
    }
    {
        let act = act.clone();
        use_effect_with(page.borrow().waits_to_read(), move |waits| {
            if *waits {
                // That it has arrived is told already.
                when_here(&act, || ());
            }
        });
    }
    use_drop(page.clone(), act.clone());
    use_keys(act.clone(), dialog.clone(), waits, settings.keys);
    let shown = page.borrow().session.is_some();
    use_width(track.clone(), room.clone(), shown);

    let open = |which: Dialog| {
        let (dialog, act) = (dialog.clone(), act.clone());
        Callback::from(move |_: MouseEvent| {
            let dialog = dialog.clone();
            when_here(&act, move || dialog.set(Some(which)));
        })
    };
    let close = {
        let dialog = dialog.clone();
        Callback::from(move |()| dialog.set(None))
    };
    let state = page.borrow();
    html! {
        <div class="page">
            <a class="skip" href="#main" onclick={Callback::from(|event: MouseEvent| { event.prevent_default(); keys::focus("main"); })}>{ "To the cluster" }</a>
            { header(&state.place, open(Dialog::Settings), open(Dialog::Help)) }
            { body(&state, &act, *room, settings.is_still(), track) }
            if let Some(which) = *dialog {
                { later(&act, |views| (views.dialog)(which, &settings, close)) }
            }
        </div>
    }
}

/// Draws, in the next frame, where the slider is by then: it is dragged over more places than there are frames.
fn draw_dragged(
    dragged: &Rc<RefCell<Option<AnimationFrame>>>,
    page: &Rc<RefCell<Page>>,
    update: &UseForceUpdateHandle,
) {
    if dragged.borrow().is_some() {
        return;
    }
    let (here, page, update) = (dragged.clone(), page.clone(), update.clone());
    let draw = move |_| {
        here.take();
        keep(&page);
        update.force_update();
    };
    *dragged.borrow_mut() = Some(request_animation_frame(draw));
}

/// The state at the start: what was kept, the address, and the run that a crash has interrupted.
fn begin() -> Page {
    let mut page = Page::landing();
    // In a low, wide window the drawer would leave the scene no room.
    if !browser::matches("(min-height: 820px)") && !browser::matches("(max-width: 900px)") {
        page.drawer = None;
    }
    page.recalled = browser::kept_while_open(browser::PLAYGROUND);
    page.visit(&browser::window().location().hash().unwrap_or_default());
    page.take_stored(Stored {
        progress: browser::kept(browser::PROGRESS),
        run: browser::crashed_run(),
    });
    page
}

/// Copies the scene as text, and says what came of it.
fn copy_scene(page: &Rc<RefCell<Page>>, update: &UseForceUpdateHandle) {
    let text = page.borrow().session.as_ref().map(Session::scenario);
    let Some(text) = text else { return };
    let (page, update) = (page.clone(), update.clone());
    browser::copy(&text, move |copied| {
        page.borrow_mut().perform(Act::Copied(copied));
        update.force_update();
    });
}

/// Keeps everything, also what was left elsewhere.
fn keep(page: &Rc<RefCell<Page>>) {
    let page = page.borrow();
    keep_run(&page);
    keep_playground(&page);
}

/// Keeps what a step has changed.
fn keep_step(page: &Rc<RefCell<Page>>) {
    let page = page.borrow();
    keep_run(&page);
    if matches!(page.place, Place::Playground(_)) {
        keep_playground(&page);
    }
}

/// Keeps progress, and the run for the case that the engine stops.
fn keep_run(page: &Page) {
    if let Some(progress) = page.progress_to_keep() {
        browser::keep(browser::PROGRESS, &progress);
    }
    if page.is_written_later() {
        return;
    }
    if let Some(kept) = page.kept() {
        browser::keep_while_open(browser::RESUME, &kept.to_text());
    }
}

/// Keeps the playground for the case that the page is loaded again.
fn keep_playground(page: &Page) {
    if page.is_written_later() {
        return;
    }
    if let Some(text) = later::get().and_then(|later| (later.kept_playground)(page)) {
        browser::keep_while_open(browser::PLAYGROUND, &text);
    }
}

/// What is played on the playground has the address of its story, or none of its own.
fn name_place(place: &Place) {
    let Place::Playground(playground) = place else { return };
    let (named, here) = (playground.address(), browser::window().location().hash());
    if here.is_ok_and(|here| here.trim_matches(['#', '/']) != named) {
        browser::name_place(&format!("#/{named}"));
    }
}

fn header(place: &Place, settings: Callback<MouseEvent>, help: Callback<MouseEvent>) -> Html {
    let free = match place {
        Place::Coming { slug, .. } => slug.starts_with(PLAYGROUND),
        place => matches!(place, Place::Playground(_)),
    };
    let landing = matches!(place, Place::Landing(_));
    let lessons = !landing && !free;
    html! {
        <header class="top">
            <a class="brand" href="#/" aria-current={landing.then_some("page")}>{ brand() }<span>{ "Highwater" }</span></a>
            <nav aria-label="Pages"><a href="#/lessons" aria-current={lessons.then_some("page")}>{ "Lessons" }</a><a href="#/playground" aria-current={free.then_some("page")}>{ "Playground" }</a></nav>
            <span class="grow"></span>
            <button class="btn quiet" onclick={settings} aria-label="Settings of the page">{ icon("sliders") }<span class="label">{ "Settings" }</span></button>
            <button class="btn quiet" onclick={help} aria-label="Help: keys"><span class="label">{ "Help" }</span><kbd>{ "?" }</kbd></button>
        </header>
    }
}

fn body(page: &Page, act: &Callback<Act>, room: Room, still: bool, track: NodeRef) -> Html {
    match (&page.place, &page.session) {
        (Place::Lessons, _) => {
            html! { <>{ notice(page, act) }{ later_page(act, |views| (views.lessons)(page, act)) }</> }
        }
        (Place::Coming { slug, failed }, _) => coming(slug, failed.as_deref(), act),
        (Place::Fidelity(blocks), _) => later_page(act, |views| (views.fidelity)(blocks)),
        (Place::Broken { slug, faults }, _) => later_page(act, |views| (views.broken)(slug, faults)),
        (Place::Stores(reading, stores), _) => later_page(act, |views| {
            (views.stores)(page, reading, stores, notice(page, act), act)
        }),
        (Place::Landing(_) | Place::Lesson(_) | Place::Playground(_), None) => html! {},
        (Place::Landing(_) | Place::Lesson(_) | Place::Playground(_), Some(session)) => {
            cluster(page, session, act, room, still, track)
        }
    }
}

fn cluster(page: &Page, session: &Session, act: &Callback<Act>, room: Room, still: bool, track: NodeRef) -> Html {
    let look = session.look();
    let step = session.step_number();
    let reading = match &page.place {
        Place::Lesson(reading) => Some(&**reading),
        _ => None,
    };
    let (written, picking) = reading.zip(later::get()).map_or((None, false), |(reading, later)| {
        (later.views.of_lesson)(reading, session)
    });
    let (first, last) = (look.first_offset(), look.last_offset());
    // While a question asks for records, all of them are in view if there is any way.
    let zoom = match picking {
        true => page.zoom.with_room_for(last - first, |zoom| room.columns(zoom)),
        false => page.zoom,
    };
    let window = match picking {
        true => Window::of_all(first, last, room.columns(zoom), page.window),
        false => Window::place(first, last + lanes::waiting(&look), room.columns(zoom), page.window),
    };
    let stage = Rc::new(stage(page, session, &look, window));
    let told = told::caption(&look).filter(|_| step > 0);
    let (caption, drawn) = written.map_or((None, None), |(said, drawn)| (Some(said), Some(drawn)));
    let caption = caption.or(told).unwrap_or_else(|| at_rest(session, reading));
    let drawn = drawn.unwrap_or_else(|| html! { <Words text={caption.clone()}/> });
    let broken = told::broken(&look);
    let now = names::time(look.world.now());
    let ground = Ground {
        base: base_of(window),
        selected: page.selected,
        picked: picking.then(|| Rc::new(page.picked.clone())),
        act: act.clone(),
    };
    let frame = Frame { window, ground };
    let speed = page.speed;
    let motion = motion(page, still);
    let flow = FLIGHT.min(page.chosen_pace() + LINGER);
    // A scenario of somebody's own can be played to its end at once; a lesson has its stops.
    let more_to_come = matches!(page.place, Place::Playground(_)) && session.has_more_to_play();
    let marks = session.marks();
    let also = broken.as_ref().map_or_else(String::new, |broken| format!(" {broken}"));
    let spoken: Rc<str> = format!("Step {step} of {}, {now}. {caption}{also}", session.steps()).into();
    let quiet = page.playing && page.pace() < 1_000;
    let refused = page.refused.as_ref();
    let refused = refused.map(|(name, why)| (AttrValue::from(*name), AttrValue::from(why.to_string())));
    // Where there is little room, the cluster comes before what can be set.
    let settled = html! { <Settled knobs={Rc::new(knobs::knobs(&look, session.begun()))} {refused} can_produce={session.can_produce()} act={act.clone()}/> };
    let beyond = later::get().map(|here| &here.views);
    let under = Rc::new(beyond.map_or_else(Vec::new, |views| (views.under_rows)(session)));
    let overview = beyond.map_or_else(Html::default, |views| (views.overview)(session, act));
    let inspected = page.selected.and_then(|subject| match beyond {
        Some(views) => (views.inspected)(session, subject, act),
        None => Some(html! { <section>{ wait(act) }</section> }),
    });
    // A story is read before its cluster; the playground's pane is only written to.
    let behind = room.narrow && matches!(page.place, Place::Playground(_));
    let detail = room.narrow.then(|| in_detail(page, &stage)).flatten();
    html! {
        <>
            if !behind {
                <aside class="left" id="pane" tabindex="-1" aria-label={match page.place { Place::Lesson(_) => "Lesson", Place::Playground(_) => "Playground", _ => "Start" }}>
                    { left(page, session, reading, act) }
                    if !room.narrow { { settled.clone() } }
                </aside>
            }
            <div class="middle">
                <main class="mid" id="main" tabindex="-1">
                    { notice(page, act) }
                    <div class="caption" data-testid="caption"><span class="n" title="Step">{ step }</span><p>{ drawn }</p>
                        if let Some(broken) = broken { <p class="breaks" data-testid="breaks">{ broken }</p> }</div>
                    <Scene stage={stage.clone()} {under} {overview} {detail} {zoom} {motion} {flow} {frame} {track}/>
                </main>
                <InspectorPane shown={inspected} changes={Rc::new(if step > 0 { inspect::changes(&look) } else { Vec::new() })}/>
                if behind { <aside class="left after" aria-label="Playground">{ left(page, session, reading, act) }</aside> }
                if room.narrow { <aside class="left after" aria-label="Settings of the cluster">{ settled }</aside> }
            </div>
            <footer class="foot">
                <Transport {step} steps={session.steps()} time={Rc::<str>::from(now)} spoken={spoken.clone()} playing={page.playing} can_go_on={session.can_go_on()} {more_to_come} {speed} has_mark={Some((session.marked(Direction::Previous).is_some(), session.marked(Direction::Next).is_some()))} marks={Rc::new(thin(&marks, session.steps()))} act={act.clone()}/>
                { drawers(page, session, &stage, act) }
            </footer>
            <Live text={spoken} {quiet}/>
            if let Some(menu) = page.menu {
                { later(act, |views| (views.faults)(menu, session, act)) }
            }
        </>
    }
}

/// The scene as it stands.
fn stage(page: &Page, session: &Session, look: &Look<'_>, window: Window) -> Stage {
    let mut flights = wire::flights(look, session.heads());
    if let Some(later) = later::get().filter(|_| page.heartbeats) {
        flights.extend((later.views.heartbeats)(session));
    }
    Stage {
        partition: look.names.partition(session.partition()).into(),
        window,
        producers: lanes::producers(look, window),
        brokers: rows::rows(look, window),
        consumers: lanes::consumers(look),
        controller: Rc::new(lanes::controller(look)),
        links: wire::links(look),
        flights,
    }
}

/// How messages come to where they are drawn: they fly where there is time for it between two steps.
fn motion(page: &Page, still: bool) -> Motion {
    match page.way {
        Way::Stepped if !still && page.playing && page.pace() >= 150 => Motion::Flow,
        Way::Stepped if !still && !page.playing => Motion::Step,
        _ => Motion::Still,
    }
}

/// The broker that is shown whole: the one that was looked at last, or else the leader, or else the first.
fn in_detail(page: &Page, stage: &Stage) -> Option<u16> {
    let exists = |id: &u16| stage.brokers.iter().any(|row| row.id == *id);
    let first = || stage.brokers.first().map(|row| row.id);
    page.detail.or(stage.controller.leader).filter(exists).or_else(first)
}

/// What stands in the caption's place where nothing has happened.
fn at_rest(session: &Session, reading: Option<&Reading>) -> String {
    let words = match (session.step_number(), reading, session.playback().act_here()) {
        (0, Some(reading), _) if reading.puzzle(session).is_some() => "The scene is set. Write an act beside it.",
        (0, Some(_), _) => "The scene is set. Read what stands beside it, then press Next.",
        (0, None, _) if session.playback().world().is_quiet() => "A cluster at rest. Take a step, or press Play.",
        (0, None, _) => "The beginning. Take a step, or press Play.",
        (_, _, Some(act)) => return format!("Done: {act}. Nothing comes of it at this moment."),
        _ => {
            let told = later::get().and_then(|here| (here.views.elapsed)(session));
            return told.unwrap_or_else(|| "Time has passed, and nothing happened at this moment.".into());
        }
    };
    words.to_string()
}

fn left(page: &Page, session: &Session, reading: Option<&Reading>, act: &Callback<Act>) -> Html {
    match (&page.place, reading) {
        (Place::Landing(landing), _) => start::start(landing, session, page.selected, act),
        (_, Some(reading)) => later(act, |views| (views.lesson)(page, reading, session, act)),
        (Place::Playground(playground), _) => later(act, |views| (views.playground)(page, playground, session, act)),
        _ => html! {},
    }
}

#[derive(Properties, PartialEq)]
struct SettledProps {
    knobs: Rc<Vec<super::view::panels::Knob>>,
    refused: Option<(AttrValue, AttrValue)>,
    can_produce: bool,
    act: Callback<Act>,
}

/// What can be set and sent: the knobs, and one record by hand.
#[component]
fn Settled(props: &SettledProps) -> Html {
    let open = !browser::matches("(max-width: 900px)");
    html! {
        <section class="set" aria-label="Cluster settings">
            <button class="btn full" disabled={!props.can_produce} onclick={props.act.reform(|_| Act::Produce)} data-testid="produce">{ icon("plus") }{ "Produce a record" }<kbd>{ "P" }</kbd></button>
            <details class="fold" {open}>
                <summary class="eyebrow">{ icon("right") }{ "Kafka settings" }</summary>
                <Knobs knobs={props.knobs.clone()} refused={props.refused.clone()} act={props.act.clone()}/>
            </details>
        </section>
    }
}

/// What is to be said apart from the run.
fn notice(page: &Page, act: &Callback<Act>) -> Html {
    match page.notice.is_some() || page.cut_off().is_some() {
        true => later(act, |views| (views.notice)(page, act)),
        false => html! {},
    }
}

fn drawers(page: &Page, session: &Session, stage: &Rc<Stage>, act: &Callback<Act>) -> Html {
    let content = match page.drawer {
        None => html! {},
        Some(Drawer::Ledger) => {
            let table = ledger::table(&session.look(), LEDGER_COLUMNS);
            html! { <Ledger table={Rc::new(table)} selected={page.selected} act={act.clone()}/> }
        }
        Some(drawer) => later(act, |views| (views.drawer)(drawer, page, session, stage, act)),
    };
    html! { <Drawers open={page.drawer} act={act.clone()}>{ content }</Drawers> }
}

/// What the second part of the program draws, or the wait for it.
fn later(act: &Callback<Act>, draw: impl FnOnce(&Views) -> Html) -> Html {
    match later::get() {
        Some(here) => draw(&here.views),
        None => wait(act),
    }
}

/// The wait for the second part of the program.
fn wait(act: &Callback<Act>) -> Html {
    html! { <Arriving arrived={act.reform(|()| Act::Arrived)}/> }
}

/// The same where it is the whole page.
fn later_page(act: &Callback<Act>, draw: impl FnOnce(&Views) -> Html) -> Html {
    let drawn = later(act, draw);
    match later::get() {
        Some(_) => drawn,
        None => html! { <main class="wide" id="main" tabindex="-1"><div class="lessons">{ drawn }</div></main> },
    }
}

#[derive(Properties, PartialEq)]
struct LiveProps {
    text: Rc<str>,
    quiet: bool,
}

/// The one polite live region: it speaks each step, but not while steps follow one another faster than speech.
#[component]
fn Live(props: &LiveProps) -> Html {
    let said = use_mut_ref(|| Rc::<str>::from(""));
    if !props.quiet {
        *said.borrow_mut() = Rc::clone(&props.text);
    }
    let text = said.borrow().to_string();
    html! { <div class="sr" role="status" aria-live="polite" data-testid="live">{ text }</div> }
}

/// The address's fragment says which place is shown.
#[hook]
fn use_address(page: Rc<RefCell<Page>>, update: UseForceUpdateHandle) {
    use_effect_with((), move |()| {
        let listening = Listening::to(browser::window().into(), "hashchange", move |_| {
            let region = keys::region();
            page.borrow_mut()
                .visit(&browser::window().location().hash().unwrap_or_default());
            keep(&page);
            update.force_update();
            keys::arrive(region);
        });
        move || drop(listening)
    });
}

/// Milliseconds until the next frame but one begins, on average.
const TWO_FRAMES: u32 = 25;

/// While it plays, one timer for the next step, which is taken in one frame and drawn in the next; while it does not, none.
/// A page that is hidden does not play.
///
/// The step is taken where the next frame begins: taken between two frames, it would make both late. What still moves is
/// ended with the drawing: where a move ends, the browser has nearly as much to do as where one begins.
#[hook]
fn use_clock(page: Rc<RefCell<Page>>, update: UseForceUpdateHandle) {
    let (playing, pace, version) = {
        let page = page.borrow();
        (page.playing && page.menu.is_none(), page.pace(), page.version)
    };
    {
        let (page, update) = (page.clone(), update.clone());
        use_effect_with((playing, pace, version), move |&(playing, pace, _)| {
            let frame = Rc::new(RefCell::new((None, None)));
            let timer = playing.then(|| {
                let frame = Rc::clone(&frame);
                Timeout::new(pace.saturating_sub(TWO_FRAMES), move || {
                    let (drawing, drawn) = (Rc::clone(&frame), Rc::clone(&frame));
                    let draw = move |_| {
                        drawn.borrow_mut().1 = None;
                        browser::end_moves();
                        update.force_update();
                    };
                    // Neither of the two frames is late, as one for both would be.
                    let step = move |_| {
                        page.borrow_mut().tick();
                        keep_step(&page);
                        drawing.borrow_mut().1 = Some(request_animation_frame(draw));
                    };
                    frame.borrow_mut().0 = Some(request_animation_frame(step));
                })
            });
            move || {
                drop(timer);
                // What waits for a frame holds the place that it is kept in. Whatever draws before it draws its step, too.
                let (_, unfinished) = frame.take();
                if unfinished.is_some() {
                    browser::end_moves();
                }
            }
        });
    }
    use_effect_with((), move |()| {
        let document = browser::window().document();
        let listening = document.map(|document| {
            let hidden = document.clone();
            Listening::to(document.into(), "visibilitychange", move |_| {
                if hidden.hidden() && page.borrow().playing {
                    page.borrow_mut().perform(Act::Pause);
                    update.force_update();
                }
            })
        });
        move || drop(listening)
    });
}

/// A scenario's file that is dropped anywhere on the playground is played; the browser would open it and leave the page.
#[hook]
fn use_drop(page: Rc<RefCell<Page>>, act: Callback<Act>) {
    use_effect_with((), move |()| {
        let listen = |name: &'static str| {
            let (page, act) = (page.clone(), act.clone());
            Listening::to(browser::window().into(), name, move |event| {
                let Some(event) = event.dyn_ref::<DragEvent>() else {
                    return;
                };
                let is_here = matches!(page.borrow().place, Place::Playground(_));
                if !is_here || event.default_prevented() || browser::is_text_for_a_field(event) {
                    return;
                }
                event.prevent_default();
                if let Some(file) = browser::dropped_file(event).filter(|_| name == "drop") {
                    let act = act.clone();
                    browser::read_text(&file, browser::SCENARIO, move |text| {
                        act.emit(text.map_or_else(Act::Unread, Act::Scenario))
                    });
                }
            })
        };
        let listening = ["dragover", "drop"].map(listen);
        move || drop(listening)
    });
}

/// Keys become acts.
#[hook]
fn use_keys(
    act: Callback<Act>,
    dialog: UseStateHandle<Option<Dialog>>,
    waits: Rc<RefCell<bool>>,
    single: browser::Keys,
) {
    use_effect_with((single, *dialog), move |&(single, _)| {
        let pointed = Rc::new(RefCell::new(false));
        let down = {
            let pointed = pointed.clone();
            Listening::to(browser::window().into(), "pointerdown", move |_| {
                *pointed.borrow_mut() = true
            })
        };
        let listening = Listening::to(browser::window().into(), "keydown", move |event| {
            let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
                return;
            };
            if event.key() == "Tab" {
                *pointed.borrow_mut() = false;
            }
            if !*pointed.borrow() && keys::walk(event) {
                return event.prevent_default();
            }
            let waited = waits.replace(false);
            let Some(asked) = keys::asked(event, single, waited) else {
                return;
            };
            event.prevent_default();
            match asked {
                Asked::Act(what) => act.emit(what),
                Asked::FaultsOf => drop(waits.replace(true)),
                Asked::Inspector => keys::focus("inspector"),
                Asked::Help => dialog.set(Some(Dialog::Help)),
                Asked::Close => act.emit(Act::Close),
            }
        });
        move || drop((listening, down))
    });
}

/// What there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    /// The width of a log, in CSS pixels.
    width: i64,
    /// Whether there is room for one broker only.
    narrow: bool,
}

impl Room {
    /// How many columns of records there are.
    fn columns(self, zoom: Zoom) -> i64 {
        let before = if self.narrow { 12 } else { 8 };
        ((self.width - before) / zoom.column(self.narrow)).max(2)
    }
}

/// Measures what there is room for.
#[hook]
fn use_width(track: NodeRef, room: UseStateHandle<Room>, shown: bool) {
    let measure = {
        let room = room.clone();
        move || {
            let Some(track) = track.cast::<HtmlElement>() else {
                return;
            };
            let narrow = browser::matches("(max-width: 640px)");
            let width = i64::from(track.client_width());
            room.set(Room { width, narrow });
        }
    };
    use_effect_with(shown, move |_| {
        measure();
        let listening = Listening::to(browser::window().into(), "resize", move |_| measure());
        move || drop(listening)
    });
}
