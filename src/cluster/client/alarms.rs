//! The deadlines that a client has armed in the world.
//!
//! After each thing it handles a client works out from its state which deadlines can decide something, and this tells
//! the world the difference. So no handler arms or clears a timer by hand, and none is forgotten. Mirrors the time that
//! Kafka's clients pass to `NetworkClient.poll`.
//!
//! Not part of the model: everything here follows from the state.

use crate::cluster::actor::{Cx, Timer};
use crate::cluster::settings::Micros;
use crate::sorted::SortedMap;

/// Deadlines by timer.
pub(super) type Deadlines = SortedMap<Timer, Micros>;

/// What is armed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Alarms {
    armed: Deadlines,
}

impl Alarms {
    /// A timer went off and so is no longer armed.
    pub(super) fn fired(&mut self, timer: Timer) {
        self.armed.remove(&timer);
    }

    /// Whether nothing is armed.
    pub(super) fn is_empty(&self) -> bool {
        self.armed.is_empty()
    }

    /// Arms what is wanted and clears what is not.
    pub(super) fn settle(&mut self, wanted: Deadlines, cx: &mut Cx) {
        for &timer in self.armed.keys() {
            if !wanted.contains_key(&timer) {
                cx.disarm(timer);
            }
        }
        for (&timer, &due) in &wanted {
            if self.armed.get(&timer) != Some(&due) {
                cx.arm(timer, due);
            }
        }
        self.armed = wanted;
    }
}

/// Takes the earlier of what stands there and this.
pub(super) fn earliest(deadlines: &mut Deadlines, timer: Timer, due: Micros) {
    deadlines
        .entry(timer)
        .and_modify(|at| *at = due.min(*at))
        .or_insert(due);
}
