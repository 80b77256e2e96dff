//! A group under one of the two protocols: what both have, asked in one way.
//!
//! Mirrors `Group` with its two implementations. A group without members takes the protocol of whoever joins it first.

use std::sync::Arc;

use crate::cluster::ids::ClientId;
use crate::cluster::settings::Micros;
use crate::log::Encoder;

use super::classic::{ClassicGroup, Contact};
use super::consumer::{Around, ConsumerGroup};
use super::protocol::{MemberId, Standing};
use super::record::Entry;
use crate::config::BrokerConfig;

/// A group's members and their protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// All join, one member assigns.
    Classic(ClassicGroup),
    /// The coordinator assigns.
    Consumer(ConsumerGroup),
    /// The group is forgotten: what is left are commits, until those that take them away are replicated.
    Gone,
}

/// What both protocols know of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberView<'a> {
    /// Its id.
    pub id: &'a MemberId,
    /// Whose process it is.
    pub client: ClientId,
    /// Whether it is heard.
    pub contact: Contact,
}

impl GroupKind {
    /// The members.
    pub fn members(&self) -> Vec<MemberView<'_>> {
        match self {
            GroupKind::Classic(group) => {
                let view = |(id, member): (_, &super::Member)| (id, member.client, member.contact);
                group.members().map(view).map(MemberView::from).collect()
            }
            GroupKind::Consumer(group) => {
                let view = |(id, member): (_, &super::consumer::Member)| (id, member.told.client, member.contact);
                group.members().map(view).map(MemberView::from).collect()
            }
            GroupKind::Gone => Vec::new(),
        }
    }

    /// The state's name, as Kafka's tools show it.
    pub fn state(&self) -> &'static str {
        match self {
            GroupKind::Classic(group) => group.state(),
            GroupKind::Consumer(group) => group.state(),
            GroupKind::Gone => "Dead",
        }
    }

    /// Whether the group exists and has no members.
    pub fn is_empty(&self) -> bool {
        match self {
            GroupKind::Classic(group) => group.is_empty(),
            GroupKind::Consumer(group) => group.is_empty(),
            GroupKind::Gone => false,
        }
    }

    /// Since when a commit in a topic ages, wall clock in milliseconds; `None` if it does not. Under the consumer protocol
    /// since it was made, if no member subscribes to the topic.
    pub fn ages_from(&self, topic: &Arc<str>, committed_ms: i64) -> Option<i64> {
        match self {
            GroupKind::Classic(group) => group.ages_from(topic, committed_ms),
            GroupKind::Consumer(group) => (!group.subscribes_to(topic)).then_some(committed_ms),
            GroupKind::Gone => None,
        }
    }

    /// What is written when nothing is left of the group.
    pub fn tombstones(&self, name: &Arc<str>) -> Vec<Entry> {
        let of_consumers = |change| Entry::Consumer(Arc::clone(name), change);
        match self {
            GroupKind::Classic(_) => vec![Entry::Group(Arc::clone(name), None)],
            GroupKind::Consumer(_) => ConsumerGroup::tombstones().into_iter().map(of_consumers).collect(),
            GroupKind::Gone => Vec::new(),
        }
    }

    /// When a plain heartbeat of this member would be answered with something new, if nothing else happens.
    pub fn news_at(&self, by: &Standing, around: &Around<'_>) -> Option<Micros> {
        match self {
            GroupKind::Classic(group) => {
                let plain = group.has_no_news_for(by, around);
                (!plain).then_some(around.now)
            }
            GroupKind::Consumer(group) => group.news_at(by, around),
            GroupKind::Gone => Some(around.now),
        }
    }

    /// A member is not heard any more.
    pub fn silence(&mut self, member: &MemberId, config: &BrokerConfig, now: Micros) {
        match self {
            GroupKind::Classic(group) => group.silence(member, now),
            GroupKind::Consumer(group) => group.silence(member, config, now),
            GroupKind::Gone => {}
        }
    }

    /// When the next session ends that can end.
    pub fn session_due(&self) -> Option<Micros> {
        match self {
            GroupKind::Classic(group) => group.session_due(),
            GroupKind::Consumer(group) => group.session_due(),
            GroupKind::Gone => None,
        }
    }

    /// Until when it waits for members.
    pub fn rebalance_due(&self) -> Option<Micros> {
        match self {
            GroupKind::Classic(group) => group.rebalance_due(),
            GroupKind::Consumer(group) => group.revocation_due(),
            GroupKind::Gone => None,
        }
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub fn encode(&self, encoder: &mut Encoder) {
        match self {
            GroupKind::Classic(group) => group.encode(encoder),
            GroupKind::Consumer(group) => {
                encoder.str("consumer");
                group.encode(encoder);
            }
            GroupKind::Gone => encoder.str(self.state()),
        }
    }

    /// The part that does, relative to now.
    pub fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        match self {
            GroupKind::Classic(group) => group.encode_times(now, encoder),
            GroupKind::Consumer(group) => group.encode_times(now, encoder),
            GroupKind::Gone => {}
        }
    }
}

impl<'a> From<(&'a MemberId, ClientId, Contact)> for MemberView<'a> {
    fn from((id, client, contact): (&'a MemberId, ClientId, Contact)) -> MemberView<'a> {
        MemberView { id, client, contact }
    }
}
