//! The configs of a producer. One row each: name, default and validator as Kafka 4.4 defines them, then what this project adds.
//!
//! A producer reads all of them once, when it starts.
//! Mirrors `ProducerConfig`; a test compares every row with what was read from Kafka's own definitions.

use crate::config::def::{Def, DefaultValue::*, Valid::*, boolean, class, int, list, long, string};

/// The rows, in alphabetical order.
#[rustfmt::skip] // A table is read along its columns.
pub(super) static CONFIGS: &[Def] = &[
    string("acks", Text("all"), OneOf(&["all", "-1", "0", "1"]))
        .about("Whose copy an acknowledgement vouches for: nobody's (0), the leader's (1), or that of every in-sync replica (all)."),
    int("batch.size", Text("16384"), AtLeast(0)).bytes()
        .about("Records for one partition wait for each other in a batch of up to this size; 0 sends each record alone."),
    long("bootstrap.resolve.timeout.ms", Text("0"), AtLeast(0)).ms(),
    list("bootstrap.servers", Required, AnyList),
    long("buffer.memory", Text("33554432"), AtLeast(0)).bytes()
        .about("All records that wait to be sent share this much memory; a send blocks when it is full."),
    string("buffer.memory.allocation.strategy", Text("full"), OneOfAnyCase(&["FULL", "INCREMENTAL"])).internal(),
    string("client.dns.lookup", Text("use_all_dns_ips"), OneOf(&["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"])),
    string("client.id", Text(""), Any),
    string("client.rack", Text(""), Any),
    int("compression.gzip.level", Text("-1"), BetweenOrMinusOne(1, 9)),
    int("compression.lz4.level", Text("9"), Between(1, 17)),
    string("compression.type", Text("none"), OneOf(&["none", "gzip", "snappy", "lz4", "zstd"]))
        .about("The codec in which the producer compresses a batch."),
    int("compression.zstd.level", Text("3"), Between(-131072, 22)),
    list("config.providers", Text(""), AnyList),
    long("connections.max.idle.ms", Text("540000"), Any).ms(),
    int("delivery.timeout.ms", Text("120000"), AtLeast(0)).ms()
        .about("The time from send to decision: a record that is not acknowledged by then has failed."),
    boolean("enable.idempotence", Text("true"), Any)
        .about("Batches carry a producer id and a sequence, so that the broker recognises a retry and keeps the order."),
    boolean("enable.metrics.push", Text("true"), Any),
    list("interceptor.classes", Text(""), AnyList),
    class("key.serializer", Required, Any),
    long("linger.ms", Text("5"), AtLeast(0)).ms()
        .about("How long a batch that is not full waits for more records."),
    long("max.block.ms", Text("60000"), AtLeast(0)).ms()
        .about("How long a send may wait for metadata or for memory."),
    int("max.in.flight.requests.per.connection", Text("5"), AtLeast(1))
        .about("How many requests may be under way to one broker before the first is answered."),
    int("max.request.size", Text("1048576"), AtLeast(0)).bytes()
        .about("The largest record, and the largest request, that the producer sends."),
    boolean("metadata.cluster.check.enable", Text("true"), Any),
    long("metadata.max.age.ms", Text("300000"), AtLeast(0)).ms()
        .about("The client asks again who leads which partition at least this often."),
    long("metadata.max.idle.ms", Text("300000"), AtLeast(5000)).ms(),
    long("metadata.recovery.rebootstrap.trigger.ms", Text("300000"), AtLeast(0)).ms(),
    string("metadata.recovery.strategy", Text("rebootstrap"), OneOfAnyCase(&["REBOOTSTRAP", "NONE"])),
    list("metric.reporters", Text("org.apache.kafka.common.metrics.JmxReporter"), AnyList),
    int("metrics.num.samples", Text("2"), AtLeast(1)),
    string("metrics.recording.level", Text("INFO"), OneOf(&["INFO", "DEBUG", "TRACE"])),
    long("metrics.sample.window.ms", Text("30000"), AtLeast(0)).ms(),
    boolean("partitioner.adaptive.partitioning.enable", Text("true"), Any)
        .about("Records without a key go more often to partitions whose broker keeps up."),
    long("partitioner.availability.timeout.ms", Text("0"), AtLeast(0)).ms()
        .about("A partition whose broker has taken nothing for this long gets no records without a key; 0 switches that off."),
    class("partitioner.class", Null, Any),
    boolean("partitioner.ignore.keys", Text("false"), Any)
        .about("The key does not choose the partition."),
    boolean("partitioner.rack.aware", Text("false"), Any),
    int("receive.buffer.bytes", Text("32768"), AtLeast(-1)).bytes(),
    long("reconnect.backoff.max.ms", Text("1000"), AtLeast(0)).ms()
        .about("The longest wait before a connection is opened again."),
    long("reconnect.backoff.ms", Text("50"), AtLeast(0)).ms()
        .about("The wait before a connection that ended is opened again."),
    int("request.timeout.ms", Text("30000"), AtLeast(0)).ms()
        .about("A request that is not answered within this time counts as failed; the broker gives up waiting for replicas after it too."),
    int("retries", Text("2147483647"), Between(0, 2147483647))
        .about("How often a batch is sent again after an error that may pass."),
    long("retry.backoff.max.ms", Text("1000"), AtLeast(0)).ms()
        .about("The longest wait before another attempt."),
    long("retry.backoff.ms", Text("100"), AtLeast(0)).ms()
        .about("The wait before the first retry; it doubles with each further one."),
    string("security.protocol", Text("PLAINTEXT"), OneOfAnyCase(&["SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"])),
    string("security.providers", Null, Any),
    int("send.buffer.bytes", Text("131072"), AtLeast(-1)).bytes(),
    long("socket.connection.setup.timeout.max.ms", Text("30000"), Any).ms(),
    long("socket.connection.setup.timeout.ms", Text("10000"), Any).ms(),
    int("transaction.timeout.ms", Text("60000"), Any).ms(),
    boolean("transaction.two.phase.commit.enable", Text("false"), Any),
    string("transactional.id", Null, NonEmptyString),
    class("value.serializer", Required, Any),
];
