//! What a script leaves to chance, and the ways it can go.
//!
//! A recording must be one of these ways. They are tried one after another from where the replay differed, and what
//! brings it further is kept and told:
//!
//! * whether a new data directory is reported before its broker is unfenced;
//! * which of several brokers that die, or start, in one moment comes first;
//! * how long the recorder's looks took;
//! * whose session a controller ends that was frozen for longer than one, before it has heard anybody;
//! * whether the admin client asks frozen brokers alone;
//! * how far the periodic balancing of leaders was from its next turn;
//! * whether a consumer is handed records in the very poll that brings its share, before the recorder has paused its
//!   partitions: they are lost for the script.

use super::step::{Header, text};
use crate::cluster::input::ReportDirectory;
use crate::cluster::settings::Micros;
use crate::conform::Recording;
use serde_json::Value;

/// So long nothing has to change before a state is taken: the recorder's 1.3 s, and the time that its looks at all brokers
/// and their files take, which is longer on a busy machine. What stands first is tried first.
const QUIETS: [Micros; 4] = [2_000_000, 1_400_000, 1_700_000, 2_500_000];
/// Steps of a wait before a turn of the balancing.
const HALF_A_SECOND: Micros = 500_000;
/// So many orders three brokers have.
const ORDERS: usize = 6;
/// How many steps before the one that differs a balancing can be what made the difference.
const BACK: usize = 3;

/// Steps in which it shows that a consumer was handed records too early.
const EARLY: [&str; 2] = ["consume", "position"];
/// Of so many partitions of a consumer at most.
const MOST_PARTITIONS: usize = 4;

/// An order of brokers, by its number; 0 is the usual one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Order(usize);

impl Order {
    fn unusual() -> impl Iterator<Item = Order> {
        (1..ORDERS).map(Order)
    }

    /// Whether it is the one in which they are named.
    pub fn is_usual(self) -> bool {
        self.0 == 0
    }

    /// These in this order.
    pub fn of<T: Clone>(self, brokers: &[T]) -> Vec<T> {
        let (mut left, mut number, mut ordered) = (brokers.to_vec(), self.0, Vec::new());
        while !left.is_empty() {
            let next = number % left.len();
            number /= left.len();
            ordered.push(left.remove(next));
        }
        ordered
    }
}

/// One way that chance can go in a whole recording.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chance {
    /// When a new data directory is reported.
    pub directory: ReportDirectory,
    /// The order in which brokers die that are killed in one moment.
    pub deaths: Order,
    /// The order in which brokers are there again that start in one moment.
    pub starts: Order,
    /// So long nothing has to change before a state is taken.
    pub quiet: Micros,
    /// Whose session is over for a controller that was frozen for longer than that.
    pub stale: Option<u16>,
    /// Whether the admin client asks frozen brokers, if there are any, until its patience ends.
    pub asks_frozen: bool,
    /// What passes before a step, by the step's number.
    waits: Vec<(usize, Micros)>,
    /// Before which step its consumer has been handed records too early, and of which of the partitions that it reads.
    early: Vec<(usize, Vec<usize>)>,
}

impl Default for Chance {
    fn default() -> Self {
        let [quiet, ..] = QUIETS;
        Chance {
            quiet,
            directory: ReportDirectory::First,
            deaths: Order::default(),
            starts: Order::default(),
            stale: None,
            asks_frozen: false,
            waits: Vec::new(),
            early: Vec::new(),
        }
    }
}

impl Chance {
    /// What passes before a step.
    pub fn wait_before(&self, step: usize) -> Micros {
        let own = self.waits.iter().filter(|(at, _)| *at == step);
        own.map(|(_, wait)| wait).sum()
    }

    /// Which of its partitions a step's consumer has been handed records of too early.
    pub fn early_before(&self, step: usize) -> &[usize] {
        let own = self.early.iter().find(|(at, _)| *at == step);
        own.map_or(&[], |(_, partitions)| partitions)
    }

    /// What came out otherwise than it mostly does, a line for each thing.
    pub fn told(&self) -> Vec<String> {
        let usual = Chance::default();
        let mut all = Vec::new();
        if self.directory != usual.directory {
            all.push("a new data directory was reported late".into());
        }
        if !self.deaths.is_usual() {
            all.push("brokers died in another order".into());
        }
        if !self.starts.is_usual() {
            all.push("brokers were there again in another order".into());
        }
        if self.quiet != usual.quiet {
            all.push(format!("the recorder's looks ended after {} ms", self.quiet / 1_000));
        }
        if let Some(broker) = self.stale {
            all.push(format!(
                "the session of broker {broker} was over for a controller that had been frozen"
            ));
        }
        if self.asks_frozen {
            all.push("the admin client asked frozen brokers until its patience ended".into());
        }
        all.extend(self.waits.iter().map(|(step, wait)| {
            let earlier = wait / 1_000;
            format!("leaders were balanced {earlier} ms earlier at step {step}")
        }));
        all.extend(
            self.early
                .iter()
                .map(|(step, _)| format!("before step {step} a consumer was handed records too early")),
        );
        all
    }

    /// The other ways that differ from this one in one thing, where the replay of it differs at this step.
    pub fn others(&self, recording: &Recording, header: &Header, step: usize) -> Vec<Chance> {
        let with = |change: &dyn Fn(&mut Chance)| {
            let mut other = self.clone();
            change(&mut other);
            other
        };
        let mut all = Vec::new();
        // Nothing else is as likely to make these differ, and there are many ways.
        let name = steps(recording).nth(step).unwrap_or_default();
        if EARLY.contains(&name) && self.early_before(step).is_empty() {
            all.extend(some_of(MOST_PARTITIONS).map(|some| with(&|other| other.early.push((step, some.clone())))));
        }
        if self.directory == ReportDirectory::First && steps(recording).any(|name| name == "wipe") {
            all.push(with(&|other| other.directory = ReportDirectory::Late));
        }
        if self.deaths.is_usual() && steps(recording).any(|name| name == "killall") {
            all.extend(Order::unusual().map(|order| with(&|other| other.deaths = order)));
        }
        if self.starts.is_usual() && steps(recording).any(|name| name == "startall") {
            all.extend(Order::unusual().map(|order| with(&|other| other.starts = order)));
        }
        if self.quiet == QUIETS[0] {
            all.extend(QUIETS[1..].iter().map(|&quiet| with(&|other| other.quiet = quiet)));
        }
        if self.stale.is_none() && resumes_controller(recording) {
            let brokers = header.brokers.iter();
            all.extend(brokers.map(|&id| with(&|other| other.stale = Some(id))));
        }
        if !self.asks_frozen && steps(recording).any(|name| name == "pause") {
            all.push(with(&|other| other.asks_frozen = true));
        }
        let turns = balancing_interval(header) / HALF_A_SECOND;
        for at in (step.saturating_sub(BACK)..=step).rev() {
            let waits = (1..turns).map(|turn| (at, turn * HALF_A_SECOND));
            all.extend(waits.map(|wait| with(&|other| other.waits.push(wait))));
        }
        all
    }
}

/// One or two of so many.
fn some_of(count: usize) -> impl Iterator<Item = Vec<usize>> {
    let ones = (0..count).map(|one| vec![one]);
    let twos = (0..count).flat_map(move |one| (one + 1..count).map(move |other| vec![one, other]));
    ones.chain(twos)
}

/// What the steps of a recording do.
fn steps(recording: &Recording) -> impl Iterator<Item = &str> {
    let names = recording.lines.iter().filter_map(|line| line.pointer("/step/do"));
    names.filter_map(Value::as_str)
}

/// Whether the controller is frozen for a while.
fn resumes_controller(recording: &Recording) -> bool {
    let mut steps = recording.lines.iter().filter_map(|line| line.get("step"));
    steps.any(|step| step["do"] == "resume" && step["b"] == "controller")
}

/// How often leaders are balanced, if they are.
fn balancing_interval(header: &Header) -> Micros {
    let timing = |name: &str| header.timings.get(name).map(text);
    if timing("auto.leader.rebalance.enable").as_deref() != Some("true") {
        return 0;
    }
    let seconds = timing("leader.imbalance.check.interval.seconds").and_then(|text| text.parse::<Micros>().ok());
    seconds.map_or(0, |seconds| seconds.min(10) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_has_its_number() {
        let orders: Vec<Vec<u16>> = (0..ORDERS).map(|order| Order(order).of(&[1, 2, 3])).collect();
        let expected = [[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2], [2, 3, 1], [3, 2, 1]];
        assert_eq!(orders, expected);
    }
}
