//! Playing a lesson: what a caption says in a run, how a prediction comes out, whether a puzzle is solved; and the test
//! that plays a lesson from end to end and finds every place where the engine does not do what its words say.

use super::fault::Fault;
use super::model::{About, Condition, Kind, Lesson, Part, Prediction, Puzzle, Run, Words};
use super::said;
use super::stores::StoreRun;
use crate::cluster::World;
use crate::history::{Playback, Stepped};
use crate::ledger::Ledger;
use crate::scenario::ast::{Script, Value};
use crate::scenario::look::{Verdict, judge, look, records};
use crate::sorted::sort_by;
use crate::wal::Stores;

/// A world at a stop, of either kind.
#[derive(Clone, Copy)]
pub enum Moment<'a> {
    /// A cluster, and what became of its records.
    Cluster(&'a World, &'a Ledger),
    /// Page stores.
    Stores(&'a Stores),
}

impl Moment<'_> {
    /// The value of a subject; nothing if this world has no such thing.
    pub fn look(self, about: &About) -> Value {
        match (self, about) {
            (Moment::Cluster(world, ledger), About::Cluster(subject)) => look(subject, world, ledger),
            (Moment::Stores(stores), About::Stores(subject)) => subject.look(stores),
            _ => Value::Absent,
        }
    }

    /// Whether a condition holds; one of another kind of world never does.
    pub fn judge(self, condition: &Condition) -> Verdict {
        match (self, condition) {
            (Moment::Cluster(world, ledger), Condition::Cluster(expectation)) => judge(expectation, world, ledger),
            (Moment::Stores(stores), Condition::Stores(expectation)) => expectation.judge(stores),
            _ => Verdict {
                holds: false,
                found: Value::Absent,
            },
        }
    }
}

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

/// What a caption says in a world: words within a line of Markdown, links to rules among them.
pub fn caption(words: &[Words], moment: Moment<'_>) -> String {
    let piece = |piece: &Words| match (piece, moment) {
        (Words::Text(text), _) => text.clone(),
        (Words::Value(about), _) => said::value(&moment.look(about)),
        (Words::Records(subject), Moment::Cluster(world, ledger)) => {
            said::records(&records(subject, world, ledger), world)
        }
        (Words::Records(_), Moment::Stores(_)) => said::NONE.to_string(),
    };
    words.iter().map(piece).collect()
}

impl Prediction {
    /// How it came out, in the world at the stop that settles it.
    ///
    /// # Errors
    /// That none or several options are right, or that the answer is nothing that can be clicked or set.
    pub fn settle(&self, moment: Moment<'_>) -> Result<Answer, String> {
        match &self.kind {
            Kind::Options(choices) => {
                let holds = |when: &Condition| moment.judge(when).holds;
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
            Kind::Click(about) => match moment.look(about) {
                Value::Offsets(ranges) => Ok(Answer::Records(ranges)),
                Value::Absent => Ok(Answer::Records(Vec::new())),
                other => Err(format!("'{other}' names nothing to click")),
            },
            Kind::Slider { unit, from, to, answer } => {
                let value = moment.look(answer);
                match amount(&value, unit) {
                    Some(number) if (*from..=*to).contains(&number) => Ok(Answer::Amount(number)),
                    _ => Err(format!("'{value}' is no number of {unit} from {from} to {to}")),
                }
            }
        }
    }
}

/// How much a value is on a slider of this unit: a number as it stands, a duration in whole `us`, `ms` or `s`,
/// of a look-up the `bytes` that were walked.
fn amount(value: &Value, unit: &str) -> Option<i64> {
    match (value, unit) {
        (Value::Number(number), _) => Some(*number),
        (Value::Lookup(_, scanned), "bytes") => Some(*scanned),
        (Value::Duration(micros), "us") => Some(micros.0),
        (Value::Duration(micros), "ms") => Some(micros.0 / 1_000),
        (Value::Duration(micros), "s") => Some(micros.0 / 1_000_000),
        _ => None,
    }
}

impl Puzzle {
    /// The goals that do not hold yet, as they are written.
    pub fn open_goals(&self, moment: Moment<'_>) -> Vec<&str> {
        let open = self.goals.iter().filter(|(_, goal)| !moment.judge(goal).holds);
        open.map(|(text, _)| text.as_str()).collect()
    }
}

impl Lesson {
    /// One of its clusters as a script; page stores have none.
    pub fn script(&self, run: usize) -> Script {
        let lines = match self.runs.get(run) {
            Some(Run::Cluster(lines)) => lines.clone(),
            Some(Run::Stores(_)) | None => Vec::new(),
        };
        Script { lines, trace: None }
    }

    /// The page stores of a run, if it is one of those.
    pub fn stores(&self, run: usize) -> Option<&StoreRun> {
        match self.runs.get(run)? {
            Run::Stores(run) => Some(run),
            Run::Cluster(_) => None,
        }
    }

    /// Plays the whole lesson: scenes, captions, checks, predictions, and the solution of the puzzle or of the design. A
    /// world that cannot go on ends there, and the next one is played all the same.
    ///
    /// # Errors
    /// Every place where the run is not what the lesson says, by line.
    pub fn replay(&self) -> Result<Replayed, Vec<Fault>> {
        let mut replay = Replay {
            lesson: self,
            done: Replayed::default(),
            faults: Vec::new(),
        };
        let mut run = None;
        let mut playing: Option<Playing> = None;
        for (at, stop) in self.stops.iter().enumerate() {
            if run.replace(stop.run) != Some(stop.run) {
                playing = replay.begin(stop.run);
            }
            playing = playing.take().and_then(|mut playing| {
                let went_on = replay.play(&mut playing, stop.done);
                went_on.then_some(playing)
            });
            if let Some(playing) = &playing {
                replay.look(at, playing.moment());
            }
        }
        if let Some(puzzle) = self.puzzle() {
            replay.solve(puzzle);
        }
        if let Some(ladder) = self.ladder() {
            replay.faults.extend(ladder.faults(self));
        }
        if let Some(task) = self.design() {
            replay.faults.extend(task.replay());
        }
        sort_by(&mut replay.faults, Fault::cmp);
        replay.faults.dedup();
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

/// A run that is being played.
enum Playing {
    Cluster(Box<Playback>),
    /// The stores, their run, and how many of its acts are done.
    Stores(Box<Stores>, StoreRun, usize),
}

impl Playing {
    fn of_stores(run: &StoreRun) -> Playing {
        Playing::Stores(Box::new(Stores::new(&run.accounts)), run.clone(), 0)
    }

    fn moment(&self) -> Moment<'_> {
        match self {
            Playing::Cluster(playback) => Moment::Cluster(playback.world(), playback.ledger()),
            Playing::Stores(stores, ..) => Moment::Stores(stores),
        }
    }

    /// Performs statements until so many are done.
    fn to(&mut self, statements: usize) -> Result<(), (u32, String)> {
        match self {
            Playing::Cluster(playback) => match playback.play_to(statements) {
                Stepped::Stopped(line, stop) => Err((line, stop.to_string())),
                Stepped::Moved | Stepped::AtRest => Ok(()),
            },
            Playing::Stores(stores, run, done) => {
                for (line, act) in run.acts.iter().take(statements).skip(*done) {
                    stores.perform(act).map_err(|refused| (*line, refused.to_string()))?;
                }
                *done = statements;
                Ok(())
            }
        }
    }
}

impl Replay<'_> {
    fn begin(&mut self, run: usize) -> Option<Playing> {
        self.begin_run(self.lesson.runs.get(run)?)
    }

    fn begin_run(&mut self, run: &Run) -> Option<Playing> {
        let lines = match run {
            Run::Stores(run) => return Some(Playing::of_stores(run)),
            Run::Cluster(lines) => lines.clone(),
        };
        match Playback::new(Script { lines, trace: None }) {
            Ok(playback) => Some(Playing::Cluster(Box::new(playback))),
            Err((line, refused)) => {
                self.faults.push(Fault::new(line, refused.reason, refused.remedy));
                None
            }
        }
    }

    fn play(&mut self, playing: &mut Playing, statements: usize) -> bool {
        let played = playing.to(statements);
        if let Err((line, wrong)) = &played {
            self.faults.push(Fault::new(*line, wrong.clone(), "correct the scene"));
        }
        played.is_ok()
    }

    /// What stands at a stop.
    fn look(&mut self, at: usize, moment: Moment<'_>) {
        for part in &self.lesson.parts {
            match part {
                Part::Caption { stop, words } if *stop == at => {
                    self.done.captions.push((at, caption(words, moment)));
                }
                Part::Check { stop, expect } if *stop == at => {
                    for (line, expectation) in expect {
                        let verdict = moment.judge(expectation);
                        if verdict.holds {
                            self.done.checks += 1;
                        } else {
                            let wrong = format!("expected {expectation}, found {}", verdict.found);
                            self.faults
                                .push(Fault::new(*line, wrong, "correct the words, or the engine"));
                        }
                    }
                }
                Part::Predict(prediction) if prediction.settled == at => match prediction.settle(moment) {
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
        let Some(run) = self
            .lesson
            .runs
            .get(stop.run)
            .and_then(|run| run.solved_from(stop.done, &puzzle.solution))
        else {
            return;
        };
        let line = puzzle.solution.first_line();
        let Some(mut playing) = self.begin_run(&run) else {
            return;
        };
        if !self.play(&mut playing, stop.done) {
            return;
        }
        if puzzle.open_goals(playing.moment()).is_empty() {
            self.faults.push(Fault::new(
                line,
                "the puzzle is solved before it begins",
                "ask for more",
            ));
        }
        if !self.play(&mut playing, run.len()) {
            return;
        }
        let open = puzzle.open_goals(playing.moment());
        for goal in &puzzle.goals {
            if open.contains(&goal.0.as_str()) {
                let found = playing.moment().judge(&goal.1).found;
                let wrong = format!("the solution does not reach '{}', found {found}", goal.0);
                self.faults
                    .push(Fault::new(line, wrong, "correct the solution, or the goal"));
            }
        }
    }
}
