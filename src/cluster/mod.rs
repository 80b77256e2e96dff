//! The first floor: brokers, controller, network, producers and consumers as one deterministic state machine.
//!
//! [`Input`] is what can be done to a world, [`Event`] what happened and by which rule. Brokers, clients and the
//! controller are actors: each changes only itself and leaves effects, which the world carries out. What it must not
//! know: text, history, screens.

pub mod actor;
pub mod chance;
pub mod controller;
pub mod event;
pub mod ids;
pub mod image;
pub mod input;
pub mod message;
pub mod network;
pub mod partitioner;
pub mod rules;
pub mod settings;
pub mod timers;
pub mod tracked;

pub use event::{Event, Silent, Sink, Tag, What};
pub use ids::{BrokerId, ClientId, Node, TopicId, TopicPartition};
pub use input::{Input, Refused};
pub use rules::Rule;
