#![allow(missing_docs, unused, clippy::all)]
use super::*;
use crate::cluster::actor::*;
use crate::cluster::event::*;
use crate::cluster::image::*;
use crate::cluster::input::*;
use crate::cluster::message::*;
use crate::cluster::settings::*;
use crate::config::*;
use crate::log::{Encoder, Errors, Fingerprint};
use std::sync::Arc;
#[derive(Clone)]
pub struct Client;
pub struct News {
    pub known_offset: i64,
    pub next_poll: Micros,
    pub every: Micros,
}
impl Client {
    pub fn producer(id: ClientId, n: Arc<str>, c: ProducerConfig, i: Arc<Image>, s: u64) -> Client {
        Client
    }
    pub fn consumer(
        id: ClientId,
        n: Arc<str>,
        c: ConsumerConfig,
        a: Vec<TopicPartition>,
        p: Polls,
        i: Arc<Image>,
        s: u64,
    ) -> Client {
        Client
    }
    pub fn begin(&mut self, cx: &mut Cx<'_>) {}
    pub fn is_running(&self) -> bool {
        true
    }
    pub fn is_producer(&self) -> bool {
        true
    }
    pub fn undecided(&self) -> u32 {
        0
    }
    pub fn reads(&self, t: TopicPartition) -> bool {
        true
    }
    pub fn wants_news(&self) -> Option<News> {
        None
    }
    pub fn on_message(&mut self, f: BrokerId, m: Message, cx: &mut Cx<'_>) {}
    pub fn on_timer(&mut self, t: Timer, cx: &mut Cx<'_>) {}
    pub fn on_lost(&mut self, p: Node, cx: &mut Cx<'_>) {}
    pub fn on_reachable(&mut self, p: Node, cx: &mut Cx<'_>) {}
    pub fn send(&mut self, s: &Send, cx: &mut Cx<'_>) {}
    pub fn poll(&mut self, m: Option<u32>, cx: &mut Cx<'_>) {}
    pub fn seek(&mut self, t: TopicPartition, s: SeekTo, cx: &mut Cx<'_>) {}
    pub fn close(&mut self, cx: &mut Cx<'_>) {}
    pub fn kill(&mut self, cx: &mut Cx<'_>) {}
    pub fn start(&mut self, cx: &mut Cx<'_>) {}
    pub fn config_changed(&mut self, cx: &mut Cx<'_>) {}
    pub fn topics_created(&mut self, n: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx<'_>) {}
    pub fn set(&mut self, n: &str, v: &str) -> Result<(), ConfigError> {
        Ok(())
    }
    pub fn encode_times(&self, now: Micros, o: &mut Encoder) {}
}
impl Fingerprint for Client {
    fn fingerprint(&self, e: &mut Encoder) {}
}
