//! What can be done to a broker, and what would survive it: said before it is done.

use std::rc::Rc;

use crate::cluster::{BrokerId, Node};
use crate::log::{Files, Held as HeldBatch, Layer, Log, RECORD_BATCH_OVERHEAD};
use crate::ui::view::inspect::ranges;
use crate::ui::view::links::{has_successor, unheard};
use crate::ui::view::look::Look;
use crate::ui::view::names::{brokers_said, offsets};
use crate::ui::view::panels::{Fault, FaultOption};
use crate::ui::view::power_loss::{PowerLoss, staked};
use crate::ui::view::rows::{health, role};
use crate::ui::view::stage::{Health, Role};

/// How many times longer a broker takes that is slowed by hand.
const SLOWER: u32 = 10;

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
            Fault::Wipe,
            Fault::Tear,
            Fault::Flip,
            Fault::RemoveIndex,
        ],
        Health::Dark => &[Fault::Start, Fault::Wipe, Fault::Tear, Fault::Flip, Fault::RemoveIndex],
        Health::Paused => &[Fault::Resume, Fault::Kill, Fault::PowerOff],
        Health::Starting | Health::Stopping => &[Fault::Kill, Fault::PowerOff, Fault::Pause],
        _ => &[Fault::Kill, Fault::PowerOff, Fault::Stop, Fault::Pause],
    };
    let pace = match look.world.settings().factor(Node::Broker(id)) {
        1 => Fault::Slow,
        _ => Fault::Hasten,
    };
    let runs = acts.contains(&Fault::Kill);
    acts.iter()
        .chain(runs.then_some(&pace))
        .chain([&wire])
        .filter(|fault| statement(look, id, **fault).is_some())
        .map(|fault| option(look, id, *fault))
        .collect()
}

/// A fault as a line of the scenario language, if there is something that it can be done to. Damage is done to the
/// partition in view: to the last batch of the files, or to the last one that recovery would keep.
pub fn statement(look: &Look<'_>, id: BrokerId, fault: Fault) -> Option<String> {
    let replica = || format!("{}@{id}", look.names.partition(look.partition));
    Some(match fault {
        Fault::Kill => format!("kill {id}"),
        Fault::PowerOff => format!("power-off {id}"),
        Fault::PowerOffKeeping(offset) => {
            format!("power-off {id} keep={}:{offset}", look.names.partition(look.partition))
        }
        Fault::Stop => format!("stop {id}"),
        Fault::Pause => format!("pause {id}"),
        Fault::Resume => format!("resume {id}"),
        Fault::Cut => format!("cut {id} *"),
        Fault::Heal => format!("heal {id} *"),
        Fault::Start => format!("start {id}"),
        Fault::Wipe => {
            let is_empty = look.world.broker(id)?.partitions().is_empty();
            (!is_empty).then(|| format!("wipe {id}"))?
        }
        Fault::Slow => format!("slow {id} factor={SLOWER}"),
        Fault::Hasten => format!("slow {id} factor=1"),
        Fault::Tear => {
            files(look, id)?.last_batch()?;
            format!("tear {}", replica())
        }
        Fault::Flip => {
            let last = last_sound(look, id)?;
            let at = last.position as usize + RECORD_BATCH_OVERHEAD;
            format!("flip {}/{} at={at}", replica(), last.segment)
        }
        Fault::RemoveIndex => format!("remove {}/{}", replica(), index(&files(look, id)?)?),
    })
}

/// The files of a broker's replica.
fn files(look: &Look<'_>, id: BrokerId) -> Option<Files> {
    Some(look.world.broker(id)?.replica(look.partition)?.files())
}

/// The last batch that recovery would keep as things stand.
fn last_sound<'a>(look: &Look<'a>, id: BrokerId) -> Option<HeldBatch<'a>> {
    look.log(id)?.held().last()
}

/// The newest offset index.
fn index(files: &Files) -> Option<String> {
    let mut names = files.iter().map(|(name, _)| name).rev();
    names.find(|name| name.ends_with(".index")).map(str::to_owned)
}

/// What of a broker's log survives when its process is killed.
pub fn after_kill(look: &Look<'_>, id: BrokerId) -> String {
    Held::of(look.log(id)).after_kill()
}

/// What is lost should another lead: acknowledged records that stand on this broker alone.
pub fn at_stake(look: &Look<'_>, id: BrokerId) -> Option<String> {
    staked(look.only_on(id))
}

/// What survives where all does, unless another broker leads meanwhile.
fn all_unless_another_leads(stake: &str, otherwise: String) -> String {
    match stake {
        "" => format!("Nothing is lost. {otherwise}"),
        _ => otherwise,
    }
}

/// One thing that can be done to a broker.
pub fn option(look: &Look<'_>, id: BrokerId, fault: Fault) -> FaultOption {
    let held = Held::of(look.log(id));
    let stake = at_stake(look, id).unwrap_or_default();
    let (title, survives, dies) = match fault {
        Fault::Kill => ("Kill the process", held.after_kill(), ending(look, id, stake)),
        Fault::PowerOff | Fault::PowerOffKeeping(_) => {
            let (survives, dies) = PowerLoss::of(look, id).told(match fault {
                Fault::PowerOffKeeping(kept) => kept,
                _ => 0,
            });
            ("Power off the host", survives, ending(look, id, dies))
        }
        Fault::Stop => (
            "Stop it cleanly",
            all_unless_another_leads(
                &stake,
                format!("It {}flushes everything, and ends.", handing_over(look, id)),
            ),
            stake,
        ),
        Fault::Pause => (
            "Pause the process",
            all_unless_another_leads(&stake, silent(look, id)),
            stake,
        ),
        Fault::Resume => (
            "Resume the process",
            "It goes on, not knowing that time has passed.".to_string(),
            String::new(),
        ),
        Fault::Cut => (
            "Cut it off",
            all_unless_another_leads(&stake, "No message passes to or from any other node.".to_string()),
            stake,
        ),
        Fault::Heal => (
            "Heal its paths",
            "Messages pass again; what was on the wire is not sent again by the wire.".to_string(),
            String::new(),
        ),
        Fault::Start => (
            "Start the process",
            format!("{} {}", held.recovery(is_clean(look, id)), afterwards(look, id)),
            String::new(),
        ),
        Fault::Tear => {
            let torn = files(look, id).and_then(|files| files.last_batch());
            let from = torn.map_or(0, |torn| torn.offset);
            (
                "Tear the last batch",
                before(look, id, from),
                format!("Half of the batch at {from} is gone; {}", found(look, id)),
            )
        }
        Fault::Flip => {
            let from = last_sound(look, id).map_or(0, |held| held.batch.base_offset());
            (
                "Flip a byte",
                before(look, id, from),
                format!("A byte of the batch at {from} is inverted; {}", found(look, id)),
            )
        }
        Fault::Wipe => (
            "Wipe the disk",
            copies(look, id),
            [held.all_dies(), nowhere_else(look, id)].join(" ").trim().to_string(),
        ),
        Fault::Slow => ("Slow it down", slowed(look, id), String::new()),
        Fault::Hasten => (
            "Make it fast again",
            "Nothing is lost. What it does from now on takes as long as before.".to_string(),
            String::new(),
        ),
        Fault::RemoveIndex => (
            "Remove an index",
            format!(
                "Nothing is lost: the records are in the log, from which {} is built anew at the start.",
                files(look, id).and_then(|files| index(&files)).unwrap_or_default()
            ),
            String::new(),
        ),
    };
    FaultOption {
        fault,
        title,
        survives: survives.into(),
        dies: dies.into(),
        power_loss: (fault == Fault::PowerOff)
            .then(|| Rc::new(PowerLoss::of(look, id)))
            .filter(|loss| loss.flushed < loss.end),
    }
}

/// Whether somebody may lead after a broker that leads the partition in view; nothing if it does not lead.
fn heir(look: &Look<'_>, id: BrokerId) -> Option<bool> {
    let leader = look.world.image().leader(look.partition);
    (leader == Some(id)).then(|| has_successor(look, id))
}

/// What a clean stop does with what a broker leads.
fn handing_over(look: &Look<'_>, id: BrokerId) -> &'static str {
    match heir(look, id) {
        None => "",
        Some(true) => "hands over what it leads, ",
        Some(false) => "has nobody in sync to hand over to, leaves the partition offline, ",
    }
}

/// What dies with a broker that ends at once, and the partition's service with it if nobody else may lead.
fn ending(look: &Look<'_>, id: BrokerId, dies: String) -> String {
    match heir(look, id) {
        Some(false) => format!("{dies} Nobody else is in sync: the partition goes offline.")
            .trim()
            .into(),
        _ => dies,
    }
}

/// Whether a broker that is down has stopped cleanly.
fn is_clean(look: &Look<'_>, id: BrokerId) -> bool {
    look.world
        .broker(id)
        .is_some_and(|broker| broker.host().clean.is_some())
}

/// What a broker that has started does next.
fn afterwards(look: &Look<'_>, id: BrokerId) -> String {
    let Some(decided) = look.world.controller().state().partition(look.partition) else {
        return "It waits for the controller.".to_string();
    };
    let clean = is_clean(look, id);
    match decided.leader {
        Some(leader) if leader != id => format!("Then it follows broker {leader}."),
        _ if decided.elr.contains(&id) && !clean => {
            "Its end was not a clean one: it loses its place among those eligible to lead.".to_string()
        }
        _ if decided.isr.contains(&id) || decided.elr.contains(&id) => "Then it can lead.".to_string(),
        _ => "Then it waits for somebody to lead.".to_string(),
    }
}

/// What is left of the partition in view without the disk of a broker.
fn copies(look: &Look<'_>, id: BrokerId) -> String {
    let others = look.world.broker_ids().filter(|other| *other != id);
    let holds = |other: &BrokerId| {
        look.log(*other)
            .is_some_and(|log| log.log_end_offset() > log.log_start_offset())
    };
    let holders: Vec<BrokerId> = others.filter(holds).collect();
    match holders.as_slice() {
        [] => "No other broker holds a record of this partition.".to_string(),
        [_] => format!("The copy on {} survives.", brokers_said(&holders)),
        _ => format!("The copies on {} survive.", brokers_said(&holders)),
    }
}

/// What is lost for good with the disk of a broker.
fn nowhere_else(look: &Look<'_>, id: BrokerId) -> String {
    match look.only_on(id) {
        0 => String::new(),
        1 => "1 acknowledged record is nowhere else.".to_string(),
        many => format!("{many} acknowledged records are nowhere else."),
    }
}

/// What becomes of the partition in view when a broker takes longer for everything.
fn slowed(look: &Look<'_>, id: BrokerId) -> String {
    let follows = match role(look, id) {
        Role::Leader => "producers and followers wait for its answers",
        Role::InSync => "it lags, and leaves the ISR if it stays behind for replica.lag.time.max.ms",
        _ => "whoever asks it waits for its answers",
    };
    format!("Nothing is lost. It takes {SLOWER} times as long for everything; {follows}.")
}

/// How a frozen broker is, and how long what it leads waits for it.
fn silent(look: &Look<'_>, id: BrokerId) -> String {
    match heir(look, id) {
        None => "It answers nobody and copies nothing until it is resumed.".to_string(),
        Some(_) => format!("It answers nobody until it is resumed. {}", unheard(look, id)),
    }
}

/// What of a log survives a batch that cannot be read.
fn before(look: &Look<'_>, id: BrokerId, from: i64) -> String {
    let start = look.log(id).map_or(0, |log| log.log_start_offset());
    match offsets(start, from) {
        Some(range) => format!("Log {range} survives."),
        None => "Nothing of its log survives.".to_string(),
    }
}

/// When a damaged batch is found.
fn found(look: &Look<'_>, id: BrokerId) -> &'static str {
    match is_clean(look, id) {
        true => "after a clean stop the start does not look, and a reader finds it.",
        false => "the start finds it by its length or checksum, and cuts there.",
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

    fn all_dies(&self) -> String {
        match (&self.disk, &self.cache) {
            (None, None) => "Its log is empty; all else on its disk dies.".to_string(),
            (disk, cache) => {
                let all: Vec<&str> = disk.iter().chain(cache).map(String::as_str).collect();
                format!("Its copy of {} dies, with all else on its disk.", all.join(" and "))
            }
        }
    }

    fn recovery(&self, clean: bool) -> String {
        match (&self.disk, &self.cache) {
            (None, None) => "Its log is empty, and it registers.".to_string(),
            (disk, cache) => {
                let all: Vec<&str> = disk.iter().chain(cache).map(String::as_str).collect();
                match clean {
                    true => format!("It opens its log ({}) as it lies, and registers.", all.join(", ")),
                    false => format!("It checks its log ({}), and registers.", all.join(", ")),
                }
            }
        }
    }
}
