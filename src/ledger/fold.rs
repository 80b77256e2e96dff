//! How each event changes the ledger.

use std::sync::Arc;

use super::holdings::tagged;
use super::{How, Ledger, Place, Story, Taken};
use crate::cluster::event::{AppendedAs, Ended, Event, Expiry, Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::log::Batch;

impl Ledger {
    pub(super) fn fold(&mut self, event: &Event) {
        let now = self.now;
        match &event.what {
            What::Handed { tag, topic_partition } => {
                self.counters.handed(*tag);
                self.change(*tag, |story| story.handed = now);
                self.place(*tag, *topic_partition);
            }
            What::Accumulated { tag, partition } => {
                self.know(*tag);
                self.place(*tag, Some(*partition));
            }
            What::ProduceSent { batches, acks, .. } => {
                for bits in batches.iter().flat_map(|batch| batch.1.iter()) {
                    self.change(Tag::from_bits(*bits), |story| {
                        story.attempts += 1;
                        story.acks = Some(*acks);
                    });
                }
            }
            What::WillRetry { tags, error, .. } => {
                for tag in tags.iter().map(|bits| Tag::from_bits(*bits)) {
                    self.know(tag);
                    let retries = Arc::make_mut(&mut self.retries);
                    retries.entry(tag).or_default().push((now, *error));
                }
            }
            What::Refused { tags, .. } | What::Duplicate { tags, .. } => {
                tags.iter().for_each(|bits| self.know(Tag::from_bits(*bits)));
            }
            What::Answered { tags, .. } => {
                tags.iter().for_each(|bits| self.know(Tag::from_bits(*bits)));
            }
            What::Told {
                tag,
                partition,
                outcome,
            } => self.told(*tag, *partition, *outcome),
            What::Read {
                client,
                partition,
                records,
            } => {
                self.reads.note(*client, *partition, records);
                records.iter().for_each(|record| self.know(Tag::from_bits(record.1)));
            }
            What::Appended {
                broker,
                partition,
                by,
                batch,
            } => self.appended(*broker, *partition, *by, batch),
            What::LeaderElected {
                partition, from, to, ..
            } => {
                if let Some(leader) = to.or(*from) {
                    self.last_leaders.insert(*partition, leader);
                }
                self.verdicts.shaken(*partition);
            }
            _ => self.fold_loss(event),
        }
    }

    /// Events that take copies away, or may.
    fn fold_loss(&mut self, event: &Event) {
        match &event.what {
            What::Truncated {
                broker,
                partition,
                to,
                cut,
                ..
            } => {
                // A follower below its leader's log start drops everything and begins anew further on.
                let from = cut.first().map_or(*to, |first| first.0.min(*to));
                self.cut(*broker, *partition, from, How::Truncated, event);
            }
            What::Recovered {
                broker, partition, leo, ..
            } => {
                self.cut(*broker, *partition, *leo, How::Dropped, event);
            }
            What::LogStart {
                broker, partition, to, ..
            } => {
                let how = match event.rule {
                    Rule::RetentionTime | Rule::RetentionSize => How::Expired,
                    _ => How::Deleted,
                };
                self.advance(*broker, *partition, *to, how, event);
            }
            What::SegmentDeleted {
                broker,
                partition,
                next,
                by,
                ..
            } => {
                let how = match by {
                    Expiry::Time | Expiry::Size => How::Expired,
                    Expiry::LogStart => How::Deleted,
                };
                self.advance(*broker, *partition, *next, how, event);
            }
            What::Compacted {
                broker,
                partition,
                gone,
                ..
            } => {
                let offsets = gone.iter().map(|record| record.offset);
                let gone = match self.holdings.get_mut(&(*partition, *broker)) {
                    Some(held) => held.remove(offsets),
                    None => Vec::new(),
                };
                self.take(*broker, *partition, gone, How::Compacted, event);
            }
            What::BrokerEnded {
                broker,
                how: Ended::PoweredOff,
                lost,
            } => {
                for (partition, from, ..) in lost {
                    self.cut(*broker, *partition, *from, How::PowerLost, event);
                }
            }
            What::TopicDeleted { partitions, .. } => {
                for partition in partitions {
                    self.take_everywhere(*partition, event);
                }
            }
            What::Wiped { broker, lost } => {
                for (partition, _) in lost {
                    let held = self.holdings.remove(&(*partition, *broker));
                    let gone = held.map(|mut held| held.clear()).unwrap_or_default();
                    self.take(*broker, *partition, gone, How::Wiped, event);
                }
            }
            _ => {}
        }
    }

    /// A partition was deleted: every copy of its records goes.
    fn take_everywhere(&mut self, partition: TopicPartition, event: &Event) {
        let held = self.holdings.iter_mut().filter(|((at, _), _)| *at == partition);
        let gone: Vec<_> = held.map(|((_, broker), held)| (*broker, held.clear())).collect();
        for (broker, gone) in gone {
            self.take(broker, partition, gone, How::Deleted, event);
        }
    }

    /// Changes a record's story; tags that no client has handed over are made known here.
    fn change(&mut self, tag: Tag, f: impl FnOnce(&mut Story)) {
        let Some(index) = tag.number.checked_sub(1) else { return };
        let stories = self.stories.entry(tag.client).or_default();
        while stories.end() <= index as usize {
            stories.push(Story::default());
        }
        if let Some(story) = stories.get_mut(index as usize) {
            f(story);
        }
    }

    /// A record is named: it is made known if no client has handed it over.
    fn know(&mut self, tag: Tag) {
        self.change(tag, |_| {});
    }

    /// The record's partition became known.
    fn place(&mut self, tag: Tag, partition: Option<TopicPartition>) {
        let Some(partition) = partition else { return };
        let Some(index) = tag.number.checked_sub(1) else { return };
        let Some(story) = self
            .stories
            .get_mut(&tag.client)
            .and_then(|list| list.get_mut(index as usize))
        else {
            return;
        };
        if story.partition.is_none() {
            story.partition = Some(partition);
            self.counters.placed(tag, partition);
        }
    }

    fn told(&mut self, tag: Tag, partition: Option<TopicPartition>, outcome: Outcome) {
        let now = self.now;
        self.change(tag, |story| story.told = Some((now, outcome)));
        self.place(tag, partition);
        let partition = self.story(tag).and_then(|story| story.partition);
        self.counters.told(tag, partition, outcome);
        if let (Some(partition), Outcome::Acked(_)) = (partition, outcome) {
            self.acknowledged.entry(partition).or_default().push(tag);
            self.verdicts.acknowledged(tag);
        }
    }

    fn appended(&mut self, broker: BrokerId, partition: TopicPartition, by: AppendedAs, batch: &Batch) {
        self.holdings
            .entry((partition, broker))
            .or_default()
            .append(batch.clone());
        let now = self.now;
        for (index, (offset, bits)) in (0..).zip(tagged(batch)) {
            self.change(Tag::from_bits(bits), |story| {
                if by == AppendedAs::Leader {
                    let place = Place {
                        partition,
                        offset,
                        epoch: batch.leader_epoch(),
                        leader: broker,
                        when: now,
                    };
                    story.places.push(place);
                    story.bytes.get_or_insert_with(|| (batch.clone(), index));
                }
            });
        }
    }

    /// A log was cut from an offset on.
    fn cut(&mut self, broker: BrokerId, partition: TopicPartition, from: i64, how: How, event: &Event) {
        let gone = match self.holdings.get_mut(&(partition, broker)) {
            Some(held) => held.cut(from),
            None => Vec::new(),
        };
        self.take(broker, partition, gone, how, event);
    }

    /// A log now starts at an offset.
    fn advance(&mut self, broker: BrokerId, partition: TopicPartition, to: i64, how: How, event: &Event) {
        let gone = match self.holdings.get_mut(&(partition, broker)) {
            Some(held) => held.advance(to),
            None => Vec::new(),
        };
        self.take(broker, partition, gone, how, event);
    }

    fn take(&mut self, broker: BrokerId, partition: TopicPartition, gone: Vec<(i64, u64)>, how: How, event: &Event) {
        if !gone.is_empty() {
            self.verdicts.shaken(partition);
        }
        let when = self.now;
        for (offset, bits) in gone {
            self.change(Tag::from_bits(bits), |story| {
                // A follower takes over the log start that its leader has decided: its copy goes as the leader's went.
                let how = match event.rule {
                    Rule::LogStartFollower if story.ended(How::Expired) => How::Expired,
                    _ => how,
                };
                story.taken.push(Taken {
                    broker,
                    offset,
                    how,
                    rule: event.rule,
                    when,
                });
            });
        }
    }
}
