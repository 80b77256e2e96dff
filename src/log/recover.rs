//! Recovery of one segment: its bytes are read once more and believed no further than their checksums.
//!
//! Mirrors `LogSegment.recover` and `LocalLog.splitOverflowedSegment`.

use super::batch::Batch;
use super::config::LogConfig;
use super::index::WhenFull;
use super::segment::Segment;

impl Segment {
    /// Reads the segment batch by batch and builds its indexes anew; cuts it at the first batch that is not sound.
    /// Says how many bytes went, and the whole batches among them; `None` if an offset does not fit the segment.
    pub(crate) fn recover(
        &mut self,
        config: &LogConfig,
        now_ms: i64,
        mut accept: impl FnMut(&mut Segment, &Batch),
    ) -> Option<(u32, Vec<Batch>)> {
        self.reset_indexes(config);
        let mut valid_bytes = 0;
        let mut last_entry = 0;
        let batches = self.log.batches().clone();
        let mut kept = 0;
        for placed in batches.iter().take_while(|placed| placed.batch.is_valid()) {
            let batch = &placed.batch;
            if !self.can_hold(batch.last_offset()) {
                return None;
            }
            self.note_timestamp(batch);
            if self.wants_index_entry(valid_bytes - last_entry) {
                let in_order = self.offset_index.append(batch.last_offset(), valid_bytes)
                    && self.note_time_entry(WhenFull::Refuse);
                if !in_order {
                    // Offsets that do not rise: nothing of the segment is believed.
                    // Its indexes are empty by then and name no position.
                    let cut = self.truncate_to(self.base_offset(), now_ms).unwrap_or_default();
                    return Some((cut, batches.iter().map(|placed| placed.batch.clone()).collect()));
                }
                last_entry = valid_bytes;
            }
            valid_bytes += batch.size_in_bytes();
            kept += 1;
            accept(self, batch);
        }
        let dropped = batches.iter_from(kept).map(|placed| placed.batch.clone()).collect();
        let cut = self.log.truncate(valid_bytes, now_ms);
        // Indexes that were made anew have no entry out of place.
        let _ = self.offset_index.trim();
        self.note_time_entry(WhenFull::Append);
        let _ = self.time_index.trim();
        Some((cut, dropped))
    }

    /// The same batches in segments that can hold their offsets, each named by its first.
    pub(crate) fn split(&self, config: &LogConfig, now_ms: i64) -> Vec<Segment> {
        let mut parts: Vec<Segment> = Vec::new();
        for placed in self.log.batches().iter() {
            let batch = &placed.batch;
            if parts.last().is_none_or(|part| !part.can_hold(batch.last_offset())) {
                parts.push(Segment::create(batch.base_offset(), config, 0, now_ms));
            }
            if let Some(part) = parts.last_mut() {
                // A refused index entry only makes look-ups slower.
                let _ = part.append(std::slice::from_ref(batch), now_ms);
            }
        }
        for part in &mut parts {
            // As above.
            let _ = part.become_inactive(now_ms);
            part.flush();
            part.log.set_modified(self.log.modified_ms());
        }
        parts
    }
}
