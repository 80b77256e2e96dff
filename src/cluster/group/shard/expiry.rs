//! What a coordinator forgets by itself: commits that have expired, commits in topics that are gone, and groups of which
//! nothing is left.
//!
//! It looks every `offsets.retention.check.interval.ms` after it has loaded its partition, and writes tombstones for what it
//! finds. Mirrors `GroupCoordinatorShard.cleanupGroupMetadata` and `OffsetMetadataManager.cleanupExpiredOffsets`.
//!
//! Deliberately absent: looks that find nothing, which nobody can tell.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Slot;
use crate::cluster::event::What;
use crate::cluster::group::out::{Out, Then, broker};
use crate::cluster::group::record::{Entry, OffsetAndMetadata};
use crate::cluster::ids::GroupId;
use crate::cluster::rules::Rule;
use crate::cluster::settings::{Micros, Settings, from_millis};
use crate::sorted::SortedMap;

use super::{Group, Shard};

impl Shard {
    /// Removes commits that have expired, and groups that nothing is left of.
    pub fn expire(&mut self, out: &mut Out, cx: &mut Cx<'_>) {
        if !cx.holds(Rule::OffsetsExpire) {
            return;
        }
        let (now_ms, retention) = (cx.wall_ms(), retention_ms(cx));
        for (id, group) in &self.groups {
            let (name, offsets) = (cx.settings.group(*id), self.written_offsets(*id, cx));
            let expired = offsets.iter().filter(|(slot, value)| {
                let from = group.kind.ages_from(&slot.topic, value.committed_ms);
                from.is_some_and(|from| now_ms.saturating_sub(from) >= retention)
            });
            let mut entries: Vec<Entry> = expired
                .map(|(slot, _)| Entry::Offset(Arc::clone(name), slot.clone(), None))
                .collect();
            let (broker, group_id, gone) = (broker(cx), *id, entries.len() as u32);
            if gone > 0 {
                cx.say(Rule::OffsetsExpire, || What::OffsetsExpired {
                    broker,
                    group: group_id,
                    partitions: gone,
                });
            }
            if entries.len() == offsets.len() && group.kind.is_empty() {
                entries.extend(group.kind.tombstones(name));
            }
            if !entries.is_empty() {
                out.write(entries, Then::Nothing);
            }
        }
    }

    /// Topics were deleted, and the commits in them with them.
    pub fn forget_topics(&mut self, topics: &[Arc<str>], out: &mut Out, cx: &Cx<'_>) {
        for id in self.groups.keys() {
            let (name, offsets) = (cx.settings.group(*id), self.written_offsets(*id, cx));
            let gone = offsets.keys().filter(|slot| topics.contains(&slot.topic));
            let entries: Vec<Entry> = gone
                .map(|slot| Entry::Offset(Arc::clone(name), slot.clone(), None))
                .collect();
            if !entries.is_empty() {
                out.write(entries, Then::Nothing);
            }
        }
    }

    /// A group's commits as they are written, replicated or not.
    fn written_offsets(&self, id: GroupId, cx: &Cx<'_>) -> SortedMap<Slot, OffsetAndMetadata> {
        let replicated = self.groups.get(&id).map(|group| &group.offsets);
        let mut offsets = replicated.cloned().unwrap_or_default();
        let name = cx.settings.group(id);
        for entry in self.pending.iter().flat_map(|write| &write.entries) {
            match entry {
                Entry::Offset(of, slot, Some(value)) if of == name => {
                    offsets.insert(slot.clone(), *value);
                }
                Entry::Offset(of, slot, None) if of == name => {
                    offsets.remove(slot);
                }
                _ => {}
            }
        }
        offsets
    }

    /// The first look that will find something to forget: expired commits, or a group of which nothing is left.
    pub(super) fn expiry(&self, cx: &Cx<'_>) -> Option<Micros> {
        let retention = retention_ms(cx);
        let config = cx.settings.broker(broker(cx));
        let every = from_millis(config.offsets_retention_check_interval_ms.max(1));
        let oldest = self
            .groups
            .values()
            .filter_map(|group| group.forgotten_from(retention))
            .min()?;
        let expires = virtual_time(oldest, cx.settings).max(self.loaded + every);
        let ticks = (expires - self.loaded).div_ceil(every);
        let due = self.loaded + ticks * every;
        // A look that is due now is taken now, or has been.
        Some(if due <= cx.now {
            self.loaded + ((cx.now - self.loaded) / every + 1) * every
        } else {
            due
        })
    }
}

impl Group {
    /// From which wall clock on, in milliseconds, a look finds something of it to forget, after commits are kept this long.
    fn forgotten_from(&self, retention: i64) -> Option<i64> {
        if self.offsets.is_empty() {
            return self.kind.is_empty().then_some(i64::MIN);
        }
        let commits = self.offsets.iter();
        let from = commits.filter_map(|(slot, value)| self.kind.ages_from(&slot.topic, value.committed_ms));
        from.min().map(|from| from.saturating_add(retention))
    }
}

fn retention_ms(cx: &Cx<'_>) -> i64 {
    cx.settings
        .broker(broker(cx))
        .offsets_retention_minutes
        .saturating_mul(60_000)
}

/// The virtual time of a wall clock; what lies before the start is the start.
fn virtual_time(ms: i64, settings: &Settings) -> Micros {
    from_millis(ms.saturating_sub(settings.clock_ms))
}
