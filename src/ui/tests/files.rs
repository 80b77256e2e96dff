//! What befalls files, as it is offered and told.

use super::*;
use crate::ui::view::faults;

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
fn a_broker_that_is_down_is_not_said_to_have_files_that_were_wiped() {
    let begins = "brokers 3\ntopic t replicas=3\nproducer app\nsend app t\nrun until acked\nrun until quiet\nkill 1\n";
    let notes = ["", "wipe 1\n"].map(|more| {
        let session = Session::resumed(&format!("{begins}{more}"), 9_999).expect("it plays");
        let all = rows::rows(&session.look(), Window::place(0, 1, 10, None));
        all[0].note.to_string()
    });
    assert_eq!(notes, ["process gone, files intact", "process gone, its disk is empty"]);
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
