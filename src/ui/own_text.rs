//! A file of somebody's own that is to be read as text.
//!
//! Deliberately absent: how the file is opened, and what stands in the text.

/// The text of a file.
///
/// # Errors
/// That it is none, and what is wanted instead.
pub fn text_of(name: &str, bytes: Vec<u8>, wanted: &str) -> Result<String, String> {
    // No text has a byte 0, and most other files do.
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| format!("{name} is no text in UTF-8; open {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_with_what_is_wanted() {
        let read = |bytes: &[u8]| text_of("a.bin", bytes.to_vec(), "a scenario");
        assert_eq!(
            read("brokers 3 # für alle\n".as_bytes()),
            Ok("brokers 3 # für alle\n".into())
        );
        assert_eq!(read(b""), Ok(String::new()));
        let refused = Err("a.bin is no text in UTF-8; open a scenario".to_string());
        for bytes in [&b"\0\0\0\x01magic"[..], b"\xff\xfeb\0r\0", b"\x1f\x8b\x08", b"caf\xe9"] {
            assert_eq!(read(bytes), refused, "{bytes:?}");
        }
    }
}
