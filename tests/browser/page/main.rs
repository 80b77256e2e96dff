//! The page, end to end.

mod audits;
mod controls;
mod crashing;
mod lessons;
mod loading;
mod mistakes;
mod pausing;
mod playground;
mod progress;
mod promise;
mod real_files;
mod reflow;
mod views;
