//! A lesson's prose as a small tree that the page draws node by node.
//!
//! Read is the Markdown that CommonMark defines, with tables. Raw HTML, images, links that are defined apart and all but
//! a few named characters are refused, so that nothing of a lesson file ever reaches a page as markup and nothing is
//! dropped in silence. Strong text marks a term at the place where it is defined.
//!
//! The reader is our own because of its size: a general one weighs as much as a fifth of the engine in a page that is
//! downloaded before anything is seen. The tests hold it against `pulldown-cmark`.

mod block;
mod inline;
#[cfg(test)]
mod tests;

use super::fault::Fault;
use block::{Fence, Line};

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
/// text to be set as it is. A fence that is never closed is refused, where CommonMark lets it take the rest of the file:
/// in a lesson that rest would be scenes and questions. `first_line` is the line of the file on which the text begins.
pub fn parse(text: &str, first_line: u32, is_fenced: impl Fn(&str) -> bool, faults: &mut Vec<Fault>) -> Vec<Piece> {
    let lines = lines_of(text, first_line);
    let mut lines = lines.as_slice();
    let mut pieces = Vec::new();
    let mut prose = Vec::new();
    while let Some((&first, rest)) = lines.split_first() {
        if Fence::opened_by(first).is_some_and(|fence| !fence.is_closed_in(rest)) {
            faults.push(Fault::new(
                first.number,
                "the block that begins here does not end, so that all below would belong to it",
                "close it with a line of nothing but the same marks",
            ));
            break;
        }
        if first.is_blank() {
            lines = rest;
        } else if let Some(fence) = Fence::opened_by(first).filter(|fence| is_fenced(fence.word())) {
            if !prose.is_empty() {
                pieces.push(Piece::Prose(std::mem::take(&mut prose)));
            }
            lines = rest;
            pieces.push(Piece::Fenced {
                head: fence.head.to_string(),
                content: fence.content(&mut lines),
                line: first.number + 1,
            });
        } else {
            prose.extend(block::block(&mut lines, 0, faults));
        }
    }
    if !prose.is_empty() {
        pieces.push(Piece::Prose(prose));
    }
    pieces
}

/// Words within a line, such as those of a caption.
pub fn inline(text: &str, line: u32, faults: &mut Vec<Fault>) -> Vec<Span> {
    inline::spans(text, line, faults)
}

/// Prose alone.
pub fn prose(text: &str, first_line: u32, faults: &mut Vec<Fault>) -> Vec<Block> {
    block::blocks(&lines_of(text, first_line), 0, faults)
}

fn lines_of(text: &str, first_line: u32) -> Vec<Line<'_>> {
    let numbered = text.split('\n').zip(first_line..);
    numbered.map(|(text, number)| Line { text, number }).collect()
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
