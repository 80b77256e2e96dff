//! Lessons: read to their end, solved, opened from a file of somebody's own, linked.

use super::*;

/// Goes to the next stop, and says nothing to what is asked before it.
fn to_next_stop(page: &mut Page) {
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
}

#[test]
fn every_lesson_can_be_read_to_its_end() {
    for source in &LIBRARY[1..] {
        let mut page = Page::landing();
        page.visit(&format!("#/lesson/{}", source.slug));
        let last = match page.reading() {
            Some((reading, _)) => reading.lesson.stops.len() - 1,
            None => panic!("{} cannot be read", source.slug),
        };
        // A first stop that nothing leads to is where one begins.
        let first = page.reading().and_then(|(reading, run)| reading.next(run)).unwrap_or(0);
        for stop in first..=last {
            to_next_stop(&mut page);
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
    let mut page = Page::landing();
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
    assert!(said(&page).contains("is not in this puzzle"), "{}", said(&page));
    assert_eq!(page.lines_done, 0, "what was refused stays in its field");
    let crate::lesson::Run::Cluster(solution) = &puzzle.solution else {
        panic!("it plays in a cluster")
    };
    for line in solution {
        page.perform(Act::Do(line.statement.to_string()));
    }
    assert_eq!(page.lines_done as usize, solution.len());
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
        let mut page = Page::landing();
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
    let mut page = Page::landing();
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
        let mut page = Page::landing();
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
    let mut page = Page::landing();
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
        let mut page = Page::landing();
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
        let mut page = Page::landing();
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
    let mut page = Page::landing();
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
        let mut again = Page::landing();
        again.progress.reached("02-the-log", stop, 6);
        again.visit("#/lesson/02-the-log");
        assert_eq!(view(&again), partition);
    }
}

#[test]
fn a_lesson_that_a_change_keeps_from_going_on_says_what_it_waits_for() {
    let mut page = Page::landing();
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
    let mut page = Page::landing();
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
    // Whoever comes from elsewhere finds what the last stop asks for, and begins the lesson anew once that is done.
    page.visit("#/lessons");
    page.visit("#/lesson/18-design-a-topic");
    assert_eq!(stop(&page), Some(12));
    page.progress.solved("18-design-a-topic", 5);
    page.visit("#/lessons");
    page.visit("#/lesson/18-design-a-topic");
    assert_ne!(stop(&page), Some(12));
}

#[test]
fn a_wrong_answer_on_the_picture_is_told_again_with_the_belief_behind_it() {
    let cases = [
        (vec![0, 1, 2], Some("M17"), "the records at offset 0–2"),
        (vec![], Some("M17"), "none"),
        (vec![0], None, "the records at offset 0"),
    ];
    for (picked, belief, answer) in cases {
        let mut page = Page::landing();
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
        assert_eq!(outcomes[0].1.said.as_deref(), Some(answer));
    }
}

#[test]
fn a_link_from_lesson_to_lesson_leads_there() {
    let mut page = Page::landing();
    for source in LIBRARY {
        let mut faults = Vec::new();
        crate::lesson::markdown::prose(&format!("[there](lesson:{})", source.slug), 1, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        page.visit(&lesson_address(source.slug));
        let slug = page.reading().map(|(reading, _)| reading.slug.clone());
        assert_eq!(slug.as_deref(), Some(source.slug));
    }
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
    let mut page = Page::landing();
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
    let mut page = Page::landing();
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
    to_next_stop(&mut page);
    let (reading, run) = page.reading().expect("it stays in the lesson");
    assert_eq!(reading.stop(run), Some(3), "{}", said(&page));
    assert_eq!(stores(&page).in_place.moment(), 4, "as the lesson has it");
}

#[test]
fn the_stores_puzzle_takes_what_is_allowed_and_is_solved_at_par() {
    let mut page = Page::landing();
    let slug = "01-log-first";
    page.progress.reached(slug, 7, u32::MAX);
    page.visit(&format!("#/lesson/{slug}"));
    let solved = |page: &Page| page.reading().is_some_and(|(reading, run)| reading.is_solved(run));
    page.perform(Act::Do("open the vault".into()));
    assert!(said(&page).contains("is not in this puzzle"), "{}", said(&page));
    page.perform(Act::Do("crash after 3".into()));
    assert!(!solved(&page));
    page.perform(Act::Do("recover".into()));
    assert!(solved(&page), "{}", said(&page));
    assert_eq!(page.progress.lesson(slug).puzzle, Some(2));
}

#[test]
fn pressing_next_again_goes_to_the_stop_at_once_and_a_long_way_is_not_watched() {
    let stop = |page: &Page| page.reading().and_then(|(reading, run)| reading.stop(run));
    let mut page = Page::landing();
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
fn a_puzzle_stands_with_its_task() {
    let mut page = Page::landing();
    let slug = "07-what-acks-is-worth";
    page.progress.reached(slug, 5, u32::MAX);
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
    let mut page = Page::landing();
    page.visit("#/fidelity");
    assert_eq!(page.wanted().as_deref(), Some("fidelity"));
    let text = include_str!("../../../static/lessons/fidelity.md").to_string();
    page.perform(Act::Fetched("fidelity".into(), Ok(text)));
    let Place::Fidelity(blocks) = &page.place else {
        panic!("{}", said(&page))
    };
    let tables = blocks
        .iter()
        .filter(|block| matches!(block, crate::lesson::Block::Table(..)));
    assert_eq!(tables.count(), 5);
}
