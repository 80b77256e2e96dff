//! A broker: a host with a disk, and a process that runs on it or does not.
//!
//! Mirrors `BrokerServer`, `ReplicaManager`, `Partition`, `LogManager` and the fetcher threads. It is an actor: it is handed
//! messages, timers and acts, changes only itself, and leaves effects. Three layers are told apart throughout: what the
//! process knows ([`Process`], gone at a kill), the page cache (gone with the power) and the disk (gone when it is lost);
//! the latter two are lengths of the files that the process has open, or that lie on the [`Host`] without one.
//!
//! Deliberately absent: transactions, quotas, several data directories, tiered storage.

mod alter;
mod channel;
mod cleaner;
mod configs;
mod coordinator;
mod deletes;
mod encode;
mod fetch;
mod fetcher;
mod follower;
mod held;
mod host;
mod isr;
mod lifecycle;
mod metadata;
mod offsets;
mod parked;
mod process;
mod produce;
mod remote;
mod replica;
mod requests;
mod storage;
mod truncation;
mod view;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::{BrokerState, Damage, Ended, What};
use crate::cluster::group::protocol::MemberId;
use crate::cluster::group::{Group, Shard};
use crate::cluster::ids::{BrokerId, GroupId, Node, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::input::{CheckpointFile, Keep, ReportDirectory};
use crate::cluster::message::Message;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, Settings};
use crate::cluster::tracked::Tracked;
use crate::log::{Errors, LoadArgs, Log, Rest, Shutdown};

pub(in crate::cluster) use coordinator::offsets_partition;
pub(crate) use coordinator::{COORDINATION, Coordination};
pub use held::Coordinator;
pub use host::{Checkpoints, Folder, Host};
pub use process::{Phase, Process};
pub use remote::Remote;
pub use replica::{IsrChange, Leading, PendingIsr, Replica, Role};
pub use view::ReplicaView;

use configs::log_config;
use storage::Retained;

/// A broker.
#[derive(Clone, Debug)]
pub struct Broker {
    id: BrokerId,
    host: Host,
    process: Option<Process>,
    paused: bool,
}

impl Broker {
    /// A broker that is up, registered and unfenced at time 0, as the image says.
    pub fn boot(id: BrokerId, image: Arc<Image>) -> Broker {
        let mut process = Process::new(id, 0, 0, (0, None));
        process.epoch = image.broker_epoch(id);
        process.phase = Phase::Up;
        process.image = image;
        Broker {
            id,
            host: Host::default(),
            process: Some(process),
            paused: false,
        }
    }

    /// Its id.
    pub fn id(&self) -> BrokerId {
        self.id
    }

    /// Whether a process runs, frozen or not.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Whether its process is frozen.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Its process, if one runs.
    pub fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    /// Its host. While a process runs the partitions stand there and not here.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What it is, as its operator sees it and as it knows of the controller.
    pub fn state(&self) -> BrokerState {
        match &self.process {
            None => BrokerState::Down,
            Some(_) if self.paused => BrokerState::Paused,
            Some(process) => process.phase.state(),
        }
    }

    /// What its process knows of the cluster; `None` without a process, or before that is registered and has heard anything.
    pub fn image(&self) -> Option<&Arc<Image>> {
        self.process
            .as_ref()
            .filter(|process| process.phase != Phase::Starting)
            .map(|process| &process.image)
            .filter(|image| image.offset >= 0)
    }

    /// Its replica of a partition, whether its process runs or not.
    pub fn replica(&self, tp: TopicPartition) -> Option<ReplicaView<'_>> {
        match &self.process {
            Some(process) => process.replica(tp).map(ReplicaView::open),
            None => self.host.folders.get(&tp).map(ReplicaView::lying),
        }
    }

    /// The partitions of which it has a replica.
    pub fn partitions(&self) -> Vec<TopicPartition> {
        match &self.process {
            Some(process) => process.replicas.keys().copied().collect(),
            None => self.host.folders.keys().copied().collect(),
        }
    }

    /// How many ISR changes of its partitions were accepted: shrinks and expansions.
    pub fn isr_changes(&self) -> (u64, u64) {
        self.process.as_ref().map_or((0, 0), |process| process.isr_changes)
    }

    /// Lets the process handle something, and ends it if it has handed over everything.
    fn handle<R>(&mut self, cx: &mut Cx<'_>, act: impl FnOnce(&mut Process, &mut Cx<'_>) -> R) -> Option<R> {
        let process = self.process.as_mut()?;
        process.begin(cx);
        let done = act(process, cx);
        process.settle(cx);
        self.host.unreported = process.directory.1.is_some();
        if process.controller.finished {
            self.end_cleanly(cx);
        }
        Some(done)
    }

    /// Handles a message.
    pub fn on_message(&mut self, from: Node, message: Message, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| match (from, message) {
            (_, Message::Closed) => process.on_closed(from, cx),
            (Node::Broker(leader), Message::FetchResponse(id, results)) => {
                process.on_fetch_response(cx, leader, id, results);
            }
            (Node::Broker(leader), Message::ListOffsetsResponse(id, answers)) => {
                process.on_ends(cx, leader, id, &answers)
            }
            (Node::Broker(leader), Message::EpochEndResponse(id, answers)) => {
                process.on_epoch_ends(cx, leader, id, &answers);
            }
            (Node::Controller, Message::Metadata(image)) => process.apply_metadata(cx, image),
            (Node::Controller, Message::RegisterResponse(id, answer)) => process.on_registered(cx, id, answer),
            (Node::Controller, Message::HeartbeatResponse(id, answer)) => process.on_heartbeat_answer(cx, id, answer),
            (Node::Controller, Message::AlterPartitionResponse(id, answer)) => {
                process.on_alter_response(cx, id, answer)
            }
            (Node::Client(client), Message::FindCoordinator(id, group)) => {
                process.for_groups(|groups, process| (groups.find)(process, cx, client, id, group));
            }
            (Node::Client(client), Message::Group(id, request)) => {
                process.for_groups(|groups, process| (groups.serve)(process, cx, client, id, *request));
            }
            (_, request) => process.on_request(cx, from, request),
        });
    }

    /// Handles a timer.
    pub fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| {
            process.fired(timer.kind);
            match (timer.kind, timer.peer, timer.partition) {
                (TimerKind::Lag, ..) => process.shrink_isrs(cx),
                (TimerKind::FetchWait, Some(peer), _) => process.on_fetch_wait(cx, peer),
                // Only a coordinator's write has both.
                (TimerKind::Request, Some(_), Some(tp)) => {
                    process.for_groups(|groups, process| (groups.fired)(process, cx, tp, timer.kind));
                }
                (TimerKind::Request, Some(Node::Broker(leader)), _) => process.fail_fetch(cx, leader),
                (TimerKind::Request, Some(Node::Controller), _) => process.time_out_controller(cx),
                (TimerKind::Request, Some(client), _) => process.time_out_produce(cx, client),
                (TimerKind::Request, None, Some(tp)) => process.time_out_delete(cx, tp),
                (TimerKind::Retry, Some(Node::Broker(leader)), _) => process.on_fetcher_retry(cx, leader),
                (TimerKind::Retry, Some(Node::Controller), _) => process.on_controller_retry(cx),
                (TimerKind::Heartbeat, ..) => process.on_heartbeat_due(cx),
                (TimerKind::Retention, ..) => process.run_retention(cx, Retained::NotCompacted),
                (TimerKind::Cleaner, ..) => process.clean_what_is_due(cx),
                (TimerKind::Checkpoint, ..) => process.on_checkpoint_due(cx),
                (TimerKind::FileDelete, _, Some(tp)) => process.remove_files(cx, tp),
                (TimerKind::Flush, _, Some(tp)) => process.on_flush_due(cx, tp),
                (TimerKind::Session | TimerKind::Rebalance | TimerKind::Expiry, None, Some(tp)) => {
                    process.for_groups(|groups, process| (groups.fired)(process, cx, tp, timer.kind));
                }
                _ => {}
            }
        });
    }

    /// Something between this broker and a peer was lost, or the peer froze, or vanished without a word: what waits for
    /// an answer from it can only time out. To be called when a path is cut too, whether or not anything was on it.
    pub fn on_lost(&mut self, peer: Node, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| match peer {
            Node::Controller => process.lose_controller(cx),
            Node::Client(_) => process.lose_parked(cx, peer),
            Node::Broker(leader) => {
                process.lose_fetch(cx, leader);
                process.lose_parked(cx, peer);
            }
        });
    }

    /// The path to a peer is whole again, and a process is there.
    pub fn on_reachable(&mut self, peer: Node, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| match peer {
            Node::Controller => process.reach_controller(cx),
            Node::Broker(leader) => process.reach_leader(cx, leader),
            Node::Client(_) => {}
        });
    }

    /// Its next heartbeat, due then, is sent and not computed.
    pub fn beat_for_real(&mut self, due: Micros, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.beat_for_real(cx, due));
    }

    /// A process starts: it loads what lies on the host and registers.
    pub fn start(&mut self, report: ReportDirectory, cx: &mut Cx<'_>) {
        self.host.incarnations += 1;
        let report = self.host.unreported.then_some(report);
        let mut process = Process::new(self.id, self.host.incarnations, cx.now, (self.host.directory, report));
        let (broker, to) = (self.id, process.phase.state());
        cx.say(Rule::Act, || What::State {
            broker,
            from: BrokerState::Down,
            to,
        });
        let clean = self.host.clean.take();
        process.controller.previous_epoch = clean;
        let shutdown = if clean.is_some() {
            Shutdown::Clean
        } else {
            Shutdown::Unclean
        };
        for (tp, folder) in std::mem::take(&mut self.host.folders) {
            let replica = load(cx, self.id, tp, folder, shutdown);
            process.replicas.insert(tp, Tracked::new(replica));
        }
        self.process = Some(process);
        self.handle(cx, |process, cx| {
            let all: Vec<TopicPartition> = process.replicas.keys().copied().collect();
            for tp in all {
                process.arm_file_delete(cx, tp);
            }
            process.clean_what_is_due(cx);
            process.speak(cx);
        });
    }

    /// Begins a controlled shutdown.
    pub fn stop(&mut self, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.begin_stop(cx));
    }

    /// The process has handed over everything: it flushes, writes checkpoints and the marker, and is gone.
    fn end_cleanly(&mut self, cx: &mut Cx<'_>) {
        if !cx.holds(Rule::FlushStop) {
            return self.kill(cx);
        }
        let Some(process) = self.process.take() else { return };
        process.lose_deletes(cx);
        let (broker, now_ms, from) = (self.id, cx.wall_ms(), process.phase.state());
        for (tp, replica) in process.replicas {
            let log = replica.log.clone();
            let (from, to) = (log.recovery_point(), log.log_end_offset());
            if from < to {
                cx.say(Rule::FlushStop, || What::Flushed {
                    broker,
                    partition: tp,
                    from,
                    to,
                });
            }
            let written = storage::checkpoints_now(&log, replica.on_host);
            let checkpoints = Checkpoints {
                recovery_point: to,
                ..written
            };
            self.host
                .folders
                .insert(tp, Folder::new(log.close(now_ms), checkpoints));
        }
        self.host.clean = process.epoch;
        self.paused = false;
        cx.say(Rule::FlushStop, || What::BrokerEnded {
            broker,
            how: Ended::Stopped,
            lost: Vec::new(),
        });
        cx.say(Rule::FlushStop, || What::State {
            broker,
            from,
            to: BrokerState::Down,
        });
    }

    /// The process is killed: what it had written stays in the page cache.
    pub fn kill(&mut self, cx: &mut Cx<'_>) {
        let from = self.state();
        self.lay_down(cx);
        let lost = if cx.holds(Rule::Kill) {
            Vec::new()
        } else {
            self.host.lose_power(&Keep::Nothing)
        };
        let broker = self.id;
        cx.say(Rule::Kill, || What::BrokerEnded {
            broker,
            how: Ended::Killed,
            lost,
        });
        cx.say(Rule::Kill, || What::State {
            broker,
            from,
            to: BrokerState::Down,
        });
    }

    /// The host loses power: what was not flushed is gone, apart from what is said to be kept.
    pub fn power_off(&mut self, keep: &Keep, cx: &mut Cx<'_>) {
        let from = self.state();
        self.lay_down(cx);
        let lost = if cx.holds(Rule::PowerLoss) {
            self.host.lose_power(keep)
        } else {
            Vec::new()
        };
        let broker = self.id;
        cx.say(Rule::PowerLoss, || What::BrokerEnded {
            broker,
            how: Ended::PoweredOff,
            lost,
        });
        if from != BrokerState::Down {
            cx.say(Rule::PowerLoss, || What::State {
                broker,
                from,
                to: BrokerState::Down,
            });
        }
    }

    /// The process is gone; its files lie on the host.
    fn lay_down(&mut self, cx: &mut Cx<'_>) {
        self.paused = false;
        let Some(process) = self.process.take() else { return };
        process.lose_deletes(cx);
        for (tp, replica) in process.replicas {
            self.host
                .folders
                .insert(tp, Folder::new(replica.log.to_files(), replica.on_host));
        }
    }

    /// The data directory of a broker that is down is lost and formatted anew.
    pub fn wipe(&mut self, cx: &mut Cx<'_>) {
        let lost = self.host.wipe(cx.now);
        let broker = self.id;
        cx.say(Rule::Act, || What::Wiped { broker, lost });
    }

    /// The folder of one replica is lost, on a broker that is down.
    ///
    /// # Errors
    /// That there is no such folder.
    pub fn wipe_partition(&mut self, tp: TopicPartition, cx: &mut Cx<'_>) -> Result<(), String> {
        let lost = vec![(tp, self.host.wipe_partition(tp)?)];
        let broker = self.id;
        cx.say(Rule::Act, || What::Wiped { broker, lost });
        Ok(())
    }

    /// A checkpoint file is lost, on a broker that is down.
    pub fn lose_checkpoint(&mut self, file: CheckpointFile, cx: &mut Cx<'_>) {
        self.host.lose_checkpoint(file);
        let broker = self.id;
        for &partition in self.host.folders.keys() {
            cx.say(Rule::Act, || What::Damaged {
                broker,
                partition,
                damage: Damage::Checkpoint,
            });
        }
    }

    /// The process freezes.
    pub fn pause(&mut self, cx: &mut Cx<'_>) {
        let (broker, from) = (self.id, self.state());
        self.handle(cx, |process, cx| {
            process.note_rounds(cx.now);
            let peers: Vec<Node> = process.channels.keys().copied().collect();
            for peer in peers {
                process.end_parked(cx, peer);
            }
        });
        self.paused = true;
        cx.say(Rule::Act, || What::State {
            broker,
            from,
            to: BrokerState::Paused,
        });
    }

    /// The process goes on, not knowing that time has passed.
    pub fn resume(&mut self, cx: &mut Cx<'_>) {
        self.paused = false;
        let (broker, to) = (self.id, self.state());
        cx.say(Rule::Act, || What::State {
            broker,
            from: BrokerState::Paused,
            to,
        });
        self.handle(cx, |process, cx| {
            let leaders: Vec<BrokerId> = process.fetchers.keys().copied().collect();
            for leader in leaders {
                process.renew_after_pause(cx, leader);
            }
            process.be_heard(cx);
        });
    }

    /// Shortens a replica's log, on a broker that is down.
    ///
    /// # Errors
    /// What there is not to shorten.
    pub fn shorten(&mut self, tp: TopicPartition, offset: i64, rest: Rest, cx: &mut Cx<'_>) -> Result<(), String> {
        self.host.shorten(tp, offset, rest)?;
        self.say_damaged(tp, Damage::Shortened { from: offset }, cx);
        Ok(())
    }

    /// Cuts the last batch of a replica's files, on a broker that is down.
    ///
    /// # Errors
    /// What there is not to cut.
    pub fn tear(&mut self, tp: TopicPartition, keep: Option<u32>, cx: &mut Cx<'_>) -> Result<(), String> {
        let damage = self.host.tear(tp, keep)?;
        self.say_damaged(tp, damage, cx);
        Ok(())
    }

    /// Inverts a byte of a segment's log, on a broker that is down.
    ///
    /// # Errors
    /// What there is not to invert.
    pub fn flip(&mut self, tp: TopicPartition, base: i64, position: u64, cx: &mut Cx<'_>) -> Result<(), String> {
        self.host.flip(tp, base, position)?;
        let segment = base;
        self.say_damaged(tp, Damage::Flipped { segment, position }, cx);
        Ok(())
    }

    /// Removes an index, or a snapshot of the producers, from a replica's folder, on a broker that is down.
    ///
    /// # Errors
    /// Why there is nothing to remove.
    pub fn remove_file(&mut self, tp: TopicPartition, name: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.host.remove_file(tp, name)?;
        self.say_damaged(tp, Damage::Removed(name.into()), cx);
        Ok(())
    }

    fn say_damaged(&self, partition: TopicPartition, damage: Damage, cx: &mut Cx<'_>) {
        let broker = self.id;
        cx.say(Rule::Act, || What::Damaged {
            broker,
            partition,
            damage,
        });
    }

    /// Partitions were created and are known to everybody at once.
    pub fn topics_created(&mut self, new: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.learn_partitions(cx, new));
    }

    /// As leader of a partition, the first of these brokers that its high watermark does not wait for.
    ///
    /// It waits for more than the ISR that it knows: news with the partition epoch that it knows already set its ISR back
    /// to what they say, and a wish that is under way is forgotten; whom it wished to let in has caught up, though, and is
    /// waited for as such.
    pub fn passes_over(&self, tp: TopicPartition, isr: &[BrokerId], now: Micros) -> Option<BrokerId> {
        let process = self.process.as_ref()?;
        let replica = process.replicas.get(&tp)?;
        replica.passes_over(isr, now, process.lag, &process.image)
    }

    /// Runs the retention check now, on all logs, and removes files whose delay has passed.
    pub fn check_retention(&mut self, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| {
            process.run_retention(cx, Retained::Everything);
            let all: Vec<TopicPartition> = process.replicas.keys().copied().collect();
            for tp in all {
                process.remove_files(cx, tp);
            }
        });
    }

    /// One pass of the cleaner now: over this replica, or over the dirtiest one.
    pub fn clean(&mut self, tp: Option<TopicPartition>, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.clean_once(cx, tp));
    }

    /// Writes all checkpoints now.
    pub fn checkpoint(&mut self, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.write_checkpoints(cx, |_, now| now));
    }

    /// Forces a replica's log to disk.
    pub fn flush(&mut self, tp: TopicPartition, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| {
            process.flush(cx, tp, Rule::FlushAsked);
            process.arm_flush(cx, tp);
        });
    }

    /// Begins a new segment in a replica's log.
    pub fn roll(&mut self, tp: TopicPartition, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.roll(cx, tp));
    }

    /// Deletes the records below an offset (−1 is the high watermark), as leader. The answer comes when all replicas have
    /// done so.
    pub fn delete_records(&mut self, tp: TopicPartition, offset: i64, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.delete_records(cx, tp, offset));
    }

    /// Whether a request to delete records waits for its answer here.
    pub fn is_deleting(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !process.deletes.is_empty())
    }

    /// A member of a group that this broker coordinates is not heard any more.
    pub fn silence_member(&mut self, tp: TopicPartition, group: GroupId, member: &MemberId, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.silence_member(cx, tp, group, member));
    }

    /// The operator moves a group's commit. Gives the error, if there is one.
    pub fn reset_offset(&mut self, group: GroupId, at: TopicPartition, offset: i64, cx: &mut Cx<'_>) -> Option<Errors> {
        self.handle(cx, |process, cx| process.reset_offset(cx, group, at, offset))
            .unwrap_or(Some(Errors::CoordinatorNotAvailable))
    }

    /// The coordinator of a group, if this broker is it.
    pub fn coordinates(&self, group: GroupId, settings: &Settings) -> Option<&Group> {
        let process = self.process.as_ref()?;
        process
            .coordinators
            .get(&process.partition_of(group, settings)?)?
            .group(group)
    }

    /// The groups that this broker coordinates, by their partitions of `__consumer_offsets`.
    pub fn coordinators(&self) -> impl Iterator<Item = (TopicPartition, &Shard)> + '_ {
        let process = self.process.iter();
        process.flat_map(|process| process.coordinators.iter().map(|(tp, shard)| (*tp, &***shard)))
    }

    /// Configs have changed.
    pub fn config_changed(&mut self, cx: &mut Cx<'_>) {
        self.handle(cx, |process, cx| process.take_configs(cx));
    }
}

impl Process {
    /// A connection was closed by its other end.
    fn on_closed(&mut self, peer: Node, cx: &mut Cx<'_>) {
        self.drop_channel(cx, peer);
        if let Node::Broker(leader) = peer {
            self.fail_fetch(cx, leader);
        }
    }
}

/// Loads a partition's log as a starting process does.
fn load(cx: &mut Cx<'_>, broker: BrokerId, tp: TopicPartition, folder: Folder, shutdown: Shutdown) -> Replica {
    let config = Arc::new(log_config(cx, broker, tp));
    let checkpoints = folder.checkpoints;
    let clean = shutdown == Shutdown::Clean;
    let rule = if clean { Rule::RecoverClean } else { Rule::RecoverKill };
    // Each of the two rules spares or asks for the scan: without it the other one's way is gone.
    let treated = match (clean, cx.holds(rule)) {
        (true, true) | (false, false) => Shutdown::Clean,
        (true, false) | (false, true) => Shutdown::Unclean,
    };
    let args = LoadArgs {
        shutdown: treated,
        recovery_point: checkpoints.recovery_point,
        log_start_offset: checkpoints.log_start,
        high_watermark: checkpoints.high_watermark,
        config: &config,
        now_ms: cx.wall_ms(),
    };
    let (log, report) = Log::load(folder.files, &args);
    let leo = log.log_end_offset();
    cx.say(rule, || What::Recovered {
        broker,
        partition: tp,
        clean,
        leo,
        dropped_bytes: report.truncated.map_or(0, |(_, bytes)| i64::from(bytes))
            + i64::try_from(report.deleted_bytes).unwrap_or(i64::MAX),
        cut: report.dropped.iter().flat_map(host::told_records).collect(),
        dropped_segments: report.deleted_segments,
        remade: report.remade,
    });
    Replica::new(log, config, checkpoints)
}
