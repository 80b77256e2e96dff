//! A broker as coordinator of groups: requests in, answers out, records into its partitions of `__consumer_offsets`.
//!
//! Mirrors `GroupCoordinatorService`, `CoordinatorPartitionWriter` and `CoordinatorLoaderImpl`. A write is an append with
//! `acks=1`; who waits for it is answered when the high watermark has passed. Requests of members come on a connection of
//! their own in Kafka, so a join that waits holds up no fetch.
//!
//! Deliberately absent: the time that loading takes (a new coordinator has read its partition at once), and so the error
//! that says that it loads.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::What;
use crate::cluster::group::protocol::{GroupRequest, MemberId, Standing};
use crate::cluster::group::record::Entry;
use crate::cluster::group::{Deadlines, Out, Shard, Then, Write, partition_for};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::later;
use crate::cluster::message::{Acks, Correlation, Message};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, Settings};
use crate::cluster::tracked::Tracked;
use crate::log::{Batch, Errors, Origin, Record, TransactionVersion};

use super::channel::PartState;
use super::held::Coordinator;
use super::process::Process;

/// What a broker does for groups, as it is linked later (`cluster::later`).
pub(crate) struct Coordination {
    /// Says who coordinates a group.
    pub(super) find: fn(&mut Process, &mut Cx<'_>, ClientId, Correlation, GroupId),
    /// Serves a request about a group.
    pub(super) serve: fn(&mut Process, &mut Cx<'_>, ClientId, Correlation, GroupRequest),
    /// The high watermark of a partition has moved.
    pub(super) replicated: fn(&mut Process, &mut Cx<'_>, TopicPartition),
    /// The broker leads a partition.
    pub(super) lead: fn(&mut Process, &mut Cx<'_>, TopicPartition),
    /// The broker leads a partition no longer.
    pub(super) resign: fn(&mut Process, &mut Cx<'_>, TopicPartition),
    /// Topics may be gone that were there in this image.
    pub(super) forget_topics: fn(&mut Process, &mut Cx<'_>, &Image),
    /// A timer of a coordinator has fired.
    pub(super) fired: fn(&mut Process, &mut Cx<'_>, TopicPartition, TimerKind),
    /// Arms what is due next.
    pub(super) arm: fn(&mut Process, &mut Cx<'_>),
}

/// All of it.
pub(crate) const COORDINATION: Coordination = Coordination {
    find: Process::serve_find_coordinator,
    serve: Process::serve_group,
    replicated: Process::on_replicated,
    lead: Process::coordinate,
    resign: Process::resign,
    forget_topics: Process::forget_topics,
    fired: Process::on_group_timer,
    arm: Process::arm_coordinators,
};

impl Process {
    /// Does something for groups. Where that is not linked, no world has any.
    pub(super) fn for_groups(&mut self, act: impl FnOnce(&Coordination, &mut Process)) {
        if let Some(later) = later::get() {
            act(&later.groups, self);
        }
    }

    /// The partition of `__consumer_offsets` that a group belongs to, as this broker knows the topic.
    pub(super) fn partition_of(&self, group: GroupId, settings: &Settings) -> Option<TopicPartition> {
        offsets_partition(&self.image, group, settings)
    }

    /// Says who coordinates a group.
    fn serve_find_coordinator(&mut self, cx: &mut Cx<'_>, from: ClientId, id: Correlation, group: GroupId) {
        let alive = |id: &BrokerId| self.image.brokers.get(id).is_some_and(|broker| !broker.fenced);
        let partition = self.partition_of(group, cx.settings);
        let leader = partition.and_then(|tp| self.image.leader(tp)).filter(alive);
        let answer = leader.ok_or(Errors::CoordinatorNotAvailable);
        let message = Message::FindCoordinatorResponse(id, answer, self.image.offset);
        self.send(cx, Node::Client(from), message);
    }

    /// Serves a request about a group.
    fn serve_group(&mut self, cx: &mut Cx<'_>, from: ClientId, id: Correlation, request: GroupRequest) {
        let led = self
            .partition_of(request.group(), cx.settings)
            .filter(|tp| self.leading(*tp).is_some());
        let Some(tp) = led else {
            let answer = request.refused(Errors::NotCoordinator);
            self.send(cx, Node::Client(from), Message::GroupResponse(id, Box::new(answer)));
            return;
        };
        self.coordinators
            .entry(tp)
            .or_insert_with(|| Tracked::new(Coordinator::new(Shard::new(cx.now))));
        let image = Arc::clone(&self.image);
        self.with_shard(cx, tp, |shard, out, cx| shard.serve(from, id, request, &image, out, cx));
    }

    /// Lets a shard do something, then sends and writes what it leaves.
    fn with_shard<R>(
        &mut self,
        cx: &mut Cx<'_>,
        tp: TopicPartition,
        act: impl FnOnce(&mut Shard, &mut Out, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let mut out = Out::default();
        let done = act(self.coordinators.get_mut(&tp)?.make_mut(), &mut out, cx);
        for write in out.writes {
            self.write_group(cx, tp, write);
        }
        for (to, id, answer) in out.replies {
            self.send(cx, Node::Client(to), Message::GroupResponse(id, Box::new(answer)));
        }
        Some(done)
    }

    /// Appends a coordinator's records.
    fn write_group(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, write: Write) {
        let now_ms = cx.wall_ms();
        let record = |entry: &Entry| entry.to_record(now_ms, cx.settings);
        let records: Vec<Record> = write.entries.iter().map(record).collect();
        let batch = Batch::build(&records, None, Arc::default());
        let origin = Origin::Coordinator(TransactionVersion::V1);
        let waits = cx.holds(Rule::OffsetCommit);
        match self.append(cx, tp, &batch, Acks::Leader, origin) {
            Ok(PartState::Appended { last, .. }) => {
                if let Some(shard) = self.coordinators.get_mut(&tp) {
                    shard.make_mut().written(write, last, cx);
                }
                if !waits {
                    self.with_shard(cx, tp, |shard, out, cx| shard.replicated(last + 1, out, cx));
                }
            }
            Ok(PartState::Done(_)) => {}
            Err(error) => {
                self.with_shard(cx, tp, |shard, out, cx| shard.not_written(write, error, out, cx));
            }
        }
    }

    /// The high watermark of a partition has moved.
    fn on_replicated(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        if self.coordinators.contains_key(&tp) {
            let watermark = self.replica(tp).map_or(0, |replica| replica.log.high_watermark());
            self.with_shard(cx, tp, |shard, out, cx| shard.replicated(watermark, out, cx));
        }
    }

    /// This broker leads a partition: if groups belong to it, they are read, unless they are known.
    fn coordinate(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        if cx.settings.offsets_topic != Some(tp.topic) || self.coordinators.contains_key(&tp) {
            return;
        }
        let Some(replica) = self.replica(tp).filter(|_| cx.holds(Rule::GroupCoordinator)) else {
            return;
        };
        let log = &replica.log;
        if log.log_end_offset() == 0 {
            return;
        }
        let placed = log.segments().flat_map(|segment| segment.log().batches().iter());
        let batches = placed.map(|placed| &placed.batch);
        let shard = Shard::load(batches, log.log_start_offset(), log.high_watermark(), cx);
        let (broker, groups) = (self.id, shard.groups().count() as u32);
        self.coordinators.insert(tp, Tracked::new(Coordinator::new(shard)));
        cx.say(Rule::GroupCoordinator, || What::GroupsLoaded {
            broker,
            partition: tp,
            groups,
        });
    }

    /// This broker leads a partition no longer.
    fn resign(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        if self.with_shard(cx, tp, |shard, out, _| shard.resign(out)).is_some()
            && let Some(shard) = self.coordinators.remove(&tp)
        {
            arm(cx, tp, &shard.armed, &Deadlines::default());
        }
    }

    /// A member is not heard any more.
    pub(super) fn silence_member(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, group: GroupId, member: &MemberId) {
        self.with_shard(cx, tp, |shard, _, cx| shard.silence(group, member, cx));
    }

    /// The operator moves a group's commit, as if it had been committed from outside the group.
    pub(super) fn reset_offset(
        &mut self,
        cx: &mut Cx<'_>,
        group: GroupId,
        at: TopicPartition,
        offset: i64,
    ) -> Option<Errors> {
        let led = self
            .partition_of(group, cx.settings)
            .filter(|tp| self.leading(*tp).is_some());
        let Some(tp) = led else {
            return Some(Errors::NotCoordinator);
        };
        self.coordinators
            .entry(tp)
            .or_insert_with(|| Tracked::new(Coordinator::new(Shard::new(cx.now))));
        let standing = Standing {
            group,
            member: MemberId::default(),
            instance: None,
            epoch: -1,
        };
        let slot = crate::cluster::assignor::Slot {
            topic: Arc::clone(&cx.settings.topic(at.topic).name),
            partition: at.partition,
        };
        let image = Arc::clone(&self.image);
        let done = self.with_shard(cx, tp, |shard, out, cx| {
            let entries = shard.commit(&standing, vec![(slot, offset, None)], &image, cx)?;
            out.write(entries, Then::Nothing);
            Ok(())
        });
        done.and_then(Result::err)
    }

    /// Commits in topics that exist no longer go with them.
    fn forget_topics(&mut self, cx: &mut Cx<'_>, before: &Image) {
        if self.coordinators.is_empty() {
            return;
        }
        let exists = |tp: &TopicPartition| self.image.partitions.keys().any(|known| known.topic == tp.topic);
        let gone = before.partitions.keys().filter(|tp| tp.partition == 0 && !exists(tp));
        let gone: Vec<Arc<str>> = gone.map(|tp| Arc::clone(&cx.settings.topic(tp.topic).name)).collect();
        if gone.is_empty() {
            return;
        }
        let all: Vec<TopicPartition> = self.coordinators.keys().copied().collect();
        for tp in all {
            self.with_shard(cx, tp, |shard, out, cx| shard.forget_topics(&gone, out, cx));
        }
    }

    /// A timer of a coordinator has fired.
    fn on_group_timer(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, kind: TimerKind) {
        let image = Arc::clone(&self.image);
        self.with_shard(cx, tp, |shard, out, cx| {
            match kind {
                TimerKind::Session => {
                    shard.armed.session = None;
                    shard.end_sessions(&image, out, cx);
                }
                TimerKind::Rebalance => {
                    shard.armed.rebalance = None;
                    shard.end_waits(&image, out, cx);
                }
                TimerKind::Request => {
                    shard.armed.write = None;
                    shard.end_writes(out, cx);
                }
                _ => {
                    shard.armed.expiry = None;
                    shard.expire(out, cx);
                }
            };
        });
    }

    /// Arms what is due next for each partition that groups belong to.
    fn arm_coordinators(&mut self, cx: &mut Cx<'_>) {
        for (&tp, shard) in &mut self.coordinators {
            let wanted = shard.deadlines(cx);
            if wanted != shard.armed {
                arm(cx, tp, &shard.armed, &wanted);
                shard.make_mut().armed = wanted;
            }
        }
    }
}

/// The partition of `__consumer_offsets` that a group belongs to, in an image; none before the topic exists there.
pub(in crate::cluster) fn offsets_partition(
    image: &Image,
    group: GroupId,
    settings: &Settings,
) -> Option<TopicPartition> {
    let topic = settings.offsets_topic?;
    let count = settings.topic(topic).partitions;
    let partition = partition_for(settings.group(group), count);
    let tp = TopicPartition { topic, partition };
    image.partition(tp).map(|_| tp)
}

fn arm(cx: &mut Cx<'_>, tp: TopicPartition, armed: &Deadlines, wanted: &Deadlines) {
    let me = cx.me;
    let mut set = |timer: Timer, armed: Option<Micros>, wanted: Option<Micros>| {
        if armed != wanted {
            match wanted {
                Some(due) if timer.kind == TimerKind::Expiry => cx.arm_tick(timer, due),
                Some(due) => cx.arm(timer, due),
                None => cx.disarm(timer),
            }
        }
    };
    let write = Timer {
        peer: Some(me),
        ..Timer::on(TimerKind::Request, tp)
    };
    set(Timer::on(TimerKind::Session, tp), armed.session, wanted.session);
    set(Timer::on(TimerKind::Rebalance, tp), armed.rebalance, wanted.rebalance);
    set(write, armed.write, wanted.write);
    set(Timer::on(TimerKind::Expiry, tp), armed.expiry, wanted.expiry);
}
