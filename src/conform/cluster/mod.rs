//! Recordings of a real three-broker cluster under failures, against [`World`](crate::cluster::World).
//!
//! A recording is a script of steps with what was observed after each; the last line holds every replica's log, the
//! checkpoints and all states that the controller wrote. Each step becomes inputs of the world, with the recording's
//! timings as broker configs; then the world runs as the recorder waited, until nothing has changed for a while. Every
//! field is compared except those that differed between two runs of the real cluster (`racy`).
//!
//! Where a script leaves something to chance that decides what follows, each way it can go is tried, and the recording
//! must be one of them.

mod ask;
mod chance;
mod clients;
mod conditions;
mod ends;
mod members;
mod perform;
mod run;
mod state;
mod step;

use super::{Difference, Malformed, Recording, Replay, Replayed};
use crate::conform::compare::differences;
use chance::Chance;
use run::Run;
use serde::Deserialize;
use serde_json::Value;
use step::{Header, Line, Step};

/// Replays kind `cluster`.
pub struct Recorded;

impl Replay for Recorded {
    fn kind(&self) -> &'static str {
        "cluster"
    }

    fn ends_with(&self) -> Option<&'static str> {
        Some("logs")
    }

    fn replay(&self, recording: &Recording) -> Result<Replayed, Malformed> {
        let header = Header::deserialize(&recording.header).map_err(|error| Malformed::new("header", error))?;
        let mut way = Way::new(recording, &header, Chance::default())?;
        let mut tries = MOST_TRIES;
        while let Some(further) = way.further(recording, &header, &mut tries) {
            way = further;
        }
        let chance = way.chance.told();
        Ok(Replayed { chance, ..way.replayed })
    }
}

/// So many ways of one recording are tried; of those that are kept here none needs more than twenty.
const MOST_TRIES: usize = 300;

/// A way that chance can go, and what came of it.
struct Way {
    chance: Chance,
    replayed: Replayed,
}

/// So many single changes of a way are also tried in pairs.
const MOST_IN_PAIRS: usize = 16;

impl Way {
    fn new(recording: &Recording, header: &Header, chance: Chance) -> Result<Way, Malformed> {
        let replayed = attempt(recording, header, &chance)?;
        Ok(Way { chance, replayed })
    }

    /// A way that agrees with the recording further than this one: it differs in one thing, or if there is none in two.
    fn further(&self, recording: &Recording, header: &Header, tries: &mut usize) -> Option<Way> {
        if self.replayed.differences.is_empty() {
            return None;
        }
        let step = usize::try_from(self.replayed.operations).ok()?.checked_sub(1)?;
        let others = |chance: &Chance| chance.others(recording, header, step);
        let single = others(&self.chance);
        let pairs = single.iter().take(MOST_IN_PAIRS).flat_map(others);
        let better = |chance: Chance| {
            *tries = tries.checked_sub(1)?;
            // What cannot be is no way.
            let other = Way::new(recording, header, chance).ok()?;
            let is_better =
                other.replayed.differences.is_empty() || other.replayed.operations > self.replayed.operations;
            is_better.then_some(other)
        };
        single.clone().into_iter().chain(pairs).find_map(better)
    }
}

/// One replay, in which chance goes one way.
fn attempt(recording: &Recording, header: &Header, chance: &Chance) -> Result<Replayed, Malformed> {
    let mut run = Run::new(header, chance)?;
    let mut replayed = Replayed::default();
    for (index, value) in recording.lines.iter().enumerate() {
        let place = format!("line {}", index + 2);
        if value.get("logs").is_some() {
            replayed.operations += 1;
            run.wait(ends::LAST_CHECKPOINT);
            let mut ours = ends::of(&run);
            replayed.skipped.extend(ends::settle_races(value, &mut ours));
            replayed.skipped.extend(ends::settle_recovery_points(value, &mut ours));
            replayed.differences = compare("end", value, value, ours);
            break;
        }
        let line = Line::deserialize(value).map_err(|error| Malformed::new(&place, error))?;
        let name = line.step.get("do").and_then(Value::as_str).unwrap_or_default();
        let operation = format!("{} {name}", line.i);
        let step = Step::deserialize(&line.step).map_err(|error| Malformed::new(&place, error))?;
        run.wait(chance.wait_before(index));
        let consumer = line.step.get("name").and_then(Value::as_str);
        run.hand_over_early(consumer, chance.early_before(index));
        let mut ours = run.perform(step).map_err(|error| Malformed::new(&place, error))?;
        if line.observed.get("state").is_some() {
            run.settle();
            ours.insert("state".to_owned(), state::of(&run));
        }
        replayed.operations += 1;
        replayed.differences = compare(&operation, value, &line.observed, Value::Object(ours));
        if !replayed.differences.is_empty() {
            break;
        }
    }
    Ok(replayed)
}

/// Where an observation and ours differ, apart from what is racy; `line` names the racy paths.
fn compare(operation: &str, line: &Value, observed: &Value, mut ours: Value) -> Vec<Difference> {
    let mut kafka = observed.clone();
    if let Some(fields) = kafka.as_object_mut() {
        fields.remove("racy");
    }
    let racy = line.get("racy").and_then(Value::as_array);
    for path in racy.into_iter().flatten().filter_map(Value::as_str) {
        let pointer = format!("/{path}");
        for side in [&mut kafka, &mut ours] {
            if let Some(place) = side.pointer_mut(&pointer) {
                *place = Value::from("racy");
            }
        }
    }
    ends::normalize(&mut kafka);
    ends::normalize(&mut ours);
    members::sort_records(&mut kafka);
    members::sort_records(&mut ours);
    differences(operation, "observed", &kafka, &ours)
}
