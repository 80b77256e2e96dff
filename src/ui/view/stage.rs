//! The stage as data: what stands in which row and column, and in which state.
//!
//! Everything is already decided here, so that the components only draw: which cells are in view, which of them changed
//! in this step, what is lost, what travels. Columns are offsets of one partition, shared by every row; that alignment
//! *is* the comparison. A row outside the window costs nothing, so a log of a hundred thousand records draws like a
//! short one.
//!
//! Deliberately absent: pixels, colours, durations, the DOM.

use std::rc::Rc;

/// Which offsets are in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first column.
    pub start: i64,
    /// One past the last column.
    pub end: i64,
    /// One past the last column that the rows need, whether it is in view or not.
    pub last: i64,
    /// The first offset that any row still holds.
    pub first: i64,
}

impl Window {
    /// The columns to draw: as many as there is room for, at the end of the log unless `from` says where.
    ///
    /// One or two columns stay free behind the longest log, so that what comes next has somewhere to land.
    pub fn place(first: i64, last: i64, columns: i64, from: Option<i64>) -> Window {
        let columns = columns.max(1);
        let spare = 2.min(columns / 4);
        let latest = (last + spare - columns).max(first.min(last)).max(0);
        let start = from.map_or(latest, |from| from.clamp(0, latest.max(0)));
        Window {
            start,
            end: start + columns,
            last,
            first,
        }
    }

    /// The same, but from the first offset on where all of them have room: a question about records asks for any of them.
    pub fn of_all(first: i64, last: i64, columns: i64, from: Option<i64>) -> Window {
        let fits = from.is_none() && last - first <= columns;
        Window::place(first, last, columns, if fits { Some(first) } else { from })
    }

    /// Whether this offset has a column.
    pub fn shows(&self, offset: i64) -> bool {
        (self.start..self.end).contains(&offset)
    }

    /// Where a mark is drawn. One that has no place in view is pinned to the edge, its words with a sign before them.
    pub fn pin(&self, at: i64) -> (i64, &'static str) {
        if at < self.start {
            (self.start, "◂ ")
        } else if at > self.end {
            (self.end, "▸ ")
        } else {
            (at, "")
        }
    }

    /// Whether there is more room before an offset than after it.
    pub fn is_past_middle(&self, offset: i64) -> bool {
        2 * offset > self.start + self.end
    }

    /// Whether records lie before the first column.
    pub fn has_earlier(&self) -> bool {
        self.start > self.first.max(0)
    }

    /// Whether records lie behind the last column.
    pub fn has_later(&self) -> bool {
        self.end < self.last
    }
}

/// Where a replica's bytes of a record lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Written, not flushed: gone at a power loss.
    Cache,
    /// Flushed: gone only with the disk.
    Disk,
}

impl Layer {
    /// The layer in words.
    pub const fn word(self) -> &'static str {
        match self {
            Layer::Cache => "in page cache",
            Layer::Disk => "on disk",
        }
    }
}

/// What has become of the record that a cell shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It stands in the log below the high watermark.
    Committed,
    /// It stands in the log, not below the high watermark yet.
    Waiting,
    /// It was acknowledged and the leader's log does not hold it: this copy will be cut off.
    Doomed,
    /// It was here and is gone; the words say how.
    Ghost(Rc<str>),
}

/// One record on one broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its column.
    pub offset: i64,
    /// The record: its producer's number and its own.
    pub record: (u16, u32),
    /// The record's name, short enough for the cell.
    pub label: Rc<str>,
    /// The leader epoch, where it is another one than the record's before.
    pub epoch: Option<i32>,
    /// Where the bytes lie (or lay).
    pub layer: Layer,
    /// What has become of it.
    pub standing: Standing,
    /// Whether this step wrote, flushed, cut or acknowledged it.
    pub changed: bool,
    /// Whether this step put it here.
    pub fresh: bool,
    /// Everything above in words.
    pub spoken: Rc<str>,
}

/// A segment of a replica's log, as far as it is in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its base offset, which names its file.
    pub base: i64,
    /// One past its last record.
    pub next: i64,
    /// Whether records are appended to it.
    pub active: bool,
    /// What this step did to it.
    pub news: Option<News>,
}

/// What a step can do to a segment as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It began.
    Rolled,
    /// Recovery read it, batch by batch.
    Scanned,
    /// The cleaner wrote it anew.
    Cleaned,
}

impl News {
    /// What was done, in a word.
    pub const fn word(self) -> &'static str {
        match self {
            News::Rolled => "new",
            News::Scanned => "scanned",
            News::Cleaned => "compacted",
        }
    }
}

/// What a replica is to its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It leads, and the controller says so too.
    Leader,
    /// It believes that it leads, but the controller has appointed another.
    FormerLeader,
    /// It follows and is in sync.
    InSync,
    /// It follows and is not in sync.
    OutOfSync,
    /// It holds no replica of this partition.
    NoReplica,
}

impl Role {
    /// The word on the badge.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Leader => "leader",
            Role::FormerLeader => "zombie",
            Role::InSync => "in sync",
            Role::OutOfSync => "out of sync",
            Role::NoReplica => "no replica",
        }
    }
}

/// How a broker's process and host are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It runs.
    Up,
    /// It runs, and the controller has fenced it off.
    Fenced,
    /// It is starting.
    Starting,
    /// It is shutting down.
    Stopping,
    /// Its process is frozen.
    Paused,
    /// No process; the host runs.
    Killed,
    /// The host has no power.
    Dark,
}

impl Health {
    /// Whether there is a process that does something or will go on.
    pub const fn has_process(self) -> bool {
        !matches!(self, Health::Killed | Health::Dark)
    }

    /// The word on the badge when it is not simply running.
    pub const fn word(self) -> Option<&'static str> {
        Some(match self {
            Health::Up => return None,
            Health::Fenced => "fenced",
            Health::Starting => "starting",
            Health::Stopping => "stopping",
            Health::Paused => "paused",
            Health::Killed => "down",
            Health::Dark => "no power",
        })
    }
}

/// A mark on the offset axis of one row that this step may have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Where it stands.
    pub at: i64,
    /// Whether this step moved it.
    pub changed: bool,
}

/// One broker's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerRow {
    /// The broker's id.
    pub id: u16,
    /// How it is.
    pub health: Health,
    /// Whether its role or health changed in this step.
    pub changed: bool,
    /// What it is to the partition.
    pub role: Role,
    /// Leader epoch that the replica acts under.
    pub epoch: Option<i32>,
    /// What it is doing, in a few words.
    pub note: Rc<str>,
    /// High watermark, unless there is no process to know it.
    pub high_watermark: Option<Position>,
    /// Log end offset.
    pub log_end: Position,
    /// Log start offset.
    pub log_start: i64,
    /// Everything below is on disk.
    pub flushed: i64,
    /// Segments in view.
    pub segments: Vec<Segment>,
    /// Records in view, by their offsets.
    pub cells: Vec<Cell>,
    /// Records before the first column, if there are any: their number.
    pub earlier: i64,
    /// Nodes it exchanges no messages with, in words; empty when nothing is cut.
    pub cut_from: Rc<str>,
}

/// What the producer's application believes about a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Handed over, or waiting for company in a batch.
    Held,
    /// On its way, or waiting for the answer.
    InFlight,
    /// Handed to the network with `acks=0`; nothing more will be said.
    Sent,
    /// Acknowledged, and true.
    Acked,
    /// Acknowledged, and the record is gone.
    AckedLost,
    /// Failed; the error's name.
    Failed(Rc<str>),
}

/// One record in a producer's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The record's name.
    pub label: Rc<str>,
    /// Its number with its producer.
    pub number: u32,
    /// The column over which it is drawn.
    pub column: i64,
    /// Whether another record has taken that column: it is drawn above.
    pub displaced: bool,
    /// What its application believes.
    pub told: Told,
    /// Whether this step changed that.
    pub changed: bool,
    /// All of it in words.
    pub spoken: Rc<str>,
}

/// A producer's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerLane {
    /// The client's number.
    pub client: u16,
    /// Its name.
    pub name: Rc<str>,
    /// `acks` as it is set.
    pub acks: Rc<str>,
    /// Whether its process runs.
    pub alive: bool,
    /// Records in view.
    pub records: Vec<Sent>,
    /// How many failed records have no column.
    pub failed: u32,
}

/// A consumer's lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerLane {
    /// The client's number.
    pub client: u16,
    /// Its name.
    pub name: Rc<str>,
    /// The next offset it will read, once it has a position.
    pub position: Option<Position>,
    /// What it has read and may read, in words.
    pub note: Rc<str>,
}

/// What the controller has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerLane {
    /// Whether the quorum is there.
    pub up: bool,
    /// Whether this step changed something.
    pub changed: bool,
    /// Leader of the partition.
    pub leader: Option<u16>,
    /// Leader epoch.
    pub epoch: i32,
    /// In-sync replicas.
    pub isr: Vec<u16>,
    /// Eligible leader replicas.
    pub elr: Vec<u16>,
}

/// A row that messages leave from and arrive at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A client's lane.
    Client(u16),
    /// A broker's row.
    Broker(u16),
    /// The controller's lane.
    Controller,
}

impl Row {
    /// The row in the ids of elements.
    pub fn id(self) -> String {
        match self {
            Row::Client(id) => format!("c{id}"),
            Row::Broker(id) => format!("b{id}"),
            Row::Controller => "controller".to_string(),
        }
    }
}

/// How the path between two rows is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Messages pass both ways.
    Whole,
    /// Messages pass both ways, but for one that is going to be lost.
    Losing,
    /// They pass one way only.
    HalfCut,
    /// None pass.
    Cut,
}

/// The path between two rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Between whom.
    pub ends: (Row, Row),
    /// The same in words.
    pub names: Rc<str>,
    /// How it is.
    pub path: Path,
}

/// Where a message is in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// It left in this step.
    Leaving,
    /// It left before and has not arrived.
    OnTheWay,
    /// It arrived in this step.
    Arriving,
    /// It was lost in this step.
    Lost,
}

/// What a message carries, for its tint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cargo {
    /// Records.
    Records,
    /// An answer to a client.
    Answer,
    /// A question or news without records.
    Talk,
}

/// A message between two rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The same from step to step.
    pub key: Rc<str>,
    /// Where it left.
    pub from: Row,
    /// Where it goes.
    pub to: Row,
    /// What it is, in two or three words.
    pub label: Rc<str>,
    /// How many more wait behind it on the same connection.
    pub more: usize,
    /// What it carries.
    pub cargo: Cargo,
    /// Where it is.
    pub leg: Leg,
}

/// The whole stage for one partition at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The partition's name.
    pub partition: Rc<str>,
    /// The columns.
    pub window: Window,
    /// Producers, in order of declaration.
    pub producers: Vec<Rc<ProducerLane>>,
    /// Brokers, ascending.
    pub brokers: Vec<Rc<BrokerRow>>,
    /// Consumers of this partition, in order of declaration.
    pub consumers: Vec<Rc<ConsumerLane>>,
    /// The controller.
    pub controller: Rc<ControllerLane>,
    /// The path from each row towards the brokers.
    pub links: Vec<Link>,
    /// Messages on the wire between rows of this stage.
    pub flights: Vec<Flight>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_end_and_leaves_room_behind_it() {
        assert_eq!(
            Window::place(0, 4, 10, None),
            Window {
                start: 0,
                end: 10,
                last: 4,
                first: 0
            }
        );
        assert_eq!(Window::place(0, 20, 10, None).start, 12);
        assert_eq!(Window::place(0, 100_000, 10, None).start, 99_992);
    }

    #[test]
    fn a_mark_out_of_view_is_pinned_to_the_edge_it_lies_behind() {
        let window = Window::place(0, 40, 10, Some(5));
        assert_eq!(window.pin(5), (5, ""));
        assert_eq!(window.pin(4), (5, "◂ "));
        assert_eq!(window.pin(15), (15, ""), "the edge of the last column is in view");
        assert_eq!(window.pin(16), (15, "▸ "));
    }

    #[test]
    fn a_window_that_was_placed_stays_within_the_log() {
        assert_eq!(Window::place(0, 9, 10, None).start, 1, "room for what comes next");
        assert_eq!(Window::of_all(0, 9, 10, None).start, 0, "all that can be asked for");
        assert_eq!(Window::of_all(0, 20, 10, None).start, 12);
        let back = Window::place(0, 40, 10, Some(5));
        assert_eq!((back.start, back.end), (5, 15));
        assert!(back.has_earlier() && back.has_later());
        assert_eq!(Window::place(0, 40, 10, Some(90)).start, 32);
        assert_eq!(Window::place(0, 4, 10, Some(-3)).start, 0);
    }

    #[test]
    fn after_retention_the_window_begins_no_earlier_than_the_log() {
        let window = Window::place(30, 33, 10, None);
        assert_eq!(window.start, 30);
        assert!(!window.has_earlier());
    }
}
