//! What a replica holds, and in which layer: page cache or disk.
//!
//! Questions for expectations and for the page, answered alike for a log in a process and for a folder without one.

use super::batch::Batch;
use super::files::{Extent, Files, base_offset_of};
use super::segment::Segment;
use super::state::Log;

/// Where a batch lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Written, not flushed: survives a kill, gone at a power loss.
    Cache,
    /// Flushed whole: gone only with the disk.
    Disk,
}

/// A batch that a replica holds.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The batch.
    pub batch: &'a Batch,
    /// The base offset of its segment.
    pub segment: i64,
    /// The byte position in the segment's `.log` file.
    pub position: u32,
    /// Where it lies.
    pub layer: Layer,
}

impl Log {
    /// The batches with their layers, in order.
    pub fn held(&self) -> impl Iterator<Item = Held<'_>> {
        self.segments().flat_map(Segment::held)
    }

    /// The batches, in order.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.segments()
            .flat_map(|segment| segment.log().batches().iter())
            .map(|placed| &placed.batch)
    }
}

impl Segment {
    /// The batches with their layers, in order.
    pub fn held(&self) -> impl Iterator<Item = Held<'_>> {
        let flushed = self.log().flushed().unwrap_or(0);
        self.log().batches().iter().map(move |placed| Held {
            batch: &placed.batch,
            segment: self.base_offset(),
            position: placed.position,
            layer: if placed.end() <= flushed {
                Layer::Disk
            } else {
                Layer::Cache
            },
        })
    }
}

impl Files {
    /// The batches that lie whole in the folder's `.log` files, with their layers, in order.
    pub fn held(&self) -> impl Iterator<Item = Held<'_>> {
        self.iter()
            .filter_map(|(name, file)| Some((base_offset_of(name, "log")?, file)))
            .flat_map(|(segment, file)| {
                let mut position = 0;
                file.extents().iter().filter_map(move |extent| {
                    let start = position;
                    position += extent.len();
                    let Extent::Batch(batch) = extent else { return None };
                    let layer = if file.flushed() >= Some(position) {
                        Layer::Disk
                    } else {
                        Layer::Cache
                    };
                    Some(Held {
                        batch,
                        segment,
                        position: start as u32,
                        layer,
                    })
                })
            })
    }
}

/// The offsets of records in batches as ranges, first and last included, ascending and as few as possible.
pub fn offset_ranges<'a>(batches: impl IntoIterator<Item = &'a Batch>) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let mut add = |first: i64, last: i64| match ranges.last_mut() {
        Some((_, end)) if *end + 1 == first => *end = last,
        _ => ranges.push((first, last)),
    };
    for batch in batches {
        if i64::from(batch.records_count()) == i64::from(batch.last_offset_delta()) + 1 {
            add(batch.base_offset(), batch.last_offset());
        } else {
            batch.records().for_each(|record| add(record.offset, record.offset));
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{LogConfig, Origin, Record};
    use super::*;

    #[test]
    fn layers_before_and_after_a_flush() {
        let config = LogConfig::default();
        let mut log = Log::create(0, &config, 0);
        let records = vec![Record::new(None, Some(b"x"), 0); 3];
        for _ in 0..3 {
            log.append_as_leader(
                &Batch::build(&records, None, Arc::default()),
                0,
                Origin::Client,
                &config,
                0,
            )
            .unwrap();
            if log.log_end_offset() == 6 {
                log.flush_all(0);
            }
        }
        let ranges = |layer: Layer| {
            let in_log = offset_ranges(log.held().filter(|held| held.layer == layer).map(|held| held.batch));
            let files = log.to_files();
            let in_files = offset_ranges(files.held().filter(|held| held.layer == layer).map(|held| held.batch));
            assert_eq!(in_log, in_files);
            in_log
        };
        assert_eq!(ranges(Layer::Disk), [(0, 5)]);
        assert_eq!(ranges(Layer::Cache), [(6, 8)]);
        assert_eq!(offset_ranges(log.batches()), [(0, 8)]);
    }
}
