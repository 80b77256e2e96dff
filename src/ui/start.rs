//! The landing's pane: the question, and the wait. What became of the payments is told by `ending`.

use yew::prelude::*;

use crate::ui::act::Act;
use crate::ui::icons::icon;
use crate::ui::panel::heading;
use crate::ui::session::Session;
use crate::ui::tale::{Silence, Tale};
use crate::ui::terms::Words;
use crate::ui::view::faults::{after_kill, at_stake};
use crate::ui::view::look::{Ending, Look};

/// The pane, until the story is told.
pub fn start(session: &Session, act: &Callback<Act>) -> Option<Html> {
    match Tale::of(session) {
        None => Some(before(session, act)),
        Some(tale) if !tale.is_told() => Some(meanwhile(&tale, session)),
        Some(_) => None,
    }
}

fn before(session: &Session, act: &Callback<Act>) -> Html {
    let look = session.look();
    let acked = look.ledger.acknowledged(session.partition()).count();
    let leader = session.leader();
    html! {
        <>
            { heading("Start here", "Kill the leader") }
            <p class="say">
                <Words text="Three brokers keep one log of payments"/>
                { match leader {
                    Some(leader) => html! { <>{ format!("; broker {leader} leads, and has said ") }<strong>{ "yes" }</strong>{ format!(" to {acked} of them: what is that yes worth?") }</> },
                    None => html! { "." },
                } }
            </p>
            <div class="actions">
                <button class="btn primary full" disabled={leader.is_none()} onclick={act.reform(|_| Act::KillLeader)} data-testid="kill-leader">{ icon("bolt") }{ "Kill the leader" }</button>
                if let Some(leader) = leader {
                    <p class="under">{ after_kill(&look, leader) }</p>
                    if let Some(stake) = at_stake(&look, leader) { <p class="under warn">{ stake }</p> }
                }
            </div>
        </>
    }
}

fn meanwhile(tale: &Tale, session: &Session) -> Html {
    let (look, who) = (session.look(), tale.who);
    let is_back = session.leader() == Some(who);
    let title = match tale.how {
        None if is_back && tale.has_election() => format!("Broker {who} leads again"),
        None if is_back => format!("Broker {who} is back"),
        Some(Ending::Killed) => format!("Broker {who} is gone"),
        Some(Ending::PoweredOff) => format!("Broker {who} has no power"),
        Some(Ending::Stopped) => format!("Broker {who} has stopped"),
        None => format!("Broker {who} leads no more"),
    };
    let decided = look.world.image().leader(session.partition());
    let say = match (session.leader(), decided) {
        (Some(leader), _) if tale.waits() && tale.has_election() => {
            format!("Broker {leader} leads now. {}", shop_waits(&look, tale))
        }
        (Some(_), _) if is_back && !tale.has_election() => {
            format!("For the controller broker {who} leads still: the session of the old process has not ended yet.")
        }
        (Some(_), _) if is_back => "It was the one that may lead. The shop goes on selling.".into(),
        (Some(leader), _) => format!("Broker {leader} leads now, with what it had copied. The shop goes on selling."),
        (None, Some(_)) if look.world.controller().is_up() => {
            "The controller has not noticed yet. It misses it when its session ends, nine seconds after it was last heard of."
                .into()
        }
        (None, Some(_)) => "The controller is gone as well: nobody can decide who leads.".into(),
        (None, None) => format!(
            "Nobody is left who may lead: the partition is offline until {} comes back.",
            heirs(&look)
        ),
    };
    let only_there = look.only_on(who);
    let files = match tale.how {
        Some(Ending::PoweredOff) => "What it had in page cache only went with the power.",
        Some(Ending::Killed) if tale.has_election() => {
            "Its files are intact on its host; its copy is just not the one that counts any more."
        }
        Some(Ending::Killed) => "Its files are intact on its host.",
        Some(Ending::Stopped) | None => "",
    };
    html! {
        <>
            { heading("Kill the leader", &title) }
            <p class="say">{ say }</p>
            if only_there > 0 { <p class="under warn">{ format!("{} acknowledged {} on broker {who} alone.", only_there, if only_there == 1 { "payment is" } else { "payments are" }) }</p> }
            <p class="under">{ files }</p>
        </>
    }
}

/// Who may lead an offline partition: those in sync, or else the eligible ones.
fn heirs(look: &Look<'_>) -> String {
    let state = look.world.controller().state().partition(look.partition);
    let heirs = state.map_or(
        &[][..],
        |state| if state.isr.is_empty() { &state.elr } else { &state.isr },
    );
    match heirs {
        [] => "a broker that the operator allows to".to_string(),
        [one] => format!("broker {one}"),
        more => {
            let more: Vec<String> = more.iter().map(ToString::to_string).collect();
            format!("broker {}", more.join(" or "))
        }
    }
}

/// Why the shop has no answer yet although another broker leads.
fn shop_waits(look: &Look<'_>, tale: &Tale) -> String {
    let who = tale.who;
    let why = match tale.silence(look) {
        Silence::Asks => return "The shop asks the brokers that are left, until one of them knows.".to_string(),
        Silence::Unheard => return "The shop has not heard of it yet.".to_string(),
        Silence::NoPower => "a host without power closes no connection",
        Silence::Frozen => "a frozen process closes no connection",
        Silence::Cut => "a path that is cut loses messages without a word",
    };
    format!("The shop still waits for broker {who}: {why}.")
}
