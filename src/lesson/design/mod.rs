//! Designing a topic: how many partitions, replicas and in-sync replicas a need asks for, tried out instead of worked out.
//!
//! A [`Design`] is what somebody chooses, a [`Demand`] what it must stand. A [`Trial`] builds the cluster, writes, strikes
//! every combination of faults up to the number that is asked for, and says of each whether writing goes on and what
//! became of the acknowledged records. The engine's `step` decides all of it; nothing here knows how Kafka answers.
//!
//! Deliberately absent: throughput, which is measured and not computed; racks; and what a screen shows.

mod attack;
mod script;
mod task;
#[cfg(test)]
mod tests;
mod trial;

pub use attack::{Attack, FaultKind, Strike, attacks};
pub use script::scenario;
pub use task::Task;
pub use trial::{Going, Outcome, Trial, Verdict};

/// The most partitions and consumers that are tried.
pub const MOST: u32 = 12;

/// The most brokers that are tried: the combinations of faults grow with the square of their number.
pub const MOST_BROKERS: u32 = 6;

/// The most faults that are combined: with three a page would be busy for minutes.
pub const MOST_FAULTS: u32 = 2;

/// A topic as somebody designs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Design {
    /// How many partitions.
    pub partitions: u32,
    /// The replication factor.
    pub replicas: u32,
    /// `min.insync.replicas`.
    pub min_insync: u32,
}

impl Design {
    /// What it costs: replicas of partitions, each of which somebody must store and copy.
    pub const fn cost(self) -> u32 {
        self.partitions.saturating_mul(self.replicas)
    }
}

/// Where the followers stand when a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followers {
    /// They have kept up.
    InSync,
    /// They have kept up, or else all but those that are struck have fallen out of sync.
    MayBeBehind,
}

/// What a design must stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// How many brokers there are.
    pub brokers: u32,
    /// How many consumers of one group are to have work.
    pub consumers: u32,
    /// How many faults may strike.
    pub faults: u32,
    /// Of which kinds.
    pub kinds: Vec<FaultKind>,
    /// Where the followers may stand then.
    pub followers: Followers,
}

impl Demand {
    /// Why a design cannot be tried under this demand: what is wrong, and what to do.
    pub fn refuses(&self, design: Design) -> Option<String> {
        let Design {
            partitions, replicas, ..
        } = design;
        let number = |what: &str, found: u32, least: u32, most: u32| {
            (!(least..=most).contains(&found)).then(|| format!("{what} is {found}; choose {least} to {most}"))
        };
        number("the number of brokers", self.brokers, 1, MOST_BROKERS)
            .or_else(|| number("the number of consumers", self.consumers, 0, MOST))
            .or_else(|| number("the number of faults", self.faults, 0, MOST_FAULTS))
            .or_else(|| number("the number of partitions", partitions, 1, MOST))
            .or_else(|| number("the replication factor", replicas, 1, self.brokers))
            .or_else(|| number("min.insync.replicas", design.min_insync, 1, MOST))
    }
}
