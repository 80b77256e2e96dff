//! What each state costs: a copy of the world, one step of it, its fingerprint. Timed natively and in a browser,
//! each with a clock of its own.

use std::hint::black_box;
use std::sync::Arc;

use highwater::cluster::input::{Destination, Send, Template};
use highwater::cluster::{BrokerId, ClientId, Input, Setup, Silent, TopicId, World, step};

/// Three brokers, one partition on all of them, one producer with Kafka's defaults.
pub fn cluster() -> World {
    let mut world = World::new(Setup::default());
    let replicas = vec![(1..=3).map(BrokerId).collect()];
    let topic = Input::CreateTopic {
        name: "t".into(),
        assignment: replicas,
        config: Vec::new(),
    };
    let producer = Input::AddProducer("app".into(), Box::default());
    for input in [topic, producer] {
        step(&mut world, input, &mut Silent).expect("the set-up applies");
    }
    world
}

/// So many records of so many bytes, handed to the producer.
pub fn send(count: u32, bytes: usize) -> Input {
    Input::Send(
        ClientId(0),
        Box::new(Send {
            to: Destination::Topic(TopicId(0)),
            key: Template::Null,
            value: Template::Bytes(vec![b'x'; bytes].into()),
            timestamp: None,
            headers: Arc::new([]),
            count,
            every: None,
        }),
    )
}

/// Goes on until every record is decided.
pub fn run_until_decided(world: &mut World) {
    while world.undecided() > 0 {
        step(world, Input::Next, &mut Silent).expect("something is pending while a record is undecided");
    }
}

/// A world in which this many records are in every log.
pub fn settled(records: u32) -> World {
    let mut world = cluster();
    step(&mut world, send(records, 100), &mut Silent).expect("the producer runs");
    run_until_decided(&mut world);
    world
}

/// Goes through the states of two more records, so many times. Gives how many states that were.
pub fn walk(world: &World, times: usize) -> usize {
    let mut busy = world.clone();
    step(&mut busy, send(2, 100), &mut Silent).expect("the producer runs");
    let mut states = 0;
    for _ in 0..times {
        let mut state = busy.clone();
        while state.undecided() > 0 {
            let mut next = state.clone();
            step(&mut next, Input::Next, &mut Silent).expect("something is pending");
            black_box(next.fingerprint());
            states += 1;
            state = next;
        }
    }
    states
}
