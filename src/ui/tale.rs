//! The landing's story: whose leadership ended and how, who leads since, and whether the shop has heard enough since then
//! to tell it.
//!
//! Read off the history at the position one stands at, so that it is right wherever somebody goes, and whatever cut a
//! future off or brought it back. Deliberately absent: how it is told.

use crate::cluster::event::Outcome;
use crate::cluster::{BrokerId, Node, Tag};
use crate::config::Acks;
use crate::history::Mark;
use crate::ledger::present::Fate;
use crate::ledger::{Story, When};
use crate::log::Errors;
use crate::ui::session::Session;
use crate::ui::view::look::{Ending, Look};

/// After so many answers since the election the story is told.
const TOLD_AFTER: usize = 3;

/// Virtual microseconds without any answer after which the shop counts as waiting.
const SILENCE: u64 = 1_000_000;

/// The end of a leadership, and what came after.
#[derive(Clone, Debug, PartialEq)]
pub struct Tale {
    /// The position at which it ended.
    pub at: usize,
    /// Who led.
    pub who: BrokerId,
    /// How that broker came down; nothing where it runs on, and another was elected all the same.
    pub how: Option<Ending>,
    /// The position at which another was elected, if one was.
    elected: Option<usize>,
    /// How many answers the shop got since then.
    answers: usize,
    /// Whether it waits longer than usual for the next.
    waits: bool,
}

impl Tale {
    /// The latest that has begun where a run stands.
    pub fn of(session: &Session) -> Option<Tale> {
        let mut tale = end_of_leadership(session)?;
        let look = session.look();
        tale.how = look.ending(tale.who);
        if let Some(elected) = tale.elected {
            let since = answers(&look, elected as u64);
            let last = since.iter().map(|when| when.at).max();
            tale.answers = since.len();
            tale.waits = last.is_none_or(|last| look.world.now() - last > SILENCE);
        }
        Some(tale)
    }

    /// Whether it can be told: another leads, and a few more payments are decided.
    pub fn is_told(&self) -> bool {
        self.answers >= TOLD_AFTER
    }

    /// Whether another was elected.
    pub fn has_election(&self) -> bool {
        self.elected.is_some()
    }

    /// Whether nothing is to be seen but waiting: for the election, or for an answer.
    pub fn waits(&self) -> bool {
        !self.is_told() && (self.elected.is_none() || self.waits)
    }

    /// Why the shop has no answer yet although another leads.
    pub fn silence(&self, look: &Look<'_>) -> Silence {
        let broker = Node::Broker(self.who);
        let mut shops = look.world.clients().filter(|(_, client)| client.is_producer());
        match self.how {
            Some(Ending::PoweredOff) => Silence::NoPower,
            Some(Ending::Killed | Ending::Stopped) => Silence::Asks,
            None if look.world.broker(self.who).is_some_and(|broker| broker.is_paused()) => Silence::Frozen,
            None if shops.any(|(shop, _)| !look.world.network().connects(Node::Client(shop), broker)) => Silence::Cut,
            None => Silence::Unheard,
        }
    }

    /// What became of the payments.
    pub fn ending(&self, look: &Look<'_>) -> Became {
        let lost = look.lost();
        if !lost.is_empty() {
            let acks = acks_of(look, &lost);
            return Became::Lost { lost, acks };
        }
        let records = records(look);
        let sent = records
            .iter()
            .filter(|(_, story)| matches!(story.told, Some((_, Outcome::Sent))));
        let fates: Vec<(Tag, Fate)> = sent.map(|(tag, _)| (*tag, look.fate(*tag))).collect();
        if !fates.is_empty() {
            let gone = |fate: &Fate| matches!(fate, Fate::Truncated | Fate::NeverArrived | Fate::Lost);
            return Became::Unconfirmed {
                sent: fates.len(),
                gone: fates
                    .iter()
                    .filter(|(_, fate)| gone(fate))
                    .map(|(tag, _)| *tag)
                    .collect(),
            };
        }
        if let Some(error) = self.refused_with(look, &records) {
            return Became::Refused(error);
        }
        let acknowledged: Vec<Tag> = look.ledger.acknowledged(look.partition).collect();
        Became::Kept {
            acknowledged: acknowledged.len(),
            acks: acks_of(look, &acknowledged),
        }
    }

    /// The error after which payments are tried again since the election, if that is all that the shop hears.
    fn refused_with(&self, look: &Look<'_>, records: &[(Tag, &Story)]) -> Option<Errors> {
        let since = self.elected? as u64;
        let mut refused = None;
        for (tag, story) in records {
            match story.told {
                Some((when, Outcome::Acked(_))) if when.step > since => return None,
                Some((when, Outcome::Failed(error))) if when.step > since => refused = Some(error),
                _ => {}
            }
            let tries = look.ledger.retries(*tag).iter().filter(|(when, _)| when.step > since);
            refused = tries.map(|(_, error)| *error).next_back().or(refused);
        }
        refused
    }
}

/// Why a client hears nothing of a leader that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Its connection was closed with the process, and it asks whom else there is.
    Asks,
    /// A host without power closes nothing.
    NoPower,
    /// Neither does a frozen process.
    Frozen,
    /// What is sent on the path is lost.
    Cut,
    /// Nothing but time is in the way.
    Unheard,
}

/// What became of the payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// Confirmed ones are gone; `acks` is what all of them were sent with, if it was the same.
    Lost {
        /// Which.
        lost: Vec<Tag>,
        /// What a yes meant for them.
        acks: Option<Acks>,
    },
    /// With acks=0 nobody was ever told.
    Unconfirmed {
        /// How many were sent so.
        sent: usize,
        /// Which of these are in no log that counts.
        gone: Vec<Tag>,
    },
    /// All that was confirmed is there, and nothing is confirmed any more.
    Refused(Errors),
    /// All that was confirmed is there.
    Kept {
        /// How many that were.
        acknowledged: usize,
        /// What all of them were sent with, if it was the same.
        acks: Option<Acks>,
    },
}

/// The latest end of the leadership of the partition in view.
fn end_of_leadership(session: &Session) -> Option<Tale> {
    let history = session.playback().history();
    let here = history.position();
    let mut leader = session.begun().image().leader(session.partition());
    let mut tale: Option<Tale> = None;
    let begin = |at, who, elected| Tale {
        at,
        who,
        how: None,
        elected,
        answers: 0,
        waits: false,
    };
    let seen = history
        .marks()
        .filter(|(position, _)| session.number_of(*position) > 0)
        .take_while(|(position, _)| *position <= here);
    for (position, mark) in seen.flat_map(|(position, marks)| marks.iter().map(move |mark| (position, mark))) {
        match mark {
            Mark::Crash(broker) if leader == Some(*broker) => tale = Some(begin(position, *broker, None)),
            Mark::Election(partition, to) if *partition == session.partition() => {
                let now = to.map(|_| position);
                match (&mut tale, leader) {
                    (Some(open), _) if open.elected.is_none() => open.elected = now,
                    (_, Some(who)) if *to != Some(who) => tale = Some(begin(position, who, now)),
                    _ => {}
                }
                leader = *to;
            }
            _ => {}
        }
    }
    tale
}

fn records<'a>(look: &Look<'a>) -> Vec<(Tag, &'a Story)> {
    let clients = look.world.clients().filter(|(_, client)| client.is_producer());
    clients.flat_map(|(client, _)| look.recent(client)).collect()
}

/// When the shop heard anything of a payment since a step: a yes, an error, that it has to be sent again.
fn answers(look: &Look<'_>, since: u64) -> Vec<When> {
    let mut found = Vec::new();
    for (tag, story) in records(look) {
        let told = story.told.iter().map(|(when, _)| *when);
        let tries = look.ledger.retries(tag).iter().map(|(when, _)| *when);
        found.extend(told.chain(tries).filter(|when| when.step > since));
    }
    found
}

/// The `acks` with which all of these records were sent, if it was the same.
fn acks_of(look: &Look<'_>, records: &[Tag]) -> Option<Acks> {
    let mut found = records
        .iter()
        .map(|tag| look.ledger.story(*tag).and_then(|story| story.acks));
    let first = found.next()??;
    found.all(|other| other == Some(first)).then_some(first)
}
