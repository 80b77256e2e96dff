//! What the world was told once and for all, or by an operator: names, configs, latencies, the seed.
//!
//! Settings change only by an operator's input, so they live behind one `Arc` that every snapshot shares.
//! Configs change at once and everywhere: the delay with which a real broker learns of a dynamic config is left out.

use std::sync::Arc;

use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicId};
use crate::config::{BrokerConfig, TopicConfig};
use crate::sorted::SortedMap;

/// Virtual time since the start, in microseconds.
pub type Micros = u64;

/// The last virtual time there is, as far from the start as the end of the year 9999 from 1970: nothing happens after it.
/// It is so far below what the number can hold that a time and some spans are added without a care.
pub const LAST_TIME: Micros = 253_402_300_799_999_000;

/// A span after which nothing happens any more. None is longer, whatever a config or a statement says.
pub const FOREVER: Micros = LAST_TIME + 1;

/// A config's milliseconds as virtual time: less than nothing is none, and nothing is longer than [`FOREVER`].
pub const fn from_millis(ms: i64) -> Micros {
    match ms {
        ..=0 => 0,
        _ => forever_at_most((ms as Micros).saturating_mul(1_000)),
    }
}

/// A span that is no longer than [`FOREVER`].
pub const fn forever_at_most(span: Micros) -> Micros {
    if span < FOREVER { span } else { FOREVER }
}

/// One-way latency between two nodes when no statement says otherwise.
pub const DEFAULT_LATENCY: Micros = 1_000;

/// What an append and an fsync cost on a broker's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Time of an append to the page cache, in microseconds.
    pub write: Micros,
    /// Time of an fsync, in microseconds.
    pub fsync: Micros,
    /// Age at which the operating system writes a page back by itself; `None` is never, the worst case.
    pub writeback: Option<Micros>,
}

impl Default for Disk {
    fn default() -> Self {
        Disk {
            write: 0,
            fsync: 5_000,
            writeback: None,
        }
    }
}

/// A topic that exists or existed; a topic created again after its deletion is another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// The topic's name.
    pub name: Arc<str>,
    /// The topic's own configs.
    pub config: TopicConfig,
    /// The same with each broker's defaults under them; broker B stands at index B - 1.
    pub on_broker: Vec<TopicConfig>,
    /// Number of partitions.
    pub partitions: u32,
}

/// Who may be named in a `set link`: a node or everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// One node.
    Is(Node),
    /// Any node.
    Any,
}

/// The brokers' configs that the controller acts on as well. None of them excludes another.
pub const CONTROLLERS: [&str; 6] = [
    "auto.leader.rebalance.enable",
    "broker.session.timeout.ms",
    "leader.imbalance.check.interval.seconds",
    "min.insync.replicas",
    "unclean.leader.election.enable",
    "unclean.leader.election.interval.ms",
];

/// Everything an actor may look up while it acts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Seeds the few choices that Kafka leaves to chance.
    pub seed: u64,
    /// Wall clock at virtual time 0, milliseconds since 1970.
    pub clock_ms: i64,
    /// Configs of each broker; broker B stands at index B - 1.
    pub brokers: Vec<BrokerConfig>,
    /// Configs of the controller, of which only [`CONTROLLERS`] matter: those that were given to all brokers, never one
    /// broker's own.
    pub controller: BrokerConfig,
    /// Disk latencies of each broker, as `brokers`.
    pub disks: Vec<Disk>,
    /// Topics by id.
    pub topics: SortedMap<TopicId, Topic>,
    /// Client names, in order of declaration; the index is the [`ClientId`].
    pub clients: Vec<Arc<str>>,
    /// Group names, in the order in which they were first named; the index is the [`GroupId`].
    pub groups: Vec<Arc<str>>,
    /// `__consumer_offsets`, once it exists.
    pub offsets_topic: Option<TopicId>,
    /// One-way latencies that were set, the latest last; both directions stand here.
    pub links: Vec<(Endpoint, Endpoint, Micros)>,
    /// How many times longer everything a node does takes.
    pub slow: SortedMap<Node, u32>,
}

impl Settings {
    /// The configs of a broker.
    pub fn broker(&self, id: BrokerId) -> &BrokerConfig {
        &self.brokers[usize::from(id.0) - 1]
    }

    /// The interval of a broker's heartbeats if its session ends before the next of them: each is news then.
    pub fn beats_rarely(&self, id: BrokerId) -> Option<Micros> {
        let every = self.broker(id).broker_heartbeat_interval_ms;
        (every >= self.controller.broker_session_timeout_ms).then(|| from_millis(every))
    }

    /// The disk of a broker.
    pub fn disk(&self, id: BrokerId) -> &Disk {
        &self.disks[usize::from(id.0) - 1]
    }

    /// The topic with this id; ids are never taken back.
    pub fn topic(&self, id: TopicId) -> &Topic {
        &self.topics[&id]
    }

    /// A topic's configs as they are in force on a broker.
    pub fn topic_on(&self, id: TopicId, broker: BrokerId) -> &TopicConfig {
        &self.topics[&id].on_broker[usize::from(broker.0) - 1]
    }

    /// The name of a client.
    pub fn client(&self, id: ClientId) -> &str {
        &self.clients[usize::from(id.0)]
    }

    /// The name of a group.
    pub fn group(&self, id: GroupId) -> &Arc<str> {
        &self.groups[usize::from(id.0)]
    }

    /// The group of this name, if it was ever named.
    pub fn group_named(&self, name: &str) -> Option<GroupId> {
        let at = self.groups.iter().position(|known| &**known == name)?;
        Some(GroupId(at as u16))
    }

    /// Wall clock in milliseconds at a virtual time.
    pub fn wall_ms(&self, now: Micros) -> i64 {
        self.clock_ms + (now / 1_000) as i64
    }

    /// How long a node takes for what takes others this long.
    pub fn slowed(&self, node: Node, span: Micros) -> Micros {
        forever_at_most(span.saturating_mul(self.factor(node)))
    }

    /// How many times longer a node takes: 1 unless it was slowed.
    pub fn factor(&self, node: Node) -> u64 {
        u64::from(self.slow.get(&node).copied().unwrap_or(1))
    }

    /// One-way latency from one node to another, the sender's slowness included.
    ///
    /// The most specific setting wins (two named ends over one over none); of two equally specific ones the later.
    pub fn latency(&self, from: Node, to: Node) -> Micros {
        let fits = |end: Endpoint, node: Node| match end {
            Endpoint::Is(named) => (named == node).then_some(1),
            Endpoint::Any => Some(0),
        };
        let mut best = (0, DEFAULT_LATENCY);
        for &(a, b, latency) in &self.links {
            let straight = fits(a, from).zip(fits(b, to));
            let turned = fits(a, to).zip(fits(b, from));
            for (x, y) in straight.into_iter().chain(turned) {
                if x + y >= best.0 {
                    best = (x + y, latency);
                }
            }
        }
        self.slowed(from, best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_never_less_than_nothing_nor_longer_than_all_the_time_there_is() {
        for (ms, span) in [
            (i64::MIN, 0),
            (-5, 0),
            (0, 0),
            (1, 1_000),
            (253_402_300_799_999, LAST_TIME),
            (253_402_300_800_000, FOREVER),
            (i64::MAX, FOREVER),
        ] {
            assert_eq!(from_millis(ms), span, "{ms}");
        }
    }

    #[test]
    fn nothing_takes_a_slowed_node_longer_than_all_the_time_there_is() {
        let node = Node::Controller;
        let mut settings = Settings::default();
        assert_eq!(settings.slowed(node, FOREVER), FOREVER);
        settings.slow.insert(node, u32::MAX);
        assert_eq!(settings.slowed(node, 2), 2 * u64::from(u32::MAX));
        assert_eq!(settings.slowed(node, FOREVER), FOREVER);
    }
}
