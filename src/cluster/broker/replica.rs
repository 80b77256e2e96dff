//! One partition's replica while a process has it open: its log, its place in the cluster, what it leads or follows.
//!
//! Mirrors `Partition` with its `PartitionState`s. The log holds the high watermark; here stand the rules about ISR and
//! high watermark that need nobody else. Replicas are shared between snapshots until changed.

use std::sync::Arc;

use crate::cluster::ids::BrokerId;
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::settings::Micros;
use crate::log::{Encoder, Fingerprint, Log, LogConfig};
use crate::sorted::SortedMap;

use super::host::Checkpoints;
use super::remote::{Membership, Remote};

/// A replica.
#[derive(Clone, Debug)]
pub struct Replica {
    /// Its log.
    pub log: Log,
    /// The configs its log obeys.
    pub config: Arc<LogConfig>,
    /// What the checkpoint files of the host say of it.
    pub on_host: Checkpoints,
    /// The leader epoch it knows, −1 before it was told any.
    pub leader_epoch: i32,
    /// The partition epoch it knows, −1 before it was told any.
    pub partition_epoch: i32,
    /// What it does.
    pub role: Role,
    /// `min.insync.replicas` in the metadata that was taken over last. A new value acts at once on what comes, but the
    /// news that it came with (a cleared ELR is a change of the partition) are still judged by this one.
    pub(super) known_min_isr: Option<i64>,
    /// Until when the latest append keeps the log's lock.
    pub(super) busy_until: Micros,
    /// Since when something waits to be written back by the operating system.
    pub(super) dirty_since: Option<Micros>,
    /// When the flush that follows a roll is done.
    pub(super) roll_flush: Option<Micros>,
    /// For when the next flush of any kind is armed.
    pub(super) flush_due: Option<Micros>,
    /// For when a removal of deleted files is armed.
    pub(super) delete_due: Option<Micros>,
}

/// What a replica does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its process has not heard yet.
    Unknown,
    /// It leads.
    Leader(Leading),
    /// It follows this broker, if there is a leader.
    Follower(Option<BrokerId>),
}

/// What a leader keeps of its partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leading {
    /// The committed ISR.
    pub isr: Vec<BrokerId>,
    /// The ISR that the controller was asked for and has not answered about.
    pub pending: Option<PendingIsr>,
    /// The log end when the epoch began.
    pub epoch_start: i64,
    /// The other assigned replicas.
    pub remotes: SortedMap<BrokerId, Remote>,
}

/// An ISR change under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingIsr {
    /// The wanted ISR.
    pub isr: Vec<BrokerId>,
    /// Whether it grows or shrinks.
    pub change: IsrChange,
}

/// Which way an ISR changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsrChange {
    /// A follower joins.
    Expand,
    /// Followers leave.
    Shrink,
}

impl Leading {
    /// The committed ISR and whoever is about to join, never without whoever is about to leave.
    pub fn maximal_isr(&self) -> &[BrokerId] {
        match &self.pending {
            Some(PendingIsr {
                isr,
                change: IsrChange::Expand,
            }) => isr,
            _ => &self.isr,
        }
    }
}

/// What the rules about ISR and high watermark look at besides the replica itself.
pub(super) struct Scene<'a> {
    pub now: Micros,
    /// `replica.lag.time.max.ms`, in microseconds.
    pub lag: Micros,
    /// `min.insync.replicas`, at most the number of replicas.
    pub min_isr: usize,
    pub image: &'a Image,
}

impl Replica {
    /// A replica whose process has not heard yet what it is to do.
    pub(super) fn new(log: Log, config: Arc<LogConfig>, on_host: Checkpoints) -> Replica {
        Replica {
            log,
            config,
            on_host,
            leader_epoch: -1,
            partition_epoch: -1,
            role: Role::Unknown,
            known_min_isr: None,
            busy_until: 0,
            dirty_since: None,
            roll_flush: None,
            flush_due: None,
            delete_due: None,
        }
    }

    /// What it keeps as leader, if it leads.
    pub fn leading(&self) -> Option<&Leading> {
        match &self.role {
            Role::Leader(leading) => Some(leading),
            _ => None,
        }
    }

    /// As [`leading`](Self::leading), to change it.
    pub(super) fn leading_mut(&mut self) -> Option<&mut Leading> {
        match &mut self.role {
            Role::Leader(leading) => Some(leading),
            _ => None,
        }
    }

    /// Takes up the role of leader. Says whether a new epoch begins with it.
    pub(super) fn lead(&mut self, me: BrokerId, partition: &PartitionImage, now: Micros) -> bool {
        let was = std::mem::replace(&mut self.role, Role::Unknown);
        let new_epoch = partition.leader_epoch > self.leader_epoch;
        let log_end = self.log.log_end_offset();
        let (mut remotes, epoch_start, newly) = match was {
            Role::Leader(was) => (was.remotes, was.epoch_start, false),
            _ => (SortedMap::new(), log_end, true),
        };
        remotes.retain(|id, _| partition.replicas.contains(id));
        for &id in partition.replicas.iter().filter(|&&id| id != me) {
            let known = remotes.contains_key(&id);
            let remote = remotes.entry(id).or_default();
            let membership = if partition.isr.contains(&id) {
                Membership::InIsr
            } else {
                Membership::OutOfIsr
            };
            match (new_epoch, newly) {
                (true, true) => remote.reset_for_new_leader(now, membership),
                (true, false) => remote.reset_for_new_epoch(now, log_end, membership),
                (false, true) if !known => remote.reset_for_new_leader(now, membership),
                (false, _) => {}
            }
        }
        let epoch_start = if new_epoch { log_end } else { epoch_start };
        if new_epoch {
            self.log.assign_epoch(partition.leader_epoch, log_end);
        }
        self.leader_epoch = partition.leader_epoch;
        self.partition_epoch = partition.partition_epoch;
        self.role = Role::Leader(Leading {
            isr: partition.isr.clone(),
            pending: None,
            epoch_start,
            remotes,
        });
        new_epoch
    }

    /// The ISR that this leader has asked for, if news of the partition tell it nothing that it does not know.
    pub(super) fn wish_besides(&self, news: &PartitionImage) -> Option<PendingIsr> {
        let pending = self.leading()?.pending.clone()?;
        (news.partition_epoch == self.partition_epoch).then_some(pending)
    }

    /// Takes up the role of follower. Says whether a new epoch begins with it.
    pub(super) fn follow(&mut self, partition: &PartitionImage) -> bool {
        let new_epoch = partition.leader_epoch > self.leader_epoch;
        self.leader_epoch = partition.leader_epoch;
        self.partition_epoch = partition.partition_epoch;
        self.role = Role::Follower(partition.leader);
        new_epoch
    }

    /// Where the high watermark would stand by its rule: the smallest log end among the maximal ISR and those that are
    /// about to join it. Below the minimum ISR it stands still ([`Replica::is_under_min_isr`]).
    pub(super) fn wanted_high_watermark(&self, scene: &Scene<'_>) -> Option<i64> {
        let leading = self.leading()?;
        let holds_back = |(id, remote): &(&BrokerId, &Remote)| {
            self.holds_back(leading, **id, remote, scene.now, scene.lag, scene.image)
        };
        let ends = leading
            .remotes
            .iter()
            .filter(holds_back)
            .map(|(_, remote)| remote.log_end);
        Some(ends.fold(self.log.log_end_offset(), i64::min))
    }

    /// Whether the high watermark waits for a follower: it is in the maximal ISR, or about to be, having caught up.
    fn holds_back(
        &self,
        leading: &Leading,
        id: BrokerId,
        remote: &Remote,
        now: Micros,
        lag: Micros,
        image: &Image,
    ) -> bool {
        leading.maximal_isr().contains(&id)
            || (remote.is_caught_up(self.log.log_end_offset(), now, lag) && eligible(id, remote, image))
    }

    /// As leader, the first of these brokers that the high watermark does not wait for.
    pub(super) fn passes_over(&self, among: &[BrokerId], now: Micros, lag: Micros, image: &Image) -> Option<BrokerId> {
        let leading = self.leading()?;
        let holds_back = |id| {
            let remote = leading.remotes.get(&id);
            remote.is_some_and(|remote| self.holds_back(leading, id, remote, now, lag, image))
        };
        let waits = |id| leading.maximal_isr().contains(&id) || holds_back(id);
        among.iter().copied().find(|&id| !waits(id))
    }

    /// Whether the committed ISR is smaller than `min.insync.replicas`.
    pub(super) fn is_under_min_isr(&self, scene: &Scene<'_>) -> bool {
        self.leading().is_some_and(|leading| leading.isr.len() < scene.min_isr)
    }

    /// Whether a follower that has just fetched may join the ISR.
    pub(super) fn may_join(&self, follower: BrokerId, image: &Image) -> bool {
        let Some(leading) = self.leading() else { return false };
        let Some(remote) = leading.remotes.get(&follower) else {
            return false;
        };
        leading.pending.is_none()
            && !leading.isr.contains(&follower)
            && remote.log_end >= self.log.high_watermark()
            && remote.log_end >= leading.epoch_start
            && eligible(follower, remote, image)
    }

    /// The ISR without those that lag, if any do and no change is under way.
    pub(super) fn isr_without_laggards(&self, scene: &Scene<'_>) -> Option<Vec<BrokerId>> {
        let leading = self.leading().filter(|leading| leading.pending.is_none())?;
        let log_end = self.log.log_end_offset();
        let lags = |id: &BrokerId| {
            leading
                .remotes
                .get(id)
                .is_some_and(|remote| !remote.is_caught_up(log_end, scene.now, scene.lag))
        };
        let kept: Vec<BrokerId> = leading.isr.iter().copied().filter(|id| !lags(id)).collect();
        (kept.len() < leading.isr.len()).then_some(kept)
    }

    /// The time after which a member of the ISR counts as lagging, if nothing more is heard of it.
    pub(super) fn lag_deadline(&self, lag: Micros) -> Option<Micros> {
        let leading = self.leading().filter(|leading| leading.pending.is_none())?;
        let log_end = self.log.log_end_offset();
        let remotes = leading.isr.iter().filter_map(|id| leading.remotes.get(id));
        let behind = remotes.filter(|remote| remote.log_end != log_end);
        behind
            .map(|remote| remote.last_caught_up.map_or(0, |at| at + lag))
            .min()
    }

    /// Encodes how long ago things were.
    ///
    /// Of a follower whose fetch idles here only the phase of its rounds counts, which is encoded with its connection.
    pub(super) fn encode_times(&self, now: Micros, lag: Micros, idles: impl Fn(BrokerId) -> bool, out: &mut Encoder) {
        out.u64(self.busy_until.saturating_sub(now));
        out.u8(u8::from(self.dirty_since.is_some()));
        for (id, remote) in self.leading().into_iter().flat_map(|leading| &leading.remotes) {
            if idles(*id) {
                out.u64(u64::MAX);
            } else {
                remote.encode_times(now, lag, out);
            }
        }
    }
}

/// Whether a follower may be in an ISR: live in the metadata, and the process that fetched is the one registered.
fn eligible(id: BrokerId, remote: &Remote, image: &Image) -> bool {
    let same_process = || {
        remote
            .broker_epoch
            .is_some_and(|epoch| epoch == -1 || Some(epoch) == image.broker_epoch(id))
    };
    image.isr_eligible(id) && same_process()
}

impl Fingerprint for Replica {
    fn fingerprint(&self, out: &mut Encoder) {
        self.log.fingerprint(out);
        self.on_host.encode(out);
        out.i32(self.leader_epoch);
        out.i32(self.partition_epoch);
        out.option(self.known_min_isr, Encoder::i64);
        match &self.role {
            Role::Unknown => out.u8(0),
            Role::Follower(leader) => {
                out.u8(1);
                out.option(*leader, |out, id| out.u16(id.0));
            }
            Role::Leader(leading) => {
                out.u8(2);
                leading.encode(out);
            }
        }
    }
}

impl Leading {
    fn encode(&self, out: &mut Encoder) {
        let brokers = |out: &mut Encoder, ids: &[BrokerId]| {
            out.len(ids.len());
            ids.iter().for_each(|id| out.u16(id.0));
        };
        brokers(out, &self.isr);
        out.option(self.pending.as_ref(), |out, pending| brokers(out, &pending.isr));
        out.i64(self.epoch_start);
        out.len(self.remotes.len());
        for (id, remote) in &self.remotes {
            out.u16(id.0);
            remote.encode(out);
        }
    }
}
