//! What no story can say of consumer groups: that nothing happens.

use crate::cluster::GroupId;
use crate::scenario::{Run, parse};
use std::sync::Arc;

#[test]
fn a_quiet_group_takes_no_steps() {
    let text = "brokers 3\ntopic t partitions=2\nconsumer a group=g topics=t\nrun for 1h\n";
    let mut run = Run::new(Arc::new(parse(text.as_bytes()).expect("it is well formed"))).expect("a run");
    run.play(None, |_, _| {});
    assert_eq!(run.world.next(), None);
    assert_eq!(run.world.members(GroupId(0)).len(), 1);
}
