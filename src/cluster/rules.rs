//! The rules that decide outcomes, in one table: an id, one sentence, where Kafka says so, and the test that pins it.
//!
//! Every event names its rule. A rule can be switched off in a world ([`Rules`]): the test that shows that each guard is
//! needed uses it (`tests/rules.rs`), and so does the ladder of older versions.

/// What fails without a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// This story of `tests/stories`: it holds, and in a world without the rule it does not.
    Story(&'static str),
    /// Nothing can: the rule only names an act, so that every event has a rule to name.
    NamesAnAct,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleRow {
    /// The rule's id, as events and `expect events ID` name it.
    pub id: &'static str,
    /// What it says, in one sentence.
    pub sentence: &'static str,
    /// Kafka's class and method, KIP or format field.
    pub source: &'static str,
    /// What fails without it.
    pub pinned_by: Pin,
}

macro_rules! rules {
    (@pin act) => { Pin::NamesAnAct };
    (@pin $story:literal) => { Pin::Story($story) };
    ($($name:ident $id:literal $sentence:literal $source:literal $pinned:tt;)*) => {
        /// A rule that decides something.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $sentence] $name,)* }

        /// The table, in the order of [`Rule`].
        pub const TABLE: &[RuleRow] = &[$(RuleRow { id: $id, sentence: $sentence, source: $source, pinned_by: rules!(@pin $pinned) },)*];

        /// The ids alone: whoever names a rule without telling it needs no more of the table.
        const IDS: &[&str] = &[$($id,)*];

        /// Every rule, in order.
        pub const ALL: &[Rule] = &[$(Rule::$name,)*];
    };
}

rules! {
    // What people and the world do.
    Act "act" "Somebody did this: an operator, a client, or a fault." "scenario" act;
    Wire "net.deliver" "A message arrives one link latency after it left; one connection keeps its order." "NetworkClient, Selector" "t01-an-acknowledgement-event-by-event";
    WireCut "net.cut" "A message on a cut path is lost; the peers notice by their own time-outs." "NetworkClient.handleTimedOutRequests" "c43-acks1-leader-dies-before-replication";
    WireDown "net.down" "A process that ended closes its connections; peers notice at once, after what it had sent." "Selector.close" "r01-a-dead-process-hangs-up";
    WireDrop "net.drop" "A dropped message is lost and the connection stays; the sender notices by its own time-out." "NetworkClient.handleTimedOutRequests" "c45b-acks0-lost-on-the-wire";
    Clock "clock" "A timer fires when its time has come." "SystemTimer, KafkaScheduler" "c02a-canary-109-records-a-segment";

    // Producer.
    PartitionKey "producer.partition.key" "A key always goes to the same partition: murmur2 of its bytes, modulo the number of partitions." "BuiltInPartitioner.partitionForKey" "r02-who-chooses-the-partition";
    PartitionSticky "producer.partition.sticky" "A record without a key joins the partition of the moment, which changes after batch.size bytes." "BuiltInPartitioner.updatePartitionInfo (KIP-794)" "r02-who-chooses-the-partition";
    PartitionGiven "producer.partition.given" "The application chose the partition." "KafkaProducer.partition" "r02-who-chooses-the-partition";
    Linger "producer.linger" "A batch leaves when it is full or has waited linger.ms." "RecordAccumulator.ready" "r03-linger-gathers-a-batch";
    InFlight "producer.in-flight" "At most max.in.flight.requests.per.connection requests wait for an answer from one broker." "InFlightRequests.canSendMore" "c82b-one-in-flight-keeps-order";
    Idempotence "producer.idempotence" "Each batch carries producer id, epoch and sequence, so that a retry is recognised." "TransactionManager, KIP-98" "c81a-lost-answer-with-idempotence";
    SendAcks0 "acks.none" "acks=0: the record counts as sent when it leaves; no answer ever comes." "Sender.sendProduceRequest" "c45b-acks0-lost-on-the-wire";
    Retry "producer.retry" "A retriable error is tried again after a back-off, with fresh metadata, until delivery.timeout.ms." "Sender.canRetry, ProducerConfig" "c48a-rf2-min2-follower-stops";
    Expire "producer.delivery-timeout" "A record that is not decided within delivery.timeout.ms fails." "ProducerBatch.hasReachedDeliveryTimeout" "c47-min-isr-3-of-3";
    ClientTimeout "client.request-timeout" "A request without an answer within request.timeout.ms fails, and the connection is closed." "NetworkClient.handleTimedOutRequests" "c80-lost-answer-without-idempotence";
    ClientMetadata "client.metadata" "A client asks any broker it reaches for the leaders, and goes to the one it is told." "Metadata, NetworkClient.DefaultMetadataUpdater" "c43-acks1-leader-dies-before-replication";
    TellAcked "producer.acknowledged" "The application is told the offset that the leader's answer carries." "ProducerBatch.complete" "c42-two-fetches-before-the-ack";
    TellFailed "producer.failed" "The application is told an error: whether the record is in the log it does not learn." "ProducerBatch.completeExceptionally" "c07-future-timestamp-refused";

    // Consumer.
    ConsumerRead "consumer.read" "A consumer reads below the high watermark, and reading takes nothing away." "CompletedFetch, FetchIsolation.HIGH_WATERMARK" "c53b-acknowledged-lost-never-seen";
    ConsumerReset "consumer.reset" "Without a valid position auto.offset.reset decides where reading begins." "OffsetFetcher.resetPositionsIfNeeded" "c53a-acknowledged-but-unreadable";
    ConsumerSeek "consumer.seek" "A seek moves the consumer's own position and nobody else's." "SubscriptionState.seek" "c40-future-record-hijacks-rewind";
    ConsumerEpoch "consumer.epoch" "After a leader change a consumer checks its position against the end of the epoch it last read." "OffsetFetcher.validatePositionsIfNeeded (KIP-320)" "r04-a-reader-follows-a-truncation";

    // Leader.
    AppendLeader "log.append.leader" "The leader gives the next offsets, stamps its epoch and writes to the page cache." "UnifiedLog.appendAsLeader, LogValidator" "c42-two-fetches-before-the-ack";
    NotLeader "produce.not-leader" "A broker that does not lead the partition refuses the write." "ReplicaManager.appendToLocalLog" "c60a-offline-with-live-replicas";
    MinIsrAdmission "acks.all.min-isr" "acks=all is refused before the append when the committed ISR is smaller than min.insync.replicas." "Partition.appendRecordsToLeader" "c47-min-isr-3-of-3";
    Validate "log.validate" "A batch is checked as a whole before it is written; one bad record refuses it." "LogValidator, UnifiedLog.analyzeAndValidateRecords" "c07-future-timestamp-refused";
    Deduplicate "producer-state.duplicate" "A batch equal in sequence to one of the producer's last five is answered as before and not written again." "ProducerStateEntry.findDuplicateBatch" "c81a-lost-answer-with-idempotence";
    Sequence "producer-state.sequence" "A sequence that is not the next one is refused." "ProducerAppendInfo.checkSequence" "c82c-idempotence-keeps-order";
    AckLeader "acks.leader" "acks=1: the leader answers after its own append." "ReplicaManager.appendRecords" "c43-acks1-leader-dies-before-replication";
    AckAll "acks.all" "acks=all: the leader answers when the high watermark has passed the record, that is when every in-sync replica has it." "Partition.checkEnoughReplicasReachOffset, DelayedProduce" "c41-ack-waits-for-every-isr-member";
    AckTimeout "acks.all.timeout" "A write that is not replicated within its time-out is answered with an error and stays in the log." "DelayedProduce.onExpiration" "r05-the-broker-gives-up-waiting";
    Acks0Close "acks.none.close" "acks=0: on an error the broker closes the connection, so that the client asks for metadata." "KafkaApis.sendResponseCallback" "r06-acks0-learns-from-a-closed-connection";
    HighWatermark "hw.leader" "The high watermark is the smallest log end among the in-sync replicas, and those about to join." "Partition.maybeIncrementLeaderHW" "c42-two-fetches-before-the-ack";
    HighWatermarkMinIsr "hw.min-isr" "The high watermark stands still while the ISR is smaller than min.insync.replicas." "Partition.maybeIncrementLeaderHW (KAFKA-15583)" "c54-acks1-below-min-isr-is-frozen";
    FetchAnswer "fetch.answer" "A fetch is answered when there is something new, or after its longest wait." "ReplicaManager.fetchMessages, DelayedFetch" "t01-an-acknowledgement-event-by-event";
    FetchFenced "fetch.epoch" "A request from another leader epoch is refused." "Partition.checkCurrentLeaderEpoch (KIP-320)" "r07-an-old-epoch-is-refused";
    OutOfRange "fetch.out-of-range" "An offset outside log start and log end is refused." "UnifiedLog.read, checkLogStartOffset" "r08-out-of-range-is-said";
    OffsetNotAvailable "list-offsets.not-available" "A new leader does not tell the end until its high watermark has reached the start of its epoch." "Partition.fetchOffsetForTimestamp (KIP-207)" "r09-the-end-is-not-told-too-early";
    IsrShrink "isr.shrink.lag" "A follower that has not reached the log end for replica.lag.time.max.ms leaves the ISR." "Partition.maybeShrinkIsr" "c51a-hung-follower-holds-the-ack";
    IsrExpand "isr.expand" "A follower that has reached the high watermark and the start of the leader's epoch joins the ISR." "Partition.maybeExpandIsr" "c45c-acks0-skips-the-min-isr-check";
    IsrCommit "isr.commit" "A change of the ISR counts when the controller has accepted it." "AlterPartitionManager, Partition.handleAlterPartitionUpdate" "r10-a-leader-cut-off-commits-nothing";
    IsrForgotten "isr.forgotten" "News with the partition epoch that the leader knows already replace an ISR that it has asked for, though the controller may still grant it." "Partition.makeLeader, updateAssignmentAndIsr" "d01-an-isr-wish-forgotten";

    // Follower.
    AppendFollower "log.append.follower" "A follower copies its leader's batches byte for byte." "UnifiedLog.appendAsFollower" "c42-two-fetches-before-the-ack";
    HighWatermarkFollower "hw.follower" "A follower takes the high watermark from its leader's answer, so it is one fetch behind." "ReplicaFetcherThread.processPartitionData" "c42-two-fetches-before-the-ack";
    TruncateDiverging "follower.truncate" "A follower whose last epoch ends earlier in its leader's log cuts its log there." "AbstractFetcherThread.truncateOnFetchResponse (KIP-101, KIP-279)" "c43-acks1-leader-dies-before-replication";
    TruncateOutOfRange "follower.truncate.range" "A follower beyond its leader's log end cuts to it; one below its leader's log start begins anew there." "AbstractFetcherThread.fetchOffsetAndTruncate" "c63a-high-watermark-truncation-loses";
    AskEpochEnd "follower.truncate.ask" "Before KIP-595: a new follower asks where its last epoch ends in its leader's log, and cuts its own there before it fetches." "KIP-101, AbstractFetcherThread.maybeTruncate" "v02b-kip-279-fast-leader-changes-agree";
    EndOffsetOnly "follower.truncate.end-only" "Before KIP-279: the answer to that question is an end offset alone, and one round has to do." "KIP-101, LeaderEpochFileCache.endOffsetFor" "v02a-kip-101-fast-leader-changes-diverge";
    TruncateHighWatermark "follower.truncate.hw" "Before KIP-101: on becoming follower a replica cuts its log to its own high watermark." "KIP-101" "c63a-high-watermark-truncation-loses";
    BecomeLeader "leader.become" "A new leader keeps its log and notes where its epoch begins." "Partition.makeLeader" "c72-kill-loses-nothing";
    BecomeFollower "follower.become" "A follower keeps its log and fetches from its log end; its leader tells it where to cut." "Partition.makeFollower" "c63b-epochs-keep-the-record";
    LogStartFollower "log-start.follower" "A follower takes over its leader's log start offset." "ReplicaFetcherThread.processPartitionData" "s18-delete-records";

    // Storage.
    RollSize "log.roll.size" "A batch that does not fit below segment.bytes begins a new segment." "LogSegment.shouldRoll" "c01-youngest-record-keeps-segment";
    RollTime "log.roll.time" "A segment rolls when a record is segment.ms younger than its first one." "LogSegment.shouldRoll" "c10-segment-ms-needs-an-append";
    RollAsked "log.roll.asked" "The operator asked for a new segment." "UnifiedLog.roll" "c77-bad-early-segment";
    FlushRoll "log.flush.roll" "A closed segment is flushed in the background." "UnifiedLog.roll" "c77-bad-early-segment";
    FlushMessages "log.flush.messages" "With flush.messages the log is flushed when that many records wait." "UnifiedLog.append" "c73c-flush-every-record";
    FlushStop "log.flush.stop" "A clean stop flushes everything and leaves a marker." "LogManager.shutdown" "c63b-epochs-keep-the-record";
    FlushAsked "log.flush.asked" "The operator asked for a flush." "UnifiedLog.flush" "r11-what-forces-a-log-to-disk";
    Writeback "os.writeback" "The operating system writes back pages that have waited long enough." "Linux dirty_expire_centisecs" "r11-what-forces-a-log-to-disk";
    FlushMs "log.flush.ms" "With flush.ms a log is flushed when that time has passed since the last flush." "LogManager.flushDirtyLogs" "r11-what-forces-a-log-to-disk";
    RetentionTime "retention.time" "A segment goes when its youngest record is older than retention.ms, oldest segment first." "UnifiedLog.deleteRetentionMsBreachedSegments" "c01-youngest-record-keeps-segment";
    RetentionSize "retention.size" "The oldest segment goes while at least retention.bytes remain without it." "UnifiedLog.deleteRetentionSizeBreachedSegments" "c13-retention-bytes-smaller-than-a-segment";
    RetentionStart "retention.log-start" "A segment wholly below the log start offset goes." "UnifiedLog.deleteLogStartOffsetBreachedSegments" "l01-what-becomes-of-a-record";
    Compaction "compaction" "Below the active segment the last record of each key stays; offsets never change." "LogCleaner, Cleaner" "c20-duplicates-after-compaction";
    FileDelete "log.file-delete" "A deleted segment's files go file.delete.delay.ms later." "LocalLog.deleteSegmentFiles" "c02c-file-goes-a-minute-later";
    RecoverKill "recovery.unclean" "After an unclean end the log is scanned from the recovery point; a bad batch and all behind it are dropped." "LogLoader.recoverLog" "c76-torn-batch";
    RecoverClean "recovery.clean" "After a clean stop nothing is scanned." "LogLoader.load" "r12-a-clean-start-trusts-the-disk";
    PowerLoss "host.power-loss" "What was not flushed is gone with the host's memory." "page cache" "c64a-power-cut-logs-agree-again";
    Kill "process.kill" "A killed process loses nothing it has written: the page cache belongs to the host." "page cache" "c72-kill-loses-nothing";
    Checkpoint "checkpoint" "Recovery points, log starts and high watermarks are written from time to time." "LogManager, ReplicaManager.checkpointHighWatermarks" "c64b-power-cut-logs-differ-for-ever";

    // Controller.
    Session "controller.session" "A broker that is not heard for broker.session.timeout.ms is fenced." "BrokerHeartbeatManager, ReplicationControlManager.maybeFenceStaleBroker" "c46a-alone-in-the-isr-unclean";
    Registration "controller.registration" "A starting broker registers and begins fenced." "ClusterControlManager.registerBroker" "s06-all-die-elr";
    DuplicateRegistration "controller.registration.duplicate" "A new process of a broker waits until the old one's session has ended." "ClusterControlManager.registerBroker" "r16-one-process-at-a-time";
    Unfence "controller.unfence" "A broker that has caught up with the metadata is unfenced." "BrokerHeartbeatManager.calculateNextBrokerState" "c01-youngest-record-keeps-segment";
    ControlledShutdown "controller.controlled-shutdown" "A stopping broker first hands over what it leads." "BrokerHeartbeatManager.calculateNextBrokerState" "c48b-rf2-min2-leader-stops";
    ElectIsr "election.isr" "The first live in-sync replica in assignment order leads." "PartitionChangeBuilder.electAnyLeader" "c43-acks1-leader-dies-before-replication";
    ElectElr "election.elr" "With nobody in sync, a live eligible leader replica leads: it holds everything committed." "PartitionChangeBuilder (KIP-966)" "c59c-elr-saves-the-acks-all-records";
    ElectLastKnown "election.last-known-leader" "With ISR and ELR empty the last known leader leads, whatever its log holds." "PartitionChangeBuilder.canElectLastKnownLeader" "c72-kill-loses-nothing";
    ElectUnclean "election.unclean" "With unclean election on, the first live replica in assignment order leads, in sync or not." "PartitionChangeBuilder.electAnyLeader" "c46a-alone-in-the-isr-unclean";
    ElectPreferred "election.preferred" "The first replica of the assignment leads when it is in sync." "PartitionChangeBuilder.electPreferredLeader" "s09-preferred-election";
    ElectEpoch "election.epoch" "Whoever is elected leads in a new leader epoch, in which nobody else does." "PartitionRegistration.merge" "c43-acks1-leader-dies-before-replication";
    ElectNobody "election.none" "Nobody who may lead is alive: the partition is offline." "PartitionChangeBuilder" "c46b-alone-in-the-isr-offline";
    IsrFenced "isr.fenced" "A fenced broker leaves the ISR." "ReplicationControlManager.handleBrokerFenced" "c46a-alone-in-the-isr-unclean";
    IsrUnclean "isr.unclean-shutdown" "A broker that registers after an unclean end leaves ISR and ELR." "ReplicationControlManager.handleUncleanBrokerShutdown (KIP-966)" "c73d-power-cut-with-elr";
    ElrEnter "elr.enter" "A replica that leaves an ISR below the minimum stays eligible." "PartitionChangeBuilder.maybePopulateTargetElr (KIP-966)" "c46b-alone-in-the-isr-offline";
    ElrLeave "elr.leave" "The ELR is emptied when the ISR reaches the minimum, or min.insync.replicas is set." "PartitionChangeBuilder, ConfigurationControlManager" "c54-acks1-below-min-isr-is-frozen";
    AlterValidate "controller.alter-partition" "The controller checks a wanted ISR: epochs, sender, members." "ReplicationControlManager.validateAlterPartitionData" "r13-a-late-wish-of-an-old-leader";
    Reassignment "controller.reassignment" "A reassignment adds first and removes when the new replicas are in sync." "PartitionReassignmentReplicas" "s19-reassignment";
    Directory "controller.directory" "A broker with a new data directory may not lead until it has reported it." "ReplicationControlManager.handleAssignReplicasToDirs" "r14-a-new-disk-must-be-reported";
    Metadata "metadata.propagate" "A broker acts on a decision when the metadata reaches it." "BrokerMetadataPublisher" "c43-acks1-leader-dies-before-replication";

    // Groups.
    GroupCoordinator "group.coordinator" "The leader of a group's partition of __consumer_offsets coordinates it; a new one reads the partition and goes on." "GroupCoordinatorService.partitionFor, CoordinatorRuntime" "g08-a-new-coordinator-reads-the-commits";
    GroupInitialDelay "group.initial-delay" "The first rebalance of an empty group waits group.initial.rebalance.delay.ms for more members." "GroupMetadataManager.prepareRebalance" "g01-an-empty-group-waits-for-company";
    GroupRebalance "group.rebalance" "When members come or go, all join again; the group goes on without those who do not." "GroupMetadataManager.prepareRebalance, completeClassicGroupJoin" "g02-two-members-share";
    GroupSession "group.session" "A member that is not heard for its session (session.timeout.ms, or group.consumer.session.timeout.ms) is removed." "GroupMetadataManager.expireClassicGroupMemberHeartbeat" "g16-a-silent-member-is-removed";
    GroupGeneration "group.generation" "Who belongs to an older generation may neither commit nor stay." "ClassicGroup.validateOffsetCommit" "g05-a-member-cut-off-may-not-commit";
    GroupStatic "group.static" "A member with a group.instance.id keeps its place while its process is away; whoever comes back under that name has it, and an older process is fenced." "GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin, replaceMember (KIP-345, KIP-848)" "g29-a-static-member-comes-back";
    GroupAssign "group.assign" "One member assigns the partitions by the assignor that all can run, and each learns its share." "ConsumerCoordinator.onLeaderElected, ConsumerPartitionAssignor" "g02-two-members-share";
    GroupEpoch "group.epoch" "Under the consumer protocol a change of members, subscriptions or partitions raises the group's epoch." "GroupMetadataManager.consumerGroupHeartbeat (KIP-848)" "g17-the-coordinator-assigns";
    GroupTarget "group.target" "The coordinator computes the target assignment for each new epoch of the group." "TargetAssignmentBuilder (KIP-848)" "g17-the-coordinator-assigns";
    GroupTargetInterval "group.target-interval" "Between two target assignments of a group lies group.consumer.assignment.interval.ms." "GroupMetadataManager.canComputeNextTargetAssignment (KIP-1263)" "g19-a-crowd-is-assigned-at-once";
    GroupReconcile "group.reconcile" "A partition goes to the next member only when the one before has given it up." "CurrentAssignmentBuilder (KIP-848)" "g18-nobody-reads-what-another-holds";
    GroupMemberEpoch "group.member-epoch" "A member that speaks with another epoch than its own is fenced, and may not commit what it has not had since then." "GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid, ConsumerGroup.validateOffsetCommit (KIP-848, KIP-1251)" "g20-a-member-ahead-of-its-coordinator";
    GroupRevoke "group.revoke" "A member gives partitions up before others may have them: under the eager protocol all of them whenever it joins again, otherwise those that it is to read no longer." "ConsumerCoordinator.onJoinPrepare, AbstractMembershipManager.maybeReconcile" "g03-all-is-given-up-before-a-rebalance";
    OffsetCommit "offsets.commit" "A commit is a record in __consumer_offsets, and counts when all in-sync replicas have it." "OffsetMetadataManager.commitOffset, CoordinatorRuntime" "g04-a-commit-waits-for-the-replicas";
    OffsetFetch "offsets.fetch" "Whoever is given a partition goes on at the group's commit: the next offset to read." "ConsumerCoordinator.initWithCommittedOffsetsIfNeeded" "c95-commit-last-read-instead-of-next";
    OffsetsExpire "offsets.expire" "What a group without members has committed, and what nobody subscribes to, is forgotten after offsets.retention.minutes." "OffsetMetadataManager.cleanupExpiredOffsets" "c91a-expired-commit-earliest";
    OffsetsReset "offsets.reset" "The operator moves the commit of a group without members, within what the log holds." "ConsumerGroupCommand.resetOffsets" "c101a-rewind-earliest";
    AutoCommit "consumer.auto-commit" "A consumer commits its position every auto.commit.interval.ms, before it gives up partitions, and when it closes." "ConsumerCoordinator.maybeAutoCommitOffsetsAsync" "g06-a-consumer-commits-by-its-interval";
    MetadataAge "client.metadata.age" "A client asks for the cluster's state when what it knows is metadata.max.age.ms old, and so learns of new partitions and leaders." "Metadata.timeToNextUpdate" "c99a-new-partition-latest";
    PollInterval "consumer.poll-interval" "A member that does not poll for max.poll.interval.ms leaves its group." "AbstractCoordinator.HeartbeatThread" "g07-an-application-that-does-not-poll";

    // Of the log itself.
    HighWatermarkBounded "hw.bounded" "A high watermark is never set outside its log: who is told of more than it holds takes its own log end." "UnifiedLog.updateHighWatermark" "i06-told-of-more-than-it-holds";
}

impl Rule {
    /// The rule's row in the table.
    pub fn row(self) -> &'static RuleRow {
        &TABLE[self as usize]
    }

    /// The rule's id.
    pub fn id(self) -> &'static str {
        IDS[self as usize]
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
        Rules(u128::MAX)
            .without(Rule::TruncateHighWatermark)
            .without(Rule::AskEpochEnd)
            .without(Rule::EndOffsetOnly)
    }
}

impl Rules {
    /// Before KIP-101 (0.11): a new follower cuts its log to its own high watermark.
    #[must_use]
    pub fn hw_truncation() -> Rules {
        Rules::before_kip_320().with(Rule::TruncateHighWatermark)
    }

    /// With KIP-101 (0.11 to 1.1): a new follower cuts its log where its leader says that its last epoch ends.
    #[must_use]
    pub fn kip_101() -> Rules {
        Rules::kip_279().with(Rule::EndOffsetOnly)
    }

    /// With KIP-279 (2.0): it asks on while its leader answers with an epoch that it does not know itself.
    #[must_use]
    pub fn kip_279() -> Rules {
        Rules::before_kip_320().with(Rule::AskEpochEnd)
    }

    /// No request names the leader epoch that its sender believes in, and no consumer knows the epoch that it has read.
    fn before_kip_320() -> Rules {
        Rules::default()
            .without(Rule::FetchFenced)
            .without(Rule::TruncateDiverging)
            .without(Rule::ConsumerEpoch)
    }

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
