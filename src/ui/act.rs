//! Everything a person can do on the page. Components send these; one place performs them.

use std::rc::Rc;

use crate::ui::reading::Given;
use crate::ui::view::panels::Fault;
use crate::ui::view::stage::Row;

/// What the inspector shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A record, by its producer's number and its own.
    Record(u16, u32),
    /// A broker.
    Broker(u16),
}

/// Which drawer is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawer {
    /// What became of each record.
    Ledger,
    /// What happened, with the rule of each.
    Events,
    /// The cluster as a table.
    Table,
    /// What the controller knows.
    Controller,
    /// Producers, and groups with members, shares and lag.
    Clients,
    /// The files of a replica, byte by byte.
    Files,
    /// What an operator would watch.
    Metrics,
}

/// How wide a column of the scene is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// Wide enough for a record's name and epoch.
    Near,
    /// Wide enough for its name.
    Far,
    /// A mere mark.
    Farthest,
}

impl Zoom {
    /// The style class.
    pub const fn class(self) -> &'static str {
        match self {
            Zoom::Near => "near",
            Zoom::Far => "far",
            Zoom::Farthest => "farthest",
        }
    }

    /// How wide a column is, in CSS pixels.
    pub const fn column(self, narrow: bool) -> i64 {
        match (self, narrow) {
            (Zoom::Near, false) => 46,
            (Zoom::Near, true) => 40,
            (Zoom::Far, false) => 28,
            (Zoom::Far, true) => 26,
            (Zoom::Farthest, _) => 12,
        }
    }

    /// How many columns stand between two that have their offset written, so that the greatest of them has room.
    pub fn offsets_every(self, greatest: i64) -> i64 {
        /// CSS pixels of a digit, and of what parts two offsets.
        const DIGIT: usize = 7;
        const APART: usize = 4;
        let words = greatest.to_string().len() * DIGIT + APART;
        let room = |every: &i64| every * self.column(true) >= words as i64;
        [1, 2, 5, 10, 20].into_iter().find(room).unwrap_or(50)
    }

    /// How many columns the words of a mark may take: so far before the last column they stand on its other side.
    pub const fn words(self) -> i64 {
        match self {
            Zoom::Near => 1,
            Zoom::Far => 2,
            Zoom::Farthest => 5,
        }
    }

    /// This width, or the next narrower one if only that leaves room for so many columns in which a record can still be
    /// pressed; `columns` says how many there are at a width.
    pub fn with_room_for(self, span: i64, columns: impl Fn(Zoom) -> i64) -> Zoom {
        match self {
            Zoom::Near if columns(Zoom::Near) < span && columns(Zoom::Far) >= span => Zoom::Far,
            zoom => zoom,
        }
    }

    /// One step nearer.
    pub const fn nearer(self) -> Zoom {
        match self {
            Zoom::Near | Zoom::Far => Zoom::Near,
            Zoom::Farthest => Zoom::Far,
        }
    }

    /// One step farther.
    pub const fn farther(self) -> Zoom {
        match self {
            Zoom::Near => Zoom::Far,
            Zoom::Far | Zoom::Farthest => Zoom::Farthest,
        }
    }
}

/// Where in the recorded run to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// One step on; a new one if the run ends here.
    On,
    /// One step back.
    Back,
    /// Before the first step.
    Start,
    /// Behind the last recorded step.
    End,
    /// To the next marked moment.
    NextMark,
    /// To the marked moment before.
    PreviousMark,
    /// To this step.
    To(usize),
}

/// One thing a person does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Plays, or pauses.
    TogglePlay,
    /// Pauses.
    Pause,
    /// Moves in time.
    Go(Go),
    /// Steps a second, times two: 1 is one step every two seconds.
    Speed(u32),
    /// Sends one record.
    Produce,
    /// Does something to a broker.
    Fault(u16, Fault),
    /// Kills whoever leads the partition in view.
    KillLeader,
    /// Opens a broker's menu of faults.
    OpenFaults(u16),
    /// Opens the menu of faults of the path between two rows.
    OpenLink(Row, Row),
    /// Opens the one of the path between the leader and another broker.
    OpenLinks,
    /// Closes whatever lies over the page.
    Close,
    /// Turns a knob.
    Turn(&'static str, String),
    /// Does what a line of the scenario language says.
    Do(String),
    /// Picks the record at an offset as an answer, or takes that back.
    Pick(i64),
    /// Answers the prediction that is open.
    Answer(Given),
    /// Plays to the lesson's next stop.
    Next,
    /// Shows something in the inspector, or clears it when it is shown already; `None` clears it in any case.
    Inspect(Option<Subject>),
    /// Opens a lesson file of somebody's own: its name and its text.
    OpenLesson(String, String),
    /// Plays the lesson of somebody's own from end to end, and says what does not keep its word.
    CheckLesson,
    /// The file of a lesson has come, or why it did not.
    Fetched(Rc<str>, Result<String, String>),
    /// Plays a text of the scenario language from its beginning, on the playground.
    Scenario(String),
    /// Writes a text on the playground, to be played later; nothing puts it away.
    Draft(Option<String>),
    /// Brings back what was set aside of the playground.
    TakeBack,
    /// The second part of the program has come.
    Arrived,
    /// It has not; why.
    Missing(Rc<str>),
    /// Fetches the file of the lesson again that did not come.
    FetchAgain,
    /// Shows another partition: topic and number.
    Partition(u16, u32),
    /// Moves the window over the log; `None` follows the end.
    Window(Option<i64>),
    /// Makes the columns wider or narrower.
    Zoom(Zoom),
    /// Opens a drawer, or closes the one that is open.
    Drawer(Drawer),
    /// Shows the heartbeats between brokers and controller, or no longer.
    Heartbeats,
    /// Takes back the last cut of the future.
    Undo,
    /// Puts a notice away.
    Dismiss,
    /// Takes what is said of a future that was cut off away.
    DismissCut,
    /// Copies the scene as text: whoever holds the clipboard does it.
    Copy,
    /// The scene was copied, or why it was not.
    Copied(Result<(), String>),
    /// A file of somebody's own could not be read; why.
    Unread(String),
    /// Starts this lesson's or landing's run anew.
    Restart,
    /// Starts it anew with another value of a knob, at its beginning.
    RestartWith(&'static str, String),
}

impl Act {
    /// Whether it is said in the scenario language, and so needs the second part of the program.
    pub fn needs_later(&self) -> bool {
        matches!(
            self,
            Act::Turn(..)
                | Act::Fault(..)
                | Act::Do(_)
                | Act::OpenLesson(..)
                | Act::Scenario(_)
                | Act::OpenFaults(_)
                | Act::OpenLink(..)
                | Act::OpenLinks
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_written_where_they_have_room() {
        let every = |greatest| [Zoom::Near, Zoom::Far, Zoom::Farthest].map(|zoom| zoom.offsets_every(greatest));
        assert_eq!(every(9), [1, 1, 1]);
        assert_eq!(every(204), [1, 1, 5]);
        assert_eq!(every(10_000), [1, 2, 5]);
        assert_eq!(every(1_000_000), [2, 5, 5]);
    }
}
