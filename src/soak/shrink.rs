//! Leaving out of a schedule what is not needed to break something, and writing the rest down as a scenario.

use std::fmt;

use crate::scenario::ast::Statement;

use super::arena::Arena;
use super::play::{Broken, Play};
use super::schedule::{Move, Schedule};

/// A schedule that breaks something.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// What is left of it.
    pub schedule: Schedule,
    /// What it breaks.
    pub broken: Broken,
    setting: &'static super::Setting,
    statements: Vec<Statement>,
}

/// Shrinks a schedule that breaks something as long as leaving out a part of it still breaks something of the kind.
pub(super) fn shrunk(arena: &Arena, seed: u64, schedule: &[Move], broken: Broken) -> Found {
    let (mut left, mut broken) = (schedule.to_vec(), broken);
    let mut part = left.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        while at < left.len() {
            let mut without = left.clone();
            without.drain(at..(at + part).min(left.len()));
            match arena.play(&without) {
                Some((still, moves)) if still.is_like(&broken) => {
                    without.truncate(moves);
                    (left, broken) = (without, still);
                }
                _ => at += part,
            }
        }
        part /= 2;
    }
    let mut play = Play::new(arena);
    play.told = Some(Vec::new());
    left.iter().for_each(|&next| play.perform(next));
    Found {
        seed,
        schedule: left,
        broken,
        setting: arena.setting,
        statements: play.told.unwrap_or_default(),
    }
}

impl Broken {
    /// Whether the same promise is broken.
    fn is_like(&self, other: &Broken) -> bool {
        match (self, other) {
            (Broken::Lost(..), Broken::Lost(..)) => true,
            (Broken::Invariant(a, _), Broken::Invariant(b, _)) => a == b,
            _ => false,
        }
    }
}

/// As a scenario whose last expectation does not hold.
impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Found by the soak: {}, seed {}.", self.setting.name, self.seed)?;
        for line in self.setting.begins {
            writeln!(f, "{line}")?;
        }
        for statement in &self.statements {
            writeln!(f, "{statement}")?;
        }
        match &self.broken {
            Broken::Lost(..) => writeln!(f, "expect lost = 0"),
            Broken::Invariant(name, what) => writeln!(f, "# {what}\nexpect invariant {name} = holds"),
        }
    }
}
