//! Playing a lesson: what a caption says in a run, how a prediction comes out, whether a puzzle is solved; and the test
//! that plays a lesson from end to end and finds every place where the engine does not do what its words say.

use super::compile::{Kind, Lesson, Part, Prediction, Puzzle, Words};
use super::fault::Fault;
use crate::cluster::World;
use crate::history::{Playback, Stepped};
use crate::ledger::Ledger;
use crate::scenario::ast::{Script, Value};
use crate::scenario::look::{judge, look};

/// How a prediction came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This option is right.
    Choice(usize),
    /// These offsets are right: ranges, both ends included.
    Records(Vec<(i64, i64)>),
    /// This value is right.
    Amount(i64),
}

/// What a caption says in a world.
pub fn caption(words: &[Words], world: &World, ledger: &Ledger) -> String {
    let piece = |piece: &Words| match piece {
        Words::Text(text) => text.clone(),
        Words::Value(subject) => look(subject, world, ledger).to_string(),
    };
    words.iter().map(piece).collect()
}

impl Prediction {
    /// How it came out, in the world at the stop that settles it.
    ///
    /// # Errors
    /// That none or several options are right, or that the answer is nothing that can be clicked or set.
    pub fn settle(&self, world: &World, ledger: &Ledger) -> Result<Answer, String> {
        match &self.kind {
            Kind::Options(choices) => {
                let holds = |when: &crate::scenario::ast::Expectation| judge(when, world, ledger).holds;
                let right: Vec<usize> = (0..)
                    .zip(choices)
                    .filter(|(_, choice)| choice.when.as_ref().is_some_and(holds))
                    .map(|(at, _)| at)
                    .collect();
                match right.as_slice() {
                    [one] => Ok(Answer::Choice(*one)),
                    [] => Err(format!("no option of '{}' holds", self.name)),
                    more => Err(format!("{} options of '{}' hold", more.len(), self.name)),
                }
            }
            Kind::Click(subject) => match look(subject, world, ledger) {
                Value::Offsets(ranges) => Ok(Answer::Records(ranges)),
                Value::Absent => Ok(Answer::Records(Vec::new())),
                other => Err(format!("'{other}' names no records")),
            },
            Kind::Slider { from, to, answer, .. } => match look(answer, world, ledger) {
                Value::Number(number) if (*from..=*to).contains(&number) => Ok(Answer::Amount(number)),
                other => Err(format!("'{other}' is no number from {from} to {to}")),
            },
        }
    }
}

impl Puzzle {
    /// The goals that do not hold yet, as they are written.
    pub fn open_goals(&self, world: &World, ledger: &Ledger) -> Vec<&str> {
        let open = self.goals.iter().filter(|(_, goal)| !judge(goal, world, ledger).holds);
        open.map(|(text, _)| text.as_str()).collect()
    }
}

impl Lesson {
    /// One of its worlds as a script.
    pub fn script(&self, run: usize) -> Script {
        Script {
            lines: self.runs.get(run).map(|run| run.lines.clone()).unwrap_or_default(),
            trace: None,
        }
    }

    /// Plays the whole lesson: scenes, captions, checks, predictions, and the solution of the puzzle.
    ///
    /// # Errors
    /// Every place where the run is not what the lesson says.
    pub fn replay(&self) -> Result<Replayed, Vec<Fault>> {
        let mut replay = Replay {
            lesson: self,
            done: Replayed::default(),
            faults: Vec::new(),
        };
        let mut playback: Option<(usize, Playback)> = None;
        for (at, stop) in self.stops.iter().enumerate() {
            if playback.as_ref().is_none_or(|(run, _)| *run != stop.run) {
                playback = replay.begin(stop.run);
            }
            let Some((_, playback)) = &mut playback else { break };
            if !replay.play(playback, stop.done) {
                break;
            }
            replay.look(at, playback);
        }
        if let Some(puzzle) = self.puzzle() {
            replay.solve(puzzle);
        }
        if replay.faults.is_empty() {
            Ok(replay.done)
        } else {
            Err(replay.faults)
        }
    }
}

/// What a replay came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Every caption as it was shown, with its stop.
    pub captions: Vec<(usize, String)>,
    /// How each prediction came out.
    pub answers: Vec<(String, Answer)>,
    /// How many checks held.
    pub checks: usize,
}

struct Replay<'a> {
    lesson: &'a Lesson,
    done: Replayed,
    faults: Vec<Fault>,
}

impl Replay<'_> {
    fn begin(&mut self, run: usize) -> Option<(usize, Playback)> {
        match Playback::new(self.lesson.script(run)) {
            Ok(playback) => Some((run, playback)),
            Err((line, refused)) => {
                self.faults.push(Fault::new(line, refused.reason, refused.remedy));
                None
            }
        }
    }

    fn play(&mut self, playback: &mut Playback, statements: usize) -> bool {
        match playback.play_to(statements) {
            Stepped::Stopped(line, stop) => {
                self.faults
                    .push(Fault::new(line, stop.to_string(), "correct the scene"));
                false
            }
            Stepped::Moved | Stepped::AtRest => true,
        }
    }

    /// What stands at a stop.
    fn look(&mut self, at: usize, playback: &Playback) {
        let (world, ledger) = (playback.world(), playback.ledger());
        for part in &self.lesson.parts {
            match part {
                Part::Caption { stop, words } if *stop == at => {
                    self.done.captions.push((at, caption(words, world, ledger)));
                }
                Part::Check { stop, expect } if *stop == at => {
                    for (line, expectation) in expect {
                        let verdict = judge(expectation, world, ledger);
                        if verdict.holds {
                            self.done.checks += 1;
                        } else {
                            let wrong = format!("expected {expectation}, found {}", verdict.found);
                            self.faults
                                .push(Fault::new(*line, wrong, "correct the words, or the engine"));
                        }
                    }
                }
                Part::Predict(prediction) if prediction.settled == at => match prediction.settle(world, ledger) {
                    Ok(answer) => self.done.answers.push((prediction.name.clone(), answer)),
                    Err(wrong) => {
                        self.faults
                            .push(Fault::new(prediction.line, wrong, "let exactly one answer be right"));
                    }
                },
                _ => {}
            }
        }
    }

    fn solve(&mut self, puzzle: &Puzzle) {
        let Some(stop) = self.lesson.stops.get(puzzle.stop) else {
            return;
        };
        let mut script = self.lesson.script(stop.run);
        script.lines.truncate(stop.done);
        script.lines.extend(puzzle.solution.iter().cloned());
        let whole = script.lines.len();
        let line = puzzle.solution.first().map_or(0, |line| line.number);
        let Ok(mut playback) = Playback::new(script) else {
            return;
        };
        if !self.play(&mut playback, stop.done) {
            return;
        }
        if puzzle.open_goals(playback.world(), playback.ledger()).is_empty() {
            self.faults.push(Fault::new(
                line,
                "the puzzle is solved before it begins",
                "ask for more",
            ));
        }
        if !self.play(&mut playback, whole) {
            return;
        }
        let open = puzzle.open_goals(playback.world(), playback.ledger());
        for goal in &puzzle.goals {
            if open.contains(&goal.0.as_str()) {
                let found = judge(&goal.1, playback.world(), playback.ledger()).found;
                let wrong = format!("the solution does not reach '{}', found {found}", goal.0);
                self.faults
                    .push(Fault::new(line, wrong, "correct the solution, or the goal"));
            }
        }
    }
}
