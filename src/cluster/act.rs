//! What operators, applications and faults do: each act is checked against the world, then performed.
//!
//! Faults live in `fault.rs`; here stand set-up, configs, clients and the operator's acts.

use std::sync::Arc;

use crate::cluster::client::{Client, Consumer};
use crate::cluster::event::{ConfigReach, What};
use crate::cluster::fault;
use crate::cluster::group::OFFSETS_TOPIC;
use crate::cluster::heartbeats;
use crate::cluster::ids::{BrokerId, ClientId, GroupId, Node, TopicId, TopicPartition};
use crate::cluster::input::{ConfigTarget, Destination, Input, Refused, ResetTo, Send};
use crate::cluster::later;
use crate::cluster::message::Message;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{CONTROLLERS, Endpoint, Micros, Settings, Topic};
use crate::cluster::step::Doing;
use crate::cluster::topic_name;
use crate::cluster::tracked::Tracked;
use crate::cluster::world::World;
use crate::config::{ConfigError, GroupProtocol, TopicConfig};
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
            may_be_topic(doing.world, &name)?;
            check_partitions(doing.world, assignment.len())?;
            create_topic(doing, name, assignment, &config)
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
        Input::Configure(target, configs) => configure(doing, target, &configs),
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
        Input::CreatePartitions(topic, count) => create_partitions(doing, topic, count),
        Input::DeleteTopic(topic) => delete_topic(doing, topic),
        Input::DeleteRecords(tp, offset) => delete_records(doing, tp, offset),
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

/// The refusal that a config error is.
pub(crate) fn config_refused(error: &ConfigError) -> Refused {
    Refused::new(error.to_string(), "correct the setting")
}

/// Changes what all actors look up; every snapshot before keeps its own.
pub(crate) fn change_settings(doing: &mut Doing<'_>, change: impl FnOnce(&mut Settings)) {
    change(Arc::make_mut(&mut doing.world.model.settings));
}

/// The topic's configs on each broker.
fn resolve(config: &TopicConfig, settings: &Settings) -> Result<Vec<TopicConfig>, Refused> {
    settings
        .brokers
        .iter()
        .map(|broker| config.on(broker).map_err(|e| config_refused(&e)))
        .collect()
}

/// Whether a person may make a topic of this name.
fn may_be_topic(world: &World, name: &str) -> Done {
    if let Some(expected) = topic_name::expected(name) {
        return Err(Refused::new(
            format!("a topic cannot be called '{name}'"),
            format!("choose {expected}"),
        ));
    }
    if name == OFFSETS_TOPIC {
        return Err(Refused::new(
            format!("{OFFSETS_TOPIC} is made with the first group, and not by hand"),
            "set offsets.topic.num.partitions and offsets.topic.replication.factor of the brokers",
        ));
    }
    let mut others = world.settings().topics.values();
    match others.find(|topic| *topic.name != *name && topic_name::collide(&topic.name, name)) {
        None => Ok(()),
        Some(other) => Err(Refused::new(
            format!(
                "topic {name} collides with {}, since '.' and '_' are alike in names of metrics",
                other.name
            ),
            "choose another name",
        )),
    }
}

/// Whether the world stays usable with so many partitions more.
fn check_partitions(world: &World, more: usize) -> Done {
    let settings = world.settings();
    let made = |(id, topic): (&TopicId, &Topic)| match Some(*id) == settings.offsets_topic {
        true => 0,
        false => topic.partitions as usize,
    };
    let all = settings.topics.iter().map(made).sum::<usize>() + more;
    if all <= MOST_PARTITIONS as usize {
        return Ok(());
    }
    Err(Refused::new(
        format!("{all} partitions are too many for the model"),
        format!("have at most {MOST_PARTITIONS} over all topics"),
    ))
}

fn create_topic(
    doing: &mut Doing<'_>,
    name: Arc<str>,
    assignment: Vec<Vec<BrokerId>>,
    config: &[(String, String)],
) -> Done {
    if doing.world.topic_exists(&name) {
        return Err(Refused::new(
            format!("topic {name} exists already"),
            "choose another name",
        ));
    }
    controller_up(doing.world)?;
    check_assignment(doing.world, &assignment)?;
    let mut own = TopicConfig::default();
    let pairs = config.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    own.set_all(pairs).map_err(|e| config_refused(&e))?;
    let on_broker = resolve(&own, doing.world.settings())?;
    let partitions = assignment.len() as u32;
    let id = next_topic(doing.world)?;
    let topic = Topic {
        name: Arc::clone(&name),
        config: own,
        on_broker,
        partitions,
    };
    doing.hear_brokers();
    let wanted = topic.config.settings().clone();
    let label = Arc::clone(&name);
    change_settings(doing, |settings| {
        settings.topics.insert(id, topic);
    });
    let made = doing.with_controller(|controller, cx| controller.create_topic(&label, &assignment, &wanted, cx));
    if let Err(error) = made {
        change_settings(doing, |settings| {
            settings.topics.remove(&id);
        });
        return Err(Refused::new(
            format!("the controller answered {}", error.name()),
            "start a broker of the assignment",
        ));
    }
    doing.say(Rule::Act, || What::TopicCreated {
        topic: name,
        partitions,
    });
    known_to_all(doing, id);
    Ok(())
}

fn check_assignment(world: &World, assignment: &[Vec<BrokerId>]) -> Done {
    if assignment.is_empty() {
        return Err(Refused::new("a topic has at least one partition", "give one"));
    }
    for (partition, replicas) in assignment.iter().enumerate() {
        if replicas.len() != assignment[0].len() {
            return Err(Refused::new(
                format!(
                    "partition 0 has {} replicas and partition {partition} has {} (INVALID_REPLICA_ASSIGNMENT)",
                    assignment[0].len(),
                    replicas.len()
                ),
                "name as many brokers for each partition",
            ));
        }
        if replicas.is_empty() {
            return Err(Refused::new("a partition has at least one replica", "name a broker"));
        }
        for (at, &id) in replicas.iter().enumerate() {
            broker_exists(world, id)?;
            if replicas[..at].contains(&id) {
                return Err(Refused::new(
                    format!("broker {id} stands twice in an assignment"),
                    "name it once",
                ));
            }
        }
    }
    Ok(())
}

/// A new topic is known to everyone at once.
fn known_to_all(doing: &mut Doing<'_>, topic: TopicId) {
    let image = doing.world.image();
    let new: Vec<_> = image
        .partitions
        .iter()
        .filter(|(tp, _)| tp.topic == topic)
        .map(|(tp, p)| (*tp, p.clone()))
        .collect();
    for id in doing.world.broker_ids() {
        if doing.world.broker(id).is_some_and(|b| b.is_running()) {
            doing.with_broker(id, |broker, cx| broker.topics_created(&new, cx));
        }
    }
    for at in 0..doing.world.model.clients.len() {
        doing.with_client(ClientId(at as u16), |client, cx| client.topics_created(&new, cx));
    }
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

fn next_topic(world: &World) -> Result<TopicId, Refused> {
    next_number(world.settings().topics.len(), u16::MAX, "topics").map(TopicId)
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
    let Ok(id) = next_topic(doing.world) else { return };
    change_settings(doing, |settings| settings.offsets_topic = Some(id));
    if create_topic(doing, OFFSETS_TOPIC.into(), assignment, &configs).is_err() {
        change_settings(doing, |settings| settings.offsets_topic = None);
    }
}

/// How many partitions all topics of the model can have together, and the topic of commits by itself.
pub(crate) const MOST_PARTITIONS: u32 = 1_000;

/// More partitions of a topic, each with as many replicas as the first has, round-robin over all brokers as in `topic`.
/// Brokers learn of them like of any change, clients when they ask for the cluster's state.
fn create_partitions(doing: &mut Doing<'_>, topic: TopicId, count: u32) -> Done {
    let first = TopicPartition { topic, partition: 0 };
    partition_exists(doing.world, first)?;
    // A coordinator keeps the number that it found when it started: the groups would be sought where they are not.
    if doing.world.settings().offsets_topic == Some(topic) {
        return Err(Refused::new(
            format!("{OFFSETS_TOPIC} keeps the partitions that it was created with"),
            "set offsets.topic.num.partitions on the brokers line",
        ));
    }
    controller_up(doing.world)?;
    let brokers = doing.world.broker_ids().count() as u32;
    let known = doing.world.settings().topic(topic).partitions;
    check_partitions(doing.world, count.saturating_sub(known) as usize)?;
    let factor = doing
        .world
        .image()
        .partition(first)
        .map_or(1, |first| first.replicas.len() as u32);
    let broker = |at: u32| BrokerId((at % brokers + 1) as u16);
    let replicas = |p: u32| (p..p + factor).map(broker).collect();
    let assignments: Vec<Vec<BrokerId>> = (known..count).map(replicas).collect();
    doing.hear_brokers();
    change_settings(doing, |settings| {
        if let Some(known) = settings.topics.get_mut(&topic) {
            known.partitions = count.max(known.partitions);
        }
    });
    let answer = doing.with_controller(|controller, cx| controller.create_partitions(topic, count, &assignments, cx));
    if answer.is_some() {
        change_settings(doing, |settings| {
            if let Some(changed) = settings.topics.get_mut(&topic) {
                changed.partitions = known;
            }
        });
    }
    doing.answered("partitions", answer);
    Ok(())
}

/// A topic goes. Brokers learn of it like of any change, clients when a broker refuses them.
fn delete_topic(doing: &mut Doing<'_>, topic: TopicId) -> Done {
    if doing
        .world
        .image()
        .partition(TopicPartition { topic, partition: 0 })
        .is_none()
    {
        let name = &doing.world.settings().topic(topic).name;
        return Err(Refused::new(format!("{name} does not exist"), "name an existing topic"));
    }
    if doing.world.settings().offsets_topic == Some(topic) {
        return Err(Refused::new(
            format!("{OFFSETS_TOPIC} holds what the groups have committed"),
            "delete another topic",
        ));
    }
    controller_up(doing.world)?;
    doing.hear_brokers();
    let name = Arc::clone(&doing.world.settings().topic(topic).name);
    let all = doing.world.partitions().into_iter();
    let partitions = all.filter(|tp| tp.topic == topic).collect();
    let answer = doing.with_controller(|controller, cx| controller.delete_topic(topic, cx));
    if answer.is_none() {
        doing.say(Rule::Act, || What::TopicDeleted {
            topic: name,
            partitions,
        });
    }
    doing.answered("delete-topic", answer);
    Ok(())
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

/// Configs by name and value.
type Configs = [(String, String)];

fn configure(doing: &mut Doing<'_>, target: ConfigTarget, configs: &Configs) -> Done {
    let mut settings = (*doing.world.model.settings).clone();
    let label = match target {
        ConfigTarget::Brokers => set_brokers(&mut settings, None, configs)?,
        ConfigTarget::Broker(id) => {
            broker_exists(doing.world, id)?;
            set_brokers(&mut settings, Some(id), configs)?
        }
        ConfigTarget::Topic(id) => set_topic(&mut settings, id, configs)?,
        ConfigTarget::Client(id) => {
            let runs = doing.world.client(id).is_some_and(Client::is_running);
            if runs && configs.iter().any(|(name, _)| name == "group.protocol") {
                return Err(Refused::new(
                    "a consumer reads group.protocol when it starts",
                    format!("kill {} first, and start it afterwards", client_name(doing.world, id)),
                ));
            }
            let mut changed = doing.world.model.clients[usize::from(id.0)].clone();
            let set = changed.make_mut().set_all(configs);
            set.map_err(|e| config_refused(&e))?;
            doing.world.model.clients[usize::from(id.0)] = changed;
            client_name(doing.world, id)
        }
    };
    if goes_to_controller(target, configs) {
        controller_up(doing.world)?;
    }
    let refused = doing.world.controller().would_refuse(target, configs);
    if refused.is_some() {
        doing.answered("set", refused);
        return Ok(());
    }
    if heartbeats::depend_on(configs) {
        doing.with_controller(|controller, cx| controller.note_beats(cx));
    }
    doing.world.model.settings = Arc::new(settings);
    for (name, value) in configs {
        doing.say(Rule::Act, || What::Configured {
            target: label.clone(),
            name: name.clone(),
            value: value.clone(),
            real: reach_of(target, name),
        });
    }
    spread(doing, target, configs);
    Ok(())
}

/// Sets a config of one broker or of all; a topic config by its own name is the cluster-wide default.
fn set_brokers(settings: &mut Settings, only: Option<BrokerId>, configs: &Configs) -> Result<String, Refused> {
    for (at, broker) in settings.brokers.iter_mut().enumerate() {
        if only.is_none_or(|id| usize::from(id.0) == at + 1) {
            broker.set_all(pairs(configs)).map_err(|e| config_refused(&e))?;
        }
    }
    if only.is_none() {
        let own = pairs(configs).filter(|(name, _)| CONTROLLERS.contains(name));
        settings.controller.set_all(own).map_err(|e| config_refused(&e))?;
    }
    let brokers = settings.brokers.clone();
    for topic in settings.topics.values_mut() {
        let on = brokers
            .iter()
            .map(|broker| topic.config.on(broker).map_err(|e| config_refused(&e)));
        topic.on_broker = on.collect::<Result<_, _>>()?;
    }
    Ok(only.map_or("brokers".to_owned(), |id| format!("broker {id}")))
}

fn set_topic(settings: &mut Settings, id: TopicId, configs: &Configs) -> Result<String, Refused> {
    let topic = settings.topics.get(&id).cloned();
    let mut topic = topic.ok_or_else(|| Refused::new("there is no such topic", "create it first"))?;
    let set = topic.config.set_all(pairs(configs));
    set.map_err(|e| config_refused(&e))?;
    topic.on_broker = resolve(&topic.config, settings)?;
    let label = format!("topic {}", topic.name);
    settings.topics.insert(id, topic);
    Ok(label)
}

fn pairs(configs: &Configs) -> impl Iterator<Item = (&str, &str)> {
    configs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Whether a change of configs is asked of the controller: what a real broker reads only at its start stands in a file.
fn goes_to_controller(target: ConfigTarget, configs: &Configs) -> bool {
    let is_clients = matches!(target, ConfigTarget::Client(_));
    let mut reaches = configs.iter().map(|(name, _)| reach_of(target, name));
    !is_clients && reaches.any(|reach| reach == ConfigReach::Dynamic)
}

/// When a real Kafka would take the config over.
fn reach_of(target: ConfigTarget, name: &str) -> ConfigReach {
    let scope = crate::config::Scope::Broker;
    let def = || scope.configs().iter().find(|def| def.name == name);
    let is_dynamic = match target {
        ConfigTarget::Client(_) => false,
        ConfigTarget::Topic(_) => true,
        ConfigTarget::Brokers | ConfigTarget::Broker(_) => {
            def().is_some_and(|def| def.update(scope) == crate::config::Update::Dynamic)
        }
    };
    if is_dynamic {
        ConfigReach::Dynamic
    } else {
        ConfigReach::AtStart
    }
}

/// Tells everybody whom configs concern.
fn spread(doing: &mut Doing<'_>, target: ConfigTarget, configs: &Configs) {
    match target {
        ConfigTarget::Client(id) => doing.with_client(id, |client, cx| client.config_changed(cx)),
        ConfigTarget::Brokers | ConfigTarget::Broker(_) | ConfigTarget::Topic(_) => {
            if doing.world.controller().is_up() {
                doing.hear_brokers();
            }
            doing.with_controller(|controller, cx| controller.configure(target, configs, cx));
            doing.answered("set", None);
            if heartbeats::depend_on(configs) {
                heartbeats::follow_rare_ones(doing);
            }
            for id in doing.world.broker_ids() {
                if doing.world.broker(id).is_some_and(|b| b.is_running()) {
                    doing.with_broker(id, |broker, cx| broker.config_changed(cx));
                }
            }
        }
    }
}

fn set_link(doing: &mut Doing<'_>, a: Endpoint, b: Endpoint, latency: Micros) -> Done {
    change_settings(doing, |settings| {
        settings.links.retain(|&(x, y, _)| (x, y) != (a, b) && (x, y) != (b, a));
        settings.links.push((a, b, latency));
    });
    Ok(())
}

fn delete_records(doing: &mut Doing<'_>, tp: TopicPartition, offset: i64) -> Done {
    partition_exists(doing.world, tp)?;
    let leader = doing.world.image().leader(tp);
    let serving = leader.filter(|&id| doing.world.is_awake(Node::Broker(id)));
    // Nothing is known of its answer until it comes.
    doing.world.book.answer = None;
    match serving {
        Some(id) => doing.with_broker(id, |broker, cx| broker.delete_records(tp, offset, cx)),
        None => doing.answered("delete-records", Some(Errors::LeaderNotAvailable)),
    }
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
