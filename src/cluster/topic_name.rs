//! Which names a topic may have.
//!
//! Mirrors `org.apache.kafka.common.internals.Topic`, and of `ReplicationControlManager` that names which differ only in
//! `.` and `_` would share the names of their metrics.

/// The most characters of a name.
const LONGEST: usize = 249;

/// What a name should be that cannot be a topic's; nothing if it can.
pub(crate) fn expected(name: &str) -> Option<&'static str> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    match name {
        "." | ".." => Some("a topic's name other than '.' and '..'"),
        name if name.is_empty() || !name.bytes().all(legal) => {
            Some("a topic's name of letters, digits, '.', '_' and '-'")
        }
        name if name.len() > LONGEST => Some("a topic's name of at most 249 characters"),
        _ => None,
    }
}

/// Whether two names cannot both be topics'.
pub(crate) fn collide(one: &str, other: &str) -> bool {
    let unified = |byte: u8| if byte == b'.' { b'_' } else { byte };
    one.bytes().map(unified).eq(other.bytes().map(unified))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_as_kafka_refuses_them() {
        let longest = "x".repeat(249);
        for name in ["a", "...", "A-b_c.9", "-", "__consumer_offsets", &longest] {
            assert_eq!(expected(name), None, "{name}");
        }
        let too_long = "x".repeat(250);
        for name in ["", ".", "..", "a b", "a/b", "ä", "a\u{0}", "a:b", &too_long] {
            assert!(expected(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_point_is_as_good_as_a_low_line() {
        assert!(collide("a.b", "a_b") && collide("a.b_c", "a_b.c") && collide("a", "a"));
        assert!(!collide("a.b", "a-b") && !collide("a.b", "a.bc"));
    }
}
