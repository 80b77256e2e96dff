//! One peer's connection to this broker, from the broker's side.
//!
//! Mirrors `SocketServer` and `RequestChannel`: the requests of one connection are served one at a time. A write that
//! waits for replication and a fetch that waits for records mute their connection; what comes behind them waits too.

use std::collections::VecDeque;

use crate::cluster::ids::TopicPartition;
use crate::cluster::message::{Correlation, Message, ProduceResult};
use crate::cluster::settings::Micros;
use crate::log::Batch;

use super::parked::ParkedFetch;

/// A peer's connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Channel {
    /// What is being served and cannot be answered yet.
    pub serving: Option<Serving>,
    /// What arrived behind it.
    pub queue: VecDeque<Message>,
}

/// A request that cannot be answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Serving {
    /// It waits for records.
    Fetch(ParkedFetch),
    /// It waits for the high watermark.
    Produce(DelayedProduce),
}

/// A produce request with `acks=all` that waits (`DelayedProduce`).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DelayedProduce {
    pub correlation: Correlation,
    /// When those that still wait are answered with `REQUEST_TIMED_OUT`.
    pub deadline: Micros,
    pub parts: Vec<ProducePart>,
}

/// One partition's part of a produce request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProducePart {
    pub partition: TopicPartition,
    /// As it was sent, for its tags.
    pub batch: Batch,
    pub state: PartState,
}

/// How far one partition's part has come.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PartState {
    /// In the log (or found there already) from `base` on.
    Appended {
        base: i64,
        last: i64,
        log_append_time: Option<i64>,
    },
    /// Decided.
    Done(ProduceResult),
}
