//! What arrives on a connection, in its order: one request at a time.
//!
//! Mirrors `SocketServer` and `KafkaApis.handle`, and the purgatories' look at what waits ([`Process::complete`]).

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::ids::{Node, TopicPartition};
use crate::cluster::message::Message;

use super::channel::Serving;
use super::fetch::concerns;
use super::parked::Wait;
use super::process::{Process, Touch};

impl Process {
    /// A request has arrived: it is served, or waits behind the one that is.
    pub(super) fn on_request(&mut self, cx: &mut Cx<'_>, from: Node, message: Message) {
        let supersedes = matches!((from, &message), (Node::Broker(_), _) | (_, Message::Fetch(..)));
        let must_wait = match self.channels.entry(from).or_default().serving {
            None => false,
            Some(Serving::Produce(_)) => true,
            // The sender has one fetch at a time, a follower one request, so the one before has ended for it.
            Some(Serving::Fetch(_)) if supersedes => {
                self.take_serving(from);
                cx.disarm(Timer::with(TimerKind::FetchWait, from));
                false
            }
            Some(Serving::Fetch(_)) => self.end_parked(cx, from),
        };
        self.channels.entry(from).or_default().queue.push_back(message);
        if !must_wait {
            self.drain(cx, from);
        }
    }

    /// Serves what waits on a connection, until something must wait.
    pub(super) fn drain(&mut self, cx: &mut Cx<'_>, from: Node) {
        while let Some(channel) = self.channels.get_mut(&from) {
            let free = match &channel.serving {
                None => true,
                Some(Serving::Fetch(parked)) => parked.wait == Wait::Renewing,
                Some(Serving::Produce(_)) => false,
            };
            if !free {
                return;
            }
            let Some(message) = channel.queue.pop_front() else {
                return;
            };
            self.serve(cx, from, message);
        }
    }

    fn serve(&mut self, cx: &mut Cx<'_>, from: Node, message: Message) {
        match message {
            Message::Produce(id, request) => self.serve_produce(cx, from, id, &request),
            Message::Fetch(id, request) => self.serve_fetch(cx, from, id, request),
            Message::ListOffsets(id, isolation, wanted) => self.serve_list_offsets(cx, from, id, isolation, &wanted),
            Message::EpochEnd(id, wanted) => self.serve_epoch_end(cx, from, id, &wanted),
            Message::MetadataRequest(id) => {
                let image = self.image.clone();
                self.send(cx, from, Message::MetadataResponse(id, image));
            }
            _ => {}
        }
    }

    /// Looks at everything that waits for a partition.
    pub(super) fn complete(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, touch: Touch) {
        if touch == Touch::HighWatermark {
            self.for_groups(|groups, process| (groups.replicated)(process, cx, tp));
        }
        let waits = |serving: &Serving| match serving {
            Serving::Fetch(parked) => concerns(&parked.request, tp),
            // A longer log alone does not help a write.
            Serving::Produce(delayed) => {
                touch != Touch::Appended && delayed.parts.iter().any(|part| part.partition == tp)
            }
        };
        let waiting = self
            .channels
            .iter()
            .filter(|(_, channel)| channel.serving.as_ref().is_some_and(waits));
        let waiting: Vec<Node> = waiting.map(|(peer, _)| *peer).collect();
        if matches!(touch, Touch::HighWatermark | Touch::Leadership) {
            self.recheck_delete(cx, tp);
        }
        for peer in waiting {
            match self.channels.get(&peer).and_then(|channel| channel.serving.as_ref()) {
                Some(Serving::Fetch(_)) => self.tend_parked(cx, peer),
                Some(Serving::Produce(_)) => self.recheck_produce(cx, peer),
                None => {}
            }
        }
    }

    /// A connection is gone: what waited on it is forgotten. What was written stays written.
    pub(super) fn drop_channel(&mut self, cx: &mut Cx<'_>, peer: Node) {
        let Some(channel) = self.channels.remove(&peer) else {
            return;
        };
        match channel.serving {
            Some(Serving::Fetch(parked)) if parked.wait != Wait::Idle => {
                cx.disarm(Timer::with(TimerKind::FetchWait, peer));
            }
            Some(Serving::Produce(_)) => cx.disarm(Timer::with(TimerKind::Request, peer)),
            _ => {}
        }
    }

    /// Takes what a connection waits for, to decide about it.
    pub(super) fn take_serving(&mut self, from: Node) -> Option<Serving> {
        self.channels.get_mut(&from)?.serving.take()
    }

    /// Puts it back.
    pub(super) fn put_serving(&mut self, from: Node, serving: Serving) {
        self.channels.entry(from).or_default().serving = Some(serving);
    }
}
