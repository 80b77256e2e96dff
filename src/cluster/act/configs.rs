//! What an operator does to configs while the cluster runs: whom a change reaches, and when it is known there.

use std::sync::Arc;

use super::{Done, broker_exists, client_name, controller_up};
use crate::cluster::client::Client;
use crate::cluster::event::{ConfigReach, What};
use crate::cluster::heartbeats;
use crate::cluster::ids::{BrokerId, TopicId};
use crate::cluster::input::{ConfigTarget, Refused};
use crate::cluster::rules::Rule;
use crate::cluster::settings::{CONTROLLERS, Settings};
use crate::cluster::step::Doing;
use crate::config::TopicConfig;

/// Configs by name and value.
type Configs = [(String, String)];

pub(super) fn configure(doing: &mut Doing<'_>, target: ConfigTarget, configs: &Configs) -> Done {
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
            set?;
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
            broker.set_all(pairs(configs))?;
        }
    }
    if only.is_none() {
        let own = pairs(configs).filter(|(name, _)| CONTROLLERS.contains(name));
        settings.controller.set_all(own)?;
    }
    let brokers = settings.brokers.clone();
    for topic in settings.topics.values_mut() {
        let on = brokers
            .iter()
            .map(|broker| topic.config.on(broker).map_err(Refused::from));
        topic.on_broker = on.collect::<Result<_, _>>()?;
    }
    Ok(only.map_or("brokers".to_owned(), |id| format!("broker {id}")))
}

fn set_topic(settings: &mut Settings, id: TopicId, configs: &Configs) -> Result<String, Refused> {
    let topic = settings.topics.get(&id).cloned();
    let mut topic = topic.ok_or_else(|| Refused::new("there is no such topic", "create it first"))?;
    let set = topic.config.set_all(pairs(configs));
    set?;
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

/// The topic's configs on each broker.
pub(super) fn resolve(config: &TopicConfig, settings: &Settings) -> Result<Vec<TopicConfig>, Refused> {
    settings
        .brokers
        .iter()
        .map(|broker| config.on(broker).map_err(Refused::from))
        .collect()
}
