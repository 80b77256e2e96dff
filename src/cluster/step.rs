//! The one place where a world changes: an input is checked, then performed.
//!
//! Everything is checked before anything changes, so a refusal leaves the world as it was. The order of what is pending:
//! the earliest due time; at the same time by node (controller, brokers, clients), then messages before timers, then
//! partition, then what was sent first.

use std::sync::Arc;

use crate::cluster::act;
use crate::cluster::actor::{Cx, Effect, Timer, TimerKind};
use crate::cluster::broker::Broker;
use crate::cluster::client::Client;
use crate::cluster::contact;
use crate::cluster::controller_node::ControllerNode;
use crate::cluster::event::{Cause, Event, LostBy, Sink, What};
use crate::cluster::fault::{self, Notice};
use crate::cluster::heartbeats;
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::input::{Input, Pending, Refused};
use crate::cluster::message::{Message, MessageKind};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{LAST_TIME, Micros};
use crate::cluster::tracked::Tracked;
use crate::cluster::world::{Model, World};
use crate::log::Errors;

/// Performs one input.
///
/// # Errors
/// An input that cannot apply is refused, and the world stays as it was.
pub fn step(world: &mut World, input: Input, events: &mut impl Sink) -> Result<(), Refused> {
    let mut doing = Doing {
        world,
        events: events.buffer(),
        effects: Vec::new(),
    };
    match input {
        Input::Next => match doing.world.next() {
            Some((due, pending)) => doing.perform(pending, due),
            None => return Err(Refused::new("nothing is pending", "act, or let time pass")),
        },
        Input::Run(pending) => {
            let due = doing.world.may_run(pending)?;
            doing.perform(pending, due);
        }
        Input::Wait(until) => doing.wait(until)?,
        act => act::perform(&mut doing, act)?,
    }
    doing.settle();
    world.book.steps += 1;
    Ok(())
}

impl World {
    /// The earliest thing that is pending, and when it is due; nothing that waits for a process that is frozen or gone, and
    /// nothing that time will not reach.
    pub fn next(&self) -> Option<(Micros, Pending)> {
        type Rank = (
            Micros,
            Node,
            bool,
            Option<TopicPartition>,
            Micros,
            Option<Node>,
            Option<Timer>,
        );
        let mut best: Option<(Rank, Pending)> = None;
        let mut offer = |rank: Rank, pending: Pending| {
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, pending));
            }
        };
        for (from, to, first) in self.model.network.heads().filter(|(_, to, _)| self.is_awake(*to)) {
            let rank = (
                first.due,
                to,
                false,
                first.message.partition(),
                first.sent,
                Some(from),
                None,
            );
            offer(rank, Pending::Message { from, to });
        }
        let fires = |node: Node| self.rules().on(Rule::Clock) && self.is_awake(node);
        for (node, timer, due) in self.model.timers.iter().filter(|(node, ..)| fires(*node)) {
            let rank = (due, node, true, timer.partition, 0, timer.peer, Some(timer));
            offer(rank, Pending::Timer { node, timer });
        }
        best.map(|(rank, pending)| (rank.0.max(self.model.now), pending))
            .filter(|&(due, _)| due <= LAST_TIME)
    }

    /// Everything that is pending and could come next: the first message of each connection, and each timer that no other
    /// timer precedes. With when it is due.
    pub fn pending(&self) -> Vec<(Pending, Micros)> {
        let messages = self
            .model
            .network
            .heads()
            .map(|(from, to, m)| (Pending::Message { from, to }, m.due));
        let timers = self
            .model
            .timers
            .iter()
            .map(|(node, timer, due)| (Pending::Timer { node, timer }, due));
        messages
            .chain(timers)
            .filter(|(pending, _)| self.may_run(*pending).is_ok())
            .collect()
    }

    /// When a pending thing is due, if it may be performed now.
    fn may_run(&self, pending: Pending) -> Result<Micros, Refused> {
        self.may_come(pending).and_then(within_time)
    }

    /// When a pending thing is due, if nothing that comes first or does not run keeps it.
    fn may_come(&self, pending: Pending) -> Result<Micros, Refused> {
        let absent = || {
            Refused::new(
                "nothing of that kind is pending",
                "look at what is on the wire and at the timers",
            )
        };
        let frozen = |node| {
            let name = self.node_name(node);
            Refused::new(
                format!("{name} is frozen or down, so nothing reaches it"),
                "start or resume it first",
            )
        };
        match pending {
            Pending::Message { from, to } => {
                let heads = self.model.network.heads();
                let due = heads
                    .filter(|(f, t, _)| (*f, *t) == (from, to))
                    .map(|(.., m)| m.due)
                    .next();
                let due = due.ok_or_else(absent)?;
                if self.is_awake(to) { Ok(due) } else { Err(frozen(to)) }
            }
            Pending::Timer { node, timer } => {
                let due = self.model.timers.due(node, timer).ok_or_else(absent)?;
                if !self.is_awake(node) {
                    return Err(frozen(node));
                }
                let now = self.model.now;
                let awake = self.model.timers.iter().filter(|(node, ..)| self.is_awake(*node));
                match awake.map(|(.., other)| other.max(now)).min() {
                    Some(first) if first < due => {
                        Err(Refused::new("another timer is due before it", "fire that one first"))
                    }
                    _ => Ok(due),
                }
            }
        }
    }
}

/// Refuses a time after the last.
///
/// # Errors
/// It lies beyond [`LAST_TIME`].
pub(crate) fn within_time(time: Micros) -> Result<Micros, Refused> {
    if time <= LAST_TIME {
        return Ok(time);
    }
    const DAY: Micros = 86_400_000_000;
    Err(Refused::new(
        "time would run beyond its end",
        format!("stay within the {} days that there are", LAST_TIME / DAY),
    ))
}

/// A step under way: the world, where events go, and what actors have asked for.
pub(crate) struct Doing<'a> {
    pub world: &'a mut World,
    pub events: Option<&'a mut Vec<Event>>,
    effects: Vec<Effect>,
}

impl<'a> Doing<'a> {
    /// What happens before anybody listens.
    pub fn unheard(world: &'a mut World) -> Doing<'a> {
        Doing {
            world,
            events: None,
            effects: Vec::new(),
        }
    }
}

impl Doing<'_> {
    /// Says what happened.
    pub fn say(&mut self, rule: Rule, what: impl FnOnce() -> What) {
        let at = self.world.model.now;
        if let Some(events) = self.events.as_deref_mut() {
            events.push(Event { at, rule, what: what() });
        }
    }

    /// Lets time pass in which nothing happens.
    fn wait(&mut self, until: Micros) -> Result<(), Refused> {
        if until < self.world.model.now {
            return Err(Refused::new("that time has passed", "name a later one"));
        }
        within_time(until)?;
        if self.world.next().is_some_and(|(due, _)| due <= until) {
            return Err(Refused::new("something is due before that", "perform it first"));
        }
        self.world.model.now = until;
        Ok(())
    }

    /// Performs a pending thing; time becomes the later of now and its due time.
    fn perform(&mut self, pending: Pending, due: Micros) {
        self.world.model.now = self.world.model.now.max(due);
        match pending {
            Pending::Message { from, to } => {
                let Some(first) = self.world.model.network.take(from, to) else {
                    return;
                };
                let kind = first.message.kind();
                self.say(Rule::Wire, || What::Step(Cause::Delivered { from, to, kind }));
                self.deliver(from, to, first.message);
            }
            Pending::Timer { node, timer } => {
                self.world.model.timers.disarm(node, timer);
                self.say(Rule::Clock, || What::Step(Cause::Fired { node, timer }));
                self.fire(node, timer);
            }
        }
    }

    /// Hands a message to its receiver.
    fn deliver(&mut self, from: Node, to: Node, message: Message) {
        match (to, from) {
            (Node::Controller, Node::Broker(sender)) => {
                self.hear_brokers();
                let last_word = self.is_last_word(sender, &message);
                let beats = message.kind() == MessageKind::Heartbeat;
                self.with_controller(|controller, cx| controller.on_message(sender, message, cx));
                if last_word {
                    fault::silence(self, from);
                } else if beats {
                    heartbeats::send_condemned(self, sender);
                }
            }
            (Node::Broker(id), _) => {
                let had_ports_open = self.world.has_ports_open(id);
                self.with_broker(id, |broker, cx| broker.on_message(from, message, cx));
                if !had_ports_open && self.world.has_ports_open(id) {
                    fault::ports_open(self, id);
                }
            }
            (Node::Client(id), Node::Broker(sender)) => {
                self.with_client(id, |client, cx| client.on_message(sender, message, cx));
            }
            _ => {}
        }
    }

    /// Whether a message to the controller comes from a process that is gone or cut off by now: nothing follows it, though
    /// the controller has just heard of the broker.
    fn is_last_word(&self, sender: BrokerId, message: &Message) -> bool {
        let node = Node::Broker(sender);
        let process = self.world.broker(sender).and_then(|broker| broker.process());
        let of_another_process = process.is_some_and(|process| match message {
            Message::Heartbeat(_, beat) => Some(beat.epoch) != process.epoch,
            Message::Register(_, registration) => registration.incarnation != process.incarnation,
            _ => false,
        });
        of_another_process || !self.world.is_awake(node) || !self.world.model.network.connects(node, Node::Controller)
    }

    fn fire(&mut self, node: Node, timer: Timer) {
        match node {
            Node::Controller => {
                self.hear_brokers();
                self.with_controller(|controller, cx| controller.on_timer(timer, cx));
            }
            Node::Broker(id) => self.with_broker(id, |broker, cx| broker.on_timer(timer, cx)),
            Node::Client(id) => self.with_client(id, |client, cx| client.on_timer(timer, cx)),
        }
    }

    /// Lets a broker act, then does what it asked for. If its process ended by that, its peers notice.
    pub fn with_broker<R>(&mut self, id: BrokerId, act: impl FnOnce(&mut Broker, &mut Cx<'_>) -> R) -> R {
        let runs = |world: &World| world.broker(id).is_some_and(|b| b.is_running());
        let ran = runs(self.world);
        let done = self.let_broker(id, act);
        if ran && !runs(self.world) {
            fault::process_gone(self, Node::Broker(id), Notice::AtOnce);
        }
        done
    }

    /// Lets a broker act, then does what it asked for.
    pub fn let_broker<R>(&mut self, id: BrokerId, act: impl FnOnce(&mut Broker, &mut Cx<'_>) -> R) -> R {
        self.let_act(Node::Broker(id), |model| &mut model.brokers[usize::from(id.0) - 1], act)
    }

    /// Lets a client act, then does what it asked for.
    pub fn with_client<R>(&mut self, id: ClientId, act: impl FnOnce(&mut Client, &mut Cx<'_>) -> R) -> R {
        self.let_act(Node::Client(id), |model| &mut model.clients[usize::from(id.0)], act)
    }

    /// Lets the controller act, then does what it asked for.
    pub fn with_controller<R>(&mut self, act: impl FnOnce(&mut ControllerNode, &mut Cx<'_>) -> R) -> R {
        self.let_act(Node::Controller, |model| &mut model.controller, act)
    }

    /// Lets an actor change itself, then does what it asked for.
    fn let_act<A: Clone, R>(
        &mut self,
        me: Node,
        part: impl FnOnce(&mut Model) -> &mut Tracked<A>,
        act: impl FnOnce(&mut A, &mut Cx<'_>) -> R,
    ) -> R {
        let reach = self.world.reach(me);
        let model = &mut self.world.model;
        let settings = Arc::clone(&model.settings);
        let mut cx = Cx {
            me,
            now: model.now,
            settings: &settings,
            rules: model.rules,
            reach: &reach,
            effects: &mut self.effects,
            events: self.events.as_deref_mut(),
        };
        let done = act(part(model).make_mut(), &mut cx);
        self.apply(me);
        done
    }

    /// Does what an actor asked for.
    fn apply(&mut self, me: Node) {
        let mut effects = std::mem::take(&mut self.effects);
        // Timers first: a message that is lost as it leaves lets its sender act again, and what it arms then must stand.
        for effect in &effects {
            match *effect {
                Effect::Arm(timer, due) => {
                    let due = due.max(self.world.model.now);
                    self.world.model.timers.arm(me, timer, due);
                }
                Effect::ArmTick(timer, due) => {
                    let now = self.world.model.now;
                    self.world.model.timers.arm_tick(me, timer, due.max(now), now);
                }
                Effect::Disarm(timer) => {
                    self.world.model.timers.disarm(me, timer);
                }
                Effect::Send { .. } | Effect::Close(_) | Effect::Answer(..) => {}
            }
        }
        for effect in effects.drain(..) {
            match effect {
                Effect::Send { to, message, after } => self.send(me, to, message, after),
                Effect::Close(peer) => self.hang_up(me, peer),
                Effect::Answer(act, answer) => self.answered(act, answer),
                Effect::Arm(..) | Effect::ArmTick(..) | Effect::Disarm(_) => {}
            }
        }
        if self.effects.is_empty() {
            self.effects = effects;
        }
    }

    /// Notes what an operator's act was answered with.
    pub(crate) fn answered(&mut self, act: &'static str, answer: Option<Errors>) {
        self.world.book.answer = answer;
        self.say(Rule::Act, || What::Operator { act, answer });
    }

    /// Puts a message on the wire, or loses it.
    fn send(&mut self, from: Node, to: Node, message: Message, after: Micros) {
        let kind = message.kind();
        let model = &mut self.world.model;
        if !model.network.passes(from, to) {
            self.lose(from, to, &message, LostBy::Cut);
        } else if model.rules.on(Rule::WireDrop) && model.network.is_condemned(from, to, kind) {
            self.lose(from, to, &message, LostBy::Dropped);
        } else if !self.world.accepts(to) {
            self.lose(from, to, &message, LostBy::Down);
        } else {
            let model = &mut self.world.model;
            let latency = if model.rules.on(Rule::Wire) {
                model.settings.latency(from, to)
            } else {
                0
            };
            let due = model.now + after + latency;
            model.network.put(from, to, model.now, due, message);
            if !self.world.is_awake(to) {
                // A frozen process takes it and does not answer: the sender can only time out.
                self.on_lost(from, to);
            }
        }
    }

    /// A message will not arrive: whoever waits for it, or for its answer, can only time out.
    fn lose(&mut self, from: Node, to: Node, message: &Message, by: LostBy) {
        let rule = match by {
            LostBy::Cut => Rule::WireCut,
            LostBy::Down => Rule::WireDown,
            LostBy::Dropped => Rule::WireDrop,
        };
        let kind = message.kind();
        self.say(rule, || What::MessageLost { from, to, kind, by });
        match (from, to, kind) {
            (Node::Controller, Node::Broker(id), MessageKind::Metadata) => {
                self.with_controller(|controller, cx| controller.lose_news(id, cx));
            }
            (Node::Broker(id), Node::Controller, MessageKind::Heartbeat) if by == LostBy::Dropped => {
                self.with_controller(|controller, cx| controller.miss_beat(id, cx));
            }
            _ => {}
        }
        self.on_lost(from, to);
        self.on_lost(to, from);
    }

    /// Tells a broker or a client that something between it and a peer was lost. The controller asks for nothing and waits
    /// for no answer.
    pub fn on_lost(&mut self, node: Node, peer: Node) {
        match node {
            Node::Broker(id) if self.world.broker(id).is_some_and(|b| b.is_running()) => {
                self.with_broker(id, |broker, cx| broker.on_lost(peer, cx));
            }
            Node::Client(id) if self.world.is_awake(node) => {
                self.with_client(id, |client, cx| client.on_lost(peer, cx));
            }
            Node::Controller | Node::Broker(_) | Node::Client(_) => {}
        }
    }

    /// One end closes a connection: the other is told behind what was sent before; what comes back is not heard any more.
    pub fn hang_up(&mut self, from: Node, to: Node) {
        let model = &mut self.world.model;
        model.network.clear(to, from);
        if model.network.passes(from, to) && self.world.accepts(to) {
            let model = &mut self.world.model;
            let due = model.network.last_due(from, to).unwrap_or(model.now);
            model.network.put(from, to, model.now, due, Message::Closed);
        }
    }

    /// Loses everything on the wire of a path.
    pub fn lose_in_flight(&mut self, from: Node, to: Node, by: LostBy) {
        for lost in self.world.model.network.clear(from, to) {
            self.lose(from, to, &lost.message, by);
        }
    }

    /// Lets the controller know who has been heard all the time (heartbeats that change nothing are computed).
    pub fn hear_brokers(&mut self) {
        let applied: Vec<(BrokerId, i64)> = self
            .world
            .brokers()
            .filter(|b| self.world.is_awake(Node::Broker(b.id())))
            .filter(|b| {
                self.world
                    .model
                    .network
                    .connects(Node::Broker(b.id()), Node::Controller)
            })
            .filter_map(|b| Some((b.id(), b.image()?.offset)))
            .collect();
        self.with_controller(|controller, _| controller.read_so_far(&applied));
    }

    /// What follows from a step: clients that wait for news of the cluster are woken when somebody they reach has some, and
    /// those whose turn it is to ask learn of new partitions and leaders.
    fn settle(&mut self) {
        contact::settle(self);
        for at in 0..self.world.model.clients.len() {
            let id = ClientId(at as u16);
            if let Some(due) = self.world.news_due(id) {
                let timer = Timer::of(TimerKind::Retry);
                let node = Node::Client(id);
                if self.world.model.timers.due(node, timer).is_none() {
                    self.world.model.timers.arm(node, timer, due);
                }
            }
            let (node, timer) = (Node::Client(id), Timer::of(TimerKind::Refresh));
            let now = self.world.model.now;
            match self.world.refresh_due(id) {
                Some(due) => self.world.model.timers.arm_tick(node, timer, due, now),
                None => {
                    self.world.model.timers.disarm(node, timer);
                }
            }
        }
    }
}

impl World {
    /// Whether a message sent to this node now is taken: its process runs (a frozen one's socket takes it too).
    pub(crate) fn accepts(&self, node: Node) -> bool {
        match node {
            Node::Controller => self.controller().is_up(),
            Node::Broker(id) => self.broker(id).is_some_and(|b| b.is_running()),
            Node::Client(id) => self.client(id).is_some_and(|c| c.is_running()),
        }
    }

    /// When a client that waits for news of the cluster asks again and gets some.
    fn news_due(&self, id: ClientId) -> Option<Micros> {
        let client = self.client(id).filter(|c| c.is_running())?;
        let wanted = client.wants_news()?;
        let node = Node::Client(id);
        let knows_more = |image: &Arc<Image>| image.offset > wanted.known_offset;
        let awake = self
            .model
            .brokers
            .iter()
            .filter(|b| self.is_awake(Node::Broker(b.id())));
        let mut reached = awake.filter(|b| self.model.network.connects(node, Node::Broker(b.id())));
        let has_news = reached.any(|b| b.image().is_some_and(knows_more));
        has_news.then(|| wanted.poll_at(self.model.now))
    }

    /// When a client asks for the cluster's state because of its age, if somebody whom it reaches has news for it.
    fn refresh_due(&self, id: ClientId) -> Option<Micros> {
        let client = self.client(id).filter(|c| c.is_running())?;
        let mut awake = self.brokers().filter(|b| self.is_awake(Node::Broker(b.id())));
        let news = |image: &Arc<Image>| client.would_learn(image);
        let news = awake
            .any(|b| b.image().is_some_and(news) && self.network().connects(Node::Client(id), Node::Broker(b.id())));
        (news && self.rules().on(Rule::MetadataAge)).then(|| client.refreshes_at(self.model.now))
    }
}
