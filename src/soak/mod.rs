//! The soak: random schedules of faults, writes and deliveries out of turn, and whether they break what a setting promises.
//!
//! A [`Setting`] is a cluster, what may happen to it, and what it promises: the strong ones keep every acknowledged record,
//! the weak ones are known to lose some. A schedule is drawn from a seed, so that a seed is all that a report needs. What
//! breaks is shrunk by leaving out whatever is not needed, and written down as a scenario that shows the loss.
//!
//! Native only: the page searches nothing. Deliberately absent: clocks and files (whoever calls decides how long), and
//! exhaustive search: chance goes deep, not everywhere.

mod arena;
mod play;
mod schedule;
mod setting;
mod shrink;
#[cfg(test)]
mod tests;

pub use arena::{Arena, Hunt};
pub use play::Broken;
pub use schedule::{Move, Schedule};
pub use setting::{BREAK, KEEP, Promise, Setting};
pub use shrink::Found;
