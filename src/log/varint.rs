//! Kafka's variable-length integers: zigzag, then base 128 with the low group first.
//!
//! Mirrors `ByteUtils.writeVarint` and `writeVarlong`. Reading never runs past the slice and never accepts more
//! groups than the type has room for.

/// The bytes that `write` needs for a value.
pub fn size(value: i64) -> usize {
    let zigzag = zigzag(value);
    (64 - (zigzag | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends a value. A 32-bit value encodes to the same bytes as the 64-bit one.
pub fn write(out: &mut Vec<u8>, value: i64) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads a 64-bit value from the front of a slice and moves the slice behind it.
pub fn read_long(input: &mut &[u8]) -> Option<i64> {
    let raw = read_groups(input, 10)?;
    Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
}

/// Reads a 32-bit value from the front of a slice and moves the slice behind it.
pub fn read_int(input: &mut &[u8]) -> Option<i32> {
    let raw = read_groups(input, 5)? as u32;
    Some((raw >> 1) as i32 ^ -((raw & 1) as i32))
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn read_groups(input: &mut &[u8], most: usize) -> Option<u64> {
    let mut value = 0u64;
    for (index, byte) in input.iter().take(most).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index).min(63);
        if byte & 0x80 == 0 {
            *input = &input[index + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_encodings() {
        let cases: [(i64, &[u8]); 10] = [
            (0, &[0x00]),
            (-1, &[0x01]),
            (1, &[0x02]),
            (63, &[0x7e]),
            (-64, &[0x7f]),
            (64, &[0x80, 0x01]),
            (-65, &[0x81, 0x01]),
            (8191, &[0xfe, 0x7f]),
            (8192, &[0x80, 0x80, 0x01]),
            (2147483647, &[0xfe, 0xff, 0xff, 0xff, 0x0f]),
        ];
        for (value, bytes) in cases {
            let mut out = Vec::new();
            write(&mut out, value);
            assert_eq!((out.as_slice(), size(value)), (bytes, bytes.len()), "{value}");
            let (mut as_int, mut as_long) = (bytes, bytes);
            assert_eq!(read_int(&mut as_int), Some(value as i32));
            assert_eq!(read_long(&mut as_long), Some(value));
            assert!(as_int.is_empty() && as_long.is_empty());
        }
        for value in [i64::MIN, i64::MAX, i64::from(i32::MIN)] {
            let mut out = Vec::new();
            write(&mut out, value);
            assert_eq!((read_long(&mut out.as_slice()), out.len()), (Some(value), size(value)));
        }
        assert_eq!(read_int(&mut [0x80u8, 0x80].as_slice()), None);
    }
}
