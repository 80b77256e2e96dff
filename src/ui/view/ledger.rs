//! The ledger as a table: each record a column, what its application was told above, what is true below.

use std::rc::Rc;

use crate::cluster::event::Outcome;
use crate::cluster::settings::Micros;
use crate::cluster::{BrokerId, ClientId, Tag};
use crate::ledger::Story;
use crate::ledger::present::{Custody, Fate, Host, Where};
use crate::sorted::sort_by;
use crate::ui::view::lanes::told;
use crate::ui::view::look::Look;
use crate::ui::view::names::time;
use crate::ui::view::panels::{Chip, LedgerColumn, LedgerTable, Tone};
use crate::ui::view::stage::Told;

/// How many records that wait to be sent are shown.
const WAITING_SHOWN: usize = 2;

/// The latest records, at most so many, in the order in which they were handed over.
pub fn table(look: &Look<'_>, most: usize) -> LedgerTable {
    let producers: Vec<ClientId> = look
        .world
        .clients()
        .filter(|(_, client)| client.is_producer())
        .map(|(id, _)| id)
        .collect();
    let total: u32 = producers.iter().map(|client| look.ledger.tally(*client).handed).sum();
    let mut records: Vec<(Tag, &Story)> = producers.iter().flat_map(|client| look.recent(*client)).collect();
    sort_by(&mut records, |(a, x), (b, y)| (x.handed, a).cmp(&(y.handed, b)));
    // Records that only wait to be sent say nothing yet; the first few stand for all of them.
    let mut waiting = 0;
    records.retain(|(_, story)| {
        waiting += usize::from(story.attempts == 0 && story.told.is_none());
        waiting <= WAITING_SHOWN || story.attempts > 0 || story.told.is_some()
    });
    let later = waiting.saturating_sub(WAITING_SHOWN);
    let mut shown = records.split_off(records.len().saturating_sub(most));
    // What is gone does not leave the table with time: the first of it stands before the latest.
    let gone = |(tag, story): &(Tag, &Story)| is_gone(story, || look.fate(*tag));
    let kept: Vec<(Tag, &Story)> = records.into_iter().filter(gone).take(most / 3).collect();
    let over = (shown.len() + kept.len()).saturating_sub(most);
    shown.splice(..over, kept);
    let brokers: Vec<BrokerId> = look.world.broker_ids().collect();
    let longest = shown.iter().filter_map(|(_, story)| story.latency()).max().unwrap_or(0);
    LedgerTable {
        brokers: brokers.iter().map(|id| Rc::from(format!("broker {id}"))).collect(),
        earlier: (total as usize).saturating_sub(shown.len() + later),
        later,
        columns: shown
            .iter()
            .map(|(tag, story)| column(look, *tag, story, &brokers, longest))
            .collect(),
    }
}

/// Whether a record is gone that its application took for written.
fn is_gone(story: &Story, fate: impl Fn() -> Fate) -> bool {
    match story.told {
        Some((_, Outcome::Sent)) => matches!(fate(), Fate::Truncated | Fate::NeverArrived | Fate::Lost),
        Some((_, Outcome::Acked(_))) => fate() == Fate::Lost,
        _ => false,
    }
}

fn column(look: &Look<'_>, tag: Tag, story: &Story, brokers: &[BrokerId], longest: Micros) -> LedgerColumn {
    let custody = look.ledger.custody(look.world, tag);
    let refused = look.ledger.refused(tag);
    let copy = |id: &BrokerId| {
        let Some(copy) = custody.iter().find(|copy| copy.broker == *id) else {
            return (Chip::new(Tone::No, ""), false);
        };
        let chip = match copy.place {
            Where::Cache => Chip::new(Tone::Cache, "cache"),
            Where::Disk => Chip::new(Tone::Disk, "disk"),
            Where::Truncated => Chip::new(Tone::Ghost, "cut off"),
            Where::Absent => match copy.taken {
                Some(_) => Chip::new(Tone::Ghost, "gone"),
                None => Chip::new(Tone::No, "–"),
            },
        };
        (chip, copy.host == Host::Down)
    };
    LedgerColumn {
        client: tag.client.0,
        number: tag.number,
        label: look.names.record(tag).into(),
        told: match refused {
            Some(_) => Chip::new(Tone::Warn, "retrying"),
            None => told_chip(&told(look, tag, story)),
        },
        refused: refused.map(|error| error.name()),
        waited: story.latency().map(|latency| {
            let percent = latency * 100 / longest.max(1);
            (time(latency).into(), u8::try_from(percent).unwrap_or(100))
        }),
        copies: brokers.iter().map(copy).collect(),
        fate: match look.fate(tag) {
            Fate::InFlight if refused.is_some() => Chip::new(Tone::Wait, "not written"),
            fate => truth(fate, &custody),
        },
    }
}

fn told_chip(told: &Told) -> Chip {
    match told {
        Told::Held => Chip::new(Tone::Wait, "waiting"),
        Told::InFlight => Chip::new(Tone::Wait, "in flight"),
        Told::Sent => Chip::new(Tone::Plain, "sent"),
        // What the application was told stays what it was told: that it is not true stands a few lines below.
        Told::Acked | Told::AckedLost => Chip::new(Tone::Ok, "acked"),
        Told::Failed(_) => Chip::new(Tone::Bad, "failed"),
    }
}

fn truth(fate: Fate, custody: &[Custody]) -> Chip {
    let is_held = custody
        .iter()
        .any(|copy| matches!(copy.place, Where::Cache | Where::Disk));
    match fate {
        Fate::Acknowledged | Fate::Committed => Chip::new(Tone::Ok, "kept"),
        Fate::Appended => Chip::new(Tone::Wait, "open"),
        Fate::InFlight => Chip::new(Tone::Wait, "on its way"),
        Fate::Lost => Chip::new(Tone::Bad, "lost"),
        Fate::Refused | Fate::TimedOut | Fate::NeverArrived => Chip::new(Tone::No, "not written"),
        // The leader's log is without it, and a broker that does not follow yet has its copy still.
        Fate::Truncated if is_held => Chip::new(Tone::Ghost, "left behind"),
        Fate::Truncated => Chip::new(Tone::Ghost, "cut off"),
        Fate::Expired => Chip::new(Tone::Ghost, "expired"),
        Fate::Deleted => Chip::new(Tone::Ghost, "deleted"),
        Fate::Compacted => Chip::new(Tone::Ghost, "compacted"),
    }
}
