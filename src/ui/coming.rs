//! A lesson whose file is on its way, or did not come.

use yew::prelude::*;

use crate::lesson::library;
use crate::ui::act::Act;

/// A lesson whose file is on its way, or did not come.
pub fn coming(slug: &str, failed: Option<&str>, act: &Callback<Act>) -> Html {
    let title = library::find(slug).map_or(slug, |source| source.title).to_string();
    html! {
        <main class="wide" id="main" tabindex="-1">
            <div class="lessons">
                <div class="intro"><p class="eyebrow">{ "Lesson" }</p><h1>{ title }</h1></div>
                if let Some(why) = failed {
                    <div class="notice error" role="alert" data-testid="lesson-failed">
                        <p>{ format!("This lesson's file did not come: {why}. What you have done so far is kept.") }</p>
                        <button class="btn small" onclick={act.reform(|_| Act::FetchAgain)}>{ "Try again" }</button>
                    </div>
                    <p><a href="#/lessons">{ "To the list of lessons" }</a></p>
                } else {
                    <p class="soft" role="status">{ "The lesson is on its way." }</p>
                }
            </div>
        </main>
    }
}
