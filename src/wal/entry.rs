//! One entry of the log: what two pages are to become, under a checksum.
//!
//! An entry takes two sectors, so that it can be cut in the middle: 4 bytes CRC-32C of all that follows, 4 bytes number of
//! the transfer, then twice 4 bytes page and 8 bytes balance, all big-endian.

/// The bytes that a disk writes whole or not at all.
pub const SECTOR: usize = 16;

/// The bytes of an entry.
pub(super) const ENTRY: usize = 2 * SECTOR;

/// What a page is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The page, from 0.
    pub page: u32,
    /// The balance that it will hold.
    pub balance: i64,
}

/// A transfer as the log tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the transfer, from 1.
    pub number: u32,
    /// What becomes of the page that gives, and of the one that takes.
    pub images: [Image; 2],
}

impl Entry {
    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[4..8].copy_from_slice(&self.number.to_be_bytes());
        for (image, to) in self.images.iter().zip(bytes[8..].chunks_exact_mut(12)) {
            to[..4].copy_from_slice(&image.page.to_be_bytes());
            to[4..].copy_from_slice(&image.balance.to_be_bytes());
        }
        let crc = crate::checksum::crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// Reads an entry; nothing if its checksum does not fit its bytes.
    pub fn from_bytes(bytes: &[u8; ENTRY]) -> Option<Entry> {
        let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let long = |at: usize| i64::from_be_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let image = |at: usize| Image {
            page: word(at),
            balance: long(at + 4),
        };
        let entry = Entry {
            number: word(4),
            images: [image(8), image(20)],
        };
        (word(0) == crate::checksum::crc32c(&bytes[4..])).then_some(entry)
    }
}
