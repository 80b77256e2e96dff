//! Counts of events: by rule, by what producers were told, and the broker's metrics that only events can tell.

use crate::cluster::event::{Event, Outcome, ReadError, Tag, What};
use crate::cluster::ids::{BrokerId, ClientId, TopicPartition};
use crate::cluster::rules::{ALL, Rule};
use crate::log::Errors;
use crate::sorted::SortedMap;

/// How many records were handed over, and what their senders were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Handed over so far.
    pub handed: u32,
    /// Acknowledged.
    pub acked: u32,
    /// Sent with `acks=0`: nothing more will be said.
    pub sent: u32,
    /// Failed.
    pub failed: u32,
}

impl Tally {
    /// Handed over and not decided.
    pub const fn pending(self) -> u32 {
        self.handed.saturating_sub(self.decided())
    }

    /// Those of which nothing more will be said.
    pub const fn decided(self) -> u32 {
        self.acked + self.sent + self.failed
    }
}

/// Metrics that count events. Those that describe the present are read off a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// `IsrShrinksPerSec`: ISR shrinks that a leader asked for and got. A fenced broker leaves without counting.
    IsrShrinks,
    /// `IsrExpandsPerSec`.
    IsrExpands,
    /// `UncleanLeaderElectionsPerSec`, the controller's; elections of a last known leader count too.
    UncleanElections,
}

/// What an operator's act was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The act.
    pub act: &'static str,
    /// The error, if it was refused.
    pub error: Option<Errors>,
}

#[derive(Clone, Debug)]
pub(super) struct Counters {
    by_rule: Vec<u32>,
    clients: SortedMap<ClientId, Tally>,
    partitions: SortedMap<(ClientId, TopicPartition), Tally>,
    metrics: SortedMap<(Metric, Option<BrokerId>), u32>,
    /// The ISR that a leader has asked for and heard no refusal of.
    proposed: SortedMap<TopicPartition, (BrokerId, Vec<BrokerId>)>,
    errors: SortedMap<ClientId, ReadError>,
    answer: Option<Answer>,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            by_rule: vec![0; ALL.len()],
            clients: SortedMap::new(),
            partitions: SortedMap::new(),
            metrics: SortedMap::new(),
            proposed: SortedMap::new(),
            errors: SortedMap::new(),
            answer: None,
        }
    }
}

impl Counters {
    pub fn note(&mut self, event: &Event) {
        if let (false, Some(count)) = (
            matches!(event.what, What::Nothing { .. }),
            self.by_rule.get_mut(event.rule as usize),
        ) {
            *count += 1;
        }
        match &event.what {
            What::IsrProposed {
                broker, partition, to, ..
            } => {
                self.proposed.insert(*partition, (*broker, to.clone()));
            }
            What::IsrRefused { partition, .. } => {
                self.proposed.remove(partition);
            }
            What::IsrChanged { partition, from, to } => self.isr_changed(*partition, from, to),
            What::LeaderElected { to: Some(_), .. }
                if matches!(event.rule, Rule::ElectUnclean | Rule::ElectLastKnown) =>
            {
                self.count(Metric::UncleanElections, None);
            }
            What::ConsumerError { client, error, .. } => {
                self.errors.insert(*client, *error);
            }
            What::Operator { act, answer } => self.answer = Some(Answer { act, error: *answer }),
            _ => {}
        }
    }

    /// A change of the ISR counts for the leader that asked for exactly this one.
    fn isr_changed(&mut self, partition: TopicPartition, from: &[BrokerId], to: &[BrokerId]) {
        let Some((broker, wanted)) = self.proposed.remove(&partition) else {
            return;
        };
        if wanted.len() != to.len() || !wanted.iter().all(|member| to.contains(member)) {
            return;
        }
        if from.iter().any(|member| !to.contains(member)) {
            self.count(Metric::IsrShrinks, Some(broker));
        }
        if to.iter().any(|member| !from.contains(member)) {
            self.count(Metric::IsrExpands, Some(broker));
        }
    }

    fn count(&mut self, metric: Metric, broker: Option<BrokerId>) {
        *self.metrics.entry((metric, broker)).or_default() += 1;
    }

    pub fn handed(&mut self, tag: Tag) {
        self.clients.entry(tag.client).or_default().handed += 1;
    }

    /// The partition of a record became known.
    pub fn placed(&mut self, tag: Tag, partition: TopicPartition) {
        self.partitions.entry((tag.client, partition)).or_default().handed += 1;
    }

    pub fn told(&mut self, tag: Tag, partition: Option<TopicPartition>, outcome: Outcome) {
        let count = |tally: &mut Tally| match outcome {
            Outcome::Acked(_) => tally.acked += 1,
            Outcome::Sent => tally.sent += 1,
            Outcome::Failed(_) => tally.failed += 1,
        };
        count(self.clients.entry(tag.client).or_default());
        if let Some(partition) = partition {
            count(self.partitions.entry((tag.client, partition)).or_default());
        }
    }

    pub fn tally(&self, client: ClientId) -> Tally {
        self.clients.get(&client).copied().unwrap_or_default()
    }

    pub fn tally_of(&self, client: ClientId, partition: TopicPartition) -> Tally {
        self.partitions.get(&(client, partition)).copied().unwrap_or_default()
    }

    pub fn events(&self, rule: Rule) -> u32 {
        self.by_rule.get(rule as usize).copied().unwrap_or_default()
    }

    pub fn metric(&self, metric: Metric, broker: Option<BrokerId>) -> u32 {
        let counted = self.metrics.iter().filter(|((kind, _), _)| *kind == metric);
        match broker {
            Some(_) => counted
                .filter(|((_, of), _)| *of == broker)
                .map(|(_, count)| count)
                .sum(),
            None => counted.map(|(_, count)| count).sum(),
        }
    }

    pub fn error(&self, client: ClientId) -> Option<ReadError> {
        self.errors.get(&client).copied()
    }

    pub fn answer(&self) -> Option<Answer> {
        self.answer
    }
}
