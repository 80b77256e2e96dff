//! The wait for the second part of the program.

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::{get, load};
use crate::ui::act::Act;

/// Does something once the second part is there: at once, if it is. If it does not come, that is said.
pub fn when_here(act: &Callback<Act>, then: impl FnOnce() + 'static) {
    if get().is_some() {
        return then();
    }
    let act = act.clone();
    spawn_local(async move {
        match load().await {
            Ok(()) => then(),
            Err(why) => act.emit(Act::Missing(why.into())),
        }
    });
}

#[derive(Properties, PartialEq)]
pub struct ArrivingProps {
    /// Where it is said that it has come.
    pub act: Callback<Act>,
}

/// Stands where something is drawn that is not there yet; it fetches it.
#[component]
pub fn Arriving(props: &ArrivingProps) -> Html {
    let act = props.act.clone();
    use_effect_with((), move |()| {
        let arrived = act.reform(|()| Act::Arrived);
        when_here(&act, move || arrived.emit(()));
    });
    html! { <p class="empty" role="status">{ "On its way." }</p> }
}
