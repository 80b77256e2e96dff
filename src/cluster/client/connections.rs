//! A client's connections: to whom one is open, and which requests on it wait for an answer.
//!
//! A connection opens with the first request and costs nothing (its handshake is left out), provided that the broker can
//! be reached. It ends when the peer closes it, when a request on it goes unanswered for `request.timeout.ms`, or when
//! the path comes back after a loss; then every request on it fails. Answers find their request by its correlation, so
//! that an answer to a request that was given up falls flat.
//!
//! A deadline is kept only where one can pass: for requests that a broker may keep (produce), and for the others once
//! something on the path was lost. Mirrors `NetworkClient`, `InFlightRequests` and `ClusterConnectionStates`.

use std::collections::VecDeque;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::ids::{BrokerId, Node};
use crate::cluster::message::{Correlation, Message};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::Encoder;
use crate::sorted::SortedMap;

use super::alarms::{Deadlines, earliest};

/// A request that waits for its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request<R> {
    /// Its number.
    pub(super) correlation: Correlation,
    /// When it left.
    pub(super) sent: Micros,
    /// What it asked.
    pub(super) what: R,
}

/// What a connection needs to know of a request.
pub(super) trait Asked {
    /// Whether a broker may keep it waiting, so that its time-out can pass though nothing was lost.
    fn may_wait(&self) -> bool;

    /// How long its answer may take at least, whatever the client's configs say of requests in general.
    fn allowance(&self) -> Micros {
        0
    }
}

/// Whether a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Open,
    /// Not before this time may it be opened again.
    Closed(Micros),
}

#[derive(Clone, Debug, PartialEq)]
struct Peer<R> {
    link: Link,
    requests: VecDeque<Request<R>>,
    /// Something on the path was lost, or the peer has gone silent.
    silent: bool,
    /// When the requests on it fail, the path having come back.
    broken_at: Option<Micros>,
}

impl<R> Default for Peer<R> {
    fn default() -> Self {
        Peer {
            link: Link::Closed(0),
            requests: VecDeque::new(),
            silent: false,
            broken_at: None,
        }
    }
}

/// All connections of a client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Connections<R> {
    peers: SortedMap<BrokerId, Peer<R>>,
    next: Correlation,
}

impl<R> Default for Connections<R> {
    fn default() -> Self {
        Connections {
            peers: SortedMap::new(),
            next: 0,
        }
    }
}

impl<R: Asked> Connections<R> {
    /// Whether a request could leave for this broker now.
    pub(super) fn can_send(&self, to: BrokerId, cx: &Cx) -> bool {
        match self.peers.get(&to) {
            Some(Peer { broken_at: Some(_), .. }) => false,
            Some(Peer { link: Link::Open, .. }) => true,
            Some(Peer {
                link: Link::Closed(until),
                ..
            }) => *until <= cx.now && cx.reach.can(Node::Broker(to)),
            None => cx.reach.can(Node::Broker(to)),
        }
    }

    /// Whether nothing but a short back-off stands between the client and this broker.
    pub(super) fn is_within_reach(&self, to: BrokerId, cx: &Cx) -> bool {
        self.is_open(to) || cx.reach.can(Node::Broker(to))
    }

    fn is_open(&self, to: BrokerId) -> bool {
        self.peers.get(&to).is_some_and(|peer| peer.link == Link::Open)
    }

    /// How many requests wait for an answer from this broker.
    pub(super) fn waiting(&self, at: BrokerId) -> usize {
        self.peers.get(&at).map_or(0, |peer| peer.requests.len())
    }

    /// Everything that waits for an answer, by broker, the oldest first.
    pub(super) fn requests(&self) -> impl Iterator<Item = (BrokerId, &Request<R>)> + '_ {
        self.peers
            .iter()
            .flat_map(|(&id, peer)| peer.requests.iter().map(move |request| (id, request)))
    }

    /// Whether nothing waits for an answer.
    pub(super) fn is_idle(&self) -> bool {
        self.peers.values().all(|peer| peer.requests.is_empty())
    }

    /// The number for a request whose answer is awaited elsewhere, or nowhere.
    pub(super) fn correlation(&mut self) -> Correlation {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    /// Sends a message for which no answer is awaited here, on an open connection or by opening one.
    pub(super) fn send_only(&mut self, to: BrokerId, message: Message, cx: &mut Cx) {
        self.peers.entry(to).or_default().link = Link::Open;
        cx.send(Node::Broker(to), message);
    }

    /// Sends a request and remembers it until it is answered or fails.
    pub(super) fn send(&mut self, to: BrokerId, what: R, message: impl FnOnce(Correlation) -> Message, cx: &mut Cx) {
        let correlation = self.correlation();
        self.send_only(to, message(correlation), cx);
        let peer = self.peers.entry(to).or_default();
        peer.requests.push_back(Request {
            correlation,
            sent: cx.now,
            what,
        });
    }

    /// Takes the request that an answer belongs to; `None` if it was given up.
    pub(super) fn answered(&mut self, from: BrokerId, correlation: Correlation) -> Option<Request<R>> {
        let peer = self.peers.get_mut(&from)?;
        let at = peer
            .requests
            .iter()
            .position(|request| request.correlation == correlation)?;
        let request = peer.requests.remove(at);
        peer.silent &= !peer.requests.is_empty();
        request
    }

    /// Forgets requests whose answer is no longer of interest.
    pub(super) fn forget(&mut self, mut unwanted: impl FnMut(BrokerId, &Request<R>) -> bool) {
        for (&id, peer) in &mut self.peers {
            peer.requests.retain(|request| !unwanted(id, request));
            peer.silent &= !peer.requests.is_empty();
        }
    }

    /// The connection is gone: its requests fail, and it may be opened again `backoff` later.
    pub(super) fn closed(&mut self, peer: BrokerId, backoff: Micros, now: Micros) -> Vec<Request<R>> {
        let Some(peer) = self.peers.get_mut(&peer) else {
            return Vec::new();
        };
        let requests = std::mem::take(&mut peer.requests);
        *peer = Peer {
            link: Link::Closed(now + backoff),
            ..Peer::default()
        };
        requests.into()
    }

    /// Closes every connection, for good.
    pub(super) fn close_all(&mut self, cx: &mut Cx) {
        for (&id, peer) in &self.peers {
            if peer.link == Link::Open {
                cx.close(Node::Broker(id));
            }
        }
        self.peers.clear();
    }

    /// Something on the path to this broker was lost, or the broker has gone silent.
    pub(super) fn lost(&mut self, peer: BrokerId) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.silent = !peer.requests.is_empty();
        }
    }

    /// The path to this broker has come back: what was lost on it fails `backoff` later, and so long no connection is opened.
    pub(super) fn reachable(&mut self, peer: BrokerId, backoff: Micros, now: Micros) {
        let peer = self.peers.entry(peer).or_default();
        if peer.silent {
            peer.broken_at.get_or_insert(now + backoff);
        } else if let Link::Closed(until) = &mut peer.link {
            *until = (*until).max(now + backoff);
        }
    }

    /// Whether the time has come at which the requests on a connection fail because its path had been interrupted.
    pub(super) fn is_broken(&self, peer: BrokerId, now: Micros) -> bool {
        self.peers
            .get(&peer)
            .and_then(|peer| peer.broken_at)
            .is_some_and(|at| at <= now)
    }

    /// Whether a request on this connection has waited too long.
    pub(super) fn has_timed_out(&self, peer: BrokerId, timeout: Micros, now: Micros) -> bool {
        self.peers
            .get(&peer)
            .and_then(|peer| time_out(peer, timeout))
            .is_some_and(|due| due <= now)
    }

    /// The deadlines of all connections. `wanted` says whether anything waits for a closed connection to be opened.
    pub(super) fn deadlines(
        &self,
        timeout: Micros,
        wanted: impl Fn(BrokerId) -> bool,
        cx: &Cx,
        deadlines: &mut Deadlines,
    ) {
        for (&id, peer) in &self.peers {
            let node = Node::Broker(id);
            if let Some(due) = time_out(peer, timeout).filter(|_| cx.holds(Rule::ClientTimeout)) {
                earliest(deadlines, Timer::with(TimerKind::Request, node), due);
            }
            let retry = match (peer.broken_at, peer.link) {
                (Some(at), _) => Some(at),
                (None, Link::Closed(until)) if until > cx.now && cx.reach.can(node) && wanted(id) => Some(until),
                _ => None,
            };
            if let Some(due) = retry {
                earliest(deadlines, Timer::with(TimerKind::Retry, node), due);
            }
        }
    }

    /// The part of the canonical encoding that does not depend on the clock; `what` encodes a request.
    pub(super) fn encode(&self, encoder: &mut Encoder, what: impl Fn(&R, &mut Encoder)) {
        encoder.len(self.peers.len());
        for (id, peer) in &self.peers {
            encoder.u16(id.0);
            encoder.u8(u8::from(peer.link == Link::Open) | u8::from(peer.silent) << 1);
            encoder.len(peer.requests.len());
            for request in &peer.requests {
                encoder.u32(request.correlation);
                what(&request.what, encoder);
            }
        }
    }

    /// The part that does, relative to now.
    pub(super) fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        for peer in self.peers.values() {
            encoder.option(peer.broken_at, |encoder, at| encoder.u64(at.saturating_sub(now)));
            if let Link::Closed(until) = peer.link {
                encoder.u64(until.saturating_sub(now));
            }
            for request in &peer.requests {
                encoder.u64(now - request.sent);
            }
        }
    }
}

/// When the oldest request that can time out does.
fn time_out<R: Asked>(peer: &Peer<R>, timeout: Micros) -> Option<Micros> {
    let oldest = peer
        .requests
        .iter()
        .find(|request| peer.silent || request.what.may_wait())?;
    Some(oldest.sent.saturating_add(timeout.max(oldest.what.allowance())))
}
