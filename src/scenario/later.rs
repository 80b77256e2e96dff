//! The statements that the landing does without: what they do, how they read, and what is expected. They may be linked later
//! than the rest ([`linked`](crate::linked)).
//!
//! Deliberately absent: reading text, which the page reaches through a table of its own (`ui::later`).

use std::fmt::{self, Formatter};

use super::ast::{Expectation, Statement};
use super::look::{self, Verdict};
use super::player::{self, Move, Progress, Stop};
use super::{print, translate};
use crate::cluster::settings::Micros;
use crate::cluster::{Input, Refused, World};
use crate::ledger::Ledger;
use crate::linked::linked;

/// The functions.
pub(crate) struct Later {
    /// The inputs that perform a statement.
    pub(super) inputs: fn(&Statement, &World) -> Result<Vec<Input>, Refused>,
    /// How a statement begins.
    pub(super) begin: fn(&Statement, &World) -> Result<Progress, Refused>,
    /// The next move of a statement that waits for something.
    pub(super) until: fn(&Statement, Micros, &World, &Ledger) -> Result<Option<Move>, Stop>,
    /// Whether an expectation holds.
    pub(super) judge: fn(&Expectation, &World, &Ledger) -> Verdict,
    /// Writes what stands behind a statement's verb.
    pub(super) print: fn(&Statement, &mut Formatter<'_>) -> fmt::Result,
}

static ALL: Later = Later {
    inputs: translate::inputs_of_any,
    begin: player::begin_any,
    until: player::until,
    judge: look::judge,
    print: print::rest_of_any,
};

linked!(ALL: Later);
