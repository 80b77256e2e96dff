//! A real `Partition` that leads, against the model's leader, in every story.
//!
//! What reaches a story's first leader in the model's run (news, answers of the controller, fetches, records, the look for
//! followers that lag) is given to a real one by `src/Lead.java`, and after each step both must stand alike: the committed ISR
//! and the maximal one, the partition epoch, the high watermark, the log end, and every ISR that the controller was asked for.
//! Deliberately absent: what comes after the leader has resigned or `min.insync.replicas` was changed, answers that concern a
//! whole request, and worlds with older rules.

use std::fs;
use std::sync::Arc;

use highwater::cluster::actor::TimerKind;
use highwater::cluster::broker::Leading;
use highwater::cluster::event::{AppendedAs, Cause};
use highwater::cluster::message::{Acks, AlterPartitionResult, Message, MessageKind};
use highwater::cluster::rules::Rules;
use highwater::cluster::settings::Micros;
use highwater::cluster::{BrokerId, Event, Node, TopicPartition, What, World};
use highwater::scenario::{Run, parse};

use super::{Scratch, java, story};

/// What a leader is told, and where it stands then.
struct Command {
    text: String,
    /// Where the model's leader stands, if this is the last command of a step.
    stands: Option<String>,
}

/// The part that a story's first leader plays in it.
struct Part {
    leader: BrokerId,
    partition: TopicPartition,
    before: World,
    /// How often the controller was asked for an ISR, and the last one.
    asked: (usize, String),
    commands: Vec<Command>,
    /// The news by which a wish was forgotten that was not answered yet.
    forgets: Option<usize>,
    /// What comes now is not told any more.
    over: bool,
}

impl Part {
    /// The part in this story, if anybody leads in it by today's rules.
    fn of(name: &str) -> Option<Part> {
        let text = fs::read(story(name)).unwrap();
        let mut run = Run::new(Arc::new(parse(&text).unwrap())).unwrap();
        let mut part = None;
        run.play(None, |events, world| match &mut part {
            None => part = Part::begins(world),
            Some(part) => part.step(events, world),
        });
        assert!(run.report().failures.is_empty(), "{name}");
        part.filter(|_| run.world.rules() == Rules::default())
    }

    /// The part begins when somebody leads the first partition.
    fn begins(world: &World) -> Option<Part> {
        let partition = *world.partitions().first()?;
        let mut part = Part {
            leader: world.image().leader(partition)?,
            partition,
            before: world.clone(),
            asked: (0, "none".to_owned()),
            commands: Vec::new(),
            forgets: None,
            over: false,
        };
        part.leading(world)?;
        part.told(vec![part.brokers(world), part.news(world)], world);
        Some(part)
    }

    fn step(&mut self, events: &[Event], world: &World) {
        self.over |= self.leading(world).is_none() || self.min_isr(world) != self.min_isr(&self.before);
        if self.over {
            return;
        }
        self.note_wishes(events);
        let mut told = self.fetches(world);
        told.extend(self.cause(events, world));
        told.extend(self.appends(events, world));
        self.told(told, world);
        self.before = world.clone();
    }

    fn told(&mut self, commands: Vec<String>, world: &World) {
        let commands = commands.into_iter().map(|text| Command { text, stands: None });
        self.commands.extend(commands);
        let stands = self.stands(world);
        if let Some(last) = self.commands.last_mut() {
            last.stands = Some(stands);
        }
    }

    fn leading<'a>(&self, world: &'a World) -> Option<&'a Leading> {
        world.broker(self.leader)?.replica(self.partition)?.leading()
    }

    fn min_isr(&self, world: &World) -> i64 {
        let topic = world.settings().topic_on(self.partition.topic, self.leader);
        topic.min_insync_replicas
    }

    fn note_wishes(&mut self, events: &[Event]) {
        for event in events {
            match &event.what {
                What::IsrProposed {
                    broker, partition, to, ..
                } if (*broker, *partition) == (self.leader, self.partition) => {
                    self.asked = (self.asked.0 + 1, list(to));
                }
                _ => {}
            }
        }
    }

    /// Fetches of followers that were counted in this step, some of which came before it.
    fn fetches(&self, world: &World) -> Vec<String> {
        let (Some(before), Some(after)) = (self.leading(&self.before), self.leading(world)) else {
            return Vec::new();
        };
        let mut fetches: Vec<(Micros, String)> = Vec::new();
        for (id, remote) in &after.remotes {
            let known = before.remotes.get(id).and_then(|known| known.last_fetch);
            if let Some(at) = remote.last_fetch.filter(|at| known != Some(*at)) {
                let (epoch, offset) = (remote.broker_epoch.unwrap_or(-1), remote.log_end);
                fetches.push((at, format!("{} fetch {id} {epoch} {offset}", at / 1_000)));
            }
        }
        fetches.sort();
        fetches.into_iter().map(|(_, fetch)| fetch).collect()
    }

    fn cause(&mut self, events: &[Event], world: &World) -> Vec<String> {
        let here = Node::Broker(self.leader);
        match events.first().map(|event| &event.what) {
            Some(What::Step(Cause::Fired { node, timer })) if *node == here && timer.kind == TimerKind::Lag => {
                vec![format!("{} lag", world.now() / 1_000)]
            }
            Some(What::Step(Cause::Delivered { to, kind, .. })) if *to == here => match kind {
                MessageKind::Metadata => self.metadata(world),
                MessageKind::AlterPartitionResponse => self.answer(world),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What is new for this leader in the metadata that have come.
    fn metadata(&mut self, world: &World) -> Vec<String> {
        let image = |world: &World| Arc::clone(world.broker(self.leader).unwrap().image().unwrap());
        let (before, after) = (image(&self.before), image(world));
        let mut told = Vec::new();
        if before.brokers != after.brokers {
            told.push(self.brokers(world));
        }
        if before.partition(self.partition) != after.partition(self.partition) {
            let wishes = |world| self.leading(world).unwrap().pending.is_some();
            if wishes(&self.before) && !wishes(world) {
                self.forgets = Some(self.commands.len() + told.len());
            }
            told.push(self.news(world));
        }
        told
    }

    fn brokers(&self, world: &World) -> String {
        let image = world.broker(self.leader).unwrap().image().unwrap();
        let mut told = format!("{} brokers", world.now() / 1_000);
        for (id, broker) in image.brokers.iter().filter(|(id, _)| image.isr_eligible(**id)) {
            told += &format!(" {id}:{}", broker.epoch);
        }
        told
    }

    fn news(&self, world: &World) -> String {
        let image = world.broker(self.leader).unwrap().image().unwrap();
        let partition = image.partition(self.partition).unwrap();
        format!(
            "{} news {} {} {} {}",
            world.now() / 1_000,
            partition.leader_epoch,
            partition.partition_epoch,
            joined(&partition.replicas),
            joined(&partition.isr)
        )
    }

    /// What the controller says to an ISR that it was asked for.
    fn answer(&self, world: &World) -> Vec<String> {
        let message = self.arrived(Node::Controller);
        let Some(Message::AlterPartitionResponse(_, Ok(results))) = message else {
            panic!("{message:?} is not told to a real leader")
        };
        let now = world.now() / 1_000;
        let told = results.iter().filter(|(tp, _)| *tp == self.partition);
        let told = told.map(|(_, result)| match result {
            AlterPartitionResult::Ok {
                leader_epoch,
                isr,
                partition_epoch,
                ..
            } => format!("{now} answer {leader_epoch} {partition_epoch} {}", joined(isr)),
            AlterPartitionResult::Err(error) => format!("{now} refuse {}", error.code()),
        });
        told.collect()
    }

    /// What arrives at the leader from this node in the step that is looked at.
    fn arrived(&self, from: Node) -> Option<&Message> {
        let here = Node::Broker(self.leader);
        let mut heads = self.before.network().heads();
        let (.., head) = heads.find(|(a, b, _)| (*a, *b) == (from, here))?;
        Some(&head.message)
    }

    fn appends(&self, events: &[Event], world: &World) -> Vec<String> {
        let acks = events.first().map_or(1, |event| match event.what {
            What::Step(Cause::Delivered { from, .. }) => match self.arrived(from) {
                Some(Message::Produce(_, request)) if request.acks == Acks::All => -1,
                _ => 1,
            },
            _ => 1,
        });
        let appended = |event: &Event| match &event.what {
            What::Appended {
                broker,
                partition,
                by: AppendedAs::Leader,
                batch,
            } if (*broker, *partition) == (self.leader, self.partition) => Some(format!(
                "{} append {acks} {}",
                world.now() / 1_000,
                batch.records_count()
            )),
            _ => None,
        };
        events.iter().filter_map(appended).collect()
    }

    /// In the words of `Lead.java`.
    fn stands(&self, world: &World) -> String {
        let replica = world.broker(self.leader).unwrap().replica(self.partition).unwrap();
        let leading = replica.leading().unwrap();
        format!(
            "isr={} maximal={} epoch={} hw={} end={} asked={}:{}",
            list(&leading.isr),
            list(leading.maximal_isr()),
            replica.partition_epoch().unwrap(),
            replica.high_watermark().unwrap(),
            replica.log_end(),
            self.asked.0,
            self.asked.1
        )
    }

    /// The line that begins a real leader like this one.
    fn begin(&self, folder: &str) -> String {
        let settings = self.before.settings();
        let lag = settings.broker(self.leader).replica_lag_time_max_ms;
        let min_isr = self.min_isr(&self.before);
        let epoch = self.before.image().broker_epoch(self.leader).unwrap_or(-1);
        format!(
            "begin\t{folder}\t{}\t{epoch}\t{lag}\tmin.insync.replicas={min_isr}",
            self.leader
        )
    }
}

fn joined(ids: &[BrokerId]) -> String {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ids.join(",")
}

/// In the order of their numbers.
fn list(ids: &[BrokerId]) -> String {
    let mut ids = ids.to_vec();
    ids.sort();
    joined(&ids)
}

/// Where real leaders stand after each of their commands, all asked in one process.
fn real_leaders(name: &str, asked: &[(&Part, Vec<String>)]) -> Vec<Vec<String>> {
    let scratch = Scratch::new(&format!("lead-{name}"));
    let mut lines = Vec::new();
    for (at, (part, commands)) in asked.iter().enumerate() {
        let folder = scratch.0.join(at.to_string());
        fs::create_dir(&folder).unwrap();
        lines.push(part.begin(&folder.display().to_string()));
        lines.extend(commands.iter().map(|command| command.replace(' ', "\t")));
    }
    let answer = String::from_utf8(java("Lead", &lines)).unwrap();
    assert_eq!(answer.lines().count(), lines.len(), "{answer}");
    let mut rest = answer.lines().map(str::to_owned);
    let stands = |(_, commands): &(&Part, Vec<String>)| rest.by_ref().skip(1).take(commands.len()).collect();
    asked.iter().map(stands).collect()
}

fn texts(commands: &[Command]) -> Vec<String> {
    commands.iter().map(|command| command.text.clone()).collect()
}

#[test]
#[ignore = "asks a real Kafka: cargo xtask test --only kafka"]
fn a_real_leader_stands_where_ours_does() {
    let parts: Vec<(String, Part)> = stories()
        .into_iter()
        .filter_map(|name| Part::of(&name).map(|part| (name, part)))
        .collect();
    let changing = parts.iter().filter(|(_, part)| part.asked.0 > 0).count();
    assert!(changing >= 40, "{changing} of {} with another ISR", parts.len());
    let asked: Vec<_> = parts.iter().map(|(_, part)| (part, texts(&part.commands))).collect();
    let mut differ = String::new();
    for ((name, part), real) in parts.iter().zip(real_leaders("stories", &asked)) {
        let mut told = part.commands.iter().zip(&real);
        let first = told.find(|(command, real)| command.stands.as_ref().is_some_and(|ours| ours != *real));
        if let Some((Command { text, stands }, real)) = first {
            let ours = stands.as_deref().unwrap_or_default();
            differ += &format!("{name}: {text}\n  Kafka {real}\n  ours  {ours}\n");
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

/// All stories, by name.
fn stories() -> Vec<String> {
    let files = fs::read_dir(story("").parent().unwrap()).unwrap();
    let names = files.filter_map(|file| file.unwrap().file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".txt")?.to_owned()))
        .collect();
    names.sort();
    names
}

/// The discovery: news with the partition epoch that the leader knows already make it forget whom it has asked for, and its
/// watermark passes it. Without them, or with older ones, it waits.
#[test]
#[ignore = "asks a real Kafka: cargo xtask test --only kafka"]
fn a_real_leader_forgets_whom_it_has_asked_for() {
    let part = Part::of("d01-an-isr-wish-forgotten").unwrap();
    let at = part.forgets.expect("the wish is forgotten");
    let told = texts(&part.commands);
    let mut without = told.clone();
    without.remove(at);
    let mut older = told.clone();
    let known = " news 0 1 ";
    assert!(older[at].contains(known), "{}", older[at]);
    older[at] = older[at].replace(known, " news 0 0 ");

    let stands = real_leaders("wish", &[told, without, older].map(|commands| (&part, commands)));
    let ends: Vec<&String> = stands.iter().filter_map(|stands| stands.last()).collect();
    let forgotten = "isr=1,2 maximal=1,2 epoch=1 hw=4 end=4 asked=2:1,2,3";
    let waits = "isr=1,2 maximal=1,2,3 epoch=1 hw=2 end=4 asked=2:1,2,3";
    assert_eq!(ends, [forgotten, waits, waits]);
}
