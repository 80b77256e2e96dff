//! What an operator does to topics: they are made with their configs, grow, lose old records and are deleted.

use std::sync::Arc;

use super::configs::resolve;
use super::{Done, broker_exists, change_settings, controller_up, next_number, partition_exists};
use crate::cluster::event::What;
use crate::cluster::group::OFFSETS_TOPIC;
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicId, TopicPartition};
use crate::cluster::input::Refused;
use crate::cluster::rules::Rule;
use crate::cluster::settings::Topic;
use crate::cluster::step::Doing;
use crate::cluster::topic_name;
use crate::cluster::world::World;
use crate::config::TopicConfig;
use crate::log::Errors;

/// Whether a person may make a topic of this name.
pub(super) fn may_be_topic(world: &World, name: &str) -> Done {
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
pub(super) fn check_partitions(world: &World, more: usize) -> Done {
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

pub(super) fn create_topic(
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
    own.set_all(pairs)?;
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

pub(super) fn next_topic(world: &World) -> Result<TopicId, Refused> {
    next_number(world.settings().topics.len(), u16::MAX, "topics").map(TopicId)
}

/// How many partitions all topics of the model can have together, and the topic of commits by itself.
pub(crate) const MOST_PARTITIONS: u32 = 1_000;

/// More partitions of a topic, each with as many replicas as the first has, round-robin over all brokers as in `topic`.
/// Brokers learn of them like of any change, clients when they ask for the cluster's state.
pub(super) fn create_partitions(doing: &mut Doing<'_>, topic: TopicId, count: u32) -> Done {
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
pub(super) fn delete_topic(doing: &mut Doing<'_>, topic: TopicId) -> Done {
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

pub(super) fn delete_records(doing: &mut Doing<'_>, tp: TopicPartition, offset: i64) -> Done {
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
