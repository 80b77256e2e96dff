//! The rules that decide outcomes, in one table: an id, one sentence, where Kafka says so, and the test that pins it.
//!
//! Every event names its rule. A rule can be switched off in a world ([`Rules`]): the tests that show that each guard is
//! needed use it, and so does the ladder of older versions.

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleRow {
    /// The rule's id, as events and `expect events ID` name it.
    pub id: &'static str,
    /// What it says, in one sentence.
    pub sentence: &'static str,
    /// Kafka's class and method, KIP or format field.
    pub source: &'static str,
    /// The story that fails without it.
    pub pinned_by: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $sentence:literal $source:literal $pinned:literal;)*) => {
        /// A rule that decides something.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $sentence] $name,)* }

        /// The table, in the order of [`Rule`].
        pub const TABLE: &[RuleRow] = &[$(RuleRow { id: $id, sentence: $sentence, source: $source, pinned_by: $pinned },)*];

        /// Every rule, in order.
        pub const ALL: &[Rule] = &[$(Rule::$name,)*];
    };
}

rules! {
    // What people and the world do.
    Act "act" "Somebody did this: an operator, a client, or a fault." "scenario" "";
    Wire "net.deliver" "A message arrives one link latency after it left; one connection keeps its order." "NetworkClient, Selector" "";
    WireCut "net.cut" "A message on a cut path is lost; the peers notice by their own time-outs." "NetworkClient.handleTimedOutRequests" "";
    WireDown "net.down" "A process that ended closes its connections; peers notice at once, after what it had sent." "Selector.close" "";
    WireDrop "net.drop" "A dropped message is lost and the connection stays; the sender notices by its own time-out." "NetworkClient.handleTimedOutRequests" "";
    Clock "clock" "A timer fires when its time has come." "SystemTimer, KafkaScheduler" "";

    // Producer.
    PartitionKey "producer.partition.key" "A key always goes to the same partition: murmur2 of its bytes, modulo the number of partitions." "BuiltInPartitioner.partitionForKey" "recordings/partitioner";
    PartitionSticky "producer.partition.sticky" "A record without a key joins the partition of the moment, which changes after batch.size bytes." "BuiltInPartitioner.updatePartitionInfo (KIP-794)" "recordings/partitioner";
    PartitionGiven "producer.partition.given" "The application chose the partition." "KafkaProducer.partition" "client: a_request_takes_the_first_batch_of_every_partition_of_its_broker";
    Linger "producer.linger" "A batch leaves when it is full or has waited linger.ms." "RecordAccumulator.ready" "client: linger_and_the_delivery_time_out_are_needed";
    InFlight "producer.in-flight" "At most max.in.flight.requests.per.connection requests wait for an answer from one broker." "InFlightRequests.canSendMore" "client: each_guard_of_the_producer_is_needed";
    Idempotence "producer.idempotence" "Each batch carries producer id, epoch and sequence, so that a retry is recognised." "TransactionManager, KIP-98" "client: each_guard_of_the_producer_is_needed";
    SendAcks0 "acks.none" "acks=0: the record counts as sent when it leaves; no answer ever comes." "Sender.sendProduceRequest" "stories/c45b-acks0-lost-on-the-wire";
    Retry "producer.retry" "A retriable error is tried again after a back-off, with fresh metadata, until delivery.timeout.ms." "Sender.canRetry, ProducerConfig" "client: each_guard_of_the_producer_is_needed";
    Expire "producer.delivery-timeout" "A record that is not decided within delivery.timeout.ms fails." "ProducerBatch.hasReachedDeliveryTimeout" "client: linger_and_the_delivery_time_out_are_needed";
    ClientTimeout "client.request-timeout" "A request without an answer within request.timeout.ms fails, and the connection is closed." "NetworkClient.handleTimedOutRequests" "stories/c80-lost-answer-without-idempotence";
    ClientMetadata "client.metadata" "A client asks any broker it reaches for the leaders, and goes to the one it is told." "Metadata, NetworkClient.DefaultMetadataUpdater" "client: the_producer_follows_the_leader";
    TellAcked "producer.acknowledged" "The application is told the offset that the leader's answer carries." "ProducerBatch.complete" "stories/c43-acks1-leader-dies-before-replication";
    TellFailed "producer.failed" "The application is told an error: whether the record is in the log it does not learn." "ProducerBatch.completeExceptionally" "stories/c87-failed-but-there";

    // Consumer.
    ConsumerRead "consumer.read" "A consumer reads below the high watermark, and reading takes nothing away." "CompletedFetch, FetchIsolation.HIGH_WATERMARK" "client: a_consumer_reads_what_is_committed_and_goes_on_at_the_next_leader";
    ConsumerReset "consumer.reset" "Without a valid position auto.offset.reset decides where reading begins." "OffsetFetcher.resetPositionsIfNeeded" "client: out_of_range_is_for_the_reset_policy";
    ConsumerSeek "consumer.seek" "A seek moves the consumer's own position and nobody else's." "SubscriptionState.seek" "client: latest_skips_what_is_there_and_seek_rewinds";
    ConsumerEpoch "consumer.epoch" "After a leader change a consumer checks its position against the end of the epoch it last read." "OffsetFetcher.validatePositionsIfNeeded (KIP-320)" "client: a_consumer_whose_records_were_lost_goes_on_where_the_logs_part";

    // Leader.
    AppendLeader "log.append.leader" "The leader gives the next offsets, stamps its epoch and writes to the page cache." "UnifiedLog.appendAsLeader, LogValidator" "";
    NotLeader "produce.not-leader" "A broker that does not lead the partition refuses the write." "ReplicaManager.appendToLocalLog" "";
    MinIsrAdmission "acks.all.min-isr" "acks=all is refused before the append when the committed ISR is smaller than min.insync.replicas." "Partition.appendRecordsToLeader" "";
    Validate "log.validate" "A batch is checked as a whole before it is written; one bad record refuses it." "LogValidator, UnifiedLog.analyzeAndValidateRecords" "";
    Deduplicate "producer-state.duplicate" "A batch equal in sequence to one of the producer's last five is answered as before and not written again." "ProducerStateEntry.findDuplicateBatch" "";
    Sequence "producer-state.sequence" "A sequence that is not the next one is refused." "ProducerAppendInfo.checkSequence" "";
    AckLeader "acks.leader" "acks=1: the leader answers after its own append." "ReplicaManager.appendRecords" "";
    AckAll "acks.all" "acks=all: the leader answers when the high watermark has passed the record, that is when every in-sync replica has it." "Partition.checkEnoughReplicasReachOffset, DelayedProduce" "";
    AckTimeout "acks.all.timeout" "A write that is not replicated within its time-out is answered with an error and stays in the log." "DelayedProduce.onExpiration" "";
    Acks0Close "acks.none.close" "acks=0: on an error the broker closes the connection, so that the client asks for metadata." "KafkaApis.sendResponseCallback" "";
    HighWatermark "hw.leader" "The high watermark is the smallest log end among the in-sync replicas, and those about to join." "Partition.maybeIncrementLeaderHW" "";
    HighWatermarkMinIsr "hw.min-isr" "The high watermark stands still while the ISR is smaller than min.insync.replicas." "Partition.maybeIncrementLeaderHW (KAFKA-15583)" "";
    FetchAnswer "fetch.answer" "A fetch is answered when there is something new, or after its longest wait." "ReplicaManager.fetchMessages, DelayedFetch" "";
    FetchFenced "fetch.epoch" "A request from another leader epoch is refused." "Partition.checkCurrentLeaderEpoch (KIP-320)" "";
    OutOfRange "fetch.out-of-range" "An offset outside log start and log end is refused." "UnifiedLog.read, checkLogStartOffset" "";
    OffsetNotAvailable "list-offsets.not-available" "A new leader does not tell the end until its high watermark has reached the start of its epoch." "Partition.fetchOffsetForTimestamp (KIP-207)" "";
    IsrShrink "isr.shrink.lag" "A follower that has not reached the log end for replica.lag.time.max.ms leaves the ISR." "Partition.maybeShrinkIsr" "";
    IsrExpand "isr.expand" "A follower that has reached the high watermark and the start of the leader's epoch joins the ISR." "Partition.maybeExpandIsr" "";
    IsrCommit "isr.commit" "A change of the ISR counts when the controller has accepted it." "AlterPartitionManager, Partition.handleAlterPartitionUpdate" "";

    // Follower.
    AppendFollower "log.append.follower" "A follower copies its leader's batches byte for byte." "UnifiedLog.appendAsFollower" "";
    HighWatermarkFollower "hw.follower" "A follower takes the high watermark from its leader's answer, so it is one fetch behind." "ReplicaFetcherThread.processPartitionData" "";
    TruncateDiverging "follower.truncate" "A follower whose last epoch ends earlier in its leader's log cuts its log there." "AbstractFetcherThread.truncateOnFetchResponse (KIP-101, KIP-279)" "";
    TruncateOutOfRange "follower.truncate.range" "A follower beyond its leader's log end cuts to it; one below its leader's log start begins anew there." "AbstractFetcherThread.fetchOffsetAndTruncate" "";
    TruncateHighWatermark "follower.truncate.hw" "Before KIP-101: on becoming follower a replica cuts its log to its own high watermark." "KIP-101" "";
    BecomeLeader "leader.become" "A new leader keeps its log and notes where its epoch begins." "Partition.makeLeader" "";
    BecomeFollower "follower.become" "A follower keeps its log and fetches from its log end; its leader tells it where to cut." "Partition.makeFollower" "";
    LogStartFollower "log-start.follower" "A follower takes over its leader's log start offset." "ReplicaFetcherThread.processPartitionData" "";

    // Storage.
    RollSize "log.roll.size" "A batch that does not fit below segment.bytes begins a new segment." "LogSegment.shouldRoll" "";
    RollTime "log.roll.time" "A segment rolls when a record is segment.ms younger than its first one." "LogSegment.shouldRoll" "";
    RollAsked "log.roll.asked" "The operator asked for a new segment." "UnifiedLog.roll" "";
    FlushRoll "log.flush.roll" "A closed segment is flushed in the background." "UnifiedLog.roll" "";
    FlushMessages "log.flush.messages" "With flush.messages the log is flushed when that many records wait." "UnifiedLog.append" "";
    FlushStop "log.flush.stop" "A clean stop flushes everything and leaves a marker." "LogManager.shutdown" "";
    FlushAsked "log.flush.asked" "The operator asked for a flush." "UnifiedLog.flush" "";
    Writeback "os.writeback" "The operating system writes back pages that have waited long enough." "Linux dirty_expire_centisecs" "";
    FlushMs "log.flush.ms" "With flush.ms a log is flushed when that time has passed since the last flush." "LogManager.flushDirtyLogs" "";
    RetentionTime "retention.time" "A segment goes when its youngest record is older than retention.ms, oldest segment first." "UnifiedLog.deleteRetentionMsBreachedSegments" "";
    RetentionSize "retention.size" "The oldest segment goes while at least retention.bytes remain without it." "UnifiedLog.deleteRetentionSizeBreachedSegments" "";
    RetentionStart "retention.log-start" "A segment wholly below the log start offset goes." "UnifiedLog.deleteLogStartOffsetBreachedSegments" "";
    Compaction "compaction" "Below the active segment the last record of each key stays; offsets never change." "LogCleaner, Cleaner" "";
    FileDelete "log.file-delete" "A deleted segment's files go file.delete.delay.ms later." "LocalLog.deleteSegmentFiles" "";
    RecoverKill "recovery.unclean" "After an unclean end the log is scanned from the recovery point; a bad batch and all behind it are dropped." "LogLoader.recoverLog" "";
    RecoverClean "recovery.clean" "After a clean stop nothing is scanned." "LogLoader.load" "";
    PowerLoss "host.power-loss" "What was not flushed is gone with the host's memory." "page cache" "";
    Kill "process.kill" "A killed process loses nothing it has written: the page cache belongs to the host." "page cache" "";
    Checkpoint "checkpoint" "Recovery points, log starts and high watermarks are written from time to time." "LogManager, ReplicaManager.checkpointHighWatermarks" "";

    // Controller.
    Session "controller.session" "A broker that is not heard for broker.session.timeout.ms is fenced." "BrokerHeartbeatManager, ReplicationControlManager.maybeFenceStaleBroker" "";
    Registration "controller.registration" "A starting broker registers and begins fenced." "ClusterControlManager.registerBroker" "";
    DuplicateRegistration "controller.registration.duplicate" "A new process of a broker waits until the old one's session has ended." "ClusterControlManager.registerBroker" "";
    Unfence "controller.unfence" "A broker that has caught up with the metadata is unfenced." "BrokerHeartbeatManager.calculateNextBrokerState" "";
    ControlledShutdown "controller.controlled-shutdown" "A stopping broker first hands over what it leads." "BrokerHeartbeatManager.calculateNextBrokerState" "";
    ElectIsr "election.isr" "The first live in-sync replica in assignment order leads." "PartitionChangeBuilder.electAnyLeader" "";
    ElectElr "election.elr" "With nobody in sync, a live eligible leader replica leads: it holds everything committed." "PartitionChangeBuilder (KIP-966)" "";
    ElectLastKnown "election.last-known-leader" "With ISR and ELR empty the last known leader leads, whatever its log holds." "PartitionChangeBuilder.canElectLastKnownLeader" "";
    ElectUnclean "election.unclean" "With unclean election on, the first live replica in assignment order leads, in sync or not." "PartitionChangeBuilder.electAnyLeader" "";
    ElectPreferred "election.preferred" "The first replica of the assignment leads when it is in sync." "PartitionChangeBuilder.electPreferredLeader" "";
    ElectNobody "election.none" "Nobody who may lead is alive: the partition is offline." "PartitionChangeBuilder" "";
    IsrFenced "isr.fenced" "A fenced broker leaves the ISR." "ReplicationControlManager.handleBrokerFenced" "";
    IsrUnclean "isr.unclean-shutdown" "A broker that registers after an unclean end leaves ISR and ELR." "ReplicationControlManager.handleUncleanBrokerShutdown (KIP-966)" "";
    ElrEnter "elr.enter" "A replica that leaves an ISR below the minimum stays eligible." "PartitionChangeBuilder.maybePopulateTargetElr (KIP-966)" "";
    ElrLeave "elr.leave" "The ELR is emptied when the ISR reaches the minimum, or min.insync.replicas is set." "PartitionChangeBuilder, ConfigurationControlManager" "";
    AlterValidate "controller.alter-partition" "The controller checks a wanted ISR: epochs, sender, members." "ReplicationControlManager.validateAlterPartitionData" "";
    Reassignment "controller.reassignment" "A reassignment adds first and removes when the new replicas are in sync." "PartitionReassignmentReplicas" "";
    Directory "controller.directory" "A broker with a new data directory may not lead until it has reported it." "ReplicationControlManager.handleAssignReplicasToDirs" "";
    Metadata "metadata.propagate" "A broker acts on a decision when the metadata reaches it." "BrokerMetadataPublisher" "";
}

impl Rule {
    /// The rule's row in the table.
    pub fn row(self) -> &'static RuleRow {
        &TABLE[self as usize]
    }

    /// The rule's id.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// The rule with this id.
    pub fn from_id(id: &str) -> Option<Rule> {
        ALL.iter().copied().find(|rule| rule.id() == id)
    }
}

/// Which rules are in force; all of them but the historical ones, unless a world says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u128);

impl Default for Rules {
    fn default() -> Self {
        Rules(u128::MAX).without(Rule::TruncateHighWatermark)
    }
}

impl Rules {
    /// Whether a rule is in force.
    pub const fn on(self, rule: Rule) -> bool {
        self.0 >> rule as u32 & 1 == 1
    }

    /// The same without one rule.
    #[must_use]
    pub const fn without(self, rule: Rule) -> Rules {
        Rules(self.0 & !(1 << rule as u32))
    }

    /// The same with one rule more.
    #[must_use]
    pub const fn with(self, rule: Rule) -> Rules {
        Rules(self.0 | 1 << rule as u32)
    }

    /// As two fixed-width words, for fingerprints.
    pub const fn bits(self) -> u128 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_found() {
        for &rule in ALL {
            assert_eq!(Rule::from_id(rule.id()), Some(rule), "{} stands twice", rule.id());
        }
        assert!(ALL.len() <= 128, "Rules has 128 bits");
    }
}
