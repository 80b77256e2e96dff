//! The landing's pane: the question, the wait, and what became of the payments.

use yew::prelude::*;

use crate::cluster::{BrokerId, Tag};
use crate::config::Acks;
use crate::ledger::present::Fate;
use crate::log::Errors;
use crate::ui::act::{Act, Subject};
use crate::ui::icons::icon;
use crate::ui::page::Landing;
use crate::ui::panel::heading;
use crate::ui::session::Session;
use crate::ui::tale::{Became, Silence, Tale};
use crate::ui::terms::Words;
use crate::ui::view::faults::{after_kill, at_stake};
use crate::ui::view::lanes::acks_word;
use crate::ui::view::look::{Ending, Look};

/// How many lost payments are named.
const NAMED: usize = 4;

/// The pane.
pub fn start(landing: &Landing, session: &Session, selected: Option<Subject>, act: &Callback<Act>) -> Html {
    match Tale::of(session) {
        None => before(session, act),
        Some(tale) if !tale.is_told() => meanwhile(&tale, session),
        Some(tale) => after(landing, &tale, session, selected, act),
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
                    Some(leader) if acked == 0 && acks(session) == "0" => html! { format!("; broker {leader} leads, and says yes to nobody: what is that worth?") },
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

fn after(landing: &Landing, tale: &Tale, session: &Session, selected: Option<Subject>, act: &Callback<Act>) -> Html {
    let look = session.look();
    let acks = acks(session);
    html! {
        <>
            { match tale.ending(&look) {
                Became::Lost { lost, acks, refused } => gone(tale, session, &lost, worth(acks), refused, selected, act),
                Became::Unconfirmed { sent, gone } => never_confirmed(&look, sent, &gone, selected, act),
                Became::Refused(error) => refused(&look, error),
                Became::Kept { acknowledged, acks } => kept(tale.who, acknowledged, acks),
            } }
            <div class="panel">
                <p class="q">{ "Change one setting and do it again" }</p>
                <div class="row apart">
                    <code>{ "acks" }</code>
                    <span class="seg" role="group" aria-label="Do it again with acks">
                        { for ["0", "1", "all"].map(|value| html! {
                            <button key={value} aria-pressed={(value == acks).to_string()} onclick={act.reform(move |_| Act::RestartWith("acks", value.to_string()))} data-testid={format!("again-{value}")}>{ value }</button>
                        }) }
                    </span>
                </div>
                if !landing.in_force(Some(session)).is_empty() { <button class="btn full" onclick={act.reform(|_| Act::Restart)}>{ "Again, as it is" }</button> }
            </div>
            <a class="btn primary full" href="#/lesson/02-the-log">{ "Begin with the first lesson" }</a>
            <a class="btn full" href="#/lesson/00-kill-the-leader">{ "This story as a lesson" }</a>
        </>
    }
}

fn acks(session: &Session) -> &'static str {
    let world = session.playback().world();
    let producer = world.clients().find_map(|(_, client)| client.as_producer());
    producer.map_or("", |producer| acks_word(producer.config().acks))
}

/// What a yes was worth.
fn worth(acks: Option<Acks>) -> &'static str {
    match acks {
        Some(Acks::Leader) => "acks=1: yes meant the leader alone.",
        Some(Acks::All) => "acks=all: yes meant every in-sync copy.",
        _ => "A yes is worth what acks says when it is given.",
    }
}

/// Confirmed payments that are gone, each with what stands in its place.
fn gone(
    tale: &Tale,
    session: &Session,
    lost: &[Tag],
    worth: &'static str,
    refused: Option<Errors>,
    selected: Option<Subject>,
    act: &Callback<Act>,
) -> Html {
    let look = session.look();
    let who = tale.who;
    let acknowledged = look.ledger.acknowledged(session.partition()).count();
    let leader = session
        .leader()
        .map_or_else(|| "The new leader".to_string(), |id| format!("Broker {id}"));
    let ended = match tale.how {
        Some(Ending::Killed) => format!("when broker {who} died"),
        Some(Ending::PoweredOff) => format!("when broker {who} lost power"),
        Some(Ending::Stopped) => format!("when broker {who} handed over"),
        None => format!("when it took over from broker {who}"),
    };
    let since = match refused {
        None => "gives their offsets to other payments".to_string(),
        Some(error) => format!("takes no new ones: {}", error.name()),
    };
    html! {
        <>
            { heading("What became of them", &format!("{} confirmed payment{} gone", lost.len(), if lost.len() == 1 { " is" } else { "s are" })) }
            <p class="say">{ "The shop was told " }<strong>{ "yes" }</strong>{ format!(" for {acknowledged}. Nobody told it otherwise since.") }</p>
            { each_lost(&look, lost, selected, act) }
            <div class="panel bad"><p class="q">{ worth }</p><p class="under">{ format!("{leader} had not copied them {ended}, and {since}.") }</p></div>
        </>
    }
}

/// Those that are gone, the first by name.
fn each_lost(look: &Look<'_>, lost: &[Tag], selected: Option<Subject>, act: &Callback<Act>) -> Html {
    html! {
        <>
            <ul class="truths" data-testid="lost">
                { for lost.iter().take(NAMED).map(|tag| one_lost(look, *tag, selected, act)) }
            </ul>
            if lost.len() > NAMED { <p class="under">{ format!("and {} more, see the ledger", lost.len() - NAMED) }</p> }
        </>
    }
}

fn one_lost(look: &Look<'_>, tag: Tag, selected: Option<Subject>, act: &Callback<Act>) -> Html {
    let subject = Subject::Record(tag.client.0, tag.number);
    let offset = look.ledger.story(tag).and_then(|story| story.offset());
    let instead = offset.and_then(|offset| Look::tag_at(look.leader_log()?, offset));
    html! {
        <li key={tag.number}>
            <button class="link" aria-pressed={(selected == Some(subject)).to_string()} onclick={act.reform(move |_| Act::Inspect(Some(subject)))}>{ look.names.record(tag) }</button>
            <span class="soft">{ match (offset, instead) {
                (Some(offset), Some(other)) => format!("offset {offset} holds {} now", look.names.record(other)),
                (Some(offset), None) => format!("offset {offset} is empty now"),
                _ => String::new(),
            } }</span>
            <span class="chip bad">{ if look.fate(tag) == Fate::Lost { "✕ lost" } else { "✕ gone" } }</span>
        </li>
    }
}

/// Nothing that was confirmed is gone.
fn kept(who: BrokerId, acknowledged: usize, acks: Option<Acks>) -> Html {
    let why = match acks {
        Some(Acks::All) => {
            format!("What broker {who} had not handed on was never acknowledged, and the shop sent it again.")
        }
        Some(Acks::Leader) => {
            format!("This time all of it had been copied when broker {who} ended. Nothing had made sure of that.")
        }
        _ => "Not all of them were sent with the same setting.".to_string(),
    };
    html! {
        <>
            { heading("What became of them", "Nothing was lost") }
            <p class="say">{ format!("The shop was told yes for {acknowledged} payments, and all of them are in the log.") }</p>
            <div class="panel good"><p class="q">{ worth(acks) }</p><p class="under">{ why }</p></div>
        </>
    }
}

/// The new leader takes nothing.
fn refused(look: &Look<'_>, error: Errors) -> Html {
    let isr = look
        .world
        .image()
        .partition(look.partition)
        .map_or(0, |state| state.isr.len());
    let why = match error {
        Errors::NotEnoughReplicas | Errors::NotEnoughReplicasAfterAppend => format!(
            "min.insync.replicas asks for more replicas in sync than the {isr} that are left. The shop tries again until its time is up."
        ),
        _ => "The shop tries again until its time is up.".to_string(),
    };
    html! {
        <>
            { heading("What became of them", "Nothing was lost, and nothing is sold") }
            <p class="say">{ "Every payment that the shop was told yes for is in the log. New ones are refused: " }<code>{ error.name() }</code>{ "." }</p>
            <div class="panel bad"><p class="q">{ "Safe, but not available." }</p><p class="under">{ why }</p></div>
        </>
    }
}

/// What became of records that nobody was ever to confirm.
fn never_confirmed(look: &Look<'_>, sent: usize, gone: &[Tag], selected: Option<Subject>, act: &Callback<Act>) -> Html {
    let headline = match gone.len() {
        0 => "Nobody was told anything".to_string(),
        1 => "1 payment is gone".to_string(),
        gone => format!("{gone} payments are gone"),
    };
    html! {
        <>
            { heading("What became of them", &headline) }
            <p class="say">{ format!("The shop sent {sent} without ever being told anything. It cannot know which of them are in the log.") }</p>
            if !gone.is_empty() { { each_lost(look, gone, selected, act) } }
            <div class="panel bad"><p class="q">{ "acks=0: there is no yes." }</p><p class="under">{ "What only the dead leader had is gone, and so is what was sent to it until the next one was known." }</p></div>
        </>
    }
}
