//! The language: what is read, what is printed, what is refused and how.

mod any_run;
mod extremes;
mod faults;
mod groups;
mod round_trip;
mod timers;
