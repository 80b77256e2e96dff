//! The lessons that come with the program.

use super::Lesson;
use super::fault::Fault;

/// A lesson file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the file without its ending: what progress and links name it by.
    pub slug: &'static str,
    /// What stands in it.
    pub text: &'static str,
}

macro_rules! library {
    ($($slug:literal)*) => {
        /// The lessons in the order of a first visit; the first is the landing scene.
        pub const LIBRARY: &[Source] = &[$(Source { slug: $slug, text: include_str!(concat!("../../static/lessons/", $slug, ".md")) },)*];
    };
}

library! {
    "00-kill-the-leader"
    "02-the-log"
    "06-the-high-watermark"
    "07-what-acks-is-worth"
    "08-crash-and-recovery"
    "01-log-first"
    "04-page-cache-and-flush"
    "05-the-price-of-fsync"
    "09-in-sync"
    "10-min-insync-replicas"
    "11-the-zombie-leader"
    "13-unclean-election"
    "14-retries"
    "15-retention"
}

impl Source {
    /// The lesson.
    ///
    /// # Errors
    /// All mistakes of the file; other lessons are not concerned.
    pub fn lesson(&self) -> Result<Lesson, Vec<Fault>> {
        Lesson::parse(self.text)
    }
}

/// The lesson file of this name.
pub fn find(slug: &str) -> Option<&'static Source> {
    LIBRARY.iter().find(|source| source.slug == slug)
}
