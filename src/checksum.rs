//! CRC-32C (Castagnoli), the checksum of record batches and producer snapshots, by a crate that suits the machine.
//!
//! Natively one that uses the processor's own instruction; in the page one whose table takes a kilobyte instead of eight,
//! since tables of checksums cannot be compressed and everybody downloads them. Deliberately absent: other checksums.
//! Mirrors `org.apache.kafka.common.utils.Crc32C`.

/// The CRC-32C of these bytes.
#[cfg(not(target_arch = "wasm32"))]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// The CRC-32C of these bytes.
#[cfg(target_arch = "wasm32")]
pub fn crc32c(bytes: &[u8]) -> u32 {
    static CASTAGNOLI: crc::Crc<u32, crc::Table<1>> = crc::Crc::<u32, crc::Table<1>>::new(&crc::CRC_32_ISCSI);
    CASTAGNOLI.checksum(bytes)
}
