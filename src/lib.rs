//! Highwater: how Apache Kafka's log keeps records, and how it loses them.
//!
//! The house, floor by floor, from the ground up: of each room what it is for and what it must not know. An upper floor
//! may import a lower one, never the reverse.

// ---- What every floor stands on. It knows none of them. ----

// Maps, sets and sorting that are small and go in the order of their keys.
pub mod sorted;

// CRC-32C, by the crate that suits the machine.
pub mod checksum;

// Functions that the page's first part does without until its second has come.
pub(crate) mod linked;

// ---- Ground floor. ----

// Every knob by its Kafka name: type, default, range, scope, source. Must not know who may change what and when.
pub mod config;

// One partition's log on one broker's disk: batches, segments, indexes, flush, recovery. Must not know brokers, networks,
// clients or clocks.
pub mod log;

// A page store with and without a write-ahead log, which the log was born from. Must not know Kafka.
pub mod wal;

// ---- First floor. ----

// Brokers, controller, network and clients as one deterministic state machine: `World`, `Input`, `step`, `Event`. Must not
// know text, history or screens.
pub mod cluster;

// ---- Second floor. No room of it reads a file or a clock, and none knows a screen. ----

// What became of each record: a pure fold of events. Must not know how a run is written down.
pub mod ledger;

// The language of stories, lessons and links: parse, print, run, expect. Must not know files.
pub mod scenario;

// A run as a list of inputs: step, seek, change the past. Must not know how text is read.
pub mod history;

// Lessons as text: prose, scenes, predictions, puzzles, progress. Must not know how they look, or where progress is kept.
pub mod lesson;

// Bytes with their meaning, of simulated and of real files. Must not know where the bytes come from.
pub mod inspect;

// Replays recordings of a real Kafka and says where this one differs. Must not know where they are kept.
pub mod conform;

// Random schedules, and whether they break what a setting promises. Must not know how long it may search.
#[cfg(not(target_arch = "wasm32"))]
pub mod soak;

// ---- Top floor. ----

// The command line, natively. The only room that reads files and prints.
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;

// The page. The only room that knows the DOM, the address, pixels and the time of day. Must not decide what happens.
pub mod ui;
