//! What a power loss does to a broker's log, however much had reached the disk by itself: said before it is done.

use crate::cluster::BrokerId;
use crate::log::{Log, offset_ranges};
use crate::ui::view::look::Look;
use crate::ui::view::names::offsets;

/// What a power loss does to a broker's log, however much had reached the disk by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerLoss {
    /// Up to where the log was flushed.
    pub flushed: i64,
    /// Where it ends.
    pub end: i64,
    /// The offsets that are held, each range with its first and its last; a batch is kept whole or not at all.
    batches: Vec<(i64, i64)>,
    /// The offsets of acknowledged records that stand nowhere else.
    alone: Vec<i64>,
}

impl PowerLoss {
    /// That of a broker as it stands.
    pub fn of(look: &Look<'_>, id: BrokerId) -> PowerLoss {
        let replica = look.world.broker(id).and_then(|broker| broker.replica(look.partition));
        let start = look.log(id).map_or(0, Log::log_start_offset);
        let held = look.log(id).into_iter().flat_map(Log::held);
        let ranges = held.flat_map(|held| offset_ranges([held.batch]));
        let readable = ranges.filter(|(_, last)| *last >= start);
        PowerLoss {
            flushed: replica.map_or(0, |replica| replica.flushed()),
            end: replica.map_or(0, |replica| replica.log_end()),
            batches: readable.map(|(first, last)| (first.max(start), last)).collect(),
            alone: look.alone_on(id),
        }
    }

    /// What survives if all below an offset had reached the disk, and what dies.
    pub fn told(&self, kept: i64) -> (String, String) {
        let kept = kept.max(self.flushed);
        let (disk, cache): (Vec<_>, Vec<_>) = self.batches.iter().partition(|(_, last)| *last < kept);
        let survivor = |offset: &&i64| disk.iter().any(|(first, last)| (first..=last).contains(offset));
        let staked_on_disk = self.alone.iter().filter(survivor).count();
        let survives = match (said(&disk), cache.is_empty()) {
            (Some(disk), _) => format!("Log {disk} on disk survives."),
            (None, true) => "Its log is empty.".to_string(),
            (None, false) => "Nothing is on disk.".to_string(),
        };
        let gone = said(&cache).map(|range| {
            let several = !range.chars().all(|letter| letter.is_ascii_digit());
            format!("{range} in page cache {}.", if several { "die" } else { "dies" })
        });
        let alone = match self.alone.len() - staked_on_disk {
            0 => None,
            1 => Some("1 of them was acknowledged, and is nowhere else.".to_string()),
            many => Some(format!("{many} of them were acknowledged, and are nowhere else.")),
        };
        let all: Vec<String> = [gone, alone, staked(staked_on_disk)].into_iter().flatten().collect();
        (survives, all.join(" "))
    }
}

/// Offsets as ranges, neighbours together; `None` for nothing.
fn said(ranges: &[(i64, i64)]) -> Option<String> {
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some((_, end)) if *end + 1 == *first => *end = *last,
            _ => joined.push((*first, *last)),
        }
    }
    let words: Vec<String> = joined
        .iter()
        .filter_map(|(first, last)| offsets(*first, last + 1))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Acknowledged records that another leader would not have.
pub fn staked(records: usize) -> Option<String> {
    match records {
        0 => None,
        1 => Some("1 acknowledged record is only here, and lost if another leads.".to_string()),
        many => Some(format!(
            "{many} acknowledged records are only here, and lost if another leads."
        )),
    }
}
