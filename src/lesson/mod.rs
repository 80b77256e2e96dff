//! Lessons: Markdown files with scenes in the scenario language, captions, predictions and a closing puzzle.
//!
//! A lesson is also a test: `replay` plays it from end to end and says where the engine does not do what its words say.
//! Answers are never written down: the right option of a prediction is the one whose condition holds in the run. A wrong
//! answer is told the belief that leads to it, where one of the list does: `- TEXT | misconception=M17` on an option,
//! `answer: SUBJECT | misconception=M17` where records are clicked or a slider is set. Records
//! are called in a caption what the picture calls them: `{records payments-0@1}` and `{records reader}` name those that
//! `values` and `read` would give the contents of.
//! Deliberately absent: how a lesson looks, and where progress is kept.
//!
//! The file: front matter (`title`, `number`, `minutes`, `needs`, `misconceptions`), prose, and fenced blocks
//! `scene NAME`, `store NAME`, `caption`, `predict NAME`, `check`, `ladder`, `puzzle`, `design`, `real`. Within a scene or
//! store `# step` is a stop, and `# step: WORDS` a stop with a caption.

pub mod blocks;
mod compile;
pub mod design;
pub mod fault;
pub mod front;
pub mod glossary;
pub mod ladder;
pub mod library;
pub mod markdown;
pub mod misconception;
pub mod model;
pub mod progress;
pub mod replay;
pub mod said;
pub mod stores;

pub use fault::Fault;
pub use library::{LIBRARY, Source};
pub use markdown::{Block, Span};
pub use misconception::Misconception;
pub use model::{About, Choice, Condition, Kind, Lesson, Part, Prediction, Puzzle, Run, Stop, Words};
#[cfg(test)]
mod tests;

pub use progress::{Answered, LessonProgress, Progress, Restored};
pub use replay::{Answer, Moment, Replayed, caption};
