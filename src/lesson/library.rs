//! The lessons that come with the program.
//!
//! What the list of lessons shows is here; the files themselves are data of the program for tests and the command line
//! only. The page fetches the file of a lesson when somebody opens it, so that nobody waits for what they may never read.

#[cfg(not(target_arch = "wasm32"))]
use super::{Fault, Lesson};

/// A lesson, as the list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the file without its ending: what progress and links name it by.
    pub slug: &'static str,
    /// Its number in the course.
    pub number: u32,
    /// Its title.
    pub title: &'static str,
    /// How long it takes.
    pub minutes: u32,
    /// How many stops it has.
    pub stops: usize,
    #[cfg(not(target_arch = "wasm32"))]
    file: &'static str,
}

macro_rules! library {
    ($($slug:literal $number:literal, $title:literal, $minutes:literal min, $stops:literal stops;)*) => {
        /// The lessons in the order of a first visit; the first is the landing scene.
        pub const LIBRARY: &[Source] = &[$(Source {
            slug: $slug,
            number: $number,
            title: $title,
            minutes: $minutes,
            stops: $stops,
            #[cfg(not(target_arch = "wasm32"))]
            file: include_str!(concat!("../../static/lessons/", $slug, ".md")),
        },)*];
    };
}

library! {
    "00-kill-the-leader" 0, "Kill the leader", 3 min, 4 stops;
    "02-the-log" 2, "The log: append, offset, order", 6 min, 7 stops;
    "06-the-high-watermark" 6, "The high watermark", 6 min, 6 stops;
    "07-what-acks-is-worth" 7, "What acks is worth", 7 min, 6 stops;
    "08-crash-and-recovery" 8, "Crash and recovery", 6 min, 7 stops;
    "01-log-first" 1, "Log first, apply later", 6 min, 8 stops;
    "03-segments-and-the-index" 3, "Segments and the index", 6 min, 4 stops;
    "04-page-cache-and-flush" 4, "Page cache and flush", 6 min, 8 stops;
    "05-the-price-of-fsync" 5, "The price of fsync", 6 min, 7 stops;
    "09-in-sync" 9, "In sync: who may be counted", 6 min, 7 stops;
    "10-min-insync-replicas" 10, "min.insync.replicas", 7 min, 6 stops;
    "11-the-zombie-leader" 11, "The zombie leader", 6 min, 6 stops;
    "12-epochs-not-watermarks" 12, "Epochs, not watermarks", 8 min, 18 stops;
    "13-unclean-election" 13, "Unclean election and ELR", 7 min, 8 stops;
    "14-retries" 14, "Retries, duplicates, idempotence", 6 min, 5 stops;
    "17-groups" 17, "Reading again: groups, commits, rewind", 7 min, 11 stops;
    "15-retention" 15, "Retention: whole segments", 8 min, 13 stops;
    "16-compaction" 16, "Compaction", 7 min, 9 stops;
    "18-design-a-topic" 18, "Design a topic", 8 min, 13 stops;
}

impl Source {
    /// What stands in the file, where that is at hand.
    pub fn text(&self) -> Option<&'static str> {
        #[cfg(not(target_arch = "wasm32"))]
        return Some(self.file);
        #[cfg(target_arch = "wasm32")]
        return None;
    }

    /// The lesson.
    ///
    /// # Errors
    /// All mistakes of the file; other lessons are not concerned.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn lesson(&self) -> Result<Lesson, Vec<Fault>> {
        Lesson::parse(self.file)
    }
}

/// The lesson of this name.
pub fn find(slug: &str) -> Option<&'static Source> {
    LIBRARY.iter().find(|source| source.slug == slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_says_what_the_files_say() {
        let row = |slug: &str, number: u32, title: &str, minutes: u32, stops: usize| {
            format!("    {slug:?} {number}, {title:?}, {minutes} min, {stops} stops;\n")
        };
        let listed = LIBRARY
            .iter()
            .map(|s| row(s.slug, s.number, s.title, s.minutes, s.stops));
        let found = LIBRARY.iter().map(|source| {
            let lesson = source.lesson().expect("it is well-formed");
            let front = &lesson.front;
            row(
                source.slug,
                front.number,
                &front.title,
                front.minutes,
                lesson.stops.len(),
            )
        });
        let (listed, found): (String, String) = (listed.collect(), found.collect());
        assert!(listed == found, "the list has to be\n{found}");
    }
}
