//! What is drawn of a moment: lanes, the ledger, groups, the controller, metrics, partitions.

use super::*;
use crate::ui::playground::{self, templates::templates};

#[test]
fn the_words_of_a_mark_have_room_before_the_last_column() {
    // `LEO 100` in small letters of one width.
    const WORDS: i64 = 60;
    for zoom in [Zoom::Near, Zoom::Far, Zoom::Farthest] {
        for narrow in [true, false] {
            assert!((zoom.words() + 1) * zoom.column(narrow) >= WORDS, "{zoom:?}");
        }
    }
}

#[test]
fn what_is_inspected_already_is_put_away() {
    let mut page = landed(20);
    let broker = Some(Subject::Broker(2));
    page.perform(Act::Inspect(broker));
    assert_eq!(page.selected, broker);
    page.perform(Act::Inspect(broker));
    assert_eq!(page.selected, None);
}

#[test]
fn the_ledger_shows_how_long_each_producer_waited() {
    let text = "brokers 3\ntopic t replicas=3\nproducer quick acks=0 linger.ms=0\nproducer slow acks=all linger.ms=0\n\
        send quick t\nsend slow t\nrun until acked slow = 1\n";
    let session = Session::resumed(text, 9_999).expect("it plays");
    let table = ledger::table(&session.look(), 24);
    let waited: Vec<_> = table
        .columns
        .iter()
        .map(|column| column.waited.clone().map(|(_, percent)| percent))
        .collect();
    assert!(matches!(waited[..], [Some(0..50), Some(100)]), "{waited:?}");
}

#[test]
fn a_record_of_ones_own_stands_in_lane_and_ledger() {
    let mut page = landed(20);
    page.perform(Act::Produce);
    page.tick();
    let look = run(&page).look();
    let last = look.ledger.last_number(ClientId(0));
    assert!(look.recent(ClientId(0)).any(|(tag, _)| tag.number == last));
    let table = ledger::table(&look, 24);
    assert_eq!(table.columns.last().map(|column| column.number), Some(last));
    assert!(
        look.recent(ClientId(0)).all(|(_, story)| story.is_handed()),
        "nothing that was not sent"
    );
}

/// What stands on a lane of one broker: each segment with what the step did to it, the records that changed, the ghosts.
fn lane(text: &str, step: usize) -> (Vec<String>, Vec<i64>, Vec<i64>) {
    let session = Session::resumed(text, step).expect("it leads there");
    assert_eq!(session.step_number(), step);
    let look = session.look();
    let window = Window::place(look.first_offset(), look.last_offset(), 12, None);
    let row = rows::rows(&look, window).remove(0);
    let segment = |segment: &Segment| {
        let words = [segment.active.then_some("active"), segment.news.map(News::word)];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        format!("{} {}", segment.base, words.join(" ")).trim().to_owned()
    };
    let with = |ghost: bool| {
        let cells = row.cells.iter().filter(|cell| cell.changed);
        let cells = cells.filter(|cell| matches!(cell.standing, Standing::Ghost(_)) == ghost);
        cells.map(|cell| cell.offset).collect()
    };
    (row.segments.iter().map(segment).collect(), with(false), with(true))
}

#[test]
fn a_lane_shows_what_rolls_sinks_goes_and_is_scanned() {
    let begin = "topic t segment.bytes=216 retention.ms=60000\nproducer app linger.ms=0 batch.size=0\n\
         send app t count=8 key=k{n} value=v{n}\nrun until acked\nrun for 10s\n";
    let retained = format!("brokers 1 log.retention.check.interval.ms=60000\n{begin}run for 3m\n");
    let said = |segments: &[&str]| segments.iter().map(|words| (*words).to_owned()).collect::<Vec<_>>();
    assert_eq!(lane(&retained, 5), (said(&["0", "3 active new"]), vec![3], vec![]));
    assert_eq!(
        lane(&retained, 18),
        (said(&["0", "3", "6 active"]), vec![0, 1, 2, 3, 4, 5], vec![]),
        "closed segments are flushed"
    );
    let all = (0..8).collect::<Vec<_>>();
    assert_eq!(lane(&retained, 22), (said(&["8 active new"]), vec![], all));
    assert_eq!(lane(&retained, 23), (said(&["8 active"]), vec![], vec![]));

    let compacted = "brokers 1 log.cleaner.backoff.ms=86400000\n\
         topic t cleanup.policy=compact segment.bytes=216 min.cleanable.dirty.ratio=0.1\n\
         producer app linger.ms=0 batch.size=0\nsend app t key=a value=1\nsend app t key=b value=1\n\
         send app t key=a value=2\nsend app t key=c value=1\nrun until acked\nrun for 1s\nclean t-0@1\n";
    let last = Session::resumed(compacted, 9_999).expect("it plays").step_number();
    assert_eq!(
        lane(compacted, last),
        (said(&["0 compacted", "3 active"]), vec![], vec![0])
    );

    let broken = format!("brokers 1\n{begin}kill 1\nflip t-0@1/6 at=100\nstart 1\n");
    let last = Session::resumed(&broken, 9_999).expect("it plays").step_number();
    assert_eq!(
        lane(&broken, last),
        (said(&["0 scanned", "3 scanned", "6 active scanned"]), vec![], vec![7])
    );
}

/// Frozen leaders and their successors, as the lesson on zombies has them.
const ZOMBIE: &str = "brokers 3\ntopic payments replicas=3\nproducer shop acks=1 linger.ms=0 batch.size=0\n\
    send shop payments\nrun until acked\nrun until quiet\npause 1\nrun until leader payments-0 = 2\nrun until quiet\n\
    send shop payments-0 to=2\nrun until acked\nrun until quiet\n";

#[test]
fn a_zombie_stands_beside_the_truth_until_it_hears() {
    let believed = |text: &str| {
        let session = Session::resumed(text, 9_999).expect("it plays");
        let beliefs = beliefs::zombies(&session.look());
        beliefs
            .iter()
            .map(|belief| {
                let lines = belief.lines.iter().map(|line| {
                    let truth = line.truth.as_deref().unwrap_or("–");
                    let wrong = if line.is_mistaken() { "" } else { " right" };
                    format!("{}: {}/{truth}{wrong}", line.about, line.own)
                });
                format!(
                    "{} {} {}",
                    belief.broker,
                    belief.why,
                    lines.collect::<Vec<_>>().join("; ")
                )
            })
            .collect::<Vec<_>>()
    };
    let frozen = believed(ZOMBIE);
    assert_eq!(
        frozen,
        [
            "1 Broker 1 is frozen. When it wakes, it leads on until it hears of epoch 1. \
        leader: 1/2; epoch: 0/1; in sync: 1, 2, 3/2, 3; HW: 1/2; state: up/fenced"
        ]
    );
    let cut = believed(&format!("{ZOMBIE}cut 1 controller,2,3\nresume 1\n"));
    assert!(
        cut[0].starts_with("1 Broker 1 is cut off from the controller: no news of epoch 1 reaches it."),
        "{cut:?}"
    );
    let healed = believed(&format!("{ZOMBIE}resume 1\nrun until isr payments-0 = 1,2,3\n"));
    assert!(healed.is_empty(), "{healed:?}");
    let alone = believed(
        "brokers 3\ntopic payments replicas=3\nproducer shop linger.ms=0\nstop 2,3\nrun until isr payments-0 = 1\n\
        send shop payments\nrun until acked\npause 1\nrun until leader payments-0 = none\n",
    );
    assert_eq!(
        alone,
        [
            "1 Broker 1 is frozen. When it wakes, it leads on until it hears of epoch 1. \
        leader: 1/nobody; epoch: 0/1; in sync: 1/none; HW: 1/– right; state: up/fenced"
        ],
        "while nobody leads, nobody knows the high watermark"
    );
    let led =
        believed("brokers 3\ntopic payments replicas=3\nproducer shop\nsend shop payments\nrun until acked\npause 1\n");
    assert!(led.is_empty(), "as long as the controller thinks so too: {led:?}");
}

#[test]
fn what_was_told_stands_beside_what_is() {
    let begin = "brokers 3\ntopic payments replicas=3 min.insync.replicas=2\nproducer shop linger.ms=0 retries=1 retry.backoff.ms=100\n\
        consumer audit assign=payments-0 auto.offset.reset=earliest\n";
    let record = |text: &str| {
        let session = Session::resumed(&format!("{begin}{text}"), 9_999).expect("it plays");
        let record = told_and_true::of(&session.look(), 0, 1).expect("it was handed over");
        let errors: Vec<&str> = record.failures.iter().map(|failed| failed.error).collect();
        let readers = record.readers.join(", ");
        (
            format!("{} / {} / {}", record.told, record.in_log, record.differs),
            errors,
            readers,
        )
    };
    let (said, errors, readers) = record("send shop payments\nrun until quiet\n");
    assert_eq!(
        said,
        "acknowledged: offset 0, at 4 ms / yes, on brokers 1, 2 and 3 / false"
    );
    assert_eq!((errors, readers.as_str()), (vec![], "audit"));
    let slow = "set producer shop request.timeout.ms=500\nset producer shop delivery.timeout.ms=1000\n";
    let (said, errors, _) = record(&format!(
        "{slow}drop produce-response from 1 to shop next=9\nsend shop payments\nrun until acked\n"
    ));
    assert_eq!(
        said,
        "failed: REQUEST_TIMED_OUT, at 1.00 s / yes, on brokers 1, 2 and 3 / true"
    );
    assert_eq!(errors, ["REQUEST_TIMED_OUT"]);
    let (said, errors, _) = record("stop 2,3\nrun until isr payments-0 = 1\nsend shop payments\nrun until acked\n");
    assert_eq!(said, "failed: NOT_ENOUGH_REPLICAS, at 100 ms / no / false");
    assert_eq!(errors, ["NOT_ENOUGH_REPLICAS"]);
}

#[test]
fn groups_are_shown_with_members_shares_and_lag() {
    let all = |text: &str| {
        let text = format!("brokers 3\ntopic payments partitions=2 replicas=3\nproducer shop linger.ms=0\n{text}");
        let session = Session::resumed(&text, 9_999).expect("it plays");
        clients::clients(&session.look())
    };
    let cards = |text: &str| {
        let of = |card: &clients::GroupCard| {
            let share = |share: &clients::Share| {
                format!(
                    "{} at {:?} committed {:?} lag {:?}",
                    share.name,
                    share.position,
                    share.committed,
                    share.lag()
                )
            };
            let reader = |reader: &clients::Reader| {
                let shares: Vec<String> = reader.shares.iter().map(share).collect();
                format!(
                    "{} ({}): {}",
                    reader.name.as_deref().unwrap_or("–"),
                    reader.state.text,
                    shares.join(", ")
                )
            };
            let mut lines = vec![format!("{}: {}", card.name.as_deref().unwrap_or("–"), card.about)];
            lines.extend(card.readers.iter().map(reader));
            lines
        };
        all(text).groups.iter().flat_map(of).collect::<Vec<_>>()
    };
    assert_eq!(cards(""), Vec::<String>::new());
    let two = "consumer c1 group=g topics=payments auto.offset.reset=earliest\nconsumer c2 group=g topics=payments auto.offset.reset=earliest\n\
        run for 10s\nsend shop payments-0 count=4\nrun until acked\nrun for 6s\n";
    assert_eq!(
        cards(two),
        [
            "g: Stable, generation 1, coordinated by broker 1",
            "c1 (member): payments-0 at Some(4) committed Some(4) lag Some(0)",
            "c2 (member): payments-1 at Some(0) committed Some(0) lag Some(0)",
        ]
    );
    let killed = format!("{two}kill c1\nsend shop payments-0 count=3\nrun until acked\n");
    assert_eq!(
        cards(&killed)[1],
        "c1 (down, not missed yet): payments-0 at None committed Some(4) lag Some(3)"
    );
    let sent = all(&killed).senders.remove(0);
    assert_eq!((&*sent.name, sent.acks, sent.counts), ("shop", "all", [7, 7, 0, 0]));
    let alone = cards("consumer audit assign=payments-0\nrun for 1s\n");
    assert_eq!(alone[1], "audit (up): payments-0 at Some(0) committed None lag None");
}

#[test]
fn the_controller_believes_in_a_broker_until_its_session_ends() {
    let known = |text: &str| {
        let session = Session::resumed(text, 9_999).expect("it plays");
        let look = session.look();
        let row = controller::known(&look).brokers.remove(1);
        let row = format!("{} {} {} {}", row.standing.text, row.heard, row.session, row.truth.text);
        (row, controller::mistakes(&look))
    };
    let begin = "brokers 3\ntopic payments replicas=3\nrun for 3s\n";
    let said = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        known(begin),
        ("unfenced 1.00 s ago renewed in 1.00 s up".into(), vec![])
    );
    assert_eq!(
        known(&format!("{begin}kill 2\nrun for 3s\n")),
        (
            "unfenced 4.00 s ago ends in 5.00 s it was killed".into(),
            said(&["Believes broker 2 alive: it was killed. Its session ends in 5.00 s."])
        )
    );
    assert_eq!(
        known(&format!("{begin}kill 2\nrun for 20s\n")),
        ("fenced – none it was killed".into(), vec![])
    );
    assert_eq!(
        known(&format!("{begin}pause 2\nrun for 20s\n")).1,
        said(&["Has fenced broker 2, which is frozen and does not know it."])
    );
    assert_eq!(
        known(&format!("{begin}cut 2 controller\nrun for 1s\n")).1,
        said(&["Believes broker 2 alive: the path between them is cut. Its session ends in 7.00 s."])
    );
    let gone = known(&format!("{begin}kill controller\n")).1;
    assert!(gone[0].starts_with("The quorum is gone"), "{gone:?}");
    let session = Session::resumed(&format!("{begin}kill 2\nrun for 1s\n"), 9_999).expect("it plays");
    let heartbeats = controller::heartbeats(&session.look());
    let labels: Vec<&str> = heartbeats.iter().map(|flight| &*flight.label).collect();
    assert_eq!(labels, ["heard 0 µs", "silent 2.00 s", "heard 0 µs"]);
}

#[test]
fn a_partition_without_a_leader_is_no_election_on_the_timeline() {
    let text =
        "brokers 1\ntopic t\nproducer app acks=1\nsend app t\nrun until acked\nkill 1\nrun until leader t-0 = none\n";
    let mut page = Page::landing();
    page.perform(Act::Scenario(text.into()));
    page.perform(Act::Go(Go::End));
    let kinds: Vec<MarkKind> = run(&page).marks().iter().map(|mark| mark.kind).collect();
    assert!(kinds.contains(&MarkKind::Offline), "{kinds:?}");
    assert_eq!(
        kinds.iter().filter(|kind| **kind == MarkKind::Election).count(),
        0,
        "{kinds:?}"
    );
}

#[test]
fn the_metrics_say_what_a_dead_leader_changed() {
    let mut page = landed(20);
    page.perform(Act::KillLeader);
    play(&mut page);
    let is_election = |marks: &[Mark]| marks.iter().any(|mark| matches!(mark, Mark::Election(..)));
    let history = run(&page).playback().history();
    let election = history.marks().find(|(_, marks)| is_election(marks));
    let step = run(&page).number_of(election.expect("another leads").0);
    page.perform(Act::Go(Go::To(step)));
    let table = metrics::table(run(&page));
    let row = |name: &str| {
        let row = table.rows.iter().find(|row| &*row.name == name);
        row.map(|row| (row.was, row.now)).expect("it is listed")
    };
    assert_eq!(table.since, step - 1);
    assert_eq!(row("UnderReplicatedPartitions"), (Some(0), Some(1)));
    assert_eq!(row("OfflinePartitionsCount"), (Some(0), Some(0)));
    assert_eq!(row("UncleanLeaderElections"), (Some(0), Some(0)));
    let (_, dead) = row("ConsumerLag of broker 1, payments-0");
    assert_eq!(dead, None, "nobody reports what a dead broker lacks");
}

/// Each row of the overview, and the line that stands for the cluster's own topic.
fn overviewed(text: &str) -> Vec<String> {
    let session = Session::resumed(text, 9_999).expect("it plays");
    let Some(all) = overview::overview(&session.look()) else {
        return Vec::new();
    };
    let line = |line: &overview::Line| {
        let parts: Vec<String> = line.parts.iter().map(|part| part.words()).collect();
        let offline = if line.is_offline { " (no leader)" } else { "" };
        format!("{}{offline}: {}", line.name, parts.join(" | "))
    };
    let mut lines: Vec<String> = all.lines.iter().map(line).collect();
    lines.extend(all.own.iter().map(|own| format!("{} [{}]", own.line, own.all.len())));
    lines
}

#[test]
fn every_partition_is_seen_by_brokers_in_the_same_order() {
    let three = "brokers 4\ntopic a partitions=3 assign=1,2,3/2,3,1/3,1,4\nproducer p linger.ms=0\n";
    assert_eq!(
        overviewed(&format!(
            "{three}send p a-0\nrun until acked\nrun until quiet\nkill 3\nsend p a-1 count=2\nrun for 1s\n"
        )),
        [
            "a-0: leader, log end 1 | in sync, log end 1 | in sync, down, log end 1 | no replica",
            "a-1: in sync, log end 2 | leader, log end 2 | in sync, down, log end 0, 2 records behind | no replica",
            "a-2: in sync, log end 0 | no replica | leader, down, log end 0 | in sync, log end 0",
        ]
    );
    assert_eq!(
        overviewed(&format!("{three}kill 1,3\nrun for 20s\nkill 2,4\nrun for 20s\n")),
        [
            "a-0 (no leader): out of sync, down, log end 0 | out of sync, down, log end 0 | out of sync, down, log end 0 | no replica",
            "a-1 (no leader): out of sync, down, log end 0 | out of sync, down, log end 0 | out of sync, down, log end 0 | no replica",
            "a-2 (no leader): out of sync, down, log end 0 | no replica | out of sync, down, log end 0 | out of sync, down, log end 0",
        ]
    );
    assert_eq!(overviewed("brokers 3\ntopic a replicas=3\n"), Vec::<String>::new());
}

#[test]
fn the_clusters_own_topic_is_one_line_until_it_is_opened() {
    let grouped = "brokers 3\ntopic a replicas=3\nconsumer c group=g topics=a\nrun for 10s\n";
    let whole = "__consumer_offsets: 50 partitions, each has a leader, every replica is in sync [50]";
    assert_eq!(
        overviewed(grouped),
        [
            "a-0: leader, log end 0 | in sync, log end 0 | in sync, log end 0",
            whole
        ]
    );
    let gone = "__consumer_offsets: 50 partitions, each has a leader, 50 lack a replica in sync [50]";
    let killed = overviewed(&format!("{grouped}kill 3\nrun for 20s\n"));
    assert_eq!(
        killed,
        [
            "a-0: leader, log end 0 | in sync, log end 0 | out of sync, down, log end 0",
            gone
        ]
    );
    let session = Session::resumed(grouped, 9_999).expect("it plays");
    let known = controller::known(&session.look());
    let own = known.own.expect("there is a group");
    assert_eq!(
        (known.partitions.len(), &*own.line, own.all.len()),
        (1, &whole[..whole.len() - 5], 50)
    );
}

#[test]
fn what_was_lost_stays_in_the_ledger_and_counts_on_its_broker() {
    let text = "brokers 3\ntopic payments replicas=3\nproducer shop acks=1 linger.ms=0\ncut 1 2,3\nsend shop payments count=2\n\
        run until acked\nkill 1\nrun until leader payments-0 = 2\nsend shop payments count=40 every=10ms\nrun for 3s\n";
    let session = Session::resumed(text, 9_999).expect("it plays");
    let look = session.look();
    let table = ledger::table(&look, 24);
    let lost: Vec<u32> = table.columns[..2].iter().map(|column| column.number).collect();
    assert_eq!((lost, table.columns.len(), table.earlier), (vec![1, 2], 24, 18));
    let note = &rows::rows(&look, Window::place(30, 8, 42, Some(30)))[0].note;
    assert_eq!(&**note, "2 acknowledged records only here");
}

#[test]
fn a_broken_invariant_is_named_where_it_breaks_and_stays_named() {
    let text = "brokers 3\ntopic payments replicas=3\nproducer shop acks=1 linger.ms=0\ncut 1 2,3\nsend shop payments\n\
        run until acked\nkill 1\nrun until leader payments-0 = 2\n";
    let session = Session::resumed(text, 9_999).expect("it plays");
    let look = session.look();
    // It stands beside the caption and takes nothing from it.
    assert_eq!(
        broken(&look).as_deref(),
        Some("An invariant breaks: NoAcknowledgedRecordLost.")
    );
    assert_eq!(
        caption(&look).as_deref(),
        Some("The controller makes broker 2 leader of payments-0, epoch 1. In sync now: 2, 3 (broker 1 left).")
    );
    let stands = |session: &Session| {
        let rows = metrics::invariants(session).into_iter();
        let row = |row: metrics::InvariantRow| (row.name, row.state.text.to_string(), row.why.to_string());
        rows.map(row).filter(|row| row.1 != "holds").collect::<Vec<_>>()
    };
    let found = stands(&session);
    let [(name, state, why)] = found.as_slice() else {
        panic!("one is broken: {found:?}")
    };
    assert_eq!((*name, state.as_str()), ("NoAcknowledgedRecordLost", "broken"));
    assert!(
        why.starts_with(&format!("since step {}: ", session.step_number())),
        "{why}"
    );
    let mut before = session.clone();
    before.seek_step(session.step_number() - 1);
    assert_eq!(stands(&before), []);
    let look = before.look();
    assert_eq!(broken(&look), None);
    assert_eq!(metrics::invariants(&before).len(), 10);
}

/// A leader below `min.insync.replicas`, whose producer tries again and again.
const REFUSING: &str = "brokers 3
topic payments replicas=3 min.insync.replicas=2
producer shop
send shop payments count=3
run until acked
kill 2
kill 3
run until isr payments-0 = 1
send shop payments count=5 every=100ms
run for 2s
";

#[test]
fn what_is_refused_again_and_again_is_seen_as_that() {
    let session = Session::resumed(REFUSING, 9_999).expect("it plays");
    let look = session.look();
    let row = &rows::rows(&look, Window::place(0, 8, 12, Some(0)))[0];
    assert_eq!(&*row.note, "refuses acks=all: 1 in sync, 2 needed");
    let table = ledger::table(&look, 8);
    let column = &table.columns[3];
    let said = (&*column.told.text, column.refused, &*column.fate.text);
    assert_eq!(said, ("retrying", Some("NOT_ENOUGH_REPLICAS"), "not written"));
    assert_eq!(&*table.columns[0].told.text, "acked");
    let shop = &clients::clients(&look).senders[0];
    assert!(
        matches!(shop.retries, Some((5.., "NOT_ENOUGH_REPLICAS"))),
        "{:?}",
        shop.retries
    );
}

#[test]
fn a_follower_is_cut_off_only_from_whom_it_lives_by() {
    let note = |more: &str| {
        let text = format!("brokers 3\ntopic payments replicas=3\nproducer shop\nrun for 100ms\n{more}");
        let session = Session::resumed(&text, 9_999).expect("it plays");
        let rows = rows::rows(&session.look(), Window::place(0, 8, 12, Some(0)));
        rows[2].note.to_string()
    };
    assert_eq!(note("cut 2 3\nrun for 1s\n"), "copies broker 1 from offset 0");
    assert_eq!(note("cut 1 3\nrun for 1s\n"), "cut off from broker 1");
}

#[test]
fn time_tells_what_came_of_it() {
    let elapsed = |more: &str| {
        let text = format!("brokers 1\ntopic payments\nproducer shop\nrun for 1s\n{more}");
        elapsed::elapsed(&Session::resumed(&text, 9_999).expect("it plays"))
    };
    let told = elapsed("kill 1\nrun for 20s\n").expect("the partition went offline");
    assert!(told.starts_with("Done: run for 20s. At step "), "{told}");
    assert!(
        told.ends_with("Nobody may lead payments-0: the partition is offline, epoch 1."),
        "{told}"
    );
    assert_eq!(elapsed("run for 1s\n"), None);
}

#[test]
fn what_one_may_begin_with_can_be_done() {
    let mut page = on_playground(playground::BEGINNING);
    for _ in 0..2 {
        for at in 0..6 {
            let line = templates(run(&page))[at].1.clone();
            let before = run(&page).position();
            page.perform(Act::Do(line.clone()));
            assert!(run(&page).position() > before, "{line}: {}", said(&page));
        }
    }
    let line = templates(run(&page))[3].1.clone();
    assert_eq!(line, "consumer worker3 group=billing topics=payments");
}
