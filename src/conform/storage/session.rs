//! Operations performed one by one, for whoever makes up the next one by looking at the log.

use super::op::{Header, Op};
use super::run::Run;
use crate::conform::Malformed;
use crate::log::Log;
use serde::Deserialize;
use serde_json::Value;

/// A recording's operations on our log, as they come.
pub struct Session(Run);

impl Session {
    /// A new log, under the settings of a recording's header. Refuses a header that cannot be read.
    pub fn open(header: &Value) -> Result<Self, Malformed> {
        let header = Header::deserialize(header).map_err(|error| Malformed::new("header", error))?;
        Ok(Self(Run::new(header)?))
    }

    /// Performs an operation, and gives its result as a recording has it. Refuses one that cannot be read.
    pub fn perform(&mut self, operation: &Value) -> Result<Value, Malformed> {
        let operation = Op::deserialize(operation).map_err(|error| Malformed::new("operation", error))?;
        self.0.perform(operation)
    }

    /// The log as it is now.
    pub fn log(&self) -> &Log {
        self.0.log()
    }
}
