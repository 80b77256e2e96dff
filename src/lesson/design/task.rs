//! The `design` block of a lesson: what a reader's design must stand, and how little it may cost.
//!
//! | line | what it says |
//! |---|---|
//! | `ask: …` | what is asked for, in words |
//! | `brokers: N`, `consumers: N`, `faults: N` | how many there are, are to have work, may strike |
//! | `kinds: kill, power-off, wipe` | the kinds of faults |
//! | `followers: in-sync` or `followers: behind` | whether followers may have fallen behind when a fault strikes |
//! | `start: partitions=N replicas=N min.insync.replicas=N` | what the form holds at first |
//! | `par: N` | the least cost, in replicas of partitions |
//! | `solution: partitions=N …` | a design of that cost which stands |
//!
//! Deliberately absent: the form, and the outcomes, which only a [`Trial`] can tell.

use super::{Demand, Design, FaultKind, Followers, Going, MOST, Trial};
use crate::lesson::blocks::Written;
use crate::lesson::fault::{Fault, or_rather};

/// What a reader is asked to design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The line of the block.
    pub line: u32,
    /// What is asked for, in words.
    pub ask: String,
    /// The stop at which it stands.
    pub stop: usize,
    /// What the design must stand.
    pub demand: Demand,
    /// The design to begin with.
    pub start: Design,
    /// The least cost of a design that stands.
    pub par: u32,
    /// A design that stands at that cost.
    pub solution: Design,
}

/// Steps of a trial after which it is looked whether it has failed already.
const SOON: usize = 100;

const KEYS: [&str; 9] = [
    "ask",
    "brokers",
    "consumers",
    "faults",
    "kinds",
    "followers",
    "start",
    "par",
    "solution",
];

impl Task {
    /// Reads the lines of a block.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn parse(lines: &[Written], line: u32, stop: usize) -> Result<Task, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut said: Vec<(&str, &str, u32)> = Vec::new();
        for written in lines {
            let text = written.text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            match entry(text, written.line) {
                Ok((key, _)) if said.iter().any(|(known, ..)| *known == key) => {
                    faults.push(Fault::new(
                        written.line,
                        format!("'{key}' stands twice"),
                        "keep one of them",
                    ));
                }
                Ok((key, value)) => said.push((key, value, written.line)),
                Err(fault) => faults.push(fault),
            }
        }
        for key in KEYS.iter().filter(|key| said.iter().all(|(known, ..)| known != *key)) {
            if faults.is_empty() {
                faults.push(Fault::new(
                    line,
                    format!("the design has no '{key}'"),
                    format!("add a line '{key}: …'"),
                ));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let task = Task::read(&said, line, stop).map_err(|fault| vec![fault])?;
        task.is_consistent().map_or(Ok(task), |fault| Err(vec![fault]))
    }

    /// Reads the values of keys that are all there.
    fn read(said: &[(&str, &str, u32)], line: u32, stop: usize) -> Result<Task, Fault> {
        let value = |key: &str| {
            let found = said.iter().find(|(known, ..)| *known == key);
            found.map_or(("", line), |(_, value, line)| (*value, *line))
        };
        let number = |key: &str| {
            let (text, line) = value(key);
            whole(text, line)
        };
        let (kinds, kinds_line) = value("kinds");
        let (followers, followers_line) = value("followers");
        let (start, start_line) = value("start");
        let (solution, solution_line) = value("solution");
        Ok(Task {
            line,
            ask: value("ask").0.to_string(),
            stop,
            demand: Demand {
                brokers: number("brokers")?,
                consumers: number("consumers")?,
                faults: number("faults")?,
                kinds: kinds
                    .split(',')
                    .map(|word| kind(word.trim(), kinds_line))
                    .collect::<Result<_, _>>()?,
                followers: match followers {
                    "in-sync" => Followers::InSync,
                    "behind" => Followers::MayBeBehind,
                    other => {
                        let wrong = format!("'{other}' does not say where the followers stand");
                        return Err(Fault::new(followers_line, wrong, "write 'in-sync' or 'behind'"));
                    }
                },
            },
            start: design(start, start_line)?,
            par: number("par")?,
            solution: design(solution, solution_line)?,
        })
    }

    /// What does not go together, as far as that can be told without playing.
    fn is_consistent(&self) -> Option<Fault> {
        let refused = [self.start, self.solution]
            .into_iter()
            .find_map(|design| self.demand.refuses(design));
        if let Some(why) = refused {
            let (wrong, remedy) = why.split_once("; ").unwrap_or((&why, "correct it"));
            return Some(Fault::new(self.line, wrong, remedy));
        }
        let cost = self.solution.cost();
        let wrong = format!("the solution costs {cost}, par is {}", self.par);
        (cost != self.par).then(|| Fault::new(self.line, wrong, "make them equal"))
    }

    /// Whether a design stands what is asked.
    ///
    /// # Errors
    /// Why it cannot be tried.
    pub fn stands(&self, design: Design) -> Result<bool, String> {
        let mut trial = Trial::new(design, self.demand.clone())?;
        while !trial.is_broken() && trial.advance(SOON)? == Going::On {}
        Ok(trial.is_met())
    }

    /// Plays the solution, which must stand, and the beginning, which must not.
    pub fn replay(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut expect = |design: Design, stands: bool, wrong: &str, remedy: &str| match self.stands(design) {
            Ok(found) if found == stands => {}
            Ok(_) => faults.push(Fault::new(self.line, wrong, remedy)),
            Err(why) => faults.push(Fault::new(self.line, why, "correct the design")),
        };
        let remedy = "correct the solution, or ask for less";
        expect(self.solution, true, "the solution does not stand what is asked", remedy);
        expect(
            self.start,
            false,
            "the design to begin with stands everything already",
            "ask for more",
        );
        faults
    }

    /// A design that stands and costs less than par, if there is one: every one is tried.
    ///
    /// # Errors
    /// Why one cannot be tried.
    pub fn cheaper(&self) -> Result<Option<Design>, String> {
        for design in self.designs().into_iter().filter(|design| design.cost() < self.par) {
            if self.stands(design)? {
                return Ok(Some(design));
            }
        }
        Ok(None)
    }

    /// Every design that the form can hold.
    pub fn designs(&self) -> Vec<Design> {
        let mut all = Vec::new();
        for partitions in 1..=MOST {
            for replicas in 1..=self.demand.brokers {
                all.extend((1..=replicas).map(|min_insync| Design {
                    partitions,
                    replicas,
                    min_insync,
                }));
            }
        }
        all
    }
}

/// The `key: value` of a line.
fn entry(text: &str, line: u32) -> Result<(&str, &str), Fault> {
    let (key, value) = text.split_once(':').unwrap_or((text, ""));
    let (key, value) = (key.trim(), value.trim());
    if !KEYS.contains(&key) {
        let near = or_rather(key, KEYS);
        let wrong = format!("'{text}' is no line of a design");
        return Err(Fault::new(line, wrong, format!("use {}{near}", KEYS.join(", "))));
    }
    if value.is_empty() {
        return Err(Fault::new(
            line,
            format!("'{key}' has no value"),
            format!("write '{key}: …'"),
        ));
    }
    Ok((key, value))
}

fn whole(text: &str, line: u32) -> Result<u32, Fault> {
    text.parse()
        .map_err(|_| Fault::new(line, format!("'{text}' is no whole number"), "write digits only"))
}

fn kind(word: &str, line: u32) -> Result<FaultKind, Fault> {
    let found = FaultKind::ALL.into_iter().find(|kind| kind.word() == word);
    found.ok_or_else(|| {
        Fault::new(
            line,
            format!("'{word}' is no kind of fault"),
            "use kill, power-off, wipe",
        )
    })
}

/// `partitions=8 replicas=3 min.insync.replicas=2`.
fn design(text: &str, line: u32) -> Result<Design, Fault> {
    let remedy = "write 'partitions=N replicas=N min.insync.replicas=N'";
    let setting = |word| {
        let wrong = || Fault::new(line, format!("'{word}' has no '='"), remedy);
        str::split_once(word, '=').ok_or_else(wrong)
    };
    let words: Vec<(&str, &str)> = text.split_whitespace().map(setting).collect::<Result<_, _>>()?;
    let [
        ("partitions", partitions),
        ("replicas", replicas),
        ("min.insync.replicas", min_insync),
    ] = words.as_slice()
    else {
        return Err(Fault::new(line, format!("'{text}' is no design"), remedy));
    };
    Ok(Design {
        partitions: whole(partitions, line)?,
        replicas: whole(replicas, line)?,
        min_insync: whole(min_insync, line)?,
    })
}
