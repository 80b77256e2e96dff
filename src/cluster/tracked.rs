//! Parts of the world that snapshots share: cheap to clone, copied when they are changed, fingerprinted once.
//!
//! What a part's fingerprint holds must not depend on the clock; deadlines enter relative to now and are never cached.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::log::Fingerprint;

#[derive(Clone)]
struct Slot<T> {
    value: T,
    digest: OnceLock<u128>,
}

/// A shared part with its fingerprint.
pub struct Tracked<T>(Arc<Slot<T>>);

impl<T> Clone for Tracked<T> {
    fn clone(&self) -> Self {
        Tracked(Arc::clone(&self.0))
    }
}

impl<T> Tracked<T> {
    /// Begins to track a value.
    pub fn new(value: T) -> Self {
        Tracked(Arc::new(Slot {
            value,
            digest: OnceLock::new(),
        }))
    }

    /// Whether both are the same value in memory, and so equal.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Clone> Tracked<T> {
    /// The value, to be changed: copied first if a snapshot shares it; its fingerprint is forgotten.
    pub fn make_mut(&mut self) -> &mut T {
        let slot = Arc::make_mut(&mut self.0);
        slot.digest.take();
        &mut slot.value
    }
}

impl<T: Fingerprint> Tracked<T> {
    /// The fingerprint of the value.
    pub fn digest(&self) -> u128 {
        *self.0.digest.get_or_init(|| self.0.value.digest())
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Tracked<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.value.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Tracked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.0.value == other.0.value
    }
}
