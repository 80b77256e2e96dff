//! What can happen to the path between two nodes, and what would survive it: said before it is done.

use std::rc::Rc;

use crate::cluster::message::MessageKind;
use crate::cluster::settings::{DEFAULT_LATENCY, Micros};
use crate::cluster::{BrokerId, ClientId, Node};
use crate::ui::view::look::Look;
use crate::ui::view::names::{capital, span};
use crate::ui::view::stage::Row;

/// The latency of a path that was slowed by hand.
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

/// The menu of a path; nothing if no messages ever pass there.
pub fn menu(look: &Look<'_>, a: Row, b: Row) -> Option<LinkMenu> {
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
        title: format!("{} and {}", capital(&called(look, from)), called(look, to)).into(),
        nodes: nodes.map(|row| (row, called(look, node(row)).into())).collect(),
        options: options(look, from, to),
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

fn options(look: &Look<'_>, a: Node, b: Node) -> Vec<LinkOption> {
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
        options.push(slow(look, a, b));
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
            capital(&one)
        )
        .into(),
        dies: lost_on(look, &[(from, to)]).into(),
    }
}

fn slow(look: &Look<'_>, a: Node, b: Node) -> LinkOption {
    let is_slow = look.world.settings().latency(a, b) >= SLOW;
    let (fault, title, latency) = match is_slow {
        true => (LinkFault::Hasten, "Make it fast again", DEFAULT_LATENCY),
        false => (LinkFault::Slow, "Slow it down", SLOW),
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

/// What a cut leads to.
fn follows(look: &Look<'_>, a: Node, b: Node) -> String {
    let leader = look.world.image().leader(look.partition);
    let settings = look.world.settings();
    match (a, b) {
        (Node::Controller, Node::Broker(id)) | (Node::Broker(id), Node::Controller) => {
            let session = span(millis(look.world.controller().state().session_timeout_ms()));
            let role = match leader == Some(id) {
                true => "another leads, and it does not know",
                false => "it is fenced and leaves the ISR",
            };
            format!("{session} after its last heartbeat {role}.")
        }
        (Node::Client(id), Node::Broker(broker)) | (Node::Broker(broker), Node::Client(id)) => {
            if leader != Some(broker) {
                return format!("{} goes on with whoever leads.", capital(look.names.client(id)));
            }
            match look.world.client(id).and_then(|client| client.as_producer()) {
                Some(producer) => {
                    let timeout = span(millis(producer.config().delivery_timeout_ms));
                    format!("Records that are not answered within {timeout} fail, whether they are in the log or not.")
                }
                None => "It reads on when the path is whole again.".to_string(),
            }
        }
        (Node::Broker(one), Node::Broker(other)) => {
            let follower = match leader {
                Some(leader) if leader == one => other,
                Some(leader) if leader == other => one,
                _ => return "Followers do not copy from one another: nothing follows as long as neither leads.".into(),
            };
            let lag = span(millis(settings.broker(follower).replica_lag_time_max_ms));
            format!("Broker {follower} copies nothing; after {lag} it leaves the ISR, and acks=all waits until then.")
        }
        _ => String::new(),
    }
}

fn millis(ms: i64) -> Micros {
    ms.unsigned_abs() * 1_000
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
