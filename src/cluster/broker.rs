#![allow(missing_docs, unused, clippy::all)]
use super::*;
use crate::cluster::actor::*;
use crate::cluster::event::*;
use crate::cluster::image::*;
use crate::cluster::input::*;
use crate::cluster::message::*;
use crate::cluster::settings::*;
use crate::log::{Encoder, Errors, Fingerprint};
use std::sync::Arc;
#[derive(Clone)]
pub struct Broker;
pub struct ReplicaView<'a>(&'a crate::log::Log);
impl<'a> ReplicaView<'a> {
    pub fn log(&self) -> &'a crate::log::Log {
        self.0
    }
    pub fn leads_in(&self) -> Option<i32> {
        None
    }
    pub fn log_end(&self) -> i64 {
        0
    }
    pub fn high_watermark(&self) -> Option<i64> {
        None
    }
}
impl Broker {
    pub fn boot(id: BrokerId, i: Arc<Image>, s: &Settings) -> Broker {
        Broker
    }
    pub fn id(&self) -> BrokerId {
        todo!()
    }
    pub fn is_running(&self) -> bool {
        todo!()
    }
    pub fn is_paused(&self) -> bool {
        todo!()
    }
    pub fn state(&self) -> BrokerState {
        todo!()
    }
    pub fn image(&self) -> Option<&Arc<Image>> {
        todo!()
    }
    pub fn replica(&self, tp: TopicPartition) -> Option<ReplicaView<'_>> {
        todo!()
    }
    pub fn on_message(&mut self, f: Node, m: Message, cx: &mut Cx<'_>) {}
    pub fn on_timer(&mut self, t: Timer, cx: &mut Cx<'_>) {}
    pub fn on_lost(&mut self, p: Node, cx: &mut Cx<'_>) {}
    pub fn on_reachable(&mut self, p: Node, cx: &mut Cx<'_>) {}
    pub fn start(&mut self, r: ReportDirectory, cx: &mut Cx<'_>) {}
    pub fn stop(&mut self, cx: &mut Cx<'_>) {}
    pub fn kill(&mut self, cx: &mut Cx<'_>) {}
    pub fn power_off(&mut self, k: &Keep, cx: &mut Cx<'_>) {}
    pub fn wipe(&mut self, cx: &mut Cx<'_>) {}
    pub fn pause(&mut self, cx: &mut Cx<'_>) {}
    pub fn resume(&mut self, cx: &mut Cx<'_>) {}
    pub fn tear(&mut self, t: TopicPartition, k: Option<u32>, cx: &mut Cx<'_>) -> Result<(), String> {
        todo!()
    }
    pub fn flip(&mut self, t: TopicPartition, b: i64, p: u64, cx: &mut Cx<'_>) -> Result<(), String> {
        todo!()
    }
    pub fn topics_created(&mut self, n: &[(TopicPartition, Arc<PartitionImage>)], cx: &mut Cx<'_>) {}
    pub fn check_retention(&mut self, cx: &mut Cx<'_>) {}
    pub fn checkpoint(&mut self, cx: &mut Cx<'_>) {}
    pub fn flush(&mut self, t: TopicPartition, cx: &mut Cx<'_>) {}
    pub fn roll(&mut self, t: TopicPartition, cx: &mut Cx<'_>) {}
    pub fn delete_records(&mut self, t: TopicPartition, o: i64, cx: &mut Cx<'_>) -> Option<Errors> {
        None
    }
    pub fn config_changed(&mut self, cx: &mut Cx<'_>) {}
    pub fn encode_times(&self, now: Micros, o: &mut Encoder) {}
}
impl Fingerprint for Broker {
    fn fingerprint(&self, e: &mut Encoder) {}
}
