//! Performing a step: topics, faults, the operator's acts. Clients and raw requests stand beside this.

use super::ask::put_error;
use super::conditions;
use super::members::Goodbye;
use super::run::{MS, Observed, Run, SECOND};
use super::state;
use super::step::{OneOrMany, Step, Whom, text};
use crate::cluster::input::{CheckpointFile, ConfigTarget, ElectionType, Keep};
use crate::cluster::settings::Micros;
use crate::cluster::{BrokerId, Input, TopicPartition};
use crate::log::Errors;
use serde_json::{Map, Value};

/// The longest that a script can have something waited for, milliseconds: an hour.
const LONGEST_MS: u64 = 3_600_000;
/// After a pause: so long until the paused broker has no fetch parked at a leader.
const AFTER_PAUSE: Micros = 800 * MS;
/// After a change of a config.
const AFTER_CONFIG: Micros = 300 * MS;
/// How long an assignment is waited for if the script says nothing.
const ASSIGNED: Micros = 20 * SECOND;
/// How long records are waited for if the script says nothing.
const CONSUME: Micros = 15 * SECOND;
/// How long conditions are waited for if the script says nothing.
const AWAIT: Micros = 15 * SECOND;
/// How long a stopping broker is waited for if the script says nothing.
const STOPS: Micros = 20 * SECOND;
/// How long a starting broker is waited for.
const STARTS: Micros = 90 * SECOND;
/// How long the admin client tries (`default.api.timeout.ms`).
const ADMIN: Micros = 20 * SECOND;

impl Run {
    /// Performs a step and gives what the recorder observes of it.
    pub fn perform(&mut self, step: Step) -> Result<Observed, String> {
        let mut seen = Observed::new();
        match step {
            Step::Topic { name, replicas, rest } => {
                self.create(name.as_deref().unwrap_or("t"), replicas.as_ref(), &rest)?
            }
            Step::Send(send) => self.send(*send, &mut seen)?,
            Step::Join { name } => self.join(&name, &mut seen)?,
            Step::Pending { name } => {
                seen.insert("done".into(), self.is_done(&name).into());
            }
            Step::Producer { name, configs } => self.add_producer(&name, &configs)?,
            Step::Produce(produce) => self.produce(&produce, &mut seen)?,
            Step::Flush { name } => self.flush(&name, &mut seen)?,
            Step::Pause { b } => self.pause(b.all())?,
            Step::Resume { b } => self.resume(b.all())?,
            Step::Start { b, wait } => self.start(&[b], wait, &mut seen)?,
            Step::Startall { b } => self.start(b.as_ref().map_or(&[1, 2, 3], OneOrMany::all), true, &mut seen)?,
            Step::ListOffsets { name, query } => self.list_offsets(name.as_ref(), &query, &mut seen)?,
            Step::EpochEnd { epoch, query } => self.epoch_end(epoch, &query, &mut seen)?,
            Step::Fetch { offset, max, query } => self.fetch(offset, max, &query, &mut seen)?,
            Step::Disk { place } => {
                let tp = self.partition(&place)?;
                seen.insert("files".into(), state::files(&self.world, tp));
            }
            Step::Await {
                place,
                timeout,
                conditions,
            } => {
                let tp = self.partition(&place)?;
                conditions::check(&conditions)?;
                let patience = span(timeout, AWAIT)?;
                let reached = self.look_for(patience, |run| conditions::hold(run, tp, &conditions));
                seen.insert("reached".into(), reached.into());
            }
            Step::Sleep { ms } => self.wait(span(ms, SECOND)?),
            member @ (Step::Consumer { .. }
            | Step::Assigned { .. }
            | Step::Consume { .. }
            | Step::Position { .. }
            | Step::Commit { .. }
            | Step::Committed { .. }
            | Step::Leave { .. }
            | Step::Crash { .. }) => self.with_member(member, &mut seen)?,
            fault @ (Step::Kill { .. }
            | Step::Killall { .. }
            | Step::Stop { .. }
            | Step::Wipe { .. }
            | Step::WipePartition { .. }
            | Step::ForgetCheckpoints { .. }
            | Step::Cut { .. }) => self.fault(fault, &mut seen)?,
            act => self.operate(act, &mut seen)?,
        }
        Ok(seen)
    }

    /// What a consumer does, and what is seen of its group.
    fn with_member(&mut self, step: Step, seen: &mut Observed) -> Result<(), String> {
        match step {
            Step::Consumer { name, group, configs } => self.add_member(&name, &group, &configs),
            Step::Assigned { group, timeout } => self.assigned(&group, span(timeout, ASSIGNED)?, seen),
            Step::Consume { name, n, timeout } => self.consume(&name, n, span(timeout, CONSUME)?, seen),
            Step::Position { name } => self.position(&name, seen),
            Step::Commit { name } => self.commit(&name, seen),
            Step::Committed { group } => self.committed(&group, seen),
            Step::Leave { name } => self.end_member(&name, Goodbye::Said),
            Step::Crash { name } => self.end_member(&name, Goodbye::Unsaid),
            _ => Ok(()),
        }
    }

    /// What is done to processes and disks.
    fn fault(&mut self, step: Step, seen: &mut Observed) -> Result<(), String> {
        match step {
            Step::Kill { b, place } => {
                let tp = self.partition(&place)?;
                self.kill(self.broker(tp, b.as_ref()).as_slice())
            }
            Step::Killall { b } => {
                let all: Vec<BrokerId> = b
                    .as_ref()
                    .map_or(&[1, 2, 3][..], OneOrMany::all)
                    .iter()
                    .copied()
                    .map(BrokerId)
                    .collect();
                self.kill(&all)
            }
            Step::Stop { b, timeout, place } => {
                let tp = self.partition(&place)?;
                let id = self.broker(tp, b.as_ref()).ok_or("there is no leader to stop")?;
                if self.is_paused(id) {
                    self.stop_when_resumed.push(id);
                } else if self.is_running(id) {
                    self.must(Input::Stop(id))?;
                }
                let patience = span(timeout, STOPS)?;
                let exited = self.wait_for(patience, |run| !run.is_running(id));
                seen.insert("exitedBeforeTimeout".into(), exited.into());
                Ok(())
            }
            Step::Wipe { b } => self.must(Input::Wipe(BrokerId(b))),
            Step::WipePartition { place, b } => {
                let tp = self.partition(&place)?;
                self.must(Input::WipePartition(tp, BrokerId(b)))
            }
            Step::ForgetCheckpoints { b, files } => {
                let own = ["replication-offset-checkpoint".to_owned()];
                for name in files.as_ref().map_or(&own[..], OneOrMany::all) {
                    self.must(Input::LoseCheckpoint(BrokerId(b), checkpoint_file(name)?))?;
                }
                Ok(())
            }
            Step::Cut { place, b, at, torn } => {
                let tp = self.partition(&place)?;
                let dropped = self.cut(tp, BrokerId(b), at, torn)?;
                seen.insert("droppedOffsets".into(), dropped.into());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What the admin client does. It needs a broker to talk to.
    fn operate(&mut self, step: Step, seen: &mut Observed) -> Result<(), String> {
        let awake = |run: &Run| run.world.brokers().any(|b| b.image().is_some() && !b.is_paused());
        if !self.look_for(ADMIN, awake) {
            put_error(seen, Some(Errors::RequestTimedOut));
            return Ok(());
        }
        match step {
            Step::Config { topic, broker, configs } => {
                let target = match broker.as_ref().map(text).as_deref() {
                    None => ConfigTarget::Topic(self.topic(topic.as_deref())?),
                    Some("all") => ConfigTarget::Brokers,
                    Some(id) => ConfigTarget::Broker(BrokerId(id.parse().map_err(|_| format!("{id} is no broker"))?)),
                };
                self.configure(target, &configs, seen);
            }
            Step::Elect { name, place } => {
                let how = match name.as_deref() {
                    Some("unclean") => ElectionType::Unclean,
                    _ => ElectionType::Preferred,
                };
                let tp = self.partition(&place)?;
                self.ask_controller(Input::Elect(tp, how), seen);
            }
            Step::Reassign { replicas, place } => {
                let tp = self.partition(&place)?;
                let replicas = replicas.all().iter().copied().map(BrokerId).collect();
                self.ask_controller(Input::Reassign(tp, replicas), seen);
            }
            Step::DeleteRecords { before, timeout, place } => {
                let tp = self.partition(&place)?;
                let patience = span(u64::try_from(timeout).ok(), 0)?;
                self.delete_records(tp, before.unwrap_or(-1), patience, seen)?;
            }
            Step::Describe { place } => {
                let tp = self.partition(&place)?;
                *seen = state::describe(&self.world, tp);
            }
            _ => {}
        }
        Ok(())
    }

    fn create(
        &mut self,
        name: &str,
        replicas: Option<&OneOrMany<u16>>,
        rest: &Map<String, Value>,
    ) -> Result<(), String> {
        let ids = |list: &[u16]| list.iter().map(|&id| BrokerId(id)).collect::<Vec<_>>();
        let mut assignment: Vec<Vec<BrokerId>> = replicas.iter().map(|list| ids(list.all())).collect();
        let mut config = Vec::new();
        for (key, value) in rest {
            let partition = key.strip_prefix('p').and_then(|digits| digits.parse::<usize>().ok());
            if partition.is_some() {
                let list: OneOrMany<u16> = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
                assignment.push(ids(list.all()));
            } else {
                config.push((key.clone(), text(value)));
            }
        }
        self.must(Input::CreateTopic {
            name: name.into(),
            assignment,
            config,
        })
    }

    fn kill(&mut self, brokers: &[BrokerId]) -> Result<(), String> {
        for &id in brokers {
            if self.is_running(id) {
                self.must(Input::Kill(id))?;
            }
        }
        Ok(())
    }

    fn pause(&mut self, whom: &[Whom]) -> Result<(), String> {
        for one in whom {
            match one {
                Whom::Broker(id) => self.must(Input::Pause(BrokerId(*id)))?,
                // Frozen or gone is the same to those who hear nothing of it.
                Whom::Named(_) => return self.must(Input::KillController),
            }
        }
        self.wait(AFTER_PAUSE);
        Ok(())
    }

    fn resume(&mut self, whom: &[Whom]) -> Result<(), String> {
        for one in whom {
            match one {
                Whom::Broker(id) => {
                    let id = BrokerId(*id);
                    self.must(Input::Resume(id))?;
                    if self.stop_when_resumed.contains(&id) {
                        self.stop_when_resumed.retain(|other| *other != id);
                        self.must(Input::Stop(id))?;
                    }
                }
                Whom::Named(_) => self.must(Input::StartController)?,
            }
        }
        Ok(())
    }

    fn start(&mut self, brokers: &[u16], wait: bool, seen: &mut Observed) -> Result<(), String> {
        for &id in brokers {
            self.must(Input::Start(BrokerId(id), self.race))?;
        }
        let unfenced = !wait || self.look_for(STARTS, |run| brokers.iter().all(|&id| run.is_unfenced(BrokerId(id))));
        seen.insert("unfenced".into(), unfenced.into());
        Ok(())
    }

    /// Whether the controller has unfenced the process that runs now.
    fn is_unfenced(&self, id: BrokerId) -> bool {
        let process = self.world.broker(id).and_then(|broker| broker.process());
        let known = self.world.controller().state().broker(id);
        process
            .zip(known)
            .is_some_and(|(process, known)| process.epoch == Some(known.epoch) && !known.fenced)
    }

    /// Shortens the log of a stopped broker. Gives how many offsets it lost.
    fn cut(&mut self, tp: TopicPartition, id: BrokerId, at: i64, torn: bool) -> Result<i64, String> {
        let broker = self.world.broker(id).ok_or("there is no such broker")?;
        let replica = broker.replica(tp).ok_or("this broker has no such replica")?;
        let lost = replica.batches().filter(|batch| batch.last_offset() >= at);
        let dropped = lost.map(|batch| batch.next_offset() - batch.base_offset()).sum();
        let torn_end = replica.batch_at(at).map(|batch| batch.next_offset()).filter(|_| torn);
        let held = broker.partitions().into_iter();
        let ends = held.filter_map(|held| Some((held, broker.replica(held)?.log_end())));
        let keep = ends.map(|(held, end)| (held, if held == tp { torn_end.unwrap_or(at) } else { end }));
        let keep = Keep::Below(keep.collect());
        self.must(Input::PowerOff(id, keep))?;
        if torn_end.is_some() {
            self.must(Input::Tear(tp, id, None))?;
        }
        Ok(dropped)
    }

    fn configure(&mut self, target: ConfigTarget, configs: &Map<String, Value>, seen: &mut Observed) {
        self.configures = true;
        let configs = configs.iter().map(|(name, value)| (name.clone(), text(value)));
        let error = match self.act(Input::Configure(target, configs.collect())) {
            Ok(()) => self.world.answer(),
            Err(_) => Some(Errors::InvalidConfig),
        };
        self.configures = false;
        put_error(seen, error);
        self.wait(AFTER_CONFIG);
    }

    /// Lets the controller do something; without it nobody answers.
    fn ask_controller(&mut self, input: Input, seen: &mut Observed) {
        let error = match self.act(input) {
            Ok(()) => self.world.answer(),
            Err(_) => {
                self.wait(ADMIN);
                Some(Errors::RequestTimedOut)
            }
        };
        put_error(seen, error);
    }

    fn delete_records(
        &mut self,
        tp: TopicPartition,
        before: i64,
        patience: Micros,
        seen: &mut Observed,
    ) -> Result<(), String> {
        let serving = |run: &Run| {
            run.world
                .image()
                .leader(tp)
                .filter(|&id| run.is_running(id) && !run.is_paused(id))
        };
        if !self.look_for(patience, |run| serving(run).is_some()) {
            put_error(seen, Some(Errors::RequestTimedOut));
            return Ok(());
        }
        self.must(Input::DeleteRecords(tp, before))?;
        if !self.look_for(patience, |run| !run.world.awaits_answer()) {
            put_error(seen, Some(Errors::RequestTimedOut));
            return Ok(());
        }
        put_error(seen, self.world.answer());
        let leader = serving(self).and_then(|id| self.world.broker(id));
        if let (None, Some(replica)) = (self.world.answer(), leader.and_then(|broker| broker.replica(tp))) {
            seen.insert("lowWatermark".into(), replica.log_start().into());
        }
        Ok(())
    }
}

/// A script's milliseconds, or what holds without them.
fn span(ms: Option<u64>, otherwise: Micros) -> Result<Micros, String> {
    match ms {
        None => Ok(otherwise),
        Some(ms @ ..=LONGEST_MS) => Ok(ms * MS),
        Some(ms) => Err(format!("{ms} ms are longer than the {LONGEST_MS} that a step can take")),
    }
}

fn checkpoint_file(name: &str) -> Result<CheckpointFile, String> {
    match name {
        "replication-offset-checkpoint" => Ok(CheckpointFile::HighWatermark),
        "recovery-point-offset-checkpoint" => Ok(CheckpointFile::RecoveryPoint),
        "log-start-offset-checkpoint" => Ok(CheckpointFile::LogStart),
        other => Err(format!("{other} is no checkpoint file")),
    }
}
