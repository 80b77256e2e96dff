//! Reads the statements within a lesson's blocks and puts the lesson together: runs, stops, and what stands at each.
//!
//! A *run* is one world: a cluster begins with a scene that begins with `brokers`, a pair of page stores with a `store`
//! block that begins with `accounts`, and later blocks of the same kind go on with it. A *stop* is a
//! moment of a run at which the reader's *next* halts: at each `# step` of a scene and at its end. The words of
//! `# step: WORDS` are the caption there. Captions, checks, predictions and the puzzle belong to the stop before them; a
//! prediction is settled at the end of the scene behind it.

use std::ops::{ControlFlow, Range};

use super::blocks::{CaptionPiece, RawBlock, RawKind, RawPrediction, RawPuzzle, Written};
use super::design::Task;
use super::fault::{Fault, or_rather};
use super::front::Front;
use super::ladder::{self, Column, Ladder};
use super::markdown::Piece;
use super::misconception::Misconception;
use super::model::{About, Choice, Condition, Kind, Lesson, Part, Prediction, Puzzle, Run, Stop, Words};
use super::stores::{self, StoreRun};
use super::{blocks, front, markdown};
use crate::scenario::ast::{Line, Statement};
use crate::scenario::{Names, parse_statement};
use crate::sorted::sort_by;

/// Most predictions of a lesson.
const PREDICTIONS: usize = 4;

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
        hidden_blocks(&lines, &pieces, &mut faults);
        let fenced: Vec<(String, Range<u32>)> = pieces.iter().filter_map(fenced).collect();
        let mut compiler = Compiler::new(front, &mut faults);
        for piece in pieces {
            compiler.piece(piece);
        }
        compiler.unfilled(&lines, taken, &fenced);
        let lesson = compiler.finish();
        sort_by(&mut faults, Fault::cmp);
        if faults.is_empty() { Ok(lesson) } else { Err(faults) }
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
            RawBlock::Scene { name, lines } => self.scene(name, &lines, line, Self::scene_line),
            RawBlock::Store { name, lines } => self.scene(name, &lines, line, Self::store_line),
            RawBlock::Caption(pieces, line) => self.caption(pieces, line),
            RawBlock::Check(lines) => {
                if let Some(stop) = self.stop(line, "check") {
                    let expect = lines.iter().filter_map(|written| self.check(written)).collect();
                    self.lesson.parts.push(Part::Check { stop, expect });
                }
            }
            RawBlock::Predict(raw) => self.predict(raw),
            RawBlock::Ladder(lines) => self.ladder(&lines, line),
            RawBlock::Puzzle(raw) => self.puzzle(raw),
            RawBlock::Design(lines) => self.design(&lines, line),
            RawBlock::Real(blocks) => self.lesson.parts.push(Part::Real(blocks)),
        }
    }

    /// The caption that a `# step` has of its own; without words it has none.
    fn say(&mut self, said: &str, line: u32) {
        if said.is_empty() {
            return;
        }
        match blocks::caption(said, line, self.faults) {
            Ok(pieces) => self.caption(pieces, line),
            Err(fault) => self.faults.push(fault),
        }
    }

    fn caption(&mut self, pieces: Vec<CaptionPiece>, line: u32) {
        if let Some(stop) = self.stop(line, "caption") {
            let words = pieces.into_iter().filter_map(|piece| self.words(piece)).collect();
            self.lesson.parts.push(Part::Caption { stop, words });
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

    /// A scene, of either kind. `take` reads one of its statements, given whether it is the first, and says whether to go
    /// on.
    fn scene(
        &mut self,
        name: String,
        lines: &[Written],
        line: u32,
        take: fn(&mut Self, &Written, Place) -> ControlFlow<()>,
    ) {
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
            if let Some(said) = step(text).filter(|_| begun) {
                self.halt(&name);
                self.say(said, written.line);
            } else if !text.is_empty() && !text.starts_with('#') {
                let place = if begun { Place::Within } else { Place::First };
                if take(self, written, place).is_break() {
                    return;
                }
                begun = true;
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

    /// A statement of a cluster's scene.
    fn scene_line(&mut self, written: &Written, place: Place) -> ControlFlow<()> {
        if place == Place::First && begins_a_world(written.text.trim()) {
            self.lesson.runs.push(Run::Cluster(Vec::new()));
            self.names = Names::default();
        } else if !matches!(self.lesson.runs.last(), Some(Run::Cluster(_))) {
            let remedy = "begin the lesson's first scene with 'brokers N'";
            self.faults
                .push(Fault::new(written.line, "there is no world yet", remedy));
            return ControlFlow::Break(());
        }
        let line = self.statement(written);
        if let Some(Run::Cluster(lines)) = self.lesson.runs.last_mut() {
            lines.extend(line);
        }
        ControlFlow::Continue(())
    }

    /// A statement of a `store` block.
    fn store_line(&mut self, written: &Written, place: Place) -> ControlFlow<()> {
        let statement = match stores::statement(&written.text, written.line) {
            Ok(statement) => statement,
            Err(fault) => {
                self.faults.push(fault);
                return ControlFlow::Continue(());
            }
        };
        match (statement, place, self.lesson.runs.last_mut()) {
            (stores::Statement::Accounts(accounts), Place::First, _) => {
                let acts = Vec::new();
                self.lesson.runs.push(Run::Stores(StoreRun { accounts, acts }));
            }
            (stores::Statement::Act(act), _, Some(Run::Stores(run))) => run.acts.push((written.line, act)),
            (statement, ..) => {
                let (wrong, remedy) = match statement {
                    stores::Statement::Accounts(_) => (
                        "the stores of this block have begun",
                        "put 'accounts' first, or into a block of its own",
                    ),
                    stores::Statement::Act(_) => (
                        "there are no stores yet",
                        "begin the first store block with 'accounts NAME=BALANCE NAME=BALANCE'",
                    ),
                };
                self.faults.push(Fault::new(written.line, wrong, remedy));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// *Next* halts here, unless it does so already.
    fn halt(&mut self, scene: &str) {
        let Some(run) = self.lesson.runs.len().checked_sub(1) else {
            return;
        };
        let done = self.lesson.runs[run].len();
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
        Some(Line::new(written.line, statement))
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

    /// A condition of the present world: an expectation without the word.
    fn condition(&mut self, written: &Written) -> Option<Condition> {
        if let Some(Run::Stores(run)) = self.lesson.runs.last() {
            let read = stores::expectation(&written.text, &run.accounts, written.line);
            return read
                .map(Condition::Stores)
                .map_err(|fault| self.faults.push(fault))
                .ok();
        }
        match self.read(written, &format!("expect {}", written.text))? {
            Statement::Expect(expectation) => Some(Condition::Cluster(expectation)),
            _ => None,
        }
    }

    fn subject(&mut self, written: &Written) -> Option<About> {
        self.condition(written).map(Condition::about)
    }

    fn check(&mut self, written: &Written) -> Option<(u32, Condition)> {
        let Some(expected) = written.text.trim().strip_prefix("expect ") else {
            let remedy = "write 'expect SUBJECT OP VALUE'";
            self.faults
                .push(Fault::new(written.line, "a check holds expectations only", remedy));
            return None;
        };
        let expected = Written {
            line: written.line,
            text: expected.to_string(),
        };
        self.condition(&expected).map(|condition| (written.line, condition))
    }

    fn words(&mut self, piece: CaptionPiece) -> Option<Words> {
        match piece {
            CaptionPiece::Text(text) => Some(Words::Text(text)),
            CaptionPiece::Value(written) => match written.text.strip_prefix("records ") {
                Some(rest) => self.records(rest, written.line),
                None => self.subject(&written).map(Words::Value),
            },
        }
    }

    /// `records T-P@B` or `records C`: those that `values T-P@B` and `read C` give the values of.
    fn records(&mut self, of: &str, line: u32) -> Option<Words> {
        let subject = if of.contains('@') { "values" } else { "read" };
        let text = format!("{subject} {of}");
        match self.subject(&Written { line, text })? {
            About::Cluster(subject) => Some(Words::Records(subject)),
            About::Stores(_) => None,
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
            if let Some((belief, line)) = raw.misconception {
                self.require_announced(belief, line);
            }
            if let Some(kind) = self.kind(raw.kind) {
                let prediction = Prediction {
                    name: raw.name,
                    line: raw.line,
                    ask: raw.ask,
                    asked,
                    settled: last,
                    misconception: raw.misconception.map(|(belief, _)| belief),
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
                    if let Some(belief) = option.misconception {
                        self.require_announced(belief, option.line);
                    }
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

    /// A lesson says at its top which beliefs it answers; another one is a fault.
    fn require_announced(&mut self, belief: Misconception, line: u32) {
        if self.lesson.front.misconceptions.contains(&belief) {
            return;
        }
        let wrong = format!("{} is not among the lesson's misconceptions", belief.id());
        let remedy = format!("add {} to 'misconceptions:' at the top", belief.id());
        self.faults.push(Fault::new(line, wrong, remedy));
    }

    fn ladder(&mut self, lines: &[Written], line: u32) {
        if self.stop(line, "ladder").is_none() {
            return;
        }
        let columns: Vec<Column> = lines.iter().filter_map(|written| self.column(written)).collect();
        if self.lesson.ladder().is_some() {
            self.faults.push(Fault::new(
                line,
                "a ladder stands above",
                "a lesson has one; add a column to it",
            ));
        }
        if lines.is_empty() {
            self.faults
                .push(Fault::new(line, "the ladder has no column", ladder::COLUMN));
        }
        self.lesson.parts.push(Part::Ladder(Ladder { columns }));
    }

    fn column(&mut self, written: &Written) -> Option<Column> {
        let parts = ladder::parts(written).map_err(|fault| self.faults.push(fault));
        let [scene, wanted, heading] = parts.ok()?;
        let Some(until) = self.lesson.stops.iter().rposition(|stop| stop.scene == scene) else {
            let scenes = self.lesson.stops.iter().map(|stop| stop.scene.as_str());
            let near = or_rather(scene, scenes);
            let wrong = format!("no scene '{scene}' stands above");
            let remedy = format!("name a scene above{near}");
            self.faults.push(Fault::new(written.line, wrong, remedy));
            return None;
        };
        let text = wanted.to_string();
        let line = written.line;
        let wanted = self.condition(&Written { line, text }).and_then(ladder::wanted)?;
        let heading = heading.to_string();
        Some(Column {
            line,
            heading,
            until,
            wanted,
        })
    }

    /// A lesson has one puzzle, or one design; whatever else is a fault.
    fn refuse_second_task(&mut self, line: u32) {
        if self.lesson.puzzle().is_some() || self.lesson.design().is_some() {
            self.faults.push(Fault::new(
                line,
                "a puzzle or a design stands above",
                "a lesson has one",
            ));
        }
    }

    fn design(&mut self, lines: &[Written], line: u32) {
        self.refuse_second_task(line);
        let Some(stop) = self.stop(line, "design") else {
            return;
        };
        match Task::parse(lines, line, stop) {
            Ok(task) => self.lesson.parts.push(Part::Design(task)),
            Err(faults) => self.faults.extend(faults),
        }
    }

    fn puzzle(&mut self, raw: RawPuzzle) {
        self.refuse_second_task(raw.line);
        let Some(stop) = self.stop(raw.line, "puzzle") else {
            return;
        };
        let solution = self.solution(&raw.solution);
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
        let acts = puzzle.solution.acts();
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

    /// The statements of a solution, in the language of the present world.
    fn solution(&mut self, written: &[Written]) -> Run {
        let Some(Run::Stores(run)) = self.lesson.runs.last() else {
            return Run::Cluster(written.iter().filter_map(|written| self.statement(written)).collect());
        };
        let accounts = run.accounts.clone();
        let mut acts = Vec::new();
        for written in written {
            match stores::statement(&written.text, written.line) {
                Ok(stores::Statement::Act(act)) => acts.push((written.line, act)),
                Ok(stores::Statement::Accounts(_)) => {
                    let remedy = "go on with the stores that are there";
                    self.faults
                        .push(Fault::new(written.line, "a solution opens no accounts", remedy));
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        Run::Stores(StoreRun { accounts, acts })
    }

    /// A `{subject}` where nothing fills it in is named: it would be shown as it is written.
    fn unfilled(&mut self, lines: &[&str], front: usize, fenced: &[(String, Range<u32>)]) {
        for (number, line) in (1..).zip(lines).skip(front) {
            let block = fenced.iter().find(|(_, within)| within.contains(&number));
            if block.is_some_and(|(kind, _)| !is_shown(kind, line)) {
                continue;
            }
            // What stands in code is meant as it is written.
            let words = line.split('`').step_by(2);
            for inner in words.flat_map(|words| words.split('{').skip(1)) {
                let Some((subject, _)) = inner.split_once('}') else {
                    continue;
                };
                if self.is_subject(subject.trim(), number) {
                    let wrong =
                        format!("'{{{subject}}}' stands outside a caption, so that it would be shown as it is written");
                    let remedy =
                        "write the value, and put an 'expect' into the check beside it; or move it into a caption";
                    self.faults.push(Fault::new(number, wrong, remedy));
                }
            }
        }
    }

    /// Whether a caption of any of the worlds would replace this.
    fn is_subject(&self, text: &str, line: u32) -> bool {
        text.starts_with("records ")
            || parse_statement(&format!("expect {text}"), &self.names).is_ok()
            || self.lesson.runs.iter().any(|run| match run {
                Run::Stores(run) => stores::expectation(text, &run.accounts, line).is_ok(),
                Run::Cluster(_) => false,
            })
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

/// The kind of a block and the lines within its fence.
fn fenced(piece: &Piece) -> Option<(String, Range<u32>)> {
    match piece {
        Piece::Fenced { head, content, line } => {
            let kind = head.split_whitespace().next().unwrap_or_default();
            Some((kind.to_string(), *line..line + content.lines().count() as u32))
        }
        Piece::Prose(_) => None,
    }
}

/// Whether a block shows this line of its own as words, without filling anything in.
fn is_shown(kind: &str, line: &str) -> bool {
    match kind {
        "real" => true,
        "predict" | "puzzle" => line.starts_with("ask:") || line.starts_with("- "),
        _ => false,
    }
}

/// A block of the format that stands in a list, a quotation or behind four spaces is text to Markdown: it is named, not
/// passed over.
fn hidden_blocks(lines: &[&str], pieces: &[Piece], faults: &mut Vec<Fault>) {
    let is_within = |number: u32| {
        pieces.iter().any(|piece| match piece {
            Piece::Fenced { content, line, .. } => {
                (line.saturating_sub(1)..=line + content.lines().count() as u32).contains(&number)
            }
            Piece::Prose(_) => false,
        })
    };
    for (number, line) in (1..).zip(lines) {
        let fence = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c));
        let head = fence.trim_start_matches(['`', '~']);
        let word = head.split_whitespace().next().unwrap_or_default();
        let has_mark = fence.len() < line.len();
        if has_mark && fence.len() >= head.len() + 3 && blocks::KINDS.contains(&word) && !is_within(number) {
            let wrong = format!("the {word} block stands within another block, so that it would be shown as text");
            let remedy = "begin its fence at the beginning of a line, outside lists and quotations";
            faults.push(Fault::new(number, wrong, remedy));
        }
    }
}

/// The words behind `# step:`, or none behind `# step`; nothing of any other line.
fn step(text: &str) -> Option<&str> {
    let behind = text.strip_prefix("# step")?;
    match behind.strip_prefix(':') {
        Some(said) => Some(said.trim()),
        None => behind.is_empty().then_some(""),
    }
}

/// Where a statement stands in its block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Within,
}

/// Whether a scene that begins with this statement begins a world.
fn begins_a_world(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    matches!(word, "highwater" | "seed" | "clock" | "feature" | "rules" | "brokers")
}

fn is_time(text: &str) -> bool {
    matches!(text.split_whitespace().next(), Some("step" | "run" | "expect"))
}
