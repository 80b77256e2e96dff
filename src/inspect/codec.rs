//! Compressed batches: their names, and their records where the codecs are.
//!
//! The simulator writes none, but real files hold them. Natively they are opened with well-kept libraries; in the page,
//! which is downloaded before it is seen, a compressed batch is named and its header shown. Mirrors `CompressionType`.

use std::fmt;

use crate::log::BatchHeader;

/// How the records of a batch are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    None,
    /// gzip
    Gzip,
    /// snappy, in the framing of the Java library or as one block
    Snappy,
    /// The LZ4 frame format.
    Lz4,
    /// Zstandard
    Zstd,
    /// A code that stands for nothing.
    Unknown(u8),
}

impl Codec {
    /// What a header says.
    pub fn of(header: &BatchHeader) -> Codec {
        match header.compression() {
            0 => Codec::None,
            1 => Codec::Gzip,
            2 => Codec::Snappy,
            3 => Codec::Lz4,
            4 => Codec::Zstd,
            code => Codec::Unknown(code),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Codec::None => f.write_str("none"),
            Codec::Gzip => f.write_str("gzip"),
            Codec::Snappy => f.write_str("snappy"),
            Codec::Lz4 => f.write_str("lz4"),
            Codec::Zstd => f.write_str("zstd"),
            Codec::Unknown(code) => write!(f, "unknown({code})"),
        }
    }
}

/// The most bytes that the records of one batch may take uncompressed: a thousandfold of what a broker takes by default,
/// and little enough for any machine.
pub const LARGEST_BATCH: usize = 256 << 20;

/// Why compressed records stay closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// There is no library for this codec here.
    NotHere(Codec),
    /// The code in the header stands for no codec.
    Unknown(u8),
    /// The compressed bytes are damaged.
    Damaged(Codec),
    /// They are more than [`LARGEST_BATCH`] uncompressed.
    TooLarge,
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Closed::NotHere(codec) => write!(f, "is compressed with {codec}, which is not opened here"),
            Closed::Unknown(code) => write!(f, "has compression code {code}, and only 0 to 4 are known"),
            Closed::Damaged(codec) => write!(f, "cannot be uncompressed with {codec}"),
            Closed::TooLarge => write!(f, "is larger than {} MiB uncompressed", LARGEST_BATCH >> 20),
        }
    }
}

/// The records that a compressed batch holds. The result grows with what comes out, never by what a length field says.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn uncompress(codec: Codec, bytes: &[u8]) -> Result<Vec<u8>, Closed> {
    use std::io::Read;
    let damaged = Closed::Damaged(codec);
    let mut out = Vec::new();
    let limit = LARGEST_BATCH as u64 + 1;
    let read = match codec {
        Codec::None => bytes.take(limit).read_to_end(&mut out),
        Codec::Gzip => flate2::read::MultiGzDecoder::new(bytes)
            .take(limit)
            .read_to_end(&mut out),
        Codec::Snappy => return snappy(bytes),
        Codec::Lz4 => lz4_flex::frame::FrameDecoder::new(bytes)
            .take(limit)
            .read_to_end(&mut out),
        Codec::Zstd => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|_| damaged)?;
            decoder.take(limit).read_to_end(&mut out)
        }
        Codec::Unknown(code) => return Err(Closed::Unknown(code)),
    };
    match read {
        Ok(_) if out.len() > LARGEST_BATCH => Err(Closed::TooLarge),
        Ok(_) => Ok(out),
        Err(_) => Err(damaged),
    }
}

/// In the page no codec is there.
#[cfg(target_arch = "wasm32")]
pub(super) fn uncompress(codec: Codec, _: &[u8]) -> Result<Vec<u8>, Closed> {
    match codec {
        Codec::Unknown(code) => Err(Closed::Unknown(code)),
        codec => Err(Closed::NotHere(codec)),
    }
}

/// The Java library's framing: a header of 16 bytes, then blocks, each behind its length. Without the header, one block.
#[cfg(not(target_arch = "wasm32"))]
fn snappy(bytes: &[u8]) -> Result<Vec<u8>, Closed> {
    const MAGIC: &[u8] = b"\x82SNAPPY\0";
    const HEADER: usize = 16;
    let damaged = || Closed::Damaged(Codec::Snappy);
    let mut out = Vec::new();
    if !bytes.starts_with(MAGIC) {
        snappy_block(bytes, &mut out)?;
        return Ok(out);
    }
    let mut rest = bytes.get(HEADER..).ok_or_else(damaged)?;
    while !rest.is_empty() {
        // Streams that were put one behind the other begin with a header each.
        if rest.starts_with(MAGIC) {
            rest = rest.get(HEADER..).ok_or_else(damaged)?;
            continue;
        }
        let (length, behind) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        let length = u32::from_be_bytes(*length) as usize;
        let (block, behind) = behind.split_at_checked(length).ok_or_else(damaged)?;
        snappy_block(block, &mut out)?;
        rest = behind;
    }
    Ok(out)
}

#[cfg(not(target_arch = "wasm32"))]
fn snappy_block(block: &[u8], out: &mut Vec<u8>) -> Result<(), Closed> {
    /// No element of the format stands for more than 64 bytes, and none takes less than one.
    const MOST_EXPANSION: usize = 64;
    let damaged = |_| Closed::Damaged(Codec::Snappy);
    let length = snap::raw::decompress_len(block).map_err(damaged)?;
    if length > block.len().saturating_mul(MOST_EXPANSION) {
        return Err(Closed::Damaged(Codec::Snappy));
    }
    if out.len() + length > LARGEST_BATCH {
        return Err(Closed::TooLarge);
    }
    let start = out.len();
    out.resize(start + length, 0);
    let written = snap::raw::Decoder::new()
        .decompress(block, &mut out[start..])
        .map_err(damaged)?;
    out.truncate(start + written);
    Ok(())
}
