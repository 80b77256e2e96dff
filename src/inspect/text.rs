//! The small text files of a data directory: `meta.properties`, `partition.metadata` and the marker of a clean stop.

/// A name and its value in a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Where its line begins.
    pub position: u64,
    /// The bytes of the line, its end not counted.
    pub length: u64,
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The lines `name=value` (`meta.properties`) or `name: value` (`partition.metadata`); comments and empty lines are left
/// out.
///
/// # Errors
/// The first line, from 1, that is neither.
pub fn properties(text: &str) -> Result<Vec<Property>, usize> {
    let mut position = 0;
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        if !content.trim().is_empty() && !content.starts_with('#') {
            let (name, value) = content.split_once(['=', ':']).ok_or(at + 1)?;
            found.push(Property {
                position,
                length: content.len() as u64,
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
            });
        }
        position += line.len() as u64;
    }
    Ok(found)
}
