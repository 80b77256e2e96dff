//! The application in front of a producer: what it still has to hand over, and when.
//!
//! A `send` names a run of records; each gets its number (`P#N`) when the run is declared, so that a later run's numbers
//! do not depend on how far an earlier one got. Records of one run are handed over at one instant, or at a distance. A
//! raw run waits for the outcome of each record before it hands over the next, like a caller without a client.

use std::sync::Arc;

use crate::cluster::actor::Cx;
use crate::cluster::event::Tag;
use crate::cluster::ids::ClientId;
use crate::cluster::input::{Destination, Send, Template};
use crate::cluster::settings::Micros;
use crate::log::{Bytes, Encoder, Record};

/// A record on its way from the application to the producer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handed {
    /// Its name.
    pub(super) tag: Tag,
    /// Where it should go.
    pub(super) to: Destination,
    /// What it is.
    pub(super) record: Record,
}

#[derive(Clone, Debug, PartialEq)]
struct Run {
    send: Arc<Send>,
    /// The number of its first record.
    first: u32,
    /// How many were handed over.
    done: u32,
    /// When the next one is.
    due: Micros,
    /// The raw record whose outcome it waits for.
    awaits: Option<u32>,
}

/// What the application still has to hand over.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Application {
    client: ClientId,
    runs: Vec<Run>,
    /// How many numbers are taken.
    numbers: u32,
    /// The record that waits for memory or for what the client does not know yet, and since when.
    blocked: Option<(Handed, Micros)>,
}

impl Application {
    pub(super) fn new(client: ClientId) -> Application {
        Application {
            client,
            runs: Vec::new(),
            numbers: 0,
            blocked: None,
        }
    }

    /// Takes a run; its first record is due at once.
    pub(super) fn begin(&mut self, send: &Send, now: Micros) {
        let run = Run {
            send: Arc::new(send.clone()),
            first: self.numbers + 1,
            done: 0,
            due: now,
            awaits: None,
        };
        self.numbers += send.count;
        if send.count > 0 {
            self.runs.push(run);
        }
    }

    /// The next record that is due, and that nothing holds up.
    pub(super) fn next(&mut self, cx: &Cx) -> Option<Handed> {
        if self.blocked.is_some() {
            return None;
        }
        let ready = self
            .runs
            .iter_mut()
            .filter(|run| run.awaits.is_none() && run.due <= cx.now);
        let run = ready.min_by_key(|run| run.due)?;
        let number = run.first + run.done;
        let handed = Handed {
            tag: Tag {
                client: self.client,
                number,
            },
            to: run.send.to,
            record: record(&run.send, run.done, number, cx.wall_ms()),
        };
        run.done += 1;
        run.due += run.send.every.unwrap_or(0);
        if matches!(run.send.to, Destination::Broker(..)) && run.send.every.is_none() {
            run.awaits = Some(number);
        }
        self.runs.retain(|run| run.done < run.send.count);
        Some(handed)
    }

    /// The client cannot take a record yet: the application has waited since then, and goes on waiting.
    pub(super) fn block(&mut self, handed: Handed, since: Micros) {
        self.blocked = Some((handed, since));
    }

    /// The record that waits, to be tried again, and since when it waits.
    pub(super) fn unblock(&mut self) -> Option<(Handed, Micros)> {
        self.blocked.take()
    }

    /// The record that waits.
    pub(super) fn blocked(&self) -> Option<&Handed> {
        self.blocked.as_ref().map(|(handed, _)| handed)
    }

    /// Since when the application waits with a record.
    pub(super) fn blocked_since(&self) -> Option<Micros> {
        self.blocked.as_ref().map(|&(_, since)| since)
    }

    /// A raw record was decided: its run goes on.
    pub(super) fn decided(&mut self, number: u32, now: Micros) {
        for run in self.runs.iter_mut().filter(|run| run.awaits == Some(number)) {
            run.awaits = None;
            run.due = now;
        }
    }

    /// Whether the record with this number is still to be handed over.
    pub(super) fn holds(&self, number: u32) -> bool {
        let blocked = self.blocked().is_some_and(|handed| handed.tag.number == number);
        let waits = |run: &Run| (run.first + run.done..run.first + run.send.count).contains(&number);
        blocked || self.runs.iter().any(waits)
    }

    /// How many records it has got, those not yet handed over included.
    pub(super) const fn numbers(&self) -> u32 {
        self.numbers
    }

    /// Nothing more is handed over; says how many records that concerns.
    pub(super) fn stop(&mut self) -> u32 {
        let waiting = u32::from(self.blocked.take().is_some());
        waiting + self.runs.drain(..).map(|run| run.send.count - run.done).sum::<u32>()
    }

    /// When the next record is due, of those that nothing holds up.
    pub(super) fn next_due(&self) -> Option<Micros> {
        self.runs
            .iter()
            .filter(|run| run.awaits.is_none())
            .map(|run| run.due)
            .min()
    }

    /// The part of the canonical encoding that does not depend on the clock.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.numbers);
        encoder.len(self.runs.len());
        for run in &self.runs {
            encode_send(&run.send, encoder);
            encoder.u32(run.first);
            encoder.u32(run.done);
            encoder.option(run.awaits, Encoder::u32);
        }
        encoder.option(self.blocked.as_ref(), |encoder, (handed, _)| {
            encoder.u32(handed.tag.number);
            encode_destination(handed.to, encoder);
            encoder.u128(
                crate::log::Batch::build(std::slice::from_ref(&handed.record), None, Arc::default()).fingerprint(),
            );
        });
    }

    /// The part that does, relative to now.
    pub(super) fn encode_times(&self, now: Micros, encoder: &mut Encoder) {
        for run in &self.runs {
            encoder.u64(run.due.saturating_sub(now));
        }
        encoder.option(self.blocked_since(), |encoder, since| encoder.u64(now - since));
    }
}

/// The record at this place of a run.
fn record(send: &Send, index: u32, number: u32, wall_ms: i64) -> Record {
    Record {
        key: fill(&send.key, index, number),
        value: fill(&send.value, index, number),
        headers: send.headers.to_vec(),
        timestamp: send.timestamp.unwrap_or(wall_ms),
    }
}

fn fill(template: &Template, index: u32, number: u32) -> Option<Bytes> {
    let text = match template {
        Template::Null => return None,
        Template::Bytes(bytes) => return Some(Arc::clone(bytes)),
        Template::Counted(text) => text.replace("{n}", &index.to_string()),
        Template::Number => number.to_string(),
    };
    Some(text.into_bytes().into())
}

fn encode_send(send: &Send, encoder: &mut Encoder) {
    encode_destination(send.to, encoder);
    for template in [&send.key, &send.value] {
        match template {
            Template::Null => encoder.u8(0),
            Template::Bytes(bytes) => {
                encoder.u8(1);
                encoder.bytes(bytes);
            }
            Template::Counted(text) => {
                encoder.u8(2);
                encoder.str(text);
            }
            Template::Number => encoder.u8(3),
        }
    }
    encoder.option(send.timestamp, Encoder::i64);
    encoder.len(send.headers.len());
    for header in send.headers.iter() {
        encoder.str(&header.key);
        encoder.option(header.value.as_deref(), Encoder::bytes);
    }
    encoder.u32(send.count);
    encoder.option(send.every, Encoder::u64);
}

fn encode_destination(to: Destination, encoder: &mut Encoder) {
    let (kind, topic, partition, broker) = match to {
        Destination::Topic(topic) => (0, topic, 0, 0),
        Destination::Partition(tp) => (1, tp.topic, tp.partition, 0),
        Destination::Broker(tp, broker) => (2, tp.topic, tp.partition, broker.0),
    };
    encoder.u8(kind);
    encoder.u16(topic.0);
    encoder.u32(partition);
    encoder.u16(broker);
}
