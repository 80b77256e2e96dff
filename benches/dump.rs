//! What reading a real segment of 100 MB costs, with `highwater dump`. Rows as in `engine`.
//!
//! Records have values of 100 bytes and come in batches of 16 KiB. The lines are printed and thrown away.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use highwater::cli::dump::{Arguments, Status, run};
use highwater::log::{Batch, Record};

/// The length of the segment.
const SEGMENT: usize = 100_000_000;

fn main() -> ExitCode {
    let folder = std::env::temp_dir().join(format!("highwater-bench-dump-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the segment");
    let segment = folder.join("00000000000000000000.log");
    fs::write(&segment, written()).expect("the segment is written");
    let mut arguments = Arguments {
        paths: vec![segment],
        ..Arguments::default()
    };
    let batches = median(&arguments);
    arguments.print_data_log = true;
    let records = median(&arguments);
    let _ = fs::remove_dir_all(folder);
    let figures = [
        ("dump of a 100 MB segment", batches, Duration::from_millis(200)),
        (
            "dump of a 100 MB segment with its records",
            records,
            Duration::from_millis(1200),
        ),
    ];
    for (what, found, budget) in figures {
        let mark = if found > budget { " **over**" } else { "" };
        println!("| {what} | {found:.2?}{mark} | {budget:?} |");
    }
    let over = figures.iter().any(|(_, found, budget)| found > budget);
    if over { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The bytes of a segment.
fn written() -> Vec<u8> {
    let value = [b'x'; 100];
    let records = vec![Record::new(None, Some(&value), 1_700_000_000_000); 151];
    let batch = Batch::build(&records, None, Arc::default());
    let mut bytes = Vec::with_capacity(SEGMENT + 20_000);
    let mut offset = 0;
    while bytes.len() < SEGMENT {
        let placed = batch.placed(offset, 0);
        placed.write_to(&mut bytes);
        offset = placed.next_offset();
    }
    bytes
}

/// The time of the middle one of some runs.
fn median(arguments: &Arguments) -> Duration {
    let mut times: Vec<Duration> = (0..5).map(|_| once(arguments)).collect();
    times.sort();
    times[times.len() / 2]
}

fn once(arguments: &Arguments) -> Duration {
    let mut out = io::BufWriter::with_capacity(1 << 16, Nowhere);
    let begun = Instant::now();
    let status = run(arguments, &mut out, &mut io::stderr()).expect("nowhere takes everything");
    assert_eq!(status, Status::Sound);
    begun.elapsed()
}

/// Takes bytes as a pipe does, and forgets them.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(std::hint::black_box(bytes).len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
