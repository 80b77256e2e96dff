//! What worlds of brokers and producers alone do without: consumers, groups, compaction, most acts. It may be linked later
//! than the rest ([`linked`](crate::linked)).
//!
//! Consumers and shards of groups come into a world by an act of this table and bring their code along
//! ([`Reader`](super::client::Reader), [`Coordinator`](super::broker::Coordinator)). Deliberately absent: what the landing's
//! world does, which is called directly.

use crate::cluster::actor::Cx;
use crate::cluster::broker::{COORDINATION, Coordination, Process};
use crate::cluster::input::{Input, Refused};
use crate::cluster::step::Doing;
use crate::cluster::{act, contact};
use crate::linked::linked;

/// The functions.
pub(crate) struct Later {
    /// Performs an act that the landing does without.
    pub perform: fn(&mut Doing<'_>, Input) -> Result<(), Refused>,
    /// Looks at who of each group is heard.
    pub keep_contact: fn(&mut Doing<'_>),
    /// What brokers do for groups.
    pub groups: Coordination,
    /// A broker's cleaner works off what there is to clean.
    pub clean: fn(&mut Process, &mut Cx<'_>),
    /// From when on (wall clock, milliseconds) a broker's cleaner has something to do.
    pub next_cleaning: fn(&mut Process) -> Option<i64>,
}

static ALL: Later = Later {
    perform: act::perform_any,
    keep_contact: contact::keep,
    groups: COORDINATION,
    clean: Process::run_cleaner,
    next_cleaning: Process::next_cleaning,
};

linked!(ALL: Later);
