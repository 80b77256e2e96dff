//! What must hold of any bytes: no parser panics, and none believes a length that the bytes do not bear out.
//!
//! Each harness takes bytes of any kind. `../fuzz.rs` feeds them with damaged examples on stable Rust, the programs in
//! `targets/` with what libFuzzer comes up with.

use std::fs;
use std::sync::Arc;

use highwater::cli::dump;
use highwater::cluster::World;
use highwater::inspect::words::{AbortedLine, BatchLine, CorruptSnapshotLine, ProducerLine, RecordLine};
use highwater::inspect::{
    FileKind, LogOfIndex, OffsetEntries, Records, Scan, Step, TimeEntries, batch_fields, open, properties,
    record_fields, snapshot_fields,
};
use highwater::ledger::Ledger;
use highwater::log::{
    AbortedTxn, Batch, BatchHeader, Extent, File, Files, FirstBatch, LoadArgs, Log, LogConfig, Shutdown, TxnIndex,
    checkpoint, file_name, snapshot,
};
use highwater::scenario::ast::Script;
use highwater::scenario::{Next, Player};
use highwater::{cluster, conform, scenario};

/// A harness.
pub type Harness = fn(&[u8]);

/// All of them by name.
#[allow(dead_code, reason = "a target needs its own harness alone")]
pub const ALL: [(&str, Harness); 8] = [
    ("batch", batch),
    ("index", index),
    ("snapshot", snapshot_file),
    ("checkpoint", checkpoint_file),
    ("scenario", scenario_text),
    ("run", scenario_run),
    ("recording", recording),
    ("dump", dump_files),
];

/// Batches: parsed one by one, walked through as a segment, opened record by record.
pub fn batch(bytes: &[u8]) {
    if let Ok(batch) = Batch::parse(bytes) {
        let _ = (
            batch.is_valid(),
            batch.check_records(),
            batch.marker(),
            batch.records().count(),
        );
        assert_eq!(batch.to_bytes(), bytes[..batch.size_in_bytes() as usize]);
        assert_eq!(Some(batch.header()), BatchHeader::read(bytes));
    }
    let mut scan = Scan::new(bytes);
    let mut end = 0;
    while let Ok(Step::Batch(found)) = scan.step() {
        assert_eq!(found.position, end, "batches stand back to back");
        end = found.end();
        let Ok(batch) = scan.bytes(&found);
        let is_valid = BatchHeader::checksum(batch) == found.header.crc;
        let _ = (
            BatchLine {
                found: &found,
                is_valid,
            }
            .to_string(),
            batch_fields(&found),
        );
        let Ok(opened) = open(&found.header, batch) else {
            continue;
        };
        let mut records = Records::new(&found.header, &opened);
        let mut start = 0;
        while let Some(Ok(record)) = records.next() {
            let _ = RecordLine {
                header: &found.header,
                record: &record,
            }
            .to_string();
            let fields = record_fields(&found.header, start as u64, &opened[start..]).expect("it was just read");
            let length: u64 = fields.iter().map(|field| field.length).sum();
            assert_eq!(
                start as u64 + length,
                records.position() as u64,
                "the fields of a record fill it"
            );
            start = records.position();
        }
    }
    assert!(end <= bytes.len() as u64);
}

/// Two halves: an index and its log.
pub fn index(bytes: &[u8]) {
    let (index, log) = bytes.split_at(bytes.len() / 2);
    let mut scan = Scan::new(log);
    let mut offsets = OffsetEntries::new(index, 7);
    while let Ok(Some(entry)) = offsets.next(&mut scan) {
        let _ = entry.damage(scan.length()).map(|damage| damage.to_string());
    }
    let mut log = LogOfIndex::new(log, index, 7);
    let mut times = TimeEntries::new(index, 7);
    while let Ok(Some(entry)) = times.next(&mut log) {
        let _ = entry.damage().map(|damage| damage.to_string());
    }
    let _ = (offsets.rest(), times.rest(), offsets.is_unused());
    let _ = TxnIndex::open(&File::from_bytes(index, 0)).is_sound(7);
    index
        .chunks(AbortedTxn::SIZE)
        .filter_map(AbortedTxn::read)
        .for_each(|entry| {
            let _ = AbortedLine(&entry).to_string();
        });
}

/// A producer snapshot.
pub fn snapshot_file(bytes: &[u8]) {
    match snapshot::read(bytes) {
        Ok(entries) => {
            let _ = snapshot_fields(0, &entries);
            entries.iter().for_each(|(id, entry)| {
                let _ = ProducerLine { id: *id, entry }.to_string();
            });
        }
        Err(why) => {
            let _ = CorruptSnapshotLine {
                why,
                length: bytes.len() as u64,
            }
            .to_string();
        }
    }
}

/// Checkpoints and the other text files.
pub fn checkpoint_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(entries) = checkpoint::read_epochs(&text) {
        assert_eq!(
            checkpoint::read_epochs(&checkpoint::write_epochs(&entries)),
            Ok(entries)
        );
    }
    if let Ok(entries) = checkpoint::read_offsets(&text) {
        assert_eq!(
            checkpoint::read_offsets(&checkpoint::write_offsets(&entries)),
            Ok(entries)
        );
    }
    for kind in [FileKind::PartitionMetadata, FileKind::MetaProperties] {
        let _ = properties(kind, &text);
    }
}

/// A scenario: what can be read is printed in a form that reads the same.
pub fn scenario_text(bytes: &[u8]) {
    if let Ok(script) = scenario::parse(bytes) {
        let printed = script.to_string();
        let again = scenario::parse(printed.as_bytes())
            .expect("what is printed can be read")
            .to_string();
        assert_eq!(again, printed);
    }
}

/// A scenario: what can be read and begun is played, line for line, as far as so many steps each take it.
pub fn scenario_run(bytes: &[u8]) {
    const MOST_STEPS: usize = 40;
    let Ok(script) = scenario::parse(bytes) else { return };
    let Ok((setup, used)) = scenario::setup(&script) else {
        return;
    };
    let (mut world, mut ledger) = (World::new(setup), Ledger::default());
    for line in script.lines.into_iter().skip(used) {
        let only = Script {
            lines: vec![line],
            trace: None,
        };
        let mut player = Player::new(Arc::new(only), 0);
        for _ in 0..MOST_STEPS {
            let Next::Perform(_, input) = player.next(&world, &ledger) else {
                break;
            };
            let mut events = Vec::new();
            if cluster::step(&mut world, input, &mut events).is_err() {
                break;
            }
            ledger.step(&events);
        }
    }
}

/// A recording: replayed, if it is one.
pub fn recording(bytes: &[u8]) {
    let _ = conform::replay(&String::from_utf8_lossy(bytes));
}

/// The bytes as every kind of file: dumped, and loaded as a log after a clean stop and after a crash.
pub fn dump_files(bytes: &[u8]) {
    let folder = std::env::temp_dir().join(format!("highwater-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for scratch files");
    let mut files = Files::new();
    for kind in ["log", "index", "timeindex", "txnindex", "snapshot"] {
        let name = file_name(0, kind);
        fs::write(folder.join(&name), bytes).expect("a scratch file");
        files.insert(
            name,
            File::new(vec![Extent::Bytes(bytes.into())], Some(bytes.len() as u64), 0),
        );
    }
    let arguments = dump::Arguments {
        print_data_log: true,
        explain: true,
        paths: vec![folder],
    };
    dump::run(&arguments, &mut std::io::sink(), &mut std::io::sink()).expect("nothing is written anywhere");
    let config = LogConfig::default();
    for shutdown in [Shutdown::Clean, Shutdown::Unclean] {
        let args = LoadArgs {
            shutdown,
            recovery_point: 0,
            log_start_offset: 0,
            high_watermark: 0,
            config: &config,
            now_ms: 0,
        };
        let (log, _) = Log::load(files.clone(), &args);
        let _ = log.read(log.log_start_offset(), log.log_end_offset(), 100, FirstBatch::Whole);
    }
}
