//! The whole of a run at one instant: the model, which decides everything, and bookkeeping beside it.
//!
//! Two worlds are the same when their models are; [`World::fingerprint`] stands for that. State changes only in
//! [`step`](crate::cluster::step::step). Cheap to clone: brokers, replicas, clients and settings are shared until changed.

use std::sync::Arc;

use crate::cluster::actor::{Reach, Timer};
use crate::cluster::broker::Broker;
use crate::cluster::client::Client;
use crate::cluster::controller::ElrFeature;
use crate::cluster::controller_node::ControllerNode;
use crate::cluster::event::BrokerState;
use crate::cluster::heartbeats;
use crate::cluster::ids::{BrokerId, ClientId, Node, TopicId, TopicPartition};
use crate::cluster::image::Image;
use crate::cluster::network::Network;
use crate::cluster::rules::Rules;
use crate::cluster::settings::{Disk, Micros, Settings};
use crate::cluster::timers::Timers;
use crate::cluster::tracked::Tracked;
use crate::config::BrokerConfig;
use crate::log::{Encoder, Errors};

/// How a world begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Seeds the few choices that Kafka leaves to chance.
    pub seed: u64,
    /// Wall clock at virtual time 0, milliseconds since 1970.
    pub clock_ms: i64,
    /// The ELR feature.
    pub elr: ElrFeature,
    /// The rules in force.
    pub rules: Rules,
    /// Configs of each broker; broker B stands at index B - 1.
    pub brokers: Vec<BrokerConfig>,
    /// Configs of the controller.
    pub controller: BrokerConfig,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            seed: 0,
            clock_ms: 1_700_000_000_000,
            elr: ElrFeature::On,
            rules: Rules::default(),
            brokers: vec![BrokerConfig::default(); 3],
            controller: BrokerConfig::default(),
        }
    }
}

/// What decides everything that happens, and what two worlds are compared by.
#[derive(Clone)]
pub(crate) struct Model {
    pub now: Micros,
    pub settings: Arc<Settings>,
    pub rules: Rules,
    pub controller: Tracked<ControllerNode>,
    pub brokers: Vec<Tracked<Broker>>,
    pub clients: Vec<Tracked<Client>>,
    pub network: Network,
    pub timers: Timers,
}

/// What is counted and kept for people, and decides nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    /// How many inputs were performed.
    pub steps: u64,
    /// What the latest operator's act was answered with.
    pub answer: Option<Errors>,
}

/// Everything at one instant.
#[derive(Clone)]
pub struct World {
    pub(crate) model: Model,
    pub(crate) book: Book,
}

impl World {
    /// A cluster whose brokers are up, registered and unfenced at time 0.
    pub fn new(setup: Setup) -> World {
        let count = setup.brokers.len();
        let settings = Settings {
            seed: setup.seed,
            clock_ms: setup.clock_ms,
            disks: vec![Disk::default(); count],
            brokers: setup.brokers,
            controller: setup.controller,
            ..Settings::default()
        };
        let ids = || (1..=count as u16).map(BrokerId);
        let controller = ControllerNode::new(&settings, setup.elr, setup.rules, ids());
        let image = controller.image();
        let brokers = ids()
            .map(|id| Tracked::new(Broker::boot(id, Arc::clone(&image))))
            .collect();
        let model = Model {
            now: 0,
            settings: Arc::new(settings),
            rules: setup.rules,
            controller: Tracked::new(controller),
            brokers,
            clients: Vec::new(),
            network: Network::default(),
            timers: Timers::default(),
        };
        let mut world = World {
            model,
            book: Book::default(),
        };
        heartbeats::begin(&mut world);
        world
    }

    /// Virtual time since the start, in microseconds.
    pub fn now(&self) -> Micros {
        self.model.now
    }

    /// Names, configs, latencies.
    pub fn settings(&self) -> &Settings {
        &self.model.settings
    }

    /// The rules in force.
    pub fn rules(&self) -> Rules {
        self.model.rules
    }

    /// How many inputs were performed.
    pub fn steps(&self) -> u64 {
        self.book.steps
    }

    /// What the latest operator's act was answered with, if it was an error.
    pub fn answer(&self) -> Option<Errors> {
        self.book.answer
    }

    /// Whether an operator's act still waits for its answer.
    pub fn awaits_answer(&self) -> bool {
        self.brokers().any(Broker::is_deleting)
    }

    /// The controller.
    pub fn controller(&self) -> &ControllerNode {
        &self.model.controller
    }

    /// How many replicas of a partition its leader wants in sync: `min.insync.replicas`, or all of them if they are fewer;
    /// nothing without a leader.
    pub fn min_isr(&self, tp: TopicPartition) -> Option<usize> {
        let image = self.image();
        let state = image.partition(tp)?;
        let configured = self.settings().topic_on(tp.topic, state.leader?).min_insync_replicas;
        usize::try_from(configured)
            .ok()
            .map(|configured| configured.min(state.replicas.len()))
    }

    /// What the controller has decided, as of now.
    pub fn image(&self) -> Arc<Image> {
        self.model.controller.image()
    }

    /// The ids of all brokers, ascending.
    pub fn broker_ids(&self) -> impl Iterator<Item = BrokerId> + use<> {
        (1..=self.model.brokers.len() as u16).map(BrokerId)
    }

    /// The broker, if there is one with this id.
    pub fn broker(&self, id: BrokerId) -> Option<&Broker> {
        self.model.brokers.get(usize::from(id.0).checked_sub(1)?).map(|b| &**b)
    }

    /// All brokers, ascending.
    pub fn brokers(&self) -> impl Iterator<Item = &Broker> + '_ {
        self.model.brokers.iter().map(|b| &**b)
    }

    /// The client, if there is one with this id.
    pub fn client(&self, id: ClientId) -> Option<&Client> {
        self.model.clients.get(usize::from(id.0)).map(|c| &**c)
    }

    /// All clients in order of declaration, with their ids.
    pub fn clients(&self) -> impl Iterator<Item = (ClientId, &Client)> + '_ {
        self.model
            .clients
            .iter()
            .enumerate()
            .map(|(at, c)| (ClientId(at as u16), &**c))
    }

    /// The client with this name.
    pub fn client_named(&self, name: &str) -> Option<ClientId> {
        let at = self.model.settings.clients.iter().position(|n| &**n == name)?;
        Some(ClientId(at as u16))
    }

    /// The topic with this name: the one that exists, or else the last one that did.
    pub fn topic_named(&self, name: &str) -> Option<TopicId> {
        let found = self
            .model
            .settings
            .topics
            .iter()
            .rev()
            .find(|(_, topic)| &*topic.name == name);
        found.map(|(id, _)| *id)
    }

    /// All partitions that exist, in order.
    pub fn partitions(&self) -> Vec<TopicPartition> {
        self.image().partitions.keys().copied().collect()
    }

    /// A partition's name, `topic-0`.
    pub fn partition_name(&self, tp: TopicPartition) -> String {
        format!("{}-{}", self.model.settings.topic(tp.topic).name, tp.partition)
    }

    /// A node's name as scenarios write it.
    pub fn node_name(&self, node: Node) -> String {
        match node {
            Node::Controller => "controller".to_owned(),
            Node::Broker(id) => id.to_string(),
            Node::Client(id) => self.model.settings.client(id).to_owned(),
        }
    }

    /// The wires.
    pub fn network(&self) -> &Network {
        &self.model.network
    }

    /// The armed deadlines.
    pub fn timers(&self) -> &Timers {
        &self.model.timers
    }

    /// A broker's state as its operator and the controller see it together.
    pub fn broker_state(&self, id: BrokerId) -> Option<BrokerState> {
        Some(self.broker(id)?.state())
    }

    /// Whom a node could open a connection to right now.
    pub(crate) fn reach(&self, from: Node) -> Reach {
        let mut nodes = Vec::with_capacity(self.model.brokers.len() + 1);
        if self.controller().is_up() && self.model.network.connects(from, Node::Controller) {
            nodes.push(Node::Controller);
        }
        let brokers = self
            .model
            .brokers
            .iter()
            .filter(|b| self.has_ports_open(b.id()) || from == Node::Controller && b.is_running())
            .map(|b| Node::Broker(b.id()));
        nodes.extend(brokers.filter(|&node| node != from && self.model.network.connects(from, node)));
        Reach { nodes }
    }

    /// Whether a broker takes connections of brokers and clients: a starting one does when it has read the metadata.
    pub(crate) fn has_ports_open(&self, id: BrokerId) -> bool {
        self.broker(id).is_some_and(|b| b.is_running() && b.image().is_some())
    }

    /// Whether a node can do anything now: its process runs and is not frozen.
    pub(crate) fn is_awake(&self, node: Node) -> bool {
        match node {
            Node::Controller => self.controller().is_up(),
            Node::Broker(id) => self.broker(id).is_some_and(|b| b.is_running() && !b.is_paused()),
            Node::Client(id) => self.client(id).is_some_and(Client::is_running),
        }
    }

    /// How many records no producer's application has been told about.
    pub fn undecided(&self) -> u64 {
        self.clients().map(|(_, client)| u64::from(client.undecided())).sum()
    }

    /// Whether nothing goes on: nothing in flight, nothing undecided, every live in-sync follower has the leader's log end
    /// and high watermark, and no deadline armed but housekeeping.
    pub fn is_quiet(&self) -> bool {
        self.undecided() == 0
            && self.waking().next().is_none()
            && self.partitions().into_iter().all(|tp| self.followers_agree(tp))
    }

    /// What is pending and keeps the world from being quiet. What waits for a frozen process does not.
    fn waking(&self) -> impl Iterator<Item = (Node, Option<Timer>)> + '_ {
        let messages = self.model.network.heads().map(|(_, to, _)| (to, None));
        let timers = self
            .model
            .timers
            .iter()
            .filter(|(_, timer, _)| !timer.kind.is_housekeeping());
        let timers = timers.map(|(node, timer, _)| (node, Some(timer)));
        messages.chain(timers).filter(|(node, _)| self.is_awake(*node))
    }

    /// Whether every live in-sync follower has the leader's log end and high watermark.
    fn followers_agree(&self, tp: TopicPartition) -> bool {
        let image = self.image();
        let Some(partition) = image.partition(tp) else {
            return true;
        };
        let live = |id: &BrokerId| self.broker(*id).filter(|b| b.is_running() && !b.is_paused());
        let ends = |broker: &Broker| broker.replica(tp).map(|r| (r.log_end(), r.high_watermark()));
        let Some(leader) = partition.leader.as_ref().and_then(live) else {
            return true;
        };
        let led = ends(leader);
        partition.isr.iter().filter_map(live).all(|broker| ends(broker) == led)
    }

    /// A canonical number for the model: equal models have equal numbers, on every machine.
    pub fn fingerprint(&self) -> u128 {
        let mut out = Encoder::new();
        crate::cluster::encode::model(&self.model, &mut out);
        out.digest()
    }
}
