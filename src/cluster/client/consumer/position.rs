//! Where a consumer stands in one partition, and how it gets there.
//!
//! A position carries the epoch of the record before it and the leader it was checked with: when another leader appears it
//! must be validated before it is fetched from (KIP-320). Mirrors `SubscriptionState.TopicPartitionState` and
//! `FetchPosition`, with the records of `CompletedFetch` that were not handed over yet.

use std::collections::VecDeque;

use crate::cluster::encode::offset_spec;
use crate::cluster::ids::BrokerId;
use crate::cluster::message::OffsetSpec;
use crate::cluster::settings::Micros;
use crate::log::{Batch, Encoder};

/// The next offset to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The offset.
    pub(super) offset: i64,
    /// Epoch of the record read before it; none after a seek or a reset.
    pub(super) epoch: Option<i32>,
    /// The leader and its epoch, as known when the position was last checked.
    pub(super) leader: Option<(BrokerId, i32)>,
}

/// Why a position is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// There is no valid one.
    Reset,
    /// The application wants another.
    Seek,
}

/// What a consumer does about a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing yet: there is no position.
    #[default]
    Unset,
    /// It asks the leader where to begin.
    Finding {
        /// What it asks for.
        spec: OffsetSpec,
        /// Why.
        why: Why,
    },
    /// It asks the new leader whether what it read is still there.
    Validating(Position),
    /// It reads.
    Fetching(Position),
    /// The application has seen an error and stopped.
    Stopped(Option<Position>),
}

/// One partition of a consumer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reading {
    pub(super) state: State,
    /// A question about its position is on the wire.
    pub(super) asked: bool,
    /// How often in a row something had to be asked again.
    pub(super) attempts: u32,
    /// Nothing is asked before this time.
    pub(super) not_before: Micros,
    /// What was fetched and not handed over.
    buffered: VecDeque<Batch>,
}

impl Reading {
    /// The position, where there is one.
    pub(super) fn position(&self) -> Option<Position> {
        match self.state {
            State::Unset | State::Finding { .. } => None,
            State::Validating(position) | State::Fetching(position) => Some(position),
            State::Stopped(position) => position,
        }
    }

    /// Goes over to another state; what was fetched under the old one is dropped, and nothing is waited for.
    pub(super) fn enter(&mut self, state: State) {
        *self = Reading {
            state,
            ..Reading::default()
        };
    }

    /// The same place in another log of the same name: what was fetched or asked of the old one is dropped.
    pub(super) fn continued(self) -> Reading {
        Reading {
            state: self.state,
            ..Reading::default()
        }
    }

    /// Waits before it asks again.
    pub(super) fn back_off(&mut self, wait: Micros, now: Micros) {
        self.asked = false;
        self.attempts += 1;
        self.not_before = now + wait;
    }

    /// Takes in what was fetched.
    pub(super) fn buffer(&mut self, batches: Vec<Batch>) {
        self.attempts = 0;
        self.not_before = 0;
        self.buffered.extend(batches);
    }

    /// Whether nothing is left to hand over.
    pub(super) fn is_drained(&self) -> bool {
        self.buffered.is_empty()
    }

    /// Hands over up to so many records, with their tags, and moves the position behind them. Records below the position,
    /// which a batch may begin with, are skipped; so are the batches and offsets in which no record is left.
    pub(super) fn take(&mut self, max: usize) -> Vec<(i64, u64)> {
        let mut taken = Vec::new();
        let State::Fetching(mut position) = self.state else {
            self.buffered.clear();
            return taken;
        };
        while let Some(batch) = self.buffered.front() {
            let room = max - taken.len();
            let from = position.offset;
            let visible = if batch.is_control() { 0 } else { usize::MAX };
            let wanted = batch
                .records()
                .zip(tags(batch))
                .take(visible)
                .filter(|(record, _)| record.offset >= from);
            let mut wanted = wanted.map(|(record, tag)| (record.offset, tag));
            taken.extend(wanted.by_ref().take(room));
            let has_more = wanted.next().is_some();
            drop(wanted);
            position.epoch = Some(batch.leader_epoch());
            if has_more {
                position.offset = taken.last().map_or(from, |&(offset, _)| offset + 1);
                break;
            }
            position.offset = from.max(batch.next_offset());
            self.buffered.pop_front();
            if taken.len() == max {
                break;
            }
        }
        self.state = State::Fetching(position);
        taken
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        match self.state {
            State::Unset => encoder.u8(0),
            State::Finding { spec, why } => {
                encoder.u8(1);
                offset_spec(spec, encoder);
                encoder.u8(why as u8);
            }
            State::Validating(_) => encoder.u8(2),
            State::Fetching(_) => encoder.u8(3),
            State::Stopped(_) => encoder.u8(4),
        }
        encoder.option(self.position(), |encoder, position| {
            encoder.i64(position.offset);
            encoder.option(position.epoch, Encoder::i32);
            encoder.option(position.leader, |encoder, (leader, epoch)| {
                encoder.u16(leader.0);
                encoder.i32(epoch);
            });
        });
        encoder.u8(u8::from(self.asked));
        encoder.u32(self.attempts);
        encoder.len(self.buffered.len());
        for batch in &self.buffered {
            encoder.u128(batch.fingerprint());
        }
    }
}

/// A tag for each record; 0 where none was given.
fn tags(batch: &Batch) -> impl Iterator<Item = u64> + '_ {
    batch.tags().iter().copied().chain(std::iter::repeat(0))
}
