//! An attack as a scenario, chapter by chapter: what is played, and what can be copied and played elsewhere.
//!
//! Partitions beyond the number of brokers have the same replicas in the same order as one before them, so that one of
//! each is played. Deliberately absent: expectations; a trial looks by itself.

use super::attack::{Attack, FaultKind, Strike};
use super::{Demand, Design};

/// Part of an attack. Attacks that begin with the same chapters share what comes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chapter {
    /// The cluster, the topic, and a first record in each partition, acknowledged.
    Opening,
    /// The brokers that are not among these fall behind them, while records are written.
    FallBehind(Vec<u32>),
    /// Faults at one moment, with records in flight; then time for the cluster to settle.
    Struck(Vec<Strike>),
    /// A new producer writes one record to each partition and tries once; a new consumer reads all.
    Probe,
    /// The brokers that were struck come back.
    Return(Vec<u32>),
}

/// The partitions that are played.
pub(super) fn played(design: Design, demand: &Demand) -> u32 {
    design.partitions.min(demand.brokers)
}

/// The chapters of an attack, up to where its outcome is looked at.
pub(super) fn chapters(attack: &Attack) -> Vec<Chapter> {
    let mut chapters = vec![Chapter::Opening];
    match attack {
        Attack::InTurn(strikes) => chapters.extend(strikes.iter().map(|strike| Chapter::Struck(vec![*strike]))),
        Attack::OthersBehind(strikes) => {
            chapters.push(Chapter::FallBehind(struck(attack)));
            chapters.push(Chapter::Struck(strikes.clone()));
        }
    }
    chapters.push(Chapter::Probe);
    chapters
}

/// The brokers that an attack strikes.
pub(super) fn struck(attack: &Attack) -> Vec<u32> {
    attack.strikes().iter().map(|strike| strike.broker).collect()
}

/// An attack as a whole scenario, with the return of the brokers at its end.
pub fn scenario(design: Design, demand: &Demand, attack: &Attack) -> String {
    let mut chapters = chapters(attack);
    if !attack.strikes().is_empty() {
        chapters.push(Chapter::Return(struck(attack)));
    }
    let lines = chapters.iter().flat_map(|chapter| lines(chapter, design, demand));
    lines.map(|line| line + "\n").collect()
}

/// The statements of a chapter.
pub(super) fn lines(chapter: &Chapter, design: Design, demand: &Demand) -> Vec<String> {
    let partitions = played(design, demand);
    let send = |producer: &str, value: &str| -> Vec<String> {
        let line = |partition| format!("send {producer} orders-{partition} value={value}");
        (0..partitions).map(line).collect()
    };
    let line = |text: &str| vec![text.to_string()];
    match chapter {
        Chapter::Opening => [
            line(&format!("brokers {}", demand.brokers)),
            line(&format!(
                "topic orders partitions={partitions} replicas={} min.insync.replicas={}",
                design.replicas, design.min_insync
            )),
            line("producer shop linger.ms=0 batch.size=0"),
            send("shop", "first"),
            line("run for 2s"),
        ]
        .concat(),
        // Longer than replica.lag.time.max.ms and the check that follows it: then they are out of sync, as far as they ever
        // will be.
        Chapter::FallBehind(ahead) => {
            let behind: Vec<u32> = (1..=demand.brokers).filter(|broker| !ahead.contains(broker)).collect();
            let cut = (!behind.is_empty()).then(|| format!("cut {} {}", list(ahead), list(&behind)));
            [cut.into_iter().collect(), send("shop", "behind"), line("run for 50s")].concat()
        }
        Chapter::Struck(strikes) => [
            send("shop", "flying"),
            line("run for 2ms"),
            strikes.iter().flat_map(strike).collect(),
            line("run for 25s"),
        ]
        .concat(),
        Chapter::Probe => {
            let all: Vec<String> = (0..partitions).map(|partition| format!("orders-{partition}")).collect();
            [
                line(
                    "producer probe retries=0 enable.idempotence=false linger.ms=0 batch.size=0 request.timeout.ms=5000 delivery.timeout.ms=10000",
                ),
                line(&format!("consumer reader assign={} auto.offset.reset=earliest", all.join(","))),
                send("probe", "after"),
                line("run for 12s"),
            ]
            .concat()
        }
        Chapter::Return(brokers) => vec![
            "heal all".to_string(),
            format!("start {}", list(brokers)),
            "run for 60s".to_string(),
        ],
    }
}

fn list(brokers: &[u32]) -> String {
    brokers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn strike(strike: &Strike) -> Vec<String> {
    let broker = strike.broker;
    match strike.kind {
        FaultKind::Kill => vec![format!("kill {broker}")],
        FaultKind::PowerOff => vec![format!("power-off {broker}")],
        FaultKind::Wipe => vec![format!("kill {broker}"), format!("wipe {broker}")],
    }
}

/// A group's consumers on a topic with so many partitions.
pub(super) fn group(partitions: u32, consumers: u32) -> Vec<String> {
    let consumer = |number| format!("consumer c{number} group=readers topics=orders");
    let begin = ["brokers 1".to_string(), format!("topic orders partitions={partitions}")];
    let consumers = (1..=consumers).map(consumer);
    begin
        .into_iter()
        .chain(consumers)
        .chain(["run for 30s".to_string()])
        .collect()
}
