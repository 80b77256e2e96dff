//! A setting made ready: the world in which its schedules begin, and the statements that may happen in it.

use std::sync::Arc;

use crate::cluster::{Silent, World, step};
use crate::scenario::ast::{Line, Script, Statement};
use crate::scenario::{inputs, parse, setup};

use super::play::{Broken, Play};
use super::schedule::{self, Schedule};
use super::setting::{BROKERS, KINDS, Promise, Setting};
use super::shrink::{self, Found};

/// Where the schedules of one setting are played.
#[derive(Clone)]
pub struct Arena {
    /// The setting.
    pub setting: &'static Setting,
    pub(super) world: World,
    pub(super) happens: Arc<[Arc<Statement>]>,
    /// How much of the total weight lies up to each of them.
    weights: Vec<u32>,
}

impl Arena {
    /// Makes a setting ready.
    ///
    /// # Errors
    /// In words, what is wrong with its statements.
    pub fn new(setting: &'static Setting) -> Result<Arena, String> {
        let (mut lines, mut weights, mut total) = (Vec::new(), Vec::new(), 0);
        for (weight, template) in setting.happens.iter().copied().flatten() {
            let each = expanded(template);
            // A weight is that of all expansions together; scaled, so that it can be shared among them.
            let share = (weight * 60 / each.len() as u32).max(1);
            for line in each {
                total += share;
                weights.push(total);
                lines.push(line);
            }
        }
        let begins = setting.begins.iter().map(|line| (*line).to_owned());
        let text = begins.chain(lines).collect::<Vec<_>>().join("\n");
        let script = parse(text.as_bytes()).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("\n")
        })?;
        let mut begins: Vec<Line> = script.lines;
        let happens: Vec<Line> = begins.split_off(setting.begins.len());
        let world = begun(Script {
            lines: begins,
            trace: None,
        })?;
        Ok(Arena {
            setting,
            world,
            happens: happens.into_iter().map(|line| line.statement).collect(),
            weights,
        })
    }

    /// The schedule of a seed.
    pub fn schedule(&self, seed: u64) -> Schedule {
        schedule::draw(seed, &self.weights)
    }

    /// Plays a schedule. Gives what it broke, and after how many moves, if it broke anything.
    pub fn play(&self, schedule: &[super::Move]) -> Option<(Broken, usize)> {
        self.judge(&mut Play::new(self), schedule)
    }

    fn judge(&self, play: &mut Play<'_>, schedule: &[super::Move]) -> Option<(Broken, usize)> {
        for (at, &next) in schedule.iter().enumerate() {
            play.perform(next);
            if self.is_known(play) {
                return None;
            }
            if let Some(broken) = play.broken() {
                return Some((broken, at + 1));
            }
        }
        play.broken_at_last().map(|broken| (broken, schedule.len()))
    }

    /// Whether Kafka promises nothing of what follows: a leader that forgets an ISR it has asked for may be granted it, and
    /// does not wait for who is in it (`d01-an-isr-wish-forgotten`).
    fn is_known(&self, play: &Play<'_>) -> bool {
        play.forgot && self.setting.promise == Promise::EveryInvariant
    }

    /// The first of these seeds whose schedule breaks something, shrunk.
    pub fn hunt(&self, seeds: impl IntoIterator<Item = u64>) -> Hunt {
        let mut hunt = Hunt::default();
        for seed in seeds {
            let schedule = self.schedule(seed);
            let mut play = Play::new(self);
            let broken = self.judge(&mut play, &schedule);
            hunt.known += u64::from(self.is_known(&play));
            if let Some((broken, moves)) = broken {
                hunt.found = Some(shrink::shrunk(self, seed, &schedule[..moves], broken));
                break;
            }
        }
        hunt
    }
}

/// What came of some schedules.
#[derive(Clone, Debug, Default)]
pub struct Hunt {
    /// The first that broke something that was promised.
    pub found: Option<Found>,
    /// How many were set aside because a leader forgot an ISR that it had asked for, as Kafka's do.
    pub known: u64,
}

/// The world after the statements with which a setting begins.
fn begun(script: Script) -> Result<World, String> {
    let refused = |refused: crate::cluster::Refused| format!("{}; {}", refused.reason, refused.remedy);
    let (setup, used) = setup(&script).map_err(|(_, why)| refused(why))?;
    let mut world = World::new(setup);
    for line in &script.lines[used..] {
        for input in inputs(&line.statement, &world).map_err(refused)? {
            step(&mut world, input, &mut Silent).map_err(refused)?;
        }
    }
    Ok(world)
}

/// A template with every broker and kind of message in its places; nothing passes from a broker to itself.
fn expanded(template: &str) -> Vec<String> {
    let values = |mark: &str, values: &[&'static str]| match template.contains(mark) {
        true => values.to_vec(),
        false => vec![""],
    };
    let mut all = Vec::new();
    for kind in values("{kind}", &KINDS) {
        for b in values("{b}", &BROKERS) {
            for a in values("{a}", &BROKERS).into_iter().filter(|&a| a.is_empty() || a != b) {
                all.push(template.replace("{kind}", kind).replace("{b}", b).replace("{a}", a));
            }
        }
    }
    all
}
