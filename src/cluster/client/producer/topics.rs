//! Which topics a producer's process has asked the cluster about: before it has, a record of a topic waits.
//!
//! The first process knows the topics of the scenario's set-up. A later one begins with nothing, and asks for a topic when
//! it is first to send to it. Mirrors `KafkaProducer.waitOnMetadata` and the topics of `ProducerMetadata`.

use crate::cluster::ids::TopicId;
use crate::log::Encoder;
use crate::sorted::SortedSet;

/// The topics of a process.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Topics {
    /// Those of the set-up, and all that come: it need not ask.
    OfSetUp,
    /// Those that it has asked about.
    Asked {
        /// And was answered.
        known: SortedSet<TopicId>,
        /// And waits for the answer.
        sought: Option<TopicId>,
    },
}

impl Topics {
    /// Of a process that knows nothing.
    pub(super) fn none() -> Topics {
        Topics::Asked {
            known: SortedSet::new(),
            sought: None,
        }
    }

    /// Whether it has an answer about this topic.
    pub(super) fn knows(&self, topic: TopicId) -> bool {
        match self {
            Topics::OfSetUp => true,
            Topics::Asked { known, .. } => known.contains(&topic),
        }
    }

    /// It needs an answer about this topic. Says whether it has to ask for it.
    pub(super) fn seek(&mut self, topic: TopicId) -> bool {
        match self {
            Topics::OfSetUp => false,
            Topics::Asked { known, .. } if known.contains(&topic) => false,
            Topics::Asked { sought, .. } => sought.replace(topic) != Some(topic),
        }
    }

    /// The answer has come.
    pub(super) fn answered(&mut self) {
        if let Topics::Asked { known, sought } = self {
            known.extend(sought.take());
        }
    }

    /// A topic was created, which everybody knows at once.
    pub(super) fn created(&mut self, topic: TopicId) {
        if let Topics::Asked { known, .. } = self {
            known.insert(topic);
        }
    }

    /// The canonical encoding.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        // Only processes that were started again differ.
        if let Topics::Asked { known, sought } = self {
            encoder.len(known.len());
            known.iter().for_each(|topic| encoder.u16(topic.0));
            encoder.option(*sought, |encoder, topic| encoder.u16(topic.0));
        }
    }
}
