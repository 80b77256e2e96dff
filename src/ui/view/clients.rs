//! Clients and groups as data: who sends, who reads what, and how far each group is behind.
//!
//! A group is shown as its coordinator keeps it, members and their shares; lag is what a real cluster's tools show: the
//! leader's high watermark less the committed offset. Deliberately absent: rates.

use std::rc::Rc;

use crate::cluster::group::GroupKind;
use crate::cluster::{ClientId, GroupId, TopicPartition};
use crate::sorted::SortedSet;
use crate::ui::view::lanes::acks_word;
use crate::ui::view::look::Look;
use crate::ui::view::panels::{Chip, Tone};

/// What one reader has to do with one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The partition's name.
    pub name: Rc<str>,
    /// Its topic's id and its number, unless it is the one in view.
    pub leads_to: Option<(u16, u32)>,
    /// The next offset that the member reads.
    pub position: Option<i64>,
    /// The offset from which a member would begin after a restart.
    pub committed: Option<i64>,
    /// The leader's high watermark.
    pub end: Option<i64>,
}

impl Share {
    /// How many records there are from the committed offset on.
    pub fn lag(&self) -> Option<i64> {
        Some((self.end? - self.committed?).max(0))
    }
}

/// A member of a group, or a consumer without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Its name; nothing for what nobody reads.
    pub name: Option<Rc<str>>,
    /// How it is.
    pub state: Chip,
    /// What it is to read.
    pub shares: Vec<Share>,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCard {
    /// Its name; nothing for consumers without a group.
    pub name: Option<Rc<str>>,
    /// Where it stands, in words.
    pub about: Rc<str>,
    /// Its members, and what none of them reads.
    pub readers: Vec<Reader>,
    /// The sum of what can be counted.
    pub lag: Option<i64>,
}

/// A producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Its name.
    pub name: Rc<str>,
    /// How it is.
    pub state: Chip,
    /// `acks` as it is set.
    pub acks: &'static str,
    /// Handed over, acknowledged, failed, undecided.
    pub counts: [u32; 4],
    /// Of the oldest record that it tries again: how many attempts came to nothing, and the last one's error.
    pub retries: Option<(usize, &'static str)>,
}

/// All clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clients {
    /// Producers, in order of declaration.
    pub senders: Vec<Sender>,
    /// Groups, in the order in which they were first named; at last the consumers without one.
    pub groups: Vec<GroupCard>,
}

/// All clients at this moment.
pub fn clients(look: &Look<'_>) -> Clients {
    let groups = (0..look.world.settings().groups.len()).map(|at| group(look, GroupId(at as u16)));
    Clients {
        senders: look.world.clients().filter_map(|(id, _)| sender(look, id)).collect(),
        groups: groups.chain(alone(look)).collect(),
    }
}

fn state(look: &Look<'_>, id: ClientId) -> Chip {
    match look.world.client(id).is_some_and(|client| client.is_running()) {
        true => Chip::new(Tone::Ok, "up"),
        false => Chip::new(Tone::Bad, "down"),
    }
}

fn sender(look: &Look<'_>, id: ClientId) -> Option<Sender> {
    let producer = look.world.client(id)?.as_producer()?;
    let tally = look.ledger.tally(id);
    Some(Sender {
        name: look.names.client(id).into(),
        state: state(look, id),
        acks: acks_word(producer.config().acks),
        counts: [tally.handed, tally.acked, tally.failed, tally.pending()],
        retries: look.recent(id).find_map(|(tag, _)| {
            let error = look.ledger.refused(tag)?;
            Some((look.ledger.retries(tag).len(), error.name()))
        }),
    })
}

fn share(look: &Look<'_>, reader: Option<ClientId>, group: Option<GroupId>, at: TopicPartition) -> Share {
    let client = reader.and_then(|id| look.world.client(id));
    let leader = look.world.image().leader(at).and_then(|id| look.world.broker(id));
    Share {
        name: look.names.partition(at).into(),
        leads_to: (at != look.partition).then_some((at.topic.0, at.partition)),
        position: client.and_then(|client| client.position(at)),
        committed: group.and_then(|group| look.world.committed(group, at)),
        end: leader.and_then(|broker| broker.replica(at)?.high_watermark()),
    }
}

/// The partitions of a reader, as it knows them itself; of a member that is down, those that are kept for it.
fn assigned(look: &Look<'_>, id: ClientId) -> Vec<TopicPartition> {
    let Some(consumer) = look.world.client(id).and_then(|client| client.as_consumer()) else {
        return Vec::new();
    };
    let kept = consumer.group().filter(|_| !consumer.is_running());
    match kept.filter(|group| look.world.group(*group).is_some()) {
        None => consumer.assignment().collect(),
        Some(group) => look.world.kept_for(group, id),
    }
}

fn reader(look: &Look<'_>, id: ClientId, group: Option<GroupId>) -> Reader {
    let shares = assigned(look, id)
        .into_iter()
        .map(|at| share(look, Some(id), group, at));
    Reader {
        name: Some(look.names.client(id).into()),
        state: state(look, id),
        shares: shares.collect(),
    }
}

fn group(look: &Look<'_>, id: GroupId) -> GroupCard {
    let consumers = look.world.clients().filter_map(|(client, all)| {
        let own = all.as_consumer()?.group()?;
        (own == id).then_some(client)
    });
    let members: SortedSet<ClientId> = look.world.members(id).into_iter().collect();
    let mut readers: Vec<Reader> = consumers
        .map(|client| {
            let mut reader = reader(look, client, Some(id));
            let runs = look.world.client(client).is_some_and(|client| client.is_running());
            reader.state = match (members.contains(&client), runs) {
                (true, true) => Chip::new(Tone::Ok, "member"),
                (true, false) => Chip::new(Tone::Bad, "down, not missed yet"),
                (false, true) => Chip::new(Tone::Warn, "not a member"),
                (false, false) => Chip::new(Tone::No, "down"),
            };
            reader
        })
        .collect();
    let read: SortedSet<TopicPartition> = look
        .world
        .clients()
        .filter(|(_, client)| {
            client
                .as_consumer()
                .is_some_and(|consumer| consumer.group() == Some(id))
        })
        .flat_map(|(client, _)| assigned(look, client))
        .collect();
    let nobodys = look.world.partitions().into_iter().filter(|at| !read.contains(at));
    let nobodys: Vec<Share> = nobodys
        .map(|at| share(look, None, Some(id), at))
        .filter(|share| share.committed.is_some())
        .collect();
    if !nobodys.is_empty() {
        readers.push(Reader {
            name: None,
            state: Chip::new(Tone::Warn, "read by nobody"),
            shares: nobodys,
        });
    }
    GroupCard {
        name: Some((**look.world.settings().group(id)).into()),
        about: about(look, id).into(),
        lag: lag(&readers),
        readers,
    }
}

/// Where a group stands, as its coordinator keeps it.
fn about(look: &Look<'_>, id: GroupId) -> String {
    let Some(coordinator) = look.world.coordinator(id) else {
        return "no coordinator: nobody can join or commit".to_string();
    };
    match look.world.group(id) {
        Some(group) => {
            let counted = match &group.kind {
                GroupKind::Classic(classic) => format!("generation {}", classic.generation()),
                GroupKind::Consumer(consumer) => format!("group epoch {}", consumer.epoch()),
                GroupKind::Gone => "forgotten".to_string(),
            };
            format!("{}, {counted}, coordinated by broker {coordinator}", group.kind.state())
        }
        None => format!("nothing known yet, coordinated by broker {coordinator}"),
    }
}

/// The consumers without a group, if there are any.
fn alone(look: &Look<'_>) -> Option<GroupCard> {
    let without = look.world.clients().filter(|(_, client)| {
        let consumer = client.as_consumer();
        consumer.is_some_and(|consumer| consumer.group().is_none())
    });
    let readers: Vec<Reader> = without.map(|(id, _)| reader(look, id, None)).collect();
    (!readers.is_empty()).then(|| GroupCard {
        name: None,
        about: "each reads the partitions that it was given, and commits nothing".into(),
        lag: None,
        readers,
    })
}

fn lag(readers: &[Reader]) -> Option<i64> {
    let shares = readers.iter().flat_map(|reader| &reader.shares);
    shares.filter_map(Share::lag).reduce(|a, b| a + b)
}
