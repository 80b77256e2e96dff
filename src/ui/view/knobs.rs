//! The knobs of the page, each from its row in the tables of configs.

use std::rc::Rc;

use crate::cluster::World;
use crate::config::{BrokerConfig, Def, DefaultValue, Kind, Scope, Valid, Value, expected};
use crate::ui::view::look::Look;
use crate::ui::view::names::all_of;
use crate::ui::view::panels::{Control, Knob};

/// The configs that can be turned, in the order in which they stand.
pub const KNOBS: [(Scope, &str); 8] = [
    (Scope::Producer, "acks"),
    (Scope::Topic, "min.insync.replicas"),
    (Scope::Topic, "unclean.leader.election.enable"),
    (Scope::Topic, "flush.messages"),
    (Scope::Topic, "segment.bytes"),
    (Scope::Topic, "retention.ms"),
    (Scope::Topic, "retention.bytes"),
    (Scope::Broker, "replica.lag.time.max.ms"),
];

/// The other configs of a topic that the log obeys, by what they are about.
pub const MORE: [(&str, &[&str]); 5] = [
    (
        "Segments and indexes",
        &[
            "segment.ms",
            "segment.jitter.ms",
            "index.interval.bytes",
            "segment.index.bytes",
            "preallocate",
        ],
    ),
    ("Flushing", &["flush.ms"]),
    ("Deletion", &["cleanup.policy", "file.delete.delay.ms"]),
    (
        "Compaction",
        &[
            "min.cleanable.dirty.ratio",
            "min.compaction.lag.ms",
            "max.compaction.lag.ms",
            "delete.retention.ms",
        ],
    ),
    (
        "What the leader takes",
        &[
            "max.message.bytes",
            "message.timestamp.type",
            "message.timestamp.before.max.ms",
            "message.timestamp.after.max.ms",
        ],
    ),
];

/// Every config that can be turned, with its group; the first ones have none.
fn all() -> impl Iterator<Item = (Scope, &'static str, &'static str)> {
    let first = KNOBS.iter().map(|(scope, name)| (*scope, *name, ""));
    let more = MORE
        .iter()
        .flat_map(|(group, names)| names.iter().map(|name| (Scope::Topic, *name, *group)));
    first.chain(more)
}

/// The largest number that a config can hold stands for 'never'.
const NEVER: &str = "9223372036854775807";

/// All knobs with their values; `begun` is the world in which this run began.
pub fn knobs(look: &Look<'_>, begun: &World) -> Vec<Knob> {
    let knob = |(scope, name, group): (Scope, &'static str, &'static str)| {
        let def = scope.find(name)?;
        let held = held(look.world, look, scope, def);
        let value = in_a_row(&held)?;
        let changed = in_a_row(&self::held(begun, look, scope, def)).is_some_and(|before| before != value);
        let is_one = held.windows(2).all(|two| two[0].1 == two[1].1);
        Some(Knob {
            name,
            group,
            kind: def.kind.to_string().to_ascii_lowercase().into(),
            control: control(def, &value, look.world.broker_ids().count()),
            // Where several differ there is not one value to show.
            value: Some(value).filter(|_| is_one).unwrap_or_default().into(),
            whose: whose(&held, scope, is_one).into(),
            default: default(def).into(),
            range: range(def).into(),
            unit: def.unit.sign(),
            about: about(def),
            changed,
        })
    };
    all().filter_map(knob).collect()
}

/// The statement that turns a knob: it changes all producers, the topic in view, or all brokers.
pub fn statements(look: &Look<'_>, name: &str, value: &str) -> Vec<String> {
    let Some((scope, ..)) = all().find(|(_, other, _)| *other == name) else {
        return Vec::new();
    };
    // A list has commas, which are the language's own outside of quotes.
    let quote = if value.contains([',', ' ']) { "\"" } else { "" };
    match scope {
        Scope::Producer => {
            let producers = look.world.clients().filter(|(_, client)| client.is_producer());
            producers
                .map(|(id, _)| format!("set producer {} {name}={quote}{value}{quote}", look.names.client(id)))
                .collect()
        }
        Scope::Topic => {
            let topic = look.world.settings().topics.get(&look.partition.topic);
            topic
                .map(|topic| format!("set topic {} {name}={quote}{value}{quote}", topic.name))
                .into_iter()
                .collect()
        }
        Scope::Broker | Scope::Consumer => vec![format!("set brokers {name}={quote}{value}{quote}")],
    }
}

/// Who has a value of this, and which: a producer, the topic in view, or a broker.
fn held(world: &World, look: &Look<'_>, scope: Scope, def: &'static Def) -> Vec<(String, String)> {
    let shown = |value: Value| plain(def, &value.to_string());
    let settings = world.settings();
    let of_brokers = |value: fn(&BrokerConfig, &'static Def) -> Value| {
        let named = |(id, broker)| (format!("broker {id}"), shown(value(broker, def)));
        (1..).zip(&settings.brokers).map(named).collect()
    };
    match scope {
        Scope::Producer => {
            let producers = world.clients().filter_map(|(id, client)| {
                let value = client.as_producer()?.config().settings().effective(def);
                Some((look.names.client(id).to_string(), shown(value)))
            });
            producers.collect()
        }
        Scope::Topic => {
            let Some(topic) = settings.topics.get(&look.partition.topic) else {
                return Vec::new();
            };
            match topic.config.settings().get(def.name) {
                Some(own) => vec![(topic.name.to_string(), shown(own.clone()))],
                // What a topic does not say, each of its brokers says for itself.
                None => of_brokers(|broker, def| broker.topic_default(def).unwrap_or_else(|| def.default_value())),
            }
        }
        Scope::Broker | Scope::Consumer => of_brokers(|broker, def| broker.settings().effective(def)),
    }
}

/// The values that differ from the one before them; nothing if nobody has one.
fn in_a_row(held: &[(String, String)]) -> Option<String> {
    let mut values: Vec<&str> = held.iter().map(|(_, value)| value.as_str()).collect();
    values.dedup();
    (!values.is_empty()).then(|| values.join(" "))
}

/// Whose value is shown, and for whom another is set.
fn whose(held: &[(String, String)], scope: Scope, is_one: bool) -> String {
    match held {
        [] | [_] => String::new(),
        _ if is_one && scope != Scope::Producer => String::new(),
        _ if is_one => {
            let names: Vec<&str> = held.iter().map(|(name, _)| name.as_str()).collect();
            format!("Of {} alike; a change is for all of them.", all_of(&names))
        }
        _ => {
            let each: Vec<String> = held.iter().map(|(name, value)| format!("{name} has {value}")).collect();
            format!("{}; what is chosen here is for all of them.", all_of(&each))
        }
    }
}

/// A value as it is shown: `-1` of acks is `all`, the largest number is `never`.
fn plain(def: &Def, value: &str) -> String {
    match (def.name, value) {
        (_, NEVER) => "never".to_string(),
        ("acks", "-1") => "all".to_string(),
        (_, other) => other.to_string(),
    }
}

/// A value as a person may type it, as the config takes it.
pub fn typed(value: &str) -> &str {
    if value.trim().eq_ignore_ascii_case("never") {
        NEVER
    } else {
        value.trim()
    }
}

fn default(def: &Def) -> String {
    match def.default {
        DefaultValue::Text(NEVER) => format!("never ({NEVER})"),
        DefaultValue::Text(text) => plain(def, text),
        DefaultValue::Null | DefaultValue::Required => "none".to_string(),
    }
}

fn range(def: &'static Def) -> String {
    match (def.accepts(), def.kind) {
        (Valid::OneOf(words), _) => words.join(", "),
        (_, Kind::Boolean) => "true or false".to_string(),
        (Valid::AtLeast(least), _) => format!("{least} or more{}", scaled(def, least)),
        (Valid::Any, _) if def.default == DefaultValue::Text("-1") => "-1 for no limit".to_string(),
        // KafkaConfig.validateValues: each alone is free, together they are not.
        _ if def.name == "replica.lag.time.max.ms" => "replica.fetch.wait.max.ms or more".to_string(),
        (Valid::Any, Kind::Int | Kind::Long) => "any whole number".to_string(),
        _ => expected(def),
    }
}

/// The model is scaled down and says so.
fn scaled(def: &Def, least: i64) -> String {
    match def.valid {
        Valid::AtLeast(real) if real > least => format!(" (a real broker: {real} or more)"),
        _ => String::new(),
    }
}

fn about(def: &'static Def) -> &'static str {
    def.about.unwrap_or("")
}

/// How a config is turned. What it is now can always be chosen.
fn control(def: &Def, value: &str, brokers: usize) -> Control {
    let words = |words: &[&str]| Control::Choice(words.iter().map(|word| Rc::from(*word)).collect());
    match def.name {
        "acks" => words(&["0", "1", "all"]),
        "min.insync.replicas" => {
            let now = value.parse().unwrap_or_default();
            let mut counts: Vec<usize> = (1..=brokers.clamp(3, 5)).collect();
            if !counts.contains(&now) && now > 0 {
                counts.push(now);
            }
            Control::Choice(counts.iter().map(|count| Rc::from(count.to_string())).collect())
        }
        "cleanup.policy" => words(&["delete", "compact", "compact,delete"]),
        "message.timestamp.type" => words(&["CreateTime", "LogAppendTime"]),
        _ if def.kind == Kind::Boolean => words(&["false", "true"]),
        _ => Control::Text,
    }
}

/// Whether a knob belongs to producers.
pub fn is_producers(name: &str) -> bool {
    KNOBS.contains(&(Scope::Producer, name))
}

/// Whether a knob belongs to topics.
pub fn is_topics(name: &str) -> bool {
    all().any(|(scope, other, _)| scope == Scope::Topic && other == name)
}
