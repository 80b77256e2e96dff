//! The landing: the story it tells, and whether it is true.

use super::*;
use crate::ui::view::faults;

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
