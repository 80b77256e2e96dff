//! What happened, in one line for each event: for the caption, the inspector and the list of events.
//!
//! A line says who did what to what, with numbers of the run. It never says why: that is the rule's sentence.

use crate::cluster::actor::TimerKind;
use crate::cluster::event::{AppendedAs, BrokerState, Cause, Damage, Ended, Event, Expiry, LostBy, Outcome, What};
use crate::cluster::message::MessageKind;
use crate::cluster::{ClientId, Node, Tag, TopicPartition};
use crate::ledger::partition_of;
use crate::ledger::present::{Host, Where};
use crate::log::{Batch, Remade, file_name};
use crate::sorted::sort_by;
use crate::ui::view::groups;
use crate::ui::view::look::Look;
use crate::ui::view::names::{Names, all_of, brokers, brokers_said, capital, offsets};

/// How much an event tells: the caption takes the greatest of a step. Nothing that is told only by its step weighs 0.
pub fn weight(what: &What) -> u8 {
    match what {
        What::BrokerEnded { .. } | What::Wiped { .. } => 100,
        What::Truncated { cut, .. } => {
            if cut.is_empty() {
                32
            } else {
                96
            }
        }
        What::LeaderElected { .. } => 94,
        What::BecameLeader { .. } => 90,
        What::Told {
            outcome: Outcome::Failed(_),
            ..
        } => 88,
        What::SegmentDeleted { .. } => 86,
        What::Compacted { gone, .. } if !gone.is_empty() => 86,
        What::Told { .. } => 84,
        What::IsrChanged { .. } => 82,
        What::Recovered { .. } => 80,
        What::Refused { .. } | What::Duplicate { .. } => 78,
        What::Damaged { .. } | What::ControllerState { .. } | What::Links { .. } | What::Slowed { .. } => 76,
        What::State { .. } => 74,
        What::Configured { .. }
        | What::TopicCreated { .. }
        | What::TopicDeleted { .. }
        | What::Operator { .. }
        | What::Reassigned { .. } => 72,
        What::Read { .. } => 70,
        What::MemberLeft { .. } | What::PollIntervalPassed { .. } => 79,
        What::GenerationFormed { .. } => 77,
        What::Assigned { .. } => 75,
        What::OffsetsCommitted { .. } | What::OffsetsExpired { .. } => 73,
        What::RebalanceBegun { .. } | What::PartitionsTaken { .. } => 71,
        What::MemberJoined { .. } | What::MemberMoved { .. } | What::TargetAssigned { .. } => 69,
        What::GroupsLoaded { .. } => 68,
        What::GroupStable { .. }
        | What::GroupEpochRaised { .. }
        | What::CommitSent { .. }
        | What::CoordinatorFound { .. } => 28,
        What::Rolled { .. } => 66,
        What::Diverged { .. } => 64,
        What::Flushed { .. } => 62,
        What::Appended {
            by: AppendedAs::Leader, ..
        } => 60,
        What::Appended { .. } => 58,
        What::HighWatermark { .. } => 56,
        What::LogStart { .. } => 54,
        What::MessageLost { .. } => 52,
        What::Disconnected { .. } | What::RegistrationWaits { .. } => 49,
        What::IsrProposed { .. } | What::IsrRefused { .. } | What::ElrChanged { .. } => 50,
        What::IsrForgotten { .. } => 65,
        What::Fenced { .. } | What::Unfenced { .. } | What::Registered { .. } | What::ShuttingDown { .. } => 48,
        What::ClientEnded { .. } | What::ClientStarted { .. } | What::ConsumerError { .. } => 46,
        What::WillRetry { .. } => 44,
        What::AckWaits { .. } => 42,
        What::Answered { .. } => 40,
        What::ProduceSent { .. } => 38,
        What::Handed { .. } => 36,
        What::BecameFollower { .. } => 34,
        What::FetchAnswered { .. } => 30,
        What::Positioned { .. } | What::Accumulated { .. } => 24,
        What::Checkpointed { .. } | What::Compacted { .. } | What::FilesRemoved { .. } => 22,
        What::MetadataLearnt { .. } => 20,
        What::Step(_) => 10,
        What::Nothing { .. } => 5,
    }
}

/// What happened, in one line.
pub fn line(event: &Event, names: Names<'_>) -> String {
    match &event.what {
        What::Step(cause) => cause_line(cause, names),
        What::Nothing { node, timer } => format!(
            "{}: {}, and there is nothing to do.",
            names.subject(*node),
            timer_words(*timer)
        ),
        what => client_line(what, names)
            .or_else(|| groups::line(what, names))
            .or_else(|| data_line(what, names))
            .or_else(|| storage_line(what, names))
            .or_else(|| controller_line(what, names))
            .unwrap_or_else(|| world_line(what, names)),
    }
}

/// What happened, in one line that names the partition where it is another than the one in view.
pub fn line_in(event: &Event, look: &Look<'_>) -> String {
    let told = line(event, look.names);
    let other = partition_of(&event.what).filter(|partition| *partition != look.partition);
    match other.map(|partition| look.names.partition(partition)) {
        Some(name) if !told.contains(&name) => format!("{name}: {told}"),
        _ => told,
    }
}

fn cause_line(cause: &Cause, names: Names<'_>) -> String {
    match cause {
        Cause::Delivered { from, to, kind } => {
            format!(
                "{} of {} reaches {}.",
                capital(kind_words(*kind)),
                names.node(*from),
                names.node(*to)
            )
        }
        Cause::Fired { node, timer } => format!("{}: {}.", names.subject(*node), timer_words(timer.kind)),
    }
}

/// A kind of message with its article.
fn kind_words(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Produce => "the produce request",
        MessageKind::ProduceResponse => "the answer to a produce request",
        MessageKind::Fetch => "the fetch",
        MessageKind::FetchResponse => "the answer to a fetch",
        MessageKind::AlterPartition => "the wish for another ISR",
        MessageKind::AlterPartitionResponse => "the answer about the ISR",
        MessageKind::Heartbeat => "a heartbeat",
        MessageKind::HeartbeatResponse => "the answer to a heartbeat",
        MessageKind::Metadata => "news of the cluster",
        MessageKind::MetadataRequest => "the question who leads",
        MessageKind::Register => "the registration",
        MessageKind::RegisterResponse => "the answer to a registration",
        MessageKind::ListOffsets => "the question for an offset",
        MessageKind::ListOffsetsResponse => "the answer with an offset",
        MessageKind::EpochEnd => "the question where an epoch ends",
        MessageKind::EpochEndResponse => "the answer where an epoch ends",
        MessageKind::FindCoordinator => "the question who coordinates the group",
        MessageKind::FindCoordinatorResponse => "the answer who coordinates the group",
        MessageKind::JoinGroup => "the wish to join",
        MessageKind::JoinGroupResponse => "the answer to a join",
        MessageKind::SyncGroup => "the question what to read",
        MessageKind::SyncGroupResponse => "the answer what to read",
        MessageKind::GroupHeartbeat => "a member's heartbeat",
        MessageKind::GroupHeartbeatResponse => "the answer to a member's heartbeat",
        MessageKind::LeaveGroup => "a member's goodbye",
        MessageKind::LeaveGroupResponse => "the answer to a goodbye",
        MessageKind::OffsetCommit => "the commit",
        MessageKind::OffsetCommitResponse => "the answer to a commit",
        MessageKind::OffsetFetch => "the question where the group stands",
        MessageKind::OffsetFetchResponse => "the answer where the group stands",
        MessageKind::Closed => "the end of a connection",
    }
}

fn timer_words(timer: TimerKind) -> &'static str {
    match timer {
        TimerKind::Handover => "the application has the next record",
        TimerKind::Session => "a broker or member was silent for a whole session",
        TimerKind::Lag => "time to look who lags",
        TimerKind::FetchWait => "a fetch has waited long enough",
        TimerKind::Request => "a request has waited too long",
        TimerKind::Retry => "time to try again",
        TimerKind::Linger => "the batch has waited long enough for company",
        TimerKind::Delivery => "a record has waited too long",
        TimerKind::Heartbeat => "time for a heartbeat",
        TimerKind::Retention => "time to look for old segments",
        TimerKind::FileDelete => "time to remove deleted files",
        TimerKind::Cleaner => "time to look for logs to compact",
        TimerKind::Checkpoint => "time to write checkpoints",
        TimerKind::Flush => "time to flush",
        TimerKind::Poll => "the consumer polls",
        TimerKind::Controller => "the controller looks after its partitions",
        TimerKind::Rebalance => "the group has waited long enough",
        TimerKind::Expiry => "time to look for old commits",
        TimerKind::PollInterval => "the application has not polled for too long",
        TimerKind::Refresh => "what the client knows of the cluster is old",
    }
}

fn client_line(what: &What, names: Names<'_>) -> Option<String> {
    let client = |id: &ClientId| names.subject(Node::Client(*id));
    Some(match what {
        What::Handed { tag, .. } => format!(
            "{}'s application hands over {}.",
            client(&tag.client),
            names.record(*tag)
        ),
        What::Accumulated { tag, partition } => {
            format!(
                "{} puts {} into a batch for {}.",
                client(&tag.client),
                names.record(*tag),
                names.partition(*partition)
            )
        }
        What::ProduceSent {
            client: id,
            to,
            attempt,
            batches,
            ..
        } => {
            let tags: Vec<u64> = batches.iter().flat_map(|(_, tags)| tags.iter().copied()).collect();
            let again = if *attempt > 1 {
                format!(", attempt {attempt}")
            } else {
                String::new()
            };
            format!("{} sends {} to broker {to}{again}.", client(id), names.records(&tags))
        }
        What::WillRetry {
            client: id,
            tags,
            error,
            ..
        } => {
            format!(
                "{} will send {} again after {}.",
                client(id),
                names.records(tags),
                error.name()
            )
        }
        What::Told { tag, outcome, .. } => told_line(*tag, *outcome, names),
        What::MetadataLearnt { client: id, .. } => {
            format!("{} learns from new metadata who leads, if anybody does.", client(id))
        }
        What::Read {
            client: id, records, ..
        } => read_line(&names.subject(Node::Client(*id)), records, names),
        What::Positioned { client: id, offset, .. } => format!("{} will read from offset {offset}.", client(id)),
        What::Disconnected { broker, client: id } => {
            format!("Broker {broker} closes its connection to {}.", names.one(*id))
        }
        What::ConsumerError { client: id, error, .. } => format!("{} sees the error {}.", client(id), error.name()),
        What::ClientEnded { client: id } => format!("{}'s process ends.", client(id)),
        What::ClientStarted { client: id } => format!("{}'s process starts.", client(id)),
        _ => return None,
    })
}

fn told_line(tag: Tag, outcome: Outcome, names: Names<'_>) -> String {
    let (client, record) = (names.subject(Node::Client(tag.client)), names.record(tag));
    match outcome {
        Outcome::Acked(offset) if offset >= 0 => {
            format!("{client} is told: {record} is acknowledged at offset {offset}.")
        }
        Outcome::Acked(_) => format!("{client} is told: {record} is acknowledged, its offset no longer known."),
        Outcome::Sent => format!("{client} has handed {record} to the network. With acks=0 nothing more will be said."),
        Outcome::Failed(error) => format!("{client} is told: {record} failed with {}.", error.name()),
    }
}

fn read_line(client: &str, records: &[(i64, u64)], names: Names<'_>) -> String {
    match (records.first(), records.last()) {
        (Some(first), Some(last)) if first.0 < last.0 => {
            format!("{client} reads offsets {}–{}.", first.0, last.0)
        }
        (Some((offset, bits)), _) => format!(
            "{client} reads {} at offset {offset}.",
            names.record(Tag::from_bits(*bits))
        ),
        _ => format!("{client} reads nothing."),
    }
}

fn data_line(what: &What, names: Names<'_>) -> Option<String> {
    Some(match what {
        What::Appended {
            broker,
            by,
            batch,
            partition,
            ..
        } => {
            let what = content(batch, *partition, names);
            let place = offsets(batch.base_offset(), batch.next_offset()).unwrap_or_default();
            let epoch = batch.leader_epoch();
            match by {
                AppendedAs::Leader => {
                    format!("Broker {broker} writes {what} at offset {place}, epoch {epoch}.")
                }
                AppendedAs::Follower => format!("Broker {broker} copies {what} at offset {place}."),
            }
        }
        What::Duplicate { broker, base, tags, .. } => {
            format!(
                "Broker {broker} has {} at offset {base} already, and writes nothing.",
                names.records(tags)
            )
        }
        What::Refused {
            broker, tags, error, ..
        } => {
            format!("Broker {broker} refuses {}: {}.", names.records(tags), error.name())
        }
        What::AckWaits { broker, required, .. } => {
            format!("Broker {broker} waits with its answer until the high watermark reaches {required}.")
        }
        What::Answered {
            broker,
            client,
            tags,
            result,
            ..
        } => {
            let (to, records) = (names.one(*client), names.records(tags));
            match result {
                Ok(_) => format!("Broker {broker} answers {to}: {records} is accepted."),
                Err(error) => format!("Broker {broker} answers {to}: {records} failed with {}.", error.name()),
            }
        }
        What::FetchAnswered {
            broker,
            to,
            from_offset,
            next_offset,
            high_watermark,
            ..
        } => {
            let what =
                offsets(*from_offset, *next_offset).map_or("no record".to_string(), |range| format!("offset {range}"));
            format!(
                "Broker {broker} answers {}: {what}, high watermark {high_watermark}.",
                names.node(*to)
            )
        }
        What::HighWatermark { broker, from, to, .. } => {
            format!("Broker {broker}'s high watermark moves from {from} to {to}.")
        }
        What::LogStart { broker, from, to, .. } => {
            format!("Broker {broker}'s log now starts at {to}, no longer at {from}.")
        }
        What::BecameLeader {
            broker, epoch, start, ..
        } => {
            format!("Broker {broker} leads from offset {start} on, in epoch {epoch}.")
        }
        What::BecameFollower {
            broker, leader, epoch, ..
        } => match leader {
            Some(leader) => format!("Broker {broker} follows broker {leader} in epoch {epoch}."),
            None => format!("Broker {broker} has nobody to follow in epoch {epoch}."),
        },
        What::Diverged { broker, epoch, end, .. } => {
            format!("Broker {broker} learns that epoch {epoch} ended at offset {end} in its leader's log.")
        }
        What::Truncated {
            broker, to, from, cut, ..
        } => {
            let cut: Vec<String> = cut
                .iter()
                .filter(|(_, bits)| *bits != 0)
                .map(|(_, bits)| names.record(Tag::from_bits(*bits)))
                .collect();
            match (cut.as_slice(), offsets(*to, *from)) {
                ([], _) | (_, None) => format!("Broker {broker}'s log is cut at offset {to}; nothing was there."),
                (cut, Some(range)) => format!(
                    "Broker {broker} cuts offset {range} off its log: {} is gone there.",
                    listed(cut)
                ),
            }
        }
        _ => return None,
    })
}

/// What a batch holds, in words.
fn content(batch: &Batch, partition: TopicPartition, names: Names<'_>) -> String {
    let sent = batch.tags().iter().any(|bits| *bits != 0);
    match batch.tags() {
        tags if sent => names.records(tags),
        _ if names.is_of_groups(partition) => "what a group keeps".to_string(),
        _ => "what no producer here has sent".to_string(),
    }
}

/// A few names; of many the first and the last.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [first, .., last] => format!("{first} to {last}"),
    }
}

fn storage_line(what: &What, names: Names<'_>) -> Option<String> {
    Some(match what {
        What::Rolled { broker, base, .. } => format!("Broker {broker} begins a new segment at offset {base}."),
        What::Flushed { broker, from, to, .. } => match offsets(*from, *to) {
            Some(range) => format!("Broker {broker} flushes offset {range}: on disk now."),
            None => format!("Broker {broker} flushes; everything was on disk."),
        },
        What::SegmentDeleted {
            broker, base, next, by, ..
        } => {
            let why = match by {
                Expiry::Time => "too old",
                Expiry::Size => "too much",
                Expiry::LogStart => "below the log start",
            };
            let range = offsets(*base, *next).unwrap_or_else(|| base.to_string());
            format!("Broker {broker} deletes the segment with offset {range}: {why}.")
        }
        What::Compacted { broker, gone, to, .. } => match gone.len() {
            0 => format!("Broker {broker} compacts its log below offset {to}: nothing to remove."),
            1 => format!("Broker {broker} compacts its log below offset {to}: 1 record goes."),
            many => format!("Broker {broker} compacts its log below offset {to}: {many} records go."),
        },
        What::FilesRemoved { broker, .. } => format!("Broker {broker} removes the files of deleted segments."),
        What::Recovered {
            broker,
            clean,
            leo,
            cut,
            dropped_bytes,
            dropped_segments,
            remade,
            ..
        } => {
            let whole = match dropped_segments.as_slice() {
                [] => String::new(),
                [one] => format!(", all of segment {one} among them"),
                [first, .., last] => format!(", all of segments {first} to {last} among them"),
            };
            let records = match cut.len() {
                0 => String::new(),
                1 => "1 record, ".to_string(),
                many => format!("{many} records, "),
            };
            let read = remade.iter().any(|(_, what)| *what != Remade::Emptied);
            let scanned = match (clean, dropped_bytes, read) {
                (true, 0, false) => {
                    format!("Broker {broker} opens its log: stopped cleanly, nothing to check, log end {leo}.")
                }
                (true, 0, true) => format!("Broker {broker} opens its log: stopped cleanly, log end {leo}."),
                (false, 0, _) => format!("Broker {broker} scans its log: every batch is sound, log end {leo}."),
                (_, bytes, _) => {
                    let bytes = match bytes {
                        1 => "1 byte".to_string(),
                        many => format!("{many} bytes"),
                    };
                    let go = if cut.is_empty() && *dropped_bytes == 1 {
                        "goes"
                    } else {
                        "go"
                    };
                    format!("Broker {broker} scans its log and cuts it at offset {leo}: {records}{bytes} {go}{whole}.")
                }
            };
            format!("{scanned}{}", remade_line(remade))
        }
        What::Checkpointed { broker } => format!("Broker {broker} writes its checkpoints."),
        What::Damaged {
            broker,
            partition,
            damage,
        } => damage_line(damage, &format!("{} on broker {broker}", names.partition(*partition))),
        _ => return None,
    })
}

/// What a broker did about indexes that it missed, or nothing.
fn remade_line(remade: &[(i64, Remade)]) -> String {
    let segments = match remade {
        [] => return String::new(),
        [(one, _)] => format!("Segment {one}"),
        [(first, _), (second, _)] => format!("Segments {first} and {second}"),
        [(first, _), .., (last, _)] => format!("{} segments from {first} to {last}", remade.len()),
    };
    let all = |what: Remade| remade.iter().all(|(_, other)| *other == what);
    let words = if all(Remade::Missing) {
        "had no index: read whole to build one"
    } else if all(Remade::Aborted) {
        "had a bad transaction index: read whole to build one"
    } else if all(Remade::Emptied) {
        "had no time index: one begins empty"
    } else {
        "lacked indexes, which are made anew"
    };
    format!(" {segments} {words}.")
}

/// Paths that were cut or healed: between whom, and whether in one direction only.
fn links_line(cut: bool, pairs: &[(Node, Node)], names: Names<'_>) -> String {
    let word = if cut { "cut" } else { "whole again" };
    let Some(&(first, second)) = pairs.first() else {
        return format!("Every path is {word}.");
    };
    let common = [first, second]
        .into_iter()
        .find(|node| pairs.iter().all(|(from, to)| from == node || to == node));
    let Some(node) = common else {
        return format!("{} paths are {word}.", pairs.len());
    };
    let ends = |sends: bool| -> Vec<Node> {
        let found = pairs
            .iter()
            .map(|&(from, to)| if sends { (from, to) } else { (to, from) });
        found.filter(|(end, _)| *end == node).map(|(_, other)| other).collect()
    };
    let (mut to, mut from) = (ends(true), ends(false));
    sort_by(&mut to, Ord::cmp);
    sort_by(&mut from, Ord::cmp);
    let said = |others: &[Node]| match others.len() == names.nodes() - 1 {
        true => "everybody".to_string(),
        false => all_of(&others.iter().map(|other| names.node(*other)).collect::<Vec<_>>()),
    };
    let passing = if cut { "are lost" } else { "pass again" };
    match (to == from, to.is_empty(), &*to) {
        (true, _, [other]) => format!(
            "The path between {} and {} is {word}.",
            names.node(node),
            names.node(*other)
        ),
        (true, _, others) if cut => format!("{} is cut off from {}.", names.subject(node), said(others)),
        (true, _, others) => format!("{} reaches {} again.", names.subject(node), said(others)),
        (false, true, _) => format!("Messages from {} to {} {passing}.", said(&from), names.node(node)),
        (false, false, others) if from.is_empty() => {
            format!("Messages from {} to {} {passing}.", names.node(node), said(others))
        }
        _ => format!("{} paths are {word}.", pairs.len()),
    }
}

fn damage_line(damage: &Damage, place: &str) -> String {
    match damage {
        Damage::Torn { segment, left, of } => format!(
            "The last batch in {} of {place} is torn: {left} of its {of} bytes are left.",
            file_name(*segment, "log")
        ),
        Damage::Shortened { from } => format!("The log of {place} is cut off at offset {from}."),
        Damage::Flipped { segment, position } => format!(
            "The byte at position {position} in {} of {place} is inverted.",
            file_name(*segment, "log")
        ),
        Damage::Removed(name) => format!("{name} of {place} is removed."),
        Damage::Checkpoint => format!("What a checkpoint said of {place} is lost."),
    }
}

fn controller_line(what: &What, names: Names<'_>) -> Option<String> {
    Some(match what {
        What::LeaderElected {
            partition, to, epoch, ..
        } => match to {
            Some(leader) => format!(
                "The controller makes broker {leader} leader of {}, epoch {epoch}.",
                names.partition(*partition)
            ),
            None => format!(
                "Nobody may lead {}: the partition is offline, epoch {epoch}.",
                names.partition(*partition)
            ),
        },
        What::IsrChanged { from, to, .. } => {
            let left: Vec<_> = from.iter().filter(|id| !to.contains(id)).copied().collect();
            let came: Vec<_> = to.iter().filter(|id| !from.contains(id)).copied().collect();
            let change = match (left.is_empty(), came.is_empty()) {
                (false, true) => format!("{} left", brokers_said(&left)),
                (true, false) => format!("{} joined", brokers_said(&came)),
                _ => "a new set".to_string(),
            };
            format!("In sync now: {} ({change}).", brokers(to))
        }
        What::ElrChanged { to, .. } => format!("Eligible to lead besides the ISR: {}.", brokers(to)),
        What::Reassigned { to, .. } => format!("Replicas are to lie on {}.", brokers_said(to)),
        What::IsrProposed { broker, to, .. } => {
            format!("Broker {broker} asks the controller for the ISR {}.", brokers(to))
        }
        What::IsrForgotten { broker, isr, .. } => {
            format!(
                "Broker {broker} forgets the ISR {} that it asked for: late news set back what was before.",
                brokers(isr)
            )
        }
        What::IsrRefused { broker, error, .. } => {
            format!("The controller refuses broker {broker}'s ISR: {}.", error.name())
        }
        What::Registered { broker, .. } => format!("Broker {broker} registers with the controller."),
        What::RegistrationWaits { broker } => format!("Broker {broker} must wait: its old session has not ended."),
        What::Fenced { broker } => format!("The controller fences broker {broker} off."),
        What::Unfenced { broker } => format!("The controller counts broker {broker} in again."),
        What::ShuttingDown { broker } => format!("Broker {broker} may shut down."),
        What::ControllerState { up: true } => "The controller quorum is back.".to_string(),
        What::ControllerState { up: false } => "The controller quorum is gone.".to_string(),
        _ => return None,
    })
}

fn world_line(what: &What, names: Names<'_>) -> String {
    match what {
        What::State { broker, from, to } => match (from, to) {
            (_, BrokerState::Up) => format!("Broker {broker} is up."),
            (_, BrokerState::Paused) => format!("Broker {broker}'s process freezes. It does not know it."),
            (_, to) => format!("Broker {broker} is {}.", to.name()),
        },
        What::BrokerEnded { broker, how, lost } => {
            let records: usize = lost.iter().map(|(.., records)| records.len()).sum();
            match (how, records) {
                (Ended::Killed, _) => {
                    format!("Broker {broker}'s process is killed. Its files stay: page cache and disk.")
                }
                (Ended::PoweredOff, 0) => format!("Broker {broker}'s host loses power. Everything was on disk."),
                (Ended::PoweredOff, 1) => {
                    format!("Broker {broker}'s host loses power: 1 record in page cache is gone.")
                }
                (Ended::PoweredOff, records) => {
                    format!("Broker {broker}'s host loses power: {records} records in page cache are gone.")
                }
                (Ended::Stopped, _) => format!("Broker {broker} has stopped cleanly: all flushed."),
            }
        }
        What::Wiped { broker, .. } => format!("Broker {broker}'s disk is lost and formatted anew."),
        What::MessageLost { from, to, kind, by } => {
            let why = match by {
                LostBy::Cut => "the path is cut",
                LostBy::Down => "the receiver is down",
                LostBy::Dropped => "it was dropped",
            };
            format!(
                "{} of {} to {} is lost: {why}.",
                capital(kind_words(*kind)),
                names.node(*from),
                names.node(*to)
            )
        }
        What::Links { cut, pairs } => links_line(*cut, pairs, names),
        What::Slowed { node, factor: 1 } => format!("{} is as fast as before.", names.subject(*node)),
        What::Slowed { node, factor } => format!("{} takes {factor} times as long.", names.subject(*node)),
        What::TopicDeleted { topic, .. } => format!("Topic {topic} is deleted."),
        What::TopicCreated { topic, partitions } => format!(
            "Topic {topic} is created with {partitions} partition{}.",
            plural(*partitions)
        ),
        What::Configured {
            target, name, value, ..
        } => format!("{name}={value} for {target}."),
        What::Operator { act, answer: None } => format!("{}: done.", capital(act)),
        What::Operator {
            act,
            answer: Some(error),
        } => format!("{}: answered with {}.", capital(act), error.name()),
        _ => "Something happened.".to_string(),
    }
}

fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The most words of a caption.
pub const CAPTION_WORDS: usize = 25;

/// A step in at most twenty-five words: the event that tells most, and what goes with it if there is room.
pub fn caption(look: &Look<'_>) -> Option<String> {
    // What another partition does tells half as much.
    let weight = |event: &Event| match partition_of(&event.what) {
        Some(partition) if partition != look.partition => weight(&event.what) / 2,
        _ => weight(&event.what),
    };
    let mut ranked: Vec<&Event> = look.events.iter().collect();
    sort_by(&mut ranked, |a, b| weight(b).cmp(&weight(a)));
    let first = *ranked.first()?;
    let told = line_in(first, look);
    let others = ranked
        .iter()
        .skip(1)
        .filter(|event| weight(event) >= 50)
        .map(|event| line_in(event, look));
    let next = remark(first, look)
        .into_iter()
        .chain(others)
        .find(|next| words(&told) + words(next) <= CAPTION_WORDS && *next != told);
    Some(shorten(
        &next.map_or_else(|| told.clone(), |next| format!("{told} {next}")),
    ))
}

/// Which invariants the present step was the first to break: a sentence of its own, which takes no room from the caption.
pub fn broken(look: &Look<'_>) -> Option<String> {
    let step = look.ledger.steps();
    let verdicts = look.ledger.verdicts();
    let broken = verdicts.filter(|verdict| step > 0 && verdict.first.is_some_and(|first| first.when.step == step));
    let names: Vec<&str> = broken.map(|verdict| verdict.name).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("An invariant breaks: {one}.")),
        all => Some(format!("Invariants break: {}.", all.join(", "))),
    }
}

/// What an acknowledgement is worth at this moment.
fn remark(event: &Event, look: &Look<'_>) -> Option<String> {
    let What::Told {
        tag,
        outcome: Outcome::Acked(_),
        ..
    } = event.what
    else {
        return None;
    };
    let custody = look.ledger.custody(look.world, tag);
    let holders: Vec<_> = custody
        .iter()
        .filter(|copy| matches!(copy.place, Where::Cache | Where::Disk))
        .collect();
    match holders.as_slice() {
        [only] if only.host == Host::Up && custody.len() > 1 => {
            Some(format!("Only broker {} has it so far.", only.broker))
        }
        all if all.len() == custody.len() && all.len() > 1 => Some("Every replica has it.".to_string()),
        _ => None,
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Names may be long; a caption never is.
fn shorten(text: &str) -> String {
    if words(text) <= CAPTION_WORDS {
        return text.to_string();
    }
    let kept: Vec<&str> = text.split_whitespace().take(CAPTION_WORDS).collect();
    format!("{}…", kept.join(" "))
}
