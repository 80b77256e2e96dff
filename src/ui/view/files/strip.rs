//! The row of a file's parts, in proportion to their bytes, and the entries that lead into it.

use crate::ui::view::files::folder::Stored;
use crate::ui::view::files::parts::{Is, Part, Parts};

/// How many parts stand in a row at once: enough to compare, few enough to be pressed with a finger.
const BARS: usize = 24;

/// Where the bytes of a part are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// On disk.
    Disk,
    /// In page cache only.
    Cache,
    /// So many of a hundred on disk.
    Both(u64),
}

/// A part in the row.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The part.
    pub part: Part,
    /// Where it is.
    pub layer: Layer,
}

/// Some of a file's parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// The parts in the row.
    pub bars: Vec<Bar>,
    /// Where the row begins among all parts.
    pub first: usize,
    /// How many parts there are.
    pub all: usize,
}

impl Strip {
    /// Where an earlier row begins, if there is one.
    pub fn earlier(&self) -> Option<usize> {
        (self.first > 0).then(|| self.first.saturating_sub(BARS))
    }

    /// Where a later row begins, if there is one.
    pub fn later(&self) -> Option<usize> {
        let next = self.first + self.bars.len();
        (next < self.all).then_some(next)
    }
}

/// The row that begins at a part, or else shows a byte, or else the end of the file.
pub fn strip(parts: &Parts, stored: Stored, first: Option<usize>, shows: Option<u64>) -> Strip {
    let all = parts.parts.len();
    let holds = |position: u64| {
        parts
            .parts
            .partition_point(|part| part.position <= position)
            .saturating_sub(1)
    };
    let last = all.saturating_sub(BARS);
    let first = match (first, shows) {
        (Some(first), _) => first.min(all.saturating_sub(1)),
        (None, Some(position)) => holds(position).saturating_sub(BARS / 2).min(last),
        (None, None) => last,
    };
    let bars = parts.parts.iter().skip(first).take(BARS).map(|part| Bar {
        part: *part,
        layer: layer(part, stored),
    });
    Strip {
        bars: bars.collect(),
        first,
        all,
    }
}

fn layer(part: &Part, stored: Stored) -> Layer {
    match stored {
        Stored::Flushed(flushed) if flushed <= part.position => Layer::Cache,
        Stored::Flushed(flushed) if flushed < part.end() => Layer::Both((flushed - part.position) * 100 / part.length),
        _ => Layer::Disk,
    }
}

/// An entry of an index, over the batch that it leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    /// The entry.
    pub entry: Part,
    /// Over which bar of the row it stands, from 0.
    pub column: usize,
    /// How many bars it has room over.
    pub span: usize,
}

/// The entries that lead to bars of this row. Those that lead nowhere are told of as damages.
pub fn leads(entries: &Parts, batches: &Parts, strip: &Strip) -> Vec<Lead> {
    let (Some(first), Some(last)) = (strip.bars.first(), strip.bars.last()) else {
        return Vec::new();
    };
    let mut leads: Vec<Lead> = Vec::new();
    for entry in entries.parts.iter().filter(|part| part.is != Is::Room) {
        let Some(target) = Parts::leads_to(entry, batches) else {
            continue;
        };
        if target.position < first.part.position || target.position > last.part.position {
            continue;
        }
        let column = strip.bars.partition_point(|bar| bar.part.position < target.position);
        if let Some(before) = leads.last_mut() {
            before.span = column.saturating_sub(before.column).max(1);
        }
        leads.push(Lead {
            entry: *entry,
            column,
            span: strip.bars.len() - column,
        });
    }
    leads
}
