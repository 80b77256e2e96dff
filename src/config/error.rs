//! Why a setting was not taken: an unknown name, a value that is none, a value out of range, two settings that exclude
//! each other. Each message names the config, what was found and what would be right.

use super::def::{Def, Kind, Scope, Unit, Valid};
use std::fmt;

/// Why a setting was not taken. Nothing has changed when one of these is returned.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfigError {
    /// No config of this scope has that name.
    Unknown {
        /// Where it was set.
        scope: Scope,
        /// The name as it was given.
        name: String,
        /// What was probably meant.
        hint: Hint,
    },
    /// The text is no value of the config's type.
    NotAValue {
        /// The config.
        def: &'static Def,
        /// The text as it was given.
        text: String,
    },
    /// The value has the right type and is not allowed.
    OutOfRange {
        /// The config.
        def: &'static Def,
        /// The text as it was given.
        text: String,
    },
    /// A duration that is not a whole number of the config's unit.
    NotWhole {
        /// The config.
        def: &'static Def,
        /// The text as it was given.
        text: String,
    },
    /// Kafka knows the config, nothing in the model acts on it, and it was given another value than its default.
    WithoutEffect {
        /// Where it was set.
        scope: Scope,
        /// The config.
        def: &'static Def,
    },
    /// Two settings exclude each other.
    Conflict {
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
}

/// What was probably meant by an unknown name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// A config of the same scope that is written almost like it.
    Nearest(&'static str),
    /// The same name in another scope.
    Elsewhere(Scope),
    /// Nothing comes near.
    Nothing,
}

impl ConfigError {
    pub(super) fn unknown(scope: Scope, name: &str) -> ConfigError {
        let elsewhere = Scope::ALL.into_iter().find(|other| other.find(name).is_some());
        let names = scope.configs().iter().map(|def| def.name);
        let hint = match (elsewhere, nearest(name, names)) {
            (Some(other), _) => Hint::Elsewhere(other),
            (None, Some(name)) => Hint::Nearest(name),
            (None, None) => Hint::Nothing,
        };
        ConfigError::Unknown {
            scope,
            name: name.to_string(),
            hint,
        }
    }
}

/// The word that is written most like the given one, if any is near enough to be a slip of the keyboard: at most a third
/// of its letters differ, small and capital ones being alike. Of equally near ones the one with the same letters, then the
/// first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    let small = word.to_ascii_lowercase();
    let unlike = |candidate: &str| 1.0 - strsim::jaro(word, candidate);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&small, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by(|(distance, a), (other, b)| distance.cmp(other).then_with(|| unlike(a).total_cmp(&unlike(b))))
        .map(|(_, candidate)| candidate)
}

/// What would be a value of that config, in words: `a duration or a number of ms in [0,...]`.
pub fn expected(def: &Def) -> String {
    if !def.words.is_empty() {
        let kind = if def.kind == Kind::List { "some" } else { "one" };
        return format!("{kind} of {}", def.words.join(" "));
    }
    let kind = match (def.kind, def.unit) {
        (Kind::Boolean, _) => return "true or false".to_string(),
        (Kind::Short | Kind::Int | Kind::Long, Unit::Bytes) => "a size or a number of bytes".to_string(),
        (Kind::Short | Kind::Int | Kind::Long, Unit::Count) => "a whole number".to_string(),
        (Kind::Short | Kind::Int | Kind::Long, unit) => {
            format!("a duration or a number of {}", unit.sign())
        }
        (Kind::Double, _) => "a number".to_string(),
        (Kind::String | Kind::Class, _) => "a text".to_string(),
        (Kind::List, _) => "a list".to_string(),
    };
    match (def.accepts(), def.kind.bounds()) {
        (Valid::Any, Some((least, most))) => format!("{kind} in [{least},...,{most}]"),
        (Valid::AtLeast(least), Some((_, most))) => format!("{kind} in [{least},...,{most}]"),
        (Valid::Any | Valid::AnyList, _) => kind,
        (valid @ (Valid::OneOf(_) | Valid::OneOfAnyCase(_) | Valid::OffsetReset), _) => {
            format!("one of {valid}")
        }
        (valid, _) => format!("{kind} in {valid}"),
    }
}

impl ConfigError {
    /// Two settings exclude each other.
    pub(super) fn conflict(reason: impl Into<String>, remedy: impl Into<String>) -> ConfigError {
        ConfigError::Conflict {
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }

    /// What is wrong, with the config's name and what was found.
    pub fn reason(&self) -> String {
        match self {
            ConfigError::Unknown { scope, name, .. } => format!("no {scope} config is called '{name}'"),
            ConfigError::NotAValue { def, text } => format!("{}={text} is not a value", def.name),
            ConfigError::OutOfRange { def, text } => format!("{}={text} is out of range", def.name),
            ConfigError::NotWhole { def, text } => {
                format!("{}={text} is not a whole number of {}", def.name, def.unit.sign())
            }
            ConfigError::WithoutEffect { scope, def } => {
                format!("the {scope} config '{}' has no effect in the model", def.name)
            }
            ConfigError::Conflict { reason, .. } => reason.clone(),
        }
    }

    /// What would be right.
    pub fn remedy(&self) -> String {
        match self {
            ConfigError::Unknown { hint, .. } => match hint {
                Hint::Nearest(nearest) => format!("the nearest is '{nearest}'"),
                Hint::Elsewhere(other) => format!("it is a {other} config"),
                Hint::Nothing => "correct the name, or leave it out".to_string(),
            },
            ConfigError::NotAValue { def, .. }
            | ConfigError::OutOfRange { def, .. }
            | ConfigError::NotWhole { def, .. } => format!("expected {}", expected(def)),
            ConfigError::WithoutEffect { .. } => "leave it at its default".to_string(),
            ConfigError::Conflict { remedy, .. } => remedy.clone(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.remedy())
    }
}

impl std::error::Error for ConfigError {}
