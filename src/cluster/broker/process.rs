//! A broker's process: everything that is gone when it ends.
//!
//! Mirrors `BrokerServer` with `ReplicaManager`. Handlers change replicas and note what they touched; what waits for
//! that (parked fetches, delayed writes) is looked at afterwards, in [`Process::settle`], like Kafka's action queue.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::actor::{Cx, Effect, Timer, TimerKind};
use crate::cluster::event::{BrokerState, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::input::ReportDirectory;
use crate::cluster::message::{Correlation, Message};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, forever_at_most, from_millis};
use crate::cluster::tracked::Tracked;
use crate::sorted::SortedMap;

use super::alter::AlterPartitions;
use super::channel::Channel;
use super::cleaner::Cleaner;
use super::deletes::Deletes;
use super::fetcher::Fetcher;
use super::held::Coordinator;
use super::lifecycle::ControllerLink;
use super::replica::{Leading, Replica, Scene};

/// Where a process stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has recovered its logs and registers.
    Starting,
    /// Registered; the controller lets it neither lead nor follow in an ISR.
    Fenced,
    /// Registered and unfenced.
    Up,
    /// Shutting down since then, first by handing over what it leads.
    Stopping(Micros),
}

impl Phase {
    /// As it is seen from outside.
    pub fn state(self) -> BrokerState {
        match self {
            Phase::Starting => BrokerState::Starting,
            Phase::Fenced => BrokerState::Fenced,
            Phase::Up => BrokerState::Up,
            Phase::Stopping(_) => BrokerState::Stopping,
        }
    }
}

/// What a handler did to a partition that others may wait for, in the order in which it matters to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Records were appended.
    Appended,
    /// The high watermark moved.
    HighWatermark,
    /// The log start moved.
    LogStart,
    /// Leadership, epoch, or the partition itself.
    Leadership,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Whose.
    pub id: BrokerId,
    /// Numbers the processes of this broker.
    pub incarnation: u64,
    /// When it started: its periodic work counts from here.
    pub started: Micros,
    /// Where it stands in its life.
    pub phase: Phase,
    /// Its broker epoch, once it is registered.
    pub epoch: Option<i64>,
    /// What it knows of the cluster.
    pub image: Arc<Image>,
    /// Its replicas.
    pub replicas: SortedMap<TopicPartition, Tracked<Replica>>,
    /// The data directory and whether the controller must still be told of it.
    pub(super) directory: (u32, Option<ReportDirectory>),
    /// What it sends to the controller.
    pub(super) controller: ControllerLink,
    /// Its fetchers, by leader.
    pub(super) fetchers: SortedMap<BrokerId, Fetcher>,
    /// Connections of clients and followers.
    pub(super) channels: SortedMap<Node, Channel>,
    /// ISR changes on their way.
    pub(super) alter: AlterPartitions,
    /// What its cleaner's thread keeps.
    pub(super) cleaner: Cleaner,
    /// Requests to delete records that wait for the other replicas.
    pub(super) deletes: Deletes,
    /// The partitions of `__consumer_offsets` that it leads and that groups belong to.
    pub(super) coordinators: SortedMap<TopicPartition, Tracked<Coordinator>>,
    /// How many ISRs it has shrunk and expanded.
    pub(super) isr_changes: (u64, u64),
    /// `replica.lag.time.max.ms` in microseconds, beyond which it does not matter how long a follower has lagged.
    pub(super) lag: Micros,
    /// Timers of the whole broker that are armed, as [`ONCE`] lists them.
    pub(super) armed: [Option<Micros>; 4],
    next_correlation: Correlation,
    /// Until when the work of this handler takes.
    ready: Micros,
    /// What this handler touched.
    touched: VecDeque<(TopicPartition, Touch)>,
}

/// The timers of the whole broker that [`Process::arm_once`] keeps.
pub(super) const ONCE: [TimerKind; 4] = [
    TimerKind::Lag,
    TimerKind::Retention,
    TimerKind::Checkpoint,
    TimerKind::Cleaner,
];

impl Process {
    /// A process that starts now, with the replicas it has loaded.
    pub(super) fn new(
        id: BrokerId,
        incarnation: u64,
        started: Micros,
        directory: (u32, Option<ReportDirectory>),
    ) -> Process {
        Process {
            id,
            incarnation,
            started,
            phase: Phase::Starting,
            epoch: None,
            image: Arc::new(Image {
                offset: -1,
                ..Image::default()
            }),
            replicas: SortedMap::new(),
            directory,
            controller: ControllerLink::default(),
            fetchers: SortedMap::new(),
            channels: SortedMap::new(),
            alter: AlterPartitions::default(),
            cleaner: Cleaner::default(),
            deletes: Deletes::new(),
            coordinators: SortedMap::new(),
            isr_changes: (0, 0),
            lag: 0,
            armed: [None; 4],
            // Answers to the process before this one must not be taken for answers to this one.
            next_correlation: (incarnation as Correlation) << 20,
            ready: started,
            touched: VecDeque::new(),
        }
    }

    /// Begins to handle something.
    pub(super) fn begin(&mut self, cx: &Cx<'_>) {
        self.ready = cx.now;
        self.lag = from_millis(cx.settings.broker(self.id).replica_lag_time_max_ms);
    }

    /// Ends to handle something: whoever waited for what it did is looked at, and timers are set anew.
    pub(super) fn settle(&mut self, cx: &mut Cx<'_>) {
        while let Some((tp, touch)) = self.touched.pop_front() {
            self.complete(cx, tp, touch);
        }
        self.propagate_isr_changes(cx);
        self.for_groups(|groups, process| (groups.arm)(process, cx));
        self.arm_lag(cx);
        self.arm_checkpoint(cx);
        self.arm_retention(cx);
        self.arm_cleaner(cx);
    }

    /// Notes what was done to a partition.
    pub(super) fn touch(&mut self, tp: TopicPartition, touch: Touch) {
        if !self.touched.contains(&(tp, touch)) {
            self.touched.push_back((tp, touch));
        }
    }

    /// The next number of a request of its own.
    pub(super) fn correlation(&mut self) -> Correlation {
        self.next_correlation += 1;
        self.next_correlation
    }

    /// Sends, when the work of this handler is done.
    pub(super) fn send(&self, cx: &mut Cx<'_>, to: Node, message: Message) {
        let after = self.ready.saturating_sub(cx.now);
        cx.effects.push(Effect::Send { to, message, after });
    }

    /// Notes work on a log: it begins when the log's lock is free, and what this handler sends leaves after it.
    pub(super) fn spend(&mut self, cx: &Cx<'_>, tp: TopicPartition, cost: Micros) {
        let cost = cx.settings.slowed(cx.me, cost);
        let Some(replica) = self.replica_mut(tp) else { return };
        let begin = replica.busy_until.max(cx.now);
        if cost == 0 && begin == cx.now {
            return;
        }
        replica.busy_until = forever_at_most(begin + cost);
        let done = replica.busy_until;
        self.ready = self.ready.max(done);
    }

    /// When the work of this handler is done.
    pub(super) fn ready(&self) -> Micros {
        self.ready
    }

    /// A replica.
    pub(super) fn replica(&self, tp: TopicPartition) -> Option<&Replica> {
        self.replicas.get(&tp).map(|replica| &**replica)
    }

    /// A replica, to change it.
    pub(super) fn replica_mut(&mut self, tp: TopicPartition) -> Option<&mut Replica> {
        self.replicas.get_mut(&tp).map(Tracked::make_mut)
    }

    /// What a partition's leader keeps, if this broker leads it.
    pub(super) fn leading(&self, tp: TopicPartition) -> Option<&Leading> {
        self.replica(tp)?.leading()
    }

    /// The leader of a partition and its epoch, as this process knows them.
    pub(super) fn known_leader(&self, tp: TopicPartition) -> Option<(BrokerId, i32)> {
        let partition = self.image.partition(tp)?;
        Some((partition.leader?, partition.leader_epoch))
    }

    /// What the rules about ISR and high watermark of a partition look at.
    pub(super) fn scene<'a>(&'a self, cx: &Cx<'_>, tp: TopicPartition) -> Scene<'a> {
        self.scene_with(cx, tp, cx.settings.topic_on(tp.topic, self.id).min_insync_replicas)
    }

    fn scene_with<'a>(&'a self, cx: &Cx<'_>, tp: TopicPartition, configured: i64) -> Scene<'a> {
        let replicas = self.leading(tp).map_or(1, |leading| leading.remotes.len() + 1);
        Scene {
            now: cx.now,
            lag: self.lag,
            min_isr: replicas.min(configured.max(0) as usize),
            image: &self.image,
        }
    }

    /// Raises the high watermark as far as its rule allows.
    pub(super) fn raise_high_watermark(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let configured = cx.settings.topic_on(tp.topic, self.id).min_insync_replicas;
        self.raise_high_watermark_with(cx, tp, configured);
    }

    /// The same when news of the partition are taken over: configs that came along with them are applied after them.
    pub(super) fn raise_high_watermark_by_news(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        let configured = cx.settings.topic_on(tp.topic, self.id).min_insync_replicas;
        let known = self.replica(tp).and_then(|replica| replica.known_min_isr);
        self.raise_high_watermark_with(cx, tp, known.unwrap_or(configured));
    }

    fn raise_high_watermark_with(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, min_isr: i64) {
        let scene = self.scene_with(cx, tp, min_isr);
        let Some(replica) = self.replica(tp) else { return };
        let from = replica.log.high_watermark();
        let wanted = replica.wanted_high_watermark(&scene).map(|wanted| {
            if cx.holds(Rule::HighWatermark) {
                wanted
            } else {
                replica.log.log_end_offset()
            }
        });
        let Some(to) = wanted.filter(|&to| to > from) else {
            return;
        };
        if replica.is_under_min_isr(&scene) && cx.holds(Rule::HighWatermarkMinIsr) {
            return;
        }
        let Some(replica) = self.replica_mut(tp) else { return };
        let to = replica.log.set_high_watermark(to);
        let broker = self.id;
        if to != from {
            cx.say(Rule::HighWatermark, || What::HighWatermark {
                broker,
                partition: tp,
                from,
                to,
            });
            self.touch(tp, Touch::HighWatermark);
        }
    }

    /// Sets a timer of the whole broker to its next tick, or clears it; nothing is asked of the world when it stands so
    /// already.
    pub(super) fn arm_once(&mut self, cx: &mut Cx<'_>, kind: TimerKind, due: Option<Micros>) {
        let Some(at) = ONCE.iter().position(|&once| once == kind) else {
            return;
        };
        if self.armed[at] == due {
            return;
        }
        self.armed[at] = due;
        match due {
            Some(due) => cx.arm_tick(Timer::of(kind), due),
            None => cx.disarm(Timer::of(kind)),
        }
    }

    /// A timer of the whole broker has fired.
    pub(super) fn fired(&mut self, kind: TimerKind) {
        if let Some(at) = ONCE.iter().position(|&once| once == kind) {
            self.armed[at] = None;
        }
    }

    /// The first time strictly after `after` that lies a whole number of intervals after `origin`.
    pub(super) fn next_tick(origin: Micros, interval: Micros, after: Micros) -> Micros {
        if after < origin {
            return origin;
        }
        let interval = interval.max(1);
        origin + ((after - origin) / interval + 1) * interval
    }
}
