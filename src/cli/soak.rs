//! `highwater soak`: random schedules for as long as one likes, on every processor.
//!
//! Each block of seeds is played in each setting that promises to keep every acknowledged record. The first break that is
//! found is written to the standard output as a scenario; progress goes to the standard error.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::soak::{Arena, Found, KEEP};

/// Seeds of one setting that are played between two looks at the clock.
const BLOCK: u64 = 200;

/// What `highwater soak` is told.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How long.
    #[arg(long, value_name = "N", default_value_t = 1)]
    minutes: u64,
    /// The first seed; the same one gives the same schedules.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing broke.
    Whole = 0,
    /// Something did.
    Broken = 1,
}

/// Plays schedules until the time is up or something breaks.
///
/// # Errors
/// When the output cannot be written, or a setting is not what it should be.
pub fn run(arguments: &Arguments, out: &mut impl Write, err: &mut impl Write) -> io::Result<Status> {
    let arenas: Vec<Arena> = KEEP
        .iter()
        .map(Arena::new)
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)?;
    let (begun, time) = (
        Instant::now(),
        Duration::from_secs(arguments.minutes.saturating_mul(60)),
    );
    let (blocks, known, found) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(None::<Found>));
    let is_found = || found.lock().is_ok_and(|found| found.is_some());
    let play = || {
        while begun.elapsed() < time && !is_found() {
            let block = blocks.fetch_add(1, Ordering::Relaxed);
            let each = arenas.len() as u64;
            let from = arguments.seed.wrapping_add(block / each * BLOCK);
            let hunt = arenas[(block % each) as usize].hunt(from..from.saturating_add(BLOCK));
            known.fetch_add(hunt.known, Ordering::Relaxed);
            if let (Some(broken), Ok(mut found)) = (hunt.found, found.lock()) {
                found.get_or_insert(broken);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(play);
        }
    });
    let schedules = blocks.into_inner() * BLOCK;
    let seconds = begun.elapsed().as_secs_f64();
    writeln!(
        err,
        "{schedules} schedules in {} settings, {:.0} a second; {} set aside, in which a leader forgot an ISR that it had asked for",
        arenas.len(),
        schedules as f64 / seconds.max(f64::EPSILON),
        known.into_inner()
    )?;
    match found.into_inner().ok().flatten() {
        None => Ok(Status::Whole),
        Some(found) => {
            write!(out, "{found}")?;
            Ok(Status::Broken)
        }
    }
}
