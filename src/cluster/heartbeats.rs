//! The heartbeats of brokers that are sent: those that the controller works out by itself change nothing.
//!
//! A broker's heartbeats are news while a fault takes some of them away, and where they come so rarely that its session ends
//! between two. They leave at the times at which they would have been computed. What a fault does not take arrives and
//! renews the session, and the next one is computed again.

use crate::cluster::ids::{BrokerId, Node};
use crate::cluster::message::MessageKind;
use crate::cluster::rules::Rule;
use crate::cluster::step::Doing;
use crate::cluster::world::World;

/// The configs that say which heartbeats are news.
const CONFIGS: [&str; 2] = ["broker.heartbeat.interval.ms", "broker.session.timeout.ms"];

/// A world begins.
pub(crate) fn begin(world: &mut World) {
    if !world.broker_ids().any(|id| world.settings().beats_rarely(id).is_some()) {
        return;
    }
    follow_rare_ones(&mut Doing::unheard(world));
}

/// Whether a change of these configs changes which heartbeats are news.
pub(crate) fn depend_on(configs: &[(String, String)]) -> bool {
    configs.iter().any(|(name, _)| CONFIGS.contains(&name.as_str()))
}

/// Sends those of the brokers that are heard rarely.
pub(crate) fn follow_rare_ones(doing: &mut Doing<'_>) {
    for id in doing.world.broker_ids() {
        if doing.world.settings().beats_rarely(id).is_some() {
            send_next(doing, id);
            doing.with_controller(|controller, cx| controller.expect_beat(id, cx));
        }
    }
}

/// Sends those of a broker that a fault may take away.
pub(crate) fn send_condemned(doing: &mut Doing<'_>, id: BrokerId) {
    let takes = doing.world.rules().on(Rule::WireDrop);
    let network = doing.world.network();
    if takes && network.condemns(Node::Broker(id), Node::Controller, MessageKind::Heartbeat) {
        send_next(doing, id);
    }
}

/// The next heartbeat of a broker that is heard all the time is sent. One that is not heard is heard by a heartbeat that is
/// sent anyway.
fn send_next(doing: &mut Doing<'_>, id: BrokerId) {
    let world = &*doing.world;
    if !world.is_awake(Node::Broker(id)) || !world.accepts(Node::Controller) {
        return;
    }
    if let Some(due) = world.controller().next_beat(id, world.settings(), world.now()) {
        doing.with_broker(id, |broker, cx| broker.beat_for_real(due, cx));
    }
}
