//! The playground: what is done there is written down and leads there again.

use super::*;
use crate::ui::playground;

#[test]
fn a_file_that_cannot_be_read_changes_nothing_and_is_told() {
    let mut page = on_playground(playground::BEGINNING);
    let before = run(&page).scenario();
    page.perform(Act::Unread("a.txt cannot be read (it is gone); open it again".into()));
    assert_eq!(said(&page), "a.txt cannot be read (it is gone); open it again");
    assert_eq!(run(&page).scenario(), before);
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
fn a_line_leaves_its_field_when_it_was_done_and_stays_when_it_was_refused() {
    let mut page = on_playground(playground::BEGINNING);
    for (line, done) in [
        ("kil 1", 0),
        ("expect nonsense", 0),
        ("kill 1", 1),
        ("kill 1", 1),
        ("# as it was", 2),
        ("expect state 1 = up", 3),
        ("run for 1s", 4),
    ] {
        page.perform(Act::Do(line.into()));
        assert_eq!(page.lines_done, done, "{line}: {}", said(&page));
    }
    page.perform(Act::Go(Go::Back));
    assert_eq!(page.lines_done, 4, "only lines count");
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
        let mut page = Page::landing();
        page.visit(&format!("#/{}", playground::address(name)));
        let slug = page.wanted().expect("it is fetched");
        page.perform(Act::Fetched(slug, Ok(text)));
        let Place::Playground(playground) = &page.place else {
            panic!("{name}: {title}")
        };
        assert!(playground.faults.is_empty(), "{name}: {:?}", playground.faults);
    }
}
