//! Tests of the ground floor as stories: published bytes and tables, and a log against plain models.

mod clean;
mod crash;
mod format;
mod life;
mod model;
mod tables;

use super::*;

/// `cleanup.policy=compact`.
const COMPACT: CleanupPolicy = CleanupPolicy {
    delete: false,
    compact: true,
};

/// Bytes from hexadecimal digits; anything else is a space.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A record without key: 72 bytes as a batch with the value `test`.
fn record(value: &str, timestamp: i64) -> Record {
    Record::new(None, Some(value.as_bytes()), timestamp)
}

/// A batch of one such record, as a producer without idempotence sends it.
fn single(value: &str, timestamp: i64) -> Batch {
    Batch::build(&[record(value, timestamp)], None, Default::default())
}

/// A log with a configuration, driven by one leader.
struct Rig {
    log: Log,
    config: LogConfig,
    now: i64,
}

impl Rig {
    fn new(config: LogConfig) -> Self {
        Self {
            log: Log::create(0, &config, 0),
            config,
            now: 0,
        }
    }

    fn append(&mut self, batch: &Batch) -> Appended {
        self.try_append(batch).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    fn try_append(&mut self, batch: &Batch) -> Result<Appended, Refusal> {
        self.log
            .append_as_leader(batch, 0, Origin::Client, &self.config, self.now)
    }

    fn clone_rig(&self) -> Rig {
        Rig {
            log: self.log.clone(),
            config: self.config.clone(),
            now: self.now,
        }
    }

    fn bases(&self) -> Vec<i64> {
        self.log.segments().map(Segment::base_offset).collect()
    }
}
