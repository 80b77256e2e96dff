//! A consumer's place in its group: who coordinates it, whether it is a member, and what it still has to say.
//!
//! Mirrors the state of `AbstractCoordinator` and `ConsumerCoordinator`. What it does with that stands in `group` (the
//! protocol) and `commits`.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::assignor::{Assignor, Slot};
use crate::cluster::client::connections::{Asked, Connections};
use crate::cluster::group::protocol::{Joined, MemberId, Standing};
use crate::cluster::ids::{BrokerId, GroupId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::config::ConsumerConfig;
use crate::log::Encoder;
use crate::sorted::{SortedMap, SortedSet};

/// What a consumer knows of its group's coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coordinator {
    /// Nothing.
    Unknown,
    /// It has asked who it is.
    Asked,
    /// There is none.
    Nowhere,
    /// It is this broker.
    At(BrokerId),
}

/// How far a consumer is with joining.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is no member.
    Out,
    /// It is about to join again, and waits for a commit before it gives up its partitions.
    Preparing,
    /// It waits for the others.
    Joining,
    /// It leads and is to assign topics of others, of which it asks the cluster first.
    Assigning(Box<Joined>),
    /// It waits for its share.
    Syncing,
    /// It has its share.
    In,
}

/// Offsets on their way to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) offsets: Vec<(TopicPartition, i64, Option<i32>)>,
    pub(super) why: CommitWhy,
}

/// Who wants a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitWhy {
    /// The application, which waits for it.
    Asked,
    /// The interval.
    Interval,
    /// The consumer, before it gives up its partitions.
    Revoke,
    /// The consumer, before it goes.
    Close,
}

/// What a consumer asks about its group.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GroupAsks {
    FindCoordinator,
    /// With how long it may take.
    Join(Micros),
    Sync,
    Heartbeat,
    ConsumerBeat,
    Commit(Commit),
    FetchOffsets(Vec<TopicPartition>),
}

impl Asked for GroupAsks {
    fn may_wait(&self) -> bool {
        // A coordinator that cannot finish answers with an error by itself.
        false
    }

    fn allowance(&self) -> Micros {
        match self {
            GroupAsks::Join(allowance) => *allowance,
            _ => 0,
        }
    }
}

/// A consumer's place in its group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Membership {
    pub(super) group: GroupId,
    pub(super) topics: SortedSet<Arc<str>>,
    pub(super) coordinator: Coordinator,
    /// Offset of the cluster's image by which that was said.
    pub(super) known: i64,
    /// The broker that was asked for it last.
    pub(super) asked_last: Option<BrokerId>,
    /// The connection to the coordinator is another than that for fetches.
    pub(super) connections: Connections<GroupAsks>,
    pub(super) stage: Stage,
    /// Its id; empty before it has one.
    pub(super) member: MemberId,
    /// The generation, −1 outside the group.
    pub(super) generation: i32,
    pub(super) protocol: Option<Assignor>,
    /// What the sticky assignor gave it last, and in which generation: that outlives the giving up of all partitions, and
    /// of the membership.
    pub(super) remembered: Option<(SortedSet<Slot>, i32)>,
    /// It was told to join again, or knows that it must.
    pub(super) rejoin: bool,
    /// It has lost its partitions by this rule, and its application does not know it yet (classic protocol).
    pub(super) lost: Option<Rule>,
    /// As leader: the topics of all members, which it watches for new partitions.
    pub(super) watched: SortedSet<Arc<str>>,
    /// As leader: how many partitions each of them had when it assigned them.
    pub(super) assigned_over: Option<SortedMap<Arc<str>, u32>>,
    /// When it joined: heartbeats and automatic commits count from here.
    pub(super) joined: Micros,
    /// The next automatic commit is not before this time.
    pub(super) next_auto_commit: Micros,
    /// What it has committed last, by partition.
    pub(super) committed: SortedMap<TopicPartition, i64>,
    /// Commits that were not sent yet.
    pub(super) commits: VecDeque<Commit>,
    /// The application's last poll.
    pub(super) last_poll: Micros,
    /// Nothing is asked of the coordinator before this time.
    pub(super) not_before: Micros,
    /// How often in a row something had to be asked again.
    pub(super) attempts: u32,
    /// The interval of its heartbeats, as the coordinator told it (consumer protocol, as all that follows).
    pub(super) every: Micros,
    /// What it is to read.
    pub(super) target: Option<SortedSet<TopicPartition>>,
    /// What it has taken over of that.
    pub(super) adopted: Option<SortedSet<TopicPartition>>,
    /// What it has told the coordinator last of what it reads.
    pub(super) told_owned: Option<SortedSet<TopicPartition>>,
    /// The next heartbeat says everything: the coordinator may not have heard the last one.
    pub(super) tells_everything: bool,
    /// The next heartbeat does not wait for its time.
    pub(super) beat_now: bool,
}

impl Membership {
    /// Of a consumer that has just started.
    pub(super) fn new(group: GroupId, topics: SortedSet<Arc<str>>) -> Membership {
        Membership {
            group,
            topics,
            coordinator: Coordinator::Unknown,
            known: -1,
            asked_last: None,
            connections: Connections::default(),
            stage: Stage::Out,
            member: MemberId::default(),
            generation: -1,
            protocol: None,
            remembered: None,
            rejoin: true,
            lost: None,
            watched: SortedSet::new(),
            assigned_over: None,
            joined: 0,
            next_auto_commit: 0,
            committed: SortedMap::new(),
            commits: VecDeque::new(),
            last_poll: 0,
            not_before: 0,
            attempts: 0,
            every: 0,
            target: None,
            adopted: None,
            told_owned: None,
            tells_everything: true,
            beat_now: false,
        }
    }

    /// Its standing, as it says it of itself, under its own name if it has one.
    pub(super) fn standing(&self, config: &ConsumerConfig) -> Standing {
        Standing {
            group: self.group,
            member: Arc::clone(&self.member),
            instance: config.group_instance_id.clone(),
            epoch: self.generation,
        }
    }

    /// The coordinator, if it is known.
    pub(super) fn at(&self) -> Option<BrokerId> {
        match self.coordinator {
            Coordinator::At(broker) => Some(broker),
            _ => None,
        }
    }

    /// Whether a request of this kind waits for its answer.
    pub(super) fn waits(&self, kind: impl Fn(&GroupAsks) -> bool) -> bool {
        self.connections.requests().any(|(_, request)| kind(&request.what))
    }

    /// Whether an application waits for a commit.
    pub(super) fn undecided(&self) -> u32 {
        let asked = |commit: &Commit| commit.why == CommitWhy::Asked;
        let sent = self.connections.requests().filter(|(_, request)| match &request.what {
            GroupAsks::Commit(commit) => asked(commit),
            _ => false,
        });
        let waiting = self.commits.iter().filter(|commit| asked(commit));
        (sent.count() + waiting.count()) as u32
    }

    /// Whether a heartbeat of the consumer protocol waits for its answer.
    pub(super) fn beats(&self) -> bool {
        self.waits(|what| *what == GroupAsks::ConsumerBeat)
    }

    /// The next heartbeat says everything.
    pub(super) fn say_everything(&mut self) {
        self.tells_everything = true;
        self.told_owned = None;
    }

    /// Whether members of its protocol give up everything before they join again.
    pub(super) fn is_eager(&self) -> bool {
        self.protocol != Some(Assignor::CooperativeSticky)
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.u16(self.group.0);
        encoder.len(self.topics.len());
        self.topics.iter().for_each(|topic| encoder.str(topic));
        match self.coordinator {
            Coordinator::Unknown => encoder.u32(0),
            Coordinator::Asked => encoder.u32(1),
            Coordinator::Nowhere => encoder.u32(2),
            Coordinator::At(id) => encoder.u32(3 + u32::from(id.0)),
        }
        encoder.i64(self.known);
        encoder.u16(self.asked_last.map_or(0, |id| id.0));
        encoder.u8(match self.stage {
            Stage::Out => 0,
            Stage::Preparing => 1,
            Stage::Joining => 2,
            Stage::Syncing => 3,
            Stage::In => 4,
            Stage::Assigning(_) => 5,
        });
        encoder.str(&self.member);
        encoder.i32(self.generation);
        encoder.str(self.protocol.map_or("", Assignor::name));
        let remembers = u8::from(self.remembered.is_some()) << 2;
        let watches_others = !self.watched.is_subset(&self.topics);
        encoder
            .u8(u8::from(self.rejoin) | u8::from(self.lost.is_some()) << 1 | remembers | u8::from(watches_others) << 3);
        if watches_others {
            encoder.len(self.watched.len());
            self.watched.iter().for_each(|topic| encoder.str(topic));
        }
        // Only who was given something by the sticky assignor has any of this.
        if let Some((slots, generation)) = &self.remembered {
            encoder.len(slots.len());
            for slot in slots {
                encoder.str(&slot.topic);
                encoder.u32(slot.partition);
            }
            encoder.i32(*generation);
        }
        encoder.option(self.assigned_over.as_ref(), |encoder, topics| {
            encoder.len(topics.len());
            for (topic, count) in topics {
                encoder.str(topic);
                encoder.u32(*count);
            }
        });
        encoder.len(self.committed.len());
        for (&tp, &offset) in &self.committed {
            encode_partition(tp, encoder);
            encoder.i64(offset);
        }
        encoder.len(self.commits.len());
        self.commits.iter().for_each(|commit| encode_commit(commit, encoder));
        encoder.u32(self.attempts);
        self.connections.encode(encoder, |what, encoder| match what {
            GroupAsks::FindCoordinator => encoder.u8(0),
            GroupAsks::Join(_) => encoder.u8(1),
            GroupAsks::Sync => encoder.u8(2),
            GroupAsks::Heartbeat => encoder.u8(3),
            GroupAsks::Commit(commit) => {
                encoder.u8(4);
                encode_commit(commit, encoder);
            }
            GroupAsks::FetchOffsets(asked) => {
                encoder.u8(5);
                encoder.len(asked.len());
                asked.iter().for_each(|&tp| encode_partition(tp, encoder));
            }
            GroupAsks::ConsumerBeat => encoder.u8(6),
        });
        // Before the first answer under the consumer protocol there is nothing of all this.
        if self.every > 0 {
            for partitions in [&self.target, &self.adopted, &self.told_owned] {
                encoder.option(partitions.as_ref(), |encoder, partitions| {
                    encoder.len(partitions.len());
                    partitions.iter().for_each(|&tp| encode_partition(tp, encoder));
                });
            }
            encoder.u64(self.every);
            encoder.u8(u8::from(self.tells_everything) | u8::from(self.beat_now) << 1);
        }
    }

    /// The part that does, relative to now.
    pub(super) fn encode_times(&self, now: Micros, every: Micros, encoder: &mut Encoder) {
        encoder.u64(now.saturating_sub(self.joined) % every.max(1));
        encoder.u64(self.next_auto_commit.saturating_sub(now));
        encoder.u64(now.saturating_sub(self.last_poll));
        encoder.u64(self.not_before.saturating_sub(now));
        self.connections.encode_times(now, encoder);
    }
}

fn encode_partition(tp: TopicPartition, encoder: &mut Encoder) {
    encoder.u16(tp.topic.0);
    encoder.u32(tp.partition);
}

fn encode_commit(commit: &Commit, encoder: &mut Encoder) {
    encoder.u8(commit.why as u8);
    encoder.len(commit.offsets.len());
    for &(tp, offset, epoch) in &commit.offsets {
        encode_partition(tp, encoder);
        encoder.i64(offset);
        encoder.option(epoch, Encoder::i32);
    }
}

/// A partition by its topic's name.
pub(super) fn slot(tp: TopicPartition, name: &Arc<str>) -> Slot {
    Slot {
        topic: Arc::clone(name),
        partition: tp.partition,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ids::TopicId;

    fn digest(target: bool, adopted: bool, told: bool) -> u128 {
        let partition = TopicPartition {
            topic: TopicId(1),
            partition: 0,
        };
        let some = |is: bool| is.then(|| SortedSet::from_iter([partition]));
        let mut membership = Membership::new(GroupId(1), SortedSet::new());
        membership.every = 5_000_000;
        membership.target = some(target);
        membership.adopted = some(adopted);
        membership.told_owned = some(told);
        let mut encoder = Encoder::new();
        membership.encode(&mut encoder);
        encoder.digest()
    }

    #[test]
    fn what_it_has_and_what_it_has_told_are_told_apart() {
        let states = (0..8u8).map(|bits| digest(bits & 1 > 0, bits & 2 > 0, bits & 4 > 0));
        assert_eq!(states.collect::<SortedSet<u128>>().len(), 8);
    }
}
