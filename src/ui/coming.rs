//! A lesson whose file is on its way, or did not come.

use yew::prelude::*;

use crate::lesson::library;
use crate::ui::act::Act;
use crate::ui::playground::PLAYGROUND;

/// A lesson whose file is on its way, or did not come.
pub fn coming(slug: &str, failed: Option<&str>, act: &Callback<Act>) -> Html {
    let free = slug.starts_with(PLAYGROUND);
    let title = library::find(slug).map_or(slug, |source| source.title).to_string();
    let (eyebrow, what) = match free {
        true => ("Playground", "This story"),
        false => ("Lesson", "This lesson's file"),
    };
    html! {
        <main class="wide" id="main" tabindex="-1">
            <div class="lessons">
                <div class="intro"><p class="eyebrow">{ eyebrow }</p><h1>{ title }</h1></div>
                if let Some(why) = failed {
                    <div class="notice error" role="alert" data-testid="lesson-failed">
                        <p>{ format!("{what} did not come: {why}. What you have done so far is kept.") }</p>
                        <button class="btn small" onclick={act.reform(|_| Act::FetchAgain)}>{ "Try again" }</button>
                    </div>
                    <p><a href="#/lessons">{ "To the list of lessons" }</a></p>
                } else {
                    <p class="soft" role="status">{ "It is on its way." }</p>
                }
            </div>
        </main>
    }
}
