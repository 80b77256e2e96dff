//! The configs of a consumer. One row each: name, default and validator as Kafka 4.4 defines them, then what this project adds.
//!
//! A consumer reads all of them once, when it starts.
//! Mirrors `ConsumerConfig`; a test compares every row with what was read from Kafka's own definitions.

use crate::config::def::{Def, DefaultValue::*, Valid::*, boolean, class, int, list, long, string};

/// The rows, in alphabetical order.
#[rustfmt::skip] // A table is read along its columns.
pub(super) static CONFIGS: &[Def] = &[
    boolean("allow.auto.create.topics", Text("true"), Any),
    int("auto.commit.interval.ms", Text("5000"), AtLeast(0)).ms()
        .about("How often a consumer in a group commits its position by itself."),
    string("auto.offset.reset", Text("latest"), OffsetReset)
        .about("Where reading starts when there is no valid position: at the log end, at the log start, or not at all."),
    long("bootstrap.resolve.timeout.ms", Text("0"), AtLeast(0)).ms(),
    list("bootstrap.servers", Required, AnyList),
    boolean("check.crcs", Text("true"), Any),
    string("client.dns.lookup", Text("use_all_dns_ips"), OneOf(&["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"])),
    string("client.id", Text(""), Any),
    string("client.rack", Text(""), Any),
    list("config.providers", Text(""), AnyList),
    long("connections.max.idle.ms", Text("540000"), Any).ms(),
    int("default.api.timeout.ms", Text("60000"), AtLeast(0)).ms(),
    boolean("enable.auto.commit", Text("true"), Any)
        .about("The consumer commits its position by itself, at an interval."),
    boolean("enable.metrics.push", Text("true"), Any),
    boolean("exclude.internal.topics", Text("true"), Any),
    int("fetch.max.bytes", Text("52428800"), AtLeast(0)).bytes()
        .about("The broker puts at most this much into one fetch response, but always one batch."),
    int("fetch.max.wait.ms", Text("500"), AtLeast(0)).ms()
        .about("How long the broker holds a fetch that would carry less than fetch.min.bytes."),
    int("fetch.min.bytes", Text("1"), AtLeast(0)).bytes()
        .about("The broker answers a fetch once it has this much to give."),
    string("group.id", Null, Any),
    string("group.instance.id", Null, NonEmptyString)
        .about("A member's own name: whoever comes back under it while its session lasts has its old partitions again."),
    string("group.protocol", Text("classic"), OneOfAnyCase(&["CONSUMER", "CLASSIC"]))
        .about("Who assigns: a member, when all have joined (classic), or the coordinator, step by step (consumer)."),
    string("group.remote.assignor", Null, Any)
        .words(&["range", "uniform"])
        .about("The assignor that the coordinator is asked to use, uniform or range; without it the coordinator chooses."),
    int("heartbeat.interval.ms", Text("3000"), Any).ms()
        .about("How often a member of a group tells its coordinator that it is alive."),
    list("interceptor.classes", Text(""), AnyList),
    boolean("internal.throw.on.fetch.stable.offset.unsupported", Text("false"), Any).internal(),
    string("isolation.level", Text("read_uncommitted"), OneOf(&["read_committed", "read_uncommitted"]))
        .about("Whether records of transactions that are still open or were aborted are handed over."),
    class("key.deserializer", Required, Any),
    int("max.partition.fetch.bytes", Text("1048576"), AtLeast(0)).bytes()
        .about("The broker puts at most this much of one partition into a fetch response, but always one batch."),
    int("max.poll.interval.ms", Text("300000"), AtLeast(1)).ms()
        .about("A member that does not poll for this long leaves its group; a rebalance waits this long for a member."),
    int("max.poll.records", Text("500"), AtLeast(1))
        .about("One poll hands over at most this many records."),
    boolean("metadata.cluster.check.enable", Text("true"), Any),
    long("metadata.max.age.ms", Text("300000"), AtLeast(0)).ms()
        .about("The client asks again who leads which partition at least this often."),
    long("metadata.recovery.rebootstrap.trigger.ms", Text("300000"), AtLeast(0)).ms(),
    string("metadata.recovery.strategy", Text("rebootstrap"), OneOfAnyCase(&["REBOOTSTRAP", "NONE"])),
    list("metric.reporters", Text("org.apache.kafka.common.metrics.JmxReporter"), AnyList),
    int("metrics.num.samples", Text("2"), AtLeast(1)),
    string("metrics.recording.level", Text("INFO"), OneOf(&["INFO", "DEBUG", "TRACE"])),
    long("metrics.sample.window.ms", Text("30000"), AtLeast(0)).ms(),
    list("partition.assignment.strategy", Text("class org.apache.kafka.clients.consumer.RangeAssignor,class org.apache.kafka.clients.consumer.CooperativeStickyAssignor"), AnyList)
        .words(&["range", "roundrobin", "sticky", "cooperative-sticky"])
        .about("The assignors that a member can run, the one it likes best first."),
    int("receive.buffer.bytes", Text("65536"), AtLeast(-1)).bytes(),
    long("reconnect.backoff.max.ms", Text("1000"), AtLeast(0)).ms()
        .about("The longest wait before a connection is opened again."),
    long("reconnect.backoff.ms", Text("50"), AtLeast(0)).ms()
        .about("The wait before a connection that ended is opened again."),
    int("request.timeout.ms", Text("30000"), AtLeast(0)).ms()
        .about("A request that is not answered within this time counts as failed."),
    long("retry.backoff.max.ms", Text("1000"), AtLeast(0)).ms()
        .about("The longest wait before another attempt."),
    long("retry.backoff.ms", Text("100"), AtLeast(0)).ms()
        .about("The wait before the first retry; it doubles with each further one."),
    string("security.protocol", Text("PLAINTEXT"), OneOfAnyCase(&["SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"])),
    string("security.providers", Null, Any),
    int("send.buffer.bytes", Text("131072"), AtLeast(-1)).bytes(),
    int("session.timeout.ms", Text("45000"), Any).ms()
        .about("A member that is not heard for this long counts as dead."),
    string("share.acknowledgement.mode", Text("implicit"), OneOf(&["implicit", "explicit"])),
    string("share.acquire.mode", Text("BATCH_OPTIMIZED"), OneOf(&["batch_optimized", "record_limit"])),
    long("socket.connection.setup.timeout.max.ms", Text("30000"), Any).ms(),
    long("socket.connection.setup.timeout.ms", Text("10000"), Any).ms(),
    class("value.deserializer", Required, Any),
];
