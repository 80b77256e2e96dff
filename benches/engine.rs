//! What the engine costs, beside what it may cost. `cargo bench`, or `cargo xtask bench` for the page's figures as well.
//!
//! Each figure is one row `| what | found | at most |`, so that the rows of several programs make one table. Exits with
//! 1 when one is over its budget.
//!
//! Times are medians over many repetitions of the real thing: whole worlds, built from inputs, stepped by `step`.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use highwater::cluster::{Input, Silent, World, step};
use highwater::history::History;
use highwater::scenario::{Run, parse};
use highwater::soak::{Arena, KEEP};

#[path = "shared/states.rs"]
mod states;

use states::{cluster, run_until_decided, send, settled, walk};

/// The program's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the line begins with that says how many nanoseconds a state costs natively.
const NATIVE_STATE: &str = "native-state-nanoseconds";

fn main() -> ExitCode {
    let world = settled(2);
    let (step_median, step_late) = stepped(1_000);
    let figures = [
        (
            "step + clone + fingerprint, 3 brokers, 2 records",
            walked(&world),
            Duration::from_micros(3),
        ),
        ("step, median, 1,000 records", step_median, Duration::from_micros(10)),
        (
            "step, 99th percentile, 1,000 records",
            step_late,
            Duration::from_micros(100),
        ),
        (
            "step, median, 10 brokers, 20 partitions, 10 clients",
            crowded(),
            Duration::from_micros(10),
        ),
        (
            "1,000 random schedules of 200 moves, on one core",
            soaked(1_000),
            Duration::from_secs(1),
        ),
        (
            "100,000 records of 100 bytes, acks=all, 3 brokers",
            bulk(100_000),
            Duration::from_millis(500),
        ),
        (
            "seek anywhere in 10,000 steps, worst",
            sought(10_000),
            Duration::from_millis(50),
        ),
    ];
    // `cargo xtask bench` holds the browser's figure against this one.
    println!("{NATIVE_STATE} {}", walked_on_average(&world).as_nanos());
    for (what, found, budget) in figures {
        let mark = if found > budget { " **over**" } else { "" };
        println!("| {what} | {found:.2?}{mark} | {budget:.0?} |");
    }
    let over = figures.iter().any(|(_, found, budget)| found > budget);
    if over { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// What each state costs: a copy, one step of it, its fingerprint.
fn walked(world: &World) -> Duration {
    let mut busy = world.clone();
    step(&mut busy, send(2, 100), &mut Silent).expect("the producer runs");
    let mut times = Vec::new();
    for _ in 0..200 {
        let mut state = busy.clone();
        state.fingerprint();
        while state.undecided() > 0 {
            let begun = Instant::now();
            let mut next = state.clone();
            step(&mut next, Input::Next, &mut Silent).expect("something is pending");
            black_box(next.fingerprint());
            times.push(begun.elapsed());
            state = next;
        }
    }
    median(times)
}

/// The same on average, with what dropping a state costs: as a browser, whose clock is coarse, can time it too.
fn walked_on_average(world: &World) -> Duration {
    let round = || {
        let begun = Instant::now();
        let states = walk(world, 500);
        begun.elapsed() / u32::try_from(states).unwrap_or(u32::MAX)
    };
    median((0..9).map(|_| round()).collect())
}

/// A step in a world with this many records in its logs and as many under way. Median and 99th percentile.
fn stepped(records: u32) -> (Duration, Duration) {
    let mut times = Vec::new();
    for _ in 0..20 {
        let mut world = settled(records);
        for _ in 0..20 {
            step(&mut world, send(5, 100), &mut Silent).expect("the producer runs");
            while world.undecided() > 0 {
                let mut events = Vec::new();
                let begun = Instant::now();
                step(&mut world, Input::Next, &mut events).expect("something is pending");
                times.push(begun.elapsed());
                black_box(events);
            }
        }
    }
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// A step in a cluster of ten brokers where five producers write to twenty partitions that five consumers read.
fn crowded() -> Duration {
    let scene = "\
brokers 10
topic t partitions=20 replicas=3
";
    let producers = (0..5).map(|n| format!("producer p{n} linger.ms=0\n"));
    let partitions = |n: u32| {
        (n * 4..n * 4 + 4)
            .map(|p| format!("t-{p}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let consumers = (0..5).map(|n| format!("consumer c{n} assign={}\n", partitions(n)));
    let sends = (0..20).map(|n| format!("send p{} t-{n} count=5 every=1ms\n", n % 5));
    let text: String = [scene.to_owned()]
        .into_iter()
        .chain(producers)
        .chain(consumers)
        .chain(sends)
        .collect();
    let script = parse(text.as_bytes()).expect("it is well formed");
    let mut run = Run::new(Arc::new(script)).expect("its world begins");
    run.play(None, |_, _| {});
    let mut times = Vec::new();
    while run.world.undecided() > 0 {
        let begun = Instant::now();
        step(&mut run.world, Input::Next, &mut Silent).expect("something is pending");
        times.push(begun.elapsed());
    }
    median(times)
}

/// So many schedules of the strongest setting, of two hundred moves each.
fn soaked(schedules: u64) -> Duration {
    let arena = Arena::new(&KEEP[0]).expect("its statements are well formed");
    let begun = Instant::now();
    let broken = arena.hunt(0..schedules).found;
    assert!(
        broken.is_none(),
        "{}",
        broken.map_or(String::new(), |found| found.to_string())
    );
    begun.elapsed()
}

fn bulk(records: u32) -> Duration {
    let run = || {
        let mut world = cluster();
        let begun = Instant::now();
        step(&mut world, send(records, 100), &mut Silent).expect("the producer runs");
        run_until_decided(&mut world);
        begun.elapsed()
    };
    median((0..3).map(|_| run()).collect())
}

/// The worst seek among many places in a run of so many steps, with the page's own checkpoints.
fn sought(steps: usize) -> Duration {
    let mut history = History::new(cluster());
    while history.len() < steps {
        if history.world().undecided() == 0 {
            history.act(send(5, 100)).expect("the producer runs");
        }
        history.act(Input::Next).expect("something is pending");
    }
    // A stride that shares no factor with the length visits near and far places alike.
    let seeks = (0..100).map(|n| {
        let begun = Instant::now();
        history.seek(n * 3_331 % (steps + 1));
        begun.elapsed()
    });
    seeks.max().unwrap_or_default()
}
