//! Records on their way: written, not replicated yet, and who waits for them.
//!
//! What changes a group under the consumer protocol takes effect when it is written, a commit when it is replicated; whoever
//! waits is answered then, or told after `offsets.commit.timeout.ms` that it took too long. Mirrors `CoordinatorRuntime`.
//!
//! Deliberately absent: batches of several writes (`group.coordinator.append.linger.ms`), and what is undone when a write is
//! lost: its records stay.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::What;
use crate::cluster::group::kind::GroupKind;
use crate::cluster::group::out::{Out, Then, Write, broker};
use crate::cluster::group::protocol::GroupResponse;
use crate::cluster::group::record::Entry;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, from_millis};
use crate::log::Errors;

use super::following::is_change;
use super::{Pending, Shard};

/// How long after a failure the removal of a member is tried again.
const REMOVAL_BACKOFF: Micros = 500_000;

impl Shard {
    /// A write stands in the log up to this offset, and is not replicated yet.
    pub fn written(&mut self, write: Write, last: i64, cx: &Cx<'_>) {
        let timeout = cx.settings.broker(broker(cx)).offsets_commit_timeout_ms;
        let of_members: Vec<Entry> = write.entries.iter().filter(|entry| is_change(entry)).cloned().collect();
        self.take_in(&of_members, cx);
        self.hear(&write.then, cx.now);
        let awaited = !matches!(write.then, Then::Nothing | Then::Remove(..));
        self.pending.push_back(Pending {
            last,
            until: awaited.then(|| cx.now + from_millis(timeout)),
            entries: write.entries,
            then: write.then,
        });
    }

    /// A write could not be appended.
    pub fn not_written(&mut self, write: Write, error: Errors, out: &mut Out, cx: &mut Cx<'_>) {
        self.fail(write.then, coordinator_error(error), out, cx);
    }

    /// Everything below this offset is replicated.
    pub fn replicated(&mut self, watermark: i64, out: &mut Out, cx: &mut Cx<'_>) {
        while self.pending.front().is_some_and(|write| write.last < watermark) {
            let Some(write) = self.pending.pop_front() else { return };
            let offsets = |entry: &&Entry| matches!(entry, Entry::Offset(..));
            let entries: Vec<Entry> = write.entries.iter().filter(offsets).cloned().collect();
            self.take_in(&entries, cx);
            self.tell_commit(&entries, &write.then, cx);
            match write.then {
                Then::Nothing | Then::Remove(..) => {}
                Then::Answer(client, id) => out.reply(client, id, GroupResponse::Commit(None)),
                Then::Beaten { client, id, beaten, .. } => {
                    out.reply(client, id, GroupResponse::ConsumerBeat(Ok(beaten)));
                }
                Then::Replaced { group, member, .. } => {
                    if let Some(classic) = self.classic_mut(group) {
                        classic.replaced(&member, out);
                    }
                }
                Then::Assign {
                    group,
                    generation,
                    shares,
                } => {
                    if let Some(classic) = self.classic_mut(group) {
                        classic.assigned(generation, &shares, out, cx);
                    }
                }
            }
        }
    }

    fn tell_commit(&self, entries: &[Entry], then: &Then, cx: &mut Cx<'_>) {
        let Some(Entry::Offset(name, ..)) = entries.first() else {
            return;
        };
        let Some(group) = cx.settings.group_named(name) else {
            return;
        };
        let offset = |entry: &Entry| match entry {
            Entry::Offset(_, slot, value) => {
                Some((Arc::clone(&slot.topic), slot.partition, value.map(|value| value.offset)))
            }
            Entry::Group(..) | Entry::Consumer(..) => None,
        };
        let client = match then {
            Then::Answer(client, _) => Some(*client),
            _ => None,
        };
        let (broker, offsets) = (broker(cx), entries.iter().filter_map(offset).collect());
        cx.say(Rule::OffsetCommit, || What::OffsetsCommitted {
            broker,
            group,
            client,
            offsets,
        });
    }

    /// Writes that have taken too long: whoever waits is told, and the records stay.
    pub fn end_writes(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        let now = cx.now;
        let mut late = Vec::new();
        for write in &mut self.pending {
            if write.until.is_some_and(|until| until <= now) {
                write.until = None;
                late.push(std::mem::replace(&mut write.then, Then::Nothing));
            }
        }
        for then in late {
            self.fail(then, Errors::CoordinatorNotAvailable, out, cx);
        }
    }

    fn fail(&mut self, then: Then, error: Errors, out: &mut Out, cx: &mut Cx<'_>) {
        match then {
            Then::Nothing => {}
            Then::Answer(client, id) => out.reply(client, id, GroupResponse::Commit(Some(error))),
            Then::Beaten { client, id, .. } => out.reply(client, id, GroupResponse::ConsumerBeat(Err(error))),
            Then::Remove(group, member) => {
                if let Some(group) = self.consumer_mut(group) {
                    group.put_off(&member, cx.now + REMOVAL_BACKOFF);
                }
            }
            Then::Replaced { group, member, before } => {
                if let Some(classic) = self.classic_mut(group) {
                    classic.not_replaced(&member, *before, error, out);
                }
            }
            Then::Assign { group, generation, .. } => {
                if let Some(classic) = self.classic_mut(group) {
                    classic.not_assigned(generation, error, out, cx);
                }
            }
        }
    }

    /// This broker does not lead the partition any more: whoever waits is sent elsewhere.
    pub fn resign(&mut self, out: &mut Out) {
        for write in self.pending.drain(..) {
            let error = Errors::NotCoordinator;
            match write.then {
                Then::Answer(client, id) => out.reply(client, id, GroupResponse::Commit(Some(error))),
                Then::Beaten { client, id, .. } => out.reply(client, id, GroupResponse::ConsumerBeat(Err(error))),
                // The group answers them itself.
                Then::Replaced { .. } | Then::Assign { .. } => {}
                Then::Nothing | Then::Remove(..) => {}
            }
        }
        for group in self.groups.values_mut() {
            if let GroupKind::Classic(classic) = &mut group.kind {
                classic.resign(out);
            }
        }
    }
}

/// What an error of the log means to a member.
fn coordinator_error(error: Errors) -> Errors {
    match error {
        Errors::NotLeaderOrFollower | Errors::KafkaStorageError => Errors::NotCoordinator,
        Errors::UnknownTopicOrPartition | Errors::NotEnoughReplicas | Errors::RequestTimedOut => {
            Errors::CoordinatorNotAvailable
        }
        other => other,
    }
}
