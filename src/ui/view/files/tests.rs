//! The drawer over the files that a real Kafka wrote, and over a simulated replica's.

use base64::Engine as _;

use super::*;
use crate::inspect::FileKind;
use crate::log::{File, Files, LoadArgs, Log, LogConfig, Shutdown};
use crate::ui::act::Subject;
use crate::ui::page::Page;

const NAME: &str = "00000000000000000000";

/// A segment of five batches, the first of four records, and its indexes, as Kafka 4.4.0 wrote them.
const LOG: &str = "AAAAAAAAAAAAAABdAAAAAALK6A1BAAAAAAADAAABi8/laAAAAAGLz+VoA///////////////////AAAABBQAAAAB\
     CHRlc3QAFAACAgEIdGVzdAAUAAQEAQh0ZXN0ABQABgYBCHRlc3QAAAAAAAAAAAQAAAA8AAAAAALYfpR1AAAAAAAA\
     AAABi8/laAoAAAGLz+VoCv//////////////////AAAAARQAAAABCHRlc3QAAAAAAAAAAAUAAAA8AAAAAALYfpR1\
     AAAAAAAAAAABi8/laAoAAAGLz+VoCv//////////////////AAAAARQAAAABCHRlc3QAAAAAAAAAAAYAAAA8AAAA\
     AALYfpR1AAAAAAAAAAABi8/laAoAAAGLz+VoCv//////////////////AAAAARQAAAABCHRlc3QAAAAAAAAAAAcA\
     AAA8AAAAAALYfpR1AAAAAAAAAAABi8/laAoAAAGLz+VoCv//////////////////AAAAARQAAAABCHRlc3QA";
const INDEX: &str = "AAAABAAAAGkAAAAGAAAA+Q==";
const TIME_INDEX: &str = "AAABi8/laAoAAAAE";

fn bytes(text: &str) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("it is base64")
}

/// The folder of that segment, its log changed as a test likes.
fn folder(change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut log = bytes(LOG);
    change(&mut log);
    let mut files = Files::new();
    for (suffix, content) in [("log", log), ("index", bytes(INDEX)), ("timeindex", bytes(TIME_INDEX))] {
        files.insert(format!("{NAME}.{suffix}"), File::from_bytes(&content, 0));
    }
    files
}

fn opened(suffix: &str, change: impl FnOnce(&mut Vec<u8>)) -> Opened {
    open(&folder(change), &format!("{NAME}.{suffix}")).expect("it can be opened")
}

fn labels(parts: &Parts) -> Vec<(u64, String)> {
    parts.parts.iter().map(|part| (part.position, part.label())).collect()
}

fn damages(parts: &Parts) -> Vec<String> {
    parts.damages.iter().map(ToString::to_string).collect()
}

#[test]
fn a_segment_is_a_row_of_batches_and_its_index_leads_into_it() {
    let log = opened("log", |_| {});
    let expected = [(0, "0–3"), (105, "4"), (177, "5"), (249, "6"), (321, "7")];
    assert_eq!(labels(&log.own), expected.map(|(at, label)| (at, label.to_owned())));
    assert_eq!(damages(&log.own), [""; 0]);
    let index = log.index.as_ref().expect("it lies beside the log");
    assert_eq!(damages(index), [""; 0]);
    let row = strip(&log.own, Stored::Flushed(200), None, None);
    let layers: Vec<Layer> = row.bars.iter().map(|bar| bar.layer).collect();
    assert_eq!(
        layers,
        [Layer::Disk, Layer::Disk, Layer::Both(31), Layer::Cache, Layer::Cache]
    );
    let found: Vec<(String, usize, usize)> = leads(index, &log.own, &row)
        .iter()
        .map(|lead| (lead.entry.label(), lead.column, lead.span))
        .collect();
    assert_eq!(found, [("4 → 105".to_owned(), 1, 2), ("6 → 249".to_owned(), 3, 2)]);
    let time = opened("timeindex", |_| {});
    assert_eq!(labels(&time.own), [(0, "1700000000010 → 4".to_owned())]);
    assert_eq!(damages(&time.own), [""; 0]);
    let target = Parts::leads_to(&time.own.parts[0], time.log.as_ref().expect("it lies beside the index"));
    assert_eq!(target.map(|part| part.position), Some(105));
}

#[test]
fn a_walk_asks_for_the_bytes_that_it_needs_and_finds_the_same() {
    let log = bytes(LOG);
    // Far more zeros than are read at once, so that the walk has to wait within them.
    let long: Vec<u8> = log.iter().copied().chain(std::iter::repeat_n(0, 700_000)).collect();
    for content in [&log, &long] {
        let mut walk = LogWalk::new(0, content.len() as u64);
        let mut read = 0;
        while let Some(Wanted { position, length }) = walk.go() {
            let from = position as usize;
            walk.hold(position, content[from..from + length as usize].to_vec());
            read += length;
        }
        assert_eq!(
            walk.found,
            parts_of(FileKind::Log { base: 0 }, content, content.len() as u64)
        );
        assert!(read <= 2 * content.len() as u64, "{read} bytes were read");
    }
}

#[test]
fn recovery_is_told_ahead_as_the_log_does_it() {
    let cases: [(&str, fn(&mut Vec<u8>), &[&str]); 4] = [
        (
            "sound",
            |_| {},
            &["Every batch is sound: nothing is cut, and the log goes on at offset 8."],
        ),
        (
            "a byte of the fourth batch is inverted",
            |log| log[300] ^= 0xff,
            &[
                "At byte 249: the checksum of the batch at offset 6 is d87e9475, its bytes give 32e23fea.",
                "The log is cut here: 144 bytes go, and the segment behind it with them. It goes on at offset 6.",
            ],
        ),
        (
            "the last batch is torn",
            |log| log.truncate(350),
            &[
                "At byte 321: no batch begins here: the file ends before the batch does, a torn tail or a wrong length: by its length field it takes 72 bytes, and 29 are left.",
                "The log is cut here: 29 bytes go, and the segment behind it with them. It goes on at offset 7.",
            ],
        ),
        (
            "zeros at the end",
            |log| log.extend([0; 40]),
            &[
                "At byte 393: 40 zero bytes up to the end of the file instead of batches.",
                "The log is cut here: 40 bytes go, and the segment behind it with them. It goes on at offset 8.",
            ],
        ),
    ];
    for (what, change, expected) in cases {
        let steps = recovery(&opened("log", change), Some(0), &[0, 8]);
        let told: Vec<&str> = steps.iter().map(|step| &*step.text).collect();
        assert_eq!(
            (told[0], told[1]),
            (
                "The recovery point is 0: this segment is read once more, from byte 0, batch by batch.",
                "Batch 0–3 at byte 0: the checksum in its header is that of its bytes."
            )
        );
        assert_eq!(
            told[told.len() - 1 - expected.len()..told.len() - 1],
            *expected,
            "{what}"
        );
        // The engine comes to the same.
        let (log, report) = Log::load(
            folder(change),
            &LoadArgs {
                shutdown: Shutdown::Unclean,
                recovery_point: 0,
                log_start_offset: 0,
                high_watermark: 0,
                config: &LogConfig::default(),
                now_ms: 1_700_000_000_100,
            },
        );
        let gone = report.truncated.map_or(0, |(_, bytes)| bytes);
        let done = match gone {
            0 => format!("the log goes on at offset {}.", log.log_end_offset()),
            _ => format!(
                " {gone} bytes go, and the segment behind it with them. It goes on at offset {}.",
                log.log_end_offset()
            ),
        };
        assert!(told[told.len() - 2].ends_with(&done), "{what}: {done}");
    }
    let spared = recovery(&opened("log", |_| {}), Some(9), &[0, 8]);
    assert_eq!(
        spared[0].text,
        "The recovery point is 9: what lies below it was flushed, and reading begins with segment 8. This one is believed as \
         it lies here."
    );
    assert_eq!(spared.len(), 1);
}

#[test]
fn an_offset_is_looked_up_step_by_step() {
    let log = opened("log", |_| {});
    let told = |offset| -> Vec<String> { look_up(&log, offset).into_iter().map(|step| step.text).collect() };
    assert_eq!(
        told(5),
        [
            "Of all segments 00000000000000000000.log has the greatest first offset that is not above 5.",
            "Of the entries in its index, 4 → 105 is the last that is not above 5: the search begins at byte 105.",
            "The header at byte 105 says that its batch ends with offset 4: go on.",
            "The header at byte 177 says that its batch ends with offset 5: this one.",
            "2 batch headers read, 122 bytes; 72 bytes of the log passed over, 105 never looked at.",
        ]
    );
    let steps = look_up(&log, 5);
    assert_eq!((steps[1].entry, steps[3].batch), (Some(0), Some(177)));
    assert_eq!(
        told(2)[1],
        "Its index has no entry at or below 2: the search begins at byte 0."
    );
    assert_eq!(
        told(9).last().map(String::as_str),
        Some(
            "No batch of this segment reaches 9: 2 batch headers read, 122 bytes; 144 bytes of the log passed over, 249 \
             never looked at."
        )
    );
    let names = [
        "00000000000000000008.log",
        "00000000000000000000.log",
        "00000000000000000008.index",
    ];
    let segment = |offset| segment_of(names.into_iter(), offset);
    assert_eq!(segment(7), Some("00000000000000000000.log"));
    assert_eq!(segment(8), Some("00000000000000000008.log"));
    assert_eq!(segment(-1), None);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let flipped = opened("log", |log| log[110 + 60] ^= 0xff);
    assert_eq!(
        damages(&flipped.own),
        ["position 105: the checksum of the batch at offset 4 is d87e9475, its bytes give a56fa93a"]
    );
    assert!(!flipped.own.parts[1].sound && flipped.own.parts[0].sound);
    let torn = opened("log", |log| log.truncate(350));
    assert_eq!(
        damages(&torn.own),
        [
            "position 321: no batch begins here: the file ends before the batch does, a torn tail or a wrong length: by its length field it takes 72 bytes, and 29 are left"
        ]
    );
    assert_eq!(torn.own.parts.last().map(Part::label), Some("no batch".to_owned()));
    let short = opened("index", |log| log.truncate(200));
    assert_eq!(
        damages(&short.own),
        [
            "position 8: the entry for offset 6 leads to position 249 of the log, where no batch begins; the log has 200 bytes"
        ]
    );
    // A wrong length at 177: the entry that leads behind it is not to blame, and nothing is said of it.
    let wrong = |log: &mut Vec<u8>| log[177 + 8] = 1;
    let broken = "position 177: no batch begins here: the file ends before the batch does, a torn tail or a wrong length: \
                  by its length field it takes 16777288 bytes, and 216 are left";
    assert_eq!(damages(&opened("log", wrong).own), [broken]);
    assert_eq!(damages(&opened("index", wrong).own), [""; 0]);
    let early = opened("timeindex", |log| log[8] = 1);
    assert_eq!(
        damages(&early.own),
        [
            "position 0: the look-up ends in the log at position 0: the file ends before the batch does, a torn tail or a \
             wrong length: by its length field it takes 16777321 bytes, and 393 are left"
        ]
    );
    // Entries that each lead right, in the wrong order.
    let mut files = folder(|_| {});
    let mut swapped = bytes(INDEX);
    swapped.rotate_left(8);
    files.insert(format!("{NAME}.index"), File::from_bytes(&swapped, 0));
    let swapped = open(&files, &format!("{NAME}.index")).expect("it can be opened");
    assert_eq!(
        damages(&swapped.own),
        [
            "position 8: offset 4 at position 105 of the log is not above the entry before it, offset 6 at position 249; an \
             index is searched by halves, and whoever looks there may be led astray"
        ]
    );
    let text = opened("log", |log| *log = b"a letter, and no segment at all".to_vec());
    assert_eq!(text.own.damages.len(), 1);
    assert_eq!(
        kind_of("holiday.jpg").expect_err("it is no file of a log"),
        "holiday.jpg is no file of a Kafka log by its name: a segment is called after its first offset, such as \
     00000000000000000000.log, and its indexes stand beside it"
    );
}

#[test]
fn the_fields_of_a_batch_and_its_bytes_belong_together() {
    let log = bytes(LOG);
    let own = parts_of(FileKind::Log { base: 0 }, &log, log.len() as u64);
    let kind = FileKind::Log { base: 0 };
    let shown = detail(kind, &own.parts[1], &log[105..177], &[], None);
    assert_eq!(shown.title, "Batch 4 · byte 105");
    let crc = shown
        .fields
        .iter()
        .position(|field| field.name == "crc")
        .expect("it has a checksum");
    assert_eq!(
        (in_words(shown.fields[0].name), shown.fields[crc].value.as_str()),
        ("base offset".to_owned(), "d87e9475")
    );
    let lit: Vec<(u64, &str)> = shown
        .rows
        .iter()
        .flat_map(|row| row.runs.iter().map(|run| (row.at, run)))
        .filter(|(_, run)| run.field == Some(crc))
        .map(|(at, run)| (at, run.hex.as_str()))
        .collect();
    assert_eq!(lit, [(112, "d8 7e 94 75")]);
    assert_eq!((shown.rows[0].at, shown.rows[0].indent), (96, 9));

    let first = detail(kind, &own.parts[0], &log[..105], &[], Some(2));
    let records = first.records.expect("a batch has records").expect("they can be read");
    assert_eq!(records.iter().map(|row| row.offset).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(first.title, "Record 3 of 4 · byte 83");
    assert_eq!(first.fields.iter().map(|field| field.length).sum::<u64>(), 11);
}

#[test]
fn a_compressed_batch_is_named_and_its_header_shown() {
    let log = opened("log", |log| log[22] |= 1);
    assert_eq!(log.own.parts[0].words(), "Batch 0–3, gzip");
}

#[test]
fn a_simulated_replica_has_a_folder_and_checkpoints() {
    let mut page = Page::landing();
    (0..60).for_each(|_| {
        page.tick();
    });
    let session = page.session.as_ref().expect("there is a run");
    let look = session.look();
    let shown = replicas(&look, None);
    assert_eq!(
        (&*shown.name, shown.shown, shown.replicas.len()),
        ("payments-0", Some(1), 3)
    );
    assert_eq!(replicas(&look, Some(Subject::Broker(3))).shown, Some(3));
    let leader = shown.replica(None).expect("the leader has a folder");
    assert_eq!((leader.broker, leader.words, leader.runs), (1, "leader", true));
    let entries = listing(&leader.files);
    let log = entries
        .iter()
        .find(|entry| entry.name.ends_with(".log"))
        .expect("it has a segment");
    assert_eq!((&*log.short, log.stored), ("…000000.log", Stored::Flushed(0)));
    assert!(log.words().ends_with(", all in page cache only"), "{}", log.words());
    let chosen = Chosen::default().file_in(&entries).expect("there is a file");
    assert_eq!(chosen, log.name, "the newest segment is open at first");
    // What belongs to the broker does not lie in the partition's folder.
    let rows = tree(&entries, Some(&chosen));
    let beside = |row: &Row| match row {
        Row::Beside(entry) => Some(entry.name.to_string()),
        _ => None,
    };
    let own: Vec<String> = rows.iter().filter_map(beside).collect();
    assert!(own.contains(&"partition.metadata".to_owned()), "{own:?}");
    let Some(Row::Above(above)) = rows.last() else {
        panic!("the data directory comes last: {rows:?}");
    };
    let above: Vec<&str> = above.iter().map(|entry| &*entry.name).collect();
    let expected = [
        "../log-start-offset-checkpoint",
        "../meta.properties",
        "../recovery-point-offset-checkpoint",
        "../replication-offset-checkpoint",
    ];
    assert_eq!(above, expected);
    for entry in &entries {
        let opened = open(&leader.files, &entry.name).unwrap_or_else(|why| panic!("{}: {why}", entry.name));
        assert_eq!(damages(&opened.own), [""; 0], "{}", entry.name);
        assert_eq!(opened.own.length, entry.length, "{}", entry.name);
    }
}

#[test]
fn a_real_segment_is_laid_beside_a_replica_by_offset() {
    let replica = folder(|_| {});
    let own = replica
        .get(&format!("{NAME}.log"))
        .expect("it has a segment")
        .to_bytes();
    // What is simulated holds batches, and not loose bytes.
    let batches = |bytes: &[u8]| {
        let mut extents = Vec::new();
        let mut rest = bytes;
        while let Ok(batch) = crate::log::Batch::parse(rest) {
            rest = &rest[batch.size_in_bytes() as usize..];
            extents.push(crate::log::Extent::Batch(batch));
        }
        let mut files = Files::new();
        files.insert(format!("{NAME}.log"), File::new(extents, None, 0));
        files
    };
    let lay = |replica: &[u8], file: &[u8], span| {
        let parts = parts_of(FileKind::Log { base: 0 }, file, file.len() as u64);
        let mut beside = Beside::new(&batches(replica), span);
        for part in beside.wanted(&parts) {
            beside.take(&part, &file[part.position as usize..part.end() as usize]);
        }
        beside.end();
        let lines: Vec<(i64, Compared)> = beside.lines.iter().map(|line| (line.offset, line.is.clone())).collect();
        (lines, beside.summary(1, &parts), beside)
    };
    let equal = |offsets: std::ops::Range<i64>| offsets.map(|offset| (offset, Compared::Equal)).collect::<Vec<_>>();
    let (lines, summary, beside) = lay(&own, &own, 0..i64::MAX);
    assert_eq!((lines, beside.difference(0)), (equal(0..8), None));
    assert_eq!(summary, "Broker 1's offsets 0 to 7: 8 equal.");
    assert_eq!(
        (beside.lines[4].file.as_str(), beside.lines[4].replica.as_str()),
        ("null: test", "null: test")
    );

    // The replica lacks the front and the end of what the file has.
    let (lines, summary, _) = lay(&own[105..321], &own, 0..i64::MAX);
    assert_eq!(lines, equal(4..7));
    assert_eq!(
        summary,
        "Broker 1's offsets 4 to 6: 3 equal. The file has more on either side."
    );
    // The file was compacted, and ends before the replica does.
    let holes: Vec<u8> = [&own[..105], &own[177..249]].concat();
    let (lines, summary, beside) = lay(&own, &holes, 0..i64::MAX);
    let replica_only = |offset| (offset, Compared::Replica);
    let expected = [
        equal(0..4),
        vec![replica_only(4)],
        equal(5..6),
        vec![replica_only(6), replica_only(7)],
    ]
    .concat();
    assert_eq!(lines, expected);
    assert_eq!(summary, "Broker 1's offsets 0 to 7: 5 equal, 3 only on the broker.");
    assert_eq!((beside.difference(0), beside.difference(5)), (Some(4), Some(6)));
    let (lines, ..) = lay(&holes, &own, 0..5);
    assert_eq!(lines, equal(0..4), "offsets of other segments are left to those");
    let (lines, ..) = lay(&holes, &own, 0..i64::MAX);
    assert_eq!(lines[4], (4, Compared::File));

    // Epoch, timestamp and value are told apart; a batch that cannot be opened here is named.
    let mut other = own.clone();
    other[105 + 15] = 9;
    other[177 + 34] += 1;
    other[249 + 70] = b'!';
    other[321 + 22] = 5;
    let (lines, summary, beside) = lay(&own, &other, 0..i64::MAX);
    assert_eq!(lines[4], (4, Compared::Differ("epoch".to_owned())));
    assert_eq!(lines[5], (5, Compared::Differ("timestamp".to_owned())));
    assert_eq!(lines[6], (6, Compared::Differ("value".to_owned())));
    assert_eq!(
        lines[7],
        (
            7,
            Compared::Closed("has compression code 5, and only 0 to 4 are known".to_owned())
        )
    );
    assert_eq!(beside.lines[4].file, "null: test, epoch 9");
    assert_eq!(
        summary,
        "Broker 1's offsets 0 to 7: 4 equal, 3 different, 1 not opened."
    );
    let (lines, summary, _) = lay(&[], &own, 0..i64::MAX);
    assert_eq!(
        (lines, summary.as_str()),
        (vec![], "Broker 1 has no record among the offsets of this segment.")
    );
}

#[test]
fn folders_in_a_data_directory_are_kept_apart() {
    let names = [
        "a-0/00000000000000000000.log",
        "a-0/00000000000000000007.log",
        "b.c-0/00000000000000000009.index",
        "b.c-0/00000000000000000009.log",
        "meta.properties",
    ];
    let entries: Vec<Entry> = names.iter().map(|name| Entry::new(name, 10, Stored::Unknown)).collect();
    assert_eq!((folder_of(names[2]), folder_of(names[4])), ("b.c-0", ""));
    assert_eq!(newest(&entries, "a-0").as_deref(), Some(names[1]));
    assert_eq!(Chosen::default().file_in(&entries).as_deref(), Some(names[1]));
    assert_eq!(Entry::folder("b.c-0", &entries).length, 20);
    assert_eq!(span_of(&entries, names[0]), 0..7);
    assert_eq!(span_of(&entries, names[1]), 7..i64::MAX);
    assert_eq!(span_of(&entries, names[3]), 0..i64::MAX);
    // The open folder keeps its name, and its files stand below it.
    let file = |at: usize| entries[at].clone();
    let a = Row::Open("a-0".into(), vec![file(0), file(1)]);
    let b = Row::Open("b.c-0".into(), vec![file(2), file(3)]);
    let closed = |folder: &str, opens: usize| Row::Closed(Entry::folder(folder, &entries), names[opens].into());
    let beside = Row::Beside(file(4));
    assert_eq!(tree(&entries, Some(names[0])), [a, closed("b.c-0", 3), beside.clone()]);
    assert_eq!(tree(&entries, Some(names[2])), [closed("a-0", 1), b, beside.clone()]);
    assert_eq!(
        tree(&entries, Some(names[4])),
        [closed("a-0", 1), closed("b.c-0", 3), beside]
    );
}
