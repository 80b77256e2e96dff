#![no_main]

#[allow(dead_code, reason = "each target uses one of them")]
#[path = "../harness.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::snapshot_file(bytes));
