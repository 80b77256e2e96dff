//! Reads the statements within a lesson's blocks and puts the lesson together: runs, stops, and what stands at each.
//!
//! A *run* is one world: it begins with a scene that begins with `brokers`, and later scenes go on with it. A *stop* is a
//! moment of a run at which the reader's *next* halts: at each `# step` of a scene and at its end. Captions, checks,
//! predictions and the puzzle belong to the stop before them; a prediction is settled at the end of the scene behind it.

use super::blocks::{CaptionPiece, RawBlock, RawKind, RawOption, RawPrediction, RawPuzzle, Written};
use super::fault::Fault;
use super::front::Front;
use super::markdown::{Block, Piece};
use super::misconception::Misconception;
use super::{blocks, front, markdown};
use crate::scenario::ast::{Expectation, Line, Statement, Subject};
use crate::scenario::{Names, parse_statement};

/// Most predictions of a lesson.
const PREDICTIONS: usize = 4;

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

/// The statements of one world, from its `brokers` on.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Run {
    /// All statements of its scenes.
    pub lines: Vec<Line>,
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
        expect: Vec<(u32, Expectation)>,
    },
    /// The closing puzzle.
    Puzzle(Puzzle),
    /// *In a real cluster also…*
    Real(Vec<Block>),
}

/// A piece of a caption.
#[derive(Clone, Debug, PartialEq)]
pub enum Words {
    /// As it stands.
    Text(String),
    /// The value of this subject at the stop.
    Value(Subject),
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
    /// How it is answered.
    pub kind: Kind,
}

/// How a prediction is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// By choosing one of these.
    Options(Vec<Choice>),
    /// By clicking records: right are the offsets that the subject names.
    Click(Subject),
    /// By a slider; right is the subject's value.
    Slider {
        /// In which unit.
        unit: String,
        /// The least.
        from: i64,
        /// The most.
        to: i64,
        /// What is right.
        answer: Subject,
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
    pub when: Option<Expectation>,
}

/// The closing puzzle.
#[derive(Clone, Debug, PartialEq)]
pub struct Puzzle {
    /// What is asked for, if the prose before it does not say it.
    pub ask: Option<String>,
    /// The stop at which it begins.
    pub stop: usize,
    /// What must hold in the end, as written and as read.
    pub goals: Vec<(String, Expectation)>,
    /// How an act may begin, word by word.
    pub allow: Vec<String>,
    /// The number of acts of the shortest solution known.
    pub par: u32,
    /// That solution.
    pub solution: Vec<Line>,
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
    /// Reads a lesson file.
    ///
    /// # Errors
    /// All mistakes of the file, by line.
    pub fn parse(text: &str) -> Result<Lesson, Vec<Fault>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let mut faults = Vec::new();
        let lines: Vec<&str> = text.split('\n').collect();
        let (front, taken) = front::parse(&lines, &mut faults);
        let body = lines.get(taken..).unwrap_or_default().join("\n");
        let pieces = markdown::parse(&body, taken as u32 + 1, blocks::is_block, &mut faults);
        let mut compiler = Compiler::new(front, &mut faults);
        for piece in pieces {
            compiler.piece(piece);
        }
        let lesson = compiler.finish();
        faults.sort();
        if faults.is_empty() { Ok(lesson) } else { Err(faults) }
    }

    /// The caption pieces that stand at a stop, in order.
    pub fn captions_at(&self, at: usize) -> impl Iterator<Item = &[Words]> {
        self.parts.iter().filter_map(move |part| match part {
            Part::Caption { stop, words } if *stop == at => Some(words.as_slice()),
            _ => None,
        })
    }

    /// All predictions.
    pub fn predictions(&self) -> impl Iterator<Item = &Prediction> {
        self.parts.iter().filter_map(|part| match part {
            Part::Predict(prediction) => Some(prediction),
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

struct Compiler<'f> {
    lesson: Lesson,
    names: Names,
    /// Predictions whose settling scene has not come yet, with their places among the parts and the stops they are asked at.
    open: Vec<(usize, usize, RawPrediction)>,
    faults: &'f mut Vec<Fault>,
}

impl<'f> Compiler<'f> {
    fn new(front: Front, faults: &'f mut Vec<Fault>) -> Compiler<'f> {
        let lesson = Lesson {
            front,
            parts: Vec::new(),
            runs: Vec::new(),
            stops: Vec::new(),
        };
        Compiler {
            lesson,
            names: Names::default(),
            open: Vec::new(),
            faults,
        }
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Prose(blocks) => self.lesson.parts.push(Part::Prose(blocks)),
            Piece::Fenced { head, content, line } => {
                if let Some(block) = blocks::parse(&head, &content, line, self.faults) {
                    self.block(block, line.saturating_sub(1));
                }
            }
        }
    }

    fn block(&mut self, block: RawBlock, line: u32) {
        match block {
            RawBlock::Scene { name, lines } => self.scene(name, &lines, line),
            RawBlock::Caption(pieces, line) => {
                if let Some(stop) = self.stop(line, "caption") {
                    let words = pieces.into_iter().filter_map(|piece| self.words(piece)).collect();
                    self.lesson.parts.push(Part::Caption { stop, words });
                }
            }
            RawBlock::Check(lines) => {
                if let Some(stop) = self.stop(line, "check") {
                    let expect = lines.iter().filter_map(|written| self.check(written)).collect();
                    self.lesson.parts.push(Part::Check { stop, expect });
                }
            }
            RawBlock::Predict(raw) => self.predict(raw),
            RawBlock::Puzzle(raw) => self.puzzle(raw),
            RawBlock::Real(blocks) => self.lesson.parts.push(Part::Real(blocks)),
        }
    }

    /// The present stop.
    fn stop(&mut self, line: u32, what: &str) -> Option<usize> {
        let stop = self.lesson.stops.len().checked_sub(1);
        if stop.is_none() {
            self.faults.push(Fault::new(
                line,
                format!("there is no scene before this {what}"),
                "put a scene before it",
            ));
        }
        stop
    }

    fn scene(&mut self, name: String, lines: &[Written], line: u32) {
        if self.lesson.stops.iter().any(|stop| stop.scene == name) {
            self.faults.push(Fault::new(
                line,
                format!("a scene '{name}' stands above"),
                "give this one another name",
            ));
        }
        let first = self.lesson.stops.len();
        let mut begun = false;
        for written in lines {
            let text = written.text.trim();
            if text == "# step" && begun {
                self.halt(&name);
            } else if !text.is_empty() && !text.starts_with('#') {
                if !begun && begins_a_world(text) {
                    self.lesson.runs.push(Run::default());
                    self.names = Names::default();
                } else if self.lesson.runs.is_empty() {
                    let remedy = "begin the lesson's first scene with 'brokers N'";
                    self.faults
                        .push(Fault::new(written.line, "there is no world yet", remedy));
                    return;
                }
                begun = true;
                if let Some(line) = self.statement(written) {
                    self.lesson
                        .runs
                        .last_mut()
                        .into_iter()
                        .for_each(|run| run.lines.push(line.clone()));
                }
            }
        }
        if !begun {
            self.faults.push(Fault::new(
                line,
                format!("the scene '{name}' says nothing"),
                "write statements into it",
            ));
            return;
        }
        self.halt(&name);
        let last = self.lesson.stops.len() - 1;
        self.lesson.parts.push(Part::Scene { name, first, last });
        self.settle(last);
    }

    /// *Next* halts here, unless it does so already.
    fn halt(&mut self, scene: &str) {
        let Some(run) = self.lesson.runs.len().checked_sub(1) else {
            return;
        };
        let done = self.lesson.runs[run].lines.len();
        let stop = Stop {
            run,
            done,
            scene: scene.to_string(),
        };
        if self.lesson.stops.last() != Some(&stop) {
            self.lesson.stops.push(stop);
        }
    }

    fn statement(&mut self, written: &Written) -> Option<Line> {
        let statement = self.read(written, &written.text)?;
        self.names.declare(&statement);
        Some(Line {
            number: written.line,
            statement,
        })
    }

    fn read(&mut self, written: &Written, text: &str) -> Option<Statement> {
        match parse_statement(text, &self.names) {
            Ok(statement) => Some(statement),
            Err(fault) => {
                let wrong = format!("found {}", fault.found);
                let near = fault
                    .nearest
                    .map(|near| format!(", the nearest is '{near}'"))
                    .unwrap_or_default();
                self.faults.push(Fault::new(
                    written.line,
                    wrong,
                    format!("expected {}{near}", fault.expected),
                ));
                None
            }
        }
    }

    /// A condition: an expectation without the word.
    fn condition(&mut self, written: &Written) -> Option<Expectation> {
        match self.read(written, &format!("expect {}", written.text))? {
            Statement::Expect(expectation) => Some(expectation),
            _ => None,
        }
    }

    fn subject(&mut self, written: &Written) -> Option<Subject> {
        self.condition(written).map(|condition| condition.subject)
    }

    fn check(&mut self, written: &Written) -> Option<(u32, Expectation)> {
        match self.read(written, &written.text)? {
            Statement::Expect(expectation) => Some((written.line, expectation)),
            _ => {
                let remedy = "write 'expect SUBJECT OP VALUE'";
                self.faults
                    .push(Fault::new(written.line, "a check holds expectations only", remedy));
                None
            }
        }
    }

    fn words(&mut self, piece: CaptionPiece) -> Option<Words> {
        match piece {
            CaptionPiece::Text(text) => Some(Words::Text(text)),
            CaptionPiece::Value(written) => self.subject(&written).map(Words::Value),
        }
    }

    fn predict(&mut self, raw: RawPrediction) {
        let count = self.lesson.predictions().count() + self.open.len();
        let twice = self.lesson.predictions().any(|one| one.name == raw.name);
        if twice || self.open.iter().any(|(.., one)| one.name == raw.name) {
            let wrong = format!("a prediction '{}' stands above", raw.name);
            self.faults
                .push(Fault::new(raw.line, wrong, "give this one another name"));
        }
        if count == PREDICTIONS {
            let wrong = format!("this is prediction {} of the lesson", count + 1);
            self.faults
                .push(Fault::new(raw.line, wrong, format!("keep the {PREDICTIONS} best")));
        }
        if let Some(stop) = self.stop(raw.line, "prediction") {
            self.open.push((self.lesson.parts.len(), stop, raw));
        }
    }

    /// The scene that ends at this stop settles the predictions before it.
    fn settle(&mut self, last: usize) {
        for (inserted, (at, asked, raw)) in std::mem::take(&mut self.open).into_iter().enumerate() {
            if let Some(kind) = self.kind(raw.kind) {
                let prediction = Prediction {
                    name: raw.name,
                    line: raw.line,
                    ask: raw.ask,
                    asked,
                    settled: last,
                    kind,
                };
                let at = (at + inserted).min(self.lesson.parts.len());
                self.lesson.parts.insert(at, Part::Predict(prediction));
            }
        }
    }

    fn kind(&mut self, raw: RawKind) -> Option<Kind> {
        match raw {
            RawKind::Click(answer) => self.subject(&answer).map(Kind::Click),
            RawKind::Slider(unit, from, to, answer) => {
                self.subject(&answer)
                    .map(|answer| Kind::Slider { unit, from, to, answer })
            }
            RawKind::Options(options) => {
                let mut choices = Vec::new();
                for option in options {
                    self.is_announced(&option);
                    let when = match &option.when {
                        Some(written) => Some(self.condition(written)?),
                        None => None,
                    };
                    choices.push(Choice {
                        text: option.text,
                        misconception: option.misconception,
                        when,
                    });
                }
                Some(Kind::Options(choices))
            }
        }
    }

    /// A lesson says at its top which beliefs it answers.
    fn is_announced(&mut self, option: &RawOption) {
        let Some(belief) = option
            .misconception
            .filter(|one| !self.lesson.front.misconceptions.contains(one))
        else {
            return;
        };
        let wrong = format!("{} is not among the lesson's misconceptions", belief.id());
        let remedy = format!("add {} to 'misconceptions:' at the top", belief.id());
        self.faults.push(Fault::new(option.line, wrong, remedy));
    }

    fn puzzle(&mut self, raw: RawPuzzle) {
        if self.lesson.puzzle().is_some() {
            self.faults
                .push(Fault::new(raw.line, "a puzzle stands above", "a lesson has one"));
        }
        let Some(stop) = self.stop(raw.line, "puzzle") else {
            return;
        };
        let solution: Vec<Line> = raw
            .solution
            .iter()
            .filter_map(|written| self.statement(written))
            .collect();
        let goals = raw.goals.iter().filter_map(|written| {
            let goal = self.condition(written)?;
            Some((written.text.clone(), goal))
        });
        let goals = goals.collect();
        let allow = raw.allow.into_iter().map(|written| written.text).collect();
        let puzzle = Puzzle {
            ask: raw.ask,
            stop,
            goals,
            allow,
            par: raw.par,
            solution,
        };
        let acts = puzzle.solution.iter().filter(|line| is_act(&line.statement)).count();
        if acts != puzzle.par as usize {
            let wrong = format!("the solution has {acts} acts, par is {}", puzzle.par);
            self.faults.push(Fault::new(raw.line, wrong, "make them equal"));
        }
        for written in raw.solution.iter().filter(|written| !is_time(&written.text)) {
            if !puzzle.allows(&written.text) {
                let wrong = format!("the solution's '{}' is not allowed", written.text.trim());
                self.faults.push(Fault::new(
                    written.line,
                    wrong,
                    "add it to 'allow:' or find another solution",
                ));
            }
        }
        self.lesson.parts.push(Part::Puzzle(puzzle));
    }

    fn finish(self) -> Lesson {
        for (.., raw) in &self.open {
            let wrong = format!("no scene settles the prediction '{}'", raw.name);
            self.faults
                .push(Fault::new(raw.line, wrong, "put the scene that answers it behind it"));
        }
        self.lesson
    }
}

/// Whether a scene that begins with this statement begins a world.
fn begins_a_world(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    matches!(word, "highwater" | "seed" | "clock" | "feature" | "rules" | "brokers")
}

fn is_time(text: &str) -> bool {
    matches!(text.split_whitespace().next(), Some("step" | "run" | "expect"))
}
