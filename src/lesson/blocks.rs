//! The fenced blocks of a lesson: scene, store, caption, predict, check, ladder, puzzle, design, real. Their own grammar is
//! read here; the statements within them stay text, each with its line, and are read in `compile`.

use super::fault::{Fault, or_rather};
use super::front;
use super::markdown::{self, Block};
use super::misconception::Misconception;

/// Most words of a caption.
pub const CAPTION_WORDS: usize = 25;

/// The words that begin a fenced block of the format.
pub const KINDS: [&str; 9] = [
    "scene", "store", "caption", "predict", "check", "ladder", "puzzle", "design", "real",
];

/// Text of the scenario language and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The line, from 1.
    pub line: u32,
    /// What stands there.
    pub text: String,
}

/// A block, its statements not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawBlock {
    /// `scene NAME`.
    Scene {
        /// Its name.
        name: String,
        /// Its lines, `# step` comments among them.
        lines: Vec<Written>,
    },
    /// `store NAME`.
    Store {
        /// Its name.
        name: String,
        /// Its lines, `# step` comments among them.
        lines: Vec<Written>,
    },
    /// `caption`.
    Caption(Vec<CaptionPiece>, u32),
    /// `predict NAME`.
    Predict(RawPrediction),
    /// `check`.
    Check(Vec<Written>),
    /// `ladder`.
    Ladder(Vec<Written>),
    /// `puzzle`.
    Puzzle(RawPuzzle),
    /// `design`.
    Design(Vec<Written>),
    /// `real`.
    Real(Vec<Block>),
}

/// A piece of a caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptionPiece {
    /// As it stands.
    Text(String),
    /// The value of this subject.
    Value(Written),
}

/// A prediction, its conditions not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPrediction {
    /// Its name.
    pub name: String,
    /// The line of its first line.
    pub line: u32,
    /// The question.
    pub ask: String,
    /// The belief that leads to a wrong answer by click or slider, with its line.
    pub misconception: Option<(Misconception, u32)>,
    /// How it is answered.
    pub kind: RawKind,
}

/// How a prediction is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawKind {
    /// By choosing one of these.
    Options(Vec<RawOption>),
    /// By clicking records; the subject's value tells which are right.
    Click(Written),
    /// By a slider from the first to the second, in a unit; the subject's value is right.
    Slider(String, i64, i64, Written),
}

/// One option of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOption {
    /// Its line.
    pub line: u32,
    /// What it says.
    pub text: String,
    /// The belief that leads to it.
    pub misconception: Option<Misconception>,
    /// What must hold for it to be right.
    pub when: Option<Written>,
}

/// A puzzle, its statements not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPuzzle {
    /// The line of its first line.
    pub line: u32,
    /// What is asked for, in words, if the prose before it does not say it.
    pub ask: Option<String>,
    /// What must hold in the end.
    pub goals: Vec<Written>,
    /// How an allowed act may begin.
    pub allow: Vec<Written>,
    /// The number of acts of the shortest solution known.
    pub par: u32,
    /// A solution.
    pub solution: Vec<Written>,
}

/// The word behind a fence whose text is to be set as it is; no word says the same.
pub const AS_IT_IS: &str = "text";

/// Whether a word behind a fence belongs to the format. Every word but one does, so that a typing mistake is found and not
/// shown as text.
pub fn is_block(word: &str) -> bool {
    !word.is_empty() && word != AS_IT_IS
}

/// Reads a fenced block; `line` is the first line of its content.
pub fn parse(head: &str, content: &str, line: u32, faults: &mut Vec<Fault>) -> Option<RawBlock> {
    let fence = line.saturating_sub(1);
    let mut words = head.split_whitespace();
    let (kind, name, rest) = (words.next().unwrap_or_default(), words.next(), words.next());
    let lines = lines_of(content, line);
    if KINDS.contains(&kind) && (rest.is_some() || name.is_some() && !matches!(kind, "scene" | "store" | "predict")) {
        faults.push(Fault::new(
            fence,
            format!("'{head}' says too much"),
            "write the kind of block, and a name for a scene or a prediction",
        ));
        return None;
    }
    let parsed = match kind {
        "scene" => named(name, kind, fence).map(|name| RawBlock::Scene { name, lines }),
        "store" => named(name, kind, fence).map(|name| RawBlock::Store { name, lines }),
        "caption" => caption_block(&lines, fence, faults),
        "predict" => named(name, kind, fence)
            .and_then(|name| prediction(name, &lines, fence))
            .map(RawBlock::Predict),
        "check" => Ok(RawBlock::Check(statements(&lines).collect())),
        "ladder" => Ok(RawBlock::Ladder(statements(&lines).collect())),
        "puzzle" => puzzle(&lines, fence).map(RawBlock::Puzzle),
        "design" => Ok(RawBlock::Design(lines)),
        "real" => Ok(RawBlock::Real(markdown::prose(content, line, faults))),
        _ => {
            let near = or_rather(kind, KINDS);
            Err(Fault::new(
                fence,
                format!("'{kind}' is no kind of block"),
                format!(
                    "use one of {}, or '{AS_IT_IS}' for what is to be set as it is{near}",
                    KINDS.join(", ")
                ),
            ))
        }
    };
    parsed.map_err(|fault| faults.push(fault)).ok()
}

fn lines_of(content: &str, first: u32) -> Vec<Written> {
    (first..)
        .zip(content.lines())
        .map(|(line, text)| Written {
            line,
            text: text.to_string(),
        })
        .collect()
}

/// Lines that say something: neither blank nor a comment.
fn statements(lines: &[Written]) -> impl Iterator<Item = Written> + '_ {
    let says = |line: &&Written| !line.text.trim().is_empty() && !line.text.trim_start().starts_with('#');
    lines.iter().filter(says).cloned()
}

fn named(name: Option<&str>, kind: &str, line: u32) -> Result<String, Fault> {
    let fits = |name: &&str| {
        name.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    name.filter(fits).map(str::to_string).ok_or_else(|| {
        Fault::new(
            line,
            format!("the {kind} has no proper name"),
            format!("write '{kind} NAME' in small letters, digits and -"),
        )
    })
}

fn caption_block(lines: &[Written], fence: u32, faults: &mut Vec<Fault>) -> Result<RawBlock, Fault> {
    let text = lines
        .iter()
        .map(|line| line.text.trim())
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if text.is_empty() {
        return Err(Fault::new(
            fence,
            "the caption is empty",
            "say what has just happened, or take the block away",
        ));
    }
    let line = lines
        .iter()
        .find(|line| !line.text.trim().is_empty())
        .map_or(fence, |line| line.line);
    caption(&text, line, faults).map(|pieces| RawBlock::Caption(pieces, line))
}

/// The words of a caption.
///
/// # Errors
/// That it is too long, or a brace is not closed.
pub fn caption(text: &str, line: u32, faults: &mut Vec<Fault>) -> Result<Vec<CaptionPiece>, Fault> {
    let pieces = template(text, line)?;
    // A caption is set like prose, once its values stand in it.
    markdown::inline(text, line, faults);
    let words: usize = count_words(&pieces);
    if words > CAPTION_WORDS {
        let wrong = format!("the caption has {words} words");
        return Err(Fault::new(
            line,
            wrong,
            format!("say it in {CAPTION_WORDS}; a {{subject}} counts as one"),
        ));
    }
    Ok(pieces)
}

/// Takes `{subject}` apart from the text around it.
fn template(text: &str, line: u32) -> Result<Vec<CaptionPiece>, Fault> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((subject, after)) = behind.split_once('}') else {
            return Err(Fault::new(line, "a '{' is not closed", "write {subject}"));
        };
        if !before.is_empty() {
            pieces.push(CaptionPiece::Text(before.to_string()));
        }
        pieces.push(CaptionPiece::Value(Written {
            line,
            text: subject.trim().to_string(),
        }));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(CaptionPiece::Text(rest.to_string()));
    }
    Ok(pieces)
}

/// Words of a caption; a value counts as one.
fn count_words(pieces: &[CaptionPiece]) -> usize {
    let text: String = pieces
        .iter()
        .map(|piece| match piece {
            CaptionPiece::Text(text) => text.as_str(),
            CaptionPiece::Value(_) => "x",
        })
        .collect();
    text.split_whitespace()
        .filter(|word| word.chars().any(|c| c.is_ascii_alphanumeric() || !c.is_ascii()))
        .count()
}

/// The `key: value` of a line.
fn keyed(line: &Written) -> Option<(&str, &str)> {
    let (key, value) = line.text.split_once(':')?;
    let key = key.trim();
    key.chars()
        .all(|c| c.is_ascii_lowercase())
        .then_some((key, value.trim()))
}

fn prediction(name: String, lines: &[Written], fence: u32) -> Result<RawPrediction, Fault> {
    let (mut ask, mut options, mut click, mut slider, mut answer) = (None, Vec::new(), None, None, None);
    let mut misconception = None;
    for line in statements(lines) {
        if let Some(option) = line.text.trim().strip_prefix("- ") {
            options.push(choice(option, line.line)?);
            continue;
        }
        match keyed(&line) {
            Some(("ask", text)) if !text.is_empty() => ask = Some(text.to_string()),
            Some(("click", "records" | "moments")) => click = Some(()),
            Some(("slider", range)) => slider = Some(slider_range(range, line.line)?),
            Some(("answer", text)) => {
                let (subject, belief) = believed(text, line.line)?;
                answer = Some(subject);
                misconception = belief.map(|belief| (belief, line.line));
            }
            _ => {
                let wrong = format!("'{}' is no line of a prediction", line.text.trim());
                let remedy = "use 'ask: …', options '- …', or 'click: records' or 'slider: UNIT FROM..TO' with 'answer: SUBJECT'";
                return Err(Fault::new(line.line, wrong, remedy));
            }
        }
    }
    let ask = ask.ok_or_else(|| Fault::new(fence, "the prediction asks nothing", "add a line 'ask: …'"))?;
    let kind = match (click, slider, answer) {
        (None, None, None) if options.len() >= 2 => RawKind::Options(options),
        (Some(()), None, Some(answer)) if options.is_empty() => RawKind::Click(answer),
        (None, Some((unit, from, to)), Some(answer)) if options.is_empty() => RawKind::Slider(unit, from, to, answer),
        _ => {
            let remedy =
                "give at least two options, or 'click: records' or 'slider: …' together with 'answer: SUBJECT'";
            return Err(Fault::new(
                fence,
                "it is not clear how the prediction is answered",
                remedy,
            ));
        }
    };
    Ok(RawPrediction {
        name,
        line: fence,
        ask,
        misconception,
        kind,
    })
}

/// `SUBJECT` or `SUBJECT | misconception=M17`: what is right, and the belief that is behind most of what is not.
fn believed(text: &str, line: u32) -> Result<(Written, Option<Misconception>), Fault> {
    let (subject, belief) = match text.split_once(" | ") {
        Some((subject, belief)) => (subject.trim(), Some(belief.trim())),
        None => (text, None),
    };
    let belief = match belief.map(|said| (said, said.strip_prefix("misconception="))) {
        Some((_, Some(id))) => Some(front::misconception(id.trim(), line)?),
        Some((said, None)) => {
            let wrong = format!("'{said}' says nothing about an answer");
            return Err(Fault::new(line, wrong, "write 'answer: SUBJECT | misconception=M17'"));
        }
        None => None,
    };
    let text = subject.to_string();
    Ok((Written { line, text }, belief))
}

/// `text | misconception=M17` or `text | when: SUBJECT OP VALUE`.
fn choice(text: &str, line: u32) -> Result<RawOption, Fault> {
    let mut parts = text.split(" | ");
    let said = parts.next().unwrap_or_default().trim().to_string();
    let mut option = RawOption {
        line,
        text: said,
        misconception: None,
        when: None,
    };
    for part in parts {
        let part = part.trim();
        if let Some(id) = part.strip_prefix("misconception=") {
            option.misconception = Some(front::misconception(id.trim(), line)?);
        } else if let Some(condition) = part.strip_prefix("when:") {
            option.when = Some(Written {
                line,
                text: condition.trim().to_string(),
            });
        } else {
            return Err(Fault::new(
                line,
                format!("'{part}' says nothing about an option"),
                "write 'misconception=M17' or 'when: SUBJECT OP VALUE'",
            ));
        }
    }
    if option.misconception.is_none() && option.when.is_none() {
        return Err(Fault::new(
            line,
            "nothing says whether this option is right",
            "add '| when: SUBJECT OP VALUE' or '| misconception=M17'",
        ));
    }
    Ok(option)
}

/// `bytes 1..1000000`.
fn slider_range(text: &str, line: u32) -> Result<(String, i64, i64), Fault> {
    let read = || {
        let (unit, range) = text.split_once(' ')?;
        let (from, to) = range.trim().split_once("..")?;
        let (from, to) = (from.parse().ok()?, to.parse().ok()?);
        (from < to).then(|| (unit.to_string(), from, to))
    };
    read().ok_or_else(|| {
        Fault::new(
            line,
            format!("'{text}' is no range"),
            "write 'slider: bytes 1..1000000', the smaller number first",
        )
    })
}

fn puzzle(lines: &[Written], fence: u32) -> Result<RawPuzzle, Fault> {
    let (mut ask, mut goals, mut allow, mut par) = (None, Vec::new(), Vec::new(), None);
    let all: Vec<Written> = statements(lines).collect();
    let mut at = all.iter();
    for line in at.by_ref() {
        let text = |value: &str| Written {
            line: line.line,
            text: value.to_string(),
        };
        match keyed(line) {
            Some(("ask", value)) => ask = Some(value.to_string()),
            Some(("goal", value)) => goals.push(text(value)),
            Some(("allow", value)) => allow.extend(value.split(", ").map(|act| text(act.trim()))),
            Some(("par", value)) => {
                let number = value
                    .parse()
                    .map_err(|_| Fault::new(line.line, format!("'{value}' is no whole number"), "write 'par: 2'"))?;
                par = Some(number);
            }
            Some(("solution", "")) => break,
            _ => {
                let wrong = format!("'{}' is no line of a puzzle", line.text.trim());
                return Err(Fault::new(
                    line.line,
                    wrong,
                    "use 'ask: …', 'goal: …', 'allow: …', 'par: N', then 'solution:' and its statements below",
                ));
            }
        }
    }
    let solution: Vec<Written> = at.cloned().collect();
    let missing = |what: &str, remedy: &str| Fault::new(fence, format!("the puzzle has no {what}"), remedy);
    let par = par.ok_or_else(|| missing("par", "add a line 'par: N'"))?;
    if goals.is_empty() {
        return Err(missing("goal", "add a line 'goal: SUBJECT OP VALUE'"));
    }
    if allow.is_empty() {
        return Err(missing("list of allowed acts", "add a line 'allow: kill, start'"));
    }
    if solution.is_empty() {
        return Err(missing("solution", "add a line 'solution:' and its statements below"));
    }
    Ok(RawPuzzle {
        line: fence,
        ask,
        goals,
        allow,
        par,
        solution,
    })
}
