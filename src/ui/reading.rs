//! Reading a lesson: which part of it is on the page, what was predicted, how it came out, how the puzzle stands.
//!
//! A lesson goes from stop to stop of its scenes. What stands between two scenes is read at the first one's end; a
//! prediction holds the reader until it is answered or skipped; the run itself says what was right.
//! Deliberately absent: the DOM, and where progress is kept.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::cluster::TopicPartition;
use crate::lesson::design::Task;
use crate::lesson::ladder::{Ladder, Rung};
use crate::lesson::model::About;
use crate::lesson::replay::{Answer, caption};
use crate::lesson::{Answered, Block, Kind, Lesson, Misconception, Moment, Part, Prediction, Puzzle, Words};
use crate::scenario::look;
use crate::sorted::{SortedMap, SortedSet};
use crate::ui::session::{Moved, Session};

/// A run as a lesson looks at it: a cluster's or the page stores'.
pub trait Run {
    /// How far it has come, and gone back.
    fn position(&self) -> usize;
    /// How many acts of somebody's own lead to the present.
    fn acts(&self) -> usize;
    /// What is there now.
    fn moment(&self) -> Moment<'_>;
}

impl Run for Session {
    fn position(&self) -> usize {
        Session::position(self)
    }

    fn acts(&self) -> usize {
        Session::acts(self)
    }

    fn moment(&self) -> Moment<'_> {
        Session::moment(self)
    }
}

/// What somebody predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// This option.
    Choice(usize),
    /// The records at these offsets, or the moments of these numbers.
    Records(SortedSet<i64>),
    /// This amount.
    Amount(i64),
    /// A design that stands what was asked, at this cost.
    Design(u32),
    /// Nothing.
    Skipped,
}

/// How a prediction came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// As it was asked.
    pub ask: String,
    /// How it was answered.
    pub answered: Answered,
    /// What was answered, in words; nothing if the question was skipped.
    pub said: Option<String>,
    /// What was right, in words.
    pub right: String,
    /// The belief behind the answer that was given.
    pub belief: Option<Misconception>,
}

/// A lesson that is being read.
#[derive(Clone)]
pub struct Reading {
    /// The lesson.
    pub lesson: Rc<Lesson>,
    /// The name of its file.
    pub slug: Rc<str>,
    run: usize,
    /// Positions in the history at which stops of this run were reached.
    reached: SortedMap<usize, usize>,
    given: SortedMap<String, Given>,
    outcomes: SortedMap<String, Outcome>,
    acts_before_puzzle: usize,
    /// How the lesson's ladder comes out, once it was asked for.
    rungs: OnceCell<Rc<Vec<Vec<Rung>>>>,
}

impl Reading {
    /// At the lesson's beginning, with its first world.
    ///
    /// # Errors
    /// Why the first world cannot begin.
    pub fn begin(lesson: Rc<Lesson>, slug: &str) -> Result<(Reading, Session), String> {
        let session = Session::new(lesson.script(0))?;
        let mut reading = Reading::new(lesson, slug);
        // A first stop that nothing leads to is where one begins: pressing *next* for it would change nothing.
        let first = reading.statements(0);
        if session.clone().step(Some(first)) == Moved::AtStop {
            reading.arrive(0, &session);
        }
        Ok((reading, session))
    }

    /// At the beginning, before any world.
    pub fn new(lesson: Rc<Lesson>, slug: &str) -> Reading {
        Reading {
            lesson,
            slug: slug.into(),
            run: 0,
            reached: SortedMap::new(),
            given: SortedMap::new(),
            outcomes: SortedMap::new(),
            acts_before_puzzle: 0,
            rungs: OnceCell::new(),
        }
    }

    /// The lesson at one of its stops, played up to there at once.
    ///
    /// # Errors
    /// Why it cannot be played.
    pub fn at_stop(lesson: Rc<Lesson>, slug: &str, stop: usize) -> Result<(Reading, Session), String> {
        let (mut reading, mut session) = Reading::begin(lesson, slug)?;
        if let Some(run) = reading.lesson.stops.get(stop).map(|stop| stop.run) {
            reading.run = run;
            session = Session::new(reading.lesson.script(run))?;
            let before: Vec<usize> = (0..=stop).filter(|at| reading.lesson.stops[*at].run == run).collect();
            for at in before {
                let stood = session.clone();
                if let Moved::Stuck(why) = session.play_to(reading.lesson.stops[at].done) {
                    return Err(why);
                }
                reading.arrive(at, &session);
                session.show(reading.view_at(at, &session, &stood));
            }
        }
        Ok((reading, session))
    }

    /// A run of the present world as it will stand at a stop.
    pub fn played_to(&self, stop: usize, played: &Session) -> Session {
        let mut there = played.clone();
        there.play_to(self.statements(stop));
        there
    }

    /// The partition that a stop is about, given the run there and as it stands now: of those that its captions ask
    /// something of the first that grows on the way, or else the first; where they ask of none, one that grows, the one in
    /// view before any other.
    pub fn view_at(&self, stop: usize, there: &Session, now: &Session) -> TopicPartition {
        let in_view = now.partition();
        let words = self.lesson.captions_at(stop).flatten();
        let asked: Vec<TopicPartition> = words.filter_map(|words| partition_of(words, there)).collect();
        let look = there.look();
        let grows = |at: &TopicPartition| !look.names.is_of_groups(*at) && end_of(now, *at) < end_of(there, *at);
        if let Some(first) = asked.first() {
            return asked.iter().copied().find(grows).unwrap_or(*first);
        }
        let all = [in_view].into_iter().chain(there.playback().world().partitions());
        all.into_iter().find(grows).unwrap_or(in_view)
    }

    /// The stops of the present world that were reached, each with its position.
    pub fn stops_reached(&self) -> Vec<(usize, usize)> {
        self.reached.iter().map(|(stop, position)| (*stop, *position)).collect()
    }

    /// Plays the lesson again up to where a run of it stood; nothing if that run had left the lesson's own way.
    pub fn retrace(&mut self, scenario: &str, position: usize, stops: Vec<(usize, usize)>) -> Option<Session> {
        let run = stops
            .last()
            .and_then(|(stop, _)| self.lesson.stops.get(*stop))
            .map_or(0, |stop| stop.run);
        let mut session = Session::new(self.lesson.script(run)).ok()?;
        while session.position() < position && session.step(None) == Moved::On {}
        self.run = run;
        self.reached = stops.into_iter().collect();
        (session.scenario() == scenario).then_some(session)
    }

    /// The stop that the present lies at or behind; nothing before the first.
    pub fn stop(&self, played: &dyn Run) -> Option<usize> {
        let behind = self
            .reached
            .iter()
            .filter(|(_, position)| **position <= played.position());
        let first_of_run = self.lesson.stops.iter().position(|stop| stop.run == self.run);
        behind
            .map(|(stop, _)| *stop)
            .max()
            .or_else(|| first_of_run.and_then(|first| first.checked_sub(1)))
    }

    /// The stop that *next* leads to.
    pub fn next(&self, played: &dyn Run) -> Option<usize> {
        let next = self.stop(played).map_or(0, |stop| stop + 1);
        (next < self.lesson.stops.len()).then_some(next)
    }

    /// Whether the next stop lies in another world than the present one.
    pub fn changes_world(&self, next: usize) -> bool {
        self.lesson.stops.get(next).is_some_and(|stop| stop.run != self.run)
    }

    /// Begins the world of a stop, where it is another one.
    ///
    /// # Errors
    /// Why it cannot begin.
    pub fn enter(&mut self, next: usize) -> Result<Option<Session>, String> {
        let Some(run) = self.world_of(next).filter(|run| *run != self.run) else {
            return Ok(None);
        };
        let session = Session::new(self.lesson.script(run))?;
        self.turn_to(run);
        Ok(Some(session))
    }

    /// Which of the lesson's worlds is in view.
    pub fn world(&self) -> usize {
        self.run
    }

    /// In which of the lesson's worlds a stop lies.
    pub fn world_of(&self, stop: usize) -> Option<usize> {
        self.lesson.stops.get(stop).map(|stop| stop.run)
    }

    /// Another world is in view, at its beginning.
    pub fn turn_to(&mut self, world: usize) {
        self.run = world;
        self.reached.clear();
    }

    /// How many statements of the present world are done at a stop.
    pub fn statements(&self, stop: usize) -> usize {
        self.lesson.stops.get(stop).map_or(usize::MAX, |stop| stop.done)
    }

    /// Whether the present is exactly where a stop was reached before.
    pub fn stands_at_stop(&self, played: &dyn Run) -> bool {
        self.reached.values().any(|position| *position == played.position())
    }

    /// A stop is reached: what it settles is settled.
    pub fn arrive(&mut self, stop: usize, played: &dyn Run) {
        self.reached.entry(stop).or_insert(played.position());
        let settled: Vec<Prediction> = self
            .lesson
            .predictions()
            .filter(|one| one.settled == stop)
            .cloned()
            .collect();
        for prediction in settled {
            if let Some(outcome) = self.outcome(&prediction, played) {
                self.outcomes.entry(prediction.name).or_insert(outcome);
            }
        }
        if self.lesson.puzzle().is_some_and(|puzzle| puzzle.stop == stop) {
            self.acts_before_puzzle = played.acts();
        }
    }

    fn outcome(&self, prediction: &Prediction, played: &dyn Run) -> Option<Outcome> {
        let given = self.given.get(&prediction.name)?;
        let answer = prediction.settle(played.moment()).ok()?;
        let is_right = match (given, &answer) {
            (Given::Choice(given), Answer::Choice(right)) => given == right,
            (Given::Records(given), Answer::Records(ranges)) => {
                let right: SortedSet<i64> = ranges.iter().flat_map(|(from, to)| *from..=*to).collect();
                *given == right
            }
            (Given::Amount(given), Answer::Amount(right)) => given == right,
            _ => false,
        };
        let right = match &answer {
            Answer::Choice(right) => choice_said(prediction, *right),
            Answer::Records(ranges) => picked_said(prediction, ranges),
            Answer::Amount(amount) => amount_said(prediction, *amount),
        };
        let answered = match (given, is_right) {
            (Given::Skipped, _) => Answered::Skipped,
            (_, true) => Answered::Right,
            (_, false) => Answered::Otherwise,
        };
        let belief = (answered == Answered::Otherwise)
            .then(|| belief_behind(prediction, given))
            .flatten();
        Some(Outcome {
            ask: prediction.ask.clone(),
            answered,
            said: said(prediction, given),
            right,
            belief,
        })
    }

    /// The prediction that waits for an answer at the present stop.
    pub fn open_prediction(&self, played: &dyn Run) -> Option<&Prediction> {
        let stop = self.stop(played)?;
        if !self.reached.contains_key(&stop) {
            return None;
        }
        self.lesson
            .predictions()
            .find(|one| one.asked == stop && !self.given.contains_key(&one.name))
    }

    /// The prediction that was answered at the present stop and is not settled there.
    pub fn given_here(&self, played: &dyn Run) -> Option<(&Prediction, &Given)> {
        let stop = self.stop(played)?;
        self.lesson
            .predictions()
            .filter(|one| one.asked == stop)
            .find_map(|one| Some((one, self.given.get(&one.name)?)))
    }

    /// Answers a prediction; the first answer stays.
    pub fn answer(&mut self, name: &str, given: Given) {
        self.given.entry(name.to_string()).or_insert(given);
    }

    /// What came out at the present stop, by the names of the predictions.
    pub fn outcomes_here(&self, played: &dyn Run) -> Vec<(&str, &Outcome)> {
        let Some(stop) = self.stop(played) else {
            return Vec::new();
        };
        let settled = self.lesson.predictions().filter(|one| one.settled == stop);
        settled
            .filter_map(|one| Some((one.name.as_str(), self.outcomes.get(&one.name)?)))
            .collect()
    }

    /// The caption of the present stop, if one stands exactly here.
    pub fn caption(&self, played: &dyn Run) -> Option<String> {
        let (stop, _) = self
            .reached
            .iter()
            .find(|(_, position)| **position == played.position())?;
        let said: Vec<String> = self
            .lesson
            .captions_at(*stop)
            .map(|words| caption(words, played.moment()))
            .collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The parts to read at the present stop: those behind its scene, or, in the middle of a scene, those before it.
    pub fn parts(&self, played: &dyn Run) -> &[Part] {
        let parts = &self.lesson.parts;
        let is_scene = |part: &Part| matches!(part, Part::Scene { .. });
        let Some(stop) = self.stop(played) else {
            let end = parts.iter().position(is_scene).unwrap_or(parts.len());
            return &parts[..end];
        };
        let scene = parts
            .iter()
            .position(|part| matches!(part, Part::Scene { first, last, .. } if (*first..=*last).contains(&stop)));
        let Some(at) = scene else { return &[] };
        if matches!(&parts[at], Part::Scene { last, .. } if *last == stop) {
            let end = parts[at + 1..]
                .iter()
                .position(is_scene)
                .map_or(parts.len(), |next| at + 1 + next);
            return &parts[at + 1..end];
        }
        let start = parts[..at].iter().rposition(is_scene).map_or(0, |before| before + 1);
        &parts[start..at]
    }

    /// The prose among the parts at the present stop. A puzzle whose task is told before its scene is told again with it.
    pub fn prose(&self, played: &dyn Run) -> Vec<&[Block]> {
        let here = self.parts(played);
        let prose = |part: &'_ Part| matches!(part, Part::Prose(_));
        if here.iter().any(|part| matches!(part, Part::Puzzle(_))) && !here.iter().any(prose) {
            return self.task().into_iter().collect();
        }
        let prose = here.iter().filter_map(|part| match part {
            Part::Prose(blocks) => Some(blocks.as_slice()),
            _ => None,
        });
        prose.collect()
    }

    /// The last prose before the puzzle, from behind its last heading.
    fn task(&self) -> Option<&[Block]> {
        let parts = &self.lesson.parts;
        let puzzle = parts.iter().position(|part| matches!(part, Part::Puzzle(_)))?;
        let blocks = parts[..puzzle].iter().rev().find_map(|part| match part {
            Part::Prose(blocks) => Some(blocks.as_slice()),
            _ => None,
        })?;
        let heading = blocks.iter().rposition(|block| matches!(block, Block::Heading(..)))?;
        Some(&blocks[heading + 1..])
    }

    /// *In a real cluster also…*, at the lesson's end.
    pub fn real(&self, played: &dyn Run) -> Option<&[Block]> {
        self.lesson.parts.iter().find_map(|part| match part {
            Part::Real(blocks) if self.next(played).is_none() => Some(blocks.as_slice()),
            _ => None,
        })
    }

    /// The ladder among the parts at the present stop, with how it comes out, and how many pieces of prose stand before it.
    pub fn ladder(&self, played: &dyn Run) -> Option<(usize, &Ladder, Rc<Vec<Vec<Rung>>>)> {
        let parts = self.parts(played);
        let (at, ladder) = parts.iter().enumerate().find_map(|(at, part)| match part {
            Part::Ladder(ladder) => Some((at, ladder)),
            _ => None,
        })?;
        let before = parts[..at].iter().filter(|part| matches!(part, Part::Prose(_))).count();
        let rungs = self.rungs.get_or_init(|| Rc::new(ladder.climb(&self.lesson)));
        Some((before, ladder, Rc::clone(rungs)))
    }

    /// The puzzle, once its stop is reached.
    pub fn puzzle(&self, played: &dyn Run) -> Option<&Puzzle> {
        let puzzle = self.lesson.puzzle()?;
        (self.stop(played) == Some(puzzle.stop) && self.reached.contains_key(&puzzle.stop)).then_some(puzzle)
    }

    /// The topic to design, once its stop is reached.
    pub fn design(&self, played: &dyn Run) -> Option<&Task> {
        let task = self.lesson.design()?;
        (self.stop(played) == Some(task.stop) && self.reached.contains_key(&task.stop)).then_some(task)
    }

    /// How many acts were spent on the puzzle.
    pub fn puzzle_acts(&self, played: &dyn Run) -> usize {
        played.acts().saturating_sub(self.acts_before_puzzle)
    }

    /// Whether the puzzle's goals hold, after at least one act.
    pub fn is_solved(&self, played: &dyn Run) -> bool {
        self.puzzle(played)
            .is_some_and(|puzzle| self.puzzle_acts(played) > 0 && puzzle.open_goals(played.moment()).is_empty())
    }
}

/// The belief that leads to a wrong answer.
fn belief_behind(prediction: &Prediction, given: &Given) -> Option<Misconception> {
    match (given, &prediction.kind) {
        (Given::Choice(given), Kind::Options(choices)) => choices.get(*given)?.misconception,
        _ => prediction.misconception,
    }
}

/// The partition that a caption asks something of.
fn partition_of(words: &Words, played: &Session) -> Option<TopicPartition> {
    let subject = match words {
        Words::Value(About::Cluster(subject)) | Words::Records(subject) => subject,
        Words::Value(About::Stores(_)) | Words::Text(_) => return None,
    };
    look::partition_of(subject, played.playback().world(), played.playback().ledger())
}

/// Where the longest of a partition's logs ends.
fn end_of(played: &Session, at: TopicPartition) -> i64 {
    let world = played.playback().world();
    let ends = world
        .broker_ids()
        .filter_map(|id| Some(world.broker(id)?.replica(at)?.log_end()));
    ends.max().unwrap_or(0)
}

/// What was answered, in words; nothing if nothing was said.
pub fn said(prediction: &Prediction, given: &Given) -> Option<String> {
    match given {
        Given::Choice(at) => Some(choice_said(prediction, *at)),
        Given::Records(picked) => {
            let mut ranges: Vec<(i64, i64)> = Vec::new();
            for at in picked {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == *at => *last = *at,
                    _ => ranges.push((*at, *at)),
                }
            }
            Some(picked_said(prediction, &ranges))
        }
        Given::Amount(amount) => Some(amount_said(prediction, *amount)),
        Given::Design(_) | Given::Skipped => None,
    }
}

fn choice_said(prediction: &Prediction, at: usize) -> String {
    let Kind::Options(choices) = &prediction.kind else {
        return String::new();
    };
    choices.get(at).map_or_else(String::new, |choice| choice.text.clone())
}

fn picked_said(prediction: &Prediction, ranges: &[(i64, i64)]) -> String {
    match prediction.kind {
        _ if ranges.is_empty() => "none".to_string(),
        Kind::Click(About::Stores(_)) => format!("the moments {}", ranges_said(ranges)),
        _ => format!("the records at offset {}", ranges_said(ranges)),
    }
}

fn amount_said(prediction: &Prediction, amount: i64) -> String {
    match &prediction.kind {
        Kind::Slider { unit, .. } => format!("{amount} {unit}"),
        _ => amount.to_string(),
    }
}

fn ranges_said(ranges: &[(i64, i64)]) -> String {
    let words = ranges.iter().map(|(from, to)| {
        if from == to {
            from.to_string()
        } else {
            format!("{from}–{to}")
        }
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        "none".to_string()
    } else {
        words.join(", ")
    }
}
