//! The canonical encoding of what is on the wire: every field that a receiver acts on.
//!
//! Correlation ids are numbers of convenience and are left out: two worlds that differ in them alone are the same.

use crate::cluster::assignor::Slot;
use crate::cluster::group::protocol::{
    ConsumerBeat, GroupRequest, GroupResponse, InstanceId, JoinAnswer, Standing, Subscription,
};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::message::{
    Acks, AlterPartitionResult, FetchRequest, FetchResult, HeartbeatWant, Message, OffsetSpec,
};
use crate::log::{Encoder, Errors};
use crate::sorted::SortedSet;

use super::partition;

/// Encodes a message.
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
            each(&request.batches, out, |out, (tp, batch)| {
                partition(*tp, out);
                out.u128(batch.fingerprint());
            });
        }
        Message::ProduceResponse(_, results) => each(results, out, |out, result| {
            partition(result.partition, out);
            out.option(result.error, error);
            out.option(result.base_offset, Encoder::i64);
            out.option(result.current_leader, leader);
        }),
        Message::Fetch(_, request) => fetch(request, out),
        Message::FetchResponse(_, results) => each(results, out, fetched),
        Message::AlterPartition(_, epoch, parts) => {
            out.i64(*epoch);
            each(parts, out, |out, part| {
                partition(part.partition, out);
                out.i32(part.leader_epoch);
                out.i32(part.partition_epoch);
                each(&part.isr, out, |out, (id, epoch)| {
                    out.u16(id.0);
                    out.i64(*epoch);
                });
            });
        }
        Message::AlterPartitionResponse(_, answer) => result(answer, out, |out, results| {
            each(results, out, |out, (tp, result)| {
                partition(*tp, out);
                altered(result, out);
            });
        }),
        Message::Register(_, registration) => {
            out.u64(registration.incarnation);
            out.i64(registration.previous_epoch);
            out.u32(registration.directory);
        }
        Message::RegisterResponse(_, answer) => result(answer, out, |out, epoch| out.i64(*epoch)),
        Message::Heartbeat(_, beat) => {
            out.i64(beat.epoch);
            out.i64(beat.metadata_offset);
            out.u64(match beat.want {
                HeartbeatWant::Unfence => 0,
                HeartbeatWant::ShutDown => 1,
                HeartbeatWant::AssignDirectory(directory) => 2 + u64::from(directory),
            });
        }
        Message::HeartbeatResponse(_, answer) => result(answer, out, |out, answer| {
            out.u8(u8::from(answer.fenced));
            out.u8(u8::from(answer.should_shut_down));
        }),
        Message::Metadata(image) | Message::MetadataResponse(_, image) => out.i64(image.offset),
        Message::MetadataRequest(_) | Message::Closed => {}
        Message::ListOffsets(_, isolation, wanted) => {
            out.u8(*isolation as u8);
            each(wanted, out, |out, (tp, epoch, spec)| {
                partition(*tp, out);
                out.i32(*epoch);
                offset_spec(*spec, out);
            });
        }
        Message::ListOffsetsResponse(_, answers) => each(answers, out, |out, (tp, answer)| {
            partition(*tp, out);
            result(answer, out, |out, found| {
                out.option(*found, |out, found| {
                    out.i64(found.offset);
                    out.option(found.leader_epoch, Encoder::i32);
                });
            });
        }),
        Message::EpochEnd(_, wanted) => each(wanted, out, |out, (tp, current, epoch)| {
            partition(*tp, out);
            out.i32(*current);
            out.i32(*epoch);
        }),
        Message::EpochEndResponse(_, answers) => each(answers, out, |out, (tp, answer)| {
            partition(*tp, out);
            result(answer, out, |out, end| epoch_end(out, *end));
        }),
        Message::FindCoordinator(_, group) => out.u16(group.0),
        Message::FindCoordinatorResponse(_, answer, known) => {
            result(answer, out, |out, id| out.u16(id.0));
            out.i64(*known);
        }
        Message::Group(_, request) => group_request(request, out),
        Message::GroupResponse(_, response) => group_response(response, out),
    }
}

/// Encodes a fetch, on the wire or waiting at its leader.
pub(crate) fn fetch(request: &FetchRequest, out: &mut Encoder) {
    out.option(request.replica_epoch, Encoder::i64);
    out.i64(request.max_wait_ms);
    out.i32(request.min_bytes);
    out.i32(request.max_bytes);
    out.u8(request.isolation as u8);
    each(&request.partitions, out, |out, part| {
        partition(part.partition, out);
        out.i64(part.offset);
        out.i32(part.last_fetched_epoch);
        out.i32(part.current_leader_epoch);
        out.i64(part.log_start);
        out.i64(part.high_watermark);
        out.i32(part.max_bytes);
    });
}

fn fetched(out: &mut Encoder, result: &FetchResult) {
    partition(result.partition, out);
    out.option(result.error, error);
    out.i64(result.high_watermark);
    out.i64(result.log_start);
    out.option(result.diverging, epoch_end);
    out.option(result.current_leader, leader);
    each(&result.batches, out, |out, batch| out.u128(batch.fingerprint()));
}

fn altered(result: &AlterPartitionResult, out: &mut Encoder) {
    match result {
        AlterPartitionResult::Ok {
            leader,
            leader_epoch,
            isr,
            partition_epoch,
            recovering,
        } => {
            out.u8(0);
            out.option(*leader, |out, id| out.u16(id.0));
            out.i32(*leader_epoch);
            each(isr, out, |out, id| out.u16(id.0));
            out.i32(*partition_epoch);
            out.u8(u8::from(*recovering));
        }
        AlterPartitionResult::Err(why) => {
            out.u8(1);
            error(out, *why);
        }
    }
}

fn group_request(request: &GroupRequest, out: &mut Encoder) {
    match request {
        GroupRequest::Join(join) => {
            out.u16(join.group.0);
            out.str(&join.member);
            instance(join.instance.as_ref(), out);
            out.str(&join.wanted_id);
            out.u64(join.session);
            out.u64(join.rebalance);
            out.u64(join.every);
            each(&join.protocols, out, |out, protocol| out.u8(*protocol as u8));
            subscription(&join.subscription, out);
        }
        GroupRequest::Sync(by, shares) => {
            standing(by, out);
            each(shares, out, |out, (member, share)| {
                out.str(member);
                each(share, out, slot);
            });
        }
        GroupRequest::Heartbeat(by, every) => {
            standing(by, out);
            out.u64(*every);
        }
        GroupRequest::Leave(by) => standing(by, out),
        GroupRequest::ConsumerBeat(beat) => consumer_beat(beat, out),
        GroupRequest::Commit(by, offsets) => {
            standing(by, out);
            each(offsets, out, |out, (at, offset, epoch)| {
                slot(out, at);
                out.i64(*offset);
                out.option(*epoch, Encoder::i32);
            });
        }
        GroupRequest::FetchOffsets(by, slots) => {
            standing(by, out);
            each(slots, out, slot);
        }
    }
}

fn consumer_beat(beat: &ConsumerBeat, out: &mut Encoder) {
    standing(&beat.by, out);
    out.option(beat.rebalance, Encoder::u64);
    out.option(beat.topics.as_ref(), |out, topics| {
        each(topics, out, |out, topic| out.str(topic))
    });
    out.option(beat.assignor, |out, assignor| out.u8(assignor as u8));
    out.option(beat.owned.as_ref(), |out, owned| partitions(owned, out));
}

fn partitions(all: &SortedSet<TopicPartition>, out: &mut Encoder) {
    each(all, out, |out, tp| partition(*tp, out));
}

fn group_response(response: &GroupResponse, out: &mut Encoder) {
    match response {
        GroupResponse::Join(JoinAnswer::Joined(joined)) => {
            out.u8(0);
            out.i32(joined.generation);
            out.u8(joined.protocol as u8);
            out.str(&joined.leader);
            out.str(&joined.member);
            each(&joined.members, out, |out, member| {
                out.str(&member.id);
                instance(member.instance.as_ref(), out);
                subscription(&member.subscription, out);
            });
            out.u8(u8::from(joined.skip_assignment));
        }
        GroupResponse::Join(JoinAnswer::IdGiven(id)) => {
            out.u8(1);
            out.str(id);
        }
        GroupResponse::Join(JoinAnswer::Refused(why)) => {
            out.u8(2);
            error(out, *why);
        }
        GroupResponse::Sync(answer) => result(answer, out, |out, share| each(share, out, slot)),
        GroupResponse::Heartbeat(why) | GroupResponse::Leave(why) | GroupResponse::Commit(why) => {
            out.option(*why, error);
        }
        GroupResponse::ConsumerBeat(answer) => result(answer, out, |out, beaten| {
            out.i32(beaten.epoch);
            out.u64(beaten.every);
            out.option(beaten.assignment.as_ref(), |out, share| partitions(share, out));
        }),
        GroupResponse::FetchOffsets(answer) => result(answer, out, |out, found| {
            each(found, out, |out, (at, remembered)| {
                slot(out, at);
                out.option(*remembered, |out, (offset, epoch)| {
                    out.i64(offset);
                    out.option(epoch, Encoder::i32);
                });
            });
        }),
    }
}

fn standing(by: &Standing, out: &mut Encoder) {
    out.u16(by.group.0);
    out.str(&by.member);
    instance(by.instance.as_ref(), out);
    out.i32(by.epoch);
}

/// A name of one's own is never empty.
fn instance(name: Option<&InstanceId>, out: &mut Encoder) {
    out.str(name.map_or("", |name| name));
}

fn subscription(told: &Subscription, out: &mut Encoder) {
    each(&told.topics, out, |out, topic| out.str(topic));
    each(&told.owned, out, slot);
    out.i32(told.generation);
}

fn slot(out: &mut Encoder, at: &Slot) {
    out.str(&at.topic);
    out.u32(at.partition);
}

/// Encodes what is asked for.
pub(crate) fn offset_spec(spec: OffsetSpec, out: &mut Encoder) {
    out.i64(match spec {
        OffsetSpec::Latest => -1,
        OffsetSpec::Earliest => -2,
        OffsetSpec::MaxTimestamp => -3,
        OffsetSpec::Timestamp(time) => time,
    });
}

fn leader(out: &mut Encoder, (id, epoch): (BrokerId, i32)) {
    out.u16(id.0);
    out.i32(epoch);
}

fn epoch_end(out: &mut Encoder, (epoch, end): (i32, i64)) {
    out.i32(epoch);
    out.i64(end);
}

fn error(out: &mut Encoder, error: Errors) {
    out.i16(error.code());
}

fn result<T>(answer: &Result<T, Errors>, out: &mut Encoder, write: impl FnOnce(&mut Encoder, &T)) {
    match answer {
        Ok(found) => {
            out.u8(0);
            write(out, found);
        }
        Err(why) => {
            out.u8(1);
            error(out, *why);
        }
    }
}

/// A list: its length, and what is in it in order.
fn each<'a, T: 'a, I>(items: &'a I, out: &mut Encoder, mut write: impl FnMut(&mut Encoder, &'a T))
where
    &'a I: IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
{
    let items = items.into_iter();
    out.len(items.len());
    items.for_each(|item| write(out, item));
}
