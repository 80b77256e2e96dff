//! What can happen to the path between two nodes, and what would survive it: said before it is done.

use std::rc::Rc;

use crate::cluster::message::MessageKind;
use crate::cluster::settings::{Micros, from_millis};
use crate::cluster::{BrokerId, ClientId, Node, World};
use crate::ui::view::look::Look;
use crate::ui::view::names::span;
use crate::ui::view::stage::Row;

/// The latency of a path that was slowed by hand; one that is as slow already takes twice as long then.
const SLOW: Micros = 100_000;

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// Nothing passes either way.
    Cut,
    /// Nothing passes from one end to the other.
    CutOneWay,
    /// Everything passes again.
    Heal,
    /// Everything takes longer.
    Slow,
    /// Everything takes as long as before.
    Hasten,
    /// One message is lost.
    Drop,
}

/// One entry of a path's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOption {
    /// What is done.
    pub fault: LinkFault,
    /// Its name.
    pub title: Rc<str>,
    /// The line of the scenario language that does it.
    pub text: Rc<str>,
    /// What survives, and what follows.
    pub survives: Rc<str>,
    /// What dies; empty when nothing does.
    pub dies: Rc<str>,
}

/// A path's menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkMenu {
    /// The two ends, as the menu was opened.
    pub ends: (Row, Row),
    /// The ends in words.
    pub title: Rc<str>,
    /// Every end that a path of this cluster may have: what it is called.
    pub nodes: Vec<(Row, Rc<str>)>,
    /// What can be done.
    pub options: Vec<LinkOption>,
}

/// The node of a row.
pub fn node(row: Row) -> Node {
    match row {
        Row::Client(id) => Node::Client(ClientId(id)),
        Row::Broker(id) => Node::Broker(BrokerId(id)),
        Row::Controller => Node::Controller,
    }
}

/// The menu of a path, in a run that has `begun` so; nothing if no messages ever pass there.
pub fn menu(look: &Look<'_>, begun: &World, a: Row, b: Row) -> Option<LinkMenu> {
    let [from, to] = [node(a), node(b)];
    let exists = |node: Node| match node {
        Node::Controller => true,
        Node::Broker(id) => look.world.broker(id).is_some(),
        Node::Client(id) => look.world.client(id).is_some(),
    };
    if !exists(from) || !exists(to) || !talk(from, to) {
        return None;
    }
    let brokers = look.world.broker_ids().map(|id| Row::Broker(id.0));
    let clients = look.world.clients().map(|(id, _)| Row::Client(id.0));
    let nodes = brokers.chain(clients).chain([Row::Controller]);
    Some(LinkMenu {
        ends: (a, b),
        title: format!("{} and {}", subject(look, from), called(look, to)).into(),
        nodes: nodes.map(|row| (row, called(look, node(row)).into())).collect(),
        options: options(look, begun, from, to),
    })
}

/// Whether two nodes exchange messages at all: clients talk to brokers alone.
pub fn talk(a: Node, b: Node) -> bool {
    a != b && (matches!(a, Node::Broker(_)) || matches!(b, Node::Broker(_)))
}

/// What a node is called where it stands beside others of its kind.
fn called(look: &Look<'_>, node: Node) -> String {
    match node {
        Node::Client(id) => look.names.client(id).to_string(),
        other => look.names.node(other),
    }
}

/// The same at the beginning of a sentence; a client's own name stays as it is written.
fn subject(look: &Look<'_>, node: Node) -> String {
    match node {
        Node::Client(id) => look.names.client(id).to_string(),
        other => look.names.subject(other),
    }
}

fn options(look: &Look<'_>, begun: &World, a: Node, b: Node) -> Vec<LinkOption> {
    let network = look.world.network();
    let whole = network.connects(a, b);
    let mut options = Vec::new();
    if !whole {
        options.push(heal(look, a, b));
    }
    if network.passes(a, b) || network.passes(b, a) {
        options.push(cut(look, a, b));
    }
    if whole {
        options.extend([cut_one_way(look, a, b), cut_one_way(look, b, a)]);
        options.push(slow(look, begun, a, b));
        let kinds = [(a, b), (b, a)];
        options.extend(kinds.into_iter().flat_map(|(from, to)| {
            messages(look, from, to)
                .iter()
                .map(move |kind| drop_one(look, from, to, *kind))
        }));
    }
    options
}

fn heal(look: &Look<'_>, a: Node, b: Node) -> LinkOption {
    LinkOption {
        fault: LinkFault::Heal,
        title: "Heal".into(),
        text: format!("heal {} {}", written(look, a), written(look, b)).into(),
        survives: "Messages pass again. What was lost on the wire is not sent again by the wire.".into(),
        dies: "".into(),
    }
}

fn cut(look: &Look<'_>, a: Node, b: Node) -> LinkOption {
    LinkOption {
        fault: LinkFault::Cut,
        title: "Cut both ways".into(),
        text: format!("cut {} {}", written(look, a), written(look, b)).into(),
        survives: format!("Logs stay as they are. {}", follows(look, a, b)).into(),
        dies: lost_on(look, &[(a, b), (b, a)]).into(),
    }
}

fn cut_one_way(look: &Look<'_>, from: Node, to: Node) -> LinkOption {
    let (one, other) = (called(look, from), called(look, to));
    LinkOption {
        fault: LinkFault::CutOneWay,
        title: format!("Cut from {one} to {other}").into(),
        text: format!("cut {} from {}", written(look, from), written(look, to)).into(),
        survives: format!(
            "Logs stay as they are. {} still hears {other}; its own messages are lost until they are given up.",
            subject(look, from)
        )
        .into(),
        dies: lost_on(look, &[(from, to)]).into(),
    }
}

/// A path that was slowed since the run began gets the latency back that it had then.
fn slow(look: &Look<'_>, begun: &World, a: Node, b: Node) -> LinkOption {
    let first = begun.settings().latency(a, b);
    let now = look.world.settings().latency(a, b);
    let (fault, title, latency) = match now {
        _ if now > first => (LinkFault::Hasten, "Make it fast again", first),
        _ if now < SLOW => (LinkFault::Slow, "Slow it down", SLOW),
        _ => (LinkFault::Slow, "Slow it down", now.saturating_mul(2)),
    };
    LinkOption {
        fault,
        title: title.into(),
        text: format!(
            "set link {}-{} latency={}us",
            written(look, a),
            written(look, b),
            latency
        )
        .into(),
        survives: format!("Nothing is lost. Each message takes {} from now on.", span(latency)).into(),
        dies: "".into(),
    }
}

fn drop_one(look: &Look<'_>, from: Node, to: Node, kind: MessageKind) -> LinkOption {
    LinkOption {
        fault: LinkFault::Drop,
        title: format!(
            "Lose the next {} to {}",
            kind.name().replace('-', " "),
            called(look, to)
        )
        .into(),
        text: format!(
            "drop {} from {} to {}",
            kind.name(),
            written(look, from),
            written(look, to)
        )
        .into(),
        survives: format!("The connection stays. {}", after_drop(kind)).into(),
        dies: "One message dies.".into(),
    }
}

/// What its sender does about a message that was lost.
fn after_drop(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Produce => "The producer hears nothing, and sends again after request.timeout.ms.",
        MessageKind::ProduceResponse => "The record is in the log; its producer does not know, and sends it again.",
        MessageKind::Fetch | MessageKind::FetchResponse => "Whoever fetches waits for its time-out, and asks again.",
        MessageKind::AlterPartition => "The leader goes on with the ISR it wished for, and asks again.",
        _ => "Its sender notices by its time-out.",
    }
}

/// The kinds of message of which one may be lost on a path, as far as they pass there.
fn messages(look: &Look<'_>, from: Node, to: Node) -> &'static [MessageKind] {
    let leader = look.world.image().leader(look.partition);
    let producer = |id: ClientId| look.world.client(id).is_some_and(|client| client.is_producer());
    match (from, to) {
        (Node::Client(id), _) if producer(id) => &[MessageKind::Produce],
        (_, Node::Client(id)) if producer(id) => &[MessageKind::ProduceResponse],
        (Node::Client(_), _) => &[MessageKind::Fetch],
        (_, Node::Client(_)) => &[MessageKind::FetchResponse],
        (Node::Broker(_), Node::Controller) => &[MessageKind::AlterPartition],
        (Node::Controller, _) => &[MessageKind::Metadata],
        (Node::Broker(_), Node::Broker(id)) if Some(id) == leader => &[MessageKind::Fetch],
        (Node::Broker(id), Node::Broker(_)) if Some(id) == leader => &[MessageKind::FetchResponse],
        (Node::Broker(_), Node::Broker(_)) => &[],
    }
}

/// What a cut leads to, for the partition in view.
fn follows(look: &Look<'_>, a: Node, b: Node) -> String {
    match (a, b) {
        (Node::Controller, Node::Broker(id)) | (Node::Broker(id), Node::Controller) => unheard(look, id),
        (Node::Client(id), Node::Broker(broker)) | (Node::Broker(broker), Node::Client(id)) => {
            unserved(look, id, broker)
        }
        (Node::Broker(one), Node::Broker(other)) => match look.world.image().leader(look.partition) {
            Some(leader) if leader == one => uncopied(look, leader, other),
            Some(leader) if leader == other => uncopied(look, leader, one),
            _ => "Followers do not copy from one another: nothing follows as long as neither leads.".into(),
        },
        _ => String::new(),
    }
}

/// What follows when the controller no longer hears a broker.
pub(super) fn unheard(look: &Look<'_>, id: BrokerId) -> String {
    let image = look.world.image();
    if !image.is_alive(id) {
        return format!("Broker {id} is fenced already, and stays so.");
    }
    let partition = image.partition(look.partition);
    let in_sync = partition.is_some_and(|partition| partition.isr.contains(&id));
    let role = match partition.is_some_and(|partition| partition.leader == Some(id)) {
        true if has_successor(look, id) => "another leads, and it does not know",
        true => "nobody leads, and it does not know",
        false if in_sync => "it is fenced and leaves the ISR",
        false => "it is fenced; it is not in the ISR",
    };
    let session = span(from_millis(look.world.controller().state().session_timeout_ms()));
    format!("{session} after its last heartbeat {role}.")
}

/// Whether another may lead when this leader is fenced.
pub(super) fn has_successor(look: &Look<'_>, leader: BrokerId) -> bool {
    let (image, controller) = (look.world.image(), look.world.controller().state());
    let Some(partition) = controller.partition(look.partition) else {
        return false;
    };
    let unclean = controller.unclean_election_enabled(look.partition.topic);
    let may = |id: &BrokerId| unclean || partition.isr.contains(id) || partition.elr.contains(id);
    let others = partition.replicas.iter().filter(|id| **id != leader);
    let runs = |id: &BrokerId| look.world.broker(*id).is_some_and(|broker| broker.is_running());
    others.filter(|id| image.is_alive(**id) && runs(id)).any(may)
}

/// What follows when a client and a broker no longer hear one another.
fn unserved(look: &Look<'_>, id: ClientId, broker: BrokerId) -> String {
    if look.world.image().leader(look.partition) != Some(broker) {
        return format!(
            "For {}, nothing changes as long as broker {broker} does not lead.",
            look.names.client(id)
        );
    }
    match look.world.client(id).and_then(|client| client.as_producer()) {
        Some(producer) => {
            let timeout = span(from_millis(producer.config().delivery_timeout_ms));
            format!("Records that are not answered within {timeout} fail, whether they are in the log or not.")
        }
        None => "It reads on when the path is whole again.".to_string(),
    }
}

/// What follows when a broker no longer hears its leader.
fn uncopied(look: &Look<'_>, leader: BrokerId, follower: BrokerId) -> String {
    let image = look.world.image();
    let partition = image.partition(look.partition);
    if !partition.is_some_and(|partition| partition.replicas.contains(&follower)) {
        return format!("Broker {follower} holds no replica of this partition: nothing follows.");
    }
    if !partition.is_some_and(|partition| partition.isr.contains(&follower)) {
        return format!("Broker {follower} copies nothing, and stays out of the ISR.");
    }
    // The leader's own setting decides whom it takes for lagging; one that has every record never lags.
    let lag = span(from_millis(
        look.world.settings().broker(leader).replica_lag_time_max_ms,
    ));
    format!(
        "Broker {follower} copies nothing; lacking records, it leaves the ISR after {lag}, and acks=all waits until then."
    )
}

/// What is on the wire and would be lost.
fn lost_on(look: &Look<'_>, paths: &[(Node, Node)]) -> String {
    let flying = look.world.network().in_flight();
    match flying.filter(|(from, to, _)| paths.contains(&(*from, *to))).count() {
        0 => String::new(),
        1 => "One message on the wire dies.".to_string(),
        many => format!("{many} messages on the wire die."),
    }
}

/// A node as the scenario language writes it.
fn written(look: &Look<'_>, node: Node) -> String {
    look.world.node_name(node)
}
