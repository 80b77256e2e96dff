//! What the view modules look at: a world, its ledger, the step that led here, and which partition is in view.

use crate::cluster::event::{Event, What};
use crate::cluster::{BrokerId, ClientId, Input, Tag, TopicPartition, World};
use crate::history::History;
use crate::ledger::present::{Custody, Fate, Where};
use crate::ledger::{Ledger, Story};
use crate::log::Log;
use crate::sorted::SortedMap;
use crate::ui::view::names::Names;

/// How a broker that is down came down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its process was killed.
    Killed,
    /// Its host lost power.
    PoweredOff,
    /// It was stopped cleanly.
    Stopped,
}

/// Records of one producer that are looked at when something is searched for among the latest.
const RECENT: u32 = 512;

/// One moment of a run, and the partition in view.
#[derive(Clone)]
pub struct Look<'a> {
    /// The world.
    pub world: &'a World,
    /// What became of each record.
    pub ledger: &'a Ledger,
    /// What happened in the step that led here.
    pub events: &'a [Event],
    /// The partition in view.
    pub partition: TopicPartition,
    /// How things are called.
    pub names: Names<'a>,
    endings: SortedMap<BrokerId, Ending>,
}

impl<'a> Look<'a> {
    /// The present of a run.
    pub fn at(history: &'a History, partition: TopicPartition) -> Look<'a> {
        let world = history.world();
        Look {
            world,
            ledger: history.ledger(),
            events: history.last_events(),
            partition,
            names: Names::of(world),
            endings: endings(history),
        }
    }

    /// How a broker that is down came down.
    pub fn ending(&self, broker: BrokerId) -> Option<Ending> {
        self.endings.get(&broker).copied()
    }

    /// A broker's log of the partition in view, open or as it lies on its host.
    pub fn log(&self, broker: BrokerId) -> Option<&'a Log> {
        Some(self.world.broker(broker)?.replica(self.partition)?.log())
    }

    /// The log of whoever leads, or led last.
    pub fn leader_log(&self) -> Option<&'a Log> {
        let leader = self
            .world
            .image()
            .leader(self.partition)
            .or_else(|| self.ledger.last_leader(self.partition))?;
        self.log(leader)
    }

    /// One past the last offset that any replica holds.
    pub fn last_offset(&self) -> i64 {
        self.world
            .broker_ids()
            .filter_map(|id| self.log(id))
            .map(Log::log_end_offset)
            .max()
            .unwrap_or(0)
    }

    /// The first offset that any replica holds, or held until this step.
    pub fn first_offset(&self) -> i64 {
        let left = self.events.iter().filter_map(|event| match &event.what {
            What::LogStart { partition, from, .. } if *partition == self.partition => Some(*from),
            _ => None,
        });
        let logs = self.world.broker_ids().filter_map(|id| self.log(id));
        logs.map(Log::log_start_offset).chain(left).min().unwrap_or(0)
    }

    /// A producer's latest records, in order.
    pub fn recent(&self, client: ClientId) -> impl Iterator<Item = (Tag, &'a Story)> + use<'a> {
        let ledger = self.ledger;
        let last = ledger.last_number(client);
        (last.saturating_sub(RECENT) + 1..=last).filter_map(move |number| {
            let tag = Tag { client, number };
            let story = ledger.story(tag).filter(|story| story.is_handed())?;
            Some((tag, story))
        })
    }

    /// What became of a record, as far as it is decided: while whoever led is gone and nobody has taken over, the copy of
    /// a replica that may be elected still counts.
    pub fn fate(&self, tag: Tag) -> Fate {
        match self.ledger.fate(self.world, tag) {
            Fate::Lost if !self.heirs(tag).is_empty() => Fate::Acknowledged,
            fate => fate,
        }
    }

    /// Acknowledged records of the partition in view that are gone, in the order of their acknowledgement.
    pub fn lost(&self) -> Vec<Tag> {
        let mut lost = self.ledger.lost_records(self.world, self.partition);
        lost.retain(|tag| self.heirs(*tag).is_empty());
        lost
    }

    /// How many of these records stand in a broker's log.
    pub fn standing_on(&self, id: BrokerId, records: &[Tag]) -> usize {
        let stands = |tag: &&Tag| {
            let copies = self.ledger.custody(self.world, **tag);
            let held = |copy: &Custody| copy.broker == id && matches!(copy.place, Where::Cache | Where::Disk);
            copies.iter().any(held)
        };
        records.iter().filter(stands).count()
    }

    /// Who holds a record and may be elected in the place of a leader that has ended.
    fn heirs(&self, tag: Tag) -> Vec<BrokerId> {
        let partition = self.ledger.story(tag).and_then(|story| story.partition);
        let decided = partition.and_then(|partition| self.world.controller().state().partition(partition));
        let Some(decided) = decided else { return Vec::new() };
        let runs = |id: BrokerId| self.world.broker(id).is_some_and(|broker| broker.is_running());
        if decided.leader.is_some_and(runs) {
            return Vec::new();
        }
        let copies = self.ledger.custody(self.world, tag).into_iter();
        let held = copies.filter(|copy| matches!(copy.place, Where::Cache | Where::Disk));
        held.map(|copy| copy.broker)
            .filter(|id| decided.isr.contains(id) || decided.elr.contains(id))
            .collect()
    }

    /// How many acknowledged records of the partition in view stand at the end of one broker's log, beyond all others'.
    pub fn only_on(&self, id: BrokerId) -> usize {
        self.alone_on(id).len()
    }

    /// The offsets of these records.
    pub fn alone_on(&self, id: BrokerId) -> Vec<i64> {
        let Some(log) = self.log(id) else { return Vec::new() };
        let others = self.world.broker_ids().filter(|other| *other != id);
        let beyond = others
            .filter_map(|other| self.log(other))
            .map(Log::log_end_offset)
            .max()
            .unwrap_or(0);
        // What was sent again may stand elsewhere too, at another offset.
        let held = |copy: &Custody| matches!(copy.place, Where::Cache | Where::Disk);
        let alone = |tag: Tag| {
            let copies = self.ledger.custody(self.world, tag);
            copies.iter().filter(|copy| held(copy)).all(|copy| copy.broker == id)
        };
        let acknowledged = |offset: &i64| {
            let tag = Look::tag_at(log, *offset);
            let story = tag.and_then(|tag| self.ledger.story(tag));
            story.is_some_and(|story| story.acknowledged().is_some()) && tag.is_some_and(alone)
        };
        (beyond.max(log.log_start_offset())..log.log_end_offset())
            .filter(acknowledged)
            .collect()
    }

    /// The record at an offset of a log, from its start on.
    pub fn tag_at(log: &Log, offset: i64) -> Option<Tag> {
        if offset < log.log_start_offset() || offset >= log.log_end_offset() {
            return None;
        }
        let segment = log.segments().rev().find(|segment| segment.base_offset() <= offset)?;
        let batches = segment.log().batches();
        let placed = batches.get(batches.partition_point(|placed| placed.batch.last_offset() < offset))?;
        placed
            .batch
            .tag_of(offset)
            .filter(|bits| *bits != 0)
            .map(Tag::from_bits)
    }

    /// Whether an event of this step concerns the partition in view and passes the test.
    pub fn happened(&self, test: impl Fn(&What) -> bool) -> bool {
        self.events.iter().any(|event| test(&event.what))
    }
}

/// The latest ending of each broker that is down; looked up in what was done, since the world itself has no need of it.
fn endings(history: &History) -> SortedMap<BrokerId, Ending> {
    let world = history.world();
    let mut down: Vec<BrokerId> = world
        .broker_ids()
        .filter(|id| world.broker(*id).is_some_and(|broker| !broker.is_running()))
        .collect();
    let mut found = SortedMap::new();
    for input in history.inputs()[..history.position()].iter().rev() {
        if down.is_empty() {
            break;
        }
        let ending = match input {
            Input::Kill(id) => Some((*id, Ending::Killed)),
            Input::PowerOff(id, _) => Some((*id, Ending::PoweredOff)),
            Input::Stop(id) => Some((*id, Ending::Stopped)),
            _ => None,
        };
        if let Some((id, ending)) = ending.filter(|(id, _)| down.contains(id)) {
            down.retain(|other| *other != id);
            found.insert(id, ending);
        }
    }
    found
}
