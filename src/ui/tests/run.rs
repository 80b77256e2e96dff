//! One run: the past changed, knobs turned, written down and resumed.

use super::*;
use crate::ui::playground;

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
fn a_knob_shows_what_is_set_whoever_set_it() {
    let begins = "brokers 3\ntopic t replicas=3 min.insync.replicas=4\nproducer one acks=-1\n";
    let knob = |more: &str, name: &str| {
        let session = Session::resumed(&format!("{begins}{more}"), 0).expect("it plays");
        let all = knobs::knobs(&session.look(), session.begun());
        let knob = all
            .into_iter()
            .find(|knob| knob.name == name)
            .expect("it can be turned");
        let words = match &knob.control {
            Control::Choice(words) => words.join(" "),
            Control::Text => String::new(),
        };
        (words, knob.value.to_string(), knob.whose.to_string())
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
    assert_eq!(knob("", "replica.lag.time.max.ms"), says("", "30000", ""));
    let each = "broker 1 has 30000, broker 2 has 5000 and broker 3 has 30000; what is chosen here is for all of them.";
    assert_eq!(
        knob("set broker 2 replica.lag.time.max.ms=5000\n", "replica.lag.time.max.ms"),
        says("", "", each)
    );
    // A topic that says nothing is kept as each broker says.
    let hour = "set broker 3 log.retention.ms=3600000\n";
    let each = "broker 1 has 604800000, broker 2 has 604800000 and broker 3 has 3600000; what is chosen here is for all of them.";
    assert_eq!(knob(hour, "retention.ms"), says("", "", each));
    let own = format!("{hour}set topic t retention.ms=1000\n");
    assert_eq!(knob(&own, "retention.ms"), says("", "1000", ""));
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
fn a_link_to_no_page_is_told() {
    let mut page = Page::landing();
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

#[test]
fn a_crash_is_resumed_wherever_it_was() {
    let mut page = landed(30);
    page.perform(Act::KillLeader);
    page.tick();
    let kept = page.kept().expect("a run is kept");
    let mut again = Page::landing();
    again.take_stored(stored_run(&kept));
    assert_eq!(again.kept(), Some(kept));
    assert!(!again.playing);

    let mut lesson = Page::landing();
    lesson.visit("#/lesson/06-the-high-watermark");
    lesson.perform(Act::Next);
    for _ in 0..5 {
        lesson.tick();
    }
    let kept = lesson.kept().expect("a run is kept");
    let mut again = Page::landing();
    again.visit("#/lesson/06-the-high-watermark");
    again.take_stored(stored_run(&kept));
    assert_eq!(again.kept(), Some(kept));
}

fn stored_run(kept: &Kept) -> Stored {
    Stored {
        progress: None,
        run: Some(kept.to_text()),
    }
}

#[test]
fn what_was_stored_is_told_where_it_cannot_be_read_and_adds_to_what_was_done_since() {
    let mut before = Page::landing();
    before.progress.reached("06-the-high-watermark", 2, 5);
    let reached = before.progress.lesson("06-the-high-watermark");

    let mut page = landed(30);
    page.progress.reached("00-kill-the-leader", 1, 1);
    page.take_stored(Stored {
        progress: before.progress_to_keep(),
        run: None,
    });
    assert_eq!(page.progress.lesson("06-the-high-watermark"), reached);
    assert!(page.progress.lesson("00-kill-the-leader").finished);
    assert_eq!(said(&page), "");

    page.take_stored(Stored {
        progress: Some("{".to_string()),
        run: Some(r#"{"scenario": 7}"#.to_string()),
    });
    assert!(said(&page).starts_with("the run before the crash cannot be replayed: invalid type: integer `7`"));
    assert_eq!(page.progress.lesson("06-the-high-watermark"), reached);
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
