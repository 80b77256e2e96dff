//! What the page shows, as plain data: computed from the world, the ledger and the run, with no pixel in it.
//!
//! Everything here is a function of what lies below and can be tested natively; the components beside this folder turn
//! it into elements and nothing more. Texts are made here too, so that a sentence on the screen has one place.
//!
//! Deliberately absent: the DOM, colours, durations of motion, and any rule of Kafka's. What happens is never decided here.

pub mod beliefs;
pub mod clients;
pub mod controller;
pub mod elapsed;
pub mod faults;
pub mod files;
pub mod groups;
pub mod inspect;
pub mod knobs;
pub mod lanes;
pub mod ledger;
pub mod links;
pub mod look;
pub mod metrics;
pub mod names;
pub mod overview;
pub mod panels;
pub mod power_loss;
pub mod rows;
pub mod stage;
pub mod stretch;
pub mod told;
pub mod told_and_true;
pub mod wire;
