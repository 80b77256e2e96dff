//! Fields as lines: position, length, bytes, name, value, meaning.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::inspect::Field;

/// So many bytes of a field are shown.
const SHOWN: usize = 8;

/// Prints fields that lie in `bytes`, which begin at `start`.
pub(super) fn print(out: &mut impl Write, fields: &[Field], start: u64, bytes: &[u8]) -> io::Result<()> {
    for Field {
        position,
        length,
        name,
        value,
        meaning,
    } in fields
    {
        let from = usize::try_from(position.saturating_sub(start)).unwrap_or(usize::MAX);
        let all = bytes
            .get(from..)
            .and_then(|rest| rest.get(..*length as usize))
            .unwrap_or(&[]);
        let line = format!(
            "  {position:>9} {length:>4}  {:<24} {name:<22} {value:<17} {meaning}",
            hex(all)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The first bytes, and whether there are more.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().take(SHOWN).enumerate() {
        let space = if at > 0 { " " } else { "" };
        let _ = write!(text, "{space}{byte:02x}");
    }
    if bytes.len() > SHOWN {
        text.push('…');
    }
    text
}
