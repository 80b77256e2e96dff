//! Lines into blocks.
//!
//! A list item or a quotation takes the lines that are its own, with its mark or indentation taken off, and reads them
//! the same way again: so blocks stand in blocks as deep as a file puts them.

use super::inline::spans;
use super::{Block, Span};
use crate::lesson::fault::Fault;

/// Blocks that a block may stand in.
const DEEPEST: usize = 16;

/// A line of a file, without the marks of the blocks that it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// Its number in the file, from 1.
    pub(super) number: u32,
}

impl<'a> Line<'a> {
    /// Columns of space at the beginning.
    fn indent(&self) -> usize {
        space(self.text, 0)
    }

    /// The text behind the space at the beginning.
    fn words(&self) -> &'a str {
        self.text.trim_start_matches([' ', '\t'])
    }

    pub(super) fn is_blank(&self) -> bool {
        self.words().is_empty()
    }

    /// The same line with at most so many columns of space less.
    fn dedented(&self, columns: usize) -> Line<'a> {
        let (mut text, mut left) = (self.text, columns);
        while left > 0 && text.starts_with([' ', '\t']) {
            left = left.saturating_sub(if text.starts_with('\t') { 4 } else { 1 });
            text = &text[1..];
        }
        self.with(text)
    }

    fn with(&self, text: &'a str) -> Line<'a> {
        Line {
            text,
            number: self.number,
        }
    }
}

/// Columns of space at the beginning of a text that stands in a column; a tab ends at the next multiple of four.
fn space(text: &str, column: usize) -> usize {
    let spaces = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let end = spaces.fold(column, |at, byte| if byte == b'\t' { at / 4 * 4 + 4 } else { at + 1 });
    end - column
}

/// The line that opens a fenced block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fence<'a> {
    mark: char,
    length: usize,
    indent: usize,
    /// What stands behind the fence.
    pub(super) head: &'a str,
}

impl<'a> Fence<'a> {
    pub(super) fn opened_by(line: Line<'a>) -> Option<Self> {
        let words = line.words();
        let mark = words.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let head = words.trim_start_matches(mark);
        let length = words.len() - head.len();
        let fence = Fence {
            mark,
            length,
            indent: line.indent(),
            head: head.trim(),
        };
        (length >= 3 && line.indent() < 4 && !(mark == '`' && head.contains('`'))).then_some(fence)
    }

    fn closed_by(&self, line: Line<'_>) -> bool {
        let words = line.words().trim_end();
        line.indent() < 4 && words.len() >= self.length && words.chars().all(|c| c == self.mark)
    }

    /// Whether one of these lines closes it.
    pub(super) fn is_closed_in(&self, lines: &[Line<'_>]) -> bool {
        lines.iter().any(|line| self.closed_by(*line))
    }

    /// The content, whose first line is the first of these; takes the lines and the closing fence.
    pub(super) fn content(&self, lines: &mut &[Line<'_>]) -> String {
        let mut content = String::new();
        while let Some((line, rest)) = lines.split_first() {
            *lines = rest;
            if self.closed_by(*line) {
                break;
            }
            content.push_str(line.dedented(self.indent).text);
            if !rest.is_empty() {
                content.push('\n');
            }
        }
        content
    }

    /// The first word behind the fence.
    pub(super) fn word(&self) -> &'a str {
        self.head.split_whitespace().next().unwrap_or_default()
    }
}

/// The mark of a list item. Items belong together when their marks are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// The dot itself, or what stands behind the number.
    sign: char,
    number: Option<u64>,
    /// Columns from the beginning of the line to the item's text.
    width: usize,
    /// How many of them stand between the mark and the text.
    space: usize,
}

impl Mark {
    fn of(line: Line<'_>) -> Option<Mark> {
        let words = line.words();
        let digits = words.bytes().take_while(u8::is_ascii_digit).count();
        let sign = words[digits..].chars().next()?;
        let number = match (digits, sign) {
            (0, '-' | '+' | '*') => None,
            (1..=9, '.' | ')') => words[..digits].parse().ok(),
            _ => return None,
        };
        let behind = line.with(&words[digits + 1..]);
        let space = space(behind.text, line.indent() + digits + 1);
        if line.indent() >= 4 || is_rule(line) || (space == 0 && !behind.is_blank()) {
            return None;
        }
        let space = if behind.is_blank() || space > 4 { 1 } else { space };
        Some(Mark {
            sign,
            number,
            width: line.indent() + digits + 1 + space,
            space,
        })
    }

    fn is_like(&self, other: &Mark) -> bool {
        self.sign == other.sign && self.number.is_some() == other.number.is_some()
    }
}

/// Takes the first block from the lines, which must not begin with a blank one. `None` for what is refused.
pub(super) fn block(lines: &mut &[Line<'_>], depth: usize, faults: &mut Vec<Fault>) -> Option<Block> {
    let (&first, rest) = lines.split_first()?;
    if depth > DEEPEST {
        let wrong = format!("a block in more than {DEEPEST} others is not allowed in a lesson");
        faults.push(Fault::new(first.number, wrong, "take some of the marks away"));
        *lines = &[];
        return None;
    }
    if first.indent() >= 4 {
        return Some(indented(lines));
    }
    if let Some(fence) = Fence::opened_by(first) {
        *lines = rest;
        return Some(Block::Code(fence.word().to_string(), fence.content(lines)));
    }
    if let Some((depth, text)) = heading(first) {
        *lines = rest;
        return Some(Block::Heading(depth, spans(text, first.number, faults)));
    }
    if is_rule(first) {
        *lines = rest;
        return Some(Block::Rule);
    }
    if first.words().starts_with('>') {
        return Some(Block::Quote(blocks(&quoted(lines), depth + 1, faults)));
    }
    if let Some(mark) = Mark::of(first) {
        return Some(list(lines, mark, depth, faults));
    }
    if is_html(first) {
        html(lines, faults);
        return None;
    }
    if is_definition(first) {
        *lines = rest;
        faults.push(Fault::new(
            first.number,
            "a link that is defined apart is not allowed in a lesson",
            "write it in its place: [words](https://…)",
        ));
        return None;
    }
    if let Some(columns) = rest.first().and_then(|&line| table_columns(first, line)) {
        return Some(table(lines, columns, faults));
    }
    Some(paragraph(lines, faults))
}

/// Takes the lines apart.
pub(super) fn blocks(mut lines: &[Line<'_>], depth: usize, faults: &mut Vec<Fault>) -> Vec<Block> {
    let mut found = Vec::new();
    while let Some((first, rest)) = lines.split_first() {
        if first.is_blank() {
            lines = rest;
        } else {
            found.extend(block(&mut lines, depth, faults));
        }
    }
    found
}

/// Whether a line begins something else than a paragraph, also directly below one.
fn interrupts(line: Line<'_>) -> bool {
    let item = |mark: Mark| mark.number.is_none_or(|number| number == 1) && line.text.trim_end().len() >= mark.width;
    line.indent() < 4
        && (line.words().starts_with('>')
            || Fence::opened_by(line).is_some()
            || heading(line).is_some()
            || is_rule(line)
            || is_html(line)
            || Mark::of(line).is_some_and(item))
}

fn paragraph(lines: &mut &[Line<'_>], faults: &mut Vec<Fault>) -> Block {
    let first = lines[0].number;
    let mut text = String::new();
    let mut depth = None;
    while let Some((line, rest)) = lines.split_first() {
        if !text.is_empty() {
            depth = underline(*line);
            if line.is_blank() || (depth.is_none() && interrupts(*line)) {
                break;
            }
            text.push('\n');
        }
        *lines = rest;
        if depth.is_some() {
            break;
        }
        text.push_str(line.words());
    }
    let spans = spans(text.trim_end(), first, faults);
    match depth {
        Some(depth) => Block::Heading(depth, spans),
        None => Block::Paragraph(spans),
    }
}

fn heading(line: Line<'_>) -> Option<(u8, &str)> {
    let text = line.words().trim_start_matches('#');
    let depth = line.words().len() - text.len();
    if line.indent() >= 4 || !(1..=6).contains(&depth) || !(text.is_empty() || text.starts_with([' ', '\t'])) {
        return None;
    }
    let text = text.trim();
    let open = text.trim_end_matches('#');
    let text = if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        text
    };
    Some((depth as u8, text))
}

/// The depth of the heading that a line of dashes makes of the paragraph above it.
fn underline(line: Line<'_>) -> Option<u8> {
    let words = line.words().trim_end();
    let all = |mark: char| line.indent() < 4 && !words.is_empty() && words.chars().all(|c| c == mark);
    if all('=') {
        return Some(1);
    }
    all('-').then_some(2)
}

fn is_rule(line: Line<'_>) -> bool {
    let Some(mark @ ('-' | '_' | '*')) = line.words().chars().next() else {
        return false;
    };
    let is_mark = |c: &char| *c == mark;
    line.indent() < 4
        && line.text.chars().filter(is_mark).count() >= 3
        && line.text.chars().all(|c| c == mark || matches!(c, ' ' | '\t'))
}

/// Whether a line is markup and nothing else.
fn is_html(line: Line<'_>) -> bool {
    let words = line.words().trim_end();
    let begins = words.strip_prefix('<').is_some_and(|rest| {
        rest.starts_with(['!', '?', '/'])
            || rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.contains("://")
    });
    begins && (words.starts_with("<!") || words.find('>').is_none_or(|at| at + 1 == words.len()))
}

fn html(lines: &mut &[Line<'_>], faults: &mut Vec<Fault>) {
    let comment = lines[0].words().starts_with("<!--");
    faults.push(Fault::new(
        lines[0].number,
        "raw HTML is not allowed in a lesson",
        "write it as Markdown",
    ));
    while let Some((line, rest)) = lines.split_first() {
        if !comment && line.is_blank() {
            break;
        }
        *lines = rest;
        if comment && line.text.contains("-->") {
            break;
        }
    }
}

/// `[words]: https://…`, which would be used elsewhere.
fn is_definition(line: Line<'_>) -> bool {
    let inner = line.words().strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    inner.is_some_and(|(words, _)| !words.is_empty() && !words.contains([']', '[']))
}

fn indented(lines: &mut &[Line<'_>]) -> Block {
    let length = lines
        .iter()
        .take_while(|line| line.is_blank() || line.indent() >= 4)
        .count();
    let (own, rest) = lines.split_at(length);
    *lines = rest;
    let end = own.iter().rposition(|line| !line.is_blank()).map_or(0, |at| at + 1);
    let content = own[..end].iter().flat_map(|line| [line.dedented(4).text, "\n"]);
    Block::Code(String::new(), content.collect())
}

/// Whether the text of a block goes on in a line that lacks the block's mark: only words below words do.
fn goes_on(own: &[Line<'_>], line: Line<'_>) -> bool {
    let mut fence: Option<Fence<'_>> = None;
    for &own in own {
        fence = match fence {
            Some(open) => (!open.closed_by(own)).then_some(open),
            None => Fence::opened_by(own),
        };
    }
    let ends_in_words = own.last().is_some_and(|last| {
        !last.is_blank() && heading(*last).is_none() && !is_rule(*last) && Fence::opened_by(*last).is_none()
    });
    fence.is_none() && ends_in_words && !line.is_blank() && !interrupts(line) && Mark::of(line).is_none()
}

fn quoted<'a>(lines: &mut &[Line<'a>]) -> Vec<Line<'a>> {
    let mut own: Vec<Line<'a>> = Vec::new();
    while let Some((line, rest)) = lines.split_first() {
        match line.words().strip_prefix('>').filter(|_| line.indent() < 4) {
            Some(text) => own.push(line.with(text.strip_prefix(' ').unwrap_or(text))),
            None if goes_on(&own, *line) => own.push(line.with(line.words())),
            None => break,
        }
        *lines = rest;
    }
    own
}

fn list(lines: &mut &[Line<'_>], mark: Mark, depth: usize, faults: &mut Vec<Fault>) -> Block {
    let mut items = Vec::new();
    while let Some(found) = lines.first().and_then(|&line| Mark::of(line)) {
        if !found.is_like(&mark) {
            break;
        }
        items.push(blocks(&item(lines, found), depth + 1, faults));
    }
    match mark.number {
        Some(first) => Block::Numbered(first, items),
        None => Block::Bullets(items),
    }
}

/// The lines of one item; blank ones behind it are taken too.
fn item<'a>(lines: &mut &[Line<'a>], mark: Mark) -> Vec<Line<'a>> {
    let mut own: Vec<Line<'a>> = Vec::new();
    while let Some((line, rest)) = lines.split_first() {
        if own.is_empty() {
            let length = mark.width - mark.space - line.indent();
            own.push(line.with(&line.words()[length..]).dedented(mark.space));
        } else if line.is_blank() {
            // An item that begins with a blank line has one at most.
            if own.len() == 1 && own[0].is_blank() {
                break;
            }
            own.push(line.with(""));
        } else if line.indent() >= mark.width {
            own.push(line.dedented(mark.width));
        } else if goes_on(&own, *line) {
            own.push(line.with(line.words()));
        } else {
            break;
        }
        *lines = rest;
    }
    own
}

/// The cells of a row; `\|` stands for a bar within one.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut escaped) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    if !cell.trim().is_empty() {
        cells.push(cell);
    }
    cells
}

/// How many columns the table has whose first two lines these are.
fn table_columns(head: Line<'_>, below: Line<'_>) -> Option<usize> {
    let is_bar = |cell: &String| {
        let bar = cell.trim();
        let bar = bar.strip_prefix(':').unwrap_or(bar);
        let bar = bar.strip_suffix(':').unwrap_or(bar);
        !bar.is_empty() && bar.bytes().all(|byte| byte == b'-')
    };
    let (head, bars) = (head.text.contains('|').then(|| cells(head.text))?, cells(below.text));
    (below.indent() < 4 && head.len() == bars.len() && bars.iter().all(is_bar)).then_some(head.len())
}

fn table(lines: &mut &[Line<'_>], columns: usize, faults: &mut Vec<Fault>) -> Block {
    let mut row = |line: &Line<'_>| -> Vec<Vec<Span>> {
        let mut cells = cells(line.text);
        cells.resize(columns, String::new());
        cells
            .iter()
            .map(|cell| spans(cell.trim(), line.number, faults))
            .collect()
    };
    let head = row(&lines[0]);
    *lines = &lines[2..];
    let mut rows = Vec::new();
    while let Some((line, rest)) = lines.split_first() {
        if line.is_blank() || interrupts(*line) {
            break;
        }
        rows.push(row(line));
        *lines = rest;
    }
    Block::Table(head, rows)
}
