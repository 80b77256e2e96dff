//! Chance, where Kafka has it: every draw comes from the seed, the actor's name and the actor's own counter.
//!
//! So adding an actor does not change another's draws, and the same scenario draws the same on every machine.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One actor's source of chance. The counter is part of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chance {
    seed: u64,
    drawn: u32,
}

impl Chance {
    /// The source of the actor with this name.
    pub fn of(seed: u64, actor: &str) -> Chance {
        Chance {
            seed: xxh3_64_with_seed(actor.as_bytes(), seed),
            drawn: 0,
        }
    }

    /// The next number, non-negative and 31 bits wide like Kafka's draws.
    pub fn draw(&mut self) -> u32 {
        let bits = xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.seed);
        self.drawn += 1;
        (bits >> 33) as u32
    }

    /// How many numbers were drawn so far.
    pub fn drawn(&self) -> u32 {
        self.drawn
    }
}
