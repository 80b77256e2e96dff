//! How far somebody has come in the course, as it is kept in a browser.
//!
//! Stored text is never trusted: what is damaged is reported and begins anew, and everything that can still be read stays.
//! Deliberately absent: where it is kept; that is the page's affair.

use super::library;
use crate::sorted::SortedMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The format's version. A later one that this program does not know is left alone and reported.
const VERSION: u64 = 1;

/// The text as it is stored.
#[derive(Serialize)]
struct Stored<'a> {
    version: u64,
    lessons: &'a SortedMap<String, LessonProgress>,
}

/// The text as it is read: each lesson by itself, so that a damaged one does not cost the others.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Read {
    version: Option<u64>,
    lessons: Option<SortedMap<String, Box<RawValue>>>,
}

/// How far somebody has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Lessons by the name of their file.
    lessons: SortedMap<String, LessonProgress>,
}

/// How far somebody has come in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    /// The farthest stop that was reached.
    pub stop: u32,
    /// Whether the last stop was reached.
    pub finished: bool,
    /// Predictions that were answered (or skipped), by name.
    pub predictions: SortedMap<String, Answered>,
    /// The fewest acts with which the puzzle was solved.
    pub puzzle: Option<u32>,
}

/// How a prediction was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// As the run came out.
    Right,
    /// Otherwise.
    Otherwise,
    /// Not at all.
    Skipped,
}

/// What was read of a stored text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What could be read.
    pub progress: Progress,
    /// What could not, in words for a person; empty if all is well.
    pub damages: Vec<String>,
}

impl LessonProgress {
    /// The stop at which a lesson is opened again: where it was left, its last one too as long as that one's puzzle is
    /// not solved; nothing for its beginning.
    pub fn opens_at(&self, has_puzzle: bool) -> Option<usize> {
        let is_done = self.finished && !(has_puzzle && self.puzzle.is_none());
        (self.stop > 0 && !is_done).then_some(self.stop as usize)
    }

    /// No farther than to the lesson's last stop; says so if it was. Of a lesson that does not come with the program only
    /// its file knows where it ends.
    fn bound(&mut self, slug: &str) -> Option<String> {
        let stops = library::find(slug)?.stops;
        let last = u32::try_from(stops).ok()?.saturating_sub(1);
        let far = self.stop;
        self.stop = far.min(last);
        (far > last).then(|| {
            format!(
                "the progress of lesson '{slug}' is at stop {} of {stops}; it is taken for the last one",
                u64::from(far) + 1
            )
        })
    }
}

impl Progress {
    /// How far somebody has come in a lesson.
    pub fn lesson(&self, slug: &str) -> LessonProgress {
        self.lessons.get(slug).cloned().unwrap_or_default()
    }

    /// All lessons that were begun.
    pub fn begun(&self) -> impl Iterator<Item = (&str, &LessonProgress)> {
        self.lessons.iter().map(|(slug, progress)| (slug.as_str(), progress))
    }

    /// A stop was reached; `last` is the lesson's last one.
    pub fn reached(&mut self, slug: &str, stop: u32, last: u32) {
        let lesson = self.entry(slug);
        lesson.stop = lesson.stop.max(stop);
        lesson.finished |= stop >= last;
    }

    /// A prediction was answered; the first answer stays.
    pub fn answered(&mut self, slug: &str, prediction: &str, answer: Answered) {
        self.entry(slug)
            .predictions
            .entry(prediction.to_string())
            .or_insert(answer);
    }

    /// The puzzle was solved with so many acts; the best stays.
    pub fn solved(&mut self, slug: &str, acts: u32) {
        let lesson = self.entry(slug);
        lesson.puzzle = Some(lesson.puzzle.map_or(acts, |best| best.min(acts)));
    }

    /// Adds what is known from before: the farthest stop, the first answers, the best solution.
    pub fn add(&mut self, before: Progress) {
        for (slug, earlier) in &before.lessons {
            let lesson = self.entry(slug);
            lesson.stop = lesson.stop.max(earlier.stop);
            lesson.finished |= earlier.finished;
            for (name, answer) in &earlier.predictions {
                lesson.predictions.insert(name.clone(), *answer);
            }
            lesson.puzzle = [lesson.puzzle, earlier.puzzle].into_iter().flatten().min();
        }
    }

    fn entry(&mut self, slug: &str) -> &mut LessonProgress {
        self.lessons.entry(slug.to_string()).or_default()
    }

    /// The text to be stored.
    pub fn to_text(&self) -> String {
        let stored = Stored {
            version: VERSION,
            lessons: &self.lessons,
        };
        // Numbers, words and names of files: nothing that cannot be written.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads a stored text.
    pub fn from_text(text: &str) -> Restored {
        let anew = |damage: String| Restored {
            progress: Progress::default(),
            damages: vec![damage],
        };
        let stored = serde_json::from_str::<Read>(text).ok();
        let Some(stored) = stored.filter(|_| text.trim_start().starts_with('{')) else {
            return anew("the stored progress cannot be read; it begins anew".to_string());
        };
        match stored.version {
            Some(VERSION) => {}
            Some(newer) => {
                return anew(format!(
                    "the stored progress has version {newer}, this page knows {VERSION}; it begins anew"
                ));
            }
            None => return anew("the stored progress names no version; it begins anew".to_string()),
        }
        let mut restored = Restored {
            progress: Progress::default(),
            damages: Vec::new(),
        };
        let Some(lessons) = stored.lessons else {
            return anew("the stored progress holds no lessons; it begins anew".to_string());
        };
        for (slug, value) in &lessons {
            match serde_json::from_str::<LessonProgress>(value.get()) {
                Ok(mut lesson) => {
                    restored.damages.extend(lesson.bound(slug));
                    restored.progress.lessons.insert(slug.clone(), lesson);
                }
                Err(_) => restored
                    .damages
                    .push(format!("the progress of lesson '{slug}' is damaged; it begins anew")),
            }
        }
        restored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Progress {
        let mut progress = Progress::default();
        progress.reached("06-high-watermark", 3, 5);
        progress.answered("06-high-watermark", "readable", Answered::Otherwise);
        progress.answered("06-high-watermark", "readable", Answered::Right);
        progress.reached("02-log", 4, 4);
        progress.solved("02-log", 5);
        progress.solved("02-log", 3);
        progress.solved("02-log", 4);
        progress
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let restored = Progress::from_text(&some().to_text());
        assert_eq!(
            restored,
            Restored {
                progress: some(),
                damages: vec![]
            }
        );
        assert!(!some().lesson("06-high-watermark").finished);
        assert_eq!(
            some().lesson("06-high-watermark").predictions["readable"],
            Answered::Otherwise
        );
        assert!(some().lesson("02-log").finished);
        assert_eq!(some().lesson("02-log").puzzle, Some(3));
    }

    #[test]
    fn what_is_known_from_before_is_added() {
        let mut before = some();
        before.answered("02-log", "order", Answered::Right);
        before.solved("06-high-watermark", 9);
        let mut since = Progress::default();
        since.reached("06-high-watermark", 0, 4);
        since.answered("02-log", "order", Answered::Skipped);
        since.solved("06-high-watermark", 5);
        since.reached("00-kill", 1, 1);
        since.add(before);
        assert!(since.lesson("00-kill").finished && since.lesson("02-log").finished);
        assert_eq!(
            since.lesson("06-high-watermark").stop,
            some().lesson("06-high-watermark").stop
        );
        assert_eq!(since.lesson("06-high-watermark").puzzle, Some(5));
        assert_eq!(since.lesson("02-log").predictions["order"], Answered::Right);
    }

    #[test]
    fn a_lesson_opens_where_it_was_left_until_its_puzzle_is_solved() {
        let mut progress = Progress::default();
        let opens = |progress: &Progress| [true, false].map(|puzzle| progress.lesson("02-log").opens_at(puzzle));
        assert_eq!(opens(&progress), [None, None]);
        progress.reached("02-log", 3, 4);
        assert_eq!(opens(&progress), [Some(3), Some(3)]);
        progress.reached("02-log", 4, 4);
        assert_eq!(opens(&progress), [Some(4), None]);
        progress.solved("02-log", 2);
        assert_eq!(opens(&progress), [None, None]);
    }

    #[test]
    fn a_damaged_lesson_begins_anew_and_the_others_stay() {
        let text = some().to_text().replace("\"stop\":3", "\"stop\":\"three\"");
        let restored = Progress::from_text(&text);
        assert_eq!(
            restored.damages,
            ["the progress of lesson '06-high-watermark' is damaged; it begins anew"]
        );
        assert_eq!(restored.progress.lesson("02-log"), some().lesson("02-log"));
        assert_eq!(restored.progress.lesson("06-high-watermark"), LessonProgress::default());
    }

    #[test]
    fn nobody_is_farther_than_at_the_last_stop() {
        for (stop, kept, damage) in [
            (3, 3, None),
            (
                4,
                3,
                Some("the progress of lesson '00-kill-the-leader' is at stop 5 of 4; it is taken for the last one"),
            ),
            (
                u32::MAX,
                3,
                Some(
                    "the progress of lesson '00-kill-the-leader' is at stop 4294967296 of 4; it is taken for the last one",
                ),
            ),
        ] {
            let text = format!("{{\"version\":1,\"lessons\":{{\"00-kill-the-leader\":{{\"stop\":{stop}}}}}}}");
            let restored = Progress::from_text(&text);
            assert_eq!(restored.progress.lesson("00-kill-the-leader").stop, kept);
            assert_eq!(restored.damages.first().map(String::as_str), damage);
        }
    }

    #[test]
    fn what_cannot_be_read_is_reported() {
        for (text, damage) in [
            ("", "the stored progress cannot be read; it begins anew"),
            ("[1]", "the stored progress cannot be read; it begins anew"),
            ("{}", "the stored progress names no version; it begins anew"),
            (
                "{\"version\":1}",
                "the stored progress holds no lessons; it begins anew",
            ),
            (
                "{\"version\":7,\"lessons\":{}}",
                "the stored progress has version 7, this page knows 1; it begins anew",
            ),
        ] {
            assert_eq!(
                Progress::from_text(text),
                Restored {
                    progress: Progress::default(),
                    damages: vec![damage.into()]
                }
            );
        }
    }

    #[test]
    fn fields_of_later_versions_are_passed_over() {
        let text = "{\"version\":1,\"theme\":2,\"lessons\":{\"02-log\":{\"stop\":4,\"stars\":9}}}";
        let restored = Progress::from_text(text);
        assert_eq!(
            (restored.progress.lesson("02-log").stop, restored.damages.len()),
            (4, 0)
        );
    }
}
