//! What is asked of a consumer. Its code is reached through [`Reads`] alone, so a program whose worlds hold no consumer
//! needs none of it (`cluster::later`).

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::cluster::actor::{Cx, Timer};
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::cluster::image::{Image, PartitionImage};
use crate::cluster::input::SeekTo;
use crate::cluster::message::Message;
use crate::cluster::settings::Micros;
use crate::config::ConfigError;
use crate::log::{Encoder, Fingerprint};

use super::{Consumer, News};

/// Declares the trait, and that the consumer does each thing by its own method of the same name.
macro_rules! reads {
    (asked { $($(#[$about:meta])* fn $ask:ident($($name:ident: $Type:ty),*) -> $Answer:ty;)* }
     does { $($(#[$what:meta])* fn $act:ident($($given:ident: $Given:ty),*) $(-> $Came:ty)?;)* }) => {
        /// A consumer's process.
        pub trait Reads: fmt::Debug + Send + Sync {
            /// A copy of it.
            fn copy(&self) -> Reader;
            /// The consumer itself.
            fn consumer(&self) -> &Consumer;
            /// Whether it is equal to another.
            fn equals(&self, other: &Consumer) -> bool;
            /// Its canonical encoding.
            fn encode(&self, encoder: &mut Encoder);
            $($(#[$about])* fn $ask(&self, $($name: $Type),*) -> $Answer;)*
            $($(#[$what])* fn $act(&mut self, $($given: $Given),*) $(-> $Came)?;)*
        }

        impl Reads for Consumer {
            fn copy(&self) -> Reader {
                Reader::new(self.clone())
            }

            fn consumer(&self) -> &Consumer {
                self
            }

            fn equals(&self, other: &Consumer) -> bool {
                self == other
            }

            fn encode(&self, encoder: &mut Encoder) {
                self.fingerprint(encoder);
            }

            $(fn $ask(&self, $($name: $Type),*) -> $Answer {
                self.$ask($($name),*)
            })*

            $(fn $act(&mut self, $($given: $Given),*) $(-> $Came)? {
                self.$act($($given),*)
            })*
        }
    };
}

reads! {
    asked {
        /// See [`Client::name`](super::Client::name).
        fn name() -> &str;
        /// See [`Client::is_running`](super::Client::is_running).
        fn is_running() -> bool;
        /// See [`Client::is_closing`](super::Client::is_closing).
        fn is_closing() -> bool;
        /// See [`Client::undecided`](super::Client::undecided).
        fn undecided() -> u32;
        /// See [`Client::is_quiet`](super::Client::is_quiet).
        fn is_quiet() -> bool;
        /// See [`Client::wants_news`](super::Client::wants_news).
        fn wants_news() -> Option<News>;
        /// See [`Client::reads`](super::Client::reads).
        fn reads(tp: TopicPartition) -> bool;
        /// See [`Client::position`](super::Client::position).
        fn position(tp: TopicPartition) -> Option<i64>;
        /// See [`Client::refreshes_at`](super::Client::refreshes_at).
        fn refreshes_at(now: Micros) -> Micros;
        /// See [`Client::would_learn`](super::Client::would_learn).
        fn would_learn(image: &Image) -> bool;
        /// See [`Client::encode_times`](super::Client::encode_times).
        fn encode_times(now: Micros, encoder: &mut Encoder) -> ();
    }
    does {
        /// See [`Client::set_all`](super::Client::set_all).
        fn set_all(configs: &[(String, String)]) -> Result<(), ConfigError>;
        /// See [`Client::begin`](super::Client::begin).
        fn begin(cx: &mut Cx<'_>);
        /// It does what there is to do.
        fn go_on(cx: &mut Cx<'_>);
        /// See [`Client::topics_created`](super::Client::topics_created).
        fn topics_created(new: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx<'_>);
        /// See [`Client::on_message`](super::Client::on_message).
        fn on_message(from: BrokerId, message: Message, cx: &mut Cx<'_>);
        /// See [`Client::on_timer`](super::Client::on_timer).
        fn on_timer(timer: Timer, cx: &mut Cx<'_>);
        /// See [`Client::on_lost`](super::Client::on_lost).
        fn on_lost(peer: BrokerId, cx: &mut Cx<'_>);
        /// See [`Client::on_reachable`](super::Client::on_reachable).
        fn on_reachable(peer: BrokerId, cx: &mut Cx<'_>);
        /// See [`Client::poll`](super::Client::poll).
        fn poll(max: Option<u32>, cx: &mut Cx<'_>);
        /// See [`Client::seek`](super::Client::seek).
        fn seek(tp: TopicPartition, to: SeekTo, cx: &mut Cx<'_>);
        /// See [`Client::commit`](super::Client::commit).
        fn commit(offsets: &[(TopicPartition, i64)], cx: &mut Cx<'_>);
        /// See [`Client::close`](super::Client::close).
        fn close(cx: &mut Cx<'_>);
        /// See [`Client::kill`](super::Client::kill).
        fn kill(cx: &mut Cx<'_>);
        /// See [`Client::start`](super::Client::start).
        fn start(cx: &mut Cx<'_>);
    }
}

/// A consumer as a world holds it.
pub struct Reader(Box<dyn Reads>);

impl Reader {
    /// Holds a consumer.
    pub(super) fn new(consumer: Consumer) -> Reader {
        Reader(Box::new(consumer))
    }
}

impl Deref for Reader {
    type Target = dyn Reads;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

impl Clone for Reader {
    fn clone(&self) -> Reader {
        self.copy()
    }
}

impl PartialEq for Reader {
    fn eq(&self, other: &Reader) -> bool {
        self.equals(other.consumer())
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Fingerprint for Reader {
    fn fingerprint(&self, encoder: &mut Encoder) {
        self.0.encode(encoder);
    }
}
