//! Values of configs and how they are written: a bare number in the config's own unit, a duration (`10s`), a size
//! (`1MiB`), a word or a list.
//!
//! Deliberately absent: quotes and escapes, which belong to the language that a value stands in. Mirrors
//! `ConfigDef.parseType` and its validators, with units added.

use super::consumer::AutoOffsetReset;
use super::decimal;
use super::def::{Def, Kind, Unit, Valid};
use super::error::ConfigError;
use std::fmt;

/// The value of a config.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value: another config or a rule of Kafka decides.
    Null,
    /// Of a BOOLEAN.
    Bool(bool),
    /// Of a SHORT, INT or LONG, in the config's own unit.
    Int(i64),
    /// Of a DOUBLE.
    Double(f64),
    /// Of a STRING or CLASS.
    Str(String),
    /// Of a LIST.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Double(value) => f.write_str(&decimal::print(*value)),
            Value::Str(value) => value.fmt(f),
            Value::List(values) => f.write_str(&values.join(",")),
        }
    }
}

/// The units in which a duration is written, and their microseconds.
const DURATION_UNITS: [(&str, i64); 6] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
];

/// The units in which a size is written, and their bytes.
const SIZE_UNITS: [(&str, i64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// The microseconds of a duration with its unit (`250us 500ms 10s 5m 2h 7d`); `None` if it is none or too long.
pub fn parse_duration(text: &str) -> Option<i64> {
    with_unit(text, &DURATION_UNITS)
}

/// A duration as [`parse_duration`] reads it, in the largest unit that leaves a whole number.
pub fn print_duration(micros: i64) -> String {
    let (unit, size) = DURATION_UNITS
        .into_iter()
        .rev()
        .find(|(_, size)| micros != 0 && micros % size == 0)
        .unwrap_or(("s", 1_000_000));
    format!("{}{unit}", micros / size)
}

/// The bytes of a size (`1KiB 1MiB 1GiB`, a bare number is bytes); `None` if it is none or too large.
pub fn parse_size(text: &str) -> Option<i64> {
    with_unit(text, &SIZE_UNITS).or_else(|| text.parse().ok())
}

fn with_unit(text: &str, units: &[(&str, i64)]) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, size) = units.iter().find(|(unit, _)| *unit == &text[digits.len()..])?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<i64>().ok()?.checked_mul(*size)
}

impl Def {
    /// Reads a value of this config.
    ///
    /// # Errors
    /// A text of another type, a value that is not allowed, or a duration that is no whole number of the config's unit.
    pub fn parse(&'static self, text: &str) -> Result<Value, ConfigError> {
        let value = self.read(text)?;
        if self.allows(&value) {
            Ok(value)
        } else {
            Err(ConfigError::OutOfRange {
                def: self,
                text: text.to_string(),
            })
        }
    }

    pub(super) fn read(&'static self, text: &str) -> Result<Value, ConfigError> {
        let value = match self.kind {
            Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::Short | Kind::Int | Kind::Long => self.read_number(text)?.map(Value::Int),
            Kind::Double => decimal::parse(text).map(Value::Double),
            Kind::String | Kind::Class => Some(Value::Str(text.to_string())),
            Kind::List => Some(Value::List(
                text.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
                    .map(str::to_string)
                    .collect(),
            )),
        };
        value.ok_or_else(|| ConfigError::NotAValue {
            def: self,
            text: text.to_string(),
        })
    }

    fn read_number(&'static self, text: &str) -> Result<Option<i64>, ConfigError> {
        if let Ok(number) = text.parse() {
            return Ok(Some(number));
        }
        match (self.unit, self.unit.micros()) {
            (Unit::Bytes, _) => Ok(parse_size(text)),
            (_, Some(unit)) => match parse_duration(text) {
                Some(micros) if micros % unit != 0 => Err(ConfigError::NotWhole {
                    def: self,
                    text: text.to_string(),
                }),
                micros => Ok(micros.map(|micros| micros / unit)),
            },
            (_, None) => Ok(None),
        }
    }

    fn allows(&self, value: &Value) -> bool {
        if let (Value::Int(number), Some((least, most))) = (value, self.kind.bounds())
            && !(least..=most).contains(number)
        {
            return false;
        }
        match (self.accepts(), value) {
            (Valid::AtLeast(least), Value::Int(number)) => *number >= least,
            (Valid::Between(least, most), Value::Int(number)) => (least..=most).contains(number),
            (Valid::Between(least, most), Value::Double(number)) => (least as f64..=most as f64).contains(number),
            (Valid::BetweenOrMinusOne(least, most), Value::Int(number)) => {
                *number == -1 || (least..=most).contains(number)
            }
            (Valid::OneOf(words), Value::Str(text)) => words.contains(&text.as_str()),
            (Valid::OneOf(words), Value::List(texts)) => texts.iter().all(|text| words.contains(&text.as_str())),
            (Valid::OneOfAnyCase(words), Value::Str(text)) => words.iter().any(|word| word.eq_ignore_ascii_case(text)),
            (Valid::NonEmptyString, Value::Str(text)) => !text.is_empty(),
            (Valid::NonEmptyList, Value::List(texts)) => !texts.is_empty(),
            (Valid::OffsetReset, Value::Str(text)) => AutoOffsetReset::parse(text).is_some(),
            _ => true,
        }
    }
}
