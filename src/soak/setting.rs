//! The settings: what a cluster is made of and what may happen to it, in the words of scenarios.

/// A cluster, and what may happen to it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is said of it.
    pub sentence: &'static str,
    /// What is looked at.
    pub promise: Promise,
    /// The statements with which it begins.
    pub begins: &'static [&'static str],
    /// What may happen, by weight. `{b}` is each broker, `{a}` each other one, `{kind}` each kind of message that can be
    /// dropped between two brokers.
    pub happens: &'static [&'static [(u32, &'static str)]],
}

/// What a setting promises, besides that no acknowledged record is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// That the named invariants hold, as far as Kafka keeps them.
    EveryInvariant,
    /// Nothing: it is there to lose records.
    Nothing,
}

/// Settings that keep every acknowledged record.
pub const KEEP: &[Setting] = &[
    Setting {
        name: "strong",
        sentence: "acks=all, two in-sync replicas at least, no unclean election: nothing but the loss of a page cache or a disk loses a record",
        promise: Promise::EveryInvariant,
        begins: &[CLUSTER, TOPIC, SAFE, PLAIN],
        happens: &[SENDS, PROCESSES, WIRES],
    },
    Setting {
        name: "strong-without-elr",
        sentence: "the same without eligible leader replicas, as before Kafka 4",
        promise: Promise::EveryInvariant,
        begins: &[
            "feature eligible.leader.replicas.version=0",
            CLUSTER,
            TOPIC,
            SAFE,
            PLAIN,
        ],
        happens: &[SENDS, PROCESSES, WIRES],
    },
    Setting {
        name: "strong-with-a-group",
        sentence: "the same with a group of two that reads and commits",
        promise: Promise::EveryInvariant,
        begins: &[
            CLUSTER,
            TOPIC,
            SAFE,
            PLAIN,
            "consumer one group=readers topics=t auto.offset.reset=earliest session.timeout.ms=6000 auto.commit.interval.ms=1000",
            "consumer two group=readers topics=t auto.offset.reset=earliest session.timeout.ms=6000 auto.commit.interval.ms=1000",
        ],
        happens: &[SENDS, PROCESSES, WIRES, MEMBERS],
    },
    Setting {
        name: "one-host-without-power",
        sentence: "the same, every record flushed before it counts: one host at a time may lose its power as well",
        promise: Promise::EveryInvariant,
        begins: &[
            CLUSTER,
            "topic t assign=1,2,3/2,3,1 min.insync.replicas=2 flush.messages=1",
            SAFE,
            PLAIN,
        ],
        happens: &[SENDS, PROCESSES, WIRES, POWER],
    },
];

/// Settings that are known to lose acknowledged records.
pub const BREAK: &[Setting] = &[
    Setting {
        name: "acks-1",
        sentence: "acks=1: the leader dies before anybody has copied what it acknowledged",
        promise: Promise::Nothing,
        begins: &[
            CLUSTER,
            TOPIC,
            "producer app acks=1 linger.ms=0 batch.size=0 request.timeout.ms=2000 delivery.timeout.ms=5000",
            PLAIN,
        ],
        happens: &[SENDS, PROCESSES, WIRES],
    },
    Setting {
        name: "min-isr-1-and-a-lost-disk",
        sentence: "min.insync.replicas=1: the only copy lies on a disk that is lost",
        promise: Promise::Nothing,
        begins: &[CLUSTER, "topic t assign=1,2,3/2,3,1 min.insync.replicas=1", SAFE, PLAIN],
        happens: &[SENDS, PROCESSES, WIRES, DISKS],
    },
    Setting {
        name: "unclean-election",
        sentence: "unclean.leader.election.enable=true: a replica that lags is elected",
        promise: Promise::Nothing,
        begins: &[
            CLUSTER,
            "topic t assign=1,2,3/2,3,1 min.insync.replicas=2 unclean.leader.election.enable=true",
            SAFE,
            PLAIN,
        ],
        happens: &[SENDS, PROCESSES, WIRES],
    },
    Setting {
        name: "all-hosts-without-power",
        sentence: "the power goes off everywhere, and nothing was flushed",
        promise: Promise::Nothing,
        begins: &[CLUSTER, TOPIC, SAFE, PLAIN],
        happens: &[SENDS, PROCESSES, WIRES, BLACKOUT],
    },
    Setting {
        name: "hw-truncation",
        sentence: "replication=hw-truncation: a follower cuts to a high watermark that is one fetch behind, and is elected",
        promise: Promise::Nothing,
        begins: &["rules replication=hw-truncation", CLUSTER, TOPIC, SAFE, PLAIN],
        happens: &[SENDS, PROCESSES, WIRES],
    },
];

/// Two partitions that different brokers lead.
const TOPIC: &str = "topic t assign=1,2,3/2,3,1 min.insync.replicas=2";

/// Short times, so that a schedule holds several lives.
const CLUSTER: &str = "brokers 3 log.retention.ms=-1 broker.heartbeat.interval.ms=500 broker.session.timeout.ms=3000 replica.lag.time.max.ms=4000 replica.fetch.backoff.ms=200 replica.socket.timeout.ms=2000 offsets.topic.num.partitions=1";

const SAFE: &str = "producer app linger.ms=0 batch.size=0 request.timeout.ms=2000 delivery.timeout.ms=5000";

const PLAIN: &str =
    "producer plain enable.idempotence=false linger.ms=0 batch.size=0 request.timeout.ms=2000 delivery.timeout.ms=5000";

const SENDS: &[(u32, &str)] = &[
    (12, "send app t-0"),
    (4, "send app t-1 count=2"),
    (3, "send plain t-0"),
    (1, "send plain t-1"),
];

const PROCESSES: &[(u32, &str)] = &[
    (4, "kill {b}"),
    (8, "start {b}"),
    (1, "stop {b}"),
    (2, "pause {b}"),
    (3, "resume {b}"),
    (1, "kill controller"),
    (3, "start controller"),
    (1, "elect t-0 preferred"),
];

const WIRES: &[(u32, &str)] = &[
    (3, "cut {a} {b}"),
    (1, "cut {a} from {b}"),
    (1, "cut {b} controller"),
    (1, "cut {b} from controller"),
    (1, "cut controller from {b}"),
    (4, "heal all"),
    (1, "slow {b} factor=20"),
    (1, "slow {b} factor=1"),
    (3, "drop {kind} from {a} to {b}"),
    (1, "drop alter-partition from {b} to controller"),
    (1, "drop alter-partition-response from controller to {b}"),
    (1, "drop metadata from controller to {b}"),
];

const MEMBERS: &[(u32, &str)] = &[
    (1, "kill one"),
    (2, "start one"),
    (1, "cut one {b}"),
    (1, "close two"),
    (2, "start two"),
];

const POWER: &[(u32, &str)] = &[(3, "power-off {b}")];

const DISKS: &[(u32, &str)] = &[(12, "wipe {b}")];

const BLACKOUT: &[(u32, &str)] = &[(1, "power-off all")];

/// What can be lost between two brokers.
pub(super) const KINDS: [&str; 2] = ["fetch", "fetch-response"];

/// The brokers of every setting.
pub(super) const BROKERS: [&str; 3] = ["1", "2", "3"];
