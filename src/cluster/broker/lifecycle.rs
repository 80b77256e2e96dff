//! What a process says to the controller: registration, the heartbeats that decide something, controlled shutdown.
//!
//! Mirrors `BrokerLifecycleManager`. Heartbeats that change nothing are computed by the controller and never sent; one is
//! sent to be unfenced, to be heard again after a silence, to report a new data directory, and to shut down. They are all
//! sent while some of them are to be lost, and where they come so rarely that the session ends between two of them.
//!
//! Deliberately absent: metadata read by the broker itself (the controller sends it), startup checks, features.

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::{BrokerState, What};
use crate::cluster::ids::Node;
use crate::cluster::input::ReportDirectory;
use crate::cluster::message::{Correlation, Heartbeat, HeartbeatAnswer, HeartbeatWant, Message, Registration};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::{Encoder, Errors};

use super::follower::RECONNECT;
use super::process::{Phase, Process};

/// How long a request to the controller waits for its answer (`controller.socket.timeout.ms`).
pub(super) const CONTROLLER_SOCKET_TIMEOUT: Micros = 30_000_000;

/// How long a controlled shutdown waits for the controller before the process goes all the same.
const SHUTDOWN_PATIENCE: Micros = 300_000_000;

/// The connection to the controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ControllerLink {
    /// The registration or heartbeat that waits for an answer.
    asked: Option<Asked>,
    /// Metadata offset at the latest answer that found this broker fenced: without newer metadata it does not ask again.
    refused_at: Option<i64>,
    /// Whether it must be heard again after a silence.
    unheard: bool,
    /// When what was lost is sent again.
    reconnect: Option<Micros>,
    /// When failed ISR changes are sent again.
    pub(super) alter_retry: Option<Micros>,
    /// For when the timer of the two is armed.
    wake: Option<Micros>,
    /// When the next heartbeat is due that is sent because of its time alone; nothing is said before.
    beat: Option<Micros>,
    /// The previous broker epoch, from the marker of a clean stop.
    pub(super) previous_epoch: Option<i64>,
    /// Whether the process may exit now.
    pub(super) finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    correlation: Correlation,
    sent: Micros,
    want: Want,
    lost: bool,
}

/// What is said to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Register,
    Heartbeat(HeartbeatWant),
}

impl ControllerLink {
    /// Encodes what is under way.
    pub(super) fn encode(&self, out: &mut Encoder) {
        out.u8(match self.asked.map(|asked| (asked.want, asked.lost)) {
            None => 0,
            Some((Want::Register, lost)) => 1 + u8::from(lost),
            Some((Want::Heartbeat(HeartbeatWant::Unfence), lost)) => 3 + u8::from(lost),
            Some((Want::Heartbeat(HeartbeatWant::ShutDown), lost)) => 5 + u8::from(lost),
            Some((Want::Heartbeat(HeartbeatWant::AssignDirectory(_)), lost)) => 7 + u8::from(lost),
        });
        out.option(self.refused_at, Encoder::i64);
        out.u8(u8::from(self.unheard));
        out.option(self.previous_epoch, Encoder::i64);
    }
}

impl Process {
    /// What must be said to the controller now.
    fn wish(&self) -> Option<Want> {
        let link = &self.controller;
        let report = |when| self.directory.1 == Some(when);
        let heartbeat = match self.phase {
            Phase::Starting => return Some(Want::Register),
            Phase::Stopping(_) => HeartbeatWant::ShutDown,
            Phase::Fenced if !self.is_in_metadata() => return None,
            Phase::Fenced if report(ReportDirectory::First) => HeartbeatWant::AssignDirectory(self.directory.0),
            Phase::Fenced if link.unheard || link.refused_at.is_none_or(|at| at < self.image.offset) => {
                HeartbeatWant::Unfence
            }
            Phase::Fenced => return None,
            Phase::Up if report(ReportDirectory::Late) => HeartbeatWant::AssignDirectory(self.directory.0),
            Phase::Up if link.unheard => HeartbeatWant::Unfence,
            Phase::Up => return None,
        };
        Some(Want::Heartbeat(heartbeat))
    }

    /// Whether it has read of its own registration.
    fn is_in_metadata(&self) -> bool {
        self.epoch.is_some() && self.image.broker_epoch(self.id) == self.epoch
    }

    /// Says what must be said, if nothing is on its way and the controller can be reached.
    pub(super) fn speak(&mut self, cx: &mut Cx<'_>) {
        let Some(want) = self.wish() else { return };
        let link = &self.controller;
        if link.asked.is_some() || link.beat.is_some() || !cx.reach.can(Node::Controller) {
            return;
        }
        let correlation = self.correlation();
        let message = match want {
            Want::Register => Message::Register(
                correlation,
                Registration {
                    incarnation: self.incarnation,
                    previous_epoch: self.controller.previous_epoch.unwrap_or(-1),
                    directory: self.directory.0,
                },
            ),
            Want::Heartbeat(want) => {
                let heartbeat = Heartbeat {
                    epoch: self.epoch.unwrap_or(-1),
                    metadata_offset: self.image.offset,
                    want,
                };
                Message::Heartbeat(correlation, heartbeat)
            }
        };
        if want == Want::Heartbeat(HeartbeatWant::Unfence) {
            self.controller.unheard = false;
        }
        self.controller.asked = Some(Asked {
            correlation,
            sent: cx.now,
            want,
            lost: false,
        });
        self.send(cx, Node::Controller, message);
    }

    /// Takes the request that an answer belongs to.
    fn answered_by_controller(&mut self, cx: &mut Cx<'_>, id: Correlation) -> Option<Want> {
        let asked = self.controller.asked.filter(|asked| asked.correlation == id)?;
        self.controller.asked = None;
        if asked.lost {
            self.arm_controller_timeout(cx);
        }
        Some(asked.want)
    }

    /// The controller has answered the registration.
    pub(super) fn on_registered(&mut self, cx: &mut Cx<'_>, id: Correlation, answer: Result<i64, Errors>) {
        if self.answered_by_controller(cx, id).is_none() {
            return;
        }
        match answer {
            Ok(epoch) => {
                self.epoch = Some(epoch);
                self.enter(cx, Phase::Fenced, Rule::Registration);
            }
            Err(_) => {
                self.controller.reconnect = Some(cx.now + self.heartbeat_interval(cx));
                self.arm_controller(cx);
            }
        }
    }

    /// The controller has answered a heartbeat.
    pub(super) fn on_heartbeat_answer(
        &mut self,
        cx: &mut Cx<'_>,
        id: Correlation,
        answer: Result<HeartbeatAnswer, Errors>,
    ) {
        let Some(Want::Heartbeat(want)) = self.answered_by_controller(cx, id) else {
            return;
        };
        let next = cx.now + self.heartbeat_interval(cx);
        match (want, answer) {
            (HeartbeatWant::AssignDirectory(_), Ok(_)) => self.directory.1 = None,
            (HeartbeatWant::Unfence, Ok(answer)) => {
                // Unfenced though the news of it are not there yet: they will come, too.
                let waits = answer.fenced || self.phase == Phase::Fenced;
                self.controller.refused_at = waits.then_some(self.image.offset);
                self.go_on_beating(cx, next);
            }
            (HeartbeatWant::ShutDown, Ok(answer)) if answer.should_shut_down => {
                self.controller.finished = true;
                return;
            }
            (HeartbeatWant::ShutDown, _) => {
                self.beat_at(cx, next);
                return;
            }
            (_, Err(_)) => {
                self.controller.reconnect = Some(next);
                self.arm_controller(cx);
                return;
            }
        }
        self.speak(cx);
    }

    fn heartbeat_interval(&self, cx: &Cx<'_>) -> Micros {
        from_millis(cx.settings.broker(self.id).broker_heartbeat_interval_ms)
    }

    /// The next heartbeat leaves then.
    fn beat_at(&mut self, cx: &mut Cx<'_>, due: Micros) {
        self.controller.beat = Some(due);
        cx.arm(Timer::of(TimerKind::Heartbeat), due);
    }

    /// Whatever is to be said need not wait for the next heartbeat, unless it is one of a controlled shutdown.
    fn beat_at_will(&mut self, cx: &mut Cx<'_>) {
        if !matches!(self.phase, Phase::Stopping(_)) && self.controller.beat.take().is_some() {
            cx.disarm(Timer::of(TimerKind::Heartbeat));
        }
    }

    /// The next heartbeat, due then, is not to be computed; unless one is sent before anyway.
    pub(super) fn beat_for_real(&mut self, cx: &mut Cx<'_>, due: Micros) {
        let sent_anyway = match self.phase {
            Phase::Starting | Phase::Stopping(_) => true,
            Phase::Up => false,
            Phase::Fenced => match self.controller.asked.map(|asked| asked.want) {
                Some(want) => want != Want::Heartbeat(HeartbeatWant::Unfence),
                None => self.wish().is_some() || !self.is_in_metadata(),
            },
        };
        if !sent_anyway {
            self.beat_at(cx, due);
        }
    }

    /// After a heartbeat that was answered: whether the one after it is to be computed.
    fn go_on_beating(&mut self, cx: &mut Cx<'_>, next: Micros) {
        if self.controller.beat.is_some() || cx.settings.beats_rarely(self.id).is_some() {
            self.beat_for_real(cx, next);
        }
    }

    /// The time of a heartbeat has come.
    pub(super) fn on_heartbeat_due(&mut self, cx: &mut Cx<'_>) {
        self.controller.beat = None;
        let Phase::Stopping(since) = self.phase else {
            self.controller.unheard = self.epoch.is_some();
            self.speak(cx);
            return;
        };
        if cx.now >= since + SHUTDOWN_PATIENCE {
            self.controller.finished = true;
        } else if cx.reach.can(Node::Controller) {
            self.speak(cx);
        } else {
            cx.arm(Timer::of(TimerKind::Heartbeat), since + SHUTDOWN_PATIENCE);
        }
    }

    /// Whether this process is registered as fenced or not, as the metadata says now.
    pub(super) fn look_at_own_registration(&mut self, cx: &mut Cx<'_>) {
        let own = self
            .image
            .brokers
            .get(&self.id)
            .filter(|own| Some(own.epoch) == self.epoch);
        match (self.phase, own.map(|own| own.fenced)) {
            (Phase::Fenced, Some(false)) => {
                self.controller.refused_at = None;
                self.enter(cx, Phase::Up, Rule::Unfence);
            }
            (Phase::Up, Some(true)) => {
                self.controller.refused_at = None;
                self.enter(cx, Phase::Fenced, Rule::Session);
            }
            _ => {}
        }
        self.speak(cx);
    }

    pub(super) fn enter(&mut self, cx: &mut Cx<'_>, phase: Phase, rule: Rule) {
        let (broker, from, to) = (self.id, self.phase.state(), phase.state());
        self.phase = phase;
        if from != to {
            cx.say(rule, || What::State { broker, from, to });
        }
    }

    /// Begins a controlled shutdown; a process that never was registered, or is not to wait, may exit at once.
    pub(super) fn begin_stop(&mut self, cx: &mut Cx<'_>) {
        let waits = cx.settings.broker(self.id).controlled_shutdown_enable
            && cx.holds(Rule::ControlledShutdown)
            && self.phase.state() != BrokerState::Starting;
        self.beat_at_will(cx);
        self.enter(cx, Phase::Stopping(cx.now), Rule::ControlledShutdown);
        if !waits {
            self.controller.finished = true;
            return;
        }
        self.speak(cx);
        if !cx.reach.can(Node::Controller) {
            cx.arm(Timer::of(TimerKind::Heartbeat), cx.now + SHUTDOWN_PATIENCE);
        }
    }

    /// What was on its way to or from the controller was lost: the time-outs run now.
    pub(super) fn lose_controller(&mut self, cx: &mut Cx<'_>) {
        self.lose_alter();
        if let Some(asked) = &mut self.controller.asked {
            asked.lost = true;
        }
        self.arm_controller_timeout(cx);
    }

    /// When the lost registration or heartbeat times out. It waits for an answer no longer than a heartbeat's interval, which
    /// is the channel's `retryTimeoutMs`.
    fn beat_timeout(&self, cx: &Cx<'_>) -> Option<Micros> {
        let lost = self.controller.asked.filter(|asked| asked.lost)?;
        Some(lost.sent + self.heartbeat_interval(cx).min(CONTROLLER_SOCKET_TIMEOUT))
    }

    /// Arms the timer for the first of what was lost.
    pub(super) fn arm_controller_timeout(&mut self, cx: &mut Cx<'_>) {
        let first = self.beat_timeout(cx).into_iter().chain(self.alter_timeout()).min();
        let timer = Timer::with(TimerKind::Request, Node::Controller);
        match first {
            Some(due) => cx.arm(timer, due),
            None => cx.disarm(timer),
        }
    }

    /// A request to the controller has timed out. A registration or a heartbeat is sent again after an interval, as after any
    /// failure (`scheduleNextCommunicationAfterFailure`).
    pub(super) fn time_out_controller(&mut self, cx: &mut Cx<'_>) {
        if self.alter_timeout().is_some_and(|due| due <= cx.now) {
            self.retry_isr_changes(cx);
        }
        if self.beat_timeout(cx).is_some_and(|due| due <= cx.now) {
            self.forget_lost();
            self.controller.unheard = self.epoch.is_some();
            if cx.reach.can(Node::Controller) || matches!(self.phase, Phase::Stopping(_)) {
                self.beat_at(cx, cx.now + self.heartbeat_interval(cx));
            }
        }
        self.arm_controller_timeout(cx);
    }

    fn forget_lost(&mut self) {
        self.controller.asked = self.controller.asked.filter(|asked| !asked.lost);
    }

    /// The controller can be reached again, or this process goes on after a pause: it must be heard.
    pub(super) fn reach_controller(&mut self, cx: &mut Cx<'_>) {
        if self.epoch.is_none() && self.controller.asked.is_some_and(|asked| !asked.lost) {
            return;
        }
        self.controller.unheard = self.epoch.is_some();
        self.controller.reconnect = Some(cx.now + RECONNECT);
        self.arm_controller(cx);
    }

    /// After a pause: the connection stands, so it is heard at once.
    pub(super) fn be_heard(&mut self, cx: &mut Cx<'_>) {
        self.controller.unheard = self.epoch.is_some();
        if self.phase == Phase::Starting {
            // A registration that waited for the end of an older session is asked for again.
            self.controller.asked = None;
            self.arm_controller_timeout(cx);
        }
        self.beat_at_will(cx);
        self.speak(cx);
    }

    /// The timer for what is sent to the controller again.
    pub(super) fn on_controller_retry(&mut self, cx: &mut Cx<'_>) {
        self.controller.wake = None;
        if self.controller.reconnect.is_some_and(|at| at <= cx.now) {
            self.controller.reconnect = None;
            self.forget_lost();
            if self.alter_timeout().is_some() {
                self.alter.in_flight = None;
            }
            self.arm_controller_timeout(cx);
            self.beat_at_will(cx);
            self.speak(cx);
        }
        if self.controller.alter_retry.is_some_and(|at| at <= cx.now) {
            self.controller.alter_retry = None;
        }
        self.arm_controller(cx);
    }

    /// Arms the timer for what is sent to the controller again.
    pub(super) fn arm_controller(&mut self, cx: &mut Cx<'_>) {
        let link = &mut self.controller;
        let due = link.reconnect.into_iter().chain(link.alter_retry).min();
        if due == link.wake {
            return;
        }
        link.wake = due;
        let timer = Timer::with(TimerKind::Retry, Node::Controller);
        match due {
            Some(due) => cx.arm(timer, due),
            None => cx.disarm(timer),
        }
    }
}
