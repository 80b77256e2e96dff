//! A lesson's prose as a small tree that the page draws node by node.
//!
//! Markdown is read by `pulldown-cmark`; raw HTML, images and footnotes are refused, so that nothing of a lesson file ever
//! reaches a page as markup. Strong text marks a term at the place where it is defined.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::fault::Fault;
use crate::cluster::rules::{self, Rule};
use crate::config::nearest;

/// A block of prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading: 1 to 6.
    Heading(u8, Vec<Span>),
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// A list of items with dots.
    Bullets(Vec<Vec<Block>>),
    /// A numbered list and its first number.
    Numbered(u64, Vec<Vec<Block>>),
    /// A quotation.
    Quote(Vec<Block>),
    /// Text to be set as it is, with the word behind its fence.
    Code(String, String),
    /// A table: its head and its rows, cell by cell.
    Table(Vec<Vec<Span>>, Vec<Vec<Vec<Span>>>),
    /// A line across.
    Rule,
}

/// A stretch of text within a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Plain text.
    Text(String),
    /// A term, where it is defined.
    Strong(Vec<Span>),
    /// Stressed text.
    Emphasis(Vec<Span>),
    /// A name from Kafka or a value.
    Code(String),
    /// A link.
    Link(String, Vec<Span>),
    /// A forced line break.
    Break,
}

/// A piece of a file: prose, or a fenced block of the lesson format with its head and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Prose between two fenced blocks.
    Prose(Vec<Block>),
    /// A fenced block: what stands behind the fence, its content, and the line on which the content begins.
    Fenced {
        /// Behind the fence.
        head: String,
        /// Between the fences.
        content: String,
        /// The first line of the content, from 1.
        line: u32,
    },
}

/// Takes Markdown apart. `is_fenced` says which words behind a fence belong to the lesson format; any other fenced block is
/// text to be set as it is. `first_line` is the line of the file on which the text begins.
pub fn parse(text: &str, first_line: u32, is_fenced: impl Fn(&str) -> bool, faults: &mut Vec<Fault>) -> Vec<Piece> {
    let mut reader = Reader {
        text,
        first_line,
        faults,
        events: events_of(text),
        at: 0,
    };
    let mut pieces = Vec::new();
    let mut prose = Vec::new();
    while let Some((event, range)) = reader.next() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(head))) if is_fenced(first_word(&head)) => {
                if !prose.is_empty() {
                    pieces.push(Piece::Prose(std::mem::take(&mut prose)));
                }
                let line = reader.line(&range) + 1;
                let content = reader.text_until(TagEnd::CodeBlock);
                pieces.push(Piece::Fenced {
                    head: head.trim().to_string(),
                    content,
                    line,
                });
            }
            event => prose.extend(reader.block(event, &range)),
        }
    }
    if !prose.is_empty() {
        pieces.push(Piece::Prose(prose));
    }
    pieces
}

/// Prose alone.
pub fn prose(text: &str, first_line: u32, faults: &mut Vec<Fault>) -> Vec<Block> {
    let pieces = parse(text, first_line, |_| false, faults);
    pieces
        .into_iter()
        .flat_map(|piece| {
            if let Piece::Prose(blocks) = piece {
                blocks
            } else {
                Vec::new()
            }
        })
        .collect()
}

/// The text of some spans without their marks.
pub fn plain(spans: &[Span]) -> String {
    let one = |span: &Span| match span {
        Span::Text(text) | Span::Code(text) => text.clone(),
        Span::Strong(inner) | Span::Emphasis(inner) | Span::Link(_, inner) => plain(inner),
        Span::Break => " ".to_string(),
    };
    spans.iter().map(one).collect()
}

fn first_word(head: &str) -> &str {
    head.split_whitespace().next().unwrap_or_default()
}

fn events_of(text: &str) -> Vec<(Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
        .into_offset_iter()
        .collect()
}

struct Reader<'a, 'f> {
    text: &'a str,
    first_line: u32,
    faults: &'f mut Vec<Fault>,
    events: Vec<(Event<'a>, Range<usize>)>,
    at: usize,
}

impl<'a> Reader<'a, '_> {
    fn next(&mut self) -> Option<(Event<'a>, Range<usize>)> {
        let next = self.events.get(self.at).cloned();
        self.at += 1;
        next
    }

    fn line(&self, range: &Range<usize>) -> u32 {
        let before = self.text.as_bytes().iter().take(range.start);
        self.first_line + before.filter(|byte| **byte == b'\n').count() as u32
    }

    fn refuse(&mut self, range: &Range<usize>, what: &str, remedy: &str) {
        let line = self.line(range);
        self.faults
            .push(Fault::new(line, format!("{what} is not allowed in a lesson"), remedy));
    }

    /// All text up to an end.
    fn text_until(&mut self, end: TagEnd) -> String {
        let mut content = String::new();
        while let Some((event, _)) = self.next() {
            match event {
                Event::End(found) if found == end => break,
                Event::Text(text) => content.push_str(&text),
                _ => {}
            }
        }
        content
    }

    /// Blocks up to an end; loose text of a tight list item becomes a paragraph.
    fn blocks_until(&mut self, end: TagEnd) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut loose = Vec::new();
        while let Some((event, range)) = self.next() {
            if event == Event::End(end) {
                break;
            }
            if is_inline(&event) {
                loose.extend(self.span(event, &range));
                continue;
            }
            if !loose.is_empty() {
                blocks.push(Block::Paragraph(std::mem::take(&mut loose)));
            }
            blocks.extend(self.block(event, &range));
        }
        if !loose.is_empty() {
            blocks.push(Block::Paragraph(loose));
        }
        blocks
    }

    fn block(&mut self, event: Event<'a>, range: &Range<usize>) -> Option<Block> {
        match event {
            Event::Start(Tag::Paragraph) => Some(Block::Paragraph(self.spans_until(TagEnd::Paragraph))),
            Event::Start(Tag::Heading { level, .. }) => {
                Some(Block::Heading(depth(level), self.spans_until(TagEnd::Heading(level))))
            }
            Event::Start(Tag::BlockQuote(kind)) => Some(Block::Quote(self.blocks_until(TagEnd::BlockQuote(kind)))),
            Event::Start(Tag::CodeBlock(kind)) => {
                let word = match &kind {
                    CodeBlockKind::Fenced(head) => first_word(head).to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                Some(Block::Code(word, self.text_until(TagEnd::CodeBlock)))
            }
            Event::Start(Tag::List(start)) => {
                let items = self.items(TagEnd::List(start.is_some()));
                Some(match start {
                    Some(first) => Block::Numbered(first, items),
                    None => Block::Bullets(items),
                })
            }
            Event::Start(Tag::Table(_)) => Some(self.table()),
            Event::Start(Tag::HtmlBlock) => {
                self.refuse(range, "raw HTML", "write it as Markdown");
                self.text_until(TagEnd::HtmlBlock);
                None
            }
            Event::Rule => Some(Block::Rule),
            event if is_inline(&event) => self.span(event, range).map(|span| Block::Paragraph(vec![span])),
            _ => None,
        }
    }

    fn items(&mut self, end: TagEnd) -> Vec<Vec<Block>> {
        let mut items = Vec::new();
        while let Some((event, _)) = self.next() {
            match event {
                Event::End(found) if found == end => break,
                Event::Start(Tag::Item) => items.push(self.blocks_until(TagEnd::Item)),
                _ => {}
            }
        }
        items
    }

    fn table(&mut self) -> Block {
        let (mut head, mut rows, mut row) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((event, _)) = self.next() {
            match event {
                Event::End(TagEnd::Table) => break,
                Event::Start(Tag::TableCell) => row.push(self.spans_until(TagEnd::TableCell)),
                Event::End(TagEnd::TableHead) => head = std::mem::take(&mut row),
                Event::End(TagEnd::TableRow) => rows.push(std::mem::take(&mut row)),
                _ => {}
            }
        }
        Block::Table(head, rows)
    }

    fn spans_until(&mut self, end: TagEnd) -> Vec<Span> {
        let mut spans = Vec::new();
        while let Some((event, range)) = self.next() {
            if event == Event::End(end) {
                break;
            }
            spans.extend(self.span(event, &range));
        }
        spans
    }

    fn span(&mut self, event: Event<'a>, range: &Range<usize>) -> Option<Span> {
        match event {
            Event::Text(text) => Some(Span::Text(text.to_string())),
            Event::SoftBreak => Some(Span::Text(" ".to_string())),
            Event::HardBreak => Some(Span::Break),
            Event::Code(text) => Some(Span::Code(text.to_string())),
            Event::Start(Tag::Strong) => Some(Span::Strong(self.spans_until(TagEnd::Strong))),
            Event::Start(Tag::Emphasis) => Some(Span::Emphasis(self.spans_until(TagEnd::Emphasis))),
            Event::Start(Tag::Link { dest_url, .. }) => self.link(&dest_url, range),
            Event::Start(Tag::Image { .. }) => {
                self.refuse(range, "an image", "show it with a scene");
                self.spans_until(TagEnd::Image);
                None
            }
            Event::InlineHtml(_) | Event::Html(_) => {
                self.refuse(range, "raw HTML", "write it as Markdown");
                None
            }
            _ => None,
        }
    }

    /// A link leads to the web, to a rule or to another lesson; never to a script.
    fn link(&mut self, to: &str, range: &Range<usize>) -> Option<Span> {
        let inner = self.spans_until(TagEnd::Link);
        if let Some(id) = to.strip_prefix("rule:").filter(|id| Rule::from_id(id).is_none()) {
            let near = nearest(id, rules::TABLE.iter().map(|row| row.id));
            let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            let line = self.line(range);
            let remedy = format!("take an id from the table of rules{near}");
            self.faults
                .push(Fault::new(line, format!("there is no rule '{id}'"), remedy));
            return None;
        }
        if ["https://", "http://", "rule:", "lesson:"]
            .iter()
            .any(|start| to.starts_with(start))
        {
            return Some(Span::Link(to.to_string(), inner));
        }
        self.refuse(range, "a link of this kind", "begin it with https://, rule: or lesson:");
        None
    }
}

fn is_inline(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Text(_)
            | Event::Code(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::InlineHtml(_)
            | Event::Html(_)
            | Event::Start(Tag::Strong | Tag::Emphasis | Tag::Link { .. } | Tag::Image { .. })
    )
}

const fn depth(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
