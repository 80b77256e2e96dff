//! What is to be said apart from the run: that the future was cut off, that something was refused or set aside.

use yew::prelude::*;

use crate::history::CutNotice;
use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::page::{Notice, Page};
use crate::ui::view::names;

/// What is to be said, with what can be done about it.
pub fn notice(page: &Page, act: &Callback<Act>) -> Html {
    html! { <>{ page.cut_off().map(|cut| cut_off(&cut, act)) }{ page.notice.as_ref().map(|notice| apart(notice, page, act)) }</> }
}

fn dismiss(act: &Callback<Act>, what: Act) -> Html {
    html! { <button class="btn small quiet square" aria-label="Dismiss" onclick={act.reform(move |_| what.clone())}>{ icon("cross") }</button> }
}

fn cut_off(cut: &CutNotice, act: &Callback<Act>) -> Html {
    let steps = match cut.dropped {
        1 => "the step that came after is".to_string(),
        dropped => format!("the {dropped} steps that came after are"),
    };
    html! {
        <div class="notice" role="status" data-testid="cut"><p>{ format!("You changed the past: {steps} set aside.") }</p>
            <button class="btn small" onclick={act.reform(|_| Act::Undo)}>{ icon("undo") }{ "Undo" }</button>{ dismiss(act, Act::DismissCut) }</div>
    }
}

fn apart(notice: &Notice, page: &Page, act: &Callback<Act>) -> Html {
    let dismiss = dismiss(act, Act::Dismiss);
    match notice {
        Notice::Aside => html! {
            <div class="notice" role="status" data-testid="notice"><p>{ "What you had on the playground before is set aside." }</p>
                <button class="btn small" onclick={act.reform(|_| Act::TakeBack)}>{ icon("undo") }{ "Undo" }</button>{ dismiss }</div>
        },
        Notice::Unchecked => html! {
            <div class="notice said" role="status" data-testid="notice"><p>{ "This lesson is long, so it was not played from end to end: whether its checks hold is not known." }</p>
                <button class="btn small" onclick={act.reform(|_| Act::CheckLesson)}>{ "Check it now" }</button>{ dismiss }</div>
        },
        Notice::Refused(why) => {
            html! { <div class="notice error" role="alert" data-testid="notice"><p>{ names::sentence(why, |word| page.session.as_ref().is_some_and(|session| session.is_name(word))) }</p>{ dismiss }</div> }
        }
        Notice::Said(text) => {
            html! { <div class="notice said" role="status" data-testid="notice"><p>{ text.to_string() }</p>{ dismiss }</div> }
        }
    }
}
