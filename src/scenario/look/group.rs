//! What holds for a group: where it stands in a partition, who belongs to it, who reads what.

use super::listed;
use crate::cluster::World;
use crate::cluster::ids::{Node, TopicPartition};
use crate::scenario::ast::{GroupFact, Value};
use crate::scenario::translate;
use crate::sorted::sort_by;

/// A fact about a group and a partition; a group that has committed nothing there stands nowhere.
pub(super) fn fact(fact: GroupFact, name: &str, tp: TopicPartition, world: &World) -> Option<Value> {
    let group = world.settings().group_named(name)?;
    let committed = world.committed(group, tp)?;
    let leader = world.image().leader(tp);
    let replica = leader.and_then(|leader| world.broker(leader)?.replica(tp));
    let end = replica.map(|replica| replica.high_watermark().unwrap_or_else(|| replica.log_end()));
    Some(Value::Number(match fact {
        GroupFact::Committed => committed,
        GroupFact::Lag => end? - committed,
        GroupFact::Readable => {
            let end = end?;
            let batches = replica?.batches().filter(|batch| !batch.is_control());
            let from = committed.max(replica?.log_start());
            let offsets = batches.flat_map(|batch| batch.records().map(|record| record.offset));
            i64::try_from(offsets.filter(|offset| (from..end).contains(offset)).count()).unwrap_or(i64::MAX)
        }
    }))
}

/// The partitions that a consumer reads.
pub(super) fn assignment(name: &str, world: &World) -> Value {
    let client = translate::client(name, world).ok().and_then(|id| world.client(id));
    let Some(consumer) = client.and_then(|client| client.as_consumer()) else {
        return Value::Absent;
    };
    let mut names: Vec<String> = consumer.assignment().map(|tp| world.partition_name(tp)).collect();
    sort_by(&mut names, String::cmp);
    listed(names, Value::Words)
}

/// The members of a group.
pub(super) fn members(name: &str, world: &World) -> Value {
    let group = world.settings().group_named(name);
    let members = group.map(|group| world.members(group)).unwrap_or_default();
    let mut names: Vec<String> = members
        .into_iter()
        .map(|id| world.node_name(Node::Client(id)))
        .collect();
    sort_by(&mut names, String::cmp);
    listed(names, Value::Words)
}
