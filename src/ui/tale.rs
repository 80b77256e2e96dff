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
    /// Whether it hears no more: every payment is decided.
    over: bool,
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
            tale.over = look.world.undecided() == 0;
            tale.waits = last.is_none_or(|last| look.world.now() - last > SILENCE);
        }
        Some(tale)
    }

    /// Whether it can be told: somebody was elected, and a few more payments are decided, or all of them.
    pub fn is_told(&self) -> bool {
        self.answers >= TOLD_AFTER || self.over
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
        let records = records(look);
        let refused = self.refused_with(look, &records);
        if !lost.is_empty() {
            let acks = acks_of(look, &lost);
            return Became::Lost { lost, acks, refused };
        }
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
        if let Some(error) = refused {
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
        /// The error, if nothing is confirmed any more.
        refused: Option<Errors>,
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
        over: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::act::{Act, Go};
    use crate::ui::page::Page;

    fn landed() -> Page {
        let mut page = Page::landing();
        go(&mut page, 40);
        page
    }

    fn go(page: &mut Page, steps: usize) {
        page.playing = true;
        for _ in 0..steps {
            page.tick();
        }
    }

    fn act(page: &mut Page, line: &str) {
        page.perform(Act::Do(line.into()));
        assert_eq!(page.notice, None, "{line}");
    }

    fn play(page: &mut Page) {
        page.playing = true;
        assert!((0..5_000).any(|_| !page.tick()), "it plays on for ever");
    }

    fn session(page: &Page) -> &Session {
        page.session.as_ref().expect("a run")
    }

    #[test]
    fn a_leader_that_starts_again_within_its_session_is_not_the_one_elected() {
        let mut page = landed();
        act(&mut page, "kill 1");
        act(&mut page, "start 1");
        let tale = Tale::of(session(&page)).expect("a leadership has ended");
        assert!(!tale.has_election() && !tale.is_told());
    }

    #[test]
    fn a_story_without_payments_to_come_is_told_once_somebody_leads() {
        let mut page = landed();
        for line in ["kill 2", "kill 3", "run for 15s", "kill 1", "run until acked"] {
            act(&mut page, line);
        }
        assert!(!Tale::of(session(&page)).expect("it has ended").is_told());
        act(&mut page, "start 1");
        act(&mut page, "run until leader payments-0 = 1");
        assert!(Tale::of(session(&page)).expect("it has ended").is_told());
    }

    #[test]
    fn what_was_set_is_kept_for_another_time() {
        let mut page = landed();
        page.perform(Act::Turn("min.insync.replicas", "3".into()));
        page.perform(Act::Turn("acks", "all".into()));
        page.perform(Act::Turn("replica.lag.time.max.ms", "12s".into()));
        page.perform(Act::KillLeader);
        play(&mut page);
        for act in [Act::Restart, Act::RestartWith("acks", "all".into())] {
            page.perform(act);
            let world = session(&page).playback().world();
            let topic = world.settings().topics.values().next().expect("it is there");
            assert_eq!(topic.config.min_insync_replicas, 3);
            let broker = world.settings().broker(BrokerId(1));
            assert_eq!(broker.replica_lag_time_max_ms, 12_000);
            let mut producers = world.clients().filter_map(|(_, client)| client.as_producer());
            assert!(producers.all(|producer| producer.config().acks == Acks::All));
        }
    }

    #[test]
    fn a_cut_can_be_undone_whatever_is_said_meanwhile() {
        let mut page = landed();
        page.perform(Act::Go(Go::To(20)));
        page.perform(Act::Produce);
        let cut = page.cut_off().expect("the future was cut off");
        page.perform(Act::Copied(Ok(())));
        assert!(page.notice.is_some());
        assert_eq!(page.cut_off(), Some(cut));
        page.perform(Act::Go(Go::Back));
        assert_eq!(page.cut_off(), Some(cut));
        page.perform(Act::DismissCut);
        assert_eq!(page.cut_off(), None);
    }

    #[test]
    fn among_many_acknowledgements_one_jumps_to_the_next() {
        let mut page = Page::landing();
        go(&mut page, 400);
        let mut places = vec![session(&page).position()];
        for go in [Go::PreviousMark, Go::PreviousMark, Go::NextMark] {
            page.perform(Act::Go(go));
            places.push(session(&page).position());
        }
        assert!(places[1] < places[0] && places[2] < places[1], "{places:?}");
        assert_eq!(places[3], places[1]);
    }
}
