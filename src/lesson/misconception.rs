//! Beliefs about Kafka's durability that are common and wrong, each with what is right. A prediction that follows one is
//! answered with its name.

/// A row of the table.
struct Row {
    id: &'static str,
    belief: &'static str,
    truth: &'static str,
}

macro_rules! misconceptions {
    ($($name:ident $belief:literal $truth:literal;)*) => {
        /// A belief that many hold and that is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Misconception { $(#[doc = $belief] $name,)* }

        const TABLE: &[Row] = &[$(Row { id: stringify!($name), belief: $belief, truth: $truth },)*];
        const ALL: &[Misconception] = &[$(Misconception::$name,)*];
    };
}

misconceptions! {
    M01 "After retention.ms a record is gone."
        "Whole segments go, at the first check after their youngest record is older than that. It is a least age, not a greatest.";
    M02 "Retention never touches the active segment."
        "When every record of it has expired it is rolled and removed like any other; the log is empty then.";
    M03 "With acks=all every replica has the record."
        "Every replica that is in sync has it, in page cache. In sync can mean one broker.";
    M04 "min.insync.replicas=2 means that the leader waits for two copies."
        "It only says below which number of in-sync replicas a write is refused. The leader waits for all that are in sync.";
    M05 "min.insync.replicas protects writes with acks=1 too."
        "It is asked for acks=all alone. Other writes are taken, and stay unreadable while too few are in sync.";
    M06 "The more in-sync replicas a write demands, the safer the topic."
        "Each one demanded is one that may not fail: with three of three a single stopped broker ends all writes.";
    M07 "An error means that the record was not written."
        "It means that nobody knows. The record may stand in the log already, or come to stand there.";
    M08 "Compaction leaves one record of each key."
        "It leaves at least the latest. The active segment and young records are not touched.";
    M09 "The cleaner runs as soon as half the log is stale."
        "It looks at closed segments only, counts bytes, and wants more than the configured share.";
    M10 "A tombstone goes after delete.retention.ms."
        "One pass starts its clock and a later one removes it. Without writes there is no pass.";
    M11 "Offsets have no gaps."
        "Compaction and transaction markers leave gaps. A reader gets the next offset that exists.";
    M12 "retention.bytes is the most that a topic takes."
        "It is the least that each partition keeps: up to one segment more is normal, times partitions, times replicas.";
    M13 "segment.ms is a clock on the broker."
        "It is compared when a record arrives, between the timestamps of records. Silence rolls nothing.";
    M14 "A record is as old as the time since the broker got it."
        "Its producer's timestamp counts. An old one expires at once, and one from the future holds up everything behind it.";
    M15 "acks=1 loses records only if the leader crashes."
        "Any change of leader can lose what the next leader had not fetched, a planned one as well.";
    M16 "A follower that is in sync has all that the leader has."
        "It had, at some moment within replica.lag.time.max.ms. Only what lies below the high watermark is certain.";
    M17 "A consumer can read what is in the log, or what was acknowledged."
        "It reads below the high watermark: what every in-sync replica is known to have, while enough are in sync.";
    M18 "An unclean election takes the replica with the longest log."
        "It takes the first live one in the order of the assignment, and all others cut their logs to it.";
    M19 "Without unclean elections a partition is available while any replica lives."
        "It needs one that is in sync, or eligible. Until such a one is back it neither reads nor writes.";
    M20 "A killed broker loses what it had not flushed; or: where there are replicas, nothing need be flushed."
        "The page cache belongs to the host: a killed process loses nothing. Hosts that lose power do, and all at once leave no copy.";
    M21 "A returning leader keeps its extra records, or sends them again."
        "It follows now: it cuts its log where the new leader's differs and copies from there. Nothing is merged.";
    M22 "A returning replica cuts its log to its high watermark."
        "It compares leader epochs. A cut to the high watermark would lose committed records.";
    M23 "auto.offset.reset decides where every start begins."
        "It is asked only when there is no valid position. And 'latest' skips what is still stored.";
    M24 "An idempotent producer never writes a duplicate."
        "It recognises its own retries, within one session. What the application sends again is new.";
    M25 "A consumer commits each record that it has processed."
        "It commits one number, the next offset to read, and so everything before it.";
}

impl Misconception {
    /// Its id, such as `M17`.
    pub fn id(self) -> &'static str {
        TABLE[self as usize].id
    }

    /// The belief, as somebody would say it.
    pub fn belief(self) -> &'static str {
        TABLE[self as usize].belief
    }

    /// What is right instead.
    pub fn truth(self) -> &'static str {
        TABLE[self as usize].truth
    }

    /// The one with this id.
    pub fn from_id(id: &str) -> Option<Misconception> {
        ALL.iter().copied().find(|one| one.id() == id)
    }
}
