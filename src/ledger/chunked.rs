//! A list that is cheap to clone: its items lie in shared chunks, and a change copies one chunk at most.
//!
//! Checkpoints of a run hold many ledgers that differ in their last few records. Items are added behind and taken away
//! at either end; whatever stands between stays at its index. Deliberately absent: insertion in the middle.

use std::sync::Arc;

/// Items in one chunk: a change behind a checkpoint copies so many at most.
const CHUNK: usize = 64;

/// A growing list in shared chunks. Indices count from the first item that was ever pushed, also after
/// [`drop_front`](Chunked::drop_front).
#[derive(Clone, Debug)]
pub struct Chunked<T> {
    chunks: Vec<Arc<Vec<T>>>,
    /// Index of the first item that is still there.
    start: usize,
    /// Index behind the last one.
    end: usize,
    /// Index of the first item of the first chunk, a multiple of [`CHUNK`].
    base: usize,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Chunked {
            chunks: Vec::new(),
            start: 0,
            end: 0,
            base: 0,
        }
    }
}

impl<T: Clone> Chunked<T> {
    /// Index of the first item.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Index behind the last item.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The item at an index.
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.start || index >= self.end {
            return None;
        }
        let at = index - self.base;
        self.chunks.get(at / CHUNK)?.get(at % CHUNK)
    }

    /// The item at an index, to be changed.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.start || index >= self.end {
            return None;
        }
        let at = index - self.base;
        Arc::make_mut(self.chunks.get_mut(at / CHUNK)?).get_mut(at % CHUNK)
    }

    /// The last item.
    pub fn last(&self) -> Option<&T> {
        self.get(self.end.checked_sub(1)?)
    }

    /// Adds an item behind.
    pub fn push(&mut self, item: T) {
        if (self.end - self.base).is_multiple_of(CHUNK) {
            self.chunks.push(Arc::new(Vec::with_capacity(CHUNK)));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            Arc::make_mut(chunk).push(item);
            self.end += 1;
        }
    }

    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        if self.end == self.start {
            return None;
        }
        let chunk = Arc::make_mut(self.chunks.last_mut()?);
        let item = chunk.pop();
        if chunk.is_empty() {
            self.chunks.pop();
        }
        self.end -= 1;
        item
    }

    /// Takes the first item away.
    pub fn drop_front(&mut self) -> Option<T> {
        let item = self.get(self.start)?.clone();
        self.start += 1;
        while self.start - self.base >= CHUNK && !self.chunks.is_empty() {
            self.chunks.remove(0);
            self.base += CHUNK;
        }
        Some(item)
    }

    /// The items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + '_ {
        (self.start..self.end).filter_map(|index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Debug)]
    enum Act {
        Push,
        Pop,
        DropFront,
        Change(usize),
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![6 => Just(Act::Push), 2 => Just(Act::Pop), 2 => Just(Act::DropFront), 1 => (0usize..400).prop_map(Act::Change)]
    }

    proptest! {
        /// A chunked list is a double-ended queue, and a clone taken in between never changes.
        #[test]
        fn behaves_like_a_queue(acts in prop::collection::vec(act(), 0..400), kept_at in 0usize..400) {
            let (mut list, mut model) = (Chunked::default(), VecDeque::new());
            let mut kept = None;
            for (n, act) in acts.into_iter().enumerate() {
                if n == kept_at {
                    kept = Some((list.clone(), model.clone()));
                }
                match act {
                    Act::Push => { list.push(n); model.push_back(n); }
                    Act::Pop => prop_assert_eq!(list.pop(), model.pop_back()),
                    Act::DropFront => prop_assert_eq!(list.drop_front(), model.pop_front()),
                    Act::Change(at) => {
                        if let Some(item) = list.get_mut(list.start() + at) { *item += 1000; }
                        if let Some(item) = model.get_mut(at) { *item += 1000; }
                    }
                }
            }
            for (list, model) in [Some((list, model)), kept].into_iter().flatten() {
                prop_assert_eq!(list.iter().copied().collect::<Vec<_>>(), Vec::from(model));
            }
        }
    }
}
