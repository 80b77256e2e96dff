//! The statements and expectations of a `store` block: the two page stores of [`wal`](crate::wal), as text.
//!
//! `accounts NAME=BALANCE …` begins the stores anew; `transfer FROM TO AMOUNT`, `step [N]`, `crash [after MOMENT]` and
//! `recover` are done to both. Expectations are those of the scenario language with subjects of their own:
//!
//! | subject | value |
//! |---|---|
//! | `memory A@S`, `cache A@S`, `disk A@S` | account A's balance in that layer of store S (`in-place` or `logged`), or `none` |
//! | `total S` | the sum of all balances |
//! | `moment` | how many writes of the transfer are done |
//! | `answered S` | how many transfers got their yes |
//! | `outcome S` | how the transfer would end if the power went now: `before`, `after`, `wrong`, or `none` |
//! | `wrong S` | the moments of the transfer, from 0, at which a crash leaves half of it |
//! | `replayed S`, `discarded S` | how many entries the last recovery applied; how many it threw away |
//!
//! Deliberately absent: stores and clusters in one world.

use std::fmt;

use super::fault::{Fault, or_rather};
use crate::scenario::ast::{Op, Sense, Value};
use crate::scenario::look::{Verdict, offsets};
use crate::wal::{Account, Act, Discipline, Finding, Outcome, Refused, Store, Stores};

/// The stores of a lesson: what they begin with and what is done to them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StoreRun {
    /// The balances at the beginning.
    pub accounts: Vec<(String, i64)>,
    /// The acts, each with its line.
    pub acts: Vec<(u32, Act)>,
}

impl StoreRun {
    /// The stores after so many acts.
    ///
    /// # Errors
    /// The line of the act that was refused, and why.
    pub fn play(&self, acts: usize) -> Result<Stores, (u32, Refused)> {
        let mut stores = Stores::new(&self.accounts);
        for (line, act) in self.acts.iter().take(acts) {
            stores.perform(act).map_err(|refused| (*line, refused))?;
        }
        Ok(stores)
    }
}

/// A statement of a `store` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// The stores begin with these balances.
    Accounts(Vec<(String, i64)>),
    /// Something is done to them.
    Act(Act),
}

/// A layer that a balance lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The process's memory.
    Memory,
    /// The page cache.
    Cache,
    /// The disk.
    Disk,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An account's balance in a layer of a store.
    Balance(Layer, String, Discipline),
    /// The sum of a store's balances.
    Total(Discipline),
    /// How many writes are done.
    Moment,
    /// How many transfers were answered.
    Answered(Discipline),
    /// How the transfer would end now.
    Outcome(Discipline),
    /// The moments at which it ends wrong.
    Wrong(Discipline),
    /// Entries applied by the last recovery.
    Replayed(Discipline),
    /// Entries thrown away by the last recovery.
    Discarded(Discipline),
}

/// Something that must hold for the stores.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Whether it is turned around.
    pub sense: Sense,
    /// What is looked at.
    pub subject: Subject,
    /// What it is compared with; nothing means that it must be something.
    pub test: Option<(Op, Value)>,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sense == Sense::Negated {
            f.write_str("not ")?;
        }
        self.subject.fmt(f)?;
        match &self.test {
            Some((op, value)) => write!(f, " {} {value}", op.word()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, store) = match self {
            Subject::Moment => return f.write_str("moment"),
            Subject::Balance(layer, account, store) => {
                let layer = match layer {
                    Layer::Memory => "memory",
                    Layer::Cache => "cache",
                    Layer::Disk => "disk",
                };
                return write!(f, "{layer} {account}@{}", store_word(*store));
            }
            Subject::Total(store) => ("total", store),
            Subject::Answered(store) => ("answered", store),
            Subject::Outcome(store) => ("outcome", store),
            Subject::Wrong(store) => ("wrong", store),
            Subject::Replayed(store) => ("replayed", store),
            Subject::Discarded(store) => ("discarded", store),
        };
        write!(f, "{word} {}", store_word(*store))
    }
}

const fn store_word(store: Discipline) -> &'static str {
    match store {
        Discipline::InPlace => "in-place",
        Discipline::Logged => "logged",
    }
}

impl Subject {
    /// Its value.
    pub fn look(&self, stores: &Stores) -> Value {
        let count = |store: &Discipline, is: fn(&Finding) -> bool| {
            let found = stores.store(*store).recovery();
            number(found.iter().filter(|finding| is(finding)).count())
        };
        match self {
            Subject::Balance(layer, name, store) => {
                let balance = stores
                    .store(*store)
                    .account(name)
                    .and_then(|account| in_layer(account, *layer));
                balance.map_or(Value::Absent, Value::Number)
            }
            Subject::Total(store) => Value::Number(stores.store(*store).total()),
            Subject::Moment => number(stores.logged.moment()),
            Subject::Answered(store) => Value::Number(i64::from(stores.store(*store).answered())),
            Subject::Outcome(store) => {
                let outcome = stores.store(*store).outcome();
                outcome.map_or(Value::Absent, |outcome| Value::Word(outcome_word(outcome).to_string()))
            }
            Subject::Wrong(store) => wrong_moments(stores.store(*store)),
            Subject::Replayed(store) => count(store, |finding| matches!(finding, Finding::Replayed(_))),
            Subject::Discarded(store) => count(store, |finding| matches!(finding, Finding::Discarded { .. })),
        }
    }
}

impl Expectation {
    /// Looks whether it holds.
    pub fn judge(&self, stores: &Stores) -> Verdict {
        Verdict::of(self.subject.look(stores), self.sense, self.test.as_ref())
    }
}

fn in_layer(account: &Account, layer: Layer) -> Option<i64> {
    match layer {
        Layer::Memory => account.page.memory,
        Layer::Cache => account.page.cache,
        Layer::Disk => Some(account.page.disk),
    }
}

const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Before => "before",
        Outcome::After => "after",
        Outcome::Wrong => "wrong",
    }
}

fn wrong_moments(store: &Store) -> Value {
    let outcomes = store.outcomes();
    let wrong = (0..).zip(&outcomes).filter(|(_, outcome)| **outcome == Outcome::Wrong);
    offsets(wrong.map(|(moment, _)| moment))
}

fn number(count: usize) -> Value {
    Value::Number(i64::try_from(count).unwrap_or(i64::MAX))
}

const STATEMENTS: [&str; 5] = ["accounts", "transfer", "step", "crash", "recover"];
const SUBJECTS: [&str; 10] = [
    "memory",
    "cache",
    "disk",
    "total",
    "moment",
    "answered",
    "outcome",
    "wrong",
    "replayed",
    "discarded",
];

/// Reads a statement.
///
/// # Errors
/// What is wrong with it.
pub fn statement(text: &str, line: u32) -> Result<Statement, Fault> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let whole = |word: &str| -> Result<i64, Fault> {
        let remedy = "write digits only";
        word.parse()
            .map_err(|_| Fault::new(line, format!("'{word}' is no whole number"), remedy))
    };
    let small = |word: &str| {
        let remedy = "write a number from 0 to 6";
        word.parse::<u8>()
            .map_err(|_| Fault::new(line, format!("'{word}' is no number of writes"), remedy))
    };
    Ok(Statement::Act(match words.as_slice() {
        ["accounts", accounts @ ..] if accounts.len() >= 2 => return opening(accounts, line).map(Statement::Accounts),
        ["transfer", from, to, amount] => Act::Transfer {
            from: (*from).to_string(),
            to: (*to).to_string(),
            amount: whole(amount)?,
        },
        ["step"] => Act::Step(1),
        ["step", writes] => Act::Step(small(writes)?.into()),
        ["crash"] => Act::Crash,
        ["crash", "after", moment] => Act::CrashAfter(small(moment)?.into()),
        ["recover"] => Act::Recover,
        _ => {
            let remedy = "use 'accounts NAME=BALANCE NAME=BALANCE', 'transfer FROM TO AMOUNT', 'step [N]', 'crash [after MOMENT]' or 'recover'";
            return Err(unknown(
                text,
                "statement of a store block",
                words.first(),
                &STATEMENTS,
                remedy,
                line,
            ));
        }
    }))
}

fn opening(words: &[&str], line: u32) -> Result<Vec<(String, i64)>, Fault> {
    let mut accounts: Vec<(String, i64)> = Vec::new();
    for word in words {
        let read = word.split_once('=').and_then(|(name, balance)| {
            let balance = balance.parse().ok().filter(|balance| *balance >= 0)?;
            let proper = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            (proper && accounts.iter().all(|(known, _)| known != name)).then(|| (name.to_string(), balance))
        });
        accounts.push(read.ok_or_else(|| {
            let remedy = "write NAME=BALANCE, each name once, in small letters, the balance in digits";
            Fault::new(line, format!("'{word}' opens no account"), remedy)
        })?);
    }
    Ok(accounts)
}

/// Reads an expectation, the word `expect` not among it.
///
/// # Errors
/// What is wrong with it.
pub fn expectation(text: &str, accounts: &[(String, i64)], line: u32) -> Result<Expectation, Fault> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (sense, words) = match words.as_slice() {
        ["not", rest @ ..] => (Sense::Negated, rest),
        rest => (Sense::Plain, rest),
    };
    let at = words.iter().position(|word| Op::from_word(word).is_some());
    let (subject, test) = words.split_at(at.unwrap_or(words.len()));
    let subject = read_subject(subject, text, accounts, line)?;
    let test = match test {
        [] => None,
        [op, value] => Some((
            Op::from_word(op).unwrap_or(Op::Equal),
            read_value(&subject, value, line)?,
        )),
        _ => {
            let wrong = format!("'{text}' does not end with one value");
            return Err(Fault::new(line, wrong, "write 'SUBJECT OP VALUE'"));
        }
    };
    Ok(Expectation { sense, subject, test })
}

fn read_subject(words: &[&str], text: &str, accounts: &[(String, i64)], line: u32) -> Result<Subject, Fault> {
    let store = |word: &str| {
        let known = [Discipline::InPlace, Discipline::Logged];
        known
            .into_iter()
            .find(|store| store_word(*store) == word)
            .ok_or_else(|| {
                let remedy = "name the store 'in-place' or 'logged'";
                Fault::new(line, format!("'{word}' is no store"), remedy)
            })
    };
    let balance = |layer: Layer, word: &str| {
        let (name, at) = word.split_once('@').unwrap_or((word, ""));
        if accounts.iter().all(|(known, _)| known != name) {
            let remedy = "name one that 'accounts' lists";
            return Err(Fault::new(line, format!("'{name}' has no account"), remedy));
        }
        Ok(Subject::Balance(layer, name.to_string(), store(at)?))
    };
    Ok(match words {
        ["moment"] => Subject::Moment,
        ["memory", at] => balance(Layer::Memory, at)?,
        ["cache", at] => balance(Layer::Cache, at)?,
        ["disk", at] => balance(Layer::Disk, at)?,
        ["total", at] => Subject::Total(store(at)?),
        ["answered", at] => Subject::Answered(store(at)?),
        ["outcome", at] => Subject::Outcome(store(at)?),
        ["wrong", at] => Subject::Wrong(store(at)?),
        ["replayed", at] => Subject::Replayed(store(at)?),
        ["discarded", at] => Subject::Discarded(store(at)?),
        _ => {
            let remedy = "use 'moment', 'memory|cache|disk ACCOUNT@STORE' or 'total|answered|outcome|wrong|replayed|discarded STORE'";
            return Err(unknown(
                text,
                "subject of the stores",
                words.first(),
                &SUBJECTS,
                remedy,
                line,
            ));
        }
    })
}

fn read_value(subject: &Subject, word: &str, line: u32) -> Result<Value, Fault> {
    if word == "none" {
        return Ok(Value::Absent);
    }
    let no = |expected: &str| Fault::new(line, format!("'{word}' cannot be the value of '{subject}'"), expected);
    match subject {
        Subject::Outcome(_) => {
            let known = [Outcome::Before, Outcome::After, Outcome::Wrong];
            let found = known.into_iter().map(outcome_word).find(|known| *known == word);
            let found = found.ok_or_else(|| no("write before, after, wrong or none"))?;
            Ok(Value::Word(found.to_string()))
        }
        Subject::Wrong(_) => {
            let moments: Option<Vec<i64>> = word
                .split(',')
                .map(moments)
                .collect::<Option<Vec<_>>>()
                .map(|all| all.concat());
            let moments = moments.filter(|moments| moments.is_sorted_by(|a, b| a < b));
            moments
                .map(offsets)
                .ok_or_else(|| no("write ascending moments such as 3-5, or none"))
        }
        _ => word
            .parse()
            .map(Value::Number)
            .map_err(|_| no("write a whole number or none")),
    }
}

/// The moments of `3` or `3-5`.
fn moments(part: &str) -> Option<Vec<i64>> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last): (u8, u8) = (first.parse().ok()?, last.parse().ok()?);
    Some((first..=last).map(i64::from).collect())
}

fn unknown(text: &str, what: &str, word: Option<&&str>, known: &[&'static str], remedy: &str, line: u32) -> Fault {
    let near = word
        .filter(|word| !known.contains(*word))
        .map(|word| or_rather(word, known.iter().copied()))
        .unwrap_or_default();
    Fault::new(line, format!("'{text}' is no {what}"), format!("{remedy}{near}"))
}
