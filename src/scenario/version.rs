//! What of the language this version can perform: one table. The whole language is read; what stands here is refused by its
//! name, as a fault of the file, so that nothing is passed over in silence or given another meaning.
//!
//! To move a word from "not yet" to "performed", take its line away.

use super::ast::{Condition, Expectation, Setting, Statement, Subject};
use super::print::{subject_word, verb};

/// The words that cannot be performed yet: verbs, subjects, and settings `key=` or `key=value`.
const NOT_YET: &[&str] = &[
    // What an exhaustive search would find.
    "distance",
];

/// The first word of a statement that cannot be performed yet.
pub(super) fn not_yet(statement: &Statement) -> Option<&'static str> {
    let mut used = Vec::new();
    statement_uses(statement, &mut used);
    NOT_YET
        .iter()
        .copied()
        .find(|word| used.iter().any(|used| used == word))
}

/// Collects the words of a statement that could stand in the table.
fn statement_uses(statement: &Statement, used: &mut Vec<String>) {
    used.push(verb(statement).to_string());
    match statement {
        Statement::Rules(rules) => used.push(format!("replication={rules}")),
        Statement::Brokers { configs, .. }
        | Statement::Broker { configs, .. }
        | Statement::Topic { configs, .. }
        | Statement::Producer { configs, .. }
        | Statement::Consumer { configs, .. }
        | Statement::Set { configs, .. } => settings_use(configs, used),
        Statement::Expect(expectation)
        | Statement::RunUntil {
            condition: Condition::Holds(expectation),
            ..
        } => {
            expectation_uses(expectation, used);
        }
        _ => {}
    }
}

fn settings_use(settings: &[Setting], used: &mut Vec<String>) {
    for Setting { name, value } in settings {
        used.push(format!("{name}="));
        used.extend(value.split(',').map(|part| format!("{name}={part}")));
    }
}

fn expectation_uses(expectation: &Expectation, used: &mut Vec<String>) {
    used.push(subject_word(&expectation.subject).to_string());
    if let Subject::Refused(statement) = &expectation.subject {
        statement_uses(statement, used);
    }
}
