//! What a lesson is, read and ready to be played: its worlds, its stops, and the parts that are read beside them.

use std::fmt;

use super::design::Task;
use super::front::Front;
use super::ladder::Ladder;
use super::markdown::Block;
use super::misconception::Misconception;
use super::stores::{self, StoreRun};
use crate::scenario::ast::{Act, Expectation, Line, Statement, Subject};
use crate::wal;

/// A lesson, ready to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// What stands above it.
    pub front: Front,
    /// Its parts in the order of reading.
    pub parts: Vec<Part>,
    /// Its worlds.
    pub runs: Vec<Run>,
    /// The moments at which *next* halts, in the order of reading.
    pub stops: Vec<Stop>,
}

/// The statements of one world, of all its blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// A cluster, from its `brokers` on.
    Cluster(Vec<Line>),
    /// Page stores, from their `accounts` on.
    Stores(StoreRun),
}

impl Run {
    /// How many statements it has; `accounts` is none of them.
    pub(super) fn len(&self) -> usize {
        match self {
            Run::Cluster(lines) => lines.len(),
            Run::Stores(run) => run.acts.len(),
        }
    }

    /// The line of its first statement, or 0.
    pub(super) fn first_line(&self) -> u32 {
        match self {
            Run::Cluster(lines) => lines.first().map_or(0, |line| line.number),
            Run::Stores(run) => run.acts.first().map_or(0, |(line, _)| *line),
        }
    }

    /// This run up to a stop, with a solution behind it; nothing if the two are of different kinds.
    pub(super) fn solved_from(&self, done: usize, solution: &Run) -> Option<Run> {
        match (self, solution) {
            (Run::Cluster(lines), Run::Cluster(more)) => {
                Some(Run::Cluster(lines.iter().take(done).chain(more).cloned().collect()))
            }
            (Run::Stores(run), Run::Stores(more)) => Some(Run::Stores(StoreRun {
                accounts: run.accounts.clone(),
                acts: run.acts.iter().take(done).chain(&more.acts).cloned().collect(),
            })),
            _ => None,
        }
    }

    /// How many of its statements count as acts.
    pub(super) fn acts(&self) -> usize {
        match self {
            Run::Cluster(lines) => lines.iter().filter(|line| is_act(&line.statement)).count(),
            Run::Stores(run) => run
                .acts
                .iter()
                .filter(|(_, act)| !matches!(act, wal::Act::Step(_)))
                .count(),
        }
    }
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    /// Something of a cluster.
    Cluster(Subject),
    /// Something of the page stores.
    Stores(stores::Subject),
}

/// What must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// For a cluster.
    Cluster(Expectation),
    /// For the page stores.
    Stores(stores::Expectation),
}

impl Condition {
    pub(super) fn about(self) -> About {
        match self {
            Condition::Cluster(expectation) => About::Cluster(expectation.subject),
            Condition::Stores(expectation) => About::Stores(expectation.subject),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Cluster(expectation) => expectation.fmt(f),
            Condition::Stores(expectation) => expectation.fmt(f),
        }
    }
}

/// A moment at which *next* halts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Which run.
    pub run: usize,
    /// How many of its statements have been performed.
    pub done: usize,
    /// The scene's name.
    pub scene: String,
}

/// A part of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Prose.
    Prose(Vec<Block>),
    /// A scene: the stops it leads through, as a range of [`Lesson::stops`].
    Scene {
        /// Its name.
        name: String,
        /// Its first stop.
        first: usize,
        /// The stop at its end.
        last: usize,
    },
    /// Words shown at a stop.
    Caption {
        /// Which stop.
        stop: usize,
        /// What it says.
        words: Vec<Words>,
    },
    /// A prediction.
    Predict(Prediction),
    /// What must hold at a stop; for tests.
    Check {
        /// Which stop.
        stop: usize,
        /// The expectations, each with its line.
        expect: Vec<(u32, Condition)>,
    },
    /// Runs under each set of replication rules, side by side.
    Ladder(Ladder),
    /// The closing puzzle.
    Puzzle(Puzzle),
    /// A topic to design, which closes a lesson as a puzzle does.
    Design(Task),
    /// *In a real cluster also…*
    Real(Vec<Block>),
}

/// A piece of a caption.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    /// As it stands.
    Text(String),
    /// The value of this subject at the stop.
    Value(About),
    /// The records behind the values of this subject, by the names that the picture gives them.
    Records(Subject),
}

/// A question that the run answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: u32,
    /// The question.
    pub ask: String,
    /// The stop at which it is asked.
    pub asked: usize,
    /// The stop at which it is settled.
    pub settled: usize,
    /// The belief that leads to a wrong answer by click or slider; an option has its own.
    pub misconception: Option<Misconception>,
    /// How it is answered.
    pub kind: Kind,
}

/// How a prediction is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// By choosing one of these.
    Options(Vec<Choice>),
    /// By clicking records or moments: right are those that the subject names.
    Click(About),
    /// By a slider; right is the subject's value.
    Slider {
        /// In which unit.
        unit: String,
        /// The least.
        from: i64,
        /// The most.
        to: i64,
        /// What is right.
        answer: About,
    },
}

/// One option of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What it says.
    pub text: String,
    /// The belief that leads to it.
    pub misconception: Option<Misconception>,
    /// What must hold for it to be right; without it, it is never right.
    pub when: Option<Condition>,
}

/// The closing puzzle.
#[derive(Clone, Debug, PartialEq)]
pub struct Puzzle {
    /// What is asked for, if the prose before it does not say it.
    pub ask: Option<String>,
    /// The stop at which it begins.
    pub stop: usize,
    /// What must hold in the end, as written and as read.
    pub goals: Vec<(String, Condition)>,
    /// How an act may begin, word by word.
    pub allow: Vec<String>,
    /// The number of acts of the shortest solution known.
    pub par: u32,
    /// That solution.
    pub solution: Run,
}

impl Puzzle {
    /// Whether an act, as it is written, is allowed: it begins with the words of an entry of the list.
    pub fn allows(&self, act: &str) -> bool {
        let words: Vec<&str> = act.split_whitespace().collect();
        self.allow.iter().any(|entry| {
            let entry: Vec<&str> = entry.split_whitespace().collect();
            words.starts_with(&entry)
        })
    }

    /// Why an act, as it is written, is not allowed.
    pub fn forbids(&self, act: &str) -> Option<String> {
        let allowed = || self.allow.join(", ");
        (!self.allows(act)).then(|| format!("'{act}' is not in this puzzle; allowed are: {}", allowed()))
    }
}

/// Whether a statement counts as an act of a puzzle: everything but time and expectations.
pub const fn is_act(statement: &Statement) -> bool {
    !matches!(
        statement,
        Statement::Step(_)
            | Statement::RunFor(_)
            | Statement::RunTo(_)
            | Statement::RunUntil { .. }
            | Statement::Expect(_)
    )
}

impl Lesson {
    /// The caption pieces that stand at a stop, in order.
    pub fn captions_at(&self, at: usize) -> impl Iterator<Item = &[Words]> {
        self.parts.iter().filter_map(move |part| match part {
            Part::Caption { stop, words } if *stop == at => Some(words.as_slice()),
            _ => None,
        })
    }

    /// How much there is to do to play it: statements, and the records that they send.
    pub fn effort(&self) -> u64 {
        let sent = |line: &Line| match &*line.statement {
            Statement::Act(Act::Send(sending)) => sending.count.unwrap_or(1),
            _ => 1,
        };
        let of = |run: &Run| match run {
            Run::Cluster(lines) => lines.iter().map(sent).sum(),
            Run::Stores(run) => run.acts.len() as u64,
        };
        self.runs.iter().map(of).fold(0, u64::saturating_add)
    }

    /// All predictions.
    pub fn predictions(&self) -> impl Iterator<Item = &Prediction> {
        self.parts.iter().filter_map(|part| match part {
            Part::Predict(prediction) => Some(prediction),
            _ => None,
        })
    }

    /// The ladder, if there is one.
    pub fn ladder(&self) -> Option<&Ladder> {
        self.parts.iter().find_map(|part| match part {
            Part::Ladder(ladder) => Some(ladder),
            _ => None,
        })
    }

    /// The topic to design, if there is one.
    pub fn design(&self) -> Option<&Task> {
        self.parts.iter().find_map(|part| match part {
            Part::Design(task) => Some(task),
            _ => None,
        })
    }

    /// The puzzle, if there is one.
    pub fn puzzle(&self) -> Option<&Puzzle> {
        self.parts.iter().find_map(|part| match part {
            Part::Puzzle(puzzle) => Some(puzzle),
            _ => None,
        })
    }
}
