//! The trial of a design: attack after attack, a few steps at a time, so that whoever watches is never blocked.
//!
//! Attacks with the same beginning share the world that it leads to. Deliberately absent: clocks; whoever calls says how
//! many steps may be made.

use std::sync::Arc;

use super::attack::{Attack, attacks};
use super::script::{self, Chapter, chapters, played, struck};
use super::{Demand, Design};
use crate::cluster::event::{self, Tag};
use crate::cluster::ids::TopicPartition;
use crate::cluster::{World, step};
use crate::ledger::Ledger;
use crate::scenario::ast::{Line, Script, Statement};
use crate::scenario::look::judge;
use crate::scenario::{Names, Next, Player, parse_statement, setup};
use crate::sorted::SortedSet;

/// Whether a trial goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// There is more to do.
    On,
    /// Everything was tried.
    Done,
}

/// What came of an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The attack.
    pub attack: Attack,
    /// Partitions that a new record could not be written to, each with what its producer was told.
    pub refused: Vec<(u32, String)>,
    /// Partitions whose acknowledged records could be read only once the struck brokers were back.
    pub late: Vec<u32>,
    /// Partitions whose acknowledged records could not even then all be read, though none was lost.
    pub stuck: Vec<u32>,
    /// Partitions that have lost acknowledged records.
    pub lost: Vec<u32>,
}

/// An outcome in a word, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Writing goes on, and everything acknowledged is there.
    Holds,
    /// Everything acknowledged is there and can be read, but not everywhere can be written.
    Refuses,
    /// Something acknowledged waits for a struck broker, or for an operator.
    Waits,
    /// Something acknowledged is lost.
    Loses,
}

impl Outcome {
    /// The outcome in a word.
    pub fn verdict(&self) -> Verdict {
        if !self.lost.is_empty() {
            Verdict::Loses
        } else if !self.late.is_empty() || !self.stuck.is_empty() {
            Verdict::Waits
        } else if !self.refused.is_empty() {
            Verdict::Refuses
        } else {
            Verdict::Holds
        }
    }
}

/// A world, what became of its records, and what has been named in it.
#[derive(Clone)]
struct State {
    world: World,
    ledger: Ledger,
    names: Names,
}

/// Statements that are being played.
struct Playing {
    state: State,
    player: Player,
    events: Vec<event::Event>,
}

/// A trial under way.
pub struct Trial {
    design: Design,
    demand: Demand,
    attacks: Vec<Attack>,
    outcomes: Vec<Outcome>,
    busy: Option<u32>,
    /// The chapters played so far of the attack that is under way, each with the state behind it.
    path: Vec<(Chapter, State)>,
    /// What was missing before the struck brokers came back.
    missing: Option<Missing>,
    playing: Option<Playing>,
}

/// What an attack has left without, as long as the struck brokers are down.
struct Missing {
    refused: Vec<(u32, String)>,
    unread: Vec<u32>,
}

impl Trial {
    /// A trial that has not begun.
    ///
    /// # Errors
    /// Why the design cannot be tried: what is wrong, and what to do.
    pub fn new(design: Design, demand: Demand) -> Result<Trial, String> {
        if let Some(why) = demand.refuses(design) {
            return Err(why);
        }
        Ok(Trial {
            attacks: attacks(&demand),
            design,
            demand,
            outcomes: Vec::new(),
            busy: None,
            path: Vec::new(),
            missing: None,
            playing: None,
        })
    }

    /// What is tried.
    pub fn design(&self) -> Design {
        self.design
    }

    /// What it must stand.
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// How many attacks there are.
    pub fn len(&self) -> usize {
        self.attacks.len()
    }

    /// Whether there is nothing to try; never so, since being left alone is tried too.
    pub fn is_empty(&self) -> bool {
        self.attacks.is_empty()
    }

    /// What came of the attacks so far, in the order of [`attacks`].
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// How many consumers of the group got a partition; nothing as long as that is not known.
    pub fn busy(&self) -> Option<u32> {
        self.busy
    }

    /// Whether everything was tried.
    pub fn is_done(&self) -> bool {
        self.busy.is_some() && self.outcomes.len() == self.attacks.len()
    }

    /// Whether everything was tried, the design stood all of it, and every consumer has work.
    pub fn is_met(&self) -> bool {
        self.is_done() && !self.is_broken()
    }

    /// Whether something that was tried already is not as the demand wants it.
    pub fn is_broken(&self) -> bool {
        let idle = self.busy.is_some_and(|busy| busy < self.demand.consumers);
        idle || self.outcomes.iter().any(|outcome| outcome.verdict() != Verdict::Holds)
    }

    /// Goes on by at most so many steps of the engine.
    ///
    /// # Errors
    /// Why a world cannot be built or go on.
    pub fn advance(&mut self, steps: usize) -> Result<Going, String> {
        let mut left = steps;
        while left > 0 && !self.is_done() {
            let mut playing = match self.playing.take() {
                Some(playing) => playing,
                None => self.begin()?,
            };
            match playing.advance(&mut left)? {
                Going::On => self.playing = Some(playing),
                Going::Done => self.arrived(playing.state),
            }
        }
        Ok(if self.is_done() { Going::Done } else { Going::On })
    }

    /// The attack that is under way or comes next.
    fn attack(&self) -> Option<&Attack> {
        self.attacks.get(self.outcomes.len())
    }

    /// Its chapters, with the return of the struck brokers where something waits for them.
    fn chapters(&self) -> Vec<Chapter> {
        let Some(attack) = self.attack() else { return Vec::new() };
        let mut chapters = chapters(attack);
        if self.missing.is_some() {
            chapters.push(Chapter::Return(struck(attack)));
        }
        chapters
    }

    /// Begins what comes next: the group, or a chapter of the attack. What an earlier attack has in common with it stays.
    fn begin(&mut self) -> Result<Playing, String> {
        if self.busy.is_none() {
            let lines = script::group(self.design.partitions, self.demand.consumers);
            return Playing::anew(&lines);
        }
        let chapters = self.chapters();
        let played = self.path.iter().map(|(chapter, _)| chapter);
        let shared = played.zip(&chapters).take_while(|(a, b)| a == b).count();
        self.path.truncate(shared);
        let chapter = chapters.get(shared).ok_or("nothing is left to be played")?;
        let lines = script::lines(chapter, self.design, &self.demand);
        match self.path.last() {
            Some((_, state)) => Playing::on(state.clone(), &lines),
            None => Playing::anew(&lines),
        }
    }

    /// The group has settled, or a chapter is over.
    fn arrived(&mut self, state: State) {
        if self.busy.is_none() {
            self.busy = Some(busy(&state, self.demand.consumers));
            return;
        }
        let chapters = self.chapters();
        if let Some(chapter) = chapters.get(self.path.len()) {
            self.path.push((chapter.clone(), state));
        }
        if self.path.len() == chapters.len() {
            self.look();
        }
    }

    /// At the end of an attack: what came of it, unless something is missing that may come back.
    fn look(&mut self) {
        let (Some(attack), Some((_, state))) = (self.attack().cloned(), self.path.last()) else {
            return;
        };
        let partitions = played(self.design, &self.demand);
        let unread = unread(state);
        let before = self.missing.take();
        if before.is_none() && !unread.is_empty() && !attack.strikes().is_empty() {
            let refused = refused(state, partitions);
            self.missing = Some(Missing { refused, unread });
            return;
        }
        let lost = lost(state);
        let Missing { refused, unread: late } = before.unwrap_or_else(|| Missing {
            refused: refused(state, partitions),
            unread: Vec::new(),
        });
        let late: Vec<u32> = late
            .into_iter()
            .filter(|at| !unread.contains(at) && !lost.contains(at))
            .collect();
        let stuck: Vec<u32> = unread.into_iter().filter(|at| !lost.contains(at)).collect();
        let outcome = Outcome {
            attack,
            refused: self.every(|at| refused.iter().find(|(of, _)| *of == at).map(|(_, why)| why.clone())),
            late: self.every_of(&late),
            stuck: self.every_of(&stuck),
            lost: self.every_of(&lost),
        };
        self.outcomes.push(outcome);
    }

    /// What holds of a partition that was played holds of every one with the same replicas.
    fn every<T>(&self, of_played: impl Fn(u32) -> Option<T>) -> Vec<(u32, T)> {
        let all = 0..self.design.partitions;
        all.filter_map(|at| Some((at, of_played(at % self.demand.brokers)?)))
            .collect()
    }

    fn every_of(&self, played: &[u32]) -> Vec<u32> {
        let all = self.every(|at| played.contains(&at).then_some(()));
        all.into_iter().map(|(at, ())| at).collect()
    }
}

impl Playing {
    /// In a new world, whose first statements stand at the beginning of these.
    fn anew(lines: &[String]) -> Result<Playing, String> {
        let mut names = Names::default();
        let script = read(lines, &mut names)?;
        let (setup, used) = setup(&script).map_err(|(_, refused)| format!("{}; {}", refused.reason, refused.remedy))?;
        let state = State {
            world: World::new(setup),
            ledger: Ledger::default(),
            names,
        };
        Ok(Playing::new(state, script, used))
    }

    /// In a world that is there.
    fn on(mut state: State, lines: &[String]) -> Result<Playing, String> {
        let script = read(lines, &mut state.names)?;
        Ok(Playing::new(state, script, 0))
    }

    fn new(state: State, script: Script, used: usize) -> Playing {
        Playing {
            state,
            player: Player::new(Arc::new(script), used),
            events: Vec::new(),
        }
    }

    /// Goes on as long as steps are left.
    fn advance(&mut self, left: &mut usize) -> Result<Going, String> {
        let State { world, ledger, .. } = &mut self.state;
        while *left > 0 {
            match self.player.next(world, ledger) {
                Next::Perform(_, input) => {
                    self.events.clear();
                    step(world, input, &mut self.events)
                        .map_err(|refused| format!("{}; {}", refused.reason, refused.remedy))?;
                    ledger.step(&self.events);
                    *left -= 1;
                }
                Next::Stopped(_, stop) => return Err(stop.to_string()),
                Next::Judged(..) | Next::Passed(_) => {}
                Next::Finished => return Ok(Going::Done),
            }
        }
        Ok(Going::On)
    }
}

/// Reads statements, with what has been named before them.
fn read(lines: &[String], names: &mut Names) -> Result<Script, String> {
    let mut script = Script {
        lines: Vec::new(),
        trace: None,
    };
    for (number, text) in (1..).zip(lines) {
        let wrong = |fault: crate::scenario::Fault| format!("found {}, expected {}", fault.found, fault.expected);
        let statement = parse_statement(text, names).map_err(wrong)?;
        names.declare(&statement);
        script.lines.push(Line::new(number, statement));
    }
    Ok(script)
}

/// How many consumers have a partition.
fn busy(state: &State, consumers: u32) -> u32 {
    let has_work = |number: &u32| {
        let asked = parse_statement(&format!("expect assignment c{number}"), &state.names);
        matches!(asked, Ok(Statement::Expect(asked)) if judge(&asked, &state.world, &state.ledger).holds)
    };
    (1..=consumers).filter(has_work).count() as u32
}

/// The partitions that the probe could not write to, and what it was told.
fn refused(state: &State, partitions: u32) -> Vec<(u32, String)> {
    let State { world, ledger, .. } = state;
    let Some(client) = world.client_named("probe") else {
        return Vec::new();
    };
    let told = |partition: u32| {
        let number = partition + 1;
        match ledger.story(Tag { client, number })?.told {
            Some((_, event::Outcome::Acked(_))) => None,
            Some((_, event::Outcome::Failed(error))) => Some((partition, error.name().to_string())),
            Some((_, event::Outcome::Sent)) | None => Some((partition, "no answer".to_string())),
        }
    };
    (0..partitions).filter_map(told).collect()
}

/// The partitions of which the reader has not got every acknowledged record.
fn unread(state: &State) -> Vec<u32> {
    let State { world, ledger, .. } = state;
    let reader = world.client_named("reader");
    let got: SortedSet<u64> = reader
        .into_iter()
        .flat_map(|reader| ledger.read(reader))
        .map(|seen| seen.tag.to_bits())
        .collect();
    of_partitions(state, |at| {
        ledger.acknowledged(at).any(|tag| !got.contains(&tag.to_bits()))
    })
}

/// The partitions that have lost acknowledged records.
fn lost(state: &State) -> Vec<u32> {
    of_partitions(state, |at| !state.ledger.lost_records(&state.world, at).is_empty())
}

fn of_partitions(state: &State, is_one: impl Fn(TopicPartition) -> bool) -> Vec<u32> {
    let all = state.world.partitions().into_iter();
    all.filter(|at| is_one(*at)).map(|at| at.partition).collect()
}
