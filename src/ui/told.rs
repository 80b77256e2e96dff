//! A record as its producer saw it, in the inspector.

use yew::prelude::*;

use crate::ui::view::told_and_true::{Failed, ToldAndTrue};

/// What the application was told above what the log holds, the attempts, and who has read it.
pub fn inspected(record: &ToldAndTrue) -> Html {
    let class = record.differs.then_some("wrong");
    html! {
        <section class="told" data-testid="told">
            <dl class="facts">
                <dt>{ "told" }</dt><dd {class}>{ record.told.to_string() }</dd>
                <dt>{ "in the log" }</dt><dd {class}>{ record.in_log.to_string() }</dd>
                { for record.failures.iter().map(|failed| html! { <><dt>{ attempts(failed) }</dt><dd><span class="error">{ failed.error }</span>{ failed.when.to_string() }</dd></> }) }
                if !record.readers.is_empty() { <dt>{ "read by" }</dt><dd>{ record.readers.join(", ") }</dd> }
            </dl>
        </section>
    }
}

fn attempts(failed: &Failed) -> String {
    match failed.attempts {
        (one, other) if one == other => format!("attempt {one}"),
        (first, last) => format!("attempts {first}–{last}"),
    }
}
