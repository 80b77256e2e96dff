//! Lines that somebody may begin with on the playground: each can be done as the run stands.

use std::rc::Rc;

use crate::ui::session::Session;

/// Lines to begin with: what each does, and a line that can be done as the run stands.
pub type Templates = Rc<[(&'static str, String); 6]>;

/// The lines, with names that are free and things that are there.
pub fn templates(session: &Session) -> Templates {
    let look = session.look();
    let free = |name: &str| {
        let counted = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.to_string()).chain(counted);
        names.find(|name| !session.is_name(name)).unwrap_or_default()
    };
    let partition = look.names.partition(session.partition());
    let topic = partition.rsplit_once('-').map_or(&*partition, |(topic, _)| topic);
    let group = look.world.settings().groups.first();
    let group = group.map_or_else(|| free("billing"), ToString::to_string);
    let mut clients = look.world.clients();
    let sender = clients.find(|(_, client)| client.is_producer());
    let sender = sender.map_or("shop", |(id, _)| look.names.client(id));
    Rc::new([
        (
            "Topic",
            format!(
                "topic {} partitions=2 replicas={}",
                free("orders"),
                look.world.broker_ids().count().min(3)
            ),
        ),
        ("Producer", format!("producer {} acks=1", free("desk"))),
        ("Consumer", format!("consumer {} assign={partition}", free("reader"))),
        (
            "Member",
            format!("consumer {} group={group} topics={topic}", free("worker")),
        ),
        ("Send", format!("send {sender} {topic} count=10 every=50ms")),
        ("Time", "run for 1s".into()),
    ])
}
