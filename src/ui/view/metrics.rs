//! What an operator would watch: the metrics of a real cluster, as they were before the latest marked moment and are now.
//!
//! The values are those that `metric NAME` of the scenario language gives; nothing is counted here. Deliberately absent:
//! rates. A broker reports `IsrShrinksPerSec` as a meter; a run of a few virtual seconds has a count.

use std::rc::Rc;

use crate::cluster::World;
use crate::history::{History, Mark};
use crate::ledger::Ledger;
use crate::ledger::invariants::Verdict;
use crate::scenario::ast::{Metric, Subject, Value};
use crate::scenario::look::look;
use crate::ui::session::Session;
use crate::ui::view::panels::{Chip, Tone};

/// One metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricRow {
    /// The name under which a broker reports it.
    pub name: Rc<str>,
    /// What it counts.
    pub about: &'static str,
    /// What it was; nothing where there was nobody to report it.
    pub was: Option<i64>,
    /// What it is.
    pub now: Option<i64>,
    /// Whether more of it is worse.
    pub is_bad: bool,
}

/// One invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantRow {
    /// Its name, in the public specifications where they have one.
    pub name: &'static str,
    /// What it says.
    pub sentence: &'static str,
    /// Whether it holds at this step.
    pub state: Chip,
    /// What breaks it, or what broke it first, and since when.
    pub why: Rc<str>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricTable {
    /// The step that `was` is of.
    pub since: usize,
    /// The cluster's first, then how far each follower of the partition in view lags.
    pub rows: Vec<MetricRow>,
}

const METRICS: [(Metric, &str, bool, &str); 7] = [
    (
        Metric::Offline,
        "OfflinePartitionsCount",
        true,
        "Partitions without a leader: nobody can write or read.",
    ),
    (
        Metric::UnderMinIsr,
        "UnderMinIsrPartitionCount",
        true,
        "Partitions with fewer in-sync replicas than min.insync.replicas: acks=all is refused.",
    ),
    (
        Metric::AtMinIsr,
        "AtMinIsrPartitionCount",
        true,
        "Partitions with exactly that many: one more loss and acks=all is refused.",
    ),
    (
        Metric::UnderReplicated,
        "UnderReplicatedPartitions",
        true,
        "Partitions of which a replica is not in sync.",
    ),
    (
        Metric::IsrShrinks,
        "IsrShrinks",
        true,
        "Times that a leader dropped a follower from the in-sync replicas.",
    ),
    (
        Metric::IsrExpands,
        "IsrExpands",
        false,
        "Times that a leader took one back.",
    ),
    (
        Metric::UncleanElections,
        "UncleanLeaderElections",
        true,
        "Elections of a leader that may lack acknowledged records.",
    ),
];

/// The metrics of a run at its present.
pub fn table(session: &Session) -> MetricTable {
    let history = session.playback().history();
    let past = before_latest_mark(history, session.position() - session.step_number());
    let now = (history.world(), history.ledger());
    let was = (past.world(), past.ledger());
    let value = |metric, (world, ledger): (&World, &Ledger)| match look(&Subject::Metric(metric, None), world, ledger) {
        Value::Number(number) => number,
        _ => 0,
    };
    let mut rows: Vec<MetricRow> = METRICS
        .iter()
        .map(|&(metric, name, is_bad, about)| MetricRow {
            name: name.into(),
            about,
            was: Some(value(metric, was)),
            now: Some(value(metric, now)),
            is_bad,
        })
        .collect();
    let partition = session.partition();
    let image = history.world().image();
    let replicas = image.partition(partition).map_or(&[][..], |state| &state.replicas);
    let lag = |world: &World, broker| {
        let leader = world.image().leader(partition).filter(|leader| *leader != broker)?;
        let end = |id| Some(world.broker(id)?.replica(partition)?.log().log_end_offset());
        world.broker(broker).filter(|follower| follower.is_running())?;
        Some((end(leader)? - end(broker).unwrap_or(0)).max(0))
    };
    let leader = image.leader(partition);
    let name = session.look().names.partition(partition);
    for &broker in replicas.iter().filter(|broker| Some(**broker) != leader) {
        rows.push(MetricRow {
            name: format!("ConsumerLag of broker {broker}, {name}").into(),
            about: "Records that this follower's log lacks of the leader's (FetcherLagMetrics).",
            was: lag(was.0, broker),
            now: lag(now.0, broker),
            is_bad: true,
        });
    }
    MetricTable {
        since: session.number_of(past.position()),
        rows,
    }
}

/// Every invariant as it stands at a run's present.
pub fn invariants(session: &Session) -> Vec<InvariantRow> {
    let ledger = session.playback().history().ledger();
    let row = |verdict: Verdict<'_>| {
        let first = verdict.first.map(|first| {
            let step = usize::try_from(first.when.step).map_or(0, |step| session.number_of(step));
            (step, &*first.what)
        });
        let (state, why) = match (verdict.now, first) {
            (Some(now), first) => (
                Chip::new(Tone::Bad, "broken"),
                format!("since step {}: {now}", first.map_or(0, |(step, _)| step)),
            ),
            (None, Some((step, what))) => (
                Chip::new(Tone::Warn, "holds again"),
                format!("was broken at step {step}: {what}"),
            ),
            (None, None) => (Chip::new(Tone::Ok, "holds"), String::new()),
        };
        InvariantRow {
            name: verdict.name,
            sentence: verdict.sentence,
            state,
            why: why.into(),
        }
    };
    ledger.verdicts().map(row).collect()
}

/// The run as it was before the latest thing worth a mark; acknowledgements are none here.
fn before_latest_mark(history: &History, origin: usize) -> History {
    let mut past = history.clone();
    let counts = |mark: &Mark| !matches!(mark, Mark::Acknowledged(_));
    let present = history.position();
    let is_marked = |position| history.marks_at(position).iter().any(counts);
    let latest = match is_marked(present) {
        true => Some(present),
        false => history.previous_mark(counts),
    };
    past.seek(latest.map_or(origin, |position| position.saturating_sub(1)).max(origin));
    past
}
