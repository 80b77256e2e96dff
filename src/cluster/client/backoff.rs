//! How long a client waits before it tries again.
//!
//! Exponential with jitter, as `ExponentialBackoff`: `initial × 2^attempts`, ±20 %, never above the longest. Kafka draws
//! the jitter anew at every look; here it is drawn once for each wait, which nobody can tell apart.

use crate::cluster::chance::Chance;
use crate::cluster::settings::{Micros, from_millis};

/// Jitter in percent (`CommonClientConfigs.RETRY_BACKOFF_JITTER`).
const JITTER: u64 = 20;

/// The wait before a retry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    initial: Micros,
    longest: Micros,
}

impl Backoff {
    /// From `retry.backoff.ms` and `retry.backoff.max.ms`.
    pub(super) fn new(initial_ms: i64, longest_ms: i64) -> Backoff {
        Backoff {
            initial: from_millis(initial_ms),
            longest: from_millis(longest_ms),
        }
    }

    /// The longest wait.
    pub(super) fn longest(self) -> Micros {
        self.longest
    }

    /// The wait after so many earlier attempts, before jitter.
    pub(super) fn plain(self, attempts: u32) -> Micros {
        let factor = 1u64.checked_shl(attempts.min(40)).unwrap_or(u64::MAX);
        self.initial.saturating_mul(factor).min(self.longest)
    }

    /// The wait after so many earlier attempts.
    pub(super) fn draw(self, attempts: u32, chance: &mut Chance) -> Micros {
        let plain = self.plain(attempts);
        let spread = plain / 100 * JITTER;
        let low = plain - spread;
        let drawn = u128::from(chance.draw()) * u128::from(2 * spread) / (u128::from(u32::MAX >> 1) + 1);
        (low + drawn as Micros).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::settings::FOREVER;

    /// Microseconds in a millisecond.
    const MS: Micros = 1_000;

    #[test]
    fn doubles_up_to_the_longest_within_a_fifth() {
        let backoff = Backoff::new(100, 1_000);
        let mut chance = Chance::of(0, "p");
        for (attempts, plain) in [(0, 100), (1, 200), (2, 400), (3, 800), (4, 1_000), (60, 1_000)] {
            assert_eq!(backoff.plain(attempts), plain * MS);
            let drawn = backoff.draw(attempts, &mut chance);
            assert!(
                drawn >= plain * MS * 8 / 10 && drawn <= (plain * MS * 12 / 10).min(1_000 * MS),
                "{drawn}"
            );
        }
        assert_eq!(chance.drawn(), 6);
    }

    #[test]
    fn a_longest_below_the_initial_wins() {
        assert_eq!(Backoff::new(500, 100).plain(0), 100 * MS);
    }

    #[test]
    fn the_longest_wait_that_can_be_set_is_drawn_too() {
        let backoff = Backoff::new(i64::MAX, i64::MAX);
        let drawn = backoff.draw(60, &mut Chance::of(0, "p"));
        assert!((FOREVER / 100 * 80..=FOREVER).contains(&drawn), "{drawn}");
    }
}
