//! The settings that somebody made, apart from the defaults, and how a typed struct is read out of them.
//!
//! Kafka treats "set to the default" and "not set" differently in a few places (a producer's idempotence, a topic's
//! override over the broker's value), so what was set is kept as it is and everything else is derived from it.
//!
//! Deliberately absent: what a value means. Mirrors `AbstractConfig.originals` and `DynamicConfig`.

use super::def::{Def, DefaultValue, Scope};
use super::error::ConfigError;
use super::value::Value;
use crate::sorted::SortedMap;

/// The settings of one thing: config names with their values, in alphabetical order.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigMap {
    scope: Scope,
    values: SortedMap<&'static str, Value>,
}

impl ConfigMap {
    /// No settings.
    pub fn new(scope: Scope) -> ConfigMap {
        ConfigMap {
            scope,
            values: SortedMap::new(),
        }
    }

    /// Where these settings are made.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Takes a setting.
    ///
    /// # Errors
    /// An unknown name or a value that is not allowed; the map is then as it was.
    pub fn set(&mut self, name: &str, text: &str) -> Result<&'static Def, ConfigError> {
        let def = self.scope.lookup(name)?;
        let value = def.parse(text)?;
        self.values.insert(def.name, value);
        Ok(def)
    }

    /// What was set, if it was.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// What was set, or else Kafka's default.
    pub fn effective(&self, def: &'static Def) -> Value {
        match self.values.get(def.name) {
            Some(value) => value.clone(),
            None => def.default_value(),
        }
    }

    /// All settings, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }
}

impl Def {
    /// Kafka's default as a value; null also where Kafka insists on a setting.
    pub fn default_value(&'static self) -> Value {
        match self.default {
            DefaultValue::Null | DefaultValue::Required => Value::Null,
            DefaultValue::Text(text) => self.read(text).unwrap_or(Value::Null),
        }
    }
}

/// How long a client waits before it opens a connection again, in ms. A wait that is set alone stays as it is; otherwise
/// the limit bounds it (`CommonClientConfigs.postProcessReconnectBackoffConfigs`, `ExponentialBackoff`).
pub(super) fn reconnect_backoff(set: &ConfigMap, wait: i64, limit: i64) -> i64 {
    let alone = set.get("reconnect.backoff.ms").is_some() && set.get("reconnect.backoff.max.ms").is_none();
    if alone { wait } else { wait.min(limit) }
}

/// A type in which a struct of configs keeps a value.
pub(super) trait FromValue: Sized {
    /// The typed value, or `None` if the value is not of that type.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Option<i64> {
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }
}

impl FromValue for i32 {
    fn from_value(value: &Value) -> Option<i32> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<bool> {
        match value {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Option<f64> {
        match value {
            Value::Double(number) => Some(*number),
            _ => None,
        }
    }
}

/// Declares a struct with one typed field for each config that the model acts on, and how it is read from settings.
/// The struct must bring `fn finish(self, &ConfigMap) -> Result<Self, ConfigError>`: Kafka's rules between settings.
macro_rules! configs {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $scope:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $config:literal,)*
        }
        $(also $also:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            settings: ConfigMap,
        }

        impl $name {
            /// The configs that the fields hold, in their order.
            pub const NAMES: &[&str] = &[$($config),*];

            /// What somebody set, apart from all defaults.
            pub fn settings(&self) -> &ConfigMap {
                &self.settings
            }

            /// Takes a setting.
            ///
            /// # Errors
            /// An unknown name, a value that is not allowed, a config that the model does not act on, or a conflict with
            /// another setting. Nothing has changed then.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
                self.set_all([(name, text)])
            }

            /// Takes several settings together, or none of them: what they exclude is looked for at the end only.
            ///
            /// # Errors
            /// As [`Self::set`].
            pub fn set_all<'a>(
                &mut self,
                settings: impl IntoIterator<Item = (&'a str, &'a str)>,
            ) -> Result<(), ConfigError> {
                let mut map = self.settings.clone();
                for (name, text) in settings {
                    let def = map.set(name, text)?;
                    if !Self::acts_on(def) && map.effective(def) != def.default_value() {
                        return Err(ConfigError::WithoutEffect { scope: Scope::$scope, def });
                    }
                }
                *self = Self::from_settings(&map)?;
                Ok(())
            }

            /// Whether the model acts on that config at all.
            pub fn acts_on(def: &Def) -> bool {
                Self::NAMES.contains(&def.name) $(|| $also(def))?
            }

            /// Reads the struct from settings.
            ///
            /// # Errors
            /// Settings that exclude each other.
            pub fn from_settings(map: &ConfigMap) -> Result<Self, ConfigError> {
                Self {
                    $($field: crate::config::map::typed(map, $config)?,)*
                    settings: map.clone(),
                }
                .finish(map)
            }
        }

        impl Default for $name {
            /// Kafka's defaults.
            fn default() -> Self {
                Self::from_settings(&ConfigMap::new(Scope::$scope))
                    .expect("a test shows that Kafka's defaults can be read and do not exclude each other")
            }
        }
    };
}
pub(super) use configs;

/// The typed value of a config in these settings.
pub(super) fn typed<T: FromValue>(map: &ConfigMap, name: &str) -> Result<T, ConfigError> {
    let def = map.scope.lookup(name)?;
    let value = map.effective(def);
    T::from_value(&value).ok_or_else(|| ConfigError::NotAValue {
        def,
        text: value.to_string(),
    })
}
