//! The front matter of a lesson: `key: value` lines between two lines `---` at the top of the file.
//!
//! Deliberately absent: the rest of YAML. Five keys with plain values need none of it.

use super::fault::{Fault, or_rather};
use super::misconception::Misconception;

/// What stands above a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Front {
    /// The title.
    pub title: String,
    /// Its number in the course.
    pub number: u32,
    /// How long it takes.
    pub minutes: u32,
    /// Numbers of the lessons it builds on.
    pub needs: Vec<u32>,
    /// The misconceptions it answers.
    pub misconceptions: Vec<Misconception>,
}

const KEYS: [&str; 5] = ["title", "number", "minutes", "needs", "misconceptions"];

/// Reads the front matter; gives back how many lines it takes, its two fences included.
pub fn parse(lines: &[&str], faults: &mut Vec<Fault>) -> (Front, usize) {
    let mut front = Front::default();
    if lines.first().map(|line| line.trim_end()) != Some("---") {
        faults.push(Fault::new(
            1,
            "the file does not begin with front matter",
            "begin it with '---', then 'title: …'",
        ));
        return (front, 0);
    }
    let Some(end) = lines.iter().skip(1).position(|line| line.trim_end() == "---") else {
        faults.push(Fault::new(
            1,
            "the front matter does not end",
            "close it with a line '---'",
        ));
        return (front, lines.len());
    };
    let mut seen = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(1).take(end) {
        if let Err(fault) = read_line(&mut front, &mut seen, line, at as u32 + 1) {
            faults.push(fault);
        }
    }
    for key in ["title", "number", "minutes"] {
        if !seen.iter().any(|seen| seen == key) {
            faults.push(Fault::new(
                1,
                format!("'{key}' is missing"),
                format!("add a line '{key}: …' to the front matter"),
            ));
        }
    }
    (front, end + 2)
}

fn read_line(front: &mut Front, seen: &mut Vec<String>, line: &str, number: u32) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let Some((key, value)) = line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) else {
        return Err(Fault::new(
            number,
            format!("'{}' is no 'key: value'", line.trim()),
            "write 'title: …' or the like",
        ));
    };
    if seen.iter().any(|seen| seen == key) {
        return Err(Fault::new(number, format!("'{key}' stands twice"), "keep one of them"));
    }
    seen.push(key.to_string());
    match key {
        "title" if value.is_empty() => return Err(Fault::new(number, "the title is empty", "give the lesson a name")),
        "title" => front.title = value.to_string(),
        "number" => front.number = whole(value, number)?,
        "minutes" => front.minutes = whole(value, number)?,
        "needs" => front.needs = words(value).map(|word| whole(word, number)).collect::<Result<_, _>>()?,
        "misconceptions" => {
            front.misconceptions = words(value)
                .map(|word| misconception(word, number))
                .collect::<Result<_, _>>()?;
        }
        _ => {
            let near = or_rather(key, KEYS);
            return Err(Fault::new(
                number,
                format!("'{key}' is no key of the front matter"),
                format!("use one of {}{near}", KEYS.join(", ")),
            ));
        }
    }
    Ok(())
}

fn words(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty() && *word != "none")
}

fn whole(text: &str, line: u32) -> Result<u32, Fault> {
    text.parse()
        .map_err(|_| Fault::new(line, format!("'{text}' is no whole number"), "write digits only"))
}

/// The misconception of this id.
pub fn misconception(id: &str, line: u32) -> Result<Misconception, Fault> {
    Misconception::from_id(id)
        .ok_or_else(|| Fault::new(line, format!("'{id}' is no known misconception"), "use M01 to M25"))
}
