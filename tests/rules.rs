//! Every rule is needed: the story that pins it holds, and does not hold in a world without the rule.
//!
//! The table of rules names the story. What only names an act has none, and those are counted here one by one.

mod told;

use highwater::cluster::Rule;
use highwater::cluster::rules::{ALL, Pin, TABLE};

/// What is wrong with a rule's pin, if anything.
fn is_pinned(rule: &Rule) -> Result<(), String> {
    let Pin::Story(story) = rule.row().pinned_by else {
        return Ok(());
    };
    let whole = told::run(story, |rules| rules)?;
    if let Some(failure) = whole.report().failures.first() {
        return Err(format!("{story} fails with all its rules: {failure}"));
    }
    match told::run(story, |rules| rules.without(*rule)) {
        Ok(run) if run.report().is_ok() => Err(format!("{story} holds without it too")),
        Ok(_) => Ok(()),
        Err(why) => Err(format!("{story} cannot be run without it: {why}")),
    }
}

#[test]
fn every_rule_is_pinned_by_a_story_that_fails_without_it() {
    let judged = told::each(ALL, |rule| {
        is_pinned(rule).map_err(|what| format!("{}: {what}", rule.id()))
    });
    let wrong: Vec<String> = judged.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} rules:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_only_names_an_act_is_named_here() {
    let acts = TABLE.iter().filter(|row| row.pinned_by == Pin::NamesAnAct);
    let acts: Vec<&str> = acts.map(|row| row.id).collect();
    assert_eq!(acts, ["act"]);
}
