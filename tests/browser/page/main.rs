//! The page, end to end.

mod audits;
mod crashing;
mod loading;
