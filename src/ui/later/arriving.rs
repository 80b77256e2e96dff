//! The wait for the second part of the program.

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::{get, load};
use crate::ui::act::Act;

/// Does something once the second part is there: at once, if it is. What has waited for it longer, such as a run that a
/// crash has interrupted, goes before. If it does not come, that is said.
pub fn when_here(act: &Callback<Act>, then: impl FnOnce() + 'static) {
    if get().is_some() {
        return then();
    }
    let act = act.clone();
    spawn_local(async move {
        match load().await {
            Ok(()) => {
                act.emit(Act::Arrived);
                then();
            }
            Err(why) => act.emit(Act::Missing(why.into())),
        }
    });
}

/// Properties of the wait.
#[derive(Properties, PartialEq)]
pub struct ArrivingProps {
    /// Is told when it is over.
    pub arrived: Callback<()>,
}

/// Stands where something is drawn that is not there yet; it fetches it.
#[component]
pub fn Arriving(props: &ArrivingProps) -> Html {
    let tries = use_state(|| 0);
    let failed = use_state(|| None::<String>);
    {
        let (arrived, failed) = (props.arrived.clone(), failed.clone());
        use_effect_with(*tries, move |_| {
            spawn_local(async move {
                match load().await {
                    Ok(()) => arrived.emit(()),
                    Err(why) => failed.set(Some(why)),
                }
            });
        });
    }
    let again = {
        let failed = failed.clone();
        Callback::from(move |_: MouseEvent| {
            failed.set(None);
            tries.set(*tries + 1);
        })
    };
    match &*failed {
        None => html! { <p class="empty" role="status">{ "On its way." }</p> },
        Some(why) => html! {
            <p class="empty" role="alert" data-testid="not-come">{ format!("This part of the page did not come: {why}. ") }<button class="btn small" onclick={again}>{ "Try again" }</button></p>
        },
    }
}
