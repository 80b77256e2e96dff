//! The map of sessions in the order in which Java walks it, which decides who of several silent brokers is fenced first.
//!
//! The order is by bucket, and within a bucket by insertion; the bucket comes from some low bits of `31 · id + epoch`.
//! The map begins with 16 buckets and grows when twelve sessions fill it, or when a heartbeat writes the eighth or a
//! later entry of one bucket: brokers that registered one after another are all in the same one. A map that grows turns
//! some of the order in its buckets round. It never shrinks.
//!
//! Deliberately absent: buckets that turn into trees (nine sessions in one of 64 buckets or more).
//! Mirrors `java.util.concurrent.ConcurrentHashMap` as `BrokerHeartbeatTracker` uses it.

use crate::cluster::controller::session::{LastContact, SessionKey};

/// With how many buckets a map begins.
const BUCKETS: u32 = 16;

/// A write that passes so many entries of a bucket finds it crowded.
const CROWDED: usize = 8;

/// A map with so many buckets does not grow because one of them is crowded.
const AMPLE: u32 = 64;

type Entry = (SessionKey, LastContact);

/// When each session was renewed last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionMap {
    buckets: u32,
    /// By bucket, and within a bucket in Java's order.
    entries: Vec<Entry>,
}

impl Default for SessionMap {
    fn default() -> Self {
        SessionMap {
            buckets: BUCKETS,
            entries: Vec::new(),
        }
    }
}

/// A key's hash, with its upper half folded into the lower.
fn hash((broker, epoch): SessionKey) -> u32 {
    let epoch_hash = (epoch ^ (epoch >> 32)) as u32;
    let hash = u32::from(broker.0).wrapping_mul(31).wrapping_add(epoch_hash);
    hash ^ (hash >> 16)
}

impl SessionMap {
    /// The entries in Java's order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many buckets there are, once the map has grown.
    pub fn grown_to(&self) -> Option<u32> {
        Some(self.buckets).filter(|&buckets| buckets != BUCKETS)
    }

    /// Writes a session's contact.
    pub fn put(&mut self, key: SessionKey, contact: LastContact) {
        let bucket = self.bucket(key);
        let first = self.entries.partition_point(|&(known, _)| self.bucket(known) < bucket);
        let known = self.entries.iter().position(|&(known, _)| known == key);
        let at = known.unwrap_or_else(|| self.entries.partition_point(|&(known, _)| self.bucket(known) <= bucket));
        match known {
            Some(at) => self.entries[at].1 = contact,
            None => self.entries.insert(at, (key, contact)),
        }
        // A new entry passes those before it, and one that is there passes itself, too. Whoever is heard all the time
        // will soon write its entry again.
        let again = known.is_some() || contact == LastContact::Continuous;
        if at - first + usize::from(again) >= CROWDED && self.buckets < AMPLE {
            // Java asks for twice the buckets and takes eight times as many.
            (0..3).for_each(|_| self.double());
        }
        while self.entries.len() >= self.buckets as usize / 4 * 3 {
            self.double();
        }
    }

    /// Removes the first entry of which this holds.
    pub fn remove_first(&mut self, condition: impl Fn(LastContact) -> bool) -> Option<SessionKey> {
        let at = self.entries.iter().position(|&(_, contact)| condition(contact))?;
        Some(self.entries.remove(at).0)
    }

    fn bucket(&self, key: SessionKey) -> u32 {
        hash(key) & (self.buckets - 1)
    }

    /// Every bucket is split into one of its number and one as many further on as there were.
    fn double(&mut self) {
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for bucket in self.entries.chunk_by(|a, b| self.bucket(a.0) == self.bucket(b.0)) {
            low.extend(half(bucket, self.buckets, 0));
            high.extend(half(bucket, self.buckets, self.buckets));
        }
        low.append(&mut high);
        self.buckets *= 2;
        self.entries = low;
    }
}

/// The entries of a bucket that have this value in the new bit. Those at its end that all have the same are moved as
/// they are; those before them are put in front, one by one.
fn half(bucket: &[Entry], bit: u32, value: u32) -> impl Iterator<Item = Entry> {
    let side = move |entry: &Entry| hash(entry.0) & bit;
    let run = (1..bucket.len())
        .rev()
        .find(|&at| side(&bucket[at]) != side(&bucket[at - 1]))
        .unwrap_or(0);
    let (before, run) = bucket.split_at(run);
    let all = before.iter().rev().chain(run).copied();
    all.filter(move |entry| side(entry) == value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ids::BrokerId;

    /// With consecutive epochs `31 · id + epoch` is a multiple of 32 apart.
    fn put(map: &mut SessionMap, broker: u16) {
        map.put((BrokerId(broker), i64::from(broker)), LastContact::At(0));
    }

    fn order(map: &SessionMap) -> Vec<u16> {
        map.entries().iter().map(|((broker, _), _)| broker.0).collect()
    }

    #[test]
    fn a_heartbeat_of_the_eighth_in_a_bucket_turns_the_order_round() {
        let mut map = SessionMap::default();
        (0..8).for_each(|broker| put(&mut map, broker));
        assert_eq!((order(&map), map.grown_to()), ((0..8).collect(), None));
        put(&mut map, 7);
        assert_eq!(map.grown_to(), Some(128));
        assert_eq!(order(&map), [4, 0, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn whoever_is_heard_all_the_time_counts_as_heard_again() {
        let mut map = SessionMap::default();
        for broker in 0..8 {
            map.put((BrokerId(broker), i64::from(broker)), LastContact::Continuous);
        }
        assert_eq!(map.grown_to(), Some(128));
    }

    #[test]
    fn twelve_sessions_are_too_many_for_sixteen_buckets() {
        let mut map = SessionMap::default();
        for epoch in 0..11 {
            map.put((BrokerId(0), epoch), LastContact::At(0));
        }
        assert_eq!(map.grown_to(), None);
        map.put((BrokerId(0), 16), LastContact::At(0));
        assert_eq!(map.grown_to(), Some(32));
        let last = map.entries().last().map(|&((_, epoch), _)| epoch);
        assert_eq!(last, Some(16), "no more in the bucket of epoch 0");
    }
}
