//! A shard of groups as the broker holds it that coordinates them. Its code is reached through [`Coordinator`] alone, so a
//! program whose worlds hold no group needs none of it (`cluster::later`).

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::cluster::group::Shard;
use crate::cluster::settings::Micros;
use crate::log::{Encoder, Fingerprint};

/// What is asked of a shard by whoever knows only that it is there.
trait Held: fmt::Debug + Send + Sync {
    fn copy(&self) -> Coordinator;
    fn shard(&self) -> &Shard;
    fn shard_mut(&mut self) -> &mut Shard;
    fn equals(&self, other: &Shard) -> bool;
    fn encode(&self, out: &mut Encoder);
    fn encode_times(&self, now: Micros, out: &mut Encoder);
}

impl Held for Shard {
    fn copy(&self) -> Coordinator {
        Coordinator::new(self.clone())
    }

    fn shard(&self) -> &Shard {
        self
    }

    fn shard_mut(&mut self) -> &mut Shard {
        self
    }

    fn equals(&self, other: &Shard) -> bool {
        self == other
    }

    fn encode(&self, out: &mut Encoder) {
        self.fingerprint(out);
    }

    fn encode_times(&self, now: Micros, out: &mut Encoder) {
        self.encode_times(now, out);
    }
}

/// The groups of one partition of `__consumer_offsets`.
pub struct Coordinator(Box<dyn Held>);

impl Coordinator {
    /// Holds a shard.
    pub(super) fn new(shard: Shard) -> Coordinator {
        Coordinator(Box::new(shard))
    }

    /// Encodes what depends on the clock, relative to now.
    pub(super) fn encode_times(&self, now: Micros, out: &mut Encoder) {
        self.0.encode_times(now, out);
    }
}

impl Deref for Coordinator {
    type Target = Shard;

    fn deref(&self) -> &Shard {
        self.0.shard()
    }
}

impl DerefMut for Coordinator {
    fn deref_mut(&mut self) -> &mut Shard {
        self.0.shard_mut()
    }
}

impl Clone for Coordinator {
    fn clone(&self) -> Coordinator {
        self.0.copy()
    }
}

impl PartialEq for Coordinator {
    fn eq(&self, other: &Coordinator) -> bool {
        self.0.equals(other)
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Fingerprint for Coordinator {
    fn fingerprint(&self, out: &mut Encoder) {
        self.0.encode(out);
    }
}
