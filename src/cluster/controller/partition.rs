//! One partition as the controller has decided it, and a change of it.
//!
//! Everything about a partition is changed by a [`PartitionDelta`] that names only the fields that differ, exactly like
//! the record that a real controller writes into the metadata log. [`Partition::merge`] is the one place where the two
//! epochs grow: the partition epoch with every change, the leader epoch whenever the delta names a leader, be it the
//! same one.
//!
//! Deliberately absent: what the replicas' logs hold. The controller never looks at a log.
//! Mirrors `PartitionRegistration` and `PartitionChangeRecord`.

use crate::cluster::Rule;
use crate::cluster::ids::BrokerId;
use crate::cluster::rules::Rules;
use crate::log::{Encoder, Fingerprint};

/// A broker's data directory. A disk that was formatted anew is another directory, which is how the controller learns
/// that a replica's data is gone. Numbers need only differ between the directories of one broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(pub u32);

/// Whether a leader that was elected uncleanly has reported back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaderRecoveryState {
    /// The leader was elected cleanly, or has recovered since.
    Recovered,
    /// The leader was elected uncleanly and has not said that it has recovered.
    Recovering,
}

impl LeaderRecoveryState {
    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            LeaderRecoveryState::Recovered => "RECOVERED",
            LeaderRecoveryState::Recovering => "RECOVERING",
        }
    }

    /// The state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [LeaderRecoveryState::Recovered, LeaderRecoveryState::Recovering]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// What Kafka keeps in `lastKnownElr`: who led when the partition lost its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LastKnownLeader {
    /// The list is empty.
    Unknown,
    /// The list holds the last leader.
    Broker(BrokerId),
    /// The list holds −1: a partition that had no leader already lost a replica of its assignment.
    Nobody,
}

/// A partition's registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The assignment, those being added and removed included. Elections go in this order; the first is preferred.
    pub replicas: Vec<BrokerId>,
    /// The data directory of each replica, in the order of `replicas`.
    pub directories: Vec<DirectoryId>,
    /// The in-sync replicas in the order in which they were stored, which decides nothing.
    pub isr: Vec<BrokerId>,
    /// The eligible leader replicas (KIP-966), ascending.
    pub elr: Vec<BrokerId>,
    /// Who led last, when nobody leads.
    pub last_known_leader: LastKnownLeader,
    /// The leader, if somebody leads.
    pub leader: Option<BrokerId>,
    /// Grows when the leader changes (also to nobody) and when a replica leaves the assignment.
    pub leader_epoch: i32,
    /// Grows with every change.
    pub partition_epoch: i32,
    /// Whether the leader has recovered from an unclean election.
    pub recovery: LeaderRecoveryState,
    /// Replicas that a reassignment adds, ascending.
    pub adding: Vec<BrokerId>,
    /// Replicas that a reassignment removes, ascending.
    pub removing: Vec<BrokerId>,
}

/// A change of a partition: the fields that differ, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionDelta {
    /// The new assignment.
    pub replicas: Option<Vec<BrokerId>>,
    /// The new directories; given with every new assignment.
    pub directories: Option<Vec<DirectoryId>>,
    /// The new ISR.
    pub isr: Option<Vec<BrokerId>>,
    /// The new ELR.
    pub elr: Option<Vec<BrokerId>>,
    /// The new last known leader.
    pub last_known_leader: Option<LastKnownLeader>,
    /// The new leader; the leader epoch grows even if it is the old one.
    pub leader: Option<Option<BrokerId>>,
    /// The new recovery state.
    pub recovery: Option<LeaderRecoveryState>,
    /// The new replicas being added.
    pub adding: Option<Vec<BrokerId>>,
    /// The new replicas being removed.
    pub removing: Option<Vec<BrokerId>>,
}

impl PartitionDelta {
    /// Whether nothing would change, so that no record is written and no epoch grows.
    pub fn is_empty(&self) -> bool {
        *self == PartitionDelta::default()
    }
}

impl Partition {
    /// A new partition: in sync are those of its replicas that are `active`, in assignment order, and the first leads.
    pub(super) fn new(replicas: Vec<BrokerId>, directories: Vec<DirectoryId>, active: Vec<BrokerId>) -> Self {
        Partition {
            replicas,
            directories,
            leader: active.first().copied(),
            isr: active,
            elr: Vec::new(),
            last_known_leader: LastKnownLeader::Unknown,
            leader_epoch: 0,
            partition_epoch: 0,
            recovery: LeaderRecoveryState::Recovered,
            adding: Vec::new(),
            removing: Vec::new(),
        }
    }

    /// The partition after a change, by the rules in force.
    #[must_use]
    pub fn merge(&self, delta: &PartitionDelta, rules: Rules) -> Partition {
        let new_epoch = delta.leader.is_some() && rules.on(Rule::ElectEpoch);
        Partition {
            replicas: delta.replicas.as_ref().unwrap_or(&self.replicas).clone(),
            directories: delta.directories.as_ref().unwrap_or(&self.directories).clone(),
            isr: delta.isr.as_ref().unwrap_or(&self.isr).clone(),
            elr: delta.elr.as_ref().unwrap_or(&self.elr).clone(),
            last_known_leader: delta.last_known_leader.unwrap_or(self.last_known_leader),
            leader: delta.leader.unwrap_or(self.leader),
            leader_epoch: self.leader_epoch + i32::from(new_epoch),
            partition_epoch: self.partition_epoch + 1,
            recovery: delta.recovery.unwrap_or(self.recovery),
            adding: delta.adding.as_ref().unwrap_or(&self.adding).clone(),
            removing: delta.removing.as_ref().unwrap_or(&self.removing).clone(),
        }
    }

    /// The first replica of the assignment.
    pub fn preferred(&self) -> Option<BrokerId> {
        self.replicas.first().copied()
    }

    /// Whether the preferred replica leads.
    pub fn has_preferred_leader(&self) -> bool {
        self.leader == self.preferred()
    }

    /// Whether replicas are being added or removed.
    pub fn is_reassigning(&self) -> bool {
        !self.adding.is_empty() || !self.removing.is_empty()
    }

    /// The directory in which the controller believes a broker's replica to be.
    pub fn directory(&self, broker: BrokerId) -> Option<DirectoryId> {
        let at = self.replicas.iter().position(|&replica| replica == broker)?;
        self.directories.get(at).copied()
    }
}

impl Fingerprint for Partition {
    fn fingerprint(&self, encoder: &mut Encoder) {
        encoder.len(self.replicas.len());
        for (replica, directory) in self.replicas.iter().zip(&self.directories) {
            encoder.u16(replica.0);
            encoder.u32(directory.0);
        }
        for list in [&self.isr, &self.elr, &self.adding, &self.removing] {
            encoder.len(list.len());
            list.iter().for_each(|broker| encoder.u16(broker.0));
        }
        match self.last_known_leader {
            LastKnownLeader::Unknown => encoder.u8(0),
            LastKnownLeader::Broker(broker) => {
                encoder.u8(1);
                encoder.u16(broker.0);
            }
            LastKnownLeader::Nobody => encoder.u8(2),
        }
        encoder.option(self.leader, |encoder, leader| encoder.u16(leader.0));
        encoder.i32(self.leader_epoch);
        encoder.i32(self.partition_epoch);
        encoder.u8(u8::from(self.recovery == LeaderRecoveryState::Recovering));
    }
}
