//! The page, end to end.

mod controls;
mod crashing;
mod everywhere;
mod lessons;
mod loading;
mod mistakes;
mod pausing;
mod playground;
mod progress;
mod promise;
mod real_files;
mod views;
