//! The tables of configs, one a scope, and the look-up in them.

mod broker;
mod consumer;
mod producer;
mod topic;

use super::def::{Def, Scope};
use super::error::ConfigError;

impl Scope {
    /// Every scope, in the order in which an error looks for a name in the others.
    pub const ALL: [Scope; 4] = [Scope::Topic, Scope::Broker, Scope::Producer, Scope::Consumer];

    /// All configs of this scope, in alphabetical order.
    pub fn configs(self) -> &'static [Def] {
        match self {
            Scope::Broker => broker::CONFIGS,
            Scope::Topic => topic::CONFIGS,
            Scope::Producer => producer::CONFIGS,
            Scope::Consumer => consumer::CONFIGS,
        }
    }

    /// The config of that name, if this scope has one.
    pub fn find(self, name: &str) -> Option<&'static Def> {
        let configs = self.configs();
        let at = configs.binary_search_by(|def| def.name.cmp(name)).ok()?;
        configs.get(at)
    }

    /// The config of that name.
    ///
    /// # Errors
    /// An unknown name: the error says the nearest one, or where the name would be at home.
    pub fn lookup(self, name: &str) -> Result<&'static Def, ConfigError> {
        self.find(name).ok_or_else(|| ConfigError::unknown(self, name))
    }
}
