//! A run as a list of inputs: step, go back, seek, change the past.
//!
//! State is derived: a [`History`] holds the inputs, and snapshots of world and ledger at checkpoints from which any
//! position is computed again. Checkpoints share what did not change between them; when there are many, every other one
//! is dropped, so that memory stays bounded and a seek replays a few hundred steps at most.
//!
//! Position `n` is the moment after the first `n` inputs; position 0 is the beginning. An act in the past cuts the future
//! off and says so ([`CutNotice`]); [`History::undo_cut`] brings it back. A script is played on a
//! history by [`playback`]. Deliberately absent: text, and branches, of which only the latest cut is kept.

pub mod mark;
pub mod playback;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::cluster::{Event, Input, Refused, Tag, World, step};
use crate::ledger::Ledger;
use crate::sorted::SortedMap;

pub use mark::Mark;
pub use playback::{Playback, Said, Stepped, Written};

/// Checkpoints kept; at one more every other one is dropped.
const CHECKPOINTS: usize = 64;

/// Steps between checkpoints at the beginning; doubled whenever checkpoints are thinned out.
const FIRST_SPACING: usize = 64;

/// Steps whose events are kept at hand.
const EVENTS_KEPT: usize = 256;

/// World and ledger at one position.
#[derive(Clone)]
pub struct Moment {
    /// The world.
    pub world: World,
    /// What became of each record until then.
    pub ledger: Ledger,
}

impl Moment {
    /// Performs one input; gives back its events and the acknowledged records that are gone since.
    fn perform(&mut self, input: &Input) -> Result<(Vec<Event>, Vec<Tag>), Refused> {
        let mut events = Vec::new();
        step(&mut self.world, input.clone(), &mut events)?;
        self.ledger.step(&events);
        let lost = self.ledger.check(&self.world);
        Ok((events, lost))
    }
}

/// What came of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    /// The future that it cut off, if there was one.
    pub cut: Option<CutNotice>,
}

/// An act in the past has cut the future off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutNotice {
    /// Where.
    pub at: usize,
    /// How many inputs were there.
    pub dropped: usize,
}

/// A future that was cut off.
#[derive(Clone)]
struct Cut {
    at: usize,
    inputs: Vec<Input>,
    marks: SortedMap<usize, Vec<Mark>>,
    checkpoints: SortedMap<usize, Moment>,
}

/// A run.
#[derive(Clone)]
pub struct History {
    inputs: Vec<Input>,
    /// Marks of the step that leads to a position.
    marks: SortedMap<usize, Vec<Mark>>,
    /// Snapshots by position; position 0 is always there.
    checkpoints: SortedMap<usize, Moment>,
    spacing: usize,
    now: Moment,
    position: usize,
    /// Events of the steps last performed, by the position they lead to, ascending.
    events: VecDeque<(usize, Vec<Event>)>,
    cut: Option<Cut>,
}

impl History {
    /// A run that begins with this world.
    pub fn new(world: World) -> History {
        let now = Moment {
            world,
            ledger: Ledger::default(),
        };
        History {
            inputs: Vec::new(),
            marks: SortedMap::new(),
            checkpoints: SortedMap::from([(0, now.clone())]),
            spacing: FIRST_SPACING,
            now,
            position: 0,
            events: VecDeque::new(),
            cut: None,
        }
    }

    /// The world at the present position.
    pub fn world(&self) -> &World {
        &self.now.world
    }

    /// The ledger at the present position.
    pub fn ledger(&self) -> &Ledger {
        &self.now.ledger
    }

    /// How many inputs lead to the present.
    pub fn position(&self) -> usize {
        self.position
    }

    /// How many inputs there are.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// How many snapshots are kept.
    pub fn checkpoints(&self) -> usize {
        self.checkpoints.len()
    }

    /// Whether nothing has been done yet.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Whether the present is the latest moment.
    pub fn at_end(&self) -> bool {
        self.position == self.inputs.len()
    }

    /// All inputs.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Performs an input now. If it is the one that was performed here before, the future stays; if it is another, the
    /// future is cut off.
    ///
    /// # Errors
    /// An input that cannot apply is refused and everything stays as it was.
    pub fn act(&mut self, input: Input) -> Result<Acted, Refused> {
        if self.inputs.get(self.position) == Some(&input) {
            self.forward();
            return Ok(Acted { cut: None });
        }
        let (events, lost) = self.now.perform(&input)?;
        let cut = self.cut_off();
        self.inputs.push(input);
        self.arrive(events, Some(lost));
        Ok(Acted { cut })
    }

    /// Goes one step forward on what was done before; says whether there was one.
    pub fn forward(&mut self) -> bool {
        let Some(input) = self.inputs.get(self.position) else {
            return false;
        };
        match self.now.perform(input) {
            Ok((events, _)) => {
                self.arrive(events, None);
                true
            }
            Err(_) => false,
        }
    }

    /// Goes one step back; says whether there was one.
    pub fn back(&mut self) -> bool {
        self.position > 0 && self.seek(self.position - 1)
    }

    /// Goes to a position; says whether it exists.
    pub fn seek(&mut self, position: usize) -> bool {
        if position > self.inputs.len() {
            return false;
        }
        // The step that leads to the position is always performed, so that its events are at hand.
        let nearest = self.checkpoints.range(..position.max(1)).next_back();
        if let Some((&at, moment)) = nearest
            && (position < self.position || at > self.position)
        {
            self.now = moment.clone();
            self.position = at;
            self.events.clear();
        }
        while self.position < position {
            if !self.forward() {
                return false;
            }
        }
        true
    }

    /// The marks of the step that leads to a position.
    pub fn marks_at(&self, position: usize) -> &[Mark] {
        self.marks.get(&position).map_or(&[], Vec::as_slice)
    }

    /// All marks, by the position that they lead to, ascending.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = (usize, &[Mark])> + '_ {
        self.marks.iter().map(|(position, marks)| (*position, marks.as_slice()))
    }

    /// The next position behind the present one with a mark that counts.
    pub fn next_mark(&self, counts: impl Fn(&Mark) -> bool) -> Option<usize> {
        let mut behind = self.marks.range(self.position + 1..);
        behind
            .find(|(_, marks)| marks.iter().any(&counts))
            .map(|(position, _)| *position)
    }

    /// The last position before the present one with a mark that counts.
    pub fn previous_mark(&self, counts: impl Fn(&Mark) -> bool) -> Option<usize> {
        let mut before = self.marks.range(..self.position).rev();
        before
            .find(|(_, marks)| marks.iter().any(&counts))
            .map(|(position, _)| *position)
    }

    /// The events of the step that led to the present; none at the beginning.
    pub fn last_events(&self) -> &[Event] {
        self.events.back().map_or(&[], |last| last.1.as_slice())
    }

    /// The events of the steps that lead to the positions `from + 1 ..= to`, each step's apart. Computed again where
    /// they are not at hand; the present position stays.
    pub fn events(&self, from: usize, to: usize) -> Vec<(usize, Vec<Event>)> {
        let to = to.min(self.inputs.len());
        if self.events.front().is_some_and(|first| first.0 <= from + 1) && to <= self.position {
            let kept = self.events.iter().filter(|step| step.0 > from && step.0 <= to);
            return kept.cloned().collect();
        }
        let Some((&at, moment)) = self.checkpoints.range(..=from).next_back() else {
            return Vec::new();
        };
        let mut moment = moment.clone();
        let mut found = Vec::new();
        for position in at + 1..=to {
            match moment.perform(&self.inputs[position - 1]) {
                Ok((events, _)) if position > from => found.push((position, events)),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        found
    }

    /// The latest cut that can be undone.
    pub fn cut_notice(&self) -> Option<CutNotice> {
        self.cut.as_ref().map(|cut| CutNotice {
            at: cut.at,
            dropped: cut.inputs.len(),
        })
    }

    /// Brings back the future that was cut off last, and goes to where the cut was. What was done since is cut off in its
    /// turn, so that undoing again brings it back. Says whether there was anything to undo.
    pub fn undo_cut(&mut self) -> bool {
        let Some(old) = self.cut.take() else { return false };
        self.seek(old.at);
        self.cut_off();
        self.inputs.extend(old.inputs);
        self.marks.extend(old.marks);
        self.checkpoints.extend(old.checkpoints);
        self.thin_out();
        true
    }

    /// Cuts off what lies behind the present and keeps it for an undo.
    fn cut_off(&mut self) -> Option<CutNotice> {
        if self.at_end() {
            return None;
        }
        let at = self.position;
        let cut = Cut {
            at,
            inputs: self.inputs.split_off(at),
            marks: self.marks.split_off(&(at + 1)),
            checkpoints: self.checkpoints.split_off(&(at + 1)),
        };
        self.cut = Some(cut);
        self.cut_notice()
    }

    /// Notes that a step was performed: marks (if it is new), events, a checkpoint if one is due.
    fn arrive(&mut self, events: Vec<Event>, newly_lost: Option<Vec<Tag>>) {
        self.position += 1;
        if let Some(lost) = newly_lost {
            let marks = Mark::all(&events, lost);
            if !marks.is_empty() {
                self.marks.insert(self.position, marks);
            }
        }
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.events.push_back((self.position, events));
        if self.position.is_multiple_of(self.spacing) && !self.checkpoints.contains_key(&self.position) {
            self.checkpoints.insert(self.position, self.now.clone());
            self.thin_out();
        }
    }

    /// Drops every other checkpoint when there are too many.
    fn thin_out(&mut self) {
        while self.checkpoints.len() > CHECKPOINTS {
            self.spacing *= 2;
            let spacing = self.spacing;
            self.checkpoints.retain(|position, _| position.is_multiple_of(spacing));
        }
    }
}
