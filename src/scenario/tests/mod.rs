//! The language: what is read, what is printed, what is refused and how.

mod faults;
mod round_trip;
