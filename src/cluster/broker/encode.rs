//! The canonical encoding of a broker, for fingerprints.
//!
//! Replicas are encoded once and cached; what depends on the clock is written relative to now, apart from the rest.
//! Correlation ids, counters of metrics and the numbers of processes decide nothing and are left out.

use crate::cluster::encode::{fetch, message, node, partition};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::settings::Micros;
use crate::log::{Encoder, Fingerprint};

use super::Broker;
use super::channel::{Channel, PartState, Serving};
use super::fetcher::{Asked, Fetcher, Stage, Status};
use super::parked::Wait;
use super::process::{Phase, Process};

impl Fingerprint for Broker {
    fn fingerprint(&self, out: &mut Encoder) {
        self.host.fingerprint(out);
        out.u8(u8::from(self.paused));
        out.option(self.process.as_ref(), |out, process| process.encode(out));
    }
}

impl Broker {
    /// Encodes what depends on the clock, relative to now.
    pub(in crate::cluster) fn encode_times(&self, now: Micros, out: &mut Encoder) {
        let Some(process) = &self.process else { return };
        for (tp, replica) in &process.replicas {
            let idles = |follower| process.idles(*tp, replica.log.log_end_offset(), follower);
            replica.encode_times(now, process.lag, idles, out);
        }
        for shard in process.coordinators.values() {
            shard.encode_times(now, out);
        }
        for channel in process.channels.values() {
            encode_channel_times(channel, now, out);
        }
        for fetcher in process.fetchers.values() {
            encode_fetcher_times(fetcher, now, out);
        }
    }
}

impl Process {
    /// Whether a follower that has everything keeps an idle fetch here.
    fn idles(&self, tp: TopicPartition, log_end: i64, follower: BrokerId) -> bool {
        let channel = self.channels.get(&Node::Broker(follower));
        let Some(Serving::Fetch(parked)) = channel.and_then(|channel| channel.serving.as_ref()) else {
            return false;
        };
        let mut parts = parked.request.partitions.iter();
        parked.wait == Wait::Idle && parts.any(|part| part.partition == tp && part.offset == log_end)
    }

    fn encode(&self, out: &mut Encoder) {
        out.u8(match self.phase {
            Phase::Starting => 0,
            Phase::Fenced => 1,
            Phase::Up => 2,
            Phase::Stopping(_) => 3,
        });
        out.option(self.epoch, Encoder::i64);
        out.i64(self.image.offset);
        out.len(self.replicas.len());
        for (tp, replica) in &self.replicas {
            partition(*tp, out);
            out.u128(replica.digest());
        }
        let busy = self
            .channels
            .iter()
            .filter(|(_, channel)| channel.serving.is_some() || !channel.queue.is_empty());
        for (peer, channel) in busy {
            node(*peer, out);
            encode_channel(channel, out);
        }
        for (leader, fetcher) in &self.fetchers {
            out.u16(leader.0);
            encode_fetcher(fetcher, out);
        }
        self.cleaner.encode(out);
        out.len(self.deletes.len());
        for (tp, offset) in &self.deletes {
            partition(*tp, out);
            out.i64(*offset);
        }
        for (tp, shard) in &self.coordinators {
            partition(*tp, out);
            out.u128(shard.digest());
        }
        self.controller.encode(out);
        out.u8(u8::from(self.directory.1.is_some()));
        out.u8(u8::from(self.alter.in_flight.is_some()));
        for wanted in self.alter.wanted() {
            partition(wanted.partition, out);
            out.i32(wanted.partition_epoch);
            wanted.isr.iter().for_each(|(id, _)| out.u16(id.0));
        }
    }
}

fn encode_channel(channel: &Channel, out: &mut Encoder) {
    match &channel.serving {
        None => out.u8(0),
        Some(Serving::Fetch(parked)) => {
            out.u8(1);
            out.u8(match parked.wait {
                Wait::Idle => 0,
                Wait::Deadline => 1,
                Wait::Renewing => 2,
            });
            fetch(&parked.request, out);
        }
        Some(Serving::Produce(delayed)) => {
            out.u8(2);
            for part in &delayed.parts {
                partition(part.partition, out);
                match &part.state {
                    PartState::Appended { last, .. } => out.i64(*last),
                    PartState::Done(result) => out.i16(result.error.map_or(0, |error| error.code())),
                }
            }
        }
    }
    out.len(channel.queue.len());
    channel.queue.iter().for_each(|waiting| message(waiting, out));
}

fn encode_position(tp: TopicPartition, offset: i64, epoch: i32, out: &mut Encoder) {
    partition(tp, out);
    out.i64(offset);
    out.i32(epoch);
}

fn encode_channel_times(channel: &Channel, now: Micros, out: &mut Encoder) {
    match &channel.serving {
        Some(Serving::Fetch(parked)) if parked.wait == Wait::Idle => {
            // Only where in its round it stands can be seen later.
            out.u64(now.saturating_sub(parked.since) % parked.period.max(1));
        }
        _ => {}
    }
}

fn encode_fetcher(fetcher: &Fetcher, out: &mut Encoder) {
    for (tp, state) in &fetcher.partitions {
        let status = match state.status {
            Status::Ready => 0,
            Status::Delayed(_) => 1,
            Status::OutOfRange => 2,
            Status::Stopped => 3,
        };
        let stage = match state.stage {
            Stage::Fetching => 0,
            Stage::Truncating => 4,
        };
        encode_position(*tp, status + stage, state.epoch, out);
    }
    match fetcher.outstanding.as_ref().map(|asked| (&asked.what, asked.lost)) {
        None => out.u8(0),
        Some((Asked::Fetch(request, _), lost)) => {
            out.u8(1 + u8::from(lost));
            for part in &request.partitions {
                encode_position(part.partition, part.offset, part.current_leader_epoch, out);
            }
        }
        Some((Asked::Ends(tp), lost)) => {
            out.u8(3 + u8::from(lost));
            partition(*tp, out);
        }
        Some((Asked::EpochEnds(asked), lost)) => {
            out.u8(5 + u8::from(lost));
            for (tp, epoch) in asked {
                partition(*tp, out);
                out.i32(*epoch);
            }
        }
    }
}

fn encode_fetcher_times(fetcher: &Fetcher, now: Micros, out: &mut Encoder) {
    for state in fetcher.partitions.values() {
        if let Status::Delayed(until) = state.status {
            out.u64(until.saturating_sub(now));
        }
    }
    if let Some(asked) = &fetcher.outstanding {
        match asked.what {
            Asked::Fetch(_, period) => out.u64(now.saturating_sub(asked.sent) % period.max(1)),
            Asked::Ends(_) | Asked::EpochEnds(_) => {}
        }
    }
}
