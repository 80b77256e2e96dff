//! Which events can change the value of a subject, so that one can be told which did so last.
//!
//! For each subject the things that its value rests on, and of the events about each of them those that count. An event
//! that only names a partition, such as a high watermark that moves, says nothing about that partition's ISR.
//!
//! Deliberately absent: keeping events ([`super::super::touch`]).

use super::record;
use crate::cluster::World;
use crate::cluster::event::{AppendedAs, BrokerState, Event, Outcome, What};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, TopicPartition};
use crate::cluster::rules::Rule;
use crate::ledger::Ledger;
use crate::scenario::ast::{
    Act, CountFact, GroupFact, Metric, Partition, PartitionFact, Process, RecordFact, ReplicaFact, SegmentFact,
    Statement, Subject,
};
use crate::scenario::touch::{Counts, Thing, Touches};
use crate::scenario::translate;

/// The last event that touched a subject.
pub(in crate::scenario) fn last_event<'a>(
    subject: &Subject,
    touches: &'a Touches,
    world: &World,
    ledger: &Ledger,
) -> Option<&'a Event> {
    if let Subject::Invariant(name) = subject {
        return touches.broke(name);
    }
    let mut places = Places {
        world,
        ledger,
        changes: Vec::new(),
        begins: Vec::new(),
    };
    places.of(subject);
    let begins = || places.begins.iter().find_map(|place| touches.last([place]));
    touches.last(&places.changes).or_else(begins)
}

/// Where to look for the event.
struct Places<'a> {
    world: &'a World,
    ledger: &'a Ledger,
    /// What a value rests on, with the events that change it.
    changes: Vec<(Thing, Counts)>,
    /// What a value that nothing has changed began with: the first of these that is there.
    begins: Vec<(Thing, Counts)>,
}

impl Places<'_> {
    fn of(&mut self, subject: &Subject) {
        match subject {
            Subject::Partition(fact, at) => self.partition(*fact, at),
            Subject::Replica(fact, at) => {
                self.replica(&at.partition, at.broker, of_replica(*fact));
                if *fact == ReplicaFact::Hw {
                    self.changed(Thing::Broker(BrokerId(at.broker)), went_down);
                }
            }
            Subject::Segment(SegmentFact::Index | SegmentFact::TimeIndex, at, _)
            | Subject::Lookup(at, _)
            | Subject::FileSize(at, _) => self.replica(&at.partition, at.broker, files),
            Subject::OffsetFor(at, _) => {
                let Some(at) = self.known(at) else { return };
                self.leader(at);
                self.leaders_log(at, |event| content(event) || moves_hw(event));
            }
            Subject::State(broker) => self.changed(Thing::Broker(BrokerId(*broker)), state),
            Subject::Record(fact, name) => {
                if let Some(tag) = record::tag(name, self.world) {
                    self.record(*fact, tag);
                }
            }
            Subject::Count(fact, producer, at) => {
                let counts: Counts = match fact {
                    CountFact::Acked => acknowledged,
                    CountFact::Failed => |event| matches!(told(event), Some(Outcome::Failed(_))),
                    CountFact::Pending => |event| handed(event) || told(event).is_some(),
                };
                self.client(producer, at.as_ref(), counts);
            }
            Subject::Read(consumer, at) => {
                self.client(consumer, at.as_ref(), |event| matches!(event.what, What::Read { .. }));
            }
            Subject::Error(consumer) => {
                self.client(consumer, None, |event| matches!(event.what, What::ConsumerError { .. }));
            }
            Subject::Position(consumer, at) => {
                self.client(consumer, Some(at), |event| {
                    matches!(event.what, What::Read { .. } | What::Positioned { .. }) || share(event)
                });
                self.client(consumer, None, process);
            }
            Subject::Assignment(consumer) => self.client(consumer, None, |event| share(event) || process(event)),
            Subject::Group(fact, name, at) => self.group(*fact, name, at),
            Subject::Members(name) => {
                let Some(group) = self.world.settings().group_named(name) else {
                    return;
                };
                self.changed(Thing::Group(group), |event| {
                    matches!(event.what, What::MemberJoined { .. } | What::MemberLeft { .. })
                });
                self.coordinator(group);
            }
            _ => self.of_the_run(subject),
        }
    }

    fn of_the_run(&mut self, subject: &Subject) {
        match subject {
            Subject::LostInAll => {
                self.changed(Thing::Run, |event| acknowledged(event) || elects(event));
                let all: Vec<TopicPartition> = self.world.image().partitions.keys().copied().collect();
                all.into_iter().for_each(|at| self.leaders_log(at, content));
            }
            Subject::Answer => self.changed(Thing::Run, |event| matches!(event.what, What::Operator { .. })),
            Subject::Metric(metric, _) => self.changed(Thing::Run, of_metric(*metric)),
            Subject::Time => self.changed(Thing::Run, |event| matches!(event.what, What::Step(_))),
            Subject::InFlight => self.changed(Thing::Run, |event| {
                matches!(
                    event.what,
                    What::Step(_) | What::MessageLost { .. } | What::ProduceSent { .. } | What::CommitSent { .. }
                )
            }),
            Subject::Events(rule) => {
                if let Some(rule) = Rule::from_id(rule) {
                    self.changed(Thing::Rule(rule), |_| true);
                }
            }
            Subject::Refused(statement) => self.statement(statement),
            _ => {}
        }
    }

    fn changed(&mut self, thing: Thing, counts: Counts) {
        self.changes.push((thing, counts));
    }

    fn begun(&mut self, thing: Thing, counts: Counts) {
        self.begins.push((thing, counts));
    }

    fn known(&self, at: &Partition) -> Option<TopicPartition> {
        translate::partition(at, self.world).ok()
    }

    fn known_client(&self, name: &str) -> Option<ClientId> {
        translate::client(name, self.world).ok()
    }

    fn partition(&mut self, fact: PartitionFact, at: &Partition) {
        let Some(at) = self.known(at) else { return };
        let counts: Counts = match fact {
            PartitionFact::Leader | PartitionFact::Epoch => elects,
            PartitionFact::PartitionEpoch => |event| registry(event) || elects(event),
            PartitionFact::Replicas => |event| matches!(event.what, What::Reassigned { .. }),
            PartitionFact::Isr => |event| matches!(event.what, What::IsrChanged { .. }),
            PartitionFact::Elr => |event| matches!(event.what, What::ElrChanged { .. }),
            PartitionFact::Lost | PartitionFact::Unacked => |event| acknowledged(event) || elects(event),
            PartitionFact::Duplicates => elects,
        };
        self.changed(Thing::Partition(at), counts);
        self.changed(Thing::Partition(at), deleted);
        self.begun(Thing::Partition(at), created);
        // Nothing else tells of a partition that was added later.
        self.begun(Thing::Partition(at), takes_role);
        if matches!(
            fact,
            PartitionFact::Lost | PartitionFact::Unacked | PartitionFact::Duplicates
        ) {
            self.leaders_log(at, content);
        }
    }

    fn replica(&mut self, at: &Partition, broker: u16, counts: Counts) {
        let Some(at) = self.known(at) else { return };
        let broker = BrokerId(broker);
        self.changed(Thing::Replica(at, broker), counts);
        self.changed(Thing::Partition(at), deleted);
        self.changed(Thing::Broker(broker), |event| matches!(event.what, What::Wiped { .. }));
        self.begun(Thing::Replica(at, broker), takes_role);
        self.begun(Thing::Partition(at), created);
    }

    /// Who leads a partition.
    fn leader(&mut self, at: TopicPartition) {
        self.changed(Thing::Partition(at), |event| elects(event) || deleted(event));
    }

    /// The log of the leader, or of the last one.
    fn leaders_log(&mut self, at: TopicPartition, counts: Counts) {
        let leader = self.world.image().leader(at).or_else(|| self.ledger.last_leader(at));
        if let Some(leader) = leader {
            self.changed(Thing::Replica(at, leader), counts);
        }
    }

    fn record(&mut self, fact: RecordFact, tag: crate::cluster::Tag) {
        let record = Thing::Record(tag);
        self.begun(record, |event| matches!(event.what, What::Handed { .. }));
        let counts: Counts = match fact {
            RecordFact::Result | RecordFact::Latency => |event| told(event).is_some(),
            RecordFact::Partition => |event| {
                matches!(
                    event.what,
                    What::Handed {
                        topic_partition: Some(_),
                        ..
                    } | What::Accumulated { .. }
                )
            },
            RecordFact::Offset => {
                |event| acknowledged(event) || (matches!(event.what, What::Appended { .. }) && !copied(event))
            }
            RecordFact::Attempts => |event| matches!(event.what, What::ProduceSent { .. }),
            RecordFact::Fate | RecordFact::Distance => {
                |event| !matches!(event.what, What::Read { .. }) && !copied(event) && !flushes(event)
            }
            RecordFact::Custody => |event| content(event) || flushes(event),
        };
        self.changed(record, counts);
        let story = self.ledger.story(tag);
        // Whether it is committed does not matter any more once it is acknowledged.
        let is_acknowledged = story.is_some_and(|story| story.acknowledged().is_some());
        let at = story.and_then(|story| story.partition);
        let Some(at) = at.filter(|_| matches!(fact, RecordFact::Fate | RecordFact::Custody)) else {
            return;
        };
        self.changed(Thing::Partition(at), deleted);
        if fact == RecordFact::Fate {
            self.leader(at);
            self.leaders_log(at, if is_acknowledged { remade } else { moves_hw });
            return;
        }
        let replicas = self.world.image().partition(at).map(|state| state.replicas.clone());
        for broker in replicas.into_iter().flatten() {
            self.changed(Thing::Broker(broker), |event| went_down(event) || came_up(event));
        }
    }

    /// A fact about a client, of one partition or of all.
    fn client(&mut self, name: &str, at: Option<&Partition>, counts: Counts) {
        let Some(client) = self.known_client(name) else { return };
        let thing = match at.map(|at| self.known(at)) {
            None => Thing::Client(client),
            Some(Some(at)) => Thing::ClientAt(client, at),
            Some(None) => return,
        };
        self.changed(thing, counts);
        self.begun(Thing::Client(client), process);
    }

    fn group(&mut self, fact: GroupFact, name: &str, at: &Partition) {
        let (Some(group), Some(at)) = (self.world.settings().group_named(name), self.known(at)) else {
            return;
        };
        self.changed(Thing::GroupAt(group, at), |event| {
            matches!(event.what, What::OffsetsCommitted { .. })
        });
        self.changed(Thing::Group(group), |event| {
            matches!(event.what, What::OffsetsExpired { .. })
        });
        self.changed(Thing::Partition(at), deleted);
        self.coordinator(group);
        match fact {
            GroupFact::Committed => return,
            GroupFact::Lag => self.leaders_log(at, moves_hw),
            GroupFact::Readable => self.leaders_log(at, |event| content(event) || moves_hw(event)),
        }
        self.leader(at);
    }

    /// Who coordinates a group: what is known of it is what its coordinator says.
    fn coordinator(&mut self, group: GroupId) {
        if let Some(at) = self.world.offsets_partition(group) {
            self.leader(at);
            self.changed(Thing::Partition(at), |event| {
                matches!(event.what, What::GroupsLoaded { .. })
            });
        }
    }

    /// Whether a statement would be refused turns on the state of what it names.
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Topic { name, .. } | Statement::Act(Act::DeleteTopic(name)) => {
                let first = Partition {
                    topic: name.clone(),
                    number: 0,
                };
                if let Some(at) = self.known(&first) {
                    self.changed(Thing::Partition(at), |event| created(event) || deleted(event));
                }
            }
            Statement::Producer { name, .. } | Statement::Consumer { name, .. } => self.client(name, None, process),
            Statement::Act(act) => self.act(act),
            _ => {}
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Send(send) => self.client(&send.producer, None, process),
            Act::Poll { consumer, .. } | Act::Commit { consumer, .. } | Act::Seek { consumer, .. } => {
                self.client(consumer, None, process);
            }
            Act::Kill(Process::Client(name))
            | Act::Start {
                process: Process::Client(name),
                ..
            }
            | Act::Close(name) => self.client(name, None, process),
            Act::Kill(Process::Brokers(brokers))
            | Act::Start {
                process: Process::Brokers(brokers),
                ..
            }
            | Act::PowerOff { brokers, .. }
            | Act::Stop(brokers)
            | Act::Wipe(brokers)
            | Act::Pause(brokers)
            | Act::Resume(brokers) => {
                for broker in translate::brokers_of(brokers, self.world) {
                    self.changed(Thing::Broker(broker), state);
                }
            }
            Act::Kill(Process::Controller)
            | Act::Start {
                process: Process::Controller,
                ..
            }
            | Act::Elect { .. }
            | Act::Reassign { .. } => {
                self.changed(Thing::Run, |event| matches!(event.what, What::ControllerState { .. }));
            }
            Act::Reset { group, .. } => {
                if let Some(group) = self.world.settings().group_named(group) {
                    self.changed(Thing::Group(group), |event| {
                        matches!(event.what, What::MemberJoined { .. } | What::MemberLeft { .. })
                    });
                }
            }
            Act::Tear { replica, .. } | Act::Flip { replica, .. } | Act::Remove { replica, .. } => {
                self.changed(Thing::Broker(BrokerId(replica.broker)), state);
            }
            _ => {}
        }
    }
}

fn of_replica(fact: ReplicaFact) -> Counts {
    match fact {
        ReplicaFact::Leo => |event| content(event) && !takes_the_oldest(event),
        ReplicaFact::Hw => moves_hw,
        ReplicaFact::Start => |event| takes_the_oldest(event) || remade(event),
        ReplicaFact::Flushed => |event| flushes(event) || remade(event),
        ReplicaFact::Offsets | ReplicaFact::Keys | ReplicaFact::Values => content,
        ReplicaFact::OnDisk | ReplicaFact::InCache => |event| content(event) || flushes(event),
        ReplicaFact::Epochs => |event| {
            let begins = matches!(event.what, What::BecameLeader { .. } | What::Appended { .. });
            begins || takes_the_oldest(event) || remade(event)
        },
        ReplicaFact::Segments => segments,
        ReplicaFact::Size | ReplicaFact::Batches => {
            |event| matches!(event.what, What::Appended { .. } | What::Compacted { .. }) || segments(event)
        }
        ReplicaFact::Files => |event| {
            let comes = matches!(event.what, What::BecameLeader { .. } | What::BecameFollower { .. });
            comes || files(event)
        },
    }
}

fn of_metric(metric: Metric) -> Counts {
    match metric {
        Metric::IsrShrinks => |event| {
            let shrinks = matches!(&event.what, What::IsrChanged { from, to, .. } if to.len() < from.len());
            shrinks && asked_for(event)
        },
        Metric::IsrExpands => |event| {
            let expands = matches!(&event.what, What::IsrChanged { from, to, .. } if to.len() >= from.len());
            expands && asked_for(event)
        },
        Metric::UncleanElections => |event| {
            let unclean = matches!(event.rule, Rule::ElectUnclean | Rule::ElectLastKnown);
            unclean && elects(event)
        },
        Metric::Offline => |event| elects(event) || created(event) || deleted(event),
        Metric::UnderReplicated => |event| registry(event) || elects(event) || created(event) || deleted(event),
        Metric::UnderMinIsr | Metric::AtMinIsr => |event| {
            let configured = matches!(event.what, What::Configured { .. });
            configured || registry(event) || elects(event) || created(event) || deleted(event)
        },
    }
}

/// A leader asked for it; what the controller does by itself counts for no broker.
fn asked_for(event: &Event) -> bool {
    !matches!(event.rule, Rule::IsrFenced | Rule::IsrUnclean)
}

/// What the controller keeps of a partition beside its leader.
fn registry(event: &Event) -> bool {
    matches!(
        event.what,
        What::IsrChanged { .. } | What::ElrChanged { .. } | What::Reassigned { .. }
    )
}

fn elects(event: &Event) -> bool {
    matches!(event.what, What::LeaderElected { .. })
}

fn created(event: &Event) -> bool {
    matches!(event.what, What::TopicCreated { .. })
}

fn deleted(event: &Event) -> bool {
    matches!(event.what, What::TopicDeleted { .. })
}

/// The first that is heard of a replica.
fn takes_role(event: &Event) -> bool {
    matches!(event.what, What::BecameLeader { .. } | What::BecameFollower { .. })
}

fn told(event: &Event) -> Option<Outcome> {
    match event.what {
        What::Told { outcome, .. } => Some(outcome),
        _ => None,
    }
}

fn acknowledged(event: &Event) -> bool {
    matches!(told(event), Some(Outcome::Acked(_)))
}

fn handed(event: &Event) -> bool {
    matches!(event.what, What::Handed { .. } | What::Accumulated { .. })
}

/// Partitions come to a consumer, or go.
fn share(event: &Event) -> bool {
    matches!(event.what, What::Assigned { .. } | What::PartitionsTaken { .. })
}

/// A client's process begins or ends.
fn process(event: &Event) -> bool {
    matches!(event.what, What::ClientStarted { .. } | What::ClientEnded { .. })
}

fn state(event: &Event) -> bool {
    matches!(event.what, What::State { .. } | What::BrokerEnded { .. })
}

fn went_down(event: &Event) -> bool {
    let down = BrokerState::Down;
    matches!(event.what, What::BrokerEnded { .. }) || matches!(event.what, What::State { to, .. } if to == down)
}

fn came_up(event: &Event) -> bool {
    matches!(
        event.what,
        What::State {
            to: BrokerState::Starting,
            ..
        }
    )
}

/// A log's end is another one: cut, loaded anew, damaged or gone.
fn remade(event: &Event) -> bool {
    matches!(
        event.what,
        What::Truncated { .. }
            | What::Recovered { .. }
            | What::Damaged { .. }
            | What::Wiped { .. }
            | What::BrokerEnded { .. }
    ) || event.rule == Rule::TruncateOutOfRange
}

/// Records at a log's beginning are gone.
fn takes_the_oldest(event: &Event) -> bool {
    matches!(event.what, What::LogStart { .. } | What::SegmentDeleted { .. })
}

fn flushes(event: &Event) -> bool {
    matches!(event.what, What::Flushed { .. })
}

/// A follower has copied its leader.
fn copied(event: &Event) -> bool {
    matches!(
        event.what,
        What::Appended {
            by: AppendedAs::Follower,
            ..
        }
    )
}

/// Which records a log holds.
fn content(event: &Event) -> bool {
    matches!(event.what, What::Appended { .. } | What::Compacted { .. }) || takes_the_oldest(event) || remade(event)
}

fn segments(event: &Event) -> bool {
    matches!(
        event.what,
        What::Rolled { .. } | What::SegmentDeleted { .. } | What::Compacted { .. }
    ) || remade(event)
}

/// What lies in a partition's folder, and how large it is.
fn files(event: &Event) -> bool {
    matches!(event.what, What::Appended { .. } | What::FilesRemoved { .. }) || segments(event)
}

fn moves_hw(event: &Event) -> bool {
    matches!(event.what, What::HighWatermark { .. }) || remade(event)
}
