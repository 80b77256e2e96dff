//! Acting on what the controller has decided, when the news of it arrives.
//!
//! Mirrors `BrokerMetadataPublisher`, `ReplicaManager.applyDelta`, `Partition.makeLeader` and `makeFollower`. Old news is
//! ignored by offset, an old state of one partition by its partition epoch; a newer one, and one with the partition epoch that
//! is known already, overrides an ISR change that this broker has asked for and not been answered about.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::What;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::rules::Rule;
use crate::cluster::tracked::Tracked;
use crate::log::Log;

use super::configs::log_config;
use super::fetcher::Stage;
use super::host::Checkpoints;
use super::process::{Phase, Process, Touch};
use super::replica::{Replica, Role};

impl Process {
    /// Takes up a newer image of the cluster. A process that is not registered yet follows whom it finds leading; what it
    /// leads itself comes with the image that follows its registration, which tells of a change of leaders first.
    pub(super) fn apply_metadata(&mut self, cx: &mut Cx<'_>, image: Arc<Image>) {
        if !cx.holds(Rule::Metadata) {
            return;
        }
        if image.offset > self.image.offset {
            let before = std::mem::replace(&mut self.image, image);
            self.apply_partitions(cx, &before);
            self.tend_followers(cx);
        }
        if self.phase != Phase::Starting {
            self.look_at_own_registration(cx);
        }
    }

    /// Takes up partitions that have just been created and are known to everybody at once.
    pub(super) fn learn_partitions(&mut self, cx: &mut Cx<'_>, new: &[(TopicPartition, Arc<PartitionImage>)]) {
        let before = Arc::clone(&self.image);
        let image = Arc::make_mut(&mut self.image);
        image.partitions.extend(new.iter().cloned());
        self.apply_partitions(cx, &before);
    }

    fn apply_partitions(&mut self, cx: &mut Cx<'_>, before: &Image) {
        let (me, image) = (self.id, Arc::clone(&self.image));
        let assigned = |partition: &PartitionImage| partition.replicas.contains(&me);
        let gone = self
            .replicas
            .keys()
            .filter(|&&tp| !image.partition(tp).is_some_and(assigned));
        let gone: Vec<TopicPartition> = gone.copied().collect();
        for tp in gone {
            self.remove_replica(cx, tp);
        }
        self.for_groups(|groups, process| (groups.forget_topics)(process, cx, before));
        let is_new = |tp: &TopicPartition, partition: &Arc<PartitionImage>| {
            before
                .partitions
                .get(tp)
                .is_none_or(|old| !Arc::ptr_eq(old, partition) && old != partition)
                || self.replica(*tp).is_none_or(|replica| replica.role == Role::Unknown)
        };
        let changed = image
            .partitions
            .iter()
            .filter(|(tp, partition)| assigned(partition) && is_new(tp, partition));
        let (led, followed): (Vec<_>, Vec<_>) = changed.partition(|(_, partition)| partition.leader == Some(me));
        let may_lead = self.phase != Phase::Starting;
        for (tp, partition) in led.into_iter().filter(|_| may_lead) {
            self.make_leader(cx, *tp, partition);
        }
        for (tp, partition) in followed {
            self.make_follower(cx, *tp, partition);
        }
        self.note_min_isr(cx);
        self.tend_fetchers(cx);
    }

    /// The configs that came along with the news are applied after them.
    fn note_min_isr(&mut self, cx: &Cx<'_>) {
        let me = self.id;
        for (tp, replica) in &mut self.replicas {
            let configured = Some(cx.settings.topic_on(tp.topic, me).min_insync_replicas);
            if replica.known_min_isr != configured {
                replica.make_mut().known_min_isr = configured;
            }
        }
    }

    /// A replica that is assigned to this broker, made if it does not exist yet; with the controller's state of it, if
    /// that is not older than what is known.
    fn assigned_replica(
        &mut self,
        cx: &Cx<'_>,
        tp: TopicPartition,
        partition: &PartitionImage,
    ) -> Option<&mut Replica> {
        let (id, now_ms) = (self.id, cx.wall_ms());
        let replica = self.replicas.entry(tp).or_insert_with(|| {
            let config = Arc::new(log_config(cx, id, tp));
            let log = Log::create(0, &config, now_ms);
            Tracked::new(Replica::new(log, config, Checkpoints::default()))
        });
        (partition.partition_epoch >= replica.partition_epoch).then(|| replica.make_mut())
    }

    fn make_leader(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, partition: &PartitionImage) {
        let (me, now) = (self.id, cx.now);
        self.count_isr_change(tp, &partition.isr);
        if !cx.holds(Rule::BecomeLeader) {
            self.cut_to_high_watermark(cx, tp, partition, Rule::BecomeLeader);
        }
        let Some(replica) = self.assigned_replica(cx, tp, partition) else {
            return;
        };
        let wish = replica.wish_besides(partition);
        let new_epoch = replica.lead(me, partition, now);
        if let (Some(wish), Some(leading)) = (wish, replica.leading_mut()) {
            match cx.holds(Rule::IsrForgotten) {
                true => cx.say(Rule::IsrForgotten, || What::IsrForgotten {
                    broker: me,
                    partition: tp,
                    isr: wish.isr,
                }),
                false => leading.pending = Some(wish),
            }
        }
        let (epoch, start) = (partition.leader_epoch, replica.log.log_end_offset());
        if new_epoch {
            cx.say(Rule::BecomeLeader, || What::BecameLeader {
                broker: me,
                partition: tp,
                epoch,
                start,
            });
        }
        self.stop_fetching(tp);
        self.touch(tp, Touch::Leadership);
        self.for_groups(|groups, process| (groups.lead)(process, cx, tp));
        self.raise_high_watermark_by_news(cx, tp);
    }

    fn make_follower(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, partition: &PartitionImage) {
        let broker = self.id;
        let Some(replica) = self.assigned_replica(cx, tp, partition) else {
            return;
        };
        let known = replica.role.clone();
        let new_epoch = replica.follow(partition);
        let start = replica.log.log_start_offset();
        self.for_groups(|groups, process| (groups.resign)(process, cx, tp));
        let (leader, epoch) = (partition.leader, partition.leader_epoch);
        if new_epoch {
            cx.say(Rule::BecomeFollower, || What::BecameFollower {
                broker,
                partition: tp,
                leader,
                epoch,
            });
        }
        if new_epoch && !cx.holds(Rule::BecomeFollower) {
            self.truncate(cx, tp, start, Rule::BecomeFollower);
        }
        // What was moved away from a broker that shuts down, it copies no more.
        let stops = matches!(self.phase, Phase::Stopping(_)) && cx.holds(Rule::ControlledShutdown);
        if stops && (leader.is_none() || !partition.isr.contains(&broker)) {
            self.stop_fetching(tp);
        } else if new_epoch || known != Role::Follower(leader) {
            self.stop_fetching(tp);
            if let Some(leader) = leader {
                self.begin_to_follow(cx, tp, leader, epoch);
            }
        }
        self.touch(tp, Touch::Leadership);
    }

    fn begin_to_follow(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, leader: BrokerId, epoch: i32) {
        if cx.holds(Rule::TruncateHighWatermark) {
            let watermark = self.replica(tp).map_or(0, |replica| replica.log.high_watermark());
            self.truncate(cx, tp, watermark, Rule::TruncateHighWatermark);
        }
        let stage = if cx.holds(Rule::AskEpochEnd) {
            Stage::Truncating
        } else {
            Stage::Fetching
        };
        self.start_fetching(tp, leader, epoch, stage);
    }

    /// What a new leader does that does not keep its log: it gives up what it does not know to be committed.
    fn cut_to_high_watermark(&mut self, cx: &mut Cx<'_>, tp: TopicPartition, partition: &PartitionImage, rule: Rule) {
        let known = self.replica(tp);
        let new = known.filter(|replica| replica.leader_epoch < partition.leader_epoch);
        if let Some(watermark) = new.map(|replica| replica.log.high_watermark()) {
            self.truncate(cx, tp, watermark, rule);
        }
    }

    /// The partition does not exist any more, or not on this broker.
    fn remove_replica(&mut self, cx: &mut Cx<'_>, tp: TopicPartition) {
        self.for_groups(|groups, process| (groups.resign)(process, cx, tp));
        self.replicas.remove(&tp);
        self.stop_fetching(tp);
        self.touch(tp, Touch::Leadership);
    }
}
