//! The command line: `highwater run`, `highwater conform`, `highwater dump` and `highwater soak`.
//!
//! Results go to standard output, faults of files to standard error; the exit status says in one number how it went.
//! The only floor that reads files and prints.

pub mod conform;
pub mod dump;
mod files;
pub mod run;
pub mod soak;
mod state;

use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// How Apache Kafka's log keeps records, and how it loses them.
#[derive(Debug, Parser)]
#[command(
    name = "highwater",
    version,
    about,
    after_help = "Start with `highwater run --help`."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs scenarios and says which of their expectations hold.
    ///
    /// Exit status: 0 when every expectation holds; 1 when one does not, or a run stops; 2 when a file cannot be read or is
    /// malformed (every fault is listed with its place).
    #[command(after_help = RUN_EXAMPLE)]
    Run(run::Arguments),
    /// Replays recordings of a real Kafka and says where this model differs.
    ///
    /// Files, or folders that are searched for .json and .jsonl files, plain or packed as .gz. Exit status: 0 when nothing
    /// differs; 1 when something does; 2 when a file cannot be read or a folder holds no recordings.
    #[command(after_help = CONFORM_EXAMPLE)]
    Conform {
        /// Recordings, or folders with recordings.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Prints what the files of a broker's log hold, as kafka-dump-log does.
    ///
    /// Segments (.log), their indexes (.index, .timeindex, .txnindex), producer snapshots and checkpoints; of a folder, all
    /// of them. What is wrong is said on the standard error, with its position. Exit status: 0 when everything is sound; 1
    /// when something is damaged; 2 when a file cannot be read.
    #[command(after_help = DUMP_EXAMPLE)]
    Dump(dump::Arguments),
    /// Plays random schedules of faults and writes in settings that should keep every acknowledged record.
    ///
    /// What breaks is shrunk and written down as a scenario. Exit status: 0 when nothing broke, 1 when something did.
    #[command(after_help = SOAK_EXAMPLE)]
    Soak(soak::Arguments),
}

const RUN_EXAMPLE: &str = "\
Example: an acknowledged record is lost

  $ cat lost.txt
  brokers 3
  topic payments replicas=3
  producer app acks=1
  cut 1 2,3
  send app payments value=100
  run until acked
  kill 1
  run until leader payments-0 = 2
  expect lost payments-0 = 0

  $ highwater run lost.txt
  ok lost.txt (1 expectations)
  1 files, 1 expectations, 0 failed

  $ highwater run lost.txt --files disks && highwater dump --print-data-log disks/broker-1/payments-0";

const CONFORM_EXAMPLE: &str = "\
Example:

  $ highwater conform tests/recordings";

const DUMP_EXAMPLE: &str = "\
Example:

  $ highwater dump --print-data-log payments-0/00000000000000000000.log
  Dumping payments-0/00000000000000000000.log
  Log starting offset: 0
  baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 … size: 78 magic: 2 compresscodec: none crc: 2283811233 isvalid: true
  | offset: 0 CreateTime: 1700000000000 keySize: 5 valueSize: 5 sequence: -1 headerKeys: [] key: hello payload: hello

  $ highwater dump --explain payments-0";

const SOAK_EXAMPLE: &str = "\
Example:

  $ highwater soak --minutes 10 --seed 7";

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    let status = match Arguments::parse().command {
        Command::Run(arguments) => {
            run::run(&arguments, &mut io::stdin().lock(), &mut out, &mut err).map(|status| status as u8)
        }
        Command::Dump(arguments) => {
            // The standard output would be flushed after each line.
            let mut out = io::BufWriter::with_capacity(1 << 16, &mut out);
            dump::run(&arguments, &mut out, &mut err).map(|status| status as u8)
        }
        Command::Soak(arguments) => soak::run(&arguments, &mut out, &mut err).map(|status| status as u8),
        Command::Conform { paths } => conform::run(&paths, &mut out, &mut err).map(|status| status as u8),
    };
    match status {
        Ok(status) => ExitCode::from(status),
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Where this cannot be written either, the status has to do.
            let _ = writeln!(err, "highwater: the output cannot be written: {error}");
            ExitCode::from(2)
        }
    }
}
