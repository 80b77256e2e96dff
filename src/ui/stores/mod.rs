//! The page stores on the page: a lesson whose world is a pair of stores instead of a cluster.
//!
//! `session` is what was done to them and where one stands in it, `play` what each act of a person does, `view` the
//! picture. Deliberately absent: knobs, faults and drawers, which belong to clusters.

pub mod play;
pub mod session;
#[cfg(target_arch = "wasm32")]
pub mod view;

pub use session::StoreSession;
