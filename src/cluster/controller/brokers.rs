//! A broker's life as the controller sees it: registration, heartbeats, fencing, controlled shutdown, removal.
//!
//! A broker registers and begins fenced; a heartbeat that shows that it has read the metadata log up to its own
//! registration unfences it; one with a wish to stop starts a controlled shutdown, which ends when the broker leads
//! nothing and every active broker has read what moved its leaderships; silence fences it.
//!
//! Deliberately absent: listeners, racks, supported features, several data directories and cordoned ones.
//! Mirrors `ClusterControlManager`, `BrokerHeartbeatManager` and the broker part of `ReplicationControlManager`.

use crate::cluster::Rule;
use crate::cluster::controller::Controller;
use crate::cluster::controller::builder::ElrFeature;
use crate::cluster::controller::change::{Fencing, Outcome, Record};
use crate::cluster::controller::partition::DirectoryId;
use crate::cluster::controller::session::LastContact;
use crate::cluster::ids::{BrokerId, TopicPartition};
use crate::log::Errors;
use std::sync::Arc;

/// The epoch that an unknown broker would have had to bring to count as cleanly stopped. A broker brings −1; only a request
/// that was made by hand can bring this one.
const UNKNOWN_EPOCH: i64 = -2;

/// A registered broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Which process registered: another number is another process.
    pub incarnation: u64,
    /// The broker epoch: the metadata offset at which its registration was begun.
    pub epoch: i64,
    /// The metadata offset of the registration itself, which the broker must have read before it is unfenced.
    pub registered_at: i64,
    /// Whether it is fenced.
    pub fenced: bool,
    /// Whether it is in controlled shutdown. Survives fencing; only a new registration ends it.
    pub in_controlled_shutdown: bool,
    /// Its data directory.
    pub directory: DirectoryId,
    /// The metadata offset that its last heartbeat told, or −1. Any change of the registration forgets it.
    pub metadata_offset: i64,
    /// While its heartbeats are those of a controlled shutdown: the metadata offset that the others must have read.
    pub controlled_shutdown_offset: Option<i64>,
}

impl Broker {
    /// Whether it may lead and be in an ISR: neither fenced nor shutting down.
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }

    fn state(&self) -> BrokerState {
        match (self.controlled_shutdown_offset, self.fenced) {
            (Some(_), _) => BrokerState::ControlledShutdown,
            (None, true) => BrokerState::Fenced,
            (None, false) => BrokerState::Unfenced,
        }
    }
}

/// What a broker sends when its process starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistrationRequest {
    /// Its `node.id`.
    pub broker: BrokerId,
    /// The number of its process.
    pub incarnation: u64,
    /// The broker epoch in its clean-shutdown file, or −1 without one.
    pub previous_epoch: i64,
    /// Its data directory.
    pub directory: DirectoryId,
}

/// What a broker asks for with a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// To go on, or to be unfenced.
    Run,
    /// To be fenced.
    Fence,
    /// To shut down under control.
    ShutDown,
    /// To shut down and be fenced at once.
    FenceAndShutDown,
}

/// A heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeartbeatRequest {
    /// The sender.
    pub broker: BrokerId,
    /// The sender's broker epoch.
    pub epoch: i64,
    /// How far the sender has read the metadata log.
    pub metadata_offset: i64,
    /// What it wishes.
    pub wish: Wish,
}

/// The answer to a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// Whether the broker has read its own registration.
    pub caught_up: bool,
    /// Whether it is fenced now.
    pub fenced: bool,
    /// Whether it is in controlled shutdown and must go on waiting.
    pub in_controlled_shutdown: bool,
    /// Whether it may shut down now.
    pub should_shut_down: bool,
}

/// What one run of the stale-session check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleCheck {
    /// No session has ended.
    Nobody,
    /// The session of an earlier registration, or of a broker that is gone, was forgotten. The check runs again at once.
    Forgotten(BrokerId),
    /// This broker was fenced. The check runs again at once.
    Fenced(BrokerId),
}

/// The states between which heartbeats move a broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BrokerState {
    Fenced,
    Unfenced,
    ControlledShutdown,
    ShutdownNow,
}

impl Controller {
    /// Registers a broker and answers its epoch, or `DUPLICATE_BROKER_REGISTRATION` while the session of another
    /// incarnation is valid.
    ///
    /// A new incarnation begins fenced. With ELR on, one that does not bring the epoch of its last registration did not
    /// stop cleanly and leaves ISRs and ELRs; otherwise it leaves the ISRs like a fenced broker.
    pub fn register(&mut self, now_ms: i64, request: RegistrationRequest) -> Outcome<Result<i64, Errors>> {
        let RegistrationRequest {
            broker,
            incarnation,
            previous_epoch,
            directory,
        } = request;
        let stored = self.brokers.get(&broker);
        if let Some(known) = stored.filter(|known| known.incarnation == incarnation) {
            let epoch = known.epoch;
            let record = Record::Register {
                broker,
                incarnation,
                directory,
                epoch,
                fencing: Fencing::AsBefore,
            };
            return self.commit(Ok(epoch), vec![record]);
        }
        let timeout = self.settings.session_timeout_ms;
        let in_session = stored.is_some_and(|known| self.sessions.is_valid((broker, known.epoch), timeout, now_ms));
        if in_session && self.holds(Rule::DuplicateRegistration) {
            return Outcome::refused(Err(Errors::DuplicateBrokerRegistration));
        }
        let clean = stored.map_or(UNKNOWN_EPOCH, |known| known.epoch) == previous_epoch;
        let epoch = self.next_offset;
        let trusted = self.elr == ElrFeature::Off || clean || !self.holds(Rule::IsrUnclean);
        let mut records = if trusted {
            self.remove_from_isrs(broker, self.partitions_in_sync(broker), Rule::IsrFenced)
        } else {
            self.drop_unclean(broker)
        };
        records.push(Record::Register {
            broker,
            incarnation,
            directory,
            epoch,
            fencing: Fencing::New,
        });
        self.commit(Ok(epoch), records)
    }

    /// Handles a heartbeat. `contact` renews the session, even if the answer is `STALE_BROKER_EPOCH`.
    pub fn heartbeat(
        &mut self,
        contact: LastContact,
        request: HeartbeatRequest,
    ) -> Outcome<Result<HeartbeatReply, Errors>> {
        let HeartbeatRequest {
            broker,
            epoch,
            metadata_offset,
            ..
        } = request;
        Arc::make_mut(&mut self.sessions).renew((broker, epoch), contact);
        let Some(known) = self.brokers.get(&broker).filter(|known| known.epoch == epoch) else {
            return Outcome::refused(Err(Errors::StaleBrokerEpoch));
        };
        let caught_up = metadata_offset >= known.registered_at;
        let (current, next) = (known.state(), self.next_state(known, &request));
        let records = if current == next {
            Vec::new()
        } else {
            self.enter(broker, next)
        };
        let fenced = matches!(next, BrokerState::Fenced | BrokerState::ShutdownNow);
        if let Some(known) = Arc::make_mut(&mut self.brokers).get_mut(&broker) {
            known.metadata_offset = metadata_offset;
            if fenced {
                known.controlled_shutdown_offset = None;
            }
        }
        let reply = HeartbeatReply {
            caught_up,
            fenced,
            in_controlled_shutdown: next == BrokerState::ControlledShutdown,
            should_shut_down: next == BrokerState::ShutdownNow,
        };
        let outcome = self.commit(Ok(reply), records);
        if next == BrokerState::ControlledShutdown {
            self.wait_for_others(broker);
        }
        outcome
    }

    fn next_state(&self, known: &Broker, request: &HeartbeatRequest) -> BrokerState {
        let current = known.state();
        match (current, request.wish) {
            (BrokerState::ControlledShutdown, _) => {
                let lowest = self.lowest_active_offset();
                let told = known.controlled_shutdown_offset.is_some_and(|offset| offset <= lowest);
                if told && !self.has_leaderships(request.broker) {
                    BrokerState::ShutdownNow
                } else {
                    current
                }
            }
            (BrokerState::Fenced, Wish::ShutDown | Wish::FenceAndShutDown) => BrokerState::ShutdownNow,
            (BrokerState::Fenced, Wish::Run)
                if request.metadata_offset >= known.registered_at && self.holds(Rule::Unfence) =>
            {
                BrokerState::Unfenced
            }
            (BrokerState::Unfenced, Wish::FenceAndShutDown) => BrokerState::ShutdownNow,
            (BrokerState::Unfenced, Wish::Fence) => BrokerState::Fenced,
            (BrokerState::Unfenced, Wish::ShutDown) if self.has_leaderships(request.broker) => {
                BrokerState::ControlledShutdown
            }
            (BrokerState::Unfenced, Wish::ShutDown) => BrokerState::ShutdownNow,
            _ => current,
        }
    }

    /// The lowest metadata offset among active brokers; without one there is nobody to wait for.
    fn lowest_active_offset(&self) -> i64 {
        let active = self
            .brokers
            .values()
            .filter(|known| known.state() == BrokerState::Unfenced);
        active.map(|known| known.metadata_offset).min().unwrap_or(i64::MAX)
    }

    fn enter(&self, broker: BrokerId, next: BrokerState) -> Vec<Record> {
        match next {
            BrokerState::Fenced => self.fence(broker, Rule::Act),
            BrokerState::ShutdownNow => self.fence(broker, Rule::ControlledShutdown),
            BrokerState::Unfenced => {
                let mut records = vec![Record::Unfence { broker }];
                records.extend(self.update_partitions(self.partitions_without_leader(), Trigger::Back(broker)));
                records
            }
            BrokerState::ControlledShutdown => {
                let begins = self
                    .brokers
                    .get(&broker)
                    .is_some_and(|known| !known.in_controlled_shutdown);
                let mut records: Vec<Record> = begins.then_some(Record::ShuttingDown { broker }).into_iter().collect();
                let led = self.partitions_in_sync(broker);
                records.extend(self.remove_from_isrs(broker, led, Rule::ControlledShutdown));
                records
            }
        }
    }

    /// The other brokers must read everything up to here before this one may go.
    fn wait_for_others(&mut self, broker: BrokerId) {
        let last = self.next_offset - 1;
        if let Some(known) = Arc::make_mut(&mut self.brokers).get_mut(&broker) {
            known.controlled_shutdown_offset.get_or_insert(last);
        }
    }

    fn fence(&self, broker: BrokerId, rule: Rule) -> Vec<Record> {
        let mut records = self.remove_from_isrs(broker, self.partitions_in_sync(broker), Rule::IsrFenced);
        records.push(Record::Fence { broker, rule });
        records
    }

    fn remove_from_isrs(&self, broker: BrokerId, partitions: Vec<TopicPartition>, rule: Rule) -> Vec<Record> {
        self.update_partitions(partitions, Trigger::Gone(broker, rule))
    }

    /// The two lists are worked through one after the other, each from the state before.
    fn drop_unclean(&self, broker: BrokerId) -> Vec<Record> {
        let listed = self.elr_index.partitions(broker).collect();
        let mut records = self.update_partitions(self.partitions_in_sync(broker), Trigger::Unclean(broker));
        records.extend(self.update_partitions(listed, Trigger::Unclean(broker)));
        records
    }

    /// Removes a broker's registration. It leaves the ISRs like a fenced one.
    pub fn unregister(&mut self, broker: BrokerId) -> Outcome<Result<(), Errors>> {
        if !self.brokers.contains_key(&broker) {
            return Outcome::refused(Err(Errors::BrokerIdNotRegistered));
        }
        let listed = self.elr_index.partitions(broker).collect();
        let mut records = self.remove_from_isrs(broker, self.partitions_in_sync(broker), Rule::IsrFenced);
        records.extend(self.remove_from_isrs(broker, listed, Rule::IsrFenced));
        records.push(Record::Unregister { broker });
        self.commit(Ok(()), records)
    }

    /// One run of the stale-session check: ends at most one session.
    pub fn check_stale(&mut self, now_ms: i64) -> Outcome<StaleCheck> {
        let timeout = self.settings.session_timeout_ms;
        if self.sessions.first_end(timeout).is_none_or(|end| end > now_ms) {
            return Outcome::refused(StaleCheck::Nobody);
        }
        let Some((broker, epoch)) = Arc::make_mut(&mut self.sessions).remove_ended(timeout, now_ms) else {
            return Outcome::refused(StaleCheck::Nobody);
        };
        if self.brokers.get(&broker).is_none_or(|known| known.epoch != epoch) {
            return Outcome::refused(StaleCheck::Forgotten(broker));
        }
        let records = self.fence(broker, Rule::Session);
        self.commit(StaleCheck::Fenced(broker), records)
    }

    /// A broker fell silent; it was heard last at `last_contact_ms`.
    pub fn silence(&mut self, broker: BrokerId, last_contact_ms: i64) {
        self.renew(broker, LastContact::At(last_contact_ms));
    }

    /// From now on a broker is heard all the time.
    pub fn contact(&mut self, broker: BrokerId) {
        self.renew(broker, LastContact::Continuous);
    }

    fn renew(&mut self, broker: BrokerId, contact: LastContact) {
        if let Some(epoch) = self.brokers.get(&broker).map(|known| known.epoch) {
            Arc::make_mut(&mut self.sessions).renew((broker, epoch), contact);
        }
    }

    /// When a broker's current registration was heard last; nothing once its session was found to have ended.
    pub fn last_contact(&self, broker: BrokerId) -> Option<LastContact> {
        let key = (broker, self.brokers.get(&broker)?.epoch);
        self.sessions
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, last)| last)
    }

    /// Whether the session of a broker's current registration is valid.
    pub fn has_valid_session(&self, broker: BrokerId, now_ms: i64) -> bool {
        let timeout = self.settings.session_timeout_ms;
        self.brokers
            .get(&broker)
            .is_some_and(|known| self.sessions.is_valid((broker, known.epoch), timeout, now_ms))
    }

    /// When the stale-session check will next find something, if nobody is heard again. The check runs every eighth of
    /// the session time-out, counted from the controller's start, so a broker is fenced up to that much late.
    pub fn next_session_check(&self) -> Option<i64> {
        let end = self.sessions.first_end(self.settings.session_timeout_ms)?;
        let period = (self.settings.session_timeout_ms / 8).max(1);
        let since_start = end - self.settings.started_ms;
        Some(self.settings.started_ms + (since_start + period - 1).div_euclid(period) * period)
    }
}

/// On whose account partitions are looked at again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trigger {
    /// This broker is back.
    Back(BrokerId),
    /// This broker is gone, for a reason.
    Gone(BrokerId, Rule),
    /// This broker came back without having stopped cleanly.
    Unclean(BrokerId),
}
