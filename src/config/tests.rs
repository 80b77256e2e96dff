//! The tables against Kafka's own definitions, and what a person gets to read when a setting is not taken.

use super::*;
use crate::log::{CleanupPolicy, LogConfig};
use serde_json::{Value as Json, json};
use std::path::Path;

fn recorded(scope: Scope) -> Vec<Json> {
    let path = format!("{}/tests/recordings/configs/{scope}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the recording is part of the repository");
    let file: Json = serde_json::from_str(&text).expect("the recording is JSON");
    file["configs"].as_array().expect("a list of configs").clone()
}

/// A row in the form of the recordings.
fn as_recorded(def: &Def, scope: Scope) -> Json {
    let valid = match def.valid {
        Valid::Any => Json::Null,
        other => json!(other.to_string()),
    };
    let mut row = json!({
        "name": def.name, "type": def.kind.to_string(), "valid": valid, "scope": scope.to_string(),
    });
    match def.default {
        DefaultValue::Text(text) => row["default"] = json!(text),
        DefaultValue::Null => row["default"] = Json::Null,
        DefaultValue::Required => row["required"] = json!(true),
    }
    if let Some(synonym) = def.synonym {
        row["brokerName"] = json!(synonym);
    }
    if def.visibility == Visibility::Internal {
        row["internal"] = json!(true);
    }
    row
}

#[test]
fn every_row_is_kafkas_own() {
    let mut rows = 0;
    for scope in Scope::ALL {
        let kafka = recorded(scope);
        let ours: Vec<Json> = scope.configs().iter().map(|def| as_recorded(def, scope)).collect();
        for (kafka, ours) in kafka.iter().zip(&ours) {
            assert_eq!(kafka, ours);
        }
        assert_eq!(kafka.len(), ours.len(), "{scope}");
        rows += ours.len();
    }
    assert_eq!(rows, 312);
}

#[test]
fn every_config_is_found_by_its_name_and_its_default_is_a_value() {
    for scope in Scope::ALL {
        for def in scope.configs() {
            assert_eq!(scope.find(def.name), Some(def));
            if let DefaultValue::Text(text) = def.default {
                assert!(def.read(text).is_ok(), "{}={text}", def.name);
            }
            if let Some(synonym) = def.synonym {
                assert!(Scope::Broker.find(synonym).is_some(), "{synonym}");
            }
        }
    }
}

#[test]
fn what_the_model_acts_on_has_a_sentence() {
    for (scope, names) in [
        (Scope::Topic, TopicConfig::NAMES),
        (Scope::Broker, BrokerConfig::NAMES),
        (Scope::Producer, ProducerConfig::NAMES),
        (Scope::Consumer, ConsumerConfig::NAMES),
    ] {
        for name in names {
            let def = scope.find(name).expect("a field stands for a config");
            assert!(def.about.is_some_and(|sentence| sentence.ends_with('.')), "{name}");
        }
    }
}

/// A config with a field is taken; one that nothing reads would be taken and do nothing.
#[test]
fn what_the_model_acts_on_is_read_somewhere() {
    let mut code = String::new();
    read_code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut code);
    let names = [
        TopicConfig::NAMES,
        BrokerConfig::NAMES,
        ProducerConfig::NAMES,
        ConsumerConfig::NAMES,
    ];
    for name in names.concat() {
        let field = format!(".{}", name.replace('.', "_"));
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_field_read = code
            .match_indices(&field)
            .any(|(at, found)| ends(&code[at + found.len()..]));
        // What the controller goes by, it looks up by its name.
        let is_looked_up = code.contains(&format!("const UNCLEAN: &str = \"{name}\""));
        assert!(is_field_read || is_looked_up, "{name}");
    }
}

fn read_code(folder: &Path, code: &mut String) {
    for entry in std::fs::read_dir(folder).expect("the code is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            read_code(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code.push_str(&std::fs::read_to_string(&path).expect("it can be read"));
        }
    }
}

#[test]
fn a_wait_to_connect_again_is_bounded_where_a_limit_is_set() {
    let wait = |settings: &[(&'static str, &'static str)]| {
        let mut config = ProducerConfig::default();
        config.set_all(settings.iter().copied()).expect("they are allowed");
        config.reconnect_backoff_ms
    };
    assert_eq!(wait(&[]), 50);
    assert_eq!(wait(&[("reconnect.backoff.ms", "5000")]), 5000);
    assert_eq!(wait(&[("reconnect.backoff.max.ms", "20")]), 20);
    let both = [("reconnect.backoff.ms", "5000"), ("reconnect.backoff.max.ms", "700")];
    assert_eq!(wait(&both), 700);
}

#[test]
fn the_defaults_are_kafkas() {
    let producer = ProducerConfig::default();
    assert_eq!(producer.acks, Acks::All);
    assert!(producer.enable_idempotence);
    assert_eq!(producer.linger_ms, 5);
    assert_eq!(producer.delivery_timeout_ms, 120_000);
    let consumer = ConsumerConfig::default();
    assert_eq!(consumer.auto_offset_reset, AutoOffsetReset::Latest);
    assert_eq!(consumer.isolation_level, IsolationLevel::ReadUncommitted);
    let broker = BrokerConfig::default();
    assert_eq!(broker.replica_lag_time_max_ms, 30_000);
    assert_eq!(broker.broker_session_timeout_ms, 9_000);
    let topic = TopicConfig::default();
    assert_eq!(topic.cleanup_policy, CleanupPolicy::DELETE);
    assert_eq!(topic.log_config(&broker), LogConfig::default());
    assert_eq!(topic.min_insync_replicas, 1);
}

fn topic(name: &str, text: &str) -> Result<TopicConfig, String> {
    let mut config = TopicConfig::default();
    config.set(name, text).map_err(|error| error.to_string())?;
    Ok(config)
}

#[test]
fn values_may_carry_units() {
    assert_eq!(
        topic("retention.ms", "10m").map(|config| config.retention_ms),
        Ok(600_000)
    );
    assert_eq!(
        topic("retention.ms", "7d").map(|config| config.retention_ms),
        Ok(604_800_000)
    );
    assert_eq!(topic("retention.ms", "-1").map(|config| config.retention_ms), Ok(-1));
    assert_eq!(
        topic("segment.bytes", "1KiB").map(|config| config.segment_bytes),
        Ok(1024)
    );
    assert_eq!(
        topic("cleanup.policy", "compact,delete").map(|config| config.cleanup_policy),
        Ok(CleanupPolicy {
            delete: true,
            compact: true
        })
    );
    let mut broker = BrokerConfig::default();
    assert_eq!(broker.set("leader.imbalance.check.interval.seconds", "5m"), Ok(()));
    assert_eq!(broker.leader_imbalance_check_interval_seconds, 300);
}

#[test]
fn what_is_not_taken_is_explained() {
    let refused = |name, text| topic(name, text).expect_err("it is not taken");
    assert_eq!(
        refused("retention.sm", "5"),
        "no topic config is called 'retention.sm'; the nearest is 'retention.ms'"
    );
    assert_eq!(
        refused("linger.ms", "5"),
        "no topic config is called 'linger.ms'; it is a producer config"
    );
    assert_eq!(
        refused("colour", "5"),
        "no topic config is called 'colour'; correct the name, or leave it out"
    );
    assert_eq!(
        refused("retention.ms", "soon"),
        "retention.ms=soon is not a value; \
         expected a duration or a number of ms in [-1,...,9223372036854775807]"
    );
    assert_eq!(
        refused("retention.ms", "500us"),
        "retention.ms=500us is not a whole number of ms; \
         expected a duration or a number of ms in [-1,...,9223372036854775807]"
    );
    assert_eq!(
        refused("segment.bytes", "0"),
        "segment.bytes=0 is out of range; expected a size or a number of bytes in [1,...,2147483647]"
    );
    assert_eq!(
        refused("segment.bytes", "4GiB"),
        "segment.bytes=4GiB is out of range; expected a size or a number of bytes in [1,...,2147483647]"
    );
    assert_eq!(
        refused("min.cleanable.dirty.ratio", "1.5"),
        "min.cleanable.dirty.ratio=1.5 is out of range; expected a number in [0,...,1]"
    );
    assert_eq!(
        refused("message.timestamp.type", "Now"),
        "message.timestamp.type=Now is out of range; expected one of [CreateTime, LogAppendTime]"
    );
    assert_eq!(
        refused("compression.type", "gzip"),
        "the topic config 'compression.type' has no effect in the model; leave it at its default"
    );
    assert_eq!(
        refused("preallocate", "maybe"),
        "preallocate=maybe is not a value; expected true or false"
    );
    assert!(topic("compression.type", "producer").is_ok());
}

#[test]
fn the_words_that_the_model_takes_are_named() {
    let refused = |name, value| {
        let mut config = ConsumerConfig::default();
        config
            .set_all([(name, value)])
            .expect_err("it is no such word")
            .to_string()
    };
    assert_eq!(
        refused("partition.assignment.strategy", "fair"),
        "partition.assignment.strategy=fair is not a value; expected some of range roundrobin sticky cooperative-sticky"
    );
    assert_eq!(
        refused("group.remote.assignor", "fair"),
        "group.remote.assignor=fair is not a value; expected one of range uniform"
    );
}

#[test]
fn idempotence_gives_way_only_when_nobody_asked_for_it() {
    let with = |settings: &[(&'static str, &'static str)]| {
        let mut config = ProducerConfig::default();
        match config.set_all(settings.iter().copied()) {
            Ok(()) => Ok(config.enable_idempotence),
            Err(error) => {
                assert_eq!(config, ProducerConfig::default(), "nothing has changed");
                Err(error.to_string())
            }
        }
    };
    assert_eq!(with(&[("acks", "-1")]), Ok(true));
    assert_eq!(with(&[("acks", "1")]), Ok(false));
    assert_eq!(with(&[("retries", "0")]), Ok(false));
    assert_eq!(
        with(&[("acks", "1"), ("enable.idempotence", "true")]),
        Err("enable.idempotence=true needs acks=all; set that, or enable.idempotence=false".to_string())
    );
    assert_eq!(
        with(&[("max.in.flight.requests.per.connection", "6")]),
        Err(
            "max.in.flight.requests.per.connection=6 is too many for an idempotent producer; \
             set at most 5, or enable.idempotence=false"
                .to_string()
        )
    );
    assert_eq!(
        with(&[
            ("max.in.flight.requests.per.connection", "6"),
            ("enable.idempotence", "false")
        ]),
        Ok(false)
    );
}

#[test]
fn a_delivery_has_time_for_lingering_and_a_request() {
    let mut config = ProducerConfig::default();
    assert_eq!(config.set("linger.ms", "120s"), Ok(()));
    assert_eq!(config.delivery_timeout_ms, 150_000);
    let error = config.set("delivery.timeout.ms", "60s").expect_err("too short");
    assert_eq!(
        error.to_string(),
        "delivery.timeout.ms=60000 is less than linger.ms + request.timeout.ms = 150000; \
         raise it, or lower one of those"
    );
    assert_eq!(config.delivery_timeout_ms, 150_000);
}

#[test]
fn a_topic_takes_from_the_broker_what_it_does_not_set() {
    let mut broker = BrokerConfig::default();
    assert_eq!(
        broker.set_all([
            ("log.retention.hours", "2"),
            ("log.segment.bytes", "500"),
            ("min.insync.replicas", "2"),
        ]),
        Ok(())
    );
    let mut topic = TopicConfig::default();
    assert_eq!(topic.set("segment.bytes", "300"), Ok(()));
    let there = topic.on(&broker).expect("nothing excludes anything");
    assert_eq!(
        (there.retention_ms, there.segment_bytes, there.min_insync_replicas),
        (7_200_000, 300, 2)
    );
    assert_eq!(broker.set("log.retention.ms", "60000"), Ok(()));
    let there = topic.on(&broker).expect("nothing excludes anything");
    assert_eq!(there.retention_ms, 60_000, "the finer unit comes first");
    assert_eq!(
        there.settings(),
        topic.settings(),
        "the broker's values are not the topic's own"
    );
}

#[test]
fn a_brokers_settings_must_fit_together() {
    let error = BrokerConfig::default()
        .set("replica.lag.time.max.ms", "100")
        .expect_err("too short");
    assert_eq!(
        error.to_string(),
        "replica.lag.time.max.ms=100 is less than replica.fetch.wait.max.ms=500; \
         raise it, or lower replica.fetch.wait.max.ms"
    );
}

#[test]
fn what_members_are_told_lies_within_its_bounds() {
    let refusal = |settings: &[(&str, &str)]| {
        let mut broker = BrokerConfig::default();
        let set = |(name, text): &(&str, &str)| broker.set(name, text).err();
        settings.iter().find_map(set).map(|error| error.to_string())
    };
    assert_eq!(
        refusal(&[("group.consumer.max.session.timeout.ms", "44000")]).as_deref(),
        Some(
            "group.consumer.min.session.timeout.ms=45000 is more than group.consumer.max.session.timeout.ms=44000; \
             lower it, or raise group.consumer.max.session.timeout.ms"
        )
    );
    assert_eq!(
        refusal(&[
            ("group.consumer.max.heartbeat.interval.ms", "60000"),
            ("group.consumer.heartbeat.interval.ms", "45000")
        ])
        .as_deref(),
        Some(
            "group.consumer.heartbeat.interval.ms=45000 is not less than group.consumer.session.timeout.ms=45000; \
             lower it, or raise group.consumer.session.timeout.ms"
        )
    );
    assert_eq!(refusal(&[("group.consumer.heartbeat.interval.ms", "15000")]), None);
}

#[test]
fn a_start_by_age_is_an_iso_duration() {
    let read = |text: &'static str| {
        let mut config = ConsumerConfig::default();
        config
            .set("auto.offset.reset", text)
            .map(|()| config.auto_offset_reset)
            .ok()
    };
    assert_eq!(
        read("by_duration:P1DT2H3M4.5S"),
        Some(AutoOffsetReset::ByDuration(93_784_500))
    );
    assert_eq!(read("by_duration:PT90M"), Some(AutoOffsetReset::ByDuration(5_400_000)));
    for wrong in [
        "by_duration:",
        "by_duration:P",
        "by_duration:PT",
        "by_duration:1h",
        "soon",
    ] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn durations_are_printed_as_they_are_read() {
    for text in ["250us", "500ms", "90s", "5m", "2h", "7d", "0s"] {
        assert_eq!(parse_duration(text).map(print_duration).as_deref(), Some(text));
    }
    for wrong in ["", "s", "5", "5 s", "-5s", "5S", "99999999999999999999d", "9999999999d"] {
        assert_eq!(parse_duration(wrong), None, "{wrong}");
    }
}
