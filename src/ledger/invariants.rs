//! Named invariants: whether each has held after every step so far, and what broke it first.
//!
//! Those that speak of what clients were told or read stand here; those over the model alone come from
//! [`cluster::invariants`](crate::cluster::invariants) and are remembered here beside them. Some settings break some of
//! them rightly (`acks=1`, an unclean election, a lost disk): they are shown green or red, never asserted.

use super::present::stands_in;
use super::{How, Ledger, When};
use crate::cluster::event::Tag;
use crate::cluster::ids::TopicPartition;
use crate::cluster::invariants::{self, Invariant};
use crate::cluster::world::World;
use crate::sorted::{SortedMap, SortedSet};

/// Every acknowledged record stands in the leader's log.
pub const NO_ACKNOWLEDGED_RECORD_LOST: &str = "NoAcknowledgedRecordLost";

/// What was read at an offset is what everybody reads there.
pub const CONSISTENT_READ: &str = "ConsistentRead";

/// The invariants that need the ledger, each with its sentence.
const OWN: [(&str, &str); 2] = [
    (
        NO_ACKNOWLEDGED_RECORD_LOST,
        "An acknowledged record stands in the leader's log; while nobody leads, in some replica's, unless it expired, was compacted away or deleted by request.",
    ),
    (
        CONSISTENT_READ,
        "All consumers read the same record at one offset, and the leader's log goes on holding it until it expires or is compacted away.",
    ),
];

/// What has to be looked at after a step, and what was found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts {
    /// Partitions that lost a copy or changed their leader since the last look.
    shaken: SortedSet<TopicPartition>,
    /// Records acknowledged since the last look.
    fresh: Vec<Tag>,
    /// Acknowledged records that were lost at the last look.
    lost: SortedSet<Tag>,
    /// What was read and is not in its leader's log, at the last look.
    unread: SortedMap<TopicPartition, String>,
    now: SortedMap<&'static str, String>,
    first: SortedMap<&'static str, Broken>,
}

/// The first time that an invariant did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// After which step.
    pub when: When,
    /// What was found, in words.
    pub what: String,
}

/// How an invariant stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// Its name.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub sentence: &'static str,
    /// What breaks it at present.
    pub now: Option<&'a str>,
    /// What broke it first, after any step so far.
    pub first: Option<&'a Broken>,
}

impl Verdicts {
    pub fn shaken(&mut self, partition: TopicPartition) {
        self.shaken.insert(partition);
    }

    pub fn acknowledged(&mut self, tag: Tag) {
        self.fresh.push(tag);
    }
}

/// The names of all invariants.
pub fn names() -> impl Iterator<Item = &'static str> {
    OWN.iter()
        .map(|own| own.0)
        .chain(invariants::ALL.iter().map(|invariant| invariant.name))
}

impl Ledger {
    /// Looks at the world after a step and remembers what is broken. Gives back the acknowledged records that are lost now
    /// and were not at the last look.
    pub fn check(&mut self, world: &World) -> Vec<Tag> {
        let newly_lost = self.look_for_losses(world);
        let mut now: SortedMap<&'static str, String> = SortedMap::new();
        now.extend(
            self.lost_for_good(world)
                .map(|what| (NO_ACKNOWLEDGED_RECORD_LOST, what)),
        );
        now.extend(self.inconsistent_read(world).map(|what| (CONSISTENT_READ, what)));
        for Invariant { name, check, .. } in invariants::ALL {
            now.extend(check(world).err().map(|what| (*name, what)));
        }
        for (name, what) in &now {
            let when = self.now;
            self.verdicts.first.entry(name).or_insert_with(|| Broken {
                when,
                what: what.clone(),
            });
        }
        self.verdicts.now = now;
        newly_lost
    }

    /// How every invariant stands.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict<'_>> {
        let of_model = invariants::ALL
            .iter()
            .map(|invariant| (invariant.name, invariant.sentence));
        OWN.into_iter().chain(of_model).map(|(name, sentence)| Verdict {
            name,
            sentence,
            now: self.verdicts.now.get(name).map(String::as_str),
            first: self.verdicts.first.get(name),
        })
    }

    /// How one invariant stands; `None` if there is none of this name.
    pub fn verdict(&self, name: &str) -> Option<Verdict<'_>> {
        self.verdicts().find(|verdict| verdict.name == name)
    }

    /// Brings the set of lost records up to date; only partitions where something happened are looked at.
    fn look_for_losses(&mut self, world: &World) -> Vec<Tag> {
        let shaken = std::mem::take(&mut self.verdicts.shaken);
        let fresh = std::mem::take(&mut self.verdicts.fresh);
        let mut newly = Vec::new();
        for partition in &shaken {
            let lost: SortedSet<Tag> = self.lost_records(world, *partition).into_iter().collect();
            let before = std::mem::take(&mut self.verdicts.lost);
            newly.extend(lost.iter().filter(|tag| !before.contains(tag)));
            let elsewhere = before
                .into_iter()
                .filter(|tag| self.partition_of(*tag) != Some(*partition));
            self.verdicts.lost = elsewhere.chain(lost).collect();
        }
        for tag in fresh {
            let Some(partition) = self.partition_of(tag).filter(|partition| !shaken.contains(partition)) else {
                continue;
            };
            if self.is_lost(tag, partition, self.leader_replica(world, partition)) && self.verdicts.lost.insert(tag) {
                newly.push(tag);
            }
        }
        for partition in shaken {
            match self.missing_read(world, partition) {
                Some(what) => self.verdicts.unread.insert(partition, what),
                None => self.verdicts.unread.remove(&partition),
            };
        }
        newly
    }

    fn partition_of(&self, tag: Tag) -> Option<TopicPartition> {
        self.story(tag)?.partition
    }

    /// A lost record that no replica can give back: somebody leads without it, or nobody has it.
    fn lost_for_good(&self, world: &World) -> Option<String> {
        let for_good = |tag: &&Tag| {
            let Some((story, partition)) = self.story(**tag).and_then(|story| Some((story, story.partition?))) else {
                return false;
            };
            let leads = world.image().leader(partition).and_then(|leader| world.broker(leader));
            let mut replicas = world.brokers().filter_map(|broker| broker.replica(partition));
            leads.is_some_and(|broker| broker.is_running())
                || !replicas.any(|replica| stands_in(replica, **tag, story, partition).is_some())
        };
        let tag = self.verdicts.lost.iter().find(for_good)?;
        let offset = self.story(*tag)?.offset().unwrap_or(-1);
        let partition = world.partition_name(self.partition_of(*tag)?);
        let name = world.settings().client(tag.client);
        Some(format!(
            "{name}#{} was acknowledged at offset {offset} of {partition} and is gone",
            tag.number
        ))
    }

    fn inconsistent_read(&self, world: &World) -> Option<String> {
        if let Some(found) = self.disagreement() {
            let reader = world.settings().client(found.by);
            let partition = world.partition_name(found.first.partition);
            let offset = found.first.offset;
            return Some(format!(
                "{reader} read another record at offset {offset} of {partition} than was read there before"
            ));
        }
        self.verdicts.unread.values().next().cloned()
    }

    /// A record that was read and that a live leader's log no longer holds, though it has neither expired nor been compacted
    /// away.
    fn missing_read(&self, world: &World, partition: TopicPartition) -> Option<String> {
        let leader = world.image().leader(partition)?;
        let replica = world
            .broker(leader)
            .filter(|broker| broker.is_running())?
            .replica(partition)?;
        let start = replica.log_start();
        let mut read = self.seen(partition).filter(|(offset, _)| *offset >= start);
        let compacted = |tag: Tag| self.story(tag).is_some_and(|story| story.ended(How::Compacted));
        let (offset, _) = read.find(|(offset, tag)| replica.tag_at(*offset) != Some(*tag) && !compacted(*tag))?;
        let name = world.partition_name(partition);
        Some(format!(
            "what was read at offset {offset} of {name} is not in its leader's log"
        ))
    }
}
