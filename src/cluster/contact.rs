//! Who of a group is heard, and when a heartbeat would be news: heartbeats that change nothing are computed.
//!
//! After each step the world looks at every group. A member whose process is gone, or whose path to the coordinator is
//! cut, is not heard any more: its coordinator works out its last heartbeat and when its session ends. A member whose next
//! heartbeat would not be answered with a plain yes (the group gathers anew, the coordinator is another one, frozen or gone)
//! sends it for real when it is due. A quiet group stays quiet.

use crate::cluster::act::create_offsets_topic;
use crate::cluster::actor::{Timer, TimerKind};
use crate::cluster::client::Client;
use crate::cluster::group::Contact;
use crate::cluster::group::consumer::Around;
use crate::cluster::group::protocol::MemberId;
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::later;
use crate::cluster::settings::Micros;
use crate::cluster::step::Doing;
use crate::cluster::world::World;

/// Looks at every group.
pub(crate) fn settle(doing: &mut Doing<'_>) {
    if doing.world.settings().groups.is_empty() {
        return;
    }
    if let Some(later) = later::get() {
        (later.keep_contact)(doing);
    }
}

/// Looks at every group of a world that has some.
pub(crate) fn keep(doing: &mut Doing<'_>) {
    create_offsets_topic(doing);
    for (broker, tp, group, member) in fallen_silent(doing.world) {
        doing.with_broker(broker, |broker, cx| broker.silence_member(tp, group, &member, cx));
    }
    let now = doing.world.model.now;
    for at in 0..doing.world.model.clients.len() {
        let id = ClientId(at as u16);
        let (node, timer) = (Node::Client(id), Timer::of(TimerKind::Heartbeat));
        match doing.world.heartbeat_with_news(id) {
            Some(due) => doing.world.model.timers.arm_tick(node, timer, due, now),
            None => {
                doing.world.model.timers.disarm(node, timer);
            }
        }
    }
}

/// The members that their coordinators take for alive and that can no longer be heard.
fn fallen_silent(world: &World) -> Vec<(BrokerId, TopicPartition, GroupId, MemberId)> {
    let mut silent = Vec::new();
    for broker in world.brokers() {
        for (tp, shard) in broker.coordinators() {
            for (group, state) in shard.groups() {
                let members = state.kind.members().into_iter();
                let heard = members.filter(|member| matches!(member.contact, Contact::Heard(_)));
                let lost = heard.filter(|member| !world.is_heard(member.client, broker.id(), member.id));
                silent.extend(lost.map(|member| (broker.id(), tp, group, member.id.clone())));
            }
        }
    }
    silent
}

impl World {
    /// Whether a member's heartbeats arrive at a broker: its process runs, takes the broker for its coordinator, and the
    /// path is whole.
    fn is_heard(&self, client: ClientId, broker: BrokerId, member: &MemberId) -> bool {
        let consumer = self.client(client).and_then(Client::as_consumer);
        let contact = consumer.and_then(|consumer| consumer.in_contact_with());
        let told = contact.is_some_and(|(at, standing)| at == broker && standing.member == *member);
        told && self.network().connects(Node::Client(client), Node::Broker(broker))
    }

    /// When a member's next heartbeat leaves, if its answer would be news.
    fn heartbeat_with_news(&self, id: ClientId) -> Option<Micros> {
        let consumer = self.client(id)?.as_consumer()?;
        let due = consumer.next_heartbeat(self.now())?;
        let (at, standing) = consumer.in_contact_with()?;
        let (client, broker) = (Node::Client(id), Node::Broker(at));
        let answers = self.is_awake(broker) && self.network().connects(client, broker);
        let answering = self.broker(at).filter(|_| answers);
        let coordinated = answering.and_then(|broker| {
            let group = broker.coordinates(standing.group, self.settings())?;
            Some((group, broker.image()?))
        });
        let Some((group, image)) = coordinated else {
            return Some(due);
        };
        let around = Around {
            image,
            settings: self.settings(),
            rules: self.rules(),
            broker: at,
            now: self.now(),
        };
        let news = group.kind.news_at(&standing, &around)?;
        // A heartbeat that leaves at that very moment brings the news already.
        consumer.next_heartbeat(news.saturating_sub(1).max(self.now()))
    }
}
