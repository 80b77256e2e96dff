//! From statements to inputs: names become numbers, lists become several inputs, missing settings get their meaning.
//!
//! Whether an input can apply is the world's to say; here only what cannot even be named is refused, with the nearest name
//! that can. Deliberately absent: time ([`super::player`]) and expectations ([`super::look`]).

use super::ast::{
    Act, Brokers, Configured, Data, Destination, Direction, Directory, DropKind, Election, Keep, Layout, Node, Nodes,
    Partition, Polling, Process, Replicas, ResetTo, SeekTo, Sending, Setting, Statement, WriteBack,
};
use super::later;
use super::parse::{CONSUMER_SETTINGS, TOPIC_SETTINGS};
use crate::cluster::event::BrokerState;
use crate::cluster::ids::{self, BrokerId, ClientId, TopicId, TopicPartition};
use crate::cluster::input::{self, ConfigTarget, ElectionType, Input, Polls, ReportDirectory, Template};
use crate::cluster::message::{MessageKind, OffsetSpec};
use crate::cluster::settings::{Endpoint, Micros, forever_at_most};
use crate::cluster::{MOST_PARTITIONS, Refused, World};
use crate::config::{ConsumerConfig, ProducerConfig, Scope, nearest};
use crate::log::Header;

/// The inputs that perform a statement, in order; none for a statement that is not performed by inputs.
///
/// # Errors
/// A name that nothing has, a number that no world can hold, or a setting that is not allowed.
pub fn inputs(statement: &Statement, world: &World) -> Result<Vec<Input>, Refused> {
    let one = |input| Ok(vec![input]);
    match statement {
        Statement::Topic { name, layout, configs } => {
            not_misspelt(configs, Scope::Topic, TOPIC_SETTINGS)?;
            one(Input::CreateTopic {
                name: name.as_str().into(),
                assignment: assignment(layout, world)?,
                config: pairs(configs),
            })
        }
        Statement::Producer { name, configs } => {
            let mut config = ProducerConfig::default();
            config.set_all(borrowed(configs))?;
            one(Input::AddProducer(name.as_str().into(), Box::new(config)))
        }
        Statement::SetLink { a, b, latency } => {
            two_nodes(a, b)?;
            one(Input::SetLink(
                endpoint(a, world)?,
                endpoint(b, world)?,
                micros(*latency),
            ))
        }
        Statement::Act(Act::Send(send)) => one(Input::Send(
            client(&send.producer, world)?,
            Box::new(sending(send, world)?),
        )),
        Statement::Act(Act::Kill(Process::Brokers(brokers))) => each_that(brokers, world, runs, Input::Kill),
        other => match later::get() {
            Some(later) => (later.inputs)(other, world),
            None => Err(Refused::missing()),
        },
    }
}

/// As [`inputs`], for the statements that the landing does without.
pub(super) fn inputs_of_any(statement: &Statement, world: &World) -> Result<Vec<Input>, Refused> {
    let one = |input| Ok(vec![input]);
    match statement {
        Statement::Broker { brokers, .. } => {
            for id in brokers_of(brokers, world) {
                node(&Node::Broker(id.0), world)?;
            }
            Err(Refused::new(
                format!("something has happened to broker {brokers} already"),
                "move the line up behind 'brokers', or use 'set broker'",
            ))
        }
        Statement::Consumer {
            name,
            group,
            topics,
            assign,
            polling,
            configs,
        } => {
            not_misspelt(configs, Scope::Consumer, CONSUMER_SETTINGS)?;
            let mut config = ConsumerConfig::default();
            config.set_all(borrowed(configs))?;
            one(Input::AddConsumer {
                name: name.as_str().into(),
                config: Box::new(config),
                assign: assign.iter().map(|at| partition(at, world)).collect::<Result<_, _>>()?,
                group: group.as_ref().map(|group| {
                    let topics = topics.iter().map(|topic| topic.as_str().into());
                    (group.as_str().into(), topics.collect())
                }),
                polls: match polling {
                    Polling::Automatic => Polls::ByItself,
                    Polling::Manual => Polls::WhenTold,
                },
            })
        }
        Statement::Set { target, configs } => set(target, configs, world),
        Statement::SetDisk {
            brokers,
            write,
            fsync,
            writeback,
        } => each(brokers, world, |broker| Input::SetDisk {
            broker,
            write: write.map(micros),
            fsync: fsync.map(micros),
            writeback: writeback.map(|writeback| match writeback {
                WriteBack::Never => None,
                WriteBack::After(age) => Some(micros(age)),
            }),
        }),
        Statement::Act(act) => clients_act(act, world),
        _ => Ok(Vec::new()),
    }
}

/// A duration of the language as the world counts it; durations are never negative, and none outlives the world.
pub(super) fn micros(duration: super::ast::Micros) -> Micros {
    forever_at_most(Micros::try_from(duration.0).unwrap_or_default())
}

/// Refuses a config that nobody knows and that is written almost like a setting of the statement's own.
fn not_misspelt(configs: &[Setting], scope: Scope, own: &[&str]) -> Result<(), Refused> {
    for Setting { name, .. } in configs.iter().filter(|setting| scope.find(&setting.name).is_none()) {
        if let Some(near) = nearest(name, own.iter().copied()) {
            return Err(Refused::new(
                format!("no {scope} config is called '{name}'"),
                format!("the nearest is '{near}'"),
            ));
        }
    }
    Ok(())
}

fn borrowed(configs: &[Setting]) -> impl Iterator<Item = (&str, &str)> {
    configs
        .iter()
        .map(|setting| (setting.name.as_str(), setting.value.as_str()))
}

fn pairs(configs: &[Setting]) -> Vec<(String, String)> {
    configs
        .iter()
        .map(|setting| (setting.name.clone(), setting.value.clone()))
        .collect()
}

/// Without an assignment replicas go round-robin from broker 1: partition p starts at broker 1 + p mod N.
fn assignment(layout: &Layout, world: &World) -> Result<Vec<Vec<BrokerId>>, Refused> {
    let brokers = u32::try_from(world.broker_ids().count()).unwrap_or(u32::MAX);
    let (partitions, replicas) = match layout {
        Layout::Assigned(assigned) => {
            let ids = |brokers: &Vec<u16>| brokers.iter().map(|id| BrokerId(*id)).collect();
            return Ok(assigned.iter().map(ids).collect());
        }
        Layout::Counts { partitions, replicas } => (partitions.unwrap_or(1), u32::from(replicas.unwrap_or(1))),
    };
    if partitions > MOST_PARTITIONS {
        return Err(Refused::new(
            format!("{partitions} partitions are too many for the model"),
            format!("have at most {MOST_PARTITIONS} over all topics"),
        ));
    }
    if replicas > brokers {
        return Err(Refused::new(
            format!("{replicas} replicas need as many brokers, and there are {brokers}"),
            format!("have replicas={brokers} at most"),
        ));
    }
    let broker = |at: u32| BrokerId(u16::try_from(at % brokers + 1).unwrap_or(1));
    Ok((0..partitions)
        .map(|p| (0..replicas).map(|r| broker(p + r)).collect())
        .collect())
}

fn set(target: &Configured, configs: &[Setting], world: &World) -> Result<Vec<Input>, Refused> {
    let targets = match target {
        Configured::AllBrokers => vec![ConfigTarget::Brokers],
        Configured::Brokers(brokers) => brokers_of(brokers, world)
            .into_iter()
            .map(ConfigTarget::Broker)
            .collect(),
        Configured::Topic(name) => vec![ConfigTarget::Topic(topic(name, world)?)],
        Configured::Producer(name) => vec![ConfigTarget::Client(client_that_is("producer", name, world)?)],
        Configured::Consumer(name) => vec![ConfigTarget::Client(client_that_is("consumer", name, world)?)],
    };
    let configure = |target| Input::Configure(target, pairs(configs));
    Ok(targets.into_iter().map(configure).collect())
}

/// The brokers that are meant.
pub(super) fn brokers_of(brokers: &Brokers, world: &World) -> Vec<BrokerId> {
    match brokers {
        Brokers::All => world.broker_ids().collect(),
        Brokers::List(ids) => ids.iter().map(|id| BrokerId(*id)).collect(),
    }
}

/// The same for each of some brokers.
fn each(brokers: &Brokers, world: &World, input: impl Fn(BrokerId) -> Input) -> Result<Vec<Input>, Refused> {
    Ok(brokers_of(brokers, world).into_iter().map(input).collect())
}

/// The same for each of some brokers; `all` are those in such a state that it can apply to them.
fn each_that(
    brokers: &Brokers,
    world: &World,
    applies: impl Fn(BrokerState) -> bool,
    input: impl Fn(BrokerId) -> Input,
) -> Result<Vec<Input>, Refused> {
    let mut ids = brokers_of(brokers, world);
    if *brokers == Brokers::All {
        ids.retain(|id| world.broker_state(*id).is_some_and(&applies));
        if ids.is_empty() {
            return Err(Refused::new(
                "there is no broker to which it can apply",
                "look at the brokers' states",
            ));
        }
    }
    Ok(ids.into_iter().map(input).collect())
}

fn runs(state: BrokerState) -> bool {
    state != BrokerState::Down
}

fn is_down(state: BrokerState) -> bool {
    state == BrokerState::Down
}

fn each_replica(
    replicas: &Replicas,
    world: &World,
    input: impl Fn(TopicPartition, BrokerId) -> Input,
) -> Result<Vec<Input>, Refused> {
    let at = partition(&replicas.partition, world)?;
    each(&replicas.brokers, world, |broker| input(at, broker))
}

/// On certain brokers, or once on all that are up.
fn each_or_all(
    brokers: Option<&Brokers>,
    world: &World,
    input: impl Fn(Option<BrokerId>) -> Input,
) -> Result<Vec<Input>, Refused> {
    match brokers {
        None | Some(Brokers::All) => Ok(vec![input(None)]),
        Some(brokers) => each(brokers, world, |broker| input(Some(broker))),
    }
}

fn clients_act(act: &Act, world: &World) -> Result<Vec<Input>, Refused> {
    let one = |input| Ok(vec![input]);
    match act {
        Act::Poll { consumer, max } => {
            let max = max.map(|max| u32::try_from(max).unwrap_or(u32::MAX));
            one(Input::Poll(client(consumer, world)?, max))
        }
        Act::Seek {
            consumer,
            partition: at,
            to,
        } => {
            let to = match to {
                SeekTo::Offset(offset) => input::SeekTo::Offset(*offset),
                SeekTo::Beginning => input::SeekTo::Asked(OffsetSpec::Earliest),
                SeekTo::End => input::SeekTo::Asked(OffsetSpec::Latest),
                SeekTo::Timestamp(time) => input::SeekTo::Asked(OffsetSpec::Timestamp(*time)),
            };
            one(Input::Seek(client(consumer, world)?, partition(at, world)?, to))
        }
        Act::Commit { consumer, offsets } => {
            let offset = |(at, offset): &(Partition, i64)| Ok((partition(at, world)?, *offset));
            let offsets = offsets.iter().map(offset).collect::<Result<_, Refused>>()?;
            one(Input::Commit(client(consumer, world)?, offsets))
        }
        Act::Close(name) => one(Input::Close(client(name, world)?)),
        _ => operators_act(act, world),
    }
}

fn operators_act(act: &Act, world: &World) -> Result<Vec<Input>, Refused> {
    let one = |input| Ok(vec![input]);
    match act {
        Act::Elect { partition: at, kind } => {
            let kind = match kind {
                Election::Preferred => ElectionType::Preferred,
                Election::Unclean => ElectionType::Unclean,
            };
            one(Input::Elect(partition(at, world)?, kind))
        }
        Act::Reassign {
            partition: at,
            replicas,
        } => {
            let replicas = replicas.iter().map(|id| BrokerId(*id)).collect();
            one(Input::Reassign(partition(at, world)?, replicas))
        }
        Act::Reset {
            group,
            partition: at,
            to,
        } => {
            let to = match to {
                ResetTo::Offset(offset) => input::ResetTo::Offset(*offset),
                ResetTo::Earliest => input::ResetTo::Earliest,
                ResetTo::Latest => input::ResetTo::Latest,
            };
            one(Input::ResetOffset(group.as_str().into(), partition(at, world)?, to))
        }
        Act::Partitions { topic: name, count } => one(Input::CreatePartitions(topic(name, world)?, *count)),
        Act::DeleteTopic(name) => one(Input::DeleteTopic(topic(name, world)?)),
        Act::DeleteRecords { partition: at, offset } => one(Input::DeleteRecords(partition(at, world)?, *offset)),
        Act::CheckRetention(brokers) => each_or_all(brokers.as_ref(), world, Input::CheckRetention),
        Act::Checkpoint(brokers) => each_or_all(brokers.as_ref(), world, Input::Checkpoint),
        Act::Clean(None) => one(Input::Clean(None)),
        Act::Clean(Some(replicas)) => each_replica(replicas, world, |tp, broker| Input::Clean(Some((tp, broker)))),
        Act::Flush(replicas) => each_replica(replicas, world, Input::Flush),
        Act::Roll(replicas) => each_replica(replicas, world, Input::Roll),
        _ => fates_act(act, world),
    }
}

fn fates_act(act: &Act, world: &World) -> Result<Vec<Input>, Refused> {
    let one = |input| Ok(vec![input]);
    match act {
        Act::Kill(Process::Controller) => one(Input::KillController),
        Act::Kill(Process::Client(name)) => one(Input::KillClient(client_or_controller(name, world)?)),
        Act::Start {
            process: Process::Controller,
            ..
        } => one(Input::StartController),
        Act::Start {
            process: Process::Client(name),
            ..
        } => one(Input::StartClient(client_or_controller(name, world)?)),
        Act::Start {
            process: Process::Brokers(brokers),
            directory,
        } => {
            let report = match directory {
                Directory::Early => ReportDirectory::First,
                Directory::Late => ReportDirectory::Late,
            };
            each_that(brokers, world, is_down, |broker| Input::Start(broker, report))
        }
        Act::PowerOff { brokers, keep } => {
            let keep = kept(keep, world)?;
            each_that(brokers, world, |_| true, |broker| Input::PowerOff(broker, keep.clone()))
        }
        Act::Stop(brokers) => each_that(brokers, world, runs, Input::Stop),
        Act::Wipe(brokers) => each_that(brokers, world, is_down, Input::Wipe),
        Act::Pause(brokers) => each_that(
            brokers,
            world,
            |state| runs(state) && state != BrokerState::Paused,
            Input::Pause,
        ),
        Act::Resume(brokers) => each_that(brokers, world, |state| state == BrokerState::Paused, Input::Resume),
        Act::Slow { brokers, factor } => each(brokers, world, |broker| Input::Slow(ids::Node::Broker(broker), *factor)),
        Act::Tear { replica, keep } => {
            let keep = keep.map(|keep| u32::try_from(keep).unwrap_or(u32::MAX));
            one(Input::Tear(
                partition(&replica.partition, world)?,
                BrokerId(replica.broker),
                keep,
            ))
        }
        Act::Flip { replica, base, at } => one(Input::Flip(
            partition(&replica.partition, world)?,
            BrokerId(replica.broker),
            *base,
            *at,
        )),
        Act::Remove { replica, name } => one(Input::RemoveFile(
            partition(&replica.partition, world)?,
            BrokerId(replica.broker),
            name.as_str().into(),
        )),
        _ => network_act(act, world),
    }
}

fn network_act(act: &Act, world: &World) -> Result<Vec<Input>, Refused> {
    let one = |input| Ok(vec![input]);
    match act {
        Act::Cut {
            a,
            b,
            direction: Direction::Both,
        } => one(Input::Cut(both_ways(&paths(a, b, world)?))),
        Act::Cut {
            a,
            b,
            direction: Direction::FromFirst,
        } => one(Input::Cut(paths(a, b, world)?)),
        Act::Heal { a, b } => one(Input::Heal(Some(both_ways(&paths(a, b, world)?)))),
        Act::HealAll => one(Input::Heal(None)),
        Act::Drop { kind, from, to, next } => {
            two_nodes(from, to)?;
            let (from, to) = (node(from, world)?, node(to, world)?);
            passes(*kind, from, to, world)?;
            one(Input::Drop {
                kind: message_kind(*kind),
                from,
                to,
                next: next.map_or(1, |next| u32::try_from(next).unwrap_or(u32::MAX)),
            })
        }
        other => {
            let line = Statement::Act(other.clone());
            Err(Refused::new(format!("'{line}' cannot be performed"), "leave it out"))
        }
    }
}

/// That messages of a kind are ever sent from one node to another: the loss of one that is not would wait for ever.
fn passes(kind: DropKind, from: ids::Node, to: ids::Node, world: &World) -> Result<(), Refused> {
    let kinds = kinds_between(from, to, world);
    if kinds.contains(&kind) {
        return Ok(());
    }
    let [sender, receiver] = [from, to].map(|node| match node {
        ids::Node::Broker(id) => format!("broker {id}"),
        ids::Node::Controller => "the controller".to_string(),
        ids::Node::Client(_) => world.node_name(node),
    });
    let words: Vec<String> = kinds.iter().map(|kind| format!("'{kind}'")).collect();
    let remedy = match words.split_last() {
        None => "name a path with a broker at one of its ends".to_string(),
        Some((only, [])) => format!("from {sender} to {receiver} there is {only}"),
        Some((last, rest)) => format!("from {sender} to {receiver} there are {} and {last}", rest.join(", ")),
    };
    Err(Refused::new(format!("{sender} sends {receiver} no '{kind}'"), remedy))
}

/// The kinds of message that one node ever sends to another, of those that can be lost alone.
fn kinds_between(from: ids::Node, to: ids::Node, world: &World) -> &'static [DropKind] {
    let produces = |id: ClientId| world.client(id).is_some_and(|client| client.is_producer());
    match (from, to) {
        (ids::Node::Broker(_), ids::Node::Broker(_)) => &[DropKind::Fetch, DropKind::FetchResponse],
        (ids::Node::Broker(_), ids::Node::Controller) => &[DropKind::AlterPartition, DropKind::Heartbeat],
        (ids::Node::Controller, ids::Node::Broker(_)) => &[DropKind::AlterPartitionResponse, DropKind::Metadata],
        (ids::Node::Client(id), ids::Node::Broker(_)) if produces(id) => &[DropKind::Produce],
        (ids::Node::Client(_), ids::Node::Broker(_)) => &[DropKind::Fetch],
        (ids::Node::Broker(_), ids::Node::Client(id)) if produces(id) => {
            &[DropKind::ProduceResponse, DropKind::Metadata]
        }
        (ids::Node::Broker(_), ids::Node::Client(_)) => &[DropKind::FetchResponse, DropKind::Metadata],
        _ => &[],
    }
}

/// Every path from a node of the first side to a node of the second.
fn paths(a: &Nodes, b: &Nodes, world: &World) -> Result<Vec<(ids::Node, ids::Node)>, Refused> {
    let (a, b) = (nodes(a, world)?, nodes(b, world)?);
    let mut paths = Vec::new();
    for &from in &a {
        paths.extend(b.iter().filter(|to| **to != from).map(|to| (from, *to)));
    }
    if paths.is_empty() {
        return Err(no_link());
    }
    Ok(paths)
}

fn no_link() -> Refused {
    Refused::new("a node has no link to itself", "name two different nodes")
}

/// That two ends of a link are not the same single node.
fn two_nodes(a: &Node, b: &Node) -> Result<(), Refused> {
    if a == b && *a != Node::Any {
        Err(no_link())
    } else {
        Ok(())
    }
}

fn both_ways(paths: &[(ids::Node, ids::Node)]) -> Vec<(ids::Node, ids::Node)> {
    paths.iter().flat_map(|&(from, to)| [(from, to), (to, from)]).collect()
}

fn nodes(nodes: &Nodes, world: &World) -> Result<Vec<ids::Node>, Refused> {
    match nodes {
        Nodes::AllBrokers => Ok(world.broker_ids().map(ids::Node::Broker).collect()),
        Nodes::List(list) if list.contains(&Node::Any) => {
            let clients = world.clients().map(|(id, _)| ids::Node::Client(id));
            let brokers = world.broker_ids().map(ids::Node::Broker);
            Ok(std::iter::once(ids::Node::Controller)
                .chain(brokers)
                .chain(clients)
                .collect())
        }
        Nodes::List(list) => list.iter().map(|one| node(one, world)).collect(),
    }
}

/// A single node.
pub(super) fn node(node: &Node, world: &World) -> Result<ids::Node, Refused> {
    match node {
        Node::Any => Err(Refused::new(
            "'*' is not a single node",
            "name a broker, 'controller' or a client",
        )),
        Node::Controller => Ok(ids::Node::Controller),
        Node::Broker(id) if world.broker(BrokerId(*id)).is_some() => Ok(ids::Node::Broker(BrokerId(*id))),
        Node::Broker(id) => Err(Refused::new(
            format!("there is no broker {id}"),
            format!("name one of 1 to {}", world.broker_ids().count()),
        )),
        Node::Client(name) => client_or_controller(name, world).map(ids::Node::Client),
    }
}

fn endpoint(end: &Node, world: &World) -> Result<Endpoint, Refused> {
    match end {
        Node::Any => Ok(Endpoint::Any),
        other => node(other, world).map(Endpoint::Is),
    }
}

/// The kind of message that a word stands for.
pub(super) fn message_kind(kind: DropKind) -> MessageKind {
    match kind {
        DropKind::Produce => MessageKind::Produce,
        DropKind::ProduceResponse => MessageKind::ProduceResponse,
        DropKind::Fetch => MessageKind::Fetch,
        DropKind::FetchResponse => MessageKind::FetchResponse,
        DropKind::AlterPartition => MessageKind::AlterPartition,
        DropKind::AlterPartitionResponse => MessageKind::AlterPartitionResponse,
        DropKind::Heartbeat => MessageKind::Heartbeat,
        DropKind::Metadata => MessageKind::Metadata,
    }
}

fn kept(keep: &[Keep], world: &World) -> Result<input::Keep, Refused> {
    if keep.contains(&Keep::Cache) {
        return Ok(input::Keep::Cache);
    }
    let mut below = Vec::new();
    for keep in keep {
        if let Keep::Below(at, offset) = keep {
            below.push((partition(at, world)?, *offset));
        }
    }
    Ok(if below.is_empty() {
        input::Keep::Nothing
    } else {
        input::Keep::Below(below)
    })
}

fn sending(send: &Sending, world: &World) -> Result<input::Send, Refused> {
    let counts = send.count.is_some();
    let header = |(name, value): &(String, Data)| Header {
        key: name.as_str().into(),
        value: match value {
            Data::Null => None,
            Data::Text(bytes) | Data::Hex(bytes) => Some(bytes.as_slice().into()),
        },
    };
    Ok(input::Send {
        to: destination(send, world)?,
        key: send.key.as_ref().map_or(Template::Null, |key| template(key, counts)),
        value: send
            .value
            .as_ref()
            .map_or(Template::Number, |value| template(value, counts)),
        timestamp: send.timestamp,
        headers: send.headers.iter().map(header).collect(),
        count: records(send.count.unwrap_or(1))?,
        every: send.every.map(micros),
    })
}

/// How many records one statement may hand over.
fn records(count: u64) -> Result<u32, Refused> {
    const MOST_RECORDS: u32 = 1_000_000;
    u32::try_from(count)
        .ok()
        .filter(|count| *count <= MOST_RECORDS)
        .ok_or_else(|| {
            Refused::new(
                format!("{count} records are too many for the model"),
                format!("send at most {MOST_RECORDS}"),
            )
        })
}

/// With `count`, `{n}` in a text counts.
fn template(data: &Data, counts: bool) -> Template {
    match data {
        Data::Null => Template::Null,
        Data::Hex(bytes) => Template::Bytes(bytes.as_slice().into()),
        Data::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if counts && text.contains("{n}") => Template::Counted(text.into()),
            _ => Template::Bytes(bytes.as_slice().into()),
        },
    }
}

fn destination(send: &Sending, world: &World) -> Result<input::Destination, Refused> {
    let broker = send.broker.map(BrokerId);
    Ok(match (&send.to, broker) {
        (Destination::Topic(name), None) => input::Destination::Topic(topic(name, world)?),
        (Destination::Partition(at), None) => input::Destination::Partition(partition(at, world)?),
        (Destination::Partition(at), Some(broker)) => input::Destination::Broker(partition(at, world)?, broker),
        (Destination::Topic(name), Some(broker)) => {
            let id = topic(name, world)?;
            if world.settings().topic(id).partitions > 1 {
                return Err(Refused::new(
                    "a request straight to a broker names its partition",
                    format!("send to {name}-0, or another partition"),
                ));
            }
            input::Destination::Broker(
                TopicPartition {
                    topic: id,
                    partition: 0,
                },
                broker,
            )
        }
    })
}

/// The client of that name.
pub(super) fn client(name: &str, world: &World) -> Result<ClientId, Refused> {
    world.client_named(name).ok_or_else(|| {
        let names = world.settings().clients.iter().map(|name| &**name);
        unknown("client", name, names, "declare it first, with 'producer' or 'consumer'")
    })
}

/// The client of that name, where `controller` could stand as well.
fn client_or_controller(name: &str, world: &World) -> Result<ClientId, Refused> {
    let is_slip = nearest(name, ["controller"]).is_some();
    client(name, world).map_err(|refused| match is_slip {
        true => Refused::new(refused.reason, "the nearest is 'controller'"),
        false => refused,
    })
}

/// The client of that name, if it is what it is called.
fn client_that_is(kind: &str, name: &str, world: &World) -> Result<ClientId, Refused> {
    let id = client(name, world)?;
    let is_producer = world.client(id).is_some_and(|client| client.is_producer());
    let found = if is_producer { "producer" } else { "consumer" };
    if found == kind {
        return Ok(id);
    }
    Err(Refused::new(
        format!("{name} is a {found}"),
        format!("write 'set {found} {name} …'"),
    ))
}

/// The topic of that name.
pub(super) fn topic(name: &str, world: &World) -> Result<TopicId, Refused> {
    world.topic_named(name).ok_or_else(|| {
        let names = world.settings().topics.values().map(|topic| &*topic.name);
        unknown("topic", name, names, "create it first, with 'topic'")
    })
}

/// The partition of that name.
pub(super) fn partition(at: &Partition, world: &World) -> Result<TopicPartition, Refused> {
    let id = topic(&at.topic, world)?;
    let partitions = world.settings().topic(id).partitions;
    if at.number >= partitions {
        return Err(Refused::new(
            format!("there is no partition {at}"),
            format!("{} has {partitions}, from {}-0", at.topic, at.topic),
        ));
    }
    Ok(TopicPartition {
        topic: id,
        partition: at.number,
    })
}

fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>, remedy: &str) -> Refused {
    let reason = format!("no {what} is called '{name}'");
    match nearest(name, names) {
        Some(near) => Refused::new(reason, format!("the nearest is '{near}'")),
        None => Refused::new(reason, remedy),
    }
}
