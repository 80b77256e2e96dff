//! A record as its producer saw it beside what is: attempts and errors, what the application was told, what the log holds,
//! and who has read it.
//!
//! Deliberately absent: a judgement. That a record failed and stands in the log all the same is no contradiction: an error
//! says that nobody knows.

use std::rc::Rc;

use crate::cluster::event::Outcome;
use crate::cluster::{BrokerId, ClientId, Tag};
use crate::ledger::present::{Fate, Where};
use crate::ledger::{Story, When};
use crate::log::Errors;
use crate::ui::view::look::Look;
use crate::ui::view::names::{brokers_said, time};

/// What is known of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldAndTrue {
    /// What the application was told.
    pub told: Rc<str>,
    /// Whether a log holds it, and which.
    pub in_log: Rc<str>,
    /// Whether what was told and what is differ.
    pub differs: bool,
    /// Attempts that came to nothing, those with the same error one after another in one entry.
    pub failures: Vec<Failed>,
    /// Who has read it.
    pub readers: Vec<Rc<str>>,
}

/// Attempts one after another that came to nothing in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The first of them, counted from 1, and the last.
    pub attempts: (usize, usize),
    /// The error's name.
    pub error: &'static str,
    /// When that was known: of the first, and of the last where there are several.
    pub when: Rc<str>,
}

fn folded(failures: &[(When, Errors)]) -> Vec<Failed> {
    let mut before = 0;
    let runs = failures.chunk_by(|(_, one), (_, next)| one == next);
    runs.map(|run| {
        let first = before + 1;
        before += run.len();
        let times = (time(run[0].0.at), time(run[run.len() - 1].0.at));
        Failed {
            attempts: (first, before),
            error: run[0].1.name(),
            when: match run.len() {
                1 => times.0.into(),
                _ => format!("{} to {}", times.0, times.1).into(),
            },
        }
    })
    .collect()
}

/// A record as its producer saw it, and as it is; nothing if it was never handed over.
pub fn of(look: &Look<'_>, client: u16, number: u32) -> Option<ToldAndTrue> {
    let tag = Tag {
        client: ClientId(client),
        number,
    };
    let story = look.ledger.story(tag)?;
    let custody = look.ledger.custody(look.world, tag);
    let holds = custody
        .iter()
        .filter(|copy| matches!(copy.place, Where::Cache | Where::Disk));
    let holders: Vec<BrokerId> = holds.map(|copy| copy.broker).collect();
    let failures = look.ledger.retries(tag);
    let readers = look
        .world
        .clients()
        .filter(|(id, _)| look.ledger.read(*id).any(|seen| seen.tag == tag));
    Some(ToldAndTrue {
        told: told(story).into(),
        in_log: match holders.as_slice() {
            [] => "no".into(),
            holders if look.fate(tag) == Fate::Lost => {
                format!("no: the copy on {} does not count", brokers_said(holders)).into()
            }
            holders => format!("yes, on {}", brokers_said(holders)).into(),
        },
        differs: match story.told {
            Some((_, Outcome::Acked(_))) => holders.is_empty() || look.fate(tag) == Fate::Lost,
            Some((_, Outcome::Failed(_))) => !holders.is_empty(),
            Some((_, Outcome::Sent)) | None => false,
        },
        failures: folded(failures),
        readers: readers.map(|(id, _)| look.names.client(id).into()).collect(),
    })
}

fn told(story: &Story) -> String {
    match story.told {
        None if story.attempts == 0 => "nothing yet: it was not sent".to_string(),
        None => "nothing yet".to_string(),
        Some((when, Outcome::Failed(error))) => {
            format!("failed: {}, at {}", error.name(), time(when.at))
        }
        Some((when, Outcome::Acked(offset))) if offset >= 0 => {
            format!("acknowledged: offset {offset}, at {}", time(when.at))
        }
        Some((when, Outcome::Acked(_))) => format!("acknowledged, at {}", time(when.at)),
        Some((when, Outcome::Sent)) => format!("sent, with acks=0, at {}", time(when.at)),
    }
}
