//! How the members of a generation get their shares: the leader brings them all, and each asks for its own.
//!
//! The shares are written first and handed out when they are replicated. Mirrors `classicGroupSync` of
//! `GroupMetadataManager`.
//!
//! Deliberately absent: assignments that nobody can read; here they are no bytes until they are written.

use crate::cluster::actor::Cx;
use crate::cluster::assignor::Slot;
use crate::cluster::event::What;
use crate::cluster::group::out::{Out, Then, broker};
use crate::cluster::group::protocol::{GroupResponse, MemberId, Standing};
use crate::cluster::ids::ClientId;
use crate::cluster::message::Correlation;
use crate::cluster::rules::Rule;
use crate::log::Errors;
use crate::sorted::{SortedMap, SortedSet};

use super::member::{Awaits, Contact};
use super::{ClassicGroup, State};

impl ClassicGroup {
    /// A member asks for its assignment; the leader brings everybody's.
    pub fn sync(
        &mut self,
        id: Correlation,
        from: ClientId,
        standing: &Standing,
        brought: Vec<(MemberId, SortedSet<Slot>)>,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) {
        let state = self.state;
        let checked = match (self.check(standing, cx), state) {
            (Err(error), _) => Err(error),
            (Ok(()), State::Empty) => Err(Errors::UnknownMemberId),
            (Ok(()), State::Preparing { .. }) => Err(Errors::RebalanceInProgress),
            (Ok(()), State::Completing | State::Stable) => Ok(()),
        };
        let leads = self.leader.as_ref() == Some(&standing.member);
        let member = match checked {
            Ok(()) => self.members.get_mut(&standing.member),
            Err(error) => {
                out.reply(from, id, GroupResponse::Sync(Err(error)));
                return;
            }
        };
        let Some(member) = member else { return };
        self.unsynced.remove(&standing.member);
        member.contact = Contact::Heard(cx.now);
        if state == State::Stable {
            out.reply(from, id, GroupResponse::Sync(Ok(member.assignment.clone())));
            return;
        }
        member.awaits = Some(Awaits::Sync(id));
        if leads {
            let brought: SortedMap<MemberId, SortedSet<Slot>> = brought.into_iter().collect();
            let entry = self.entry(&brought, cx);
            let (group, generation) = (self.id, self.generation);
            out.write(
                vec![entry],
                Then::Assign {
                    group,
                    generation,
                    shares: brought,
                },
            );
        }
    }

    /// The leader's assignment is written and replicated: everybody gets its share.
    pub fn assigned(
        &mut self,
        generation: i32,
        shares: &SortedMap<MemberId, SortedSet<Slot>>,
        out: &mut Out,
        cx: &mut Cx<'_>,
    ) {
        if generation != self.generation || self.state != State::Completing {
            return;
        }
        self.state = State::Stable;
        for (id, member) in &mut self.members {
            member.assignment = shares.get(id).cloned().unwrap_or_default();
            if let Some(Awaits::Sync(correlation)) = member.awaits {
                member.awaits = None;
                member.contact = Contact::Heard(cx.now);
                let share = member.assignment.clone();
                out.reply(member.client, correlation, GroupResponse::Sync(Ok(share)));
            }
        }
        let (broker, group) = (broker(cx), self.id);
        cx.say(Rule::GroupAssign, || What::GroupStable {
            broker,
            group,
            generation,
        });
    }

    /// The leader's assignment could not be replicated in time: everybody has to join again.
    pub fn not_assigned(&mut self, generation: i32, error: Errors, out: &mut Out, cx: &mut Cx<'_>) {
        if generation == self.generation && self.state == State::Completing {
            self.answer_syncs(&Err(error), out);
            self.gather(out, cx);
        }
    }

    pub(super) fn answer_syncs(&mut self, answer: &Result<SortedSet<Slot>, Errors>, out: &mut Out) {
        for member in self.members.values_mut() {
            if let Some(Awaits::Sync(correlation)) = member.awaits {
                member.awaits = None;
                out.reply(member.client, correlation, GroupResponse::Sync(answer.clone()));
            }
        }
    }
}
