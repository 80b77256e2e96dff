//! A field for a line of the scenario language: what is done leaves it, what is refused stays in it, to be mended.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::ui::act::Act;

/// The field, and what a form that holds it does with what was typed; `done` counts the lines that were done.
#[hook]
pub fn use_line(done: u32, act: &Callback<Act>) -> (NodeRef, Callback<SubmitEvent>) {
    let field = use_node_ref();
    let sent = use_mut_ref(String::new);
    {
        let (field, sent) = (field.clone(), sent.clone());
        use_effect_with(done, move |_| {
            // What was typed since, or done by a button, leaves the field alone.
            let field = field.cast::<HtmlInputElement>();
            if let Some(field) = field.filter(|field| field.value() == *sent.borrow()) {
                field.set_value("");
            }
        });
    }
    let submit = {
        let (field, act) = (field.clone(), act.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let Some(field) = field.cast::<HtmlInputElement>() else {
                return;
            };
            let _ = field.focus();
            sent.replace(field.value());
            let typed = field.value().trim().to_string();
            if !typed.is_empty() {
                act.emit(Act::Do(typed));
            }
        })
    };
    (field, submit)
}

/// Writes the beginning of a line into the field, to be gone on with there.
pub fn begin_line(field: &NodeRef, text: &str) {
    if let Some(field) = field.cast::<HtmlInputElement>() {
        field.set_value(text);
        let _ = field.focus();
    }
}
