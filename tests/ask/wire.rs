//! Batches of any form, byte by byte: also those that no producer sends and no leader keeps.

use highwater::log::BatchHeader;

/// A record within a batch.
pub struct WireRecord {
    pub offset_delta: i32,
    pub timestamp_delta: i64,
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
}

/// What stands in a batch.
pub struct Wire {
    pub base_offset: i64,
    pub leader_epoch: i32,
    pub attributes: i16,
    pub last_offset_delta: i32,
    pub base_timestamp: i64,
    pub max_timestamp: i64,
    pub producer: (i64, i16, i32),
    pub records: Vec<WireRecord>,
}

impl Wire {
    /// The bytes, with the checksum that belongs to them.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.base_offset.to_be_bytes());
        out.extend([0; 4]);
        out.extend(self.leader_epoch.to_be_bytes());
        out.extend([2, 0, 0, 0, 0]);
        out.extend(self.attributes.to_be_bytes());
        out.extend(self.last_offset_delta.to_be_bytes());
        out.extend(self.base_timestamp.to_be_bytes());
        out.extend(self.max_timestamp.to_be_bytes());
        let (id, epoch, sequence) = self.producer;
        out.extend(id.to_be_bytes());
        out.extend(epoch.to_be_bytes());
        out.extend(sequence.to_be_bytes());
        out.extend((self.records.len() as i32).to_be_bytes());
        self.records.iter().for_each(|record| record.write(&mut out));
        let length = out.len() as i32 - 12;
        out[8..12].copy_from_slice(&length.to_be_bytes());
        seal(&mut out);
        out
    }
}

impl WireRecord {
    fn write(&self, out: &mut Vec<u8>) {
        let mut body = vec![0];
        varint(self.timestamp_delta, &mut body);
        varint(self.offset_delta.into(), &mut body);
        for part in [&self.key, &self.value] {
            varint(part.as_ref().map_or(-1, |part| part.len() as i64), &mut body);
            body.extend(part.iter().flatten());
        }
        varint(0, &mut body);
        varint(body.len() as i64, out);
        out.extend(body);
    }
}

/// Puts the checksum that belongs to a batch's bytes.
pub fn seal(batch: &mut [u8]) {
    if batch.len() > 21 {
        let checksum = BatchHeader::checksum(batch);
        batch[17..21].copy_from_slice(&checksum.to_be_bytes());
    }
}

fn varint(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
