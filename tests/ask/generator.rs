//! Operations on a log, made up at random by looking at what our log has become. Nothing here knows what is right: a real
//! Kafka performs the same operations, and the two are compared.
//!
//! Each recording leaves out some kinds of operation and prefers others, and has settings of its own, many of them odd:
//! what all recordings do a little of meets less than what each does much of.
//!
//! Deliberately absent: compressed batches, which the simulator does not write; damage to what a log has flushed, which no
//! load reads again, so that every later read meets it in its own way.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use highwater::conform::Malformed;
use highwater::conform::storage::Session;
use highwater::log::{Batch, Log, ProducerEntry, Record};
use serde_json::{Value, json};

use super::wire::{Wire, WireRecord, seal};
use crate::dice::Dice;

/// The clock at the start.
const BEGIN: i64 = 1_700_000_000_000;

const NEVER: i64 = i64::MAX;

/// What can be done, with how often it is in comparison.
const KINDS: [(&str, usize); 26] = [
    ("append", 14),
    ("fit", 3),
    ("produce", 12),
    ("transact", 8),
    ("mark", 7),
    ("raw", 4),
    ("follow", 8),
    ("assign", 3),
    ("roll", 3),
    ("flush", 3),
    ("watermark", 8),
    ("start", 3),
    ("retain", 4),
    ("clean", 6),
    ("dump", 1),
    ("sleep", 6),
    ("set", 3),
    ("truncate", 4),
    ("restart", 1),
    ("read", 8),
    ("lookup", 4),
    ("epoch-end", 3),
    ("expire", 1),
    ("checkpoint", 2),
    ("tasks", 3),
    ("reopen", 5),
];

/// What a broker's directory remembers of the log.
#[derive(Default)]
struct Checkpoint {
    recovery_point: i64,
    log_start: i64,
    high_watermark: i64,
}

/// A recording in the making.
pub struct Generator {
    dice: Dice,
    session: Session,
    header: Value,
    operations: Vec<Value>,
    /// The settings as they are now.
    settings: BTreeMap<String, String>,
    weights: Vec<(&'static str, usize)>,
    now: i64,
    epoch: i32,
    coordinator_epoch: i32,
    checkpoint: Checkpoint,
    keys: usize,
    longest: i64,
    /// How timestamps are chosen.
    times: &'static str,
    last_time: i64,
    damages: usize,
    /// Whether the leader keeps what Kafka's would not make.
    strange: bool,
}

/// One of the settings' usual and unusual values.
fn setting(name: &str, dice: &mut Dice) -> String {
    let number = match name {
        "segment.bytes" => match dice.below(4) {
            0 => dice.between(70, 300),
            1 => 72 * dice.between(1, 9),
            _ => dice.between(250, 1600),
        },
        "segment.ms" => [
            dice.between(1, 50),
            dice.between(2_000, 40_000),
            604_800_000,
            604_800_000,
        ][dice.below(4)],
        "segment.index.bytes" => [dice.between(12, 70), 1024, 1024][dice.below(3)],
        "index.interval.bytes" => [0, 1, dice.between(60, 400), dice.between(60, 400), 4096][dice.below(5)],
        "retention.ms" => [-1, 0, dice.between(1, 40_000), 604_800_000][dice.below(4)],
        "retention.bytes" => [-1, -1, 0, dice.between(0, 3_000)][dice.below(4)],
        "max.message.bytes" => [dice.between(60, 600), 1_048_588, 1_048_588][dice.below(3)],
        "delete.retention.ms" => [0, dice.between(0, 30_000), 86_400_000][dice.below(3)],
        "min.compaction.lag.ms" => [0, 0, dice.between(1, 20_000)][dice.below(3)],
        "max.compaction.lag.ms" => [dice.between(1, 30_000), NEVER, NEVER][dice.below(3)],
        "message.timestamp.before.max.ms" => [dice.between(0, 20_000), NEVER, NEVER][dice.below(3)],
        "message.timestamp.after.max.ms" => [dice.between(0, 20_000), 3_600_000, NEVER][dice.below(3)],
        "flush.messages" => [dice.between(1, 9), NEVER, NEVER][dice.below(3)],
        "file.delete.delay.ms" => [1, 1_000, 60_000][dice.below(3)],
        "cleanup.policy" => return dice.pick(&["delete", "compact", "compact", "compact,delete"]).into(),
        "min.cleanable.dirty.ratio" => return dice.pick(&["0.0", "0.2", "0.5", "1.0"]).into(),
        "message.timestamp.type" => return dice.pick(&["CreateTime", "CreateTime", "LogAppendTime"]).into(),
        "preallocate" => return dice.pick(&["false", "false", "true"]).into(),
        "compression.type" => return "producer".into(),
        _ => 0,
    };
    number.to_string()
}

const SETTINGS: [&str; 20] = [
    "segment.bytes",
    "segment.ms",
    "segment.jitter.ms",
    "segment.index.bytes",
    "index.interval.bytes",
    "retention.ms",
    "retention.bytes",
    "cleanup.policy",
    "max.message.bytes",
    "delete.retention.ms",
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
    "min.cleanable.dirty.ratio",
    "message.timestamp.type",
    "message.timestamp.before.max.ms",
    "message.timestamp.after.max.ms",
    "flush.messages",
    "file.delete.delay.ms",
    "compression.type",
    "preallocate",
];

impl Generator {
    /// A new log; the seed decides everything.
    pub fn new(seed: u64) -> Result<Self, Malformed> {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Seeds that lie side by side begin alike.
        for _ in 0..4 {
            dice.below(2);
        }
        let config: BTreeMap<String, String> = SETTINGS.map(|name| (name.to_owned(), setting(name, &mut dice))).into();
        let map_slots = [1_000, dice.between(2, 9)][dice.below(2)];
        let header = json!({
            "format": 1,
            "kafka": "4.4.0",
            "kind": "storage",
            "profile": "random",
            "seed": seed,
            "topic": "t",
            "partition": 0,
            "now": BEGIN,
            "config": config,
            "asyncTasks": dice.pick(&["immediate", "immediate", "held"]),
            "producerIdExpirationMs": dice.pick(&[1_000, 60_000, 86_400_000]),
            "maxTransactionTimeoutMs": 900_000,
            "cleaner": {
                "mapMemory": 24 * map_slots,
                "ioBuffer": 65_536,
                "maxIoBuffer": 1_048_576,
                "loadFactor": 0.9,
            },
        });
        let weights = KINDS.map(|(kind, weight)| (kind, weight * dice.pick(&[0, 1, 1, 1, 3])));
        Ok(Self {
            session: Session::open(&header)?,
            header,
            operations: Vec::new(),
            settings: config,
            weights: weights.to_vec(),
            now: BEGIN,
            epoch: 0,
            coordinator_epoch: 1,
            checkpoint: Checkpoint::default(),
            keys: [0, 2, 5, 9][dice.below(4)],
            longest: [8, 60, 200][dice.below(3)],
            times: dice.pick(&["rising", "rising", "scattered", "none", "any", "now", "edge"]),
            last_time: BEGIN,
            damages: [0, 1, 3][dice.below(3)],
            strange: dice.chance(40),
            dice,
        })
    }

    /// Makes up operations, and gives the recording as Kafka is to be asked it: a header, then an operation a line.
    pub fn write(mut self, operations: usize) -> Result<String, Malformed> {
        self.perform(json!({"name": "open"}))?;
        while self.operations.len() <= operations {
            let next = self.next();
            self.perform(next)?;
        }
        let lines: Vec<String> = [self.header]
            .iter()
            .chain(&self.operations)
            .map(Value::to_string)
            .collect();
        Ok(lines.join("\n") + "\n")
    }

    fn log(&self) -> &Log {
        self.session.log()
    }

    fn perform(&mut self, operation: Value) -> Result<(), Malformed> {
        let result = self.session.perform(&operation)?;
        match operation["name"].as_str() {
            Some("sleep") => self.now += operation["ms"].as_i64().unwrap_or(0),
            Some("truncateTo" | "truncateFullyAndStartAt") => {
                self.checkpoint.recovery_point = self.log().recovery_point();
            }
            Some("checkpoint") => self.remember(&result),
            Some("config") => {
                for (name, value) in operation["set"].as_object().into_iter().flatten() {
                    self.settings
                        .insert(name.clone(), value.as_str().unwrap_or_default().to_owned());
                }
            }
            _ => {}
        }
        self.operations.push(operation);
        Ok(())
    }

    fn remember(&mut self, written: &Value) {
        let number = |name: &str| written[name].as_i64().unwrap_or(0);
        self.checkpoint = Checkpoint {
            recovery_point: number("recoveryPoint"),
            log_start: number("logStart"),
            high_watermark: number("hw"),
        };
    }

    fn next(&mut self) -> Value {
        let total = self.weights.iter().map(|(_, weight)| weight).sum();
        let mut at = self.dice.below(total);
        let mut kind = "append";
        for (name, weight) in &self.weights {
            if at < *weight {
                kind = name;
                break;
            }
            at -= weight;
        }
        self.of_kind(kind)
    }

    fn of_kind(&mut self, kind: &str) -> Value {
        let offset = self.offset();
        let dice = &mut self.dice;
        match kind {
            "produce" => self.produce(false),
            "transact" => self.produce(true),
            "mark" => self.mark(),
            "raw" => self.raw(),
            "follow" => self.follow(),
            "assign" => {
                self.epoch += dice.between(0, 2) as i32;
                let offset = if dice.chance(80) {
                    self.log().log_end_offset()
                } else {
                    offset
                };
                json!({"name": "assignEpoch", "epoch": self.epoch, "offset": offset})
            }
            "roll" => json!({"name": "roll"}),
            "flush" if dice.chance(50) => json!({"name": "flush", "offset": offset}),
            "flush" => json!({"name": "flush", "includingActive": dice.chance(50)}),
            "watermark" => {
                let end = self.log().log_end_offset();
                let to = [end, end, offset, end + 3][self.dice.below(4)];
                json!({"name": "updateHighWatermark", "hw": to})
            }
            "start" => {
                let high_watermark = self.log().high_watermark();
                let to = [offset.min(high_watermark), high_watermark, offset, high_watermark + 1][self.dice.below(4)];
                json!({"name": "incrementLogStart", "offset": to})
            }
            "retain" => json!({"name": "retention"}),
            "clean" => json!({"name": "clean"}),
            "dump" => json!({"name": "dump"}),
            "fit" => self.fit(),
            "sleep" => {
                let ms = [dice.between(1, 100), dice.between(1, 20_000), 60_000][dice.below(3)];
                json!({"name": "sleep", "ms": ms})
            }
            "set" => {
                let name = dice.pick(&SETTINGS);
                json!({"name": "config", "set": {name: setting(name, dice)}})
            }
            "truncate" => {
                let above = if dice.chance(5) { dice.between(1, 3) } else { 0 };
                json!({"name": "truncateTo", "offset": offset + above})
            }
            "restart" => {
                let mut operation = json!({"name": "truncateFullyAndStartAt", "offset": offset + dice.between(0, 5)});
                if dice.chance(30) {
                    operation["logStart"] = operation["offset"].clone();
                }
                operation
            }
            "read" => {
                let beside = if dice.chance(5) {
                    dice.between(-2, 2).max(-offset)
                } else {
                    0
                };
                let max_bytes = [0, 1, dice.between(50, 1_500), 1 << 20][dice.below(4)];
                json!({
                    "name": "read",
                    "offset": offset + beside,
                    "maxBytes": max_bytes,
                    "isolation": dice.pick(&["logEnd", "highWatermark", "readCommitted"]),
                    "minOneMessage": dice.chance(50),
                })
            }
            "lookup" => {
                let near = self.near_time();
                let timestamp = [-1, -2, -3, -4, near, near, near, near][self.dice.below(8)];
                json!({"name": "lookupTimestamp", "ts": timestamp})
            }
            "epoch-end" => {
                let epoch = dice.between(-1, i64::from(self.epoch) + 1);
                json!({"name": "endOffsetForEpoch", "epoch": epoch})
            }
            "expire" => json!({"name": "expireProducers"}),
            "checkpoint" => json!({"name": "checkpoint"}),
            "tasks" if dice.chance(50) => json!({"name": "runTasks"}),
            "tasks" => json!({"name": "runDelayed"}),
            "reopen" => self.reopen(),
            _ => self.append(),
        }
    }

    /// An offset in the log or right at its end.
    fn offset(&mut self) -> i64 {
        let (start, end) = (self.log().log_start_offset(), self.log().log_end_offset());
        self.dice.between(start, end.max(start))
    }

    fn timestamp(&mut self) -> i64 {
        let times = match self.times {
            "any" => self.dice.pick(&["rising", "scattered", "none", "now", "edge"]),
            times => times,
        };
        match times {
            "none" => -1,
            "now" => self.now,
            "edge" => self.edge(),
            "scattered" => self.now + self.dice.between(-20_000, 20_000),
            _ => {
                self.last_time = self.last_time.max(self.now) + self.dice.between(0, 900);
                self.last_time
            }
        }
    }

    /// A time at one of the limits, or right beside it.
    fn edge(&mut self) -> i64 {
        let first = self.log().active_segment().first_batch_timestamp();
        let limit = match self.dice.below(3) {
            0 if first >= 0 => first.saturating_add(self.setting("segment.ms")),
            1 => self.now.saturating_sub(self.setting("message.timestamp.before.max.ms")),
            _ => self.now.saturating_add(self.setting("message.timestamp.after.max.ms")),
        };
        // A limit of for ever is none.
        let limit = if (limit - self.now).abs() > 1_000_000_000 {
            self.now
        } else {
            limit
        };
        limit + self.dice.between(-1, 1)
    }

    fn setting(&self, name: &str) -> i64 {
        self.settings
            .get(name)
            .and_then(|value| value.parse().ok())
            .unwrap_or(0)
    }

    fn near_time(&mut self) -> i64 {
        let count = self.log().segment_count();
        let segment = self.dice.below(count);
        let known = self
            .log()
            .segments()
            .nth(segment)
            .map_or(self.now, |segment| segment.max_timestamp_so_far());
        (known + self.dice.pick(&[0, 0, 1, -1, 500, -500])).max(0)
    }

    fn letters(&mut self) -> String {
        let length = if self.dice.chance(15) {
            self.longest
        } else {
            self.longest / 3
        };
        let length = self.dice.between(0, length) as usize;
        "abcdefghijklmnopqrstuvwxyz".chars().cycle().take(length).collect()
    }

    fn key(&mut self) -> Option<String> {
        let named = self.keys > 0 && !self.dice.chance(2);
        named.then(|| format!("k{}", self.dice.below(self.keys)))
    }

    fn records(&mut self, count: i64) -> Value {
        let one = |it: &mut Self| {
            let mut record = json!({"ts": it.timestamp()});
            if let Some(key) = it.key() {
                record["key"] = key.into();
            }
            record["value"] = if it.dice.chance(15) {
                Value::Null
            } else {
                it.letters().into()
            };
            if it.dice.chance(5) {
                let value = if it.dice.chance(30) {
                    Value::Null
                } else {
                    it.letters().into()
                };
                record["headers"] = json!([["h", value]]);
            }
            record
        };
        (0..count).map(|_| one(self)).collect()
    }

    fn append(&mut self) -> Value {
        let count = [1, 1, self.dice.between(1, 4), self.dice.between(0, 12)][self.dice.below(4)];
        let records = self.records(count);
        json!({"name": "appendLeader", "epoch": self.epoch, "records": records})
    }

    /// A record that brings the segment, or a message, exactly to its limit, or by a byte not.
    fn fit(&mut self) -> Value {
        let (segment, message) = (self.setting("segment.bytes"), self.setting("max.message.bytes"));
        let room = segment - i64::from(self.log().active_segment().size());
        let wanted = self.dice.pick(&[room, room, segment, message]) + self.dice.between(-1, 1);
        let (key, timestamp) = (self.key(), self.timestamp());
        let size = |length: usize| {
            let value = vec![0; length];
            let record = Record::new(key.as_deref().map(str::as_bytes), Some(&value), timestamp);
            i64::from(Batch::build(&[record], None, Default::default()).size_in_bytes())
        };
        let length = (0..2_000).find(|length| size(*length) >= wanted).unwrap_or(0);
        let mut record = json!({"ts": timestamp, "valueLen": length});
        if let Some(key) = key {
            record["key"] = key.into();
        }
        json!({"name": "appendLeader", "epoch": self.epoch, "records": [record]})
    }

    /// A producer: one that the log knows, or another.
    fn producer(&mut self) -> (i64, Option<ProducerEntry>) {
        let id = 1_000 + self.dice.below(4) as i64;
        (id, self.log().producers().entry(id).cloned())
    }

    fn produce(&mut self, transactional: bool) -> Value {
        let count = self.dice.between(1, 4);
        let (id, entry) = self.producer();
        let known = entry.as_ref().map_or(0, |entry| i64::from(entry.epoch));
        let next = entry
            .as_ref()
            .map_or(0, |entry| (i64::from(entry.last_sequence()) + 1) & 0x7fff_ffff);
        let (mut epoch, mut sequence, mut count) = (known.max(0), next, count);
        match self.dice.below(14) {
            0 => sequence = (sequence + self.dice.between(1, 3)) & 0x7fff_ffff,
            1 => epoch += 1,
            2 => (epoch, sequence) = (epoch + 1, 0),
            3 => epoch = (epoch - 1).max(0),
            4 => sequence = i64::from(i32::MAX) - self.dice.between(0, 4),
            5 => sequence = (sequence - 1).max(0),
            6 | 7 => {
                let sent = entry
                    .map(|entry| entry.batches.iter().copied().collect::<Vec<_>>())
                    .unwrap_or_default();
                if !sent.is_empty() {
                    let batch = sent[self.dice.below(sent.len())];
                    (sequence, count) = (i64::from(batch.first_sequence()), i64::from(batch.offset_delta) + 1);
                }
            }
            _ => {}
        }
        let records = self.records(count);
        let mut operation = json!({
            "name": "appendLeader",
            "epoch": self.epoch,
            "records": records,
            "producer": {"id": id, "epoch": epoch, "seq": sequence},
        });
        if transactional || self.dice.chance(4) {
            operation["transactional"] = true.into();
        }
        operation
    }

    fn mark(&mut self) -> Value {
        let open = self
            .log()
            .producers()
            .entries()
            .filter(|(_, entry)| entry.txn_first_offset.is_some());
        let open: Vec<(i64, i16)> = open.map(|(id, entry)| (id, entry.epoch)).collect();
        let (id, epoch) = match open.is_empty() || self.dice.chance(10) {
            true => {
                let (id, entry) = self.producer();
                (id, entry.map_or(0, |entry| entry.epoch))
            }
            false => self.dice.pick(&open),
        };
        let version = self.dice.pick(&[1, 1, 2]);
        let mut epoch = if version == 2 { epoch + 1 } else { epoch };
        match self.dice.below(10) {
            0 => epoch -= 1,
            1 => epoch += 1,
            2 => self.coordinator_epoch += 1,
            _ => {}
        }
        let coordinator_epoch = self.coordinator_epoch - i32::from(self.dice.chance(4));
        json!({
            "name": "endTxn",
            "epoch": self.epoch,
            "producerId": id,
            "producerEpoch": epoch.max(0),
            "commit": self.dice.chance(50),
            "coordEpoch": coordinator_epoch,
            "ts": self.timestamp(),
            "txnVersion": version,
        })
    }

    /// A sound batch from a place on.
    fn wire(&mut self, base_offset: i64, leader_epoch: i32) -> Wire {
        let base_timestamp = self.timestamp();
        let mut records = Vec::new();
        let slots = self.dice.between(1, 5) as i32;
        let kept = self.dice.pick(&[100, 100, 60, 0]);
        for offset_delta in 0..slots {
            if self.dice.chance(kept) {
                records.push(WireRecord {
                    offset_delta,
                    timestamp_delta: if base_timestamp < 0 {
                        0
                    } else {
                        self.dice.between(-300, 900)
                    },
                    key: self.key().map(String::into_bytes),
                    value: (!self.dice.chance(15)).then(|| self.letters().into_bytes()),
                });
            }
        }
        let largest = records
            .iter()
            .map(|record| base_timestamp + record.timestamp_delta)
            .max();
        Wire {
            base_offset,
            leader_epoch,
            attributes: 0,
            last_offset_delta: slots - 1,
            base_timestamp,
            max_timestamp: largest.unwrap_or(base_timestamp),
            producer: (-1, -1, -1),
            records,
        }
    }

    /// A batch as a client could send it that is not Kafka's: one field or more is not as it should be.
    fn raw(&mut self) -> Value {
        let mut wire = self.wire(0, -1);
        if self.dice.chance(70) {
            let next = wire.records.len() as i32;
            wire.records
                .iter_mut()
                .zip(0..)
                .for_each(|(record, delta)| record.offset_delta = delta);
            wire.last_offset_delta = next - 1;
        }
        if self.dice.chance(25) {
            wire.producer = (1_000, self.dice.between(0, 2) as i16, self.dice.between(-1, 3) as i32);
        }
        let mut what = Vec::new();
        for _ in 0..self.dice.between(0, 2) {
            what.push(self.misstate(&mut wire));
        }
        let mut bytes = wire.bytes();
        match self.dice.below(8) {
            0 => {
                let count = self.dice.between(-1, 4) as i32;
                bytes[57..61].copy_from_slice(&count.to_be_bytes());
                seal(&mut bytes);
                what.push(format!("count {count}"));
            }
            1 => {
                bytes[16] = self.dice.pick(&[0, 1, 3, 9, 0xff]);
                what.push(format!("magic {}", bytes[16] as i8));
            }
            2 => {
                let length = self.dice.between(-2, bytes.len() as i64 + 3) as i32;
                bytes[8..12].copy_from_slice(&length.to_be_bytes());
                what.push(format!("length {length}"));
            }
            3 => {
                bytes.truncate(self.dice.below(bytes.len()));
                what.push("cut".to_owned());
            }
            4 => {
                let at = self.dice.between(17, bytes.len() as i64 - 1) as usize;
                bytes[at] ^= 1 << self.dice.below(8);
                // With a checksum that belongs to it only the record can be found wrong.
                if at > 60 && self.dice.chance(60) {
                    seal(&mut bytes);
                }
                what.push(format!("bit in byte {at}"));
            }
            5 => {
                let second = self.wire(0, -1).bytes();
                bytes.extend(second);
                what.push("two batches".to_owned());
            }
            _ => {}
        }
        json!({
            "name": "appendLeaderRaw",
            "epoch": self.epoch,
            "what": what.join(", "),
            "base64": BASE64.encode(bytes),
        })
    }

    /// Makes one field of a batch say something else, and says what.
    fn misstate(&mut self, wire: &mut Wire) -> String {
        let number = self.dice.between(-4, 9);
        let field = match self.dice.below(9) {
            0 => {
                wire.base_offset = number;
                "base offset"
            }
            1 => {
                wire.last_offset_delta = number as i32;
                "last offset delta"
            }
            2 => {
                let bits = self.dice.pick(&[8, 16, 32, 64, 48, 128]);
                wire.attributes |= bits;
                return format!("attributes {bits:#x}");
            }
            3 => {
                wire.max_timestamp += 1_000 * number;
                "seconds more for the max timestamp"
            }
            4 => {
                wire.base_timestamp += 1_000 * number;
                "seconds more for the base timestamp"
            }
            5 => {
                wire.leader_epoch = number as i32;
                "leader epoch"
            }
            6 => {
                wire.records
                    .iter_mut()
                    .for_each(|record| record.offset_delta += number as i32);
                "more for each offset delta"
            }
            7 => {
                wire.producer.0 = number;
                "producer"
            }
            _ => {
                wire.producer.1 = number as i16;
                "producer epoch"
            }
        };
        format!("{field} {number}")
    }

    /// What a leader may have: holes, emptied batches, markers, several epochs; and what it may not.
    fn follow(&mut self) -> Value {
        let mut base = self.log().log_end_offset();
        if self.dice.chance(10) {
            base = (base + self.dice.between(-3, 6)).max(0);
        }
        let mut bytes = Vec::new();
        for _ in 0..self.dice.between(1, 3) {
            let epoch = self.epoch;
            let mut wire = self.wire(base, epoch);
            match self.dice.below(12) {
                0 => self.epoch += self.dice.between(1, 2) as i32,
                1 => wire.leader_epoch += 1,
                2 => wire.attributes = 8,
                3 => (wire.attributes, wire.base_timestamp) = (64, self.now + 10_000),
                4 | 5 => self.of_producer(&mut wire, false),
                6 | 7 => self.of_producer(&mut wire, true),
                8 => self.marker(&mut wire),
                9 if self.strange => _ = self.misstate(&mut wire),
                10 if self.strange => wire.producer = (1_000, -1, self.dice.between(-1, 1) as i32),
                _ => {}
            }
            base += i64::from(wire.last_offset_delta) + 1;
            base += if self.dice.chance(15) {
                self.dice.between(0, 4)
            } else {
                0
            };
            bytes.extend(wire.bytes());
        }
        match self.dice.below(16) {
            0 => bytes.truncate(self.dice.below(bytes.len())),
            1 => {
                let at = self.dice.below(bytes.len());
                // Not the bits that say how the records are compressed.
                if at % 256 > 22 {
                    bytes[at] ^= 1 << self.dice.below(8);
                }
            }
            _ => {}
        }
        json!({"name": "appendFollower", "epoch": self.epoch, "base64": BASE64.encode(bytes)})
    }

    fn of_producer(&mut self, wire: &mut Wire, transactional: bool) {
        let (id, entry) = self.producer();
        let next = entry
            .as_ref()
            .map_or(0, |entry| entry.last_sequence().wrapping_add(1).max(0));
        wire.producer = (id, entry.map_or(0, |entry| entry.epoch.max(0)), next);
        wire.attributes |= if transactional { 16 } else { 0 };
    }

    fn marker(&mut self, wire: &mut Wire) {
        let (id, entry) = self.producer();
        wire.attributes = 48;
        wire.last_offset_delta = 0;
        wire.producer = (id, entry.map_or(0, |entry| entry.epoch.max(0)), -1);
        let mut value = vec![0, 0];
        value.extend(self.coordinator_epoch.to_be_bytes());
        wire.max_timestamp = wire.base_timestamp;
        wire.records = vec![WireRecord {
            offset_delta: 0,
            timestamp_delta: 0,
            key: Some(vec![0, 0, 0, self.dice.below(2) as u8]),
            value: Some(value),
        }];
    }

    fn reopen(&mut self) -> Value {
        let how = self.dice.pick(&["clean", "kill", "powerLoss"]);
        let clean = how == "clean";
        if clean {
            // What a clean stop writes down.
            let first = self.log().segments().next().map_or(0, |segment| segment.base_offset());
            let start = Some(self.log().log_start_offset())
                .filter(|start| *start > first)
                .unwrap_or(0);
            self.checkpoint = Checkpoint {
                recovery_point: self.log().log_end_offset(),
                log_start: start,
                high_watermark: self.log().high_watermark(),
            };
        }
        let mut operation = json!({
            "name": "reopen",
            "how": how,
            "recoveryPoint": self.checkpoint.recovery_point,
            "logStart": self.checkpoint.log_start,
            "hw": self.checkpoint.high_watermark,
            "cleanShutdown": clean,
        });
        if self.damages > 0 && self.dice.chance(60) {
            operation["damage"] = self.damage(clean);
        }
        operation
    }

    /// Damages to one file or more. Each file is hurt once, so that what is said of it holds.
    fn damage(&mut self, clean: bool) -> Value {
        let mut files: Vec<(String, u64, u64)> = match clean {
            true => {
                let files = self.log().clone().close(self.now);
                files
                    .iter()
                    .map(|(name, file)| (name.to_owned(), file.len(), file.len()))
                    .collect()
            }
            false => {
                let list = self.log().file_list().into_iter();
                list.map(|file| (file.name, file.length, file.flushed.unwrap_or(0)))
                    .collect()
            }
        };
        let mut all = Vec::new();
        for _ in 0..self.dice.between(1, self.damages as i64) {
            if files.is_empty() {
                break;
            }
            let (name, length, flushed) = files.swap_remove(self.dice.below(files.len()));
            if name == "leader-epoch-checkpoint" || !name.starts_with('0') {
                continue;
            }
            let is_log = name.ends_with(".log");
            if is_log && (clean || flushed >= length) {
                continue;
            }
            let hurt = self.hurt(&name, if is_log { flushed } else { 0 }, length);
            // What is put in the place of a file is not what is known of that one.
            let replaced = hurt.as_ref().and_then(|hurt| hurt["to"].as_str());
            files.retain(|(name, ..)| Some(name.as_str()) != replaced);
            all.extend(hurt);
        }
        all.into()
    }

    fn hurt(&mut self, name: &str, from: u64, length: u64) -> Option<Value> {
        let room = length.checked_sub(from).filter(|room| *room > 0);
        let at = |dice: &mut Dice| Some(from + dice.below(room? as usize) as u64);
        let some_bytes = |dice: &mut Dice| {
            let bytes: Vec<u8> = (0..dice.between(1, 40)).map(|_| dice.below(256) as u8).collect();
            BASE64.encode(bytes)
        };
        let mut hurt = json!({"file": name});
        match self.dice.below(10) {
            0..3 => {
                hurt["do"] = "cut".into();
                hurt["length"] = at(&mut self.dice)?.into();
            }
            3 => {
                hurt["do"] = "zero".into();
                hurt["from"] = at(&mut self.dice)?.into();
            }
            4 => {
                hurt["do"] = "flip".into();
                hurt["at"] = at(&mut self.dice)?.into();
                hurt["xor"] = (1 << self.dice.below(8)).into();
            }
            5 if !name.ends_with(".log") => {
                hurt["do"] = "write".into();
                hurt["base64"] = some_bytes(&mut self.dice).into();
            }
            6 => {
                hurt["do"] = "append".into();
                hurt["base64"] = some_bytes(&mut self.dice).into();
            }
            7 => {
                let plain = name.trim_end_matches(".deleted");
                let suffix = self.dice.pick(&["", ".deleted", ".cleaned", ".swap"]);
                let to = format!("{plain}{suffix}");
                if to == name {
                    return None;
                }
                hurt["do"] = self.dice.pick(&["rename", "copy"]).into();
                hurt["to"] = to.into();
            }
            _ if !name.ends_with(".log") => hurt["do"] = "delete".into(),
            _ => return None,
        }
        Some(hurt)
    }
}
