//! The playground's text: it is whole wherever one stands, and what somebody wrote does not go without a word.

use super::aside::Aside;
use super::whole::Present;
use super::{BEGINNING, Playground};
use crate::ui::act::{Act, Go};
use crate::ui::page::{Notice, Page, Place};
use crate::ui::session::Session;

/// With comments, a blank line, a comment behind a statement, and a trace.
const INCIDENT: &str = "\
# Seen on a Tuesday.
brokers 3
topic payments replicas=3

producer shop
# Three payments.
send shop payments count=3
run until acked # all of them
kill 1
run until leader payments-0 = 2
";

fn at(fragment: &str, text: &str) -> Page {
    let mut page = Page::landing();
    arrive(&mut page, fragment, text);
    page
}

fn arrive(page: &mut Page, fragment: &str, text: &str) {
    page.visit(&format!("#/{fragment}"));
    page.perform(Act::Fetched(fragment.into(), Ok(text.to_string())));
}

fn played(text: &str) -> Page {
    let mut page = at("playground", BEGINNING);
    page.perform(Act::Scenario(text.into()));
    page
}

fn run(page: &Page) -> &Session {
    page.session.as_ref().expect("something runs")
}

fn playground(page: &Page) -> &Playground {
    match &page.place {
        Place::Playground(playground) => playground,
        _ => panic!("not on the playground"),
    }
}

fn text(page: &Page) -> String {
    run(page).whole().text.to_string()
}

fn present(page: &Page) -> Present {
    run(page).whole().present(run(page).position())
}

fn state(page: &Page) -> (u128, usize) {
    (run(page).playback().world().fingerprint(), run(page).position())
}

/// The text, played from its beginning as far as a position.
fn again(text: &str, position: usize) -> Page {
    let mut page = played(text);
    assert!(
        playground(&page).faults.is_empty(),
        "{:?}\n{text}",
        playground(&page).faults
    );
    let session = page.session.as_mut().expect("it plays");
    session.play_on(position);
    page
}

fn steps(page: &mut Page, count: usize) {
    for _ in 0..count {
        page.perform(Act::Go(Go::On));
    }
}

#[test]
fn the_text_is_whole_wherever_one_stands() {
    let mut page = played(INCIDENT);
    let mut seen = vec![present(&page)];
    assert_eq!(text(&page), INCIDENT);
    while run(&page).has_more_to_play() {
        steps(&mut page, 1);
        assert_eq!(text(&page), INCIDENT);
        if seen.last() != Some(&present(&page)) {
            seen.push(present(&page));
        }
    }
    let at = |played, under_way| Present {
        played,
        under_way,
        lines: 10,
    };
    assert_eq!(
        seen,
        [at(5, 0), at(7, 0), at(7, 1), at(8, 0), at(9, 0), at(9, 1), at(10, 0)]
    );
    page.perform(Act::Go(Go::Start));
    assert_eq!((text(&page).as_str(), present(&page)), (INCIDENT, at(5, 0)));
}

#[test]
fn what_is_done_by_hand_stands_where_it_happened_and_the_rest_is_still_to_come() {
    let mut page = played(INCIDENT);
    steps(&mut page, 4);
    page.perform(Act::Do("pause 3".into()));
    let expected = INCIDENT.replace(
        "run until acked # all of them",
        "# all of them\nstep 3\npause 3\nrun until acked",
    );
    assert_eq!(text(&page), expected);
    assert_eq!(present(&page).played, 10);
    page.perform(Act::Go(Go::End));
    assert_eq!(text(&page), expected, "it was only played");
    let end = state(&page);
    assert_eq!(state(&again(&expected, end.1)), end);
}

#[test]
fn a_text_leads_to_the_same_place_from_wherever_it_is_written_down() {
    let mut page = played(INCIDENT);
    steps(&mut page, 5);
    page.perform(Act::Do("pause 3".into()));
    steps(&mut page, 3);
    page.perform(Act::Do("run for 40ms".into()));
    page.perform(Act::Do("resume 3".into()));
    steps(&mut page, 300);
    page.perform(Act::Do("start 1".into()));
    let length = run(&page).playback().history().len();
    for position in (0..=length).rev().step_by(7) {
        page.session.as_mut().expect("it runs").seek(position);
        let written = text(&page);
        assert!(written.contains("run for 40ms\nresume 3\n"), "{written}");
        let there = state(&page);
        assert_eq!(state(&again(&written, there.1)), there, "at {position}:\n{written}");
        let parts = run(&page).in_two_parts().text.to_string();
        assert_eq!(state(&again(&parts, there.1)), there, "at {position}:\n{parts}");
    }
}

#[test]
fn a_trace_stays_as_long_as_it_is_the_run_s() {
    let traced = format!("{INCIDENT}----\nwhat happened\n");
    let mut page = played(&traced);
    steps(&mut page, 3);
    assert_eq!(text(&page), traced);
    page.perform(Act::Do("pause 3".into()));
    assert!(
        text(&page).ends_with("# A trace stood here: of the script alone, without what was done since.\n"),
        "{}",
        text(&page)
    );
}

#[test]
fn the_end_is_the_script_s_end() {
    let mut page = played(INCIDENT);
    assert!(run(&page).has_more_to_play());
    page.perform(Act::Go(Go::End));
    assert!(!run(&page).has_more_to_play());
    assert_eq!(run(&page).leader().map(|leader| leader.0), Some(2));
    assert_eq!(page.notice, None);
}

#[test]
fn a_text_with_mistakes_stays_to_be_mended() {
    let mut page = at("playground", BEGINNING);
    page.perform(Act::Do("kill 1".into()));
    page.perform(Act::Draft(Some("brokers three\n".into())));
    page.perform(Act::Scenario("brokers three\n".into()));
    assert_eq!(playground(&page).draft.as_deref(), Some("brokers three\n"));
    assert_eq!(playground(&page).faults.len(), 1);
    assert_eq!(page.notice, None, "nothing was replaced");
    page.perform(Act::Scenario("nonsense\n".into()));
    assert_eq!(
        page.notice,
        Some(Notice::Aside),
        "a file took the place of what was written"
    );
    page.perform(Act::TakeBack);
    assert_eq!(playground(&page).draft.as_deref(), Some("brokers three\n"));
    page.perform(Act::Draft(None));
    assert_eq!(text(&page), format!("{BEGINNING}kill 1\n"));
}

#[test]
fn what_takes_the_place_of_something_sets_it_aside_and_says_so() {
    let mut page = played(INCIDENT);
    assert_eq!(page.notice, None, "nothing of anybody's own was there");
    steps(&mut page, 4);
    page.perform(Act::Do("pause 3".into()));
    let (own, there) = (text(&page), state(&page));
    page.perform(Act::Scenario(BEGINNING.into()));
    assert_eq!(
        (page.notice.clone(), text(&page)),
        (Some(Notice::Aside), BEGINNING.into())
    );
    page.perform(Act::TakeBack);
    assert_eq!((text(&page), state(&page)), (own.clone(), there));
    page.perform(Act::Restart);
    assert_eq!(
        (page.notice.clone(), text(&page)),
        (Some(Notice::Aside), INCIDENT.into())
    );
    page.perform(Act::TakeBack);
    arrive(&mut page, "playground/a-story", INCIDENT);
    assert_eq!(page.notice, Some(Notice::Aside));
    arrive(&mut page, "playground", BEGINNING);
    assert_eq!((text(&page), state(&page)), (own, there), "one has come back to it");
}

#[test]
fn a_story_begins_anew_as_that_story() {
    let mut page = at("playground/a-story", INCIDENT);
    page.perform(Act::Go(Go::End));
    page.perform(Act::Restart);
    assert_eq!(page.notice, None);
    assert_eq!(playground(&page).address(), "playground/a-story");
    assert_eq!((text(&page).as_str(), run(&page).step_number()), (INCIDENT, 0));
}

#[test]
fn the_playground_is_the_same_after_the_page_was_loaded_again() {
    let mut page = at("playground/a-story", INCIDENT);
    steps(&mut page, 4);
    page.perform(Act::Do("pause 3".into()));
    steps(&mut page, 2);
    page.perform(Act::Draft(Some("not played yet".into())));
    let kept = page.kept_playground().expect("it is on the playground");
    let mut loaded = Page::landing();
    loaded.recalled = Some(kept.clone());
    arrive(&mut loaded, "playground/a-story", INCIDENT);
    assert_eq!(loaded.kept_playground(), Some(kept));
    assert_eq!((text(&loaded), state(&loaded)), (text(&page), state(&page)));
    assert_eq!(run(&loaded).step_number(), run(&page).step_number());
    assert_eq!(playground(&loaded).draft, playground(&page).draft);
}

#[test]
fn what_was_kept_and_cannot_be_played_is_there_to_be_mended() {
    for (kept, draft) in [
        ("{", None),
        ("7", None),
        (r#"{"text":"brokers none","own":true}"#, Some("brokers none")),
    ] {
        let mut page = Page::landing();
        page.recalled = Some(kept.into());
        arrive(&mut page, "playground", BEGINNING);
        assert_eq!(playground(&page).draft.as_deref(), draft, "{kept}");
        assert_eq!(text(&page), BEGINNING, "{kept}");
    }
}

#[test]
fn what_is_nobody_s_own_is_left_without_a_word() {
    let mut page = at("playground/a-story", INCIDENT);
    page.perform(Act::Go(Go::End));
    steps(&mut page, 5);
    arrive(&mut page, "playground", BEGINNING);
    assert_eq!((page.notice.clone(), page.aside.clone()), (None, None::<Aside>));
}

fn said(page: &Page) -> String {
    match &page.notice {
        Some(Notice::Said(words) | Notice::Refused(words)) => words.to_string(),
        _ => String::new(),
    }
}

#[test]
fn an_expectation_is_answered_and_written_down_where_one_stands() {
    let mut page = played(INCIDENT);
    steps(&mut page, 4);
    let there = state(&page);
    page.perform(Act::Do("expect leader payments-0 = 1".into()));
    assert_eq!(said(&page), "This holds: leader payments-0 = 1. It is written down.");
    page.perform(Act::Do("expect isr payments-0 = 1".into()));
    assert_eq!(
        said(&page),
        "This does not hold: expected isr payments-0 = 1, found 1,2,3. It is written down."
    );
    assert_eq!(state(&page), there, "nothing has happened");
    assert_eq!(
        text(&page),
        INCIDENT.replace(
            "run until acked # all of them",
            "# all of them\nstep 3\nexpect leader payments-0 = 1\nexpect isr payments-0 = 1\n\nrun until acked"
        )
    );
    assert_eq!(present(&page).played, 11);
}

#[test]
fn a_comment_is_written_down_and_what_is_done_next_stands_behind_it() {
    let mut page = at("playground", BEGINNING);
    page.perform(Act::Do("# The first that goes.".into()));
    page.perform(Act::Do("kill 3 # a power cut".into()));
    page.perform(Act::Do("run for 1s".into()));
    page.perform(Act::Do("# And now?".into()));
    page.perform(Act::Go(Go::On));
    assert_eq!(
        text(&page),
        format!("{BEGINNING}# The first that goes.\nkill 3\n# a power cut\nrun for 1s\n# And now?\nstep 1\n")
    );
    let there = state(&page);
    assert_eq!(state(&again(&text(&page), there.1)), there);
}

#[test]
fn a_message_may_be_delivered_out_of_its_turn() {
    let mut page = played("brokers 3\ntopic t replicas=3\nproducer shop linger.ms=0\nsend shop t\nrun until acked\n");
    let on_the_wire = |page: &Page| -> Vec<String> {
        let look = run(page).look();
        let heads = look.world.network().heads().map(|(from, to, head)| {
            let [from, to] = [from, to].map(|node| look.world.node_name(node));
            format!("deliver {} from {from} to {to}", head.message.kind().name())
        });
        heads.filter(|line| line.contains("produce")).collect()
    };
    while on_the_wire(&page).is_empty() {
        steps(&mut page, 1);
    }
    let heads = on_the_wire(&page);
    let last = heads.last().expect("something is on the wire").clone();
    page.perform(Act::Do(last.clone()));
    assert_eq!(said(&page), "", "{last}");
    assert!(
        text(&page).ends_with(&format!("{last}\nrun until acked\n")),
        "{}",
        text(&page)
    );
    let there = state(&page);
    assert_eq!(state(&again(&text(&page), there.1)), there);
}

#[test]
fn what_sets_up_the_world_is_refused_with_the_way_to_do_it() {
    let mut page = at("playground", BEGINNING);
    page.perform(Act::Do("brokers 4".into()));
    assert_eq!(
        said(&page),
        "'brokers' sets up the world, which is there already; change the text of the scenario, where 'brokers' comes first, \
         and play it"
    );
    page.perform(Act::Do("run until quiet".into()));
    page.perform(Act::Do("run until quiet".into()));
    assert_eq!(said(&page), "No time has to pass: it is so already.");
}

#[test]
fn what_the_expectations_of_a_text_came_to_is_told_as_far_as_it_was_played() {
    let mut page = played(&format!(
        "{INCIDENT}expect leader payments-0 = 3\nexpect epoch payments-0 = 1\n"
    ));
    let told = |page: &Page| run(page).expectations();
    assert_eq!(told(&page), (0, vec![]));
    page.perform(Act::Go(Go::End));
    let all = (1, vec!["expected leader payments-0 = 3, found 2".to_string()]);
    assert_eq!(told(&page), all);
    page.perform(Act::Go(Go::Start));
    assert_eq!(told(&page), (0, vec![]));
    page.perform(Act::Do("pause 3".into()));
    page.perform(Act::Undo);
    page.perform(Act::Go(Go::End));
    assert_eq!(told(&page), all, "what was set aside is there again");
}
