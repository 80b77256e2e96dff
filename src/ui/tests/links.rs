//! The paths between brokers: what would survive a cut, and what it leads to.

use super::*;
use crate::ui::view::links;

/// What can happen to the path between two rows: each as it is titled, with what dies.
fn path(session: &Session, a: Row, b: Row) -> Vec<String> {
    let menu = links::menu(&session.look(), session.begun(), a, b).expect("there is a path");
    let said = |option: &links::LinkOption| {
        assert!(session.parse(&option.text).is_ok(), "{}", option.text);
        let words = option.survives.split_whitespace().count();
        assert!((4..=CAPTION_WORDS).contains(&words), "{}", option.survives);
        format!("{} {}", option.title, option.dies).trim().to_owned()
    };
    menu.options.iter().map(said).collect()
}

#[test]
fn a_path_says_what_would_survive_and_writes_it_down() {
    let begin = "brokers 3\ntopic payments replicas=3\nproducer shop acks=1 linger.ms=0\nconsumer audit assign=payments-0\n\
        send shop payments\nrun until acked\nrun until quiet\n";
    let at = |text: &str| Session::resumed(text, 9_999).expect("it plays");
    let (leader, follower, other) = (Row::Broker(1), Row::Broker(2), Row::Broker(3));
    let quiet = at(begin);
    let whole = path(&quiet, leader, follower);
    assert_eq!(
        whole,
        [
            "Cut both ways",
            "Cut from broker 1 to broker 2",
            "Cut from broker 2 to broker 1",
            "Slow it down",
            "Lose the next fetch response to broker 2 One message dies.",
            "Lose the next fetch to broker 1 One message dies.",
        ]
    );
    let kinds = |a, b| {
        path(&quiet, a, b)
            .into_iter()
            .filter(|title| title.starts_with("Lose"))
            .count()
    };
    assert_eq!(
        [
            kinds(follower, other),
            kinds(leader, Row::Controller),
            kinds(Row::Client(0), leader),
            kinds(Row::Client(1), leader)
        ],
        [0, 2, 2, 2]
    );
    assert_eq!(
        links::menu(&quiet.look(), quiet.begun(), Row::Client(0), Row::Controller),
        None,
        "clients do not know it"
    );
    let state = |session: &Session| {
        let links = wire::links(&session.look());
        let between = |link: &&Link| link.ends == (leader, follower);
        links.iter().find(between).map(|link| link.path)
    };
    assert_eq!(state(&quiet), Some(Path::Whole));
    assert_eq!(
        state(&at(&format!("{begin}drop fetch from 2 to 1\n"))),
        Some(Path::Losing)
    );
    let cut = at(&format!("{begin}cut 1 from 2\n"));
    assert_eq!(state(&cut), Some(Path::HalfCut));
    assert_eq!(path(&cut, leader, follower), ["Heal", "Cut both ways"]);
    let cut = at(&format!("{begin}cut 1 2\n"));
    assert_eq!(state(&cut), Some(Path::Cut));
    assert_eq!(path(&cut, leader, follower), ["Heal"]);
    let slow = at(&format!("{begin}set link 1-2 latency=100ms\n"));
    assert!(path(&slow, follower, leader).contains(&"Make it fast again".to_owned()));
    let busy =
        at("brokers 3\ntopic payments replicas=3\nproducer shop\nsend shop payments\nrun until leo payments-0@1 = 1\n");
    assert_eq!(
        path(&busy, leader, follower)[0],
        "Cut both ways One message on the wire dies."
    );
}

/// What follows when the path between two rows is cut both ways.
fn cut(session: &Session, a: Row, b: Row) -> String {
    let menu = links::menu(&session.look(), session.begun(), a, b).expect("there is a path");
    let cut = menu.options.iter().find(|option| option.fault == links::LinkFault::Cut);
    let follows = cut.expect("it can be cut").survives.to_string();
    follows.replace("Logs stay as they are. ", "")
}

#[test]
fn a_cut_leads_to_what_the_roles_of_its_ends_lead_to() {
    let at = |text: &str| {
        let text = format!("{text}producer shop linger.ms=0\nsend shop payments\nrun until acked\nrun until quiet\n");
        Session::resumed(&text, 9_999).expect("it plays")
    };
    let more = |text: &str, more: &str| {
        let text = format!("{text}producer shop linger.ms=0\nsend shop payments\nrun until acked\n{more}");
        Session::resumed(&text, 9_999).expect("it plays")
    };
    let three = "brokers 3\ntopic payments replicas=3\n";
    let [one, two, three_alone] = [1, 2, 3].map(Row::Broker);
    let all = at(three);
    assert_eq!(
        cut(&all, one, Row::Controller),
        "9 s after its last heartbeat another leads, and it does not know."
    );
    assert_eq!(
        cut(&all, two, Row::Controller),
        "9 s after its last heartbeat it is fenced and leaves the ISR."
    );
    assert_eq!(
        cut(&all, one, two),
        "Broker 2 copies nothing; lacking records, it leaves the ISR after 30 s, and acks=all waits until then."
    );
    let nobody = "9 s after its last heartbeat nobody leads, and it does not know.";
    assert_eq!(cut(&at("brokers 1\ntopic payments\n"), one, Row::Controller), nobody);
    let lagging = more(
        three,
        "cut 1 2,3\nsend shop payments\nrun until isr payments-0 = 1\nheal 1 3\ncut 3 from 1\n",
    );
    assert_eq!(
        cut(&lagging, one, Row::Controller),
        nobody,
        "the others are out of sync"
    );
    assert_eq!(
        cut(&lagging, one, three_alone),
        "Broker 3 copies nothing, and stays out of the ISR."
    );
    let unclean = "brokers 3\ntopic payments replicas=3 unclean.leader.election.enable=true\n";
    let unclean = more(unclean, "cut 1 2,3\nsend shop payments\nrun until isr payments-0 = 1\n");
    assert_eq!(
        cut(&unclean, one, Row::Controller),
        "9 s after its last heartbeat another leads, and it does not know."
    );
    let apart = at("brokers 3\ntopic payments replicas=2\n");
    assert_eq!(
        cut(&apart, one, three_alone),
        "Broker 3 holds no replica of this partition: nothing follows."
    );
    let down = more(three, "kill 3\nrun until isr payments-0 = 1,2\n");
    assert_eq!(
        cut(&down, three_alone, Row::Controller),
        "Broker 3 is fenced already, and stays so."
    );
    let title = links::menu(&all.look(), all.begun(), Row::Client(0), one).map(|menu| menu.title);
    assert_eq!(
        title.as_deref(),
        Some("shop and broker 1"),
        "a name stays as it is written"
    );
}

#[test]
fn a_path_that_was_slowed_gets_back_what_it_had_when_the_run_began() {
    let begin = "brokers 3\nset link 1-2 latency=60ms\nset link 1-3 latency=200ms\ntopic payments replicas=3\n\
        producer shop acks=1 linger.ms=0\nsend shop payments\nrun until acked\n";
    let set = |text: &str, to: u16| {
        let session = Session::resumed(&format!("{begin}{text}"), 9_999).expect("it plays");
        let menu = links::menu(&session.look(), session.begun(), Row::Broker(1), Row::Broker(to));
        let options = menu.expect("there is a path").options;
        let set = options.iter().find(|option| option.text.starts_with("set link"));
        set.map(|option| format!("{}: {}", option.title, option.text))
    };
    for (text, to, expected) in [
        ("", 2, "Slow it down: set link 1-2 latency=100000us"),
        (
            "set link 1-2 latency=100ms\n",
            2,
            "Make it fast again: set link 1-2 latency=60000us",
        ),
        ("", 3, "Slow it down: set link 1-3 latency=400000us"),
        (
            "set link 1-3 latency=400ms\n",
            3,
            "Make it fast again: set link 1-3 latency=200000us",
        ),
    ] {
        assert_eq!(set(text, to).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn the_key_opens_a_path_that_is_drawn() {
    for (leader, ends) in [(1, (1, 2)), (2, (1, 2)), (3, (2, 3))] {
        let text = format!("brokers 3\ntopic payments assign={leader}\nrun for 1s\n");
        let session = Session::resumed(&text, 9_999).expect("it plays");
        let look = session.look();
        let expected = (Row::Broker(ends.0), Row::Broker(ends.1));
        assert_eq!(wire::of_leader(&look), Some(expected), "led by {leader}");
    }
    let session = Session::resumed("brokers 1\ntopic payments\n", 9_999).expect("it plays");
    let alone = (Row::Broker(1), Row::Controller);
    assert_eq!(wire::of_leader(&session.look()), Some(alone));
}

#[test]
fn a_cut_says_between_whom_and_which_way() {
    let told = |line: &str| {
        let text = format!("brokers 3\ntopic t replicas=3\nproducer p\n{line}\n");
        let session = Session::resumed(&text, 9_999).expect("it plays");
        caption(&session.look()).unwrap_or_default()
    };
    for (line, expected) in [
        ("cut 1 2", "The path between broker 1 and broker 2 is cut."),
        ("cut 1 2,3", "Broker 1 is cut off from broker 2 and broker 3."),
        ("cut 1 *", "Broker 1 is cut off from everybody."),
        ("cut 1 from 2", "Messages from broker 1 to broker 2 are lost."),
        ("cut 1 *\nheal 1 *", "Broker 1 reaches everybody again."),
        (
            "cut 1 2\nheal 1 2",
            "The path between broker 1 and broker 2 is whole again.",
        ),
    ] {
        let told = told(line);
        assert!(told.starts_with(expected), "{line}: {told}");
    }
}
