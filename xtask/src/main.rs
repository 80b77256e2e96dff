//! The project's tasks: `cargo xtask serve`, `test`, `bench`.

fn main() {}
