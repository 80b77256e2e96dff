//! What an actor (a broker's process, the controller, a client) may do while it handles one thing.
//!
//! An actor changes its own state and leaves [`Effect`]s; it never touches another actor. The world then puts messages
//! on the wire (or loses them), sets timers, and goes on. So an actor can be tested alone, and a random schedule can
//! interleave them.

use crate::cluster::event::{Event, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::message::Message;
use crate::cluster::rules::{Rule, Rules};
use crate::cluster::settings::{Micros, Settings};
use crate::log::Errors;

/// What a timer is for. Scenarios fire some of them out of turn, by these names (`fire TIMER at NODE`); of the others the
/// language knows nothing, and they fire at their time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKind {
    /// A record is handed to a producer (`send … every=`).
    Handover,
    /// The session of a silent broker (at the controller) or of a silent member of a group (at its coordinator).
    Session,
    /// The leader's ISR check.
    Lag,
    /// A parked fetch's `max.wait`.
    FetchWait,
    /// A request's time-out, at the client, the follower or (delayed produce) the broker.
    Request,
    /// A back-off before something is tried again.
    Retry,
    /// A batch waits for company.
    Linger,
    /// A record's `delivery.timeout.ms`.
    Delivery,
    /// A heartbeat that decides something (start, shutdown).
    Heartbeat,
    /// The retention check.
    Retention,
    /// Files whose delay has passed are removed.
    FileDelete,
    /// The log cleaner.
    Cleaner,
    /// Recovery points, log starts and high watermarks are written.
    Checkpoint,
    /// An asynchronous flush (after a roll), `flush.ms`, or the operating system's write-back.
    Flush,
    /// A consumer's poll or commit that is due.
    Poll,
    /// The controller's own periodic work (balancing, unclean elections).
    Controller,
    /// A group's rebalance.
    Rebalance,
    /// A group's commits expire.
    Expiry,
    /// A member of a group has not polled for too long.
    PollInterval,
    /// A client asks for the cluster's state because what it knows is old.
    Refresh,
}

impl TimerKind {
    /// The timer's name: in `fire`, if it can be fired, in traces and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            TimerKind::Handover => "handover",
            TimerKind::Session => "session",
            TimerKind::Lag => "lag",
            TimerKind::FetchWait => "fetch-wait",
            TimerKind::Request => "request",
            TimerKind::Retry => "retry",
            TimerKind::Linger => "linger",
            TimerKind::Delivery => "delivery",
            TimerKind::Heartbeat => "heartbeat",
            TimerKind::Retention => "retention",
            TimerKind::FileDelete => "file-delete",
            TimerKind::Cleaner => "cleaner",
            TimerKind::Checkpoint => "checkpoint",
            TimerKind::Flush => "flush",
            TimerKind::Poll => "poll",
            TimerKind::Controller => "controller",
            TimerKind::Rebalance => "rebalance",
            TimerKind::Expiry => "expiry",
            TimerKind::PollInterval => "poll-interval",
            TimerKind::Refresh => "refresh",
        }
    }

    /// Whether the timer is housekeeping by the clock (a look at metadata that is old is), which never keeps a run from
    /// being quiet.
    pub const fn is_housekeeping(self) -> bool {
        matches!(
            self,
            TimerKind::Retention
                | TimerKind::FileDelete
                | TimerKind::Cleaner
                | TimerKind::Checkpoint
                | TimerKind::Flush
                | TimerKind::Controller
                | TimerKind::Expiry
                | TimerKind::PollInterval
                | TimerKind::Refresh
        )
    }
}

/// Which timer of a node: one kind may be set several times, for a partition or for a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer {
    /// What it is for.
    pub kind: TimerKind,
    /// The partition it concerns.
    pub partition: Option<TopicPartition>,
    /// The peer it concerns (the parked fetch's sender, the session's broker, the request's receiver).
    pub peer: Option<Node>,
}

impl Timer {
    /// A timer of the whole node.
    pub const fn of(kind: TimerKind) -> Timer {
        Timer {
            kind,
            partition: None,
            peer: None,
        }
    }

    /// A timer for one partition.
    pub const fn on(kind: TimerKind, partition: TopicPartition) -> Timer {
        Timer {
            kind,
            partition: Some(partition),
            peer: None,
        }
    }

    /// A timer for one peer.
    pub const fn with(kind: TimerKind, peer: Node) -> Timer {
        Timer {
            kind,
            partition: None,
            peer: Some(peer),
        }
    }
}

/// What an actor asks the world to do.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Put a message on the wire, `after` this many microseconds of the sender's own work.
    Send {
        /// The receiver.
        to: Node,
        /// The message.
        message: Message,
        /// Time the sender needs before it leaves.
        after: Micros,
    },
    /// Set a timer; one that is set already is moved.
    Arm(Timer, Micros),
    /// Set the timer of something periodic to its next tick; one that is due stays until it has gone off.
    ArmTick(Timer, Micros),
    /// Clear a timer.
    Disarm(Timer),
    /// Close the connection to a peer: it is told, behind what was sent before.
    Close(Node),
    /// Answer the operator's act of this name, with an error or without.
    Answer(&'static str, Option<Errors>),
}

/// Whom an actor could open a connection to: the path is whole both ways and a process is there (a frozen one accepts, and
/// then does not answer). Attempts to connect are never stepped through, so this is asked instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The nodes that accept a connection.
    pub nodes: Vec<Node>,
}

impl Reach {
    /// Whether a connection to this node can be opened.
    pub fn can(&self, node: Node) -> bool {
        self.nodes.contains(&node)
    }

    /// The brokers that accept a connection, ascending.
    pub fn brokers(&self) -> impl Iterator<Item = BrokerId> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Broker(id) => Some(*id),
            _ => None,
        })
    }
}

/// What an actor sees and leaves while it handles one thing.
pub struct Cx<'a> {
    /// Who acts.
    pub me: Node,
    /// Virtual time.
    pub now: Micros,
    /// Names, configs, latencies.
    pub settings: &'a Settings,
    /// The rules in force.
    pub rules: Rules,
    /// Whom it could connect to right now.
    pub reach: &'a Reach,
    /// What it asks for, in order.
    pub effects: &'a mut Vec<Effect>,
    /// What happened, in order; `None` when nobody listens (the soak, a benchmark).
    pub events: Option<&'a mut Vec<Event>>,
}

impl Cx<'_> {
    /// Wall clock, milliseconds since 1970.
    pub fn wall_ms(&self) -> i64 {
        self.settings.wall_ms(self.now)
    }

    /// Sends at once.
    pub fn send(&mut self, to: Node, message: Message) {
        self.send_after(to, message, 0);
    }

    /// Sends after some time of own work (disk writes); the caller multiplies nothing, a slowed node's factor is applied here.
    pub fn send_after(&mut self, to: Node, message: Message, after: Micros) {
        let after = self.settings.slowed(self.me, after);
        self.effects.push(Effect::Send { to, message, after });
    }

    /// Sets a timer to an absolute time.
    pub fn arm(&mut self, timer: Timer, due: Micros) {
        self.effects.push(Effect::Arm(timer, due));
    }

    /// Sets the timer of something periodic to its next tick. One that is due already stays until it has gone off.
    pub fn arm_tick(&mut self, timer: Timer, due: Micros) {
        self.effects.push(Effect::ArmTick(timer, due));
    }

    /// Clears a timer.
    pub fn disarm(&mut self, timer: Timer) {
        self.effects.push(Effect::Disarm(timer));
    }

    /// Closes the connection to a peer.
    pub fn close(&mut self, peer: Node) {
        self.effects.push(Effect::Close(peer));
    }

    /// Says what happened and which rule decided it. The event is built only if somebody listens.
    pub fn say(&mut self, rule: Rule, what: impl FnOnce() -> What) {
        if let Some(events) = self.events.as_deref_mut() {
            events.push(Event {
                at: self.now,
                rule,
                what: what(),
            });
        }
    }

    /// Whether a rule is in force.
    pub fn holds(&self, rule: Rule) -> bool {
        self.rules.on(rule)
    }
}
