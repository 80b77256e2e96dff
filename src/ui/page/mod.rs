//! The page's state and what each act does to it: the only place where something changes.
//!
//! `lesson` is what is another thing in a lesson than elsewhere, `kept` what outlives the page. Deliberately absent: the
//! DOM, timers, storage. A component draws this and calls [`Page::perform`]; whoever holds a clock calls [`Page::tick`].

mod kept;
pub(in crate::ui) mod lesson;

use std::rc::Rc;

use crate::cluster::{BrokerId, TopicId, TopicPartition};
use crate::history::CutNotice;
use crate::lesson::library::{self, LIBRARY};
use crate::lesson::{Block, Fault as LessonFault, Progress};
use crate::scenario::ast::{self, Brokers, Process, Statement};
use crate::sorted::SortedSet;
use crate::ui::act::{Act, Drawer, Go, Subject, Zoom};
use crate::ui::later::{self, Later};
use crate::ui::playground::aside::Aside;
use crate::ui::playground::{PLAYGROUND, Playground, not_copied};
use crate::ui::reading::{Reading, Run};
use crate::ui::session::{Direction, Moved, Session};
use crate::ui::stores::StoreSession;
use crate::ui::tale::Tale;
use crate::ui::view::look::Look;
use crate::ui::view::panels::Fault;
use crate::ui::view::stage::{Health, Row};
use crate::ui::view::{knobs, rows, wire};

pub use kept::{Kept, Stored};

/// Where one is.
#[derive(Clone)]
pub enum Place {
    /// The landing scene.
    Landing(Landing),
    /// The list of lessons.
    Lessons,
    /// A lesson.
    Lesson(Box<Reading>),
    /// A lesson whose worlds are page stores, and the stores in view.
    Stores(Box<Reading>, Box<StoreSession>),
    /// A lesson whose file is being fetched, or could not be.
    Coming {
        /// The name of its file.
        slug: Rc<str>,
        /// Why it did not come.
        failed: Option<Rc<str>>,
    },
    /// The playground.
    Playground(Playground),
    /// What is modelled, simplified and left out.
    Fidelity(Rc<Vec<Block>>),
    /// A lesson whose file has mistakes, or whose world cannot begin.
    Broken {
        /// The name of its file.
        slug: Rc<str>,
        /// What is wrong, each with its line where it has one.
        faults: Rc<Vec<LessonFault>>,
    },
}

/// The file of what is modelled and what is not; it stands beside the lessons.
pub const FIDELITY: &str = "fidelity";

/// The landing. How far its story has come is read off its run ([`Tale`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Landing {
    /// What was set differently from the lesson's file.
    pub changes: Vec<(String, String)>,
    /// The position at which the story began that was told last: it stops the play once.
    told: Option<usize>,
}

impl Landing {
    /// What is set differently from the lesson's file by now: from the beginning, and by what was turned since.
    pub fn in_force(&self, session: Option<&Session>) -> Vec<(String, String)> {
        let mut changes = self.changes.clone();
        let acts = session.map_or_else(Vec::new, |session| session.playback().own_acts());
        for act in acts {
            let Statement::Set { configs, .. } = act else { continue };
            for setting in configs {
                changes.retain(|(name, _)| *name != setting.name);
                changes.push((setting.name.clone(), setting.value.clone()));
            }
        }
        changes
    }
}

/// Something to say that is not part of the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// What was on the playground is set aside; it can be brought back.
    Aside,
    /// Something was refused, or cannot go on.
    Refused(Rc<str>),
    /// Something worth knowing.
    Said(Rc<str>),
    /// A lesson of somebody's own is so long that it was not played from end to end to see whether it keeps its word.
    Unchecked,
}

/// How the last change came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By one step forward: it may be shown moving.
    Stepped,
    /// By going elsewhere.
    Jumped,
}

/// A menu of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// A broker's.
    Broker(u16),
    /// The one of a path.
    Link {
        /// The path whose button opened it.
        opened: (Row, Row),
        /// The path that it is about.
        ends: (Row, Row),
    },
}

impl Menu {
    /// The id of the button that opens it.
    pub fn anchor(self) -> String {
        match self {
            Menu::Broker(id) => format!("faults-{id}"),
            Menu::Link { opened: (a, b), .. } => format!("link-{}-{}", a.id(), b.id()),
        }
    }
}

/// The page's state.
pub struct Page {
    /// Where one is.
    pub place: Place,
    /// The run in view; the list of lessons has none.
    pub session: Option<Session>,
    /// Whether it plays.
    pub playing: bool,
    /// Steps a second, times two.
    pub speed: u32,
    /// How the last change came about.
    pub way: Way,
    /// What is inspected.
    pub selected: Option<Subject>,
    /// The broker that somebody looked at last: the one that is shown whole where there is room for one.
    pub detail: Option<u16>,
    /// Which drawer is open.
    pub drawer: Option<Drawer>,
    /// Whether heartbeats are shown.
    pub heartbeats: bool,
    /// How wide the columns are.
    pub zoom: Zoom,
    /// Where the window over the log begins; `None` follows its end.
    pub window: Option<i64>,
    /// What is to be said.
    pub notice: Option<Notice>,
    /// An act in the past has cut the future off, and nobody has put that away.
    cut: Option<CutNotice>,
    /// The knob that was refused last, and why.
    pub refused: Option<(&'static str, Rc<str>)>,
    /// Whose menu of faults is open.
    pub menu: Option<Menu>,
    /// The offsets picked as an answer.
    pub picked: SortedSet<i64>,
    /// How many lines were done: one that was refused stays where it was typed.
    pub lines_done: u32,
    /// How far somebody has come.
    pub progress: Progress,
    /// What was stored, as long as it is not read.
    stored: Stored,
    /// The run to go on from once its lesson is there.
    kept: Option<Kept>,
    /// The lesson that was left for the playground, and where it stood.
    left: Option<(Rc<str>, Kept)>,
    /// The playground that was left last, if anything of it was somebody's own.
    pub(in crate::ui) aside: Option<Aside>,
    /// The same as it was written down before the page was loaded, to be read when it is needed.
    pub(in crate::ui) recalled: Option<String>,
    /// Counts changes of the world in view, so that drawings of one are not taken for those of another.
    pub version: u64,
}

/// The fragment while a lesson file of somebody's own is shown; coming back to it leads to the list.
pub const OWN: &str = "#/own";

/// The address of a lesson.
pub fn lesson_address(slug: &str) -> String {
    format!("#/lesson/{slug}")
}

/// Steps a second, times two, at which one can follow where messages go.
const UNHURRIED: u32 = 4;

/// Milliseconds between steps of mere waiting.
const WAITING_PACE: u32 = 16;

impl Page {
    /// The landing, playing, as on a first visit.
    pub fn landing() -> Page {
        let mut page = Page {
            place: Place::Lessons,
            session: None,
            playing: false,
            speed: UNHURRIED,
            way: Way::Jumped,
            selected: None,
            detail: None,
            drawer: Some(Drawer::Ledger),
            heartbeats: false,
            zoom: Zoom::Near,
            window: None,
            notice: None,
            cut: None,
            refused: None,
            menu: None,
            picked: SortedSet::new(),
            lines_done: 0,
            progress: Progress::default(),
            stored: Stored::default(),
            kept: None,
            left: None,
            aside: None,
            recalled: None,
            version: 0,
        };
        page.land(Vec::new());
        page
    }

    /// Goes to the place that a fragment of the address names.
    pub fn visit(&mut self, fragment: &str) {
        let left = self.left.take().filter(|_| matches!(self.place, Place::Playground(_)));
        self.leave_to();
        match fragment.trim_start_matches(['#', '/']) {
            "lessons" | "own" => self.place = Place::Lessons,
            other if other == FIDELITY || other.split('/').next() == Some(PLAYGROUND) => {
                self.place = Place::Coming {
                    slug: other.into(),
                    failed: None,
                }
            }
            other => match other.strip_prefix("lesson/").and_then(library::find) {
                Some(source) => {
                    match source.text() {
                        Some(text) => self.open(source.slug, text),
                        None => {
                            self.place = Place::Coming {
                                slug: source.slug.into(),
                                failed: None,
                            }
                        }
                    }
                    if let Some((_, kept)) = left.filter(|(slug, _)| **slug == *source.slug) {
                        self.resume(kept);
                    }
                }
                None if other.starts_with("lesson/") => {
                    self.place = Place::Lessons;
                    let name = other.trim_start_matches("lesson/");
                    self.say(&format!("There is no lesson '{name}'. These are all that there are."));
                }
                None => {
                    self.land(Vec::new());
                    if !other.is_empty() {
                        self.say(&format!(
                            "There is no page '#/{other}'. This is the first one; all lessons stand in the list."
                        ));
                    }
                }
            },
        }
    }

    /// The lesson whose file has to be fetched.
    pub fn wanted(&self) -> Option<Rc<str>> {
        match &self.place {
            Place::Coming { slug, failed: None } => Some(Rc::clone(slug)),
            _ => None,
        }
    }

    /// The file of a lesson has come, or why it did not. Whoever has gone elsewhere meanwhile is left there.
    fn fetched(&mut self, fetched: &str, text: Result<String, String>) {
        let Place::Coming { slug, failed } = &mut self.place else {
            return;
        };
        if **slug != *fetched {
            return;
        }
        match text {
            Ok(text) if fetched == FIDELITY => {
                let mut faults = Vec::new();
                let blocks = later::get().map_or_else(Vec::new, |later| (later.prose)(&text, 1, &mut faults));
                self.place = match faults.is_empty() {
                    true => Place::Fidelity(Rc::new(blocks)),
                    false => Place::Broken {
                        slug: FIDELITY.into(),
                        faults: Rc::new(faults),
                    },
                };
            }
            Ok(text) => {
                let kept = self.kept.take();
                match (fetched.strip_prefix(PLAYGROUND), later::get()) {
                    (Some(story), Some(later)) => {
                        let story = story.strip_prefix('/').filter(|story| !story.is_empty());
                        (later.arrive_on_playground)(self, story.map(Into::into), &text);
                    }
                    _ => self.open(fetched, &text),
                }
                // The playground is brought back as it was left.
                if let Some(kept) = kept.filter(|_| !matches!(self.place, Place::Playground(_))) {
                    self.resume(kept);
                }
            }
            Err(why) => *failed = Some(why.into()),
        }
    }

    /// Leaves for another place.
    fn leave_to(&mut self) {
        if let (Place::Playground(_), Some(later)) = (&self.place, later::get()) {
            (later.leave_playground)(self);
        }
        self.leave();
    }

    pub(in crate::ui) fn leave(&mut self) {
        self.session = None;
        self.kept = None;
        self.stored.run = None;
        self.playing = false;
        self.selected = None;
        self.detail = None;
        self.window = None;
        self.notice = None;
        self.refused = None;
        self.menu = None;
        self.picked.clear();
        self.jumped();
    }

    pub(in crate::ui) fn jumped(&mut self) {
        self.way = Way::Jumped;
        self.version += 1;
    }

    fn land(&mut self, changes: Vec<(String, String)>) {
        match Session::landing(&changes) {
            Ok(session) => {
                self.session = Some(session);
                self.place = Place::Landing(Landing { changes, told: None });
                self.playing = true;
            }
            Err(why) => {
                self.place = Place::Broken {
                    slug: LIBRARY[0].slug.into(),
                    faults: Rc::new(vec![LessonFault::new(0, why, "correct the scene")]),
                }
            }
        }
        self.jumped();
    }

    /// Opens a lesson where it was left.
    pub fn open(&mut self, slug: &str, text: &str) {
        if let Some(later) = later::get() {
            (later.open)(self, slug, text);
        }
    }

    /// The lesson that is read, and the run it looks at.
    pub fn reading(&self) -> Option<(&Reading, &dyn Run)> {
        match (&self.place, &self.session) {
            (Place::Lesson(reading), Some(session)) => Some((&**reading, session)),
            (Place::Stores(reading, stores), _) => Some((&**reading, &**stores)),
            _ => None,
        }
    }

    /// Milliseconds from one step to the next while it plays. Where nothing is to be seen but waiting, time flies.
    pub fn pace(&self) -> u32 {
        let waits = match (&self.place, &self.session) {
            (Place::Landing(_), Some(session)) => Tale::of(session).is_some_and(|tale| tale.waits()),
            _ => false,
        };
        if waits { WAITING_PACE } else { self.chosen_pace() }
    }

    /// Milliseconds from one step to the next at the speed that was chosen.
    pub fn chosen_pace(&self) -> u32 {
        2_000 / self.speed.max(1)
    }

    /// One step of playing; says whether it goes on.
    pub fn tick(&mut self) -> bool {
        if !self.playing {
            return false;
        }
        self.step_on();
        self.playing
    }

    /// One step on.
    pub(in crate::ui) fn step_on(&mut self) {
        match (&self.place, later::get()) {
            (Place::Stores(..), Some(later)) => return (later.step_stores)(self),
            (Place::Lesson(_), Some(later)) => return (later.step_in_lesson)(self),
            _ => {}
        }
        match self.step_within(None) {
            Some(Moved::On) => self.go_on_with_landing(),
            Some(moved) => self.stop_at(moved),
            None => {}
        }
    }

    /// One step of the run; within its script no farther than so many statements.
    fn step_within(&mut self, statements: Option<usize>) -> Option<Moved> {
        let moved = self.session.as_mut()?.step(statements);
        self.way = Way::Stepped;
        self.version += 1;
        Some(moved)
    }

    /// The run cannot go on by itself.
    pub(in crate::ui) fn stop_at(&mut self, moved: Moved) {
        self.playing = false;
        match moved {
            Moved::On | Moved::AtStop => {}
            Moved::Quiet => {
                let words = self.session.as_ref().map(|session| quiet(&session.look()));
                self.say(&words.unwrap_or_default());
            }
            Moved::Stuck(why) => self.refuse(&format!("The script cannot go on: {why}")),
        }
    }

    /// The landing's story is told as soon as it can be.
    fn go_on_with_landing(&mut self) {
        let (Some(session), Place::Landing(landing)) = (&self.session, &mut self.place) else {
            return;
        };
        let tale = Tale::of(session).filter(Tale::is_told);
        let Some(tale) = tale.filter(|tale| landing.told != Some(tale.at)) else {
            return;
        };
        landing.told = Some(tale.at);
        self.playing = false;
        self.progress.reached(LIBRARY[0].slug, 1, 1);
        if let Some((subject, offset)) = first_lost(session) {
            self.selected = Some(subject);
            self.window = Some((offset - 3).max(0));
        }
    }

    pub(in crate::ui) fn say(&mut self, text: &str) {
        self.notice = Some(Notice::Said(text.into()));
    }

    pub(in crate::ui) fn refuse(&mut self, why: &str) {
        self.notice = Some(Notice::Refused(why.into()));
    }

    /// Performs an act, as it is done at the place where one is.
    pub fn perform(&mut self, act: Act) {
        self.read_stored();
        let is_line = matches!(act, Act::Do(_));
        self.perform_here(act);
        let is_refused = matches!(self.notice, Some(Notice::Refused(_)));
        self.lines_done += u32::from(is_line && !is_refused);
    }

    fn perform_here(&mut self, act: Act) {
        match (self.own_way(&act), later::get()) {
            (None, _) => self.perform_as_everywhere(act),
            (Some(own), Some(later)) => own(later)(self, act),
            // Such a place is reached with the second part of the program only.
            (Some(_), None) => {}
        }
    }

    /// How an act is done here, where that is another way than elsewhere.
    fn own_way(&self, act: &Act) -> Option<fn(&Later) -> fn(&mut Page, Act)> {
        match (&self.place, act) {
            (Place::Stores(..), Act::OpenLesson(..) | Act::Pick(_) | Act::CheckLesson | Act::Copy) => None,
            (Place::Stores(..), _) => Some(|later| later.perform_on_stores),
            (Place::Lesson(_), Act::Answer(_) | Act::Next | Act::Restart | Act::RestartWith(..)) => {
                Some(|later| later.perform_in_lesson)
            }
            (Place::Playground(_), Act::Draft(_) | Act::TakeBack | Act::Do(_) | Act::Restart | Act::Go(Go::End)) => {
                Some(|later| later.perform_on_playground)
            }
            _ => None,
        }
    }

    fn perform_as_everywhere(&mut self, act: Act) {
        match act {
            Act::TogglePlay => self.playing = !self.playing && self.session.is_some(),
            Act::Pause => self.playing = false,
            Act::Go(go) => self.go(go),
            Act::Next => self.go(Go::On),
            Act::Speed(speed) => self.speed = speed,
            Act::Produce => self.produce(),
            Act::Fault(broker, fault) => self.do_fault(BrokerId(broker), fault),
            Act::KillLeader => self.kill_leader(),
            Act::Turn(name, value) => self.turn(name, &value),
            Act::Do(text) => self.do_text(&text),
            Act::OpenFaults(broker) => self.open_faults(broker),
            Act::OpenLink(a, b) => self.open_link(a, b),
            Act::OpenLinks => self.open_link_of_leader(),
            Act::Close => self.menu = None,
            Act::Inspect(subject) => self.inspect(subject),
            Act::Pick(offset) => self.pick(offset),
            Act::Partition(topic, partition) => self.show(TopicPartition {
                topic: TopicId(topic),
                partition,
            }),
            Act::Window(from) => self.window = from,
            Act::Zoom(zoom) => self.zoom = zoom,
            Act::Drawer(drawer) => self.drawer = (self.drawer != Some(drawer)).then_some(drawer),
            Act::Heartbeats => self.heartbeats = !self.heartbeats,
            Act::Undo => self.undo(),
            Act::Dismiss => self.notice = None,
            Act::DismissCut => self.cut = None,
            Act::Copy if self.session.is_none() => self.refuse("there is no scene here that could be copied"),
            Act::Copy => {}
            Act::Copied(copied) => self.copied(copied),
            Act::Unread(why) => self.refuse(&why),
            Act::OpenLesson(name, text) => {
                self.leave_to();
                self.open(&name, &text);
            }
            Act::CheckLesson => self.with_later(|page, later| (later.check_lesson)(page)),
            Act::Scenario(text) => self.play_scenario(&text),
            Act::Fetched(slug, text) => self.fetched(&slug, text),
            Act::FetchAgain => self.fetch_again(),
            // What has waited for it is read before any act.
            Act::Arrived => {}
            Act::Missing(why) => self.refuse(&format!("this part of the page did not come: {why}; try it again")),
            Act::Restart => self.restart(None),
            Act::RestartWith(name, value) => self.restart(Some((name.to_string(), value))),
            // Nothing is asked here, and nothing was set aside.
            Act::Answer(_) | Act::Draft(_) | Act::TakeBack => {}
        }
    }

    /// What only the second part of the program can do.
    fn with_later(&mut self, act: impl FnOnce(&mut Page, &Later)) {
        if let Some(later) = later::get() {
            act(self, later);
        }
    }

    fn produce(&mut self) {
        match self.session.as_ref().and_then(Session::produce_one) {
            Some(statement) => self.perform_statement(statement),
            None => self.refuse("no producer runs"),
        }
    }

    fn do_fault(&mut self, broker: BrokerId, fault: Fault) {
        self.menu = None;
        let text = |session: &Session| (later::get()?.fault)(&session.look(), broker, fault);
        match self.session.as_ref().and_then(text) {
            Some(text) => self.do_text(&text),
            None => self.refuse("nothing is left that could be damaged"),
        }
    }

    fn open_faults(&mut self, broker: u16) {
        let session = self.session.as_ref();
        let exists = session.is_some_and(|session| session.playback().world().broker(BrokerId(broker)).is_some());
        self.menu = exists.then_some(Menu::Broker(broker));
    }

    fn open_link_of_leader(&mut self) {
        let session = self.session.as_ref();
        if let Some((a, b)) = session.and_then(|session| wire::of_leader(&session.look())) {
            self.open_link(a, b);
        }
    }

    fn inspect(&mut self, subject: Option<Subject>) {
        self.selected = subject.filter(|_| self.selected != subject);
        if let Some(Subject::Broker(id)) = subject {
            self.detail = Some(id);
        }
    }

    /// Picks an offset as an answer, or takes that back.
    fn pick(&mut self, offset: i64) {
        if !self.picked.remove(&offset) {
            self.picked.insert(offset);
        }
    }

    fn show(&mut self, partition: TopicPartition) {
        if let Some(session) = &mut self.session {
            session.show(partition);
        }
        self.window = None;
        self.jumped();
    }

    /// Takes back the last cut of the future.
    fn undo(&mut self) {
        if let Some(session) = &mut self.session {
            session.undo();
        }
        self.notice = None;
        self.cut = None;
        self.jumped();
    }

    /// Plays a text on the playground; a lesson that is left for it is found where it was left.
    fn play_scenario(&mut self, text: &str) {
        let lesson = self.reading().map(|(reading, _)| Rc::clone(&reading.slug));
        self.left = lesson.and_then(|slug| Some((slug, self.kept()?))).or(self.left.take());
        self.with_later(|page, later| (later.begin_playground)(page, None, text));
    }

    fn fetch_again(&mut self) {
        if let Place::Coming { failed, .. } = &mut self.place {
            *failed = None;
        }
    }

    /// Says what came of copying the scene.
    fn copied(&mut self, copied: Result<(), String>) {
        match (copied, &self.place) {
            (Ok(()), _) => self.say(
                "This scene is copied as text up to this step. The playground plays it, and so does highwater run.",
            ),
            (Err(why), Place::Playground(_)) => self.refuse(&not_copied(&why)),
            (Err(why), _) => self.refuse(&format!(
                "this scene is not copied: {why}; only the playground shows its scenario, to be selected and copied by hand"
            )),
        }
    }

    fn go(&mut self, go: Go) {
        self.notice = None;
        let Some(session) = &mut self.session else { return };
        match go {
            Go::On => {
                self.playing = false;
                return self.step_on();
            }
            Go::Back => drop(session.back()),
            Go::Start => session.seek_step(0),
            Go::End => session.seek_step(session.steps()),
            Go::To(step) => session.seek_step(step),
            Go::NextMark | Go::PreviousMark => {
                let direction = if go == Go::NextMark {
                    Direction::Next
                } else {
                    Direction::Previous
                };
                if let Some(position) = session.marked(direction) {
                    session.seek(position);
                }
            }
        }
        self.playing = false;
        self.jumped();
    }

    /// Does something to the run, and says what came of it.
    fn act_on(&mut self, act: impl FnOnce(&mut Session) -> Result<Option<CutNotice>, String>) {
        let Some(session) = &mut self.session else { return };
        match act(session) {
            Ok(cut) => {
                self.note_cut(cut);
                self.refused = None;
                self.way = Way::Stepped;
                self.version += 1;
                self.play_on_landing();
                if let (Place::Lesson(_), Some(later)) = (&self.place, later::get()) {
                    (later.note_solved)(self);
                }
            }
            Err(why) => self.refuse(&why),
        }
    }

    /// The landing plays on when its leader has just been ended, or told to end.
    fn play_on_landing(&mut self) {
        let (Some(session), Place::Landing(_)) = (&self.session, &self.place) else {
            return;
        };
        let look = session.look();
        let leader = look.world.image().leader(session.partition());
        let begun = Tale::of(session).is_some_and(|tale| tale.at == session.position());
        if begun || leader.is_some_and(|leader| rows::health(&look, leader) == Health::Stopping) {
            self.playing = true;
        }
    }

    /// The future that was cut off and can be brought back, unless somebody has put that away.
    pub fn cut_off(&self) -> Option<CutNotice> {
        let can_be_undone = self.session.as_ref()?.playback().cut_notice();
        self.cut.filter(|cut| can_be_undone == Some(*cut))
    }

    /// Says that the future was cut off, as long as that can be undone.
    fn note_cut(&mut self, cut: Option<CutNotice>) {
        self.notice = None;
        self.cut = cut.or(self.cut);
    }

    fn open_link(&mut self, a: Row, b: Row) {
        let opened = match self.menu {
            Some(Menu::Link { opened, .. }) => opened,
            _ => (a, b),
        };
        self.menu = self.session.is_some().then_some(Menu::Link { opened, ends: (a, b) });
    }

    fn kill_leader(&mut self) {
        let leader = self.session.as_ref().and_then(Session::leader);
        match leader {
            Some(BrokerId(id)) => {
                let kill = Statement::Act(ast::Act::Kill(Process::Brokers(Brokers::List(vec![id]))));
                self.act_on(|session| session.perform(kill));
            }
            None => self.refuse("nobody leads at this moment; wait for the election, or start a broker"),
        }
    }

    fn turn(&mut self, name: &'static str, value: &str) {
        let texts = match &self.session {
            Some(session) => knobs::statements(&session.look(), name, knobs::typed(value)),
            None => return,
        };
        if let Some(why) = texts.iter().find_map(|text| self.forbidden(text)) {
            return self.refuse(&why);
        }
        let Some(session) = &mut self.session else { return };
        match session.turn(name, value) {
            Ok(cut) => {
                self.note_cut(cut);
                self.refused = None;
                self.way = Way::Stepped;
                self.version += 1;
            }
            Err(why) => self.refused = Some((name, why.into())),
        }
    }

    /// Does what a line of the scenario language says, as far as a puzzle allows it.
    pub(in crate::ui) fn do_text(&mut self, text: &str) {
        match self.session.as_ref().map(|session| session.parse(text)) {
            Some(Ok(statement)) => self.do_statement(statement),
            Some(Err(why)) => self.refuse(&why),
            None => {}
        }
    }

    /// The same of a line that was read, and says so when it lets time pass that has not to.
    pub(in crate::ui) fn do_statement(&mut self, statement: Statement) {
        let is_time = statement.is_time();
        let stood = self.session.as_ref().map(Session::position);
        self.perform_statement(statement);
        let stands = self.session.as_ref().map(Session::position);
        if is_time && stands == stood && self.notice.is_none() {
            self.say("No time has to pass: it is so already.");
        }
    }

    /// Does what a statement says, as far as a puzzle allows it.
    fn perform_statement(&mut self, statement: Statement) {
        match self.forbids(&statement) {
            Some(why) => self.refuse(&why),
            None => self.act_on(|session| session.perform(statement)),
        }
    }

    /// Why a puzzle that is being solved does not allow what a line says.
    fn forbidden(&self, text: &str) -> Option<String> {
        let statement = self.session.as_ref()?.parse(text).ok()?;
        self.forbids(&statement)
    }

    fn forbids(&self, statement: &Statement) -> Option<String> {
        match &self.place {
            Place::Lesson(_) => (later::get()?.puzzle_forbids)(self, statement),
            _ => None,
        }
    }

    fn restart(&mut self, change: Option<(String, String)>) {
        match &self.place {
            Place::Landing(landing) => {
                let mut changes = landing.in_force(self.session.as_ref());
                if let Some((name, value)) = change {
                    changes.retain(|(other, _)| *other != name);
                    changes.push((name, value));
                }
                self.leave();
                self.land(changes);
            }
            Place::Lessons
            | Place::Playground(_)
            | Place::Lesson(_)
            | Place::Coming { .. }
            | Place::Broken { .. }
            | Place::Fidelity(_)
            | Place::Stores(..) => {}
        }
    }
}

/// How things stand when nothing happens any more by itself.
fn quiet(look: &Look<'_>) -> String {
    let image = look.world.image();
    let state = image.partition(look.partition);
    let behind = state.is_some_and(|state| state.isr.len() < state.replicas.len());
    let name = look.names.partition(look.partition);
    let stands = match (state.map(|state| state.leader), look.lost().len()) {
        (Some(None), _) => format!("{name} is offline, until a broker that may lead is back"),
        (_, 1) => "1 acknowledged record is lost".to_string(),
        (_, lost @ 2..) => format!("{lost} acknowledged records are lost"),
        _ if behind => format!("not every replica of {name} is in sync, and nothing brings it back by itself"),
        _ => "all is copied, nobody waits".to_string(),
    };
    format!("Everything is quiet: {stands}. Send a record, or do something to a broker.")
}

/// The first lost record, to look at, and its offset.
fn first_lost(session: &Session) -> Option<(Subject, i64)> {
    let look = session.look();
    let lost = look.lost();
    let tag = lost.first()?;
    Some((
        Subject::Record(tag.client.0, tag.number),
        look.ledger.story(*tag)?.offset()?,
    ))
}
