//! What a broker believes beside what is: the view of a leader that was deposed and has not heard of it.
//!
//! Two images of the cluster are compared, the broker's own and the controller's; that they differ while news travels is
//! Kafka's, and nothing is decided here. Deliberately absent: beliefs of followers and clients, which harm nobody.

use std::rc::Rc;

use crate::cluster::event::BrokerState;
use crate::cluster::image::Image;
use crate::cluster::{BrokerId, Node};
use crate::sorted::SortedSet;
use crate::ui::view::look::Look;
use crate::ui::view::names::{brokers, capital};

/// One thing that is believed, and what is true of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is about, in Kafka's name for it.
    pub about: &'static str,
    /// What the broker believes.
    pub own: Rc<str>,
    /// What is so; nothing where nobody knows, such as the high watermark while nobody leads.
    pub truth: Option<Rc<str>>,
}

impl Line {
    /// Whether the broker is mistaken; about what nobody knows, nobody is.
    pub fn is_mistaken(&self) -> bool {
        self.truth.as_ref().is_some_and(|truth| self.own != *truth)
    }
}

/// A broker that takes itself for the leader and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belief {
    /// Who.
    pub broker: u16,
    /// Why it has not heard.
    pub why: Rc<str>,
    /// Its view and the truth, side by side.
    pub lines: Vec<Line>,
}

/// Every broker that leads the partition in view in its own eyes alone.
pub fn zombies(look: &Look<'_>) -> Vec<Belief> {
    look.world.broker_ids().filter_map(|id| zombie(look, id)).collect()
}

/// What a broker believes, if it takes itself for the leader and is not.
pub fn zombie(look: &Look<'_>, id: BrokerId) -> Option<Belief> {
    let image = look.world.image();
    let state = image.partition(look.partition)?;
    let broker = look.world.broker(id)?;
    let replica = broker.replica(look.partition)?;
    let own_state = broker.process()?.phase.state().name();
    let (leading, epoch) = (replica.leading()?, replica.leads_in()?);
    if state.leader == Some(id) {
        return None;
    }
    let mark = |of: Option<i64>| of.map_or("unknown".to_string(), |at| at.to_string());
    let leader = |of: Option<BrokerId>| of.map_or("nobody".to_string(), |id| id.to_string());
    let real = state
        .leader
        .and_then(|id| look.world.broker(id)?.replica(look.partition));
    let told = |about, own: String, truth: Option<String>| Line {
        about,
        own: own.into(),
        truth: truth.map(Rc::from),
    };
    let line = |about, own: String, truth: String| told(about, own, Some(truth));
    Some(Belief {
        broker: id.0,
        why: why(look, id, state.leader_epoch).into(),
        lines: vec![
            line("leader", leader(Some(id)), leader(state.leader)),
            line("epoch", epoch.to_string(), state.leader_epoch.to_string()),
            line("in sync", sorted(&leading.isr), sorted(&state.isr)),
            told(
                "HW",
                mark(replica.high_watermark()),
                real.and_then(|replica| replica.high_watermark())
                    .map(|at| at.to_string()),
            ),
            line("state", own_state.into(), state_of(&image, id).into()),
        ],
    })
}

/// What the controller has made of a broker.
fn state_of(image: &Image, id: BrokerId) -> &'static str {
    match image.is_alive(id) {
        true => BrokerState::Up.name(),
        false => BrokerState::Fenced.name(),
    }
}

fn sorted(ids: &[BrokerId]) -> String {
    let ids: SortedSet<BrokerId> = ids.iter().copied().collect();
    brokers(&ids.iter().copied().collect::<Vec<_>>())
}

/// What keeps the news from a broker.
fn why(look: &Look<'_>, id: BrokerId, epoch: i32) -> String {
    let me = Node::Broker(id);
    let name = capital(&look.names.node(me));
    if look.world.broker(id).is_some_and(|broker| broker.is_paused()) {
        return format!("{name} is frozen. When it wakes, it leads on until it hears of epoch {epoch}.");
    }
    if !look.world.controller().is_up() {
        return format!(
            "The quorum is gone, and nobody else tells {} of epoch {epoch}.",
            look.names.node(me)
        );
    }
    if !look.world.network().connects(Node::Controller, me) {
        return format!("{name} is cut off from the controller: no news of epoch {epoch} reaches it.");
    }
    format!("The news of epoch {epoch} is on its way to {}.", look.names.node(me))
}
