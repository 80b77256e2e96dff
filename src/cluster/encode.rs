//! The canonical encoding of a model, for its fingerprint.
//!
//! Brokers, clients and the controller are encoded once and cached with them. What depends on the clock (deadlines, due
//! times) is written relative to now, so that two worlds which differ only in when they got there are the same.
//! Settings enter as a whole: they change rarely, and their digest is cheap beside the rest only because it is cached there.

use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::{Acks, Message};
use crate::cluster::world::Model;
use crate::log::Encoder;

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

fn brokers(ids: &[BrokerId], out: &mut Encoder) {
    out.len(ids.len());
    for id in ids {
        out.u16(id.0);
    }
}

/// Encodes a message: every field that a receiver acts on. Correlation ids are numbers of convenience and are left out.
pub(crate) fn message(message: &Message, out: &mut Encoder) {
    out.u8(message.kind() as u8);
    match message {
        Message::Produce(_, request) => {
            out.u16(match request.acks {
                Acks::None => 0,
                Acks::Leader => 1,
                Acks::All => u16::MAX,
                Acks::Other(number) => number as u16,
            });
            out.i64(request.timeout_ms);
            out.len(request.batches.len());
            for (tp, batch) in &request.batches {
                partition(*tp, out);
                out.u128(batch.fingerprint());
            }
        }
        Message::ProduceResponse(_, results) => {
            for result in results {
                partition(result.partition, out);
                out.option(result.error, |out, error| out.i16(error.code()));
                out.option(result.base_offset, Encoder::i64);
                out.option(result.current_leader, |out, (id, epoch)| {
                    out.u16(id.0);
                    out.i32(epoch);
                });
            }
        }
        Message::Fetch(_, request) => {
            out.option(request.replica_epoch, Encoder::i64);
            out.i64(request.max_wait_ms);
            for part in &request.partitions {
                partition(part.partition, out);
                out.i64(part.offset);
                out.i32(part.last_fetched_epoch);
                out.i32(part.current_leader_epoch);
                out.i64(part.log_start);
            }
        }
        Message::FetchResponse(_, results) => {
            for result in results {
                partition(result.partition, out);
                out.option(result.error, |out, error| out.i16(error.code()));
                out.i64(result.high_watermark);
                out.i64(result.log_start);
                out.option(result.diverging, |out, (epoch, end)| {
                    out.i32(epoch);
                    out.i64(end);
                });
                out.len(result.batches.len());
                for batch in &result.batches {
                    out.u128(batch.fingerprint());
                }
            }
        }
        Message::AlterPartition(_, epoch, parts) => {
            out.i64(*epoch);
            for part in parts {
                partition(part.partition, out);
                out.i32(part.leader_epoch);
                out.i32(part.partition_epoch);
                out.len(part.isr.len());
                for (id, epoch) in &part.isr {
                    out.u16(id.0);
                    out.i64(*epoch);
                }
            }
        }
        other => debug_encoded(other, out),
    }
}

/// Rare messages: their plain text is canonical enough, since every field has a fixed form.
fn debug_encoded(message: &Message, out: &mut Encoder) {
    match message {
        Message::Metadata(image) | Message::MetadataResponse(_, image) => out.i64(image.offset),
        Message::AlterPartitionResponse(_, Ok(results)) => {
            for (tp, result) in results {
                partition(*tp, out);
                if let crate::cluster::message::AlterPartitionResult::Ok {
                    isr,
                    leader_epoch,
                    partition_epoch,
                    ..
                } = result
                {
                    brokers(isr, out);
                    out.i32(*leader_epoch);
                    out.i32(*partition_epoch);
                } else {
                    out.str(&format!("{result:?}"));
                }
            }
        }
        Message::FindCoordinator(_, group) => out.u16(group.0),
        Message::FindCoordinatorResponse(_, answer, known) => {
            out.str(&format!("{answer:?}"));
            out.i64(*known);
        }
        Message::Group(_, request) => out.str(&format!("{request:?}")),
        Message::GroupResponse(_, response) => out.str(&format!("{response:?}")),
        other => out.str(&format!("{other:?}")),
    }
}
