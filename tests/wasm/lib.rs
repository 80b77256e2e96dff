//! The engine in a real browser: that it computes there, to the bit, what it computes natively.
//!
//! `cargo xtask test --only wasm` runs these through wasm-pack.

#![cfg(all(test, target_arch = "wasm32"))]

#[path = "../../benches/shared/states.rs"]
mod states;

use std::sync::Arc;

use highwater::cluster::{World, step};
use highwater::ledger::Ledger;
use highwater::log::{Batch, ProducerStamp, Record};
use highwater::scenario::{Next, Player, parse, setup};
use include_dir::{Dir, include_dir};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// Every story, as the native tests read them.
static STORIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../stories");

/// Where each story ends, as the native tests found it.
const FINGERPRINTS: &str = include_str!("../fingerprints.txt");

/// The checksum is Kafka's, so it stands here as Kafka would write it, not as our own code says.
#[wasm_bindgen_test]
fn a_batch_has_the_same_bytes_in_the_browser() {
    let stamp = ProducerStamp {
        id: 7,
        epoch: 0,
        base_sequence: 0,
    };
    let record = Record::new(Some(b"alice"), Some(b"250.00"), 1_700_000_000_000);
    let batch = Batch::build(&[record], Some(stamp), [].into());
    assert_eq!(batch.size_in_bytes(), 79);
    assert!(batch.is_valid());
    assert_eq!(
        Batch::parse(&batch.to_bytes()).map(|read| read.fingerprint()),
        Ok(batch.fingerprint())
    );
}

/// The world that a scenario leads to, or the line at which it stops. Expectations are passed over: that they hold is
/// known natively, and a world that is the same to the bit meets them here too.
fn world(scenario: &[u8]) -> Result<World, String> {
    let script = Arc::new(parse(scenario).map_err(|faults| format!("{} faults", faults.len()))?);
    let (setup, used) = setup(&script).map_err(|(line, refused)| format!("{line}: {}", refused.reason))?;
    let (mut world, mut ledger, mut events) = (World::new(setup), Ledger::default(), Vec::new());
    let mut player = Player::new(script, used);
    loop {
        match player.next(&world, &ledger) {
            Next::Perform(line, input) => {
                events.clear();
                step(&mut world, input, &mut events).map_err(|refused| format!("{line}: {}", refused.reason))?;
                ledger.step(&events);
            }
            Next::Judged(..) | Next::Passed(_) => {}
            Next::Stopped(line, stop) => return Err(format!("{line}: {stop}")),
            Next::Finished => return Ok(world),
        }
    }
}

#[wasm_bindgen_test]
fn every_story_ends_as_it_does_natively() {
    let texts = STORIES
        .files()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "txt"));
    let ends = texts.map(|file| {
        let name = file.path().file_stem().unwrap_or_default().to_string_lossy();
        match world(file.contents()) {
            Ok(world) => format!("{name} {:032x}", world.fingerprint()),
            Err(stopped) => format!("{name} stops at {stopped}"),
        }
    });
    let ends: Vec<String> = ends.collect();
    let expected: Vec<&str> = FINGERPRINTS.lines().collect();
    let only_here: Vec<&String> = ends.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert!(only_here.is_empty(), "found here and not natively: {only_here:#?}");
    assert_eq!(ends.len(), expected.len(), "stories");
}

/// `cargo xtask bench` runs this, compiled as the page is, and says how many nanoseconds a state costs natively.
#[wasm_bindgen_test]
#[ignore = "a figure, no test"]
fn what_a_state_costs() {
    let native = option_env!("HIGHWATER_NATIVE_STATE").and_then(|nanoseconds| nanoseconds.parse::<f64>().ok());
    let native = native.expect("`cargo xtask bench` says how many nanoseconds it is natively");
    let world = states::settled(2);
    let round = || {
        let begun = js_sys::Date::now();
        let states = states::walk(&world, 2_000);
        (js_sys::Date::now() - begun) * 1e6 / states as f64
    };
    // A browser compiles what runs often once more, and better; by then it is what a person has.
    let begun = js_sys::Date::now();
    while js_sys::Date::now() - begun < 5_000.0 {
        round();
    }
    let mut rounds: Vec<f64> = (0..9).map(|_| round()).collect();
    rounds.sort_by(f64::total_cmp);
    let found = rounds[rounds.len() / 2];
    let (times, budget) = (found / native, native * 3.0);
    let mark = if times > 3.0 { " **over**" } else { "" };
    wasm_bindgen_test::console_log!(
        "| step + clone + fingerprint in the browser, on average | {:.1} µs, {times:.1} times the native figure{mark} | {:.1} µs, 3 times |",
        found / 1e3,
        budget / 1e3
    );
    assert!(times <= 3.0, "{times} times the native figure");
}
