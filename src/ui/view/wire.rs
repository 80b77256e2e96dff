//! Messages between the rows of the stage.

use std::rc::Rc;

use crate::cluster::event::{Cause, What};
use crate::cluster::message::{Message, MessageKind};
use crate::cluster::network::InFlight;
use crate::cluster::{BrokerId, Node};
use crate::ui::view::look::Look;
use crate::ui::view::names::{brokers, offsets};
use crate::ui::view::stage::{Cargo, Flight, Leg, Link, Path, Row};

/// More messages than this are not drawn.
const MOST_FLIGHTS: usize = 12;

/// The head of a connection before a step: what will have arrived after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The sender.
    pub from: Node,
    /// The receiver.
    pub to: Node,
    /// How its flight was labelled.
    pub label: Rc<str>,
    /// What it carried.
    pub cargo: Cargo,
}

/// The heads of all connections.
pub fn heads(look: &Look<'_>) -> Vec<Head> {
    let heads = look.world.network().heads();
    heads
        .map(|(from, to, flying)| Head {
            from,
            to,
            label: label(look, &flying.message).into(),
            cargo: cargo(&flying.message),
        })
        .collect()
}

/// The path from each row towards the brokers: of clients to the leader, of a broker to the one above, of the controller to
/// the last broker.
pub fn links(look: &Look<'_>) -> Vec<Link> {
    let brokers: Vec<BrokerId> = look.world.broker_ids().collect();
    let [Some(first), Some(last)] = [brokers.first(), brokers.last()] else {
        return Vec::new();
    };
    let leader = look.world.image().leader(look.partition).unwrap_or(*first);
    let clients = look
        .world
        .clients()
        .filter(|(_, client)| client.is_producer() || client.reads(look.partition));
    let clients = clients.map(|(id, _)| (Node::Client(id), Node::Broker(leader)));
    let pairs = brokers
        .windows(2)
        .map(|pair| (Node::Broker(pair[0]), Node::Broker(pair[1])));
    let network = look.world.network();
    let all = clients.chain(pairs).chain([(Node::Broker(*last), Node::Controller)]);
    all.map(|(a, b)| Link {
        ends: (row(a), row(b)),
        names: format!("{} and {}", look.names.node(a), look.names.node(b)).into(),
        path: match (network.passes(a, b), network.passes(b, a)) {
            (true, true) if condemned(look, a, b) => Path::Losing,
            (true, true) => Path::Whole,
            (false, false) => Path::Cut,
            _ => Path::HalfCut,
        },
    })
    .collect()
}

/// The path between the leader and the row beside it: one that is drawn. Where nobody leads, that of the first broker.
pub fn of_leader(look: &Look<'_>) -> Option<(Row, Row)> {
    let leader = look.world.image().leader(look.partition);
    let leader = row(Node::Broker(leader.or_else(|| look.world.broker_ids().next())?));
    let mut paths = links(look).into_iter().map(|link| link.ends);
    paths.find(|(a, b)| !matches!(a, Row::Client(_)) && (*a == leader || *b == leader))
}

/// Whether a message between two nodes is going to be lost.
fn condemned(look: &Look<'_>, a: Node, b: Node) -> bool {
    let mut paths = look.world.network().condemned();
    paths.any(|(from, to, ..)| (from, to) == (a, b) || (from, to) == (b, a))
}

/// What is on the wire, what arrived in this step, what was lost in it.
pub fn flights(look: &Look<'_>, before: &[Head]) -> Vec<Flight> {
    let mut found: Vec<Flight> = look
        .events
        .iter()
        .filter_map(|event| arrival(look, &event.what, before))
        .collect();
    let arrivals = found.len();
    for (from, to, flying) in look
        .world
        .network()
        .in_flight()
        .filter(|(.., flying)| concerns(look, &flying.message))
    {
        // One connection keeps its order: the first message stands for those behind it.
        let (sender, receiver) = (row(from), row(to));
        let drawn = found.len();
        match found[arrivals..]
            .iter_mut()
            .find(|flight| (flight.from, flight.to) == (sender, receiver))
        {
            Some(first) => first.more += 1,
            None if drawn < MOST_FLIGHTS => found.push(under_way(look, from, to, flying)),
            None => {}
        }
    }
    found
}

fn under_way(look: &Look<'_>, from: Node, to: Node, flying: &InFlight) -> Flight {
    let kind = flying.message.kind();
    Flight {
        key: format!("{from:?}{to:?}{}{kind:?}", flying.sent).into(),
        from: row(from),
        to: row(to),
        label: label(look, &flying.message).into(),
        more: 0,
        cargo: cargo(&flying.message),
        leg: if flying.sent >= look.world.now() && !look.events.is_empty() {
            Leg::Leaving
        } else {
            Leg::OnTheWay
        },
    }
}

fn arrival(look: &Look<'_>, what: &What, before: &[Head]) -> Option<Flight> {
    let (from, to, kind, leg) = match what {
        What::Step(Cause::Delivered { from, to, kind }) => (*from, *to, *kind, Leg::Arriving),
        What::MessageLost { from, to, kind, .. } => (*from, *to, *kind, Leg::Lost),
        _ => return None,
    };
    let head = before.iter().find(|head| (head.from, head.to) == (from, to));
    Some(Flight {
        key: format!("{from:?}{to:?}{}", look.ledger.steps()).into(),
        from: row(from),
        to: row(to),
        label: head.map_or_else(|| kind.name().into(), |head| Rc::clone(&head.label)),
        more: 0,
        cargo: head.map_or(Cargo::Talk, |head| head.cargo),
        leg,
    })
}

fn row(node: Node) -> Row {
    match node {
        Node::Controller => Row::Controller,
        Node::Broker(id) => Row::Broker(id.0),
        Node::Client(id) => Row::Client(id.0),
    }
}

/// Whether a message says anything about the partition in view. What names no partition concerns all.
fn concerns(look: &Look<'_>, message: &Message) -> bool {
    let at = look.partition;
    match message {
        Message::Produce(_, request) => request.batches.iter().any(|(partition, _)| *partition == at),
        Message::ProduceResponse(_, results) => results.iter().any(|result| result.partition == at),
        Message::Fetch(_, request) => request.partitions.iter().any(|wanted| wanted.partition == at),
        Message::FetchResponse(_, results) => results.iter().any(|result| result.partition == at),
        Message::AlterPartition(_, _, wanted) => wanted.iter().any(|wanted| wanted.partition == at),
        _ => message.partition().is_none_or(|partition| partition == at),
    }
}

fn cargo(message: &Message) -> Cargo {
    match message {
        Message::Produce(..) => Cargo::Records,
        Message::FetchResponse(_, results) if results.iter().any(|result| !result.batches.is_empty()) => Cargo::Records,
        Message::ProduceResponse(..) => Cargo::Answer,
        _ => Cargo::Talk,
    }
}

/// What a message says about the partition in view, in two or three words.
fn label(look: &Look<'_>, message: &Message) -> String {
    let at = look.partition;
    match message {
        Message::Produce(_, request) => {
            let tags: Vec<u64> = request
                .batches
                .iter()
                .filter(|(partition, _)| *partition == at)
                .flat_map(|(_, batch)| batch.tags().to_vec())
                .collect();
            format!("produce {}", look.names.records(&tags))
        }
        Message::ProduceResponse(_, results) => match results.iter().find(|result| result.partition == at) {
            Some(result) => match (result.error, result.base_offset) {
                (Some(error), _) => error.name().to_ascii_lowercase().replace('_', " "),
                (None, Some(offset)) => format!("yes, offset {offset}"),
                (None, None) => "yes".to_string(),
            },
            None => "answer".to_string(),
        },
        Message::Fetch(_, request) => match request.partitions.iter().find(|wanted| wanted.partition == at) {
            Some(wanted) => format!("fetch from {}", wanted.offset),
            None => "fetch".to_string(),
        },
        Message::FetchResponse(_, results) => match results.iter().find(|result| result.partition == at) {
            Some(result) => fetched(result),
            None => "nothing new".to_string(),
        },
        Message::AlterPartition(_, _, wanted) => match wanted.iter().find(|wanted| wanted.partition == at) {
            Some(wanted) => format!(
                "ISR {}?",
                brokers(&wanted.isr.iter().map(|(id, _)| *id).collect::<Vec<_>>())
            ),
            None => "another ISR?".to_string(),
        },
        Message::Metadata(image) | Message::MetadataResponse(_, image) => {
            leader_news(image.leader(at), image.partition(at).map(|state| state.leader_epoch))
        }
        other => short(other.kind()).to_string(),
    }
}

fn fetched(result: &crate::cluster::message::FetchResult) -> String {
    if let Some(error) = result.error {
        return error.name().to_ascii_lowercase().replace('_', " ");
    }
    if let Some((epoch, end)) = result.diverging {
        return format!("cut: epoch {epoch} ended at {end}");
    }
    match (result.batches.first(), result.batches.last()) {
        (Some(first), Some(last)) => format!(
            "offset {}",
            offsets(first.base_offset(), last.next_offset()).unwrap_or_default()
        ),
        _ => format!("HW {}", result.high_watermark),
    }
}

fn leader_news(leader: Option<BrokerId>, epoch: Option<i32>) -> String {
    match (leader, epoch) {
        (Some(leader), Some(epoch)) => format!("leader {leader}, e{epoch}"),
        (None, Some(_)) => "no leader".to_string(),
        _ => "metadata".to_string(),
    }
}

fn short(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::AlterPartitionResponse => "ISR decided",
        MessageKind::MetadataRequest => "who leads?",
        MessageKind::Heartbeat => "heartbeat",
        MessageKind::HeartbeatResponse => "heard",
        MessageKind::Register => "I am here",
        MessageKind::RegisterResponse => "registered",
        MessageKind::ListOffsets => "which offset?",
        MessageKind::ListOffsetsResponse => "offset",
        MessageKind::EpochEnd => "epoch's end?",
        MessageKind::EpochEndResponse => "epoch's end",
        MessageKind::FindCoordinator => "coordinator?",
        MessageKind::FindCoordinatorResponse => "coordinator",
        MessageKind::JoinGroup => "join",
        MessageKind::JoinGroupResponse => "joined",
        MessageKind::SyncGroup => "my share?",
        MessageKind::SyncGroupResponse => "share",
        MessageKind::GroupHeartbeat => "heartbeat",
        MessageKind::GroupHeartbeatResponse => "heard",
        MessageKind::LeaveGroup => "goodbye",
        MessageKind::LeaveGroupResponse => "gone",
        MessageKind::OffsetCommit => "commit",
        MessageKind::OffsetCommitResponse => "committed",
        MessageKind::OffsetFetch => "where to go on?",
        MessageKind::OffsetFetchResponse => "go on at",
        MessageKind::Closed => "closed",
        other => other.name(),
    }
}
