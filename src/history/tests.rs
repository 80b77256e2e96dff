//! Runs that go forward and back, change their past and come back from it.

use super::{History, Mark, Playback, Stepped};
use crate::cluster::event::Event;
use crate::cluster::ids::BrokerId;
use crate::cluster::input::Input;
use crate::scenario::ast::Statement;
use crate::scenario::{Names, parse, parse_statement};

const STORY: &str = "
brokers 3
topic payments replicas=3
set link 1-2 latency=60ms
set link 1-3 latency=90ms
producer shop acks=1 linger.ms=0 batch.size=0
send shop payments count=12 every=50ms
run for 300ms
kill 1
expect state 1 = down
run until leader payments-0 = 2
run until acked
start 1
run until isr payments-0 = 1,2,3
run until quiet
";

fn playback(text: &str) -> Playback {
    let script = parse(text.as_bytes()).expect("well-formed");
    Playback::new(script).expect("it begins")
}

fn played(text: &str) -> Playback {
    let mut playback = playback(text);
    let whole = playback.script().lines.len();
    assert_eq!(playback.play_to(whole), Stepped::Moved);
    playback
}

fn act(playback: &mut Playback, text: &str) -> super::Acted {
    playback.act(statement(text)).expect("it applies")
}

/// A statement about what `STORY` declares.
fn statement(text: &str) -> Statement {
    let mut names = Names::default();
    parse(STORY.as_bytes())
        .expect("well-formed")
        .lines
        .iter()
        .for_each(|line| names.declare(&line.statement));
    parse_statement(text, &names).expect("well-formed")
}

/// Where a run stands: the world's fingerprint, and what the ledger says in a few numbers.
fn state(playback: &Playback) -> (u128, usize, u64) {
    let (world, ledger) = (playback.world(), playback.ledger());
    (world.fingerprint(), ledger.lost_count(world), ledger.steps())
}

#[test]
fn every_position_is_found_again_from_everywhere() {
    let mut playback = playback(STORY);
    let mut states = vec![state(&playback)];
    let mut events: Vec<Vec<Event>> = vec![Vec::new()];
    while playback.step() == Stepped::Moved {
        assert_eq!(playback.history().position(), states.len());
        states.push(state(&playback));
        events.push(playback.history().last_events().to_vec());
    }
    let end = states.len() - 1;
    assert!(end > 80, "a run of {end} steps");
    let all = playback.history().events(0, end);
    assert!(all.iter().all(|(position, step)| *step == events[*position]));
    assert_eq!(all.len(), end);
    for stride in [1, 7, 64, 65, end / 2] {
        let mut position = end;
        for _ in 0..40 {
            position = (position + end + 1 - stride) % (end + 1);
            assert!(playback.seek(position));
            assert_eq!(state(&playback), states[position], "at {position}");
            assert_eq!(playback.history().last_events(), events[position], "at {position}");
        }
    }
    assert!(!playback.seek(end + 1));
}

#[test]
fn back_and_forward_are_each_other_s_opposite() {
    let mut playback = played(STORY);
    let end = state(&playback);
    for _ in 0..30 {
        assert!(playback.back());
    }
    assert_ne!(state(&playback), end);
    for _ in 0..30 {
        assert_eq!(playback.step(), Stepped::Moved);
    }
    assert_eq!(state(&playback), end);
    while playback.back() {}
    assert_eq!(playback.history().position(), 0);
}

#[test]
fn an_act_in_the_past_cuts_the_future_off_and_can_be_undone_both_ways() {
    let mut playback = played(STORY);
    let (length, end) = (playback.history().len(), state(&playback));
    playback.seek(40);
    let cut = act(&mut playback, "kill 2").cut.expect("there was a future");
    assert_eq!((cut.at, cut.dropped), (40, length - 40));
    assert_eq!(playback.history().len(), 41);
    for _ in 0..20 {
        playback.step();
    }
    let other = (playback.history().len(), state(&playback));
    assert!(playback.undo_cut());
    assert_eq!(playback.history().position(), 40);
    assert_eq!(playback.history().len(), length);
    playback.seek(length);
    assert_eq!(state(&playback), end);
    assert!(playback.undo_cut(), "undoing again brings back what was done since");
    playback.seek(other.0);
    assert_eq!((playback.history().len(), state(&playback)), other);
}

#[test]
fn the_same_act_at_the_same_moment_is_no_change() {
    let mut playback = played(STORY);
    let length = playback.history().len();
    let killed = playback
        .history()
        .inputs()
        .iter()
        .position(|input| *input == Input::Kill(BrokerId(1)));
    playback.seek(killed.expect("it was killed"));
    assert_eq!(act(&mut playback, "kill 1").cut, None);
    assert_eq!(playback.history().len(), length);
}

#[test]
fn what_is_refused_leaves_everything_as_it_was() {
    let mut playback = played(STORY);
    playback.seek(60);
    let (before, length) = (state(&playback), playback.history().len());
    let refused = playback.act(statement("start 2")).expect_err("it is up");
    assert!(!refused.reason.is_empty() && !refused.remedy.is_empty());
    assert_eq!((state(&playback), playback.history().len()), (before, length));
    assert_eq!(playback.cut_notice(), None);
    assert!(playback.act(statement("run for 1s")).is_err(), "time is no act");
}

#[test]
fn after_an_act_the_script_goes_on_in_the_world_that_it_made() {
    let mut playback = playback(STORY);
    for _ in 0..30 {
        playback.step();
    }
    act(&mut playback, "cut 1 2");
    let whole = playback.script().lines.len();
    assert!(matches!(playback.play_to(whole), Stepped::Moved | Stepped::Stopped(..)));
    assert_eq!(playback.own_acts(), [&statement("cut 1 2")]);
    assert!(playback.history().inputs().contains(&Input::Kill(BrokerId(1))));
}

#[test]
fn a_run_can_be_written_down_at_every_position_and_replayed() {
    let mut playback = playback(STORY);
    for _ in 0..30 {
        playback.step();
    }
    act(&mut playback, "pause 3");
    for _ in 0..15 {
        playback.step();
    }
    assert_eq!(playback.let_pass(statement("run for 120ms")), Ok(Stepped::Moved));
    act(&mut playback, "resume 3");
    for _ in 0..200 {
        playback.step();
    }
    let end = playback.history().len();
    for position in (0..=end).rev().step_by(9) {
        playback.seek(position);
        let text = playback.to_script().to_string();
        let again = played(&text);
        assert_eq!(
            (again.world().fingerprint(), again.world().now()),
            (playback.world().fingerprint(), playback.world().now()),
            "at {position}:\n{text}"
        );
    }
}

#[test]
fn marks_are_found_in_both_directions() {
    let mut playback = played(STORY);
    playback.seek(0);
    let mut seen = Vec::new();
    let interesting = |mark: &Mark| !matches!(mark, Mark::Acknowledged(_));
    while let Some(next) = playback.history().next_mark(interesting) {
        playback.seek(next);
        let marks = playback
            .history()
            .marks_at(next)
            .iter()
            .filter(|mark| interesting(mark));
        seen.extend(marks.map(Mark::words));
    }
    for word in ["crash", "lost", "election", "ISR change", "truncation"] {
        assert!(seen.contains(&word), "{word} in {seen:?}");
    }
    let crash = seen.iter().position(|word| *word == "crash");
    let election = seen.iter().position(|word| *word == "election");
    assert!(crash < election);
    let last = playback.history().position();
    let before = playback
        .history()
        .previous_mark(interesting)
        .expect("there are several");
    playback.seek(before);
    assert_eq!(playback.history().next_mark(interesting), Some(last));
}

#[test]
fn checkpoints_stay_few_in_a_long_run() {
    let text =
        "brokers 1\ntopic t\nproducer p linger.ms=0 batch.size=0\nsend p t count=1500 every=10ms\nrun until acked\n";
    let mut playback = played(text);
    let end = playback.history().len();
    assert!(end > super::CHECKPOINTS * super::FIRST_SPACING, "a run of {end} steps");
    assert!(playback.history().checkpoints() <= super::CHECKPOINTS);
    let last = state(&playback);
    playback.seek(end / 3);
    playback.seek(end);
    assert_eq!(state(&playback), last);
}

#[test]
fn an_untouched_history_is_empty() {
    let history = History::new(playback(STORY).world().clone());
    assert!(history.is_empty() && history.at_end());
    assert_eq!(history.last_events(), []);
}
