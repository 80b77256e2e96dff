//! The page without a browser: what somebody does, and what would be drawn.

use std::rc::Rc;

use crate::cluster::{BrokerId, ClientId};
use crate::config::{Acks, Scope, TopicConfig};
use crate::history::Mark;
use crate::lesson::compile::About;
use crate::lesson::library::LIBRARY;
use crate::lesson::{Kind, Progress};
use crate::log::Errors;
use crate::ui::act::{Act, Go, Subject, Zoom};
use crate::ui::page::{Kept, Notice, Page, Place, lesson_address};
use crate::ui::playground;
use crate::ui::reading::{Given, Reading};
use crate::ui::session::Session;
use crate::ui::tale::{Became, Silence, Tale};
use crate::ui::view::panels::{Control, Fault, Tone};
use crate::ui::view::stage::{Health, Link, News, Path, Role, Row, Segment, Standing, Told, Window};
use crate::ui::view::told::{CAPTION_WORDS, broken, caption};
use crate::ui::view::{
    beliefs, clients, controller, faults, inspect, knobs, lanes, ledger, links, metrics, overview, rows, told_and_true,
    wire,
};

fn run(page: &Page) -> &Session {
    page.session.as_ref().expect("there is a run")
}

/// Plays until it pauses by itself.
fn play(page: &mut Page) {
    if !page.playing {
        page.perform(Act::TogglePlay);
    }
    assert!((0..5_000).any(|_| !page.tick()), "it plays on for ever");
}

fn landed(steps: usize) -> Page {
    let mut page = Page::new(Progress::default());
    assert!(page.playing, "the cluster takes payments when the page opens");
    for _ in 0..steps {
        page.tick();
    }
    page
}

fn said(page: &Page) -> String {
    match &page.notice {
        Some(Notice::Refused(text) | Notice::Said(text)) => text.to_string(),
        Some(Notice::Aside) => "set aside".into(),
        Some(Notice::Unchecked) => "unchecked".into(),
        None => page
            .cut_off()
            .map_or_else(String::new, |cut| format!("{} set aside", cut.dropped)),
    }
}

#[test]
fn the_landing_tells_the_truth_about_what_only_the_leader_had() {
    let mut page = landed(20);
    page.perform(Act::KillLeader);
    play(&mut page);
    let tale = tale(&page);
    assert!(tale.is_told() && tale.who == BrokerId(1), "{tale:?}");
    let look = run(&page).look();
    let Became::Lost { lost, acks, .. } = tale.ending(&look) else {
        panic!("{:?}", tale.ending(&look))
    };
    assert_eq!(acks, Some(Acks::Leader));
    let first = Subject::Record(lost[0].client.0, lost[0].number);
    assert_eq!(page.selected, Some(first), "the first lost record is inspected");
    let shown = inspect::inspect(&look, first).expect("it exists");
    assert_eq!(shown.chips[0].tone, Tone::Bad);
    let window = Window::place(look.first_offset(), look.last_offset(), 10, page.window);
    let all = rows::rows(&look, window);
    assert_eq!((all[0].health, all[1].role), (Health::Killed, Role::Leader));
    assert!(all[0].cells.iter().any(|cell| cell.standing == Standing::Doomed));
    let told = lanes::producers(&look, window);
    assert!(
        told[0]
            .records
            .iter()
            .any(|sent| sent.told == Told::AckedLost && sent.displaced)
    );
    let table = ledger::table(&look, 24);
    assert!(
        table
            .columns
            .iter()
            .any(|column| &*column.told.text == "acked" && &*column.fate.text == "lost")
    );
}

#[test]
fn with_acks_all_the_landing_loses_nothing() {
    let mut page = landed(20);
    page.perform(Act::RestartWith("acks", "all".into()));
    for _ in 0..40 {
        page.tick();
    }
    page.perform(Act::KillLeader);
    play(&mut page);
    let look = run(&page).look();
    assert_eq!(look.ledger.lost_count(look.world), 0);
    let became = tale(&page).ending(&look);
    assert!(
        matches!(
            became,
            Became::Kept {
                acks: Some(Acks::All),
                ..
            }
        ),
        "{became:?}"
    );
}

#[test]
fn every_caption_is_short_and_every_flight_has_a_row() {
    let mut page = landed(60);
    page.perform(Act::KillLeader);
    play(&mut page);
    page.perform(Act::Fault(1, Fault::Start));
    page.playing = true;
    for _ in 0..200 {
        page.tick();
    }
    let mut session = page.session.take().expect("a run");
    for step in 0..=session.steps() {
        session.seek_step(step);
        let look = session.look();
        let words = caption(&look).map_or(0, |text| text.split_whitespace().count());
        assert!(words <= CAPTION_WORDS, "step {step}: {words} words");
        assert!(wire::flights(&look, &[]).iter().all(|flight| !flight.label.is_empty()));
    }
}

#[test]
fn changing_the_past_sets_the_future_aside_until_it_is_undone() {
    let mut page = landed(30);
    let steps = run(&page).steps();
    page.perform(Act::Go(Go::To(10)));
    page.perform(Act::Turn("acks", "all".into()));
    assert_eq!(said(&page), format!("{} set aside", steps - 10));
    assert_eq!((run(&page).step_number(), run(&page).steps()), (11, 11));
    page.perform(Act::Undo);
    assert_eq!((run(&page).step_number(), run(&page).steps()), (10, steps));
}

#[test]
fn a_value_out_of_range_is_refused_with_the_range() {
    let mut page = landed(1);
    let before = run(&page).steps();
    page.perform(Act::Turn("min.insync.replicas", "0".into()));
    let (name, why) = page.refused.clone().expect("it is refused");
    assert_eq!(name, "min.insync.replicas");
    assert!(why.contains("[1,...,2147483647]"), "{why}");
    assert_eq!(run(&page).steps(), before, "nothing has changed");
    page.perform(Act::Turn("flush.messages", "never".into()));
    assert!(page.refused.is_none());
    let all = knobs::knobs(&run(&page).look(), run(&page).begun());
    let beside = knobs::KNOBS.iter().filter(|(scope, _)| *scope != Scope::Topic).count();
    assert_eq!(
        all.len() - beside,
        TopicConfig::NAMES.len(),
        "all that a topic obeys can be turned"
    );
    assert!(TopicConfig::NAMES.iter().all(|name| knobs::is_topics(name)));
    for knob in &all {
        assert!(
            !knob.about.is_empty() && !knob.range.is_empty() && !knob.kind.is_empty(),
            "{}",
            knob.name
        );
    }
    page.perform(Act::Turn("cleanup.policy", "compact,delete".into()));
    assert_eq!((said(&page), page.refused.is_none()), (String::new(), true));
}

#[test]
fn a_power_loss_may_keep_what_was_not_flushed_and_files_can_be_damaged() {
    let mut page = landed(30);
    let one = BrokerId(1);
    let offered = |page: &Page| faults::options(&run(page).look(), one);
    let end = run(&page).look().log(one).expect("a log").log_end_offset();
    let loss = offered(&page)[1].power_loss.clone().expect("nothing is flushed yet");
    assert_eq!((loss.flushed, loss.end), (0, end));
    page.perform(Act::Fault(1, Fault::PowerOffKeeping(2)));
    let left = |page: &Page| run(page).look().log(one).map_or(0, |log| log.log_end_offset());
    assert_eq!(left(&page), 2);
    let damages: Vec<Fault> = offered(&page).iter().map(|option| option.fault).collect();
    assert_eq!(
        damages,
        [
            Fault::Start,
            Fault::Wipe,
            Fault::Tear,
            Fault::Flip,
            Fault::RemoveIndex,
            Fault::Cut
        ]
    );
    let index = |page: &Page| {
        let look = run(page).look();
        let files = look
            .world
            .broker(one)
            .and_then(|broker| broker.replica(look.partition))
            .expect("a folder");
        files.files().iter().any(|(name, _)| name.ends_with(".index"))
    };
    assert!(index(&page));
    page.perform(Act::Fault(1, Fault::RemoveIndex));
    assert!(!index(&page), "{}", said(&page));
    page.perform(Act::Fault(1, Fault::RemoveIndex));
    assert_eq!(said(&page), "nothing is left that could be damaged");
    assert!(!offered(&page).iter().any(|option| option.fault == Fault::RemoveIndex));
    let told = |page: &Page, fault| {
        let option = faults::option(&run(page).look(), one, fault);
        format!("{} {}", option.survives, option.dies)
    };
    assert_eq!(
        told(&page, Fault::Flip),
        "Log 0 survives. A byte of the batch at 1 is inverted; the start finds it by its length or checksum, and cuts there."
    );
    page.perform(Act::Fault(1, Fault::Flip));
    assert_eq!((left(&page), said(&page)), (1, String::new()));
    // What is torn is the last batch of the files, though its checksum is wrong by now.
    assert_eq!(
        told(&page, Fault::Tear),
        "Log 0 survives. Half of the batch at 1 is gone; the start finds it by its length or checksum, and cuts there."
    );
    page.perform(Act::Fault(1, Fault::Tear));
    assert_eq!((left(&page), said(&page)), (1, String::new()));
    page.perform(Act::Fault(1, Fault::Tear));
    assert_eq!(left(&page), 0);
}

#[test]
fn a_fault_says_what_survives_before_it_is_done() {
    let mut page = landed(30);
    let survives = |page: &Page, fault| {
        let option = faults::option(&run(page).look(), BrokerId(1), fault);
        format!("{} {}", option.survives, option.dies).trim().to_string()
    };
    let end = run(&page).look().log(BrokerId(1)).expect("a log").log_end_offset();
    let stake = run(&page).look().only_on(BrokerId(1));
    assert_eq!(
        survives(&page, Fault::PowerOff),
        format!(
            "Nothing is on disk. 0–{} in page cache die. {stake} of them were acknowledged, and are nowhere else.",
            end - 1
        )
    );
    // What had reached the disk by itself survives, and is at stake like what survives a kill.
    let options = faults::options(&run(&page).look(), BrokerId(1));
    let loss = options[1].power_loss.clone().expect("nothing is flushed yet");
    assert_eq!(
        loss.told(end - 2),
        (
            format!("Log 0–{} on disk survives.", end - 3),
            format!(
                "{}–{} in page cache die. 1 of them was acknowledged, and is nowhere else. {} acknowledged records are only \
                 here, and lost if another leads.",
                end - 2,
                end - 1,
                stake - 1
            )
        )
    );
    assert_eq!(
        loss.told(end),
        (
            format!("Log 0–{} on disk survives.", end - 1),
            survives(&page, Fault::Kill)
                .split_once("host's. ")
                .map(|(_, rest)| rest.to_string())
                .unwrap_or_default()
        )
    );
    page.perform(Act::Fault(1, Fault::PowerOff));
    let row = &rows::rows(&run(&page).look(), Window::place(0, 8, 12, Some(0)))[0];
    assert_eq!(row.health, Health::Dark);
    assert!(row.cells.iter().all(|cell| matches!(cell.standing, Standing::Ghost(_))));
    assert_eq!(
        survives(&page, Fault::Start),
        "Its log is empty, and it registers. Then it can lead."
    );
}

#[test]
fn a_disk_may_be_wiped_and_a_broker_slowed() {
    let mut page = landed(30);
    let told = |page: &Page, id, fault| {
        let options = faults::options(&run(page).look(), crate::cluster::BrokerId(id));
        let option = options.iter().find(|option| option.fault == fault);
        option.map(|option| format!("{} {}", option.survives, option.dies).trim().to_string())
    };
    assert_eq!(told(&page, 3, Fault::Wipe), None, "its process runs");
    assert_eq!(
        told(&page, 3, Fault::Slow).as_deref(),
        Some(
            "Nothing is lost. It takes 10 times as long for everything; it lags, and leaves the ISR if it stays behind for \
             replica.lag.time.max.ms."
        )
    );
    page.perform(Act::Fault(3, Fault::Slow));
    assert_eq!((said(&page), told(&page, 3, Fault::Slow)), (String::new(), None));
    page.perform(Act::Fault(3, Fault::Hasten));
    assert_eq!(told(&page, 3, Fault::Hasten), None);
    page.perform(Act::Fault(3, Fault::Kill));
    let end = run(&page)
        .look()
        .log(crate::cluster::BrokerId(3))
        .map_or(0, |log| log.log_end_offset());
    assert_eq!(
        told(&page, 3, Fault::Wipe),
        Some(format!(
            "The copies on brokers 1 and 2 survive. Its copy of 0–{} dies, with all else on its disk.",
            end - 1
        ))
    );
    page.perform(Act::Fault(3, Fault::Wipe));
    assert_eq!((said(&page), told(&page, 3, Fault::Wipe)), (String::new(), None));
}

#[test]
fn a_knob_shows_what_is_set_whoever_set_it() {
    let begins = "brokers 3\ntopic t replicas=3 min.insync.replicas=4\nproducer one acks=-1\n";
    let knob = |more: &str, name: &str| {
        let session = Session::resumed(&format!("{begins}{more}"), 0).expect("it plays");
        let all = knobs::knobs(&session.look(), session.begun());
        let knob = all
            .into_iter()
            .find(|knob| knob.name == name)
            .expect("it can be turned");
        let Control::Choice(words) = &knob.control else {
            panic!("{name} is chosen")
        };
        (words.join(" "), knob.value.to_string(), knob.whose.to_string())
    };
    let says = |words: &str, value: &str, whose: &str| (words.to_string(), value.to_string(), whose.to_string());
    assert_eq!(knob("", "min.insync.replicas"), says("1 2 3 4", "4", ""));
    assert_eq!(knob("", "acks"), says("0 1 all", "all", ""));
    assert_eq!(
        knob("producer two\n", "acks"),
        says("0 1 all", "all", "Of one and two alike; a change is for all of them.")
    );
    assert_eq!(
        knob("producer two acks=1\n", "acks"),
        says(
            "0 1 all",
            "",
            "one has all and two has 1; what is chosen here is for all of them."
        )
    );
}

#[test]
fn a_run_can_be_written_down_and_resumed() {
    let mut page = landed(25);
    page.perform(Act::Fault(2, Fault::Pause));
    page.playing = true;
    for _ in 0..10 {
        page.tick();
    }
    let text = run(&page).scenario();
    let again = Session::landing_resumed(&text, run(&page).step_number()).expect("it leads to the same place");
    assert_eq!(
        again.playback().world().fingerprint(),
        run(&page).playback().world().fingerprint()
    );
}

#[test]
fn every_lesson_can_be_read_to_its_end() {
    for source in &LIBRARY[1..] {
        let mut page = Page::new(Progress::default());
        page.visit(&format!("#/lesson/{}", source.slug));
        let last = match page.reading() {
            Some((reading, _)) => reading.lesson.stops.len() - 1,
            None => panic!("{} cannot be read", source.slug),
        };
        // A first stop that nothing leads to is where one begins.
        let first = page.reading().and_then(|(reading, run)| reading.next(run)).unwrap_or(0);
        for stop in first..=last {
            while page
                .reading()
                .is_some_and(|(reading, run)| reading.open_prediction(run).is_some())
            {
                page.perform(Act::Answer(Given::Skipped));
            }
            page.perform(Act::Next);
            while page.playing {
                page.tick();
            }
            let (reading, run) = page.reading().expect("it stays in the lesson");
            assert_eq!(
                reading.stop(run),
                Some(stop),
                "{} at stop {stop}: {}",
                source.slug,
                said(&page)
            );
        }
        assert!(page.progress.lesson(source.slug).finished, "{}", source.slug);
    }
}

#[test]
fn a_puzzle_counts_acts_and_takes_only_those_that_are_allowed() {
    let mut page = Page::new(Progress::default());
    let slug = "07-what-acks-is-worth";
    let lesson = std::rc::Rc::new(
        crate::lesson::library::find(slug)
            .expect("a lesson")
            .lesson()
            .expect("it is sound"),
    );
    let puzzle = lesson.puzzle().expect("it has a puzzle").clone();
    page.progress.reached(slug, puzzle.stop as u32, u32::MAX);
    page.visit(&format!("#/lesson/{slug}"));
    page.perform(Act::Do("kill 1".into()));
    assert!(said(&page).starts_with("not in this puzzle"), "{}", said(&page));
    let crate::lesson::Run::Cluster(solution) = &puzzle.solution else {
        panic!("it plays in a cluster")
    };
    for line in solution {
        page.perform(Act::Do(line.statement.to_string()));
    }
    let Place::Lesson(reading) = &page.place else {
        panic!("left the lesson")
    };
    assert!(reading.is_solved(run(&page)), "{}", said(&page));
    assert_eq!(page.progress.lesson(slug).puzzle, Some(puzzle.par));
}

#[test]
fn a_design_that_stands_is_noted_with_its_cost_where_it_is_asked_for() {
    let slug = "18-design-a-topic";
    for (stop, noted) in [(11, None), (12, Some(40))] {
        let mut page = Page::new(Progress::default());
        page.progress.reached(slug, stop, u32::MAX);
        page.visit(&format!("#/lesson/{slug}"));
        let (reading, run) = page.reading().expect("it is a lesson");
        assert_eq!(reading.design(run).is_some(), noted.is_some());
        for cost in [45, 40] {
            page.perform(Act::Answer(Given::Design(cost)));
        }
        assert_eq!(page.progress.lesson(slug).puzzle, noted, "at stop {stop}");
    }
}

/// In the page the file of a lesson is fetched: it may fail, be asked for again, and come when one is elsewhere.
#[test]
fn a_lesson_that_did_not_come_is_asked_for_again() {
    let source = crate::lesson::library::find("02-the-log").expect("a lesson");
    let coming = || Place::Coming {
        slug: source.slug.into(),
        failed: None,
    };
    let text = source.text().expect("it is at hand").to_string();
    let fetched = |text: Result<String, String>| Act::Fetched(source.slug.into(), text);
    let mut page = Page::new(Progress::default());
    page.perform(fetched(Ok(text.clone())));
    assert!(matches!(page.place, Place::Landing(_)), "nobody asked for it");
    page.place = coming();
    page.session = None;
    assert_eq!(page.wanted().as_deref(), Some(source.slug));
    page.perform(fetched(Err("this device is offline".into())));
    assert_eq!(page.wanted(), None);
    page.perform(Act::FetchAgain);
    assert_eq!(page.wanted().as_deref(), Some(source.slug));
    page.perform(fetched(Ok(text)));
    assert!(matches!(page.place, Place::Lesson(_)));
    // A run that a crash has interrupted waits for its lesson.
    page.perform(Act::Next);
    let kept = page.kept().expect("a run is kept");
    let before = run(&page).playback().world().fingerprint();
    page.place = coming();
    page.session = None;
    page.resume(kept);
    assert!(page.session.is_none());
    page.perform(fetched(Ok(source.text().expect("it is at hand").to_string())));
    assert_eq!(run(&page).playback().world().fingerprint(), before);
}

/// A lesson of somebody's own with this behind its first scene.
fn own(rest: &str) -> String {
    format!(
        "---\ntitle: Mine\nnumber: 90\nminutes: 1\n---\n```scene a\nbrokers 2\ntopic t replicas=2\nproducer p\n\
        send p t\nrun until acked\n```\n{rest}"
    )
}

/// What keeps its form and not its word is found when the lesson is opened, each with its line.
#[test]
fn a_lesson_of_ones_own_is_played_from_end_to_end_before_it_is_shown() {
    let opened = |rest: &str| {
        let mut page = Page::new(Progress::default());
        page.perform(Act::OpenLesson("mine.md".into(), own(rest)));
        match &page.place {
            Place::Broken { faults, .. } => faults.iter().map(ToString::to_string).collect(),
            Place::Lesson(_) => Vec::new(),
            _ => panic!("it leads elsewhere"),
        }
    };
    assert_eq!(opened(""), Vec::<String>::new());
    let question = |one: &str, other: &str| {
        format!(
            "```predict q\nask: How many?\n- One | when: leo t-0@1 {one}\n- Two | when: leo t-0@1 {other}\n```\n\
            ```scene b\nsend p t\nrun until acked\n```\n"
        )
    };
    let cases = [
        (
            "```check\nexpect leo t-0@1 = 7\n```\n".to_string(),
            vec!["14: expected leo t-0@1 = 7, found 1; correct the words, or the engine"],
        ),
        (
            question(">= 1", "= 2"),
            vec!["13: 2 options of 'q' hold; let exactly one answer be right"],
        ),
        (
            question("= 5", "= 6"),
            vec!["13: no option of 'q' holds; let exactly one answer be right"],
        ),
        (
            "```scene b\nkill 1\nkill 1\n```\n```scene c\nbrokers 1\ntopic u\n```\n```check\nexpect leo u-0@1 = 1\n```\n".into(),
            vec![
                "15: refused: broker 1 is down; start 1 first; correct the scene",
                "22: expected leo u-0@1 = 1, found 0; correct the words, or the engine",
            ],
        ),
        (
            "```frob\nwhat\n```\n".into(),
            vec![
                "13: 'frob' is no kind of block; use one of scene, store, caption, predict, check, ladder, puzzle, design, real, or 'text' for what is to be set as it is",
            ],
        ),
        (
            "```caption\nIt is there.\n".into(),
            vec![
                "13: the block that begins here does not end, so that all below would belong to it; close it with a line of nothing but the same marks",
            ],
        ),
        (
            "- A list\n\n  ```caption\n  It is there.\n  ```\n".into(),
            vec![
                "15: the caption block stands within another block, so that it would be shown as text; begin its fence at the beginning of a line, outside lists and quotations",
            ],
        ),
        ("```text\nAs it is.\n```\n\n```\nThis too.\n```\n".into(), vec![]),
    ];
    for (rest, expected) in cases {
        assert_eq!(opened(&rest), expected, "{rest}");
    }
}

/// A very long one is played by the person who wants to wait for it.
#[test]
fn a_long_lesson_of_ones_own_is_checked_when_asked_for() {
    let long = |check: i64| {
        own(&format!(
            "```scene b\nsend p t count=30000\n```\n```check\nexpect leo t-0@1 = {check}\n```\n"
        ))
    };
    let mut page = Page::new(Progress::default());
    page.perform(Act::OpenLesson("mine.md".into(), long(1)));
    assert_eq!(said(&page), "unchecked");
    page.perform(Act::CheckLesson);
    assert_eq!(said(&page), "The lesson keeps its word: 1 checks and 0 predictions.");
    page.perform(Act::OpenLesson("mine.md".into(), long(2)));
    page.perform(Act::CheckLesson);
    assert!(matches!(page.place, Place::Broken { .. }), "{}", said(&page));
}

/// What was said at a stop is gone when one goes on.
#[test]
fn a_lessons_notice_ends_with_its_stop() {
    for slug in ["06-the-high-watermark", "01-log-first"] {
        let mut page = Page::new(Progress::default());
        page.visit(&format!("#/lesson/{slug}"));
        while page
            .reading()
            .is_none_or(|(reading, run)| reading.open_prediction(run).is_none())
        {
            page.perform(Act::Next);
            while page.playing {
                page.tick();
            }
        }
        page.perform(Act::Next);
        assert!(said(&page).starts_with("First say what you expect"), "{}", said(&page));
        page.perform(Act::Answer(Given::Skipped));
        assert_eq!(said(&page), "", "{slug}");
        page.say("Whatever.");
        page.perform(Act::Next);
        assert_eq!(said(&page), "", "{slug}");
    }
}

/// Whoever presses *next* sees something happen, from the first time on.
#[test]
fn every_press_of_next_in_a_lesson_changes_more_than_the_number_of_the_stop() {
    for source in &LIBRARY[1..] {
        let mut page = Page::new(Progress::default());
        page.visit(&format!("#/lesson/{}", source.slug));
        let shown = |page: &Page| {
            let (reading, run) = page.reading().expect("it stays in the lesson");
            let world = page
                .session
                .as_ref()
                .map(|session| session.playback().world().fingerprint());
            (run.position(), world, reading.parts(run).len(), reading.caption(run))
        };
        let before = shown(&page);
        page.perform(Act::Next);
        while page.playing {
            page.tick();
        }
        assert_ne!(shown(&page), before, "{}", source.slug);
    }
}

/// What a stop's caption speaks of is in view there, and on the way to it.
#[test]
fn a_stop_shows_the_partition_that_it_is_about() {
    let mut page = Page::new(Progress::default());
    page.visit("#/lesson/02-the-log");
    let view = |page: &Page| run(page).look().names.partition(run(page).partition());
    let mut seen = vec![view(&page)];
    while let Some(next) = page.reading().and_then(|(reading, run)| reading.next(run)) {
        if page
            .reading()
            .is_some_and(|(reading, run)| reading.open_prediction(run).is_some())
        {
            page.perform(Act::Answer(Given::Skipped));
        }
        page.perform(Act::Next);
        seen.push(view(&page));
        while page.playing {
            page.tick();
        }
        assert_eq!(seen.last(), Some(&view(&page)), "on the way to stop {next}");
    }
    assert_eq!(
        seen,
        [
            "orders-0", "orders-1", "orders-1", "orders-2", "orders-2", "orders-2", "events-0"
        ]
    );
    // The same where one comes back to a stop.
    for (stop, partition) in [(2, "orders-1"), (3, "orders-2")] {
        let mut again = Page::new(Progress::default());
        again.progress.reached("02-the-log", stop, 6);
        again.visit("#/lesson/02-the-log");
        assert_eq!(view(&again), partition);
    }
}

#[test]
fn a_lesson_that_a_change_keeps_from_going_on_says_what_it_waits_for() {
    let mut page = Page::new(Progress::default());
    page.progress.reached("15-retention", 1, 12);
    page.visit("#/lesson/15-retention");
    page.perform(Act::Turn("retention.ms", "1h".into()));
    page.perform(Act::Answer(Given::Skipped));
    for _ in 0..3 {
        page.perform(Act::Next);
        while page.playing {
            page.tick();
        }
    }
    assert_eq!(
        said(&page),
        "the lesson waits until the log start of readings-0 on broker 1 is 5, and this run, as you changed it, does not get there. 'This part again' goes back to where it does."
    );
    page.perform(Act::Restart);
    page.perform(Act::Answer(Given::Skipped));
    page.perform(Act::Next);
    assert_eq!(said(&page), "");
}

#[test]
fn whoever_comes_back_from_the_playground_finds_the_lesson_where_it_was_left() {
    let stop = |page: &Page| page.reading().and_then(|(reading, run)| reading.stop(run));
    let mut page = Page::new(Progress::default());
    page.progress.reached("18-design-a-topic", 11, 12);
    page.visit("#/lesson/18-design-a-topic");
    while stop(&page) != Some(12) {
        page.perform(Act::Answer(Given::Skipped));
        page.perform(Act::Next);
        page.perform(Act::Next);
    }
    page.perform(Act::Scenario("brokers 1\ntopic t\n".into()));
    assert!(matches!(page.place, Place::Playground(_)));
    page.visit("#/lesson/18-design-a-topic");
    assert_eq!(stop(&page), Some(12));
    assert!(
        page.reading()
            .is_some_and(|(reading, run)| reading.design(run).is_some())
    );
    // Whoever comes from elsewhere begins a finished lesson anew.
    page.visit("#/lessons");
    page.visit("#/lesson/18-design-a-topic");
    assert_ne!(stop(&page), Some(12));
}

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
fn a_wrong_answer_on_the_picture_is_told_the_belief_behind_it() {
    for (picked, belief) in [(vec![0, 1, 2], Some("M17")), (vec![0], None)] {
        let mut page = Page::new(Progress::default());
        page.progress.reached("06-the-high-watermark", 0, 5);
        page.visit("#/lesson/06-the-high-watermark");
        while page
            .reading()
            .is_some_and(|(reading, run)| reading.open_prediction(run).is_none())
        {
            page.perform(Act::Next);
            page.perform(Act::Next);
        }
        page.perform(Act::Answer(Given::Records(picked.into_iter().collect())));
        page.perform(Act::Next);
        page.perform(Act::Next);
        let (reading, run) = page.reading().expect("a lesson is read");
        let outcomes = reading.outcomes_here(run);
        let told: Vec<_> = outcomes.iter().map(|(_, one)| one.belief.map(|one| one.id())).collect();
        assert_eq!(told, [belief]);
    }
}

#[test]
fn a_link_from_lesson_to_lesson_leads_there() {
    let mut page = Page::new(Progress::default());
    for source in LIBRARY {
        let mut faults = Vec::new();
        crate::lesson::markdown::prose(&format!("[there](lesson:{})", source.slug), 1, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        page.visit(&lesson_address(source.slug));
        let slug = page.reading().map(|(reading, _)| reading.slug.clone());
        assert_eq!(slug.as_deref(), Some(source.slug));
    }
}

#[test]
fn a_file_that_cannot_be_read_changes_nothing_and_is_told() {
    let mut page = on_playground(playground::BEGINNING);
    let before = run(&page).scenario();
    page.perform(Act::Unread("a.txt cannot be read (it is gone); open it again".into()));
    assert_eq!(said(&page), "a.txt cannot be read (it is gone); open it again");
    assert_eq!(run(&page).scenario(), before);
}

#[test]
fn a_link_to_no_page_is_told() {
    let mut page = Page::new(Progress::default());
    page.visit("#/nope");
    assert!(matches!(page.place, Place::Landing(_)));
    assert_eq!(
        said(&page),
        "There is no page '#/nope'. This is the first one; all lessons stand in the list."
    );
    page.visit("#/lesson/99-nope");
    assert!(matches!(page.place, Place::Lessons));
    assert_eq!(
        said(&page),
        "There is no lesson '99-nope'. These are all that there are."
    );
    page.visit("#/");
    assert_eq!(said(&page), "");
}

/// Nobody can click what is not in view: with two panes beside it, a scene has room for seven.
#[test]
fn every_record_that_a_lesson_asks_for_has_room() {
    let mut asked = 0;
    for source in LIBRARY {
        let lesson = Rc::new(source.lesson().expect("it is sound"));
        for one in lesson.predictions() {
            if matches!(one.kind, Kind::Click(About::Cluster(_))) {
                let (_, session) = Reading::at_stop(Rc::clone(&lesson), source.slug, one.asked).expect("it plays");
                let look = session.look();
                assert!(look.last_offset() - look.first_offset() <= 7, "{}", source.slug);
                asked += 1;
            }
        }
    }
    assert!(asked >= 4, "{asked}");
}

#[test]
fn a_question_about_records_leaves_room_for_all_of_them() {
    let columns = |width: i64| move |zoom: Zoom| width / zoom.column(false);
    for (width, span, zoom) in [
        (460, 9, Zoom::Near),
        (276, 6, Zoom::Near),
        (276, 9, Zoom::Far),
        (276, 20, Zoom::Near),
    ] {
        assert_eq!(
            Zoom::Near.with_room_for(span, columns(width)),
            zoom,
            "{width} for {span}"
        );
    }
    assert_eq!(Zoom::Farthest.with_room_for(3, columns(276)), Zoom::Farthest);
}

#[test]
fn a_lesson_file_with_mistakes_names_them_and_the_rest_works() {
    let mut page = Page::new(Progress::default());
    page.perform(Act::OpenLesson(
        "mine.md".into(),
        "---\ntitle: Mine\n---\n```scene a\nbrokrs 3\n```\n".into(),
    ));
    let Place::Broken { slug, faults } = &page.place else {
        panic!("it cannot be played")
    };
    assert_eq!(&**slug, "mine.md");
    assert!(!faults.is_empty());
    page.visit("#/lesson/02-the-log");
    assert!(matches!(page.place, Place::Lesson(_)));
}

/// The stores of the first lesson, by a person who does not only press *next*.
#[test]
fn the_page_stores_can_be_crashed_at_will_and_the_lesson_goes_on() {
    let mut page = Page::new(Progress::default());
    page.visit("#/lesson/01-log-first");
    page.perform(Act::Go(Go::On));
    page.perform(Act::Go(Go::On));
    let stores = |page: &Page| match &page.place {
        Place::Stores(_, session) => session.stores().clone(),
        _ => panic!("it is a lesson on the stores"),
    };
    assert_eq!(stores(&page).logged.writes().len(), 6, "the transfer has begun");
    page.perform(Act::Do("crash after 4".into()));
    page.perform(Act::Do("recover".into()));
    assert_eq!(
        (stores(&page).in_place.total(), stores(&page).logged.total()),
        (120, 150)
    );
    page.perform(Act::Do("recover".into()));
    assert_eq!(
        said(&page),
        "the store is up; only after a 'crash' it can recover",
        "nothing has changed"
    );
    page.perform(Act::Go(Go::Back));
    assert!(!stores(&page).logged.is_up(), "back before the recovery");
    page.perform(Act::Go(Go::End));
    assert!(stores(&page).logged.is_up());
    // The lesson's own way goes on from its next stop, whatever was done beside it.
    while page
        .reading()
        .is_some_and(|(reading, run)| reading.open_prediction(run).is_some())
    {
        page.perform(Act::Answer(Given::Skipped));
    }
    page.perform(Act::Next);
    while page.playing {
        page.tick();
    }
    let (reading, run) = page.reading().expect("it stays in the lesson");
    assert_eq!(reading.stop(run), Some(3), "{}", said(&page));
    assert_eq!(stores(&page).in_place.moment(), 4, "as the lesson has it");
}

#[test]
fn the_stores_puzzle_takes_what_is_allowed_and_is_solved_at_par() {
    let mut page = Page::new(Progress::default());
    let slug = "01-log-first";
    page.progress.reached(slug, 7, u32::MAX);
    page.visit(&format!("#/lesson/{slug}"));
    let solved = |page: &Page| page.reading().is_some_and(|(reading, run)| reading.is_solved(run));
    page.perform(Act::Do("open the vault".into()));
    assert!(said(&page).starts_with("not in this puzzle"), "{}", said(&page));
    page.perform(Act::Do("crash after 3".into()));
    assert!(!solved(&page));
    page.perform(Act::Do("recover".into()));
    assert!(solved(&page), "{}", said(&page));
    assert_eq!(page.progress.lesson(slug).puzzle, Some(2));
}

#[test]
fn pressing_next_again_goes_to_the_stop_at_once_and_a_long_way_is_not_watched() {
    let stop = |page: &Page| page.reading().and_then(|(reading, run)| reading.stop(run));
    let mut page = Page::new(Progress::default());
    page.visit("#/lesson/08-crash-and-recovery");
    page.perform(Act::Next);
    assert!(page.playing && stop(&page).is_none(), "it is on its way");
    page.perform(Act::Next);
    assert_eq!((page.playing, stop(&page)), (false, Some(0)));
    page.visit("#/lesson/03-segments-and-the-index");
    page.perform(Act::Next);
    assert_eq!(
        (page.playing, stop(&page)),
        (false, Some(0)),
        "5001 records are not watched"
    );
}

#[test]
fn a_crash_is_resumed_wherever_it_was() {
    let mut page = landed(30);
    page.perform(Act::KillLeader);
    page.tick();
    let kept = page.kept().expect("a run is kept");
    let mut again = Page::new(Progress::default());
    again.resume(kept.clone());
    assert_eq!(again.kept(), Some(kept));
    assert!(!again.playing);

    let mut lesson = Page::new(Progress::default());
    lesson.visit("#/lesson/06-the-high-watermark");
    lesson.perform(Act::Next);
    for _ in 0..5 {
        lesson.tick();
    }
    let kept = lesson.kept().expect("a run is kept");
    let mut again = Page::new(Progress::default());
    again.visit("#/lesson/06-the-high-watermark");
    again.resume(kept.clone());
    assert_eq!(again.kept(), Some(kept));
}

#[test]
fn a_run_without_a_topic_is_nothing_to_go_on_with() {
    let mut page = landed(3);
    let before = page.kept();
    let kept = Kept {
        scenario: "brokers 3\n".into(),
        ..Default::default()
    };
    page.resume(kept);
    assert_eq!(
        said(&page),
        "the run before the crash cannot be replayed: it creates no topic, so there is nothing to look at"
    );
    assert_eq!(page.kept(), before);
}

#[test]
fn a_run_is_written_down_the_same_whether_step_by_step_or_at_once() {
    let mut page = landed(3);
    for steps in [4, 1, 7] {
        for _ in 0..steps {
            page.tick();
            assert_eq!(run(&page).scenario(), run(&page).playback().to_script().to_string());
        }
        page.perform(Act::Go(Go::Back));
        assert_eq!(run(&page).scenario(), run(&page).playback().to_script().to_string());
        page.perform(Act::Produce);
        assert_eq!(run(&page).scenario(), run(&page).playback().to_script().to_string());
        page.perform(Act::TogglePlay);
    }
    page.perform(Act::Undo);
    page.perform(Act::Go(Go::End));
    assert_eq!(run(&page).scenario(), run(&page).playback().to_script().to_string());
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
fn without_a_yes_the_story_is_told_all_the_same() {
    let mut page = landed(0);
    page.perform(Act::RestartWith("acks", "0".into()));
    for _ in 0..20 {
        page.tick();
    }
    page.perform(Act::KillLeader);
    play(&mut page);
    let became = tale(&page).ending(&run(&page).look());
    assert!(matches!(became, Became::Unconfirmed { .. }), "{became:?}");
}

/// The story on the landing, which has begun.
fn tale(page: &Page) -> Tale {
    Tale::of(run(page)).expect("a leadership has ended")
}

#[test]
fn the_story_is_that_of_the_moment_at_which_one_stands() {
    let mut page = landed(20);
    page.perform(Act::KillLeader);
    play(&mut page);
    let told = run(&page).step_number();
    page.perform(Act::Go(Go::Start));
    assert_eq!(Tale::of(run(&page)), None, "before the crash there is no story");
    page.perform(Act::Go(Go::To(told - 1)));
    assert!(!tale(&page).is_told());
    // Another kill cuts that future off; undone, the present is one without an end of anything again.
    page.perform(Act::Go(Go::Start));
    page.perform(Act::KillLeader);
    assert_eq!(tale(&page).at, run(&page).position());
    page.perform(Act::Produce);
    assert!(
        said(&page).ends_with("set aside"),
        "it can still be undone: {}",
        said(&page)
    );
    page.perform(Act::Undo);
    assert_eq!(Tale::of(run(&page)), None);
    page.perform(Act::Go(Go::End));
    assert!(tale(&page).is_told());
}

#[test]
fn a_yes_is_worth_what_acks_said_when_it_was_given() {
    for (before, after, meant) in [("1", "all", Acks::Leader), ("all", "1", Acks::All)] {
        let mut page = landed(0);
        page.perform(Act::RestartWith("acks", before.into()));
        for _ in 0..60 {
            page.tick();
        }
        page.perform(Act::KillLeader);
        play(&mut page);
        page.perform(Act::Turn("acks", after.into()));
        let became = tale(&page).ending(&run(&page).look());
        assert!(
            matches!(became, Became::Lost { acks, .. } | Became::Kept { acks, .. } if acks == Some(meant)),
            "acks={before}: {became:?}"
        );
    }
}

#[test]
fn a_story_without_a_yes_after_the_election_comes_to_an_end_too() {
    let mut page = landed(0);
    page.perform(Act::RestartWith("acks", "all".into()));
    page.perform(Act::Turn("min.insync.replicas", "3".into()));
    for _ in 0..40 {
        page.tick();
    }
    page.perform(Act::KillLeader);
    play(&mut page);
    let became = tale(&page).ending(&run(&page).look());
    assert_eq!(became, Became::Refused(Errors::NotEnoughReplicas));
    // A host without power closes no connection: the shop waits, and meanwhile time flies.
    let mut page = landed(20);
    page.perform(Act::Fault(1, Fault::PowerOff));
    page.playing = true;
    let mut unhurried = 0;
    while page.playing {
        unhurried += u32::from(page.pace() > 100);
        page.tick();
    }
    assert!(tale(&page).is_told() && unhurried < 60, "{unhurried} steps");
}

#[test]
fn the_shop_waits_for_what_keeps_it_waiting() {
    for (fault, expected) in [
        (Fault::Kill, Silence::Asks),
        // It hands over before it ends.
        (Fault::Stop, Silence::Unheard),
        (Fault::PowerOff, Silence::NoPower),
        (Fault::Pause, Silence::Frozen),
        (Fault::Cut, Silence::Cut),
    ] {
        let mut page = landed(20);
        page.perform(Act::Fault(1, fault));
        page.playing = true;
        while Tale::of(run(&page)).is_none_or(|tale| !tale.has_election()) && page.playing {
            page.tick();
        }
        assert_eq!(tale(&page).silence(&run(&page).look()), expected, "{fault:?}");
    }
}

#[test]
fn a_clean_stop_of_the_leader_has_its_story_too() {
    let mut page = landed(20);
    let stake = run(&page).look().only_on(BrokerId(1));
    let options = faults::options(&run(&page).look(), BrokerId(1));
    let stop = options
        .iter()
        .find(|option| option.fault == Fault::Stop)
        .expect("it runs");
    assert!(stop.dies.starts_with(&stake.to_string()) && stake > 0, "{stop:?}");
    assert!(!stop.survives.contains("Nothing is lost"), "{stop:?}");
    page.perform(Act::Fault(1, Fault::Stop));
    play(&mut page);
    let Became::Lost { lost, .. } = tale(&page).ending(&run(&page).look()) else {
        panic!("what only the leader had is lost")
    };
    assert_eq!(lost.len(), stake);
}

#[test]
fn what_nobody_can_take_over_yet_is_not_said_to_be_lost() {
    let mut page = landed(0);
    page.perform(Act::RestartWith("acks", "all".into()));
    for _ in 0..60 {
        page.tick();
    }
    page.perform(Act::Fault(1, Fault::PowerOff));
    let look = run(&page).look();
    assert!(look.ledger.lost_count(look.world) > 0, "its page cache is gone");
    assert_eq!(look.lost(), [], "the others in sync hold all of it");
    let rows = rows::rows(&look, Window::place(look.first_offset(), look.last_offset(), 10, None));
    let doomed = rows
        .iter()
        .flat_map(|row| row.cells.iter())
        .filter(|cell| cell.standing == Standing::Doomed);
    assert_eq!(doomed.count(), 0);
}

#[test]
fn what_was_sent_again_is_not_only_where_it_stood_first() {
    let text = "brokers 3\ntopic t replicas=3\nset link 1-2 latency=100ms\nset link 1-3 latency=100ms\n\
        producer one acks=1 linger.ms=0\nproducer every acks=all linger.ms=0\n\
        send every t\nrun until acked\nsend one t\nrun for 3ms\nsend one t\nsend every t\nsend one t\nrun for 3ms\nkill 1\nrun until acked every = 2\n";
    let session = Session::resumed(text, 9_999).expect("it plays");
    let look = session.look();
    let ends: Vec<i64> = [1, 2]
        .map(|id| look.log(BrokerId(id)).expect("a log").log_end_offset())
        .to_vec();
    assert_eq!(
        ends,
        [5, 3],
        "the second of every stands at 3 on the one, and at 2 on the other"
    );
    assert_eq!(look.only_on(BrokerId(1)), 1);
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

#[test]
fn a_puzzle_stands_with_its_task() {
    let mut page = Page::new(Progress::default());
    let slug = "07-what-acks-is-worth";
    page.progress.reached(slug, 3, u32::MAX);
    page.visit(&format!("#/lesson/{slug}"));
    let (reading, run) = page.reading().expect("it is a lesson");
    assert!(reading.puzzle(run).is_some(), "the puzzle is reached");
    let [task] = reading.prose(run)[..] else {
        panic!("the task is one piece of prose")
    };
    let crate::lesson::Block::Paragraph(spans) = &task[0] else {
        panic!("it begins with a paragraph")
    };
    assert!(crate::lesson::markdown::plain(spans).starts_with("It takes no crash to lose a record."));
}

#[test]
fn what_is_modelled_can_be_read_on_the_page() {
    let mut page = Page::new(Progress::default());
    page.visit("#/fidelity");
    assert_eq!(page.wanted().as_deref(), Some("fidelity"));
    let text = include_str!("../../static/lessons/fidelity.md").to_string();
    page.perform(Act::Fetched("fidelity".into(), Ok(text)));
    let Place::Fidelity(blocks) = &page.place else {
        panic!("{}", said(&page))
    };
    let tables = blocks
        .iter()
        .filter(|block| matches!(block, crate::lesson::Block::Table(..)));
    assert_eq!(tables.count(), 5);
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
    assert_eq!(row("UnderReplicatedPartitions"), (0, 1));
    assert_eq!(row("OfflinePartitionsCount"), (0, 0));
    assert_eq!(row("UncleanLeaderElections"), (0, 0));
    let (_, dead) = row("ConsumerLag of broker 1");
    assert_eq!(dead, 0, "the dead leader has more than the new one, not less");
}

/// The text of a page that stands on the playground.
fn on_playground(text: &str) -> Page {
    let mut page = Page::new(Progress::default());
    page.visit("#/playground");
    assert_eq!(page.wanted().as_deref(), Some("playground"));
    page.perform(Act::Fetched("playground".into(), Ok(text.to_string())));
    page
}

#[test]
fn what_is_done_on_the_playground_is_written_down_and_leads_there_again() {
    let mut page = on_playground(playground::BEGINNING);
    page.perform(Act::Do("producer desk acks=1".into()));
    page.perform(Act::Do("send desk payments count=3".into()));
    page.perform(Act::Do("run for 100ms".into()));
    page.perform(Act::KillLeader);
    let written = run(&page).scenario();
    assert!(
        written.contains("producer desk acks=1\nsend desk payments count=3\n"),
        "{written}"
    );
    assert!(written.ends_with("kill 1\n"), "{written}");
    let there = run(&page).playback().world().fingerprint();
    let mut again = on_playground(&written);
    let session = again.session.as_mut().expect("it plays");
    session.play_to(usize::MAX);
    assert_eq!(session.playback().world().fingerprint(), there);
}

#[test]
fn a_scenario_that_cannot_be_played_takes_nothing_away() {
    let mut page = on_playground(playground::BEGINNING);
    page.perform(Act::Do("kill 1".into()));
    let before = run(&page).scenario();
    for wrong in [
        "",
        "brokers 3\n",
        "brokers 3\ntopic t replicas=9\n",
        "nonsense\nmore of it\n",
    ] {
        page.perform(Act::Scenario(wrong.into()));
        let Place::Playground(playground) = &page.place else {
            panic!("still there")
        };
        assert!(!playground.faults.is_empty(), "{wrong:?}");
        assert_eq!(run(&page).scenario(), before, "{wrong:?}");
    }
}

#[test]
fn every_story_can_be_played_on_the_playground() {
    for (name, title) in playground::stories() {
        let path = format!("{}/tests/stories/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("it is listed");
        let mut page = Page::new(Progress::default());
        page.visit(&format!("#/{}", playground::address(name)));
        let slug = page.wanted().expect("it is fetched");
        page.perform(Act::Fetched(slug, Ok(text)));
        let Place::Playground(playground) = &page.place else {
            panic!("{name}: {title}")
        };
        assert!(playground.faults.is_empty(), "{name}: {:?}", playground.faults);
    }
}

#[test]
fn a_broker_that_is_down_is_not_said_to_have_files_that_were_wiped() {
    let begins = "brokers 3\ntopic t replicas=3\nproducer app\nsend app t\nrun until acked\nrun until quiet\nkill 1\n";
    let notes = ["", "wipe 1\n"].map(|more| {
        let session = Session::resumed(&format!("{begins}{more}"), 9_999).expect("it plays");
        let all = rows::rows(&session.look(), Window::place(0, 1, 10, None));
        all[0].note.to_string()
    });
    assert_eq!(notes, ["process gone, files intact", "process gone, its disk is empty"]);
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
fn damage_is_told_with_its_file_and_recovery_with_all_that_it_drops() {
    let four = "brokers 1\ntopic t segment.bytes=300\nproducer p linger.ms=0 batch.size=0\nsend p t value=m{n} count=9\n\
        run until acked\nrun until quiet\nkill 1\n";
    let told = |rest: &str| {
        let session = Session::resumed(&format!("{four}{rest}\n"), 9_999).expect("it plays");
        caption(&session.look()).unwrap_or_default()
    };
    assert_eq!(
        told("tear t-0@1"),
        "The last batch in 00000000000000000008.log of t-0 on broker 1 is torn: 35 of its 70 bytes are left."
    );
    assert_eq!(
        told("flip t-0@1/4 at=61"),
        "The byte at position 61 in 00000000000000000004.log of t-0 on broker 1 is inverted."
    );
    assert_eq!(
        told("remove t-0@1/00000000000000000000.index"),
        "00000000000000000000.index of t-0 on broker 1 is removed."
    );
    assert_eq!(
        told("tear t-0@1\nstart 1"),
        "Broker 1 scans its log and cuts it at offset 8: 35 bytes go. Broker 1 is starting."
    );
    // The record whose own bytes are damaged goes as well as the sound ones behind it.
    assert_eq!(
        told("flip t-0@1/4 at=61\nstart 1"),
        "Broker 1 scans its log and cuts it at offset 4: 5 records, 350 bytes go, all of segment 8 among them."
    );
    assert_eq!(
        told("flip t-0@1/0 at=100\nstart 1"),
        "Broker 1 scans its log and cuts it at offset 1: 8 records, 560 bytes go, all of segments 4 to 8 among them."
    );
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

#[test]
fn a_broker_that_starts_is_not_offered_to_be_stopped() {
    let text = "brokers 3\ntopic t replicas=3\nrun for 1s\nkill 3\nstart 3\n";
    let session = Session::resumed(text, 9_999).expect("it plays");
    let offered = faults::options(&session.look(), BrokerId(3));
    let offered: Vec<Fault> = offered.iter().map(|option| option.fault).collect();
    assert!(
        offered.contains(&Fault::Kill) && !offered.contains(&Fault::Stop),
        "{offered:?}"
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

#[test]
fn a_scene_is_copied_where_there_is_one() {
    let mut page = landed(5);
    page.perform(Act::Copy);
    assert_eq!(page.notice, None, "nothing is known of it yet");
    page.perform(Act::Copied(Ok(())));
    assert!(
        said(&page).starts_with("This scene is copied as text"),
        "{}",
        said(&page)
    );
    page.perform(Act::Copied(Err("forbidden".into())));
    assert_eq!(
        said(&page),
        "this scene is not copied: forbidden; only the playground shows its scenario, to be selected and copied by hand"
    );
    let mut free = on_playground(playground::BEGINNING);
    free.perform(Act::Copied(Err("forbidden".into())));
    assert_eq!(
        said(&free),
        "the scenario is not copied: forbidden; select its text and copy it by hand"
    );
    page.visit("#/lessons");
    page.perform(Act::Copy);
    assert_eq!(said(&page), "there is no scene here that could be copied");
}

#[test]
fn an_index_that_recovery_made_anew_is_told() {
    let story = |end: &str, gone: &[&str]| {
        let removed: String = gone.iter().map(|file| format!("remove t-0@1/{file}\n")).collect();
        let text = format!(
            "brokers 1\ntopic t segment.bytes=216 index.interval.bytes=100\nproducer app linger.ms=0 batch.size=0\n\
             send app t count=8 key=k{{n}} value=v{{n}}\nrun until acked\nrun until quiet\nrun for 1s\n\
             {end} 1\nrun until state 1 = down\n{removed}start 1\n"
        );
        let session = Session::resumed(&text, 9_999).expect("it plays");
        let told = caption(&session.look()).unwrap_or_default();
        assert!(told.split_whitespace().count() <= CAPTION_WORDS, "{told}");
        told.to_string()
    };
    let index = |base: i64| crate::log::file_name(base, "index");
    let times = crate::log::file_name(3, "timeindex");
    assert_eq!(
        story("kill", &[]),
        "Broker 1 scans its log: every batch is sound, log end 8. Broker 1 is starting."
    );
    assert_eq!(
        story("kill", &[&index(0)]),
        "Broker 1 scans its log: every batch is sound, log end 8. Segment 0 had no index: read whole to build one."
    );
    assert_eq!(
        story("stop", &[&index(0), &index(3)]),
        "Broker 1 opens its log: stopped cleanly, log end 8. Segments 0 and 3 had no index: read whole to build one."
    );
    assert_eq!(
        story("stop", &[&times]),
        "Broker 1 opens its log: stopped cleanly, nothing to check, log end 8. Segment 3 had no time index: one begins empty."
    );
    assert_eq!(
        story("stop", &[&index(0), &times]),
        "Broker 1 opens its log: stopped cleanly, log end 8. Segments 0 and 3 lacked indexes, which are made anew. \
         Broker 1 is starting."
    );
}
