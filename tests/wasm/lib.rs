//! The engine in a real browser: that it computes there, to the bit, what it computes natively.
//!
//! `cargo xtask test --only wasm` runs these through wasm-pack.

#![cfg(all(test, target_arch = "wasm32"))]

use std::sync::Arc;

use highwater::cluster::{Input, World};
use highwater::history::History;
use highwater::log::{Batch, ProducerStamp, Record};
use highwater::scenario::{Run, parse};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::js_sys::Date;

wasm_bindgen_test_configure!(run_in_browser);

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

/// The world that a scenario leads to.
fn world(scenario: &str) -> World {
    let script = parse(scenario.as_bytes()).expect("the scenario is well-formed");
    let Ok(mut run) = Run::new(Arc::new(script)) else {
        panic!("the scenario can begin")
    };
    run.play(None, |_, _| {});
    run.world
}

/// What `cargo xtask bench` asks for, in the release profile: it prints a row of its table.
#[wasm_bindgen_test]
#[ignore = "a figure, not a test"]
fn seek_anywhere_in_ten_thousand_steps() {
    const AT_MOST: f64 = 50.0;
    let now = || {
        web_sys::window()
            .and_then(|window| window.performance())
            .map_or_else(Date::now, |clock| clock.now())
    };
    let world = world("brokers 3\ntopic t replicas=3\nproducer app\nsend app t count=10000 every=2ms\n");
    let mut history = History::new(world);
    while history.len() < 10_000 {
        history.act(Input::Next).expect("something is pending");
    }
    // A stride that shares no factor with the length visits near and far places alike.
    let seeks = (0..100).map(|n| {
        let start = now();
        history.seek(n * 3_331 % 10_001);
        now() - start
    });
    let worst = seeks.fold(0.0, f64::max);
    let mark = if worst <= AT_MOST { "" } else { " **over**" };
    console_log!("| seek anywhere in 10,000 steps, in the browser (worst) | {worst:.1} ms{mark} | {AT_MOST:.0} ms |");
    assert!(worst <= AT_MOST, "{worst} ms");
}
