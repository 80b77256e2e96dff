//! Numbers that look random and are the same each time.

/// A plain sequence of numbers.
pub struct Dice(pub u64);

#[allow(dead_code, reason = "each test that rolls them uses some of it")]
impl Dice {
    /// A number from 0 to below the limit; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// A number from the first to the last, both included.
    pub fn between(&mut self, first: i64, last: i64) -> i64 {
        first + self.below((last - first + 1).max(1) as usize) as i64
    }

    /// Whether something happens that does in so many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some things.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
