//! What a config *is*: its name, type, default, validator, unit and a sentence about it.
//!
//! The tables in `table/` are written with the constructors of this file, so that a row reads like a line of Kafka's own
//! definitions. Validators are data and not functions: the page draws a slider from them, an error prints them, and a test
//! compares their text with the validator texts of the real broker.
//!
//! Deliberately absent: a config's current value ([`super::map::ConfigMap`]) and what the model does with it (the typed
//! structs beside this file). Mirrors `ConfigDef` and `ConfigKey`.

use std::fmt;

/// Where a config is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// On a broker; a topic config under its broker's name is the default of all topics there.
    Broker,
    /// On a topic.
    Topic,
    /// In a producer's own properties.
    Producer,
    /// In a consumer's own properties.
    Consumer,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Broker => "broker",
            Scope::Topic => "topic",
            Scope::Producer => "producer",
            Scope::Consumer => "consumer",
        })
    }
}

/// The type of a config's value, as Kafka names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A number of 16 bits.
    Short,
    /// A number of 32 bits.
    Int,
    /// A number of 64 bits.
    Long,
    /// A number with a fraction.
    Double,
    /// Any text.
    String,
    /// Texts with commas between them.
    List,
    /// The name of a Java class.
    Class,
}

impl Kind {
    /// The least and the greatest number of this type, for those that are whole numbers.
    pub fn bounds(self) -> Option<(i64, i64)> {
        match self {
            Kind::Short => Some((i16::MIN.into(), i16::MAX.into())),
            Kind::Int => Some((i32::MIN.into(), i32::MAX.into())),
            Kind::Long => Some((i64::MIN, i64::MAX)),
            Kind::Boolean | Kind::Double | Kind::String | Kind::List | Kind::Class => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Boolean => "BOOLEAN",
            Kind::Short => "SHORT",
            Kind::Int => "INT",
            Kind::Long => "LONG",
            Kind::Double => "DOUBLE",
            Kind::String => "STRING",
            Kind::List => "LIST",
            Kind::Class => "CLASS",
        })
    }
}

/// What a bare number in a config's value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A mere number: records, replicas, requests, a ratio.
    Count,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
}

impl Unit {
    /// How many microseconds one of it lasts, if it is a unit of time.
    pub fn micros(self) -> Option<i64> {
        match self {
            Unit::Count | Unit::Bytes => None,
            Unit::Milliseconds => Some(1_000),
            Unit::Seconds => Some(1_000_000),
            Unit::Minutes => Some(60_000_000),
            Unit::Hours => Some(3_600_000_000),
        }
    }

    /// Its sign, as it stands after a number; nothing for a mere count.
    pub fn sign(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::Bytes => "bytes",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Minutes => "min",
            Unit::Hours => "h",
        }
    }
}

/// What holds when nobody sets the config, in Kafka's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// This value.
    Text(&'static str),
    /// No value at all; another config, or a rule of Kafka, then decides.
    Null,
    /// Kafka insists on a value. The model supplies all of these itself.
    Required,
}

/// Which values are allowed. Its `Display` is the validator's text in Kafka's definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Valid {
    /// No validator.
    Any,
    /// Any list.
    AnyList,
    /// This number and all above it.
    AtLeast(i64),
    /// From the first number to the second, both included.
    Between(i64, i64),
    /// As `Between`, and -1, which means the codec's own default.
    BetweenOrMinusOne(i64, i64),
    /// One of these words, or for a list any of them.
    OneOf(&'static [&'static str]),
    /// One of these words in any case.
    OneOfAnyCase(&'static [&'static str]),
    /// Any text that is not empty.
    NonEmptyString,
    /// Any list that is not empty.
    NonEmptyList,
    /// Pairs of a partition and a broker, or `*`.
    ThrottledReplicas,
    /// Where a consumer starts: a word, or a duration before now.
    OffsetReset,
}

impl fmt::Display for Valid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Valid::Any | Valid::AnyList => Ok(()),
            Valid::AtLeast(least) => write!(f, "[{least},...]"),
            Valid::Between(least, most) => write!(f, "[{least},...,{most}]"),
            Valid::BetweenOrMinusOne(least, most) => write!(f, "[{least},...,{most}] or -1"),
            Valid::OneOf(words) => write!(f, "[{}]", words.join(", ")),
            Valid::OneOfAnyCase(words) => write!(f, "(case insensitive) [{}]", words.join(", ")),
            Valid::NonEmptyString => f.write_str("non-empty string"),
            Valid::NonEmptyList => f.write_str("non-empty list"),
            Valid::ThrottledReplicas => f.write_str("[partitionId]:[brokerId],[partitionId]:[brokerId],..."),
            Valid::OffsetReset => f.write_str("[latest, earliest, none, by_duration:PnDTnHnMn.nS]"),
        }
    }
}

/// When a running process takes a new value up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// At once.
    Dynamic,
    /// When it is started the next time. The model takes it up at once all the same, and says so.
    AtStart,
}

/// Whether Kafka's own documentation lists the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// It does.
    Documented,
    /// It is for Kafka's developers and tests.
    Internal,
}

/// One row of a table of configs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Def {
    /// Kafka's name.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// What holds when nobody sets it.
    pub default: DefaultValue,
    /// Which values a real Kafka takes; see [`Def::accepts`] for those that the model takes.
    pub valid: Valid,
    /// What a bare number counts.
    pub unit: Unit,
    /// For a topic config, the broker config that supplies its default.
    pub synonym: Option<&'static str>,
    /// When a running process takes a new value up; `None` means what is usual for its scope.
    pub(super) update: Option<Update>,
    /// Whether Kafka's documentation lists it.
    pub visibility: Visibility,
    /// The Kafka class that defines it, where it is not its scope's own class.
    pub(super) source: Option<&'static str>,
    /// The words that the model takes, where a real Kafka takes any text (the name of a class, say).
    pub(super) words: &'static [&'static str],
    /// One plain sentence, for those that a person can meet here.
    pub about: Option<&'static str>,
}

/// Above this least size the model accepts smaller values than a real Kafka: it is scaled down.
const SCALED_FROM: i64 = 1024;

impl Def {
    const fn new(name: &'static str, kind: Kind, default: DefaultValue, valid: Valid) -> Def {
        Def {
            name,
            kind,
            default,
            valid,
            unit: Unit::Count,
            synonym: None,
            update: None,
            visibility: Visibility::Documented,
            source: None,
            words: &[],
            about: None,
        }
    }

    pub(super) const fn ms(mut self) -> Def {
        self.unit = Unit::Milliseconds;
        self
    }

    pub(super) const fn seconds(mut self) -> Def {
        self.unit = Unit::Seconds;
        self
    }

    pub(super) const fn minutes(mut self) -> Def {
        self.unit = Unit::Minutes;
        self
    }

    pub(super) const fn hours(mut self) -> Def {
        self.unit = Unit::Hours;
        self
    }

    pub(super) const fn bytes(mut self) -> Def {
        self.unit = Unit::Bytes;
        self
    }

    pub(super) const fn synonym(mut self, name: &'static str) -> Def {
        self.synonym = Some(name);
        self
    }

    pub(super) const fn dynamic(mut self) -> Def {
        self.update = Some(Update::Dynamic);
        self
    }

    pub(super) const fn internal(mut self) -> Def {
        self.visibility = Visibility::Internal;
        self
    }

    pub(super) const fn from(mut self, class: &'static str) -> Def {
        self.source = Some(class);
        self
    }

    pub(super) const fn words(mut self, words: &'static [&'static str]) -> Def {
        self.words = words;
        self
    }

    pub(super) const fn about(mut self, sentence: &'static str) -> Def {
        self.about = Some(sentence);
        self
    }

    /// Which values the model takes: those of a real Kafka, and of sizes with a large minimum also smaller ones, from 1
    /// (`segment.bytes` from 1 instead of 1 MiB), because what is shown on a screen is scaled down.
    pub fn accepts(&self) -> Valid {
        match self.valid {
            Valid::AtLeast(least) if self.unit == Unit::Bytes && least >= SCALED_FROM => Valid::AtLeast(1),
            other => other,
        }
    }

    /// When a running process of this scope takes a new value up.
    pub fn update(&self, scope: Scope) -> Update {
        self.update.unwrap_or(match scope {
            Scope::Topic => Update::Dynamic,
            Scope::Broker | Scope::Producer | Scope::Consumer => Update::AtStart,
        })
    }

    /// The Kafka class that defines it.
    pub fn source(&self, scope: Scope) -> &'static str {
        self.source.unwrap_or(match scope {
            Scope::Topic => "LogConfig",
            Scope::Broker => "KafkaConfig",
            Scope::Producer => "ProducerConfig",
            Scope::Consumer => "ConsumerConfig",
        })
    }
}

macro_rules! constructors {
    ($($function:ident = $kind:ident),*) => {
        $(pub(super) const fn $function(name: &'static str, default: DefaultValue, valid: Valid) -> Def {
            Def::new(name, Kind::$kind, default, valid)
        })*
    };
}

constructors!(
    boolean = Boolean,
    short = Short,
    int = Int,
    long = Long,
    double = Double,
    string = String,
    list = List,
    class = Class
);
