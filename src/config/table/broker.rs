//! The configs of a broker, among them the cluster-wide defaults of the topic configs. One row each: name, default and
//! validator as Kafka 4.4 defines them, then what this project adds.
//!
//! A broker reads most of them once, when it starts; those marked `dynamic` can be changed while it runs.
//! Left out are network, security, quotas, tiered storage, share groups and streams: nothing in the model could act on them.
//! Mirrors `KafkaConfig`; a test compares every row with what was read from Kafka's own definitions.

use crate::config::def::{Def, DefaultValue::*, Valid::*, boolean, double, int, list, long, short, string};

/// The rows, in alphabetical order.
#[rustfmt::skip] // A table is read along its columns.
pub(super) static CONFIGS: &[Def] = &[
    int("add.partitions.to.txn.retry.backoff.max.ms", Text("100"), AtLeast(0)).ms().from("TransactionLogConfig"),
    int("add.partitions.to.txn.retry.backoff.ms", Text("20"), AtLeast(1)).ms().from("TransactionLogConfig"),
    boolean("auto.create.topics.enable", Text("true"), Any).from("ServerLogConfigs"),
    boolean("auto.leader.rebalance.enable", Text("true"), Any).from("ReplicationConfigs")
        .about("The controller gives leadership back to the first replica of each partition from time to time."),
    int("background.threads", Text("10"), AtLeast(1)).dynamic().from("ServerConfigs"),
    int("broker.heartbeat.interval.ms", Text("2000"), Any).ms().from("KRaftConfigs")
        .about("How often a broker tells the controller that it is alive."),
    int("broker.id", Text("-1"), Any).from("ServerConfigs"),
    int("broker.session.timeout.ms", Text("9000"), Any).ms().from("KRaftConfigs")
        .about("The controller takes a broker for dead when it has heard nothing from it for this long."),
    int("compression.gzip.level", Text("-1"), BetweenOrMinusOne(1, 9)).dynamic().from("ServerConfigs"),
    int("compression.lz4.level", Text("9"), Between(1, 17)).dynamic().from("ServerConfigs"),
    string("compression.type", Text("producer"), OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"])).dynamic().from("ServerConfigs")
        .about("The codec in which the leader stores batches; 'producer' leaves them as they came."),
    int("compression.zstd.level", Text("3"), Between(-131072, 22)).dynamic().from("ServerConfigs"),
    boolean("controlled.shutdown.enable", Text("true"), Any).from("ServerConfigs")
        .about("A broker that is stopped hands its leadership over first."),
    list("controller.listener.names", Required, AnyList).from("KRaftConfigs"),
    long("controller.performance.always.log.threshold.ms", Text("2000"), AtLeast(0)).ms().internal().from("KRaftConfigs"),
    long("controller.performance.sample.period.ms", Text("60000"), AtLeast(100)).ms().internal().from("KRaftConfigs"),
    int("controller.quorum.append.linger.ms", Text("25"), AtLeast(0)).ms().from("QuorumConfig"),
    boolean("controller.quorum.auto.join.enable", Text("false"), Any).from("QuorumConfig"),
    list("controller.quorum.bootstrap.servers", Text(""), NonEmptyList).from("QuorumConfig"),
    int("controller.quorum.election.backoff.max.ms", Text("1000"), AtLeast(0)).ms().from("QuorumConfig"),
    int("controller.quorum.election.timeout.ms", Text("1000"), AtLeast(0)).ms().from("QuorumConfig"),
    int("controller.quorum.fetch.max.bytes", Text("1048576"), AtLeast(1)).bytes().from("QuorumConfig"),
    int("controller.quorum.fetch.snapshot.max.bytes", Text("1048576"), AtLeast(1)).bytes().from("QuorumConfig"),
    int("controller.quorum.fetch.timeout.ms", Text("2000"), AtLeast(0)).ms().from("QuorumConfig"),
    int("controller.quorum.request.timeout.ms", Text("2000"), AtLeast(0)).ms().from("QuorumConfig"),
    int("controller.quorum.retry.backoff.ms", Text("20"), AtLeast(0)).ms().from("QuorumConfig"),
    list("controller.quorum.voters", Text(""), NonEmptyList).from("QuorumConfig"),
    int("controller.quota.window.num", Text("11"), AtLeast(1)).from("QuotaConfig"),
    int("controller.quota.window.size.seconds", Text("1"), AtLeast(1)).seconds().from("QuotaConfig"),
    int("controller.socket.timeout.ms", Text("30000"), Any).ms().from("ReplicationConfigs"),
    list("cordoned.log.dirs", Text(""), AnyList).dynamic().from("ServerLogConfigs"),
    int("default.replication.factor", Text("1"), Any).from("ReplicationConfigs"),
    int("delete.records.purgatory.purge.interval.requests", Text("1"), Any).from("ReplicationConfigs"),
    boolean("delete.topic.enable", Text("true"), Any).from("ServerConfigs"),
    boolean("errors.deadletterqueue.auto.create.topics.enable", Text("false"), Any).from("ServerConfigs"),
    string("errors.deadletterqueue.topic.name.prefix", Text("dlq."), Any).from("ServerConfigs"),
    int("fetch.max.bytes", Text("57671680"), AtLeast(1024)).bytes().from("ServerConfigs")
        .about("The broker puts at most this much into any fetch response, whatever the client asks for."),
    int("fetch.purgatory.purge.interval.requests", Text("1000"), Any).from("ReplicationConfigs"),
    boolean("follower.fetch.last.tiered.offset.enable", Text("false"), Any).dynamic().from("ReplicationConfigs"),
    int("group.consumer.assignment.interval.ms", Text("1000"), AtLeast(0)).ms().from("GroupCoordinatorConfig")
        .about("At least this long lies between two target assignments of a group under the consumer protocol."),
    boolean("group.consumer.assignor.offload.enable", Text("true"), Any).internal().from("GroupCoordinatorConfig"),
    list("group.consumer.assignors", Text("uniform,range"), AnyList).from("GroupCoordinatorConfig"),
    int("group.consumer.heartbeat.interval.ms", Text("5000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("How often a member under the consumer protocol is told to say that it is alive."),
    int("group.consumer.max.assignment.interval.ms", Text("15000"), AtLeast(0)).ms().from("GroupCoordinatorConfig"),
    int("group.consumer.max.heartbeat.interval.ms", Text("15000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("The longest interval of heartbeats that may be set."),
    int("group.consumer.max.session.timeout.ms", Text("60000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("The longest session that may be set."),
    int("group.consumer.max.size", Text("2147483647"), AtLeast(1)).from("GroupCoordinatorConfig"),
    string("group.consumer.migration.policy", Text("bidirectional"), OneOfAnyCase(&["DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"])).from("GroupCoordinatorConfig"),
    int("group.consumer.min.assignment.interval.ms", Text("0"), AtLeast(0)).ms().from("GroupCoordinatorConfig"),
    int("group.consumer.min.heartbeat.interval.ms", Text("5000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("The shortest interval of heartbeats that may be set."),
    int("group.consumer.min.session.timeout.ms", Text("45000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("The shortest session that may be set."),
    int("group.consumer.regex.refresh.interval.ms", Text("600000"), AtLeast(10000)).ms().internal().from("GroupCoordinatorConfig"),
    int("group.consumer.session.timeout.ms", Text("45000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("A member under the consumer protocol that is silent for this long is removed."),
    int("group.coordinator.append.linger.ms", Text("-1"), AtLeast(-1)).ms().from("GroupCoordinatorConfig"),
    int("group.coordinator.background.threads", Text("2"), AtLeast(1)).from("GroupCoordinatorConfig"),
    int("group.coordinator.cached.buffer.max.bytes", Text("1048588"), AtLeast(524288)).bytes().from("GroupCoordinatorConfig"),
    list("group.coordinator.rebalance.protocols", Text("classic,consumer,streams"), OneOf(&["consumer", "classic", "share", "streams"])).from("GroupCoordinatorConfig"),
    int("group.coordinator.threads", Text("4"), AtLeast(1)).from("GroupCoordinatorConfig"),
    int("group.initial.rebalance.delay.ms", Text("3000"), Any).ms().from("GroupCoordinatorConfig")
        .about("The first rebalance of an empty group waits this long for more members."),
    int("group.max.session.timeout.ms", Text("1800000"), Any).ms().from("GroupCoordinatorConfig")
        .about("A member may not ask for a longer session timeout."),
    int("group.max.size", Text("2147483647"), AtLeast(1)).from("GroupCoordinatorConfig"),
    int("group.min.session.timeout.ms", Text("6000"), Any).ms().from("GroupCoordinatorConfig")
        .about("A member may not ask for a shorter session timeout."),
    int("initial.broker.registration.timeout.ms", Text("60000"), Any).ms().from("KRaftConfigs"),
    string("inter.broker.listener.name", Null, Any).from("ServerConfigs"),
    long("internal.metadata.delete.delay.millis", Text("60000"), Any).ms().internal().from("MetadataLogConfig"),
    int("internal.metadata.log.segment.bytes", Null, Any).bytes().internal().from("MetadataLogConfig"),
    int("internal.metadata.max.batch.size.in.bytes", Text("8388608"), Any).bytes().internal().from("MetadataLogConfig"),
    long("leader.imbalance.check.interval.seconds", Text("300"), AtLeast(1)).seconds().from("ReplicationConfigs")
        .about("How often the controller looks for partitions that their first replica could lead again."),
    long("log.cleaner.backoff.ms", Text("15000"), AtLeast(0)).ms().dynamic().from("CleanerConfig")
        .about("How long the cleaner rests when it finds nothing to compact."),
    long("log.cleaner.dedupe.buffer.size", Text("134217728"), Any).bytes().dynamic().from("CleanerConfig")
        .about("Memory of the cleaner's map from key to last offset, 24 bytes a key; a full map ends a pass early."),
    long("log.cleaner.delete.retention.ms", Text("86400000"), AtLeast(0)).ms().dynamic().from("CleanerConfig")
        .about("How long a delete marker stays readable after compaction first reached it."),
    boolean("log.cleaner.enable", Text("true"), Any).from("CleanerConfig")
        .about("Whether logs are compacted at all."),
    double("log.cleaner.io.buffer.load.factor", Text("0.9"), Any).dynamic().from("CleanerConfig")
        .about("Which part of the cleaner's map may be filled."),
    int("log.cleaner.io.buffer.size", Text("524288"), AtLeast(0)).bytes().dynamic().from("CleanerConfig"),
    double("log.cleaner.io.max.bytes.per.second", Text("1.7976931348623157E308"), Any).dynamic().from("CleanerConfig"),
    long("log.cleaner.max.compaction.lag.ms", Text("9223372036854775807"), AtLeast(1)).ms().dynamic().from("CleanerConfig")
        .about("No record waits longer than this for compaction, however clean the log is otherwise."),
    double("log.cleaner.min.cleanable.ratio", Text("0.5"), Between(0, 1)).dynamic().from("CleanerConfig")
        .about("A log is compacted once this share of it has not been compacted yet."),
    long("log.cleaner.min.compaction.lag.ms", Text("0"), AtLeast(0)).ms().dynamic().from("CleanerConfig")
        .about("A record stays untouched by compaction for at least this long."),
    int("log.cleaner.threads", Text("1"), AtLeast(0)).dynamic().from("CleanerConfig")
        .about("How many threads compact logs, each with its part of the map's memory."),
    list("log.cleanup.policy", Text("delete"), OneOf(&["compact", "delete"])).dynamic().from("ServerLogConfigs")
        .about("What happens to old segments: deleted by age and size, compacted to the latest record of each key, both, or nothing."),
    long("log.dir.failure.timeout.ms", Text("30000"), AtLeast(1)).ms().from("ServerLogConfigs"),
    list("log.dirs", Null, AnyList).from("ServerLogConfigs"),
    long("log.flush.interval.messages", Text("9223372036854775807"), AtLeast(1)).dynamic().from("ServerLogConfigs")
        .about("A broker forces the log to disk after this many records; by default it never does and leaves that to the operating system."),
    long("log.flush.interval.ms", Null, Any).ms().dynamic().from("ServerLogConfigs")
        .about("A broker forces records older than this to disk; by default it never does and leaves that to the operating system."),
    int("log.flush.offset.checkpoint.interval.ms", Text("60000"), AtLeast(0)).ms().from("ServerLogConfigs")
        .about("How often a broker writes down up to where each log is known to be on disk."),
    long("log.flush.scheduler.interval.ms", Text("9223372036854775807"), Any).ms().from("ServerLogConfigs")
        .about("How often a broker looks for logs that flush.ms says to force to disk."),
    int("log.flush.start.offset.checkpoint.interval.ms", Text("60000"), AtLeast(0)).ms().from("ServerLogConfigs")
        .about("How often a broker writes down where each log starts."),
    int("log.index.interval.bytes", Text("4096"), AtLeast(0)).bytes().dynamic().from("ServerLogConfigs")
        .about("More than this many bytes lie between two entries of an index, so a smaller number makes a denser index."),
    int("log.index.size.max.bytes", Text("10485760"), AtLeast(4)).bytes().dynamic().from("ServerLogConfigs")
        .about("The size that an index file is given in advance; a full index starts a new segment."),
    long("log.initial.task.delay.ms", Text("30000"), AtLeast(0)).ms().internal().from("ServerLogConfigs")
        .about("How long after its start a broker begins its periodic work on the logs."),
    long("log.local.retention.bytes", Text("-2"), AtLeast(-2)).bytes().dynamic().from("ServerLogConfigs"),
    long("log.local.retention.ms", Text("-2"), AtLeast(-2)).ms().dynamic().from("ServerLogConfigs"),
    long("log.message.timestamp.after.max.ms", Text("3600000"), AtLeast(0)).ms().dynamic().from("ServerLogConfigs")
        .about("How far ahead of the broker's clock a record's own timestamp may lie."),
    long("log.message.timestamp.before.max.ms", Text("9223372036854775807"), AtLeast(0)).ms().dynamic().from("ServerLogConfigs")
        .about("How far behind the broker's clock a record's own timestamp may lie."),
    string("log.message.timestamp.type", Text("CreateTime"), OneOf(&["CreateTime", "LogAppendTime"])).dynamic().from("ServerLogConfigs")
        .about("Whose clock stamps a record: the producer's, or the leader's at the append."),
    boolean("log.preallocate", Text("false"), Any).dynamic().from("ServerLogConfigs")
        .about("A new segment's file has its full size from the start."),
    long("log.remote.copy.lag.bytes", Text("-1"), AtLeast(-1)).bytes().dynamic().from("ServerLogConfigs"),
    long("log.remote.copy.lag.ms", Text("0"), AtLeast(-1)).ms().dynamic().from("ServerLogConfigs"),
    long("log.retention.bytes", Text("-1"), Any).bytes().dynamic().from("ServerLogConfigs")
        .about("The oldest segments go as long as the log without them is still at least this large; -1 sets no limit. It counts each partition by itself."),
    long("log.retention.check.interval.ms", Text("300000"), AtLeast(1)).ms().from("ServerLogConfigs")
        .about("How often a broker looks for segments that are too old or too many."),
    int("log.retention.hours", Text("168"), Any).hours().from("ServerLogConfigs")
        .about("As log.retention.ms, in hours, where neither that nor log.retention.minutes is set."),
    int("log.retention.minutes", Null, Any).minutes().from("ServerLogConfigs")
        .about("As log.retention.ms, in minutes, where that is not set."),
    long("log.retention.ms", Null, Any).ms().dynamic().from("ServerLogConfigs")
        .about("A segment goes once its youngest record is older than this; -1 keeps it for ever."),
    int("log.roll.hours", Text("168"), AtLeast(1)).hours().from("ServerLogConfigs")
        .about("As log.roll.ms, in hours, where that is not set."),
    int("log.roll.jitter.hours", Text("0"), AtLeast(0)).hours().from("ServerLogConfigs")
        .about("As log.roll.jitter.ms, in hours, where that is not set."),
    long("log.roll.jitter.ms", Null, Any).ms().dynamic().from("ServerLogConfigs")
        .about("The age at which a segment is closed is lowered by a random time up to this, so that not all segments close together."),
    long("log.roll.ms", Null, Any).ms().dynamic().from("ServerLogConfigs")
        .about("An append starts a new segment when it is younger than the segment's first record by more than this."),
    int("log.segment.bytes", Text("1073741824"), AtLeast(1048576)).bytes().dynamic().from("ServerLogConfigs")
        .about("An append that would make the active segment larger than this starts a new one."),
    long("log.segment.delete.delay.ms", Text("60000"), AtLeast(0)).ms().dynamic().from("ServerLogConfigs")
        .about("How long the files of a removed segment stay on disk, renamed, before they are unlinked."),
    int("max.decompressed.message.bytes", Text("2147483639"), Between(1, 2147483639)).bytes().dynamic().from("ServerLogConfigs"),
    int("max.incremental.fetch.session.cache.slots", Text("1000"), AtLeast(0)).from("ServerConfigs"),
    int("max.request.partition.size.limit", Text("2000"), AtLeast(1)).from("ServerConfigs"),
    int("message.max.bytes", Text("1048588"), AtLeast(0)).bytes().dynamic().from("ServerLogConfigs")
        .about("The largest record batch that the leader takes."),
    string("metadata.log.dir", Null, Any).from("MetadataLogConfig"),
    long("metadata.log.max.record.bytes.between.snapshots", Text("20971520"), AtLeast(1)).bytes().from("MetadataLogConfig"),
    long("metadata.log.max.snapshot.interval.ms", Text("3600000"), AtLeast(0)).ms().from("MetadataLogConfig"),
    int("metadata.log.segment.bytes", Text("1073741824"), AtLeast(8388608)).bytes().from("MetadataLogConfig"),
    long("metadata.log.segment.ms", Text("604800000"), Any).ms().from("MetadataLogConfig"),
    int("metadata.max.idle.interval.ms", Text("500"), AtLeast(0)).ms().from("MetadataLogConfig"),
    long("metadata.max.retention.bytes", Text("104857600"), Any).bytes().from("MetadataLogConfig"),
    long("metadata.max.retention.ms", Text("604800000"), Any).ms().from("MetadataLogConfig"),
    int("min.insync.replicas", Text("1"), AtLeast(1)).dynamic().from("ServerLogConfigs")
        .about("With acks=all a write is refused while fewer replicas than this are in sync, and no record becomes readable below it."),
    int("node.id", Required, AtLeast(0)).from("KRaftConfigs"),
    int("num.partitions", Text("1"), AtLeast(1)).from("ServerLogConfigs")
        .about("How many partitions a topic has that is created by first use."),
    int("num.recovery.threads.per.data.dir", Text("2"), AtLeast(1)).dynamic().from("ServerLogConfigs"),
    int("num.replica.alter.log.dirs.threads", Null, Any).from("ReplicationConfigs"),
    int("num.replica.fetchers", Text("1"), AtLeast(1)).dynamic().from("ReplicationConfigs"),
    int("offset.metadata.max.bytes", Text("4096"), Any).bytes().from("GroupCoordinatorConfig"),
    int("offsets.commit.timeout.ms", Text("5000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("A coordinator waits this long until what it wrote is replicated."),
    int("offsets.load.buffer.size", Text("5242880"), AtLeast(1)).bytes().from("GroupCoordinatorConfig"),
    long("offsets.retention.check.interval.ms", Text("600000"), AtLeast(1)).ms().from("GroupCoordinatorConfig")
        .about("How often a broker looks for commits that are too old."),
    int("offsets.retention.minutes", Text("10080"), AtLeast(1)).minutes().from("GroupCoordinatorConfig")
        .about("How long the commits of a group without members are kept."),
    int("offsets.topic.compression.codec", Text("0"), Any).from("GroupCoordinatorConfig"),
    int("offsets.topic.num.partitions", Text("50"), AtLeast(1)).from("GroupCoordinatorConfig")
        .about("How many partitions the topic of the committed offsets has."),
    short("offsets.topic.replication.factor", Text("3"), AtLeast(1)).from("GroupCoordinatorConfig")
        .about("How many replicas the topic of the committed offsets has."),
    int("offsets.topic.segment.bytes", Text("104857600"), AtLeast(1)).bytes().from("GroupCoordinatorConfig")
        .about("Segments of __consumer_offsets are this large."),
    list("process.roles", Required, OneOf(&["broker", "controller"])).from("KRaftConfigs"),
    int("producer.id.expiration.check.interval.ms", Text("600000"), AtLeast(1)).ms().internal().from("TransactionLogConfig"),
    int("producer.id.expiration.ms", Text("86400000"), AtLeast(1)).ms().dynamic().from("TransactionLogConfig")
        .about("A broker forgets a producer that has written nothing to a partition for this long."),
    int("producer.purgatory.purge.interval.requests", Text("1000"), Any).from("ReplicationConfigs"),
    int("replica.fetch.backoff.ms", Text("1000"), AtLeast(0)).ms().from("ReplicationConfigs")
        .about("How long a follower waits after a failed fetch."),
    int("replica.fetch.max.bytes", Text("1048576"), AtLeast(0)).bytes().from("ReplicationConfigs")
        .about("A follower asks for at most this much of one partition, but always gets one batch."),
    int("replica.fetch.min.bytes", Text("1"), Any).bytes().from("ReplicationConfigs")
        .about("The leader answers a follower's fetch once it has this much to give."),
    int("replica.fetch.response.max.bytes", Text("10485760"), AtLeast(0)).bytes().from("ReplicationConfigs")
        .about("A follower asks for at most this much in one response, but always gets one batch."),
    int("replica.fetch.wait.max.ms", Text("500"), Any).ms().from("ReplicationConfigs")
        .about("How long the leader holds a follower's fetch that would carry nothing."),
    long("replica.high.watermark.checkpoint.interval.ms", Text("5000"), Any).ms().from("ReplicationConfigs")
        .about("How often a broker writes down the high watermark of each replica."),
    long("replica.lag.time.max.ms", Text("30000"), Any).ms().from("ReplicationConfigs")
        .about("A follower that has not caught up with the leader for this long leaves the in-sync replicas."),
    string("replica.selector.class", Null, Any).from("ReplicationConfigs"),
    int("replica.socket.receive.buffer.bytes", Text("65536"), Any).bytes().from("ReplicationConfigs"),
    int("replica.socket.timeout.ms", Text("30000"), Any).ms().from("ReplicationConfigs")
        .about("How long a follower waits for the answer to a fetch."),
    int("replication.quota.window.num", Text("11"), AtLeast(1)).from("ServerConfigs"),
    int("replication.quota.window.size.seconds", Text("1"), AtLeast(1)).seconds().from("ServerConfigs"),
    long("server.max.startup.time.ms", Text("9223372036854775807"), AtLeast(0)).ms().internal().from("KRaftConfigs"),
    int("transaction.abort.timed.out.transaction.cleanup.interval.ms", Text("10000"), AtLeast(1)).ms().from("TransactionLogConfig"),
    int("transaction.max.timeout.ms", Text("900000"), AtLeast(1)).ms().from("TransactionLogConfig"),
    boolean("transaction.partition.verification.enable", Text("true"), Any).dynamic().from("TransactionLogConfig"),
    int("transaction.remove.expired.transaction.cleanup.interval.ms", Text("3600000"), AtLeast(1)).ms().from("TransactionLogConfig"),
    int("transaction.state.log.load.buffer.size", Text("5242880"), AtLeast(1)).bytes().from("TransactionLogConfig"),
    int("transaction.state.log.min.isr", Text("2"), AtLeast(1)).from("TransactionLogConfig"),
    int("transaction.state.log.num.partitions", Text("50"), AtLeast(1)).from("TransactionLogConfig"),
    short("transaction.state.log.replication.factor", Text("3"), AtLeast(1)).from("TransactionLogConfig"),
    int("transaction.state.log.segment.bytes", Text("104857600"), AtLeast(1)).bytes().from("TransactionLogConfig"),
    boolean("transaction.two.phase.commit.enable", Text("false"), Any).from("TransactionLogConfig"),
    int("transactional.id.expiration.ms", Text("604800000"), AtLeast(1)).ms().from("TransactionLogConfig"),
    boolean("unclean.leader.election.enable", Text("false"), Any).dynamic().from("ReplicationConfigs")
        .about("With no safe replica left, any live one may lead, even if records that were acknowledged are lost by it."),
    long("unclean.leader.election.interval.ms", Text("300000"), AtLeast(1)).ms().internal().from("ReplicationConfigs")
        .about("How often the controller looks for leaderless partitions that an unclean election may serve."),
];
