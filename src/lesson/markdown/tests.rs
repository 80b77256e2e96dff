//! The reader held against `pulldown-cmark`, on the lessons that come with the program, on a text for each construct,
//! and on texts put together at random.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{Block, Span, prose};
use crate::lesson::library::LIBRARY;

/// The same tree by the library.
struct Reference<'a>(Vec<Event<'a>>);

impl<'a> Reference<'a> {
    fn read(text: &'a str) -> Vec<Block> {
        let mut events: Vec<_> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
        events.reverse();
        let mut reference = Reference(events);
        let mut blocks = Vec::new();
        while let Some(event) = reference.0.pop() {
            blocks.extend(reference.block(event));
        }
        blocks
    }

    fn block(&mut self, event: Event<'a>) -> Option<Block> {
        Some(match event {
            Event::Start(Tag::Paragraph) => Block::Paragraph(self.spans(TagEnd::Paragraph)),
            Event::Start(Tag::Heading { level, .. }) => Block::Heading(level as u8, self.spans(TagEnd::Heading(level))),
            Event::Start(Tag::BlockQuote(kind)) => Block::Quote(self.blocks(TagEnd::BlockQuote(kind))),
            Event::Start(Tag::CodeBlock(kind)) => {
                let word = match &kind {
                    CodeBlockKind::Fenced(head) => head.split_whitespace().next().unwrap_or_default().to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                let mut content = String::new();
                while let Some(Event::Text(text)) = self.0.pop() {
                    content.push_str(&text);
                }
                Block::Code(word, content)
            }
            Event::Start(Tag::List(start)) => {
                let mut items = Vec::new();
                while let Some(Event::Start(Tag::Item)) = self.0.pop() {
                    items.push(self.blocks(TagEnd::Item));
                }
                match start {
                    Some(first) => Block::Numbered(first, items),
                    None => Block::Bullets(items),
                }
            }
            Event::Start(Tag::Table(_)) => self.table(),
            Event::Rule => Block::Rule,
            _ => return None,
        })
    }

    /// Blocks up to an end; loose text of a tight item is a paragraph.
    fn blocks(&mut self, end: TagEnd) -> Vec<Block> {
        let (mut blocks, mut loose) = (Vec::new(), Vec::new());
        while let Some(event) = self.0.pop() {
            if event == Event::End(end) {
                break;
            }
            if let Some(span) = self.span(&event) {
                push(&mut loose, span);
                continue;
            }
            if !loose.is_empty() {
                blocks.push(Block::Paragraph(std::mem::take(&mut loose)));
            }
            blocks.extend(self.block(event));
        }
        if !loose.is_empty() {
            blocks.push(Block::Paragraph(loose));
        }
        blocks
    }

    fn table(&mut self) -> Block {
        let (mut head, mut rows, mut row) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(event) = self.0.pop() {
            match event {
                Event::End(TagEnd::Table) => break,
                Event::Start(Tag::TableCell) => row.push(self.spans(TagEnd::TableCell)),
                Event::End(TagEnd::TableHead) => head = std::mem::take(&mut row),
                Event::End(TagEnd::TableRow) => rows.push(std::mem::take(&mut row)),
                _ => {}
            }
        }
        Block::Table(head, rows)
    }

    fn spans(&mut self, end: TagEnd) -> Vec<Span> {
        let mut spans = Vec::new();
        while let Some(event) = self.0.pop().filter(|event| *event != Event::End(end)) {
            if let Some(span) = self.span(&event) {
                push(&mut spans, span);
            }
        }
        spans
    }

    fn span(&mut self, event: &Event<'a>) -> Option<Span> {
        Some(match event {
            Event::Text(text) => Span::Text(text.to_string()),
            Event::SoftBreak => Span::Text(" ".to_string()),
            Event::HardBreak => Span::Break,
            Event::Code(text) => Span::Code(text.to_string()),
            Event::Start(Tag::Strong) => Span::Strong(self.spans(TagEnd::Strong)),
            Event::Start(Tag::Emphasis) => Span::Emphasis(self.spans(TagEnd::Emphasis)),
            Event::Start(Tag::Link { dest_url, .. }) => Span::Link(dest_url.to_string(), self.spans(TagEnd::Link)),
            _ => return None,
        })
    }
}

/// Text beside text is one text.
fn push(spans: &mut Vec<Span>, span: Span) {
    match (spans.last_mut(), span) {
        (Some(Span::Text(last)), Span::Text(text)) => last.push_str(&text),
        (_, span) => spans.push(span),
    }
}

fn agree(text: &str) {
    let mut faults = Vec::new();
    let found = prose(text, 1, &mut faults);
    assert_eq!(faults, [], "{text}");
    assert_eq!(found, Reference::read(text), "{text}");
}

#[test]
fn the_lessons_read_as_the_library_reads_them() {
    for source in LIBRARY {
        // Behind the front matter everything is Markdown.
        let body = source
            .text()
            .expect("it is at hand")
            .splitn(3, "---\n")
            .nth(2)
            .expect("there is front matter");
        agree(body);
    }
}

#[test]
fn every_construct_reads_as_the_library_reads_it() {
    let texts = [
        "# One\n\n## Two ##\n#### Four `x` *y*\n#not\n####### not",
        "Head\n===\nOther\nhead\n---\ntext\n\n---\n***\n_ _ _\n",
        "a\nb  \nc\\\nd\n\n  e\n     f",
        "*a* **b** ***c*** _d_ __e__ a*b*c a_b_c **a *b* c** *a **b** c*",
        "*a ** b* * c **a* 2*3*4 **x*y** ***a** b* ***a* b**",
        "\\*a\\* \\[x\\] `\\*` ``a ` b`` ` a ` `a\nb` `open",
        "[a](https://x.org) [b *c*](rule:hw.leader) [d](<https://y.org> 'title') [e] [f](no [g] [h](https://z.org/(1)2)",
        "<https://x.org/a?b=c> 1 < 2 > 3 a<3 &amp; &lt;b&gt; &#65;&#x42; & &x AT&T",
        "- a\n- b\n  c\n\n  d\n- e\n  - f\n    - g\n  - h\nlazy\n\ntext",
        "1. a\n2. b\n\n3) c\n4) d\n\n* x\n+ y\n- z",
        "7. a\n   - b\n\n     c\n8. d\n\n   ```\n   code\n   ```\n",
        "-\n- a\n-   b\n-     code\n\n  text",
        "text\n- a\ntext\n2. b\n1. c",
        "> a\n> b\nlazy\n>\n> - c\n> - d\n>\n> > e\n\n> f\n# g",
        "```\nraw *x* <b>\n```\n~~~ word more\n```\n~~~\n  ```rust\n  a\n   b\n c\n  ```\n````\nopen",
        "    code\n      more\n\n    last\n\ntext\n    text",
        "| a | b |\n|---|:-:|\n| 1 | `x` |\n| 2 \\| 3 | *y* | z |\n| 4 |\n\na | b\n--|--\n1 | 2\n- c",
        "a | b\n\n| a |\n|---|---|\n",
        "*a [b* c](https://x.org) **[d](lesson:02-the-log)**, \"**e**\" (*f*) \u{2013}*g*\u{2013}",
        "tab:\n\n-\ta\n\n\tb\n\n\tcode\n",
    ];
    for text in texts {
        agree(text);
    }
}

#[test]
fn what_a_lesson_may_not_hold_is_refused_with_its_line() {
    let cases = [
        (
            "a\nb <b>x",
            "2: raw HTML is not allowed in a lesson; write it as Markdown",
        ),
        (
            "\n<div>\nx\n</div>\n",
            "2: raw HTML is not allowed in a lesson; write it as Markdown",
        ),
        (
            "<!-- a\n\nb -->\n",
            "1: raw HTML is not allowed in a lesson; write it as Markdown",
        ),
        (
            "a ![b](https://x.org)",
            "1: an image is not allowed in a lesson; show it with a scene",
        ),
        (
            "- a\n- [b](javascript:c)",
            "2: a link of this kind is not allowed in a lesson; begin it with https://, rule: or lesson:",
        ),
        (
            "See [the log](lesson:02-the-lock).",
            "1: there is no lesson '02-the-lock'; call it as its file is called, without the ending; did you mean '02-the-log'?",
        ),
        (
            "See [it](lesson:).",
            "1: there is no lesson ''; call it as its file is called, without the ending",
        ),
        (
            "[b]: https://x.org",
            "1: a link that is defined apart is not allowed in a lesson; write it in its place: [words](https://…)",
        ),
        (
            "a&mdash;b",
            "1: '&mdash;' is not allowed in a lesson; write the character itself",
        ),
    ];
    for (text, expected) in cases {
        let mut faults = Vec::new();
        prose(text, 1, &mut faults);
        let found: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(found, [expected], "{text}");
    }
    let mut faults = Vec::new();
    prose(&format!("{}a", "> ".repeat(10_000)), 1, &mut faults);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].remedy, "take some of the marks away");
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-z]{1,6}",
        1 => "[a-z]{1,4}".prop_map(|word| format!("*{word}*")),
        1 => "[a-z]{1,4}".prop_map(|word| format!("**{word} {word}**")),
        1 => "[a-z]{1,4}".prop_map(|word| format!("`{word}`")),
        1 => "[a-z]{1,4}".prop_map(|word| format!("[{word}](https://{word}.org)")),
        1 => Just("a_b".to_string()),
        1 => Just("1 < 2".to_string()),
        1 => Just("\\*".to_string()),
        1 => Just("it's (so):".to_string()),
    ];
    prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "))
}

/// A block, and behind it the blank line that keeps it from the next one.
fn written() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::collection::vec(words(), 1..4).prop_map(|lines| lines.join("\n")),
        1 => (1usize..7, words()).prop_map(|(depth, words)| format!("{} {words}", "#".repeat(depth))),
        1 => words().prop_map(|words| format!("```text\n{words}\n\n  {words}\n```")),
        1 => (words(), words()).prop_map(|(a, b)| format!("| {a} | {b} |\n|---|---|\n| {b} | {a} |")),
        1 => Just("***".to_string()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let nested = |first: &'static str, next: &'static str| {
            move |blocks: Vec<String>| {
                let text = blocks.join("\n\n");
                let lines = text.lines().enumerate().map(|(at, line)| match (at, line) {
                    (0, line) => format!("{first}{line}"),
                    (_, "") => next.trim_end().to_string(),
                    (_, line) => format!("{next}{line}"),
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        let blocks = prop::collection::vec(inner, 1..4);
        prop_oneof![
            blocks.clone().prop_map(nested("> ", "> ")),
            blocks.clone().prop_map(nested("- ", "  ")),
            blocks.prop_map(nested("3. ", "   ")),
        ]
    })
}

proptest! {
    /// Whatever is put together of the constructs, both read the same.
    #[test]
    fn texts_at_random_read_as_the_library_reads_them(blocks in prop::collection::vec(written(), 1..5)) {
        agree(&blocks.join("\n\n"));
    }

    /// No text makes the reader panic or go on for ever.
    #[test]
    fn any_text_is_read(text in "([ \t>*_`#|<&!\\[\\]()a:.~+=0-9é-]|\n){0,60}") {
        let mut faults = Vec::new();
        prose(&text, 1, &mut faults);
    }
}
