//! What is drawn besides the landing.

use std::rc::Rc;

use yew::prelude::*;

use crate::cluster::BrokerId;
use crate::cluster::rules::Rule;
use crate::lesson::{Block, Fault, Kind};
use crate::ui::act::{Act, Drawer, Subject};
use crate::ui::beliefs;
use crate::ui::browser::Settings;
use crate::ui::controller;
use crate::ui::dialogs::{self, Dialog};
use crate::ui::drawers;
use crate::ui::faults::FaultMenu;
use crate::ui::inspector;
use crate::ui::lessons::{self, Lessons};
use crate::ui::links;
use crate::ui::notice;
use crate::ui::overview::OverviewTable;
use crate::ui::page::{Menu, Page};
use crate::ui::panel;
use crate::ui::playground::{self, Playground};
use crate::ui::reading::{Reading, Run};
use crate::ui::session::Session;
use crate::ui::stores::{self, StoreSession};
use crate::ui::told;
use crate::ui::view::stage::{Flight, Row, Stage};
use crate::ui::view::{
    beliefs as believed, controller as known, elapsed::elapsed, faults, inspect, links as paths, overview as every,
    told_and_true,
};

/// One function for each thing.
pub struct Views {
    /// The list of lessons.
    pub lessons: fn(&Page, &Callback<Act>) -> Html,
    /// A lesson that cannot be read.
    pub broken: fn(&str, &[Fault]) -> Html,
    /// What is modelled and what is not.
    pub fidelity: fn(&[Block]) -> Html,
    /// A lesson on the page stores.
    pub stores: fn(&Page, &Reading, &StoreSession, Html, &Callback<Act>) -> Html,
    /// The caption that a lesson on a cluster has for the present, as it is said and as it is drawn, and whether it asks to pick records.
    pub of_lesson: fn(&Reading, &Session) -> (Option<(String, Html)>, bool),
    /// The pane of a lesson on a cluster.
    pub lesson: fn(&Page, &Reading, &dyn Run, &Callback<Act>) -> Html,
    /// The pane of the playground.
    pub playground: fn(&Page, &Playground, &Session, &Callback<Act>) -> Html,
    /// What lies in a drawer.
    pub drawer: fn(Drawer, &Page, &Session, &Rc<Stage>, &Callback<Act>) -> Html,
    /// The latest heartbeat of each broker, as if it were on its way.
    pub heartbeats: fn(&Session) -> Vec<Flight>,
    /// What the time came to that has just passed.
    pub elapsed: fn(&Session) -> Option<String>,
    /// All partitions at once; nothing where there is only one.
    pub overview: fn(&Session, &Callback<Act>) -> Html,
    /// What stands under rows of the scene besides what the landing shows there.
    pub under_rows: fn(&Session) -> Vec<(Row, Html)>,
    /// What the inspector shows of a thing; nothing if it is not there any more.
    pub inspected: fn(&Session, Subject, &Callback<Act>) -> Option<Html>,
    /// What a rule says.
    pub rule: fn(Rule) -> Html,
    /// What is to be said apart from the run.
    pub notice: fn(&Page, &Callback<Act>) -> Html,
    /// A menu of faults.
    pub faults: fn(Menu, &Session, &Callback<Act>) -> Html,
    /// A dialog; where the settings are kept; what closes it.
    pub dialog: fn(Dialog, &UseStateHandle<Settings>, Callback<()>) -> Html,
}

/// All of them.
pub const ALL: Views = Views {
    lessons: |page, act| html! { <Lessons progress={page.progress.clone()} act={act.clone()}/> },
    broken: lessons::broken,
    fidelity: lessons::fidelity,
    stores: stores::view::lesson,
    of_lesson: |reading, session| {
        let picking = reading.open_prediction(session);
        let picking = picking.is_some_and(|open| matches!(open.kind, Kind::Click(_)));
        (reading.caption(session).map(|text| panel::caption(&text)), picking)
    },
    lesson: panel::lesson,
    playground: playground::view::pane,
    drawer: drawers::content,
    heartbeats: |session| known::heartbeats(&session.look()),
    elapsed,
    overview,
    under_rows,
    inspected,
    rule: inspector::rule_note,
    notice: notice::notice,
    faults: fault_menu,
    dialog: dialogs::dialog,
};

fn overview(session: &Session, act: &Callback<Act>) -> Html {
    let partition = session.partition();
    let selected = (partition.topic.0, partition.partition);
    let all = every::overview(&session.look()).map(Rc::new);
    all.map_or_else(Html::default, |overview| {
        html! { <OverviewTable {overview} {selected} act={act.clone()}/> }
    })
}

fn inspected(session: &Session, subject: Subject, act: &Callback<Act>) -> Option<Html> {
    let look = session.look();
    let shown = inspect::inspect(&look, subject)?;
    let more = match subject {
        Subject::Broker(id) => believed::zombie(&look, BrokerId(id)).as_ref().map(beliefs::inspected),
        Subject::Record(client, number) => told_and_true::of(&look, client, number).as_ref().map(told::inspected),
    };
    Some(inspector::subject(&shown, more.unwrap_or_default(), act))
}

/// Where somebody is mistaken: zombies, and the controller.
fn under_rows(session: &Session) -> Vec<(Row, Html)> {
    let look = session.look();
    let zombies = believed::zombies(&look).into_iter();
    let mut under: Vec<_> = zombies
        .map(|belief| (Row::Broker(belief.broker), beliefs::under_row(&belief)))
        .collect();
    let mistakes = known::mistakes(&look);
    if !mistakes.is_empty() {
        under.push((Row::Controller, controller::mistakes(&mistakes)));
    }
    under
}

fn fault_menu(menu: Menu, session: &Session, act: &Callback<Act>) -> Html {
    let look = session.look();
    match menu {
        Menu::Broker(broker) => {
            html! { <FaultMenu {broker} options={faults::options(&look, BrokerId(broker))} act={act.clone()}/> }
        }
        Menu::Link { ends: (a, b), .. } => {
            paths::menu(&look, session.begun(), a, b).map_or_else(Html::default, |path| links::menu(menu, &path, act))
        }
    }
}
