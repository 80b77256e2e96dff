//! How one change of a partition is worked out, step by step in the order in which the controller does it.
//!
//! A caller says what change it wants (another ISR, another assignment, an election), and `ChangeBuilder::build`
//! works out everything that follows from it: a finished reassignment, the eligible leader replicas, the election, the
//! last known leader. The order of the steps is part of the rule. No difference means no change at all.
//!
//! Deliberately absent: metadata versions before 3.6, in which a shrinking ISR raised the leader epoch.
//! Mirrors `PartitionChangeBuilder`.

use crate::cluster::Rule;
use crate::cluster::controller::partition::{
    DirectoryId, LastKnownLeader, LeaderRecoveryState, Partition, PartitionDelta,
};
use crate::cluster::controller::reassign::Reassignment;
use crate::cluster::ids::BrokerId;
use crate::cluster::rules::Rules;
use crate::sorted::SortedSet;

/// Which replicas an election may choose from, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Election {
    /// The leader stays if it may; otherwise the first valid replica in assignment order.
    Online,
    /// The first replica of the assignment if it may; otherwise as [`Election::Online`].
    Preferred,
    /// As [`Election::Online`], and if nobody may, the first replica that is alive, in sync or not.
    Unclean,
}

/// What a builder must know of the cluster around its partition.
pub(super) struct Surroundings<'a> {
    /// Whether a broker may lead this partition, in sync or not: alive, and its data directory is the one it reported.
    pub acceptable: &'a dyn Fn(BrokerId) -> bool,
    /// The directory that a broker's new replicas go to.
    pub default_directory: &'a dyn Fn(BrokerId) -> Option<DirectoryId>,
    /// The effective `min.insync.replicas`.
    pub min_isr: usize,
    /// Whether eligible leader replicas are kept (KIP-966).
    pub elr: ElrFeature,
    /// The rules in force.
    pub rules: Rules,
}

/// The cluster's `eligible.leader.replicas.version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElrFeature {
    /// Version 0: no ELR is kept.
    Off,
    /// Version 1: replicas that leave an ISR below the minimum stay eligible.
    On,
}

/// A change in the making.
pub(super) struct ChangeBuilder<'a> {
    partition: &'a Partition,
    around: Surroundings<'a>,
    election: Election,
    /// The rule that asked for another ISR, if one did.
    isr_rule: Option<Rule>,
    target_isr: Vec<BrokerId>,
    target_replicas: Vec<BrokerId>,
    target_removing: Vec<BrokerId>,
    target_adding: Vec<BrokerId>,
    target_elr: Vec<BrokerId>,
    target_recovery: LeaderRecoveryState,
    unclean_shutdown: Option<BrokerId>,
    new_directory: Option<(BrokerId, DirectoryId)>,
    delta: PartitionDelta,
    rules: Vec<Rule>,
}

/// Whom an election chose.
struct Elected {
    node: Option<BrokerId>,
    rule: Rule,
}

impl Elected {
    fn is_unclean(&self) -> bool {
        matches!(self.rule, Rule::ElectLastKnown | Rule::ElectUnclean)
    }
}

impl<'a> ChangeBuilder<'a> {
    /// A builder that wants nothing but an [`Election::Online`].
    pub fn new(partition: &'a Partition, around: Surroundings<'a>) -> Self {
        ChangeBuilder {
            partition,
            around,
            election: Election::Online,
            isr_rule: None,
            target_isr: partition.isr.clone(),
            target_replicas: partition.replicas.clone(),
            target_removing: partition.removing.clone(),
            target_adding: partition.adding.clone(),
            target_elr: partition.elr.clone(),
            target_recovery: partition.recovery,
            unclean_shutdown: None,
            new_directory: None,
            delta: PartitionDelta::default(),
            rules: Vec::new(),
        }
    }

    /// Asks for an election of this kind.
    pub fn election(mut self, election: Election) -> Self {
        self.election = election;
        self
    }

    /// Asks for this ISR, because of a rule.
    pub fn isr(mut self, isr: Vec<BrokerId>, rule: Rule) -> Self {
        self.isr_rule = (isr != self.partition.isr).then_some(rule);
        self.target_isr = isr;
        self
    }

    /// A broker that came back without having stopped cleanly: it leaves the ELR.
    pub fn unclean_shutdown(mut self, broker: BrokerId) -> Self {
        self.unclean_shutdown = Some(broker);
        self
    }

    /// Asks for this recovery state.
    pub fn recovery(mut self, state: LeaderRecoveryState) -> Self {
        self.target_recovery = state;
        self
    }

    /// Asks for this assignment.
    pub fn assignment(mut self, wanted: Reassignment) -> Self {
        self.target_replicas = wanted.replicas;
        self.target_adding = wanted.adding;
        self.target_removing = wanted.removing;
        self.rules.push(Rule::Reassignment);
        self
    }

    /// Asks for a replica's data directory to be another one.
    pub fn directory(mut self, broker: BrokerId, directory: DirectoryId) -> Self {
        self.new_directory = Some((broker, directory));
        self
    }

    /// Works out the change and the rules that decided it, or nothing if nothing changes.
    pub fn build(mut self) -> Option<(PartitionDelta, Vec<Rule>)> {
        self.complete_reassignment();
        self.populate_elr();
        self.elect();
        self.bump_leader_epoch_for_removed_replica();
        self.record_elr();
        self.record_isr();
        self.record_last_known_leader();
        self.record_assignment();
        if self.target_recovery != self.partition.recovery {
            self.delta.recovery = Some(self.target_recovery);
        }
        (!self.delta.is_empty()).then_some((self.delta, self.rules))
    }

    fn complete_reassignment(&mut self) {
        let wanted = Reassignment {
            replicas: self.target_replicas.clone(),
            adding: self.target_adding.clone(),
            removing: self.target_removing.clone(),
        };
        let done = if self.around.rules.on(Rule::Reassignment) {
            wanted.completed(&self.target_isr)
        } else {
            wanted.at_once(&self.target_isr)
        };
        if let Some(done) = done {
            self.target_isr = done.isr;
            self.target_replicas = done.replicas;
            self.target_adding = Vec::new();
            self.target_removing = Vec::new();
            if !self.rules.contains(&Rule::Reassignment) {
                self.rules.push(Rule::Reassignment);
            }
        }
    }

    /// Below the minimum, whoever was in sync or eligible and is not in sync any more stays eligible.
    fn populate_elr(&mut self) {
        if self.around.elr == ElrFeature::Off {
            return;
        }
        let enough = self.target_isr.len() >= self.around.min_isr;
        if enough && self.around.rules.on(Rule::ElrLeave) {
            self.target_elr = Vec::new();
            return;
        }
        let enters = !enough && self.around.rules.on(Rule::ElrEnter);
        let new = self.partition.isr.iter().filter(|_| enters);
        let candidates: SortedSet<BrokerId> = self.target_elr.iter().chain(new).copied().collect();
        self.target_elr = candidates
            .into_iter()
            .filter(|broker| !self.target_isr.contains(broker) && self.unclean_shutdown != Some(*broker))
            .collect();
    }

    fn elect(&mut self) {
        let elected = self.choose();
        if elected.node == self.partition.leader {
            return;
        }
        if let Some(node) = elected.node.filter(|node| self.target_elr.contains(node)) {
            self.target_isr = vec![node];
            self.target_elr.retain(|&broker| broker != node);
        }
        if elected.is_unclean() {
            self.delta.isr = Some(elected.node.into_iter().collect());
            if self.partition.recovery != LeaderRecoveryState::Recovering {
                self.delta.recovery = Some(LeaderRecoveryState::Recovering);
            }
        }
        self.delta.leader = Some(elected.node);
        self.rules.push(elected.rule);
    }

    fn choose(&self) -> Elected {
        let clean = match self.election {
            Election::Preferred => self.choose_preferred(),
            Election::Online | Election::Unclean => self.choose_online(&self.target_replicas),
        };
        if let Some(elected) = clean {
            return elected;
        }
        if let Some(node) = self.last_known_leader() {
            return Elected {
                node: Some(node),
                rule: Rule::ElectLastKnown,
            };
        }
        let alive = self
            .target_replicas
            .iter()
            .copied()
            .find(|&replica| (self.around.acceptable)(replica));
        let unclean = self.election == Election::Unclean && self.around.rules.on(Rule::ElectUnclean);
        match alive.filter(|_| unclean) {
            Some(node) => Elected {
                node: Some(node),
                rule: Rule::ElectUnclean,
            },
            None => Elected {
                // Without the rule a leader stays in office, dead as it is.
                node: self
                    .partition
                    .leader
                    .filter(|_| !self.around.rules.on(Rule::ElectNobody)),
                rule: Rule::ElectNobody,
            },
        }
    }

    fn choose_preferred(&self) -> Option<Elected> {
        let (&first, rest) = self.target_replicas.split_first()?;
        if self.is_valid(first) && self.around.rules.on(Rule::ElectPreferred) {
            return Some(Elected {
                node: Some(first),
                rule: Rule::ElectPreferred,
            });
        }
        self.choose_online(rest)
    }

    fn choose_online(&self, replicas: &[BrokerId]) -> Option<Elected> {
        let stays = self.partition.leader.filter(|&leader| self.is_valid(leader));
        let mut others = replicas
            .iter()
            .copied()
            .filter(|&replica| self.around.rules.on(self.rule_for(replica)));
        let node = stays.or_else(|| others.find(|&replica| self.is_valid(replica)))?;
        let rule = self.rule_for(node);
        Some(Elected { node: Some(node), rule })
    }

    /// The rule by which a valid replica may lead.
    fn rule_for(&self, replica: BrokerId) -> Rule {
        if self.target_isr.contains(&replica) {
            Rule::ElectIsr
        } else {
            Rule::ElectElr
        }
    }

    /// Whether a replica may lead without loss: in sync, or eligible when nobody is in sync; and alive.
    fn is_valid(&self, replica: BrokerId) -> bool {
        let stands = if self.target_isr.is_empty() {
            &self.target_elr
        } else {
            &self.target_isr
        };
        stands.contains(&replica) && (self.around.acceptable)(replica)
    }

    fn last_known_leader(&self) -> Option<BrokerId> {
        let nobody_stands = self.target_isr.is_empty() && self.target_elr.is_empty();
        if self.around.elr == ElrFeature::Off || !nobody_stands || !self.around.rules.on(Rule::ElectLastKnown) {
            return None;
        }
        match self.partition.last_known_leader {
            LastKnownLeader::Broker(broker) => Some(broker).filter(|&broker| (self.around.acceptable)(broker)),
            LastKnownLeader::Unknown | LastKnownLeader::Nobody => None,
        }
    }

    /// A replica that leaves the assignment must be shut out, so the epoch grows even if the leader stays.
    fn bump_leader_epoch_for_removed_replica(&mut self) {
        let all_stay = self
            .partition
            .replicas
            .iter()
            .all(|replica| self.target_replicas.contains(replica));
        if self.delta.leader.is_none() && !all_stay {
            self.delta.leader = Some(self.partition.leader);
        }
    }

    fn record_elr(&mut self) {
        if self.delta.isr.is_some() || self.around.elr == ElrFeature::Off {
            self.target_elr = Vec::new();
        }
        if self.target_elr == self.partition.elr {
            return;
        }
        let entered = self
            .target_elr
            .iter()
            .any(|broker| !self.partition.elr.contains(broker));
        let elected = self.delta.leader.flatten();
        if entered {
            self.rules.push(Rule::ElrEnter);
        } else if self.partition.elr.iter().any(|&broker| Some(broker) != elected) {
            self.rules.push(Rule::ElrLeave);
        }
        self.delta.elr = Some(self.target_elr.clone());
    }

    /// Without ELR the last member of an ISR stays in it even when it is gone, so an empty ISR is never stored.
    fn record_isr(&mut self) {
        let storable = !self.target_isr.is_empty() || self.around.elr == ElrFeature::On;
        if self.delta.isr.is_none() && storable && self.target_isr != self.partition.isr {
            self.delta.isr = Some(self.target_isr.clone());
        }
        if let Some(rule) = self
            .isr_rule
            .filter(|rule| self.delta.isr.is_some() && !self.rules.contains(rule))
        {
            self.rules.insert(0, rule);
        }
    }

    fn record_last_known_leader(&mut self) {
        if self.around.elr == ElrFeature::Off {
            return;
        }
        match (self.delta.leader, self.partition.last_known_leader) {
            (Some(None), LastKnownLeader::Unknown) => {
                let last = self
                    .partition
                    .leader
                    .map_or(LastKnownLeader::Nobody, LastKnownLeader::Broker);
                self.delta.last_known_leader = Some(last);
            }
            (Some(Some(_)), LastKnownLeader::Broker(_) | LastKnownLeader::Nobody) => {
                self.delta.last_known_leader = Some(LastKnownLeader::Unknown);
            }
            _ => {}
        }
    }

    fn record_assignment(&mut self) {
        let directories: Vec<DirectoryId> = self
            .target_replicas
            .iter()
            .filter_map(|&replica| self.target_directory(replica))
            .collect();
        if directories != self.partition.directories {
            if self.new_directory.is_some() {
                self.rules.push(Rule::Directory);
            }
            self.delta.directories = Some(directories);
        }
        if self.target_replicas != self.partition.replicas {
            self.delta.replicas = Some(self.target_replicas.clone());
        }
        if self.target_removing != self.partition.removing {
            self.delta.removing = Some(self.target_removing.clone());
        }
        if self.target_adding != self.partition.adding {
            self.delta.adding = Some(self.target_adding.clone());
        }
    }

    fn target_directory(&self, replica: BrokerId) -> Option<DirectoryId> {
        match self.new_directory {
            Some((broker, directory)) if broker == replica => Some(directory),
            _ => self
                .partition
                .directory(replica)
                .or_else(|| (self.around.default_directory)(replica)),
        }
    }
}
