//! Answering where a partition's log begins, ends, and where an epoch ends in it.
//!
//! Mirrors `Partition.fetchOffsetForTimestamp` and `lastOffsetForLeaderEpoch`. A new leader does not tell an end until
//! its high watermark has reached the start of its epoch, so that clients never see the end go back.

use crate::cluster::actor::Cx;
use crate::cluster::ids::{Node, TopicPartition};
use crate::cluster::message::{Correlation, FoundOffset, Isolation, Message, OffsetSpec};
use crate::cluster::rules::Rule;
use crate::log::{EpochEntry, Errors, Log, TimestampQuery};

use super::process::Process;

impl Process {
    /// Serves a `ListOffsets`.
    pub(super) fn serve_list_offsets(
        &mut self,
        cx: &mut Cx<'_>,
        from: Node,
        id: Correlation,
        isolation: Isolation,
        wanted: &[(TopicPartition, i32, OffsetSpec)],
    ) {
        let answers = wanted
            .iter()
            .map(|&(tp, epoch, spec)| (tp, self.offset(cx, tp, epoch, isolation, spec)));
        let answers = answers.collect();
        self.send(cx, from, Message::ListOffsetsResponse(id, answers));
    }

    fn offset(
        &self,
        cx: &Cx<'_>,
        tp: TopicPartition,
        epoch: i32,
        isolation: Isolation,
        spec: OffsetSpec,
    ) -> Result<Option<FoundOffset>, Errors> {
        let replica = self.led_in_epoch(cx, tp, epoch)?;
        let log = &replica.log;
        let end = match isolation {
            Isolation::LogEnd => log.log_end_offset(),
            Isolation::Uncommitted => log.high_watermark(),
            Isolation::Committed => log.last_stable_offset(),
        };
        let start = replica.leading().map_or(0, |leading| leading.epoch_start);
        let behind =
            isolation != Isolation::LogEnd && start > log.high_watermark() && cx.holds(Rule::OffsetNotAvailable);
        let found = |offset, leader_epoch| Ok(Some(FoundOffset { offset, leader_epoch }));
        let query = match spec {
            OffsetSpec::Latest if behind => return Err(Errors::OffsetNotAvailable),
            OffsetSpec::Latest => return found(end, Some(replica.leader_epoch)),
            OffsetSpec::Earliest => TimestampQuery::Earliest,
            OffsetSpec::MaxTimestamp => TimestampQuery::MaxTimestamp,
            OffsetSpec::Timestamp(time) => TimestampQuery::At(time),
        };
        match log.lookup_timestamp(query).map_err(|refusal| refusal.error)? {
            Some(at) if spec == OffsetSpec::Earliest || at.offset < end => found(at.offset, at.leader_epoch),
            _ if behind => Err(Errors::OffsetNotAvailable),
            _ => Ok(None),
        }
    }

    /// Serves an `OffsetsForLeaderEpoch`.
    pub(super) fn serve_epoch_end(
        &mut self,
        cx: &mut Cx<'_>,
        from: Node,
        id: Correlation,
        wanted: &[(TopicPartition, i32, i32)],
    ) {
        let end = |tp, current, epoch| {
            let replica = self.led_in_epoch(cx, tp, current)?;
            let end = replica.log.end_offset_for_epoch(epoch);
            Ok(match end {
                None => (-1, -1),
                Some(end) if cx.holds(Rule::EndOffsetOnly) => end_alone(&replica.log, epoch, end.end_offset),
                Some(end) => (end.epoch, end.end_offset),
            })
        };
        let answers = wanted
            .iter()
            .map(|&(tp, current, epoch)| (tp, end(tp, current, epoch)))
            .collect();
        self.send(cx, from, Message::EpochEndResponse(id, answers));
    }
}

/// Where an epoch ends, as it was answered before KIP-279: without the epoch that ends there, and not at all of an epoch
/// before the first that the log knows.
fn end_alone(log: &Log, epoch: i32, end: i64) -> (i32, i64) {
    let knows = |first: &EpochEntry| first.epoch <= epoch;
    (
        -1,
        if log.epochs().entries().first().is_some_and(knows) {
            end
        } else {
            -1
        },
    )
}
