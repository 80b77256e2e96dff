//! Drives the built page in a real Chromium, as a person would: by what it shows, by role and name, by key and click.
//!
//! `cargo xtask test --only page` builds and serves the page, starts Chromium and tells the tests where both are
//! ([`environment`]). Each test gets a tab with storage of its own ([`drive`]); it fails when the page writes an error
//! to the console, and then leaves a picture in `target/screenshots/`.
//!
//! Deliberately absent: fixed waits. What takes time is waited for ([`Page::wait_until`]).

mod audit;
mod budget;
mod chromium;
mod control;
mod keyboard;
mod page;
mod view;

pub use budget::{COUNTERS, FIRST_LOAD_BYTES, FIRST_LOAD_REQUESTS};
pub use chromium::environment;
pub use control::Control;
pub use page::{Element, Loaded, Page, drive};
pub use view::{Contrast, Motion, Theme, View};
