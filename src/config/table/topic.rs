//! The configs of a topic. One row each: name, default and validator as Kafka 4.4 defines them, then what this project adds.
//!
//! `synonym` names the broker config that supplies the default. All of them can be changed while the topic is in use.
//! Mirrors `LogConfig`; a test compares every row with what was read from Kafka's own definitions.

use crate::config::def::{Def, DefaultValue::*, Valid::*, boolean, double, int, list, long, string};

/// The rows, in alphabetical order.
#[rustfmt::skip] // A table is read along its columns.
pub(super) static CONFIGS: &[Def] = &[
    list("cleanup.policy", Text("delete"), OneOf(&["compact", "delete"])).synonym("log.cleanup.policy")
        .about("What happens to old segments: deleted by age and size, compacted to the latest record of each key, both, or nothing."),
    int("compression.gzip.level", Text("-1"), BetweenOrMinusOne(1, 9)).synonym("compression.gzip.level"),
    int("compression.lz4.level", Text("9"), Between(1, 17)).synonym("compression.lz4.level"),
    string("compression.type", Text("producer"), OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"])).synonym("compression.type")
        .about("The codec in which the leader stores batches; 'producer' leaves them as they came."),
    int("compression.zstd.level", Text("3"), Between(-131072, 22)).synonym("compression.zstd.level"),
    long("delete.retention.ms", Text("86400000"), AtLeast(0)).ms().synonym("log.cleaner.delete.retention.ms")
        .about("How long a delete marker stays readable after compaction first reached it."),
    boolean("errors.deadletterqueue.group.enable", Text("false"), Any),
    long("file.delete.delay.ms", Text("60000"), AtLeast(0)).ms().synonym("log.segment.delete.delay.ms")
        .about("How long the files of a removed segment stay on disk, renamed, before they are unlinked."),
    long("flush.messages", Text("9223372036854775807"), AtLeast(1)).synonym("log.flush.interval.messages")
        .about("A broker forces the log to disk after this many records; by default it never does and leaves that to the operating system."),
    long("flush.ms", Text("9223372036854775807"), AtLeast(0)).ms().synonym("log.flush.interval.ms")
        .about("A broker forces records older than this to disk; by default it never does and leaves that to the operating system."),
    list("follower.replication.throttled.replicas", Text(""), ThrottledReplicas),
    int("index.interval.bytes", Text("4096"), AtLeast(0)).bytes().synonym("log.index.interval.bytes")
        .about("More than this many bytes lie between two entries of an index, so a smaller number makes a denser index."),
    int("internal.segment.bytes", Null, Any).bytes().internal(),
    list("leader.replication.throttled.replicas", Text(""), ThrottledReplicas),
    long("local.retention.bytes", Text("-2"), AtLeast(-2)).bytes().synonym("log.local.retention.bytes"),
    long("local.retention.ms", Text("-2"), AtLeast(-2)).ms().synonym("log.local.retention.ms"),
    long("max.compaction.lag.ms", Text("9223372036854775807"), AtLeast(1)).ms().synonym("log.cleaner.max.compaction.lag.ms")
        .about("No record waits longer than this for compaction, however clean the log is otherwise."),
    int("max.decompressed.message.bytes", Text("2147483639"), Between(1, 2147483639)).bytes().synonym("max.decompressed.message.bytes"),
    int("max.message.bytes", Text("1048588"), AtLeast(0)).bytes().synonym("message.max.bytes")
        .about("The largest record batch that the leader takes."),
    long("message.timestamp.after.max.ms", Text("3600000"), AtLeast(0)).ms().synonym("log.message.timestamp.after.max.ms")
        .about("How far ahead of the broker's clock a record's own timestamp may lie."),
    long("message.timestamp.before.max.ms", Text("9223372036854775807"), AtLeast(0)).ms().synonym("log.message.timestamp.before.max.ms")
        .about("How far behind the broker's clock a record's own timestamp may lie."),
    string("message.timestamp.type", Text("CreateTime"), OneOf(&["CreateTime", "LogAppendTime"])).synonym("log.message.timestamp.type")
        .about("Whose clock stamps a record: the producer's, or the leader's at the append."),
    double("min.cleanable.dirty.ratio", Text("0.5"), Between(0, 1)).synonym("log.cleaner.min.cleanable.ratio")
        .about("A log is compacted once this share of it has not been compacted yet."),
    long("min.compaction.lag.ms", Text("0"), AtLeast(0)).ms().synonym("log.cleaner.min.compaction.lag.ms")
        .about("A record stays untouched by compaction for at least this long."),
    int("min.insync.replicas", Text("1"), AtLeast(1)).synonym("min.insync.replicas")
        .about("With acks=all a write is refused while fewer replicas than this are in sync, and no record becomes readable below it."),
    boolean("preallocate", Text("false"), Any).synonym("log.preallocate")
        .about("A new segment's file has its full size from the start."),
    long("remote.copy.lag.bytes", Text("-1"), AtLeast(-1)).bytes().synonym("log.remote.copy.lag.bytes"),
    long("remote.copy.lag.ms", Text("0"), AtLeast(-1)).ms().synonym("log.remote.copy.lag.ms"),
    boolean("remote.log.copy.disable", Text("false"), Any),
    boolean("remote.log.delete.on.disable", Text("false"), Any),
    boolean("remote.storage.enable", Text("false"), Any),
    long("retention.bytes", Text("-1"), Any).bytes().synonym("log.retention.bytes")
        .about("The oldest segments go as long as the log without them is still at least this large; -1 sets no limit. It counts each partition by itself."),
    long("retention.ms", Text("604800000"), AtLeast(-1)).ms().synonym("log.retention.ms")
        .about("A segment goes once its youngest record is older than this; -1 keeps it for ever."),
    int("segment.bytes", Text("1073741824"), AtLeast(1048576)).bytes().synonym("log.segment.bytes")
        .about("An append that would make the active segment larger than this starts a new one."),
    int("segment.index.bytes", Text("10485760"), AtLeast(4)).bytes().synonym("log.index.size.max.bytes")
        .about("The size that an index file is given in advance; a full index starts a new segment."),
    long("segment.jitter.ms", Text("0"), AtLeast(0)).ms().synonym("log.roll.jitter.ms")
        .about("The age at which a segment is closed is lowered by a random time up to this, so that not all segments close together."),
    long("segment.ms", Text("604800000"), AtLeast(1)).ms().synonym("log.roll.ms")
        .about("An append starts a new segment when it is younger than the segment's first record by more than this."),
    boolean("unclean.leader.election.enable", Text("false"), Any).synonym("unclean.leader.election.enable")
        .about("With no safe replica left, any live one may lead, even if records that were acknowledged are lost by it."),
];
