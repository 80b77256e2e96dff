//! What can be done to a broker, and what would survive it: said before it is done.

use crate::cluster::{BrokerId, Node};
use crate::log::{Layer, Log};
use crate::ui::view::inspect::ranges;
use crate::ui::view::look::Look;
use crate::ui::view::panels::{Fault, FaultOption};
use crate::ui::view::rows::{health, role};
use crate::ui::view::stage::{Health, Role};

/// A broker's menu.
pub fn options(look: &Look<'_>, id: BrokerId) -> Vec<FaultOption> {
    let cut = look
        .world
        .network()
        .cuts()
        .any(|(from, to)| from == Node::Broker(id) || to == Node::Broker(id));
    let wire = if cut { Fault::Heal } else { Fault::Cut };
    let acts: &[Fault] = match health(look, id) {
        Health::Killed => &[
            Fault::Start,
            Fault::PowerOff,
            Fault::Tear,
            Fault::Flip,
            Fault::RemoveIndex,
        ],
        Health::Dark => &[Fault::Start, Fault::Tear, Fault::Flip, Fault::RemoveIndex],
        Health::Paused => &[Fault::Resume, Fault::Kill, Fault::PowerOff],
        _ => &[Fault::Kill, Fault::PowerOff, Fault::Stop, Fault::Pause],
    };
    let has_batch = last_batch(look, id).is_some();
    let damages = |fault: &Fault| matches!(fault, Fault::Tear | Fault::Flip | Fault::RemoveIndex);
    acts.iter()
        .filter(|fault| has_batch || !damages(fault))
        .chain([&wire])
        .map(|fault| option(look, id, *fault))
        .collect()
}

/// Where a replica's last batch is: its segment's base offset, and its first byte in the log file.
pub fn last_batch(look: &Look<'_>, id: BrokerId) -> Option<(i64, u32)> {
    let segments = look.log(id)?.segments().rev();
    let mut last =
        segments.filter_map(|segment| Some((segment.base_offset(), segment.log().batches().last()?.position)));
    last.next()
}

/// From which offset to which a power loss may have kept records, if there is a choice.
fn reach(look: &Look<'_>, id: BrokerId) -> Option<(i64, i64)> {
    let replica = look.world.broker(id)?.replica(look.partition)?;
    let (flushed, end) = (replica.flushed(), replica.log_end());
    (flushed < end).then_some((flushed, end))
}

/// One thing that can be done to a broker.
pub fn option(look: &Look<'_>, id: BrokerId, fault: Fault) -> FaultOption {
    let held = Held::of(look.log(id));
    let (title, survives, dies) = match fault {
        Fault::Kill => ("Kill the process", held.after_kill(), String::new()),
        Fault::PowerOff | Fault::PowerOffKeeping(_) => ("Power off the host", held.on_disk(), held.cache_dies()),
        Fault::Stop => (
            "Stop it cleanly",
            "Nothing is lost. It hands over what it leads, flushes everything, and ends.".to_string(),
            String::new(),
        ),
        Fault::Pause => (
            "Pause the process",
            format!("Nothing is lost. {} until it is resumed.", silent(look, id)),
            String::new(),
        ),
        Fault::Resume => (
            "Resume the process",
            "It goes on, not knowing that time has passed.".to_string(),
            String::new(),
        ),
        Fault::Cut => (
            "Cut it off",
            "Nothing is lost here. No message passes to or from any other node.".to_string(),
            String::new(),
        ),
        Fault::Heal => (
            "Heal its paths",
            "Messages pass again; what was on the wire is not sent again by the wire.".to_string(),
            String::new(),
        ),
        Fault::Start => ("Start the process", held.recovery(), String::new()),
        Fault::Tear => (
            "Tear the last batch",
            "All before it survives; recovery cuts off what is left of it.".to_string(),
            "Half of its bytes are gone.".to_string(),
        ),
        Fault::Flip => (
            "Flip a byte",
            "Its checksum no longer matches: recovery cuts there, if it reads there.".to_string(),
            "A byte of the last batch is inverted.".to_string(),
        ),
        Fault::RemoveIndex => (
            "Remove an index",
            "Nothing is lost: the newest segment's index is built anew from the log.".to_string(),
            String::new(),
        ),
    };
    FaultOption {
        fault,
        title,
        survives: survives.into(),
        dies: dies.into(),
        reach: (fault == Fault::PowerOff).then(|| reach(look, id)).flatten(),
    }
}

fn silent(look: &Look<'_>, id: BrokerId) -> &'static str {
    match role(look, id) {
        Role::Leader => "It leads, and answers nobody",
        _ => "It answers nobody and copies nothing",
    }
}

/// What a log holds in each layer, as ranges of offsets; `None` for nothing.
struct Held {
    disk: Option<String>,
    cache: Option<String>,
}

impl Held {
    fn of(log: Option<&Log>) -> Held {
        let layer = |layer| log.map(|log| ranges(log, layer)).filter(|range| range != "nothing");
        Held {
            disk: layer(Layer::Disk),
            cache: layer(Layer::Cache),
        }
    }

    fn after_kill(&self) -> String {
        match (&self.disk, &self.cache) {
            (Some(disk), Some(cache)) => {
                format!("Log {disk} on disk and {cache} in page cache survive: the cache is the host's.")
            }
            (Some(disk), None) => format!("Log {disk} on disk survives."),
            (None, Some(cache)) => format!("Log {cache} in page cache survives: the cache is the host's."),
            (None, None) => "Its log is empty.".to_string(),
        }
    }

    fn on_disk(&self) -> String {
        match &self.disk {
            Some(disk) => format!("Log {disk} on disk survives."),
            None if self.cache.is_none() => "Its log is empty.".to_string(),
            None => "Nothing is on disk.".to_string(),
        }
    }

    fn cache_dies(&self) -> String {
        self.cache
            .as_ref()
            .map_or_else(String::new, |cache| format!("{cache} in page cache dies."))
    }

    fn recovery(&self) -> String {
        match (&self.disk, &self.cache) {
            (None, None) => "Its log is empty: it copies everything from the leader.".to_string(),
            (disk, cache) => {
                let all: Vec<&str> = disk.iter().chain(cache).map(String::as_str).collect();
                format!(
                    "It checks its log ({}), registers, and follows the leader.",
                    all.join(", ")
                )
            }
        }
    }
}
