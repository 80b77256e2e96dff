//! The ledger: what became of each record that a producer ever sent.
//!
//! A pure fold of events ([`Ledger::apply`]): sent, appended, told, read, and which event took each copy. Records are
//! named by [`Tag`], which travels with their bytes, so a record is followed through every replica and every retry.
//! Questions about the present (is it lost? where
//! are its copies?) are judged by the logs of a world and stand in [`present`]; the named invariants in [`invariants`].
//!
//! Deliberately absent: text, past states (a history keeps ledgers at checkpoints), and anything that
//! the engine would read back. Cheap to clone: lists lie in shared chunks.

mod chunked;
mod counters;
mod fold;
mod holdings;
pub mod invariants;
pub mod present;
mod reads;
mod record;
#[cfg(test)]
mod tests;
mod touch;

use std::sync::Arc;

pub use counters::{Answer, Metric, Tally};
pub use reads::{Disagreement, Seen};
pub use record::{How, Place, Story, Taken, When};
pub(crate) use touch::about;
pub use touch::{Subject, partition_of};

use crate::cluster::event::{Event, ReadError, Tag};
use crate::cluster::ids::{BrokerId, ClientId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::log::{Errors, RecordView};
use crate::sorted::SortedMap;

use chunked::Chunked;
use counters::Counters;
use holdings::Holdings;
use reads::Reads;

/// What became of every record so far.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    now: When,
    stories: SortedMap<ClientId, Chunked<Story>>,
    /// The errors after which records were sent again, with the moment of each. Few records have any.
    retries: Arc<SortedMap<Tag, Vec<(When, Errors)>>>,
    holdings: SortedMap<(TopicPartition, BrokerId), Holdings>,
    reads: Reads,
    counters: Counters,
    /// Tags acknowledged by partition, in order of time.
    acknowledged: SortedMap<TopicPartition, Chunked<Tag>>,
    /// The last leader that the controller gave to a partition.
    last_leaders: SortedMap<TopicPartition, BrokerId>,
    verdicts: invariants::Verdicts,
}

impl Ledger {
    /// Folds the events of one accepted input: one step more.
    pub fn step(&mut self, events: &[Event]) {
        self.now.step += 1;
        for event in events {
            self.apply(event);
        }
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &Event) {
        self.now.at = event.at;
        self.counters.note(event);
        self.fold(event);
    }

    /// How many inputs were folded.
    pub fn steps(&self) -> u64 {
        self.now.step
    }

    /// The story of a record, if it was handed over.
    pub fn story(&self, tag: Tag) -> Option<&Story> {
        self.stories.get(&tag.client)?.get(tag.number.checked_sub(1)? as usize)
    }

    /// The errors after which a record was to be sent again, each with its moment, in order of time.
    pub fn retries(&self, tag: Tag) -> &[(When, Errors)] {
        self.retries.get(&tag).map_or(&[], Vec::as_slice)
    }

    /// The error of a record's latest attempt, while it is tried again.
    pub fn refused(&self, tag: Tag) -> Option<Errors> {
        let undecided = self.story(tag).is_some_and(|story| story.told.is_none());
        let (_, error) = self.retries(tag).last().filter(|_| undecided)?;
        Some(*error)
    }

    /// The stories of a client's records in the order of their numbers.
    pub fn stories(&self, client: ClientId) -> impl Iterator<Item = (Tag, &Story)> + '_ {
        let of_client = self.stories.get(&client).into_iter().flat_map(Chunked::iter);
        (1..)
            .zip(of_client)
            .map(move |(number, story)| (Tag { client, number }, story))
    }

    /// The highest number that a client has given to a record that was handed over.
    pub fn last_number(&self, client: ClientId) -> u32 {
        self.stories
            .get(&client)
            .map_or(0, |stories| u32::try_from(stories.end()).unwrap_or(u32::MAX))
    }

    /// Every record of every client.
    pub fn all(&self) -> impl Iterator<Item = (Tag, &Story)> + '_ {
        self.stories.keys().flat_map(|client| self.stories(*client))
    }

    /// Runs a function on a record's key, value and headers; `None` if no leader ever appended it.
    pub fn with_bytes<R>(&self, tag: Tag, f: impl FnOnce(RecordView<'_>) -> R) -> Option<R> {
        let (batch, index) = self.story(tag)?.bytes.as_ref()?;
        batch.records().nth(*index as usize).map(f)
    }

    /// A record's value: `None` if no leader ever appended it, `Some(None)` if it is null.
    pub fn value(&self, tag: Tag) -> Option<Option<Vec<u8>>> {
        self.with_bytes(tag, |record| record.value.map(<[u8]>::to_vec))
    }

    /// How many records of a client were handed over and decided.
    pub fn tally(&self, client: ClientId) -> Tally {
        self.counters.tally(client)
    }

    /// As [`tally`](Self::tally), of one partition; a record counts as soon as its partition is known.
    pub fn tally_of(&self, client: ClientId, partition: TopicPartition) -> Tally {
        self.counters.tally_of(client, partition)
    }

    /// How often a rule has decided something.
    pub fn events(&self, rule: Rule) -> u32 {
        self.counters.events(rule)
    }

    /// A metric of one broker, or the sum over all.
    pub fn metric(&self, metric: Metric, broker: Option<BrokerId>) -> u32 {
        self.counters.metric(metric, broker)
    }

    /// What a consumer's application got, in order; over all its processes.
    pub fn read(&self, client: ClientId) -> impl Iterator<Item = &Seen> + '_ {
        self.reads.of(client)
    }

    /// Everything that was ever read of a partition: offset and the record that was read there first.
    pub fn seen(&self, partition: TopicPartition) -> impl Iterator<Item = (i64, Tag)> + '_ {
        self.reads.seen(partition)
    }

    /// The first two reads, if any, that gave different records at one offset.
    pub fn disagreement(&self) -> Option<Disagreement> {
        self.reads.disagreement
    }

    /// The last error that a consumer's application saw.
    pub fn error(&self, client: ClientId) -> Option<ReadError> {
        self.counters.error(client)
    }

    /// What the latest operator's act was answered.
    pub fn answer(&self) -> Option<Answer> {
        self.counters.answer()
    }

    /// The last leader that the controller gave to a partition, though it may have none now.
    pub fn last_leader(&self, partition: TopicPartition) -> Option<BrokerId> {
        self.last_leaders.get(&partition).copied()
    }

    /// Offset and tag of what a replica's log holds, as events told it, ascending.
    pub fn held(&self, partition: TopicPartition, broker: BrokerId) -> impl Iterator<Item = (i64, Tag)> + '_ {
        let holdings = self.holdings.get(&(partition, broker)).into_iter();
        holdings
            .flat_map(Holdings::records)
            .map(|(offset, bits)| (offset, Tag::from_bits(bits)))
    }

    /// Records of a partition that were acknowledged, in order of time.
    pub fn acknowledged(&self, partition: TopicPartition) -> impl Iterator<Item = Tag> + '_ {
        self.acknowledged
            .get(&partition)
            .into_iter()
            .flat_map(Chunked::iter)
            .copied()
    }
}
