//! Maps and sets as sorted lists, and sorting itself. The ground that every floor stands on; knows nothing of any of them.
//!
//! Nearly every map of the model is keyed by a few brokers, partitions or clients, or grows at its end only: a sorted
//! [`Vec`] holds such a map as well as a tree does, is copied faster, and its code is a fraction of a tree's, which
//! counts in a page that is downloaded before anything is seen. Iteration goes in the order of the keys, so that nothing
//! depends on a hash. A key put in behind the last one costs O(1), one in between moves what stands behind it.
//!
//! Deliberately absent: whatever of `std::collections::BTreeMap`, whose names these are, nobody here calls. Where keys
//! come in no order and by the hundred thousand, as in a cleaner's offset map, a tree is still the right choice.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, Index, RangeBounds};
use std::{slice, vec};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map in the order of its keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V> {
    items: Vec<(K, V)>,
}

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    pub const fn new() -> Self {
        SortedMap { items: Vec::new() }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Keys with their values, in the order of the keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.items.iter())
    }

    /// Keys with their values, which may be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.items.iter_mut())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.items.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.items.iter().map(|(_, value)| value)
    }

    /// The values in the order of their keys; each may be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator {
        self.items.iter_mut().map(|(_, value)| value)
    }

    /// The keys, owned, in order.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        self.items.into_iter().map(|(key, _)| key)
    }

    /// The first key with its value.
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// Takes the first key out.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.items.is_empty()).then(|| self.items.remove(0))
    }

    /// Keeps the keys for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.items.retain_mut(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Where a key is, or where it would have to be put in.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.items.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        Some(&self.items[at].1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        Some(&mut self.items[at].1)
    }

    /// Whether a key is there.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of a key; gives back the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.items[at].1, value)),
            Err(at) => {
                self.items.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes a key out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).ok()?;
        Some(self.items.remove(at).1)
    }

    /// The place of a key, whether it is there or not.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry {
            place: self.place(&key),
            key,
            items: &mut self.items,
        }
    }

    /// Keys within bounds, with their values.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let from = match range.start_bound() {
            Bound::Included(key) => self.place(key).unwrap_or_else(|at| at),
            Bound::Excluded(key) => self.place(key).map_or_else(|at| at, |at| at + 1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(key) => self.place(key).map_or_else(|at| at, |at| at + 1),
            Bound::Excluded(key) => self.place(key).unwrap_or_else(|at| at),
            Bound::Unbounded => self.items.len(),
        };
        Iter(self.items.get(from..to).unwrap_or_default().iter())
    }

    /// Takes out this key and all behind it.
    pub fn split_off<Q: Ord + ?Sized>(&mut self, key: &Q) -> Self
    where
        K: Borrow<Q>,
    {
        let at = self.place(key).unwrap_or_else(|at| at);
        SortedMap {
            items: self.items.split_off(at),
        }
    }
}

/// Gives the value of a key that is known to be there.
impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Of equal keys the last one counts.
impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, items: I) {
        for (key, value) in items {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut map = SortedMap::new();
        map.extend(items);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(items: [(K, V); N]) -> Self {
        items.into_iter().collect()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut SortedMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<K, V>(SortedMap<K, V>);

        impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Items<K, V> {
            type Value = SortedMap<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut items: A) -> Result<Self::Value, A::Error> {
                while let Some((key, value)) = items.next_entry()? {
                    self.0.insert(key, value);
                }
                Ok(self.0)
            }
        }

        deserializer.deserialize_map(Items(SortedMap::new()))
    }
}

/// Sorts a list; what is equal keeps its order.
///
/// The standard library's sort is made anew for every type and every order, five kilobytes each time. This one sorts
/// places, which have one type, and then moves the items there.
pub fn sort_by<T>(items: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    let places = sorted_places(items.len(), &mut |a, b| order(&items[a], &items[b]));
    for at in 0..places.len() {
        let mut from = places[at];
        // What stood there has been moved to where its own successor came from.
        while from < at {
            from = places[from];
        }
        items.swap(at, from);
    }
}

/// The places of so many items in their order.
fn sorted_places(count: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| order(a, b));
    places
}

/// Keys with their values, in order.
#[derive(Debug)]
pub struct Iter<'a, K, V>(slice::Iter<'a, (K, V)>);

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter(self.0.clone())
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// Keys with their values, in order; the values may be changed.
#[derive(Debug)]
pub struct IterMut<'a, K, V>(slice::IterMut<'a, (K, V)>);

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> ExactSizeIterator for IterMut<'_, K, V> {}

/// The place of a key in a map.
#[derive(Debug)]
pub struct Entry<'a, K, V> {
    items: &'a mut Vec<(K, V)>,
    key: K,
    place: Result<usize, usize>,
}

impl<'a, K, V> Entry<'a, K, V> {
    /// The value; the one that `value` gives if the key was not there.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'a mut V {
        let at = match self.place {
            Ok(at) => at,
            Err(at) => {
                self.items.insert(at, (self.key, value()));
                at
            }
        };
        &mut self.items[at].1
    }

    /// The value; this one if the key was not there.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// The value; the default one if the key was not there.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value if the key is there.
    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Ok(at) = self.place {
            change(&mut self.items[at].1);
        }
        self
    }
}

/// A set in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedSet<T>(SortedMap<T, ()>);

impl<T> SortedSet<T> {
    /// An empty set.
    pub const fn new() -> Self {
        SortedSet(SortedMap::new())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The items in order.
    pub fn iter(&self) -> SetIter<'_, T> {
        SetIter(self.0.iter())
    }

    /// The first item.
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// The last item.
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }

    /// Takes the first item out.
    pub fn pop_first(&mut self) -> Option<T> {
        Some(self.0.pop_first()?.0)
    }

    /// Keeps the items for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|item, ()| keep(item));
    }
}

impl<T: Ord> SortedSet<T> {
    /// Whether an item is there.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(item)
    }

    /// Puts an item in; whether it was not there.
    pub fn insert(&mut self, item: T) -> bool {
        self.0.insert(item, ()).is_none()
    }

    /// Takes an item out; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove(item).is_some()
    }

    /// Whether all items are in `other` too.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|item| other.contains(item))
    }
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        SortedSet::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SortedSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = SortedSet::new();
        set.extend(items);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = SetIntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        SetIntoIter(self.0.into_iter())
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = SetIter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Serialize> Serialize for SortedSet<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Deserialize<'de> + Ord> Deserialize<'de> for SortedSet<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Items of a set in order.
#[derive(Debug)]
pub struct SetIter<'a, T>(Iter<'a, T, ()>);

impl<T> Clone for SetIter<'_, T> {
    fn clone(&self) -> Self {
        SetIter(self.0.clone())
    }
}

impl<'a, T> Iterator for SetIter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().map(|(item, ())| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for SetIter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(item, ())| item)
    }
}

impl<T> ExactSizeIterator for SetIter<'_, T> {}

/// Items of a set, owned, in order.
#[derive(Debug)]
pub struct SetIntoIter<T>(vec::IntoIter<(T, ())>);

impl<T> Iterator for SetIntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|(item, ())| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for SetIntoIter<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(Clone, Debug)]
    enum Act {
        Insert(u8, u16),
        Remove(u8),
        Add(u8, u16),
        PopFirst,
        KeepBelow(u8),
        SplitAt(u8),
    }

    fn act() -> impl Strategy<Value = Act> {
        let key = 0u8..40;
        prop_oneof![
            8 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Act::Insert(key, value)),
            4 => key.clone().prop_map(Act::Remove),
            4 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Act::Add(key, value)),
            1 => Just(Act::PopFirst),
            1 => key.clone().prop_map(Act::KeepBelow),
            1 => key.prop_map(Act::SplitAt),
        ]
    }

    fn listed<'a>(items: impl Iterator<Item = (&'a u8, &'a u16)>) -> Vec<(u8, u16)> {
        items.map(|(key, value)| (*key, *value)).collect()
    }

    proptest! {
        /// Every call answers as the one of the same name of a tree does.
        #[test]
        fn a_map_is_a_tree_map(acts in prop::collection::vec(act(), 0..200), (a, b) in (0u8..40, 0u8..40)) {
            let (mut map, mut tree) = (SortedMap::new(), BTreeMap::new());
            for act in acts {
                match act {
                    Act::Insert(key, value) => prop_assert_eq!(map.insert(key, value), tree.insert(key, value)),
                    Act::Remove(key) => prop_assert_eq!(map.remove(&key), tree.remove(&key)),
                    Act::Add(key, value) => {
                        map.entry(key).and_modify(|held| *held ^= value).or_insert(value);
                        tree.entry(key).and_modify(|held| *held ^= value).or_insert(value);
                    }
                    Act::PopFirst => prop_assert_eq!(map.pop_first(), tree.pop_first()),
                    Act::KeepBelow(key) => {
                        map.retain(|held, value| *held < key || value.is_multiple_of(2));
                        tree.retain(|held, value| *held < key || value.is_multiple_of(2));
                    }
                    Act::SplitAt(key) => {
                        let (behind, tree_behind) = (map.split_off(&key), tree.split_off(&key));
                        prop_assert_eq!(listed(behind.iter()), listed(tree_behind.iter()));
                        map.extend(behind);
                        tree.extend(tree_behind);
                    }
                }
                prop_assert_eq!(listed(map.iter()), listed(tree.iter()));
            }
            prop_assert_eq!(map.get(&a), tree.get(&a));
            prop_assert_eq!(map.first_key_value(), tree.first_key_value());
            let (from, to) = (a.min(b), a.max(b));
            prop_assert_eq!(listed(map.range(from..to)), listed(tree.range(from..to)));
            prop_assert_eq!(listed(map.range(from..=to)), listed(tree.range(from..=to)));
            prop_assert_eq!(listed(map.range(from + 1..).rev()), listed(tree.range(from + 1..).rev()));
            prop_assert_eq!(format!("{map:?}"), format!("{tree:?}"));
            prop_assert_eq!(serde_json::to_string(&map).unwrap(), serde_json::to_string(&tree).unwrap());
            prop_assert_eq!(serde_json::from_str::<SortedMap<u8, u16>>(&serde_json::to_string(&tree).unwrap()).unwrap(), map);
        }

        /// What is sorted is what the standard library makes of it, also where items are equal.
        #[test]
        fn sorting_is_stable(mut items in prop::collection::vec((0u8..8, any::<u16>()), 0..60)) {
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_by(&mut items, |(a, _), (b, _)| a.cmp(b));
            prop_assert_eq!(items, expected);
        }

        /// A set keeps each item once, in order, however they come.
        #[test]
        fn a_set_is_a_tree_set(items in prop::collection::vec(0u8..60, 0..100), gone in prop::collection::vec(0u8..60, 0..50)) {
            let (mut set, mut tree) = (items.iter().copied().collect::<SortedSet<_>>(), items.iter().copied().collect::<BTreeSet<_>>());
            for item in &gone {
                prop_assert_eq!(set.remove(item), tree.remove(item));
            }
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), tree.iter().collect::<Vec<_>>());
            let other = (gone.iter().copied().collect::<SortedSet<_>>(), gone.iter().copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(set.is_subset(&other.0), tree.is_subset(&other.1));
            prop_assert_eq!(format!("{set:?}"), format!("{tree:?}"));
            prop_assert_eq!(set.into_iter().collect::<Vec<_>>(), tree.into_iter().collect::<Vec<_>>());
        }
    }
}
