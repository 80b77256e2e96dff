//! What members say to the coordinator of their group, and what it answers.
//!
//! Kafka's requests and responses, cut down to the fields that decide something. Two fields stand beside Kafka's: the id
//! that a new member would like, since chance is the client's here, and the interval of its heartbeats, since those that
//! change nothing are computed and never travel.
//!
//! Deliberately absent: racks, transactional commits, metadata strings of commits.

use std::sync::Arc;

use crate::cluster::assignor::{Assignor, Slot};
use crate::cluster::ids::{GroupId, TopicPartition};
use crate::cluster::settings::Micros;
use crate::log::Errors;
use crate::sorted::SortedSet;

/// A member's id, `member.id`; empty for a member that has none yet.
pub type MemberId = Arc<str>;

/// `group.instance.id`: the name of a static member, which outlives its process and the ids that it is given.
pub type InstanceId = Arc<str>;

/// The member epoch of who goes.
pub const LEAVES: i32 = -1;

/// The member epoch of a static member that is away and will be back.
pub const AWAY: i32 = -2;

/// What a member subscribes to and what it owns (`ConsumerProtocolSubscription`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription {
    /// The topics, by name; they need not exist.
    pub topics: SortedSet<Arc<str>>,
    /// The partitions that it owns going in; none under the eager protocol, unless the sticky assignor remembers what it
    /// gave (that stands in the assignor's own data, and is told here).
    pub owned: SortedSet<Slot>,
    /// The generation in which it got them, −1 for a new member.
    pub generation: i32,
}

/// A member's standing in its group: the number fences those who have missed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The group.
    pub group: GroupId,
    /// The member; empty for somebody outside the group.
    pub member: MemberId,
    /// Its own name, if it is a static one.
    pub instance: Option<InstanceId>,
    /// Generation (classic) or member epoch (consumer protocol), −1 for somebody outside the group.
    pub epoch: i32,
}

impl Standing {
    /// As a commit names it: who is only joining yet, with epoch 0 under the consumer protocol, commits as somebody outside
    /// the group (`CommitRequestManager.onMemberEpochUpdated`). Generations of the classic protocol begin with 1.
    pub fn to_commit(self) -> Standing {
        let epoch = if self.epoch > 0 { self.epoch } else { -1 };
        Standing { epoch, ..self }
    }
}

/// `JoinGroupRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinGroup {
    /// The group.
    pub group: GroupId,
    /// The member; empty when it asks for an id.
    pub member: MemberId,
    /// Its own name, if it is a static one.
    pub instance: Option<InstanceId>,
    /// The id that it would like.
    pub wanted_id: MemberId,
    /// `session.timeout.ms`.
    pub session: Micros,
    /// How long a rebalance waits for it (`max.poll.interval.ms`).
    pub rebalance: Micros,
    /// `heartbeat.interval.ms`.
    pub every: Micros,
    /// The assignors that it can run, the one it likes best first.
    pub protocols: Vec<Assignor>,
    /// Its subscription.
    pub subscription: Subscription,
}

/// `ConsumerGroupHeartbeatRequest`: all that a member of the consumer protocol ever says. What it has said before is left
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerBeat {
    /// Who says it; the epoch is 0 to join, [`LEAVES`] to leave and [`AWAY`] to leave for a while.
    pub by: Standing,
    /// How long it may take to give partitions up (`max.poll.interval.ms`).
    pub rebalance: Option<Micros>,
    /// The topics that it subscribes to.
    pub topics: Option<SortedSet<Arc<str>>>,
    /// The assignor that it asks for.
    pub assignor: Option<Assignor>,
    /// What it reads.
    pub owned: Option<SortedSet<TopicPartition>>,
}

impl ConsumerBeat {
    /// A heartbeat that says no more than that its member is alive.
    pub fn plain(by: Standing) -> ConsumerBeat {
        ConsumerBeat {
            by,
            rebalance: None,
            topics: None,
            assignor: None,
            owned: None,
        }
    }

    /// Whether it says everything, and so wants to be told everything.
    pub fn is_full(&self) -> bool {
        self.rebalance.is_some() && self.topics.is_some() && self.owned.is_some()
    }
}

/// What a member of the consumer protocol is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beaten {
    /// Its epoch.
    pub epoch: i32,
    /// After how long it is to say that it is alive.
    pub every: Micros,
    /// What it may read from now on, if that has changed or it has asked.
    pub assignment: Option<SortedSet<TopicPartition>>,
}

impl Beaten {
    /// The answer to a member that goes.
    pub fn left(epoch: i32) -> Beaten {
        Beaten {
            epoch,
            every: 0,
            assignment: None,
        }
    }
}

/// A request about a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupRequest {
    /// A member wants to join, or to join again.
    Join(JoinGroup),
    /// A member asks for its assignment; the leader brings everybody's.
    Sync(Standing, Vec<(MemberId, SortedSet<Slot>)>),
    /// A member is alive, and will say so at this interval.
    Heartbeat(Standing, Micros),
    /// A member goes.
    Leave(Standing),
    /// A member of the consumer protocol joins, is alive, follows or goes.
    ConsumerBeat(Box<ConsumerBeat>),
    /// Offsets to be remembered, each with the epoch of the record before it.
    Commit(Standing, Vec<(Slot, i64, Option<i32>)>),
    /// Which offsets are remembered?
    FetchOffsets(Standing, Vec<Slot>),
}

/// A member as the leader is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedMember {
    /// Its id.
    pub id: MemberId,
    /// Its own name, if it is a static one.
    pub instance: Option<InstanceId>,
    /// What it subscribes to and owns.
    pub subscription: Subscription,
}

/// What a member is told when the group has gathered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The generation.
    pub generation: i32,
    /// The assignor that all members can run.
    pub protocol: Assignor,
    /// Who assigns.
    pub leader: MemberId,
    /// The member that is told.
    pub member: MemberId,
    /// For the leader: everybody with their subscriptions.
    pub members: Vec<JoinedMember>,
    /// For a leader that came back: everybody has a share already.
    pub skip_assignment: bool,
}

/// What a `JoinGroup` is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinAnswer {
    /// The group has gathered.
    Joined(Box<Joined>),
    /// The member has this id from now on and must join again with it.
    IdGiven(MemberId),
    /// Not so.
    Refused(Errors),
}

/// A remembered offset, and the epoch of the record before it.
pub type Remembered = Option<(i64, Option<i32>)>;

/// An answer about a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupResponse {
    /// To a join.
    Join(JoinAnswer),
    /// To a sync: what this member is to read.
    Sync(Result<SortedSet<Slot>, Errors>),
    /// To a heartbeat.
    Heartbeat(Option<Errors>),
    /// To a leave.
    Leave(Option<Errors>),
    /// To a heartbeat of the consumer protocol.
    ConsumerBeat(Result<Beaten, Errors>),
    /// To a commit; all its partitions share their fate.
    Commit(Option<Errors>),
    /// To a look for offsets.
    FetchOffsets(Result<Vec<(Slot, Remembered)>, Errors>),
}

impl GroupRequest {
    /// The same request of somebody without a name of its own.
    pub fn unnamed(mut self) -> GroupRequest {
        match &mut self {
            GroupRequest::Join(join) => join.instance = None,
            GroupRequest::ConsumerBeat(beat) => beat.by.instance = None,
            GroupRequest::Sync(standing, _)
            | GroupRequest::Heartbeat(standing, _)
            | GroupRequest::Leave(standing)
            | GroupRequest::Commit(standing, _)
            | GroupRequest::FetchOffsets(standing, _) => standing.instance = None,
        }
        self
    }

    /// The group that it is about.
    pub fn group(&self) -> GroupId {
        match self {
            GroupRequest::Join(join) => join.group,
            GroupRequest::ConsumerBeat(beat) => beat.by.group,
            GroupRequest::Sync(standing, _)
            | GroupRequest::Heartbeat(standing, _)
            | GroupRequest::Leave(standing)
            | GroupRequest::Commit(standing, _)
            | GroupRequest::FetchOffsets(standing, _) => standing.group,
        }
    }

    /// The same request answered with an error.
    pub fn refused(&self, error: Errors) -> GroupResponse {
        match self {
            GroupRequest::Join(_) => GroupResponse::Join(JoinAnswer::Refused(error)),
            GroupRequest::Sync(..) => GroupResponse::Sync(Err(error)),
            GroupRequest::Heartbeat(..) => GroupResponse::Heartbeat(Some(error)),
            GroupRequest::Leave(_) => GroupResponse::Leave(Some(error)),
            GroupRequest::ConsumerBeat(_) => GroupResponse::ConsumerBeat(Err(error)),
            GroupRequest::Commit(..) => GroupResponse::Commit(Some(error)),
            GroupRequest::FetchOffsets(..) => GroupResponse::FetchOffsets(Err(error)),
        }
    }
}
