//! A recording's operations, performed on our log.

use super::BASE64;
use super::op::{AsyncTasks, Change, Damage, Header, How, Op, OpIsolation, OpProducer, OpRecord};
use super::state;
use crate::conform::Malformed;
use crate::log::{
    AppendOutcome, Appended, Batch, CleanerConfig, CleanupPolicy, Fetched, Files, FirstBatch, Header as RecordHeader,
    Isolation, LoadArgs, Log, LogConfig, Marker, Origin, Outcome, ProducerStamp, Record, Refusal, Shutdown,
    TimestampQuery, TimestampType, TransactionVersion,
};
use crate::sorted::SortedMap;
use base64::Engine;
use serde_json::{Value, json};
use std::sync::Arc;

/// A recording in progress.
pub(super) struct Run {
    log: Log,
    config: LogConfig,
    now: i64,
    tasks: AsyncTasks,
    cleaner: CleanerConfig,
    cleaner_checkpoint: Option<i64>,
    /// Opening a log queues one task that we do not model: writing `partition.metadata`.
    opening_tasks: usize,
}

impl Run {
    pub(super) fn new(header: Header) -> Result<Self, Malformed> {
        let mut config = LogConfig {
            producer_id_expiration_ms: header.producer_id_expiration_ms,
            ..LogConfig::default()
        };
        apply_settings(&mut config, &header.config)?;
        Ok(Self {
            log: Log::create(0, &config, header.now),
            config,
            now: header.now,
            tasks: header.async_tasks,
            cleaner: CleanerConfig {
                map_memory: header.cleaner.map_memory,
                load_factor: header.cleaner.load_factor,
                // A recording's clock stands in the year 2023; the machine that it was made on was later, by more than any
                // segment.ms.
                machine_clock_ms: Some(i64::MAX),
            },
            cleaner_checkpoint: None,
            opening_tasks: 1,
        })
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// Our state, as a recording writes it.
    pub(super) fn state(&self) -> Value {
        state::state(&self.log)
    }

    /// The folder after a clean close.
    pub(super) fn close(&self) -> SortedMap<String, crate::log::File> {
        let files = self.log.clone().close(self.now);
        files
            .iter()
            .map(|(name, file)| (name.to_owned(), file.clone()))
            .collect()
    }

    /// Performs one operation. Gives its result as a recording writes it.
    pub(super) fn perform(&mut self, op: Op) -> Result<Value, Malformed> {
        let result = match self.attempt(op)? {
            Ok(result) => result,
            Err(refusal) => refused(&refusal),
        };
        if self.tasks == AsyncTasks::Immediate {
            self.log.run_tasks(self.now);
            self.opening_tasks = 0;
        }
        Ok(result)
    }

    fn attempt(&mut self, op: Op) -> Result<Result<Value, Refusal>, Malformed> {
        let now = self.now;
        let log = &mut self.log;
        Ok(Ok(match op {
            Op::Open => json!({}),
            Op::AppendLeader {
                epoch,
                records,
                producer,
                transactional,
            } => {
                let appended = if records.is_empty() {
                    // Kafka's library makes no batch of no records.
                    log.append_bytes_as_leader(&[], epoch, Origin::Client, &self.config, now)
                } else {
                    let batch = build(records, producer, transactional);
                    log.append_as_leader(&batch, epoch, Origin::Client, &self.config, now)
                };
                return Ok(appended.map(|appended| append_result(&appended)));
            }
            Op::AppendLeaderRaw { epoch, base64 } => {
                let bytes = decode(&base64)?;
                let appended = log.append_bytes_as_leader(&bytes, epoch, Origin::Client, &self.config, now);
                return Ok(appended.map(|appended| append_result(&appended)));
            }
            Op::EndTxn {
                epoch,
                producer_id,
                producer_epoch,
                commit,
                coord_epoch,
                ts,
                txn_version,
            } => {
                let outcome = if commit { Outcome::Commit } else { Outcome::Abort };
                let marker = Marker {
                    outcome,
                    coordinator_epoch: coord_epoch,
                };
                let batch = Batch::build_marker(marker, producer_id, producer_epoch, ts);
                let version = if txn_version >= 2 {
                    TransactionVersion::V2
                } else {
                    TransactionVersion::V1
                };
                let appended = log.append_as_leader(&batch, epoch, Origin::Coordinator(version), &self.config, now);
                return Ok(appended.map(|appended| append_result(&appended)));
            }
            Op::AppendFollower { epoch, base64 } => {
                let appended = log.append_bytes_as_follower(&decode(&base64)?, epoch, &self.config, now);
                return Ok(appended.map(|appended| append_result(&appended)));
            }
            Op::AssignEpoch { epoch, offset } => {
                log.assign_epoch(epoch, offset);
                json!({})
            }
            Op::Roll => return Ok(log.roll(&self.config, now).map(|base| json!({"base": base}))),
            Op::Flush {
                offset,
                including_active,
            } => {
                match offset {
                    Some(offset) => log.flush_below(offset, now),
                    None if including_active => log.flush_with_active(now),
                    None => log.flush_all(now),
                };
                json!({})
            }
            Op::UpdateHighWatermark { hw } => json!({"hw": log.set_high_watermark(hw)}),
            Op::IncrementLogStart { offset } => {
                return Ok(log
                    .maybe_increment_log_start(offset)
                    .map(|moved| json!({"moved": moved})));
            }
            Op::Retention => {
                return Ok(log.delete_old_segments(&self.config, now).map(|gone| {
                    let removed: Vec<i64> = gone.iter().map(|segment| segment.base_offset).collect();
                    json!({"deleted": removed.len(), "removed": removed})
                }));
            }
            Op::Clean => return Ok(Ok(self.clean())),
            Op::Dump => json!({"batches": dump(log)}),
            Op::Sleep { ms } => {
                self.now = self.now.saturating_add(ms);
                json!({})
            }
            Op::Config { set } => {
                apply_settings(&mut self.config, &set)?;
                json!({})
            }
            Op::TruncateTo { offset } => {
                let below_active = offset < log.active_segment().base_offset();
                let truncated = match log.truncate_to(offset, &self.config, now) {
                    Ok(truncated) => truncated.is_some(),
                    Err(refusal) => return Ok(Err(refusal)),
                };
                if below_active {
                    self.lower_cleaner_checkpoint();
                }
                json!({"truncated": truncated})
            }
            Op::TruncateFullyAndStartAt { offset, log_start } => {
                log.truncate_fully_and_start_at(offset, log_start, &self.config, now);
                self.lower_cleaner_checkpoint();
                json!({})
            }
            Op::Read {
                offset,
                max_bytes,
                isolation,
                min_one_message,
            } => {
                let isolation = match isolation {
                    OpIsolation::LogEnd => Isolation::LogEnd,
                    OpIsolation::HighWatermark => Isolation::HighWatermark,
                    OpIsolation::ReadCommitted => Isolation::TxnCommitted,
                };
                let first = if min_one_message {
                    FirstBatch::Whole
                } else {
                    FirstBatch::WithinLimit
                };
                return Ok(log
                    .fetch(offset, isolation, max_bytes, first)
                    .map(|fetched| read_result(&fetched)));
            }
            Op::LookupTimestamp { ts } => {
                let query = match ts {
                    -1 => TimestampQuery::Latest,
                    -2 | -4 => TimestampQuery::Earliest,
                    -3 => TimestampQuery::MaxTimestamp,
                    timestamp => TimestampQuery::At(timestamp),
                };
                return Ok(log.lookup_timestamp(query).map(|found| {
                    let value = found.map(
                        |found| json!({"offset": found.offset, "ts": found.timestamp, "epoch": found.leader_epoch}),
                    );
                    json!({"found": value})
                }));
            }
            Op::EndOffsetForEpoch { epoch } => {
                let found = log.end_offset_for_epoch(epoch);
                json!({"found": found.map(|end| json!({"epoch": end.epoch, "endOffset": end.end_offset}))})
            }
            Op::ExpireProducers => {
                log.expire_producers(now, self.config.producer_id_expiration_ms);
                json!({})
            }
            Op::Checkpoint => {
                let first = log.segments().next().map_or(0, |segment| segment.base_offset());
                let start = Some(log.log_start_offset()).filter(|start| *start > first).unwrap_or(0);
                json!({"recoveryPoint": log.recovery_point(), "logStart": start, "hw": log.high_watermark()})
            }
            Op::RunTasks => {
                let opening = std::mem::take(&mut self.opening_tasks);
                json!({"ran": log.run_tasks(now) + opening})
            }
            Op::RunDelayed => json!({"ran": log.remove_deleted(now)}),
            Op::Reopen {
                how,
                damage,
                recovery_point,
                log_start,
                hw,
                clean_shutdown,
            } => {
                let mut files = match how {
                    How::Clean => {
                        if let Err(refusal) = log.prepare_for_close(now) {
                            return Ok(Err(refusal));
                        }
                        log.clone().close(now)
                    }
                    How::Kill | How::PowerLoss => log.to_files(),
                };
                for change in &damage {
                    apply_damage(&mut files, change, now)?;
                }
                let args = LoadArgs {
                    shutdown: if clean_shutdown {
                        Shutdown::Clean
                    } else {
                        Shutdown::Unclean
                    },
                    recovery_point,
                    log_start_offset: log_start,
                    high_watermark: hw,
                    config: &self.config,
                    now_ms: now,
                };
                self.log = Log::load(files, &args).0;
                self.opening_tasks = 1;
                json!({})
            }
        }))
    }
}

impl Run {
    /// What the owner of a compacted log does when offsets that were cleaned may come again.
    fn lower_cleaner_checkpoint(&mut self) {
        if !self.config.cleanup_policy.compact {
            return;
        }
        let base = self.log.active_segment().base_offset();
        self.cleaner_checkpoint = self.cleaner_checkpoint.map(|checkpoint| checkpoint.min(base));
    }

    /// One pass of the cleaner, with what it did in a recording's words.
    fn clean(&mut self) -> Value {
        let (log, config) = (&mut self.log, &self.config);
        let mut result = json!({"checkpoint": self.cleaner_checkpoint});
        if !config.cleanup_policy.compact {
            result["picked"] = json!(false);
            result["reason"] = json!("not compacted");
            return result;
        }
        let found = log.cleanable(self.cleaner_checkpoint, config, self.now);
        if found.checkpoint_reset {
            self.cleaner_checkpoint = Some(found.first_dirty_offset);
        }
        let picked = found.is_eligible(config);
        result["dirtyStart"] = json!(found.first_dirty_offset);
        result["cleanableUntil"] = json!(found.uncleanable_offset);
        result["cleanBytes"] = json!(found.clean_bytes);
        result["cleanableBytes"] = json!(found.cleanable_bytes);
        result["maxCompactionDelayMs"] = json!(found.max_compaction_delay_ms);
        result["picked"] = json!(picked);
        if !picked {
            return result;
        }
        result["firstUncleanable"] = json!(found.first_uncleanable_offset);
        result["mandatory"] = json!(found.is_mandatory());
        let bases = |log: &Log| log.segments().map(|segment| segment.base_offset()).collect::<Vec<_>>();
        result["segmentsBefore"] = json!(bases(log));
        match log.clean(&found, &self.cleaner, config, self.now) {
            Ok(cleaned) => {
                self.cleaner_checkpoint = Some(cleaned.end_offset);
                result["endOffset"] = json!(cleaned.end_offset);
                result["newHorizon"] = json!(cleaned.new_horizon_ms);
                result["mapEntries"] = json!(cleaned.map_entries);
            }
            Err(refusal) => {
                self.cleaner_checkpoint = Some(found.first_dirty_offset);
                result["error"] = json!(refusal.error.name());
            }
        }
        result["segmentsAfter"] = json!(bases(log));
        result["batches"] = dump(log);
        result
    }
}

fn decode(base64: &str) -> Result<Vec<u8>, Malformed> {
    BASE64.decode(base64).map_err(|error| Malformed::new("base64", error))
}

fn build(records: Vec<OpRecord>, producer: Option<OpProducer>, transactional: bool) -> Batch {
    let records: Vec<Record> = records.into_iter().map(record).collect();
    let stamp = producer.map(|producer| ProducerStamp {
        id: producer.id,
        epoch: producer.epoch,
        base_sequence: producer.seq,
    });
    match stamp {
        Some(stamp) if transactional => Batch::build_transactional(&records, stamp, Arc::default()),
        stamp => Batch::build(&records, stamp, Arc::default()),
    }
}

fn record(record: OpRecord) -> Record {
    let letters = |length: usize| (b'a'..=b'z').cycle().take(length).collect::<Vec<u8>>();
    let value = record.value.map(String::into_bytes).or(record.value_len.map(letters));
    let headers = record.headers.into_iter().map(|(key, value)| RecordHeader {
        key: key.into(),
        value: value.map(|value| value.into_bytes().into()),
    });
    Record {
        headers: headers.collect(),
        ..Record::new(record.key.as_deref().map(str::as_bytes), value.as_deref(), record.ts)
    }
}

fn append_result(appended: &Appended) -> Value {
    let mut result = json!({"firstOffset": appended.first_offset, "lastOffset": appended.last_offset, "maxTs": appended.max_timestamp});
    if let Some(time) = appended.log_append_time.filter(|time| *time >= 0) {
        result["appendTime"] = json!(time);
    }
    if appended.outcome == AppendOutcome::Duplicate {
        result["duplicate"] = json!(true);
    }
    result
}

fn refused(refusal: &Refusal) -> Value {
    let mut result = json!({"error": refusal.error.name()});
    if !refusal.record_errors.is_empty() {
        result["recordErrors"] = refusal.record_errors.iter().map(|error| error.batch_index).collect();
    }
    result
}

fn read_result(fetched: &Fetched) -> Value {
    let batches = fetched
        .batches
        .iter()
        .map(|batch| json!([batch.base_offset(), batch.last_offset(), batch.size_in_bytes()]));
    let mut result = json!({
        "startOffset": fetched.start.offset,
        "segment": fetched.start.segment,
        "position": fetched.start.position,
        "bytes": fetched.size_in_bytes,
        "batches": batches.collect::<Vec<_>>(),
    });
    if fetched.first_batch_incomplete {
        result["firstEntryIncomplete"] = json!(true);
    }
    if let Some(aborted) = &fetched.aborted {
        result["aborted"] = aborted
            .iter()
            .map(|txn| json!([txn.producer_id, txn.first_offset]))
            .collect();
    }
    result
}

/// The batches by segment, as `dump` and `clean` write them.
fn dump(log: &Log) -> Value {
    let segments = log.segments().map(|segment| {
        let batches = segment.log().batches().iter().map(|placed| {
            let batch = &placed.batch;
            let deltas: Vec<i64> = batch
                .records()
                .map(|record| record.offset - batch.base_offset())
                .collect();
            json!([
                batch.base_offset(),
                batch.last_offset(),
                batch.size_in_bytes(),
                batch.max_timestamp(),
                batch.delete_horizon(),
                deltas
            ])
        });
        (segment.base_offset().to_string(), Value::Array(batches.collect()))
    });
    Value::Object(segments.collect())
}

fn apply_damage(files: &mut Files, damage: &Damage, now: i64) -> Result<(), Malformed> {
    let name = &damage.file;
    let missing = || Malformed::new(name, "there is no such file to damage");
    let file = files.get_mut(name).ok_or_else(missing);
    match &damage.change {
        Change::Cut { length } => change(file?, now).set_length(*length),
        Change::Zero { from } => change(file?, now).zero_from(*from),
        Change::Flip { at, xor } => {
            let flipped = change(file?, now).flip(*at, *xor);
            flipped.map_err(|error| Malformed::new(name, error))?;
        }
        Change::Append { base64 } => change(file?, now).append(&decode(base64)?),
        Change::Write { base64 } => files.insert(name, crate::log::File::from_bytes(&decode(base64)?, now)),
        Change::Delete => {
            files.remove(name).ok_or_else(missing)?;
        }
        Change::Rename { to } => {
            let file = files.remove(name).ok_or_else(missing)?;
            files.insert(to, file);
        }
        Change::Copy { to } => {
            let file = file?.clone();
            files.insert(to, file);
        }
    }
    Ok(())
}

/// A file that is about to be written to.
fn change(file: &mut crate::log::File, now: i64) -> &mut crate::log::File {
    file.touch(now);
    file
}

fn apply_settings(config: &mut LogConfig, settings: &SortedMap<String, String>) -> Result<(), Malformed> {
    for (name, value) in settings {
        apply_setting(config, name, value)
            .ok_or_else(|| Malformed::new(name, format!("unknown setting or value {value:?}")))?;
    }
    Ok(())
}

fn apply_setting(config: &mut LogConfig, name: &str, value: &str) -> Option<()> {
    match name {
        "segment.bytes" => config.segment_bytes = value.parse().ok()?,
        "segment.ms" => config.segment_ms = value.parse().ok()?,
        "segment.jitter.ms" => config.segment_jitter_ms = value.parse().ok()?,
        "segment.index.bytes" => config.segment_index_bytes = value.parse().ok()?,
        "index.interval.bytes" => config.index_interval_bytes = value.parse().ok()?,
        "retention.ms" => config.retention_ms = value.parse().ok()?,
        "retention.bytes" => config.retention_bytes = value.parse().ok()?,
        "cleanup.policy" => {
            config.cleanup_policy = CleanupPolicy {
                delete: value.contains("delete"),
                compact: value.contains("compact"),
            };
        }
        "max.message.bytes" => config.max_message_bytes = value.parse().ok()?,
        "delete.retention.ms" => config.delete_retention_ms = value.parse().ok()?,
        "min.compaction.lag.ms" => config.min_compaction_lag_ms = value.parse().ok()?,
        "max.compaction.lag.ms" => config.max_compaction_lag_ms = value.parse().ok()?,
        "min.cleanable.dirty.ratio" => config.min_cleanable_dirty_ratio = value.parse().ok()?,
        "message.timestamp.type" => {
            config.message_timestamp_type = match value {
                "CreateTime" => TimestampType::CreateTime,
                "LogAppendTime" => TimestampType::LogAppendTime,
                _ => return None,
            };
        }
        "message.timestamp.before.max.ms" => config.message_timestamp_before_max_ms = value.parse().ok()?,
        "message.timestamp.after.max.ms" => config.message_timestamp_after_max_ms = value.parse().ok()?,
        "flush.messages" => config.flush_messages = value.parse().ok()?,
        "file.delete.delay.ms" => config.file_delete_delay_ms = value.parse().ok()?,
        "preallocate" => config.preallocate = value.parse().ok()?,
        // Batches are stored as they come, which is what `producer` asks for.
        "compression.type" if value == "producer" => {}
        _ => return None,
    }
    Some(())
}
