//! Brokers' rows: what each replica holds within the window, in which layer, and what this step did to it.

use std::rc::Rc;

use crate::cluster::event::{BrokerState, What};
use crate::cluster::{BrokerId, Node, Tag, TopicPartition};
use crate::ledger::How;
use crate::ledger::present::Fate;
use crate::log::Log;
use crate::sorted::{SortedSet, sort_by};
use crate::ui::view::look::{Ending, Look};
use crate::ui::view::stage::{BrokerRow, Cell, Health, Layer, News, Position, Role, Segment, Standing, Window};

/// The row of each broker that holds a replica of the partition in view, or might tell something about it.
pub fn rows(look: &Look<'_>, window: Window) -> Vec<Rc<BrokerRow>> {
    let lost = look.lost();
    let row = |id| Rc::new(row(look, id, window, &lost));
    look.world.broker_ids().map(row).collect()
}

/// The row of one broker. `lost` are the acknowledged records that are gone.
fn row(look: &Look<'_>, id: BrokerId, window: Window, lost: &[Tag]) -> BrokerRow {
    let health = health(look, id);
    let role = role(look, id);
    let replica = look.world.broker(id).and_then(|broker| broker.replica(look.partition));
    let log = look.log(id);
    let high_watermark = replica.and_then(|replica| replica.high_watermark()).map(|at| Position {
        at,
        changed: look.happened(|what| {
            matches!(what, What::HighWatermark { broker, partition, .. } if *broker == id && *partition == look.partition)
        }),
    });
    let mut cells = log.map_or_else(Vec::new, |log| cells(look, id, log, window));
    let flushed = replica.map_or(0, |replica| replica.flushed());
    cells.extend(ghosts(look, id, log, flushed, window));
    // Under a ghost lies what took its place.
    sort_by(&mut cells, |one, other| one.offset.cmp(&other.offset));
    let doomed = look.standing_on(id, lost);
    let runs = look.world.broker(id).is_some_and(|broker| broker.is_running());
    let doomed = if runs { doomed } else { doomed.max(look.only_on(id)) };
    BrokerRow {
        id: id.0,
        health,
        changed: look.happened(|what| concerns_standing(what, id, look)),
        role,
        epoch: replica
            .and_then(|replica| replica.leader_epoch())
            .filter(|epoch| *epoch >= 0),
        note: note(look, id, health, role, doomed).into(),
        high_watermark,
        log_end: Position {
            at: log.map_or(0, Log::log_end_offset),
            changed: cells.iter().any(|cell| cell.changed),
        },
        log_start: log.map_or(0, Log::log_start_offset),
        flushed,
        segments: log.map_or_else(Vec::new, |log| segments(look, id, log, window)),
        cells,
        earlier: log.map_or(0, |log| (window.start - log.log_start_offset()).max(0)),
        cut_from: cuts(look, id).into(),
    }
}

/// Whether an event changes what a broker is.
fn concerns_standing(what: &What, id: BrokerId, look: &Look<'_>) -> bool {
    match what {
        What::BecameLeader { broker, partition, .. } => *broker == id && *partition == look.partition,
        What::State { broker, .. } | What::BrokerEnded { broker, .. } | What::Wiped { broker, .. } => *broker == id,
        What::IsrChanged { partition, from, to } => {
            *partition == look.partition && from.contains(&id) != to.contains(&id)
        }
        _ => false,
    }
}

/// How a broker is.
pub fn health(look: &Look<'_>, id: BrokerId) -> Health {
    match look.world.broker_state(id) {
        Some(BrokerState::Up) => Health::Up,
        Some(BrokerState::Starting) => Health::Starting,
        Some(BrokerState::Fenced) => Health::Fenced,
        Some(BrokerState::Paused) => Health::Paused,
        Some(BrokerState::Stopping) => Health::Stopping,
        Some(BrokerState::Down) | None if look.ending(id) == Some(Ending::PoweredOff) => Health::Dark,
        Some(BrokerState::Down) | None => Health::Killed,
    }
}

/// What a broker is to the partition in view.
pub fn role(look: &Look<'_>, id: BrokerId) -> Role {
    role_in(look, look.partition, id)
}

/// What a broker is to a partition.
pub fn role_in(look: &Look<'_>, at: TopicPartition, id: BrokerId) -> Role {
    let image = look.world.image();
    let Some(state) = image.partition(at).filter(|state| state.replicas.contains(&id)) else {
        return Role::NoReplica;
    };
    let replica = look.world.broker(id).and_then(|broker| broker.replica(at));
    let believes = replica.and_then(|replica| replica.leads_in()).is_some();
    match (state.leader == Some(id), believes, state.isr.contains(&id)) {
        (true, ..) => Role::Leader,
        (false, true, _) => Role::FormerLeader,
        (false, false, true) => Role::InSync,
        (false, false, false) => Role::OutOfSync,
    }
}

/// What a broker is to the partition in view, in words; of one that does not run, how it stands.
pub fn role_said(look: &Look<'_>, id: BrokerId) -> &'static str {
    match (health(look, id), role(look, id)) {
        (Health::Up, Role::Leader) => "leader",
        (Health::Up, Role::FormerLeader) => "zombie",
        (Health::Up, Role::InSync) => "in sync",
        (Health::Up, Role::OutOfSync) => "out of sync",
        (Health::Up, Role::NoReplica) => "no replica",
        (other, _) => other.word().unwrap_or("up"),
    }
}

/// What a broker is doing, in a few words.
fn note(look: &Look<'_>, id: BrokerId, health: Health, role: Role, doomed: usize) -> String {
    let replica = look.world.broker(id).and_then(|broker| broker.replica(look.partition));
    let epoch = replica.and_then(|replica| replica.leader_epoch()).unwrap_or_default();
    match (health, role) {
        _ if doomed == 1 => "1 acknowledged record only here".to_string(),
        _ if doomed > 1 => format!("{doomed} acknowledged records only here"),
        (Health::Dark, _) => "host without power".to_string(),
        (Health::Killed, role) if replica.is_none() && role != Role::NoReplica => {
            "process gone, its disk is empty".to_string()
        }
        (Health::Killed, _) if look.ending(id) == Some(Ending::Stopped) => "stopped cleanly, all flushed".to_string(),
        (Health::Killed, _) => "process gone, files intact".to_string(),
        (Health::Paused, Role::FormerLeader) => format!("frozen, and still believes it leads, epoch {epoch}"),
        (Health::Paused, _) => "frozen, and does not know it".to_string(),
        (Health::Starting, _)
            if look.happened(|what| matches!(what, What::Recovered { broker, .. } if *broker == id)) =>
        {
            "recovers its log".to_string()
        }
        (Health::Starting, _) => "waits to be let in by the controller".to_string(),
        (Health::Stopping, _) => "hands over and flushes".to_string(),
        (Health::Fenced, _) => "fenced by the controller".to_string(),
        (Health::Up, Role::NoReplica) => "holds other partitions".to_string(),
        (Health::Up, Role::FormerLeader) => format!("still believes it leads, epoch {epoch}"),
        (Health::Up, Role::Leader) if replica.and_then(|replica| replica.leads_in()).is_none() => {
            "has not heard yet that it leads".to_string()
        }
        (Health::Up, Role::Leader) => match under_min_isr(look) {
            Some((isr, needed)) => format!("refuses acks=all: {isr} in sync, {needed} needed"),
            None => format!("leads epoch {epoch}"),
        },
        (Health::Up, Role::InSync | Role::OutOfSync)
            if is_cut_from_its_own(look, id, replica.and_then(|replica| replica.follows())) =>
        {
            format!("cut off from {}", cuts(look, id))
        }
        (Health::Up, Role::InSync | Role::OutOfSync) => match replica.and_then(|replica| replica.follows()) {
            Some(leader) => format!(
                "copies broker {leader} from offset {}",
                replica.map_or(0, |replica| replica.log_end())
            ),
            None => "has nobody to follow".to_string(),
        },
    }
}

/// How many replicas of the partition in view are in sync, and how many `acks=all` needs, if that is more.
fn under_min_isr(look: &Look<'_>) -> Option<(usize, usize)> {
    let image = look.world.image();
    let state = image.partition(look.partition)?;
    let needed = look.world.min_isr(look.partition)?;
    (state.isr.len() < needed).then_some((state.isr.len(), needed))
}

/// Whether a path is cut that a follower lives by: to whom it follows, or to the controller.
fn is_cut_from_its_own(look: &Look<'_>, id: BrokerId, leader: Option<BrokerId>) -> bool {
    let others = cut_off_from(look, id);
    match leader {
        Some(leader) => others.contains(&Node::Broker(leader)) || others.contains(&Node::Controller),
        None => !others.is_empty(),
    }
}

/// Whom a broker exchanges no messages with.
fn cut_off_from(look: &Look<'_>, id: BrokerId) -> SortedSet<Node> {
    let me = Node::Broker(id);
    let network = look.world.network();
    let others = network.cuts().filter_map(|(from, to)| match from == me {
        true => Some(to),
        false => (to == me).then_some(from),
    });
    others.collect()
}

/// Whom a broker exchanges no messages with, in words; nothing if the paths are whole.
fn cuts(look: &Look<'_>, id: BrokerId) -> String {
    let others = cut_off_from(look, id);
    let everybody = look.world.broker_ids().count() - 1;
    match others.iter().filter(|node| matches!(node, Node::Broker(_))).count() {
        0 if others.is_empty() => String::new(),
        cut if cut == everybody => "everybody".to_string(),
        _ => others
            .iter()
            .map(|node| look.names.node(*node))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The records of a log that are in view.
fn cells(look: &Look<'_>, id: BrokerId, log: &Log, window: Window) -> Vec<Cell> {
    let touched = touched(look, id);
    let committed = look
        .world
        .broker(id)
        .and_then(|broker| broker.replica(look.partition)?.high_watermark());
    let committed = committed.unwrap_or(i64::MIN);
    let mut found = Vec::new();
    for segment in log.segments() {
        if segment.base_offset() >= window.end {
            break;
        }
        let file = segment.log();
        let flushed = file.flushed().unwrap_or(0);
        let first = file
            .batches()
            .partition_point(|placed| placed.batch.last_offset() < window.start);
        let mut before = first
            .checked_sub(1)
            .and_then(|at| file.batches().get(at))
            .map(|placed| placed.batch.leader_epoch());
        for placed in file.batches().iter_from(first) {
            let batch = &placed.batch;
            if batch.base_offset() >= window.end {
                break;
            }
            let layer = if placed.end() <= flushed {
                Layer::Disk
            } else {
                Layer::Cache
            };
            let mut epoch =
                Some(batch.leader_epoch()).filter(|epoch| before != Some(*epoch) && (before.is_some() || *epoch > 0));
            before = Some(batch.leader_epoch());
            for offset in batch.base_offset()..=batch.last_offset() {
                let shown = window.shows(offset) && offset >= log.log_start_offset();
                let Some(tag) = batch
                    .tag_of(offset)
                    .filter(|bits| shown && *bits != 0)
                    .map(Tag::from_bits)
                else {
                    continue;
                };
                let standing = standing(look, tag, offset, committed);
                let [fresh, flushed] =
                    touched.map(|range| range.is_some_and(|(from, to)| (from..to).contains(&offset)));
                found.push(Cell {
                    offset,
                    record: (tag.client.0, tag.number),
                    label: look.names.cell(tag),
                    epoch: epoch.take(),
                    layer,
                    spoken: spoken(look, tag, offset, layer, &standing, batch.leader_epoch()).into(),
                    standing,
                    changed: fresh || flushed,
                    fresh,
                });
            }
        }
    }
    found
}

/// The offsets that this step appended to a broker's log, and those that it flushed.
fn touched(look: &Look<'_>, id: BrokerId) -> [Option<(i64, i64)>; 2] {
    let mut touched = [None; 2];
    for what in here(look, id) {
        match what {
            What::Appended { batch, .. } => touched[0] = Some((batch.base_offset(), batch.next_offset())),
            What::Flushed { from, to, .. } => touched[1] = Some((*from, *to)),
            _ => {}
        }
    }
    touched
}

fn standing(look: &Look<'_>, tag: Tag, offset: i64, committed: i64) -> Standing {
    let acknowledged = look
        .ledger
        .story(tag)
        .is_some_and(|story| story.acknowledged().is_some());
    if acknowledged && look.fate(tag) == Fate::Lost {
        Standing::Doomed
    } else if offset < committed {
        Standing::Committed
    } else {
        Standing::Waiting
    }
}

fn spoken(look: &Look<'_>, tag: Tag, offset: i64, layer: Layer, standing: &Standing, epoch: i32) -> String {
    let acknowledged = match look.ledger.story(tag).and_then(|story| story.acknowledged()) {
        Some(_) => ", acknowledged",
        None => "",
    };
    let standing = match standing {
        Standing::Committed => ", below the high watermark",
        Standing::Waiting => ", not committed",
        Standing::Doomed => ", lost: the leader does not have it",
        Standing::Ghost(_) => "",
    };
    format!(
        "{} at offset {offset}, epoch {epoch}, {}{standing}{acknowledged}",
        look.names.shown(tag),
        layer.word()
    )
}

/// Records that were on a broker and are gone: as long as nothing else stands in their place, or in the step that
/// removed them.
fn ghosts(look: &Look<'_>, id: BrokerId, log: Option<&Log>, flushed: i64, window: Window) -> Vec<Cell> {
    let producers = look
        .world
        .clients()
        .filter(|(_, client)| client.is_producer())
        .map(|(id, _)| id);
    let mut found: Vec<Cell> = Vec::new();
    for (tag, story) in producers.flat_map(|client| look.recent(client)) {
        let here = story.partition == Some(look.partition);
        let Some(taken) = story.taken.iter().rev().find(|taken| here && taken.broker == id) else {
            continue;
        };
        let changed = taken.when.step == look.ledger.steps();
        let visible = match taken.how {
            How::Truncated | How::PowerLost | How::Dropped | How::Wiped => {
                log.is_none_or(|log| taken.offset >= log.log_end_offset())
            }
            // What was removed as it should be is shown going, and then leaves a hole or nothing.
            How::Expired | How::Deleted | How::Compacted => changed,
        };
        if !visible || !window.shows(taken.offset) || found.iter().any(|cell| cell.offset == taken.offset) {
            continue;
        }
        found.push(Cell {
            offset: taken.offset,
            record: (tag.client.0, tag.number),
            label: look.names.cell(tag),
            epoch: None,
            layer: match taken.how {
                How::Wiped | How::Expired | How::Compacted => Layer::Disk,
                How::Deleted if taken.offset < flushed => Layer::Disk,
                How::Truncated | How::PowerLost | How::Dropped | How::Deleted => Layer::Cache,
            },
            standing: Standing::Ghost(taken.how.words().into()),
            changed,
            fresh: changed,
            spoken: format!(
                "{} was at offset {} and {}",
                look.names.shown(tag),
                taken.offset,
                taken.how.words()
            )
            .into(),
        });
    }
    found
}

/// The segments in view, an empty active one among them.
fn segments(look: &Look<'_>, id: BrokerId, log: &Log, window: Window) -> Vec<Segment> {
    let mut bases: Vec<i64> = log.segments().map(|segment| segment.base_offset()).collect();
    bases.push(log.log_end_offset());
    let last = bases.len() - 2;
    let all = bases.windows(2).enumerate().map(|(at, pair)| Segment {
        base: pair[0],
        next: pair[1],
        active: at == last,
        news: news(look, id, pair[0], pair[1].max(pair[0] + 1)),
    });
    all.filter(|segment| segment.base < window.end && (segment.active || segment.next > window.start))
        .collect()
}

/// What this step did to a segment that ends before `next`.
fn news(look: &Look<'_>, id: BrokerId, base: i64, next: i64) -> Option<News> {
    let mut found = here(look, id).filter_map(|what| match what {
        What::Rolled { base: new, .. } => (*new == base).then_some(News::Rolled),
        What::Recovered { clean: false, .. } => {
            let replica = look.world.broker(id)?.replica(look.partition)?;
            (next > replica.recovery_point()).then_some(News::Scanned)
        }
        What::Compacted { to, .. } => (base < *to).then_some(News::Cleaned),
        _ => None,
    });
    found.next()
}

/// What this step did to a broker's replica of the partition in view.
fn here<'a>(look: &Look<'a>, id: BrokerId) -> impl Iterator<Item = &'a What> {
    let partition = look.partition;
    look.events
        .iter()
        .map(|event| &event.what)
        .filter(move |what| match what {
            What::Appended {
                broker, partition: at, ..
            }
            | What::Flushed {
                broker, partition: at, ..
            }
            | What::Rolled {
                broker, partition: at, ..
            }
            | What::Recovered {
                broker, partition: at, ..
            }
            | What::Compacted {
                broker, partition: at, ..
            } => *broker == id && *at == partition,
            _ => false,
        })
}
