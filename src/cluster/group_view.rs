//! Looking at groups: who coordinates one, who belongs to it, and where it stands.
//!
//! A coordinator that runs is asked. While there is none, what its partition of `__consumer_offsets` says counts, wherever
//! it lies: the longest log of its replicas.

use crate::cluster::assignor::Slot;
use crate::cluster::broker::offsets_partition;
use crate::cluster::group::record::Entry;
use crate::cluster::group::{Group, GroupKind};
use crate::cluster::ids::{BrokerId, ClientId, GroupId, TopicPartition};
use crate::cluster::world::World;
use crate::sorted::sort_by;

impl World {
    /// The broker that coordinates a group, as the controller has decided.
    pub fn coordinator(&self, group: GroupId) -> Option<BrokerId> {
        self.image().leader(self.offsets_partition(group)?)
    }

    /// The partition of `__consumer_offsets` that keeps a group.
    pub fn offsets_partition(&self, group: GroupId) -> Option<TopicPartition> {
        offsets_partition(&self.image(), group, self.settings())
    }

    /// A group as its coordinator keeps it; `None` without one, or if nothing was ever said of the group.
    pub fn group(&self, group: GroupId) -> Option<&Group> {
        let coordinator = self.coordinator(group).and_then(|id| self.broker(id))?;
        coordinator.coordinates(group, self.settings())
    }

    /// The members of a group, as its coordinator knows them.
    pub fn members(&self, group: GroupId) -> Vec<ClientId> {
        let state = self.group(group);
        let members = state.into_iter().flat_map(|state| state.kind.members());
        let mut members: Vec<ClientId> = members.map(|member| member.client).collect();
        sort_by(&mut members, Ord::cmp);
        members.dedup();
        members
    }

    /// What a group's coordinator keeps for a member's process.
    pub fn kept_for(&self, group: GroupId, client: ClientId) -> Vec<TopicPartition> {
        match self.group(group).map(|group| &group.kind) {
            Some(GroupKind::Classic(classic)) => {
                let member = classic.members().find(|(_, member)| member.client == client);
                let slots = member.into_iter().flat_map(|(_, member)| &member.assignment);
                let partition = |slot: &Slot| {
                    Some(TopicPartition {
                        topic: self.topic_named(&slot.topic)?,
                        partition: slot.partition,
                    })
                };
                slots.filter_map(partition).collect()
            }
            Some(GroupKind::Consumer(consumer)) => {
                let member = consumer.members().find(|(_, member)| member.told.client == client);
                let places = member.into_iter().map(|(_, member)| &member.place);
                places
                    .flat_map(|place| place.assigned.keys().chain(place.revoking.keys()))
                    .copied()
                    .collect()
            }
            Some(GroupKind::Gone) | None => Vec::new(),
        }
    }

    /// The offset that a group has committed in a partition, as far as it is replicated.
    pub fn committed(&self, group: GroupId, tp: TopicPartition) -> Option<i64> {
        let coordinator = self.coordinator(group).and_then(|id| self.broker(id));
        if coordinator.is_none_or(|broker| !broker.is_running()) {
            return self.committed_in_log(group, tp);
        }
        let topic = &self.settings().topic(tp.topic).name;
        let mut offsets = self.group(group)?.offsets.iter();
        let found = offsets.find(|(slot, _)| slot.topic == *topic && slot.partition == tp.partition);
        found.map(|(_, value)| value.offset)
    }

    fn committed_in_log(&self, group: GroupId, tp: TopicPartition) -> Option<i64> {
        let at = offsets_partition(&self.image(), group, self.settings())?;
        let replicas = self.brokers().filter_map(|broker| broker.replica(at));
        let longest = replicas.max_by_key(|replica| replica.log_end())?;
        let (name, topic) = (self.settings().group(group), &self.settings().topic(tp.topic).name);
        let mut committed = None;
        for record in longest.batches().flat_map(|batch| batch.records()) {
            let entry = record
                .key
                .and_then(|key| Entry::parse(key, record.value, self.settings()));
            if let Some(Entry::Offset(of, slot, value)) = entry
                && of == *name
                && slot.topic == *topic
                && slot.partition == tp.partition
            {
                committed = value.map(|value| value.offset);
            }
        }
        committed
    }
}
