//! Reading and printing are each other's inverse.

use crate::scenario::ast::*;
use crate::scenario::names::Names;
use crate::scenario::parse::{parse, parse_statement, read_words};
use crate::scenario::words::words;
use proptest::prelude::*;
use proptest::sample::select;

/// What the generated statements may name.
fn declared() -> Names {
    let mut names = Names::default();
    for line in [
        "brokers 9",
        "topic orders partitions=9",
        "topic orders-1 partitions=9",
        "producer app",
        "send app orders count=99",
        "consumer reader assign=orders-0",
    ] {
        let statement = parse_statement(line, &names).expect("it is well formed");
        names.declare(&statement);
    }
    let group = words("consumer member group=g topics=orders").expect("these are words");
    names.declare(&read_words(&group, &names).expect("it is well formed"));
    names
}

fn partition() -> impl Strategy<Value = Partition> {
    (select(vec!["orders", "orders-1"]), 0..9_u32).prop_map(|(topic, number)| Partition {
        topic: topic.to_string(),
        number,
    })
}

fn replica() -> impl Strategy<Value = Replica> {
    (partition(), 1..10_u16).prop_map(|(partition, broker)| Replica { partition, broker })
}

pub(super) fn brokers() -> impl Strategy<Value = Brokers> {
    prop_oneof![
        prop::collection::vec(1..10_u16, 1..4).prop_map(Brokers::List),
        Just(Brokers::All),
    ]
}

fn replicas() -> impl Strategy<Value = Replicas> {
    (partition(), brokers()).prop_map(|(partition, brokers)| Replicas { partition, brokers })
}

pub(super) fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        Just(Node::Any),
        Just(Node::Controller),
        (1..10_u16).prop_map(Node::Broker),
        Just(Node::Client("app".to_string())),
    ]
}

fn nodes() -> impl Strategy<Value = Nodes> {
    prop_oneof![
        prop::collection::vec(node(), 1..3).prop_map(Nodes::List),
        Just(Nodes::AllBrokers),
    ]
}

/// Durations of every unit, and lopsided ones.
fn micros() -> impl Strategy<Value = Micros> {
    let unit = select(vec![1, 1_000, 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000]);
    (0..5_000_i64, unit).prop_map(|(number, unit)| Micros(number * unit))
}

/// Texts in which everything has a meaning of its own.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9.-]{1,6}",
        "[ ,=#\"\\\\\n\t{n}äa\u{1}]{0,6}",
        select(vec!["null", "none", "hex:00", "-", "----"]).prop_map(str::to_string),
    ]
}

fn data() -> impl Strategy<Value = Data> {
    prop_oneof![
        Just(Data::Null),
        text().prop_map(|text| Data::Text(text.into_bytes())),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(Data::Text),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(Data::Hex),
    ]
}

fn configs(least: usize) -> impl Strategy<Value = Vec<Setting>> {
    let names = ["retention.ms", "segment.bytes", "linger.ms"];
    prop::collection::vec(text(), least..=names.len()).prop_map(move |values| {
        let settings = names.iter().zip(values);
        settings
            .map(|(name, value)| Setting {
                name: name.to_string(),
                value,
            })
            .collect()
    })
}

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![
        (prop::option::of(1..9_u32), prop::option::of(1..9_u16))
            .prop_map(|(partitions, replicas)| Layout::Counts { partitions, replicas }),
        prop::collection::vec(prop::collection::vec(1..10_u16, 1..4), 1..4).prop_map(Layout::Assigned),
    ]
}

fn sending() -> impl Strategy<Value = Sending> {
    let to = prop_oneof![
        select(vec!["orders", "orders-1", "unknown"]).prop_map(|topic| Destination::Topic(topic.to_string())),
        // `orders-1` alone would be the topic of that name.
        partition()
            .prop_filter("a topic's name wins", |partition| partition.to_string() != "orders-1")
            .prop_map(Destination::Partition),
    ];
    let header = data().prop_map(|value| ("trace.id".to_string(), value));
    let rest = (
        prop::collection::vec(header, 0..3),
        prop::option::of(1..99_u64),
        prop::option::of(micros()),
        prop::option::of(1..9_u16),
    );
    let own = (
        to,
        prop::option::of(data()),
        prop::option::of(data()),
        prop::option::of(0..i64::MAX),
    );
    (own, rest).prop_map(
        |((to, key, value, timestamp), (headers, count, every, broker))| Sending {
            producer: "app".to_string(),
            to,
            key,
            value,
            timestamp,
            headers,
            count,
            every,
            broker,
        },
    )
}

pub(super) fn act() -> impl Strategy<Value = Act> {
    let reader = || "reader".to_string();
    let offset = 0..1_000_i64;
    let process = || {
        prop_oneof![
            brokers().prop_map(Process::Brokers),
            Just(Process::Controller),
            Just(Process::Client("app".to_string())),
        ]
    };
    let keep = prop_oneof![
        Just(Keep::Cache),
        (partition(), offset.clone()).prop_map(|(partition, offset)| Keep::Below(partition, offset)),
    ];
    let seek = prop_oneof![
        offset.clone().prop_map(SeekTo::Offset),
        Just(SeekTo::Beginning),
        Just(SeekTo::End),
        any::<i64>().prop_map(SeekTo::Timestamp),
    ];
    let reset = prop_oneof![
        offset.clone().prop_map(ResetTo::Offset),
        Just(ResetTo::Earliest),
        Just(ResetTo::Latest),
    ];
    let clients = prop_oneof![
        sending().prop_map(Act::Send),
        prop::option::of(1..9_u64).prop_map(move |max| Act::Poll {
            consumer: reader(),
            max
        }),
        prop::collection::vec((partition(), offset.clone()), 0..3).prop_map(move |offsets| {
            Act::Commit {
                consumer: reader(),
                offsets,
            }
        }),
        (partition(), seek).prop_map(move |(partition, to)| Act::Seek {
            consumer: reader(),
            partition,
            to
        }),
        Just(Act::Close("app".to_string())),
    ];
    let operators = prop_oneof![
        (partition(), reset).prop_map(|(partition, to)| Act::Reset {
            group: "g".to_string(),
            partition,
            to
        }),
        (partition(), select(Election::ALL)).prop_map(|(partition, kind)| Act::Elect { partition, kind }),
        (partition(), prop::collection::vec(1..10_u16, 1..4))
            .prop_map(|(partition, replicas)| { Act::Reassign { partition, replicas } }),
        (partition(), -1..9_i64).prop_map(|(partition, offset)| Act::DeleteRecords { partition, offset }),
        (1..9_u32).prop_map(|count| Act::Partitions {
            topic: "orders".to_string(),
            count
        }),
        Just(Act::DeleteTopic("orders".to_string())),
        prop::option::of(brokers()).prop_map(Act::CheckRetention),
        prop::option::of(replicas()).prop_map(Act::Clean),
        replicas().prop_map(Act::Flush),
        prop::option::of(brokers()).prop_map(Act::Checkpoint),
        replicas().prop_map(Act::Roll),
    ];
    let direction = prop_oneof![Just(Direction::Both), Just(Direction::FromFirst)];
    let fates = prop_oneof![
        process().prop_map(Act::Kill),
        process().prop_map(|process| Act::Start {
            process,
            directory: Directory::Early
        }),
        brokers().prop_map(|brokers| Act::Start {
            process: Process::Brokers(brokers),
            directory: Directory::Late
        }),
        (brokers(), prop::collection::vec(keep, 0..3)).prop_map(|(brokers, keep)| Act::PowerOff { brokers, keep }),
        brokers().prop_map(Act::Stop),
        brokers().prop_map(Act::Wipe),
        brokers().prop_map(Act::Pause),
        brokers().prop_map(Act::Resume),
        (nodes(), nodes(), direction).prop_map(|(a, b, direction)| Act::Cut { a, b, direction }),
        (nodes(), nodes()).prop_map(|(a, b)| Act::Heal { a, b }),
        Just(Act::HealAll),
        (brokers(), 1..99_u32).prop_map(|(brokers, factor)| Act::Slow { brokers, factor }),
        (select(DropKind::ALL), node(), node(), prop::option::of(1..9_u64))
            .prop_map(|(kind, from, to, next)| Act::Drop { kind, from, to, next }),
        (replica(), prop::option::of(any::<u64>())).prop_map(|(replica, keep)| Act::Tear { replica, keep }),
        (replica(), offset, any::<u64>()).prop_map(|(replica, base, at)| Act::Flip { replica, base, at }),
        replica().prop_map(|replica| Act::Remove {
            replica,
            name: "0.index".to_string()
        }),
    ];
    prop_oneof![clients, operators, fates]
}

/// Expectations with a value of the right kind for each kind of value.
pub(super) fn expectation() -> impl Strategy<Value = Expectation> {
    let record = (1..99_u64).prop_map(|number| RecordName {
        producer: "app".to_string(),
        number,
    });
    let plain = |strategy: BoxedStrategy<(Subject, Value)>| {
        (strategy, select(vec![Op::Equal, Op::NotEqual]))
            .prop_map(|((subject, value), op)| (subject, Some((op, value))))
            .boxed()
    };
    let number = prop_oneof![Just(Value::Absent), any::<i64>().prop_map(Value::Number)];
    let numeric = prop_oneof![
        replica().prop_map(|replica| Subject::Replica(ReplicaFact::Leo, replica)),
        replica().prop_map(|replica| Subject::Replica(ReplicaFact::Size, replica)),
        partition().prop_map(|partition| Subject::Partition(PartitionFact::Leader, partition)),
        (replica(), 0..9_i64).prop_map(|(replica, _)| Subject::FileSize(replica, "0.log".to_string())),
        prop::option::of(partition()).prop_map(|partition| Subject::Count(
            CountFact::Acked,
            "app".to_string(),
            partition
        )),
        Just(Subject::LostInAll),
        (select(Metric::ALL), prop::option::of(1..9_u16)).prop_map(|(metric, broker)| Subject::Metric(metric, broker)),
        (select(GroupFact::ALL), partition()).prop_map(|(fact, partition)| Subject::Group(
            fact,
            "g".to_string(),
            partition
        )),
        Just(Subject::InFlight),
    ];
    let numeric = (numeric, select(Op::ALL), number).prop_map(|(subject, op, value)| (subject, Some((op, value))));
    let ranges = prop::collection::vec((2..5_i64, 0..5_i64), 1..4).prop_map(|steps| {
        let mut next = 0;
        let range = |(gap, length)| {
            let first = next + gap;
            next = first + length;
            (first, next)
        };
        Value::Offsets(steps.into_iter().map(range).collect())
    });
    let item = prop::option::of(text().prop_map(String::into_bytes));
    let copy = (1..9_u16, select(Place::ALL), select(vec![Host::Up, Host::Down]))
        .prop_map(|(broker, place, host)| CopyPlace { broker, place, host });
    let outcome = prop_oneof![
        Just(Outcome::Pending),
        Just(Outcome::Sent),
        Just(Outcome::Failed("NOT_ENOUGH_REPLICAS".to_string())),
        (prop::option::of(any::<i64>()), prop::option::of(any::<u32>()))
            .prop_map(|(offset, partition)| Outcome::Acked { offset, partition }),
    ];
    let listed = prop_oneof![
        (replica(), ranges).prop_map(|(replica, value)| (Subject::Replica(ReplicaFact::Offsets, replica), value)),
        (replica(), prop::collection::vec(item, 1..4))
            .prop_map(|(replica, items)| (Subject::Replica(ReplicaFact::Values, replica), Value::Items(items))),
        (replica(), prop::collection::vec((0..9_i64, 0..9_i64), 1..4))
            .prop_map(|(replica, pairs)| (Subject::Replica(ReplicaFact::Epochs, replica), Value::Pairs(pairs))),
        (record.clone(), prop::collection::vec(copy, 1..4))
            .prop_map(|(record, copies)| (Subject::Record(RecordFact::Custody, record), Value::Custody(copies))),
        (record.clone(), outcome)
            .prop_map(|(record, outcome)| (Subject::Record(RecordFact::Result, record), Value::Result(outcome))),
        (record, any::<u64>()).prop_map(|(record, faults)| (
            Subject::Record(RecordFact::Distance, record),
            Value::NeverWithin(faults)
        )),
        (1..9_u16, select(BrokerState::ALL))
            .prop_map(|(broker, state)| (Subject::State(broker), Value::Word(state.to_string()))),
    ];
    let bare = prop_oneof![
        act().prop_map(|act| Subject::Refused(Box::new(Statement::Act(act)))),
        partition().prop_map(|partition| Subject::Partition(PartitionFact::Duplicates, partition)),
    ]
    .prop_map(|subject| (subject, None));
    let sense = select(vec![Sense::Plain, Sense::Negated]);
    (sense, prop_oneof![numeric.boxed(), plain(listed.boxed()), bare.boxed()])
        .prop_map(|(sense, (subject, test))| Expectation { sense, subject, test })
}

fn statement() -> impl Strategy<Value = Statement> {
    let app = || "app".to_string();
    let target = prop_oneof![
        Just(Configured::AllBrokers),
        brokers().prop_map(Configured::Brokers),
        Just(Configured::Topic("orders".to_string())),
        Just(Configured::Producer(app())),
    ];
    let writeback = prop_oneof![Just(WriteBack::Never), micros().prop_map(WriteBack::After)];
    let disk = (
        brokers(),
        micros(),
        prop::option::of(micros()),
        prop::option::of(writeback),
    );
    let polling = select(vec![Polling::Automatic, Polling::Manual]);
    let condition = prop_oneof![
        Just(Condition::Quiet),
        Just(Condition::Acked),
        expectation().prop_map(Condition::Holds),
    ];
    let declarations = prop_oneof![
        any::<u64>().prop_map(Statement::Seed),
        (0..=253_402_300_799_999_i64).prop_map(Statement::Clock),
        select(ElrVersion::ALL).prop_map(Statement::Feature),
        select(ReplicationRules::ALL).prop_map(Statement::Rules),
        (1..9_u16, configs(0)).prop_map(|(count, configs)| Statement::Brokers { count, configs }),
        (brokers(), configs(1)).prop_map(|(brokers, configs)| Statement::Broker { brokers, configs }),
        (layout(), configs(0)).prop_map(|(layout, configs)| Statement::Topic {
            name: "orders".to_string(),
            layout,
            configs
        }),
        configs(0).prop_map(move |configs| Statement::Producer { name: app(), configs }),
        (prop::collection::vec(partition(), 1..3), polling, configs(0)).prop_map(|(assign, polling, configs)| {
            Statement::Consumer {
                name: "reader".to_string(),
                group: None,
                topics: Vec::new(),
                assign,
                polling,
                configs,
            }
        }),
        (target, configs(1)).prop_map(|(target, configs)| Statement::Set { target, configs }),
        (node(), node(), micros()).prop_map(|(a, b, latency)| Statement::SetLink { a, b, latency }),
        disk.prop_map(|(brokers, write, fsync, writeback)| Statement::SetDisk {
            brokers,
            write: Some(write),
            fsync,
            writeback
        }),
    ];
    let times = prop_oneof![
        prop::option::of(1..9_u64).prop_map(Statement::Step),
        (select(DropKind::ALL), node(), node()).prop_map(|(kind, from, to)| Statement::Deliver { kind, from, to }),
        (select(Timer::ALL), node(), prop::option::of(partition()))
            .prop_map(|(timer, node, partition)| Statement::Fire { timer, node, partition }),
        micros().prop_map(Statement::RunFor),
        micros().prop_map(Statement::RunTo),
        (condition, prop::option::of(micros()))
            .prop_map(|(condition, within)| Statement::RunUntil { condition, within }),
        expectation().prop_map(Statement::Expect),
    ];
    prop_oneof![declarations, act().prop_map(Statement::Act), times]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_printed_reads_back_as_the_same(statement in statement()) {
        let text = statement.to_string();
        let words = words(&text).map_err(|wrong| TestCaseError::fail(format!("{text}: {wrong:?}")))?;
        let read = read_words(&words, &declared());
        prop_assert_eq!(read, Ok(statement), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}|([a-z]{1,5}|[ \n\"\\\\#=,@/:-]|expect|send|[0-9]){0,20}") {
        let _ = parse(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = parse(&bytes);
    }
}

#[test]
fn a_script_prints_as_it_was_written() {
    let text = "highwater 1\nbrokers 3 min.insync.replicas=2\ntopic orders partitions=2 replicas=3\n\
                producer app acks=1\nsend app orders key=null value=\"a, \\\"b\\\"\" count=3\n\
                run until acked within 5s\nkill 1,2\nexpect not lost orders-0\nexpect lost = 0\n----\nfirst line\n";
    let script = parse(text.as_bytes()).expect("it is well formed");
    assert_eq!(script.to_string(), text);
}

#[test]
fn a_set_is_the_same_in_any_order_and_with_repetitions() {
    let of = |isr: &str| {
        let text = format!("brokers 3\ntopic orders replicas=3\nexpect isr orders-0 = {isr}\n");
        parse(text.as_bytes()).expect("it is well formed").to_string()
    };
    assert_eq!(of("3,1,3"), of("1,3"));
}
