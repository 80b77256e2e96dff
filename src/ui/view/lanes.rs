//! The lanes of producers, consumers and the controller.

use std::rc::Rc;

use crate::cluster::event::{Outcome, What};
use crate::cluster::{ClientId, Tag};
use crate::config::Acks;
use crate::ledger::Story;
use crate::ledger::present::Fate;
use crate::ui::view::look::Look;
use crate::ui::view::stage::{ConsumerLane, ControllerLane, Position, ProducerLane, Sent, Told, Window};

/// `acks` in Kafka's words.
pub fn acks_word(acks: Acks) -> &'static str {
    match acks {
        Acks::None => "0",
        Acks::Leader => "1",
        Acks::All => "all",
        Acks::Other(_) => "?",
    }
}

/// How many columns behind the log's end are needed for what is on its way there: at most two.
pub fn waiting(look: &Look<'_>) -> i64 {
    let producers = look
        .world
        .clients()
        .filter(|(_, client)| client.is_producer())
        .map(|(id, _)| id);
    let mut sent = producers
        .flat_map(|client| look.recent(client))
        .filter(|(_, story)| story.attempts > 0 && story.told.is_none() && story.places.is_empty());
    i64::from(sent.next().is_some()) + i64::from(sent.next().is_some())
}

/// The lane of each producer.
pub fn producers(look: &Look<'_>, window: Window) -> Vec<Rc<ProducerLane>> {
    let clients = look
        .world
        .clients()
        .filter_map(|(id, client)| Some((id, client, client.as_producer()?)));
    clients
        .map(|(id, client, producer)| {
            let (records, failed) = records(look, id, window);
            Rc::new(ProducerLane {
                client: id.0,
                name: look.names.client(id).into(),
                acks: acks_word(producer.config().acks).into(),
                alive: client.is_running(),
                records,
                failed,
            })
        })
        .collect()
}

fn records(look: &Look<'_>, client: ClientId, window: Window) -> (Vec<Sent>, u32) {
    let leader = look.leader_log();
    // What has no offset yet comes behind all that has, also where the log that counts is shorter now.
    let placed = look.recent(client).filter_map(|(_, story)| {
        let here = story.partition == Some(look.partition);
        Some(story.offset().filter(|_| here)? + 1)
    });
    let mut next = placed.chain(leader.map(|log| log.log_end_offset())).max().unwrap_or(0);
    let (mut shown, mut failed) = (Vec::new(), 0);
    let alone = look.world.partitions().len() == 1;
    for (tag, story) in look.recent(client) {
        if story.partition.map_or(!alone, |partition| partition != look.partition) {
            continue;
        }
        let column = match (story.offset(), story.told) {
            (Some(offset), _) => offset,
            (None, Some((_, Outcome::Failed(_)))) => {
                failed += 1;
                continue;
            }
            (None, _) => {
                next += 1;
                next - 1
            }
        };
        // What became of a record is asked only of those in view.
        if window.shows(column) {
            let there = leader.filter(|_| story.offset().is_some());
            let there = there.and_then(|log| Look::tag_at(log, column));
            let displaced = there.is_some_and(|other| other != tag);
            shown.push(sent(look, tag, story, told(look, tag, story), column, displaced));
        }
    }
    (shown, failed)
}

fn sent(look: &Look<'_>, tag: Tag, story: &Story, told: Told, column: i64, displaced: bool) -> Sent {
    let name = look.names.shown(tag);
    let words = match &told {
        Told::Held => "waits to be sent".to_string(),
        Told::InFlight => "was sent and not answered yet".to_string(),
        Told::Sent => "was sent with acks=0: no answer will come".to_string(),
        Told::Acked => format!("was acknowledged at offset {column}"),
        Told::AckedLost => format!("was acknowledged at offset {column} and is lost"),
        Told::Failed(error) => format!("failed with {error}"),
    };
    let step = look.ledger.steps();
    Sent {
        label: look.names.cell(tag),
        number: tag.number,
        column,
        displaced,
        changed: story.told.is_some_and(|(when, _)| when.step == step) || story.handed.step == step,
        spoken: format!("{name} {words}").into(),
        told,
    }
}

/// What a record's application believes, and whether that is true.
pub fn told(look: &Look<'_>, tag: Tag, story: &Story) -> Told {
    match story.told.map(|(_, outcome)| outcome) {
        None if story.attempts > 0 => Told::InFlight,
        None => Told::Held,
        Some(Outcome::Sent) => Told::Sent,
        Some(Outcome::Failed(error)) => Told::Failed(error.name().into()),
        Some(Outcome::Acked(_)) if look.fate(tag) == Fate::Lost => Told::AckedLost,
        Some(Outcome::Acked(_)) => Told::Acked,
    }
}

/// The lane of each consumer that reads the partition in view.
pub fn consumers(look: &Look<'_>) -> Vec<Rc<ConsumerLane>> {
    let readers = look.world.clients().filter(|(_, client)| client.reads(look.partition));
    readers
        .map(|(id, client)| {
            let at = client.position(look.partition);
            let leader = look.world.image().leader(look.partition);
            let limit = leader.and_then(|id| look.world.broker(id)?.replica(look.partition)?.high_watermark());
            let note = match (at, limit) {
                (None, _) => "has no position yet".to_string(),
                (Some(at), None) => format!("at {at}, and nobody to read from"),
                (Some(at), Some(limit)) if at >= limit => format!("at {at}: may not read past HW {limit}"),
                (Some(at), Some(limit)) => format!("at {at}, may read up to HW {limit}"),
            };
            let changed = look.happened(|what| match what {
                What::Read { client, partition, .. } | What::Positioned { client, partition, .. } => {
                    *client == id && *partition == look.partition
                }
                _ => false,
            });
            Rc::new(ConsumerLane {
                client: id.0,
                name: look.names.client(id).into(),
                position: at.map(|at| Position { at, changed }),
                note: note.into(),
            })
        })
        .collect()
}

/// What the controller has decided.
pub fn controller(look: &Look<'_>) -> ControllerLane {
    let image = look.world.image();
    let state = image.partition(look.partition);
    let elr = look
        .world
        .controller()
        .state()
        .partition(look.partition)
        .map(|state| state.elr.clone());
    ControllerLane {
        up: look.world.controller().is_up(),
        changed: look.happened(|what| match what {
            What::LeaderElected { partition, .. }
            | What::IsrChanged { partition, .. }
            | What::ElrChanged { partition, .. } => *partition == look.partition,
            What::ControllerState { .. } => true,
            _ => false,
        }),
        leader: state.and_then(|state| state.leader).map(|id| id.0),
        epoch: state.map_or(0, |state| state.leader_epoch),
        isr: state.map_or_else(Vec::new, |state| state.isr.iter().map(|id| id.0).collect()),
        elr: elr.unwrap_or_default().iter().map(|id| id.0).collect(),
    }
}
