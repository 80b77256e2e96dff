//! The strong settings keep what they promise in some schedules; each weak one breaks, and what breaks it can be told.

use std::sync::Arc;

use super::{Arena, BREAK, Broken, Found, KEEP};
use crate::scenario::{Failure, Run, parse};

fn arena(setting: &'static super::Setting) -> Arena {
    Arena::new(setting).expect("the statements of a setting are well formed")
}

#[test]
fn strong_settings_keep_every_acknowledged_record() {
    for setting in KEEP {
        if let Some(found) = arena(setting).hunt(0..60).found {
            panic!("{}: {:?}\n{found}", setting.name, found.broken);
        }
    }
}

/// What does not hold in a scenario, by its text.
fn failures(found: &Found) -> Vec<String> {
    let script = parse(found.to_string().as_bytes()).expect("what is found is written in the language");
    let mut run = Run::new(Arc::new(script)).expect("its world begins");
    run.play(None, |_, _| {});
    let failures = run.report().failures.iter();
    failures
        .map(|failure| match failure {
            Failure::Expectation { expected, .. } => expected.clone(),
            other => other.to_string(),
        })
        .collect()
}

/// Ten thousand schedules are the bound; the seeds are tried in order, and far fewer are needed.
#[test]
fn weak_settings_lose_records_and_a_scenario_shows_how() {
    for setting in BREAK {
        let found = arena(setting)
            .hunt(0..10_000)
            .found
            .unwrap_or_else(|| panic!("{} keeps everything", setting.name));
        assert!(
            matches!(found.broken, Broken::Lost(..)),
            "{}: {:?}\n{found}",
            setting.name,
            found.broken
        );
        assert_eq!(failures(&found), ["lost = 0"], "{}\n{found}", setting.name);
    }
}
