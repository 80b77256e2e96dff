//! Every combination of faults that a demand speaks of.
//!
//! Faults strike one after another in every order, with time for the cluster to settle in between; and, where followers
//! may be behind, all at once while whoever is not struck has fallen out of sync: then the struck ones alone hold what was
//! acknowledged last. No broker is struck twice. Deliberately absent: what comes of it.

use std::fmt;

use super::{Demand, Followers};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The process ends; page cache and disk stay.
    Kill,
    /// The host loses its power: what was not flushed is gone.
    PowerOff,
    /// The process ends and the disk is lost.
    Wipe,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 3] = [FaultKind::Kill, FaultKind::PowerOff, FaultKind::Wipe];

    /// Its word in the language.
    pub const fn word(self) -> &'static str {
        match self {
            FaultKind::Kill => "kill",
            FaultKind::PowerOff => "power-off",
            FaultKind::Wipe => "wipe",
        }
    }
}

/// A fault of one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// The broker.
    pub broker: u32,
    /// What happens to it.
    pub kind: FaultKind,
}

impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.word(), self.broker)
    }
}

/// A combination of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attack {
    /// One after another.
    InTurn(Vec<Strike>),
    /// All at once, when all other brokers have fallen behind these.
    OthersBehind(Vec<Strike>),
}

impl Attack {
    /// Its faults, in the order in which they strike.
    pub fn strikes(&self) -> &[Strike] {
        match self {
            Attack::InTurn(strikes) | Attack::OthersBehind(strikes) => strikes,
        }
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.strikes().iter().map(Strike::to_string).collect();
        match self {
            Attack::InTurn(strikes) if strikes.is_empty() => f.write_str("no fault"),
            Attack::InTurn(_) => f.write_str(&words.join(", then ")),
            Attack::OthersBehind(_) => write!(f, "the others behind, {}", words.join(" and ")),
        }
    }
}

/// All attacks of a demand: the one without a fault, then the hardest, so that a design that does not stand is soon found
/// out. Those that begin alike stand together.
pub fn attacks(demand: &Demand) -> Vec<Attack> {
    let mut all = vec![Attack::InTurn(Vec::new())];
    if demand.followers == Followers::MayBeBehind {
        for brokers in sets(demand) {
            for strikes in kinds_of(&brokers, &demand.kinds) {
                all.push(Attack::OthersBehind(strikes));
            }
        }
    }
    in_turn(demand, &[], &mut all);
    all
}

/// Every way to go on from some strikes.
fn in_turn(demand: &Demand, before: &[Strike], all: &mut Vec<Attack>) {
    if before.len() as u32 == demand.faults {
        return;
    }
    for broker in (1..=demand.brokers).filter(|broker| before.iter().all(|strike| strike.broker != *broker)) {
        for kind in demand.kinds.iter().copied() {
            let strikes = [before, &[Strike { broker, kind }]].concat();
            all.push(Attack::InTurn(strikes.clone()));
            in_turn(demand, &strikes, all);
        }
    }
}

/// Every set of brokers that may be struck together, ascending.
fn sets(demand: &Demand) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new()];
    for broker in 1..=demand.brokers {
        let grown = all.iter().filter(|set| (set.len() as u32) < demand.faults);
        let grown: Vec<Vec<u32>> = grown.map(|set| [set.as_slice(), &[broker]].concat()).collect();
        all.extend(grown);
    }
    all.retain(|set| !set.is_empty());
    all
}

/// Every choice of a kind for each of these brokers.
fn kinds_of(brokers: &[u32], kinds: &[FaultKind]) -> Vec<Vec<Strike>> {
    brokers.iter().fold(vec![Vec::new()], |all, broker| {
        let more = |before: &Vec<Strike>| {
            let before = before.clone();
            let struck = |kind: &FaultKind| {
                let strike = Strike {
                    broker: *broker,
                    kind: *kind,
                };
                [before.as_slice(), &[strike]].concat()
            };
            kinds.iter().map(struck).collect::<Vec<_>>()
        };
        all.iter().flat_map(more).collect()
    })
}
