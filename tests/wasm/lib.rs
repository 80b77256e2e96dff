//! The engine in a real browser: that it computes there, to the bit, what it computes natively.
//!
//! `cargo xtask test --only wasm` runs these through wasm-pack.

#![cfg(all(test, target_arch = "wasm32"))]

use highwater::log::{Batch, ProducerStamp, Record};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

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
