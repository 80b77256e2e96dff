//! The first floor: brokers, controller, network, producers and consumers as one deterministic state machine.
//!
//! [`World`] is everything at one instant, [`Input`] what can be done to it, [`step()`] the one place where it changes,
//! [`Event`] what happened and by which rule. Brokers, clients and the controller are actors: each changes only itself
//! and leaves effects, which the world carries out. What it must not know: text, history, screens.

mod act;
pub mod actor;
pub mod assignor;
pub mod broker;
pub mod chance;
pub mod client;
mod contact;
pub mod controller;
pub mod controller_node;
mod encode;
pub mod event;
mod fault;
pub mod group;
mod group_view;
mod heartbeats;
pub mod ids;
pub mod image;
pub mod input;
pub mod invariants;
pub(crate) mod later;
pub mod message;
pub mod network;
pub mod partitioner;
pub mod rules;
pub mod settings;
pub mod step;
#[cfg(test)]
mod tests;
pub mod timers;
pub(crate) mod topic_name;
pub mod tracked;
pub mod world;

pub(crate) use act::topics::MOST_PARTITIONS;
pub use controller::ElrFeature;
pub use event::{Event, Silent, Sink, Tag, What};
pub use ids::{BrokerId, ClientId, GroupId, Node, TopicId, TopicPartition};
pub use input::{Input, Refused};
pub use rules::Rule;
pub use step::step;
pub(crate) use step::within_time;
pub use world::{Setup, World};
