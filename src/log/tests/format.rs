//! The bytes of record batches, against published examples.

use std::sync::Arc;

use super::*;

fn worked_records() -> [Record; 2] {
    let header = Header {
        key: "h".into(),
        value: Some([1u8].as_slice().into()),
    };
    let second = Record {
        headers: vec![header],
        ..Record::new(Some(b"key-2"), None, 1700000000123)
    };
    [Record::new(Some(b"k1"), Some(b"hello"), 1700000000000), second]
}

#[test]
fn two_records_as_a_producer_sends_them() {
    let batch = Batch::build(&worked_records(), None, Arc::default());
    let expected = hex(
        "0000000000000000 00000050 ffffffff 02 a474c3c3 0000 00000001 0000018bcfe56800 0000018bcfe5687b
         ffffffffffffffff ffff ffffffff 00000002
         1a 00 00 00 04 6b31 0a 68656c6c6f 00
         20 00 f601 02 0a 6b65792d32 01 02 02 68 02 01",
    );
    assert_eq!(batch.to_bytes(), expected);
    assert_eq!(batch.size_in_bytes(), 92);
    let parsed = Batch::parse(&expected).unwrap();
    assert_eq!(parsed, batch);
    assert!(parsed.is_valid() && parsed.check_records());
    let records: Vec<Record> = parsed.records().map(|record| record.to_record()).collect();
    assert_eq!(records, worked_records());
}

#[test]
fn the_leader_changes_offset_and_epoch_and_keeps_the_checksum() {
    let stored = Batch::build(&worked_records(), None, Arc::default()).placed(1000, 5);
    assert_eq!(
        stored.to_bytes()[..21],
        hex("00000000000003e8 00000050 00000005 02 a474c3c3")
    );
    assert_eq!(
        stored.records().map(|record| record.offset).collect::<Vec<_>>(),
        [1000, 1001]
    );
    assert!(Batch::parse(&stored.to_bytes()).unwrap().is_valid());
}

#[test]
fn an_idempotent_producer_signs_its_batch() {
    let stamp = ProducerStamp {
        id: 4000,
        epoch: 1,
        base_sequence: 7,
    };
    let bytes = Batch::build(&worked_records(), Some(stamp), Arc::default()).to_bytes();
    assert_eq!(bytes[17..21], hex("8007ec2d"));
    assert_eq!(bytes[43..57], hex("0000000000000fa0 0001 00000007"));
}

#[test]
fn a_commit_marker() {
    let marker = Marker {
        outcome: Outcome::Commit,
        coordinator_epoch: 7,
    };
    let batch = Batch::build_marker(marker, 4000, 1, 1700000000500).placed(1002, 5);
    let expected = hex(
        "00000000000003ea 00000042 00000005 02 c42dd2bc 0030 00000000 0000018bcfe569f4 0000018bcfe569f4
         0000000000000fa0 0001 ffffffff 00000001
         20 00 00 00 08 00000001 0c 000000000007 00",
    );
    assert_eq!(batch.to_bytes(), expected);
    assert_eq!(batch.marker(), Some(marker));
    assert!(batch.is_control() && batch.is_transactional());
}

#[test]
fn sizes_of_small_batches() {
    let batch = |key: Option<&str>, value: &str| {
        let record = Record::new(key.map(str::as_bytes), Some(value.as_bytes()), 0);
        assert!(
            Batch::size_upper_bound(&record)
                >= Batch::build(std::slice::from_ref(&record), None, Arc::default()).size_in_bytes() as usize
        );
        Batch::build(&[record], None, Arc::default()).size_in_bytes()
    };
    assert_eq!(batch(None, "test"), 72);
    assert_eq!(batch(Some("hello"), "hello"), 78);
    assert_eq!(crc32c::crc32c(b"123456789"), 0xE3069283);
}

#[test]
fn sequences_wrap() {
    assert_eq!(
        [(5, 5), (i32::MAX, 1), (2147483642, 10)].map(|(a, b)| increment_sequence(a, b)),
        [10, 0, 4]
    );
    let records = vec![record("x", 0); 3];
    let stamp = ProducerStamp {
        id: 1,
        epoch: 0,
        base_sequence: 2147483646,
    };
    assert_eq!(Batch::build(&records, Some(stamp), Arc::default()).last_sequence(), 0);
}

#[test]
fn damaged_batches_are_told_apart() {
    let bytes = Batch::build(&worked_records(), None, Arc::default()).to_bytes();
    for length in 0..bytes.len() {
        assert_eq!(
            Batch::parse(&bytes[..length]).err(),
            Some(Malformed::Incomplete),
            "cut at {length}"
        );
    }
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        Batch::parse(&bytes)
    };
    assert_eq!(changed(16, 1).err(), Some(Malformed::BadMagic(1)));
    assert_eq!(changed(11, 13).err(), Some(Malformed::BadLength(13)));
    assert_eq!(changed(11, 48).err(), Some(Malformed::ShortHeader));
    assert!(!changed(60, 3).unwrap().is_valid());
    for count in [1, 3] {
        assert!(
            !changed(60, count).unwrap().check_records(),
            "a header that says {count}"
        );
    }
}

#[test]
fn tags_go_with_their_records() {
    let tags: Arc<[u64]> = [11, 12].as_slice().into();
    let batch = Batch::build(&worked_records(), None, tags).placed(1000, 5);
    assert_eq!(
        [999, 1000, 1001, 1002].map(|offset| batch.tag_of(offset)),
        [None, Some(11), Some(12), None]
    );
}
