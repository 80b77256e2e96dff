//! A run as text: each statement of it, where it comes from, and from where to where in the history it was performed.
//!
//! An act of somebody's own stands where it happened. What it interrupted is told in two parts: the steps that were taken,
//! and, behind the act, what was left of the statement. Replayed, the text gives the world the same inputs.
//!
//! Deliberately absent: comments and the layout of the script's own text; whoever has that text puts them back.

use super::{Origin, Playback};
use crate::cluster::Input;
use crate::scenario::Player;
use crate::scenario::ast::{Micros, Statement};
use std::sync::Arc;

/// A statement, by where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The script's statement at this index.
    Script(usize),
    /// A part of it.
    Part(usize, Arc<Statement>),
    /// Somebody did this of their own, or let time go on.
    Own(Arc<Statement>),
}

/// A statement of a run that is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// What it says.
    pub said: Said,
    /// The position at which it began, or is to begin.
    pub from: usize,
    /// The position at which it was done; nothing if at the recorded end it is not.
    pub to: Option<usize>,
}

impl Written {
    /// Whether it was done before a position or at it.
    pub fn is_done(&self, position: usize) -> bool {
        self.to.is_some_and(|to| to <= position)
    }
}

/// How much of a run is written.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// So many inputs, and nothing else.
    Until(usize),
    /// All of it, and what is to come.
    Whole,
}

/// Writes a run down.
pub(super) struct Printer<'a> {
    of: &'a Playback,
    reach: Reach,
    written: Vec<Written>,
    /// The script's first statement that is not written yet.
    next: usize,
    /// Where a statement of time is told in two parts.
    split: Option<usize>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(of: &'a Playback, reach: Reach) -> Printer<'a> {
        Printer {
            of,
            reach,
            written: Vec::new(),
            next: 0,
            split: None,
        }
    }

    /// All that is to be written; a statement of time that was under way at `split` in two parts.
    pub(super) fn print(mut self, split: Option<usize>) -> Vec<Written> {
        self.split = split;
        let end = match self.reach {
            Reach::Until(inputs) => inputs,
            Reach::Whole => self.of.origins.len(),
        };
        let mut at = 0;
        while let Some(origin) = self.of.origins.get(at).filter(|_| at < end) {
            let same = self.of.origins[at..end].iter().take_while(|other| *other == origin);
            let behind = at + same.count();
            let to = split.filter(|split| (at + 1..behind).contains(split)).unwrap_or(behind);
            self.group(origin, at, to);
            at = to;
        }
        match self.reach {
            Reach::Until(inputs) => {
                let passed = self.of.places.get(inputs).map_or(0, Player::at);
                self.skip_to(passed, inputs);
            }
            Reach::Whole => self.rest(end),
        }
        self.written
    }

    /// The inputs between two positions, which have one origin.
    fn group(&mut self, origin: &Origin, from: usize, to: usize) {
        match origin {
            Origin::Script(index) => self.of_script(*index, from, to),
            Origin::Own(number, statement) => {
                self.skip_to(self.of.places.get(from).map_or(0, Player::at), from);
                if !statement.is_time() || self.of.passed.get(number) == Some(&(to - from)) {
                    self.push(Said::Own(Arc::clone(statement)), from, Some(to));
                } else {
                    self.steps(|part| Said::Own(Arc::new(part)), from, to);
                }
            }
            Origin::Beyond => {
                self.skip_to(self.of.script.lines.len(), from);
                self.steps(|part| Said::Own(Arc::new(part)), from, to);
            }
        }
    }

    fn of_script(&mut self, index: usize, from: usize, to: usize) {
        self.skip_to(index, from);
        let said = match self.next > index {
            // It was interrupted, and this is what was left of it.
            true => {
                let left = self.of.places.get(from).and_then(Player::left);
                left.map(|left| Said::Part(index, left))
            }
            false => Some(Said::Script(index)),
        };
        self.next = self.next.max(index + 1);
        match (said, self.extent(index, to)) {
            (Some(said), Extent::Done) => self.push(said, from, Some(to)),
            (Some(said), Extent::UnderWay) => self.push(said, from, None),
            _ => self.steps(|part| Said::Part(index, Arc::new(part)), from, to),
        }
    }

    /// How much of a statement of the script was performed when its inputs end at a position.
    fn extent(&self, index: usize, to: usize) -> Extent {
        if !self.of.is_time(&Origin::Script(index)) {
            return Extent::Done;
        }
        let place = self.of.places.get(to);
        let is_past = place.is_none_or(|place| place.at() > index);
        let end = match self.reach {
            Reach::Until(inputs) => inputs,
            Reach::Whole => self.of.origins.len(),
        };
        match self.of.origins.get(to).filter(|_| to < end) {
            Some(Origin::Script(other)) if *other == index => Extent::Part,
            Some(Origin::Script(_) | Origin::Beyond) => Extent::Done,
            Some(Origin::Own(..)) | None if is_past => Extent::Done,
            None if matches!(self.reach, Reach::Whole) => match place.and_then(Player::left) {
                Some(_) if self.split == Some(to) => Extent::Part,
                Some(_) => Extent::UnderWay,
                None => Extent::Done,
            },
            Some(Origin::Own(..)) | None => Extent::Part,
        }
    }

    /// What is to come behind the recorded end.
    fn rest(&mut self, end: usize) {
        let Some(place) = self.of.places.get(end) else { return };
        self.skip_to(place.at(), end);
        let is_told = self.written.last().is_some_and(|last| last.to.is_none());
        if self.next > place.at()
            && !is_told
            && self.of.is_time(&Origin::Script(place.at()))
            && let Some(left) = place.left()
        {
            self.push(Said::Part(place.at(), left), end, None);
        }
        while self.next < self.of.script.lines.len() {
            self.push(Said::Script(self.next), end, None);
            self.next += 1;
        }
    }

    /// Writes the statements before an index as they stand; they were passed at a position.
    fn skip_to(&mut self, index: usize, at: usize) {
        while self.next < index.min(self.of.script.lines.len()) {
            self.push(Said::Script(self.next), at, Some(at));
            self.next += 1;
        }
    }

    /// Steps of time, one by one.
    fn steps(&mut self, said: impl Fn(Statement) -> Said, from: usize, to: usize) {
        let mut begun = from;
        for (at, input) in (from..to).zip(&self.of.history.inputs()[from..to]) {
            if let Input::Wait(until) = input {
                self.count(&said, begun, at);
                let until = Micros(i64::try_from(*until).unwrap_or(i64::MAX));
                self.push(said(Statement::RunTo(until)), at, Some(at + 1));
                begun = at + 1;
            }
        }
        self.count(&said, begun, to);
    }

    fn count(&mut self, said: impl Fn(Statement) -> Said, from: usize, to: usize) {
        if from < to {
            self.push(said(Statement::Step(Some((to - from) as u64))), from, Some(to));
        }
    }

    fn push(&mut self, said: Said, from: usize, to: Option<usize>) {
        self.written.push(Written { said, from, to });
    }
}

/// How much of a statement was performed.
enum Extent {
    /// All of it.
    Done,
    /// It goes on.
    UnderWay,
    /// A part, and something else came between.
    Part,
}
