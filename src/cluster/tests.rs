//! Rules that need a whole world: several brokers, the controller and the wires between them.

use std::sync::Arc;

use super::input::{ConfigTarget, Pending, ReportDirectory};
use super::message::{
    Acks, Correlation, FetchPartition, FetchRequest, FetchResult, Isolation, Message, ProduceRequest, ProduceResult,
};
use super::settings::Micros;
use super::{BrokerId, ClientId, ElrFeature, Input, Node, Setup, Silent, TopicId, TopicPartition, World, step};
use crate::config::BrokerConfig;
use crate::log::{Batch, Errors, Record};

const SECOND: Micros = 1_000_000;
const TP: TopicPartition = TopicPartition {
    topic: TopicId(0),
    partition: 0,
};
const CLIENT: ClientId = ClientId(0);

/// A world of three brokers with one partition, and somebody who sends raw requests.
struct Stage {
    world: World,
    asked: Correlation,
}

impl Stage {
    fn new(elr: ElrFeature, brokers: &[(&str, &str)], topic: &[(&str, &str)]) -> Stage {
        let mut config = BrokerConfig::default();
        config.set_all(brokers.iter().copied()).unwrap();
        let world = World::new(Setup {
            elr,
            brokers: vec![config.clone(); 3],
            controller: config,
            ..Setup::default()
        });
        let mut stage = Stage { world, asked: 1 << 20 };
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        stage.act(Input::CreateTopic {
            name: "t".into(),
            assignment: vec![vec![BrokerId(1), BrokerId(2), BrokerId(3)]],
            config: topic.iter().map(owned).collect(),
        });
        stage.act(Input::AddProducer("asker".into(), Box::default()));
        stage
    }

    fn act(&mut self, input: Input) {
        step(&mut self.world, input, &mut Silent).unwrap();
    }

    fn run_for(&mut self, time: Micros) {
        let until = self.world.now() + time;
        while self.world.next().is_some_and(|(due, _)| due <= until) {
            self.act(Input::Next);
        }
        self.act(Input::Wait(until));
    }

    /// Sends one request and gives the answer that arrives.
    fn ask(&mut self, broker: u16, message: impl FnOnce(Correlation) -> Message) -> Message {
        self.asked += 1;
        self.act(Input::Request(CLIENT, BrokerId(broker), Box::new(message(self.asked))));
        loop {
            let (_, pending) = self.world.next().expect("an answer is under way");
            let first = match pending {
                Pending::Message { from, to } if to == Node::Client(CLIENT) => {
                    let mut heads = self.world.network().heads();
                    heads
                        .find(|(a, b, _)| (*a, *b) == (from, to))
                        .map(|(.., m)| m.message.clone())
                }
                _ => None,
            };
            self.act(Input::Next);
            if let Some(answer) = first {
                return answer;
            }
        }
    }

    fn produce(&mut self, broker: u16, acks: Acks, value: &str) -> ProduceResult {
        let now = self.world.settings().wall_ms(self.world.now());
        let record = Record::new(None, Some(value.as_bytes()), now);
        let request = ProduceRequest {
            acks,
            timeout_ms: 1_000,
            batches: vec![(TP, Batch::build(&[record], None, Arc::default()))],
        };
        match self.ask(broker, |id| Message::Produce(id, Arc::new(request))) {
            Message::ProduceResponse(_, mut results) => results.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn fetch(&mut self, broker: u16) -> FetchResult {
        let request = FetchRequest {
            replica_epoch: None,
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: 1_000,
            isolation: Isolation::Uncommitted,
            partitions: vec![FetchPartition {
                partition: TP,
                offset: 0,
                last_fetched_epoch: -1,
                current_leader_epoch: -1,
                log_start: -1,
                high_watermark: -1,
                max_bytes: 1_000,
            }],
        };
        match self.ask(broker, |id| Message::Fetch(id, Arc::new(request))) {
            Message::FetchResponse(_, mut results) => results.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn high_watermark(&self, broker: u16) -> Option<i64> {
        self.world.broker(BrokerId(broker))?.replica(TP)?.high_watermark()
    }

    fn leader(&self) -> Option<BrokerId> {
        self.world.image().leader(TP)
    }
}

#[test]
fn a_number_that_is_no_acks_is_refused_and_nothing_is_written() {
    let mut stage = Stage::new(ElrFeature::On, &[], &[]);
    let result = stage.produce(1, Acks::Other(7), "m");
    assert_eq!(result.error, Some(Errors::InvalidRequiredAcks));
    assert_eq!(
        stage.world.broker(BrokerId(1)).unwrap().replica(TP).unwrap().log_end(),
        0
    );
}

#[test]
fn a_consumer_may_read_a_follower_up_to_its_own_high_watermark() {
    let mut stage = Stage::new(ElrFeature::On, &[], &[]);
    stage.produce(1, Acks::All, "m");
    stage.run_for(SECOND);
    let read = stage.fetch(2);
    assert_eq!((read.error, read.high_watermark, read.batches.len()), (None, 1, 1));
}

/// A broker fetches the metadata log, so one that is frozen is told nothing: when it goes on it is still the leader it was,
/// for as long as the controller does not answer it.
#[test]
fn a_frozen_leader_wakes_up_as_a_zombie() {
    let mut stage = Stage::new(ElrFeature::On, &[], &[]);
    stage.act(Input::Pause(BrokerId(1)));
    stage.run_for(20 * SECOND);
    assert_eq!(stage.leader(), Some(BrokerId(2)));
    stage.act(Input::KillController);
    stage.act(Input::Resume(BrokerId(1)));
    assert_eq!(stage.produce(1, Acks::Leader, "zombie").base_offset, Some(0));
    stage.act(Input::StartController);
    stage.run_for(SECOND);
    assert_eq!(
        stage.produce(1, Acks::Leader, "late").error,
        Some(Errors::NotLeaderOrFollower)
    );
    assert_eq!(
        stage.world.broker(BrokerId(1)).unwrap().replica(TP).unwrap().log_end(),
        0
    );
}

/// Who reports a new data directory stays unfenced, so that nothing is elected by it.
#[test]
fn a_late_report_of_a_directory_elects_nobody() {
    let mut stage = Stage::new(ElrFeature::Off, &[], &[]);
    for id in [2, 3, 1] {
        stage.act(Input::Kill(BrokerId(id)));
        stage.run_for(12 * SECOND);
    }
    stage.act(Input::Wipe(BrokerId(1)));
    stage.act(Input::Start(BrokerId(1), ReportDirectory::Late));
    stage.run_for(20 * SECOND);
    let known = stage.world.controller().state();
    assert!(!known.broker(BrokerId(1)).unwrap().fenced);
    let partition = known.partition(TP).unwrap();
    assert_eq!((partition.leader, partition.isr.as_slice()), (None, &[BrokerId(1)][..]));
}

/// A controller that looks before it listens fences a broker that is awake; told of it, that one is unfenced again.
#[test]
fn a_session_that_is_over_is_found_at_once() {
    let mut stage = Stage::new(ElrFeature::On, &[], &[]);
    let is_fenced = |stage: &Stage| stage.world.controller().state().broker(BrokerId(1)).unwrap().fenced;
    stage.run_for(SECOND);
    stage.act(Input::EndSession(BrokerId(1)));
    assert!(is_fenced(&stage));
    stage.run_for(SECOND);
    assert!(!is_fenced(&stage));
    stage.act(Input::KillController);
    let nobody_looks = step(&mut stage.world, Input::EndSession(BrokerId(1)), &mut Silent);
    assert!(nobody_looks.is_err());
}

/// A lower minimum throws the ELR away, which is a change of the partition. The leader takes it over before the config,
/// so that its high watermark moves with the next append only.
#[test]
fn a_lower_minimum_does_not_move_the_high_watermark_by_itself() {
    let mut stage = Stage::new(ElrFeature::On, &[], &[("min.insync.replicas", "2")]);
    for id in [2, 3] {
        stage.act(Input::Kill(BrokerId(id)));
        stage.run_for(12 * SECOND);
    }
    stage.produce(1, Acks::Leader, "unseen");
    let before = stage.world.controller().state().partition(TP).unwrap().partition_epoch;
    stage.act(Input::Configure(
        ConfigTarget::Topic(TP.topic),
        vec![("min.insync.replicas".into(), "1".into())],
    ));
    stage.run_for(SECOND);
    let after = stage.world.controller().state().partition(TP).unwrap().partition_epoch;
    assert_eq!((after - before, stage.high_watermark(1)), (1, Some(0)));
    stage.produce(1, Acks::Leader, "next");
    assert_eq!(stage.high_watermark(1), Some(2));
}

#[test]
fn log_starts_are_checkpointed_by_their_own_clock() {
    let rare = ("log.flush.offset.checkpoint.interval.ms", "3600000");
    let often = ("log.flush.start.offset.checkpoint.interval.ms", "1000");
    let mut stage = Stage::new(
        ElrFeature::On,
        &[rare, often, ("log.initial.task.delay.ms", "500")],
        &[],
    );
    stage.produce(1, Acks::All, "m0");
    stage.produce(1, Acks::All, "m1");
    stage.run_for(SECOND);
    stage.act(Input::DeleteRecords(TP, 1));
    stage.run_for(2 * SECOND);
    let written = stage
        .world
        .broker(BrokerId(1))
        .unwrap()
        .replica(TP)
        .unwrap()
        .checkpoints();
    assert_eq!((written.log_start, written.recovery_point), (1, 0));
}

/// Either lag alone would exclude the other one's default or value.
#[test]
fn configs_that_are_valid_only_together_are_set_together() {
    let mut stage = Stage::new(ElrFeature::On, &[], &[("max.compaction.lag.ms", "1000")]);
    let lags = |min: &str, max: &str| {
        let pairs = [("min.compaction.lag.ms", min), ("max.compaction.lag.ms", max)];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Input::Configure(ConfigTarget::Topic(TP.topic), pairs.to_vec())
    };
    stage.act(lags("5000", "9000"));
    let refused = step(&mut stage.world, lags("9000", "5000"), &mut Silent);
    assert!(refused.is_err_and(|error| error.to_string().contains("min.compaction.lag.ms=9000")));
    let config = &stage.world.settings().topic(TP.topic).config;
    assert_eq!(
        (config.min_compaction_lag_ms, config.max_compaction_lag_ms),
        (5000, 9000)
    );
}
