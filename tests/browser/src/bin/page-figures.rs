//! What the page costs in a real Chromium. `cargo xtask bench` serves the page, starts Chromium and runs this.
//!
//! Each figure is one row `| what | measured | at most |`, as the engine's are. Exits with 1 when a figure is over its
//! budget.

use std::process::ExitCode;

use anyhow::{Context, Result};
use page_tests::{COUNTERS, FIRST_LOAD_BYTES, FIRST_LOAD_REQUESTS, Page, View};
use serde_json::json;

/// The slower machine that the budgets are for.
const SLOWDOWN: u32 = 4;

/// A run with 200 records in view, and more to come while it plays.
const SCENE: &str = "brokers 3\ntopic payments replicas=3\nproducer app\nsend app payments count=200\n\
                     run until acked\nsend app payments count=2000 every=5ms\n";

fn main() -> Result<ExitCode> {
    let mut within = true;
    let mut figure = |what: &str, measured: f64, at_most: f64, unit: &str| {
        let mark = if measured <= at_most { "" } else { " **over**" };
        within &= measured <= at_most;
        println!("| {what} | {measured:.0} {unit}{mark} | {at_most:.0} {unit} |");
    };

    let (bytes, requests) = first_load()?;
    figure(
        "first load, compressed",
        bytes / 1000.0,
        FIRST_LOAD_BYTES as f64 / 1000.0,
        "kB",
    );
    figure("first load", requests, FIRST_LOAD_REQUESTS as f64, "requests");
    figure(
        "first paint, processor slowed four-fold (median of 7)",
        first_paint()?,
        1000.0,
        "ms",
    );
    let (gone, drawn) = worst_seek()?;
    figure("seek anywhere in 10,000 steps (worst of 100)", gone, 50.0, "ms");
    figure("the same with drawing", drawn, 50.0, "ms");
    let (late, callbacks) = playing_and_paused()?;
    figure(
        "frames later than 16.7 ms while playing, 200 records in view, processor slowed four-fold",
        late,
        5.0,
        "%",
    );
    figure("callbacks in one second while paused", callbacks, 0.0, "");
    Ok(if within { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Bytes and requests of everything that a first visit loads.
fn first_load() -> Result<(f64, f64)> {
    let page = Page::blank(View::WIDE)?;
    page.open("")?;
    let loaded = page.loaded()?;
    Ok((loaded.iter().map(|entry| entry.bytes as f64).sum(), loaded.len() as f64))
}

const PAINT: &str = "performance.getEntriesByName('first-contentful-paint')";

/// Milliseconds from the visit to the first content, each time with nothing cached.
fn first_paint() -> Result<f64> {
    let mut paints = Vec::new();
    for _ in 0..7 {
        let page = Page::blank(View::WIDE.slowed(SLOWDOWN))?;
        page.open("")?;
        // The engine may run before the browser has painted anything.
        page.wait_until("something is painted", &format!("{PAINT}.length > 0"))?;
        let paint = page.eval(&format!("{PAINT}[0].startTime"))?;
        paints.push(paint.as_f64().context("the browser tells no first paint")?);
    }
    paints.sort_by(f64::total_cmp);
    Ok(paints[paints.len() / 2])
}

/// A run of 10,000 steps, and those that bring its world to where it is shown.
const LONG_RUN: &str =
    "brokers 3\ntopic payments replicas=3\nproducer app\nsend app payments count=10000 every=2ms\nstep 10100\n";

/// Milliseconds that the page takes to go to another step, and to have drawn it.
fn worst_seek() -> Result<(f64, f64)> {
    let page = found_after_a_crash(View::WIDE, LONG_RUN)?;
    page.wait_until(
        "the run is there",
        "Number(document.querySelector('.timeline input')?.max) >= 10000",
    )?;
    let measured = page.eval(SEEKS)?;
    let worst = |name: &str| measured[name].as_f64().context("nothing was measured");
    Ok((worst("gone")?, worst("drawn")?))
}

/// Moves the slider as a hand does. A stride that shares no factor with the length visits near and far places alike.
/// What is drawn in a frame is drawn between the callbacks that were asked for before and after the move.
const SEEKS: &str = "(async () => {
    const slider = document.querySelector('.timeline input');
    const worst = { gone: 0, drawn: 0 };
    for (let n = 0; n < 100; n += 1) {
        let framed;
        requestAnimationFrame(() => { framed = performance.now(); });
        slider.value = n * 3331 % 10001;
        const begun = performance.now();
        slider.dispatchEvent(new InputEvent('input', { bubbles: true }));
        const gone = performance.now() - begun;
        await new Promise(requestAnimationFrame);
        worst.gone = Math.max(worst.gone, gone);
        worst.drawn = Math.max(worst.drawn, gone + performance.now() - framed);
    }
    return worst;
})()";

/// A page that goes on with a run, as after a crash, which is a door to any scene.
fn found_after_a_crash(view: View, scenario: &str) -> Result<Page> {
    let page = Page::blank(view)?;
    let found = json!({ "scenario": scenario, "step": 0, "position": 0, "crashed": "figures" });
    page.before_each_document(&format!(
        "sessionStorage['highwater.resume'] ??= JSON.stringify({found})"
    ))?;
    page.before_each_document(COUNTERS)?;
    page.open("")?;
    page.click("button", "Close")?;
    Ok(page)
}

/// The share of late frames in percent while playing, and how many callbacks ran in a second of pause.
fn playing_and_paused() -> Result<(f64, f64)> {
    let page = found_after_a_crash(View::sized(1920, 1080).slowed(SLOWDOWN), SCENE)?;
    page.press("End")?;
    for _ in 0..2 {
        page.click("button", "Narrower columns")?;
    }
    page.wait_until(
        "200 records are in view",
        "document.querySelectorAll('.lane.broker .cell').length >= 200",
    )?;
    page.press(" ")?;
    let late = page
        .eval(LATE_FRAMES)?
        .as_f64()
        .context("the browser tells no frames")?;
    page.press(" ")?;
    // What was moving when the pause came may arrive first.
    page.eval("new Promise((later) => setTimeout(later, 1500))")?;
    page.eval("counted.callbacks = 0; new Promise((later) => counted.timeout(later, 1000))")?;
    let callbacks = page
        .eval("counted.callbacks")?
        .as_f64()
        .context("nothing was counted")?;
    Ok((late, callbacks))
}

/// The share of frames, over three seconds, that came later after the one before than a 60 Hz screen shows them; half
/// a millisecond is the clock's own.
const LATE_FRAMES: &str = "new Promise((done) => {
    const gaps = [];
    let last = performance.now();
    const begun = last;
    const frame = (now) => {
        gaps.push(now - last);
        last = now;
        if (now - begun < 3000) requestAnimationFrame(frame);
        else done(100 * gaps.filter((gap) => gap > 17.2).length / gaps.length);
    };
    requestAnimationFrame(frame);
})";
