//! A growing sequence that many snapshots share.
//!
//! A log only ever grows at its end, and every step of a history keeps a snapshot of it. So the items stand in
//! chunks of [`CHUNK`] behind `Arc`: a clone costs two reference counts, and the first push after a clone copies at
//! most one chunk. A running digest over all items is kept so that a fingerprint does not walk the sequence.
//!
//! Deliberately absent: insertion and removal anywhere but at the end.

use std::sync::Arc;

/// Items per shared chunk: small, because a push after a clone copies up to this many.
const CHUNK: usize = 16;

/// What a rope can hold: each item folds itself into the digest of those before it.
pub trait Item: Clone {
    /// The digest of the sequence that ends with this item, given the digest of what stands before it.
    fn chain(&self, before: u128) -> u128;
}

/// A sequence that is cheap to clone and to extend.
#[derive(Clone, Debug)]
pub struct Rope<T> {
    full: Arc<Vec<Arc<Vec<T>>>>,
    tail: Arc<Vec<T>>,
    chain: u128,
}

impl<T> Default for Rope<T> {
    fn default() -> Self {
        Self {
            full: Arc::default(),
            tail: Arc::default(),
            chain: 0,
        }
    }
}

impl<T: Item> Rope<T> {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK + self.tail.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.tail.is_empty() && self.full.is_empty()
    }

    /// The item at an index.
    pub fn get(&self, index: usize) -> Option<&T> {
        match self.full.get(index / CHUNK) {
            Some(chunk) => chunk.get(index % CHUNK),
            None => self.tail.get(index - self.full.len() * CHUNK),
        }
    }

    /// The first item.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last item.
    pub fn last(&self) -> Option<&T> {
        self.tail
            .last()
            .or_else(|| self.full.last().and_then(|chunk| chunk.last()))
    }

    /// The digest of the whole sequence.
    pub fn digest(&self) -> u128 {
        self.chain
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        self.chain = item.chain(self.chain);
        if self.tail.len() == CHUNK {
            let chunk = std::mem::take(&mut self.tail);
            Arc::make_mut(&mut self.full).push(chunk);
        }
        Arc::make_mut(&mut self.tail).push(item);
    }

    /// Drops every item from an index on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            *self = self.iter().take(len).cloned().collect();
        }
    }

    /// All items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(self.tail.iter())
    }

    /// The items from an index on, without walking those before it.
    pub fn iter_from(&self, index: usize) -> impl Iterator<Item = &T> + Clone {
        (index..self.len()).filter_map(|index| self.get(index))
    }

    /// The index of the first item for which `before` is false; the items must be partitioned by it.
    pub fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let chunks = self.full.partition_point(|chunk| chunk.last().is_some_and(&before));
        let chunk = self.full.get(chunks).unwrap_or(&self.tail);
        chunks * CHUNK + chunk.partition_point(&before)
    }
}

impl<T: Item> FromIterator<T> for Rope<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut rope = Self::default();
        items.into_iter().for_each(|item| rope.push(item));
        rope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Item for u32 {
        fn chain(&self, before: u128) -> u128 {
            before.wrapping_mul(31).wrapping_add(u128::from(*self))
        }
    }

    #[test]
    fn a_rope_is_a_vector() {
        for count in [0, 1, 15, 16, 17, 32, 33, 100] {
            let model: Vec<u32> = (0..count).collect();
            let rope: Rope<u32> = model.iter().copied().collect();
            assert_eq!(rope.len(), model.len());
            assert_eq!(rope.iter().copied().collect::<Vec<_>>(), model);
            assert_eq!(rope.last(), model.last());
            for probe in 0..count + 2 {
                assert_eq!(
                    rope.partition_point(|item| *item < probe),
                    model.partition_point(|item| *item < probe)
                );
                assert_eq!(rope.get(probe as usize), model.get(probe as usize));
                let mut cut = rope.clone();
                cut.truncate(probe as usize);
                let expected: Rope<u32> = model.iter().take(probe as usize).copied().collect();
                assert_eq!((cut.len(), cut.digest()), (expected.len(), expected.digest()));
            }
        }
    }
}
