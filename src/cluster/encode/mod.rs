//! The canonical encoding of a model, for its fingerprint.
//!
//! Brokers, clients and the controller are encoded once and cached with them. What depends on the clock (deadlines, due
//! times) is written relative to now, so that two worlds which differ only in when they got there are the same.
//!
//! Deliberately absent: settings. They decide as well, but only an operator changes them, and whoever compares worlds
//! compares what became of one.

mod message;

use crate::cluster::ids::{Node, TopicPartition};
use crate::cluster::world::Model;
use crate::log::Encoder;

pub(crate) use message::{fetch, message, offset_spec};

/// Encodes a model.
pub(crate) fn model(model: &Model, out: &mut Encoder) {
    out.u128(model.rules.bits());
    out.u128(model.controller.digest());
    model.controller.encode_times(model.now, out);
    out.len(model.brokers.len());
    for broker in &model.brokers {
        out.u128(broker.digest());
        broker.encode_times(model.now, out);
    }
    out.len(model.clients.len());
    for client in &model.clients {
        out.u128(client.digest());
        client.encode_times(model.now, out);
    }
    out.len(model.network.count());
    for (from, to, flying) in model.network.in_flight() {
        node(from, out);
        node(to, out);
        out.i64(flying.due as i64 - model.now as i64);
        message(&flying.message, out);
    }
    for (from, to) in model.network.cuts() {
        out.u8(1);
        node(from, out);
        node(to, out);
    }
    for (from, to, kind, left) in model.network.condemned() {
        out.u8(2);
        node(from, out);
        node(to, out);
        out.u8(kind as u8);
        out.u32(left);
    }
    out.u8(0);
    for (at, timer, due) in model.timers.iter() {
        node(at, out);
        out.u8(timer.kind as u8);
        out.option(timer.partition, |out, tp| partition(tp, out));
        out.option(timer.peer, |out, peer| node(peer, out));
        out.i64(due as i64 - model.now as i64);
    }
}

/// Encodes a node.
pub(crate) fn node(node: Node, out: &mut Encoder) {
    match node {
        Node::Controller => out.u32(0),
        Node::Broker(id) => out.u32(1 << 16 | u32::from(id.0)),
        Node::Client(id) => out.u32(2 << 16 | u32::from(id.0)),
    }
}

/// Encodes a partition.
pub(crate) fn partition(tp: TopicPartition, out: &mut Encoder) {
    out.u16(tp.topic.0);
    out.u32(tp.partition);
}
