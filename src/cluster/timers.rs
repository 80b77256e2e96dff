//! The deadlines that are armed, by node and timer.
//!
//! There are few, since only what can decide something is armed: a sorted list, scanned for its earliest, beats a heap
//! and stays canonical.

use crate::cluster::actor::Timer;
use crate::cluster::ids::Node;
use crate::cluster::settings::Micros;

/// All armed deadlines, sorted by node and timer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers(Vec<(Node, Timer, Micros)>);

impl Timers {
    fn position(&self, node: Node, timer: Timer) -> Result<usize, usize> {
        self.0.binary_search_by(|(n, t, _)| (n, t).cmp(&(&node, &timer)))
    }

    /// Sets a timer; one that is set already is moved.
    pub(crate) fn arm(&mut self, node: Node, timer: Timer, due: Micros) {
        match self.position(node, timer) {
            Ok(at) => self.0[at].2 = due,
            Err(at) => self.0.insert(at, (node, timer, due)),
        }
    }

    /// Sets the timer of something periodic to its next tick. A tick that is due is not put off by what else happens at
    /// that very moment: it stays until it has been taken.
    pub(crate) fn arm_tick(&mut self, node: Node, timer: Timer, due: Micros, now: Micros) {
        match self.position(node, timer) {
            Ok(at) if self.0[at].2 <= now => {}
            Ok(at) => self.0[at].2 = due,
            Err(at) => self.0.insert(at, (node, timer, due)),
        }
    }

    /// Clears a timer; says whether it was set.
    pub(crate) fn disarm(&mut self, node: Node, timer: Timer) -> bool {
        self.position(node, timer).map(|at| self.0.remove(at)).is_ok()
    }

    /// Clears all timers of a node.
    pub(crate) fn clear(&mut self, node: Node) {
        self.0.retain(|(n, _, _)| *n != node);
    }

    /// When a timer is due, if it is set.
    pub fn due(&self, node: Node, timer: Timer) -> Option<Micros> {
        self.position(node, timer).ok().map(|at| self.0[at].2)
    }

    /// All of them, by node and timer.
    pub fn iter(&self) -> impl Iterator<Item = (Node, Timer, Micros)> + '_ {
        self.0.iter().copied()
    }
}
