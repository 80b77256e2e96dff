//! One run on the page: a script played on a history, what somebody does to it, and which partition is in view.
//!
//! Everything that is done goes through the scenario language, so that a run can always be written down, replayed after a
//! crash of the engine, and judged by a puzzle. Deliberately absent: the DOM, clocks, and how anything looks.

use std::cell::RefCell;
use std::rc::Rc;

use crate::cluster::{BrokerId, ClientId, TopicPartition, World};
use crate::history::{CutNotice, Mark, Playback, Stepped};
use crate::lesson::Moment;
use crate::scenario::Names;
use crate::scenario::ast::{Act, Destination, Expectation, Script, Sending, Statement};
use crate::scenario::look::{self, Verdict};
use crate::ui::playground::whole::Whole;
use crate::ui::view::knobs;
use crate::ui::view::look::Look;
use crate::ui::view::panels::{Mark as Drawn, MarkKind};
use crate::ui::view::wire::{Head, heads};
use crate::ui::{landing, later};

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Moved {
    /// The world has moved on.
    On,
    /// The script has reached the stop that was asked for.
    AtStop,
    /// Nothing is left to do: everything is quiet.
    Quiet,
    /// The script cannot go on; why.
    Stuck(String),
}

/// A run.
#[derive(Clone)]
pub struct Session {
    playback: Playback,
    /// The world at the first position that is worth looking at.
    begun: World,
    origin: usize,
    partition: TopicPartition,
    heads: Vec<Head>,
    written: RefCell<Option<Written>>,
    /// The text that the script was read from, where it is somebody's own to change.
    source: Option<Rc<str>>,
    whole: RefCell<Option<Rc<Whole>>>,
}

/// The run as text up to where its script ended, so that a step beyond costs no printing of all that came before.
#[derive(Clone)]
struct Written {
    position: usize,
    text: Rc<str>,
}

impl Session {
    /// At the beginning of a script: topics and clients are there, nothing was sent.
    ///
    /// # Errors
    /// Why the script cannot begin.
    pub fn new(script: Script) -> Result<Session, String> {
        let opening = opening(&script);
        Session::opened(script, opening)
    }

    /// As [`new`](Self::new), of a text that is kept as it is written. `opened` is how many of its statements come before
    /// its beginning, where that is known.
    ///
    /// # Errors
    /// Why the script cannot begin.
    pub fn of_text(script: Script, text: Rc<str>, opened: Option<usize>) -> Result<Session, String> {
        let opening = opened.unwrap_or_else(|| opening(&script));
        let mut session = Session::opened(script, opening)?;
        session.source = Some(text);
        Ok(session)
    }

    fn opened(script: Script, opening: usize) -> Result<Session, String> {
        let playback = Playback::new(script).map_err(|(line, refused)| format!("line {line}: {refused}"))?;
        let begun = playback.world().clone();
        let mut session = Session {
            playback,
            begun,
            origin: 0,
            partition: TopicPartition {
                topic: crate::cluster::TopicId(0),
                partition: 0,
            },
            heads: Vec::new(),
            written: RefCell::default(),
            source: None,
            whole: RefCell::default(),
        };
        session.playback.play_to(opening);
        session.begin_here();
        Ok(session)
    }

    /// The landing: the lesson's cluster, taking payments without end and without the script's own crash.
    ///
    /// # Errors
    /// Why it cannot begin.
    pub fn landing(changes: &[(String, String)]) -> Result<Session, String> {
        let mut session = Session::new(landing::script(changes))?;
        match session.playback.play_to(usize::MAX) {
            Stepped::Stopped(line, stop) => Err(format!("line {line}: {stop}")),
            Stepped::Moved | Stepped::AtRest => {
                session.begin_with_first_yes();
                Ok(session)
            }
        }
    }

    /// One looks at the run from the first acknowledgement on: before it, there is nothing to lose.
    fn begin_with_first_yes(&mut self) {
        let is_yes = |mark: &Mark| matches!(mark, Mark::Acknowledged(_));
        let history = self.playback.history();
        let first = history.marks().find(|(_, marks)| marks.iter().any(is_yes));
        if let Some((first, _)) = first {
            let here = self.position();
            self.playback.seek(first);
            self.begin_here();
            self.playback.seek(here);
        }
    }

    /// A run that was written down, at one of its steps.
    ///
    /// # Errors
    /// Why the text does not lead there.
    pub fn resumed(text: &str, step: usize) -> Result<Session, String> {
        let mut session = Session::replayed(text)?;
        session.seek_step(step);
        Ok(session)
    }

    /// As [`resumed`](Self::resumed), with the steps numbered as on the landing.
    ///
    /// # Errors
    /// Why the text does not lead there.
    pub fn landing_resumed(text: &str, step: usize) -> Result<Session, String> {
        let mut session = Session::replayed(text)?;
        session.begin_with_first_yes();
        session.seek_step(step);
        Ok(session)
    }

    fn replayed(text: &str) -> Result<Session, String> {
        let later = later::get().ok_or(later::MISSING)?;
        let script = (later.script)(text.as_bytes())
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        let mut session = Session::new(script)?;
        if let Stepped::Stopped(line, stop) = session.playback.play_to(usize::MAX) {
            return Err(format!("line {line}: {stop}"));
        }
        if session.playback.world().partitions().is_empty() {
            return Err("it creates no topic, so there is nothing to look at".into());
        }
        Ok(session)
    }

    /// The present becomes the beginning of what can be looked at.
    fn begin_here(&mut self) {
        self.origin = self.playback.history().position();
        self.begun = self.playback.world().clone();
        if let Some(first) = self.playback.world().partitions().into_iter().next() {
            self.partition = first;
        }
    }

    /// What the view modules look at.
    pub fn look(&self) -> Look<'_> {
        Look::at(self.playback.history(), self.partition)
    }

    /// The heads of the connections before the last step.
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// The world in which the run began.
    pub fn begun(&self) -> &World {
        &self.begun
    }

    /// The script, the history, the acts.
    pub fn playback(&self) -> &Playback {
        &self.playback
    }

    /// The world in view, as a lesson looks at it.
    pub fn moment(&self) -> Moment<'_> {
        Moment::Cluster(self.playback.world(), self.playback.ledger())
    }

    /// The partition in view.
    pub fn partition(&self) -> TopicPartition {
        self.partition
    }

    /// Looks at another partition, if it exists; says whether that is another one than before.
    pub fn show(&mut self, partition: TopicPartition) -> bool {
        let turns = partition != self.partition && self.playback.world().partitions().contains(&partition);
        if turns {
            self.partition = partition;
        }
        turns
    }

    /// The step one stands at; 0 is the beginning.
    pub fn step_number(&self) -> usize {
        self.position().saturating_sub(self.origin)
    }

    /// How many steps were recorded.
    pub fn steps(&self) -> usize {
        self.playback.history().len().saturating_sub(self.origin)
    }

    /// The position in the history.
    pub fn position(&self) -> usize {
        self.playback.history().position()
    }

    /// The step of a position, as it is numbered on the page.
    pub fn number_of(&self, position: usize) -> usize {
        position.saturating_sub(self.origin)
    }

    /// Whether one stands at the end of what was recorded.
    pub fn at_end(&self) -> bool {
        self.playback.history().at_end()
    }

    /// Whether the run can go on behind its recorded end.
    pub fn can_go_on(&self) -> bool {
        self.playback.line().is_some() || !(self.playback.world().is_quiet() || self.playback.world().next().is_none())
    }

    /// One step on; within a script no farther than so many of its statements.
    pub fn step(&mut self, statements: Option<usize>) -> Moved {
        let before = heads(&self.look());
        let stepped = match statements {
            Some(limit) => match self.playback.step_within(limit) {
                Some(stepped) => stepped,
                None => return Moved::AtStop,
            },
            None => self.playback.step(),
        };
        self.ensure_partition();
        match stepped {
            Stepped::Moved => {
                self.heads = before;
                Moved::On
            }
            Stepped::AtRest => Moved::Quiet,
            Stepped::Stopped(line, stop) => Moved::Stuck(format!("line {line}: {stop}")),
        }
    }

    /// A run whose script creates its topic only now has a partition to look at from here on.
    fn ensure_partition(&mut self) {
        let partitions = self.playback.world().partitions();
        if !partitions.contains(&self.partition) {
            self.partition = partitions.first().copied().unwrap_or(self.partition);
        }
    }

    /// One step back; not before the beginning.
    pub fn back(&mut self) -> bool {
        self.position() > self.origin && self.playback.back()
    }

    /// Goes to a position of the history; not before the beginning.
    pub fn seek(&mut self, position: usize) {
        let last = self.playback.history().len();
        self.playback.seek(position.clamp(self.origin.min(last), last));
    }

    /// Goes to a step, as they are numbered on the page.
    pub fn seek_step(&mut self, step: usize) {
        self.seek(self.origin + step);
    }

    /// Plays to where so many statements of the script are done, at once.
    pub fn play_to(&mut self, statements: usize) -> Moved {
        self.heads.clear();
        let stepped = self.playback.play_to(statements);
        self.ensure_partition();
        match stepped {
            Stepped::Stopped(line, stop) => Moved::Stuck(format!("line {line}: {stop}")),
            Stepped::Moved | Stepped::AtRest => Moved::AtStop,
        }
    }

    /// Plays on until a position is reached; not beyond the script's end.
    pub fn play_on(&mut self, position: usize) -> Moved {
        self.heads.clear();
        let stepped = self.playback.play_on(position);
        self.ensure_partition();
        match stepped {
            Stepped::Stopped(line, stop) => Moved::Stuck(format!("line {line}: {stop}")),
            Stepped::Moved => Moved::On,
            Stepped::AtRest => Moved::AtStop,
        }
    }

    /// Whether the script says more than was played so far.
    pub fn has_more_to_play(&self) -> bool {
        self.playback.has_more()
    }

    /// Whether an expectation holds at the present.
    pub fn judge(&self, expectation: &Expectation) -> Verdict {
        look::judge(expectation, self.playback.world(), self.playback.ledger())
    }

    /// How many of the script's expectations held so far, and what the others came to, each in words.
    pub fn expectations(&self) -> (usize, Vec<String>) {
        let script = self.playback.script();
        let verdicts: Vec<_> = self.playback.verdicts().collect();
        let held = verdicts.iter().filter(|(_, verdict)| verdict.holds).count();
        let broken = verdicts.iter().filter(|(_, verdict)| !verdict.holds);
        let words = broken.filter_map(|(index, verdict)| match &*script.lines.get(*index)?.statement {
            Statement::Expect(expectation) => Some(format!("expected {expectation}, found {}", verdict.found)),
            _ => None,
        });
        (held, words.collect())
    }

    /// The text that the script was read from, where it was kept.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// How many statements lead to the beginning.
    pub fn opening(&self, whole: &Whole) -> usize {
        whole.statements(self.origin)
    }

    /// The run as a whole, as a text: what was done and what is to come of the script.
    pub fn whole(&self) -> Rc<Whole> {
        let mut kept = self.whole.borrow_mut();
        let known = kept.take().filter(|whole| whole.is_of(&self.playback));
        let whole = known.unwrap_or_else(|| Rc::new(self.told(None)));
        *kept = Some(Rc::clone(&whole));
        whole
    }

    /// The same with what is under way told in two parts, what was done of it and what is to come.
    pub fn in_two_parts(&self) -> Whole {
        self.told(Some(self.position()))
    }

    fn told(&self, split: Option<usize>) -> Whole {
        Whole::new(self.source.as_deref(), &self.playback, split)
    }

    /// The nearest marked position behind the present or before it. Where every other step is an acknowledgement, one jumps
    /// over them, as long as there is anything else.
    pub fn marked(&self, direction: Direction) -> Option<usize> {
        const MANY: usize = 24;
        let history = self.playback.history();
        let nearest = |counts: fn(&Mark) -> bool| match direction {
            Direction::Next => history.next_mark(counts),
            Direction::Previous => history.previous_mark(counts).filter(|position| *position > self.origin),
        };
        let among_many = match history.marks().nth(MANY) {
            Some(_) => nearest(|mark| !matches!(mark, Mark::Acknowledged(_))),
            None => None,
        };
        among_many.or_else(|| nearest(|_| true))
    }

    /// What is marked, by step, each with the weightiest of its marks.
    pub fn marks(&self) -> Vec<Drawn> {
        let marks = self
            .playback
            .history()
            .marks()
            .filter(|(position, _)| *position > self.origin);
        let drawn = marks.filter_map(|(position, marks)| {
            let kind = marks.iter().map(kind_of).max()?;
            Some(Drawn {
                step: self.number_of(position),
                kind,
            })
        });
        drawn.collect()
    }

    /// Does something, as a line of the scenario language.
    ///
    /// # Errors
    /// Why it cannot be done; nothing has changed then.
    pub fn act(&mut self, text: &str) -> Result<Option<CutNotice>, String> {
        self.perform(self.parse(text)?)
    }

    /// Does something.
    ///
    /// # Errors
    /// Why it cannot be done; nothing has changed then.
    pub fn perform(&mut self, statement: Statement) -> Result<Option<CutNotice>, String> {
        self.written.take();
        let before = heads(&self.look());
        if statement.is_time() {
            return match self
                .playback
                .let_pass(statement)
                .map_err(|refused| refused.to_string())?
            {
                Stepped::Stopped(_, stop) => Err(stop.to_string()),
                // What is waited for may be so already: that is no mistake.
                Stepped::Moved | Stepped::AtRest => Ok(None),
            };
        }
        let acted = self.playback.act(statement).map_err(|refused| refused.to_string())?;
        self.heads = before;
        Ok(acted.cut)
    }

    /// Reads a line as it may be done now.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(&self, text: &str) -> Result<Statement, String> {
        let mut names = Names::default();
        for line in &self.playback.script().lines {
            names.declare(&line.statement);
        }
        for statement in self.playback.own_acts() {
            names.declare(statement);
        }
        let later = later::get().ok_or(later::MISSING)?;
        (later.statement)(text, &names).map_err(|fault| words_of(&fault))
    }

    /// Whether a client, a group or a topic is called so.
    pub fn is_name(&self, word: &str) -> bool {
        let world = self.playback.world();
        let is_group = world.settings().group_named(word).is_some();
        is_group || world.client_named(word).is_some() || world.topic_named(word).is_some()
    }

    /// Who leads the partition in view, if somebody does whose process runs.
    pub fn leader(&self) -> Option<BrokerId> {
        let world = self.playback.world();
        let leader = world.image().leader(self.partition)?;
        world
            .broker(leader)
            .filter(|broker| broker.is_running())
            .map(|broker| broker.id())
    }

    /// Turns a knob.
    ///
    /// # Errors
    /// Why the value is refused, with the range.
    pub fn turn(&mut self, name: &str, value: &str) -> Result<Option<CutNotice>, String> {
        let statements = knobs::statements(&self.look(), name, knobs::typed(value));
        let mut cut = None;
        for statement in statements {
            cut = cut.or(self.act(&statement)?);
        }
        Ok(cut)
    }

    /// One record of the first producer that runs.
    pub fn produce_one(&self) -> Option<Statement> {
        let look = self.look();
        let id = self.running_producer()?;
        let topic = look.world.settings().topics.get(&self.partition.topic)?;
        Some(Statement::Act(Act::Send(Sending {
            producer: look.names.client(id).to_string(),
            to: Destination::Topic(topic.name.to_string()),
            key: None,
            value: None,
            timestamp: None,
            headers: Vec::new(),
            count: None,
            every: None,
            broker: None,
        })))
    }

    /// Whether there is a producer that could send.
    pub fn can_produce(&self) -> bool {
        self.running_producer().is_some()
    }

    fn running_producer(&self) -> Option<ClientId> {
        let mut clients = self.playback.world().clients();
        let (id, _) = clients.find(|(_, client)| client.is_producer() && client.is_running())?;
        Some(id)
    }

    /// Takes the latest cut of the future back.
    pub fn undo(&mut self) -> bool {
        self.heads.clear();
        self.written.take();
        self.playback.undo_cut()
    }

    /// How many acts of somebody's own lead to the present.
    pub fn acts(&self) -> usize {
        self.playback.own_acts().len()
    }

    /// The run up to the present, as a text that leads here again.
    pub fn scenario(&self) -> String {
        let beyond = self.playback.steps_beyond();
        let position = self.position() - beyond;
        let mut written = self.written.borrow_mut();
        let known = written.take().filter(|known| known.position == position);
        let known = known.unwrap_or_else(|| Written {
            position,
            text: self.playback.to_script_until_beyond().to_string().into(),
        });
        let text = match beyond {
            0 => known.text.to_string(),
            beyond => format!("{}step {beyond}\n", known.text),
        };
        // Within a script the text grows in other ways than by steps.
        *written = Some(known).filter(|_| beyond > 0);
        text
    }
}

/// Which way to a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Later.
    Next,
    /// Earlier.
    Previous,
}

/// How many statements at a script's beginning only declare things.
fn opening(script: &Script) -> usize {
    let declares = |statement: &Statement| {
        statement.sets_up()
            || matches!(
                statement,
                Statement::Broker { .. }
                    | Statement::Topic { .. }
                    | Statement::Producer { .. }
                    | Statement::Consumer { .. }
                    | Statement::Set { .. }
                    | Statement::SetLink { .. }
                    | Statement::SetDisk { .. }
            )
    };
    script.lines.iter().take_while(|line| declares(&line.statement)).count()
}

fn kind_of(mark: &Mark) -> MarkKind {
    match mark {
        Mark::Acknowledged(_) => MarkKind::Acked,
        Mark::Refused(_) => MarkKind::Refused,
        Mark::Lost(_) => MarkKind::Lost,
        Mark::Crash(_) => MarkKind::Crash,
        Mark::Election(_, Some(_)) => MarkKind::Election,
        Mark::Election(_, None) => MarkKind::Offline,
        Mark::IsrChange(_) => MarkKind::Isr,
        Mark::Truncation(..) => MarkKind::Truncated,
        Mark::Roll(..) => MarkKind::Roll,
        Mark::Deletion(..) | Mark::Compaction(..) => MarkKind::Deleted,
    }
}

/// A fault of a single line, which has no place worth naming.
fn words_of(fault: &crate::scenario::Fault) -> String {
    let nearest = fault
        .nearest
        .as_ref()
        .map_or_else(String::new, |word| format!("; the nearest is '{word}'"));
    format!("found {}, expected {}{nearest}", fault.found, fault.expected)
}
