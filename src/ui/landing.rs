//! The landing's script: the first scene of its lesson as statements, so that the page needs no parser to begin.
//!
//! A test holds it against the lesson's file. The shop sells on without end, since the person and not the script ends
//! the scene.

use crate::scenario::ast::{Act, Data, Destination, Layout, Line, Micros, Node, Script, Sending, Setting, Statement};
use crate::ui::view::knobs;

/// How long the shop goes on selling: as good as for ever.
const RECORDS: u64 = 400;

/// How long it has sold when the page opens. The lesson stops sooner, while all that it asks for is in view.
const SOLD: Micros = Micros(600_000);

const TOPIC: &str = "payments";
const SHOP: &str = "shop";

/// The script, with what was set differently from the file.
pub fn script(changes: &[(String, String)]) -> Script {
    let mut statements = first_scene();
    for statement in &mut statements {
        match statement {
            Statement::Act(Act::Send(send)) if send.every.is_some() => send.count = Some(RECORDS),
            Statement::RunFor(time) => *time = SOLD,
            Statement::Brokers { configs, .. } => {
                change(configs, changes, |name| {
                    !knobs::is_producers(name) && !knobs::is_topics(name)
                });
            }
            Statement::Producer { configs, .. } => change(configs, changes, knobs::is_producers),
            Statement::Topic { configs, .. } => change(configs, changes, knobs::is_topics),
            _ => {}
        }
    }
    let lines = (1..)
        .zip(statements)
        .map(|(number, statement)| Line::new(number, statement));
    Script {
        lines: lines.collect(),
        trace: None,
    }
}

fn change(configs: &mut Vec<Setting>, changes: &[(String, String)], concerns: fn(&str) -> bool) {
    for (name, value) in changes.iter().filter(|(name, _)| concerns(name)) {
        configs.retain(|setting| setting.name != *name);
        configs.push(Setting {
            name: name.clone(),
            value: value.clone(),
        });
    }
}

fn first_scene() -> Vec<Statement> {
    vec![
        Statement::Brokers {
            count: 3,
            configs: settings(&[("replica.fetch.max.bytes", "1"), ("replica.lag.time.max.ms", "600000")]),
        },
        Statement::Topic {
            name: TOPIC.into(),
            layout: Layout::Counts {
                partitions: None,
                replicas: Some(3),
            },
            configs: Vec::new(),
        },
        link(2, 60_000),
        link(3, 62_000),
        Statement::Producer {
            name: SHOP.into(),
            configs: settings(&[("acks", "1"), ("linger.ms", "0"), ("batch.size", "0")]),
        },
        send("early payment {n}", 3, None),
        send("payment {n}", 40, Some(Micros(120_000))),
        Statement::RunFor(Micros(240_000)),
    ]
}

fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
    let setting = |(name, value): &(&str, &str)| Setting {
        name: (*name).into(),
        value: (*value).into(),
    };
    pairs.iter().map(setting).collect()
}

fn link(to: u16, latency: i64) -> Statement {
    Statement::SetLink {
        a: Node::Broker(1),
        b: Node::Broker(to),
        latency: Micros(latency),
    }
}

fn send(value: &str, count: u64, every: Option<Micros>) -> Statement {
    Statement::Act(Act::Send(Sending {
        producer: SHOP.into(),
        to: Destination::Topic(TOPIC.into()),
        key: None,
        value: Some(Data::Text(value.into())),
        timestamp: None,
        headers: Vec::new(),
        count: Some(count),
        every,
        broker: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::library;

    #[test]
    fn it_is_the_first_scene_of_the_file() {
        let lesson = library::LIBRARY[0].lesson().expect("the file is well-formed");
        let first = lesson.stops[0].done;
        let file = lesson.script(0).lines;
        let file: Vec<&Statement> = file[..first].iter().map(|line| &*line.statement).collect();
        assert_eq!(first_scene().iter().collect::<Vec<_>>(), file);
    }
}
