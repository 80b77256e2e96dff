//! The order in which Java walks a hash map: by bucket, and within a bucket by insertion.
//!
//! Some outcomes of the sticky assignors hang on it, above all which of several members keeps one partition more.
//!
//! Deliberately absent: buckets of eight and more entries, which Java turns into trees. Mirrors `java.util.HashMap`.

use crate::cluster::assignor::Slot;
use crate::sorted::sort_by;

/// `String.hashCode`.
fn string_hash(text: &str) -> u32 {
    text.encode_utf16()
        .fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)))
}

/// `TopicPartition.hashCode`.
fn slot_hash(slot: &Slot) -> u32 {
    (31 + slot.partition)
        .wrapping_mul(31)
        .wrapping_add(string_hash(&slot.topic))
}

/// A table of 16 buckets doubles when it is more than three quarters full.
fn bucket(hash: u32, entries: usize) -> u32 {
    let mut buckets = 16;
    while entries > buckets / 4 * 3 {
        buckets *= 2;
    }
    (hash ^ (hash >> 16)) & (buckets as u32 - 1)
}

/// The order of a map whose keys are these texts, inserted as given: positions in `keys`.
pub fn of_texts<'a>(keys: impl ExactSizeIterator<Item = &'a str>) -> Vec<usize> {
    let entries = keys.len();
    let mut order: Vec<(u32, usize)> = keys.map(|key| bucket(string_hash(key), entries)).zip(0..).collect();
    sort_by(&mut order, Ord::cmp);
    order.into_iter().map(|(_, at)| at).collect()
}

/// Where a number stands in a set of so many numbers, inserted in ascending order.
pub fn place_of_number(number: u32, entries: usize) -> (u32, u32) {
    (bucket(number, entries), number)
}

/// The first in the order of a set of slots, inserted as given.
pub fn first_slot(slots: &[Slot]) -> Option<&Slot> {
    slots.iter().min_by_key(|slot| bucket(slot_hash(slot), slots.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java() {
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("Aa"), string_hash("BB"));
        assert_eq!(string_hash("hello"), 99_162_322);
        assert_eq!(
            slot_hash(&Slot {
                topic: "t".into(),
                partition: 2
            }),
            33 * 31 + 116
        );
    }

    #[test]
    fn keys_go_by_bucket_and_those_of_one_bucket_by_insertion() {
        assert_eq!(
            of_texts(["m01", "m03", "m10"].into_iter()),
            [1, 2, 0],
            "buckets 15, 1 and 13"
        );
        assert_eq!(
            of_texts(["m10", "BB", "c0", "Aa"].into_iter()),
            [1, 3, 0, 2],
            "buckets 13, 0, 13 and 0"
        );
    }
}
