//! What consumers were given, in order, and what everybody saw at each offset.

use std::sync::Arc;

use super::chunked::Chunked;
use crate::cluster::event::Tag;
use crate::cluster::ids::{ClientId, TopicPartition};
use crate::sorted::SortedMap;

/// A record that an application got from its consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Of which partition.
    pub partition: TopicPartition,
    /// At which offset.
    pub offset: i64,
    /// Which record.
    pub tag: Tag,
}

/// Two reads that gave different records at one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// What was read there at first.
    pub first: Seen,
    /// What was read there later.
    pub then: Seen,
    /// Who read it later.
    pub by: ClientId,
}

/// Offsets that stand together in one shared piece.
const PIECE: i64 = 64;

/// The record that was first read at each offset of one partition; 0 where nothing was read.
#[derive(Clone, Debug, Default)]
struct FirstSeen(SortedMap<i64, Arc<[u64; PIECE as usize]>>);

impl FirstSeen {
    /// Notes a read; gives back what was read there before, if that was another record.
    fn note(&mut self, offset: i64, tag: u64) -> Option<u64> {
        let piece = self
            .0
            .entry(offset.div_euclid(PIECE))
            .or_insert_with(|| Arc::new([0; PIECE as usize]));
        let at = offset.rem_euclid(PIECE) as usize;
        match piece[at] {
            0 => {
                Arc::make_mut(piece)[at] = tag;
                None
            }
            before => (before != tag).then_some(before),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let tags = self
            .0
            .iter()
            .flat_map(|(piece, tags)| (piece * PIECE..).zip(tags.iter().copied()));
        tags.filter(|read| read.1 != 0)
    }
}

/// All reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    by_client: SortedMap<ClientId, Chunked<Seen>>,
    first: SortedMap<TopicPartition, FirstSeen>,
    /// The first disagreement of all.
    pub disagreement: Option<Disagreement>,
}

impl Reads {
    pub fn note(&mut self, client: ClientId, partition: TopicPartition, records: &[(i64, u64)]) {
        let list = self.by_client.entry(client).or_default();
        let first = self.first.entry(partition).or_default();
        for &(offset, bits) in records {
            let seen = Seen {
                partition,
                offset,
                tag: Tag::from_bits(bits),
            };
            list.push(seen);
            if let (Some(before), None) = (first.note(offset, bits), self.disagreement) {
                let earlier = Seen {
                    tag: Tag::from_bits(before),
                    ..seen
                };
                self.disagreement = Some(Disagreement {
                    first: earlier,
                    then: seen,
                    by: client,
                });
            }
        }
    }

    pub fn of(&self, client: ClientId) -> impl Iterator<Item = &Seen> + '_ {
        self.by_client.get(&client).into_iter().flat_map(Chunked::iter)
    }

    /// Everything that was ever read of a partition, by offset.
    pub fn seen(&self, partition: TopicPartition) -> impl Iterator<Item = (i64, Tag)> + '_ {
        let first = self.first.get(&partition).into_iter();
        first.flat_map(|first| first.iter().map(|(offset, bits)| (offset, Tag::from_bits(bits))))
    }
}
