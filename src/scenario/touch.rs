//! The last event of each kind about each thing, as a run goes on: from these a failed expectation names the one that
//! touched its subject last.
//!
//! Which kinds of event can change which subject is said in [`look`](super::look::about); here they are only kept, one of
//! a kind, so that a long run needs no more room than a short one. A record is followed only if an expectation names it.
//!
//! Deliberately absent: judging, and everything that a page shows.

use super::ast::{Expectation, RecordFact, Script, Statement, Subject};
use crate::cluster::event::{Cause, Event, Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, TopicId, TopicPartition};
use crate::cluster::{Rule, World};
use crate::ledger::{self, Ledger};
use crate::sorted::{SortedMap, SortedSet};
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    /// The run as a whole: every event.
    Run,
    /// A partition, wherever its replicas are.
    Partition(TopicPartition),
    /// One replica.
    Replica(TopicPartition, BrokerId),
    /// A broker.
    Broker(BrokerId),
    /// A producer or consumer.
    Client(ClientId),
    /// A producer or consumer, as far as one partition goes.
    ClientAt(ClientId, TopicPartition),
    /// A consumer group.
    Group(GroupId),
    /// A consumer group, as far as one partition goes.
    GroupAt(GroupId, TopicPartition),
    /// A rule.
    Rule(Rule),
    /// A record.
    Record(Tag),
}

/// What makes two events alike, so that the later one takes the earlier one's place.
type Kind = (Discriminant<What>, Rule, u8);

/// The last event of a kind, and how many events there were before it.
struct Touch {
    kind: Kind,
    number: u64,
    event: Arc<Event>,
}

/// The last events.
pub(super) struct Touches {
    seen: u64,
    last: SortedMap<Thing, Vec<Touch>>,
    /// The numbers of records that expectations name, whoever sent them.
    records: SortedSet<u64>,
    /// The records of whose copies an expectation speaks: an event that takes or keeps a range of offsets is about them too.
    copies: SortedSet<(String, u64)>,
    /// What broke each invariant that an expectation names.
    broken: SortedMap<String, Option<Arc<Event>>>,
}

impl Touches {
    /// Nothing has happened yet.
    pub fn new(script: &Script) -> Touches {
        let mut touches = Touches {
            seen: 0,
            last: SortedMap::default(),
            records: SortedSet::default(),
            copies: SortedSet::default(),
            broken: SortedMap::default(),
        };
        for line in &script.lines {
            let Statement::Expect(Expectation { subject, .. }) = &*line.statement else {
                continue;
            };
            match subject {
                Subject::Record(fact, name) => {
                    touches.records.insert(name.number);
                    if matches!(fact, RecordFact::Custody | RecordFact::Fate) {
                        touches.copies.insert((name.producer.clone(), name.number));
                    }
                }
                Subject::Invariant(name) => {
                    touches.broken.insert(name.clone(), None);
                }
                _ => {}
            }
        }
        touches
    }

    /// Notes the events of a step, after which the world and the ledger are these.
    pub fn note(&mut self, events: &[Event], world: &World, ledger: &Ledger) {
        for event in events {
            let event = Arc::new(event.clone());
            self.seen += 1;
            self.things(&event.what, world, |touches, thing| touches.keep(thing, &event));
            for tag in self.within(&event.what, world, ledger) {
                self.keep(Thing::Record(tag), &event);
            }
            self.keep(Thing::Rule(event.rule), &event);
            self.keep(Thing::Run, &event);
        }
        self.note_broken(events, ledger);
    }

    /// The records that lie in the range of offsets that an event speaks of, of those that have to be followed.
    fn within(&self, what: &What, world: &World, ledger: &Ledger) -> Vec<Tag> {
        let (at, offsets) = match what {
            What::Flushed {
                partition, from, to, ..
            }
            | What::LogStart {
                partition, from, to, ..
            } => (*partition, *from..*to),
            What::SegmentDeleted {
                partition, base, next, ..
            } => (*partition, *base..*next),
            _ => return Vec::new(),
        };
        let tags = self.copies.iter().filter_map(|(producer, number)| {
            Some(Tag {
                client: world.client_named(producer)?,
                number: u32::try_from(*number).ok()?,
            })
        });
        let lies_there = |tag: &Tag| {
            let mut places = ledger.story(*tag).into_iter().flat_map(|story| &story.places);
            places.any(|place| place.partition == at && offsets.contains(&place.offset))
        };
        tags.filter(lies_there).collect()
    }

    /// An invariant breaks by the last event of the step after which it is found broken.
    fn note_broken(&mut self, events: &[Event], ledger: &Ledger) {
        let happened = |event: &&Event| !matches!(event.what, What::Step(_) | What::Nothing { .. });
        let Some(event) = events.iter().rfind(happened).or(events.last()) else {
            return;
        };
        for (name, by) in self.broken.iter_mut().filter(|(_, by)| by.is_none()) {
            if ledger.verdict(name).is_some_and(|verdict| verdict.first.is_some()) {
                *by = Some(Arc::new(event.clone()));
            }
        }
    }

    /// What broke an invariant first.
    pub fn broke(&self, invariant: &str) -> Option<&Event> {
        self.broken.get(invariant)?.as_deref()
    }

    /// The last event about one of these things that is of a kind that counts for it.
    pub fn last<'a>(&self, places: impl IntoIterator<Item = &'a (Thing, Counts)>) -> Option<&Event> {
        let touches = places.into_iter().flat_map(|(thing, counts)| {
            let kept = self.last.get(thing).into_iter().flatten();
            kept.filter(|touch| counts(&touch.event))
        });
        touches.max_by_key(|touch| touch.number).map(|touch| &*touch.event)
    }

    fn keep(&mut self, thing: Thing, event: &Arc<Event>) {
        let kind = (discriminant(&event.what), event.rule, shade(&event.what));
        let touch = Touch {
            kind,
            number: self.seen,
            event: Arc::clone(event),
        };
        let kept = self.last.entry(thing).or_default();
        match kept.iter_mut().find(|other| other.kind == kind) {
            Some(other) => *other = touch,
            None => kept.push(touch),
        }
    }

    /// Calls `f` with everything that an event is about.
    fn things(&mut self, what: &What, world: &World, mut f: impl FnMut(&mut Self, Thing)) {
        match what {
            What::BrokerEnded { broker, lost, .. } => {
                f(self, Thing::Broker(*broker));
                for (at, ..) in lost.iter().filter(|(_, from, to, _)| from < to) {
                    f(self, Thing::Replica(*at, *broker));
                    f(self, Thing::Partition(*at));
                }
            }
            What::TopicCreated { topic, partitions } => {
                let id = world.topic_named(topic);
                let all = id
                    .into_iter()
                    .flat_map(|id| (0..*partitions).map(move |number| at(id, number)));
                all.for_each(|at| f(self, Thing::Partition(at)));
            }
            What::TopicDeleted { partitions, .. } => {
                partitions.iter().for_each(|at| f(self, Thing::Partition(*at)));
            }
            _ => ledger::about(what, |subject| f(self, thing(subject))),
        }
        if let Some((client, at)) = client_at(what) {
            f(self, Thing::ClientAt(client, at));
        }
        match what {
            What::Assigned { client, partitions, .. } | What::PartitionsTaken { client, partitions, .. } => {
                partitions.iter().for_each(|at| f(self, Thing::ClientAt(*client, *at)));
            }
            What::OffsetsCommitted { group, offsets, .. } => {
                for (topic, number, _) in offsets {
                    if let Some(id) = world.topic_named(topic) {
                        f(self, Thing::GroupAt(*group, at(id, *number)));
                    }
                }
            }
            _ => {}
        }
        if !self.records.is_empty() {
            for tag in tags(what) {
                if self.records.contains(&u64::from(tag.number)) {
                    f(self, Thing::Record(tag));
                }
            }
        }
    }
}

/// Whether an event can have changed a subject.
pub(super) type Counts = fn(&Event) -> bool;

fn at(topic: TopicId, partition: u32) -> TopicPartition {
    TopicPartition { topic, partition }
}

fn thing(subject: ledger::Subject) -> Thing {
    match subject {
        ledger::Subject::Partition(at) => Thing::Partition(at),
        ledger::Subject::Replica(at, broker) => Thing::Replica(at, broker),
        ledger::Subject::Broker(broker) => Thing::Broker(broker),
        ledger::Subject::Client(client) => Thing::Client(client),
        ledger::Subject::Group(group) => Thing::Group(group),
    }
}

/// What else tells two events apart that are otherwise of one kind: a state that was reached, what somebody was told,
/// whether an ISR shrank.
fn shade(what: &What) -> u8 {
    match what {
        What::State { to, .. } => *to as u8,
        What::Told { outcome, .. } => match outcome {
            Outcome::Acked(_) => 0,
            Outcome::Sent => 1,
            Outcome::Failed(_) => 2,
        },
        What::IsrChanged { from, to, .. } => u8::from(to.len() < from.len()),
        What::Step(Cause::Fired { .. }) => 1,
        _ => 0,
    }
}

/// The client and the one partition that an event is about.
fn client_at(what: &What) -> Option<(ClientId, TopicPartition)> {
    match what {
        What::Handed { tag, topic_partition } => topic_partition.map(|at| (tag.client, at)),
        What::Accumulated { tag, partition } => Some((tag.client, *partition)),
        What::Told { tag, partition, .. } => partition.map(|at| (tag.client, at)),
        What::Answered { client, partition, .. }
        | What::WillRetry { client, partition, .. }
        | What::Read { client, partition, .. }
        | What::Positioned { client, partition, .. } => Some((*client, *partition)),
        What::ConsumerError { client, partition, .. } => partition.map(|at| (*client, at)),
        _ => None,
    }
}

/// The records that an event names.
fn tags(what: &What) -> Vec<Tag> {
    let of_offsets = |records: &[(i64, u64)]| records.iter().map(|record| record.1).collect();
    let bits: Vec<u64> = match what {
        What::Handed { tag, .. } | What::Accumulated { tag, .. } | What::Told { tag, .. } => vec![tag.to_bits()],
        What::ProduceSent { batches, .. } => batches.iter().flat_map(|batch| batch.1.iter().copied()).collect(),
        What::WillRetry { tags, .. }
        | What::Refused { tags, .. }
        | What::Duplicate { tags, .. }
        | What::Answered { tags, .. } => tags.to_vec(),
        What::Appended { batch, .. } => batch.tags().to_vec(),
        What::Read { records, .. } => of_offsets(records),
        What::Truncated { cut, .. } | What::Recovered { cut, .. } => of_offsets(cut),
        What::Compacted { gone, .. } => gone.iter().filter_map(|record| record.tag).collect(),
        What::BrokerEnded { lost, .. } => lost.iter().flat_map(|(.., records)| of_offsets(records)).collect(),
        What::Wiped { lost, .. } => lost.iter().flat_map(|(_, records)| of_offsets(records)).collect(),
        _ => Vec::new(),
    };
    bits.into_iter().map(Tag::from_bits).collect()
}
