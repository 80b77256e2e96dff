//! What a consumer makes of the answers: records, offsets, ends of epochs, errors.
//!
//! Mirrors `FetchCollector.initialize`, `OffsetFetcherUtils.onSuccessfulResponseForResettingPositions` and
//! `SubscriptionState.maybeCompleteValidation`.

use crate::cluster::actor::Cx;
use crate::cluster::event::{ReadError, What};
use crate::cluster::ids::TopicPartition;
use crate::cluster::message::{FetchResult, FoundOffset, OffsetSpec};
use crate::cluster::rules::Rule;
use crate::log::Errors;

use super::Consumer;
use super::position::{Position, State, Why};

/// Epoch and end offset, or why there are none.
type EpochEnd = Result<(i32, i64), Errors>;

impl Consumer {
    /// A fetch was answered. What no longer fits the position is stale and dropped.
    pub(super) fn on_fetched(&mut self, asked: &[(TopicPartition, i64, i32)], results: Vec<FetchResult>, cx: &mut Cx) {
        for result in results {
            let tp = result.partition;
            let offset = asked
                .iter()
                .find(|(asked, ..)| *asked == tp)
                .map(|&(_, offset, _)| offset);
            let is_read = self.order.contains(&tp);
            let Some(reading) = self.readings.get_mut(&tp).filter(|_| is_read) else {
                continue;
            };
            let State::Fetching(position) = reading.state else {
                continue;
            };
            if Some(position.offset) != offset {
                continue;
            }
            if let Some(error) = result.error {
                self.on_fetch_error(tp, error, result.current_leader, cx);
                continue;
            }
            let mut sound = result.batches;
            let broken = sound.iter().position(|batch| !batch.is_valid());
            if broken == Some(0) {
                self.fail(tp, ReadError::Answered(Errors::CorruptMessage), cx);
                continue;
            }
            // What stands before a broken batch is handed over; the next fetch begins with the broken one.
            sound.truncate(broken.unwrap_or(usize::MAX));
            if !sound.is_empty() {
                reading.buffer(sound);
                self.arrived.push_back(tp);
                self.move_to_end(tp);
            }
        }
    }

    fn move_to_end(&mut self, tp: TopicPartition) {
        self.order.retain(|&other| other != tp);
        self.order.push(tp);
    }

    fn on_fetch_error(
        &mut self,
        tp: TopicPartition,
        error: Errors,
        leader: Option<(crate::cluster::ids::BrokerId, i32)>,
        cx: &mut Cx,
    ) {
        self.move_to_end(tp);
        match error {
            Errors::OffsetOutOfRange => self.reset(tp, ReadError::Answered(error), cx),
            // The leader is behind the metadata and will hear of it.
            Errors::UnknownLeaderEpoch => self.try_again(tp, cx),
            error if error.is_retriable() => {
                let named = leader.is_some_and(|(leader, epoch)| self.metadata.learn_leader(tp, leader, epoch));
                if !named {
                    self.metadata.want(None);
                    self.try_again(tp, cx);
                }
            }
            error => self.fail(tp, ReadError::Answered(error), cx),
        }
    }

    /// The leader has told where to begin.
    pub(super) fn on_offsets(
        &mut self,
        asked: &[(TopicPartition, OffsetSpec)],
        answers: Vec<(TopicPartition, Result<Option<FoundOffset>, Errors>)>,
        cx: &mut Cx,
    ) {
        for (tp, answer) in answers {
            let asked = asked.iter().find(|(asked, _)| *asked == tp).map(|&(_, spec)| spec);
            let leader = self.metadata.leader(tp);
            let Some(reading) = self.readings.get_mut(&tp) else {
                continue;
            };
            let State::Finding { spec, why } = reading.state else {
                continue;
            };
            if Some(spec) != asked {
                continue;
            }
            match answer {
                Ok(Some(FoundOffset { offset, .. })) => {
                    reading.enter(State::Fetching(Position {
                        offset,
                        epoch: None,
                        leader,
                    }));
                    self.positioned(tp, offset, why, cx);
                }
                // No record is that young: the end it is.
                Ok(None) => reading.enter(State::Finding {
                    spec: OffsetSpec::Latest,
                    why,
                }),
                Err(_) => {
                    self.metadata.want(None);
                    self.try_again(tp, cx);
                }
            }
        }
    }

    fn positioned(&mut self, partition: TopicPartition, offset: i64, why: Why, cx: &mut Cx) {
        let client = self.id;
        let rule = match why {
            Why::Reset => Rule::ConsumerReset,
            Why::Seek => Rule::ConsumerSeek,
        };
        cx.say(rule, || What::Positioned {
            client,
            partition,
            offset,
        });
    }

    /// The new leader has told where the epoch of the last record ends in its log.
    pub(super) fn on_epoch_ends(
        &mut self,
        asked: &[(TopicPartition, i64)],
        answers: Vec<(TopicPartition, EpochEnd)>,
        cx: &mut Cx,
    ) {
        for (tp, answer) in answers {
            let asked = asked.iter().find(|(asked, _)| *asked == tp).map(|&(_, offset)| offset);
            let Some(reading) = self.readings.get_mut(&tp) else {
                continue;
            };
            let State::Validating(position) = reading.state else {
                continue;
            };
            if Some(position.offset) != asked {
                continue;
            }
            match answer {
                Ok((epoch, end)) if epoch < 0 || end < 0 => {
                    self.reset(tp, ReadError::Answered(Errors::OffsetOutOfRange), cx);
                }
                Ok((epoch, end)) if end < position.offset => self.on_truncation(tp, position, epoch, end, cx),
                Ok(_) => reading.enter(State::Fetching(position)),
                Err(_) => {
                    self.metadata.want(None);
                    self.try_again(tp, cx);
                }
            }
        }
    }

    /// Records that were read are no longer there. With a reset policy reading goes on where the logs part, without one the
    /// application gets `LogTruncationException`, which is a kind of out of range.
    fn on_truncation(&mut self, tp: TopicPartition, position: Position, epoch: i32, end: i64, cx: &mut Cx) {
        if self.config.auto_offset_reset == crate::config::AutoOffsetReset::None {
            self.fail(tp, ReadError::Answered(Errors::OffsetOutOfRange), cx);
            return;
        }
        if let Some(reading) = self.readings.get_mut(&tp) {
            reading.enter(State::Fetching(Position {
                offset: end,
                epoch: Some(epoch),
                ..position
            }));
        }
        let client = self.id;
        cx.say(Rule::ConsumerEpoch, || What::Positioned {
            client,
            partition: tp,
            offset: end,
        });
    }
}
