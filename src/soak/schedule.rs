//! A schedule: what happens, move by move, drawn from a seed before anything is played.

use crate::cluster::chance::Chance;

/// One move of a schedule. A move that cannot apply is passed over, so any part of a schedule is a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The earliest pending thing.
    Next,
    /// A message out of its turn: the one at this place, counted round, among those that could come next.
    OutOfTurn(u32),
    /// The statement at this place of its setting happens.
    Happens(u32),
}

/// What happens, in order.
pub type Schedule = Vec<Move>;

/// How many moves a schedule has.
const LENGTH: usize = 200;

/// Of a hundred moves so many are statements, and so many deliveries out of turn.
const HAPPENS: u32 = 14;
const OUT_OF_TURN: u32 = 8;

/// The schedule of a seed. Of each statement it is said how much of the total weight lies up to it.
pub(super) fn draw(seed: u64, weights: &[u32]) -> Schedule {
    let mut chance = Chance::of(seed, "soak");
    let total = weights.last().copied().unwrap_or(1);
    let mut one = || {
        let drawn = chance.draw();
        let what = drawn % 100;
        if what < HAPPENS {
            let at = chance.draw() % total;
            Move::Happens(weights.partition_point(|&up_to| up_to <= at) as u32)
        } else if what < HAPPENS + OUT_OF_TURN {
            Move::OutOfTurn(drawn / 100)
        } else {
            Move::Next
        }
    };
    (0..LENGTH).map(|_| one()).collect()
}
