//! What a client knows of the cluster, and how it learns more.
//!
//! Each client holds an image of its own. An error that says "not here", a lost connection or a time-out makes it ask a
//! broker for a newer one. When the answer brings nothing and it still needs a leader, a real client asks again and again;
//! here it waits without stepping, and says at which instants it would ask ([`News`]), so that the world wakes it at the
//! first of them at which somebody knows more. A leader named in an error answer (KIP-951) is taken over at once.
//!
//! A client asks, too, when what it knows is as old as `metadata.max.age.ms`. The request leaves only where a broker that it
//! reaches could tell it something: partitions that it has not heard of, or a new leader of those that it uses
//! ([`Metadata::refreshes_at`], [`Metadata::would_learn`]). A real client asks whom it has least to do with, which is left to
//! chance among those that are idle; here it goes from broker to broker, so that one who knows nothing new (a zombie) costs
//! it another `metadata.max.age.ms`. Mirrors `Metadata` and `NetworkClient.DefaultMetadataUpdater`.

use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer, TimerKind};
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, ClientId, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::rules::Rule;
use crate::cluster::settings::Micros;
use crate::log::Encoder;

use super::alarms::{Deadlines, earliest};
use super::backoff::Backoff;

/// A client waits for news: it would ask again at certain instants, and only an image newer than its own would help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    /// Offset of the image it has.
    pub known_offset: i64,
    /// The first instant at which it would ask again.
    pub next_poll: Micros,
    /// How long it would wait after that; each wait is twice the one before.
    pub then: Micros,
    /// The longest wait.
    pub every: Micros,
}

impl News {
    /// The first instant from now on at which the client would ask.
    pub fn poll_at(&self, now: Micros) -> Micros {
        let (mut at, mut wait) = (self.next_poll, self.then.max(1));
        while at < now && wait < self.every {
            at += wait;
            wait = (2 * wait).min(self.every);
        }
        if at < now {
            let every = self.every.max(1);
            at += (now - at).div_ceil(every) * every;
        }
        at
    }
}

/// How the client stands with regard to a newer image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    /// It sees no reason to ask.
    No,
    /// It has one, and asks as soon as the back-off allows and a broker can be reached.
    Wanted,
    /// It has asked this broker.
    Sent(BrokerId),
}

/// A client's image of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Metadata {
    image: Arc<Image>,
    asking: Asking,
    /// The broker asked last.
    last: Option<BrokerId>,
    /// The broker that failed last: it is asked only if there is no other.
    failed: Option<BrokerId>,
    /// When its process started, with the cluster as it was. Until there are news for it this decides nothing; from then on
    /// the deadline is armed, and so it is no part of the canonical encoding.
    started: Micros,
    /// When the last answer, or failure to answer, came.
    refreshed: Option<Micros>,
    /// How many answers in a row brought nothing new.
    fruitless: u32,
}

impl Metadata {
    pub(super) fn new(image: Arc<Image>) -> Metadata {
        Metadata {
            image,
            asking: Asking::No,
            last: None,
            failed: None,
            started: 0,
            refreshed: None,
            fruitless: 0,
        }
    }

    /// The client's process starts now.
    pub(super) fn start(&mut self, now: Micros) {
        self.started = now;
    }

    /// A new process of the client starts now: it knows nothing of the cluster, and asks.
    pub(super) fn restart(&mut self, now: Micros) {
        *self = Metadata::new(Arc::new(Image {
            offset: -1,
            ..Image::default()
        }));
        self.start(now);
        self.want(None);
    }

    /// When it is next asked for because of its age.
    pub(super) fn refreshes_at(&self, max_age: Micros, now: Micros) -> Micros {
        let since = self.refreshed.unwrap_or(0).max(self.started);
        let max_age = max_age.max(1);
        since + (now.saturating_sub(since) / max_age + 1) * max_age
    }

    /// Whether this image would tell it anything about the cluster as such, or about partitions that the client uses.
    pub(super) fn would_learn(&self, image: &Image, mut used: impl Iterator<Item = TopicPartition>) -> bool {
        let epoch = |image: &Image, tp: TopicPartition| image.partition(tp).map(|known| known.leader_epoch);
        let moved = |tp: TopicPartition| epoch(image, tp) > epoch(&self.image, tp);
        image.offset > self.image.offset && (image.partitions.len() > self.image.partitions.len() || used.any(moved))
    }

    /// What the client knows.
    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    /// The leader of a partition and its epoch, as far as the client knows.
    pub(super) fn leader(&self, tp: TopicPartition) -> Option<(BrokerId, i32)> {
        let partition = self.image.partition(tp)?;
        Some((partition.leader?, partition.leader_epoch))
    }

    /// A reason to ask for a newer image, and who is the last to be asked because of it.
    pub(super) fn want(&mut self, failed: Option<BrokerId>) {
        self.failed = failed.or(self.failed);
        if self.asking == Asking::No {
            self.asking = Asking::Wanted;
        }
    }

    /// What it knows is old: it asks another broker than the last time.
    pub(super) fn want_of_another(&mut self) {
        self.fruitless = self.fruitless.max(1);
        self.want(None);
    }

    /// There are topics of which it has not asked before: it does so without waiting (`requestUpdateForNewTopics`).
    pub(super) fn want_new_topics(&mut self) {
        self.refreshed = None;
        self.fruitless = 0;
        self.want(None);
    }

    /// The request for an image will not be answered.
    pub(super) fn unanswered(&mut self, by: BrokerId, now: Micros) {
        self.asking = Asking::Wanted;
        self.failed = Some(by);
        self.refreshed = Some(now);
        self.fruitless += 1;
    }

    /// Whom to ask now, if it is time to ask and somebody can be asked; the request counts as sent.
    pub(super) fn ask(&mut self, backoff: Backoff, can_send: impl Fn(BrokerId) -> bool, cx: &Cx) -> Option<BrokerId> {
        if self.asking != Asking::Wanted || self.allowed(backoff) > cx.now {
            return None;
        }
        let to = self.choose(can_send, cx)?;
        self.asking = Asking::Sent(to);
        self.last = Some(to);
        Some(to)
    }

    /// The lowest broker that can be asked and has not just failed; after a fruitless answer the next one, round and round.
    fn choose(&self, can_send: impl Fn(BrokerId) -> bool, cx: &Cx) -> Option<BrokerId> {
        let mut brokers: Vec<BrokerId> = cx.reach.brokers().filter(|&id| can_send(id)).collect();
        if brokers.iter().any(|&id| Some(id) != self.failed) {
            brokers.retain(|&id| Some(id) != self.failed);
        }
        let after = |last: BrokerId| brokers.iter().copied().find(|&id| id > last);
        let next = self.last.filter(|_| self.fruitless > 0).and_then(after);
        next.or(brokers.first().copied())
    }

    fn allowed(&self, backoff: Backoff) -> Micros {
        self.refreshed.map_or(0, |at| at + backoff.plain(self.fruitless))
    }

    /// An answer came.
    pub(super) fn learn(&mut self, client: ClientId, image: &Arc<Image>, cx: &mut Cx) {
        self.asking = Asking::No;
        self.failed = None;
        self.refreshed = Some(cx.now);
        if image.offset <= self.image.offset || !cx.holds(Rule::ClientMetadata) {
            self.fruitless += 1;
            return;
        }
        self.fruitless = 0;
        self.image = newest_leaders(image, &self.image);
        cx.say(Rule::ClientMetadata, || What::MetadataLearnt {
            client,
            offset: image.offset,
        });
    }

    /// An error answer named the leader. Says whether that was news.
    pub(super) fn learn_leader(&mut self, tp: TopicPartition, leader: BrokerId, epoch: i32) -> bool {
        let Some(known) = self
            .image
            .partitions
            .get(&tp)
            .filter(|known| known.leader_epoch < epoch)
        else {
            return false;
        };
        let mut partition = Arc::clone(known);
        let changed = Arc::make_mut(&mut partition);
        changed.leader = Some(leader);
        changed.leader_epoch = epoch;
        Arc::make_mut(&mut self.image).partitions.insert(tp, partition);
        true
    }

    /// Partitions that were just created, which everybody knows at once.
    pub(super) fn topics_created(&mut self, new: &[(TopicPartition, Arc<PartitionImage>)]) {
        let unknown = |tp: &TopicPartition| !self.image.partitions.contains_key(tp);
        let new: Vec<_> = new.iter().filter(|(tp, _)| unknown(tp)).cloned().collect();
        if !new.is_empty() {
            Arc::make_mut(&mut self.image).partitions.extend(new);
        }
    }

    /// What the client waits for, if it needs a newer image and has nobody left to ask for it.
    pub(super) fn news(&self, backoff: Backoff) -> Option<News> {
        (self.asking == Asking::No).then(|| News {
            known_offset: self.image.offset,
            next_poll: self.allowed(backoff),
            then: backoff.plain(self.fruitless + 1),
            every: backoff.longest(),
        })
    }

    /// Whether it wants to ask but must wait for a connection.
    pub(super) fn wants_to_ask(&self) -> bool {
        self.asking == Asking::Wanted
    }

    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.asking == Asking::No
    }

    /// The deadline at which a wanted request may leave.
    pub(super) fn deadlines(&self, backoff: Backoff, cx: &Cx, deadlines: &mut Deadlines) {
        let due = self.allowed(backoff);
        if self.asking == Asking::Wanted && due > cx.now && cx.reach.brokers().next().is_some() {
            earliest(deadlines, Timer::of(TimerKind::Retry), due);
        }
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.i64(self.image.offset);
        encoder.len(self.image.partitions.len());
        for (tp, partition) in &self.image.partitions {
            encoder.u16(tp.topic.0);
            encoder.u32(tp.partition);
            encoder.u16(partition.leader.map_or(0, |id| id.0));
            encoder.i32(partition.leader_epoch);
        }
        let broker = |encoder: &mut Encoder, id: Option<BrokerId>| encoder.u16(id.map_or(0, |id| id.0));
        encoder.u8(u8::from(self.asking != Asking::No) + u8::from(self.asking == Asking::Wanted));
        broker(encoder, self.last.filter(|_| self.fruitless > 0));
        broker(encoder, self.failed);
        encoder.u32(self.fruitless);
    }

    /// The part that does, relative to now.
    pub(super) fn encode_times(&self, backoff: Backoff, now: Micros, encoder: &mut Encoder) {
        encoder.u64(self.allowed(backoff).saturating_sub(now));
    }
}

/// The newer image; where an answer had named a leader that it does not know of yet, that leader stays.
fn newest_leaders(newer: &Arc<Image>, older: &Image) -> Arc<Image> {
    let mut image = Arc::clone(newer);
    for (tp, known) in &older.partitions {
        if newer
            .partition(*tp)
            .is_some_and(|told| told.leader_epoch < known.leader_epoch)
        {
            Arc::make_mut(&mut image).partitions.insert(*tp, Arc::clone(known));
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_asked_for_at_growing_distances() {
        let news = News {
            known_offset: 7,
            next_poll: 100,
            then: 200,
            every: 1_000,
        };
        let at: Vec<Micros> = [0, 100, 101, 300, 301, 700, 1_500, 1_501, 9_000]
            .map(|now| news.poll_at(now))
            .to_vec();
        assert_eq!(at, [100, 100, 300, 300, 700, 700, 1_500, 2_500, 9_500]);
    }
}
