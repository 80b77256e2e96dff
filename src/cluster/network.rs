//! The wires: messages on their way, paths that are cut, messages a fault has condemned.
//!
//! One ordered pair of nodes is one connection and keeps its order. Deliberately absent: bandwidth, packets, and the
//! messages that change nothing (heartbeats that are heard, empty answers to long polls): those are computed.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cluster::ids::Node;
use crate::cluster::message::{Message, MessageKind};
use crate::cluster::settings::Micros;
use crate::sorted::{SortedMap, SortedSet};

/// A message on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct InFlight {
    /// When it left.
    pub sent: Micros,
    /// When it arrives.
    pub due: Micros,
    /// What it is.
    pub message: Message,
}

/// All wires.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Messages by connection, the oldest first. No queue is empty.
    connections: SortedMap<(Node, Node), Arc<VecDeque<InFlight>>>,
    /// Paths on which nothing passes.
    cut: SortedSet<(Node, Node)>,
    /// How many more messages of a kind on a path will be lost.
    condemned: SortedMap<(Node, Node, MessageKind), u32>,
}

impl Network {
    /// Whether messages pass from one node to another.
    pub fn passes(&self, from: Node, to: Node) -> bool {
        !self.cut.contains(&(from, to))
    }

    /// Whether messages pass both ways, which a connection needs.
    pub fn connects(&self, a: Node, b: Node) -> bool {
        self.passes(a, b) && self.passes(b, a)
    }

    /// The paths that are cut, in order.
    pub fn cuts(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.cut.iter().copied()
    }

    /// Messages a fault has condemned: path, kind, how many more.
    pub fn condemned(&self) -> impl Iterator<Item = (Node, Node, MessageKind, u32)> + '_ {
        self.condemned
            .iter()
            .map(|(&(from, to, kind), &left)| (from, to, kind, left))
    }

    /// Everything on the wire: sender, receiver, message; by connection, the oldest first.
    pub fn in_flight(&self) -> impl Iterator<Item = (Node, Node, &InFlight)> + '_ {
        self.connections
            .iter()
            .flat_map(|(&(from, to), queue)| queue.iter().map(move |m| (from, to, m)))
    }

    /// How many messages are on the wire.
    pub fn count(&self) -> usize {
        self.connections.values().map(|queue| queue.len()).sum()
    }

    /// The connections with something on them, each with its first message.
    pub fn heads(&self) -> impl Iterator<Item = (Node, Node, &InFlight)> + '_ {
        self.connections
            .iter()
            .filter_map(|(&(from, to), queue)| Some((from, to, queue.front()?)))
    }

    /// Puts a message behind those that left before it on the same connection.
    pub(crate) fn put(&mut self, from: Node, to: Node, sent: Micros, due: Micros, message: Message) {
        let queue = Arc::make_mut(self.connections.entry((from, to)).or_default());
        let due = queue.back().map_or(due, |last| due.max(last.due));
        queue.push_back(InFlight { sent, due, message });
    }

    /// When the last message on this connection arrives.
    pub(crate) fn last_due(&self, from: Node, to: Node) -> Option<Micros> {
        self.connections.get(&(from, to))?.back().map(|m| m.due)
    }

    /// Takes the first message off a connection.
    pub(crate) fn take(&mut self, from: Node, to: Node) -> Option<InFlight> {
        let queue = self.connections.get_mut(&(from, to))?;
        let first = Arc::make_mut(queue).pop_front();
        if queue.is_empty() {
            self.connections.remove(&(from, to));
        }
        first
    }

    /// Takes everything off a connection.
    pub(crate) fn clear(&mut self, from: Node, to: Node) -> Vec<InFlight> {
        let queue = self.connections.remove(&(from, to));
        queue.map(|q| q.iter().cloned().collect()).unwrap_or_default()
    }

    /// Cuts a path.
    pub(crate) fn cut(&mut self, from: Node, to: Node) {
        self.cut.insert((from, to));
    }

    /// Heals a path; says whether it was cut.
    pub(crate) fn heal(&mut self, from: Node, to: Node) -> bool {
        self.cut.remove(&(from, to))
    }

    /// Condemns the next messages of a kind.
    pub(crate) fn condemn(&mut self, from: Node, to: Node, kind: MessageKind, next: u32) {
        *self.condemned.entry((from, to, kind)).or_default() += next;
    }

    /// Whether the next message of a kind on a path is condemned.
    pub fn condemns(&self, from: Node, to: Node, kind: MessageKind) -> bool {
        self.condemned.contains_key(&(from, to, kind))
    }

    /// Whether this message is condemned; one fewer is afterwards.
    pub(crate) fn is_condemned(&mut self, from: Node, to: Node, kind: MessageKind) -> bool {
        let Some(left) = self.condemned.get_mut(&(from, to, kind)) else {
            return false;
        };
        *left -= 1;
        if *left == 0 {
            self.condemned.remove(&(from, to, kind));
        }
        true
    }
}
