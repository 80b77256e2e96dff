//! Playing a schedule: performing its moves, and looking whether anything that was promised is broken.
//!
//! An acknowledged record is lost when whoever really leads its partition does not hold it. That is looked at whenever
//! somebody becomes leader, and at the end: nothing else takes a record from a log that is led.

use crate::cluster::event::{Outcome, Tag, What};
use crate::cluster::ids::{BrokerId, Node, TopicPartition};
use crate::cluster::input::{Input, Pending};
use crate::cluster::message::MessageKind;
use crate::cluster::{Event, Silent, World, invariants, step};
use crate::ledger::Ledger;
use crate::scenario::ast::{self, DropKind, Statement};
use crate::scenario::inputs;

use super::arena::Arena;
use super::schedule::Move;
use super::setting::Promise;

/// What a schedule has broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// An acknowledged record is not in its leader's log: its partition and offset.
    Lost(TopicPartition, i64),
    /// A named invariant, and how.
    Invariant(&'static str, String),
}

/// A schedule under way.
pub(super) struct Play<'a> {
    arena: &'a Arena,
    pub world: World,
    events: Vec<Event>,
    acknowledged: Vec<(TopicPartition, i64, Tag)>,
    /// Hosts without power.
    dark: Vec<BrokerId>,
    /// Somebody has become leader in the latest move.
    led_anew: bool,
    /// A leader has forgotten an ISR that it asked for.
    pub forgot: bool,
    /// The whole ledger, where readers are to be judged as well.
    ledger: Option<Ledger>,
    /// What has been performed, as statements, if that is wanted.
    pub told: Option<Vec<Statement>>,
}

impl<'a> Play<'a> {
    pub fn new(arena: &'a Arena) -> Play<'a> {
        let reads = arena.world.clients().count() > 2;
        Play {
            arena,
            world: arena.world.clone(),
            events: Vec::new(),
            acknowledged: Vec::new(),
            dark: Vec::new(),
            led_anew: false,
            forgot: false,
            ledger: reads.then(Ledger::default),
            told: None,
        }
    }

    /// Performs a move, if it can apply.
    pub fn perform(&mut self, next: Move) {
        match next {
            Move::Next => {
                if self.take(Input::Next) {
                    self.tell(Statement::Step(Some(1)));
                }
            }
            Move::OutOfTurn(which) => {
                if let Some((pending, statement)) = self.out_of_turn(which)
                    && self.take(Input::Run(pending))
                {
                    self.tell(statement);
                }
            }
            Move::Happens(at) => {
                let Some(statement) = self.arena.happens.get(at as usize) else {
                    return;
                };
                if self.happens(statement) {
                    self.tell(Statement::clone(statement));
                }
            }
        }
    }

    fn tell(&mut self, statement: Statement) {
        let Some(told) = &mut self.told else { return };
        match (told.last_mut(), statement) {
            (Some(Statement::Step(Some(steps))), Statement::Step(Some(more))) => *steps += more,
            (_, statement) => told.push(statement),
        }
    }

    /// A statement happens as a whole or not at all.
    fn happens(&mut self, statement: &Statement) -> bool {
        let Ok(inputs) = inputs(statement, &self.world) else {
            return false;
        };
        if inputs
            .iter()
            .any(|input| self.is_one_host_too_many(input, inputs.len()))
        {
            return false;
        }
        if let [input] = inputs.as_slice() {
            return self.take(input.clone());
        }
        let mut trial = self.world.clone();
        let applies = |input: &Input| step(&mut trial, input.clone(), &mut Silent).is_ok();
        inputs.iter().all(applies) && inputs.into_iter().all(|input| self.take(input))
    }

    /// Hosts lose their power one at a time, unless a statement takes it from all.
    fn is_one_host_too_many(&self, input: &Input, of: usize) -> bool {
        matches!(input, Input::PowerOff(host, _) if of == 1 && self.dark.iter().any(|other| other != host))
    }

    /// Performs an input and notes what came of it.
    fn take(&mut self, input: Input) -> bool {
        let power = match input {
            Input::PowerOff(host, _) => Some((host, false)),
            Input::Start(host, _) => Some((host, true)),
            _ => None,
        };
        self.events.clear();
        if step(&mut self.world, input, &mut self.events).is_err() {
            return false;
        }
        if let Some((host, has_power)) = power {
            self.dark.retain(|other| *other != host);
            if !has_power {
                self.dark.push(host);
            }
        }
        for event in &self.events {
            match event.what {
                What::Told {
                    tag,
                    partition: Some(partition),
                    outcome: Outcome::Acked(offset),
                } if offset >= 0 => self.acknowledged.push((partition, offset, tag)),
                What::BecameLeader { .. } => self.led_anew = true,
                What::IsrForgotten { .. } => self.forgot = true,
                _ => {}
            }
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.step(&self.events);
        }
        true
    }

    /// A message that can be named and could come next, out of its turn.
    fn out_of_turn(&self, which: u32) -> Option<(Pending, Statement)> {
        let heads = self.world.network().heads();
        let named = heads.filter_map(|(from, to, head)| {
            let kind = word(head.message.kind())?;
            self.world.is_awake(to).then_some((from, to, kind))
        });
        let all: Vec<(Node, Node, DropKind)> = named.collect();
        let &(from, to, kind) = all.get(which as usize % all.len().max(1))?;
        let statement = Statement::Deliver {
            kind,
            from: self.node(from),
            to: self.node(to),
        };
        Some((Pending::Message { from, to }, statement))
    }

    fn node(&self, node: Node) -> ast::Node {
        match node {
            Node::Controller => ast::Node::Controller,
            Node::Broker(id) => ast::Node::Broker(id.0),
            Node::Client(_) => ast::Node::Client(self.world.node_name(node)),
        }
    }

    /// What is broken, if somebody has become leader since it was looked at last.
    pub fn broken(&mut self) -> Option<Broken> {
        if !std::mem::take(&mut self.led_anew) {
            return None;
        }
        self.lost()
    }

    /// What is broken at the end.
    pub fn broken_at_last(&mut self) -> Option<Broken> {
        match self.arena.setting.promise {
            Promise::EveryInvariant => self.lost().or_else(|| self.invariant()),
            Promise::Nothing => self.lost(),
        }
    }

    fn lost(&self) -> Option<Broken> {
        let holds = |&(tp, offset, tag): &(TopicPartition, i64, Tag)| {
            self.log_of_leader(tp).is_none_or(|log| log.tag_at(offset) == Some(tag))
        };
        let lost = self.acknowledged.iter().find(|record| !holds(record))?;
        Some(Broken::Lost(lost.0, lost.1))
    }

    /// The log of the broker that the controller has named and that knows it.
    fn log_of_leader(&self, tp: TopicPartition) -> Option<crate::cluster::broker::ReplicaView<'_>> {
        let image = self.world.image();
        let state = image.partition(tp)?;
        let leader = self.world.broker(state.leader?)?;
        let replica = leader.replica(tp)?;
        (leader.is_running() && replica.leading().is_some() && replica.leader_epoch() == Some(state.leader_epoch))
            .then_some(replica)
    }

    fn invariant(&mut self) -> Option<Broken> {
        if let Some(ledger) = &mut self.ledger {
            ledger.check(&self.world);
            let broken = ledger
                .verdicts()
                .find_map(|verdict| Some((verdict.name, verdict.first?)));
            return broken.map(|(name, first)| Broken::Invariant(name, first.what.to_string()));
        }
        let broken = invariants::ALL
            .iter()
            .find_map(|invariant| Some((invariant.name, (invariant.check)(&self.world).err()?)));
        broken.map(|(name, what)| Broken::Invariant(name, what))
    }
}

/// The word with which a scenario delivers a message of this kind.
fn word(kind: MessageKind) -> Option<DropKind> {
    DropKind::from_word(kind.name())
}
