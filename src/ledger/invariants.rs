//! Named invariants: whether each has held after every step so far, and what broke it first.
//!
//! Those that speak of what clients were told or read stand here; those over the model alone are
//! remembered here beside them. Some settings break some of
//! them rightly (`acks=1`, an unclean election, a lost disk): they are shown green or red, never asserted.

use std::collections::{BTreeMap, BTreeSet};

use super::When;
use crate::cluster::event::Tag;
use crate::cluster::ids::TopicPartition;

/// What has to be looked at after a step, and what was found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts {
    /// Partitions that lost a copy or changed their leader since the last look.
    shaken: BTreeSet<TopicPartition>,
    /// Records acknowledged since the last look.
    fresh: Vec<Tag>,
    first_broken: BTreeMap<&'static str, Broken>,
}

/// The first time that an invariant did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// After which step.
    pub when: When,
    /// What was found, in words.
    pub what: String,
}

impl Verdicts {
    pub fn shaken(&mut self, partition: TopicPartition) {
        self.shaken.insert(partition);
    }

    pub fn acknowledged(&mut self, tag: Tag) {
        self.fresh.push(tag);
    }
}
