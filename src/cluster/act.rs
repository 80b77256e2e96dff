//! What operators, applications and faults do: each act is checked against the world, then performed.
//!
//! Faults live in `fault.rs`, what is done to `topics` and `configs` in files of their own; here stand set-up, clients and
//! the operator's other acts.

mod configs;
pub(super) mod topics;

use std::sync::Arc;

use crate::cluster::client::{Client, Consumer};
use crate::cluster::event::What;
use crate::cluster::fault;
use crate::cluster::group::OFFSETS_TOPIC;
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicPartition};
use crate::cluster::input::{Destination, Input, Refused, ResetTo, Send};
use crate::cluster::later;
use crate::cluster::message::Message;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Endpoint, Micros, Settings};
use crate::cluster::step::Doing;
use crate::cluster::tracked::Tracked;
use crate::cluster::world::World;
use crate::config::GroupProtocol;
use crate::log::Errors;

type Done = Result<(), Refused>;

/// Performs an act. What the landing does is here, everything else in [`perform_any`], which is linked later.
pub(crate) fn perform(doing: &mut Doing<'_>, act: Input) -> Done {
    match act {
        Input::CreateTopic {
            name,
            assignment,
            config,
        } => {
            topics::may_be_topic(doing.world, &name)?;
            topics::check_partitions(doing.world, assignment.len())?;
            topics::create_topic(doing, name, assignment, &config)
        }
        Input::AddProducer(name, config) => {
            may_be_named(doing.world, &name)?;
            let id = next_client(doing.world)?;
            add_client(doing, id, Arc::clone(&name), |image, settings| {
                Client::producer(id, name, *config, image, settings.seed)
            });
            Ok(())
        }
        Input::SetLink(a, b, latency) => set_link(doing, a, b, latency),
        Input::Send(client, send) => hand_over(doing, client, &send),
        Input::Kill(broker) => fault::kill(doing, broker),
        act => match later::get() {
            Some(later) => (later.perform)(doing, act),
            None => Err(Refused::missing()),
        },
    }
}

/// Performs any other act.
pub(crate) fn perform_any(doing: &mut Doing<'_>, act: Input) -> Done {
    match act {
        Input::AddConsumer {
            name,
            config,
            assign,
            group,
            polls,
        } => {
            may_be_named(doing.world, &name)?;
            for &tp in &assign {
                partition_exists(doing.world, tp)?;
            }
            if let Some((group, _)) = &group {
                if *group == name {
                    return Err(Refused::new(
                        format!("the consumer and its group are both named {name}"),
                        "give them different names",
                    ));
                }
                may_be_group(doing.world, group)?;
                one_protocol(
                    doing.world,
                    doing.world.settings().group_named(group),
                    config.group_protocol,
                )?;
            }
            let id = next_client(doing.world)?;
            let group = match group {
                Some((group, topics)) => Some((name_group(doing, &group)?, topics.into_iter().collect())),
                None => None,
            };
            add_client(doing, id, Arc::clone(&name), |image, settings| {
                Client::consumer(id, name, *config, assign, group, polls, image, settings.seed)
            });
            Ok(())
        }
        Input::Configure(target, configs) => configs::configure(doing, target, &configs),
        Input::SetDisk {
            broker,
            write,
            fsync,
            writeback,
        } => {
            broker_exists(doing.world, broker)?;
            change_settings(doing, |settings| {
                let disk = &mut settings.disks[usize::from(broker.0) - 1];
                disk.write = write.unwrap_or(disk.write);
                disk.fsync = fsync.unwrap_or(disk.fsync);
                disk.writeback = writeback.unwrap_or(disk.writeback);
            });
            Ok(())
        }
        Input::Elect(tp, how) => {
            let topic = partition_exists(doing.world, tp).map(|()| tp)?;
            controller_up(doing.world)?;
            doing.hear_brokers();
            let answer = doing.with_controller(|controller, cx| controller.elect(topic, how, cx));
            doing.answered("elect", answer);
            Ok(())
        }
        Input::Reassign(tp, replicas) => {
            partition_exists(doing.world, tp)?;
            controller_up(doing.world)?;
            doing.hear_brokers();
            let answer = doing.with_controller(|controller, cx| controller.reassign(tp, &replicas, cx));
            doing.answered("reassign", answer);
            Ok(())
        }
        Input::CreatePartitions(topic, count) => topics::create_partitions(doing, topic, count),
        Input::DeleteTopic(topic) => topics::delete_topic(doing, topic),
        Input::DeleteRecords(tp, offset) => topics::delete_records(doing, tp, offset),
        Input::CheckRetention(broker) => each_up(doing, broker, |broker, cx| broker.check_retention(cx)),
        Input::Checkpoint(broker) => each_up(doing, broker, |broker, cx| broker.checkpoint(cx)),
        Input::Clean(None) => each_up(doing, None, |broker, cx| broker.clean(None, cx)),
        Input::Clean(Some((tp, broker))) => on_replica(doing, tp, broker, |broker, cx| broker.clean(Some(tp), cx)),
        Input::Flush(tp, broker) => on_replica(doing, tp, broker, |broker, cx| broker.flush(tp, cx)),
        Input::Roll(tp, broker) => on_replica(doing, tp, broker, |broker, cx| broker.roll(tp, cx)),
        Input::Request(client, broker, message) => request(doing, client, broker, *message),
        Input::Poll(client, max) => {
            polls_when_told(doing.world, client)?;
            with_consumer(doing, client, |consumer, cx| consumer.poll(max, cx))
        }
        Input::Seek(client, tp, to) => {
            let reads = doing.world.client(client).is_some_and(|c| c.reads(tp));
            if !reads {
                let (name, tp) = (client_name(doing.world, client), doing.world.partition_name(tp));
                return Err(Refused::new(
                    format!("{name} does not read {tp}"),
                    "seek in a partition assigned to it",
                ));
            }
            with_consumer(doing, client, |consumer, cx| consumer.seek(tp, to, cx))
        }
        Input::Commit(client, offsets) => commit(doing, client, &offsets),
        Input::ResetOffset(group, tp, to) => reset_offset(doing, &group, tp, to),
        Input::Close(client) => {
            client_runs(doing.world, client)?;
            doing.with_client(client, |client, cx| client.close(cx));
            Ok(())
        }
        Input::KillClient(client) => fault::kill_client(doing, client),
        Input::StartClient(client) => fault::start_client(doing, client),
        fault => fault::perform(doing, fault),
    }
}

/// Refuses a broker id that does not exist.
pub(crate) fn broker_exists(world: &World, id: BrokerId) -> Done {
    let count = world.broker_ids().count();
    if world.broker(id).is_some() {
        return Ok(());
    }
    Err(Refused::new(
        format!("there is no broker {id}"),
        format!("name one of 1 to {count}"),
    ))
}

fn partition_exists(world: &World, tp: TopicPartition) -> Done {
    if world.image().partition(tp).is_some() {
        return Ok(());
    }
    let name = &world.settings().topic(tp.topic).name;
    Err(Refused::new(
        format!("{name}-{} does not exist", tp.partition),
        "name a partition of an existing topic",
    ))
}

/// Refuses what nobody can decide while the controller is down.
pub(crate) fn controller_up(world: &World) -> Done {
    if world.controller().is_up() {
        return Ok(());
    }
    Err(Refused::new(
        "the controller is down, so nobody can decide that",
        "start controller first",
    ))
}

fn client_name(world: &World, id: ClientId) -> String {
    world.node_name(Node::Client(id))
}

/// Refuses a client whose process does not run.
fn client_runs(world: &World, id: ClientId) -> Done {
    if world.client(id).is_some_and(Client::is_running) {
        return Ok(());
    }
    let name = client_name(world, id);
    Err(Refused::new(
        format!("{name} is not running"),
        format!("start {name} first"),
    ))
}

/// Its application can still call it.
fn takes_calls(world: &World, id: ClientId) -> Done {
    client_runs(world, id)?;
    if !world.client(id).is_some_and(Client::is_closing) {
        return Ok(());
    }
    let name = client_name(world, id);
    Err(Refused::new(
        format!("{name} was closed and takes nothing more"),
        format!("start {name} when its process has ended"),
    ))
}

/// One name is for one thing: a client's name is no other client's and no group's.
fn may_be_named(world: &World, name: &str) -> Done {
    let other = match (world.client_named(name), world.settings().group_named(name)) {
        (Some(_), _) => "client",
        (None, Some(_)) => "group",
        (None, None) => return Ok(()),
    };
    Err(name_taken(other, name))
}

/// A group's name is no client's; the group may be there already.
fn may_be_group(world: &World, name: &str) -> Done {
    match world.client_named(name) {
        Some(_) => Err(name_taken("client", name)),
        None => Ok(()),
    }
}

fn name_taken(by: &str, name: &str) -> Refused {
    Refused::new(format!("there is a {by} named {name} already"), "choose another name")
}

/// All members of a group speak the same protocol: how a group of both goes over to one of them is left out.
pub(crate) fn one_protocol(world: &World, group: Option<GroupId>, protocol: GroupProtocol) -> Done {
    let consumers = world.clients().filter_map(|(_, client)| client.as_consumer());
    let mut others = consumers.filter(|other| other.is_running() && other.group() == group && group.is_some());
    match others.find(|other| other.config().group_protocol != protocol) {
        Some(other) => Err(Refused::new(
            format!("{}, which runs, speaks the other protocol in this group", other.name()),
            "give both the same group.protocol, or close that one first",
        )),
        None => Ok(()),
    }
}

/// Changes what all actors look up; every snapshot before keeps its own.
pub(crate) fn change_settings(doing: &mut Doing<'_>, change: impl FnOnce(&mut Settings)) {
    change(Arc::make_mut(&mut doing.world.model.settings));
}

/// How many clients, and how many groups, a world can have, those included that have ended.
const MOST_CLIENTS: u16 = 1_000;
const MOST_GROUPS: u16 = 1_000;

/// The number of the next of these, of which there are so many already.
fn next_number(known: usize, most: u16, what: &str) -> Result<u16, Refused> {
    let next = u16::try_from(known).ok().filter(|&next| next < most);
    next.ok_or_else(|| {
        Refused::new(
            format!("{} {what} are too many for the model", known + 1),
            format!("have at most {most}"),
        )
    })
}

fn next_client(world: &World) -> Result<ClientId, Refused> {
    next_number(world.model.clients.len(), MOST_CLIENTS, "clients").map(ClientId)
}

fn add_client(
    doing: &mut Doing<'_>,
    id: ClientId,
    name: Arc<str>,
    make: impl FnOnce(Arc<crate::cluster::image::Image>, &Settings) -> Client,
) {
    change_settings(doing, |settings| settings.clients.push(name));
    let image = doing.world.image();
    let client = make(image, doing.world.settings());
    doing.world.model.clients.push(Tracked::new(client));
    doing.say(Rule::Act, || What::ClientStarted { client: id });
    doing.with_client(id, |client, cx| client.begin(cx));
}

/// The group of this name; the first time it is named it gets its number, and the topic of commits is made.
fn name_group(doing: &mut Doing<'_>, name: &Arc<str>) -> Result<GroupId, Refused> {
    let settings = doing.world.settings();
    if let Some(known) = settings.group_named(name) {
        return Ok(known);
    }
    let id = next_number(settings.groups.len(), MOST_GROUPS, "groups").map(GroupId)?;
    change_settings(doing, |settings| settings.groups.push(Arc::clone(name)));
    create_offsets_topic(doing);
    Ok(id)
}

/// `__consumer_offsets` is made as soon as there is a group, and a controller and live brokers to make it; the replicas go
/// round-robin over those.
pub(crate) fn create_offsets_topic(doing: &mut Doing<'_>) {
    let settings = doing.world.settings();
    if settings.offsets_topic.is_some() || settings.groups.is_empty() || !doing.world.controller().is_up() {
        return;
    }
    let image = doing.world.image();
    let live = image.brokers.iter().filter(|(_, broker)| !broker.fenced);
    let live: Vec<BrokerId> = live.map(|(id, _)| *id).collect();
    let Some(first) = live.first() else { return };
    let config = settings.broker(*first);
    let partitions = usize::try_from(config.offsets_topic_num_partitions).unwrap_or(1);
    let replicas = usize::try_from(config.offsets_topic_replication_factor)
        .unwrap_or(1)
        .min(live.len());
    let replica = |at: usize| live[at % live.len()];
    let assignment = (0..partitions)
        .map(|p| (p..p + replicas).map(replica).collect())
        .collect();
    let configs = [
        ("cleanup.policy".to_owned(), "compact".to_owned()),
        (
            "segment.bytes".to_owned(),
            config.offsets_topic_segment_bytes.to_string(),
        ),
    ];
    let Ok(id) = topics::next_topic(doing.world) else {
        return;
    };
    change_settings(doing, |settings| settings.offsets_topic = Some(id));
    if topics::create_topic(doing, OFFSETS_TOPIC.into(), assignment, &configs).is_err() {
        change_settings(doing, |settings| settings.offsets_topic = None);
    }
}

fn commit(doing: &mut Doing<'_>, id: ClientId, offsets: &[(TopicPartition, i64)]) -> Done {
    let name = client_name(doing.world, id);
    let grouped = doing
        .world
        .client(id)
        .and_then(Client::as_consumer)
        .is_some_and(|consumer| consumer.group().is_some());
    if !grouped {
        return Err(Refused::new(
            format!("{name} has no group to commit for"),
            "name a consumer declared with group=",
        ));
    }
    for &(tp, offset) in offsets {
        partition_exists(doing.world, tp)?;
        if offset < 0 {
            return Err(Refused::new(
                format!("{offset} is no offset"),
                "commit 0 or more: the next offset to read",
            ));
        }
    }
    with_consumer(doing, id, |consumer, cx| consumer.commit(offsets, cx))
}

/// The operator moves a group's commit, as the tool does: only of a group without members, and within what the log holds.
fn reset_offset(doing: &mut Doing<'_>, name: &Arc<str>, tp: TopicPartition, to: ResetTo) -> Done {
    may_be_group(doing.world, name)?;
    partition_exists(doing.world, tp)?;
    let guarded = doing.world.rules().on(Rule::OffsetsReset);
    let known = doing.world.settings().group_named(name);
    let members = known.map_or(0, |group| doing.world.members(group).len());
    if members > 0 && guarded {
        return Err(Refused::new(
            format!("group {name} has members, whose own commits count"),
            "close or kill them first, and wait until they have left",
        ));
    }
    let group = name_group(doing, name)?;
    let answer = move_offset(doing, group, tp, to);
    doing.answered("reset", answer);
    Ok(())
}

fn move_offset(doing: &mut Doing<'_>, group: GroupId, tp: TopicPartition, to: ResetTo) -> Option<Errors> {
    let world = &*doing.world;
    let awake = |id: &BrokerId| world.is_awake(Node::Broker(*id));
    let leader = world
        .image()
        .leader(tp)
        .filter(awake)
        .and_then(|id| world.broker(id)?.replica(tp));
    let Some((start, end)) = leader.and_then(|replica| Some((replica.log_start(), replica.high_watermark()?))) else {
        return Some(Errors::LeaderNotAvailable);
    };
    let offset = match to {
        ResetTo::Offset(offset) if world.rules().on(Rule::OffsetsReset) => offset.clamp(start, end.max(start)),
        ResetTo::Offset(offset) => offset,
        ResetTo::Earliest => start,
        ResetTo::Latest => end,
    };
    let Some(coordinator) = world.coordinator(group).filter(awake) else {
        return Some(Errors::CoordinatorNotAvailable);
    };
    doing.with_broker(coordinator, |broker, cx| broker.reset_offset(group, tp, offset, cx))
}

fn set_link(doing: &mut Doing<'_>, a: Endpoint, b: Endpoint, latency: Micros) -> Done {
    change_settings(doing, |settings| {
        settings.links.retain(|&(x, y, _)| (x, y) != (a, b) && (x, y) != (b, a));
        settings.links.push((a, b, latency));
    });
    Ok(())
}

fn each_up(
    doing: &mut Doing<'_>,
    only: Option<BrokerId>,
    mut act: impl FnMut(&mut crate::cluster::broker::Broker, &mut crate::cluster::actor::Cx<'_>),
) -> Done {
    if let Some(id) = only {
        broker_awake(doing.world, id)?;
    }
    for id in doing.world.broker_ids() {
        if only.is_none_or(|wanted| wanted == id) && doing.world.is_awake(Node::Broker(id)) {
            doing.with_broker(id, &mut act);
        }
    }
    Ok(())
}

/// Refuses a broker that cannot do anything now.
fn broker_awake(world: &World, id: BrokerId) -> Done {
    broker_exists(world, id)?;
    if world.is_awake(Node::Broker(id)) {
        return Ok(());
    }
    Err(Refused::new(
        format!("broker {id} does not run"),
        format!("start or resume {id} first"),
    ))
}

fn on_replica(
    doing: &mut Doing<'_>,
    tp: TopicPartition,
    id: BrokerId,
    act: impl FnOnce(&mut crate::cluster::broker::Broker, &mut crate::cluster::actor::Cx<'_>),
) -> Done {
    broker_awake(doing.world, id)?;
    if doing.world.broker(id).is_none_or(|b| b.replica(tp).is_none()) {
        let tp = doing.world.partition_name(tp);
        return Err(Refused::new(
            format!("broker {id} has no replica of {tp}"),
            "name one of its replicas",
        ));
    }
    doing.with_broker(id, act);
    Ok(())
}

fn hand_over(doing: &mut Doing<'_>, id: ClientId, send: &Send) -> Done {
    client_runs(doing.world, id)?;
    match send.to {
        Destination::Topic(topic) => partition_exists(doing.world, TopicPartition { topic, partition: 0 })?,
        Destination::Partition(tp) => partition_exists(doing.world, tp)?,
        Destination::Broker(tp, broker) => {
            broker_exists(doing.world, broker)?;
            partition_exists(doing.world, tp)?;
        }
    }
    if !doing.world.client(id).is_some_and(Client::is_producer) {
        let name = client_name(doing.world, id);
        return Err(Refused::new(format!("{name} is a consumer"), "send with a producer"));
    }
    takes_calls(doing.world, id)?;
    doing.with_client(id, |client, cx| client.send(send, cx));
    Ok(())
}

/// A request of no client's logic.
fn request(doing: &mut Doing<'_>, client: ClientId, broker: BrokerId, message: Message) -> Done {
    broker_exists(doing.world, broker)?;
    client_runs(doing.world, client)?;
    if !doing.world.has_ports_open(broker) {
        return Err(Refused::new(
            format!("broker {broker} takes no connections"),
            format!("start {broker} and wait until it is registered"),
        ));
    }
    doing.with_client(client, |_, cx| cx.send(Node::Broker(broker), message));
    Ok(())
}

fn with_consumer(
    doing: &mut Doing<'_>,
    id: ClientId,
    act: impl FnOnce(&mut Client, &mut crate::cluster::actor::Cx<'_>),
) -> Done {
    client_runs(doing.world, id)?;
    if doing.world.client(id).is_some_and(Client::is_producer) {
        let name = client_name(doing.world, id);
        return Err(Refused::new(format!("{name} is a producer"), "name a consumer"));
    }
    takes_calls(doing.world, id)?;
    doing.with_client(id, act);
    Ok(())
}

/// Refuses to poll for a consumer whose application does it by itself.
fn polls_when_told(world: &World, id: ClientId) -> Done {
    let consumer = world.client(id).and_then(Client::as_consumer);
    if !consumer.is_some_and(Consumer::polls_by_itself) {
        return Ok(());
    }
    let name = client_name(world, id);
    Err(Refused::new(
        format!("{name} polls by itself"),
        "leave the line out, or declare it with poll=manual",
    ))
}

impl World {
    /// Whether a topic with this name exists now.
    pub fn topic_exists(&self, name: &str) -> bool {
        self.topic_named(name)
            .is_some_and(|id| self.image().partitions.keys().any(|tp| tp.topic == id))
    }
}
