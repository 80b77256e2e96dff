//! The inspector's content: of a record where its copies lie and what one fault would do, of a broker what it holds.

use std::rc::Rc;

use crate::cluster::event::{Outcome, What};
use crate::cluster::{BrokerId, ClientId, Tag};
use crate::config::Acks;
use crate::ledger::Story;
use crate::ledger::present::{Custody, Fate, Host, Where};
use crate::log::{Layer, Log};
use crate::sorted::sort_by;
use crate::ui::act::Subject;
use crate::ui::view::look::Look;
use crate::ui::view::names::{brokers_said, bytes, offsets, time};
use crate::ui::view::panels::{Change, Chip, Inspector, Tone, Verdict};
use crate::ui::view::rows::{health, role_said};
use crate::ui::view::stage::Health;
use crate::ui::view::told;

/// The inspector of what is selected; nothing if it does not exist at this moment.
pub fn inspect(look: &Look<'_>, subject: Subject) -> Option<Inspector> {
    match subject {
        Subject::Record(client, number) => record(
            look,
            Tag {
                client: ClientId(client),
                number,
            },
        ),
        Subject::Broker(id) => broker(look, BrokerId(id)),
    }
}

/// What this step changed, the most telling first; what set it off comes last.
pub fn changes(look: &Look<'_>) -> Vec<Change> {
    let mut events: Vec<_> = look
        .events
        .iter()
        .filter(|event| !matches!(event.what, What::Nothing { .. }) || look.events.len() == 1)
        .collect();
    sort_by(&mut events, |a, b| told::weight(&b.what).cmp(&told::weight(&a.what)));
    let change = |event: &&crate::cluster::Event| Change {
        text: told::line_in(event, look).into(),
        rule: event.rule,
    };
    events.iter().take(12).map(change).collect()
}

fn record(look: &Look<'_>, tag: Tag) -> Option<Inspector> {
    let story = look.ledger.story(tag)?;
    let fate = look.fate(tag);
    let custody = look.ledger.custody(look.world, tag);
    let name = look.names.record(tag);
    let title = story
        .offset()
        .map_or_else(|| name.clone(), |offset| format!("{name} at offset {offset}"));
    Some(Inspector {
        title: title.into(),
        chips: vec![fate_chip(fate)],
        verdict: verdict(story, fate, &custody),
        custody: custody
            .iter()
            .map(|copy| {
                let holder = format!("{} · {}", copy.broker, role_said(look, copy.broker));
                (holder.into(), place(copy))
            })
            .collect(),
        facts: facts(look, tag, story),
    })
}

/// Where a copy is.
pub fn place(copy: &Custody) -> Chip {
    match copy.place {
        Where::Cache => Chip::new(Tone::Cache, "page cache"),
        Where::Disk => Chip::new(Tone::Disk, "disk"),
        Where::Truncated => Chip::new(Tone::Ghost, "truncated"),
        Where::Absent => Chip::new(Tone::No, "absent"),
    }
}

/// What became of a record, as a chip.
pub fn fate_chip(fate: Fate) -> Chip {
    let tone = match fate {
        Fate::Acknowledged | Fate::Committed => Tone::Ok,
        Fate::InFlight | Fate::Appended => Tone::Wait,
        Fate::Lost | Fate::Refused | Fate::TimedOut => Tone::Bad,
        Fate::Truncated | Fate::Expired | Fate::Deleted | Fate::Compacted | Fate::NeverArrived => Tone::Ghost,
    };
    Chip::new(tone, fate.word().replace('-', " "))
}

/// What one should know of a record first: how it was lost, or how little would lose it.
fn verdict(story: &Story, fate: Fate, custody: &[Custody]) -> Option<Verdict> {
    let say = |tone, headline: String, detail: String| {
        Some(Verdict {
            tone,
            headline: headline.into(),
            detail: detail.into(),
        })
    };
    let holders: Vec<BrokerId> = custody
        .iter()
        .filter(|copy| matches!(copy.place, Where::Cache | Where::Disk))
        .map(|copy| copy.broker)
        .collect();
    let live: Vec<&Custody> = custody
        .iter()
        .filter(|copy| copy.host == Host::Up && holders.contains(&copy.broker))
        .collect();
    let acknowledged = story.acknowledged().is_some();
    match fate {
        Fate::Lost => {
            let why = match story.taken.last() {
                Some(taken) => format!(
                    "It was acknowledged. Broker {}'s copy {}.",
                    taken.broker,
                    taken.how.words()
                ),
                None if holders.is_empty() => "It was acknowledged, and no copy is left.".to_string(),
                None => format!(
                    "It was acknowledged, but only {} holds it, and another leads now.",
                    brokers_said(&holders)
                ),
            };
            let why = match story.acks {
                Some(Acks::Leader) => format!("{why} With acks=1 the leader alone had to have it."),
                Some(Acks::All) => format!("{why} With acks=all every in-sync replica had to have it."),
                _ => why,
            };
            say(Tone::Bad, "Lost: acknowledged, and gone".to_string(), why)
        }
        Fate::Acknowledged if live.len() == 1 => {
            let only = live[0].broker;
            say(
                Tone::Warn,
                "One fault from loss".to_string(),
                format!("Only broker {only} holds it. Kill broker {only} before the others fetch it, and it is gone."),
            )
        }
        Fate::Acknowledged if holders.len() > 1 => {
            let cached = custody.iter().all(|copy| copy.place != Where::Disk);
            let detail = if cached {
                "All of them in page cache: losing the power of all at once would lose it."
            } else {
                "One broker less does not lose it."
            };
            say(Tone::Ok, format!("On {}", brokers_said(&holders)), detail.to_string())
        }
        Fate::Appended | Fate::Committed if !acknowledged && story.told.is_none() => say(
            Tone::Warn,
            "Not acknowledged".to_string(),
            "Its producer still waits, and would send it again.".to_string(),
        ),
        Fate::Appended | Fate::Committed if matches!(story.told, Some((_, Outcome::Failed(_)))) => say(
            Tone::Warn,
            "Told: failed. In the log: yes".to_string(),
            "An error says that nobody knew, not that nothing was written.".to_string(),
        ),
        Fate::Truncated if !holders.is_empty() => say(
            Tone::Warn,
            "Left behind, and nobody was promised it".to_string(),
            format!(
                "Only {} holds it, and another leads now. It was never acknowledged.",
                brokers_said(&holders)
            ),
        ),
        Fate::Truncated => {
            let how = story.taken.last().map_or("It was cut off", |taken| taken.how.words());
            say(
                Tone::Warn,
                "Gone, and nobody was promised it".to_string(),
                format!("Its copy {how}. It was never acknowledged."),
            )
        }
        Fate::Refused | Fate::TimedOut => {
            let error = match story.told {
                Some((_, Outcome::Failed(error))) => error.name(),
                _ => "an error",
            };
            say(
                Tone::Bad,
                format!("Failed with {error}"),
                "No log ever held it.".to_string(),
            )
        }
        _ => None,
    }
}

fn facts(look: &Look<'_>, tag: Tag, story: &Story) -> Vec<(&'static str, Rc<str>)> {
    let mut facts: Vec<(&'static str, Rc<str>)> = Vec::new();
    let mut add = |name, value: String| facts.push((name, value.into()));
    if let Some(partition) = story.partition {
        add("partition", look.names.partition(partition));
    }
    if let Some(place) = story.places.last() {
        add("offset", place.offset.to_string());
        add("leader epoch", place.epoch.to_string());
    }
    look.ledger.with_bytes(tag, |view| {
        add("key", bytes(view.key));
        add("value", bytes(view.value));
    });
    let held = story.places.last().and_then(|place| {
        look.world
            .broker_ids()
            .find_map(|id| file(look.log(id)?, tag, place.offset))
    });
    if let Some((file, batch)) = held {
        add("file", file);
        add("batch", batch);
    }
    add("attempts", story.attempts.to_string());
    if let Some(latency) = story.latency() {
        add("latency", time(latency));
    }
    facts
}

/// In which file of a log a record lies, and in how large a batch.
fn file(log: &Log, tag: Tag, offset: i64) -> Option<(String, String)> {
    if Look::tag_at(log, offset) != Some(tag) {
        return None;
    }
    let segment = log.segments().rev().find(|segment| segment.base_offset() <= offset)?;
    let batches = segment.log().batches();
    let placed = batches.get(batches.partition_point(|placed| placed.batch.last_offset() < offset))?;
    let size = placed.batch.size_in_bytes();
    let batch = match placed.batch.records_count() {
        1 => format!("{size} bytes"),
        count => format!("{size} bytes, {count} records"),
    };
    Some((
        format!("0000…{:04}.log @ {}", segment.base_offset(), placed.position),
        batch,
    ))
}

fn broker(look: &Look<'_>, id: BrokerId) -> Option<Inspector> {
    let state = look.world.broker_state(id)?;
    let log = look.log(id);
    let replica = look.world.broker(id).and_then(|broker| broker.replica(look.partition));
    let mut facts: Vec<(&'static str, Rc<str>)> = vec![("partition", look.names.partition(look.partition).into())];
    if let Some(log) = log {
        let layer = |wanted: Layer| ranges(log, wanted);
        facts.push(("on disk", layer(Layer::Disk).into()));
        facts.push(("in page cache only", layer(Layer::Cache).into()));
        facts.push(("log start", log.log_start_offset().to_string().into()));
        facts.push(("log end", log.log_end_offset().to_string().into()));
        facts.push((
            "high watermark",
            replica
                .and_then(|replica| replica.high_watermark())
                .map_or("unknown".into(), |at| at.to_string().into()),
        ));
        facts.push(("recovery point", log.recovery_point().to_string().into()));
        let epochs: Vec<String> = log
            .epochs()
            .entries()
            .iter()
            .map(|entry| format!("{}:{}", entry.epoch, entry.start_offset))
            .collect();
        facts.push((
            "epoch:start",
            if epochs.is_empty() {
                "none".into()
            } else {
                epochs.join(", ").into()
            },
        ));
        facts.push(("segments", log.segment_count().to_string().into()));
        facts.push(("bytes", log.size().to_string().into()));
    }
    let tone = match health(look, id) {
        Health::Up => Tone::Ok,
        Health::Killed | Health::Dark | Health::Paused => Tone::Bad,
        _ => Tone::Warn,
    };
    Some(Inspector {
        title: format!("Broker {id}").into(),
        chips: vec![Chip::new(tone, health(look, id).word().unwrap_or(state.name()))],
        verdict: None,
        custody: Vec::new(),
        facts,
    })
}

/// The offsets of a layer as ranges.
pub fn ranges(log: &Log, layer: Layer) -> String {
    let held = log.held().filter(|held| held.layer == layer).map(|held| held.batch);
    let start = log.log_start_offset();
    let ranges = crate::log::offset_ranges(held);
    let words: Vec<String> = ranges
        .iter()
        .filter(|(_, last)| *last >= start)
        .filter_map(|(first, last)| offsets((*first).max(start), last + 1))
        .collect();
    if words.is_empty() {
        "nothing".to_string()
    } else {
        words.join(", ")
    }
}
