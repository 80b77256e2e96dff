//! A topic to design, on the page: a form, and what came of every combination of faults.
//!
//! What is said is put together here, from what a [`Trial`] has found; `view` is the form. Deliberately absent: deciding
//! anything; the engine has done that.

#[cfg(target_arch = "wasm32")]
pub mod view;

use crate::lesson::design::{Attack, Design, FaultKind, Followers, Outcome, Strike, Task, Trial, Verdict};

/// Most outcomes that are shown: the rest are counted.
const SHOWN: usize = 6;

/// The faults of an attack, in words.
pub fn attack(attack: &Attack) -> String {
    let struck: Vec<String> = attack.strikes().iter().map(strike).collect();
    match attack {
        Attack::InTurn(strikes) if strikes.is_empty() => "No fault".to_string(),
        Attack::InTurn(_) => capital(&struck.join(", then ")),
        Attack::OthersBehind(_) => format!("While the others are behind: {}", struck.join(", ")),
    }
}

fn strike(strike: &Strike) -> String {
    format!("broker {} {}", strike.broker, kind(strike.kind))
}

/// What a fault makes of a broker, in words.
pub fn kind(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Kill => "killed",
        FaultKind::PowerOff => "without power",
        FaultKind::Wipe => "disk wiped",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Where the followers stand when a fault strikes, in words.
pub fn followers(followers: Followers) -> &'static str {
    match followers {
        Followers::InSync => "When a fault strikes, all followers have kept up.",
        Followers::MayBeBehind => "When a fault strikes, all others may have fallen out of sync.",
    }
}

/// What a design costs, as far as its numbers are there, and the least that is known to do.
pub fn cost(design: Design, par: u32) -> String {
    match design.cost() {
        0 => format!("Par is {}.", count(par, "replica")),
        cost => format!(
            "Cost: {}; par is {par}. A write waits for every replica in sync, up to {}.",
            count(cost, "replica"),
            design.replicas
        ),
    }
}

/// So many things: `1 replica`, `8 replicas`.
pub fn count(number: u32, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

/// How many combinations of faults a trial has.
pub fn combinations(trial: &Trial) -> String {
    count(trial.len() as u32, "combination")
}

/// What came of an attack, in words.
pub fn outcome(outcome: &Outcome) -> String {
    let records = if !outcome.lost.is_empty() {
        Some(format!("Acknowledged records are lost: {}.", partitions(&outcome.lost)))
    } else if !outcome.stuck.is_empty() {
        Some(format!(
            "Acknowledged records cannot be read: {}.",
            partitions(&outcome.stuck)
        ))
    } else if !outcome.late.is_empty() {
        Some(format!(
            "Nobody can read until the brokers are back: {}.",
            partitions(&outcome.late)
        ))
    } else {
        None
    };
    let refused: Vec<String> = by_reason(&outcome.refused)
        .iter()
        .map(|(why, numbers)| format!("{}, {why}", partitions(numbers)))
        .collect();
    let writing = (!refused.is_empty()).then(|| format!("No writing: {}.", refused.join("; ")));
    let said: Vec<String> = records.into_iter().chain(writing).collect();
    if said.is_empty() {
        "Writing goes on, and everything is there.".to_string()
    } else {
        said.join(" ")
    }
}

/// The partitions that were refused for each reason, in the order in which the reasons first occur.
fn by_reason(refused: &[(u32, String)]) -> Vec<(&str, Vec<u32>)> {
    let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
    for (partition, why) in refused {
        match groups.iter_mut().find(|(known, _)| known == why) {
            Some((_, numbers)) => numbers.push(*partition),
            None => groups.push((why, vec![*partition])),
        }
    }
    groups
}

fn partitions(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let what = if numbers.len() == 1 { "partition" } else { "partitions" };
    format!("{what} {}", words.join(", "))
}

/// The outcomes that break a design, the worst first and of the fewest faults; and how many more there are.
pub fn broken(trial: &Trial) -> (Vec<&Outcome>, usize) {
    let of = |verdict: Verdict| {
        let all = move |faults: usize| {
            let is_one = move |one: &&Outcome| one.verdict() == verdict && one.attack.strikes().len() == faults;
            trial.outcomes().iter().filter(is_one)
        };
        (0..=trial.demand().faults as usize).flat_map(all)
    };
    let worst = [Verdict::Loses, Verdict::Waits, Verdict::Refuses];
    let all: Vec<&Outcome> = worst.into_iter().flat_map(of).collect();
    let more = all.len().saturating_sub(SHOWN);
    (all.into_iter().take(SHOWN).collect(), more)
}

/// What a trial that is over has come to, in one or two sentences.
pub fn verdict(trial: &Trial, task: &Task) -> String {
    let cost = trial.design().cost();
    let wanted = trial.demand().consumers;
    let busy = trial.busy().unwrap_or_default();
    let held = |outcome: &&Outcome| outcome.verdict() == Verdict::Holds;
    let held = trial.outcomes().iter().filter(held).count();
    let at_work = match wanted {
        1 => format!("{busy} of 1 consumer has work"),
        _ if busy == 1 => format!("1 of {wanted} consumers has work"),
        _ => format!("{busy} of {wanted} consumers have work"),
    };
    let idle = (busy < wanted).then(|| format!(" Only {at_work}."));
    let idle = idle.unwrap_or_default();
    if held < trial.len() {
        return format!(
            "It breaks under {} of {}.{idle}",
            trial.len() - held,
            combinations(trial)
        );
    }
    let all = match trial.len() {
        1 => "the only combination".to_string(),
        many => format!("all {many} combinations"),
    };
    if !idle.is_empty() {
        return format!("It stands {all}.{idle}");
    }
    let par = match (trial.demand() == &task.demand, cost) {
        (false, _) => "The puzzle asks for something else.".to_string(),
        (true, cost) if cost <= task.par => "No cheaper design does.".to_string(),
        (true, _) => format!("It can be done with {}.", count(task.par, "replica")),
    };
    format!("It stands {all}, and {at_work}, for {}. {par}", count(cost, "replica"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::design::{Design, Going};
    use crate::lesson::library::LIBRARY;

    fn tried(partitions: u32, replicas: u32, min_insync: u32, faults: u32) -> (Trial, Task) {
        let lessons = LIBRARY.iter().filter_map(|source| source.lesson().ok());
        let task = lessons.filter_map(|lesson| lesson.design().cloned()).next();
        let task = task.expect("a lesson has a design");
        let design = Design {
            partitions,
            replicas,
            min_insync,
        };
        let mut demand = task.demand.clone();
        demand.faults = faults;
        let mut trial = Trial::new(design, demand).expect("it can be tried");
        while trial.advance(10_000).expect("it goes on") == Going::On {}
        (trial, task)
    }

    #[test]
    fn a_trial_is_told_in_words() {
        let (trial, task) = tried(1, 3, 1, 1);
        let said = verdict(&trial, &task);
        assert_eq!(
            said,
            "It breaks under 3 of 31 combinations. Only 1 of 8 consumers has work."
        );
        let (shown, more) = broken(&trial);
        let told: Vec<(String, String)> = shown.iter().map(|one| (attack(&one.attack), outcome(one))).collect();
        let told: Vec<(&str, &str)> = told
            .iter()
            .map(|(faults, came)| (faults.as_str(), came.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "While the others are behind: broker 1 without power",
                    "Acknowledged records are lost: partition 0. No writing: partition 0, REQUEST_TIMED_OUT."
                ),
                (
                    "While the others are behind: broker 1 disk wiped",
                    "Acknowledged records are lost: partition 0. No writing: partition 0, REQUEST_TIMED_OUT."
                ),
                (
                    "While the others are behind: broker 1 killed",
                    "Nobody can read until the brokers are back: partition 0. No writing: partition 0, REQUEST_TIMED_OUT."
                ),
            ]
        );
        assert_eq!(more, 0);
        let calm = trial.outcomes().first().expect("it was left alone first");
        assert_eq!(
            (attack(&calm.attack), outcome(calm)),
            (
                "No fault".to_string(),
                "Writing goes on, and everything is there.".to_string()
            )
        );
    }

    #[test]
    fn partitions_that_were_refused_stand_by_their_reason() {
        let refused = [(0, "NOT_ENOUGH_REPLICAS"), (1, "no answer"), (2, "NOT_ENOUGH_REPLICAS")];
        let came = Outcome {
            attack: Attack::InTurn(Vec::new()),
            refused: refused.iter().map(|(at, why)| (*at, why.to_string())).collect(),
            late: Vec::new(),
            stuck: Vec::new(),
            lost: Vec::new(),
        };
        assert_eq!(
            outcome(&came),
            "No writing: partitions 0, 2, NOT_ENOUGH_REPLICAS; partition 1, no answer."
        );
    }

    #[test]
    fn one_is_said_as_one_and_a_number_that_is_missing_costs_nothing() {
        let (mut trial, mut task) = tried(1, 1, 1, 0);
        assert_eq!(
            verdict(&trial, &task),
            "It stands the only combination. Only 1 of 8 consumers has work."
        );
        task.demand.faults = 0;
        task.demand.consumers = 1;
        trial = Trial::new(trial.design(), task.demand.clone()).expect("it can be tried");
        while trial.advance(10_000).expect("it goes on") == Going::On {}
        assert_eq!(
            verdict(&trial, &task),
            "It stands the only combination, and 1 of 1 consumer has work, for 1 replica. No cheaper design does."
        );
        let costs = |partitions, replicas| {
            let design = Design {
                partitions,
                replicas,
                min_insync: 1,
            };
            cost(design, 24)
        };
        assert_eq!(
            costs(1, 1),
            "Cost: 1 replica; par is 24. A write waits for every replica in sync, up to 1."
        );
        assert_eq!(costs(0, 3), "Par is 24 replicas.");
    }

    #[test]
    fn what_stands_is_compared_with_what_was_asked() {
        let (trial, task) = tried(8, 3, 2, 1);
        let said = "It stands all 31 combinations, and 8 of 8 consumers have work, for 24 replicas. The puzzle asks for something else.";
        assert_eq!(verdict(&trial, &task), said);
        assert_eq!(broken(&trial).0.len(), 0);
    }
}
