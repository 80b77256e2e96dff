//! Faults and their healing: processes, hosts, wires, files.
//!
//! A fault only changes what really changes: a killed process's peers learn it from their connections, a host without
//! power is noticed by nobody until a time-out, and the controller learns of either when a session ends.

use crate::cluster::act::change_settings;
use crate::cluster::act::{broker_exists, controller_up, one_protocol};
use crate::cluster::client::Client;
use crate::cluster::event::{BrokerState, LostBy, What};
use crate::cluster::heartbeats;
use crate::cluster::ids::{BrokerId, ClientId, Node};
use crate::cluster::input::{Input, Refused};
use crate::cluster::message::Message;
use crate::cluster::rules::Rule;
use crate::cluster::step::Doing;
use crate::cluster::world::World;

type Done = Result<(), Refused>;

/// A broker's process is killed.
pub(crate) fn kill(doing: &mut Doing<'_>, id: BrokerId) -> Done {
    running(doing.world, id)?;
    doing.with_broker(id, |broker, cx| broker.kill(cx));
    Ok(())
}

/// Performs another fault or a healing.
pub(crate) fn perform(doing: &mut Doing<'_>, fault: Input) -> Done {
    match fault {
        Input::PowerOff(id, keep) => {
            broker_exists(doing.world, id)?;
            let ran = doing.world.broker(id).is_some_and(|b| b.is_running());
            doing.let_broker(id, |broker, cx| broker.power_off(&keep, cx));
            if ran {
                process_gone(doing, Node::Broker(id), Notice::Never);
            }
            Ok(())
        }
        Input::Stop(id) => {
            running(doing.world, id)?;
            if doing.world.broker_state(id) != Some(BrokerState::Up)
                && doing.world.broker_state(id) != Some(BrokerState::Fenced)
            {
                let state = doing.world.broker_state(id).map_or("down", BrokerState::name);
                return Err(Refused::new(
                    format!("broker {id} is {state}"),
                    "stop a broker that is up",
                ));
            }
            doing.with_broker(id, |broker, cx| broker.stop(cx));
            Ok(())
        }
        Input::Start(id, report) => {
            stopped(doing.world, id)?;
            doing.with_broker(id, |broker, cx| broker.start(report, cx));
            // The controller hears of it by its registration, everybody else when it opens its ports.
            Ok(())
        }
        Input::Wipe(id) => {
            stopped(doing.world, id)?;
            doing.with_broker(id, |broker, cx| broker.wipe(cx));
            Ok(())
        }
        Input::WipePartition(tp, id) => damage(doing, id, |broker, cx| broker.wipe_partition(tp, cx)),
        Input::LoseCheckpoint(id, file) => damage(doing, id, |broker, cx| {
            broker.lose_checkpoint(file, cx);
            Ok(())
        }),
        Input::Pause(id) => pause(doing, id),
        Input::Resume(id) => resume(doing, id),
        Input::Cut(pairs) => cut(doing, pairs),
        Input::Heal(pairs) => heal(doing, pairs),
        Input::Slow(node, factor) => slow(doing, node, factor),
        Input::Drop { kind, from, to, next } => {
            doing.world.model.network.condemn(from, to, kind, next);
            if let Node::Broker(id) = from {
                heartbeats::send_condemned(doing, id);
            }
            Ok(())
        }
        Input::Tear(tp, id, keep) => damage(doing, id, |broker, cx| broker.tear(tp, keep, cx)),
        Input::Shorten {
            partition,
            broker,
            from,
            rest,
        } => damage(doing, broker, |broker, cx| broker.shorten(partition, from, rest, cx)),
        Input::Flip(tp, id, base, position) => damage(doing, id, |broker, cx| broker.flip(tp, base, position, cx)),
        Input::RemoveFile(tp, id, name) => damage(doing, id, |broker, cx| broker.remove_file(tp, &name, cx)),
        Input::KillController => kill_controller(doing),
        Input::StartController => start_controller(doing),
        Input::EndSession(id) => {
            broker_exists(doing.world, id)?;
            controller_up(doing.world)?;
            doing.hear_brokers();
            doing.with_controller(|controller, cx| controller.end_session(id, cx));
            Ok(())
        }
        _ => Err(Refused::new("this act is unknown to this version", "leave it out")),
    }
}

fn running(world: &World, id: BrokerId) -> Done {
    broker_exists(world, id)?;
    if world.broker(id).is_some_and(|b| b.is_running()) {
        return Ok(());
    }
    Err(Refused::new(
        format!("broker {id} is down"),
        format!("start {id} first"),
    ))
}

fn stopped(world: &World, id: BrokerId) -> Done {
    broker_exists(world, id)?;
    if world.broker(id).is_some_and(|b| !b.is_running()) {
        return Ok(());
    }
    let state = world.broker_state(id);
    let remedy = match state {
        Some(BrokerState::Stopping) => format!("wait until it is down, or kill or power-off {id} first"),
        _ => format!("kill, stop or power-off {id} first"),
    };
    let state = state.map_or("up", BrokerState::name);
    Err(Refused::new(format!("broker {id} is {state}"), remedy))
}

/// Everybody but this node.
fn peers(world: &World, node: Node) -> Vec<Node> {
    let brokers = world.broker_ids().map(Node::Broker);
    let clients = world.clients().map(|(id, _)| Node::Client(id));
    let all = std::iter::once(Node::Controller).chain(brokers).chain(clients);
    all.filter(|&peer| peer != node).collect()
}

/// Whether peers learn from their connections that a process is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// At once, behind everything that had been sent: the host closes the connections.
    AtOnce,
    /// Never, only from time-outs: the host itself is gone.
    Never,
}

/// What the rest of the world sees when a process has ended.
pub(crate) fn process_gone(doing: &mut Doing<'_>, node: Node, by: Notice) {
    let by = if doing.world.rules().on(Rule::WireDown) {
        by
    } else {
        Notice::Never
    };
    doing.world.model.timers.clear(node);
    for peer in peers(doing.world, node) {
        let on_the_way = doing.world.model.network.clear(peer, node);
        if peer == Node::Controller {
            silence(doing, node);
            continue;
        }
        match by {
            Notice::Never => doing.on_lost(peer, node),
            Notice::AtOnce => notice(doing, node, peer),
        }
        for lost in on_the_way {
            let kind = lost.message.kind();
            doing.say(Rule::WireDown, || What::MessageLost {
                from: peer,
                to: node,
                kind,
                by: LostBy::Down,
            });
        }
    }
}

/// A peer notices that a connection was closed, behind everything that had been sent on it.
fn notice(doing: &mut Doing<'_>, gone: Node, peer: Node) {
    let model = &mut doing.world.model;
    if !model.network.passes(gone, peer) {
        return;
    }
    let behind = model.network.last_due(gone, peer);
    if behind.is_some() || !doing.world.is_awake(peer) {
        if doing.world.accepts(peer) {
            let now = doing.world.model.now;
            doing
                .world
                .model
                .network
                .put(gone, peer, now, behind.unwrap_or(now), Message::Closed);
        }
        return;
    }
    match peer {
        Node::Broker(id) => doing.with_broker(id, |broker, cx| broker.on_message(gone, Message::Closed, cx)),
        Node::Client(id) => {
            if let Node::Broker(from) = gone {
                doing.with_client(id, |client, cx| client.on_message(from, Message::Closed, cx));
            }
        }
        Node::Controller => {}
    }
}

/// The controller hears nothing more of a broker.
pub(crate) fn silence(doing: &mut Doing<'_>, node: Node) {
    if let Node::Broker(id) = node {
        doing.with_controller(|controller, cx| controller.silence(id, cx));
    }
}

/// A process is there again, or a path passes again: whoever gave up tries anew.
fn reachable_again(doing: &mut Doing<'_>, node: Node) {
    for peer in peers(doing.world, node) {
        path_back(doing, node, peer);
    }
}

/// A starting broker has read the metadata and takes connections from now on.
pub(crate) fn ports_open(doing: &mut Doing<'_>, id: BrokerId) {
    let node = Node::Broker(id);
    for peer in peers(doing.world, node) {
        if peer != Node::Controller {
            path_back(doing, node, peer);
        }
    }
}

fn path_back(doing: &mut Doing<'_>, a: Node, b: Node) {
    if !doing.world.model.network.connects(a, b) {
        return;
    }
    for (one, other) in [(a, b), (b, a)] {
        if !doing.world.accepts(other) {
            continue;
        }
        match one {
            Node::Broker(id) if doing.world.broker(id).is_some_and(|b| b.is_running()) => {
                doing.with_broker(id, |broker, cx| broker.on_reachable(other, cx));
            }
            Node::Client(id) if doing.world.is_awake(one) => {
                doing.with_client(id, |client, cx| client.on_reachable(other, cx));
            }
            Node::Controller => {
                if let Node::Broker(id) = other
                    && doing.world.controller().is_up()
                {
                    doing.with_controller(|controller, cx| controller.on_reachable(id, cx));
                }
            }
            Node::Broker(_) | Node::Client(_) => {}
        }
    }
}

fn pause(doing: &mut Doing<'_>, id: BrokerId) -> Done {
    running(doing.world, id)?;
    if doing.world.broker(id).is_some_and(|b| b.is_paused()) {
        return Err(Refused::new(
            format!("broker {id} is paused already"),
            format!("resume {id} first"),
        ));
    }
    doing.with_broker(id, |broker, cx| broker.pause(cx));
    let node = Node::Broker(id);
    silence(doing, node);
    for peer in peers(doing.world, node) {
        if peer != Node::Controller {
            doing.on_lost(peer, node);
        }
    }
    Ok(())
}

fn resume(doing: &mut Doing<'_>, id: BrokerId) -> Done {
    running(doing.world, id)?;
    if !doing.world.broker(id).is_some_and(|b| b.is_paused()) {
        return Err(Refused::new(
            format!("broker {id} is not paused"),
            format!("pause {id} first"),
        ));
    }
    doing.with_broker(id, |broker, cx| broker.resume(cx));
    Ok(())
}

fn cut(doing: &mut Doing<'_>, pairs: Vec<(Node, Node)>) -> Done {
    if !doing.world.rules().on(Rule::WireCut) {
        return Ok(());
    }
    for &(from, to) in &pairs {
        doing.world.model.network.cut(from, to);
    }
    let told = pairs.clone();
    doing.say(Rule::Act, || What::Links { cut: true, pairs: told });
    for &(from, to) in &pairs {
        doing.lose_in_flight(from, to, LostBy::Cut);
        doing.on_lost(from, to);
        doing.on_lost(to, from);
        match (from, to) {
            (Node::Controller, broker) | (broker, Node::Controller) => silence(doing, broker),
            _ => {}
        }
    }
    Ok(())
}

fn heal(doing: &mut Doing<'_>, pairs: Option<Vec<(Node, Node)>>) -> Done {
    let pairs = pairs.unwrap_or_else(|| doing.world.model.network.cuts().collect());
    let healed: Vec<_> = pairs
        .into_iter()
        .filter(|&(from, to)| doing.world.model.network.heal(from, to))
        .collect();
    let told = healed.clone();
    doing.say(Rule::Act, || What::Links {
        cut: false,
        pairs: told,
    });
    let mut done = Vec::new();
    for (from, to) in healed {
        let pair = (from.min(to), from.max(to));
        if !done.contains(&pair) {
            done.push(pair);
            path_back(doing, pair.0, pair.1);
        }
    }
    Ok(())
}

fn slow(doing: &mut Doing<'_>, node: Node, factor: u32) -> Done {
    if factor == 0 {
        return Err(Refused::new(
            "a factor of 0 would make it infinitely fast",
            "give 1 or more",
        ));
    }
    if let Node::Broker(id) = node {
        broker_exists(doing.world, id)?;
    }
    change_settings(doing, |settings| {
        if factor == 1 {
            settings.slow.remove(&node);
        } else {
            settings.slow.insert(node, factor);
        }
    });
    doing.say(Rule::Act, || What::Slowed { node, factor });
    Ok(())
}

fn damage(
    doing: &mut Doing<'_>,
    id: BrokerId,
    act: impl FnOnce(&mut crate::cluster::broker::Broker, &mut crate::cluster::actor::Cx<'_>) -> Result<(), String>,
) -> Done {
    stopped(doing.world, id)?;
    let done = doing.with_broker(id, act);
    done.map_err(|reason| Refused::new(reason, "name a replica, a file and a position that exist"))
}

fn kill_controller(doing: &mut Doing<'_>) -> Done {
    if !doing.world.controller().is_up() {
        return Err(Refused::new("the controller is down already", "start controller first"));
    }
    doing.with_controller(|controller, cx| controller.kill(cx));
    doing.say(Rule::Act, || What::ControllerState { up: false });
    doing.world.model.timers.clear(Node::Controller);
    for id in doing.world.broker_ids() {
        doing.lose_in_flight(Node::Broker(id), Node::Controller, LostBy::Down);
        doing.on_lost(Node::Broker(id), Node::Controller);
    }
    Ok(())
}

fn start_controller(doing: &mut Doing<'_>) -> Done {
    if doing.world.controller().is_up() {
        return Err(Refused::new("the controller is up already", "kill controller first"));
    }
    doing.with_controller(|controller, cx| controller.start(cx));
    doing.say(Rule::Act, || What::ControllerState { up: true });
    reachable_again(doing, Node::Controller);
    Ok(())
}

/// Ends a client's process without closing.
pub(crate) fn kill_client(doing: &mut Doing<'_>, id: ClientId) -> Done {
    let node = Node::Client(id);
    if !doing.world.client(id).is_some_and(Client::is_running) {
        let name = doing.world.node_name(node);
        return Err(Refused::new(
            format!("{name} is not running"),
            format!("start {name} first"),
        ));
    }
    doing.with_client(id, |client, cx| client.kill(cx));
    doing.say(Rule::Kill, || What::ClientEnded { client: id });
    process_gone(doing, node, Notice::AtOnce);
    Ok(())
}

/// Starts a client's process again.
pub(crate) fn start_client(doing: &mut Doing<'_>, id: ClientId) -> Done {
    if doing.world.client(id).is_some_and(Client::is_running) {
        let name = doing.world.node_name(Node::Client(id));
        return Err(Refused::new(
            format!("{name} is running already"),
            format!("kill {name} first"),
        ));
    }
    if let Some(consumer) = doing.world.client(id).and_then(Client::as_consumer) {
        one_protocol(doing.world, consumer.group(), consumer.config().group_protocol)?;
    }
    doing.with_client(id, |client, cx| client.start(cx));
    doing.say(Rule::Act, || What::ClientStarted { client: id });
    Ok(())
}
