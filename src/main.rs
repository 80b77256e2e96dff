//! One binary: natively the command line, on `wasm32` the page.

fn main() {}
