//! What is drawn besides the landing.

use std::rc::Rc;

use yew::prelude::*;

use crate::cluster::rules::Rule;
use crate::lesson::{Block, Fault, Kind};
use crate::sorted::SortedSet;
use crate::ui::act::{Act, Drawer};
use crate::ui::browser::Settings;
use crate::ui::dialogs::{self, Dialog};
use crate::ui::drawers;
use crate::ui::faults::FaultMenu;
use crate::ui::inspector;
use crate::ui::lessons::{self, Lessons};
use crate::ui::page::Page;
use crate::ui::panel;
use crate::ui::playground::{self, Playground};
use crate::ui::reading::{Reading, Run};
use crate::ui::session::Session;
use crate::ui::stores::{self, StoreSession};
use crate::ui::view::faults;
use crate::ui::view::stage::Stage;

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
    /// The caption that a lesson on a cluster has for the present, and whether it asks to pick records.
    pub of_lesson: fn(&Reading, &Session) -> (Option<String>, bool),
    /// The pane of a lesson on a cluster.
    pub lesson: fn(&Reading, &dyn Run, bool, &SortedSet<i64>, &Callback<Act>) -> Html,
    /// The pane of the playground.
    pub playground: fn(&Playground, &Session, &Callback<Act>) -> Html,
    /// What lies in a drawer.
    pub drawer: fn(Drawer, &Page, &Session, &Rc<Stage>) -> Html,
    /// What a rule says.
    pub rule: fn(Rule) -> Html,
    /// A broker's menu of faults.
    pub faults: fn(u16, &Session, &Callback<Act>) -> Html,
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
        (reading.caption(session), picking)
    },
    lesson: panel::lesson,
    playground: playground::view::pane,
    drawer: drawers::content,
    rule: inspector::rule_note,
    faults: |broker, session, act| {
        html! { <FaultMenu {broker} options={faults::options(&session.look(), crate::cluster::BrokerId(broker))} act={act.clone()}/> }
    },
    dialog: dialogs::dialog,
};
