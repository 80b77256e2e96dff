//! The controller as data: what it knows of each broker and when it heard of it, and where that is not what is.
//!
//! Heartbeats that change nothing are computed by the engine and never in flight as messages; they are shown on request,
//! by when the latest of each broker came. Deliberately absent: the quorum inside, which the engine has as one node.

use std::rc::Rc;

use crate::cluster::controller::LastContact;
use crate::cluster::settings::{Micros, from_millis};
use crate::cluster::{BrokerId, Node, TopicPartition};
use crate::ui::view::look::{Ending, Look};
use crate::ui::view::names::{brokers, time};
use crate::ui::view::overview::{Folded, of_people};
use crate::ui::view::panels::{Chip, Tone};
use crate::ui::view::rows::health;
use crate::ui::view::stage::{Cargo, Flight, Health, Leg, Row};

/// One broker, as the controller has it and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerLine {
    /// Who.
    pub id: u16,
    /// What the controller takes it for.
    pub standing: Chip,
    /// The broker epoch of its registration.
    pub epoch: Rc<str>,
    /// When it was heard last.
    pub heard: Rc<str>,
    /// When its session ends, if it is not heard again.
    pub session: Rc<str>,
    /// How it is.
    pub truth: Chip,
    /// Whether the controller is mistaken about it.
    pub is_mistaken: bool,
}

/// One partition, as the controller has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionLine {
    /// Its name.
    pub name: Rc<str>,
    /// Its topic's id and its number, unless it is the one in view.
    pub leads_to: Option<(u16, u32)>,
    /// Who leads.
    pub leader: Rc<str>,
    /// The leader epoch.
    pub leader_epoch: i32,
    /// The partition epoch.
    pub epoch: i32,
    /// The in-sync replicas.
    pub isr: Rc<str>,
    /// The eligible leader replicas.
    pub elr: Rc<str>,
}

/// All that the controller knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What there is to say of the whole; that the quorum is gone, for example.
    pub headline: Rc<str>,
    /// Whether the quorum is there.
    pub is_up: bool,
    /// Every broker.
    pub brokers: Vec<BrokerLine>,
    /// The partitions of people's topics.
    pub partitions: Vec<PartitionLine>,
    /// Those of the cluster's own.
    pub own: Option<Folded<PartitionLine>>,
}

/// All that the controller knows, beside what is.
pub fn known(look: &Look<'_>) -> Known {
    let node = look.world.controller();
    let offset = node.state().next_offset() - 1;
    let headline = if node.is_up() {
        format!("The quorum is up. The metadata log ends at offset {offset}.")
    } else {
        GONE.to_string()
    };
    Known {
        headline: headline.into(),
        is_up: node.is_up(),
        brokers: look.world.broker_ids().map(|id| broker(look, id)).collect(),
        partitions: of_people(look)
            .into_iter()
            .filter_map(|at| partition(look, at))
            .collect(),
        own: Folded::of(look, |at| partition(look, at)),
    }
}

/// What goes on without a quorum, and what does not.
const GONE: &str =
    "The quorum is gone: nobody is elected or fenced, no ISR changes. Leaders go on with the ISR they have.";

/// Where the controller is mistaken, a sentence for each broker, and what it cannot do at all.
pub fn mistakes(look: &Look<'_>) -> Vec<String> {
    if !look.world.controller().is_up() {
        return vec![GONE.to_string()];
    }
    look.world.broker_ids().filter_map(|id| mistake(look, id)).collect()
}

/// What the controller takes a broker for that is not so.
fn mistake(look: &Look<'_>, id: BrokerId) -> Option<String> {
    let image = look.world.image();
    let truth = truth(look, id);
    let hidden = match (truth, image.is_alive(id)) {
        (Truth::Runs, _) | (Truth::Ends(_), false) => return None,
        (Truth::Ends(how), true) => how,
        (Truth::Frozen, true) => "it is frozen",
        (Truth::Unheard, true) => "the path between them is cut",
        (Truth::Frozen, false) => {
            return Some(format!("Has fenced broker {id}, which is frozen and does not know it."));
        }
        (Truth::Unheard, false) => return Some(format!("Has fenced broker {id}, which runs and cannot be told.")),
    };
    Some(match remaining(look, id) {
        Some(left) if left > 0 => format!(
            "Believes broker {id} alive: {hidden}. Its session ends in {}.",
            time(left)
        ),
        Some(_) => format!("Believes broker {id} alive: {hidden}. Its session is over, and the next check fences it."),
        None => format!("Believes broker {id} alive: {hidden}."),
    })
}

/// How a broker is, as far as it concerns the controller.
#[derive(Clone, Copy)]
enum Truth {
    Runs,
    Frozen,
    /// It runs, and no heartbeat passes.
    Unheard,
    /// It has no process; how that came.
    Ends(&'static str),
}

fn truth(look: &Look<'_>, id: BrokerId) -> Truth {
    let connects = look.world.network().connects(Node::Broker(id), Node::Controller);
    match (health(look, id), look.ending(id)) {
        (Health::Dark, _) => Truth::Ends("its host lost power"),
        (Health::Killed, Some(Ending::Stopped)) => Truth::Ends("it has stopped"),
        (Health::Killed, _) => Truth::Ends("it was killed"),
        (Health::Paused, _) => Truth::Frozen,
        _ if !connects => Truth::Unheard,
        _ => Truth::Runs,
    }
}

/// How long the session of a silent broker lasts; nothing for one that is heard, or has none.
fn remaining(look: &Look<'_>, id: BrokerId) -> Option<Micros> {
    let state = look.world.controller().state();
    match state.last_contact(id)? {
        LastContact::Continuous => None,
        LastContact::At(ms) => {
            let end = from_millis(ms.saturating_add(state.session_timeout_ms()));
            Some(end.saturating_sub(look.world.now()))
        }
    }
}

/// For how long a broker has not been heard; nothing if it has no session.
fn heard(look: &Look<'_>, id: BrokerId) -> Option<Micros> {
    let now = look.world.now();
    let at = look.world.controller().last_heard(id, look.world.settings(), now)?;
    Some(now.saturating_sub(at))
}

fn broker(look: &Look<'_>, id: BrokerId) -> BrokerLine {
    let registered = look.world.controller().state().broker(id);
    let standing = match registered {
        None => Chip::new(Tone::No, "not registered"),
        Some(known) if known.fenced => Chip::new(Tone::Warn, "fenced"),
        Some(known) if known.in_controlled_shutdown => Chip::new(Tone::Warn, "shutting down"),
        Some(_) => Chip::new(Tone::Ok, "unfenced"),
    };
    let truth = match truth(look, id) {
        Truth::Runs => Chip::new(Tone::Ok, health(look, id).word().unwrap_or("up")),
        Truth::Frozen => Chip::new(Tone::Bad, "frozen"),
        Truth::Unheard => Chip::new(Tone::Bad, "up, cut off"),
        Truth::Ends(how) => Chip::new(Tone::Bad, how),
    };
    let every = from_millis(look.world.settings().broker(id).broker_heartbeat_interval_ms);
    let heard = heard(look, id);
    let session = match (remaining(look, id), heard) {
        (_, None) => "none".to_string(),
        (None, Some(ago)) => format!("renewed in {}", time(every.saturating_sub(ago))),
        (Some(0), _) => "over, not found yet".to_string(),
        (Some(left), _) => format!("ends in {}", time(left)),
    };
    BrokerLine {
        id: id.0,
        standing,
        epoch: registered.map_or("–".into(), |known| known.epoch.to_string().into()),
        heard: heard.map_or("–".into(), |ago| format!("{} ago", time(ago)).into()),
        session: session.into(),
        truth,
        is_mistaken: mistake(look, id).is_some(),
    }
}

fn partition(look: &Look<'_>, at: TopicPartition) -> Option<PartitionLine> {
    let state = look.world.controller().state().partition(at)?;
    Some(PartitionLine {
        name: look.names.partition(at).into(),
        leads_to: (at != look.partition).then_some((at.topic.0, at.partition)),
        leader: state.leader.map_or("none".into(), |id| id.to_string().into()),
        leader_epoch: state.leader_epoch,
        epoch: state.partition_epoch,
        isr: brokers(&state.isr).into(),
        elr: brokers(&state.elr).into(),
    })
}

/// The latest heartbeat of each broker, as a message on its way to the controller.
pub fn heartbeats(look: &Look<'_>) -> Vec<Flight> {
    if !look.world.controller().is_up() {
        return Vec::new();
    }
    let flight = |id: BrokerId| {
        let ago = heard(look, id)?;
        let silent = remaining(look, id).is_some();
        Some(Flight {
            key: format!("heartbeat-{id}").into(),
            from: Row::Broker(id.0),
            to: Row::Controller,
            label: format!("{} {}", if silent { "silent" } else { "heard" }, time(ago)).into(),
            more: 0,
            cargo: Cargo::Talk,
            leg: if silent { Leg::Lost } else { Leg::OnTheWay },
        })
    };
    look.world.broker_ids().filter_map(flight).collect()
}
